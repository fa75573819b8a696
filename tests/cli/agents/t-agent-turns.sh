#!/bin/sh
# SPDX-License-Identifier: MIT
# Sessions and turns of coding agents: how they are counted, named, listed, kept and taken back.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/agents.sh"
. "$(dirname "$0")/../../lib/strides.sh"

# fire <session> <event> [<members>] [<agent>]
fire() {
	printf '{"cwd":"%s","session_id":"%s","hook_event_name":"%s"%s}' "$PWD" "$1" "$2" "${3:+,$3}" |
		git-checkpoint agent-hook "${4:-codex}" >"$T/got" 2>"$T/err"
	expect_eq '' "$(cat "$T/got" "$T/err")" "what the hook says"
}

# ask <session> <prompt> [<id>] [<agent>]
ask() {
	fire "$1" UserPromptSubmit "\"prompt\":\"$2\"${3:+,\"turn_id\":\"$3\"}" "${4:-}"
}

# work <session> <contents> [<agent>]: a tool that writes them to a file
work() {
	fire "$1" PreToolUse '"tool_name":"Bash"' "${3:-}"
	echo "$2" >file
	fire "$1" PostToolUse '"tool_name":"Bash"' "${3:-}"
}

# held <checkpoint>: what it has in the file
held() {
	git checkpoint show "$1:file"
}

# three_turns <session>: file is 1 2 3 at the beginning of turns 1 2 3, and 4 now
three_turns() {
	echo 1 >file
	for n in 1 2 3; do
		ask "$1" "prompt $n" "id$n"
		work "$1" $((n + 1))
		fire "$1" Stop
	done
}

turns_file() {
	echo "$(store_dir)/checkpoint/turns"
}

# turns <session>: number and prompt of each
turns() {
	git checkpoint list --session "$1" --json | jq -r '[.turns[] | "\(.turn) \(.prompt)"] | reverse | join(", ")'
}

test_names_of_turns() {
	agent_repo
	three_turns s
	git checkpoint show session:s >"$T/out"
	expect_grep '^Agent: *session s, turn 3$' "$T/out"
	for n in 1 2 3; do
		expect_eq $n "$(held turn:$n)"
		expect_eq $n "$(held session:s/turn:$n)"
		expect_eq $((4 - n)) "$(held turn:-$n)"
	done
	expect_eq 4 "$(held session:s)"
	expect_eq 4 "$(held session:last)"
	for name in turn:4 turn:0 turn:-4 turn: turn:x turn:1x session: session:none session:s/turn:9 session:s/turn: turn:--1; do
		expect_exit 128 git checkpoint show "$name" 2>"$T/err"
		expect_grep "'$name'\|session 'none'" "$T/err"
	done
	git checkpoint restore -q -y turn:2
	expect_eq 2 "$(cat file)"
	git checkpoint undo -q -y
	expect_eq 4 "$(cat file)"
}

# "whoever took it": a person's checkpoint, and one of another agent
test_a_turn_that_began_in_a_state_that_was_saved() {
	agent_repo
	echo mine >file
	git checkpoint save -q -m mine
	id=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	ask s one
	expect_eq 1 "$(checkpoints)"
	expect_eq "$id" "$(git checkpoint show --json turn:1 | jq -r .id)"
	ask other two '' claude-code
	expect_eq 1 "$(checkpoints)"
	expect_eq "$id" "$(git checkpoint show --json turn:1 | jq -r .id)"
	# none was taken by it, so its newest is the one that holds the state
	expect_eq "$id" "$(git checkpoint show --json session:s | jq -r .id)"
}

test_what_begins_a_turn() {
	agent_repo
	fire s SessionStart
	fire s PreToolUse '"tool_name":"Bash"'
	expect_eq null "$(git checkpoint list --json | jq .checkpoints[0].agent.turn)"
	expect_exit 128 git checkpoint show turn:1 2>"$T/err"
	expect_grep 'no prompt of the session is known' "$T/err"
	ask s one a
	ask s one a     # the same
	ask s ''        # no text
	ask s '' b
	ask s two b     # a new id
	ask s three a   # one that was there before
	ask s three     # without an id each is new
	ask s three
	expect_eq '1 one, 2 two, 3 three, 4 three' "$(turns s)"
	# a sub-agent asks for nothing, and its calls belong to the turn
	fire s UserPromptSubmit '"prompt":"sub","turn_id":"c","agent_id":"x"'
	echo sub >file
	fire s PreToolUse '"tool_name":"Bash","turn_id":"c","agent_id":"x"'
	expect_eq '{"name":"codex","session":"s","turn":4,"turn_id":"c","tool":"Bash","tool_call":null,"sub_agent":"x","prompt":"three"}' \
		"$(git checkpoint list --json | jq -c .checkpoints[0].agent)"
	expect_eq '1 one, 2 two, 3 three, 4 three' "$(turns s)"
}

