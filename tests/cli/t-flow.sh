#!/bin/sh
# SPDX-License-Identifier: MIT
# Workflows: every rule by which they move on, wait, and go on after an interruption.

. "$(dirname "$0")/../lib/harness.sh"

KEYS='completed_phases,current_phase,interruption_safe,last_updated,phase_status,started_at,tasks,user_checkpoints,workflow_id'

flow() {
	git-checkpoint flow "$@"
}

state() {
	echo "$(store_dir "$T/work")/checkpoint/flow/phase.json"
}

# at <filter>: of phase.json
at() {
	json "$1" "$(state)"
}

# exact: phase.json has the keys of the contract and no others
exact() {
	expect_eq "$KEYS" "$(at 'keys | join(",")')"
	at '.completed_phases[] | keys | join(",")' | sort -u >"$T/keys"
	test ! -s "$T/keys" || expect_eq checkpoint,completed_at,output,phase "$(cat "$T/keys")"
	at '.user_checkpoints[] | keys | join(",")' | sort -u >"$T/keys"
	test ! -s "$T/keys" || expect_eq approved_at,phase "$(cat "$T/keys")"
	at '.tasks[] | keys | join(",")' | sort -u >"$T/keys"
	test ! -s "$T/keys" || expect_eq attempts,completed_at,id,output,started_at,status "$(cat "$T/keys")"
}

# edit <filter>: phase.json by hand
edit() {
	jq "$1" "$(state)" >"$T/edited"
	cat "$T/edited" >"$(state)"
}

# phase_done <phase> [<option>...]
phase_done() {
	flow phase "$1" start -q
	phase=$1
	shift
	flow phase "$phase" complete -q "$@"
}

reasons() {
	git-checkpoint list --json | jq -r '[.checkpoints[] | select(.source == "flow") | .reason] | reverse | join(" ")'
}

fake() {
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" faketime "$@"
}

# distrusted <what>: resume says no, and puts it away as corrupt, whole
distrusted() {
	cp "$(state)" "$T/was"
	expect_exit 1 flow resume --json >"$T/out" 2>"$T/err"
	expect_eq false "$(json .resume "$T/out")" "$1"
	expect_grep 'put away as corrupt' "$T/err"
	expect_grep "$1" "$T/err"
	expect_missing "$(state)"
	expect_same "$T/was" "$(json .archived "$T/out")/phase.json"
	expect_eq true "$(flow list --json | jq '.archives[0].corrupt')"
	expect_exit 1 flow resume -q 2>/dev/null
}

# --- beginning ---

test_start_writes_the_state_and_nothing_else() {
	git init -q
	echo 1 >a
	flow start release --phases plan,build,test --approve plan --json >"$T/out"
	expect_eq true "$(json .started "$T/out")"
	exact
	expect_eq release "$(at .workflow_id)"
	expect_eq plan "$(at .current_phase)"
	expect_eq pending "$(at .phase_status)"
	expect_eq true "$(at .interruption_safe)"
	expect_eq '[] [] []' "$(at '[.completed_phases, .user_checkpoints, .tasks] | map(tostring) | join(" ")')"
	expect_eq '["plan","build","test"]' "$(jq -c .phases "$(dirname "$(state)")/workflow.json")"
	expect_eq 600 "$(stat -c %a "$(state)")"
	expect_eq '' "$(reasons)"
	# its own folder is found from below, also outside of git
	mkdir d
	expect_eq release "$(cd d && flow status --json | jq -r .workflow_id)"
	rm -rf .git
	expect_eq release "$(cd d && flow status --json | jq -r .workflow_id)"
}

test_one_at_a_time() {
	flow start one --phases A,B -q
	expect_exit 5 flow start two --phases C 2>"$T/err"
	expect_grep "'one' is in progress" "$T/err"
	expect_eq one "$(at .workflow_id)"
	flow start two --phases C --fresh -q
	expect_eq two "$(at .workflow_id)"
	expect_eq 'one A' "$(flow list --json | jq -r '.archives[] | "\(.workflow_id) \(.current_phase)"')"
	# one that is complete is not in the way
	phase_done C
	flow start three --phases A --approve A -q
	phase_done A
	# but one that waits is
	expect_exit 5 flow start four --phases A -q 2>/dev/null
	flow approve A -q
	flow start four --phases A -q
	expect_eq 'three two one' "$(flow list --json | jq -r '[.archives[].workflow_id] | join(" ")')"
}

