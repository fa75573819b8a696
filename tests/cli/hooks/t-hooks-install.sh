#!/bin/sh
# SPDX-License-Identifier: MIT
# git checkpoint hooks: what is put in place and where, what status says of it, and that an
# uninstall, also after an interruption, leaves every byte, mode and link as it was.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/hooks-install.sh"

# ---- installing ------------------------------------------------------------------

test_install_and_uninstall() {
	repository
	before
	hooks install >"$T/out"
	expect_grep '^installed: pre-rebase$' "$T/out"
	expect_grep '^installed: reference-transaction$' "$T/out"
	expect_grep '2 ms' "$T/out"
	expect_grep 'no-ref-transaction' "$T/out"
	fingerprint .git >"$T/first"
	hooks install -q
	fingerprint .git >"$T/second"
	expect_same "$T/first" "$T/second"
	hooks status >"$T/out"
	expect_grep 'worktree remove --force' "$T/out"
	expect_grep 'git apply' "$T/out"
	expect_grep 'merge-file' "$T/out"
	hooks status --json >"$T/json"
	expect_eq '["pre-rebase","reference-transaction"]' "$(json '[.hooks[].name] | tojson' "$T/json")"
	expect_eq 'installed installed' "$(json '[.hooks[].state] | join(" ")' "$T/json")"
	expect_eq null "$(json .guard "$T/json")"
	hooks uninstall >"$T/out"
	expect_as_before
	hooks uninstall >"$T/out"
	hooks status >"$T/out"
	expect_grep '^No git hooks' "$T/out"
}

test_status_tells_of_a_store_that_cannot_be_written() {
	repository
	give_to_nobody .
	as_nobody git-checkpoint save -q
	as_nobody git-checkpoint hooks install -q
	as_nobody git-checkpoint hooks status >"$T/out" 2>"$T/err"
	expect_same /dev/null "$T/err"
	chmod a-w "$(store_dir)"
	as_nobody git-checkpoint hooks status >"$T/out" 2>"$T/err"
	expect_grep "^warning: unable to take checkpoints in '$(store_dir)'" "$T/err"
	as_nobody git-checkpoint hooks status --json >"$T/json" 2>/dev/null
	expect_eq 1 "$(json '.warnings | length' "$T/json")"
	chmod u+w "$(store_dir)"
}

test_a_guard_does_without_the_hook_for_refs() {
	repository
	before
	hooks install --guard >"$T/out"
	expect_grep '^installed: fsmonitor$' "$T/out"
	expect_no_grep 'reference-transaction' "$T/out"
	hooks install --guard --ref-transaction >"$T/out"
	expect_grep '^installed: reference-transaction$' "$T/out"
	expect_grep '2 ms' "$T/out"
	# what was asked for stays
	hooks install >"$T/out"
	expect_grep '^installed: reference-transaction$' "$T/out"
	hooks uninstall -q
	# one that comes later takes its place
	hooks install -q
	hooks install --guard >"$T/out"
	expect_no_grep 'reference-transaction' "$T/out"
	hooks uninstall -q
	expect_as_before
	# where there can be no guard, merges are to be seen all the same
	git config core.fsmonitor true
	before
	expect_exit 1 hooks install --guard >"$T/out" 2>/dev/null
	expect_grep '^installed: reference-transaction$' "$T/out"
	expect_no_grep 'fsmonitor' "$T/out"
	hooks uninstall -q
	expect_as_before
}

test_events_choose_the_hooks() {
	hook_files
	repository
	before
	expect_exit 129 hooks install --events rebase,nonsense 2>"$T/err"
	expect_grep "'nonsense'" "$T/err"
	expect_exit 129 hooks install --events '' 2>/dev/null
	expect_exit 129 hooks 2>/dev/null
	expect_exit 129 hooks frobnicate 2>/dev/null
	expect_exit 129 hooks status --guard 2>/dev/null
	expect_as_before
	hooks install -q --events rebase
	expect_exists .git/hooks/pre-rebase
	expect_missing .git/hooks/reference-transaction
	hooks install -q --events am,stash
	expect_missing .git/hooks/pre-rebase
	expect_grep "_ckpt_events='am,stash'" .git/git-checkpoint/reference-transaction
	# what was chosen is kept
	hooks install -q
	expect_missing .git/hooks/pre-rebase
	expect_grep "_ckpt_events='am,stash'" .git/git-checkpoint/reference-transaction
	hooks install -q --events rebase,merge --no-ref-transaction
	expect_exists .git/hooks/pre-rebase
	expect_missing .git/hooks/reference-transaction
	hooks install -q --ref-transaction
	expect_grep "_ckpt_events='merge'" .git/git-checkpoint/reference-transaction
	hooks uninstall -q
	expect_as_before
}

