#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --into, killed, without space, and in a directory that somebody else changes: a copy is
# whole, or it is marked, and the same command continues it.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"

CHANGES=$CHANGES,chmod

# a_tree: a checkpoint; "then" is noted
a_tree() {
	mkdir -p a/b/c ro/deep empty
	for file in x a/y a/b/z a/b/c/w ro/f ro/deep/g; do echo "$file" >$file; done
	head -c 5000000 /dev/zero | tr '\0' x >large
	truncate -s 3M sparse
	ln -s a/y link
	chmod 4755 x
	chmod 400 ro/deep/g
	chmod 555 ro/deep ro
	git-checkpoint save -q
	fingerprint . >"$T/fp.then"
}

same() {
	fingerprint "$1" >"$T/fp.copy"
	diff -u "$T/fp.then" "$T/fp.copy" || fail "$2: not the checkpoint"
}

# gone: as if it had never been there
gone() {
	chmod -R u+rwx "$T/copy" 2>/dev/null || :
	rm -rf "$T/copy"
}

test_killed_anywhere_it_is_continued() {
	a_tree
	into="git-checkpoint restore -q --into $T/copy @"
	# shellcheck disable=SC2086
	FAULT_PATH=/copy with_faults "$CHANGES" 0 kill $into
	total=$(cat "$T/faults")
	test "$total" -ge 30 || fail "only $total calls"
	same "$T/copy" 'not killed'
	unfinished=0
	at=$(begin_at 8)
	while test "$at" -le "$total"; do
		gone
		# shellcheck disable=SC2086
		if FAULT_PATH=/copy killed "$at" "$total" $into; then
			# it says what it is, unless nothing is in it
			if test -n "$(ls -A "$T/copy" 2>/dev/null)"; then
				if test -e "$T/copy/.git-checkpoint-into"; then
					unfinished=$((unfinished + 1))
				else
					same "$T/copy" "killed at $at, finished"
					gone
				fi
			fi
			# and killed again on the way
			if test $((at % 2)) = 0; then
				# shellcheck disable=SC2086
				FAULT_PATH=/copy with_faults "$CHANGES" $((at / 2 + 1)) kill $into ||
					test $? = 137
				test -e "$T/copy/.git-checkpoint-into" || gone
			fi
			$into || fail "killed at $at: not continued"
		fi
		same "$T/copy" "killed at $at of $total"
		expect_missing "$T/copy/.git-checkpoint-into"
		at=$((at + ${STEP:-8}))
	done
	test $unfinished -gt 0 || fail 'never in the middle of it'
}

# unfinished: a copy that was killed halfway
unfinished() {
	FAULT_PATH=/copy expect_exit 137 with_faults openat-create 6 kill \
		git-checkpoint restore -q --into "$T/copy" "$@"
	expect_exists "$T/copy/.git-checkpoint-into"
}

test_the_marker_says_what_it_is() {
	a_tree
	unfinished @
	expect_grep 'unfinished copy of the checkpoint chk_' "$T/copy/.git-checkpoint-into"
	# and the command in it works
	command=$(sed -n 's/^    git -C/git -C/p' "$T/copy/.git-checkpoint-into")
	(cd / && sh -c "$command") >"$T/out"
	same "$T/copy" continued
	gone
	# elsewhere by now: what is in it counts, not where it is
	unfinished @
	mv "$T/copy" "$T/moved"
	git-checkpoint restore --json --into "$T/moved" @ >"$T/answer"
	expect_eq true "$(json .continued "$T/answer")"
	same "$T/moved" moved
}

test_another_command_does_not_continue_it() {
	a_tree
	unfinished @
	fingerprint "$T/copy" >"$T/fp.unfinished"
	git-checkpoint save -q --allow-empty -m other
	for line in @ '@~1 -- x' '--worktree @~1' '--force @'; do
		# shellcheck disable=SC2086
		expect_exit 5 git-checkpoint restore -q --into "$T/copy" $line 2>"$T/err"
		expect_grep 'unfinished copy of' "$T/err"
	done
	fingerprint "$T/copy" >"$T/fp.now"
	expect_same "$T/fp.unfinished" "$T/fp.now"
	# what somebody put there is not removed
	echo mine >"$T/copy/a/mine"
	expect_exit 5 git-checkpoint restore -q --into "$T/copy" @~1 2>"$T/err"
	expect_grep "'a/mine' in the unfinished copy" "$T/err"
	expect_eq mine "$(cat "$T/copy/a/mine")"
	rm "$T/copy/a/mine"
	git-checkpoint restore -q --into "$T/copy" @~1
	same "$T/copy" continued
}

