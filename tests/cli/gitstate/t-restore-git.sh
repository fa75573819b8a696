#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --git: branch, index, operation and files come back in one command, and undo takes all of
# it back.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/whole.sh"

id= # of the checkpoint that was saved last

# ---- HEAD and its branch ----

test_commits_leave_the_branch() {
	project
	staged
	saved_there
	git add -A
	git commit -q -m more
	git commit -q --allow-empty -m again
	there_and_back
	expect_eq "checkpoint: restore $id" "$(git log -g -1 --skip=2 --format=%gs main)"
	expect_eq "checkpoint: redo $(told .restored_to.checkpoint_id)" "$(git log -g -1 --format=%gs HEAD)"
	git-checkpoint log --json >"$T/log"
	expect_eq 'redo git
undo git
restore git' "$(json '.entries[] | select(.git) | .action + " " + .git' "$T/log")"
	git-checkpoint log -n 1 >"$T/log"
	expect_grep '  redo --git  ' "$T/log"
}

test_after_a_bad_rebase() {
	project
	git checkout -q feature
	staged
	saved_there
	git reset -q --hard
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	echo wrong >a
	git add a
	GIT_EDITOR=true git rebase --continue >"$T/log" 2>&1
	there_and_back
}

test_an_amended_commit() {
	project
	saved_there
	echo other >f3
	git commit -q -a --amend -m amended
	there_and_back
}

test_lost_staging_after_a_hard_reset() {
	project
	staged
	saved_there
	git reset -q --hard
	there_and_back
}

test_a_deleted_branch_comes_back_with_its_configuration() {
	project
	git checkout -q feature
	git config branch.feature.remote origin
	git config branch.feature.merge refs/heads/v1.2
	git config branch.feature.description 'a = b'
	staged
	saved_there
	git reset -q --hard
	git checkout -q main
	git branch -q -D feature
	restore --git -n "$id"
	expect_eq "branch feature: created at $(told .git.head.to | cut -c1-7), with its configuration" \
		"$(told '.git.changes[1]')"
	there_and_back
	# the order of sections is another one
	sort "$T/refs.then" >"$T/refs.sorted"
	others | sort >"$T/refs.now"
	expect_same "$T/refs.sorted" "$T/refs.now"
}

test_a_renamed_branch() {
	project
	git checkout -q feature
	saved_there
	git branch -m other
	there_and_back
	git rev-parse -q --verify other >/dev/null || fail 'the other name is gone'
}

test_head_was_detached() {
	project
	git checkout -q --detach HEAD~1
	staged
	saved_there
	git reset -q --hard
	git checkout -q main
	git commit -q --allow-empty -m more
	there_and_back
}

test_head_is_detached() {
	project
	staged
	saved_there
	git reset -q --hard
	git checkout -q --detach HEAD~1
	git branch -q -f main HEAD
	there_and_back
}

test_commits_without_a_branch_are_told() {
	project
	saved_there
	git checkout -q --detach
	git commit -q --allow-empty -m lone
	restore --git -n "$id"
	expect_eq "HEAD: $(git rev-parse --short=7 HEAD) without a branch → branch main (1 commit is on no branch; it stays in the reflog)" \
		"$(told '.git.changes[0]')"
	git config core.logAllRefUpdates false
	rm -r .git/logs
	restore --git -n "$id"
	expect_grep '(1 commit is on no branch; it is then reachable only by id)' "$T/restore.json"
	there_and_back
}

test_an_unborn_branch() {
	git init -q -b main
	echo a >a
	git add a
	saved_there
	git commit -q -m one
	git commit -q --allow-empty -m two
	restore --git -n "$id"
	expect_eq "branch main: $(git rev-parse --short=7 HEAD) → no commit (2 commits leave it; they stay in the reflog)" \
		"$(told '.git.changes[0]')"
	commit=$(git rev-parse HEAD)
	there_and_back
	expect_grep "$commit" .git/logs/HEAD
}

# Another ref that is broken is not what is asked for.
test_a_broken_ref() {
	project
	staged
	saved_there
	git reset -q --hard HEAD~1
	git pack-refs --all
	echo 1111111111111111111111111111111111111111 >.git/refs/heads/broken
	restore --git "$id"
	rm .git/refs/heads/broken
	expect_at "then"
}

test_no_reflog() {
	project
	git config core.logAllRefUpdates false
	rm -r .git/logs
	saved_there
	git commit -q --allow-empty -m more
	restore --git -n "$id"
	expect_grep '1 commit leaves it; it is then reachable only by id' "$T/restore.json"
	there_and_back
	expect_missing .git/logs
}

