#!/bin/sh
# SPDX-License-Identifier: MIT
# What drop and prune ask at a terminal.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/restore.sh"
. "$(dirname "$0")/../../lib/screen.sh"

export GIT_PAGER=cat GIT_CHECKPOINT_ADVICE=false

id= # of the checkpoint that was saved last

# left: reasons of the checkpoints, newest first
left() {
	git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")'
}

test_drop_asks() {
	for n in 1 2 3; do
		echo $n >a
		save -m $n
	done
	for answer in n ''; do
		on_screen 80 24 'git-checkpoint drop @ @~2'
		see 'y/N'
		expect_grep "^  $id  .* ago: 3\$" "$T/screen"
		expect_grep 'Delete these 2 checkpoints for good?' "$T/screen"
		keys "$answer" Enter
		ended 5
		expect_grep '^Nothing was dropped\.$' "$T/screen"
		expect_eq '3 2 1' "$(left)"
	done
	# what was shown goes, not what "@" means by then
	on_screen 80 24 'git-checkpoint drop @'
	see 'y/N'
	echo 4 >a
	git-checkpoint save -q -m 4
	keys y Enter
	ended 0
	expect_grep "^Dropped $id (3)\$" "$T/screen"
	expect_grep '^Freed' "$T/screen"
	expect_eq '4 2 1' "$(left)"
	on_screen 80 24 'git-checkpoint drop -n @'
	ended 0
	expect_no_grep 'y/N' "$T/screen"
	expect_grep '^Would drop chk_.* (4)$' "$T/screen"
	expect_eq '4 2 1' "$(left)"
	on_screen 80 24 'git-checkpoint drop -y @~2'
	ended 0
	expect_no_grep 'y/N' "$T/screen"
	expect_eq '4 2' "$(left)"
	# elsewhere nobody is asked
	git-checkpoint drop @~1 </dev/null >"$T/out"
	expect_grep '^Dropped chk_.* (2)$' "$T/out"
	expect_eq 4 "$(left)"
}

test_prune_asks() {
	for n in 1 2 3; do
		echo $n >a
		save -m $n
	done
	on_screen 80 24 'git-checkpoint prune --max-count 2'
	see 'y/N'
	expect_grep '^  chk_.* ago: 1$' "$T/screen"
	expect_grep 'Delete this checkpoint for good?' "$T/screen"
	keys n Enter
	ended 5
	expect_eq '3 2 1' "$(left)"
	# one more goes now than was shown
	on_screen 80 24 'git-checkpoint prune --max-count 2'
	see 'Delete this'
	echo 4 >a
	git-checkpoint save -q -m 4
	keys y Enter
	see 'Delete these 2'
	expect_eq '4 3 2 1' "$(left)"
	keys y Enter
	ended 0
	expect_grep '^Dropped chk_.* (maxCount 2)$' "$T/screen"
	expect_eq '4 3' "$(left)"
	on_screen 80 24 'git-checkpoint prune'
	ended 0
	expect_grep '^Nothing to drop$' "$T/screen"
	on_screen 80 24 'git-checkpoint prune -y --max-count 1'
	ended 0
	expect_no_grep 'y/N' "$T/screen"
	expect_eq 4 "$(left)"
}

run_tests
