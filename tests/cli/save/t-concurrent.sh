#!/bin/sh
# SPDX-License-Identifier: MIT
# Many processes at one store: none is lost, none waits for a dead one.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/retain.sh"

# sound: the store as stock git sees it, and the manifest has every checkpoint once, in order
sound() {
	store=$(store_dir)
	git --git-dir="$store" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "fsck: $(cat "$T/fsck")"
	expect_eq '' "$(cat "$T/fsck")" 'fsck'
	git-checkpoint list --json >"$T/listed.json" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")" 'warnings of list'
	jq -r '.checkpoints | reverse[] | .commit[:8]' "$T/listed.json" >"$T/expected"
	sed -n 's/^| \([0-9a-f]\{8\}\) | .*/\1/p' "$store/checkpoint-manifest.md" >"$T/rows"
	expect_same "$T/expected" "$T/rows"
	expect_eq '' "$(find "$(checkpoint_home)" -name 'tmp_ckpt_*')" 'temporaries'
}

# eight_times <command>...: at once; none may fail
eight_times() {
	for p in 1 2 3 4 5 6 7 8; do
		"$@" || echo "$p: $?" >>"$T/failed" &
	done
	wait
	expect_missing "$T/failed"
}

test_eight_processes_save_eight_times_each() {
	export GIT_CHECKPOINT_MAX_COUNT=none
	for p in 1 2 3 4 5 6 7 8; do
		(
			for i in 1 2 3 4 5 6 7 8; do
				echo "$p-$i" >"file-$p"
				git-checkpoint save -q -m "$p-$i" "file-$p" || echo "$p-$i: $?" >>"$T/failed"
			done
		) &
	done
	wait
	expect_missing "$T/failed"
	sound
	expect_eq 64 "$(jq '.checkpoints | length' "$T/listed.json")"
	expect_eq 64 "$(jq -r '.checkpoints[].reason' "$T/listed.json" | sort -u | wc -l)" 'reasons'
	# each holds what was there when it was taken
	jq -r '.checkpoints[] | "\(.commit) \(.reason)"' "$T/listed.json" |
		while read -r commit reason; do
			echo "$(git --git-dir="$store" show "$commit:file-${reason%-*}") $reason"
		done >"$T/contents"
	expect_eq '' "$(awk '$1 != $2' "$T/contents")" 'contents of another'
	expect_eq 64 "$(git-checkpoint log --json | jq '.entries | length')" 'entries of the log'
}

test_eight_processes_make_the_store_at_once() {
	echo 1 >a
	eight_times git-checkpoint save -q --allow-empty
	sound
	expect_eq 8 "$(jq '.checkpoints | length' "$T/listed.json")"
}

test_equal_states_are_saved_once() {
	make_tree 1 40
	eight_times git-checkpoint save -q --include-sensitive
	sound
	expect_eq 1 "$(jq '.checkpoints | length' "$T/listed.json")"
}

# Readers take no lock: at no moment do they see half of anything.
test_readers_are_never_disturbed_by_a_save() {
	echo 0 >a
	git-checkpoint save -q
	(
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			echo $i >a
			git-checkpoint save -q || echo "save: $?" >>"$T/failed"
		done
		touch "$T/done"
	) &
	while ! test -e "$T/done"; do
		for command in 'list --stat' 'show --patch @' 'diff --name-status @~1' status log; do
			# shellcheck disable=SC2086
			git-checkpoint $command >/dev/null 2>"$T/err" || test "$command" = 'diff --name-status @~1' ||
				echo "$command: $? $(cat "$T/err")" >>"$T/failed"
			test ! -s "$T/err" || grep -q 'past the oldest' "$T/err" || cat "$T/err" >>"$T/failed"
		done
	done
	wait
	test ! -e "$T/failed" || fail "$(cat "$T/failed")"
	sound
	expect_eq 16 "$(jq '.checkpoints | length' "$T/listed.json")"
}

test_readers_work_while_somebody_holds_the_lock() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	rm "$(store_dir)/checkpoint-manifest.md"
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	for command in list 'show @' diff status log config; do
		# shellcheck disable=SC2086
		flock "$(store_dir)/checkpoint/lock" git-checkpoint $command >/dev/null
	done
}

