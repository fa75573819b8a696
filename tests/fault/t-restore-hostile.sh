#!/bin/sh
# SPDX-License-Identifier: MIT
# Checkpoints that are damaged or made to do harm; a worktree that changes under a restore.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# ---- damaged checkpoints ----

test_a_damaged_target_is_refused() {
	mkdir d
	noise 2000 >d/one
	save
	first=$id
	noise 2000 >d/two
	save
	second=$id
	rm d/two
	echo 3 >d/three
	save
	third=$id
	echo 4 >d/four
	damage "$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$second:d/two")" 60
	untouched restoring 128 restore -y "$second"
	refused "$second" d/two
	untouched restoring 128 restore -y "$second" d
	refused "$second" d/two
	untouched restoring 128 restore -y "$second" d/two
	refused "$second" d/two
	no_litter
	restore "$second" d/one
	restore "$first"
	restore "$third"
	damage "$(git --git-dir="$(store_dir)" rev-parse "refs/checkpoints/$second:d")"
	untouched restoring 128 restore -y "$second"
	refused "$second"
	restore "$first"
}

# ---- hostile checkpoints ----

# hostile <file with the tree's bytes>: a checkpoint like $id, but of that tree
hostile() {
	store=$(store_dir)
	tree=$(git --git-dir="$store" hash-object -t tree -w --literally --stdin <"$1")
	commit=$(git --git-dir="$store" cat-file commit "refs/checkpoints/$id" | sed "s/^tree .*/tree $tree/" |
		git --git-dir="$store" hash-object -t commit -w --literally --stdin)
	echo "$commit" >"$store/refs/checkpoints/$id"
}

# entry <mode> <name> <object>: bytes of a tree
entry() {
	perl -e 'print "$ARGV[0] $ARGV[1]\0", pack "H*", $ARGV[2]' "$1" "$2" "$3"
}

test_hostile_trees_are_refused() {
	mkdir d "$T/victim"
	echo 1 >a
	echo victim >"$T/victim/x"
	ln -s "$T/victim" link
	save
	store=$(store_dir)
	cp "$store/refs/checkpoints/$id" "$T/ref"
	blob=$(echo hacked | git --git-dir="$store" hash-object -w --stdin)
	link=$(printf %s "$T/victim" | git --git-dir="$store" hash-object -w --stdin)
	sub=$(entry 100644 x "$blob" | git --git-dir="$store" hash-object -t tree -w --literally --stdin)
	up=$(entry 40000 victim "$sub" | git --git-dir="$store" hash-object -t tree -w --literally --stdin)
	echo 2 >a
	fingerprint_raw "$T/victim" >"$T/victim.before"
	n=0
	for words in "40000 .. $up" "100644 .. $blob" "100644 . $blob" "40000 .git $sub" "40000 .GIT $sub" \
		"100644 .git $blob" "100644 ../x $blob" "100644 d/x $blob" "100644 /x $blob" \
		"120000 a $link 40000 a $sub" "100644 a $blob 100644 a $blob" "160000 a $blob" \
		"120000 link $link 40000 link $sub" "100644  $blob"; do
		n=$((n + 1))
		: >"$T/tree"
		printf '%s\n' "$words" | sed 's/\([0-9a-f]\{40\}\) */\1\n/g' | sed '/^$/d' >"$T/entries"
		while IFS= read -r line; do
			mode=${line%% *} rest=${line#* }
			entry "$mode" "${rest%% *}" "${rest#* }" >>"$T/tree"
		done <"$T/entries"
		cp "$T/ref" "$store/refs/checkpoints/$id"
		hostile "$T/tree"
		case $words in
		*.GIT*)
			# a name like any other where case counts, but no way into .git
			git-checkpoint restore -y "$id" >/dev/null 2>&1 || :
			expect_missing .git
			rm -rf .GIT
			echo 2 >a
			;;
		*)
			untouched restoring 128 restore -y "$id"
			refused "$id"
			# one level deeper
			inner=$(git --git-dir="$store" hash-object -t tree -w --literally --stdin <"$T/tree")
			entry 40000 d "$inner" >"$T/outer"
			cp "$T/ref" "$store/refs/checkpoints/$id"
			hostile "$T/outer"
			untouched restoring 128 restore -y "$id"
			;;
		esac
	done
	test $n -gt 10
	fingerprint_raw "$T/victim" >"$T/victim.after"
	expect_same "$T/victim.before" "$T/victim.after"
	expect_missing "$T/x"
	no_litter
}

