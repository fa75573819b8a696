#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Reads a store with nothing but stock git and what git-checkpoint-format(5) says, to prove that
# the page tells all that is needed. Nothing here is taken from the program.
#
#   read-store.pl <store> ids               one a line, in the order of saving
#   read-store.pl <store> record <id>       as `git checkpoint show --json`, without changed_files
#   read-store.pl <store> hashes <id>       the bytes of the state hash
#   read-store.pl <store> manifest          rows, as far as `git checkpoint list --json` has them
#   read-store.pl <store> log               entries, newest first
#   read-store.pl <store> journal|undo      with the paths unquoted
#   read-store.pl <store> statcache         commit, packs and entries

use strict;
use warnings;
use Compress::Zlib qw(crc32);
use Digest::SHA qw(sha256_hex);
use Encode ();
use JSON::PP ();

my ($store, $what, $id) = @ARGV;
my $json = JSON::PP->new->utf8->canonical;

# ---- conventions -----------------------------------------------------------------

sub git {
	open my $fh, '-|', 'git', "--git-dir=$store", @_ or die "git: $!";
	binmode $fh;
	local $/;
	my $out = <$fh>;
	close $fh or die "git @_ failed\n";
	return defined $out ? $out : '';
}

sub slurp {
	my ($file) = @_;
	open my $fh, '<:raw', "$store/$file" or die "$file: $!\n";
	local $/;
	return scalar <$fh>;
}

sub is_utf8 {
	my ($bytes) = @_;
	return eval { Encode::decode('UTF-8', $bytes, Encode::FB_CROAK | Encode::LEAVE_SRC); 1 };
}

# Text for JSON: what is not UTF-8 becomes U+FFFD.
sub text {
	my ($bytes) = @_;
	return defined $bytes ? Encode::decode('UTF-8', $bytes) : undef;
}

my %escapes = (a => "\a", b => "\b", t => "\t", n => "\n", v => "\x0b", f => "\f", r => "\r",
	'"' => '"', '\\' => '\\');

sub unquote {
	my ($quoted) = @_;
	my ($inner) = $quoted =~ /^"(.*)"$/s or die "not C-quoted: $quoted\n";
	$inner =~ s/\\(?:([0-3][0-7]{2})|(.))/defined $1 ? chr oct $1 : $escapes{$2}/seg;
	return $inner;
}

