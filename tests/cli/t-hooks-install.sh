#!/bin/sh
# SPDX-License-Identifier: MIT
# git checkpoint hooks: what is put in place, that what was there goes on as before, and that an
# uninstall, also after an interruption, leaves every byte, mode and link as it was.

. "$(dirname "$0")/../lib/harness.sh"

# A repository with two branches, `main` and `topic`, that can be merged; made once and copied.
repository() {
	test -e "$SCRATCH/repository" || make_repository "$SCRATCH/repository"
	mkdir -p "${1:-.}"
	cp -a "$SCRATCH/repository/." "${1:-.}"
	git -C "${1:-.}" update-index -q --refresh
}

make_repository() {
	git init -q "$1"
	(
		cd "$1"
		echo 1 >a
		git add a
		git commit -q -m 1
		git checkout -q -b topic
		echo 2 >b
		git add b
		git commit -q -m 2
		git checkout -q main
		echo 3 >c
		git add c
		git commit -q -m 3
	)
}

# stand_in [<line>...]: a git-checkpoint that notes in $T/calls how its hooks are called
stand_in() {
	mkdir -p "$T/bin"
	{
		printf '#!/bin/sh\n[ "$1" = hook ] || exec "%s" "$@"\n' "$BUILD_DIR/git-checkpoint"
		printf '{ printf "%%s " "$@" "in=$GIT_CHECKPOINT_IN_HOOK"; echo; } >>"%s"\n' "$T/calls"
		printf '[ "$2" != reference-transaction ] || cat >>"%s"\n' "$T/calls"
		printf '%s\n' "$@"
	} >"$T/bin/git-checkpoint"
	chmod +x "$T/bin/git-checkpoint"
	PATH=$T/bin:$PATH
	: >"$T/calls"
}

# not through git, which would put its own directory before the PATH
hooks() {
	git-checkpoint hooks "$@"
}

# before: remember the repository; expect_as_before: it is the same again
before() {
	fingerprint "${1:-.git}" >"$T/before"
}

expect_as_before() {
	fingerprint "${1:-.git}" >"$T/now"
	expect_same "$T/before" "$T/now"
}

# Long loops try every fifth place, or every other, other ones each day, unless all are asked for.
step=5
test "${CKPT_TEST_ROUNDS:-}" != all || step=1
first=$(($(date +%-j) % step + 1))

turn=$first
is_turn() {
	turn=$((turn + 1))
	test $step = 1 || test $((turn % 2)) = 0
}

# ---- installing ------------------------------------------------------------------

test_install_and_uninstall() {
	repository
	before
	hooks install >"$T/out"
	expect_grep '^installed: pre-rebase$' "$T/out"
	expect_grep '^installed: reference-transaction$' "$T/out"
	expect_grep '2 ms' "$T/out"
	expect_grep 'no-ref-transaction' "$T/out"
	fingerprint .git >"$T/first"
	hooks install -q
	fingerprint .git >"$T/second"
	expect_same "$T/first" "$T/second"
	hooks status >"$T/out"
	expect_grep 'worktree remove --force' "$T/out"
	expect_grep 'git apply' "$T/out"
	expect_grep 'merge-file' "$T/out"
	hooks status --json >"$T/json"
	expect_eq '["pre-rebase","reference-transaction"]' "$(json '[.hooks[].name] | tojson' "$T/json")"
	expect_eq 'installed installed' "$(json '[.hooks[].state] | join(" ")' "$T/json")"
	expect_eq null "$(json .guard "$T/json")"
	hooks uninstall >"$T/out"
	expect_as_before
	hooks uninstall >"$T/out"
	hooks status >"$T/out"
	expect_grep '^No hooks' "$T/out"
}

test_events_choose_the_hooks() {
	repository
	before
	expect_exit 129 hooks install --events rebase,nonsense 2>"$T/err"
	expect_grep "'nonsense'" "$T/err"
	expect_exit 129 hooks install --events '' 2>/dev/null
	expect_exit 129 hooks 2>/dev/null
	expect_exit 129 hooks frobnicate 2>/dev/null
	expect_exit 129 hooks status --guard 2>/dev/null
	expect_as_before
	hooks install -q --events rebase
	expect_exists .git/hooks/pre-rebase
	expect_missing .git/hooks/reference-transaction
	hooks install -q --events am,stash
	expect_missing .git/hooks/pre-rebase
	expect_grep "_ckpt_events='am,stash'" .git/hooks/reference-transaction
	# what was chosen is kept
	hooks install -q
	expect_missing .git/hooks/pre-rebase
	expect_grep "_ckpt_events='am,stash'" .git/hooks/reference-transaction
	hooks install -q --events rebase,merge --no-ref-transaction
	expect_exists .git/hooks/pre-rebase
	expect_missing .git/hooks/reference-transaction
	hooks install -q --ref-transaction
	expect_grep "_ckpt_events='merge'" .git/hooks/reference-transaction
	hooks uninstall -q
	expect_as_before
}

