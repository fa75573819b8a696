#!/bin/sh
# SPDX-License-Identifier: MIT
# The stack of undo belongs to the restore that changes it: killed at every change of the store, it is
# as it was after --abort, and as it shall be after --continue; what it leads to is there.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

id='' first='' revised=''

# stacked: a stack of a restore, a revert over unsaved edits that is undone, and edits in no checkpoint
stacked() {
	seq 30 >a
	echo 1 >b
	save
	first=$id
	sed -i 's/^3$/three/' a
	save
	revised=$id
	echo 2 >b
	restore "$first"
	sed -i 's/^20$/twenty/' a
	restore "$revised"
	echo unsaved >b
	restoring 0 revert -y "$revised"
	restoring 0 undo -y
	echo edited >b
	note before
}

# stack: what undo and redo walk
stack() {
	jq -S . "$(store_dir)/checkpoint/undo"
}

# leads_everywhere <what>: each step back, and each step forth, can be made
leads_everywhere() {
	while git-checkpoint undo -q -y 2>"$T/err"; do :; done
	expect_grep 'no restore to undo' "$T/err"
	while git-checkpoint redo -q -y 2>"$T/err"; do :; done
	expect_grep 'no undone restore to redo' "$T/err"
	git-checkpoint verify -q --all || fail "$1: verify"
}

# out_of_it <--abort|--continue> <what>
out_of_it() {
	# what the stack led to before must survive this
	git-checkpoint prune -q -y --max-count 1 --max-automatic 1
	restoring 0 restore "$1"
	stack >"$T/stack.now"
	case $1 in
	--abort)
		expect_same "$T/stack.before" "$T/stack.now"
		expect_noted before
		;;
	*)
		# all but the ids
		expect_eq "$(jq -c '[.done, (.restores[] | .paths)]' "$T/stack.after")" \
			"$(jq -c '[.done, (.restores[] | .paths)]' "$T/stack.now")" "$2"
		;;
	esac
	leads_everywhere "$2, $1"
}

# at_the_end <command>...: killed at each of its last changes, continued and aborted
at_the_end() {
	stack >"$T/stack.before"
	keep
	with_faults "$CHANGES" 0 kill git-checkpoint "$@" -q -y
	total=$(cat "$T/faults")
	stack >"$T/stack.after"
	at=$((total > LAST ? total - LAST : 1)) interrupted=0
	while test "$at" -le "$total"; do
		for way in --abort --continue; do
			again
			killed "$at" "$total" git-checkpoint "$@" -q -y || break
			test -e "$(store_dir)/checkpoint/journal" || break
			interrupted=$((interrupted + 1))
			out_of_it $way "$* killed at $at of $total"
		done
		at=$((at + 1))
	done
	test $interrupted -gt 4 || fail "only $interrupted in the middle of it"
}

LAST=16 # changes; before them, what the other tests of faults kill
test -z "$STEP" || LAST=9999

test_a_restore() {
	stacked
	at_the_end restore "$first"
}

test_a_revert() {
	stacked
	at_the_end revert "$revised"
}

test_an_undo() {
	stacked
	at_the_end undo
}

test_a_redo() {
	stacked
	at_the_end redo
}

run_tests
