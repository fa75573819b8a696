#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor: each kind of problem by name, what --fix makes of it, stores that were set aside.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

three() {
	mkdir d
	noise 3000 >d/one
	save -m one
	first=$id
	noise 3000 >d/two
	save -m two
	second=$id
	rm d/one
	noise 3000 >d/three
	save -m three
	third=$id
	store=$(store_dir)
	key=${store##*/}
	home=${store%/*}
	describe >"$T/three"
}

# What the checkpoints are: ids, commits, state hashes.
describe() {
	git-checkpoint list --json | jq -r '.checkpoints[] | "\(.id) \(.commit) \(.hash)"'
}

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

# mends <basic regular expression>: doctor says so and changes nothing; --fix says so and mends;
# then all is well, however often it is asked
mends() {
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

# settled: nothing is left to be mended
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

# pack_of <object>: the path of the pack that has it, without its ending
pack_of() {
	for index in "$store"/objects/pack/*.idx; do
		if git show-index <"$index" | grep -q "$1"; then
			echo "${index%.idx}"
			return
		fi
	done
	fail "$1 is in no pack"
}

object() {
	git --git-dir="$store" rev-parse "$1"
}

# flip <file> <offset>
flip() {
	chmod u+w "$1"
	perl -e 'open my $f, "+<:raw", $ARGV[0] or die; seek $f, $ARGV[1], 0; read $f, my $b, 1;
		seek $f, $ARGV[1], 0; print $f chr(ord($b) ^ 0x55)' "$1" "$2"
}

# flip_object <object>: a byte of its compressed data
flip_object() {
	pack=$(pack_of "$1")
	at=$(git show-index <"$pack.idx" | awk -v o="$1" '$2 == o { print $1 }')
	flip "$pack.pack" $((at + 40))
}

test_sound() {
	three
	sound
	expect_eq '{"ok":true,"problems":[]}' "$(cat "$T/doctor.json")"
	expect_eq sound "$(git-checkpoint doctor)"
	expect_eq '' "$(git-checkpoint doctor -q)"
	expect_three
}

test_no_store() {
	expect_eq "no checkpoints of '$PWD' yet" "$(git-checkpoint doctor)"
	doctor 0 --fix
	expect_missing "$(store_dir)"
	expect_exit 129 git-checkpoint doctor surplus 2>/dev/null
}

test_text_and_status() {
	three
	rm "$store/refs/checkpoints/$second"
	expect_exit 1 git-checkpoint doctor >"$T/out"
	expect_grep "^problem: checkpoint '$second' has lost its ref" "$T/out"
	expect_grep "doctor --fix' mends" "$T/out"
	git-checkpoint doctor --fix >"$T/out"
	expect_grep "^fixed: checkpoint '$second' has lost its ref; it was made anew" "$T/out"
	expect_three
}

# What is mended by opening is said, once.
test_mended_on_open() {
	three
	printf 'garbage' >"$store/HEAD"
	rm -r "$store/info"
	: >"$store/config"
	git-checkpoint list >/dev/null 2>"$T/err"
	expect_grep "warning: 'HEAD' of the store was damaged; it was written anew" "$T/err"
	expect_grep "warning: 'config' of the store was damaged" "$T/err"
	expect_grep "warning: the directory 'info' of the store was missing" "$T/err"
	git-checkpoint list >/dev/null 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_three
	head -c 30 /dev/zero >"$store/HEAD"
	doctor 0
	expect_grep "^true 'HEAD' of the store was damaged" "$T/problems"
	sound
}

test_a_lost_ref() {
	three
	rm "$store/refs/checkpoints/$second"
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_no_grep "$second" "$T/out"
	expect_grep "warning: 1 checkpoint has lost its ref; 'git checkpoint doctor --fix' brings it back" "$T/err"
	git-checkpoint status --json >"$T/status.json"
	expect_eq true "$(json '.warnings | any(test("lost its ref"))' "$T/status.json")"
	# known whatever comes after
	echo new >new
	save -m four
	git-checkpoint gc -q
	mends "checkpoint '$second' has lost its ref"
	expect_missing "$store/checkpoint/lost"
	git-checkpoint verify -q "$second"
}

# Its pin comes back with it, so nothing is wrong with that.
test_a_lost_ref_of_a_pinned_one() {
	three
	git-checkpoint pin -q "$second"
	rm "$store/refs/checkpoints/$second"
	mends "checkpoint '$second' has lost its ref"
	expect_eq 1 "$(grep -c . "$T/fixed")"
	doctor 0
	expect_eq true "$(git-checkpoint show --json "$second" | jq .pinned)"
	# a pin that is itself damaged is another matter
	rm "$store/refs/checkpoints/$second"
	: >"$store/refs/pinned/$second"
	mends "'refs/pinned/$second' does not belong"
	expect_eq 2 "$(grep -c . "$T/fixed")"
	expect_three
}

# The audit trail knows of it, the commit is there; what was dropped stays dropped.
test_a_lost_ref_and_no_manifest() {
	three
	git-checkpoint drop -q "$first"
	describe >"$T/three"
	rm "$store/refs/checkpoints/$second"
	head -c 300 /dev/zero >"$store/checkpoint-manifest.md"
	echo new >new
	save -m four
	git-checkpoint gc -q
	git-checkpoint drop -q "$id"
	mends "checkpoint '$second' has lost its ref"
	expect_three
}

test_what_was_dropped_is_not_lost() {
	three
	echo "{\"action\":\"drop\",\"id\":\"$second\"}" >>"$store/checkpoint/log"
	rm "$store/refs/checkpoints/$second"
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	doctor 0
	expect_eq '' "$(cat "$T/problems")"
}

# A save that was killed before it made its ref is invisible.
test_a_killed_save_is_not_lost() {
	three
	commit=$(object "refs/checkpoints/$first")
	rm -r "$store"
	git-checkpoint save -q -m x
	rm "$store"/refs/checkpoints/* "$store/refs/heads/latest" "$store/checkpoint-manifest.md" \
		"$store/checkpoint/log" "$store/checkpoint/statcache"
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_no_grep 'lost' "$T/err"
	doctor 0
	test -n "$commit"
}

test_a_damaged_ref() {
	three
	for kind in $(one_of empty garbage 0123456789012345678901234567890123456789); do
		printf %s "${kind#empty}" >"$store/refs/checkpoints/$first"
		mends "the ref of checkpoint '$first' is damaged"
		expect_three
	done
	head -c 41 /dev/zero >"$store/refs/heads/latest"
	mends "'refs/heads/latest' leads to no checkpoint"
	expect_three
}

# Without room for a new ref, the damaged one is all that tells of the checkpoint.
test_a_damaged_ref_on_a_full_disk() {
	three
	: >"$store/refs/checkpoints/$first"
	git-checkpoint list >"$T/out" 2>&1
	FAULT_PATH=tmp_ckpt_ FAULT_STICKY=1 expect_exit 128 \
		with_faults openat-create 1 ENOSPC git-checkpoint doctor --fix
	git-checkpoint gc -q 2>"$T/err"
	mends "the ref of checkpoint '$first' is damaged"
	expect_three
}

test_marks() {
	three
	mkdir "$store/refs/pinned"
	: >"$store/refs/pinned/$first"
	mends "'refs/pinned/$first' does not belong"
	expect_same "$store/refs/checkpoints/$first" "$store/refs/pinned/$first"
	cp "$store/refs/checkpoints/$first" "$store/refs/pinned/chk_20200101_000000_000000"
	mends "'refs/pinned/chk_20200101_000000_000000' does not belong"
	expect_exists "$store/refs/pinned/$first"
	expect_three
}

test_a_pack_without_index() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")")
	rm -f "$pack.idx"
	doctor 1
	expect_grep "^false the pack '${pack##*/}' has no index; all its objects can be read" "$T/problems"
	doctor 0 --fix
	sound
	expect_three
}

test_a_damaged_index() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")")
	cp "$pack.idx" "$T/idx"
	for at in $(one_of 5 1100 1200); do
		cp -f "$T/idx" "$pack.idx"
		flip "$pack.idx" $at
		doctor 1
		expect_grep "the pack '${pack##*/}' has a damaged index" "$T/problems"
		doctor 0 --fix
		sound
		expect_three
		pack=$(pack_of "$(object "refs/checkpoints/$second")")
	done
}

