#!/bin/sh
# SPDX-License-Identifier: MIT
# What can stand at the cursor of `git checkpoint`: what the program answers, and what the real
# shells make of it.

. "$(dirname "$0")/../lib/harness.sh"

# Two checkpoints, and files to complete.
two_checkpoints() {
	git init -q
	echo one >apple.txt
	git checkpoint save -q -m 'the first one' --step 7
	echo two >apple.txt
	git checkpoint save -q -m 'the second: one' --source agent --pin
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

# Names that a shell would take for something else, each with a first letter of its own; saved, and
# gone. What is in "evil" would have been run.
odd_names() {
	git init -q
	printf '%s\n' 'a space' "b'quote" 'c"quote' 'd$(touch evil)' 'e`touch evil`' 'f*?[x]' \
		'g;touch evil;' 'h&|<>(){}' 'i!bang' 'j#hash' 'k=e:q' 'l\back' 'm$HOME' 'nünï' 'o,~^%+@' \
		>names
	while read -r name; do
		printf '%s\n' "$name" >"./$name"
	done <names
	mkdir 'p dir'
	echo inside >'p dir/$(touch evil)'
	mv names ../names
	git checkpoint save -q --step 1 -m '$(touch evil) `touch evil` "; touch evil'
	rm -r ./*
}

# One after the other was brought back, under its own name.
expect_odd_names() {
	while read -r name; do
		expect_eq "$name" "$(cat "./$name")"
	done <../names
	expect_eq inside "$(cat 'p dir/$(touch evil)')"
	expect_missing evil 'p dir/evil'
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
}

# A container may come without pseudo terminals.
require_pty() {
	require script
	script -q -c true /dev/null </dev/null >/dev/null 2>&1 || skip 'needs a pseudo terminal'
}

# ---- a terminal ------------------------------------------------------------------

# start_terminal <command>: a shell that gets its keys from descriptor 3, and shows what it does in
# the file "screen"
start_terminal() {
	require_pty
	mkfifo "$T/keys"
	script -q -c "stty columns 120; exec $1" /dev/null <"$T/keys" >"$T/screen" 2>&1 &
	exec 3>"$T/keys"
}

end_terminal() {
	printf '\025exit\n' >&3
	exec 3>&-
	wait
}

# press <keys>: as printf has them
press() {
	# shellcheck disable=SC2059
	printf "$1" >&3
}

# wait_until <command>...
wait_until() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		test $tries -lt 300 || {
			exec 3>&-
			cat -v "$T/screen" 2>/dev/null
			fail "it never came: $*"
		}
		sleep 0.1
	done
}

wait_for() {
	wait_until grep -q -F -e "$1" "$T/screen"
}

# Complete each odd name from its first letter, and let the shell run the line.
restore_odd_names() {
	for letter in a b c d e f g h i j k l m n o; do
		press "git checkpoint restore -q -y step:1 -- $letter\\t\\n"
		wait_until grep -q "^$letter" "./$(grep "^$letter" ../names)" 2>/dev/null
	done
	# through a directory that is not there
	press 'git checkpoint restore -q -y step:1 -- p\t\t\n'
	wait_until test -s 'p dir/$(touch evil)'
}

# ---- what the program answers ----------------------------------------------------

# ask <word>...: the answer
ask() {
	git-checkpoint --complete git-checkpoint "$@"
}

# offered_to <word>...: only the words
offered_to() {
	ask "$@" | sed 's/^[ -]//; s/	.*//'
}

test_every_place_of_every_command_is_known() {
	two_checkpoints
	for command in $(names); do
		ask "$command" '' >out
		ask "$command" one '' >out
		ask "$command" one two '' >out
		ask "$command" one -- '' >out
		options "$command" | sed -n 's/=$//p' | while read -r option; do
			ask "$command" "$option" '' >out
			ask "$command" "$option=" >out
		done
		git-checkpoint "$command" -h | sed -n 's/^ *\(usage\|or\): git checkpoint [a-z]* \([a-z][a-z]*\).*/\2/p' |
			while read -r verb; do
				ask "$command" "$verb" '' >out
				ask "$command" "$verb" one '' >out
			done
	done
}

test_commands_and_options() {
	git-checkpoint --list-cmds | sed 's/^/ /' >expected
	ask '' >actual
	expect_same expected actual
	git-checkpoint --complete git -C / -c x=y --no-pager ck '' >actual
	expect_same expected actual
	for command in $(names); do
		options "$command" >expected
		offered_to "$command" - >actual
		expect_same expected actual
	done
	ask save -- >actual
	expect_grep '^---message=	why' actual
	expect_grep '^ --pin	' actual
	# not twice, but for lists
	ask save --pin --state a=b -m x --pi >actual
	expect_no_grep '^ --pin\|message' actual
	expect_grep '^---state=' actual
	expect_eq '!files' "$(ask save -- --)"
	offered_to hooks uninstall - >actual
	hooks_words
	expect_same of-uninstall actual
}

brief_is_expired() {
	ask show '' | grep -q 'brief \[expired\]$'
}

test_checkpoints_have_their_age_and_reason() {
	two_checkpoints
	for command in show restore verify drop pin unpin diff; do
		ask $command '' | grep chk_ >actual
		expect_grep "^ $(sed -n 1p ids)	[0-9]* seconds* ago, the second: one (agent) \[pinned\]\$" actual
		expect_grep "^ $(sed -n 2p ids)	[0-9]* seconds* ago, the first one\$" actual
		cut -c 2- actual | cut -f 1 >words
		expect_same ids words
	done
	# one is enough for some, and nobody names one twice
	expect_eq '' "$(ask pin @ '')$(ask unpin @ '')$(ask show @ '')"
	expect_eq "$(sed -n 2p ids)" "$(offered_to drop "$(sed -n 1p ids)" '')"
	# other names only where one begins so
	expect_eq '@ @~1' "$(offered_to show @ | xargs)"
	expect_grep '^ @~1	.*the first one' "$(ask show @ >out && echo out)"
	expect_eq step:7 "$(offered_to show s | grep step)"
	expect_eq "$(cat ids)" "$(offered_to show c)"
	# what a terminal must not get
	printf '1' >apple.txt
	git checkpoint save -q -m "$(printf 'red \033[31m\tred\nmore')" --source "$(printf 'a\nb')"
	expect_grep ' ago, red  \[31m red (a b)$' "$(ask show '' >out && echo out)"
	# expired ones, and no more than fit
	echo 3 >apple.txt
	git checkpoint save -q -m brief --expires 1s
	wait_until brief_is_expired
	git config checkpoint.maxCount none
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 \
		31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50; do
		git checkpoint save -q --allow-empty -m "number $i"
	done
	expect_eq 50 "$(ask show '' | wc -l)"
	expect_no_grep "$(sed -n 2p ids)" "$(ask show '' >out && echo out)"
	# which come into reach by their beginning
	expect_eq "$(sed -n 2p ids)" "$(offered_to show "$(sed -n 2p ids)")"
}

test_paths_are_those_of_the_checkpoint() {
	git init -q
	mkdir -p src/deep empty
	touch src/a src/deep/b top ./-dash '~x' "$(printf 'new\nline')" "$(printf 'ta\tb')"
	git checkpoint save -q
	rm -r src/deep top
	touch new src/new
	mkdir newdir
	cat >expected <<-'END'
		 -dash
		-empty/
		-src/
		 top	only in the checkpoint
		 ./~x
		-newdir/	not in the checkpoint
		 expected	not in the checkpoint
		 new	not in the checkpoint
	END
	ask restore @ -- '' >"$T/actual"
	expect_same expected "$T/actual"
	# with no "--" it would be an option
	sed 's/^ -dash/ .\/-dash/' expected >"$T/expected"
	ask restore @ '' >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	rm expected
	# one level at a time
	printf '%s\n' ' src/a' '-src/deep/	only in the checkpoint' ' src/new	not in the checkpoint' \
		>"$T/expected"
	ask restore -n @ src/ >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	expect_eq ' src/deep/b	only in the checkpoint' "$(ask restore @ -- src/deep/)"
	# as they are typed
	cd src
	expect_eq '../top' "$(offered_to restore @ ../to | grep top)"
	expect_eq "$T/work/src/deep/" "$(offered_to restore @ "$T/work/src/d" | grep deep)"
	expect_eq 'a deep/ new' "$(offered_to restore @ '' | xargs)"
	expect_eq '' "$(ask restore '' | grep -v chk_)"
	expect_eq '' "$(ask restore @ ../../)$(ask restore @ -- ../.git/)$(ask restore nothing '')"
	cd ..
	# of the directory that the line names
	expect_eq 'a deep/ new' "$(git-checkpoint --complete git -C src checkpoint restore @ '' |
		cut -c 2- | cut -f 1 | xargs)"
	# diff: what is there, but behind "--" also what is not; the newest if none is named
	expect_eq './-dash empty/ src/ ./~x newdir/ new' "$(offered_to diff '' | grep -v chk_ | xargs)"
	expect_grep '^ top	only' "$(ask diff -- '' >"$T/out" && echo "$T/out")"
	expect_grep '^ top	only' "$(ask diff @ -- '' >"$T/out" && echo "$T/out")"
	# a checkpoint of some paths is about these
	git checkpoint save -q -m scoped src
	expect_eq 'src/' "$(offered_to restore @ '' | xargs)"
	git checkpoint save -q --state a=b --state-only
	expect_eq '' "$(ask restore @ '')"
}

