#!/bin/sh
# SPDX-License-Identifier: MIT
# gc: everything that is needed in one pack, the rest gone, nothing lost.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/gc.sh"

id= # of the checkpoint that was saved last

# ---- what it does ----

test_all_is_in_one_pack_afterwards() {
	many
	test "$(packs)" -ge 6 || fail "only $(packs) packs"
	gc_quietly
	expect_eq 1 "$(packs)"
	expect_eq 1 "$(json .packs "$T/gc.json")"
	sound 6
	all_come_back
	sound
}

test_it_says_what_it_did() {
	many
	before=$(bytes)
	gc_quietly
	after=$(bytes)
	freed=$(json .freed "$T/gc.json")
	# in bytes on disk, give or take a block of some file
	test $((before - after - freed / 1024)) -le 8 && test $((freed / 1024 - before + after)) -le 8 ||
		fail "freed $freed, but $before - $after"
	expect_eq 'bytes freed packs warnings' "$(json 'keys | join(" ")' "$T/gc.json")"
	left=$(json .bytes "$T/gc.json")
	test $((after - left / 1024)) -le 8 || fail "$left left, but $after"
	git-checkpoint gc >"$T/out" 2>"$T/err"
	expect_grep '^Nothing to free, .* in 1 pack$' "$T/out"
	expect_eq '' "$(cat "$T/err")"
	echo more >>counter
	git-checkpoint save -q --force
	git-checkpoint gc -q >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out" "$T/err")" 'with -q'
}

test_versions_of_a_file_become_deltas() {
	perl -e 'srand 1; print join("", map { chr(97 + int rand 26) } 1 .. 79), "\n" for 1 .. 13000' >text
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		sed -i "${i}00s/.*/changed $i/" text
		git-checkpoint save -q
	done
	before=$(bytes)
	gc_quietly
	after=$(bytes)
	test $((after * 10)) -lt "$before" || fail "from $before to $after kB"
	sound 30
}

# Those of one save as well, which lie in one pack.
test_files_that_are_alike_become_deltas() {
	perl -e 'srand 1; print join("", map { chr(97 + int rand 26) } 1 .. 79), "\n" for 1 .. 1300' >f1
	for i in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sed "${i}0s/.*/changed $i/" f1 >f$i
	done
	git-checkpoint save -q
	before=$(bytes)
	gc_quietly
	test $(($(bytes) * 3)) -lt "$before" || fail "from $before to $(bytes) kB"
	sound 1
}

# What git maps of a pack, and the objects that it holds, count as well.
test_large_files_need_little_memory() {
	for i in 1 2; do
		noise 80000000 >large
		save
	done
	"$BUILD_DIR/measure" "$T/rss" git-checkpoint gc -q
	case $BUILD_DIR in
	*address* | *thread*) ;;
	*) test "$(cut -d' ' -f2 "$T/rss")" -lt 131072 || fail "memory: $(cat "$T/rss")" ;;
	esac
	git-checkpoint verify -q --all
}

test_a_second_one_changes_nothing() {
	many 6
	gc_quietly
	find "$store/objects" "$store/refs" -type f -exec ls -i {} + | sort >"$T/before"
	gc_quietly
	gc_quietly
	find "$store/objects" "$store/refs" -type f -exec ls -i {} + | sort >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq 0 "$(json .freed "$T/gc.json")"
	sound 6
}

# Nothing was lost, so what is known of the files still holds: no file is read again.
test_the_stat_cache_stays_good() {
	require strace
	for i in 1 2 3 4 5 6 7 8; do
		echo $i >"file$i"
		git-checkpoint save -q
	done
	sleep 1.1 # files that are as young as the cache are read again
	git-checkpoint save -q
	echo 9 >file1
	git-checkpoint save -q
	gc_quietly
	sleep 1.1
	strace -f -o "$T/trace" -e trace=openat,open,openat2 git-checkpoint save --json >"$T/out" 2>/dev/null ||
		skip 'strace does not work here'
	expect_eq false "$(json .checkpoint_created "$T/out")"
	expect_no_grep '"file[2-8]"' "$T/trace"
	echo 10 >file1
	strace -f -o "$T/trace" -e trace=openat,open,openat2 git-checkpoint save --json >"$T/out" 2>/dev/null
	expect_eq true "$(json .checkpoint_created "$T/out")"
	expect_no_grep '"file[2-8]"' "$T/trace"
	expect_grep '"file1"' "$T/trace"
	sound 10
}

