#!/bin/sh
# SPDX-License-Identifier: MIT
# show: all forms.

. "$(dirname "$0")/../../lib/harness.sh"

test_text_names_everything() {
	git init -q
	echo 1 >a
	git add a
	git commit -qm first
	git-checkpoint save -q
	echo 2 >a
	git-checkpoint save -q -m 'the reason
its second line' --source me --step 4 --pin --expires 2999-01-01 --state key=value
	git-checkpoint show @ >"$T/out"
	id=$(git-checkpoint show --json @ | jq -r .id)
	base=$(git-checkpoint show --json @~1 | jq -r .id)
	expect_grep "^checkpoint $id \[pinned\]$" "$T/out"
	expect_grep "^Commit: *$(git --git-dir="$(store_dir)" rev-parse latest)$" "$T/out"
	expect_grep '^Date: *[0-9-]* [0-9:]* [+-][0-9]* (.* ago)$' "$T/out"
	expect_grep '^Source: *me$' "$T/out"
	expect_grep "^Files: *1, 2 bytes, 1 changed since $base$" "$T/out"
	expect_grep '^Step: *4$' "$T/out"
	expect_grep '^Expires: *2999-01-01 00:00:00 +0000$' "$T/out"
	expect_grep '^State: *sha256:' "$T/out"
	expect_grep "^Project: *on main at $(git rev-parse HEAD | cut -c1-12)$" "$T/out"
	expect_grep '^    the reason$' "$T/out"
	expect_grep '^    its second line$' "$T/out"
	expect_grep '^key = value$' "$T/out"
	expect_eq '' "$(git-checkpoint show -q @)"
}

test_json_is_what_list_says_and_more() {
	echo 1 >a
	git-checkpoint save -q
	echo 2 >b
	git-checkpoint save -q --state 'x=1
2' --state 'a/b=' --state 'ü=é'
	git-checkpoint show --json @ >"$T/out"
	git-checkpoint list --json -n 1 >"$T/list"
	jq -S '.checkpoints[0]' "$T/list" >"$T/expected"
	jq -S 'del(.changed_files, .skipped, .confidence, .state, .project, .warnings)' "$T/out" >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	jq -e '.changed_files == [{"file":"b","status":"A"}]' "$T/out"
	jq -e '.skipped == [] and .confidence == 1.0' "$T/out"
	jq -e '.state == {"x":"1\n2","a/b":"","ü":"é"}' "$T/out"
	jq -e '.project == {"head":null,"branch":null,"operation":null,"progress":null,"index":null,"refs":null,"hash":null}' "$T/out"
}

test_the_state_of_the_project_is_told() {
	git init -q
	git-checkpoint save --json -q >/dev/null
	git-checkpoint show --json @ >"$T/out"
	jq -e '.project.head == null' "$T/out"
	echo 1 >a
	git add a
	git commit -qm one
	git-checkpoint save -q
	git-checkpoint show --json @ >"$T/out"
	expect_eq "$(git rev-parse HEAD)" "$(json .project.head "$T/out")"
	expect_eq main "$(json .project.branch "$T/out")"
	expect_eq null "$(json .project.operation "$T/out")"
	git checkout -q --detach
	git-checkpoint save -q --allow-empty
	git-checkpoint show --json @ >"$T/out"
	expect_eq null "$(json .project.branch "$T/out")"
	git checkout -q -b side
	echo 2 >a
	git commit -qam two
	git checkout -q main
	echo 3 >a
	git commit -qam three
	git merge side >/dev/null || :
	git-checkpoint save -q
	git-checkpoint show --json @ >"$T/out"
	expect_eq merge "$(json .project.operation "$T/out")"
	git-checkpoint show @ >"$T/out"
	expect_grep '^Operation: *merge$' "$T/out"
}

test_skipped_paths_are_recorded() {
	echo 1 >a
	echo 1 >.env
	mkfifo pipe
	head -c 3000 /dev/zero >large
	expect_exit 3 env GIT_CHECKPOINT_MAX_FILE_SIZE=2k git-checkpoint save -q
	git-checkpoint show --json @ >"$T/out"
	jq -e '.skipped | sort_by(.file) == [{"file":".env","why":"sensitive"},
		{"file":"large","why":"oversize"},{"file":"pipe","why":"special"}]' "$T/out"
	jq -e '.confidence == 0.5' "$T/out"
	git-checkpoint show @ >"$T/out"
	expect_grep 'left out: large (oversize)' "$T/out"
	git-checkpoint list >"$T/out"
	expect_grep incomplete "$T/out"
}

