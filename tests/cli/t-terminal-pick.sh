#!/bin/sh
# SPDX-License-Identifier: MIT
# Choosing a checkpoint at a terminal, in fzf and without it.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/restore.sh"
. "$(dirname "$0")/../lib/screen.sh"

export GIT_PAGER=cat GIT_CHECKPOINT_ADVICE=false

expect_untouched() {
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
}

# Nothing is chosen by fzf: it is as if it were not there.
without_fzf() {
	mkdir -p "$T/bin"
	printf '#!/bin/sh\nexit 2\n' >"$T/bin/fzf"
	chmod +x "$T/bin/fzf"
	PATH=$T/bin:$PATH
}

some_checkpoints() {
	for i in 1 2 3 4 5 6 7 8 9; do
		echo $i >a
		echo $i >"file$i"
		save -m "reason $i"
	done
}

# id_of <reason>
id_of() {
	git-checkpoint list --grep "$1" | cut -d ' ' -f 1
}

test_restore_without_a_name_lets_one_choose() {
	without_fzf
	some_checkpoints
	on_screen 80 24 'git-checkpoint restore'
	see 'nothing to restore'
	expect_eq 9 "$(grep -c '^chk_.*reason [1-9]$' "$T/screen")"
	expect_grep '^chk_[0-9a-f_]*  @  .*reason 9$' "$T/screen"
	expect_grep '^chk_[0-9a-f_]*  @~8  .*reason 1$' "$T/screen"
	keys Down j
	see 'to restore: 0 to bring back, 1 to change, 2 to remove'
	expect_grep '^  ~ a$' "$T/screen"
	expect_grep '^  - file8$' "$T/screen"
	# the chosen one is marked
	esc=$(printf '\033')
	expect_eq 1 "$(grep -c "$esc\[7mchk_.*reason 7" "$T/screen.raw")"
	keys Up
	see 'to restore: 0 to bring back, 1 to change, 1 to remove'
	keys Enter
	see 'y/N'
	expect_grep "^$(id_of "reason 8"), " "$T/screen"
	keys y Enter
	ended 0
	expect_eq 8 "$(cat a)"
	expect_missing file9
	# the terminal is as it was
	on_screen 80 24 'git-checkpoint restore; stty -a'
	see 'reason 9'
	keys q
	ended 0
	for mode in icanon echo isig icrnl; do
		expect_grep "\(^\| \)$mode\( \|\$\)" "$T/screen"
	done
}

test_the_first_row_is_what_was_last_meant() {
	without_fzf
	echo 1 >a
	save -m first
	echo 2 >a
	save -m second
	echo 3 >a
	git-checkpoint restore -q -y @~1
	on_screen 80 24 'git-checkpoint restore -y'
	see 'to restore: 0 to bring back, 1 to change, 0 to remove'
	grep '^chk_' "$T/screen" | sed 's/^chk_[0-9a-f_]*  \(@[~1]*\)* .*  \([bfs]\)/\1 \2/' | head -n 3 >"$T/rows"
	expect_grep '^@ second$' "$T/rows"
	expect_eq '@ second' "$(head -n 1 "$T/rows")"
	# by the digits that other rows begin with
	expect_grep "^ before restoring chk_…$(git-checkpoint list --grep first | cut -d' ' -f1 | sed 's/.*_//')\$" "$T/rows"
	expect_grep '^@~1 first$' "$T/rows"
	esc=$(printf '\033')
	expect_eq 1 "$(grep -c "$esc\[[0;]*2m.*before restoring" "$T/screen.raw")"
	# what is shown is the patch: what restoring takes back
	expect_grep '^-2$' "$T/screen"
	expect_grep '^+1$' "$T/screen"
	expect_grep "$esc\[[0-9;]*32m.*+1" "$T/screen.raw"
	keys Enter
	ended 0
	expect_eq 2 "$(cat a)"
}

test_the_preview_is_bounded_and_scrolls() {
	without_fzf
	for i in $(seq 20); do
		echo "$i" >"f$i"
	done
	seq 3000 >long
	printf 'a\n' >odd
	save -m first
	seq 3001 6000 >long
	printf 'tab\there \033[31mred\007\n' >odd
	rm f*
	seq 100000 >large
	on_screen 80 24 'git-checkpoint restore -y'
	see 'to restore: 20 to bring back, 2 to change, 1 to remove'
	expect_grep '^  and 17 more paths$' "$T/screen"
	expect_grep '^  and [0-9]* more$' "$T/screen"
	expect_no_grep '^+tab' "$T/screen"
	keys J J J J J J J J J J
	see '^-[0-9]*$\|^diff --git'
	keys K K K K K K K K K K
	see 'to restore: 20'
	for _ in $(seq 200); do
		keys J
	done
	see "^and more; 'git checkpoint diff' shows all"
	keys q
	ended 5
	rm long
	on_screen 80 60 'git-checkpoint restore -y -- odd large'
	see "^'large' is too large to be shown here$"
	expect_grep '^+tab     here  \[31mred *$' "$T/screen"
	keys q
	ended 5
}

test_the_picker_can_be_left() {
	without_fzf
	some_checkpoints
	fingerprint . >"$T/before"
	for key in q Escape C-c C-d; do
		on_screen 80 24 'git-checkpoint restore'
		see 'Which checkpoint'
		keys $key
		ended 5
		expect_grep 'no checkpoint chosen, nothing was touched' "$T/screen"
		expect_untouched
	done
}

test_the_picker_moves_in_long_lists_on_small_screens() {
	without_fzf
	some_checkpoints
	for size in '80 8' '30 6' '20 24' '200 50'; do
		# shellcheck disable=SC2086
		on_screen $size 'git-checkpoint restore -y'
		see '^chk_'
		keys G
		keys g
		keys G
		keys Up
		keys Enter
		ended 0
		expect_eq 2 "$(cat a)"
		git-checkpoint undo -q -y
	done
}

test_paths_can_be_given_without_a_name() {
	without_fzf
	some_checkpoints
	on_screen 80 24 'git-checkpoint restore -y -- a'
	see 'nothing to restore'
	keys Down
	# what is shown is about that path alone
	see 'to restore: 0 to bring back, 1 to change, 0 to remove'
	keys Enter
	ended 0
	expect_eq 8 "$(cat a)"
	expect_exists file9
}

test_fzf_is_used_where_it_is() {
	require fzf
	some_checkpoints
	on_screen 100 30 'git-checkpoint restore'
	see 'Already as in\|Would restore'
	see 'reason 1'
	# the quote: not fuzzily
	keys -l "'$(id_of 'reason 4')"
	see ' 1/9'
	see 'file5'
	see '^ *│* *diff --git a/a b/a'
	keys Enter
	see 'y/N'
	expect_grep "^$(id_of "reason 4"), " "$T/screen"
	keys y Enter
	ended 0
	expect_eq 4 "$(cat a)"
	on_screen 100 30 'git-checkpoint restore'
	see 'Already as in\|Would restore'
	keys Escape
	ended 5
	expect_grep 'no checkpoint chosen' "$T/screen"
	on_screen 100 30 'git-checkpoint restore -- a'
	see 'Already as in\|Would restore'
	see 'changed +1 -1  reason 8'
	see 'created +1 -0  reason 1'
	keys -l "'$(id_of 'reason 1')"
	see '0 brought back, 1 changed, 0 removed'
	keys Escape
	ended 5
}

test_with_a_path_only_its_versions_are_offered() {
	without_fzf
	some_checkpoints
	rm file2
	save -m gone
	on_screen 100 24 'git-checkpoint restore -- file2'
	see 'nothing to restore'
	expect_eq 2 "$(grep -c '^chk_.*\(gone\|reason [0-9]\)$' "$T/screen")"
	expect_grep '^chk_[0-9a-f_]*  @  .*deleted +0 -1 .*gone$' "$T/screen"
	expect_grep '^chk_[0-9a-f_]*  @~8  .*created +1 -0 .*reason 2$' "$T/screen"
	keys Down
	see 'to restore: 1 to bring back, 0 to change, 0 to remove'
	expect_grep '^diff --git a/file2 b/file2' "$T/screen"
	keys Enter
	see 'y/N'
	keys y Enter
	ended 0
	expect_eq 2 "$(cat file2)"
	expect_eq 9 "$(cat a)"
	on_screen 100 24 'git-checkpoint restore -- never'
	ended 128
	expect_grep "no checkpoint in which 'never' changed" "$T/screen"
}

test_without_a_terminal_nothing_can_be_chosen() {
	some_checkpoints
	expect_exit 129 git-checkpoint restore 2>"$T/err"
	expect_grep 'needs a checkpoint' "$T/err"
	expect_exit 129 git-checkpoint restore -y -- a 2>"$T/err"
	expect_exit 129 git-checkpoint restore --json >"$T/out" 2>"$T/err"
	expect_eq 129 "$(json .error.code "$T/out")"
	on_screen 80 24 'git-checkpoint restore --json'
	ended 129
	# nor on one that cannot show it, as in an editor
	on_screen 80 24 'TERM=dumb git-checkpoint restore'
	ended 129
	expect_grep 'needs a checkpoint' "$T/screen"
	mkdir "$T/empty"
	cd "$T/empty"
	on_screen 80 24 'git-checkpoint restore'
	ended 128
}

run_tests
