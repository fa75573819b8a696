#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The state hash, from what `git checkpoint show --hashes` prints: reads lines "<mode> <sha256> <path>"
# that end in a NUL.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);

binmode STDIN;
my $text = do { local $/; <STDIN> } // '';
my %root;

# A directory is a hash of its names; everything else is its mode and sum.
for my $line (split /\0/, $text) {
	my ($mode, $sum, $path) = $line =~ /\A([0-7]{6}) ([0-9a-f]{64}) (.+)\z/s or die "treehash: $line\n";
	my @names = split m{/}, $path;
	my $last = pop @names;
	my $dir = \%root;
	$dir = $dir->{$_} //= {} for @names;
	$dir->{$last} = $mode eq '040000' ? {} : "$mode $sum";
}

sub tree {
	my ($dir) = @_;
	return sha256_hex(join '', map {
		my $entry = $dir->{$_};
		(ref $entry ? '040000 ' . tree($entry) : $entry) . " $_\0";
	} sort keys %$dir);
}

print 'sha256:', tree(\%root), "\n";
