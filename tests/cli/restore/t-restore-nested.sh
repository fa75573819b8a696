#!/bin/sh
# SPDX-License-Identifier: MIT
# What a restore says about repositories within the worktree whose HEAD moved since.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# where [<repository>]: commit and branch of HEAD
where() {
	echo "$(git -C "${1:-lib}" rev-parse -q --verify HEAD || echo none) $(git -C "${1:-lib}" symbolic-ref -q --short HEAD || echo detached)"
}

# two_commits <repository>: on main, with a branch "side" that cannot be merged
two_commits() {
	git init -q "$1"
	echo 1 | tee "$1/a" >"$1/b"
	git -C "$1" add a b
	git -C "$1" commit -q -m one
	git -C "$1" checkout -q -b side
	echo side >"$1/a"
	git -C "$1" commit -q -a -m side
	git -C "$1" checkout -q main
	echo 2 >"$1/a"
	git -C "$1" commit -q -a -m two
	now=$(git -C "$1" rev-parse HEAD)
}

# go_back [<repository>]: restore, and run the commands that the report names
go_back() {
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	grep '^    ' "$T/err" | sed 's/^    //' >"$T/commands" || fail "no command is named: $(cat "$T/err")"
	restore "$id"
	told '.next_actions[]' >"$T/actions"
	head -n "$(wc -l <"$T/commands")" "$T/actions" >"$T/first"
	expect_same "$T/commands" "$T/first"
	expect_eq 0 "$(grep -c -v '^git -C ' "$T/commands")"
	fingerprint . >"$T/before"
	sh -e "$T/commands" >"$T/log" 2>&1 || {
		cat "$T/commands" "$T/log"
		fail 'a command failed'
	}
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_eq "$was" "$(where "$@")" 'HEAD'
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_no_grep '^    ' "$T/err"
}

# moved <then> <since>: what git does in the nested repository before the checkpoint and after it
moved() {
	rm -rf lib
	two_commits lib
	(cd lib && eval "$1") >"$T/log" 2>&1
	echo mine >lib/b
	save
	was=$(where)
	restore "$id"
	expect_not_warned
	(cd lib && eval "$2") >"$T/log" 2>&1
	test "$was" != "$(where)" || fail "'$2' did not move HEAD"
	go_back
}

test_the_commands_lead_back() {
	git init -q
	moved : 'git commit -q -a -m three'
	expect_eq "git -C lib update-ref --no-deref HEAD $now
git -C lib reset
git -C lib branch -f main $now
git -C lib switch main" "$(cat "$T/commands")"
	moved : 'git checkout -q -f side'
	moved : 'git branch -m other'
	moved 'git checkout -q -b gone' 'git checkout -q -f main; git branch -q -D gone'
	moved : 'git reset -q --hard HEAD~1'
	moved 'git checkout -q --detach HEAD~1' 'git checkout -q -f main'
	moved : 'git checkout -q -f --detach HEAD~1'
	moved : 'git update-ref -d HEAD'
	moved : 'git stash -q; git rebase side || :'
	moved : 'git stash -q; git checkout -q side; git merge main || :'
	moved 'git rebase side || :' 'git rebase --quit; git checkout -q -f main'
}

test_names_and_places() {
	git init -q
	for dir in 'a b;c$(d)' "it's" deep/er/lib; do
		mkdir -p "$dir"
		two_commits "$dir"
	done
	mkdir -p deep/sub
	echo 1 >deep/sub/a
	save
	was=$(where 'a b;c$(d)')
	git -C 'a b;c$(d)' checkout -q --detach side
	go_back 'a b;c$(d)'
	was=$(where "it's")
	git -C "it's" checkout -q side
	go_back "it's"
	# the commands are for the current directory
	was=$(where deep/er/lib)
	git -C deep/er/lib checkout -q side
	for dir in deep deep/sub deep/er .; do
		(
			cd $dir
			git-checkpoint restore -n "$id" >"$T/out" 2>"$T/err"
			grep '^    ' "$T/err" | sed 's/^    //' >"$T/commands"
			sh -e "$T/commands" >"$T/log" 2>&1 || fail "$dir: $(cat "$T/commands" "$T/log")"
		)
		expect_eq "$was" "$(where deep/er/lib)" "$dir"
		git -C deep/er/lib checkout -q -f side
	done
	expect_warned_nothing_odd
}

# Odd bytes in a branch of a nested repository do not reach a terminal.
expect_warned_nothing_odd() {
	printf 'ref: refs/heads/a\033[2Jb\n' >"it's/.git/HEAD"
	git-checkpoint restore -n "$id" >"$T/out" 2>"$T/err"
	expect_no_grep "$(printf '\033')" "$T/err"
	save
	printf 'ref: refs/heads/main\n' >"it's/.git/HEAD"
	git-checkpoint restore -n "$id" >"$T/out" 2>"$T/err"
	expect_no_grep "$(printf '\033')" "$T/err"
	expect_grep "^warning: in 'it's': git is on 'main' at .*, at the checkpoint it was on 'a?" "$T/err"
}

