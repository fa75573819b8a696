#!/bin/sh
# SPDX-License-Identifier: MIT
# Wrong command lines: a sentence that names what is wrong, 129, and JSON if asked for.

. "$(dirname "$0")/../../lib/harness.sh"

COMMANDS='save list show diff status log config'

# wrong <status> <text that the message contains> <argument>...: as text, and as JSON
wrong() {
	status=$1 text=$2
	shift 2
	expect_exit "$status" git-checkpoint "$@" >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out")" "stdout of: $*"
	grep -q -F -e "$text" "$T/err" || fail "not in the message of '$*': $text: $(cat "$T/err")"
	expect_grep '^\(error\|fatal\): ' "$T/err"
	json_too --json "$@"
}

json_too() {
	expect_exit "$status" git-checkpoint "$@" >"$T/out" 2>"$T/err"
	jq -e --slurp --argjson c "$status" --arg t "$text" 'length == 1 and (.[0] | keys == ["error"]) and
		(.[0].error | keys == ["code","message"] and .code == $c and (.message | contains($t)))' \
		"$T/out" >/dev/null || fail "JSON of '$*': $(cat "$T/out")"
	expect_eq '' "$(cat "$T/err")" "stderr of: $*"
}

test_help_is_on_stdout_and_fits() {
	# a manual that is installed would be opened by --help
	MANPATH=$T/no-manual
	export MANPATH
	for command in '' $COMMANDS; do
		for option in -h --help; do
			# shellcheck disable=SC2086
			git-checkpoint $command $option >"$T/out" 2>"$T/err"
			expect_eq '' "$(cat "$T/err")" 'stderr'
			expect_grep "^usage: git checkpoint.*$command" "$T/out"
			expect_no_grep '.\{81\}' "$T/out"
		done
	done
	for command in $COMMANDS; do
		git-checkpoint -h | grep -q "^    $command " || fail "'$command' is not in the help"
	done
	expect_missing "$(store_dir)"
}

test_help_works_through_git() {
	git checkpoint -h >"$T/out"
	expect_grep '^usage: git checkpoint' "$T/out"
	git checkpoint save -h >"$T/out"
	expect_grep '^usage: git checkpoint save' "$T/out"
	# also in the middle of a line
	git checkpoint save -m x -h >"$T/out"
	expect_grep '^usage: git checkpoint save' "$T/out"
}

test_every_option_is_in_the_help() {
	for option in -m --source --step --expires --pin --state --every --min-interval --allow-empty \
		--include-ignored --include-sensitive --force --json -q; do
		git-checkpoint save -h | grep -q -e "^    .*$option\b" || fail "save $option"
	done
	for option in -n --source --since --step --grep --stat --json; do
		git-checkpoint list -h | grep -q -e "^    .*$option\b" || fail "list $option"
	done
	for option in --stat --patch --files --hashes --json; do
		git-checkpoint show -h | grep -q -e "^    .*$option\b" || fail "show $option"
	done
	for option in --stat --name-status --quiet --json; do
		git-checkpoint diff -h | grep -q -e "^    .*$option\b" || fail "diff $option"
	done
}

test_no_command_is_wrong() {
	# as git: what one needs, and where the rest is
	expect_exit 1 git-checkpoint >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_grep '^usage: git checkpoint' "$T/out"
	expect_eq 8 "$(grep -c '^    ' "$T/out")"
	expect_grep "git checkpoint -h" "$T/out"
	expect_exit 129 git-checkpoint --json >"$T/out" 2>"$T/err"
	expect_eq 129 "$(json .error.code "$T/out")"
}

test_unknown_commands_are_named() {
	wrong 129 'nonsense' nonsense
	wrong 129 'nonsense' nonsense @ -- x
	wrong 129 "''" ''
	wrong 129 'SAVE' SAVE
	expect_exit 129 git checkpoint nonsense 2>"$T/err"
	expect_exit 129 git-checkpoint -x 2>"$T/err"
	expect_grep "'-x'" "$T/err"
	expect_exit 129 git-checkpoint --nonsense save 2>"$T/err"
	expect_exit 129 git-checkpoint -C 2>"$T/err"
	expect_missing "$(store_dir)"
}

