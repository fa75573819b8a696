#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fuzz.sh <build directory> <seconds for each> <target>...: run libFuzzer over the targets. Inputs
# that are worth keeping stay in <build directory>/corpus, so that the next run goes on from there;
# those that fail in <build directory>/found. Ends with a line for each target.

set -u
out=$1 seconds=$2
shift 2
cd "$(dirname "$0")/../.." || exit 1
jobs=$(nproc 2>/dev/null || echo 1)
mkdir -p "$out/corpus" "$out/found" "$out/logs" || exit 1
# In memory, where that can be had; a target that fails does not tidy up.
FUZZ_SCRATCH=$(mktemp -d /dev/shm/fuzz.XXXXXX 2>/dev/null || mktemp -d) || exit 1
trap 'rm -rf "$FUZZ_SCRATCH"' EXIT
trap 'exit 1' HUP INT TERM
export FUZZ_SCRATCH
UBSAN_OPTIONS=print_stacktrace=1
ASAN_OPTIONS=detect_leaks=1
export UBSAN_OPTIONS ASAN_OPTIONS

one() {
	mkdir -p "$out/corpus/$1" "$out/found/$1"
	"$out/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-max_len=8192 -print_final_stats=1 -artifact_prefix="$out/found/$1/" \
		"$out/corpus/$1" "tests/fuzz/corpus/$1" >"$out/logs/$1" 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$out/logs/$1")
	if test $status = 0; then
		printf '%-14s %s inputs\n' "$1" "${runs:-?}"
	else
		printf '%-14s FAILED: see %s\n' "$1" "$out/logs/$1"
		grep -e '^SUMMARY' -e 'runtime error' -e '^tests/fuzz/' -e 'Test unit written' "$out/logs/$1" |
			head -n 5 | sed 's/^/    /'
		: >>"$out/failed"
	fi
}

rm -f "$out/failed"
running=0
for target; do
	one "$target" &
	running=$((running + 1))
	if test $running -ge "$jobs"; then
		wait
		running=0
	fi
done
wait
if test -e "$out/failed"; then
	exit 1
fi
