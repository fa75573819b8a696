#!/bin/sh
# SPDX-License-Identifier: MIT
# git checkpoint hooks are never in the way: nothing is started where there is nothing to do, and
# git does the same with a program that is missing, crashes, floods or hangs.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/hooks-install.sh"

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
	for command in status '--no-optional-locks status -s' diff 'add a' 'commit -q -m x' \
		'-c user.name=x commit -q --amend -m y' '-c user.name=x -c user.email=y diff' \
		'--no-pager -c core.abbrev=8 --no-optional-locks status' '-c a.b= -c a.b=reset add a'; do
		# shellcheck disable=SC2086 # words
		git $command >/dev/null
		expect_eq '' "$(cat "$T/calls")" "calls by 'git $command'"
	done
	# however the words of another command look when they stand together
	for command in 'checkout -q -f -- a' '-C . reset -q --hard' '-c a.b=gitstatus clean -fdq' \
		'-c a.b=commit reset -q --hard' '-c a.b=x -c a.b=xcommit reset -q --hard' \
		'-c a.b=x -c a.b reset -q --hard' '--no-pager checkout -q -f -- a'; do
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

test_configuration_of_a_parent_is_told_from_a_command() {
	repository
	stand_in
	hooks install -q --guard --no-ref-transaction
	git config alias.x '!git -c c.d=y commit -q --allow-empty -m x'
	git config alias.y '!git -c a.b=xcommit reset -q --hard'
	: >"$T/calls"
	git -c a.b=x x
	expect_eq '' "$(cat "$T/calls")"
	git -c a.b=x y
	expect_grep '^hook fsmonitor' "$T/calls"
}

# stand_in_that_looks: notes how often the shell of the shim read something
stand_in_that_looks() {
	stand_in 'parent() { sed "s/.*) . \([0-9]*\) .*/\1/" "/proc/$1/stat"; }' \
		'sed -n "s/^syscr: //p" "/proc/$(parent "$(parent "$PPID")")/io" >>'"'$T/reads'"
}

test_a_long_command_line_is_not_read_byte_by_byte() {
	grep -q syscr /proc/self/io || skip 'needs /proc/<pid>/io'
	repository
	stand_in_that_looks
	hooks install -q --guard --no-ref-transaction
	git -c a.b="$(printf '%060000d' 0)" reset -q --hard
	expect_eq 1 "$(wc -l <"$T/reads")"
	test "$(cat "$T/reads")" -lt 3000 || fail "$(cat "$T/reads") times"
}

test_nobody_waits_for_who_was_started_on_the_way() {
	repository
	# as BusyBox has it: the command takes the place, and another process looks after it
	mkdir "$T/other"
	cat >"$T/other/timeout" <<-END
	#!/bin/sh
	(n=0
	while ! test -e "$T/go" && test \$n -lt 100; do sleep 0.1; n=\$((n + 1)); done
	test -e "$T/go" || echo >"$T/late"
	echo >"$T/gone") &
	shift 3
	exec "\$@"
	END
	chmod +x "$T/other/timeout"
	hooks install -q --guard --ref-transaction
	PATH=$T/other:$PATH git reset --hard 2>&1 | cat >"$T/out"
	expect_missing "$T/late"
	expect_grep '^checkpoint: saved' "$T/out"
	PATH=$T/other:$PATH git merge -q -m x topic 2>&1 | cat >"$T/out"
	expect_missing "$T/late"
	: >"$T/go"
	while ! test -e "$T/gone"; do sleep 0.1; done
}

test_busybox() {
	require busybox
	repository
	mkdir "$T/box"
	for name in sh timeout cat sed head date; do
		! busybox --list | grep -qx $name || ln -s "$(command -v busybox)" "$T/box/$name"
	done
	hooks install -q --guard
	echo changed >a
	PATH=$BUILD_DIR:$T/box:$TOOLS git reset --hard 2>"$T/err"
	expect_eq 1 "$(grep -c '^checkpoint: saved' "$T/err")"
	# and as the shell
	sed -n 's/.*\. \(.*fsmonitor\)".*/\1/p' .git/config >"$T/shim"
	printf 'git-checkpoint\0/\0' >"$T/expected"
	"$T/box/sh" "$(cat "$T/shim")" 2 x >"$T/out" 2>"$T/err"
	expect_same "$T/expected" "$T/out"
	expect_eq '' "$(cat "$T/err")"
}

