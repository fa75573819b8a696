#!/bin/sh
# SPDX-License-Identifier: MIT
# Repositories inside of the worktree: their files are captured, their .git is left alone.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

setup() {
	git init -q
	echo top >top
	git add top
	git commit -q -m top
}

# A repository with a commit, a staged, a changed and an untracked file.
make_repo() {
	git init -q "$@"
	for dir; do :; done
	(
		cd "$dir"
		echo 1 >committed
		echo 1 >changed
		mkdir sub
		echo 1 >sub/file
		git add .
		git commit -q -m nested
		echo 2 >changed
		echo 1 >staged
		git add staged
		echo 1 >untracked
	)
}

# save_untouched: a save that writes nothing but the store, and holds all files
save_untouched() {
	fingerprint_raw . >"$T/before"
	save
	fingerprint_raw . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq 1 "$(answer .confidence)" confidence
	expect_state_of_files
	# as files: neither gitlinks nor anything of a .git
	store_git ls-tree -r -t --name-only "$(answer .checkpoint.commit)" >"$T/tree"
	expect_no_grep '\(^\|/\)\.git\($\|/\)' "$T/tree"
	store_git ls-tree -r "$(answer .checkpoint.commit)" >"$T/tree"
	expect_no_grep '^160000' "$T/tree"
	store_git fsck --strict >"$T/fsck" 2>&1
}

test_with_commits_and_dirty_files() {
	setup
	make_repo nested
	save_untouched
	expect_captured nested/changed nested/committed nested/staged nested/sub/file \
		nested/untracked top
	echo 3 >nested/changed
	save_untouched
	expect_eq 1 "$(answer .stats.changed)" changed
	expect_eq 3 "$(store_git show "$(answer .checkpoint.commit):nested/changed")"
}

test_without_any_commit() {
	setup
	git init -q nested
	echo x >nested/file
	git init -q empty
	save_untouched
	expect_captured empty/ nested/file top
}

test_one_in_another_in_another() {
	setup
	make_repo a
	make_repo a/b
	make_repo a/b/c
	save_untouched
	expect_eq 16 "$(answer .stats.files)" files
}

test_one_with_sha256() {
	setup
	make_repo --object-format=sha256 nested
	save_untouched
}

test_a_submodule() {
	setup
	make_repo "$T/module"
	git -c protocol.file.allow=always submodule --quiet add "$T/module" module
	git commit -q -m module
	expect_grep '^gitdir: ' module/.git
	echo 4 >module/changed
	echo 4 >module/new
	save_untouched
	expect_captured .gitmodules module/changed module/committed module/new module/sub/file top
	rm -rf module/.git
	save_untouched
	# the files are the same, but it is no longer a repository
	expect_eq true "$(answer .checkpoint_created)" 'without its .git'
}

test_a_submodule_that_is_not_checked_out() {
	setup
	make_repo "$T/module"
	git -c protocol.file.allow=always submodule --quiet add "$T/module" module
	git commit -q -m module
	git clone -q . "$T/clone"
	cd "$T/clone"
	save_untouched
	expect_captured .gitmodules module/ top
}

test_a_linked_worktree_inside() {
	setup
	git worktree add -q linked >/dev/null 2>&1
	echo dirty >linked/top
	echo new >linked/new
	save
	expect_captured top
	expect_warning "^'linked' is another worktree of this repository and was left out; --include-worktrees"
	# nothing changed, and it is in the warnings of each save
	save
	expect_eq false "$(answer .checkpoint_created)"
	expect_warning "^'linked' is another worktree"
	save --include-worktrees
	expect_captured linked/new linked/top top
	expect_no_warning
	save
	expect_captured top
	save --include-worktrees
	expect_captured linked/new linked/top top
	# named, it is taken
	save linked/new
	expect_captured linked/new
	save top
	expect_no_warning
	# in itself it is the worktree, and the one around it is not in it
	cd linked
	save
	expect_captured new top
	expect_no_warning
}

test_a_linked_worktree_is_named_once() {
	setup
	git worktree add -q linked >/dev/null 2>&1
	git worktree add -q d/other >/dev/null 2>&1
	git checkpoint save -q 2>"$T/err"
	expect_no_grep . "$T/err"
	git checkpoint save --allow-empty 2>"$T/err" >/dev/null
	expect_eq 2 "$(grep -c "^warning: .* is another worktree" "$T/err")"
	git worktree add -q third >/dev/null 2>&1
	git checkpoint save --allow-empty 2>"$T/err" >/dev/null
	expect_eq "warning: 'third' is another worktree of this repository and was left out; --include-worktrees saves it" \
		"$(cat "$T/err")"
}

