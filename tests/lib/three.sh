# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For tests that need three checkpoints; sourced after harness.sh.

. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# three [<file>]: with files one, two and three each; of the first two one is gone in the third (one).
# The ids are left in $first $second $third, the store in $store, $home and $key, what they are in $T/three
three() {
	mkdir d
	noise 3000 >d/one
	save -m one
	first=$id
	noise 3000 >d/two
	chmod 600 d/two
	save -m two
	second=$id
	rm "d/${1:-one}"
	noise 3000 >d/three
	save -m three
	third=$id
	store=$(store_dir)
	key=${store##*/}
	home=${store%/*}
	describe >"$T/three"
}

# What the checkpoints are: ids, commits, state hashes.
describe() {
	git-checkpoint list --json | jq -r '.checkpoints[] | "\(.id) \(.commit) \(.hash)"'
}

object() {
	git --git-dir="$store" rev-parse "$1"
}
