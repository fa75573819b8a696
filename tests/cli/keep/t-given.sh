#!/bin/sh
# SPDX-License-Identifier: MIT
# Names that people give to checkpoints.

. "$(dirname "$0")/../../lib/harness.sh"

# named <name>: the reason of the checkpoint that has it
named() {
	git checkpoint show --json "$1" | jq -r .reason
}

# name_of <checkpoint>: its name, and whether it is pinned
name_of() {
	git checkpoint show --json "$1" | jq -r '"\(.name) \(.pinned)"'
}

saved() {
	echo "$1" >f
	git checkpoint save -q -m "$@"
}

in_store() {
	git --git-dir="$(store_dir)" "$@"
}

test_a_name_given_by_save() {
	saved one --name good
	saved two
	expect_eq one "$(named good)"
	expect_eq 'good true' "$(name_of @~1)"
	expect_eq 'null false' "$(name_of @)"
	git checkpoint restore -q --yes good
	expect_eq one "$(cat f)"
	git checkpoint list >"$T/list"
	expect_grep '\[name good\] one' "$T/list"
	git checkpoint show good >"$T/shown"
	expect_grep '^Name: *good$' "$T/shown"
	expect_eq good "$(git checkpoint list --json | jq -r '.checkpoints[-1].name')"
	# stock git reads it
	expect_eq "$(git checkpoint show --json good | jq -r .commit)" "$(in_store rev-parse refs/keep/name/good)"
	in_store fsck --strict --no-dangling
	expect_eq one "$(in_store show refs/keep/name/good:f)"
}

test_a_name_given_by_pin() {
	saved one
	saved two
	git checkpoint pin --name good @~1 >"$T/out"
	expect_grep '^Pinned chk_[0-9a-f_]* as good$' "$T/out"
	expect_eq one "$(named good)"
	# it may have several
	git checkpoint pin -q --name good @~1
	git checkpoint pin --name better @~1 >"$T/out"
	expect_grep '^Pinned chk_[0-9a-f_]* as better$' "$T/out"
	expect_eq 'better true' "$(name_of @~1)"
	expect_eq one "$(named good)"
	expect_eq '["better","good"]' "$(git checkpoint show --json good | jq -c .names)"
	expect_eq '[]' "$(git checkpoint show --json @ | jq -c .names)"
	git checkpoint list >"$T/list"
	expect_grep '\[name better\] \[name good\] one' "$T/list"
	# one of them may move on
	git checkpoint pin -q --move-name --name better @
	expect_eq 'good true' "$(name_of @~1)"
	expect_eq 'better true' "$(name_of @)"
	# all go along to where it is imported
	git checkpoint pin -q --name best good
	git checkpoint export good --bundle >"$T/bundle"
	new=$T/new
	mkdir "$new"
	cd "$new"
	git checkpoint import -q "$T/bundle"
	expect_eq '["best","good"]' "$(git checkpoint show --json good | jq -c .names)"
	git checkpoint unpin -q best
	expect_exit 128 git checkpoint show good
}

test_a_name_is_of_one_checkpoint() {
	saved one --name good
	echo two >f
	expect_exit 5 git checkpoint save -m two --name good 2>"$T/err"
	expect_grep "'good' is taken by checkpoint 'chk_.*--move-name" "$T/err"
	expect_eq 1 "$(git checkpoint list --json | jq '.checkpoints | length')"
	saved two
	expect_exit 5 git checkpoint pin --name good @ 2>"$T/err"
	saved three
	expect_exit 5 git checkpoint save -m four --name good 2>"$T/err"
	expect_eq one "$(named good)"
	git checkpoint pin -q --name good --move-name @~1
	expect_eq two "$(named good)"
	expect_eq 'null false' "$(name_of @~2)"
	saved four --name good --move-name
	expect_eq four "$(named good)"
	expect_eq 'null false' "$(name_of @~2)"
	# what was pinned before stays pinned
	git checkpoint pin -q @
	git checkpoint pin -q --name good --move-name @~1
	expect_eq 'null true' "$(name_of @)"
}

test_a_name_on_an_unchanged_tree_is_a_change() {
	saved one
	created() {
		git checkpoint save --json "$@" | jq -r '"\(.checkpoint_created) \(.checkpoint.name)"'
	}
	expect_eq 'false null' "$(created)"
	expect_eq 'true good' "$(created --name good)"
	expect_eq 'false good' "$(created --name good)"
	expect_eq 'false good' "$(created)"
	expect_eq 'true better' "$(created --name better)"
	# now @ is another one
	expect_exit 5 git checkpoint save --name good 2>"$T/err"
	expect_eq 'true good' "$(created --name good --move-name)"
}