test_the_last_five_are_kept_and_corrupt_ones_besides() {
	flow start bad --phases A -q
	echo junk >"$(state)"
	flow archive -q
	for n in 1 2 3 4 5 6 7; do
		flow start "w$n" --phases A -q
		flow archive -q
	done
	flow start bad --phases A -q
	: >"$(state)"
	expect_exit 1 flow resume -q 2>/dev/null
	expect_eq 'null w7 w6 w5 w4 w3 null' "$(flow list --json | jq -r '[.archives[].workflow_id | tostring] | join(" ")')"
	expect_eq 'true false false false false false true' "$(flow list --json | jq -r '[.archives[].corrupt | tostring] | join(" ")')"
	flow list >"$T/out"
	expect_eq 7 "$(wc -l <"$T/out")"
	expect_grep 'corrupt' "$T/out"
	expect_exit 1 flow archive 2>"$T/err"
	expect_grep 'no workflow' "$T/err"
	# the same name again, in the same second perhaps: both are kept
	flow start same --phases A -q
	flow archive -q
	flow start same --phases B -q
	flow archive -q
	expect_eq 'B A w7 w6 w5' "$(flow list --json |
		jq -r '[.archives[] | select(.corrupt | not) | if .workflow_id == "same" then .current_phase else .workflow_id end] | join(" ")')"
}

test_names_and_usage() {
	for args in '' 'nonsense' 'start' 'start w' 'start w --phases=' 'start w --phases A,A' \
		'start w --phases A,,B' 'start a/b --phases A' 'start a,b --phases A' 'start w --phases a/b' \
		'start w --phases A --approve B' 'start w x --phases A' 'start w --phases A --state-dir=' \
		'start w --phases A --output x' 'phase A' 'phase A begin' 'phase A start x' 'phase A start --fresh' \
		'approve' 'approve A B' 'approve A --note x' 'task t' 'task t done' 'task t running --note x' \
		'resume x' 'resume -y' 'resume --fresh' 'status x' 'archive x' 'list x' 'list --restore'; do
		# shellcheck disable=SC2086
		expect_exit 129 flow $args >/dev/null 2>"$T/err"
		test -s "$T/err"
	done
	expect_exit 129 flow start "$(printf 'a\tb')" --phases A 2>/dev/null
	expect_exit 129 flow start "$(printf %0101d 1)" --phases A 2>/dev/null
	expect_missing "$(checkpoint_home)"
	# there is none
	expect_exit 128 flow phase A start 2>/dev/null
	expect_exit 128 flow approve A 2>/dev/null
	expect_exit 128 flow task t running 2>/dev/null
	expect_exit 1 flow archive 2>/dev/null
	flow status >"$T/out"
	expect_grep 'No workflow' "$T/out"
	expect_eq false "$(flow status --json | jq .in_progress)"
	flow list >"$T/out"
	test ! -s "$T/out"
	expect_eq '{"archives":[]}' "$(flow list --json)"
	expect_missing "$(checkpoint_home)"
	# a home directory does not become a store
	expect_exit 5 env HOME="$PWD" git-checkpoint flow start w --phases A 2>/dev/null
	expect_missing "$(checkpoint_home)"
	flow start 'ein Wort: ä' --phases ' A , B b' -q
	expect_eq 'ein Wort: ä' "$(at .workflow_id)"
	flow phase A start -q
	expect_exit 128 flow phase Z start 2>"$T/err"
	expect_grep "no phase 'Z'; it has A, B b" "$T/err"
	expect_exit 128 flow approve Z 2>/dev/null
	expect_exit 128 flow phase --json 'B b' start >"$T/out" 2>/dev/null
	expect_eq 128 "$(json .error.code "$T/out")"
}

# --- moving on ---

