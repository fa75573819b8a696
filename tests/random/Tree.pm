# SPDX-License-Identifier: MIT
#
# What is on the disk, and what of it belongs into a checkpoint: found out without any of the
# program's own code. Ignore rules are asked of git itself.
package Tree;
use strict;
use warnings;
use Digest::SHA;
use Exporter 'import';
use Time::HiRes ();

our @EXPORT = qw(snapshot differences same_entry repositories tracked ignored is_sensitive captured
	parent_of below show_name entry_text);

sub parent_of { my ($path) = @_; return $path =~ m{\A(.*)/[^/]*\z}s ? $1 : "" }
sub below { my ($path, $dir) = @_; $dir eq '' || $path eq $dir || index($path, "$dir/") == 0 }

sub show_name {
	my ($name) = @_;
	$name =~ s/([^\x20-\x5b\x5d-\x7e])/sprintf '\\x%02x', ord $1/ge;
	return $name;
}

sub contents {
	my ($path) = @_;
	open my $file, '<:raw', $path or die "cannot read " . show_name($path) . ": $!\n";
	return Digest::SHA->new(256)->addfile($file)->hexdigest;
}

# Everything below a directory: path => { kind, mode, what (hash of the contents, or target), mtime,
# ino }. With `git`, only what is in or is a .git; else all but that.
sub snapshot {
	my ($root, $git) = @_;
	my %all;
	my @todo = ([ '', 0 ]);
	while (@todo) {
		my ($dir, $inside) = @{ pop @todo };
		opendir my $handle, $dir eq '' ? $root : "$root/$dir" or die "cannot list $dir: $!\n";
		for my $name (readdir $handle) {
			next if $name eq '.' || $name eq '..';
			my $path = $dir eq '' ? $name : "$dir/$name";
			my $in = $inside || $name eq '.git';
			next if $in && !$git;
			my @st = Time::HiRes::lstat("$root/$path") or die "cannot stat " . show_name($path) . ": $!\n";
			my $kind = -l _ ? 'link' : -f _ ? 'file' : -d _ ? 'dir' : 'other';
			push @todo, [ $path, $in ] if $kind eq 'dir';
			next if $git && !$in;
			$all{$path} = {
				kind  => $kind,
				mode  => $kind eq 'link' ? 0 : $st[2] & 07777,
				what  => $kind eq 'file' ? contents("$root/$path") : $kind eq 'link' ? readlink "$root/$path" : '',
				mtime => $st[9],
				ino   => $st[1],
			};
		}
	}
	return \%all;
}

sub same_entry {
	my ($a, $b, $exact) = @_;
	return 0 if !$a || !$b;
	return 0 if $a->{kind} ne $b->{kind} || $a->{mode} != $b->{mode} || $a->{what} ne $b->{what};
	# A directory's time changes with what is in it.
	return !$exact || $a->{kind} eq 'dir' || ($a->{mtime} == $b->{mtime} && $a->{ino} == $b->{ino});
}

sub entry_text {
	my ($e) = @_;
	return $e ? sprintf('%s %04o %s', $e->{kind}, $e->{mode}, show_name(substr $e->{what}, 0, 16)) : 'nothing';
}

# The differences of two snapshots, a line each; with `exact`, of times and inodes of files, too.
sub differences {
	my ($a, $b, $exact, $filter) = @_;
	my %paths = (%$a, %$b);
	my @lines;
	for my $path (sort keys %paths) {
		next if $filter && !$filter->($path);
		next if same_entry($a->{$path}, $b->{$path}, $exact);
		my $touched = same_entry($a->{$path}, $b->{$path}) ? ' (written anew, or another inode)' : '';
		push @lines, sprintf "%s: %s -> %s%s", show_name($path), entry_text($a->{$path}),
			entry_text($b->{$path}), $touched;
	}
	return @lines;
}

sub run_git {
	my ($input, @command) = @_;
	my $in = "$ENV{T}/git-in";
	open my $file, '>:raw', $in or die;
	print $file $input;
	close $file;
	my $pid = open my $pipe, '-|';
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		open STDIN, '<', $in;
		open STDERR, '>', "$ENV{T}/git-err";
		exec 'git', @command or exit 127;
	}
	binmode $pipe;
	local $/;
	my $out = <$pipe>;
	close $pipe;
	my $status = $? >> 8;
	if ($status > 1) {
		open my $err, '<', "$ENV{T}/git-err";
		die "git @command: exit status $status: " . (<$err> // '');
	}
	return $out // '';
}