test_an_index_without_pack() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")")
	rm -f "$pack.pack"
	doctor 1
	expect_grep "^false the pack '${pack##*/}' is gone" "$T/problems"
	doctor 1 --fix
	expect_grep "^true the pack '${pack##*/}' is gone" "$T/problems"
	expect_grep "^false checkpoint '$second' is damaged.*it cannot be mended, 'git checkpoint drop $second' removes it" "$T/problems"
	expect_missing "$pack.idx"
	# the others are untouched by that, or stored again
	git-checkpoint verify -q "$first" "$third"
}

# The checksum is wrong and an object, which is still in the worktree, is lost.
test_contents_are_stored_again() {
	three
	flip_object "$(object "refs/checkpoints/$second:d/two")"
	expect_exit 1 git-checkpoint verify --all >/dev/null
	doctor 1
	expect_grep '^false the pack .* is damaged; 1 of its' "$T/problems"
	expect_grep "^false checkpoint '$second' is damaged.*d/two" "$T/problems"
	doctor 0 --fix
	expect_grep "^true checkpoint '$second' is damaged.*it was stored again from the worktree" "$T/problems"
	expect_grep "^true checkpoint '$third' is damaged" "$T/problems"
	sound
	expect_three
}

test_contents_are_lost() {
	three
	flip_object "$(object "refs/checkpoints/$second:d/one")"
	doctor 1 --fix
	expect_grep "^false checkpoint '$first' is damaged.*d/one.*cannot be mended" "$T/problems"
	expect_grep "^false checkpoint '$second' is damaged.*d/one" "$T/problems"
	expect_no_grep "'$third'" "$T/problems"
	# its remains are kept, and everything that could be read
	expect_exists "$store"/checkpoint/damaged/*.pack
	git-checkpoint verify -q "$third"
	restore "$second" -- d/two
	doctor 1
	expect_grep "^false checkpoint '$first' is damaged" "$T/problems"
}

test_a_cut_pack() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$third")")
	chmod u+w "$pack.pack"
	truncate -s -10 "$pack.pack"
	doctor 1
	expect_grep "^false the pack '${pack##*/}' is damaged; all its objects can be read" "$T/problems"
	doctor 0 --fix
	sound
	expect_three
}

