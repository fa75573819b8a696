# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests/cli/*/t-*.sh and others: runs every function test_* of the file that sources this and reports in
# TAP, for prove(1).
#
#   . "$(dirname "$0")/../../lib/harness.sh"
#
#   test_an_unchanged_tree_takes_no_second_checkpoint() {
#           make_tree 1
#           git checkpoint save -q
#           ...
#   }
#
#   run_tests
#
# Cases run in the order of the file, each in a subshell with `set -e`, in an empty directory
# $T/work below its scratch directory $T. Environment and configuration are made from scratch
# (hermetic.sh). What a case prints is shown if it fails, with a trace of a second run.
# `! command` does not stop a case even with `set -e`: use expect_exit.
#
# ./t-x.sh <word>   runs only the cases whose name contains the word
# TEST_KEEP=1       leaves the scratch directory
# TEST_SEED=<n>     repeats the random choices of an earlier run

LIB_DIR=$(cd "$(dirname "$0")/.." && { test -d lib || cd ..; } && cd lib && pwd -P)
ROOT_DIR=$(cd "$LIB_DIR/../.." && pwd -P)
TEST_FILE=$(cd "$(dirname "$0")" && pwd -P)/$(basename "$0")
TEST_FILTER=${1:-}

# ---- environment -----------------------------------------------------------------

# When a test is run by hand, too, it sees nothing of the caller's environment.
if test "${TEST_HERMETIC:-}" != "${BUILD_DIR:-.}"; then
	exec "$LIB_DIR/hermetic.sh" sh "$TEST_FILE" "$@"
fi
# PATH without our program
TOOLS=${PATH#"$BUILD_DIR":}
export LIB_DIR ROOT_DIR TOOLS

SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/git-checkpoint-test.XXXXXX") || exit 1
SCRATCH=$(cd "$SCRATCH" && pwd -P)
chmod 711 "$SCRATCH"

clean_up() {
	if test "${TEST_KEEP:-}" = 1; then
		echo "# kept: $SCRATCH"
	else
		chmod -R u+rwx "$SCRATCH" 2>/dev/null
		rm -rf "$SCRATCH"
	fi
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# new_scratch <dir>: directories and configuration for one case
new_scratch() {
	T=$1
	HOME=$T/home
	XDG_CONFIG_HOME=$T/config
	XDG_STATE_HOME=$T/state
	XDG_CACHE_HOME=$T/cache
	XDG_DATA_HOME=$T/data
	TMPDIR=$T/tmp
	GIT_CONFIG_GLOBAL=$HOME/.gitconfig
	export T HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME TMPDIR \
		GIT_CONFIG_GLOBAL
	mkdir "$T" "$HOME" "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_CACHE_HOME" \
		"$XDG_DATA_HOME" "$TMPDIR" "$T/work"
	cat >"$GIT_CONFIG_GLOBAL" <<-'END'
	[user]
		name = A U Thor
		email = author@example.com
	[init]
		defaultBranch = main
	[advice]
		detachedHead = false
	END
	cd "$T/work" || exit 1
}

# ---- running ---------------------------------------------------------------------

# run_case <function> <directory> <file for the output> [-x]
run_case() (
	trap - EXIT
	exec >"$3" 2>&1 </dev/null
	new_scratch "$2"
	set -e ${4:+"$4"}
	"$1"
)

# Output as TAP diagnostics.
show() {
	sed "s/^/#   /" "$1" | head -n "${2:-100}"
}

run_tests() {
	count=0
	failed=0
	echo "# TEST_SEED=$TEST_SEED"
	for case in $(sed -n 's/^\(test_[A-Za-z0-9_]*\)() *[{(].*/\1/p' "$TEST_FILE"); do
		case $case in
		*"$TEST_FILTER"*) ;;
		*) continue ;;
		esac
		count=$((count + 1))
		title=$(echo "${case#test_}" | tr _ ' ')
		run_case "$case" "$SCRATCH/$count" "$SCRATCH/$count.out"
		status=$?
		if test $status = 0; then
			echo "ok $count - $title"
		elif test $status = 77; then
			echo "ok $count - $title # SKIP $(tail -n 1 "$SCRATCH/$count.out")"
		else
			failed=$((failed + 1))
			echo "not ok $count - $title"
			# on stderr, where prove shows it
			{
				echo "# $TEST_FILE: $title: exit status $status, TEST_SEED=$TEST_SEED; output:"
				show "$SCRATCH/$count.out"
				run_case "$case" "$SCRATCH/$count-again" "$SCRATCH/$count.trace" -x
				echo "# end of the trace of a second run, exit status $?:"
				tail -n 25 "$SCRATCH/$count.trace" | show /dev/stdin
			} >&2
			# and shorter, for the summary after all have run
			{
				echo "$(basename "$TEST_FILE"): $title: exit status $status, TEST_SEED=$TEST_SEED"
				tail -n 12 "$SCRATCH/$count.out" | show /dev/stdin
			} >>"${TEST_FAILURES:-/dev/null}"
		fi
	done
	echo "1..$count"
	test $failed = 0
	exit
}