# ---- the recipe of the README ----

# recipe: the one command that the README names
recipe() {
	sed -n '/^```sh rebase$/,/^```$/{/^```/d;p}' "$ROOT_DIR/README.md"
}

# helps <name> <command>...: it does after these, in a project in which `before_<name>` was run
helps() {
	mkdir "$1"
	cd "$1"
	project
	git checkout -q feature
	"before_$1"
	git-checkpoint save -q
	mark "then"
	"after_$1" >"$T/log" 2>&1
	$(recipe) --yes >"$T/out" 2>&1 || {
		cat "$T/out"
		fail "$1: the recipe failed"
	}
	expect_at "then" "$1"
	cd ..
}

before_rebase() { staged; }
after_rebase() {
	git reset -q --hard
	! git rebase main || fail 'no conflict'
	echo wrong >a
	git add a
	GIT_EDITOR=true git rebase --continue
}
before_reset() { staged; }
after_reset() { git reset -q --hard; }
before_conflict() { ! git rebase main >"$T/log" 2>&1 || fail 'no conflict'; }
after_conflict() {
	git checkout --theirs a
	git add a
	GIT_EDITOR=true git rebase --continue
}
before_amend() { echo 1 >x; }
after_amend() { git commit -q -a --amend -m amended; }
before_delete() { git config branch.feature.remote origin; }
after_delete() {
	git checkout -q main
	git branch -q -D feature
}

test_the_recipe_of_the_readme() {
	expect_eq 'git checkpoint restore --git @' "$(recipe)"
	for scene in rebase reset conflict amend delete; do
		helps $scene
	done
}

# ---- operations ----

test_in_the_middle_of_a_conflicted_rebase() {
	project
	git checkout -q feature
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	echo half >a
	saved_there
	expect_eq rebase "$(git checkpoint show --json "$id" | jq -r .project.operation)"
	echo wrong >a
	git add a
	# finished since: the branch has moved
	GIT_EDITOR=true git rebase --continue >"$T/log" 2>&1
	there_and_back
	echo right >a
	git add a
	GIT_EDITOR=true git rebase --continue >"$T/log" 2>&1 || {
		cat "$T/log"
		fail 'rebase --continue'
	}
	expect_eq 'f2 f1 3' "$(git log -3 --format=%s feature | tr '\n' ' ' | sed 's/ $//')"
	# and once more, to abort it
	restore --git "$id"
	git rebase --abort
	expect_eq 'f2 f1 2' "$(git log -3 --format=%s feature | tr '\n' ' ' | sed 's/ $//')"
}

test_a_rebase_in_progress_is_abandoned() {
	project
	git checkout -q feature
	staged
	saved_there
	git reset -q --hard
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	restore --git -n "$id"
	expect_grep 'rebase in progress: will be abandoned' "$T/restore.json"
	expect_eq 'rebase null' "$(told .git.operation.from) $(told .git.operation.to)"
	expect_eq 'null feature' "$(told .git.branch.from) $(told .git.branch.to)"
	there_and_back
	expect_missing .git/rebase-merge
}

test_other_operations() {
	project
	for operation in 'merge feature' 'cherry-pick feature~1 feature' 'rebase --apply main feature'; do
		git checkout -q -f main
		# shellcheck disable=SC2086
		! git $operation >"$T/log" 2>&1 || fail 'no conflict'
		saved_there
		git "${operation%% *}" --abort
		there_and_back
		git "${operation%% *}" --abort
		git diff --exit-code HEAD
		git checkpoint save -q
	done
}

test_a_bisection() {
	project
	git bisect start main main~2 >"$T/log"
	saved_there
	git bisect reset 2>"$T/log"
	there_and_back
	git bisect good | grep -q 'is the first bad commit' || fail 'bisect'
}

test_a_bisection_is_put_away() {
	project
	saved_there
	git bisect start main main~2 >"$T/log"
	there_and_back
	expect_eq '' "$(git for-each-ref refs/bisect)"
}

test_an_autostash_comes_back_with_its_rebase() {
	project
	git checkout -q feature
	echo dirty >x
	! git rebase -q --autostash main 2>"$T/err" || fail 'no conflict'
	saved_there
	echo ended >a
	git add a
	GIT_EDITOR=true git rebase --continue >"$T/log" 2>&1
	git commit -q -a -m x
	git reflog expire --expire-unreachable=now --all
	there_and_back
	echo ended >a
	git add a
	GIT_EDITOR=true git rebase --continue >"$T/log" 2>&1
	expect_eq dirty "$(cat x)"
	expect_eq '' "$(git stash list)"
}

