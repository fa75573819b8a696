#!/bin/sh
# SPDX-License-Identifier: MIT
# What the program says, as far as that can be checked by a program: lower case, no full stop, names
# in quotes; and nothing that git says in the user's language is ever read.

. "$(dirname "$0")/../../lib/harness.sh"

# Texts of failures and warnings, a line "<place> <text>" each, in $T/messages.
read_messages() {
	require perl
	(cd "$ROOT_DIR" && tests/lib/messages.pl git-checkpoint.c lib/*/*.c) |
		sed 's/^\([^ ]*\): [a-z_]*: /\1 /' >"$T/messages"
	test "$(wc -l <"$T/messages")" -gt 400 || fail 'where are the messages?'
}

# not_in <file of what was found>
expect_none() {
	test ! -s "$1" || {
		cat "$1"
		fail "$2"
	}
}

test_messages_begin_in_lower_case() {
	read_messages
	# Three have to be as they are, names of variables are in upper case, and refspecs are no messages.
	grep -v -e ' \(Kept\|Orphaned file detected\|HEAD moved since the checkpoint\): ' \
		-e '^[^ ]* [A-Z][A-Z_]*\(: \| is \)' "$T/messages" |
		grep '^[^ ]* [^a-z %+:'"'"'-]' | grep -v '^[^ ]* X$' >found || :
	expect_none found 'these do not begin in lower case'
}

test_messages_end_without_a_full_stop() {
	read_messages
	grep '[.!]$' "$T/messages" >found || :
	expect_none found 'these end with a full stop'
}

test_names_are_in_quotes() {
	read_messages
	# a noun and then a name
	nouns='checkpoint\|path\|file\|directory\|folder\|command\|option\|capture\|key\|phase\|workflow'
	nouns="$nouns\\|task\\|hook\\|branch\\|pack\\|variable\\|setting\\|link\\|name\\|agent\\|object"
	# (behind 'hook' the state comes first, as hooks status has it)
	grep "[ (]\\($nouns\\) %[.*]*s" "$T/messages" |
		grep -v -e 'git checkpoint %s' -e ' hook %s: %s: %s$' >found || :
	# or a name that is the subject
	# (a process is named with its number)
	grep '^[^ ]* %s \(is\|has\|was left\|does\|could\|looks\|needs\|changed\|cannot\) ' "$T/messages" |
		grep -v ' %s is \(using\|packing\) the checkpoints of ' >>found || :
	# or the object
	grep '\(unable to [a-z]*\|see\|remove\|not\) %s' "$T/messages" >>found || :
	expect_none found 'these have names without quotes'
}

# An errno alone says why, and neither what nor where.
test_failures_of_the_system_say_of_what() {
	(cd "$ROOT_DIR" && tests/lib/messages.pl lib/*/*.c) | sed -n 's/^\([^ ]*\): ckpt_error_errno: /\1 /p' >calls
	test "$(wc -l <calls)" -gt 100
	grep -v '^[^ ]* unable to \([a-z]*\|%s\) .' calls | grep -v '^lib/restore/stage.c:[0-9]* unable to write$' >found || :
	expect_none found 'these do not say what was not possible'
}

# Phrases that only a translation has are refused, in messages, comments, manual and READMEs.
test_the_words_are_plain() {
	require perl
	"$ROOT_DIR/tests/lib/check-words.sh" "$ROOT_DIR"
}

# The check sees them, wherever they are, and takes neither code nor English for one.
test_other_words_are_named() {
	require perl
	cat >odd.c <<-'END'
	/* It is made anew, with a space behind it. */
	static int mend(int behind); // it is no
	// file
	const char *text = "'%s' is no "
			   "number";
	END
	cat >odd.sh <<-'END'
	# whatever comes of it: nothing comes of it
	echo 'mended'
	mend=behind
	END
	printf '%s\n' 'All that there are.' 'It was left behind; there is no file, and it is no longer needed.' >odd.md
	cat >plain.c <<-'END'
	/* There is no file: it is no longer `mended`, and nothing was left behind. */
	static int mend(int anew, char behind);
	END
	"$ROOT_DIR/tests/lib/words.pl" odd.c odd.sh odd.md plain.c | cut -d: -f1-3 >found
	cat >wanted <<-'END'
	odd.c:1: behind
	odd.c:1: anew
	odd.c:2: is no file
	odd.c:4: is no number
	odd.sh:2: mended
	odd.sh:1: nothing comes of
	odd.md:1: that there are.
	END
	expect_same wanted found
}

