#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# pathspecs.pl <seed> <n>: n lines, each a list of random pathspecs separated by tabs, for a
# tree made by textual.pl.
use strict;
use warnings;

my ($seed, $n) = @ARGV;
srand($seed);

my @magic = ('', '', '', '', ':!', ':^', ':/', ':/!', ':(glob)', ':(icase)', ':(exclude)', ':(top)',
	':(icase,exclude)', ':(top,glob)', ':(literal)', ':(exclude,glob)', ':');
my @start = ('', '', 'src', 'src/', 'docs/', 'Docs/', 'DOCS/', 'src/lib/', '**/', 'src/**/', '../', './');
my @end = ('*.c', '*.C', '*.h', 'file1*', 'file[0-9].*', 'file?.txt', 'FILE1*', '*', '**', '*lib*',
	'', 'lib', 'lib/', 'moved*', '**/*.h', '*.[ch]', 'file\\1.c', 'nosuch', '*a b*', '[!f]*');

for (1 .. $n) {
	my @specs;
	for (1 .. 1 + int(rand 3)) {
		my $spec = $magic[rand @magic] . $start[rand @start] . $end[rand @end];
		# git takes "." and ".." from the top for names
		$spec =~ s{^(:/!?|:\(top.*?\))\.\.?/}{$1};
		# outside, for one who is at the top
		$spec =~ s{\.\./}{} unless $ENV{IN_SUBDIRECTORY};
		push @specs, $spec if length $spec;
	}
	print join("\t", @specs), "\n" if @specs;
}
