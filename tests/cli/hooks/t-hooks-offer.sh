#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks install --guard: whether files that look like secrets are saved, too, is asked once.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/screen.sh"

export GIT_PAGER=cat GIT_CHECKPOINT_ADVICE=false

value() {
	git-checkpoint config hookSensitive
}

test_yes_is_stored_and_not_asked_again() {
	git init -q
	on_screen 80 24 'git-checkpoint hooks install --guard'
	see 'y/N'
	expect_grep '[.]env' "$T/screen"
	expect_grep 'They stay on this disk' "$T/screen"
	keys y Enter
	ended 0
	expect_grep 'hookSensitive is now true' "$T/screen"
	expect_grep 'hookSensitive *= *true' "$(store_dir)/checkpoint/config"
	on_screen 80 24 'git-checkpoint hooks install --guard'
	ended 0
	expect_no_grep 'y/N' "$T/screen"
	# what was agreed to happens
	echo secret >.env
	git clean -q -fdx 2>"$T/err"
	expect_no_grep 'look like secrets' "$T/err"
	git-checkpoint restore -q --yes @
	expect_eq secret "$(cat .env)"
}

test_no_is_stored_and_not_asked_again() {
	git init -q
	on_screen 80 24 'git-checkpoint hooks install --guard'
	see 'y/N'
	keys Enter
	ended 0
	expect_grep 'hookSensitive *= *false' "$(store_dir)/checkpoint/config"
	on_screen 80 24 'git-checkpoint hooks install --guard'
	ended 0
	expect_no_grep 'y/N' "$T/screen"
	git-checkpoint hooks status -q
}

test_an_interrupt_is_not_an_answer() {
	git init -q
	on_screen 80 24 'git-checkpoint hooks install --guard'
	see 'y/N'
	keys C-c
	for _ in $(seq 600); do
		test ! -e "$T/status" || break
		sleep 0.05
	done
	git-checkpoint hooks status -q
	expect_missing "$(store_dir)/checkpoint/config"
	on_screen 80 24 'git-checkpoint hooks install --guard'
	see 'y/N'
	keys Enter
	ended 0
}

test_for_all_repositories_it_is_the_users_setting() {
	on_screen 80 24 'git-checkpoint hooks install --global --guard'
	see 'y/N'
	keys y Enter
	ended 0
	expect_grep 'hookSensitive *= *true' "$XDG_CONFIG_HOME/git-checkpoint/config"
	git init -q new
	cd new
	expect_eq true "$(value)"
}

test_without_a_guard_and_with_q_nothing_is_asked() {
	git init -q
	on_screen 80 24 'git-checkpoint hooks install && git-checkpoint hooks install -q --guard'
	ended 0
	expect_no_grep 'y/N' "$T/screen"
}

run_tests