# What people see in the end: one line, "fatal: " or "error: ", and the same in JSON.
test_failures_are_one_line_and_the_same_in_json() {
	require jq
	git init -q
	echo 1 >a
	git checkpoint save -q
	mkdir "$T/bare" && git init -q --bare "$T/bare"
	while read -r line; do
		status=0
		# shellcheck disable=SC2086 # words
		git-checkpoint $line >out 2>err || status=$?
		test $status -ge 1 || fail "'$line' succeeded"
		expect_eq 1 "$(wc -l <err)" "lines of '$line'"
		expect_grep '^\(fatal\|error\): [^A-Z]' err
		expect_no_grep '[.]$' err
		# shellcheck disable=SC2086
		git-checkpoint --json $line >out 2>/dev/null || :
		expect_eq "$(sed 's/^[a-z]*: //' err)" "$(json .error.message out)" "$line"
		expect_eq $status "$(json .error.code out)" "$line"
	done <<-END
	show nothing
	show @~7
	show step:4
	diff a b c d
	restore @ -- nowhere
	restore
	restore @
	restore --continue
	undo -y
	redo -y
	save -- nowhere
	save --state x
	save --expires yesterday
	save --capture none
	drop
	drop nothing
	pin @~3
	prune --max-count 0
	relink /nowhere
	hooks install --agent none
	hooks install --events x
	flow status x
	flow phase A start
	flow approve A
	list --since x
	-C $T/bare save
	-C .git save
	END
}

# Where nobody can be asked, the message says so and what to do; with --json nothing is ever asked.
test_without_a_terminal_restore_asks_for_yes() {
	echo 1 >a
	git checkpoint save -q
	echo 2 >a
	expect_exit 5 git-checkpoint restore @ 2>err </dev/null
	expect_eq 'error: not a terminal; use --yes to confirm' "$(cat err)"
	expect_eq 2 "$(cat a)"
}

test_no_store_is_nothing_to_do_for_gc_and_prune() {
	require jq
	for command in gc prune; do
		git checkpoint $command >out 2>err
		expect_eq '' "$(cat err)" "what $command says"
		expect_grep '^Nothing to ' out
		git checkpoint $command -q >out 2>&1
		expect_eq '' "$(cat out)" "what $command -q says"
		git checkpoint $command --json >out
		expect_eq 0 "$(json .freed out)"
	done
	expect_missing "$(store_dir)"
}

# ---- git's words -----------------------------------------------------------------

# All that runs git and reads its answer does so by way of one function.
test_one_function_runs_git() {
	(cd "$ROOT_DIR" && grep -n '\<\(execv[pe]*\|execl[pe]*\|posix_spawnp\{0,1\}\|popen\|system\)(' lib/*/*.c) >calls
	# the command of run, /bin/sh for commands and pagers of the user, and a hook of somebody else;
	# the manual and fzf, which have the terminal: nothing that git says is read there; and this
	# very program, for the tools of mcp, and for a save that goes on
	grep -v -e '^lib/run/run.c:[0-9]*:.*execvp(argv\[0\], argv)' -e '^lib/base/spawn.c:[0-9]*:.*execve(argv\[0\]' -e '"/bin/sh"' \
		-e '^lib/\(mcp/mcp_call\|watch/watch_save\).c:[0-9]*:.*execve(PROGRAM, ' \
		-e '^lib/\(base/spawn\|cmd/help\|show/pick\).c:[0-9]*:.*execvp(argv\[0\]' calls >found || :
	expect_none found 'these run something by themselves'
	expect_eq 1 "$(grep -c 'setenv("LANGUAGE", "C", 1)' "$ROOT_DIR/lib/base/spawn.c")" \
		'places that switch translation off'
	(cd "$ROOT_DIR" && grep -l 'setlocale' lib/*/*.c git-checkpoint.c) >found || :
	expect_none found 'these have a language'
}

