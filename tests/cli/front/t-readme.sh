#!/bin/sh
# SPDX-License-Identifier: MIT
# What the README says is true.

. "$(dirname "$0")/../../lib/harness.sh"

README=$ROOT_DIR/README.md

names() {
	git-checkpoint --list-cmds | cut -f 1
}

# What differs from run to run: ids, hashes, times, sizes on disk, places.
same_for_all_runs() {
	perl -pe '
		s/chk_\d{8}_\d{6}_[0-9a-f]{6}/ID/g;
		s/--git [0-9a-f]{6}\b/--git SIX/g;
		s/\b[0-9a-f]{40}\b/COMMIT/g;
		s/\d+( second| minute|[smh])s? ago/AGO/g;
		s/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/TIME/g;
		s/^(Disk use:|Worktree:|Store:|Freed).*/$1/;
		s|(?<=[\x27 ])/\S*/(?=\w+[\x27\n])||g;
		s/ +/ /g' "$1"
}

# Blocks "```sh tour" as $T/tour/<n>.sh, and the "```text" after each as <n>.expected.
cut_tour() {
	mkdir "$T/tour"
	awk -v dir="$T/tour" '
		/^```sh tour$/ { file = dir "/" ++n ".sh"; printf "" >file; next }
		/^```text$/ && n { file = dir "/" n ".expected"; printf "" >file; next }
		/^```/ { file = ""; next }
		file { print >file }' "$README"
	expect_exists "$T/tour/1.sh" "$T/tour/1.expected"
}

test_the_tour_of_the_readme_is_real() {
	cut_tour
	n=1
	while test -e "$T/tour/$n.sh"; do
		# shellcheck source=/dev/null
		. "$T/tour/$n.sh" >"$T/tour/$n.actual" 2>&1
		same_for_all_runs "$T/tour/$n.expected" >"$T/expected"
		same_for_all_runs "$T/tour/$n.actual" >"$T/actual"
		expect_same "$T/expected" "$T/actual"
		n=$((n + 1))
	done
	test $n -gt 3 || fail 'the tour is too short'
}

test_the_picture_of_the_readme_is_real() {
	require tmux perl
	require_terminal
	for file in $(sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$README"); do
		expect_exists "$ROOT_DIR/$file"
	done
	expect_exists "$ROOT_DIR/$file"
	"$ROOT_DIR/tests/picture/picture.sh" "$T/now.svg"
	# an age may be longer than another
	for svg in "$ROOT_DIR/$file" "$T/now.svg"; do
		same_for_all_runs "$svg" | sed 's/textLength="[0-9.]*"//; s/x="[0-9.]*"//'
		echo
	done | awk -v RS='\n\n' -v dir="$T" '{ print >(dir "/" (NR == 1 ? "expected" : "actual")) }'
	expect_same "$T/expected" "$T/actual"
	expect_grep '</svg>' "$T/actual"
}

test_the_readme_names_targets_and_files_that_exist() {
	grep -o 'make [a-z-]*' "$README" | sed 's/make //' | sort -u | while read -r target; do
		case $target in
		'' | git | the | deps) continue ;;
		esac
		expect_grep "^$target:" "$ROOT_DIR/Makefile"
	done
	expect_exists "$ROOT_DIR/hooks/pre-rebase" "$ROOT_DIR/git-checkpoint.c" "$ROOT_DIR/LICENSE"
	# both commands of the set-up stand on lines of their own
	expect_grep '^S=.* && git checkpoint save -m .*$' "$README"
	expect_grep '^make deps && make check-all$' "$README"
}

test_every_command_is_in_the_readme() {
	sed -n '/^## Manual/,$s/^| \(`[^|]*`\) |.*/\1/p' "$README" | tr -d '`,' | tr ' ' '\n' |
		sort >actual
	names | sort >expected
	expect_same expected actual
	# and every page of formats
	for page in "$ROOT_DIR"/man/*.5; do
		page=$(basename "$page" .5)
		test "$page" = git-checkpoint-config || expect_grep "man $page" "$README"
	done
}

run_tests
