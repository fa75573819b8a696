# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of restore, undo and redo; sourced after harness.sh. All of them work on the
# worktree around the current directory.

# save [<option>...]: take a checkpoint; its id is left in $id, the answer in $T/save.json
save() {
	git-checkpoint save --json "$@" >"$T/save.json" 2>"$T/save.err" || {
		cat "$T/save.err"
		fail "save $*"
	}
	# not with jq, which takes longer than the save
	id=$(sed -n 's/.*"checkpoint":{"id":"\(chk_[0-9a-f_]*\)".*/\1/p' "$T/save.json")
	test -n "$id" || fail "no id in '$(cat "$T/save.json")'"
}

# contents <path>...: of all of them, in one line
contents() {
	cat -- "$@" | tr '\n' ' ' | sed 's/ $//'
}

# restoring <exit status> <command> [<option>...]: restore, undo or redo with --json; the answer is
# left in $T/restore.json
restoring() {
	restoring_wanted=$1 restoring_command=$2 restoring_status=0
	shift 2
	git-checkpoint "$restoring_command" --json "$@" >"$T/restore.json" 2>"$T/restore.err" || restoring_status=$?
	said "$T/restore.json" >>"$T/restore.err"
	test $restoring_status = "$restoring_wanted" || {
		cat "$T/restore.json" "$T/restore.err"
		fail "exit status $restoring_status instead of $restoring_wanted: $restoring_command $*"
	}
}

# restore [<option>...] <checkpoint>: one that must succeed
restore() {
	restoring 0 restore --yes "$@"
}

# told <filter>: of the answer to the last restore
told() {
	json "$1" "$T/restore.json"
}

# reverted: what it reverted, a line "<operation> <file>" each
reverted() {
	told '[.changes_reverted[] | .operation + " " + .file + "\n"] | add // ""' | sed '/^$/d'
}

# expect_reverted [<operation> <file>]...: exactly these, in this order
expect_reverted() {
	: >"$T/expected"
	test $# = 0 || printf '%s %s\n' "$@" >"$T/expected"
	reverted >"$T/reverted"
	expect_same "$T/expected" "$T/reverted"
}

# warnings: of the last restore, a line each
warnings() {
	told '[.warnings[] | . + "\n"] | add // ""' | sed '/^$/d'
}

# expect_warned <line>: it is among the warnings, to the letter
expect_warned() {
	warnings >"$T/warnings"
	grep -Fxq -e "$1" "$T/warnings" || {
		cat "$T/warnings"
		fail "no warning '$1'"
	}
}

expect_warned_like() {
	warnings >"$T/warnings"
	expect_grep "$1" "$T/warnings"
}

expect_not_warned() {
	warnings >"$T/warnings"
	expect_no_grep "${1:-.}" "$T/warnings"
}

# refused <text in the message>...: the last failure named all of these
refused() {
	said "$T/restore.json" >>"$T/restore.err"
	for text; do
		grep -Fq -e "$text" "$T/restore.err" || {
			cat "$T/restore.err"
			fail "the message does not name '$text'"
		}
	done
	jq -e '.error.code and .error.message' "$T/restore.json" >/dev/null ||
		fail 'no error in the answer'
}

# note <name>, expect_noted <name>: remember what the worktree looks like; check that it looks so again
note() {
	fingerprint . >"$T/fp.$1"
}

expect_noted() {
	fingerprint . >"$T/fp.now"
	expect_same "$T/fp.$1" "$T/fp.now"
}

# untouched <command>...: the command must not write anything in the worktree, .git included
untouched() {
	fingerprint_raw . >"$T/raw.before"
	"$@"
	fingerprint_raw . >"$T/raw.after"
	expect_same "$T/raw.before" "$T/raw.after"
}

# no_litter: nothing of a restore is left
no_litter() {
	find . -name '.git-checkpoint-restore-*' >"$T/litter"
	find "$(checkpoint_home)" -name '*tmp_ckpt_*' >>"$T/litter"
	find "$(store_dir)/checkpoint" -name journal >>"$T/litter"
	expect_eq '' "$(cat "$T/litter")" 'litter'
}

# held_by <checkpoint> <path>: what a checkpoint has there
held_by() {
	git --git-dir="$(store_dir)" show "refs/checkpoints/$1:$2"
}

# safety: the safety checkpoint of the last restore
safety() {
	told .safety_checkpoint.id
}

# there_and_back [<exit status>]: the state before is in the safety checkpoint, so undo and redo
# must be exact, too; from the state that was noted as "before".
there_and_back() {
	note restored
	restoring "${1:-0}" undo -y
	expect_noted before
	restoring "${1:-0}" redo -y
	expect_noted restored
	no_litter
}

# pack_of <object>: the path of the pack that has it, without its ending
pack_of() {
	for index in "$(store_dir)"/objects/pack/*.idx; do
		if git show-index <"$index" | grep -q "$1"; then
			echo "${index%.idx}"
			return
		fi
	done
	fail "$1 is in no pack" >&2
}

# flip <file> <offset>: change a byte
flip() {
	chmod u+w "$1"
	perl -e 'open my $f, "+<:raw", $ARGV[0] or die; seek $f, $ARGV[1], 0; read $f, my $b, 1;
		seek $f, $ARGV[1], 0; print $f chr(ord($b) ^ 0x55)' "$1" "$2"
}

# damage <object> [<offset>]: change a byte of it in its pack, after its header, in the compressed data
damage() {
	pack=$(pack_of "$1")
	flip "$pack.pack" $(($(git show-index <"$pack.idx" | awk -v o="$1" '$2 == o { print $1 }') + ${2:-12}))
}

# later <time> <command>...: so much later
later() {
	fake -f "$@"
}
