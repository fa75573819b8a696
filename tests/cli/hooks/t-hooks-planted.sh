#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2164 # cases run with set -e
#
# Records, links and configuration that somebody has planted where hooks are installed: nothing but files of ours
# is changed or removed, and nothing in another place.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/hooks-install.sh"
. "$(dirname "$0")/../../lib/traps.sh"

# others <command>...: it fails, or not, and other people's files are as they were
others() {
	fingerprint_raw "$T/others" >"$T/others.before"
	"$@" >"$T/out" 2>"$T/err" || test $? -lt 130 || fail "$*: exit status $?"
	fingerprint_raw "$T/others" >"$T/others.now"
	expect_same "$T/others.before" "$T/others.now" "after '$*'"
}

# A directory of other files, which the links and records of a case lead to.
other_files() {
	mkdir -p "$T/others/hooks/empty" "$T/others/empty"
	git config -f "$T/others/config" color.ui auto
	printf '#!/bin/sh\n' >"$T/others/hooks/pre-rebase"
	printf '#!/usr/bin/perl\n' >"$T/others/hooks/reference-transaction"
	chmod +x "$T/others/hooks"/*-*
	sed 10q "$ROOT_DIR/hooks/pre-rebase" >"$T/others/script"
	echo '{"user":1}' >"$T/others/settings.json"
}

# lie <file>: of every file that the record knows, it says that its original was this one
lie() {
	jq --rawfile text "$1" '.files |= map_values(.original = $text)' \
		"$XDG_DATA_HOME/git-checkpoint/installed" >"$T/lie"
	cat "$T/lie" >"$XDG_DATA_HOME/git-checkpoint/installed"
}

test_a_record_in_the_worktree_is_not_believed() {
	repository
	printf '[core]\n\tfsmonitor = evil\n' >"$T/evil"
	mkdir -p .claude data
	echo '{"model":"x"}' >.claude/settings.json
	ln -s "$PWD/data" "$T/linked"
	git config --global user.name me
	
	for XDG_DATA_HOME in "$PWD/data" "$T/linked"; do
		export XDG_DATA_HOME
		before
		fingerprint .claude >"$T/claude"
		hooks install -q --guard
		hooks install -q --agent claude-code
		lie "$T/evil"
		hooks install -q --guard --events stash
		lie "$T/evil"
		hooks uninstall -q
		lie "$T/evil"
		hooks uninstall -q --agent claude-code
		expect_as_before
		expect_exit 1 git config core.fsmonitor
		expect_eq x "$(jq -r .model .claude/settings.json)"
		expect_eq 1 "$(jq length .claude/settings.json)"
		hooks install -q --global --guard
		lie "$T/evil"
		hooks uninstall -q --global
		expect_exit 1 git config --global core.fsmonitor
		expect_eq me "$(git config --global user.name)"
	done
}

test_a_configuration_that_is_elsewhere() {
	repository
	other_files
	hooks install -q --guard
	mv .git/config "$T/saved"
	ln -s "$T/others/config" .git/config
	others hooks uninstall
	expect_grep "leads out of" "$T/err"
	others hooks install --guard
	expect_grep "leads out of" "$T/err"
	rm .git/config
	mv "$T/saved" .git/config
	hooks uninstall -q
	expect_missing .git/git-checkpoint
}

test_scripts_that_are_links() {
	repository
	other_files
	hooks install -q --guard
	cp "$T/others/script" .git/description
	cp .git/description "$T/description"
	for to in "$T/others/script" ../description; do
		hooks install -q --guard
		for file in pre-rebase fsmonitor-watchman; do
			ln -sf "$to" ".git/git-checkpoint/$file"
		done
		others hooks uninstall
		expect_same "$T/description" .git/description
		rm -rf .git/git-checkpoint
	done
	mkdir "$T/others/dir"
	cp "$T/others/script" "$T/others/dir/pre-rebase"
	ln -s "$T/others/dir" .git/git-checkpoint
	others hooks uninstall
	others hooks install --guard
}

test_places_of_hooks_that_are_links() {
	repository
	other_files
	printf '#!/usr/bin/perl\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	ln -s "$T/others/empty" .git/hooks/.git-checkpoint
	others hooks install
	others hooks uninstall
	rm .git/hooks/.git-checkpoint
	hooks install -q
	mv .git/hooks "$T/hooks"
	ln -s "$T/others/hooks" .git/hooks
	others hooks uninstall
	others hooks install
	git config core.hooksPath "$T/others/hooks"
	others hooks install
	others hooks uninstall
}

# ---- anything, anywhere ----

# pick <n>: the next random number below it, in $picked
pick() {
	seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
	picked=$((seed / 65536 % $1))
}

# pick_of <word>...: one of them, in $picked
pick_of() {
	pick $#
	shift $picked
	picked=$1
}

# Where a link or a record may lead to.
pick_target() {
	pick_of "$T/others" "$T/others/hooks" "$T/others/config" "$T/others/script" "$T/others/empty" \
		"$T/others/settings.json" "$T/others/repo/.git" "$T/others/repo" "$T/others/none" ../.. ..
	target=$picked
}

# make_place: a directory for $place, unless what was planted before leads out of the worktree
make_place() {
	case $(realpath -m "$(dirname "$place")") in
	"$PWD" | "$PWD"/*) mkdir -p "$(dirname "$place")" 2>/dev/null ;;
	*) return 1 ;;
	esac
}

plant_link() {
	pick_of .git/config .git/git-checkpoint .git/git-checkpoint/pre-rebase .git/hooks .git/worktrees \
		.git/hooks/.git-checkpoint .git/hooks/pre-rebase .git/info .claude .claude/settings.json \
		.mcp.json .git/logs .git/config.lock .git/index.lock sub .git/git-checkpoint/answer \
		.git/hooks/pre-rebase.pre-checkpoint .git/commondir
	place=$picked
	pick_target
	make_place || return 0
	rm -rf "$place"
	ln -s "$target" "$place"
}

plant_text() {
	pick_of .git/commondir .git/git-checkpoint/installed .git/worktrees/x/gitdir \
		.git/worktrees/x/commondir sub/.git
	place=$picked
	pick_target
	make_place || return 0
	pick_of '' /.git
	target=$target$picked
	pick_of '' 'gitdir: '
	rm -rf "$place"
	echo "$picked$target" >"$place"
	place=.git/worktrees/x/HEAD
	! make_place || cp .git/HEAD $place
}

plant_value() {
	pick_of core.worktree core.hooksPath include.path init.templateDir core.excludesFile \
		core.attributesFile remote.origin.url
	key=$picked
	pick_target
	test -L .git/config || git config -f .git/config "$key" "$target" 2>/dev/null || :
}

plant_command() {
	pick_of core.fsmonitor core.pager core.sshCommand filter.x.clean checkpoint.verifyCommand \
		diff.external
	test -L .git/config || git config -f .git/config "$picked" "$T/snares/trap" 2>/dev/null || :
	echo '* filter=x' >.gitattributes
	mkdir -p data conf/git-checkpoint
	printf '%s\n' "verifyCommand = $T/snares/trap" '[capture "x"]' "save = $T/snares/trap" \
		'auto = true' >conf/git-checkpoint/config
}

plant_record() {
	mkdir -p data/git-checkpoint
	{
		echo '{"version":1,"files":{'
		for file in "$PWD/.git/config" "$T/others/config" "$PWD/.git/hooks/pre-rebase" \
			"$T/others/hooks/pre-rebase" "$T/others/settings.json" "$PWD/.claude/settings.json"; do
			printf '"%s":{"original":"%s","left":"%s","dirs":3,"by":["hooks of %s"]},' "$file" \
				"[core]\n\tfsmonitor = $T/snares/trap\n" \
				"$(sha256sum "$file" 2>/dev/null | cut -d' ' -f1)" "$PWD/.git"
		done
		echo '"/x":{"by":[]}}}'
	} >data/git-checkpoint/installed
}

# With names of variables that lead into the worktree, or not.
run_something() {
	pick_of 'save' 'save --automatic' 'status' 'hooks status' 'hooks install' 'hooks install --guard' \
		'hooks uninstall' 'hooks install --agent claude-code' 'hooks uninstall --agent claude-code' \
		'mcp --install claude-code' 'mcp --uninstall claude-code' 'restore --yes @' 'undo --yes' \
		'restore --git --yes @' 'doctor --fix' "restore --into $T/copy --worktree @" 'list' 'diff' \
		'verify --all' 'drop --yes @' 'watch status'
	command=$picked
	pick_of "$XDG_DATA_HOME" "$PWD/data"
	data=$picked
	pick_of "$XDG_CONFIG_HOME" "$PWD/conf"
	rm -rf "$T/copy"
	# shellcheck disable=SC2086 # a command with its arguments
	XDG_DATA_HOME=$data XDG_CONFIG_HOME=$picked others git-checkpoint $command
	expect_eq '' "$(ls "$T/marks")" "what was run by '$command'"
}

test_whatever_is_planted_changes_nothing_else() {
	snare trap 'exit 0'
	other_files
	git init -q "$T/others/repo"
	git -C "$T/others/repo" commit -q --allow-empty -m theirs
	rounds=12
	test "${CKPT_TEST_ROUNDS:-}" != all || rounds=300
	for round in $(seq $rounds); do
		seed=$((TEST_SEED + round))
		rm -rf up
		mkdir -p up/w/sub
		echo theirs >up/file
		(
			cd up/w
			repository
			git-checkpoint save -q
			pick 2
			test $picked = 0 || hooks install -q --guard
			for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
				pick_of link text value command record
				plant_"$picked"
				run_something
			done
		) || fail "round $round of seed $TEST_SEED"
		expect_eq theirs "$(cat up/file)"
		expect_eq "file
w" "$(ls -A up)"
	done
}

run_tests
