#!/bin/sh
# SPDX-License-Identifier: MIT
# The first checkpoint of a worktree whose repository has another one with a store: packs are
# linked, every file is read, and the checkpoint is the one of a worktree alone.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/damage.sh"

# project: a repository in p with a file that compresses badly, all of it saved
project() {
	git init -q p
	mktree --seed "$TEST_SEED" --files 60 --dirs 9 p
	head -c 300000 /dev/urandom >p/large
	git -C p add -A
	git -C p commit -q -m one
	(cd p && git-checkpoint save -q --force)
}

# branch_off <name>: a new worktree
branch_off() {
	git -C p worktree add -q --detach "../$1"
}

# links <store>: how many of its packs another store has, too
links() {
	find "$1/objects/pack" -name '*.pack' -links +1 | wc -l
}

# opened <dir>: save in it; how many tracked files were opened for that
opened() {
	(cd "$1" && strace -f -e trace=openat -o "$T/trace" git-checkpoint save -q --force)
	git -C "$1" ls-files | sed 's:.*/::' | sort -u >"$T/names"
	sed -n 's/.*openat([^,]*, "\([^"]*\)", O_RDONLY.*O_NONBLOCK.*/\1/p' "$T/trace" |
		sed 's:.*/::' | sort -u | comm -12 - "$T/names" | wc -l
}

require_strace() {
	require strace
	strace -f -e trace=openat -o "$T/trace" true 2>/dev/null || skip 'strace cannot trace here'
}

sound() {
	for dir; do
		(
			cd "$dir"
			git-checkpoint verify -q @ || fail "$dir: verify"
			fsck
		)
	done
}

# ---- what is gained ----

test_packs_are_linked_and_take_no_space() {
	project
	branch_off w
	alone=$(du -sk "$(checkpoint_home)" | cut -f1)
	(cd w && saves_right 'linked')
	expect_eq 1 "$(links "$(store_dir w)")" 'linked packs'
	both=$(du -sk "$(checkpoint_home)" | cut -f1)
	test $((both - alone)) -lt $((alone / 2)) || fail "$alone kB for one, $both kB for two"
	sound p w
}

# Hashes are of what was read here: neither git's index nor another store's cache stands in for it.
test_every_file_is_read() {
	require_strace
	project
	branch_off w
	expect_eq "$(git -C w ls-files | sed 's:.*/::' | sort -u | wc -l)" "$(opened w)" 'files read'
	(cd w && saves_right 'all read')
}

# Each has those before it as siblings.
test_a_chain_of_worktrees() {
	project
	for name in a b c d e; do
		branch_off "$name"
		echo "$name" >"$name/own"
		(cd "$name" && saves_right "$name")
	done
	(cd p && git-checkpoint drop -q -y @)
	git -C p worktree remove --force ../a
	sound b c d e
}

test_random_trees_are_saved_as_they_are() {
	for i in 1 2 3; do
		seed=$((TEST_SEED + i))
		rm -rf p "$(checkpoint_home)"
		git init -q p
		make_tree $seed 60 p
		git -C p add -A --ignore-errors >/dev/null 2>&1 || :
		git -C p commit -q -m one
		(cd p && git-checkpoint save -q --force 2>/dev/null)
		branch_off "w$i"
		(cd "w$i" && saves_right "seed $seed")
		damage_tree $seed "w$i"
		(cd "w$i" && saves_right "seed $seed, damaged")
		branch_off "v$i"
		damage_tree $((seed + 100)) "v$i"
		(cd "v$i" && saves_right "seed $seed, damaged first")
		(cd "v$i" && expect_eq "$(git-checkpoint hash .)" \
			"$(git-checkpoint show --json @ | jq -r .hash)" hash)
	done
}

test_a_repository_with_sha256() {
	git init -q --object-format=sha256 p || skip 'needs a git that knows SHA-256'
	echo text >p/text
	git -C p add text
	git -C p commit -q -m one
	(cd p && git-checkpoint save -q)
	branch_off w
	(cd w && saves_right sha256)
}

