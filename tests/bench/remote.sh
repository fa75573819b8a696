# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: a push of ten changed files of the tree, beside `git push` of a commit with the same
# files. Each side has a bare repository of its own, which has everything but what changed.

HUB=$SCRATCH/hub

first_push() {
	rm -rf "$HUB"
	git init -q --bare "$HUB/ours"
	git init -q --bare "$HUB/git"
	(cd "$TREE" && git-checkpoint save -q -m x && git-checkpoint remote add -q hub "$HUB/ours" &&
		git-checkpoint push -q hub) || exit 2
	git --git-dir="$SHADOW" --work-tree="$TREE" add -A
	git --git-dir="$SHADOW" --work-tree="$TREE" commit -q --allow-empty -m x
	git --git-dir="$SHADOW" remote add hub "$HUB/git"
	git --git-dir="$SHADOW" push -q hub HEAD:refs/heads/main
}

ours_push() {
	(cd "$TREE" && git-checkpoint save -q -m x) || exit 2
	ours push git-checkpoint push -q hub
}

# shellcheck disable=SC2016 # expanded by the measured shell
stock_push() {
	git --git-dir="$SHADOW" --work-tree="$TREE" add -A
	git --git-dir="$SHADOW" --work-tree="$TREE" commit -q -m x
	stock push '$1 push -q hub HEAD:refs/heads/main'
}

pushes() {
	has_command push || return 0
	say 'pushes'
	first_push
	round=0
	while test $round -lt "$ROUNDS"; do
		round=$((round + 1))
		change $((700 + round))
		turns $round ours_push stock_push
	done
	rm -rf "$HUB"
}

rows_push() {
	row_time 'push of 10 changed files' push 2.0 1.5
}
