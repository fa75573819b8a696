#!/bin/sh
# SPDX-License-Identifier: MIT
# What cannot be captured is named, recorded and shown in exit status and confidence.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

# expect_incomplete <confidence>: of the answer, and of what is recorded
expect_incomplete() {
	expect_eq "$1" "$(answer .confidence)" confidence
	git checkpoint show --json @ >"$T/show.json"
	expect_eq "$1" "$(json .confidence "$T/show.json")" 'recorded confidence'
	expect_eq "$(answer '.skipped | tostring')" "$(json '.skipped | tostring' "$T/show.json")" \
		'recorded as skipped'
}

test_special_files_are_named_and_never_opened() {
	git init -q
	: >file
	mkfifo fifo
	mkdir sub
	perl -MSocket -e 'socket my $s, PF_UNIX, SOCK_STREAM, 0; bind $s, sockaddr_un("sub/socket") or die'
	set -- fifo special sub/socket special
	if test "$(id -u)" = 0 && mknod device c 1 3 2>/dev/null; then
		mknod block b 7 99
		set -- block special device special "$@"
	fi
	timeout 20 git checkpoint save --json >"$T/save.json"
	expect_captured file sub/
	expect_skipped "$@"
	expect_incomplete 1
	# by name, too
	timeout 20 git checkpoint save --json -- fifo >"$T/save.json"
	expect_captured
	expect_skipped fifo special
}

# The directories on the way are not in the scope.
test_a_scope_of_which_nothing_can_be_captured() {
	git init -q
	mkdir -p a/b
	mkfifo a/b/fifo
	: >a/b/file
	: >a/b/closed
	chmod 0 a/b/closed
	give_to_nobody .
	as_nobody git checkpoint save --json -- a/b/fifo >"$T/save.json"
	expect_captured
	expect_skipped a/b/fifo special
	expect_exit 3 as_nobody git checkpoint save --json -- a/b/closed >"$T/save.json"
	expect_captured
	expect_skipped a/b/closed unreadable
	expect_incomplete 0
}

# Brought back it would run with the rights of who restores it.
test_a_set_id_program_of_another_user_is_left_alone() {
	test "$(id -u)" = 0 || skip 'needs root'
	echo 1 >a
	for mode in 4755 2755 6755; do
		echo evil >evil.$mode
		chown nobody evil.$mode
		chmod $mode evil.$mode
	done
	# of one's own, and without the bits, all is exact
	echo mine >mine
	chmod 6755 mine
	echo theirs >theirs
	chown nobody theirs
	save
	expect_skipped evil.2755 special evil.4755 special evil.6755 special
	rm evil.4755 mine theirs
	echo 2 >a
	git-checkpoint restore -q -y @
	expect_missing evil.4755
	expect_eq '6755 root' "$(stat -c '%a %U' mine)"
	expect_exists theirs
	expect_eq '2755 nobody' "$(stat -c '%a %U' evil.2755)"
}

test_a_special_file_in_the_place_of_a_rule_file() {
	git init -q
	: >file
	mkfifo .gitignore
	mkfifo .gitattributes
	timeout 20 git checkpoint save --json >"$T/save.json"
	expect_captured file
	expect_skipped .gitattributes special .gitignore special
}

test_an_unreadable_file() {
	git init -q
	echo 1 >a
	echo 1 >b
	echo 1 >c
	echo 1 >closed
	chmod 0 closed
	give_to_nobody .
	expect_exit 3 as_nobody git checkpoint save --json >"$T/save.json"
	expect_eq true "$(answer .checkpoint_created)"
	expect_captured a b c
	expect_skipped closed unreadable
	expect_incomplete 0.75
	expect_warning "^'closed' could not be read"
	# nothing changed: the same answer, and the same exit status
	expect_exit 3 as_nobody git checkpoint save --json >"$T/save.json"
	expect_eq false "$(answer .checkpoint_created)"
	expect_skipped closed unreadable
	expect_incomplete 0.75
	# what can be read again is a change
	chmod 600 closed
	as_nobody git checkpoint save --json >"$T/save.json"
	expect_eq true "$(answer .checkpoint_created)"
	expect_captured a b c closed
	expect_skipped
	expect_incomplete 1
}

test_an_unreadable_directory() {
	git init -q
	mkdir -p closed/sub searchable
	echo 1 >a
	echo 1 >closed/sub/file
	echo 1 >searchable/file
	chmod 0 closed
	chmod 711 searchable
	chmod a-r searchable
	give_to_nobody .
	expect_exit 3 as_nobody git checkpoint save --json >"$T/save.json"
	expect_captured a
	expect_skipped closed unreadable searchable unreadable
	expect_eq 0.333 "$(answer .confidence | cut -c1-5)"
	git checkpoint show --hashes @ >"$T/hashes"
	expect_eq 1 "$(tr '\0' '\n' <"$T/hashes" | wc -l)" 'lines of the state'
}

