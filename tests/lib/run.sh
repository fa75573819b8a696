# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of run; sourced after harness.sh.

# some_files: a small tree, and its fingerprint in $T/before
some_files() {
	mkdir d
	echo 1 >a
	echo 1 >d/b
	chmod 640 d/b
	ln -s a link
	fingerprint . >"$T/before"
}

expect_rolled_back() {
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
}

newest() {
	git-checkpoint list --json | jq -r ".checkpoints[0].$1"
}
