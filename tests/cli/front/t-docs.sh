#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual, help and program say the same.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/answers.sh"

MANUAL=$ROOT_DIR/man/git-checkpoint.1
CLI=$ROOT_DIR/man/git-checkpoint-cli.7
JSON=$ROOT_DIR/man/git-checkpoint-json.5
CONFIG=$ROOT_DIR/man/git-checkpoint-config.5

names() {
	git-checkpoint --list-cmds | cut -f 1
}

# Commands and the files of their pages, in $T/map; commands that share a page are links to it.
map_pages() {
	test -e "$T/map" || names | while read -r name; do
		file=$(ls "$ROOT_DIR/man/git-checkpoint-$name".[15]) || fail "'$name' has no page" >&2
		echo "$name $(basename "$(readlink -f "$file")")"
	done >"$T/map"
}

# page_of <command>
page_of() {
	echo "$ROOT_DIR/man/$(awk -v command="$1" '$1 == command { print $2 }' "$T/map")"
}

# All pages of commands, each once.
pages() {
	for page in "$ROOT_DIR"/man/git-checkpoint-*.1; do
		test -L "$page" || echo "$page"
	done
}

# commands_of <page>: those that are on it
commands_of() {
	awk -v page="$(basename "$1")" '$2 == page { print $1 }' "$T/map"
}

# read_manual <page>: the page as plain text, one line a paragraph, in $T/manual
read_manual() {
	require mandoc
	mandoc -T ascii -O width=1000 "$1" | perl -pe 's/.\x08//g' >"$T/manual"
}

# section <title>: its lines, without those of the title
section() {
	awk -v title="$1" '/^[A-Z]/ { on = $0 == title; next } on' "$T/manual" |
		grep . || fail "the manual has no section '$1'" >&2
}

# subsection <section> <title>
subsection() {
	section "$1" | awk -v title="   $2" '/^   [^ ]/ { on = $0 == title; next } on' |
		grep . || fail "'$1' has no part '$2'" >&2
}

# read_options <command>: what its page says about its options, in $T/part
read_options() {
	map_pages
	file=$(page_of "$1")
	read_manual "$file"
	: >"$T/part"
	if test "$(commands_of "$file")" != "$1"; then
		subsection COMMANDS "$1" >"$T/part"
	elif grep -q '^OPTIONS$' "$T/manual"; then
		section OPTIONS >"$T/part"
	fi
}

# The usage of a command as one line for each form, without "usage:" and "or:".
usage_forms() {
	git-checkpoint "$1" -h | sed '/^$/q' | tr '\n' ' ' | sed 's/ \{1,\}/ /g; s/ or: /\n/g' |
		sed 's/^usage: //; s/ *$//' | grep .
}

test_the_manual_has_no_lint() {
	require mandoc groff
	for page in "$ROOT_DIR"/man/*.[1-8]; do
		test ! -L "$page" || continue
		mandoc -T lint -W warning "$page" >lint 2>&1 || :
		expect_eq '' "$(cat lint)" "mandoc about $page"
		# on paper, and as man(1) shows it on a terminal of 80 columns
		groff -t -ww -z -man "$page" >lint 2>&1
		groff -t -ww -z -man -Tutf8 -rLL=78n "$page" >>lint 2>&1
		expect_eq '' "$(cat lint)" "groff about $page"
	done
}

# shape <title>...: these sections are in the page that was read, in this order
shape() {
	grep '^[A-Z]' "$T/manual" | grep -v '([157])' >titles
	for title; do
		grep -n -x "$title" titles || fail "$page has no section '$title'"
	done | cut -d : -f 1 >numbers
	sort -n numbers >sorted
	expect_same sorted numbers
	expect_eq 'SEE ALSO' "$(tail -n 1 titles)" "the last section of $page"
}

# As those of git: what is looked up first stands first.
test_pages_have_the_shape_of_those_of_git() {
	page=$MANUAL
	read_manual "$page"
	shape NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS EXAMPLES 'FURTHER DOCUMENTATION' 'SEE ALSO'
	section 'FURTHER DOCUMENTATION' >part
	for page in "$ROOT_DIR"/man/*.[57]; do
		expect_grep "$(basename "$page" | sed 's/[.]\(.\)$/(\1)/')" part
	done
	page=$CLI
	read_manual "$page"
	shape NAME DESCRIPTION 'NAMES OF CHECKPOINTS' OPTIONS TIMES 'EXIT STATUS' 'SEE ALSO'
	map_pages
	for page in $(pages); do
		read_manual "$page"
		shape NAME SYNOPSIS DESCRIPTION 'SEE ALSO'
		# the name of the page first, then those of the other commands on it
		section NAME | sed 's/ - .*//' | tr -d ' ' | tr , '\n' >named
		expect_eq "$(basename "$page" .1)" "$(head -n 1 named)"
		commands_of "$page" | sed 's/^/git-checkpoint-/' | sort >expected
		sort named >actual
		expect_same expected actual
	done
}