test_where_there_is_nothing_to_install() {
	expect_exit 128 hooks install 2>/dev/null
	expect_exit 128 hooks status 2>/dev/null
	git init -q --bare bare.git
	cd bare.git
	expect_exit 128 hooks install 2>/dev/null
}

test_linked_worktrees_and_submodules() {
	repository
	git worktree add -q "$T/linked" topic
	before
	(cd "$T/linked" && hooks install -q --guard && hooks status --json >"$T/linked.json")
	hooks status --json >"$T/main.json"
	expect_same "$T/main.json" "$T/linked.json"
	expect_exists .git/hooks/pre-rebase .git/git-checkpoint/hooks.json
	rm .git/hooks/pre-rebase
	(cd "$T/linked" && expect_exit 1 hooks status --json >"$T/linked.json")
	expect_exit 1 hooks status --json >"$T/main.json"
	expect_same "$T/main.json" "$T/linked.json"
	(cd "$T/linked" && hooks uninstall -q)
	expect_as_before
	git -c protocol.file.allow=always submodule --quiet add "$T/work" sub
	before .git/modules/sub
	(cd sub && hooks install -q)
	expect_exists .git/modules/sub/hooks/pre-rebase
	expect_missing .git/hooks/pre-rebase
	(cd sub && hooks uninstall -q)
	expect_as_before .git/modules/sub
}

test_core_hookspath_is_honoured() {
	repository
	git config core.hooksPath .config/hooks
	before .
	before
	hooks install -q
	expect_exists .config/hooks/pre-rebase
	expect_missing .git/hooks/pre-rebase
	stand_in
	git checkout -q topic
	git rebase -q main
	expect_grep '^hook pre-rebase main in=1' "$T/calls"
	git reset -q --hard ORIG_HEAD
	git checkout -q main
	hooks uninstall -q
	expect_missing .config
}

test_a_directory_of_all_repositories_is_not_written_to() {
	repository
	mkdir "$T/shared"
	git config --global core.hooksPath "$T/shared"
	before
	expect_exit 1 hooks install 2>"$T/err"
	expect_grep 'other repositories' "$T/err"
	expect_eq '' "$(ls "$T/shared")"
	expect_exit 1 hooks status -q >"$T/out"
	expect_grep '^not run: pre-rebase: ' "$T/out"
	hooks uninstall -q
	expect_as_before
	# a link does not make it this repository's own
	git config --global --unset core.hooksPath
	rm -r .git/hooks
	ln -s "$T/shared" .git/hooks
	expect_exit 1 hooks install 2>/dev/null
	expect_eq '' "$(ls "$T/shared")"
}

test_tracked_hooks_are_not_written_to() {
	repository
	mkdir .githooks
	printf '#!/bin/sh\necho theirs\n' >.githooks/pre-rebase
	chmod +x .githooks/pre-rebase
	git add .githooks
	git commit -q -m hooks
	git config core.hooksPath .githooks
	before
	expect_exit 1 hooks install 2>"$T/err"
	expect_grep 'tracked' "$T/err"
	expect_exit 1 hooks status -q >"$T/out"
	expect_grep '^not run: pre-rebase: .*tracked' "$T/out"
	expect_eq '' "$(git status --porcelain)"
	# the guard does without
	expect_exit 1 hooks install -q --guard 2>"$T/err"
	echo changed >>a
	git reset -q --hard 2>"$T/err"
	expect_grep '^checkpoint: saved' "$T/err"
	git checkout -q topic
	git rebase -q main >/dev/null 2>&1
	hooks uninstall -q
	git checkout -q main
	expect_eq '' "$(git status --porcelain)"
}

