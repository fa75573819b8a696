#!/bin/sh
# SPDX-License-Identifier: MIT
# Captures: state outside the worktree, restored by commands of the user, also after an
# interruption.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/capture-commands.sh"

id=

# ---- restoring -------------------------------------------------------------------

test_restored_after_the_files_and_undone() {
	a_thing
	save --capture db
	echo two >"$T/db"
	echo two >f
	configure <<-END
	[capture "db"]
	save = cat $T/db
	restore = cp f $T/seen; cat >$T/db
	END
	restoring 0 restore -n "$id"
	expect_eq '[{"name":"db","status":"planned"}]' "$(jq -c .captures "$T/restore.json")"
	git-checkpoint restore -n "$id" >"$T/out"
	expect_grep 'capture db' "$T/out"
	expect_exit 5 git-checkpoint restore "$id"
	expect_eq two "$(cat "$T/db")"
	expect_missing "$T/seen"
	restore "$id"
	expect_eq '[{"name":"db","status":"restored"}]' "$(jq -c .captures "$T/restore.json")"
	expect_eq one "$(cat "$T/db")"
	expect_eq one "$(cat "$T/seen")" 'the file when the capture was replayed'
	restoring 0 undo -y
	expect_eq two "$(cat "$T/db")"
	expect_eq two "$(cat f)"
	restoring 0 redo -y
	expect_eq one "$(cat "$T/db")"
	expect_eq one "$(cat f)"
	restoring 0 undo -y
	expect_eq two "$(cat "$T/db")"
	no_litter
}

test_a_change_of_the_capture_alone_is_restored_and_asked_for() {
	a_thing
	save --capture db
	echo two >"$T/db"
	expect_exit 5 git-checkpoint restore "$id"
	expect_eq two "$(cat "$T/db")"
	restore "$id"
	expect_eq one "$(cat "$T/db")"
	restoring 0 undo -y
	expect_eq two "$(cat "$T/db")"
}

test_order_of_capture_is_order_of_replay() {
	configure <<-END
	[capture "second"]
	save = echo s-second >>$T/trace; echo 1
	restore = echo r-second >>$T/trace
	[capture "first"]
	save = echo s-first >>$T/trace; echo 2
	restore = echo r-first >>$T/trace
	END
	echo x >f
	save --capture first --capture second
	expect_eq 's-second s-first' "$(contents "$T/trace")"
	rm "$T/trace"
	restore "$id"
	expect_eq '["second","first"]' "$(jq -c '[.captures[].name]' "$T/restore.json")"
	expect_eq 's-second s-first r-second r-first' "$(contents "$T/trace")"
}

test_only_what_is_replayed_is_saved_before_and_undone() {
	a_thing auto = true
	mv "$XDG_CONFIG_HOME/git-checkpoint/config" "$T/later"
	save
	without=$id
	mv "$T/later" "$XDG_CONFIG_HOME/git-checkpoint/config"
	echo two >f
	save
	restore "$without"
	expect_eq null "$(jq -c .captures "$T/restore.json")"
	echo worked-on >"$T/db"
	restoring 0 undo -y
	expect_eq two "$(cat f)"
	expect_eq worked-on "$(cat "$T/db")" 'what the restore did not touch, after undo'
}

test_named_paths_replay_none() {
	a_thing
	save --capture db
	echo two >"$T/db"
	echo two >f
	: >"$T/trace"
	restore "$id" f
	expect_eq '[]' "$(jq -c .captures "$T/restore.json")"
	expect_eq two "$(cat "$T/db")"
	restoring 0 undo -y
	test ! -s "$T/trace"
	expect_eq two "$(cat f)"
}

test_a_checkpoint_of_a_scope_has_captures_too() {
	a_thing
	echo g >g
	save --capture db f
	echo two >"$T/db"
	echo two >f
	restore "$id"
	expect_eq one "$(cat "$T/db")"
	restoring 0 undo -y
	expect_eq two "$(cat "$T/db")"
	expect_eq two "$(cat f)"
}

