#!/bin/sh
# SPDX-License-Identifier: MIT
# The pre-rebase hook with real rebases. Under --autostash it comes when git has already put the
# changes aside: the state before is put together again.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/hooked.sh"

INSTALL=install_hooks # see hooked.sh
export INSTALL

on_feat='git checkout -q feat; untracked'

test_rebases_of_all_kinds() {
	make_template
	saves pre-rebase "$on_feat" git rebase main
	if_tried expect_eq "$(git rev-parse main)" "$(git rev-parse HEAD~1)" 'parent after the rebase'
	saves pre-rebase "$on_feat" git rebase --apply main
	saves pre-rebase "$on_feat" env GIT_SEQUENCE_EDITOR=: git rebase -i main
	saves pre-rebase untracked git rebase main feat
	saves pre-rebase untracked git rebase ffb
	saves pre-rebase "$on_feat" git rebase -x 'git status' -x 'git reset -q --hard' main
	saves pre-rebase 'git checkout -q conf; untracked' git rebase main
	if_tried expect_eq 1 $status
	# refused before anything is asked; not asked at all; over already
	saves_none 'git checkout -q feat; dirty' git rebase main
	saves_none "$on_feat" git rebase --no-verify main
	saves_none 'git checkout -q conf; git rebase -q main >/dev/null 2>&1 || :' git rebase --abort
	if_tried expect_eq 0 $status
}

# Everything that can be put aside.
changes='
	dirty
	echo staged >staged.txt; mkdir new; echo n >new/n.txt; git add staged.txt new
	echo both >e.txt; git add e.txt; echo more >>e.txt
	git rm -q sub/deep/g.txt
	chmod -x run.sh; chmod +x sub/e.txt
	ln -sfn other lnk; ln -s d.txt fresh; git add fresh
	printf "a\\0b" >bin; git add bin
	'

test_autostash_is_rebuilt() {
	make_template
	staged="git checkout -q feat; $changes"
	saves pre-rebase "$staged" git rebase -q --autostash main
	if_tried expect_eq 0 $status
	saves pre-rebase "$staged" git rebase -q --autostash --apply main
	saves pre-rebase "$staged" env GIT_SEQUENCE_EDITOR=: git rebase -q -i --autostash main
	saves pre-rebase "git config rebase.autoStash true; $staged" git rebase -q main
	# nothing of it stays in the store
	if_tried expect_missing "$(store_dir)/checkpoint/autostash"
	if_tried git --git-dir="$(store_dir)" fsck --strict
}

test_autostash_with_renames_and_changes_of_kind() {
	make_template
	saves pre-rebase 'git checkout -q feat; git mv d.txt moved.txt; echo x >>moved.txt' \
		git rebase -q --autostash main
	saves pre-rebase 'git checkout -q feat; git mv sub elsewhere' git rebase -q --autostash main
	saves pre-rebase 'git checkout -q feat; rm d.txt; ln -s e.txt d.txt; rm lnk; echo l >lnk' \
		git rebase -q --autostash main
	saves pre-rebase 'git checkout -q feat; git rm -qr sub; echo file >sub; git add sub' \
		git rebase -q --autostash main
	saves pre-rebase 'git checkout -q feat; git rm -q d.txt; mkdir d.txt; echo x >d.txt/x; git add d.txt' \
		git rebase -q --autostash main
}

# Whether a directory was there with nothing in it, or not at all, shows in when it was made.
test_autostash_and_directories_that_were_empty() {
	make_template
	echo probe >"$T/probe"
	case $(stat -c %W "$T/probe") in
	0 | -*) skip 'this file system does not keep when things were made' ;;
	esac
	saves pre-rebase 'git checkout -q feat; rm sub/deep/g.txt' git rebase -q --autostash main
	saves pre-rebase 'git checkout -q feat; rm -r sub/deep' git rebase -q --autostash main
	saves pre-rebase 'git checkout -q feat; rm -r sub' git rebase -q --autostash main
	saves pre-rebase 'git checkout -q feat; rm sub/deep/g.txt sub/e.txt' git rebase -q --autostash main
}

# plain: without what git cannot track: its own names, and modes other than executable
plain() {
	find . -mindepth 1 -path ./.git -prune -o \( -iname '*.git*' -o -iname '*git~1*' \) -print0 |
		xargs -0 rm -rf
	chmod -R u+rwX .
	find . -path ./.git -prune -o -type d -print0 | xargs -0 chmod 755
	find . -path ./.git -prune -o -type f -perm -100 -print0 | xargs -0 -r chmod 755
	find . -path ./.git -prune -o -type f ! -perm -100 -print0 | xargs -0 -r chmod 644
}

