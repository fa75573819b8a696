#!/bin/sh
# SPDX-License-Identifier: MIT
# verify: every object and state hash, from the stored bytes.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/three.sh"

first='' id='' second='' third='' # see three.sh

verify() {
	restoring "$@"
}

# only_bad <id>...: --all finds exactly these
only_bad() {
	restoring 1 verify --all
	expect_eq false "$(told .ok)"
	expect_eq "$*" "$(told '[.checkpoints[] | select(.ok | not) | .id] | join(" ")')"
	expect_eq true "$(told '.checkpoints | all(.ok == (.problems | length == 0))')"
	expect_eq 3 "$(told '.checkpoints | length')"
	for bad; do
		restoring 1 verify "$bad"
		expect_eq "$bad" "$(told '.checkpoints[0].id')"
		expect_exit 1 git-checkpoint verify "$bad" >"$T/out" 2>"$T/err"
		expect_grep "^$bad damaged" "$T/out"
	done
	for good in $first $second $third; do
		case " $* " in
		*" $good "*) ;;
		*)
			restoring 0 verify "$good"
			git-checkpoint restore -n "$good" >/dev/null 2>&1
			;;
		esac
	done
}

test_sound() {
	three two
	verify 0 verify
	expect_eq "{\"ok\":true,\"checkpoints\":[{\"id\":\"$third\",\"ok\":true,\"problems\":[]}]}" \
		"$(told tostring)"
	verify 0 verify "$first" @~1
	expect_eq "true $first $second" "$(told '"\(.ok) \([.checkpoints[].id] | join(" "))"')"
	verify 0 verify --all
	expect_eq 3 "$(told '.checkpoints | length')"
	git-checkpoint verify --all >"$T/out"
	expect_eq 3 "$(grep -c '^chk_.* sound$' "$T/out")"
	git-checkpoint verify -q --all >"$T/out"
	expect_eq '' "$(cat "$T/out")"
}

test_odd_trees_are_sound() {
	make_tree 4 80
	save --include-ignored --include-sensitive
	git-checkpoint verify -q
	damage_tree 4
	save --include-ignored --include-sensitive
	git-checkpoint verify -q --all
	git --git-dir="$(store_dir)" gc -q
	git-checkpoint verify -q --all
}

# What checkpoints share is read once: a directory is the same only if its modes are, too.
test_modes_of_what_is_shared() {
	mkdir -p d/e/f d-e g
	for file in d/a d/e/b d/e/f/c d-e/a g/a; do
		echo "$file" >$file
	done
	save
	for change in '600 d/e/b' '640 d/e/b' '600 d/e/f/c' '644 d/e/b' '600 d-e/a' '755 g/a' \
		'700 g/a' '600 d/a d/e/b d/e/f/c d-e/a g/a' '644 d/e/f/c'; do
		# shellcheck disable=SC2086
		chmod $change
		save
		git-checkpoint verify -q
	done
	verify 0 verify --all
	expect_eq 10 "$(told '[.checkpoints[] | select(.ok)] | length')"
	# and with a directory that has moved
	mv d/e h
	save
	verify 0 verify --all
}

# A tree that two of three have: known damage is found in each of them.
test_a_damaged_tree_of_two() {
	three two
	echo again >other
	save
	damage "$(object "refs/checkpoints/$third:d")"
	restoring 1 verify --all
	expect_eq "$id $third" \
		"$(told '[.checkpoints[] | select(.ok | not) | .id] | sort | reverse | join(" ")')"
}

test_usage() {
	three two
	verify 128 verify nonsense
	verify 128 verify "$first" @~9
	verify 129 verify --all "$first"
	mkdir "$T/other"
	cd "$T/other"
	verify 128 verify --all
}

test_a_damaged_blob_of_one() {
	three two
	damage "$(object "refs/checkpoints/$second:d/two")" 60
	only_bad "$second"
	expect_eq true "$(restoring 1 verify --all && told '[.checkpoints[].problems[]] | any(test("d/two"))')"
}

