#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder that was moved adopts its checkpoints.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"

STEP=${STEP:-12}

# new_folder <dir> [git]: two checkpoints, and something that was changed since
new_folder() {
	mkdir -p "$1/sub"
	(
		cd "$1"
		test -z "${2:-}" || git init -q
		echo one >file
		echo below >sub/file
		chmod 600 sub/file
		test -z "${2:-}" || {
			git add file
			git commit -q -m one
		}
		git-checkpoint save -q -m one
		echo two >file
		echo new >untracked
		git-checkpoint save -q -m two
		fingerprint . >"$T/two"
		git-checkpoint list --json | jq '.checkpoints | map(.id)' >"$T/ids"
		echo three >file
		rm untracked
	)
}

# adopted: the checkpoints are those of the current folder, and good for all that they were
adopted() {
	git-checkpoint list --json >"$T/list.json" 2>"$T/err"
	test ! -s "$T/err" || fail "list: $(cat "$T/err")"
	jq '.checkpoints | map(.id)' "$T/list.json" >"$T/ids.now"
	expect_same "$T/ids" "$T/ids.now"
	git-checkpoint verify -q --all
	git-checkpoint doctor >"$T/out" || fail "doctor: $(cat "$T/out")"
	store=$(store_dir)
	git --git-dir="$store" fsck --strict --no-dangling
	expect_eq "$PWD" "$(cat "$store/checkpoint/worktree")"
	expect_eq "$PWD" "$(git --git-dir="$store" config core.worktree)"
	expect_eq "# Checkpoints of $PWD" "$(head -n 1 "$store/checkpoint-manifest.md")"
	expect_grep '"action":"relink"' "$store/checkpoint/log"
	git-checkpoint status >"$T/out" 2>"$T/err"
	test ! -s "$T/err" || fail "status: $(cat "$T/err")"
	git-checkpoint stores --json >"$T/out"
	expect_eq "$(basename "$store") present" \
		"$(jq -r --arg p "$PWD" '.stores[] | select(.path == $p and .state != "set-aside") |
			"\(.key) \(.state)"' "$T/out")"
	jq -e 'all(.stores[]; .problem == null)' "$T/out" >/dev/null || fail "stores: $(cat "$T/out")"
	expect_eq '' "$(find "$(checkpoint_home)" -name '*tmp_ckpt_*')" temporaries
}

# works: back to what it was, forth again, and a new checkpoint
works() {
	git-checkpoint restore -q -y @
	fingerprint . >"$T/now"
	expect_same "$T/two" "$T/now"
	git-checkpoint undo -q -y
	expect_eq three "$(cat file)"
	echo four >file
	git-checkpoint save -q
	git-checkpoint diff --quiet
}

test_a_project_that_was_moved() {
	new_folder a git
	old=$PWD/a
	was=$(store_dir a)
	mv a b
	cd b
	before=$(fingerprint_raw .)
	git-checkpoint relink "$old" >"$T/out"
	expect_eq "Adopted 2 checkpoints of '$old'; they are those of '$PWD' now" "$(cat "$T/out")"
	expect_eq "$before" "$(fingerprint_raw .)"
	expect_missing "$was"
	adopted
	works
}

