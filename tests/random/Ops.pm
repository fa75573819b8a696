# SPDX-License-Identifier: MIT
#
# Random changes of a worktree, of every kind that people and programs make. All of chance comes from
# chance(), which a seed decides.
package Ops;
use strict;
use warnings;
use Exporter 'import';
use Fcntl qw(:DEFAULT :mode);
use POSIX ();

our @EXPORT = qw(chance pick seed_chance make_tree damage git_quiet put_file use_git);

my $state = 1;
my $with_git = 0;

sub use_git { ($with_git) = @_ }

sub seed_chance { $state = $_[0] & 0x7fffffff }

# A number below n. Nothing of perl's own, so that a seed means the same everywhere.
sub chance {
	my ($n) = @_;
	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return (($state >> 8) & 0x7fffff) % $n;
}

sub pick { return $_[ chance(scalar @_) ] }

# Few, so that one change meets another.
my @names = (
	'a', 'b', 'c.c', 'd', 'e f', 'sub', 'x.log', 'keep.log', 'x.tmp', "new\nline", "\xff\xfe", '-dash',
	':colon', '.GIT', 'git~1', '.gitx', '.git.', "\xe2\x80\x8c.git", 'build', 'node_modules', 'x.pyc', 'dist',
	'.env', '.env.example', 'id_rsa', 'x.pem', '"quote"', 'back\\slash', '*', '[x]', '#hash', '!bang',
	' lead', 'trail ', "tab\t", "esc\x1b[0m", 'n' x 255, "\xc3\xa4", "a\xcc\x88", '~', '...', 'in.nestx',
);
my @patterns = (
	'*.log', '!keep.log', '*.tmp', '/build/', '!build/', '!node_modules/', 'd/', 'sub/*.c', '**/x.*', '# c', '\\#hash',
	'e f', '/a', '!a', 'trail\\ ', '*', '!*/', '!*.c', '[[:alpha:]]', "\xff*", 'sub/**', '!/sub/', '/*/b', '',
);

# git 2.39 check-ignore, which has to say what is ignored, crashes where it is deeper.
my $deepest = 20;
my $root;

sub depth { return $_[0] =~ tr{/}{} }

# Where something can be put.
sub all_dirs {
	my @dirs = ('');
	for (my $i = 0; $i < @dirs; $i++) {
		opendir my $handle, "$root/$dirs[$i]" or next;
		for my $name (sort readdir $handle) {
			next if $name =~ /\A\.{1,2}\z/ || $name eq '.git';
			my $path = $dirs[$i] eq '' ? $name : "$dirs[$i]/$name";
			push @dirs, $path if is_dir("$root/$path") && @dirs < 200 && depth($path) < $deepest;
		}
	}
	return @dirs;
}

sub entries {
	my ($want) = @_;
	my @found;
	for my $dir (all_dirs()) {
		opendir my $handle, "$root/$dir" or next;
		for my $name (sort readdir $handle) {
			next if $name =~ /\A\.{1,2}\z/ || $name eq '.git';
			my $path = $dir eq '' ? $name : "$dir/$name";
			lstat "$root/$path" or next;
			push @found, $path if $want eq 'any' || ($want eq 'file' && -f _) || ($want eq 'dir' && -d _);
		}
	}
	return @found;
}

sub some { my @all = entries($_[0]); return @all ? pick(@all) : undef }

sub new_path {
	my $dir = pick(all_dirs());
	my $name = pick(@names);
	return $dir eq '' ? $name : "$dir/$name";
}

sub some_bytes {
	my $kind = chance(8);
	return '' if $kind == 0;
	return "line\r\nline\r\n" if $kind == 1;
	return join '', map { chr chance(256) } 1 .. 1 + chance(300) if $kind == 2;
	return "text " . chance(4) . "\n";
}

sub put_file {
	my ($path, $bytes, $flags) = @_;
	sysopen my $file, $path, O_WRONLY | O_CREAT | ($flags // O_TRUNC) or return;
	syswrite $file, $bytes if length $bytes;
	close $file;
}

sub is_dir { return lstat($_[0]) && -d _ }

sub remove_tree {
	my ($path) = @_;
	if (is_dir($path)) {
		chmod 0700, $path;
		opendir my $handle, $path or return;
		my @names = grep { !/\A\.{1,2}\z/ } readdir $handle;
		closedir $handle;
		remove_tree("$path/$_") for @names;
		rmdir $path;
	} else {
		unlink $path;
	}
}

sub any_mode {
	my ($dir) = @_;
	my $mode = chance(3) ? pick(0644, 0755, 0600, 0700, 0444, 0555, 0640, 0711) : chance(07777 + 1);
	# Who is not root could not look into it any more.
	$mode |= $dir ? 0700 : 0400 if $dir || $>;
	return $mode;
}

sub git_quiet {
	my ($dir, @command) = @_;
	my $pid = fork;
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', '/dev/null';
		open STDERR, '>', '/dev/null';
		exec 'git', '-C', $dir, @command or exit 127;
	}
	waitpid $pid, 0;
	return $? == 0;
}