test_what_cannot_be_a_name() {
	saved one
	for name in '' chk_ chk_x abc 123 DEADbeef step turn session . .. -x _x .x 'a b' a/b a:b a~1 '@' '@x' \
		a..b a. a.lock "$(printf 'a\nb')" "$(printf 'g\303\266')" '*' "$(head -c 300 /dev/zero | tr '\0' x)"; do
		expect_exit 129 git checkpoint save --name="$name" 2>"$T/err"
		expect_grep "'--name'" "$T/err"
		expect_exit 129 git checkpoint pin --name="$name" @ 2>"$T/err"
	done
	# the one rule that it breaks
	expect_exit 129 git checkpoint pin --name 42 @ 2>"$T/err"
	expect_grep "'42' cannot be a name: only hexadecimal digits could be those of an id$" "$T/err"
	expect_exit 129 git checkpoint save --move-name 2>"$T/err"
	expect_exit 129 git checkpoint pin --move-name @ 2>"$T/err"
	for name in g x1 chk steps 1.0 v1.0-rc_2 HEAD latest; do
		git checkpoint pin -q --name "$name" @
		expect_eq one "$(named "$name")"
	done
}

test_unpin_and_drop_remove_the_name() {
	saved one --name good
	saved two --pin --name better
	saved three
	git checkpoint unpin -q good
	expect_eq 'null false' "$(name_of @~2)"
	expect_exit 128 git checkpoint show good
	git checkpoint unpin -q better
	expect_eq 'null false' "$(name_of @~1)"
	git checkpoint pin -q --name good @~1
	expect_exit 5 git checkpoint drop good 2>"$T/err"
	expect_grep pinned "$T/err"
	git checkpoint drop -q --force good
	expect_exit 128 git checkpoint show good
	expect_eq '' "$(in_store for-each-ref refs/keep/name)"
	git checkpoint doctor
	# and can be given again
	saved four --name good
	expect_eq four "$(named good)"
}

test_a_named_one_is_not_evicted() {
	export GIT_CHECKPOINT_MAX_COUNT=2
	saved one --name good
	saved two
	git checkpoint pin -q --name better @
	for i in 3 4 5 6; do
		saved $i
	done
	expect_eq '6 5 two one ' "$(git checkpoint list --json | jq -r '.checkpoints[].reason' | tr '\n' ' ')"
	git checkpoint gc -q
	git checkpoint prune -q --max-count 1
	expect_eq one "$(named good)"
	expect_eq two "$(named better)"
	git checkpoint verify -q --all
	# when the name moves on, it may go
	git checkpoint pin -q --name good --move-name @
	saved 7
	saved 8
	expect_eq '8 7 6 two ' "$(git checkpoint list --json | jq -r '.checkpoints[].reason' | tr '\n' ' ')"
}

test_names_that_stock_git_packed() {
	saved one --name good
	saved two --name better
	in_store pack-refs --all
	expect_missing "$(store_dir)/refs/keep/name/good"
	expect_eq one "$(named good)"
	expect_eq 'good true' "$(name_of @~1)"
	expect_exit 5 git checkpoint pin --name good @ 2>"$T/err"
	git checkpoint pin -q --name good --move-name @
	expect_eq two "$(named good)"
	expect_eq two "$(named better)"
	expect_eq 'null false' "$(name_of @~1)"
	git checkpoint gc -q
	git checkpoint unpin -q good
	expect_exit 128 git checkpoint show good
	expect_eq '' "$(in_store for-each-ref refs/keep/name)"
}

test_a_name_without_a_checkpoint_means_nothing() {
	saved one --name good
	saved two
	in_store update-ref -d "refs/checkpoints/$(git checkpoint show --json good | jq -r .id)"
	expect_exit 128 git checkpoint show good
	# of one that has lost its ref, it stays, and is taken
	saved three
	expect_exit 5 git checkpoint pin --name good @ 2>"$T/err"
	git checkpoint gc -q
	git checkpoint doctor --fix >"$T/out" || :
	expect_eq one "$(named good)"
	# of none at all
	in_store update-ref refs/keep/name/stray "$(in_store rev-parse 'latest^1')"
	expect_exit 128 git checkpoint show stray
	expect_exit 1 git checkpoint doctor >"$T/out"
	expect_grep "'refs/keep/name/stray' does not belong to a checkpoint" "$T/out"
	git checkpoint pin -q --name stray @
	expect_eq three "$(named stray)"
	git checkpoint doctor
	in_store update-ref refs/keep/name/stray "$(in_store rev-parse 'latest^1')"
	git checkpoint doctor --fix >"$T/out"
	expect_grep removed "$T/out"
	git checkpoint doctor
}

test_names_after_a_move() {
	mkdir a
	cd a
	saved one --name good
	cd ..
	mv a b
	cd b
	git checkpoint relink ../a
	expect_eq one "$(named good)"
}

test_names_are_completed() {
	saved one --name goody
	saved two
	git checkpoint --complete git-checkpoint show g | grep -q '^ goody' || fail 'not offered'
	git checkpoint --complete git-checkpoint pin --name g | grep -q '^ goody' || fail 'not offered for --name'
	git checkpoint --complete git-checkpoint save --name g | grep -q '^ goody' || fail 'not offered for save --name'
}

run_tests
