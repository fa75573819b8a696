#!/bin/sh
# SPDX-License-Identifier: MIT
# try and bisect: a command in copies of checkpoints, which are gone afterwards.

. "$(dirname "$0")/../../lib/harness.sh"

# no_copies: nothing of a copy is left
no_copies() {
	expect_eq '' "$(ls "$TMPDIR")" 'what is left in TMPDIR'
}

# count_to <n>: checkpoints in which the file "n" has 1 ... n
count_to() {
	i=0
	while test $i -lt "$1"; do
		i=$((i + 1))
		echo $i >n
		git-checkpoint save -q -m "number $i"
	done
}

# id_of <n>
id_of() {
	git-checkpoint list --json | jq -r --arg r "number $1" '.checkpoints[] | select(.reason == $r) | .id'
}

# ---- try -----------------------------------------------------------------------------

test_the_command_sees_the_checkpoint() {
	mkdir sub
	echo 'then' >sub/a
	git-checkpoint save -q
	fingerprint . >"$T/fp.then"
	echo now >sub/a
	git-checkpoint try @ -- sh -c 'pwd; echo "$PWD"; cat sub/a; "$LIB_DIR/fingerprint.pl" . >"$T/fp.copy"' >"$T/out"
	expect_same "$T/fp.then" "$T/fp.copy"
	expect_eq 'then' "$(sed -n 3p "$T/out")"
	expect_eq "$(sed -n 1p "$T/out")" "$(sed -n 2p "$T/out")"
	expect_grep "^$TMPDIR/git-checkpoint-try[^/]*/work\$" "$T/out"
	no_copies
	# whatever it does there, also from below the root
	cd sub
	git-checkpoint try @ -- sh -c 'test -e sub/a && rm -r sub && mkdir ro && touch ro/x && chmod 0 ro'
	expect_eq now "$(cat a)"
	expect_eq 1 "$(git-checkpoint list --json | jq '.checkpoints | length')"
	no_copies
}

test_its_exit_status_and_streams() {
	echo x >a
	git-checkpoint save -q
	for status in 0 1 7 125 126 127 128 255; do
		expect_exit $status git-checkpoint try @ -- sh -c "exit $status"
	done
	expect_exit 143 git-checkpoint try @ -- sh -c 'kill -TERM $$'
	expect_exit 137 git-checkpoint try @ -- sh -c 'kill -KILL $$'
	expect_exit 127 git-checkpoint try @ -- no-such-command 2>"$T/err"
	expect_grep "unable to run 'no-such-command'" "$T/err"
	expect_exit 126 git-checkpoint try @ -- ./a 2>"$T/err"
	echo 'in and out' | git-checkpoint try @ -- cat >"$T/out" 2>"$T/err"
	expect_eq 'in and out' "$(cat "$T/out")"
	expect_eq '' "$(cat "$T/err")"
	git-checkpoint try @ -- sh -c 'echo "$#" "$@"' sh --json -q -- 'a b' >"$T/out"
	expect_eq '4 --json -q -- a b' "$(cat "$T/out")"
	no_copies
}

test_its_environment() {
	git init -q
	echo x >a
	git-checkpoint save -q
	GIT_DIR=$PWD/.git GIT_WORK_TREE=$PWD GIT_INDEX_FILE=$PWD/.git/index GIT_AUTHOR_NAME=me \
		git-checkpoint try @ -- env >"$T/env"
	expect_no_grep '^GIT_\(DIR\|WORK_TREE\|INDEX_FILE\)=' "$T/env"
	expect_grep '^GIT_AUTHOR_NAME=me$' "$T/env"
}

