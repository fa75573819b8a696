#!/bin/sh
# SPDX-License-Identifier: MIT
# What a person at a terminal sees and types: questions, colours, pager, columns, hints.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/restore.sh"
. "$(dirname "$0")/../../lib/screen.sh"

export GIT_PAGER=cat GIT_CHECKPOINT_ADVICE=false

# A small tree with a checkpoint, its id in $id, and changes since.
changed_tree() {
	echo 1 >a
	echo 1 >gone
	save -m 'the state before'
	echo 2 >a
	rm gone
	echo new >new
	fingerprint . >"$T/before"
}

expect_untouched() {
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
}

expect_restored() {
	expect_eq '1 1' "$(contents a gone)"
	expect_missing new
}

# ---- questions -------------------------------------------------------------------

test_the_question_shows_the_plan() {
	changed_tree
	on_screen 80 24 "git-checkpoint restore $id"
	see 'y/N'
	expect_grep "^$id, .* ago: the state before\$" "$T/screen"
	expect_grep '^  ~ a$' "$T/screen"
	expect_grep '^  + gone$' "$T/screen"
	expect_grep '^  - new$' "$T/screen"
	expect_grep '1 to bring back, 1 to change, 1 to remove' "$T/screen"
	# in the colours of their kind
	esc=$(printf '\033')
	expect_grep "$esc\[33m  ~ a\|$esc\[33m~ a" "$T/screen.raw"
	expect_grep "$esc\[32m+ gone" "$T/screen.raw"
	expect_grep "$esc\[31m- new" "$T/screen.raw"
	expect_untouched
	keys y Enter
	ended 0
	expect_grep "^Restored $id" "$T/screen"
	# the plan is not shown a second time
	expect_eq 1 "$(grep -c '^  ~ a$' "$T/screen")"
	expect_restored
}

test_no_is_no() {
	changed_tree
	for answer in n no '' 'yes please' N; do
		on_screen 80 24 "git-checkpoint restore $id"
		see 'y/N'
		keys "$answer" Enter
		ended 5
		expect_grep '^Not restored\.$' "$T/screen"
		expect_no_grep 'error:' "$T/screen"
		expect_untouched
	done
}

test_yes_in_full_and_in_capitals() {
	changed_tree
	for answer in yes Y YES; do
		on_screen 80 24 "git-checkpoint restore $id"
		see 'y/N'
		keys "$answer" Enter
		ended 0
		expect_restored
		git-checkpoint undo -q -y
		expect_untouched
	done
}

test_end_of_file_and_interrupt_touch_nothing() {
	changed_tree
	on_screen 80 24 "git-checkpoint restore $id"
	see 'y/N'
	keys C-d
	ended 5
	expect_untouched
	on_screen 80 24 "git-checkpoint restore $id"
	see 'y/N'
	keys C-c
	ended 130
	expect_grep 'interrupted, nothing was touched' "$T/screen"
	expect_untouched
	git-checkpoint status --json | jq -e '.interrupted_restore == null'
}

test_undo_asks_as_well() {
	changed_tree
	git-checkpoint restore -q -y "$id"
	on_screen 80 24 'git-checkpoint undo'
	see 'y/N'
	keys n Enter
	ended 5
	expect_restored
	on_screen 80 24 'git-checkpoint undo'
	see 'y/N'
	keys y Enter
	ended 0
	expect_untouched
}

test_a_plan_that_grew_meanwhile_is_shown_again() {
	changed_tree
	on_screen 80 40 "git-checkpoint restore $id"
	see 'y/N'
	echo precious >later
	keys y Enter
	see 'New in the plan:'
	see '^  - later$'
	see '1 to bring back, 1 to change, 2 to remove'
	expect_eq 1 "$(grep -c '^  ~ a$' "$T/screen")"
	expect_eq precious "$(cat later)"
	expect_eq 2 "$(cat a)"
	keys n Enter
	ended 5
	expect_eq precious "$(cat later)"
	rm later
	expect_untouched
	# agreed to, it goes; that the plan became smaller is not asked about
	on_screen 80 40 "git-checkpoint restore $id"
	see 'y/N'
	echo precious >later
	keys y Enter
	see '^  - later$'
	rm new
	keys y Enter
	ended 0
	expect_restored
	expect_missing later
}

test_what_there_is_to_say_about_head_stands_before_the_question_once() {
	git init -q
	echo 1 >a
	git add a
	git commit -q -m one
	save
	echo 2 >a
	git commit -q -a -m two
	git checkout -q -b other
	on_screen 160 40 "git-checkpoint restore $id"
	see 'y/N'
	expect_grep "^warning: git is on 'other' at .*, at the checkpoint it was on '.*' at " "$T/screen"
	expect_grep '^warning: left as they are; to bring them back, too:$' "$T/screen"
	expect_grep "^    git checkpoint restore --git $id\$" "$T/screen"
	keys y Enter
	ended 0
	expect_eq 2 "$(grep -c '^warning: ' "$T/screen")"
	expect_eq 1 "$(grep -c '^    git checkpoint restore --git ' "$T/screen")"
	# without a question the same
	git-checkpoint undo -q --yes
	git-checkpoint restore --yes "$id" >"$T/out" 2>"$T/err"
	sed -n '/^warning: /p; /^    git/p' "$T/screen" >"$T/asked"
	expect_same "$T/asked" "$T/err"
	# and what was done to git is said
	echo 3 >staged
	git add staged
	git-checkpoint save -q
	git commit -q -m three
	git-checkpoint restore --yes --git @ >"$T/out" 2>&1
	expect_grep "^Git: on 'other' at [0-9a-f]*, 1 staged file back$" "$T/out"
}

