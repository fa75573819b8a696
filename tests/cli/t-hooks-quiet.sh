#!/bin/sh
# SPDX-License-Identifier: MIT
# git checkpoint hooks are never in the way: nothing is started where there is nothing to do, and
# git does the same with a program that is missing, crashes, floods or hangs.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/hooks-install.sh"

test_nothing_is_started_where_refs_cannot_matter() {
	repository
	stand_in
	hooks install -q
	git tag x
	git update-ref refs/heads/y HEAD
	git stash list
	git reset -q --hard HEAD~1
	expect_eq '' "$(cat "$T/calls")"
	git merge -q topic -m merged
	expect_grep '^hook reference-transaction --events=merge prepared in=1' "$T/calls"
	expect_grep ' ORIG_HEAD$' "$T/calls"
	hooks install -q --events stash,bisect
	: >"$T/calls"
	git reset -q --hard HEAD~1
	git merge -q topic -m merged
	expect_eq '' "$(cat "$T/calls")"
	echo dirty >a
	git stash -q
	expect_grep ' refs/stash$' "$T/calls"
	: >"$T/calls"
	git bisect start HEAD HEAD~1 >/dev/null
	expect_grep ' refs/bisect/' "$T/calls"
}

# git_says <dir> <command>...: stdout and stderr in $T/out and $T/err, status, and the result
git_says() {
	(
		cd "$1"
		shift
		status=0
		git "$@" >"$T/out" 2>"$T/err" || status=$?
		echo "status $status" >>"$T/out"
		git log --format='%T %s' >>"$T/out"
		git status --porcelain >>"$T/out" 2>/dev/null
	)
}

test_nothing_is_started_for_what_changes_no_files() {
	repository
	stand_in
	hooks install -q --guard --no-ref-transaction
	: >"$T/calls"
	echo changed >a
	for command in status '--no-optional-locks status -s' diff 'add a' 'commit -q -m x'; do
		# shellcheck disable=SC2086 # words
		git $command >/dev/null
		expect_eq '' "$(cat "$T/calls")" "calls by 'git $command'"
	done
	# however the words of another command look when they stand together
	for command in 'checkout -q -f -- a' '-C . reset -q --hard' '-c a.b=gitstatus clean -fdq'; do
		: >"$T/calls"
		# shellcheck disable=SC2086
		git $command
		expect_grep '^hook fsmonitor' "$T/calls"
	done
	mkdir -p x
	mkdir x/gitstatus
	: >"$T/calls"
	git -C x/gitstatus reset -q --hard
	expect_grep '^hook fsmonitor' "$T/calls"
}

test_a_process_is_answered_once() {
	repository
	stand_in
	hooks install -q --guard --no-ref-transaction
	git checkout -q topic
	for i in 1 2 3 4 5; do
		echo $i >>b
		git commit -q -a -m $i
	done
	: >"$T/calls"
	git rebase -q --no-verify main
	expect_eq 1 "$(grep -c '^hook fsmonitor' "$T/calls")" 'calls by one rebase'
	git rebase -q --no-verify --force-rebase main
	expect_eq 2 "$(grep -c '^hook fsmonitor' "$T/calls")" 'calls by two'
	# a process with the same number that began at another time is another one
	printf '#!/bin/sh\necho "$$ 1" >.git/git-checkpoint/asked\nexec git reset -q --hard\n' >"$T/reuse"
	sh "$T/reuse"
	expect_eq 3 "$(grep -c '^hook fsmonitor' "$T/calls")" 'calls by the one with the same number'
	hooks uninstall -q
	expect_missing .git/git-checkpoint
}

test_nothing_is_run_from_the_worktree() {
	repository
	for name in git-checkpoint timeout head date; do
		printf '#!/bin/sh\necho "$0" >>"%s"\n' "$T/ran" >$name
		chmod +x $name
	done
	hooks install -q --guard
	for add in : :. :./ :./bin; do
		echo "$add" >>a
		PATH=$TOOLS$add git reset -q --hard 2>"$T/err"
		expect_grep '^checkpoint: saved' "$T/err"
		PATH=$TOOLS$add git merge -q -m x topic 2>"$T/err"
		PATH=$TOOLS$add git rebase -q --force-rebase topic 2>"$T/err"
		expect_missing "$T/ran"
	done
}

test_a_missing_program_is_not_noticed() {
	repository without
	cp -a without with
	(cd with && hooks install -q --guard)
	# as if the package had been removed: neither in PATH nor where it was
	sed -i "s#^_ckpt_program='.*#_ckpt_program='/nonexistent/git-checkpoint'#" \
		with/.git/hooks/pre-rebase with/.git/hooks/reference-transaction \
		with/.git/git-checkpoint/fsmonitor
	expect_grep nonexistent with/.git/git-checkpoint/fsmonitor
	PATH=$TOOLS
	expect_exit 127 git-checkpoint -h
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
	export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
	for command in 'merge -m merged topic' 'checkout topic' 'rebase main' 'reset --hard HEAD~1' \
		'status' 'stash' 'merge nonsense'; do
		# shellcheck disable=SC2086
		git_says without $command
		cp "$T/out" "$T/expected.out"
		cp "$T/err" "$T/expected.err"
		# shellcheck disable=SC2086
		git_says with $command
		expect_same "$T/expected.out" "$T/out"
		expect_same "$T/expected.err" "$T/err"
	done
}

test_the_program_is_found_without_path() {
	repository
	hooks install -q
	git checkout -q topic
	expect_missing "$(checkpoint_home)"
	PATH=$TOOLS git rebase -q main
	expect_grep "_ckpt_program='$BUILD_DIR/git-checkpoint'" .git/hooks/pre-rebase
}

# expect_undisturbed: with the stand-in as it is, git does the same, and says little more
expect_undisturbed() {
	rm -rf with without
	repository with
	repository without
	(cd with && hooks install -q --guard)
	# a short time, for one that has to be ended
	sed -i "s/^_ckpt_seconds=.*/_ckpt_seconds='${1:-60}'/" with/.git/hooks/* \
		with/.git/git-checkpoint/fsmonitor
	: >"$T/calls"
	git_says without merge -m merged topic
	cp "$T/out" "$T/expected.out"
	git_says with merge -m merged topic
	expect_same "$T/expected.out" "$T/out"
	test "$(wc -c <"$T/err")" -lt 100000 || fail 'flooded'
}

test_a_program_that_crashes() {
	require timeout
	stand_in 'kill -SEGV $$'
	expect_undisturbed
	expect_eq '' "$(cat "$T/err")"
	expect_grep '^hook fsmonitor' "$T/calls"
	stand_in 'exit 1'
	expect_undisturbed
	stand_in 'kill -9 $PPID'
	expect_undisturbed
}

test_a_program_that_floods() {
	require timeout
	stand_in 'yes >&2'
	expect_undisturbed
	stand_in 'yes'
	expect_undisturbed 0.5
}

test_a_program_that_hangs() {
	require timeout
	stand_in 'trap "" TERM; sleep 1000'
	expect_undisturbed 0.5
	# all that a command calls is bounded together: it was started once
	expect_eq 1 "$(grep -c '^hook' "$T/calls")"
	# what is started from somewhere else is another command
	setsid git -C with status --porcelain
	expect_eq 2 "$(grep -c '^hook' "$T/calls")"
	cd with
	GIT_CHECKPOINT_HOOK_TIMEOUT=1s hooks install -q
	expect_grep "_ckpt_seconds='3'" .git/hooks/reference-transaction
	hooks uninstall -q
	expect_missing .git/git-checkpoint
}

run_tests
