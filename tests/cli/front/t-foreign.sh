#!/bin/sh
# SPDX-License-Identifier: MIT
# Names, messages and settings that somebody else chose reach the terminal as text: whatever command
# shows them, as text, in colour or as JSON, it prints no control character that was in them.

. "$(dirname "$0")/../../lib/harness.sh"

# What a terminal obeys: a title, a clear screen, CSI as one character and as one byte, a reversal.
esc=$(printf '\033')
hostile="${esc}]0;PWN$(printf '\007')${esc}[2J$(printf '\302\233')31m$(printf '\342\200\256')txt$(printf '\177')"
raw="$hostile$(printf '\233')31m"

# expect_text <file>: UTF-8, and no control characters but newlines, tabs and the colours of ours
expect_text() {
	perl -CA -Mutf8 -MEncode -e '
		my ($file) = @ARGV;
		open my $in, "<:raw", $file or die "$file: $!\n";
		local $/;
		my $bytes = <$in> // "";
		my $text = eval { decode("UTF-8", $bytes, Encode::FB_CROAK | Encode::LEAVE_SRC) };
		defined $text or die "$file: not UTF-8\n";
		$text =~ s/\e\[(?:|1|2|31|32|33|34|36)m//g;
		$text =~ s/([^\n]{0,30})([\x00-\x08\x0b-\x1f\x7f-\x9f\x{202a}-\x{202e}\x{2066}-\x{2069}])/
			die sprintf("%s: U+%04X after %s\n", $file, ord $2, encode("UTF-8", $1))/e;
	' "$1" || fail "$2"
}

# shown <argument>...: the answer of a command in each form has nothing for a terminal to obey
shown() {
	git-checkpoint "$@" >"$T/out" 2>&1 </dev/null || :
	expect_text "$T/out" "$*"
	GIT_CHECKPOINT_COLOR=always git-checkpoint "$@" >"$T/out" 2>&1 </dev/null || :
	expect_text "$T/out" "$* in colour"
	git-checkpoint "$@" --json >"$T/out" 2>&1 </dev/null || :
	expect_text "$T/out" "$* as JSON"
}

# A worktree, a record, a configuration and an event in which every free text is hostile.
hostile_state() {
	mkdir -p "$T/work/in $raw"
	cd "$T/work/in $raw" || exit 1
	git init -q -b "b$(printf '\302\233')31m$(printf '\342\200\256')"
	git config user.name "me $hostile"
	mkdir "dir $raw"
	echo 1 >"dir $raw/file $raw"
	echo 1 >"$hostile"
	ln -s nowhere "link $raw" # where it leads is contents, which come as they are
	git add .
	git commit -q -m "subject $hostile"
	git stash list >/dev/null
	git-checkpoint save -q -m "message $hostile" --source "s$(printf '\342\200\256')" \
		--state "key=value $raw" --step 1 >"$T/out" 2>&1 || git-checkpoint save -q -m "message $hostile" \
		--state "key=value $raw" --step 1
	git-checkpoint hooks install -q
	printf '{"cwd":%s,"session_id":%s,"hook_event_name":"%s","prompt":%s,"tool_name":%s}' \
		"$(printf %s "$PWD" | jq -Rs .)" "$(printf %s "s $hostile" | jq -Rs .)" UserPromptSubmit \
		"$(printf %s "prompt $hostile" | jq -Rs .)" "$(printf %s "tool $hostile" | jq -Rs .)" |
		git-checkpoint agent-hook codex >"$T/out" 2>&1
	expect_text "$T/out" 'agent-hook'
	echo 2 >>"dir $raw/file $raw"
	echo 2 >"new $raw"
	rm "$hostile"
	git-checkpoint save -q -m "second $hostile"
	echo 3 >>"dir $raw/file $raw"
	echo 3 >"later $raw"
	chmod 0 "new $raw"
}

# What is planted where we read settings and notes of our own.
plant() {
	perl -MJSON::PP -e '
		my ($file, $bad) = @ARGV;
		open my $in, "<", $file or exit 0;
		local $/;
		my $json = decode_json(<$in>);
		push @{$json->{events}}, "event $bad";
		open my $out, ">", $file;
		print $out encode_json($json);
	' .git/git-checkpoint/hooks.json "$hostile"
	git config checkpoint.exclude "x$hostile"
	git config checkpoint.keep "x$hostile"
	git config checkpoint.nosuchthing "x$hostile"
	git config "checkpoint.x.url" "x$hostile"
	mkdir -p .codex
	echo .codex >>.git/info/exclude
	printf '%s' "$hostile" >.codex/hooks.json
}

# The arguments of each command that are tried; a new command has to be added here.
arguments_of() {
	case $1 in
	save) echo '-n|-m again|--no-such' ;;
	list) echo '|--stat|-p|--session|--grep x|--remote|--source s' ;;
	show) echo '@|-p @|--stat @|--files @|@~1|:|@:dir' ;;
	diff) echo '|--stat|--name-only|--name-status|--numstat|@~1 @|--stat @~1 @|-R' ;;
	grep) echo '1|-l 2|nothing' ;;
	status | stores | remote | prune | gc | doctor) echo '|-n' ;;
	restore) echo '-n @~1|-n -v @~1|nosuch|--yes @~1|--into x @' ;;
	undo | redo) echo '-n|--yes' ;;
	revert | pick) echo '-n @|--yes @' ;;
	run) echo '-- true|-- false' ;;
	try) echo '@ -- true|@ -- nosuch' ;;
	bisect) echo '@~1 @ -- true|@~1 @ -- false' ;;
	pin) echo '@|--name x @' ;;
	unpin | drop) echo '@|nosuch|--yes @~1' ;;
	verify) echo '--all' ;;
	hash | relink | fetch) echo '|nosuch' ;;
	log) echo '|-n 3' ;;
	export) echo '--tar @ -o x.tar|nosuch' ;;
	import) echo 'nosuch' ;;
	branch) echo 'new @' ;;
	push) echo '|nosuch' ;;
	handoff | takeover) echo '|-n' ;;
	hooks) echo 'status|install|install --agent codex|uninstall -n' ;;
	watch) echo 'status|add .|remove .' ;;
	mcp) echo '' ;;
	flow) echo 'status|list|start|resume' ;;
	config) echo '|--show-origin|exclude' ;;
	help) echo '|--no-such' ;;
	*) fail "which arguments of '$1' are to be tried?" ;;
	esac
}

