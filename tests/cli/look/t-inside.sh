#!/bin/sh
# SPDX-License-Identifier: MIT
# A path in a checkpoint: <checkpoint>:<path>

. "$(dirname "$0")/../../lib/harness.sh"

make_two() {
	mkdir -p src/deep
	printf 'one\0\n\r\n' >src/a.c
	ln -s nowhere src/link
	echo top >a.c
	echo odd >'a:b'
	: >src/empty
	git checkpoint save -q --step 3 --name good
	cp src/a.c "$T/before"
	echo two >src/a.c
	git checkpoint save -q
}

test_show_prints_the_bytes() {
	make_two
	for name in @~1 step:3 good "$(git checkpoint show --json @~1 | jq -r .id)"; do
		git checkpoint show "$name:src/a.c" >"$T/out"
		cmp "$T/before" "$T/out"
	done
	expect_eq two "$(git checkpoint show @:src/a.c)"
	expect_eq two "$(git checkpoint show '@{now}:src/a.c')"
	git checkpoint show @:src/empty >"$T/out"
	expect_eq 0 "$(wc -c <"$T/out")"
	expect_eq nowhere "$(git checkpoint show @:src/link)"
	expect_eq odd "$(git checkpoint show @:a:b)"
	expect_eq '' "$(git checkpoint show -q @:a.c)"
	# it need not be there any more
	rm -r src
	git checkpoint show good:src/a.c >"$T/out"
	cmp "$T/before" "$T/out"
}

test_paths_are_from_the_top_or_from_here() {
	make_two
	cd src
	expect_eq top "$(git checkpoint show @:a.c)"
	expect_eq two "$(git checkpoint show @:./a.c)"
	expect_eq top "$(git checkpoint show @:../a.c)"
	cd deep
	expect_eq two "$(git checkpoint show @:../a.c)"
	cd ..
	expect_exit 128 git checkpoint show @~1:empty 2>"$T/err"
	expect_grep "'empty' is not in checkpoint 'chk_.*', but 'src/empty' is: did you mean '@~1:./empty'?" "$T/err"
	for path in nothing /empty ./nothing; do
		expect_exit 128 git checkpoint show "@:$path" 2>"$T/err"
		expect_no_grep 'did you mean' "$T/err"
	done
}

test_directories_are_listed() {
	make_two
	expect_eq 'a.c deep/ empty link ' "$(git checkpoint show @:src | tr '\n' ' ')"
	expect_eq 'a.c deep/ empty link ' "$(git checkpoint show @:src/ | tr '\n' ' ')"
	expect_eq 'a.c a:b src/ ' "$(git checkpoint show @: | tr '\n' ' ')"
}

test_what_is_not_there() {
	make_two
	echo new >new
	for path in new src/b src/a.c/x src/../a.c /a.c ../a.c .git; do
		expect_exit 128 git checkpoint show "@:$path" >"$T/out" 2>"$T/err"
		expect_eq '' "$(cat "$T/out")"
		expect_grep '^fatal: ' "$T/err"
	done
	expect_exit 128 git checkpoint show nobody:a.c 2>"$T/err"
	expect_grep "no checkpoint named 'nobody'" "$T/err"
	expect_exit 128 git checkpoint show step:9:a.c 2>"$T/err"
	for name in HEAD HEAD~1 'HEAD^' HEAD:a.c; do
		expect_exit 128 git checkpoint show "$name" 2>"$T/err"
		expect_grep "commit of the project; the newest checkpoint is '@'" "$T/err"
	done
	expect_exit 128 git checkpoint diff @~1..@ 2>"$T/err"
	expect_grep 'checkpoints are named one by one' "$T/err"
	expect_exit 128 git checkpoint show HEADING 2>"$T/err"
	expect_grep "no checkpoint named 'HEADING'; see" "$T/err"
	for option in --json --stat --patch --files --hashes; do
		expect_exit 129 git checkpoint show $option @:a.c >"$T/out" 2>"$T/err"
	done
}

test_diff_of_a_path() {
	make_two
	echo three >src/a.c
	echo changed >a.c
	expect_eq 'M	src/a.c' "$(git checkpoint diff --name-status @:src/a.c src/a.c)"
	expect_eq 'M	src/a.c' "$(git checkpoint diff --name-status @:src/a.c)"
	expect_eq 'M	src/a.c' "$(git checkpoint diff --name-status good:src/a.c @:src/a.c)"
	expect_eq '' "$(git checkpoint diff --name-status good:a.c @:a.c)"
	git checkpoint diff @:src/a.c src/a.c >"$T/out"
	expect_grep '^-two$' "$T/out"
	expect_grep '^+three$' "$T/out"
	expect_no_grep changed "$T/out"
	(cd src && git checkpoint diff --quiet @:./a.c a.c) && fail 'no difference'
	expect_exit 128 git checkpoint diff @:src/a.c a.c 2>"$T/err"
	expect_grep 'different paths' "$T/err"
	expect_exit 128 git checkpoint diff @:nothing 2>"$T/err"
	expect_grep "'nothing' is not in checkpoint" "$T/err"
	# a file whose name has a colon is still one
	echo more >'a:b'
	expect_eq 'M	a:b' "$(git checkpoint diff --name-status a:b)"
}

run_tests
