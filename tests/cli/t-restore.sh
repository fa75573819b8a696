#!/bin/sh
# SPDX-License-Identifier: MIT
# restore: exact, previewed, reversible, verified, and reported to the letter.

. "$(dirname "$0")/../lib/harness.sh"
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

# ---- the answer ----

test_the_answer_has_every_key() {
	echo 1 >a
	echo 1 >gone
	save
	before=$(json .pre_mutation_state.hash "$T/save.json")
	created=$(json .checkpoint.created_at "$T/save.json")
	echo 2 >a
	echo 2 >new
	rm gone
	restore "$id"
	expect_eq 'assumptions changes_reverted confidence evidence_anchors next_actions restored_to rolled_back safety_checkpoint verification warnings' \
		"$(told 'keys | join(" ")')"
	expect_eq "{\"checkpoint_id\":\"$id\",\"checkpoint_type\":\"file_backup\",\"timestamp\":\"$created\"}" \
		"$(told '.restored_to | tostring')"
	expect_eq '["checkpoint_hash","match","post_state_hash","pre_state_hash"]' \
		"$(told '.verification | keys | tostring')"
	expect_eq "$before $before true" \
		"$(told '.verification | "\(.checkpoint_hash) \(.post_state_hash) \(.match)"')"
	expect_eq '["commit","id"]' "$(told '.safety_checkpoint | keys | tostring')"
	expect_eq '["file","operation","summary"]' \
		"$(told '[.changes_reverted[] | keys] | unique | map(tostring) | join(" ")')"
	expect_reverted modify a delete gone create new
	expect_warned 'Orphaned file detected: new (removed)'
	expect_eq 1 "$(told .confidence)"
	expect_eq true "$(told '[.next_actions, .evidence_anchors, .assumptions] |
		all(type == "array" and all(type == "string"))')"
	expect_eq true "$(told ".evidence_anchors | index(\"$id\") != null")"
	# what the safety checkpoint is
	git-checkpoint show --json "$(safety)" >"$T/safety.json"
	expect_eq 'pre-restore-safety checkpoint' "$(json '"\(.reason) \(.source)"' "$T/safety.json")"
	expect_eq "$(told .safety_checkpoint.commit)" "$(json .commit "$T/safety.json")"
	expect_eq "$(told .verification.pre_state_hash)" "$(json .hash "$T/safety.json")"
	expect_eq '2 2' "$(held_by "$(safety)" a) $(held_by "$(safety)" new)"
}

test_the_text_tells_the_same() {
	echo 1 >a
	echo 1 >gone
	save
	echo 2 >a
	echo 2 >new
	rm gone
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_grep "^Restored $id" "$T/out"
	expect_grep '~ a$' "$T/out"
	expect_grep '[+] gone$' "$T/out"
	expect_grep '[-] new$' "$T/out"
	# the plan says it, once
	expect_eq '' "$(cat "$T/err")"
	newest=$(git-checkpoint show --json @ | jq -r .id)
	expect_grep "$newest" "$T/out"
	echo 2 >a
	git-checkpoint restore -q -y "$id" >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out")"
	expect_eq 1 "$(cat a)"
}

test_every_kind_of_change_is_one_entry() {
	echo 1 >contents
	echo 1 >mode
	echo 1 >was-file
	ln -s 1 link
	ln -s 1 was-link
	mkdir was-dir was-empty d
	echo 1 >was-dir/a
	echo 1 >d/a
	save
	note target
	echo 2 >contents
	chmod 600 mode
	rm was-file was-link
	mkdir was-file
	echo 1 >was-file/a
	echo 1 >was-file/b
	echo 1 >was-link
	rm link
	ln -s 2 link
	rm -r was-dir was-empty
	echo 1 >was-dir
	ln -s 1 was-empty
	chmod 700 d
	mkdir new-empty new-full
	echo 1 >new-full/a
	restore "$id"
	expect_reverted modify contents modify d modify link modify mode create new-empty \
		create new-full/a modify was-dir modify was-empty modify was-file modify was-link
	told '.changes_reverted[] | "\(.file): \(.summary)"' >"$T/summaries"
	expect_grep '^mode: .*0600.*0644' "$T/summaries"
	expect_grep '^d: .*0700.*0755' "$T/summaries"
	expect_grep '^was-file: directory.* file' "$T/summaries"
	expect_grep '^was-link: file.* symbolic link' "$T/summaries"
	expect_grep '^contents: contents' "$T/summaries"
	expect_noted target
}

