#!/bin/sh
# SPDX-License-Identifier: MIT
# Captures: state outside the worktree, saved by commands of the user.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/capture-commands.sh"

id=

# expect_gone <pid>: it has ended, whether somebody has taken note of that or not
expect_gone() {
	! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null ||
		fail "process $1 is alive"
}

count() {
	git-checkpoint list --json >"$T/list.json"
	json '.checkpoints | length' "$T/list.json"
}

# ---- saving ----------------------------------------------------------------------

test_taken_by_name() {
	a_thing
	save
	expect_eq null "$(jq -c .captures "$T/save.json")"
	test ! -s "$T/trace"
	save --capture db
	expect_eq '[{"name":"db","type":"database_savepoint","bytes":4}]' \
		"$(jq -c .captures "$T/save.json")"
	expect_eq database_savepoint "$(json .checkpoint.type "$T/save.json")"
	store=$(store_dir)
	git --git-dir="$store" fsck --strict
	expect_eq one "$(git --git-dir="$store" show "refs/checkpoints/$id^:captures/db")"
	git-checkpoint show --json @ >"$T/show.json"
	expect_eq 4 "$(json '.captures[0].bytes' "$T/show.json")"
	git-checkpoint show @ >"$T/show"
	expect_grep '^capture db: database_savepoint, 4 bytes' "$T/show"
	no_litter
	git-checkpoint gc -q
	git-checkpoint verify --all
	expect_eq one "$(git --git-dir="$store" show "refs/checkpoints/$id^:captures/db")"
}

test_automatic_ones_are_part_of_every_save() {
	a_thing auto = true
	save
	expect_eq db "$(json '.captures[0].name' "$T/save.json")"
	save --capture db
	expect_eq false "$(json .checkpoint_created "$T/save.json")"
	echo two >"$T/db"
	save
	expect_eq true "$(json .checkpoint_created "$T/save.json")"
	# not due: not run
	: >"$T/trace"
	save --min-interval 1h
	test ! -s "$T/trace"
}

test_other_types_do_not_make_it_a_database() {
	a_thing
	configure <<-END
	[capture "cache"]
	save = echo hello
	END
	save --capture cache
	expect_eq file_backup "$(json .checkpoint.type "$T/save.json")"
	save --state-only --capture cache
	expect_eq state_snapshot "$(json .checkpoint.type "$T/save.json")"
}

test_unknown_names_and_bad_configuration() {
	a_thing
	expect_exit 128 git-checkpoint save --capture nope 2>"$T/err"
	expect_grep nope "$T/err"
	expect_eq 0 "$(count)"
	for bad in 'type = nonsense' 'auto = perhaps' 'timeout = soon' 'timeout = 0s'; do
		a_thing "$bad"
		expect_exit 128 git-checkpoint save 2>"$T/err"
		expect_grep 'git-checkpoint/config:5: ' "$T/err"
	done
	configure <<-END
	[capture "no name"]
	save = true
	END
	expect_exit 128 git-checkpoint save 2>"$T/err"
	expect_grep 'config:2: ' "$T/err"
	configure <<-END
	[capture "nothing"]
	auto = true
	END
	expect_exit 128 git-checkpoint save 2>"$T/err"
	expect_grep "'nothing' has no save command" "$T/err"
	a_thing 'colour = green'
	save
	expect_grep "unknown key 'colour'" "$T/save.json"
}

test_the_store_has_the_last_word() {
	a_thing
	save
	printf '[capture "db"]\nsave = echo other\n' >"$(store_dir)/checkpoint/config"
	save --capture db
	expect_eq other "$(git --git-dir="$(store_dir)" show "refs/checkpoints/$id^:captures/db")"
	expect_eq database_savepoint "$(json .checkpoint.type "$T/save.json")"
}

test_how_a_command_is_run() {
	configure <<-'END'
	[capture "env"]
	save = env; echo "cwd=$(pwd -P)"; echo "in=$(readlink /proc/self/fd/0)"; ls -l /proc/self/fd
	END
	git init -q .
	mkdir sub
	echo x >sub/f
	(cd sub && GIT_DIR='' GIT_AUTHOR_NAME=me GIT_CHECKPOINT_MAX_COUNT=7 PGPASSWORD=secret GITX=1 \
		git-checkpoint save -q --capture env)
	id=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	git --git-dir="$(store_dir)" show "refs/checkpoints/$id^:captures/env" >"$T/env"
	expect_no_grep '^GIT_' "$T/env"
	expect_grep '^GITX=1$' "$T/env"
	expect_grep '^PGPASSWORD=secret$' "$T/env"
	expect_grep "^HOME=$HOME\$" "$T/env"
	expect_grep "^cwd=$PWD\$" "$T/env"
	expect_grep '^in=/dev/null$' "$T/env"
	# no lock, nothing of the store is handed down
	expect_grep '/dev/null' "$T/env"
	expect_no_grep ' -> .*/git-checkpoint/' "$T/env"
}

