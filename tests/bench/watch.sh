# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: the same saves and restores while a watcher tells what changed. It takes no
# checkpoints by itself here.
# shellcheck disable=SC2034 # what is set here, run.sh reads

WATCHER=

stop_watcher() {
	test -z "$WATCHER" || kill "$WATCHER" 2>/dev/null || :
	test -z "$WATCHER" || wait "$WATCHER" 2>/dev/null || :
	WATCHER=
}

# start_watcher: returns when the whole tree is watched
start_watcher() {
	(cd "$TREE" && git-checkpoint save -q --allow-empty && git-checkpoint watch add -q .) || exit 2
	GIT_CHECKPOINT_WATCH_QUIET=1h GIT_CHECKPOINT_WATCH_MAX=2h git-checkpoint watch run -q \
		>"$SCRATCH/watcher.log" 2>&1 &
	WATCHER=$!
	tries=0
	until (cd "$TREE" && git-checkpoint status --json | grep -q '"hints": *true'); do
		tries=$((tries + 1))
		kill -0 "$WATCHER" 2>/dev/null && test $tries -lt 600 || {
			say 'the watcher does not watch'
			cat "$SCRATCH/watcher.log" >&2
			exit 2
		}
		sleep 0.1
	done
	# The first save that was asked about writes down when it was.
	(cd "$TREE" && git-checkpoint save -q) || exit 2
}

# watched_round <n> <prefix>
watched_round() {
	SAVE_AS=$2-unchanged turns "$1" ours_save stock_save
	change $((500 + $1))
	SAVE_AS=$2-ten turns "$1" ours_save stock_save
	test "$2" != watched || watched_restores "$1"
}

watched_restores() {
	TARGET=$(cd "$TREE" && git-checkpoint list -n 1 --json | sed -n 's/.*"id": *"\(chk_[^"]*\)".*/\1/p' |
		head -n 1)
	RESTORE_FROM=disturb RESTORE_AS=watched-restore
	turns "$1" ours_restore stock_restore
}

# watched_rounds <prefix>
watched_rounds() {
	has_command watch || return 0
	say 'with a watcher'
	start_watcher
	round=0
	while test $round -lt "$ROUNDS"; do
		round=$((round + 1))
		watched_round $round "$1"
	done
	stop_watcher
}

# A tree of a million files: without and with the watcher.
million_files() {
	new_shadow
	rm -rf "$GIT_CHECKPOINT_HOME"
	say 'first saves'
	SAVE_AS=million-first ours_save
	SAVE_AS=million-first stock_save
	list_files
	SAVE_AS=warm ours_save
	round=0
	while test $round -lt "$ROUNDS"; do
		round=$((round + 1))
		say "round $round of $ROUNDS"
		watched_round $round million
	done
	watched_rounds million-watched
}

rows_watch() {
	row_time 'save, nothing changed, with a watcher' watched-unchanged 0.07 0.04
	row_time 'save, 10 files changed, with a watcher' watched-ten 0.12 0.06
	row_time 'restore of ten, with a watcher' watched-restore 0.25 0.15
	row_memory 'peak memory, save of 10, with a watcher' watched-ten 60 20
}

rows_million() {
	row_time 'first save' million-first 0.20 0.10
	row_time 'save, nothing changed' million-unchanged 0.25 0.20
	row_time 'save, 10 files changed' million-ten 0.30 0.25
	row_memory 'peak memory, save of 10 files changed' million-ten 600 400
	row_time 'save, nothing changed, with a watcher' million-watched-unchanged 0.03 0.01
	row_time 'save, 10 files changed, with a watcher' million-watched-ten 0.03 0.01
	row_memory 'peak memory, the same' million-watched-ten 60 30
}
