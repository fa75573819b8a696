#!/bin/sh
# SPDX-License-Identifier: MIT
# restore: exact, previewed, reversible, verified, and reported to the letter.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# ---- the round trip ----

# round_trip <seed>
round_trip() {
	make_tree "$1" 60
	save --include-ignored --include-sensitive
	target=$id
	note target
	damage_tree "$1"
	note damaged
	untouched restoring 0 restore --dry-run "$target"
	told '.changes_reverted | tostring' >"$T/planned"
	restore "$target"
	told '.changes_reverted | tostring' >"$T/done"
	expect_same "$T/planned" "$T/done"
	expect_eq 'true true' "$(told '"\(.rolled_back) \(.verification.match)"')" "seed $1"
	expect_noted target
	restoring 0 undo --yes
	expect_noted damaged
	restoring 0 redo --yes
	expect_noted target
	no_litter
	find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +
	rm -rf "$XDG_STATE_HOME"
	mkdir "$XDG_STATE_HOME"
}

test_random_trees_come_back_after_random_damage() {
	seed=0
	while test $seed -lt "${CKPT_TEST_ROUNDS:-8}"; do
		seed=$((seed + 1))
		round_trip $seed
	done
}

test_random_trees_of_a_repository() {
	git init -q
	seed=100
	while test $seed -lt $((100 + ${CKPT_TEST_ROUNDS:-3})); do
		seed=$((seed + 1))
		make_tree $seed 60
		save --include-ignored --include-sensitive --allow-empty
		note target
		fingerprint_raw .git >"$T/git.before"
		damage_tree $seed
		restore "$id"
		expect_noted target
		fingerprint_raw .git >"$T/git.after"
		expect_same "$T/git.before" "$T/git.after"
	done
}

test_everything_deleted_comes_back() {
	make_tree 5 200
	save --include-ignored --include-sensitive
	note target
	find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +
	restore "$id"
	expect_noted target
	expect_eq 0 "$(told '[.changes_reverted[] | select(.operation != "delete")] | length')"
}

test_an_empty_tree_comes_back() {
	save
	mkdir d e
	echo 1 >d/a
	restore "$id"
	expect_eq '' "$(ls -A)"
	restoring 0 undo --yes
	expect_eq 1 "$(cat d/a)"
	expect_exists e
}

test_one_thread_does_the_same() {
	export GIT_CHECKPOINT_THREADS=1
	round_trip 77
	export GIT_CHECKPOINT_THREADS=5
	round_trip 77
}

# ---- what is not touched ----

test_unchanged_files_keep_time_and_inode() {
	mkdir d
	echo 1 >same
	echo 2 >d/same
	echo 3 >d/other
	ln -s same link
	touch -d '2001-01-01' same d/same
	save
	echo x >d/other
	echo x >d/new
	stat -c '%n %i %Y %Z' same d/same link >"$T/before"
	restore "$id"
	stat -c '%n %i %Y %Z' same d/same link >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq 3 "$(cat d/other)"
}

test_a_restore_of_the_present_state_writes_nothing() {
	make_tree 3 60
	save --include-ignored --include-sensitive
	untouched restore "$id"
	expect_reverted
	expect_eq "$id" "$(safety)" 'safety checkpoint'
	expect_eq "$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$id")" \
		"$(told .safety_checkpoint.commit)"
	expect_eq true "$(told .verification.match)"
	expect_eq 1 "$(git-checkpoint list | wc -l)" checkpoints
	restoring 1 undo --yes
	for option in --yes --dry-run; do
		expect_eq "The files are already as in $id; nothing to do" "$(git-checkpoint restore $option "$id")" "$option"
	done
}

test_a_dry_run_touches_nothing() {
	git init -q
	echo 1 >a
	save
	echo 2 >a
	echo 3 >b
	fingerprint_raw "$(store_dir)/refs" >"$T/refs.before"
	untouched restoring 0 restore -n "$id"
	expect_reverted modify a create b
	expect_eq '{"rolled_back":false,"safety_checkpoint":null,"post":null,"match":null}' \
		"$(told '{rolled_back, safety_checkpoint, post: .verification.post_state_hash,
			match: .verification.match} | tostring')"
	fingerprint_raw "$(store_dir)/refs" >"$T/refs.after"
	expect_same "$T/refs.before" "$T/refs.after"
	git-checkpoint restore -n "$id" >"$T/out" 2>"$T/err"
	expect_grep '~ a$' "$T/out"
	expect_grep '[-] b$' "$T/out"
	no_litter
	# and without a yes
	restoring 0 restore --dry-run --force "$id"
}

test_the_repository_is_not_touched() {
	git init -q
	echo 1 >a
	git add a
	git commit -q -m one
	echo 2 >b
	save
	echo 2 >a
	git add a b
	git commit -q -m two
	echo staged >c
	git add c
	untouched_git() {
		fingerprint_raw .git >"$T/git.before"
		"$@"
		fingerprint_raw .git >"$T/git.after"
		expect_same "$T/git.before" "$T/git.after"
	}
	untouched_git restore "$id"
	expect_eq '1 2' "$(cat a b | tr '\n' ' ' | sed 's/ $//')"
	expect_missing c
	untouched_git restoring 0 undo --yes
	untouched_git restoring 0 redo --yes
}

