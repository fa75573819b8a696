#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Prints a section of checkpoint/cache, or makes a cache of one section, from git-checkpoint-format(5)
# alone. Fails if there is none that is sound.
# usage: cache-section.pl [--put] <file> <section>
use strict;
use warnings;

sub crc32 {
	my $crc = 0xffffffff;
	for my $byte (unpack 'C*', shift) {
		$crc ^= $byte;
		$crc = $crc & 1 ? $crc >> 1 ^ 0xedb88320 : $crc >> 1 for 1 .. 8;
	}
	return $crc ^ 0xffffffff;
}

my $put = @ARGV == 3 && shift @ARGV;
my ($file, $name) = @ARGV;
local $/;

if ($put) {
	binmode STDIN;
	my $data = <STDIN> // '';
	my $crc = crc32(pack('a16 Q L L', $name, length $data, 0, 0) . $data);
	open my $out, '>:raw', $file or die "$file: $!\n";
	print {$out} 'CKPTCCH1', pack('a16 Q L L', $name, length $data, $crc, 0), $data,
		"\0" x (-length($data) % 8);
	close $out or die "$file: $!\n";
	exit 0;
}
open my $in, '<:raw', $file or die "$file: $!\n";
my $text = <$in>;
die "not a cache\n" unless substr($text, 0, 8) eq 'CKPTCCH1';
for (my $at = 8; $at < length $text;) {
	my ($key, $len, $crc) = unpack 'Z16 Q L', substr($text, $at, 32);
	my $data = substr($text, $at + 32, $len);
	if ($key eq $name) {
		die "checksum\n" if crc32(pack('a16 Q L L', $key, $len, 0, 0) . $data) != $crc;
		binmode STDOUT;
		print $data;
		exit 0;
	}
	$at += 32 + $len + -$len % 8;
}
exit 1;
