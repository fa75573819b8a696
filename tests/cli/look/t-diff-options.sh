#!/bin/sh
# SPDX-License-Identifier: MIT
# diff and show take the options of git diff, and answer as it does.

. "$(dirname "$0")/../../lib/harness.sh"

# edited <seed>: text files, saved, edited and saved again; $old and $new are the commits
edited() {
	"$LIB_DIR/textual.pl" make "$1"
	git-checkpoint save -q -m old
	"$LIB_DIR/textual.pl" edit "$1"
	find . -mindepth 1 -type d -empty -delete
	git-checkpoint diff --name-status >"$T/worktree"
	git-checkpoint save -q -m new
	old=$(git-checkpoint show --json @~1 | jq -r .commit)
	new=$(git-checkpoint show --json @ | jq -r .commit)
}

# Without abbreviated hashes, and the text after the line numbers.
essence() {
	sed -e '/^index /d' -e 's/^\(@@ [^@]* @@\).*/\1/'
}

# as_git <option>...: both print the same
as_git() {
	case " $* " in
	*' -M'*) renames= ;;
	*) renames=--no-renames ;;
	esac
	# shellcheck disable=SC2086
	git --git-dir="$(store_dir)" -c core.quotePath=false diff $renames "$@" "$old" "$new" |
		essence >"$T/expected"
	git-checkpoint diff "$@" @~1 @ | essence >"$T/actual"
	diff -u "$T/expected" "$T/actual" || fail "not as git: diff $*"
}

each_tree() {
	rounds=${CKPT_TEST_ROUNDS:-4}
	test "$rounds" != all || rounds=40
	round=0
	while test $round -lt "$rounds"; do
		mkdir "$T/work/$round"
		cd "$T/work/$round"
		edited $((TEST_SEED + round))
		"$@"
		round=$((round + 1))
	done
}

forms() {
	for form in --stat --numstat '--numstat -z' --shortstat --name-only '--name-only -z' \
		--name-status '--name-status -z' -p -U0 -U1 -U20; do
		# shellcheck disable=SC2086
		as_git $form
	done
	# the worktree was compared before it was saved
	git-checkpoint diff --name-status @~1 @ >"$T/actual"
	expect_same "$T/worktree" "$T/actual"
}

test_every_form_is_as_gits() {
	each_tree forms
}

white_space() {
	for ignored in -w -b --ignore-space-at-eol --ignore-blank-lines '-w --ignore-blank-lines'; do
		for form in -p --stat --numstat --shortstat -U0; do
			# shellcheck disable=SC2086
			as_git $ignored $form
		done
	done
}

test_white_space_is_ignored_as_git_ignores_it() {
	each_tree white_space
}

renames() {
	for similarity in -M -M90% -M3 -M100% -M1; do
		for form in --name-status '--name-status -z' --stat --numstat '--numstat -z' -p \
			--name-only --shortstat; do
			# shellcheck disable=SC2086
			as_git $similarity $form
		done
	done
	as_git -M -w --stat
	git-checkpoint diff -M --name-status @~1 @ >>"$T/all"
}

test_renames_are_found_as_git_finds_them() {
	each_tree renames
	# of all kinds
	expect_grep '^R100' "$T/all"
	expect_grep '^R0' "$T/all"
	expect_grep '^D' "$T/all"
}

test_a_rename_that_moves_between_directories_is_short() {
	mkdir -p a/x/c
	seq 30 >a/x/c/f
	seq 40 60 >top
	git-checkpoint save -q
	mkdir -p a/y/c
	mv a/x/c/f a/y/c/f
	rm -r a/x
	mv top a/top
	git-checkpoint save -q
	old=$(git-checkpoint show --json @~1 | jq -r .commit)
	new=$(git-checkpoint show --json @ | jq -r .commit)
	as_git -M --numstat
	expect_grep 'a/{x => y}/c/f' "$T/actual"
	expect_grep 'top => a/top' "$T/actual"
	git-checkpoint diff -M --json @~1 @ >"$T/out"
	expect_eq '{"file":"a/top","status":"R","from":"top","similarity":100}' \
		"$(jq -c '.changes[0]' "$T/out")"
}

test_renames_in_the_worktree() {
	seq 30 >a
	mkdir empty
	git-checkpoint save -q
	mv a b
	echo more >>b
	expect_eq "$(printf 'R094\ta\tb')" "$(git-checkpoint diff -M --name-status)"
	expect_eq "$(printf 'R094\ta\tb')" "$(git-checkpoint diff --find-renames=50% --name-status)"
	expect_eq 'A D ' "$(git-checkpoint diff -M99% --name-status | cut -f1 | sort | tr '\n' ' ')"
	expect_eq 'D A ' "$(git-checkpoint diff --name-status | cut -f1 | tr '\n' ' ')"
	git-checkpoint diff -M >"$T/patch"
	expect_grep '^rename from a$' "$T/patch"
	# and the patch works
	mkdir "$T/other"
	seq 30 >"$T/other/a"
	(cd "$T/other" && git apply "$T/patch" && cmp b "$T/work/b" && test ! -e a)
}

test_exit_code_and_quiet_know_what_is_ignored() {
	printf 'a b\n' >f
	git-checkpoint save -q
	expect_exit 0 git-checkpoint diff --exit-code
	printf 'a  b\n' >f
	expect_exit 1 git-checkpoint diff --exit-code >"$T/out"
	expect_grep '^+a  b' "$T/out"
	expect_exit 1 git-checkpoint diff --exit-code --stat >/dev/null
	expect_exit 1 git-checkpoint diff --quiet
	expect_exit 0 git-checkpoint diff --quiet -w
	expect_exit 0 git-checkpoint diff --exit-code -b >"$T/out"
	expect_eq '' "$(cat "$T/out")"
	expect_exit 1 git-checkpoint diff --exit-code --json >"$T/out"
	expect_eq f "$(json '.changes[0].file' "$T/out")"
	chmod 755 f
	expect_exit 1 git-checkpoint diff --quiet -w
}

test_show_takes_the_same_options() {
	edited "$TEST_SEED"
	for form in --stat --numstat --shortstat --name-only --name-status -p '-U1 -w' \
		'-M --name-status' '-p -b'; do
		# shellcheck disable=SC2086
		git-checkpoint diff $form @~1 @ >"$T/expected"
		# shellcheck disable=SC2086
		git-checkpoint show $form @ >"$T/all"
		lines=$(wc -l <"$T/expected")
		tail -n "$lines" "$T/all" >"$T/actual"
		expect_same "$T/expected" "$T/actual"
		test "$lines" -gt 0
	done
	git-checkpoint diff --name-only -z @~1 @ >"$T/expected"
	git-checkpoint show --name-only -z @ | tail -c "$(wc -c <"$T/expected")" >"$T/actual"
	cmp "$T/expected" "$T/actual"
	git-checkpoint show --json -M @ >"$T/out"
	git-checkpoint diff --json -M @~1 @ >"$T/expected"
	expect_eq "$(jq -c .changes "$T/expected")" "$(jq -c .changed_files "$T/out")"
}

test_values_that_make_no_sense() {
	git-checkpoint save -q
	for bad in -Mx --find-renames=50x -Ux -U-1 '-z --stat' -z '-M --no-renames' \
		'--name-only --stat'; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint diff $bad 2>"$T/err"
		expect_grep '^error: option' "$T/err"
	done
	expect_exit 129 git-checkpoint show -z @ 2>"$T/err"
	expect_grep "'--name-only'" "$T/err"
	git-checkpoint diff --no-renames
	git-checkpoint diff -M
}

run_tests
