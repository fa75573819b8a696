# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# A real terminal of a chosen size, in tmux: commands run there, keys are typed, and what a person
# would see is read. Sourced after harness.sh.

# on_screen <columns> <lines> <command>: run it there; its exit status is left in $T/status
on_screen() {
	require tmux
	require_terminal
	# ^C is for the command, not for the shell that waits for it
	printf '%s\n' 'trap : INT' "$3" 'echo $? >"$T/status.new"; mv "$T/status.new" "$T/status"' 'exec sleep 600' >"$T/job"
	rm -f "$T/status"
	screen_end
	# the case runs in a shell of its own, which takes the terminal with it
	trap screen_end EXIT
	# a server that is just ending may still listen at its socket
	screen_socket=$T/tmux.$((${screen_nr:=0} + 1))
	screen_nr=$((screen_nr + 1))
	on_tmux -f /dev/null new-session -d -x "$1" -y "$2" 'sh "$T/job"'
}

on_tmux() {
	tmux -S "$screen_socket" "$@"
}

screen_end() {
	test -z "${screen_socket:-}" || on_tmux kill-server 2>/dev/null || :
}

# screen: what is on it, in $T/screen; with escapes in $T/screen.raw
screen() {
	on_tmux capture-pane -p >"$T/screen"
	on_tmux capture-pane -p -e >"$T/screen.raw"
}

# keys <key>...: as tmux names them
keys() {
	on_tmux send-keys "$@"
}

screen_has() {
	screen
	grep -q -e "$1" "$T/screen"
}

# see <pattern>: wait until it is on the screen
see() {
	for _ in $(seq 600); do
		! screen_has "$1" || return 0
		sleep 0.05
	done
	cat "$T/screen"
	fail "'$1' never came on the screen"
}

# ended <exit status>: wait until the command has ended like that
ended() {
	for _ in $(seq 600); do
		test ! -e "$T/status" || break
		sleep 0.05
	done
	screen
	test -e "$T/status" || {
		cat "$T/screen"
		fail 'the command never ended'
	}
	expect_eq "$1" "$(cat "$T/status")"
}
