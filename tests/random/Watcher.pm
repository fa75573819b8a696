# SPDX-License-Identifier: MIT
#
# Running the program for watch.pl: a watcher, saves, and what is in a checkpoint.

package Watcher;

use strict;
use warnings;
use Exporter 'import';
use JSON::PP ();
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
our @EXPORT = qw(run_in begin_in end_of await watch_begin watch_end watch_signal watch_runs is_watched save_in contents
	describe_difference store_of last_full);

my $json = JSON::PP->new->utf8;
my $watcher = 0;
my $turn = 0;

# begin_in(<dir>, <environment>, <command>...): in the background; for end_of()
sub begin_in {
	my ($dir, $env, @command) = @_;
	my $out = "$ENV{WATCH_BASE}/out." . $turn++ % 64;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		chdir $dir or POSIX::_exit(126);
		$ENV{$_} = $env->{$_} for keys %$env;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $out;
		open STDERR, '>', "$out.err";
		exec @command or POSIX::_exit(127);
	}
	return { pid => $pid, out => $out, command => "@command" };
}

sub slurp { open my $in, '<:raw', $_[0] or return ''; local $/; <$in> // '' }

# Its status, what it said as JSON, and what it complained about.
sub end_of {
	my ($job) = @_;
	waitpid $job->{pid}, 0;
	my ($status, $text) = ($?, slurp($job->{out}));
	$status = $status & 127 ? 128 + ($status & 127) : $status >> 8;
	my $answer = $text =~ /^\{/ ? eval { $json->decode($text) } : undef;
	return ($status, $answer, slurp("$job->{out}.err") . ($answer && $answer->{error} ? $answer->{error}{message} : ''));
}

sub run_in { end_of(begin_in(@_)) }

# await(<what>): until it is true; false if that takes much longer than it can
sub await {
	my ($what) = @_;
	my $until = clock_gettime(CLOCK_MONOTONIC) + 120;
	while (!$what->()) {
		return 0 if clock_gettime(CLOCK_MONOTONIC) > $until;
		sleep 0.01;
	}
	return 1;
}

# ---- the watcher -----------------------------------------------------------------

sub watch_begin {
	my ($env) = @_;
	my $job = begin_in($ENV{WATCH_BASE}, $env, 'git-checkpoint', 'watch', 'run');
	$watcher = $job->{pid};
}

sub watch_runs { $watcher && !waitpid $watcher, POSIX::WNOHANG() }

sub watch_signal { kill $_[0], $watcher if $watcher }

sub watch_end {
	my ($signal) = @_;
	return unless $watcher;
	kill $signal, $watcher;
	kill 'CONT', $watcher;
	waitpid $watcher, 0;
	$watcher = 0;
}

sub is_watched {
	my ($root) = @_;
	my ($status, $answer) = run_in($ENV{WATCH_BASE}, {}, 'git-checkpoint', 'watch', 'status', '--json');
	return 0 if $status || !$answer;
	my ($tree) = grep { $_->{path} eq $root } @{ $answer->{worktrees} };
	return $tree && $tree->{state} eq 'watched';
}

# ---- checkpoints -----------------------------------------------------------------

sub store_of {
	my ($root, $env) = @_;
	my (undef, $answer) = run_in($root, $env, 'git-checkpoint', 'status', '--json');
	return $answer->{store} // die "no store\n";
}

# When everything was last looked at, as the stat cache has it, and whether a watcher saw that walk:
# git-checkpoint-format(5). A save that looks at everything, and is written down, sets it.
sub last_full {
	my ($store) = @_;
	my $head = substr slurp("$store/checkpoint/statcache"), 0, 200;
	return (0, 0) if length $head < 200;
	return unpack '@152 q @136 Q', $head;
}

# save_in(<dir>, <environment>, <argument>...): status, answer, complaints
sub save_in {
	my ($dir, $env, @args) = @_;
	return run_in($dir, $env, 'git-checkpoint', 'save', '--json', @args);
}

sub ask_git {
	my ($store, @args) = @_;
	open my $pipe, '-|', 'git', "--git-dir=$store", @args or die "git: $!";
	local $/;
	my $text = <$pipe> // '';
	close $pipe;
	return $text;
}

# All that a checkpoint says of the worktree: the files, the hash; modes, rules, and what was left
# out. Not git's state, which is not looked for by a watcher.
sub contents {
	my ($store, $commit) = @_;
	my ($tree, $meta, $body) = split /\n/, ask_git($store, 'log', '-1', '--format=%T%n%P%n%B', $commit), 3;
	$meta = join '', grep { !/\tgit$/ } split /(?<=\n)/, ask_git($store, 'ls-tree', $meta) if $meta;
	my ($hash) = ($body // '') =~ /^State-Hash: (.*)/m or die "no hash in $commit\n";
	return { tree => $tree, meta => $meta, hash => $hash };
}

# The names that differ, in trees of two stores.
sub describe_difference {
	my ($one, $here, $other, $there) = @_;
	my @lines;
	local $ENV{GIT_ALTERNATE_OBJECT_DIRECTORIES} = "$other/objects";
	push @lines, split /\n/, ask_git($one, 'diff-tree', '-r', '-p', '--raw', $here->{tree}, $there->{tree})
		if $here->{tree} ne $there->{tree};
	push @lines, split /\n/, "$here->{meta}other:\n$there->{meta}" if $here->{meta} ne $there->{meta};
	push @lines, "hash: $here->{hash} $there->{hash}" if $here->{hash} ne $there->{hash};
	return @lines;
}

1;