# Directories that have a .git which git takes for a repository, outermost first.
sub repositories {
	my ($root, $git) = @_;
	my @dirs = map { $_ eq '.git' ? '' : substr $_, 0, -5 } grep { m{(?:\A|/)\.git\z} } keys %$git;
	# By their own names: that of the outermost .git may come after "#dir/.git".
	return grep { is_repository($root, $_) } sort @dirs;
}

# In so many words: a submodule that was moved has its old place in its configuration.
sub at_repository {
	my ($root, $dir) = @_;
	my $at = $dir eq '' ? $root : "$root/$dir";
	return ("--git-dir=$at/.git", "--work-tree=$at", '-C', $at);
}

sub is_repository {
	my ($root, $dir) = @_;
	my $pid = fork;
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		open STDOUT, '>', '/dev/null';
		open STDERR, '>', '/dev/null';
		exec 'git', at_repository($root, $dir), 'rev-parse', '--git-dir' or exit 127;
	}
	waitpid $pid, 0;
	return $? == 0;
}

# path => 1 for all that some repository tracks. One that lies in an ignored directory is seen only
# if that is a repository itself, or if something there is tracked from further out.
sub tracked {
	my ($root, $ignored, $git, @repos) = @_;
	my %tracked;
	for my $dir (@repos) {
		my $up = $dir;
		while ($up ne '' && (!$ignored->{$up} || $git->{"$up/.git"} || grep { below($_, $up) } keys %tracked)) {
			$up = parent_of($up);
		}
		next if $up ne '';
		for my $name (split /\0/, run_git('', at_repository($root, $dir), 'ls-files', '-z')) {
			$tracked{ $dir eq '' ? $name : "$dir/$name" } = 1;
		}
	}
	return \%tracked;
}

# path => 1 for all of `paths` that the rules ignore. `rules`: the directory with a repository of our
# own, whose info/exclude and core.excludesFile are those that count.
sub ignored {
	my ($root, $rules, @paths) = @_;
	my %ignored;
	@paths = sort @paths;
	while (@paths) {
		my @out = split /\0/, run_git(join('', map { "./$_\0" } @paths), "--git-dir=$rules", "--work-tree=$root",
			'-C', $root, 'check-ignore', '--no-index', '-v', '-n', '-z', '--stdin'), -1;
		@out >= 4 or die "git check-ignore does not answer\n";
		while (@out >= 4) {
			my ($source, $line, $pattern, $path) = splice @out, 0, 4;
			substr $path, 0, 2, '';
			die "git check-ignore answers something else\n" if $path ne shift @paths;
			$ignored{$path} = 1 if $source ne '' && $pattern !~ /\A!/;
		}
	}
	return \%ignored;
}

sub is_sensitive {
	my ($path, $entry) = @_;
	my $name = $path =~ s{.*/}{}sr;
	return 0 if $entry->{kind} ne 'file' || $name =~ /\A\.env\.(?:example|sample|template)\z/;
	return $name =~ /\A(?:\.env|\.env\..*|.*\.pem|.*\.key|id_rsa.*|id_ed25519.*|\.netrc|\.npmrc|\.pypirc|credentials|credentials\.json|.*\.kdbx)\z/s;
}

# path => 1 for all that a checkpoint of this state has to hold, directories that lead there too.
sub captured {
	my ($root, $tree, $git, $rules) = @_;
	my $ignored = ignored($root, $rules, keys %$tree);
	my @repos = repositories($root, $git);
	# A nested repository has this one rule of its own, a submodule none.
	my @nested = grep { $_ ne '' && -s "$root/$_/.git/info/exclude" } @repos;
	for my $path (grep { m{(?:\A|/)in\.nestx(?:/|\z)} } keys %$tree) {
		my $top = $path =~ s{((?:\A|/)in\.nestx)(?:/.*)?\z}{$1}sr;
		$ignored->{$path} = 1 if grep { $top ne $_ && below($top, $_) } @nested;
	}
	my $tracked = tracked($root, $ignored, $git, @repos);
	my %in;
	for my $path (keys %$tree) {
		my $entry = $tree->{$path};
		next if $entry->{kind} eq 'other';
		if ($entry->{kind} eq 'dir') {
			$in{$path} = 1 unless $ignored->{$path};
		} elsif ($tracked->{$path} || (!$ignored->{$path} && !is_sensitive($path, $entry))) {
			for (my $up = $path; $up ne ''; $up = parent_of($up)) {
				$in{$up} = 1;
			}
		}
	}
	return (\%in, $ignored);
}


1;
