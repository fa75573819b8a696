# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests of restores that do not finish; sourced after restore.sh and strides.sh.
# shellcheck disable=SC2154 # $id is set by save()

. "$LIB_DIR/keep.sh"

# damaged_tree: a checkpoint $target, noted as "target", and a worktree that needs every kind of change
# that a plan knows, noted as "before"
damaged_tree() {
	mkdir -p d/e ro gone/deep swap1
	for file in a b d/x d/e/y ro/f gone/g gone/deep/h swap1/a swap2; do
		echo "old $file" >$file
	done
	ln -s a link
	ln -s b swap3
	chmod 555 ro
	printf '*.log\n' >.gitignore
	save
	target=$id
	note target
	chmod 755 ro
	rm -r gone swap1 swap2 swap3 link
	echo new >a
	chmod 600 b
	echo new >d/x
	echo new >ro/f
	echo new >swap1
	mkdir -p swap2/deep swap3 fresh/deep
	echo new >swap2/deep/a
	echo new >fresh/deep/a
	echo new >fresh/b
	ln -s b link
	# hard links to files that change, also in directories that must be removed
	ln a swap2/deep/linked
	ln b fresh/deep/linked
	ln swap2/deep/a d/linked
	chmod 700 d/e
	# ignored by the checkpoint's rules, not by those of today
	rm .gitignore
	echo precious >x.log
	note before
}

# at_target, at_before <what>
at_target() {
	fingerprint . >"$T/fp.now"
	# what the checkpoint did not capture is still there
	grep -v ' x[.]log$' "$T/fp.now" >"$T/fp.now.rest"
	diff -u "$T/fp.target" "$T/fp.now.rest" || fail "$1: not the target"
	expect_eq precious "$(cat x.log)" "$1: what was ignored"
}

at_before() {
	fingerprint . >"$T/fp.now"
	diff -u "$T/fp.before" "$T/fp.now" || fail "$1: not the state before"
}

# settled <what>: nothing is left of it
settled() {
	no_litter
	restoring 1 restore --continue
	git-checkpoint status >/dev/null 2>"$T/err"
	expect_no_grep interrupted "$T/err"
	git-checkpoint verify -q --all || fail "$1: verify"
}

# killed_at <number> <what>: both ways out of a restore that was killed there
killed_at() {
	again
	killed "$1" "$total" git-checkpoint restore -q -y ${ANSWERS:+-p} "$target" \
		<"${ANSWERS:-/dev/null}" 2>"$T/asked" || return 0
	if test ! -e "$(store_dir)/checkpoint/journal"; then
		# not begun, or done
		fingerprint . | grep -v 'git-checkpoint-restore-' >"$T/fp.now"
		if ! cmp -s "$T/fp.before" "$T/fp.now"; then
			at_target "$2, no journal"
			restoring 0 undo -y
			at_before "$2, done, undone"
		fi
		restore "$target"
		at_target "$2, once more"
		no_litter
		return
	fi
	interrupted=$((interrupted + 1))
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
	restoring 0 restore --continue
	expect_eq true "$(told .verification.match)"
	at_target "$2, continued"
	settled "$2, continued"
	restoring 0 undo -y
	at_before "$2, continued, undone"
	again copy
	restoring 0 restore --abort
	at_before "$2, aborted"
	settled "$2, aborted"
}

# killed_everywhere <stride>: with ANSWERS, a file, what is restored is chosen with -p
killed_everywhere() {
	interrupted=0
	keep
	with_faults "$CHANGES" 0 kill git-checkpoint restore -q -y ${ANSWERS:+-p} "$target" \
		<"${ANSWERS:-/dev/null}" 2>"$T/asked"
	total=$(cat "$T/faults")
	at_target 'not killed'
	test "$total" -ge 10 || fail "only $total calls"
	at=$(begin_at "$1")
	while test "$at" -le "$total"; do
		killed_at "$at" "killed at $at of $total"
		at=$((at + ${STEP:-$1}))
	done
	test $interrupted -gt 0 || fail 'never in the middle of it'
}