sub tracked_name {
	my $names = qx{git -C '$root' ls-files -z};
	my @names = split /\0/, $names // '';
	return @names ? pick(@names) : undef;
}

# ---- files ----

sub op_new { my $path = new_path(); lstat("$root/$path") or put_file("$root/$path", some_bytes()) }
sub op_edit { my $path = some('file') // return; put_file("$root/$path", some_bytes()) }
sub op_append { my $path = some('file') // return; put_file("$root/$path", "more\n", O_APPEND) }

# Of the same size, and with the time that it had.
sub op_edit_hidden {
	my $path = some('file') // return;
	my @st = stat "$root/$path" or return;
	return if !$st[7] || $st[7] > 4096;
	put_file("$root/$path", chr(65 + chance(26)), 0);
	utime $st[8], $st[9], "$root/$path";
}

sub op_truncate { my $path = some('file') // return; truncate "$root/$path", chance(20) }

# As editors do it.
sub op_replace {
	my $path = some('file') // return;
	put_file("$root/.swap~", some_bytes());
	rename "$root/.swap~", "$root/$path" or unlink "$root/.swap~";
}

sub op_move {
	my ($from, $to) = (some('any') // return, new_path());
	return if $from eq $to || index("$to/", "$from/") == 0 || lstat "$root/$to";
	# With all that is in it.
	return if is_dir("$root/$from") && depth($to) > 2;
	rename "$root/$from", "$root/$to";
}

sub op_remove { my $path = some('any') // return; remove_tree("$root/$path") if !is_dir("$root/$path") || !chance(3) }
sub op_touch { my $path = some('file') // return; utime undef, undef, "$root/$path" }
sub op_mkdir { my $path = new_path(); mkdir "$root/$path", 0755 }

sub op_deep {
	my $path = pick(all_dirs());
	for (1 .. 2 + chance(30)) {
		$path .= ($path eq '' ? '' : '/') . pick('d', 'sub', 'e f');
		return if depth($path) >= $deepest;
		mkdir "$root/$path", 0755;
	}
	put_file("$root/$path/a", some_bytes()) if chance(2);
}

sub op_chmod {
	my $path = some('any') // return;
	lstat "$root/$path";
	chmod any_mode(-d _), "$root/$path" unless -l _;
}

sub op_kind {
	my $path = some('any') // return;
	remove_tree("$root/$path");
	my $kind = chance(4);
	put_file("$root/$path", some_bytes()) if $kind == 0;
	symlink pick('a', '..', '/etc/passwd', 'no where', "\xff"), "$root/$path" if $kind == 1;
	mkdir "$root/$path", 0755 if $kind >= 2;
	put_file("$root/$path/" . pick(@names), some_bytes()) if $kind == 3;
}

sub op_symlink { my $path = new_path(); symlink pick('a', 'd', '..', '../..', '/', "x\ny", 'loop'), "$root/$path" }

sub op_hardlink {
	my ($from, $to) = (some('file') // return, new_path());
	return if lstat "$root/$to";
	# Or to a file that is none of ours.
	link chance(4) ? "$root/$from" : "$ENV{T}/outside/" . pick('one', 'two'), "$root/$to";
}

sub op_fifo { my $path = new_path(); POSIX::mkfifo("$root/$path", 0644) unless lstat "$root/$path" }

sub op_holes {
	my $path = new_path();
	return if lstat "$root/$path";
	put_file("$root/$path", 'begin');
	sysopen my $file, "$root/$path", O_WRONLY or return;
	sysseek $file, chance(300000), 0;
	syswrite $file, 'data';
	close $file;
	truncate "$root/$path", 100000 + chance(500000);
}

# ---- rules ----

sub op_ignore {
	my $dir = pick(all_dirs());
	my $file = $dir eq '' ? "$root/.gitignore" : "$root/$dir/.gitignore";
	lstat $file;
	return if -d _ || -l _;
	my $lines = join "\n", map { pick(@patterns) } 1 .. 1 + chance(3);
	put_file($file, "$lines\n", pick(O_TRUNC, O_APPEND));
}

sub op_info_exclude {
	return unless $with_git && -d "$root/.git";
	mkdir "$root/.git/info";
	put_file("$root/.git/info/exclude", pick(@patterns) . "\n", pick(O_TRUNC, O_APPEND));
}

sub op_excludes_file { put_file("$ENV{T}/excludes", pick(@patterns) . "\n", pick(O_TRUNC, O_APPEND)) }
sub op_attributes { put_file("$root/.gitattributes", "* text eol=crlf ident filter=x\n") unless lstat "$root/.gitattributes" }

# ---- git ----

sub op_git {
	return unless $with_git;
	my $name = tracked_name();
	my $kind = chance(14);
	local $ENV{GIT_LITERAL_PATHSPECS} = 1;
	git_quiet($root, 'add', '-A', '--ignore-errors') if $kind == 0;
	git_quiet($root, 'commit', '-qam', 'x', '--allow-empty') if $kind == 1;
	git_quiet($root, 'checkout', '-q', '-f', pick('main', 'other')) if $kind == 2;
	git_quiet($root, 'branch', 'other') if $kind == 3;
	git_quiet($root, 'reset', '-q', pick('--hard', '--mixed')) if $kind == 4;
	my $path = some('any');
	git_quiet($root, 'add', '-f', '--', $path) if $kind == 5 && defined $path;
	git_quiet($root, 'add', '-N', '--', $path) if $kind == 6 && defined $path;
	return unless defined $name;
	git_quiet($root, 'update-index', '--assume-unchanged', '--', $name) if $kind == 7;
	git_quiet($root, 'update-index', '--skip-worktree', '--', $name) if $kind == 8;
	git_quiet($root, 'rm', '-q', '--cached', '--', $name) if $kind == 9;
	git_quiet($root, 'update-index', pick('--split-index', '--no-split-index')) if $kind == 10;
	git_quiet($root, 'update-index', '--index-version', pick(2, 3, 4)) if $kind == 11;
	git_quiet($root, 'stash', '-q') if $kind == 12;
	git_quiet($root, 'sparse-checkout', 'set', pick('--cone', '--no-cone'), pick('--sparse-index', '--no-sparse-index'), pick('d', 'sub', '/*')) if $kind == 13 && chance(3) == 0;
}

sub op_nested {
	my $dir = pick(all_dirs());
	return if $dir eq '' || -e "$root/$dir/.git";
	git_quiet("$root/$dir", 'init', '-q');
	put_file("$root/$dir/.git/info/exclude", "*.nestx\n");
	git_quiet("$root/$dir", 'add', '-A', '--ignore-errors') if chance(2);
	git_quiet("$root/$dir", 'commit', '-qm', 'x') if chance(2);
}

sub op_submodule {
	return unless $with_git;
	my $name = 'smod' . chance(3);
	return if lstat "$root/$name";
	git_quiet($root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', "$ENV{T}/upstream", $name);
}

# ---- all ----

my @file_ops = (
	(\&op_new) x 6, (\&op_edit) x 4, (\&op_append) x 2, (\&op_edit_hidden) x 2, \&op_truncate, (\&op_replace) x 2,
	(\&op_move) x 3, (\&op_remove) x 4, \&op_touch, (\&op_mkdir) x 4, \&op_deep, (\&op_chmod) x 3, (\&op_kind) x 3,
	(\&op_symlink) x 2, (\&op_hardlink) x 2, \&op_fifo, \&op_holes,
);
my @rule_ops = (\&op_ignore, \&op_ignore, \&op_info_exclude, \&op_excludes_file, \&op_attributes);
my @git_ops = (\&op_git, \&op_git, \&op_git, \&op_git, \&op_nested, \&op_submodule);

sub changes {
	my ($count, $rules) = @_;
	for (1 .. $count) {
		my $kind = chance(20);
		my $op = $kind < 1 && $rules ? pick(@rule_ops) : $kind < 4 && !chance(2) ? pick(@git_ops) : pick(@file_ops);
		$op->();
	}
}

sub make_tree { ($root) = @_; changes(20 + chance(40), 1) }
sub damage { ($root) = @_; changes(1 + chance(15), !chance(3)) }

1;
