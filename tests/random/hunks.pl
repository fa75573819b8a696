#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# hunks.pl <seconds> [<seed>]: the same answers to `git restore -p --source=<commit>` and to
# `git checkpoint restore -p <checkpoint>`, on the same random files. Both are asked side by side: a
# random key is given to both that both offer. What they show must be the same, and so must the files
# afterwards. Then, now and then, undo, compared with the files before.
#
# Where an edited hunk shares context with another piece, git is sometimes stricter and sometimes less
# strict than git-apply(1) is; then, and where git cannot apply what was chosen, the episode is given up.
#
# Each seed is an episode of its own. With a seed, only that one.
#
# BUILD_DIR     where the program is
# HUNKS_TAMPER  a key that our side gets instead of "y", which the test has to notice
# HUNKS_KEEP    leave the scratch directory

use strict;
use warnings;
use Cwd ();
use File::Temp ();
use FindBin;
use JSON::PP ();
use lib $FindBin::Bin;
use HunkFiles;
use Talk;

my ($seconds, $only) = @ARGV;
die "usage: hunks.pl <seconds> [<seed>]\n" unless defined $seconds;
my $build = Cwd::realpath($ENV{BUILD_DIR} // "$FindBin::Bin/../../build");
$ENV{PATH} = "$build:$ENV{PATH}";
delete @ENV{qw(VISUAL GIT_EDITOR)};
$ENV{"GIT_${_}_NAME"} = 'A', $ENV{"GIT_${_}_EMAIL"} = 'a@example.org' for qw(AUTHOR COMMITTER);
my $scratch = Cwd::realpath(
	File::Temp::tempdir('git-checkpoint-hunks.XXXXXX', DIR => -w '/dev/shm' ? '/dev/shm' : $ENV{TMPDIR} // '/tmp'));
my ($ours, $twin) = ("$scratch/ours", "$scratch/twin");
$ENV{HOME} = $scratch;
delete @ENV{qw(XDG_STATE_HOME XDG_DATA_HOME XDG_CONFIG_HOME)};
$ENV{EDITOR} = "perl $FindBin::Bin/hunk-editor.pl $scratch/edit";

END {
	my $status = $?;
	system 'rm', '-rf', $scratch if $scratch && !$ENV{HUNKS_KEEP};
	$? = $status;
}
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { exit 1 };
$SIG{PIPE} = 'IGNORE';

my ($seed, @trace, @talks);
my %count = (episodes => 0, answers => 0, undone => 0, given_up => 0);
# Later ones offer more keys, and J and K everywhere.
my $exact = `git --version` =~ /version 2\.(\d+)/ && $1 < 43;

sub fail {
	my (@lines) = @_;
	$_->stop for @talks;
	print "FAILED with seed $seed: ", shift @lines, "\n";
	print "  $_\n" for @lines;
	print "answers: ", join(' ', @trace), "\n";
	print "again with: tests/random/hunks.pl 1 $seed\n";
	print "left in $scratch\n" if $ENV{HUNKS_KEEP};
	exit 1;
}

sub run {
	my ($dir, @command) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		chdir $dir or exit 126;
		open STDOUT, '>', "$scratch/out";
		open STDERR, '>&', \*STDOUT;
		exec @command or exit 127;
	}
	waitpid $pid, 0;
	return unless $?;
	open my $in, '<', "$scratch/out";
	fail("@command: status " . ($? >> 8), <$in>);
}

sub slurp { local $/; open my $in, '<', $_[0] or return ''; <$in> // '' }

# ---- answers ---------------------------------------------------------------------

# The keys that both offer in a question about a hunk; undef: it is another question.
sub keys_of {
	my ($text) = @_;
	return $text =~ /\((\d+)\/(\d+)\) Apply (.*) to worktree \[([^]]*)\]\? \z/ ? [ $1, $2, split /,/, $4 ] : undef;
}

sub choose {
	my ($git, $we, $edited) = @_;
	my %ours = map { $_ => 1 } @$we;
	my ($at, $of) = @$git;
	my %weight = (
		y => 10, n => 8, q => .3, a => .7, d => .7, j => 2, J => 2, k => 2, K => 2, g => 1.5,
		'/' => 1, s => 9, e => 5, '?' => .5,
	);
	my @offered = grep { $ours{$_} && $weight{$_} } @$git[ 2 .. $#$git ];
	@offered = grep { $_ ne 's' || !$edited } @offered;
	@offered = grep { !($_ eq 'J' && $at == $of) && !($_ eq 'K' && $at == 1) } @offered;
	my $sum = 0;
	$sum += $weight{$_} for @offered;
	my $left = rand $sum;
	for my $key (@offered) {
		return $key if ($left -= $weight{$key}) < 0;
	}
	return 'n';
}

# What is typed for a key, line by line.
sub lines_for {
	my ($key, $of) = @_;
	my $long = rand() < .5;
	my $number = 1 + int rand $of;
	return $long ? ("g$number") : ('g', $number) if $key eq 'g';
	my $word = (qw(line.1 [0-9]3 ^-.*7 new.[2-5]))[ rand 4 ];
	return $long ? ("/$word") : ('/', $word) if $key eq '/';
	return $key =~ /[ynqad]/ && rand() < .1 ? uc $key : $key;
}

# What we say of a file that git has nothing to ask about: a binary one.
sub skip_binary {
	my ($talk, $shown) = @_;
	while ($$shown =~ /Apply binary change to worktree [^\n]*\z/) {
		$talk->say('n');
		my $next = $talk->listen;
		$$shown =~ s/^diff --git (?:(?!^diff --git ).)*\z//ms or return;
		$$shown .= $next =~ s/\A\n//r;
	}
}

# What has to be the same. A link is not edited here, and git offers to split an edited hunk as if it
# had not been edited.
sub plain {
	my ($text, $link, $edited) = @_;
	$text =~ s/,s(,e,\?\]\? )\z/$1/, $text =~ s/^s - .*\n//m if $edited;
	$text =~ s/,e(,\?\]\? )\z/$1/, $text =~ s/^e - .*\n//m if $link;
	$text =~ s/^(?:error: .*|No hunk matches the given pattern)\n//mg;
	$text =~ s/(to worktree) \[[^]]*\]/$1/ unless $exact;
	return $text;
}