# As stock git packs: with deltas.
test_a_damaged_pack_of_git() {
	three
	seq 1 3000 >d/long
	save
	echo more >>d/long
	save
	describe >"$T/three"
	git --git-dir="$store" repack -q -a -d -f
	for pack in "$store"/objects/pack/*.pack; do
		git verify-pack -v "$pack" >"$T/verified"
		expect_grep 'chain length' "$T/verified"
		rm -f "${pack%.pack}.idx"
	done
	doctor 0 --fix
	expect_grep '^true the pack .* has no index; all its objects can be read' "$T/problems"
	sound
	expect_three
}

test_manifest() {
	three
	sed -i '$d' "$store/checkpoint-manifest.md"
	mends 'the manifest does not list the checkpoints'
	rm "$store/checkpoint-manifest.md"
	mends 'the manifest does not list the checkpoints'
	sed -i '$s/^| [0-9a-f]*/| 00000000/' "$store/checkpoint-manifest.md"
	mends 'the manifest does not list the checkpoints'
	expect_three
}

test_audit_trail() {
	three
	git-checkpoint log --json | jq -c '.entries[]' >"$T/log.before"
	printf 'torn {"at"' >>"$store/checkpoint/log"
	{
		cat "$store/checkpoint/log"
		printf '\n\0\0\0\0\n'
	} >"$T/log"
	cat "$T/log" >"$store/checkpoint/log"
	mends '2 lines of the audit trail cannot be read'
	git-checkpoint log --json | jq -c '.entries[]' >"$T/log.after"
	expect_same "$T/log.before" "$T/log.after"
}

test_undo_stack() {
	three
	restore "$first"
	: >"$store/checkpoint/undo"
	mends 'the list of restores that undo goes back through is damaged'
	restoring 1 undo -y
}

