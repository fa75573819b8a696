#!/bin/sh
# SPDX-License-Identifier: MIT
# The directory in which a restore prepares its files: what is one, whose it is, and that nothing
# of the user's is ever taken for one.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/private.sh"
. "$LIB_DIR/staging.sh"

id='' target='' # see staging.sh

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
		expect_eq null "$(state .stages)"
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
		edit_state ".stages = [\"$name\"]"
		mkdir $name
		head -c $bytes /dev/zero >$name/git-checkpoint-staging
		git-checkpoint save -q
		expect_missing $name
	done
	# what is not ours stays
	edit_state ".stages = [\"$name\"]"
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
	expect_eq "[\"$staging\"]" "$(state .stages)"
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

# What is gone when its contents are needed is not a failure: it existed, and no longer does.
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
