# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2164 # cases run with set -e
#
# For tests that look at what is installed: where it is depends on git. Sourced after harness.sh.

# pretend_git <version>: a git that claims to be that version
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

# hook_files: install as for a git without hooks in its configuration; newer gits run files, too
hook_files() {
	! hooks_in_configuration || pretend_git 2.39.5
}

# hooks_in_configuration: whether hooks are put in git's configuration, as from git 2.54 on
hooks_in_configuration() {
	git --version | awk '{ split($3, v, "."); exit !(v[1] > 2 || v[1] == 2 && v[2] >= 54) }'
}

# shim <hook>: our file that git runs for it, at once or through a line in the hook
shim() {
	echo ".git/git-checkpoint/$1"
}
