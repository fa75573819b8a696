#!/bin/sh
# SPDX-License-Identifier: MIT
# Stored copies that are lost or have gone bad while the files are still there: nothing may rely on them.

. "$(dirname "$0")/../lib/harness.sh"

# spoil <file>: flip a byte in the stored copy of what <file> holds
spoil() {
	oid=$(git hash-object --no-filters "$1")
	for idx in "$(store_dir)"/objects/pack/*.idx; do
		offset=$(git show-index <"$idx" | sed -n "s/^\([0-9]*\) $oid .*/\1/p")
		test -n "$offset" || continue
		pack=${idx%.idx}.pack
		chmod u+w "$pack"
		perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, $ARGV[1] + 6, 0; read $f, my $b, 1;
			seek $f, $ARGV[1] + 6, 0; print $f chr(ord($b) ^ 0x55);' "$pack" "$offset"
		return
	done
	fail "no pack has $1"
}

test_a_lost_pack_is_made_good_when_nothing_changed() {
	echo 1 >f
	git-checkpoint save -q
	ls "$(store_dir)/objects/pack" >"$T/packs"
	echo g >g
	sleep 0.1
	git-checkpoint save -q
	ls "$(store_dir)/objects/pack" >"$T/packs-now"
	lost=$(comm -13 "$T/packs" "$T/packs-now")
	echo 2 >f
	sleep 0.1
	git-checkpoint save -q
	for file in $lost; do
		rm -f "$(store_dir)/objects/pack/$file"
	done
	expect_exit 1 git-checkpoint verify -q @
	git-checkpoint save -q
	git-checkpoint verify -q @
	# the one between is lost with its pack
	git-checkpoint restore -y -q @~1 2>/dev/null
	git-checkpoint undo -y -q 2>/dev/null
	expect_eq g "$(cat g)"
}

test_a_restore_removes_nothing_whose_copy_is_bad() {
	echo base >base
	git-checkpoint save -q
	echo precious-precious-precious >a
	# old enough that its times can be trusted: else it would be read, and stored, again
	sleep 0.1
	git-checkpoint save -q
	spoil a
	expect_exit 5 git-checkpoint restore -y -q @~1
	expect_eq precious-precious-precious "$(cat a)"
}

test_a_bad_copy_is_stored_again_when_the_file_is_read() {
	echo precious-precious-precious >a
	git-checkpoint save -q
	spoil a
	expect_exit 1 git-checkpoint verify -q @
	touch a
	echo other >b
	git-checkpoint save -q
	git-checkpoint verify -q @
}

test_a_bad_tree_keeps_nobody_from_saving() {
	mkdir d
	echo 1 >d/a
	git-checkpoint save -q
	tree=$(git --git-dir="$(store_dir)" rev-parse latest:d)
	for idx in "$(store_dir)"/objects/pack/*.idx; do
		offset=$(git show-index <"$idx" | sed -n "s/^\([0-9]*\) $tree .*/\1/p")
		pack=${idx%.idx}.pack
		chmod u+w "$pack"
		perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, $ARGV[1] + 8, 0; print $f "\x55";' "$pack" "$offset"
	done
	echo 2 >d/new
	git-checkpoint save -q
	git-checkpoint verify -q @
}

test_a_file_that_outgrows_the_limit_is_not_forgotten() {
	export GIT_CHECKPOINT_MAX_FILE_SIZE=1000
	mkdir d
	echo small >d/log
	sleep 0.1
	git-checkpoint save -q
	sleep 0.1
	git-checkpoint save -q
	head -c 2000 /dev/zero >>d/log
	expect_exit 3 git-checkpoint save -q
	echo 1 >other
	expect_exit 3 git-checkpoint save -q
	: >d/log
	git-checkpoint save -q
	git-checkpoint show --files @ >"$T/files"
	expect_grep '^d/log$' "$T/files"
}

test_a_directory_that_can_be_listed_but_not_entered() {
	test "$(id -u)" = 0 || skip "needs another user"
	mkdir d
	echo 1 >d/a
	chmod 0444 d
	give_to_nobody .
	status=0
	as_nobody git-checkpoint save --json >"$T/out" 2>/dev/null || status=$?
	expect_eq 3 "$status"
	expect_eq d/a "$(json '.skipped[0].file' "$T/out")"
}

run_tests
