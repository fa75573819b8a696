# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of what a checkpoint holds; sourced after harness.sh. All of them work on the
# worktree whose root is the current directory.

# save [<option>...]: take a checkpoint; the answer is left in $T/save.json
save() {
	git checkpoint save --json "$@" >"$T/save.json"
}

# answer <filter>: of the answer to the last save
answer() {
	json "$1" "$T/save.json"
}

# store_git <argument>...: stock git on the store
store_git() {
	git --git-dir="$(store_dir)" "$@"
}

# captured: what the newest checkpoint holds, a path on each line
captured() {
	git checkpoint show --files @
}

# expect_captured <path>...: the newest checkpoint holds exactly these, in this order
expect_captured() {
	if test $# = 0; then
		: >"$T/expected"
	else
		printf '%s\n' "$@" >"$T/expected"
	fi
	captured >"$T/captured"
	expect_same "$T/expected" "$T/captured"
}

# expect_warning <basic regular expression>, expect_no_warning: in the answer to the last save
expect_warning() {
	answer '.warnings | join("\n")' >"$T/warnings"
	expect_grep "$1" "$T/warnings"
}

expect_no_warning() {
	answer '.warnings | join("\n")' >"$T/warnings"
	expect_no_grep "${1:-.}" "$T/warnings"
}

# stock_checkout <commit> <dir>: what stock git makes of a checkpoint
stock_checkout() {
	mkdir -p "$2"
	rm -f "$T/stock-index"
	(
		store=$(store_dir)
		cd "$2" || exit
		GIT_INDEX_FILE=$T/stock-index git --git-dir="$store" --work-tree=. checkout -q "$1" -- .
	)
}

# expect_state_of_files [<path to leave out>...]: the newest checkpoint's state hash is that of the
# files as they are now
expect_state_of_files() {
	"$LIB_DIR/statehash.pl" . "$@" >"$T/lines.files"
	git checkpoint show --hashes @ >"$T/lines.checkpoint"
	cmp "$T/lines.files" "$T/lines.checkpoint" || {
		for side in files checkpoint; do
			tr '\0' '\n' <"$T/lines.$side" >"$T/text.$side"
		done
		diff -u "$T/text.files" "$T/text.checkpoint" || :
		fail 'the checkpoint is not of the files'
	}
	expect_eq "$(state_hash <"$T/lines.files")" \
		"$(answer .pre_mutation_state.hash)" 'state hash'
}

# expect_skipped [<path> <why>]...: everything that the last save could not, or would not, capture
expect_skipped() {
	: >"$T/expected"
	test $# = 0 || printf '%s %s\n' "$@" >"$T/expected"
	answer '[.skipped[] | .file + " " + .why + "\n"] | add // ""' | sed '/^$/d' >"$T/skipped"
	expect_same "$T/expected" "$T/skipped"
}

# make_files <path>...: with the directories that they are in
make_files() {
	for path; do
		case $path in
		*/*) mkdir -p "${path%/*}" ;;
		esac
		echo "$path" >"$path"
	done
}
