#!/bin/sh
# SPDX-License-Identifier: MIT
# help: the list, the manual, and the instructions for agents, of which every command is run and
# every answer compared.

. "$(dirname "$0")/../../lib/harness.sh"

TEXT=$ROOT_DIR/man/git-checkpoint-agents.md
SAMPLE_ID=chk_20261117_090248_4a3818

names() {
	git-checkpoint --list-cmds | cut -f 1
}

test_without_an_argument_it_is_the_list() {
	git checkpoint help >out
	git checkpoint -h >expected
	expect_same expected out
	git checkpoint help --json >out
	expect_eq "$(names)" "$(json '.commands[].name' out)"
	expect_eq '' "$(git checkpoint help -q)"
	expect_missing "$(store_dir)"
}

# As `make install` does it; links become files.
install_manual() {
	require man
	mkdir -p "$T/share/man1" "$T/share/man5" "$T/share/man7"
	cp -L "$ROOT_DIR"/man/*.1 "$T/share/man1/"
	cp -L "$ROOT_DIR"/man/*.5 "$T/share/man5/"
	cp -L "$ROOT_DIR"/man/*.7 "$T/share/man7/"
	MANPATH=$T/share
	MANPAGER='cat'
	export MANPATH MANPAGER
}

# title <page>: how its NAME begins
title() {
	sed -n '/^\.SH NAME$/{n;s/[, ].*//;s/\\//g;p;q}' "$1"
}

test_a_command_is_explained_by_its_page() {
	install_manual
	for command in $(names); do
		for page in "$T"/share/man?/"git-checkpoint-$command".?; do
			expect_exists "$page"
		done
		git checkpoint help "$command" >out
		expect_grep "^ *$(title "$page")[, ]" out
		expect_grep "git-checkpoint-${command}[, ]" out
	done
	for how in 'git checkpoint undo --help' 'git-checkpoint undo --help' 'git checkpoint -C . undo --help'; do
		$how >out
		expect_grep '^ *git-checkpoint-restore, git-checkpoint-undo, ' out
	done
	git-checkpoint --help >out
	expect_grep '^ *git-checkpoint - save and restore the state' out
	# also if git does not find us
	PATH=$TOOLS "$BUILD_DIR/git-checkpoint" help undo >out
	expect_grep '^ *git-checkpoint-restore, git-checkpoint-undo, ' out
}

# Which git itself does not open either.
test_help_further_back_is_the_usage() {
	install_manual
	git checkpoint undo -h >expected
	git checkpoint undo --yes --help >out
	expect_same expected out
	# and that of the command to run is none of ours
	# shellcheck disable=SC2016
	expect_eq --help "$(git checkpoint run -q sh -c 'echo "$1"' sh --help)"
}

# expect_usage <PATH>: all ways to the manual of undo, and of the program, end in what -h prints
expect_usage() {
	for command in undo ''; do
		# shellcheck disable=SC2086
		"$BUILD_DIR/git-checkpoint" $command -h >expected
		for how in "help $command" "$command --help"; do
			# shellcheck disable=SC2086
			PATH=$1 "$BUILD_DIR/git-checkpoint" $how >out 2>err
			expect_same expected out
			expect_eq '' "$(cat err)"
		done
	done
}

test_without_a_manual_it_is_the_usage() {
	mkdir "$T/empty" "$T/bin"
	(
		MANPATH=$T/empty
		export MANPATH
		expect_usage "$PATH"
	)
	# no man, no git
	expect_usage "$T/bin"
	# a man that only says how to get one, as some small systems have it
	printf '#!/bin/sh\necho This system has been minimized.\n' >"$T/bin/man"
	chmod +x "$T/bin/man"
	expect_usage "$T/bin:$PATH"
}

test_the_usage_as_json() {
	git checkpoint help restore --json >out
	expect_eq restore "$(json '.commands | map(.name) | join(" ")' out)"
	expect_eq 'git checkpoint restore --abort' "$(json '.commands[0].usage[2]' out)"
	git checkpoint help status --json >out
	expect_eq '["git checkpoint status"]' "$(jq -c '.commands[0].usage' out)"
}

test_what_there_is_no_help_on() {
	for word in nonsense hook '' -- 'save list'; do
		# shellcheck disable=SC2086
		case $word in
		--) set -- -- nonsense ;;
		'') set -- '' ;;
		*) set -- $word ;;
		esac
		expect_exit 129 git checkpoint help "$@" >out 2>err
		expect_eq '' "$(cat out)"
		expect_exit 129 git checkpoint help --json "$@" >out 2>err
		expect_eq 129 "$(json .error.code out)"
	done
}

# ---- agents ----------------------------------------------------------------------

test_the_text_is_that_of_the_file_everywhere() {
	git checkpoint help agents >out
	expect_same "$TEXT" out
	git checkpoint help agents --json >out
	jq -j .agents out >text
	expect_same "$TEXT" text
	expect_eq '["agents"]' "$(jq -c keys out)"
	# nothing is needed for it: no worktree, no home, no configuration that is right
	git init -q --bare "$T/bare.git"
	cd "$T/bare.git"
	printf '[checkpoint\n' >"$HOME/.gitconfig"
	env -u HOME -u XDG_STATE_HOME "$BUILD_DIR/git-checkpoint" help agents >"$T/out"
	expect_same "$TEXT" "$T/out"
	test ! -c /dev/full || expect_exit 128 "$BUILD_DIR/git-checkpoint" help agents >/dev/full
}

