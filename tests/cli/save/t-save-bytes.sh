#!/bin/sh
# SPDX-License-Identifier: MIT
# Bytes are bytes: no conversion that the project's attributes ask for is ever applied.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

setup() {
	git init -q
	printf 'one\r\ntwo\r\n' >crlf.txt
	printf 'one\ntwo\n' >lf.txt
	printf 'one\r\ntwo\n' >mixed.txt
	printf 'a\0b\r\n' >nul.bin
	printf '$Id$ $Id: 0123456789012345678901234567890123456789 $\n' >ident.txt
	printf '\376\377\0a\0\r\0\n' >utf16.txt
	printf '\303(\377\r\n' >not-utf8.txt
	: >empty.txt
	printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12\n' 0 >lfs.bin
	# whoever converts, tells
	cat >"$T/filter" <<-'END2'
	#!/bin/sh
	echo "$*" >>"${0%/*}/mark"
	tr a-z A-Z
	END2
	chmod +x "$T/filter"
	for name in lfs custom; do
		git config --global filter.$name.clean "$T/filter clean"
		git config --global filter.$name.smudge "$T/filter smudge"
		git config --global filter.$name.process "$T/filter process"
		git config --global filter.$name.required true
	done
	git config --global diff.custom.textconv "$T/filter textconv"
	git config --global diff.custom.command "$T/filter command"
	git config --global diff.external "$T/filter external"
	git config --global merge.custom.driver "$T/filter merge"
}

# expect_bytes: all saved and, by stock git, checked out as they are, and nothing run
expect_bytes() {
	save
	expect_state_of_files
	commit=$(answer .checkpoint.commit)
	store_git ls-tree -r "$commit" | cut -d' ' -f3 >"$T/stored"
	cut -f2 "$T/stored" | git hash-object --no-filters --stdin-paths >"$T/ids"
	cut -f1 "$T/stored" >"$T/stored.ids"
	expect_same "$T/ids" "$T/stored.ids"
	rm -rf "$T/stock"
	stock_checkout "$commit" "$T/stock"
	diff -r --exclude=.git . "$T/stock" || fail 'stock checkout differs'
	save
	expect_eq false "$(answer .checkpoint_created)"
	printf 'line\r\n' >>crlf.txt
	git checkpoint diff >"$T/diff"
	git checkpoint diff --stat >"$T/diff"
	git checkpoint status >"$T/status"
	save
	git checkpoint show --patch @ >"$T/patch"
	expect_eq "$(printf '+line\r')" "$(grep '^+line' "$T/patch")" 'line of the patch'
	expect_missing "$T/mark"
}

# with_attributes <line>...
with_attributes() {
	setup
	printf '%s\n' "$@" >.gitattributes
	expect_bytes
}

test_text_auto() { with_attributes '* text=auto'; }

test_eol_crlf() { with_attributes '* text eol=crlf'; }

test_eol_lf() { with_attributes '* text eol=lf'; }

test_ident() { with_attributes '* ident'; }

test_working_tree_encoding() { with_attributes '* text working-tree-encoding=UTF-16'; }

test_lfs() { with_attributes '* filter=lfs diff=lfs merge=lfs -text'; }

test_a_filter_of_the_users() { with_attributes '* filter=custom diff=custom merge=custom'; }

test_all_at_once() {
	with_attributes '* text=auto ident filter=custom diff=custom' '*.bin filter=lfs' \
		'utf16.txt working-tree-encoding=UTF-16BE eol=crlf'
}

test_attributes_of_subdirectories() {
	setup
	mkdir -p sub/deep
	cp -- *.txt sub/
	cp -- *.txt sub/deep/
	echo '* text eol=crlf filter=custom' >sub/.gitattributes
	echo '*.txt ident working-tree-encoding=UTF-16' >sub/deep/.gitattributes
	expect_bytes
}

test_attributes_of_the_repository() {
	setup
	echo '* text eol=crlf filter=custom' >.git/info/attributes
	expect_bytes
}

test_attributes_of_the_user() {
	setup
	echo '* text eol=crlf ident filter=custom' >"$HOME/attributes"
	git config --global core.attributesFile "$HOME/attributes"
	expect_bytes
}

test_autocrlf_of_the_user_and_the_repository() {
	setup
	git config --global core.autocrlf true
	git config core.autocrlf input
	git config core.safecrlf true
	git config core.eol crlf
	expect_bytes
}

test_autocrlf_on_the_command_line() {
	setup
	git -c core.autocrlf=true checkpoint save --json >"$T/save.json"
	expect_state_of_files
}

test_a_tracked_file_that_git_would_convert() {
	setup
	echo '* text=auto' >.gitattributes
	git -c core.safecrlf=false add -A
	git commit -q -m base
	rm -f "$T/mark"
	expect_bytes
}

test_outside_of_git() {
	setup
	rm -rf .git
	echo '* text=auto ident filter=custom' >.gitattributes
	expect_bytes
}

run_tests
