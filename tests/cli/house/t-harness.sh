#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests' own tools: a harness that cannot fail would let everything pass.

. "$(dirname "$0")/../../lib/harness.sh"

# A test file with the cases on stdin, in a tree that looks like this one; runs it.
run_file() {
	mkdir -p tests/cli/x tests/lib
	cp "$LIB_DIR"/*.sh "$LIB_DIR"/*.pl tests/lib/
	{
		echo '#!/bin/sh'
		echo '. "$(dirname "$0")/../../lib/harness.sh"'
		cat
		echo run_tests
	} >tests/cli/x/t-x.sh
	chmod +x tests/cli/x/t-x.sh
	TEST_FAILURES='' ./tests/cli/x/t-x.sh "$@"
}

test_results_are_reported_in_order() {
	expect_exit 1 run_file >out 2>said <<-'END'
		test_b_passes() { true; }
		test_a_fails() { echo "said before"; false; echo "not reached"; }
		test_c_is_skipped() { skip 'no moon'; }
		test_d_passes() { true; }
	END
	grep '^ok\|^not\|^1\.\.' out >results
	cat >expected <<-'END'
		ok 1 - b passes
		not ok 2 - a fails
		ok 3 - c is skipped # SKIP no moon
		ok 4 - d passes
		1..4
	END
	expect_same expected results
	expect_grep '^#   said before' said
	expect_no_grep '^#   not reached' said
	expect_grep '^# .*+ false' said
}

test_prove_notices_a_failing_case() {
	require prove
	expect_exit 1 run_file >/dev/null <<-'END'
		test_fails() { false; }
	END
	expect_exit 1 prove -e sh tests/cli/x/t-x.sh >out 2>&1
	run_file >/dev/null <<-'END'
		test_passes() { true; }
	END
	prove -e sh tests/cli/x/t-x.sh >out 2>&1
}

test_every_expectation_can_fail() {
	expect_exit 1 run_file >out <<-'END'
		test_1() { expect_exit 0 false; }
		test_2() { expect_exit 1 true; }
		test_3() { expect_eq a b; }
		test_4() { echo a >a; echo b >b; expect_same a b; }
		test_5() { echo a >a; expect_grep b a; }
		test_6() { echo a >a; expect_no_grep a a; }
		test_7() { expect_exists nothing; }
		test_8() { ln -s nowhere a; expect_missing a; }
		test_9() { echo '{' >a; json .x a; }
		test_10() { fail 'on purpose'; }
		test_11() { expect_exit 3 sh -c 'exit 4' >hidden 2>&1; }
	END
	expect_eq 11 "$(grep -c '^not ok' out)" 'failures'
}

test_expectations_that_hold_pass() {
	expect_exit 0 true
	expect_exit 3 sh -c 'exit 3'
	expect_eq 'a b' 'a b'
	echo '{"a":"x y","b":false,"c":null,"d":[1,2]}' >a
	expect_eq 'x y' "$(json .a a)"
	expect_eq false "$(json .b a)"
	expect_eq null "$(json .c a)"
	expect_eq 2 "$(json '.d | length' a)"
	expect_same a a
	expect_grep 'x y' a
	expect_no_grep nothing a
	expect_exists a
	expect_missing b
}

test_only_the_cases_asked_for_run() {
	run_file apple >out <<-'END'
		test_apple_pie() { true; }
		test_plum_cake() { false; }
	END
	expect_grep '^1\.\.1$' out
}

# Whatever the caller has in the environment, and whatever is installed.
test_the_environment_is_made_from_scratch() {
	mkdir bin
	printf '#!/bin/sh\necho decoy\n' >bin/git-checkpoint
	chmod +x bin/git-checkpoint
	TEST_HERMETIC='' PATH=$PWD/bin:$PATH GIT_DIR=/nowhere GIT_INDEX_FILE=/nowhere ODD='a b' LANG=/nowhere \
		GIT_CHECKPOINT_HOME=/nowhere XDG_STATE_HOME=/nowhere HOME=/nowhere LD_PRELOAD='' PERL5LIB=/nowhere \
		run_file >out <<-'END'
		test_nothing_is_left() {
			test -z "${ODD:-}"
			test "$(command -v git-checkpoint)" = "$BUILD_DIR/git-checkpoint"
			PATH=$TOOLS
			! command -v git-checkpoint
			env | grep nowhere && exit 1
			test -z "$(env | grep ^GIT_ | grep -v '^GIT_CONFIG_\(GLOBAL\|NOSYSTEM\)=')"
			test "$HOME" = "$T/home"
			test "$PWD" = "$T/work"
			test "$(git config user.name)" = 'A U Thor'
			test "$(git config --list --show-origin | grep -vc "^file:$GIT_CONFIG_GLOBAL")" = 0
		}
	END
}

test_scratch_directories_are_removed() {
	TMPDIR=$PWD/scratch
	mkdir scratch
	run_file >out <<-'END'
		test_locks_up() { mkdir -p a/b; touch a/b/c; chmod 0 a/b; chmod 0 a; }
	END
	expect_eq '' "$(ls -A scratch)" 'left in TMPDIR'
}

test_fingerprints_see_every_kind_of_change() {
	mkdir -p tree/dir tree/empty tree/.git
	echo one >tree/dir/file
	ln -s target tree/link
	touch "tree/new
line"
	fingerprint tree >before
	expect_eq 5 "$(wc -l <before)" 'entries'
	for change in 'echo two >tree/dir/file' 'chmod 600 tree/dir/file' 'chmod 700 tree/empty' \
		'rmdir tree/empty' 'ln -sfn other tree/link' 'rm tree/link; touch tree/link' \
		'touch tree/more' 'mv tree/dir tree/dir2'; do
		rm -rf saved
		cp -a tree saved
		eval "$change"
		fingerprint tree >after
		expect_exit 1 cmp -s before after
		rm -rf tree
		mv saved tree
	done
	fingerprint tree >after
	expect_same before after
	# .git is left out, unless asked for, and then a touch is seen
	touch tree/.git/HEAD
	fingerprint tree >after
	expect_same before after
	fingerprint_raw tree >before
	touch -d '2001-01-01' tree/.git/HEAD
	fingerprint_raw tree >after
	expect_exit 1 cmp -s before after
}

test_store_dir_is_the_documented_place() {
	XDG_STATE_HOME=/s
	mkdir x
	key=$(printf %s "$T/work/x" | sha256sum | cut -c1-16)
	expect_eq "/s/git-checkpoint/$key" "$(store_dir x)"
	GIT_CHECKPOINT_HOME=/h
	expect_eq "/h/$key" "$(cd x && store_dir)"
}

test_trees_are_made_from_their_seed() {
	make_tree 1 60 a
	make_tree 1 60 b
	make_tree 2 60 c
	fingerprint a >a.fp
	fingerprint b >b.fp
	fingerprint c >c.fp
	expect_same a.fp b.fp
	expect_exit 1 cmp -s a.fp c.fp
	damage_tree 3 a
	fingerprint a >a2.fp
	expect_exit 1 cmp -s a.fp a2.fp
	damage_tree 3 b
	fingerprint b >b2.fp
	expect_same a2.fp b2.fp
}

test_damage_stays_in_the_tree_and_out_of_git() {
	git init -q a
	make_tree 1 60 a
	mkdir a/nested
	git init -q a/nested
	echo keep >outside
	fingerprint_raw a/.git >git.before
	fingerprint_raw a/nested/.git >nested.before
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		damage_tree $seed a
	done
	fingerprint_raw a/.git >git.after
	expect_same git.before git.after
	# a directory with a .git may have moved, but the .git goes along
	find a -mindepth 2 -name .git >found
	expect_eq 1 "$(wc -l <found)" 'nested repositories'
	fingerprint_raw "$(cat found)" >nested.after
	expect_same nested.before nested.after
	expect_eq 'git.after git.before nested.after nested.before outside' \
		"$(ls -d git.* nested.* outside | tr '\n' ' ' | sed 's/ $//')"
}

test_nobody_cannot_read_what_is_closed() {
	echo secret >closed
	chmod 0 closed
	give_to_nobody .
	expect_exit 1 as_nobody cat closed
	as_nobody touch mine "$HOME/mine"
}

run_tests