test_the_overview_has_every_command() {
	read_manual "$MANUAL"
	section SYNOPSIS | sed 's/^ *//' >actual
	git-checkpoint -h | sed -n '1s/^usage: //p' >expected
	expect_same expected actual
	section COMMANDS | sed -n 's/^ \{7\}\([a-z]*\)  .*/\1/p' | sort >actual
	names | sort >expected
	expect_same expected actual
	# in the same groups as the short help, and in the same order
	section COMMANDS | sed -n 's/^   \([A-Z].*\)/\1/p; s/^ \{7\}\([a-z]*\)  .*/\1/p' >actual
	git-checkpoint -h | sed -n "1d; /^'/q; s/^\([A-Z].*\)/\1/p; s/^    \([a-z]*\) .*/\1/p" >expected
	expect_same expected actual
	# and is one: two screens
	mandoc -T ascii -O width=80 "$MANUAL" >overview
	test "$(wc -l <overview)" -le 140 || fail "the overview has $(wc -l <overview) lines"
}

test_pages_refer_to_pages_that_there_are() {
	require mandoc
	for page in "$ROOT_DIR"/man/*.[157]; do
		read_manual "$page"
		grep -o 'git-checkpoint-[a-z]*([157])' "$T/manual"
	done | sort -u >refs
	test "$(wc -l <refs)" -gt 10
	while read -r ref; do
		expect_exists "$ROOT_DIR/man/$(echo "$ref" | sed 's/(\(.\))/.\1/')"
	done <refs
}

test_the_synopsis_is_the_usage() {
	map_pages
	for page in $(pages); do
		for command in $(commands_of "$page"); do
			usage_forms "$command"
		done >expected
		read_manual "$page"
		section SYNOPSIS | sed 's/^ *//; s/ *$//' >actual
		expect_same expected actual
	done
	# the settings have a page of their own, which says more in there
	usage_forms config >expected
	read_manual "$CONFIG"
	section SYNOPSIS | sed 's/^ *//; s/ *$//' | head -n "$(wc -l <expected)" >actual
	expect_same expected actual
}

test_every_command_and_option_is_in_the_manual() {
	read_manual "$MANUAL"
	section OPTIONS >common
	for option in -C -h --help -q --quiet --json --version; do
		expect_grep "^ *\(-., \)\{0,1\}$option\( \|,\|\$\)" common
	done
	for command in $(names); do
		read_options "$command"
		# those of all commands, unless the command has one of its own
		git-checkpoint "$command" -h >help
		git-checkpoint --list-opts "$command" | cut -f 1 | while read -r option; do
			case $option in
			--help | --json) continue ;;
			--quiet) grep -q -e '-q, --quiet' help && continue ;;
			esac
			expect_grep "^ *\(-.\( <[^>]*>\|\[<[^>]*>\]\)\{0,1\}, \)\{0,1\}$option\(<\|\[\| \|,\|\$\)" "$T/part"
		done
		# and their letters
		sed -n 's/^    \(-.\), --.*/\1/p' help | grep -v -e '-[hq]' | while read -r letter; do
			expect_grep "^ *$letter\( \|,\|\[\)" "$T/part"
		done
	done
}

test_the_manual_has_no_option_that_is_not_there() {
	for command in $(names); do
		git-checkpoint --list-opts "$command" | cut -f 1 | tr -d = >known
		git-checkpoint "$command" -h | sed -n 's/^    \(-.\), --.*/\1/p' >>known
		read_options "$command"
		# the line of an option begins with it, or with its letter
		sed -n -e 'h; s/^ *\(-[A-Za-z-]*\).*/\1/p; g' \
			-e 's/^ *-[A-Za-z]\( <[^>]*>\|\[<[^>]*>\]\)\{0,1\}, \(--[a-z-]*\).*/\2/p' "$T/part" >named
		while read -r option; do
			grep -q -x -e "$option" known || fail "$command has no option '$option'"
		done <named
	done
}

# The table of settings, from the source: key, type, kind and default, a line each.
settings() {
	sed -n 's/^\tX("\([^"]*\)", "\([^"]*\)", \([A-Z]*\), [a-z_]*, "\([^"]*\)",.*/\1 \2 \3 \4/p' \
		"$ROOT_DIR/lib/settings/setting.c"
}