test_a_capture_without_files() {
	a_thing
	save --state-only --capture db
	expect_eq database_savepoint "$(json .checkpoint.type "$T/save.json")"
	echo two >"$T/db"
	echo two >f
	restore "$id"
	expect_eq one "$(cat "$T/db")"
	expect_eq two "$(cat f)"
	restoring 0 undo -y
	expect_eq two "$(cat "$T/db")"
	restoring 0 redo -y
	expect_eq one "$(cat "$T/db")"
	expect_eq two "$(cat f)"
}

test_no_safety_no_restore() {
	a_thing
	save --capture db
	echo two >f
	echo two >"$T/db"
	configure <<-END
	[capture "db"]
	save = exit 1
	restore = cat >$T/db
	END
	fingerprint_raw . >"$T/before"
	restoring 5 restore -y "$id"
	restoring 5 restore -y --force "$id"
	fingerprint_raw . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq two "$(cat "$T/db")"
	no_litter
}

test_a_failing_replay_is_named_and_undone() {
	configure <<-END
	[capture "a"]
	save = cat $T/a
	restore = echo broken >$T/a; echo 'table is locked' >&2; test -e $T/mended && cat >$T/a
	[capture "b"]
	save = cat $T/b
	restore = cat >$T/b
	END
	echo one >f
	echo one >"$T/a"
	echo one >"$T/b"
	save --capture a --capture b
	echo two >f
	echo two >"$T/a"
	echo two >"$T/b"
	restoring 4 restore -y "$id"
	expect_eq one "$(cat f)"
	expect_eq one "$(cat "$T/b")" 'the other capture'
	expect_eq '[{"name":"a","status":"failed"},{"name":"b","status":"restored"}]' \
		"$(jq -c .captures "$T/restore.json")"
	expect_eq true "$(told .rolled_back)"
	expect_grep 'table is locked' "$T/restore.json"
	expect_eq null "$(git-checkpoint status --json | jq -c .interrupted_restore)"
	touch "$T/mended"
	restoring 0 undo -y
	expect_eq two "$(cat f)"
	expect_eq two "$(cat "$T/a")"
	expect_eq two "$(cat "$T/b")"
	rm "$T/mended"
	expect_exit 4 git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_grep 'table is locked' "$T/err"
	expect_grep "^error: the files are restored, but not .* 'a'$" "$T/err"
}

test_one_that_is_not_configured_any_more() {
	a_thing
	save --capture db
	echo two >f
	echo two >"$T/db"
	for config in '' "[capture \"db\"]
save = cat $T/db"; do
		echo "$config" | configure
		echo two >f
		restoring 0 restore -n "$id"
		expect_eq '[{"name":"db","status":"not configured"}]' \
			"$(jq -c .captures "$T/restore.json")"
		restoring 4 restore -y "$id"
		expect_eq '[{"name":"db","status":"not configured"}]' \
			"$(jq -c .captures "$T/restore.json")"
		expect_eq one "$(cat f)"
		expect_eq two "$(cat "$T/db")"
		restoring 0 undo -y
		expect_eq two "$(cat f)"
	done
}

test_a_command_need_not_read_all() {
	a_thing
	configure <<-END
	[capture "big"]
	save = head -c 5000000 /dev/zero
	restore = true
	END
	save --capture big
	restore "$id"
}

test_a_daemon_that_a_command_leaves_is_not_waited_for() {
	a_thing
	configure <<-END
	[capture "db"]
	save = cat $T/db
	restore = sleep 1000 & echo \$! >$T/pid; cat >$T/db
	END
	save --capture db
	echo two >"$T/db"
	restore "$id"
	expect_eq one "$(cat "$T/db")"
	kill "$(cat "$T/pid")"
}

test_a_damaged_capture_reaches_no_command() {
	a_thing
	noise 300000 >"$T/db"
	save --capture db
	git-checkpoint verify "$id"
	store=$(store_dir)
	pack=$(find "$store/objects/pack" -name '*.pack')
	chmod u+w "$pack"
	printf xxxx | dd of="$pack" bs=1 seek=150000 conv=notrunc 2>/dev/null
	expect_exit 1 git-checkpoint verify "$id" >"$T/out"
	expect_grep "'db'" "$T/out"
	echo two >f
	: >"$T/trace"
	restoring 128 restore -y "$id"
	expect_eq two "$(cat f)"
	expect_no_grep restore "$T/trace"
}

