#!/bin/sh
# SPDX-License-Identifier: MIT
# watch: hints that saves use, and everything that may go wrong with them.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/watch.sh"

# many: more directories than a save that is told where to look would list
many() {
	for i in $(seq 40); do
		mkdir -p "many/$i"
		echo "$i" >"many/$i/file"
	done
}

# Two saves on which everything is known: to the watcher, and to the cache.
settle() {
	await watch_settled
	git checkpoint save -q
	await watch_settled
	git checkpoint save -q
}

# same_as_full: a save without a watcher has nothing to add to the newest
same_as_full() {
	rm -f "$(git checkpoint status --json | jq -r .store)/checkpoint/watch.sock"
	git checkpoint save --automatic --json | jq -e '.checkpoint_created == false'
}

# looks_at_23: whether a save looks into a directory in which nothing changed
looks_at_23() {
	strace -f -e trace=newfstatat,statx,openat,openat2 -o "$T/strace" git-checkpoint save -q
	grep -q '"many/23\|"23"' "$T/strace"
}

test_a_save_looks_only_where_something_changed() {
	require strace
	watch_setup
	many
	git checkpoint save -q
	git checkpoint config -q watchQuiet 1h
	watch_start
	git checkpoint save -q
	echo 2 >many/7/file
	git checkpoint save -q
	newest_has many/7/file 2
	# a machine may be so busy that the watcher does not answer in time: then a save looks everywhere
	await eval '! looks_at_23'
	watch_end
	looks_at_23 || fail 'without a watcher it does not look either'
}

# What the root's rules leave out stays out, though nothing in the root itself changed.
test_a_tracked_file_in_a_directory_that_is_left_out() {
	watch_setup
	git checkpoint config -q watchQuiet 1h
	mkdir build
	echo 1 >build/tracked
	echo 1 >build/object
	git add -f build/tracked
	watch_start
	for i in 2 3 4; do
		git checkpoint save -q
		expect_exit 128 git checkpoint show @:build/object
		# the index must be older than a tick of the file system's clock
		sleep 0.05
		echo $i >build/tracked
	done
	git checkpoint save -q
	newest_has build/tracked 4
	expect_exit 128 git checkpoint show @:build/object
	same_as_full
	watch_end
}

test_a_killed_watcher_is_not_needed() {
	watch_setup
	watch_start
	settle
	watch_end
	echo 2 >a/b/file
	git checkpoint save -q
	newest_has a/b/file 2
	git checkpoint status | grep '^Watch: *off'
	# what happened meanwhile, and what it left behind, do not matter to the next one
	echo 3 >c/file
	watch_start
	await newest_has c/file 3
	echo 4 >c/d/new
	await newest_has c/d/new 4
	watch_end
}

test_a_stopped_watcher_keeps_nobody_waiting() {
	watch_setup
	watch_start
	settle
	kill -STOP "$WATCHER"
	echo 2 >a/b/file
	timeout 20 git checkpoint save -q
	newest_has a/b/file 2
	timeout 20 git checkpoint status | grep '^Watch: *not answering'
	kill -CONT "$WATCHER"
	echo 3 >c/file
	await newest_has c/file 3
	await watch_settled
	same_as_full
	watch_end
}

