#!/bin/sh
# SPDX-License-Identifier: MIT
# undo and redo: a stack of restores.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/undo.sh"

id='' s1='' s2='' s3='' s4='' # see undo.sh

test_one_step() {
	states 2
	restore "$s1"
	expect_noted s1
	undo
	expect_noted s2
	expect_eq true "$(told .verification.match)"
	expect_eq true "$(told .rolled_back)"
	redo
	expect_noted s1
	undo
	expect_noted s2
	no_litter
}

test_dry_run() {
	states 2
	restore "$s1"
	undo_of=$(git-checkpoint undo -n)
	expect_noted s1
	echo "$undo_of" >"$T/out"
	expect_grep '^  ~ a$' "$T/out"
	expect_grep "^Would restore $s2: " "$T/out"
	restoring 0 undo --dry-run
	expect_eq false "$(told .rolled_back)"
	expect_noted s1
	# it does not count
	untouched redo 1
	undo
	expect_noted s2
	git-checkpoint redo -n >"$T/out"
	expect_grep '^Would restore ' "$T/out"
	expect_noted s2
	redo
	expect_noted s1
	expect_exit 129 git-checkpoint restore -n --continue 2>"$T/err"
}

test_nothing_left() {
	states 2
	untouched undo 1
	expect_eq 1 "$(told .error.code)"
	untouched redo 1
	restore "$s1"
	untouched redo 1
	undo
	untouched undo 1
	redo
	untouched redo 1
	expect_noted s1
}

test_a_walk_over_several_restores() {
	states 4
	restore "$s1"
	restore "$s3"
	restore "$s2"
	undo
	expect_noted s3
	undo
	expect_noted s1
	undo
	expect_noted s4
	undo 1
	redo
	expect_noted s1
	redo
	expect_noted s3
	redo
	expect_noted s2
	redo 1
	undo
	undo
	redo
	expect_noted s3
	undo
	expect_noted s1
}

# zed#28676: every state can be reached.
test_a_random_walk() {
	states 4
	restore "$s1"
	restore "$s3"
	restore "$s2"
	restore "$s4"
	set -- s4 s1 s3 s2 s4
	at=4
	rounds=0
	for step in u u r u u r r u u u r u r r r u; do
		case $step in
		u)
			test $at -gt 0 || continue
			undo
			at=$((at - 1))
			;;
		r)
			test $at -lt 4 || continue
			redo
			at=$((at + 1))
			;;
		esac
		rounds=$((rounds + 1))
		eval "expect_noted \${$((at + 1))}"
	done
	test $rounds -gt 8
}

test_edits_in_between_are_saved_and_come_back() {
	states 2
	restore "$s1"
	echo edited >a
	echo made >made
	note edited
	undo
	expect_noted s2
	expect_eq edited "$(held_by "$(safety)" a)"
	redo
	expect_noted edited
	echo more >./more
	note more
	undo
	expect_noted s2
	redo
	expect_noted more
	# and on the other side
	undo
	echo side >side
	note side
	redo
	expect_noted more
	undo
	expect_noted side
}

test_a_new_restore_drops_the_redo_side() {
	states 3
	restore "$s1"
	restore "$s2"
	undo
	expect_noted s1
	restore "$s3"
	untouched redo 1
	undo
	expect_noted s1
	undo
	expect_noted s3
	redo
	redo
	expect_noted s3
	redo 1
}

test_a_restore_that_does_nothing_is_no_step() {
	states 2
	restore "$s1"
	restore "$s1"
	expect_reverted
	undo
	expect_noted s2
}

# It said that there was nothing to do, and the next one went one step too far.
test_an_undo_that_does_nothing_uses_up_no_step() {
	for i in 1 2 3; do
		echo $i >a
		git-checkpoint save -q -m "$i"
	done
	git-checkpoint restore -q --yes @~2
	git-checkpoint restore -q --yes @~1
	# by hand to where undo leads
	echo 1 >a
	git-checkpoint undo --yes >"$T/out"
	expect_grep 'nothing to do$' "$T/out"
	expect_no_grep redo "$T/out"
	expect_eq 1 "$(cat a)"
	echo edited >a
	git-checkpoint undo -q --yes
	expect_eq 1 "$(cat a)"
	git-checkpoint undo -q --yes
	expect_eq 3 "$(cat a)"
}

test_a_dry_run_or_a_refusal_is_no_step() {
	states 2
	restoring 0 restore -n "$s1"
	restoring 5 restore "$s1"
	untouched undo 1
}

test_paths_only() {
	states 3
	restore "$s1" a
	expect_eq 1 "$(cat a)"
	echo edited >only-1
	echo new >new
	undo
	expect_eq '3 edited new' "$(cat a) $(cat only-1) $(cat new)"
	expect_reverted modify a
	redo
	expect_eq '1 edited new' "$(cat a) $(cat only-1) $(cat new)"
	restore "$s2" d
	expect_eq d/2 "$(find d -type f)"
	undo
	expect_eq d/3 "$(find d -type f)"
	undo
	expect_eq 3 "$(cat a)"
	# a file that the checkpoint lacks
	restore "$s1" new
	expect_missing new
	undo
	expect_eq new "$(cat new)"
	redo
	expect_missing new
	# one that was not there before
	rm only-1
	restore "$s1" only-1
	expect_eq 1 "$(cat only-1)"
	undo
	expect_missing only-1
}