test_files_are_found_by_the_shell_unless_it_cannot() {
	mkdir dir
	touch file .hidden
	for place in 'save' 'save --' 'run --json-file' 'flow task x running --output' \
		'run --verify' 'restore --verify-command'; do
		# shellcheck disable=SC2086
		expect_eq '!files' "$(ask $place '')" "after '$place'"
	done
	expect_eq '!directories' "$(ask flow start x --state-dir '')"
	expect_eq '!directories' "$(ask -C '')"
	expect_eq '--json-file=dir/ --json-file=file' "$(offered_to run --json-file= | xargs)"
	expect_eq '--state-dir=dir/' "$(offered_to flow start x --state-dir=)"
	expect_eq 'k=dir/ k=file' "$(offered_to save --state-file k= | xargs)"
	expect_eq 'k=.hidden' "$(offered_to save --state-file k=. | grep -F k=.)"
	expect_eq '' "$(ask save --state-file k)"
	expect_eq 'dir/ file' "$(offered_to -C . save '' | xargs)"
	expect_eq '' "$(ask -C nothing save '')"
	# a text of the user's own
	expect_eq '' "$(ask save -m '')$(ask list -n '')$(ask restore --reason '')$(ask undo '')"
	expect_eq '' "$(ask gc '')$(ask nonsense '')$(ask hook '')$(ask prune --max-size '')"
}