test_unknown_options_are_named() {
	for command in $COMMANDS; do
		wrong 129 '--nonsense' "$command" --nonsense
		wrong 129 '--nonsense' "$command" --nonsense=x
		wrong 129 '-x' "$command" -x
		wrong 129 '--quiet' "$command" --quiet=x
		wrong 129 '--json' "$command" --json=x
	done
	expect_missing "$(store_dir)"
}

test_values_that_are_missing() {
	for option in -m --message --source --step --expires --state --every --min-interval; do
		wrong 129 "'$option'" save $option
	done
	for option in -n --source --since --step --grep; do
		wrong 129 "'$option'" list $option
	done
	wrong 129 "'-n'" log -n
}

test_values_of_save_that_are_malformed() {
	for value in x -1 1.5 '' ' 1' 1x 99999999999999999999 0x10; do
		wrong 129 "'--step'" save "--step=$value"
		wrong 129 "'--every'" save "--every=$value"
	done
	wrong 129 "'--every'" save --every 0
	for value in x 5 '' 5y -5m 1.5h 5mm m 99999999999999999999s; do
		wrong 129 "'--min-interval'" save "--min-interval=$value"
	done
	wrong 129 "'--expires'" save --expires yesterday
	wrong 129 "'--expires'" save --expires 2001-01-01
	wrong 129 "'--state'" save --state novalue
	wrong 129 "'--state'" save --state =x
	wrong 129 "'--state'" save --state a=1 --state a=2
	wrong 129 "'--pin'" save --pin=x
	wrong 129 "'--force'" save --force=x
	expect_missing "$(store_dir)"
}

test_values_of_the_others_that_are_malformed() {
	git-checkpoint save -q
	for value in x -1 '' 1x; do
		wrong 129 "'--step'" list "--step=$value"
		wrong 129 "'--max-count'" list "--max-count=$value"
		wrong 129 "'--max-count'" log "--max-count=$value"
	done
	wrong 129 "'-n'" list -nx
	wrong 129 "'-n'" log -n-1
	for value in x '' eventually 2024-13-01 '2024-02-31 noon' 5y -1h; do
		wrong 129 "'--since'" list "--since=$value"
	done
}

test_arguments_that_are_too_many_or_too_few() {
	git-checkpoint save -q
	for command in status log config; do
		wrong 129 "'extra'" $command extra
		wrong 129 "'extra'" $command -- extra
	done
	wrong 129 "'extra'" list extra
	wrong 129 checkpoint show
	wrong 128 "path '@' is neither in checkpoint" show @ @
	wrong 129 two diff @ @ @ --
}

test_subcommands_and_options_that_do_not_fit() {
	wrong 129 "'flow' needs a subcommand: start, phase" flow
	wrong 129 "did you mean 'status'?" flow statsu
	wrong 129 "unknown subcommand 'hooks nonsense'; use install, uninstall or status" hooks nonsense
	wrong 129 "'flow phase' needs start, complete or fail" flow phase build
	wrong 129 "'flow phase' takes start, complete or fail, not 'end'" flow phase build end
	wrong 129 "'flow start' needs '--phases <list>'" flow start work
	wrong 129 "unknown option '--guard'" hooks status --guard
	wrong 129 "options '--agent' and '--guard' cannot be used together" hooks install --agent x --guard
	wrong 129 "option '--user' needs '--agent'" hooks uninstall --user
	wrong 129 "options '--continue' and '--abort' cannot be used together" restore --continue --abort
	wrong 129 "unexpected argument '@' with --continue" restore --continue @
	wrong 129 "options '--stat' and '--files' cannot be used together" show --stat --files @
	wrong 129 "option '-z' needs '--name-only', '--name-status' or '--numstat'" diff -z @
	wrong 129 "option '-z' needs '--files', '--name-only', '--name-status' or '--numstat'" show -z @
	expect_missing "$(store_dir)"
	# a subcommand has a help of its own
	git-checkpoint flow phase -h >"$T/out"
	expect_grep '^usage: git checkpoint flow phase ' "$T/out"
	expect_no_grep 'start --phases' "$T/out"
}

