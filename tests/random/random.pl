#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# random.pl <seconds> [<seed>]: random trees, random damage, and what came back compared with what
# there was, as Tree.pm sees it, which shares nothing with the program.
#
# Each seed is an episode of its own: a tree is made, then some rounds of changing it, saving it,
# damaging it, bringing it back, undoing and redoing that. With a seed, only that one.
#
# BUILD_DIR      where the program is
# RANDOM_TAMPER  harm that this test does itself after the first restore, and has to notice: bytes,
#                mode, extra, missing, time, protected, git, outside
# RANDOM_KEEP    leave the scratch directory
# RANDOM_LAYERS  worktrees are overlays, and all that is in them is in lower layers before each
#                restore, as in containers (needs root)

use strict;
use warnings;
use Cwd ();
use File::Basename;
use File::Temp ();
use FindBin;
use JSON::PP ();
use lib $FindBin::Bin;
use Ops;
use Overlay;
use Tamper;
use Time::HiRes ();
use Tree;

my ($seconds, $only) = @ARGV;
die "usage: random.pl <seconds> [<seed>]\n" unless defined $seconds;
my $build = Cwd::realpath($ENV{BUILD_DIR} // "$FindBin::Bin/../../build");
$ENV{PATH} = "$build:$ENV{PATH}";
# One episode out of four on a disk; what the others wait for there is not what they are about.
my @scratch = map { Cwd::realpath(File::Temp::tempdir('git-checkpoint-random.XXXXXX', DIR => $_)) }
	$ENV{TMPDIR} // '/tmp', -w '/dev/shm' ? '/dev/shm' : $ENV{TMPDIR} // '/tmp';

sub remove_now { system 'sh', '-c', 'chmod -R u+rwx "$@"; rm -rf "$@"', 'sh', @_ }
sub remove { remove_now(@_) unless $ENV{RANDOM_KEEP} }

END {
	my $status = $?;
	unmount() if !$ENV{RANDOM_KEEP};
	remove(@scratch) if @scratch;
	$? = $status;
}
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { exit 1 };

my ($seed, $root, $store, $is_git, $rules);
my %count = map { $_ => 0 } qw(episodes saves restores refused partial undone redone paths);
my @trace;

sub fail {
	my (@lines) = @_;
	print "FAILED with seed $seed: ", shift @lines, "\n";
	print "  $_\n" for @lines[ 0 .. ($#lines < 24 ? $#lines : 24) ];
	print "what was done:\n", map { "  $_\n" } @trace;
	print "again with: make random RANDOM_SEED=$seed\n";
	print "left in $ENV{T}\n" if $ENV{RANDOM_KEEP};
	exit 1;
}

# ---- the program -----------------------------------------------------------------

# Run it; its .git's and what is outside must be as before. The answer and the status.
sub checkpoint {
	my (@args) = @_;
	my $git = snapshot($root, 1);
	my $outside = snapshot("$ENV{T}/outside");
	push @trace, join ' ', map { show_name($_) } @args;
	my $pid = open my $pipe, '-|';
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDERR, '>', "$ENV{T}/stderr";
		chdir $root;
		exec 'git-checkpoint', @args or exit 127;
	}
	binmode $pipe;
	my $out = do { local $/; <$pipe> } // '';
	close $pipe;
	my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
	my $err = do { local $/; open my $file, '<', "$ENV{T}/stderr"; <$file> } // '';
	$trace[-1] .= " -> $status";
	harm($root, 'git', $git);
	harm($root, 'outside', $outside);
	my @wrong = differences($git, snapshot($root, 1), 1);
	fail("'$args[0]' changed the project's .git", @wrong) if @wrong;
	@wrong = differences($outside, snapshot("$ENV{T}/outside"));
	fail("'$args[0]' changed what is outside of the worktree", @wrong) if @wrong;
	return ($out, $status, $err);
}

sub answer {
	my (@args) = @_;
	my ($out, $status, $err) = checkpoint($args[0], '--json', @args[ 1 .. $#args ]);
	my $json = eval { JSON::PP->new->utf8->decode($out) };
	fail("'$args[0]' gave no JSON, exit status $status", split(/\n/, $out), split /\n/, $err) unless $json;
	return ($json, $status, $err);
}

# ---- what should be --------------------------------------------------------------

# A state: the tree, which of it belongs into a checkpoint, and the rules that are in no .gitignore.
sub look {
	my $tree = snapshot($root);
	write_rules(read_rules());
	my ($in, $ignored) = captured($root, $tree, snapshot($root, 1), $rules);
	my %all = map { $_ => slurp("$root/$_") }
		grep { m{(?:\A|/)\.gitignore\z} && $tree->{$_}{kind} eq 'file' } keys %$tree;
	my %gitignore = map { $_ => $all{$_} } grep { $in->{$_} } keys %all;
	return { tree => $tree, in => $in, ignored => $ignored, rules => [ read_rules() ], gitignore => \%gitignore,
		all_gitignore => \%all };
}

sub slurp { my ($path) = @_; open my $file, '<:raw', $path or return ''; local $/; return <$file> // '' }
sub read_rules { return ($is_git ? slurp("$root/.git/info/exclude") : '', slurp("$ENV{T}/excludes")) }

# A repository of our own with these rules: what git says there is what counts. The default patterns
# have the lowest rank of all.
sub write_rules {
	my ($exclude, $excludes_file) = @_;
	put_file("$rules/info/exclude", $exclude);
	put_file("$ENV{T}/model-excludes",
		"node_modules/\n__pycache__/\nvenv/\n.venv/\ndist/\nbuild/\n.next/\n*.pyc\n.DS_Store\n$excludes_file");
}

# What a checkpoint says that it holds, against what it has to hold.
sub check_capture {
	my ($state, $id) = @_;
	my ($out, $status) = checkpoint('show', '--hashes', $id);
	my (%said, %want);
	for my $line (split /\0/, $out) {
		my ($mode, $hash, $path) = split / /, $line, 3;
		$said{$path} = "$mode $hash";
	}
	my %full;
	for my $path (keys %{ $state->{in} }) {
		$full{ parent_of($path) } = 1;
	}
	for my $path (keys %{ $state->{in} }) {
		my $entry = $state->{tree}{$path};
		next if $entry->{kind} eq 'dir' && $full{$path};
		$want{$path} = $entry->{kind} eq 'dir' ? '040000 ' . Digest::SHA::sha256_hex('')
			: $entry->{kind} eq 'link' ? '120000 ' . Digest::SHA::sha256_hex($entry->{what})
			: sprintf '%06o %s', 0100000 | $entry->{mode}, $entry->{what};
	}
	my %all = (%said, %want);
	my @wrong = map { show_name($_) . ': ' . ($want{$_} // 'nothing') . ' is saved as ' . ($said{$_} // 'nothing') }
		grep { ($said{$_} // '') ne ($want{$_} // '') } sort keys %all;
	fail("$id does not hold what it should", @wrong) if @wrong;
}

# What has to come of a restore from the state `now` to the saved state `then`, at paths that
# `inside` says are meant: path => 'then', 'now', 'gone', 'lead' or 'any' (one of the first three). `old`: what the rules
# of then ignore.
sub expected {
	my ($then, $now, $inside, $old, $partial, $keep, $named) = @_;
	my (%want, %kept);
	my %paths = (%{ $then->{tree} }, %{ $now->{tree} });
	for my $path (sort { length $b <=> length $a } keys %paths) {
		my $is = $now->{tree}{$path};
		my $left_out_now = $is && !$now->{in}{$path};
		my $what;
		if (!$inside->($path)) {
			$what = 'now';
		} elsif ($then->{in}{$path}) {
			$what = $left_out_now && $partial ? 'any' : 'then';
			# A directory of both that only leads to others may have been left out of either.
			$what = 'any' if $left_out_now && $is->{kind} eq 'dir';
		} elsif (!$is) {
			# What leads to a path may have to be made on the way; a checkpoint of that path alone
			# does not know its mode.
			$what = (grep { $_ ne $path && below($_, $path) } @$named) ? 'lead' : 'gone';
			# A safety checkpoint holds what a restore had to touch, though it was ignored.
			$what = 'any' if $now->{brought} && $then->{tree}{$path};
		} elsif ($left_out_now) {
			# An ignored directory that was named is meant with all that is in it; and what a restore
			# brought goes with its undo.
			$what = $now->{brought}{$path} || (grep { $now->{ignored}{$_} && below($path, $_) } @$named) ? 'any' : 'now';
		} elsif ($old->{$path} || was_left_out($then, $path) || $path =~ /\.nestx/ || is_sensitive($path, { kind => 'file' })) {
			$what = 'any';
		} else {
			$what = $keep || $is->{kind} eq 'dir' && ($kept{$path} || -e "$root/$path/.git") ? 'any' : 'gone';
		}
		$want{$path} = $what;
		$kept{ parent_of($path) } = 1 if $is && $what ne 'gone' || -e "$root/$path/.git" || $kept{$path};
	}
	return \%want;
}

# It, or what it is below now, was there and not saved.
sub was_left_out {
	my ($then, $path) = @_;
	for (; $path ne ''; $path = parent_of($path)) {
		return 1 if $then->{tree}{$path} && !$then->{in}{$path};
	}
	return 0;
}

# What of `now` the rules of `then` ignore, asked in an empty copy of the tree. Where a .gitignore of
# then is a directory now, the copy has the file: if it came back, nothing is below it.
sub ignored_then {
	my ($then, $now, $gitignore) = @_;
	my $copy = "$ENV{T}/copy";
	mkdir $copy;
	for my $path (sort keys %{ $now->{tree} }) {
		if ($now->{tree}{$path}{kind} eq 'dir') {
			mkdir "$copy/$path" unless defined $gitignore->{$path};
		} elsif ($path !~ m{(?:\A|/)\.gitignore\z}) {
			put_file("$copy/$path", '');
		}
	}
	for my $path (grep { -d "$copy/" . parent_of($_) } keys %$gitignore) {
		put_file("$copy/$path", $gitignore->{$path});
		die "no " . show_name($path) . " in the copy\n" if slurp("$copy/$path") ne $gitignore->{$path};
	}
	write_rules(@{ $then->{rules} });
	my $old = ignored($copy, $rules, keys %{ $now->{tree} });
	remove_now($copy);
	return $old;
}

sub check_restored {
	my ($then, $now, $inside, $partial, $what, $keep, $named) = @_;
	my $tree = snapshot($root);
	my $old = ignored_then($then, $now, $then->{gitignore});
	# A safety checkpoint holds a .gitignore that ignores itself, if the restore had to touch it.
	$old = { %$old, %{ ignored_then($then, $now, $then->{all_gitignore}) } } if $now->{brought};
	my $want = expected($then, $now, $inside, $old, $partial, $keep, $named // []);
	my %stays = map { $_ => $tree->{$_} } grep { $want->{$_} eq 'now' && $tree->{$_} } keys %$want;
	my $harmed = harm_tree($root, { map { $_ => $tree->{$_} } grep { $want->{$_} eq 'then' && $tree->{$_} && same_entry($now->{tree}{$_}, $then->{tree}{$_}) } keys %$want }, \%stays);
	$tree = snapshot($root) if $harmed;
	my @wrong;
	for my $path (sort keys %{ { %$want, %$tree } }) {
		my $got = $tree->{$path};
		my ($was, $is) = ($then->{tree}{$path}, $now->{tree}{$path});
		my $rule = $want->{$path} // 'gone';
		my $ok = $rule eq 'then' ? same_entry($got, $was) && (!same_entry($is, $was) || same_entry($got, $is, 1))
			: $rule eq 'now' ? !$got && !$is || same_entry($got, $is, 1)
			: $rule eq 'gone' ? !$got
			: $rule eq 'lead' ? !$got || $got->{kind} eq 'dir'
			: !$got || same_entry($got, $is) || same_entry($got, $was);
		next if $ok;
		push @wrong, sprintf '%s: %s, saved as %s, was %s, is %s', show_name($path),
			$rule eq 'any' ? 'as saved, as it was, or gone' : "has to be $rule", map { entry_text($_) } $was, $is, $got;
	}
	fail("$what did not bring back what it should", @wrong) if @wrong;
	return $tree;
}

# ---- one round -------------------------------------------------------------------

my @saved;    # { id, state, scope }

sub save {
	my $state = look();
	my ($scope) = chance(5) ? '' : pick('', sort grep { !/\A-/ && !$state->{ignored}{$_} } keys %{ $state->{in} });
	my ($json, $status, $err) = answer('save', '-m', 'round', chance(4) ? () : ('--allow-empty'),
		$scope eq '' ? () : ('--', $scope));
	fail("save: exit status $status", split /\n/, $err) if $status;
	my $id = $json->{checkpoint}{id};
	my @wrong = differences($state->{tree}, snapshot($root), 1);
	fail("save changed the worktree", @wrong) if @wrong;
	$state->{in} = { map { $_ => 1 } grep { below($_, $scope) } keys %{ $state->{in} } };
	check_capture($state, $id);
	# Where nothing changed, the one there has the rules, and what they left out, of its own time.
	my ($there) = grep { $_->{id} eq $id } @saved;
	@saved = grep { $_->{id} ne $id } @saved;
	push @saved, $there || { id => $id, state => $state, scope => $scope };
	$count{saves}++;
}

# The worktree is as it was: what was refused touched nothing.
sub untouched {
	my ($now, $json, $what) = @_;
	$count{refused}++;
	$trace[-1] .= ': ' . show_name($json->{error}{message});
	print "# $trace[-1]\n" if $ENV{RANDOM_VERBOSE};
	my @wrong = differences($now->{tree}, snapshot($root), 1);
	fail("$what was refused and changed the worktree", @wrong) if @wrong;
}

# Restore, undo, redo, with all that is known of each checked.
sub restore {
	my $target = pick(@saved);
	new_layer();
	my $now = look();
	my @paths;
	my $keep = !chance(8);
	if (!chance(3)) {
		my @known = sort grep { !/\A-/ && below($_, $target->{scope}) } keys %{ { %{ $target->{state}{in} }, %{ $now->{in} } } };
		@paths = (pick(@known)) if @known;
	}
	my ($json, $status, $err) = answer('restore', '--yes', $keep ? ('--no-delete') : (), $target->{id}, @paths ? ('--', @paths) : ());
	return untouched($now, $json, 'restore') if $status == 5 || ($status == 128 && @paths);
	fail("restore: exit status $status", $json->{error} ? $json->{error}{message} : (), split /\n/, $err)
		if $status && $status != 3;
	fail("restore: it does not say that it matches") if !$status && !$json->{verification}{match};
	my @tops = @paths ? @paths : ($target->{scope});
	# What leads to a path has to be made first, if it is not there.
	my $inside = sub {
		my ($path) = @_;
		return grep { below($path, $_) || (below($_, $path) && ($now->{tree}{$path} // { kind => '' })->{kind} ne 'dir') } @tops;
	};
	my $after = check_restored($target->{state}, $now, $inside, $status == 3, 'restore', $keep, \@tops);
	$count{ @paths || $target->{scope} ne '' ? 'paths' : 'restores' }++;
	$count{partial}++ if $status == 3;
	return if !chance(3) || !@{ $json->{changes_reverted} };
	if (!chance(4) && $target->{scope} eq '' && !@paths && !$keep) {
		undo_after_edits($now, $target->{state}{in});
	} else {
		walk_back($now, $after, $status == 3);
	}
}

sub walk_back {
	my ($now, $after, $partial) = @_;
	for my $step ([ 'undo', $now->{tree}, 'undone' ], [ 'redo', $after, 'redone' ], [ 'undo', $now->{tree}, 'undone' ]) {
		my ($command, $goal, $counter) = @$step;
		new_layer();
		my ($json, $status, $err) = answer($command, '--yes');
		fail("$command: exit status $status", $json->{error} ? $json->{error}{message} : (), split /\n/, $err)
			if $status && !($partial && $status == 3);
		my @wrong = differences($goal, snapshot($root));
		fail("$command did not bring back what was there before", @wrong) if @wrong;
		$count{$counter}++;
		last if !chance(2);
	}
}

# With edits in between, undo is a restore like any other, to the state before the first one.
sub undo_after_edits {
	my ($then, $brought) = @_;
	damage($root);
	new_layer();
	my $now = look();
	$now->{brought} = $brought;
	my ($json, $status, $err) = answer('undo', '--yes');
	return untouched($now, $json, 'undo') if $status == 5;
	fail("undo: exit status $status", $json->{error} ? $json->{error}{message} : (), split /\n/, $err)
		if $status && $status != 3;
	check_restored($then, $now, sub { 1 }, $status == 3, 'undo');
	$count{undone}++;
}

sub upkeep {
	my $kind = chance(6);
	if ($kind == 0 && @saved > 1) {
		my ($gone) = splice @saved, chance(scalar @saved), 1;
		my ($out, $status, $err) = checkpoint('drop', '-q', $gone->{id});
		# What undo leads to is kept.
		fail("drop: exit status $status", split /\n/, $err) if $status && $status != 5;
		push @saved, $gone if $status;
	} elsif ($kind == 1) {
		my ($out, $status, $err) = checkpoint('gc', '-q');
		fail("gc: exit status $status", split /\n/, $err) if $status;
	} elsif ($kind == 2) {
		my ($json, $status) = answer('prune', '--max-count', 6);
		fail("prune: exit status $status") if $status;
		my %gone = map { (ref $_ ? $_->{id} : $_) => 1 } @{ $json->{removed} };
		@saved = grep { !$gone{ $_->{id} } } @saved;
	} elsif ($kind == 3) {
		unlink "$store/checkpoint/statcache";
	}
	save() unless @saved;
}

sub sound {
	my ($out, $status, $err) = checkpoint('verify', '--all');
	fail("verify --all: exit status $status", split(/\n/, $out), split /\n/, $err) if $status;
	($out, $status, $err) = checkpoint('doctor');
	fail("doctor: exit status $status", split(/\n/, $out), split /\n/, $err) if $status;
	my $fsck = qx{git --git-dir='$store' fsck --strict --no-dangling 2>&1};
	fail("git fsck --strict of the store", split /\n/, $fsck) if $?;
}

# ---- episodes --------------------------------------------------------------------

sub begin {
	$ENV{T} = $scratch[ $seed % 4 ? 1 : 0 ] . "/$seed";
	$root = "$ENV{T}/work";
	$rules = "$ENV{T}/model";
	mkdir $ENV{T};
	mkdir "$ENV{T}/$_" for qw(work home outside state config template template/info layers layers/none);
	new_layer();
	@ENV{qw(HOME XDG_STATE_HOME XDG_CONFIG_HOME GIT_CONFIG_NOSYSTEM LC_ALL TZ)} =
		("$ENV{T}/home", "$ENV{T}/state", "$ENV{T}/config", 1, 'C', 'UTC');
	delete @ENV{ grep { /\AGIT_(?!CONFIG_NOSYSTEM)/ } keys %ENV };
	put_file("$ENV{T}/home/.gitconfig", "[user]\n\tname = A\n\temail = a\@example.org\n[init]\n\tdefaultBranch = main\n\ttemplateDir = $ENV{T}/template\n"
		. "[core]\n\texcludesFile = $ENV{T}/excludes\n[filter \"x\"]\n\tclean = false\n[gc]\n\tauto = 0\n");
	put_file("$ENV{T}/outside/$_", "not ours\n") for qw(one two);
	put_file("$ENV{T}/excludes", '');
	put_file("$ENV{T}/template/info/exclude", '');
	umask 022;
	seed_chance($seed * 2654435761 % 0x7fffffff);
	$is_git = chance(5) > 0;
	use_git($is_git);
	git_quiet($root, 'init', '-q', chance(8) ? () : ('--object-format=sha256')) if $is_git;
	git_quiet($ENV{T}, 'init', '-q', 'upstream');
	put_file("$ENV{T}/upstream/file", "of a submodule\n");
	git_quiet("$ENV{T}/upstream", 'add', '.');
	git_quiet("$ENV{T}/upstream", 'commit', '-qm', 'x');
	git_quiet($ENV{T}, 'init', '-q', '--bare', 'model');
	git_quiet($rules, 'config', 'core.excludesFile', "$ENV{T}/model-excludes");
	git_quiet($rules, 'config', 'core.bare', 'false');
	$store = "$ENV{T}/state/git-checkpoint/" . substr Digest::SHA::sha256_hex($root), 0, 16;
	# Something that is always left out.
	put_file("$root/.DS_Store", "protected\n");
	@saved = @trace = ();
}

sub episode {
	eval { rounds(); 1 } or fail("the test itself: $@");
	$count{episodes}++;
	unmount();
	remove($ENV{T});
}

sub rounds {
	begin();
	make_tree($root);
	save();
	for (1 .. 3 + chance(4)) {
		damage($root);
		save() if !chance(3);
		damage($root) if chance(2);
		restore();
		upkeep() if !chance(3);
	}
	sound();
}

my $end = Time::HiRes::time() + $seconds;
$| = 1;
if (defined $only && $only ne '') {
	$seed = $only;
	print "# random: seed $seed\n";
	episode();
} else {
	$seed = ($ENV{TEST_SEED} // time) % 1000000 * 1000;
	print "# random: $seconds s, seeds from $seed\n";
	while (Time::HiRes::time() < $end) {
		episode();
		$seed++;
	}
}
print "# ", join(', ', map { "$count{$_} $_" } qw(episodes saves restores paths refused partial undone redone)), "\n";
