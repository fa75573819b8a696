# SPDX-License-Identifier: MIT
#
# Operations on files at full speed, for watch.pl: whatever editors, builds, git and people do in the
# worktree W and the directory O beside it, from the current directory. Names are few, so that much
# of it happens to the same files. Each returns how many steps of it succeeded.
#
# Two things are known to go unseen, and are not done: a file of the worktree gets another name
# outside, or its bytes are changed in mapped memory, and nothing else ever happens to it. Here
# something else does: its mode is set again.

package Churn;

use strict;
use warnings;
use Exporter 'import';
use Fcntl qw(O_WRONLY O_RDWR O_CREAT O_TRUNC O_APPEND O_NOFOLLOW O_NONBLOCK S_ISREG);
use POSIX ();
our @EXPORT = qw(churn churn_setup any random_path flood build_objects);

my $machine = (POSIX::uname())[4];
my $renameat2 = { x86_64 => 316, aarch64 => 276, riscv64 => 276 }->{$machine};
use constant { AT_FDCWD => -100, RENAME_EXCHANGE => 2 };

# set by churn_setup
my ($with_ignore, $with_links, $many);
my (@held, $serial);

sub any { $_[ int rand @_ ] }

sub component { int rand 40 ? any('a' .. 'd') : any('e', 'a b', '-x', "\xff", '.hidden', 'x.o') }

sub below {
	my ($top) = @_;
	return "$top/many/" . int(rand $many) . (int rand 3 ? '/f' . int rand 4 : '') if $top eq 'W' && !int rand 6;
	return join '/', $top, map { component() } 0 .. int rand 4;
}

sub random_path { below(int rand 8 ? 'W' : 'O') }

sub text { join ' ', ++$serial, map { int rand 1000 } 0 .. int rand 20 }

sub parent { my ($path) = @_; $path =~ s{/[^/]*\z}{}r }

sub put {
	my ($path, $flags, $text) = @_;
	sysopen my $out, $path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | $flags, 0644 or return 0;
	syswrite $out, $text // text() . "\n";
	return 1;
}

# Same size, same times as far as a program can set them.
sub stealth {
	my ($path) = @_;
	my @st = lstat $path or return 0;
	return 0 unless -f _ && $st[7];
	sysopen my $out, $path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK or return 0;
	syswrite $out, substr text() . 'x' x $st[7], 0, $st[7];
	close $out;
	return 1 + utime $st[8], $st[9], $path;
}

# As editors do: beside it and renamed, or the old one first out of the way.
sub edit {
	my ($path) = @_;
	return 0 if -d $path && !-l $path;
	if (int rand 2) {
		put("$path~", O_TRUNC) or return 0;
		return rename("$path~", $path) ? 2 : 1;
	}
	my $moved = rename $path, "$path~";
	my $done = put($path, O_TRUNC);
	return $moved + $done + unlink "$path~";
}

sub remove_tree {
	my ($path) = @_;
	return 1 if unlink $path;
	return 0 if -l $path;
	my $done = 0;
	opendir my $dir, $path or return 0;
	$done += remove_tree("$path/$_") for grep { $_ ne '.' && $_ ne '..' } readdir $dir;
	closedir $dir;
	return $done + (rmdir $path ? 1 : 0);
}

sub make_tree {
	my ($path) = @_;
	my $done = mkdir $path or return 0;
	for (0 .. int rand 3) {
		my $dir = "$path/" . component();
		$done += mkdir $dir;
		$done += put("$dir/" . component(), O_TRUNC) for 0 .. int rand 3;
	}
	return $done;
}

sub exchange {
	my ($one, $other) = (random_path(), random_path());
	return 0 unless $renameat2;
	return syscall($renameat2, AT_FDCWD, $one, AT_FDCWD, $other, RENAME_EXCHANGE) == 0 ? 1 : 0;
}

# The mode is set again, under both names: see above. Not in all episodes, because a save that finds
# a new one looks at everything.
sub hard_link {
	my ($from, $to) = (random_path(), random_path());
	my @st = lstat $from or return 0;
	return 0 unless $with_links && S_ISREG($st[2]) && link $from, $to;
	return 1 + chmod $st[2] & 07777, $from, $to;
}

sub outside_name {
	my @names = grep { my @st = lstat; @st && -f _ && $st[3] > 1 } map { below('O') } 1 .. 8;
	return @names ? put($names[0], any(O_APPEND, O_TRUNC)) : 0;
}

# Never to a place above W and O: everything else here goes through links, too.
sub make_symlink {
	my $path = random_path();
	unlink $path;
	return symlink(any('a', 'b/c', 'nowhere', '.'), $path) ? 1 : 0;
}

sub set_mode {
	my $path = random_path();
	my @st = lstat $path or return 0;
	return 0 if -l _;
	return chmod any(-d _ ? (0755, 0711, 0700, 0750) : (0644, 0755, 0600, 0444, 0640)), $path;
}

# Long ago, in the future, a moment ago: as if the clock had been set, or a tar unpacked.
sub set_times {
	my $path = random_path();
	return 0 unless -e $path && !-l $path;
	my $when = any(0, 1_000_000_000, time - 3600, time - 1, time, time + 3600, 4_000_000_000);
	return utime $when, $when + int rand 3, $path;
}

