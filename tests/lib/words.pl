#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Words that give a translation away, in what people read: manual, READMEs, comments, and the
# strings of sources and hooks. A line "<file>:<line>: <words>: <text>" each.
# usage: words.pl <file>...
use strict;
use warnings;

# "is no longer" and "there is no" are English; "is no file" is not.
my $not = qr/(?:longer|more|less|better|worse|larger|smaller|different|such)\b/;
my @words = (
	qr/\b(?<!left )(?<!leave )(?<!leaves )(?<!leaving )(?<!fall )behind\b/,
	qr/\banew\b/,
	qr/\bmend(?:s|ed|ing)?\b/,
	qr/\b(?<!there )(?<!There )(?:is|are|was|were)\s+no\s+(?!$not)[a-z]+/,
	qr/\bthat there (?:is|are|was|were)[.,;:)]/,
	qr/\bnobody is there\b/,
	qr/\b(?:what|nothing|something) (?:came|comes) of\b/,
	qr/\bfor want of\b/,
	qr/\bnot there any more\b/,
	qr/\bso many (?:bytes|seconds|times|of them)\b/,
);

# What is not meant for people becomes blank, so that lines keep their numbers.
sub blank {
	return $_[0] =~ tr/\n/ /cr;
}

sub of_c {
	my ($text, $strings) = @_;
	my $out = '';
	while ($text =~ m{\G(?:(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*")|('(?:\\.|[^'\\\n])*'|.))}gs) {
		$out .= defined $3 ? blank($3) : defined $1 ? $1 : $strings ? $2 : blank($2);
	}
	return $out;
}

# Only whole-line comments, and what is printed: a "#" elsewhere is mostly code.
sub of_script {
	my ($text, $strings) = @_;
	my $wanted = $strings ? qr/^\s*#|\b(?:echo|printf)\b/ : qr/^\s*#/;
	return join "\n", map { /$wanted/ ? $_ : '' } split /\n/, $text, -1;
}

for my $file (@ARGV) {
	open my $fh, '<', $file or die "$file: $!\n";
	my $text = do { local $/; <$fh> };
	my $strings = $file !~ m{(?:^|/)tests/}; # those of tests are mostly data
	$text = of_c($text, $strings) if $file =~ /\.[ch]$/;
	$text = of_script($text, $strings) if $file !~ /\.(?:[ch]|md|[1-9])$/;
	$text =~ s/(`[^`\n]*`)/blank($1)/ge; # names
	# a phrase may go on in the next line of a comment or a string
	(my $joined = $text) =~ s{"?\n[ \t]*(?:\*|\#|//)?[ \t]*"?}{ $& =~ tr/\n/ /cr }ge;
	for my $word (@words) {
		while ($joined =~ /$word/g) {
			my ($what, $line) = ($&, 1 + (substr($joined, 0, $-[0]) =~ tr/\n//));
			my $shown = (split /\n/, $text, -1)[$line - 1];
			$what =~ s/\s+/ /g;
			$shown =~ s/^\s+//;
			print "$file:$line: $what: $shown\n";
		}
	}
}
