#!/bin/sh
# SPDX-License-Identifier: MIT
# A remote that somebody else has filled: what is bad is refused and named, the rest comes, and
# nothing gets anywhere else.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$LIB_DIR/forge.sh"

# hub: machine one has pushed one checkpoint; its commit is in $good, its ref below $refs
hub() {
	machines
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	root=$(git -C "$T/project" rev-list --max-parents=0 HEAD)
	refs=refs/checkpoints/$root
	good=$(git -C "$T/hub.git" for-each-ref --format='%(objectname)' "$refs")
	id=$(id_on one)
}

# For forge.sh: what is forged is forged in the hub.
store_dir() {
	echo "$T/hub.git"
}

# as_commit <machine> <id> <sed script> [<tree>]: a forged checkpoint there
as_commit() {
	in_store cat-file commit "$good" | sed -e "s/^Id: .*/Id: $2/" -e "$3" ${4:+-e "1s/.*/tree $4/"} >"$T/commit"
	commit=$(object commit <"$T/commit")
	in_store update-ref "$refs/$1/$2" "$commit"
}

# fetched <status> <command>...: in the clone of two, where nothing else changes
fetched() {
	fetched_status=$1
	shift
	(cd "$T/machines/two/work/two" && fingerprint_raw . >"$T/before")
	status=0
	on two "$@" >"$T/out" 2>"$T/err" || status=$?
	expect_eq "$fetched_status" "$status" "$(cat "$T/err")"
	(cd "$T/machines/two/work/two" && fingerprint_raw . >"$T/after")
	expect_same "$T/before" "$T/after"
}

test_one_bad_one_among_good_ones() {
	hub
	bad=chk_20300101_000000_012345
	as_commit evil $bad '/^State-Hash:/y/0123456789/1234567890/'
	fetched 1 git-checkpoint fetch
	expect_grep "'evil/$bad' was refused: .*state hash" "$T/err"
	expect_grep "^Fetched one/$id" "$T/out"
	expect_eq "$id" "$(on two git-checkpoint list --remote --json | jq -r '.checkpoints[].id')"
	on two git-checkpoint verify -q one/@
	fetched 1 git-checkpoint fetch --json
	jq -e '[.checkpoints[] | .state] | sort == ["bad","known"]' "$T/out"
}

test_trees_and_records() {
	hub
	blob=$(echo 1 | object blob)
	sub=$(entry 100644 x "$blob" | object tree)
	as_commit a chk_20300101_000000_000001 '' "$(entry 40000 .git "$sub" | object tree)"
	as_commit b chk_20300101_000000_000002 '' "$(entry 100644 .. "$blob" | object tree)"
	as_commit c chk_20300101_000000_000003 '' \
		"$({ entry 120000 a "$blob" && entry 100644 a.b "$blob" && entry 40000 a "$sub"; } | object tree)"
	as_commit d chk_20300101_000000_000004 '$a\Scope: ../../x'
	as_commit f chk_20300101_000000_000006 '/^Id:/d; $a\Id: chk_20300101_000000_000007'
	in_store update-ref "$refs/g/chk_20300101_000000_000008" "$(git -C "$T/hub.git" rev-parse "$good^")"
	fetched 1 git-checkpoint fetch
	for machine in a b c d f g; do
		expect_grep "'$machine/chk_20300101_.* was refused: " "$T/err"
	done
	expect_eq one "$(on two git-checkpoint list --remote --json | jq -r '.checkpoints[].machine')"
	store=$(on two git-checkpoint status --json | jq -r .store)
	expect_eq "refs/fetched/one/$id" "$(git --git-dir="$store" for-each-ref --format='%(refname)')"
}

test_odd_refs_and_many() {
	hub
	for name in 'ONE/chk_20300101_000000_000001' 'x/y/chk_20300101_000000_000001' 'x/notanid' \
		'x/chk_20300101_000000_00000g'; do
		in_store update-ref "$refs/$name" "$good"
	done
	fetched 0 git-checkpoint fetch
	expect_grep "'ONE/chk_20300101_000000_000001' on 'hub' is not a checkpoint of ours" "$T/err"
	expect_grep "^Fetched one/$id" "$T/out"
	# ten thousand of them
	n=0
	while test $n -lt 10000; do
		printf 'create %s/many/chk_20300101_%06d_000001 %s\n' "$refs" $n "$good"
		n=$((n + 1))
	done | git -C "$T/hub.git" update-ref --stdin
	fetched 1 git-checkpoint fetch
	expect_grep "'many/chk_20300101_009999_000001' was refused: .*malformed" "$T/err"
	expect_eq 1 "$(on two git-checkpoint list --remote | wc -l)"
}

# The objects of the hub are damaged, or gone: git says so, and so do we.
test_objects_that_are_not_what_they_say() {
	hub
	blob=$(printf 'new x\n' | git hash-object --stdin)
	git -C "$T/hub.git" repack -q -a -d
	git -C "$T/hub.git" unpack-objects -q <"$(ls "$T/hub.git"/objects/pack/*.pack)" || :
	for pack in "$T/hub.git"/objects/pack/*; do
		mv "$pack" "$T/"
	done
	for pack in "$T"/*.pack; do
		git -C "$T/hub.git" unpack-objects -q <"$pack"
	done
	file=$T/hub.git/objects/$(echo "$blob" | cut -c 1-2)/$(echo "$blob" | cut -c 3-)
	expect_exists "$file"
	chmod u+w "$file"
	perl -MCompress::Zlib -e 'print compress("blob 6\0hello\n")' >"$file"
	fetched 128 git-checkpoint fetch
	expect_grep "remote 'hub': " "$T/err"
	nothing_fetched two
	rm -f "$file"
	fetched 128 git-checkpoint fetch
	nothing_fetched two
}

test_more_than_is_wanted() {
	hub
	on one sh -c 'head -c 300000 /dev/urandom >big'
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	fetched 128 env GIT_CHECKPOINT_MAX_FETCH_SIZE=100k git-checkpoint fetch
	expect_grep 'more than maxFetchSize (102' "$T/err"
	nothing_fetched two
	fetched 0 env GIT_CHECKPOINT_MAX_FETCH_SIZE=1m git-checkpoint fetch
}

# Two that fit each on its own do not fit together.
test_more_than_is_wanted_of_several() {
	hub
	machine three x
	on three git-checkpoint remote add -q hub "$T/hub.git"
	for who in one three; do
		on $who sh -c 'head -c 300000 /dev/urandom >big'
		on $who git-checkpoint save -q
		on $who git-checkpoint push -q
	done
	fetched 1 env GIT_CHECKPOINT_MAX_FETCH_SIZE=400k git-checkpoint fetch
	expect_grep "'three/.* was refused: it is more than maxFetchSize (409" "$T/err"
	expect_eq one "$(on two git-checkpoint list --remote --json | jq -r '.checkpoints[].machine')"
	fetched 0 env GIT_CHECKPOINT_MAX_FETCH_SIZE=400k git-checkpoint fetch
	on two git-checkpoint verify -q three/@
}

run_tests