test_json_may_be_asked_for_anywhere() {
	status=129 text=--nonsense
	for command in $COMMANDS; do
		json_too --json $command --nonsense
		json_too $command --json --nonsense
		json_too $command --nonsense --json
		json_too $command --nonsense x --json -- y
	done
	text=nonsense
	json_too nonsense --json
	json_too nonsense x y --json z
	text="'-n'"
	json_too list -n x --json
}

test_json_is_an_option_only_where_options_are() {
	touch -- --json
	git-checkpoint save -- --json >"$T/out"
	expect_grep '^Saved' "$T/out"
	git-checkpoint save --allow-empty -m --json >"$T/out"
	expect_grep '^Saved' "$T/out"
	expect_eq --json "$(git-checkpoint list --json | jq -r '.checkpoints[0].reason')"
}

test_options_may_be_shortened_and_negated() {
	echo 1 >a
	git-checkpoint save --js --mess 'why' --st 5 >"$T/out" 2>"$T/err" && fail 'ambiguous --st'
	expect_grep 'ambiguous' "$T/err"
	git-checkpoint save --js --mess 'why' --step=5 --pin --no-pin >"$T/out"
	jq -e '.checkpoint | .reason == "why" and .step == 5 and .pinned == false' "$T/out"
	# bundled, attached, and after the paths
	echo 2 >a
	git-checkpoint save -qmattached a --json >"$T/out"
	jq -e '.checkpoint | .reason == "attached" and .scope.files == ["a"]' "$T/out"
}

test_another_directory() {
	mkdir d
	echo 1 >d/a
	git-checkpoint -C d save -q
	expect_exists "$(store_dir d)"
	git checkpoint -C d -C . list >"$T/out"
	expect_grep '^chk_' "$T/out"
	wrong_dir() {
		expect_exit 128 git-checkpoint --json -C nothing list >"$T/out" 2>"$T/err"
	}
	wrong_dir
	expect_grep "'nothing'" "$T/out"
	expect_eq 128 "$(json .error.code "$T/out")"
}

test_places_that_are_refused() {
	git init -q
	git init -q --bare "$T/bare.git"
	cd .git
	expect_exit 128 git-checkpoint save --json >"$T/out" 2>"$T/err"
	expect_eq 128 "$(json .error.code "$T/out")"
	cd "$T/bare.git"
	expect_exit 128 git-checkpoint save 2>"$T/err"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	cd /
	expect_exit 5 git-checkpoint save --json >"$T/out" 2>"$T/err"
	expect_eq 5 "$(json .error.code "$T/out")"
	expect_missing "$(store_dir /)"
}

test_completion_lists_commands_and_options() {
	git-checkpoint --list-cmds | cut -f1 >"$T/out"
	for command in $COMMANDS; do
		expect_grep "^$command$" "$T/out"
		git-checkpoint --list-opts "$command" | grep -q '^--json' || fail "options of $command"
	done
	expect_exit 129 git-checkpoint --list-opts nonsense >/dev/null 2>&1
	git-checkpoint --version | grep -q '^git-checkpoint version [0-9]'
}

# A reader that has gone, or a full disk, is not a success.
test_an_answer_that_cannot_be_written_is_a_failure() {
	echo 1 >a
	test -c /dev/full || skip 'needs /dev/full'
	for command in 'save --json' 'list --json' 'show @' 'show --hashes @' 'show --files @' status \
		log config -h; do
		# shellcheck disable=SC2086
		expect_exit 128 git-checkpoint $command >/dev/full 2>"$T/err"
	done
}

