#!/bin/sh
# SPDX-License-Identifier: MIT
# Workflows: how they go on after an interruption, with or without the files, and what they do not
# trust.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/flow.sh"

# edit <filter>: phase.json by hand
edit() {
	jq "$1" "$(state)" >"$T/edited"
	cat "$T/edited" >"$(state)"
}

# distrusted <what>: resume says no, and puts it away as corrupt, whole
distrusted() {
	cp "$(state)" "$T/was"
	expect_exit 1 flow resume --json >"$T/out" 2>"$T/err"
	expect_eq false "$(json .resume "$T/out")" "$1"
	expect_grep 'archived as corrupt' "$T/out"
	expect_grep "$1" "$T/out"
	expect_missing "$(state)"
	expect_same "$T/was" "$(json .archived "$T/out")/phase.json"
	expect_eq true "$(flow list --json | jq '.archives[0].corrupt')"
	expect_exit 1 flow resume -q 2>/dev/null
}

# lacking <path>: resume says no and what is missing, and nothing is put away
lacking() {
	cp "$(state)" "$T/was"
	expect_exit 1 flow resume --json >"$T/out" 2>"$T/err"
	expect_eq 'false false' "$(json '"\(.resume) \(has("archived"))"' "$T/out")"
	expect_grep "output '$1' does not exist; 'git checkpoint flow resume --restore' brings" "$T/out"
	expect_grep "'$1' does not exist" "$T/out"
	expect_same "$T/was" "$(state)"
	expect_eq 0 "$(flow list --json | jq '.archives | length')"
}

# --- going on ---

test_nothing_to_resume() {
	expect_exit 1 flow resume --json >"$T/out" 2>/dev/null
	expect_eq '{"resume":false,"workflow_id":null,"phase":null,"phase_status":null,"waiting_for_approval":false,"tasks":[],"warnings":["no workflow to resume"],"checkpoint":null}' \
		"$(cat "$T/out")"
	expect_missing "$(checkpoint_home)"
	flow start w --phases A -q
	phase_done A
	expect_exit 1 flow resume --json >"$T/out" 2>"$T/err"
	expect_eq 'false w' "$(json '"\(.resume) \(.workflow_id)"' "$T/out")"
	expect_grep "'w' is complete" "$T/out"
	# complete is not corrupt
	expect_exists "$(state)"
}

test_resume_goes_on_with_the_first_phase_not_complete() {
	flow start w --phases A,B,C -q
	expect_eq 'true w A pending null' "$(flow resume --json |
		jq -r '"\(.resume) \(.workflow_id) \(.phase) \(.phase_status) \(.checkpoint)"')"
	flow phase A start -q
	expect_eq 'A in_progress' "$(flow resume --json | jq -r '"\(.phase) \(.phase_status)"')"
	flow task t complete -q
	flow phase A complete -q
	id=$(at '.completed_phases[0].checkpoint')
	cp "$(state)" "$T/before"
	expect_eq "B pending $id []" "$(flow resume --json |
		jq -r '"\(.phase) \(.phase_status) \(.checkpoint) \(.tasks)"')"
	expect_eq checkpoint,phase,phase_status,resume,tasks,waiting_for_approval,warnings,workflow_id \
		"$(flow resume --json | jq -r 'keys | join(",")')"
	flow resume >"$T/out"
	expect_grep '^Resuming workflow w from B$' "$T/out"
	expect_grep '^Last activity: 20' "$T/out"
	expect_grep '^Complete: A$' "$T/out"
	expect_same "$T/before" "$(state)"
	flow phase B start -q
	flow phase B fail -q
	expect_eq 'B failed' "$(flow resume --json | jq -r '"\(.phase) \(.phase_status)"')"
}

test_resume_takes_the_word_of_an_output_that_is_there() {
	flow start w --phases A -q
	flow phase A start -q
	flow task t running --output o -q
	echo made >o
	flow resume --json >"$T/out"
	expect_eq 't complete 0' "$(json '.tasks[] | "\(.id) \(.status) \(.attempts)"' "$T/out")"
	expect_eq 'complete true' "$(at '.tasks[0] | "\(.status) \(.completed_at != null)"')"
	expect_eq made "$(cat o)"
}

test_resume_begins_a_task_without_output_again() {
	flow start w --phases A -q
	flow phase A start -q
	flow task one running --output o -q
	flow task two running -q
	flow task three complete -q
	flow task four failed -q
	for n in 1 2; do
		flow resume >"$T/out"
		expect_grep 'task one starts again' "$T/out"
		expect_eq "one pending $n two pending $n three complete 0 four failed 0" \
			"$(at '[.tasks[] | "\(.id) \(.status) \(.attempts)"] | join(" ")')"
		expect_eq null "$(at '.tasks[0].started_at')"
		flow task one running -q
		flow task two running -q
	done
	exact
	expect_eq '["o"]' "$(at '.tasks[0].output | tostring')"
}

