#!/bin/sh
# SPDX-License-Identifier: MIT
# run: a command has what it would have if nobody were between: environment, descriptors, signals.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/run.sh"

# wait_until <command>...: until it succeeds
wait_until() {
	for _ in $(seq 600); do
		! "$@" 2>/dev/null || return 0
		sleep 0.05
	done
	fail "never came true: $*"
}

# wait_for <file>: until it is there
wait_for() {
	wait_until test -e "$1"
}

# ---- as if nobody were between ---------------------------------------------------

test_the_environment_is_the_same() {
	some_files
	export GIT_CHECKPOINT_TEST=1 GIT_AUTHOR_NAME='Somebody Else' GIT_CHECKPOINT_HOME="$T/elsewhere"
	export ZZZ_LAST=1 GIT_TRACE_X='a=b
c' LESS=X
	env -i _=x GIT_A=1 B=2 GIT_C= PATH="$PATH" HOME="$HOME" GIT_CHECKPOINT_HOME="$T/elsewhere" \
		GIT_A=3 D='x y' /usr/bin/env -0 >"$T/expected"
	env -i _=x GIT_A=1 B=2 GIT_C= PATH="$PATH" HOME="$HOME" GIT_CHECKPOINT_HOME="$T/elsewhere" \
		GIT_A=3 D='x y' git-checkpoint run -q /usr/bin/env -0 >"$T/actual"
	cmp "$T/expected" "$T/actual"
	env -0 | grep -zv '^_=' >"$T/expected"
	git-checkpoint run -q env -0 | grep -zv '^_=' >"$T/actual"
	cmp "$T/expected" "$T/actual"
	# in a hook, too
	git init -q
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nenv -0 | grep -zv "^_=" >"$T/expected"\ngit-checkpoint run -q env -0 | grep -zv "^_=" >"$T/actual"\n' \
		>.git/hooks/pre-commit
	chmod +x .git/hooks/pre-commit
	git add a
	git commit -q -m x
	grep -qz '^GIT_INDEX_FILE=' "$T/expected"
	cmp "$T/expected" "$T/actual"
}

test_descriptors_signals_and_limits_are_the_same() {
	test -e /proc/self/status || skip 'needs /proc'
	some_files
	cat >"$T/look" <<-'END'
	#!/usr/bin/perl
	opendir(my $d, "/proc/self/fd");
	print join(" ", map { "$_:" . readlink("/proc/self/fd/$_") }
		grep { /^[0-9]+$/ && $_ != fileno($d) } sort readdir $d), "\n";
	open(my $s, "<", "/proc/self/status");
	# 31 signals; the two after them are the C library's own
	print map { s/^(S.*:\s*)\S+(\S{8})$/$1 . (hex($2) & 0x7fffffff)/er }
		grep { /^(Sig(Blk|Ign|Cgt|Pnd)|ShdPnd|Umask)/ } <$s>;
	print getpgrp(), " ", `pwd -P`;
	END
	chmod +x "$T/look"
	umask 027
	for how in '' 'trap "" TERM HUP;' 'trap "" CHLD PIPE INT;' 'exec 7<a;' 'exec </dev/null;'; do
		sh -c "$how exec \"\$T/look\"" >"$T/expected" 2>"$T/err"
		sh -c "$how exec git-checkpoint run -q \"\$T/look\"" >"$T/actual" 2>"$T/err2"
		sed -i "s|/actual|/expected|; s|err2|err|" "$T/actual"
		expect_same "$T/expected" "$T/actual"
	done
	# the shell does not let SIGCHLD be ignored
	for how in '' 'git-checkpoint run -q'; do
		# shellcheck disable=SC2086,SC2016
		perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' $how \
			"$T/look" | grep SigIgn >"$T/ignored$how"
	done
	expect_same "$T/ignored" "$T/ignoredgit-checkpoint run -q"
	# a stream that is closed is closed for the command as well
	sh -c 'exec git-checkpoint run -q sh -c "ls /proc/self/fd/0 2>/dev/null || echo closed"' \
		<&- >"$T/out"
	expect_eq closed "$(cat "$T/out")"
}

test_input_and_output_pass_through_unaltered() {
	some_files
	noise 3000000 >"$T/bytes"
	git checkpoint run cat <"$T/bytes" >"$T/out" 2>"$T/err"
	cmp "$T/bytes" "$T/out"
	# shellcheck disable=SC2016
	git checkpoint run -q sh -c 'cat "$T/bytes" >&2' >"$T/out" 2>"$T/err"
	cmp "$T/bytes" "$T/err"
	expect_eq '' "$(cat "$T/out")"
	# what the command does not read is left for the next one
	printf 'one\ntwo\n' >"$T/lines"
	{
		git checkpoint run -q sh -c 'read -r x; echo "$x"'
		cat
	} <"$T/lines" >"$T/out"
	expect_same "$T/lines" "$T/out"
}

