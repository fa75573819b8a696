# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of restore on other file systems; sourced after restore.sh. The current directory
# is a worktree on one of them, below $T/mounted.
# shellcheck disable=SC2154 # $id is set by save()

# every_change: a checkpoint $target, noted as "target", and then every kind of change that a plan knows
every_change() {
	mkdir -p d/e gone/deep swap1
	for file in a b d/x d/e/y gone/g gone/deep/h swap1/a swap2; do
		echo "old $file" >$file
	done
	ln -s a link
	ln -s b swap3
	save
	# shellcheck disable=SC2154 # by save
	target=$id
	note target
	rm -r gone swap1 swap2 swap3 link
	echo new >a
	echo new >d/x
	echo new >swap1
	mkdir -p swap2/deep swap3 fresh/deep
	echo new >swap2/deep/a
	echo new >fresh/deep/a
	ln -s b link
	note before
}

# all_ways [<command>]: restore, undo, and be killed halfway; the command is run before each of
# them
all_ways() {
	all_ways_ready=${1:-:}
	every_change
	$all_ways_ready
	restore "$target"
	expect_eq true "$(told .verification.match)"
	expect_not_warned changed
	expect_noted target
	$all_ways_ready
	there_and_back
	$all_ways_ready
	restoring 0 undo -y
	$all_ways_ready
	FAULT_PATH=$T/mounted with_faults rename,link 0 kill git-checkpoint redo -q -y
	total=$(cat "$T/faults")
	restoring 0 undo -y
	expect_noted before
	for part in 2 4; do
		for way in --continue --abort; do
			$all_ways_ready
			FAULT_PATH=$T/mounted expect_exit 137 with_faults rename,link \
				$((total * (part - 1) / part)) kill git-checkpoint redo -q -y
			expect_exists "$(store_dir)/checkpoint/journal"
			restoring 0 restore $way
			if test $way = --continue; then
				expect_noted target
				restoring 0 undo -y
			fi
			expect_noted before
			no_litter
		done
	done
	git-checkpoint verify -q --all
}
