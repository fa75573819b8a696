#!/bin/sh
# SPDX-License-Identifier: MIT
# restore -p: which answers do what, who may give them, and that nothing is written before the last.
# That hunks and keys are git's is compared with git itself in tests/random/t-hunks.sh.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id='' # of the checkpoint that was saved last

# choosing <exit status> [<option>...] -- <answer>...: restore -p of $id with these answers; what is
# asked is left in $T/asked, the answer in $T/restore.json
choosing() {
	choosing_wanted=$1 choosing_status=0
	shift
	choosing_options=
	while test "$1" != --; do
		choosing_options="$choosing_options $1"
		shift
	done
	shift
	: >"$T/answers"
	test $# = 0 || printf '%s\n' "$@" >"$T/answers"
	# shellcheck disable=SC2086 # options have no blanks
	git-checkpoint restore --json --yes -p $choosing_options "$id" \
		<"$T/answers" >"$T/restore.json" 2>"$T/asked" || choosing_status=$?
	test $choosing_status = "$choosing_wanted" || {
		cat "$T/restore.json" "$T/asked"
		fail "exit status $choosing_status instead of $choosing_wanted"
	}
}

# asked: the questions, a line each, without numbers and keys
asked() {
	sed -n 's/.*) Apply \(.*\) to worktree \[.*/\1/p' "$T/asked"
}

# checkpoints: how many there are
checkpoints() {
	git-checkpoint list --json >"$T/list.json"
	json '.checkpoints | length' "$T/list.json"
}

two_hunks() {
	seq 1 30 >a
	save
	sed -i 's/^3$/three/; s/^25$/x/' a
}

test_some_hunks_and_back_again() {
	two_hunks
	fingerprint . >"$T/before"
	choosing 0 -- n y
	expect_eq three "$(sed -n 3p a)"
	expect_eq 25 "$(sed -n 25p a)"
	expect_reverted modify a
	expect_eq true "$(told .verification.match)"
	expect_eq '[]' "$(told '.conflicts | tostring')"
	git-checkpoint undo -q --yes
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
}

test_the_end_of_the_answers_is_q() {
	two_hunks
	choosing 0 -- y
	expect_eq '3 x' "$(sed -n '3p;25p' a | contents -)"
	git-checkpoint undo -q --yes
	choosing 0 -- y q y
	expect_eq '3 x' "$(sed -n '3p;25p' a | contents -)"
	expect_eq 2 "$(asked | wc -l)"
}

test_without_a_terminal_yes_is_needed() {
	two_hunks
	cp a "$T/a"
	expect_exit 5 git-checkpoint restore -p "$id" </dev/zero >"$T/out" 2>"$T/err"
	expect_grep '^error: not a terminal; use --yes to confirm$' "$T/err"
	expect_no_grep Apply "$T/err"
	expect_same "$T/a" a
	expect_eq 1 "$(checkpoints)"
}

test_nothing_chosen_changes_nothing() {
	two_hunks
	fingerprint_raw . >"$T/before"
	choosing 0 -- n n
	expect_reverted
	printf 'd\n' | git-checkpoint restore -p --yes "$id" >"$T/out" 2>"$T/err"
	expect_eq 'Nothing was chosen, nothing was changed' "$(cat "$T/out")"
	fingerprint_raw . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq 1 "$(checkpoints)"
	git-checkpoint restore -q --yes "$id"
	git-checkpoint restore -p --yes "$id" </dev/null >"$T/out" 2>"$T/err"
	expect_grep "^The files are already as in $id" "$T/out"
	expect_eq '' "$(cat "$T/err")"
}

