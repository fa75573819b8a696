# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For tests/crash/t-crash*.sh: records what commands do (record.c) and checks what a power cut at
# any point may leave of it (replay.c, check-state.sh).
#
# All that commands may change is in $R: the worktree $R/work, stores in $R/state. What the checks
# need to know is outside, in $S: for each phase a directory with
#   kind     store: no command has a reason to touch the worktree
#            restore: it is the old state or the new one, or an interrupted restore leads to both
#            edit: some files of it are changed, each at once; the same command finishes it
#            flow: the same, but status tells how far it came
#            relink: the same command finishes it, if it did not come to its end
#   command  what was run
#   old new  the worktree before and after, as `crash-replay look` prints it
#   back on  to which of them --abort and --continue lead, if not to these
#   acked    checkpoints that were there for certain: id and the file with their state, `-` if
#            they hold a part of it

# begin [<dir>]: an empty worktree, no store
begin() {
	R=${1:-$T/root}
	S=$T/crash
	XDG_STATE_HOME=$R/state XDG_DATA_HOME=$R/data
	export R S XDG_STATE_HOME XDG_DATA_HOME
	mkdir -p "$R/work" "$R/state" "$R/other" "$S"
	: >"$S/acked"
	cd "$R/work" || exit 1
}

look() {
	crash-replay look "$R/work"
}

# a_tree: files of all kinds, some of them more than a page; with a repository around them
a_tree() {
	git init -q --template= .
	mkdir -p src/deep/er empty 'odd name'
	echo one >a
	echo two >src/b
	echo ignored >keep.log
	echo '*.log' >.gitignore
	printf 'no newline' >src/deep/c
	seq 1 3000 >src/deep/er/long
	echo odd >'odd name/x y'
	ln a hard
	ln -s src/b link
	chmod 755 src/b
	chmod 750 src/deep
	: >empty-file
}

# change_tree: contents, modes, kinds; what is new and what goes
change_tree() {
	echo 'one, changed' >a
	seq 2000 6000 >src/deep/er/long
	rm link src/deep/c
	mkdir link
	echo 'in a directory' >link/inner
	ln -s ../a src/deep/c
	chmod 600 src/b
	chmod 700 src/deep
	mkdir -p new/dir
	echo new >new/dir/file
	rm -r 'odd name'
	echo 'now a file' >'odd name'
	rmdir empty
}

# settle_edit: what the user did is on the disk, by the book
settle_edit() {
	find . -path ./.git -prune -o '(' -type f -o -type d ')' -exec sync {} +
}

mark() {
	mkdir "/.crash-mark/$1" 2>/dev/null || :
}

# the_store: of the worktree $R/work
the_store() {
	echo "$XDG_STATE_HOME/git-checkpoint/$(printf %s "$R/work" | sha256sum | cut -c1-16)"
}

listed() {
	(cd "$(the_store)/refs/checkpoints" 2>/dev/null && ls) || :
}

# saved <command>...: a checkpoint that was there before
saved() {
	look >"$S/saved-$(wc -l <"$S/acked")"
	"$@"
	for id in $(listed); do
		grep -q "^$id " "$S/acked" || echo "$id $S/saved-$(wc -l <"$S/acked")" >>"$S/acked"
	done
}

# flow_status <file>
flow_status() {
	test "$kind" != flow || git-checkpoint flow status --json >"$1" 2>&1 || :
}

# phase <name> <kind> <command>...: the command that is recorded
phase() {
	p=$S/$1
	mkdir -p "$p" "$p-after"
	echo "$2" >"$p/kind"
	name=$1 kind=$2
	shift 2
	flow_status "$p/flow-old"
	for word; do
		printf "'%s' " "$word"
	done >"$p/command"
	cp "$p/command" "$p-after/command"
	look >"$p/old"
	cp "$S/acked" "$p/acked"
	listed >"$p/ids"
	mark "$name"
	"$@" >"$p/out" 2>&1 || {
		echo "$name: exit status $?: $*"
		cat "$p/out"
		exit 1
	}
	mark "$name-after"
	mark "-$name"
	look >"$p/new"
	flow_status "$p/flow-new"
	for file in new back on flow-new; do
		test ! -e "$p/$file" || cp "$p/$file" "$p-after"
	done
	test ! -e "$p/flow-new" || cp "$p/flow-new" "$p-after/flow-old"
	cp "$p/new" "$p-after/old"
	echo "$kind" >"$p-after/kind"
	listed >"$p-after/ids"
	state=$p/old
	# the first checkpoint for an agent, once its settings are edited
	test "$kind" != edit || state=$p/new
	test -z "${PART:-}" || state=-
	for id in $(cat "$p-after/ids"); do
		grep -q "^$id " "$S/acked" || echo "$id $state" >>"$S/acked"
	done
	while read -r id file; do
		if grep -qx "$id" "$p-after/ids"; then
			echo "$id $file"
		fi
	done <"$S/acked" >"$S/acked.new"
	mv "$S/acked.new" "$S/acked"
	cp "$S/acked" "$p-after/acked"
	# What a command lets go is not certain while it runs.
	while read -r id file; do
		if grep -qx "$id" "$p-after/ids"; then
			echo "$id $file"
		fi
	done <"$p/acked" >"$p/acked.new"
	mv "$p/acked.new" "$p/acked"
}

# record <scenario>: run it in a shell that is watched
record() {
	status=0
	crash-record "$S/log" "$R" sh -ec '. "$0/crash.sh"; . "$0/scenarios.sh"; "$1"' \
		"$CRASH_DIR" "$1" || status=$?
	test $status != 77 || skip 'ptrace is not allowed here'
	test $status = 0 || fail "recording exits with $status"
}

# replay [<option>...]: states from $TEST_SEED, few or all
replay() {
	cd "$S" || exit # $R is made anew each time
	crash-replay run -s "$TEST_SEED" "$@" "$S/log" "$R" sh "$CRASH_DIR/check-state.sh" \
		>"$S/result" || {
		cat "$S/result"
		fail "TEST_KEEP=1 keeps the log: crash-replay one '$S/log' '$R' <state>"
	}
	echo "$SCENARIO: $(tail -n 1 "$S/result")" >>"${CRASH_FIGURES:-/dev/null}"
}

# scenario <function> <states>: record it and look at so many states, or at all of them
scenario() {
	SCENARIO=$1
	record "$1"
	if test -n "${CRASH_ALL:-}" && test -z "${CRASH_STATES:-}"; then
		replay -a
	else
		replay -n "${CRASH_STATES:-$2}"
	fi
}
