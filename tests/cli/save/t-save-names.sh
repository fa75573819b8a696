#!/bin/sh
# SPDX-License-Identifier: MIT
# Names that hurt, links of every kind and empty directories.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

# expect_all: everything below the current directory is in the newest checkpoint
expect_all() {
	save
	expect_eq 1 "$(answer .confidence)" confidence
	expect_state_of_files
	store_git fsck --strict >"$T/fsck" 2>&1
}

test_names_that_mean_something_to_a_shell_or_to_git() {
	git init -q
	for name in -x --force -- :x ':(top)x' ':^x' ':!x' '*' '?' '[a]' 'a[b' '{a,b}' '!x' '#x' '~' \
		'~root' '$HOME' '`id`' 'a;b' 'a|b' 'a&b' "it's" 'a"b' '"' '\' 'a\' '\n' ' ' ' a' 'a ' \
		'a  b' '...' '..a' a. '@' '@{0}' 'HEAD' 'a:b' 'a=b' '%s%n' .gitx .gitmodule git~1 \
		.GIT.x 'CON' 'a^b' '^' '<' '>'; do
		echo "$name" >"./$name"
		mkdir "./dir$name"
		echo "$name" >"./dir$name/$name"
	done
	expect_all
	git checkpoint show --files -z @ | sort -z >"$T/files.shown"
	find . -name .git -prune -o -type f -printf '%P\0' | sort -z >"$T/files.there"
	cmp "$T/files.there" "$T/files.shown"
	stock_checkout "$(answer .checkpoint.commit)" "$T/stock"
	diff -r --exclude=.git . "$T/stock"
}

test_control_characters_and_bytes_that_are_no_utf8() {
	perl -e '
		for my $byte (1 .. 46, 48 .. 255) {
			my $name = chr $byte;
			for my $path ($name eq "." ? () : $name, "a$name", "${name}b") {
				open my $file, ">", "./$path" or die "$byte: $!";
				print $file $byte;
			}
		}
		mkdir "dir\n\t\xff" or die;
		open my $file, ">", "dir\n\t\xff/\xc3(\r\n" or die;
	'
	expect_all
	# 253 alone, twice 254 in company of which one is the same, and one deeper
	expect_eq 761 "$(answer .stats.files)" files
	# what is no UTF-8 is quoted, so that JSON stays JSON
	: >"$(printf 'sub\377')"
	save -- "$(printf 'sub\377')"
	expect_eq '"sub\377"' "$(answer '.checkpoint.scope.files[0]')"
}

test_the_same_name_in_another_case_or_normal_form() {
	echo 1 >A
	echo 2 >a
	test "$(cat A)" = 1 || skip 'names do not differ by case here'
	mkdir Dir dir DIR
	echo 3 >Dir/x
	echo 4 >dir/x
	echo 5 >DIR/X
	echo 6 >"$(printf '\303\244')"
	echo 7 >"$(printf 'a\314\210')"
	expect_all
	expect_eq 7 "$(answer .stats.files)" files
}

# `a.b` comes before `a/b`, but `a` as a directory comes after `a.b` in a git tree
test_files_and_directories_whose_order_differs_in_trees_and_paths() {
	for name in a ab a-b a.b a0b; do
		mkdir "x$name" "y$name"
		: >"x$name/f"
	done
	for name in a-b a.b a0b a b; do
		: >"z$name"
	done
	mkdir z
	mkdir -p p/q p.q/r p-q/r p0q/r
	: >p/q/f
	: >p.q/r/f
	: >p-q/r/f
	expect_all
}

test_names_of_255_bytes() {
	name=$(printf %0255d 0)
	echo x >"$name"
	mkdir -p "d/${name%0}1"
	echo y >"d/${name%0}1/$name"
	expect_all
	expect_eq 2 "$(answer .stats.files)" files
}