# Odd names, kinds, modes and contents: choosing everything, in one go or in two, is a restore.
test_all_hunks_are_the_whole() {
	yes a | head -n 2000 >"$T/all"
	for round in 1 2 3; do
		seed=$((TEST_SEED % 1000000 + round))
		mkdir "$T/work/$round"
		cd "$T/work/$round" || exit
		make_tree "$seed"
		save
		damage_tree "$seed"
		fingerprint . >"$T/damaged"
		git-checkpoint restore -q --yes "$id"
		fingerprint . >"$T/whole"
		git-checkpoint undo -q --yes
		git-checkpoint restore -q --yes -p "$id" <"$T/all" 2>"$T/asked"
		fingerprint . >"$T/chosen"
		expect_same "$T/whole" "$T/chosen"
		git-checkpoint undo -q --yes
		fingerprint . >"$T/undone"
		expect_same "$T/damaged" "$T/undone"
		perl -e 'srand shift; print qw(y n s d n y)[rand 6], "\n" for 1 .. 400' "$seed" |
			git-checkpoint restore -q --yes -p "$id" 2>"$T/asked"
		git-checkpoint restore -q --yes -p "$id" <"$T/all" 2>"$T/asked"
		fingerprint . >"$T/chosen"
		expect_same "$T/whole" "$T/chosen"
	done
}

test_a_dry_run_asks_and_changes_nothing() {
	two_hunks
	cp a "$T/a"
	printf 'y\nn\n' | git-checkpoint restore -n -p "$id" >"$T/out" 2>"$T/err"
	expect_grep '~ a$' "$T/out"
	expect_grep '^Would restore' "$T/out"
	expect_same "$T/a" a
	expect_eq 1 "$(checkpoints)"
}

test_modes_creations_and_deletions_are_a_question_each() {
	echo 1 >mode
	echo 1 >both
	mkdir -m 750 held
	echo back >held/file
	: >empty
	save
	chmod 600 mode
	chmod 755 both
	echo 2 >both
	rm -r held empty
	mkdir -p made/deep
	echo new >made/deep/file
	mkdir hollow
	choosing 0 -- n y n y y y n
	printf '%s\n' 'mode change' 'this hunk' addition addition deletion deletion 'mode change' >"$T/expected"
	asked >"$T/questions"
	expect_same "$T/expected" "$T/questions"
	# both: the hunk without the mode
	expect_eq '1 755' "$(cat both) $(stat -c %a both)"
	test ! -e empty
	# what comes has its directory with it, and the checkpoint's mode
	expect_eq 'back 750' "$(cat held/file) $(stat -c %a held)"
	test ! -e hollow
	# what goes leaves no directory that the checkpoint does not have
	test ! -e made
	expect_eq 600 "$(stat -c %a mode)"
	choosing 0 -- y n
	expect_eq 644 "$(stat -c %a both)"
	test ! -e empty
}

test_links_kinds_and_binary_files_are_one_question() {
	printf 'a\0b' >binary
	ln -s old link
	echo file >kind
	echo file >to-dir
	mkdir to-file
	echo 1 >to-file/1
	echo 2 >to-file/2
	save
	fingerprint . >"$T/saved"
	printf 'a\0c' >binary
	chmod 755 binary
	ln -sf new link
	rm -r kind to-dir to-file
	ln -s x kind
	mkdir to-dir
	echo 3 >to-dir/3
	echo 4 >to-dir/4
	echo file >to-file
	fingerprint . >"$T/now"
	choosing 0 -- n n n n n n
	printf '%s\n' 'mode change' 'binary change' 'change of kind' 'this hunk' 'change of kind' 'change of kind' >"$T/expected"
	asked >"$T/questions"
	expect_same "$T/expected" "$T/questions"
	fingerprint . >"$T/after"
	expect_same "$T/now" "$T/after"
	choosing 0 -- n y y y y y
	expect_eq 755 "$(stat -c %a binary)"
	chmod 644 binary
	fingerprint . >"$T/after"
	expect_same "$T/saved" "$T/after"
}