# odd <seed>: names and changes of all kinds, every other change staged
odd() {
	git init -q "odd$1"
	cd "odd$1"
	make_tree "$1"
	plain
	git add -A -f .
	git commit -q -m base
	git checkout -q -b topic
	commit topic topic-file t
	git checkout -q main
	commit main main-file m
	git checkout -q topic
	damage_tree "$1"
	plain
	# an empty directory in the place of a file is gone when the hook runs: see hook_autostash.c
	git ls-files -z | xargs -0 -r sh -c 'for path; do test -L "$path" || rmdir -- "$path"; done' sh 2>/dev/null || :
	git ls-files -z -m -o | perl -0ne 'print if $i++ % 2' | xargs -0 -r -n 1 git add -A -f -- 2>/dev/null || :
	install_hooks
	GIT_CHECKPOINT_HOME=$T/reference git-checkpoint save -q
	GIT_CHECKPOINT_HOME=$T/reference stored >"$T/before"
	# git itself cannot put everything aside; it can with the first
	git rebase -q --autostash main || {
		test "$1" != 2
		cd ..
		return
	}
	expect_eq pre-rebase "$(git-checkpoint list --json | jq -r '.checkpoints[0].reason')"
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	cd ..
}

test_autostash_of_odd_trees() {
	odd 2
	all_rounds || return 0
	for seed in 1 4 5 7; do
		odd $seed
	done
}

test_autostash_with_conversions() {
	make_template
	(
		cd "$T/template"
		printf '*.crlf text eol=crlf\n*.rot filter=rot\n' >.gitattributes
		commit attributes a.crlf one b.rot abc
		git branch -f feat
		commit ahead ahead.txt x
	)
	convert='
		git config filter.rot.clean "tr a-z b-za"; git config filter.rot.smudge "tr b-za a-z"
		rm *.crlf *.rot; git checkout -q feat; git checkout -q .
		printf "one\r\ntwo\r\n" >a.crlf; echo xyz >>b.rot'
	saves pre-rebase "$convert" git rebase -q --autostash main
	if_tried expect_eq 0 $status
	if_tried expect_grep xyz "$T/work/r/b.rot"
}

test_autostash_does_not_spoil_what_is_known_of_the_files() {
	make_template
	tried=
	until test -n "$tried"; do
		saves pre-rebase 'git checkout -q feat; dirty' git rebase -q --autostash main
	done
	# the worktree has d.txt as it was and f.txt on top of main: all must be seen
	git-checkpoint save -q
	state >"$T/now"
	stored >"$T/stored"
	expect_same "$T/now" "$T/stored"
	git-checkpoint verify --all -q
}

test_autostash_of_the_same_state_takes_none() {
	make_template
	fresh 'git checkout -q feat; dirty'
	install_hooks
	git-checkpoint save -q -m mine
	run git rebase -q --autostash main
	expect_eq 0 $status
	expect_eq 'mine cli' "$(checkpoints)"
}

# What git put aside is staged in the checkpoint, which is of the time before.
test_autostash_of_staged_changes() {
	make_template
	fresh 'git checkout -q feat; dirty'
	echo staged >staged.new
	git add staged.new
	git diff --cached --raw --no-abbrev >"$T/staged"
	install_hooks
	run git rebase -q --autostash main
	expect_eq 0 $status
	git --git-dir="$(store_dir)" cat-file blob 'latest^:git/index' | tr '\0' '\n' >"$T/index"
	expect_grep "^entry 100644 $(echo staged | git hash-object --stdin) 0 - 000000 - staged.new\$" "$T/index"
	expect_eq "$(wc -l <"$T/staged")" "$(wc -l <"$T/index")"
	git --git-dir="$(store_dir)" ls-tree --name-only 'latest^' git/ >"$T/list"
	expect_no_grep 'autostash' "$T/list"
	git-checkpoint show --json @ >"$T/out"
	expect_eq null "$(json .project.operation "$T/out")"
	expect_eq feat "$(json .project.branch "$T/out")"
}

test_autostash_says_what_cannot_be_exact() {
	make_template
	fresh 'git checkout -q feat; dirty; echo "*.tmp" >>.gitignore'
	install_hooks
	run git rebase -q --autostash main
	git-checkpoint save --json -m none >/dev/null
	id=$(git-checkpoint list --json | jq -r '.checkpoints[-1].id')
	git --git-dir="$(store_dir)" log -1 --format=%B "refs/checkpoints/$id" >"$T/record"
	expect_grep 'git stashed were taken from its commit' "$T/record"
	expect_grep '.gitignore' "$T/record"
}

test_a_refused_overlay_is_said() {
	make_template
	fresh "$on_feat"
	install_hooks
	mkdir .git/rebase-merge
	git rev-parse main >.git/rebase-merge/autostash
	run git-checkpoint hook pre-rebase main
	expect_eq 0 $status
	expect_eq '' "$(cat "$T/out")" stdout
	expect_grep '^checkpoint: not saved before rebase: ' "$T/err"
}

run_tests
