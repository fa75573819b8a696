# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2164 # cases run with set -e
#
# For the tests of installing hooks; sourced after harness.sh.

. "$LIB_DIR/hook-files.sh"

# A repository with two branches, `main` and `topic`, that can be merged; made once and copied.
repository() {
	test -e "$SCRATCH/repository" || make_repository "$SCRATCH/repository"
	mkdir -p "${1:-.}"
	cp -a "$SCRATCH/repository/." "${1:-.}"
	git -C "${1:-.}" update-index -q --refresh
}

make_repository() {
	git init -q "$1"
	(
		cd "$1"
		echo 1 >a
		git add a
		git commit -q -m 1
		git checkout -q -b topic
		echo 2 >b
		git add b
		git commit -q -m 2
		git checkout -q main
		echo 3 >c
		git add c
		git commit -q -m 3
	)
}

# stand_in [<line>...]: a git-checkpoint that notes in $T/calls how its hooks are called
stand_in() {
	mkdir -p "$T/bin"
	{
		printf '#!/bin/sh\n[ "$1" = hook ] || exec "%s" "$@"\n' "$BUILD_DIR/git-checkpoint"
		printf '{ for word; do case $word in --answer=*) ;; *) printf "%%s " "$word" ;; esac; done
			echo "in=$GIT_CHECKPOINT_IN_HOOK"; } >>"%s"\n' "$T/calls"
		printf '[ "$2" != reference-transaction ] || cat >>"%s"\n' "$T/calls"
		printf '%s\n' "$@"
	} >"$T/bin/git-checkpoint"
	chmod +x "$T/bin/git-checkpoint"
	PATH=$T/bin:$PATH
	: >"$T/calls"
}

# counting: our program, which notes in $T/calls how often hooks start it
counting() {
	mkdir -p "$T/bin"
	printf '#!/bin/sh\n[ "$1" != hook ] || echo "$2" >>"%s"\nexec "%s" "$@"\n' "$T/calls" \
		"$BUILD_DIR/git-checkpoint" >"$T/bin/git-checkpoint"
	chmod +x "$T/bin/git-checkpoint"
	PATH=$T/bin:$PATH
	: >"$T/calls"
}

# not through git, which would put its own directory before the PATH
hooks() {
	git-checkpoint hooks "$@"
}

# before: remember the repository; expect_as_before: it is the same again
before() {
	fingerprint "${1:-.git}" >"$T/before"
}

expect_as_before() {
	fingerprint "${1:-.git}" >"$T/now"
	expect_same "$T/before" "$T/now"
}

# Long loops try every fifth place, or every other, unless all are asked for.
step=5
test "${CKPT_TEST_ROUNDS:-}" != all || step=1
first=$(($(any $step) + 1))
