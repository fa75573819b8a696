#!/bin/sh
# SPDX-License-Identifier: MIT
#
# soak.sh <seconds> [<seed>]: random commands from several processes in one worktree, which is
# edited at the same time; every now and then one is killed. For the last quarter of the time
# nobody edits: then an edit is no longer an excuse. Afterwards nothing may be wrong.
#
# BUILD_DIR       where the program is
# SOAK_PROCESSES  how many at a time, 4 if not set
# SOAK_DIR        work there (it must not exist yet), and leave it
#
# The seed decides what each process does in which order; how they meet does not depend on it.

set -u
seconds=${1:?usage: soak.sh <seconds> [<seed>]}
seed=${2:-$(($(date +%s) % 1000000))}
processes=${SOAK_PROCESSES:-4}
. "$(dirname "$0")/soaklib.sh"
export GIT_CHECKPOINT_MAX_SIZE=1200k
echo "# soak: $seconds s, seed $seed, $processes processes, in $T"

# ---- one process ----

# a directory was removed while a restore was writing into it
vanished='stopped halfway.*unable to reach .*No such file'

# explicable <command> <status>: with its stderr in $err. What another process did meanwhile may be
# the reason; damage, a crash or a sanitizer's report never is.
explicable() {
	# without anybody who edits, each restore comes out right
	if test "$editing" = 0 && { test "$2" = 4 || grep -q "$vanished" "$err"; }; then
		return 1
	fi
	case $1:$2 in
	*:0 | *:137) return 0 ;;
	# a file came or went while it was read
	save:3 | restore:3 | undo:3 | redo:3 | continue:3 | abort:3) return 0 ;;
	# the path was removed, the checkpoint dropped meanwhile; others have pinned too much
	save:128) grep -q 'does not exist\|no such\|No such\|does not fit' "$err" ;;
	show:128 | diff:128 | verify:128 | pin:128 | unpin:128 | drop:128 | restore:128)
		grep -q 'no checkpoint\|not found\|past the oldest\|dropped by another process\|just dropped\|is gone\|in the scope\|neither'"\|$vanished" "$err" ;;
	# nothing to undo, nothing interrupted
	undo:1 | redo:1 | continue:1 | abort:1 | quiet:1) return 0 ;;
	# others edit the same files while they are restored
	restore:4 | undo:4 | redo:4 | continue:4 | abort:4) return 0 ;;
	undo:128 | redo:128 | continue:128 | abort:128)
		grep -q "another process\|no checkpoint\|changed\|$vanished" "$err" ;;
	restore:5 | undo:5 | redo:5 | continue:5 | abort:5) return 0 ;;
	# pinned; needed by an interrupted restore
	drop:5) return 0 ;;
	gc:75) return 0 ;;
	*) return 1 ;;
	esac
}

# try <command> <argument>...: one command, killed now and then; its kind decides what it may answer
try() {
	kind=$1
	shift
	rnd 100
	if test "$r" -lt 12; then
		git-checkpoint "$@" >"$out" 2>"$err" </dev/null &
		child=$!
		rnd 90
		sleep "0.0$((r + 10))"
		kill -9 $child 2>/dev/null
		wait $child 2>/dev/null
		status=$?
	else
		git-checkpoint "$@" >"$out" 2>"$err" </dev/null
		status=$?
	fi
	echo "$(date +%s) $worker: $* -> $status" >>"$T/history.$worker"
	explicable "$kind" $status || problem "$worker: git-checkpoint $*: $status: $(head -c 2000 "$err")"
	# a reader must not take for damage what is only being replaced
	if grep -i 'damage\|corrupt\|sanitizer\|runtime error' "$err" >/dev/null; then
		problem "$worker: git-checkpoint $*: $status: $(head -c 2000 "$err")"
	fi
}

# some_id: any checkpoint but the one that must stay, in $id; if there is none, one that never was
some_id() {
	id=chk_20000101_000000_000000
	git-checkpoint list --json 2>/dev/null | sed 's/"id":"/\n/g' |
		sed -n 's/^\(chk_[0-9_a-f]*\)".*/\1/p' | grep -v "$known" >"$ids"
	n=$(wc -l <"$ids")
	test "$n" -gt 0 || return
	rnd "$n"
	id=$(sed -n "$((r + 1))p" "$ids")
}

edit() {
	rnd 6
	dir=dir$r
	mkdir -p "$dir" "own$worker" 2>/dev/null
	rnd 8
	case $r in
	0) rm -rf "$dir" ;;
	1) rnd 5 && ln -sfn "target $r" "$dir/link" ;;
	2) rnd 40 && noise $((r * 1000)) >"$dir/random" ;;
	3) rnd 3000 && seq "$r" 3000 >"$dir/text" ;;
	4) rnd 3 && chmod "$((r + 4))44" "$dir/text" ;;
	5) mkdir -p "$dir/a/b/empty" ;;
	*) rnd 1000 && echo "$r" >"own$worker/file" ;;
	esac 2>/dev/null
}

