#!/bin/sh
# SPDX-License-Identifier: MIT
# What the shells offer for `git checkpoint` and `git-checkpoint`, asked of the real shells.

. "$(dirname "$0")/../lib/harness.sh"

# Two checkpoints, and files to complete.
two_checkpoints() {
	git init -q
	echo one >apple.txt
	git checkpoint save -q -m 'the first one'
	echo two >apple.txt
	git checkpoint save -q -m 'the second: one'
	git checkpoint list | sed 's/ .*//' >ids
	expect_eq 2 "$(wc -l <ids)" 'checkpoints'
}

# A folder that was moved away, one that is gone, and one whose path is odd; the current directory
# is the first in its new place.
three_old_folders() {
	for dir in "$T/old one" "$T/gone" "$T/$(printf 'od\td')"; do
		mkdir "$dir"
		(cd "$dir" && echo 1 >f && git checkpoint save -q)
	done
	mv "$T/old one" "$T/here"
	rm -r "$T/gone" "$T"/od*
	mkdir "$T/there"
	(cd "$T/there" && echo 1 >f && git checkpoint save -q)
	cd "$T/here" || exit
	odd=$(key_of "$T/$(printf 'od\td')")
	gone=$(key_of "$T/gone")
}

key_of() {
	printf %s "$1" | sha256sum | cut -c1-16
}

names() {
	git-checkpoint --list-cmds | cut -f 1
}

options() {
	git-checkpoint --list-opts "$1" | cut -f 1
}

# What follows 'hooks': its verbs, and what its options can be.
hooks_words() {
	printf '%s\n' install uninstall status >verbs
	printf '%s\n' rebase merge am stash bisect >events
	printf '%s\n' claude-code codex gemini-cli generic >agents
	printf '%s\n' --agent= --user --help --quiet --json >of-uninstall
	printf '%s\n' --help --quiet --json >of-status
}

# A container may come without pseudo terminals.
require_pty() {
	require script
	script -q -c true /dev/null </dev/null >/dev/null 2>&1 || skip 'needs a pseudo terminal'
}

# ---- bash ------------------------------------------------------------------------

use_bash() {
	require bash
	test -e /usr/share/bash-completion/bash_completion || skip 'needs bash-completion'
	test -e /usr/share/bash-completion/completions/git || skip 'needs the completion of git'
	mkdir -p "$XDG_DATA_HOME/bash-completion/completions"
	cp "$ROOT_DIR/completion/git-checkpoint.bash" \
		"$XDG_DATA_HOME/bash-completion/completions/git-checkpoint"
}

# offered <line>: sorted, without the space behind a finished word
offered() {
	"$LIB_DIR/complete-bash.sh" "$1" >offered.raw 2>offered.err
	expect_eq '' "$(cat offered.err)" "stderr after '$1'"
	sed 's/ $//' offered.raw | sort
}

test_bash_offers_the_commands() {
	use_bash
	names | sort >expected
	for typed in 'git checkpoint' 'git-checkpoint' 'git -C / checkpoint' 'git-checkpoint -C /'; do
		offered "$typed " >actual
		expect_same expected actual
	done
	expect_eq 'save show status stores' "$(offered 'git checkpoint s' | xargs)"
	expect_eq 'checkpoint' "$(offered 'git checkp')"
}

test_bash_offers_the_options_of_each_command() {
	use_bash
	for command in $(names); do
		options "$command" | sort >expected
		for typed in 'git checkpoint' 'git-checkpoint'; do
			offered "$typed $command -" >actual
			expect_same expected actual
		done
	done
	expect_eq '--include-ignored --include-sensitive' \
		"$(offered 'git checkpoint save -m x --inc' | xargs)"
	# behind --name= there is no space
	"$LIB_DIR/complete-bash.sh" 'git checkpoint save --mes' 'git checkpoint save --pi' >raw
	printf '%s\n' '--message=' '--pin ' >expected
	expect_same expected raw
}

