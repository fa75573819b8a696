#!/bin/sh
# SPDX-License-Identifier: MIT
# Directories of restores that were forgotten or belong to others, and damage that follows an interruption.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/staging.sh"

id='' target='' # see staging.sh

# ---- those of others ----

# foreign: what is in $staging stays, in no checkpoint, whatever is done
foreign() {
	cp -a "$staging" "$T/before"
	save
	captured "$id" >"$T/captured"
	expect_no_grep "$staging" "$T/captured"
	expect_save_warned 1 "^'$staging' belongs to a restore with the checkpoints of '$T/work'"
	echo again >>a
	save
	expect_save_warned 1 "^'$staging' belongs to a restore"
	echo 2 >later
	restore "$id"
	expect_warned_like "^'$staging' belongs to a restore"
	expect_missing later
	restoring 0 undo -y
	git-checkpoint doctor >"$T/out" 2>&1 && fail 'doctor says nothing'
	expect_grep "'$staging' belongs to a restore of '$T/work'" "$T/out"
	git-checkpoint doctor --fix >"$T/out" 2>&1 || :
	expect_grep "'$staging' belongs to a restore of '$T/work'" "$T/out"
	diff -r --no-dereference "$T/before" "$staging"
}

test_a_folder_that_was_moved_keeps_what_was_displaced() {
	two_states
	interrupt
	cd "$T"
	mv work moved
	cd moved
	foreign
	expect_grep 'git checkpoint relink' "$T/out"
}

test_another_store_keeps_off() {
	two_states
	interrupt
	# what another store saw of a half-done restore
	GIT_CHECKPOINT_HOME=$T/other
	export GIT_CHECKPOINT_HOME
	cp -a "$staging" "$T/staging"
	save
	expect_save_warned 1 "^'$staging' belongs to a restore"
	echo 2 >other
	restore "$id"
	git-checkpoint doctor --fix >"$T/out" 2>&1 || :
	expect_grep 'finish that restore' "$T/out"
	diff -r --no-dereference "$T/staging" "$staging"
	unset GIT_CHECKPOINT_HOME
	restoring 0 restore --abort
	expect_noted before
	expect_missing "$staging"
}

# ---- forgotten ones ----

# stray: one of a restore that is done is there again, as after a power cut; $staging is its name
stray() {
	two_states
	# what is in it when all is displaced: before the first removal after the journal was begun
	cat >"$T/keep.sh" <<-'END'
		test ! -e "$T/stray" || exit 0
		ls "$T"/state/git-checkpoint/*/checkpoint/journal >/dev/null 2>&1 || exit 0
		cp -a "$T"/work/.git-checkpoint-restore-* "$T/stray"
	END
	FAULT_STICKY=1 FAULT_RUN="sh $T/keep.sh" FAULT_PATH=$T/work with_faults unlink 1 run \
		git-checkpoint restore -q -y "$target"
	expect_noted target
	no_litter
	staging=$(sed -n 's/^name //p' "$T/stray/git-checkpoint-staging")
	test "$(ls "$T/stray" | wc -l)" -gt 2 || fail 'nothing was displaced'
	cp -a "$T/stray" "$staging"
}

test_a_stray_one_is_named_by_status_and_removed_by_save() {
	stray
	git-checkpoint status >"$T/out" 2>&1
	expect_grep "$staging" "$T/out"
	git-checkpoint status --json >"$T/status.json"
	expect_eq 1 "$(json '[.warnings[] | select(contains("'"$staging"'"))] | length' "$T/status.json")"
	git-checkpoint diff --quiet "$target" || fail 'it counts as a change'
	expect_exit 1 git-checkpoint doctor >"$T/out" 2>&1
	expect_grep "$staging" "$T/out"
	expect_exists "$staging"
	git-checkpoint save -q
	expect_missing "$staging" rescued-*
	expect_noted target
	git-checkpoint status >"$T/out" 2>&1
	expect_no_grep git-checkpoint-restore "$T/out"
}

test_a_stray_one_is_removed_by_doctor_and_restore() {
	stray
	git-checkpoint doctor --fix >"$T/out" 2>&1
	expect_missing "$staging" rescued-*
	cp -a "$T/stray" "$staging"
	restoring 0 undo -y
	expect_missing "$staging" rescued-*
	expect_noted before
}

test_a_stray_one_with_what_no_checkpoint_has() {
	stray
	echo precious >"$staging/7"
	save
	expect_missing "$staging"
	expect_eq precious "$(cat "rescued-${staging##*-}/7")"
	captured "$id" >"$T/captured"
	expect_grep "^rescued-${staging##*-}/7" "$T/captured"
	expect_save_warned 1 '^Kept: rescued-'
}

test_a_stray_one_without_its_marker_is_the_users() {
	stray
	rm "$staging/git-checkpoint-staging"
	save
	expect_exists "$staging"
	captured "$id" >"$T/captured"
	expect_grep "^$staging/" "$T/captured"
}

# A restore of another store with the same paths, as from within a container, is left alone.
test_a_stray_one_that_is_in_use_stays() {
	two_states
	cat >"$T/other.sh" <<-'END'
		unset LD_PRELOAD
		mv "$XDG_STATE_HOME" "$XDG_STATE_HOME.kept"
		git-checkpoint save -q
		ls -d "$T"/work/.git-checkpoint-restore-*/git-checkpoint-staging >"$T/there"
		rm -rf "$XDG_STATE_HOME"
		mv "$XDG_STATE_HOME.kept" "$XDG_STATE_HOME"
	END
	FAULT_RUN="sh $T/other.sh" FAULT_PATH=$T/work with_faults rename 2 run \
		git-checkpoint restore -q -y "$target"
	expect_noted target
	test "$(wc -l <"$T/there")" = 1 || fail 'it was settled under the eyes of its restore'
	no_litter
}