one_command() {
	some_id
	rnd 40
	case $r in
	0 | 1 | 2 | 3 | 4 | 5 | 6) try save save -q -m "from $worker" ;;
	7 | 8 | 9) try save save -q -m "own $worker" -- "own$worker" ;;
	10) try save save -q --allow-empty --expires 1s ;;
	11 | 12) try list list ;;
	13 | 14) try show show --stat "$id" ;;
	15) try show show --hashes "$id" ;;
	16) try diff diff --name-status "$id" ;;
	17) try quiet diff --quiet ;;
	18 | 19) try status status ;;
	20) try log log -n 5 ;;
	21 | 22) try restore restore -q --yes --force "$id" ;;
	23 | 24) try restore restore -q --yes --force "$id" -- "own$worker" ;;
	25) try restore restore -n "$id" ;;
	26 | 27) try undo undo -q --yes ;;
	28) try redo redo -q --yes ;;
	29) try pin pin -q "$id" ;;
	30 | 31) try unpin unpin -q "$id" ;;
	32 | 33) try drop drop -q "$id" ;;
	34) try prune prune -q --max-count 12 ;;
	35) try prune prune -q --expired ;;
	36) try gc gc -q ;;
	37) verify_one ;;
	38) try continue restore -q --continue ;;
	*) try abort restore -q --abort ;;
	esac
}

# One that is dropped while it is read may well miss something.
verify_one() {
	git-checkpoint verify "$id" >"$out" 2>"$err"
	status=$?
	case $status in
	0 | 128) ;;
	*) test ! -e "$store/refs/checkpoints/$id" || problem "verify $id: $status: $(cat "$out" "$err")" ;;
	esac
}

# work <number>: until the time is up
work() {
	worker=$1
	state=$((seed * 31 + worker * 7919 + editing))
	out=$T/out.$worker err=$T/err.$worker ids=$T/ids.$worker
	while test "$(date +%s)" -lt "$end" && ! test -e "$T/stop"; do
		test $editing = 0 || edit
		one_command
	done
}

# all_work <seconds>: all processes
all_work() {
	end=$(($(date +%s) + $1))
	p=0
	while test $p -lt "$processes"; do
		p=$((p + 1))
		work $p &
	done
	wait
}

# ---- the whole ----

for d in 0 1 2 3 4 5; do
	mkdir -p "dir$d/sub"
	seq $d 500 >"dir$d/text"
	echo $d >"dir$d/sub/odd 	name"
done
printf 'x\ny' >"$(printf 'new\nline')"
chmod 600 dir1/text
mkdir -p empty/dir
"$root/tests/lib/fingerprint.pl" . >"$T/known.print"
git-checkpoint save -q --pin -m known || exit 1
store=$(find "$T/stores" -mindepth 1 -maxdepth 1 -type d | head -n 1)
known=$(git-checkpoint list --json | sed 's/.*"id":"\(chk_[0-9_a-f]*\)".*/\1/')
editing=1
all_work $((seconds - seconds / 4))
editing=0
all_work $((seconds / 4))

# ---- and then all must be well ----

# whatever is pinned
unset GIT_CHECKPOINT_MAX_SIZE

if test -e "$store/checkpoint/journal"; then
	status=0
	git-checkpoint restore -q --continue >"$T/out" 2>"$T/err" || status=$?
	if test -e "$store/checkpoint/journal"; then
		status=0
		git-checkpoint restore -q --abort >>"$T/out" 2>>"$T/err" || status=$?
	fi
	test $status = 0 || test $status = 3 || problem "settling the restore: $status: $(cat "$T/err")"
	test ! -e "$store/checkpoint/journal" || problem 'the restore cannot be settled'
fi
git-checkpoint save -q --allow-empty -m last >"$T/out" 2>"$T/err" ||
	problem "the last save: $?: $(cat "$T/err")"
must git-checkpoint gc -q
test ! -s "$T/err" || problem "the last gc: $(cat "$T/err")"
must git-checkpoint verify --all
must git-checkpoint doctor
must git --git-dir="$store" fsck --strict --no-dangling
test ! -s "$T/out" && test ! -s "$T/err" || problem "fsck: $(cat "$T/out" "$T/err")"
no_litter
git --git-dir="$store" for-each-ref --format='%(objectname)' refs/checkpoints | cut -c1-8 | sort >"$T/refs"
sed -n 's/^| \([0-9a-f]\{8\}\) | .*/\1/p' "$store/checkpoint-manifest.md" | sort >"$T/rows"
cmp -s "$T/refs" "$T/rows" || problem "manifest and refs differ: $(diff "$T/refs" "$T/rows")"
git-checkpoint restore -q --yes --force "$known" >"$T/out" 2>"$T/err" ||
	problem "restoring the first one: $?: $(cat "$T/err")"
"$root/tests/lib/fingerprint.pl" . >"$T/now.print"
cmp -s "$T/known.print" "$T/now.print" ||
	problem "the first one came back wrong: $(diff "$T/known.print" "$T/now.print")"

tell
