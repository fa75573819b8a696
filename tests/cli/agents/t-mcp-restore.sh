#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp: what overwrites files needs the token of a preview, which is good for that plan, once.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/mcp.sh"

# Two checkpoints; $first and $second are their ids.
two_states() {
	git init -q .
	mkdir dir
	echo one >file
	echo one >dir/other
	git checkpoint save -q -m first
	echo two >file
	echo two >dir/other
	echo new >created
	git checkpoint save -q -m second
	first=$(git checkpoint list --json | jq -r '.checkpoints[1].id')
	second=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
}

# token <arguments of the preview>
token() {
	mcp_ok checkpoint_preview_restore "$1" | jq -re .token
}

test_a_preview_touches_nothing_and_its_token_restores() {
	two_states
	for revision in 2025-06-18 2025-11-25 2026-07-28; do
		mcp_open $revision
		fingerprint_raw . >"$T/before"
		mcp_ok checkpoint_preview_restore "{\"checkpoint\":\"$first\"}" >"$T/plan"
		fingerprint_raw . | cmp - "$T/before"
		jq -e '.rolled_back == false and (.changes_reverted | length == 3) and (.token | test("^[0-9a-f]{32}$"))' "$T/plan"
		mcp_ok checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"$(jq -r .token "$T/plan")\",\"reason\":\"with $revision\"}" |
			jq -e '.rolled_back and .verification.match and .warnings != []'
		expect_eq one "$(cat file)"
		expect_missing created
		git checkpoint log --json | jq -e ".entries[] | select(.reason == \"with $revision\")"
		mcp_ok checkpoint_undo "{\"token\":\"$(token '{"undo":true}')\"}" | jq -e .rolled_back
		expect_eq two "$(cat file)"
		expect_exists created
		mcp_close
	done
	git checkpoint verify -q --all
}

test_without_the_token_nothing_happens() {
	two_states
	mcp_open 2025-11-25
	fingerprint_raw . >"$T/before"
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\"}" 129 | grep checkpoint_preview_restore
	mcp_refuses checkpoint_undo '{}' 129
	mcp_refuses checkpoint_revert "{\"checkpoint\":\"$first\"}" 129
	for guess in 0 "$(printf %032d 0)" @ --yes; do
		mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"$guess\"}" 5 | grep 'not valid'
	done
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"\"}" 129
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":true}" 129
	fingerprint_raw . | cmp - "$T/before"
	mcp_close
}

test_a_token_is_good_for_one_call() {
	two_states
	mcp_open 2025-11-25
	used=$(token "{\"checkpoint\":\"$first\"}")
	mcp_ok checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"$used\"}" >/dev/null
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"$used\"}" 5
	# Also if that call was refused.
	used=$(token "{\"checkpoint\":\"$second\"}")
	mcp_refuses checkpoint_undo "{\"token\":\"$used\"}" 5
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$second\",\"token\":\"$used\"}" 5
	expect_eq one "$(cat file)"
	mcp_close
}

test_a_token_is_good_for_one_server() {
	two_states
	mcp_open 2025-11-25
	other=$(token "{\"checkpoint\":\"$first\"}")
	mcp_close
	mcp_open 2025-11-25
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"$other\"}" 5
	expect_eq two "$(cat file)"
	mcp_close
}

test_a_token_is_good_for_one_plan() {
	two_states
	mcp_open 2025-11-25
	for change in 'echo three >file' 'echo x >>created' 'rm created' 'echo x >more' 'chmod +x file' 'ln -s x link' 'mkdir empty'; do
		stale=$(token "{\"checkpoint\":\"$first\"}")
		sh -c "$change"
		fingerprint_raw . >"$T/before"
		mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"$stale\"}" 5 | grep 'another plan'
		fingerprint_raw . | cmp - "$T/before"
	done
	# What "@" means has changed.
	stale=$(token '{"checkpoint":"@"}')
	git checkpoint save -q
	echo four >file
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"@\",\"token\":\"$stale\"}" 5 | grep 'another plan'
	# The same plan, but not what was shown.
	good=$(token "{\"checkpoint\":\"$first\",\"paths\":[\"file\"]}")
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"token\":\"$good\"}" 5 | grep 'another plan'
	good=$(token "{\"checkpoint\":\"$first\",\"paths\":[\"file\"]}")
	mcp_refuses checkpoint_restore "{\"checkpoint\":\"$first\",\"paths\":[\"dir\"],\"token\":\"$good\"}" 5 | grep 'another plan'
	expect_eq four "$(cat file)"
	mcp_close
}

