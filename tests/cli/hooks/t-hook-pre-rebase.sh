#!/bin/sh
# SPDX-License-Identifier: MIT
# The hook pre-rebase with real rebases: the state before each is saved, and no rebase is disturbed.

. "$(dirname "$0")/../../lib/harness.sh"

# Two branches that went apart, on `topic`, which changes and adds files; untracked ones beside.
diverged() {
	git init -q "${1:-.}"
	(
		cd "${1:-.}"
		echo base >base.txt
		printf '*.log\n' >.gitignore
		git add .
		git commit -q -m base
		git checkout -q -b topic
		echo topic >topic.txt
		git add .
		git commit -q -m topic
		git checkout -q main
		echo main >main.txt
		echo changed >base.txt
		git add .
		git commit -q -m main
		git checkout -q topic
		echo untracked >notes.txt
		mkdir -m 700 private
		echo log >x.log
	)
}

install_hook() {
	git checkpoint -C "${1:-.}" hooks install -q --events rebase
}

# As if the package had been removed.
orphaned_hook() {
	install_hook "$1"
	sed -i "s#^_ckpt_program='.*#_ckpt_program='/nonexistent/git-checkpoint'#" \
		"$1/.git/git-checkpoint/pre-rebase"
}

test_the_state_before_a_rebase_is_saved() {
	diverged
	git checkpoint save -q
	git checkpoint list --json >"$T/list"
	wanted=$(json '.checkpoints[0].hash' "$T/list")
	# so that the hook has to take one of its own
	rm -r "$(checkpoint_home)"
	install_hook
	git rebase -q main
	expect_eq "$(git rev-parse main)" "$(git rev-parse HEAD~1)" 'parent after the rebase'
	git checkpoint list --json >"$T/list"
	expect_eq 1 "$(json '.checkpoints | length' "$T/list")" 'checkpoints'
	expect_eq pre-rebase "$(json '.checkpoints[0].reason' "$T/list")"
	expect_eq hook "$(json '.checkpoints[0].source' "$T/list")"
	expect_eq "$wanted" "$(json '.checkpoints[0].hash' "$T/list")" 'state in the checkpoint'
	git checkpoint show --files @ >"$T/files"
	printf '%s\n' .gitignore base.txt notes.txt private/ topic.txt >"$T/expected"
	expect_same "$T/expected" "$T/files"
	git --git-dir="$(store_dir)" show latest:base.txt >"$T/base"
	expect_eq base "$(cat "$T/base")" 'base.txt in the checkpoint'
}

test_pull_with_rebase_is_covered() {
	git init -q upstream
	(cd upstream && echo 1 >a && git add a && git commit -q -m 1)
	git clone -q upstream clone
	(cd upstream && echo 2 >a && git commit -q -a -m 2)
	cd clone
	echo mine >b
	git add b
	git commit -q -m mine
	install_hook
	git pull -q --rebase
	expect_eq 2 "$(cat a)"
	git checkpoint list --json >"$T/list"
	expect_eq 'pre-rebase 1' "$(json '"\(.checkpoints[0].reason) \(.checkpoints | length)"' "$T/list")"
	expect_eq 1 "$(git --git-dir="$(store_dir)" show latest:a)" 'a in the checkpoint'
}

test_a_rebase_in_a_linked_worktree_saves_that_worktree() {
	diverged
	install_hook
	git checkout -q main
	git worktree add -q "$T/linked" topic
	cd "$T/linked"
	echo here >only-here.txt
	git rebase -q main
	git checkpoint show --files @ >"$T/files"
	expect_grep '^only-here.txt$' "$T/files"
	expect_no_grep '^main.txt$' "$T/files"
	expect_exists "$(store_dir)"
	expect_missing "$(store_dir "$T/work")"
}

# rebase_output <dir>: what git says
rebase_output() {
	(cd "$1" && git rebase main </dev/null >"$T/out" 2>&1) || fail 'rebase failed'
	cat "$T/out"
}

test_git_says_the_same_with_and_without_the_hook() {
	diverged with
	diverged without
	install_hook with
	rebase_output without >expected
	rebase_output with >said
	expect_eq 1 "$(grep -c "^checkpoint: saved chk_.* before rebase; 'git checkpoint restore --git [0-9a-f]\{6\}' goes back\$" said)"
	grep -v '^checkpoint: ' said >actual
	expect_same expected actual
	expect_exists "$(store_dir with)"
	# and to the byte for those who want to hear nothing
	diverged quiet
	install_hook quiet
	git -C quiet config checkpoint.hookQuiet true
	rebase_output quiet >actual
	expect_same expected actual
	expect_exists "$(store_dir quiet)"
}

test_without_the_program_the_hook_is_silent() {
	diverged with
	diverged without
	orphaned_hook with
	# a PATH that has git, but not git-checkpoint
	mkdir bin
	for tool in git sh sed cat env basename uname; do
		ln -s "$(command -v $tool)" bin/
	done
	usual=$PATH
	PATH=$PWD/bin
	rebase_output without >expected
	rebase_output with >actual
	PATH=$usual
	expect_same expected actual
	expect_missing "$(checkpoint_home)"
}

test_a_failing_save_does_not_stop_the_rebase() {
	diverged
	install_hook
	GIT_CHECKPOINT_HOME=/dev/null/nowhere git rebase main >"$T/out" 2>&1
	expect_eq "$(git rev-parse main)" "$(git rev-parse HEAD~1)" 'parent after the rebase'
	expect_grep '^checkpoint: not saved before rebase: ' "$T/out"
}

test_an_incomplete_save_does_not_stop_the_rebase() {
	diverged
	install_hook
	git config checkpoint.maxFileSize 3
	git rebase -q main
	git checkpoint show --json @ >"$T/show"
	expect_eq oversize "$(json '.skipped[0].why' "$T/show")"
}

test_the_hook_does_not_call_itself() {
	diverged
	install_hook
	GIT_CHECKPOINT_IN_HOOK=1 git rebase -q main
	expect_missing "$(checkpoint_home)"
	# wherever it was put
	for hook in .git/hooks/pre-rebase .git/git-checkpoint/pre-rebase; do
		test ! -x $hook || GIT_CHECKPOINT_IN_HOOK=1 $hook main
	done
	expect_missing "$(checkpoint_home)"
}

# git puts changes away before it runs the hook: they are in the checkpoint all the same.
test_a_rebase_with_autostash_goes_well() {
	diverged
	install_hook
	echo dirty >>topic.txt
	git rebase -q --autostash main
	expect_grep dirty topic.txt
	expect_eq "$(git rev-parse main)" "$(git rev-parse HEAD~1)" 'parent after the rebase'
	git checkpoint list --json >"$T/list"
	expect_eq pre-rebase "$(json '.checkpoints[0].reason' "$T/list")"
	git --git-dir="$(store_dir)" show latest:topic.txt >"$T/topic"
	expect_grep dirty "$T/topic"
}

test_the_hook_always_succeeds() {
	git init -q r
	(cd r && git-checkpoint hooks install -q)
	expect_exit 0 sh r/.git/git-checkpoint/pre-rebase main
	git init -q --bare bare.git
	cd bare.git
	expect_exit 0 sh ../r/.git/git-checkpoint/pre-rebase main
}

run_tests
