#!/bin/sh
# SPDX-License-Identifier: MIT
# restore of some paths only, of scoped checkpoints, and without deletions.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

setup() {
	mkdir -p d/e f
	echo 1 >a
	echo 1 >b
	echo 1 >d/a
	echo 1 >d/e/a
	echo 1 >f/a
	save
	for file in a b d/a d/e/a f/a d/new d/e/new f/new new; do
		echo 2 >$file
	done
	note before
}

test_one_file() {
	setup
	restore "$id" a
	expect_reverted modify a
	expect_eq '1 2 2 2 2' "$(contents a b d/a d/e/a f/a)"
	expect_eq 'pre-restore-safety-file checkpoint' \
		"$(git-checkpoint show --json "$(safety)" | jq -r '"\(.reason) \(.source)"')"
	expect_eq true "$(told .verification.match)"
	restoring 0 undo -y
	expect_noted before
}

test_a_directory() {
	setup
	restore "$id" -- d
	expect_reverted modify d/a modify d/e/a create d/e/new create d/new
	expect_eq '2 2 1 1 2' "$(contents a b d/a d/e/a f/a)"
	expect_missing d/new d/e/new
	expect_exists f/new new
	expect_eq true "$(told .verification.match)"
	restoring 0 undo -y
	expect_noted before
	restore "$id" d/e/ b
	expect_reverted modify b modify d/e/a create d/e/new
}

test_all_by_name() {
	setup
	restore "$id" .
	expect_eq '1 1 1 1 1' "$(contents a b d/a d/e/a f/a)"
	expect_missing new
}

test_all_and_more_by_name() {
	setup
	restoring 128 restore -y "$id" . d nowhere
	refused nowhere
	restore "$id" d . d/e
	expect_eq '1 1 1 1 1' "$(contents a b d/a d/e/a f/a)"
	expect_missing new
	restoring 0 undo -y
	expect_exists new
}

# Hashes run over the paths in question.
test_the_hashes_are_those_of_the_paths() {
	setup
	restore "$id" d/e a
	one=$(printf '1\n' | sha256sum | cut -d' ' -f1)
	expect_eq "$(printf '100644 %s %s\000' "$one" a "$one" d/e/a | state_hash)" \
		"$(told .verification.post_state_hash)"
	expect_eq "$(told .verification.checkpoint_hash)" "$(told .verification.post_state_hash)"
}

test_names_are_literal() {
	mkdir '[locale]' l
	echo 1 >'[locale]/page.tsx'
	echo 1 >l/page.tsx
	echo 1 >'*'
	echo 1 >a
	echo 1 >'?'
	echo 1 >':(top)a'
	echo 1 >'-n'
	echo 1 >'!a'
	echo 1 >'\a'
	echo 1 >' '
	save
	for file in '[locale]/page.tsx' l/page.tsx '*' a '?' ':(top)a' ./-n '!a' '\a' ' '; do
		echo 2 >"$file"
	done
	for file in '[locale]/page.tsx' '*' '?' ':(top)a' '-n' '!a' '\a' ' '; do
		restore "$id" -- "$file"
		expect_eq "modify $file" "$(reverted)"
		expect_eq 1 "$(cat -- "$file")" "$file"
	done
	expect_eq '2 2' "$(contents a l/page.tsx)"
	restore "$id" '[locale]'
	expect_reverted
}

test_a_file_that_was_deleted() {
	setup
	rm -r d a
	restore "$id" d/e/a
	expect_reverted delete d/e/a
	expect_eq d/e/a "$(find d -type f)"
	expect_missing a
	expect_eq true "$(told .verification.match)"
	restore "$id" a d
	expect_eq '1 1 1' "$(contents a d/a d/e/a)"
}

# Modes of directories that are only on the way are nobody's business.
# An empty directory that leads to the path is not part of the scope, nor of its safety checkpoint.
test_a_path_in_a_directory_that_became_empty() {
	mkdir -p d/e
	echo x >d/e/in
	save
	first=$id
	rm d/e/in
	save
	restore "$first" d/e/in
	git-checkpoint verify -q --all || fail 'a checkpoint was damaged from the beginning'
	git-checkpoint show --hashes "$(safety)" >"$T/hashes"
	expect_eq '' "$(cat "$T/hashes")" 'the state before'
	expect_eq '' "$(git --git-dir="$(store_dir)" ls-tree -r -t "refs/checkpoints/$(safety)")"
	restoring 0 undo -y
	expect_exists d/e
	expect_missing d/e/in
	git-checkpoint verify -q --all
}

test_directories_on_the_way_are_left_alone() {
	setup
	chmod 700 d
	restore "$id" d/e/a
	expect_reverted modify d/e/a
	expect_eq 700 "$(stat -c %a d)"
	restore "$id" d
	expect_eq 755 "$(stat -c %a d)"
}

test_a_file_that_the_checkpoint_lacks_is_removed() {
	setup
	restore "$id" new d/new
	expect_reverted create d/new create new
	expect_warned 'Orphaned file detected: new (removed)'
	expect_warned 'Orphaned file detected: d/new (removed)'
	expect_missing new d/new
	expect_exists d/e/new
	restoring 0 undo -y
	expect_noted before
	mkdir -p fresh/deep
	echo 2 >fresh/deep/a
	restore "$id" fresh
	expect_reverted create fresh/deep/a
	expect_missing fresh
}

