#!/bin/sh
# SPDX-License-Identifier: MIT
# Bundles from somebody who means harm, or from a bad disk: refused, named, and nothing is listed.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/forge.sh"

# source_store: a store in $T/there to forge in, whose newest checkpoint is $id; leaves us there
source_store() {
	mkdir "$T/there"
	cd "$T/there"
	echo 1 >a
	mkdir d
	echo 2 >d/b
	git-checkpoint save -q
	id=chk_20250101_000000_012345 commit=
	blob=$(echo 1 | git hash-object --stdin)
	fresh="s/^Id: .*/Id: $id/"
}

# refused <what> <pattern>: the bundle in $T/bad is refused in $T/work, where nothing changes
refused() {
	(
		cd "$T/work"
		fingerprint_raw . >"$T/before"
		status=0
		git-checkpoint import "$T/bad" >"$T/out" 2>"$T/err" || status=$?
		expect_eq 128 $status "$1: $(cat "$T/err")"
		expect_grep "$2" "$T/err"
		expect_eq 1 "$(wc -l <"$T/err")" "$1"
		fingerprint_raw . >"$T/after"
		expect_same "$T/before" "$T/after"
		expect_eq 0 "$(git-checkpoint list | wc -l)" "$1"
		expect_eq '' "$(git --git-dir="$(store_dir)" for-each-ref)" "$1"
		expect_eq '' "$(ls "$(store_dir)/checkpoint/scratch" 2>/dev/null)" "$1"
		expect_eq '' "$(find "$(store_dir)/objects" -type f)" "$1"
	)
}

# A forged one that lies about nothing is taken: so the others are refused for their lies.
test_the_forger_can_do_it_right() {
	source_store
	forged "$fresh"
	bundled "$T/good"
	cd "$T/work"
	git-checkpoint import -q "$T/good"
	git-checkpoint verify -q "$id"
}

test_names_and_kinds_in_trees() {
	source_store
	# <what> <pattern> <tree from stdin>
	bad_tree() {
		forged "$fresh" "$(object tree)"
		bundled_all "$T/bad"
		refused "$1" "checkpoint '$id'.*$2"
	}
	sub=$(entry 100644 x "$blob" | object tree)
	entry 100644 .. "$blob" | bad_tree dots "'[.][.]' is not a valid path"
	entry 40000 .. "$sub" | bad_tree up "'[.][.]' is not a valid path"
	entry 40000 .git "$sub" | bad_tree dotgit "'[.]git' is not a valid path"
	entry 100644 a/b "$blob" | bad_tree slash "'a/b' is not a valid path"
	entry 100644 "$(printf '%0300d' 1)" "$blob" | bad_tree long 'is not a valid path'
	deep=$(entry 40000 .git "$sub" | object tree)
	entry 40000 d "$deep" | bad_tree below "'d/[.]git' is not a valid path"
	entry 160000 a "$blob" | bad_tree gitlink 'unknown mode 160000'
	entry 100666 a "$blob" | bad_tree mode 'unknown mode 100666'
	entry 20000 a "$blob" | bad_tree device 'unknown mode 20000'
	{ entry 100644 a "$blob" && entry 120000 a "$blob"; } | bad_tree twice 'in order\|occurs twice'
	{ entry 120000 a "$blob" && entry 100644 a.b "$blob" && entry 40000 a "$sub"; } |
		bad_tree apart "occurs twice"
	{ entry 100644 b "$blob" && entry 100644 a "$blob"; } | bad_tree order 'not in order'
	head -c 5000 /dev/zero | tr '\0' x >"$T/long"
	link=$(object blob <"$T/long")
	entry 120000 a "$link" | bad_tree link "link 'a' is too long"
	entry 40000 a "$blob" | bad_tree 'a blob as a tree' 'is not a tree'
	printf 'garbage' | bad_tree garbage ''
}

# The worktree of the attacker's dreams: few objects, endless paths.
test_trees_without_end() {
	source_store
	tree=$(entry 100644 x "$blob" | object tree)
	for level in 1 2 3 4 5 6 7 8 9 10; do
		for name in 0 1 2 3 4 5 6 7 8 9; do
			entry 40000 $name "$tree"
		done >"$T/tree"
		tree=$(object tree <"$T/tree")
	done
	forged "$fresh" "$tree"
	bundled "$T/bad"
	refused many 'more paths than maxFiles allows'
	# as deep as paths can be, and deeper
	tree=$(entry 100644 x "$blob" | object tree)
	level=0
	while test $level -lt 25; do
		tree=$(entry 40000 "$(printf '%0200d' 1)" "$tree" | object tree)
		level=$((level + 1))
	done
	forged "$fresh" "$tree"
	bundled "$T/bad"
	refused deep 'is not a valid path'
}

