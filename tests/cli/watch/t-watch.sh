#!/bin/sh
# SPDX-License-Identifier: MIT
# watch: starting, stopping, what is registered, checkpoints that are taken by themselves.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/watch.sh"

# home: of all stores
home() {
	dirname "$(git checkpoint status --json | jq -r .store)"
}

test_a_directory_is_registered_and_removed() {
	mkdir p
	(cd p && watch_setup && trap - EXIT)
	git checkpoint watch status --json | jq -e --arg p "$PWD/p" \
		'.running == false and .worktrees == [{path: $p, state: "off"}]'
	git checkpoint watch add --json p/a | jq -e --arg p "$PWD/p" '.path == $p and .registered and (.changed | not)'
	git checkpoint watch remove --json p | jq -e '(.registered | not) and .changed'
	git checkpoint watch status | grep 'No directory is registered'
	expect_exit 128 git checkpoint watch remove p
	git checkpoint watch run | grep 'No directory is registered'
	# from below, as with add
	git checkpoint watch add -q p
	(cd p/a/b && git checkpoint watch remove -q)
	git checkpoint watch status | grep 'No directory is registered'
	# one that is gone
	git checkpoint watch add -q p
	rm -rf p
	git checkpoint watch remove -q p
}

test_the_first_checkpoint_is_automatic() {
	echo 1 >file
	git checkpoint watch add -q
	git checkpoint list --json | jq -e '.checkpoints | length == 1 and .[0].automatic and .[0].source == "watch"'
	expect_exit 5 env HOME="$PWD" git checkpoint watch add 2>"$T/err"
	expect_grep 'too much to watch; add the projects in it instead' "$T/err"
}

test_odd_names_are_registered() {
	odd=$(printf 'new\nline "quoted" \\ \377')
	mkdir "$odd"
	trap watch_end EXIT
	git checkpoint watch add -q "$odd"
	echo 1 >"$odd/file"
	git checkpoint watch start -q
	await eval '(cd "$odd" && newest_has file 1)'
	git checkpoint watch remove -q "$odd"
	await eval '! git checkpoint watch stop --json | jq -e .running'
}

test_a_damaged_registry_is_told() {
	watch_setup
	echo rubbish >>"$(home)/watched"
	expect_exit 128 git checkpoint watch add
	expect_exit 128 git checkpoint watch start
	git checkpoint status -q
}

test_it_starts_and_stops_in_the_background() {
	watch_setup
	git checkpoint watch start --json | jq -e '.running and .pid > 1'
	git checkpoint watch start | grep Already
	expect_exit 5 git checkpoint watch run
	await watch_settled
	echo 2 >a/b/file
	await newest_has a/b/file 2
	git checkpoint watch stop --json | jq -e '.running == false'
	git checkpoint watch stop | grep 'Nothing was'
	test -e "$(home)/watch.lock"
	test ! -e "$(home)/watch.sock"
	git checkpoint status | grep '^Watch: *off'
}

test_it_ends_when_nothing_is_registered() {
	watch_setup
	watch_start
	git checkpoint watch remove -q
	wait "$WATCHER"
	WATCHER=
	expect_exit 5 git checkpoint watch start
}

test_changes_are_saved_when_it_is_quiet() {
	watch_setup
	watch_start
	await watch_settled
	echo 2 >a/b/file
	await newest_has a/b/file 2
	# a directory that no checkpoint knows, and what comes in it later
	mkdir -p new/deep
	await eval 'git checkpoint status --json | jq -e .safe'
	await watch_settled
	echo 3 >new/deep/file
	await newest_has new/deep/file 3
	mv new elsewhere
	await newest_has elsewhere/deep/file 3
	echo 4 >elsewhere/deep/file
	await newest_has elsewhere/deep/file 4
	git checkpoint list --json | jq -e 'all(.checkpoints[]; .automatic and .source == "watch")'
	git checkpoint status | grep '^Watch: *on, [0-9]* directories, last save '
	git checkpoint status --json | jq -e '.watch.state == "watched" and .watch.hints and .watch.problem == null'
	git checkpoint doctor -q
	# who meant the state before gets a hint
	git checkpoint restore -y @ >"$T/out"
	expect_grep "It was taken automatically; 'git checkpoint list' shows earlier ones" "$T/out"
	watch_end
}

