#!/bin/sh
# SPDX-License-Identifier: MIT
# A restore that is killed, or whose disk fails, at every call that changes a file; damaged and
# hostile checkpoints; a worktree that changes under it.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/strides.sh"

id= # of the checkpoint that was saved last

# damaged_tree: a checkpoint $target, noted as "target", and a worktree in which all that a plan
# knows has to be done, noted as "before"
damaged_tree() {
	mkdir -p d/e ro gone/deep swap1
	for file in a b d/x d/e/y ro/f gone/g gone/deep/h swap1/a swap2; do
		echo "old $file" >$file
	done
	ln -s a link
	ln -s b swap3
	chmod 555 ro
	printf '*.log\n' >.gitignore
	save
	target=$id
	note target
	chmod 755 ro
	rm -r gone swap1 swap2 swap3 link
	echo new >a
	chmod 600 b
	echo new >d/x
	echo new >ro/f
	echo new >swap1
	mkdir -p swap2/deep swap3 fresh/deep
	echo new >swap2/deep/a
	echo new >fresh/deep/a
	echo new >fresh/b
	ln -s b link
	# further names of files that change, and in what has to go
	ln a swap2/deep/linked
	ln b fresh/deep/linked
	ln swap2/deep/a d/linked
	chmod 700 d/e
	# ignored by the checkpoint's rules, not by those of today
	rm .gitignore
	echo precious >x.log
	note before
}

# keep, again: note, and go back to, what is in the worktree and the store
keep() {
	rm -rf "$T/kept"
	mkdir "$T/kept"
	cp -a "$T/work" "$XDG_STATE_HOME" "$T/kept"
}

again() {
	cd "$T"
	chmod -R u+rwx work
	rm -rf work "$XDG_STATE_HOME"
	cp -a "$T/${1:-kept}/work" "$T/${1:-kept}/state" "$T"
	cd work
}

# at_target, at_before <what>
at_target() {
	fingerprint . >"$T/fp.now"
	# what the checkpoint did not capture is still there
	grep -v ' x[.]log$' "$T/fp.now" >"$T/fp.now.rest"
	diff -u "$T/fp.target" "$T/fp.now.rest" || fail "$1: not the target"
	expect_eq precious "$(cat x.log)" "$1: what was ignored"
}

at_before() {
	fingerprint . >"$T/fp.now"
	diff -u "$T/fp.before" "$T/fp.now" || fail "$1: not the state before"
}

# settled <what>: nothing is left of it
settled() {
	no_litter
	restoring 1 restore --continue
	git-checkpoint status >/dev/null 2>"$T/err"
	expect_no_grep interrupted "$T/err"
	git-checkpoint verify -q --all || fail "$1: verify"
}

# killed_at <number> <what>: both ways out of a restore that was killed there
killed_at() {
	again
	killed "$1" "$total" git-checkpoint restore -q -y "$target" || return 0
	if test ! -e "$(store_dir)/checkpoint/journal"; then
		# not begun, or done
		fingerprint . | grep -v 'git-checkpoint-restore-' >"$T/fp.now"
		if ! cmp -s "$T/fp.before" "$T/fp.now"; then
			at_target "$2, no journal"
			restoring 0 undo -y
			at_before "$2, done, undone"
		fi
		restore "$target"
		at_target "$2, once more"
		no_litter
		return
	fi
	interrupted=$((interrupted + 1))
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
	restoring 0 restore --continue
	expect_eq true "$(told .verification.match)"
	at_target "$2, continued"
	settled "$2, continued"
	restoring 0 undo -y
	at_before "$2, continued, undone"
	again copy
	restoring 0 restore --abort
	at_before "$2, aborted"
	settled "$2, aborted"
}

# killed_everywhere <stride>
killed_everywhere() {
	interrupted=0
	keep
	with_faults "$CHANGES" 0 kill git-checkpoint restore -q -y "$target"
	total=$(cat "$T/faults")
	at_target 'not killed'
	test "$total" -ge 10 || fail "only $total calls"
	at=$(begin_at "$1")
	while test "$at" -le "$total"; do
		killed_at "$at" "killed at $at of $total"
		at=$((at + ${STEP:-$1}))
	done
	test $interrupted -gt 0 || fail 'never in the middle of it'
}

