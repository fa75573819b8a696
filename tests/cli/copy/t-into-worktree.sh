#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --into --worktree: the dirty state forked, with the HEAD and the index of then.

. "$(dirname "$0")/../../lib/harness.sh"

# fork <status> <argument>...
fork() {
	status=$1
	shift
	expect_exit "$status" git-checkpoint restore --json --into "$@" >"$T/answer" 2>"$T/err"
	said "$T/answer" >>"$T/err"
}

# whereabouts <dir>: what git says of it; not what is ignored or left out
whereabouts() {
	git -C "$1" rev-parse HEAD
	git -C "$1" status --porcelain=v2 --untracked-files=all
	git -C "$1" diff --cached --raw --no-abbrev
	git -C "$1" diff --binary
	git -C "$1" ls-files -s -v
}

# a project with everything that an index can have, saved; "then" is noted
a_dirty_project() {
	git init -q
	printf '*.log\n' >.gitignore
	for file in a b c d e assumed; do echo "$file" >$file; done
	mkdir -p dir/deep
	echo x >dir/deep/x
	ln -s a link
	git add .
	git commit -q -m one
	echo staged >a
	git add a
	echo unstaged >>a
	git rm -q --cached b
	rm c
	git rm -q d
	echo intended >n
	git add -N n
	echo added >"odd name"
	git add "odd name"
	chmod +x e
	git update-index --assume-unchanged assumed
	echo untracked >u
	echo ignored >i.log
	echo secret >.env
	git-checkpoint save -q
	whereabouts . | sed '/[.]env$/d' >"$T/then"
}

expect_then() {
	whereabouts "$1" >"$T/now"
	diff -u "$T/then" "$T/now" || fail "git says something else about '$1'"
}

test_head_index_and_files_are_those_of_then() {
	a_dirty_project
	git commit -q -m later -a
	echo another >another
	git add another
	git status --porcelain=v2 >"$T/status"
	git for-each-ref >"$T/refs"
	fork 0 "$T/copy" --worktree @
	expect_eq true "$(json .worktree.match "$T/answer")"
	expect_eq null "$(json .worktree.branch "$T/answer")"
	expect_eq "$(git rev-parse HEAD~1)" "$(json .worktree.head "$T/answer")"
	expect_then "$T/copy"
	expect_exit 1 git -C "$T/copy" symbolic-ref -q HEAD
	expect_missing "$T/copy/i.log" "$T/copy/.env"
	# the present worktree is as it was
	git status --porcelain=v2 >"$T/status.now"
	expect_same "$T/status" "$T/status.now"
	git for-each-ref >"$T/refs.now"
	expect_same "$T/refs" "$T/refs.now"
	git worktree list --porcelain >"$T/list"
	expect_grep "^worktree $T/copy\$" "$T/list"
	expect_no_grep prunable "$T/list"
	expect_exists .git/worktrees/copy
	git fsck --strict 2>&1 | grep -v '^\(notice\|dangling\)' && fail fsck
	git worktree remove --force "$T/copy"
}

test_on_a_new_branch() {
	a_dirty_project
	git-checkpoint restore --into "$T/copy" --worktree -b topic/one @ >"$T/out"
	expect_grep "worktree of the repository on the new branch 'topic/one'" "$T/out"
	expect_then "$T/copy"
	expect_eq refs/heads/topic/one "$(git -C "$T/copy" symbolic-ref HEAD)"
	expect_eq "$(git rev-parse HEAD)" "$(git rev-parse topic/one)"
	git -C "$T/copy" commit -q -m there
	expect_eq "$(git rev-parse HEAD)" "$(git rev-parse topic/one~1)"
	git-checkpoint restore --json --into "$T/copy2" --worktree --branch=two @ >"$T/answer"
	expect_eq two "$(json .worktree.branch "$T/answer")"
	# a checkpoint taken there belongs to that worktree
	(cd "$T/copy2" && git-checkpoint save -q && git-checkpoint list --json >"$T/list")
	expect_eq 1 "$(json '.checkpoints | length' "$T/list")"
}

test_what_was_staged_comes_from_the_store() {
	a_dirty_project
	git reset -q --hard
	git reflog expire --expire=now --all
	git gc -q --prune=now
	staged=$(git hash-object --stdin <<-'END'
	staged
	END
	)
	! git cat-file -e "$staged" 2>"$T/err" || fail 'it is still there'
	fork 0 "$T/copy" --worktree @
	expect_then "$T/copy"
}

test_conflicts_are_in_the_index() {
	git init -q
	echo base >a
	git add a
	git commit -q -m base
	git checkout -q -b other
	echo other >a
	git commit -q -a -m other
	git checkout -q main
	echo main >a
	git commit -q -a -m main
	! git merge -q other >"$T/log" 2>&1 || fail 'no conflict'
	git-checkpoint save -q
	whereabouts . >"$T/then"
	git merge --abort
	fork 0 "$T/copy" --worktree @
	expect_then "$T/copy"
	# the operation itself is not forked
	expect_missing .git/worktrees/copy/MERGE_HEAD
}

