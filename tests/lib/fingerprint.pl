#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# One line per entry of a directory, in byte order: kind, mode, SHA-256 of the contents or the
# target of the link, path. Bytes that would break a line are written \xNN.
# usage: fingerprint.pl [--raw] <dir>
# --raw adds mtime and inode, and goes into every .git, which is left out otherwise.
use strict;
use warnings;
use Digest::SHA;
use Time::HiRes ();

my $raw = @ARGV && $ARGV[0] eq '--raw' ? shift : 0;
@ARGV == 1 or die "usage: fingerprint.pl [--raw] <dir>\n";
chdir $ARGV[0] or die "fingerprint: cannot enter '$ARGV[0]': $!\n";

sub text {
	my ($bytes) = @_;
	$bytes =~ s/([^\x21-\x5b\x5d-\x7e ]|^ | $)/sprintf '\\x%02x', ord $1/ge;
	return $bytes;
}

sub contents {
	my ($path) = @_;
	open my $file, '<:raw', "./$path" or return 'unreadable';
	return Digest::SHA->new(256)->addfile($file)->hexdigest;
}

sub walk {
	my ($dir) = @_;
	opendir my $handle, $dir eq '' ? '.' : "./$dir" or do {
		print "unreadable $dir\n";
		return;
	};
	for my $name (sort grep { $_ ne '.' && $_ ne '..' } readdir $handle) {
		next if $name eq '.git' && !$raw;
		my $path = $dir eq '' ? $name : "$dir/$name";
		my @st = Time::HiRes::lstat("./$path") or next;
		my $what = -l _ ? 'link ' . text(readlink "./$path")
		    : -f _ ? 'file ' . contents($path)
		    : -d _ ? 'dir -'
		    :        'other -';
		printf '%04o ', $st[2] & 07777;
		printf '%d %.6f ', $st[1], $st[9] if $raw;
		print $what, ' ', text($path), "\n";
		walk($path) if $what eq 'dir -';
	}
}

walk('');