test_every_setting_is_in_the_manual_with_type_and_default() {
	read_manual "$CONFIG"
	section KEYS >part
	settings >rows
	# the table of the source is the one that the program has
	git checkpoint config >defaults
	sed 's/^\([^ ]*\) [^ ]* [^ ]* /\1=/' rows >expected
	expect_same expected defaults
	sed 's/^\([^ ]*\) \([^ ]*\) [^ ]* \(.*\)/\1 (\2, default \3)/; s/default )/default empty)/' rows |
		sort >expected
	grep -o '^ *[a-zA-Z]* ([a-z]*, default [^ )]*)' part | sed 's/^ *//' | sort >actual
	expect_same expected actual
	section VALUES >values
	cut -d ' ' -f 2 rows | sort -u | while read -r type; do
		expect_grep "^ *$type\( \|\$\)" values
	done
	subsection SOURCES 'Keys that run a command' >part
	sed -n 's/^\([^ ]*\) [^ ]* COMMAND .*/\1/p' rows >commands
	test -s commands
	while read -r key; do
		expect_grep "\(^\|[^A-Za-z]\)${key}[^A-Za-z]" part
	done <commands
}

test_every_key_of_captures_is_in_the_manual() {
	read_manual "$CONFIG"
	section CAPTURES >part
	sed -n 's/.*strcasecmp(key, "\([a-z]*\)").*/\1/p' "$ROOT_DIR/lib/captures/capture_settings.c" |
		sort >expected
	test -s expected
	sed -n 's/^ *\([a-z]*\) ([a-z]*, default [^ ]*).*/\1/p' part | sort >actual
	expect_same expected actual
}

test_every_exit_status_is_in_the_manual() {
	read_manual "$CLI"
	section 'EXIT STATUS' >part
	for status in 0 1 3 4 5 75 128 129; do
		expect_grep "^ *$status " part
	done
}

# Each key of an answer stands in the part about its command, or in that which it refers to.
test_every_json_key_is_in_the_manual() {
	require jq
	read_manual "$JSON"
	git init -q
	git commit -q --allow-empty -m one
	echo 1 >a
	echo secret >.env
	git checkpoint save -q
	echo 2 >a
	mkdir "$T/answers"
	git checkpoint save --state k=v --json >"$T/answers/save"
	tried_answers
	(git checkpoint list --stat --json && git checkpoint list --json -- .) >"$T/answers/list"
	git checkpoint show --files --json @ >"$T/answers/show"
	git checkpoint grep --json -e . >"$T/answers/grep"
	git checkpoint diff --json @~1 >"$T/answers/diff"
	for c in status log config; do git checkpoint $c --json >"$T/answers/$c"; done
	git checkpoint restore --yes --verify-command true --json @~1 >"$T/answers/restore"
	git checkpoint restore --into "$T/copy" --worktree --json @~1 >>"$T/answers/restore"
	for c in undo redo; do git checkpoint $c --yes --json >"$T/answers/$c"; done
	for c in revert pick; do git checkpoint $c --dry-run --json @ >"$T/answers/$c"; done
	(expect_exit 1 git checkpoint run --rollback --verify 'exit 2' --json-file "$T/answers/run" -- \
		sh -c 'echo 3 >a' 2>/dev/null)
	git checkpoint verify --all --json >"$T/answers/verify"
	git checkpoint hash --json . >"$T/answers/hash"
	git checkpoint pin --json @ >"$T/answers/pin"
	git checkpoint unpin --json @ >"$T/answers/unpin"
	git checkpoint save -q --allow-empty
	git checkpoint drop --json @ >"$T/answers/drop"
	git checkpoint save -q --allow-empty --step 1
	git checkpoint save -q --allow-empty --step 2
	git checkpoint prune --max-count 1 --json >"$T/answers/prune"
	git checkpoint gc --json >"$T/answers/gc"
	elsewhere_answers
	hooks_answers >"$T/answers/hooks"
	git checkpoint mcp --print --json codex >"$T/answers/mcp"
	watch_answers >"$T/answers/watch"
	flow_answers >"$T/answers/flow"
	(git checkpoint help save --json && git checkpoint help agents --json) >"$T/answers/help"
	jq -e '.removed | length > 0' "$T/answers/drop" "$T/answers/prune" >/dev/null
	store=$(git checkpoint status --json | jq -r .store)
	rm "$store/checkpoint-manifest.md"
	(expect_exit 1 git checkpoint doctor --json >"$T/answers/doctor")
	cd "$T"
	mv work moved
	cd moved
	git checkpoint stores --json >"$T/answers/stores"
	git checkpoint relink --json "$T/work" >"$T/answers/relink"
	expect_eq 3 "$(jq -r 'select(.changes_reverted[0].operation == "modify") | 1' \
		"$T/answers/restore" "$T/answers/undo" "$T/answers/redo" | wc -l)" 'answers with changes'
	subsection ANSWERS 'The checkpoint object' >object
	subsection ANSWERS 'git checkpoint save' >of-save
	subsection ANSWERS 'git checkpoint list' >of-list
	subsection ANSWERS 'git checkpoint restore' >of-restore
	subsection ANSWERS 'git checkpoint prune' >of-prune
	for command in $(names); do
		expect_exists "$T/answers/$command"
		subsection ANSWERS "git checkpoint $command" >part
		case $command in
		save) cat object >>part ;;
		list | status | pin | unpin | prune | import) cat object of-list >>part ;;
		drop) cat object of-list of-prune >>part ;;
		show) cat object of-list of-save >>part ;;
		undo | redo | revert | pick | takeover) cat of-restore >>part ;;
		run | try | bisect) cat object of-restore >>part ;;
		esac
		# settings and states have keys of the user's
		jq -r 'del(.state.k) | if .settings then .settings |= {x: .maxCount} else . end |
			[paths | map(strings) | last | values] | unique[]' "$T/answers/$command" |
			grep -v -x x >keys
		test -s keys || fail "no keys in the answer of $command"
		while read -r key; do
			expect_grep "\(^\|[^a-z_]\)$key\([^a-z_]\|\$\)" part
		done <keys
	done
}

