#!/bin/sh
# SPDX-License-Identifier: MIT
# Whatever the budget, a checkpoint that exists has all of its contents.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/retain.sh"

two() {
	seq 50 >a
	seq 60 >b
	save
	sed -i 's/^5$/five/' a
	save
}

# edit <text>: what is in no checkpoint
edit() {
	sed -i "40s/.*/$1/" a
	echo "unsaved $1" >b
	mkdir -p new/dir
	echo "new $1" >new/dir/c
	note unsaved
}

# every size that fits: far from the limit, just below it, and at it
each_budget() {
	for budget in 10g 1m none 300k $(($(kilobytes) + 24))k $(($(kilobytes) + 12))k; do
		git-checkpoint config maxSize $budget
		edit $budget
		"$@"
		expect_noted unsaved
		store_sound
	done
}

take_back() {
	status=0
	git-checkpoint "$@" >"$T/out" 2>&1 || status=$?
	case $status in
	0)
		git-checkpoint verify --all >"$T/verified" || fail "$budget: $(cat "$T/verified")"
		restoring 0 undo --yes
		;;
	5) expect_grep 'no safety checkpoint could be taken, nothing was touched' "$T/out" ;;
	*) fail "$budget: exit status $status: $(cat "$T/out")" ;;
	esac
}

test_a_revert_over_unsaved_edits_can_be_undone() {
	two
	each_budget take_back revert --yes @
}

test_hunks_over_unsaved_edits_can_be_undone() {
	two
	pick() {
		printf 'y\ny\ny\n' >"$T/answers"
		take_back restore -p --yes @ <"$T/answers"
	}
	each_budget pick
}

test_a_restore_over_unsaved_edits_can_be_undone() {
	two
	each_budget take_back restore --yes @
}

test_after_such_a_revert_the_budget_still_frees() {
	two
	edit once
	git-checkpoint config maxSize 1m
	restoring 0 revert --yes @
	for n in 1 2 3 4 5 6; do
		noise 300000 >r
		save -m $n
	done
	test "$(kilobytes)" -le 1024 || fail "$(kilobytes) KB"
	rm r
	restoring 0 undo --yes
	expect_noted unsaved
}

run_tests