test_bash_offers_checkpoints_newest_first() {
	use_bash
	two_checkpoints
	for line in 'git checkpoint show ' 'git-checkpoint show ' 'git checkpoint diff --stat chk_' \
		'git checkpoint diff @ ' 'git checkpoint verify ' 'git-checkpoint verify @ chk_' \
		'git checkpoint restore ' 'git-checkpoint restore -n --reason why chk_' \
		'git checkpoint restore --verify-command=true -y ' \
		'git checkpoint pin ' 'git-checkpoint unpin --json chk_' 'git checkpoint drop ' \
		'git-checkpoint drop --force @ chk_' \
		"git -C $PWD checkpoint restore " "git-checkpoint -C $PWD restore " \
		"git -C $PWD checkpoint show " "git-checkpoint -C $PWD show "; do
		"$LIB_DIR/complete-bash.sh" "$line" | sed 's/ $//' >actual
		expect_same ids actual
	done
	# of the directory that the line names
	mkdir "$T/empty"
	expect_eq '' "$(offered "git -C $T/empty checkpoint show ")"
	expect_eq '' "$(offered "git-checkpoint -C $T/empty show ")"
}

test_bash_leaves_values_and_paths_to_the_user() {
	use_bash
	two_checkpoints
	# nothing offered: bash goes on to names of files
	for line in 'git checkpoint save -m ' 'git checkpoint save --message ' 'git checkpoint list -n ' \
		'git checkpoint diff -- ' 'git checkpoint save a' 'git-checkpoint save -- --' \
		'git checkpoint diff app' 'git checkpoint restore @ ' 'git checkpoint restore @ chk' \
		'git-checkpoint restore --reason why @ ' 'git checkpoint restore @ -- ' \
		'git checkpoint restore --verify-command ' 'git checkpoint undo ' \
		'git checkpoint redo ' 'git checkpoint restore --reason ' 'git checkpoint pin @ ' \
		'git-checkpoint unpin -q @ ch' 'git checkpoint prune --max-size ' \
		'git checkpoint prune ' 'git checkpoint gc ' 'git checkpoint doctor --fix ' \
		'git checkpoint stores '; do
		expect_eq '' "$(offered "$line")" "after '$line'"
	done
	# but -p of show has no value
	expect_eq 2 "$(offered 'git checkpoint show -p ' | wc -l)"
}

# Behind the command that is run all is its own.
test_bash_offers_commands_to_run() {
	use_bash
	two_checkpoints
	for line in 'git checkpoint run git-checkp' 'git-checkpoint run --rollback -m why git-checkp' \
		'git checkpoint run -- git-checkp'; do
		expect_eq git-checkpoint "$(offered "$line")" "after '$line'"
	done
	expect_eq '--rollback' "$(offered 'git checkpoint run --verify x --ro')"
	for line in 'git checkpoint run make ' 'git checkpoint run make --ro' 'git checkpoint run -- make --ro' \
		'git checkpoint run --verify '; do
		expect_eq '' "$(offered "$line")" "after '$line'"
	done
}

test_bash_offers_old_folders() {
	use_bash
	three_old_folders
	printf '%s\n' "$T/gone" "$T/old\\ one" "$odd" | sort >expected
	for line in 'git checkpoint relink ' 'git-checkpoint relink --force '; do
		offered "$line" >actual
		expect_same expected actual
	done
	expect_eq "$T/old\\ one" "$(offered "git checkpoint relink $T/o")"
	expect_eq "$gone" "$(offered "git checkpoint relink $(echo "$gone" | cut -c1-6)")"
	expect_eq '' "$(offered "git checkpoint relink $T/gone ")"
	# what is offered can be run as it stands
	eval "git checkpoint relink $(offered "git checkpoint relink $T/o")"
	expect_eq 1 "$(git checkpoint list | wc -l)"
	expect_eq "$T/gone" "$(offered "git checkpoint relink $T/")"
}

