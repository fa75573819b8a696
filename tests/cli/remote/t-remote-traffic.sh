#!/bin/sh
# SPDX-License-Identifier: MIT
# Between two machines only goes what changed, in both directions, whoever was there before; and
# nothing goes that was not asked for.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$LIB_DIR/servers.sh"

url=''

# more than a checkpoint of one changed file takes, much less than all files
LITTLE=100000

# with_noise: files that no compression makes smaller, 1.2 MB of them
with_noise() {
	machines "$@"
	for name in one two; do
		on $name sh -c 'mkdir noise && for i in $(seq 300); do
			perl -e "srand(\$ARGV[0]); print map { chr int rand 256 } 1 .. 4096" $i >noise/$i; done'
	done
}

# bytes_in <objects directory>
bytes_in() {
	find "$1" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'
}

hub_bytes() {
	bytes_in "$T/hub.git/objects"
}

store_bytes() {
	bytes_in "$(on "$1" git-checkpoint status --json | jq -r .store)/objects"
}

# little <before> <after> <what>
little() {
	test $(($2 - $1)) -lt $LITTLE || fail "$3: $(($2 - $1)) bytes went over"
}

pushed_little() {
	before=$(hub_bytes)
	on "$1" git-checkpoint push -q
	little "$before" "$(hub_bytes)" "a push of $1"
}

fetched_little() {
	before=$(store_bytes "$1")
	on "$1" git-checkpoint fetch -q
	little "$before" "$(store_bytes "$1")" "a fetch of $1"
}

little_goes_over() {
	on one git-checkpoint save -q
	before=$(hub_bytes)
	on one git-checkpoint push -q
	test $(($(hub_bytes) - before)) -gt 1000000 || fail 'the first push is not measured'
	# the same files are in no checkpoint of the other one
	on two git-checkpoint fetch -q
	for round in 1 2 3; do
		edit one "one $round"
		on one git-checkpoint save -q
		pushed_little one
		fetched_little two
		on two git-checkpoint verify -q one/@
		on two git-checkpoint restore -q -y one/@
		edit two "two $round"
		on two git-checkpoint save -q
		# in the first round, it has never pushed anything
		pushed_little two
		fetched_little one
		on one git-checkpoint verify -q two/@
		on one git-checkpoint restore -q -y two/@
	done
	git -C "$T/hub.git" fsck --strict
	for name in one two; do
		on $name git-checkpoint verify -q --all
		on $name git-checkpoint doctor -q
	done
}

test_a_path() {
	with_noise
	little_goes_over
}

test_git_daemon() {
	trap stop_servers EXIT
	serve_git
	with_noise "$url"
	touch "$T/hub.git/git-daemon-export-ok"
	little_goes_over
}

test_http() {
	trap stop_servers EXIT
	git init -q --bare "$T/hub.git"
	serve_http
	with_noise "$url"
	little_goes_over
}

# An older client and server speak another version of the protocol.
test_protocol_of_before() {
	with_noise "file://$T/hub.git"
	for name in one two; do
		on $name git config --global protocol.version 0
	done
	little_goes_over
}

# What one remote has says nothing about another, even if it has its name.
test_another_remote_gets_nothing_else() {
	with_noise
	echo secret >"$T/machines/one/src/one/.env"
	on one git-checkpoint save -q --include-sensitive
	secret=$(on one git-checkpoint show --json @ | jq -r .commit)
	on one git-checkpoint push -q --force
	edit two x
	on two git-checkpoint save -q
	on two git-checkpoint push -q
	on one git-checkpoint fetch -q
	fetched=$(on one git-checkpoint show --json two/@ | jq -r .commit)
	git -C "$T/hub.git" cat-file -e "$secret"
	rm "$T/machines/one/src/one/.env"
	edit one y
	on one git-checkpoint save -q
	git init -q --bare "$T/other.git"
	on one git-checkpoint remote remove -q hub
	on one git-checkpoint remote add -q hub "$T/other.git"
	on one git-checkpoint push -q
	expect_eq 1 "$(git -C "$T/other.git" for-each-ref | wc -l)"
	for commit in $secret $fetched; do
		if git -C "$T/other.git" cat-file -e "$commit" 2>/dev/null; then fail "it got $commit"; fi
	done
	git -C "$T/other.git" fsck --strict --unreachable >out
	expect_eq '' "$(cat out)" 'objects that nobody asked for'
}

# What both had is gone, here or there: everything goes over again, and it is whole.
test_what_both_had_is_gone() {
	with_noise
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint drop -q -y --force @~1
	on one git-checkpoint gc -q
	on one git-checkpoint push -q
	on two git-checkpoint fetch -q
	on two git-checkpoint verify -q one/@
	hub_refs | sed 's/^/delete /' | git -C "$T/hub.git" update-ref --stdin
	git -C "$T/hub.git" gc -q --prune=now
	edit one y
	on one git-checkpoint save -q
	before=$(hub_bytes)
	on one git-checkpoint push -q
	test $(($(hub_bytes) - before)) -gt 1000000 || fail 'not everything went over'
	git -C "$T/hub.git" fsck --strict
	on two git-checkpoint fetch -q
	on two git-checkpoint verify -q one/@
}

# What it says is what goes over.
test_the_size_is_told() {
	with_noise
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push --dry-run --json >"$T/out"
	test "$(json .bytes "$T/out")" -lt $LITTLE
	before=$(hub_bytes)
	on one git-checkpoint push --json >"$T/out"
	test $(($(hub_bytes) - before)) -lt $((2 * $(json .bytes "$T/out") + 10000))
	# the same again: nothing
	on one git-checkpoint push --json >"$T/out"
	expect_eq 0 "$(json .bytes "$T/out")"
}

run_tests
