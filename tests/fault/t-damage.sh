#!/bin/sh
# SPDX-License-Identifier: MIT
# Damaged files in a store: what is derived is rebuilt, the rest harms only itself.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/private.sh"
. "$LIB_DIR/damage.sh"

first='' second='' store='' third='' # see damage.sh

# ---- objects and packs ----

# Packs are removed although the cache still says that all is there.
test_lost_packs_are_written_again() {
	three
	rm -f "$store"/objects/pack/*
	saves_right 'no packs at all'
	expect_eq '' "$(git-checkpoint diff --name-status)"
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_eq 1 "$(wc -l <"$T/out")" 'listed'
	expect_grep 'warning: . checkpoints are lost' "$T/err"
}

test_one_lost_pack_is_written_again() {
	three
	for pack in "$store"/objects/pack/*.pack; do
		rm -f "$pack" "${pack%.pack}.idx"
		saves_right "without $(basename "$pack")"
	done
}

# The index is still there, and promises what is lost.
test_a_pack_that_is_lost_or_cut_beside_its_index() {
	three
	git-checkpoint save -q --allow-empty
	for pack in "$store"/objects/pack/*.pack; do
		chmod 600 "$pack"
		truncate -s -30 "$pack"
		saves_right "$(basename "$pack") was cut"
		truncate -s 20 "$pack"
		saves_right "$(basename "$pack") was cut more"
		: >"$pack"
		saves_right "$(basename "$pack") was emptied"
		rm -f "$pack"
		saves_right "without $(basename "$pack")"
	done
	# what was stored again serves the old ones as well, where it is the same
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_grep '^chk_' "$T/out"
}

test_a_lost_index() {
	three
	for index in "$store"/objects/pack/*.idx; do
		rm -f "$index"
		saves_right "without $(basename "$index")"
	done
}

test_an_unchanged_tree_whose_objects_are_lost_is_saved() {
	three
	git-checkpoint save --json >"$T/out"
	expect_eq false "$(json .checkpoint_created "$T/out")"
	rm -f "$store"/objects/pack/*
	git-checkpoint save --json >"$T/out" 2>"$T/err"
	expect_eq true "$(json .checkpoint_created "$T/out")"
	git --git-dir="$store" rev-list --objects latest >/dev/null
}

# ---- one damaged checkpoint ----

# only_harms <reason> <id>: that one is left out of the list with a warning, all else works
only_harms() {
	expect_eq "$(echo three two one | sed "s/ *$1 */ /; s/^ //; s/ \$//")" "$(listed)" 'list'
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_grep "^warning: .*$2.*damaged" "$T/err"
	expect_eq 2 "$(wc -l <"$T/out")" 'lines'
	expect_exit 128 git-checkpoint show "$2" 2>"$T/err"
	expect_grep "$2" "$T/err"
	for id in $first $second $third; do
		test "$id" = "$2" || git-checkpoint show --patch "$id" >/dev/null
	done
	git-checkpoint diff >/dev/null
	git-checkpoint status >/dev/null 2>&1
	echo more >>a
	saves_right "with $1 damaged"
	git-checkpoint show --stat @ >/dev/null
}

test_an_empty_ref() {
	three
	: >"$store/refs/checkpoints/$second"
	only_harms two "$second"
}

test_a_ref_of_garbage() {
	three
	echo 'garbage that is longer than any name of an object can be' >"$store/refs/checkpoints/$first"
	only_harms one "$first"
}

test_a_ref_of_nuls() {
	three
	head -c 41 /dev/zero >"$store/refs/checkpoints/$third"
	only_harms three "$third"
}

test_a_ref_to_nothing() {
	three
	echo 1234567890123456789012345678901234567890 >"$store/refs/checkpoints/$third"
	only_harms three "$third"
}

test_a_ref_to_something_else() {
	three
	tree_of latest >"$store/refs/checkpoints/$second"
	only_harms two "$second"
}

test_a_ref_to_the_checkpoint_of_another_id() {
	three
	cp "$store/refs/checkpoints/$first" "$store/refs/checkpoints/$second"
	only_harms two "$second"
}

test_a_ref_that_is_a_directory() {
	three
	rm "$store/refs/checkpoints/$second"
	mkdir "$store/refs/checkpoints/$second"
	only_harms two "$second"
}

test_other_things_among_the_refs() {
	three
	echo x >"$store/refs/checkpoints/README"
	mkdir "$store/refs/checkpoints/dir"
	touch "$store/refs/checkpoints/chk_20300101_000000_ABCDEF" "$store/refs/checkpoints/.hidden"
	expect_eq 'three two one' "$(listed)"
	expect_eq '' "$(cat "$T/err")" 'warnings'
}

