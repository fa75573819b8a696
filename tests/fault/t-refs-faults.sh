#!/bin/sh
# SPDX-License-Identifier: MIT
# Where there are many checkpoints their refs are packed into one file: at no instant is one without
# a ref, and none that was let go comes back. What cannot be read now still counts.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/saves.sh"

# So many that the next save packs them.
many() {
	many_saves 127 1000
	test ! -e "$store/packed-refs" || fail 'packed too early'
	expect_eq 127 "$(ls "$store/refs/checkpoints" | wc -l)"
	cp -a "$store" "$T/before"
}

# expect_all <n>: so many are there, sound, for us and for git
expect_all() {
	expect_eq "$1" "$(git-checkpoint list --json | jq '.checkpoints | length')" 'listed'
	expect_eq "$1" "$(git --git-dir="$store" for-each-ref refs/checkpoints | wc -l)" 'of git'
}

test_interrupted_while_refs_are_packed() {
	many
	with_faults $calls 0 kill git-checkpoint save -q --allow-empty
	count=$(cat "$T/faults")
	expect_exists "$store/packed-refs"
	expect_eq '' "$(ls "$store/refs/checkpoints")" 'loose refs'
	expect_all 128
	git-checkpoint verify --all -q
	# from the ref of the new one on; all of the 128 removals are alike
	at=1
	while test $at -le "$count"; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		expect_exit 137 with_faults $calls $at kill git-checkpoint save -q --allow-empty
		n=$(git-checkpoint list --json | jq '.checkpoints | length')
		test "$n" = 127 || test "$n" = 128 || fail "$n checkpoints after a kill at $at"
		expect_eq "$n" "$(git --git-dir="$store" for-each-ref refs/checkpoints | wc -l)" 'of git'
		git-checkpoint save -q --allow-empty
		expect_all $((n + 1))
		expect_missing "$store/packed-refs.lock"
		# what is let go stays away, whether it was loose, packed or both
		git-checkpoint drop -q @ @~1 @~100
		expect_all $((n - 2))
		if test $at -lt 30 || test $at -gt $((count - 12)); then
			at=$((at + 4))
		else
			at=$((at + 61))
		fi
	done

	# a full disk
	for at in 1 2 4; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		FAULT_STICKY=1 FAULT_PATH=packed-refs with_faults $calls $at ENOSPC \
			git-checkpoint save -q --allow-empty
		expect_all 128
	done
	# git holds the lock: not now, then
	rm -f "$store/packed-refs"
	rm -rf "$store"
	cp -a "$T/before" "$store"
	: >"$store/packed-refs.lock"
	git-checkpoint save -q --allow-empty
	expect_all 128
	expect_missing "$store/packed-refs"
	rm "$store/packed-refs.lock"
	git-checkpoint save -q --allow-empty
	expect_exists "$store/packed-refs"
	expect_all 129
}

# A name protects its checkpoint. If its file cannot be read, nobody knows which one that is.
test_a_name_that_cannot_be_read_now() {
	git init -q
	for i in 1 2 3 4; do
		echo $i >a
		git-checkpoint save -q -m "$i"
	done
	id=$(git-checkpoint list --json | jq -r '.checkpoints[3].id')
	git-checkpoint pin -q --name keep "$id"
	for error in EMFILE EIO; do
		for command in 'prune --max-count 1' "drop $id" 'save -q'; do
			echo "$error $command" >a
			status=0
			# shellcheck disable=SC2086 # words
			GIT_CHECKPOINT_MAX_COUNT=1 FAULT_STICKY=1 FAULT_PATH=refs/keep/name/keep \
				with_faults open 1 $error git-checkpoint $command 2>"$T/err" || status=$?
			test "$command" = 'save -q' || expect_eq 128 $status "$command"
			git-checkpoint show keep >"$T/out" || fail "$error: $command"
			expect_grep "$id" "$T/out"
			expect_eq 4 "$(git-checkpoint list --json | jq '.checkpoints[:4] | length')"
		done
	done
	# What stock git puts there may be anything; it protects nothing, and is in nobody's way.
	mkdir -p "$(store_dir)/refs/keep/name/dir"
	ln -s nowhere "$(store_dir)/refs/keep/name/link"
	git-checkpoint prune -q --max-count 1
	expect_eq 2 "$(git-checkpoint list --json | jq '.checkpoints | length')"
	git-checkpoint show keep >"$T/out"
}

# The stack of restores is not forgotten, and what it leads to is not let go.
test_a_stack_of_restores_that_cannot_be_read_now() {
	echo 1 >a
	git-checkpoint save -q
	for i in 2 3; do
		echo $i >a
		git-checkpoint restore -q --yes @
	done
	oldest=$(git-checkpoint list --json | jq -r '.checkpoints[1].id')
	echo 4 >a
	for error in EMFILE EIO; do
		for command in 'restore -q --yes @' 'undo -q --yes' "drop $oldest" 'prune --max-automatic 1'; do
			status=0
			# shellcheck disable=SC2086 # words
			FAULT_STICKY=1 FAULT_PATH=checkpoint/undo \
				with_faults open 1 $error git-checkpoint $command >"$T/out" 2>"$T/err" || status=$?
			test "$command" = 'prune --max-automatic 1' || expect_eq 128 $status "$command: $(cat "$T/err")"
			expect_eq 4 "$(cat a)" "$error: $command"
			git-checkpoint show "$oldest" >"$T/out" || fail "$error: $command"
		done
	done
	for i in 3 2; do
		git-checkpoint undo -q --yes
		expect_eq $i "$(cat a)"
	done
}

# So is what a process that runs now will need.
test_holds_that_cannot_be_read_now() {
	git init -q
	for path in refs/keep/process refs/keep/process/; do
		for error in EMFILE EIO; do
			echo 1 >a
			cat >"$T/command.sh" <<-EOF
				for i in 2 3 4; do
					echo \$i >a
					git-checkpoint save -q -m \$i
				done
				env LD_PRELOAD=$BUILD_DIR/faultfs.so FAULT_CALLS=open FAULT_AT=1 FAULT_STICKY=1 \
					FAULT_PATH=$path FAULT_DO=$error git-checkpoint prune -q --max-count 1
				exit 7
			EOF
			git-checkpoint run --rollback -- sh "$T/command.sh" >"$T/out" 2>&1 || true
			expect_eq 1 "$(cat a)" "$error: $(cat "$T/out")"
		done
	done
}

run_tests
