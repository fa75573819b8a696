#!/bin/sh
# SPDX-License-Identifier: MIT
# Paths as git takes them: patterns, exclusions, magic.

. "$(dirname "$0")/../../lib/harness.sh"

# edited <seed>: text files, saved, edited and saved again; $old and $new are the commits
edited() {
	"$LIB_DIR/textual.pl" make "$1"
	git-checkpoint save -q -m old
	"$LIB_DIR/textual.pl" edit "$1"
	find . -mindepth 1 -type d -empty -delete
	git-checkpoint save -q -m new
	old=$(git-checkpoint show --json @~1 | jq -r .commit)
	new=$(git-checkpoint show --json @ | jq -r .commit)
}

# as_git <directory> <seed> <n>: so many random lists of pathspecs, typed in that directory
as_git() {
	store=$(store_dir)
	top=$(pwd -P)
	IFS='	'
	matched=0
	"$LIB_DIR/pathspecs.pl" "$2" "$3" >"$T/specs"
	while read -r specs; do
		set -f
		# shellcheck disable=SC2086
		set -- "$1" $specs
		set +f
		dir=$1
		shift
		# where git takes none of it, neither do we
		ours=0 theirs=0
		(cd "$dir" && git --git-dir="$store" --work-tree="$top" diff --no-renames \
			--name-status "$old" "$new" -- "$@") >"$T/expected" 2>"$T/git.err" || theirs=$?
		(cd "$dir" && git-checkpoint diff --name-status @~1 @ -- "$@") >"$T/actual" 2>"$T/err" ||
			ours=$?
		expect_eq "$theirs" "$ours" "exit status of $*, in $dir, $(cat "$T/err")"
		diff -u "$T/expected" "$T/actual" || fail "not as git: $* in $dir"
		test ! -s "$T/actual" || matched=$((matched + 1))
		set -- "$dir"
	done <"$T/specs"
	unset IFS
	test "$matched" -gt 3
}

test_random_pathspecs_mean_what_they_mean_to_git() {
	edited "$TEST_SEED"
	count=${CKPT_TEST_ROUNDS:-60}
	test "$count" != all || count=2000
	as_git . "$TEST_SEED" "$count"
	mkdir -p src/lib
	export IN_SUBDIRECTORY=1
	as_git src $((TEST_SEED + 1)) "$count"
	as_git src/lib $((TEST_SEED + 2)) "$count"
}

test_variables_of_git_count() {
	edited "$TEST_SEED"
	count=${CKPT_TEST_ROUNDS:-15}
	test "$count" != all || count=300
	for variable in GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS; do
		(
			export "$variable=1"
			"$LIB_DIR/pathspecs.pl" "$TEST_SEED" "$count" | sed 's/\t.*//' >"$T/specs"
			while read -r spec; do
				theirs=0 ours=0
				git --git-dir="$(store_dir)" --work-tree=. diff --no-renames \
					--name-status "$old" "$new" -- "$spec" >"$T/expected" 2>/dev/null ||
					theirs=$?
				git-checkpoint diff --name-status @~1 @ -- "$spec" >"$T/actual" 2>"$T/err" ||
					ours=$?
				expect_eq "$theirs" "$ours" "$variable=1, exit status of $spec: $(cat "$T/err")"
				diff -u "$T/expected" "$T/actual" || fail "not as git with $variable: $spec"
			done <"$T/specs"
		)
	done
	git --literal-pathspecs checkpoint diff --name-only @~1 @ -- '*.c' >"$T/out"
	expect_eq '' "$(cat "$T/out")"
}

# ---- diff and show ----

small() {
	mkdir -p src docs
	for file in a.c b.h src/c.c src/d.h docs/e.txt docs/f.c; do
		echo 1 >$file
	done
	git-checkpoint save -q
	for file in a.c b.h src/c.c src/d.h docs/e.txt docs/f.c; do
		echo 2 >$file
	done
	echo 1 >src/new.c
}

names() {
	git-checkpoint diff --name-only "$@" | tr '\n' ' '
}