test_a_live_holder_is_waited_for() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	echo 1 >a
	flock "$(store_dir)/checkpoint/lock" sh -c 'touch "$T/held"; sleep 1' &
	while ! test -e "$T/held"; do
		sleep 0.05
	done
	git-checkpoint save --json >"$T/out"
	expect_eq true "$(json .checkpoint_created "$T/out")"
	wait
}

test_then_it_gives_up_with_75() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	echo 1 >a
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	expect_exit 75 flock "$(store_dir)/checkpoint/lock" git-checkpoint save --json >"$T/out" 2>"$T/err"
	expect_eq 75 "$(json .error.code "$T/out")"
	expect_eq '' "$(cat "$T/err")"
	said "$T/out" >"$T/err"
	# named where the kernel tells who it is
	expect_grep '^error: \(process [0-9]* (flock .*)\|another process\) is using the checkpoints of ' \
		"$T/err"
	export GIT_CHECKPOINT_LOCK_TIMEOUT=0s
	expect_exit 75 flock "$(store_dir)/checkpoint/lock" git-checkpoint save 2>"$T/err"
	unset GIT_CHECKPOINT_LOCK_TIMEOUT
	git-checkpoint save --json >"$T/out"
	expect_eq true "$(json .checkpoint_created "$T/out")"
	sound
}

test_a_dead_holder_never_blocks() {
	mktree --files 300 --dirs 20 .
	git-checkpoint save -q
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	for at in 1 2 3; do
		echo $at >new
		# in the middle of the pack, with the lock held
		FAULT_PATH=objects/pack expect_exit 137 with_faults pwrite $at kill git-checkpoint save -q
		git-checkpoint save --json >"$T/out"
		expect_eq true "$(json .checkpoint_created "$T/out")"
	done
	sound
}

# The lock is gone with the process, even if a child of it lives on.
test_an_old_lock_file_is_no_lock() {
	echo 0 >a
	git-checkpoint save -q
	echo 99999999 >"$(store_dir)/checkpoint/lock"
	echo 1 >a
	GIT_CHECKPOINT_LOCK_TIMEOUT=0s git-checkpoint save -q
	sound
}

# ---- gc, prune and drop beside others ----

# whole: sound, and all that is listed verifies
whole() {
	sound
	git-checkpoint verify --all -q >"$T/verify" 2>&1 || fail "verify: $(cat "$T/verify")"
	expect_eq '' "$(find "$(checkpoint_home)" -name 'tmp_*' -o -path '*/checkpoint/gc')" 'litter'
}

none_failed() {
	test ! -e "$T/failed" || fail "$(cat "$T/failed")"
}

# gc may find another one at work; it has done nothing then
gc_or_wait() {
	gc_status=0
	git-checkpoint gc -q 2>"$T/gc.err" || gc_status=$?
	test $gc_status = 0 || test $gc_status = 75 || echo "gc: $gc_status $(cat "$T/gc.err")" >>"$T/failed"
	test ! -s "$T/gc.err" || test $gc_status = 75 || echo "gc: $(cat "$T/gc.err")" >>"$T/failed"
}