test_names_do_not_steer_the_terminal() {
	esc=$(printf '\033') csi=$(printf '\302\233')
	noise 3000 >"odd${esc}[31m${csi}31m"
	save
	store=$(store_dir)
	damage "$(object "refs/checkpoints/$id:odd${esc}[31m${csi}31m")" 60
	expect_exit 1 git-checkpoint verify >"$T/out" 2>&1
	expect_exit 1 git-checkpoint doctor >>"$T/out" 2>&1
	rm odd*
	expect_exit 128 git-checkpoint restore -y @ >>"$T/out" 2>&1
	expect_exit 128 git-checkpoint restore -y @ -- "other${esc}[31m" >>"$T/out" 2>&1
	expect_eq 3 "$(grep -c 'odd?\[31m?31m' "$T/out")" 'lines with its name'
	expect_grep 'other?\[31m' "$T/out"
	expect_no_grep "$esc" "$T/out"
	expect_no_grep "$csi" "$T/out"
}

test_a_damaged_blob_of_all() {
	three two
	damage "$(object "refs/checkpoints/$first:d/one")" 60
	only_bad "$first" "$second" "$third"
}

test_a_damaged_tree() {
	three two
	damage "$(object "refs/checkpoints/$second:d")"
	only_bad "$second"
}

test_a_damaged_commit() {
	three two
	damage "$(object "refs/checkpoints/$third")"
	only_bad "$third"
}

# What hangs off the commit: modes and the like.
test_damaged_metadata() {
	three two
	commit=$(object "refs/checkpoints/$second")
	git --git-dir="$store" cat-file commit "$commit" >"$T/commit"
	git --git-dir="$store" rev-list --objects "$commit" | cut -d' ' -f1 | sort >"$T/all"
	git --git-dir="$store" rev-list --objects --no-walk "$commit" >/dev/null
	# blobs that are not part of the tree
	git --git-dir="$store" ls-tree -r -t "$commit" | awk '{ print $3 }' | sort >"$T/tree"
	comm -23 "$T/all" "$T/tree" | while read -r object; do
		test "$(git --git-dir="$store" cat-file -t "$object")" != blob || echo "$object"
	done >"$T/meta"
	test -s "$T/meta" || fail 'no metadata was found'
	# those of this checkpoint alone
	for other in $first $third; do
		git --git-dir="$store" rev-list --objects "refs/checkpoints/$other" | cut -d' ' -f1
	done | sort >"$T/others"
	comm -23 "$T/meta" "$T/others" >"$T/own"
	test -s "$T/own" || fail 'no metadata of its own was found'
	damage "$(head -n 1 "$T/own")" 6
	only_bad "$second"
}

test_a_lost_object() {
	three two
	# a pack each
	commit=$(object "refs/checkpoints/$second")
	for index in "$store"/objects/pack/*.idx; do
		if git show-index <"$index" | grep -q "$commit"; then
			rm -f "$index" "${index%.idx}.pack"
		fi
	done
	only_bad "$second"
}

# The objects are sound, but not what the record says.
test_a_wrong_state_hash() {
	three two
	commit=$(object "refs/checkpoints/$second")
	hash=$(git-checkpoint show --json "$second" | jq -r .hash)
	new=$(git --git-dir="$store" cat-file commit "$commit" | sed "s/$hash/sha256:$(printf %064d 7)/" |
		git --git-dir="$store" hash-object -t commit -w --stdin)
	test "$new" != "$commit"
	git --git-dir="$store" update-ref "refs/checkpoints/$second" "$new"
	only_bad "$second"
	restoring 1 verify "$second"
	expect_eq true "$(told '.checkpoints[0].problems[0] | test("state hash")')"
}

test_an_empty_ref() {
	three two
	: >"$store/refs/checkpoints/$second"
	only_bad "$second"
}

test_nothing_is_written() {
	three two
	fingerprint_raw "$store" >"$T/before"
	git-checkpoint verify -q --all
	damage "$(object "refs/checkpoints/$second:d/two")" 60
	fingerprint_raw "$store" >"$T/before"
	restoring 1 verify --all
	fingerprint_raw "$store" >"$T/after"
	expect_same "$T/before" "$T/after"
}

run_tests
