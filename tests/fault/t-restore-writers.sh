#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that have a file open when a restore replaces or removes it, and write to it then: what
# they write is nowhere but in the file that was displaced.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# writer <path>: have it open, and write to it once as soon as $T/write is there; then $T/written is.
# It is closed when $T/close is there.
writer() {
	cat >"$T/writer.pl" <<-'END'
		use strict;
		sub await { my ($path) = @_; for (1 .. 3000) { return if -e $path; select undef, undef, undef, 0.01; } exit 1 }
		open my $file, '>>', $ARGV[0] or die;
		open my $up, '>', "$ENV{T}/up";
		await("$ENV{T}/write");
		syswrite $file, "precious\n";
		open my $done, '>', "$ENV{T}/written";
		await("$ENV{T}/close");
	END
	rm -f "$T/up" "$T/write" "$T/written" "$T/close"
	perl "$T/writer.pl" "$1" &
	writer_pid=$!
	until test -e "$T/up"; do
		sleep 0.01
	done
	cat >"$T/let-write.sh" <<-'END'
		: >"$T/write"
		until test -e "$T/written"; do sleep 0.01; done
		test -e "$T/stays-open" || : >"$T/close"
	END
}

# restored_while <calls> <number> <exit status>: let the writer write at that call
restored_while() {
	status=0
	FAULT_RUN="sh $T/let-write.sh" FAULT_PATH=$T/work with_faults "$1" "$2" run \
		git-checkpoint restore -y --json "$id" >"$T/restore.json" 2>"$T/restore.err" || status=$?
	: >"$T/write"
	: >"$T/close"
	wait $writer_pid
	expect_eq "$3" "$status" "exit status"
	no_litter
}

can_lease() {
	perl -MFcntl -e 'open my $f, ">", "probe"; open my $g, "<", "probe";
		exit !(!fcntl($g, 1024, 0) && $!{EAGAIN})' || skip 'no leases on this file system'
	rm probe
}

# kept <path>: what was written to it late is kept under the name that a warning has
kept() {
	expect_warned_like "^Kept: rescued-[0-9a-f]*/[0-9a-z/-]* (what was written to '$1' while it was restored)\$"
	file=$(sed -n "s/^Kept: \\(.*\\) (what was written to '$1' while.*/\\1/p" "$T/warnings")
	test ! -d "$file" || file=$file/$2
	expect_eq precious "$(tail -n 1 "$file")"
	rm -r rescued*
}

test_a_file_that_is_replaced() {
	can_lease
	echo 1 >a
	echo 1 >b
	save
	echo 2 >a
	echo 2 >b
	writer a
	# when the next one is put in place
	restored_while rename 2 3
	expect_eq '1 1' "$(contents a b)"
	expect_eq true "$(told .verification.match)"
	kept a
	restoring 0 undo -y
	expect_eq '2 2' "$(contents a b)"
}

test_a_file_that_is_removed() {
	can_lease
	save --allow-empty
	echo 2 >a
	echo 2 >b
	writer b
	restored_while rename 2 3
	expect_missing a b
	kept b
}

test_a_file_in_a_directory_that_makes_room() {
	can_lease
	echo 1 >a
	echo 1 >b
	save
	rm a
	mkdir -p a/deep
	echo 2 >a/deep/f
	echo 2 >b
	writer a/deep/f
	restored_while rename 2 3
	expect_eq '1 1' "$(contents a b)"
	kept a deep/f
}

# nothing was written yet; nobody can know whether something will be
test_a_file_that_stays_open_is_named() {
	can_lease
	echo 1 >a
	save
	echo 2 >a
	: >"$T/stays-open"
	writer a
	restored_while rename 99 0
	expect_eq 1 "$(cat a)"
	expect_warned "'a' was open for writing: what is written to it after the restore is lost"
}

# one that was closed in time is nothing to talk about
test_a_file_that_was_closed() {
	can_lease
	echo 1 >a
	save
	writer a
	sh "$T/let-write.sh"
	wait $writer_pid
	restore "$id"
	expect_eq 1 "$(cat a)"
	expect_not_warned open
}

# One that changed after the scan is put back; and by then it has changed again.
test_an_edit_while_an_edit_is_put_back() {
	cat >"$T/edit.sh" <<-'END'
		echo x >>"$T/count"
		case $(wc -l <"$T/count") in
		1) echo precious >a ;;
		# into it if it is a directory
		2) echo newest >"$T/new" && mv "$T/new" a ;;
		esac
	END
	for kind in file directory; do
		rm -rf a rescued* "$T/count"
		if test $kind = file; then
			echo 1 >a
		else
			mkdir a
			echo 1 >a/f
		fi
		save
		rm -r a
		echo 2 >a
		status=0
		FAULT_STICKY=1 FAULT_RUN="sh $T/edit.sh" FAULT_PATH=$T/work with_faults rename 1 run \
			git-checkpoint restore -y --json "$id" >"$T/restore.json" 2>"$T/restore.err" || status=$?
		file=a
		test $kind = file || file=a/new
		expect_eq newest "$(cat $file)" "$kind"
		expect_eq 4 "$status" 'exit status'
		expect_warned_like "^'a' changed during the restore"
		kept a
		no_litter
	done
}

# -q is about what went well.
test_the_paths_that_differ_are_named_even_if_quiet() {
	printf '%s\n' 'echo new >created' 'echo new >"b c"' 'echo precious >a' >"$T/edit.sh"
	echo 1 >a
	echo 1 >'b c'
	echo 1 >fine
	save
	rm a
	echo 2 >a
	echo 2 >fine
	for option in -q --json; do
		status=0
		FAULT_RUN="sh $T/edit.sh" FAULT_PATH=$T/work with_faults rename 1 run \
			git-checkpoint restore -y $option "$id" >"$T/restore.json" 2>"$T/restore.err" ||
			status=$?
		expect_eq 4 "$status" 'exit status'
		echo 3 >a
		echo 1 >'b c'
		rm -f created
		if test "$option" = --json; then
			expect_eq '["a","b c","created"]' \
				"$(json '.verification.differing | tostring' "$T/restore.json")"
		else
			expect_eq "error: 'a' is not as in the checkpoint
error: 'b c' is not as in the checkpoint
error: 'created' is not as in the checkpoint
error: the restored state does NOT match the checkpoint: stop and look; 'git checkpoint undo' goes back" \
				"$(cat "$T/restore.err")"
		fi
	done
	git-checkpoint restore -y --json "$id" >"$T/restore.json"
	expect_eq true "$(json .verification.match "$T/restore.json")"
	expect_eq false "$(json '.verification | has("differing")' "$T/restore.json")"
}

run_tests