test_try_as_json() {
	echo x >a
	git-checkpoint save -q -m why
	expect_exit 3 git-checkpoint try --json @ -- sh -c 'echo out; exit 3' >"$T/answer" 2>"$T/err"
	jq -e '.ran and .exit_status == 3 and .signal == null and .command[0] == "sh" and
		.checkpoint.reason == "why" and .verification.match and .left == null' "$T/answer" >/dev/null ||
		fail "$(cat "$T/answer")"
	expect_eq out "$(cat "$T/err")"
	expect_exit 128 git-checkpoint try --json nowhere -- true >"$T/answer" 2>"$T/err"
	expect_eq 128 "$(json .error.code "$T/answer")"
}

test_a_signal_ends_the_command_and_the_copy() {
	echo x >a
	git-checkpoint save -q
	mkfifo "$T/begun"
	git-checkpoint try @ -- sh -c 'echo begun >"$T/begun"; exec sleep 100' &
	pid=$!
	read -r _ <"$T/begun"
	kill -TERM $pid
	expect_exit 143 wait $pid
	no_copies
}

test_where_the_copy_cannot_be() {
	mkdir tmp
	echo x >a
	git-checkpoint save -q
	expect_exit 128 env TMPDIR="$PWD/tmp" git-checkpoint try @ -- touch "$T/ran" 2>"$T/err"
	expect_grep 'is in the worktree' "$T/err"
	expect_exit 128 env TMPDIR="$T/nowhere" git-checkpoint try @ -- touch "$T/ran" 2>"$T/err"
	expect_eq '' "$(ls tmp)"
	expect_missing "$T/ran"
}

test_wrong_command_lines() {
	echo x >a
	git-checkpoint save -q
	for line in 'try' 'try @' 'try @ --' 'try @ true' 'try -- @ true' 'try @ true -- x' 'bisect @ --' \
		'bisect @ @ true' 'bisect @ -- true' 'bisect @~1 @ --'; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint $line 2>"$T/err"
		expect_grep '^\(error\|fatal\): ' "$T/err"
	done
}

# ---- bisect --------------------------------------------------------------------------

# "--" tells what the words before it are.
test_what_is_missing_before_the_command_is_named() {
	echo x >a
	git-checkpoint save -q
	expect_exit 129 git-checkpoint try -- make check 2>"$T/err"
	expect_grep "'try' needs a checkpoint, such as @" "$T/err"
	expect_exit 129 git-checkpoint bisect -- make check now 2>"$T/err"
	expect_grep "'bisect' needs a good checkpoint" "$T/err"
	expect_exit 129 git-checkpoint bisect @ -- make check 2>"$T/err"
	expect_grep "'bisect' needs a bad checkpoint" "$T/err"
	expect_exit 129 git-checkpoint bisect @ @ other -- make 2>"$T/err"
	expect_grep "unexpected argument 'other'" "$T/err"
	expect_exit 128 git-checkpoint bisect @ @ -- make 2>"$T/err"
	expect_grep 'cannot be both good and bad' "$T/err"
}

test_the_first_bad_one_is_found() {
	count_to 12
	for bad in 2 7 12; do
		git-checkpoint bisect @~11 @ -- sh -c "echo noise; test \$(cat n) -lt $bad" >"$T/out" 2>"$T/err"
		expect_eq "$(id_of $bad) is the first bad checkpoint: number $bad" "$(cat "$T/out")"
		git-checkpoint bisect --json @~11 @ -- sh -c "test \$(cat n) -lt $bad" >"$T/answer" 2>"$T/err"
		expect_eq "$(id_of $bad)" "$(json .first_bad.id "$T/answer")"
		expect_eq "$(id_of $((bad - 1)))" "$(json .last_good "$T/answer")"
		test "$(json '.tested | length' "$T/answer")" -le 6 || fail "too many: $(cat "$T/answer")"
	done
	no_copies
}

test_of_two() {
	count_to 2
	git-checkpoint bisect -q @~1 @ -- sh -c 'test $(cat n) = 1' >"$T/out" 2>"$T/err"
	expect_grep "^$(id_of 2) is the first bad" "$T/out"
	expect_eq '' "$(cat "$T/err")"
}