test_before_the_question() {
	two_commits .
	two_commits lib
	save
	echo 3 >a
	git commit -q -a -m three
	git -C lib checkout -q side
	on_terminal "git-checkpoint restore $id" y
	expect_eq 1 "$(grep -c "warning: in 'lib': git is on " "$T/screen")"
	awk '/warning: / { seen = NR } /Restore it: / { asked = NR } /Restored chk/ { done = NR }
		END { exit !(seen && asked && done && seen < asked && asked < done) }' "$T/screen"
	# the project's own comes last
	expect_eq "    git checkpoint restore --git $id" "$(grep '^    ' "$T/screen" | tail -n 1 | tr -d '\r')"
}

test_outside_of_git() {
	two_commits lib
	save
	was=$(where)
	git -C lib checkout -q side
	go_back
}

test_a_submodule() {
	two_commits "$T/other"
	git init -q
	git -c protocol.file.allow=always submodule --quiet add "$T/other" lib
	git commit -q -m submodule
	save
	was=$(where)
	git -C lib checkout -q --detach HEAD~1
	go_back
}

test_another_worktree_that_was_included() {
	two_commits .
	git worktree add -q linked side
	save --include-worktrees
	was=$(where linked)
	git -C linked checkout -q --detach HEAD~1
	go_back linked
	# one that was left out is none of its business
	save
	git -C linked checkout -q --detach HEAD~1
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err"
	expect_no_grep "in 'linked'" "$T/err"
}

# Where HEAD of a repository within it is, is part of what a checkpoint records.
test_a_commit_in_it_is_a_change() {
	git init -q
	two_commits lib
	save
	one=$id
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	git -C lib commit -q --allow-empty -m empty
	save
	test "$id" != "$one" || fail 'the commit was not seen'
	two=$id
	was=$(where)
	git -C lib reset -q --hard HEAD~1
	go_back
	git -C lib checkout -q -b new
	save
	test "$id" != "$two" || fail 'the branch was not seen'
	# nothing of it was written
	git-checkpoint save -q
	fingerprint_raw lib/.git >"$T/before"
	echo 2 >lib/a
	git-checkpoint save -q
	git-checkpoint restore -q -y "$id" 2>"$T/err"
	fingerprint_raw lib/.git >"$T/after"
	expect_same "$T/before" "$T/after"
}

test_a_repository_that_is_gone() {
	git init -q
	two_commits lib
	save
	rm -rf lib
	restore "$id"
	expect_warned "in 'lib': the repository is gone, only its files come back; HEAD was $now"
	expect_eq 2 "$(cat lib/a)"
}

test_only_what_is_asked_for() {
	git init -q
	two_commits lib
	two_commits other
	save
	git -C lib checkout -q side
	git -C other checkout -q side
	restore "$id" -- lib/b
	expect_warned_like "^in 'lib': HEAD moved"
	expect_not_warned "in 'other'"
	expect_eq 0 "$(told '[.next_actions[] | select(startswith("git -C"))] | length')"
	restore "$id" -- lib
	expect_eq 4 "$(told '[.next_actions[] | select(startswith("git -C"))] | length')"
	expect_not_warned "in 'other'"
	# a checkpoint of a part
	save other
	git -C other checkout -q main
	restore "$id"
	expect_not_warned "in 'lib'"
	expect_warned_like "^in 'other': HEAD moved"
}

test_many_of_them() {
	git init -q
	for n in 1 2 3 4 5 6 7; do
		two_commits lib$n
	done
	save
	for n in 1 2 3 4 5 6 7; do
		git -C lib$n checkout -q --detach
	done
	git-checkpoint restore -n "$id" >"$T/out" 2>"$T/err"
	expect_eq 5 "$(grep -c "git is .*, at the checkpoint it was " "$T/err")"
	expect_grep '^warning: 2 more repositories have another HEAD now; --json names them$' "$T/err"
	restore "$id"
	expect_eq 28 "$(told '[.next_actions[] | select(startswith("git -C lib"))] | length')"
}

# Refs in tables cost a process each: not in every save, but in each checkpoint.
test_refs_in_tables() {
	git init -q
	git init -q --ref-format=reftable lib 2>/dev/null || skip 'needs a git that knows reftable'
	echo 1 >lib/a
	git -C lib add a
	git -C lib commit -q -m one
	save
	was=$(where)
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	git -C lib checkout -q -b other
	echo 2 >lib/a
	git -C lib commit -q -a -m two
	go_back
}

# What is not a repository, or is a broken one, does not get in the way.
test_broken_ones() {
	git init -q
	mkdir file dir empty loop
	echo 'gitdir: /nowhere' >file/.git
	mkdir dir/.git
	: >empty/.git
	ln -s .git loop/.git
	two_commits bad
	echo garbage >bad/.git/HEAD
	for d in file dir empty loop; do
		echo 1 >$d/a
	done
	save
	git-checkpoint save >"$T/out"
	expect_grep '^Nothing changed' "$T/out"
	echo 2 >file/a
	restore "$id"
	expect_not_warned
	expect_eq 1 "$(cat file/a)"
}

run_tests
