#!/bin/sh
# SPDX-License-Identifier: MIT
# git checkpoint hooks beside those of others: hooks, settings and the program in core.fsmonitor
# that were there before go on as before, and come back to the byte.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/hooks-install.sh"

turn=$first
is_turn() {
	turn=$((turn + 1))
	test $step = 1 || test $((turn % 2)) = 0
}

# ---- hooks that are there already ------------------------------------------------

# hook_kinds: every kind of hook, one directory each; all say how they were called, exit with 7
hook_kinds() {
	body='printf "<%s>" "$@"; echo; od -c; exit 7'
	mkdir -p kinds scripts
	for name in pre-rebase reference-transaction; do
		mkdir -p "kinds/$name"
		printf '#!/bin/sh\n# mine\necho "$0"; %s\n' "$body" >"kinds/$name/sh"
		printf '#!/bin/bash -eu\necho "$0" "${BASH_SOURCE[0]}"; %s' "$body" >"kinds/$name/bash"
		printf '#!/usr/bin/env sh\necho "$0"; %s\n' "$body" >"kinds/$name/env"
		printf '#!/bin/sh -x\necho "${0##*/}" 2>/dev/null; %s\n' "$body" >"kinds/$name/traced"
		printf '#!/usr/bin/perl\nuse File::Basename; $| = 1; print basename($0), "<@ARGV>"; %s\n' \
			'print <STDIN>; exit 7;' >"kinds/$name/perl"
		printf 'echo "${0##*/}"; %s\n' "$body" >"kinds/$name/bare"
		printf '#!/bin/sh' >"kinds/$name/short"
		printf '#!/bin/sh\necho "${0##*/}"; %s\n' "$body" >"kinds/$name/off"
		cp "$(command -v env)" "kinds/$name/binary"
		chmod 755 "kinds/$name"/*
		chmod 750 "kinds/$name/sh"
		chmod 644 "kinds/$name/off"
		printf '#!/bin/sh\necho "${0##*/}"; %s\n' "$body" >scripts/target
		chmod 755 scripts/target
		ln -s ../../scripts/target "kinds/$name/link"
		ln -s /nonexistent/hook "kinds/$name/dangling"
	done
}

# call_hook <name> <state> <stdin>: as git would; what it prints and its status
call_hook() {
	if test -x ".git/hooks/$1"; then
		status=0
		printf "$3" | ".git/hooks/$1" "$2" 'a  b' '*' 2>/dev/null || status=$?
		echo "status $status"
	else
		echo 'not run'
	fi
}

