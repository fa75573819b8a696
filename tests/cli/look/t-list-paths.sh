#!/bin/sh
# SPDX-License-Identifier: MIT
# list -- <path>: in which checkpoints a path became something else.

. "$(dirname "$0")/../../lib/harness.sh"

past() {
	perl "$LIB_DIR/past.pl" "$@"
}

# changes <argument of list>...: as past.pl prints them; of directories nothing
changes() {
	git-checkpoint list --json "$@" >"$T/changes.json"
	jq -r '.checkpoints[] | .id as $id | .changes[] | select(.file | endswith("/") | not) |
		[$id, .status, .file, .old_mode // "-", .new_mode // "-",
		"\(if .added == null then "-" else .added end) \(if .removed == null then "-" else .removed end)"] |
		join("\t")' "$T/changes.json"
}

# reasons <argument of list>...: what is listed, and what became of the first path
reasons() {
	git-checkpoint list --json "$@" |
		jq -r '.checkpoints[] | "\(.reason):\(.changes[0].status)"' | tr '\n' ' '
}

test_equal_to_asking_about_every_checkpoint() {
	git-checkpoint config maxCount none
	past live "$TEST_SEED" 22
	git-checkpoint list --json >"$T/all.json"
	for spec in . a.x src src/lib/d.y 'src docs/f.z' '*.x' 'src/*.y a.x' nothing; do
		# shellcheck disable=SC2086 # words, without what they match
		(set -f && past list "$(store_dir)" "$T/all.json" $spec) >"$T/expected"
		# shellcheck disable=SC2086
		(set -f && changes -- $spec) >"$T/actual"
		echo "$spec"
		expect_same "$T/expected" "$T/actual"
	done
}

# Stock git follows, too, given commits with parents.
test_renames_are_followed_as_git_does() {
	git-checkpoint config maxCount none
	past move "$TEST_SEED" 25 >"$T/files"
	git-checkpoint list --json >"$T/all.json"
	git init -q "$T/project"
	echo "$(store_dir)/objects" >"$T/project/.git/objects/info/alternates"
	parent=
	for id in $(jq -r '.checkpoints | reverse[].id' "$T/all.json"); do
		tree=$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$id^{tree}")
		# shellcheck disable=SC2086
		parent=$(echo "$id" | git -C "$T/project" -c user.name=a -c user.email=a commit-tree ${parent:+-p $parent} "$tree")
	done
	while read -r file; do
		git -C "$T/project" log --follow --name-status --format=%s "$parent" -- "$file" |
			grep . >"$T/expected"
		git-checkpoint list --json -- "$file" | jq -r '.checkpoints[] | .id, (.changes[] |
			if .from then "R\("00\(.similarity)"[-3:])\t\(.from)\t\(.file)" else "\(.status)\t\(.file)" end)' >"$T/actual"
		expect_same "$T/expected" "$T/actual"
	done <"$T/files"
}

test_what_is_told() {
	seq 9 >a
	git-checkpoint save -q -m one
	echo b >b
	git-checkpoint save -q -m two
	sed -i 's/5/five/' a
	git-checkpoint save -q -m three
	chmod 604 a
	git-checkpoint save -q -m four
	mv a c
	git-checkpoint save -q -m five
	rm c
	git-checkpoint save -q -m six
	expect_eq 'six:D five:R four:M three:M one:A ' "$(reasons -- c)"
	git-checkpoint list -- c >"$T/out"
	expect_grep '^chk_[^ ]*  @  .* deleted  *+0 -9 .* six$' "$T/out"
	expect_grep ' @~1  .* renamed from a  *+0 -0 .* five$' "$T/out"
	expect_grep ' @~2  .* mode 644 to 604  *+0 -0 .* four$' "$T/out"
	expect_grep ' @~3  .* changed  *+1 -1 .* three$' "$T/out"
	expect_grep ' @~5  .* created  *+9 -0 .* one$' "$T/out"
	expect_eq 5 "$(wc -l <"$T/out")"
	# the old name was deleted
	expect_eq 'five:D four:M three:M one:A ' "$(reasons -- a)"
	git-checkpoint list -p -n 2 --until "$(date -u -d '+1 hour' +%FT%TZ)" -- c >"$T/out"
	expect_grep '^deleted file mode' "$T/out"
	expect_grep '^rename from a' "$T/out"
	git-checkpoint list --stat -- c >"$T/out"
	expect_grep '^ a => c | 0' "$T/out"
	git-checkpoint list --json -- c | jq -e '.checkpoints[1].changes == [{"file":"c","status":"R","from":"a","similarity":100,
		"added":0,"removed":0,"old_mode":"100604","new_mode":"100604"}]'
	# what is listed is what is filtered, not what it is compared with
	expect_eq 'three:M ' "$(reasons --grep thr -- a)"
	expect_eq 'two:A ' "$(reasons --since '1 hour ago' -- . ':!a' ':!c')"
	expect_eq 'six:D five:R ' "$(reasons -n 2 -- c)"
	git-checkpoint list -p -n 1 >"$T/out"
	expect_grep '^deleted file mode' "$T/out"
}

