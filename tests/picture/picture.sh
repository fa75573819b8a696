#!/bin/sh
# SPDX-License-Identifier: MIT
# Make the picture of the README: a real run in a real terminal (tmux), drawn as SVG.
# usage: picture.sh [<file>]   to stdout without a file; needs tmux and a build
set -eu

here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
build=${BUILD_DIR:-$root/build}
case ${1:-/} in
/*) out=${1:-} ;;
*) out=$PWD/$1 ;;
esac
T=$(mktemp -d "${TMPDIR:-/tmp}/git-checkpoint-picture.XXXXXX")
export T

on_tmux() {
	tmux -S "$T/tmux" -f /dev/null "$@"
}

clean_up() {
	on_tmux kill-server 2>/dev/null || :
	rm -rf "$T"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# last_line: of what is on the screen
last_line() {
	on_tmux capture-pane -p | sed '/^$/d' | tail -n 1
}

# wait_for <pattern>: until the last line looks like that
wait_for() {
	for _ in $(seq 400); do
		! last_line | grep -q -e "$1" || return 0
		sleep 0.05
	done
	on_tmux capture-pane -p >&2
	echo "picture: '$1' never came on the screen" >&2
	exit 1
}

# say <command> [<pattern>]: typed and run, until the prompt is there again, or the pattern
say() {
	on_tmux send-keys -l "$1"
	wait_for '^\$ .*.$'
	on_tmux send-keys Enter
	wait_for "${2:-^\\\$\$}"
}

mkdir -p "$T/home/demo"
cat >"$T/home/.gitconfig" <<'END'
[user]
	name = A U Thor
	email = author@example.com
[init]
	defaultBranch = main
[checkpoint]
	advice = false
END
cd "$T/home/demo"
# The same commits in each run.
git() {
	env HOME="$T/home" GIT_AUTHOR_DATE='2026-01-01T12:00:00Z' GIT_COMMITTER_DATE='2026-01-01T12:00:00Z' \
		PATH="$build:$PATH" git "$@"
}
git init -q -b main
printf '%s\n' 'def greet(name):' '    return "hello " + name' >app.py
git add app.py
git commit -q -m 'greet people'
printf '%s\n' 'import app' 'assert app.greet("Jo")' >test.py
git add test.py
git commit -q -m 'test it'
git checkpoint hooks install --guard -q
sed -i s/hello/welcome/ app.py
git add app.py
echo 'call the dentist' >todo.txt

echo "unset HISTFILE; PS1='\[\e[1m\]$ \[\e[m\]'" >"$T/rc"

# Nothing of who runs this is to be seen.
env -i HOME="$T/home" PATH="$build:$PATH" TERM=screen-256color LC_ALL=C.UTF-8 T="$T" \
	tmux -S "$T/tmux" -f /dev/null new-session -d -x 110 -y 27 'bash --rcfile "$T/rc"'
on_tmux set -g status off
wait_for '^\$$'
say 'git status --short'
say 'git reset --hard HEAD~1'
say 'git clean -fdx'
say 'git checkpoint restore --git @~1' 'y/N'
on_tmux send-keys y Enter
wait_for '^\$$'
say 'git status --short'
on_tmux capture-pane -p -e >"$T/screen"
perl "$here/svg.pl" <"$T/screen" >"$T/picture.svg"
if test -n "$out"; then
	cp "$T/picture.svg" "$out"
else
	cat "$T/picture.svg"
fi
