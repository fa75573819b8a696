#!/bin/sh
# SPDX-License-Identifier: MIT
# Choosing a checkpoint at a terminal, in fzf and without it.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/restore.sh"
. "$(dirname "$0")/../../lib/screen.sh"

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
	see 'Which checkpoint'
	expect_eq 9 "$(grep -c '^ *[1-9]  chk_.*reason [1-9]$' "$T/screen")"
	expect_grep '^  1  chk_[0-9a-f_]*  @  .*reason 9$' "$T/screen"
	expect_grep '^  9  chk_[0-9a-f_]*  @~8  .*reason 1$' "$T/screen"
	keys 2 Enter
	see 'y/N'
	expect_grep "^$(id_of "reason 8"), " "$T/screen"
	keys y Enter
	ended 0
	expect_eq 8 "$(cat a)"
	expect_missing file9
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
	see 'Which checkpoint'
	sed -n 's/^  \([1-9]\)  chk_[0-9a-f_]*  \(@[~1]*\)* .*  \([bfs]\)/\1 \2 \3/p' "$T/screen" >"$T/rows"
	expect_eq '1 @ second' "$(head -n 1 "$T/rows")"
	# by the digits that other rows begin with
	expect_grep '^2  before: restoring first$' "$T/rows"
	expect_grep '^3 @~1 first$' "$T/rows"
	keys 1 Enter
	ended 0
	expect_eq 2 "$(cat a)"
}

test_nothing_need_be_chosen() {
	without_fzf
	some_checkpoints
	fingerprint . >"$T/before"
	for key in Enter C-d; do
		on_screen 80 24 'git-checkpoint restore'
		see 'Which checkpoint'
		keys $key
		ended 5
		expect_grep '^No checkpoint chosen, nothing was touched\.$' "$T/screen"
		expect_no_grep 'error:' "$T/screen"
		expect_untouched
	done
	on_screen 80 24 'git-checkpoint restore'
	see 'Which checkpoint'
	keys C-c
	ended 130
	expect_untouched
	for answer in 0 10 nothing 99999999999999999999; do
		on_screen 80 24 'git-checkpoint restore'
		see 'Which checkpoint'
		keys $answer Enter
		ended 128
		expect_grep "no checkpoint .*$answer" "$T/screen"
		expect_untouched
	done
}

test_lists_are_short_and_fit() {
	without_fzf
	for i in $(seq 23); do
		echo "$i" >a
		save -m "reason $i $(printf '%080d' 0)"
	done
	on_screen 60 40 'git-checkpoint restore -y'
	see 'Which checkpoint'
	expect_eq 20 "$(grep -c '^ *[0-9]*  chk_.*reason.*…$' "$T/screen")"
	expect_grep "^and 3 more; 'git checkpoint list' shows all$" "$T/screen"
	# the number of one that is not shown
	keys 22 Enter
	ended 0
	expect_eq 2 "$(cat a)"
	git-checkpoint undo -q -y
	# and a name
	on_screen 60 40 'git-checkpoint restore -y'
	see 'Which checkpoint'
	keys '@~2' Enter
	ended 0
	expect_eq 21 "$(cat a)"
}

test_paths_can_be_given_without_a_name() {
	without_fzf
	some_checkpoints
	on_screen 80 24 'git-checkpoint restore -y -- a'
	see 'Which checkpoint'
	keys 2 Enter
	ended 0
	expect_eq 8 "$(cat a)"
	expect_exists file9
}

test_fzf_is_used_where_it_is() {
	require fzf
	some_checkpoints
	on_screen 100 30 'git-checkpoint restore'
	see 'already as in\|Would restore'
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
	see 'already as in\|Would restore'
	keys Escape
	ended 5
	expect_grep 'No checkpoint chosen' "$T/screen"
	on_screen 100 30 'git-checkpoint restore -- a'
	see 'already as in\|Would restore'
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
	see 'Which checkpoint'
	expect_eq 2 "$(grep -c '^ *[12]  chk_.*\(gone\|reason [0-9]\)$' "$T/screen")"
	expect_grep '^  1  chk_[0-9a-f_]*  @  .*deleted +0 -1 .*gone$' "$T/screen"
	expect_grep '^  2  chk_[0-9a-f_]*  @~8  .*created +1 -0 .*reason 2$' "$T/screen"
	keys 2 Enter
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
	mkdir "$T/empty"
	cd "$T/empty"
	on_screen 80 24 'git-checkpoint restore'
	ended 128
}

run_tests
