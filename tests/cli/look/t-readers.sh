#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands that only read make no system call that could change the store, whatever state it is in.

. "$(dirname "$0")/../../lib/harness.sh"

# two: a store with two checkpoints, and changes since
two() {
	git init -q
	echo one >file
	git-checkpoint save -q -m one
	echo two >file
	mkdir dir
	echo new >dir/new
	git-checkpoint save -q -m two
	echo three >file
	store=$(store_dir)
}

# reads <what>: of all seven commands, none does more than reading
reads() {
	for command in list 'list --json' 'show @' 'diff @' 'diff @~1 @' 'grep new' status log verify 'verify --all'; do
		# shellcheck disable=SC2086
		strace -f -o "$T/trace" -e trace=%file,%desc git-checkpoint $command >"$T/out" 2>"$T/err" || :
		# What could change something, whether or not it did; a descriptor that can be written can be made to.
		sed 's/^[0-9]* *//' "$T/trace" |
			grep -E '^(mkdir|mknod|unlink|rmdir|rename|link|symlink|truncate|ftruncate|fallocate|utime|futime|chmod|fchmod|chown|fchown|lchown|setxattr|fsetxattr|lsetxattr|removexattr)|^creat\(|^open.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)' |
			grep -vE '"/dev/(null|tty)"|"/proc/' >"$T/writes" || :
		test ! -s "$T/writes" || fail "$1: $command: $(cat "$T/writes")"
	done
}

can_trace() {
	command -v strace >/dev/null && strace -o "$T/trace" true 2>/dev/null
}

test_a_sound_store() {
	can_trace || skip 'strace cannot trace here'
	two
	reads 'a sound store'
	git-checkpoint gc -q
	reads 'packed'
	git --git-dir="$store" pack-refs --all
	reads 'packed refs'
}

# So many that it would be worth to remember what was read.
test_many_checkpoints() {
	can_trace || skip 'strace cannot trace here'
	two
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
		git-checkpoint save -q --allow-empty -m "$i"
	done
	rm -f "$store/checkpoint/cache"
	reads 'many, and no cache'
}

test_what_dead_processes_left() {
	can_trace || skip 'strace cannot trace here'
	two
	with_faults write,rename 4 kill git-checkpoint save -q -m killed || :
	: >"$store/objects/pack/tmp_ckpt_0123456789abcdef"
	: >"$store/checkpoint/tmp_ckpt_0123456789abcdef"
	for lock in packed-refs.lock HEAD.lock objects/info/commit-graph.lock; do
		: >"$store/$lock"
		touch -d '2 days ago' "$store/$lock"
	done
	reads 'litter and stale locks'
	expect_exists "$store/packed-refs.lock" "$store/checkpoint/tmp_ckpt_0123456789abcdef"
}

test_damage() {
	can_trace || skip 'strace cannot trace here'
	two
	cp -a "$store" "$T/keep"
	for damage in 'rm refs/heads/latest' 'rm checkpoint-manifest.md' ': >checkpoint-manifest.md' \
		'echo garbage >>checkpoint-manifest.md' 'rm HEAD' 'echo x >config' 'rm -r info' 'rm checkpoint/log' \
		'rm checkpoint/lock' 'rm checkpoint/version' 'rm -r refs/keep' 'rm refs/checkpoints/*' \
		'rm checkpoint/statcache' 'rm HEAD; mkdir HEAD' 'rm -f checkpoint/undo; mkdir checkpoint/undo' \
		'echo x >refs/heads/latest' 'chmod 755 .' 'head -c 50 /dev/zero >checkpoint/config'; do
		rm -rf "${store:?}"
		cp -a "$T/keep" "$store"
		(cd "$store" && eval "$damage")
		fingerprint_raw "$store" >"$T/before"
		reads "$damage"
		fingerprint_raw "$store" >"$T/after"
		expect_same "$T/before" "$T/after"
	done
}

run_tests
