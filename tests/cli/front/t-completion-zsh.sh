#!/bin/sh
# SPDX-License-Identifier: MIT
# What zsh makes of what can stand at the cursor of `git checkpoint`.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/completion.sh"

# For each line: what was listed when Tab was pressed after it, then "LINE<the line>".
zsh_tab() {
	require zsh
	require_terminal
	cat >"$T/tab.zsh" <<-'END'
	zmodload zsh/zpty || exit 77
	zpty z zsh -f -i
	zpty -w z 'PS1= PS2= RPS1=; unsetopt prompt_cr prompt_sp beep; stty -echo columns 200 rows 500'
	zpty -w z "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $TMPDIR/zcompdump"
	zpty -w z 'LISTMAX=1000; zstyle ":completion:*" verbose yes; unsetopt list_ambiguous'
	zpty -w z 'show() { print -r -- "LINE<$BUFFER>END"; BUFFER=; zle accept-line }'
	zpty -w z 'zle -N show; bindkey "^T" show; print REA""DY'
	zpty -r -m z out '*READY*' || exit 1
	shift
	for line; do
		zpty -w -n z "$line"$'\t\x14'
		zpty -r -m z out '*LINE<*>END*' || exit 1
		print -r -- "$out"
	done
	zpty -d z
	END
	timeout 60 zsh -f "$T/tab.zsh" "$ROOT_DIR/completion" "$@" | tr -d '\r' | sed 's/ *$//' >listed
}

test_zsh_offers_the_commands() {
	for typed in 'git checkpoint' 'git-checkpoint'; do
		zsh_tab "$typed " "$typed stat"
		git-checkpoint --list-cmds | while IFS='	' read -r name summary; do
			expect_grep "^$name  *-- $summary\$" listed
		done
		expect_grep "LINE<$typed status >END" listed
	done
	zsh_tab 'git checkp'
	expect_grep 'LINE<git checkpoint >END' listed
}

