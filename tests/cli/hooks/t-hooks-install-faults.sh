#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks install and uninstall that are killed, meet a full disk, or find what they cannot change.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/hooks-install.sh"

killable=write,fsync,rename,openat-create,link,unlink,mkdir

# A repository with a hook of each kind that is treated differently.
troubled_repository() {
	rm -rf repo
	git init -q repo
	cd repo
	printf '#!/bin/sh\necho sh\n' >.git/hooks/reference-transaction
	printf '#!/usr/bin/perl\nexit\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/reference-transaction .git/hooks/pre-rebase
	git config core.fsmonitor /bin/false
	before
}

test_an_install_that_is_killed_can_be_undone() {
	troubled_repository
	with_faults $killable 0 kill git-checkpoint hooks install -q --guard --ref-transaction
	count=$(cat "$T/faults")
	test "$count" -gt 20 || fail "only $count calls"
	hooks uninstall -q
	expect_as_before
	at=$first
	while test $at -le "$count"; do
		expect_exit 137 with_faults $killable $at kill git-checkpoint hooks install -q --guard --ref-transaction
		# there is a hook at every moment
		expect_exists .git/hooks/pre-rebase .git/hooks/reference-transaction .git/config
		hooks uninstall -q
		expect_as_before
		at=$((at + step))
	done
	hooks install -q --guard --ref-transaction
	with_faults $killable 0 kill git-checkpoint hooks uninstall -q
	count=$(cat "$T/faults")
	at=$first
	while test $at -le "$count"; do
		hooks install -q --guard --ref-transaction
		expect_exit 137 with_faults $killable $at kill git-checkpoint hooks uninstall -q
		expect_exists .git/hooks/pre-rebase .git/hooks/reference-transaction .git/config
		hooks uninstall -q
		expect_as_before
		at=$((at + step))
	done
}

test_an_install_that_was_killed_can_be_finished() {
	troubled_repository
	hooks install -q --guard --ref-transaction
	fingerprint "$PWD/.git" >"$T/installed"
	hooks uninstall -q
	with_faults $killable 0 kill git-checkpoint hooks install -q --guard --ref-transaction
	count=$(cat "$T/faults")
	hooks uninstall -q
	at=$first
	while test $at -le "$count"; do
		expect_exit 137 with_faults $killable $at kill git-checkpoint hooks install -q --guard --ref-transaction
		hooks install -q --guard --ref-transaction
		fingerprint "$PWD/.git" >"$T/now"
		expect_same "$T/installed" "$T/now"
		hooks uninstall -q
		expect_as_before
		at=$((at + step))
	done
}

test_a_full_disk_leaves_nothing_that_cannot_be_undone() {
	troubled_repository
	for at in 1 2 3 5 8 11 14 17 20 24 28; do
		test $((at % 3)) = $((first % 3)) || test $step = 1 || continue
		status=0
		FAULT_STICKY=1 FAULT_PATH=$PWD/.git with_faults write,fsync,openat-create,link,mkdir $at \
			ENOSPC git-checkpoint hooks install -q --guard --ref-transaction 2>"$T/err" || status=$?
		case $status in
		0 | 128) ;;
		*) fail "exit status $status" ;;
		esac
		expect_exists .git/hooks/pre-rebase .git/hooks/reference-transaction .git/config
		hooks uninstall -q
		expect_as_before
	done
}

test_two_at_a_time() {
	troubled_repository
	hooks install -q --guard --ref-transaction &
	hooks install -q --guard --ref-transaction --events rebase,merge,stash &
	wait
	hooks install -q --guard --ref-transaction
	hooks status -q
	hooks uninstall -q &
	hooks uninstall -q &
	wait
	expect_as_before
}

test_a_damaged_record_is_said() {
	hook_files
	repository
	before
	hooks install -q --guard
	echo '{' >"$XDG_DATA_HOME/git-checkpoint/installed"
	hooks status -q
	expect_exit 128 hooks uninstall 2>"$T/err"
	expect_grep "installed' is damaged" "$T/err"
	expect_exists .git/hooks/pre-rebase
	# without a record our lines are recognised
	rm "$XDG_DATA_HOME/git-checkpoint/installed"
	hooks status -q
	hooks uninstall -q
	expect_as_before
}

test_a_configuration_that_cannot_be_changed_back_is_refused() {
	repository
	cp -a .git/hooks "$T/hooks"
	# the last line goes on: what is appended would become part of its value
	for text in '[x]\n\ty = 1\\' '[core]\n\tbare = false\n\ty = 1\\'; do
		# shellcheck disable=SC2059 # a format
		printf "$text" >.git/config
		cp .git/config "$T/config"
		expect_exit 128 git checkpoint hooks install --guard 2>"$T/err"
		expect_grep 'could not be reverted' "$T/err"
		expect_same "$T/config" .git/config
		diff -r "$T/hooks" .git/hooks
		git checkpoint hooks uninstall -q
		expect_same "$T/config" .git/config
	done
}

test_a_locked_configuration_is_not_written() {
	repository
	: >.git/config.lock
	before
	expect_exit 128 hooks install --guard 2>"$T/err"
	expect_grep 'config.lock' "$T/err"
	hooks uninstall -q
	expect_as_before
}

run_tests
