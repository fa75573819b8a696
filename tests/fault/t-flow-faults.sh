#!/bin/sh
# SPDX-License-Identifier: MIT
# A workflow whose every change is killed, or whose disk fails, at every call that changes a file:
# there is the old state or the new one, never half of one.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

KEYS='completed_phases,current_phase,interruption_safe,last_updated,phase_status,started_at,tasks,user_checkpoints,workflow_id'

flow() {
	git-checkpoint flow "$@"
}

# state: where it is; for a moment beside the place that another one leaves
state() {
	live=$(store_dir "$T/work")/checkpoint/flow
	if test -e "$live/phase.json" || test ! -e "$live-next/phase.json"; then
		echo "$live/phase.json"
	else
		echo "$live-next/phase.json"
	fi
}

# essence: what a state is, without its times and the ids of checkpoints
essence() {
	if test -e "$(state)"; then
		jq -c '[.workflow_id, .current_phase, .phase_status, [.completed_phases[] | [.phase, .output]],
			[.user_checkpoints[].phase], [.tasks[] | [.id, .status, .attempts, .output]], .interruption_safe]' "$(state)"
	else
		echo none
	fi
}

# whole <what>: it is JSON with just its keys, the program trusts it, and what it names is there
whole() {
	test ! -e "$(state)" || {
		expect_eq "$KEYS" "$(jq -r 'keys | join(",")' "$(state)")" "$1: keys"
		jq -r '.completed_phases[].checkpoint' "$(state)" | while read -r id; do
			git-checkpoint show -q "$id" >/dev/null || fail "$1: checkpoint $id"
		done
	}
	git-checkpoint flow status --json >"$T/status" 2>"$T/err" || fail "$1: status: $(cat "$T/err")"
	sed -i '/a restore was interrupted/d' "$T/err"
	expect_eq '' "$(cat "$T/err")" "$1: status"
	git-checkpoint flow list --json >"$T/list" || fail "$1: list"
	expect_eq 0 "$(jq '[.archives[] | select(.corrupt)] | length' "$T/list")" "$1: corrupt ones"
}

# survives <stride> <do> <flow arguments>...: hit at every <stride>th call; then done again
survives() {
	stride=$1 what=$2
	shift 2
	keep
	before=$(essence)
	with_faults "$CHANGES" 0 "$what" git-checkpoint flow "$@" >/dev/null 2>&1
	total=$(cat "$T/faults")
	after=$(essence)
	ids=$(jq -r '[.archives[] | "\(.workflow_id) \(.current_phase) \(.phase_status)"] | join(";")' <<-END
	$(flow list --json)
	END
	)
	test "$before" != "$after" || fail "nothing changed: flow $*"
	test "$total" -ge 3 || fail "only $total calls: flow $*"
	at=$(begin_at "$stride")
	while test "$at" -le "$total"; do
		again
		with_faults "$CHANGES" "$at" "$what" git-checkpoint flow "$@" >/dev/null 2>&1 || :
		whole "flow $*: $what at $at"
		now=$(essence)
		if test "$now" = "$before"; then
			olds=$((olds + 1))
			# nothing is in the way of doing it again
			git-checkpoint flow "$@" >/dev/null 2>"$T/err" || fail "flow $* after $what at $at: $(cat "$T/err")"
			now=$(essence)
		fi
		expect_eq "$after" "$now" "flow $*: $what at $at"
		expect_eq "$ids" "$(flow list --json |
			jq -r '[.archives[] | "\(.workflow_id) \(.current_phase) \(.phase_status)"] | join(";")')" \
			"flow $*: archives after $what at $at"
		# the next change leaves no litter, here or there
		git-checkpoint flow resume -q >/dev/null 2>&1 || :
		expect_eq '' "$(find "$XDG_STATE_HOME" "$T/work" -name '*tmp_ckpt_*')" "flow $*: temporaries after $what at $at"
		at=$((at + ${STEP:-$stride}))
	done
	again
	git-checkpoint flow "$@" >/dev/null 2>&1
}

# all <stride> <do>: every transition there is
all() {
	git init -q
	echo 1 >a
	git-checkpoint save -q
	olds=0
	survives "$1" "$2" start w --phases A,B --approve A --state-dir st
	survives "$1" "$2" phase A start --note n
	survives "$1" "$2" task t running --output o
	survives "$1" "$2" resume
	echo o >o
	survives "$1" "$2" task t complete --output o
	survives "$1" "$2" phase A complete --output o
	survives "$1" "$2" approve A
	survives "$1" "$2" phase B start
	survives "$1" "$2" phase B fail
	survives "$1" "$2" start v --phases C --state-dir other --fresh
	expect_missing st/phase.json
	survives "$1" "$2" archive
	expect_missing other/phase.json
	# How often depends on where the strides hit; all of them must see it several times.
	test -z "$STEP" || test "$olds" -gt 2 || fail "only $olds times the old state"
}

test_every_change_can_be_killed_anywhere() {
	all 17 kill
}

test_every_change_can_meet_a_full_disk() {
	all 29 ENOSPC
}