# ---- what is shown ---------------------------------------------------------------

long_list() {
	for i in 1 2 3; do
		echo $i >a
		save --source some-coding-agent -m "reason $i, which goes on for longer than any line of a terminal can be, whatever its width: $(printf '%0250d' 0)"
	done
}

test_list_fits_the_terminal() {
	long_list
	for columns in 80 120 200; do
		on_screen $columns 24 'git-checkpoint list'
		ended 0
		# one line each, which says why, below the day
		expect_eq 4 "$(grep -c . "$T/screen")"
		expect_eq 3 "$(grep -c '^[0-9a-f]\{6\}  @[~12]*  *[0-9][0-9]:[0-9][0-9]  .*reason [123].*…$' "$T/screen")"
		expect_eq 2 "$(grep -c '  +1  -1  ' "$T/screen")"
	done
	# who took it, where there is room
	expect_eq 3 "$(grep -c '  some-coding-a.*  reason' "$T/screen")"
	# below that, what cannot be shortened goes
	git-checkpoint pin -q @
	for columns in 40 50 70; do
		on_screen $columns 24 'git-checkpoint list'
		ended 0
		expect_eq 3 "$(grep -c '^[0-9a-f]\{6\}  @.*…$' "$T/screen")"
		expect_eq 4 "$(grep -c . "$T/screen")"
	done
	expect_eq 1 "$(grep -c '\[pinned\]' "$T/screen")"
	on_screen 80 24 'git-checkpoint list --stat'
	ended 0
	expect_eq 3 "$(grep -c '^[0-9a-f]\{6\}  @.*reason [123].*…$' "$T/screen")"
	expect_eq 3 "$(grep -c '^ a | [12] +' "$T/screen")"
}

test_list_tells_days_branches_and_what_undo_leads_to() {
	require faketime
	git init -q
	echo 1 >a
	git add a
	git commit -q -m one
	fake '2026-11-15 10:20:00 UTC' git-checkpoint save -q -m first
	git checkout -q -b a-branch-with-a-name-that-is-far-too-long-for-a-column
	echo 2 >>a
	fake '2026-11-16 23:59:00 UTC' git-checkpoint save -q -m second
	seq 10 >a
	git checkout -q --detach
	fake '2026-11-17 00:01:00 UTC' git-checkpoint save -q -m third
	echo 11 >>a
	fake '2026-11-17 00:02:00 UTC' git-checkpoint restore -q --yes @~1
	ids=$(git-checkpoint list | cut -d' ' -f1 | sed 's/.*_//')
	commit=$(git rev-parse --short=7 HEAD)
	esc=$(printf '\033')
	script=$(printf '%s\n' "$(command -v git-checkpoint)")
	later=$(printf %+d $(($(date -d '2026-11-17 12:00:00 UTC' +%s) - $(date +%s))))
	library=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1)
	on_screen 80 24 "TZ=UTC FAKETIME=$later LD_PRELOAD=$library $script list"
	ended 0
	set -- $ids
	{
		echo Today
		echo "$1       00:02"
		echo "$2  @    00:01  detached           $commit  +8  -0  third"
		echo Yesterday
		echo "$3  @~1  23:59  a-branch-with-a-…  $commit  +1  -0  second"
		echo 'Sun 15 Nov 2026'
		echo "$4  @~2  10:20  main               $commit          first"
	} >"$T/expected"
	sed -e "s/^\($1  .*00:02\).*/\1/" -e 's/ *$//' -e '/^$/d' "$T/screen" >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	expect_grep "^$1  .*  before: restoring second *\$" "$T/screen"
	# in dim letters, other than the others
	expect_grep "^$esc\[[0;]*2m.*$1.*[[;]2m.*before: restoring" "$T/screen.raw"
	expect_eq 1 "$(grep -c '[[;]2m' "$T/screen.raw")"
	expect_grep "^$esc\[1mYesterday" "$T/screen.raw"
	# the positions are those of all, whatever is chosen; and they are right
	on_screen 80 24 'git-checkpoint list --grep first'
	ended 0
	expect_grep "^$4  @~2 " "$T/screen"
	expect_eq first "$(git-checkpoint show --json "$4" | jq -r .title)"
	expect_eq first "$(git-checkpoint show --json @~2 | jq -r .title)"
	# elsewhere there are no days, the id is whole, and no cell is empty
	git-checkpoint list >"$T/out"
	expect_eq 4 "$(grep -c '^chk_' "$T/out")"
	expect_eq '- @ @~1 @~2 ' "$(awk '{ print $2 }' "$T/out" | tr '\n' ' ')"
	expect_grep "  @  .* +8 -0  .*  detached $commit .*  cli  *third\$" "$T/out"
	expect_grep "  @~2  .*  -  .*  main $commit .*  cli  *first\$" "$T/out"
}

