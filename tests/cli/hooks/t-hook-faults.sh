#!/bin/sh
# SPDX-License-Identifier: MIT
# Whatever goes wrong in a hook, git says and does the same as without it, soon enough, and the
# user is told that nothing was saved.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/hooked.sh"

INSTALL='install_hooks --guard'

# so that the hashes that git prints are the same each time
GIT_COMMITTER_DATE=2030-01-01T00:00:00Z
GIT_AUTHOR_DATE=$GIT_COMMITTER_DATE
export GIT_COMMITTER_DATE GIT_AUTHOR_DATE

# command_of <n>, setup_of <n>: what is tried, by number
command_of() {
	case $1 in
	1) echo git rebase --autostash main ;;
	2) echo git merge feat ;;
	3) echo git reset --hard HEAD~1 ;;
	4) echo git stash ;;
	5) echo git clean -fdx ;;
	esac
}

setup_of() {
	case $1 in
	1) echo 'git checkout -q feat; dirty' ;;
	*) echo dirty ;;
	esac
}

# outcome: all that a command leaves: status, output, files, branches
outcome() {
	echo "status $status"
	cat "$T/out"
	# what git says, without what we say
	sed '/^checkpoint: /d' "$T/err"
	fingerprint .
	git -c core.fsmonitor=false status --short
	git log --format='%s %T' --all
}

# without_us <n>: what command number <n> does when we are not there; kept for all cases
without_us() {
	fresh "$(setup_of "$1")"
	# shellcheck disable=SC2046 # words
	run $(command_of "$1")
	outcome >"$SCRATCH/plain.$1"
}

# undisturbed <n> [<prefix>...]: the same with us; the state before can be prepared with $break
undisturbed() {
	n=$1
	shift
	plain=$SCRATCH/plain.$n
	test ! -f "$T/plain.$n" || plain=$T/plain.$n
	test -f "$plain" || without_us "$n"
	fresh "$(setup_of "$n")"
	$INSTALL
	eval "${break:-}"
	# shellcheck disable=SC2046 # words
	run env "$@" $(command_of "$n")
	outcome >"$T/with.$n"
	expect_same "$plain" "$T/with.$n"
	eval "${mend:-}"
}

# told_once: that nothing was saved, in one line
told_once() {
	grep '^checkpoint: ' "$T/err" >"$T/told" || :
	expect_eq 1 "$(wc -l <"$T/told")" "lines: $(cat "$T/told")"
	expect_grep "^checkpoint: not saved before $1: " "$T/told"
}

test_nothing_wrong_at_all() {
	make_template
	for n in 1 2 3 4 5; do
		undisturbed $n
		expect_grep '^checkpoint: saved ' "$T/err"
	done
}

test_no_place_for_stores() {
	make_template
	break='export GIT_CHECKPOINT_HOME=/dev/null/nowhere'
	mend='unset GIT_CHECKPOINT_HOME'
	undisturbed 1
	told_once rebase
	undisturbed 3
	told_once reset
	all_rounds || return 0
	undisturbed 2
	told_once merge
	undisturbed 5
	told_once clean
}

test_a_store_that_cannot_be_written() {
	make_template
	git config --global safe.directory '*'
	break='git-checkpoint save -q; chmod -R a-w "$(store_dir)"; give_to_nobody "$T"'
	mend='chmod -R u+w "$(store_dir)"'
	if test "$(id -u)" = 0; then
		require setpriv
		run_as_nobody test -x "$BUILD_DIR/git-checkpoint" || skip 'nobody cannot reach the program'
		set -- setpriv --reuid="$(id -u nobody)" --regid="$(id -g nobody)" --clear-groups
	fi
	undisturbed 3 "$@"
	told_once reset
	undisturbed 2 "$@"
	told_once merge
}

# instead <text>: a script in the place of our program
instead() {
	mkdir -p "$T/bin"
	printf '#!/bin/sh\n%s\n' "$1" >"$T/bin/git-checkpoint"
	chmod +x "$T/bin/git-checkpoint"
}

# faulty <calls> <at> <what>: our program with faults, see with_faults
faulty() {
	instead "exec env LD_PRELOAD='$BUILD_DIR/faultfs.so' FAULT_CALLS=$1 FAULT_AT=$2 FAULT_DO=$3 \
		FAULT_STICKY=1 FAULT_PATH=git-checkpoint/ ASAN_OPTIONS=verify_asan_link_order=0 \
		'$BUILD_DIR/git-checkpoint' \"\$@\""
}

test_a_full_disk() {
	make_template
	faulty write,pwrite,openat-create,mkdir 1 ENOSPC
	for n in 1 2 3; do
		undisturbed $n "PATH=$T/bin:$PATH"
	done
	told_once reset
	expect_grep 'No space left on device' "$T/told"
	expect_eq '' "$(checkpoints)"
}