# interrupt [group]: git, or all that is in the foreground with it, when the guard was asked, which
# writes $T/in; returns when who reads git's output is done
interrupt() {
	rm -f "$T/in" "$T/pipe"
	mkfifo "$T/pipe"
	# a shell has its jobs ignore the signal
	perl -MPOSIX -e 'setsid(); $SIG{INT} = "DEFAULT"; exec @ARGV' \
		git reset -q --hard >"$T/pipe" 2>&1 &
	git=$!
	cat "$T/pipe" >"$T/out" &
	reader=$!
	while ! test -s "$T/in"; do sleep 0.1; done
	kill -INT "${1:+-}$git"
	wait $reader
}

test_after_an_interrupt_nobody_holds_the_pipes() {
	require flock
	repository
	git config checkpoint.hookTimeout 300s
	git config checkpoint.lockTimeout 300s
	hooks install -q --guard --no-ref-transaction
	git-checkpoint save -q
	echo changed >a
	(exec 9<>"$(store_dir)/checkpoint/lock" && flock 9 && echo >"$T/locked" && exec sleep 60) &
	holder=$!
	while ! test -e "$T/locked"; do sleep 0.1; done
	mkdir "$T/bin"
	printf '#!/bin/sh\necho $$ >"%s"\nexec "%s" "$@"\n' "$T/in" "$BUILD_DIR/git-checkpoint" \
		>"$T/bin/git-checkpoint"
	chmod +x "$T/bin/git-checkpoint"
	PATH=$T/bin:$PATH
	for whom in '' group; do
		interrupt $whom
		# it waited neither for the lock nor until its time was over
		kill -0 $holder
		expect_eq '' "$(cat "$T/out")"
		expect_eq changed "$(cat a)"
	done
	kill $holder
}

# starts_once <command>...: however many hooks of ours git calls for it, in a copy of the repository
starts_once() {
	rm -rf "$T/copy"
	cp -a . "$T/copy"
	: >"$T/calls"
	(cd "$T/copy" && "$@") >"$T/out" 2>&1 || :
	expect_eq 1 "$(wc -l <"$T/calls")" "starts by '$*' ($how)"
	expect_eq 1 "$(grep -c '^checkpoint: s[at]' "$T/out")" "lines about '$*' ($how)"
}

test_a_command_starts_the_program_once() {
	repository
	counting
	git checkout -q topic
	for i in 1 2 3; do
		echo $i >>b
		git commit -q -a -m $i
	done
	git checkout -q -b other HEAD~2
	git checkout -q main
	# as the copies need no lines of ours with another path in them
	for how in '--guard' '--guard --ref-transaction' '--global --guard' \
		'--ref-transaction --events rebase,merge,am,stash,bisect'; do
		# shellcheck disable=SC2086 # words
		hooks install -q $how
		echo dirty >>c
		echo new >u
		starts_once git merge -m x topic
		starts_once git merge --autostash -m x topic
		starts_once git merge --squash topic
		starts_once git merge -s resolve -m x topic
		starts_once git merge -m x topic other
		starts_once git rebase --autostash topic
		starts_once git rebase --autostash --apply topic
		starts_once git stash
		starts_once git stash -u
		starts_once git stash -a
		case $how in
		*--guard*)
			starts_once git reset --hard topic
			starts_once git checkout -f topic
			starts_once git switch --discard-changes topic
			starts_once git checkout -- c
			starts_once git clean -fdx
			starts_once git cherry-pick topic~2..topic
			starts_once git revert --no-edit HEAD
			;;
		esac
		git checkout -q HEAD c
		rm u
		hooks uninstall -q
		hooks uninstall -q --global
	done
}

# What a command runs for the user may destroy more than the command itself.
test_a_start_is_not_saved_where_more_is_destroyed() {
	repository
	counting
	echo ignored >.git/info/exclude
	hooks install -q --guard
	for command in 'git rebase -x "git clean -fdxq" HEAD~1' 'git rebase -x "git stash -aq" HEAD~1' \
		'git bisect start HEAD HEAD~1; git bisect run git clean -fdxq'; do
		echo precious >ignored
		(eval "$command") >"$T/out" 2>&1 || :
		expect_missing ignored
		git-checkpoint show @:ignored >"$T/saved"
		expect_eq precious "$(cat "$T/saved")" "$command"
		git bisect reset -q >/dev/null 2>&1 || :
	done
}

