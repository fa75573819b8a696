#!/bin/sh
# SPDX-License-Identifier: MIT
# What a restore of files says about the rest, which it leaves: HEAD, index, other branches, stashes;
# and that the commands it names do what it says.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/whole.sh"

id= # of the checkpoint that was saved last

# says [<exact line>...]: restore, and expect these warnings, in this order and no other; its last
# line, if there is a command, is kept in $T/command
says() {
	: >"$T/expected"
	test $# = 0 || printf 'warning: %s\n' "$@" >"$T/expected"
	find .git -type f -exec sha256sum {} + | sort >"$T/sums"
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	grep '^warning: ' "$T/err" >"$T/said" || :
	expect_same "$T/expected" "$T/said"
	find .git -type f -exec sha256sum {} + | sort >"$T/sums.now"
	expect_same "$T/sums" "$T/sums.now"
	grep -c '^    ' "$T/err" >"$T/commands" || :
	sed -n '$s/^    //p' "$T/err" >"$T/command"
}

# leads_back [<n>]: after <n> commands of git, the one at the end brings back everything
leads_back() {
	expect_eq $((${1:-0} + 1)) "$(cat "$T/commands")" 'commands'
	expect_eq "git checkpoint restore --git $id" "$(cat "$T/command")"
	restore "$id"
	told '.next_actions[]' | grep -qx -- "git checkpoint restore --git $id" || fail 'not a next action'
	$(cat "$T/command") -y >"$T/out" 2>&1 || {
		cat "$T/out"
		fail 'the command failed'
	}
	expect_at "then"
	says
}

end='left as they are: HEAD, the index and what git was doing; to bring them back, too:'

# back <branch> <commit>: the same, if commands of git lead there, too
back() {
	echo "to go back to branch '$1' at $(echo "$2" | cut -c1-12): the files stay, the index becomes that of" \
		"the commit; the last command alone brings back all of it:"
}

test_nothing_to_say() {
	project
	staged
	saved_there
	echo other >f1
	says
	expect_eq '' "$(cat "$T/command")"
}

test_head_moved() {
	project
	staged
	saved_there
	was=$(git rev-parse HEAD)
	git add -A
	git commit -q -m more
	says "HEAD moved since the checkpoint: $was -> $(git rev-parse HEAD)" \
		"branch 'main' is at $(git rev-parse HEAD) now; its reflog and ORIG_HEAD will have that commit" \
		"$(back main "$was")"
	leads_back 1
}

test_what_was_staged_is_lost() {
	project
	staged
	saved_there
	git reset -q
	says 'the index had 3 staged files, 1 intended file then, and has nothing staged now' "$end"
	leads_back
}

test_an_operation_is_in_progress() {
	project
	git checkout -q feature
	saved_there
	was=$(git rev-parse HEAD)
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	says "HEAD moved since the checkpoint: $was -> $(git rev-parse HEAD)" \
		'a rebase is in progress now, but was not then' "the branch was 'feature' then" "$(back feature "$was")"
	leads_back 3
}

test_an_operation_was_in_progress() {
	project
	! git merge feature >"$T/log" 2>&1 || fail 'no conflict'
	saved_there
	git merge --abort
	says 'a merge was in progress then' 'the index had 1 staged file, 1 unmerged file then, and has nothing staged now' "$end"
	leads_back
}

test_other_branches() {
	project
	git branch 'o;dd$(x)'
	git branch gone
	saved_there
	main=$(git rev-parse main)
	feature=$(git rev-parse feature)
	git branch -q -f 'o;dd$(x)' main~1
	git branch -q -D gone
	git checkout -q feature
	git commit -q --allow-empty -m more
	git checkout -q main
	git branch new
	says "branch 'feature' was at $(echo "$feature" | cut -c1-7) then and is at $(git rev-parse --short=7 feature) now; 'git branch -f feature $feature' moves it back" \
		"branch 'gone', which was at $(echo "$main" | cut -c1-7) then, is gone; 'git branch gone $main' makes it again" \
		"branch 'o;dd\$(x)' was at $(echo "$main" | cut -c1-7) then and is at $(git rev-parse --short=7 main~1) now; 'git branch -f 'o;dd\$(x)' $main' moves it back"
	restore "$id"
	told '.next_actions[]' | grep '^git branch ' >"$T/run"
	expect_eq 3 "$(wc -l <"$T/run")"
	git branch -q -D new
	sh -e "$T/run"
	others >"$T/refs.now"
	expect_same "$T/refs.then" "$T/refs.now"
	says
}

test_the_branch_that_is_checked_out_now() {
	project
	saved_there
	git checkout -q feature
	was=$(git rev-parse feature)
	git commit -q --allow-empty -m more
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	command="git update-ref refs/heads/feature $was $(git rev-parse feature)"
	expect_grep "'$command' moves it back" "$T/err"
	$command
	expect_eq "$was" "$(git rev-parse feature)"
}

test_stashes_that_were_dropped() {
	project
	for i in 1 2 3; do
		echo "stash $i" >f1
		git stash push -q -m "it's $i"
	done
	saved_there
	second=$(git rev-parse 'stash@{1}')
	git stash drop -q 'stash@{1}'
	says "stash 'On main: it's 2' was dropped; 'git stash store $second -m 'On main: it'\\''s 2'' brings it back"
	restore "$id"
	told '.next_actions[]' | grep '^git stash ' >"$T/run"
	sh -e "$T/run"
	expect_eq "$second On main: it's 2" "$(git log -g -1 --format='%H %gs' refs/stash)"
	says
	git stash drop -q
	git reflog expire --expire-unreachable=now --all
	git gc -q --prune=now
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_grep "its commit $second is no longer in the repository" "$T/err"
}

# It would be refused, so it is not advised.
test_no_command_that_would_be_refused() {
	mkdir main
	cd main
	project
	git checkout -q feature
	saved_there
	git checkout -q main
	git worktree add -q ../linked feature
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_no_grep 'restore --git' "$T/err"
	expect_grep '^    git update-ref --no-deref HEAD' "$T/err"
	git worktree remove ../linked
	git branch -q -D feature
	git reflog expire --expire=now --all
	git gc -q --prune=now
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_no_grep '^    ' "$T/err"
}

run_tests
