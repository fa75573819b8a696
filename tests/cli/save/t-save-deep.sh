#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Trees of more levels than anybody meant to make: whatever walks them ends, on a small stack, too,
# and says what it left out.

. "$(dirname "$0")/../../lib/harness.sh"

# deep <levels> <text>: directories in each other, a file in the middle and one at the end
deep() {
	perl -e 'my ($levels, $text) = @ARGV;
		sub put { open my $f, ">", "f" or die $!; print $f "$text\n" }
		for (1 .. $levels) {
			mkdir "d"; chdir "d" or die $!;
			put if $_ == 1000 || $_ == $levels;
		}' "$@"
}

# The ways to end without being killed.
survives() {
	status=0
	git-checkpoint "$@" >"$T/out" 2>"$T/err" </dev/null || status=$?
	case $status in
	0 | 1 | 3 | 4 | 5 | 128) ;;
	*) fail "git checkpoint $1 ended with $status" ;;
	esac
}

# look: everything that walks what is there and in checkpoints
look() {
	survives status
	survives diff
	survives diff --stat
	survives diff @~1 @
	survives list --stat
	survives list -- d
	survives show -p @
	survives grep two
	survives hash
	survives log
	survives verify --all
	survives doctor
	survives restore --dry-run @~1
	survives revert --dry-run @
}

# change: everything that writes, over as many levels as a checkpoint may have
change() {
	rm -r d
	survives restore -q -y @
	survives undo -y
	survives revert -y @
	survives restore --into "$T/copy" @
	survives gc
	survives export --bundle -o "$T/bundle" @
	survives export --tar -o "$T/tar" @
	survives export --patch -o "$T/patch" @
}

# exchange: with other stores
exchange() {
	git init -q --bare "$T/hub.git"
	survives remote add hub "$T/hub.git"
	survives push hub
	git clone -q "$T/work" "$T/other"
	cd "$T/other"
	export XDG_STATE_HOME="$T/state" GIT_CHECKPOINT_MACHINE=other
	survives remote add hub "$T/hub.git"
	survives fetch hub
	survives import "$T/bundle"
	survives restore -q -y @
}

# two_deep <levels> <status>: two states in which each file differs, saved
two_deep() {
	git init -q .
	git commit -q --allow-empty -m one
	# shellcheck disable=SC3045 # every shell that is a /bin/sh has it
	ulimit -s 2048
	echo 1 >top
	deep "$1" one
	save_deep "$@"
	echo 2 >top
	deep "$1" two
	save_deep "$@"
}

# save_deep <levels> <status>
save_deep() {
	expect_exit "$2" git-checkpoint save -q 2>"$T/err"
}

test_as_many_levels_as_there_may_be() {
	two_deep 2048 0
	look
	change
	exchange
}

test_many_times_as_many() {
	two_deep 6000 3
	look
	survives restore -q -y @~1
	survives undo -y
}

test_what_is_too_deep_is_named_and_kept() {
	deep 2100 one
	expect_exit 3 git-checkpoint save --json >"$T/json"
	expect_eq '[["deep",2049]]' "$(jq -c '[.skipped[] | [.why, (.file | split("/") | length)]]' "$T/json")"
	expect_exit 3 git-checkpoint save 2>"$T/err"
	expect_grep 'is nested too deeply and is not in the checkpoint; remove or exclude it' "$T/err"
	echo new >top
	git-checkpoint restore -q -y @ 2>"$T/err" || :
	expect_eq one "$(perl -e 'chdir "d" or die for 1 .. 2100; print <>' f)"
	echo d >.gitignore
	git-checkpoint save -q
}

run_tests
