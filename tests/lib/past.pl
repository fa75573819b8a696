#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# What `list -- <path>` and `grep` must say, by asking about every checkpoint on its own.
#
#   past.pl live <seed> <steps>                random edits and checkpoints, here
#   past.pl move <seed> <steps>                the same with renames, of everything only
#   past.pl list <store> <list.json> <path>... one line for each change, newest checkpoint first
#   past.pl grep <store> <list.json> <argument of git grep>... [-- <path>...]
#
# <list.json> is what `list --json` says. Words in lines are separated by tabs.

use strict;
use warnings;
use File::Basename;
use File::Path qw(make_path remove_tree);
use File::Temp;
use JSON::PP ();

sub out {
	open my $fh, '-|', @_ or die "$_[0]: $!";
	binmode $fh;
	local $/;
	my $out = <$fh>;
	close $fh;
	return defined $out ? $out : '';
}

# ---- living -----------------------------------------------------------------------

my @words = qw(foo bar Foo foobar a.b axb FOO_bar needle);
my $unique = 0;

# No two are similar.
sub text {
	my @lines = map { $unique++; "$words[rand @words] $unique-" . int(rand 1e9) } 1 .. 12;
	return join '', map { "$_\n" } @lines;
}

sub put {
	my ($path, $text) = @_;
	make_path(dirname($path));
	remove_tree($path) if -d $path && !-l $path;
	unlink $path;
	open my $fh, '>:raw', $path or return;
	print $fh $text;
	close $fh;
}

sub edit {
	my ($path) = @_;
	return put($path, text()) if !-f $path || -l $path;
	open my $fh, '<:raw', $path or die "$path: $!";
	my @lines = <$fh>;
	close $fh;
	$unique++;
	splice @lines, rand @lines, 1, "changed $words[rand @words] $unique\n";
	put($path, join '', @lines);
}

my @paths = qw(a.x b.x src/c.x src/lib/d.y src/lib/e.y docs/f.z src/lib/deep/er/g.x);

sub one_change {
	my $path = $paths[rand @paths];
	my $what = int rand 9;
	if ($what < 3) { put($path, text()) }
	elsif ($what < 5) { edit($path) }
	elsif ($what == 5) { remove_tree($path) }
	elsif ($what == 6) { chmod((0644, 0600, 0755, 0700, 04755, 0444)[rand 6], $path) if -f $path && !-l $path }
	elsif ($what == 7) { put($path, ''); unlink $path; symlink "to $words[rand @words]", $path }
	elsif (rand() < 0.5) { put($path, "foo\0$unique\n" . text()) }
	else { remove_tree($path); put("$path/inner.x", text()) }
}

sub save {
	system('git-checkpoint', 'save', '-q', @_) == 0 or ($? >> 8) == 3 or die 'save failed';
}

sub live {
	my ($seed, $steps) = @_;
	srand $seed;
	put($_, text()) for @paths;
	save();
	for my $step (1 .. $steps) {
		one_change() for 0 .. rand 3;
		my $how = rand;
		my $path = $paths[rand @paths];
		$path = dirname($path) if rand() < 0.4 && dirname($path) ne '.';
		if ($how < 0.05) { save('--state-only', '--state', "k=$step") }
		elsif ($how < 0.35 && (-e $path || -l $path)) { save($path) }
		elsif ($how < 0.42) { system('git-checkpoint', 'restore', '-q', '-y', '@~2', '--', $path) }
		else { save() }
	}
}

sub move {
	my ($seed, $steps) = @_;
	srand $seed;
	my @files = map { "file$_" } 1 .. 4;
	put($_, text()) for @files;
	save();
	for my $step (1 .. $steps) {
		my $file = $files[rand @files];
		if (rand() < 0.4) {
			my $to = (rand() < 0.5 ? '' : 'dir/') . "name$step";
			make_path(dirname($to));
			rename $file, $to or die;
			edit($to) if rand() < 0.5;
			@files = map { $_ eq $file ? $to : $_ } @files;
		} elsif (rand() < 0.2) {
			unlink $file;
			save();
			put($file, text());
		} else {
			edit($file);
		}
		save();
	}
	print "$_\n" for @files;
}

# ---- asking -------------------------------------------------------------------------

my $store;

# Oldest first, without those that hold no files.
sub checkpoints {
	my ($file) = @_;
	open my $fh, '<:raw', $file or die "$file: $!";
	local $/;
	my $list = JSON::PP::decode_json(<$fh>)->{checkpoints};
	return grep { $_->{type} ne 'state_snapshot' } reverse @$list;
}

sub covers {
	my ($checkpoint, $path) = @_;
	return grep { $_ eq '.' || $_ eq $path || index($path, "$_/") == 0 } @{ $checkpoint->{scope}{files} };
}

