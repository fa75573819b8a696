#!/bin/sh
# SPDX-License-Identifier: MIT
# run: a checkpoint, a command as if nobody were between, its verification, the way back.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/restore.sh"

# some_files: a small tree, and its fingerprint in $T/before
some_files() {
	mkdir d
	echo 1 >a
	echo 1 >d/b
	chmod 640 d/b
	ln -s a link
	fingerprint . >"$T/before"
}

# A command that changes, removes and creates, and fails with that status.
ruin() {
	echo "echo 2 >a; rm -r d link; mkdir -p e/f; echo 3 >e/g; exit $1"
}

expect_rolled_back() {
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
}

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

newest() {
	git-checkpoint list --json | jq -r ".checkpoints[0].$1"
}

# ---- what is run -----------------------------------------------------------------

test_the_status_of_the_command_is_kept() {
	some_files
	for status in 0 1 2 3 4 5 75 126 127 128 129 255; do
		expect_exit $status git checkpoint run -q -- sh -c "exit $status" 2>/dev/null
	done
	expect_exit 143 git checkpoint run -q sh -c 'kill -TERM $$' 2>"$T/err"
	expect_grep "'sh' was ended by SIGTERM" "$T/err"
	expect_exit 137 git checkpoint run -q sh -c 'kill -KILL $$' 2>/dev/null
	expect_eq 1 "$(git checkpoint list | wc -l)"
}

test_the_checkpoint_is_taken_before() {
	some_files
	git checkpoint run -m 'before sed' sed -i s/1/2/ a >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out")"
	expect_eq 2 "$(cat a)"
	expect_eq 'before sed' "$(newest reason)"
	expect_eq cli "$(newest source)"
	expect_grep "^Saved $(newest id)\$" "$T/err"
	expect_eq 1 "$(git --git-dir="$(store_dir)" show "$(newest commit):a")"
	git checkpoint run true 2>"$T/err"
	expect_eq pre-run "$(newest reason)"
	git checkpoint run true 2>"$T/err"
	expect_grep "^Nothing changed since $(newest id)\$" "$T/err"
	git checkpoint run -q true 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
}

test_options_of_the_command_are_its_own() {
	some_files
	git-checkpoint run -q echo -m --json -h -- --rollback x >"$T/out"
	expect_eq '-m --json -h -- --rollback x' "$(cat "$T/out")"
	git-checkpoint run -q -- echo -- -q >"$T/out"
	expect_eq '-- -q' "$(cat "$T/out")"
	expect_exit 7 git-checkpoint run -q sh -c 'exit 7' --json >"$T/out" 2>/dev/null
	expect_eq '' "$(cat "$T/out")"
	git-checkpoint run -h >"$T/out"
	expect_grep '^usage: git checkpoint run' "$T/out"
}

test_no_command_or_a_wrong_option() {
	some_files
	expect_exit 129 git checkpoint run 2>"$T/err"
	expect_grep 'needs a command' "$T/err"
	expect_exit 129 git checkpoint run --rollback -- 2>"$T/err"
	expect_exit 129 git checkpoint run --bogus touch "$T/ran" 2>"$T/err"
	expect_exit 129 git checkpoint run --json --bogus touch "$T/ran" >"$T/out" 2>"$T/err"
	expect_eq 129 "$(json .error.code "$T/out")"
	# what belongs to the command is no wish for JSON
	expect_exit 129 git checkpoint run --bogus touch --json "$T/ran" >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out")"
	expect_missing "$T/ran"
	expect_eq 0 "$(git checkpoint list 2>/dev/null | wc -l)"
}

test_a_command_that_cannot_be_started() {
	some_files
	echo x >plain
	expect_exit 127 git checkpoint run --rollback -- no-such-command x >"$T/out" 2>"$T/err"
	expect_grep "unable to run 'no-such-command': No such file" "$T/err"
	expect_no_grep 'Rolled back' "$T/err"
	expect_exit 126 git checkpoint run ./plain 2>"$T/err"
	expect_grep "unable to run './plain': Permission denied" "$T/err"
	expect_exit 126 git checkpoint run ./d 2>"$T/err"
	expect_exit 127 git checkpoint run --json no-such-command >"$T/out" 2>"$T/err"
	expect_eq false "$(json .ran "$T/out")"
	expect_eq 127 "$(json .exit_status "$T/out")"
	# a script without #! is one for sh, as everywhere
	echo 'exit 9' >plain
	chmod +x plain
	expect_exit 9 git checkpoint run ./plain 2>"$T/err"
}

