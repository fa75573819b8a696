#!/bin/sh
# SPDX-License-Identifier: MIT
# The program side by side with stock git, which keeps its own history of the same tree in a
# shadow GIT_DIR. Both take turns on one tree with a warm cache; the table shows medians.
#
#   BENCH_ROUNDS=<n>   rounds (5)
#   BENCH_DIR=<dir>    measure on a copy of this directory instead of a generated tree
#   BENCH_ONLY=many    no more than what many checkpoints cost, a matter of minutes
#   BENCH_ONLY=into    no more than what copies cost
#   BENCH_ONLY=large   no more than what one large file costs; BENCH_LARGE_MB=<n> is its size (2048)
#   BENCH_ONLY=sibling no more than the first save in another worktree
#   BENCH_ONLY=agents  no more than what the hook adds to the calls of an agent
#   BENCH_ONLY=million no more than saves of a million files, without and with a watcher
#   BENCH_ONLY=hooks   no more than what hooks and the guard cost git
#   BENCH_ONLY=push    no more than a push of ten changed files
#   BENCH_ONLY=lock    no more than many processes that save at the same time
#   BENCH_ONLY=tree    no more than saves and restores of the tree
#   BENCH_QUICK=1      a small tree and no large file: to try the script, not to judge
#   TMPDIR=<dir>       where the trees are made; the file system matters
#
# Exits with 1 if a row misses what it must reach.
#
# To add a row: take samples with `ours <key> <command>...` and `stock <key> <command>...` in
# one_round or further below, and print it with a call of row_time, row_disk, row_memory or
# row_millis in table.sh.
set -eu

ROOT=$(cd "$(dirname "$0")/../.." && pwd -P)
BUILD_DIR=${BUILD_DIR:-$ROOT/build}
QUICK=${BENCH_QUICK:-}
ROUNDS=${BENCH_ROUNDS:-${QUICK:+3}}
ROUNDS=${ROUNDS:-5}
SAVES=50

# ---- a place of our own ------------------------------------------------------------