test_paths_longer_than_the_system_takes_at_once() {
	perl -e '
		my $name = "d" x 200;
		for (1 .. 30) {
			mkdir $name or die;
			chdir $name or die;
			open my $file, ">", "f$_" or die;
			print $file $_;
		}
		symlink "nowhere", "link" or die;
		mkdir "empty" or die;
		chmod 0700, "empty" or die;
	'
	expect_all
	expect_eq 31 "$(answer .stats.files)" files
	save
	expect_eq false "$(answer .checkpoint_created)"
	perl -e 'chdir "d" x 200 or die for 1 .. 30; open my $file, ">>", "f30" or die; print $file "x"'
	save
	expect_eq 1 "$(answer .stats.changed)" changed
	expect_state_of_files
}

test_very_many_levels() {
	perl -e 'for (1 .. 1500) { mkdir "d" or die; chdir "d" or die } open my $f, ">", "f" or die'
	expect_all
	expect_eq 1 "$(answer .stats.files)" files
}

test_links_of_every_kind_are_links() {
	git init -q
	mkdir -p dir "$T/outside/dir"
	echo secret >"$T/outside/file"
	echo secret >"$T/outside/dir/file"
	echo x >file
	ln -s file to-file
	ln -s dir to-dir
	ln -s dir/ to-dir-slash
	ln -s nowhere dangling
	ln -s "$T/outside/file" to-file-outside
	ln -s "$T/outside/dir" to-dir-outside
	ln -s ../.. dir/up
	ln -s . self
	ln -s loop-b loop-a
	ln -s loop-a loop-b
	ln -s loop loop
	ln -s .git/config to-git
	ln -s / root
	ln -s /dev/zero to-device
	ln -s "$(printf 'new\nline \377')" odd
	ln -s "$(printf %04000d 0)" long
	expect_all
	expect_eq 17 "$(answer .stats.files)" files
	expect_no_grep secret "$T/lines.checkpoint"
	commit=$(answer .checkpoint.commit)
	expect_eq "$T/outside/dir" "$(store_git cat-file blob "$commit:to-dir-outside")"
	expect_eq 16 "$(store_git ls-tree -r "$commit" | grep -c ^120000)" links
	ln -sfn elsewhere dangling
	save
	expect_eq 1 "$(answer .stats.changed)" changed
	expect_state_of_files
}

test_a_link_called_like_a_file_of_gits_is_a_link() {
	git init -q
	echo 'ignored' >"$T/rules"
	ln -s "$T/rules" .gitignore
	ln -s "$T/rules" .gitattributes
	ln -s "$T/rules" .gitmodules
	ln -s "$T/rules" .mailmap
	: >ignored
	expect_all
}

test_hard_links_are_captured_each() {
	echo x >a
	ln a b
	expect_all
	expect_captured a b
}

test_a_directory_that_becomes_a_file_and_a_link() {
	mkdir x
	: >x/y
	expect_all
	rm -r x
	expect_all
	: >x
	expect_all
	rm x
	ln -s / x
	expect_all
	rm x
	mkdir x
	expect_all
	expect_eq true "$(answer .checkpoint_created)"
}

test_empty_directories() {
	git init -q
	mkdir -p empty a/b/c 'new
line' a/-x
	expect_all
	expect_eq 4 "$(tr '\0' '\n' <"$T/lines.checkpoint" | grep -c ^040000)" 'empty directories'
	rmdir empty
	save
	expect_eq true "$(answer .checkpoint_created)" 'a removed directory is a change'
	mkdir a/new
	save
	expect_eq true "$(answer .checkpoint_created)" 'a new directory is a change'
	expect_state_of_files
}

# Without the files that are left out such a directory would not come back at all.
test_directories_that_hold_only_ignored_things() {
	git init -q
	mkdir -p logs/deep fifo nested wholly/out
	echo '*.log
wholly/' >.gitignore
	: >logs/deep/a.log
	: >wholly/out/x
	mkfifo fifo/f
	git init -q nested
	save
	git checkpoint show --hashes @ | tr '\0' '\n' | sed -n 's/^040000 [0-9a-f]* //p' >"$T/empty"
	printf '%s\n' fifo logs/deep nested >"$T/expected"
	expect_same "$T/expected" "$T/empty"
	expect_state_of_files logs/deep/a.log wholly
}

run_tests
