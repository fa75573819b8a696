#!/bin/sh
# SPDX-License-Identifier: MIT
#
# trouble.sh <seconds> [<seed>]: one process, random commands, each with something wrong: no memory,
# few descriptors, a limit on file sizes, a small stack, a clock that jumps, and now and then kill.
# A command may fail, with a sentence; but what it has acknowledged is there, sound, and comes back.
#
# BUILD_DIR, SOAK_DIR   as for soak.sh
#
# The seed decides everything.

set -u
seconds=${1:?usage: trouble.sh <seconds> [<seed>]}
seed=${2:-$(($(date +%s) % 1000000))}
. "$(dirname "$0")/soaklib.sh"
echo "# trouble: $seconds s, seed $seed, in $T"
state=$seed
faketime=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null | head -n 1)

# ---- one command with something wrong ----

# wrong: what is wrong this time, in $how and $with
wrong() {
	how=nothing with=
	rnd 12
	case $r in
	0 | 1)
		rnd 8000
		how="no memory at allocation $((r + 1))"
		with="env LD_PRELOAD=$BUILD_DIR/faultmem.so FAULT_MALLOC_AT=$((r + 1))"
		rnd 2
		with="$with FAULT_MALLOC_STICKY=$r"
		;;
	2)
		rnd 60
		how="$((20 + r * 4)) MB of memory"
		with="prlimit --as=$(((20 + r * 4) * 1048576))"
		;;
	3 | 4)
		rnd 20
		how="$((r + 3)) descriptors"
		with="prlimit --nofile=$((r + 3))"
		;;
	5 | 6)
		rnd 200
		how="files of at most $((r * 256)) bytes"
		with="prlimit --fsize=$((r * 256))"
		;;
	7)
		rnd 16
		how="a stack of $((64 + r * 16)) kB"
		with="prlimit --stack=$(((64 + r * 16) * 1024))"
		;;
	8 | 9)
		test -n "$faketime" || return
		rnd 4000
		how="a clock that is $((r - 2000)) days off"
		with="env LD_PRELOAD=$faketime FAKETIME=$(printf %+dd $((r - 2000)))"
		;;
	esac
}

# attempt <command>...: 0 if it was done
attempt() {
	wrong
	rnd 100
	killed=$r
	# shellcheck disable=SC2086 # a command with its arguments
	if test "$killed" -lt 10; then
		$with git-checkpoint "$@" >"$T/out" 2>"$T/err" </dev/null &
		child=$!
		rnd 90
		sleep "0.0$((r + 10))"
		kill -9 $child 2>/dev/null
		wait $child 2>/dev/null
	else
		$with git-checkpoint "$@" >"$T/out" 2>"$T/err" </dev/null
	fi
	status=$?
	# with --json all that is said is in the answer
	case " $* " in
	*' --json '*) grep '"error":' "$T/out" >>"$T/err" ;;
	esac
	echo "$*, $how -> $status" >>"$T/history.0"
	case $status in
	0 | 1 | 3 | 4 | 5 | 75) ;;
	# which is a file, too
	128) test -s "$T/err" || test "$how" = 'files of at most 0 bytes' ||
		problem "no word: $*, $how" ;;
	137) test "$killed" -lt 10 || problem "killed by nobody: $*, $how" ;;
	# libgit2 makes patches, and may end so where memory is lacking
	134 | 139) case "$*:$how" in diff*memory* | *--patch*memory*) ;; *) problem "$status: $*, $how" ;; esac ;;
	# the loader itself has no memory or descriptors, or the kernel no room for the stack
	127 | 126) grep -q 'error while loading shared libraries\|cannot\|prlimit' "$T/err" ||
		problem "$status: $*, $how: $(head -c 1000 "$T/err")" ;;
	*) problem "$status: $*, $how: $(head -c 1000 "$T/err")" ;;
	esac
	if grep -i 'damage\|corrupt' "$T/err" >/dev/null; then
		problem "$status: $*, $how: $(head -c 1000 "$T/err")"
	fi
	return $status
}

# ---- what has been acknowledged ----

# save: with a name in the reason, and what the tree was
save() {
	count=$((count + 1))
	if attempt save --json -m "number $count"; then
		id=$(jq -r '.checkpoint.id' "$T/out")
		"$root/tests/lib/fingerprint.pl" . >"$T/prints/$id"
	fi
}

# Both what was and what comes back are looked at without anything wrong.
bring_back() {
	settle
	id=$(ls "$T/prints" | sed -n "$(($1 + 1))p")
	test -n "$id" || return
	git-checkpoint restore -q --yes "$id" >"$T/out" 2>"$T/err" ||
		problem "restore of $id: $?: $(cat "$T/err")"
	"$root/tests/lib/fingerprint.pl" . >"$T/now.print"
	cmp -s "$T/prints/$id" "$T/now.print" ||
		problem "$id came back wrong: $(diff "$T/prints/$id" "$T/now.print" | head -n 20)"
}

# A restore that was interrupted is finished.
settle() {
	test -e "$store/checkpoint/journal" || return 0
	status=0
	git-checkpoint restore -q --continue >"$T/out" 2>"$T/err" || status=$?
	test $status = 0 || test $status = 3 || problem "continuing a restore: $status: $(cat "$T/err")"
}

edit() {
	rnd 8
	dir=dir$r
	mkdir -p "$dir"
	rnd 6
	case $r in
	0) rm -rf "$dir" ;;
	1) rnd 200 && noise $((r * 500)) >"$dir/random" ;;
	2) rnd 3000 && seq "$r" 3000 >"$dir/text" ;;
	3) ln -sfn "to $count" "$dir/link" ;;
	*) echo "$count" >"$dir/file$r" ;;
	esac
}

one() {
	edit
	rnd 14
	case $r in
	0 | 1 | 2 | 3) save ;;
	4) attempt list ;;
	5) attempt status ;;
	6) attempt diff ;;
	7) attempt verify --all ;;
	8) attempt gc -q ;;
	9)
		id=$(ls "$T/prints" | sed -n 1p)
		test -z "$id" || attempt restore -q --yes "$id"
		settle
		;;
	10)
		attempt undo -q --yes
		settle
		;;
	11) attempt doctor --fix ;;
	12) attempt show --patch @ ;;
	13)
		n=$(ls "$T/prints" | wc -l)
		test "$n" = 0 || { rnd "$n" && bring_back "$r"; }
		;;
	esac
}

mkdir "$T/prints"
export GIT_CHECKPOINT_MAX_COUNT=100000
count=0
mkdir dir0
echo 0 >dir0/file0
git-checkpoint save -q || exit 1
store=$(find "$T/stores" -mindepth 1 -maxdepth 1 -type d | head -n 1)
end=$(($(date +%s) + seconds))
while test "$(date +%s)" -lt "$end" && test ! -e "$T/stop"; do
	one
done
settle
must git-checkpoint doctor --fix
must git-checkpoint verify --all
git-checkpoint list --json | jq -r '.checkpoints[].id' >"$T/listed"
for print in "$T/prints"/*; do
	id=${print##*/}
	grep -qx "$id" "$T/listed" || problem "$id was acknowledged and is gone"
done
n=$(ls "$T/prints" | wc -l)
if test "$n" != 0; then
	rnd "$n" && bring_back "$r"
	rnd "$n" && bring_back "$r"
fi
no_litter
tell