# A file leaves for a moment, and a descriptor of that name stays: no watcher hears of what is written
# through it.
test_a_name_that_is_gone_hides_no_write() {
	watch_setup
	git checkpoint config -q watchQuiet 1h
	git checkpoint config -q watchMax 1h
	mkdir "$T/outside"
	watch_start
	git checkpoint save -q # which looks at everything
	mv a/b/file "$T/outside/file"
	exec 7<"$T/outside/file"
	ln "$T/outside/file" a/b/file
	rm "$T/outside/file"
	for text in 1 2; do
		echo $text >c/file
		git checkpoint save -q
	done
	for text in hidden again; do
		echo $text >/proc/self/fd/7
		expect_eq $text "$(cat a/b/file)"
		git checkpoint save -q
		newest_has a/b/file $text
	done
	watch_end
}

test_while_files_keep_changing_it_saves_now_and_then() {
	watch_setup
	git checkpoint config -q watchQuiet 1h
	git checkpoint config -q watchMax 1s
	watch_start
	for i in 1 2 3; do
		echo "$i" >a/b/file
		await newest_has a/b/file "$i"
	done
	git checkpoint list | grep 'while files change'
	watch_end
}

test_a_change_before_it_started_is_saved() {
	watch_setup
	echo 2 >a/b/file
	watch_start
	await newest_has a/b/file 2
	watch_end
}

test_linked_worktrees_are_watched_by_themselves() {
	watch_setup
	git worktree add -q "$T/before"
	git -C "$T/before" checkpoint config -q watchQuiet 0s
	git config checkpoint.watchQuiet 0s
	watch_start
	await watch_tells "$T/before" '.linked and .state == "watched"'
	git worktree add -q "$T/later"
	await watch_tells "$T/later" '.linked and .state == "watched"'
	git checkpoint watch status | grep "^$T/later (linked): "
	expect_exit 128 git -C "$T/later" checkpoint watch remove 2>"$T/err"
	expect_grep "is watched with '$PWD'" "$T/err"
	echo 2 >"$T/later/c/file"
	cd "$T/later"
	await newest_has c/file 2
	cd "$T/work"
	git worktree remove --force "$T/later"
	await eval '! watch_tells "$T/later" true'
	watch_tells "$T/before" true
	watch_end
}

test_a_linked_worktree_that_was_moved_away_comes_back() {
	watch_setup
	git worktree add -q "$T/linked"
	git config checkpoint.watchQuiet 0s
	watch_start
	await watch_tells "$T/linked" '.state == "watched"'
	mv "$T/linked" "$T/away"
	await watch_tells "$T/linked" '.linked and .state == "missing"'
	mv "$T/away" "$T/linked"
	await watch_tells "$T/linked" '.state == "watched"'
	echo back >"$T/linked/c/file"
	cd "$T/linked"
	await newest_has c/file back
	# and when git forgets it, so does the watcher
	cd "$T/work"
	mv "$T/linked" "$T/away"
	await watch_tells "$T/linked" '.state == "missing"'
	git worktree prune
	await eval '! watch_tells "$T/linked" true'
	watch_end
}

test_a_worktree_that_was_removed_comes_back_from_its_store() {
	watch_setup
	git config checkpoint.watchQuiet 0s
	watch_start
	git worktree add -q "$T/linked"
	await watch_tells "$T/linked" '.state == "watched"'
	echo precious >"$T/linked/untracked"
	cd "$T/linked"
	await newest_has untracked precious
	cd "$T/work"
	rm -rf "$T/linked"
	await watch_tells "$T/linked" '.state == "missing"'
	git checkpoint stores >"$T/out"
	command=$(sed -n "s/.*to bring it back: //p" "$T/out")
	test -n "$command" || fail "no command in $(cat "$T/out")"
	expect_eq "$command" "$(git checkpoint doctor | sed -n 's/.*to bring it back: //p')" 'as doctor tells it'
	expect_eq "$command" "$(git checkpoint doctor --json | jq -r '.gone[].restore_command')" 'in JSON'
	expect_eq "$command" "$(git checkpoint stores --json | jq -r '.stores[].restore_command // empty')" 'of stores'
	eval "$command"
	expect_eq precious "$(cat "$T/linked/untracked")" 'the file'
	# git knows it again, and so does the watcher
	expect_eq '?? untracked' "$(git -C "$T/linked" status --porcelain)"
	await watch_tells "$T/linked" '.linked and .state == "watched"'
	watch_end
}

