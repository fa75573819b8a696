#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# mutate.pl <seed> <count> <directory> <file>...: lines of the files, each damaged in a few places,
# as <directory>/1, 2, 3 ... What @...@ stands for is put in by the caller, so that no damage leads
# to a place that exists.

use strict;
use warnings;

my ($seed, $count, $dir, @files) = @ARGV;
my (@lines, $n);

srand($seed);
for my $file (@files) {
	open my $in, '<:raw', $file or die "$file: $!\n";
	push @lines, <$in>;
}
my @odd = ("\0", "\xff", '"', '\\', '{', '}', '[', ']', ',', ':', "\n", '\\ud800', '\\u0000', 'null', '1e999',
	'"cwd":', '"tool_name":7,', '{"a":' x 300, 'x' x 5000, '');
for $n (1 .. $count) {
	my $line = $lines[rand @lines];
	for (0 .. rand 4) {
		my ($at, $len) = (int rand length($line) + 1, int rand(rand(2) < 1 ? 3 : 200));
		my $kind = int rand 5;
		$len = length($line) - $at if $at + $len > length $line;
		substr($line, $at, $len) = $odd[rand @odd] if $kind == 0;
		substr($line, $at, $len) = '' if $kind == 1;
		substr($line, $at, 0) = substr($line, rand length $line, rand 100) if $kind == 2 && length $line;
		substr($line, $at) = '' if $kind == 3 && rand(2) < 1;
		substr($line, $at, 1) = chr int rand 256 if $kind == 4 && $at < length $line;
	}
	open my $out, '>:raw', "$dir/$n" or die "$dir/$n: $!\n";
	print $out $line;
	close $out;
}
