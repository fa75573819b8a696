#!/bin/sh
# SPDX-License-Identifier: MIT
# The directory in which a restore prepares its files: what is one, whose it is, and that nothing
# of the user's is ever taken for one.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last
NAME=.git-checkpoint-restore-0123456789abcdef

# two_states: a checkpoint $target; some files in it are not there any more, others are changed
two_states() {
	mkdir d
	for file in a b d/x d/y; do
		echo "old $file" >$file
	done
	save
	target=$id
	note target
	rm b
	echo 'new a' >a
	echo 'new x' >d/x
	echo 'fresh' >fresh
	ln -s a link
	note before
}

# interrupt [-- <path>...]: begin to restore $target, and be killed when half of it is in place; $staging is the
# directory that is left
interrupt() {
	cp -a "$T/work" "$T/spare"
	cp -a "$(checkpoint_home)" "$T/spare.home"
	FAULT_PATH=$T/work with_faults rename 0 kill git-checkpoint restore -q -y "$target" "$@"
	renames=$(cat "$T/faults")
	cd "$T"
	rm -rf work "$(checkpoint_home)"
	mv spare work
	mv spare.home "$(checkpoint_home)"
	cd work
	FAULT_PATH=$T/work expect_exit 137 with_faults rename $((renames / 2 + 1)) kill \
		git-checkpoint restore -q -y "$target" "$@"
	staging=$(cat "$(store_dir)/checkpoint/staging")
	expect_exists "$staging/git-checkpoint-staging" "$(store_dir)/checkpoint/journal"
	ls -A "$staging" >"$T/displaced"
	test "$(wc -l <"$T/displaced")" -gt 1 || fail 'nothing was displaced'
}

captured() {
	git --git-dir="$(store_dir)" ls-tree -r -t --name-only "refs/checkpoints/$1"
}

expect_save_warned() {
	json '[.warnings[] | . + "\n"] | add // ""' "$T/save.json" >"$T/warnings"
	expect_eq "$1" "$(grep -c "$2" "$T/warnings" || :)" "warnings about $2"
}

# ---- paths of the user's ----

# own_paths: everything that can have such a name
own_paths() {
	mkdir "$NAME" "${NAME%f}e" "${NAME%f}d" .git-checkpoint-restore-mine
	echo precious >"$NAME/file"
	# without a name, or with that of another directory, a marker is none
	echo 'This directory was made by a restore of git-checkpoint.' >"${NAME%f}e/git-checkpoint-staging"
	printf 'This directory was made by a restore of git-checkpoint.\nname %s\n' "$NAME" \
		>"${NAME%f}d/git-checkpoint-staging"
	echo precious >.git-checkpoint-restore-mine/file
	echo precious >"${NAME%f}c"
	ln -s a "${NAME%f}b"
	mkdir "${NAME%f}a"
}

test_paths_of_the_user_with_such_names_are_saved_and_restored() {
	echo 1 >a
	own_paths
	note target
	save
	expect_eq 0 "$(jq '.warnings | length' "$T/save.json")" warnings
	first=$id
	expect_noted target
	echo 2 >a
	save
	expect_noted_but_a() {
		fingerprint . | grep -v ' a$' >"$T/fp.now"
		grep -v ' a$' "$T/fp.target" >"$T/fp.rest"
		expect_same "$T/fp.rest" "$T/fp.now"
	}
	expect_noted_but_a
	git-checkpoint doctor -q
	git-checkpoint doctor --fix -q
	expect_noted_but_a
	rm -r .git-checkpoint-restore-*
	restore "$first"
	expect_noted target
	restoring 0 undo -y
	expect_eq 2 "$(cat a)"
	expect_missing "$NAME" "${NAME%f}c"
	restoring 0 redo -y
	expect_noted target
}

test_tracked_paths_with_such_names() {
	git init -q
	own_paths
	git add -A
	git commit -qm one
	note target
	save
	captured "$id" >"$T/captured"
	expect_grep "^$NAME/file\$" "$T/captured"
	expect_grep "^${NAME%f}c\$" "$T/captured"
	expect_noted target
}