test_the_front_matter_is_what_agents_read() {
	expect_eq --- "$(sed -n 1p "$TEXT")"
	sed '1d; /^---$/q' "$TEXT" >front
	expect_eq 'name description' "$(sed -n 's/^\([a-z]*\): .*/\1/p' front | tr '\n' ' ' | sed 's/ $//')"
	expect_grep '^name: [a-z-]\{1,64\}$' front
	# the limit of those who read it; and nothing in it that YAML would take for its own
	description=$(sed -n 's/^description: //p' front)
	test ${#description} -lt 1024
	case $description in
	*': '* | *' #'*) fail 'not a plain scalar of YAML' ;;
	esac
}

# Blocks "```sh" as $T/blocks/<n>.sh, the "```json" after each as <n>.json, and the keys that are
# explained after it ("- `key`, `key.of.it`:") as <n>.keys
cut_blocks() {
	mkdir "$T/blocks"
	awk -v dir="$T/blocks" '
		/^```sh$/ { file = dir "/" ++n ".sh"; next }
		/^```json$/ { file = dir "/" n ".json"; next }
		/^```/ { file = ""; next }
		file { print >file }
		/^- `[a-z_.`, ]*`:/ && n {
			sub(/:.*/, "")
			gsub(/[-`, ]+/, "\n")
			printf "%s\n", $0 >(dir "/" n ".keys")
		}' "$TEXT"
	expect_exists "$T/blocks/1.sh" "$T/blocks/1.json" "$T/blocks/1.keys"
}

# What the text tells the story of.
agents_project() {
	git init -q
	printf 'check:\n\texit 2\n' >Makefile
	printf '#!/bin/sh\necho 3 >app.py\n' >codemod.sh
	chmod +x codemod.sh
	echo 1 >app.py
	echo secret >.env
}

agents_edits() {
	echo 2 >app.py
	mkdir -p lib
	echo 1 >lib/util.py
}

# The same for each run: ids, hashes.
plain() {
	sed 's/chk_[0-9_]*_[0-9a-f]*/ID/g; s/sha256:[0-9a-f]*/HASH/g'
}

# Of the answer, only what the sample has.
compare_answer() {
	jq -S . "$1.json" | plain >"$T/expected"
	jq -S --slurpfile sample "$1.json" '. as $answer |
		reduce ($sample[0] | paths(type != "object" and type != "array" or length == 0)) as $p
		(null; setpath($p; $answer | getpath($p)))' "$1.out" | plain >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	# an array that is shown is shown whole
	jq -r 'paths(type == "array") | map(tostring) | join(".")' "$1.json" | while read -r path; do
		expect_eq "$(jq ".$path | length" "$1.json")" "$(jq ".$path | length" "$1.out")" \
			"length of $path"
	done
}

test_every_command_and_answer_for_agents_is_real() {
	require jq make
	cut_blocks
	agents_project
	n=1
	id=$SAMPLE_ID
	while test -e "$T/blocks/$n.sh"; do
		block=$T/blocks/$n
		grep -q 'diff --json' "$block.sh" && agents_edits
		sed "s/$SAMPLE_ID/$id/g; s|<file>|$T/answer|g; s/<you>/claude-code/g" "$block.sh" >"$block.run"
		# who copies it without filling in gets an error, not a wrong name
		expect_no_grep 'my-agent\|/tmp/' "$block.sh"
		status=$(sed -n 's/.*# exits with //p' "$block.sh")
		expect_exit "${status:-0}" sh -c "$(sed -n 1p "$block.run")" >"$block.out" 2>"$block.err"
		sed 1d "$block.run" >"$block.rest"
		# shellcheck source=/dev/null
		. "$block.rest" >>"$block.out"
		test $n != 1 || id=$(json .checkpoint.id "$block.out")
		test ! -e "$block.json" || compare_answer "$block"
		test ! -e "$block.keys" || for key in $(cat "$block.keys"); do
			jq -e "[paths | map(strings) | join(\".\")] | index(\"$key\")" "$block.out" \
				>/dev/null || fail "no '$key' in the answer of $(cat "$block.sh")"
		done
		n=$((n + 1))
	done
	test $n -gt 8 || fail "only $n blocks"
	# the tale ends where it began, but for what undo brought back
	expect_eq 2 "$(cat app.py)"
}

# Commands inside of sentences: the options that they name are there.
test_every_command_that_agents_are_told_exists() {
	tr '\n' ' ' <"$TEXT" | grep -o '`git checkpoint [^`]*`' | tr -d '`' | sort -u >commands
	test "$(wc -l <commands)" -gt 5
	while read -r _ _ command rest; do
		test "$command" != '<command>' || continue
		git-checkpoint --list-opts "$command" | cut -f 1 | tr -d = >known
		for word in $rest; do
			case $word in
			--) break ;;
			--*) expect_grep "^$word\$" known ;;
			esac
		done
	done <commands
	# and those that stand alone belong to one of them
	grep -o '`--[a-z][a-z-]*`' "$TEXT" | tr -d '`' | sort -u | while read -r option; do
		for command in $(names); do
			git-checkpoint --list-opts "$command"
		done | cut -f 1 | tr -d = >known
		expect_grep "^$option\$" known
	done
}

test_agents_are_told_every_exit_status() {
	sed -n 's/^| \([0-9]*\) |.*/\1/p' "$TEXT" >told
	printf '%s\n' 0 1 3 4 5 75 128 129 >expected
	expect_same expected told
}

test_agents_are_told_every_agent() {
	tail -n 6 "$TEXT" >part
	git-checkpoint --complete git-checkpoint hooks install --agent "" | tr -d " " >known
	test -s known
	while read -r agent; do
		expect_grep "[\` ]$agent\`" part
	done <known
}

run_tests
