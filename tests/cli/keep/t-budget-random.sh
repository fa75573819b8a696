#!/bin/sh
# SPDX-License-Identifier: MIT
# Random saves, restores, reverts, undos and drops under random limits: each checkpoint that is listed
# is whole, undo leads back, and the store keeps within its budget or says so.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/retain.sh"

# tell <command>...: its exit status in $status, what it says in $T/told
tell() {
	status=0
	git-checkpoint "$@" >"$T/told" 2>&1 || status=$?
	did="$*: $status"
}

# draw <number>: $drawn is one of as many, from 0
draw() {
	state=$(((state * 1103515245 + 12345) % 2147483648))
	drawn=$((state / 65536 % $1))
}

# one_of <word>...: $one is one of them
one_of() {
	draw $#
	shift $drawn
	one=$1
}

change() {
	one_of a b d/c d/e
	mkdir -p d
	draw 4
	case $drawn in
	0) rm -f "$one" ;;
	1) draw 200 && noise $((drawn * 1000)) >"$one" ;;
	*) draw 300 && seq $drawn >"$one" ;;
	esac
}

limit() {
	draw 4
	case $drawn in
	0) one_of none 1 3 10 && git-checkpoint config maxCount "$one" ;;
	1) one_of none 1 3 && git-checkpoint config maxAutomatic "$one" ;;
	2) one_of none 1d && git-checkpoint config maxAge "$one" ;;
	*)
		one_of none 300 600 1000 3000
		budget=$one
		test "$budget" = none || one=${one}k
		git-checkpoint config maxSize "$one"
		;;
	esac
}

# there_and_back <command>...: what is in no checkpoint comes back
there_and_back() {
	note unsaved
	tell "$@" -q -y
	case $status in
	0 | 3)
		draw 2
		fingerprint . >"$T/fp.now"
		# nothing to do is nothing to undo
		if test $drawn = 0 || cmp -s "$T/fp.unsaved" "$T/fp.now"; then
			return 0
		fi
		tell undo -q -y
		test $status != 5 || expect_grep 'no safety checkpoint could be taken' "$T/told"
		test $status != 0 || expect_noted unsaved
		case $status in 0 | 1 | 5) ;; *) fail "$did: $(cat "$T/told")" ;; esac
		;;
	1 | 5 | 128) expect_noted unsaved ;;
	*) fail "$did: $(cat "$T/told")" ;;
	esac
}

holds() {
	git-checkpoint verify -q --all >"$T/verified" 2>&1 || fail "$did: $(cat "$T/verified")"
	# whatever undo leads to is there
	jq -r '.restores[] | .before, .after | select(startswith("chk_"))' \
		"$(store_dir)/checkpoint/undo" >"$T/named" 2>/dev/null || return 0
	while read -r kept; do
		git --git-dir="$(store_dir)" rev-parse -q --verify "refs/checkpoints/$kept" >"$T/out" ||
			fail "$did: undo leads to $kept, which is gone"
	done <"$T/named"
}

within() {
	test "$budget" != none && test $status = 0 || return 0
	test "$(kilobytes)" -le "$budget" || expect_grep 'maxSize' "$T/told"
}

test_random_limits() {
	budget=none step=0 state=$TEST_SEED steps=${CKPT_TEST_ROUNDS:-60}
	test "$steps" != all || steps=500
	seq 9 >a
	save
	while test $step -lt "$steps"; do
		step=$((step + 1))
		change
		draw 8
		case $drawn in
		0 | 1 | 2)
			tell save -q
			case $status in 0 | 128) ;; *) fail "$did: $(cat "$T/told")" ;; esac
			within
			;;
		3) one_of @ @~1 && there_and_back revert "$one" ;;
		4) one_of @ @~1 @~2 && there_and_back restore "$one" ;;
		5) there_and_back restore @ a ;;
		6) one_of undo redo prune && tell "$one" -q -y ;;
		*) limit ;;
		esac
		holds
	done
	store_sound
}

run_tests
