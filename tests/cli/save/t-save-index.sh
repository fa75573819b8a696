#!/bin/sh
# SPDX-License-Identifier: MIT
# What is both tracked and ignored: the project's index is read once, and only if it changed; what it
# said before is remembered only as long as that is right.

. "$(dirname "$0")/../../lib/harness.sh"

make_project() {
	git init -q -b main
	echo 1 >a
	git add a
	git commit -q -m one
}

# index_reads: how many times a save opens the project's index
index_reads() {
	strace -f -e trace=openat,open -o "$T/trace" git-checkpoint save -q
	grep -c '/\.git/index"' "$T/trace" || :
}

test_the_index_is_read_once_and_only_if_it_changed() {
	require strace
	strace -o "$T/trace" true 2>/dev/null || skip 'strace cannot trace here'
	make_project
	mkdir left
	echo ignored >left/file
	echo ignored >ignored.o
	echo secret >.env
	printf '%s\n' left/ '*.o' >>.git/info/exclude
	echo tracked >tracked.o
	git add -f tracked.o
	git commit -q -m tracked
	git-checkpoint save -q
	sleep 0.1
	git-checkpoint save -q
	echo 2 >>a
	expect_eq 0 "$(index_reads)" 'nothing was staged'
	git add a
	sleep 0.1
	expect_eq 1 "$(index_reads)" 'something was staged'
	# who knows whether this one is tracked
	echo ignored >new.o
	test "$(index_reads)" -le 1
	git-checkpoint show @ --json | jq -e 'any(.changed_files[]; .file == "new.o") | not'
	# a tracked file that comes back to where everything is ignored
	git add -f left/file
	git commit -q -m file
	rm left/file
	git-checkpoint save -q
	sleep 0.1
	git-checkpoint save -q
	echo back >left/file
	git-checkpoint save -q
	expect_eq back "$(git-checkpoint show @:left/file)"
	rm tracked.o
	git-checkpoint save -q
	sleep 0.1
	git-checkpoint save -q
	echo back >tracked.o
	git-checkpoint save -q
	expect_eq back "$(git-checkpoint show @:tracked.o)"
}

# What was left out because the index could not be read is captured once it can.
test_an_index_that_could_not_be_read_is_not_believed_later() {
	make_project
	mkdir sub
	echo 1 >sub/f
	echo 1 >sub/g
	echo f >sub/.gitignore
	git add -f sub
	git commit -q -m sub
	git update-index --split-index
	mkdir "$T/away"
	mv .git/sharedindex.* "$T/away"
	sleep 0.1
	git-checkpoint save >"$T/out" 2>"$T/err" || :
	expect_grep 'both tracked and ignored are left out' "$T/err"
	echo 2 >sub/g
	git-checkpoint save >"$T/out" 2>"$T/err" || :
	expect_grep 'both tracked and ignored are left out' "$T/err"
	mv "$T/away"/* .git/
	echo 3 >sub/g
	git-checkpoint save -q
	expect_eq 1 "$(git-checkpoint show @:sub/f)"
}

# as_afresh: the newest checkpoint is what a store that knows nothing would have
as_afresh() {
	git-checkpoint save -q
	git-checkpoint show @ --json | jq -r .hash >"$T/here"
	GIT_CHECKPOINT_HOME=$T/afresh git-checkpoint save -q
	GIT_CHECKPOINT_HOME=$T/afresh git-checkpoint show @ --json | jq -r .hash >"$T/there"
	rm -rf "$T/afresh"
	cmp "$T/here" "$T/there" || fail "$1"
}

test_rules_that_move_mean_something_else() {
	make_project
	mkdir -p sub/deep
	echo 1 >sub/deep/f
	echo 1 >sub/deep/g.o
	printf '/deep/f\n*.o\n' >.gitignore
	git add .gitignore
	sleep 0.1
	as_afresh 'before'
	mv .gitignore sub/
	sleep 0.1
	as_afresh 'further in'
	mv sub/.gitignore .
	sleep 0.1
	as_afresh 'and back'
}

test_a_repository_that_is_taken_apart() {
	make_project
	echo '*.o' >.gitignore
	git init -q n
	echo '#x' >n/.git/info/exclude
	mkdir n/s
	touch n/s/a.o n/s/b.o
	git -C n add -f s/a.o
	sleep 0.1
	as_afresh 'before'
	mv n/.git/info/exclude n/.gitignore
	mv n/.git "$T/n.git"
	sleep 0.1
	as_afresh 'without its repository'
}

run_tests