test_where_there_is_nothing_to_install() {
	expect_exit 128 hooks install 2>/dev/null
	expect_exit 128 hooks status 2>/dev/null
	git init -q --bare bare.git
	cd bare.git
	expect_exit 128 hooks install 2>/dev/null
}

test_linked_worktrees_and_submodules() {
	hook_files
	repository
	git worktree add -q "$T/linked" topic
	before
	(cd "$T/linked" && hooks install -q --guard && hooks status --json >"$T/linked.json")
	hooks status --json >"$T/main.json"
	expect_same "$T/main.json" "$T/linked.json"
	expect_exists .git/hooks/pre-rebase .git/git-checkpoint/pre-rebase
	rm .git/hooks/pre-rebase
	(cd "$T/linked" && expect_exit 1 hooks status --json >"$T/linked.json")
	expect_exit 1 hooks status --json >"$T/main.json"
	expect_same "$T/main.json" "$T/linked.json"
	(cd "$T/linked" && hooks uninstall -q)
	expect_as_before
	git -c protocol.file.allow=always submodule --quiet add "$T/work" sub
	before .git/modules/sub
	(cd sub && hooks install -q)
	expect_exists .git/modules/sub/hooks/pre-rebase
	expect_missing .git/hooks/pre-rebase
	(cd sub && hooks uninstall -q)
	expect_as_before .git/modules/sub
}

test_core_hookspath_is_honoured() {
	hook_files
	repository
	git config core.hooksPath .config/hooks
	before .
	before
	hooks install -q
	expect_exists .config/hooks/pre-rebase
	expect_missing .git/hooks/pre-rebase
	stand_in
	git checkout -q topic
	git rebase -q main
	expect_grep '^hook pre-rebase main in=1' "$T/calls"
	git reset -q --hard ORIG_HEAD
	git checkout -q main
	hooks uninstall -q
	expect_missing .config
}

test_a_directory_of_all_repositories_is_not_written_to() {
	hook_files
	repository
	mkdir "$T/shared"
	git config --global core.hooksPath "$T/shared"
	before
	expect_exit 1 hooks install 2>"$T/err"
	expect_grep 'other repositories' "$T/err"
	expect_eq '' "$(ls "$T/shared")"
	expect_exit 1 hooks status -q >"$T/out"
	expect_grep '^not run: pre-rebase: ' "$T/out"
	hooks uninstall -q
	expect_as_before
	# a link does not make it this repository's own
	git config --global --unset core.hooksPath
	rm -r .git/hooks
	ln -s "$T/shared" .git/hooks
	expect_exit 1 hooks install >"$T/out" 2>"$T/err"
	expect_eq '' "$(ls "$T/shared")"
	expect_grep "git takes them from '$T/shared'" "$T/err"
	# no cost of what is not there
	expect_no_grep '2 ms' "$T/out"
}

test_names_do_not_reach_the_terminal_as_they_are() {
	hook_files
	repository
	escape=$(printf '\033')
	git config core.hooksPath "$T/all${escape}[31m"
	expect_exit 1 hooks install >"$T/out" 2>"$T/err"
	expect_exit 1 hooks status >>"$T/out" 2>>"$T/err"
	expect_grep '^not run: pre-rebase: .*/all?' "$T/out"
	expect_grep '^warning: .*/all?' "$T/err"
	expect_no_grep "$escape" "$T/out"
	expect_no_grep "$escape" "$T/err"
}

test_tracked_hooks_are_not_written_to() {
	hook_files
	repository
	mkdir .githooks
	printf '#!/bin/sh\necho theirs\n' >.githooks/pre-rebase
	chmod +x .githooks/pre-rebase
	git add .githooks
	git commit -q -m hooks
	git config core.hooksPath .githooks
	before
	expect_exit 1 hooks install 2>"$T/err"
	expect_grep 'tracked' "$T/err"
	expect_exit 1 hooks status -q >"$T/out"
	expect_grep '^not run: pre-rebase: .*tracked' "$T/out"
	expect_eq '' "$(git status --porcelain)"
	# the guard does without
	expect_exit 1 hooks install -q --guard 2>"$T/err"
	echo changed >>a
	git reset --hard 2>"$T/err"
	expect_grep '^checkpoint: saved' "$T/err"
	git checkout -q topic
	git rebase -q main >/dev/null 2>&1
	hooks uninstall -q
	git checkout -q main
	expect_eq '' "$(git status --porcelain)"
}

test_names_that_a_shell_would_take_apart() {
	dir="it's a \$(touch x) \"dir\"; #1"
	repository "$dir"
	cd "$dir"
	before
	stand_in
	hooks install -q --guard
	hooks status -q
	git checkout -q -f >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_grep '^hook fsmonitor 2' "$T/calls"
	hooks uninstall -q
	git update-index --force-write-index 2>/dev/null || git read-tree HEAD
	grep -v ' index$' "$T/before" >"$T/before.1"
	fingerprint .git | grep -v ' index$' >"$T/now"
	expect_same "$T/before.1" "$T/now"
	expect_missing x
}

