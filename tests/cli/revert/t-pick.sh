#!/bin/sh
# SPDX-License-Identifier: MIT
# pick does again what a step did, in files that became others since; git cherry-pick says the same.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/revert.sh"

seed=$TEST_SEED

# pick [<option>...] <checkpoint>: one that must succeed
pick() {
	restoring 0 pick --yes "$@"
}

# rnd <n>: sets $rnd, 0 to n - 1
rnd() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	rnd=$((seed / 65536 % $1))
}

# attempts: a base, and two attempts from it; the worktree is the second
attempts() {
	seq 1 30 | tee f >g
	git-checkpoint save -q --name base
	edit f 5 five
	echo new >h
	git-checkpoint save -q --name one
	git-checkpoint restore -q -y base
	edit f 20 twenty
	rm g
	git-checkpoint save -q --name two
}

test_two_attempts_picked_into_a_third_tree_give_both() {
	attempts
	git-checkpoint restore -q -y base
	pick base..one
	pick base..two
	expect_eq five "$(sed -n 5p f)"
	expect_eq twenty "$(sed -n 20p f)"
	expect_eq new "$(cat h)"
	test ! -e g
}

test_picked_twice_there_is_nothing_to_do() {
	attempts
	pick one
	note picked
	restoring 0 pick --yes one
	expect_noted picked
	expect_eq '' "$(reverted)"
}

test_revert_takes_back_what_was_picked_and_undo_too() {
	attempts
	note before
	pick one
	git-checkpoint undo -q -y
	expect_noted before
	pick one
	revert one
	expect_noted before
}

test_a_dry_run_shows_the_patch_and_does_nothing() {
	attempts
	note before
	git-checkpoint pick -n one >"$T/out"
	expect_grep '^+five' "$T/out"
	expect_grep '^Would pick ' "$T/out"
	expect_exit 5 git-checkpoint pick one </dev/null
	expect_noted before
}

test_only_some_paths() {
	attempts
	pick one -- h
	expect_eq new "$(cat h)"
	expect_eq 5 "$(sed -n 5p f)"
}

test_conflicts_stay_and_are_named() {
	attempts
	edit f 5 cinq
	rm -f h
	mkdir h
	echo mine >h/mine
	note before
	restoring 3 pick --yes one
	expect_conflicts content f 'in the way' h
	expect_noted before
	restoring 3 pick --yes --conflicts=markers one -- f
	expect_grep '^<<<<<<< now' f
	expect_grep '^five' f
}

test_what_it_deleted_but_was_changed_here_stays() {
	attempts
	git-checkpoint restore -q -y base
	edit g 3 three
	restoring 3 pick --yes two
	expect_conflicts modify/delete g
	told '.conflicts[0].why' | expect_grep 'deleted by it, changed here' -
	expect_eq three "$(sed -n 3p g)"
	expect_eq twenty "$(sed -n 20p f)"
}

test_the_log_and_the_json_name_it() {
	attempts
	pick one
	git-checkpoint show --json one >"$T/one.json"
	expect_eq "$(json .id "$T/one.json")" "$(told .restored_to.checkpoint_id)"
	git-checkpoint log >"$T/log"
	expect_grep '  pick  ' "$T/log"
}

# change <number>: one of several things to one of four files of 40 lines
change() {
	rnd 4
	change_file=file$rnd
	rnd 6
	case $rnd in
	0) rm -f $change_file ;;
	1) echo "created by $1" >"new$1" ;;
	2) test ! -e $change_file || { rnd 2 && chmod $((644 + rnd * 111)) $change_file; } ;;
	*)
		rnd 8
		test ! -e $change_file || edit $change_file $((rnd * 5 + 1)) "changed by $1"
		;;
	esac
}

in_git() {
	git --git-dir="$T/git" --work-tree="$T/git-tree" -c user.name=a -c user.email=a -c core.autocrlf=false \
		-c merge.renames=false -c core.fileMode=true "$@"
}

# commit <name>: the files as they are
commit() {
	rm -rf "$T/git-tree"
	cp -a . "$T/git-tree"
	in_git add -A
	in_git commit -q --allow-empty -m "$1"
	in_git tag "$1"
}

one_round() {
	for file in 0 1 2 3; do
		seq 1 40 | sed "s/^/file $file line /" >file$file
	done
	rm -rf "$T/git"
	in_git init -q
	git-checkpoint save -q --allow-empty --name "from-$1"
	commit a
	change 1
	change 2
	git-checkpoint save -q --allow-empty --name "to-$1"
	commit b
	git-checkpoint restore -q -y "from-$1"
	change 3
	change 4
	change 5
	in_git checkout -q a
	commit now
	expected=0
	in_git cherry-pick --allow-empty --keep-redundant-commits b >"$T/git.out" 2>&1 || expected=3
	note before
	restoring $expected pick --yes "from-$1..to-$1"
	if test $expected = 3; then
		in_git diff --name-only --diff-filter=U | sort >"$T/git.conflicts"
		told '[.conflicts[].file + "\n"] | add // ""' | sed '/^$/d' | sort >"$T/our.conflicts"
		expect_same "$T/git.conflicts" "$T/our.conflicts"
	else
		# Stock git knows only the exec bit, so its copies are compared with that.
		diff -r --exclude=.git . "$T/git-tree" || fail "not as cherry-picked"
	fi
	test -z "$(reverted)" || git-checkpoint undo -q -y
	expect_noted before
	rm -f file* new*
}

test_random_steps_as_git_cherry_pick_does_them() {
	round=0
	while test $round -lt "${PICK_ROUNDS:-12}"; do
		round=$((round + 1))
		echo "# round $round, seed $seed"
		one_round $round
	done
}

run_tests