test_files_that_a_restore_does_not_touch_may_change() {
	two_states
	mcp_open 2025-11-25
	good=$(token "{\"checkpoint\":\"$first\",\"paths\":[\"dir/other\"]}")
	echo three >file
	mcp_ok checkpoint_restore "{\"checkpoint\":\"$first\",\"paths\":[\"dir/other\"],\"token\":\"$good\"}" >/dev/null
	expect_eq 'one three' "$(cat dir/other file | xargs)"
	mcp_close
}

test_a_revert_needs_the_token_of_its_preview() {
	two_states
	git checkpoint revert -h >/dev/null || skip 'there is no revert'
	echo three >>created
	mcp_open 2025-11-25
	other=$(token "{\"checkpoint\":\"$second\"}")
	mcp_refuses checkpoint_revert "{\"checkpoint\":\"$second\",\"token\":\"$other\"}" 5 | grep 'another plan'
	good=$(token "{\"revert\":\"$second\",\"paths\":[\"file\"]}")
	mcp_refuses checkpoint_revert "{\"checkpoint\":\"$second\",\"token\":\"$good\"}" 5 | grep 'another plan'
	good=$(token "{\"revert\":\"$second\",\"paths\":[\"file\"]}")
	mcp_ok checkpoint_revert "{\"checkpoint\":\"$second\",\"paths\":[\"file\"],\"token\":\"$good\"}" |
		jq -e '.rolled_back and .conflicts == []'
	expect_eq 'one two new three' "$(cat file dir/other created | xargs)"
	mcp_ok checkpoint_undo "{\"token\":\"$(token '{"undo":true}')\"}" >/dev/null
	expect_eq two "$(cat file)"
	mcp_close
}

test_a_preview_is_of_one_thing() {
	two_states
	mcp_open 2025-11-25
	mcp_refuses checkpoint_preview_restore '{}' 129
	mcp_refuses checkpoint_preview_restore '{"checkpoint":"@","undo":true}' 129
	mcp_refuses checkpoint_preview_restore '{"checkpoint":"@","revert":"@"}' 129
	mcp_refuses checkpoint_preview_restore '{"undo":false}' 129
	mcp_refuses checkpoint_preview_restore '{"undo":true,"paths":["file"]}' 129
	mcp_close
}

# What somebody else restored is not taken back by an agent.
test_only_ones_own_restores_are_undone() {
	two_states
	git checkpoint restore -q --yes "$first"
	mcp_open 2025-11-25
	mcp_refuses checkpoint_preview_restore '{"undo":true}' 5
	mcp_ok checkpoint_restore "{\"checkpoint\":\"$second\",\"token\":\"$(token "{\"checkpoint\":\"$second\"}")\"}" >/dev/null
	mcp_ok checkpoint_undo "{\"token\":\"$(token '{"undo":true}')\"}" >/dev/null
	expect_eq one "$(cat file)"
	mcp_close
}

# Whenever the wish to stop arrives: it was not begun, or it is finished.
test_a_cancelled_restore_leaves_one_state_or_the_other() {
	two_states
	mcp_open 2025-11-25
	fingerprint . >"$T/second"
	good=$(token "{\"checkpoint\":\"$first\"}")
	mcp_send "$(jq -cn --arg c "$first" --arg t "$good" '{jsonrpc: "2.0", id: "r", method: "tools/call",
		params: {name: "checkpoint_restore", arguments: {checkpoint: $c, token: $t}}}')"
	mcp_send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}'
	exec 3>&-
	wait $mcp_pid
	git checkpoint status --json | jq -e '.interrupted_restore == null'
	fingerprint . | cmp -s - "$T/second" || expect_eq one "$(cat file)"
	git checkpoint verify -q --all
}

run_tests
