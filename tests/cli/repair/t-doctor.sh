#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor: each kind of problem by name, and what --fix makes of it.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/private.sh"
. "$LIB_DIR/doctor.sh"

first='' home='' id='' second='' store='' # see three.sh

test_sound() {
	three
	sound
	expect_eq '{"ok":true,"problems":[],"gone":[]}' "$(cat "$T/doctor.json")"
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
	expect_grep "doctor --fix' fixes" "$T/out"
	git-checkpoint doctor --fix >"$T/out"
	expect_grep "^fixed: checkpoint '$second' has lost its ref; it was recreated" "$T/out"
	expect_three
}

# What is wrong is reported by readers, and repaired by the next command that changes the store.
test_mended_by_a_save() {
	three
	printf 'garbage' >"$store/HEAD"
	rm -r "$store/info"
	: >"$store/config"
	git-checkpoint list >/dev/null 2>"$T/err"
	expect_grep "warning: 'HEAD' of the store is damaged; the next save repairs it" "$T/err"
	expect_grep "warning: 'config' of the store is damaged" "$T/err"
	expect_grep "warning: 'info' of the store is missing" "$T/err"
	expect_eq garbage "$(cat "$store/HEAD")"
	git-checkpoint pin -q "$second" 2>"$T/err"
	git-checkpoint unpin -q "$second" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_three
	head -c 30 /dev/zero >"$store/HEAD"
	doctor 1
	expect_grep "^false 'HEAD' of the store is damaged" "$T/problems"
	doctor 0 --fix
	expect_grep "^true 'HEAD' of the store is damaged; it was repaired" "$T/problems"
	sound
}

test_a_lost_ref() {
	three
	rm "$store/refs/checkpoints/$second"
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_no_grep "$second" "$T/out"
	expect_grep "warning: 1 checkpoint has lost its ref; 'git checkpoint doctor --fix' recovers it" "$T/err"
	git-checkpoint status --json >"$T/status.json"
	expect_eq true "$(json '.warnings | any(test("lost its ref"))' "$T/status.json")"
	# known whatever comes after
	echo new >new
	save -m four
	git-checkpoint gc -q
	fixes "checkpoint '$second' has lost its ref"
	expect_eq null "$(state .lost)"
	git-checkpoint verify -q "$second"
}

# Its pin comes back with it, so nothing is wrong with that.
test_a_lost_ref_of_a_pinned_one() {
	three
	git-checkpoint pin -q "$second"
	rm "$store/refs/checkpoints/$second"
	fixes "checkpoint '$second' has lost its ref"
	expect_eq 1 "$(grep -c . "$T/fixed")"
	doctor 0
	expect_eq true "$(git-checkpoint show --json "$second" | jq .pinned)"
	# a pin that is itself damaged is another matter
	rm "$store/refs/checkpoints/$second"
	: >"$store/refs/keep/pin/$second"
	fixes "'refs/keep/pin/$second' does not belong"
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
	fixes "checkpoint '$second' has lost its ref"
	expect_three
}

test_what_was_dropped_is_not_lost() {
	three
	echo "{\"action\":\"drop\",\"id\":\"$second\"}" >>"$store/checkpoint/log"
	rm "$store/refs/checkpoints/$second"
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	doctor 1
	expect_eq "false the manifest does not match the checkpoints" "$(cat "$T/problems")"
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
		fixes "the ref of checkpoint '$first' is damaged"
		expect_three
	done
	head -c 41 /dev/zero >"$store/refs/heads/latest"
	fixes "'refs/heads/latest' leads to no checkpoint"
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
	fixes "the ref of checkpoint '$first' is damaged"
	expect_three
}

test_marks() {
	three
	mkdir -p "$store/refs/keep/pin"
	: >"$store/refs/keep/pin/$first"
	fixes "'refs/keep/pin/$first' does not belong"
	expect_same "$store/refs/checkpoints/$first" "$store/refs/keep/pin/$first"
	cp "$store/refs/checkpoints/$first" "$store/refs/keep/pin/chk_20200101_000000_000000"
	fixes "'refs/keep/pin/chk_20200101_000000_000000' does not belong"
	expect_exists "$store/refs/keep/pin/$first"
	expect_three
}

test_manifest() {
	three
	sed -i '$d' "$store/checkpoint-manifest.md"
	fixes 'the manifest does not match the checkpoints'
	rm "$store/checkpoint-manifest.md"
	fixes 'the manifest does not match the checkpoints'
	sed -i '$s/^| [0-9a-f]*/| 00000000/' "$store/checkpoint-manifest.md"
	fixes 'the manifest does not match the checkpoints'
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
	fixes '2 lines of the audit trail cannot be read'
	git-checkpoint log --json | jq -c '.entries[]' >"$T/log.after"
	expect_same "$T/log.before" "$T/log.after"
}

test_a_damaged_state() {
	three
	rm "$store/refs/checkpoints/$second"
	truncate -s -3 "$store/checkpoint/state"
	fixes "'checkpoint/state' is damaged"
	expect_grep "true checkpoint '$second' has lost its ref" "$T/fixed"
	expect_exists "$store/checkpoint/state.damaged"
	git-checkpoint verify -q "$second"
}

