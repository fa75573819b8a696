#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2164 # cases run with set -e
#
# What somebody has planted in a working directory, in its .git or above it, leads nowhere else.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/traps.sh"

# a repository with a commit of 'src/a' and 'top'
some_repository() {
	git init -q "$1"
	mkdir -p "$1/src"
	echo 1 >"$1/src/a"
	echo 1 >"$1/top"
	git -C "$1" add .
	git -C "$1" commit -q -m one
}

# look_alike <repository> <directory>: what git makes for a linked worktree, both halves of it
look_alike() {
	name=$(echo "$2" | tr / -)
	mkdir -p "$1/.git/worktrees/$name"
	echo "$PWD/$1/$2/.git" >"$1/.git/worktrees/$name/gitdir"
	echo ../.. >"$1/.git/worktrees/$name/commondir"
	cp "$1/.git/HEAD" "$1/.git/worktrees/$name/HEAD"
	echo "gitdir: $PWD/$1/.git/worktrees/$name" >"$1/$2/.git"
}

test_core_worktree_does_not_widen_what_is_saved() {
	mkdir private
	echo secret >private/notes
	some_repository evil
	git -C evil config core.worktree ../..
	cd evil
	for command in save 'restore --yes @' status 'hooks install' 'mcp'; do
		# shellcheck disable=SC2086 # a command with its arguments
		expect_exit 128 git-checkpoint $command </dev/null >"$T/out" 2>&1
		expect_grep "core.worktree of the repository in '$PWD' leads out of it" "$T/out"
	done
	GIT_DIR=$PWD/.git GIT_WORK_TREE=$PWD git-checkpoint save -q
	expect_eq secret "$(cat ../private/notes)"
}

test_tracked_files_are_saved_whatever_looks_like_a_worktree() {
	some_repository w
	git -C w worktree add -q sub/real
	look_alike w src
	echo changed >w/src/a
	cd w
	git checkpoint save 2>"$T/err"
	expect_eq changed "$(git checkpoint show @:src/a)"
	# one that git made, and of which nothing is tracked here, has checkpoints of its own
	expect_exit 128 git checkpoint show @:sub/real/top 2>/dev/null
	expect_grep "'sub/real' is another worktree" "$T/err"
	expect_exit 1 grep -q "'src'" "$T/err"
	echo more >src/a
	git checkpoint restore -q --yes @
	expect_eq changed "$(cat src/a)"
}

test_files_that_a_nested_repository_tracks() {
	some_repository w
	some_repository w/nested
	look_alike w nested/src
	cd w
	git checkpoint save -q
	expect_eq 1 "$(git checkpoint show @:nested/src/a)"
}

# With an index that nobody can read, it is not known what is tracked.
test_with_a_damaged_index() {
	some_repository w
	look_alike w src
	cd w
	echo damaged >.git/index
	git checkpoint save -q 2>/dev/null || test $? = 3
	expect_eq 1 "$(git checkpoint show @:src/a)"
}

test_a_copy_as_worktree_writes_nothing_for_others() {
	mkdir -p victim/docs
	some_repository victim/evil
	cd victim/evil
	git checkpoint save -q
	for entry in home:$T/work/victim gone:$T/gone file:$T/work/victim/file; do
		name=${entry%%:*}
		mkdir -p ".git/worktrees/$name"
		echo "${entry#*:}/.git" >".git/worktrees/$name/gitdir"
		echo ../.. >".git/worktrees/$name/commondir"
		git rev-parse HEAD >".git/worktrees/$name/HEAD"
	done
	: >../file
	cp -a .git/worktrees "$T/before"
	git checkpoint restore -q --into "$T/copy" --worktree @
	expect_missing ../.git
	expect_missing "$T/gone"
	for name in home gone file; do
		diff -r "$T/before/$name" ".git/worktrees/$name"
	done
	cd "$T/copy"
	expect_eq "$PWD" "$(git rev-parse --show-toplevel)"
	expect_eq '' "$(git status --porcelain)"
	git worktree list --porcelain >"$T/list"
	expect_grep "^worktree $PWD\$" "$T/list"
}