test_odd_names_in_the_answer() {
	save
	echo 1 >"$(printf 'a\377')"
	echo 1 >"$(printf 'a\nb')"
	echo 1 >'"q'
	echo 1 >'ä b'
	restore "$id"
	told '[.changes_reverted[].file] | tostring' >"$T/files"
	expect_eq '["\"\\\"q\"","a\nb","\"a\\377\"","ä b"]' "$(cat "$T/files")"
	expect_warned 'Orphaned file detected: "a\377" (removed)'
	expect_eq '' "$(ls -A)"
}

# ---- consent ----

test_without_a_yes_nothing_happens() {
	echo 1 >a
	save
	echo 2 >a
	untouched restoring 5 restore "$id"
	refused -- --yes
	expect_eq 5 "$(told .error.code)"
	# --force is no yes, nor is one in a pipe
	untouched restoring 5 restore --force "$id"
	echo yes | expect_exit 5 git-checkpoint restore "$id" >"$T/out" 2>"$T/err"
	expect_eq 2 "$(cat a)"
	expect_eq 1 "$(git-checkpoint list | wc -l)"
	restore "$id"
	untouched restoring 5 undo
	restoring 0 undo -y
	untouched restoring 5 redo
	expect_eq 2 "$(cat a)"
}

test_a_terminal_is_asked() {
	require_terminal
	echo 1 >a
	save
	echo 2 >a
	echo 3 >b
	script -qec "git-checkpoint restore $id" "$T/typescript" <<-'END' >/dev/null || status=$?
	n
	END
	expect_eq 5 "${status:-0}"
	expect_eq 2 "$(cat a)"
	expect_grep '~ a' "$T/typescript"
	expect_grep '[-] b' "$T/typescript"
	script -qec "git-checkpoint restore $id" "$T/typescript" <<-'END' >/dev/null
	y
	END
	expect_eq 1 "$(cat a)"
	expect_missing b
}

test_an_expired_one_needs_force() {
	require faketime
	echo 1 >a
	save --expires 1h
	echo 2 >a
	expect_exit 5 later +2h git-checkpoint restore -y --json "$id" >"$T/restore.json" 2>"$T/restore.err"
	refused "$id" -- --force
	expect_eq 2 "$(cat a)"
	later +2h git-checkpoint restore -y --force "$id" >/dev/null 2>&1
	expect_eq 1 "$(cat a)"
}

test_an_unknown_or_ambiguous_one() {
	echo 1 >a
	save
	echo 2 >a
	save
	echo 3 >a
	for name in chk_19990101_000000_abcdef @~7 step:9 deadbeef nonsense; do
		untouched restoring 128 restore -y $name
		expect_eq 128 "$(told .error.code)" "$name"
	done
	untouched restoring 128 restore -y chk_
	untouched restoring 129 restore -y
	untouched restoring 129 restore -y --nonsense @
	untouched restoring 129 restore -y --continue @
	untouched restoring 129 restore -y --continue --abort
	restoring 1 restore --continue
	restoring 1 restore --abort
	restore @~1
	expect_eq 1 "$(cat a)"
	# outside of any store
	mkdir "$T/other"
	cd "$T/other"
	restoring 128 restore -y @
	restoring 1 undo -y
}

test_a_reason_is_in_the_log() {
	echo 1 >a
	save
	echo 2 >a
	restore --reason 'because of it' "$id"
	git-checkpoint log --json >"$T/log"
	expect_eq "restore $id because of it" \
		"$(json '[.entries[] | select(.action == "restore")][0] | "\(.action) \(.id) \(.reason)"' "$T/log")"
	expect_eq "$(told .verification.post_state_hash)" \
		"$(json '[.entries[] | select(.action == "restore")][0].hash' "$T/log")"
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

# A hole is no part of the contents, but writing it out can fill the disk.
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

test_of_a_long_plan_removals_are_shown_first() {
	for n in $(seq 30); do
		echo 1 >f$n
	done
	save
	for n in $(seq 30); do
		echo 2 >f$n
	done
	echo thesis >thesis.tex
	git-checkpoint restore --dry-run "$id" >"$T/out"
	expect_eq 31 "$(grep -c '^  [~-] ' "$T/out")"
	expect_no_grep 'more' "$T/out"
	git-checkpoint restore --yes "$id" >"$T/out"
	expect_eq 20 "$(grep -c '^  [~-] ' "$T/out")"
	expect_grep '^  - thesis.tex$' "$T/out"
	expect_grep "^  and 11 more; 'git checkpoint restore -n $id' shows all$" "$T/out"
}

run_tests
