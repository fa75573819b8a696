#!/bin/sh
# SPDX-License-Identifier: MIT
# The cases of t-restore-project.sh with checkpoints that have the state of the repository: the
# commands of git that lead back are the same, and one more command follows.

TEST_RECORDED=1 exec sh "$(dirname "$0")/t-restore-project.sh" "$@"