test_a_marker_of_somebody_else() {
	a_tree
	mkdir "$T/copy"
	echo hello >"$T/copy/.git-checkpoint-into"
	expect_exit 5 git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
	expect_eq hello "$(cat "$T/copy/.git-checkpoint-into")"
	rm "$T/copy/.git-checkpoint-into"
	mkfifo "$T/copy/.git-checkpoint-into"
	expect_exit 128 git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
	rm "$T/copy/.git-checkpoint-into"
	ln -s "$T/victim" "$T/copy/.git-checkpoint-into"
	expect_exit 128 git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
	expect_missing "$T/victim"
	# nothing was written yet
	rm "$T/copy/.git-checkpoint-into"
	: >"$T/copy/.git-checkpoint-into"
	git-checkpoint restore -q --into "$T/copy" @
	same "$T/copy" 'an empty marker'
}

test_two_at_once() {
	a_tree
	FAULT_RUN="git-checkpoint restore -q --into '$T/copy' @ 2>'$T/err'; echo \$? >'$T/status'" \
		FAULT_PATH=/copy with_faults mkdir 3 run git-checkpoint restore -q --into "$T/copy" @
	expect_eq 75 "$(cat "$T/status")"
	same "$T/copy" 'the first one'
}

test_a_full_disk() {
	a_tree
	for call in mkdir openat-create pwrite; do
		gone
		for error in ENOSPC EIO; do
			FAULT_PATH=/copy FAULT_STICKY=1 expect_exit 128 with_faults $call 2 $error \
				git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
			expect_grep 'unfinished, the same command continues it' "$T/err"
			expect_exists "$T/copy/.git-checkpoint-into"
		done
		git-checkpoint restore -q --into "$T/copy" @
		same "$T/copy" "$call"
	done
	gone
	# before anything was written
	FAULT_PATH=/copy expect_exit 128 with_faults mkdir 1 ENOSPC git-checkpoint restore -q \
		--into "$T/new/copy" @ 2>"$T/err"
	expect_missing "$T/new"
}

test_a_really_full_disk() {
	test "$(id -u)" = 0 || skip 'needs root'
	unshare -m true 2>/dev/null || skip 'needs a mount namespace'
	a_tree
	mkdir "$T/small"
	unshare -m sh -c 'mount -t tmpfs -o size=1m none "$T/small" || exit 77
		git-checkpoint restore -q --into "$T/small/copy" @ 2>"$T/err"
		test $? = 128 && test -e "$T/small/copy/.git-checkpoint-into" || exit 1
		mount -o remount,size=20m "$T/small" &&
			git-checkpoint restore -q --into "$T/small/copy" @ &&
			cp -a "$T/small/copy" "$T/copy"' || { test $? = 77 && skip 'cannot mount'; fail "$(cat "$T/err")"; }
	expect_grep 'No space left' "$T/err"
	same "$T/copy" continued
}

# races <call> <number> <command>: somebody does that just before the call
races() {
	mkdir -p "$T/victim"
	echo precious >"$T/victim/z"
	chmod 640 "$T/victim/z"
	FAULT_RUN=$3 FAULT_PATH=${4:-/copy} with_faults "$1" "$2" run git-checkpoint restore -q \
		--into "$T/copy" @ 2>"$T/err" || status=$?
	expect_eq precious "$(cat "$T/victim/z")"
	expect_eq 640 "$(stat -c %a "$T/victim/z")"
	expect_eq z "$(ls -A "$T/victim")"
	gone
	rm -rf "$T/victim" "$T/away"
}

test_a_directory_becomes_a_link() {
	a_tree
	for at in 2 3 4 5 6 7 8; do
		status=0
		races openat-create $at "test ! -d '$T/copy/a/b' || mv '$T/copy/a/b' '$T/away' && ln -s '$T/victim' '$T/copy/a/b'"
		status=0
		races mkdir $at "test ! -d '$T/copy/a' || mv '$T/copy/a' '$T/away' && ln -s '$T/victim' '$T/copy/a'"
		status=0
		races chmod $at "test ! -d '$T/copy/a/b' || mv '$T/copy/a/b' '$T/away' && ln -s '$T/victim' '$T/copy/a/b'"
		test $status != 0 || fail "not noticed at $at"
	done
}

