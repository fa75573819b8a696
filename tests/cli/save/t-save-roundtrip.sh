#!/bin/sh
# SPDX-License-Identifier: MIT
# Random trees: what was saved is what was there.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

# Kind, executable or not, contents and path: what stock git can bring back. It refuses to write
# anything that is called .git, in capitals too.
plain_fingerprint() {
	fingerprint "$1" | sed -e '/^.... dir /d' -e '/[ /]\.[gG][iI][tT]\(\/\|$\)/d' \
		-e 's/^.[1357].. file/x file/' -e 's/^.... //'
}

# recorded_modes <commit>: permission bits and path of all that is not a link, as the checkpoint
# has them, a NUL after each
recorded_modes() {
	store_git ls-tree -r -t -z "$1" >"$T/tree"
	store_git cat-file blob "$1^:modes" >"$T/modes"
	perl -e '
		local $/;
		open my $modes, "<:raw", $ARGV[0] or die; my $bytes = <$modes>;
		open my $tree, "<:raw", $ARGV[1] or die; my $list = <$tree>;
		$bytes =~ s/^file (\d+) exec (\d+) dir (\d+)\n// or die "no head";
		my %common = (100644 => $1, 100755 => $2, "040000" => $3);
		my %own = map { /^(\d+) (.*)$/s or die; ($2 => $1) } split /\0/, $bytes;
		for (split /\0/, $list) {
			my ($mode, $path) = /^(\d+) \w+ \w+\t(.*)$/s or die;
			next if $mode eq "120000";
			my $bits = exists $own{$path} ? delete $own{$path} : $common{$mode};
			print "$bits $path\0";
		}
		die "modes of paths that are not there" if %own;
	' "$T/modes" "$T/tree" | sort -z
}

present_modes() {
	find . -mindepth 1 -name .git -prune -o ! -type l -printf '%m %P\0' | sort -z
}

# The newest checkpoint against the files, in every way there is.
expect_exact() {
	commit=$(answer .checkpoint.commit)
	expect_eq 1 "$(answer .confidence)" confidence
	expect_eq '[]' "$(answer '.skipped | tostring')" skipped
	expect_state_of_files
	recorded_modes "$commit" >"$T/modes.recorded"
	present_modes >"$T/modes.present"
	cmp "$T/modes.recorded" "$T/modes.present" || fail 'modes differ'
	plain_fingerprint . >"$T/before"
	# no pathspec matches in an empty tree
	test ! -s "$T/before" || stock_checkout "$commit" "$T/stock"
	mkdir -p "$T/stock"
	plain_fingerprint "$T/stock" >"$T/after"
	expect_same "$T/before" "$T/after"
	rm -rf "$T/stock"
}

# round_trips <seed>
round_trips() {
	make_tree "$1" 120
	fingerprint_raw . >"$T/untouched"
	save
	fingerprint_raw . >"$T/touched"
	expect_same "$T/untouched" "$T/touched"
	expect_exact
	for round in 1 2; do
		damage_tree "$1$round"
		save
		expect_exact
	done
	store_git fsck --strict --no-dangling >"$T/fsck" 2>&1 || {
		cat "$T/fsck"
		fail 'git fsck'
	}
	expect_eq '' "$(cat "$T/fsck")" 'git fsck'
}

test_a_git_worktree_round_trips() {
	git init -q
	round_trips 1
}

test_a_plain_directory_round_trips() {
	round_trips 2
}

test_a_tree_with_commits_round_trips() {
	git init -q
	mktree --seed 3 --files 60 --dirs 10 .
	git add -A
	git commit -q -m base
	round_trips 4
	expect_eq git_stash "$(answer .checkpoint.type)"
}

test_a_nested_repository_in_a_random_tree_round_trips() {
	git init -q
	git init -q nested
	make_tree 5 40 nested
	round_trips 6
}

test_every_earlier_checkpoint_stays_as_it_was() {
	git init -q
	make_tree 7 80
	for round in 1 2 3; do
		save --step $round
		plain_fingerprint . >"$T/files.$round"
		git checkpoint show --hashes @ >"$T/hashes.$round"
		answer .checkpoint.commit >"$T/commit.$round"
		damage_tree "7$round"
	done
	for round in 1 2 3; do
		git checkpoint show --hashes "step:$round" >"$T/hashes"
		cmp "$T/hashes.$round" "$T/hashes"
		stock_checkout "$(cat "$T/commit.$round")" "$T/stock.$round"
		plain_fingerprint "$T/stock.$round" >"$T/files"
		expect_same "$T/files.$round" "$T/files"
	done
}

test_the_number_of_threads_changes_nothing() {
	for seed in 8 9; do
		make_tree $seed 200 $seed
		cd $seed
		git init -q
		for round in 1 2; do
			for threads in 1 4; do
				GIT_CHECKPOINT_HOME=$T/home.$threads GIT_CHECKPOINT_THREADS=$threads save
				answer .pre_mutation_state.hash >"$T/hash.$threads"
				commit=$(answer .checkpoint.commit)
				GIT_CHECKPOINT_HOME=$T/home.$threads
				store_git rev-parse "$commit^{tree}" "$commit^:modes" >"$T/ids.$threads"
				unset GIT_CHECKPOINT_HOME
			done
			expect_same "$T/hash.1" "$T/hash.4"
			expect_same "$T/ids.1" "$T/ids.4"
			damage_tree $seed$round
		done
		cd ..
	done
}

test_an_unchanged_tree_is_the_same_checkpoint() {
	git init -q
	make_tree 10 60
	save
	id=$(answer .checkpoint.id)
	for touch in : 'find . -name .git -prune -o -type f -exec touch {} +' \
		'rm -rf "$T/state/git-checkpoint/"*/checkpoint/statcache'; do
		eval "$touch"
		save
		expect_eq false "$(answer .checkpoint_created)"
		expect_eq "$id" "$(answer .checkpoint.id)"
		expect_exact
	done
}

test_an_empty_tree_is_a_state_like_any_other() {
	git init -q
	save
	expect_exact
	expect_captured
	touch file
	save
	expect_eq true "$(answer .checkpoint_created)"
	rm file
	save
	expect_eq true "$(answer .checkpoint_created)"
	expect_exact
	expect_captured
}

# Size and time stay as they were: only an edit within the same tick looks like that.
test_an_edit_right_after_a_save_is_seen() {
	git init -q
	for value in 1 2 3 4 5; do
		echo $value >file
		save
		expect_eq true "$(answer .checkpoint_created)" "edit $value"
		expect_eq $value "$(store_git show "$(answer .checkpoint.commit):file")"
	done
}

test_an_edit_that_hides_behind_size_and_mtime_is_seen() {
	git init -q
	echo one >file
	touch -d '2001-01-01 00:00:00' file
	save
	echo two >file
	touch -d '2001-01-01 00:00:00' file
	save
	expect_eq two "$(store_git show "$(answer .checkpoint.commit):file")"
	expect_state_of_files
}

run_tests
