#!/bin/sh
# SPDX-License-Identifier: MIT
# list: order, filters, text and JSON, and the manifest.

. "$(dirname "$0")/../../lib/harness.sh"

# Four checkpoints: reason one .. four
four() {
	echo 1 >a
	git-checkpoint save -q -m 'one
with a second line' --source me --step 1
	echo 2 >a
	echo 2 >b
	git-checkpoint save -q -m 'two | pipe' --source cli --step 2 --pin
	rm b
	git-checkpoint save -q -m 'three *' --source me
	mkdir -p d
	echo 4 >d/c
	git-checkpoint save -q -m four --step 1 d
}

# reasons <argument>...: the reasons of what is listed, first lines, joined
reasons() {
	git-checkpoint list --json "$@" >"$T/listed.json"
	jq -r '.checkpoints[].reason | split("\n")[0] | split(" ")[0]' "$T/listed.json" |
		tr '\n' ' '
}

test_newest_first() {
	four
	expect_eq 'four three two one ' "$(reasons)"
	git-checkpoint list >"$T/out"
	expect_eq 4 "$(wc -l <"$T/out")" 'lines'
	jq -r '.checkpoints[].id' "$T/listed.json" >"$T/ids"
	cut -d' ' -f1 "$T/out" >"$T/first"
	expect_same "$T/ids" "$T/first"
}

test_text_shows_what_matters() {
	four
	git-checkpoint list >"$T/out"
	expect_grep ' me  *\[step 1\] one$' "$T/out"
	expect_grep ' 2 changed .*2 files, 4 bytes .*cli  *\[pinned\] \[step 2\] two | pipe$' "$T/out"
	expect_grep '\[d\] four$' "$T/out"
	expect_no_grep 'second line' "$T/out"
	expect_no_grep "$(printf '\033')" "$T/out"
}

test_json_is_the_checkpoint_with_hash_and_number() {
	four
	git-checkpoint list --json >"$T/out"
	jq -e 'keys == ["checkpoints"]' "$T/out"
	jq -e '.checkpoints | all(keys == (["id","commit","type","created_at","reason","title","source","step",
		"pinned","imported","name","names","automatic","safety_for","session","agent","branch","head","scope","restore_command","expiry","hash","hash_version","files_changed","added","deleted"] | sort))' "$T/out"
	jq -e '.checkpoints | map(.files_changed) == [1,1,2,1]' "$T/out"
	jq -e '.checkpoints | map(.step) == [1,null,2,1]' "$T/out"
	jq -e '.checkpoints[3].reason == "one\nwith a second line"' "$T/out"
	jq -e '.checkpoints[0].scope.files == ["d"]' "$T/out"
	jq -e '.checkpoints | all(.hash | test("^sha256:[0-9a-f]{64}$"))' "$T/out"
	# the same as save said
	echo 5 >a
	git-checkpoint save --json >"$T/saved"
	git-checkpoint list --json -n 1 >"$T/out"
	jq -S .checkpoint "$T/saved" >"$T/expected"
	jq -S '.checkpoints[0] | del(.hash, .hash_version, .files_changed, .added, .deleted)' "$T/out" >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	expect_eq "$(json .pre_mutation_state.hash "$T/saved")" "$(json '.checkpoints[0].hash' "$T/out")"
}

test_filters() {
	four
	expect_eq 'four ' "$(reasons -n 1)"
	expect_eq 'four three ' "$(reasons -n2)"
	expect_eq 'four three two one ' "$(reasons -n 99)"
	expect_eq '' "$(reasons -n 0)"
	expect_eq 'three one ' "$(reasons --source me)"
	expect_eq '' "$(reasons --source m)"
	expect_eq 'four one ' "$(reasons --step 1)"
	expect_eq '' "$(reasons --step 0)"
	expect_eq 'two ' "$(reasons --grep pipe)"
	expect_eq 'one ' "$(reasons --grep 'second line')"
	# text, not a pattern
	expect_eq 'three ' "$(reasons --grep '*')"
	expect_eq '' "$(reasons --grep 't.o')"
	expect_eq 'one ' "$(reasons --source me --step 1)"
	expect_eq 'four ' "$(reasons --step 1 -n 1)"
	# -n counts what passes the others
	expect_eq 'one ' "$(reasons --source me --step 1 -n 1)"
	expect_eq 'four three two one ' "$(reasons --since 1h)"
	expect_eq 'four three two one ' "$(reasons --since 2001-01-01)"
	expect_eq '' "$(reasons --since 2999-01-01T00:00)"
}