test_saves_go_on_after_it() {
	many 4
	gc_quietly
	for i in 1 2 3; do
		echo "after $i" >counter
		save --include-sensitive --include-ignored --force
		fingerprint . >"$T/print.$id"
		echo "$id" >>"$T/ids"
		gc_quietly
	done
	sound 7
	expect_eq 1 "$(packs)"
	all_come_back
}

test_an_empty_store_and_one_of_empty_trees() {
	save --allow-empty
	gc_quietly
	sound 1
	mkdir d
	save
	gc_quietly
	sound 2
}

# ---- what was dropped ----

# What the stat cache knows of the files must not name what has gone.
test_what_was_dropped_can_be_saved_again() {
	echo 0 >a
	save
	noise 100000 >b
	mkdir d
	noise 100000 >d/c
	sleep 1.1 # old enough for the cache to be believed
	save
	fingerprint . >"$T/print.1"
	git-checkpoint drop -q "$id"
	gc_quietly
	save
	sound 2
	git-checkpoint drop -q @
	save
	sound 2
	git-checkpoint drop -q @ @~1
	gc_quietly
	expect_eq 0 "$(packs)"
	save
	sound 1
	rm -r b d
	git-checkpoint restore -q --yes @ >/dev/null
	fingerprint . >"$T/now"
	expect_same "$T/print.1" "$T/now"
}

# Of a tight pack only what is needed stays, with its deltas, and with what stock git derived gone.
test_dropping_from_a_tight_store_frees_bytes() {
	perl -e 'srand 1; print join("", map { chr(97 + int rand 26) } 1 .. 79), "\n" for 1 .. 2600' >text
	for i in 1 2 3 4 5 6 7 8 9 10; do
		sed -i "${i}00s/.*/changed $i/" text
		noise 100000 >random
		git-checkpoint save -q
	done
	gc_quietly
	git --git-dir="$(store_dir)" commit-graph write --reachable
	git --git-dir="$(store_dir)" multi-pack-index write
	before=$(bytes)
	git-checkpoint drop -q @~2 @~4 @~6
	sound 7
	test $((before - $(bytes))) -ge 270 || fail "from $before to $(bytes) kB"
	# the base of the others
	git-checkpoint drop -q @
	sound 6
	git-checkpoint prune -q --max-count 2
	sound 2
	test $((before - $(bytes))) -ge 740 || fail "from $before to $(bytes) kB"
	gc_quietly
	sound 2
}

# ---- where it runs ----

test_without_a_store_there_is_nothing_to_do() {
	git-checkpoint gc >"$T/out"
	expect_grep '^Nothing to free: no checkpoints of ' "$T/out"
	git-checkpoint gc --json >"$T/out"
	expect_eq '{"freed":0,"bytes":0,"packs":0,"warnings":[]}' "$(cat "$T/out")"
	expect_missing "$(checkpoint_home)"
	expect_exit 129 git-checkpoint gc --nonsense 2>"$T/err"
	git-checkpoint save -q --allow-empty
	expect_exit 129 git-checkpoint gc something 2>"$T/err"
}

test_without_git_it_does_what_it_can() {
	many 5
	mkdir "$T/bin"
	ln -s "$BUILD_DIR/git-checkpoint" "$T/bin/"
	env PATH="$T/bin" git-checkpoint gc >"$T/out" 2>"$T/err"
	expect_grep '^warning: .*git' "$T/err"
	sound 5
	all_come_back
}