test_nothing_in_a_repository_or_the_environment_runs_a_command() {
	git init -q .
	for key in save restore; do
		git config "capture.evil.$key" "touch $T/evil"
		git config "checkpoint.capture.evil.$key" "touch $T/evil"
		git config --global "capture.evil.$key" "touch $T/evil"
	done
	git config capture.evil.auto true
	git config --global checkpoint.capture.evil.auto true
	cat >config <<-END
	[capture "evil"]
	save = touch $T/evil
	restore = touch $T/evil
	auto = true
	END
	mkdir -p .config/git-checkpoint checkpoint git-checkpoint
	cp config .config/git-checkpoint/config
	cp config checkpoint/config
	cp config git-checkpoint/config
	cp config .git-checkpoint
	cat config >>.git/config
	export GIT_CHECKPOINT_CAPTURE="touch $T/evil" GIT_CHECKPOINT_CAPTURE_EVIL_SAVE="touch $T/evil"
	# a relative place would be one in the worktree
	XDG_CONFIG_HOME=.config git-checkpoint save -q
	XDG_CONFIG_HOME=. git-checkpoint save -q
	git -c checkpoint.capture.evil.auto=true -c "checkpoint.capture.evil.save=touch $T/evil" \
		checkpoint save -q || :
	expect_exit 128 git-checkpoint save --capture evil
	echo x >another
	git-checkpoint restore -y @ >/dev/null
	expect_missing "$T/evil"
}

test_root_runs_no_commands_of_somebody_else() {
	test "$(id -u)" = 0 || skip 'needs root'
	a_thing auto = true
	sed -i "1i verifyCommand = touch $T/verified" "$XDG_CONFIG_HOME/git-checkpoint/config"
	chown 65534 "$XDG_CONFIG_HOME/git-checkpoint/config"
	git-checkpoint save >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/trace")"
	expect_grep 'captures run commands and are ignored: the file belongs to another user' "$T/err"
	expect_grep "'verifyCommand' runs a command and is ignored" "$T/err"
	expect_exit 128 git-checkpoint save --capture db 2>"$T/err"
	echo two >f
	git-checkpoint restore -y @ >"$T/out" 2>"$T/err"
	expect_missing "$T/verified"
	chown 0 "$XDG_CONFIG_HOME/git-checkpoint/config"
	git-checkpoint save --capture db >"$T/out" 2>"$T/err"
	expect_eq save "$(cat "$T/trace")"
}

test_hooks_do_not_wait_for_captures() {
	a_thing auto = true
	git init -q .
	git add f
	git commit -q -m one
	git switch -q -c other
	git commit -q --allow-empty -m two
	git-checkpoint hooks install >/dev/null 2>&1
	echo two >untracked
	git rebase -q --force-rebase main 2>"$T/err" || fail "$(cat "$T/err")"
	test "$(count)" -ge 1 || fail "the hook took none: $(cat "$T/err")"
	test ! -s "$T/trace" || fail 'a hook ran a capture'
	save
	expect_eq save "$(cat "$T/trace")"
}

# ---- commands that do not do well ------------------------------------------------

test_a_failing_command_fails_the_save() {
	a_thing
	configure <<-'END'
	[capture "bad"]
	save = echo part; echo 'no such database' >&2; exit 3
	[capture "shot"]
	save = kill -9 $$
	[capture "gone"]
	save = no-such-program-anywhere
	END
	for name in bad shot gone; do
		expect_exit 128 git-checkpoint save --json --capture "$name" >"$T/out" 2>"$T/err"
		expect_grep "'$name'" "$T/out"
		expect_eq 128 "$(json .error.code "$T/out")"
	done
	expect_exit 128 git-checkpoint save --capture bad 2>"$T/err"
	expect_grep '^no such database$' "$T/err"
	expect_eq 0 "$(count)"
	no_litter
}

test_a_failure_is_seen_by_a_caller_that_ignores_its_children() {
	a_thing
	configure <<-'END'
	[capture "bad"]
	save = echo part; exit 3
	restore = exit 3
	[capture "good"]
	save = echo whole
	restore = exit 3
	END
	# shellcheck disable=SC2016
	deaf='$SIG{CHLD} = "IGNORE"; exec @ARGV'
	expect_exit 128 perl -e "$deaf" git-checkpoint save --capture bad 2>"$T/err"
	expect_grep 'status 3' "$T/err"
	expect_eq 0 "$(count)"
	save --capture good
	expect_exit 4 perl -e "$deaf" git-checkpoint restore -y @ >"$T/out" 2>"$T/err"
}

