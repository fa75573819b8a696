#!/bin/sh
# SPDX-License-Identifier: MIT
# Importing checkpoints: they are what they were, and nothing that is here changes.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/strides.sh"

# there: a checkpoint of an odd tree in $T/there, and a bundle of it; its id is in $id
there() {
	mkdir "$T/there"
	(
		cd "$T/there"
		git init -q .
		make_tree "$TEST_SEED" 40
		git add -A . 2>/dev/null || :
		git commit -q -m one --allow-empty
		echo staged >file
		git add file
		echo not >file
		chmod 0640 file
		mkdir -m 0700 empty
		git-checkpoint save -q -m "from there" --step 7 --state k=v || test $? = 3
		fingerprint . >"$T/want"
		git-checkpoint export @ --bundle -o "$T/bundle"
		git-checkpoint list --json >"$T/listed"
	)
	id=$(json '.checkpoints[0].id' "$T/listed")
}

# described: the newest one of a list, without what is about the store
described() {
	jq '.checkpoints[] | select(.id == "'"$id"'") | del(.imported)' "$1"
}

test_an_imported_one_is_what_it_was() {
	there
	git-checkpoint import "$T/bundle" >"$T/out"
	expect_grep "^Imported $id  \[imported\] .*from there" "$T/out"
	git-checkpoint list --json >"$T/now"
	expect_eq "$(described "$T/listed")" "$(described "$T/now")"
	expect_eq true "$(json '.checkpoints[0].imported' "$T/now")"
	git-checkpoint verify -q "$id"
	git-checkpoint restore -q -y "$id" || test $? = 3
	find "$T/there" -type p -delete -o -type s -delete
	(cd "$T/there" && fingerprint . >"$T/want")
	fingerprint . >"$T/got"
	expect_same "$T/want" "$T/got"
	expect_eq v "$(git-checkpoint show --state k "$id")"
	git --git-dir="$(store_dir)" fsck --strict
	git-checkpoint doctor -q
	git-checkpoint log --json >"$T/log"
	jq -e '.entries[] | select(.action == "import") | .id == "'"$id"'"' "$T/log"
	# a second time there is nothing to do
	git-checkpoint import "$T/bundle" >"$T/out"
	expect_eq "$id is already here" "$(cat "$T/out")"
	git-checkpoint import --json "$T/bundle" >"$T/out"
	jq -e '.imported == [] and .known == ["'"$id"'"]' "$T/out"
}

# It is the newest, but not taken here.
test_it_is_never_meant_by_at() {
	expect_exit 128 git-checkpoint show @ 2>/dev/null
	echo mine >mine
	git-checkpoint save -q -m mine
	there
	own=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	git-checkpoint import -q "$T/bundle"
	expect_eq "$own" "$(git-checkpoint show --json @ | jq -r .id)"
	expect_eq "$own" "$(git-checkpoint show --json '@{now}' | jq -r .id)"
	expect_exit 128 git-checkpoint show '@~1' 2>/dev/null
	git-checkpoint diff --quiet
	git-checkpoint status --json >"$T/out"
	expect_eq "$own" "$(json '.newest.id // .checkpoint.id' "$T/out")"
	# nothing changed since the newest of this folder
	expect_eq false "$(git-checkpoint save --json | jq .checkpoint_created)"
	echo more >mine
	git-checkpoint save --json >"$T/out"
	expect_eq 1 "$(json .stats.changed "$T/out")"
	expect_eq 3 "$(git-checkpoint list | wc -l)"
	# limits on numbers take others
	for n in 1 2 3; do
		echo $n >mine
		git -c checkpoint.maxCount=2 checkpoint save -q
	done
	git-checkpoint list --json >"$T/now"
	expect_eq 3 "$(jq '.checkpoints | length' "$T/now")"
	git-checkpoint show "$id" >/dev/null
	git-checkpoint drop -q "$id"
	expect_eq '' "$(git --git-dir="$(store_dir)" for-each-ref refs/keep/import)"
}

test_there_are_others_although_none_was_taken_here() {
	there
	git-checkpoint import -q "$T/bundle"
	expect_exit 128 git-checkpoint restore --yes @ 2>"$T/err"
	expect_grep 'no checkpoint was taken here yet; those that were imported are named' "$T/err"
}

