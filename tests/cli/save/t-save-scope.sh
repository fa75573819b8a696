#!/bin/sh
# SPDX-License-Identifier: MIT
# save <path>...: literal names, and only those below the worktree.

. "$(dirname "$0")/../../lib/harness.sh"

# scope <path>...: save and print the scope as JSON
scope() {
	git checkpoint save --json -- "$@" >"$T/saved.json"
	jq -c .checkpoint.scope.files "$T/saved.json"
}

# held: paths in the newest checkpoint
held() {
	git checkpoint show --files @ | tr '\n' ' '
}

new_tree() {
	mkdir -p d/sub other
	echo 1 >a
	echo 2 >d/b
	echo 3 >d/sub/c
	echo 4 >other/d
}

test_only_the_named_paths_are_captured() {
	new_tree
	expect_eq '["d"]' "$(scope d)"
	expect_eq 'd/b d/sub/c ' "$(held)"
	expect_eq '["a","other"]' "$(scope other a)"
	expect_eq 'a other/d ' "$(held)"
	expect_eq '["d/sub/c"]' "$(scope ./d/../d//sub/c)"
	expect_eq 'd/sub/c ' "$(held)"
	git --git-dir="$(store_dir)" fsck --strict
}

test_the_whole_is_a_dot() {
	new_tree
	expect_eq '["."]' "$(scope .)"
	expect_eq 'a d/b d/sub/c other/d ' "$(held)"
	cd d
	echo 5 >new
	expect_eq '["."]' "$(scope ..)"
	expect_eq '["."]' "$(scope "$PWD/.." sub)"
}

test_paths_are_relative_to_the_current_directory() {
	new_tree
	git init -q
	cd d
	expect_eq '["d/sub"]' "$(scope sub)"
	expect_eq '["a"]' "$(scope ../a)"
	expect_eq '["d"]' "$(scope .)"
	expect_eq '["other/d"]' "$(scope "$T/work/other/d")"
	ln -s "$T/work" "$T/alias"
	expect_eq '["other"]' "$(scope "$T/alias/other")"
}

test_nested_and_repeated_paths_are_named_once() {
	new_tree
	expect_eq '["d"]' "$(scope d/sub d d d/b)"
	expect_eq 'd/b d/sub/c ' "$(held)"
	mkdir d-e
	echo 1 >d-e/x
	expect_eq '["d","d-e"]' "$(scope d-e d/sub d)"
}

test_a_scope_is_counted_against_its_own_last_checkpoint() {
	new_tree
	git checkpoint save -q
	whole=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	scope d >/dev/null
	expect_eq true "$(json .checkpoint_created "$T/saved.json")"
	part=$(json .checkpoint.id "$T/saved.json")
	scope d >/dev/null
	expect_eq "false $part" "$(json '"\(.checkpoint_created) \(.checkpoint.id)"' "$T/saved.json")"
	# "@" is that part now: who saves all and goes back to "@" means all
	git checkpoint save --json >"$T/out"
	expect_grep "0 changed since $whole" "$T/out"
	whole=$(json .checkpoint.id "$T/out")
	echo x >a
	scope d >/dev/null
	expect_grep "0 changed since $part" "$T/saved.json"
	part=$(json .checkpoint.id "$T/saved.json")
	echo x >d/b
	scope d >/dev/null
	expect_grep "1 changed since $part" "$T/saved.json"
	git checkpoint save --json >"$T/out"
	expect_eq 2 "$(json .stats.changed "$T/out")"
	expect_grep "2 changed since $whole" "$T/out"
}

test_names_are_never_patterns() {
	mkdir 'd[ab]' da
	for name in '*' '?' 'd[ab]/x' 'da/x' ':(glob)x' ':/x' '!x' '-x' '\x' 'a b'; do
		mkdir -p "$(dirname "./$name")"
		echo 1 >"./$name"
	done
	for name in '*' '?' '-x' 'a b' '!x' '\x' ':(glob)x' ':' 'd[ab]'; do
		expect_eq "$(jq -nc --arg n "$name" '[$n]')" "$(scope "$name")"
	done
	echo 2 >'*'
	scope '*' >/dev/null
	expect_eq '* ' "$(held)"
	echo 2 >'d[ab]/x'
	scope 'd[ab]' >/dev/null
	expect_eq 'd[ab]/x ' "$(held)"
	expect_exit 128 git checkpoint save 'd*' 2>err
}

# As in `git stash save <message>`.
test_a_reason_in_the_place_of_a_path_is_told_where_it_belongs() {
	new_tree
	expect_exit 128 git checkpoint save 'before the refactoring' 2>err
	expect_grep "'before the refactoring': no such path; use -m to give a reason\$" err
}

test_an_odd_name_can_be_a_scope() {
	new_tree
	name=$(printf 'new\nline\377')
	echo 1 >"$name"
	expect_eq '["\"new\\nline\\377\""]' "$(scope "$name")"
	git checkpoint save --json -- "$name" >"$T/saved.json"
	expect_eq false "$(json .checkpoint_created "$T/saved.json")"
	git checkpoint list >"$T/out"
	expect_eq 1 "$(wc -l <"$T/out")" 'lines of list'
}

test_a_link_is_captured_and_not_followed() {
	new_tree
	ln -s d link
	ln -s nowhere dangling
	expect_eq '["dangling","link"]' "$(scope link dangling)"
	expect_eq 'dangling link ' "$(held)"
}

test_an_empty_directory_can_be_a_scope() {
	mkdir -p e/f
	expect_eq '["e"]' "$(scope e)"
	expect_eq 'e/f/ ' "$(held)"
}

test_ignored_is_captured_when_named_but_secrets_are_not() {
	git init -q
	printf '*.log\nout/\n' >.gitignore
	mkdir -p out node_modules/x
	echo 1 >a.log
	echo 1 >out/b
	echo 1 >node_modules/x/c
	echo 1 >.env
	scope a.log out node_modules >/dev/null
	expect_eq 'a.log node_modules/x/c out/b ' "$(held)"
	scope out/b >/dev/null
	expect_eq 'out/b ' "$(held)"
	scope a.log .env >/dev/null
	expect_eq '[{"file":".env","why":"sensitive"}]' "$(jq -c .skipped "$T/saved.json")"
	expect_eq 'a.log ' "$(held)"
	# nothing is left to save
	expect_exit 5 git checkpoint save -q .env
	expect_eq 'a.log ' "$(held)"
	git checkpoint save -q --include-sensitive .env
	expect_eq '.env ' "$(held)"
}

test_bad_paths_are_fatal_and_named() {
	new_tree
	git init -q
	git init -q d/nested
	ln -s d link
	ln -s "$T" out
	# <path> <word of the message>
	while read -r path word; do
		expect_exit 128 git checkpoint save -- "$path" >stdout 2>err
		expect_grep "^fatal: .*$word" err
		expect_eq '' "$(cat stdout)" 'stdout'
		expect_exit 128 git checkpoint save --json -- a "$path" >answer 2>err
		expect_eq 128 "$(json .error.code answer)"
	done <<-END
		nothing nothing
		d/nothing/x nothing
		a/x a/x
		.. outside
		../x outside
		/ outside
		/etc/passwd outside
		$T/work/../x outside
		.git \\.git
		.git/config \\.git
		d/nested/.git \\.git
		./d/../.git/HEAD \\.git
		link/b symbolic.link
		out/home symbolic.link
	END
	expect_exit 128 git checkpoint save '' 2>err
	rm -f stdout err answer
	expect_eq 0 "$(git checkpoint list --json | jq '.checkpoints | length')"
}

run_tests
