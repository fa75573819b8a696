# SPDX-License-Identifier: MIT
#
# Harm for the test of this test (RANDOM_TAMPER): once, to what a check that follows has to look at.
package Tamper;
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use lib $FindBin::Bin;
use Ops;

our @EXPORT = qw(harm harm_tree);

my $tampered = 0;

# To the .git or to what is outside.
sub harm {
	my ($root, $kind, $tree) = @_;
	return if ($ENV{RANDOM_TAMPER} // '') ne $kind || $tampered || !%$tree;
	my ($some) = grep { $tree->{$_}{kind} eq 'file' } sort keys %$tree;
	return unless defined $some;
	if ($kind eq 'git') {
		utime 1, 1, "$root/$some";
	} elsif ($kind eq 'outside') {
		put_file("$ENV{T}/outside/$some", 'harm');
	} else {
		return;
	}
	$tampered = 1;
}

# The same to what a restore has just brought back; `stays`: what it had to leave alone. True if harm was done.
sub harm_tree {
	my ($root, $tree, $stays) = @_;
	my $kind = $ENV{RANDOM_TAMPER} // '';
	my @files = grep { $tree->{$_}{kind} eq 'file' && $tree->{$_}{what} !~ /\Ae3b0c4/ } sort keys %$tree;
	return 0 if $tampered || !$kind || $kind eq 'git' || $kind eq 'outside' || !@files;
	my $path = "$root/$files[0]";
	if ($kind eq 'bytes') {
		open my $file, '+<:raw', $path or return 0;
		read $file, my $byte, 1;
		seek $file, 0, 0;
		print $file chr(ord($byte) ^ 1);
		close $file;
	} elsif ($kind eq 'mode') {
		chmod +((stat $path)[2] & 07777) ^ 010, $path;
	} elsif ($kind eq 'extra') {
		mkdir "$root/extra-directory";
	} elsif ($kind eq 'missing') {
		unlink $path;
	} elsif ($kind eq 'time') {
		utime 1, 1, $path;
	} elsif ($kind eq 'protected') {
		my ($other) = grep { $stays->{$_}{kind} eq 'file' } sort keys %$stays;
		return 0 unless defined $other;
		utime 1, 1, "$root/$other";
	} else {
		die "no such harm: $kind\n";
	}
	return $tampered = 1;
}

1;