# ---- two stores, each on its own ----

test_neither_store_hurts_the_other() {
	project
	branch_off w
	(cd w && git-checkpoint save -q --force)
	expect_eq 1 "$(links "$(store_dir w)")" 'linked packs'
	cp -a "$(store_dir w)" "$T/before"
	(
		cd p
		echo 1 >large
		git-checkpoint save -q --force
		git-checkpoint drop -q -y @~1
		git-checkpoint gc -q
	)
	sound p w
	for pack in "$T"/before/objects/pack/*; do
		cmp "$pack" "$(store_dir w)/objects/pack/${pack##*/}"
	done
	(
		cd w
		echo 2 >large
		git-checkpoint save -q --force
		git-checkpoint drop -q -y @~1
		git-checkpoint gc -q
	)
	sound p w
	expect_eq 0 "$(links "$(store_dir w)")" 'linked packs after gc'
	rm -rf "$(store_dir p)"
	sound w
}

# Nothing that this store needs is in it any more.
test_links_go_with_what_needed_them() {
	project
	branch_off w
	(cd w && git-checkpoint save -q --force)
	rm -rf w/[!.]*
	(
		cd w
		echo only >only
		git-checkpoint save -q --force
		git-checkpoint drop -q -y @~1
	)
	expect_eq 0 "$(links "$(store_dir w)")" 'linked packs'
	sound p w
}

test_a_budget_holds() {
	project
	branch_off w
	(cd w && GIT_CHECKPOINT_MAX_SIZE=800K saves_right budget)
	used=$(du -sk "$(store_dir w)" | cut -f1)
	test "$used" -le 800 || fail "$used kB"
	sound w
}

# ---- trouble ----

test_damage_in_the_other_store() {
	project
	pack=$(find "$(store_dir p)/objects/pack" -name '*.pack')
	size=$(stat -c %s "$pack")
	chmod 600 "$pack" "${pack%.pack}.idx"
	cp "$pack" "$T/pack"
	cp "${pack%.pack}.idx" "$T/idx"
	for i in 1 2 3 4; do
		cp "$T/pack" "$pack"
		cp "$T/idx" "${pack%.pack}.idx"
		at=$((13 + (TEST_SEED * 7919 + i * 104729) % (size - 33)))
		if test $i = 4; then
			at=$(($(stat -c %s "$T/idx") / 2))
			flip "${pack%.pack}.idx" $at
		else
			flip "$pack" $at
		fi
		branch_off "w$i"
		(cd "w$i" && saves_right "bit flipped at $at of ${pack##*/}, round $i")
		expect_eq 0 "$(links "$(store_dir "w$i")")" 'linked packs'
		sound "w$i"
		# else it would be the next one's sibling
		rm -rf "$(store_dir "w$i")"
	done
}

# flip <file> <offset>: one bit of it
flip() {
	perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, $ARGV[1], 0; read $f, my $c, 1;
		seek $f, $ARGV[1], 0; print $f chr(ord($c) ^ 4)' "$1" "$2"
}

test_a_file_system_without_links() {
	project
	branch_off w
	(cd w && FAULT_LACKS='link' with_faults link 0 EIO git-checkpoint save -q --force)
	expect_eq 0 "$(links "$(store_dir w)")" 'linked packs'
	(cd w && saves_right 'no links')
	sound p w
}

# The index of a pack vanishes before it is linked.
test_the_other_store_collects_garbage_meanwhile() {
	project
	branch_off w
	(cd w && with_faults link 2 EACCES git-checkpoint save -q --force)
	expect_eq 0 "$(links "$(store_dir w)")" 'linked packs'
	(cd w && saves_right 'vanished')
	sound p w
}

test_killed_at_any_link() {
	project
	for at in 1 2; do
		branch_off "w$at"
		(cd "w$at" && expect_exit 137 with_faults link $at kill git-checkpoint save -q --force) \
			2>/dev/null
		(cd "w$at" && saves_right "killed at link $at")
		sound p "w$at"
	done
}

run_tests
