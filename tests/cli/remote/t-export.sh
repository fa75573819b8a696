#!/bin/sh
# SPDX-License-Identifier: MIT
# Exporting a checkpoint: git, tar and git bundle read what comes out.

. "$(dirname "$0")/../../lib/harness.sh"

# project: a repository of an odd tree, with a commit of it
project() {
	git init -q .
	make_tree "$TEST_SEED" 60
	no_other_systems
	git add -A -f
	git commit -q -m one
}

# no_other_systems: without names that git refuses for the sake of other systems
no_other_systems() {
	find . -path ./.git -prune -o -depth \( -name 'git~1' -o -iname .git \) -print0 |
		xargs -0 -r rm -rf
}

# as_tree <dir>: what git would commit of it, ignored files and all. Some of the damage leaves size and
# time as they were, which git may miss if it comes soon after the index: git has to read everything.
as_tree() {
	(cd "$1" && git read-tree --empty && git add -A -f && git write-tree)
}

# checked_out <commit>: a clone of it in $T/clone
checked_out() {
	rm -rf "$T/clone"
	git clone -q --no-hardlinks . "$T/clone"
	git -C "$T/clone" checkout -q "$1"
}

test_a_patch_makes_of_head_what_was_there() {
	project
	compared=0
	for round in 1 2 3 4 5 6 7 8; do
		test $compared -lt 3 || break
		head=$(git rev-parse HEAD)
		damage_tree $((TEST_SEED + round))
		no_other_systems
		git-checkpoint save -q --include-ignored --include-sensitive || test $? = 3
		git-checkpoint export @ --patch >"$T/patch"
		checked_out "$head"
		# there are names of which git cannot apply its own patch
		as_tree . >/dev/null
		git diff --cached --binary --no-renames HEAD >"$T/own"
		if test -s "$T/own" && ! git -C "$T/clone" apply --check --whitespace=nowarn "$T/own" 2>/dev/null; then
			git commit -q -m "$round"
			continue
		fi
		compared=$((compared + 1))
		if test -s "$T/patch"; then
			git -C "$T/clone" apply --whitespace=nowarn "$T/patch"
		fi
		expect_eq "$(as_tree .)" "$(as_tree "$T/clone")" "round $round"
		git commit -q -m "$round" --allow-empty
	done
	# a name that is in the way from the beginning stays there
	test $compared -gt 0 || skip 'git cannot apply its own patch of any of these trees'
}

test_a_patch_has_bytes_modes_links_and_odd_names() {
	git init -q .
	head -c 3000 /dev/urandom >binary
	printf 'no newline' >text
	echo run >script
	ln -s text link
	echo old >kind
	git add .
	git commit -q -m one
	head -c 3000 /dev/urandom >binary
	printf 'no newline, again' >text
	chmod +x script
	rm link kind
	ln -s binary link
	mkdir kind
	echo new >kind/file
	printf 'a\r\nb\r\n' >dos
	name=$(printf 'q"uote\ttab\nline\303\244\377')
	echo odd >"$name"
	mkdir empty
	git-checkpoint save -q
	git-checkpoint export @ --patch >"$T/patch"
	expect_grep 'GIT binary patch' "$T/patch"
	expect_grep 'q\\"uote\\ttab\\nline\\303\\244\\377' "$T/patch"
	checked_out HEAD
	git -C "$T/clone" apply --whitespace=nowarn "$T/patch"
	rmdir empty
	fingerprint . >"$T/want"
	fingerprint "$T/clone" >"$T/got"
	expect_same "$T/want" "$T/got"
}