test_a_restore_can_be_killed_at_any_change_of_the_worktree() {
	damaged_tree
	CHANGES=rename,unlink
	FAULT_PATH=$T/work
	killed_everywhere 3
}

# at_every_chmod <noted before> <noted after> <command to run it with> <restore argument>...: killed
# there, continued and aborted
at_every_chmod() {
	was=$1 becomes=$2 who=$3
	shift 3
	keep
	# shellcheck disable=SC2086
	FAULT_PATH=$T/work with_faults chmod,rename 0 kill $who git-checkpoint restore -q -y "$@"
	total=$(cat "$T/faults")
	expect_noted "$becomes"
	at=0 interrupted=0
	while test $at -lt "$total"; do
		at=$((at + 1))
		for way in --continue --abort; do
			again
			# shellcheck disable=SC2086
			FAULT_PATH=$T/work expect_exit 137 with_faults chmod,rename $at kill \
				$who git-checkpoint restore -q -y "$@"
			test -e "$(store_dir)/checkpoint/journal" || continue
			interrupted=$((interrupted + 1))
			$who git-checkpoint restore -q $way
			test $way = --abort || expect_noted "$becomes"
			test $way = --continue || expect_noted "$was"
			no_litter
		done
	done
	test $interrupted -gt 0 || fail 'never in the middle of it'
}

# Directories that are only on the way are in no checkpoint of the paths, their modes neither.
test_modes_of_directories_on_the_way() {
	mkdir -p d/e/f
	chmod 2755 d/e
	chmod 750 d
	echo x >d/e/f/in
	echo y >y
	save
	note target
	rm -r d
	note before
	at_every_chmod before target '' "$id" d/e/f/in
}

test_modes_of_read_only_directories_on_the_way() {
	who=
	if test "$(id -u)" = 0; then
		require setpriv
		who="setpriv --reuid=$(id -u nobody) --regid=$(id -g nobody) --clear-groups"
	fi
	mkdir -p d/e
	echo 2 >d/e/in
	chmod 555 d d/e
	note target
	give_to_nobody "$T"
	as_nobody git-checkpoint save -q
	echo 1 >"$T/other"
	chmod 755 d/e
	cat "$T/other" >d/e/in
	chmod 555 d/e
	note before
	at_every_chmod before target "$who" @ d/e/in
}

test_a_restore_can_be_killed_anywhere() {
	damaged_tree
	killed_everywhere 11
}

# ... and so can what settles it.
test_continue_and_abort_can_be_killed_too() {
	damaged_tree
	keep
	FAULT_PATH=$T/work
	with_faults rename 0 kill git-checkpoint restore -q -y "$target"
	renames=$(cat "$T/faults")
	again
	expect_exit 137 with_faults rename $((renames / 2)) kill git-checkpoint restore -q -y "$target"
	keep
	for way in --continue --abort; do
		again
		with_faults "$CHANGES" 0 kill git-checkpoint restore -q $way
		total=$(cat "$T/faults")
		at=$(begin_at 9)
		while test "$at" -le "$total"; do
			again
			killed "$at" "$total" git-checkpoint restore -q $way || break
			if test -e "$(store_dir)/checkpoint/journal"; then
				rm -rf "$T/copy"
				mkdir "$T/copy"
				cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
				restoring 0 restore --continue
				at_target "$way killed at $at, continued"
				again copy
				restoring 0 restore --abort
				at_before "$way killed at $at, aborted"
				settled "$way killed at $at"
			fi
			at=$((at + ${STEP:-9}))
		done
	done
}

test_undo_can_be_killed() {
	damaged_tree
	restore "$target"
	keep
	FAULT_PATH=$T/work
	with_faults rename,unlink 0 kill git-checkpoint undo -q -y
	total=$(cat "$T/faults")
	at=$(begin_at 6)
	while test "$at" -le "$total"; do
		again
		expect_exit 137 with_faults rename,unlink "$at" kill git-checkpoint undo -q -y
		if test -e "$(store_dir)/checkpoint/journal"; then
			rm -rf "$T/copy"
			mkdir "$T/copy"
			cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
			restoring 0 restore --continue
			at_before "undo killed at $at, continued"
			restoring 0 redo -y
			at_target "undo killed at $at, continued, redone"
			again copy
			restoring 0 restore --abort
			at_target "undo killed at $at, aborted"
			restoring 0 undo -y
			at_before "undo killed at $at, aborted, undone"
		fi
		at=$((at + ${STEP:-6}))
	done
}

