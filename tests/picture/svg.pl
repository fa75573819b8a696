#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A screen of tmux (`capture-pane -p -e`) on stdin, an SVG on stdout.
use strict;
use warnings;
use utf8;

binmode(STDIN, ':encoding(UTF-8)');
binmode(STDOUT, ':encoding(UTF-8)');

# Colours that can be read on the dark window, which looks the same on a light and a dark page.
my %color = (31 => '#ff7b72', 32 => '#7ee787', 33 => '#e3b341', 34 => '#79c0ff', 36 => '#76e3ea');
my ($char, $line, $pad, $bar) = (8.4, 19, 16, 30);

sub escape {
	my ($text) = @_;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/>/&gt;/g;
	return $text;
}

# [column, style, text] of each run of one style
sub runs {
	my ($row) = @_;
	my ($column, %now, @runs) = (0);
	while ($row =~ /\G(?:\e\[([0-9;]*)m|\e\([A-Z]|([^\e]+))/gc) {
		if (defined $2) {
			my @style;
			push @style, "fill:$now{fill}" if $now{fill};
			push @style, 'font-weight:bold' if $now{bold};
			push @style, 'opacity:0.7' if $now{dim};
			push @runs, [$column, join(';', @style), $2];
			$column += length $2;
			next;
		}
		next unless defined $1;
		for my $code (length $1 ? split(/;/, $1) : 0) {
			if ($code eq '' || $code == 0) { %now = () }
			elsif ($code == 1) { $now{bold} = 1 }
			elsif ($code == 2) { $now{dim} = 1 }
			elsif ($code == 39) { delete $now{fill} }
			elsif ($color{$code}) { $now{fill} = $color{$code} }
		}
	}
	return @runs;
}

my @rows = map { chomp; $_ } <STDIN>;
pop @rows while @rows && $rows[-1] !~ /\S/;
# the prompt that waits for the next command
pop @rows if @rows && $rows[-1] =~ /^(?:\e\[[0-9;]*m)*\$ *(?:\e\[[0-9;]*m)* *$/;
my $columns = 104;
my $width = 2 * $pad + $columns * $char;
my $height = $bar + 2 * $pad + @rows * $line;

print qq(<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="$height" viewBox="0 0 $width $height" role="img" aria-label="git checkpoint in a terminal">\n);
print qq(<rect width="$width" height="$height" rx="8" fill="#0d1117" stroke="#30363d"/>\n);
my $x = 20;
for my $button ('#ff5f56', '#ffbd2e', '#27c93f') {
	print qq(<circle cx="$x" cy="18" r="6" fill="$button"/>\n);
	$x += 20;
}
print qq(<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#e6edf3" xml:space="preserve">\n);
for my $i (0 .. $#rows) {
	my $y = $bar + $pad + ($i + 0.7) * $line;
	for my $run (runs($rows[$i])) {
		my ($column, $style, $text) = @$run;
		next unless $text =~ /\S/;
		my $left = $pad + $column * $char;
		# the width is told, so that columns stay columns in any font
		my $long = length($text) * $char;
		$style = $style ? qq( style="$style") : '';
		printf qq(<text x="%g" y="%g" textLength="%g" lengthAdjust="spacingAndGlyphs"%s>%s</text>\n),
			$left, $y, $long, $style, escape($text);
	}
}
print "</g>\n</svg>\n";
