#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder of lib/ uses only folders below its own, and each by its one door; every file is in its door.

. "$(dirname "$0")/../../lib/harness.sh"

check_layers() {
	"$LIB_DIR/check-layers.sh" "$@"
}

test_the_sources_keep_to_their_layers() {
	check_layers "$ROOT_DIR" "$BUILD_DIR"
}

test_an_include_of_a_higher_layer_is_named() {
	mkdir copy
	cp -R "$ROOT_DIR/lib" copy/
	{
		echo '/* wrong */'
		echo '#include "base/base.h"'
		echo '#include "save/save.h"'
	} >copy/lib/store/wrong.c
	expect_exit 1 check_layers copy >out
	expect_eq 1 "$(wc -l <out)" 'lines of the report'
	expect_grep '^lib/store/wrong\.c:3: .*save/save\.h' out
}

test_a_side_entrance_is_named() {
	mkdir -p lib/base lib/save
	echo '#include "base/error.h"' >lib/save/a.c
	echo '#include "base/base.h"' >lib/save/b.c
	echo '#include "save/save_internal.h"' >lib/save/c.c
	expect_exit 1 check_layers . >out
	expect_eq 1 "$(wc -l <out)" 'lines of the report'
	expect_grep '^lib/save/a\.c:1: .*base/error\.h' out
}

# What is declared by hand, without an include, is found in the objects.
test_symbols_count_not_only_includes() {
	mkdir -p lib/base lib/store lib/save build/lib/base build/lib/store build/lib/save
	echo 'int base_open(void);' >lib/base/base.h
	echo 'int base_hidden(void);' >lib/base/base_internal.h
	echo 'int save_it(void);' >lib/save/save.h
	echo 'int base_open(void) { return 1; } int base_hidden(void) { return 1; }' >lib/base/a.c
	echo 'int save_it(void) { return 1; }' >lib/save/b.c
	echo 'int base_open(void); int fine_one(void) { return base_open(); }' >lib/store/fine.c
	echo 'int base_hidden(void); int c_one(void) { return base_hidden(); }' >lib/store/c.c
	echo 'int save_it(void); int store_d(void) { return save_it(); }' >lib/store/d.c
	for file in base/a save/b store/fine store/c store/d; do
		${CC:-cc} -c -o build/lib/$file.o lib/$file.c
	done
	expect_exit 1 check_layers . build >out
	expect_eq 2 "$(wc -l <out)" 'lines of the report'
	expect_grep '^lib/store/c\.c: .*base_hidden.*private to base' out
	expect_grep '^lib/store/d\.c: .*save_it.*higher folder save' out
}

test_a_name_says_where_it_is() {
	mkdir -p lib/base build/lib/base
	echo 'int pack_write(void); int base_x(void); int pack(void);' >lib/base/base.h
	echo 'int pack_write(void) { return 1; } int base_x(void) { return 1; } int pack(void) { return 1; }
		int package(void) { return 1; }' >lib/base/pack_read.c
	${CC:-cc} -c -o build/lib/base/pack_read.o lib/base/pack_read.c
	echo 'int base_x(void); int use_y(void) { return base_x(); }' >lib/base/use.c
	${CC:-cc} -c -o build/lib/base/use.o lib/base/use.c
	expect_exit 1 check_layers . build >out
	expect_eq 1 "$(wc -l <out)" 'lines of the report'
	expect_grep '^lib/base/pack_read\.c: package()' out
}

test_text_reaches_the_terminal_by_one_door() {
	mkdir -p lib/show lib/base
	echo 'void show_a(void) { printf("%s", name); }' >lib/show/a.c
	echo 'void show_b(void) { fputs(name, stderr); }' >lib/show/b.c
	echo 'void show_c(void) { snprintf(b, 1, "x"); term_say(stdout, "x"); }' >lib/show/c.c
	echo 'void base_d(void) { printf("%s", name); }' >lib/base/d.c
	expect_exit 1 check_layers . >out
	expect_eq 2 "$(wc -l <out)" 'lines of the report'
	expect_grep '^lib/show/a\.c:1: ' out
	expect_grep '^lib/show/b\.c:1: ' out
}

test_ways_around_are_seen() {
	mkdir -p lib/base lib/ui
	echo ' #  include   <ui/term.h>' >lib/base/a.c
	echo '#include "../ui/term.h"' >lib/base/b.h
	echo '#include "lib/ui/term.h"' >lib/base/c.c
	echo '#include "base/base.h"' >lib/ui/fine.c
	expect_exit 1 check_layers . >out
	expect_eq 3 "$(wc -l <out)" 'lines of the report'
	expect_no_grep fine out
}

test_a_folder_that_is_no_layer_is_named() {
	mkdir -p lib/util
	echo 'int x;' >lib/util/common.c
	expect_exit 1 check_layers . >out
	expect_grep 'lib/util/common.c:1' out
}

# ---- the map ---------------------------------------------

# As lib/<layer>/<name>.c, one a line.
sources() {
	(cd "$1" && find lib -name '*.c' | sort)
}

# The words that a folder's door says of its files, as lib/<folder>/<word>.c
mapped() {
	for door in "$1"/lib/*/; do
		folder=$(basename "$door")
		awk -v folder="$folder" '
			/^ \*\// { inside = 0 }
			/^ \* In this folder:/ { inside = 1; next }
			inside {
				gsub(/[^a-z_0-9]+/, " ")
				for (i = 1; i <= NF; i++)
					print "lib/" folder "/" $i ".c"
			}' "$door$folder.h"
	done | sort -u
}

test_every_source_is_in_the_door_of_its_folder() {
	sources "$ROOT_DIR" >there
	mapped "$ROOT_DIR" >drawn
	expect_eq '' "$(comm -23 there drawn)" 'sources that the door of their folder does not name'
}

test_the_map_names_every_door_and_is_short() {
	awk '/^ \*\// { exit } { print }' "$ROOT_DIR/git-checkpoint.c" >map
	for door in "$ROOT_DIR"/lib/*/; do
		folder=$(basename "$door")
		expect_grep "^ \\*   lib/$folder/$folder\\.h  *[^ ]" map
	done
	test "$(wc -l <map)" -le 60 || fail "the map has $(wc -l <map) lines"
}

# The floor plan for newcomers names the folders in their order, and files that exist.
test_the_floor_plan_is_true() {
	cd "$ROOT_DIR/lib" || exit 1
	for folder in */; do
		expect_grep "\\b${folder%/}\\b" README.md
	done
	grep -o '`[a-z]*/[a-z_0-9]*\.[ch]`' README.md | tr -d '`' | sort -u >"$T/named"
	test -s "$T/named"
	while read -r file; do
		test -e "$file" || echo "$file"
	done <"$T/named" >"$T/missing"
	expect_eq '' "$(cat "$T/missing")" 'named in lib/README.md but not there'
}

test_the_main_file_stays_short() {
	lines=$(awk 'after { n++ } /^ \*\// { after = 1 } END { print n }' "$ROOT_DIR/git-checkpoint.c")
	test "$lines" -gt 0
	test "$lines" -lt 150 || fail "git-checkpoint.c has $lines lines after the map"
}

test_the_toolkit_knows_no_checkpoints() {
	mkdir -p lib/ui lib/record
	printf '%s\n' '#include "base/base.h"' '#include "git/git.h"' >lib/ui/good.c
	check_layers .
	echo '#include "record/record.h"' >lib/ui/bad.c
	expect_exit 1 check_layers . >out
	expect_eq 'lib/ui/bad.c:1: ui knows "record/record.h", but it is a toolkit' "$(cat out)"
}

run_tests
