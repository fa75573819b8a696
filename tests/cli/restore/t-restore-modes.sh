#!/bin/sh
# SPDX-License-Identifier: MIT
# restore of modes, links and kinds, past read-only directories, and under running programs.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# nobody <command>...: as_nobody, with the answer where told() looks for it
nobody() {
	give_to_nobody "$T/work"
	nobody_status=0
	as_nobody git-checkpoint "$@" --json >"$T/restore.json" 2>"$T/restore.err" || nobody_status=$?
	test $nobody_status = 0 || {
		cat "$T/restore.json" "$T/restore.err"
		fail "exit status $nobody_status: $*"
	}
}

nobody_there_and_back() {
	nobody restore -y @
	expect_noted target
	nobody undo -y
	expect_noted before
	no_litter
}

test_every_mode_comes_back() {
	for mode in 0000 0400 0444 0600 0640 0666 0700 0755 0777 1755 2755 4755 6711 7777; do
		echo 1 >f$mode
		chmod $mode f$mode
		mkdir d$mode
		chmod $mode d$mode
	done
	save
	note target
	chmod 644 f*
	chmod 755 d*
	restore "$id"
	expect_noted target
	rm -r f* d*
	restore "$id"
	expect_noted target
	for f in f*; do
		chmod 600 "$f"
		echo 2 >"$f"
	done
	restore "$id"
	expect_noted target
}

# Setuid bits of others' making must not survive, and those of the checkpoint must.
test_special_bits_in_both_directions() {
	echo 1 >plain
	echo 1 >special
	mkdir dir
	chmod 6755 special
	chmod 3770 dir
	save
	note target
	chmod 6777 plain
	echo 2 >special
	chmod 755 special dir
	restore "$id"
	expect_noted target
}

test_modes_alone_keep_the_file() {
	echo 1 >a
	save
	chmod 600 a
	inode=$(stat -c '%i %Y' a)
	restore "$id"
	expect_eq "$inode 644" "$(stat -c '%i %Y %a' a)"
}

test_read_only_files() {
	mkdir d
	echo 1 >d/a
	echo 1 >d/b
	chmod 444 d/a d/b
	nobody save
	note target
	chmod 644 d/a d/b
	echo 2 >d/a
	rm d/b
	echo 2 >d/c
	chmod 444 d/a d/c
	note before
	nobody_there_and_back
}

test_read_only_directories() {
	mkdir -p ro/deep ro/gone keep
	echo 1 >ro/a
	echo 1 >ro/deep/a
	echo 1 >ro/gone/a
	echo 1 >keep/a
	chmod 555 ro/deep ro/gone ro keep
	nobody save
	note target
	chmod 755 ro ro/deep ro/gone
	echo 2 >ro/a
	rm -r ro/gone
	echo 2 >ro/deep/a
	mkdir ro/new
	echo 2 >ro/new/a
	echo 2 >ro/deep/b
	chmod 555 ro/new ro/deep ro
	note before
	nobody restore -y @
	expect_noted target
	nobody undo -y
	expect_noted before
	nobody redo -y
	expect_noted target
	no_litter
}

test_read_only_directories_change_kind() {
	echo 1 >x
	mkdir -p ro/d y/sub
	echo 1 >ro/f
	echo 1 >y/sub/a
	chmod 555 ro/d ro y/sub y
	nobody save
	note target
	rm x
	chmod 755 ro y y/sub
	rm -r ro/d ro/f y
	mkdir -p x/sub ro/f/sub
	echo 2 >x/sub/a
	echo 2 >ro/d
	echo 2 >ro/f/a
	echo 2 >y
	chmod 555 x/sub x ro/f/sub ro/f ro
	note before
	nobody_there_and_back
}

test_a_read_only_root() {
	echo 1 >a
	nobody save
	echo 2 >a
	echo 2 >b
	chmod 555 .
	give_to_nobody .
	nobody_status=0
	as_nobody git-checkpoint restore -y @ >"$T/out" 2>"$T/err" || nobody_status=$?
	# either it works and leaves the mode, or it says why and has touched nothing
	expect_eq 555 "$(stat -c %a .)"
	if test $nobody_status = 0; then
		expect_eq 1 "$(cat a)"
		expect_missing b
	else
		expect_grep 'Permission denied' "$T/err"
		expect_eq '2 2' "$(cat a) $(cat b)"
	fi
	chmod 755 .
	no_litter
}

# ---- links ----