test_scoped_checkpoints() {
	mkdir d
	echo 1 >d/a
	echo 1 >b
	save d
	echo 2 >d/a
	echo 2 >b
	restore "$id"
	echo 3 >b
	undo
	expect_eq '2 3' "$(cat d/a) $(cat b)"
	redo
	expect_eq '1 3' "$(cat d/a) $(cat b)"
}

test_the_answer() {
	states 2
	restore "$s1"
	back=$(safety)
	undo
	expect_eq "$back" "$(told .restored_to.checkpoint_id)"
	expect_reverted modify a create d/1 delete d/2 delete only-2
	expect_eq 'assumptions changes_reverted confidence evidence_anchors next_actions restored_to rolled_back safety_checkpoint verification warnings' \
		"$(told 'keys | join(" ")')"
	forth=$(safety)
	redo
	expect_eq "$forth" "$(told .restored_to.checkpoint_id)"
	git-checkpoint undo -y >"$T/out" 2>"$T/err"
	expect_grep "$(json .safety_checkpoint.id "$T/restore.json" | cut -c1-4)" "$T/out"
	git-checkpoint log --json >"$T/log"
	expect_eq 'undo redo undo restore' \
		"$(json '[.entries[] | select(.action != "save") | .action] | join(" ")' "$T/log")"
	expect_exit 129 git-checkpoint undo x 2>"$T/err"
}

# Expiry never applies, however old a state is.
test_expired_states_are_no_obstacle() {
	require faketime
	echo 1 >a
	save
	first=$id
	echo 2 >a
	save --expires 1h
	restore "$first"
	expect_eq "$id" "$(safety)"
	later +2h git-checkpoint undo -q -y
	expect_eq 2 "$(cat a)"
	later +2h git-checkpoint redo -q -y
	expect_eq 1 "$(cat a)"
}

test_saves_in_between_do_not_matter() {
	states 3
	restore "$s1"
	echo x >x
	save
	undo
	expect_noted s3
	save --allow-empty
	redo
	expect_eq x "$(cat x)"
}

test_a_torn_stack_is_an_empty_one() {
	states 2
	restore "$s1"
	stack=$(store_dir)/checkpoint/undo
	expect_exists "$stack"
	cp "$stack" "$T/stack"
	for damage in ': >"$stack"' 'head -c 100 /dev/zero >"$stack"' 'echo "{" >"$stack"' \
		'echo "[]" >"$stack"' 'truncate -s -5 "$stack"' 'echo x >"$stack"' \
		'sed -i s/chk_/x/ "$stack"'; do
		cp "$T/stack" "$stack"
		eval "$damage"
		untouched undo 1
		expect_grep 'the list of restores for undo is damaged' "$T/restore.err"
	done
	restore "$s2"
	undo
	expect_noted s1
}

# Directories that had to be made for what comes back go with it, if nothing else is in them then.
test_undo_takes_back_directories_on_the_way() {
	mkdir -p a/b
	echo 1 >a/b/in
	echo 1 >a/b/other
	chmod 700 a
	chmod 750 a/b
	echo 1 >x
	save
	rm -r a
	note before
	restore "$id" a/b/in
	expect_eq a/b/in "$(find a -type f)"
	there_and_back
	undo
	expect_noted before
	redo
	# what is not empty, or not a directory any more, stays
	echo mine >a/mine
	undo
	expect_eq a/mine "$(find a ! -name a)"
	redo
	expect_eq '1 mine' "$(contents a/b/in a/mine)"
	rm -r a/b
	ln -s nowhere a/b
	undo
	expect_eq 'a/b a/mine' "$(find a ! -name a | sort | tr '\n' ' ' | sed 's/ $//')"
}

test_undo_takes_back_directories_around_a_scope() {
	mkdir -p a/b
	echo 1 >a/b/in
	save a/b/in
	rm -r a
	note before
	restore "$id"
	there_and_back
	# also where the file went otherwise
	rm a/b/in
	undo
	expect_noted before
}

# Only those that were not there before.
test_undo_leaves_directories_that_were_there() {
	mkdir -p a/b
	echo 1 >a/b/in
	save
	rm -r a/b
	note before
	restore "$id" a/b/in
	undo
	expect_noted before
	redo
	rm a/b/in
	rmdir a/b
	undo
	expect_noted before
	# nor does a restore remove the directory around what is removed
	mkdir new
	echo 1 >new/file
	restore "$id" new/file
	expect_exists new
	undo
	redo
	expect_exists new
}

test_what_undo_leads_to_is_gone() {
	states 2
	restore "$s1"
	gone=$(told .safety_checkpoint.id)
	git-checkpoint drop -q -y --force "$gone"
	undo 128
	expect_grep "checkpoint '$gone', which undo leads to, is gone" "$T/restore.err"
	expect_noted s1
}

run_tests
