#!/bin/sh
# SPDX-License-Identifier: MIT
# No file of the tests may have more than 500 lines, and none of lib/ more than 700, so that each is
# one idea. Names those that have more, and fails.
# usage: check-sizes.sh [<root>]
set -eu

cd "${1:-.}"
test -d tests || {
	echo "check-sizes: no tests/ here" >&2
	exit 2
}

# longer <folder> <most>: "<file>: <n> lines" of each file that is too long
longer() {
	test -d "$1" || return 0
	find "$1" -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.p[lmy]' -o -name '*.awk' \) \
		-exec awk -v most="$2" 'FNR == most + 1 { print FILENAME }' {} + | sort | while IFS= read -r file; do
		echo "$file: $(wc -l <"$file") lines, more than $2"
	done
}

found=$(longer lib 700 && longer tests 500)
test -z "$found" || {
	echo "$found"
	exit 1
}
