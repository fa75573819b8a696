#!/bin/sh
# SPDX-License-Identifier: MIT
# revert: what changed between two checkpoints is taken back, and what was done since is kept.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/revert.sh"

id='' s1='' s2='' s3='' s4=''

# three_steps: $s1 to $s4, of which each changes other lines; and an edit that no checkpoint has
three_steps() {
	seq 1 40 >f
	echo gone >gone
	echo moded >moded
	mkdir dir
	save
	s1=$id
	edit f 5 five
	rm gone
	echo new >new
	chmod 4710 moded
	chmod 700 dir
	ln -s f link
	save --step 2
	s2=$id
	edit f 20 twenty
	save
	s3=$id
	echo other >other
	save
	s4=$id
	edit f 35 unsaved
}

# f_has <line>=<text>...: those, and otherwise its numbers
f_has() {
	seq 1 40 >"$T/f"
	for f_line; do
		edit "$T/f" "${f_line%%=*}" "${f_line#*=}"
	done
	expect_same "$T/f" f
}

test_one_step_in_the_middle() {
	three_steps
	note before
	revert "$s2"
	f_has 20=twenty 35=unsaved
	expect_eq gone "$(cat gone)"
	expect_missing new
	expect_missing link
	expect_eq '644 755' "$(stat -c %a moded dir | tr '\n' ' ' | sed 's/ $//')"
	expect_eq other "$(cat other)"
	expect_reverted modify dir modify f delete gone create link modify moded create new
	expect_conflicts
	expect_eq "$s1" "$(told .restored_to.checkpoint_id)"
	expect_eq true "$(told ".evidence_anchors | index(\"$s2\") != null")"
	expect_eq true "$(told .verification.match)"
	expect_eq "$(told .verification.checkpoint_hash)" "$(told .verification.post_state_hash)"
	note after
	hash=$(told .verification.checkpoint_hash)
	save
	expect_eq "$hash" "$(json .pre_mutation_state.hash "$T/save.json")"
	git-checkpoint verify -q --all
	restoring 0 undo -y
	expect_noted before
	restoring 0 redo -y
	expect_noted after
	no_litter
}

test_the_newest_step_and_then_the_same_again() {
	three_steps
	revert @
	expect_missing other
	f_has 5=five 20=twenty 35=unsaved
	note once
	revert "$s4"
	expect_reverted
	expect_noted once
	git-checkpoint revert -y "$s4" >"$T/out"
	expect_grep '^Nothing of .* to take back$' "$T/out"
}

test_ranges_and_names() {
	three_steps
	note before
	for range in "$s1..$s3" "@~3..@~1" "${s1#chk_*_*_}..$s3"; do
		revert "$range"
		f_has 35=unsaved
		expect_eq other "$(cat other)"
		expect_missing new
		restoring 0 undo -y
		expect_noted before
	done
	revert "$s3.."
	expect_reverted create other
	restoring 0 undo -y
	revert step:2
	f_has 20=twenty 35=unsaved
	restoring 0 undo -y
	# a range that ends before it begins brings its changes
	revert "$s1..$s3"
	revert "$s3..$s1"
	f_has 5=five 20=twenty 35=unsaved
	revert "$s1..$s1"
	expect_reverted
}

# The newest that was meant, not the safety checkpoint of the last restore.
test_an_open_range_does_not_end_at_a_safety_checkpoint() {
	three_steps
	restore "$s4"
	f_has 5=five 20=twenty
	revert "$s2.."
	f_has 5=five
	expect_missing other
}

test_paths_limit_it() {
	three_steps
	revert "$s2" -- f 'g*'
	expect_reverted modify f delete gone
	f_has 20=twenty 35=unsaved
	expect_eq new "$(cat new)"
	mkdir -p sub
	cd sub
	revert "$s2" -- ../new
	cd ..
	expect_missing new
	restoring 128 revert -y "$s2" -- nowhere
	restoring 128 revert -y "$s2" -- ../outside
	revert "$s2" -- other
	expect_reverted
}

test_a_dry_run_shows_the_patch_and_leaves_nothing() {
	three_steps
	note before
	find "$(store_dir)" -type f ! -name lock | sort >"$T/files"
	git-checkpoint revert -n "$s2" >"$T/out"
	expect_noted before
	find "$(store_dir)" -type f ! -name lock | sort >"$T/files.after"
	expect_same "$T/files" "$T/files.after"
	expect_grep '^Would take back ' "$T/out"
	expect_grep '^new mode 100644$' "$T/out"
	# git takes the patch, which leads to the same state
	cp -a . "$T/copy"
	git-checkpoint revert -n "$s2" -- f gone new link >"$T/patch"
	(cd "$T/copy" && git apply "$T/patch")
	revert "$s2" -- f gone new link
	fingerprint . >"$T/fp.a"
	fingerprint "$T/copy" >"$T/fp.b"
	expect_same "$T/fp.a" "$T/fp.b"
}

test_a_dry_run_exits_as_the_real_run() {
	echo 1 >a
	save
	echo 2 >a
	save
	restoring 5 revert @
	restoring 0 revert -n @
	expect_eq false "$(told .rolled_back)"
	expect_eq null "$(told .safety_checkpoint)"
	expect_eq "git checkpoint revert $(told .restored_to.checkpoint_id)..$id --yes" \
		"$(told '.next_actions[0]')"
	echo 3 >a
	note before
	restoring 3 revert -n @
	expect_conflicts content a
	expect_noted before
	# only conflicts: there is nothing to agree to
	restoring 3 revert @
	conflicting @
	expect_noted before
	git-checkpoint log -n 1 >"$T/out"
	expect_no_grep ' revert ' "$T/out"
}