test_sessions_stay_apart() {
	agent_repo
	echo 1 >file
	ask s one '' codex
	work s 2 codex
	ask s uno '' claude-code
	work s 3 claude-code
	ask t eins '' codex
	work s 4 codex
	expect_eq 1 "$(held turn:1)" # codex fired last, in session s
	ask s due '' claude-code
	work s 5 claude-code
	expect_eq 2 "$(held turn:1)"
	expect_eq 4 "$(held turn:2)"
	expect_eq 3 "$(held session:t/turn:1)"
	expect_eq '1 uno, 2 due' "$(turns last)"
	expect_eq '1 eins' "$(turns t)"
	expect_eq 'claude-code s 2,codex s 1,codex t 1' \
		"$(git checkpoint list --session --json | jq -r '[.sessions[] | "\(.agent) \(.session) \(.turns)"] | join(",")')"
	# a prefix that is enough, and one that is not
	ask session-1 x
	ask session-2 y
	expect_eq '1 x' "$(turns session-1)"
	expect_exit 128 git checkpoint list --session sess 2>"$T/err"
	expect_grep 'ambiguous' "$T/err"
}

# Copilot reads the settings of Claude Code, too.
# What is not an event has no session that turn:<n> could be of.
test_noise_is_not_a_session() {
	agent_repo
	three_turns s
	for noise in '' garbage '{}' '{"hook_event_name":"Stop"}'; do
		echo "$noise" >>file
		printf '%s' "$noise" | git-checkpoint agent-hook codex >"$T/got" 2>"$T/err"
		expect_eq s "$(git checkpoint list --session --json | jq -r .session)" "after '$noise'"
		expect_eq 3 "$(held turn:3)"
	done
}

test_an_agent_that_tells_everything_twice() {
	agent_repo
	both() {
		printf '{"sessionId":"s","timestamp":1,"cwd":"%s",%s}' "$PWD" "$2" | git-checkpoint agent-hook copilot "$1"
		printf '{"session_id":"s","timestamp":"2026-11-18T01:25:09.819Z","cwd":"%s",%s}' "$PWD" "$2" |
			git-checkpoint agent-hook claude-code "$1"
	}
	for n in 1 2 3; do
		both userPromptSubmitted "\"prompt\":\"p$n\""
		both preToolUse '"toolName":"bash","tool_name":"Bash"'
		echo "$n" >file
		both postToolUse '"toolName":"bash","tool_name":"Bash"'
	done
	expect_eq '1 p1, 2 p2, 3 p3' "$(turns s)"
	expect_eq 1,1,1 "$(git checkpoint list --session --json | jq -r '[.turns[].tools | tostring] | join(",")')"
	expect_eq copilot "$(git checkpoint list --session --json | jq -r .agent)"
}

# ---- list ----------------------------------------------------------------------------

test_list_by_turn() {
	agent_repo
	ask s 'say hello'
	for n in 1 2 3 4; do
		fire s PreToolUse '"tool_name":"Bash"'
		seq $((n * 30)) >"f$n"
		fire s PostToolUse '"tool_name":"Bash"'
	done
	rm f1
	fire s Stop
	ask s second
	git checkpoint list --session >"$T/out"
	expect_grep '^session s of codex, ' "$T/out"
	expect_grep '^turn 2  "second"  0 tools, 0 files, +0 −0$' "$T/out"
	expect_grep '^turn 1  "say hello"  4 tools, 3 files, +270 −0$' "$T/out"
	expect_grep '^chk_.*after: Bash$' "$T/out"
	expect_eq "$(checkpoints)" "$(grep -c '^chk_' "$T/out")"
	git checkpoint list --session=s --json >"$T/json"
	expect_eq '["agent","checkpoints","last_at","session","sessions","turns"]' "$(jq -c keys "$T/json")"
	expect_eq '["added","began_at","begin","checkpoints","deleted","end","files","open","prompt","tools","turn","turn_id"]' \
		"$(jq -c '.turns[0] | keys' "$T/json")"
	expect_eq '3 270 0 4' "$(jq -r '.turns[1] | "\(.files) \(.added) \(.deleted) \(.tools)"' "$T/json")"
	jq -e '[.turns[].checkpoints[]] == [.checkpoints[].id]' "$T/json"
	# what a prompt holds cannot do anything to a terminal
	printf '{"cwd":"%s","session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"\\u001b[31mred\\tx\\u009b"}' "$PWD" |
		git-checkpoint agent-hook codex
	git checkpoint list --session >"$T/out"
	expect_no_grep "$(printf '\033')" "$T/out"
	expect_exit 128 git checkpoint list --session none 2>"$T/err"
	expect_grep "no session 'none'" "$T/err"
	expect_exit 129 git checkpoint list --session s t 2>"$T/err"
}

