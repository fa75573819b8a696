#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make-seeds.sh <build directory>: write the seeds that git and the program itself make, below
# corpus/. Seeds that a person can write, and what fuzzers have found, lie there beside them and stay.

set -eu
build=$(cd "$1" && pwd -P)
here=$(cd "$(dirname "$0")" && pwd -P)
corpus=$here/corpus
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
export HOME="$work" XDG_STATE_HOME="$work/state" XDG_CONFIG_HOME="$work/config" GIT_CONFIG_NOSYSTEM=1 \
	GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A \
	GIT_COMMITTER_EMAIL=a@example.org PATH="$build:$PATH"

# seed <target> <name>: from stdin
seed() {
	mkdir -p "$corpus/$1"
	cat >"$corpus/$1/made-$2"
}

# The same without the name of the scratch directory.
text_seed() {
	sed "s,$work,/w,g" | seed "$@"
}

# two <n>: as two bytes
two() {
	printf "\\$(printf %03o $(($1 / 256)))\\$(printf %03o $(($1 % 256)))"
}

small_repo() {
	rm -rf "$work/r"
	git init -q "$@" "$work/r"
	cd "$work/r"
	mkdir d
	echo a >a
	echo b >d/b
	echo c >d/c.c
	git add .
	git commit -qm one
}

# ---- index -----------------------------------------------------------------------

for version in 2 3 4; do
	small_repo
	test $version = 2 || { echo n >n && git add -N n; }
	git update-index --index-version $version --force-write-index
	{ printf '\000\000\000'; cat .git/index; } | seed index v$version
done
small_repo --object-format=sha256
{ printf '\001\000\000'; cat .git/index; } | seed index sha256
small_repo
git sparse-checkout init --cone --sparse-index
git sparse-checkout set nothing
{ printf '\000\000\000'; cat .git/index; } | seed index sparse

small_repo
git checkout -q -b side
echo side >a
git commit -qam side
git checkout -q -
echo main >a
git commit -qam main
git merge -q side >/dev/null || :
{ printf '\000\000\000'; cat .git/index; } | seed index unmerged
git add a
{ printf '\000\000\000'; cat .git/index; } | seed index resolved

# ---- the state of a repository ---------------------------------------------------

git stash push -q -m kept >/dev/null 2>&1 || :
git checkout -q -f side
git cherry-pick master >/dev/null 2>&1 || :
echo staged >d/b
echo new >n
git add d/b n
git update-index --skip-worktree d/c.c
git-checkpoint save -q
which=0
for text in flagged head index operation refs; do
	{
		printf "\\00$which"
		git --git-dir="$(echo "$XDG_STATE_HOME"/git-checkpoint/????????????????)" cat-file blob "latest^:git/$text" || :
	} | seed gitstate $text
	which=$((which + 1))
done
rm -rf "$XDG_STATE_HOME"

# ---- packs and deltas ------------------------------------------------------------

small_repo
seq 1 300 >long
git add long
git commit -qm two
echo 301 >>long
git add long
git commit -qm three
git repack -qadf
for pack in .git/objects/pack/*.pack; do
	idx=${pack%.pack}.idx
	{ two "$(wc -c <"$idx")"; cat "$idx" "$pack"; } | seed packs git
done

# ---- a store ---------------------------------------------------------------------

small_repo
ln -s a link
chmod 600 a
mkdir empty
touch .env
git checkpoint save -q -m one --step 1 --state k=v
echo more >>a
git checkpoint save -q -m 'two | of' >/dev/null
git checkpoint restore -q --yes @~1 a >/dev/null 2>&1
set -- "$XDG_STATE_HOME"/git-checkpoint/*/
store=${1%/}
seed statcache plain <"$store/checkpoint/statcache"
pack=$(ls -S "$store"/objects/pack/*.pack | head -n 1)
idx=${pack%.pack}.idx
{ two "$(wc -c <"$idx")"; cat "$idx" "$pack"; } | seed packs ours
seed journal undo <"$store/checkpoint/undo"
text_seed trail manifest <"$store/checkpoint-manifest.md"
seed trail log <"$store/checkpoint/log"
seed trail state <"$store/checkpoint/state"
commit=$(git --git-dir="$store" for-each-ref --format='%(objectname)' refs/checkpoints | head -n 1)
{ printf '\000'; git --git-dir="$store" cat-file commit "$commit" | sed 1,2d; } | seed record commit
{ printf '\001'; git --git-dir="$store" cat-file tree "$commit^{tree}"; } | seed record tree
{ printf '\002'; git --git-dir="$store" cat-file tree "$commit^1^{tree}"; } | seed record meta
{ printf '\003'; git --git-dir="$store" cat-file blob "$commit^1:modes"; } | seed record modes
git --git-dir="$store" cat-file blob "$commit^1:modes" | seed modes plain
{ printf '\005'; git --git-dir="$store" cat-file tree "$commit^1:rules"; } | seed record rules
{ printf '\006'; git --git-dir="$store" cat-file tree "$commit^1:state"; } | seed record state
git --git-dir="$store" pack-refs --all
seed refs packed <"$store/packed-refs"

# ---- workflows ---------------------------------------------------------

small_repo
git checkpoint flow start build --phases plan,make --approve plan -q >/dev/null
set -- "$XDG_STATE_HOME"/git-checkpoint/*/checkpoint/flow
for dir; do
	seed flow phase <"$dir/phase.json"
	seed flow plan <"$dir/workflow.json"
done
