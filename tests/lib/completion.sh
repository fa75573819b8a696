# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034 # for the tests
#
# For the tests of completion; sourced after harness.sh.

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

# Names with special meaning to a shell, each with a different first letter; saved, then removed. A
# file "evil" would show that part of a name was run.
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

# Each of them was restored, under the right name.
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
	printf '%s\n' amp claude-code cline codex copilot cursor droid gemini-cli goose kiro opencode qwen-code \
		windsurf generic >agents
	printf '%s\n' --global --agent= --user --help --quiet --json >of-uninstall
}

# ask <word>...: the answer
ask() {
	git-checkpoint --complete git-checkpoint "$@"
}

use_bash() {
	require bash
	test -e /usr/share/bash-completion/bash_completion || skip 'needs bash-completion'
	test -e /usr/share/bash-completion/completions/git || skip 'needs the completion of git'
	mkdir -p "$XDG_DATA_HOME/bash-completion/completions"
	cp "$ROOT_DIR/completion/git-checkpoint.bash" \
		"$XDG_DATA_HOME/bash-completion/completions/git-checkpoint"
}

use_fish() {
	require fish
	mkdir -p "$XDG_CONFIG_HOME/fish/completions" "$XDG_CONFIG_HOME/fish/conf.d"
	cp "$ROOT_DIR/completion/git-checkpoint.fish" "$XDG_CONFIG_HOME/fish/completions/"
	cp "$ROOT_DIR/completion/git-checkpoint.conf.fish" \
		"$XDG_CONFIG_HOME/fish/conf.d/git-checkpoint.fish"
}

# ---- a terminal ------------------------------------------------------------------

# start_terminal <command>: a shell that gets its keys from descriptor 3, and shows what it does in
# the file "screen"
start_terminal() {
	require_terminal
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
	end_terminal
	expect_odd_names
}