test_files_lists_every_path() {
	make_tree 3 60
	mkdir -p void/inner
	expect_exit 0 git-checkpoint save -q --include-ignored --include-sensitive
	git-checkpoint show --files -z @ | tr '\0\n' '\n\1' | sort >"$T/actual"
	find . -mindepth 1 \( ! -type d -o -empty \) -printf '%P%y\0' |
		tr '\0\n' '\n\1' | sed 's/d$/\//; s/[^/]$//' | sort >"$T/expected"
	expect_same "$T/expected" "$T/actual"
}

test_files_are_quoted_as_git_does() {
	touch 'a b' "$(printf 'new\nline')" "$(printf 'bad\377')" 'quo"te'
	git-checkpoint save -q
	git-checkpoint show --files @ >"$T/actual"
	printf '%s\n' 'a b' '"bad\377"' '"new\nline"' '"quo\"te"' >"$T/expected"
	expect_same "$T/expected" "$T/actual"
	git-checkpoint show --files --json @ >"$T/out"
	jq -e '.files | map(.file) == ["a b", "\"bad\\377\"", "new\nline", "quo\"te"]' "$T/out"
	jq -e '.files | all(.mode == "100644")' "$T/out"
}

# From the worktree, without the program: `<mode> <sha256> <path>` NUL in byte order of paths
test_hashes_are_exactly_the_documented_bytes() {
	mkdir -p d/empty void a-b
	echo 1 >d/f
	echo 2 >a-b/g
	echo 3 >a
	: >nothing
	chmod 600 a
	chmod 4711 nothing
	ln -s 'd/f' link
	printf x >"$(printf 'new\nline')"
	git-checkpoint save -q
	{
		sum() {
			sha256sum | cut -d' ' -f1
		}
		none=$(sum </dev/null)
		printf '%s %s %s\0' 100600 "$(echo 3 | sum)" a
		printf '%s %s %s\0' 100644 "$(echo 2 | sum)" a-b/g
		printf '%s %s %s\0' 040000 "$none" d/empty
		printf '%s %s %s\0' 100644 "$(echo 1 | sum)" d/f
		printf '%s %s %s\0' 120000 "$(printf d/f | sum)" link
		printf '%s %s %s\0' 100644 "$(printf x | sum)" "$(printf 'new\nline')"
		printf '%s %s %s\0' 104711 "$none" nothing
		printf '%s %s %s\0' 040000 "$none" void
	} >"$T/expected"
	git-checkpoint show --hashes @ >"$T/actual"
	cmp "$T/expected" "$T/actual"
	expect_eq "$(state_hash <"$T/expected")" \
		"$(git-checkpoint show --json @ | jq -r .hash)"
}

test_stat_and_patch_compare_with_the_previous_of_the_scope() {
	echo 1 >a
	echo 1 >b
	git-checkpoint save -q
	echo 2 >b
	git-checkpoint save -q b
	echo 3 >a
	git-checkpoint save -q
	git-checkpoint show --stat @ >"$T/out"
	expect_grep '^ a | 2 +-$' "$T/out"
	expect_grep '^ b | 2 +-$' "$T/out"
	expect_grep '^ 2 files changed, 2 insertions(+), 2 deletions(-)$' "$T/out"
	git-checkpoint show --patch @ >"$T/out"
	expect_grep '^-1$' "$T/out"
	expect_grep '^+3$' "$T/out"
	# a scope that has no earlier one: all is new
	git-checkpoint show -p @~1 >"$T/out"
	expect_grep '^new file mode 100644$' "$T/out"
	expect_no_grep '^-1$' "$T/out"
	git-checkpoint show --stat @~2 >"$T/out"
	expect_grep '2 files changed, 2 insertions(+)' "$T/out"
}

test_one_form_at_a_time() {
	git-checkpoint save -q
	for pair in '--stat --patch' '--files --hashes' '--stat --files' '--patch --hashes'; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint show $pair @ 2>"$T/err"
	done
	expect_exit 129 git-checkpoint show --hashes --json @ >"$T/out" 2>"$T/err"
	expect_eq 129 "$(json .error.code "$T/out")"
}

run_tests
