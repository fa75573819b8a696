#!/bin/sh
# SPDX-License-Identifier: MIT
# show and diff: what was staged when a checkpoint was taken.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/gitstate.sh"

# All kinds of entries but unmerged ones.
stage_everything() {
	printf 'one\ntwo\n' >d/c
	git add d/c
	echo unstaged >>d/c
	echo new >new
	git add new
	git rm -q --cached b
	chmod +x a
	git add a
	ln -s a link
	git add link
	echo later >later
	git add -N later
	git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),module"
}

# git's own words, which differ only in what nobody reads
plain() {
	sed -e 's/^index [0-9a-f]*\.\.[0-9a-f]*/index /'
}

test_the_patch_is_that_of_git() {
	for format in sha1 sha256; do
		mkdir $format
		cd $format
		make_project --object-format=$format
		stage_everything
		for form in --patch --stat --numstat --shortstat --name-only --name-status '-U1' '-M'; do
			git -c core.abbrev=7 diff --cached --no-color $form | plain >"$T/expected"
			git-checkpoint save -q
			git-checkpoint show --staged $form @ | plain >"$T/actual"
			expect_same "$T/expected" "$T/actual"
		done
		git diff --cached --no-color -- d new | plain >"$T/expected"
		git-checkpoint show --staged @ d new | plain >"$T/actual"
		expect_same "$T/expected" "$T/actual"
		cd ..
	done
}

test_head_lines_tell_it() {
	make_project
	git-checkpoint save -q
	git-checkpoint show @ >"$T/out"
	expect_no_grep '^Index:\|^Operation:' "$T/out"
	stage_everything
	git-checkpoint save -q
	git-checkpoint show @ >"$T/out"
	expect_grep '^Index: *6 staged, 1 to be added$' "$T/out"
	expect_eq '{"intent_to_add":1,"staged":6,"unmerged":0}' "$(shown '.project.index | tojson' | jq -S -c .)"
	git reset -q --hard
	git clean -fdq
	git checkout -q side
	for n in 1 2 3; do
		echo "side $n" >a
		git commit -q -a -m "side $n"
	done
	git rebase -q main || :
	git-checkpoint save -q
	git-checkpoint show @ >"$T/out"
	expect_grep '^Index: *1 unmerged$' "$T/out"
	expect_grep '^Operation: *rebase 1/4$' "$T/out"
	expect_eq rebase "$(shown .project.operation)"
	expect_eq 1/4 "$(shown .project.progress)"
	expect_eq 1 "$(shown .project.index.unmerged)"
	git-checkpoint show --staged @ >"$T/out"
	expect_eq '* Unmerged path a' "$(cat "$T/out")"
	expect_eq 'U	a' "$(git-checkpoint show --staged --name-status @)"
	git-checkpoint show --staged --json @ >"$T/out"
	expect_eq '[["a"],[]]' "$(json '[.unmerged, .staged] | tojson' "$T/out")"
}

test_refs_are_told() {
	make_project
	echo stashed >>b
	git stash push -q -m 'for later'
	git-checkpoint save -q
	expect_eq "main side" "$(shown '[.project.refs.branches[].name] | join(" ")')"
	expect_eq "$(git rev-parse side)" "$(shown '.project.refs.branches[1].commit')"
	expect_eq 'stash@{0} On main: for later' "$(shown '.project.refs.stashes[0] | .name + " " + .message')"
	expect_eq "$(git rev-parse stash)" "$(shown '.project.refs.stashes[0].commit')"
	case $(shown .project.hash) in
	sha256:*) ;;
	*) fail 'no hash' ;;
	esac
}

test_it_survives_a_pruned_repository() {
	for format in sha1 sha256; do
		mkdir $format
		cd $format
		make_project --object-format=$format
		stage_everything
		git diff --cached --no-color | plain >"$T/expected"
		git-checkpoint save -q
		git reset -q --hard
		git reflog expire --expire=now --all
		git gc -q --prune=now
		git-checkpoint show --staged -p @ | plain >"$T/actual"
		expect_same "$T/expected" "$T/actual"
		cd ..
	done
}

# A commit that is gone, which had what the index was compared with.
test_what_is_gone_is_named() {
	make_project
	git checkout -q -b doomed
	echo 'soon gone' >b
	git commit -q -a -m doomed
	echo 'staged' >b
	git add b
	git-checkpoint save -q
	git checkout -q -f main
	git branch -D -q doomed
	git reflog expire --expire=now --all
	git gc -q --prune=now
	expect_exit 128 git-checkpoint show --staged @ >"$T/out" 2>"$T/err"
	expect_grep "contents of 'b' ([0-9a-f]*) are neither in the checkpoint nor in the repository" "$T/err"
	expect_eq 'M	b' "$(git-checkpoint show --staged --name-status @)"
	expect_exit 128 git-checkpoint diff --staged @ 2>"$T/err"
	expect_grep "unable to read the tree of commit" "$T/err"
}

test_diff_compares_with_the_index_now() {
	make_project
	echo staged >b
	git add b
	git-checkpoint save -q
	git-checkpoint diff --staged >"$T/out"
	expect_eq '' "$(cat "$T/out")"
	git-checkpoint diff --staged --quiet
	git reset -q
	expect_exit 1 git-checkpoint diff --staged --quiet
	git-checkpoint diff --staged >"$T/out"
	expect_grep '^-staged$' "$T/out"
	expect_grep '^+one$' "$T/out"
	expect_eq 'M	b' "$(git-checkpoint diff --staged --name-status)"
	# whatever HEAD is now
	git checkout -q -f side
	expect_eq 'M	a,M	b,' "$(git-checkpoint diff --staged --name-status | tr '\n' ,)"
	expect_eq 'M	a' "$(git-checkpoint diff --staged --name-status @ -- a)"
	git-checkpoint diff --staged --json >"$T/out"
	expect_eq 'a b' "$(json '[.changes[].file] | join(" ")' "$T/out")"
	expect_eq null "$(json .to "$T/out")"
	# and of two checkpoints
	echo more >c
	git add c
	git-checkpoint save -q
	git reset -q --hard main
	expect_eq 'M	a,M	b,A	c,' "$(git-checkpoint diff --staged --name-status @~1 @ | tr '\n' ,)"
	git-checkpoint diff --staged @~1 @ -- c >"$T/out"
	expect_grep '^+more$' "$T/out"
}

test_without_a_state_it_is_said() {
	echo 1 >a
	git-checkpoint save -q
	expect_exit 128 git-checkpoint show --staged @ 2>"$T/err"
	expect_grep 'has no state of the repository' "$T/err"
	expect_exit 128 git-checkpoint diff --staged 2>"$T/err"
	expect_grep 'has no state of the repository' "$T/err"
	expect_exit 129 git-checkpoint show --staged --files @ 2>"$T/err"
	expect_grep "'--staged' does not go with '--files'" "$T/err"
}

run_tests