# way_back <dir>: the checkpoint that is told to bring it back
way_back() {
	git checkpoint stores --json |
		jq -r --arg dir "$1" '.stores[] | select(.path == $dir) | .restore_command' | sed -n 's/.* --into [^ ]* \([^ ]*\).*/\1/p'
}

# by_watcher <reason>: what the watcher would save here
by_watcher() {
	git checkpoint save -q --automatic --source watch -m "$1"
}

# The watcher may save what rm has left so far.
test_what_was_left_during_a_removal_is_not_the_last_state() {
	mkdir d e
	cd d
	git init -q
	echo '*.o' >.gitignore
	for file in 1 2 3 4 5 6; do
		echo $file >f$file
		echo $file >f$file.o
	done
	by_watcher 'after changes'
	whole=$(git checkpoint list --json -n 1 | jq -r '.checkpoints[0].id')
	rm f1 f2
	by_watcher 'while files change'
	rm f3
	by_watcher 'while files change'
	# now what was ignored is not
	rm .gitignore
	rm -rf .git
	by_watcher 'while files change'
	rm -f ./*
	by_watcher 'while files change'
	# and one of some paths only
	echo x >x
	git checkpoint save -q -m paths x
	cd ..
	rm -rf d
	expect_eq "$whole" "$(way_back "$PWD/d")" 'the last whole one'
	eval "$(git checkpoint stores | sed -n 's/.*to bring it back: //p')"
	expect_eq 'f1 f2 f3 f4 f5 f6' "$(cd d && echo f[0-9])" 'the files'
}

test_work_before_a_removal_is_the_last_state() {
	mkdir d
	cd d
	for file in f1 f2 f3 f4 f5 f6; do
		echo $file >$file
	done
	by_watcher 'after changes'
	# somebody removed a file and wrote into another
	rm f1
	echo more >>f2
	by_watcher 'after changes'
	cd ..
	rm -rf d
	expect_eq @ "$(way_back "$PWD/d")" 'the newest'
	# a project that became a repository
	mkdir e
	cd e
	echo 1 >a
	by_watcher 'after changes'
	git init -q .
	echo important >a
	echo new >b
	by_watcher 'after changes'
	cd ..
	rm -rf e
	expect_eq @ "$(way_back "$PWD/e")" 'of the repository'
	# a removal that a person saved
	mkdir d
	cd d
	echo 3 >f3
	git checkpoint save -q -m 'only one left'
	cd ..
	rm -rf d
	expect_eq @ "$(way_back "$PWD/d")" 'the newest'
}

test_a_root_that_is_gone_is_told_and_may_come_back() {
	mkdir p
	cd p
	watch_setup
	watch_start
	await watch_settled
	cd ..
	mv p q
	await watch_tells "$PWD/p" '.state == "missing"'
	git checkpoint watch status | grep missing
	mv q p
	cd p
	await watch_tells "$PWD" '.state == "watched"'
	echo 2 >c/file
	await newest_has c/file 2
	watch_end
}

test_nothing_is_saved_in_the_middle_of_a_git_command() {
	watch_setup
	watch_start
	await watch_settled
	: >.git/index.lock
	echo 2 >a/b/file
	await watch_tells "$PWD" '.changed and (.problem | test("git command is at work"))'
	newest_has a/b/file 1
	rm .git/index.lock
	await newest_has a/b/file 2
	watch_end
}

test_nothing_is_saved_while_a_restore_is_interrupted() {
	watch_setup
	watch_start
	await watch_settled
	store=$(git checkpoint status --json | jq -r .store)
	: >"$store/checkpoint/journal"
	echo 2 >a/b/file
	await watch_tells "$PWD" '.changed and (.problem | test("restore was interrupted"))'
	rm "$store/checkpoint/journal"
	await newest_has a/b/file 2
	watch_end
}

run_tests
