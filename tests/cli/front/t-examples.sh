#!/bin/sh
# SPDX-License-Identifier: MIT
# Every example of the README and the manual runs, each in a repository that suits it.

. "$(dirname "$0")/../../lib/harness.sh"

README=$ROOT_DIR/README.md

# ---- cutting examples out --------------------------------------------------------

# Blocks of the manual that are set in bold as a whole, as files $T/examples/<page>-<line>.
cut_manual() {
	mkdir -p "$T/examples"
	for page in "$ROOT_DIR"/man/*.[15]; do
		test ! -L "$page" || continue
		awk -v prefix="$T/examples/$(basename "$page")-" '
			/^\.ft B$/ { file = sprintf("%s%05d", prefix, NR); next }
			/^\.(ft|fi)/ { file = ""; next }
			file { print >file }' "$page"
	done
	# groff has names for what it would change
	sed -i -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' -e 's/\\&//g' -e 's/\\e/\\/g' \
		"$T"/examples/*
}

# Blocks of the README that are marked as shell and not part of the tour, which t-docs.sh runs.
cut_readme() {
	mkdir -p "$T/examples"
	awk -v prefix="$T/examples/README-" '
		/^```sh$/ { file = sprintf("%s%05d", prefix, NR); next }
		/^```/ { file = ""; next }
		file { print >file }' "$README"
}

is_shell() {
	grep -q '^ *\(git\|cd\|make\|store=\|S=\|GIT_[A-Z_]*=\)' "$1"
}

# Settings have lines "key = value".
is_settings() {
	! is_shell "$1" && grep -q '^[A-Za-z]* *= ' "$1"
}

# ---- a repository for all of them ------------------------------------------------

# One with ten commands' worth of history: steps, sources, an ignored directory, scripts.
make_world() {
	new_scratch "$1"
	git init -q
	mkdir src build
	printf '%s\n' 'check:' "$(printf '\ttrue')" >Makefile
	for script in migrate.sh codemod.sh build.sh; do
		printf '%s\n' '#!/bin/sh' 'echo changed >src/a' >$script
		chmod +x $script
	done
	echo /build/ >.gitignore
	echo generated >build/x
	echo 1 >src/a
	echo a plan >plan.md
	git add .
	git commit -q -m 1
	for i in 5 6 7; do
		echo $i >src/a
		test $i != 6 || echo secret >dump.sql
		git checkpoint save -q --step $i
		rm -f dump.sql
	done
	echo 8 >src/a
	git checkpoint save -q
	# another one, and one that was renamed
	mkdir -p "$T/other" "$HOME/src/oldname"
	(cd "$T/other" && echo 1 >a && git checkpoint save -q)
	(cd "$HOME/src/oldname" && echo 1 >a && git checkpoint save -q)
	mv "$HOME/src/oldname" "$HOME/src/newname"
}

# What single examples take for granted besides.
prepare() {
	case $(cat "$1") in
	*'relink <old path>'*)
		mkdir "$T/before"
		(cd "$T/before" && echo 1 >a && git checkpoint save -q)
		mv "$T/before" "$T/after"
		cd "$T/after"
		;;
	*'turn:-1'*)
		printf '{"cwd":"%s","session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"p"}' "$PWD" |
			git-checkpoint agent-hook codex
		echo edited >>src/a
		;;
	*'diff --quiet'*) ;;
	*'checkpoint bisect'*)
		sed -i s/true/false/ Makefile
		git checkpoint save -q
		;;
	*'checkpoint revert'* | *'checkpoint pick'*)
		mkdir tests
		for i in 1 2 3 4; do
			echo $i >tests/$i
			git checkpoint save -q --step $i
		done
		;;
	*)
		echo edited >>src/a
		echo new >created
		;;
	esac
}

# fill_in <file>: real names for those in <>
fill_in() {
	id=$(git checkpoint list --json 2>/dev/null | jq -r '.checkpoints[0].id')
	sed -i -e "s|<dir>|$T/other|g" -e "s|<old path>|$T/before|g" -e "s|<id>|$id|g" \
		-e 's|<path>|src/a|g' "$1"
}

# A terminal costs a second each.
asks() {
	grep 'checkpoint \(restore\|undo\|redo\|revert\|pick\)' "$1" | grep -q -v -e '--yes\| -y \| -n \|--dry-run'
}

# On a terminal on which somebody says yes to everything, and reads without a pager.
run_on_terminal() {
	GIT_PAGER='cat' on_terminal -a "sh -e '$1'" y
}

needs() {
	require jq mandoc
	require_terminal
}

# run_examples: all in $T/examples that are shell and can run here
run_examples() {
	scratch=$T
	ran=0
	for example in "$scratch"/examples/*; do
		is_shell "$example" || continue
		case $(cat "$example") in
		*apt-get* | *'make deps'*)
			sh -n "$example" || fail "no shell: $(cat "$example")"
			continue
			;;
		esac
		(
			make_world "$scratch/world-$(basename "$example")"
			prepare "$example"
			cp "$example" "$T/example"
			fill_in "$T/example"
			if asks "$T/example"; then
				run_on_terminal "$T/example"
			else
				sh -e "$T/example" >"$T/screen" 2>&1
			fi || {
				cat "$T/example" "$T/screen"
				fail "$(basename "$example") failed"
			}
		)
		ran=$((ran + 1))
	done
}

# ---- the tests -------------------------------------------------------------------

test_every_example_of_the_manual_runs() {
	needs
	cut_manual
	run_examples
	test $ran -ge 25 || fail "only $ran examples"
}

test_every_example_of_the_readme_runs() {
	needs
	cut_readme
	run_examples
	test $ran -ge 3 || fail "only $ran examples"
}

test_every_example_of_settings_is_understood() {
	needs
	cut_manual
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	count=0
	for example in "$T"/examples/*; do
		is_settings "$example" || continue
		cp "$example" "$XDG_CONFIG_HOME/git-checkpoint/config"
		git checkpoint config >"$T/out" 2>"$T/err" || fail "$example: $(cat "$T/err")"
		expect_eq '' "$(cat "$T/err")" "warnings about $example"
		sed -n 's/^\(save\|restore\|verifyCommand\) *= //p' "$example" >commands
		while read -r command; do
			sh -n -c "$command" || fail "no shell: $command"
		done <commands
		# a capture that is configured is one that can be asked for
		sed -n 's/^\[capture "\(.*\)"\]$/\1/p' "$example" >captures
		while read -r name; do
			git checkpoint save --capture "$name" >"$T/out" 2>&1 || :
			expect_no_grep 'no capture\|not configured' "$T/out"
		done <captures
		count=$((count + 1))
	done
	test $count -ge 3 || fail "only $count examples of settings"
}

# What cannot be run, and is written in one place only: with existing options.
test_examples_use_options_that_there_are() {
	needs
	cut_manual
	cut_readme
	sed -n 's/.*git checkpoint \([a-z]*\) \([^|;#]*\).*/\1 \2/p' "$T"/examples/* >calls
	test "$(wc -l <calls)" -ge 30
	while read -r command rest; do
		git-checkpoint --list-opts "$command" | cut -f 1 | tr -d = >known
		for word in $(echo "$rest" | sed 's/ -- .*//' | tr -d '`()"'); do
			case $word in
			--) break ;;
			--*) grep -q -x -e "${word%%=*}" known || fail "$command has no option '$word'" ;;
			esac
		done
	done <calls
}

run_tests