test_status_fits_one_screen() {
	long_list
	save -m "and more" --allow-empty
	for i in 1 2 3 4 5; do
		save --allow-empty -m "$i"
	done
	echo changed >a
	git init -q
	on_screen 80 24 'git-checkpoint status'
	ended 0
	test "$(grep -c . "$T/screen")" -le 23 || fail 'does not fit'
	expect_grep '^Safe: *no, ' "$T/screen"
	expect_grep '^ *now  o' "$T/screen"
	expect_grep '  @~4 ' "$T/screen"
}

test_colour_follows_the_rules() {
	long_list
	esc=$(printf '\033')
	on_screen 80 24 'git-checkpoint list'
	ended 0
	expect_grep "$esc\[33m[0-9a-f]\{6\}$esc" "$T/screen.raw"
	on_screen 80 24 'NO_COLOR=1 git-checkpoint list'
	ended 0
	expect_no_grep "$esc" "$T/screen.raw"
	on_screen 80 24 'git -c checkpoint.color=never checkpoint list'
	ended 0
	expect_no_grep "$esc" "$T/screen.raw"
	on_screen 80 24 'TERM=dumb git-checkpoint list'
	ended 0
	expect_no_grep "$esc" "$T/screen.raw"
	git-checkpoint list >"$T/out"
	expect_no_grep "$esc" "$T/out"
	git -c checkpoint.color=always checkpoint list >"$T/out"
	expect_grep "$esc\[33mchk_" "$T/out"
}

test_long_answers_go_through_the_pager() {
	long_list
	on_screen 80 24 'GIT_PAGER="sed s/^/paged:/" git-checkpoint list'
	ended 0
	expect_eq 3 "$(grep -c '^paged:[0-9a-f]\{6\}  @' "$T/screen")"
	on_screen 80 24 "PAGER='sed s/^/second:/' GIT_PAGER='' git-checkpoint list"
	ended 0
	expect_eq 3 "$(grep -c '^[0-9a-f]\{6\}  @' "$T/screen")"
	# one that is left early is not a failure; as with git, a signal may tell
	seq 5000 >b
	save
	on_screen 80 24 'GIT_PAGER="head -n 1" git-checkpoint show --patch @; test $? = 0 -o $? = 141'
	ended 0
	expect_no_grep '^\(fatal\|error\)' "$T/screen"
	require less
	on_screen 80 24 'GIT_PAGER=less LESS=FRX git-checkpoint show --patch @'
	see '^:'
	keys q
	ended 0
}

# ---- hints -----------------------------------------------------------------------

test_a_hint_is_given_once() {
	unset GIT_CHECKPOINT_ADVICE
	git init -q
	echo 1 >a
	# no person to teach
	git-checkpoint save -q
	git-checkpoint list >"$T/out" 2>&1
	expect_no_grep hint "$T/out"
	for i in 2 3 4; do
		echo $i >a
		on_screen 80 24 'git-checkpoint save'
		ended 0
		cp "$T/screen" "$T/saved.$i"
	done
	expect_grep '^hint: .*git checkpoint status' "$T/saved.2"
	expect_grep '^hint: .*checkpoint.advice false' "$T/saved.2"
	expect_no_grep 'hooks install' "$T/saved.2"
	expect_grep '^hint: .*git checkpoint hooks install' "$T/saved.3"
	expect_no_grep hint "$T/saved.4"
	# also in another project
	mkdir "$T/other"
	cd "$T/other"
	echo 1 >a
	on_screen 80 24 'git-checkpoint save'
	ended 0
	expect_no_grep hint "$T/screen"
	git-checkpoint stores >"$T/out"
	expect_eq 2 "$(grep -c present "$T/out")"
}

test_hints_can_be_turned_off() {
	unset GIT_CHECKPOINT_ADVICE
	git config --global checkpoint.advice false
	echo 1 >a
	on_screen 80 24 'git-checkpoint save; git-checkpoint list'
	ended 0
	expect_no_grep hint "$T/screen"
	git config --global --unset checkpoint.advice
	on_screen 80 24 'git-checkpoint list -q; git-checkpoint list --json'
	ended 0
	expect_no_grep hint "$T/screen"
	on_screen 80 24 'git-checkpoint list'
	ended 0
	expect_grep '^hint: ' "$T/screen"
}

test_no_hooks_are_suggested_where_there_are_some() {
	unset GIT_CHECKPOINT_ADVICE
	git init -q
	git checkpoint hooks install >/dev/null
	for i in 1 2 3; do
		echo $i >a
		on_screen 80 24 'git-checkpoint save'
		ended 0
		expect_no_grep 'hooks install' "$T/screen"
	done
}

run_tests
