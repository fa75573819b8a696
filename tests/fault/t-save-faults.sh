#!/bin/sh
# SPDX-License-Identifier: MIT
# A save that is killed, or whose disk fails, at every single call that changes a file.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

# new_tree: small, but with all that a store holds
new_tree() {
	mkdir -p d/e empty
	echo one >a
	echo two >d/b
	echo three >d/e/c
	chmod 600 d/b
	ln -s a link
}

# keep_count: the stores, and how many checkpoints are in them
keep_count() {
	keep_stores
	kept=$(count)
}

count() {
	git-checkpoint list --json 2>/dev/null | jq '.checkpoints | length'
}

# sound <what>: whatever is listed is whole, and stock git is content
sound() {
	store=$(store_dir)
	echo '{"checkpoints":[]}' >"$T/listed.json"
	test -d "$store" || return 0
	git --git-dir="$store" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "$1: fsck: $(cat "$T/fsck")"
	# of a store that has no checkpoint yet
	sed -i '/^notice: /d' "$T/fsck"
	test ! -s "$T/fsck" || fail "$1: fsck: $(cat "$T/fsck")"
	git-checkpoint list --json >"$T/listed.json" 2>"$T/err"
	said "$T/listed.json" >>"$T/err"
	test ! -s "$T/err" || fail "$1: list: $(cat "$T/err")"
	jq -r '.checkpoints[] | "\(.id) \(.hash)"' "$T/listed.json" | while read -r id hash; do
		expect_eq "$hash" "$(git-checkpoint show --hashes "$id" | state_hash)" \
			"$1: hash of $id"
	done
}

# goes_on <what> <number>: the next save works, has this number of checkpoints, leaves no litter
goes_on() {
	git-checkpoint save -q || fail "$1: the next save"
	expect_eq '' "$(find "$(checkpoint_home)" -name '*tmp_ckpt_*')" "$1: temporaries"
	# what it holds is what is here
	git-checkpoint diff --quiet || fail "$1: the next save missed something"
	sound "$1, next"
	expect_eq "$2" "$(jq '.checkpoints | length' "$T/listed.json")" "$1: checkpoints after the next save"
	sed -n 's/^| \([0-9a-f]\{8\}\) | .*/\1/p' "$store/checkpoint-manifest.md" >"$T/rows"
	jq -r '.checkpoints | reverse[] | .commit[:8]' "$T/listed.json" >"$T/expected"
	expect_same "$T/expected" "$T/rows"
}

# killed_everywhere <stride>: a save is killed at every <stride>th call
killed_everywhere() {
	with_faults $CHANGES 0 kill git-checkpoint save -q
	total=$(cat "$T/faults")
	test "$total" -ge 15 || fail "only $total calls"
	at=$(begin_at "$1")
	while test $at -le "$total"; do
		stores_again
		killed $at "$total" git-checkpoint save -q || break
		sound "killed at $at"
		now=$(jq '.checkpoints | length' "$T/listed.json")
		test "$now" = "$kept" || test "$now" = $((kept + 1)) || fail "killed at $at: $now checkpoints"
		goes_on "killed at $at" $((kept + 1))
		at=$((at + ${STEP:-$1}))
	done
}

test_a_first_save_can_be_killed_anywhere() {
	new_tree
	keep_count
	killed_everywhere 7
}

test_a_later_save_can_be_killed_anywhere() {
	new_tree
	git-checkpoint save -q
	echo changed >a
	rm -r d/e
	echo new >d/f
	keep_count
	killed_everywhere 4
}

test_a_save_that_finds_the_remains_of_another_can_be_killed_too() {
	new_tree
	git-checkpoint save -q
	echo changed >a
	for at in 3 9 16 20; do
		with_faults $CHANGES $at kill git-checkpoint save -q --allow-empty || :
	done
	sound 'killed four times'
	before=$(count)
	git-checkpoint save -q --allow-empty
	goes_on 'killed four times' $((before + 1))
}

