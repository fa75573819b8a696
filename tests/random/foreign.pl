#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# foreign.pl <seconds> [<seed>]: checkpoints that somebody has forged. A genuine one of another machine,
# with or without an operation in progress, is changed field by field, with hashes that fit, and brought
# in: by takeover, by fetch and restore, or in a bundle. Then:
#
#  - in .git only that changed which the plan named; nothing configures, no hook is there;
#  - outside of the working directory and the store nothing changed;
#  - no command of the forger ran, nor one of a filter that its attributes name, not even when the
#    operation that was brought is continued;
#  - git itself has nothing against the objects (fsck --strict) and works (status);
#  - what was refused changed no file, and left nothing interrupted.
#
# Each seed is an episode of its own. With a seed, only that one.
#
# BUILD_DIR       where the program is
# FOREIGN_TAMPER  harm that this test does itself, and has to notice: config, hook, ref, operation,
#                 outside, run
# FOREIGN_KEEP    leave the scratch directory

use strict;
use warnings;
use Cwd ();
use Digest::SHA ();
use File::Find ();
use File::Temp ();
use FindBin;
use JSON::PP ();
use lib $FindBin::Bin;
use Forge;

my ($seconds, $only) = @ARGV;
die "usage: foreign.pl <seconds> [<seed>]\n" unless defined $seconds;
my $build = Cwd::realpath($ENV{BUILD_DIR} // "$FindBin::Bin/../../build");
$ENV{PATH} = "$build:$ENV{PATH}";
my $scratch = Cwd::realpath(File::Temp::tempdir('git-checkpoint-foreign.XXXXXX', DIR => $ENV{TMPDIR} // '/tmp'));
my $run = "$scratch/run";
my $sprung = "$scratch/sprung";      # what a command of the forger makes
my $filtered = "$scratch/filtered";  # what a filter makes

END {
	my $status = $?;
	system 'rm', '-rf', $scratch if $scratch && !$ENV{FOREIGN_KEEP};
	$? = $status;
}
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { exit 1 };

my @kinds = qw(plain staged branch merge cherry-pick rebase am bisect);
my ($seed, $kind, @trace, $said);
my %count = map { $_ => 0 } qw(episodes taken refused continued);

sub fail {
	my (@lines) = @_;
	print "FAILED with seed $seed ($kind): ", shift @lines, "\n";
	print "  $_\n" for @lines[ 0 .. ($#lines < 40 ? $#lines : 40) ];
	print "what was done:\n", map { "  " . s/([^ -~])/sprintf '\\x%02x', ord $1/ger . "\n" } @trace;
	print "what was said:\n$said\n" if defined $said;
	print "again with: tests/random/foreign.pl 1 $seed\n";
	print "left in $scratch\n" if $ENV{FOREIGN_KEEP};
	exit 1;
}

# ---- machines --------------------------------------------------------------------

# As on that machine, in its clone: the status, and what it says.
sub on {
	my ($who, @command) = @_;
	my $pid = open(my $out, '-|') // die "fork: $!";
	if (!$pid) {
		chdir "$run/$who/w" or die "$run/$who/w: $!";
		@ENV{qw(HOME XDG_STATE_HOME GIT_CHECKPOINT_MACHINE)} = ("$run/$who", "$run/$who/state", $who);
		@ENV{qw(GIT_EDITOR GIT_SEQUENCE_EDITOR)} = ('true', 'true') unless $ENV{FOREIGN_EDITOR};
		open STDIN, '<', '/dev/null';
		open STDERR, '>&', \*STDOUT;
		exec @command or exit 127;
	}
	my $text = do { local $/; <$out> } // '';
	close $out;
	return ($? >> 8, $text);
}

sub must {
	my ($status, $text) = on(@_);
	die "@_: $status\n$text" if $status;
	return $text;
}

sub sh { return must($_[0], 'sh', '-ec', $_[1]) }

# Two clones of a project, and a hub between them. What the forger has selects a filter of the other.
sub make_machines {
	mkdir $_ for $run, "$run/one", "$run/two", "$run/project";
	system(<<~END) == 0 or die 'machines';
		cd $run && git init -q -b main project && cd project && git config user.name p && git config user.email p\@p
		mkdir d git-merge-evil && seq 30 >f && echo 1 >d/g && printf '#!/bin/sh\\ntouch $sprung\\n' >git-merge-evil/run
		chmod +x git-merge-evil/run && git add . && git commit -qm one
		git checkout -q -b other && sed -i 's/^3\$/other/' f && git commit -qam other && git checkout -q main
		sed -i 's/^3\$/main/' f && git commit -qam main && git tag v1
		git init -q --bare ../hub.git
		END
	for my $who (qw(one two)) {
		system("git clone -q $run/project $run/$who/w") == 0 or die 'clone';
		sh($who, "git config --global user.name $who; git config --global user.email x\@y; git branch -q other origin/other
			git remote remove origin; git-checkpoint remote add -q hub $run/hub.git");
	}
	sh('two', "git config filter.evil.clean 'touch $filtered; cat'; git config filter.evil.smudge 'touch $filtered; cat'
		git config filter.evil.process 'touch $filtered; false'; git config diff.evil.textconv 'touch $filtered; cat'
		git config merge.evil.driver 'touch $filtered; false'");
}

my %making = (
	plain => 'echo x >>d/g',
	staged => 'echo x >>d/g; git add d/g; echo y >>d/g; echo n >n; git add -N n',
	branch => 'git checkout -q -b topic; echo x >>d/g; git commit -qam topic; git config branch.topic.remote ./d',
	merge => 'git merge -q other || :',
	'cherry-pick' => 'git cherry-pick main..other || :',
	rebase => 'git rebase -i -x "touch ' . $sprung . '" other || :',
	am => 'git format-patch -q -1 --stdout other >../patch; git am -3 -q ../patch || :',
	bisect => 'git bisect start -q; git bisect bad; git bisect good HEAD~1',
);

# The state before anything is forged, made once for each kind; the machines are always at one place.
sub begin_episode {
	my $kept = "$scratch/kept-$kind";
	system 'rm', '-rf', $run;
	if (!-d $kept) {
		system('cp', '-a', "$scratch/kept", $run) == 0 or die 'copy';
		sh('one', "echo '* filter=evil diff=evil merge=evil' >.gitattributes; git add .; git commit -qm attributes
			$making{$kind}");
		sh('one', 'git-checkpoint handoff -q --force hub');
		rename $run, $kept or die 'rename';
	}
	system('cp', '-a', $kept, $run) == 0 or die 'copy';
	unlink $sprung, $filtered;
}

# ---- what is there ---------------------------------------------------------------

sub list_below {
	my ($top, $skip) = @_;
	my %found;
	File::Find::find({ no_chdir => 1, wanted => sub {
		my $name = substr $_, length $top;
		return $File::Find::prune = 1 if $skip && $name =~ $skip;
		if (-l $_) {
			$found{$name} = 'link ' . readlink $_;
		} elsif (-f _) {
			$found{$name} = sprintf '%o %s', (stat _)[2], Digest::SHA->new(1)->addfile($_)->hexdigest;
		} elsif (!-d _) {
			$found{$name} = 'odd';
		}
	} }, $top);
	return \%found;
}

# .git of the one who takes, everything outside of the working directory, and the files in it.
sub look {
	my $two = "$run/two/w";
	return {
		git => list_below("$two/.git", qr{^/objects}),
		outside => list_below($run, qr{^/(two/w|two/state|hub\.git|into)$}),
		files => list_below($two, qr{^/\.git$}),
	};
}

sub changed {
	my ($a, $b) = @_;
	my %all = (%$a, %$b);
	return sort grep { ($a->{$_} // '') ne ($b->{$_} // '') } keys %all;
}

# ---- what may change -------------------------------------------------------------

# A plan as a pattern for names below .git.
sub allowed {
	my ($how, @says) = @_;
	my @may = $how =~ /into/ ? ('/worktrees/into/.*') : ();
	my $op = 0;
	for (@says) {
		push @may, '/HEAD', '/logs/HEAD' if /^HEAD: /;
		push @may, '/logs/HEAD', "/(logs/)?refs/heads/\Q$1\E" if /^branch (.*?): /;
		push @may, '/index' if /^index: /;
		push @may, map { '/' . quotemeta } split /, / for /^files of the operation: (.*)/s;
		push @may, map { '/(logs/)?' . quotemeta } split /, / for /^refs of the operation: (.*)/s;
	}
	my $all = join '|', @may;
	return qr/^(?:$all)$/s;
}

sub tamper {
	my $git = "$run/two/w/.git";
	my %harm = (
		config => sub { system "echo '# x' >>$git/config" },
		hook => sub { system "mkdir -p $git/hooks; echo x >$git/hooks/post-commit" },
		ref => sub { system "mkdir -p $git/refs/replace; cp $git/refs/heads/main $git/refs/replace/x" },
		operation => sub { system "mkdir -p $git/rebase-merge; echo x >$git/rebase-merge/strategy" },
		outside => sub { system "echo x >>$run/two/.profile" },
		run => sub { system 'touch', $sprung },
	);
	$harm{ $ENV{FOREIGN_TAMPER} }->() if $ENV{FOREIGN_TAMPER};
}

# ---- an episode ------------------------------------------------------------------

sub bring {
	my ($forged, $how) = @_;
	my @force = $how =~ /force/ ? '--force' : ();
	return [ 'git-checkpoint', 'takeover', '--json', '--yes', @force, 'hub' ] if $how =~ /takeover/;
	# the commit is here by other ways
	on('two', 'git', 'fetch', '-q', "$run/hub.git", $forged->{headref}) if $forged->{headref};
	if ($how =~ /bundle/) {
		Forge::bundle($forged, "$run/bundle");
		($_[2], my $text) = on('two', 'git-checkpoint', 'import', '-q', '--force', "$run/bundle");
		($_[2], $text) = on('two', 'git-checkpoint', 'import', '-q', "$run/bundle") if $_[2];
	} else {
		($_[2], my $text) = on('two', 'git-checkpoint', 'fetch', '-q');
	}
	return undef if $_[2];
	my $name = $how =~ /bundle/ ? $forged->{id} : 'one/@';
	return [ 'git-checkpoint', 'restore', '--json', "--into=$run/into", '--worktree', $name ] if $how =~ /into/;
	return [ 'git-checkpoint', 'restore', '--json', '--yes', $how =~ /index/ ? '--index' : '--git', @force, $name ];
}

sub check {
	my ($how, $status, $before, $after) = @_;
	my $answer = eval { JSON::PP->new->decode($said) } // {};
	my @says = @{ $answer->{git}{changes} // [] };
	my $may = allowed($how, $status == 5 || $status == 128 ? () : @says);

	fail('a command of the forger ran') if -e $sprung;
	fail('a filter ran') if -e $filtered;
	my @odd = changed($before->{outside}, $after->{outside});
	fail("changed outside of the working directory", @odd) if @odd;
	@odd = grep { !/$may/ } changed($before->{git}, $after->{git});
	fail('changed in .git, and not in the plan', @odd, "the plan:", @says) if @odd;
	fail("it ended with $status") unless grep { $_ == $status } 0, 1, 3, 5, 128;
	# elsewhere it is git itself that brought the commits
	my ($bad, $text) = $how =~ /takeover/ ? on('two', 'git', 'fsck', '--strict', '--no-dangling') : (0, '');
	fail('git fsck', split /\n/, $text) if $bad;
	($bad, $text) = on('two', 'git', '-c', 'filter.evil.clean=', '-c', 'filter.evil.process=', 'status');
	fail('git status', split /\n/, $text) if $bad;
	if ($status == 5 || $status == 128) {
		@odd = changed($before->{files}, $after->{files});
		fail("files changed, although it was refused", @odd) if @odd;
		($bad, $text) = on('two', 'git-checkpoint', 'status');
		fail('something is interrupted', split /\n/, $text) if $text =~ /interrupted/;
	}
}

# What whoever took it does next.
sub go_on {
	my @steps = ([qw(git rebase --continue)], [qw(git cherry-pick --continue)], [qw(git merge --continue)],
		[qw(git am --continue)], [qw(git bisect next)], [qw(git checkout -q -f .)],
		[qw(git commit -q --allow-empty -m on)], [qw(git push)]);
	on('two', 'git', 'add', '-A');
	on('two', @$_) for @steps;
	$count{continued}++;
	fail('a command of the forger ran when it went on') if -e $sprung;
	fail('a hook came') if grep { -e "$run/two/w/.git/hooks/$_" } qw(post-checkout pre-commit post-commit);
}

sub episode {
	srand $seed;
	(@trace, $said) = ();
	$kind = $kinds[ rand @kinds ];
	begin_episode();
	my $how = (qw(takeover takeover takeover-force takeover-force fetch fetch-force fetch-index bundle
		bundle-force into))[ rand 10 ];
	my $forged = Forge::open("$run/hub.git", $sprung);
	push @trace, "bring: $how", Forge::change($forged, int rand 5);
	Forge::close($forged);
	my $bad = 0;
	my $command = bring($forged, $how, $bad);
	my $before = look();
	my $status = 128;
	if ($command) {
		($status, $said) = on('two', @$command);
	}
	tamper();
	check($how, $status, $before, look());
	$count{episodes}++;
	$count{ $status == 5 || $status == 128 ? 'refused' : 'taken' }++;
	go_on() unless $status == 5 || $status == 128;
}

make_machines();
rename $run, "$scratch/kept" or die 'rename';
my $end = time + $seconds;
$seed = $only // $ENV{TEST_SEED} // 1;
do {
	episode();
	$seed++;
} while (!defined $only && time < $end);
print join(', ', map { "$count{$_} $_" } qw(episodes taken refused continued)), "\n";