# The manifest, which is written anew, may be all that knows of it.
test_a_lost_ref_is_not_forgotten() {
	new_folder a
	lost=$(find "$(store_dir a)/refs/checkpoints" -type f | head -n 1)
	rm "$lost"
	mv a b
	cd b
	git-checkpoint relink ../a
	git-checkpoint doctor --fix >"$T/out"
	expect_grep "checkpoint '${lost##*/}' has lost its ref; it was made anew" "$T/out"
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
	expect_grep "^fatal: no checkpoints of '$PWD/a' are kept; 'git checkpoint stores' lists all" "$T/err"
	expect_exit 128 git-checkpoint relink 0123456789abcdef 2>"$T/err"
	expect_grep "^fatal: no checkpoints of '0123456789abcdef'" "$T/err"
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
	cp -a "$XDG_STATE_HOME" "$T/kept"
	cd b
	for command in list save stores; do
		rm -rf "$XDG_STATE_HOME"
		cp -a "$T/kept" "$XDG_STATE_HOME"
		git-checkpoint $command >"$T/out" 2>&1
		eval "$(told_command "$T/out") --force" >"$T/out"
		expect_grep "^Adopted 2 checkpoints of '${PWD%/b}/it's \$HOME & a b'" "$T/out"
	done
	# so in what is refused
	cd ..
	rm -rf "$XDG_STATE_HOME"
	cp -a "$T/kept" "$XDG_STATE_HOME"
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
	expect_grep "^error: no checkpoints of '../a' are kept, and '$PWD' has 2 of its own already; nothing was adopted$" "$T/err"
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
	expect_exit 5 git-checkpoint -C "$1" relink --json "$2" >"$T/out" 2>"$T/err"
	expect_eq 5 "$(json .error.code "$T/out")"
}

test_a_folder_with_checkpoints_of_its_own() {
	new_folder a git
	mv a b
	git-checkpoint -C b save -q
	refused b "$PWD/a"
	expect_grep "'$PWD/b' has 1 checkpoint of its own already; nothing was adopted; to merge both here: git checkpoint relink --force $PWD/a$" "$T/err"
	# what --force would do beside that is said as well
	mkdir a
	rm "$(store_dir a)/checkpoint/identity"
	refused b "$PWD/a"
	expect_grep "'$PWD/b' has 1 checkpoint of its own already, and '$PWD/a' is still there; nothing" "$T/err"
}

