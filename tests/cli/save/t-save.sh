#!/bin/sh
# SPDX-License-Identifier: MIT
# save: what it answers, and what counts as a change.

. "$(dirname "$0")/../../lib/harness.sh"

save() {
	git checkpoint save "$@"
}

# saved <argument>...: a save that must take a checkpoint; prints its id
saved() {
	save --json "$@" >"$T/saved.json"
	expect_eq true "$(json .checkpoint_created "$T/saved.json")" "checkpoint_created of: $*" >&2
	json .checkpoint.id "$T/saved.json"
}

# unchanged <argument>...: a save that must take none
unchanged() {
	save --json "$@" >"$T/saved.json"
	expect_eq false "$(json .checkpoint_created "$T/saved.json")" "checkpoint_created of: $*"
}

count() {
	git checkpoint list --json | jq '.checkpoints | length'
}

# ---- the answer ----

# has <jq condition>: true of $T/out
has() {
	jq -e "$1" "$T/out" >/dev/null || {
		cat "$T/out"
		fail "not true: $1"
	}
}

test_json_has_every_key_with_its_type() {
	echo one >a
	mkdir d
	echo two2 >d/b
	save --json >"$T/out" 2>"$T/err"
	expect_eq 1 "$(wc -l <"$T/out")" 'lines'
	expect_eq '' "$(cat "$T/err")" 'stderr'
	for key in assumptions checkpoint checkpoint_created confidence evidence_anchors \
		next_safe_actions pre_mutation_state skipped stats warnings; do
		echo $key
	done >"$T/expected"
	jq -r 'keys[]' "$T/out" >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	has '.checkpoint | keys == (["id","commit","type","created_at","reason","title","source","step",
		"pinned","imported","name","names","automatic","safety_for","session","agent","branch","head","scope","restore_command","expiry"] | sort)'
	has '.checkpoint.id | test("^chk_[0-9]{8}_[0-9]{6}_[0-9a-f]{6}$")'
	has '.checkpoint.commit | test("^[0-9a-f]{40}$")'
	has '.checkpoint.created_at | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")'
	has '.checkpoint | .type == "file_backup" and .reason == "manual" and .source == "cli"'
	has '.checkpoint | .step == null and .expiry == null and .pinned == false'
	has '.checkpoint.scope == {"files":["."],"state_keys":[]}'
	has '.checkpoint.restore_command == "git checkpoint restore " + .checkpoint.id'
	has '.pre_mutation_state | keys == ["hash","summary"]'
	has '.pre_mutation_state.hash | test("^sha256:[0-9a-f]{64}$")'
	has '.pre_mutation_state.summary | startswith("2 files, 9 bytes")'
	has '.stats | keys == (["files","bytes","changed","new_bytes","seconds"] | sort)'
	has '.stats | all(type == "number")'
	has '.stats | .files == 2 and .bytes == 9 and .new_bytes > 0 and .seconds >= 0'
	has '.skipped == [] and .warnings == [] and .confidence == 1.0'
	has '.next_safe_actions | length > 0 and all(type == "string")'
	has '.assumptions | all(type == "string")'
	has '.evidence_anchors == [.checkpoint.id, "refs/checkpoints/" + .checkpoint.id,
		.pre_mutation_state.hash]'
}

test_json_names_what_was_asked_for() {
	git init -q
	echo one >a
	save --json -m 'why
more' --source me --step 7 --pin --expires 2999-12-31T18:00:00Z --state b=2 --state a=1 >"$T/out"
	has '.checkpoint | .type == "git_stash" and .reason == "why\nmore" and .source == "me"'
	has '.checkpoint | .step == 7 and .pinned == true and .expiry == "2999-12-31T18:00:00Z"'
	has '.checkpoint.scope.state_keys == ["a","b"]'
	save --json --step 0 >"$T/out"
	has '.checkpoint.step == 0'
}

