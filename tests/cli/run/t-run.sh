#!/bin/sh
# SPDX-License-Identifier: MIT
# run: a checkpoint, a command, its verification, the way back, and what is told of it.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/run.sh"

# A command that changes, removes and creates, and fails with that status.
ruin() {
	echo "echo 2 >a; rm -r d link; mkdir -p e/f; echo 3 >e/g; exit $1"
}

# ---- what is run -----------------------------------------------------------------

test_the_status_of_the_command_is_kept() {
	some_files
	for status in 0 1 2 3 4 5 75 126 127 128 129 255; do
		expect_exit $status git checkpoint run -q -- sh -c "exit $status" 2>/dev/null
	done
	expect_exit 143 git checkpoint run -q sh -c 'kill -TERM $$' 2>"$T/err"
	expect_grep "'sh' was killed by SIGTERM" "$T/err"
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
	# an option of the command does not ask for JSON
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
	# there is no run --force
	expect_grep "'git checkpoint save --force' saves it" "$T/err"
	HOME=$T
	GIT_CHECKPOINT_MAX_FILES=1 expect_exit 5 git-checkpoint run touch "$T/ran" 2>"$T/err"
	expect_missing "$T/ran"
	expect_grep "use 'git checkpoint save --force' once" "$T/err"
}

test_an_incomplete_checkpoint_is_a_warning() {
	some_files
	head -c 5000 /dev/zero >large
	GIT_CHECKPOINT_MAX_FILE_SIZE=4k git-checkpoint run --json-file "$T/json" touch "$T/ran" 2>"$T/err"
	expect_exists "$T/ran"
	expect_grep 'warning: the checkpoint is incomplete: 1 path is not in it' "$T/err"
	expect_grep 'incomplete' "$T/json"
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
	git checkpoint diff --quiet @ || fail 'differs from the checkpoint'
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
	expect_grep "The state before the command is $id; 'git checkpoint restore $id' goes back to it" "$T/err"
	# what it says works
	command=$(sed -n "s/.*'\(git checkpoint restore .*\)' goes.*/\1/p" "$T/err")
	$command --yes >/dev/null
	expect_rolled_back
	# a yes in a pipe is not an answer
	echo y | expect_exit 3 git checkpoint run -- sh -c "$(ruin 3)" 2>"$T/err"
	expect_eq 2 "$(cat a)"
}

test_a_terminal_is_asked() {
	some_files
	echo 'echo 2 >a; rm -r d link; exit 3' >"$T/ruin"
	expect_exit 3 on_terminal 'git-checkpoint run sh "$T/ruin"' n
	expect_eq 2 "$(cat a)"
	expect_grep '~ a' "$T/screen"
	expect_grep '+ d/b' "$T/screen"
	expect_grep '? \[y/N/d/?\]' "$T/screen"
	expect_grep "The state before the command is $(newest id)" "$T/screen"
	git checkpoint restore -y @ >/dev/null
	expect_rolled_back
	expect_exit 3 on_terminal 'git-checkpoint run sh "$T/ruin"' y
	expect_rolled_back
	expect_grep 'Rolled back' "$T/screen"
	expect_exit 1 on_terminal 'git-checkpoint run --verify false sed -i s/1/2/ a' y
	expect_rolled_back
	# nothing to agree to
	expect_exit 3 on_terminal "git-checkpoint run sh -c 'exit 3'"
	expect_no_grep 'y/N' "$T/screen"
	# nor is a program asked
	expect_exit 3 on_terminal 'git-checkpoint run --json sh "$T/ruin"' y
	expect_no_grep 'y/N' "$T/screen"
	expect_eq 2 "$(cat a)"
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
	expect_grep 'dropped by another process' "$T/err"
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

# A file in the worktree is written after everything else, and is not what is rolled back.
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

test_plain_json_comes_after_the_output() {
	some_files
	expect_exit 3 git checkpoint run --json -- sh -c 'echo one; echo 2 >a; exit 3' >"$T/out" 2>"$T/err"
	expect_eq one "$(head -n 1 "$T/out")"
	expect_eq 2 "$(wc -l <"$T/out")"
	tail -n 1 "$T/out" >"$T/json"
	expect_eq 3 "$(json .exit_status "$T/json")"
	expect_eq false "$(json .rolled_back "$T/json")"
}

run_tests
