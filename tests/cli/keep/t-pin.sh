#!/bin/sh
# SPDX-License-Identifier: MIT
# pin, unpin, drop.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/retain.sh"
. "$LIB_DIR/strides.sh"

id= # of the checkpoint that was saved last

# four: checkpoints one .. four
four() {
	made one
	one=$id
	made two
	two=$id
	made three
	three=$id
	made four
	four=$id
	store=$(store_dir)
}

pinned() {
	git-checkpoint show --json "$1" | jq .pinned
}

test_pin_and_unpin() {
	four
	restoring 0 pin "$two"
	expect_eq "$two true" "$(told '.checkpoint | .id + " " + (.pinned | tostring)')"
	expect_eq true "$(pinned "$two")"
	expect_eq false "$(pinned "$one")"
	git-checkpoint list >"$T/out"
	expect_eq "$two" "$(grep -F '[pinned]' "$T/out" | cut -d' ' -f1)"
	# stock git sees it
	expect_eq "$(git --git-dir="$store" rev-parse "refs/checkpoints/$two")" \
		"$(git --git-dir="$store" rev-parse "refs/keep/pin/$two")"
	# again: not a change
	git-checkpoint pin "$two" >"$T/out"
	expect_grep "^Pinned $two" "$T/out"
	restoring 0 unpin "$two"
	expect_eq false "$(told .checkpoint.pinned)"
	expect_eq false "$(pinned "$two")"
	git-checkpoint pin -q "$two" >"$T/out"
	expect_eq '' "$(cat "$T/out")"
	expect_eq true "$(pinned "$two")"
	logged pin >"$T/out"
	expect_eq 2 "$(grep -c "^$two two" "$T/out")"
	store_sound
}

test_what_was_saved_pinned_can_be_unpinned() {
	made one --pin
	one=$id
	made two
	expect_eq true "$(pinned "$one")"
	git-checkpoint unpin -q "$one"
	expect_eq false "$(pinned "$one")"
	git-checkpoint drop -q "$one"
	expect_eq two "$(reasons)"
	store_sound
}

test_any_name_will_do() {
	four
	git-checkpoint pin -q @~1
	expect_eq true "$(pinned "$three")"
	git-checkpoint unpin -q "$(git --git-dir="$store" rev-parse "refs/checkpoints/$three" | cut -c1-12)"
	expect_eq false "$(pinned "$three")"
	expect_exit 128 git-checkpoint pin nonsense 2>"$T/err"
	expect_grep "nonsense" "$T/err"
	expect_exit 129 git-checkpoint pin 2>"$T/err"
	expect_exit 129 git-checkpoint pin @ @~1 2>"$T/err"
	expect_exit 129 git-checkpoint unpin --force @ 2>"$T/err"
	expect_exit 129 git-checkpoint drop 2>"$T/err"
}

test_what_was_dropped_is_told() {
	four
	git-checkpoint drop @~1 >"$T/out"
	expect_grep "^Dropped $three (three)\$" "$T/out"
	echo 5 >a
	git-checkpoint save -q
	git-checkpoint drop -n @ >"$T/out"
	expect_grep '^Would drop chk_[0-9a-f_]* (no message)$' "$T/out"
}

test_marks_survive_pack_refs() {
	four
	git-checkpoint pin -q "$one"
	git-checkpoint pin -q "$two"
	git --git-dir="$store" pack-refs --all
	expect_missing "$store/refs/keep/pin/$one"
	expect_eq 'true true false' "$(pinned "$one") $(pinned "$two") $(pinned "$three")"
	git-checkpoint unpin -q "$one"
	expect_eq false "$(pinned "$one")"
	git --git-dir="$store" pack-refs --all
	expect_eq false "$(pinned "$one")"
	expect_exit 5 git-checkpoint drop "$two" 2>"$T/err"
	git-checkpoint drop -q --force "$one" "$two"
	expect_eq '' "$(git --git-dir="$store" for-each-ref refs/keep)"
	expect_eq 'three four' "$(reasons)"
	store_sound
}

test_drop() {
	four
	git-checkpoint drop "$two" >"$T/out"
	expect_grep "^Dropped $two (two)$" "$T/out"
	expect_grep '^Freed [0-9]' "$T/out"
	expect_eq 'one three four' "$(reasons)"
	store_sound
	restoring 0 drop "$one" @~1 "$three"
	expect_eq 'one three' "$(told_gone)"
	expect_eq number "$(told '.freed | type')"
	expect_eq four "$(reasons)"
	store_sound
	# the last one, too
	git-checkpoint drop -q @
	expect_eq '' "$(reasons)"
	store_sound
	expect_eq "$two two
$one one
$three three
$four four" "$(logged drop)"
	expect_exit 128 git-checkpoint drop @ 2>"$T/err"
	made five
	expect_eq five "$(reasons)"
	store_sound
}

test_latest_follows() {
	four
	git-checkpoint drop -q "$four"
	expect_eq three "$(git --git-dir="$store" show latest:a)"
	store_sound
	git --git-dir="$store" pack-refs --all
	git-checkpoint drop -q "$three"
	expect_eq two "$(git --git-dir="$store" show latest:a)"
	store_sound
}