test_text_is_one_line_with_the_id() {
	echo one >a
	save >"$T/out" 2>"$T/err"
	id=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	expect_eq "Saved $id (1 file, 4 bytes, first checkpoint)" "$(cat "$T/out")"
	expect_eq '' "$(cat "$T/err")" 'stderr'
	save >"$T/out"
	expect_eq "Nothing changed since $id" "$(cat "$T/out")"
	echo two >b
	save >"$T/out"
	expect_grep "^Saved chk_[0-9_a-f]* (2 files, 8 bytes, 1 changed since $id)$" "$T/out"
}

test_quiet_says_nothing() {
	echo one >a
	echo secret >.env
	save -q >"$T/out" 2>&1
	save -q >>"$T/out" 2>&1
	save -q --every 2 >>"$T/out" 2>&1
	save -q --every 2 >>"$T/out" 2>&1
	expect_eq '' "$(cat "$T/out")"
	# JSON is an answer, not talk
	save -q --json >"$T/out"
	has '.checkpoint_created == false'
}

test_the_state_hash_can_be_recomputed() {
	make_tree 5 60
	expect_exit 0 save -q
	hash=$(git checkpoint list --json | jq -r '.checkpoints[0].hash')
	expect_eq "$hash" "$(git checkpoint show --hashes @ | state_hash)"
}

