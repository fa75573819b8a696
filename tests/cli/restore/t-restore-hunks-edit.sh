#!/bin/sh
# SPDX-License-Identifier: MIT
# restore -p: hunks that are edited, and files that change while somebody is asked.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id='' # of the checkpoint that was saved last

# editor <name>: a program that runs the script on stdin on the file
editor() {
	{ echo '#!/bin/sh'; echo 'f=$1'; cat; } >"$T/$1"
	chmod +x "$T/$1"
}

# choosing <exit status> <answer>...: restore -p of $id
choosing() {
	choosing_wanted=$1 choosing_status=0
	shift
	printf '%s\n' "$@" >"$T/answers"
	git-checkpoint restore --json --yes -p "$id" <"$T/answers" >"$T/restore.json" 2>"$T/asked" ||
		choosing_status=$?
	test $choosing_status = "$choosing_wanted" || {
		cat "$T/restore.json" "$T/asked"
		fail "exit status $choosing_status instead of $choosing_wanted"
	}
}

prepare() {
	seq 1 9 >a
	echo 1 >b
	save
	sed -i 's/^5$/five/' a
	echo 2 >b
}

test_an_edited_hunk_is_applied() {
	prepare
	editor edit <<-'END'
		cp "$f" "$f.seen"
		cat "$f.seen" >>"$(dirname "$0")/seen"
		rm "$f.seen"
		sed -i 's/^+5$/+V/' "$f"
	END
	EDITOR=$T/edit choosing 0 e y
	expect_eq V "$(sed -n 5p a)"
	expect_eq 1 "$(cat b)"
	expect_grep '^# Manual hunk edit mode -- see bottom for a quick guide.$' "$T/seen"
	expect_grep '^@@ -2,7 +2,7 @@' "$T/seen"
	expect_grep '^# aborted and the hunk is left unchanged.$' "$T/seen"
	git-checkpoint undo -q --yes
	expect_eq five "$(sed -n 5p a)"
	# nothing is left where it was edited
	mkdir "$T/edits"
	TMPDIR=$T/edits EDITOR=$T/edit choosing 0 e y
	expect_eq '' "$(ls -A "$T/edits")"
}

test_visual_comes_first_and_the_repository_is_not_asked() {
	git init -q
	prepare
	editor bad </dev/null
	echo 'touch "$(dirname "$0")/bad-ran"' >>"$T/bad"
	editor good <<-'END'
		sed -i 's/^+5$/+good/' "$f"
	END
	git config core.editor "$T/bad"
	git config sequence.editor "$T/bad"
	# words of a command line are words
	GIT_EDITOR=$T/bad EDITOR=$T/bad VISUAL="sh $T/good" choosing 0 e q
	expect_eq good "$(sed -n 5p a)"
	git-checkpoint undo -q --yes
	VISUAL='' EDITOR=$T/good choosing 0 e q
	expect_eq good "$(sed -n 5p a)"
	test ! -e "$T/bad-ran"
}

test_what_does_not_apply_can_be_edited_again() {
	prepare
	editor edit <<-'END'
		count=$(dirname "$0")/count
		echo x >>"$count"
		case $(wc -l <"$count") in
		1) sed -i 's/^ 4$/ nobody/' "$f" ;;
		2) exit 1 ;;
		3) sed -i 's/^+5$/+third/' "$f" ;;
		*) sed -i 's/^ 4$/ nobody/' "$f" ;;
		esac
	END
	EDITOR=$T/edit choosing 0 e y y q
	expect_eq 2 "$(grep -c 'Your edited hunk does not apply. Edit again' "$T/asked")"
	expect_grep "there was a problem with the editor" "$T/asked"
	expect_eq third "$(sed -n 5p a)"
	# "no" discards the edit, and the hunk is asked about again
	EDITOR=$T/edit choosing 0 e n y q
	expect_eq 5 "$(sed -n 5p a)"
}

test_an_edit_that_leaves_nothing_is_none() {
	prepare
	editor edit <<-'END'
		: >"$f"
	END
	EDITOR=$T/edit choosing 0 e n n
	expect_eq five "$(sed -n 5p a)"
}

# The editor runs while the user is asked: whatever happens then happens here.
test_what_changed_meanwhile_is_left_and_named() {
	prepare
	echo 1 >c
	save
	sed -i 's/^9$/nine/' a
	echo 3 >b
	echo 2 >c
	editor edit <<-'END'
		echo precious >>a
		echo precious >b
	END
	EDITOR=$T/edit choosing 3 e y y
	expect_eq precious "$(sed -n 10p a)"
	expect_eq nine "$(sed -n 9p a)"
	expect_eq precious "$(cat b)"
	expect_eq 1 "$(cat c)"
	expect_eq 'a changed: while you were asked about it b changed: while you were asked about it' \
		"$(told '[.conflicts[] | .file + " " + .why] | join(" ")')"
	git-checkpoint undo -q --yes
	expect_eq 2 "$(cat c)"
	expect_eq precious "$(cat b)"
}

test_a_path_that_appears_meanwhile_is_left() {
	echo old >gone
	echo 1 >x
	save
	rm gone
	echo 2 >x
	editor edit <<-'END'
		echo mine >gone
	END
	# gone comes before x
	EDITOR=$T/edit choosing 3 e n
	expect_eq mine "$(cat gone)"
	expect_eq gone "$(told '.conflicts[0].file')"
}

test_a_directory_that_filled_up_meanwhile_is_left() {
	echo file >kind
	echo 1 >x
	save
	rm kind
	mkdir kind
	echo 1 >kind/1
	echo 2 >x
	editor edit <<-'END'
		echo mine >kind/2
	END
	EDITOR=$T/edit choosing 3 y e
	expect_eq 'mine' "$(cat kind/2)"
	expect_eq 1 "$(cat x)"
	expect_eq kind "$(told '.conflicts[0].file')"
}

test_an_editor_that_is_not_there_says_so() {
	prepare
	EDITOR=/nonexistent/editor choosing 0 e n n n
	expect_grep "there was a problem with the editor '/nonexistent/editor'" "$T/asked"
	expect_eq five "$(sed -n 5p a)"
}

run_tests