# asked <command>...: run it for a user who speaks German, and note in $T/asked what git is asked
asked() {
	PATH=$T/bin:$PATH LANGUAGE=de LC_ALL=C.UTF-8 "$@"
}

# And git gets an environment in which it does not translate, and is asked with commands whose
# answers are made for programs.
test_git_is_asked_in_no_language() {
	mkdir "$T/bin"
	real=$(command -v git)
	cat >"$T/bin/git" <<-END
	#!/bin/sh
	echo "\${LANGUAGE-none} \$*" >>'$T/asked'
	exec '$real' "\$@"
	END
	chmod +x "$T/bin/git"
	git init -q
	echo '/a' >.gitignore
	echo 1 >a
	git add -f .
	git commit -q -m 1
	git update-index --split-index
	asked git-checkpoint save -q
	asked git-checkpoint gc -q
	asked git-checkpoint hooks install -q --guard
	asked git-checkpoint hooks status -q
	mkdir "$T/two"
	cd "$T/two"
	if git init -q --object-format=sha256 . 2>/dev/null; then
		echo 1 >a
		git add a
		git commit -q -m 1
		asked git-checkpoint save -q
	fi
	test "$(wc -l <"$T/asked")" -ge 3 || fail 'git was hardly asked'
	expect_no_grep '^de \|^none ' "$T/asked"
	# the command behind options, and options with values, of git itself
	sed -e 's/^C //' -e ':again' -e 's/^-c [^ ]* //; t again' -e 's/^--[a-z-]*=[^ ]* //; t again' \
		-e 's/^--literal-pathspecs //; t again' -e 's/ .*//' "$T/asked" >commands
	# those that need more to happen, from the source
	(cd "$ROOT_DIR" && sed -n 's/.*char \*.*\[\] = { "\([a-z][a-z]*-[a-z]*\)",.*/\1/p' lib/*/*.c) >>commands
	test "$(sort -u commands | wc -l)" -ge 6
	while read -r command; do
		case $command in
		--version | config | ls-files | ls-tree | rev-parse | symbolic-ref | read-tree | checkout-index | \
			cat-file | diff-tree | diff-index | pack-objects | index-pack | rev-list | for-each-ref | apply | \
			fast-import | unpack-objects | update-ref | update-index | write-tree | commit-tree | \
			check-ref-format | ls-remote) ;;
		*) fail "'git $command' is for people" ;;
		esac
	done <commands
	# what a user runs has what the user has
	LANGUAGE=de git-checkpoint run -- sh -c "echo \$LANGUAGE" >out 2>/dev/null
	expect_eq de "$(cat out)"
}

# Names come from whoever made the tree.
test_names_in_messages_are_not_obeyed_by_the_terminal() {
	esc=$(printf '\033')
	csi=$(printf '\302\233')
	mkdir "d${esc}[1m" "$T/${esc}[2m"
	echo 1 >"d${esc}[1m/f"
	expect_exit 128 git-checkpoint save -- "x${esc}[3m${csi}4m" 2>>err
	expect_exit 129 git-checkpoint "sa${esc}[5mve" 2>>err
	expect_exit 127 git-checkpoint run -- "./x${esc}[6m" 2>>err
	expect_exit 128 git-checkpoint -C "$T/${esc}[2m" show @ 2>>err
	git-checkpoint -C "$T/${esc}[2m" status >>err
	for command in list log gc; do
		git-checkpoint -C "$T/${esc}[2m" $command >>err 2>&1
	done
	give_to_nobody .
	as_nobody git-checkpoint save -q
	chmod 0 "d${esc}[1m"
	expect_exit 5 as_nobody git-checkpoint restore --yes @ 2>>err
	chmod 755 "d${esc}[1m"
	expect_no_grep "$esc\\|$csi" err
	for n in 1 2 3 5 6; do
		expect_grep "[?3]\\[${n}m" err
	done
}

run_tests
