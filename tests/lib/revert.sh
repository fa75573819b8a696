# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of revert; sourced after harness.sh.

. "$LIB_DIR/restore.sh"

# revert [<option>...] <checkpoint>: one that must succeed
revert() {
	restoring 0 revert --yes "$@"
}

# conflicting [<option>...] <checkpoint>: one that leaves something as it is
conflicting() {
	restoring 3 revert --yes "$@"
}

# conflicts: of the last one, a line "<kind> <file>" each
conflicts() {
	told '[.conflicts[] | (.why | split(":")[0]) + " " + .file + "\n"] | add // ""' | sed '/^$/d'
}

# expect_conflicts [<kind> <file>]...: exactly these, in this order
expect_conflicts() {
	: >"$T/expected"
	test $# = 0 || printf '%s %s\n' "$@" >"$T/expected"
	conflicts >"$T/conflicts"
	expect_same "$T/expected" "$T/conflicts"
}

# edit <file> <line> <text>: replace a line
edit() {
	sed -i "$2s/.*/$3/" "$1"
}