test_only_named_paths_and_what_may_go_are_asked_about() {
	echo 1 >a
	echo 1 >b
	echo '*.log' >.gitignore
	save
	echo 2 >a
	echo 2 >b
	echo new >c
	echo ignored >x.log
	choosing 0 --no-delete -- n n
	expect_eq 2 "$(asked | wc -l)"
	printf 'y\n' | git-checkpoint restore -q -p --yes "$id" -- b c >"$T/out" 2>"$T/asked"
	expect_eq '2 1 new' "$(contents a b c)"
	expect_eq 'this hunk deletion' "$(asked | contents -)"
	printf 'y\n' | git-checkpoint restore -q -p --yes "$id" -- c >"$T/out" 2>"$T/asked"
	test ! -e c
	# it is in the checkpoint alone, and not wanted
	rm b
	printf 'n\n' | git-checkpoint restore -q -p --yes "$id" -- b 2>"$T/asked"
	test ! -e b
	expect_eq ignored "$(cat x.log)"
}

# As any restore does it: what is in the way of the checkpoint is saved first, by name.
test_what_is_ignored_now_but_was_not_then_is_asked_about() {
	echo 1 >x.log
	mkdir -m 700 d
	echo 1 >d/y.log
	chmod 640 d/y.log
	save
	echo '*.log' >.gitignore
	echo 2 >x.log
	chmod 600 d/y.log
	chmod 755 d
	choosing 0 -- n n y y
	expect_eq 'deletion mode change mode change this hunk' "$(asked | contents -)"
	expect_eq '1 640 755' "$(cat x.log) $(stat -c %a d/y.log) $(stat -c %a d)"
	git-checkpoint undo -q --yes
	expect_eq '2 600' "$(cat x.log) $(stat -c %a d/y.log)"
}

test_only_what_the_checkpoint_is_about_is_asked_about() {
	mkdir in
	echo 1 >in/a
	echo 1 >b
	save in
	echo 2 >in/a
	echo 2 >b
	choosing 0 -- y y
	expect_eq '1 2' "$(contents in/a b)"
	save --state-only --state k=v
	expect_exit 128 git-checkpoint restore -p --yes "$id" </dev/null 2>"$T/err"
	expect_grep 'holds only state, no files' "$T/err"
}

test_not_with_the_state_of_git() {
	git init -q
	two_hunks
	for option in --index --git; do
		expect_exit 129 git-checkpoint restore -p $option "$id" </dev/null 2>"$T/err"
		expect_grep "$option restores everything, not single hunks" "$T/err"
	done
}

# ---- on a terminal ----

test_a_person_answers_on_a_terminal() {
	two_hunks
	on_terminal "git-checkpoint restore -p $id" '?' n y
	expect_grep 'y - apply this hunk to worktree' "$T/screen"
	expect_grep '(1/2) Apply this hunk to worktree \[y,n,q,a,d,j,J,g,/,e,?\]?' "$T/screen"
	expect_grep "Restored $id" "$T/screen"
	expect_eq 'three 25' "$(sed -n '3p;25p' a | contents -)"
	# ^D is q
	on_terminal "git-checkpoint restore -p $id"
	expect_grep 'Nothing was chosen' "$T/screen"
	expect_eq 'three 25' "$(sed -n '3p;25p' a | contents -)"
}

test_a_signal_writes_nothing() {
	require perl
	two_hunks
	fingerprint_raw . >"$T/before"
	for signal in INT TERM HUP; do
		mkfifo "$T/answers.$signal"
		# a shell makes what runs in the background ignore ^C
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' git-checkpoint restore -p --yes "$id" <"$T/answers.$signal" >"$T/out" 2>"$T/asked" &
		pid=$!
		exec 7>"$T/answers.$signal"
		echo y >&7
		until grep -q '2/2' "$T/asked"; do sleep 0.01; done
		kill -s $signal $pid
		# it may have been about to read, or be gone
		(echo y >&7) || :
		exec 7>&-
		status=0
		wait $pid || status=$?
		test $status -gt 128 || fail "exit status $status after $signal"
	done
	fingerprint_raw . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq 1 "$(checkpoints)"
}

run_tests