test_a_file_that_becomes_unreadable_is_not_taken_from_the_cache() {
	git init -q
	echo 1 >a
	echo 1 >b
	give_to_nobody .
	as_nobody git checkpoint save -q
	chmod 0 b
	expect_exit 3 as_nobody git checkpoint save --json >"$T/save.json"
	expect_captured a
	expect_skipped b unreadable
}

test_an_incomplete_checkpoint_is_told_on_the_terminal() {
	: >a
	: >closed
	chmod 0 closed
	give_to_nobody .
	expect_exit 3 as_nobody git checkpoint save 2>"$T/stderr" >/dev/null
	expect_grep "^warning: 'closed' could not be read" "$T/stderr"
	expect_grep 'incomplete: 1 path' "$T/stderr"
}

test_a_root_that_cannot_be_read_is_no_checkpoint() {
	: >file
	chmod 311 .
	give_to_nobody .
	expect_exit 128 as_nobody git checkpoint save --json >"$T/save.json"
	expect_eq 128 "$(answer .error.code)"
	chmod 755 .
	expect_exit 128 as_nobody git checkpoint show @ 2>/dev/null
}

test_files_over_the_limit() {
	git init -q
	head -c 1000 /dev/zero >just
	head -c 1001 /dev/zero >over
	head -c 5000 /dev/zero >tracked
	git add tracked
	: >small
	git config checkpoint.maxFileSize 1000
	expect_exit 3 save
	expect_captured just small
	expect_skipped over oversize tracked oversize
	expect_incomplete 0.5
	expect_warning "^'over' is larger than maxFileSize"
	expect_exit 3 save
	expect_eq false "$(answer .checkpoint_created)"
	git config checkpoint.maxFileSize 1k
	GIT_CHECKPOINT_MAX_FILE_SIZE=none save
	expect_captured just over small tracked
	expect_incomplete 1
}

test_a_link_or_directory_is_never_over_the_limit() {
	git init -q
	ln -s "$(printf %0200d 0)" link
	mkdir dir
	git config checkpoint.maxFileSize 10
	save
	expect_captured dir/ link
}

test_too_many_files_are_refused() {
	git init -q
	for i in 1 2 3 4 5; do
		: >$i
	done
	git config checkpoint.maxFiles 4
	expect_exit 5 save
	expect_eq 5 "$(answer .error.code)"
	git checkpoint list --json >"$T/list.json"
	expect_eq 0 "$(json '.checkpoints | length' "$T/list.json")" checkpoints
	# what is left out does not count
	echo 5 >.git/info/exclude
	save
	expect_captured 1 2 3 4
	: >.git/info/exclude
	expect_exit 5 save
	save --force
	expect_captured 1 2 3 4 5
}

test_the_home_directory_is_refused() {
	cd "$HOME"
	expect_exit 5 git checkpoint save --json >"$T/save.json"
	expect_eq 5 "$(answer .error.code)"
	ln -s "$HOME" "$T/link"
	cd "$T/link"
	expect_exit 5 git checkpoint save -q 2>/dev/null
	expect_exit 5 env HOME="$T/link" git checkpoint save -q 2>/dev/null
	git init -q
	expect_exit 5 git checkpoint save -q 2>/dev/null
	git checkpoint save -q --force
	git checkpoint show -q @ >/dev/null
	# one below is a project like any other
	mkdir project
	cd project
	git init -q
	git checkpoint save -q
}

test_the_whole_system_is_refused() {
	expect_exit 5 git checkpoint -C / save --json >"$T/save.json"
	expect_eq 5 "$(answer .error.code)"
}

# The writer goes on until the save is done.
test_a_file_that_keeps_changing() {
	git init -q
	: >quiet
	perl -e '
		srand $ENV{TEST_SEED};
		my ($size, $end) = (24_000_000, time + 20);
		open my $file, "+>", "busy" or die;
		syswrite $file, "x" x $size;
		open my $go, ">", "$ENV{T}/go" or die;
		for (my $n = 0; !-e "$ENV{T}/stop" && time < $end; $n++) {
			sysseek $file, int rand $size, 0;
			syswrite $file, chr(97 + $n % 26);
		}
	' &
	while ! test -e "$T/go"; do
		sleep 0.01
	done
	status=0
	git checkpoint save --json >"$T/save.json" || status=$?
	: >"$T/stop"
	wait
	expect_eq 3 "$status" 'exit status'
	expect_captured busy quiet
	expect_skipped busy changing
	expect_warning "^'busy' kept changing"
	id=$(answer .checkpoint.id)
	# what there is of it comes back
	git checkpoint show "$id:busy" >"$T/busy"
	expect_eq 24000000 "$(stat -c %s "$T/busy")"
	rm busy
	git checkpoint restore -q --yes "$id"
	cmp busy "$T/busy"
	echo x >>busy
	save
	expect_captured busy quiet
	expect_state_of_files
}

