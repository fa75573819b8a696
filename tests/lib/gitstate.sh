# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests about the state of a repository in checkpoints; sourced after harness.sh.

# make_project [<option of git init>...]: a repository with a, b, d/c; the branch side conflicts in a
make_project() {
	git init -q "$@" .
	mkdir -p d
	echo one >a
	echo one >b
	echo one >d/c
	git add .
	git commit -q -m one
	git checkout -q -b side
	echo side >a
	git commit -q -a -m side
	git checkout -q main
	echo main >a
	git commit -q -a -m main
}

checkpoints() {
	git --git-dir="$(store_dir)" for-each-ref refs/checkpoints | wc -l
}

# shown <filter> [<checkpoint>]: of its JSON
shown() {
	git-checkpoint show --json "${2:-@}" >"$T/shown.json"
	json "$1" "$T/shown.json"
}

# settle: wait until what was just written is older than the clock of files can tell
settle() {
	touch "$T/tick"
	until touch "$T/tock" && test "$T/tock" -nt "$T/tick"; do :; done
}

# meta '<command>' <path>: a git command about a path in the metadata of the newest checkpoint
meta() {
	store=$(store_dir)
	case $1 in
	ls-tree*)
		# shellcheck disable=SC2086 # words
		git --git-dir="$store" $1 "latest^" "$2"
		;;
	*)
		# shellcheck disable=SC2086 # words
		git --git-dir="$store" $1 "latest^:$2"
		;;
	esac
}