# What the user's own file says is the user's word, unless it may be somebody else's.
test_the_users_file_in_the_worktree_runs_nothing() {
	snare capture 'exit 0'
	snare verify 'exit 0'
	mkdir -p w/conf/git-checkpoint "$T/own/git-checkpoint" "$T/linked" "$T/file/git-checkpoint" "$T/back"
	printf '%s\n' "verifyCommand = $T/snares/verify" '[capture "x"]' "save = $T/snares/capture" \
		'auto = true' >w/conf/git-checkpoint/config
	cp w/conf/git-checkpoint/config "$T/own/git-checkpoint/config"
	ln -s "$PWD/w/conf/git-checkpoint" "$T/linked/git-checkpoint"
	ln -s "$PWD/w/conf/git-checkpoint/config" "$T/file/git-checkpoint/config"
	# through a link in the worktree, back to a file of the user's
	ln -s "$T/own/git-checkpoint" w/back
	ln -s "$PWD/w/back" "$T/back/git-checkpoint"
	cd w
	git init -q
	echo 1 >a
	for dir in "$PWD/conf" "$T/linked" "$T/file" "$T/back" "$T/own/../work/w/conf"; do
		XDG_CONFIG_HOME=$dir
		export XDG_CONFIG_HOME
		echo "$dir" >a
		git-checkpoint save >"$T/out" 2>&1
		expect_grep 'captures run commands and are ignored: the file is in the worktree' "$T/out"
		echo other >a
		git-checkpoint restore --yes @ >"$T/out" 2>&1
		expect_grep "'verifyCommand' runs a command and is ignored: the file is in the worktree" "$T/out"
		expect_eq '' "$(ls "$T/marks")" 'what was run'
	done
	XDG_CONFIG_HOME=$T/own git-checkpoint save -q
	expect_exists "$T/marks/capture"
}

test_a_repository_above_of_somebody_else() {
	test "$(id -u)" = 0 || skip 'needs root'
	mkdir -p shared/proj shared/other
	chmod 1777 shared
	echo mine >shared/other/x
	cp -a shared "$T/before"
	mkdir -p shared/.git/objects shared/.git/refs
	echo 'ref: refs/heads/main' >shared/.git/HEAD
	printf '[safe]\n\tdirectory = *\n' >shared/.git/config
	give_to_nobody shared/.git
	cd shared/proj
	for command in save status 'restore --yes @' 'hooks install'; do
		# shellcheck disable=SC2086 # a command with its arguments
		expect_exit 128 git-checkpoint $command >"$T/out" 2>&1
		expect_grep "the repository in '$T/work/shared' belongs to another user" "$T/out"
	done
	expect_eq "$(ls -A "$T/before/other")" "$(ls -A ../other)"
	expect_missing ../.git/git-checkpoint
	# as the user says, in a file of the user's
	for value in '*' "$T/work/shared"; do
		git config --global safe.directory "$value"
		git-checkpoint status >/dev/null
		git config --global --add safe.directory ''
		expect_exit 128 git-checkpoint status >/dev/null 2>&1
		git config --global --unset-all safe.directory
	done
	expect_exit 128 git -c safe.directory=/elsewhere checkpoint status >/dev/null 2>&1
}

test_a_shared_directory_is_no_home() {
	mkdir "$T/shared" "$T/group" "$T/open"
	chmod 1777 "$T/shared"
	chmod 770 "$T/group"
	chmod 755 "$T/open"
	echo x >"$T/shared/theirs"
	git init -q
	echo 1 >a
	for home in shared group; do
		stat -c '%a %n' "$T/$home" >"$T/mode"
		for command in save 'watch add .'; do
			# shellcheck disable=SC2086 # a command with its arguments
			GIT_CHECKPOINT_HOME=$T/$home expect_exit 128 git-checkpoint $command 2>"$T/err"
			expect_grep "others may write in '$T/$home'" "$T/err"
		done
		expect_eq "$(cat "$T/mode")" "$(stat -c '%a %n' "$T/$home")"
	done
	expect_eq theirs "$(ls "$T/shared")"
	# what others can only list is as good as it was, and stays as it is
	GIT_CHECKPOINT_HOME=$T/open git-checkpoint save -q
	expect_eq 755 "$(stat -c %a "$T/open")"
	find "$T/open" -mindepth 1 -perm /077 >"$T/odd"
	expect_same /dev/null "$T/odd"
}

run_tests
