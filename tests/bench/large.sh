# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: one large file. Noise, as archives and pictures are; stock git deflates it all the same.
# shellcheck disable=SC2034 # what is set here, run.sh reads

LARGE_MB=${BENCH_LARGE_MB:-2048}

# A hole with a little in it: what counts is memory.
large_file() {
	test -z "$QUICK" || return 0
	say "one file of $LARGE_MB MB"
	rm -rf "$GIT_CHECKPOINT_HOME" "$TREE"
	mkdir "$TREE"
	truncate -s "${LARGE_MB}M" "$TREE/large"
	dd if=/dev/urandom of="$TREE/large" bs=1M count=64 seek=$((LARGE_MB / 3)) conv=notrunc 2>/dev/null
	ours large git-checkpoint save -q -m x
	large_edits
}

# edit_large <n>: one byte in the middle, another one for another number
edit_large() {
	printf x | dd of="$TREE/large" bs=1 seek=$((LARGE_MB * 500000 + $1)) conv=notrunc 2>/dev/null
}

ours_restore_large() {
	ours large-restore git-checkpoint restore -q --yes @
}

# As with ours, what is about to be overwritten is saved first.
# shellcheck disable=SC2016 # expanded by the measured shell
stock_restore_large() {
	stock large-restore '$1 add -A && $1 commit -q -m x && $1 checkout -q HEAD~1 -- .'
}

large_edits() {
	rm -rf "$GIT_CHECKPOINT_HOME" "$SHADOW"
	head -c "${LARGE_MB}M" /dev/urandom >"$TREE/large"
	git init -q --bare "$SHADOW"
	SAVE_AS=large-first
	ours_save
	stock_save
	touch "$TREE/large"
	SAVE_AS=large-touched
	ours_save
	stock_save
	edit_large 1
	SAVE_AS=large-edited
	ours_save
	stock_save
	test -n "$HAVE_RESTORE" || return 0
	edit_large 2
	ours_restore_large
	edit_large 3
	stock_restore_large
}

rows_large() {
	row_memory "peak memory, save of one file of $LARGE_MB MB" large 64 32
	row_time 'save of a file as large, noise' large-first 0.50 0.25
	row_time 'save after it was touched' large-touched 1.0 0.5
	row_time 'save after one byte changed' large-edited 0.50 0.25
	row_memory 'the same, peak memory' large-edited 64 32
	row_time 'restore of that byte' large-restore 0.70 0.40
}