test_prompts_that_are_not_kept() {
	agent_repo
	git config checkpoint.agentPrompts false
	ask s 'my secret' a
	work s 2
	ask s 'my secret' b
	git checkpoint list --session >"$T/out"
	expect_grep '^turn 2  0 tools' "$T/out"
	expect_grep '^turn 1  1 tool, ' "$T/out"
	expect_eq 'null,null' "$(git checkpoint list --json | jq -r '[.checkpoints[].agent.prompt | tostring] | join(",")')"
	expect_no_grep secret "$(turns_file)"
	expect_eq 600 "$(stat -c %a "$(turns_file)")"
	expect_eq 700 "$(stat -c %a "$(store_dir)")"
}

# ---- taking back -----------------------------------------------------------------------

test_undo_of_a_turn() {
	agent_repo
	expect_exit 1 git checkpoint undo --turn -y 2>"$T/err"
	three_turns s
	git checkpoint undo -y --turn >"$T/out"
	expect_eq 3 "$(cat file)"
	git checkpoint undo -q -y
	expect_eq 4 "$(cat file)"
	expect_exit 5 git checkpoint undo --turn --json </dev/null >"$T/out"
	git checkpoint undo --turn -n --json >"$T/out"
	expect_eq "$(git checkpoint show --json turn:-1 | jq -r .id)" "$(jq -r .restored_to.checkpoint_id "$T/out")"
}

# Of three turns in three files, the one in the middle is taken back; the others and the user's edits stay.
test_revert_of_a_turn() {
	agent_repo
	for n in 1 2 3; do
		ask s "prompt $n" "id$n"
		fire s PreToolUse '"tool_name":"Bash"'
		echo "of turn $n" >"file$n"
		fire s PostToolUse '"tool_name":"Bash"'
		fire s Stop
	done
	echo mine >mine
	git checkpoint revert --yes -q turn:2
	expect_missing file2
	expect_eq 'of turn 1 of turn 3 mine' "$(cat file1 file3 mine | xargs)"
	# it is not the agent's to undo
	expect_exit 5 git checkpoint undo --yes -q --source codex 2>"$T/err"
	git checkpoint undo --yes -q
	expect_eq 'of turn 2' "$(cat file2)"
	git checkpoint revert --yes -q --source codex turn:-1
	expect_missing file3
	git checkpoint undo --yes -q --source codex
	expect_exit 128 git checkpoint revert --yes turn:7 2>"$T/err"
}

test_only_ones_own_restores_are_undone() {
	agent_repo
	echo 1 >file
	git checkpoint save -q
	echo 2 >file
	git checkpoint restore -y @ --source agent --json >"$T/out"
	jq -e '.next_actions | any(test("undo --source agent"))' "$T/out"
	for command in 'undo -y' 'undo -n' 'undo -y --source other'; do
		# shellcheck disable=SC2086
		expect_exit 5 git checkpoint $command --json >"$T/out"
		jq -e '.error.code == 5 and (.error.message | test("agent.*--force"))' "$T/out"
		expect_eq 1 "$(cat file)"
	done
	git checkpoint undo -q -y --source agent
	expect_eq 2 "$(cat file)"
	# whoever redoes it is who may undo it
	git checkpoint redo -q -y --source another
	expect_exit 5 git checkpoint undo -q -y --source agent 2>/dev/null
	git checkpoint undo -q -y --source another
	git checkpoint redo -q -y
	git checkpoint undo -q -y
	# a person may, if that is meant
	git checkpoint restore -q -y @ --source agent
	git checkpoint undo -q -y --force
	expect_eq 2 "$(cat file)"
	git checkpoint restore -q -y @
	expect_exit 5 git checkpoint undo -q -y --source agent 2>/dev/null
	git checkpoint undo -q -y
	expect_eq 'undo null,redo another' "$(git checkpoint log --json |
		jq -r '[.entries[] | select(.action == "redo" or .action == "undo") | "\(.action) \(.source)"] | [.[0], (.[] | select(. == "redo another"))] | join(",")')"
}

