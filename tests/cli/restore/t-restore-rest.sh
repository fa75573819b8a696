#!/bin/sh
# SPDX-License-Identifier: MIT
# What a restore of files says about the rest, which it leaves: HEAD, index, other branches, stashes;
# and that the commands it names do what it says.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/whole.sh"

id= # of the checkpoint that was saved last

end='left as they are; to bring them back, too:'

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

# leads_back: the only command brings back everything
leads_back() {
	expect_eq 1 "$(cat "$T/commands")" 'commands'
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
	was=$(git rev-parse --short HEAD)
	git add -A
	git commit -q -m more
	says "git is on 'main' at $(git rev-parse --short HEAD), at the checkpoint it was on 'main' at $was" "$end"
	leads_back
}

test_what_was_staged_is_lost() {
	project
	staged
	saved_there
	git reset -q
	says 'the index is not as it was: it had 3 staged files, 1 intended file' "$end"
	leads_back
}

test_an_operation_is_in_progress() {
	project
	git checkout -q feature
	saved_there
	was=$(git rev-parse --short HEAD)
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	says "git is detached at $(git rev-parse --short HEAD), at the checkpoint it was on 'feature' at $was" \
		'a rebase is in progress, which was not at the checkpoint' "$end"
	leads_back
}

test_an_operation_was_in_progress() {
	project
	! git merge feature >"$T/log" 2>&1 || fail 'no conflict'
	saved_there
	git merge --abort
	says 'a merge was in progress' 'the index is not as it was: it had 1 staged file, 1 unmerged file' "$end"
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
	says "branch 'feature' moved since the checkpoint: $(echo "$feature" | cut -c1-7) -> $(git rev-parse --short=7 feature)" \
		"branch 'gone' (was $(echo "$main" | cut -c1-7)) no longer exists" \
		"branch 'o;dd\$(x)' moved since the checkpoint: $(echo "$main" | cut -c1-7) -> $(git rev-parse --short=7 main~1)" \
		"$end"
	sed -n 's/^    //p' "$T/err" >"$T/commands"
	restore "$id"
	told '.next_actions[]' | grep '^git update-ref ' >"$T/run"
	expect_same "$T/commands" "$T/run"
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
	sed -n 's/^    //p' "$T/err" >"$T/commands"
	expect_eq "git update-ref refs/heads/feature $was
git checkpoint restore --git $id" "$(cat "$T/commands")"
	sed -i 's/$/ -y/; 1s/ -y//' "$T/commands"
	sh -e "$T/commands" >"$T/log" 2>&1
	expect_eq "$was" "$(git rev-parse feature)"
	expect_at "then"
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
	says "stash 'On main: it's 2' was dropped" "$end"
	restore "$id"
	told '.next_actions[]' | grep '^git stash ' >"$T/run"
	sh -e "$T/run"
	expect_eq "$second On main: it's 2" "$(git log -g -1 --format='%H %gs' refs/stash)"
	says
}

test_many_of_them() {
	project
	git branch one
	saved_there
	for n in 1 2 3; do
		git branch $n
	done
	says
	seq 30 | sed 's/.*/create refs\/heads\/b& HEAD/' | git update-ref --stdin
	saved_there
	seq 30 | sed 's/.*/delete refs\/heads\/b&/' | git update-ref --stdin
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_eq 20 "$(grep -c '^warning: branch .* no longer exists$' "$T/err")"
	expect_grep '^warning: and 10 more branches and stashes$' "$T/err"
}

run_tests
