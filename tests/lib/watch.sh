# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# For scripts in which `git checkpoint watch` runs. Sourced.

# A worktree with some directories, registered, with its changes saved at once.
watch_setup() {
	git init -q
	git config user.name t
	git config user.email t@example.com
	mkdir -p a/b c/d
	echo 1 >a/b/file
	echo 1 >c/file
	git add .
	git commit -q -m 1
	git checkpoint watch add -q
	git checkpoint config -q watchQuiet 0s
	WATCHER=
	trap watch_end EXIT
}

# Runs in the foreground of a process of ours; $WATCHER is its id.
watch_start() {
	git-checkpoint watch run >"$T/watch.log" 2>&1 &
	WATCHER=$!
	await watch_tells "$PWD" '.state == "watched"'
}

# Whatever state it is in; one in the background is stopped.
watch_end() {
	if test -n "${WATCHER:-}"; then
		kill -KILL "$WATCHER" 2>/dev/null || :
		wait "$WATCHER" 2>/dev/null || :
	else
		git checkpoint watch stop -q || :
	fi
	WATCHER=
}

# watch_tells <root> <filter>: what jq finds true of a worktree
watch_tells() {
	git checkpoint watch status --json | jq -e --arg root "$1" ".worktrees[] | select(.path == \$root) | $2"
}

# watch_settled [<root>]: everything is saved, and the watcher has noticed
watch_settled() {
	watch_tells "${1:-$PWD}" '.changed == false and .saving == false and .last_save != null'
}

# newest_has <path> <text>: that is in the newest checkpoint
newest_has() {
	test "$(git checkpoint show "@:$1" 2>/dev/null)" = "$2"
}
