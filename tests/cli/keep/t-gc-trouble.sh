#!/bin/sh
# SPDX-License-Identifier: MIT
# gc where something is damaged, somebody else is at work, or the disk is full.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/gc.sh"

id= # of the checkpoint that was saved last

# ---- trouble ----

# others_come_back <bad>: all but that one verify and can be restored
others_come_back() {
	expect_exit 1 git-checkpoint verify --all --json >"$T/verify.json" 2>/dev/null
	expect_eq "$1" "$(json '[.checkpoints[] | select(.ok | not) | .id] | join(" ")' "$T/verify.json")"
	sed -i "/$1/d" "$T/ids"
	all_come_back
}

test_a_damaged_tree_and_nothing_is_thrown_away() {
	many 5
	bad=$(sed -n 3p "$T/ids")
	damage "$(git --git-dir="$store" rev-parse "refs/checkpoints/$bad^{tree}")"
	find "$store/objects/pack" -type f | sort >"$T/before"
	git-checkpoint gc >"$T/out" 2>"$T/err"
	expect_grep '^warning: .*damaged' "$T/err"
	find "$store/objects/pack" -type f | sort >"$T/after"
	expect_same "$T/before" "$T/after"
	others_come_back "$bad"
}

test_a_damaged_blob_harms_one_only() {
	many 5
	bad=$(sed -n 3p "$T/ids")
	damage "$(git --git-dir="$store" rev-parse "refs/checkpoints/$bad:counter")"
	git-checkpoint gc >"$T/out" 2>"$T/err"
	expect_grep '^warning: ' "$T/err"
	expect_no_grep "--git-dir" "$T/err"
	others_come_back "$bad"
	# the bytes that are left are still there, for whoever knows how to repair them
	find "$store/objects/pack" -name '*.idx' | while read -r index; do
		git show-index <"$index"
	done >"$T/objects"
	expect_grep "$(git --git-dir="$store" rev-parse "refs/checkpoints/$bad:counter")" "$T/objects"
	sed -i "/$bad/d" "$T/ids"
	all_come_back
}

