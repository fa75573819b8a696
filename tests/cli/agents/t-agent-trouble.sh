#!/bin/sh
# SPDX-License-Identifier: MIT
# What goes wrong when the hook of an agent runs: told once in a session, remembered for hooks status; what takes
# too long goes on in the background.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/agents.sh"

# event <session> [<tool>]
event() {
	printf '{"cwd":"%s","session_id":"%s","hook_event_name":"PreToolUse","tool_name":"%s"}' "$PWD" "$1" "${2:-x}"
}

# locked <agent> <session>: its hook while another process has the store, for which it does not wait
locked() {
	event "$2" >"$T/event"
	flock "$(store_dir)/checkpoint/lock" git-checkpoint agent-hook "$1" <"$T/event" >"$T/got" 2>"$T/err"
}

told() {
	jq -r .systemMessage "$T/got"
}

test_the_same_is_told_once_in_a_session() {
	require flock
	agent_repo
	git checkpoint hooks install -q --agent claude-code --agent gemini-cli --agent cline 2>/dev/null
	git config checkpoint.lockTimeout 0s
	echo 2 >file
	locked claude-code one
	expect_eq 'git-checkpoint: not saved' "$(told | cut -c 1-25)"
	locked claude-code one
	expect_eq '' "$(cat "$T/got" "$T/err")"
	# another session, another agent
	locked claude-code two
	expect_eq 'git-checkpoint: not saved' "$(told | cut -c 1-25)"
	locked gemini-cli one
	expect_eq 'git-checkpoint: not saved' "$(told | cut -c 1-25)"
	locked gemini-cli one
	expect_eq '{}' "$(cat "$T/got")"
	# on stderr, where the agent has no other channel
	locked cline one
	expect_eq '' "$(cat "$T/got")"
	expect_grep '^git-checkpoint: not saved' "$T/err"
	locked cline one
	expect_eq '' "$(cat "$T/got" "$T/err")"
	# and in hooks status
	git checkpoint hooks status >"$T/out"
	expect_eq 3 "$(grep -c '^  went wrong .*: git-checkpoint: not saved' "$T/out")"
	git checkpoint hooks status --json | jq -e '[.agents[] | select(.state == "installed")] |
		all(.trouble.at and (.trouble.message | startswith("git-checkpoint: not saved")))' >/dev/null
	git checkpoint status --json | jq -e '[.agents[].trouble.message // empty][0]' >/dev/null
	git checkpoint status >"$T/out"
	expect_grep '^Agents:      claude-code (no checkpoint yet), cline' "$T/out"
}

test_where_nothing_can_be_remembered_it_is_told_each_time() {
	agent_repo
	for n in 1 2 3; do
		event s | GIT_CHECKPOINT_HOME=/dev/null/x git-checkpoint agent-hook claude-code >"$T/got"
		expect_eq 'git-checkpoint: not saved' "$(told | cut -c 1-25)"
	done
	# nor is a session that has no name
	require flock
	git checkpoint save -q
	git config checkpoint.lockTimeout 0s
	for n in 1 2; do
		echo $n >file
		printf '{"cwd":"%s","hook_event_name":"PreToolUse","tool_name":"x"}' "$PWD" >"$T/event"
		flock "$(store_dir)/checkpoint/lock" git-checkpoint agent-hook claude-code <"$T/event" >"$T/got"
		expect_eq 'git-checkpoint: not saved' "$(told | cut -c 1-25)"
	done
}

test_a_damaged_memory_does_no_harm() {
	require flock
	agent_repo
	git checkpoint hooks install -q --agent claude-code 2>/dev/null
	git config checkpoint.lockTimeout 0s
	header='git-checkpoint turns 1'
	for bad in garbage '{' "$header" "$header\ntrouble\tx\tclaude-code\ts\t\tbroken" \
		"$header\ntrouble\t1\tclaude-code\ts\t\t" "${header}0" ''; do
		echo "$bad" >file
		printf "$bad\n" >"$(store_dir)/checkpoint/turns"
		git checkpoint hooks status >"$T/out"
		expect_no_grep 'went wrong' "$T/out"
		locked claude-code s
		expect_eq 'git-checkpoint: not saved' "$(told | cut -c 1-25)"
		locked claude-code s
		# a later version wrote it: nothing is added
		test "$bad" = "${header}0" || expect_eq '' "$(cat "$T/got")"
	done
	rm "$(store_dir)/checkpoint/turns"
	git checkpoint doctor >/dev/null
}

# lockTimeout is longer, but hookTimeout counts.
test_nobody_waits_longer_than_a_hook_may() {
	require flock
	agent_repo
	git checkpoint save -q
	git config checkpoint.lockTimeout 1h
	git config checkpoint.hookTimeout 1s
	echo 2 >file
	locked claude-code s
	expect_eq 'git-checkpoint: not saved' "$(told | cut -c 1-25)"
}

# A disk so slow that the first checkpoint takes longer than a hook may.
test_what_takes_too_long_goes_on_in_the_background() {
	# where the caller wants the store
	export GIT_CHECKPOINT_HOME="$T/elsewhere"
	agent_repo
	mkdir many
	for i in 1 2 3 4 5 6 7 8 9 10; do
		mkdir many/$i
		for j in 1 2 3 4 5 6 7 8 9 10; do echo $i $j >many/$i/$j; done
	done
	git config checkpoint.threads 1
	git config checkpoint.hookTimeout 1s
	event s >"$T/event"
	# what is started meanwhile must not be slow
	FAULT_RUN='sleep 3' FAULT_PATH=$PWD/many with_faults open 60 run \
		git-checkpoint agent-hook claude-code <"$T/event" >"$T/got" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_eq 'git-checkpoint: not saved yet: it takes longer than hookTimeout allows' \
		"$(told | sed 's/ allows.*/ allows/')"
	told | grep -q 'goes on in the background'
	# the next call finds it, or waits for it
	git config checkpoint.hookTimeout 10m
	tries=0
	until test "$(git checkpoint list --json 2>/dev/null | jq '.checkpoints | length')" = 1; do
		tries=$((tries + 1))
		test $tries -lt 600 || fail 'it does not go on'
		sleep 0.1
	done
	expect_eq 'claude-code in the background true' \
		"$(git checkpoint list --json | jq -r '.checkpoints[0] | "\(.source) \(.reason) \(.automatic)"')"
	git-checkpoint agent-hook claude-code <"$T/event" >"$T/got" 2>"$T/err"
	expect_eq '' "$(cat "$T/got" "$T/err")"
	expect_eq 1 "$(checkpoints)"
	git checkpoint verify -q --all
}

run_tests
