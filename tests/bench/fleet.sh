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

# What git offers for repositories that are too large: the objects of one checkpoint in two steps, and
# everything from a file that a web server could deliver.
others() {
	one=$(git ls-remote -q "file://$HUB" "$refs/first/*" | tail -n 1 | cut -f 2)
	git -C "$HUB" config uploadpack.allowFilter true
	git init -q "$SCRATCH/plain"
	cost 'one checkpoint, plain git fetch' git -C "$SCRATCH/plain" fetch -q "file://$HUB" "$one"
	git init -q "$SCRATCH/partial"
	git -C "$SCRATCH/partial" remote add hub "file://$HUB"
	cost 'the same, --filter=blob:none' git -C "$SCRATCH/partial" fetch -q --filter=blob:none hub "$one"
	cost 'its files then, as a checkout needs them' git -C "$SCRATCH/partial" checkout -q FETCH_HEAD
	cost 'a bundle of everything' git -C "$HUB" bundle create -q "$SCRATCH/all.bundle" --all
	git init -q "$SCRATCH/bundled"
	cost 'one checkpoint from the bundle' git -C "$SCRATCH/bundled" fetch -q "$SCRATCH/all.bundle" "$one"
	cost 'what is new, plain git fetch' git -C "$SCRATCH/bundled" fetch -q "file://$HUB" "$one"
	printf '%-52s %8d kB\n' 'size of the bundle' "$(du -k "$SCRATCH/all.bundle" | cut -f 1)"
}

# Each project in a repository of its own: the refs and objects of this one among nine others of the same size.
shared_with_others() {
	git init -q --bare "$SCRATCH/crowded.git"
	for other in 1 2 3 4 5 6 7 8 9 10; do
		git -C "$SCRATCH/crowded.git" fetch -q "$HUB" "$refs/*:${refs%??}$(printf %02d $other)/*"
	done
	git -C "$SCRATCH/crowded.git" pack-refs --all
	printf '%-52s %8d\n' 'refs of ten such projects' "$(git -C "$SCRATCH/crowded.git" for-each-ref | wc -l)"
	cost 'list of one project among ten (ls-remote)' git ls-remote -q "file://$SCRATCH/crowded.git" "${refs%??}01/*"
	cost 'fetch of one among ten' git -C "$SCRATCH/plain" fetch -q "file://$SCRATCH/crowded.git" \
		"$(git -C "$SCRATCH/crowded.git" for-each-ref --format='%(refname)' "${refs%??}01/first" | tail -n 1)"
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
others
shared_with_others