sub quote {
	my ($bytes) = @_;
	my %letters = reverse %escapes;
	$bytes =~ s/([^ -~]|["\\])/exists $letters{$1} ? "\\$letters{$1}" : sprintf '\\%03o', ord $1/ge;
	return "\"$bytes\"";
}

# A path, or the value of a state, for JSON.
sub path {
	my ($bytes) = @_;
	return $bytes =~ /^"/ || !is_utf8($bytes) ? quote($bytes) : text($bytes);
}

sub number { my ($n) = @_; return defined $n ? $n + 0 : undef }
sub flag { return $_[0] ? JSON::PP::true : JSON::PP::false }

# ---- checkpoints -----------------------------------------------------------------

# Refs of a kind: name and commit.
sub refs {
	my ($kind) = @_;
	my %refs;
	if (-e "$store/packed-refs") {
		for (split /\n/, slurp('packed-refs')) {
			$refs{$2} = $1 if m{^([0-9a-f]{40}) refs/\Q$kind\E/(\S+)$};
		}
	}
	for my $file (glob "'$store'/refs/$kind/*") {
		my ($name) = $file =~ m{([^/]+)$};
		($refs{$name}) = slurp("refs/$kind/$name") =~ /^([0-9a-f]{40})\n$/;
	}
	return %refs;
}

sub read_record {
	my %refs = refs('checkpoints');
	my $commit = $refs{$id} or die "no checkpoint $id\n";
	my ($head, $message) = split /\n\n/, git('cat-file', 'commit', $commit), 2;
	my ($tree) = $head =~ /^tree ([0-9a-f]{40})$/m;
	my @parents = $head =~ /^parent ([0-9a-f]{40})$/mg;
	my ($subject, $body) = split /\n\n/, $message, 2;
	my %fields;

	@parents == 1 or die "not one parent\n";
	for (split /\n/, $body) {
		my ($key, $value) = /^([A-Za-z-]+): (.*)$/s or die "not a field: $_\n";
		push @{$fields{$key}}, $value =~ /^"/ ? unquote($value) : $value;
	}
	$fields{Checkpoint}[0] eq '1' && $fields{Id}[0] eq $id or die "damaged\n";
	return { commit => $commit, tree => $tree, meta => $parents[0], subject => $subject,
		fields => \%fields };
}

# A blob of the metadata, '' if it is not there.
sub meta {
	my ($record, $name) = @_;
	return git('ls-tree', $record->{meta}, '--', $name) ? git('cat-file', 'blob', "$record->{meta}:$name")
		: '';
}

sub skipped {
	my ($record) = @_;
	my @all;
	for (map { split /\0/, meta($record, $_) } 'missing', 'left-out') {
		my ($why, $path) = /^([a-z]+) (.+)$/s or die "malformed\n";
		push @all, [$path, $why];
	}
	return [map { { file => path($_->[0]), why => $_->[1] } } sort { $a->[0] cmp $b->[0] } @all];
}

sub states {
	my ($record) = @_;
	my %states;
	for (split /\0/, git('ls-tree', '-z', $record->{meta}, 'state/')) {
		my ($oid, $name) = m{^\d+ blob ([0-9a-f]{40})\tstate/(.*)$}s or die "malformed\n";
		$name =~ s/%([0-9a-f]{2})/chr hex $1/ge;
		my $value = git('cat-file', 'blob', $oid);
		$states{text($name)} = $value =~ /\0/ ? quote($value) : path($value);
	}
	return \%states;
}

sub names {
	my ($record) = @_;
	my %names = refs('keep/name');
	return sort grep { $names{$_} eq $record->{commit} } keys %names;
}

sub pinned {
	my ($record) = @_;
	my @names = names($record);
	return @names || exists {refs('keep/pin')}->{$id};
}

# The fields of a text of git/: the word, and the rest; a file is followed by its bytes.
sub git_fields {
	my ($text) = @_;
	my @fields;
	while (length $text) {
		$text =~ s/^([a-z]+) ([^\0]*)\0//s or die "malformed\n";
		my ($word, $rest) = ($1, $2);
		if ($word eq 'file') {
			my ($size) = $rest =~ /^(\d+) /;
			substr($text, $size, 1) eq "\0" or die "malformed\n";
			$text = substr $text, $size + 1;
		}
		push @fields, [$word, $rest];
	}
	return @fields;
}

# Without ORIG_HEAD, as the hash has it.
sub counted {
	my ($operation) = @_;
	$operation =~ s/(?<![^\0])ref [0-9a-f]+ ORIG_HEAD\0//;
	return $operation;
}

sub project {
	my ($record) = @_;
	my $one = sub { $record->{fields}{$_[0]} ? $record->{fields}{$_[0]}[0] : undef };
	my %out = (head => $one->('Head'), branch => text($one->('Branch')), operation => $one->('Operation'),
		progress => $one->('Progress'), hash => $one->('Git-Hash'), index => undef, refs => undef);
	return \%out unless defined $out{hash};
	my %texts = map { $_ => meta($record, "git/$_") } qw(flagged head index operation refs);
	my (%unmerged, %count, @branches, @stashes);
	/^entry 0*[0-7]+ \S+ 0 [a-z]*h/ or die "not only flags\n"
		for map { "$_->[0] $_->[1]" } git_fields($texts{flagged});
	for (git_fields($texts{index})) {
		my ($word, $rest) = @$_;
		next if $word ne 'entry';
		my ($mode, $oid, $stage, $flags, $hm, $ho, $path) = split / /, $rest, 7;
		$stage ? $unmerged{$path}++ : $flags =~ /i/ ? $count{intent}++ : $flags =~ /h/ ? 0 : $count{staged}++;
	}
	$out{index} = { staged => $count{staged} // 0, unmerged => scalar keys %unmerged,
		intent_to_add => $count{intent} // 0 };
	join(' ', map { $out{index}{$_} } qw(staged unmerged intent_to_add)) eq $one->('Index') or die "Index\n";
	for (git_fields($texts{refs})) {
		my ($word, $rest) = @$_;
		my ($commit, $name) = split / /, $rest, 2;
		push @branches, { name => text($name =~ s{^refs/heads/}{}r), commit => $commit } if $word eq 'branch';
		push @stashes, { name => 'stash@{' . @stashes . '}', commit => $commit, message => text($name) }
			if $word eq 'stash';
	}
	$out{refs} = { branches => \@branches, stashes => \@stashes };
	for (git_fields($texts{operation})) {
		my ($word, $rest) = @$_;
		$word ne 'operation' || $rest eq $out{operation} or die "operation\n";
		$word ne 'step' || $rest =~ s{ }{/}r eq $out{progress} or die "step\n";
	}
	$texts{operation} = counted($texts{operation});
	"sha256:" . Digest::SHA::sha256_hex(map { "$_ " . length($texts{$_}) . "\0$texts{$_}" }
		qw(flagged head index operation refs)) eq $out{hash} or die "the hash of git/ is another\n";
	return \%out;
}

sub agent {
	my ($one) = @_;
	defined $one->('Agent') or return undef;
	return { name => text($one->('Agent')), turn => defined $one->('Agent-Turn-Number') ? 0 + $one->('Agent-Turn-Number') : undef,
		map { my $value = $one->("Agent-$_->[1]"); ($_->[0] => defined $value ? text($value) : undef) }
		(['session', 'Session'], ['turn_id', 'Turn'], ['tool', 'Tool'], ['tool_call', 'Call'],
			['sub_agent', 'Sub'], ['prompt', 'Prompt']) };
}

sub show_record {
	my $record = read_record();
	my %fields = %{$record->{fields}};
	my $one = sub { $fields{$_[0]} ? $fields{$_[0]}[0] : undef };
	my ($files, $missing) = ($one->('Files'), $one->('Missing'));
	my $state_only = ($one->('State-Only') // '') eq 'true';
	my ($first) = split /\n/, text($one->('Reason')), 2;

	text($record->{subject}) eq "$first | " . $one->('Created') . ' | ' . text($one->('Source'))
		or die "the subject is $record->{subject}\n";
	print $json->encode({
		id => $id, commit => $record->{commit}, type => $one->('Type'),
		created_at => $one->('Created'), reason => text($one->('Reason')),
		source => text($one->('Source')), step => number($one->('Step')),
		pinned => flag(pinned($record)), imported => flag({ refs('keep/import') }->{$id}), name => scalar((names($record))[0]), names => [names($record)], expiry => $one->('Expires'),
		automatic => flag($one->('Automatic') eq 'true'), safety_for => $one->('Safety-For'),
		head => $one->('Head'), branch => text($one->('Branch')), agent => agent($one),
		scope => {
			files => [$fields{Scope} ? map { path($_) } @{$fields{Scope}} : $state_only ? () : '.'],
			state_keys => [map { text($_) } @{$fields{State} || []}],
		},
		hash => $one->('State-Hash'), hash_version => 2,
		files_changed => number($one->('Changed')),
		added => number($one->('Added')), deleted => number($one->('Deleted')),
		skipped => skipped($record), state => states($record),
		confidence => $missing ? $files / ($files + $missing) : 1,
		project => project($record),
		warnings => [map { text($_) } @{$fields{Warning} || []}],
	}), "\n";
}

# ---- the state hash --------------------------------------------------------------

sub modes {
	my ($record) = @_;
	my ($file, $exec, $dir, $rest) =
		meta($record, 'modes') =~ /^file ([0-7]+) exec ([0-7]+) dir ([0-7]+)\n(.*)$/s or die "modes\n";
	my %own = map { /^([0-7]+) (.+)$/s or die "modes\n"; ($2 => $1) } split /\0/, $rest;
	return ({ '100644' => $file, '100755' => $exec, '040000' => $dir }, \%own);
}

sub show_hashes {
	my $record = read_record();
	my ($usual, $own) = modes($record);
	my (%lines, %full);

	for (split /\0/, git('ls-tree', '-r', '-t', '-z', $record->{tree})) {
		my ($mode, $oid, $path) = /^(\d+) \w+ ([0-9a-f]{40})\t(.*)$/s or die "malformed\n";
		my $above = $path;
		$full{$above} = 1 while $above =~ s{/[^/]*$}{};
		my $bits = $own->{$path} // $usual->{$mode};
		my $shown = $mode eq '120000' || $mode eq '040000' ? $mode : sprintf '%06o', 0100000 | oct $bits;
		$lines{$path} = [$shown, $mode eq '040000' ? '' : $oid];
	}
	binmode STDOUT;
	for my $path (sort grep { !$full{$_} } keys %lines) {
		my ($mode, $oid) = @{$lines{$path}};
		my $sha = sha256_hex($oid eq '' ? '' : git('cat-file', 'blob', $oid));
		print "$mode $sha $path\0";
	}
}

# ---- files of the store ----------------------------------------------------------

sub show_manifest {
	my (undef, $table) = split /\n\n/, slurp('checkpoint-manifest.md'), 2;
	my ($head, $rule, @rows) = split /\n/, $table;
	my @result;

	$head =~ /^\| Hash \| Timestamp \| Reason \| Source \| Id \| Step \| Changed \| Files \|/ or die "head\n";
	$rule =~ /^[|-]+$/ or die "rule\n";
	for (@rows) {
		my @cells = map { s/^ //r =~ s/ $//r =~ s/\\\|/|/gr } /\|((?:\\\||[^|])*)(?=\|)/g;
		push @result, { hash => $cells[0], created_at => $cells[1], reason => text($cells[2]),
			source => text($cells[3]), id => $cells[4],
			step => $cells[5] eq '' ? undef : number($cells[5]),
			files_changed => number($cells[6]) };
	}
	print $json->encode(\@result), "\n";
}

sub show_log {
	my @entries;
	for (split /\n/, slurp('checkpoint/log')) {
		my $entry = eval { $json->decode($_) };
		unshift @entries, $entry if ref $entry eq 'HASH';
	}
	print $json->encode(\@entries), "\n";
}

# The paths are bytes in quotes; here they are text again.
sub show_paths {
	my $object = $json->decode(slurp("checkpoint/$what"));
	$object->{version} == 1 or die "version\n";
	for my $part ($what eq 'undo' ? @{$object->{restores}} : $object) {
		$_ = path(unquote($_)) for @{$part->{paths}};
	}
	print $json->encode($object), "\n";
}

# ---- the stat cache --------------------------------------------------------------

my $cache;

sub notes {
	my ($bytes) = @_;
	my @notes;

	push @notes, { kind => ord $1, why => ord $2, path => path($3) } while $bytes =~ /\G(.)(.)([^\0]+)\0/gs;
	return \@notes;
}

sub block {
	my ($at, $dir, $out) = @_;
	my ($sum, $body, $nr, $modes_nr, $names_len, $notes_len) = unpack 'L6', substr $cache, $at, 24;
	my ($files, $dirs, $bytes) = unpack 'Q3', substr $cache, $at + 72, 24;
	my $entries = $at + 152 + 8 * $modes_nr;
	my $names = $entries + 104 * $nr;
	my $end = ($names + $names_len + $notes_len + 7) & ~7;
	my %modes = unpack 'L*', substr $cache, $at + 152, 8 * $modes_nr;

	$at % 8 == 0 && crc32(substr $cache, $at + 4, $entries - $at - 4) == $sum &&
		crc32(substr $cache, $entries, $end - $entries) == $body or die "block\n";
	push @$out, { path => path($dir), tree => unpack('H40', substr $cache, $at + 96, 20),
		files => $files, dirs => $dirs, bytes => $bytes, modes => \%modes,
		notes => notes(substr $cache, $names + $names_len, $notes_len) };
	for my $i (0 .. $nr - 1) {
		my ($size, $mtime, $ctime, $ino, $child, $name_at, $name_len, $mode, $kind, $flags, $oid, $sha) =
			unpack 'Q q2 Q Q L2 S C2 H40 H64', substr $cache, $entries + 104 * $i, 104;
		my $name = substr $cache, $names + $name_at, $name_len;
		my $path = $dir eq '' ? $name : "$dir/$name";

		substr($cache, $names + $name_at + $name_len, 1) eq "\0" or die "name\n";
		push @$out, { path => path($path), kind => $kind, mode => $mode, oid => $oid, sha256 => $sha,
			$kind == 2 ? () : (size => $size), mtime => int($mtime / 1e9), ino => $ino };
		block($child, $path, $out) if $kind == 2;
	}
}

# FNV-1a, in a language whose numbers overflow into fractions.
sub fnv {
	use bigint;
	my ($name, $size) = @_;
	my $hash = 1469598103934665603;
	$hash = (($hash ^ $_) * 1099511628211) % (1 << 64) for unpack('C*', $name), $size;
	return $hash;
}

sub fingerprint {
	my $sum = fnv('', 0) * 0;
	for my $file (glob "'$store'/objects/pack/pack-*") {
		my ($name) = $file =~ m{([^/]+)$};
		$sum = ($sum + fnv($name, -s $file)) % (fnv('', 0) * 0 + 2) ** 64;
	}
	return "$sum";
}

sub show_statcache {
	$cache = slurp('checkpoint/statcache');
	my ($magic, $sum, $order, $version, $entry, $size, $root, $full, $base, $commit, $zero, $packs, $boot, $dev) =
		unpack 'a8 L4 Q4 H40 L Q H32 Q', $cache;
	my @entries;

	$magic eq "CKPTSTC\0" && $order == 0x01020304 && $version == 1 && $entry == 104 &&
		$size <= length $cache && $full <= $size && !$zero && $sum == crc32(substr $cache, 12, 188) or die "header\n";
	block($root, '', \@entries);
	print $json->encode({ commit => $commit, packs_agree => flag("$packs" eq fingerprint()),
		boot => $boot, dev => $dev,
		entries => \@entries }), "\n";
}

# The place of a checkpoint: an id and a number.
sub place {
	($id) = @_;
	return [$id, 0, $id] if $id !~ /_[89a-f][0-9a-f]{5}$/;
	my $fields = read_record()->{fields};
	return $fields->{After} ? [$fields->{After}[0], $fields->{Sequence}[0], $id] : [$id, 0, $id];
}

sub show_ids {
	my %refs = refs('checkpoints');
	print "$_->[2]\n" for sort { $a->[0] cmp $b->[0] || $a->[1] <=> $b->[1] || $a->[2] cmp $b->[2] }
		map { place($_) } keys %refs;
}

my %commands = (
	ids => \&show_ids,
	record => \&show_record, hashes => \&show_hashes, manifest => \&show_manifest, log => \&show_log,
	journal => \&show_paths, undo => \&show_paths, statcache => \&show_statcache,
);
($commands{$what} || die "what?\n")->();