test_a_disk_that_fills_up() {
	make_template
	for at in 2 4 7 11 16 22 29; do
		all_rounds || test $((at % 3)) = $((TEST_SEED % 3)) || continue
		faulty write,pwrite,rename,fsync,mkdir $at ENOSPC
		undisturbed 3 "PATH=$T/bin:$PATH"
		expect_grep '^checkpoint: ' "$T/err"
		# what is listed is sound
		test -z "$(checkpoints)" || git-checkpoint verify --all -q
	done
}

test_killed_in_the_middle() {
	make_template
	for at in 2 9; do
		faulty write,pwrite,rename,fsync $at kill
		undisturbed $((at % 2 + 1)) "PATH=$T/bin:$PATH"
		! all_rounds || undisturbed $((2 - at % 2)) "PATH=$T/bin:$PATH"
	done
}

test_a_program_that_crashes_or_is_none() {
	make_template
	other=1
	for text in 'kill -SEGV $$' 'exit 42' 'exec /nonexistent/program 2>/dev/null'; do
		instead "$text"
		undisturbed $other "PATH=$T/bin:$PATH"
		other=$((4 - other))
		! all_rounds || undisturbed $other "PATH=$T/bin:$PATH"
	done
}

test_a_store_that_is_corrupt() {
	make_template
	break='git-checkpoint save -q; echo garbage >"$(store_dir)/config"; : >"$(store_dir)/HEAD"
		for f in "$(store_dir)"/objects/pack/*; do chmod u+w "$f"; echo garbage >"$f"; done'
	undisturbed 3
	expect_grep '^checkpoint: ' "$T/err"
	break='mkdir -p "$(checkpoint_home)"; chmod 700 "$(checkpoint_home)"; : >"$(store_dir)"'
	undisturbed 3
	expect_grep '^checkpoint: ' "$T/err"
	break='git config checkpoint.lockTimeout nonsense'
	mend='git config --unset checkpoint.lockTimeout'
	undisturbed 3
	told_once reset
	expect_grep "lockTimeout" "$T/told"
}

# hold_lock: as another process would, for longer than any test takes
hold_lock() {
	git-checkpoint save -q
	echo more >>u.txt
	(exec 9<>"$(store_dir)/checkpoint/lock" && flock 9 && echo >"$T/locked" && exec sleep 1000) &
	holder=$!
	while ! test -e "$T/locked"; do sleep 0.1; done
	rm "$T/locked"
}

test_a_lock_that_is_held() {
	require flock
	make_template
	git -C "$T/template" config checkpoint.hookTimeout 2s
	for n in 1 3; do
		fresh "$(setup_of $n)"
		echo more >>u.txt
		# shellcheck disable=SC2046 # words
		run $(command_of $n)
		outcome >"$T/plain.$n"
		break=hold_lock
		undisturbed $n
		kill $holder 2>/dev/null || fail 'it waited for the lock'
	done
	told_once reset
}

# kill_with_children <pid>: one that nobody waits for any more
kill_with_children() {
	pids=$(cat "/proc/$1/task/$1/children" 2>/dev/null) || return 0
	# shellcheck disable=SC2086 # words
	kill "$1" $pids 2>/dev/null || :
}

end_filters() {
	for slow in $(cat "$T/slow" 2>/dev/null); do
		kill_with_children "$slow"
	done
}

test_what_hangs_is_given_up() {
	make_template
	# a filter that hangs, but only when we call it, which the guard does not need to
	INSTALL=install_hooks
	(
		cd "$T/template"
		git config checkpoint.hookTimeout 1s
		git config filter.slow.smudge 'test -z "$GIT_CHECKPOINT_IN_HOOK" || {
			echo $$ >>"$T/slow"; sleep 1000; echo >"$T/waited"; }; cat'
		echo 'd.txt filter=slow' >.git/info/attributes
	)
	trap end_filters EXIT
	undisturbed 1
	told_once rebase
	expect_grep 'hookTimeout' "$T/told"
	expect_missing "$T/waited"
	expect_eq '' "$(checkpoints)"
}

# reads [<call> <command>]: how many files a hook opens to read them; before one of them the command runs
reads() {
	FAULT_RUN=${2:-:} FAULT_PATH=$PWD/many with_faults open "${1:-0}" run \
		git-checkpoint hook pre-rebase main 2>"$T/err"
	cat "$T/faults"
}

# A disk so slow that the first checkpoint takes longer than a hook may: the next goes on from there.
test_what_was_read_is_kept() {
	make_template
	fresh :
	mkdir many
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		mkdir many/$i
		for j in 1 2 3 4 5 6 7 8 9 10; do echo $i $j >many/$i/$j; done
	done
	git config checkpoint.threads 1
	git config checkpoint.hookTimeout 10m
	# count them where there is another store
	GIT_CHECKPOINT_HOME=$T/other reads >"$T/all"
	expect_grep '^checkpoint: saved' "$T/err"
	# so slow that it gives up, with time left to keep what it has, even on a busy machine
	git config checkpoint.hookTimeout 15s
	reads 60 'sleep 6.5' >"$T/some"
	expect_grep "^checkpoint: not saved before rebase: .*hookTimeout.*% has been read and is kept, 'git checkpoint save'" "$T/err"
	expect_eq '' "$(checkpoints)"
	git --git-dir="$(store_dir)" fsck --strict
	git-checkpoint doctor >/dev/null
	git-checkpoint status >"$T/out"
	git config checkpoint.hookTimeout 10m
	# names are not known from a list that is not complete
	echo new >many/1/new
	rm many/2/2
	state >"$T/before"
	reads >"$T/rest"
	expect_grep '^checkpoint: saved' "$T/err"
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	git-checkpoint verify -q --all
	test "$(cat "$T/rest")" -le $(($(cat "$T/all") - 30)) ||
		fail "$(cat "$T/rest") of $(cat "$T/all") are read after $(cat "$T/some")"
}

# The rest is not lost for ignored files that take too long.
test_the_rest_is_saved_in_time() {
	make_template
	fresh dirty
	mkdir ign
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		mkdir ign/$i
		for j in 1 2 3 4 5 6 7 8 9 10; do echo $i $j >ign/$i/$j; done
	done
	echo ign/ >>.git/info/exclude
	git config checkpoint.threads 1
	git config checkpoint.hookTimeout 20s
	cat >"$T/monitor" <<-END
	#!/bin/sh
	exec env LD_PRELOAD="$BUILD_DIR/faultfs.so" ASAN_OPTIONS=verify_asan_link_order=0 FAULT_CALLS=open \
		FAULT_PATH=$PWD/ign FAULT_AT=60 FAULT_DO=run FAULT_RUN='sleep 8.5' git-checkpoint hook fsmonitor "\$@"
	END
	chmod +x "$T/monitor"
	git config core.fsmonitor "$T/monitor"
	git config core.fsmonitorHookVersion 2
	state >"$T/before"
	run git clean -q -fdx
	expect_grep '^checkpoint: saved chk_.* before clean, but ignored files are not in it: .*hookTimeout' "$T/err"
	stored | grep -v ' ign/' >"$T/stored"
	grep -v ' ign/' "$T/before" >"$T/wanted"
	expect_same "$T/wanted" "$T/stored"
}

test_places_that_are_refused() {
	make_template
	break='git config checkpoint.maxFiles 2'
	mend='git config --unset checkpoint.maxFiles'
	undisturbed 1
	told_once rebase
	undisturbed 3
	told_once reset
	mend=
	break=
	# the home directory itself
	fresh dirty
	$INSTALL
	HOME=$PWD run git reset -q --hard
	told_once reset
	expect_grep 'home directory' "$T/told"
	expect_missing "$(store_dir)"
}

# beside_git <command>...: as git calls a hook, without a rebase of its own
beside_git() {
	git -c alias.beside="!$*" beside
}

test_no_recursion() {
	make_template
	fresh dirty
	$INSTALL
	GIT_CHECKPOINT_IN_HOOK=1 run git reset -q --hard
	expect_eq '' "$(cat "$T/err")"
	expect_eq '' "$(checkpoints)"
	# hooks of the user's own, for all repositories, are not called by what we do
	mkdir "$T/global"
	printf '#!/bin/sh\necho "$0" >>"%s/called"\n' "$T" >"$T/global/post-index-change"
	chmod +x "$T/global/post-index-change"
	fresh 'git checkout -q feat; dirty'
	git config --global core.hooksPath "$T/global"
	git checkout -q -f feat
	dirty
	: >"$T/called"
	mkdir .git/rebase-merge
	git -c core.hooksPath=/dev/null stash create >.git/rebase-merge/autostash
	git -c core.hooksPath=/dev/null reset -q --hard
	beside_git git-checkpoint hook pre-rebase main 2>"$T/err"
	expect_grep '^checkpoint: saved' "$T/err"
	expect_eq '' "$(cat "$T/called")" 'hooks that were called'
}

test_the_repository_is_not_written() {
	make_template
	fresh 'git checkout -q feat; dirty'
	mkdir .git/rebase-merge
	git stash create >.git/rebase-merge/autostash
	git reset -q --hard
	git config core.splitIndex true
	fingerprint_raw . >"$T/before"
	beside_git git-checkpoint hook pre-rebase main 2>"$T/err"
	expect_grep '^checkpoint: saved' "$T/err"
	fingerprint_raw . >"$T/after"
	expect_same "$T/before" "$T/after"
}

run_tests
