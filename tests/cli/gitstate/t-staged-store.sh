#!/bin/sh
# SPDX-License-Identifier: MIT
# The state of a repository in a store: checked, packed, moved and salvaged like all else.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/gitstate.sh"

# make_staged: a checkpoint in which only the index has some contents, whose id is $blob
make_staged() {
	make_project
	echo 'only staged' >a
	git add a
	blob=$(git rev-parse :a)
	echo 'in the worktree' >a
	git-checkpoint save -q
	id=$(shown .id)
	git reset -q --hard
	git gc -q --prune=now
	store=$(store_dir)
}

still_there() {
	git-checkpoint show --staged "$id" >"$T/out"
	expect_grep '^+only staged$' "$T/out"
	git-checkpoint verify -q "$id"
}

test_what_is_needed_stays() {
	make_staged
	# others that share some of it, and go
	for i in 1 2 3; do
		echo $i >b
		git-checkpoint save -q
	done
	git-checkpoint gc -q
	still_there
	for i in 1 2 3; do
		git-checkpoint drop -q --yes @
		git-checkpoint gc -q
	done
	still_there
	git --git-dir="$store" gc -q --prune=now
	still_there
	git --git-dir="$store" fsck --strict --no-dangling
}

test_what_is_not_needed_goes() {
	make_staged
	echo 1 >b
	git-checkpoint save -q
	git-checkpoint drop -q --yes "$id"
	git-checkpoint gc -q
	expect_exit 1 git --git-dir="$store" cat-file -e "$blob"
	git-checkpoint verify -q @
}

# forget <object>: as if it had never been there
forget() {
	(
		cd "$store"
		mkdir "$T/packs"
		mv objects/pack/* "$T/packs"
		for pack in "$T"/packs/*.pack; do
			git --git-dir=. unpack-objects -q <"$pack"
		done
		rm -f "objects/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-)"
	)
}

test_damage_is_found() {
	for what in "git/blobs/" git/index git/refs git/head git; do
		rm -rf "$T/packs" .git
		make_staged
		test "$what" != git/blobs/ || what=git/blobs/$blob
		forget "$(git --git-dir="$store" rev-parse "refs/checkpoints/$id^:$what")"
		expect_exit 1 git-checkpoint verify "$id" >"$T/out" 2>&1
		expect_grep "$id" "$T/out"
		case $what in
		*blobs*) expect_grep "staged contents '$(echo "$blob" | cut -c1-12)'" "$T/out" ;;
		esac
		expect_exit 1 git-checkpoint doctor >"$T/out" 2>&1
		expect_grep "$id" "$T/out"
		# the files can be had all the same
		git-checkpoint show "$id" >"$T/out"
		git-checkpoint restore -q --yes "$id" 2>"$T/err" ||
			fail "$what: $(cat "$T/err")"
		expect_eq 'in the worktree' "$(cat a)"
		# and the next save is sound
		echo "$what" >b
		git-checkpoint save -q
		git-checkpoint verify -q @
		rm -rf "$store" a b d
	done
}

# The next checkpoint would have shared what is lost.
test_what_is_lost_is_stored_again() {
	make_project
	echo 'only staged' >a
	git add a
	blob=$(git rev-parse :a)
	echo 'in the worktree' >a
	git-checkpoint save -q
	settle
	git-checkpoint save -q
	store=$(store_dir)
	forget "$blob"
	echo more >b
	git-checkpoint save -q
	git-checkpoint verify -q @
	git-checkpoint show --staged @ >"$T/out"
	expect_grep '^+only staged$' "$T/out"
}

test_a_moved_folder_takes_it_along() {
	mkdir here
	cd here
	make_staged
	cd ..
	mv here there
	cd there
	git-checkpoint relink -q ../here
	still_there
	git-checkpoint save >"$T/out"
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
}

test_it_is_salvaged() {
	make_staged
	rm "$store/checkpoint/lock"
	mkdir "$store/checkpoint/lock"
	git-checkpoint doctor --fix >"$T/out" 2>&1 || :
	still_there
}

# The index cannot be read.
test_a_checkpoint_without_it() {
	make_project
	printf 'DIRC\0\0\0\2\377\377\377\377garbage garbage garbage' >.git/index
	git-checkpoint save -q 2>/dev/null
	rm .git/index
	git reset -q
	git-checkpoint verify -q @
	git-checkpoint show @ >"$T/out"
	expect_no_grep '^Index' "$T/out"
	echo more >b
	git-checkpoint restore -q --yes @
	git-checkpoint doctor >/dev/null
	git-checkpoint list >/dev/null
}

run_tests