# the source survives an interruption
test_a_restore_of_an_agent_that_was_interrupted() {
	agent_repo
	for n in 1 2 3 4; do echo $n >f$n; done
	git checkpoint save -q
	rm f?
	FAULT_PATH=$PWD with_faults rename 0 kill git-checkpoint restore -q -y @ --source agent
	total=$(cat "$T/faults")
	git checkpoint undo -q -y --source agent
	FAULT_PATH=$PWD expect_exit 137 with_faults rename $((total / 2 + 1)) kill git-checkpoint restore -q -y @ --source agent
	git checkpoint restore -q --continue
	expect_exit 5 git checkpoint undo -q -y 2>"$T/err"
	git checkpoint undo -q -y --source agent
	expect_missing f1 f2 f3 f4
}

# ---- what stays ---------------------------------------------------------------------------

test_the_beginnings_of_turns_are_spared() {
	agent_repo
	git config checkpoint.maxAutomatic 3
	git config checkpoint.maxCount 3
	for s in a b c d; do
		for n in 1 2 3; do
			echo "$s$n" >file
			ask $s "$n"
			for m in 1 2 3; do work $s "$s$n$m"; done
		done
	done
	for s in b c d; do
		for n in 1 2 3; do expect_eq "$s$n" "$(held session:$s/turn:$n)"; done
	done
	for n in 1 2 3; do
		expect_exit 128 git checkpoint show session:a/turn:$n 2>"$T/err"
		expect_grep 'no longer kept' "$T/err"
	done
	git checkpoint prune -q --max-automatic 1
	for n in 1 2 3; do expect_eq "d$n" "$(held turn:$n)"; done
	git checkpoint list --session a >"$T/out"
	expect_grep '^turn 3  "3"  3 tools$' "$T/out"
	# what is asked for by name goes all the same
	git checkpoint drop -q -y turn:2
	expect_exit 128 git checkpoint restore -y turn:2 2>"$T/err"
	expect_grep 'no longer kept' "$T/err"
	expect_eq d1 "$(held turn:1)"
}

test_no_budget_takes_them() {
	agent_repo
	for n in 1 2 3 4 5 6 7 8; do
		head -c 100000 /dev/urandom >file
		ask s "$n"
	done
	git checkpoint prune -q --max-size 400k 2>"$T/err"
	for n in 1 2 3 4 5 6 7 8; do
		git checkpoint show turn:$n >"$T/out"
	done
	# a save that would need one of them is refused
	head -c 100000 /dev/urandom >file
	GIT_CHECKPOINT_MAX_SIZE=400k expect_exit 128 git checkpoint save 2>"$T/err"
	expect_grep 'does not fit into maxSize' "$T/err"
	expect_grep "coding agents" "$T/err"
	git checkpoint show turn:1 >"$T/out"
}

# ---- the file -----------------------------------------------------------------------------

test_lines_are_bounded_and_summed_up() {
	agent_repo
	three_turns s
	file=$(turns_file)
	begin=$(git checkpoint show --json turn:1 | jq -r .id)
	awk -v id="$begin" 'BEGIN { for (i = 0; i < 9000; i++)
		printf "before\t1794972911\tcodex\ts\tcodex\t%s\nafter\t1794972911\tcodex\ts\tcodex\t%s\n", id, id }' >>"$file"
	test "$(stat -c %s "$file")" -gt 600000
	ask s four
	test "$(stat -c %s "$file")" -lt 3000 || fail "$(stat -c %s "$file") bytes"
	expect_eq '1 prompt 1, 2 prompt 2, 3 prompt 3, 4 four' "$(turns s)"
	expect_eq 9001 "$(git checkpoint list --session --json | jq '.turns[1].tools')"
	for n in 1 2 3; do expect_eq $n "$(held turn:$n)"; done
	# many sessions, of which the oldest are forgotten
	n=0
	while test $n -lt 100; do
		printf 'turn\t1794972911\tcodex\tmany%s\tcodex\t1\t\tp\n' $n
		n=$((n + 1))
	done >>"$file"
	ask last x
	expect_eq 64 "$(git checkpoint list --session --json | jq '.sessions | length')"
}

