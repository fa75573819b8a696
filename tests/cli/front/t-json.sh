#!/bin/sh
# SPDX-License-Identifier: MIT
# --json: one object on stdout and nothing on stderr, whatever happens.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/restore.sh"
. "$(dirname "$0")/../../lib/staging.sh"

# alone <status|-> <argument>...: the program prints one line and nothing on stderr; "-": any status.
# The line is left in $line, and all of them in $T/all.
alone() {
	wanted=$1
	shift
	status=0
	git-checkpoint "$@" >"$T/out" 2>"$T/err" </dev/null || status=$?
	test "$wanted" = - || expect_eq "$wanted" "$status" "status of $*"
	test ! -s "$T/err" || fail "stderr of $*: $(cat "$T/err")"
	{
		read -r line || fail "no answer of $*"
		! read -r rest || fail "$* prints more than one line: $rest"
	} <"$T/out"
	printf '%s\t%s\t%s\n' "$status" "$*" "$line" >>"$T/all"
}

# each_is_whole: all that was printed are objects, and what failed says so
each_is_whole() {
	perl -MJSON::PP -ne 'chomp; ($status, $what, $line) = split /\t/, $_, 3;
		$answer = eval { decode_json($line) };
		ref $answer eq "HASH" or die "not an object: $what printed $line\n";
		exit 1 if !defined $answer;
		next if $status !~ /^(128|129|75|5)$/;
		($answer->{error}{code} // 0) == $status && length($answer->{error}{message} // "")
			or die "no error in the answer of $what: $line\n"' "$T/all"
}

# everything: all commands with arguments that can be right
everything() {
	for line in save 'save --pin' list 'list --stat' 'list --session' 'list --session last' 'show @' 'show --stat @' \
		'show @:file' diff 'diff @' 'diff --stat @' 'diff --find-renames @' status log 'restore -n @' 'restore -y @' \
		'restore @' 'restore -y turn:1' 'undo -y' 'redo -y' 'undo -y --turn' 'undo -n' 'restore --continue' 'restore --abort' \
		'run true' 'run false' 'run --rollback false' 'run no-such-program' verify 'verify --all' 'pin @' 'unpin @' \
		'drop -y @~1' 'prune -n' prune gc doctor 'doctor --fix' stores 'relink' 'hooks status' 'hooks install' \
		'hooks uninstall' 'hooks install --agent codex' 'hooks uninstall --agent codex' 'hooks status --agent codex' \
		'flow show' 'flow list' 'flow resume' 'flow start x' 'flow archive' config 'config maxCount' \
		'config --list' 'config maxCount 7' 'help agents'; do
		# shellcheck disable=SC2086
		set -- $line
		case $1 in
		run) shift && alone - run --json "$@" ;;
		*) alone - "$@" --json ;;
		esac
	done
	each_is_whole
}

repo() {
	git init -q
	echo one >file
	git add file
	git commit -q -m one
}

test_where_nothing_was_saved() {
	everything
}

test_outside_git() {
	echo one >file
	git checkpoint save -q
	echo two >file
	everything
}

test_in_a_repository() {
	repo
	git checkpoint save -q
	echo two >file
	everything
	everything
}

test_wrong_usage() {
	repo
	git checkpoint save -q
	for command in save list show diff status restore undo redo verify log pin unpin drop prune gc doctor stores \
		relink hooks flow config help; do
		alone 129 $command --json --no-such-option
		alone 129 $command --no-such-option --json
		alone - $command --json a b c d e
	done
	alone 129 run --json --no-such-option true
	alone 129 run --json
	alone 129 --json
	alone 129 --json no-such-command
	alone 129 no-such-command --json
	alone 129 --no-such-option --json
	alone 128 -C /none status --json
	alone 128 show --json nothing
	alone 128 restore --json -y turn:x
	alone 128 restore --json -y session:
	alone 128 restore --json -y session:none/turn:2
	echo two >file
	alone 5 restore --json @
	each_is_whole
}

# What is wrong with the settings is among the warnings.
test_settings_that_make_no_sense() {
	repo
	git checkpoint save -q
	git config checkpoint.noSuchKey 1
	echo two >file
	everything
	alone 0 list --json
	expect_eq 1 "$(jq '.warnings | map(select(test("noSuchKey"; "i"))) | length' "$T/out")"
	alone 0 run --json true
	expect_eq 1 "$(jq '.warnings | map(select(test("noSuchKey"; "i"))) | length' "$T/out")"
	git config checkpoint.maxCount nonsense
	alone 128 list --json
	each_is_whole
}

test_an_interrupted_restore() {
	two_states
	interrupt
	for command in list status 'show @' 'diff @' verify 'restore -n @' 'restore -y @' 'undo -y' save 'run true'; do
		# shellcheck disable=SC2086
		set -- $command
		case $1 in
		run) alone - run --json true ;;
		*) alone - "$@" --json ;;
		esac
		case $line in
		*interrupted*) ;;
		*) fail "$command does not tell of it: $line" ;;
		esac
	done
	alone 0 restore --continue --json
	alone 0 list --json
	jq -e 'has("warnings") | not' "$T/out"
	each_is_whole
}

# in the middle of it, by a signal
test_a_restore_that_is_interrupted() {
	two_states
	export FAULT_PATH="$PWD" FAULT_RUN='kill -TERM $PPID'
	status=0
	with_faults rename 2 run git-checkpoint restore --json -y "$target" >"$T/out" 2>"$T/err" || status=$?
	unset FAULT_PATH FAULT_RUN
	expect_eq 143 "$status"
	expect_eq '' "$(cat "$T/err")"
	expect_eq 143 "$(jq .error.code "$T/out")"
	alone 0 restore --abort --json
}

test_a_store_that_is_locked() {
	repo
	git checkpoint save -q
	git config checkpoint.lockTimeout 1s
	exec 9>"$(store_dir)/checkpoint/lock"
	flock 9
	for command in save 'pin @' prune; do
		# shellcheck disable=SC2086
		alone 75 $command --json
	done
	exec 9>&-
	each_is_whole
}

test_a_store_that_is_damaged() {
	repo
	git checkpoint save -q
	echo 2 >file
	git checkpoint save -q
	store=$(store_dir)
	git --git-dir="$store" for-each-ref --format='%(refname)' refs/checkpoints | head -n 1 >"$T/ref"
	echo garbage >"$store/$(cat "$T/ref")"
	rm "$store/checkpoint/version"
	mkdir "$store/checkpoint/turns"
	everything
	repo2=$T/other
	mkdir "$repo2" && cd "$repo2"
	repo
	git checkpoint save -q
	find "$(store_dir)/objects" -name '*.pack' -exec sh -c 'chmod u+w "$1"; echo garbage >"$1"' sh {} \;
	everything
}

test_a_place_that_cannot_be_written() {
	repo
	export GIT_CHECKPOINT_HOME=/dev/null/x
	everything
}

test_memory_that_runs_out() {
	repo
	git checkpoint save -q
	(
		# shellcheck disable=SC3045 # where it is not known nothing runs out
		ulimit -v 20000 2>/dev/null || exit 0
		git-checkpoint list --json >"$T/out" 2>"$T/err" || :
	)
	# whether it got far enough to print anything depends on the machine; if it did, in one place
	if test -s "$T/out"; then
		expect_eq '' "$(cat "$T/err")"
	fi
}

run_tests