test_paths_that_cannot_be_meant() {
	git init -q
	setup
	mkdir "$T/outside"
	echo 1 >"$T/outside/x"
	ln -s "$T/outside" out
	for path in ../x ../outside/x "$T/outside/x" /etc/passwd nowhere d/nowhere a/b .git .git/config \
		d/.git d/../../outside/x out/x ''; do
		untouched restoring 128 restore -y "$id" -- "$path"
		expect_eq 128 "$(told .error.code)" "$path"
	done
	echo 1 >.env
	untouched restoring 128 restore -y "$id" .env
	expect_eq "'.env' is not in checkpoint '$id' and stays as it is (sensitive)" "$(told .error.message)"
	# one bad one among good ones stops all
	untouched restoring 128 restore -y "$id" a nowhere
	untouched restoring 128 restore -n "$id" nowhere
	expect_eq 1 "$(git-checkpoint list | wc -l)" checkpoints
	expect_eq 1 "$(cat "$T/outside/x")"
}

test_paths_are_relative_to_where_one_stands() {
	git init -q
	setup
	(
		cd d
		restore "$id" a e ../b
		expect_reverted modify b modify d/a modify d/e/a create d/e/new
		untouched restoring 128 restore -y "$id" ../../x
		restore "$id" "$T/work/f/a"
	)
	expect_eq '2 1 1 1 1' "$(contents a b d/a d/e/a f/a)"
	(cd d/e && restore "$id" .)
	git checkpoint -C d restore -q -y "$id" new
	expect_missing d/new
	expect_exists new
}

# ---- where kinds differ ----

test_a_path_whose_kind_changed() {
	setup
	rm a
	mkdir a
	echo 2 >a/x
	rm -r d
	echo 2 >d
	restore "$id" a
	expect_eq '1 2' "$(contents a d)"
	restore "$id" d
	expect_eq '1 1' "$(contents d/a d/e/a)"
	expect_missing d/new
}

# A file stands where a directory on the way must be: that is not ours to remove.
test_a_path_below_something_that_is_no_directory() {
	setup
	rm -r d
	echo 2 >d
	untouched restoring 5 restore -y "$id" d/a
	refused "'d'" "'d/a'"
	rm d
	ln -s f d
	untouched restoring 128 restore -y "$id" d/a
	no_litter
}

# The checkpoint has a file where the worktree has a directory with the path.
test_a_path_below_what_was_a_file() {
	setup
	rm a
	mkdir a
	echo 2 >a/x
	echo 2 >a/y
	restore "$id" a/x
	expect_reverted create a/x
	expect_missing a/x
	expect_exists a/y
}

# ---- scoped checkpoints ----

test_a_scoped_checkpoint_touches_its_scope_only() {
	mkdir d e
	echo 1 >a
	echo 1 >d/a
	echo 1 >e/a
	save d e/a
	for file in a d/a e/a new d/new e/new; do
		echo 2 >$file
	done
	rm a
	restore "$id"
	expect_reverted modify d/a create d/new modify e/a
	expect_eq '1 1 2 2' "$(contents d/a e/a new e/new)"
	expect_missing a d/new
	expect_eq true "$(told .verification.match)"
	expect_eq "$(json .pre_mutation_state.hash "$T/save.json")" "$(told .verification.post_state_hash)"
	restoring 0 undo -y
	expect_eq '2 2 2' "$(contents d/a e/a d/new)"
	# within the scope
	restore "$id" d/a
	expect_reverted modify d/a
	# and outside of it
	for path in a new e e/new .; do
		untouched restoring 128 restore -y "$id" $path
	done
}

test_a_scope_that_is_gone() {
	mkdir -p d/e
	echo 1 >d/e/a
	echo 1 >b
	save d/e
	rm -r d
	restore "$id"
	expect_eq 1 "$(cat d/e/a)"
	restoring 0 undo -y
	expect_missing d/e
	restoring 0 redo -y
	expect_eq 1 "$(cat d/e/a)"
	rm -r d
	echo 2 >d
	untouched restoring 5 restore -y "$id"
	refused "'d'"
}

test_an_ignored_file_saved_by_name() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >x.log
	save x.log
	echo 2 >x.log
	echo 2 >y.log
	restore "$id"
	expect_eq '1 2' "$(contents x.log y.log)"
	expect_eq 2 "$(held_by "$(safety)" x.log)"
	expect_eq true "$(told .verification.match)"
	restoring 0 undo -y
	expect_eq 2 "$(cat x.log)"
}

# ---- --no-delete ----

test_without_deletions() {
	setup
	rm b
	restore --no-delete "$id"
	expect_reverted modify a delete b modify d/a modify d/e/a modify f/a
	expect_exists new d/new d/e/new f/new
	expect_eq "$(json .pre_mutation_state.hash "$T/save.json")" "$(told .verification.post_state_hash)"
	expect_eq true "$(told .verification.match)"
	expect_not_warned removed
	# nothing is left to do
	restore --no-delete "$id"
	expect_reverted
	restore "$id" --no-delete d
	expect_reverted
}

test_without_deletions_kinds_still_change() {
	setup
	rm a
	mkdir a
	echo 2 >a/x
	restoring 0 restore -n --no-delete "$id"
	told '.changes_reverted | tostring' >"$T/planned"
	restore --no-delete "$id"
	told '.changes_reverted | tostring' >"$T/done"
	expect_same "$T/planned" "$T/done"
	expect_eq 1 "$(cat a)"
	restoring 0 undo -y
	expect_eq 2 "$(cat a/x)"
}

run_tests
