#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --into: an exact copy in another directory; nothing else is touched.

. "$(dirname "$0")/../../lib/harness.sh"

# copy <status> <argument>...: the answer is in $T/answer
copy() {
	status=$1
	shift
	expect_exit "$status" git-checkpoint restore --json --into "$@" >"$T/answer" 2>"$T/err"
	said "$T/answer" >>"$T/err"
}

# same <dir>: it is what the worktree was when "then" was noted
same() {
	fingerprint "$1" >"$T/fp.copy"
	expect_same "$T/fp.then" "$T/fp.copy"
}

note() {
	fingerprint . >"$T/fp.then"
}

# an odd tree, saved, and damaged since
an_odd_tree() {
	make_tree "$1" "${2:-150}"
	git-checkpoint save -q --include-ignored --include-sensitive
	note
	damage_tree "$1"
}

test_random_trees_are_copied_exactly() {
	for n in 1 2 3; do
		seed=$((TEST_SEED + n))
		mkdir "$T/w$n"
		cd "$T/w$n"
		test $n = 2 || git init -q
		an_odd_tree $seed
		fingerprint_raw . >"$T/raw"
		copy 0 "$T/copy$n" @
		same "$T/copy$n"
		expect_eq true "$(json .verification.match "$T/answer")"
		expect_eq "$(json .verification.checkpoint_hash "$T/answer")" \
			"$(json .verification.post_state_hash "$T/answer")"
		expect_eq "$(git-checkpoint show --hashes @ | state_hash)" \
			"$(json .verification.post_state_hash "$T/answer")"
		expect_eq "$(cd "$T/copy$n" && git-checkpoint hash .)" \
			"$(json .verification.post_state_hash "$T/answer")"
		# neither the worktree nor the repository was touched
		fingerprint_raw . >"$T/raw.now"
		expect_same "$T/raw" "$T/raw.now"
	done
}

test_one_thread_gives_the_same() {
	an_odd_tree "$TEST_SEED"
	GIT_CHECKPOINT_THREADS=1 git-checkpoint restore -q --into "$T/copy" @
	same "$T/copy"
}

test_it_works_without_roots_rights() {
	make_tree "$TEST_SEED" 60
	mkdir -p ro/deep
	echo x >ro/deep/f
	chmod 400 ro/deep/f
	chmod 555 ro/deep ro
	give_to_nobody .
	as_nobody git-checkpoint save -q --include-ignored --include-sensitive || test $? = 3
	note
	mkdir "$T/place"
	give_to_nobody "$T/place"
	as_nobody git-checkpoint restore -q --into "$T/place/copy" @ >"$T/log" 2>&1
	expect_eq 'r-xr-xr-x' "$(stat -c %A "$T/place/copy/ro/deep" | cut -c2-)"
	git-checkpoint restore --json --into "$T/place/other" @ >"$T/answer"
	fingerprint "$T/place/other" >"$T/fp.then"
	same "$T/place/copy"
}

test_modes_links_and_empty_directories() {
	umask 077
	mkdir -p a/b empty shared sticky
	echo x >a/b/x
	chmod 4711 a/b/x
	echo y >y
	chmod 0 y
	chmod 2775 shared
	chmod 1777 sticky
	chmod 511 a/b
	ln -s ../nowhere a/link
	ln -s /etc/passwd outside
	git-checkpoint save -q || test $? = 3
	note
	copy 0 "$T/copy" @
	test "$(id -u)" != 0 || same "$T/copy"
	expect_eq 4711 "$(stat -c %a "$T/copy/a/b/x")"
	expect_eq 511 "$(stat -c %a "$T/copy/a/b")"
	expect_eq 2775 "$(stat -c %a "$T/copy/shared")"
	expect_eq 1777 "$(stat -c %a "$T/copy/sticky")"
	expect_eq /etc/passwd "$(readlink "$T/copy/outside")"
}

test_holes_stay_holes() {
	truncate -s 64M sparse
	echo end >>sparse
	git-checkpoint save -q
	copy 0 "$T/copy" @
	cmp sparse "$T/copy/sparse"
	test "$(du -k "$T/copy/sparse" | cut -f1)" -lt 4096 || fail 'it takes all of its space'
}

test_an_older_state_with_other_files() {
	echo one >a
	echo gone >gone
	git-checkpoint save -q
	note
	rm gone
	echo two >a
	echo new >b
	git-checkpoint save -q
	copy 0 "$T/copy" @~1
	same "$T/copy"
	expect_eq 2 "$(json .files "$T/answer")"
	expect_eq 9 "$(json .bytes "$T/answer")"
}

