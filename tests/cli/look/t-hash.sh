#!/bin/sh
# SPDX-License-Identifier: MIT
# The state hash: anyone can compute it from a plain directory.

. "$(dirname "$0")/../../lib/harness.sh"

# The program in the manual.
manual_program() {
	sed -n '/^import hashlib/,/^\.ft R/p' "$ROOT_DIR/man/git-checkpoint-format.5" | sed '/^\.ft R/d' |
		sed "s/\\\\(aq/'/g; s/\\\\e/\\\\/g"
}

hash_of() {
	git checkpoint show --json "$1" | jq -r .hash
}

test_anyone_can_compute_it() {
	require jq python3
	manual_program >"$T/program.py"
	test -s "$T/program.py"
	for seed in 1 2 3; do
		mkdir tree
		cd tree
		make_tree $((TEST_SEED % 1000 + seed)) 60
		git checkpoint save -q --include-ignored --include-sensitive || test $? = 3
		expect_eq "$(hash_of @)" "$(git checkpoint hash)" "seed $seed: hash"
		expect_eq "$(hash_of @)" "$(python3 "$T/program.py" .)" "seed $seed: the manual's program"
		expect_eq "$(hash_of @)" "$(git checkpoint show --hashes @ | state_hash)" "seed $seed: show --hashes"
		cd ..
		rm -rf tree
	done
}

# What changed is hashed again, the rest is not: the result must not depend on it.
test_it_follows_every_change() {
	require jq
	make_tree "$TEST_SEED" 60
	rm -f .gitignore
	for round in 1 2 3 4 5 6; do
		git checkpoint save -q --include-ignored --include-sensitive || test $? = 3
		expect_eq "$(hash_of @)" "$(git checkpoint hash .)" "round $round"
		damage_tree $((TEST_SEED + round))
	done
	git checkpoint restore -q --yes @~2 || test $? = 3
	git checkpoint save -q --include-ignored --include-sensitive || test $? = 3
	expect_eq "$(hash_of @)" "$(git checkpoint hash .)" 'after a restore'
}

test_hash_says_what_it_hashed() {
	require jq
	mkdir -p d/e d/.git
	echo 1 >d/a
	echo 2 >d/.git/x
	ln -s nowhere d/link
	mkfifo d/fifo
	git checkpoint hash --json d >"$T/answer"
	expect_eq '["bytes","files","hash","hash_version","path"]' "$(jq -c keys "$T/answer")"
	expect_eq 'd 2 9 2' "$(jq -r '"\(.path) \(.files) \(.bytes) \(.hash_version)"' "$T/answer")"
	expect_exit 128 git checkpoint hash nowhere 2>"$T/err"
	expect_grep "unable to open 'nowhere'" "$T/err"
	expect_exit 128 git checkpoint hash d/a 2>"$T/err"
	expect_exit 129 git checkpoint hash d d 2>"$T/err"
	test -z "$(git checkpoint hash -q d)"
}

test_hash_reports_what_it_cannot_read() {
	mkdir d
	echo 1 >d/secret
	chmod 000 d/secret
	as_nobody chmod 755 . 2>/dev/null || :
	expect_exit 128 as_nobody git checkpoint hash d 2>"$T/err"
	expect_grep "unable to read 'secret'" "$T/err"
}

test_a_wrong_hash_is_found() {
	require jq
	echo 1 >a
	git checkpoint save -q
	id=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	store=$(store_dir)
	git --git-dir="$store" cat-file commit "refs/checkpoints/$id" >"$T/commit"
	sed "s/^State-Hash: sha256:\(.\)/State-Hash: sha256:$(git checkpoint show --json "$id" | jq -r .hash | cut -c8 | tr 0-9a-f 1-9a-f0)/" \
		"$T/commit" >"$T/wrong"
	git --git-dir="$store" update-ref "refs/checkpoints/$id" \
		"$(git --git-dir="$store" hash-object -t commit -w "$T/wrong")"
	expect_exit 1 git checkpoint verify "$id" >"$T/out"
	expect_grep 'state hash' "$T/out"
}

run_tests