test_resume_presents_what_waits_for_approval_again() {
	flow start w --phases A,B --approve A -q
	flow phase A start -q
	flow task t running -q
	flow phase A complete -q
	cp "$(state)" "$T/before"
	for n in 1 2; do
		flow resume --json >"$T/out"
		expect_eq 'true A complete true' \
			"$(json '"\(.resume) \(.phase) \(.phase_status) \(.waiting_for_approval)"' "$T/out")"
		flow resume >"$T/out"
		expect_grep 'Resuming workflow w from A' "$T/out"
		expect_grep 'waits for approval' "$T/out"
		expect_same "$T/before" "$(state)"
	done
	# also after the last one
	flow approve A -q
	expect_eq 'B false' "$(flow resume --json | jq -r '"\(.phase) \(.waiting_for_approval)"')"
}

test_resume_warns_about_a_stale_one_and_goes_on() {
	require faketime
	flow start w --phases A -q
	fake '8 days' git-checkpoint flow resume >"$T/out" 2>"$T/err"
	expect_grep 'Resuming workflow w from A' "$T/out"
	expect_grep 'warning: .*--fresh' "$T/err"
	expect_eq 1 "$(fake '8 days' git-checkpoint flow resume --json | jq '.warnings | length')"
	fake '6 days' git-checkpoint flow resume 2>"$T/err" >/dev/null
	test ! -s "$T/err"
	expect_eq 1 "$(GIT_CHECKPOINT_FLOW_STALE_AFTER=1h fake '2 hours' git-checkpoint flow resume --json |
		jq '.warnings | length')"
	# the next change makes it fresh again
	fake '8 days' git-checkpoint flow phase A start -q
	expect_eq 0 "$(fake '9 days' git-checkpoint flow resume --json | jq '.warnings | length')"
}

# --- what is not trusted ---

walked() {
	flow start w --phases A,B,C --approve A -q
	flow phase A start -q
	echo 1 >o
	flow phase A complete --output o -q
	flow approve A -q
	flow phase B start -q
	echo 1 >p
	flow task t complete --output p -q
}

test_an_output_of_a_phase_that_is_gone() {
	walked
	rm o
	lacking o
	flow resume --restore -y -q
	expect_eq 1 "$(cat o)"
	flow resume -q
}

test_an_output_of_a_task_that_is_gone() {
	walked
	rm p
	lacking p
	# made again, it goes on as if nothing had happened
	echo 1 >p
	flow resume -q
}

test_times_in_the_future() {
	for key in .started_at .last_updated '.completed_phases[0].completed_at' \
		'.user_checkpoints[0].approved_at' '.tasks[0].started_at' '.tasks[0].completed_at'; do
		walked
		edit "$key = \"2199-01-01T00:00:00Z\""
		# of another beginning, there is no plan
		if test "$key" = .started_at; then
			distrusted 'workflow.json'
		else
			distrusted 'in the future'
		fi
	done
}

test_a_clock_that_went_back() {
	require faketime
	fake '2 hours' git-checkpoint flow start w --phases A -q
	distrusted 'in the future'
}

test_unknown_phases_and_a_wrong_order() {
	walked
	edit '.current_phase = "Z"'
	distrusted "'Z' is not one of the planned"
	walked
	edit '.completed_phases[0].phase = "Y"'
	distrusted "'Y' is not one of the planned"
	walked
	edit '.current_phase = "C"'
	distrusted "'C' cannot follow"
	walked
	edit '.completed_phases += [.completed_phases[0]]'
	distrusted 'out of order'
	walked
	edit '.interruption_safe = false'
	distrusted 'interruption_safe'
}

test_damaged_by_hand() {
	walked
	cp "$(state)" "$T/good"
	cp "$(dirname "$(state)")/workflow.json" "$T/plan"
	# shellcheck disable=SC2016
	for damage in ': >"$1"' 'head -c 100 "$T/good" >"$1"' 'head -c 500 /dev/zero >"$1"' \
		'{ cat "$T/good"; printf "\\0"; } >"$1"' '{ cat "$T/good" "$T/good"; } >"$1"' \
		'jq ".extra = 1" "$T/good" >"$1"' 'jq "del(.tasks)" "$T/good" >"$1"' \
		'jq ".tasks = {}" "$T/good" >"$1"' 'jq ".phase_status = \"done\"" "$T/good" >"$1"' \
		'jq ".completed_phases[0].output = \"o\"" "$T/good" >"$1"' \
		'jq ".completed_phases[0].output = [\"../../etc/passwd\"]" "$T/good" >"$1"' \
		'jq ".workflow_id = \"other\"" "$T/good" >"$1"' 'rm "${1%/*}/workflow.json"' \
		'echo "{}" >"${1%/*}/workflow.json"'; do
		mkdir -p "$(dirname "$(state)")"
		cp "$T/good" "$(state)"
		cp "$T/plan" "$(dirname "$(state)")/workflow.json"
		sh -c "$damage" sh "$(state)"
		cp "$(state)" "$T/damaged"
		# nobody but a resume, an archive or a fresh start replaces it
		expect_exit 128 flow phase B complete 2>"$T/err"
		expect_grep 'cannot be used' "$T/err"
		expect_exit 128 flow status >/dev/null 2>&1
		expect_exit 5 flow start x --phases A 2>/dev/null
		expect_same "$T/damaged" "$(state)"
		distrusted 'cannot be trusted'
	done
	expect_eq 14 "$(flow list --json | jq '[.archives[] | select(.corrupt)] | length')"
	mkdir "$(dirname "$(state)")"
	echo '[]' >"$(state)"
	flow start x --phases A --fresh -q
	expect_eq x "$(at .workflow_id)"
	expect_eq '[]' "$(cat "$(flow list --json | jq -r '.archives[0].path')/phase.json")"
}