# ---- displaced -------------------------------------------------------------------

test_status_says_what_will_not_run() {
	hook_files
	repository
	hooks install -q
	rm .git/hooks/pre-rebase
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^missing: pre-rebase: .*hooks install' "$T/out"
	git checkpoint status >"$T/out" 2>&1
	expect_grep 'missing: pre-rebase' "$T/out"
	expect_exit 1 git checkpoint doctor >"$T/out"
	expect_grep '^problem: .*missing: pre-rebase: .*hooks install' "$T/out"
	printf '#!/bin/sh\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	chmod -x .git/hooks/reference-transaction
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^displaced: pre-rebase: ' "$T/out"
	expect_grep '^not run: reference-transaction: ' "$T/out"
	expect_exit 1 hooks status --json >"$T/json"
	expect_eq 'displaced,not run' "$(json '[.hooks[].state] | join(",")' "$T/json")"
	hooks install -q
	hooks status -q
	git config core.hooksPath other
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^not run: pre-rebase: .*other' "$T/out"
	hooks install -q
	hooks status -q
	hooks uninstall -q
	expect_missing other .git/hooks/reference-transaction .git/git-checkpoint
	printf '#!/bin/sh\n' >"$T/expected"
	expect_same "$T/expected" .git/hooks/pre-rebase
}

test_what_a_manager_parked_is_cleaned() {
	hook_files
	repository
	for suffix in old legacy; do
		for kind in none sh perl; do
			rm -f .git/hooks/pre-rebase*
			test $kind = none || printf '#!/usr/bin/%s\nexit\n' $kind >.git/hooks/pre-rebase
			test $kind = none || chmod +x .git/hooks/pre-rebase
			cp -p .git/hooks/pre-rebase "$T/original" 2>/dev/null || :
			hooks install -q
			mv .git/hooks/pre-rebase ".git/hooks/pre-rebase.$suffix"
			printf '#!/bin/sh\necho manager\n' >.git/hooks/pre-rebase
			chmod +x .git/hooks/pre-rebase
			cp -p .git/hooks/pre-rebase "$T/manager"
			expect_exit 1 hooks status -q >"$T/out"
			expect_grep '^displaced: pre-rebase' "$T/out"
			hooks uninstall -q
			expect_same "$T/manager" .git/hooks/pre-rebase
			if test $kind = none; then
				expect_missing ".git/hooks/pre-rebase.$suffix"
			else
				expect_same "$T/original" ".git/hooks/pre-rebase.$suffix"
			fi
			expect_missing .git/hooks/pre-rebase.pre-checkpoint .git/hooks/.git-checkpoint
		done
	done
}

test_a_repository_that_was_moved() {
	repository old
	before old/.git
	printf '#!/usr/bin/perl\nexit\n' >old/.git/hooks/pre-rebase
	chmod +x old/.git/hooks/pre-rebase
	before old/.git
	(cd old && hooks install -q --guard)
	mv old new
	cd new
	git status --porcelain >"$T/out" 2>&1
	expect_eq '' "$(cat "$T/out")"
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^not run: fsmonitor: the repository was moved' "$T/out"
	hooks install -q
	hooks status -q
	hooks uninstall -q
	grep -v ' index$' "$T/before" >"$T/before.1"
	fingerprint .git | grep -v ' index$' >"$T/now"
	expect_same "$T/before.1" "$T/now"
}

# ---- git 2.54 --------------------------------------------------------------------

test_hooks_in_the_configuration() {
	repository
	before
	stand_in
	pretend_git 2.55.0
	hooks install -q --guard --ref-transaction
	expect_missing .git/hooks/pre-rebase .git/hooks/reference-transaction
	expect_eq pre-rebase "$(git config hook.checkpoint-pre-rebase.event)"
	command=$(git config hook.checkpoint-pre-rebase.command)
	sh -c "$command"' "$@"' "$command" main
	expect_grep '^hook pre-rebase main in=1' "$T/calls"
	command=$(git config hook.checkpoint-reference-transaction.command)
	printf '0 1 ORIG_HEAD\n' | GIT_REFLOG_ACTION=merge sh -c "$command"' "$@"' "$command" preparing
	expect_grep '^hook reference-transaction --events=merge preparing in=1' "$T/calls"
	hooks status -q
	# an older git does not run them
	pretend_git 2.39.5
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^not run: pre-rebase: ' "$T/out"
	hooks install -q
	hooks status -q
	expect_exists .git/hooks/pre-rebase
	expect_eq '' "$(git config --get-regexp '^hook\.' || :)"
	pretend_git 2.54.0
	hooks install -q
	expect_missing .git/hooks/pre-rebase
	hooks status -q
	rm -r "$T/pretend"
	hooks uninstall -q
	expect_as_before
}

run_tests