# One that is put away is in the safety checkpoint alone, and comes back from there.
test_an_autostash_is_put_away_with_its_rebase() {
	project
	git checkout -q feature
	saved_there
	echo dirty >x
	! git rebase -q --autostash main 2>"$T/err" || fail 'no conflict'
	mark before
	restore --git "$id"
	expect_at "then"
	expect_eq '' "$(git stash list)"
	git gc -q --prune=now
	restoring 0 undo -y
	expect_at before
	git rebase --abort 2>"$T/err"
	expect_eq dirty "$(cat x)"
}

# ---- the index alone ----

test_the_index_alone() {
	project
	staged
	saved_there
	git reset -q --hard
	mark before
	restore --index "$id"
	expect_eq 'true true' "$(told .verification.match) $(told .git.match)"
	expect_eq '[]' "$(jq -c '[.warnings[] | select(test("the index"))]' "$T/restore.json")"
	expect_at "then"
	restoring 0 undo -y
	expect_eq '[]' "$(jq -c '[.warnings[] | select(test("the index"))]' "$T/restore.json")"
	expect_at before
	restoring 0 redo -y
	expect_at "then"
}

# Entries that were as in HEAD at the checkpoint are that again, whatever HEAD is now.
test_the_index_alone_with_another_head() {
	project
	staged
	git ls-files -s -v >"$T/index"
	saved_there
	git reset -q --hard
	git checkout -q feature
	head=$(git rev-parse HEAD)
	restore --index "$id"
	git ls-files -s -v >"$T/now"
	expect_same "$T/index" "$T/now"
	expect_eq "$head feature" "$(git rev-parse HEAD) $(git symbolic-ref --short HEAD)"
	expect_grep 'HEAD moved' "$T/restore.json"
	expect_grep 'left as they are; to bring them back, too' "$T/restore.json"
}

# What was staged survives that it is pruned in the project.
test_staged_contents_survive_gc() {
	project
	echo precious >f1
	git add f1
	echo other >f1
	saved_there
	blob=$(git rev-parse :f1)
	git reset -q --hard
	git gc -q --prune=now
	! git cat-file -e "$blob" 2>/dev/null || fail 'it is still there'
	there_and_back
	expect_eq precious "$(git cat-file blob :f1)"
}

# ---- kinds of repositories ----

test_sha256() {
	project --object-format=sha256
	git checkout -q feature
	staged
	saved_there
	git reset -q --hard
	git checkout -q main
	git gc -q --prune=now
	there_and_back
}

test_a_split_index_and_version_4() {
	project
	git config core.splitIndex true
	git update-index --split-index
	staged
	saved_there
	git reset -q --hard HEAD~1
	there_and_back
	git config core.splitIndex false
	git update-index --index-version 4
	save
	mark "then"
	git reset -q --hard
	there_and_back
	expect_eq 00000004 "$(od -An -tx1 -j4 -N4 .git/index | tr -d ' ')"
}

test_a_sparse_checkout() {
	project
	mkdir in out
	echo 1 >in/1
	echo 1 >out/1
	git add .
	git commit -q -m dirs
	git sparse-checkout init --cone
	git sparse-checkout set in
	git config index.sparse true
	git sparse-checkout reapply
	staged
	saved_there
	git reset -q --hard
	git commit -q --allow-empty -m more
	there_and_back
}

test_a_linked_worktree() {
	mkdir main
	cd main
	project
	git worktree add -q ../linked feature
	cd ../linked
	staged
	saved_there
	git reset -q --hard
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	there_and_back
	expect_eq "$(git rev-parse main)" "$(git -C ../main rev-parse HEAD)"
}

test_a_submodule() {
	mkdir lib outer
	(cd lib && project)
	cd outer
	git init -q
	git -c protocol.file.allow=always submodule add -q ../lib sub 2>"$T/err"
	git commit -q -m outer
	cd sub
	git checkout -q -b topic
	staged
	saved_there
	git reset -q --hard
	git commit -q --allow-empty -m more
	there_and_back
	# in the outer one only its entry counts
	git commit -q --allow-empty -m other
	cd ..
	git add sub
	save
	mark "then"
	git reset -q
	there_and_back
}

test_packed_refs() {
	project
	git pack-refs --all
	staged
	saved_there
	git reset -q --hard HEAD~1
	git pack-refs --all
	there_and_back
}

run_tests
