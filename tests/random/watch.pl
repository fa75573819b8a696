#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# watch.pl <seconds> [<seed>]: random operations at full speed in a worktree that a real watcher
# watches, with saves among them; then, when it is quiet, a save that may look only where the watcher
# says, compared with one from another store that looks at everything. Files, modes, hash and what
# was left out must be the same. Meanwhile the watcher is killed, stopped, flooded; the
# stat cache is damaged, things are mounted, the clock of a save is wrong, checkpoints are restored.
#
# Each seed is an episode of its own, on a disk or in memory, with or without changes to ignore
# rules, with a watcher that saves by itself or not. With a seed, only that one; but processes never
# meet twice in the same way. As root, mounts are made in a namespace of their own.
#
# BUILD_DIR     where the program is
# WATCH_ROUNDS  of each episode, 30 if not set
# WATCH_MANY    files that a checkout changes: 10,000 in one episode of 16 if not set, 0 never
# WATCH_TAMPER  harm that this test does itself before everything is looked at, and has to notice:
#               bytes, mode, dirmode, extra, missing; or "deaf": nobody can ask the watcher
# WATCH_KEEP    leave the scratch directory

use strict;
use warnings;
use Cwd ();
use File::Temp ();
use FindBin;
use IO::Handle;
use IPC::Open2 ();
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
use lib $FindBin::Bin;
use Churn;
use Watcher;

my ($seconds, $only) = @ARGV;
die "usage: watch.pl <seconds> [<seed>]\n" unless defined $seconds;

# Mounts of ours are nobody else's business.
my $may_mount = delete $ENV{WATCH_UNSHARED};
if (!$> && !defined $may_mount) {
	my @unshare = ('unshare', '-m', '--propagation', 'private');
	$ENV{WATCH_UNSHARED} = 1;
	exec @unshare, $^X, "$FindBin::Bin/watch.pl", @ARGV if !system "@unshare true 2>/dev/null";
	delete $ENV{WATCH_UNSHARED};
}

