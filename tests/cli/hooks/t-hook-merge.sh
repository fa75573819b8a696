#!/bin/sh
# SPDX-License-Identifier: MIT
# The reference-transaction hook with real git: merge, pull, am, stash and bisect in all their
# forms; the state before is saved, and what comes after the change is left alone.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/hooked.sh"

INSTALL=install_hooks # see hooked.sh
export INSTALL

test_merges_of_all_kinds() {
	make_template
	saves pre-merge dirty git merge ffb
	if_tried expect_eq 0 $status
	if_tried expect_exists ff.txt
	saves pre-merge dirty git merge feat
	if_tried expect_exists f.txt
	saves pre-merge dirty git merge feat other
	if_tried expect_eq 4 "$(git rev-list --parents -1 HEAD | wc -w)" 'the octopus and its parents'
	saves pre-merge dirty git merge conf
	if_tried expect_eq 1 $status
	all_rounds || return 0
	saves pre-merge dirty git merge --ff-only ffb
	saves pre-merge dirty git merge --no-ff ffb
	saves pre-merge dirty git merge -s resolve feat
	saves pre-merge dirty git merge -s ours feat
	saves pre-merge dirty git merge --no-verify feat
}

test_merges_that_do_not_commit() {
	make_template
	saves pre-merge dirty git merge --squash feat
	saves pre-merge dirty git merge --no-commit feat
	# refused, for the sake of the change: harmless, but it could not be known
	saves pre-merge dirty git merge over
	if_tried expect_eq 1 $status
	all_rounds || return 0
	saves pre-merge dirty git merge --squash ffb
	saves pre-merge dirty git merge --no-commit --no-ff ffb
}

test_merges_with_autostash() {
	make_template
	staged='dirty; echo staged >new.txt; git add new.txt; git rm -q e.txt; chmod +x d.txt'
	saves pre-merge "$staged" git merge --autostash feat
	all_rounds || return 0
	saves pre-merge "$staged" git merge --autostash ffb
	saves pre-merge dirty git merge --autostash over
	saves pre-merge 'git config merge.autoStash true; dirty' git merge feat
}

test_pulls() {
	make_template
	up='git remote add up ../../template; dirty'
	saves pre-merge "$up" git pull -q up ffb
	if_tried expect_exists ff.txt
	saves pre-merge "$up" git pull -q --no-rebase --no-edit up feat
	# nothing to be rebased: git merges
	saves pre-merge "$up" git pull -q --rebase --autostash up ffb
	saves pre-rebase 'git remote add up ../../template; untracked' git pull -q --rebase up feat
	saves pre-rebase "git checkout -q feat; $up" git pull -q --rebase --autostash up main
	all_rounds || return 0
	saves pre-merge "$up" git pull -q --no-rebase --autostash up over
}

test_am() {
	make_template
	git -C "$T/template" format-patch -q -1 feat -o "$T/patches"
	git -C "$T/template" format-patch -q -1 conf -o "$T/conf"
	saves pre-am dirty git am "$T"/patches/0001-feat.patch
	if_tried expect_exists f.txt
	saves pre-am dirty git am -3 "$T"/conf/0001-conf.patch
	if_tried expect_eq 128 $status
	# they write ORIG_HEAD or HEAD when it is too late
	saves_none 'git am -q -3 "$T"/conf/0001-conf.patch >/dev/null 2>&1 || :' git am --abort
	saves_none 'git am -q -3 "$T"/conf/0001-conf.patch >/dev/null 2>&1 || :' git am --skip
}

test_stash() {
	make_template
	saves pre-stash dirty git stash
	saves pre-stash+i dirty git stash -a
	if_tried expect_missing x.log
	saves pre-stash 'dirty; git stash -q; dirty' git stash push -u
	stashed='dirty; git stash -q; echo more >>e.txt'
	saves_none "$stashed" git stash drop
	saves_none "$stashed" git stash clear
	saves_none "$stashed" git stash pop
	saves_none dirty git stash create
	# an autostash that cannot be brought back is stored as a stash, late
	saves pre-merge dirty git merge --autostash over
	if_tried expect_eq 1 "$(git stash list | wc -l)" 'stashes'
	all_rounds || return 0
	saves pre-stash 'dirty; git add d.txt' git stash push -k
	saves pre-stash 'dirty; git add d.txt' git stash push --staged
	saves pre-stash dirty git stash push -- d.txt
	saves pre-stash dirty git stash save words
}

test_bisect() {
	make_template
	steps='for i in 1 2 3 4 5 6 7 8; do commit $i n.txt $i; done'
	saves pre-bisect "$steps; untracked" git bisect start HEAD HEAD~7
	saves pre-bisect "$steps; git bisect start HEAD HEAD~7 >/dev/null; untracked" git bisect good
	saves_none "$steps; git bisect start HEAD HEAD~7 >/dev/null; untracked" git bisect reset
	saves_none "$steps; git bisect start HEAD HEAD~7 >/dev/null; untracked" git bisect log
}

test_what_writes_orig_head_late_takes_none() {
	make_template
	saves_none dirty git reset --hard HEAD~1
	saves_none 'git merge -q conf >/dev/null || :; dirty' git merge --abort
	if_tried expect_eq 0 $status
	saves_none 'git cherry-pick conf >/dev/null 2>&1 || :; dirty' git cherry-pick --abort
	saves_none 'git cherry-pick conf feat >/dev/null 2>&1 || :; dirty' git cherry-pick --skip
	saves_none dirty git worktree add -q ../wt feat
	if_tried git worktree remove --force ../wt
	saves_none dirty git update-ref ORIG_HEAD HEAD
	saves_none dirty git commit -q -a -m x
	all_rounds || return 0
	saves_none dirty git reset --merge HEAD~1
	saves_none dirty git reset --keep HEAD~1
	saves_none dirty git reset -q HEAD~1
	saves_none dirty git update-ref refs/stash HEAD
	saves_none dirty git branch new
	saves_none dirty git tag -a -m x new
}

test_only_events_that_were_asked_for() {
	make_template
	INSTALL='git-checkpoint hooks install -q --events am,bisect'
	saves_none dirty git merge feat
	saves_none dirty git stash
	git -C "$T/template" format-patch -q -1 feat -o "$T/patches"
	saves pre-am dirty git am "$T"/patches/0001-feat.patch
}

test_an_identical_state_takes_none() {
	make_template
	fresh dirty
	install_hooks
	git-checkpoint save -q -m mine
	git merge feat >/dev/null 2>"$T/err"
	expect_eq 'mine cli' "$(checkpoints)"
	expect_grep '^checkpoint: state before merge is in chk_' "$T/err"
	git merge -q other 2>"$T/err"
	expect_eq 'mine cli,pre-merge hook' "$(checkpoints | tr '\n' ',' | sed 's/,$//')"
	# nothing to do, nothing changed
	git merge -q other
	expect_eq 3 "$(checkpoints | wc -l)" 'after a merge, of what it made'
	git merge -q other
	expect_eq 3 "$(checkpoints | wc -l)" 'nothing new'
}

run_tests
