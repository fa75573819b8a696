#!/bin/sh
# SPDX-License-Identifier: MIT
# All permission bits, of which a git tree can hold but one.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

# expect_record <text>: the record of modes, with newlines for NULs
expect_record() {
	printf '%s\n' "$@" >"$T/expected"
	store_git cat-file blob "$(answer .checkpoint.commit)^:modes" | tr '\0' '\n' >"$T/modes"
	expect_same "$T/expected" "$T/modes"
}

test_modes_of_files() {
	git init -q
	for mode in 0400 0444 0600 0644 0664 0666 0700 0755 0777 0500 0611 2755 4755 6711 1644 7777; do
		: >f$mode
		chmod $mode f$mode
	done
	: >another
	save
	expect_state_of_files
	git checkpoint show --hashes @ | tr '\0' '\n' | cut -c1-6,72- >"$T/modes"
	for mode in 0400 0600 2755 4755 6711 1644 7777; do
		expect_grep "^10$mode f$mode\$" "$T/modes"
	done
	# most have 644, 755 and 755
	for mode in 0400 0444 0600 0664 0666; do
		git --git-dir="$(store_dir)" ls-tree "$(answer .checkpoint.commit)" f$mode >"$T/tree"
		expect_grep '^100644' "$T/tree"
	done
	for mode in 0700 0755 0777 0500 0611 2755 4755 6711 7777; do
		expected=100755
		test $mode != 0611 || expected=100644
		git --git-dir="$(store_dir)" ls-tree "$(answer .checkpoint.commit)" f$mode >"$T/tree"
		expect_grep "^$expected" "$T/tree"
	done
}

test_the_record_names_what_is_not_common() {
	mkdir d s t
	: >a
	: >b
	: >c
	chmod 600 c
	chmod 2775 s
	chmod 1777 t
	save
	expect_record 'file 644 exec 755 dir 755' '600 c' '2775 s' '1777 t'
}

test_the_record_stays_small_where_another_mode_is_common() {
	umask 077
	mkdir d e
	for name in 1 2 3 4 5 6; do
		: >$name
	done
	chmod 644 3
	save
	expect_record 'file 600 exec 755 dir 700' '644 3'
	expect_state_of_files
}

test_a_changed_mode_is_a_change() {
	git init -q
	mkdir d empty
	: >d/f
	save
	chmod 600 d/f
	save
	expect_eq true "$(answer .checkpoint_created)" 'of a file'
	expect_eq 1 "$(answer .stats.changed)" changed
	expect_state_of_files
	chmod 4755 d/f
	save
	expect_eq true "$(answer .checkpoint_created)" 'set user id'
	expect_state_of_files
	hash=$(answer .pre_mutation_state.hash)
	chmod 2750 d
	save
	expect_eq true "$(answer .checkpoint_created)" 'of a directory'
	expect_eq "$hash" "$(answer .pre_mutation_state.hash)" 'state hash without modes of directories'
	expect_record 'file 644 exec 4755 dir 755' '2750 d'
	chmod 700 empty
	save
	expect_eq true "$(answer .checkpoint_created)" 'of an empty directory'
	save
	expect_eq false "$(answer .checkpoint_created)" 'nothing'
}

test_a_changed_mode_is_seen_without_the_cache() {
	git init -q
	mkdir d
	: >d/f
	save
	chmod 700 d
	rm "$(store_dir)/checkpoint/statcache"
	save
	expect_eq true "$(answer .checkpoint_created)"
}

# What a scope does not hold does not count in it.
test_modes_outside_of_the_scope_do_not_matter() {
	git init -q
	mkdir -p a/b c
	: >a/b/f
	save -- a/b
	chmod 700 c a
	save -- a/b
	expect_eq false "$(answer .checkpoint_created)"
	chmod 700 a/b
	save -- a/b
	expect_eq true "$(answer .checkpoint_created)"
}

test_what_the_owner_may_not_read_by_mode_is_captured_if_it_can_be_read() {
	test "$(id -u)" = 0 || skip 'needs root'
	mkdir closed
	echo x >closed/f
	chmod 0 closed/f closed
	save
	chmod 0 closed
	expect_eq 1 "$(answer .confidence)"
	expect_state_of_files
	expect_record 'file 0 exec 755 dir 0'
}

run_tests
