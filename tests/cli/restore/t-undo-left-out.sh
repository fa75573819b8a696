#!/bin/sh
# SPDX-License-Identifier: MIT
# undo and redo of what checkpoints leave out as a rule: ignored, sensitive, special and large files.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/undo.sh"

id='' # see undo.sh

# What a restore brought back goes again with undo, whatever rule leaves it out now: only so the state
# before is that state again. It is in the safety checkpoint, so redo has it.
test_undo_of_a_file_that_another_branch_ignores() {
	git init -q -b master
	echo 1 >x
	echo dist/ >.gitignore
	git add x .gitignore
	git commit -q -m one
	git checkout -q -b other
	mkdir -p dist/empty
	echo app >dist/app.js
	git add -f dist/app.js
	git commit -q -m two
	save
	git checkout -q master
	rm -rf dist
	note before
	restore "$id"
	expect_eq app "$(cat dist/app.js)"
	note after
	undo
	expect_noted before
	expect_eq app "$(held_by "$(safety)" dist/app.js)"
	expect_eq true "$(told .verification.match)"
	expect_reverted create dist/app.js
	redo
	expect_noted after
	# Edits in between go the same way; what is ignored and nobody's stays.
	echo edited >dist/app.js
	echo mine >dist/mine
	undo
	expect_eq dist/mine "$(find dist -type f)"
	expect_eq edited "$(held_by "$(safety)" dist/app.js)"
	redo
	expect_eq 'edited mine' "$(contents dist/app.js dist/mine)"
}

test_undo_of_a_file_that_is_sensitive_now() {
	git init -q
	echo 1 >x
	echo SECRET=1 >.env
	git add x .env
	git commit -q -m one
	save
	git rm -q --cached .env
	git commit -q -m two
	rm .env
	note before
	restore "$id"
	expect_eq SECRET=1 "$(cat .env)"
	there_and_back
	undo
	expect_noted before
}

test_undo_of_files_that_ignore_themselves() {
	git init -q
	echo 1 >x
	mkdir d
	echo 1 >d/a
	echo '*' >d/.gitignore
	save --include-ignored
	rm -r d
	echo 2 >x
	note before
	restore "$id"
	there_and_back
	# ... and when the rule came later
	save
	rm x
	note before
	restore "$id"
	echo x >.git/info/exclude
	undo
	expect_noted before
}

# What cannot be captured cannot go.
test_undo_leaves_what_cannot_be_captured() {
	git init -q
	echo dist/ >.gitignore
	mkdir dist
	echo app >dist/app.js
	git add -f dist/app.js
	save
	git rm -q --cached dist/app.js
	rm -r dist
	restore "$id"
	head -c 5000 /dev/zero >dist/app.js
	GIT_CHECKPOINT_MAX_FILE_SIZE=1k undo 3
	expect_warned 'Kept: dist/app.js (oversize)'
	expect_eq 5000 "$(stat -c %s dist/app.js)"
}

# A path that undo remembers, or that the scope names, may be gone or left out by then.
test_undo_goes_on_without_special_files() {
	echo 1 >a
	mkfifo p
	save a p
	echo 2 >a
	restore "$id"
	undo
	expect_eq 2 "$(cat a)"
	redo
	expect_eq 1 "$(cat a)"
	rm p
	undo
	expect_eq 2 "$(cat a)"
}

test_undo_goes_on_without_sensitive_files() {
	echo 1 >a
	echo s >.env
	save a .env
	rm .env
	echo 2 >a
	restore "$id"
	undo
	expect_eq 2 "$(cat a)"
	echo s >.env
	redo
	expect_eq '1 s' "$(contents a .env)"
}

test_undo_goes_on_without_oversize_files() {
	export GIT_CHECKPOINT_MAX_FILE_SIZE=1k
	echo 1 >a
	head -c 5000 /dev/zero >big
	git-checkpoint save -q a big || test $? = 3
	echo 2 >a
	restoring 3 restore -y @
	undo 3
	expect_warned 'Kept: big (oversize)'
	expect_eq 2 "$(cat a)"
	redo 3
	expect_eq 1 "$(cat a)"
}

test_redo_goes_on_without_a_named_file_that_is_gone() {
	echo 1 >a
	save
	echo n >new
	echo 2 >a
	restore "$id" new a
	expect_missing new
	undo
	rm new
	redo
	expect_eq 1 "$(cat a)"
	expect_missing new
	undo
	expect_eq 2 "$(cat a)"
	expect_missing new
	# What is typed in this very call must be there.
	restoring 128 restore -y "$id" new
}

run_tests