test_names_that_a_shell_would_take_apart() {
	dir="it's a \$(touch x) \"dir\"; #1"
	repository "$dir"
	cd "$dir"
	before
	stand_in
	hooks install -q --guard
	hooks status -q
	git checkout -q -f >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_grep '^hook fsmonitor 2' "$T/calls"
	hooks uninstall -q
	git update-index --force-write-index 2>/dev/null || git read-tree HEAD
	grep -v ' index$' "$T/before" >"$T/before.1"
	fingerprint .git | grep -v ' index$' >"$T/now"
	expect_same "$T/before.1" "$T/now"
	expect_missing x
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

# ---- the guard -------------------------------------------------------------------

# expect_config_cycle: .git/config, whatever it is, comes back
expect_config_cycle() {
	cp -p .git/config "$T/config.before"
	hooks install -q --guard --no-ref-transaction
	expect_eq 2 "$(git config core.fsmonitorHookVersion)"
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
	repository
	for scope in --local --global; do
		git config $scope core.fsmonitor true
		before
		expect_exit 1 hooks install --guard >"$T/out" 2>"$T/err"
		expect_grep 'core.fsmonitor' "$T/err"
		expect_eq 1 "$(wc -l <"$T/err")"
		expect_exists .git/hooks/pre-rebase
		expect_eq true "$(git config core.fsmonitor)"
		hooks status -q
		hooks uninstall -q
		expect_as_before
		git config $scope --unset core.fsmonitor
	done
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

# ---- never in the way ------------------------------------------------------------

test_nothing_is_started_where_refs_cannot_matter() {
	repository
	stand_in
	hooks install -q
	git tag x
	git update-ref refs/heads/y HEAD
	git stash list
	git reset -q --hard HEAD~1
	expect_eq '' "$(cat "$T/calls")"
	git merge -q topic -m merged
	expect_grep '^hook reference-transaction --events=merge prepared in=1' "$T/calls"
	expect_grep ' ORIG_HEAD$' "$T/calls"
	hooks install -q --events stash,bisect
	: >"$T/calls"
	git reset -q --hard HEAD~1
	git merge -q topic -m merged
	expect_eq '' "$(cat "$T/calls")"
	echo dirty >a
	git stash -q
	expect_grep ' refs/stash$' "$T/calls"
	: >"$T/calls"
	git bisect start HEAD HEAD~1 >/dev/null
	expect_grep ' refs/bisect/' "$T/calls"
}

# git_says <dir> <command>...: stdout and stderr in $T/out and $T/err, status, and the result
git_says() {
	(
		cd "$1"
		shift
		status=0
		git "$@" >"$T/out" 2>"$T/err" || status=$?
		echo "status $status" >>"$T/out"
		git log --format='%T %s' >>"$T/out"
		git status --porcelain >>"$T/out" 2>/dev/null
	)
}

test_nothing_is_started_for_what_changes_no_files() {
	repository
	stand_in
	hooks install -q --guard --no-ref-transaction
	: >"$T/calls"
	echo changed >a
	for command in status '--no-optional-locks status -s' diff 'add a' 'commit -q -m x'; do
		# shellcheck disable=SC2086 # words
		git $command >/dev/null
		expect_eq '' "$(cat "$T/calls")" "calls by 'git $command'"
	done
	# however the words of another command look when they stand together
	for command in 'checkout -q -f -- a' '-C . reset -q --hard' '-c a.b=gitstatus clean -fdq'; do
		: >"$T/calls"
		# shellcheck disable=SC2086
		git $command
		expect_grep '^hook fsmonitor' "$T/calls"
	done
	mkdir -p x
	mkdir x/gitstatus
	: >"$T/calls"
	git -C x/gitstatus reset -q --hard
	expect_grep '^hook fsmonitor' "$T/calls"
}

test_a_process_is_answered_once() {
	repository
	stand_in
	hooks install -q --guard --no-ref-transaction
	git checkout -q topic
	for i in 1 2 3 4 5; do
		echo $i >>b
		git commit -q -a -m $i
	done
	: >"$T/calls"
	git rebase -q --no-verify main
	expect_eq 1 "$(grep -c '^hook fsmonitor' "$T/calls")" 'calls by one rebase'
	git rebase -q --no-verify --force-rebase main
	expect_eq 2 "$(grep -c '^hook fsmonitor' "$T/calls")" 'calls by two'
	# a process with the same number that began at another time is another one
	printf '#!/bin/sh\necho "$$ 1" >.git/git-checkpoint/asked\nexec git reset -q --hard\n' >"$T/reuse"
	sh "$T/reuse"
	expect_eq 3 "$(grep -c '^hook fsmonitor' "$T/calls")" 'calls by the one with the same number'
	hooks uninstall -q
	expect_missing .git/git-checkpoint
}

test_nothing_is_run_from_the_worktree() {
	repository
	for name in git-checkpoint timeout head date; do
		printf '#!/bin/sh\necho "$0" >>"%s"\n' "$T/ran" >$name
		chmod +x $name
	done
	hooks install -q --guard
	absolute=$(echo "$PATH" | sed "s#$BUILD_DIR:##")
	for add in : :. :./ :./bin; do
		echo "$add" >>a
		PATH=$absolute$add git reset -q --hard 2>"$T/err"
		expect_grep '^checkpoint: saved' "$T/err"
		PATH=$absolute$add git merge -q -m x topic 2>"$T/err"
		PATH=$absolute$add git rebase -q --force-rebase topic 2>"$T/err"
		expect_missing "$T/ran"
	done
}

test_a_missing_program_is_not_noticed() {
	repository without
	cp -a without with
	(cd with && hooks install -q --guard)
	# as if the package had been removed: neither in PATH nor where it was
	sed -i "s#^_ckpt_program='.*#_ckpt_program='/nonexistent/git-checkpoint'#" \
		with/.git/hooks/pre-rebase with/.git/hooks/reference-transaction \
		with/.git/git-checkpoint/fsmonitor
	expect_grep nonexistent with/.git/git-checkpoint/fsmonitor
	PATH=$(echo "$PATH" | sed "s#$BUILD_DIR:##")
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
	export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
	for command in 'merge -m merged topic' 'checkout topic' 'rebase main' 'reset --hard HEAD~1' \
		'status' 'stash' 'merge nonsense'; do
		# shellcheck disable=SC2086
		git_says without $command
		cp "$T/out" "$T/expected.out"
		cp "$T/err" "$T/expected.err"
		# shellcheck disable=SC2086
		git_says with $command
		expect_same "$T/expected.out" "$T/out"
		expect_same "$T/expected.err" "$T/err"
	done
}

test_the_program_is_found_without_path() {
	repository
	hooks install -q
	git checkout -q topic
	expect_missing "$(checkpoint_home)"
	PATH=$(echo "$PATH" | sed "s#$BUILD_DIR:##") git rebase -q main
	expect_grep "_ckpt_program='$BUILD_DIR/git-checkpoint'" .git/hooks/pre-rebase
}

# expect_undisturbed: with the stand-in as it is, git does the same, and says little more
expect_undisturbed() {
	rm -rf with without
	repository with
	repository without
	(cd with && hooks install -q --guard)
	# a short time, for one that has to be ended
	sed -i "s/^_ckpt_seconds=.*/_ckpt_seconds='${1:-60}'/" with/.git/hooks/* \
		with/.git/git-checkpoint/fsmonitor
	: >"$T/calls"
	git_says without merge -m merged topic
	cp "$T/out" "$T/expected.out"
	git_says with merge -m merged topic
	expect_same "$T/expected.out" "$T/out"
	test "$(wc -c <"$T/err")" -lt 100000 || fail 'flooded'
}

test_a_program_that_crashes() {
	require timeout
	stand_in 'kill -SEGV $$'
	expect_undisturbed
	expect_eq '' "$(cat "$T/err")"
	expect_grep '^hook fsmonitor' "$T/calls"
	stand_in 'exit 1'
	expect_undisturbed
	stand_in 'kill -9 $PPID'
	expect_undisturbed
}

test_a_program_that_floods() {
	require timeout
	stand_in 'yes >&2'
	expect_undisturbed
	stand_in 'yes'
	expect_undisturbed 0.5
}

test_a_program_that_hangs() {
	require timeout
	stand_in 'trap "" TERM; sleep 1000'
	expect_undisturbed 0.5
	# all that a command calls is bounded together: it was started once
	expect_eq 1 "$(grep -c '^hook' "$T/calls")"
	# what is started from somewhere else is another command
	setsid git -C with status --porcelain
	expect_eq 2 "$(grep -c '^hook' "$T/calls")"
	cd with
	GIT_CHECKPOINT_HOOK_TIMEOUT=1s hooks install -q
	expect_grep "_ckpt_seconds='3'" .git/hooks/reference-transaction
	hooks uninstall -q
	expect_missing .git/git-checkpoint
}

# ---- displaced -------------------------------------------------------------------

test_status_says_what_will_not_run() {
	repository
	hooks install -q
	rm .git/hooks/pre-rebase
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^missing: pre-rebase: .*hooks install' "$T/out"
	git checkpoint status >"$T/out" 2>&1
	expect_grep 'missing: pre-rebase' "$T/out"
	expect_exit 1 git checkpoint doctor >"$T/out"
	expect_grep '^problem: .*missing: pre-rebase: .*hooks install' "$T/out"
	printf '#!/bin/sh\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	chmod -x .git/hooks/reference-transaction
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^displaced: pre-rebase: ' "$T/out"
	expect_grep '^not run: reference-transaction: ' "$T/out"
	expect_exit 1 hooks status --json >"$T/json"
	expect_eq 'displaced,not run' "$(json '[.hooks[].state] | join(",")' "$T/json")"
	hooks install -q
	hooks status -q
	git config core.hooksPath other
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^not run: pre-rebase: .*other' "$T/out"
	hooks install -q
	hooks status -q
	hooks uninstall -q
	expect_missing other .git/hooks/reference-transaction .git/git-checkpoint
	printf '#!/bin/sh\n' >"$T/expected"
	expect_same "$T/expected" .git/hooks/pre-rebase
}

test_what_a_manager_parked_is_cleaned() {
	repository
	for suffix in old legacy; do
		for kind in none sh perl; do
			rm -f .git/hooks/pre-rebase*
			test $kind = none || printf '#!/usr/bin/%s\nexit\n' $kind >.git/hooks/pre-rebase
			test $kind = none || chmod +x .git/hooks/pre-rebase
			cp -p .git/hooks/pre-rebase "$T/original" 2>/dev/null || :
			hooks install -q
			mv .git/hooks/pre-rebase ".git/hooks/pre-rebase.$suffix"
			printf '#!/bin/sh\necho manager\n' >.git/hooks/pre-rebase
			chmod +x .git/hooks/pre-rebase
			cp -p .git/hooks/pre-rebase "$T/manager"
			expect_exit 1 hooks status -q >"$T/out"
			expect_grep '^displaced: pre-rebase' "$T/out"
			hooks uninstall -q
			expect_same "$T/manager" .git/hooks/pre-rebase
			if test $kind = none; then
				expect_missing ".git/hooks/pre-rebase.$suffix"
			else
				expect_same "$T/original" ".git/hooks/pre-rebase.$suffix"
			fi
			expect_missing .git/hooks/pre-rebase.pre-checkpoint .git/hooks/.git-checkpoint
		done
	done
}

test_a_repository_that_was_moved() {
	repository old
	before old/.git
	printf '#!/usr/bin/perl\nexit\n' >old/.git/hooks/pre-rebase
	chmod +x old/.git/hooks/pre-rebase
	before old/.git
	(cd old && hooks install -q --guard)
	mv old new
	cd new
	git status --porcelain >"$T/out" 2>&1
	expect_eq '' "$(cat "$T/out")"
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^not run: fsmonitor: the repository was moved' "$T/out"
	hooks install -q
	hooks status -q
	hooks uninstall -q
	grep -v ' index$' "$T/before" >"$T/before.1"
	fingerprint .git | grep -v ' index$' >"$T/now"
	expect_same "$T/before.1" "$T/now"
}

# ---- git 2.54 --------------------------------------------------------------------

# pretend_git <version>: a git that says it is another one
pretend_git() {
	mkdir -p "$T/pretend"
	printf '#!/bin/sh\n[ "$1" != --version ] || { echo "git version %s"; exit; }\nexec %s "$@"\n' \
		"$1" "$(PATH=$(echo "$PATH" | sed "s#$T/pretend:##") command -v git)" >"$T/pretend/git"
	chmod +x "$T/pretend/git"
	case $PATH in
	"$T"/pretend:*) ;;
	*) PATH=$T/pretend:$PATH ;;
	esac
}

test_hooks_in_the_configuration() {
	repository
	before
	stand_in
	pretend_git 2.55.0
	hooks install -q --guard
	expect_missing .git/hooks/pre-rebase .git/hooks/reference-transaction
	expect_eq pre-rebase "$(git config hook.checkpoint-pre-rebase.event)"
	command=$(git config hook.checkpoint-pre-rebase.command)
	sh -c "$command"' "$@"' "$command" main
	expect_grep '^hook pre-rebase main in=1' "$T/calls"
	command=$(git config hook.checkpoint-reference-transaction.command)
	printf '0 1 ORIG_HEAD\n' | GIT_REFLOG_ACTION=merge sh -c "$command"' "$@"' "$command" preparing
	expect_grep '^hook reference-transaction --events=merge preparing in=1' "$T/calls"
	hooks status -q
	# an older git does not run them
	pretend_git 2.39.5
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^not run: pre-rebase: ' "$T/out"
	hooks install -q
	hooks status -q
	expect_exists .git/hooks/pre-rebase
	expect_eq '' "$(git config --get-regexp '^hook\.' || :)"
	pretend_git 2.54.0
	hooks install -q
	expect_missing .git/hooks/pre-rebase
	hooks status -q
	rm -r "$T/pretend"
	hooks uninstall -q
	expect_as_before
}

# ---- interrupted -----------------------------------------------------------------

# A repository with a hook of each kind that is treated differently.
troubled_repository() {
	rm -rf repo
	git init -q repo
	cd repo
	printf '#!/bin/sh\necho sh\n' >.git/hooks/reference-transaction
	printf '#!/usr/bin/perl\nexit\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/reference-transaction .git/hooks/pre-rebase
	git config core.fsmonitor /bin/false
	before
}

killable=write,fsync,rename,openat-create,link,unlink,mkdir

test_an_install_that_is_killed_can_be_undone() {
	troubled_repository
	with_faults $killable 0 kill git-checkpoint hooks install -q --guard
	count=$(cat "$T/faults")
	test "$count" -gt 20 || fail "only $count calls"
	hooks uninstall -q
	expect_as_before
	at=$first
	while test $at -le "$count"; do
		expect_exit 137 with_faults $killable $at kill git-checkpoint hooks install -q --guard
		# there is a hook at every moment
		expect_exists .git/hooks/pre-rebase .git/hooks/reference-transaction .git/config
		hooks uninstall -q
		expect_as_before
		at=$((at + step))
	done
	hooks install -q --guard
	with_faults $killable 0 kill git-checkpoint hooks uninstall -q
	count=$(cat "$T/faults")
	at=$first
	while test $at -le "$count"; do
		hooks install -q --guard
		expect_exit 137 with_faults $killable $at kill git-checkpoint hooks uninstall -q
		expect_exists .git/hooks/pre-rebase .git/hooks/reference-transaction .git/config
		hooks uninstall -q
		expect_as_before
		at=$((at + step))
	done
}

test_an_install_that_was_killed_can_be_finished() {
	troubled_repository
	hooks install -q --guard
	fingerprint .git >"$T/installed"
	hooks uninstall -q
	for at in $first $((first + 11)) $((first + 23)); do
		with_faults $killable $at kill git-checkpoint hooks install -q --guard || :
		hooks install -q --guard
		fingerprint .git >"$T/now"
		expect_same "$T/installed" "$T/now"
		hooks uninstall -q
		expect_as_before
	done
}

test_a_full_disk_leaves_nothing_that_cannot_be_undone() {
	troubled_repository
	for at in 1 2 3 5 8 11 14 17 20 24 28; do
		test $((at % 3)) = $((first % 3)) || test $step = 1 || continue
		status=0
		FAULT_STICKY=1 FAULT_PATH=$PWD/.git with_faults write,fsync,openat-create,link,mkdir $at \
			ENOSPC git-checkpoint hooks install -q --guard 2>"$T/err" || status=$?
		case $status in
		0 | 128) ;;
		*) fail "exit status $status" ;;
		esac
		expect_exists .git/hooks/pre-rebase .git/hooks/reference-transaction .git/config
		hooks uninstall -q
		expect_as_before
	done
}

test_two_at_a_time() {
	troubled_repository
	hooks install -q --guard &
	hooks install -q --guard --events rebase,merge,stash &
	wait
	hooks install -q --guard
	hooks status -q
	hooks uninstall -q &
	hooks uninstall -q &
	wait
	expect_as_before
}

test_a_damaged_record_is_said() {
	repository
	hooks install -q
	echo '{' >.git/git-checkpoint/hooks.json
	expect_exit 128 hooks status 2>"$T/err"
	expect_grep 'hooks.json' "$T/err"
	expect_exit 128 hooks uninstall 2>/dev/null
	expect_exists .git/hooks/pre-rebase
	# without a record our lines are recognised
	rm .git/git-checkpoint/hooks.json
	hooks install -q
	hooks uninstall -q
	expect_missing .git/hooks/pre-rebase .git/git-checkpoint
}

test_a_locked_configuration_is_not_written() {
	repository
	: >.git/config.lock
	before
	expect_exit 128 hooks install --guard 2>"$T/err"
	expect_grep 'config.lock' "$T/err"
	hooks uninstall -q
	expect_as_before
}

run_tests
