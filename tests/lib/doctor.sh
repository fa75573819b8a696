# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For the tests of doctor; sourced after harness.sh.

. "$LIB_DIR/three.sh"

expect_three() {
	describe >"$T/now"
	expect_same "$T/three" "$T/now"
	git-checkpoint verify -q --all
	git --git-dir="$store" fsck --strict >"$T/fsck" 2>&1 || {
		cat "$T/fsck"
		fail 'fsck'
	}
}

# one_of <word>...: all of them with CKPT_TEST_ROUNDS=all, else one, another one each time
one_of() {
	if test "${CKPT_TEST_ROUNDS:-}" = all; then
		echo "$@"
	else
		shift "$(any $#)"
		echo "$1"
	fi
}

# doctor <exit status> [--fix]: the answer is left in $T/doctor.json
doctor() {
	wanted=$1 status=0
	shift
	git-checkpoint doctor --json "$@" >"$T/doctor.json" 2>"$T/doctor.err" || status=$?
	test $status = "$wanted" || {
		cat "$T/doctor.json" "$T/doctor.err"
		fail "exit status $status instead of $wanted: doctor $*"
	}
	jq -r '"\(.ok) \(.ok == ([.problems[] | select(.fixed | not)] == [])) \(.problems | length)",
		(.problems[] | "\(.fixed) \(.what)")' "$T/doctor.json" >"$T/told"
	sed 1d "$T/told" >"$T/problems"
	expect_eq "$(test "$wanted" = 0 && echo true || echo false) true $(grep -c . "$T/problems" || :)" \
		"$(sed -n 1p "$T/told")" 'ok, and so it is, of problems'
}

# fixes <basic regular expression>: doctor reports it and changes nothing; --fix reports and fixes it;
# after that nothing is wrong, however often it is asked
fixes() {
	look_at_store >"$T/before"
	doctor 1
	expect_grep "^false $1" "$T/problems"
	look_at_store >"$T/after"
	expect_same "$T/before" "$T/after"
	doctor 0 --fix
	expect_grep "^true $1" "$T/problems"
	cp "$T/problems" "$T/fixed"
	settled
}

# look_at_store: all but the empty file that is locked while packs are changed
look_at_store() {
	fingerprint "$store" | grep -v 'checkpoint/gc.lock$'
}

# settled: nothing is left to be fixed
settled() {
	doctor 0 --fix
	expect_eq '' "$(cat "$T/problems")"
}

# sound: neither is anything found, nor changed
sound() {
	doctor 0
	expect_eq '' "$(cat "$T/problems")"
	look_at_store >"$T/before"
	doctor 0 --fix
	expect_eq '' "$(cat "$T/problems")"
	look_at_store >"$T/after"
	expect_same "$T/before" "$T/after"
}