test_a_file_is_there_before_us() {
	a_tree
	status=0
	races openat-create 2 "ln '$T/victim/z' '$T/copy/large'; ln -s '$T/victim/z' '$T/copy/x'; ln -s '$T/victim/new' '$T/copy/link'"
	expect_eq 128 $status
	# in an unfinished copy, too: it is replaced, not written to
	unfinished @
	mkdir "$T/victim"
	echo precious >"$T/victim/z"
	chmod 640 "$T/victim/z"
	rm -f "$T/copy/x" "$T/copy/large" "$T/copy/a/y"
	ln "$T/victim/z" "$T/copy/large"
	ln -s "$T/victim/z" "$T/copy/x"
	ln -s "$T/victim/new" "$T/copy/a/y"
	git-checkpoint restore -q --into "$T/copy" @
	same "$T/copy" replaced
	expect_eq precious "$(cat "$T/victim/z")"
	expect_eq 640 "$(stat -c %a "$T/victim/z")"
	expect_eq z "$(ls -A "$T/victim")"
}

test_what_changes_after_it_was_written_does_not_verify() {
	a_tree
	# when the directories get their modes, all files are written
	FAULT_RUN="echo changed >'$T/copy/a/y'; mkdir '$T/copy/more'" FAULT_PATH=/ro/deep expect_exit 4 \
		with_faults chmod 2 run git-checkpoint restore --into "$T/copy" @ 2>"$T/err"
	expect_grep "'a/y' is not as in the checkpoint" "$T/err"
	expect_grep "'more' is not as in the checkpoint" "$T/err"
	expect_exists "$T/copy/.git-checkpoint-into"
	rmdir "$T/copy/more"
	# it is somebody's work
	expect_exit 5 git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
	expect_grep "'a/y': it was changed in the unfinished copy; move it away" "$T/err"
	expect_eq changed "$(cat "$T/copy/a/y")"
	rm "$T/copy/a/y"
	git-checkpoint restore -q --into "$T/copy" @
	same "$T/copy" 'once more'
}

# What a killed process or a power cut leaves is made new; what somebody wrote is not lost.
test_only_what_a_copy_left_is_replaced() {
	a_tree
	unfinished @
	truncate -s 1234 "$T/copy/large"
	: >"$T/copy/x"
	printf 'a\0b\0z\n' >"$T/copy/a/b/z"
	truncate -s 0 "$T/copy/sparse"
	git-checkpoint restore -q --into "$T/copy" @
	same "$T/copy" remains
	for work in 'echo more >>' 'printf precious >' 'printf "a/Z\n" >'; do
		gone
		unfinished @
		rm -f "$T/copy/a/y"
		eval "echo a/y | cat >'$T/copy/a/y'; $work '$T/copy/a/y'"
		cp "$T/copy/a/y" "$T/work.copy"
		expect_exit 5 git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
		expect_grep "'a/y': it was changed" "$T/err"
		cmp "$T/work.copy" "$T/copy/a/y"
	done
	# where a link should be
	mv "$T/copy/a/y" "$T/away.y"
	rm -f "$T/copy/link"
	echo precious >"$T/copy/link"
	expect_exit 5 git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
	expect_eq precious "$(cat "$T/copy/link")"
}

test_a_worktree_killed_anywhere() {
	git init -q
	echo a >a
	git add a
	git commit -q -m a
	echo b >b
	git add b
	echo more >>b
	git-checkpoint save -q
	git status --porcelain >"$T/status.then"
	git reset -q
	git prune --expire=now
	into="git-checkpoint restore -q --into $T/copy --worktree -b topic @"
	# shellcheck disable=SC2086
	FAULT_PATH=/ with_faults "$CHANGES" 0 kill $into
	total=$(cat "$T/faults")
	at=$(begin_at 9)
	while test "$at" -le "$total"; do
		git worktree remove --force "$T/copy" 2>/dev/null || gone
		git worktree prune
		git branch -q -D topic 2>/dev/null || :
		# shellcheck disable=SC2086
		if FAULT_PATH=/ killed "$at" "$total" $into; then
			if test $((at % 3)) = 0; then
				# removed, it can be pruned
				gone
				git worktree prune
				expect_eq 1 "$(git worktree list | wc -l)"
				git branch -q -D topic 2>/dev/null || :
			fi
			# done, but for the audit trail
			if test -e "$T/copy" && test -n "$(ls -A "$T/copy")" &&
				test ! -e "$T/copy/.git-checkpoint-into"; then
				:
			else
				$into || fail "killed at $at of $total: not continued"
			fi
		fi
		git -C "$T/copy" status --porcelain >"$T/status"
		expect_same "$T/status.then" "$T/status"
		expect_eq topic "$(git -C "$T/copy" symbolic-ref --short HEAD)"
		expect_eq '.git a b ' "$(ls -A "$T/copy" | tr '\n' ' ')"
		expect_eq 2 "$(git worktree list | grep -v prunable | wc -l)"
		at=$((at + ${STEP:-9}))
	done
}

run_tests