test_the_worktree_with_patterns() {
	small
	expect_eq 'a.c docs/f.c src/c.c src/new.c ' "$(names @ -- '*.c')"
	expect_eq 'a.c b.h src/c.c src/d.h src/new.c ' "$(names @ -- ':!docs')"
	expect_eq 'a.c src/c.c src/new.c ' "$(names -- '*.c' ':!docs')"
	expect_eq 'a.c ' "$(names -- ':(glob)*.c')"
	expect_eq 'src/c.c ' "$(names -- ':(icase)SRC/C.*')"
	cd src
	expect_eq 'src/c.c src/new.c ' "$(names -- '*.c')"
	expect_eq 'a.c docs/f.c src/c.c src/new.c ' "$(names -- ':/*.c')"
	expect_eq 'docs/f.c ' "$(names -- '../docs/*.c')"
	expect_eq 'a.c b.h docs/e.txt docs/f.c src/d.h ' "$(names -- ':!*.c')"
	expect_exit 128 git-checkpoint diff -- '../../*.c' 2>"$T/err"
	expect_grep 'outside' "$T/err"
}

test_a_pattern_needs_no_dashes() {
	small
	expect_eq 'a.c docs/f.c src/c.c src/new.c ' "$(names @ '*.c')"
	expect_eq 'a.c docs/f.c src/c.c src/new.c ' "$(names '*.c')"
	expect_eq 'docs/e.txt docs/f.c ' "$(names ':/docs')"
	git-checkpoint save -q
	expect_eq 'src/c.c src/new.c ' "$(names @~1 @ 'src/*.c')"
	expect_exit 128 git-checkpoint diff @ nosuch 2>"$T/err"
	expect_grep "no checkpoint named 'nosuch'" "$T/err"
	expect_exit 128 git-checkpoint diff @ a.c nosuch 2>"$T/err"
	expect_grep 'neither a checkpoint nor a path' "$T/err"
	expect_exit 128 git-checkpoint diff '@:a*' 2>"$T/err"
}

test_magic_that_is_not_supported_is_named() {
	small
	expect_exit 128 git-checkpoint diff -- ':(attr:x)a.c' 2>"$T/err"
	expect_grep "'attr:x' in the pathspec ':(attr:x)a.c' is not supported" "$T/err"
	expect_exit 128 git-checkpoint diff -- ':(icase' 2>"$T/err"
	expect_grep "lacks a ')'" "$T/err"
	expect_exit 128 git-checkpoint restore -y @ -- ':(glob,literal)a' 2>"$T/err"
	expect_grep "both 'literal' and 'glob'" "$T/err"
	expect_eq 2 "$(cat a.c)"
}

test_show_with_paths() {
	small
	git-checkpoint save -q
	git-checkpoint show --name-only @ -- '*.c' ':!docs' >"$T/out"
	expect_eq 'a.c src/c.c src/new.c ' "$(tail -n 3 "$T/out" | tr '\n' ' ')"
	expect_no_grep 'b\.h' "$T/out"
	# a path alone asks for the patch
	git-checkpoint show @ src/d.h >"$T/out"
	expect_grep '^diff --git a/src/d.h b/src/d.h' "$T/out"
	expect_no_grep 'a\.c' "$T/out"
	expect_eq 'src/c.c src/new.c ' "$(git-checkpoint show --files @ 'src/*.c' | tr '\n' ' ')"
	git-checkpoint show --files --json @ -- src ':!*.c' >"$T/out"
	expect_eq '["src/d.h"]' "$(jq -c '[.files[].file]' "$T/out")"
	expect_eq '["src/d.h"]' "$(jq -c '[.changed_files[].file]' "$T/out")"
	expect_exit 128 git-checkpoint show @ @~1 2>"$T/err"
	expect_grep "path '@~1' is neither in checkpoint 'chk_.*' nor in the one before" "$T/err"
	expect_exit 129 git-checkpoint show --hashes @ src 2>"$T/err"
	expect_exit 129 git-checkpoint show @:src/c.c src 2>"$T/err"
	# one that went since
	rm src/d.h
	git-checkpoint save -q
	git-checkpoint show @ -- src/d.h >"$T/out"
	expect_grep '^deleted file' "$T/out"
}

# ---- restore ----

test_restore_what_matches() {
	small
	git-checkpoint restore -q --yes @ -- '*.c' ':!docs'
	expect_eq '1 2 1 2 2 2' "$(cat a.c b.h src/c.c src/d.h docs/e.txt docs/f.c | tr '\n' ' ' | sed 's/ $//')"
	# it is the state of then: what was created since and matches, goes
	expect_missing src/new.c
	git-checkpoint undo -q --yes
	expect_eq '2 2 2 2 2 2' "$(cat a.c b.h src/c.c src/d.h docs/e.txt docs/f.c | tr '\n' ' ' | sed 's/ $//')"
	expect_exists src/new.c
}

