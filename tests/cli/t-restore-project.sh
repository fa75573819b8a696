#!/bin/sh
# SPDX-License-Identifier: MIT
# What a restore says about HEAD, the branch and operations of the project, which it does not touch.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# ---- the project ----

test_a_head_that_moved() {
	git init -q
	echo 1 >a
	git add a
	git commit -q -m one
	then=$(git rev-parse HEAD)
	save
	restore "$id"
	expect_not_warned
	echo 2 >a
	git commit -q -a -m two
	now=$(git rev-parse HEAD)
	restore "$id"
	expect_warned "HEAD moved since the checkpoint: $then -> $now"
	eval "$(advice "'\(git reset .*\)' moves HEAD back")"
	expect_eq "$then main" "$(where)"
	git diff --exit-code HEAD
	git checkout -q -b other
	restore "$id"
	expect_warned_like 'git switch main$'
	expect_not_warned 'HEAD moved'
	git-checkpoint restore -y "$id" 2>"$T/err" >"$T/out"
	expect_grep 'git switch main$' "$T/err"
}

# The commands that a warning names are tried, not only read.

# advice <basic regular expression with one group>: the command in a warning of the last restore
advice() {
	warnings | sed -n "s/.*$1.*/\1/p"
}

# where: commit and branch of HEAD
where() {
	echo "$(git rev-parse HEAD) $(git symbolic-ref -q --short HEAD || echo detached)"
}

# two_commits: on main; $then and $now are their ids
two_commits() {
	git init -q
	echo 1 >a
	echo 1 >b
	git add a b
	git commit -q -m one
	then=$(git rev-parse HEAD)
	echo 2 >a
	git commit -q -a -m two
	now=$(git rev-parse HEAD)
}

test_the_way_back_to_another_branch_keeps_the_files() {
	two_commits
	git checkout -q -b 'o;ther$(x)' "$then"
	echo mine >b
	save
	git checkout -q -f main
	restore "$id"
	expect_warned "HEAD moved since the checkpoint: $then -> $now"
	eval "$(advice 'keep the files: \(git .*\)')"
	expect_eq "$then o;ther\$(x)" "$(where)"
	expect_eq "$now" "$(git rev-parse main)"
	expect_eq '1 mine' "$(contents a b)"
	expect_eq ' M b' "$(git status --porcelain)"
}

# HEAD is where it was, but the branch that it was on is not.
test_the_way_back_to_a_branch_that_moved_on() {
	two_commits
	git checkout -q --detach
	git checkout -q -B main "$then"
	echo mine >a
	save
	git commit -q -a -m three
	git checkout -q --detach "$then"
	restore "$id"
	eval "$(advice 'to go back to it and keep the files: \(git .*\)')"
	expect_eq "$(git rev-parse main) main" "$(where)"
	expect_eq 'mine 1' "$(contents a b)"
}

test_the_way_back_to_a_detached_head_moves_no_branch() {
	two_commits
	git checkout -q --detach "$then"
	save
	git checkout -q main
	restore "$id"
	eval "$(advice 'keep the files: \(git .*\)')"
	expect_eq "$then detached" "$(where)"
	expect_eq "$now" "$(git rev-parse main)"
	expect_eq '' "$(git status --porcelain)"
	git checkout -q -b third
	restore "$id"
	expect_not_warned 'HEAD moved'
	eval "$(advice 'again: \(git .*\)')"
	expect_eq "$then detached" "$(where)"
	restore "$id"
	expect_not_warned
}

test_the_way_out_of_a_rebase_and_a_bisect() {
	two_commits
	git checkout -q -b side "$then"
	echo side >a
	git commit -q -a -m side
	side=$(git rev-parse HEAD)
	save
	git rebase main >/dev/null 2>&1 || :
	restore "$id"
	eval "$(advice "'\(git rebase .*\)' forgets it")"
	eval "$(advice 'keep the files: \(git .*\)')"
	expect_eq "$side side" "$(where)"
	expect_eq '' "$(git status --porcelain)"
	git bisect start HEAD "$then" >/dev/null
	git checkout -q --detach "$then"
	restore "$id"
	# in the order in which they are named
	advice "[':] *\(git [^']*\)'*.*" >"$T/advice"
	expect_eq 2 "$(wc -l <"$T/advice")"
	. "$T/advice"
	expect_eq "$side side" "$(where)"
	expect_eq '' "$(git status --porcelain)"
	restore "$id"
	expect_not_warned
}

test_an_operation_in_progress() {
	git init -q
	echo 1 >a
	git add a
	git commit -q -m one
	git checkout -q -b side
	echo side >a
	git commit -q -a -m side
	git checkout -q main
	echo main >a
	git commit -q -a -m main
	save
	before=$id
	git merge side >/dev/null 2>&1 || :
	save
	merging=$id
	restore "$merging"
	expect_not_warned 'merge'
	restore "$before"
	expect_warned_like 'merge.*in progress'
	expect_exists .git/MERGE_HEAD
	git merge --abort
	restore "$merging"
	expect_warned_like 'merge was in progress'
}

run_tests