test_without_a_base() {
	three_steps
	note before
	restoring 128 revert -y "$s1"
	told .error.message | grep -F "..$s1'" >/dev/null
	git-checkpoint drop -q --yes "$s2"
	restoring 128 revert -y "$s3"
	told .error.message | grep -F "revert $s1..$s3'" >/dev/null
	expect_noted before
	git-checkpoint show -p "$s3" >"$T/out"
	expect_grep "'$s2', is gone; 'git checkpoint diff $s1 $s3'" "$T/out"
	expect_no_grep '^+five' "$T/out"
	git-checkpoint show --stat "$s3" >"$T/out"
	expect_grep "is gone" "$T/out"
	git-checkpoint show --json "$s3" >"$T/json"
	expect_eq null "$(json .changed_files "$T/json")"
	git-checkpoint show -p "$s1" >"$T/out"
	expect_grep '^+gone' "$T/out"
	revert "$s1..$s3"
	f_has 35=unsaved
}

test_wrong_arguments() {
	three_steps
	expect_exit 129 git-checkpoint revert 2>"$T/err"
	expect_exit 129 git-checkpoint revert "..$s1" 2>"$T/err"
	expect_exit 129 git-checkpoint revert --conflicts=some @ 2>"$T/err"
	expect_exit 128 git-checkpoint revert -y nosuch..@ 2>"$T/err"
	expect_exit 128 git-checkpoint revert -y @..nosuch 2>"$T/err"
	# what people type: three dots, two checkpoints, a path alone
	expect_exit 129 git-checkpoint revert -y @~1...@ 2>"$T/err"
	expect_grep "write '<a>..<b>'" "$T/err"
	expect_exit 128 git-checkpoint revert -y @~1 @ 2>"$T/err"
	expect_grep "'@' is not a path; a range is '<a>..<b>'" "$T/err"
	echo 1 >"a file"
	expect_exit 128 git-checkpoint revert -y 'a file' 2>"$T/err"
	expect_grep "git checkpoint revert @ -- 'a file'" "$T/err"
	git-checkpoint save -q --state k=v --state-only 2>"$T/err" || return 0
	expect_exit 128 git-checkpoint revert -y "$s1.." 2>"$T/err"
}

test_a_scope_is_not_left() {
	mkdir in out
	echo 1 | tee in/a >out/a
	save in
	s1=$id
	echo 2 | tee in/a >out/a
	save in
	echo 3 >out/a
	revert @
	expect_eq '1 3' "$(contents in/a out/a)"
	save
	expect_eq 3 "$(cat out/a)"
	# what the one does not cover was not deleted by it
	revert "$s1..$id"
	expect_eq '1 3' "$(contents in/a out/a)"
}

test_nothing_but_what_it_did_is_undone() {
	three_steps
	revert "$s2"
	echo later >later
	edit other 1 later
	restoring 0 undo -y
	f_has 5=five 20=twenty 35=unsaved
	expect_eq 'later later' "$(contents later other)"
}

test_the_composed_state_is_not_a_checkpoint() {
	three_steps
	git-checkpoint list --json >"$T/list"
	before=$(json '.checkpoints | length' "$T/list")
	revert "$s2"
	git-checkpoint list --json >"$T/list"
	expect_eq $((before + 1)) "$(json '.checkpoints | length' "$T/list")"
	expect_eq "$s4" "$(git-checkpoint show --json @ >"$T/json" && json .id "$T/json")"
	expect_no_grep 'cmp_' "$(store_dir)/checkpoint-manifest.md"
	test "$(git --git-dir="$(store_dir)" for-each-ref refs/keep | grep cmp_ | wc -l)" = 1
	git --git-dir="$(store_dir)" fsck --strict --no-dangling
	git-checkpoint doctor -q
	git-checkpoint gc -q
	restoring 0 undo -y
	f_has 5=five 20=twenty 35=unsaved
	# stock git may pack it; forgotten by the stack, it goes
	git --git-dir="$(store_dir)" pack-refs --all
	restoring 0 redo -y
	echo '{"version":1,"done":0,"restores":[]}' >"$(store_dir)/checkpoint/undo"
	echo later >f2
	git-checkpoint restore -q --yes @
	expect_eq '' "$(git --git-dir="$(store_dir)" for-each-ref refs/keep | grep cmp_)"
	git-checkpoint doctor -q
}

# A file that is edited while the question is on the screen is merged as it is then.
test_edits_while_it_asks_are_kept() {
	require_terminal
	three_steps
	printf '%s\n' '#!/bin/sh' "cat >'$T/shown'" "sed -i '39s/.*/late/' f; echo late >late" >"$T/pager"
	chmod +x "$T/pager"
	GIT_PAGER=$T/pager NO_COLOR=1
	export GIT_PAGER NO_COLOR
	on_terminal "git-checkpoint revert $s2" d y
	expect_grep 'Take it back: 1 to bring back, 3 to change, 2 to remove' "$T/screen"
	expect_grep '^-five' "$T/shown"
	f_has 20=twenty 35=unsaved 39=late
	expect_eq late "$(cat late)"
	restoring 0 undo -y
	f_has 5=five 20=twenty 35=unsaved 39=late
	expect_exit 5 on_terminal "git-checkpoint revert $s2" n
	expect_grep 'Not taken back' "$T/screen"
}

run_tests
