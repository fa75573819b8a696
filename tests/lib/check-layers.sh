#!/bin/sh
# SPDX-License-Identifier: MIT
# The include graph is the architecture: a file under lib/<layer> includes headers of its own
# layer or of layers below it. Names every line that breaks this, and fails.
# usage: check-layers.sh [<root>]
set -eu

cd "${1:-.}"
test -d lib || {
	echo "check-layers: no lib/ here" >&2
	exit 2
}

find lib -name '*.[ch]' -exec awk '
	BEGIN {
		count = split("base git settings worktree store record session retention save inspect restore repair run flow hooks agents ui cmd", layers, " ")
		for (i = 1; i <= count; i++)
			rank[layers[i]] = i
	}
	FNR == 1 {
		split(FILENAME, part, "/")
		own = part[2]
		if (!(own in rank)) {
			print FILENAME ":1: in no layer that is known"
			bad = 1
		}
	}
	/^[ \t]*#[ \t]*include[ \t]*["<]/ {
		name = $0
		sub(/^[^"<]*["<]/, "", name)
		sub(/[">].*/, "", name)
		while (sub(/^(\.\.?\/|lib\/)/, "", name))
			;
		layer = name
		if (!sub(/\/.*/, "", layer) || !(layer in rank))
			next
		if (rank[layer] > rank[own]) {
			print FILENAME ":" FNR ": " own " includes \"" name "\" of the higher layer " layer
			bad = 1
		}
	}
	END { exit bad }
' {} +
