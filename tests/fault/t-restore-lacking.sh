#!/bin/sh
# SPDX-License-Identifier: MIT
# Restores on file systems that know less than others, and what is left of those that are killed there.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/restore-faults.sh"

id= # of the checkpoint that was saved last

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
	# shellcheck disable=SC2034 # for killed_everywhere()
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

# Somebody who writes faster than it can be taken apart is not waited for, and loses nothing either.
test_without_redirect_a_writer_that_never_stops() {
	lacking redirect
	echo 1 >d
	save
	rm d
	room_for_a_file
	cat >"$T/write.sh" <<-'END'
		n=$(($(cat "$T/n") + 1))
		test $n -le 1000 && test -d d/deep || exit 0
		echo "precious $n" >d/deep/new$n
		echo $n >"$T/n"
	END
	echo 0 >"$T/n"
	status=0
	FAULT_STICKY=1 FAULT_RUN="sh $T/write.sh" FAULT_PATH=$T/work with_faults unlink 1 run \
		git-checkpoint restore -q -y "$id" 2>"$T/err" || status=$?
	n=$(cat "$T/n")
	test "$n" -gt 1 || fail 'nothing was written'
	test "$n" -lt 1000 || fail 'it went on for as long as there was somebody who wrote'
	expect_eq 128 $status
	expect_grep "unable to write 'd': Device or resource busy" "$T/err"
	git-checkpoint restore --continue --json >"$T/restore.json" 2>"$T/restore.err" || expect_eq 3 $?
	expect_eq 1 "$(cat d)"
	no_litter
	safety=$(safety)
	for i in $(seq "$n"); do
		grep -rqx "precious $i" rescued* || test "$(held_by "$safety" d/deep/new$i)" = "precious $i" ||
			fail "what was written at $i of $n is lost"
	done
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
		expect_warned_like "'a' changed during the restore"
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

# Modes that it cannot hold are said before anything is touched; those that it has do not matter.
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

run_tests
