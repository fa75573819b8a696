#!/bin/sh
# SPDX-License-Identifier: MIT
# Titles: what was about to be done, in lists and in JSON, beside a reason that stays short.

. "$(dirname "$0")/../../lib/harness.sh"

# Branches main and feature, apart from each other; on feature.
two_branches() {
	git init -q
	echo 1 >a
	git add a
	git commit -qm one
	git checkout -qb feature
	echo 2 >b
	git add b
	git commit -qm two
	git checkout -q main
	echo 3 >c
	git add c
	git commit -qm three
	git checkout -q feature
}

# told <id or @> : "<reason>|<title>"
told() {
	git-checkpoint show --json "$1" | jq -r '"\(.reason)|\(.title)"'
}

short() {
	git rev-parse --short=7 "$1"
}

test_a_hook_names_the_command_line_and_the_branch() {
	two_branches
	git-checkpoint hooks install -q --events rebase,merge >/dev/null
	echo x >u
	commit=$(short HEAD)
	git rebase -q main 2>"$T/err"
	expect_eq "pre-rebase|before: git rebase -q main (feature at $commit)" "$(told @)"
	git-checkpoint list >"$T/out"
	expect_grep " before: git rebase -q main (feature at $commit)\$" "$T/out"
	# scripts find it by the reason, people by what they see
	expect_eq 1 "$(git-checkpoint list --grep pre-rebase | wc -l)"
	expect_eq 1 "$(git-checkpoint list --grep 'git rebase -q' | wc -l)"
	expect_eq 0 "$(git-checkpoint list --grep 'git merge' | wc -l)"
	git-checkpoint show @ >"$T/out"
	expect_grep "^    before: git rebase -q main (feature at $commit)\$" "$T/out"
	expect_grep '^    pre-rebase$' "$T/out"
	# the other ways to see it
	expect_eq "before: git rebase -q main (feature at $commit)" \
		"$(git-checkpoint status --json | jq -r .newest.title)"
	expect_eq "before: git rebase -q main (feature at $commit)" \
		"$(git-checkpoint list --json | jq -r '.checkpoints[0].title')"
}

test_the_guard_names_what_was_typed() {
	two_branches
	git config alias.back 'reset --hard'
	git-checkpoint hooks install -q --guard --no-ref-transaction >/dev/null
	echo x >>a
	commit=$(short HEAD)
	git -c http.extraHeader='Authorization: Basic abc' back -q 2>"$T/err"
	expect_eq "pre-reset|before: git back -q (feature at $commit)" "$(told @)"
	echo 'it'"'"'s' >>a
	git stash push -q -m "it's a
stash" 2>"$T/err"
	expect_eq "pre-stash|before: git stash push -q -m 'it'\\''s a stash' (feature at $commit)" "$(told @)"
	git checkout -q --detach main
	echo y >>a
	git checkout -q -f main 2>"$T/err"
	expect_eq "pre-checkout|before: git checkout -q -f main (detached at $(short main))" "$(told @)"
}

test_run_names_the_command() {
	echo 1 >a
	git-checkpoint run -q -- sh -c 'echo 2 >a; : PASSWORD=hush' x
	expect_eq "pre-run|before: sh -c 'echo 2 >a; : PASSWORD=***' x" "$(told @)"
	# not to be found in the store either
	git --git-dir="$(store_dir)" log --all --format=%B >"$T/log"
	expect_no_grep hush "$T/log"
	git-checkpoint run -q -m 'my words' -- sh -c 'echo 3 >a'
	expect_eq 'my words|my words' "$(told @)"
	git-checkpoint run -q -- sh -c "echo 4 >a; : $(seq -s ' ' 200)"
	title=$(git-checkpoint show --json @ | jq -r .title)
	test "$(printf %s "$title" | wc -c)" -le 170 || fail "too long: $title"
	expect_eq 1 "$(printf %s "$title" | grep -c '…$')"
}

test_safety_checkpoints_name_what_was_restored() {
	echo 1 >a
	git-checkpoint save -q -m first
	id=$(git-checkpoint list | cut -d' ' -f1)
	echo 2 >a
	git-checkpoint restore -q --yes @
	git-checkpoint list >"$T/out"
	expect_grep " before: restoring first\$" "$T/out"
	expect_eq "pre-restore-safety|before: restoring first" "$(told "$(head -n 1 "$T/out" | cut -d' ' -f1)")"
	echo 3 >b
	git-checkpoint save -q --step 2 -m 'bar: globals'
	echo 4 >a
	git-checkpoint restore -q --yes @ a
	git-checkpoint undo -q --yes
	git-checkpoint restore -q --yes "$id"
	git-checkpoint undo -q --yes
	git-checkpoint revert -q --yes @
	git-checkpoint list | sed 's/.* before: \(.*\)/\1/;t;d' >"$T/out"
	printf '%s\n' 'taking back step 2 (bar: globals)' undo 'restoring first' undo \
		'restoring parts of step 2 (bar: globals)' 'restoring first' >"$T/expected"
	expect_same "$T/expected" "$T/out"
	# the words that scripts know are nowhere
	git-checkpoint list >"$T/out"
	git-checkpoint log >>"$T/out"
	git-checkpoint status >>"$T/out"
	expect_no_grep 'pre-restore-safety' "$T/out"
}

test_an_agent_is_named_if_nothing_more_is_known() {
	echo 1 >a
	git-checkpoint save -q --source codex --automatic -m pre-tool
	expect_eq 'pre-tool|before: a tool of codex' "$(told @)"
}

test_no_message() {
	echo 1 >a
	git-checkpoint save --json >"$T/saved"
	expect_eq 'manual|(no message)' "$(json '.checkpoint | "\(.reason)|\(.title)"' "$T/saved")"
	git-checkpoint list >"$T/out"
	expect_grep ' (no message)$' "$T/out"
	git-checkpoint status >"$T/out"
	expect_grep ' (no message)$' "$T/out"
	git-checkpoint show @ >"$T/out"
	expect_grep '^    (no message)$' "$T/out"
	expect_no_grep '^ *manual$' "$T/out"
	echo 2 >a
	git-checkpoint save -q -m 'several
lines'
	expect_eq "several
lines|several" "$(told @)"
	git-checkpoint show @ >"$T/out"
	expect_eq 1 "$(grep -c '^    several$' "$T/out")"
	expect_grep '^    lines$' "$T/out"
}

test_control_characters_never_get_there() {
	echo 1 >a
	git-checkpoint run -q -- sh -c "$(printf ': \033[31m\a; echo 2 >a')"
	git-checkpoint list --json >"$T/out"
	jq -e '.checkpoints[0].title | test("[\u0000-\u001f]") | not' "$T/out"
	git-checkpoint list >"$T/out"
	expect_no_grep "$(printf '\033')" "$T/out"
}

run_tests
