#!/bin/sh
# SPDX-License-Identifier: MIT
# diff: letters and direction as git's, all forms.

. "$(dirname "$0")/../../lib/harness.sh"

diff_() {
	git-checkpoint diff "$@"
}

# names <argument>...: --name-status in one line
names() {
	diff_ --name-status "$@" | tr '\t\n' ': '
}

# ---- letters ----

test_letters_and_direction() {
	echo 1 >changed
	echo 1 >gone
	echo 1 >kind
	echo 1 >mode
	echo 1 >same
	git-checkpoint save -q
	echo 2 >changed
	rm gone kind
	ln -s x kind
	chmod 755 mode
	echo 1 >new
	touch same
	expect_eq 'M:changed D:gone T:kind M:mode A:new ' "$(names)"
	git-checkpoint save -q
	expect_eq '' "$(names)"
	expect_eq 'M:changed D:gone T:kind M:mode A:new ' "$(names @~1 @)"
	expect_eq 'M:changed A:gone T:kind M:mode D:new ' "$(names @ @~1)"
	expect_eq 'M:changed D:gone T:kind M:mode A:new ' "$(names @~1)"
}

test_what_git_cannot_see_is_seen() {
	mkdir -p d empty
	echo 1 >d/f
	git-checkpoint save -q
	mkdir -p new/inner
	chmod 700 d
	chmod 600 d/f
	rmdir empty
	expect_eq 'M:d/ M:d/f D:empty/ A:new/inner/ ' "$(names)"
	echo 1 >new/inner/f
	expect_eq 'M:d/ M:d/f D:empty/ A:new/inner/f ' "$(names)"
	chmod 755 d
	chmod 644 d/f
	expect_eq 'D:empty/ A:new/inner/f ' "$(names)"
}

test_files_directories_and_links_change_places() {
	mkdir d
	echo 1 >d/f
	echo 1 >file
	ln -s d link
	git-checkpoint save -q
	rm -r d
	echo 1 >d
	rm file
	mkdir file
	echo 1 >file/f
	rm link
	mkdir link
	expect_eq 'A:d D:d/f D:file A:file/f D:link A:link/ ' "$(names)"
	git-checkpoint save -q
	expect_eq 'A:d D:d/f D:file A:file/f D:link A:link/ ' "$(names @~1 @)"
}

# git knows no empty directories and but one bit of the mode
make_plain() {
	find . -mindepth 1 -type d -empty -delete
	find . -type d -exec chmod 00755 {} +
	find . -type f -perm /100 -exec chmod 755 {} +
	find . -type f ! -perm /100 -exec chmod 644 {} +
}

# A patch without abbreviated hashes and the text after the line numbers.
essence() {
	sed -e '/^index /d' -e 's/^\(@@ [^@]* @@\).*/\1/'
}

# damaged <seed>: a plain tree saved, damaged with that seed, saved again
damaged() {
	mktree --seed "$1" --files 60 --dirs 12 .
	git-checkpoint save -q
	mktree --damage --seed "$1" --edits 25 .
	make_plain
	diff_ --name-status -z | tr '\0\n' '\n\1' >"$T/worktree"
	expect_exit 0 git-checkpoint save -q
}

