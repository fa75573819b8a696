# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of `restore --index` and `restore --git`; sourced after harness.sh and restore.sh. All of
# them work on the repository around the current directory.
# shellcheck disable=SC2154 # $id is set by save()

# project: branches main, which is checked out, and feature, which conflicts with it in `a`
project() {
	git init -q -b main "$@"
	for i in 1 2 3; do
		echo $i >a
		echo $i >f$i
		git add .
		git commit -q -m $i
	done
	git checkout -q -b feature HEAD~1
	echo feature >a
	git commit -q -a -m f1
	echo x >x
	git add x
	git commit -q -m f2
	git checkout -q main
}

# staged: something of each kind is staged, and something not
staged() {
	echo staged >f1
	git add f1
	echo unstaged >>f1
	git rm -q --cached f2
	echo new >new
	git add new
	echo later >later
	git add -N later
	echo untracked >untracked
}

# whereabouts: all that git tells about where its user is
whereabouts() {
	(
		set +e
		# the index is not refreshed here: that is for git to do, not for a question
		export GIT_OPTIONAL_LOCKS=0
		git status --porcelain=v2 --branch
		git diff --cached
		git ls-files -s -v
		git ls-files --resolve-undo
		git log --format='%H %s' -5
		git symbolic-ref -q HEAD || git rev-parse HEAD
		cd "$(git rev-parse --git-dir)" || exit
		find . -maxdepth 2 \( -path './rebase-*/*' -o -path './sequencer/*' -o -name 'MERGE_*' \
			-o -name 'BISECT_*' -o -name '*_HEAD' ! -name FETCH_HEAD ! -name ORIG_HEAD \) -type f |
			sort | while read -r file; do
			echo "== $file"
			cat "$file"
		done
	) 2>/dev/null
}

# others: what only undo brings back: all branches, stashes, configuration
others() {
	git for-each-ref --format='%(refname) %(objectname)'
	git stash list
	cat "$(git rev-parse --git-common-dir)/config"
}

# mark <name>: note where everything is, git's state and files
mark() {
	whereabouts >"$T/git.$1"
	others >"$T/refs.$1"
	fingerprint . >"$T/files.$1"
}

# expect_at <name> [<what>]: everything is as it was there; all other branches and the configuration
# only if it is "before"
expect_at() {
	whereabouts >"$T/git.now"
	diff -u "$T/git.$1" "$T/git.now" || fail "${2:-git}: not as at '$1'"
	others >"$T/refs.now"
	test "$1" != before || diff -u "$T/refs.$1" "$T/refs.now" || fail "${2:-git}: refs are not as before"
	fingerprint . >"$T/files.now"
	diff -u "$T/files.$1" "$T/files.now" || fail "${2:-files}: not as at '$1'"
	git fsck --no-dangling >"$T/fsck" 2>&1 || {
		cat "$T/fsck"
		fail "${2:-git}: fsck"
	}
	expect_missing "$(git rev-parse --git-dir)/index.lock" "$(git rev-parse --git-dir)/index.checkpoint"
}

# there_and_back: a checkpoint $id was saved and noted as "then": go there, back, and there again
there_and_back() {
	mark before
	restore --git "$id"
	expect_eq true "$(told .verification.match)"
	expect_eq true "$(told .git.match)"
	expect_at "then" 'restored'
	restoring 0 undo -y
	expect_at before 'undone'
	restoring 0 redo -y
	expect_at "then" 'redone'
}

# saved_there: take a checkpoint and note where it was
saved_there() {
	save
	mark "then"
}
