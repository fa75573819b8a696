# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2164 # cases run with set -e
#
# For the tests of the directory in which a restore prepares its files; sourced after harness.sh.

. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last
NAME=.git-checkpoint-restore-0123456789abcdef

# two_states: a checkpoint $target; some of its files no longer exist, others are changed
two_states() {
	mkdir d
	for file in a b d/x d/y; do
		echo "old $file" >$file
	done
	save
	target=$id
	note target
	rm b
	echo 'new a' >a
	echo 'new x' >d/x
	echo 'fresh' >fresh
	ln -s a link
	note before
}

# interrupt [-- <path>...]: begin to restore $target, and be killed when half of it is in place; $staging is the
# directory that is left
interrupt() {
	cp -a "$T/work" "$T/spare"
	cp -a "$(checkpoint_home)" "$T/spare.home"
	FAULT_PATH=$T/work with_faults rename 0 kill git-checkpoint restore -q -y "$target" "$@"
	renames=$(cat "$T/faults")
	cd "$T"
	rm -rf work "$(checkpoint_home)"
	mv spare work
	mv spare.home "$(checkpoint_home)"
	cd work
	FAULT_PATH=$T/work expect_exit 137 with_faults rename $((renames / 2 + 1)) kill \
		git-checkpoint restore -q -y "$target" "$@"
	staging=$(jq -r '.stages[]' "$(store_dir)/checkpoint/state")
	expect_exists "$staging/git-checkpoint-staging" "$(store_dir)/checkpoint/journal"
	ls -A "$staging" >"$T/displaced"
	test "$(wc -l <"$T/displaced")" -gt 1 || fail 'nothing was displaced'
}

captured() {
	git --git-dir="$(store_dir)" ls-tree -r -t --name-only "refs/checkpoints/$1"
}

expect_save_warned() {
	json '[.warnings[] | . + "\n"] | add // ""' "$T/save.json" >"$T/warnings"
	expect_eq "$1" "$(grep -c "$2" "$T/warnings" || :)" "warnings about $2"
}
