#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that has mapped a file can write to it without changing its times.

. "$(dirname "$0")/../../lib/harness.sh"

# map <file>: from here on the lines of `write_mapped` go there
map() {
	mkfifo "$T/ask" "$T/said"
	mapper "$1" <"$T/ask" >"$T/said" &
	exec 3>"$T/ask" 4<"$T/said"
}

unmap() {
	exec 3>&- 4<&-
	wait
	rm "$T/ask" "$T/said"
}

write_mapped() {
	echo "$1" >&3
	read -r said <&4
	expect_eq ok "$said"
}

# A first checkpoint with `first`, then another file of the same length is written through memory,
# is old enough for its times to be believed, and saved.
saved_while_mapped() {
	echo "first " >file
	echo 1 >beside
	git checkpoint save -q
	map file
	write_mapped second
	sleep 0.1
	git checkpoint save -q
	expect_eq 2 "$(git checkpoint list --json | jq '.checkpoints | length')" 'checkpoints'
}

test_status_and_diff_see_it() {
	saved_while_mapped
	write_mapped third
	git checkpoint status >"$T/out"
	expect_grep '^Safe: *no' "$T/out"
	expect_exit 1 git checkpoint diff --quiet
}

test_save_takes_it() {
	saved_while_mapped
	for text in third- fourth fifth-; do
		write_mapped $text
		git checkpoint save -q
		expect_eq $text "$(git --git-dir="$(store_dir)" show latest:file)"
	done
	expect_eq 5 "$(git checkpoint list --json | jq '.checkpoints | length')" 'checkpoints'
}

# As long as nothing is learned from reading it again, nothing is written either.
test_a_file_that_is_held_open_costs_no_new_cache() {
	saved_while_mapped
	git checkpoint save -q
	cache=$(store_dir)/checkpoint/statcache
	cp "$cache" "$T/old"
	before=$(stat -c '%i %z' "$cache")
	git checkpoint save -q
	git checkpoint save -q
	expect_eq "$before" "$(stat -c '%i %z' "$cache")" 'the cache'
	unmap
	git checkpoint save -q
	expect_exit 1 cmp -s "$T/old" "$cache"
	before=$(stat -c '%i %z' "$cache")
	git checkpoint save -q
	expect_eq "$before" "$(stat -c '%i %z' "$cache")" 'the cache'
}

test_a_restore_to_the_same_state_brings_the_bytes_back() {
	saved_while_mapped
	write_mapped third-
	git checkpoint restore --yes @ >"$T/out"
	expect_eq second "$(cat file)"
	git checkpoint undo -q --yes
	expect_eq third- "$(cat file)"
}

test_undo_brings_the_last_bytes_back() {
	saved_while_mapped
	write_mapped third-
	git checkpoint restore -q --yes @~1
	expect_eq 'first ' "$(cat file)"
	git checkpoint undo -q --yes
	expect_eq third- "$(cat file)"
}

# The file is removed, not replaced.
test_a_file_that_was_made_since() {
	echo 1 >beside
	git checkpoint save -q
	mkdir d
	echo 'first ' >d/new
	map d/new
	write_mapped second
	sleep 0.1
	git checkpoint save -q
	write_mapped third-
	git checkpoint restore -q --yes @~1
	expect_missing d
	git checkpoint undo -q --yes
	expect_eq third- "$(cat d/new)"
}

# written_at <call> <n> <command>...: once more at the <n>th such call of the command
written_at() {
	call=$1 n=$2
	shift 2
	echo "echo last-- >'$T/ask'; read -r said <'$T/said'" >"$T/write.sh"
	FAULT_RUN="sh $T/write.sh" FAULT_PATH=$T/work with_faults "$call" "$n" run "$@"
}

# After the safety checkpoint, when nobody looks at the times any more: the file stays, and is named.
test_what_is_written_before_it_is_displaced_stays() {
	for lacks in '' exchange; do
		mkdir "$T/work/w$lacks"
		cd "$T/work/w$lacks"
		saved_while_mapped
		FAULT_LACKS=$lacks written_at rename 1 \
			git-checkpoint restore --json --yes @~1 >"$T/json" || :
		expect_eq last-- "$(cat file)" "the file, without ${lacks:-nothing}"
		json '.warnings | join("\n")' "$T/json" >"$T/warnings"
		expect_grep "'file' changed during" "$T/warnings"
		unmap
	done
}

# In a directory that makes room for a file.
test_what_is_written_in_a_displaced_directory_stays() {
	echo 1 >d
	git checkpoint save -q
	rm d
	mkdir d
	echo 'first ' >d/file
	map d/file
	write_mapped second
	sleep 0.1
	git checkpoint save -q
	written_at rename 1 git-checkpoint restore --json --yes @~1 >"$T/json" || :
	expect_eq last-- "$(cat d/file)"
}

# There no lease tells of the mapping.
test_on_an_overlay() {
	mkdir "$T/lower" "$T/upper" "$T/copying" "$T/mounted"
	mount -t overlay overlay -o "lowerdir=$T/lower,upperdir=$T/upper,workdir=$T/copying" "$T/mounted" \
		2>"$T/err" || skip "cannot mount an overlay here: $(cat "$T/err")"
	trap 'cd /; umount "$T/mounted"' EXIT
	cd "$T/mounted"
	saved_while_mapped
	write_mapped third-
	unmap
	git checkpoint save -q
	expect_eq third- "$(git checkpoint show @:file)"
}

run_tests
