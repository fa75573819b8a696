#!/bin/sh
# SPDX-License-Identifier: MIT
# status and log.

. "$(dirname "$0")/../../lib/harness.sh"

test_before_the_first_checkpoint() {
	git-checkpoint status >"$T/out"
	expect_grep "^Worktree: *$T/work$" "$T/out"
	expect_grep '^Newest: *none' "$T/out"
	expect_grep '^Checkpoints: *0$' "$T/out"
	git-checkpoint status --json >"$T/out"
	jq -e '.newest == null and .checkpoints == 0 and .store == null and .disk.bytes == 0' "$T/out"
	jq -e '.changes == {"added":0,"modified":0,"deleted":0} and .warnings == []' "$T/out"
	expect_missing "$(store_dir)"
}

test_changes_since_the_newest_are_counted() {
	for name in a b c d; do
		echo 1 >$name
	done
	git-checkpoint save -q -m why
	git-checkpoint status >"$T/out"
	expect_grep '^Newest: *chk_[0-9a-f_]*, .* ago$' "$T/out"
	expect_grep '^Since then: *nothing changed$' "$T/out"
	echo 2 >a
	rm b c
	ln -s x c
	mkdir new
	git-checkpoint status >"$T/out"
	expect_grep '^Since then: *1 added, 2 modified, 1 deleted$' "$T/out"
	git-checkpoint status --json >"$T/out"
	jq -e '.changes == {"added":1,"modified":2,"deleted":1}' "$T/out"
	git-checkpoint save -q
	git-checkpoint status --json >"$T/out"
	jq -e '.checkpoints == 2 and .changes == {"added":0,"modified":0,"deleted":0}' "$T/out"
}

# verdict <yes|no> <rest of the line>: as text and in JSON
verdict() {
	git-checkpoint status >"$T/out"
	expect_grep "^Safe: *$1, .*$2" "$T/out"
	test "$1" = yes && safe=true || safe=false
	expect_eq $safe "$(git-checkpoint status --json | jq .safe)"
}

test_am_i_safe() {
	mkdir d
	echo 1 >a
	echo 1 >d/b
	verdict no 'no files are saved'
	git-checkpoint save -q --state-only --state k=v
	verdict no 'no files are saved'
	git-checkpoint save -q d
	verdict no 'only some paths'
	git-checkpoint save -q
	verdict yes 'nothing changed'
	chmod 600 a
	verdict no '1 change is'
	echo 2 >d/b
	verdict no '2 changes are'
	# a restore takes a checkpoint of the state before, which is not what was meant
	git-checkpoint save -q -m both
	echo 3 >a
	git-checkpoint restore -q -y @
	verdict yes 'nothing changed'
	expect_eq both "$(git-checkpoint show --json "$(git-checkpoint status --json | jq -r .compared_with)" | jq -r .reason)"
	git-checkpoint undo -q -y
	verdict yes 'nothing changed\|everything is as in'
	expect_eq 3 "$(cat a)"
	git-checkpoint redo -q -y
	verdict yes 'nothing changed\|everything is as in'
	echo 4 >a
	verdict no '1 change'
	git-checkpoint restore -q -y --force @ -- a
	echo 2 >d/b
	git-checkpoint save -q
	echo 5 >a
	echo 5 >d/b
	# of some paths only: the rest is as unsafe as before
	git-checkpoint save -q d
	verdict no '2 changes are'
	head -c 3000 /dev/zero >large
	expect_exit 3 env GIT_CHECKPOINT_MAX_FILE_SIZE=1k git-checkpoint save -q
	export GIT_CHECKPOINT_MAX_FILE_SIZE=1k
	verdict no "1 path could not be captured; .*$(git-checkpoint list -n 1 | cut -d ' ' -f 1)"
}

