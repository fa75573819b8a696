#!/bin/sh
# SPDX-License-Identifier: MIT
#
# large.sh <checkpoints> <megabytes> [<seed>]: so many checkpoints in one store, and a tree of that
# size, which does not compress, under a maxSize that has room for it once and a little more.
#
# BUILD_DIR, SOAK_DIR   as for soak.sh

set -u
checkpoints=${1:?usage: large.sh <checkpoints> <megabytes> [<seed>]}
megabytes=${2:?usage: large.sh <checkpoints> <megabytes> [<seed>]}
seed=${3:-$(($(date +%s) % 1000000))}
seconds="$checkpoints $megabytes"
. "$(dirname "$0")/soaklib.sh"
echo "# large: $checkpoints checkpoints, $megabytes MB, seed $seed, in $T"
state=$seed

# note <command>: for what is told at the end
note() {
	echo "$1 -> $2" >>"$T/history.0"
}

# ---- many checkpoints ----

many() {
	mkdir "$T/work/many"
	cd "$T/work/many" || exit 1
	export GIT_CHECKPOINT_MAX_COUNT=$((checkpoints + 10))
	for d in 1 2 3 4 5 6 7 8; do
		mkdir "d$d"
		echo "first $d" >"d$d/file"
	done
	i=0
	while test $i -lt "$checkpoints" && test ! -e "$T/stop"; do
		i=$((i + 1))
		rnd 8
		echo "$i" >"d$((r + 1))/file"
		git-checkpoint save -q -m "number $i" 2>"$T/err" || problem "save $i: $?: $(cat "$T/err")"
	done
	note save 0
	git-checkpoint list --json | jq -r '.checkpoints[].id' >"$T/ids"
	n=$(wc -l <"$T/ids")
	test "$n" = $i || problem "$n of $i checkpoints are listed"
	must git-checkpoint verify --all -q
	for t in 1 2 3; do
		rnd "$i"
		must git-checkpoint restore -q --yes "$(sed -n "$((r + 1))p" "$T/ids")"
		want=$((i - r))
		grep -qx "$want" d*/file || problem "number $want came back without its file"
		must git-checkpoint undo -q --yes
		note restore 0
	done
	must git-checkpoint prune -q --max-count 50
	# those that restores took for their own safety have a limit of their own
	n=$(git-checkpoint list --json | jq '[.checkpoints[] | select(.automatic | not)] | length')
	# those that undo and redo lead to stay
	test "$n" -le 53 || problem "$n are left of 50"
	must git-checkpoint doctor
	no_litter
}

# ---- a large tree ----

# budget_holds <after what>
budget_holds() {
	used=$(du -sB1 "$store" | cut -f1)
	test "$used" -le "$budget" || problem "$1: $used bytes, of $budget"
}

large() {
	need=$((megabytes * 3))
	free=$(($(df -Pk "$T" | awk 'END { print $4 }') / 1024))
	if test "$free" -lt "$need"; then
		echo "# the large tree is left out: $need MB are needed, $free MB are free"
		return
	fi
	mkdir "$T/work/large"
	cd "$T/work/large" || exit 1
	files=16
	piece=$((megabytes * 1048576 / files))
	for f in $(seq $files); do
		noise $piece >"f$f"
	done
	# half of it is not enough, and that is said before anything is there
	GIT_CHECKPOINT_MAX_SIZE=$((megabytes / 2))m git-checkpoint save -q 2>"$T/err"
	status=$?
	note save $status
	{ test $status = 128 && grep -q 'does not fit' "$T/err"; } ||
		problem "half of the room: $status: $(cat "$T/err")"
	budget=$(((megabytes + megabytes / 4 + 2) * 1048576))
	export GIT_CHECKPOINT_MAX_SIZE=$budget
	must git-checkpoint save -q -m whole
	store=$(dirname "$(grep -lx "$PWD" "$T"/stores/*/checkpoint/worktree)")
	store=${store%/checkpoint}
	budget_holds 'the first save'
	for t in 1 2 3 4 5 6; do
		rnd $files
		noise $piece >"f$((r + 1))"
		"$root/tests/lib/fingerprint.pl" . >"$T/print"
		must git-checkpoint save -q -m "number $t"
		budget_holds "save $t"
		note save 0
	done
	rm f1
	# The room is for one state, so the state before has to be let go on the way.
	must git-checkpoint restore -q --yes @
	"$root/tests/lib/fingerprint.pl" . >"$T/now"
	cmp -s "$T/print" "$T/now" || problem 'the large tree came back wrong'
	budget_holds 'the restore'
	must git-checkpoint verify --all -q
	must git-checkpoint gc -q
	budget_holds 'gc'
	must git-checkpoint doctor
	no_litter
}

many
large
tell