test_every_change_of_a_phase_takes_a_checkpoint() {
	git init -q
	echo 1 >a
	flow start w --phases A,B -q
	flow phase A start --note 'why not' --json >"$T/out"
	id=$(json .checkpoint "$T/out")
	expect_eq in_progress "$(json .phase_status "$T/out")"
	expect_eq '{"note":"why not"}' "$(git-checkpoint show --json "$id" | jq -c .state)"
	flow phase A fail -q
	flow phase A start -q
	echo made >o
	flow phase A complete --output o --json >"$T/out"
	id=$(json .checkpoint "$T/out")
	expect_eq B "$(json .next_phase "$T/out")"
	flow phase B start -q
	flow phase B complete >"$T/out"
	expect_grep 'Workflow w is complete' "$T/out"
	expect_eq 'w:A:in_progress w:A:failed w:A:in_progress w:A:complete w:B:in_progress w:B:complete' "$(reasons)"
	exact
	expect_eq "$id" "$(at '.completed_phases[0].checkpoint')"
	expect_eq '[["o"],[]]' "$(at '[.completed_phases[].output] | tostring')"
	expect_eq flow "$(git-checkpoint show --json "$id" | jq -r .source)"
	git-checkpoint show --files "$id" >"$T/files"
	expect_grep '^o$' "$T/files"
	git --git-dir="$(store_dir)" fsck --strict
}

test_phases_come_in_order() {
	flow start w --phases A,B,C --approve B -q
	expect_exit 128 flow phase B start 2>"$T/err"
	expect_grep "'A' comes first" "$T/err"
	expect_exit 128 flow phase A complete -q 2>/dev/null
	expect_exit 128 flow phase A fail -q 2>/dev/null
	expect_exit 128 flow approve B -q 2>/dev/null
	phase_done A
	expect_exit 128 flow phase A start -q 2>/dev/null
	expect_exit 128 flow phase A complete -q 2>/dev/null
	flow phase B start -q
	flow phase B complete >"$T/out"
	expect_grep 'Phase B waits for approval' "$T/out"
	expect_exit 5 flow phase C start 2>"$T/err"
	expect_grep "'B' waits for approval" "$T/err"
	flow approve B --json >"$T/out"
	expect_eq false "$(json .waiting_for_approval "$T/out")"
	cp "$(state)" "$T/before"
	flow approve B >"$T/out"
	expect_grep 'already' "$T/out"
	expect_same "$T/before" "$(state)"
	exact
	expect_eq B "$(at '.user_checkpoints[].phase')"
	# what is refused takes no checkpoint
	expect_eq 'w:A:in_progress w:A:complete w:B:in_progress w:B:complete' "$(reasons)"
	phase_done C
	expect_eq 'false null' "$(flow status --json | jq -r '"\(.in_progress) \(.next_phase)"')"
}

test_outputs_are_below_the_worktree_and_there() {
	git init -q
	mkdir d
	echo 1 >d/f
	name=$(printf 'od\td \377')
	echo 1 >"d/$name"
	flow start w --phases A,B -q
	flow phase A start -q
	expect_exit 128 flow phase A complete --output missing 2>"$T/err"
	expect_grep "output 'missing' is not there" "$T/err"
	for path in .. /etc/passwd .git/config . ''; do
		expect_exit 128 flow phase A complete --output "$path" 2>/dev/null
	done
	expect_eq in_progress "$(at .phase_status)"
	(cd d && git-checkpoint flow phase A complete --output f --output "$T/work/d/f" --output "$name" -q)
	expect_eq d/f "$(at '.completed_phases[0].output[0]')"
	expect_eq '"d/od\td \377"' "$(at '.completed_phases[0].output[1]')"
	expect_eq 2 "$(at '.completed_phases[0].output | length')"
	flow resume -q
	flow phase B start --output planned -q
	expect_eq planned "$(git-checkpoint show --json @ | jq -r .state.output)"
}

test_tasks() {
	flow start w --phases A,B -q
	expect_exit 128 flow task t running 2>/dev/null
	flow phase A start -q
	flow task t1 pending -q
	flow task src/a.c,b running --output a.o --output b.o --json >"$T/out"
	expect_eq '["a.o","b.o"]' "$(json '.task.output | tostring' "$T/out")"
	expect_exit 128 flow task src/a.c,b complete 2>/dev/null
	expect_eq running "$(at '.tasks[1].status')"
	expect_eq null "$(at '.tasks[1].completed_at')"
	echo 1 >a.o
	echo 1 >b.o
	flow task src/a.c,b complete -q
	exact
	expect_eq '["a.o","b.o"]' "$(at '.tasks[1].output | tostring')"
	flow task t1 running -q
	flow task t1 failed -q
	flow task t1 running -q
	expect_eq '0 running null' "$(at '.tasks[0] | "\(.attempts) \(.status) \(.completed_at)"')"
	expect_eq '[]' "$(at '.tasks[0].output | tostring')"
	# tasks take no checkpoints, and end with their phase
	expect_eq w:A:in_progress "$(reasons)"
	flow phase A complete -q
	expect_exit 128 flow task t1 complete 2>/dev/null
	flow phase B start -q
	expect_eq '[]' "$(at '.tasks | tostring')"
}