test_they_outlive_an_interrupted_restore() {
	own_paths
	two_states
	interrupt
	restoring 0 restore --abort
	expect_noted before
	expect_eq precious "$(cat "$NAME/file")"
	expect_eq precious "$(cat "${NAME%f}c")"
	expect_exists "${NAME%f}a" "${NAME%f}e/git-checkpoint-staging"
	expect_missing "$staging"
}

# ---- our own ----

test_nothing_of_one_is_ever_saved_and_nothing_is_left() {
	two_states
	calls=mkdir,openat-create,write,fsync,rename,unlink
	cp -a "$T/work" "$T/spare"
	cp -a "$(checkpoint_home)" "$T/spare.home"
	FAULT_PATH=.git-checkpoint-restore-
	with_faults $calls 0 kill git-checkpoint restore -q -y "$target"
	total=$(cat "$T/faults")
	test "$total" -ge 8 || fail "only $total calls"
	at=0
	empty=0
	while test $((at += 1)) -le "$total"; do
		cd "$T"
		rm -rf work "$(checkpoint_home)"
		cp -a spare work
		cp -a spare.home "$(checkpoint_home)"
		cd work
		expect_exit 137 with_faults $calls "$at" kill git-checkpoint restore -q -y "$target"
		for dir in .git-checkpoint-restore-*; do
			test ! -d "$dir" || test -n "$(ls -A "$dir")" || empty=$((empty + 1))
		done
		git-checkpoint status >"$T/out" 2>&1
		expect_no_grep 'git-checkpoint-restore' "$T/out"
		git-checkpoint doctor -q >"$T/out" 2>&1 || :
		if test -e "$(store_dir)/checkpoint/journal"; then
			restoring 0 restore --abort
			expect_noted before
		fi
		save
		captured "$id" >"$T/captured"
		expect_no_grep 'git-checkpoint-restore' "$T/captured"
		expect_save_warned 0 'git-checkpoint-restore'
		no_litter
		expect_missing "$(store_dir)/checkpoint/staging"
		git-checkpoint doctor -q
	done
	test $empty -gt 0 || fail 'never killed before the marker was there'
}

# The marker is not synced when the power goes: a part of it, nothing, or zeros.
test_one_with_a_torn_marker_goes() {
	echo 1 >a
	git-checkpoint save -q
	name=.git-checkpoint-restore-0123456789abcdef
	for bytes in 0 100 700; do
		echo $name >"$(store_dir)/checkpoint/staging"
		mkdir $name
		head -c $bytes /dev/zero >$name/git-checkpoint-staging
		git-checkpoint save -q
		expect_missing $name
	done
	# what is not ours stays
	echo $name >"$(store_dir)/checkpoint/staging"
	mkdir $name
	echo mine >$name/git-checkpoint-staging
	git-checkpoint save -q
	expect_eq mine "$(cat $name/git-checkpoint-staging)"
}

test_what_the_user_put_into_one_without_a_marker_stays() {
	two_states
	FAULT_PATH=.git-checkpoint-restore-
	expect_exit 137 with_faults openat-create 1 kill git-checkpoint restore -q -y "$target"
	staging=$(echo .git-checkpoint-restore-*)
	expect_grep "^$staging\$" "$(store_dir)/checkpoint/staging"
	echo precious >"$staging/file"
	save
	captured "$id" >"$T/captured"
	expect_grep "^$staging/file\$" "$T/captured"
	git-checkpoint doctor --fix -q
	expect_eq precious "$(cat "$staging/file")"
}

test_the_store_takes_them_along_when_it_is_relinked() {
	two_states
	interrupt
	cd "$T"
	mv work moved
	cd moved
	git-checkpoint relink "$T/work" >"$T/out" 2>&1 || {
		cat "$T/out"
		fail relink
	}
	restoring 0 restore --abort
	expect_noted before
	expect_missing "$staging"
}

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
	expect_grep 'finish that one' "$T/out"
	diff -r --no-dereference "$T/staging" "$staging"
	unset GIT_CHECKPOINT_HOME
	restoring 0 restore --abort
	expect_noted before
	expect_missing "$staging"
}