# --- with the files ---

test_resume_brings_the_files_back() {
	git init -q
	echo 1 >a
	flow start w --phases A,B -q
	flow phase A start -q
	echo 2 >a
	flow phase A complete --output a -q
	fingerprint . >"$T/complete"
	flow phase B start -q
	echo 3 >a
	echo half >b
	flow task one complete --output b -q
	flow task two running -q
	flow task three failed -q
	cp "$(state)" "$T/before"
	fingerprint . >"$T/now"
	# nobody agreed: nothing happened
	expect_exit 5 flow resume --restore 2>/dev/null
	expect_exit 5 flow resume --restore --json >"$T/out" 2>/dev/null
	expect_eq 5 "$(json .error.code "$T/out")"
	expect_same "$T/before" "$(state)"
	fingerprint . >"$T/still"
	expect_same "$T/now" "$T/still"
	flow resume --restore -y --json >"$T/out"
	fingerprint . >"$T/back"
	expect_same "$T/complete" "$T/back"
	expect_eq 'true B in_progress' "$(json '"\(.resume) \(.phase) \(.phase_status)"' "$T/out")"
	expect_eq true "$(json .restore.verification.match "$T/out")"
	expect_eq 'one pending 0 two pending 1 three pending 0' \
		"$(at '[.tasks[] | "\(.id) \(.status) \(.attempts)"] | join(" ")')"
	exact
	# what was there is not lost
	git-checkpoint undo -y -q 2>/dev/null
	fingerprint . >"$T/undone"
	expect_same "$T/now" "$T/undone"
	flow resume --restore -y >"$T/out" 2>/dev/null
	expect_grep 'Resuming workflow w from B' "$T/out"
	expect_grep '^Restored chk_' "$T/out"
}

test_resume_with_files_brings_back_a_lost_output() {
	flow start w --phases A,B -q
	flow phase A start -q
	echo 1 >o
	flow phase A complete --output o -q
	rm o
	flow resume --restore -y -q
	expect_eq 1 "$(cat o)"
	# one that the checkpoint does not have is lost
	echo o >.gitignore
	flow phase B start -q
	echo 1 >ignored.pyc
	flow phase B complete --output ignored.pyc -q
	flow start x --phases A,B -q
	phase_done A --output ignored.pyc
	rm ignored.pyc
	expect_exit 1 flow resume --restore -y 2>"$T/err"
	expect_grep 'the checkpoint of the last complete phase does not have it either' "$T/err"
	expect_exists "$(state)"
}

test_resume_with_files_before_any_phase_is_complete() {
	echo 1 >a
	flow start w --phases A -q
	flow phase A start -q
	echo 2 >a
	flow task t running -q
	flow resume --restore -y --json >"$T/out"
	expect_eq 2 "$(cat a)"
	expect_eq 'no phase is complete yet, so the files are left as they are' "$(json '.warnings[0]' "$T/out")"
	expect_eq 'pending 1' "$(at '.tasks[0] | "\(.status) \(.attempts)"')"
}

test_resume_waits_for_an_interrupted_restore() {
	git init -q
	for n in 1 2 3; do
		echo $n >"f$n"
	done
	flow start w --phases A,B -q
	phase_done A --output f1
	rm f1 f2 f3
	export FAULT_PATH=checkpoint/journal
	expect_exit 137 with_faults unlink 1 kill git-checkpoint restore -y -q @ >/dev/null 2>&1
	unset FAULT_PATH
	expect_exists "$(store_dir)/checkpoint/journal"
	# as if it had not come to this one yet
	rm -f f1
	cp "$(state)" "$T/before"
	expect_exit 5 flow resume 2>"$T/err"
	expect_grep 'interrupted' "$T/err"
	expect_same "$T/before" "$(state)"
	git-checkpoint restore --continue -q 2>/dev/null
	flow resume -q
}

test_a_checkpoint_that_was_dropped() {
	flow start w --phases A,B -q
	phase_done A
	git-checkpoint save -q --allow-empty
	git-checkpoint drop -q "$(at '.completed_phases[0].checkpoint')"
	expect_eq 1 "$(flow resume --json | jq '.warnings | length')"
	expect_exit 128 flow resume --restore -y 2>/dev/null
	expect_eq A "$(at .current_phase)"
}

run_tests