test_who_stays_in_the_background_is_not_waited_for() {
	some_files
	# shellcheck disable=SC2016
	timeout 20 git-checkpoint run -q sh -c 'sleep 300 & echo $! >"$T/pid"; exit 6' >"$T/out" \
		2>"$T/err" || status=$?
	kill "$(cat "$T/pid")"
	expect_eq 6 "$status"
}

test_the_current_directory_is_kept_even_if_it_goes() {
	git init -q
	some_files
	fingerprint . >"$T/before"
	(cd d && git checkpoint run -q pwd >"$T/out")
	expect_eq "$PWD/d" "$(cat "$T/out")"
	git -C d checkpoint run -q pwd >"$T/out"
	expect_eq "$PWD/d" "$(cat "$T/out")"
	git-checkpoint -C d run -q pwd >"$T/out"
	expect_eq "$PWD/d" "$(cat "$T/out")"
	(cd d && expect_exit 3 git checkpoint run --rollback -- sh -c 'rm -r ../d; exit 3' 2>"$T/err")
	expect_rolled_back
}

test_the_whole_worktree_comes_back() {
	mkdir "$T/gone"
	cd "$T/gone"
	some_files
	git checkpoint run -q true
	cd ..
	expect_exit 3 git-checkpoint -C gone run --rollback -- sh -c 'rm -rf ../gone; exit 3' 2>"$T/err"
	cd "$T/gone"
	expect_rolled_back
}

test_a_repository_that_the_command_makes_does_not_confuse() {
	some_files
	git checkpoint save -q
	(
		cd d
		expect_exit 3 git checkpoint run --rollback -- \
			sh -c 'git init -q; echo 2 >../a; echo 2 >c; exit 3' 2>"$T/err"
	)
	rm -rf d/.git
	expect_rolled_back
}

test_runs_can_be_nested_and_take_checkpoints() {
	some_files
	git checkpoint run -q -- git checkpoint run -q -- sh -c 'echo 2 >a; git checkpoint save -q -m inner'
	expect_eq inner "$(newest reason)"
	expect_eq 2 "$(git checkpoint list | wc -l)"
	# the inner one goes back to 3, the outer one to 2
	fingerprint . >"$T/before"
	expect_exit 9 git checkpoint run --rollback -- sh -c '
		echo 3 >a
		git checkpoint run --rollback -- sh -c "echo 4 >a; exit 8"
		test $? = 8 && test "$(cat a)" = 3 || exit 1
		exit 9' 2>"$T/err"
	expect_rolled_back
}

# However many checkpoints the command takes: that from before it is needed.
test_the_checkpoint_outlives_many_others() {
	some_files
	export GIT_CHECKPOINT_MAX_COUNT=3
	# shellcheck disable=SC2016
	expect_exit 3 git checkpoint run --rollback --json-file "$T/json" -- sh -c '
		for i in 1 2 3 4 5 6 7; do echo "new $i" >a; git checkpoint save -q; done
		git checkpoint list | wc -l >"$T/count"
		exit 3' 2>"$T/err"
	expect_rolled_back
	test "$(cat "$T/count")" -le 4 || fail 'nothing was evicted'
	expect_eq '' "$(ls "$(store_dir)/refs/keep/process")"
}

test_a_dead_run_holds_nothing() {
	some_files
	export GIT_CHECKPOINT_MAX_COUNT=3
	# shellcheck disable=SC2016
	expect_exit 137 git-checkpoint run -q -- sh -c 'kill -KILL $PPID'
	id=$(newest id)
	expect_eq 1 "$(ls "$(store_dir)/refs/keep/process" | wc -l)"
	for i in 1 2 3 4; do
		echo "new $i" >a
		git checkpoint save -q
	done
	git checkpoint list >"$T/list"
	expect_no_grep "$id" "$T/list"
	expect_eq '' "$(ls "$(store_dir)/refs/keep/process")"
}

# ---- signals ---------------------------------------------------------------------

# The command tells which signals it got, and ends with the last.
listen() {
	cat >"$T/listen" <<-'END'
	#!/usr/bin/perl
	$| = 1;
	my $end = 0;
	open(my $log, ">", "$ENV{T}/got");
	$log->autoflush(1);
	for my $s (qw(HUP INT QUIT TERM USR1 USR2)) {
		$SIG{$s} = sub { print $log "$s\n"; $end = 1 if $s eq "TERM" };
	}
	open(my $f, ">", "ruined"); close $f;
	open(my $r, ">", "$ENV{T}/ready"); close $r;
	select(undef, undef, undef, 0.05) until $end;
	exit 12;
	END
	chmod +x "$T/listen"
}