# ---- interrupted -----------------------------------------------------------------

# killed_in_replay: files are back, the capture is half-way, the journal is there
killed_in_replay() {
	a_thing
	save --capture db
	target=$id
	echo two >f
	echo two >"$T/db"
	configure <<-END
	[capture "db"]
	save = cat $T/db
	restore = test -e $T/mended || { echo half >$T/db; echo >$T/started; exec sleep 1000; }; cat >$T/db
	END
	git-checkpoint restore -y "$target" >/dev/null 2>&1 &
	pid=$!
	while ! test -e "$T/started"; do sleep 0.02; done
	kill "$1" $pid
	wait $pid || :
	touch "$T/mended"
	expect_eq one "$(cat f)"
	expect_eq half "$(cat "$T/db")"
	expect_eq "$target" "$(git-checkpoint status --json | jq -r .interrupted_restore.target)"
	expect_exit 5 git-checkpoint restore -y "$target"
}

test_killed_in_the_replay_and_continued() {
	killed_in_replay -9
	restoring 0 restore --continue
	expect_eq one "$(cat f)"
	expect_eq one "$(cat "$T/db")"
	restoring 0 undo -y
	expect_eq two "$(cat f)"
	expect_eq two "$(cat "$T/db")"
	no_litter
}

test_killed_in_the_replay_and_aborted() {
	killed_in_replay -9
	restoring 0 restore --abort
	expect_eq two "$(cat f)"
	expect_eq two "$(cat "$T/db")"
	expect_exit 1 git-checkpoint undo -y
	no_litter
}

test_an_abort_whose_replay_fails_can_be_repeated() {
	killed_in_replay -9
	configure <<-END
	[capture "db"]
	save = cat $T/db
	restore = test -e $T/mended && exit 7; cat >$T/db
	END
	restoring 4 restore --abort
	expect_eq two "$(cat f)"
	expect_eq half "$(cat "$T/db")"
	again=$(json '.next_actions[0]' "$T/restore.json")
	rm "$T/mended"
	$again -y >/dev/null
	expect_eq two "$(cat f)"
	expect_eq two "$(cat "$T/db")"
}

test_interrupted_in_the_replay() {
	killed_in_replay -TERM
	restoring 0 restore --abort
	expect_eq two "$(cat f)"
	expect_eq two "$(cat "$T/db")"
}

test_what_is_half_replayed_need_not_be_in_a_state_to_be_saved() {
	killed_in_replay -9
	configure <<-END
	[capture "db"]
	save = ! grep half $T/db && cat $T/db
	restore = cat >$T/db
	END
	restoring 0 restore --continue
	expect_grep 'could not be saved' "$T/restore.json"
	expect_eq one "$(cat "$T/db")"
	restoring 0 undo -y
	expect_eq two "$(cat "$T/db")"
}

test_killed_anywhere_and_aborted() {
	a_thing
	save --capture db
	echo two >f
	echo two >"$T/db"
	with_faults rename 0 kill git-checkpoint restore -y "$id" >/dev/null
	git-checkpoint undo -y >/dev/null
	all=$(cat "$T/faults")
	test "$all" -gt 3
	seen=
	n=1
	while test $n -le "$all"; do
		: >"$T/trace"
		with_faults rename $n kill git-checkpoint restore -y "$id" >/dev/null 2>&1 || :
		if test -e "$(store_dir)/checkpoint/journal"; then
			begun=$(grep -c restore "$T/trace" || :)
			seen="$seen $begun"
			: >"$T/trace"
			restoring 0 restore --abort
			# what was not begun is not gone back on
			test "$begun" != 0 || expect_no_grep restore "$T/trace"
		elif test "$(cat f)" = one; then
			expect_eq one "$(cat "$T/db")" "capture, killed at rename $n"
			git-checkpoint undo -y >/dev/null
		fi
		expect_eq two "$(cat f)" "file, killed at rename $n"
		expect_eq two "$(cat "$T/db")" "capture, killed at rename $n"
		n=$((n + 1))
	done
	case $seen in
	*0*1*) ;;
	*) fail "not killed both before and after the replay:$seen" ;;
	esac
}

run_tests
