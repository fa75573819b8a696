#!/bin/sh
# SPDX-License-Identifier: MIT
# Plain English in what people read: names every line with a phrase that gives a translation away,
# and fails. words.pl has the list.
# usage: check-words.sh [<root>]
set -eu

cd "${1:-.}"
found=$(find README.md Makefile git-checkpoint.c lib man hooks completion tests -type f ! -path 'tests/*/corpus/*' \
	! -name words.pl ! -name t-messages.sh ! -name '*.svg' -exec tests/lib/words.pl {} +)
test -z "$found" || {
	echo "$found"
	echo 'check-words: not plain English' >&2
	exit 1
}