# A link whose target holds a NUL, or none at all.
test_hostile_links_are_refused() {
	echo 1 >a
	save
	store=$(store_dir)
	echo 2 >a
	for text in '' 'x\000y'; do
		# shellcheck disable=SC2059
		link=$(printf "$text" | git --git-dir="$store" hash-object -w --stdin)
		entry 120000 a "$link" >"$T/tree"
		hostile "$T/tree"
		untouched restoring 128 restore -y "$id"
	done
}

# ---- a worktree that changes meanwhile ----

test_a_directory_that_becomes_a_link_meanwhile() {
	mkdir "$T/victim" d
	for n in 1 2 3 4 5 6 7 8; do
		echo victim >"$T/victim/f$n"
		echo 1 >d/f$n
	done
	echo victim >"$T/victim/precious"
	save
	fingerprint_raw "$T/victim" >"$T/victim.before"
	# It does the damage, too, while the directory is out of reach: nobody else writes through the link.
	cat >"$T/swap.pl" <<-'END'
		srand $ENV{TEST_SEED};
		my $n = 0;
		my $aside = "$ENV{T}/aside";
		until (-e "$ENV{T}/enough") {
			rename 'd', $aside or next;
			# A restore may have brought the link itself back; writing goes through no link.
			if (-l $aside) { unlink $aside; mkdir $aside; }
			symlink "$ENV{T}/victim", 'd' or die;
			if (open my $h, '>', "$aside/f" . (1 + $n++ % 8)) { print $h "edit $n\n"; }
			if (open my $h, '>', "$aside/precious") { print $h "new\n"; }
			select undef, undef, undef, rand 0.004;
			unlink 'd';
			rename $aside, 'd';
			select undef, undef, undef, rand 0.02;
		}
	END
	perl "$T/swap.pl" &
	pid=$!
	rounds=0 wrote=0 begin=$(date +%s) seconds=0
	# for some seconds, and on a busy machine until it could matter
	while test $seconds -lt "${CKPT_TEST_SECONDS:-6}" ||
		{ test $seconds -lt 60 && test $((rounds > 5 && wrote > 0)) = 0; }; do
		rounds=$((rounds + 1))
		rc=0
		git-checkpoint restore -q -y "$id" >/dev/null 2>&1 || rc=$?
		case $rc in
		0 | 3 | 4) wrote=$((wrote + 1)) ;;
		esac
		git-checkpoint restore -q --abort >/dev/null 2>&1 || :
		seconds=$(($(date +%s) - begin))
	done
	: >"$T/enough"
	wait $pid || :
	test $rounds -gt 5 && test $wrote -gt 0 || fail "$rounds rounds, of which $wrote were restores"
	fingerprint_raw "$T/victim" >"$T/victim.after"
	expect_same "$T/victim.before" "$T/victim.after"
}

# A file that is written between the scan and the rename is put back, and said.
test_files_that_are_written_meanwhile_are_not_lost() {
	n=0
	while test $n -lt 40; do
		n=$((n + 1))
		echo 1 >f$n
	done
	save
	n=0
	while test $n -lt 40; do
		n=$((n + 1))
		echo 2 >f$n
	done
	cat >"$T/write.pl" <<-'END'
		srand $ENV{TEST_SEED};
		my $n = 0;
		while (!-e "$ENV{T}/stop") {
			my $f = 'f' . (1 + int rand 40);
			open my $h, '>>', $f or next;
			syswrite $h, "edit " . ++$n . "\n";
			close $h;
			select undef, undef, undef, 0.002;
		}
		open my $h, '>', "$ENV{T}/edits";
		print $h $n;
	END
	perl "$T/write.pl" &
	pid=$!
	for _ in 1 2 3 4 5 6; do
		git-checkpoint restore -q -y "$id" >/dev/null 2>&1 || :
		sleep 0.05
	done
	touch "$T/stop"
	wait $pid || :
	edits=$(cat "$T/edits")
	# every edit is in a file or in a checkpoint
	{
		cat f*
		git --git-dir="$(store_dir)" for-each-ref --format='%(refname)' refs/checkpoints |
			while read -r ref; do
				git --git-dir="$(store_dir)" archive "$ref" | tar -xO
			done
	} | grep '^edit' | sort -u >"$T/found"
	lost=$((edits - $(wc -l <"$T/found")))
	test $lost -le 0 || fail "$lost of $edits edits are lost"
}

run_tests
