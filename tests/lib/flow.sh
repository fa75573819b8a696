# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of workflows; sourced after harness.sh.

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

# phase_done <phase> [<option>...]
phase_done() {
	flow phase "$1" start -q
	phase=$1
	shift
	flow phase "$phase" complete -q "$@"
}