# A commit whose bytes rot in the pack; the pack as a whole stays readable.
test_a_damaged_commit() {
	three
	commit=$(git --git-dir="$store" rev-parse "refs/checkpoints/$second")
	for index in "$store"/objects/pack/*.idx; do
		at=$(git show-index <"$index" | awk -v c="$commit" '$2 == c { print $1 }')
		test -z "$at" || break
	done
	pack=${index%.idx}.pack
	chmod 600 "$pack"
	printf '\377\377\377\377' | dd of="$pack" bs=1 seek=$((at + 6)) conv=notrunc 2>/dev/null
	only_harms two "$second"
}

# ---- derived files ----

manifest_rows() {
	sed -n 's/^| \([0-9a-f]\{8\}\) | .*/\1/p' "$store/checkpoint-manifest.md"
}

test_the_manifest_is_rebuilt() {
	three
	manifest=$store/checkpoint-manifest.md
	cp "$manifest" "$T/expected"
	for damage in 'rm "$manifest"' ': >"$manifest"' 'truncate -s -10 "$manifest"' \
		'truncate -s 30 "$manifest"' 'head -c 400 /dev/zero >"$manifest"' \
		'echo "| torn" >>"$manifest"' 'printf "| torn" >>"$manifest"' 'sed -i 5d "$manifest"' \
		'sed -i "5{p}" "$manifest"' 'sed -i s/Hash/Hsah/ "$manifest"' 'echo >"$manifest"' \
		'sed -i "5s/^| [0-9a-f]*/| 00000000/" "$manifest"'; do
		cp "$T/expected" "$manifest"
		eval "$damage"
		git-checkpoint save --allow-empty -q
		git-checkpoint list --json | jq -r '.checkpoints | reverse[] | .commit[:8]' >"$T/commits"
		manifest_rows >"$T/rows"
		expect_same "$T/commits" "$T/rows"
		head -n "$(wc -l <"$T/expected")" "$manifest" >"$T/head"
		expect_same "$T/expected" "$T/head"
		cp "$manifest" "$T/expected"
	done
}

test_a_manifest_that_cannot_be_rebuilt_stops_nothing() {
	three
	rm "$store/checkpoint-manifest.md"
	mkdir "$store/checkpoint-manifest.md"
	expect_eq 'three two one' "$(listed)"
	saves_right 'the manifest is a directory'
}

test_a_torn_log_is_read_and_continued() {
	three
	log=$store/checkpoint/log
	truncate -s -20 "$log"
	expect_eq 'two one' "$(git-checkpoint log --json | jq -r '[.entries[].reason] | join(" ")')"
	echo 4 >a
	git-checkpoint save -q -m four
	expect_eq 'four two one' "$(git-checkpoint log --json | jq -r '[.entries[].reason] | join(" ")')"
	printf 'garbage\n\0\0\0\0\n{"at":1}\n[]\n"x"\n' >>"$log"
	git-checkpoint log >"$T/out"
	expect_grep ' four$' "$T/out"
	head -c 100 /dev/zero >"$log"
	git-checkpoint log >/dev/null
	rm "$log"
	expect_eq '{"entries":[]}' "$(git-checkpoint log --json)"
	mkdir "$log"
	saves_right 'the log is a directory'
}

test_a_log_that_is_a_fifo_keeps_nobody_waiting() {
	require timeout
	three
	rm "$store/checkpoint/log"
	mkfifo "$store/checkpoint/log"
	timeout -k 1 60 git-checkpoint prune -q --max-count 2
	expect_eq 'three two' "$(listed)"
}

test_garbage_in_the_counts_of_every() {
	three
	for garbage in '' 'x' '{' '[]' '{"3 cli":"x"}' '{"3 cli":-5}' '{"3 cli":99999999999999999999}' \
		'{"3 cli":1e300}' '{"3 cli":null}' "$(printf '\377')"; do
		printf %s "$garbage" | put_cache_section every
		git-checkpoint save -q --allow-empty --every 3 || fail "every: $garbage"
		# it counts again
		git-checkpoint save --json --every 3 >"$T/out"
		expect_eq false "$(json .checkpoint_created "$T/out")"
	done
}

