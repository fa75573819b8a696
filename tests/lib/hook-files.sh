# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2164 # cases run with set -e
#
# For tests that look at what is installed: where it is depends on git. Sourced behind harness.sh.

# pretend_git <version>: a git that says it is another one
pretend_git() {
	mkdir -p "$T/pretend"
	printf '#!/bin/sh\n[ "$1" != --version ] || { echo "git version %s"; exit; }\nexec %s "$@"\n' \
		"$1" "$(PATH=$(echo "$PATH" | sed "s#$T/pretend:##") command -v git)" >"$T/pretend/git"
	chmod +x "$T/pretend/git"
	case $PATH in
	"$T"/pretend:*) ;;
	*) PATH=$T/pretend:$PATH ;;
	esac
}

# hook_files: install as with a git that knows no hooks in its configuration; others run files, too
hook_files() {
	! hooks_in_configuration || pretend_git 2.39.5
}

# hooks_in_configuration: whether git, from 2.54 on, finds hooks there, where they are put then
hooks_in_configuration() {
	git --version | awk '{ split($3, v, "."); exit !(v[1] > 2 || v[1] == 2 && v[2] >= 54) }'
}

# shim <hook>: the file of ours that git runs for it
shim() {
	if test "$1" != fsmonitor && ! hooks_in_configuration; then
		echo ".git/hooks/$1"
	else
		echo ".git/git-checkpoint/$1"
	fi
}
