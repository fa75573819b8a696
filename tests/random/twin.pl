#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# twin.pl <seconds> [<seed>]: random git commands, a checkpoint anywhere among them, more commands,
# then `restore --git`, and what git says of the result compared with what it says of a twin: a copy
# of the repository made when the checkpoint was taken. Then undo, compared with the state before.
#
# Each seed is an episode of its own. With a seed, only that one.
#
# BUILD_DIR    where the program is
# TWIN_KIND    only that kind of repository: see @kinds
# TWIN_TAMPER  harm that this test does itself after the restore, and has to notice: index, flag,
#              head, branch, operation, file
# TWIN_KEEP    leave the scratch directory

use strict;
use warnings;
use Cwd ();
use File::Temp ();
use FindBin;
use JSON::PP ();
use lib $FindBin::Bin;
use Observe;

my ($seconds, $only) = @ARGV;
die "usage: twin.pl <seconds> [<seed>]\n" unless defined $seconds;
my $build = Cwd::realpath($ENV{BUILD_DIR} // "$FindBin::Bin/../../build");
$ENV{PATH} = "$build:$ENV{PATH}";
my $scratch = Cwd::realpath(
	File::Temp::tempdir('git-checkpoint-twin.XXXXXX', DIR => -w '/dev/shm' ? '/dev/shm' : $ENV{TMPDIR} // '/tmp'));

END {
	my $status = $?;
	system 'rm', '-rf', $scratch if $scratch && !$ENV{TWIN_KEEP};
	$? = $status;
}
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { exit 1 };

my @kinds = qw(plain plain sha256 split sparse linked submodule reftable untracked-cache);
my @operations = qw(rebase merge cherry-pick revert am bisect none);
my ($seed, $base, $root, $kind, $clock, @trace);
my %count = map { $_ => 0 } qw(episodes restores refused undone redone continued), @operations;

sub fail {
	my (@lines) = @_;
	print "FAILED with seed $seed ($kind): ", shift @lines, "\n";
	print "  $_\n" for @lines[ 0 .. ($#lines < 40 ? $#lines : 40) ];
	print "what was done:\n", map { "  $_\n" } @trace;
	print "again with: tests/random/twin.pl 1 $seed\n";
	print "left in $base\n" if $ENV{TWIN_KEEP};
	exit 1;
}

# ---- running ---------------------------------------------------------------------

# Every command has a second of its own, the same for both twins.
sub run_in {
	my ($dir, @command) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		chdir $dir or exit 126;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', "$base/out";
		open STDERR, '>&', \*STDOUT;
		$ENV{GIT_AUTHOR_DATE} = $ENV{GIT_COMMITTER_DATE} = "$clock +0000";
		exec @command or exit 127;
	}
	waitpid $pid, 0;
	return $? >> 8;
}

sub output { local $/; open my $in, '<', "$base/out" or return ''; <$in> // '' }

sub git {
	my (@args) = @_;
	$clock++;
	my $status = run_in($root, 'git', @args);
	push @trace, "git @args" . ($status ? "  ($status)" : '');
	return $status;
}

sub must {
	my (@args) = @_;
	git(@args) and fail("git @args", split /\n/, output());
}

sub checkpoint {
	my (@args) = @_;
	my $status = run_in($root, 'git', 'checkpoint', @args);
	push @trace, "git checkpoint @args  ($status)";
	return $status;
}

sub save {
	checkpoint('save', '-m', 'twin', '--json') and fail('save', split /\n/, output());
	my ($json) = grep { /^\{/ } split /\n(?=\{)/, output();
	return JSON::PP->new->decode($json)->{checkpoint}{id};
}

# ---- what happens in a repository --------------------------------------------------

sub any { $_[ int rand @_ ] }
sub file { any('a', 'b', 'c', 'dir/d', 'dir/e', 'dir/deep/f', 'new ' . int rand 4) }
sub branch { any('main', 'one', 'two', 'three', 'group/x', 'group/y') }

sub edit {
	my $path = "$root/" . file();
	(my $dir = $path) =~ s{/[^/]*$}{};
	return if -d $path || (system 'mkdir', '-p', $dir);
	my @lines = -f $path ? do { open my $in, '<', $path; <$in> } : map { "line $_\n" } 1 .. 8;
	# Often the first, so that there are conflicts.
	$lines[ int rand 2 ? 0 : int rand @lines || 0 ] = 'edit ' . int(rand 1000) . "\n" for 0 .. int rand 2;
	open my $out, '>', $path or return;
	print $out @lines;
	close $out;
	push @trace, 'edit ' . substr $path, 1 + length $root;
}

sub remove {
	my $path = file();
	unlink "$root/$path" and push @trace, "rm $path";
}

my @ops = (
	[12, \&edit], [2, \&remove],
	[6, sub { git('add', '-A') }],
	[4, sub { git('add', '--', file()) }],
	# git up to 2.55 breaks a sparse index with such entries itself, when it reads one.
	[3, sub { edit(); git('add', '-N', '.') if $kind ne 'sparse' }],
	[2, sub { git('rm', '-q', '--cached', '--', file()) }],
	[2, sub { git('update-index', any('--skip-worktree', '--no-skip-worktree'), file()) }],
	[2, sub { git('update-index', any('--assume-unchanged', '--no-assume-unchanged'), file()) }],
	[1, sub { git('update-index', any('--chmod=+x', '--chmod=-x'), file()) }],
	[8, sub { git('commit', '-q', '-a', '-m', "commit $clock") }],
	[3, sub { git('commit', '-q', '-m', "staged $clock") }],
	[2, sub { git('commit', '-q', '--amend', '-m', "amended $clock") }],
	[4, sub { git('checkout', '-q', branch()) }],
	[2, sub { git('checkout', '-q', '-f', branch()) }],
	[4, sub { git('checkout', '-q', '-b', branch()) }],
	[1, sub { git('checkout', '-q', '--detach') }],
	[1, sub { git('checkout', '-q', '--orphan', 'orphan' . int rand 3) }],
	[2, sub { git('branch', '-q', branch()) }],
	[2, sub { git('branch', '-q', '-D', branch()) }],
	[2, sub { git('branch', '-q', '-M', branch()) }],
	[2, sub { git('reset', '-q', any('--hard', '--mixed', '--soft'), any('HEAD', 'HEAD~1', branch())) }],
	[4, sub { git('merge', '-q', any('--no-ff', '--no-commit', '--squash', '--ff'), branch()) }],
	[4, sub { git('rebase', '-q', any('--merge', '--apply', '--autostash'), branch()) }],
	[3, sub { git('-c', 'sequence.editor=sed -i 1s/^pick/edit/', 'rebase', '-q', '-i', any('--autostash', '--no-autostash'), 'HEAD~2') }],
	[3, sub { git('cherry-pick', any(branch(), 'main~2..main', branch() . '~1')) }],
	[3, sub { git('revert', '--no-edit', any('HEAD', 'HEAD~1', 'HEAD~2..HEAD')) }],
	[9, sub { in_conflict() }],
	[1, sub { am() }],
	[2, sub { git('stash', 'push', '-q', any('-u', '--keep-index', '-q')) }],
	[1, sub { git('stash', any('pop', 'apply', 'drop'), '-q') }],
	[1, sub { git('bisect', 'start', 'HEAD', 'HEAD~3') }],
	[1, sub { git('bisect', any('good', 'bad', 'skip', 'reset')) }],
	[2, sub { git(any('rebase', 'merge', 'cherry-pick', 'revert', 'am'), any('--continue', '--abort', '--quit')) }],
	[1, sub { git('rebase', '--skip') }],
);
my @table = map { my ($weight, $op) = @$_; ($op) x $weight } @ops;

# On a clean worktree, so that it is begun.
sub in_conflict {
	edit();
	git('commit', '-q', '-a', '-m', "mine $clock");
	my $other = any(grep { $_ ne '' } split /\n/, `git -C $root for-each-ref --format='%(refname:short)' refs/heads`);
	git(@{ any([ 'merge', '-q', $other ], [ 'rebase', '-q', any('--merge', '--apply'), $other ],
		[ 'cherry-pick', "HEAD..$other" ], [ 'cherry-pick', $other ], [ 'revert', '--no-edit', 'HEAD~1', 'HEAD~2' ]) })
		if defined $other;
}

sub am {
	my $from = branch();
	return if git('format-patch', '-q', '-1', '--stdout', $from);
	open my $mail, '>', "$base/mail" or die;
	print $mail output();
	close $mail;
	git('am', '-q', any('-3', '--keep-cr'), "$base/mail");
}

sub do_some {
	my ($least, $most) = @_;
	any(@table)->() for 1 .. $least + int rand($most - $least + 1);
}

# ---- kinds of repositories ---------------------------------------------------------

sub make {
	my @init = ('init', '-q', '-b', 'main');
	push @init, '--object-format=sha256' if $kind eq 'sha256';
	push @init, '--ref-format=reftable' if $kind eq 'reftable';
	mkdir "$base/main";
	$root = "$base/main";
	return 0 if git(@init);
	must('config', 'core.logAllRefUpdates', 'false') if !int rand 6;
	for my $path ('a', 'b', 'c', 'dir/d', 'dir/e', 'dir/deep/f') {
		system 'mkdir', '-p', "$root/dir/deep";
		open my $out, '>', "$root/$path" or die;
		print $out map { "$path line $_\n" } 1 .. 8;
	}
	must('add', '-A');
	must('commit', '-q', '-m', 'first');
	for my $name (qw(one two)) {
		must('checkout', '-q', '-b', $name);
		edit(), git('commit', '-q', '-a', '-m', "$name $_") for 1 .. 3;
		must('checkout', '-q', 'main');
	}
	must('config', 'core.splitIndex', 'true'), must('update-index', '--split-index') if $kind eq 'split';
	must('update-index', '--untracked-cache') if $kind eq 'untracked-cache';
	return !git('sparse-checkout', 'set', '--cone', '--sparse-index', 'dir/deep') if $kind eq 'sparse';
	if ($kind eq 'linked') {
		must('worktree', 'add', '-q', '-b', 'linked', "$base/linked");
		$root = "$base/linked";
	}
	if ($kind eq 'submodule') {
		must('init', '-q', "$base/sub");
		must('-C', "$base/sub", 'commit', '-q', '--allow-empty', '-m', 'sub');
		must('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', "$base/sub", 'sub');
		must('commit', '-q', '-m', 'submodule');
	}
	return 1;
}

# Copy everything but the observed paths keep their names, so that git says the same of both.
sub keep_twin {
	my ($name) = @_;
	system 'rm', '-rf', "$base/$name";
	mkdir "$base/$name";
	for my $part (grep { -e "$base/$_" } qw(main linked sub)) {
		system('cp', '-a', "$base/$part", "$base/$name/$part") and die 'cp';
	}
}

# With the twin in the place of the repository.
sub as_twin {
	my ($name, $what) = @_;
	my @parts = grep { -e "$base/$name/$_" } qw(main linked sub);
	mkdir "$base/aside";
	rename "$base/$_", "$base/aside/$_" or die for @parts;
	rename "$base/$name/$_", "$base/$_" or die for @parts;
	$what->();
	rename "$base/$_", "$base/$name/$_" or die for @parts;
	rename "$base/aside/$_", "$base/$_" or die for @parts;
}

# ---- an episode --------------------------------------------------------------------

sub write_file {
	my ($path, $text) = @_;
	open my $out, '>', $path or die "$path: $!";
	binmode $out;
	print $out $text;
}

sub compare {
	my ($what, $expected, $got, @but) = @_;
	for my $key (sort keys %$expected) {
		next if grep { $_ eq $key } @but;
		next if $expected->{$key} eq ($got->{$key} // '');
		write_file("$base/expected", $expected->{$key});
		write_file("$base/got", $got->{$key} // '');
		fail("$what: $key", split /\n/, `diff -u $base/expected $base/got`);
	}
}

sub tamper {
	my $harm = $ENV{TWIN_TAMPER} // return;
	git('update-index', '--force-remove', 'a') if $harm eq 'index';
	git('update-index', '--assume-unchanged', any(split /\n/, `git -C $root ls-files`)) if $harm eq 'flag';
	git('commit', '-q', '--allow-empty', '-m', 'tamper', '--no-verify') if $harm eq 'head';
	git('symbolic-ref', 'HEAD', 'refs/heads/tamper') if $harm eq 'branch';
	if ($harm eq 'operation') { open my $out, '>', git_dir($root) . '/BISECT_LOG'; print $out 'x'; }
	if ($harm eq 'file') { open my $out, '>>', "$root/tamper"; print $out 'x'; }
}

# Whether what was in progress can go on: the same command in both.
sub go_on {
	my ($operation, $twin) = @_;
	my @command = $operation eq 'bisect' ? ('bisect', 'good')
		: $operation eq 'none' ? ('commit', '-q', '--allow-empty', '-m', 'on')
		: ($operation, any('--abort', '--continue'));
	my @all = int rand 2 ? ('add', '-A') : ();
	my $before = $clock;
	my ($theirs, $ours);
	# A copy has other inodes than its index knows.
	as_twin($twin, sub { git('status', '-s'); $clock = $before; git(@all) if @all; git(@command); $theirs = observe($root, 1); });
	$clock = $before;
	git(@all) if @all;
	git(@command);
	$ours = observe($root, 1);
	compare("@command afterwards", $theirs, $ours, 'stash', 'refs');
	$count{continued}++;
}

# git 2.39 breaks a sparse index now and then: the same entry more than once.
sub is_broken {
	my ($state) = @_;
	my %seen;
	return scalar grep { $_ ne '' && $seen{$_}++ } split /\n/, $state->{index};
}

sub episode {
	$base = "$scratch/$seed";
	mkdir $base;
	mkdir "$base/$_" for qw(home state);
	@ENV{qw(HOME XDG_STATE_HOME GIT_CONFIG_NOSYSTEM GIT_EDITOR)} = ("$base/home", "$base/state", 1, 'true');
	$ENV{$_} = 'A U Thor' for qw(GIT_AUTHOR_NAME GIT_COMMITTER_NAME);
	$ENV{$_} = 'author@example.com' for qw(GIT_AUTHOR_EMAIL GIT_COMMITTER_EMAIL);
	$clock = 1_700_000_000;
	@trace = ();
	$kind = $ENV{TWIN_KIND} // any(@kinds);
	make() or return;
	$count{episodes}++;
	do_some(3, 14);
	in_conflict(), edit(), any(sub { }, sub { git('add', file()) })->() if int rand 2;
	my $then = observe($root);
	return if is_broken($then);
	my $id = save();
	keep_twin('twin');
	compare('the save changed something', $then, observe($root));
	do_some(1, 10);
	if (!int rand 5) {
		git('reflog', 'expire', '--expire=now', '--all') if int rand 2;
		git('gc', '-q', '--prune=now');
	}
	my $before = observe($root);
	return if is_broken($before);
	my $status = checkpoint('restore', '--git', '--yes', $id);
	if ($status == 5) {
		my $why = output();
		$count{refused}++;
		compare("refused ($why), but something changed", $before, observe($root));
		# Only what the random commands can bring about.
		fail('refused without a reason', $why)
			unless $why =~ /(?:commit|object) ('?)([0-9a-f]{40,64})\1/ ? git('cat-file', '-e', $2)
			: $why =~ /checked out|in the way/;
	} else {
		$status and fail('restore', split /\n/, output());
		$count{restores}++;
		$count{ operation_of($root) }++;
		tamper();
		my $after = observe($root);
		compare('restored', $then, $after, 'stash', 'refs');
		compare_refs($before, $after, $then);
		# Nothing to do, nothing to undo.
		my $same = !grep { $before->{$_} ne $after->{$_} } keys %$before;
		my $there = !$same && int rand 3 ? back_and_forth($before, $after) : 1;
		go_on(operation_of($root), 'twin') if $there && int rand 2 && $kind ne 'submodule';
	}
	system 'rm', '-rf', $base unless $ENV{TWIN_KEEP};
}

# No ref but that of HEAD's branch, then or in its operation, and private ones may differ.
sub compare_refs {
	my ($before, $after, $then) = @_;
	my %moves = map { $_ => 1 } split /\n/, $then->{movable};
	my %is = map { split / / } split /\n/, $after->{refs};
	my %was = map { split / / } split /\n/, $before->{refs};
	for my $ref (sort keys %{ { %is, %was } }) {
		next if $moves{$ref} || $ref =~ m{^refs/(bisect|rewritten|worktree)/};
		fail("restored: $ref was touched", $was{$ref} // 'absent', $is{$ref} // 'absent')
			if ($is{$ref} // '') ne ($was{$ref} // '');
	}
}

# True if it ends with the restored state.
sub back_and_forth {
	my ($before, $after) = @_;
	checkpoint('undo', '--yes') and fail('undo', split /\n/, output());
	compare('undone', $before, observe($root));
	$count{undone}++;
	return 0 if !int rand 2;
	checkpoint('redo', '--yes') and fail('redo', split /\n/, output());
	compare('redone', $after, observe($root));
	return ++$count{redone};
}

my $first = $only // $ENV{TEST_SEED} // time;
my $end = time + $seconds;
for ($seed = $first; ; $seed++) {
	srand $seed;
	episode();
	last if defined $only || time >= $end;
}
print "TEST_SEED=$first: ", join(', ', map { "$count{$_} $_" } sort keys %count), "\n";
