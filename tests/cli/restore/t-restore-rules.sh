#!/bin/sh
# SPDX-License-Identifier: MIT
# A checkpoint remembers the rules that are in no file of the worktree: what they left out of it
# was never captured, and a restore does not take it for new when they have changed since.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# Precious files that some rule leaves out of a checkpoint, and one that none does.
left_out() {
	mkdir -p d/out
	echo 1 >a
	save
	first=$id
	echo 1 >x.data
	echo 1 >d/out/z
	save
	expect_eq "$first" "$id"
	echo 2 >a
	echo 2 >d/new
}

# The rule is gone: what it left out stays, what is new goes, and undo brings it back.
expect_kept() {
	note before
	restore "$id"
	expect_reverted modify a create d/new
	expect_eq '1 1 1' "$(contents a x.data d/out/z)"
	expect_warned 'Kept: x.data (ignored when the checkpoint was taken)'
	expect_warned 'Kept: d/out (ignored when the checkpoint was taken)'
	expect_eq true "$(told .verification.match)"
	restoring 0 undo -y
	expect_noted before
	no_litter
}

test_those_of_the_repository() {
	git init -q
	printf '*.data\nout/\n' >.git/info/exclude
	left_out
	: >.git/info/exclude
	expect_kept
}

test_those_of_the_user() {
	git init -q
	printf '*.data\nout/' >"$HOME/ignore"
	git config --global core.excludesFile "$HOME/ignore"
	left_out
	git config --global --unset core.excludesFile
	expect_kept
}

test_those_of_the_user_outside_of_git() {
	mkdir "$XDG_CONFIG_HOME/git"
	printf '*.data\nout/\n' >"$XDG_CONFIG_HOME/git/ignore"
	left_out
	rm "$XDG_CONFIG_HOME/git/ignore"
	expect_kept
}

test_those_of_the_settings() {
	git init -q
	git config --add checkpoint.exclude '*.data'
	git config --add checkpoint.exclude out/
	left_out
	git config --unset-all checkpoint.exclude
	expect_kept
}

test_the_default_patterns() {
	git init -q
	git checkpoint save -q --allow-empty
	printf '*.data\nout/\n' >"$(store_dir)/info/exclude"
	left_out
	: >"$(store_dir)/info/exclude"
	expect_kept
}

# Repositories in the worktree have such rules of their own, below them.
test_those_of_nested_repositories() {
	git init -q
	for dir in n n/deeper 'odd %/name'; do
		git init -q "$dir"
		echo keep.dat >"$dir/.git/info/exclude"
	done
	git init -q other
	echo 1 >a
	save
	for dir in n n/deeper 'odd %/name' other; do
		echo 1 >"$dir/keep.dat"
	done
	rm -f n/.git/info/exclude n/deeper/.git/info/exclude
	rm -rf 'odd %/name/.git'
	echo 2 >a
	note before
	restore "$id"
	expect_reverted modify a create other/keep.dat
	for dir in n n/deeper 'odd %/name'; do
		expect_warned "Kept: $dir/keep.dat (ignored when the checkpoint was taken)"
	done
	restoring 0 undo -y
	expect_noted before
	git --git-dir="$(store_dir)" fsck --strict 2>&1
	expect_eq keep.dat "$(git --git-dir="$(store_dir)" show "refs/checkpoints/$id^:rules/nested/odd%20%25%2fname")"
	# comments alone, as git writes them into a new one, do not count
	git --git-dir="$(store_dir)" ls-tree --name-only "refs/checkpoints/$id^:rules/nested" >"$T/nested"
	expect_no_grep other "$T/nested"
}

# Newer rules do not make it keep what is not ignored now, nor was then.
test_rules_of_neither_time_do_not_count() {
	git init -q
	echo 1 >a
	save
	echo '*.data' >.git/info/exclude
	echo 1 >x.data
	git checkpoint save -q
	: >.git/info/exclude
	restore "$id"
	expect_reverted create x.data
	expect_not_warned Kept
}

# A save does not look for repositories in an ignored directory. A restore that comes there for the
# sake of a file in the checkpoint must not find more to remove than a save would have taken.
test_what_repositories_in_an_ignored_directory_track_stays() {
	git init -q
	git init -q d/repo
	git init -q d/repo/inner
	git init -q direct
	echo 1 | tee d/repo/a d/repo/inner/a >direct/a
	save
	printf 'd/\ndirect/\n' >.git/info/exclude
	for repo in d/repo d/repo/inner direct; do
		echo 2 | tee $repo/a >$repo/new
		git -C $repo add new
	done
	git checkpoint save -q
	git checkpoint show --files @ >"$T/files"
	expect_no_grep "^d/" "$T/files"
	expect_grep 'direct/new$' "$T/files"
	note before
	restore "$id"
	expect_reverted modify d/repo/a modify d/repo/inner/a modify direct/a create direct/new
	expect_eq '1 1 1 2 2' "$(contents d/repo/a d/repo/inner/a direct/a d/repo/new d/repo/inner/new)"
	expect_eq true "$(told .verification.match)"
	there_and_back
}

# A checkpoint that does not know them is judged by those of now, as before.
test_a_checkpoint_without_them() {
	git init -q
	echo 1 >a
	save
	store=$(store_dir)
	bare() { git --git-dir="$store" "$@"; }
	tree=$(bare ls-tree "refs/checkpoints/$id^" | grep -v '	rules$' | bare mktree)
	meta=$(bare cat-file commit "refs/checkpoints/$id^" | sed "s/^tree .*/tree $tree/" |
		bare hash-object -t commit -w --stdin)
	commit=$(bare cat-file commit "refs/checkpoints/$id" | sed "s/^parent .*/parent $meta/" |
		bare hash-object -t commit -w --stdin)
	bare update-ref "refs/checkpoints/$id" "$commit"
	git checkpoint verify -q "$id"
	echo 2 >a
	echo 2 >x.data
	restore "$id"
	expect_reverted modify a create x.data
}

# They hang off the commit where stock git can show them, and equal ones are stored once.
test_stock_git_shows_them() {
	git init -q
	echo '*.mine' >.git/info/exclude
	git config checkpoint.exclude '*.tmp'
	echo 1 >a
	save
	store=$(store_dir)
	show() { git --git-dir="$store" show "refs/checkpoints/$id^:rules/$1"; }
	expect_eq '*.mine' "$(show project)"
	expect_eq '*.tmp' "$(show exclude)"
	expect_eq '' "$(show user)"
	show default >"$T/default"
	expect_same "$store/info/exclude" "$T/default"
	first=$id
	echo 2 >a
	save
	expect_eq "$(git --git-dir="$store" rev-parse "refs/checkpoints/$first^")" \
		"$(git --git-dir="$store" rev-parse "refs/checkpoints/$id^")"
	git --git-dir="$store" fsck --strict 2>&1
}

run_tests
