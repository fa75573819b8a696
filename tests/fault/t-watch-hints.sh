#!/bin/sh
# SPDX-License-Identifier: MIT
# What a save may believe of a watcher if the stat cache comes from something other than a plain save.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/watch.sh"

# Directories that the watcher knows, and that only saves by hand look at.
make_watched() {
	watch_setup
	mkdir many
	for i in 1 2 3 4 5 6 7 8 9 10; do
		mkdir many/$i
		for j in 1 2 3 4 5 6 7 8 9 10; do echo $i $j >many/$i/$j; done
	done
	git checkpoint config -q watchQuiet 1h
	git checkpoint config -q watchMax 1h
	git config checkpoint.threads 1
	git checkpoint save -q
	watch_start
	git checkpoint save -q
	git checkpoint save -q
}

# A file that changed just now is looked at in any case.
let_files_settle() {
	touch "$T/then"
	until touch "$T/now" &&
		test $(($(date -r "$T/now" +%s%N) - $(date -r "$T/then" +%s%N))) -gt 30000000; do :; done
}

# What was not read is not in the cache, and no event tells of it again.
test_what_was_not_read_in_time_is_not_forgotten() {
	make_watched
	for i in 1 2 3 4 5 6 7 8 9 10; do
		for j in 1 2 3 4 5 6 7 8 9 10; do echo new >many/$i/new$j; done
	done
	git config checkpoint.hookTimeout 15s
	printf '{"cwd":"%s","session_id":"s","hook_event_name":"PreToolUse","tool_name":"x"}' "$PWD" >"$T/event"
	FAULT_RUN='sleep 6.5' FAULT_PATH=$PWD/many with_faults open 30 run \
		git-checkpoint agent-hook claude-code <"$T/event" >"$T/got"
	jq -r .systemMessage "$T/got" | grep 'is kept.*goes on in the background'
	await newest_has many/10/new10 new
	git checkpoint save -q
	git --git-dir="$(store_dir)" ls-tree -r --name-only latest many >"$T/stored"
	find many -type f | sort >"$T/there"
	sort "$T/stored" | diff -u "$T/there" -
	watch_end
}

# Nothing but the watcher has seen it, and what it told was not asked for.
test_what_was_written_during_a_restore_is_saved() {
	make_watched
	echo changed >many/1/1
	FAULT_PATH=many FAULT_RUN='echo meanwhile >many/5/2' with_faults rename 1 run \
		git-checkpoint restore --yes --json @ >"$T/answer"
	expect_eq meanwhile "$(cat many/5/2)"
	git checkpoint diff --name-status >"$T/actual"
	printf 'M\tmany/5/2\n' >"$T/expected"
	expect_same "$T/expected" "$T/actual"
	git checkpoint save -q
	newest_has many/5/2 meanwhile
	watch_end
}

# A file that got another name makes a save begin again: with the same rules, as if for the first time.
test_a_second_walk_has_the_same_rules() {
	watch_setup
	git checkpoint config -q watchQuiet 1h
	echo '*.ign' >.gitignore
	echo 1 >c/d/x.ign
	mkdir abc
	echo 1 >abc/x.ign
	# one that has a path as long as that directory, and tracks what the project leaves out
	git init -q nes
	echo 1 >nes/x.ign
	git -C nes add -f x.ign
	echo none >nes/.git/info/exclude
	git checkpoint save -q
	watch_start
	git checkpoint save -q
	git checkpoint save -q
	ln a/b/file c/name
	git checkpoint save -q
	git --git-dir="$(store_dir)" ls-tree -r --name-only latest >"$T/stored"
	expect_grep '^c/name$' "$T/stored"
	expect_grep '^nes/x.ign$' "$T/stored"
	expect_no_grep '^abc/x.ign$' "$T/stored"
	git --git-dir="$(store_dir)" fsck --strict
	watch_end
}

# Nothing in the directory changes when its .git becomes a repository.
test_what_becomes_a_repository_is_looked_at() {
	watch_setup
	git checkpoint config -q watchQuiet 1h
	echo '*.ign' >.gitignore
	mkdir -p nest/.git
	echo 1 >nest/x.ign
	echo 1 >nest/file
	git checkpoint save -q
	watch_start
	git checkpoint save -q
	git checkpoint save -q
	git init -q nest
	git -C nest add -f x.ign
	git checkpoint save -q
	newest_has nest/x.ign 1
	watch_end
}

# Not a single event, so that nothing is looked at: what is left out still is.
test_what_is_left_out_is_noted_each_time() {
	watch_setup
	git checkpoint config -q watchQuiet 1h
	git checkpoint config -q maxFileSize 100k
	head -c 200000 /dev/zero >big
	echo secret >.env
	expect_exit 3 git checkpoint save -q
	watch_start
	expect_exit 3 git checkpoint save -q
	let_files_settle
	expect_exit 3 git checkpoint save -q
	expect_exit 3 git checkpoint save -q --json -m again >"$T/saved"
	expect_eq '.env big ' "$(jq -j '.skipped[] | .file + " "' "$T/saved")"
	# left out, too, until it has a repository
	mkdir left
	echo 1 >left/file
	echo left/ >.gitignore
	expect_exit 3 git checkpoint save -q
	let_files_settle
	expect_exit 3 git checkpoint save -q
	git init -q left
	git -C left add file
	expect_exit 3 git checkpoint save -q
	newest_has left/file 1
	watch_end
}

run_tests
