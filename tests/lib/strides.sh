# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests that hit the program at every single call; sourced behind harness.sh.
#
# All places take minutes: by default the loops go on in strides, and begin somewhere else each
# time; CKPT_TEST_ROUNDS=all takes all.

# shellcheck disable=SC2034 # for the tests
CHANGES=write,pwrite,fsync,fdatasync,rename,openat-create,unlink,mkdir,ftruncate,link
STEP=${CKPT_TEST_ROUNDS:+1}

# begin_at <stride>: the first number of a loop
begin_at() {
	if test "${STEP:-$1}" = 1; then
		echo 1
	else
		echo $(($(date +%s) % $1 + 1))
	fi
}