test_bash_offers_what_hooks_takes() {
	use_bash
	hooks_words
	for list in verbs events agents of-uninstall of-status; do
		sort -o $list $list
	done
	for typed in 'git checkpoint hooks' 'git-checkpoint hooks' 'git -C / checkpoint hooks -q'; do
		offered "$typed " >actual
		expect_same verbs actual
		offered "$typed install --events " >actual
		expect_same events actual
		offered "$typed install --guard --events=" >actual
		expect_same events actual
		offered "$typed uninstall --agent " >actual
		expect_same agents actual
		offered "$typed uninstall -" >actual
		expect_same of-uninstall actual
		offered "$typed status -" >actual
		expect_same of-status actual
		expect_eq '' "$(offered "$typed install ")"
	done
	options hooks | sort >expected
	offered 'git checkpoint hooks install --' >actual
	expect_same expected actual
	expect_eq 'merge,am,bisect' "$(offered 'git checkpoint hooks install --events merge,am,b')"
	expect_eq 'stash,rebase' "$(offered 'git-checkpoint hooks install --events=stash,re')"
	# the word of a list may go on, others are finished
	"$LIB_DIR/complete-bash.sh" 'git checkpoint hooks install --events re' \
		'git checkpoint hooks install --agent=co' 'git checkpoint hooks un' >raw
	printf '%s\n' 'rebase' 'codex ' 'uninstall ' >expected
	expect_same expected raw
}

test_bash_works_without_a_store() {
	use_bash
	for command in show pin drop relink; do
		expect_eq '' "$(offered "git checkpoint $command ")"
	done
	expect_missing "$(checkpoint_home)"
}

# A real terminal, a real Tab key.
test_bash_completes_when_tab_is_pressed() {
	use_bash
	require_pty
	two_checkpoints
	mkfifo keys
	script -q -c 'bash --norc --noprofile -i' /dev/null <keys >screen 2>&1 &
	exec 3>keys
	{
		echo "PS1= ; bind 'set enable-bracketed-paste off'"
		echo '. /usr/share/bash-completion/bash_completion'
		echo "bind -x '\"\\C-xp\": echo \"LINE<\$READLINE_LINE>\"; READLINE_LINE='"
		echo 'echo REA""DY'
	} >&3
	wait_for READY
	printf 'git checkpoint stat\t\030p' >&3
	wait_for 'LINE<git checkpoint status >'
	printf 'git-checkpoint save --allow\t\030p' >&3
	wait_for 'LINE<git-checkpoint save --allow-empty >'
	printf 'git checkpoint save app\t\030p' >&3
	wait_for 'LINE<git checkpoint save apple.txt'
	printf 'git checkpoint restore -n @ app\t\030p' >&3
	wait_for 'LINE<git checkpoint restore -n @ apple.txt'
	printf 'git checkpoint hooks install --events=rebase,m\t\030p' >&3
	wait_for 'LINE<git checkpoint hooks install --events=rebase,merge>'
	printf 'git-checkpoint hooks install --agent=cl\t\030p' >&3
	wait_for 'LINE<git-checkpoint hooks install --agent=claude-code >'
	echo exit >&3
	exec 3>&-
	wait
}

wait_for() {
	tries=0
	until grep -q -F -e "$1" screen; do
		tries=$((tries + 1))
		test $tries -lt 150 || {
			exec 3>&-
			cat -v screen
			fail "'$1' was not seen"
		}
		sleep 0.1
	done
}

# ---- zsh -------------------------------------------------------------------------

# For each line: what was listed when Tab was pressed behind it, then "LINE<the line>".
zsh_tab() {
	require zsh
	require_pty
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
		options "$command" | grep '^--' | sed 's/=$//' | while read -r option; do
			expect_grep "^$option .*-- " listed
		done
	done
	zsh_tab 'git-checkpoint save --message=x -q --allow' 'git-checkpoint save -m --allow'
	expect_grep 'LINE<git-checkpoint save --message=x -q --allow-empty >END' listed
	expect_grep 'LINE<git-checkpoint save -m --allow>END' listed
}

