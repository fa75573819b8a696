#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --git, killed at every step that changes the repository: --continue and --abort lead to all
# new or all old, files and git's state alike.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"
. "$LIB_DIR/whole.sh"

id= # of the checkpoint that was saved last

# finished_rebase: a checkpoint $target in the middle of a rebase, with things staged whose objects
# are pruned since, and with a branch that was deleted since; now another operation is in progress
finished_rebase() {
	project
	git checkout -q feature
	git config branch.feature.remote origin
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	echo half >a
	echo staged >f1
	git add f1
	saved_there
	target=$id
	git checkout -q -f main
	rm -rf .git/rebase-merge
	git branch -q -D feature
	git reset -q --hard
	git branch other "$(sed -n 1p .git/ORIG_HEAD)"
	git prune --expire=now
	! git cherry-pick other~1 >"$T/log" 2>&1 || fail 'no conflict'
	mark before
}

# both_ways <what>: of an interrupted restore
both_ways() {
	if test ! -e "$(store_dir)/checkpoint/journal"; then
		# not begun, or done
		whereabouts | grep -v '^? [.]git-checkpoint-restore-' >"$T/git.now"
		cmp -s "$T/git.now" "$T/git.before" || expect_at "then" "$1, done"
		return
	fi
	interrupted=$((interrupted + 1))
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
	restoring 0 restore --continue
	expect_eq true "$(told .git.match)" "$1, continued"
	expect_at "then" "$1, continued"
	restoring 0 undo -y
	expect_at before "$1, continued, undone"
	again copy
	restoring 0 restore --abort
	expect_at before "$1, aborted"
	# if it was killed at the very end there is something to undo, which leads to the same
	git-checkpoint undo -q -y 2>"$T/err" || :
	expect_at before "$1, aborted, undone"
}

test_killed_at_every_change_in_the_git_directory() {
	finished_rebase
	keep
	interrupted=0
	for path in "$T/work/.git" checkpoint/journal checkpoint/undo; do
		export FAULT_PATH=$path
		again
		with_faults "$CHANGES" 0 kill git-checkpoint restore -q -y --git "$target"
		total=$(cat "$T/faults")
		expect_at "then" 'not killed'
		test "$total" -gt 0 || fail "no call on '$path'"
		at=$(begin_at 5)
		while test "$at" -le "$total"; do
			again
			if killed "$at" "$total" git-checkpoint restore -q -y --git "$target"; then
				both_ways "killed at $at of $total in $path"
			fi
			at=$((at + ${STEP:-5}))
		done
	done
	test $interrupted -gt 0 || fail 'never in the middle of it'
}

# a_git_that_kills <when> <number>: of the commands that write, the one with that number kills its
# caller before it does anything, after it has done it, or in the middle of it, with its locks left
a_git_that_kills() {
	mkdir -p "$T/bin"
	real=$(command -v git)
	rm -f "$T/calls"
	cat >"$T/bin/git" <<-EOF
		#!/bin/sh
		for word; do
			case \$word in
			update-ref | symbolic-ref | fast-import | unpack-objects | update-index) writes=\$word ;;
			--add | --unset-all) writes=config ;;
			# a question
			-q) test "\$writes" != symbolic-ref || writes= ;;
			esac
		done
		test -n "\$writes" || exec "$real" "\$@"
		echo \$writes >>"$T/calls"
		test \$(wc -l <"$T/calls") = $2 || exec "$real" "\$@"
		case $1 in
		before) ;;
		after) "$real" "\$@" ;;
		amid)
			test \$writes != update-ref || sed -n 's/^[a-z]* \(refs[^ ]*\) \([0-9a-f]*\).*/\1 \2/p' | while read -r ref new; do
				echo "\$new" >".git/\$ref.lock"
				: >.git/HEAD.lock
				: >.git/packed-refs.lock
				echo half >.git/packed-refs.new
				: >.git/CHERRY_PICK_HEAD.lock
			done
			test \$writes != symbolic-ref || echo 'ref: refs/heads/x' >.git/HEAD.lock
			test \$writes != config || head -c 20 .git/config >.git/config.lock
			test \$writes != update-index || : >.git/index.checkpoint.lock
			;;
		esac
		kill -9 \$PPID
	EOF
	chmod +x "$T/bin/git"
}

