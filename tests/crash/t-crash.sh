#!/bin/sh
# SPDX-License-Identifier: MIT
# Power cuts, simulated: what commands do is recorded, and states that a cut at any point may
# leave on the disk are checked for what git-checkpoint promises. Here all that write but restores,
# and whether the simulator finds anything. A few hundred states by chance; CRASH_ALL=1 (make
# crash) tries each cut.

. "$(dirname "$0")/simulated.sh"

test_a_power_cut_in_saves() {
	begin
	a_tree
	scenario saves 40
}

test_a_power_cut_while_checkpoints_go() {
	begin
	a_tree
	for n in 1 2 3 4 5 6; do
		echo $n >src/n
		saved git-checkpoint save -q -m $n
	done
	scenario lets_go 40
}

test_a_power_cut_while_hooks_are_put_in_place() {
	begin
	a_tree
	mkdir .claude
	echo '{ "permissions": { "allow": [] } }' >.claude/settings.json
	saved git-checkpoint save -q
	scenario hooks 40
}

test_a_power_cut_in_a_workflow() {
	begin
	a_tree
	saved git-checkpoint save -q
	scenario workflow 30
}

test_a_power_cut_while_a_store_is_adopted() {
	begin
	a_tree
	saved git-checkpoint save -q
	change_tree
	saved git-checkpoint save -q
	cd ..
	mv work old
	key=$(printf %s "$R/old" | sha256sum | cut -c1-16)
	mv "$(the_store)" "$R/state/git-checkpoint/$key"
	cd old
	git-checkpoint relink "$R/work"
	cd ..
	mv old work
	cd work
	scenario moved 20
}

# --- whether it can find anything ---

test_a_program_that_syncs_nothing_is_found_out() {
	begin
	a_tree
	CRASH_IGNORE_FSYNC=1
	export CRASH_IGNORE_FSYNC
	record saves
	cd "$S"
	expect_exit 1 crash-replay run -s "$TEST_SEED" -m strict -n 200 -f 1 "$S/log" "$R" \
		sh "$CRASH_DIR/check-state.sh" >"$T/out"
	cat "$T/out"
	expect_grep 'FAILED: phase' "$T/out"
}

# outcomes <model> <script>: what may be in $R/work/f after a cut in it
outcomes() {
	rm -rf "$R" "$S"
	begin
	printf old >f
	crash-record "$S/log" "$R" sh -ec "mkdir /.crash-mark/x 2>/dev/null || :; $2" ||
		skip 'ptrace is not allowed here'
	cd "$S"
	: >"$S/seen"
	crash-replay run -a -m "$1" "$S/log" "$R" sh -c \
		'{ cat "$R/work/f" 2>/dev/null && echo || echo missing; } | tr "\0" 0 >>"$S/seen"'
	sort -u "$S/seen" | tr '\n' ' '
}

test_the_models_know_what_may_be_lost() {
	synced='printf new >g; sync g; mv g f; sync .'
	renamed='printf new >g; mv g f'
	in_place='printf new 1<>f'
	new='rm f; sync .; printf new >f; sync f'

	for model in strict ext4 ext4-two; do
		outcomes $model "$synced" >"$T/synced"
		expect_eq 'new old' "$(tail -n 1 "$T/synced" | sed 's/ $//')"
	done
	outcomes strict "$renamed" >"$T/out"
	expect_eq ' 000 new old' "$(tail -n 1 "$T/out" | sed 's/ $//')"
	outcomes ext4 "$renamed" >"$T/out"
	expect_eq 'new old' "$(tail -n 1 "$T/out" | sed 's/ $//')"
	outcomes strict "$in_place" >"$T/out"
	expect_eq '000 new old' "$(tail -n 1 "$T/out" | sed 's/ $//')"
	outcomes strict "$new" >"$T/out"
	expect_eq ' 000 missing new old' "$(tail -n 1 "$T/out" | sed 's/ $//')"
	outcomes ext4 "$new" >"$T/out"
	expect_eq ' missing new old' "$(tail -n 1 "$T/out" | sed 's/ $//')"
}

run_tests
