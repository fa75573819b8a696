# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: the first save in a new worktree of a repository that has another one with a store, and
# the same where it is the first of all.

# first_save <samples> <home>: in the new worktree
first_save() {
	(cd "$SCRATCH/sibling" &&
		GIT_CHECKPOINT_HOME=$2 measure "$SAMPLES/$1" git-checkpoint save -q -m x) || exit 2
}

alone() {
	first_save sibling.git "$SCRATCH/alone"
	rm -rf "$SCRATCH/alone"
}

beside() {
	first_save sibling.ours "$SCRATCH/shared"
}

siblings() {
	say 'another worktree'
	# The program remembers worktrees by path, so each round begins with new stores.
	round=0
	while test $round -lt "$ROUNDS"; do
		round=$((round + 1))
		(cd "$TREE" && GIT_CHECKPOINT_HOME="$SCRATCH/shared" git-checkpoint save -q -m x) || exit 2
		disk size-sibling.git "$SCRATCH/shared"
		git -C "$TREE" worktree add -q --detach "$SCRATCH/sibling"
		turns $round alone beside
		disk size-sibling.ours "$SCRATCH/shared"
		git -C "$TREE" worktree remove --force "$SCRATCH/sibling"
		rm -rf "$SCRATCH/shared"
	done
}