# skip <reason>: the case cannot run here
skip() {
	echo "$*"
	exit 77
}

# require <program>...: skip the case unless all are installed
require() {
	for program; do
		command -v "$program" >/dev/null || skip "needs $program"
	done
}

# fake <time> <command>...: at that time, as date -d has it; fake -f <offset> <command>...: so much
# later, as libfaketime has it. Without faketime(1), which fails now and then where a process of the
# same number was killed before. The sanitizers need not come first among libraries.
fake() {
	if test "$1" = -f; then
		shift
		fake_time=$1
	else
		fake_time=$(printf %+d $(($(date -d "$1" +%s) - $(date +%s))))
	fi
	shift
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" FAKETIME=$fake_time \
		LD_PRELOAD=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1)${LD_PRELOAD:+:$LD_PRELOAD} "$@"
}

# limit_memory <kilobytes>: of what this shell starts; the sanitizers need a lot of addresses
limit_memory() {
	case $BUILD_DIR in
	*-address* | *-thread*) return ;;
	esac
	# shellcheck disable=SC3045 # every shell that is a /bin/sh has it
	ulimit -v "$1"
}

# has_terminal: script(1) can open a pseudo terminal, for which /dev/pts has to be mounted
has_terminal() {
	command -v script >/dev/null && script -q -c true /dev/null </dev/null >/dev/null 2>&1
}

# require_terminal: skip the case where there is none, as in many a chroot
require_terminal() {
	require script
	has_terminal || skip 'needs a pseudo terminal; is /dev/pts mounted?'
}

# on_terminal [-a] [-t <text>] <command> [<answer>...]: run it on a terminal, and type the next answer
# each time that it asks, never before; see answer.c. What appears is left in $T/screen.
on_terminal() {
	require_terminal
	answer "$@" >"$T/screen"
}

# ---- expectations ----------------------------------------------------------------

# fail <text>: fail the case, and say why
fail() {
	echo "FAILED: $*"
	exit 1
}

# expect_exit <status> <command>...
expect_exit() {
	expected_status=$1
	shift
	actual_status=0
	"$@" || actual_status=$?
	test "$actual_status" = "$expected_status" ||
		fail "exit status $actual_status instead of $expected_status: $*" >&2
}

# await <command>...: until it succeeds; a minute at least, much longer than it can take
await() {
	await_left=1200
	until "$@" >/dev/null 2>&1; do
		await_left=$((await_left - 1))
		test $await_left -gt 0 || fail "in vain: $*"
		sleep 0.05
	done
}

# expect_eq <expected> <actual> [<what>]
expect_eq() {
	test "$1" = "$2" || fail "${3:-value}: expected '$1', got '$2'"
}

# expect_same <file> <file>
expect_same() {
	diff -u "$1" "$2" || fail "'$1' and '$2' differ"
}

# expect_grep <basic regular expression> <file>
expect_grep() {
	grep -q -e "$1" "$2" || {
		cat "$2"
		fail "no line of '$2' matches '$1'"
	}
}

expect_no_grep() {
	if grep -e "$1" "$2"; then
		fail "a line of '$2' matches '$1'"
	fi
}

expect_exists() {
	for path; do
		test -e "$path" || test -L "$path" || fail "'$path' does not exist"
	done
}

expect_missing() {
	for path; do
		if test -e "$path" || test -L "$path"; then
			fail "'$path' exists"
		fi
	done
}

# ---- looking at trees, stores and answers ----------------------------------------

# fingerprint <dir>: kind, mode, contents and path of everything but .git, a line each
fingerprint() {
	"$LIB_DIR/fingerprint.pl" "$1"
}

