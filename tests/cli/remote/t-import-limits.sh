#!/bin/sh
# SPDX-License-Identifier: MIT
# How much something may become that is small when it comes: bundles of random shape, against the sizes
# that git has for their objects.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/forge.sh"

# shape <seed>: directories in each other, versions of a file, of which deltas are small, and zeros
shape() {
	perl -e 'srand $ARGV[0];
		sub put { open my $f, ">", $_[0] or die $!; print $f $_[1] }
		sub bytes { join "", map { chr int rand 256 } 1 .. $_[0] }
		my $base = bytes(50_000 + int rand 100_000);
		for my $branch (1 .. 1 + int rand 4) {
			my $dir = "b$branch";
			mkdir $dir;
			for my $level (1 .. int rand 30) { $dir .= "/" . "d" x (1 + int rand 9); mkdir $dir }
			for my $version (1 .. 1 + int rand 8) {
				substr($base, int rand length $base, 1) = chr int rand 256;
				put("$dir/v$version", $base);
			}
			put("$dir/zeros", "\0" x int rand 4_000_000);
		}' "$1"
}

# tight_bundle <file>: of the newest checkpoint, as small as git can make it, and one object more that
# nothing needs; prints how many bytes its objects are
tight_bundle() {
	git init -q --bare "$T/tight.git"
	git -C "$T/tight.git" fetch -q "$(store_dir)" 'refs/checkpoints/*:refs/checkpoints/*'
	empty=$(git -C "$T/tight.git" hash-object -w -t tree --stdin </dev/null)
	git -C "$T/tight.git" update-ref refs/heads/more \
		"$(git -C "$T/tight.git" commit-tree -m more "$empty")"
	git -C "$T/tight.git" repack -q -a -d -f --depth=50 --window=20
	git -C "$T/tight.git" bundle create -q "$1" --all
	git -C "$T/tight.git" cat-file --batch-all-objects --batch-check='%(objectsize)' |
		awk '{ sum += $1 } END { print sum }'
}

size_of_store() {
	du -sk "$(store_dir)" | cut -f 1
}

# bounded <command>...: with little memory
bounded() {
	(
		limit_memory 800000
		exec "$@"
	)
}

test_what_is_counted_is_what_it_becomes() {
	for round in 1 2 3; do
		mkdir "$T/from$round"
		cd "$T/from$round"
		shape "$((TEST_SEED + round))"
		git-checkpoint save -q
		sum=$(tight_bundle "$T/bundle")
		rm -rf "$T/tight.git"
		mkdir "$T/to$round"
		cd "$T/to$round"
		GIT_CHECKPOINT_MAX_FETCH_SIZE=$((sum - 1)) expect_exit 128 \
			git-checkpoint import "$T/bundle" 2>"$T/err"
		expect_grep 'it is more than maxFetchSize' "$T/err"
		expect_eq 1 "$(wc -l <"$T/err")"
		expect_eq 0 "$(git-checkpoint list | wc -l)"
		expect_eq '' "$(find "$(store_dir)/objects" -type f)"
		GIT_CHECKPOINT_MAX_FETCH_SIZE=$sum bounded git-checkpoint import -q "$T/bundle"
		git-checkpoint verify -q --all
		git --git-dir="$(store_dir)" fsck --strict --no-dangling
		small=$(($(du -k "$T/bundle" | cut -f 1) * 2 + 300))
		test "$(size_of_store)" -lt $small ||
			fail "round $round: $(size_of_store) kB of $sum bytes in a store, limit $small"
		git-checkpoint restore -q -y "$(git-checkpoint list --json | jq -r '.checkpoints[0].id')"
		diff -r "$T/from$round" . >&2 || fail "round $round: the files are others"
	done
}

# A bundle of some kilobytes with a text that is read whole, and one with more of the same tree in it
# than any memory has.
test_long_texts() {
	git-checkpoint save -q --allow-empty
	id=chk_20250101_000000_012345
	zeros=$(head -c 80000000 /dev/zero | object blob)
	for name in modes missing nested; do
		tree=$({ in_store ls-tree latest^:; printf '100644 blob %s\t%s\n' "$zeros" $name; } |
			awk -F '\t' '{ last[$2] = $0 } END { for (name in last) print last[name] }' |
			in_store mktree)
		meta=$(in_store cat-file commit latest^ | sed "1s/.*/tree $tree/" | object commit)
		forged "s/^Id: .*/Id: $id/; s/^parent .*/parent $meta/"
		bundled_all "$T/bad"
		mkdir "$T/to-$name"
		(
			cd "$T/to-$name"
			expect_exit 128 bounded git-checkpoint import "$T/bad" 2>"$T/err"
			expect_grep "its $name has 80000000 bytes" "$T/err"
		)
	done
}

test_trees_of_trees() {
	git-checkpoint save -q --allow-empty
	id=chk_20250101_000000_012345
	blob=$(echo 1 | object blob)
	tree=$(entry 100644 x "$blob" | object tree)
	for _ in $(seq 60); do
		tree=$({
			entry 40000 a "$tree"
			perl -e 'printf "100644 b%06d%s\0%s", $_, "x" x 200, pack("H*", $ARGV[0]) for 1 .. 20_000' "$blob"
		} | object tree)
	done
	forged "s/^Id: .*/Id: $id/" "$tree"
	bundled_all "$T/bad"
	mkdir "$T/to"
	cd "$T/to"
	expect_exit 128 bounded git-checkpoint import "$T/bad" 2>"$T/err"
	expect_grep 'it has more paths than maxFiles allows' "$T/err"
}

test_deep_trees() {
	git-checkpoint save -q --allow-empty
	id=chk_20250101_000000_012345
	tree=$(entry 100644 x "$(echo 1 | object blob)" | object tree)
	printf '%s\n' "$tree" | perl -e 'use Digest::SHA "sha1"; my $id = pack "H40", scalar <STDIN>;
		mkdir "t"; my $n = 10000;
		for (1 .. 3000) { my $text = "40000 d\0$id"; $id = sha1("tree " . length($text) . "\0$text");
			open my $f, ">", "t/" . $n++ or die; print $f $text; close $f }
		print unpack "H*", $id' >"$T/top"
	find t -type f | sort | in_store hash-object -t tree -w --literally --stdin-paths >/dev/null
	forged "s/^Id: .*/Id: $id/" "$(cat "$T/top")"
	bundled_all "$T/bad"
	mkdir "$T/to"
	cd "$T/to"
	expect_exit 128 git-checkpoint import "$T/bad" 2>"$T/err"
	expect_grep "d/d' is not a valid path" "$T/err"
}

run_tests
