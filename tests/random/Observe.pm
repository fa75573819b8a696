# SPDX-License-Identifier: MIT
#
# What git says of a repository, for twin.pl: all of it as text, by name.

package Observe;

use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(observe operation_of git_dir);

sub ask {
	my ($root, @args) = @_;
	my $pid = open my $pipe, '-|';
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		chdir $root or exit 126;
		open STDERR, '>&', \*STDOUT;
		$ENV{GIT_OPTIONAL_LOCKS} = 0;
		exec 'git', @args or exit 127;
	}
	binmode $pipe;
	local $/;
	my $text = <$pipe> // '';
	close $pipe;
	$text =~ tr/\0/\n/;
	return $text;
}

sub git_dir {
	my ($root) = @_;
	chomp(my $dir = ask($root, 'rev-parse', '--absolute-git-dir'));
	return $dir;
}

sub operation_of {
	my ($root) = @_;
	my $dir = git_dir($root);
	return 'am' if -e "$dir/rebase-apply/applying";
	return 'rebase' if -e "$dir/rebase-merge" || -e "$dir/rebase-apply";
	return 'merge' if -e "$dir/MERGE_HEAD";
	for my $pair ([ 'CHERRY_PICK_HEAD', 'cherry-pick' ], [ 'REVERT_HEAD', 'revert' ]) {
		return $pair->[1] if ask($root, 'rev-parse', '-q', '--verify', $pair->[0]) =~ /^[0-9a-f]{40}/;
	}
	return 'bisect' if -e "$dir/BISECT_LOG";
	return 'none';
}

sub slurp { local $/; open my $in, '<', $_[0] or return ''; binmode $in; <$in> // '' }

# The files of whatever is in progress, with their contents.
sub operation_files {
	my ($root) = @_;
	my $dir = git_dir($root);
	my @files = grep { -f } map { "$dir/$_" } qw(MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_AUTOSTASH SQUASH_MSG),
		map { "BISECT_$_" } qw(LOG START TERMS NAMES ANCESTORS_OK FIRST_PARENT RUN);
	push @files, sort grep { -f } glob "$dir/{rebase-merge,rebase-apply,sequencer}/{*,*/*}";
	my $text = join '', map { (my $name = $_) =~ s{^\Q$dir/}{}; "== $name\n" . slurp($_) . "\n" } @files;
	for my $ref (qw(CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD BISECT_HEAD BISECT_EXPECTED_REV)) {
		my $id = ask($root, 'rev-parse', '-q', '--verify', $ref);
		$text .= "== $ref\n$id" if $id =~ /^[0-9a-f]{40}/;
	}
	return $text;
}

sub files {
	my ($root, $dir) = @_;
	my $text = '';
	opendir my $handle, "$root/$dir" or return '';
	for my $name (sort grep { !/^\.{1,2}$/ && $_ ne '.git' } readdir $handle) {
		my $path = $dir eq '' ? $name : "$dir/$name";
		my $mode = sprintf '%o', (lstat "$root/$path")[2] // 0;
		$text .= "$mode $path\n";
		$text .= -l "$root/$path" ? readlink("$root/$path") . "\n"
			: -d _ ? files($root, $path) : slurp("$root/$path");
	}
	return $text;
}

# HEAD's branch, and the one that a rebase will come back to.
sub movable {
	my ($root) = @_;
	my $dir = git_dir($root);
	my @refs = ask($root, 'symbolic-ref', '-q', 'HEAD');
	push @refs, grep { length } map { slurp("$dir/$_/head-name") } qw(rebase-merge rebase-apply);
	return join "\n", map { s/\n//gr } @refs;
}

# Everything, or with `brief` what must be equal after the same command ran in two twins.
sub observe {
	my ($root, $brief) = @_;
	my %all = (
		status   => ask($root, 'status', '--porcelain=v2', '--branch', '-z'),
		cached   => ask($root, 'diff', '--cached', '--full-index', '--binary'),
		index    => ask($root, 'ls-files', '-s', '-v', '-z'),
		added    => ask($root, 'diff', '--name-status', '--diff-filter=A'),
		head     => ask($root, 'symbolic-ref', '-q', 'HEAD'),
		log      => ask($root, 'log', '--format=%H %s', '-20'),
		files    => files($root, ''),
		refs     => ask($root, 'for-each-ref', '--format=%(refname) %(objectname)'),
		stash    => ask($root, 'log', '-g', '--format=%H %gs', 'refs/stash', '--'),
	);
	$all{operation} = operation_files($root);
	$all{movable} = movable($root);
	delete @all{qw(added)} if $brief;
	return \%all;
}

1;
