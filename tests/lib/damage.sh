# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For the tests of damaged stores; sourced after harness.sh.

# tree_of <commit-ish>
tree_of() {
	git --git-dir="$(store_dir)" rev-parse "$1^{tree}"
}

# fresh_tree: the tree that a store without a past would get
fresh_tree() {
	GIT_CHECKPOINT_HOME="$T/fresh" git-checkpoint save -q --force >/dev/null 2>&1 || :
	git --git-dir="$T/fresh/$(basename "$(store_dir)")" rev-parse 'latest^{tree}'
	rm -rf "$T/fresh"
}

# saves_right <what>: the next save has what is here, and is whole
saves_right() {
	status=0
	git-checkpoint save --json --allow-empty --force >"$T/out" 2>"$T/err" || status=$?
	test $status = 0 || fail "$1: exit status $status: $(cat "$T/err")"
	commit=$(json .checkpoint.commit "$T/out")
	expect_eq "$(fresh_tree)" "$(tree_of "$commit")" "$1: tree"
	# all that it needs is there
	git --git-dir="$(store_dir)" rev-list --objects "$commit" >/dev/null 2>"$T/err" ||
		fail "$1: objects are missing: $(cat "$T/err")"
	hash=$(json .pre_mutation_state.hash "$T/out")
	expect_eq "$hash" "$(git-checkpoint show --hashes @ | state_hash)" "$1: hash"
}

fsck() {
	git --git-dir="$(store_dir)" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "fsck: $(cat "$T/fsck")"
}

# three: three checkpoints; the ids in $first $second $third, the store in $store
three() {
	echo 1 >a
	mkdir d
	echo 1 >d/b
	git-checkpoint save -q -m one
	echo 2 >a
	git-checkpoint save -q -m two
	echo 3 >d/b
	git-checkpoint save -q -m three
	store=$(store_dir)
	first=$(git-checkpoint show --json @~2 | jq -r .id)
	second=$(git-checkpoint show --json @~1 | jq -r .id)
	third=$(git-checkpoint show --json @ | jq -r .id)
}

listed() {
	git-checkpoint list --json 2>"$T/err" | jq -r '[.checkpoints[].reason] | join(" ")'
}
