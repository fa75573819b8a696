#!/bin/sh
# SPDX-License-Identifier: MIT
# A save that runs out of descriptors fails. It does not take what it could not open for unreadable,
# nor rules that it could not read for rules that are not there.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

# new_tree: files that only some rule, or some index, takes in or leaves out
new_tree() {
	git init -q
	git config --global core.excludesFile "$T/excludes"
	echo '*.user' >"$T/excludes"
	echo '*.info' >.git/info/exclude
	mkdir -p d/e empty
	printf '%s\n' '*.log' '/ignored/' >.gitignore
	echo '*.tmp' >d/.gitignore
	git init -q d/nested
	echo '*.obj' >d/nested/.git/info/exclude
	git init -q ignored
	for file in a d/a d/e/a d/nested/a; do
		echo "$file" | tee $file.log $file.user $file.info $file.tmp $file.obj >$file
	done
	truncate -s 5M large
	ln -s a link
	echo kept | tee d/kept.log d/nested/kept.obj >ignored/kept
	git add -f d/kept.log
	git -C d/nested add -f kept.obj
	git -C ignored add kept
}

# held: what the newest checkpoint holds, and what it knows of the project
held() {
	git-checkpoint show --hashes @
	git-checkpoint show --json @ | jq -c '[.project, .skipped, .warnings, .confidence]'
}

# count: of the checkpoints that there are
count() {
	git-checkpoint list 2>/dev/null | wc -l
}

# keep_count: the stores, and how many checkpoints are in them
keep_count() {
	kept=$(count)
	keep_stores
}

# whole_or_none <exit status> <what>: the new checkpoint has everything, or there is none
whole_or_none() {
	if test "$1" = 0; then
		expect_eq $((kept + 1)) "$(count)" "$2: checkpoints"
		held >"$T/have"
		cmp "$T/want" "$T/have" || fail "$2: the checkpoint is not what it should be"
	else
		expect_eq 128 "$1" "$2: $(cat "$T/err")"
		expect_eq "$kept" "$(count)" "$2: checkpoints"
	fi
	stores_again
}

# lacking_everywhere <sticky>: a save in which one file cannot be opened, or none from there on
lacking_everywhere() {
	with_faults open 0 EMFILE git-checkpoint save -q
	total=$(cat "$T/faults")
	test "$total" -ge 30 || fail "only $total calls"
	held >"$T/want"
	stores_again
	failed=0
	at=$(begin_at 3)
	while test $at -le "$total"; do
		status=0
		FAULT_STICKY=$1 with_faults open $at EMFILE git-checkpoint save -q 2>"$T/err" || status=$?
		test $status = 0 || {
			failed=$((failed + 1))
			expect_grep 'Too many open files' "$T/err"
		}
		whole_or_none $status "open $at of $total"
		at=$((at + ${STEP:-3}))
	done
	test $failed -ge 8 || fail "only $failed saves failed"
}

later() {
	new_tree
	git-checkpoint save -q
	echo changed >d/e/a
	echo new >d/e/new
	rm d/nested/a
	keep_count
}

test_one_file_cannot_be_opened_in_a_first_save() {
	new_tree
	keep_count
	lacking_everywhere ''
}

test_none_can_be_opened_any_more_in_a_first_save() {
	new_tree
	keep_count
	lacking_everywhere 1
}

test_one_file_cannot_be_opened_in_a_later_save() {
	later
	lacking_everywhere ''
}

test_none_can_be_opened_any_more_in_a_later_save() {
	later
	lacking_everywhere 1
}

test_few_descriptors() {
	new_tree
	keep_count
	git-checkpoint save -q
	held >"$T/want"
	stores_again
	saved=0
	for limit in $(seq 6 40); do
		status=0
		(
			# shellcheck disable=SC3045 # dash has it
			ulimit -n $limit
			exec git-checkpoint save -q 2>"$T/err"
		) || status=$?
		# the shell or the program itself could not be loaded
		test $status != 127 && test $status != 2 || continue
		test $status != 0 || saved=$((saved + 1))
		whole_or_none $status "with $limit descriptors"
	done
	test $saved -gt 0 || fail 'no number was enough'
}

# What is there already stays as it is, and the next save has it all.
test_an_earlier_checkpoint_stays() {
	new_tree
	git-checkpoint save -q
	held >"$T/want"
	echo more >d/e/more
	FAULT_PATH='more' expect_exit 128 with_faults open 1 EMFILE git-checkpoint save 2>"$T/err"
	expect_grep "unable to read 'd/e/more': Too many open files" "$T/err"
	held >"$T/have"
	cmp "$T/want" "$T/have"
	git-checkpoint save -q
	git-checkpoint diff --quiet
}

# A restore saves what it finds first, and cannot.
test_a_restore_touches_nothing() {
	new_tree
	git-checkpoint save -q
	echo more >d/e/more
	FAULT_PATH='more' expect_exit 128 with_faults open 1 EMFILE git-checkpoint restore --yes @ 2>"$T/err"
	expect_exists d/e/more
	expect_eq 1 "$(git-checkpoint list | wc -l)"
}

run_tests
