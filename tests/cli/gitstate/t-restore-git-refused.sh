#!/bin/sh
# SPDX-License-Identifier: MIT
# What keeps restore --index and --git from being done is found before anything is touched.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/whole.sh"

id= # of the checkpoint that was saved last

# expect_refused <part of the message> <restore argument>...: with 5, and neither a file nor anything
# in .git is touched, whether --force is given or not
expect_refused() {
	message=$1
	shift
	fingerprint_raw . >"$T/raw.before"
	for force in '' --force; do
		restoring 5 restore -y $force "$@"
		expect_grep "$message" "$T/restore.json"
		restoring 5 restore -n $force "$@"
		expect_grep "$message" "$T/restore.json"
		fingerprint_raw . >"$T/raw.now"
		expect_same "$T/raw.before" "$T/raw.now"
	done
}

# moved_on: a checkpoint $id of main with something staged; since then a commit
moved_on() {
	project
	staged
	saved_there
	git add -A
	git commit -q -m more
}

test_a_lock_of_another_process() {
	moved_on
	git pack-refs --all
	for lock in index HEAD packed-refs refs/heads/main; do
		mkdir -p ".git/${lock%/*}" 2>/dev/null || :
		: >".git/$lock.lock"
		expect_refused "/.git/$lock.lock' exists" --git "$id"
		# the index alone needs but one
		if test $lock = index; then
			expect_refused "/.git/$lock.lock' exists" --index "$id"
		fi
		rm ".git/$lock.lock"
	done
	there_and_back
}

# git appends to a reflog, and makes files in directories, wherever a link there leads
test_a_link_that_leads_elsewhere() {
	moved_on
	: >"$T/mine"
	for path in logs/HEAD logs/refs/heads/main logs/refs logs packed-refs refs/heads; do
		mv ".git/$path" "$T/kept" 2>/dev/null || :
		if test -d "$T/kept"; then
			ln -s "$T/kept" ".git/$path"
		else
			ln -s "$T/mine" ".git/$path"
		fi
		expect_refused "/.git/$path' is a link" --git "$id"
		# the index alone needs none of them
		restore -n --index "$id"
		rm ".git/$path"
		test ! -e "$T/kept" || mv "$T/kept" ".git/$path"
	done
	# nor is a second name another file
	mv .git/logs/HEAD "$T/kept"
	ln "$T/mine" .git/logs/HEAD
	expect_refused "/.git/logs/HEAD' is a link, or has another name" --git "$id"
	mv "$T/kept" .git/logs/HEAD
	test ! -s "$T/mine"
	there_and_back
}

test_a_commit_that_is_gone() {
	project
	git checkout -q --detach
	git commit -q --allow-empty -m lost
	echo b >f1
	git add f1
	saved_there
	commit=$(git rev-parse HEAD)
	git checkout -q -f main
	git reflog expire --expire=now --expire-unreachable=now --all
	git gc -q --prune=now
	expect_refused "commit $commit is no longer in the repository" --git "$id"
	# what can be had without it
	command=$(told .error.message | sed "s/.*'\(git checkpoint restore[^']*\)'.*/\1/")
	expect_eq "git checkpoint restore --index $id" "$command"
	$command -y >"$T/out" 2>&1 || {
		cat "$T/out"
		fail 'not even that'
	}
	expect_eq 'M  f1' "$(git status --porcelain)"
}

test_a_commit_and_its_files_are_gone() {
	project
	git checkout -q --detach
	echo lost >f1
	git commit -q -a -m lost
	echo b >f2
	git add f2
	saved_there
	commit=$(git rev-parse HEAD)
	git checkout -q -f main
	git reflog expire --expire=now --expire-unreachable=now --all
	git gc -q --prune=now
	expect_refused "commit $commit is no longer in the repository; 'git checkpoint restore $id' " --git "$id"
	expect_refused 'on which the index was based, is no longer in the repository' --index "$id"
	restore "$id"
	expect_eq lost "$(cat f1)"
}