test_no_checkpoint_no_command() {
	some_files
	FAULT_PATH=objects/pack
	expect_exit 128 with_faults openat-create 1 ENOSPC git-checkpoint run touch "$T/ran" 2>"$T/err"
	expect_missing "$T/ran"
	expect_exit 128 with_faults openat-create 1 ENOSPC git-checkpoint run --json touch "$T/ran" \
		>"$T/out" 2>"$T/err"
	expect_missing "$T/ran"
	expect_eq 128 "$(json .error.code "$T/out")"
	HOME=$PWD
	expect_exit 5 git checkpoint run touch "$T/ran" 2>"$T/err"
	expect_missing "$T/ran"
}

test_an_incomplete_checkpoint_is_a_warning() {
	some_files
	head -c 5000 /dev/zero >large
	GIT_CHECKPOINT_MAX_FILE_SIZE=4k git-checkpoint run --json-file "$T/json" touch "$T/ran" 2>"$T/err"
	expect_exists "$T/ran"
	expect_grep 'warning: the checkpoint is incomplete: 1 path is not in it' "$T/err"
	expect_grep 'incomplete' "$T/json"
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
	# 31 signals; the two behind them are the C library's own
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
	head -c 3000000 /dev/urandom >"$T/bytes"
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
	expect_eq '' "$(ls "$(store_dir)/checkpoint/held")"
}

