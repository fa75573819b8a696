#!/bin/sh
# SPDX-License-Identifier: MIT
# What bash makes of what can stand at the cursor of `git checkpoint`.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/completion.sh"

# offered <line>: without the space after a finished word, and without texts
offered() {
	"$LIB_DIR/complete-bash.sh" "$1" >offered.raw 2>offered.err
	expect_eq '' "$(cat offered.err)" "stderr after '$1'"
	sed 's/  .*//; s/ $//' offered.raw
}

test_bash_offers_what_the_program_answers() {
	use_bash
	two_checkpoints
	names >expected
	for typed in 'git checkpoint' 'git-checkpoint' 'git -C / checkpoint' 'git-checkpoint -C /'; do
		offered "$typed " >actual
		expect_same expected actual
	done
	expect_eq 'save show status stores' "$(offered 'git checkpoint s' | xargs)"
	expect_eq 'checkpoint' "$(offered 'git checkp')"
	options save >expected
	offered 'git-checkpoint save -' >actual
	expect_same expected actual
	# no space after --name=
	"$LIB_DIR/complete-bash.sh" 'git checkpoint save --mes' 'git checkpoint save --pi' \
		'git checkpoint hooks install --events re' 'git checkpoint config maxC' >raw
	printf '%s\n' '--message=' '--pin ' 'rebase' 'maxCount ' >expected
	expect_same expected raw
	for line in 'git checkpoint show ' 'git-checkpoint restore -n --reason why chk_' \
		'git checkpoint diff chk' "git -C $PWD checkpoint restore "; do
		offered "$line" >actual
		expect_same ids actual
	done
	# where there is a choice, what they are
	"$LIB_DIR/complete-bash.sh" 'git checkpoint show ' >raw
	expect_grep "^$(sed -n 1p ids)  @, [0-9]* seconds* ago, the second: one (agent) \[pinned\]\$" raw
	"$LIB_DIR/complete-bash.sh" "git checkpoint show $(sed -n 1p ids)" >raw
	expect_eq "$(sed -n 1p ids) " "$(cat raw)"
	mkdir "$T/empty"
	expect_eq '' "$(offered "git -C $T/empty checkpoint show ")"
	expect_eq '' "$(offered 'git checkpoint undo ')"
}

test_bash_offers_old_folders_that_can_be_run() {
	use_bash
	three_old_folders
	eval "git checkpoint relink $(offered "git checkpoint relink $T/o")"
	expect_eq 1 "$(git checkpoint list | wc -l)"
	expect_eq "$T/gone" "$(offered "git checkpoint relink $T/")"
}

# bash_terminal <line of bash>...: what to do before
bash_terminal() {
	{
		echo "PS1='> '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'"
		printf '%s\n' "$@"
		echo "bind -x '\"\\C-xp\": echo \"LINE<\$READLINE_LINE>\"; READLINE_LINE='"
		echo 'echo REA""DY'
	} >"$T/bashrc"
	start_terminal "bash --noprofile --rcfile $T/bashrc -i"
	wait_for READY
}

# bash_line <typed> <line>: with Tab, the line becomes that
bash_line() {
	press "$1\\t\\030p"
	wait_for "LINE<$2>"
}

test_bash_completes_when_tab_is_pressed() {
	use_bash
	two_checkpoints
	mkdir -p 'my dir/x y' sub
	touch sub/file
	git checkpoint save -q
	rm -r sub
	bash_terminal '. /usr/share/bash-completion/bash_completion'
	bash_line 'git checkpoint stat' 'git checkpoint status '
	bash_line 'git-checkpoint save --allow' 'git-checkpoint save --allow-empty '
	bash_line 'git checkpoint save app' 'git checkpoint save apple.txt '
	bash_line 'git checkpoint hooks install --events=rebase,m' \
		'git checkpoint hooks install --events=rebase,merge'
	bash_line 'git-checkpoint hooks install --agent=cla' \
		'git-checkpoint hooks install --agent=claude-code '
	bash_line 'git checkpoint show step:' 'git checkpoint show step:7 '
	bash_line 'git checkpoint show @~2' 'git checkpoint show @~2 '
	# paths: in quotes and without, there and gone
	bash_line 'git checkpoint restore @ my' 'git checkpoint restore @ my\ dir/'
	bash_line "git checkpoint restore @ 'my" "git checkpoint restore @ 'my dir/'"
	bash_line 'git checkpoint restore @ my\\ dir/' 'git checkpoint restore @ my\ dir/x\ y/'
	bash_line 'git checkpoint restore @ su' 'git checkpoint restore @ sub/'
	bash_line 'git checkpoint restore @ "sub/f' 'git checkpoint restore @ "sub/file" '
	bash_line 'git -C my\\ dir checkpoint restore @ x' 'git -C my\ dir checkpoint restore @ x\ y/'
	# nothing where nothing fits, files where they do
	bash_line 'git checkpoint undo app' 'git checkpoint undo app'
	bash_line 'git checkpoint list --since=2d >app' 'git checkpoint list --since=2d >apple.txt '
	bash_line 'git-checkpoint -C my' 'git-checkpoint -C my\ dir/'
	# another command, and we ourselves in it
	bash_line 'git checkpoint run --rollback git-checkp' 'git checkpoint run --rollback git-checkpoint '
	bash_line 'git checkpoint run cat app' 'git checkpoint run cat apple.txt '
	bash_line 'git checkpoint run -- git checkpoint redo --js' \
		'git checkpoint run -- git checkpoint redo --json '
	# all there are, with their texts
	press 'git checkpoint show chk_\t\t\t'
	wait_for ' ago, the second: one (agent) [pinned]'
	press '\025'
	end_terminal
}

test_bash_needs_no_bash_completion() {
	use_bash
	two_checkpoints
	git config alias.ck checkpoint
	bash_terminal '. /usr/share/bash-completion/completions/git' \
		". '$ROOT_DIR/completion/git-checkpoint.bash'" "alias gck='git checkpoint'" \
		'__git_complete gck git_checkpoint'
	bash_line 'git checkpoint show step:' 'git checkpoint show step:7 '
	bash_line 'git ck restore @ -- app' 'git ck restore @ -- apple.txt '
	bash_line 'gck hooks install --events=re' 'gck hooks install --events=rebase'
	bash_line 'git-checkpoint run git-checkp' 'git-checkpoint run git-checkpoint '
	bash_line 'git-checkpoint run cat app' 'git-checkpoint run cat apple.txt '
	end_terminal
}

test_bash_quotes_odd_names() {
	use_bash
	odd_names
	LC_ALL=C.UTF-8 bash_terminal '. /usr/share/bash-completion/bash_completion'
	press 'git checkpoint show \t\t\t\025'
	restore_odd_names
}

run_tests
