#!/bin/sh
# SPDX-License-Identifier: MIT
# flow unarchive takes an archived workflow back.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/flow.sh"

test_the_last_one_comes_back_as_it_was() {
	echo 1 >a
	flow start one --phases A,B,C --approve A --state-dir copy -q
	phase_done A
	flow approve A -q
	flow phase B start -q
	flow task t1 running -q
	cp "$(state)" "$T/before"
	cp "$(dirname "$(state)")/workflow.json" "$T/plan"
	flow archive >"$T/out"
	expect_grep "'git checkpoint flow unarchive' takes it back" "$T/out"
	expect_missing "$(state)" copy/phase.json
	flow unarchive >"$T/out"
	expect_grep 'Workflow one is back, in phase B (in_progress)' "$T/out"
	expect_same "$T/before" "$(state)"
	expect_same "$T/plan" "$(dirname "$(state)")/workflow.json"
	expect_same "$T/before" copy/phase.json
	# it is not archived any more
	expect_eq 0 "$(flow list --json | jq '.archives | length')"
	flow resume >"$T/out"
	expect_grep 'Resuming workflow one from B' "$T/out"
}

test_by_name_and_by_directory() {
	for name in one two one; do
		flow start $name --phases A -q
		flow phase A start -q
		flow archive -q
	done
	dir=$(basename "$(flow list --json | jq -r '.archives[2].path')")
	flow unarchive two -q
	expect_eq two "$(at .workflow_id)"
	expect_exit 5 git-checkpoint flow unarchive one 2>"$T/err"
	expect_grep "there is a workflow, 'two'; 'git checkpoint flow archive' archives it first" "$T/err"
	expect_exit 5 git-checkpoint flow unarchive 2>"$T/err"
	expect_eq two "$(at .workflow_id)"
	flow archive -q
	# the older of the two
	flow unarchive "$dir" -q
	expect_eq one "$(at .workflow_id)"
	expect_eq 2 "$(flow list --json | jq '.archives | length')"
	flow archive -q
	expect_eq 'one two' "$(git-checkpoint --complete git-checkpoint flow unarchive '' | cut -f1 | xargs)"
}

test_one_that_was_not_trusted_comes_back() {
	flow start one --phases A,B -q
	flow phase A start -q
	jq '.interruption_safe = false' "$(state)" >"$T/unsafe"
	cp "$T/unsafe" "$(state)"
	expect_exit 1 git-checkpoint flow resume 2>"$T/err"
	expect_grep "archived as corrupt in .*; 'git checkpoint flow unarchive' takes it back" "$T/err"
	expect_missing "$(state)"
	flow unarchive -q
	expect_same "$T/unsafe" "$(state)"
	# what is not even a state stays where it is
	echo nonsense >"$(state)"
	expect_exit 1 git-checkpoint flow resume 2>"$T/err"
	expect_exit 128 git-checkpoint flow unarchive 2>"$T/err"
	expect_grep 'cannot be read' "$T/err"
	expect_missing "$(state)"
	expect_eq 1 "$(flow list --json | jq '.archives | length')"
}

test_none_is_archived() {
	expect_exit 1 git-checkpoint flow unarchive 2>"$T/err"
	echo 1 >a
	git-checkpoint save -q
	expect_exit 1 git-checkpoint flow unarchive 2>"$T/err"
	expect_grep 'no workflow is archived' "$T/err"
	expect_exit 1 git-checkpoint flow unarchive x 2>"$T/err"
	expect_grep "no workflow 'x' is archived" "$T/err"
}

test_json() {
	flow start one --phases A -q
	flow archive -q
	flow unarchive --json >"$T/out"
	expect_eq '{"unarchived":true,"workflow_id":"one","phase":"A","phase_status":"pending","warnings":[]}' \
		"$(jq -c . "$T/out")"
	expect_exit 5 git-checkpoint flow unarchive --json >"$T/out"
	expect_eq 5 "$(json .error.code "$T/out")"
}

test_killed_at_any_point() {
	flow start one --phases A,B -q
	phase_done A
	cp "$(state)" "$T/before"
	flow archive -q
	with_faults write,fsync,rename,unlink 0 kill git-checkpoint flow unarchive -q
	total=$(cat "$T/faults")
	test "$total" -gt 3
	flow archive -q
	at=1
	while test $at -le "$total"; do
		expect_exit 137 with_faults write,fsync,rename,unlink $at kill git-checkpoint flow unarchive -q
		# it is live or archived, and whole
		if test -e "$(state)"; then
			expect_eq 0 "$(flow list --json | jq '.archives | length')"
		else
			flow unarchive -q
		fi
		expect_same "$T/before" "$(state)"
		flow archive -q
		expect_eq 1 "$(flow list --json | jq '.archives | length')"
		at=$((at + 1))
	done
}

run_tests