# At any instant, not only between calls.
test_a_restore_can_be_killed_at_random_instants() {
	damaged_tree
	keep
	interrupted=0
	for delay in 0.01 0.02 0.03 0.04 0.06 0.08; do
		again
		git-checkpoint restore -q -y "$target" >/dev/null 2>&1 &
		pid=$!
		sleep $delay
		kill -9 $pid 2>/dev/null || :
		wait $pid 2>/dev/null || :
		restoring_status=0
		git-checkpoint restore -q --continue >/dev/null 2>&1 || restoring_status=$?
		test $restoring_status != 1 || restore "$target"
		at_target "killed after $delay"
	done
}

# interrupt: a restore that is killed in the middle
interrupt() {
	keep
	FAULT_PATH=$T/work
	with_faults rename 0 kill git-checkpoint restore -q -y "$target"
	total=$(cat "$T/faults")
	again
	expect_exit 137 with_faults rename $((total / 2)) kill git-checkpoint restore -q -y "$target"
	expect_exists "$(store_dir)/checkpoint/journal"
	FAULT_PATH=
}

test_an_interrupted_restore_is_talked_about() {
	damaged_tree
	interrupt
	for command in 'list' 'status' 'log' 'diff' 'show @' 'verify' 'config' 'save'; do
		# shellcheck disable=SC2086
		git-checkpoint $command >"$T/out" 2>"$T/err" || fail "$command: exit status $?"
		expect_grep 'restore --continue' "$T/err"
	done
	for command in 'restore -y @' 'restore -n @' 'undo -y' 'redo -y'; do
		# shellcheck disable=SC2086
		untouched restoring 5 $command
		refused --continue --abort
	done
	restoring 129 restore --continue @
	restoring 0 restore --abort
	at_before 'after all that'
}

test_edits_after_the_interruption_are_saved() {
	damaged_tree
	interrupt
	echo later >a
	echo later >later
	before=$(git-checkpoint list 2>/dev/null | wc -l)
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
	restoring 0 restore --continue
	at_target continued
	expect_eq 'later later' "$(held_by "$(safety)" a) $(held_by "$(safety)" later)"
	test "$(git-checkpoint list | wc -l)" -gt "$before" || fail 'no further checkpoint'
	again copy
	restoring 0 restore --abort
	at_before aborted
	expect_eq 'later later' "$(held_by "$(safety)" a) $(held_by "$(safety)" later)"
}

# ---- file systems that know less ----

# lacking <what>: from here on the program meets a file system without it, see faultfs.c
lacking() {
	mkdir -p "$T/bin"
	cat >"$T/bin/git-checkpoint" <<-END
		#!/bin/sh
		exec env LD_PRELOAD="$BUILD_DIR/faultfs.so" FAULT_LACKS="$1" \
			FAULT_CALLS="\${FAULT_CALLS:-rename}" FAULT_PATH="\${FAULT_PATH:-$T/work}" \
			"$BUILD_DIR/git-checkpoint" "\$@"
	END
	chmod +x "$T/bin/git-checkpoint"
	PATH=$T/bin:$PATH
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
	export ASAN_OPTIONS
}

# Both ends are reached from everywhere, though there is no exchange.
killed_without() {
	lacking "$1"
	damaged_tree
	CHANGES=rename,link,unlink
	FAULT_PATH=$T/work
	killed_everywhere "$2"
}

test_without_exchange() {
	killed_without exchange 7
}

test_without_exchange_and_noreplace() {
	killed_without exchange,noreplace 7
}

test_without_exchange_and_noreplace_and_links() {
	killed_without exchange,noreplace,link 9
}

# As in containers, where directories of lower layers stay where they are.
test_without_redirect() {
	killed_without redirect 7
}

test_without_redirect_and_exchange_and_noreplace() {
	killed_without redirect,exchange,noreplace 9
}

# room_for_a_file: a directory where the checkpoint $id has a file
room_for_a_file() {
	test ! -d d || chmod -R u+rwx d
	rm -rf d rescued*
	mkdir -p d/deep d/more
	echo 2 >d/deep/a
	echo 2 >d/more/b
	chmod 510 d/deep d/more
}

