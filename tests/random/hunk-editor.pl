#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# hunk-editor.pl <number file> <hunk>: edit a hunk as the number says, always in the same way. For
# hunks.pl, which lets git and us edit the same hunk.

use strict;
use warnings;

my ($plan, $file) = @ARGV;
open my $in, '<:raw', $plan or exit 1;
my $number = <$in> + 0;
open $in, '<:raw', $file or exit 1;
my @lines = <$in>;
my $choice = $number % 8;
$number = int $number / 8;

# Lines with this sign, without those that lack a newline.
sub where {
	my ($signs) = @_;
	return grep { $lines[$_] =~ /\A[$signs]/ && ($lines[ $_ + 1 ] // '') !~ /\A\\/ && $lines[ $_ - 1 ] !~ /\A\\/ }
		1 .. $#lines;
}

sub one { $_[ $number % @_ ] }

my (@plus, @minus) = ();
@plus = where('+');
@minus = where('-');
my @context = where(' ');
# Without any change git takes only a piece of a split hunk; we do not.
my $several = @plus + @minus > 1;
if ($choice == 0 && @plus && $several) {
	splice @lines, one(@plus), 1;
} elsif ($choice == 1 && @minus && $several) {
	$lines[ one(@minus) ] =~ s/\A-/ /;
} elsif ($choice == 2 && @plus) {
	$lines[ one(@plus) ] =~ s/\n/ edited\n/;
} elsif ($choice == 3 && (@plus || @minus)) {
	splice @lines, one(@plus, @minus), 0, "+more\n", "+still more\n";
} elsif ($choice == 4 && @context) {
	$lines[ one(@context) ] = " this is not in the file\n";
} elsif ($choice == 5) {
	@lines = grep { /\A#/ } @lines;
} elsif ($choice == 6) {
	@lines = grep { !/\A\@\@/ } @lines;
} elsif ($choice == 7 && $number % 3 == 0) {
	exit 1;
}
open my $out, '>:raw', $file or exit 1;
print $out @lines;