# fingerprint_raw <dir>: also .git, mtimes and inodes, to prove that nothing was written
fingerprint_raw() {
	"$LIB_DIR/fingerprint.pl" --raw "$1"
}

# said <answer> >>stderr: the error and the warnings of an answer in JSON, as they would be on stderr without
# --json, where nothing is printed then
said() {
	grep -q -e '"error":' -e '"warnings":\["' "$1" || return 0
	jq -r '(.error // empty | (if .code == 128 then "fatal" else "error" end) + ": " + .message),
		(.warnings // [] | .[] | "warning: " + .)' "$1"
}

# json <filter> <file>: strings come out bare; a missing value is an error
json() {
	jq -e -r "$1" "$2" || {
		json_status=$?
		# false and null are answers, too
		test $json_status = 1 || {
			cat "$2" >&2
			fail "jq '$1' failed on '$2'" >&2
		}
	}
}

# checkpoint_home: where stores are
checkpoint_home() {
	if test -n "${GIT_CHECKPOINT_HOME:-}"; then
		echo "$GIT_CHECKPOINT_HOME"
	elif test -n "${XDG_STATE_HOME:-}"; then
		echo "$XDG_STATE_HOME/git-checkpoint"
	else
		echo "$HOME/.local/state/git-checkpoint"
	fi
}

# store_dir [<worktree>]: the store of the worktree with that root (the current directory)
store_dir() {
	echo "$(checkpoint_home)/$(printf %s "$(cd "${1:-.}" && pwd -P)" | sha256sum | cut -c1-16)"
}

# state_hash: that of the lines of `show --hashes` on standard input
state_hash() {
	"$LIB_DIR/treehash.pl" "$@"
}

# ---- making trees and trouble ----------------------------------------------------

# any <n>: a number from 0 to n - 1, the same for the same seed
any() {
	echo $((TEST_SEED % $1))
}

# make_tree <seed> [<files>] [<dir>]: an odd tree
make_tree() {
	mktree --odd --seed "$1" --files "${2:-100}" --dirs $((${2:-100} / 5 + 1)) "${3:-.}"
}

# damage_tree <seed> [<dir>]: random changes of all kinds
damage_tree() {
	mktree --damage --seed "$1" "${2:-.}"
}

# with_faults <calls> <at> <what> <command>...: see tests/fault/faultfs.c; 0 for <at> only counts.
# FAULT_PATH, FAULT_STICKY, FAULT_RUN and FAULT_LACKS may be set for the call; the count is left in
# $T/faults.
with_faults() {
	fault_calls=$1 fault_at=$2 fault_do=$3
	shift 3
	rm -f "$T/faults"
	env LD_PRELOAD="$BUILD_DIR/faultfs.so" \
		ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
		FAULT_CALLS="$fault_calls" FAULT_AT="$fault_at" FAULT_DO="$fault_do" \
		FAULT_PATH="${FAULT_PATH:-}" FAULT_STICKY="${FAULT_STICKY:-}" \
		FAULT_RUN="${FAULT_RUN:-}" FAULT_LACKS="${FAULT_LACKS:-}" \
		FAULT_COUNT_FILE="$T/faults" "$@"
}

# as_nobody <command>...: without root's right to read everything. Configuration and state of the
# case are handed over; use give_to_nobody for other files.
as_nobody() {
	if test "$(id -u)" != 0; then
		"$@"
		return
	fi
	id nobody >/dev/null 2>&1 || skip 'needs the user nobody'
	give_to_nobody "$HOME" "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_CACHE_HOME" \
		"$XDG_DATA_HOME" "$TMPDIR"
	run_as_nobody test -x "$BUILD_DIR" || skip 'nobody cannot reach the program'
	# what belongs to one of the two is used by both
	git config --global safe.directory '*'
	run_as_nobody "$@"
}

run_as_nobody() {
	if command -v setpriv >/dev/null; then
		setpriv --reuid="$(id -u nobody)" --regid="$(id -g nobody)" --clear-groups "$@"
	elif command -v runuser >/dev/null; then
		runuser -u nobody -- "$@"
	else
		skip 'needs setpriv or runuser'
	fi
}

# give_to_nobody <path>...: make nobody the owner, if this is root
give_to_nobody() {
	test "$(id -u)" != 0 || chown -hR "$(id -u nobody):$(id -g nobody)" "$@"
}
