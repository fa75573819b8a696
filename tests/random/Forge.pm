# SPDX-License-Identifier: MIT
#
# A checkpoint in a bare repository, taken apart, changed, and put together with hashes that fit, as
# whoever can write there could do it. git-checkpoint-format(5) has what it consists of.

package Forge;

use strict;
use warnings;
use Digest::SHA ();
use IPC::Open2 ();

my @texts = qw(flagged head index operation refs);

sub git {
	my ($forged, $input, @args) = @_;
	my $pid = IPC::Open2::open2(my $out, my $in, 'git', "--git-dir=$forged->{hub}", @args);
	print $in $input if defined $input;
	CORE::close $in;
	my $text = do { local $/; <$out> } // '';
	waitpid $pid, 0;
	die "git @args: $?" if $?;
	return $text;
}

sub object {
	my ($forged, $type, $data) = @_;
	my $oid = git($forged, $data, qw(hash-object -w --literally --stdin -t), $type);
	chomp $oid;
	return $oid;
}

sub read_tree {
	my ($forged, $oid) = @_;
	my $data = git($forged, undef, qw(cat-file tree), $oid);
	my @entries;
	while ($data =~ /\G(\d+) ([^\0]*)\0(.{20})/gs) {
		push @entries, [ $1, $2, unpack 'H*', $3 ];
	}
	return @entries;
}

sub write_tree {
	my ($forged, @entries) = @_;
	my $key = sub { $_[0][1] . ($_[0][0] eq '40000' ? '/' : '') };
	return object($forged, 'tree',
		join '', map { "$_->[0] $_->[1]\0" . pack 'H*', $_->[2] } sort { $key->($a) cmp $key->($b) } @entries);
}

# ---- fields ----------------------------------------------------------------------

# Each is its text, or a file with its path and data.
sub parse {
	my ($text) = @_;
	my @fields;
	while ($text =~ /\G([^\0]*)\0/gs) {
		my $field = $1;
		if ($field =~ /^file (\d+) (.*)$/s) {
			push @fields, { path => $2, data => substr $text, pos $text, $1 };
			pos($text) += $1 + 1;
		} else {
			push @fields, $field;
		}
	}
	return \@fields;
}

sub unparse {
	my ($fields) = @_;
	return join '', map { (ref $_ ? 'file ' . length($_->{data}) . " $_->{path}\0$_->{data}" : $_) . "\0" } @$fields;
}