test_damage_in_an_index_or_a_lost_pack() {
	many 5
	bad=$(sed -n 3p "$T/ids")
	blob=$(git --git-dir="$store" rev-parse "refs/checkpoints/$bad:counter")
	for index in "$store"/objects/pack/*.idx; do
		! git show-index <"$index" | grep -q "$blob" || break
	done
	mv "$index" "$T/kept.idx"
	find "$store/objects/pack" -name '*.pack' | sort >"$T/before"
	git-checkpoint gc >"$T/out" 2>"$T/err"
	# the pack without an index has what is missing
	expect_exists "${index%.idx}.pack"
	mv "$T/kept.idx" "$index"
	gc_quietly
	sound 5
	all_come_back
}

test_litter_of_the_dead_is_removed() {
	many 3
	mkdir "$store/checkpoint/gc"
	touch "$store/objects/pack/tmp_pack_1" "$store/objects/pack/tmp_idx_1" \
		"$store/objects/pack/tmp_ckpt_0000000000000001" "$store/checkpoint/gc/pack-1.pack"
	cp "$store"/objects/pack/pack-*.pack "$T/" 2>/dev/null
	for pack in "$T"/pack-*.pack; do
		cp "$pack" "$store/objects/pack/pack-0123456789012345678901234567890123456789.pack"
	done
	gc_quietly
	sound 3
	expect_eq 1 "$(packs)"
}

# One that was killed while it had gc make way left its request.
test_an_old_request_to_make_way_does_not_count() {
	for i in 1 2; do
		noise 300000 >large
		save
	done
	gc_quietly
	for command in "drop -q @" "prune -q --max-count 1" "gc -q"; do
		noise 300000 >large
		save
		git-checkpoint gc -q
		: >"$(store_dir)/checkpoint/gc.yield"
		before=$(du -sk "$(store_dir)" | cut -f1)
		# shellcheck disable=SC2086
		git-checkpoint $command
		expect_missing "$(store_dir)/checkpoint/gc.yield"
		test "$command" = "gc -q" || test "$(du -sk "$(store_dir)" | cut -f1)" -lt $((before - 200)) ||
			fail "nothing was freed by $command"
	done
}

test_two_at_once() {
	many 4
	for out in 1 2 3 4 5; do
		(git-checkpoint gc -q >"$T/$out" 2>&1 || echo $? >>"$T/statuses") &
	done
	wait
	# another process is packing: that is not a failure
	test ! -e "$T/statuses" || expect_eq 75 "$(sort -u "$T/statuses")"
	gc_quietly
	sound 4
	expect_eq 1 "$(packs)"
}

# ---- little room ----

# with_small_disk <kB>: the home of stores is on one of that size
with_small_disk() {
	test "$(id -u)" = 0 || skip 'needs root'
	mkdir "$T/small"
	mount -t tmpfs -o size="${1}k" none "$T/small" 2>/dev/null || skip 'cannot mount'
	trap 'cd /; umount "$T/small"' EXIT
	# shellcheck disable=SC2090
	export GIT_CHECKPOINT_HOME="$T/small/home"
}

# leave_free <kB>
leave_free() {
	free=$(df -k --output=avail "$T/small" | tail -1)
	test "$free" -gt "$1" || fail "only $free kB are free"
	dd if=/dev/zero of="$T/small/fill" bs=1k count=$((free - $1)) 2>/dev/null
}

test_on_a_full_disk_it_frees_what_nobody_needs() {
	with_small_disk 12000
	echo 0 >a
	save
	for i in 1 2 3; do
		noise 2000000 >big
		save
		dropped="$dropped $id"
	done
	rm big
	echo 1 >a
	save
	store=$(store_dir)
	leave_free 512
	# shellcheck disable=SC2086
	git-checkpoint drop -q $dropped
	after=$(df -k --output=avail "$T/small" | tail -1)
	test "$after" -gt 6000 || fail "only $after kB are free"
	gc
	sound 2
}

# A pack that no checkpoint needs, as a save leaves it that was killed before it made its ref.
test_with_half_a_megabyte_free_packs_without_use_go_first() {
	with_small_disk 10000
	echo 0 >a
	noise 1500000 >keep
	save
	noise 4000000 >big
	FAULT_PATH=refs/checkpoints expect_exit 137 with_faults openat-create,rename,link 1 kill git-checkpoint save -q
	rm big
	leave_free 512
	gc
	after=$(df -k --output=avail "$T/small" | tail -1)
	test "$after" -gt 4000 || fail "only $after kB are free"
	sound 1
	# not a byte
	leave_free 0
	git-checkpoint gc -q 2>/dev/null || fail "gc without any room: $?"
	sound 1
}

# Many packs and not room for a second copy of all of them: still as few as possible.
test_it_needs_little_more_room_than_the_result() {
	with_small_disk 12000
	for i in 1 2 3 4 5 6 7 8; do
		noise 500000 >"file$i"
		save
	done
	leave_free 5600
	gc_quietly
	expect_eq 1 "$(packs)"
	sound 8
	# less than that: nothing is lost
	for i in 1 2 3 4; do
		noise 100000 >"file$i"
		save
	done
	rm "$T/small/fill"
	leave_free 1200
	gc
	expect_grep 'not enough disk space' "$T/gc.json"
	sound 12
}

# The checkpoint is gone by then, and that is what is said.
test_a_drop_that_is_interrupted_while_it_frees() {
	noise 4000 >a
	noise 4000 >b
	save
	rm b
	save
	export FAULT_PATH=objects/pack FAULT_RUN='kill -TERM $PPID'
	status=0
	with_faults openat-create 1 run git-checkpoint drop -y @~1 >"$T/out" 2>"$T/err" || status=$?
	unset FAULT_PATH FAULT_RUN
	expect_eq 143 "$status"
	expect_eq "error: interrupted after 1 checkpoint was removed; 'git checkpoint gc' frees the space" "$(cat "$T/err")"
	expect_eq 1 "$(git-checkpoint list --json | jq '.checkpoints | length')"
	git-checkpoint verify -q --all
}

run_tests
