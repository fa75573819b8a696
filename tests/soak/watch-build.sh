#!/bin/sh
# SPDX-License-Identifier: MIT
#
# watch-build.sh <seconds> [<seed>]: a watcher while a project of 300 files is edited and compiled
# again and again. Its memory and descriptors are the same at the end as after a tenth of the time,
# and each edit is in a checkpoint that was taken within watchMax; what it cost is told.
#
# BUILD_DIR    where the program is
# WATCH_SLACK  seconds that a save may take longer than watchMax, on a busy machine: 10 if not set
# SOAK_DIR     work there (it must not exist yet), and leave it

set -u
seconds=${1:?usage: watch-build.sh <seconds> [<seed>]}
seed=${2:-$(($(date +%s) % 1000000))}
slack=${WATCH_SLACK:-10}
max=5
. "$(dirname "$0")/soaklib.sh"
echo "# watch-build: $seconds s, seed $seed, in $T"
state=$seed
command -v cc >/dev/null && command -v make >/dev/null || {
	echo '# needs cc and make'
	exit 1
}
WATCHER=
trap 'test -z "$WATCHER" || kill "$WATCHER" 2>/dev/null' EXIT

# ---- the project ----

# Recipes of one line, so that this file needs no tabs in them.
make_project() {
	git init -q
	git config user.name t
	git config user.email t@example.com
	mkdir include
	echo 'int base(int);' >include/base.h
	for i in $(seq 300); do
		dir=src/part$((i % 20))
		mkdir -p "$dir"
		printf '#include "base.h"\nint f%d(int x) { return x * %d; }\n' "$i" "$i" >"$dir/f$i.c"
	done
	cat >Makefile <<-'END'
	src := $(wildcard src/*/*.c)
	obj := $(src:src/%.c=build/%.o)
	prog: $(obj) ; ar rcs build/all.a $(obj) && cp build/all.a prog
	build/%.o: src/%.c include/base.h ; @mkdir -p $(@D) && cc -Iinclude -c -o $@ $<
	END
	echo /prog >.gitignore
	git add .
	git commit -q -m first
}

# A file keeps all its edits, so that each can be found even if the next one comes at once.
edits=0
edit() {
	edits=$((edits + 1))
	rnd 300
	file=$(echo src/*/f$((r + 1)).c)
	rnd 3
	case $r in
	0) echo "/* edit $edits */" >>"$file" ;;
	*)
		{ cat "$file" && echo "/* edit $edits */"; } >"$file~"
		mv "$file~" "$file"
		;;
	esac
	echo "$edits $(date +%s) $file" >>"$T/edits"
}

# ---- the watcher ----

# sample: seconds since the beginning, memory in kB, descriptors, its own time and that of its saves
ticks=$(getconf CLK_TCK)
sample() {
	stat=$(cat "/proc/$WATCHER/stat" 2>/dev/null) || {
		problem "the watcher ended: $(cat "$T/watch.log")"
		return 1
	}
	# shellcheck disable=SC2086 # words: those after the name
	set -- ${stat##*) }
	echo "$(($(date +%s) - began)) $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$WATCHER/status")" \
		"$(find "/proc/$WATCHER/fd" -mindepth 1 | wc -l) $((${12} + ${13})) $((${14} + ${15}))" >>"$T/samples"
}

start_watcher() {
	# everything is kept, to be searched
	git-checkpoint config -q maxAutomatic none
	git-checkpoint config -q thinAutomatic none
	git-checkpoint config -q watchQuiet 1s
	git-checkpoint config -q watchMax ${max}s
	git-checkpoint watch run >"$T/watch.log" 2>&1 &
	WATCHER=$!
	left=600
	until git-checkpoint watch status --json | grep -q '"state":"watched"'; do
		left=$((left - 1))
		test $left -gt 0 || { problem 'the watcher does not watch'; return 1; }
		sleep 0.1
	done
}

one_build() {
	rnd 5
	for _ in $(seq $((r + 1))); do
		edit
	done
	rnd 40
	case $r in
	0) echo "/* $edits */" >>include/base.h ;;
	1) rm -rf build prog ;;
	2) git add -A src && git commit -q -m "$edits" ;;
	esac
	make -s >"$T/out" 2>&1
	status=$?
	echo "$(date +%s) 0: make -> $status" >>"$T/history.0"
	test $status = 0 || problem "make: $(tail -n 3 "$T/out")"
}

# ---- what must be true of it ----

# first_seen: the edits in each checkpoint that are in none before it, as "<edit> <time>"
first_seen() {
	store=$(git-checkpoint status --json | sed -n 's/.*"store":"\([^"]*\)".*/\1/p')
	before=$(git --git-dir="$store" hash-object -t tree --stdin </dev/null)
	git --git-dir="$store" for-each-ref --sort=refname --format='%(objectname) %(committerdate:unix)' refs/checkpoints |
		while read -r commit when; do
			git --git-dir="$store" diff-tree -r -p -U0 "$before" "$commit" -- src |
				sed -n "s|^+/. edit \([0-9]*\) ./.*|\1 $when|p"
			before=$commit
		done
}

check_edits() {
	first_seen >"$T/seen"
	missed=$(awk -v limit=$((max + slack)) '
		NR == FNR { if (!($1 in seen)) seen[$1] = $2; next }
		!($1 in seen) { print "edit " $1 " of " $3 " is in no checkpoint"; next }
		seen[$1] - $2 > limit { print "edit " $1 " of " $3 " was saved after " seen[$1] - $2 " seconds" }
		seen[$1] - $2 > longest { longest = seen[$1] - $2 }
		END { print longest + 0 >"/dev/stderr" }' "$T/seen" "$T/edits" 2>"$T/longest")
	test -z "$missed" || problem "$missed"
}

# Memory may grow by a fifth and a megabyte, descriptors by the few of a save.
check_samples() {
	awk -v total="$seconds" -v ticks="$ticks" '
		!early && $1 >= total / 10 { early = $2; early_fds = $3 }
		{ last = $2; fds = $3; own = $4; saves = $5; time = $1 }
		END {
			if (!early) { early = last; early_fds = fds }
			printf "# memory: %d kB at 10 %%, %d kB at 100 %%; descriptors: %d, %d\n", early, last, early_fds, fds
			printf "# processor time: %.2f s, %.2f %% of one; with its saves %.2f %%\n", own / ticks, \
				100 * own / ticks / time, 100 * (own + saves) / ticks / time
			exit last > early * 1.2 + 1024 || fds > early_fds + 4
		}' "$T/samples" || problem 'memory or descriptors grew'
}

make_project
git-checkpoint watch add -q || exit 1
start_watcher
began=$(date +%s)
builds=0
while test $(($(date +%s) - began)) -lt "$seconds" && test ! -e "$T/stop"; do
	one_build
	builds=$((builds + 1))
	sample || break
done
# The last edits: nothing else happens, and they are saved all the same.
sleep $((max + slack))
sample
check_samples
check_edits
must git-checkpoint verify -q --all
kill "$WATCHER" && wait "$WATCHER"
WATCHER=
echo "# $builds builds, $edits edits, $(git-checkpoint list --json -n 100000 | grep -o '"source":"watch"' | wc -l) checkpoints;" \
	"the longest time until an edit was saved: $(cat "$T/longest") s"
tell