test_a_copy() {
	new_folder a git
	cp -a a b
	refused b "$PWD/a"
	expect_grep "'$PWD/a' is still there" "$T/err"
	# also if nothing is known of the folder
	rm "$(store_dir a)/checkpoint/identity"
	refused b "$PWD/a"
	cd b
	git-checkpoint relink --force ../a
	adopted
	works
	# the other one begins anew
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
	expect_grep "^warning: '$PWD' holds another project than the one that the checkpoints are of$" "$T/err"
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

# An empty store is no obstacle, but nothing is deleted.
test_an_empty_store_is_replaced() {
	new_folder a git
	mv a b
	git-checkpoint -C b save -q
	rm "$(store_dir b)"/refs/checkpoints/*
	echo 'maxCount = 3' >"$(store_dir b)/checkpoint/config"
	cd b
	git-checkpoint relink ../a
	adopted
	aside=$(echo "$(store_dir)".replaced-*)
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
	# until it has the store open and waits
	until find "/proc/$pid/fd" ! -name 9 -lname '*/checkpoint/lock' 2>/dev/null | grep -q .; do
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

# ---- merged -------------------------------------------------------------------------

# described: ids, commits, state hashes and pins of what is listed, oldest first
described() {
	git-checkpoint list --json | jq -r '.checkpoints | reverse[] |
		"\(.id) \(.commit) \(.hash) \(.pinned)"'
}

# both [git]: the folder b, moved from a with two checkpoints, has two of its own, one of them
# pinned, and a restore; what should come of that is in $T/all
both() {
	new_folder a "${1:-}"
	(cd a && described) >"$T/described"
	mv a b
	cd b
	# ids of the same second are in no order
	sleep 1
	echo four >file
	git-checkpoint save -q -m four 2>/dev/null
	git-checkpoint pin -q @
	echo five >file
	git-checkpoint restore -q -y @
	described | cat "$T/described" - | sort >"$T/all"
	expect_eq 4 "$(grep -c . "$T/all")"
	jq -R -s 'split("\n") | map(select(. != "") | split(" ")[0]) | reverse' "$T/all" >"$T/ids"
}

# merged: all of both is here, as it was
merged() {
	adopted
	described >"$T/now"
	expect_same "$T/all" "$T/now"
	# nothing that is set aside is waiting
	expect_eq '' "$(find "$(checkpoint_home)" -name '*.broken-*')"
}

# merged_works: undo goes back through the restores of this folder, and a restore to those of both
merged_works() {
	git-checkpoint undo -q -y
	expect_eq five "$(cat file)"
	git-checkpoint restore -q -y "$(sed -n '2s/ .*//p' "$T/all")"
	fingerprint . >"$T/now"
	expect_same "$T/two" "$T/now"
	git-checkpoint undo -q -y
	expect_eq five "$(cat file)"
}

test_merged() {
	both git
	own=$(store_dir)
	fingerprint "$own/refs" >"$T/own"
	before=$(fingerprint_raw .)
	git-checkpoint relink --force --json ../a >"$T/out"
	expect_eq '2 2 0' "$(json '"\(.checkpoints) \(.merged) \(.warnings | length)"' "$T/out")"
	expect_eq "$before" "$(fingerprint_raw .)"
	merged
	expect_eq "$(tail -n 1 "$T/all" | cut -d' ' -f2)" \
		"$(git --git-dir="$(store_dir)" rev-parse refs/heads/latest)"
	# the other store is still there
	fingerprint "$own".salvaged-*/refs >"$T/now"
	expect_same "$T/own" "$T/now"
	merged_works
	git-checkpoint save -q -m six
	git-checkpoint gc -q
	git-checkpoint verify -q --all
	expect_exit 5 git-checkpoint relink --force ../a 2>"$T/err"
}

test_merged_from_a_copy() {
	new_folder a
	cp -a a b
	sleep 1
	(cd b && echo other >file && git-checkpoint save -q -m other)
	(cd a && described) >"$T/all"
	cd b
	described >>"$T/all"
	jq -R -s 'split("\n") | map(select(. != "") | split(" ")[0]) | reverse' "$T/all" >"$T/ids"
	git-checkpoint relink -q --force ../a
	merged
}

test_settings_are_merged() {
	both
	echo 'maxCount = 7' >"$(store_dir)/checkpoint/config"
	git-checkpoint relink -q --force ../a
	expect_eq 'maxCount = 7' "$(cat "$(store_dir)/checkpoint/config")"
}

test_not_merged_with_an_interrupted_restore() {
	both
	cd ..
	for dir in b a; do
		echo '{"version"' >"$(checkpoint_home)/$(printf %s "$PWD/$dir" | sha256sum |
			cut -c1-16)/checkpoint/journal"
		before=$(fingerprint "$(checkpoint_home)")
		expect_exit 5 git-checkpoint -C b relink --force "$PWD/a" 2>"$T/err"
		expect_eq "$before" "$(fingerprint "$(checkpoint_home)")"
		expect_grep "^error: a restore of '$PWD/$dir' was interrupted; settle it first" "$T/err"
		rm "$(checkpoint_home)"/*/checkpoint/journal
	done
	cd b
	git-checkpoint relink -q --force ../a
	merged
}

# One of this folder's is damaged: said, and the others are merged.
test_merged_without_a_damaged_one() {
	both
	gone=$(sed -n '3s/ .*//p' "$T/all")
	echo 0123456789012345678901234567890123456789 >"$(store_dir)/refs/checkpoints/$gone"
	rm "$(store_dir)/refs/pinned/$gone"
	for pack in "$(store_dir)"/objects/pack/*.idx; do
		if git show-index <"$pack" | grep -q "$(sed -n '3s/^[^ ]* \([^ ]*\).*/\1/p' "$T/all")"; then
			rm -f "$pack" "${pack%.idx}.pack"
		fi
	done
	expect_exit 3 git-checkpoint relink --force ../a >"$T/out" 2>"$T/err"
	expect_grep "^warning: checkpoint '$gone' of .* cannot be brought back" "$T/err"
	sed -n 1,2p "$T/all" >"$T/two.all"
	described | head -n 2 >"$T/now"
	expect_same "$T/two.all" "$T/now"
	git-checkpoint verify -q --all
}

# all_kept: each checkpoint is in one of the stores, set aside or not
all_kept() {
	cut -d' ' -f1 "$T/all" >"$T/wanted"
	find "$(checkpoint_home)" -path '*/refs/checkpoints/chk_*' | sed 's,.*/,,' | sort -u >"$T/found"
	expect_same "$T/wanted" "$T/found"
}

# merge_again <what>: the same command goes on, and doctor mends what is left if it was done
merge_again() {
	status=0
	git-checkpoint relink -q --force ../a 2>"$T/err" || status=$?
	test $status = 0 || test $status = 5 || fail "$1: then $status: $(cat "$T/err")"
	test $status = 0 || git-checkpoint doctor -q --fix
	(merged) || fail "$1"
}

test_killed_while_merging() {
	both
	cp -a "$XDG_STATE_HOME" "$T/kept"
	with_faults $CHANGES 0 kill git-checkpoint relink -q --force ../a
	total=$(cat "$T/faults")
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		rm -rf "$XDG_STATE_HOME"
		cp -a "$T/kept" "$XDG_STATE_HOME"
		expect_exit 137 with_faults $CHANGES "$at" kill git-checkpoint relink -q --force ../a
		all_kept
		merge_again "killed at $at of $total"
		at=$((at + STEP))
	done
	merged_works
}

# Killed between the two renames, the folder has no store: whatever is done then, nothing is lost.
test_killed_while_merging_and_gone_on() {
	both
	with_faults rename 2 kill git-checkpoint relink -q --force ../a && fail 'not killed'
	expect_missing "$(store_dir)"/HEAD
	cp -a "$XDG_STATE_HOME" "$T/kept"
	# as doctor says
	expect_exit 1 git-checkpoint doctor >"$T/out" 2>"$T/err"
	expect_grep '^problem: 2 checkpoints of .* can be brought back' "$T/out"
	git-checkpoint doctor -q --fix 2>"$T/err"
	expect_eq 2 "$(described | grep -c .)"
	git-checkpoint relink -q --force ../a
	merged
	# without --force there is nothing in the way
	rm -rf "$XDG_STATE_HOME"
	cp -a "$T/kept" "$XDG_STATE_HOME"
	git-checkpoint relink -q ../a
	merged
	# with a save in between
	rm -rf "$XDG_STATE_HOME"
	cp -a "$T/kept" "$XDG_STATE_HOME"
	sleep 1
	echo six >file
	git-checkpoint save -q -m six 2>"$T/err"
	described >>"$T/all"
	jq -R -s 'split("\n") | map(select(. != "") | split(" ")[0]) | reverse' "$T/all" >"$T/ids"
	git-checkpoint relink -q --force ../a
	merged
}

test_a_full_disk_while_merging() {
	both
	calls=write,openat-create,rename
	cp -a "$XDG_STATE_HOME" "$T/kept"
	FAULT_PATH=$XDG_STATE_HOME
	with_faults $calls 0 ENOSPC git-checkpoint relink -q --force ../a
	total=$(cat "$T/faults")
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		rm -rf "$XDG_STATE_HOME"
		cp -a "$T/kept" "$XDG_STATE_HOME"
		status=0
		FAULT_STICKY=1 with_faults $calls "$at" ENOSPC \
			git-checkpoint relink --force ../a >"$T/out" 2>"$T/err" || status=$?
		case $status in
		0 | 128) ;;
		3) expect_grep '^warning: .* could not all be merged' "$T/err" ;;
		*) fail "at $at: $status: $(cat "$T/err")" ;;
		esac
		all_kept
		merge_again "at $at of $total"
		at=$((at + STEP))
	done
}