test_a_command_to_run_is_a_command_line() {
	expect_eq '!command 2' "$(ask run '')"
	expect_eq '!command 5' "$(ask run -m why --rollback ma)"
	expect_eq '!command 3' "$(ask run -- make --ro)"
	expect_eq '!command 6' "$(git-checkpoint --complete git -C . checkpoint run --json make '')"
	expect_eq '--rollback' "$(offered_to run --verify x --ro | grep ro)"
}

test_what_only_one_command_knows() {
	hooks_words
	offered_to hooks '' >actual
	expect_same verbs actual
	offered_to hooks install --events '' >actual
	expect_same events actual
	offered_to hooks uninstall --agent '' >actual
	expect_same agents actual
	expect_eq '' "$(ask hooks install '')"
	# a list goes on
	expect_eq '-merge,am,bisect' "$(ask hooks install --events merge,am,b | grep bis)"
	expect_eq '---events=stash,rebase' "$(ask hooks install --events=stash,re | grep reb)"
	expect_no_grep ',merge' "$(ask hooks install --events=merge, >out && echo out)"
	# settings
	expect_grep '^ maxCount	how many checkpoints are kept' "$(ask config '' >out && echo out)"
	git checkpoint config | cut -d = -f 1 >expected
	offered_to config '' >actual
	expect_same expected actual
	expect_no_grep '^ maxCount' "$(ask config --origin maxCount '' >out && echo out)"
	# sources and captures
	git checkpoint save -q --source "$(printf 'odd $(touch evil)')"
	echo 1 >f
	git checkpoint save -q
	expect_eq ' cli odd $(touch evil)' " $(offered_to list --source '' | xargs)"
	expect_eq '' "$(ask save --source '')"
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	printf '[capture "db"]\ntype = database_savepoint\nsave = touch evil\n' \
		>"$XDG_CONFIG_HOME/git-checkpoint/config"
	expect_eq ' db	database_savepoint' "$(ask save --capture '')"
	expect_missing evil
}