test_what_hooks_do_is_in_the_manual() {
	require jq
	read_manual "$ROOT_DIR/man/git-checkpoint-hooks.1"
	section EVENTS >part
	git-checkpoint --complete git-checkpoint hooks install --events '' | cut -c 2- >events
	test -s events
	while read -r event; do
		expect_grep "^ *$event\( \|\$\)" part
	done <events
	# where the entries for agents go, and for which tools they are
	section AGENTS >part
	git init -q
	git-checkpoint --complete git-checkpoint hooks install --agent '' | cut -c 2- |
		grep -v generic >agents
	test -s agents
	while read -r agent; do
		expect_grep "^ *$agent\( \|\$\)" part
		git checkpoint hooks install --agent "$agent" --print --json >answer
		path=$(jq -r '.agents[0].path' answer)
		expect_grep "$(echo "${path#"$PWD"/}" | sed 's/[.]/[.]/g') " part
		jq -r '.agents[0].text | (fromjson? // {}).hooks | objects | keys[]' answer >words
		test ! -s words || test "$(wc -l <words)" -ge 4
		while read -r word; do
			grep -q -F -e "$word" part || fail "the manual does not name '$word'"
		done <words
	done <agents
	section 'WHAT IS NOT SEEN' >part
	git checkpoint hooks status --json | jq -r '.not_seen[]' | sed 's/ (.*//' >blind
	test -s blind
	while read -r sentence; do
		grep -q -F -e "$sentence" part || fail "the manual does not name '$sentence'"
	done <blind
}

test_help_fits_the_terminal() {
	for command in $(names); do
		git-checkpoint "$command" -h
	done >help
	git-checkpoint -h >>help
	expect_eq '' "$(awk 'length > 80' help)" 'lines over 80 columns'
	names | while read -r command; do
		expect_grep "^    $command " help
	done
}

test_git_help_opens_the_manual() {
	require man
	mkdir -p "$T/share/man1"
	cp "$MANUAL" "$T/share/man1/"
	MANPATH=$T/share MANPAGER=cat git checkpoint --help >out
	expect_grep 'save and restore the state of a working directory' out
}

test_every_option_is_offered_by_bash() {
	require bash
	test -e /usr/share/bash-completion/bash_completion || skip 'needs bash-completion'
	mkdir -p "$XDG_DATA_HOME/bash-completion/completions"
	cp "$ROOT_DIR/completion/git-checkpoint.bash" \
		"$XDG_DATA_HOME/bash-completion/completions/git-checkpoint"
	for command in $(names); do
		git-checkpoint --list-opts "$command" | cut -f 1 >expected
		"$LIB_DIR/complete-bash.sh" "git-checkpoint $command -" | sed 's/ .*//' >actual
		expect_same expected actual
	done
}

run_tests
