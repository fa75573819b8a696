#!/bin/sh
# SPDX-License-Identifier: MIT
# Push and fetch that are killed, cut off in the middle, or run out of space; several at once. Nothing
# is listed by halves, on neither side, and the same command works afterwards.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$LIB_DIR/servers.sh"
. "$LIB_DIR/strides.sh"

url=''

# wired: machine one has a checkpoint of some size; both know the hub by a wire that can be cut
wired() {
	machines
	serve_git
	serve_wire
	wire
	trap stop_servers EXIT
	for who in one two; do
		on $who git-checkpoint remote add -q wire "$url"
	done
	edit one x
	on one sh -c 'head -c 200000 /dev/urandom >big'
	on one git-checkpoint save -q
	id=$(id_on one)
}

# hub_is_whole: what its refs lead to is all there
hub_is_whole() {
	git -C "$T/hub.git" fsck --strict --connectivity-only --no-dangling >"$T/fsck" 2>&1 || fail "$(cat "$T/fsck")"
}

# store_is_whole <machine>: nothing is listed that is not sound; what others have saved is not its own
store_is_whole() {
	on "$1" git-checkpoint list --remote --json >"$T/listed"
	for whole_id in $(jq -r '.checkpoints[] | .machine + "/" + .id' "$T/listed"); do
		on "$1" git-checkpoint verify -q "$whole_id"
	done
	on "$1" git-checkpoint doctor -q || on "$1" git-checkpoint doctor -q --fix
	on "$1" git-checkpoint doctor -q
	on "$1" git-checkpoint verify -q --all
}

# noted <machine> <command>...: its process is in $T/pid; 137 or 128 if it was ended or cut off
noted() {
	on "$1" sh -c 'echo $$ >"$T/pid"; shift; exec "$@"' sh "$@" 2>"$T/err" || {
		noted_status=$?
		test $noted_status = 137 || test $noted_status = 128 || fail "status $noted_status: $(cat "$T/err")"
		return 1
	}
}

# places <total>: some numbers of bytes: the first, and up to nearly that (another run may need a few
# bytes less)
places() {
	echo 1
	for places_n in 1 2 3 4 5; do
		echo $(((TEST_SEED * places_n + 7919 * places_n * places_n) % ($1 * 9 / 10) + 1))
	done
	echo $(($1 * 9 / 10))
}

# cut_everywhere <machine> <check> <command>...: kill it, and cut the wire, at some places
cut_everywhere() {
	cut_machine=$1 cut_check=$2
	shift 2
	fresh
	wire
	on "$cut_machine" "$@"
	cut_total=$(cat "$T/wire.count")
	for cut_at in $(places "$cut_total"); do
		for cut_how in "kill $T/pid" close; do
			fresh
			# shellcheck disable=SC2086 # two words
			wire "$cut_at" $cut_how
			noted "$cut_machine" "$@" || :
			expect_exists "$T/wire.done"
			wire
			$cut_check || fail "after $cut_how at $cut_at of $cut_total"
			on "$cut_machine" "$@"
			$cut_check || fail "again after $cut_how at $cut_at of $cut_total"
		done
	done
}

test_pushes_that_are_cut_off() {
	wired
	fresh() {
		git -C "$T/hub.git" for-each-ref --format='delete %(refname)' | git -C "$T/hub.git" update-ref --stdin
		git -C "$T/hub.git" gc -q --prune=now
	}
	check() {
		hub_is_whole && store_is_whole one
	}
	cut_everywhere one check git-checkpoint push -q wire
	expect_grep "one/$id\$" "$(hub_refs >"$T/refs"; echo "$T/refs")"
	on two git-checkpoint fetch -q hub
	on two git-checkpoint verify -q one/@
}