test_nothing_is_asked_saved_or_undone() {
	echo one >a
	git-checkpoint save -q
	echo two >a
	git-checkpoint restore --into "$T/copy" @ </dev/null >"$T/out"
	expect_grep '^Copied chk_.* into .*/copy: 1 file, 4 bytes, verified$' "$T/out"
	expect_eq 1 "$(git-checkpoint list --json | jq '.checkpoints | length')"
	expect_exit 1 git-checkpoint undo -y 2>"$T/err"
	expect_eq two "$(cat a)"
	git-checkpoint log --json >"$T/log"
	expect_eq into "$(json '.entries[0].action' "$T/log")"
	expect_eq "into $T/copy" "$(json '.entries[0].reason' "$T/log")"
	git-checkpoint restore -q --into "$T/copy2" --reason because @
	git-checkpoint log --json >"$T/log"
	expect_eq because "$(json '.entries[0].reason' "$T/log")"
}

test_the_answer() {
	echo one >a
	git-checkpoint save -q
	copy 0 "$T/copy" @
	jq -e '.copied and (.rolled_back | not) and .safety_checkpoint == null and .worktree == null and
		.changes_reverted == [] and (.continued | not) and .confidence == 1 and
		.restored_to.checkpoint_id == .evidence_anchors[0] and
		.verification.pre_state_hash == null' "$T/answer" >/dev/null || fail "$(cat "$T/answer")"
	expect_eq "$T/copy" "$(json .into "$T/answer")"
	copy 0 "$T/copy2" --no-verify @
	expect_eq null "$(json .verification.match "$T/answer")"
	expect_eq 0.5 "$(json .confidence "$T/answer")"
}

test_single_paths() {
	mkdir -p src/deep other
	for file in a src/b src/deep/c src/deep/d.txt other/e; do
		echo "$file" >"$file"
	done
	mkdir src/empty
	chmod 700 src
	git-checkpoint save -q
	echo new >src/new.txt
	copy 0 "$T/copy" @ -- src/deep a
	expect_eq "$(printf '%s\n' a src/deep/c src/deep/d.txt)" \
		"$(cd "$T/copy" && find . -type f | sed 's,^./,,' | LC_ALL=C sort)"
	expect_eq 700 "$(stat -c %a "$T/copy/src")"
	expect_eq true "$(json .verification.match "$T/answer")"
	# relative to the current directory, and patterns
	cd src
	copy 0 "$T/copy2" @ -- '*.txt' empty
	expect_eq "$(printf '%s\n' ./src/deep/d.txt ./src/empty)" \
		"$(cd "$T/copy2" && find . -type f -o -empty | LC_ALL=C sort)"
	copy 128 "$T/copy3" @ -- new.txt
	expect_grep "'src/new.txt' is not in checkpoint" "$T/answer"
	copy 128 "$T/copy3" @ -- nowhere
	copy 128 "$T/copy3" @ -- '*.none'
	expect_missing "$T/copy3"
}

test_a_scoped_checkpoint() {
	mkdir -p a/b c
	echo x >a/b/x
	echo y >c/y
	git-checkpoint save -q -- a/b
	copy 0 "$T/copy" @
	expect_eq a/b/x "$(cd "$T/copy" && find . -type f | sed 's,^./,,')"
	git-checkpoint save -q --state-only --state k=v
	copy 128 "$T/copy2" @
	expect_grep 'holds only state' "$T/answer"
}

test_a_directory_that_is_new_empty_or_a_link_to_one() {
	echo x >a
	git-checkpoint save -q
	note
	mkdir "$T/empty" "$T/there"
	ln -s there "$T/link"
	copy 0 "$T/empty" @
	same "$T/empty"
	copy 0 "$T/link" @
	same "$T/there"
	expect_eq "$T/there" "$(json .into "$T/answer")"
	test -L "$T/link"
	copy 0 "$T/new/deep/er/" @
	same "$T/new/deep/er"
	copy 0 ../relative @
	same "$T/relative"
	mkdir sub
	cd sub
	copy 0 ../../further @
	same "$T/further"
}

test_a_private_worktree_has_a_private_copy() {
	echo x >a
	chmod 700 .
	git-checkpoint save -q
	copy 0 "$T/copy" @
	expect_eq 700 "$(stat -c %a "$T/copy")"
}

test_not_empty() {
	echo x >a
	git-checkpoint save -q
	mkdir "$T/full"
	echo mine >"$T/full/.hidden"
	for force in '' --force; do
		# shellcheck disable=SC2086
		copy 5 "$T/full" $force @
		expect_eq 5 "$(json .error.code "$T/answer")"
	done
	expect_eq mine "$(cat "$T/full/.hidden")"
	expect_eq 1 "$(find "$T/full" -mindepth 1 | wc -l)"
	copy 5 / @
	copy 5 "$T" @
	echo file >"$T/file"
	copy 128 "$T/file" @
	ln -s nowhere "$T/dangling"
	copy 128 "$T/dangling" @
	copy 128 "$T/file/below" @
	copy 128 "$T/nowhere/../below" @
	expect_missing "$T/nowhere" "$T/below"
}

