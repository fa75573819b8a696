#!/bin/sh
# SPDX-License-Identifier: MIT
# save: the state of the repository is part of a checkpoint, and only read.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/private.sh"
. "$LIB_DIR/capture.sh"
. "$LIB_DIR/gitstate.sh"

# saved <command>: after it, one new checkpoint is taken, and then none
saved() {
	before=$(checkpoints)
	sh -c "$1" >"$T/said" 2>&1 || fail "$1: $(cat "$T/said")"
	fingerprint_raw .git >"$T/before"
	git-checkpoint save >"$T/out" 2>"$T/err"
	expect_grep '^Saved ' "$T/out"
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	settle
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	fingerprint_raw .git >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq $((before + 1)) "$(checkpoints)"
}

test_a_change_of_the_repository_is_a_change() {
	make_project
	git-checkpoint save -q
	# each of these leaves the files as they are, or changes them too
	saved 'echo more >>a; git add a'
	saved 'echo new >new; git add -N new'
	saved 'git add new'
	saved 'git rm -q --cached b'
	saved 'git update-index --skip-worktree d/c'
	saved 'git update-index --assume-unchanged d/c'
	saved 'git update-index --no-skip-worktree --no-assume-unchanged d/c'
	saved 'rm b; git commit -q -m two'
	saved 'git branch topic'
	saved 'git branch -m topic other/topic'
	saved 'git branch -D -q other/topic'
	saved 'git checkout -q -b next'
	saved 'git checkout -q --detach'
	saved 'git checkout -q main'
	saved 'echo stashed >>a; git stash -q'
	saved 'git stash drop -q'
	saved 'git config branch.main.remote origin'
	saved 'git merge -q side || :'
	saved 'git add a'
	saved 'git merge --abort'
	saved 'git rebase -q side || :'
	saved 'git rebase --abort'
	saved 'git bisect start'
	saved 'git bisect bad'
	saved 'git bisect reset'
}

test_automatic_ones_see_it_too() {
	make_project
	git-checkpoint save -q --automatic
	git-checkpoint save -q --automatic
	expect_eq 1 "$(checkpoints)"
	echo more >>a
	git add a
	git-checkpoint save -q --automatic
	expect_eq 2 "$(checkpoints)"
	git reset -q
	git-checkpoint save -q --automatic
	expect_eq 3 "$(checkpoints)"
	git-checkpoint save -q --automatic
	expect_eq 3 "$(checkpoints)"
}

# What git only writes down again is not a change.
test_a_refreshed_index_is_not_a_change() {
	make_project
	git-checkpoint save -q
	touch -d '2001-01-01' a b
	git status >/dev/null
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	git update-index --index-version 4
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	git pack-refs --all
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
}

# A git that notes that it was called.
note_git() {
	real=$(command -v git)
	mkdir "$T/bin"
	printf '#!/bin/sh\necho "$*" >>"%s"\nexec "%s" "$@"\n' "$T/asked" "$real" >"$T/bin/git"
	chmod +x "$T/bin/git"
	PATH=$T/bin:$PATH
	: >"$T/asked"
}

test_an_unchanged_repository_is_not_asked() {
	make_project
	git config user.name x
	echo staged >>a
	git add a
	git-checkpoint save -q
	settle
	git-checkpoint save -q
	note_git
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	echo more >>b
	git-checkpoint save >"$T/out"
	expect_grep '^Saved ' "$T/out"
	expect_eq '' "$(cat "$T/asked")"
	meta 'ls-tree --name-only' git/ >"$T/now"
	expect_grep '^git/index$' "$T/now"
	expect_eq "$(shown .project.hash @~1)" \
		"$(shown .project.hash)"
	echo more >>a
	git add a
	git-checkpoint save -q
	test -s "$T/asked" || fail 'git was not asked'
}

test_an_unchanged_repository_is_not_opened() {
	require strace
	strace -o "$T/trace" true 2>/dev/null || skip 'strace cannot trace here'
	make_project
	git-checkpoint save -q
	settle
	git-checkpoint save -q
	strace -f -e trace=openat,open,execve -o "$T/trace" git-checkpoint save -q
	sed -n 's/.*open[a-z]*([^"]*"\([^"]*\)".*/\1/p' "$T/trace" | grep "/\.git/" | sort >"$T/opened"
	grep -v -x -e ".*/\.git/index" -e ".*/\.git/HEAD" -e ".*/\.git/config" -e '.*/\.git/info/exclude' \
		-e ".*/\.git/commondir" -e '.*/\.git/worktrees' -e '.*/\.git/refs/heads/main' "$T/opened" >"$T/more" || :
	expect_eq '' "$(cat "$T/more")"
	expect_eq 1 "$(grep -c execve "$T/trace")"
}

