#!/bin/sh
# SPDX-License-Identifier: MIT
# "@" is the state that was last meant: what a restore saves for its own safety is not.

. "$(dirname "$0")/../../lib/harness.sh"

newest() {
	git checkpoint list --json | jq -r '.checkpoints[0].id'
}

created() {
	git checkpoint save --json "$@" | jq -r .checkpoint_created
}

test_any_number_of_tries_come_back_to_the_same_state() {
	echo good >f
	git checkpoint save -q -m good
	for try in 1 2 3 4 5 6 7 8 9 10; do
		echo "try $try" >f
		echo "$try" >"new$try"
		git checkpoint restore -q --yes @
		expect_eq good "$(cat f)"
		expect_eq f "$(ls)"
	done
	expect_eq good "$(git checkpoint show --json @ | jq -r .reason)"
	# each try is still there
	git checkpoint undo -q --yes
	expect_eq 'try 10' "$(cat f)"
}

test_counting_back_skips_safety_checkpoints() {
	for i in 1 2 3; do
		echo $i >f
		git checkpoint save -q -m "number $i"
	done
	echo 4 >f
	git checkpoint restore -q --yes @~1
	echo 5 >f
	git checkpoint restore -q --yes @ f
	expect_eq 'number 3' "$(git checkpoint show --json @ | jq -r .reason)"
	expect_eq 'number 2' "$(git checkpoint show --json @~1 | jq -r .reason)"
	expect_eq 'number 1' "$(git checkpoint show --json @~2 | jq -r .reason)"
	expect_exit 128 git checkpoint show @~3
}

test_defaults_skip_safety_checkpoints() {
	echo 1 >f
	git checkpoint save -q
	echo 2 >f
	git checkpoint restore -q --yes @
	git checkpoint diff --quiet || fail 'the default of diff is not what was meant'
	expect_eq "$(git checkpoint show --json @ | jq -r .id)" "$(git checkpoint status --json | jq -r .newest.id)"
	echo 2 >f
	expect_exit 1 git checkpoint diff --quiet
	# that state is in the safety checkpoint alone
	expect_eq true "$(created)"
}

test_nothing_but_safety_checkpoints_is_nothing() {
	echo 1 >f
	git checkpoint save -q
	id=$(newest)
	echo 2 >f
	git checkpoint restore -q --yes @
	git checkpoint drop -q --force "$id"
	expect_exit 128 git checkpoint show @ 2>err
	expect_grep 'no checkpoint yet' err
	expect_eq true "$(created)"
}

test_the_words_of_a_person_are_kept() {
	echo 1 >f
	expect_eq true "$(created)"
	expect_eq false "$(created)"
	expect_eq true "$(created -m 'tests pass here')"
	expect_eq false "$(created -m 'tests pass here')"
	expect_eq false "$(created)"
	expect_eq false "$(created --automatic -m 'other words')"
	# a source alone makes nothing automatic
	expect_eq true "$(created --source claude-code -m 'I mean it')"
}

test_a_commit_and_a_branch_are_changes() {
	git init -q -b main
	echo 1 >f
	git add f
	expect_eq true "$(created)"
	git commit -q -m one
	expect_eq true "$(created)"
	expect_eq false "$(created)"
	git commit -q --allow-empty -m two
	expect_eq true "$(created --automatic)"
	git checkout -q -b other
	expect_eq true "$(created)"
	git checkout -q --detach
	expect_eq true "$(created)"
	git bisect start -q 2>/dev/null || git bisect start
	expect_eq true "$(created)"
	expect_eq false "$(created)"
}

# save, commit, save, reset: nobody told of the commit, as the second save took none.
test_a_lost_commit_is_told() {
	git init -q -b main
	echo 1 >f
	git add f
	git commit -q -m one
	git checkpoint save -q
	git commit -q --allow-empty -m two
	lost=$(git rev-parse --short=7 HEAD)
	git checkpoint save -q
	git reset -q --hard HEAD~1
	echo 2 >f
	git checkpoint restore --yes @ >"$T/out" 2>&1
	expect_grep "git is on .*, at the checkpoint it was on .*$lost" "$T/out"
}

test_json_tells_who_took_it_and_where() {
	git init -q -b topic
	echo 1 >f
	git add f
	git commit -q -m one
	git checkpoint save -q
	id=$(newest)
	echo 2 >f
	git checkpoint save -q --automatic
	git checkpoint restore -q --yes "$id"
	git checkout -q --detach
	echo 3 >f
	git checkpoint restore -q --yes "$id"
	git checkpoint list --json >"$T/list"
	head=$(git rev-parse HEAD)
	expect_eq "true $id null $head" \
		"$(jq -r '.checkpoints[0] | "\(.automatic) \(.safety_for) \(.branch) \(.head)"' "$T/list")"
	expect_eq "true null topic $head" \
		"$(jq -r '.checkpoints[-2] | "\(.automatic) \(.safety_for) \(.branch) \(.head)"' "$T/list")"
	expect_eq "false null topic $head" \
		"$(git checkpoint show --json "$id" |
			jq -r '"\(.automatic) \(.safety_for) \(.branch) \(.head)"')"
}

test_part_of_the_tree_is_another_state() {
	mkdir docs
	echo 1 >docs/d
	echo 1 >f
	expect_eq true "$(created)"
	expect_eq true "$(created docs)"
	expect_eq false "$(created docs)"
	expect_eq true "$(created)"
	echo 2 >f
	echo 2 >docs/d
	git checkpoint restore -q --yes @
	expect_eq '1 1' "$(cat f docs/d | tr '\n' ' ' | sed 's/ $//')"
}

run_tests