test_a_store_inside_of_its_worktree() {
	GIT_CHECKPOINT_HOME=$PWD/.checkpoints
	export GIT_CHECKPOINT_HOME
	for i in 1 2 3 4 5; do
		echo $i >a
		git-checkpoint save -q
	done
	gc_quietly
	sound 5
	expect_eq 1 "$(packs)"
	echo 6 >a
	git-checkpoint restore -q --yes @~3 >/dev/null
	expect_eq 2 "$(cat a)"
	gc_quietly
	sound
}

test_odd_names_of_worktrees() {
	odd=$(printf "odd 'name' \"x\" \$HOME\n-q *")
	mkdir "$odd"
	cd "$odd"
	# shellcheck disable=SC2089,SC2090 # it is a path
	export GIT_CHECKPOINT_HOME="$T/home of '\$x
 it"
	for i in 1 2 3 4; do
		echo $i >"a
$i"
		git-checkpoint save -q
	done
	gc_quietly
	sound 4
	expect_eq 1 "$(packs)"
	cd ..
	git-checkpoint -C "$odd" gc -q
}

test_in_a_git_repository_its_own_git_is_not_written() {
	git init -q
	many 3
	git add -A >/dev/null 2>&1
	git commit -q -m one
	fingerprint_raw .git >"$T/before"
	gc_quietly
	fingerprint_raw .git >"$T/after"
	expect_same "$T/before" "$T/after"
	sound 3
}

# Many have this in their configuration, to have git fetch faster.
test_deltas_are_compressed_whatever_the_configuration_says() {
	git config --global core.compression 0
	for i in 1 2 3 4 5 6; do
		seq 20000 | awk -v i=$i '{ print "line", $1, $1 % 5 < 2 ? i * NR : "" }' >text
		git-checkpoint save -q
	done
	before=$(bytes)
	gc_quietly
	test "$(bytes)" -lt "$before" || fail "from $before to $(bytes) kB"
	sound 6
}

# Variables and configuration that steer stock git do not steer what it does for us.
test_the_surroundings_do_not_matter() {
	many 4
	cat >>"$GIT_CONFIG_GLOBAL" <<-'END'
	[pack]
		packSizeLimit = 1m
		indexVersion = 1
		window = 0
		depth = 0
	[core]
		bigFileThreshold = 1
		compression = 9
		multiPackIndex = false
	[gc]
		auto = 1
	END
	GIT_DIR=/nowhere GIT_OBJECT_DIRECTORY=/nowhere GIT_ALTERNATE_OBJECT_DIRECTORIES=/nowhere \
		GIT_INDEX_FILE=/nowhere gc
	expect_eq '' "$(cat "$T/gc.err")"
	# fsck of git 2.55 calls an object damaged that is exactly as large as bigFileThreshold
	: >"$GIT_CONFIG_GLOBAL"
	sound 4
	expect_eq 1 "$(packs)"
	all_come_back
}

# Where it was is all that gc has to know of it; there is no current directory to start from.
test_a_worktree_that_is_gone_is_left_alone() {
	mkdir "$T/gone"
	cd "$T/gone"
	echo 1 >a
	git-checkpoint save -q
	store=$(store_dir)
	find "$store" -type f ! -name '*.lock' -exec sha1sum {} + | sort >"$T/before"
	rm -r "$T/gone"
	expect_exit 128 git-checkpoint gc >"$T/out" 2>"$T/err"
	expect_grep '^fatal: ' "$T/err"
	expect_exit 128 git-checkpoint -C "$T/gone" gc >"$T/out" 2>"$T/err"
	find "$store" -type f ! -name '*.lock' -exec sha1sum {} + | sort >"$T/after"
	expect_same "$T/before" "$T/after"
}

test_from_a_subdirectory() {
	mkdir -p d/e
	echo 1 >d/e/f
	git-checkpoint save -q
	cd d/e
	git init -q "$T/elsewhere"
	git-checkpoint gc -q
	cd ../..
	sound 1
}

