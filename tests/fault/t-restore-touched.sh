#!/bin/sh
# SPDX-License-Identifier: MIT
# What is looked at after a restore, while somebody else is at work.

. "$(dirname "$0")/../lib/harness.sh"

# A file that changed just now could change again without a change of its times, and is looked at.
let_files_settle() {
	touch "$T/then"
	until touch "$T/now" &&
		test $(($(date -r "$T/now" +%s%N) - $(date -r "$T/then" +%s%N))) -gt 30000000; do :; done
}

# Many directories, of which a restore touches one.
make_many() {
	for d in 1 2 3 4 5 6 7 8; do
		mkdir -p "many/$d/deep"
		for f in 1 2 3; do
			echo "$d $f" >"many/$d/deep/$f"
		done
	done
	let_files_settle
	git checkpoint save -q
	echo changed >many/1/deep/1
}

# meanwhile <script> <expected exit status> <option>...: restore, and run the script when the
# changed file is put in place
meanwhile() {
	script=$1 status=$2
	shift 2
	FAULT_PATH=deep FAULT_RUN=$script expect_exit "$status" with_faults rename 1 run \
		git-checkpoint restore --yes --json "$@" @ >"$T/answer"
}

test_only_what_was_touched_is_looked_at() {
	make_many
	# written in place: no time of any directory shows it
	meanwhile 'echo meanwhile >many/5/deep/2' 0
	expect_eq true "$(json .verification.match "$T/answer")"
	expect_eq meanwhile "$(cat many/5/deep/2)"
	# the next one sees it
	git checkpoint diff --name-status >"$T/actual"
	printf 'M\tmany/5/deep/2\n' >"$T/expected"
	expect_same "$T/expected" "$T/actual"
}

test_everything_is_looked_at_on_demand() {
	make_many
	meanwhile 'echo meanwhile >many/5/deep/2' 4 --verify=full
	expect_eq false "$(json .verification.match "$T/answer")"
}

test_names_that_come_and_go_are_seen() {
	make_many
	for script in 'echo new >many/6/deep/new' 'rm many/6/deep/1' 'mv many/7/deep/2 many/7/renamed' \
		'mv many/2 many/2a'; do
		echo changed >many/1/deep/1
		meanwhile "$script" 4
		expect_eq false "$(json .verification.match "$T/answer")" "$script"
		git checkpoint restore -q --yes @ >/dev/null 2>&1
	done
}

test_other_modes_of_directories_are_seen() {
	make_many
	meanwhile 'chmod 700 many/4/deep' 0
	git checkpoint diff --name-status >"$T/actual"
	printf 'M\tmany/4/deep/\n' >"$T/expected"
	expect_same "$T/expected" "$T/actual"
}

# If the restore writes no file, none is read again, which would show it.
test_other_modes_of_directories_are_saved() {
	make_many
	git checkpoint restore -q --yes @
	let_files_settle
	git checkpoint save -q
	echo extra >many/1/deep/extra
	let_files_settle
	meanwhile 'chmod 700 many/4/deep' 0
	git checkpoint save --json | jq -e .checkpoint_created
	git checkpoint diff --name-status >"$T/actual"
	expect_same /dev/null "$T/actual"
}

test_with_ignore_files_everything_is_looked_at() {
	make_many
	echo x >many/.gitignore
	meanwhile 'echo meanwhile >many/5/deep/2' 4
}

test_the_ways_to_verify() {
	echo 1 >a
	git checkpoint save -q
	expect_exit 129 git-checkpoint restore --yes --verify=half @ 2>err
	expect_grep half err
	expect_exit 129 git-checkpoint restore --yes --verify=full --no-verify @ 2>err
	expect_exit 129 git-checkpoint restore --yes --verify 2>err
	echo 2 >a
	git checkpoint restore -q --yes --verify full @
	expect_eq 1 "$(cat a)"
}

run_tests