test_undo_stack() {
	three
	restore "$first"
	: >"$store/checkpoint/undo"
	fixes 'the list of restores for undo is damaged'
	restoring 1 undo -y
}

test_journal() {
	three
	restore "$first"
	safety=$(safety)
	printf '{"version"' >"$store/checkpoint/journal"
	mkdir .git-checkpoint-restore-x
	restoring 5 restore --yes "$second"
	fixes 'the journal of an interrupted restore is damaged'
	expect_grep "$safety" "$T/fixed"
	expect_missing "$store/checkpoint/journal"
	restore "$second"
}

test_litter() {
	three
	: >"$store/objects/pack/tmp_ckpt_0000000000000001"
	: >"$store/checkpoint/tmp_ckpt_0000000000000002"
	mkdir "$store/checkpoint/gc"
	: >"$store/checkpoint/gc/pack-1.pack"
	fixes '3 half-written files were left by a process that was killed'
	expect_missing "$store/objects/pack/tmp_ckpt_0000000000000001" "$store/checkpoint/tmp_ckpt_0000000000000002" \
		"$store/checkpoint/gc"
}

test_permissions() {
	three
	chmod 755 "$store"
	doctor 0 --fix
	expect_grep '^true the store is open to other users' "$T/problems"
	expect_eq 700 "$(stat -c %a "$store")"
	sound
}

test_settings_of_the_store() {
	three
	head -c 100 /dev/zero >"$store/checkpoint/config"
	git-checkpoint list >/dev/null 2>"$T/err"
	expect_grep "warning: 'checkpoint/config'.*is damaged, so its settings do not count" "$T/err"
	doctor 0 --fix
	expect_exists "$store/checkpoint/config.damaged"
	sound
}

# Which limits were meant is not known: the usual ones may be much lower.
test_without_its_settings_nothing_is_evicted() {
	git-checkpoint config -q maxCount 100
	for n in $(seq 52); do
		echo $n >a
		git-checkpoint save -q
	done
	store=$(store_dir)
	head -c 100 /dev/zero >"$store/checkpoint/config"
	for n in 53 54; do
		echo $n >a
		git-checkpoint save -q 2>"$T/err"
		git-checkpoint prune -q -y
	done
	expect_eq 54 "$(git-checkpoint list --json | jq '.checkpoints | length')"
	git-checkpoint config -q maxCount 53
	git-checkpoint prune -q -y
	expect_eq 53 "$(git-checkpoint list --json | jq '.checkpoints | length')"
}

# Neither reading nor writing gets past a directory.
test_directories_where_files_belong() {
	three
	for file in checkpoint/state checkpoint/journal checkpoint/gc.lock checkpoint/config \
		checkpoint/log checkpoint/undo checkpoint/turns checkpoint/statcache checkpoint-manifest.md \
		info/attributes packed-refs refs/heads/latest; do
		rm -f "${store:?}/$file"
		mkdir -p "$store/$file/x"
	done
	echo new >d/new
	save -m four
	expect_grep "'checkpoint/state' of the store is not a file" "$T/save.json"
	git-checkpoint prune -q
	git-checkpoint gc -q
	git-checkpoint drop -q "$id"
	sound
	expect_three
	expect_exists "$store/checkpoint/state.damaged/x"
}

# Nobody may write: then nothing is repaired, but everything is read.
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
	expect_grep "warning: 'HEAD' of the store is damaged" "$T/err"
	as_nobody git-checkpoint verify -q --all 2>/dev/null
	chmod -R u+w "$home"
}

# Again and again, whatever was moved away before; and links that lead nowhere.
test_what_stands_in_the_way_of_the_lock_and_the_state() {
	three
	for way in 'mkdir -p "$f/x"' 'mkdir -p "$f/x"' 'ln -s /nonexistent/x "$f"' 'ln -s "$f" "$f"'; do
		for f in checkpoint/lock checkpoint/state checkpoint/undo; do
			f=$store/$f
			rm -rf "$f"
			eval "$way"
		done
		echo "$way" >d/new
		save -m "$way"
		git-checkpoint restore -q --yes @~1
		git-checkpoint undo -q --yes
		git-checkpoint doctor -q --fix
		sound
	done
}

# Several stores may have the same settings.
test_settings_that_are_a_link() {
	three
	echo 'maxCount = 3' >"$T/settings"
	rm -f "$store/checkpoint/config"
	ln -s "$T/settings" "$store/checkpoint/config"
	echo 4 >d/new
	save -m four
	expect_no_grep damaged "$T/save.json"
	expect_eq 3 "$(git-checkpoint list --json | jq '.checkpoints | length')"
	test -L "$store/checkpoint/config" || fail 'the link was moved away'
	sound
}

test_what_a_user_adds_to_the_configuration_of_the_store_stays() {
	three
	git --git-dir="$store" config remote.backup.url /x
	git --git-dir="$store" config gc.auto 5
	echo 4 >d/new
	save -m four
	expect_eq /x "$(git --git-dir="$store" config remote.backup.url)"
	sound
}

run_tests
