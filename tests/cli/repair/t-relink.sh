#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder that was moved adopts its checkpoints, or is refused.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/private.sh"
. "$LIB_DIR/relink.sh"
. "$LIB_DIR/keep.sh"

test_a_project_that_was_moved() {
	new_folder a git
	old=$PWD/a
	was=$(store_dir a)
	mv a b
	cd b
	before=$(fingerprint_raw .)
	git-checkpoint relink "$old" >"$T/out"
	expect_eq "Adopted 2 checkpoints of '$old'; they now belong to '$PWD'" "$(cat "$T/out")"
	expect_eq "$before" "$(fingerprint_raw .)"
	expect_missing "$was"
	adopted
	works
}

# The manifest, which is rewritten, may be the only file that knows it.
test_a_lost_ref_is_not_forgotten() {
	new_folder a
	lost=$(find "$(store_dir a)/refs/checkpoints" -type f | head -n 1)
	rm "$lost"
	mv a b
	cd b
	git-checkpoint relink ../a
	git-checkpoint doctor --fix >"$T/out"
	expect_grep "checkpoint '${lost##*/}' has lost its ref; it was recreated" "$T/out"
	git-checkpoint verify -q "${lost##*/}"
}

test_a_folder_outside_of_git() {
	new_folder a
	mv a b
	cd b
	git-checkpoint relink ../a/
	adopted
	works
}

test_json() {
	new_folder a
	mv a b
	cd b
	git-checkpoint relink --json "${PWD%/b}/a" >"$T/out"
	expect_eq 'relinked from to key checkpoints' \
		"$(json 'keys_unsorted | .[:5] | join(" ")' "$T/out")"
	expect_eq "true ${PWD%/b}/a $PWD $(basename "$(store_dir)") 2" \
		"$(json '"\(.relinked) \(.from) \(.to) \(.key) \(.checkpoints)"' "$T/out")"
	expect_exit 128 git-checkpoint -C .. relink --json nothing >"$T/out" 2>"$T/err"
	expect_eq 128 "$(json .error.code "$T/out")"
}

test_by_key() {
	new_folder a git
	key=$(basename "$(store_dir a)")
	mv a b
	cd b
	git-checkpoint relink "$key"
	adopted
	works
}

test_usage() {
	expect_exit 129 git-checkpoint relink 2>"$T/err"
	expect_exit 129 git-checkpoint relink a b 2>"$T/err"
	expect_exit 129 git-checkpoint relink '' 2>"$T/err"
	expect_missing "$(checkpoint_home)"
	expect_exit 128 git-checkpoint relink a 2>"$T/err"
	expect_grep "^fatal: there are no checkpoints of '$PWD/a'; 'git checkpoint stores' lists all" "$T/err"
	expect_exit 128 git-checkpoint relink 0123456789abcdef 2>"$T/err"
	expect_grep "^fatal: there are no checkpoints of '0123456789abcdef'" "$T/err"
	expect_missing "$(checkpoint_home)"
}

test_from_below() {
	new_folder a git
	mv a b
	(cd b/sub && git-checkpoint relink ../../a)
	cd b
	adopted
	cd ..
	# outside of git as well: that it is the very folder tells where it begins
	new_folder c
	mv c d
	(cd d/sub && git-checkpoint relink "${PWD%/d/sub}/c")
	cd d
	adopted
	works
}

test_the_old_path_through_links() {
	mkdir real
	ln -s real link
	new_folder link/a
	mv real/a b
	cd b
	git-checkpoint relink ../link/a
	adopted
	cd ..
	# a link is how people keep the old path working
	mv b c
	ln -s c b
	cd c
	git-checkpoint relink ../b
	adopted
	works
}

test_there_and_back_again() {
	new_folder a git
	mv a b
	git-checkpoint -C b relink ../a
	mv b a
	git-checkpoint -C a relink ../b
	mv a c
	(cd c && git-checkpoint relink ../a)
	cd c
	adopted
	expect_eq 3 "$(git-checkpoint log --json | jq '[.entries[] | select(.action == "relink")] | length')"
	works
}

# told_command <file>: what is told to be typed, at the end of the sentence
told_command() {
	sed -n 's/.*: \(git checkpoint relink .*\)$/\1/p' "$1"
}

# Quoted for the shell, once: it can be copied and pasted.
test_a_path_that_needs_quotes() {
	old="it's \$HOME & a b"
	new_folder "$old"
	mv "$old" b
	keep_stores
	cd b
	for command in list save stores; do
		stores_again
		git-checkpoint $command >"$T/out" 2>&1
		eval "$(told_command "$T/out") --force" >"$T/out"
		expect_grep "^Adopted 2 checkpoints of '${PWD%/b}/it's \$HOME & a b'" "$T/out"
	done
	# so in what is refused
	cd ..
	stores_again
	cd b
	git-checkpoint save -q
	expect_exit 5 git-checkpoint relink "../$old" 2>"$T/err"
	eval "$(told_command "$T/err")" >"$T/out"
	expect_grep '^Merged 1 checkpoint' "$T/out"
}