# After a restore there are two checkpoints to compare with, but one worktree.
test_a_file_is_read_once_even_after_a_restore() {
	echo 1 >a
	echo 1 >touched
	git-checkpoint save -q
	echo 2 >a
	git-checkpoint save -q
	git-checkpoint restore -q -y @~1
	# not as the stat cache knows it, so that its contents decide
	touch -d '2001-01-01 00:00' touched
	FAULT_PATH=touched with_faults open 0 kill git-checkpoint status >"$T/out"
	expect_grep '^Safe: *yes, everything is as in' "$T/out"
	expect_eq 1 "$(cat "$T/faults")" 'times that the file was opened'
}

test_the_timeline_names_what_can_be_typed() {
	for i in 1 2 3 4 5 6 7; do
		echo $i >a
		git-checkpoint save -q -m "reason $i"
	done
	git-checkpoint pin @~1
	git-checkpoint status >"$T/out"
	expect_no_grep '^ *now ' "$T/out"
	expect_eq '@ @~1 @~2 @~3 @~4' "$(sed -n 's/^ *[0-9]*[smh] ago  \*  \(@[~0-9]*\) .*/\1/p' "$T/out" | xargs)"
	expect_grep '@~1  1 changed  \[pinned\] reason 6$' "$T/out"
	expect_grep ' :  *2 more' "$T/out"
	sed -n 's/.*  \(@[~0-9]*\)  *1 changed .*\(reason .\)$/\1 \2/p' "$T/out" |
		while read -r name reason; do
			expect_eq "$reason" "$(git-checkpoint show --json "$name" | jq -r .reason)"
		done
	echo 8 >a
	git-checkpoint status >"$T/out"
	expect_grep '^ *now  o  *1 changed  not saved yet$' "$T/out"
}

test_json_names_the_newest_as_list_does() {
	echo 1 >a
	git-checkpoint save -q
	git-checkpoint status --json >"$T/out"
	jq -S .newest "$T/out" >"$T/actual"
	git-checkpoint list --json | jq -S '.checkpoints[0]' >"$T/expected"
	expect_same "$T/expected" "$T/actual"
	expect_eq "$T/work" "$(json .worktree "$T/out")"
	expect_eq "$(store_dir)" "$(json .store "$T/out")"
}

test_disk_use_is_that_of_the_store() {
	noise 300000 >a
	git-checkpoint save -q
	git-checkpoint status --json >"$T/out"
	jq -e '.disk.budget == null' "$T/out"
	expect_eq "$(($(du -s --block-size=1 "$(store_dir)" | cut -f1)))" "$(json .disk.bytes "$T/out")"
	export GIT_CHECKPOINT_MAX_SIZE=2m
	git-checkpoint status --json >"$T/out"
	expect_eq 2097152 "$(json .disk.budget "$T/out")"
	git-checkpoint status >"$T/out"
	expect_grep '^Disk use: .* of 2\.1 MB$' "$T/out"
}

test_an_incomplete_newest_is_marked() {
	head -c 3000 /dev/zero >a
	expect_exit 3 env GIT_CHECKPOINT_MAX_FILE_SIZE=1k git-checkpoint save -q
	git-checkpoint status >"$T/out"
	expect_grep incomplete "$T/out"
}

test_hooks_are_told() {
	git init -q
	git checkpoint status >"$T/out"
	expect_grep '^Hooks: *none' "$T/out"
	git checkpoint status --json | jq -e '.hooks == null'
	git checkpoint hooks install --events merge --guard --ref-transaction >"$T/install" 2>&1
	git checkpoint status >"$T/out"
	expect_grep '^Hooks: *before merge, and what the guard sees$' "$T/out"
	git checkpoint status --json | jq -e '.hooks == {"events":["merge"],"guard":true,"ok":true}'
	rm -f .git/hooks/reference-transaction .git/git-checkpoint/reference-transaction
	git checkpoint status >"$T/out" 2>"$T/err"
	expect_grep 'not all of them run' "$T/out"
	expect_grep 'reference-transaction' "$T/err"
	git checkpoint status --json | jq -e '.hooks.ok == false'
	# outside of git there are none to speak of
	mkdir "$T/plain"
	cd "$T/plain"
	git checkpoint status >"$T/out"
	expect_no_grep Hooks "$T/out"
}