test_zsh_offers_checkpoints_newest_first_and_files() {
	two_checkpoints
	for line in 'git checkpoint show ' 'git-checkpoint diff ' 'git checkpoint restore ' \
		'git-checkpoint restore --reason why -n ' 'git checkpoint verify @ ' \
		'git checkpoint pin ' 'git-checkpoint unpin ' 'git checkpoint drop --force @ '; do
		zsh_tab "$line"
		sed -n 's/^\(chk_[0-9a-f_]*\)  *-- .*/\1/p' listed >actual
		expect_same ids actual
		expect_grep '^chk_.* -- .*the second: one' listed
	done
	zsh_tab 'git checkpoint save app' 'git checkpoint diff app'
	expect_grep 'LINE<git checkpoint save apple.txt >END' listed
	expect_grep 'LINE<git checkpoint diff apple.txt >END' listed
	zsh_tab 'git checkpoint restore @ app' 'git checkpoint restore @ ch' 'git-checkpoint undo ch' \
		'git checkpoint restore app' 'git checkpoint pin @ ch' 'git checkpoint prune ch'
	expect_grep 'LINE<git checkpoint restore @ apple.txt >END' listed
	expect_grep 'LINE<git checkpoint restore app>END' listed
	expect_no_grep 'chk_' listed
	mkdir "$T/empty"
	zsh_tab "git-checkpoint -C $T/empty show ch" "git -C $T/empty checkpoint show ch"
	expect_no_grep 'chk_' listed
}

test_zsh_offers_commands_to_run() {
	two_checkpoints
	zsh_tab 'git checkpoint run --rollback git-checkp' 'git-checkpoint run make app' \
		'git-checkpoint run cat --rollb'
	expect_grep 'LINE<git checkpoint run --rollback git-checkpoint' listed
	expect_grep 'LINE<git-checkpoint run make app' listed
	expect_grep 'LINE<git-checkpoint run cat --rollb>END' listed
}

test_zsh_offers_old_folders() {
	three_old_folders
	zsh_tab 'git checkpoint relink '
	grep -o '^[^ ].*[^ ]  *-- .*' listed | sed 's/  *-- .*//' | sort >actual
	printf '%s\n' "$T/gone" "$T/old one" "$odd" | sort >expected
	expect_same expected actual
	expect_grep "^$T/old one  *-- moved, [0-9a-f]*\$" listed
	expect_grep "^$T/gone  *-- missing, $gone\$" listed
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
	zsh_tab 'git-checkpoint hooks install --events '
	tr -s ' ' '\n' <listed | grep -x -F -f events >actual
	expect_same events actual
	zsh_tab 'git checkpoint hooks uninstall --agent='
	tr -s ' ' '\n' <listed | grep -x -F -f agents >actual
	expect_same agents actual
	zsh_tab 'git checkpoint hooks uninstall --'
	expect_grep '^--agent .*-- ' listed
	expect_no_grep '^--events\|^--print' listed
	zsh_tab 'git checkpoint hooks unin' 'git-checkpoint hooks install --events re' \
		'git checkpoint hooks install --guard --events=merge,am,b' \
		'git checkpoint hooks install --agent co' 'git checkpoint hooks install in'
	expect_grep 'LINE<git checkpoint hooks uninstall >END' listed
	expect_grep 'LINE<git-checkpoint hooks install --events rebase>END' listed
	expect_grep 'LINE<git checkpoint hooks install --guard --events=merge,am,bisect>END' listed
	expect_grep 'LINE<git checkpoint hooks install --agent codex >END' listed
	expect_grep 'LINE<git checkpoint hooks install in>END' listed
}

# ---- fish ------------------------------------------------------------------------

# fish_tab <line>: what fish offers
fish_tab() {
	require fish
	mkdir -p "$XDG_CONFIG_HOME/fish/completions" "$XDG_CONFIG_HOME/fish/conf.d"
	cp "$ROOT_DIR/completion/git-checkpoint.fish" "$XDG_CONFIG_HOME/fish/completions/"
	cp "$ROOT_DIR/completion/git-checkpoint.conf.fish" \
		"$XDG_CONFIG_HOME/fish/conf.d/git-checkpoint.fish"
	fish -c "complete -C '$1'" >offered 2>offered.err
	expect_eq '' "$(cat offered.err)" "stderr after '$1'"
}

