#!/bin/sh
# SPDX-License-Identifier: MIT
# The program side by side with stock git, which keeps its own history of the same tree in a
# shadow GIT_DIR. Both take turns on one tree with a warm cache; the table shows medians.
#
#   BENCH_ROUNDS=<n>   rounds (5)
#   BENCH_DIR=<dir>    measure on a copy of this directory instead of a generated tree
#   BENCH_ONLY=many    no more than what many checkpoints cost, a matter of minutes
#   BENCH_QUICK=1      a small tree and no large file: to try the script, not to judge
#   TMPDIR=<dir>       where the trees are made; the file system matters
#
# Exits with 1 if a row misses what it must reach.
#
# To add a row: take samples with `ours <key> <command>...` and `stock <key> <command>...` in
# one_round or further below, and print it with a call of row_time, row_disk, row_memory or
# row_millis at the end.
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
trap 'chmod -R u+rwx "$SCRATCH" 2>/dev/null; rm -rf "$SCRATCH"' EXIT
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

make_the_tree() {
	if test -n "${BENCH_DIR:-}"; then
		say "copying $BENCH_DIR"
		cp -a --reflink=auto "$BENCH_DIR" "$TREE"
	else
		say 'making the tree'
		if test -n "$QUICK"; then
			mktree --files 3000 --dirs 225 "$TREE"
		else
			mktree --files 60000 --dirs 4500 --bytes 200000000 "$TREE"
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
		git --git-dir="$SHADOW" ls-files | grep -v '^"' >"$SCRATCH/files"
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

large_file() {
	test -z "$QUICK" || return 0
	say 'one file of 2 GB'
	rm -rf "$GIT_CHECKPOINT_HOME" "$TREE"
	mkdir "$TREE"
	truncate -s 2G "$TREE/large"
	dd if=/dev/urandom of="$TREE/large" bs=1M count=64 seek=700 conv=notrunc 2>/dev/null
	ours large git-checkpoint save -q -m x
}

# ---- many checkpoints ------------------------------------------------------------------

FEW=300
MANY=3000

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

# First with room for more, then with as many as may be, when each save evicts one.
many_checkpoints() {
	test -n "$HAVE_OURS" || return 0
	test -z "$QUICK" || FEW=20 MANY=200
	say "$FEW and $MANY checkpoints"
	GIT_CHECKPOINT_MAX_COUNT=100000
	export GIT_CHECKPOINT_MAX_COUNT
	grow "$SCRATCH/few" $FEW
	grow "$SCRATCH/many" $MANY
	round=0
	while test $round -lt 41; do
		round=$((round + 1))
		one_more checkpoints.git "$SCRATCH/few" 100000
		one_more checkpoints.ours "$SCRATCH/many" 100000
	done
	# what was added goes with the first, which is none of the samples
	for dir in few many; do
		test $dir = many && max=$MANY || max=$FEW
		echo "to the limit" >"$SCRATCH/$dir/changed"
		(cd "$SCRATCH/$dir" && GIT_CHECKPOINT_MAX_COUNT=$max git-checkpoint save -q) || exit 2
	done
	round=0
	while test $round -lt 41; do
		round=$((round + 1))
		one_more limit.git "$SCRATCH/few" $FEW
		one_more limit.ours "$SCRATCH/many" $MANY
	done
	unset GIT_CHECKPOINT_MAX_COUNT
}

# ---- hooks ---------------------------------------------------------------------------

REFS=1000
HOOK_ROUNDS=5

# hooked <kind> [<repository>]: a copy of one, else of one that has nothing of the other one's refs
# yet, with hooks of a kind
hooked() {
	new_away
	test ! -e "$TREE" || mv "$TREE" "$SCRATCH/away/$AWAY"
	cp -a "${2:-$SCRATCH/refless}" "$TREE"
	cd "$TREE"
	git update-index -q --refresh
	case $1 in
	exits)
		printf '#!/bin/sh\nexit 0\n' >.git/hooks/reference-transaction
		chmod +x .git/hooks/reference-transaction
		;;
	ours) git-checkpoint hooks install -q ;;
	guard) git-checkpoint hooks install -q --guard --no-ref-transaction ;;
	answers)
		printf '#!/bin/sh\nprintf "x\\0/\\0"\n' >.git/answers
		chmod +x .git/answers
		git config core.fsmonitor .git/answers
		git config core.fsmonitorHookVersion 2
		;;
	esac
	cd "$SCRATCH"
}