test_phases_and_tasks_of_the_workflow() {
	expect_eq '' "$(ask flow phase '')"
	git checkpoint flow start work --phases plan,build --approve plan >out
	git checkpoint flow phase plan start >out
	git checkpoint flow task 'odd one' running >out
	expect_eq ' plan	in_progress  build' "$(ask flow phase '' | xargs -d '\n')"
	expect_eq 'start complete fail' "$(offered_to flow phase plan '' | xargs)"
	expect_eq 'plan build' "$(offered_to flow approve '' | xargs)"
	expect_eq ' odd one	running' "$(ask flow task '')"
	expect_eq 'pending running complete failed' "$(offered_to flow task x '' | xargs)"
	expect_eq '--output= --note= --help --quiet --json' "$(offered_to flow phase x start - | xargs)"
}

test_old_folders() {
	three_old_folders
	ask relink '' | sort >actual
	printf ' %s\n' "$T/gone	missing, $gone" "$T/old one	moved, $(key_of "$T/old one")" \
		"$odd	missing, \"$T/od\\td\"" | sort >expected
	expect_same expected actual
	ask relink "$(echo "$gone" | cut -c1-6)" >actual
	expect_grep "^ $gone	missing, $T/gone\$" actual
	expect_eq '' "$(ask relink "$T/gone" '')"
}

# Completion only looks.
test_nothing_is_written() {
	two_checkpoints
	store=$(store_dir)
	rm "$store/checkpoint-manifest.md" "$store/HEAD" ids
	chmod 755 "$store"
	fingerprint_raw "$store" >"$T/before"
	exec 9>>"$store/checkpoint/lock"
	flock 9
	expect_eq 2 "$(ask show '' | wc -l)"
	expect_grep apple "$(ask restore @ '' >"$T/out" && echo "$T/out")"
	ask list --source '' >"$T/out"
	exec 9>&-
	fingerprint_raw "$store" >"$T/after"
	expect_same "$T/before" "$T/after"
	# a setting that is wrong is no reason to be silent
	git config checkpoint.maxCount nonsense
	expect_eq 2 "$(ask show '' | wc -l)"
	# nor is there anything to be made
	mkdir "$T/empty"
	cd "$T/empty"
	expect_eq '' "$(ask show '')$(ask restore @ '')$(ask diff '')"
	expect_missing "$(store_dir)"
}