# Its removal is on the disk before the journal goes.
test_its_removal_is_synced() {
	two_states
	cat >"$T/look.sh" <<-'END'
		ls -d "$T"/work/.git-checkpoint-restore-* >/dev/null 2>&1 && printf 'staging '
		ls "$T"/state/git-checkpoint/*/checkpoint/journal >/dev/null 2>&1 && printf 'journal'
		echo
	END
	FAULT_STICKY=1 FAULT_RUN="sh $T/look.sh >>$T/syncs" FAULT_PATH=$T/work with_faults fsync 1 run \
		git-checkpoint restore -q -y "$target"
	expect_grep '^journal$' "$T/syncs"
}

# The store was lost, and with it all that is displaced: a new one keeps it.
test_one_of_a_store_that_was_lost() {
	two_states
	interrupt
	cp -a "$staging" "$T/staging"
	rm -r "$(checkpoint_home)"
	echo 1 >>a
	save
	expect_missing "$staging"
	rescued=rescued-${staging##*-}
	rm "$T/staging/git-checkpoint-staging"
	diff -r --no-dereference "$T/staging" "$rescued"
	captured "$id" >"$T/captured"
	expect_grep "^$rescued/" "$T/captured"
	git-checkpoint doctor -q
}

# ---- damage after an interruption ----

# spoil_safety [<path>]: a file in the safety checkpoint of the restore that was interrupted, or
# what it begins with
spoil_safety() {
	safety=$(jq -r .safety "$(store_dir)/checkpoint/journal")
	damage "$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$safety${1:+:$1}")" 5
}

test_what_was_displaced_is_kept_if_its_copy_is_damaged() {
	two_states
	interrupt
	number=$(grep -l 'new a' "$staging"/[0-9]*)
	spoil_safety a
	restoring 3 restore --continue
	rescued=rescued-${staging##*-}
	expect_warned_like "^Kept: $rescued "
	expect_eq 'new a' "$(cat "$rescued/${number##*/}")"
	expect_missing "$staging"
}

test_a_safety_checkpoint_that_is_lost_is_no_dead_end() {
	two_states
	interrupt
	cp -a "$staging" "$T/staging"
	spoil_safety
	for way in --continue --abort; do
		untouched restoring 128 restore $way
		refused 'git checkpoint doctor --fix'
	done
	restoring 5 restore -y "$target"
	expect_exit 1 git-checkpoint doctor >"$T/out" 2>&1
	expect_grep '^problem: .* be neither continued nor aborted' "$T/out"
	expect_exists "$staging" "$(store_dir)/checkpoint/journal"
	expect_exit 1 git-checkpoint doctor --fix >"$T/out" 2>&1
	expect_grep '^fixed: .* be neither continued nor aborted' "$T/out"
	expect_missing "$staging" "$(store_dir)/checkpoint/journal"
	restore "$target"
	rm -rf rescued-*
	expect_noted target
	# it was taken off the list
	expect_exit 128 git-checkpoint show "$safety" 2>"$T/err"
	git-checkpoint doctor -q
}

test_an_interrupted_restore_that_can_be_settled_is_left_to_the_user() {
	two_states
	interrupt
	spoil_safety a
	rm a # or it would be mended with it
	git-checkpoint doctor --fix >"$T/out" 2>&1 || :
	expect_no_grep 'be neither continued' "$T/out"
	restoring 3 restore --continue
	rm -r rescued-*
	expect_noted target
}

# What the restore has nothing to do with need not be sound for it.
test_damage_elsewhere_does_not_end_an_interrupted_restore() {
	two_states
	interrupt -- a d
	spoil_safety d/x
	damage "$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$target:b")" 5
	rm -f d/x
	expect_exit 1 git-checkpoint doctor --fix >"$T/out" 2>&1
	expect_grep "^problem: checkpoint '$target' is damaged" "$T/out"
	expect_no_grep 'be neither continued' "$T/out"
	restoring 0 restore --continue
	expect_eq 'old a old d/x' "$(contents a d/x)"
	expect_missing b
}

run_tests