test_a_typo_is_understood() {
	while IFS='|' read -r line said; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint $line 2>"$T/err" </dev/null
		expect_grep "$said" "$T/err"
	done <<-'END'
		restor|did you mean 'restore'
		undp|did you mean 'undo'
		dorp|did you mean 'drop'
		prun|did you mean 'prune'
		sav|did you mean 'save'
		help lst|did you mean 'list'
		save --mesage x|did you mean '--message'
		xyzzy|see 'git checkpoint -h'
		foo|see 'git checkpoint -h'
		save --xyzzy|see 'git checkpoint save -h'
	END
	# as `git restore <path>` would have it
	echo 1 >app.py
	git-checkpoint save -q
	expect_exit 128 git-checkpoint restore --yes app.py 2>"$T/err"
	expect_grep "git checkpoint restore @ -- app.py$" "$T/err"
}

# Who is not sure of a word may take a suggestion without looking at it. Commands ask before they
# act, options take that away.
test_nothing_drastic_is_suggested() {
	for line in 'restore --forc3' 'restore --yess' 'drop --froce @' 'doctor --fixx' 'save --forced' \
		'run --rolback' 'hooks uninstal' 'restore --abrt'; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint $line 2>"$T/err" </dev/null
		expect_no_grep 'did you mean' "$T/err"
	done
}

test_what_is_drastic_cannot_be_abbreviated() {
	echo 1 >a
	git-checkpoint save -q
	for line in 'restore --ye @' 'restore --forc @' 'drop --ye @' 'restore --abor' 'doctor --fi' \
		'restore --no-verif @'; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint $line 2>"$T/err" </dev/null
		expect_grep 'must be spelled out' "$T/err"
	done
	git-checkpoint restore --dry @ >/dev/null
}

test_other_names_of_checkpoints_lead_to_what_serves() {
	git init -q -b main
	echo 1 >a
	git add a
	git commit -q -m one
	git-checkpoint save -q
	while IFS='|' read -r name said; do
		expect_exit 128 git-checkpoint restore --yes "$name" 2>"$T/err" </dev/null
		expect_grep "no checkpoint named '$name'[:;] .*$said" "$T/err"
	done <<-'END'
		3|'@~3' is so many before the newest, 'step:3'
		@{1}|'@~1' is so many before the newest
		latest|the newest is '@'
		1h|'@{1h}' is the newest
		2026-11-19|'@{2026-11-19}' is the newest
		yesterday|'@{yesterday}'
		main|that is a branch
		HEAD~1|the newest checkpoint is '@'
		@..@~1|one by one, not as a range
		nothing|git checkpoint list
	END
}

test_words_of_other_programs_lead_to_what_serves() {
	while IFS='|' read -r line said; do
		# shellcheck disable=SC2086
		expect_exit 129 git-checkpoint $line 2>"$T/err" </dev/null
		expect_grep "$said" "$T/err"
		expect_no_grep 'did you mean' "$T/err"
	done <<-'END'
		cat a|git checkpoint show <checkpoint>:<path>
		version|git checkpoint --version
		tag good|git checkpoint pin --name <name> <checkpoint>
		archive|git checkpoint export --tar <checkpoint>
		remove @|git checkpoint drop <checkpoint>
		rm @|git checkpoint drop <checkpoint>
		delete @|git checkpoint drop <checkpoint>
		ls|git checkpoint list
		stash|git checkpoint save
		pop|git checkpoint restore <checkpoint>
		apply|git checkpoint restore <checkpoint>
		checkout @|git checkpoint restore <checkpoint>
		save -am x|all files are saved
		save --all|all files are saved
		config -l|'git checkpoint config' lists
		config --list|'git checkpoint config' lists
		config --show-origin|--origin shows
		save -u|untracked files are saved
		restore --source @|without an option
		restore --source=@ -- f|without an option
		help tag|git checkpoint pin --name
	END
}

test_a_home_that_depends_on_the_directory_is_refused() {
	echo 1 >a
	expect_exit 128 env GIT_CHECKPOINT_HOME=rel git-checkpoint save 2>"$T/err"
	expect_grep "GIT_CHECKPOINT_HOME is 'rel', but must be an absolute path" "$T/err"
	expect_missing rel
}

run_tests