# try <command>...: each with what it can be asked
try() {
	for command; do
		arguments_of "$command" | tr '|' '\n' >"$T/arguments"
		while read -r arguments; do
			# shellcheck disable=SC2086
			shown $command $arguments
		done <"$T/arguments"
		shown "$command" "$raw"
		shown "$command" -- "$raw" "dir $raw" "dir $raw/file $raw"
		shown "$command" "--$raw"
	done
	shown "$raw"
}

test_no_command_prints_a_control_character_of_a_name() {
	hostile_state
	# shellcheck disable=SC2046
	try $(git-checkpoint --list-cmds | cut -f1)
}

test_nor_one_of_what_was_planted() {
	hostile_state
	plant
	try config hooks status save list
}

# What another machine sent: titles, machine, branch, paths.
test_nor_one_of_what_was_imported() {
	hostile_state
	git-checkpoint export -q --bundle @ -o "$T/bundle"
	mkdir "$T/other"
	cd "$T/other" || exit 1
	git init -q
	git-checkpoint save -q --allow-empty
	shown import "$T/bundle"
	git-checkpoint list --json | jq -r '.checkpoints[].id' >"$T/ids"
	test "$(wc -l <"$T/ids")" = 2 || fail 'nothing was imported'
	while read -r id; do
		for command in show 'show -p' 'restore -n' 'restore -n -v' 'diff' 'diff --stat' verify pin; do
			# shellcheck disable=SC2086
			shown $command "$id"
		done
	done <"$T/ids"
	shown list
	shown log
}

# git reads the headers of a patch, whatever the names are.
test_a_patch_of_such_names_can_be_applied() {
	git init -q
	for name in "$raw" "${hostile}é" "$(printf '\342\200\256')x"; do
		echo 1 >"$name"
	done
	git-checkpoint save -q
	for name in "$raw" "${hostile}é" "$(printf '\342\200\256')x"; do
		echo 2 >"$name"
	done
	git-checkpoint diff >"$T/patch"
	expect_text "$T/patch" diff
	git apply -R "$T/patch"
	git-checkpoint status --json | jq -e '.safe'
}

run_tests
