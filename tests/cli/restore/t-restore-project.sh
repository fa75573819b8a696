#!/bin/sh
# SPDX-License-Identifier: MIT
# What a restore says about HEAD, the branch and operations of the project, which it does not touch,
# if the checkpoint does not have their state, because git was missing; otherwise see
# t-restore-rest.sh.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# save: as in restore.sh, without git, and so without its state
save() {
	PATH=$BUILD_DIR "$BUILD_DIR/git-checkpoint" save --json >"$T/save.json" 2>"$T/save.err" || {
		cat "$T/save.err"
		fail 'save'
	}
	id=$(sed -n 's/.*"checkpoint":{"id":"\(chk_[0-9a-f_]*\)".*/\1/p' "$T/save.json")
	test -n "$id" || fail 'no id'
}

# ---- the project ----

# where: commit and branch of HEAD
where() {
	echo "$(git rev-parse -q --verify HEAD || echo none) $(git symbolic-ref -q --short HEAD || echo detached)"
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

# saved: a checkpoint of a state with a change of its own; $was is where HEAD is
saved() {
	echo mine >b
	save
	was=$(where)
}

# go_back: restore, and run the commands that the report names, not only read them
go_back() {
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	grep '^    ' "$T/err" | sed 's/^    //' >"$T/commands" || fail 'no command is named'
	# the last lines, announced by the line before them
	tail -n "$(($(wc -l <"$T/commands") + 1))" "$T/err" >"$T/end"
	expect_eq "$(grep -n 'to go back to .*: the files stay, the index .*:$' "$T/end" | cut -d: -f1)" 1 'the announcement'
	restore "$id"
	told '.next_actions[]' >"$T/actions"
	head -n "$(wc -l <"$T/commands")" "$T/actions" >"$T/first"
	expect_same "$T/commands" "$T/first"
	fingerprint . >"$T/before"
	sh -e "$T/commands" >"$T/log" 2>&1 || {
		cat "$T/commands" "$T/log"
		fail 'a command failed'
	}
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq "$was" "$(where)" 'HEAD'
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_no_grep '^    git [^c]' "$T/err"
}

# as_the_commit: the index has what HEAD has, and only b is changed
as_the_commit() {
	expect_eq ' M b' "$(git status --porcelain)" 'status'
}

test_a_head_that_moved() {
	git init -q
	echo 1 >a
	git add a
	git commit -q -m one
	then=$(git rev-parse HEAD)
	save
	was=$(where)
	restore "$id"
	expect_not_warned
	echo 2 >a
	git commit -q -a -m two
	now=$(git rev-parse HEAD)
	restore "$id"
	expect_warned "HEAD moved since the checkpoint: $then -> $now"
	go_back
	expect_eq "$now" "$(git rev-parse 'main@{1}')"
	git diff --exit-code HEAD
	git checkout -q -b other
	restore "$id"
	expect_not_warned 'HEAD moved'
	go_back
}

test_another_branch_is_checked_out() {
	two_commits
	git checkout -q -b 'o;ther$(x)' "$then"
	saved
	git checkout -q -f main
	go_back
	as_the_commit
	expect_eq "$now" "$(git rev-parse main)"
}

test_the_branch_was_renamed() {
	two_commits
	saved
	git branch -m other
	go_back
	as_the_commit
	expect_eq "$now" "$(git rev-parse other)"
}

test_the_branch_was_deleted() {
	two_commits
	git checkout -q -b side
	saved
	git checkout -q -f main
	git branch -q -D side
	go_back
	as_the_commit
	git checkout -q -f --detach "$then"
	git branch -q -D side
	go_back
	as_the_commit
}

test_the_branch_was_moved() {
	two_commits
	git checkout -q -b side "$then"
	saved
	for elsewhere in side main --detach; do
		git checkout -q -f $elsewhere
		git branch -q -f side "$now" 2>/dev/null || git reset -q --hard "$now"
		go_back
		as_the_commit
	done
}

test_the_branch_was_reset() {
	two_commits
	saved
	git reset -q --hard "$then"
	go_back
	as_the_commit
}

test_head_was_detached() {
	two_commits
	git checkout -q --detach "$then"
	saved
	git checkout -q -f main
	go_back
	as_the_commit
	git checkout -q -f --detach "$now"
	go_back
	as_the_commit
	expect_eq "$now" "$(git rev-parse main)"
	git checkout -q -b third
	go_back
	git checkout -q --orphan unborn
	go_back
	as_the_commit
}

# Nothing leads there that loses nothing.
test_there_was_no_commit() {
	git init -q
	echo mine >b
	save
	git checkout -q -b other
	git add b
	git commit -q -m one
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_grep "^warning: git is on 'other' at .*, at the checkpoint it was on 'main'$" "$T/err"
	expect_no_grep '^    ' "$T/err"
}

test_there_is_no_commit_now() {
	two_commits
	saved
	git update-ref -d HEAD
	go_back
	as_the_commit
	git checkout -q --orphan other
	go_back
	as_the_commit
}

# conflict: main and side cannot be merged; on side
conflict() {
	two_commits
	git checkout -q -b side "$then"
	echo side >a
	git commit -q -a -m side
}

test_an_operation_is_in_progress_now() {
	conflict
	saved
	for command in 'rebase main' 'merge main' 'cherry-pick main' 'revert main'; do
		git stash -q
		git $command >/dev/null 2>&1 && fail "git $command succeeded"
		go_back
		as_the_commit
		expect_eq '' "$(git ls-files -u)"
		git stash drop -q
	done
	git stash -q
	git bisect start HEAD "$then" >/dev/null
	git checkout -q --detach "$then"
	go_back
	as_the_commit
	expect_missing .git/rebase-merge .git/MERGE_HEAD .git/CHERRY_PICK_HEAD .git/REVERT_HEAD .git/BISECT_LOG
}

test_an_operation_was_in_progress() {
	conflict
	git rebase main >/dev/null 2>&1 && fail 'the rebase succeeded'
	saved
	git rebase --quit
	git checkout -q -f side
	go_back
	expect_eq ' M a
 M b' "$(git status --porcelain)"
	restore "$id"
	expect_warned 'a rebase was in progress'
	git checkout -q -f side
	git merge main >/dev/null 2>&1 && fail 'the merge succeeded'
	saved
	git merge --abort
	git checkout -q -f main
	go_back
}

test_the_same_operation_is_in_progress() {
	conflict
	git rebase main >/dev/null 2>&1 && fail 'the rebase succeeded'
	saved
	git rebase --quit
	git checkout -q -f main
	git rebase side >/dev/null 2>&1 && fail 'the rebase succeeded'
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_grep '^warning: git is .*, at the checkpoint it was ' "$T/err"
	expect_no_grep '^    ' "$T/err"
}

test_the_branch_is_checked_out_elsewhere() {
	two_commits
	git checkout -q -b side
	saved
	git checkout -q -f --detach "$then"
	git worktree add -q "$T/linked" side
	git -C "$T/linked" commit -q --allow-empty -m there
	there=$(git rev-parse side)
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	grep '^    ' "$T/err" >"$T/commands"
	sh -e "$T/commands" >"$T/log" 2>&1 && fail 'a branch was moved that another worktree has'
	expect_grep "side.*$T/linked" "$T/log"
	expect_eq "$now detached" "$(where)"
	expect_eq "$there" "$(git rev-parse side)"
}

test_a_commit_that_is_gone() {
	two_commits
	git checkout -q -b side
	echo 3 >a
	git commit -q -a -m three
	saved
	git checkout -q -f main
	git branch -q -D side
	git reflog expire --expire=now --all
	git gc -q --prune=now
	before=$(where)
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	sed -n 's/^    //p' "$T/err" >"$T/commands"
	sh -e "$T/commands" >"$T/log" 2>&1 && fail 'HEAD is where there is nothing'
	expect_eq "$before" "$(where)"
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

# Who takes back one file is told that HEAD moved, not to move it.
test_a_single_path_needs_no_branch() {
	git init -q -b main
	echo 1 >f
	git add f
	git commit -q -m one
	save
	git commit -q --allow-empty -m two
	echo 2 >f
	git checkpoint restore --json --yes @ f >"$T/answer" 2>"$T/err"
	expect_grep 'HEAD moved since the checkpoint' "$T/answer"
	expect_eq '' "$(jq -r '.next_actions[] | select(startswith("git reset"))' "$T/answer")"
	echo 2 >f
	git checkpoint restore --json --yes @ >"$T/answer" 2>"$T/err"
	expect_grep 'git reset' "$T/answer"
}

run_tests