test_a_dead_run_holds_nothing() {
	some_files
	export GIT_CHECKPOINT_MAX_COUNT=3
	# shellcheck disable=SC2016
	expect_exit 137 git-checkpoint run -q -- sh -c 'kill -KILL $PPID'
	id=$(newest id)
	expect_eq 1 "$(ls "$(store_dir)/checkpoint/held" | wc -l)"
	for i in 1 2 3 4; do
		echo "new $i" >a
		git checkpoint save -q
	done
	git checkpoint list >"$T/list"
	expect_no_grep "$id" "$T/list"
	expect_eq '' "$(ls "$(store_dir)/checkpoint/held")"
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

# ---- verification ----------------------------------------------------------------

test_the_verification_decides() {
	some_files
	git checkpoint run --verify 'test "$(cat a)" = 2' -- sh -c 'echo 2 >a; echo out' >"$T/out" 2>"$T/err"
	expect_eq out "$(cat "$T/out")"
	echo 1 >a
	expect_exit 1 git checkpoint run --rollback --verify 'echo checked; pwd; exit 6' -- \
		sh -c 'echo 2 >a; echo out' >"$T/out" 2>"$T/err"
	expect_rolled_back
	expect_eq out "$(cat "$T/out")"
	expect_grep '^checked$' "$T/err"
	expect_grep "the verification 'echo checked; pwd; exit 6' failed with status 6" "$T/err"
	# at the root, wherever the command runs
	(cd d && git checkpoint run --verify pwd true 2>"$T/err")
	expect_grep "^$PWD\$" "$T/err"
	# not after a failure
	expect_exit 2 git checkpoint run --verify "touch $T/verified" sh -c 'exit 2' 2>"$T/err"
	expect_missing "$T/verified"
}

test_the_verification_of_the_settings() {
	some_files
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	echo 'verifyCommand = grep -q good a' >"$XDG_CONFIG_HOME/git-checkpoint/config"
	expect_exit 1 git checkpoint run --rollback -- sh -c 'echo bad >a' 2>"$T/err"
	expect_rolled_back
	git checkpoint run --rollback -- sh -c 'echo good >a' 2>"$T/err"
	expect_eq good "$(cat a)"
	git checkpoint run --rollback --verify true -- sh -c 'echo bad >a' 2>"$T/err"
	git checkpoint run --rollback --verify '' -- sh -c 'echo bad >a' 2>"$T/err"
	expect_eq bad "$(cat a)"
}

# ---- the way back ----------------------------------------------------------------

test_a_rollback_is_exact_and_can_be_undone() {
	make_tree 7 60
	# what is never captured cannot come back, and is not touched
	fingerprint . >"$T/before"
	expect_exit 5 git checkpoint run --rollback -- sh -c 'mktree --damage --seed 8 .; exit 5' 2>"$T/err"
	git checkpoint diff --quiet @~1 || fail 'differs from the checkpoint'
	expect_grep 'Rolled back to .*, verified' "$T/err"
	cd "$T" && rm -r work && mkdir work && cd work
	some_files
	expect_exit 3 git checkpoint run --rollback -- sh -c "$(ruin 3)" 2>"$T/err"
	expect_rolled_back
	git checkpoint undo -y >/dev/null
	expect_eq 2 "$(cat a)"
	expect_eq 3 "$(cat e/g)"
	expect_missing d link
	git checkpoint redo -y >/dev/null
	expect_rolled_back
}

test_captures_go_back_to_where_they_were_and_no_further() {
	some_files
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	cat >"$XDG_CONFIG_HOME/git-checkpoint/config" <<-END
	[capture "asked"]
	save = cat $T/asked
	restore = cat >$T/asked
	[capture "always"]
	auto = true
	save = cat $T/always; yes | head -n 1
	restore = head -n 1 >$T/always
	END
	echo 1 >"$T/asked"
	echo 1 >"$T/always"
	git checkpoint save -q --capture asked
	# no file is new, but a rollback to that checkpoint would bring back more than there was
	echo 2 >"$T/asked"
	expect_exit 3 git checkpoint run --rollback --json-file "$T/json" -- \
		sh -c "$(ruin 3 | sed "s|^|echo 2 >$T/always; |")" 2>"$T/err"
	expect_rolled_back
	expect_eq 2 "$(cat "$T/asked")"
	expect_eq 1 "$(cat "$T/always")"
	expect_eq '[{"name":"always","status":"restored"}]' "$(jq -c .restore.captures "$T/json")"
	# its commands have signals as a shell expects them
	expect_no_grep 'Broken pipe' "$T/err"
}

test_without_a_terminal_nothing_is_rolled_back_unasked() {
	some_files
	expect_exit 3 git checkpoint run -- sh -c "$(ruin 3)" >"$T/out" 2>"$T/err"
	expect_eq 2 "$(cat a)"
	expect_eq '' "$(cat "$T/out")"
	id=$(newest id)
	expect_grep "The state before is $id; 'git checkpoint restore $id' goes back to it" "$T/err"
	# what it says works
	command=$(sed -n "s/.*'\(git checkpoint restore .*\)' goes.*/\1/p" "$T/err")
	$command --yes >/dev/null
	expect_rolled_back
	# a yes in a pipe is no answer
	echo y | expect_exit 3 git checkpoint run -- sh -c "$(ruin 3)" 2>"$T/err"
	expect_eq 2 "$(cat a)"
}

# on_terminal <keys> <command>: what is shown is left in $T/screen
on_terminal() {
	require script
	script -q -c true /dev/null </dev/null >/dev/null 2>&1 || skip 'needs a pseudo terminal'
	printf '%b' "$1" | script -qec "$2" "$T/screen" >/dev/null
}

test_a_terminal_is_asked() {
	some_files
	echo 'echo 2 >a; rm -r d link; exit 3' >"$T/ruin"
	expect_exit 3 on_terminal 'n\n' 'git-checkpoint run sh "$T/ruin"'
	expect_eq 2 "$(cat a)"
	expect_grep '~ a' "$T/screen"
	expect_grep '+ d/b' "$T/screen"
	expect_grep '?.*\[y/N\]' "$T/screen"
	expect_grep "The state before is $(newest id)" "$T/screen"
	git checkpoint restore -y @ >/dev/null
	expect_rolled_back
	expect_exit 3 on_terminal 'y\n' 'git-checkpoint run sh "$T/ruin"'
	expect_rolled_back
	expect_grep 'Rolled back' "$T/screen"
	expect_exit 1 on_terminal 'y\n' 'git-checkpoint run --verify false sed -i s/1/2/ a'
	expect_rolled_back
	# nothing to agree to
	expect_exit 3 on_terminal '' "git-checkpoint run sh -c 'exit 3'"
	expect_no_grep 'y/N' "$T/screen"
	# nor is a program asked
	expect_exit 3 on_terminal 'y\n' 'git-checkpoint run --json sh "$T/ruin"'
	expect_no_grep 'y/N' "$T/screen"
	expect_eq 2 "$(cat a)"
}

test_the_interrupt_key_reaches_the_command_once() {
	some_files
	listen
	sed -i 's/eq "TERM"/eq "INT"/' "$T/listen"
	require script
	(
		wait_for "$T/ready"
		printf '\003'
		# an answer given before the question may be thrown away with the interrupt
		wait_until grep -q 'y/N' "$T/screen"
		printf 'y\n'
	) | script -qefc 'git-checkpoint run "$T/listen"' "$T/screen" >/dev/null || status=$?
	cat "$T/screen"
	expect_eq 12 "$status"
	expect_eq INT "$(cat "$T/got")"
	expect_rolled_back
}

test_no_safety_checkpoint_no_rollback() {
	some_files
	# the first pack is that of the checkpoint, the second that of the safety checkpoint
	FAULT_PATH=objects/pack
	with_faults openat-create 0 ENOSPC git-checkpoint save -q
	first=$(cat "$T/faults")
	echo changed >a
	fingerprint . >"$T/before"
	expect_exit 5 with_faults openat-create $((first + 1)) ENOSPC \
		git-checkpoint run --rollback --json-file "$T/json" -- sh -c 'unset LD_PRELOAD; echo 2 >a; exit 3' \
		2>"$T/err"
	expect_eq 2 "$(cat a)"
	expect_grep 'no safety checkpoint could be taken' "$T/err"
	id=$(newest id)
	expect_grep "'git checkpoint restore $id' goes back to it" "$T/err"
	expect_eq false "$(json .rolled_back "$T/json")"
	expect_eq 3 "$(json .exit_status "$T/json")"
	expect_eq 5 "$(json .error.code "$T/json")"
	git checkpoint restore -y "$id" >/dev/null
	expect_rolled_back
}

test_a_dropped_checkpoint_cannot_be_rolled_back_to() {
	some_files
	git checkpoint save -q
	echo 2 >a
	expect_exit 128 git checkpoint run --rollback -- sh -c '
		echo 3 >a; git checkpoint save -q --allow-empty; git checkpoint drop -q @~1; exit 3' 2>"$T/err"
	expect_eq 3 "$(cat a)"
	expect_grep 'dropped meanwhile' "$T/err"
	expect_no_grep 'goes back to it' "$T/err"
}

test_an_interrupted_restore_has_to_be_settled_first() {
	some_files
	save
	echo 2 >a
	echo 2 >d/b
	for at in 1 2 3 4 5 6 7 8; do
		expect_exit 137 with_faults rename $at kill git-checkpoint restore -q -y "$id"
		test ! -e "$(store_dir)/checkpoint/journal" || break
	done
	expect_exists "$(store_dir)/checkpoint/journal"
	expect_exit 5 git checkpoint run --rollback -- touch "$T/ran" 2>"$T/err"
	expect_missing "$T/ran"
	git checkpoint run -- touch "$T/ran" 2>"$T/err"
	expect_exists "$T/ran"
}

# ---- JSON ------------------------------------------------------------------------

test_json_in_a_file_of_its_own() {
	some_files
	expect_exit 3 git checkpoint run --json-file "$T/json" --rollback --verify true -- \
		sh -c "echo to stdout; $(ruin 3)" >"$T/out" 2>"$T/err"
	expect_eq 'to stdout' "$(cat "$T/out")"
	expect_eq 'ran command exit_status signal checkpoint verify rolled_back restore seconds warnings' \
		"$(jq -r 'keys_unsorted | join(" ")' "$T/json")"
	expect_eq true "$(json .ran "$T/json")"
	expect_eq 'sh -c' "$(json '.command[0:2] | join(" ")' "$T/json")"
	expect_eq null "$(json .signal "$T/json")"
	expect_eq null "$(json .verify "$T/json")"
	expect_eq "$(newest reason)" pre-restore-safety
	expect_eq "$(newest id)" "$(json .restore.safety_checkpoint.id "$T/json")"
	expect_eq pre-run "$(json .checkpoint.reason "$T/json")"
	expect_eq "$(json .checkpoint.id "$T/json")" "$(json .restore.restored_to.checkpoint_id "$T/json")"
	expect_eq true "$(json .restore.verification.match "$T/json")"
	expect_eq number "$(json '.seconds | type' "$T/json")"
	expect_rolled_back
	git checkpoint run --json-file "$T/json" --verify true -- true 2>"$T/err"
	expect_eq 'true 0' "$(json '.verify | .command + " " + (.exit_status | tostring)' "$T/json")"
	expect_eq 'false null' "$(json '[.rolled_back, .restore] | map(tostring) | join(" ")' "$T/json")"
	# replaced as a whole, with its mode
	chmod 600 "$T/json"
	expect_exit 1 git checkpoint run --json-file "$T/json" --verify 'exit 4' -- true 2>"$T/err"
	expect_eq 600 "$(stat -c %a "$T/json")"
	expect_eq '0 4' "$(json '[.exit_status, .verify.exit_status] | join(" ")' "$T/json")"
}

# A file in the worktree is written behind all else, and is not what is rolled back.
test_a_json_file_in_the_worktree() {
	some_files
	expect_exit 3 git checkpoint run --json-file d/json --rollback -- sh -c "$(ruin 3)" 2>"$T/err"
	expect_eq true "$(json .rolled_back d/json)"
	rm d/json
	expect_rolled_back
	# nowhere to write it, and that is said
	expect_exit 128 git checkpoint run --json-file d/json -- rm -r d 2>"$T/err"
	expect_grep "unable to create a file in '.*/d'" "$T/err"
	# but not instead of how the command ended
	mkdir d
	expect_exit 9 git checkpoint run --json-file d/json -- sh -c 'rmdir d; exit 9' 2>"$T/err"
	expect_grep "unable to create a file in '.*/d'" "$T/err"
	echo '{"old":1}' >json
	expect_exit 3 git checkpoint run --json-file json --rollback -- sh -c 'rm json; echo 2 >a; exit 3' \
		2>"$T/err"
	expect_eq true "$(json .rolled_back json)"
	expect_eq '{"old":1}' "$(git --git-dir="$(store_dir)" show "$(json .checkpoint.commit json):json")"
	expect_exit 128 git checkpoint run --json-file no/such/json touch "$T/ran" 2>"$T/err"
	expect_exit 128 git checkpoint run --json-file "$T/" touch "$T/ran" 2>"$T/err"
	expect_missing "$T/ran"
}

test_json_on_a_descriptor() {
	some_files
	expect_exit 7 git-checkpoint run --json-fd 3 -- sh -c 'echo out; echo x 2>/dev/null >&3; exit 7' \
		3>"$T/json" >"$T/out" 2>"$T/err"
	expect_eq out "$(cat "$T/out")"
	expect_eq 7 "$(json .exit_status "$T/json")"
	# the reader sees the end although something stays in the background
	# shellcheck disable=SC2016
	{
		git-checkpoint run --json-fd 3 -- sh -c 'sleep 300 >/dev/null 2>&1 & echo $! >"$T/pid"' \
			3>&1 >/dev/null 2>&1
	} | timeout 20 cat >"$T/json"
	kill "$(cat "$T/pid")"
	expect_eq true "$(json .ran "$T/json")"
	expect_exit 129 git-checkpoint run --json-fd 9 touch "$T/ran" 2>"$T/err"
	expect_exit 129 git-checkpoint run --json-fd 9 touch "$T/ran" 9</dev/null 2>"$T/err"
	expect_exit 129 git-checkpoint run --json-fd 3 --json-file x touch "$T/ran" 3>"$T/json" 2>"$T/err"
	expect_exit 129 git-checkpoint run --json-fd 3 --bogus touch 3>"$T/json" 2>"$T/err"
	expect_eq 129 "$(json .error.code "$T/json")"
	expect_missing "$T/ran"
}

test_plain_json_comes_behind_the_output() {
	some_files
	expect_exit 3 git checkpoint run --json -- sh -c 'echo one; echo 2 >a; exit 3' >"$T/out" 2>"$T/err"
	expect_eq one "$(head -n 1 "$T/out")"
	expect_eq 2 "$(wc -l <"$T/out")"
	tail -n 1 "$T/out" >"$T/json"
	expect_eq 3 "$(json .exit_status "$T/json")"
	expect_eq false "$(json .rolled_back "$T/json")"
}

run_tests