test_not_in_worktree_repository_or_store() {
	git init -q
	mkdir sub elsewhere
	echo x >a
	git-checkpoint save -q
	fingerprint_raw . >"$T/raw"
	ln -s "$T/work/sub" "$T/in-worktree"
	ln -s "$T/work/.git" "$T/in-git"
	mkdir -p "$T/other/.git" "$(checkpoint_home)/more"
	for dir in . sub new sub/new .git/new .git "$T/in-worktree" "$T/in-worktree/new" "$T/in-git/new" \
		"$T/other/.git" "$T/other/.git/new" "$(store_dir)/new" "$(checkpoint_home)/more" \
		"$(checkpoint_home)/new" "$T/work/../work/new" "$T/new/../work/new"; do
		copy 128 "$dir" @
		copy 128 "$dir" --force @
	done
	fingerprint_raw . >"$T/raw.now"
	expect_same "$T/raw" "$T/raw.now"
	expect_missing "$T/new" "$(store_dir)/new" "$(checkpoint_home)/new" "$T/other/.git/new"
}

test_not_in_a_worktree_that_is_mounted_elsewhere() {
	test "$(id -u)" = 0 || skip 'needs root'
	unshare -m true 2>/dev/null || skip 'needs a mount namespace'
	mkdir empty "$T/mnt"
	echo x >a
	git-checkpoint save -q
	unshare -m sh -c 'mount --bind "$T/work" "$T/mnt" || exit 77
		git-checkpoint restore -q --into "$T/mnt/empty" @ 2>"$T/err"
		test $? = 128 && git-checkpoint restore -q --into "$T/mnt/new" @ 2>"$T/err"
		test $? = 128' || { test $? = 77 && skip 'cannot mount'; fail "$(cat "$T/err")"; }
	expect_missing new
	expect_eq '' "$(ls empty)"
}

test_wrong_command_lines() {
	echo x >a
	git-checkpoint save -q
	for line in '--into' '--into= @' '--into d' '--into d -- a' '--into d -n @' '--into d --index @' \
		'--into d --git @' '--into d --no-delete @' '--into d --continue' '--worktree @' '-b x @' \
		'--into d -b x @' '--into d --verify-command true @'; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint restore $line 2>"$T/err" >"$T/out"
		expect_grep '^\(error\|fatal\): ' "$T/err"
	done
	expect_missing d
	expect_exit 128 git-checkpoint restore --into "$T/d" nowhere 2>"$T/err"
	expect_missing "$T/d"
}

test_an_expired_one_needs_force() {
	echo x >a
	git-checkpoint save -q --expires 1h
	expect_exit 5 fake -f +2h git-checkpoint restore -q --into "$T/copy" @ 2>"$T/err"
	expect_missing "$T/copy"
	fake -f +2h git-checkpoint restore -q --force --into "$T/copy" @
	expect_eq x "$(cat "$T/copy/a")"
}

test_while_a_restore_is_interrupted() {
	for file in a b c; do echo x >$file; done
	git-checkpoint save -q
	note
	rm a b c
	FAULT_PATH=$PWD expect_exit 137 with_faults rename 2 kill git-checkpoint restore -q -y @
	copy 0 "$T/copy" @
	same "$T/copy"
}

test_a_damaged_checkpoint() {
	head -c 100000 /dev/urandom >a
	git-checkpoint save -q
	pack=$(ls "$(store_dir)"/objects/pack/*.pack)
	chmod u+w "$pack"
	printf 'XXXXXXXX' | dd of="$pack" bs=1 seek=50000 conv=notrunc 2>/dev/null
	rm a
	copy 128 "$T/copy" @
	expect_exists "$T/copy/.git-checkpoint-into"
}

test_what_the_marker_is_called() {
	# a checkpoint of an unfinished copy
	echo mine >.git-checkpoint-into
	mkdir .git-checkpoint-into.git
	git-checkpoint save -q
	note
	copy 0 "$T/copy" @
	same "$T/copy"
}

test_very_deep_paths() {
	(
		name=$(printf '%0100d' 0)
		for _ in $(seq 60); do
			mkdir "$name"
			cd -P "$name"
		done
		echo deep >file
	)
	git-checkpoint save -q
	git-checkpoint show --hashes @ >"$T/hashes"
	copy 0 "$T/copy" @
	expect_eq true "$(json .verification.match "$T/answer")"
	expect_eq deep "$(find "$T/copy" -name file -execdir cat {} +)"
}

run_tests
