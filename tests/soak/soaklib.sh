# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # by and of who sources it
#
# What the soaks share: a place of their own, chance from a seed, and what is told at the end.
# $seed is set; $T, $root and BUILD_DIR are afterwards, and the current directory is an empty worktree.

root=$(cd "$(dirname "$0")/../.." && pwd -P)
BUILD_DIR=$(cd "${BUILD_DIR:-$root/build}" && pwd -P) || exit 1
ASAN_OPTIONS=${ASAN_OPTIONS:-exitcode=99:detect_leaks=1}
LSAN_OPTIONS=${LSAN_OPTIONS:-exitcode=99}
UBSAN_OPTIONS=${UBSAN_OPTIONS:-exitcode=99:print_stacktrace=1}
export ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS

for name in $(env | sed -n 's/^\(\(GIT\|XDG\|FAULT\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
	unset "$name"
done
if test -n "${SOAK_DIR:-}"; then
	T=$SOAK_DIR
	mkdir "$T" || exit 1
else
	T=$(mktemp -d "${TMPDIR:-/tmp}/git-checkpoint-soak.XXXXXX") || exit 1
fi
T=$(cd "$T" && pwd -P)
export TZ=UTC LC_ALL=C PATH="$BUILD_DIR:$PATH" HOME="$T/home" GIT_CONFIG_NOSYSTEM=1 \
	GIT_CONFIG_GLOBAL="$T/home/.gitconfig" GIT_CHECKPOINT_HOME="$T/stores" \
	XDG_CONFIG_HOME="$T/home" GIT_CHECKPOINT_LOCK_TIMEOUT=120s T TEST_SEED="$seed"
mkdir "$T/home" "$T/work"
touch "$GIT_CONFIG_GLOBAL"
cd "$T/work" || exit 1
trap 'touch "$T/stop"' INT TERM

# problem <text>: note it; the end will tell
problem() {
	echo "$*" >>"$T/problems"
}

# rnd <below>: the next number, in $r
rnd() {
	state=$(((state * 1103515245 + 12345) & 0x7fffffff))
	r=$(((state >> 8) % $1))
}

# must <command>...: 0, or it is a problem
must() {
	"$@" >"$T/out" 2>"$T/err" || problem "$*: $?: $(head -c 3000 "$T/out" "$T/err")"
}

# no_litter: neither in the stores nor in the worktree
no_litter() {
	litter=$(find "$T/stores" -name 'tmp_*' -o -path '*/checkpoint/gc' -o -name '*.replaced-*' -o \
		-name '*.lock' ! -name gc.lock)
	test -z "$litter" || problem "litter in the store: $litter"
	litter=$(find . -maxdepth 1 -name '.git-checkpoint*')
	test -z "$litter" || problem "litter in the worktree: $litter"
}

# tell: what was done, and what is wrong
tell() {
	cat "$T"/history.* | sed 's/^[0-9]* [0-9]*: //; s/^\([a-z]*\).* -> /\1 /' | sort | uniq -c |
		awk '{ printf "%s %s×%s", (NR > 1 ? "," : "# commands (status):"), $2 " " $3, $1 } END { print "" }'
	if test -e "$T/problems"; then
		sed 's/^/# /' "$T/problems"
		echo "# again: $0 $seconds $seed; all is left in $T"
		exit 1
	fi
	test -n "${SOAK_DIR:-}" || { chmod -R u+rwx "$T"; rm -rf "$T"; }
	echo '# nothing is wrong'
}