test_restore_all_but_what_is_excluded() {
	small
	git-checkpoint restore -q --yes @ -- ':!docs' ':!*.h'
	expect_eq '1 2 1 2 2 2' "$(cat a.c b.h src/c.c src/d.h docs/e.txt docs/f.c | tr '\n' ' ' | sed 's/ $//')"
	expect_missing src/new.c
}

test_restore_from_a_subdirectory() {
	small
	cd src
	git-checkpoint restore -q --yes @ -- '*.c'
	cd ..
	expect_eq '2 2 1 2 2 2' "$(cat a.c b.h src/c.c src/d.h docs/e.txt docs/f.c | tr '\n' ' ' | sed 's/ $//')"
	cd docs
	git-checkpoint restore -q --yes @ -- :/b.h
	expect_eq 1 "$(cat ../b.h)"
}

test_restore_what_matches_nothing_is_refused() {
	small
	fingerprint . >"$T/before"
	for spec in '*.nosuch' ':(icase)NOSUCH' ':(glob)*.txt' ':(literal)*.c'; do
		expect_exit 128 git-checkpoint restore --yes @ -- 'src/*.c' "$spec" 2>"$T/err"
		expect_grep 'fatal: .*\(nothing in the worktree or in checkpoint\|is neither in\)' "$T/err"
	done
	expect_exit 128 git-checkpoint restore --yes @ -- '*.nosuch' 2>"$T/err"
	expect_grep "matches '\*.nosuch'" "$T/err"
	expect_exit 128 git-checkpoint restore --yes @ -- 'src/*.c' ':!src' 2>"$T/err"
	expect_grep 'all paths are excluded' "$T/err"
	expect_exit 128 env GIT_LITERAL_PATHSPECS=1 git-checkpoint restore --yes @ -- '*.c' 2>"$T/err"
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
}

test_nothing_to_do_is_not_everything() {
	small
	echo 1 >b.h
	git-checkpoint restore --yes @ -- '?.h' >"$T/out" 2>&1
	expect_eq '2 1 2' "$(cat a.c b.h src/d.h | tr '\n' ' ' | sed 's/ $//')"
}

# A name that exists is that name, as it always was.
test_names_that_look_like_patterns() {
	mkdir pages
	for file in 'pages/[id].js' pages/i.js ':x' '*.c' a.c; do
		echo 1 >"$file"
	done
	git-checkpoint save -q
	for file in 'pages/[id].js' pages/i.js ':x' '*.c' a.c; do
		echo 2 >"$file"
	done
	expect_eq 'pages/[id].js ' "$(names -- 'pages/[id].js')"
	expect_eq ':x ' "$(names -- ':x')"
	git-checkpoint restore -q --yes @ -- 'pages/[id].js' ':x' '*.c'
	expect_eq '1 2 1 1 2' "$(cat 'pages/[id].js' pages/i.js ':x' '*.c' a.c | tr '\n' ' ' | sed 's/ $//')"
	# also if it is only in the checkpoint
	rm 'pages/[id].js' ':x'
	git-checkpoint restore -q --yes @ -- 'pages/[id].js'
	expect_eq '1 2' "$(cat 'pages/[id].js' pages/i.js | tr '\n' ' ' | sed 's/ $//')"
	git-checkpoint restore -q --yes @ -- ':(literal):x'
	expect_eq 1 "$(cat ':x')"
	# and as patterns, if that is what they are called
	git-checkpoint restore -q --yes @ -- ':(glob)*.c' ':(glob)pages/[id].js'
	expect_eq '1 1' "$(cat pages/i.js a.c | tr '\n' ' ' | sed 's/ $//')"
}

test_a_scope_limits_patterns() {
	small
	git-checkpoint save -q -m part src
	part=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	echo 3 >a.c
	echo 3 >src/c.c
	expect_eq 'src/c.c ' "$(names "$part" -- '*.c')"
	git-checkpoint restore -q --yes "$part" -- '*.c'
	expect_eq '3 2' "$(cat a.c src/c.c | tr '\n' ' ' | sed 's/ $//')"
}

run_tests
