#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Trees so deep that the path of what is in them is longer than any system call takes.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# deep <levels> <bytes a level> <perl>: make a tree below ./deep and do that at its end
deep() {
	perl -e 'my ($levels, $bytes, $code) = @ARGV;
		for (1 .. $levels) {
			my $name = $_ == 1 ? "deep" : "y" x $bytes;
			mkdir $name; chdir $name or die "$name: $!";
		}
		eval $code; die $@ if $@' "$@"
}

# at_the_end: what is at the end of that tree, a line each
at_the_end() {
	perl -e 'chdir "deep" or exit;
		while (my ($next) = grep { -d } glob "y*") { chdir $next or die }
		for (sort glob "*") {
			my $what = -l ? "link " . readlink : -d ? "directory" : do { local (@ARGV, $/) = $_; <> };
			printf "%s %04o %s\n", $_, (lstat)[2] & 07777, $what;
		}'
}

MAKE='sub put { open my $f, ">", $_[0] or die $!; print $f $_[1]; close $f; chmod $_[2], $_[0] }'

# round_trip <levels> <bytes a level>
round_trip() {
	deep "$1" "$2" "$MAKE"' put("file", "one", 0640); put("gone", "two", 0755);
		symlink "nowhere", "link"; mkdir "empty"; chmod 0750, "empty"'
	at_the_end >"$T/first"
	expect_eq 4 "$(wc -l <"$T/first")"
	save
	first=$id
	deep "$1" "$2" "$MAKE"' put("file", "changed", 0600); unlink "gone", "link"; rmdir "empty";
		put("fresh", "three", 0644); symlink "elsewhere", "link"'
	at_the_end >"$T/second"

	restore "$first"
	at_the_end >"$T/now"
	expect_same "$T/first" "$T/now"
	restoring 0 undo -y
	at_the_end >"$T/now"
	expect_same "$T/second" "$T/now"
	restoring 0 redo -y
	at_the_end >"$T/now"
	expect_same "$T/first" "$T/now"

	# all of it gone, or something else in its place
	rm -r deep
	restore "$first"
	at_the_end >"$T/now"
	expect_same "$T/first" "$T/now"
	restoring 0 undo -y
	expect_missing deep
	echo flat >deep
	restore "$first"
	at_the_end >"$T/now"
	expect_same "$T/first" "$T/now"
	restoring 0 undo -y
	expect_eq flat "$(cat deep)"
	restoring 0 redo -y
	at_the_end >"$T/now"
	expect_same "$T/first" "$T/now"
	git-checkpoint verify -q --all
	no_litter
}

test_a_path_longer_than_PATH_MAX() {
	round_trip 25 200
}

test_a_path_much_longer_than_PATH_MAX() {
	round_trip 80 255
}

test_many_levels() {
	round_trip 300 20
}

# More levels than there may be open files, and beyond PATH_MAX.
test_more_levels_than_descriptors() {
	# shellcheck disable=SC3045 # every shell that is a /bin/sh has it
	ulimit -n 64
	round_trip 1500 2
}

# What is displaced is as deep, and has to go on the way out, too.
test_a_deep_tree_that_was_displaced_half() {
	# shellcheck disable=SC3045 # every shell that is a /bin/sh has it
	ulimit -n 64
	echo flat >deep
	save
	first=$id
	rm deep
	deep 1200 2 "$MAKE"' put("file", "one", 0640)'
	at_the_end >"$T/before"
	FAULT_PATH=$T/work expect_exit 137 with_faults unlink 20 kill git-checkpoint restore -q -y "$first"
	restoring 0 restore --abort
	at_the_end >"$T/now"
	expect_same "$T/before" "$T/now"
	no_litter
	restore "$first"
	expect_eq flat "$(cat deep)"
	no_litter
}

test_the_rest_of_the_checkpoint_is_not_held_up() {
	deep 25 200 "$MAKE"' put("file", "one", 0644)'
	echo 1 >plain
	save
	rm -r deep
	echo 2 >plain
	restore "$id"
	expect_eq 1 "$(cat plain)"
	at_the_end >"$T/now"
	expect_eq 'file 0644 one' "$(cat "$T/now")"
}

run_tests