# What is written into such a directory while it is taken apart, also under a name that was moved
# already, stays, or is in a checkpoint.
test_without_redirect_nothing_new_is_lost() {
	lacking redirect
	echo 1 >d
	save
	rm d
	cat >"$T/write.sh" <<-'END'
		for file in d/new d/deep/new d/deep/a; do
			test ! -d "$(dirname $file)" || {
				echo "precious $file" >$file
				echo $file >>"$T/written"
			}
		done
	END
	room_for_a_file
	FAULT_PATH=$T/work with_faults rename,unlink 0 run git-checkpoint restore -q -y "$id"
	total=$(cat "$T/faults")
	stayed=0 stopped=0
	for at in $(seq "$total"); do
		room_for_a_file
		rm -f "$T/written"
		status=0
		FAULT_RUN="sh $T/write.sh" FAULT_PATH=$T/work with_faults rename,unlink "$at" run \
			git-checkpoint restore -q -y "$id" 2>"$T/err" || status=$?
		case $status in
		0) ;;
		4) stayed=$((stayed + 1)) ;;
		128)
			stopped=$((stopped + 1))
			# 3: it had to keep something
			git-checkpoint restore --continue --json >"$T/restore.json" 2>"$T/restore.err" ||
				test $? = 3 || fail "at $at: $(cat "$T/restore.err")"
			expect_eq 1 "$(cat d)" "at $at"
			;;
		*) fail "exit status $status at $at of $total" ;;
		esac
		no_litter
		cat "$T/written" 2>/dev/null | while read -r file; do
			case $status in
			128) test "$(held_by "$(safety)" "$file")" = "precious $file" ||
				grep -rqx "precious $file" rescued* ;;
			*) test "$(cat "$file")" = "precious $file" ;;
			esac || fail "at $at of $total: $file is lost"
		done
	done
	test $stayed -gt 0 || fail 'nothing stayed'
	test $stopped -gt 0 || fail 'never stopped half-way'
}

# A file that comes into being between the two steps is not overwritten.
test_without_exchange_nothing_new_is_overwritten() {
	for lack in exchange exchange,noreplace; do
		lacking $lack
		rm -f a d
		echo 1 >a
		echo 1 >d
		save
		echo 2 >a
		cat >"$T/make.sh" <<-'END'
			test -e "$T/work/a" || test -e "$T/made" || {
				echo precious >"$T/work/a"
				: >"$T/made"
			}
		END
		rm -f "$T/made"
		status=0
		FAULT_STICKY=1 FAULT_RUN="sh $T/make.sh" FAULT_PATH=$T/work with_faults rename,link 1 run \
			git-checkpoint restore -y --json "$id" >"$T/restore.json" 2>"$T/restore.err" || status=$?
		expect_exists "$T/made"
		expect_eq precious "$(cat a)" "$lack"
		expect_eq 4 $status "$lack: exit status"
		expect_warned_like "'a' changed while it was to be restored"
		expect_eq 2 "$(held_by "$(safety)" a)"
		no_litter
	done
}

# ... nor one that is written just before.
test_without_exchange_an_edit_is_put_back() {
	lacking exchange
	echo 1 >a
	save
	echo 2 >a
	status=0
	FAULT_RUN="echo precious >$T/work/a" FAULT_PATH=$T/work with_faults rename 1 run \
		git-checkpoint restore -y --json "$id" >"$T/restore.json" 2>"$T/restore.err" || status=$?
	expect_eq precious "$(cat a)"
	expect_eq 4 $status 'exit status'
	no_litter
}

# Modes that it cannot hold are said before anything is touched; those that it has are no obstacle.
test_without_chmod() {
	mkdir d
	chmod 700 d .
	umask 077
	echo 1 >a
	echo 1 >d/b
	save
	first=$id
	rm a
	echo 2 >d/b
	rm -r d
	note before
	lacking chmod
	restore "$first"
	expect_eq '1 1' "$(contents a d/b)"
	restoring 0 undo -y
	expect_noted before
	mkdir d
	echo 1 >d/b
	chmod 644 d/b
	save
	second=$id
	rm d/b
	untouched restoring 5 restore -y "$second"
	refused d/b 0644
	no_litter
	echo 1 >d/b
	untouched restoring 5 restore -y "$second"
	refused d/b 0644
	no_litter
}

# ---- a disk that fails ----