test_since_counts_backwards_from_now() {
	require faketime
	echo 1 >a
	fake '2024-03-01 10:00:00' git-checkpoint save -q -m early
	echo 2 >a
	fake '2024-03-01 12:00:00' git-checkpoint save -q -m late
	listed() {
		fake '2024-03-01 13:00:00' git-checkpoint list --json "$@" |
			jq -r '.checkpoints[].reason' | tr '\n' ' '
	}
	expect_eq 'late ' "$(listed --since 2h)"
	expect_eq 'late early ' "$(listed --since 190m)"
	expect_eq 'late ' "$(listed --since 2024-03-01T10:30:00Z)"
	expect_eq 'late early ' "$(listed --since 2024-03-01T10:00:00Z)"
	expect_eq 'late early ' "$(listed --since 2024-03-01T12:00:00+02:00)"
}

test_since_and_until_take_the_dates_of_git() {
	require faketime
	for day in 01 02 03; do
		echo $day >a
		fake "2024-03-$day 12:00:00" git-checkpoint save -q -m "day $day"
	done
	listed() {
		fake '2024-03-03 13:00:00' git-checkpoint list --json "$@" |
			jq -r '.checkpoints[].reason' | tr '\n' ' '
	}
	expect_eq 'day 03 ' "$(listed --since yesterday)"
	expect_eq 'day 02 day 01 ' "$(listed --until yesterday)"
	expect_eq 'day 03 day 02 ' "$(listed --since '2 days ago')"
	expect_eq 'day 02 ' "$(listed --since '2 days ago' --until 2h)"
	expect_eq 'day 03 ' "$(listed --since 11:30)"
	expect_eq 'day 03 day 02 day 01 ' "$(listed --until now)"
	# both ends belong to it
	expect_eq 'day 02 ' "$(listed --since 2024-03-02T12:00:00Z --until 2024-03-02T12:00:00Z)"
	# -n counts what passes
	expect_eq 'day 02 ' "$(listed --until yesterday -n 1)"
	for text in x '' never all 7 --stat; do
		expect_exit 129 git-checkpoint list --until="$text" 2>"$T/err"
		expect_grep '--until' "$T/err"
	done
}

test_stat_shows_the_changes_of_each() {
	four
	git-checkpoint list --stat >"$T/out"
	expect_eq 4 "$(grep -c '^chk_' "$T/out")" 'rows'
	expect_grep '^ *b *|' "$T/out"
	expect_grep '^ *d/c *| *1 +$' "$T/out"
	expect_grep '2 files changed' "$T/out"
	git-checkpoint list --stat --json >"$T/out"
	jq -e '.checkpoints | map(.changed_files | map(.status + .file)) ==
		[["Ad/c"],["Db"],["Ma","Ab"],["Aa"]]' "$T/out"
}

# counts: "<added> <deleted>" of the newest
counts() {
	git-checkpoint list --json -n 1 | jq -r '.checkpoints[0] | "\(.added) \(.deleted)"'
}

test_lines_are_counted_as_git_does() {
	seq 10 >a
	printf 'no end' >b
	git-checkpoint save -q
	# there is nothing to compare it with
	expect_eq 'null null' "$(counts)"
	sed -i -e '3d' -e '7s/$/x/' a
	rm b
	seq 4 >c
	ln -s a link
	printf 'a\0b\n' >binary
	mkdir empty
	git-checkpoint save -q
	expect_eq '6 3' "$(counts)"
	git-checkpoint show --stat @ >"$T/out"
	expect_grep ' 6 insertions(+), 3 deletions(-)$' "$T/out"
	expect_eq '6 3' "$(git-checkpoint show --json @ | jq -r '"\(.added) \(.deleted)"')"
	expect_eq '6 3' "$(git-checkpoint status --json | jq -r '.newest | "\(.added) \(.deleted)"')"
	# modes alone have no lines
	chmod 600 a
	git-checkpoint save -q
	expect_eq '0 0' "$(counts)"
	# a link becomes a file
	rm link
	seq 3 >./link
	git-checkpoint save -q
	expect_eq '3 1' "$(counts)"
	# too many files, and too large ones, are not counted
	mkdir many
	(cd many && seq 101 | xargs touch)
	git-checkpoint save -q
	expect_eq 'null null' "$(counts)"
	yes | head -n 600000 >large
	git-checkpoint save -q
	expect_eq 'null null' "$(counts)"
	# those of a restore neither
	git-checkpoint restore -q --yes @~1
	expect_eq 'null null' "$(counts)"
}

