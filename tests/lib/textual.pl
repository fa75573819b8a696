#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# textual.pl make <seed>: text files in the current directory. textual.pl edit <seed>: change
# them as people do: words, white space, blank lines; files move, with and without edits.
use strict;
use warnings;
use File::Basename;
use File::Path 'make_path';

my ($what, $seed) = @ARGV;
srand($seed);

my @dirs = ('', 'src/', 'src/lib/', 'docs/', 'Docs/a b/');
my @words = qw(if else return value count list tree path open close read write);

sub word { return $words[rand @words] . int(rand 50) }

sub line {
	my $tabs = int(rand 3);
	my $indent = "\t" x $tabs;
	return rand() < 0.15 ? '' : $indent . join(' ', map { word() } 1 .. 2 + rand 6);
}

sub put {
	my ($path, @lines) = @_;
	make_path(dirname($path));
	open(my $out, '>', $path) or die "$path: $!";
	print $out map { "$_\n" } @lines;
	close($out);
}

sub get {
	my ($path) = @_;
	open(my $in, '<', $path) or die "$path: $!";
	chomp(my @lines = <$in>);
	return @lines;
}

sub files {
	my @found = grep { -f } map { glob($_ . '*') } qw(./ ./*/ ./*/*/);
	push @found, grep { -f } glob('"./Docs/a b/*"');
	my %once = map { s{^\./}{}r => 1 } @found;
	return sort keys %once;
}

sub edit_space {
	my $line = shift;
	my $how = int(rand 4);
	$line =~ s/ /  / if $how == 0;
	$line =~ s/^\t/        / if $how == 1;
	$line .= '  ' if $how == 2;
	$line =~ s/ // if $how == 3;
	return $line;
}

sub edit {
	my ($share, @lines) = @_;
	my $kind = int(rand 4);
	my @out;
	for my $line (@lines) {
		if (rand() >= $share) { push @out, $line }
		elsif ($kind == 0) { push @out, edit_space($line) }
		elsif ($kind == 1) { push @out, '', $line }
		elsif ($kind == 2) { push @out, rand() < 0.5 ? line() : edit_space($line) }
		else { push @out, $line, line() if rand() < 0.7 }
	}
	return @out;
}

if ($what eq 'make') {
	for my $i (1 .. 24) {
		my $suffix = (qw(.c .h .txt .C))[rand 4];
		put($dirs[rand @dirs] . "file$i$suffix", map { line() } 1 .. 10 + rand 60);
	}
} else {
	for my $path (files()) {
		my $how = rand();
		my @lines = get($path);
		my $to = $dirs[rand @dirs] . (rand() < 0.5 ? basename($path) : 'moved' . basename($path));
		if ($how < 0.4) { put($path, edit(0.1, @lines)) }
		elsif ($how < 0.75 && !-e $to) { unlink $path; put($to, edit((0, 0.05, 0.3)[rand 3], @lines)) }
		elsif ($how < 0.8) { unlink $path }
	}
	put('new' . int(rand 100) . '.txt', map { line() } 1 .. 20);
}