test_some_are_skipped() {
	count_to 9
	git-checkpoint bisect --json @~8 @ -- sh -c 'case $(cat n) in 4|5|6) exit 125;; esac
		test $(cat n) -lt 8' >"$T/answer" 2>"$T/err"
	expect_eq "$(id_of 8)" "$(json .first_bad.id "$T/answer")"
	expect_exit 3 git-checkpoint bisect --json @~8 @ -- sh -c 'case $(cat n) in 4|5|6) exit 125;; esac
		test $(cat n) -lt 5' >"$T/answer" 2>"$T/err"
	expect_eq null "$(json .first_bad "$T/answer")"
	expect_eq "$(for n in 4 5 6 7; do id_of $n; done)" "$(json '.candidates[]' "$T/answer")"
	expect_exit 3 git-checkpoint bisect @~8 @ -- sh -c 'case $(cat n) in 1) ;; 9) false;; *) exit 125; esac' \
		>"$T/out" 2>"$T/err"
	expect_eq 9 "$(wc -l <"$T/out")"
}

test_ends_that_are_not_what_they_should_be() {
	count_to 3
	expect_exit 1 git-checkpoint bisect @~2 @ -- true 2>"$T/err"
	expect_grep 'succeeds for .* which should be bad' "$T/err"
	expect_exit 1 git-checkpoint bisect @~2 @ -- false 2>"$T/err"
	expect_grep 'fails for .* which should be good' "$T/err"
	expect_exit 1 git-checkpoint bisect @~2 @ -- sh -c 'exit 125' 2>"$T/err"
	expect_exit 1 git-checkpoint bisect --json @~2 @ -- true >"$T/answer" 2>"$T/err"
	expect_eq 1 "$(json .error.code "$T/answer")"
	# the wrong way round, the same twice, unknown, and not to be started
	expect_exit 128 git-checkpoint bisect @ @~2 -- true 2>"$T/err"
	expect_exit 128 git-checkpoint bisect @ @ -- true 2>"$T/err"
	expect_exit 128 git-checkpoint bisect @ nowhere -- true 2>"$T/err"
	expect_exit 128 git-checkpoint bisect @~2 @ -- no-such-command 2>"$T/err"
	no_copies
}

test_only_whole_ones_that_are_not_safety_checkpoints() {
	count_to 2
	git-checkpoint save -q -m part -- n
	git-checkpoint save -q --state-only --state k=v
	echo lost >n
	git-checkpoint restore -q -y "$(id_of 1)"
	echo 5 >n
	git-checkpoint save -q -m 'number 5'
	expect_exit 0 git-checkpoint bisect --json "$(id_of 1)" @ -- sh -c 'cat n >>"$T/seen"; test $(cat n) -lt 5' \
		>"$T/answer" 2>"$T/err"
	expect_eq "$(id_of 5)" "$(json .first_bad.id "$T/answer")"
	expect_eq '1 5 2 ' "$(tr '\n' ' ' <"$T/seen")"
	part=$(git-checkpoint list --json | jq -r '.checkpoints[] | select(.reason == "part") | .id')
	expect_exit 128 git-checkpoint bisect "$part" @ -- true 2>"$T/err"
}

test_stdin_is_not_read_and_stdout_is_the_answer() {
	count_to 4
	echo unread >"$T/in"
	git-checkpoint bisect @~3 @ -- sh -c 'cat; echo noise; test $(cat n) -lt 3' <"$T/in" >"$T/out" 2>"$T/err"
	expect_eq 1 "$(wc -l <"$T/out")"
	expect_no_grep unread "$T/err"
	expect_grep noise "$T/err"
}

test_it_stops_with_the_command() {
	count_to 4
	status=0
	git-checkpoint bisect @~3 @ -- sh -c 'echo ran >>"$T/ran"; kill -INT $$' 2>"$T/err" || status=$?
	test $status -ge 128
	expect_eq 1 "$(wc -l <"$T/ran")"
	no_copies
}

run_tests