# Git itself does the work on both sides: what is called stock is git with another hook, or none.
ours_refs() {
	hooked ours
	ours fetch-hook git fetch -q "$SCRATCH/refs" 'refs/heads/*:refs/remotes/o/*'
	ours pack-hook git pack-refs --all
}

stock_refs() {
	hooked exits
	stock fetch-hook "git fetch -q '$SCRATCH/refs' 'refs/heads/*:refs/remotes/o/*'"
	stock pack-hook 'git pack-refs --all'
}

ours_guarded() {
	hooked guard
	ours fetch-guard git fetch -q "$SCRATCH/refs" 'refs/heads/*:refs/remotes/o/*'
	ours pack-guard git pack-refs --all
}

stock_unguarded() {
	hooked none
	stock fetch-guard "git fetch -q '$SCRATCH/refs' 'refs/heads/*:refs/remotes/o/*'"
	stock pack-guard 'git pack-refs --all'
}

hooks_on_refs() {
	has_command hooks || return 0
	test -z "$QUICK" || REFS=100 HOOK_ROUNDS=2
	say "hooks, $REFS refs"
	git init -q --bare "$SCRATCH/refs"
	git init -q "$SCRATCH/refless"
	git -C "$SCRATCH/refless" commit -q --allow-empty -m x
	git -C "$SCRATCH/refless" push -q "$SCRATCH/refs" HEAD:refs/heads/b0
	tip=$(git -C "$SCRATCH/refs" rev-parse refs/heads/b0)
	seq 1 $((REFS - 1)) | sed "s#.*#create refs/heads/b& $tip#" |
		git -C "$SCRATCH/refs" update-ref --stdin
	git -C "$SCRATCH/refs" pack-refs --all
	i=0
	while test $i -lt $HOOK_ROUNDS; do
		i=$((i + 1))
		turns $i ours_refs stock_refs
		turns $i ours_guarded stock_unguarded
	done
}

# A repository with fifty commits to be rebased, and as many small files.
make_small() {
	git init -q "$SCRATCH/small"
	(
		cd "$SCRATCH/small"
		git commit -q --allow-empty -m base
		git branch upstream
		i=0
		while test $i -lt 50; do
			i=$((i + 1))
			echo $i >file$i
			git add file$i
			git commit -q -m $i
		done
		git branch other HEAD~1
		git checkout -q upstream
		echo x >x
		git add x
		git commit -q -m x
		git checkout -q main
	)
}

ours_small_hook() {
	hooked ours "$SCRATCH/small"
	ours commit-hook git commit -q --allow-empty -m x
	ours rebase-hook git rebase -q upstream
}

stock_small_hook() {
	hooked exits "$SCRATCH/small"
	stock commit-hook 'git commit -q --allow-empty -m x'
	stock rebase-hook 'git rebase -q upstream'
}

# What is saved already, so that the guard has to look, but not to write.
ours_small_guard() {
	hooked guard "$SCRATCH/small"
	git-checkpoint -C "$TREE" save -q
	for i in 1 2 3 4 5; do
		ours checkout-guard git checkout -q -f main
		ours commit-guard git -c user.name=x commit -q --allow-empty -m x
	done
	ours switch-guard git checkout -q other
	ours rebase-guard git rebase -q upstream main
}

stock_small_answers() {
	hooked answers "$SCRATCH/small"
	for i in 1 2 3 4 5; do
		stock checkout-guard 'git checkout -q -f main'
		stock commit-guard 'git -c user.name=x commit -q --allow-empty -m x'
	done
	stock switch-guard 'git checkout -q other'
	stock rebase-guard 'git rebase -q upstream main'
}

hooks_on_files() {
	has_command hooks || return 0
	say 'hooks, 50 commits and files'
	make_small
	round=0
	while test $round -lt $HOOK_ROUNDS; do
		round=$((round + 1))
		turns $round ours_small_hook stock_small_hook
		turns $round ours_small_guard stock_small_answers
	done
}

# ---- the table ---------------------------------------------------------------------