test_random_damage_is_seen_as_git_sees_it() {
	rounds=${CKPT_TEST_ROUNDS:-6}
	seed=0
	while test $seed -lt "$rounds"; do
		seed=$((seed + 1))
		mkdir "$T/work/$seed"
		cd "$T/work/$seed"
		damaged $seed
		old=$(git-checkpoint show --json @~1 | jq -r .commit)
		new=$(git-checkpoint show --json @ | jq -r .commit)
		git --git-dir="$(store_dir)" diff --no-renames --name-status -z "$old" "$new" |
			tr '\0\n' '\n\1' >"$T/expected"
		diff_ --name-status -z @~1 @ | tr '\0\n' '\n\1' >"$T/actual"
		test -s "$T/expected" || fail "seed $seed damaged nothing"
		expect_same "$T/expected" "$T/actual"
		expect_same "$T/expected" "$T/worktree"
		# and the other way round
		git --git-dir="$(store_dir)" diff --no-renames --name-status -z "$new" "$old" |
			tr '\0\n' '\n\1' >"$T/expected"
		diff_ --name-status -z @ @~1 | tr '\0\n' '\n\1' >"$T/actual"
		expect_same "$T/expected" "$T/actual"
		git --git-dir="$(store_dir)" -c core.quotePath=false diff --no-renames "$old" "$new" |
			essence >"$T/expected"
		diff_ @~1 @ | essence >"$T/actual"
		expect_same "$T/expected" "$T/actual"
		git --git-dir="$(store_dir)" diff --no-renames --stat "$old" "$new" | tail -n 1 >"$T/expected"
		diff_ --stat @~1 @ | tail -n 1 >"$T/actual"
		expect_same "$T/expected" "$T/actual"
	done
}

test_the_worktree_is_compared_as_git_compares_it() {
	mktree --seed 77 --files 60 --dirs 12 .
	git-checkpoint save -q
	mktree --damage --seed 78 --edits 30 .
	find . -mindepth 1 -type d -empty -delete
	commit=$(git-checkpoint show --json @ | jq -r .commit)
	export GIT_INDEX_FILE="$T/index"
	store=$(store_dir)
	git --git-dir="$store" read-tree "$commit"
	git --git-dir="$store" --work-tree=. add -A -f
	git --git-dir="$store" --work-tree=. diff --cached --no-renames --name-only "$commit" >"$T/expected"
	unset GIT_INDEX_FILE
	# more of the mode counts here: what git calls changed is a part of it
	diff_ --name-status | grep -v '/$' | cut -f2- >"$T/actual"
	comm -23 "$T/expected" "$T/actual" >"$T/unseen"
	expect_eq '' "$(cat "$T/unseen")" 'not seen'
}

# ---- patches ----

remove_binaries() {
	grep -rlZaP '\x00' . | xargs -0 rm -f
}

test_patches_can_be_applied() {
	rounds=${CKPT_TEST_ROUNDS:-4}
	seed=100
	while test $seed -lt $((100 + rounds)); do
		seed=$((seed + 1))
		mkdir "$T/work/$seed"
		cd "$T/work/$seed"
		mktree --seed $seed --files 40 --dirs 8 .
		printf 'no newline' >ends
		printf 'a\r\nb\r\n' >crlf
		remove_binaries
		git-checkpoint save -q
		cp -a . "$T/old.$seed"
		mktree --damage --seed $seed --edits 20 .
		rm -rf ends crlf
		printf 'no newline either' >ends
		printf 'a\r\nc\r\n' >crlf
		remove_binaries
		make_plain
		diff_ >"$T/patch"
		(cd "$T/old.$seed" && git -c core.protectNTFS=false apply --whitespace=nowarn "$T/patch" && make_plain)
		fingerprint "$T/old.$seed" >"$T/expected"
		fingerprint . >"$T/actual"
		expect_same "$T/expected" "$T/actual"
	done
}

test_a_patch_looks_like_gits() {
	printf '1\n2\n3\n' >a
	git-checkpoint save -q
	printf '1\n2\nthree\n' >a
	git-checkpoint save -q
	old=$(git-checkpoint show --json @~1 | jq -r .commit)
	new=$(git-checkpoint show --json @ | jq -r .commit)
	git --git-dir="$(store_dir)" diff --no-renames "$old" "$new" | essence >"$T/expected"
	diff_ @~1 @ | essence >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	expect_no_grep "$(printf '\033')" "$T/actual"
}