# What is remembered may be lost or damaged.
test_what_is_remembered_can_be_lost() {
	make_project
	echo staged >>a
	git add a
	git-checkpoint save -q
	settle
	git-checkpoint save -q
	file=$(store_dir)/checkpoint/cache
	expect_exists "$file"
	cp "$file" "$T/good"
	for at in 5 20 30 70 100 150 200 300; do
		cp "$T/good" "$file"
		printf '\377' | dd of="$file" bs=1 seek=$at conv=notrunc 2>/dev/null
		git-checkpoint save >"$T/out"
		expect_grep '^Nothing changed' "$T/out"
	done
	head -c 100 "$T/good" >"$file"
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	rm "$file"
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	cache_section project >"$T/git"
	test -s "$T/git"
	# of a checkpoint that is gone
	echo more >>b
	git-checkpoint save -q
	git-checkpoint drop -q --yes @
	git-checkpoint save -q
	meta 'cat-file -p' git/index >"$T/index"
	expect_grep 'entry 100644' "$T/index"
	git-checkpoint verify -q
}

test_staged_contents_are_in_the_store() {
	for format in sha1 sha256; do
		mkdir $format
		cd $format
		make_project --object-format=$format
		echo 'only staged' >a
		git add a
		id=$(git rev-parse :a)
		echo 'in the worktree' >a
		echo 'both' >b
		git add b
		echo 'then gone' >gone
		git add gone
		rm gone
		git-checkpoint save -q
		meta 'ls-tree' git/blobs/ >"$T/blobs"
		expect_eq 3 "$(wc -l <"$T/blobs")"
		expect_grep "git/blobs/$id\$" "$T/blobs"
		expect_eq 'only staged' "$(meta 'cat-file -p' "git/blobs/$id")"
		git reset -q --hard
		git gc -q --prune=now
		expect_exit 1 git cat-file -e "$id"
		git-checkpoint gc -q
		expect_eq 'only staged' "$(meta 'cat-file -p' "git/blobs/$id")"
		git-checkpoint verify -q
		cd ..
	done
}

test_stages_of_a_conflict_are_in_the_store() {
	make_project
	git merge -q side || :
	git ls-files -u >"$T/unmerged"
	expect_eq 3 "$(wc -l <"$T/unmerged")"
	git-checkpoint save -q
	while read -r _ id _; do
		git cat-file -p "$id" >"$T/project"
		meta 'cat-file -p' "git/blobs/$id" >"$T/stored"
		expect_same "$T/project" "$T/stored"
	done <"$T/unmerged"
}

# Those whose contents are not needed: HEAD has them.
test_flags_alone_copy_nothing() {
	make_project
	git update-index --skip-worktree a
	git-checkpoint save -q
	meta 'cat-file -p' git/flagged | tr '\0' '\n' >"$T/index"
	expect_grep '^entry 100644 [0-9a-f]* 0 sh 100644 [0-9a-f]* a$' "$T/index"
	meta 'ls-tree --name-only' git/ >"$T/list"
	expect_no_grep 'blobs\|index' "$T/list"
	# of a sparse checkout there may be many: not stored again while others are staged
	flagged=$(meta 'rev-parse' git/flagged)
	echo more >>b
	git add b
	git-checkpoint save -q
	expect_eq "$flagged" "$(meta 'rev-parse' git/flagged)"
}

test_an_autostash_is_in_the_store() {
	make_project
	echo 'put aside' >>d/c
	git -c rebase.autoStash=true rebase -q side || :
	stash=$(cat .git/rebase-merge/autostash)
	git-checkpoint save -q
	meta 'cat-file blob' git/autostash.pack >"$T/pack"
	git rebase --quit
	git reset -q --hard
	git stash clear
	git reflog expire --expire=now --all
	git gc -q --prune=now
	expect_exit 1 git cat-file -e "$stash"
	git unpack-objects -q <"$T/pack"
	git show "$stash" >"$T/shown"
	expect_grep 'put aside' "$T/shown"
}

# The same texts are the same objects.
test_what_does_not_change_is_stored_once() {
	make_project
	for i in 1 2 3; do
		git branch b$i
	done
	git-checkpoint save -q
	refs=$(meta 'rev-parse' git/refs)
	echo more >>a
	git add a
	git-checkpoint save -q
	expect_eq "$refs" "$(meta 'rev-parse' git/refs)"
	git branch b4
	git-checkpoint save -q
	test "$refs" != "$(meta 'rev-parse' git/refs)"
}