test_zsh_offers_the_options_of_each_command() {
	lines=$(names | sed 's/.*/git checkpoint & --/')
	(IFS='
' && zsh_tab $lines)
	mv listed all
	for command in $(names); do
		# what stands between the line before and this one
		awk -v this="LINE<git checkpoint $command -->END" \
			'{ text = text $0 "\n" } /LINE</ { if (index($0, this)) printf "%s", text; text = "" }' \
			all >listed
		options "$command" | grep '^--' | while read -r option; do
			expect_grep "^$option .*-- " listed
		done
	done
	zsh_tab 'git-checkpoint save --message=x -q --allow' 'git-checkpoint save -m --allow' \
		'git checkpoint save --mess'
	expect_grep 'LINE<git-checkpoint save --message=x -q --allow-empty >END' listed
	expect_grep 'LINE<git-checkpoint save -m --allow>END' listed
	expect_grep 'LINE<git checkpoint save --message=>END' listed
}

test_zsh_offers_checkpoints_newest_first() {
	two_checkpoints
	for line in 'git checkpoint show ' 'git-checkpoint diff chk_' 'git checkpoint restore ' \
		'git-checkpoint restore --reason why -n ' 'git checkpoint verify @ ' \
		"git -C $PWD checkpoint pin " 'git checkpoint drop --force @ '; do
		zsh_tab "$line"
		sed -n 's/^\(chk_[0-9a-f_]*\)  *-- .*/\1/p' listed >actual
		expect_same ids actual
		expect_grep '^chk_.* -- @, [0-9]* seconds* ago, the second: one (agent) \[pinned\]' listed
	done
	zsh_tab 'git checkpoint show step' 'git checkpoint show @~' 'git-checkpoint undo ch' \
		'git checkpoint pin @ ch' 'git checkpoint prune ch'
	expect_grep 'LINE<git checkpoint show step:7 >END' listed
	expect_grep 'LINE<git checkpoint show @\\~1 >END' listed
	expect_no_grep 'chk_' listed
	mkdir "$T/empty"
	zsh_tab "git-checkpoint -C $T/empty show ch" "git -C $T/empty checkpoint show ch"
	expect_no_grep 'chk_' listed
}

test_zsh_offers_paths_and_files() {
	two_checkpoints
	mkdir 'my dir' sub
	touch 'my dir/x y' sub/file
	git checkpoint save -q
	rm -r sub
	zsh_tab 'git checkpoint save app' 'git checkpoint diff app' 'git checkpoint restore @ app' \
		'git checkpoint restore app' 'git checkpoint restore @ -- my' \
		'git checkpoint restore @ my\ dir/' "git checkpoint restore @ 'my dir/" \
		'git checkpoint restore @ sub/' 'git -C my\ dir checkpoint save x' 'git-checkpoint -C my' \
		'git checkpoint save --state-file k=app' 'git checkpoint config maxC' 'git checkpoint restore @ s'
	expect_grep 'LINE<git checkpoint save apple.txt >END' listed
	expect_grep 'LINE<git checkpoint diff apple.txt >END' listed
	expect_grep 'LINE<git checkpoint restore @ apple.txt >END' listed
	expect_grep 'LINE<git checkpoint restore app>END' listed
	expect_grep 'LINE<git checkpoint restore @ -- my\\ dir/>END' listed
	expect_grep 'LINE<git checkpoint restore @ my\\ dir/x\\ y >END' listed
	expect_grep "LINE<git checkpoint restore @ 'my dir/x y' >END" listed
	expect_grep 'LINE<git checkpoint restore @ sub/file >END' listed
	expect_grep 'LINE<git -C my\\ dir checkpoint save x\\ y >END' listed
	expect_grep 'LINE<git-checkpoint -C my\\ dir/' listed
	expect_grep 'LINE<git checkpoint save --state-file k=apple.txt >END' listed
	expect_grep 'LINE<git checkpoint config maxCount >END' listed
	expect_grep 'LINE<git checkpoint restore @ sub/>END' listed
	zsh_tab 'git checkpoint restore @ -- '
	expect_grep '^sub/  *-- only in the checkpoint' listed
}

test_zsh_offers_commands_to_run() {
	two_checkpoints
	zsh_tab 'git checkpoint run --rollback git-checkp' 'git-checkpoint run cat app' \
		'git-checkpoint run cat --rollb' 'git checkpoint run git checkpoint redo --js' \
		'git -C . checkpoint run -- cat app'
	expect_grep 'LINE<git checkpoint run --rollback git-checkpoint' listed
	expect_grep 'LINE<git-checkpoint run cat apple.txt' listed
	expect_grep 'LINE<git-checkpoint run cat --rollb>END' listed
	expect_grep 'LINE<git checkpoint run git checkpoint redo --json >END' listed
	expect_grep 'LINE<git -C . checkpoint run -- cat apple.txt' listed
}

test_zsh_offers_old_folders() {
	three_old_folders
	zsh_tab 'git checkpoint relink '
	grep -o '^[^ ].*[^ ]  *-- .*' listed | sed 's/  *-- .*//' | sort >actual
	printf '%s\n' "$T/gone" "$T/old one" "$odd" | sort >expected
	expect_same expected actual
	expect_grep "^$T/old one  *-- moved, [0-9a-f]*\$" listed
	zsh_tab "git-checkpoint relink --force $T/ol" \
		"git checkpoint relink $(echo "$gone" | cut -c1-6)" "git checkpoint relink $T/gone $T/o"
	expect_grep "LINE<git-checkpoint relink --force $T/old\\\\ one >END" listed
	expect_grep "LINE<git checkpoint relink $gone >END" listed
	expect_grep "LINE<git checkpoint relink $T/gone $T/o>END" listed
}

test_zsh_offers_what_hooks_takes() {
	hooks_words
	zsh_tab 'git checkpoint hooks '
	tr -s ' ' '\n' <listed | grep -x -F -f verbs >actual
	expect_same verbs actual
	zsh_tab 'git checkpoint hooks uninstall --agent='
	tr -s ' ' '\n' <listed | grep -x -F -f agents >actual
	expect_same agents actual
	zsh_tab 'git checkpoint hooks unin' 'git-checkpoint hooks install --events re' \
		'git checkpoint hooks install --guard --events=merge,am,b' \
		'git checkpoint hooks install --agent cod' 'git checkpoint hooks install in'
	expect_grep 'LINE<git checkpoint hooks uninstall >END' listed
	expect_grep 'LINE<git-checkpoint hooks install --events rebase>END' listed
	expect_grep 'LINE<git checkpoint hooks install --guard --events=merge,am,bisect>END' listed
	expect_grep 'LINE<git checkpoint hooks install --agent codex >END' listed
	expect_grep 'LINE<git checkpoint hooks install in>END' listed
}

test_zsh_quotes_odd_names() {
	require zsh
	odd_names
	mkdir "$T/zdot"
	cat >"$T/zdot/.zshrc" <<-END
		PS1='> '
		unsetopt beep
		fpath=('$ROOT_DIR/completion' \$fpath)
		autoload -Uz compinit
		compinit -u -d "$TMPDIR/zcompdump"
		print REA""DY
	END
	LC_ALL=C.UTF-8 ZDOTDIR=$T/zdot start_terminal 'zsh -i'
	wait_for READY
	press 'git checkpoint show \t\025'
	restore_odd_names
}

run_tests