test_an_object_that_nobody_has() {
	project
	echo staged >f1
	git add f1
	blob=$(git rev-parse :f1)
	rm -f ".git/objects/$(echo "$blob" | cut -c1-2)/$(echo "$blob" | cut -c3-)"
	echo other >f1
	save
	git read-tree HEAD
	for option in --index --git; do
		expect_refused "object '$blob', which the index had, is neither in the checkpoint nor in the repository" \
			$option "$id"
	done
	restore "$id"
}

test_a_branch_that_is_checked_out_elsewhere() {
	mkdir main
	cd main
	project
	git checkout -q feature
	staged
	saved_there
	git reset -q --hard
	git checkout -q main
	git worktree add -q ../linked feature
	expect_refused "branch 'feature' is checked out in '.*/linked'" --git "$id"
	# the index does not need it
	restore -n --index "$id"
	# a rebase there holds it, too
	git -C ../linked rebase -q main 2>"$T/err" && fail 'no conflict'
	expect_refused "branch 'feature' is checked out in '.*/linked'" --git "$id"
	git -C ../linked rebase --abort
	git worktree remove --force ../linked
	there_and_back
}

# undo could not make a symbolic ref of it again
test_a_branch_that_is_another_name() {
	project
	git symbolic-ref refs/heads/alias refs/heads/main
	git symbolic-ref HEAD refs/heads/alias
	staged
	saved_there
	git commit -q -m more
	expect_refused "branch 'alias' is only another name of 'main'" --git "$id"
	restore -n --index "$id"
	# while it does not move there is nothing against it
	git update-ref refs/heads/main main~1
	git symbolic-ref HEAD refs/heads/feature
	restore --git "$id"
	expect_at "then"
	expect_eq refs/heads/main "$(git symbolic-ref refs/heads/alias)"
}

test_a_branch_in_the_way() {
	project
	git checkout -q feature
	saved_there
	git checkout -q main
	git branch -q -D feature
	git branch feature/x
	expect_refused "branch 'feature' cannot be created while there is a branch 'feature/x'" --git "$id"
	git branch -q -D feature/x
	there_and_back
	git checkout -q main
	git branch -q -D feature
	git checkout -q -b topic/x
	saved_there
	git checkout -q main
	git branch -q -D topic/x
	git branch topic
	expect_refused "branch 'topic/x' cannot be created while there is a branch 'topic'" --git "$id"
}

test_undo_does_not_move_a_branch_that_moved_since() {
	moved_on
	restore --git "$id"
	git commit -q -m 'on top of it'
	fingerprint_raw . >"$T/raw.before"
	restoring 5 undo -y
	expect_grep "branch 'main' has moved since" "$T/restore.json"
	fingerprint_raw . >"$T/raw.now"
	expect_same "$T/raw.before" "$T/raw.now"
	git reset -q --soft HEAD~1
	restoring 0 undo -y
	expect_eq more "$(git log -1 --format=%s)"
}

test_the_way_that_the_refused_undo_names_leads_back() {
	moved_on
	restore --git "$id"
	git commit -q -m 'on top of it'
	restoring 5 undo -y
	before=$(jq -r .error.message "$T/restore.json" | sed -n "s/.*'git checkpoint restore --git \(chk_[0-9a-f_]*\)'.*/\1/p")
	restore --git "$before"
	expect_eq more "$(git log -1 --format=%s)"
}

test_without_a_state_of_git() {
	echo 1 >a
	save
	restoring 128 restore -y --git "$id"
	expect_grep 'is not in a git repository' "$T/restore.json"
	git init -q
	restoring 128 restore -y --git "$id"
	expect_grep 'has no state of a repository' "$T/restore.json"
	git checkpoint save -q --state-only --state k=v 2>/dev/null || return 0
}

test_paths_are_not_for_it() {
	moved_on
	for option in --index --git; do
		restoring 129 restore -y $option "$id" f1
		restoring 129 restore -y $option "$id" -- f1
	done
}

test_nothing_is_done_without_a_yes() {
	project
	staged
	saved_there
	# the files are the same
	git reset -q
	mark before
	restoring 5 restore --git "$id" </dev/null
	expect_at before
	restore --git "$id"
	expect_at "then"
	restore --git "$id"
	expect_reverted
	git-checkpoint restore --git -y "$id" >"$T/out"
	expect_grep "The files are already as in $id; nothing to do" "$T/out"
}