test_fetches_that_are_cut_off() {
	wired
	on one git-checkpoint push -q hub
	cp -a "$T/machines/two/state" "$T/saved"
	fresh() {
		rm -rf "$T/machines/two/state"
		cp -a "$T/saved" "$T/machines/two/state"
	}
	check() {
		store_is_whole two && expect_eq '' "$(on two git-checkpoint list 2>/dev/null)"
	}
	cut_everywhere two check git-checkpoint fetch -q wire
	on two git-checkpoint verify -q one/@
}

test_killed_at_a_write_while_pushing() {
	machines
	edit one x
	on one git-checkpoint save -q
	cp -a "$T/machines/one/state" "$T/saved"
	on one with_faults "$CHANGES" 0 kill git-checkpoint push -q
	total=$(cat "$T/faults")
	test "$total" -ge 3
	at=$(begin_at 2)
	while test "$at" -le "$total"; do
		rm -rf "$T/machines/one/state"
		cp -a "$T/saved" "$T/machines/one/state"
		on one killed "$at" "$total" git-checkpoint push -q || :
		hub_is_whole
		on one git-checkpoint push -q
		store_is_whole one
		at=$((at + ${STEP:-2}))
	done
	# it still knows what it has pushed
	on one git-checkpoint drop -q -y @
	on one git-checkpoint push -q --prune --all
	expect_eq '' "$(hub_refs)"
}

test_several_at_once() {
	machines
	machine three x
	on three git-checkpoint remote add -q hub "$T/hub.git"
	for n in 1 2 3 4; do
		for who in one two three; do
			edit $who "$n $who"
			on $who git-checkpoint save -q
		done
	done
	for who in one two three; do
		on $who git-checkpoint push -q --all >"$T/log.$who" 2>&1 &
		eval "push_$who=\$!"
		# and the same machine twice
		on $who git-checkpoint push -q >"$T/log.again.$who" 2>&1 &
		eval "again_$who=\$!"
		on $who git-checkpoint fetch -q --all >"$T/log.fetch.$who" 2>&1 &
		eval "fetch_$who=\$!"
	done
	# shellcheck disable=SC2154 # set by eval
	for pid in $push_one $push_two $push_three $again_one $again_two $again_three $fetch_one $fetch_two $fetch_three; do
		wait "$pid" || fail "$(cat "$T"/log.*)"
	done
	hub_is_whole
	expect_eq 12 "$(hub_refs | wc -l)"
	for who in one two three; do
		on $who git-checkpoint fetch -q --all
		expect_eq 8 "$(on $who git-checkpoint list --remote | wc -l)"
		store_is_whole $who
	done
}

# small <size> <directory>: that directory is on a disk of that size, with what it had
small() {
	mkdir "$T/small"
	mount -t tmpfs -o "size=$1" none "$T/small" 2>/dev/null || skip 'cannot mount'
	trap 'umount "$T/small"' EXIT
	cp -a "$2/." "$T/small/"
	rm -rf "$2"
	ln -s "$T/small" "$2"
}

test_a_full_disk_on_the_other_side() {
	machines
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	small 1m "$T/hub.git"
	on one sh -c 'head -c 2000000 /dev/urandom >big'
	on one git-checkpoint save -q
	expect_exit 1 on one git-checkpoint push -q 2>"$T/err"
	expect_grep 'was not pushed: ' "$T/err"
	hub_is_whole
	expect_eq 1 "$(hub_refs | wc -l)"
	on two git-checkpoint fetch -q
	on two git-checkpoint verify -q one/@
	mount -o remount,size=8m "$T/small"
	on one git-checkpoint push -q
	hub_is_whole
	expect_eq 2 "$(hub_refs | wc -l)"
}

test_a_full_disk_on_this_side() {
	machines
	on one sh -c 'head -c 2000000 /dev/urandom >big'
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	small 1m "$T/machines/two/state"
	expect_exit 128 on two git-checkpoint fetch -q 2>"$T/err"
	expect_grep "No space left\|disk" "$T/err"
	nothing_fetched two
	store_is_whole two
	mount -o remount,size=8m "$T/small"
	on two git-checkpoint fetch -q
	store_is_whole two
	on two git-checkpoint verify -q one/@
}

run_tests