test_journal() {
	three
	restore "$first"
	safety=$(safety)
	printf '{"version"' >"$store/checkpoint/journal"
	mkdir .git-checkpoint-restore-x
	restoring 5 restore --yes "$second"
	mends 'the journal of an interrupted restore is damaged'
	expect_grep "$safety" "$T/fixed"
	expect_missing "$store/checkpoint/journal"
	restore "$second"
}

test_litter() {
	three
	: >"$store/objects/pack/tmp_ckpt_0000000000000001"
	: >"$store/checkpoint/tmp_ckpt_0000000000000002"
	mends '2 half-written files were left by a process that was killed'
	expect_missing "$store/objects/pack/tmp_ckpt_0000000000000001" "$store/checkpoint/tmp_ckpt_0000000000000002"
}

test_permissions() {
	three
	chmod 755 "$store"
	doctor 0
	expect_grep '^true the store was open to other users' "$T/problems"
	expect_eq 700 "$(stat -c %a "$store")"
	sound
}

test_settings_of_the_store() {
	three
	head -c 100 /dev/zero >"$store/checkpoint/config"
	git-checkpoint list >/dev/null 2>"$T/err"
	expect_grep "warning: 'checkpoint/config'.*was damaged; it is now" "$T/err"
	expect_exists "$store/checkpoint/config.damaged"
	sound
}

test_of_another_worktree() {
	three
	printf %s "$T/elsewhere" >"$store/checkpoint/worktree"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	doctor 1
	expect_grep "^false the store .* belongs to '$T/elsewhere'" "$T/problems"
	doctor 1 --fix
	expect_eq "$T/elsewhere" "$(cat "$store/checkpoint/worktree")"
	echo 9 >"$store/checkpoint/version"
	doctor 1 --fix
	expect_grep "^false the store .* has format '9'" "$T/problems"
}

# --- set aside ---

# no_use <way>: make the store one that cannot be mended
no_use() {
	case $1 in
	refs)
		rm -r "$store/refs"
		: >"$store/refs"
		;;
	lock)
		rm "$store/checkpoint/lock"
		mkdir "$store/checkpoint/lock"
		;;
	private)
		rm -r "$store/checkpoint"
		echo x >"$store/checkpoint"
		;;
	head)
		rm "$store/HEAD"
		mkdir "$store/HEAD"
		;;
	esac
}

test_set_aside_and_salvaged() {
	three
	git-checkpoint gc -q
	cp -a "$store" "$T/keep"
	for way in $(one_of refs lock private head); do
		rm -rf "${store:?}" "$store".*
		cp -a "$T/keep" "$store"
		no_use $way
		restoring 128 restore --yes "$first"
		refused 'is damaged' 'git checkpoint doctor --fix'
		doctor 1
		expect_grep "3 checkpoints of '$store' can be brought back" "$T/problems"
		expect_exists "$store"
		git-checkpoint save -m "$way" >"$T/out" 2>"$T/err"
		expect_grep "^warning: .*was set aside as '$store.broken-.*doctor --fix' brings back" "$T/err"
		git-checkpoint list >"$T/out" 2>"$T/err"
		expect_eq "1 " "$(grep -c . "$T/out") $(cat "$T/err")"
		doctor 1
		expect_grep "^false 3 checkpoints of '$store.broken-[0-9_]*' can be brought back" "$T/problems"
		doctor 0 --fix
		expect_grep "^true 3 checkpoints of .* were brought back" "$T/problems"
		sound
		describe | grep -F -f "$T/three" >"$T/now"
		expect_same "$T/three" "$T/now"
		git-checkpoint verify -q --all
		git --git-dir="$store" fsck --strict
		expect_eq 4 "$(describe | grep -c .)"
		expect_eq 1 "$(find "$home" -maxdepth 1 -name "$key.salvaged-*" | grep -c .)"
	done
}

# Without a save in between, straight from what cannot be used.
test_fix_sets_aside() {
	three
	no_use refs
	doctor 0 --fix
	sound
	expect_three
}

test_a_file_where_the_store_was() {
	three
	rm -r "$store"
	echo x >"$store"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	expect_grep 'is not a directory.*doctor --fix' "$T/err"
	save -m new 2>"$T/err"
	expect_exists "$store".broken-*
	doctor 1
	doctor 0 --fix
	sound
}

