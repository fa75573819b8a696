#!/bin/sh
# SPDX-License-Identifier: MIT
# git's own tests, once plain and once with our hooks and guard in every repository that they make:
# no test that passes plain may fail with us, but for those that look at hooks or at fsmonitor
# themselves (see `exempt`, with the reason for each). `make peer` runs it; it is in no other target.
#
# What is installed in one repository, by `git checkpoint hooks install --guard` with all events,
# becomes git's template, so that init, clone and submodules have it. The program that the hooks
# find says only what went wrong, and has a home of its own.
#
#   PEER_GIT_SRC=<dir>   a source tree of git; else the one of Debian's package is fetched
#   PEER_TESTS='<glob>'  scripts to run, as 't3[0-9]* t7300*' (all)
#   PEER_JOBS=<n>        how many at a time (2)
#   PEER_DIR=<dir>       where everything is made and kept (BUILD_DIR/peer). A script that has a
#                        result there is not run again: remove the result, or the directory
#
# Results are in PEER_DIR/plain and PEER_DIR/ours, a file for each script with a line for each test,
# so that `diff -r` compares them. Exits with 1 if something fails only with us.
set -eu

HERE=$(cd "$(dirname "$0")" && pwd -P)
BUILD_DIR=$(cd "${BUILD_DIR:-$HERE/../../build}" && pwd -P)
DIR=${PEER_DIR:-$BUILD_DIR/peer}
JOBS=${PEER_JOBS:-2}
FLAGS='NO_GETTEXT=1 NO_TCLTK=1 NO_CURL=1 NO_EXPAT=1 NO_PYTHON=1 NO_RUST=1 CFLAGS=-O1'

say() {
	echo "peer: $*" >&2
}

# ---- the source of git -----------------------------------------------------------

# own_apt <command>...: apt-get with lists of its own, made from those of the machine
own_apt() {
	apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$DIR/apt/parts" \
		-o Dir::State::lists="$DIR/apt/lists" -o Dir::Cache="$DIR/apt/cache" \
		-o APT::Sandbox::User=root "$@"
}

fetch_source() {
	mkdir -p "$DIR/apt/parts" "$DIR/apt/lists/partial" "$DIR/apt/cache/archives/partial" "$DIR/deb"
	for file in /etc/apt/sources.list.d/*.sources; do
		test ! -e "$file" || sed 's/^Types:.*/Types: deb-src/' "$file" >"$DIR/apt/parts/$(basename "$file")"
	done
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		test ! -e "$file" ||
			sed -n 's/^deb /deb-src /p' "$file" >"$DIR/apt/parts/$(basename "$file" .list).list"
	done
	# somebody else's list may have no sources
	own_apt update >&2 || :
	(cd "$DIR/deb" && own_apt source git >&2)
	SRC=$(find "$DIR/deb" -mindepth 1 -maxdepth 1 -type d -name 'git-*')
}

# build: with what the tests need; nothing is installed
build() {
	# shellcheck disable=SC2086 # words
	test -x "$SRC/git" && test -x "$SRC/t/helper/test-tool" && test -x "$SRC/bin-wrappers/git" ||
		make -s -C "$SRC" -j"$JOBS" $FLAGS all >"$DIR/build.log" 2>&1 || {
		tail -n 20 "$DIR/build.log" >&2
		exit 2
	}
}

# ---- with us ---------------------------------------------------------------------

# in_seed <command>...: in the repository where hooks are installed, out of reach of the user's
in_seed() {
	(cd "$DIR/seed" && env HOME="$DIR/home" GIT_CONFIG_NOSYSTEM=1 PATH="$SRC/bin-wrappers:$PATH" "$@")
}

# Every test has its HOME in the worktree, and takes GIT_* out of the environment.
make_program() {
	mkdir -p "$DIR/bin" "$DIR/home"
	cat >"$DIR/bin/git-checkpoint" <<-END
	#!/bin/sh
	HOME='$DIR/home' GIT_CHECKPOINT_HOME='$DIR/stores' GIT_CHECKPOINT_HOOK_QUIET=1
	export HOME GIT_CHECKPOINT_HOME GIT_CHECKPOINT_HOOK_QUIET
	echo "\$2" >>'$DIR/calls'
	exec '$BUILD_DIR/git-checkpoint' "\$@"
	END
	chmod +x "$DIR/bin/git-checkpoint"
}