# ---- killed -------------------------------------------------------------------------

# What is done now, once: with <old>, in the current folder.
killed_everywhere() {
	rm -rf "$T/kept"
	cp -a "$XDG_STATE_HOME" "$T/kept"
	with_faults $CHANGES 0 kill git-checkpoint relink -q "$1"
	total=$(cat "$T/faults")
	test "$total" -ge 10 || fail "only $total calls"
	half=0
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		rm -rf "$XDG_STATE_HOME"
		cp -a "$T/kept" "$XDG_STATE_HOME"
		expect_exit 137 with_faults $CHANGES "$at" kill git-checkpoint relink -q "$1"
		# nothing is lost, whatever is asked meanwhile
		git-checkpoint stores --json >"$T/out"
		expect_eq 2 "$(jq '[.stores[].checkpoints] | max' "$T/out")" "killed at $at: checkpoints"
		if ! git-checkpoint list >"$T/out" 2>"$T/err"; then
			half=$((half + 1))
			expect_grep "'git checkpoint relink [0-9a-f]\{16\}' adopts it$" "$T/err"
			# nobody begins anew over it
			expect_exit 128 git-checkpoint save -q 2>"$T/err"
		fi
		status=0
		git-checkpoint relink -q "$1" 2>"$T/err" || status=$?
		test $status = 0 || test $status = 5 || fail "killed at $at: then $status: $(cat "$T/err")"
		# it was done; whoever locks the store next would remove what is left
		test $status = 0 || git-checkpoint doctor -q --fix
		adopted || fail "killed at $at"
		at=$((at + STEP))
	done
	# strides may pass over the few places where it is
	test $STEP -gt 1 || test $half -ge 1 || fail "never half done"
	works
}