test_stat_counts_as_git_does() {
	printf '1\n2\n3\n' >a
	seq 200 >b
	printf '\0binary' >c
	git-checkpoint save -q
	printf '1\n3\n4\n5\n' >a
	seq 100 300 >b
	printf '\0binary2' >c
	git-checkpoint save -q
	git --git-dir="$(store_dir)" diff --stat --no-renames \
		"$(git-checkpoint show --json @~1 | jq -r .commit)" latest >"$T/expected"
	diff_ --stat @~1 @ >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	diff_ --stat >"$T/actual"
	expect_eq '' "$(cat "$T/actual")"
}

# ---- other forms ----

test_quiet_answers_by_exit_status() {
	echo 1 >a
	git-checkpoint save -q
	expect_exit 0 git-checkpoint diff --quiet
	echo 2 >a
	expect_exit 1 git-checkpoint diff --quiet >"$T/out"
	expect_eq '' "$(cat "$T/out")"
	expect_exit 0 git-checkpoint diff >/dev/null
	git-checkpoint save -q
	expect_exit 1 git-checkpoint diff --quiet @~1 @
	expect_exit 0 git-checkpoint diff --quiet @ @
	mkdir new
	expect_exit 1 git-checkpoint diff --quiet
	expect_exit 0 git-checkpoint diff --quiet -- a
	expect_exit 128 git-checkpoint diff --quiet nobody 2>/dev/null
}

test_json_names_both_sides_and_the_changes() {
	echo 1 >a
	git-checkpoint save -q
	echo 2 >a
	mkdir e
	touch "$(printf 'bad\377')"
	diff_ --json >"$T/out"
	id=$(git-checkpoint show --json @ | jq -r .id)
	jq -e --arg id "$id" '.from == $id and .to == null' "$T/out"
	jq -e '.changes == [{"file":"a","status":"M"},{"file":"\"bad\\377\"","status":"A"},
		{"file":"e/","status":"A"}]' "$T/out"
	diff_ --json @ @ >"$T/out"
	jq -e --arg id "$id" '.from == $id and .to == $id and .changes == []' "$T/out"
}

test_odd_names_are_quoted_or_ended_by_nul() {
	git-checkpoint save -q
	touch 'a b' "$(printf 'new\nline')" "$(printf 'bad\377')"
	diff_ --name-status >"$T/actual"
	printf 'A\t%s\n' 'a b' '"bad\377"' '"new\nline"' >"$T/expected"
	expect_same "$T/expected" "$T/actual"
	diff_ --name-status -z >"$T/actual"
	printf 'A\0%s\0' 'a b' "$(printf 'bad\377')" "$(printf 'new\nline')" >"$T/expected"
	cmp "$T/expected" "$T/actual"
}

test_paths_limit_it() {
	mkdir -p d/e d-x
	echo 1 >d/e/f
	echo 1 >d/g
	echo 1 >d-x/h
	echo 1 >gone
	git-checkpoint save -q
	echo 2 >d/e/f
	echo 2 >d/g
	echo 2 >d-x/h
	rm gone
	expect_eq 'M:d/e/f M:d/g ' "$(names -- d)"
	expect_eq 'M:d/e/f M:d/g ' "$(names d)"
	expect_eq 'M:d/e/f ' "$(names @ d/e)"
	expect_eq 'M:d/e/f D:gone ' "$(names @ -- gone d/e/f)"
	expect_eq '' "$(names -- nothing)"
	expect_eq 'M:d-x/h M:d/e/f M:d/g D:gone ' "$(names -- .)"
	expect_eq 'M:d-x/h M:d/e/f M:d/g ' "$(names -- 'd*')"
	git init -q
	(cd d && expect_eq 'M:d/e/f ' "$(names -- e)")
	git-checkpoint save -q
	expect_eq 'M:d/e/f ' "$(names @~1 @ -- d/e)"
	expect_exit 128 git-checkpoint diff gone 2>"$T/err"
	expect_grep "'gone'" "$T/err"
	expect_exit 128 git-checkpoint diff -- ../x 2>"$T/err"
	expect_exit 129 git-checkpoint diff @ @ @ -- 2>"$T/err"
}

