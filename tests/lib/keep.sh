# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests that do the same to the same state many times; sourced after harness.sh.

# keep_stores, stores_again: note, and go back to, what is in the stores
keep_stores() {
	rm -rf "$T/kept"
	mkdir "$T/kept"
	cp -a "$XDG_STATE_HOME" "$T/kept/state"
}

stores_again() {
	rm -rf "$XDG_STATE_HOME"
	cp -a "$T/kept/state" "$XDG_STATE_HOME"
}

# keep, again [<name>]: the same with the worktree, $T/work; another name than `kept` where it was renamed
keep() {
	keep_stores
	cp -a "$T/work" "$T/kept/work"
}

again() {
	cd "$T" || exit
	chmod -R u+rwx work
	rm -rf work "$XDG_STATE_HOME"
	cp -a "$T/${1:-kept}/work" "$T/${1:-kept}/state" "$T"
	cd work || exit
}
