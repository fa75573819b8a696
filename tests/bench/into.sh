# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: a copy of the dirty state elsewhere. With stock git that is a worktree of the commit, and
# everything copied that is not as in the commit.

ours_into() {
	new_away
	ours into git-checkpoint restore -q --into "$SCRATCH/away/$AWAY/copy" @
}

ours_into_worktree() {
	new_away
	ours into-worktree git-checkpoint restore -q --into "$SCRATCH/away/$AWAY/copy" --worktree @
}

# stock_into <key>
stock_into() {
	new_away
	stock "$1" "git worktree add -q --detach '$SCRATCH/away/$AWAY/copy' HEAD &&
		git ls-files -z --modified --others --exclude-standard |
		tar cf - --null -T - | tar xpf - -C '$SCRATCH/away/$AWAY/copy'"
}

# 60,000 files that are committed, ten of them changed, and 2,000 that are not
copies() {
	say 'copies elsewhere'
	test -s "$SCRATCH/files" || git -C "$TREE" ls-files | grep -v '^"' >"$SCRATCH/files"
	change 50
	mktree --files 2000 --dirs 100 --bytes 6000000 "$TREE/bench-untracked"
	(cd "$TREE" && git-checkpoint save -q) || exit 2
	round=0
	while test $round -lt "$ROUNDS"; do
		round=$((round + 1))
		ours_into
		stock_into into
		stock_into into-worktree
		ours_into_worktree
	done
	rm -rf "$TREE/bench-untracked"
}
