#!/bin/sh
# SPDX-License-Identifier: MIT
# grep: searching the contents of checkpoints.

. "$(dirname "$0")/../../lib/harness.sh"

past() {
	perl "$LIB_DIR/past.pl" "$@"
}

# found <argument of grep>...: as past.pl prints it
found() {
	git-checkpoint grep --json "$@" >"$T/found.json" || test $? -eq 1
	jq -r '.matches[] | . as $m | [.checkpoint, .oldest, "\(.checkpoints)", .gone_since // "-"] as $span |
		if (.lines | length) == 0 then [$m.file, (if $m.binary then "binary" else "file" end)] + $span + ["0"]
		else .lines | group_by(.text)[] | [$m.file, .[0].text] + $span + [map(.line) | sort | map(tostring) | join(",")] end |
		join("\t")' "$T/found.json" | LC_ALL=C sort
}

expect_as_git() {
	past grep "$(store_dir)" "$T/all.json" "$@" | LC_ALL=C sort >"$T/expected"
	found "$@" >"$T/actual"
	echo "$*"
	expect_same "$T/expected" "$T/actual"
}

test_equal_to_git_grep_in_every_checkpoint() {
	git-checkpoint config maxCount none
	past live "$TEST_SEED" 22
	git-checkpoint list --json >"$T/all.json"
	expect_as_git needle
	expect_as_git -i foo
	expect_as_git -F a.b
	expect_as_git a.b
	expect_as_git -w -e foo -e changed
	expect_as_git -E '^(foo|FOO)_?bar* [0-9]+'
	expect_as_git '[0-9]$' -- src '*.z'
	expect_as_git -e '' -- docs
	expect_as_git nowhere
	# which of the files that are not text have it git does not say with -l
	git-checkpoint grep --json -l bar | jq -r '.matches[].file' | sort >"$T/actual"
	past grep "$(store_dir)" "$T/all.json" -l bar | cut -f 1 | sort >"$T/expected"
	expect_same "$T/expected" "$T/actual"
}

# What a letter is depends on the locale, in git as well.
test_letters_beyond_ascii() {
	printf 'grün\nGRÜN\ngr\374n\n' >a
	git-checkpoint save -q
	git-checkpoint list --json >"$T/all.json"
	export LC_ALL=C.UTF-8
	for pattern in 'gr.n' 'gr..n' 'grün' 'gr[üx]n'; do
		for option in -G -i -w; do
			for line in $(git grep --no-index -n $option -e "$pattern" -- a | cut -d: -f2 || :); do
				echo "$line"
			done >"$T/expected"
			git-checkpoint grep --json $option -e "$pattern" | jq -r '.matches[].lines[].line' >"$T/actual"
			echo "$option $pattern"
			expect_same "$T/expected" "$T/actual"
		done
	done
}

test_the_newest_is_named_and_since_when_it_is_gone() {
	printf 'int a;\nint lost;\n' >f.c
	git-checkpoint save -q -m one
	echo more >>f.c
	git-checkpoint save -q -m two
	echo 1 >other
	git-checkpoint save -q -m other other
	sed -i /lost/d f.c
	git-checkpoint save -q -m three
	first=$(git-checkpoint list --json | jq -r '.checkpoints[3].id')
	second=$(git-checkpoint list --json | jq -r '.checkpoints[2].id')
	last=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	git-checkpoint grep lost >"$T/out"
	printf '%s:f.c  in 2 checkpoints since %s, gone since %s\n    int lost;\n' "$second" "$first" "$last" >"$T/expected"
	expect_same "$T/expected" "$T/out"
	git-checkpoint grep -n -e 'int [al]' >"$T/out"
	printf '%s:f.c  in 3 checkpoints since %s\n    1:int a;\n%s:f.c  in 2 checkpoints since %s, gone since %s\n    2:int lost;\n' \
		"$last" "$first" "$second" "$first" "$last" >"$T/expected"
	expect_same "$T/expected" "$T/out"
	git-checkpoint grep -l lost "$first" >"$T/out"
	expect_eq "$first:f.c  in no other checkpoint" "$(cat "$T/out")"
	# the name leads to the file
	expect_eq "$(printf 'int a;\nint lost;\nmore')" "$(git-checkpoint show "$(git-checkpoint grep -l lost | cut -d' ' -f1)")"
	git-checkpoint grep --json lost | jq -e --arg first "$first" --arg second "$second" --arg last "$last" \
		'. == {"matches":[{"file":"f.c","checkpoint":$second,"oldest":$first,"checkpoints":2,"gone_since":$last,
		"binary":false,"lines":[{"line":2,"text":"int lost;"}]}],"warnings":[]}'
}