test_an_incomplete_checkpoint_is_said_so() {
	export GIT_CHECKPOINT_MAX_FILE_SIZE=100
	head -c 200 /dev/zero >big
	flow start w --phases A -q
	expect_exit 3 flow phase A start --json >"$T/out"
	expect_eq in_progress "$(at .phase_status)"
	expect_eq "$(json .checkpoint "$T/out")" "$(git-checkpoint list --json | jq -r '.checkpoints[0].id')"
}

test_a_save_that_fails_moves_nothing() {
	echo 1 >a
	flow start w --phases A -q
	cp "$(state)" "$T/before"
	expect_exit 128 env GIT_CHECKPOINT_MAX_SIZE=1k git-checkpoint flow phase A start 2>/dev/null
	expect_same "$T/before" "$(state)"
}

# --- retention ---

test_complete_phases_are_kept_and_not_counted() {
	export GIT_CHECKPOINT_MAX_COUNT=3
	for n in 1 2 3; do
		echo $n >a
		git-checkpoint save -q -m "own $n"
	done
	flow start w --phases A,B,C -q
	phase_done A
	# only the one of its beginning counts, and pushed one out
	expect_eq 'w:A:complete w:A:in_progress own 3 own 2' \
		"$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	phase_done B
	for n in 4 5 6; do
		echo $n >a
		git-checkpoint save -q -m "own $n"
	done
	expect_eq 'own 6 own 5 own 4 w:B:complete w:A:complete' \
		"$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	git-checkpoint prune --max-count 1 -q
	expect_eq 'own 6 w:B:complete w:A:complete' \
		"$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	# damaged: whatever it may have needed stays
	cp "$(state)" "$T/kept"
	echo '{' >"$(state)"
	git-checkpoint prune --max-count 1 -q
	expect_eq 3 "$(git-checkpoint list | wc -l)"
	cp "$T/kept" "$(state)"
	# once it is put away they are like any other
	flow archive -q
	git-checkpoint prune --max-count 1 -q
	expect_eq 'own 6' "$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
}

# --- the copy in the tree ---

test_the_mirror_follows_every_change_and_every_restore() {
	git init -q
	mkdir sub
	(cd sub && git-checkpoint flow start w --phases A,B --approve A --state-dir made/here -q)
	mirror=sub/made/here/phase.json
	expect_same "$(state)" $mirror
	flow phase A start -q
	expect_same "$(state)" $mirror
	flow task t running --output x -q
	expect_same "$(state)" $mirror
	flow resume -q
	expect_same "$(state)" $mirror
	flow phase A complete -q
	expect_same "$(state)" $mirror
	flow approve A -q
	expect_same "$(state)" $mirror
	cp "$(state)" "$T/newest"
	# older copies in checkpoints never count
	for checkpoint in @~1 @; do
		git-checkpoint restore -y -q $checkpoint 2>/dev/null
		expect_same "$T/newest" "$(state)"
		expect_same "$T/newest" $mirror
	done
	git-checkpoint undo -y -q 2>/dev/null
	expect_same "$T/newest" $mirror
	# nor does what somebody writes there
	echo '{}' >$mirror
	flow resume -q
	expect_same "$T/newest" $mirror
	rm -r sub
	flow phase B start -q
	expect_same "$(state)" $mirror
	# the copy of what was put away goes, unless somebody changed it
	flow archive -q
	expect_missing $mirror
	flow start x --phases A --state-dir sub -q
	echo mine >sub/phase.json
	flow archive -q
	expect_eq mine "$(cat sub/phase.json)"
}