# A save that follows finds nothing in the stat cache that is gone.
test_contents_of_a_dropped_one_can_be_saved_again() {
	noise 100000 >big
	cp big "$T/big"
	made one
	rm big
	made two
	git-checkpoint drop -q @~1
	cp "$T/big" big
	save -m again
	git-checkpoint verify @
	git --git-dir="$(store_dir)" show latest:big >"$T/got"
	cmp "$T/big" "$T/got"
	git-checkpoint drop -q @
	save -m again
	git-checkpoint verify @
	store_sound
}

test_all_or_none() {
	four
	git-checkpoint pin -q "$two"
	restoring 5 drop "$one" "$two" "$three"
	expect_eq 5 "$(told .error.code)"
	expect_grep "$two.*pinned.*--force" "$T/restore.err"
	restoring 128 drop "$one" nonsense
	expect_eq 'one two three four' "$(reasons)"
	expect_eq '' "$(logged drop)"
	restoring 0 drop --force "$one" "$two" "$three"
	expect_eq four "$(reasons)"
	store_sound
}

test_a_damaged_one_goes_by_its_id() {
	four
	: >"$store/refs/checkpoints/$two"
	expect_exit 128 git-checkpoint drop "${two%??}" 2>"$T/err"
	git-checkpoint drop "$two" >"$T/out"
	expect_grep "^Dropped $two (damaged)" "$T/out"
	expect_eq 'one three four' "$(reasons)"
	store_sound
	echo 1111111111111111111111111111111111111111 >"$store/refs/checkpoints/$one"
	restoring 0 drop "$one"
	expect_eq "$one damaged" "$(told '.removed[0] | .id + " " + .why')"
	expect_eq 'three four' "$(reasons)"
	store_sound
}

test_what_undo_leads_to_needs_force() {
	four
	restore "$one"
	# the newest had that state already
	expect_eq "$four" "$(safety)"
	restoring 5 drop "$four"
	expect_grep 'undo' "$T/restore.err"
	# what was brought back is not needed for that
	restoring 0 drop "$one"
	restoring 0 drop --force "$four"
	restoring 128 undo -y
	expect_grep "$four" "$T/restore.err"
	store_sound
}

test_an_interrupted_restore_keeps_both_ends() {
	four
	echo changed >a
	at=0
	while ! test -e "$store/checkpoint/journal"; do
		at=$((at + 1))
		expect_exit 137 with_faults rename $at kill git-checkpoint restore -q -y "$one"
	done
	back=$(json .safety "$store/checkpoint/journal")
	restoring 5 drop --force "$one"
	expect_grep 'interrupted' "$T/restore.err"
	restoring 5 drop --force "$back"
	git-checkpoint prune -q --max-count 1
	git-checkpoint restore --abort -q
	expect_eq changed "$(cat a)"
	git-checkpoint restore -q -y "$one"
	expect_eq one "$(cat a)"
	store_sound
}

# Killed at each call that changes the store: the checkpoint is there or not, nothing else is harmed.
test_a_killed_drop() {
	four
	git-checkpoint pin -q "$two"
	git --git-dir="$store" pack-refs --all
	cp -a "$store" "$T/before"
	calls=write,fsync,rename,link,unlink
	with_faults $calls 0 kill git-checkpoint drop -q --force "$two"
	total=$(cat "$T/faults")
	test "$total" -gt 4
	at=$(begin_at 3)
	while test $at -le "$total"; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		with_faults $calls $at kill git-checkpoint drop -q --force "$two" 2>"$T/err" || :
		case $(reasons) in
		'one two three four' | 'one three four') ;;
		*) fail "at $at: $(reasons)" ;;
		esac
		git --git-dir="$store" fsck --strict
		# what was left does not matter
		git-checkpoint drop -q --force "$one"
		test "$(reasons)" = 'three four' || git-checkpoint drop -q --force "$two"
		expect_eq 'three four' "$(reasons)" "at $at"
		store_sound
		at=$((at + ${STEP:-3}))
	done
}

test_the_lock_is_waited_for() {
	four
	for command in "pin $one" "unpin $one" "drop $one" prune; do
		# shellcheck disable=SC2086 # words
		expect_exit 75 env GIT_CHECKPOINT_LOCK_TIMEOUT=0s flock "$store/checkpoint/lock" \
			git-checkpoint $command 2>"$T/err"
		expect_grep '^error: \(process [0-9]* (flock .*)\|another process\) is using the checkpoints of ' \
			"$T/err"
	done
	expect_eq 'one two three four' "$(reasons)"
}

test_options_are_listed() {
	expect_exit 0 git-checkpoint pin -h >"$T/out"
	expect_grep 'usage: git checkpoint pin' "$T/out"
	expect_exit 0 git-checkpoint drop -h >"$T/out"
	expect_grep '\--force' "$T/out"
	expect_exit 0 git-checkpoint prune -h >"$T/out"
	expect_grep '\--max-count' "$T/out"
}

run_tests