# The tree of git once more, but for what names the place of templates.
make_tree() {
	test ! -e "$DIR/tree" || return 0
	mkdir "$DIR/tree.new"
	cp -al "$SRC/." "$DIR/tree.new"
	for part in bin-wrappers templates/blt; do
		rm -r "$DIR/tree.new/$part"
		cp -a "$SRC/$part" "$DIR/tree.new/$part"
	done
	sed -i "s#$SRC#$DIR/tree#g" "$DIR"/tree.new/bin-wrappers/*
	mv "$DIR/tree.new" "$DIR/tree"
}

make_template() {
	rm -rf "$DIR/seed"
	mkdir "$DIR/seed"
	in_seed git init -q .
	in_seed "$BUILD_DIR/git-checkpoint" hooks install -q --guard --ref-transaction \
		--events rebase,merge,am,stash,bisect
	blt=$DIR/tree/templates/blt
	mkdir -p "$blt/hooks"
	for hook in pre-rebase reference-transaction; do
		test ! -x "$DIR/seed/.git/hooks/$hook" || cp "$DIR/seed/.git/hooks/$hook" "$blt/hooks/$hook"
	done
	rm -f "$blt/config"
	in_seed git config --local --list -z | tr '\n\0' '\t\n' | grep '^core.fsmonitor\|^hook[.]' |
		while IFS='	' read -r key value; do
			in_seed git config --file "$blt/config" "$key" "$value"
		done
}

# ---- running ---------------------------------------------------------------------

# run_one <plain|ours> <tree> <script>
run_one() {
	result=$DIR/$1/${3%.sh} log=$DIR/out/$1/$3.log
	test ! -e "$result" || return 0
	mkdir -p "$DIR/$1" "$DIR/out/$1"
	(
		cd "$2/t"
		test "$1" = plain || PATH=$DIR/bin:$PATH
		TEST_OUTPUT_DIRECTORY=$DIR/out/$1 GIT_TEST_DEFAULT_HASH=sha1 \
			timeout 1800 sh "./$3" --root="$DIR/trash/$1" >"$log" 2>&1 </dev/null || :
	)
	# without numbers, which shift between versions of git, and without the place
	sed -n -e "s#$DIR/trash/$1#TRASH#g" -e 's/ # SKIP.*//' -e 's/^\(ok\) [0-9]* - \(.*\)/\1 \2/p' \
		-e 's/^\(not ok\) [0-9]* - \(.*\)/\1 \2/p' "$log" >"$result.new"
	grep -q '^1[.][.]' "$log" || echo 'not ok (it ends before its time)' >>"$result.new"
	mv "$result.new" "$result"
}

# Called by xargs, below: one script both ways, so that what was run can be compared at any time.
if test "${1:-}" = --run; then
	run_one plain "$2" "$3"
	run_one ours "$DIR/tree" "$3"
	exit 0
fi

# run_all: those that have no result yet
run_all() {
	# shellcheck disable=SC2086 # patterns
	(cd "$SRC/t" && for test in ${PEER_TESTS:-*}; do
		ls $test 2>/dev/null
	done) | grep '^t[0-9][0-9][0-9][0-9]-.*[.]sh$' | sort -u |
		PEER_DIR=$DIR BUILD_DIR=$BUILD_DIR xargs -P "$JOBS" -n 1 "$HERE/peer.sh" --run "$SRC"
}

# ---- comparing -------------------------------------------------------------------

# is_exempt <script> <title>
is_exempt() {
	while IFS='	' read -r scripts titles _; do
		case $scripts in
		'' | '#'*) continue ;;
		esac
		# shellcheck disable=SC2254 # patterns
		case $1 in
		$scripts) case $2 in $titles) return 0 ;; esac ;;
		esac
	done <"$HERE/exempt"
	return 1
}

# compare: what passes plain and not with us, in $DIR/differ and, if exempt, $DIR/exempted
compare() {
	: >"$DIR/differ"
	: >"$DIR/exempted"
	for result in "$DIR"/ours/t*; do
		script=$(basename "$result")
		test -e "$DIR/plain/$script" || continue
		sort "$DIR/plain/$script" >"$DIR/a"
		sort "$result" >"$DIR/b"
		comm -23 "$DIR/a" "$DIR/b" | sed -n 's/^ok //p' | while IFS= read -r title; do
			if is_exempt "$script" "$title"; then
				echo "$script: $title" >>"$DIR/exempted"
			else
				echo "$script: $title" >>"$DIR/differ"
			fi
		done
		grep -h '^not ok (it ends' "$DIR/b" | comm -13 "$DIR/a" - | sed "s/^/$script: /" >>"$DIR/differ"
	done
	rm -f "$DIR/a" "$DIR/b"
}

SRC=${PEER_GIT_SRC:-}
mkdir -p "$DIR"
DIR=$(cd "$DIR" && pwd -P)
test -n "$SRC" || SRC=$(find "$DIR/deb" -mindepth 1 -maxdepth 1 -type d -name 'git-*' 2>/dev/null || :)
test -n "$SRC" || fetch_source
SRC=$(cd "$SRC" && pwd -P)
build
make_program
make_tree
make_template
say "$("$SRC/git" --version), from $SRC"
run_all
compare
# what depends on the clock or on the load, once more
for script in $(cut -d: -f1 "$DIR/differ" | sort -u); do
	rm -f "$DIR/ours/$script"
	PEER_TESTS=$script.sh run_all
done
compare

say "$(find "$DIR/ours" -type f | wc -l) scripts, $(cat "$DIR"/plain/t* | wc -l) tests," \
	"$(grep -h '^ok' "$DIR"/plain/t* | wc -l) pass plain;" \
	"$(sort -u "$DIR/calls" 2>/dev/null | tr '\n' ' ')called $(wc -l <"$DIR/calls") times"
say "$(wc -l <"$DIR/exempted") differ that look at hooks or fsmonitor themselves, $(wc -l <"$DIR/differ") others"
cat "$DIR/differ"
test ! -s "$DIR/differ"
