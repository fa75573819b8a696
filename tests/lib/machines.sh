# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For the tests of remotes: several machines with clones of one project, and a repository between
# them; sourced after harness.sh.

# on <machine> <command>...: as on that machine, in its clone: its own stores, home and name, and its
# own user if there is a file "nobody"
on() {
	(
		on_machine=$T/machines/$1
		cd "$T/machines/$1/$(cat "$T/machines/$1/where")" || exit
		HOME=$T/machines/$1 XDG_STATE_HOME=$T/machines/$1/state GIT_CHECKPOINT_MACHINE=$1
		XDG_CONFIG_HOME=$HOME/.config
		export HOME XDG_CONFIG_HOME XDG_STATE_HOME GIT_CHECKPOINT_MACHINE
		shift
		case $(command -v "$1") in
		# a function of ours only looks
		/*) test ! -e "$on_machine/nobody" || set -- run_as_nobody "$@" ;;
		esac
		"$@"
	)
}

# of_nobody <machine>: another user has it, who can reach nothing of the others
of_nobody() {
	test "$(id -u)" = 0 && id nobody >/dev/null 2>&1 || skip 'needs root, and the user nobody'
	run_as_nobody test -x "$BUILD_DIR" || skip 'nobody cannot reach the program'
	give_to_nobody "$T/machines/$1"
	: >"$T/machines/$1/nobody"
}

# machine <name> <folder>: a machine with a clone of the project in that folder
machine() {
	mkdir -p "$T/machines/$1"
	echo "$2" >"$T/machines/$1/where"
	git clone -q "$T/project" "$T/machines/$1/$2"
	git -C "$T/machines/$1/$2" remote remove origin
}

# machines [<url>]: a hub, and the machines one and two, which know it
machines() {
	git init -q "$T/project"
	echo 1 >"$T/project/file"
	mkdir "$T/project/dir"
	seq 500 >"$T/project/dir/long"
	git -C "$T/project" add .
	git -C "$T/project" commit -q -m one
	git init -q --bare "$T/hub.git"
	machine one src/one
	machine two work/two
	for machines_name in one two; do
		on $machines_name git-checkpoint remote add -q hub "${1:-$T/hub.git}"
	done
}

# edit <machine> <text>: files are changed, staged, new
edit() {
	on "$1" sh -e -c "echo '$2' >file; echo '$2' >>dir/long; echo 'new $2' >new; echo 'staged $2' >staged
		git add staged; echo more >>staged; mkdir -p 'empty $2'; chmod 0600 new"
}

# same: both worktrees, indexes and branches are the same
same() {
	on one fingerprint . >"$T/one"
	on two fingerprint . >"$T/two"
	expect_same "$T/one" "$T/two"
	for same_machine in one two; do
		on $same_machine sh -c 'git status --porcelain=v2 --branch; git ls-files -s; git rev-parse HEAD' \
			>"$T/git.$same_machine"
	done
	expect_same "$T/git.one" "$T/git.two"
}

# hub_refs: what the hub has, without the ids of commits
hub_refs() {
	git -C "$T/hub.git" for-each-ref --format='%(refname)' "$@"
}

# id_on <machine>: the newest checkpoint there
id_on() {
	on "$1" git-checkpoint show --json @ | jq -r .id
}

# nothing_fetched <machine>
nothing_fetched() {
	expect_eq '' "$(on "$1" git-checkpoint list --remote -q; on "$1" git-checkpoint list --remote 2>/dev/null)"
	nothing_store=$(on "$1" git-checkpoint status --json | jq -r .store)
	expect_eq '' "$(ls "$nothing_store/checkpoint/scratch" 2>/dev/null)"
	expect_eq '' "$(git --git-dir="$nothing_store" for-each-ref refs/fetched refs/incoming)"
}