# Of two workflows one is live, and the other one archived once it is not, whenever this is killed.
test_one_takes_the_place_of_another_at_once() {
	flow start old --phases A -q
	keep
	with_faults write,fsync,rename,unlink 0 kill git-checkpoint flow start new --phases B --fresh -q
	total=$(cat "$T/faults")
	test "$total" -gt 5
	at=1 olds=0 news=0
	while test "$at" -le "$total"; do
		again
		expect_exit 137 with_faults write,fsync,rename,unlink "$at" kill \
			git-checkpoint flow start new --phases B --fresh -q
		live=$(flow status --json | jq -r .workflow_id)
		archived=$(flow list --json | jq -r '[.archives[].workflow_id] | join(" ")')
		case $live in
		old) expect_eq '' "$archived" "killed at $at" && olds=$((olds + 1)) ;;
		*) expect_eq 'new old' "$live $archived" "killed at $at" && news=$((news + 1)) ;;
		esac
		# whoever changes it finds it in its place
		flow phase "$(flow status --json | jq -r .current_phase)" start -q
		expect_eq "$live" "$(jq -r .workflow_id "$(store_dir)/checkpoint/flow/phase.json")"
		expect_missing "$(store_dir)/checkpoint/flow-next"
		at=$((at + 1))
	done
	test "$olds" -gt 0 || fail 'never the old one'
	test "$news" -gt 2 || fail "only $news times the new one"
}

# Killed, files and tasks may have gone back or not, but no task is complete whose output is gone.
test_bringing_the_files_back_can_be_killed_anywhere() {
	git init -q
	echo 1 >a
	flow start w --phases A,B -q
	flow phase A start -q
	flow phase A complete -q --output a
	flow phase B start -q
	echo 2 >a
	echo made >b
	flow task one complete --output b -q
	flow task two running -q
	keep
	with_faults "$CHANGES" 0 kill git-checkpoint flow resume --restore -y -q
	total=$(cat "$T/faults")
	at=$(begin_at 12)
	while test "$at" -le "$total"; do
		again
		killed "$at" "$total" git-checkpoint flow resume --restore -y -q || break
		whole "killed at $at"
		if test -e "$(store_dir)/checkpoint/journal"; then
			git-checkpoint restore --continue -q >/dev/null 2>&1 || fail "killed at $at: --continue"
		fi
		flow resume -q 2>"$T/err" || fail "killed at $at: $(cat "$T/err")"
		git-checkpoint flow resume --restore -y -q 2>/dev/null || fail "killed at $at: again"
		expect_eq 1 "$(cat a)" "killed at $at: a"
		expect_missing b
		expect_eq 'one pending two pending' "$(jq -r '[.tasks[] | "\(.id) \(.status)"] | join(" ")' "$(state)")"
		at=$((at + ${STEP:-12}))
	done
}

# An orchestrator that is killed again and again, and asks where to go on, until all is done.
test_an_orchestrator_that_dies_at_random_comes_to_its_end() {
	git init -q
	cat >"$T/orchestrator" <<-'END'
	#!/bin/sh
	# Three phases of three tasks each; each task makes a file from what the phase before made.
	set -e
	cd "$1"
	git-checkpoint flow status --json | jq -e .workflow_id >/dev/null ||
		git-checkpoint flow start story --phases one,two,three --approve two --state-dir st -q
	while git-checkpoint flow resume --json >"$2" 2>/dev/null; do
		echo resumed >>"$3"
		phase=$(jq -r .phase "$2")
		if test "$(jq -r .waiting_for_approval "$2")" = true; then
			git-checkpoint flow approve "$phase" -q
			continue
		fi
		git-checkpoint flow phase "$phase" start -q
		for task in x y z; do
			test "$(jq -r --arg id "$task" '[.tasks[] | select(.id == $id and .status == "complete")] | length' "$2")" = 0 || continue
			git-checkpoint flow task $task running --output "$phase.$task" -q
			case $phase in
			one) echo "$task" >"$2.new" ;;
			two) cat one.* >"$2.new" ;;
			three) cat two.* >"$2.new" ;;
			esac
			mv "$2.new" "$phase.$task"
			echo made >>"$3"
			git-checkpoint flow task $task complete -q
		done
		git-checkpoint flow phase "$phase" complete --output "$phase.x" --output "$phase.y" --output "$phase.z" -q
	done
	END
	chmod +x "$T/orchestrator"
	deaths=0
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		: >"$T/steps"
		setsid "$T/orchestrator" "$T/work" "$T/resume" "$T/steps" >"$T/said" 2>&1 &
		pid=$!
		# after one to three of its steps, and a moment of some milliseconds
		while test "$(wc -l <"$T/steps")" -le $((n % 3)) && kill -0 $pid 2>/dev/null; do
			sleep 0.01
		done
		sleep "0.0$(((n * 37 + TEST_SEED) % 10))"
		if kill -9 "-$pid" 2>/dev/null; then
			deaths=$((deaths + 1))
		fi
		wait $pid || :
		test ! -e "$(state)" || expect_eq "$KEYS" "$(jq -r 'keys | join(",")' "$(state)")"
	done
	"$T/orchestrator" "$T/work" "$T/resume" "$T/steps" >"$T/said" 2>&1 || fail "the last one: $(cat "$T/said")"
	test $deaths -ge 2 || fail "died only $deaths times"
	expect_eq '["one","two","three"]' "$(jq -c '[.completed_phases[].phase]' "$(state)")"
	expect_eq complete "$(jq -r .phase_status "$(state)")"
	expect_same "$(state)" st/phase.json
	for task in x y z; do
		expect_eq "$task" "$(cat "one.$task")"
		expect_eq 'x y z' "$(xargs <"two.$task")"
		expect_eq 'x y z x y z x y z' "$(xargs <"three.$task")"
	done
	# every phase has its files to go back to
	jq -r '.completed_phases[] | "\(.phase) \(.checkpoint)"' "$(state)" | while read -r phase id; do
		git-checkpoint show --files "$id" >"$T/files"
		expect_grep "^$phase.z$" "$T/files"
	done
	expect_eq 0 "$(flow list --json | jq '.archives | length')"
}

run_tests