my $build = Cwd::realpath($ENV{BUILD_DIR} // "$FindBin::Bin/../../build");
$ENV{PATH} = "$build:$ENV{PATH}";
my ($faketime) = $ENV{ASAN_OPTIONS} && $build =~ /-(address|thread)/ ? () : glob '/usr/lib/*/faketime/libfaketimeMT.so.1';
my @scratch = map { Cwd::realpath(File::Temp::tempdir('git-checkpoint-watch.XXXXXX', DIR => $_)) }
	$ENV{TMPDIR} // '/tmp', -w '/dev/shm' ? '/dev/shm' : ();
my $main = $$;

END {
	if ($$ == $main) {
		my $status = $?;
		watch_end('KILL');
		end_mappers();
		unmount_all();
		system 'rm', '-rf', @scratch if !$ENV{WATCH_KEEP};
		$? = $status;
	}
}
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { exit 1 };
$SIG{PIPE} = 'IGNORE';

my ($seed, $base, $root, $store, $full_store, $round, $stopped, $damaged, $with_ignore, $with_links, $own);
my (@known, @mappers, @mounts, @trace, %env, %full_env);
my %count = map { $_ => 0 } qw(episodes rounds operations hinted full unclear own busy);

sub say { push @trace, "@_"; shift @trace if @trace > 60; }

sub fail {
	my (@lines) = @_;
	print "FAILED with seed $seed in round $round: ", shift @lines, "\n";
	print "  $_\n" for @lines[ 0 .. ($#lines < 60 ? $#lines : 60) ];
	for my $path (grep { -l || -f _ } map { /^:.*\t(.*)/ ? "W/$1" : () } @lines) {
		print "$path: ", `find W O -samefile '$path' -printf '%p %n links %T+ %C+ %i;'`, "\n";
	}
	print "what was done:\n", map { "  $_\n" } @trace;
	print "again with: tests/random/watch.pl 1 $seed\n";
	print "left in $base\n" if $ENV{WATCH_KEEP};
	exit 1;
}

# ---- what saves are compared with ------------------------------------------------

# A save from another store, without a watcher or a cache: everything is looked at, and read.
sub look_at_everything {
	unlink "$full_store/checkpoint/statcache" if $full_store;
	my ($status, $answer, $why) = save_in($root, \%full_env, '--allow-empty', '-m', 'full');
	fail("a save that looks at everything: $status", $why) if $status;
	$full_store //= store_of($root, \%full_env);
	return contents($full_store, $answer->{checkpoint}{commit});
}

sub same { my ($one, $other) = @_; !grep { $one->{$_} ne $other->{$_} } qw(tree meta hash) }

sub tamper {
	my $harm = $ENV{WATCH_TAMPER} // return;
	my ($file) = grep { -f && !-l } glob "$root/many/*/f*";
	if ($harm eq 'bytes') { open my $out, '>>', $file; print $out 'x' }
	if ($harm eq 'extra') { open my $out, '>', "$root/extra"; print $out 'x' }
	chmod 0600, $file if $harm eq 'mode';
	chmod 0700, "$root/many" if $harm eq 'dirmode';
	unlink $file if $harm eq 'missing';
}

# The clock of one save is wrong; that of the kernel, for files and for how long it runs, is not.
# Never ahead: it could not tell any more that a file was written just now, which a machine can.
sub wrong_clock {
	return {} if !$faketime || int rand 12;
	$count{'with a wrong clock'}++;
	my $shift = any('-1s', '-1h', '-400d', '-20y');
	say("the clock of a save: $shift");
	return { LD_PRELOAD => $faketime, FAKETIME => $shift, NO_FAKE_STAT => 1,
		FAKETIME_DONT_FAKE_MONOTONIC => 1, DONT_FAKE_MONOTONIC => 1 };
}

# The quiet moment.
sub compare_save {
	my ($what) = @_;
	my ($before) = last_full($store);
	# So that the second tells it apart: now and then, as it takes long.
	my $patient = !int rand 4;
	sleep 0.05 while $patient && $before >= int clock_gettime(CLOCK_MONOTONIC);
	my $start = int clock_gettime(CLOCK_MONOTONIC);
	unlink "$store/checkpoint/watch.sock" if ($ENV{WATCH_TAMPER} // '') eq 'deaf';
	my ($status, $answer, $why);
	for (0 .. $damaged) {
		($status, $answer, $why) = save_in($root, { %env, %{ wrong_clock() } }, '--allow-empty', '-m', $what);
		# Too late to read everything again: it says so.
		last unless $status == 128 && $why =~ /stat cache .* is damaged; it was removed, try again/;
	}
	$damaged = 0;
	fail("$what: a save: $status", $why) if $status;
	my ($after, $mark) = last_full($store);
	# Within the same second a full save cannot be told from a hinted one after it.
	my $hinted = $mark && $after == $before;
	my $how = !$hinted ? 'full' : $after < $start ? 'hinted' : 'unclear';
	my $id = $answer->{checkpoint}{id};
	say("$what: save $id, $how");
	my $here = contents($store, $answer->{checkpoint}{commit});
	tamper();
	my $there = look_at_everything();
	fail("$what: a save ($how) is not what there is",
		describe_difference($store, $here, $full_store, $there)) unless same($here, $there);
	$count{$how}++;
	push @known, { %$there, id => $id, how => $how };
	return $there;
}

# What the watcher saved by itself, in the end.
sub compare_own {
	my $there = look_at_everything();
	my $here;
	my $came = await(sub {
		my (undef, $answer) = run_in($root, \%env, 'git-checkpoint', 'list', '--json', '-n', '1');
		my $newest = $answer && $answer->{checkpoints}[0] or return 0;
		# Of some paths only: nothing to compare with.
		$here = "@{ $newest->{scope}{files} }" eq '.' ? contents($store, $newest->{commit}) : undef;
		return !$here || same($here, $there);
	});
	return $count{own} += !!$here if $came;
	my (undef, $status) = run_in($root, \%env, 'git-checkpoint', 'watch', 'status', '--json');
	fail('the watcher does not save what there is', (map { "$_->{state}: " . ($_->{problem} // 'no problem') } @{ $status->{worktrees} }),
		describe_difference($store, $here, $full_store, $there));
}

# ---- mapped memory, mounts ---------------------------------------------------------

# A file stays mapped; what is stored there later is seen by nobody, but its mode was set again.
sub begin_mapper {
	my ($path) = grep { -f && !-l && -s _ } map { "$base/" . random_path() } 1 .. 10;
	return unless defined $path;
	my ($from, $to);
	my $pid = IPC::Open2::open2($from, $to, 'mapper', $path);
	push @mappers, { pid => $pid, from => $from, to => $to, path => $path };
	store_mapped($mappers[-1]);
	my @st = stat $path;
	chmod $st[2] & 07777, $path if @st;
	say("mapped $path");
	$count{mappings}++;
}

sub store_mapped {
	my ($mapper) = @_;
	print { $mapper->{to} } int(rand 1_000_000), "\n";
	$mapper->{to}->flush;
	readline $mapper->{from};
	$count{operations}++;
}

sub end_mapper {
	my ($mapper) = @_;
	close $mapper->{to};
	close $mapper->{from};
	waitpid $mapper->{pid}, 0;
}

sub end_mappers { end_mapper($_) for splice @mappers }

sub unmount_all { system 'umount', '-l', $_ for splice @mounts }

sub mount_something {
	my ($from, $to) = map { "$base/$_" } any('O/a', 'O/b', 'W/c'), any('W/a', 'W/b', 'W/m', 'W/many/1');
	mkdir $_ for $from, $to;
	return if -l $from || -l $to;
	return if system "mount --bind '$from' '$to' 2>/dev/null";
	push @mounts, $to;
	say("mounted $from on $to");
	$count{mounts}++;
}

# ---- trouble ---------------------------------------------------------------------

sub begin_watching {
	watch_begin(\%env);
	$stopped = 0;
	await(sub { watch_runs() or fail('the watcher ended'); is_watched($root) }) or fail('the watcher does not watch');
}

sub watcher_again {
	my ($signal) = @_;
	say("watcher: $signal, and another");
	watch_end($signal);
	$count{ $signal eq 'KILL' ? 'killed' : 'ended' }++;
	begin_watching();
}

sub stop_watcher {
	return if $stopped++;
	watch_signal('STOP');
	say('watcher: stopped');
	$count{stopped}++;
}

sub continue_watcher {
	return unless $stopped;
	if (!int rand 3) {
		$count{operations} += flood();
		$count{floods}++;
		say('flood');
	}
	watch_signal('CONT');
	$stopped = 0;
	say('watcher: goes on');
}

sub damage_cache {
	my $cache = "$store/checkpoint/statcache";
	my $how = any('remove', 'truncate', 'byte');
	my $size = -s $cache or return;
	say("stat cache: $how");
	$count{'caches damaged'}++;
	unlink $cache if $how eq 'remove';
	truncate $cache, int rand $size if $how eq 'truncate';
	return unless $how eq 'byte';
	$damaged = 1;
	open my $out, '+<:raw', $cache or return;
	seek $out, int rand $size, 0;
	print $out chr int rand 256;
}

# For a moment the worktree is elsewhere.
sub move_root {
	rename $root, "$root.away" or return;
	if (int rand 2) { open my $out, '>>', "$root.away/moved"; print $out "x\n" }
	sleep rand 0.1 if int rand 2;
	rename "$root.away", $root or die "rename: $!";
	say('the root was elsewhere');
	$count{'roots moved'}++;
}

# All files are those of then, if the rules are the same. Directories may be left in which something
# is that no checkpoint has.
sub check_restored {
	my ($what, $wanted, $there) = @_;
	return if $with_ignore || $wanted->{tree} eq $there->{tree};
	my @lines = describe_difference($full_store, $wanted, $full_store, $there);
	fail("$what is something else", @lines) if grep { /^:/ } @lines;
}

# There, and back.
sub restore_something {
	return unless @known > 1 && !@mounts;
	my $before = look_at_everything();
	my $target = any(@known);
	my ($status, undef, $why) = run_in($root, \%env, 'git-checkpoint', 'restore', '--json', '--yes', $target->{id});
	say("restore $target->{id}: $status");
	$count{restores}++;
	fail("restore: $status", $why) unless $status == 0 || $status == 5;
	my $there = compare_save('after a restore');
	my $wanted = $status ? $before : $target;
	check_restored('restored', $wanted, $there);
	return if $status || $before->{hash} eq $there->{hash} || int rand 2;
	($status, undef, $why) = run_in($root, \%env, 'git-checkpoint', 'undo', '--json', '--yes');
	say("undo: $status");
	fail("undo: $status", $why) unless $status == 0 || $status == 5;
	$there = compare_save('after undo');
	check_restored('undone', $before, $there) if !$status;
	$count{undone}++;
}

# ---- a round ---------------------------------------------------------------------

# Saves while files change: whatever they find, the next one must find the rest.
sub busy {
	my @scope = int rand 3 ? () : ('--', any('a' .. 'd', 'many/1'));
	my @jobs = map { begin_in($root, { %env, %{ wrong_clock() } }, 'git-checkpoint', 'save', '--json', @scope) }
		1 .. any(1, 1, 1, 3);
	for my $job (@jobs) {
		my ($status, $answer, $why) = end_of($job);
		say("busy: save ${\ ($answer->{checkpoint}{id} // 'none') } @scope: $status");
		$count{busy}++;
		fail("$job->{command}: $status", $why)
			unless !$status || $status == 3 || $status == 128 && $why =~ /does not exist|[Nn]o such|neither|removed, try again/;
	}
}

sub meanwhile {
	my $dice = int rand 60;
	return busy() if $dice < 24;
	return sleep rand 0.05 if $dice < 40;
	return watcher_again('KILL') if $dice == 40;
	return watcher_again('TERM') if $dice == 41;
	return stop_watcher() if $dice < 44;
	return continue_watcher() if $dice < 48;
	return damage_cache() if $dice == 48;
	return move_root() if $dice == 49;
	return begin_mapper() if $dice < 52 && @mappers < 4;
	return mount_something() if $dice == 52 && $may_mount && @mounts < 2;
	return unmount_all() if $dice < 56;
	return @mappers ? store_mapped(any(@mappers)) : 0;
}

sub worker {
	my ($own_seed, $number, $with_git) = @_;
	my $pid = open my $pipe, '-|';
	die "fork: $!" unless defined $pid;
	return $pipe if $pid;
	my $done = eval { churn($own_seed, $number, $with_git) } // do { print STDERR $@; 0 };
	print "$done\n";
	STDOUT->flush;
	POSIX::_exit(0);
}

sub one_round {
	my $number = int rand 3 ? 20 + int rand 300 : 1 + int rand 10;
	my @workers = map { worker(int rand 2**31, $number, $_ == 1) } 1 .. any(1, 1, 2, 3);
	meanwhile() for 1 .. int rand 5;
	for my $pipe (@workers) {
		my $done = <$pipe> // fail('a worker failed');
		$count{operations} += $done;
	}
	say("round $round: operations of ${\ scalar @workers} processes, $number each");
	meanwhile() if !int rand 4;
	continue_watcher() if int rand 4;
	unmount_all() if int rand 2;
	end_mapper(shift @mappers) if @mappers && !int rand 4;
	# A watcher sees neither other names of a file nor memory; a save does.
	compare_own() if $own && !$stopped && !@mounts && !@mappers && !$with_links && !int rand 3;
	# Without a word to anybody.
	store_mapped($_) for grep { int rand 2 } @mappers;
	restore_something() if !int rand 12;
	compare_save('quiet');
	watch_runs() or fail('the watcher ended');
	$count{rounds}++;
}

# ---- an episode --------------------------------------------------------------------

sub must {
	my (@command) = @_;
	my ($status, undef, $why) = run_in($root, {}, @command);
	fail("@command: $status", $why) if $status;
}

sub put { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!"; print $out $text }

# Two branches in which each of so many files is another one.
sub make_repository {
	my ($many, $each) = @_;
	must('git', 'init', '-q', '-b', 'main');
	must('git', 'config', @$_) for ['gc.auto', 0], ['core.fsync', 'none'], ['user.name', 'A'], ['user.email', 'a@example.com'];
	mkdir "$root/$_" for qw(many src);
	for my $branch (qw(one two)) {
		for my $i (0 .. $many - 1) {
			mkdir "$root/many/$i";
			put("$root/many/$i/f$_", "$branch $i $_\n") for 0 .. $each - 1;
		}
		put("$root/.gitignore", "*.tmp\n/build/\n");
		put("$root/src/$branch.c", "int $branch;\n");
		must('git', 'add', '-A');
		must('git', 'commit', '-q', '-m', $branch);
		must('git', 'branch', $branch);
	}
}

sub episode {
	my $large = !int rand 16;
	$base = any(@scratch) . "/$seed";
	($root, $round, $full_store, $damaged, @known, @trace) = ("$base/W", 0, undef, 0);
	mkdir $_ for $base, $root, map { "$base/$_" } qw(O home state full);
	chdir $base or die;
	($with_ignore, $with_links, $own) = (int rand 2, !int rand 3, any(0, 0, 1));
	my $each = $large && ($ENV{WATCH_MANY} // 10_000) ? ($ENV{WATCH_MANY} // 10_000) / 100 : 4;
	@ENV{qw(WATCH_BASE HOME XDG_STATE_HOME GIT_CONFIG_NOSYSTEM)} = ($base, "$base/home", "$base/state", 1);
	# Merging packs is not what this is about, but it may well happen.
	%env = (GIT_CHECKPOINT_WATCH_QUIET => $own ? any('0s', '1s') : '1h', GIT_CHECKPOINT_WATCH_MAX => any('1s', '2h'),
		GIT_CHECKPOINT_MAX_COUNT => 'none');
	%full_env = (GIT_CHECKPOINT_HOME => "$base/full");
	my $many = $each > 4 ? 100 : 30;
	churn_setup($with_ignore, $with_links, $many);
	make_repository($many, $each);
	must('git-checkpoint', 'watch', 'add', '-q');
	$store = store_of($root, {});
	begin_watching();
	for ($round = 1; $round <= ($ENV{WATCH_ROUNDS} // 30); $round++) {
		one_round();
	}
	watch_end(any('TERM', 'KILL'));
	end_mappers();
	unmount_all();
	my ($status, undef, $why) = run_in($root, {}, 'git-checkpoint', 'verify', '-q', '--all');
	fail("verify: $status", $why) if $status;
	chdir '/';
	system 'rm', '-rf', $base unless $ENV{WATCH_KEEP};
	$count{episodes}++;
}

my $first = $only // $ENV{TEST_SEED} // time;
my $end = time + $seconds;
print "TEST_SEED=$first\n";
for ($seed = $first; ; $seed++) {
	srand $seed;
	episode();
	last if defined $only || time >= $end;
}
print join(', ', map { "$count{$_} $_" } sort keys %count), "\n";
if (!$count{hinted}) {
	print "FAILED: no save was hinted\n";
	exit 1;
}