test_damage_costs_no_more_than_it_must() {
	agent_repo
	three_turns s
	file=$(turns_file)
	cp "$file" "$T/sound"
	# torn, odd, hostile: the rest counts
	printf 'garbage\n\000\377\nturn\t1\t\t\t\t\t\t\nturn\t1\tcodex\ts\tcodex\t2\t\tagain\nbefore\t1\tcodex\ts\tcodex\t../../x\ntorn' >>"$file"
	expect_eq 3 "$(held turn:3)"
	expect_exit 1 git checkpoint doctor >"$T/out" 2>&1
	expect_grep 'what coding agents did' "$T/out"
	ask s four
	expect_eq '1 prompt 1, 2 prompt 2, 3 prompt 3, 4 four' "$(turns s)"
	git checkpoint doctor --fix >"$T/out" 2>&1 || :
	git checkpoint doctor -q
	expect_eq '1 prompt 1, 2 prompt 2, 3 prompt 3, 4 four' "$(turns s)"
	# all of it: checkpoints know their turns
	for damage in 'echo garbage >"$file"' ': >"$file"' 'rm "$file"; mkfifo "$file"' 'head -c 9000000 /dev/zero >"$file"'; do
		rm -f "$file"
		cp "$T/sound" "$file"
		eval "$damage"
		expect_exit 1 git checkpoint doctor >"$T/out" 2>&1
		git checkpoint doctor --fix >"$T/out" 2>&1 || :
		git checkpoint doctor -q
		for n in 1 3; do expect_eq "$n prompt $n" "$(turns s | tr , '\n' | sed 's/^ //' | grep "^$n")"; done
		expect_eq 3 "$(held turn:3)"
		# nor does the next hook count from the beginning again
		eval "$damage"
		expect_exit 128 git checkpoint list --session 2>"$T/err"
		expect_grep 'cannot be read' "$T/err"
		ask s next id4
		expect_eq 4 "$(held turn:4)"
		expect_eq 3 "$(held turn:3)"
		git checkpoint doctor -q
	done
	# a directory in its place
	rm "$file"
	mkdir "$file"
	echo 9 >file
	ask s 'after damage'
	expect_eq 9 "$(held turn:-1)"
	# a newer program's is left alone
	printf 'git-checkpoint turns 2\nwhatever\n' >"$file"
	echo 10 >file
	ask s x
	expect_eq 'git-checkpoint turns 2 whatever' "$(xargs <"$file")"
	expect_eq null "$(git checkpoint list --json | jq .checkpoints[0].agent.turn)"
	git checkpoint doctor -q
}

# Killed anywhere: the checkpoint, the turn or neither is there, and the next ones are right.
test_a_hook_that_is_killed() {
	agent_repo
	calls=write,fsync,fdatasync,rename,openat-create
	printf '{"cwd":"%s","session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"p"}' "$PWD" >"$T/event"
	git-checkpoint agent-hook codex <"$T/event"
	echo 1 >file
	with_faults $calls 0 kill git-checkpoint agent-hook codex <"$T/event"
	# an earlier one that was killed may leave less to do
	total=$(($(cat "$T/faults") - 3))
	at=$(begin_at 5)
	while test "$at" -le "$total"; do
		echo "killed at $at" >file
		expect_exit 137 with_faults $calls "$at" kill git-checkpoint agent-hook codex <"$T/event"
		git-checkpoint agent-hook codex <"$T/event"
		expect_eq "killed at $at" "$(held turn:-1)"
		git-checkpoint verify -q --all
		git checkpoint list --session --json >"$T/json"
		jq -e '[.turns[].turn] | . == (unique | reverse)' "$T/json"
		at=$((at + ${STEP:-5}))
	done
	# a pack may have no index, as after any save that is killed
	git checkpoint doctor -q --fix >"$T/out" 2>&1 || :
	git checkpoint doctor -q
}

run_tests