# ---- the user's own check ----

test_a_verify_command() {
	echo 1 >a
	save
	echo 2 >a
	restore --verify-command 'grep 1 a >/dev/null' "$id"
	expect_eq 0 "$(told .verify_command.status)"
	echo 2 >a
	restoring 1 restore -y --verify-command 'grep 2 a' "$id"
	expect_eq 1 "$(told .verify_command.status)"
	expect_eq 1 "$(cat a)"
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	echo "verifyCommand = touch $T/checked; exit 7" >"$XDG_CONFIG_HOME/git-checkpoint/config"
	echo 2 >a
	restoring 1 restore -y "$id"
	expect_exists "$T/checked"
	rm "$T/checked"
	restoring 0 restore -n "$id"
	expect_missing "$T/checked"
}

# Nothing in the worktree or its repository can run a command.
test_no_verify_command_from_the_repository() {
	git init -q
	git config checkpoint.verifyCommand "touch $T/hacked"
	echo 1 >a
	save
	echo 2 >a
	git-checkpoint restore -y "$id" >/dev/null 2>&1
	git -c checkpoint.verifyCommand="touch $T/hacked" checkpoint undo -y >/dev/null 2>&1
	expect_missing "$T/hacked"
}

test_without_verification() {
	echo 1 >a
	save
	echo 2 >a
	restore --no-verify "$id"
	expect_eq '{"match":null,"post":null}' \
		"$(told '.verification | {match, post: .post_state_hash} | tostring')"
	expect_eq 1 "$(cat a)"
	expect_eq true "$(told '.confidence < 1')"
}

test_the_result_is_really_looked_at() {
	# a state hash that no contents give
	echo 1 >a
	save
	store=$(store_dir)
	commit=$(git --git-dir="$store" rev-parse "refs/checkpoints/$id")
	hash=$(json .pre_mutation_state.hash "$T/save.json")
	new=$(git --git-dir="$store" cat-file commit "$commit" |
		sed "s/$hash/sha256:$(printf %064d 7)/" |
		git --git-dir="$store" hash-object -t commit -w --stdin)
	test "$new" != "$commit" || fail 'the record has no state hash'
	git --git-dir="$store" update-ref "refs/checkpoints/$id" "$new"
	echo 2 >a
	restoring 4 restore -y "$id"
	expect_eq 'false 0' "$(told '"\(.verification.match) \(.confidence)"')"
	restoring 0 undo -y
	expect_eq 2 "$(cat a)"
	expect_exit 4 git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_grep 'git checkpoint undo' "$T/err"
}

# The oldest one at maxCount: the safety checkpoint must not push it out.
test_the_target_is_not_evicted() {
	export GIT_CHECKPOINT_MAX_COUNT=3
	echo 1 >a
	save
	oldest=$id
	for i in 2 3; do
		echo $i >a
		save
	done
	echo 4 >a
	restore "$oldest"
	expect_eq 1 "$(cat a)"
	git-checkpoint show "$oldest" >/dev/null
	restoring 0 undo -y
	expect_eq 4 "$(cat a)"
	git-checkpoint show "$oldest" >/dev/null
}

test_from_a_subdirectory_and_with_C() {
	git init -q
	mkdir -p d/e
	echo 1 >a
	echo 1 >d/b
	save
	echo 2 >a
	echo 2 >d/b
	(cd d/e && restore "$id")
	expect_eq '1 1' "$(cat a) $(cat d/b)"
	echo 2 >a
	cd "$T"
	git checkpoint -C work/d restore -q -y "$id"
	expect_eq 1 "$(cat work/a)"
}

# The directory one stands in may be one that goes.
test_the_current_directory_goes() {
	git init -q
	echo 1 >a
	save
	mkdir d
	echo 1 >d/b
	(cd d && restore "$id")
	expect_missing d
	expect_warned 'Orphaned file detected: d/b (removed)'
}

test_a_large_file() {
	noise 12000000 >large
	cksum <large >"$T/before"
	save
	head -c 100 /dev/zero >>large
	restore "$id"
	cksum <large >"$T/after"
	expect_same "$T/before" "$T/after"
	restoring 0 undo -y
	expect_eq 12000100 "$(wc -c <large)"
}

# sparse <path>: at most 256 kB on the disk
sparse() {
	test "$(($(stat -c '%b * %B' "$1")))" -le 262144 ||
		fail "'$1' of $(stat -c %s "$1") bytes takes $(stat -c '%b * %B' "$1") bytes"
}

# A hole is not part of the contents, but writing it out can fill the disk.
test_holes_are_not_written_out() {
	truncate -s 40M end middle all small
	echo begin | dd of=end conv=notrunc status=none
	echo end >>middle
	echo middle | dd of=middle bs=1M seek=20 conv=notrunc status=none
	truncate -s 300k small
	echo x >>small
	sparse end || skip 'no holes on this file system'
	sha256sum end middle all small >"$T/sums"
	save
	rm end middle all small
	restore "$id"
	sha256sum --quiet -c "$T/sums"
	for name in end middle all small; do
		sparse $name
	done
}

run_tests