test_a_patch_is_against_the_recorded_head() {
	git init -q .
	echo 1 >a
	git add a
	git commit -q -m one
	then=$(git rev-parse HEAD)
	echo 2 >a
	git-checkpoint save -q
	git commit -q -am two
	git-checkpoint export @ --patch -o "$T/patch" --json >"$T/out"
	expect_eq "$then" "$(json .against "$T/out")"
	expect_grep '^+2' "$T/patch"
	# and of a SHA-256 repository
	mkdir other
	cd other
	git init -q --object-format=sha256 .
	echo 1 >a
	head -c 100 /dev/urandom >b
	git add .
	git commit -q -m one
	echo 2 >a
	git-checkpoint save -q
	git-checkpoint export @ --patch >"$T/patch"
	git stash -q
	git apply "$T/patch"
	expect_eq 2 "$(cat a)"
}

test_a_patch_leaves_alone_what_the_checkpoint_does_not_cover() {
	git init -q .
	git init -q sub
	git -C sub commit -q --allow-empty -m sub
	mkdir in out
	echo 1 | tee in/a out/a big >/dev/null
	git add . 2>/dev/null
	git commit -q -m one
	echo 2 | tee in/a out/a sub/file >/dev/null
	git-checkpoint save -q in sub
	git-checkpoint export @ --patch >"$T/patch"
	expect_eq 'diff --git a/in/a b/in/a' "$(grep ^diff "$T/patch")"
	# what could not be captured is not deleted
	head -c 5000 /dev/zero >big
	expect_exit 3 git -c checkpoint.maxFileSize=4k checkpoint save -q
	git-checkpoint export @ --patch >"$T/patch" 2>"$T/err"
	expect_no_grep big "$T/patch"
	expect_no_grep sub "$T/patch"
	expect_grep '1 path could not be captured' "$T/err"
}

test_a_sparse_checkout_is_not_a_deletion() {
	git init -q .
	mkdir in out
	echo 1 | tee in/a out/a >/dev/null
	git add .
	git commit -q -m one
	git sparse-checkout set in 2>/dev/null
	expect_missing out/a
	echo 2 >in/a
	git-checkpoint save -q
	git-checkpoint export @ --patch >"$T/patch"
	expect_eq 'diff --git a/in/a b/in/a' "$(grep ^diff "$T/patch")"
}

test_outside_git_a_patch_makes_everything() {
	echo 1 >a
	head -c 100 /dev/urandom >b
	git-checkpoint save -q
	git-checkpoint export @ --patch >"$T/patch"
	git init -q "$T/empty"
	git -C "$T/empty" apply "$T/patch"
	fingerprint . >"$T/want"
	fingerprint "$T/empty" >"$T/got"
	expect_same "$T/want" "$T/got"
	# nor was there anything before the first commit
	git init -q .
	echo 2 >a
	git-checkpoint save -q
	git-checkpoint export @ --patch | grep -q '^+2'
}

test_a_commit_that_is_gone_is_named() {
	git init -q .
	echo 1 >a
	git add .
	git commit -q -m one
	head=$(git rev-parse HEAD)
	git-checkpoint save -q
	rm -rf .git
	git init -q .
	expect_exit 128 git-checkpoint export @ --patch >"$T/out" 2>"$T/err"
	expect_grep "does not have the commit '$head'" "$T/err"
	expect_eq '' "$(cat "$T/out")"
	git-checkpoint export @ --tar | tar -tf - >"$T/out"
	expect_eq a "$(cat "$T/out")"
}

test_a_tar_has_everything() {
	require tar
	make_tree "$TEST_SEED" 80
	long=$(printf '%0100d/%0100d' 0 1)
	longer=$(printf '%0200d' 2)
	mkdir -p "$long/$longer"
	echo long >"$long/$longer/$(printf '%0101d' 3)"
	ln -s "$long/$longer" link
	printf 'odd\n' >"$(printf 'new\nline \303\244 \377')"
	mkdir -m 0700 private
	mkdir -m 1777 sticky
	echo x >mode
	chmod 04751 mode
	git-checkpoint save -q --include-ignored --include-sensitive || test $? = 3
	git-checkpoint export @ --tar -o "$T/one.tar"
	mkdir "$T/out"
	tar -xpf "$T/one.tar" -C "$T/out"
	chmod "$(stat -c %a .)" "$T/out"
	# what is not captured is not in the tar
	mkdir "$T/back"
	(cd "$T/back" && tar -xpf "$T/one.tar")
	git-checkpoint restore -q -y @ || test $? = 3
	find . -type p -delete
	find . -type s -delete
	fingerprint . >"$T/want"
	fingerprint "$T/out" >"$T/got"
	expect_same "$T/want" "$T/got"
	git-checkpoint export --tar @ >"$T/two.tar"
	expect_same "$T/one.tar" "$T/two.tar"
}

