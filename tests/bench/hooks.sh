# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: what hooks and the guard cost git.

REFS=1000
HOOK_ROUNDS=5

# hooked <kind> [<repository>]: a copy of one, else of one that has nothing of the other one's refs
# yet, with hooks of a kind
hooked() {
	new_away
	test ! -e "$TREE" || mv "$TREE" "$SCRATCH/away/$AWAY"
	cp -a "${2:-$SCRATCH/refless}" "$TREE"
	cd "$TREE" || exit
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
	cd "$SCRATCH" || exit
}

# in_both <side> <key> <command>...: git itself does the work on both sides; what is called stock is
# git with another hook, or none
in_both() {
	side=$1 as=$2
	shift 2
	case $side in
	ours) ours "$as" "$@" ;;
	*) stock "$as" "$*" ;;
	esac
}

# on_refs <side> <hooks> <what>: fetch and pack-refs
on_refs() {
	hooked "$2"
	in_both "$1" "fetch-$3" git fetch -q "$SCRATCH/refs" 'refs/heads/*:refs/remotes/o/*'
	in_both "$1" "pack-$3" git pack-refs --all
}

ours_refs() { on_refs ours ours hook; }
stock_refs() { on_refs stock exits hook; }
ours_guarded() { on_refs ours guard guard; }
stock_unguarded() { on_refs stock none guard; }

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
		cd "$SCRATCH/small" || exit
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

# on_commits <side> <hooks>
on_commits() {
	hooked "$2" "$SCRATCH/small"
	in_both "$1" commit-hook git commit -q --allow-empty -m x
	in_both "$1" rebase-hook git rebase -q upstream
}

ours_commits() { on_commits ours ours; }
stock_commits() { on_commits stock exits; }

# on_files <side> <hooks>
on_files() {
	hooked "$2" "$SCRATCH/small"
	# What is saved already, so that the guard has to look, but not to write.
	test "$2" != guard || git-checkpoint -C "$TREE" save -q
	for i in 1 2 3 4 5; do
		in_both "$1" checkout-guard git checkout -q -f main
		in_both "$1" commit-guard git -c user.name=x commit -q --allow-empty -m x
	done
	in_both "$1" switch-guard git checkout -q other
	in_both "$1" rebase-guard git rebase -q upstream main
}

ours_files() { on_files ours guard; }
stock_files() { on_files stock answers; }

hooks_on_files() {
	has_command hooks || return 0
	say 'hooks, 50 commits and files'
	make_small
	round=0
	while test $round -lt $HOOK_ROUNDS; do
		round=$((round + 1))
		turns $round ours_commits stock_commits
		turns $round ours_files stock_files
	done
}

# A hook that git runs and that has nothing to do: the shim decides, or the program after it.
hooks_for_nothing() {
	has_command hooks || return 0
	hooked ours "$SCRATCH/small"
	i=0
	while test $i -lt 41; do
		i=$((i + 1))
		for key in nothing nothing-program; do
			(cd "$TREE" && measure "$SAMPLES/$key.git" true)
		done
		ours nothing .git/hooks/reference-transaction committed
		ours nothing-program git-checkpoint hook reference-transaction committed
	done
}