test_names_and_pins_come_with_it() {
	there
	(
		cd "$T/there"
		git-checkpoint pin -q --name good @
		git-checkpoint export good --bundle -o "$T/bundle"
	)
	git-checkpoint import -q "$T/bundle"
	expect_eq "$id" "$(git-checkpoint show --json good | jq -r .id)"
	git-checkpoint list --json >"$T/now"
	expect_eq 'true good' "$(jq -r '.checkpoints[0] | "\(.pinned) \(.name)"' "$T/now")"
	git-checkpoint drop -q --force good
	echo 1 >a
	git-checkpoint save -q --name good
	git-checkpoint import "$T/bundle" 2>"$T/err"
	expect_grep "without its name 'good'" "$T/err"
	expect_eq true "$(git-checkpoint show --json "$id" | jq .pinned)"
	expect_eq false "$(git-checkpoint show --json good | jq .imported)"
}

test_another_checkpoint_with_the_same_id_is_refused() {
	there
	git-checkpoint import -q "$T/bundle"
	store=$(store_dir)
	other=$(git --git-dir="$store" cat-file commit "refs/checkpoints/$id" | sed 's/^Reason: .*/Reason: x/' |
		git --git-dir="$store" hash-object -t commit -w --stdin)
	git --git-dir="$store" update-ref "refs/checkpoints/$id" "$other"
	expect_exit 128 git-checkpoint import "$T/bundle" 2>"$T/err"
	expect_grep "another checkpoint here has the id '$id'; nothing was imported" "$T/err"
	expect_eq "$other" "$(git --git-dir="$store" rev-parse "refs/checkpoints/$id")"
}

# Several of one project, and of a project here: what is in the store already is not needed twice.
test_several_at_once() {
	there
	(
		cd "$T/there"
		for n in 1 2 3; do
			echo $n >file
			git-checkpoint save -q || test $? = 3
		done
		git --git-dir="$(store_dir)" bundle create -q "$T/bundle" --glob=refs/checkpoints
	)
	git-checkpoint import --json "$T/bundle" >"$T/out"
	expect_eq 4 "$(jq '.imported | length' "$T/out")"
	git-checkpoint verify -q --all
	expect_eq "$(cd "$T/there" && git-checkpoint list --json | jq -r '.checkpoints[].id')" \
		"$(git-checkpoint list --json | jq -r '.checkpoints[].id')"
}

# Killed anywhere, it is listed and whole, or it is not listed.
test_killed_anywhere() {
	there
	echo mine >mine
	git-checkpoint save -q
	cp -a "$(store_dir)" "$T/store"
	with_faults "$CHANGES" 0 kill git-checkpoint import -q "$T/bundle"
	total=$(cat "$T/faults")
	at=$(begin_at 5)
	while test "$at" -le "$total"; do
		rm -rf "$(store_dir)"
		cp -a "$T/store" "$(store_dir)"
		if killed "$at" "$total" git-checkpoint import -q "$T/bundle"; then
			git-checkpoint verify -q --all
			git-checkpoint import -q "$T/bundle"
		fi
		git-checkpoint verify -q --all
		expect_eq 2 "$(git-checkpoint list | wc -l)"
		git-checkpoint doctor -q || git-checkpoint doctor -q --fix
		expect_eq '' "$(ls "$(store_dir)/checkpoint/scratch" 2>/dev/null)"
		at=$((at + ${STEP:-5}))
	done
}

test_no_room() {
	there
	echo mine >mine
	git-checkpoint save -q
	expect_exit 128 git -c checkpoint.maxSize=1k checkpoint import "$T/bundle" 2>"$T/err"
	expect_eq 1 "$(git-checkpoint list | wc -l)"
	git-checkpoint verify -q --all
}

# Whoever made the bundle decides what a rebase runs when it is continued.
test_an_operation_of_somebody_else_does_not_come_back_unasked() {
	git init -q -b main
	for i in 1 2 3; do
		echo $i >a
		git add a
		git commit -q -m $i
	done
	printf '#!/bin/sh\nprintf "break\\nexec touch sprung\\n" >"$1"\n' >"$T/editor"
	chmod +x "$T/editor"
	GIT_SEQUENCE_EDITOR=$T/editor git rebase -q -i HEAD~1 >/dev/null 2>&1 || :
	git-checkpoint save -q
	git-checkpoint export --bundle -q -o "$T/bundle" @
	git rebase --abort
	git clone -q . "$T/clone"
	cd "$T/clone"
	git-checkpoint import -q "$T/bundle"
	id=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	expect_exit 5 git-checkpoint restore -y --git "$id" 2>"$T/err"
	expect_grep 'was imported, and a rebase is in progress in it' "$T/err"
	expect_missing .git/rebase-merge
	git-checkpoint restore -q -y --git --force "$id"
	expect_exists .git/rebase-merge
}

run_tests
