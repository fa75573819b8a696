# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2164 # cases run with set -e
#
# For the tests of relink; sourced after harness.sh.

# new_folder <dir> [git]: two checkpoints, and something that was changed since
new_folder() {
	mkdir -p "$1/sub"
	(
		cd "$1"
		test -z "${2:-}" || git init -q
		echo one >file
		echo below >sub/file
		chmod 600 sub/file
		test -z "${2:-}" || {
			git add file
			git commit -q -m one
		}
		git-checkpoint save -q -m one
		echo two >file
		echo new >untracked
		git-checkpoint save -q -m two
		fingerprint . >"$T/two"
		git-checkpoint list --json | jq '.checkpoints | map(.id)' >"$T/ids"
		echo three >file
		rm untracked
	)
}

# adopted: the checkpoints belong to the current folder, and everything works with them
adopted() {
	git-checkpoint list --json >"$T/list.json" 2>"$T/err"
	test ! -s "$T/err" || fail "list: $(cat "$T/err")"
	jq '.checkpoints | map(.id)' "$T/list.json" >"$T/ids.now"
	expect_same "$T/ids" "$T/ids.now"
	git-checkpoint verify -q --all
	git-checkpoint doctor >"$T/out" || fail "doctor: $(cat "$T/out")"
	store=$(store_dir)
	git --git-dir="$store" fsck --strict --no-dangling
	expect_eq "$PWD" "$(cat "$store/checkpoint/worktree")"
	expect_eq "$PWD" "$(git --git-dir="$store" config core.worktree)"
	expect_eq "# Checkpoints of $PWD" "$(head -n 1 "$store/checkpoint-manifest.md")"
	expect_grep '"action":"relink"' "$store/checkpoint/log"
	git-checkpoint status >"$T/out" 2>"$T/err"
	test ! -s "$T/err" || fail "status: $(cat "$T/err")"
	git-checkpoint stores --json >"$T/out"
	expect_eq "$(basename "$store") present" \
		"$(jq -r --arg p "$PWD" '.stores[] | select(.path == $p and .state != "set-aside") |
			"\(.key) \(.state)"' "$T/out")"
	jq -e 'all(.stores[]; .problem == null)' "$T/out" >/dev/null || fail "stores: $(cat "$T/out")"
	expect_eq '' "$(find "$(checkpoint_home)" -name '*tmp_ckpt_*')" temporaries
}

# works: restore, undo, and take a new checkpoint
works() {
	git-checkpoint restore -q -y @
	fingerprint . >"$T/now"
	expect_same "$T/two" "$T/now"
	git-checkpoint undo -q -y
	expect_eq three "$(cat file)"
	echo four >file
	git-checkpoint save -q
	git-checkpoint diff --quiet
}