# ---- readers, which take no lock ----

# reading <command>...: while it runs, just after it looked for such directories, a restore begins
# and is killed half-way
reading() {
	rm -f "$T/begun"
	cat >"$T/begin.sh" <<-'END'
		test ! -e "$T/begun" || exit 0
		: >"$T/begun"
		env -u FAULT_PID FAULT_CALLS=rename FAULT_AT=3 FAULT_DO=kill FAULT_PATH=$T/work FAULT_STICKY= \
			LD_PRELOAD=$BUILD_DIR/faultfs.so git-checkpoint restore -q -y "$(cat "$T/target")" || :
		ls -d "$T"/work/.git-checkpoint-restore-* >"$T/there"
	END
	echo "$target" >"$T/target"
	FAULT_RUN="sh $T/begin.sh" FAULT_STICKY=1 FAULT_PATH=$T/work/.git/info \
		with_faults read 1 run "$@" >"$T/out" 2>"$T/err" || fail "exit status $?: $* $(cat "$T/err")"
	expect_exists "$T/begun"
	test -s "$T/there" || fail 'no restore was under way'
	expect_no_grep git-checkpoint-restore "$T/out"
	git-checkpoint restore -q --abort
	expect_noted before
}

test_readers_do_not_see_one_that_appears_meanwhile() {
	git init -q
	echo '# nothing' >.git/info/exclude
	two_states
	reading git-checkpoint diff "$target"
	reading git-checkpoint diff --name-status "$target"
	reading git-checkpoint status
}

# What is gone when its contents are wanted is no failure: it was there, and is not any more.
test_readers_bear_that_files_go() {
	mkdir d
	echo 1 >a
	echo 1 >b
	echo 1 >d/c
	ln -s a link
	save
	rm link
	for file in a b d/c link; do
		echo 2 >$file
	done
	# read once for its name, then for its contents
	FAULT_RUN="rm -rf $T/work/b $T/work/d $T/work/link; mkdir $T/work/b" FAULT_PATH=$T/work/a \
		with_faults read 3 run git-checkpoint diff >"$T/out" 2>"$T/err" ||
		fail "exit status $?: $(cat "$T/err")"
	expect_exists b
	test ! -f b || fail 'nothing was removed'
	expect_grep '^+2' "$T/out"
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

# ---- damage behind an interruption ----

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
	expect_grep '^problem: .* neither be continued nor aborted' "$T/out"
	expect_exists "$staging" "$(store_dir)/checkpoint/journal"
	expect_exit 1 git-checkpoint doctor --fix >"$T/out" 2>&1
	expect_grep '^fixed: .* neither be continued nor aborted' "$T/out"
	expect_missing "$staging" "$(store_dir)/checkpoint/journal"
	restore "$target"
	rm -rf rescued-*
	expect_noted target
	git-checkpoint drop -q --force "$safety"
	git-checkpoint doctor -q
}

test_an_interrupted_restore_that_can_be_settled_is_left_to_the_user() {
	two_states
	interrupt
	spoil_safety a
	rm a # or it would be mended with it
	git-checkpoint doctor --fix >"$T/out" 2>&1 || :
	expect_no_grep 'neither be continued' "$T/out"
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
	expect_no_grep 'neither be continued' "$T/out"
	restoring 0 restore --continue
	expect_eq 'old a old d/x' "$(contents a d/x)"
	expect_missing b
}

test_one_that_was_added_to_the_project_is_no_obstacle() {
	git init -q
	two_states
	interrupt
	git add -A
	GIT_CHECKPOINT_HOME=$T/other git-checkpoint save -q
	restoring 0 restore --continue
	expect_missing "$staging"
	expect_noted target
}

run_tests