for name in $(env | sed -n 's/^\(\(GIT\|XDG\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
	unset "$name"
done
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/git-checkpoint-bench.XXXXXX")
trap 'stop_watcher; chmod -R u+rwx "$SCRATCH" 2>/dev/null; rm -rf "$SCRATCH"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

TREE=$SCRATCH/tree
SHADOW=$SCRATCH/shadow
SAMPLES=$SCRATCH/samples
export HOME="$SCRATCH/home" LC_ALL=C TZ=UTC PATH="$BUILD_DIR:$PATH"
export GIT_CHECKPOINT_HOME="$SCRATCH/stores" GIT_CHECKPOINT_MAX_COUNT=1000
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$HOME/.gitconfig"
mkdir "$HOME" "$SAMPLES"
# A collection in the background would disturb what is measured next.
cat >"$GIT_CONFIG_GLOBAL" <<'END'
[user]
	name = A U Thor
	email = author@example.com
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
END

say() {
	echo "$*" >&2
}

# shellcheck source=tests/bench/hooks.sh
. "$ROOT/tests/bench/hooks.sh"
# shellcheck source=tests/bench/into.sh
. "$ROOT/tests/bench/into.sh"
# shellcheck source=tests/bench/sibling.sh
. "$ROOT/tests/bench/sibling.sh"
# shellcheck source=tests/bench/agents.sh
. "$ROOT/tests/bench/agents.sh"
# shellcheck source=tests/bench/watch.sh
. "$ROOT/tests/bench/watch.sh"
# shellcheck source=tests/bench/large.sh
. "$ROOT/tests/bench/large.sh"
# shellcheck source=tests/bench/remote.sh
. "$ROOT/tests/bench/remote.sh"
# shellcheck source=tests/bench/lock.sh
. "$ROOT/tests/bench/lock.sh"
# shellcheck source=tests/bench/table.sh
. "$ROOT/tests/bench/table.sh"

# Without the program only stock git is measured.
HAVE_OURS=
if command -v git-checkpoint >/dev/null; then
	HAVE_OURS=1
else
	say 'git-checkpoint is not built: measuring stock git only'
fi

has_command() {
	test -n "$HAVE_OURS" && git-checkpoint --list-cmds 2>/dev/null | grep -qw "$1"
}

# ---- taking samples ----------------------------------------------------------------

# ours <key> <command>... and stock <key> <script>: one sample each, in the tree
ours() {
	test -n "$HAVE_OURS" || return 0
	key=$1
	shift
	sample_status=0
	(cd "$TREE" && measure "$SAMPLES/$key.ours" "$@" >"$SCRATCH/log" 2>&1) || sample_status=$?
	if test $sample_status != 0; then
		say "failed with $sample_status: $*"
		cat "$SCRATCH/log" >&2
		exit 2
	fi
}

# A commit of nothing exits with 1; that is how stock git says so, and is measured like the rest.
stock() {
	(cd "$TREE" && measure "$SAMPLES/$1.git" sh -c "$2" sh "git --git-dir=$SHADOW --work-tree=$TREE" \
		>"$SCRATCH/log" 2>&1) || test $? = 1 || {
		say "stock git failed: $2"
		cat "$SCRATCH/log" >&2
		exit 2
	}
}

# turns <n> <function> <function>: who is first changes from round to round
turns() {
	if test $(($1 % 2)) = 1; then
		"$2"
		"$3"
	else
		"$3"
		"$2"
	fi
}

ours_save() {
	ours "$SAVE_AS" git-checkpoint save -q -m x
}

# shellcheck disable=SC2016 # expanded by the measured shell
stock_save() {
	stock "$SAVE_AS" '$1 add -A && $1 commit -q -m x'
}

disk() {
	du -sk "$2" | cut -f1 >>"$SAMPLES/$1"
}

# ---- the tree ----------------------------------------------------------------------

SIZE='--files 60000 --dirs 4500 --bytes 200000000'
test "${BENCH_ONLY:-}" != million || SIZE='--files 1000000 --dirs 70000 --bytes 1000000000'

make_the_tree() {
	if test -n "${BENCH_DIR:-}"; then
		say "copying $BENCH_DIR"
		cp -a --reflink=auto "$BENCH_DIR" "$TREE"
	else
		say 'making the tree'
		if test -n "$QUICK"; then
			mktree --files 3000 --dirs 225 "$TREE"
		else
			# shellcheck disable=SC2086 # three options
			mktree $SIZE "$TREE"
		fi
		# As people have it: a repository, everything committed.
		git init -q "$TREE"
		git -C "$TREE" -c core.compression=0 add -A
		git -C "$TREE" commit -q -m x
	fi
	tar cf - -C "$TREE" . | cat >/dev/null
}

# Files are moved away, not removed: an ext4 without a journal passes over inodes that were freed
# within the last minutes one by one, and creating files after a large removal would measure that
# and nothing else, for both sides.
AWAY=0
new_away() {
	AWAY=$((AWAY + 1))
	mkdir -p "$SCRATCH/away/$AWAY"
}

new_shadow() {
	new_away
	test ! -e "$SHADOW" || mv "$SHADOW" "$SCRATCH/away/$AWAY"
	git --git-dir="$SHADOW" --work-tree="$TREE" init -q
}

# list_files: those that change() picks from; stock git has saved the tree
list_files() {
	test -e "$SHADOW/index" || (cd "$TREE" && git --git-dir="$SHADOW" --work-tree="$TREE" add -A)
	git --git-dir="$SHADOW" ls-files | grep -v '^"' >"$SCRATCH/files"
}

# change <n>: append to ten files, spread over the tree, other ones for each n
change() {
	awk -v n="$1" -v total="$(wc -l <"$SCRATCH/files")" '
		BEGIN { step = int(total / 10); for (i = 0; i < 10; i++) pick[(i * step + n * 7) % total + 1] }
		NR in pick' "$SCRATCH/files" |
		while IFS= read -r file; do
			echo "change $1" >>"$TREE/$file"
		done
}

# disturb <n>: ten files changed, five created
disturb() {
	change "$1"
	for i in 1 2 3 4 5; do
		echo "new $1" >"$TREE/bench-new-$i.txt"
	done
}

delete_everything() {
	new_away
	find "$TREE" -mindepth 1 -maxdepth 1 ! -name .git -exec mv -t "$SCRATCH/away/$AWAY" {} +
}

# ---- the rounds --------------------------------------------------------------------

one_round() {
	rm -rf "$GIT_CHECKPOINT_HOME"
	new_shadow
	SAVE_AS=first turns "$1" ours_save stock_save
	if test "$1" = 1; then
		list_files
		disk size-first.git "$SHADOW"
		test -z "$HAVE_OURS" || disk size-first.ours "$GIT_CHECKPOINT_HOME"
	fi
	SAVE_AS=unchanged turns "$1" ours_save stock_save
	change "$1"
	SAVE_AS=ten turns "$1" ours_save stock_save
	test -z "$HAVE_RESTORE" || restores "$1"
}

ours_restore() {
	"$RESTORE_FROM" "$round"
	ours "$RESTORE_AS" git-checkpoint restore -q -y "$TARGET"
}

# shellcheck disable=SC2016
stock_restore() {
	"$RESTORE_FROM" "$round"
	stock "$RESTORE_AS" '$1 checkout -q HEAD -- . && $1 clean -fdq'
}

restores() {
	TARGET=$(git --git-dir="$(echo "$GIT_CHECKPOINT_HOME"/*/)" \
		for-each-ref --format='%(refname:lstrip=2)' refs/checkpoints | tail -n 1)
	RESTORE_FROM=disturb RESTORE_AS=restore-ten
	turns "$1" ours_restore stock_restore
	RESTORE_FROM=delete_everything RESTORE_AS=restore-all
	turns "$1" ours_restore stock_restore
}

# The round before has left one store and one shadow: fill them up.
many_saves() {
	SAVE_AS=many
	i=0
	while test $i -lt $SAVES; do
		i=$((i + 1))
		change $((100 + i))
		ours_save
		stock_save
	done
	disk size-many.git "$SHADOW"
	test -z "$HAVE_OURS" || disk size-many.ours "$GIT_CHECKPOINT_HOME"
}

# Both must have seen the same files, else nothing below means anything.
compare_what_was_captured() {
	test -n "$HAVE_OURS" || return 0
	store=$(echo "$GIT_CHECKPOINT_HOME"/*/)
	newest=$(git --git-dir="$store" rev-parse "refs/checkpoints/$TARGET")
	say "captured: ours $(git --git-dir="$store" ls-tree -r --name-only "$newest" | wc -l) files," \
		"git $(git --git-dir="$SHADOW" ls-files | wc -l)"
}

short_commands() {
	i=0
	while test $i -lt 11; do
		i=$((i + 1))
		ours list git-checkpoint list -n 50
		ours completion git-checkpoint --complete git-checkpoint show ""
	done
}

# ---- many checkpoints ------------------------------------------------------------------

FEW=50
MANY=2000

# grow <dir> <n>: a small tree with so many checkpoints
grow() {
	mktree --files 200 --dirs 20 "$1"
	(
		cd "$1" || exit 2
		while test "$2" -gt 0; do
			echo "$2" >changed
			git-checkpoint save -q || exit 2
			set -- "$1" $(($2 - 1))
		done
	) || exit 2
}

# one_more <key> <dir> <max-count>: a sample of a save there
one_more() {
	echo "$1 $round" >"$2/changed"
	(cd "$2" && GIT_CHECKPOINT_MAX_COUNT=$3 measure "$SAMPLES/$1" git-checkpoint save -q) || exit 2
}

# more <key> <max-count of few> <max-count of many>
more() {
	round=0
	while test $round -lt 41; do
		round=$((round + 1))
		one_more "$1.git" "$SCRATCH/few" "$2"
		one_more "$1.ours" "$SCRATCH/many" "$3"
	done
}

# few_and_many <key> <command>...: a sample of a command that changes nothing, with few and with many
few_and_many() {
	pair_key=$1
	shift
	(cd "$SCRATCH/few" && measure "$SAMPLES/$pair_key.git" "$@" >/dev/null 2>&1) || exit 2
	(cd "$SCRATCH/many" && measure "$SAMPLES/$pair_key.ours" "$@" >/dev/null 2>&1) || exit 2
}

# Each once before: what a command learns for the next one is there.
read_few_of_many() {
	round=0
	while test $round -lt 22; do
		round=$((round + 1))
		few_and_many many-list git-checkpoint list -n 5
		few_and_many many-status git-checkpoint status
		few_and_many many-name git-checkpoint show @~3
		few_and_many many-unchanged git-checkpoint save -q
		few_and_many many-completion git-checkpoint --complete git-checkpoint show @
		test $round != 1 || rm -f "$SAMPLES"/many-*
	done
}

# First with room for more, then with as many as may be, when each save evicts one.
many_checkpoints() {
	test -n "$HAVE_OURS" || return 0
	test -z "$QUICK" || FEW=20 MANY=200
	say "$FEW and $MANY checkpoints"
	GIT_CHECKPOINT_MAX_COUNT=100000
	export GIT_CHECKPOINT_MAX_COUNT
	grow "$SCRATCH/few" $FEW
	grow "$SCRATCH/many" $MANY
	read_few_of_many
	more checkpoints 100000 100000
	# what was added goes with the first, which is none of the samples
	for dir in few many; do
		test $dir = many && max=$MANY || max=$FEW
		echo "to the limit" >"$SCRATCH/$dir/changed"
		(cd "$SCRATCH/$dir" && GIT_CHECKPOINT_MAX_COUNT=$max git-checkpoint save -q) || exit 2
	done
	more limit $FEW $MANY
	unset GIT_CHECKPOINT_MAX_COUNT
}

# judge: print the table; 1 if something was missed that can be judged
judge() {
	cat "$SCRATCH/table"
	test -n "$QUICK" || ! grep -q 'MISSED$' "$SCRATCH/table"
}

# only <name> <rows> <function>...: if nothing else was asked for, measure that and judge it
only() {
	test "${BENCH_ONLY:-}" = "$1" || return 0
	only_rows=$2
	shift 2
	for only_part in "$@"; do
		"$only_part"
	done
	{ head_of_table; "$only_rows"; } >"$SCRATCH/table"
	judge
	exit
}

HAVE_RESTORE=
! has_command restore || HAVE_RESTORE=1

only many rows_many many_checkpoints
only lock rows_lock crowd
only hooks rows_hooks hooks_on_refs hooks_on_files hooks_for_nothing
only large rows_large large_file
make_the_tree
only agents rows_agents agents_in_large agents_in_small
only into rows_into copies
only million rows_million million_files
only sibling rows_sibling siblings
only push rows_push new_shadow list_files pushes
round=0
while test $round -lt "$ROUNDS"; do
	round=$((round + 1))
	say "round $round of $ROUNDS"
	one_round $round
done
compare_what_was_captured
test -z "$HAVE_RESTORE" || watched_rounds watched
only tree rows_tree
say "$SAVES saves of 10 changes each"
many_saves
short_commands
pushes
test -z "$HAVE_RESTORE" || copies
test -z "$HAVE_OURS" || siblings
agents_in_large
agents_in_small
large_file
many_checkpoints
crowd
hooks_on_refs
hooks_on_files
hooks_for_nothing
table >"$SCRATCH/table"
judge