test_signals_reach_the_command_and_we_roll_back() {
	some_files
	listen
	git-checkpoint run --rollback --json-file "$T/json" "$T/listen" 2>"$T/err" &
	pid=$!
	wait_for "$T/ready"
	expect_exists ruined
	# a shell without job control has INT and QUIT ignored for what runs in the background;
	# the handlers of the command replace that
	for sig in HUP USR1 USR2 INT QUIT TERM; do
		kill -$sig $pid
		wait_until grep -q $sig "$T/got"
	done
	expect_exit 12 wait $pid
	printf 'HUP\nUSR1\nUSR2\nINT\nQUIT\nTERM\n' >"$T/expected"
	expect_same "$T/expected" "$T/got"
	expect_rolled_back
	expect_eq 12 "$(json .exit_status "$T/json")"
	expect_eq true "$(json .rolled_back "$T/json")"
}

test_a_signal_that_ends_the_command_does_not_end_us() {
	some_files
	# shellcheck disable=SC2016
	git-checkpoint run --rollback --json-file "$T/json" -- \
		sh -c 'echo 2 >a; : >"$T/ready"; exec sleep 100' 2>"$T/err" &
	pid=$!
	wait_for "$T/ready"
	kill -TERM $pid
	expect_exit 143 wait $pid
	expect_rolled_back
	expect_eq SIGTERM "$(json .signal "$T/json")"
	expect_eq 143 "$(json .exit_status "$T/json")"
}

test_the_interrupt_key_reaches_the_command_once() {
	some_files
	listen
	sed -i 's/eq "TERM"/eq "INT"/' "$T/listen"
	require_terminal
	(
		wait_for "$T/ready"
		printf '\003'
		# answer the question, not a moment that was guessed
		wait_until grep -q 'y/N' "$T/screen"
		printf 'y\n'
	# exec: some shells stay above what they run with -c, and would be interrupted as well
	) | script -qefc 'exec git-checkpoint run "$T/listen"' "$T/screen" >/dev/null || status=$?
	cat "$T/screen"
	expect_eq 12 "$status"
	expect_eq INT "$(cat "$T/got")"
	expect_rolled_back
}

# timeout(1) signals us, and then the whole group.
test_timeout_leads_to_a_rollback() {
	some_files
	rounds=0
	# a slow disk may need longer for the checkpoint alone; then it is given more
	for seconds in 0.3 0.3 0.3 1 2 4 8 16; do
		rm -f "$T/began"
		# shellcheck disable=SC2016
		expect_exit 124 timeout $seconds git-checkpoint run --rollback -- \
			sh -c 'echo 2 >a; : >"$T/began"; exec sleep 100' 2>"$T/err"
		expect_rolled_back
		test -e "$T/began" || continue
		expect_grep 'Rolled back' "$T/err"
		rounds=$((rounds + 1))
		test $rounds -lt 3 || break
	done
	test $rounds -ge 3 || fail "the command began $rounds times"
}

test_a_reader_that_leaves_does_not_stop_the_rollback() {
	some_files
	# shellcheck disable=SC2016
	{
		git-checkpoint run --rollback -- sh -c 'echo 2 >a; sleep 0.3; exit 3' 2>&1 >/dev/null ||
			echo $? >"$T/status"
	} | true
	wait_for "$T/status"
	expect_eq 3 "$(cat "$T/status")"
	expect_rolled_back
}

# stopped <pid>: within a while
stopped() {
	for _ in $(seq "${2:-100}"); do
		grep -q '^State:.T' "/proc/$1/status" && return
		sleep 0.05
	done
	false
}

test_stopping_and_going_on() {
	# Where nobody could let it go on, the system does not let a process stop.
	sleep 10 &
	kill -TSTP $!
	stopped $! 10 || {
		kill $!
		skip 'needs a terminal, or somebody who waits'
	}
	kill -CONT $!
	kill $!
	some_files
	# shellcheck disable=SC2016
	git-checkpoint run -q sh -c 'echo $$ >"$T/pid"; : >"$T/ready"
		while test -d "$T" && test ! -e "$T/end"; do sleep 0.05; done; exit 4' &
	pid=$!
	wait_for "$T/ready"
	child=$(cat "$T/pid")
	kill -TSTP $pid
	for p in $pid "$child"; do
		stopped "$p" || fail "process $p goes on"
	done
	kill -CONT $pid
	: >"$T/end"
	expect_exit 4 wait $pid
}

run_tests