test_odd_paths() {
	odd=$(printf 'new\nline "and" \\ it'\''s \001|')
	bad=$(printf 'bad\377utf8')
	new_folder "$odd"
	mv "$odd" "$bad"
	cd "$bad"
	git-checkpoint list 2>"$T/err" >"$T/out"
	expect_grep "; to adopt them: git checkpoint relink [0-9a-f]\{16\}$" "$T/err"
	eval "$(told_command "$T/err")" >"$T/out"
	expect_eq 1 "$(wc -l <"$T/out")"
	expect_eq "$PWD" "$(cat "$(store_dir)/checkpoint/worktree")"
	expect_eq "$PWD" "$(git --git-dir="$(store_dir)" config core.worktree)"
	works
	cd ..
	mv "$bad" "$odd"
	git-checkpoint -C "$odd" relink --json "$PWD/$bad" >"$T/out"
	expect_eq "\"$PWD/bad\\377utf8\"" "$(json .from "$T/out")"
	expect_eq "$PWD/$odd" "$(json .to "$T/out")"
}

# What the stat cache knows stays true: no file is read again.
test_nothing_is_read_again() {
	new_folder a
	# what was written a moment ago is read again in any case
	sleep 1
	git-checkpoint -C a save -q
	mv a b
	cd b
	git-checkpoint relink ../a
	FAULT_PATH=$PWD/ with_faults read,pread 0 EIO git-checkpoint save --json >"$T/out"
	jq -e '.checkpoint_created == false' "$T/out"
	expect_eq 0 "$(cat "$T/faults")" 'reads of files'
	touch file
	FAULT_PATH=$PWD/ with_faults read,pread 0 EIO git-checkpoint save -q
	test "$(cat "$T/faults")" -gt 0 || fail 'reads are not counted'
}

test_settings_and_patterns_move_along() {
	new_folder a
	echo 'maxCount = 7' >"$(store_dir a)/checkpoint/config"
	echo '*.tmp' >>"$(store_dir a)/info/exclude"
	mv a b
	cd b
	git-checkpoint relink ../a
	expect_eq 'maxCount = 7' "$(cat "$(store_dir)/checkpoint/config")"
	expect_grep '^\*\.tmp$' "$(store_dir)/info/exclude"
}

test_an_interrupted_restore_moves_along() {
	new_folder a
	cd a
	calls=rename,unlink,mkdir
	FAULT_PATH=$PWD
	at=1
	until test -e "$(store_dir)/checkpoint/journal"; do
		with_faults $calls $at kill git-checkpoint restore -q -y @ || :
		at=$((at + 1))
		test $at -lt 50 || fail 'no restore was interrupted'
	done
	FAULT_PATH=
	cd ..
	mv a b
	cd b
	git-checkpoint relink ../a
	git-checkpoint restore -q --continue
	fingerprint . >"$T/now"
	expect_same "$T/two" "$T/now"
	expect_missing "$(store_dir)/checkpoint/journal"
}

# ---- refused ------------------------------------------------------------------------

test_twice() {
	new_folder a
	mv a b
	cd b
	git-checkpoint relink ../a
	expect_exit 5 git-checkpoint relink ../a 2>"$T/err"
	expect_grep "^error: there are no checkpoints of '../a', and '$PWD' already has 2; nothing was adopted$" "$T/err"
	expect_exit 5 git-checkpoint relink "$(basename "$(store_dir)")" 2>"$T/err"
	expect_exit 5 git-checkpoint relink --force . 2>"$T/err"
	adopted
	works
}

# refused <dir> <old>: nothing is changed by it
refused() {
	before=$(fingerprint "$(checkpoint_home)")
	expect_exit 5 git-checkpoint -C "$1" relink "$2" 2>"$T/err"
	expect_eq "$before" "$(fingerprint "$(checkpoint_home)")"
	expect_exit 5 git-checkpoint -C "$1" relink --json "$2" >"$T/out" 2>"$T/said"
	expect_eq '' "$(cat "$T/said")"
	expect_eq 5 "$(json .error.code "$T/out")"
}

test_a_folder_with_checkpoints_of_its_own() {
	new_folder a git
	mv a b
	git-checkpoint -C b save -q
	refused b "$PWD/a"
	expect_grep "'$PWD/b' already has 1 checkpoint; nothing was adopted; to merge both here: git checkpoint relink --force $PWD/a$" "$T/err"
	# what --force would do beside that is said as well
	mkdir a
	(cd a && edit_state "del(.identity)")
	refused b "$PWD/a"
	expect_grep "'$PWD/b' already has 1 checkpoint, and '$PWD/a' still exists; nothing" "$T/err"
}

test_a_copy() {
	new_folder a git
	cp -a a b
	refused b "$PWD/a"
	expect_grep "'$PWD/a' still exists" "$T/err"
	# also if nothing is known of the folder
	(cd a && edit_state "del(.identity)")
	refused b "$PWD/a"
	cd b
	git-checkpoint relink --force ../a
	adopted
	works
	# the other one starts over
	cd ../a
	git-checkpoint save -q
	expect_eq 1 "$(git-checkpoint list --json | jq '.checkpoints | length')"
}

# Another folder at the old path has no claim to what was taken of this one.
test_the_old_path_is_taken() {
	new_folder a git
	mv a b
	mkdir a
	cd b
	git-checkpoint relink ../a
	adopted
	works
}

test_another_project() {
	new_folder a git
	rm -rf a
	git init -q b
	cd b
	echo x >file
	git add file
	git commit -q -m other
	git-checkpoint relink ../a 2>"$T/err"
	expect_grep "^warning: '$PWD' holds a different project from the one in the checkpoints$" "$T/err"
	# said; not again by the next save
	git-checkpoint save 2>"$T/err"
	test ! -s "$T/err"
}

test_no_place_for_it() {
	new_folder a
	rm -r a
	before=$(fingerprint "$(checkpoint_home)")
	expect_exit 5 git-checkpoint -C "$HOME" relink "$PWD/a" 2>"$T/err"
	expect_grep 'run this in the folder that was moved$' "$T/err"
	expect_exit 5 git-checkpoint -C / relink "$PWD/a" 2>"$T/err"
	expect_exit 128 git-checkpoint -C "$(checkpoint_home)" relink "$PWD/a" 2>"$T/err"
	git init -q --bare bare.git
	expect_exit 128 git-checkpoint -C bare.git relink "$PWD/a" 2>"$T/err"
	expect_eq "$before" "$(fingerprint "$(checkpoint_home)")"
}

# An empty store does not matter, but nothing is deleted.
test_an_empty_store_is_replaced() {
	new_folder a git
	mv a b
	git-checkpoint -C b save -q
	rm "$(store_dir b)"/refs/checkpoints/*
	echo 'maxCount = 3' >"$(store_dir b)/checkpoint/config"
	cd b
	git-checkpoint relink ../a
	adopted
	aside=$(echo "$(store_dir)".merged-*)
	expect_eq 'maxCount = 3' "$(cat "$aside/checkpoint/config")"
	expect_eq set-aside "$(git-checkpoint stores --json |
		jq -r ".stores[] | select(.key == \"$(basename "$aside")\") | .state")"
	works
}

test_waits_for_the_lock() {
	new_folder a
	was=$(store_dir a)
	mv a b
	cd b
	exec 9>>"$was/checkpoint/lock"
	flock 9
	GIT_CHECKPOINT_LOCK_TIMEOUT=0s expect_exit 75 git-checkpoint relink ../a 2>"$T/err"
	exec 9>&-
	git-checkpoint relink ../a
	adopted
}

# Whoever waited for a store that was adopted meanwhile must not save into it.
test_a_save_does_not_follow_the_store() {
	new_folder a
	cp -a a b
	was=$(store_dir a)
	exec 9>>"$was/checkpoint/lock"
	flock 9
	git-checkpoint -C a save -q -m late 2>"$T/err" 9>&- &
	pid=$!
	# until it has the store open and waits: it may also look at the lock for an instant before
	seen=0
	while test $seen -lt 8; do
		if find "/proc/$pid/fd" ! -name 9 -lname '*/checkpoint/lock' 2>/dev/null | grep -q .; then
			seen=$((seen + 1))
		else
			seen=0
		fi
		sleep 0.05
	done
	mv "$was" "$T/elsewhere"
	exec 9>&-
	status=0
	wait $pid || status=$?
	expect_eq 75 $status
	expect_grep 'was moved meanwhile; try again$' "$T/err"
	expect_eq 2 "$(find "$T/elsewhere/refs/checkpoints" -type f | wc -l)"
}

test_several_at_once() {
	new_folder a
	mv a b
	cd b
	for i in 1 2 3 4 5 6; do
		(
			status=0
			git-checkpoint relink ../a >/dev/null 2>&1 || status=$?
			echo $status >"$T/status.$i"
		) &
	done
	wait
	expect_eq 1 "$(cat "$T"/status.* | grep -c '^0$')" 'successes'
	adopted
	works
}

test_a_store_of_another_version_is_left_alone() {
	new_folder a
	mv a b
	cd b
	for version in 1 'git-checkpoint 2'; do
		echo "$version" >"$(echo "$(checkpoint_home)"/*/checkpoint/version)"
		expect_exit 128 git-checkpoint relink ../a 2>"$T/err"
		expect_exit 128 git-checkpoint relink --force ../a 2>"$T/err"
	done
	expect_grep "has format '2'" "$T/err"
	echo 'git-checkpoint 1' >"$(echo "$(checkpoint_home)"/*/checkpoint/version)"
	git-checkpoint relink ../a
	adopted
	works
}

run_tests
