#!/bin/sh
# SPDX-License-Identifier: MIT
# Power cuts, simulated, in restores of all kinds: see t-crash.sh.

. "$(dirname "$0")/simulated.sh"

two_states() {
	begin
	a_tree
	saved git-checkpoint save -q
	change_tree
	saved git-checkpoint save -q
}

test_a_power_cut_in_restores() {
	two_states
	scenario restores 60
}

# So many that they are synced by one call.
test_a_power_cut_in_a_restore_of_many_files() {
	begin
	a_tree
	mkdir many
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo $n >many/$n
	done
	saved git-checkpoint save -q
	change_tree
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		echo changed >many/$n
	done
	rm many/14 many/15
	saved git-checkpoint save -q
	scenario restores_all 30
}

# killed <phase>: at any of its renames but the first two, which try what the file system can
killed() {
	two_states
	mkdir "$S/$1"
	look >"$S/$1/back"
	look >"$S/saved-safety"
	cp "$S/saved-0" "$S/$1/on"
	FAULT_PATH=$R/work with_faults rename "$(($(any 5) + 3))" kill git-checkpoint restore --yes @~1 || :
	expect_exists "$(the_store)/checkpoint/journal"
	for id in $(listed); do
		grep -q "^$id " "$S/acked" || echo "$id $S/saved-safety" >>"$S/acked"
	done
}

test_a_power_cut_while_a_restore_goes_on() {
	killed continue
	scenario goes_on 20
}

test_a_power_cut_while_a_restore_goes_back() {
	killed abort
	scenario goes_back 20
}

run_tests