test_a_restore_leaves_a_linked_worktree_alone() {
	setup
	git worktree add -q linked >/dev/null 2>&1
	git worktree add -q new/other >/dev/null 2>&1
	save
	plain=$(answer .checkpoint.id)
	save --include-worktrees
	with=$(answer .checkpoint.id)
	echo edited >linked/top
	echo edited >new/other/top
	echo new >linked/new
	echo edited >top
	fingerprint linked >"$T/linked"
	git checkpoint restore -y --json "$plain" >"$T/restore.json"
	expect_eq true "$(json .verification.match "$T/restore.json")"
	expect_eq top "$(json '.changes_reverted[].file' "$T/restore.json")"
	fingerprint linked >"$T/after"
	expect_same "$T/linked" "$T/after"
	expect_eq edited "$(cat new/other/top)"
	git checkpoint undo -q -y
	fingerprint linked >"$T/after"
	expect_same "$T/linked" "$T/after"
	git checkpoint diff --json "$plain" >"$T/diff.json"
	expect_no_grep linked "$T/diff.json"
	# what has them brings them back, and that can be undone
	git checkpoint diff --json "$with" >"$T/diff.json"
	expect_grep linked/new "$T/diff.json"
	git checkpoint restore -y --json "$with" >"$T/restore.json"
	expect_eq true "$(json .verification.match "$T/restore.json")"
	expect_missing linked/new
	expect_eq "$(git show HEAD:top)" "$(cat linked/top)"
	git checkpoint undo -q -y
	fingerprint linked >"$T/after"
	expect_same "$T/linked" "$T/after"
	expect_eq edited "$(cat new/other/top)"
}

# The record of a worktree that was moved away, or a directory in its place, leaves nothing out.
test_what_only_was_a_linked_worktree() {
	setup
	git worktree add -q linked >/dev/null 2>&1
	rm -r linked
	mkdir linked
	echo mine >linked/file
	save
	expect_captured linked/file top
	expect_no_warning
	git clone -q . linked/clone
	save
	expect_captured linked/clone/top linked/file top
}

test_a_bare_repository_is_plain_files() {
	setup
	git init -q --bare bare.git
	echo x >bare.git/description
	save_untouched
	captured >"$T/captured"
	expect_grep '^bare.git/HEAD$' "$T/captured"
	expect_grep '^bare.git/description$' "$T/captured"
	expect_grep '^bare.git/refs/heads/$' "$T/captured"
}

test_a_git_that_is_garbage() {
	setup
	mkdir file empty dir/.git loop pipe dangling -p
	mkdir empty/.git
	echo garbage >file/.git
	echo garbage >dir/.git/HEAD
	ln -s .git loop/.git
	ln -s "$T/nowhere" dangling/.git
	mkfifo pipe/.git
	for dir in file empty dir loop pipe dangling; do
		echo x >$dir/x
	done
	timeout 20 git checkpoint save --json >"$T/save.json"
	save_untouched
	expect_captured dangling/x dir/x empty/x file/x loop/x pipe/x top
}

test_damaged_ones() {
	setup
	for damage in HEAD config index objects refs; do
		make_repo $damage
		rm -rf "$damage/.git/$damage"
		head -c 100 /dev/zero >"$damage/.git/$damage"
	done
	save_untouched
	expect_eq 26 "$(answer .stats.files)" files
}

# What is tracked cannot be known then, and the ignore rule leaves out too much: that is said.
test_a_damaged_index_is_warned_about_where_it_matters() {
	setup
	make_repo nested
	head -c 100 /dev/zero >nested/.git/index
	save
	expect_no_warning index
	echo committed >nested/.git/info/exclude
	save
	expect_warning 'both tracked and ignored.*nested/.git/index'
	captured >"$T/captured"
	expect_no_grep committed "$T/captured"
}

test_one_of_somebody_else() {
	test "$(id -u)" = 0 || skip 'needs root'
	setup
	make_repo nested
	give_to_nobody nested
	save_untouched
	expect_eq 6 "$(answer .stats.files)" files
}

test_the_git_of_a_nested_repository_may_change() {
	setup
	make_repo nested
	save_untouched
	git -C nested gc -q
	git -C nested branch other
	save_untouched
	expect_eq false "$(answer .checkpoint_created)"
	# its HEAD is part of the state, as that of the project is
	git -C nested commit -q -a -m more
	save_untouched
	expect_eq true "$(answer .checkpoint_created)"
}

test_git_names_inside_of_a_link_or_in_capitals() {
	setup
	mkdir x
	echo x >x/.GIT
	echo y >x/.Git
	echo z >x/.gitfoo
	save_untouched
	expect_captured top x/.GIT x/.Git x/.gitfoo
}

test_from_inside_of_the_nested_one_it_is_the_worktree() {
	setup
	make_repo nested
	cd nested/sub
	git checkpoint save --json >"$T/save.json"
	cd ..
	expect_captured changed committed staged sub/file untracked
	expect_exists "$(store_dir)"
	expect_missing "$(store_dir ..)"
}

# They take no disk space, and any number of ".git" may lead to them.
test_endless_files_of_a_repository() {
	git init -q .
	echo .g >.gitignore
	for file in HEAD config packed-refs commondir refs/heads/x info/exclude index sequencer/todo; do
		rm -rf .g n1
		git init -q --bare .g
		git symbolic-ref HEAD refs/heads/x
		mkdir -p n1 .g/sequencer
		rm -f .g/$file
		truncate -s 255M .g/$file
		echo "gitdir: $PWD/.g" >n1/.git
		echo $file >n1/f
		(
			limit_memory 200000
			git-checkpoint save -q
		)
		expect_eq $file "$(git-checkpoint show @:n1/f)" "$file"
	done
}

run_tests
