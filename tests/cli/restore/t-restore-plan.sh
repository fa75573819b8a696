#!/bin/sh
# SPDX-License-Identifier: MIT
# restore: the plan as it is shown, and what can be answered.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id='' # of the checkpoint that was saved last

# files <dir> <n>: that many files in it
files() {
	mkdir -p "$1"
	for n in $(seq "$2"); do
		echo "$n" >"$1/f$n"
	done
}

# plan [<option>...]: what a dry run shows, without its last line
plan() {
	git-checkpoint restore -n "$@" "$id" >"$T/out"
	sed '$d' "$T/out"
}

# ---- directories -----------------------------------------------------------------

test_a_directory_that_goes_is_one_line() {
	echo 1 >a
	save
	files docs/RelNotes 25
	files docs/RelNotes/old 5
	echo 2 >a
	printf '  %s\n' '~ a' '- docs/ (30 files)' '-v shows every path' >"$T/expected"
	plan >"$T/plan"
	expect_same "$T/expected" "$T/plan"
	expect_eq 31 "$(plan -v | grep -c '^  [~-] ')"
	expect_no_grep 'shows every path\|more' "$T/out"
	git-checkpoint restore -n --json "$id" >"$T/json"
	expect_eq 31 "$(json '.changes_reverted | length' "$T/json")"
	# the report has it, too
	git-checkpoint restore -y "$id" >"$T/out"
	expect_grep '^  - docs/ (30 files)$' "$T/out"
	expect_grep "^Restored $id: 0 brought back, 1 changed, 30 removed, verified$" "$T/out"
	expect_missing docs
	# and back: what comes is folded as well
	git-checkpoint undo -y >"$T/out"
	expect_grep '^  + docs/ (30 files)$' "$T/out"
	expect_no_grep 'docs/RelNotes' "$T/out"
	git-checkpoint redo -v -y >"$T/out"
	expect_grep '^  - docs/RelNotes/old/f5$' "$T/out"
}

