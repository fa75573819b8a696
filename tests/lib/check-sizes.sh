#!/bin/sh
# SPDX-License-Identifier: MIT
# No file of the tests may have more than 500 lines, so that each is about one subject. Names those
# that have more, and fails. Larger files in lib/ are named, too, but do not make it fail yet.
# usage: check-sizes.sh [<root>]
set -eu

cd "${1:-.}"
test -d tests || {
	echo "check-sizes: no tests/ here" >&2
	exit 2
}

# longer <folder>: "<file>: <n> lines" of each file that is too long
longer() {
	test -d "$1" || return 0
	find "$1" -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.p[lmy]' -o -name '*.awk' \) \
		-exec awk 'FNR == 501 { print FILENAME }' {} + | sort | while IFS= read -r file; do
		echo "$file: $(wc -l <"$file") lines, more than 500"
	done
}

longer lib
found=$(longer tests)
test -z "$found" || {
	echo "$found"
	exit 1
}
