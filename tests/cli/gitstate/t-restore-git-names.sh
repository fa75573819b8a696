#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --git with names of branches that are easily taken for others.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/whole.sh"

# Its name is the beginning of that of another branch.
test_the_configuration_of_another_branch_stays() {
	project
	git branch v1
	git branch v1.2
	git config branch.v1.remote origin
	git config branch.v1.2.merge refs/heads/old
	git checkout -q v1
	saved_there
	git config branch.v1.2.merge refs/heads/new
	git checkout -q main
	git branch -q -D v1
	there_and_back
	expect_eq refs/heads/new "$(git config --get-all branch.v1.2.merge)"
	expect_eq origin "$(git config --get-all branch.v1.remote)"
}

test_a_branch_with_an_odd_name() {
	project
	git checkout -q -b 'it"s/a=b;$x'
	git config 'branch.it"s/a=b;$x.remote' 'or=igin'
	staged
	saved_there
	git reset -q --hard
	git checkout -q main
	git branch -q -D 'it"s/a=b;$x'
	there_and_back
	expect_eq or=igin "$(git config 'branch.it"s/a=b;$x.remote')"
}

run_tests