# It was empty, and is again: it stays, but nothing in it does.
test_a_directory_that_is_emptied_is_one_line() {
	git init -q
	echo '*.o' >.gitignore
	mkdir empty kept objects
	echo 1 >kept/k
	save
	for d in empty kept objects; do
		files $d 30
	done
	: >objects/x.o
	plan >"$T/plan"
	expect_grep '^  - empty/ (30 files)$' "$T/plan"
	expect_eq 30 "$(grep -c '^  - kept/f' "$T/plan")"
	expect_eq 30 "$(grep -c '^  - objects/f' "$T/plan")"
	git-checkpoint restore -q -y "$id"
	expect_exists empty objects/x.o
	git-checkpoint undo -y >"$T/out"
	expect_grep '^  + empty/ (30 files)$' "$T/out"
	# the same after a save, when the names are known without listing them
	save
	rm empty/* kept/f*
	git-checkpoint restore -n "$id" >"$T/out"
	expect_grep '^  + empty/ (30 files)$' "$T/out"
	expect_eq 30 "$(grep -c '^  + kept/f' "$T/out")"
}

test_thousands_are_counted_for_people() {
	save
	files d 1200
	plan >"$T/plan"
	expect_grep '^  - d/ (1,200 files)$' "$T/plan"
	mkdir more
	for n in $(seq 1300); do
		echo 1 >more/"$n"
	done
	save
	for n in $(seq 1300); do
		echo 2 >more/"$n"
	done
	git-checkpoint restore -y "$id" >"$T/out"
	expect_grep "^  and 1,280 more; see 'git checkpoint restore -n -v $id'$" "$T/out"
}

test_a_short_list_is_not_folded() {
	save
	files d 20
	expect_eq 20 "$(plan | grep -c '^  - d/f')"
	echo 1 >a
	printf '  %s\n' '- a' '- d/ (20 files)' '-v shows every path' >"$T/expected"
	plan >"$T/plan"
	expect_same "$T/expected" "$T/plan"
}

test_a_directory_that_keeps_something_is_not_folded() {
	git init -q
	printf '%s\n' '*.o' build >.gitignore
	files comes/kept 30
	save
	files ignored 30
	echo 1 >ignored/a.o
	files nested 30
	git init -q nested/deep
	echo 1 >nested/deep/a
	files whole/of/it 30
	# an ignored file in a directory that comes back
	rm comes/kept/f*
	mkdir -p comes/kept/build
	echo 1 >comes/kept/build/x
	plan >"$T/plan"
	expect_eq 30 "$(grep -c '^  - ignored/f' "$T/plan")"
	expect_eq 30 "$(grep -c '^  - nested/f' "$T/plan")"
	expect_grep '^  - nested/deep/a$' "$T/plan"
	expect_eq 30 "$(grep -c '^  + comes/kept/f' "$T/plan")"
	expect_grep '^  - whole/ (30 files)$' "$T/plan"
	# what was shown as going goes, what was not stays
	git-checkpoint restore -q -y "$id" 2>"$T/err"
	expect_missing whole
	expect_exists ignored/a.o nested/deep/.git comes/kept/build/x comes/kept/f30
}

test_removed_lines_come_first_when_folded() {
	for n in $(seq 30); do
		echo 1 >f$n
	done
	save
	for n in $(seq 30); do
		echo 2 >f$n
	done
	files x 30
	files y 30
	git-checkpoint restore -y "$id" >"$T/out"
	expect_eq 20 "$(grep -c '^  [~-] ' "$T/out")"
	expect_grep '^  - x/ (30 files)$' "$T/out"
	expect_grep '^  - y/ (30 files)$' "$T/out"
	expect_grep "^  and 12 more; " "$T/out"
}

test_odd_names_are_quoted_when_folded() {
	save
	mkdir "$(printf 'a\nb')"
	for n in $(seq 30); do
		echo 1 >"$(printf 'a\nb')/$n"
	done
	plan >"$T/plan"
	expect_grep '^  - "a\\nb/" (30 files)$' "$T/plan"
}

# ---- the question ----------------------------------------------------------------

# What the pager gets is left in $T/paged.
paged() {
	printf '%s\n' '#!/bin/sh' 'cat >"$T/paged.new"; cat "$T/paged.new" >>"$T/paged"; echo PAGED' >"$T/pager"
	chmod +x "$T/pager"
	rm -f "$T/paged"
	GIT_PAGER=$T/pager NO_COLOR=1
	export GIT_PAGER NO_COLOR
}

some_changes() {
	printf '%s\n' one two >a
	echo 1 >gone
	mkdir d
	echo 1 >d/same
	save
	printf '%s\n' one 2 >a
	rm gone
	echo 1 >new
}

test_d_shows_the_diff_and_asks_again() {
	some_changes
	paged
	git-checkpoint diff -R "$id" >"$T/diff"
	expect_exit 5 on_terminal "git-checkpoint restore $id" d n
	expect_same "$T/diff" "$T/paged"
	expect_eq 2 "$(grep -c 'to remove? \[y/N/d/?\]' "$T/screen")"
	# the plan is shown once
	expect_eq 1 "$(grep -c '~ a' "$T/screen")"
	expect_eq 2 "$(sed -n 2p a)"
	on_terminal "git-checkpoint restore $id" d d y
	expect_eq 3 "$(grep -c 'diff --git a/a b/a' "$T/paged")"
	expect_eq two "$(sed -n 2p a)"
	# undo and redo ask, too
	rm "$T/paged"
	on_terminal "git-checkpoint undo" d y
	expect_grep '^+2$' "$T/paged"
	expect_eq 2 "$(sed -n 2p a)"
	rm "$T/paged"
	on_terminal "git-checkpoint redo" D Y
	expect_grep '^-2$' "$T/paged"
	expect_eq two "$(sed -n 2p a)"
}

test_the_diff_is_that_of_the_plan() {
	some_changes
	echo 2 >d/same
	paged
	expect_exit 5 on_terminal "git-checkpoint restore $id -- a gone" d n
	git-checkpoint diff -R "$id" -- a gone >"$T/diff"
	expect_same "$T/diff" "$T/paged"
	rm "$T/paged"
	# what is not removed is not in it
	expect_exit 5 on_terminal "git-checkpoint restore --no-delete $id" d n
	git-checkpoint diff -R "$id" -- a gone d >"$T/diff"
	expect_same "$T/diff" "$T/paged"
}

# A directory in the place of a file, and the other way round, are one line of the plan.
test_the_diff_of_a_change_of_kind() {
	mkdir dir
	echo 1 >dir/a
	echo 1 >file
	save
	rm -r dir file
	echo 2 >dir
	mkdir file
	echo 2 >file/a
	paged
	git-checkpoint diff -R "$id" >"$T/diff"
	expect_exit 5 on_terminal "git-checkpoint restore $id" d n
	expect_same "$T/diff" "$T/paged"
}

test_a_question_mark_explains() {
	some_changes
	expect_exit 5 on_terminal "git-checkpoint restore $id" '?' n
	for line in 'y - restore it' 'n - ' 'd - ' '? - '; do
		grep -q "^$line" "$T/screen" || fail "no '$line'"
	done
	expect_eq 2 "$(grep -c 'to remove? \[y/N/d/?\]' "$T/screen")"
	expect_exit 0 awk '{ sub("\r$", "") } length > 80 { exit 1 }' "$T/screen"
	# anything else is not a yes
	for answer in '' q ye dy yy '??' ' y'; do
		expect_exit 5 on_terminal "git-checkpoint restore $id" "$answer"
		expect_grep 'Not restored' "$T/screen"
	done
	expect_eq 2 "$(sed -n 2p a)"
	# after run, where there is something to roll back
	git-checkpoint restore -q -y "$id"
	paged
	expect_exit 3 on_terminal "git-checkpoint run sh -c 'echo 3 >a; exit 3'" '?' d y
	expect_grep '^y - ' "$T/screen"
	expect_grep '^-3' "$T/paged"
	expect_eq two "$(sed -n 2p a)"
	# drop has no diff to offer
	expect_exit 5 on_terminal "git-checkpoint drop $id" d
	expect_grep '\[y/N\]' "$T/screen"
}

# The diff is for the terminal, wherever the report goes.
test_the_diff_does_not_go_to_a_file() {
	some_changes
	paged
	on_terminal "git-checkpoint restore $id >'$T/out'" d y
	expect_grep '^-2$' "$T/paged"
	expect_grep PAGED "$T/screen"
	expect_grep '^Restored' "$T/out"
	expect_no_grep 'PAGED\|^diff' "$T/out"
}

# Whoever has seen enough leaves the pager, not the restore.
test_quitting_the_pager_is_not_the_end() {
	echo 1 >a
	save
	seq 200000 >a
	printf '%s\n' '#!/bin/sh' 'head -n 1 >"$T/paged"' >"$T/pager"
	chmod +x "$T/pager"
	GIT_PAGER=$T/pager NO_COLOR=1
	export GIT_PAGER NO_COLOR
	on_terminal "git-checkpoint restore $id" d y
	expect_grep '^diff --git' "$T/paged"
	expect_eq 1 "$(cat a)"
}

# ---- a checkpoint with a path in it ------------------------------------------------

# pointed <command>...: it exits with 129, and the one command that it names works
pointed() {
	expect_exit 129 git-checkpoint "$@" >"$T/out" 2>"$T/err"
	expect_eq 1 "$(wc -l <"$T/err")"
	sed -n "s/.*'\\(git checkpoint restore .* -- .*\\)'$/\\1/p" "$T/err" >"$T/advice"
	test -s "$T/advice" || fail "$(cat "$T/err")"
	sed -i 's/restore /restore -q -y /' "$T/advice"
	sh -e "$T/advice"
}

test_a_path_in_a_checkpoint_is_named_apart() {
	mkdir -p d/e 'odd name'
	echo 1 | tee a b d/x d/e/y >"odd name/it's"
	save --step 7
	for typed in "@:" "$id:" "step:7:"; do
		echo 2 | tee a b d/x d/e/y >"odd name/it's"
		pointed restore "$typed"a
		expect_eq '1 2 2 2' "$(contents a b d/x d/e/y)"
		pointed restore "$typed"d
		expect_eq '1 2 1 1' "$(contents a b d/x d/e/y)"
		pointed restore "${typed}odd name/it's"
		expect_eq 1 "$(cat "odd name/it's")"
	done
	# from the top, as in git, or from here
	cd d/e
	echo 2 >../x
	pointed restore @:d/x
	expect_eq 1 "$(cat ../x)"
	echo 2 >y
	pointed restore @:./y
	expect_eq 1 "$(cat y)"
	echo 2 >../x
	pointed restore @:../x
	expect_eq 1 "$(cat ../x)"
	expect_exit 129 git-checkpoint restore --json @:d/x >"$T/json"
	expect_eq 129 "$(json .error.code "$T/json")"
	# nor is it another name for a checkpoint
	expect_exit 129 git-checkpoint restore -y @:d/x y 2>"$T/err"
	expect_exit 129 git-checkpoint restore -y @: 2>"$T/err"
	expect_exit 128 git-checkpoint restore -y step:8 2>"$T/err"
}

# ---- files change while somebody thinks ------------------------------------------

# on_terminal types the answer when the command that makes the change has run: it is the pager.
test_what_is_new_is_asked_for_folded_and_in_the_diff() {
	files old 30
	echo 1 >a
	save
	rm -r old
	echo 2 >a
	cat >"$T/pager" <<-'END'
	#!/bin/sh
	n=$(($(cat "$T/n" 2>/dev/null) + 1))
	echo $n >"$T/n"
	cat >"$T/paged.$n"
	test $n != 1 || {
		mkdir fresh
		for i in $(seq 30); do echo "$i" >fresh/"$i"; done
	}
	END
	chmod +x "$T/pager"
	GIT_PAGER=$T/pager NO_COLOR=1
	export GIT_PAGER NO_COLOR
	expect_exit 5 on_terminal "git-checkpoint restore $id" d y d n
	expect_grep '^  + old/ (30 files)' "$T/screen"
	expect_grep 'Files changed while you were asked' "$T/screen"
	expect_grep '^  - fresh/ (30 files)' "$T/screen"
	expect_eq 1 "$(grep -c '+ old/ (30 files)' "$T/screen")"
	expect_no_grep fresh "$T/paged.1"
	expect_grep '^diff --git a/fresh/30 b/fresh/30' "$T/paged.2"
	expect_grep '^diff --git a/a b/a' "$T/paged.2"
	expect_exists fresh/30
	expect_eq 2 "$(cat a)"
}

run_tests