test_quiet_says_nothing() {
	git-checkpoint save -q
	expect_eq '' "$(git-checkpoint status -q 2>&1)"
	expect_eq '' "$(git-checkpoint log -q 2>&1)"
}

# ---- log ----

test_every_save_is_logged_newest_first() {
	for i in 1 2 3; do
		echo $i >a
		git-checkpoint save -q -m "reason $i
more"
		git-checkpoint save -q
	done
	git-checkpoint log --json >"$T/out"
	jq -e 'keys == ["entries"]' "$T/out"
	jq -e '.entries | all(keys - ["title"] == ["action","at","commit","hash","id","reason"])' "$T/out"
	jq -e '.entries | all(.action == "save")' "$T/out"
	jq -r '.entries[] | "\(.at) \(.id) \(.commit) \(.hash) \(.reason)"' "$T/out" >"$T/actual"
	git-checkpoint list --json | jq -r '.checkpoints[] |
		"\(.created_at) \(.id) \(.commit) \(.hash) \(.reason)"' >"$T/expected"
	expect_same "$T/expected" "$T/actual"
	git-checkpoint log >"$T/out"
	expect_eq 3 "$(wc -l <"$T/out")" 'lines'
	expect_grep '^[0-9-]* [0-9:]* [+-][0-9]*  save  chk_[0-9a-f_]*  sha256:[0-9a-f]\{12\}  reason 3$' "$T/out"
}

# However long it takes until the line is written.
test_logged_is_the_time_of_the_checkpoint() {
	FAULT_RUN='sleep 1.1' FAULT_PATH=refs/heads with_faults rename 1 run git-checkpoint save -q
	expect_eq 1 "$(cat "$T/faults")" 'delayed'
	expect_eq "$(git-checkpoint list --json | jq -r '.checkpoints[0].created_at')" \
		"$(git-checkpoint log --json | jq -r '.entries[0].at')"
}

# Lines about checkpoints that are there stay; that these are too many must not cost every save.
test_long_log_is_not_written_with_every_save() {
	GIT_CHECKPOINT_MAX_SIZE=4MB GIT_CHECKPOINT_MAX_COUNT=1000
	export GIT_CHECKPOINT_MAX_SIZE GIT_CHECKPOINT_MAX_COUNT
	long=$(head -c 12000 /dev/zero | tr '\0' x)
	for i in $(seq 32); do
		git-checkpoint save -q --allow-empty -m "$i $long"
		# what may be forgotten
		git-checkpoint pin -q @
		git-checkpoint unpin -q @
		log=$(store_dir)/checkpoint/log
		test $i -gt 26 || inode=$(stat -c %i "$log")
		test "$inode" = "$(stat -c %i "$log")" || written=$((${written:-0} + 1))
		inode=$(stat -c %i "$log")
	done
	test "$(wc -c <"$log")" -gt 300000 || fail 'not long enough'
	test "${written:-0}" -le 1 || fail "written $written times"
	expect_eq 32 "$(grep -c '"action":"save"' "$log")" 'saves'
}

test_log_can_be_cut_short() {
	for i in 1 2 3; do
		git-checkpoint save -q --allow-empty -m $i
	done
	expect_eq '3 2' "$(git-checkpoint log -n 2 --json | jq -r '[.entries[].reason] | join(" ")')"
	expect_eq 0 "$(git-checkpoint log -n 0 --json | jq '.entries | length')"
	expect_eq 3 "$(git-checkpoint log -n 9 | wc -l)"
}

test_log_of_nothing_is_empty() {
	expect_eq '{"entries":[]}' "$(git-checkpoint log --json)"
	expect_eq '' "$(git-checkpoint log)"
	expect_missing "$(store_dir)"
}

run_tests