# failing_everywhere <error> <calls> <stride>: nothing is deleted, it is said, and it can be finished
failing_everywhere() {
	keep
	with_faults "$2" 0 "$1" git-checkpoint restore -q -y "$target"
	total=$(cat "$T/faults")
	test "$total" -ge 3 || fail "only $total calls"
	at=$(begin_at "$3")
	while test "$at" -le "$total"; do
		again
		what="$1 at $at of $2${FAULT_STICKY:+ and from then on}"
		status=0
		with_faults "$2" "$at" "$1" git-checkpoint restore -y --json "$target" \
			>"$T/restore.json" 2>"$T/restore.err" || status=$?
		if test -e "$(store_dir)/checkpoint/journal"; then
			test $status = 128 || fail "$what: exit status $status"
			expect_grep 'continue' "$T/restore.err"
			# nothing was deleted unless all was written
			if test ! -e fresh/b; then
				expect_eq 'old a' "$(cat a)" "$what"
			fi
			restoring 0 restore --continue
			at_target "$what, continued"
		elif test $status = 0; then
			at_target "$what, done"
		else
			test $status = 128 || test $status = 5 || fail "$what: exit status $status"
			expect_grep '^\(fatal\|error\): ' "$T/restore.err"
			fingerprint . | grep -v 'git-checkpoint-restore-' >"$T/fp.now"
			diff -u "$T/fp.before" "$T/fp.now" || fail "$what: touched"
			restore "$target"
			at_target "$what, once more"
		fi
		settled "$what"
		at=$((at + ${STEP:-$3}))
	done
}

test_a_full_disk_in_the_worktree() {
	damaged_tree
	FAULT_PATH=$T/work FAULT_STICKY=1
	failing_everywhere ENOSPC write,pwrite,openat-create,mkdir 5
}

test_a_full_disk_in_the_store() {
	damaged_tree
	FAULT_PATH=$T/state FAULT_STICKY=1
	failing_everywhere ENOSPC write,pwrite,openat-create,mkdir 6
}

test_a_bad_disk() {
	damaged_tree
	failing_everywhere EIO write,pwrite,fsync,fdatasync,rename,unlink 12
}

# syncs <text>: how often a restore syncs something with that in its path
syncs() {
	again
	FAULT_PATH=$1 with_faults fsync 0 kill git-checkpoint restore -q -y "$target"
	cat "$T/faults"
}

# Before the journal is closed, which may lie on another disk. Links cannot be synced themselves.
test_all_that_a_restore_brings_back_is_synced() {
	mkdir -p dir/below bits
	ln -s somewhere dir/below/link
	echo 1 >file
	save
	target=$id
	rm -r dir
	chmod 600 file
	chmod 700 bits
	keep
	for path in /below work/dir work/file work/bits; do
		test "$(syncs $path)" = 1 || fail "'$path' was not synced, or more than once"
	done
}

test_a_disk_that_is_really_full() {
	test "$(id -u)" = 0 || skip 'needs root'
	mkdir "$T/small"
	mount -t tmpfs -o size=1m none "$T/small" 2>/dev/null || skip 'cannot mount'
	trap 'cd /; umount "$T/small"' EXIT
	cd "$T/small"
	noise 300000 >large
	echo 1 >a
	save
	note target
	rm large
	echo 2 >a
	echo 2 >new
	note before
	dd if=/dev/zero of=fill bs=1k 2>/dev/null || :
	note full
	restoring_status=0
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err" || restoring_status=$?
	test $restoring_status = 128 || test $restoring_status = 5 || fail "exit status $restoring_status"
	expect_grep 'No space left' "$T/err"
	expect_noted full
	rm fill
	restore "$id"
	expect_noted target
	no_litter
}

# ---- damaged checkpoints ----

