# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of the guard; sourced after harness.sh, with ROWS if other than one row in four is tried.

ROWS=${ROWS:-4}
. "$LIB_DIR/hooked.sh"

INSTALL=guard_only # see hooked.sh
export INSTALL