# failing_everywhere <error> <calls> <stride>: from every <stride>th call on all fail, or only that
failing_everywhere() {
	FAULT_PATH=$XDG_STATE_HOME
	with_faults "$2" 0 "$1" git-checkpoint save -q
	total=$(cat "$T/faults")
	test "$total" -ge 4 || fail "only $total calls"
	at=$(begin_at "$3")
	while test $at -le "$total"; do
		stores_again
		what="$1 at $at of $2${FAULT_STICKY:+ and from then on}"
		status=0
		with_faults "$2" $at "$1" git-checkpoint save --json >"$T/out" 2>"$T/err" || status=$?
		said "$T/out" >>"$T/err"
		case $status in
		0)
			id=$(json .checkpoint.id "$T/out")
			git-checkpoint show "$id" >/dev/null || fail "$what: $id is not there"
			;;
		128)
			expect_eq 128 "$(json .error.code "$T/out")"
			expect_grep '^fatal: ' "$T/err"
			expect_eq "$kept" "$(count)" "$what: checkpoints"
			;;
		*) fail "$what: exit status $status: $(cat "$T/err")" ;;
		esac
		sound "$what"
		goes_on "$what" $((kept + 1))
		at=$((at + ${STEP:-$3}))
	done
}

test_a_full_disk_at_any_write() {
	new_tree
	git-checkpoint save -q
	echo changed >a
	keep_count
	FAULT_STICKY=1
	failing_everywhere ENOSPC write,pwrite,openat-create,mkdir 4
}

test_a_full_disk_at_any_write_of_a_first_save() {
	new_tree
	keep_count
	FAULT_STICKY=1
	failing_everywhere ENOSPC write,pwrite,openat-create,mkdir 12
}

test_a_bad_disk_at_any_call() {
	new_tree
	git-checkpoint save -q
	echo changed >a
	keep_count
	failing_everywhere EIO write,pwrite,fsync,fdatasync,rename,close 6
}

test_permission_denied_at_any_call() {
	new_tree
	git-checkpoint save -q
	echo changed >a
	keep_count
	failing_everywhere EACCES openat-create,rename,unlink 4
}

# The message says what and where.
test_a_failure_is_explained() {
	new_tree
	FAULT_PATH=objects/pack
	expect_exit 128 with_faults pwrite 1 ENOSPC git-checkpoint save 2>"$T/err"
	expect_grep "^fatal: .*$(store_dir).*: No space left on device$" "$T/err"
	expect_exit 128 with_faults fdatasync 1 EIO git-checkpoint save 2>"$T/err"
	expect_grep 'Input/output error$' "$T/err"
}

test_short_transfers_change_nothing() {
	new_tree
	noise 100000 >random
	git-checkpoint save -q
	hash=$(git-checkpoint show --json @ | jq -r .hash)
	git --git-dir="$(store_dir)" ls-tree -r -t latest >"$T/expected"
	rm -rf "$XDG_STATE_HOME"
	for calls in write,pwrite read,pread; do
		with_faults $calls 0 short git-checkpoint save -q
		total=$(cat "$T/faults")
		rm -rf "$XDG_STATE_HOME"
		at=$(begin_at 7)
		while test $at -le "$total"; do
			with_faults $calls $at short git-checkpoint save --json >"$T/out"
			# an answer to a pipe may fall short too, but a file takes all
			expect_eq "$hash" "$(json .pre_mutation_state.hash "$T/out")" "short $calls at $at"
			git --git-dir="$(store_dir)" ls-tree -r -t latest >"$T/actual"
			expect_same "$T/expected" "$T/actual"
			at=$((at + ${STEP:-7}))
			rm -rf "$T/last"
			mv "$XDG_STATE_HOME" "$T/last"
		done
		mv "$T/last" "$XDG_STATE_HOME"
		sound "short $calls"
		rm -rf "$XDG_STATE_HOME"
		# and all of them
		FAULT_STICKY=1 with_faults $calls 1 short git-checkpoint save --json >"$T/out"
		expect_eq "$hash" "$(json .pre_mutation_state.hash "$T/out")" "short $calls always"
		sound "short $calls always"
		rm -rf "$XDG_STATE_HOME"
	done
}

# A file of the user's that cannot be read is that file's matter.
test_a_read_error_of_a_file_is_that_files_matter() {
	new_tree
	FAULT_PATH=$PWD/d/b
	expect_exit 3 with_faults read 1 EIO git-checkpoint save --json >"$T/out"
	expect_eq '[{"file":"d/b","why":"unreadable"}]' "$(json '.skipped | tostring' "$T/out")"
	FAULT_PATH=
	git-checkpoint save --json >"$T/out"
	expect_eq '[]' "$(json '.skipped | tostring' "$T/out")"
	expect_eq true "$(json .checkpoint_created "$T/out")"
	sound 'read error'
}

