# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: many processes that save one worktree at the same time. Each should get its turn: the
# longest save of all, compared with the average one.

LOCK_PROCESSES=16
LOCK_SAVES=12

# saver <n>: one line with the seconds for each of its saves
saver() {
	saver_i=0
	while test $saver_i -lt $LOCK_SAVES; do
		saver_i=$((saver_i + 1))
		echo "$saver_i" >"$SCRATCH/crowd/by-$1"
		saver_begin=$(date +%s%N)
		(cd "$SCRATCH/crowd" && git-checkpoint save -q --allow-empty) || return 1
		echo "$saver_begin $(date +%s%N)" | awk '{ print ($2 - $1) / 1e9 }' >>"$SCRATCH/crowd.$1"
	done
}

crowd() {
	test -n "$HAVE_OURS" || return 0
	say "$LOCK_PROCESSES processes at once"
	mktree --files 200 --dirs 20 "$SCRATCH/crowd"
	(cd "$SCRATCH/crowd" && git-checkpoint save -q) || exit 2
	crowd_n=0 crowd_pids=''
	while test $crowd_n -lt $LOCK_PROCESSES; do
		crowd_n=$((crowd_n + 1))
		saver $crowd_n &
		crowd_pids="$crowd_pids $!"
	done
	for crowd_pid in $crowd_pids; do
		wait "$crowd_pid" || { say 'a save failed'; exit 2; }
	done
	# The columns of a sample; nobody measures memory here.
	cat "$SCRATCH"/crowd.* | sort -n | tail -n 1 >"$SAMPLES/crowd.ours"
	awk '{ sum += $1 } END { print sum / NR }' "$SCRATCH"/crowd.* >"$SAMPLES/crowd.git"
}

rows_lock() {
	row "$LOCK_PROCESSES processes, worst save: the average" "$(cut -d' ' -f1 "$SAMPLES/crowd.ours")" \
		"$(cut -d' ' -f1 "$SAMPLES/crowd.git")" 3.0 2.0 '%.3f s' 1
}
