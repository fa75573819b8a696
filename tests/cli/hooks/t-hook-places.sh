#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands and places that are easily overlooked by the guard.

. "$(dirname "$0")/../../lib/harness.sh"
ROWS=${ROWS:-1}
. "$LIB_DIR/guarded.sh"

# The fetch moves the branch, and pull the files, before any merge is called.
test_a_pull_into_the_branch_at_hand() {
	make_template
	up='git remote add up ../../template; dirty; git -C ../../template branch -q -f next ffb'
	saves pre-merge "$up" git pull -q up ffb:main
	expect_exists ff.txt
	saves pre-merge "$up; git config remote.up.fetch +refs/heads/ffb:refs/heads/main" git pull -q up ffb
	expect_exists ff.txt
	saves pre-rebase "$up" git pull -q --rebase --autostash up ffb:main
}

test_a_worktree_in_a_git_directory() {
	make_template
	fresh :
	guard_only
	git worktree add -q .git/wt feat
	cd .git/wt
	dirty
	state >"$T/before"
	run git reset -q --hard
	expect_eq 'pre-reset hook' "$(checkpoints)"
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	# from below, and what is not a worktree is still not one
	echo more >>e.txt
	cd sub
	git checkout -q -f
	cd ..
	expect_eq 2 "$(checkpoints | wc -l)"
	cd ..
	run git --git-dir=. --work-tree=. reset -q
	expect_eq '' "$(cat "$T/err")"
}

test_parts_of_merges_called_directly() {
	make_template
	base=$(git -C "$T/template" merge-base main feat)
	saves pre-merge dirty git merge-recursive "$base" -- main feat
	saves pre-merge dirty git merge-subtree "$base" -- main feat
	saves pre-merge dirty git merge-resolve "$base" -- main feat
	saves pre-merge dirty git merge-octopus "$base" -- main feat other
	expect_eq f "$(cat f.txt)"
}

test_rerere() {
	make_template
	(
		cd "$T/template"
		git config rerere.enabled true
		git merge -q conf >/dev/null 2>&1 || :
		echo resolved >m.txt
		git rerere 2>/dev/null
		git reset -q --hard
	)
	saves pre-rerere 'git -c rerere.enabled=false merge -q conf >/dev/null 2>&1 || :; dirty; grep -q "<<<" m.txt' \
		git -c rerere.enabled=true rerere
	expect_eq resolved "$(cat m.txt)"
}

# What is edited in the second of its directories comes back.
test_difftool_of_directories() {
	make_template
	printf '#!/bin/sh\nrm "$2/d.txt"; echo edited >"$2/d.txt"\n' >"$T/tool"
	chmod +x "$T/tool"
	saves pre-difftool 'echo mine >>d.txt; untracked' git difftool -d --no-symlinks -y -x "$T/tool"
	expect_eq edited "$(cat d.txt)"
}

test_submodule_add() {
	make_template
	git config --global protocol.file.allow always
	saves pre-submodule 'dirty; printf "# mine\n" >.gitmodules; git add .gitmodules' \
		git submodule --quiet add ../../template m
	expect_exists m/d.txt
}

# It moves branches and leaves files and index alone; git asks only where it reads the index.
# Should a newer one change files, this says so.
test_history() {
	git history -h 2>&1 | grep -q '^usage: git history' || skip 'needs git history, of git 2.54'
	make_template
	GIT_EDITOR='echo words >'
	export GIT_EDITOR
	for command in 'reword HEAD' 'split HEAD -- split.txt' 'fixup HEAD'; do
		fresh 'echo 1 >split.txt; echo 1 >rest.txt; git add .; git commit -q -m two; dirty
			echo staged >>rest.txt; git add rest.txt'
		guard_only
		head=$(git rev-parse HEAD)
		{ state && git ls-files -s; } >"$T/before"
		# shellcheck disable=SC2086 # words
		echo y | git history $command >"$T/out" 2>&1 || :
		test "$head" != "$(git rev-parse HEAD)" || fail "nothing happened with '$command': $(cat "$T/out")"
		{ state && git ls-files -s; } >"$T/after"
		expect_same "$T/before" "$T/after"
	done
	git history -h 2>&1 | grep -q 'git history fixup' || return 0
	expect_eq 'pre-history hook' "$(checkpoints)"
}

test_status_says_what_is_not_seen() {
	make_template
	fresh :
	git config --global protocol.file.allow always
	git-checkpoint hooks install -q >/dev/null
	git-checkpoint hooks status >"$T/out"
	expect_grep '^not seen by these hooks:' "$T/out"
	expect_grep '^  commands that run no hook (reset --hard, checkout' "$T/out"
	expect_no_grep submodule "$T/out"
	guard_only
	git-checkpoint hooks status >"$T/out"
	expect_no_grep 'run no hook' "$T/out"
	git submodule --quiet add ../../template m 2>/dev/null
	git-checkpoint hooks status >"$T/out"
	expect_grep '^  commands run in a submodule (install hooks there, too)' "$T/out"
	git-checkpoint hooks status --json >"$T/json"
	expect_eq true "$(json '.not_seen | map(test("submodule")) | any' "$T/json")"
}

run_tests
