#!/bin/sh
# SPDX-License-Identifier: MIT
# Retention: what goes after a save and with prune, and why.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/retain.sh"

id= # of the checkpoint that was saved last

# many <n>: checkpoints 1 .. n; their ids are noted in $T/ids
many() {
	n=0
	while test $n -lt "$1"; do
		n=$((n + 1))
		made $n
		echo "$id" >>"$T/ids"
	done
	store=$(store_dir)
}

nth() {
	sed -n "$1p" "$T/ids"
}

# at <time> <reason> [<option>...]: saved then
at() {
	at_when=$1 at_reason=$2
	shift 2
	echo "$at_reason" >a
	fake "$at_when" git-checkpoint save -q -m "$at_reason" "$@"
}

# prune <option>...: first dry, which changes nothing and says the same
prune() {
	before=$(reasons)
	restoring 0 prune -n "$@"
	told_gone >"$T/dry"
	expect_eq number "$(told '.freed | type')"
	expect_eq "$before" "$(reasons)" 'after a dry run'
	restoring 0 prune "$@"
	told_gone >"$T/real"
	expect_same "$T/dry" "$T/real"
	store_sound
}

test_fifty_are_kept() {
	many 53
	expect_eq "$(seq -s ' ' 4 53)" "$(reasons)"
	logged evict >"$T/evicted"
	expect_eq "$(nth 1) maxCount 50
$(nth 2) maxCount 50
$(nth 3) maxCount 50" "$(cat "$T/evicted")"
	jq -e '.entries | all(keys - ["title"] == ["action","at","commit","hash","id","reason"])' "$T/log.json"
	jq -e '[.entries[] | select(.action == "evict")] | all(.hash[:7] == "sha256:" and (.commit | length == 40))' \
		"$T/log.json"
	store_sound
	expect_exit 128 git-checkpoint show "$(nth 1)" 2>"$T/err"
}

test_maxcount_of_a_setting() {
	GIT_CHECKPOINT_MAX_COUNT=3
	export GIT_CHECKPOINT_MAX_COUNT
	many 5
	expect_eq '3 4 5' "$(reasons)"
	git-checkpoint pin -q "$(nth 3)"
	made 6
	expect_eq '3 4 5 6' "$(reasons)"
	made 7
	expect_eq '3 5 6 7' "$(reasons)"
	# unpinned it counts again, with the next save
	git-checkpoint unpin -q "$(nth 3)"
	expect_eq '3 5 6 7' "$(reasons)"
	made 8
	expect_eq '6 7 8' "$(reasons)"
	# nothing changed: nothing goes
	GIT_CHECKPOINT_MAX_COUNT=1
	save
	expect_eq '6 7 8' "$(reasons)"
	prune
	expect_eq 8 "$(reasons)"
	expect_eq '6 7' "$(told_gone)"
}

test_prune_by_hand() {
	many 6
	prune
	expect_eq '' "$(told_gone)"
	prune --max-count 4
	expect_eq '1 2' "$(told_gone)"
	expect_eq 'maxCount 4' "$(told '.removed[0].why')"
	expect_eq 'added agent automatic branch commit created_at deleted expiry files_changed hash hash_version head id imported name names pinned reason restore_command safety_for scope session source step title type why' \
		"$(told '.removed[0] | keys | join(" ")')"
	expect_eq '3 4 5 6' "$(reasons)"
	git-checkpoint prune -n --max-count 2 >"$T/out"
	expect_eq "Would drop $(nth 3) (maxCount 2)
Would drop $(nth 4) (maxCount 2)" "$(head -n 2 "$T/out")"
	expect_grep '^Would free about' "$T/out"
	git-checkpoint prune --max-count 2 >"$T/out"
	expect_eq "Dropped $(nth 3) (maxCount 2)
Dropped $(nth 4) (maxCount 2)" "$(head -n 2 "$T/out")"
	expect_grep '^Freed' "$T/out"
	git-checkpoint prune >"$T/out"
	expect_grep '^Nothing to drop' "$T/out"
	expect_eq "$(nth 1) maxCount 4
$(nth 2) maxCount 4
$(nth 3) maxCount 2
$(nth 4) maxCount 2" "$(logged prune)"
	prune --max-count 1
	expect_eq 6 "$(reasons)"
	expect_exit 129 git-checkpoint prune --max-count 0 2>"$T/err"
	expect_exit 129 git-checkpoint prune --max-count x 2>"$T/err"
	expect_exit 129 git-checkpoint prune @ 2>"$T/err"
}

