#!/bin/sh
# SPDX-License-Identifier: MIT
# config: where a setting comes from, and what is wrong with it.

. "$(dirname "$0")/../../lib/harness.sh"

USER_FILE=git-checkpoint/config

# user <line>...: the user's file
user() {
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	printf '%s\n' "$@" >"$XDG_CONFIG_HOME/$USER_FILE"
}

# of_store <line>...: the file of the store
of_store() {
	printf '%s\n' "$@" >"$(store_dir)/checkpoint/config"
}

# value <key>, origin <key>
value() {
	git checkpoint config --json >"$T/config.json"
	json ".settings.$1.value" "$T/config.json"
}

origin() {
	git checkpoint config --json >"$T/config.json"
	json ".settings.$1.origin" "$T/config.json"
}

test_every_key_has_its_documented_default() {
	git checkpoint config >"$T/actual"
	cat >"$T/expected" <<-'END'
		maxCount=50
		maxAutomatic=200
		keepAllAutomatic=2h
		thinAutomatic=10m:1d,1h:7d,1d:30d
		maxAge=never
		maxSize=none
		keepHourly=0
		keepDaily=0
		keepWeekly=0
		maxFiles=1000000
		maxFileSize=none
		lockTimeout=30s
		threads=auto
		compression=1
		exclude=
		sensitive=
		color=auto
		progress=auto
		advice=true
		verifyCommand=
		hookTimeout=10s
		hookQuiet=false
		hookSensitive=false
		agentPrompts=true
		watchQuiet=5s
		watchMax=5m
		flowStaleAfter=7d
		machine=
		project=
		remoteTimeout=1m
		maxFetchSize=8g
	END
	expect_same "$T/expected" "$T/actual"
	git checkpoint config --origin >"$T/actual"
	expect_eq 31 "$(grep -c '^default	' "$T/actual")" 'defaults'
	git checkpoint config --json >"$T/out"
	jq -e '.settings | length == 31 and all(keys == ["origin","value"])' "$T/out"
	expect_missing "$(store_dir)"
}

test_later_sources_win() {
	git init -q
	git-checkpoint save -q
	expect_eq 50 "$(value maxCount)"
	user 'maxCount = 1'
	expect_eq 1 "$(value maxCount)"
	git config --global checkpoint.maxCount 2
	expect_eq 2 "$(value maxCount)"
	expect_eq 'git config (global)' "$(origin maxCount)"
	git config checkpoint.maxcount 3
	expect_eq 3 "$(value maxCount)"
	expect_eq 'git config (local)' "$(origin maxCount)"
	of_store 'maxCount = 4'
	expect_eq 4 "$(value maxCount)"
	expect_eq "$(store_dir)/checkpoint/config:1" "$(origin maxCount)"
	export GIT_CHECKPOINT_MAX_COUNT=5
	expect_eq 5 "$(value maxCount)"
	expect_eq GIT_CHECKPOINT_MAX_COUNT "$(origin maxCount)"
	git -c checkpoint.maxCount=6 checkpoint config --origin >"$T/out"
	expect_grep '	maxCount=6$' "$T/out"
	expect_grep '^git config (command' "$T/out"
	# and each reaches the program
	unset GIT_CHECKPOINT_MAX_COUNT
	echo 12345 >a
	expect_exit 3 git -c checkpoint.maxFileSize=5 checkpoint save -q
}

test_patterns_add_up() {
	git init -q
	git-checkpoint save -q
	user 'exclude = *.one' 'exclude = *.two'
	git config --add checkpoint.exclude '*.three'
	of_store 'exclude = *.four'
	git checkpoint config >"$T/out"
	expect_eq 4 "$(grep -c '^exclude=\*\.' "$T/out")" 'patterns'
	touch a.one a.two a.three a.four a.five
	git-checkpoint save -q
	expect_eq a.five "$(git-checkpoint show --files @)"
}