test_exit_status() {
	echo text >a
	git-checkpoint save -q
	git-checkpoint grep -q text >"$T/out"
	expect_eq '' "$(cat "$T/out")"
	expect_exit 1 git-checkpoint grep nothing >"$T/out"
	expect_eq '' "$(cat "$T/out")"
	expect_exit 1 git-checkpoint grep --json nothing >"$T/out"
	jq -e '.matches == []' "$T/out"
	expect_exit 129 git-checkpoint grep 2>"$T/err"
	expect_exit 129 git-checkpoint grep -- a 2>"$T/err"
	expect_grep 'needs a pattern' "$T/err"
	expect_exit 129 git-checkpoint grep 'a\(' 2>"$T/err"
	expect_grep "the pattern 'a.(' is not valid" "$T/err"
	expect_exit 128 git-checkpoint grep text nothing 2>"$T/err"
	expect_exit 128 git-checkpoint grep text @ nothing 2>"$T/err"
	expect_exit 128 git-checkpoint grep text gone.c 2>"$T/err"
	expect_grep "use '--' before a path" "$T/err"
	expect_exit 1 git-checkpoint grep text -- nothing
	expect_exit 129 git-checkpoint grep --all text @ 2>"$T/err"
	git-checkpoint grep --all text >"$T/out"
	git-checkpoint grep text a >"$T/out"
	git-checkpoint grep text @ a >"$T/out"
	git-checkpoint grep -e text @ -- a >"$T/out"
	expect_exit 129 git-checkpoint grep -P text 2>"$T/err"
	expect_grep '-E has' "$T/err"
}

test_links_and_files_that_are_not_text() {
	ln -s 'needle in a link' link
	printf 'needle\0\n' >binary
	git-checkpoint save -q
	git-checkpoint grep needle >"$T/out"
	expect_eq 2 "$(wc -l <"$T/out")"
	expect_grep '^    Binary file binary matches$' "$T/out"
	git-checkpoint grep --json needle | jq -e '.matches | length == 1 and .[0].binary and .[0].lines == []'
}

# Larger than what is held in memory; lines lie across pieces.
test_a_large_file() {
	seq -f 'line %08.0f' 1500000 >large
	echo last >>large
	git-checkpoint save -q
	git-checkpoint grep -n -e '^line 0*[1-9]00000$' -e '^last' >"$T/out"
	git-checkpoint grep --json -E '^line 0*[1-9]00000$|^last' | jq -r '.matches[].lines[] | "\(.line):\(.text)"' >"$T/actual"
	grep -n -E '^line 0*[1-9]00000$|^last' large >"$T/expected"
	expect_same "$T/expected" "$T/actual"
}

# A disk image for example: one line of any length, which is searched in parts.
test_a_large_file_without_lines() {
	truncate -s 40M early late none
	printf 'needle' | dd of=early bs=1 seek=5000000 conv=notrunc status=none
	printf 'needle' >>late
	git-checkpoint save -q
	git-checkpoint grep -l needle >"$T/out"
	expect_grep 'early' "$T/out"
	expect_grep 'late' "$T/out"
	expect_no_grep 'none' "$T/out"
	git-checkpoint grep --json -E 'need+le$' | jq -e '[.matches[].file] == ["late"]'
}

test_threads_do_not_matter() {
	past live "$TEST_SEED" 8
	GIT_CHECKPOINT_THREADS=1 git-checkpoint grep -n o >"$T/one"
	GIT_CHECKPOINT_THREADS=7 git-checkpoint grep -n o >"$T/many"
	expect_same "$T/one" "$T/many"
}

test_what_is_damaged_is_told() {
	echo needle >a
	echo needle too >b
	git-checkpoint save -q
	store=$(store_dir)
	blob=$(git hash-object b)
	mkdir "$T/packs"
	mv "$store"/objects/pack/* "$T/packs"
	for pack in "$T"/packs/*.pack; do
		git --git-dir="$store" unpack-objects -q <"$pack"
	done
	rm -f "$store/objects/$(echo "$blob" | cut -c1-2)/$(echo "$blob" | cut -c3-)"
	git-checkpoint grep needle >"$T/out" 2>"$T/err"
	expect_grep ':a ' "$T/out"
	expect_grep "'b' of checkpoint 'chk_.*' is damaged and was not searched" "$T/err"
}

run_tests