# median <file> <column>
median() {
	test -s "$1" || return 0
	cut -d' ' -f"$2" "$1" | sort -n | awk '{ v[NR] = $1 }
		END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

largest() {
	test -s "$1" || return 0
	cut -d' ' -f"$2" "$1" | sort -n | tail -n 1
}

# row <title> <ours> <git> <must> <goal> <format> <scale>: with <git>, limits are ratios
row() {
	awk -v title="$1" -v ours="$2" -v stock="$3" -v must="$4" -v goal="$5" -v format="$6" -v scale="$7" '
	BEGIN {
		ratio = ours != "" && stock > 0 ? ours / stock : ""
		judged = stock != "" ? ratio : ours == "" ? "" : ours * scale
		verdict = judged == "" ? "-" : judged <= goal ? "goal" : judged <= must ? "ok" : "MISSED"
		unit = stock != "" ? "%.2f" : format
		printf "%-44s %10s %10s %6s %8s %8s  %s\n", title,
			ours == "" ? "-" : sprintf(format, ours * scale),
			stock == "" ? "-" : sprintf(format, stock * scale),
			ratio == "" ? "-" : sprintf("%.2f", ratio),
			sprintf(unit, must), sprintf(unit, goal), verdict
	}'
}

row_time() { # <title> <key> <must> <goal>
	row "$1" "$(median "$SAMPLES/$2.ours" 1)" "$(median "$SAMPLES/$2.git" 1)" "$3" "$4" '%.3f s' 1
}

row_disk() {
	row "$1" "$(median "$SAMPLES/$2.ours" 1)" "$(median "$SAMPLES/$2.git" 1)" "$3" "$4" '%.1f MB' 0.001024
}

row_memory() {
	row "$1" "$(largest "$SAMPLES/$2.ours" 2)" '' "$3" "$4" '%.0f MB' 0.001024
}

row_millis() {
	row "$1" "$(median "$SAMPLES/$2.ours" 1)" '' "$3" "$4" '%.1f ms' 1000
}

rows_many() {
	row_time "save at $MANY checkpoints: at $FEW" checkpoints 1.5 1.2
	row_time "save at maxCount $MANY: at maxCount $FEW" limit 1.5 1.2
}

head_of_table() {
	printf '%-44s %10s %10s %6s %8s %8s  %s\n' work ours git ratio must goal verdict
}

table() {
	head_of_table
	row_time 'first save' first 0.20 0.10
	row_time 'save, nothing changed' unchanged 0.45 0.25
	row_time 'save, 10 files changed' ten 0.45 0.25
	row_time 'restore, 10 files changed, 5 created' restore-ten 0.45 0.25
	row_time 'restore after the whole tree was deleted' restore-all 0.80 0.40
	row_disk 'store size after the first save' size-first 0.50 0.25
	row_disk "store size after $SAVES saves of 10 changes" size-many 0.50 0.25
	row_memory "peak memory, save of $(wc -l <"$SCRATCH/files") files" first 120 60
	row_memory 'peak memory, save of one 2 GB file' large 64 32
	row_millis 'list of 50' list 20 5
	row_millis 'completion' completion 20 5
	rows_many
	row_time "fetch of $REFS refs, our hook: one that exits" fetch-hook 1.3 1.1
	row_time "pack-refs of $REFS refs, the same" pack-hook 1.3 1.1
	row_time "fetch of $REFS refs, guard: no hook at all" fetch-guard 1.5 1.1
	row_time "pack-refs of $REFS refs, the same" pack-guard 1.5 1.1
	row_time 'rebase of 50, our hook: one that exits' rebase-hook 1.3 1.1
	row_time 'commit, the same' commit-hook 1.3 1.1
	row_time 'rebase of 50, guard: one that only answers' rebase-guard 1.5 1.2
	row_time 'commit, the same' commit-guard 1.3 1.1
	row_time 'checkout -f, nothing to save, the same' checkout-guard 3.0 2.0
	row_time 'checkout of a branch, saved before, the same' switch-guard 3.0 2.0
}

# judge: print the table; 1 if something was missed that can be judged
judge() {
	cat "$SCRATCH/table"
	test -n "$QUICK" || ! grep -q 'MISSED$' "$SCRATCH/table"
}

if test "${BENCH_ONLY:-}" = many; then
	many_checkpoints
	{ head_of_table; rows_many; } >"$SCRATCH/table"
	judge
	exit
fi

HAVE_RESTORE=
! has_command restore || HAVE_RESTORE=1

make_the_tree
round=0
while test $round -lt "$ROUNDS"; do
	round=$((round + 1))
	say "round $round of $ROUNDS"
	one_round $round
done
compare_what_was_captured
say "$SAVES saves of 10 changes each"
many_saves
short_commands
large_file
many_checkpoints
hooks_on_refs
hooks_on_files
table >"$SCRATCH/table"
judge