test_files_are_read_as_people_write_them() {
	long=$(head -c 3000 /dev/zero | tr '\0' x)
	user '# comment' '; comment' '' '	maxCount = 7' "  exclude = $long" 'COLOR=never' \
		'threads=2   ; two' '[hooks]' 'anything = x' '[capture "db"]' 'command = x'
	expect_eq 7 "$(value maxCount)"
	expect_eq "$long" "$(value exclude)"
	expect_eq never "$(value color)"
	expect_eq 2 "$(value threads)"
	expect_eq "$XDG_CONFIG_HOME/$USER_FILE:4" "$(origin maxCount)"
	git checkpoint config 2>"$T/err" >/dev/null
	expect_eq '' "$(cat "$T/err")" 'warnings'
}

test_colours_are_those_of_git_unless_set() {
	git init -q
	git config --global color.ui false
	expect_eq never "$(value color)"
	expect_eq 'git config (color.ui)' "$(origin color)"
	expect_eq always "$(git -c color.ui=always checkpoint config color | sed 's/.*=//')"
	git config --global color.ui nonsense
	expect_eq auto "$(value color)"
	# what is said of checkpoints says more, wherever it is said
	git config --global color.ui always
	user 'color = never'
	expect_eq never "$(value color)"
	git config checkpoint.color auto
	expect_eq auto "$(value color)"
}

test_bad_values_are_fatal_with_file_and_line() {
	git init -q
	git-checkpoint save -q
	while read -r key bad; do
		user '# first' "$key = $bad"
		for command in config save list 'show @' diff status log; do
			# shellcheck disable=SC2086
			expect_exit 128 git checkpoint $command >"$T/out" 2>"$T/err"
			grep -q -F "$XDG_CONFIG_HOME/$USER_FILE:2" "$T/err" || fail "no line: $(cat "$T/err")"
			expect_grep "$key" "$T/err"
		done
	done <<-'END'
		maxCount -1
		maxSize 5x
		lockTimeout 5
		color sometimes
	END
	while read -r key bad; do
		user "$key = $bad"
		expect_exit 128 git checkpoint config >"$T/out" 2>"$T/err"
		expect_grep "^fatal: .*config:1: .*$bad.*$key" "$T/err"
	done <<-'END'
		maxCount many
		maxCount 99999999999999999999
		maxAge 5y
		maxFiles 1.5
		maxFileSize 1q
		lockTimeout never
		threads 0
		threads 65
		compression 10
		progress maybe
		hookTimeout 1
		hookQuiet perhaps
		flowStaleAfter -3d
	END
}

test_bad_values_of_other_sources_are_named() {
	git init -q
	git-checkpoint save -q
	git config checkpoint.threads no
	expect_exit 128 git checkpoint config --json >"$T/out" 2>"$T/err"
	expect_grep 'git config (local)' "$T/out"
	expect_eq 128 "$(json .error.code "$T/out")"
	git config --unset checkpoint.threads
	of_store '' 'threads = no'
	expect_exit 128 git checkpoint config 2>"$T/err"
	expect_grep 'checkpoint/config:2' "$T/err"
	of_store ''
	expect_exit 128 env GIT_CHECKPOINT_THREADS=no git checkpoint config 2>"$T/err"
	expect_grep GIT_CHECKPOINT_THREADS "$T/err"
	expect_exit 128 git -c checkpoint.threads=no checkpoint config 2>"$T/err"
	expect_grep 'git config (command' "$T/err"
}

test_unknown_keys_warn_and_harm_nothing() {
	git init -q
	git-checkpoint save -q
	user 'maxCount = 9' 'nonsense = 1' '[section]' 'maxCount = 3'
	git config checkpoint.nonsens 1
	of_store 'nonsen = 1'
	git checkpoint config >"$T/out" 2>"$T/err"
	expect_grep '^maxCount=9$' "$T/out"
	expect_grep "^warning: .*$USER_FILE:2: .*nonsense" "$T/err"
	expect_grep "^warning: .*$USER_FILE:4: .*section" "$T/err"
	expect_grep '^warning: git config (local): .*nonsens' "$T/err"
	expect_grep '^warning: .*checkpoint/config:1: .*nonsen' "$T/err"
	git checkpoint save -q 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	git checkpoint config --json >"$T/out" 2>"$T/err"
	expect_eq 9 "$(json .settings.maxCount.value "$T/out")"
}

