#!/bin/sh
# SPDX-License-Identifier: MIT
# Which worktree a checkpoint is of, and where its store lies.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

setup() {
	git init -q "${1:-.}"
	(
		cd "${1:-.}"
		mkdir -p sub/deep
		echo 1 >top
		echo 1 >sub/deep/file
		git add .
		git commit -q -m base
	)
}

# stores: how many there are
stores() {
	find "$(checkpoint_home)" -mindepth 1 -maxdepth 1 -type d | wc -l
}

test_the_key_is_the_hash_of_the_path() {
	setup
	save
	key=$(printf %s "$(pwd -P)" | sha256sum | cut -c1-16)
	expect_exists "$XDG_STATE_HOME/git-checkpoint/$key/HEAD"
	expect_eq "$PWD" "$(store_git config core.worktree)" core.worktree
	expect_eq "$(answer .checkpoint.commit)" \
		"$(store_git rev-parse "refs/checkpoints/$(answer .checkpoint.id)")"
}

test_paths_with_odd_bytes_have_stores_too() {
	for name in 'a b' 'new
line' '-x' '"quoted"\' "$(printf '\303(')" '[x]' '#;='; do
		mkdir -- "./$name"
		cd -- "./$name"
		git init -q
		echo 1 >file
		save
		expect_captured file
		expect_exists "$(store_dir)"
		expect_eq "$(pwd -P)" "$(store_git config core.worktree)" core.worktree
		store_git fsck --strict >"$T/fsck" 2>&1
		cd ..
	done
}

test_from_a_subdirectory_it_is_the_whole() {
	setup
	cd sub/deep
	git checkpoint save --json >"$T/save.json"
	expect_eq '["."]' "$(answer '.checkpoint.scope.files | tostring')"
	cd ../..
	expect_captured sub/deep/file top
	cd sub
	echo 2 >../top
	git checkpoint save --json -- deep ../top >"$T/save.json"
	cd ..
	expect_captured sub/deep/file top
	expect_eq 1 "$(stores)" stores
}

test_other_ways_to_the_same_worktree() {
	setup project
	ln -s project link
	ln -s project/sub/deep shortcut
	id=
	for way in 'cd project; git checkpoint save' 'cd link; git checkpoint save' \
		'cd link/sub; git checkpoint save' 'cd shortcut; git checkpoint save' \
		'git -C project checkpoint save' 'git -C link/sub checkpoint save' \
		'git checkpoint -C project save' 'git checkpoint -C project -C sub save' \
		'git checkpoint -C "$PWD/link/sub/deep/" save' 'cd project/; git-checkpoint save' \
		'git --git-dir=project/.git --work-tree=project checkpoint save' \
		'cd /; git --git-dir="$OLDPWD/link/.git" --work-tree="$OLDPWD/link" checkpoint save' \
		'GIT_DIR=project/.git GIT_WORK_TREE=link git-checkpoint save' \
		'cd project/sub; git --git-dir=../.git --work-tree=.. checkpoint save' \
		'cd project; PWD=/nowhere git checkpoint save'; do
		(eval "$way --json") >"$T/save.json"
		id=${id:-$(answer .checkpoint.id)}
		expect_eq "$id" "$(answer .checkpoint.id)" "$way"
	done
	expect_eq 1 "$(stores)" stores
	cd project
	expect_captured sub/deep/file top
}

test_git_dir_alone_decides_nothing() {
	setup here
	setup there
	(
		cd here
		git --git-dir="$T/work/there/.git" checkpoint save -q
		GIT_WORK_TREE=$T/work/there git-checkpoint save -q
	)
	expect_exists "$(store_dir here)"
	expect_missing "$(store_dir there)"
}

test_a_git_directory_apart_from_the_worktree() {
	setup gitdir
	mkdir tree
	echo x >tree/file
	echo '*.log' >gitdir/.git/info/exclude
	: >tree/a.log
	git --git-dir=gitdir/.git --work-tree=tree checkpoint save --json >"$T/save.json"
	expect_eq git_stash "$(answer .checkpoint.type)"
	expect_exists "$(store_dir tree)"
	cd tree
	git --git-dir=../gitdir/.git --work-tree=. checkpoint show --files @ >"$T/captured"
	expect_eq file "$(cat "$T/captured")"
	cd ..
	expect_exit 128 git --git-dir=gitdir/.git --work-tree=nowhere checkpoint save -q 2>/dev/null
	expect_exit 128 env GIT_DIR=nowhere GIT_WORK_TREE=tree git-checkpoint save -q 2>/dev/null
}

test_separate_git_dir_and_core_worktree() {
	git init -q --separate-git-dir="$T/gitdir" tree
	echo 1 >tree/file
	mkdir tree/sub
	(
		cd tree/sub
		git checkpoint save -q
	)
	expect_exists "$(store_dir tree)"
}

test_a_linked_worktree_has_its_own_store() {
	setup main
	git -C main worktree add -q "$T/linked" 2>/dev/null
	echo 2 >"$T/linked/top"
	cd "$T/linked/sub"
	fingerprint_raw "$T/work/main/.git" >"$T/before"
	git checkpoint save --json >"$T/save.json"
	fingerprint_raw "$T/work/main/.git" >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_missing "$(store_dir "$T/work/main")"
	cd ..
	expect_captured sub/deep/file top
	git checkpoint show --json @ >"$T/show.json"
	expect_eq linked "$(json .project.branch "$T/show.json")"
	# its own index, the shared info/exclude
	echo '*.log' >"$T/work/main/.git/info/exclude"
	: >a.log
	: >b.log
	git add -f b.log
	save
	expect_captured b.log sub/deep/file top
}

test_a_submodule_has_its_own_store() {
	setup module
	setup super
	git -C super -c protocol.file.allow=always submodule --quiet add "$T/work/module" module
	cd super/module/sub
	git checkpoint save --json >"$T/save.json"
	expect_missing "$(store_dir "$T/work/super")"
	cd ..
	expect_captured sub/deep/file top
}

test_outside_of_git() {
	mkdir -p project/sub/deep
	echo 1 >project/file
	echo 1 >project/sub/file
	cd project
	save
	expect_captured file sub/deep/ sub/file
	expect_eq file_backup "$(answer .checkpoint.type)"
	# below a directory that has a store it is that one
	cd sub/deep
	echo 2 >file
	git checkpoint save --json >"$T/save.json"
	cd ../..
	expect_captured file sub/deep/file sub/file
	expect_eq 1 "$(stores)" stores
	# above it is another
	cd ..
	save
	expect_eq 2 "$(stores)" stores
	expect_captured project/file project/sub/deep/file project/sub/file
	# and of the two the nearest counts
	cd project/sub
	git checkpoint save --json >"$T/save.json"
	expect_eq false "$(answer .checkpoint_created)"
	expect_eq 2 "$(stores)" stores
}

test_a_question_makes_no_store() {
	mkdir project
	cd project
	git checkpoint list >/dev/null 2>&1 || :
	git checkpoint status >/dev/null 2>&1 || :
	git checkpoint diff >/dev/null 2>&1 || :
	git checkpoint show @ >/dev/null 2>&1 || :
	git checkpoint log >/dev/null 2>&1 || :
	git checkpoint config >/dev/null 2>&1 || :
	expect_missing "$(store_dir)"
}

test_a_broken_git_file_is_no_way_out() {
	setup
	mkdir sub/broken
	echo 'gitdir: /nowhere' >sub/broken/.git
	expect_exit 128 git checkpoint -C sub/broken save -q 2>"$T/stderr"
	expect_grep "sub/broken/.git" "$T/stderr"
	expect_missing "$(store_dir)"
}

test_where_there_is_nothing_to_save() {
	git init -q --bare bare
	git init -q repo
	for dir in bare bare/objects repo/.git repo/.git/refs/heads; do
		expect_exit 128 git checkpoint -C $dir save --json >"$T/save.json"
		expect_eq 128 "$(answer .error.code)" "in $dir"
		expect_exit 128 git-checkpoint -C $dir save -q 2>"$T/stderr"
		expect_grep 'bare\|\.git' "$T/stderr"
	done
	git -C repo config core.bare true
	expect_exit 128 git checkpoint -C repo save -q 2>/dev/null
	expect_exit 128 git checkpoint -C nowhere save -q 2>/dev/null
	expect_missing "$XDG_STATE_HOME/git-checkpoint"/*
}

test_the_home_of_stores() {
	setup
	GIT_CHECKPOINT_HOME=$T/a/b git checkpoint save -q
	key=$(basename "$(store_dir)")
	expect_exists "$T/a/b/$key/HEAD"
	expect_eq 700 "$(stat -c %a "$T/a/b")"
	expect_missing "$XDG_STATE_HOME/git-checkpoint"
	git checkpoint save -q
	expect_exists "$XDG_STATE_HOME/git-checkpoint/$key/HEAD"
	expect_missing "$HOME/.local"
	for value in '' relative/path; do
		rm -rf "$HOME/.local"
		(
			XDG_STATE_HOME=$value
			test -n "$value" || unset XDG_STATE_HOME
			git checkpoint save -q
		)
		expect_exists "$HOME/.local/state/git-checkpoint/$key/HEAD"
		expect_missing relative
	done
	(
		XDG_STATE_HOME=
		GIT_CHECKPOINT_HOME=
		export GIT_CHECKPOINT_HOME
		git checkpoint save -q
	)
}

# To make something there takes no right to read it; to sync it does.
test_the_home_of_stores_in_a_directory_that_cannot_be_read() {
	mkdir "$T/drop"
	chmod 300 "$T/drop"
	echo 1 >a
	give_to_nobody "$T/drop" "$T/work"
	as_nobody env GIT_CHECKPOINT_HOME="$T/drop/home" git-checkpoint save -q
	as_nobody env GIT_CHECKPOINT_HOME="$T/drop/home" git-checkpoint verify -q --all
}

test_a_store_inside_of_the_worktree_is_not_captured() {
	setup
	GIT_CHECKPOINT_HOME=$PWD/sub/stores
	export GIT_CHECKPOINT_HOME
	save
	expect_captured sub/deep/file top
	save
	expect_eq false "$(answer .checkpoint_created)"
	save --include-ignored --include-sensitive --allow-empty
	expect_captured sub/deep/file top
	# through a link as well
	mkdir "$T/elsewhere"
	ln -s "$PWD/sub/stores" "$T/elsewhere/link"
	GIT_CHECKPOINT_HOME=$T/elsewhere/link save --allow-empty
	expect_captured sub/deep/file top
	# and those of other projects with it
	setup other
	git -C other checkpoint save -q
	save
	expect_captured other/sub/deep/file other/top sub/deep/file top
	# not even by name
	git checkpoint save -q -- sub/stores || :
	expect_captured
}

# Where the disk is too small, people put it on another and leave a link.
test_the_home_of_stores_may_be_a_link() {
	setup
	mkdir "$T/disk"
	ln -s "$T/disk" "$XDG_STATE_HOME/git-checkpoint"
	save
	expect_captured sub/deep/file top
	expect_exists "$T/disk/$(basename "$(store_dir)")"
	expect_eq 755 "$(stat -c %a "$T/disk")"
	git-checkpoint verify -q --all
	for dir in "$XDG_STATE_HOME/git-checkpoint" "$T/disk"; do
		expect_exit 128 git-checkpoint flow start w --phases A --state-dir "$dir" 2>"$T/err"
		expect_grep 'is where checkpoints are kept' "$T/err"
	done
	cd "$T/disk"
	expect_exit 128 git-checkpoint save -q 2>"$T/err"
	expect_grep 'is where checkpoints are kept' "$T/err"
}

test_a_home_of_stores_that_is_the_link_of_somebody_else() {
	test "$(id -u)" = 0 || skip 'needs root'
	mkdir "$T/disk"
	ln -s "$T/disk" "$T/link"
	chown -h 1 "$T/link"
	give_to_nobody "$T/disk" .
	GIT_CHECKPOINT_HOME=$T/link
	export GIT_CHECKPOINT_HOME
	expect_exit 128 as_nobody git-checkpoint save -q --allow-empty 2>"$T/err"
	expect_grep "link' is not a directory" "$T/err"
}

test_the_home_of_stores_cannot_be_saved_itself() {
	setup
	save
	cd "$(store_dir)"
	expect_exit 128 git checkpoint save -q 2>/dev/null
	cd checkpoint
	expect_exit 128 git checkpoint save -q 2>/dev/null
	cd "$XDG_STATE_HOME/git-checkpoint"
	expect_exit 128 git checkpoint save -q 2>/dev/null
}

test_two_paths_never_share_a_store() {
	mkdir a b
	setup a
	git -C a checkpoint save -q
	# as if the hashes of both began alike
	mv "$(store_dir a)" "$(store_dir b)"
	echo 1 >b/file
	status=0
	git checkpoint -C b save --json >"$T/save.json" || status=$?
	expect_eq 128 "$status"
	answer .error.message >"$T/message"
	expect_grep "work/a" "$T/message"
	expect_exit 128 git checkpoint -C b list 2>/dev/null
}

test_a_current_directory_that_is_gone() {
	mkdir gone
	cd gone
	rmdir ../gone
	expect_exit 128 git-checkpoint save -q 2>/dev/null
}

run_tests