test_a_bundle_has_everything() {
	git init -q .
	echo 1 >a
	git add a
	git commit -q -m one
	echo staged >b
	git add b
	rm b
	mkdir -m 0700 empty
	git-checkpoint save -q --state k=v -m 'for a bundle'
	git-checkpoint export @ --bundle >"$T/bundle"
	git bundle verify -q "$T/bundle"
	expect_eq '# v2 git bundle' "$(head -n 1 "$T/bundle")"
	git init -q --bare "$T/other"
	git -C "$T/other" fetch -q "$T/bundle" 'refs/checkpoints/*:refs/heads/*'
	store=$(store_dir)
	id=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	expect_eq "$(git --git-dir="$store" rev-list --objects "refs/checkpoints/$id" | sort)" \
		"$(git -C "$T/other" rev-list --objects "$id" | sort)"
	git -C "$T/other" fsck --strict
	# what is staged, too
	git -C "$T/other" cat-file -p "$(printf 'staged\n' | git hash-object --stdin)" >"$T/got"
	expect_eq staged "$(cat "$T/got")"
}

test_where_it_goes() {
	echo 1 >a
	git-checkpoint save -q
	expect_exit 129 git-checkpoint export @ 2>"$T/err"
	expect_grep "say what to export it as" "$T/err"
	expect_exit 129 git-checkpoint export @ --tar --patch 2>"$T/err"
	expect_exit 129 git-checkpoint export @ --tar --json
	expect_exit 128 git-checkpoint export nothing --tar
	if has_terminal; then
		expect_exit 129 on_terminal "git-checkpoint export @ --bundle"
	fi
	# a file has the old contents or the new ones
	echo old >"$T/file"
	expect_exit 128 git-checkpoint export @ --tar -o "$T/file/x"
	expect_exit 128 with_faults fsync 1 ENOSPC git-checkpoint export @ --tar -o "$T/file"
	expect_eq old "$(cat "$T/file")"
	git-checkpoint export @ --tar -o "$T/file"
	expect_eq a "$(tar -tf "$T/file")"
	expect_eq '' "$(find "$T" -maxdepth 1 -name 'tmp_*')"
	# a link is followed
	ln -s file "$T/link"
	git-checkpoint export @ --patch --output="$T/link"
	expect_grep '^+1' "$T/file"
	git-checkpoint export @ --tar -o /dev/null
	test -c /dev/null
	git-checkpoint export @ --tar -o - | tar -tf - >"$T/out"
	expect_eq a "$(cat "$T/out")"
	expect_exit 128 git-checkpoint export @ --tar >/dev/full
}

test_what_is_damaged_or_has_no_files_is_not_exported() {
	head -c 4000 /dev/urandom >a
	git-checkpoint save -q
	git-checkpoint save -q --state-only --state a=b
	for how in --patch --tar; do
		expect_exit 128 git-checkpoint export @ $how 2>"$T/err"
		expect_grep 'has no files' "$T/err"
	done
	git-checkpoint export @ --bundle >/dev/null
	for pack in "$(store_dir)"/objects/pack/*.pack; do
		chmod u+w "$pack"
		printf XXXX | dd of="$pack" bs=1 seek=100 conv=notrunc 2>/dev/null
	done
	for how in --patch --tar --bundle; do
		expect_exit 128 git-checkpoint export @~1 $how -o "$T/file" 2>"$T/err"
		expect_missing "$T/file"
	done
}

run_tests