test_a_checkpoint_without_the_path_in_its_scope_is_passed_over() {
	mkdir d
	echo 1 >d/a
	echo 1 >b
	git-checkpoint save -q -m one
	echo 2 >b
	git-checkpoint save -q -m two b
	git-checkpoint save -q --state-only --state k=v -m state
	echo 2 >d/a
	git-checkpoint save -q -m three d/a
	git-checkpoint save -q -m four
	expect_eq 'three:M one:A ' "$(reasons -- d/a)"
	expect_eq 'three:M one:A ' "$(reasons -- d)"
	expect_eq 'two:M one:A ' "$(reasons -- b)"
	expect_eq 'three:M two:M one:A ' "$(reasons -- .)"
}

test_safety_checkpoints_are_listed() {
	echo 1 >a
	git-checkpoint save -q -m one
	echo 2 >a
	git-checkpoint restore -q -y @
	git-checkpoint list -- a >"$T/out"
	expect_eq 2 "$(wc -l <"$T/out")"
	expect_grep '^chk_[^ ]*  -  .* changed  *+1 -1 ' "$T/out"
}

test_paths_as_everywhere() {
	mkdir sub
	echo 1 >sub/a
	echo 1 >'[x]'
	echo 1 >x
	git-checkpoint save -q -m one
	echo 2 >x
	git-checkpoint save -q -m two
	rm '[x]'
	git-checkpoint save -q -m three
	expect_eq 'three:D one:A ' "$(reasons -- '[x]')"
	expect_eq 'three:D two:M one:A ' "$(reasons -- ':(glob)[x]')"
	expect_eq 'two:M one:A ' "$(reasons x)"
	cd sub
	expect_eq 'one:A ' "$(reasons a)"
	expect_eq 'two:M one:A ' "$(reasons ../x)"
	expect_exit 129 git-checkpoint list nothing 2>"$T/err"
	expect_grep "'nothing' is not a path; use '--'" "$T/err"
	git-checkpoint list -- nothing >"$T/out" 2>"$T/err"
	expect_grep "no checkpoint found in which 'nothing' changed" "$T/err"
	git-checkpoint list --json -- nothing | jq -e '.checkpoints == []'
	expect_exit 128 git-checkpoint list -- ../../outside 2>"$T/err"
	expect_exit 129 git-checkpoint list -p --stat -- a 2>"$T/err"
}

test_damage_hides_only_what_it_hit() {
	mkdir d
	for i in 1 2 3; do
		echo $i >d/a
		git-checkpoint save -q -m "$i"
	done
	store=$(store_dir)
	tree=$(git --git-dir="$store" rev-parse "refs/checkpoints/$(git-checkpoint show --json @~1 | jq -r .id):d")
	# all packs as loose objects, one of them gone
	mkdir "$T/packs"
	mv "$store"/objects/pack/* "$T/packs"
	for pack in "$T"/packs/*.pack; do
		git --git-dir="$store" unpack-objects -q <"$pack"
	done
	rm "$store/objects/$(echo "$tree" | cut -c1-2)/$(echo "$tree" | cut -c3-)"
	git-checkpoint list --json -- d/a >"$T/out"
	jq -e '[.checkpoints[].reason] == ["3","1"]' "$T/out"
	git-checkpoint list -- d/a >"$T/out" 2>"$T/err"
	expect_grep "warning: checkpoint 'chk_.*' is damaged" "$T/err"
}

run_tests
