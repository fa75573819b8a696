#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-state.sh <phase> <state> [again]: whether what a power cut left in $R is what was promised.
# See crash.sh. Exits with 10 to see the same state again: an interrupted restore has two ways on.

. "$CRASH_DIR/crash.sh"

phase=$S/$1 state=$2 again=${3:-}
kind=$(cat "$phase/kind")
more=0

bad() {
	echo "$*"
	exit 1
}

# run <command>...: has to work
run() {
	"$@" >"$S/out" 2>&1 || {
		status=$?
		cat "$S/out"
		bad "exit status $status: $*"
	}
}

# files <look>: what a checkpoint holds of it; the copy of a workflow (here/) is the store's
files() {
	grep -v ' \.git$\| \.git/\| here\| \.git-checkpoint-restore-' "$1"
}

cd "$R/work" || bad 'the worktree is gone'
look >"$S/now" || bad 'the worktree cannot be read'

# No file of the user's is anything but old or new. Ours are in a directory of their own; a
# directory may be open to its owner for a while.
grep -v '^d \|\.git-checkpoint-restore-\|/tmp_ckpt_\| \.git/git-checkpoint/\| \.git/config\.\(lock\|checkpoint\)$' "$S/now" |
	grep -vxF -f "$phase/old" -f "$phase/new" >"$S/half" && {
	cat "$S/half"
	bad 'neither old nor new'
}

# settled <look>...: what is in the worktree now is one of these
settled() {
	look >"$S/settled"
	for want; do
		! cmp -s "$want" "$S/settled" || return 0
	done
	diff "$1" "$S/settled" | head -n 30
	return 1
}

back=$phase/old on=$phase/new
test ! -e "$phase/back" || back=$phase/back
test ! -e "$phase/on" || on=$phase/on
store=$(the_store)

if test "$kind" = relink; then
	sh -c "$(cat "$phase/command")" >"$S/out" 2>&1 || test -e "$store" || {
		cat "$S/out"
		bad 'the same command does not finish it'
	}
fi
run git-checkpoint status
if test -e "$store/checkpoint/journal"; then
	if test -z "$again"; then
		more=10
		run git-checkpoint restore --continue
		settled "$on" || bad 'not what --continue promises'
	else
		run git-checkpoint restore --abort
		settled "$back" || bad 'not what --abort promises'
	fi
	back=$S/settled on=$S/settled
fi
case $kind in
edit)
	run sh -c "$(cat "$phase/command")"
	settled "$phase/new" || bad 'the same command does not finish it'
	;;
flow)
	git-checkpoint flow status --json >"$S/out" 2>&1
	cmp -s "$S/out" "$phase/flow-old" || cmp -s "$S/out" "$phase/flow-new" || {
		cat "$S/out"
		bad 'the workflow is neither before the command nor after it'
	}
	# What it left beside the copy goes, also if it is refused now.
	sh -c "$(cat "$phase/command")" >"$S/out" 2>&1
	;;
esac

# Also sweeps what was never begun.
cp "$S/settled" "$S/was" 2>/dev/null
run git-checkpoint save -q
case $kind in
edit | flow) look >"$S/settled" ;;
*)
	test "$back" != "$S/settled" || back=$S/was on=$S/was
	settled "$back" "$on" || bad 'neither the old state nor the new one, and nothing says so'
	;;
esac
if grep '\.git-checkpoint-restore-\|/tmp_ckpt_' "$S/settled"; then
	bad 'something of ours is left in the worktree'
fi

run git-checkpoint verify --all --json
while read -r id file; do
	grep -q "\"$id\"" "$S/out" || bad "checkpoint '$id' is lost"
done <"$phase/acked"

# A restore keeps settings that have our own entry.
but_for_own() {
	if grep -q 'git-checkpoint agent-hook' .claude/settings.json 2>/dev/null; then
		grep -v ' \.claude/settings\.json$'
	else
		cat
	fi
}

# try <id> <look>: it has to come back
try() {
	test "$2" != - || return 0
	run git-checkpoint restore --yes --force "$1"
	look >"$S/settled"
	files "$2" | but_for_own >"$S/want"
	files "$S/settled" | but_for_own | diff "$S/want" - || bad "checkpoint '$1' does not come back"
}
# One of them, another for each state.
nr=$(wc -l <"$phase/acked")
if test "$nr" -gt 0; then
	pick=$(($(echo "$state" | tr -dc 0-9 | tail -c 4 | sed 's/^0*//;s/^$/0/') % nr + 1))
	while read -r id file; do
		pick=$((pick - 1))
		if test $pick = 0 || test -n "${CRASH_ALL:-}"; then
			try "$id" "$file"
		fi
	done <"$phase/acked"
fi

if test -n "${CRASH_ALL:-}"; then
	run git --git-dir="$store" fsck --strict
	run git-checkpoint doctor --fix
	run git-checkpoint doctor
fi
exit $more