test_from_a_linked_worktree_and_a_submodule() {
	a_dirty_project
	git worktree add -q "$T/linked" -b linked
	cd "$T/linked"
	echo here >a
	git add a
	git-checkpoint save -q
	whereabouts . >"$T/then"
	fork 0 "$T/copy" --worktree -b third @
	expect_then "$T/copy"
	expect_exists "$T/work/.git/worktrees/copy"
	git init -q "$T/super"
	git -C "$T/super" -c protocol.file.allow=always submodule --quiet add "$T/work" sub
	cd "$T/super/sub"
	echo in-sub >b
	git add b
	git-checkpoint save -q
	whereabouts . >"$T/then"
	fork 0 "$T/copy-of-sub" --worktree @
	expect_then "$T/copy-of-sub"
	expect_eq "$T/copy-of-sub" "$(git -C "$T/copy-of-sub" rev-parse --show-toplevel)"
}

test_a_sha256_repository() {
	git init -q --object-format=sha256
	echo a >a
	git add a
	git commit -q -m a
	echo staged >a
	git add a
	echo more >a
	git-checkpoint save -q
	whereabouts . >"$T/then"
	fork 0 "$T/copy" --worktree -b b @
	expect_then "$T/copy"
}

test_single_paths_and_the_whole_index() {
	a_dirty_project
	fork 0 "$T/copy" --worktree @ -- dir u
	expect_eq "$(printf '%s\n' dir/deep/x u)" \
		"$(cd "$T/copy" && find . -path ./.git -prune -o -type f -print | sed 's,^./,,' | LC_ALL=C sort)"
	git -C "$T/copy" ls-files -s >"$T/index"
	git ls-files -s >"$T/index.here"
	expect_same "$T/index.here" "$T/index"
}

test_no_hook_and_no_filter_runs() {
	a_dirty_project
	mkdir "$T/hooks"
	for hook in post-checkout reference-transaction post-index-change pre-commit; do
		printf '#!/bin/sh\necho ran >>"%s"\n' "$T/ran" >.git/hooks/$hook
		chmod +x .git/hooks/$hook
		cp -p .git/hooks/$hook "$T/hooks"
	done
	git config filter.f.clean "echo filter >>'$T/ran'; cat"
	git config filter.f.smudge "echo filter >>'$T/ran'; cat"
	git config core.fsmonitor "$T/hooks/post-checkout"
	mkdir -p .git/info
	echo '* filter=f' >.git/info/attributes
	fork 0 "$T/copy" --worktree -b b @
	git config core.hooksPath "$T/hooks"
	fork 0 "$T/copy2" --worktree -b b2 @
	expect_missing "$T/ran"
}

# refused <status> <text> <argument>...: nothing is left of it
refused() {
	status=$1 text=$2
	shift 2
	git for-each-ref >"$T/refs"
	fork "$status" "$T/copy" --worktree "$@"
	json .error.message "$T/answer" >"$T/message"
	grep -q -F -e "$text" "$T/message" || fail "not in the message: $text: $(cat "$T/message")"
	expect_missing "$T/copy" .git/worktrees/copy
	git for-each-ref >"$T/refs.now"
	expect_same "$T/refs" "$T/refs.now"
}

test_what_is_refused() {
	a_dirty_project
	git branch taken
	refused 5 "branch named 'taken' already exists" -b taken @
	refused 5 "branch named 'main' already exists" -b main @
	refused 5 'cannot be made' -b taken/below @
	for name in 'a b' -x @ HEAD 'a..b' '@{-1}' a.lock ''; do
		refused 128 'is not a valid branch name' -b "$name" @
	done
	mkdir "$T/full"
	echo x >"$T/full/x"
	fork 5 "$T/full" --worktree -b new @
	expect_exit 1 git show-ref -q --verify refs/heads/new
	# the commit is gone
	git checkout -q --detach
	git commit -q --allow-empty -m lone
	git-checkpoint save -q
	git checkout -q -f main
	git reflog expire --expire=now --all
	git prune --expire=now
	refused 5 'no longer has' @
	git-checkpoint restore -q --into "$T/files" @
}

test_git_writes_through_no_link() {
	a_dirty_project
	git-checkpoint save -q
	mkdir "$T/elsewhere"
	touch -d 2020-01-01 "$T/elsewhere"
	ln -s "$T/elsewhere" .git/worktrees
	fingerprint_raw "$T/elsewhere" >"$T/before"
	fork 5 "$T/copy" --worktree @
	expect_grep 'is a link' "$T/err"
	fingerprint_raw "$T/elsewhere" >"$T/after"
	expect_same "$T/before" "$T/after"
	test ! -e "$T/copy"
}

test_before_the_first_commit_and_without_git() {
	echo x >a
	git-checkpoint save -q
	refused_here=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	fork 128 "$T/copy" --worktree @
	git init -q
	git add a
	git-checkpoint save -q
	refused 5 'before the first commit' @
	refused 128 'no state of a repository' "$refused_here"
}

test_a_worktree_that_was_forgotten_can_be_pruned() {
	a_dirty_project
	fork 0 "$T/copy" --worktree @
	rm -rf "$T/copy"
	git worktree prune
	expect_missing .git/worktrees/copy
	fork 0 "$T/copy" --worktree @
}

run_tests
