#!/bin/sh
# SPDX-License-Identifier: MIT
# Workflows: every rule by which they begin, move on and wait; what is kept of them, and their copy
# in the tree.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/flow.sh"

reasons() {
	git-checkpoint list --json | jq -r '[.checkpoints[] | select(.source == "flow") | .reason] | reverse | join(" ")'
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
	expect_grep "phase 'A' must be completed before 'B'" "$T/err"
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
	expect_grep "output 'missing' does not exist" "$T/err"
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
	export GIT_CHECKPOINT_MAX_COUNT=3 GIT_CHECKPOINT_MAX_AUTOMATIC=1
	for n in 1 2 3; do
		echo $n >a
		git-checkpoint save -q -m "own $n"
	done
	flow start w --phases A,B,C -q
	phase_done A
	# only the one of its beginning counts, and pushes out none that was asked for
	expect_eq 'w:A:complete w:A:in_progress own 3 own 2 own 1' \
		"$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	phase_done B
	for n in 4 5 6; do
		echo $n >a
		git-checkpoint save -q -m "own $n"
	done
	expect_eq 'own 6 own 5 own 4 w:B:complete w:B:in_progress w:A:complete' \
		"$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	git-checkpoint prune --max-count 1 -q
	expect_eq 'own 6 w:B:complete w:B:in_progress w:A:complete' \
		"$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	# damaged: whatever it may have needed stays
	cp "$(state)" "$T/kept"
	echo '{' >"$(state)"
	git-checkpoint prune --max-count 1 -q
	expect_eq 4 "$(git-checkpoint list | wc -l)"
	cp "$T/kept" "$(state)"
	# once it is put away they are like any other automatic one
	flow archive -q
	git-checkpoint prune --max-count 1 -q
	expect_eq 'own 6 w:B:complete' "$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
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
	# one that was killed before it wrote the copy of the last change
	cp $mirror "$T/old"
	flow phase B complete -q
	cp "$T/old" $mirror
	expect_exit 1 flow resume -q 2>"$T/err"
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

test_the_mirror_heeds_the_umask() {
	git init -q
	for dir in in "$T/out"; do
		for mask in 077:700:600 002:775:664; do
			umask "${mask%%:*}"
			flow start w --phases A --state-dir "$dir/$mask" -q
			expect_eq "${mask#*:}" "$(stat -c %a "$dir/$mask" "$dir/$mask/phase.json" | paste -sd:)"
			flow archive -q
		done
	done
	umask 022
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
	git commit -q --allow-empty -m one
	git worktree add -q ../linked
	(cd ../linked && expect_exit 128 flow start w --phases A --state-dir "$T/work/.git/x" 2>"$T/err")
	expect_grep 'never touched' "$T/err"
	expect_missing .git/x
	# whatever leads there
	ln -s "$PWD/.git" ../link
	expect_exit 128 flow start w --phases A --state-dir ../link/x 2>"$T/err"
	expect_grep 'never touched' "$T/err"
	expect_missing .git/x
	git checkpoint save -q --allow-empty
	ln -s "$(dirname "$(store_dir)")" ../stores
	expect_exit 128 flow start w --phases A --state-dir ../stores/x 2>"$T/err"
	expect_grep 'where checkpoints are kept' "$T/err"
	# or how it is called
	git init -q --separate-git-dir "$T/apart" "$T/other"
	(cd "$T/other" && expect_exit 128 flow start w --phases A --state-dir ../apart/x 2>"$T/err")
	expect_grep 'never touched' "$T/err"
	expect_missing "$T/apart/x"
	# nor is a name that only begins like that of a temporary one of ours
	echo mine >tmp_ckpt_notes
	flow start w --phases A --state-dir . -q
	flow archive -q
	expect_eq mine "$(cat tmp_ckpt_notes)"
	# no link that comes later leads it out
	flow start w --phases A --state-dir m -q
	rm -r m
	mkdir "$T/outside"
	ln -s "$T/outside" m
	flow phase A start -q 2>/dev/null
	expect_missing "$T/outside/phase.json"
	expect_eq in_progress "$(at .phase_status)"
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
