# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154
#
# For the tests of what comes from outside: checkpoints that nobody saved; sourced after harness.sh.

# in_store <git command>...: stock git in the store of the current directory
in_store() {
	git --git-dir="$(store_dir)" "$@"
}

# object <type>: write what stdin has as an object into the store, whatever it is; prints its name
object() {
	in_store hash-object -t "$1" -w --literally --stdin
}


# entry <mode> <name> <object>: an entry of a tree
entry() {
	printf '%s %s\0' "$1" "$2"
	printf %s "$3" | xxd -r -p
}

# forged <sed script> [<tree>]: the newest checkpoint again, as a commit that nobody saved: its text
# edited, with another tree. Its name is in $commit.
forged() {
	in_store cat-file commit latest >"$T/commit"
	test $# -lt 2 || sed -i "1s/.*/tree $2/" "$T/commit"
	sed -i -e "$1" "$T/commit"
	commit=$(object commit <"$T/commit")
}

# bundled_all <file>: the same with all objects of the store, whatever leads to what
bundled_all() {
	{
		printf '# v2 git bundle\n%s refs/checkpoints/%s\n\n' "$commit" "$id"
		in_store cat-file --batch-all-objects --batch-check='%(objectname)' |
			in_store pack-objects --stdout -q
	} >"$1"
}

# bundled <file> [<commit> [<id>]]: a bundle of one checkpoint, by default of $commit as $id
bundled() {
	in_store update-ref "refs/checkpoints/${3:-$id}" "${2:-$commit}"
	in_store bundle create -q "$1" "refs/checkpoints/${3:-$id}"
	in_store update-ref -d "refs/checkpoints/${3:-$id}"
}
