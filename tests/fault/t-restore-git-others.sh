#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --git while other processes are at work in the repository: what they stage is never
# overwritten, and their locks are never removed.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/keep.sh"
. "$LIB_DIR/whole.sh"

id= # of the checkpoint that was saved last

# moved_on: a checkpoint $target of main with something staged; since then a commit
moved_on() {
	project
	staged
	saved_there
	target=$id
	git add -A
	git commit -q -m more
	mark before
}

# Between the safety checkpoint and index.lock: what is staged then is in no checkpoint yet.
test_what_is_staged_meanwhile_is_not_lost() {
	moved_on
	keep
	for option in --git --index; do
		again
		cat >"$T/other" <<-'END'
			cd "$T/work"
			echo precious >only
			git add only
			rm only
		END
		FAULT_PATH=$T/work/.git FAULT_RUN="sh '$T/other'" \
			with_faults link 1 run git-checkpoint restore -y $option "$target" >"$T/out" 2>&1 || :
		git ls-files --error-unmatch only || git-checkpoint undo -q -y --dry-run
		if ! git ls-files --error-unmatch only; then
			cat "$T/out"
			fail "$option: what was staged meanwhile is gone"
		fi
		expect_grep 'changed meanwhile' "$T/out"
		expect_missing .git/index.lock .git/index.checkpoint
		# going on, or back, has it in a checkpoint
		restoring 0 restore --continue
		git-checkpoint list --json >"$T/list"
		found=
		for each in $(json '.checkpoints[].id' "$T/list"); do
			! git-checkpoint show --staged "$each" | grep -q only || found=$each
		done
		test -n "$found" || fail "$option: in no checkpoint"
	done
}

# interrupted <when>: restore --git, killed before or after it moved the branch
interrupted() {
	mkdir -p "$T/bin"
	real=$(command -v git)
	cat >"$T/bin/git" <<-END
		#!/bin/sh
		case " \$* " in
		*" update-ref "*)
			test $1 = before || "$real" "\$@"
			kill -9 \$PPID
			;;
		*) exec "$real" "\$@" ;;
		esac
	END
	chmod +x "$T/bin/git"
	expect_exit 137 env PATH="$T/bin:$PATH" git-checkpoint restore -q -y --git "$target"
	# as people do
	rm .git/index.lock
	# an hour ago
	journal=$(store_dir)/checkpoint/journal
	hour_ago=$(($(date +%s) - 3600))
	sed -i "s/\"git_began\": *[0-9]*/\"git_began\":$hour_ago/" "$journal"
	expect_grep "\"git_began\":$hour_ago" "$journal"
}

# Long after the interruption another process has a lock, which is empty as those of git are.
test_a_lock_that_is_taken_after_the_interruption() {
	moved_on
	git pack-refs --all
	mark before
	keep
	for way in --continue --abort; do
		again
		test $way = --continue && interrupted before || interrupted after
		for lock in HEAD packed-refs refs/heads/main; do
			: >".git/$lock.lock"
			restoring 5 restore $way
			expect_grep "/.git/$lock.lock' exists" "$T/restore.json"
			expect_exists ".git/$lock.lock"
			rm ".git/$lock.lock"
		done
		restoring 0 restore $way
		test $way = --continue || expect_at before
		test $way = --abort || expect_at "then"
	done
}

run_tests
