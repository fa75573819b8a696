#!/bin/sh
# SPDX-License-Identifier: MIT
# Only regular files are read: where one of git's, of the store's or of the user's files is a FIFO,
# every command comes to an end, with its work done or with a sentence why not.

. "$(dirname "$0")/../../lib/harness.sh"

setup() {
	git init -q
	mkdir -p dir .claude
	echo 1 >a.txt
	echo 1 >dir/b.txt
	git add .
	git commit -q -m one
	git config core.excludesFile "$T/excludes"
	git config core.attributesFile "$T/attributes"
	git config include.path "$T/included"
	git-checkpoint save -q -m one
	echo 2 >>a.txt
	git-checkpoint save -q -m two
	echo 3 >>a.txt
}

# ends <place> <argument>...: within seconds; only a machine that is very busy needs more than one
ends() {
	place=$1
	shift
	status=0
	timeout 20 git-checkpoint "$@" >"$T/out" 2>&1 </dev/null || status=$?
	case $status in
	0 | 1 | 3 | 5 | 75 | 128) ;;
	*)
		cat "$T/out"
		fail "with a FIFO as '$place', '$*' ends with $status"
		;;
	esac
}

all_end() {
	ends "$1" save -m three
	ends "$1" status
	ends "$1" list
	ends "$1" show -p @
	ends "$1" diff
	ends "$1" restore --yes @~1
	ends "$1" verify --all
	ends "$1" hooks install --guard
	ends "$1" hooks uninstall
	ends "$1" config
	ends "$1" gc
	ends "$1" doctor --fix
	echo "$1" >>a.txt
}

# with_fifo <path>: a FIFO in its place for all commands, then what was there again
with_fifo() {
	rm -rf "$T/kept" "$T/kept-state"
	cp -a "$XDG_STATE_HOME" "$T/kept-state"
	test ! -e "$1" || mv "$1" "$T/kept"
	mkdir -p "$(dirname "$1")"
	mkfifo "$1"
	all_end "$1"
	rm -rf "$XDG_STATE_HOME" "$1"
	mv "$T/kept-state" "$XDG_STATE_HOME"
	test ! -e "$T/kept" || mv "$T/kept" "$1"
}

test_files_of_the_repository() {
	setup
	for place in config HEAD index packed-refs info/exclude info/attributes refs/heads/main \
		objects/info/alternates config.worktree commondir shallow MERGE_HEAD sequencer/todo \
		rebase-merge/autostash logs/HEAD git-checkpoint/record; do
		with_fifo ".git/$place"
	done
	with_fifo .git
}

test_files_of_an_index_that_git_reads() {
	setup
	mkdir outside
	echo 1 >outside/c.txt
	git add .
	git commit -q -m outside
	git sparse-checkout set --cone --sparse-index dir
	for place in config index HEAD info/sparse-checkout objects/info/alternates \
		objects/pack/pack-1.idx objects/info/commit-graph packed-refs; do
		with_fifo ".git/$place"
	done
	# borrowed objects
	git init -q --bare "$T/other.git"
	mkdir -p .git/objects/info
	echo "$T/other.git/objects" >.git/objects/info/alternates
	mkfifo "$T/other.git/objects/pack/pack-1.idx"
	all_end 'a pack that is borrowed'
}

# Each of so many lines leads back to all of them.
test_objects_that_are_borrowed_in_circles() {
	setup
	mkdir -p .git/objects/info "$T/other/info" "$T/other/pack"
	yes "$PWD/.git/objects" | sed 100q >"$T/other/info/alternates"
	yes "$T/other" | sed 100q >.git/objects/info/alternates
	rm -r "$XDG_STATE_HOME/git-checkpoint"
	ends 'nothing, but objects in circles' save
	expect_eq 0 "$status" 'exit status'
}

# A file that takes in another a hundred times, which does the same.
test_configurations_that_include_too_many_others() {
	setup
	for level in 1 2 3 4 5 6; do
		yes "path = $T/level$((level + 1))" | sed -e '1i [include]' -e 100q >"$T/level$level"
	done
	printf '[a]\n\tb = c\n' >"$T/level7"
	git config include.path "$T/level1"
	ends 'nothing, but with a million includes' save -m three
	expect_eq 128 "$status" 'exit status'
	expect_grep 'includes more than' "$T/out"
}

test_files_of_the_worktree() {
	setup
	for place in .gitignore dir/.gitignore .gitattributes .gitmodules; do
		with_fifo "$place"
	done
	mkfifo .claude/settings.json
	for what in install uninstall; do
		ends .claude/settings.json hooks $what --agent claude-code
		expect_eq 128 "$status" 'exit status'
	done
	mkdir nested
	git init -q nested/r
	for place in .git/config .git/HEAD .git/index .git/info/exclude .git; do
		with_fifo "nested/r/$place"
	done
}

test_files_of_the_user() {
	setup
	for place in included excludes attributes; do
		with_fifo "$T/$place"
	done
	cp "$GIT_CONFIG_GLOBAL" "$T/global"
	with_fifo "$GIT_CONFIG_GLOBAL"
	cp "$T/global" "$GIT_CONFIG_GLOBAL"
	with_fifo "$XDG_CONFIG_HOME/git-checkpoint/config"
}

# A file without end in a way: it would take all memory.
test_files_that_are_too_large() {
	setup
	for place in .git/config .git/index .git/info/exclude .git/HEAD; do
		mv "$place" "$T/kept"
		truncate -s 9G "$place"
		ends "$place" status
		ends "$place" save
		rm "$place"
		mv "$T/kept" "$place"
	done
}

test_files_of_the_store() {
	setup
	store=$(store_dir)
	for place in config HEAD packed-refs info/exclude info/attributes checkpoint-manifest.md \
		checkpoint/config checkpoint/lock checkpoint/gc.lock checkpoint/gc.yield \
		checkpoint/worktree checkpoint/journal objects/info/alternates \
		refs/checkpoints/chk_20200101_000000_abcdef; do
		with_fifo "$store/$place"
	done
	for place in "$store"/checkpoint/* "$store"/objects/pack/* "$store"/refs/checkpoints/*; do
		test -f "$place" || continue
		with_fifo "$place"
	done
	# a loose object, as only others write them
	commit=$(git --git-dir="$store" for-each-ref --format='%(objectname)' refs/checkpoints | head -n 1)
	for file in "$store"/objects/pack/*.idx; do
		mv "$file" "$T/idx.${file##*/}"
	done
	with_fifo "$store/objects/$(echo "$commit" | cut -c1-2)/$(echo "$commit" | cut -c3-)"
}

run_tests
