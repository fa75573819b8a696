#!/bin/sh
# SPDX-License-Identifier: MIT
# A fleet on one bare repository: what a push, a fetch and a list cost when it has the checkpoints of
# many machines, how much it grows, and what helps.
#
#   FLEET_MACHINES=<n>     machines (200)
#   FLEET_CHECKPOINTS=<n>  checkpoints of each (50)
#   FLEET_FILES=<n>        files of the project (400)
#   FLEET_EACH=1           each checkpoint is pushed by itself, not all of a machine at once: minutes more
set -eu

ROOT=$(cd "$(dirname "$0")/../.." && pwd -P)
BUILD_DIR=${BUILD_DIR:-$ROOT/build}
MACHINES=${FLEET_MACHINES:-200} CHECKPOINTS=${FLEET_CHECKPOINTS:-50} FILES=${FLEET_FILES:-400}

for name in $(env | sed -n 's/^\(\(GIT\|XDG\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
	unset "$name"
done
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/git-checkpoint-fleet.XXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export HOME="$SCRATCH" LC_ALL=C TZ=UTC PATH="$BUILD_DIR:$PATH" GIT_CONFIG_NOSYSTEM=1
export GIT_CHECKPOINT_MAX_COUNT=1000 GIT_CHECKPOINT_REMOTE_TIMEOUT=10m
git config --global user.name 'A U Thor'
git config --global user.email author@example.com
git config --global init.defaultBranch main
git config --global gc.auto 0
HUB=$SCRATCH/hub.git

# on <machine> <command>...
on() {
	on_name=$1
	shift
	(cd "$SCRATCH/$on_name" && GIT_CHECKPOINT_HOME="$SCRATCH/stores/$on_name" GIT_CHECKPOINT_MACHINE=$on_name "$@")
}

# cost <what> <command>...: one line with the seconds that it took
cost() {
	cost_what=$1
	shift
	cost_begin=$(date +%s%N)
	"$@" >/dev/null
	cost_end=$(date +%s%N)
	printf '%-52s %8d ms\n' "$cost_what" $(((cost_end - cost_begin) / 1000000))
}

size() {
	printf '%-52s %8d kB, %d packs\n' "$1" "$(du -sk "$HUB" | cut -f 1)" \
		"$(find "$HUB/objects/pack" -name '*.pack' | wc -l)"
}

# change <machine> <text>: three files of some size
change() {
	for change_n in 1 2 3; do
		echo "$2" >>"$SCRATCH/$1/dir$change_n/file$change_n"
	done
}

make_project() {
	git init -q "$SCRATCH/first"
	make_n=0
	while test $make_n -lt "$FILES"; do
		mkdir -p "$SCRATCH/first/dir$((make_n % 20))"
		seq $((make_n * 100)) $((make_n * 100 + 400)) >"$SCRATCH/first/dir$((make_n % 20))/file$make_n"
		make_n=$((make_n + 1))
	done
	git -C "$SCRATCH/first" add .
	git -C "$SCRATCH/first" commit -q -m first
	git clone -q "$SCRATCH/first" "$SCRATCH/second"
	git init -q --bare "$HUB"
	on first git-checkpoint remote add -q hub "file://$HUB"
	on second git-checkpoint remote add -q hub "file://$HUB"
}

# machine <name>: it saves, and pushes each checkpoint (FLEET_EACH=1), or all at the end
machine() {
	machine_n=0
	while test $machine_n -lt "$CHECKPOINTS"; do
		machine_n=$((machine_n + 1))
		change "$1" "$machine_n of $1"
		on "$1" git-checkpoint save -q
		test -z "${FLEET_EACH:-}" || on "$1" git-checkpoint push -q
	done
	on "$1" git-checkpoint push -q --all
}

other_machines() {
	other=1
	while test $other -lt "$MACHINES"; do
		git clone -q "$SCRATCH/first" "$SCRATCH/m$other"
		on m$other git-checkpoint remote add -q hub "file://$HUB"
		machine m$other
		rm -rf "$SCRATCH/m$other" "$SCRATCH/stores/m$other"
		other=$((other + 1))
	done
}

costs() {
	rm -rf "$SCRATCH/stores/second"
	on second git-checkpoint remote add -q hub "file://$HUB"
	cost "$1: list of the remote (ls-remote)" git ls-remote -q "file://$HUB" "$refs/*"
	cost "$1: fetch of one" on second git-checkpoint fetch -q first/@
	cost "$1: the same again, nothing new" on second git-checkpoint fetch -q first/@
	cost "$1: list --remote" on second git-checkpoint list --remote
	change first "$1"
	on first git-checkpoint save -q
	cost "$1: push of one" on first git-checkpoint push -q
}

echo "$MACHINES machines, $CHECKPOINTS checkpoints each, $FILES files"
make_project
machine first
refs=$(git -C "$HUB" for-each-ref --format='%(refname)' | sed 's|/first/.*||;q')
size 'one machine'
costs 'one machine'
other_machines
size 'all'
printf '%-52s %8d\n' 'refs' "$(git -C "$HUB" for-each-ref | wc -l)"
costs 'all, no gc'
cost 'pack-refs' git -C "$HUB" pack-refs --all
costs 'all, refs packed'
cost 'gc' git -C "$HUB" gc -q --prune=now
size 'after gc'
costs 'after gc'
