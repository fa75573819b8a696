#!/bin/sh
# SPDX-License-Identifier: MIT
# A file is safe from a power cut only when the directory that holds its name was synced, and so on
# up to one that was there before. Each command that writes is watched: what it names and does not
# sync must be something that can be made again.

. "$(dirname "$0")/../lib/harness.sh"

# What the store can do without: each of these is made again, or is only about this instant.
derived='/(checkpoint-manifest\.md|refs/heads/latest|packed-refs\.lock)$
/checkpoint/(lock|gc\.lock|statcache|cache|every)(/.*)?$
/git-checkpoint/lock$'

# durable <command>...: nothing that it made may go with the power
durable() {
	rm -f "$T/names"
	env LD_PRELOAD="$BUILD_DIR/faultfs.so" FAULT_NAMES_FILE="$T/names" \
		ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" "$@" >/dev/null
	expect_exists "$T/names"
	echo "$derived" >"$T/derived"
	grep -v "^$TMPDIR/" "$T/names" | grep -E -v -f "$T/derived" >"$T/unsynced" || :
	expect_eq '' "$(cat "$T/unsynced")" "names not synced by: $*"
}

# A home of its own, with nothing that leads to it.
fresh_home() {
	rm -rf "$HOME/.local"
	unset XDG_STATE_HOME
}

test_the_recorder_sees_what_is_not_synced() {
	env LD_PRELOAD="$BUILD_DIR/faultfs.so" FAULT_NAMES_FILE="$T/names" mkdir -p a/b
	printf '%s\n' "$PWD/a" "$PWD/a/b" >expected
	expect_same expected "$T/names"
	env LD_PRELOAD="$BUILD_DIR/faultfs.so" FAULT_NAMES_FILE="$T/names" \
		perl -MIO::Handle -e 'mkdir "c"; open my $f, "<", "." or die; mkdir "d"; rename "d", "e"; mkdir "e/x";
			open my $g, ">", "new"; rename "new", "newer"; rename "e", "f"' 2>/dev/null
	expect_grep "^$PWD/f/x\$" "$T/names"
	expect_no_grep "^$PWD/e" "$T/names"
	expect_grep "^$PWD/newer\$" "$T/names"
	echo x >x
	env LD_PRELOAD="$BUILD_DIR/faultfs.so" FAULT_NAMES_FILE="$T/names" \
		perl -MIO::Handle -e 'mkdir "g"; sysopen my $f, ".", 0 or die; $f->sync or die; mkdir "h"'
	expect_eq "$PWD/h" "$(cat "$T/names")"
}

test_the_first_save_and_the_way_to_the_store() {
	fresh_home
	echo 1 >a
	durable git-checkpoint save
	echo 2 >a
	durable git-checkpoint save --pin
	durable git-checkpoint pin @~1
	durable git-checkpoint unpin @
}

test_a_directory_on_the_way_that_a_killed_process_left() {
	fresh_home
	echo 1 >a
	expect_exit 137 with_faults mkdir 2 kill git-checkpoint save
	expect_exists "$HOME/.local"
	# Made by nobody who lived to sync it: who comes next does. A failure to do so tells of it.
	rm -rf "$HOME/.local"
	FAULT_PATH=$HOME with_faults fsync 0 EIO git-checkpoint save -q
	all=$(cat "$T/faults")
	rm -rf "$HOME/.local/state"
	FAULT_PATH=$HOME with_faults fsync 0 EIO git-checkpoint save -q
	expect_eq "$all" "$(cat "$T/faults")" 'syncs with and without .local there'
	durable git-checkpoint save
}

test_restore_undo_and_what_follows() {
	mkdir d
	echo 1 >d/a
	echo 1 >b
	git-checkpoint save -q
	rm -r d
	echo 2 >b
	mkdir e
	durable git-checkpoint restore --yes @
	durable git-checkpoint undo --yes
	durable git-checkpoint redo --yes
	durable git-checkpoint drop --force @
	echo 3 >b
	durable git-checkpoint save
	durable git-checkpoint prune --max-count 1
	durable git-checkpoint gc
	durable git-checkpoint doctor --fix
}

test_an_interrupted_restore() {
	mkdir d
	echo 1 >d/a
	echo 1 >zebra
	git-checkpoint save -q
	rm -r d
	echo 2 >zebra
	FAULT_PATH=zebra expect_exit 137 with_faults rename 1 kill git-checkpoint restore --yes @
	durable git-checkpoint restore --continue
	expect_eq 1 "$(cat d/a)"
}

test_a_store_that_lost_its_directories() {
	echo 1 >a
	git-checkpoint save -q
	store=$(store_dir)
	rm -r "$store/refs" "$store/info"
	durable git-checkpoint doctor --fix
	expect_eq 1 "$(git-checkpoint list --json | jq '.checkpoints | length')"
}

test_a_moved_folder() {
	mkdir one
	(cd one && echo 1 >a && git-checkpoint save -q)
	mv one two
	cd two
	durable git-checkpoint relink "$T/work/one"
	expect_eq 1 "$(git-checkpoint list --json | jq '.checkpoints | length')"
}

test_captures_and_states() {
	echo 1 >a
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	printf '[capture "db"]\nsave = echo dump\nrestore = cat\n' >"$XDG_CONFIG_HOME/git-checkpoint/config"
	durable git-checkpoint save --capture db --state k=v --step 1
	durable git-checkpoint save --every 3
}

test_hooks() {
	git init -q
	durable git-checkpoint hooks install
	durable git-checkpoint hooks uninstall
	printf '#!/bin/sh\nexit 0\n' >.git/hooks/pre-commit
	chmod +x .git/hooks/pre-commit
	durable git-checkpoint hooks install --guard
	durable git-checkpoint hooks uninstall
}

test_workflows() {
	git init -q
	echo 1 >a
	git-checkpoint save -q
	durable git-checkpoint flow start one --phases A,B
	durable git-checkpoint flow phase A start
	durable git-checkpoint flow phase A complete
	durable git-checkpoint flow start two --phases C --fresh
}

run_tests
