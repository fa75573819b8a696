#!/bin/sh
# SPDX-License-Identifier: MIT
# A restore that runs out of descriptors: all as before, all as saved, or it can be continued. What it
# cannot open it does not take for something that somebody has changed.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

id= # of the checkpoint that was saved last

# change_everything: every kind of action is in the plan
change_everything() {
	git init -q
	echo '*.log' >.gitignore
	mkdir -p d/e gone
	for file in a d/a d/b d/e/a gone/a gone/b; do
		echo 1 >$file
	done
	echo ignored | tee d/x.log >x.log
	save
	fingerprint . >"$T/target"
	echo 2 >a
	chmod 600 d/a
	rm d/e/a d/b
	mkdir d/e/a d/f
	echo 2 | tee d/new >d/f/new
	ln -s a d/b
	rm -r gone
	fingerprint . >"$T/before"
	keep
}

# lacking_everywhere <sticky>: one file cannot be opened, or none from there on
lacking_everywhere() {
	change_everything
	with_faults open 0 EMFILE git-checkpoint restore -q -y "$id"
	total=$(cat "$T/faults")
	fingerprint . >"$T/now"
	expect_same "$T/target" "$T/now"
	untouched=0 continued=0
	at=$(begin_at 3)
	while test $at -le "$total"; do
		again
		status=0
		FAULT_STICKY=$1 with_faults open $at EMFILE git-checkpoint restore -q -y "$id" 2>"$T/err" || status=$?
		goal=target
		if grep -q -e '--continue' "$T/err"; then
			continued=$((continued + 1))
			git-checkpoint restore --continue -q || fail "open $at of $total: --continue: exit status $?"
		elif test $status != 0; then
			test $status = 5 || expect_eq 128 $status "open $at of $total: $(cat "$T/err")"
			untouched=$((untouched + 1))
			goal=before
			# who cannot open it cannot remove it; the next command does
			git-checkpoint save -q
		fi
		test $status = 0 || expect_grep 'Too many open files' "$T/err"
		fingerprint . >"$T/now"
		expect_same "$T/$goal" "$T/now"
		no_litter
		at=$((at + ${STEP:-3}))
	done
	test $untouched -ge 8 || fail "only $untouched times nothing was touched"
	test $continued -ge 4 || fail "only $continued restores were continued"
}

test_one_file_cannot_be_opened() { lacking_everywhere ''; }
test_none_can_be_opened_any_more() { lacking_everywhere 1; }

run_tests