test_hooks_of_every_kind_go_on_as_before() {
	hook_files
	repository
	stand_in
	hook_kinds
	for name in pre-rebase reference-transaction; do
		for kind in kinds/"$name"/*; do
			is_turn || continue
			rm -f .git/hooks/"$name"
			cp -P "$kind" ".git/hooks/$name"
			before
			# in a hook that is switched off there is nothing to compare with
			call_hook "$name" prepared '0 1 ORIG_HEAD\n0 1 x\n' >"$T/expected"
			hooks install -q --events rebase,merge,am
			hooks status -q
			: >"$T/calls"
			test "$(cat "$T/expected")" != 'not run' || : >"$T/expected"
			call_hook "$name" prepared '0 1 ORIG_HEAD\n0 1 x\n' >"$T/out"
			test -s "$T/expected" || echo 'status 0' >"$T/expected"
			expect_same "$T/expected" "$T/out"
			expect_grep "^hook $name" "$T/calls"
			hooks install -q --events rebase,merge,am,stash
			call_hook "$name" prepared '0 1 ORIG_HEAD\n0 1 x\n' >"$T/out"
			expect_same "$T/expected" "$T/out"
			hooks uninstall -q
			expect_as_before
		done
	done
}

# Nothing is begun that would leave a file of somebody else's where ours are looked for.
test_a_file_where_a_hook_has_to_be_put_aside() {
	hook_files
	repository
	printf '#!/usr/bin/perl\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	echo mine >.git/hooks/pre-rebase.pre-checkpoint
	before
	expect_exit 128 hooks install 2>"$T/err"
	expect_grep "pre-rebase.pre-checkpoint' exists" "$T/err"
	expect_as_before
	expect_exit 0 hooks uninstall >/dev/null
	expect_as_before
}

test_stdin_of_a_hook_is_the_same_to_the_byte() {
	repository
	stand_in
	lines=$(seq 200 | sed 's/$/ b refs\/x\\n/' | tr -d '\n')
	for shell in sh bash dash zsh perl; do
		command -v "$shell" >/dev/null || continue
		printf '#!%s\nprint(STDOUT <STDIN>);\n' "$(command -v perl)" >.git/hooks/reference-transaction
		test $shell = perl ||
			printf '#!%s\nset -eu\ncat\n' "$(command -v $shell)" >.git/hooks/reference-transaction
		chmod +x .git/hooks/reference-transaction
		hooks install -q --events merge,am,stash,bisect
		for state in preparing prepared committed aborted; do
			for input in '' '0 1 ORIG_HEAD\n' '0 1 ORIG_HEAD' 'x' '\n' '\n\n a \n\n' \
				'a\\nb $HOME `id` "x\n' "$lines" "${lines}0 1 ORIG_HEAD\n\n" "${lines}z"; do
				is_turn || continue
				printf "$input" >"$T/input"
				.git/hooks/reference-transaction $state <"$T/input" >"$T/out" 2>/dev/null
				cmp "$T/input" "$T/out" || fail "$shell: $state: '$input'"
			done
		done
		hooks uninstall -q
	done
}

test_lines_do_not_disturb_a_strict_script() {
	hook_files
	repository
	stand_in
	cat >.git/hooks/pre-rebase <<-'END'
	#!/bin/sh
	set -eu
	set | grep -i _ckpt && exit 3
	echo "$- $#" >"$T/seen"
	END
	chmod +x .git/hooks/pre-rebase
	.git/hooks/pre-rebase a b
	cp "$T/seen" "$T/expected"
	hooks install -q
	.git/hooks/pre-rebase a b
	expect_same "$T/expected" "$T/seen"
	expect_grep '^hook pre-rebase a b in=1' "$T/calls"
	: >"$T/calls"
	GIT_CHECKPOINT_IN_HOOK=1 .git/hooks/pre-rebase a b
	expect_eq '' "$(cat "$T/calls")"
}

test_edits_after_the_install_survive() {
	hook_files
	repository
	printf '#!/bin/sh\necho mine\n' >.git/hooks/pre-rebase
	printf '#!/usr/bin/perl\nprint "old\\n"\n' >.git/hooks/reference-transaction
	chmod +x .git/hooks/pre-rebase .git/hooks/reference-transaction
	hooks install -q
	echo 'echo later' >>.git/hooks/pre-rebase
	chmod 700 .git/hooks/pre-rebase
	echo 'echo later' >>.git/hooks/reference-transaction
	hooks uninstall -q 2>"$T/err"
	printf '#!/bin/sh\necho mine\necho later\n' >"$T/expected"
	expect_same "$T/expected" .git/hooks/pre-rebase
	expect_eq 700 "$(stat -c %a .git/hooks/pre-rebase)"
	expect_eq old "$(.git/hooks/reference-transaction)"
	expect_grep later .git/hooks/reference-transaction.edited
	rm .git/hooks/reference-transaction* .git/hooks/pre-rebase
	hooks install -q
	echo 'echo later' >>.git/hooks/pre-rebase
	hooks uninstall -q
	expect_eq later "$(.git/hooks/pre-rebase)"
	expect_missing .git/hooks/reference-transaction
}

# A later install refuses as well before it has changed anything.
test_what_is_in_the_way_costs_no_other_hook() {
	hook_files
	repository
	hooks install -q --events rebase
	printf '#!/usr/bin/perl\nexit;\n' >.git/hooks/reference-transaction
	chmod +x .git/hooks/reference-transaction
	echo theirs >.git/hooks/reference-transaction.pre-checkpoint
	before
	expect_exit 128 hooks install --events merge 2>"$T/err"
	expect_grep 'reference-transaction.pre-checkpoint. exists' "$T/err"
	expect_as_before
	# one that was displaced would have been cleaned
	mv .git/hooks/reference-transaction.pre-checkpoint "$T/theirs"
	printf '#!/usr/bin/perl\n1;\n' >.git/hooks/pre-rebase
	hooks install -q --no-ref-transaction
	mv .git/hooks/pre-rebase .git/hooks/pre-rebase.old
	printf '#!/bin/sh\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	mv "$T/theirs" .git/hooks/reference-transaction.pre-checkpoint
	before
	expect_exit 128 hooks install --events rebase,merge --ref-transaction 2>"$T/err"
	expect_as_before
	rm .git/hooks/reference-transaction.pre-checkpoint
	hooks install -q --events rebase,merge --ref-transaction
	hooks status -q
}

# What an install put aside, it may put aside again.
test_a_place_that_becomes_free_is_not_in_the_way() {
	hook_files
	repository
	for parked in none .old .legacy; do
		rm -rf .git/hooks/*
		printf '#!/usr/bin/perl\n1;\n' >.git/hooks/pre-rebase
		chmod +x .git/hooks/pre-rebase
		hooks install -q
		expect_exists .git/hooks/pre-rebase.pre-checkpoint
		test $parked = none || cp -p .git/hooks/pre-rebase ".git/hooks/pre-rebase$parked"
		printf '#!/usr/bin/perl\n2;\n' >.git/hooks/pre-rebase
		hooks install -q 2>"$T/err"
		hooks status -q
		expect_grep '^2;$' .git/hooks/pre-rebase.pre-checkpoint
		hooks uninstall -q
		expect_grep '^2;$' .git/hooks/pre-rebase
	done
}

# ---- the guard -------------------------------------------------------------------

# expect_config_cycle: .git/config, whatever it is, comes back
expect_config_cycle() {
	cp -p .git/config "$T/config.before"
	hooks install -q --guard --no-ref-transaction
	expect_grep git-checkpoint/fsmonitor .git/config
	hooks status -q
	hooks install -q
	hooks uninstall -q
	cmp .git/config "$T/config.before" || fail "config: $(cat "$T/config.before")"
	expect_eq "$(stat -c %a "$T/config.before")" "$(stat -L -c %a .git/config)"
}

test_the_configuration_comes_back_to_the_byte() {
	repository
	core='[core]\n\trepositoryformatversion = 0\n\tbare = false\n'
	for text in "$core" "${core%\\n}" '[core]\r\n\trepositoryformatversion = 0\r\n' \
		'[core]\r\n\tbare = false' "# c\n$core# end" "${core}[user]\n\tname = x # [core]\n\n" \
		"$core\n\n; last\n[a \"core\"]\n\tx = [core]\n" '[CORE] bare = false' '[core]' '' \
		'[a]\n\tb' '[a]\n\tb = 1\n' "${core}[a]\n\tb = c\\\\\n\td\n[core]\n" \
		'[core]\n\tfsmonitor = false # off\n' '[core]\n\tfsmonitorhookversion = 1\n' \
		'[core]\n\tfsmonitor =\n\tfsMonitorHookVersion=2' '\357\273\277[core]\n\tbare=false\n'; do
		printf "$text" >.git/config
		expect_config_cycle
	done
	chmod 600 .git/config
	expect_config_cycle
	mv .git/config .git/elsewhere
	ln -s elsewhere .git/config
	expect_config_cycle
	test -L .git/config || fail 'the link was replaced'
}

test_edits_of_the_configuration_in_between_survive() {
	repository
	cp .git/config "$T/plain"
	hooks install -q --guard
	git config core.pager cat
	git config user.nick me
	hooks uninstall -q
	mv .git/config "$T/with"
	cp "$T/plain" .git/config
	git config core.pager cat
	git config user.nick me
	expect_same .git/config "$T/with"
	# a value of the user's own stays
	hooks install -q --guard
	git config core.fsmonitor /bin/mine
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^displaced: fsmonitor: ' "$T/out"
	hooks uninstall -q
	expect_eq /bin/mine "$(git config core.fsmonitor)"
	git config --unset core.fsmonitor
	hooks install -q --guard
	git config --unset core.fsmonitor
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^missing: fsmonitor: ' "$T/out"
	hooks install -q
	hooks status -q
}

test_the_guard_is_asked_and_answers() {
	repository
	stand_in 'echo flood; echo "checkpoint: said" >&2'
	hooks install -q --guard
	echo changed >a
	git -C . status --porcelain >"$T/out" 2>"$T/err"
	expect_eq ' M a' "$(cat "$T/out")"
	expect_eq 'checkpoint: said' "$(cat "$T/err")"
	expect_grep '^hook fsmonitor 2 .*in=1' "$T/calls"
	: >"$T/calls"
	git worktree add -q "$T/linked" topic
	(cd "$T/linked" && git checkout -q -f)
	expect_grep '^hook fsmonitor 2' "$T/calls"
	GIT_CHECKPOINT_IN_HOOK=1 git status --porcelain >"$T/out" 2>"$T/err"
	expect_eq ' M a' "$(cat "$T/out")"
	expect_eq '' "$(cat "$T/err")"
}

test_the_guard_does_not_replace_the_daemon() {
	hook_files
	repository
	for scope in --local --global; do
		value=true
		# a number that is not 0 is true to git
		test $scope = --local || value=2
		git config $scope core.fsmonitor $value
		before
		expect_exit 1 hooks install --guard >"$T/out" 2>"$T/err"
		expect_grep 'core.fsmonitor' "$T/err"
		expect_eq 1 "$(wc -l <"$T/err")"
		expect_exists .git/hooks/pre-rebase
		expect_eq $value "$(git config core.fsmonitor)"
		hooks status -q
		hooks uninstall -q
		expect_as_before
		git config $scope --unset core.fsmonitor
	done
}

# What is set in another file cannot be replaced in .git/config, nor come back from there.
test_a_program_that_is_set_in_another_file() {
	hook_files
	repository
	printf '[core]\n\tfsmonitor = %s\n' true >"$T/included"
	git config extensions.worktreeConfig true
	for where in 'include.path $T/included' '--worktree core.fsmonitor /bin/false'; do
		eval "git config $where"
		before
		expect_exit 1 hooks install --guard >"$T/out" 2>"$T/err"
		expect_grep 'the guard is not installed: .*show-origin' "$T/err"
		expect_no_grep fsmonitor "$T/out"
		expect_exists .git/hooks/pre-rebase
		hooks status -q
		hooks uninstall -q
		expect_as_before
		eval "git config --unset ${where% *}"
	done
	# one that comes later, too
	hooks install -q --guard
	git config include.path "$T/included"
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^displaced: fsmonitor: .*show-origin' "$T/out"
	expect_no_grep 'hooks install' "$T/out"
	cp .git/config "$T/config"
	expect_exit 1 hooks install -q >"$T/out" 2>"$T/err"
	expect_grep 'the guard stays, but .*show-origin' "$T/err"
	expect_grep '^displaced: fsmonitor: .*show-origin' "$T/out"
	expect_same "$T/config" .git/config
	git config --unset include.path
	hooks status -q
	hooks uninstall -q
	expect_no_grep fsmonitor .git/config
}

# What one worktree says for itself is nothing to the others.
test_a_worktree_that_asks_another_program() {
	hook_files
	repository
	git worktree add -q "$T/linked" topic
	hooks install -q --guard
	git config extensions.worktreeConfig true
	git -C "$T/linked" config --worktree core.fsmonitor false
	cp .git/config "$T/config"
	cd "$T/linked"
	expect_exit 1 hooks install -q >"$T/out" 2>"$T/err"
	expect_grep 'the guard stays, but .*show-origin' "$T/err"
	expect_exit 1 hooks install -q --guard --json >"$T/json"
	expect_eq displaced "$(json .guard "$T/json")"
	expect_grep 'the guard stays' "$T/json"
	cd "$T/work"
	expect_same "$T/config" .git/config
	hooks status -q
	echo changed >>a
	git reset --hard 2>"$T/err"
	expect_grep '^checkpoint: saved' "$T/err"
}

# The same value in two places is still in two places, and that of the included file is last.
test_a_value_that_is_in_another_file_too() {
	repository
	for values in 'false - false' '- - ""' '- /bin/false /bin/false' '/bin/false - /bin/false' \
		'- false false'; do
		# global, own, included
		eval "set -- $values"
		git config --global --unset core.fsmonitor || :
		test "$1" = - || git config --global core.fsmonitor "$1"
		test "$2" = - || git config core.fsmonitor "$2"
		printf '[core]\n\tfsmonitor = %s\n' "$3" >"$T/included"
		git config include.path "$T/included"
		before
		expect_exit 1 hooks install --guard >"$T/out" 2>"$T/err"
		expect_grep 'the guard is not installed: .*show-origin' "$T/err"
		hooks status -q
		hooks uninstall -q
		expect_as_before
		git config --unset include.path
		git config --unset core.fsmonitor || :
	done
	git config --global --unset core.fsmonitor || :
	# one that the repository's own overrides does not matter
	printf '[core]\n\tfsmonitor = /bin/true\n' >"$T/included"
	printf '[include]\n\tpath = %s\n[core]\n\tfsmonitor = /bin/false\n' "$T/included" >.git/config
	before
	hooks install -q --guard
	hooks install -q
	hooks status -q
	hooks uninstall -q
	expect_as_before
}

test_another_program_is_asked_after_ours() {
	repository
	stand_in
	mkdir "$T/a b"
	printf '#!/bin/sh\necho "chained $*" >>"%s"\nprintf "token\\0a\\0"\n' "$T/calls" >"$T/a b/watch"
	chmod +x "$T/a b/watch"
	git config core.fsmonitor "'$T/a b/watch' --arg"
	git config core.fsmonitorHookVersion 2
	before
	hooks install -q --guard
	hooks install -q --guard
	git update-index --fsmonitor
	: >"$T/calls"
	echo changed >a
	expect_eq ' M a' "$(git -C . status --porcelain)"
	sed 's/ token.*//' "$T/calls" | head -n 2 >"$T/first"
	printf 'hook fsmonitor 2\nchained --arg 2\n' >"$T/expected"
	expect_same "$T/expected" "$T/first"
	# what the other one says counts: c is not in its answer
	echo changed >c
	expect_eq ' M a' "$(git status --porcelain)"
	hooks uninstall -q
	expect_eq "'$T/a b/watch' --arg" "$(git config core.fsmonitor)"
	grep -v ' index$' "$T/before" >"$T/before.1"
	fingerprint .git | grep -v ' index$' >"$T/now"
	expect_same "$T/before.1" "$T/now"
	# the user's own, for all repositories
	git config --local --unset core.fsmonitor
	git config --global core.fsmonitor "'$T/a b/watch' --arg"
	hooks install -q --guard
	: >"$T/calls"
	git status --porcelain >/dev/null
	expect_grep '^chained --arg 2' "$T/calls"
	hooks uninstall -q
	expect_eq "'$T/a b/watch' --arg" "$(git config core.fsmonitor)"
}

run_tests