test_the_mirror_may_be_elsewhere() {
	git init -q
	flow start w --phases A --state-dir ../out/side -q
	expect_same "$(state)" "$T/out/side/phase.json"
	flow phase A start -q
	expect_same "$(state)" "$T/out/side/phase.json"
	# one that cannot be written keeps nobody from going on
	rm -r "$T/out"
	echo 1 >"$T/out"
	flow phase A complete >"$T/text" 2>"$T/err"
	expect_grep 'not mirrored' "$T/err"
	expect_eq complete "$(at .phase_status)"
}

test_the_mirror_spares_what_is_not_ours() {
	git init -q
	mkdir d
	echo '{"mine":1}' >d/phase.json
	expect_exit 5 flow start w --phases A --state-dir d 2>"$T/err"
	expect_grep "move it away" "$T/err"
	expect_eq '{"mine":1}' "$(cat d/phase.json)"
	expect_missing "$(state)"
	expect_exit 128 flow start w --phases A --state-dir .git/x 2>/dev/null
	# no link that comes later leads it out
	flow start w --phases A --state-dir m -q
	rm -r m
	mkdir "$T/outside"
	ln -s "$T/outside" m
	flow phase A start -q 2>/dev/null
	expect_missing "$T/outside/phase.json"
	expect_eq in_progress "$(at .phase_status)"
}

# --- going on ---

test_nothing_to_resume() {
	expect_exit 1 flow resume --json >"$T/out" 2>/dev/null
	expect_eq '{"resume":false,"workflow_id":null,"phase":null,"phase_status":null,"waiting_for_approval":false,"tasks":[],"warnings":[],"checkpoint":null}' \
		"$(cat "$T/out")"
	expect_missing "$(checkpoint_home)"
	flow start w --phases A -q
	phase_done A
	expect_exit 1 flow resume --json >"$T/out" 2>"$T/err"
	expect_eq 'false w' "$(json '"\(.resume) \(.workflow_id)"' "$T/out")"
	expect_grep "'w' is complete" "$T/err"
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
		expect_grep 'task one begins again' "$T/out"
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
	# also behind the last one
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
	distrusted "'o' is not there"
}

test_an_output_of_a_task_that_is_gone() {
	walked
	rm p
	distrusted "'p' is not there"
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
	distrusted "'Z' is not one of those"
	walked
	edit '.completed_phases[0].phase = "Y"'
	distrusted "'Y' is not one of those"
	walked
	edit '.current_phase = "C"'
	distrusted "'C' cannot be the current one"
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
	cp "$T/good" "$(state)"
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
	expect_grep 'put away as corrupt' "$T/err"
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

# --- several at once ---

test_changes_of_several_processes_all_land() {
	git init -q
	flow start w --phases A --state-dir m -q
	flow phase A start -q
	for n in 1 2 3 4 5 6; do
		(for k in 1 2 3; do
			git-checkpoint flow task "t$n.$k" running -q
			git-checkpoint flow task "t$n.$k" complete -q
		done) &
	done
	wait
	expect_eq 18 "$(at '[.tasks[] | select(.status == "complete")] | length')"
	expect_same "$(state)" m/phase.json
	# of many who begin and end it, one does
	for n in 1 2 3 4; do
		git-checkpoint flow phase A complete -q 2>/dev/null && echo "done" >"$T/done.$n" &
	done
	wait
	expect_eq 1 "$(cat "$T"/done.* | wc -l)"
	expect_eq 1 "$(at '.completed_phases | length')"
	expect_eq 'w:A:in_progress w:A:complete' "$(reasons)"
	# and of many who start
	for n in 1 2 3 4; do
		git-checkpoint flow start "w$n" --phases A -q 2>/dev/null && echo "done" >"$T/started.$n" &
	done
	wait
	expect_eq 1 "$(cat "$T"/started.* | wc -l)"
}

test_the_lock_is_waited_for_only_so_long() {
	require flock
	flow start w --phases A -q
	flock "$(store_dir)/checkpoint/lock" sleep 5 &
	sleep 0.5
	expect_exit 75 env GIT_CHECKPOINT_LOCK_TIMEOUT=0s git-checkpoint flow phase A start 2>/dev/null
	expect_eq pending "$(at .phase_status)"
	# who only looks does not wait
	flow status -q
	kill $!
	wait
}

run_tests