test_a_failing_one_is_over_whoever_keeps_its_output() {
	a_thing
	configure <<-END
	[capture "bad"]
	save = sleep 300 & echo \$! >$T/pid; exit 3
	END
	expect_exit 128 timeout 20 git-checkpoint save --capture bad 2>"$T/err"
	kill "$(cat "$T/pid")"
	expect_grep 'status 3' "$T/err"
	no_litter
}

test_a_hanging_one_is_ended_with_all_that_it_started() {
	a_thing
	configure <<-END
	[capture "hangs"]
	timeout = 1s
	save = echo waiting >&2; sh -c 'trap "" TERM; echo \$\$ >$T/pid; while :; do sleep 1; done' & sleep 1000
	END
	expect_exit 128 git-checkpoint save --capture hangs 2>"$T/err"
	expect_grep 'within 1s' "$T/err"
	expect_grep '^waiting$' "$T/err"
	expect_gone "$(cat "$T/pid")"
	expect_eq 0 "$(count)"
	no_litter
}

test_a_flood_of_stderr_is_no_matter() {
	a_thing
	configure <<-'END'
	[capture "floods"]
	save = head -c 40000000 /dev/zero | tr '\0' '\n' >&2; echo last words >&2; exit 1
	[capture "chats"]
	save = head -c 40000000 /dev/zero | tr '\0' '\n' >&2; echo by the way >&2; echo data
	END
	"$BUILD_DIR/measure" "$T/rss" git-checkpoint save --capture floods 2>"$T/err" &&
		fail 'it succeeded'
	expect_grep '^last words$' "$T/err"
	test "$(wc -l <"$T/err")" -lt 20
	case $BUILD_DIR in
	*address* | *thread*) ;;
	*) test "$(cut -d' ' -f2 "$T/rss")" -lt 30000 || fail "memory: $(cat "$T/rss")" ;;
	esac
	# what a command that succeeds has to say is not lost
	save --capture chats
	expect_grep 'by the way' "$T/save.json"
}

# dump <size>: a capture of that size, saved and restored, in how much memory. Bytes that cannot be
# compressed, as those of a dump that is already: what is read of the pack counts as memory, too.
dump() {
	noise "$1" >"$T/dump"
	configure <<-END
	[capture "large"]
	save = cat $T/dump
	restore = cmp - $T/dump && echo same >$T/got
	END
	echo x >f
	"$BUILD_DIR/measure" "$T/rss" git-checkpoint save -q --capture large
	"$BUILD_DIR/measure" "$T/rss" git-checkpoint restore -q -y @
	"$BUILD_DIR/measure" "$T/rss" git-checkpoint verify -q @
	expect_eq same "$(cat "$T/got")"
	expect_eq 3 "$(wc -l <"$T/rss")"
	case $BUILD_DIR in
	*address* | *thread*) ;;
	*) awk '$2 > 65536 { exit 1 }' "$T/rss" || fail "memory: $(cat "$T/rss")" ;;
	esac
	no_litter
}

test_a_large_dump_needs_little_memory() {
	if test "${CKPT_TEST_ROUNDS:-}" = all; then
		dump 1073741824
	else
		dump 104857600
	fi
}

test_killed_while_it_is_captured() {
	a_thing
	save
	configure <<-END
	[capture "slow"]
	save = head -c 1000000 /dev/zero; echo >$T/started; exec sleep 1000
	END
	git-checkpoint save --capture slow &
	pid=$!
	while ! test -e "$T/started"; do sleep 0.02; done
	kill -9 $pid
	wait $pid || :
	expect_eq 1 "$(count)"
	# the next one finds neither a lock nor what was left
	echo two >f
	save
	expect_eq 2 "$(count)"
	no_litter
}

test_interrupted_while_it_is_captured() {
	a_thing
	configure <<-END
	[capture "slow"]
	save = echo \$\$ >$T/started; sleep 1000; echo
	END
	git-checkpoint save --capture slow 2>"$T/err" &
	pid=$!
	while ! test -s "$T/started"; do sleep 0.02; done
	kill -TERM $pid
	expect_exit 143 wait $pid
	expect_gone "$(cat "$T/started")"
	expect_eq 0 "$(count)"
	no_litter
}

test_a_budget_holds() {
	a_thing
	configure <<-'END'
	maxSize = 3m
	[capture "big"]
	save = noise 4000000
	[capture "fits"]
	save = noise 1000000
	END
	expect_exit 128 git-checkpoint save --capture big 2>"$T/err"
	expect_grep maxSize "$T/err"
	expect_eq 0 "$(count)"
	no_litter
	for round in 1 2 3 4 5 6; do
		echo $round >f
		save --capture fits
		test "$(du -sk "$(store_dir)" | cut -f1)" -le 3072 || fail "over budget in round $round"
	done
	test "$(count)" -ge 1
	git-checkpoint verify --all
}

run_tests
