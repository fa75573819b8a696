# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests that simulate power cuts, in place of harness.sh.

CRASH_DIR=$(cd "$(dirname "$0")" && pwd -P)
# Nothing here needs a disk, and a disk would make it slow.
if test -z "${TMPDIR:-}" && test -d /dev/shm && test -w /dev/shm; then
	TMPDIR=/dev/shm
fi
. "$(dirname "$0")/../lib/harness.sh"
. "$CRASH_DIR/crash.sh"
. "$CRASH_DIR/scenarios.sh"
export CRASH_DIR CRASH_ALL