test_a_scope_is_compared_with_itself() {
	mkdir d
	echo 1 >d/f
	echo 1 >a
	git-checkpoint save -q d
	echo 2 >a
	expect_eq '' "$(names)"
	echo 2 >d/f
	expect_eq 'M:d/f ' "$(names)"
}

# What was captured and is ignored since is not gone.
test_ignored_since_is_not_deleted() {
	git init -q
	echo 1 >a.log
	echo 1 >b.log
	mkdir out
	echo 1 >out/c
	git-checkpoint save -q
	printf '*.log\nout/\n' >.gitignore
	expect_eq 'A:.gitignore ' "$(names)"
	echo 2 >b.log
	chmod 600 out/c
	expect_eq 'A:.gitignore M:b.log M:out/c ' "$(names)"
	rm a.log
	expect_eq 'A:.gitignore D:a.log M:b.log M:out/c ' "$(names)"
	diff_ -- b.log >"$T/out"
	expect_grep '^+2$' "$T/out"
	rm -r out
	expect_eq 'A:.gitignore D:a.log M:b.log D:out/c ' "$(names)"
}

test_an_empty_directory_ignored_since_is_not_deleted() {
	git init -q
	mkdir logs
	git-checkpoint save -q
	echo logs/ >.git/info/exclude
	expect_eq '' "$(names)"
	expect_exit 0 git-checkpoint diff --quiet
	echo 1 >logs/today
	expect_eq '' "$(names)"
	chmod 700 logs
	expect_eq 'M:logs/ ' "$(names)"
	rm -r logs
	expect_eq 'D:logs/ ' "$(names)"
}

test_what_was_included_is_compared_likewise() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >a.log
	echo 1 >.env
	git-checkpoint save -q --include-ignored --include-sensitive
	expect_eq '' "$(names)"
	echo 1 >b.log
	expect_eq 'A:b.log ' "$(names)"
}

test_nothing_is_written() {
	make_tree 4 40
	expect_exit 0 git-checkpoint save -q
	damage_tree 5
	fingerprint_raw "$(store_dir)" >"$T/before"
	diff_ >/dev/null
	diff_ --stat >/dev/null
	diff_ --name-status >/dev/null
	fingerprint_raw "$(store_dir)" >"$T/after"
	expect_same "$T/before" "$T/after"
}

test_one_form_at_a_time() {
	git-checkpoint save -q
	for pair in '--stat --name-status' '--quiet --stat' '--name-status --quiet'; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint diff $pair 2>"$T/err"
	done
}

test_quiet_and_json_answer_both() {
	echo 1 >a
	git-checkpoint save -q
	git-checkpoint diff --quiet --json >"$T/out"
	expect_eq '[]' "$(jq -c .changes "$T/out")"
	echo 2 >a
	expect_exit 1 git-checkpoint diff --quiet --json >"$T/out"
	expect_eq '[{"file":"a","status":"M"}]' "$(jq -c .changes "$T/out")"
	expect_exit 1 git-checkpoint diff --quiet >"$T/out"
	expect_eq '' "$(cat "$T/out")"
}

# It is loaded where lines are compared, and nothing else needs it.
test_without_libgit2() {
	echo 1 >a
	mkdir "$T/lib"
	ldconfig -p | sed -n 's/^[[:space:]]*\(libgit2\.so\.[0-9.]*\) .*/\1/p' | sort -u |
		while read -r name; do : >"$T/lib/$name"; done
	LD_LIBRARY_PATH=$T/lib
	export LD_LIBRARY_PATH
	git-checkpoint save -q
	echo 2 >a
	expect_exit 128 git-checkpoint diff 2>"$T/err"
	expect_grep '^fatal: unable to load libgit2: .*libgit2\.so' "$T/err"
	git-checkpoint restore -q --yes @
	expect_eq 1 "$(cat a)"
}

run_tests