test_without_a_store() {
	restoring 0 prune
	expect_eq '{"removed":[],"freed":0}' "$(jq -c . "$T/restore.json")"
	expect_missing "$(store_dir)"
}

test_expired_ones() {
	require faketime
	many 2
	made 3 --expires 1h
	made 4 --expires 3h
	made 5 --expires 2h
	made 6
	later +90m git-checkpoint list >"$T/out"
	expect_eq 3 "$(sed -n 's/.* \[expired\] \([0-9]\)$/\1/p' "$T/out")"
	# they stay until prune
	echo 7 >a
	later +5h git-checkpoint save -q -m 7
	expect_eq '1 2 3 4 5 6 7' "$(reasons)"
	# unless a limit is reached: the one that expired first goes first
	echo 8 >a
	GIT_CHECKPOINT_MAX_COUNT=6 later +5h git-checkpoint save -q -m 8
	expect_eq '1 2 4 6 7 8' "$(reasons)"
	logged evict >"$T/out"
	expect_grep ' maxCount 6, expired 20..-..-..T' "$T/out"
	later +5h git-checkpoint prune --json --expired >"$T/restore.json"
	expect_eq 4 "$(told_gone)"
	expect_eq expired "$(told '.removed[0].why' | cut -d' ' -f1)"
	expect_eq '1 2 6 7 8' "$(reasons)"
	store_sound
}

# Restore refuses it and prune takes it: it is not what somebody who saves now should be told of.
test_an_expired_one_is_no_answer_to_a_save() {
	require faketime
	many 1
	made 2 --expires 1h
	later +30m git-checkpoint save -q --expires 10m
	later +2h git-checkpoint save -q -m important
	expect_eq '1 2 important' "$(reasons)"
}

test_only_expired_ones_if_so_asked() {
	require faketime
	many 3
	made 4 --expires 1h
	made 5 --expires 1h --pin
	made 6
	GIT_CHECKPOINT_MAX_COUNT=1 later +2h git-checkpoint prune -q --expired
	expect_eq '1 2 3 5 6' "$(reasons)"
	# together with a number, both
	later +2h git-checkpoint prune -q --expired --max-count 3
	expect_eq '2 3 5 6' "$(reasons)"
	store_sound
}

test_maxage() {
	require faketime
	at '2026-03-01 12:00:00' 1
	at '2026-03-05 12:00:00' 2 --pin
	at '2026-03-06 12:00:00' 3
	at '2026-03-08 12:00:00' 4
	at '2027-01-01 00:00:00' 5 # from a clock that was ahead
	GIT_CHECKPOINT_MAX_AGE=3d
	export GIT_CHECKPOINT_MAX_AGE
	# minutes beyond, as a busy machine may take seconds
	at '2026-03-09 12:10:00' 6
	expect_eq '2 4 5 6' "$(reasons)"
	logged evict >"$T/out"
	expect_eq 'maxAge 3d
maxAge 3d' "$(cut -d' ' -f2- "$T/out")"
	# the newest stays, however old
	fake '2028-01-01 00:00:00' git-checkpoint prune -q
	expect_eq '2 6' "$(reasons)"
	store_sound
}

test_a_clock_that_goes_back_evicts_nothing_young() {
	require faketime
	GIT_CHECKPOINT_MAX_COUNT=3
	export GIT_CHECKPOINT_MAX_COUNT
	at '2030-01-01 00:00:00' 1
	at '2020-01-01 00:00:00' 2
	at '2025-01-01 00:00:00' 3
	at '2010-01-01 00:00:00' 4
	# the order of saving counts, not what the clock said
	expect_eq '2 3 4' "$(reasons)"
	store_sound
}

test_thinning() {
	require faketime
	GIT_CHECKPOINT_MAX_COUNT=2 GIT_CHECKPOINT_KEEP_HOURLY=2 GIT_CHECKPOINT_KEEP_DAILY=3 \
		GIT_CHECKPOINT_KEEP_WEEKLY=2
	export GIT_CHECKPOINT_MAX_COUNT GIT_CHECKPOINT_KEEP_HOURLY GIT_CHECKPOINT_KEEP_DAILY \
		GIT_CHECKPOINT_KEEP_WEEKLY
	at '2026-06-05 10:00:00' fri
	at '2026-06-07 10:00:00' sun1
	at '2026-06-07 23:50:00' sun2
	at '2026-06-15 10:00:00' mon
	at '2026-06-16 09:00:00' tue1
	at '2026-06-16 22:00:00' tue2
	at '2026-06-17 09:10:00' wed0
	at '2026-06-17 10:10:00' wed1
	at '2026-06-17 10:20:00' wed2
	at '2026-06-17 11:10:00' wed3
	at '2026-06-17 11:20:00' wed4
	# newest two: wed3 wed4; hours: wed4 wed2; days: wed4 tue2 mon; weeks: wed4 sun2
	expect_eq 'sun2 mon tue2 wed2 wed3 wed4' "$(reasons)"
	unset GIT_CHECKPOINT_KEEP_DAILY
	fake '2026-06-17 11:20:00' git-checkpoint prune -q
	expect_eq 'sun2 wed2 wed3 wed4' "$(reasons)"
	store_sound
}

