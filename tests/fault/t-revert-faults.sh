#!/bin/sh
# SPDX-License-Identifier: MIT
# A revert that is killed, or whose disk fails, at every call that changes a file.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/revert.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

id='' step=''

# a_step: $step, which changes everything that can be taken back; edits since, one of them in conflict;
# the state as it shall be is noted as "after", the one before as "before"
a_step() {
	mkdir -p d gone/deep
	for file in merged d/renamed chmoded fought; do
		seq 1 30 | sed "s|^|$file |" >$file
	done
	echo gone | tee gone/deep/a >gone/b
	mkdir emptied
	echo link >linked
	save
	edit merged 5 step
	mkdir e
	mv d/renamed e/name
	rm -r gone linked emptied
	ln -s nowhere linked
	chmod 600 chmoded
	chmod 700 d
	edit fought 5 step
	mkdir -p fresh/deep
	echo fresh >fresh/deep/a
	save
	step=$id
	edit merged 20 since
	edit e/name 20 since
	edit fought 5 since
	echo unsaved >unsaved
	note before
	keep
	conflicting "$step"
	expect_conflicts content fought
	note after
	expect_eq '5 since' "$(sed -n "s/^merged //;5p;20p" merged | tr '\n' ' ' | sed 's/ $//')"
	expect_missing fresh
	again
}

# settled <what>: nothing is left of it
settled() {
	no_litter
	restoring 1 restore --continue
	git-checkpoint verify -q --all || fail "$1: verify"
	git-checkpoint list >/dev/null # which rebuilds the manifest
	# a pack that a killed process had not finished takes room, no more
	git-checkpoint doctor --fix -q >/dev/null 2>&1 || :
	git-checkpoint doctor >"$T/doctor" 2>&1 || fail "$1: doctor: $(cat "$T/doctor")"
	git --git-dir="$(store_dir)" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "$1: $(cat "$T/fsck")"
}

# untouched_or_done <what>: there is no journal
untouched_or_done() {
	fingerprint . | grep -v 'git-checkpoint-restore-' >"$T/fp.now"
	if ! cmp -s "$T/fp.before" "$T/fp.now"; then
		expect_same "$T/fp.after" "$T/fp.now"
		restoring 0 undo -y
		expect_noted before
	fi
	conflicting "$step"
	expect_noted after
	settled "$1, once more"
}

# both_ways <what>: out of an interrupted one
both_ways() {
	interrupted=$((interrupted + 1))
	expect_exit 5 git-checkpoint revert -q -y "$step" 2>"$T/err"
	git-checkpoint status --json 2>"$T/err" | jq -e '.interrupted_restore.target | startswith("chk_")' >"$T/out" ||
		fail "$1: status names what cannot be looked up"
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
	# what is in conflict is named again
	restoring 3 restore --continue
	expect_conflicts content fought
	expect_eq true "$(told .verification.match)"
	expect_noted after
	settled "$1, continued"
	restoring 0 undo -y
	expect_noted before
	again copy
	restoring 0 restore --abort
	expect_noted before
	settled "$1, aborted"
}

# hit_everywhere <stride> <what happens>: at every call of $CHANGES
hit_everywhere() {
	interrupted=0
	with_faults "$CHANGES" 0 kill git-checkpoint revert -q -y "$step" 2>"$T/err" || test $? = 3
	total=$(cat "$T/faults")
	test "$total" -ge 10 || fail "only $total calls"
	at=$(begin_at "$1")
	while test "$at" -le "$total"; do
		again
		status=0
		with_faults "$CHANGES" $at "$2" git-checkpoint revert -q -y "$step" 2>"$T/err" || status=$?
		if test -e "$(store_dir)/checkpoint/journal"; then
			both_ways "$2 at $at of $total"
		else
			untouched_or_done "$2 at $at of $total"
		fi
		at=$((at + ${STEP:-$1}))
	done
}

test_killed_at_any_change_of_the_worktree() {
	a_step
	CHANGES=rename,unlink
	FAULT_PATH=$T/work
	export FAULT_PATH
	hit_everywhere 7 kill
	test $interrupted -gt 0 || fail 'never in the middle of it'
}

test_killed_at_any_change_of_the_store() {
	a_step
	FAULT_PATH=$XDG_STATE_HOME
	export FAULT_PATH
	hit_everywhere 17 kill
}

test_the_disk_is_full() {
	a_step
	CHANGES=write,pwrite,fsync,rename,mkdir
	hit_everywhere 29 ENOSPC
}

# Nothing of it stays when it was killed before the journal.
test_a_forgotten_state_is_swept() {
	a_step
	CHANGES=rename
	FAULT_PATH=checkpoint/journal
	export FAULT_PATH
	expect_exit 137 with_faults rename 1 kill git-checkpoint revert -q -y "$step"
	unset FAULT_PATH
	expect_missing "$(store_dir)/checkpoint/journal"
	test -n "$(git --git-dir="$(store_dir)" for-each-ref refs/keep | grep cmp_)"
	git-checkpoint save -q # which removes the stage
	expect_noted before
	git-checkpoint gc -q
	expect_eq '' "$(git --git-dir="$(store_dir)" for-each-ref refs/keep | grep cmp_)"
	settled 'before the journal'
}

run_tests