# ---- the real thing ----

test_a_disk_that_is_really_full() {
	test "$(id -u)" = 0 || skip 'needs root'
	mkdir "$T/small"
	mount -t tmpfs -o size=2m none "$T/small" 2>/dev/null || skip 'cannot mount'
	trap 'cd /; umount "$T/small"' EXIT
	export GIT_CHECKPOINT_HOME="$T/small/home"
	new_tree
	git-checkpoint save -q
	kept=$(count)
	noise 5000000 >large
	expect_exit 128 git-checkpoint save --json >"$T/out" 2>"$T/err"
	expect_eq 128 "$(json .error.code "$T/out")"
	expect_grep 'No space left' "$T/out"
	expect_eq "$kept" "$(count)"
	expect_eq '' "$(find "$T/small" -name '*tmp_ckpt_*')" 'temporaries'
	sound 'full disk'
	# to the last byte
	dd if=/dev/zero of="$T/small/fill" bs=1k 2>/dev/null || :
	rm large
	echo changed >a
	expect_exit 128 git-checkpoint save 2>"$T/err"
	sound 'not a byte left'
	git-checkpoint list >/dev/null
	git-checkpoint diff >/dev/null
	git-checkpoint show @ >/dev/null
	rm "$T/small/fill"
	git-checkpoint save -q
	expect_eq $((kept + 1)) "$(count)"
	sound 'space again'
	# a first save with no room at all
	mkdir "$T/other"
	cd "$T/other"
	echo 1 >a
	dd if=/dev/zero of="$T/small/fill" bs=1k 2>/dev/null || :
	expect_exit 128 git-checkpoint save 2>"$T/err"
	rm "$T/small/fill"
	git-checkpoint save -q
	expect_eq '' "$(find "$T/small" -name '*tmp_ckpt_*')" 'temporaries'
}

test_a_home_that_cannot_be_written() {
	new_tree
	give_to_nobody .
	mkdir -p "$T/home2/git-checkpoint"
	give_to_nobody "$T/home2"
	chmod 500 "$T/home2/git-checkpoint"
	GIT_CHECKPOINT_HOME=$T/home2/git-checkpoint
	export GIT_CHECKPOINT_HOME
	expect_exit 128 as_nobody git-checkpoint save 2>"$T/tmp/err"
	expect_grep "^fatal: .*$T/home2/git-checkpoint.*Permission denied" "$T/tmp/err"
	as_nobody git-checkpoint list >/dev/null 2>&1
	GIT_CHECKPOINT_HOME=$T/work/a
	expect_exit 128 as_nobody git-checkpoint save 2>"$T/tmp/err"
	expect_grep "^fatal: .*$T/work/a" "$T/tmp/err"
	GIT_CHECKPOINT_HOME=/proc/nothing/here
	expect_exit 128 as_nobody git-checkpoint save 2>"$T/tmp/err"
	expect_grep '^fatal: .*/proc/nothing' "$T/tmp/err"
}

test_a_store_that_cannot_be_written_can_still_be_read() {
	new_tree
	give_to_nobody .
	as_nobody git-checkpoint save -q
	store=$(store_dir)
	echo changed >a
	find "$store" -type d -exec chmod 500 {} +
	expect_exit 128 as_nobody git-checkpoint save --json >"$T/tmp/out" 2>"$T/tmp/err"
	expect_eq 128 "$(json .error.code "$T/tmp/out")"
	for command in list 'show --stat @' 'show --hashes @' diff status log; do
		# shellcheck disable=SC2086
		as_nobody git-checkpoint $command >"$T/tmp/out" 2>"$T/tmp/err"
		expect_eq '' "$(cat "$T/tmp/err")" "stderr of $command"
	done
	rm "$store/checkpoint-manifest.md"
	as_nobody git-checkpoint list >"$T/tmp/out"
	expect_grep '^chk_' "$T/tmp/out"
	find "$store" -type d -exec chmod 700 {} +
	as_nobody git-checkpoint save -q
	as_nobody git-checkpoint list >"$T/tmp/out"
	expect_eq 2 "$(wc -l <"$T/tmp/out")"
}

run_tests