test_killed_anywhere() {
	new_folder a git
	mv a b
	cd b
	killed_everywhere "${PWD%/b}/a"
}

test_killed_anywhere_with_an_empty_store_in_the_way() {
	new_folder a
	mv a b
	git-checkpoint -C b save -q
	rm "$(store_dir b)"/refs/checkpoints/*
	rm -r "$(store_dir b)"/objects/pack/*
	cd b
	killed_everywhere ../a
}

# A path that is the beginning of the other looks like a torn one.
test_killed_anywhere_when_moved_below_itself() {
	new_folder a
	mv a tmp
	mkdir a
	mv tmp a/b
	cd a/b
	killed_everywhere "${PWD%/b}"
}

# Killed, and then moved on: the path that it says it belongs to is the one to name, or the key.
test_killed_and_moved_on() {
	new_folder a
	mv a b
	cd b
	with_faults rename 2 kill git-checkpoint relink ../a && fail 'not killed'
	expect_exit 128 git-checkpoint list 2>"$T/err"
	cd ..
	mv b c
	cd c
	git-checkpoint relink ../a
	adopted
	works
}

test_a_full_disk() {
	new_folder a git
	mv a b
	cd b
	cp -a "$XDG_STATE_HOME" "$T/kept"
	FAULT_PATH=$XDG_STATE_HOME
	with_faults write,openat-create,rename 0 ENOSPC git-checkpoint relink -q ../a
	total=$(cat "$T/faults")
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		rm -rf "$XDG_STATE_HOME"
		cp -a "$T/kept" "$XDG_STATE_HOME"
		status=0
		FAULT_STICKY=1 with_faults write,openat-create,rename "$at" ENOSPC \
			git-checkpoint relink -q ../a 2>"$T/err" || status=$?
		test $status = 0 || test $status = 128 || fail "at $at: $status: $(cat "$T/err")"
		status=0
		git-checkpoint relink -q ../a 2>"$T/err" || status=$?
		test $status = 0 || test $status = 5 || fail "at $at: then $status: $(cat "$T/err")"
		adopted || fail "at $at"
		at=$((at + STEP))
	done
	works
}

run_tests