test_a_process_is_answered_once() {
	repository
	counting
	hooks install -q --guard --no-ref-transaction
	git checkout -q topic
	for i in 1 2 3 4 5; do
		echo $i >>b
		git commit -q -a -m $i
	done
	: >"$T/calls"
	git rebase -q --no-verify main
	expect_eq 1 "$(grep -c fsmonitor "$T/calls")" 'calls by one rebase'
	git rebase -q --no-verify --force-rebase main
	expect_eq 2 "$(grep -c fsmonitor "$T/calls")" 'calls by two'
	# a process with the same number that began at another time is another one, and so is one elsewhere
	for answer in "\$\$ 1 all $PWD" "\$\$ \$(sed 's/.*) //' /proc/\$\$/stat | cut -d ' ' -f 20) all $T"; do
		: >"$T/calls"
		printf '#!/bin/sh\necho "%s" >.git/git-checkpoint/answer\nexec git reset -q --hard\n' "$answer" \
			>"$T/reuse"
		sh "$T/reuse"
		expect_eq 1 "$(grep -c fsmonitor "$T/calls")" "calls after $answer"
	done
	hooks uninstall -q
	expect_missing .git/git-checkpoint
}

test_nothing_is_run_from_the_worktree() {
	repository
	for name in git-checkpoint timeout head date; do
		printf '#!/bin/sh\necho "$0" >>"%s"\n' "$T/ran" >$name
		chmod +x $name
	done
	hooks install -q --guard --ref-transaction
	for add in : :. :./ :./bin; do
		echo "$add" >>a
		PATH=$TOOLS$add git reset --hard 2>"$T/err"
		expect_grep '^checkpoint: saved' "$T/err"
		PATH=$TOOLS$add git merge -q -m x topic 2>"$T/err"
		PATH=$TOOLS$add git rebase -q --force-rebase topic 2>"$T/err"
		expect_missing "$T/ran"
	done
}

test_a_missing_program_is_not_noticed() {
	repository without
	cp -a without with
	(cd with && hooks install -q --guard --ref-transaction)
	# as if the package had been removed: neither in PATH nor where it was
	sed -i "s#^_ckpt_program='.*#_ckpt_program='/nonexistent/git-checkpoint'#" \
		"with/$(shim pre-rebase)" "with/$(shim reference-transaction)" "with/$(shim fsmonitor)"
	expect_grep nonexistent with/.git/git-checkpoint/fsmonitor
	PATH=$TOOLS
	expect_exit 127 git-checkpoint -h
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

# More refs than a pipe holds, and nobody is killed by writing where nobody reads.
test_a_missing_program_reads_nothing() {
	repository
	hooks install -q --ref-transaction
	sed -i "s#^_ckpt_program='.*#_ckpt_program='/nonexistent/git-checkpoint'#" \
		"$(shim reference-transaction)"
	id=$(git rev-parse HEAD)
	seq 1 2000 | sed "s#.*#$id $id refs/heads/b&#" >"$T/refs"
	echo "$id $id ORIG_HEAD" >>"$T/refs"
	PATH=$TOOLS
	(
		trap '' PIPE
		_ckpt_alone=alone GIT_REFLOG_ACTION='merge x' sh "$(shim reference-transaction)" prepared \
			<"$T/refs" >"$T/out" 2>&1
	)
	expect_eq '' "$(cat "$T/out")"
}

test_the_program_is_found_without_path() {
	repository
	hooks install -q
	git checkout -q topic
	expect_missing "$(checkpoint_home)"
	PATH=$TOOLS git rebase -q main
	expect_grep "_ckpt_program='$BUILD_DIR/git-checkpoint'" "$(shim pre-rebase)"
}

# expect_undisturbed: with the stand-in as it is, git does the same, and says little more
expect_undisturbed() {
	rm -rf with without
	repository with
	repository without
	(cd with && hooks install -q --guard --ref-transaction)
	# a short time, for one that has to be ended
	sed -i "s/^_ckpt_seconds=.*/_ckpt_seconds='${1:-60}'/" "with/$(shim pre-rebase)" \
		"with/$(shim reference-transaction)" "with/$(shim fsmonitor)"
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
	expect_eq 1 "$(grep -c '^checkpoint: not saved: .* did not answer in 0.5 seconds$' "$T/err")" 'lines about it'
	# all that a command calls is bounded together: it was started once
	expect_eq 1 "$(grep -c '^hook' "$T/calls")"
	# what is started from somewhere else is another command
	setsid git -C with status --porcelain
	expect_eq 2 "$(grep -c '^hook' "$T/calls")"
	cd with
	GIT_CHECKPOINT_HOOK_TIMEOUT=1s hooks install -q
	expect_grep "_ckpt_seconds='3'" "$(shim reference-transaction)"
	hooks uninstall -q
	expect_missing .git/git-checkpoint
}

run_tests
