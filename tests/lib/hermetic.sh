#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hermetic.sh <command>...: runs a test in an environment made from scratch
#
# The test sees the program of BUILD_DIR and the tools of the system, nothing else: no other
# git-checkpoint, wherever it is installed, and neither home, configuration nor locale of the
# caller. Signals that the caller ignores, as everything does that a shell starts in the background,
# end the test as usual. These variables are passed on:
#
# BUILD_DIR        where the program is (build)
# TEST_GIT         a directory with another git, to be used instead of the system's
# TEST_SEED        the seed of random choices; chosen, and printed, if not set
# TEST_* CKPT_TEST_* SOAK_* RANDOM_* WATCH_* CRASH_* FUZZ_* *SAN_OPTIONS CMOCKA_MESSAGE_OUTPUT TMPDIR

root=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
BUILD_DIR=$(cd "${BUILD_DIR:-$root/build}" 2>/dev/null && pwd -P) || {
	echo 'Bail out! Nothing is built: run make check'
	exit 1
}
system='/usr/bin /bin /usr/sbin /sbin'

# link_tools <dir>: links to all programs of the system but ours
link_tools() {
	mkdir "$1" || return
	for dir in $system; do
		# a link to a directory that was already taken
		test ! -L "$dir" || continue
		find "$dir/" -maxdepth 1 ! -type d ! -name 'git-checkpoint*' -exec ln -s -t "$1" {} + 2>/dev/null
	done
	test -e "$1/sh"
}

# A directory for each state of the system's own, as packages come and go.
# shellcheck disable=SC2086 # words
tools=$BUILD_DIR/tools-$(stat -L -c '%n %Y' $system 2>/dev/null | cksum | cut -d' ' -f1)
if test ! -e "$tools"; then
	made=$(mktemp -d "$BUILD_DIR/tools.XXXXXX") && link_tools "$made/tools" || {
		echo 'Bail out! No directory of tools can be made'
		exit 1
	}
	# unless another process was faster
	mv -T "$made/tools" "$tools" 2>/dev/null
	rm -rf "$made"
fi

program=$1
TEST_SEED=${TEST_SEED:-$(date +%s)}
TEST_HERMETIC=$BUILD_DIR
set -- TEST_SEED="$TEST_SEED" TEST_HERMETIC="$TEST_HERMETIC" BUILD_DIR="$BUILD_DIR" \
	PATH="$BUILD_DIR:${TEST_GIT:+$TEST_GIT:}$tools" HOME=/nonexistent SHELL=/bin/sh TERM=dumb TZ=UTC LC_ALL=C \
	GIT_CONFIG_NOSYSTEM=1 "$@"
for name in $(env | sed -n 's/^\([A-Z_]*\)=.*/\1/p'); do
	case $name in
	TEST_SEED | TEST_HERMETIC) ;;
	TEST_* | CKPT_TEST_* | SOAK_* | RANDOM_* | TWIN_* | WATCH_* | CRASH_* | FUZZ_* | *SAN_OPTIONS | CMOCKA_MESSAGE_OUTPUT | GCOV_ERROR_FILE | TMPDIR)
		eval "set -- $name=\"\$$name\" \"\$@\""
		;;
	esac
done
umask 022
case $program in
*/tests/unit/*) ;;
*) exec env --default-signal -i "$@" ;;
esac
# cmocka calls what it skips "not ok", which is a failure for prove. The status comes through 4.
exec 3>&1
status=$({
	{
		env --default-signal -i "$@" 3>&- 4>&-
		echo $? >&4
	} | sed -u 's/^not ok \([0-9]*\) # SKIP/ok \1 # SKIP/' >&3
} 4>&1)
exit "$status"