# Where the answer is for readline, nothing is left to be done.
test_answers_to_a_line() {
	two_checkpoints
	mkdir 'my dir' && touch 'my dir/file'
	git checkpoint save -q
	breaks=" 	\"'@><=;|&(:"
	line() {
		git-checkpoint --complete-line git "$breaks" "$1" | xargs -d '\n'
	}
	expect_eq ' status' "$(line 'git checkpoint stat')"
	expect_eq '!names -my dir/' "$(line 'git checkpoint restore @ my')"
	expect_eq '!names -my dir/' "$(line "git checkpoint restore @ 'my d")"
	expect_eq '!names - dir/' "$(line "git checkpoint restore @ my' d")"
	expect_eq '!names  my dir/file' "$(line 'git checkpoint restore @ -- my\ dir/')"
	expect_eq '-rebase' "$(line 'git checkpoint hooks install --events=re')"
	expect_eq ' 7' "$(line 'git checkpoint show step:' | cut -f 1)"
	expect_eq ' @~2' "$(line 'git checkpoint show @~2' | cut -f 1)"
	expect_eq '!command ma' "$(line 'git  checkpoint run "-m" "a b" ma')"
	expect_eq '!files' "$(line 'git checkpoint show @ >fi')"
	expect_eq '' "$(line 'git')"
	# what bash would leave alone for being expanded
	touch 'v$(x) y'
	expect_eq '!quoted  v\$\(x\)\ y' "$(line 'git checkpoint restore @ v' | cut -f 1)"
	expect_eq '!quoted  v$(x) y' "$(line "git checkpoint restore @ 'v" | cut -f 1)"
	expect_eq '!quoted  v\$(x) y' "$(line 'git checkpoint restore @ "v' | cut -f 1)"
	# the home, which bash has not put in
	expect_eq ' status' "$(HOME=$PWD line "git -C ~ checkpoint stat")"
	cp "$(store_dir)/checkpoint-manifest.md" "$HOME/x"
	expect_eq '!names  x' "$(line "git -C ~ checkpoint save x")"
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

# offered <line>: without the space behind a finished word, and without texts
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
	# behind --name= there is no space
	"$LIB_DIR/complete-bash.sh" 'git checkpoint save --mes' 'git checkpoint save --pi' \
		'git checkpoint hooks install --events re' 'git checkpoint config maxC' >raw
	printf '%s\n' '--message=' '--pin ' 'rebase' 'maxCount ' >expected
	expect_same expected raw
	for line in 'git checkpoint show ' 'git-checkpoint restore -n --reason why chk_' \
		'git checkpoint diff ' "git -C $PWD checkpoint restore "; do
		offered "$line" >actual
		expect_same ids actual
	done
	# where there is a choice, what they are
	"$LIB_DIR/complete-bash.sh" 'git checkpoint show ' >raw
	expect_grep "^$(sed -n 1p ids)  [0-9]* seconds* ago, the second: one (agent) \[pinned\]\$" raw
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
	bash_line 'git-checkpoint hooks install --agent=cl' \
		'git-checkpoint hooks install --agent=claude-code '
	bash_line 'git checkpoint show step:' 'git checkpoint show step:7 '
	bash_line 'git checkpoint show @~2' 'git checkpoint show @~2 '
	# paths: in quotes and without, there and gone
	bash_line 'git checkpoint restore @ my' 'git checkpoint restore @ my\ dir/'
	bash_line "git checkpoint restore @ 'my" "git checkpoint restore @ 'my dir'/"
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
	end_terminal
	expect_odd_names
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
		expect_grep '^chk_.* -- [0-9]* seconds* ago, the second: one (agent) \[pinned\]' listed
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
		'git checkpoint hooks install --agent co' 'git checkpoint hooks install in'
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
	end_terminal
	expect_odd_names
}

# ---- fish ------------------------------------------------------------------------

use_fish() {
	require fish
	mkdir -p "$XDG_CONFIG_HOME/fish/completions" "$XDG_CONFIG_HOME/fish/conf.d"
	cp "$ROOT_DIR/completion/git-checkpoint.fish" "$XDG_CONFIG_HOME/fish/completions/"
	cp "$ROOT_DIR/completion/git-checkpoint.conf.fish" \
		"$XDG_CONFIG_HOME/fish/conf.d/git-checkpoint.fish"
}

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
		# git's own completion adds its words about help
		fish_tab "git checkpoint $command -"
		grep -v '^-h\|^--help' expected >expected.others
		grep -v '^-h\|^--help' offered | sort >actual
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
		expect_grep '^chk_.*	[0-9]* seconds* ago, the second: one (agent) \[pinned\]$' offered
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
		expect_same verbs offered
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
	end_terminal
	expect_odd_names
}

# Without the program there is nothing to offer, and nothing to complain about.
test_shells_are_quiet_without_the_program() {
	use_bash
	use_fish
	mkdir "$T/bin"
	for program in bash fish zsh git sed cat; do
		ln -s "$(command -v $program)" "$T/bin/$program"
	done
	PATH=$T/bin
	"$LIB_DIR/complete-bash.sh" 'git-checkpoint sh' >out 2>&1
	test ! -s out
	fish -c "complete -C 'git-checkpoint zzz'" >out 2>&1
	test ! -s out
}

run_tests