test_links_are_never_followed() {
	mkdir "$T/victim" d
	echo victim >"$T/victim/a"
	chmod 600 "$T/victim/a"
	echo 1 >a
	echo 1 >d/a
	echo 1 >mode
	ln -s "$T/victim/a" link
	ln -s "$T/victim" dirlink
	ln -s nowhere dangling
	ln -s loop loop
	save
	note target
	fingerprint_raw "$T/victim" >"$T/victim.before"
	rm -r a d link dirlink dangling loop mode
	ln -s "$T/victim/a" a
	ln -s "$T/victim" d
	ln -s "$T/victim/a" mode
	echo 2 >./link
	mkdir dirlink
	echo 2 >dirlink/a
	ln -s loop dangling
	ln -s "$T/victim/a" new
	ln -s "$T/victim" newdir
	note before
	restore "$id"
	expect_noted target
	there_and_back
	fingerprint_raw "$T/victim" >"$T/victim.after"
	expect_same "$T/victim.before" "$T/victim.after"
}

test_hard_links_are_not_written_through() {
	echo 1 >a
	save
	echo other >"$T/other"
	chmod 640 "$T/other"
	rm a
	ln "$T/other" a
	restore "$id"
	expect_eq '1 other' "$(cat a) $(cat "$T/other")"
	expect_eq 640 "$(stat -c %a "$T/other")"
	# two names of one file in the tree
	rm a
	echo 2 >a
	ln a b
	save
	echo 3 >a
	expect_eq 3 "$(cat b)"
	restore "$id"
	expect_eq '2 2' "$(cat a) $(cat b)"
}

# ---- kinds ----

# make_kind <kind> <name> <contents>
make_kind() {
	case $1 in
	file) echo "$3" >"$2" ;;
	link) ln -s "$3" "$2" ;;
	empty) mkdir "$2" ;;
	dir)
		mkdir -p "$2/sub"
		echo "$3" >"$2/a"
		echo "$3" >"$2/sub/b"
		;;
	none) ;;
	esac
}

test_every_kind_becomes_every_other() {
	for from in file link empty dir none; do
		for to in file link empty dir none; do
			make_kind $from $from-$to 1
		done
	done
	save
	note target
	rm -r ./*
	for from in file link empty dir none; do
		for to in file link empty dir none; do
			make_kind $to $from-$to 2
		done
	done
	note before
	restore "$id"
	expect_noted target
	there_and_back
}

# Names that git sorts differently as a file and as a directory.
test_kinds_among_names_that_lie_close() {
	mkdir a a.d
	touch a/x a-b a.b a.d/x a0 ab
	save
	note target
	rm -r a a.d a0
	touch a a.d
	mkdir a0
	touch a0/x
	rm a-b
	mkdir a-b
	restore "$id"
	expect_noted target
}

# ---- in use ----

test_a_running_program_is_replaced() {
	cp "$(command -v sleep)" program
	chmod 755 program
	save
	note target
	printf x >>program
	note before
	./program 20 &
	pid=$!
	# busy: writing to it would fail; not tried before it runs, which that would prevent
	until test "$(readlink "/proc/$pid/exe")" = "$PWD/program"; do
		kill -0 $pid || fail 'the program does not run'
	done
	(: >>program) 2>&1 | grep -q busy
	restore "$id"
	expect_noted target
	kill -0 $pid || fail 'the program is gone'
	restoring 0 undo -y
	expect_noted before
	kill -0 $pid || fail 'the program is gone'
	kill $pid
}

test_an_open_file_keeps_its_reader() {
	echo old >a
	save
	echo new >a
	exec 3<a
	restore "$id"
	expect_eq new "$(cat <&3)"
	expect_eq old "$(cat a)"
}

test_owner_and_group_stay() {
	test "$(id -u)" = 0 || skip 'needs root'
	echo 1 >a
	echo 1 >b
	chown 1234:2345 a
	chmod 4755 a
	save
	echo 2 >a
	chmod 4755 a
	restore "$id"
	expect_eq '1234 2345 4755' "$(stat -c '%u %g %a' a)"
	mkdir d
	chgrp 2345 d
	chmod 2775 d
	echo 1 >d/a
	save
	rm d/a
	restore "$id"
	expect_eq 2345 "$(stat -c %g d/a)"
}

test_the_umask_does_not_matter() {
	echo 1 >a
	mkdir d
	echo 1 >d/b
	chmod 666 a
	chmod 777 d
	save
	note target
	rm -r a d
	(umask 077 && restore "$id")
	expect_noted target
	rm -r a d
	(umask 000 && restore "$id")
	expect_noted target
}

run_tests
