#!/bin/sh
# SPDX-License-Identifier: MIT
# A minute of what `make soak` does for an hour: random commands from several processes, some killed;
# commands without memory, descriptors, room or a clock; many checkpoints, and a tight budget.

. "$(dirname "$0")/../../lib/harness.sh"

test_random_commands_at_once_do_no_harm() {
	SOAK_PROCESSES=3 "$ROOT_DIR/tests/soak/soak.sh" "${CKPT_SOAK_SECONDS:-8}" "$TEST_SEED"
}

test_commands_in_trouble_lose_nothing() {
	"$ROOT_DIR/tests/soak/trouble.sh" "${CKPT_SOAK_SECONDS:-15}" "$TEST_SEED"
}

test_many_checkpoints_and_a_tight_budget() {
	"$ROOT_DIR/tests/soak/large.sh" 200 32 "$TEST_SEED"
}

run_tests