test_silent_and_hostile_peers_keep_nobody_waiting() {
	require perl
	watch_setup
	watch_start
	settle
	store=$(git checkpoint status --json | jq -r .store)
	mkfifo "$T/open"
	# it keeps its connections until this end of the pipe is closed
	(cd "$store/checkpoint" && exec perl -MIO::Socket::UNIX -e '
		$SIG{PIPE} = "IGNORE";
		for (1 .. 100) {
			my $s = IO::Socket::UNIX->new(Peer => "watch.sock", Timeout => 5) or next;
			$_ % 3 == 0 and syswrite $s, "x" x 100000;
			$_ % 3 == 1 and syswrite $s, "since 1 rubbish\n";
			push @all, $s;
		}
		open my $ready, ">", $ARGV[0]; close $ready;
		<STDIN>' "$T/ready" <"$T/open") &
	exec 9>"$T/open"
	await test -e "$T/ready"
	echo 2 >a/b/file
	timeout 20 git checkpoint save -q
	newest_has a/b/file 2
	echo 3 >a/b/file
	await newest_has a/b/file 3
	exec 9>&-
	watch_end
}

test_another_user_is_refused() {
	test "$(id -u)" = 0 || skip 'needs root'
	watch_setup
	watch_start
	settle
	home=$(dirname "$(git checkpoint status --json | jq -r .store)")
	# even if somebody opened all doors
	chmod -R a+rwX "$T" "$home"
	run_as_nobody perl -MIO::Socket::UNIX -e '
		$SIG{PIPE} = "IGNORE";
		my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$!";
		syswrite $s, "stop 1\n";
		exit defined(<$s>) ? 1 : 0' "$home/watch.sock"
	watch_tells "$PWD" true
	watch_end
}

test_lost_events_mean_that_everything_is_looked_at() {
	require perl
	watch_setup
	git checkpoint config -q watchQuiet 1h
	watch_start
	git checkpoint save -q
	git checkpoint save -q
	kill -STOP "$WATCHER"
	# more events than the queue holds
	perl -e '
		open my $f, "<", "/proc/sys/fs/inotify/max_queued_events" or exit 0;
		my $n = <$f>;
		for (1 .. $n + 1000) {
			my $path = $_ % 2 ? "c/x" : "c/y";
			open my $o, ">", $path; close $o; unlink $path;
		}'
	echo 2 >a/b/file
	mv c/d c/e
	kill -CONT "$WATCHER"
	await watch_tells "$PWD" '.state == "watched"'
	git checkpoint save -q
	newest_has a/b/file 2
	same_as_full
	watch_end
}

# A watcher that gets two watches: the limit of a new user namespace holds for all in it.
watch_start_poor() {
	test "$(id -u)" = 0 || skip 'needs root'
	require unshare
	unshare --user --map-root-user sh -c 'echo 2 >/proc/sys/user/max_inotify_watches' 2>/dev/null ||
		skip 'the limits of a user namespace cannot be set'
	unshare --user --map-root-user sh -c '
		echo 2 >/proc/sys/user/max_inotify_watches
		exec git-checkpoint watch run' >"$T/watch.log" 2>&1 &
	WATCHER=$!
	await watch_tells "$PWD" '.state == "polled"'
}

test_too_few_watches_are_told() {
	watch_setup
	watch_start_poor
	watch_tells "$PWD" '.hints == false and (.problem | test("max_user_watches"))'
	git checkpoint status | grep '^Watch: *on, but without watches'
	echo 2 >a/b/file
	git checkpoint save -q
	newest_has a/b/file 2
	watch_end
}

test_without_watches_new_names_are_saved_soon() {
	watch_setup
	git checkpoint config -q watchQuiet 1s
	git checkpoint config -q watchMax 1h
	echo 2 >a/b/file
	watch_start_poor
	# nobody saw what happened before
	await newest_has a/b/file 2
	await watch_tells "$PWD" '.saving == false and .last_save != null'
	echo new >c/d/new
	await newest_has c/d/new new
	mkdir -p c/n/m
	echo deep >c/n/m/file
	await newest_has c/n/m/file deep
	# as editors write
	echo 3 >a/b/file.tmp
	mv a/b/file.tmp a/b/file
	await newest_has a/b/file 3
	git checkpoint show @ --json | jq -e '.source == "watch" and .reason == "after changes"'
	watch_end
}

test_without_watches_files_written_in_place_are_saved_at_last() {
	watch_setup
	git checkpoint config -q watchQuiet 1h
	git checkpoint config -q watchMax 2s
	watch_start_poor
	echo 2 >>a/b/file
	await newest_ends a/b/file 2
	echo 3 >>a/b/file
	await newest_ends a/b/file 3
	watch_end
}

test_without_watches_and_without_a_store() {
	watch_setup
	git checkpoint config -q watchQuiet 1s
	watch_start_poor
	await watch_tells "$PWD" '.saving == false and .last_save != null'
	# saves fail before they make another
	git config checkpoint.maxFiles nonsense
	mv "$(store_dir)" "$T/store"
	echo new >c/d/new
	await watch_tells "$PWD" '.state == "starting" and .problem != null'
	git config --unset checkpoint.maxFiles
	await newest_has c/d/new new
	watch_end
}

newest_ends() {
	test "$(git checkpoint show "@:$1" 2>/dev/null | tail -n 1)" = "$2"
}

test_a_mount_in_the_worktree_ends_hints() {
	test "$(id -u)" = 0 || skip 'needs root'
	watch_setup
	git checkpoint config -q watchQuiet 1h
	watch_start
	git checkpoint save -q
	watch_tells "$PWD" .hints
	mount -t tmpfs none c/d || skip 'mounts are not allowed'
	trap 'umount "$T/work/c/d" 2>/dev/null || :; watch_end' EXIT
	await watch_tells "$PWD" '.hints == false'
	echo 2 >c/d/file
	git checkpoint save -q
	newest_has c/d/file 2
	umount c/d
	await watch_tells "$PWD" .hints
	watch_end
}

test_a_store_that_is_removed_is_made_again() {
	watch_setup
	watch_start
	await watch_settled
	rm -rf "$(git checkpoint status --json | jq -r .store)"
	echo 2 >a/b/file
	await newest_has a/b/file 2
	await watch_tells "$PWD" '.state == "watched"'
	watch_end
}

test_idle_it_does_nothing_and_misses_nothing() {
	require strace
	watch_setup
	watch_start
	await watch_settled
	# those who look for worktrees that are being made have given up
	await idle
	# and still it notices that its directory goes, and comes back
	mv "$PWD" "$T/away"
	await watch_tells "$PWD" '.state == "missing"'
	mv "$T/away" "$PWD"
	await watch_tells "$PWD" '.state == "watched"'
	echo 2 >a/b/file
	await newest_has a/b/file 2
	watch_end
}

# Nothing but one call that waits without an end.
idle() {
	timeout -s INT 1 strace -p "$WATCHER" -o "$T/idle" 2>/dev/null || :
	test "$(wc -l <"$T/idle")" -le 2 && grep -q 'ppoll(.*NULL, \[\]' "$T/idle"
}

run_tests