test_saves_during_gc_in_a_loop() {
	seq 1 3000 >text
	git-checkpoint save -q -m 0
	for round in 1 2 3 4 5 6 7 8; do
		(
			for i in 1 2 3 4 5; do
				echo "$round-$i" >"file$i"
				sed -i "${round}${i}0s/.*/$round-$i/" text
				git-checkpoint save -q -m "$round-$i" 2>"$T/save.err" ||
					echo "save $round-$i: $? $(cat "$T/save.err")" >>"$T/failed"
			done
			touch "$T/done"
		) &
		while ! test -e "$T/done"; do
			gc_or_wait
		done
		wait
		rm "$T/done"
	done
	none_failed
	git-checkpoint gc -q
	whole
	expect_eq 41 "$(jq '.checkpoints | length' "$T/listed.json")"
	expect_eq 1 "$(find "$store/objects/pack" -name '*.pack' | wc -l)" 'packs'
	jq -r '.checkpoints[] | "\(.commit) \(.reason)"' "$T/listed.json" | sed '$d' |
		while read -r commit reason; do
			echo "$(git --git-dir="$store" show "$commit:file${reason#*-}") $reason"
		done >"$T/contents"
	expect_eq '' "$(awk '$1 != $2' "$T/contents")" 'contents of another'
}

# What is dropped and saved again while it is being collected: the same bytes, in the pack that goes.
test_what_comes_back_during_gc_is_not_collected() {
	noise 300000 >"$T/big"
	echo 0 >a
	git-checkpoint save -q -m base
	for round in 1 2 3 4 5 6; do
		cp "$T/big" big
		git-checkpoint save -q -m "big $round"
		rm big
		echo $round >a
		git-checkpoint save -q -m "small $round"
		(
			git-checkpoint drop -q @~1 2>"$T/drop.err" || echo "drop: $? $(cat "$T/drop.err")" >>"$T/failed"
		) &
		gc_or_wait &
		cp "$T/big" big
		git-checkpoint save -q -m "again $round" || echo "save: $?" >>"$T/failed"
		wait
		git --git-dir="$(store_dir)" cat-file blob "latest:big" | cmp - "$T/big" || fail "round $round: lost"
	done
	none_failed
	whole
}

# Packs vanish under readers, which find what they need in the one that came instead.
test_readers_are_never_disturbed_by_gc_and_prune() {
	mkdir -p d/e
	seq 1 2000 >d/text
	for i in 1 2 3 4 5 6; do
		echo $i >"d/e/$i"
		git-checkpoint save -q -m $i
	done
	git-checkpoint save -q -m pinned --pin --allow-empty
	pinned=$(git-checkpoint show --json @ | jq -r .id)
	(
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
			sed -i "${i}s/.*/changed $i/" d/text
			git-checkpoint save -q || echo "save: $?" >>"$T/failed"
			case $i in
			*[05]) git-checkpoint prune -q --max-count 3 2>"$T/prune.err" ||
				echo "prune: $? $(cat "$T/prune.err")" >>"$T/failed" ;;
			*) gc_or_wait ;;
			esac
		done
		touch "$T/done"
	) &
	for reader in 1 2; do
		while ! test -e "$T/done"; do
			for command in list "show --patch $pinned" "show --hashes $pinned" "diff --name-status $pinned" \
				status "verify $pinned" 'list --stat'; do
				status=0
				# shellcheck disable=SC2086
				git-checkpoint $command >"$T/out.$reader" 2>"$T/err.$reader" || status=$?
				test $status = 0 && test ! -s "$T/err.$reader" ||
					echo "$command: $status $(cat "$T/err.$reader")" >>"$T/failed"
			done
		done &
	done
	wait
	none_failed
	whole
}

# A save that has made its ref and not yet its line in the manifest: half of something, no damage.
test_doctor_takes_nothing_for_damage_that_somebody_is_at_work_on() {
	require flock
	for i in 1 2 3; do
		echo $i >a
		git-checkpoint save -q
	done
	store=$(store_dir)
	cp "$store/checkpoint-manifest.md" "$T/manifest"
	sed -i '$d' "$store/checkpoint-manifest.md"
	exec 9>"$store/checkpoint/lock"
	flock 9
	git-checkpoint doctor >"$T/out" 2>&1 9>&- &
	pid=$!
	# until it waits for the lock, or is done without
	seen=0
	while test $seen -lt 8 && kill -0 $pid 2>/dev/null; do
		if find "/proc/$pid/fd" -lname '*/checkpoint/lock' 2>/dev/null | grep -q .; then
			seen=$((seen + 1))
		else
			seen=0
		fi
		sleep 0.05
	done
	cp "$T/manifest" "$store/checkpoint-manifest.md"
	exec 9>&-
	status=0
	wait $pid || status=$?
	expect_eq '0 sound' "$status $(cat "$T/out")"
	# what is still there when it has the lock is damage
	sed -i '$d' "$store/checkpoint-manifest.md"
	expect_exit 1 git-checkpoint doctor >"$T/out"
	expect_eq 1 "$(grep -c '^problem: the manifest' "$T/out")"
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	expect_exit 1 flock "$store/checkpoint/lock" git-checkpoint doctor >"$T/out"
	expect_eq 1 "$(grep -c '^problem: the manifest' "$T/out")"
	expect_grep '^problem: another process was using the store' "$T/out"
}

