#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder of lib/ uses only the folders before it in the list below, and enters them by one door:
# the header that has the folder's name. ui, which only shows, uses nothing but base, and git for
# the choice of the pager. Names every place that breaks this, and fails.
#
# Includes are read from the sources. With <build>, where these were compiled, the symbols are
# checked too: a function that is declared by hand, without an include, does not get past nm. A
# global name begins with that of its file, the first word of it, or that of its folder, so that
# who reads a call knows where to look. Where text is printed, it is by term_say() alone.
# usage: check-layers.sh [<root> [<build>]]
set -eu

cd "${1:-.}"
test -d lib || {
	echo "check-layers: no lib/ here" >&2
	exit 2
}
folders='base git settings tree store record turns session keep gitstate captures save look restore repair
	remote run flow install hooks agents mcp watch ui show cmd'
folders=$(echo $folders) # one line
status=0

find lib -name '*.[ch]' -exec awk -v folders="$folders" '
	BEGIN {
		count = split(folders, names, " ")
		for (i = 1; i <= count; i++)
			rank[names[i]] = i
	}
	FNR == 1 {
		split(FILENAME, part, "/")
		own = part[2]
		if (!(own in rank)) {
			print FILENAME ":1: in no folder that is known"
			bad = 1
		}
	}
	/^[ \t]*#[ \t]*include[ \t]*["<]/ {
		name = $0
		sub(/^[^"<]*["<]/, "", name)
		sub(/[">].*/, "", name)
		while (sub(/^(\.\.?\/|lib\/)/, "", name))
			;
		folder = name
		if (!sub(/\/.*/, "", folder) || !(folder in rank) || folder == own)
			next
		if (rank[folder] > rank[own]) {
			print FILENAME ":" FNR ": " own " includes \"" name "\" of the higher folder " folder
			bad = 1
		} else if (own == "ui" && folder != "base" && folder != "git") {
			print FILENAME ":" FNR ": " own " knows \"" name "\", but it is a toolkit"
			bad = 1
		} else if (name != folder "/" folder ".h") {
			print FILENAME ":" FNR ": " own " enters " folder " by \"" name "\", not by \"" \
				folder "/" folder ".h\""
			bad = 1
		}
	}
	END { exit bad }
' {} + || status=1

# Text reaches a terminal by one door, term_say(), which lets no control characters through.
for folder in ui show cmd; do
	test -d lib/$folder || continue
	if grep -nE '(^|[^a-z_])(v?f?printf|f?puts)\(' -r lib/$folder --include='*.c' |
		sed 's/^\([^:]*:[^:]*\):.*/\1: prints past term_say()/' | grep .; then
		status=1
	fi
done

test $# -ge 2 || exit $status

# Lines "T|U <folder> <file> <symbol>", then "H <folder> <word>" for all words of public headers.
{
	# Of the sources: an object may be older than the last rename of its source.
	find lib -name '*.c' | sed "s|^\(.*\)c\$|$2/\1o|" | xargs nm -A -P | awk -v root="$2/lib/" '
		{
			file = substr($1, length(root) + 1)
			sub(/\.o:$/, ".c", file)
			folder = file
			sub(/\/.*/, "", folder)
		}
		$3 == "U" { print "U", folder, "lib/" file, $2 }
		$3 ~ /^[TDBRVWC]$/ { print "T", folder, "lib/" file, $2 }'
	for folder in $folders; do
		find "lib/$folder" -name '*.h' ! -name '*_internal.h' -exec cat {} + 2>/dev/null |
			tr -cs 'A-Za-z0-9_' '\n' | sort -u | sed "s/^/H $folder /"
	done
} | awk -v folders="$folders" '
	BEGIN {
		count = split(folders, names, " ")
		for (i = 1; i <= count; i++)
			rank[names[i]] = i
	}
	$1 == "T" {
		home[$4] = $2
		stem = $3
		gsub(/.*\/|\.c$/, "", stem)
		first = stem
		sub(/_.*/, "", first)
		# error(3) is taken, x... is what git calls memory that cannot fail, and the last one is
		# not ours: it stands in for that of a library.
		name = $4
		if (stem == "error")
			sub(/^ckpt_/, "", name)
		if (stem != "alloc" && name !~ "^(" stem "|" first "|" $2 ")(_|$)" &&
		    name !~ /^(cmd_|__)/) {
			print $3 ": " $4 "() does not begin with \"" stem "_\", \"" first "_\" or \"" $2 "_\""
			bad = 1
		}
	}
	$1 == "U" { uses[++nr] = $0 }
	$1 == "H" { public[$2, $3] = 1 }
	END {
		for (i = 1; i <= nr; i++) {
			split(uses[i], use, " ")
			own = use[2]
			folder = home[use[4]]
			if (folder == "" || folder == own)
				continue
			if (rank[folder] > rank[own]) {
				print use[3] ": " own " uses " use[4] "() of the higher folder " folder
				bad = 1
			} else if (!((folder, use[4]) in public)) {
				print use[3] ": " own " uses " use[4] "(), which is private to " folder
				bad = 1
			}
		}
		if (!nr) {
			print "no symbols found"
			bad = 1
		}
		exit bad
	}
' || status=1
exit $status