test_only_the_user_and_the_store_may_name_commands() {
	git init -q
	git-checkpoint save -q
	git config checkpoint.verifyCommand 'touch bad'
	git config --global checkpoint.verifyCommand 'touch bad'
	export GIT_CHECKPOINT_VERIFY_COMMAND='touch bad'
	git -c checkpoint.verifyCommand=touch checkpoint config >"$T/out" 2>"$T/err"
	expect_grep '^verifyCommand=$' "$T/out"
	expect_grep "^warning: .*verifyCommand" "$T/err"
	user 'verifyCommand = make test'
	git checkpoint config >"$T/out" 2>"$T/err"
	expect_grep '^verifyCommand=make test$' "$T/out"
	of_store 'verifyCommand = make check'
	git checkpoint config >"$T/out" 2>"$T/err"
	expect_grep '^verifyCommand=make check$' "$T/out"
}

test_a_file_in_the_worktree_is_no_configuration() {
	mkdir -p .git-checkpoint git-checkpoint checkpoint
	echo 'maxCount = 1' | tee config .git-checkpoint/config git-checkpoint/config \
		checkpoint/config .gitcheckpoint >/dev/null
	expect_eq 50 "$(value maxCount)"
}

test_an_unreadable_file_is_passed_over_with_a_warning() {
	user 'maxCount = 1'
	give_to_nobody .
	chmod 0 "$XDG_CONFIG_HOME/$USER_FILE"
	as_nobody git-checkpoint config >"$T/tmp/out" 2>"$T/tmp/err"
	# not evicted by limits that nobody chose
	expect_grep "^maxCount=none$" "$T/tmp/out"
	expect_grep "warning: .*$USER_FILE" "$T/tmp/err"
}

test_git_config_works_outside_of_git() {
	git config --global checkpoint.maxCount 8
	expect_eq 8 "$(value maxCount)"
}

test_limits_can_be_lifted_by_name() {
	user 'maxCount = none' 'maxFiles = none' 'maxSize = 0' 'maxAge = never'
	expect_eq none "$(value maxCount)"
	expect_eq none "$(value maxFiles)"
	expect_eq none "$(value maxSize)"
	user 'maxSize = 1500m' 'maxAge = 48h' 'maxFileSize = 2048'
	expect_eq 1500m "$(value maxSize)"
	expect_eq 2d "$(value maxAge)"
	expect_eq 2k "$(value maxFileSize)"
}

test_a_key_alone_prints_its_value() {
	expect_eq 50 "$(git checkpoint config maxCount)"
	expect_eq 30s "$(git checkpoint config LOCKTIMEOUT)"
	git checkpoint config verifyCommand >"$T/out"
	printf '\n' | cmp - "$T/out"
	user 'exclude = *.one' 'exclude = *.two' 'verifyCommand = make test=1'
	expect_eq '*.one *.two' "$(git checkpoint config exclude | tr '\n' ' ' | sed 's/ $//')"
	expect_eq 'make test=1' "$(git checkpoint config verifyCommand)"
	expect_eq "$XDG_CONFIG_HOME/$USER_FILE:3	verifyCommand=make test=1" \
		"$(git checkpoint config --origin verifyCommand)"
	expect_eq 7 "$(git -c checkpoint.maxcount=7 checkpoint config maxCount)"
	expect_eq '' "$(git checkpoint config -q maxCount)"
}

test_several_keys_are_printed_in_their_order() {
	git checkpoint config --get threads maxCount >"$T/out"
	printf 'threads=auto\nmaxCount=50\n' | cmp - "$T/out"
	git checkpoint config --get --origin maxAge color >"$T/out"
	printf 'default\tmaxAge=never\ndefault\tcolor=auto\n' | cmp - "$T/out"
	git checkpoint config --json maxage >"$T/out"
	expect_eq '{"settings":{"maxAge":{"origin":"default","value":"never"}}}' \
		"$(jq -c -S . "$T/out")"
}

test_a_key_that_there_is_not() {
	expect_exit 129 git checkpoint config maxCount maxcuont >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out")"
	expect_grep "'maxcuont'.*'maxCount'" "$T/err"
	expect_exit 129 git checkpoint config --json xyzzy >"$T/out" 2>"$T/err"
	expect_grep "'xyzzy'" "$T/out"
	expect_no_grep 'did you mean' "$T/out"
	expect_eq 129 "$(json .error.code "$T/out")"
}

run_tests