sub meant {
	my ($path, @specs) = @_;
	for my $spec (@specs) {
		my $regex = join '.*', map { quotemeta } split /\*/, $spec, -1;
		return 1 if $spec =~ /\*/ && $path =~ /^$regex$/;
		return 1 if $spec eq '.' || $path eq $spec || index($path, "$spec/") == 0;
	}
	return !@specs;
}

sub state_of {
	my ($checkpoint) = @_;
	my %state;
	for my $line (split /\0/, out('git-checkpoint', 'show', '--hashes', $checkpoint->{id})) {
		my ($mode, $hash, $path) = split / /, $line, 3;
		$state{$path} = [$mode, $hash, $checkpoint->{commit}] if $mode ne '040000';
	}
	return \%state;
}

sub lines_changed {
	my ($path, $old, $new) = @_;
	my $dir = File::Temp->newdir;
	my @names;
	for my $side ($old, $new) {
		my $name = "$dir/" . @names;
		push @names, $side ? $name : '/dev/null';
		next if !$side;
		open my $fh, '>:raw', $name or die;
		print $fh out('git', "--git-dir=$store", 'cat-file', 'blob', "$side->[2]:$path");
		close $fh;
	}
	# only the mode: git does not count lines of a binary file then either
	if ($old && $new && $old->[1] eq $new->[1]) {
		my $data = out('git', "--git-dir=$store", 'cat-file', 'blob', "$new->[2]:$path");
		return substr($data, 0, 8000) =~ /\0/ ? '- -' : '0 0';
	}
	my ($added, $removed) = split /\t/, out('git', 'diff', '--no-index', '--numstat', @names);
	return '0 0' if !defined $added;
	return $added eq '-' ? '- -' : "$added $removed";
}

sub list {
	my ($json, @specs) = @_;
	my (%last, @out);
	for my $checkpoint (checkpoints($json)) {
		my $state = state_of($checkpoint);
		my %all = map { $_ => 1 } keys %$state, keys %last;
		my @rows;
		for my $path (sort keys %all) {
			next if !meant($path, @specs) || !covers($checkpoint, $path);
			my ($old, $new) = ($last{$path}, $state->{$path});
			my $same = !$old == !$new && (!$old || ($old->[0] eq $new->[0] && $old->[1] eq $new->[1]));
			$last{$path} = $new;
			next if $same;
			my $kind = !$old ? 'A' : !$new ? 'D' : ($old->[0] eq '120000') != ($new->[0] eq '120000') ? 'T' : 'M';
			push @rows, join "\t", $checkpoint->{id}, $kind, $path, $old ? $old->[0] : '-',
				$new ? $new->[0] : '-', lines_changed($path, $old, $new);
		}
		unshift @out, @rows;
	}
	print "$_\n" for @out;
}

# One line for each line of a file: its name, the text, the newest and the oldest checkpoint, how
# many have it, the next without it, and the numbers in the newest.
sub search {
	my ($json, @args) = @_;
	my ($dashes) = grep { $args[$_] eq '--' } 0 .. $#args;
	my @specs = defined $dashes ? splice @args, $dashes : ();
	my @all = checkpoints($json);
	my %found;
	for my $i (0 .. $#all) {
		my $commit = $all[$i]{commit};
		my $text = out('git', "--git-dir=$store", 'grep', '-n', '-z', '--full-name', @args, $commit, @specs);
		my %here;
		while (length $text) {
			if ($text =~ s/^Binary file \Q$commit\E:(.*) matches\n//) { $here{"$1\tbinary"} = [0] }
			elsif ($text =~ s/^\Q$commit\E:([^\0]*)\0([0-9]+)\0([^\n]*)\n//) { push @{ $here{"$1\t$3"} }, $2 }
			elsif ($text =~ s/^\Q$commit\E:([^\0]*)\0//) { $here{"$1\tfile"} = [0] }
			else { die "what is '$text'" }
		}
		for my $key (keys %here) {
			my $hit = $found{$key} ||= { oldest => $i, count => 0 };
			@$hit{qw(newest lines)} = ($i, $here{$key});
			$hit->{count}++;
		}
	}
	for my $key (sort keys %found) {
		my $hit = $found{$key};
		my ($path) = split /\t/, $key;
		my ($gone) = grep { covers($all[$_], $path) } $hit->{newest} + 1 .. $#all;
		print join("\t", $key, $all[ $hit->{newest} ]{id}, $all[ $hit->{oldest} ]{id}, $hit->{count},
			defined $gone ? $all[$gone]{id} : '-', join(',', sort { $a <=> $b } @{ $hit->{lines} })), "\n";
	}
}

my ($what, @args) = @ARGV;
if ($what eq 'live') { live(@args) }
elsif ($what eq 'move') { move(@args) }
else {
	$store = shift @args;
	if ($what eq 'list') { list(@args) }
	else { search(@args) }
}