# Damage in what was set aside is confined to the checkpoint that it hit.
test_salvage_of_a_damaged_one() {
	three
	flip_object "$(object "refs/checkpoints/$first:d/one")"
	no_use head
	doctor 1 --fix
	expect_grep "^false checkpoint '$first' of .* cannot be brought back" "$T/problems"
	expect_grep "^false checkpoint '$second' of .* cannot be brought back" "$T/problems"
	expect_grep "^true 1 checkpoint of .* was brought back" "$T/problems"
	expect_eq "$(grep "$third" "$T/three")" "$(describe)"
	sound
}

test_the_newest_five_are_kept() {
	three
	for n in 1 2 3 4 5 6 7; do
		no_use lock
		echo $n >n
		later "2026-01-0$n 00:00:00" git-checkpoint save -q -m "$n" 2>"$T/err"
	done
	find "$home" -maxdepth 1 -name "$key.broken-*" | sort | sed 's/.*broken-\(20260...\).*/\1/' |
		tr '\n' ' ' >"$T/kept"
	expect_eq '20260103 20260104 20260105 20260106 20260107 ' "$(cat "$T/kept")"
}

# Many at the same time: one of them sets it aside, all save into the new one.
test_many_set_aside_at_once() {
	three
	no_use lock
	for n in 1 2 3 4 5 6; do
		git-checkpoint save -q --allow-empty -m "$n" 2>"$T/err.$n" &
	done
	wait
	cat "$T"/err.*
	expect_eq 1 "$(find "$home" -maxdepth 1 -name "$key.broken-*" | grep -c .)"
	expect_eq 6 "$(describe | grep -c .)"
	expect_eq 1 "$(cat "$T"/err.* | grep -c 'was set aside')"
	doctor 0 --fix
	expect_eq 9 "$(describe | grep -c .)"
}

# What cannot be read now is not gone.
test_a_pack_that_cannot_be_read() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")").pack
	give_to_nobody . "$home"
	cp "$pack" "$T/pack"
	chmod 0 "$pack"
	expect_exit 1 as_nobody git-checkpoint doctor --fix >"$T/out" 2>"$T/err"
	expect_grep "^problem: the pack '.*' cannot be read: Permission denied" "$T/out"
	as_nobody chmod 0400 "$pack"
	expect_same "$T/pack" "$pack"
	as_nobody git-checkpoint doctor --fix >"$T/out" 2>"$T/err"
	expect_three
}

# Neither reading nor writing gets past a directory.
test_directories_where_files_belong() {
	three
	for file in checkpoint/lost checkpoint/journal checkpoint/gc.lock checkpoint/config \
		checkpoint/log checkpoint/undo checkpoint/statcache checkpoint-manifest.md \
		info/attributes packed-refs refs/heads/latest; do
		rm -f "${store:?}/$file"
		mkdir -p "$store/$file/x"
	done
	echo new >d/new
	save -m four
	expect_grep "warning: 'checkpoint/lost' of the store was a directory" "$T/save.err"
	git-checkpoint prune -q
	git-checkpoint gc -q
	git-checkpoint drop -q "$id"
	sound
	expect_three
	expect_exists "$store/checkpoint/lost.damaged/x"
}

# Nobody may write: then nothing is mended, but all is read.
test_a_store_that_is_read_only() {
	three
	give_to_nobody . "$home"
	chmod -R a-w "$home"
	as_nobody git-checkpoint list >"$T/out" 2>"$T/err"
	expect_eq 3 "$(grep -c '^chk_' "$T/out")"
	expect_eq '' "$(cat "$T/err")"
	chmod u+w "$store" "$store/HEAD"
	: >"$store/HEAD"
	chmod u-w "$store"
	as_nobody git-checkpoint list >"$T/out" 2>"$T/err"
	expect_eq 3 "$(grep -c '^chk_' "$T/out")"
	expect_grep "warning: 'HEAD' of the store was damaged and cannot be rewritten" "$T/err"
	as_nobody git-checkpoint verify -q --all 2>/dev/null
	chmod -R u+w "$home"
}

run_tests
