#!/bin/sh
# SPDX-License-Identifier: MIT
# No file includes a header of a layer above its own.

. "$(dirname "$0")/../lib/harness.sh"

check_layers() {
	"$LIB_DIR/check-layers.sh" "$@"
}

test_the_sources_keep_to_their_layers() {
	check_layers "$ROOT_DIR"
}

test_an_include_of_a_higher_layer_is_named() {
	mkdir copy
	cp -R "$ROOT_DIR/lib" copy/
	{
		echo '/* wrong */'
		echo '#include "base/error.h"'
		echo '#include "ops/save.h"'
	} >copy/lib/store/wrong.c
	expect_exit 1 check_layers copy >out
	expect_eq 1 "$(wc -l <out)" 'lines of the report'
	expect_grep '^lib/store/wrong\.c:3: .*ops/save\.h' out
}

test_ways_around_are_seen() {
	mkdir -p lib/base lib/ui
	echo ' #  include   <ui/term.h>' >lib/base/a.c
	echo '#include "../ui/term.h"' >lib/base/b.h
	echo '#include "lib/ui/term.h"' >lib/base/c.c
	echo '#include "base/a.h"' >lib/ui/fine.c
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

run_tests