test_the_subject_and_ref_are_as_documented() {
	echo one >a
	id=$(saved -m 'the reason
second line' --source who)
	git --git-dir="$(store_dir)" log -1 --format=%s "refs/checkpoints/$id" >"$T/out"
	expect_grep '^the reason | [0-9-]*T[0-9:]*Z | who$' "$T/out"
	expect_eq one "$(git --git-dir="$(store_dir)" show "refs/checkpoints/$id:a")"
	git --git-dir="$(store_dir)" fsck --strict
}

test_several_messages_are_paragraphs() {
	echo one >a
	id=$(saved -m 'the reason' --message='and more')
	expect_eq "$(printf 'the reason\n\nand more')" "$(git-checkpoint show --json "$id" | jq -r .reason)"
	expect_eq 'the reason' "$(git-checkpoint show --json "$id" | jq -r .title)"
	# the same words are not a change
	expect_eq false "$(git-checkpoint save --json -m 'the reason' -m 'and more' | jq .checkpoint_created)"
	expect_eq true "$(git-checkpoint save --json -m 'the reason' | jq .checkpoint_created)"
}

test_bytes_that_are_no_utf8_become_json() {
	printf 'x' >"$(printf 'bad\377name')"
	printf 'x' >'"quoted'
	save --json -m "$(printf 'a\377b')" --source "$(printf 'c\376')" \
		"$(printf 'bad\377name')" '"quoted' >"$T/out"
	jq -e '.checkpoint.reason == "a\ufffdb" and .checkpoint.source == "c\ufffd"' "$T/out"
	jq -e '.checkpoint.scope.files == ["\"\\\"quoted\"", "\"bad\\377name\""]' "$T/out"
}

# ---- change or no change ----

test_an_unchanged_tree_takes_no_second_checkpoint() {
	make_tree 1
	id=$(saved)
	hash=$(json .pre_mutation_state.hash "$T/saved.json")
	unchanged --source other
	unchanged -m other --automatic
	expect_eq "$id" "$(json .checkpoint.id "$T/saved.json")"
	expect_eq manual "$(json .checkpoint.reason "$T/saved.json")"
	expect_eq "$hash" "$(json .pre_mutation_state.hash "$T/saved.json")"
	expect_eq 0 "$(json '.stats.changed + .stats.new_bytes' "$T/saved.json")"
	# rewritten with the same contents, without the cache
	touch -h -d '2001-01-01' ./*
	unchanged
	rm "$(store_dir)/checkpoint/statcache"
	unchanged
	unchanged .
	expect_eq 1 "$(count)"
}

test_an_empty_tree_can_be_saved() {
	id=$(saved)
	expect_eq 0 "$(json .stats.files "$T/saved.json")"
	unchanged
	expect_eq "$id" "$(json .checkpoint.id "$T/saved.json")"
}

test_an_incomplete_one_stays_incomplete() {
	echo one >a
	head -c 2000 /dev/zero >large
	echo 'maxFileSize = 1k' >"$XDG_CONFIG_HOME/c"
	mkdir "$XDG_CONFIG_HOME/git-checkpoint"
	mv "$XDG_CONFIG_HOME/c" "$XDG_CONFIG_HOME/git-checkpoint/config"
	expect_exit 3 save --json >"$T/out"
	has '.checkpoint_created and .skipped == [{"file":"large","why":"oversize"}]'
	has '.confidence == 0.5 and (.warnings | length > 0)'
	expect_exit 3 save --json >"$T/again"
	jq '{skipped,warnings,confidence}' "$T/out" >"$T/first"
	jq '{skipped,warnings,confidence}' "$T/again" >"$T/second"
	expect_same "$T/first" "$T/second"
	expect_eq false "$(json .checkpoint_created "$T/again")"
	expect_exit 3 save -q
	expect_exit 3 save >/dev/null 2>"$T/err"
	expect_grep 'large' "$T/err"
	rm large
	saved >/dev/null
	expect_eq '[]' "$(json '.skipped | tostring' "$T/saved.json")"
}

test_an_unreadable_file_is_named() {
	echo one >a
	echo two >closed
	chmod 0 closed
	give_to_nobody .
	expect_exit 3 as_nobody git checkpoint save --json >"$T/out"
	expect_eq closed "$(json '.skipped[] | select(.why == "unreadable") | .file' "$T/out")"
	expect_exit 3 as_nobody git checkpoint save --json >"$T/out"
	expect_eq false "$(json .checkpoint_created "$T/out")"
}

test_what_else_is_skipped_does_not_make_it_incomplete() {
	echo secret >.env
	mkfifo pipe
	save --json >"$T/out"
	has '.skipped | sort_by(.file) == [{"file":".env","why":"sensitive"},
		{"file":"pipe","why":"special"}]'
	has '.confidence == 1.0 and (.warnings | map(select(contains(".env"))) | length == 1)'
}

test_every_kind_of_change_is_one() {
	mkdir d
	echo one >a
	echo two >d/b
	ln -s a l
	saved >/dev/null
	for change in 'echo eno >a' 'chmod 600 a' 'chmod 4755 a' 'chmod 755 a' 'chmod 700 d' \
		'chmod 1777 d' 'mkdir empty' 'chmod 500 empty' 'rmdir empty' 'ln -sfn b l' \
		'rm l; echo -n b >l' 'rm -r d' ': >d' 'mv d e'; do
		eval "$change"
		saved >/dev/null || fail "not seen: $change"
		unchanged
	done
	git --git-dir="$(store_dir)" fsck --strict
}

test_new_words_on_the_command_line_are_a_change() {
	echo one >a
	saved >/dev/null
	saved --step 1 >/dev/null
	unchanged --step 1
	unchanged
	saved --step 2 >/dev/null
	saved --state k=v >/dev/null
	unchanged --state k=v
	saved --state k=w >/dev/null
	saved --state k= >/dev/null
	saved --state l=w >/dev/null
	saved --allow-empty >/dev/null
	saved --allow-empty >/dev/null
	unchanged
}

test_two_states_within_a_second_both_exist_in_order() {
	for i in 1 2 3 4 5; do
		echo $i >a
		saved >>"$T/ids.txt"
	done
	git checkpoint list --json | jq -r '.checkpoints[].id' | tac >"$T/listed.txt"
	expect_same "$T/ids.txt" "$T/listed.txt"
	for i in 1 2 3 4 5; do
		git --git-dir="$(store_dir)" show \
			"refs/checkpoints/$(sed -n ${i}p "$T/ids.txt"):a" >"$T/shown"
		expect_eq $i "$(cat "$T/shown")"
	done
}

# Equal size, equal mtime, the same tick of the clock: only the contents tell.
test_an_edit_within_the_same_tick_is_seen() {
	export GIT_CHECKPOINT_MAX_COUNT=none
	rounds=${CKPT_TEST_ROUNDS:-60}
	echo x >a
	touch "$T/when"
	touch -r "$T/when" a
	saved >/dev/null
	i=0
	while test $i -lt "$rounds"; do
		i=$((i + 1))
		printf '%04d' $((i % 2)) >a
		touch -r "$T/when" a
		git-checkpoint save -q
		expect_eq "$(printf '%04d' $((i % 2)))" \
			"$(git --git-dir="$(store_dir)" show latest:a)" "round $i"
	done
	expect_eq $((rounds + 1)) "$(count)"
}

# The same for names: a directory whose times are set back has other entries.
test_names_that_change_within_the_same_tick_are_seen() {
	export GIT_CHECKPOINT_MAX_COUNT=none
	rounds=${CKPT_TEST_ROUNDS:-40}
	mkdir -p d/e
	echo x >d/e/f1
	saved >/dev/null
	i=1
	while test $i -lt "$rounds"; do
		touch -r d/e "$T/when"
		mv d/e/f$i d/e/f$((i + 1))
		touch -r "$T/when" d/e
		i=$((i + 1))
		git-checkpoint save -q
		expect_eq "d/e/f$i" "$(git --git-dir="$(store_dir)" ls-tree -r --name-only latest)" "round $i"
	done
	expect_eq "$rounds" "$(count)"
}

test_settings_that_change_what_is_taken_are_a_change() {
	git init -q
	echo '*.log' >.gitignore
	echo one >a
	echo log >x.log
	echo secret >.env
	saved >/dev/null
	saved --include-ignored >/dev/null
	saved >/dev/null
	saved --include-sensitive >/dev/null
	saved >/dev/null
	: >.gitignore
	saved >/dev/null
	git --git-dir="$(store_dir)" ls-tree -r --name-only latest >"$T/names"
	printf '%s\n' .gitignore a x.log >"$T/expected"
	expect_same "$T/expected" "$T/names"
}

# ---- nothing is left behind by a save that did not happen ----

test_a_refused_place_gets_no_store() {
	cd "$HOME"
	mkdir sub
	echo one >sub/a
	expect_exit 5 git checkpoint save 2>"$T/err"
	expect_grep 'home directory' "$T/err"
	# or the home directory would be the worktree of all below it from now on
	expect_missing "$(store_dir)"
	cd sub
	saved >/dev/null
	expect_exists "$(store_dir)"
	cd ..
	save --force --json >"$T/out"
	has '.checkpoint_created'
}

test_a_failed_first_save_leaves_no_store() {
	mkdir sub
	echo one >sub/a
	expect_exit 128 save nothing 2>"$T/err"
	expect_missing "$(store_dir)"
}

# Nor would too many files here make this the worktree of what lies below.
test_a_refused_tree_does_not_swallow_its_parts() {
	mkdir sub
	echo one >a
	echo two >sub/b
	expect_exit 5 env GIT_CHECKPOINT_MAX_FILES=1 git checkpoint save 2>"$T/err"
	expect_grep maxFiles "$T/err"
	cd sub
	saved >/dev/null
	expect_exists "$(store_dir)"
}

test_the_project_is_never_written() {
	git init -q
	echo one >a
	git add a
	git commit -qm one
	echo two >a
	fingerprint_raw . >"$T/before"
	save -q
	git checkpoint list >/dev/null
	git checkpoint diff >/dev/null
	git checkpoint status >/dev/null
	git checkpoint show --patch @ >/dev/null
	fingerprint_raw . >"$T/after"
	expect_same "$T/before" "$T/after"
}

run_tests