# ---- what others made in the store ----

test_what_stock_git_made_survives() {
	many 5
	g() {
		git --git-dir="$store" --work-tree="$T/wt" "$@"
	}
	mkdir "$T/wt"
	g checkout -q -f -b mine "$(g rev-parse "refs/checkpoints/$(sed -n 2p "$T/ids")")"
	echo mine >"$T/wt/mine"
	g add mine
	g commit -q -m mine
	g tag -a -m heavy heavy
	echo more >"$T/wt/mine"
	g commit -q -a -m more
	g tag light
	blob=$(echo alone | g hash-object -w --stdin)
	g update-ref refs/notes/blob "$blob"
	loose=$(echo 'nobody has it' | g hash-object -w --stdin)
	g checkout -q -f --detach
	echo detached >"$T/wt/mine"
	g commit -q -a -m detached
	g rev-parse HEAD mine heavy light 'heavy^{tree}' >"$T/expected"
	gc_quietly
	sound 5
	g rev-parse HEAD mine heavy light 'heavy^{tree}' >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	g rev-list --objects HEAD mine heavy light >/dev/null
	expect_eq alone "$(g cat-file blob "$blob")"
	expect_eq 'nobody has it' "$(g cat-file blob "$loose")"
	all_come_back
	# packed, too, with all that stock git derives from packs and commits
	rm -f "$store/index"
	g gc -q
	g commit-graph write --reachable
	g multi-pack-index write
	save --include-sensitive --include-ignored --force --allow-empty
	gc_quietly
	sound
	g rev-parse HEAD mine heavy light 'heavy^{tree}' >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	all_come_back
}

test_a_linked_worktree_survives() {
	many 3
	c=$(git --git-dir="$store" rev-parse "refs/checkpoints/$(sed -n 1p "$T/ids")")
	git --git-dir="$store" worktree add -q --detach "$T/linked" "$c"
	cd "$T/linked"
	echo 1 >new
	git add new
	git commit -q -m new
	cd "$T/work"
	gc_quietly
	sound 3
	expect_eq '' "$(git -C "$T/linked" status --porcelain)"
	git -C "$T/linked" rev-list --objects HEAD >/dev/null
}

test_a_pack_that_is_kept_stays() {
	many 3
	pack=$(find "$store/objects/pack" -name '*.pack' | sed -n 1p)
	touch "${pack%.pack}.keep"
	gc_quietly
	expect_exists "$pack" "${pack%.pack}.keep"
	sound 3
	all_come_back
}

# interrupt <target>: a restore of it that is killed half way
interrupt() {
	back=$(fingerprint .)
	with_faults rename 0 kill git-checkpoint restore --yes --force -q "$1" >/dev/null 2>&1
	renames=$(cat "$T/faults")
	git-checkpoint undo --yes -q >/dev/null 2>&1
	expect_eq "$back" "$(fingerprint .)"
	expect_exit 137 with_faults rename $((renames / 2)) kill \
		git-checkpoint restore --yes --force -q "$1" >/dev/null 2>&1
	git-checkpoint gc -q 2>"$T/err"
	expect_grep 'interrupted' "$T/err"
}

test_an_interrupted_restore_can_be_finished_after_it() {
	many 4
	target=$(sed -n 2p "$T/ids")
	interrupt "$target"
	git-checkpoint restore --continue -q >/dev/null 2>"$T/err" || fail "$(cat "$T/err")"
	fingerprint . >"$T/now"
	expect_same "$T/print.$target" "$T/now"
	sound
}

test_an_interrupted_restore_can_be_undone_after_it() {
	many 4
	fingerprint . >"$T/expected"
	interrupt "$(sed -n 2p "$T/ids")"
	git-checkpoint restore --abort -q >/dev/null 2>"$T/err" || fail "$(cat "$T/err")"
	fingerprint . >"$T/now"
	expect_same "$T/expected" "$T/now"
	sound
}

run_tests