test_killed_around_every_command_that_writes() {
	finished_rebase
	keep
	interrupted=0
	a_git_that_kills never 0
	PATH="$T/bin:$PATH" git-checkpoint restore -q -y --git "$target"
	total=$(wc -l <"$T/calls")
	expect_at "then" 'not killed'
	sort -u "$T/calls" | tr '\n' ' ' >"$T/kinds"
	expect_eq 'config fast-import update-index update-ref ' "$(cat "$T/kinds")"
	for when in before after amid; do
		at=$(begin_at 3)
		while test "$at" -le "$total"; do
			again
			a_git_that_kills $when "$at"
			expect_exit 137 env PATH="$T/bin:$PATH" git-checkpoint restore -q -y --git "$target"
			both_ways "killed $when command $at, $(sed -n "${at}p" "$T/calls")"
			at=$((at + ${STEP:-3}))
		done
	done
	test $interrupted -gt 0 || fail 'never in the middle of it'
}

# While somebody else has a lock, it is neither continued nor aborted.
test_a_lock_of_somebody_else_after_an_interruption() {
	finished_rebase
	a_git_that_kills after 2
	expect_exit 137 env PATH="$T/bin:$PATH" git-checkpoint restore -q -y --git "$target"
	rm -f .git/index.lock .git/index.checkpoint
	echo mine >.git/index.lock
	for way in --continue --abort; do
		restoring 5 restore $way
		expect_grep "/.git/index.lock' exists" "$T/restore.json"
		expect_eq mine "$(cat .git/index.lock)"
	done
	rm .git/index.lock
	restoring 0 restore --abort
	expect_at before
}

# An undo that is killed is finished or taken back as well.
test_an_undo_that_is_killed() {
	finished_rebase
	restore --git "$target"
	keep
	a_git_that_kills never 0
	PATH="$T/bin:$PATH" git-checkpoint undo -q -y
	total=$(wc -l <"$T/calls")
	expect_at before
	for when in before after; do
		at=$(begin_at 3)
		while test "$at" -le "$total"; do
			again
			a_git_that_kills $when "$at"
			expect_exit 137 env PATH="$T/bin:$PATH" git-checkpoint undo -q -y
			rm -rf "$T/copy"
			mkdir "$T/copy"
			cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
			restoring 0 restore --continue
			expect_at before "killed $when $at, continued"
			restoring 0 redo -y
			expect_at "then" "killed $when $at, continued, redone"
			again copy
			restoring 0 restore --abort
			expect_at "then" "killed $when $at, aborted"
			restoring 0 undo -y
			expect_at before "killed $when $at, aborted, undone"
			at=$((at + ${STEP:-3}))
		done
	done
}

# Where a file cannot have two names, the lock of the index is a copy, and still known to be ours.
test_a_file_system_without_links() {
	finished_rebase
	keep
	interrupted=0
	export FAULT_PATH="$T/work/.git" FAULT_LACKS=link
	CHANGES=write,openat-create,rename
	with_faults "$CHANGES" 0 kill git-checkpoint restore -q -y --git "$target"
	total=$(cat "$T/faults")
	expect_at "then"
	restoring 0 undo -y
	expect_at before
	at=$(begin_at 7)
	while test "$at" -le "$total"; do
		again
		if killed "$at" "$total" git-checkpoint restore -q -y --git "$target"; then
			both_ways "killed at $at of $total without links"
		fi
		at=$((at + ${STEP:-7}))
	done
}

# A power cut after the end of it must not take a branch back.
test_names_of_branches_are_synced() {
	finished_rebase
	for path in .git/refs/heads .git; do
		keep
		FAULT_PATH=$T/work/$path with_faults fsync 0 kill git-checkpoint restore -q -y --git "$target"
		test "$(cat "$T/faults")" -gt 0 || fail "$path is not synced"
		again
	done
}

# A disk that fails stops it halfway; nothing is lost.
test_a_disk_that_fails() {
	finished_rebase
	keep
	export FAULT_PATH="$T/work/.git"
	with_faults "$CHANGES" 0 kill git-checkpoint restore -q -y --git "$target"
	total=$(cat "$T/faults")
	at=$(begin_at 7)
	while test "$at" -le "$total"; do
		again
		status=0
		FAULT_STICKY=1 with_faults "$CHANGES" "$at" ENOSPC git-checkpoint restore -q -y --git "$target" \
			2>"$T/err" || status=$?
		test $status != 0 || fail "call $at of $total failed, and nobody noticed"
		interrupted=0
		both_ways "a full disk from call $at of $total on"
		at=$((at + ${STEP:-7}))
	done
}

run_tests