test_fish_offers_the_commands() {
	git-checkpoint --list-cmds | sort >expected
	for typed in 'git checkpoint' 'git-checkpoint'; do
		fish_tab "$typed "
		sort offered >actual
		expect_same expected actual
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
		# git's own completion adds its words about help
		fish_tab "git checkpoint $command -"
		grep -v '^-h\|^--help' expected >expected.others
		grep -v '^-h\|^--help' offered | sort >actual
		expect_same expected.others actual
	done
}

test_fish_offers_checkpoints_newest_first_and_files() {
	two_checkpoints
	for line in 'git checkpoint show ' 'git-checkpoint show ' 'git-checkpoint diff --stat chk' \
		'git checkpoint restore ' 'git-checkpoint restore -n --reason why ' \
		'git checkpoint verify @ ' 'git checkpoint pin ' 'git-checkpoint unpin --json ' \
		'git checkpoint drop @ '; do
		fish_tab "$line"
		cut -f 1 offered >actual
		expect_same ids actual
		expect_grep '^chk_.*	.*the second: one' offered
	done
	for line in 'git checkpoint save app' 'git checkpoint restore @ app' \
		'git-checkpoint restore --reason why @ app'; do
		fish_tab "$line"
		expect_eq apple.txt "$(cat offered)" "after '$line'"
	done
	for line in 'git checkpoint save -m ' 'git-checkpoint list --max-count ' \
		'git checkpoint undo ' 'git-checkpoint redo ' 'git checkpoint restore --reason ' \
		'git checkpoint restore @ chk' 'git checkpoint pin @ ' 'git-checkpoint gc ' \
		'git checkpoint prune --max-count ' 'git-checkpoint doctor ' 'git checkpoint stores ' \
		"git-checkpoint -C $T show " "git -C $T checkpoint show "; do
		fish_tab "$line"
		expect_eq '' "$(cat offered)" "after '$line'"
	done
}

test_fish_offers_commands_to_run() {
	two_checkpoints
	fish_tab 'git checkpoint run --rollback git-checkp'
	expect_grep '^git-checkpoint' offered
	fish_tab 'git-checkpoint run --rollb'
	expect_grep '^--rollback' offered
	for line in 'git-checkpoint run cat --rollb' 'git checkpoint run -- cat --rollb' \
		'git-checkpoint run --verify '; do
		fish_tab "$line"
		expect_eq '' "$(cat offered)" "after '$line'"
	done
	fish_tab 'git-checkpoint run cat app'
	expect_eq apple.txt "$(cat offered)"
}

test_fish_offers_old_folders() {
	three_old_folders
	for line in 'git checkpoint relink ' 'git-checkpoint relink --force '; do
		fish_tab "$line"
		cut -f 1 offered | sort >actual
		printf '%s\n' "$T/gone" "$T/old one" "$odd" | sort >expected
		expect_same expected actual
		expect_grep "^$T/gone	missing, $gone\$" offered
	done
	fish_tab "git checkpoint relink $(echo "$gone" | cut -c1-6)"
	expect_eq "$gone	$T/gone" "$(cat offered)"
	fish_tab "git checkpoint relink $T/gone "
	expect_eq '' "$(cat offered)"
}

test_fish_offers_what_hooks_takes() {
	hooks_words
	for typed in 'git checkpoint hooks' 'git-checkpoint hooks'; do
		fish_tab "$typed "
		expect_same verbs offered
		fish_tab "$typed install --events "
		expect_same events offered
		fish_tab "$typed uninstall --agent "
		expect_same agents offered
		fish_tab "$typed install --guard --events=merge,am,b"
		expect_eq '--events=merge,am,bisect' "$(cat offered)"
		fish_tab "$typed install "
		expect_eq '' "$(cat offered)"
	done
	fish_tab 'git-checkpoint hooks uninstall -'
	cut -f 1 offered >actual
	sort -o actual actual
	sort -o of-uninstall of-uninstall
	expect_same of-uninstall actual
}

run_tests
