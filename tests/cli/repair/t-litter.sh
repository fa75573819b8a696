#!/bin/sh
# SPDX-License-Identifier: MIT
# What a git that was killed leaves in the store goes with gc and with doctor --fix; what one that
# lives is at work on stays.

. "$(dirname "$0")/../../lib/harness.sh"

# A pid that was ours and is nobody's now, and one of a process that lives.
pids() {
	sh -c 'echo $$' >"$T/dead"
	dead=$(cat "$T/dead")
	sleep 1000 &
	alive=$!
	trap 'kill $alive' EXIT
}

litter() {
	echo 1 >a
	git-checkpoint save -q
	store=$(store_dir)
	packs=$store/objects/pack
	pids
	mkdir -p "$store/objects/ab"
	pack=$(basename "$packs"/pack-*.pack .pack)
	other='pack-0123456789012345678901234567890123456789'
	# to go
	for name in "objects/pack/.tmp-$dead-$other.pack" "objects/pack/.tmp-$dead-$other.idx" \
		"objects/pack/.tmp-$dead-$other.rev" objects/pack/tmp_pack_dead00 objects/pack/tmp_idx_dead00 \
		objects/ab/tmp_obj_dead00; do
		echo litter >"$store/$name"
	done
	for name in "objects/pack/.tmp-$alive-$other.idx" objects/pack/tmp_pack_old000 \
		objects/pack/$other.rev objects/pack/$other.keep objects/pack/multi-pack-index.lock \
		index.lock refs/checkpoints/x.lock objects/tmp_objdir-incoming-1; do
		echo litter >"$store/$name"
		touch -d '25 hours ago' "$store/$name"
	done
	echo "fetch-pack $dead on $(uname -n)" >"$packs/$pack.keep"
	# to stay
	for name in "objects/pack/.tmp-$alive-$other.pack" objects/pack/tmp_pack_open00 \
		"objects/pack/.tmp-x-$other.pack" HEAD.lock objects/ab/other objects/pack/note.txt \
		"objects/pack/$other.mtimes"; do
		echo living >"$store/$name"
	done
	touch -d '25 hours ago' "$packs/note.txt" "$store/objects/ab/other"
	exec 9>"$packs/tmp_pack_open00"
}

expect_swept() {
	expect_missing "$packs/.tmp-$dead-$other.pack" "$packs/.tmp-$dead-$other.idx" \
		"$packs/.tmp-$dead-$other.rev" "$packs/tmp_pack_dead00" "$packs/tmp_idx_dead00" \
		"$store/objects/ab/tmp_obj_dead00" "$packs/.tmp-$alive-$other.idx" "$packs/tmp_pack_old000" \
		"$packs/$other.rev" "$packs/$other.keep" "$packs/multi-pack-index.lock" \
		"$store/index.lock" "$store/refs/checkpoints/x.lock" \
		"$store/objects/tmp_objdir-incoming-1" "$packs/$pack.keep"
	expect_exists "$packs/.tmp-$alive-$other.pack" "$packs/tmp_pack_open00" \
		"$packs/.tmp-x-$other.pack" "$store/HEAD.lock" "$store/objects/ab/other" "$packs/note.txt" \
		"$packs/$other.mtimes"
}

test_gc() {
	litter
	git-checkpoint gc -q
	expect_swept
	expect_eq 1 "$(git-checkpoint list --json | jq '.checkpoints | length')"
	git-checkpoint verify --all -q
	exec 9>&-
	git-checkpoint gc -q
	expect_missing "$packs/tmp_pack_open00"
}

test_doctor() {
	litter
	expect_exit 1 git-checkpoint doctor >"$T/out"
	expect_grep '15 half-written files were left by a process that was killed' "$T/out"
	expect_exists "$packs/tmp_pack_dead00"
	git-checkpoint doctor --fix >"$T/out"
	expect_grep 'killed; removed' "$T/out"
	expect_swept
	git-checkpoint doctor
}

# Somebody wants it: with or without a word.
test_a_keep_of_the_user_stays() {
	litter
	echo 'my own' >"$packs/$pack.keep"
	touch -d '25 hours ago' "$packs/$pack.keep"
	echo promisor >"$packs/$pack.promisor"
	touch -d '25 hours ago' "$packs/$pack.promisor"
	git-checkpoint gc -q
	git-checkpoint doctor --fix -q
	expect_exists "$packs/$pack.keep" "$packs/$pack.pack" "$packs/$pack.promisor"
	echo "fetch-pack $alive on $(uname -n)" >"$packs/$pack.keep"
	git-checkpoint gc -q
	expect_exists "$packs/$pack.keep"
}

# Stock git itself, killed in the middle.
test_a_real_repack_that_is_killed() {
	require git
	echo 1 >a
	git-checkpoint save -q
	echo 2 >a
	git-checkpoint save -q
	store=$(store_dir)
	FAULT_PATH=pack- expect_exit 137 with_faults rename 1 kill git --git-dir="$store" repack -a -d -q ||
		skip 'this git renames otherwise'
	find "$store/objects/pack" -name '.tmp-*' >"$T/left"
	test -s "$T/left" || skip 'this git left nothing'
	git-checkpoint gc -q
	expect_eq '' "$(find "$store/objects/pack" -type f ! -name 'pack-*')" 'litter'
	git-checkpoint verify --all -q
}

run_tests