# The number at the end is never ahead of the one at the beginning, unless a save reads the file
# while it is written and does not notice: within a tick of the clock the times do not tell.
test_no_checkpoint_of_a_file_is_torn() {
	git init -q
	perl -e '
		my ($size, $end) = (2_000_000, time + 20);
		open my $file, "+>", "busy" or die;
		syswrite $file, sprintf("%012d\n", 0) . "x" x $size . sprintf("%012d\n", 0);
		open my $go, ">", "$ENV{T}/go" or die;
		for (my $n = 1; !-e "$ENV{T}/stop" && time < $end; $n++) {
			sysseek $file, 0, 0;
			syswrite $file, sprintf "%012d", $n;
			sysseek $file, $size + 13, 0;
			syswrite $file, sprintf "%012d", $n;
			select undef, undef, undef, 0.02 unless $n % 2000;
		}
	' &
	while ! test -e "$T/go"; do
		sleep 0.01
	done
	for round in 1 2 3 4 5 6 7 8; do
		git checkpoint save --json --allow-empty >"$T/save.json" || :
		# unless it is named
		test "$(answer '.skipped | length')" != 0 || answer .checkpoint.commit >>"$T/commits"
	done
	: >"$T/stop"
	wait
	while read -r commit; do
		store_git cat-file -e "$commit:busy" 2>/dev/null || continue
		store_git cat-file blob "$commit:busy" >"$T/busy"
		first=$(head -c 12 "$T/busy")
		last=$(tail -c 13 "$T/busy")
		test "$last" = "$first" || expect_eq "$(printf %012d "$((1$first - 1000000000001))")" "$last" last
	done <"$T/commits"
}

# A log that is written all the time is in each checkpoint, as it was at some time.
test_a_log_that_keeps_growing() {
	git init -q
	perl -e '
		my $end = time + 20;
		open my $file, ">", "log" or die;
		for (my $n = 1; !-e "$ENV{T}/stop" && time < $end; $n++) {
			syswrite $file, "$n\n" or die;
			open my $go, ">", "$ENV{T}/go" if $n == 1;
		}
	' &
	while ! test -e "$T/go"; do
		sleep 0.01
	done
	for round in 1 2 3; do
		git checkpoint save -q
		git checkpoint show @:log >"$T/log"
		# the last line may be cut
		sed '$d' "$T/log" >"$T/lines"
		seq "$(wc -l <"$T/lines")" | cmp - "$T/lines"
		test -s "$T/lines"
	done
	: >"$T/stop"
	wait
}

# Growing and vanishing files: whatever is captured is what the file was at some time.
test_files_that_come_and_go() {
	git init -q
	: >quiet
	perl -e '
		my $end = time + 20;
		for (my $n = 0; !-e "$ENV{T}/stop" && time < $end; $n++) {
			my $name = "f" . $n % 50;
			if (open my $file, ">", "$name.new") { print $file "$n\n" x 10 }
			rename "$name.new", $name if $n % 3;
			unlink "f" . ($n * 7) % 50;
			mkdir "d" . $n % 10;
			rmdir "d" . ($n * 3) % 10;
		}
	' &
	for round in 1 2 3 4 5 6; do
		status=0
		git checkpoint save --json >"$T/save.json" 2>"$T/stderr" || status=$?
		case $status in
		0) test "$(answer .confidence)" = 1 || break ;;
		3) test "$(answer '.confidence < 1')" = true || break ;;
		*) break ;;
		esac
		git checkpoint show --hashes @ | state_hash >"$T/sum"
		test "$(cat "$T/sum")" = "$(answer .pre_mutation_state.hash)" || break
		round=all
	done
	: >"$T/stop"
	wait
	expect_eq all "$round" "last round (exit status $status)"
	store_git fsck --strict --no-dangling >"$T/fsck" 2>&1
	rm -rf d* f*
	save
	expect_captured quiet
}

test_a_full_disk_is_no_checkpoint() {
	test -e /dev/full || skip 'needs /dev/full'
	git init -q
	: >file
	git checkpoint save -q
	expect_exit 128 sh -c 'git checkpoint list >/dev/full' 2>/dev/null
}

run_tests