test_a_dry_run_touches_nothing() {
	moved_on
	fingerprint_raw . >"$T/raw.before"
	git-checkpoint restore --git -n "$id" >"$T/out" 2>&1
	git-checkpoint restore --index -n "$id" >>"$T/out" 2>&1
	fingerprint_raw . >"$T/raw.now"
	expect_same "$T/raw.before" "$T/raw.now"
	expect_grep '^  branch main: [0-9a-f]\{7\} → [0-9a-f]\{7\} (1 commit leaves it; it stays in the reflog)$' "$T/out"
	expect_grep '^  index: 3 staged files, 1 intended file come back$' "$T/out"
}

test_files_alone_leave_git_as_it_is() {
	moved_on
	echo other >f1
	find .git -type f -exec sha256sum {} + | sort >"$T/git.sums"
	find .git -printf '%p %T@ %i\n' | sort >>"$T/git.sums"
	restore "$id"
	restoring 0 undo -y
	restoring 0 redo -y
	find .git -type f -exec sha256sum {} + | sort >"$T/git.now"
	find .git -printf '%p %T@ %i\n' | sort >>"$T/git.now"
	expect_same "$T/git.sums" "$T/git.now"
}

test_hooks_and_filters_do_not_run() {
	project
	git config filter.f.clean "touch '$T/ran'; cat"
	git config filter.f.smudge cat
	git config filter.f.required true
	echo 'f* filter=f' >.git/info/attributes
	git checkout -q feature
	staged
	saved_there
	git reset -q --hard
	git checkout -q main
	for hook in reference-transaction post-checkout post-index-change post-rewrite post-commit; do
		printf '#!/bin/sh\ntouch "%s/ran"\n' "$T" >.git/hooks/$hook
		chmod +x .git/hooks/$hook
	done
	git config core.fsmonitor "touch '$T/ran'; false"
	touch a
	git status >/dev/null
	expect_exists "$T/ran"
	rm "$T/ran"
	restore --git "$id"
	restoring 0 undo -y
	restoring 0 redo -y
	expect_missing "$T/ran"
	rm .git/hooks/*
	git config --unset core.fsmonitor
	git config --remove-section filter.f
	rm .git/info/attributes
	expect_eq "$(git rev-parse feature)" "$(git rev-parse HEAD)"
}

# Somebody else has written a file into the operation that a checkpoint has: git would run it.
test_a_store_with_a_hook_in_it() {
	project
	git checkout -q feature
	git rebase -q main >"$T/log" 2>&1 && fail 'no conflict'
	save
	git rebase --abort
	store=$(store_dir)
	commit=$(git --git-dir="$store" rev-parse latest)
	meta=$(git --git-dir="$store" rev-parse latest^)
	text=$(git --git-dir="$store" cat-file blob "$meta:git/operation" |
		LC_ALL=C sed 's#rebase-merge/message#hooks/post-checkout1#' |
		git --git-dir="$store" hash-object -w --stdin)
	GIT_INDEX_FILE=$T/index git --git-dir="$store" read-tree "$meta"
	GIT_INDEX_FILE=$T/index git --git-dir="$store" update-index --cacheinfo "100644,$text,git/operation"
	tree=$(GIT_INDEX_FILE=$T/index git --git-dir="$store" write-tree)
	other=$(git --git-dir="$store" cat-file commit "$meta" | sed "1s/.*/tree $tree/" |
		git --git-dir="$store" hash-object -w -t commit --stdin)
	other=$(git --git-dir="$store" cat-file commit "$commit" | sed "s/$meta/$other/" |
		git --git-dir="$store" hash-object -w -t commit --stdin)
	git --git-dir="$store" update-ref "refs/checkpoints/$id" "$other"
	git --git-dir="$store" update-ref refs/heads/latest "$other"
	fingerprint_raw . >"$T/raw.before"
	restoring 128 restore -y --git "$id"
	expect_eq "checkpoint '$id' is damaged: the state of the repository has a file that git does not allow: \"hooks/post-checkout1\"" \
		"$(told .error.message)"
	fingerprint_raw . >"$T/raw.now"
	expect_same "$T/raw.before" "$T/raw.now"
}

run_tests