# A checkpoint is taken even if the repository cannot be read.
test_a_damaged_repository_is_saved_without() {
	make_project
	git-checkpoint save -q
	echo more >>b
	printf 'DIRC\0\0\0\2\377\377\377\377garbage garbage garbage' >.git/index
	git-checkpoint save --json >"$T/out" 2>"$T/err"
	json '.warnings[]' "$T/out" >"$T/warnings"
	expect_grep 'state of the repository is not in it: .*damaged' "$T/warnings"
	expect_eq null "$(shown .project.hash)"
	expect_eq main "$(shown .project.branch)"
	# not a change by itself, and again none
	git-checkpoint save >"$T/out" 2>&1
	expect_grep '^Nothing changed' "$T/out"
	# once it can be read again, it is
	rm .git/index
	git reset -q
	git-checkpoint save >"$T/out"
	expect_grep '^Saved ' "$T/out"
	test "$(shown .project.hash)" != null
}

test_without_git_it_is_saved_without() {
	make_project
	git-checkpoint save -q
	echo more >>b
	git add b
	mkdir "$T/none"
	PATH=$T/none "$BUILD_DIR/git-checkpoint" save >"$T/out" 2>"$T/err"
	expect_grep '^Saved ' "$T/out"
	expect_grep 'state of the repository is not in it' "$T/err"
	expect_eq main "$(shown .project.branch)"
	git-checkpoint save >"$T/out"
	expect_grep '^Saved ' "$T/out"
}

# Something that would block whoever opens it.
test_a_fifo_does_not_block() {
	make_project
	git-checkpoint save -q
	for place in refs/heads/fifo MERGE_MSG packed-refs refs/stash; do
		mkdir -p ".git/$(dirname $place)"
		mkfifo ".git/$place"
		echo more >>b
		git-checkpoint save >"$T/out" 2>"$T/err"
		expect_grep '^Saved ' "$T/out"
		expect_grep 'state of the repository is not in it' "$T/err"
		rm ".git/$place"
	done
}

# Neither hooks nor programs that the configuration names are run.
test_nothing_of_the_repository_is_run() {
	make_project
	printf '#!/bin/sh\ntouch %s\n' "$T/ran" >.git/evil
	chmod +x .git/evil
	for hook in post-index-change reference-transaction post-checkout; do
		cp .git/evil .git/hooks/$hook
	done
	git config core.fsmonitor "$PWD/.git/evil"
	git config filter.evil.clean "$PWD/.git/evil"
	git config filter.evil.smudge "$PWD/.git/evil"
	git config diff.evil.textconv "$PWD/.git/evil"
	git config diff.external "$PWD/.git/evil"
	echo '* filter=evil diff=evil' >.git/info/attributes
	blob=$(echo staged | git hash-object -w --stdin)
	git -c core.fsmonitor=false -c core.hooksPath=/dev/null update-index --cacheinfo "100644,$blob,a"
	rm -f "$T/ran"
	git-checkpoint save -q
	expect_eq staged "$(meta 'cat-file -p' "git/blobs/$blob")"
	expect_missing "$T/ran"
}

test_staged_contents_count_towards_the_budget() {
	make_project
	git-checkpoint save -q
	head -c 3000000 /dev/urandom >big
	git add big
	rm big
	expect_exit 128 env GIT_CHECKPOINT_MAX_SIZE=1m git-checkpoint save 2>"$T/err"
	expect_grep maxSize "$T/err"
	expect_eq 1 "$(checkpoints)"
	git-checkpoint verify -q
	GIT_CHECKPOINT_MAX_SIZE=10m git-checkpoint save -q
	expect_eq 2 "$(checkpoints)"
}

# Objects that a partial clone, or a broken repository, does not have.
test_staged_contents_that_are_missing_are_named() {
	make_project
	echo lost >a
	git add a
	id=$(git rev-parse :a)
	rm -f ".git/objects/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)"
	echo 'something else' >a
	git-checkpoint save >"$T/out" 2>"$T/err"
	expect_grep '^Saved ' "$T/out"
	expect_grep "staged contents of 'a' are not in it: the repository does not have them" "$T/err"
	test "$(shown .project.hash)" != null
}

test_every_kind_of_repository() {
	for kind in split sparse v4 linked reftable; do
		mkdir $kind
		cd $kind
		case $kind in
		reftable)
			git init -q --ref-format=reftable . 2>/dev/null || continue
			make_project --ref-format=reftable
			;;
		*) make_project ;;
		esac
		case $kind in
		split) git update-index --split-index ;;
		v4) git update-index --index-version 4 ;;
		sparse) git sparse-checkout init --cone --sparse-index ;;
		linked)
			git worktree add -q "$T/linked"
			cd "$T/linked"
			;;
		esac
		echo "staged $kind" >a
		git add a
		id=$(git rev-parse :a)
		rm a
		git-checkpoint save -q
		expect_eq "staged $kind" "$(meta 'cat-file -p' "git/blobs/$id")"
		git-checkpoint save >"$T/out"
		expect_grep '^Nothing changed' "$T/out"
		cd "$T/work"
	done
}

run_tests