sub swap_kind {
	my $path = random_path();
	return unlink($path) ? 1 + mkdir $path : rmdir($path) ? 1 + put($path, 0) : 0;
}

# Written later, when it may have another name or none.
sub hold {
	my $slot = int rand 6;
	sysopen my $out, random_path(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK or return 0;
	return 0 unless -f $out;
	$held[$slot] = $out;
	return 1;
}

sub use_held {
	my $slot = int rand 6;
	return 0 unless $held[$slot];
	syswrite $held[$slot], text();
	undef $held[$slot] if int rand 2;
	return 1;
}

sub ignore {
	return 0 unless $with_ignore;
	my $dir = int rand 2 ? 'W' : parent(below('W'));
	my @patterns = map { any(any('', '/', '!', '!/') . any('a' .. 'd') . any('', '/'), '*.o', 'a/b', '**/c', '!*') }
		1 .. int rand 4;
	return int rand 4 ? put("$dir/.gitignore", O_TRUNC, join '', map { "$_\n" } @patterns) : unlink "$dir/.gitignore";
}

# A build in little: many objects, some made again, some removed, a program out of them.
sub build_objects {
	my $dir = any('W/build', 'W/src/obj', 'W/a');
	my $done = mkdir $dir;
	my @objects = map { "$dir/$_.o" } 0 .. 10 + int rand 20;
	$done += put("$_.tmp", O_TRUNC) + rename "$_.tmp", $_ for @objects;
	$done += put("$dir/prog", O_TRUNC);
	$done += unlink $_ for grep { int rand 2 } @objects;
	return int rand 3 ? $done : $done + remove_tree($dir);
}

sub git {
	my (@args) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', '/dev/null';
		open STDERR, '>', '/dev/null';
		chdir 'W' or POSIX::_exit(126);
		exec 'git', @args or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return $? ? 0 : 1;
}

sub git_something {
	return any(
		sub { git('add', '-A') },
		sub { git('commit', '-q', '-a', '-m', ++$serial) },
		sub { git('stash', '-q', any('-u', '--keep-index', '-q')) },
		sub { git('stash', any('pop', 'drop'), '-q') },
		sub { git('checkout', '-q', '-f', any('one', 'two', 'main')) },
		sub { git('checkout', '-q', '-f', any('one', 'two', 'main')) },
		sub { git('checkout', '-q', any('one', 'two', 'main')) },
		sub { git('reset', '-q', '--hard', any('HEAD', 'one', 'two')) },
		sub { git('rm', '-q', '-r', '--cached', '--ignore-unmatch', any('a' .. 'd')) },
		sub { git('clean', '-q', '-f', '-d', any('a' .. 'd')) },
	)->();
}

my @ops = (
	[10, sub { mkdir(random_path()) ? 1 : 0 }],
	[4, sub { make_tree(random_path()) }],
	[14, sub { put(random_path(), O_TRUNC) }],
	[10, sub { put(random_path(), O_APPEND) }],
	[4, sub { put(random_path(), 0) }],
	[4, sub { my $path = random_path(); !-l $path && -f $path && truncate($path, int rand 30) ? 1 : 0 }],
	[4, sub { stealth(random_path()) }],
	[10, sub { edit(random_path()) }],
	[6, sub { unlink(random_path()) + 0 }],
	[3, sub { rmdir(random_path()) ? 1 : 0 }],
	[2, sub { remove_tree(random_path()) }],
	[16, sub { rename(random_path(), random_path()) ? 1 : 0 }],
	[4, sub { rename(below('W'), below('O')) ? 1 : 0 }],
	[6, sub { rename(below('O'), below('W')) ? 1 : 0 }],
	[8, \&exchange], [5, \&hard_link], [5, \&outside_name], [4, \&make_symlink], [6, \&set_mode],
	[4, \&set_times], [4, \&swap_kind], [4, \&hold], [6, \&use_held], [1, \&ignore],
);
my @table = map { my ($weight, $op) = @$_; ($op) x $weight } @ops;

sub churn_setup { ($with_ignore, $with_links, $many) = @_ }

# churn(<seed>, <number>, <git>): that many operations, some of them git's if it is true.
sub churn {
	my ($seed, $number, $with_git) = @_;
	srand $seed;
	($serial, @held) = $seed % 100_000 * 1000;
	my $done = 0;
	while ($done < $number) {
		my $dice = rand;
		my $op = $with_git && $dice < 0.01 ? \&git_something : $dice > 0.995 ? \&build_objects : any(@table);
		# Where nothing is, little succeeds.
		$done += $op->() || 0.05;
	}
	@held = ();
	return int $done;
}

# More events than a queue holds, while nobody reads them.
sub flood {
	my $size = do { open my $in, '<', '/proc/sys/fs/inotify/max_queued_events'; $in ? <$in> + 0 : 16384 };
	mkdir "W/$_" for qw(a b);
	chmod $_ % 4 < 2 ? 0755 : 0711, $_ % 2 ? 'W/a' : 'W/b' for 1 .. $size + 100;
	return $size;
}

1;
