#!/bin/sh
# SPDX-License-Identifier: MIT
# The user's own commands get nothing that somebody else may have chosen, unless asked for by name.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"

# settings <machine> <line>...: in the user's own file there
settings() {
	settings_dir=$T/machines/$1/.config/git-checkpoint
	mkdir -p "$settings_dir"
	shift
	printf '%s\n' "$@" >>"$settings_dir/config"
}

# The machine one has a capture and files of its own choice; two has commands that would take them.
two_with_commands() {
	machines
	settings one '[capture "db"]' 'save = echo chosen by one' 'restore = cat >/dev/null' 'auto = true'
	settings two "verifyCommand = touch $T/checked" \
		'[capture "db"]' 'save = echo mine' "restore = cat >$T/replayed" 'auto = true'
	echo 'mine' >"$T/replayed"
	edit one x
	on one git-checkpoint save -q
}

# nothing_ran: neither command of two did
nothing_ran() {
	expect_eq mine "$(cat "$T/replayed")"
	test ! -e "$T/checked"
}

test_takeover() {
	two_with_commands
	on one git-checkpoint handoff -q --force
	expect_exit 3 on two git-checkpoint takeover --yes hub >"$T/out" 2>"$T/err"
	nothing_ran
	expect_grep "capture 'db' comes from elsewhere and is left alone; with --captures" "$T/err"
	expect_grep 'verifyCommand was not run' "$T/err"
	expect_eq x "$(on two cat file)"
	# nor by any other way to the same checkpoint
	on two git-checkpoint undo -q --yes
	rm -f "$T/checked"
	on two git-checkpoint redo --yes >/dev/null 2>"$T/err"
	nothing_ran
	expect_grep 'verifyCommand was not run' "$T/err"
	on two sh -c 'echo other >file'
	on two git-checkpoint restore --yes one/@ -- file >/dev/null 2>"$T/err"
	nothing_ran
	expect_grep 'verifyCommand was not run' "$T/err"
	on two sh -c 'echo other >file'
	expect_exit 3 on two git-checkpoint restore -q --yes --json one/@ >"$T/out"
	nothing_ran
	jq -e '.captures == [{"name":"db","status":"foreign"}] and .verify_command == null' "$T/out"
}

test_what_was_imported() {
	two_with_commands
	on one git-checkpoint export -q --bundle -o "$T/bundle" @
	on two git-checkpoint import -q "$T/bundle"
	id=$(id_on one)
	expect_exit 3 on two git-checkpoint restore -q --yes "$id" 2>/dev/null
	nothing_ran
}

test_asked_for_by_name() {
	two_with_commands
	on one git-checkpoint handoff -q --force
	on two git-checkpoint fetch -q
	on two git-checkpoint restore -n one/@ >"$T/out" 2>/dev/null
	expect_grep '> capture db, from elsewhere: not restored without --captures' "$T/out"
	on two git-checkpoint restore -q --yes --captures --verify-command "touch $T/asked" one/@
	expect_eq 'chosen by one' "$(cat "$T/replayed")"
	test -e "$T/asked"
	test ! -e "$T/checked"
	# what was there before is the user's own
	on two git-checkpoint undo -q --yes
	expect_eq mine "$(cat "$T/replayed")"
	test -e "$T/checked"
	on two git-checkpoint takeover -q --yes --captures
	expect_eq 'chosen by one' "$(cat "$T/replayed")"
	expect_exit 129 on two git-checkpoint restore --captures --into "$T/copy" one/@ 2>/dev/null
}

# Killed on the way, then continued: it is as foreign as before.
test_an_interrupted_one() {
	two_with_commands
	on one git-checkpoint handoff -q --force
	on two git-checkpoint fetch -q
	on two sh -c 'echo other >file'
	at=0
	until on two git-checkpoint status --json | jq -e .interrupted_restore >/dev/null; do
		at=$((at + 1))
		expect_exit 137 on two with_faults rename $at kill git-checkpoint restore -q --yes one/@
	done
	expect_exit 3 on two git-checkpoint restore --continue --yes >/dev/null 2>"$T/err"
	nothing_ran
	expect_grep 'verifyCommand was not run' "$T/err"
}

run_tests