sub converse {
	my ($git, $we) = @_;
	my ($edited, $link, $split) = (0, 0, 0);
	while (1) {
		my ($theirs, $mine) = ($git->listen, $we->listen);
		skip_binary($we, \$mine);
		my $end = $git->ended;
		return 0 if $split && ($theirs =~ /Edit again/) != ($mine =~ /Edit again/);
		fail('only one goes on asking', "git: $theirs", "ours: $mine") if $end != $we->ended;
		$mine =~ s/\n\K[^\n].*\z//s if $end && $mine =~ /\A\n/;
		($edited, $link, $split) = (0, $theirs =~ /^index .* 120000$/m, 0) if $theirs =~ /^diff --git/m;
		fail('not the same is shown', "git: $theirs", "ours: $mine")
			if !$end && plain($theirs, $link, $edited) ne plain($mine, 0, $edited);
		return 1 if $end;
		my ($git_keys, $our_keys) = (keys_of($theirs), keys_of($mine));
		my @lines;
		if (!$git_keys) {
			fail("an unknown question: $theirs") unless $theirs =~ /Edit again/;
			@lines = rand() < .3 ? 'y' : 'n';
		} else {
			my $key = choose($git_keys, $our_keys, $edited);
			@lines = lines_for($key, $git_keys->[1]);
			$edited ||= $key eq 'e';
			$split ||= $key eq 's';
		}
		# The editor does the same for both.
		open my $plan, '>', "$scratch/edit" or die;
		print $plan int rand 1000000;
		close $plan;
		for my $i (0 .. $#lines) {
			push @trace, $lines[$i];
			$count{answers}++;
			$git->say($lines[$i]);
			$we->say($ENV{HUNKS_TAMPER} && lc $lines[$i] eq 'y' ? $ENV{HUNKS_TAMPER} : $lines[$i]);
			($git->listen, $we->listen) if $i < $#lines;
		}
	}
}

# ---- an episode ------------------------------------------------------------------

sub compare {
	my ($what, $expected, $actual) = @_;
	my %all = (%$expected, %$actual);
	my @differ = grep { ($expected->{$_} // 'missing') ne ($actual->{$_} // 'missing') } sort keys %all;
	return unless @differ;
	fail("$what: another content", map { ("-- $_, expected:", $expected->{$_} // '(missing)', '-- but is:',
		$actual->{$_} // '(missing)') } @differ);
}

sub episode {
	srand $seed;
	@trace = ();
	my ($old, $new) = HunkFiles::pair();
	HunkFiles::put($_, $old) for $ours, $twin;
	run($ours, 'git-checkpoint', 'save', '-q', '--allow-empty');
	run($twin, 'git', 'add', '-A');
	run($twin, 'git', 'commit', '-q', '--allow-empty', '-m', 'then');
	HunkFiles::put($_, $new) for $ours, $twin;
	run($twin, 'git', 'add', '-A');
	chomp(my $commit = `git -C $twin rev-parse HEAD`);
	my $git = Talk->new($twin, "$scratch/git.err", 1, 'git', 'restore', '-p', "--source=$commit", '--', '.');
	my $we = Talk->new($ours, "$scratch/json", 2, 'git-checkpoint', 'restore', '--json', '-p', '--yes', '@');
	@talks = ($git, $we);
	my $whole = converse($git, $we);
	if (!$whole || slurp("$scratch/git.err") =~ /'git apply' failed/) {
		$_->stop for $git, $we;
		$count{given_up}++;
		return;
	}
	fail('git failed', slurp("$scratch/git.err")) if $git->status;
	my $said = slurp("$scratch/json");
	fail('exit status ' . $we->status, $said) if $we->status;
	compare('restored', HunkFiles::read_all($twin), HunkFiles::read_all($ours));
	if (rand() < .3 && @{ JSON::PP::decode_json($said)->{changes_reverted} }) {
		run($ours, 'git-checkpoint', 'undo', '-q', '--yes');
		compare('undone', $new, HunkFiles::read_all($ours));
		$count{undone}++;
	}
	$count{episodes}++;
}

mkdir $ours;
run($scratch, 'git', 'init', '-q', $twin);
run($twin, 'git', 'config', 'core.quotePath', 'false');
my $end = time + $seconds;
$seed = $only // $ENV{TEST_SEED} // time;
do { episode(); $seed++ } while (!defined $only && time < $end);
fail("git fails too often: $count{given_up} times") if $count{given_up} > 3 + $count{episodes} / 10;
print "$count{episodes} episodes, $count{answers} answers, $count{undone} undone, ",
	"$count{given_up} given up, the last seed was ", $seed - 1, "\n";
