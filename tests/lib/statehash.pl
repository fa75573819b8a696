#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The lines that make up the state hash of a directory, computed from nothing but the files:
# mode, SHA-256 of the contents or of the link's target, path and a NUL for each entry, in byte
# order of path. A directory counts only if nothing below it does. Every .git is left out, and so is
# everything but files, links and directories; ignore rules are not applied.
# usage: statehash.pl <dir> [<path to leave out>...]
use strict;
use warnings;
use Digest::SHA;

@ARGV >= 1 or die "usage: statehash.pl <dir> [<path to leave out>...]\n";
my $root = shift;
my %left_out = map { $_ => 1 } @ARGV;
my %lines;

# Paths may be longer than the system takes at once: one directory at a time.
sub walk {
	my ($prefix) = @_;
	my $count = 0;
	opendir my $handle, '.' or die "statehash: cannot read '$prefix': $!\n";
	my @names = grep { $_ ne '.' && $_ ne '..' && $_ ne '.git' } readdir $handle;
	for my $name (@names) {
		my $path = "$prefix$name";
		next if $left_out{$path};
		my @st = lstat "./$name" or die "statehash: '$path': $!\n";
		if (-l _) {
			my $target = readlink "./$name";
			$lines{$path} = '120000 ' . Digest::SHA::sha256_hex($target);
		} elsif (-f _) {
			open my $file, '<:raw', "./$name" or die "statehash: '$path': $!\n";
			my $sha = Digest::SHA->new(256)->addfile($file)->hexdigest;
			$lines{$path} = sprintf '10%04o %s', $st[2] & 07777, $sha;
		} elsif (-d _) {
			chdir "./$name" or die "statehash: cannot enter '$path': $!\n";
			my $below = walk("$path/");
			chdir '..' or die "statehash: cannot leave '$path': $!\n";
			$lines{$path} = '040000 ' . Digest::SHA::sha256_hex('') unless $below;
		} else {
			next;
		}
		$count++;
	}
	return $count;
}

chdir $root or die "statehash: cannot enter '$root': $!\n";
walk('');
binmode STDOUT;
print "$lines{$_} $_\0" for sort keys %lines;
