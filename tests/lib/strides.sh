# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests that hit the program at every single call; sourced after harness.sh.
#
# Visiting every call takes minutes: by default the loops skip ahead in strides, and start somewhere
# else each time; CKPT_TEST_ROUNDS=all visits every call.

# shellcheck disable=SC2034 # for the tests
CHANGES=write,pwrite,fsync,fdatasync,rename,openat-create,unlink,mkdir,ftruncate,link
STEP=${CKPT_TEST_ROUNDS:+1}

# begin_at <stride>: the first number of a loop
begin_at() {
	if test "${STEP:-$1}" = 1; then
		echo 1
	else
		echo $(($(any "$1") + 1))
	fi
}

# killed <number> <total> <command>...: true if it was killed at that call. With threads a run may
# make fewer calls than were counted: false if it finished before one of the last few.
killed() {
	killed_at=$1 killed_of=$2 killed_status=0
	shift 2
	with_faults "$CHANGES" "$killed_at" kill "$@" || killed_status=$?
	test $killed_status != 137 || return 0
	test $killed_status = 0 && test $((killed_at + 3)) -ge "$killed_of" ||
		fail "exit status $killed_status instead of 137 at call $killed_at of $killed_of: $*"
	return 1
}