test_records_that_lie() {
	source_store
	# <what> <sed script> <pattern>
	bad_record() {
		forged "$fresh; $2"
		bundled "$T/bad"
		refused "$1" "checkpoint '$id'.*$3"
	}
	bad_record hash '/^State-Hash:/y/0123456789/1234567890/' 'state hash'
	bad_record id '/^Id:/s/2025/2024/' 'record is malformed'
	bad_record format '/^Checkpoint:/s/1/2/' 'record is malformed'
	bad_record scope '$a\Scope: ../../etc' 'in its scope is not a valid path'
	bad_record absolute '$a\Scope: /etc' 'in its scope is not a valid path'
	bad_record git '$a\Scope: .git/hooks' 'in its scope is not a valid path'
	bad_record head '$a\Head: ../../x' 'HEAD is malformed'
	bad_record base '$a\Base: ../../x' 'based on is malformed'
	bad_record extra "2s/.*/&\\nparent $(in_store rev-parse latest)/" 'commit is malformed'
	bad_record signed '/^committer/s/$/\nencoding x/' 'commit is malformed'
	bad_record parent "2s/.*/parent $(in_store rev-parse latest)/" 'commit is malformed'
	bad_record nothing "2d" 'malformed'
	bad_record capture '$a\Capture: a/b x 1' 'record is malformed'
	# what hangs off it
	meta=$(in_store rev-parse latest^)
	tree=$(echo nonsense | object blob)
	tree=$(entry 100644 modes "$tree" | object tree)
	text=$(in_store cat-file commit "$meta" | sed "1s/.*/tree $tree/" | object commit)
	bad_record modes "2s/.*/parent $text/" ''
}

test_damaged_files() {
	source_store
	forged "$fresh"
	bundled "$T/good"
	size=$(stat -c %s "$T/good")
	for bytes in 0 5 16 60 100 150 $((size - 20)) $((size - 1)); do
		head -c $bytes "$T/good" >"$T/bad"
		refused "cut at $bytes" "unable to import '$T/bad': "
	done
	at=$((90 + $(any 20)))
	while test $at -lt "$size"; do
		cp "$T/good" "$T/bad"
		old=$(dd if="$T/bad" bs=1 skip=$at count=1 2>/dev/null | od -An -tu1 | tr -d ' ')
		printf "\\$(printf %o $((old ^ 1)))" | dd of="$T/bad" bs=1 seek=$at conv=notrunc 2>/dev/null
		refused "byte $at" "unable to import '$T/bad': "
		at=$((at + size / 8))
	done
	# it is a bundle, but not of checkpoints; or needs what only others have
	in_store bundle create -q "$T/bad" latest
	refused branch 'there is no checkpoint in it'
	{ sed -n 1p "$T/good" && echo "-$blob x" && sed 1d "$T/good"; } >"$T/bad"
	refused thin "needs the commit '$blob'"
	{ sed -n 1p "$T/good" && echo "$blob refs/checkpoints/../../x" && sed 1d "$T/good"; } >"$T/bad"
	refused ref 'cannot be a checkpoint'
	{ sed -n 1,2p "$T/good" && sed 1d "$T/good"; } >"$T/bad"
	refused twice 'is in the bundle twice'
	# what it names is not in it
	sed "2s/^[0-9a-f]*/$(echo nothing | git hash-object --stdin)/" "$T/good" >"$T/bad"
	refused missing "checkpoint '$id'"
	sed "2s/^[0-9a-f]*/$blob/" "$T/good" >"$T/bad"
	refused 'a blob' "checkpoint '$id'"
	mkfifo "$T/fifo"
	cd "$T/work"
	expect_exit 128 git-checkpoint import "$T/fifo"
	expect_exit 128 git-checkpoint import "$T"
	expect_exit 128 git-checkpoint import "$T/nothing"
}

# One of several is bad: none is taken.
test_all_or_none() {
	source_store
	forged "$fresh; /^State-Hash:/y/0123456789/1234567890/"
	in_store update-ref "refs/checkpoints/$id" "$commit"
	in_store bundle create -q "$T/bad" --glob=refs/checkpoints
	refused one "checkpoint '$id'.*state hash"
}

# Objects that nothing needs do not get into the store.
test_stowaways() {
	source_store
	forged "$fresh"
	echo stowaway | object blob >"$T/name"
	in_store update-ref refs/heads/x "$(in_store commit-tree -m x "$(entry 100644 x "$(cat "$T/name")" | object tree)")"
	in_store update-ref "refs/checkpoints/$id" "$commit"
	in_store bundle create -q "$T/bundle" "refs/checkpoints/$id" refs/heads/x
	cd "$T/work"
	git-checkpoint import -q "$T/bundle"
	git-checkpoint verify -q "$id"
	expect_exit 1 git --git-dir="$(store_dir)" cat-file -e "$(cat "$T/name")" 2>/dev/null
	expect_eq '' "$(git --git-dir="$(store_dir)" for-each-ref refs/heads/x)"
}

run_tests
