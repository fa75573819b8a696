#!/bin/sh
# SPDX-License-Identifier: MIT
# The guard where git works elsewhere: -C, separate git directories, submodules, a push.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/guarded.sh"

test_a_push_that_updates_the_worktree() {
	make_template
	fresh 'git config receive.denyCurrentBranch updateInstead; untracked'
	guard_only
	state >"$T/before"
	git -C "$T/template" push -q "$PWD" ffb:main
	expect_exists ff.txt
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
}

test_where_git_works() {
	make_template
	# git -C, from elsewhere, and from a directory below
	fresh dirty
	guard_only
	state >"$T/before"
	cd "$T"
	git -C work/r -c core.abbrev=8 reset -q --hard
	cd work/r
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	echo more >>e.txt
	cd sub
	git reset -q --hard
	cd ..
	expect_eq 2 "$(checkpoints | wc -l)"
	# a linked worktree has a store of its own
	git worktree add -q "$T/linked" feat
	cd "$T/linked"
	dirty
	state >"$T/before"
	git checkout -q -f
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	expect_eq 1 "$(checkpoints | wc -l)"
	cd "$T/work/r"
	expect_eq 2 "$(checkpoints | wc -l)"
}

test_separate_git_directories() {
	make_template
	fresh dirty
	mv .git "$T/sep.git"
	echo "gitdir: $T/sep.git" >.git
	guard_only
	rm .git
	# said by the environment alone
	state >"$T/before"
	GIT_DIR=$T/sep.git git reset -q --hard
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	# by options, from elsewhere
	dirty
	echo more >>e.txt
	state >"$T/before"
	(cd / && git --git-dir="$T/sep.git" --work-tree="$T/work/r" reset -q --hard)
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	# by a file
	echo "gitdir: $T/sep.git" >.git
	dirty
	echo again >>e.txt
	state >"$T/before"
	git reset -q --hard
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	expect_eq 3 "$(checkpoints | wc -l)"
}

test_submodules() {
	make_template
	fresh 'git -c protocol.file.allow=always submodule --quiet add ../../template m; git commit -q -m m'
	guard_only
	git -C m checkout -q --detach HEAD~1
	echo dirty >>m/d.txt
	state >"$T/before"
	run git submodule update --force
	expect_eq 0 $status
	expect_eq 'pre-submodule hook' "$(checkpoints)"
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	# in the submodule itself
	cd m
	guard_only
	echo dirty >>d.txt
	state >"$T/before"
	git reset -q --hard
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	expect_eq 'pre-reset hook' "$(checkpoints)"
}

# Its checkpoints are in a store of its own, where they must be looked for.
test_what_is_saved_in_a_submodule_says_so() {
	make_template
	fresh 'git -c protocol.file.allow=always submodule --quiet add ../../template m; git commit -q -m m'
	guard_only
	(cd m && guard_only)
	echo dirty >>m/d.txt
	state >"$T/before"
	run git submodule foreach 'git reset --hard'
	grep 'goes back$' "$T/err" >"$T/said"
	expect_grep "^checkpoint: saved chk_[0-9a-f_]* before submodule; 'git checkpoint restore --git [0-9a-f]\{6\}' goes back\$" "$T/said"
	expect_grep "^checkpoint: saved chk_[0-9a-f_]* before submodule in 'm'; 'git -C m checkpoint restore --git [0-9a-f]\{6\}' goes back\$" "$T/said"
	expect_eq 2 "$(wc -l <"$T/said")"
	git -C m checkpoint restore -q -y --git @
	expect_grep dirty m/d.txt
	# again, and from elsewhere
	git submodule --quiet foreach 'git reset --hard' 2>"$T/said"
	expect_grep "^checkpoint: state before submodule in 'm' is in chk_[0-9a-f_]*; 'git -C m checkpoint restore --git [0-9a-f]\{6\}' goes back\$" "$T/said"
	echo dirtier >>m/d.txt
	git -C m reset --hard 2>"$T/said"
	expect_grep "before reset; 'git checkpoint restore --git [0-9a-f]\{6\}' goes back\$" "$T/said"
}

test_what_is_done_to_all_submodules() {
	make_template
	fresh 'git -c protocol.file.allow=always submodule --quiet add ../../template m; git commit -q -m m'
	guard_only
	echo dirty >>m/d.txt
	echo l >m/x.log
	state all >"$T/before"
	git submodule --quiet foreach git status -s >/dev/null
	git submodule --quiet foreach 'git status -s' >/dev/null
	expect_eq '' "$(checkpoints)"
	git submodule --quiet foreach 'git reset -q --hard'
	expect_eq 'pre-submodule hook' "$(checkpoints)"
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	git submodule --quiet foreach --recursive git clean -q -fdx
	expect_missing m/x.log
	expect_eq l "$(git --git-dir="$(store_dir)" show latest:m/x.log)"
	echo quoted >m/x.log
	git submodule --quiet foreach 'git clean -q -fdx'
	expect_missing m/x.log
	expect_eq quoted "$(git --git-dir="$(store_dir)" show latest:m/x.log)"
	# a name that ends like that of a git program, an alias
	git -C m branch feature/git-fix
	git config --global alias.co checkout
	for command in 'git reset -q --hard feature/git-fix' 'git co -q .'; do
		echo "$command" >m/d.txt
		git submodule --quiet foreach "$command"
		expect_eq d "$(cat m/d.txt)"
		expect_eq "$command" "$(git --git-dir="$(store_dir)" show latest:m/d.txt)"
	done
	echo again >m/x.log
	git submodule --quiet deinit m
	expect_missing m/x.log
	expect_eq again "$(git --git-dir="$(store_dir)" show latest:m/x.log)"
}

run_tests