# flip <object> [<offset>]
flip() {
	for index in "$(store_dir)"/objects/pack/*.idx; do
		at=$(git show-index <"$index" | awk -v o="$1" '$2 == o { print $1 }')
		test -z "$at" || break
	done
	chmod 600 "${index%.idx}.pack"
	perl -e 'open my $f, "+<:raw", $ARGV[0] or die; seek $f, $ARGV[1], 0; read $f, my $b, 1;
		seek $f, $ARGV[1], 0; print $f chr(ord($b) ^ 0x55)' "${index%.idx}.pack" $((at + ${2:-12}))
}

test_a_damaged_target_is_refused() {
	mkdir d
	noise 2000 >d/one
	save
	first=$id
	noise 2000 >d/two
	save
	second=$id
	rm d/two
	echo 3 >d/three
	save
	third=$id
	echo 4 >d/four
	flip "$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$second:d/two")" 60
	untouched restoring 128 restore -y "$second"
	refused "$second" d/two
	untouched restoring 128 restore -y "$second" d
	refused "$second" d/two
	untouched restoring 128 restore -y "$second" d/two
	refused "$second" d/two
	no_litter
	restore "$second" d/one
	restore "$first"
	restore "$third"
	flip "$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$second:d")"
	untouched restoring 128 restore -y "$second"
	refused "$second"
	restore "$first"
}

# ---- hostile checkpoints ----

# hostile <file with the tree's bytes>: a checkpoint like $id, but of that tree
hostile() {
	store=$(store_dir)
	tree=$(git --git-dir="$store" hash-object -t tree -w --literally --stdin <"$1")
	commit=$(git --git-dir="$store" cat-file commit "refs/checkpoints/$id" | sed "s/^tree .*/tree $tree/" |
		git --git-dir="$store" hash-object -t commit -w --literally --stdin)
	echo "$commit" >"$store/refs/checkpoints/$id"
}

# entry <mode> <name> <object>: bytes of a tree
entry() {
	perl -e 'print "$ARGV[0] $ARGV[1]\0", pack "H*", $ARGV[2]' "$1" "$2" "$3"
}

test_hostile_trees_are_refused() {
	mkdir d "$T/victim"
	echo 1 >a
	echo victim >"$T/victim/x"
	ln -s "$T/victim" link
	save
	store=$(store_dir)
	cp "$store/refs/checkpoints/$id" "$T/ref"
	blob=$(echo hacked | git --git-dir="$store" hash-object -w --stdin)
	link=$(printf %s "$T/victim" | git --git-dir="$store" hash-object -w --stdin)
	sub=$(entry 100644 x "$blob" | git --git-dir="$store" hash-object -t tree -w --literally --stdin)
	up=$(entry 40000 victim "$sub" | git --git-dir="$store" hash-object -t tree -w --literally --stdin)
	echo 2 >a
	fingerprint_raw "$T/victim" >"$T/victim.before"
	n=0
	for words in "40000 .. $up" "100644 .. $blob" "100644 . $blob" "40000 .git $sub" "40000 .GIT $sub" \
		"100644 .git $blob" "100644 ../x $blob" "100644 d/x $blob" "100644 /x $blob" \
		"120000 a $link 40000 a $sub" "100644 a $blob 100644 a $blob" "160000 a $blob" \
		"120000 link $link 40000 link $sub" "100644  $blob"; do
		n=$((n + 1))
		: >"$T/tree"
		printf '%s\n' "$words" | sed 's/\([0-9a-f]\{40\}\) */\1\n/g' | sed '/^$/d' >"$T/entries"
		while IFS= read -r line; do
			mode=${line%% *} rest=${line#* }
			entry "$mode" "${rest%% *}" "${rest#* }" >>"$T/tree"
		done <"$T/entries"
		cp "$T/ref" "$store/refs/checkpoints/$id"
		hostile "$T/tree"
		case $words in
		*.GIT*)
			# a name like any other where case counts, but no way into .git
			restoring_status=0
			git-checkpoint restore -y "$id" >/dev/null 2>&1 || restoring_status=$?
			expect_missing .git
			rm -rf .GIT
			echo 2 >a
			;;
		*)
			untouched restoring 128 restore -y "$id"
			refused "$id"
			# one level deeper
			inner=$(git --git-dir="$store" hash-object -t tree -w --literally --stdin <"$T/tree")
			entry 40000 d "$inner" >"$T/outer"
			cp "$T/ref" "$store/refs/checkpoints/$id"
			hostile "$T/outer"
			untouched restoring 128 restore -y "$id"
			;;
		esac
	done
	test $n -gt 10
	fingerprint_raw "$T/victim" >"$T/victim.after"
	expect_same "$T/victim.before" "$T/victim.after"
	expect_missing "$T/x"
	no_litter
}

