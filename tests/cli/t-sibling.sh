#!/bin/sh
# SPDX-License-Identifier: MIT
# The first checkpoint of a worktree whose repository has another one with a store: packs are
# linked, what git wrote is not read, and the checkpoint is the one of a worktree alone.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/damage.sh"

# pass_a_tick: whatever is written from now on has other times than what was written before
pass_a_tick() {
	sleep 0.06
}

# project: a repository in p with a file that compresses badly, all of it saved
project() {
	git init -q p
	mktree --seed "$TEST_SEED" --files 60 --dirs 9 p
	head -c 300000 /dev/urandom >p/large
	git -C p add -A
	git -C p commit -q -m one
	(cd p && git-checkpoint save -q --force)
}

# branch_off <name> [<commit>]: a new worktree, in which git's index is certain about all files
branch_off() {
	pass_a_tick
	git -C p worktree add -q --detach "../$1" "${2:-HEAD}"
	pass_a_tick
	# As if the checkout had taken a little longer. Without it the last few files would be read.
	touch "$(git -C "$1" rev-parse --absolute-git-dir)/index"
}

# branch_off_p <name>: the same; p is its only sibling, and has everything in one pack
branch_off_p() {
	rm -rf "$(checkpoint_home)"
	(cd p && git-checkpoint save -q --force)
	branch_off "$1"
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

# on_disk: skip the case where times prove nothing (see tree/vouch.h)
on_disk() {
	case $(stat -f -c %T .) in
	ext2/ext3 | xfs | btrfs | f2fs) ;;
	*) skip 'needs ext4, xfs, btrfs or f2fs' ;;
	esac
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

test_what_git_wrote_is_not_read() {
	require_strace
	on_disk
	project
	branch_off w
	expect_eq 0 "$(opened w)" 'files read'
	(cd w && saves_right 'not read')
	branch_off v
	echo changed >v/large
	expect_eq 1 "$(opened v)" 'files read'
	(cd v && saves_right 'one changed')
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

# ---- what the index does not prove ----

test_edits_that_keep_size_and_time() {
	project
	branch_off_p w
	touch -r w/large "$T/time"
	head -c 300000 /dev/urandom >w/large
	touch -r "$T/time" w/large
	(cd w && saves_right 'same size and time')
	branch_off_p v
	git -C v config --worktree core.trustctime false 2>/dev/null || git -C v config core.trustctime false
	touch -r v/large "$T/time"
	head -c 300000 /dev/urandom >v/large
	touch -r "$T/time" v/large
	(cd v && saves_right 'same size and time, trustctime off')
}

# No pause between checkout and edit: whatever the clock says, contents are right.
test_edits_at_once() {
	project
	for i in 1 2 3 4 5 6; do
		git -C p worktree add -q --detach "../w$i"
		head -c 300000 /dev/urandom >"w$i/large"
		(cd "w$i" && saves_right "edit $i")
	done
}

test_files_that_git_was_told_to_ignore() {
	project
	branch_off_p w
	git -C w update-index --assume-unchanged large
	head -c 300000 /dev/urandom >w/large
	(cd w && saves_right 'assume-unchanged')
}

# smudged <name>: contents of the worktree differ from the blob, but not in size
smudged() {
	git -C "$1" cat-file blob "${2:-HEAD}:text" >"$T/blob"
	expect_eq "$(stat -c %s "$T/blob")" "$(stat -c %s "$1/text")" "size in $1"
	if cmp -s "$T/blob" "$1/text"; then
		fail "$1: not smudged"
	fi
}

# attributes <text>: a commit with them; what is in p was written before
attributes() {
	echo "$1" >p/.gitattributes
	git -C p add .gitattributes
	git -C p commit -q -m attributes
}

# raw <text>: a file that is in p as it is in the repository
raw() {
	printf '%s' "$1" >p/text
	: >p/.gitattributes
	git -C p add .gitattributes text
	git -C p commit -q -m text
}

rot() {
	git -C p config filter.rot.smudge 'tr a-z b-za'
	git -C p config filter.rot.clean 'tr b-za a-z'
}

id="\$Id: 0123456789012345678901234567890123456789 \$"

test_contents_that_git_changed_on_the_way() {
	project
	rot
	raw 'some text'
	attributes 'text filter=rot'
	branch_off_p filter
	smudged filter
	(cd filter && saves_right filter)

	raw "$id"
	attributes 'text ident'
	branch_off_p ident
	smudged ident
	(cd ident && saves_right ident)

	raw 'Привет'
	attributes 'text working-tree-encoding=UTF-16LE'
	branch_off_p encoding
	smudged encoding
	(cd encoding && saves_right encoding)

	printf 'a\nb\n' >p/text
	attributes 'text eol=crlf'
	branch_off_p crlf
	(cd crlf && saves_right crlf)
}

test_attributes_elsewhere() {
	project
	rot
	raw 'some text'
	mkdir -p p/.git/info
	echo 'text filter=rot' >p/.git/info/attributes
	branch_off_p info
	smudged info
	(cd info && saves_right info)
	branch_off_p info-removed
	smudged info-removed
	rm p/.git/info/attributes
	(cd info-removed && saves_right 'info removed')

	echo 'text filter=rot' >"$T/attributes"
	git -C p config core.attributesFile "$T/attributes"
	branch_off_p own
	smudged own
	(cd own && saves_right own)
	branch_off_p own-changed
	smudged own-changed
	echo >"$T/attributes"
	(cd own-changed && saves_right 'own changed')

	git -C p config --unset core.attributesFile
	mkdir -p "$XDG_CONFIG_HOME/git"
	echo 'text filter=rot' >"$XDG_CONFIG_HOME/git/attributes"
	branch_off_p user
	smudged user
	(cd user && saves_right user)
}

# What counts is what applied when git wrote the file.
test_attributes_that_are_gone() {
	project
	rot
	raw 'some text'
	mkdir p/d
	attributes 'text filter=rot'
	branch_off_p removed
	smudged removed
	git -C removed rm -q .gitattributes
	(cd removed && saves_right removed)

	branch_off_p emptied
	smudged emptied
	: >emptied/.gitattributes
	(cd emptied && saves_right emptied)

	branch_off_p switched
	smudged switched
	git -C switched checkout -q --detach HEAD~1
	expect_eq 0 "$(stat -c %s switched/.gitattributes)" 'size of the attributes'
	smudged switched
	(cd switched && saves_right switched)
	branch_off_p committed
	smudged committed
	git -C committed rm -q .gitattributes
	git -C committed commit -q -m removed
	(cd committed && saves_right committed)
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