test_garbage_in_the_configuration_of_the_store() {
	three
	for garbage in '[' '=' ' = ' '[]' '[a' 'maxCount' 'maxCount =' '[capture "' "$(printf '\377\376=\001')" \
		"$(head -c 100000 /dev/zero | tr '\0' x)" "$(head -c 100000 /dev/zero | tr '\0' '[')"; do
		printf '%s\n' "$garbage" >"$store/checkpoint/config"
		status=0
		git-checkpoint list >/dev/null 2>"$T/err" || status=$?
		case $status in
		0) ;;
		128) expect_grep 'checkpoint/config:1' "$T/err" ;;
		*) fail "exit status $status: $(cat "$T/err")" ;;
		esac
	done
	head -c 3000 /dev/zero >"$store/checkpoint/config"
	status=0
	git-checkpoint list >/dev/null 2>"$T/err" || status=$?
	test $status = 0 || test $status = 128 || fail "NULs: exit status $status"
	seed=0
	while test $seed -lt 20; do
		seed=$((seed + 1))
		perl -e 'srand $ARGV[0]; print map { chr int rand 256 } 1 .. 300' $seed >"$store/checkpoint/config"
		status=0
		git-checkpoint list >/dev/null 2>"$T/err" || status=$?
		test $status = 0 || test $status = 128 || fail "noise $seed: exit status $status"
	done
}

test_lost_private_files() {
	three
	rm -f "$store/checkpoint/statcache" "$store/checkpoint/log" "$store/checkpoint/lock" \
		"$store/info/exclude" "$store/checkpoint-manifest.md"
	echo 4 >a
	saves_right 'without private files'
	expect_exists "$store/checkpoint/statcache" "$store/checkpoint-manifest.md"
}

test_a_store_that_belongs_to_another_is_refused() {
	three
	printf /somewhere/else >"$store/checkpoint/worktree"
	expect_exit 128 git-checkpoint save 2>"$T/err"
	expect_grep '/somewhere/else' "$T/err"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	printf %s "$T/work" >"$store/checkpoint/worktree"
	echo "git-checkpoint 99" >"$store/checkpoint/version"
	expect_exit 128 git-checkpoint save 2>"$T/err"
	expect_grep '99' "$T/err"
	rm "$store/checkpoint/version"
	git-checkpoint save -q 2>"$T/err"
	expect_grep "'checkpoint/version' of the store is missing" "$T/err"
}

# ---- stock git at work in the store ----

test_packed_refs_are_read() {
	three
	git --git-dir="$store" pack-refs --all
	expect_eq '' "$(find "$store/refs" -type f)" 'loose refs'
	expect_eq 'three two one' "$(listed)"
	git-checkpoint save --json >"$T/out"
	expect_eq "false $third" "$(json '"\(.checkpoint_created) \(.checkpoint.id)"' "$T/out")"
	saves_right 'packed refs'
	expect_eq 'manual three two one' "$(listed)"
	(cd d && expect_eq 'manual three two one' "$(listed)")
	fsck
}

test_gc_by_stock_git() {
	three
	git --git-dir="$store" gc -q --prune=now
	expect_eq 'three two one' "$(listed)"
	git-checkpoint save --json >"$T/out"
	expect_eq "false $third" "$(json '"\(.checkpoint_created) \(.checkpoint.id)"' "$T/out")"
	for id in $first $second $third; do
		hash=$(git-checkpoint show --json "$id" | jq -r .hash)
		expect_eq "$hash" "$(git-checkpoint show --hashes "$id" | state_hash)"
	done
	echo 4 >a
	saves_right 'gc'
	git --git-dir="$store" gc -q --aggressive --prune=now
	saves_right 'gc --aggressive'
	fsck
}

# Loose objects are as good as packed ones.
test_unpacked_by_stock_git() {
	three
	mkdir "$T/packs"
	mv "$store"/objects/pack/* "$T/packs"
	for pack in "$T"/packs/*.pack; do
		git --git-dir="$store" unpack-objects -q <"$pack"
	done
	expect_eq 'three two one' "$(listed)"
	git-checkpoint show --patch @ >/dev/null
	saves_right 'loose objects'
	fsck
}

test_stock_git_checks_out_every_byte() {
	printf 'a\r\nb\n' >crlf
	printf '* text=auto\n*.x filter=bad ident\n' >.gitattributes
	echo '$Id$' >f.x
	git-checkpoint save -q
	mkdir "$T/copy"
	git --git-dir="$(store_dir)" --work-tree="$T/copy" -c core.autocrlf=true checkout -q latest -- .
	for file in crlf .gitattributes f.x; do
		cmp $file "$T/copy/$file"
	done
}

run_tests