sub hash_texts {
	my ($texts) = @_;
	my $sha = Digest::SHA->new(256);
	for my $name (@texts) {
		my $text = unparse([ grep { ref $_ || !/^ref [0-9a-f]+ ORIG_HEAD$/ } @{ $texts->{$name} // [] } ]);
		$sha->add("$name " . length($text) . "\0", $text);
	}
	return $sha->hexdigest;
}

# ---- the checkpoint --------------------------------------------------------------

# The one that is there; what is forged makes the file `sprung` if it is run.
sub open {
	my ($hub, $sprung) = @_;
	my $forged = { hub => $hub, sprung => $sprung, texts => {} };
	for (split /\n/, git($forged, undef, qw(for-each-ref), '--format=%(refname) %(objectname)')) {
		@$forged{qw(ref commit)} = ($1, $2) if m{^(refs/checkpoints/\S+) (\S+)};
		@$forged{qw(headref head)} = ($1, $2) if m{^(refs/handoff/\S+) (\S+)};
		push @{ $forged->{newest} }, $1 if m{^(refs/checkpoints-newest/\S+)};
	}
	($forged->{id}) = $forged->{ref} =~ m{([^/]*)$};
	$forged->{record} = git($forged, undef, qw(cat-file commit), $forged->{commit});
	($forged->{head}) = $forged->{record} =~ /^Head: (.*)$/m unless $forged->{head};
	my ($meta) = $forged->{record} =~ /^parent (.*)$/m;
	$forged->{meta} = git($forged, undef, qw(cat-file commit), $meta);
	my ($tree) = $forged->{meta} =~ /^tree (.*)$/m;
	$forged->{top} = [ read_tree($forged, $tree) ];
	my ($git) = grep { $_->[1] eq 'git' } @{ $forged->{top} };
	for my $entry (read_tree($forged, $git->[2])) {
		if (grep { $_ eq $entry->[1] } @texts) {
			$forged->{texts}{ $entry->[1] } = parse(git($forged, undef, qw(cat-file blob), $entry->[2]));
		} else {
			push @{ $forged->{others} }, $entry;
		}
	}
	return $forged;
}

# Write it, and let the refs be at it.
sub close {
	my ($forged) = @_;
	my $texts = $forged->{texts};
	my @git = @{ $forged->{others} // [] };
	for my $name (@texts) {
		my $text = unparse($texts->{$name} // []);
		push @git, [ '100644', $name, object($forged, 'blob', $text) ] if length $text;
	}
	my @top = ((grep { $_->[1] ne 'git' } @{ $forged->{top} }), [ '40000', 'git', write_tree($forged, @git) ]);
	my $tree = write_tree($forged, @top);
	my $meta = object($forged, 'commit', $forged->{meta} =~ s/^tree .*/tree $tree/r);
	my $hash = hash_texts($texts);
	$forged->{record} =~ s/^parent .*/parent $meta/m;
	$forged->{record} =~ s/^Git-Hash: .*/Git-Hash: sha256:$hash/m;
	$forged->{commit} = object($forged, 'commit', $forged->{record});
	git($forged, undef, 'update-ref', $_, $forged->{commit}) for $forged->{ref}, @{ $forged->{newest} };
}

sub bundle {
	my ($forged, $file) = @_;
	git($forged, undef, 'update-ref', "refs/checkpoints/$forged->{id}", $forged->{commit});
	git($forged, undef, qw(bundle create -q), $file, "refs/checkpoints/$forged->{id}");
	git($forged, undef, 'update-ref', '-d', "refs/checkpoints/$forged->{id}");
}

# ---- what a forger would try -----------------------------------------------------

sub one_of { return $_[ rand @_ ] }

my @paths = ('.git/hooks/post-checkout', '.git/config', '../outside', 'd/../../outside', '.GIT/config', '.git /config',
	'git~1/config', ".g\xe2\x80\x8cit/config", '/outside', 'd//e', './x', 'd/.git/config', '.git', '..', "a\nb", "a\e[2Jb",
	'.gitmodules', 'x' x 300, 'f/below', 'plain', 'd/g', '.git::$INDEX_ALLOCATION/x', 'a\\..\\..\\b');

sub ref_name {
	my ($forged) = @_;
	return one_of("refs/replace/$forged->{head}", 'refs/tags/v1', 'refs/stash', 'refs/remotes/origin/main',
		'refs/heads/foo.lock', 'refs/heads/a@{b', 'refs/heads/.hid', 'refs/heads/x.', 'refs/heads/main/sub',
		'refs/heads/-x', 'refs/heads/HEAD', 'refs/heads/@', 'refs/heads/' . 'x' x 252, "refs/heads/a\eb",
		'refs/heads/../../config', 'refs/heads/other', 'refs/heads/new/deep', 'refs/heads/main', 'HEAD', 'config',
		'hooks/post-checkout', 'refs/worktree/x', 'refs/bisect/x', 'refs/rewritten/x', 'refs/rewritten/x.lock',
		'ORIG_HEAD', 'CHERRY_PICK_HEAD', 'MERGE_AUTOSTASH', 'refs/heads/@{-1}', 'refs/heads/', 'refs/heads//x');
}

sub file_name {
	return one_of((map { "rebase-merge/$_" } qw(git-rebase-todo done strategy strategy_opts gpg_sign_opt update-refs
			author-script head-name onto orig-head autostash interactive message end msgnum stopped-sha amend)),
		qw(rebase-apply/apply-opt rebase-apply/0001 rebase-apply/applying rebase-apply/next rebase-apply/last
			sequencer/todo sequencer/opts sequencer/head MERGE_RR MERGE_MSG MERGE_HEAD MERGE_MODE SQUASH_MSG
			BISECT_RUN BISECT_NAMES BISECT_START BISECT_LOG BISECT_TERMS hooks/post-checkout config
			rebase-merge/../hooks/post-checkout rebase-merge/a/b/c index));
}

sub contents {
	my ($forged) = @_;
	my ($run, $c) = ("touch $forged->{sprung}", $forged->{head});
	return one_of("exec $run\n", "x $run\n", "  exec $run\n", "pick $c x\nexec $run\n", "\texec\t$run\n", "merge -C $c evil\n",
		"update-ref refs/heads/other\n", "$c\n", "refs/heads/other\n", "refs/replace/$c\n", "detached HEAD\n", "evil/run\n",
		"'$run'\n", "\$($run)\n", "[options]\n\tstrategy = evil/run\n", "pick $c\0exec $run\n", "# x\nexec $run\n",
		"\rexec $run\n", "p $c\r\nx $run\r\n", "fixup -c $c\n", "1\n", '', "GIT_AUTHOR_NAME='a'; $run\nGIT_AUTHOR_EMAIL='b'\n"
			. "GIT_AUTHOR_DATE='\@1 +0000'\n", "$c\t../../outside\0", "refs/heads/other\n$c\n$c\n", "noop\nx  $run\n",
		"label ../../x\nexec=$run\n", "--unsafe-paths --directory=..\n");
}

sub entry {
	my ($forged) = @_;
	my $blob = object($forged, 'blob', "#!/bin/sh\ntouch $forged->{sprung}\n");
	return sprintf 'entry %s %s %d %s 000000 - %s', one_of(qw(100644 100755 120000 160000 040000)), $blob,
		one_of(0, 0, 0, 1, 2, 4), one_of(qw(- - i s a h)), one_of(@paths);
}

# A commit in place of that of HEAD, with a tree that has such a path.
sub hostile_head {
	my ($forged) = @_;
	my $blob = object($forged, 'blob', "#!/bin/sh\ntouch $forged->{sprung}\n");
	my ($name, $inner) = (one_of('.git', '..', '.GIT', 'git~1', ".g\xe2\x80\x8cit", '.'), one_of(qw(config x)));
	my $commit = git($forged, undef, qw(cat-file commit), $forged->{head});
	my ($tree) = $commit =~ /^tree (.*)$/m;
	my $sub = write_tree($forged, [ '100755', $inner, $blob ]);
	my $new = write_tree($forged, read_tree($forged, $tree), [ '40000', $name, $sub ]);
	my $head = object($forged, 'commit', $commit =~ s/^tree .*/tree $new/mr);
	for my $fields (values %{ $forged->{texts} }) {
		s/\Q$forged->{head}\E/$head/, s/^tree \Q$tree\E/tree $new/ for grep { !ref } @$fields;
	}
	$forged->{record} =~ s/^Head: .*/Head: $head/m;
	git($forged, undef, 'update-ref', $forged->{headref}, $head) if $forged->{headref};
	$forged->{head} = $head;
	return "HEAD's tree has $name/$inner";
}

sub add {
	my ($forged, $name, $field) = @_;
	push @{ $forged->{texts}{$name} }, $field;
	return "$name: " . (ref $field ? "file $field->{path}: $field->{data}" : $field);
}

# Something of a text goes, comes twice, or has another byte.
sub damage {
	my ($forged) = @_;
	my $name = one_of(grep { @{ $forged->{texts}{$_} // [] } } @texts) // return 'nothing';
	my $fields = $forged->{texts}{$name};
	my $at = int rand @$fields;
	my $how = one_of(qw(drop double byte));
	if ($how eq 'drop') {
		splice @$fields, $at, 1;
	} elsif ($how eq 'double') {
		splice @$fields, $at, 0, ref $fields->[$at] ? { %{ $fields->[$at] } } : $fields->[$at];
	} else {
		my $bytes = ref $fields->[$at] ? \$fields->[$at]{data} : \$fields->[$at];
		substr($$bytes, rand length $$bytes, 1) = chr 1 + rand 255 if length $$bytes;
	}
	return "$name: $how $at";
}

my @changes = (
	sub { hostile_head($_[0]) },
	sub {
		my $ref = ref_name($_[0]);
		my $fields = $_[0]{texts}{head};
		@$fields = grep { !/^ref / } @$fields;
		return add($_[0], 'head', "ref $ref");
	},
	sub { add($_[0], 'head', 'config ' . one_of('branch.main.remote=./d', 'branch.topic.pushRemote=./d', 'core.fsmonitor=x',
		'branch.main.merge=refs/heads/x', "branch.main.remote=ext::touch $_[0]{sprung}")) },
	sub { add($_[0], one_of(qw(index flagged)), entry($_[0])) },
	sub { add($_[0], 'operation', { path => file_name(), data => contents($_[0]) }) },
	sub {
		my $files = [ grep { ref } @{ $_[0]{texts}{operation} } ];
		my $file = one_of(@$files) // return 'no file';
		$file->{data} = contents($_[0]);
		return "$file->{path}: $file->{data}";
	},
	sub {
		@{ $_[0]{texts}{operation} } = grep { ref || !/^operation / } @{ $_[0]{texts}{operation} // [] };
		my $name = one_of('', '', qw(rebase merge cherry-pick am bisect), "x\e[2J");
		return length $name ? add($_[0], 'operation', "operation $name") : 'no operation';
	},
	sub { add($_[0], 'operation', "ref $_[0]{head} " . ref_name($_[0])) },
	sub { add($_[0], 'operation', "autostash $_[0]{head}") },
	sub { add($_[0], 'refs', one_of('branch', 'stash') . " $_[0]{head} " . ref_name($_[0])) },
	sub { damage($_[0]) },
);

# Some changes; what they were, a line each. The fields of a text stay in their order where that counts.
sub change {
	my ($forged, $nr) = @_;
	my @done = map { one_of(@changes)->($forged) } 1 .. $nr;
	my $operation = $forged->{texts}{operation};
	@$operation = ((grep { !ref } @$operation), sort { $a->{path} cmp $b->{path} } grep { ref } @$operation) if $operation;
	return @done;
}

1;