test_nothing_to_list() {
	git-checkpoint list >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out")"
	expect_grep 'no checkpoints' "$T/err"
	expect_eq '{"checkpoints":[]}' "$(git-checkpoint list --json)"
	expect_eq '' "$(git-checkpoint list -q 2>&1)"
	expect_missing "$(store_dir)"
}

test_quiet_lists_nothing() {
	four
	expect_eq '' "$(git-checkpoint list -q 2>&1)"
	expect_eq '' "$(git-checkpoint list -q --stat 2>&1)"
}

test_odd_reasons_stay_on_their_line() {
	echo 1 >a
	git-checkpoint save -q -m "$(printf 'tab\there \033[31mred\033[m \377 bell\a')" \
		--source "$(printf 'so\nurce\033[m')"
	git-checkpoint list >"$T/out"
	expect_eq 1 "$(wc -l <"$T/out")" 'lines'
	expect_no_grep "$(printf '\033')" "$T/out"
	git-checkpoint show @ >"$T/out"
	expect_no_grep "$(printf '\033')" "$T/out"
	git-checkpoint status >"$T/out"
	expect_no_grep "$(printf '\033')" "$T/out"
	git-checkpoint log >"$T/out"
	expect_eq 1 "$(wc -l <"$T/out")" 'lines of log'
	expect_no_grep "$(printf '\033')" "$T/out"
}

test_odd_reasons_come_back_in_json() {
	for reason in '' ' ' 'a: b' '"quoted"' 'back\slash' 'Reason: x' "$(printf '\nsecond')" \
		"$(printf 'x\n\nId: y')" "$(printf ' lead\ttab')" 'ünïcode €' '| a | b |'; do
		git-checkpoint save -q --allow-empty -m "$reason" --source "$reason"
		git-checkpoint list -n 1 --json >"$T/out"
		jq -e --arg r "$reason" '.checkpoints[0] | .reason == $r and .source == $r' "$T/out" ||
			fail "reason: $reason"
	done
	git --git-dir="$(store_dir)" fsck --strict
}

test_the_manifest_is_a_table_newest_last() {
	four
	manifest=$(store_dir)/checkpoint-manifest.md
	expect_grep '^| Hash | Timestamp | Reason | Source |' "$manifest"
	git-checkpoint list --json | jq -r '.checkpoints | reverse[] | .commit[:8]' >"$T/expected"
	sed -n 's/^| \([0-9a-f]\{8\}\) | [0-9-]*T[0-9:]*Z | .*/\1/p' "$manifest" >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	expect_grep '| two \\| pipe | cli |' "$manifest"
	expect_grep '| one with a second line | me |' "$manifest"
}

test_a_pager_or_a_slow_reader_blocks_no_save() {
	four
	rm "$(store_dir)/checkpoint-manifest.md"
	mkfifo "$T/pipe"
	# the reader takes nothing before the save is done
	seq -f '%06g-with-a-long-name-that-fills-the-pipe-sooner' 3000 | (mkdir many && cd many && xargs touch)
	git-checkpoint save -q
	rm "$(store_dir)/checkpoint-manifest.md"
	git-checkpoint list --stat >"$T/pipe" &
	exec 9<"$T/pipe"
	sleep 0.5
	echo more >a
	GIT_CHECKPOINT_LOCK_TIMEOUT=1s git-checkpoint save -q
	cat <&9 >/dev/null
	exec 9<&-
	wait
}

run_tests
