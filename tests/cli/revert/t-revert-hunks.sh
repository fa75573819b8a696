#!/bin/sh
# SPDX-License-Identifier: MIT
# revert -p: of what a step did, some hunks are taken back.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id='' # of the checkpoint that was saved last

# choosing <exit status> <answer>...: revert -p of $step
choosing() {
	choosing_wanted=$1 choosing_status=0
	shift
	: >"$T/answers"
	test $# = 0 || printf '%s\n' "$@" >"$T/answers"
	git-checkpoint revert --json --yes -p "$step" <"$T/answers" >"$T/restore.json" 2>"$T/asked" ||
		choosing_status=$?
	test $choosing_status = "$choosing_wanted" || {
		cat "$T/restore.json" "$T/asked"
		fail "exit status $choosing_status instead of $choosing_wanted"
	}
}

# A step that changed two places and made a file; later edits are saved, and not saved.
three_steps() {
	seq 1 40 >a
	echo 1 >b
	save
	sed -i 's/^3$/three/; s/^35$/x/' a
	echo new >made
	save
	step=$id
	sed -i 's/^15$/later/' a
	save
	sed -i 's/^25$/unsaved/' a
}

test_hunks_of_the_merged_result() {
	three_steps
	fingerprint . >"$T/before"
	choosing 0 y n n
	expect_eq '3 later unsaved x' "$(sed -n '3p;15p;25p;35p' a | contents -)"
	expect_eq new "$(cat made)"
	expect_reverted modify a
	expect_eq true "$(told .verification.match)"
	git-checkpoint undo -q --yes
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
	git-checkpoint log --json >"$T/log.json"
	expect_eq 'undo revert' "$(json '[.entries[] | .action | select(. == "revert" or . == "undo")] | join(" ")' "$T/log.json")"
}

test_all_of_them_are_the_revert() {
	three_steps
	git-checkpoint revert -q --yes "$step"
	fingerprint . >"$T/whole"
	git-checkpoint undo -q --yes
	choosing 0 a a
	fingerprint . >"$T/chosen"
	expect_same "$T/whole" "$T/chosen"
}

test_a_conflict_is_told_whatever_is_chosen() {
	three_steps
	sed -i 's/^three$/mine/' a
	echo 2 >b
	choosing 3 y
	test ! -e made
	expect_eq mine "$(sed -n 3p a)"
	expect_eq a "$(told '.conflicts[0].file')"
	git-checkpoint undo -q --yes
	choosing 3 n
	expect_eq new "$(cat made)"
	expect_eq a "$(told '.conflicts[0].file')"
}

test_on_a_terminal_and_without_one() {
	three_steps
	cp a "$T/a"
	expect_exit 5 git-checkpoint revert -p "$step" </dev/null 2>"$T/err"
	expect_grep 'not a terminal; use --yes to confirm' "$T/err"
	expect_same "$T/a" a
	on_terminal "git-checkpoint revert -p $step" n y n
	expect_grep '^Took back ' "$T/screen"
	expect_eq 'three 35 new' "$(sed -n '3p;35p' a | cat - made | contents -)"
}

run_tests
