#!/bin/sh
# SPDX-License-Identifier: MIT
# A damaged stat cache costs time, and nothing else.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/damage.sh"

# ---- the stat cache ----

cached_tree() {
	mktree --odd --seed 9 --files 60 --dirs 12 .
	git-checkpoint save -q --force || :
	cache=$(store_dir)/checkpoint/statcache
	expect_exists "$cache"
	cp "$cache" "$T/sound-cache"
}

# with_cache <file>: put it in place of the cache
with_cache() {
	rm -f "$cache"
	cp "$1" "$cache"
}

test_a_cut_cache_is_no_harm() {
	cached_tree
	size=$(wc -c <"$T/sound-cache")
	for cut in 0 1 7 8 50 100 $((size / 3)) $((size / 2)) $((size - 9)) $((size - 1)); do
		head -c "$cut" "$T/sound-cache" >"$T/bad"
		with_cache "$T/bad"
		saves_right "cut at $cut"
	done
	cat "$T/sound-cache" "$T/sound-cache" >"$T/bad"
	with_cache "$T/bad"
	saves_right 'doubled'
}

test_a_cache_of_zeros_or_noise_is_no_harm() {
	cached_tree
	size=$(wc -c <"$T/sound-cache")
	head -c "$size" /dev/zero >"$T/bad"
	with_cache "$T/bad"
	saves_right zeros
	noise "$size" >"$T/bad"
	with_cache "$T/bad"
	saves_right noise
	# a sound head, then nothing
	{
		head -c 200 "$T/sound-cache"
		head -c $((size - 200)) /dev/zero
	} >"$T/bad"
	with_cache "$T/bad"
	saves_right 'zeros behind the head'
	rm "$cache"
	mkdir "$cache"
	saves_right 'a directory'
	rm -rf "$cache"
	ln -s /dev/zero "$cache"
	saves_right 'a link'
	rm -f "$cache"
	mkfifo "$cache"
	saves_right 'a FIFO'
}

test_the_cache_of_another_store_is_no_harm() {
	cached_tree
	mkdir "$T/other"
	(
		cd "$T/other"
		mktree --odd --seed 10 --files 60 --dirs 12 .
		git-checkpoint save -q --force || :
		cp "$(store_dir)/checkpoint/statcache" "$T/bad"
	)
	with_cache "$T/bad"
	saves_right 'the cache of another'
	# even of the same files, moved here: the cache knows objects that this store lacks
	mkdir "$T/twin"
	cd "$T/twin"
	cp -a "$T/work/." .
	saves_right twin
	cache=$(store_dir)/checkpoint/statcache
	with_cache "$T/sound-cache"
	saves_right 'the cache of a twin'
}

test_flipped_bits_in_the_cache_are_no_harm() {
	cached_tree
	rounds=${CKPT_TEST_ROUNDS:-100}
	fresh=$(fresh_tree)
	# a program for it, as a thousand processes would take too long
	cat >"$T/flip.pl" <<-'END'
		my ($in, $out, $seed) = @ARGV;
		srand $seed;
		open my $f, '<:raw', $in or die;
		local $/;
		my $data = <$f>;
		for (1 .. 1 + rand 3) {
			my $at = int rand length $data;
			$at = int rand 160 if rand() < 0.2;
			substr($data, $at, 1) ^= chr(1 << int rand 8);
		}
		open $f, '>:raw', $out or die;
		print $f $data;
	END
	seed=0
	while test $seed -lt "$rounds"; do
		seed=$((seed + 1))
		perl "$T/flip.pl" "$T/sound-cache" "$T/bad" $seed
		with_cache "$T/bad"
		git-checkpoint save -q --force --allow-empty || fail "seed $seed: exit status $?"
		expect_eq "$fresh" "$(tree_of latest)" "seed $seed: tree"
	done
	fsck
}

test_a_cache_never_hides_a_change() {
	cached_tree
	damage_tree 11
	perl -e 'open my $f, "+<:raw", $ARGV[0]; seek $f, 300, 0; print $f "x" x 8' "$cache" || :
	saves_right 'damaged tree, damaged cache'
	damage_tree 12
	saves_right 'damaged tree'
	# an old cache, of a state that was saved before
	with_cache "$T/sound-cache"
	saves_right 'an old cache'
}

run_tests