# A link whose target holds a NUL, or none at all.
test_hostile_links_are_refused() {
	echo 1 >a
	save
	store=$(store_dir)
	echo 2 >a
	for text in '' 'x\000y'; do
		# shellcheck disable=SC2059
		link=$(printf "$text" | git --git-dir="$store" hash-object -w --stdin)
		entry 120000 a "$link" >"$T/tree"
		hostile "$T/tree"
		untouched restoring 128 restore -y "$id"
	done
}

# ---- a worktree that changes meanwhile ----

test_a_directory_that_becomes_a_link_meanwhile() {
	mkdir "$T/victim" d
	for n in 1 2 3 4 5 6 7 8; do
		echo victim >"$T/victim/f$n"
		echo 1 >d/f$n
	done
	echo victim >"$T/victim/precious"
	save
	fingerprint_raw "$T/victim" >"$T/victim.before"
	# It does the damage, too, while the directory is out of reach: nobody else writes through the link.
	cat >"$T/swap.pl" <<-'END'
		srand $ENV{TEST_SEED};
		my $n = 0;
		my $aside = "$ENV{T}/aside";
		until (-e "$ENV{T}/enough") {
			rename 'd', $aside or next;
			# A restore may have brought the link itself back; writing goes through no link.
			if (-l $aside) { unlink $aside; mkdir $aside; }
			symlink "$ENV{T}/victim", 'd' or die;
			if (open my $h, '>', "$aside/f" . (1 + $n++ % 8)) { print $h "edit $n\n"; }
			if (open my $h, '>', "$aside/precious") { print $h "new\n"; }
			select undef, undef, undef, rand 0.004;
			unlink 'd';
			rename $aside, 'd';
			select undef, undef, undef, rand 0.02;
		}
	END
	perl "$T/swap.pl" &
	pid=$!
	rounds=0 wrote=0 begin=$(date +%s) seconds=0
	# for some seconds, and on a busy machine until it could matter
	while test $seconds -lt "${CKPT_TEST_SECONDS:-6}" ||
		{ test $seconds -lt 60 && test $((rounds > 5 && wrote > 0)) = 0; }; do
		rounds=$((rounds + 1))
		rc=0
		git-checkpoint restore -q -y "$id" >/dev/null 2>&1 || rc=$?
		case $rc in
		0 | 3 | 4) wrote=$((wrote + 1)) ;;
		esac
		git-checkpoint restore -q --abort >/dev/null 2>&1 || :
		seconds=$(($(date +%s) - begin))
	done
	: >"$T/enough"
	wait $pid || :
	test $rounds -gt 5 && test $wrote -gt 0 || fail "$rounds rounds, of which $wrote were restores"
	fingerprint_raw "$T/victim" >"$T/victim.after"
	expect_same "$T/victim.before" "$T/victim.after"
}

# A file that is written between the scan and the rename is put back, and said.
test_files_that_are_written_meanwhile_are_not_lost() {
	n=0
	while test $n -lt 40; do
		n=$((n + 1))
		echo 1 >f$n
	done
	save
	n=0
	while test $n -lt 40; do
		n=$((n + 1))
		echo 2 >f$n
	done
	cat >"$T/write.pl" <<-'END'
		srand $ENV{TEST_SEED};
		my $n = 0;
		while (!-e "$ENV{T}/stop") {
			my $f = 'f' . (1 + int rand 40);
			open my $h, '>>', $f or next;
			syswrite $h, "edit " . ++$n . "\n";
			close $h;
			select undef, undef, undef, 0.002;
		}
		open my $h, '>', "$ENV{T}/edits";
		print $h $n;
	END
	perl "$T/write.pl" &
	pid=$!
	for _ in 1 2 3 4 5 6; do
		git-checkpoint restore -q -y "$id" >/dev/null 2>&1 || :
		sleep 0.05
	done
	touch "$T/stop"
	wait $pid || :
	edits=$(cat "$T/edits")
	# every edit is in a file or in a checkpoint
	{
		cat f*
		git --git-dir="$(store_dir)" for-each-ref --format='%(refname)' refs/checkpoints |
			while read -r ref; do
				git --git-dir="$(store_dir)" archive "$ref" | tar -xO
			done
	} | grep '^edit' | sort -u >"$T/found"
	lost=$((edits - $(wc -l <"$T/found")))
	test $lost -le 0 || fail "$lost of $edits edits are lost"
}

run_tests