test_undo_and_its_anchors_are_spared() {
	many 5
	restore "$(nth 2)"
	made 6
	GIT_CHECKPOINT_MAX_COUNT=1
	export GIT_CHECKPOINT_MAX_COUNT
	made 7
	# the state before the restore was 5, what was brought back is 2
	expect_eq '2 5 7' "$(reasons)"
	restoring 0 undo -y
	expect_eq 5 "$(cat a)"
	restoring 0 redo -y
	expect_eq 7 "$(cat a)"
	store_sound
}

test_a_restore_does_not_push_out_its_target() {
	many 3
	GIT_CHECKPOINT_MAX_COUNT=1
	export GIT_CHECKPOINT_MAX_COUNT
	echo unsaved >a
	restore "$(nth 1)"
	expect_eq 1 "$(cat a)"
	# 3 is what was asked for last; the safety checkpoint does not count
	expect_eq '1 3 pre-restore-safety' "$(reasons)"
	restoring 0 undo -y
	expect_eq unsaved "$(cat a)"
	store_sound
}

test_the_newest_of_the_whole_is_spared() {
	GIT_CHECKPOINT_MAX_COUNT=2
	export GIT_CHECKPOINT_MAX_COUNT
	echo x >b
	many 3
	for n in 4 5 6 7; do
		echo $n >a
		save -m $n a
	done
	expect_eq '3 6 7' "$(reasons)"
	store_sound
}

test_a_damaged_one_is_not_evicted() {
	many 4
	: >"$store/refs/checkpoints/$(nth 2)"
	git-checkpoint prune -q --max-count 1
	expect_eq 4 "$(reasons 2>/dev/null)"
	expect_exists "$store/refs/checkpoints/$(nth 2)"
	git-checkpoint drop -q "$(nth 2)"
	store_sound
}

test_packed_refs() {
	many 6
	git --git-dir="$store" pack-refs --all
	made 7
	prune --max-count 3
	expect_eq '5 6 7' "$(reasons)"
	prune --max-count 1
	expect_eq 7 "$(reasons)"
	# git is at work there: wait, then say so; nothing is half done
	made 8
	git --git-dir="$store" pack-refs --all
	made 9
	: >"$store/packed-refs.lock"
	restoring 75 prune --max-count 1
	expect_grep 'packed-refs.lock' "$T/restore.err"
	rm "$store/packed-refs.lock"
	prune --max-count 1
	expect_eq 9 "$(reasons)"
	# one that a git left which was killed blocks nobody for ever
	made 10
	git --git-dir="$store" pack-refs --all
	made 11
	touch -d '1 hour ago' "$store/packed-refs.lock"
	prune --max-count 1
	expect_eq 11 "$(reasons)"
	store_sound
}

test_a_reader_is_not_disturbed() {
	many 3
	# Lists refs, then finds that one is gone: as if it had been dropped in between.
	cat >"$T/reader" <<-'END'
		i=0
		while test $i -lt 6; do
			i=$((i + 1))
			git-checkpoint list >/dev/null 2>>"$T/reader.err" || echo "list failed" >>"$T/reader.err"
			git-checkpoint verify --all >>"$T/reader.out" 2>>"$T/reader.err" || echo "verify failed" >>"$T/reader.err"
		done
	END
	: >"$T/reader.err"
	sh "$T/reader" &
	n=0
	while test $n -lt 6; do
		n=$((n + 1))
		made x$n
		git-checkpoint drop -q @~1
	done
	wait
	expect_eq '' "$(cat "$T/reader.err")"
	store_sound
}

test_settings_are_told() {
	git-checkpoint config >"$T/out"
	expect_grep '^keepHourly=0$' "$T/out"
	expect_grep '^keepDaily=0$' "$T/out"
	expect_grep '^keepWeekly=0$' "$T/out"
	GIT_CHECKPOINT_KEEP_DAILY=x expect_exit 128 git-checkpoint config 2>"$T/err"
	expect_grep 'KEEP_DAILY' "$T/err"
}

run_tests