# Each has a file of its own, to save, to change, to bring back; others come and go around it.
test_eight_processes_do_all_at_once() {
	for p in 1 2 3 4 5 6 7 8; do
		mkdir "dir$p"
		echo "$p 0" >"dir$p/file"
		git-checkpoint save -q --pin -m "anchor $p" "dir$p"
		git-checkpoint show --json @ | jq -r .id >"$T/anchor$p"
	done
	# try <p> <allowed status> <command>...: with one's own files for its answers
	try() {
		try_p=$1 try_allowed=$2
		shift 2
		try_status=0
		"$@" >"$T/out.$try_p" 2>"$T/err.$try_p" || try_status=$?
		case " $try_allowed " in
		*" $try_status "*) ;;
		*) echo "$*: $try_status $(cat "$T/err.$try_p")" >>"$T/failed" ;;
		esac
	}
	for p in 1 2 3 4 5 6 7 8; do
		(
			anchor=$(cat "$T/anchor$p")
			for i in 1 2 3; do
				echo "$p $i" >"dir$p/file"
				try $p 0 git-checkpoint save -q -m "$p-$i" "dir$p"
				try $p 0 git-checkpoint prune -q --max-count 6
				try $p 0 git-checkpoint list
				try $p 0 git-checkpoint restore -q --yes "$anchor" "dir$p"
				test "$(cat "dir$p/file")" = "$p 0" || echo "$p: not restored" >>"$T/failed"
				test $((p % 4)) != 0 || try $p '0 75' git-checkpoint gc -q
			done
		) &
	done
	wait
	none_failed
	git-checkpoint gc -q
	whole
	for p in 1 2 3 4 5 6 7 8; do
		jq -e --arg id "$(cat "$T/anchor$p")" '.checkpoints | any(.id == $id)' "$T/listed.json" >/dev/null ||
			fail "anchor $p is gone"
	done
}

test_a_gc_that_was_killed_never_blocks() {
	mktree --files 300 --dirs 20 .
	for i in 1 2 3; do
		echo $i >new
		git-checkpoint save -q
	done
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	for at in 1 2 4 6; do
		with_faults rename,unlink,mkdir $at kill git-checkpoint gc -q || :
		echo $at >new
		git-checkpoint save -q
		git-checkpoint gc -q
	done
	whole
}

# The long part is done without the lock: git that takes its time keeps nobody waiting.
test_a_save_does_not_wait_for_gc() {
	for i in 1 2 3; do
		echo $i >a
		git-checkpoint save -q
	done
	mkdir "$T/bin"
	real=$(command -v git)
	cat >"$T/bin/git" <<-END
	#!/bin/sh
	case " \$* " in
	*' pack-objects '*)
		touch "$T/packing"
		while ! test -e "$T/go"; do
			sleep 0.05
		done
		;;
	esac
	exec $real "\$@"
	END
	start_gc
	export GIT_CHECKPOINT_LOCK_TIMEOUT=0s
	echo 4 >a
	git-checkpoint save -q -m meanwhile
	git-checkpoint drop -q @~2
	expect_exit 75 git-checkpoint gc -q 2>"$T/err2"
	expect_grep '^error: \(process [0-9]* (git-checkpoint gc)\|another process\) is packing the checkpoints of ' \
		"$T/err2"
	touch "$T/go"
	wait "$gc" || fail "gc: $(cat "$T/gc.err")"
	unset GIT_CHECKPOINT_LOCK_TIMEOUT
	whole
	expect_eq 3 "$(jq '.checkpoints | length' "$T/listed.json")"
	expect_eq meanwhile "$(jq -r '.checkpoints[0].reason' "$T/listed.json")"
}

test_an_interrupt_ends_it_and_leaves_nothing() {
	mktree --files 3000 --dirs 100 --bytes 30000000 .
	git-checkpoint save -q &
	pid=$!
	i=0
	while ! ls "$(store_dir)"/objects/pack/tmp_ckpt_* >/dev/null 2>&1 && test $i -lt 200; do
		i=$((i + 1))
		sleep 0.01
	done
	kill -INT $pid 2>/dev/null || :
	kill -TERM $pid 2>/dev/null || :
	status=0
	wait $pid || status=$?
	case $status in
	0 | 130 | 143) ;;
	*) fail "exit status $status" ;;
	esac
	git-checkpoint save -q
	sound
}

run_tests
