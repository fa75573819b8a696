#!/bin/sh
# SPDX-License-Identifier: MIT
# Seconds of what `make soak` does for minutes: random commands from several processes, some killed.

. "$(dirname "$0")/../lib/harness.sh"

test_random_commands_at_once_do_no_harm() {
	SOAK_PROCESSES=3 "$ROOT_DIR/tests/soak/soak.sh" "${CKPT_SOAK_SECONDS:-8}"
}

run_tests
