#!/bin/sh
# SPDX-License-Identifier: MIT
# What fish makes of what can stand at the cursor of `git checkpoint`.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/completion.sh"

# fish_tab <line>: what fish offers
fish_tab() {
	use_fish
	# shellcheck disable=SC2016
	fish -c 'complete -C $argv[1]' "$1" >offered 2>offered.err
	expect_eq '' "$(cat offered.err)" "stderr after '$1'"
}

test_fish_offers_the_commands() {
	git-checkpoint --list-cmds >expected
	for typed in 'git checkpoint' 'git-checkpoint'; do
		fish_tab "$typed "
		expect_same expected offered
	done
	fish_tab 'git checkp'
	expect_grep '^checkpoint	' offered
}

test_fish_offers_the_options_of_each_command() {
	for command in $(names); do
		git-checkpoint --list-opts "$command" | sort >expected
		fish_tab "git-checkpoint $command -"
		sort offered >actual
		expect_same expected actual
		# git's own completion adds its words about help, and about its own branch
		fish_tab "git checkpoint $command -"
		grep -v '^-h\|^--help' expected >expected.others
		grep -v '^-h\|^--help\|^--sort' offered | sort >actual
		expect_same expected.others actual
	done
}

test_fish_offers_checkpoints_newest_first() {
	two_checkpoints
	git config alias.ck checkpoint
	for line in 'git checkpoint show ' 'git-checkpoint show ' 'git-checkpoint diff --stat chk' \
		'git checkpoint restore ' 'git-checkpoint restore -n --reason why ' \
		'git checkpoint verify @ ' "git -C $PWD checkpoint pin " 'git-checkpoint unpin --json ' \
		'git ck drop @ '; do
		fish_tab "$line"
		cut -f 1 offered >actual
		expect_same ids actual
		expect_grep '^chk_.*	@, [0-9]* seconds* ago, the second: one (agent) \[pinned\]$' offered
	done
	for line in 'git checkpoint save -m ' 'git-checkpoint list --max-count ' \
		'git checkpoint undo ' 'git checkpoint restore --reason ' \
		'git checkpoint restore @ qqq' 'git checkpoint pin @ ' 'git-checkpoint gc ' \
		"git-checkpoint -C $T show " "git -C $T checkpoint show "; do
		fish_tab "$line"
		expect_eq '' "$(cat offered)" "after '$line'"
	done
}

# fish_offers <line> <word>: that alone
fish_offers() {
	fish_tab "$1"
	expect_eq "$2" "$(cut -f 1 offered)" "after '$1'"
}

test_fish_offers_paths_and_files() {
	two_checkpoints
	mkdir 'my dir' sub
	touch 'my dir/x y' sub/file
	git checkpoint save -q
	rm -r sub
	fish_offers 'git checkpoint save app' apple.txt
	fish_offers 'git checkpoint restore @ app' apple.txt
	fish_offers 'git-checkpoint restore --reason why @ -- app' apple.txt
	fish_offers 'git checkpoint restore @ sub/' sub/file
	fish_offers 'git checkpoint restore @ my\ dir/' 'my dir/x y'
	fish_offers "git checkpoint restore @ 'my d" 'my dir/'
	fish_offers 'git -C my\ dir checkpoint save x' 'x y'
	fish_offers 'git-checkpoint -C my' 'my dir/'
	fish_offers 'git checkpoint save --state-file k=app' k=apple.txt
	fish_offers 'git checkpoint config maxC' maxCount
	fish_offers 'git checkpoint show step' step:7
	fish_tab 'git checkpoint restore @ su'
	expect_eq 'sub/	only in the checkpoint' "$(cat offered)"
}

test_fish_offers_commands_to_run() {
	two_checkpoints
	fish_tab 'git checkpoint run --rollback git-checkp'
	expect_grep '^git-checkpoint' offered
	fish_offers 'git-checkpoint run --rollb' --rollback
	fish_offers 'git-checkpoint run cat app' apple.txt
	fish_offers 'git checkpoint run git checkpoint redo --js' --json
	fish_offers 'git checkpoint run -- cat --rollb' ''
}

test_fish_offers_old_folders() {
	three_old_folders
	fish_tab 'git checkpoint relink '
	sort offered >actual
	ask relink '' | cut -c 2- | sort >expected
	expect_same expected actual
	fish_offers "git checkpoint relink $(echo "$gone" | cut -c1-6)" "$gone"
	fish_offers "git checkpoint relink $T/gone " ''
}

test_fish_offers_what_hooks_takes() {
	hooks_words
	for typed in 'git checkpoint hooks' 'git-checkpoint hooks'; do
		fish_tab "$typed "
		cut -f 1 offered >words
		expect_same verbs words
		expect_grep '^install	' offered
		fish_tab "$typed install --events "
		expect_same events offered
		fish_tab "$typed uninstall --agent "
		expect_same agents offered
		fish_offers "$typed install --guard --events=merge,am,b" '--events=merge,am,bisect'
		fish_offers "$typed install " ''
	done
}

test_fish_quotes_odd_names() {
	use_fish
	odd_names
	LC_ALL=C.UTF-8 TERM=xterm start_terminal 'fish -i'
	press 'echo REA""DY\n'
	wait_for READY
	press 'git checkpoint show \t\025'
	restore_odd_names
}

run_tests
