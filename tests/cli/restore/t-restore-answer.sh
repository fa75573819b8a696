#!/bin/sh
# SPDX-License-Identifier: MIT
# restore: what it answers, whom it asks, and what it refuses.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id='' # of the checkpoint that was saved last

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
	# --force does not mean yes, nor does one in a pipe
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
	echo 1 >a
	save
	echo 2 >a
	echo 3 >b
	expect_exit 5 on_terminal "git-checkpoint restore $id" n
	expect_eq 2 "$(cat a)"
	expect_grep '~ a' "$T/screen"
	expect_grep '[-] b' "$T/screen"
	on_terminal "git-checkpoint restore $id" y
	expect_eq 1 "$(cat a)"
	expect_missing b
}

# Typed for what was there before, not for a question that nobody has seen.
test_what_was_typed_before_the_question_is_not_an_answer() {
	echo 1 >a
	save
	echo 2 >a
	expect_exit 5 on_terminal -t 'y
' "git-checkpoint restore $id" n
	expect_grep 'Not restored' "$T/screen"
	expect_eq 2 "$(cat a)"
	expect_exit 5 on_terminal -t 'y
y
y
' "git-checkpoint restore $id"
	expect_eq 2 "$(cat a)"
	on_terminal -t 'n
' "git-checkpoint restore $id" y
	expect_eq 1 "$(cat a)"
	# nor is it one for drop, which is irreversible
	expect_exit 5 on_terminal -t 'y
' "git-checkpoint drop $id" n
	git-checkpoint show "$id" >"$T/out"
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
	expect_grep "^  and 11 more; see 'git checkpoint restore -n -v $id'$" "$T/out"
}

run_tests
