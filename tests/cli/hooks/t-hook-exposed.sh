#!/bin/sh
# SPDX-License-Identifier: MIT
# What checkpoints leave out as a rule, and git destroys all the same: ignored files at paths that
# a tree has which a command leads to, and untracked ones that only a default pattern leaves out.
# Whatever there was before the command is in the checkpoint that the guard names, or named as
# missing.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/guarded.sh"

# make_exposing: 'b' adds what main ignores: a file, a file where there is a directory, a file in
# an ignored directory, a directory where there is a file, and what a default pattern leaves out;
# 'gone' had them and removed them; 'c' (apart) is merged with b without conflict
make_exposing() {
	make_template first_exposing
}

first_exposing() {
	printf '*.log\nign/\n/either\n' >.gitignore
	commit base d.txt d e.txt e sub/e.txt e
	git checkout -q -b c
	commit c c.txt c
	git checkout -q -b b main
	mkdir ign build sub/either
	echo tracked >t.log
	echo tracked >ign/in
	echo tracked >dir.log
	echo tracked >build/tool.sh
	mkdir either
	echo tracked >either/below.txt
	git add -f t.log ign/in dir.log build/tool.sh either/below.txt
	commit b b.txt b
	git checkout -q -b gone
	git rm -q -r t.log ign dir.log build either
	commit gone g.txt g
	git checkout -q -b again
	git revert --no-edit HEAD >/dev/null
	git checkout -q main
}

# precious: all that b would write over though it is ignored; and what it would not
precious() {
	for path in t.log ign/in dir.log/a.log dir.log/deep/b.log either; do
		mkdir -p "$(dirname "$path")"
		rm -rf "$path"
		echo "PRECIOUS $path" >"$path"
	done
	mkdir -p dir.log/empty
	chmod 600 t.log
	echo other >other.log
	echo other >ign/other
	echo u >u.txt
}

# untracked_too: what b writes over when it is forced to, and only a default pattern leaves out
untracked_too() {
	precious
	mkdir -p build
	echo 'PRECIOUS build' >build/tool.sh
	echo other >build/other
}

# all_of <file>: what there is, sorted
all_of() {
	fingerprint . | sort >"$1"
}

# keeps <setup> <command>...: the command destroys something that is left out as a rule, or this
# row says nothing; all that it changes or removes is in the checkpoint that is named; a restore
# brings all of it back, undo takes that back
keeps() {
	is_turn || return 0
	fresh "$1"
	shift
	$INSTALL
	all_of "$T/before"
	state all | sort >"$T/all"
	run "$@"
	all_of "$T/after"
	comm -23 "$T/before" "$T/after" | cut -d' ' -f4- | sort >"$T/lost"
	grep -q 'PRECIOUS\|log$\|ign/\|build\|either' "$T/lost" || {
		cat "$T/out" "$T/err"
		fail "'$*' destroyed nothing that is left out as a rule"
	}
	id=$(git-checkpoint list --json | jq -r '[.checkpoints[] | select(.source == "hook") | .id] | last // ""')
	test -n "$id" || fail "'$*' is not noticed: $(cat "$T/err")"
	stored "$id" | sort >"$T/stored"
	comm -23 "$T/all" "$T/stored" | cut -d' ' -f3- | sort | comm -12 - "$T/lost" >"$T/gone"
	expect_eq '' "$(cat "$T/gone")" "destroyed by '$*' and not in $id"
	expect_no_grep 'Sanitizer\|runtime error' "$T/err"
	comes_back "$id" "$*"
}

comes_back() {
	git-checkpoint restore -q -y "$1" >"$T/out" 2>&1 || {
		cat "$T/out"
		fail "no restore after '$2'"
	}
	all_of "$T/now"
	comm -23 "$T/before" "$T/now" >"$T/lacking"
	expect_eq '' "$(cat "$T/lacking")" "what the restore after '$2' does not bring back"
	git-checkpoint undo -q -y >"$T/out" 2>&1 || {
		cat "$T/out"
		fail "no undo after '$2'"
	}
	all_of "$T/now"
	expect_same "$T/after" "$T/now"
}

test_commands_that_lead_to_another_tree() {
	make_exposing
	keeps precious git checkout -q b
	keeps precious git switch -q b
	keeps untracked_too git checkout -q -f b
	keeps precious git switch -q --discard-changes b
	keeps untracked_too git reset -q --hard b
	keeps precious git reset -q --keep b
	keeps precious git reset -q --merge b
	keeps precious git read-tree -m -u HEAD b
	keeps untracked_too git read-tree -u --reset b
	keeps precious git checkout -q b -- t.log ign
	keeps untracked_too git checkout -q b -- .
	keeps precious git restore --source b t.log
	# what is ignored after it and of another kind would be in the way
	keeps 'untracked_too; rm -rf dir.log either' git restore -s b .
	keeps untracked_too git restore --source=b -SW .
	keeps 'precious; git update-ref refs/remotes/o/new b; git remote add o nowhere' git checkout -q new
	keeps 'git checkout -q b; git checkout -q main; precious' git checkout -q -
}

test_commits_that_stand_for_others() {
	make_exposing
	keeps 'precious; git replace main b' git reset -q --hard
	keeps 'precious; git replace c b' git checkout -q c
}

test_commands_that_apply_commits() {
	make_exposing
	keeps precious git merge -q --no-edit b
	keeps 'git checkout -q c; precious' git merge -q --no-edit b
	keeps 'git checkout -q c; precious' git merge -q --no-edit -s resolve -m words b
	keeps 'git checkout -q c; precious' git rebase -q b
	keeps 'git checkout -q c; precious' git rebase -q --apply b
	keeps 'git checkout -q c; precious' git rebase -q --onto b main
	keeps 'git checkout -q c; precious' git rebase -q main again
	keeps precious git cherry-pick b
	keeps precious git cherry-pick main..b
	keeps 'git checkout -q gone; precious' git revert --no-edit HEAD
	keeps 'git format-patch -q -1 b -o ..; precious' git am -q -3 ../0001-b.patch
	keeps 'git format-patch -q -1 b -o ..; precious; git config am.threeWay true' sh -c 'git am -q <../0001-b.patch'
	keeps 'precious; git remote add up ../../template' git pull -q up b
	keeps 'git checkout -q c; precious; git remote add up ../../template' git pull -q --rebase up b
	keeps precious git merge-recursive main -- main b
}

test_what_is_staged_to_be_deleted() {
	make_exposing
	off='git checkout -q b; git rm -q -r --cached t.log ign build; for path in t.log ign/in build/tool.sh; do
		echo PRECIOUS >$path; done'
	keeps "$off" git reset -q --hard
	keeps "$off" git checkout -q -f
	keeps "$off" git stash -q
	keeps "$off" git restore -SW .
}

test_operations_that_go_on() {
	make_exposing
	keeps 'git checkout -q b; echo stashed >t.log; git stash -q; git checkout -q main; precious' git stash pop -q
	keeps 'git checkout -q b; echo stashed >d.txt; git stash -q; git checkout -q main; precious' git stash branch sb
	keeps 'git checkout -q gone; precious' git bisect start gone main
	keeps 'git checkout -q gone; for i in 1 2 3; do git commit -q --allow-empty -m $i; done
		git bisect start HEAD main >/dev/null; precious' git bisect bad
	keeps 'git checkout -q b; git bisect start >/dev/null; git checkout -q main; precious' git bisect reset
	keeps 'git checkout -q b; echo x >d.txt; git commit -q -a -m x
		git checkout -q c; echo y >d.txt; git commit -q -a -m y; git checkout -q b
		git rebase -q c >/dev/null 2>&1 || :; rm -rf t.log ign dir.log either build; git reset -q --hard c
		precious' git rebase --abort
}

test_files_by_name() {
	make_exposing
	keeps precious git mv -f d.txt t.log
	keeps 'precious; echo P >sub/d.txt.log; git mv d.txt d.txt.log' git mv -f d.txt.log sub
	keeps 'precious; mkdir -p ign/d; echo P >ign/d/e.txt' git checkout-index -q -f -a --prefix=ign/d/
	fresh precious
	guard_only
	cd sub
	git mv -f e.txt ../t.log 2>"$T/err"
	cd ..
	expect_eq 'PRECIOUS t.log' "$(git --git-dir="$(store_dir)" show latest:t.log)"
}

# Untracked files that git does not ignore, and only a default pattern leaves out.
test_what_default_patterns_leave_out() {
	make_exposing
	keeps untracked_too git clean -q -fd
	keeps untracked_too git stash -q -u
	keeps untracked_too git clean -q -f build
	keeps untracked_too git clean -q -fdx
	INSTALL='install_hooks' keeps untracked_too git stash -q -u
	# in two steps, of which only the second removes them
	fresh 'untracked_too; git config alias.all "!git reset -q --hard && git clean -q -fd"'
	guard_only
	git all
	expect_missing build
	expect_eq 'PRECIOUS build' "$(git --git-dir="$(store_dir)" show latest:build/tool.sh)"
	# one that a rebase runs
	fresh 'git checkout -q c; precious'
	guard_only
	run git rebase -q -x 'git checkout -q b -- t.log && git reset -q --hard' main
	expect_eq 'PRECIOUS t.log' "$(git --git-dir="$(store_dir)" show latest:t.log)"
	# and of which only the second leads there
	fresh 'precious; git config alias.go "!git reset --hard && git checkout b"; echo x >>d.txt'
	guard_only
	run git go
	expect_eq tracked "$(cat t.log)"
	expect_eq 'PRECIOUS t.log' "$(git --git-dir="$(store_dir)" show latest:t.log)"
	expect_eq 2 "$(grep -c '^checkpoint: saved' "$T/err")"
}

# The user's own patterns are left alone; what they leave out is said.
test_what_is_left_out_on_purpose_is_named() {
	make_exposing
	fresh 'untracked_too; mkdir mine; echo m >mine/f'
	guard_only
	git-checkpoint save -q
	echo 'mine/' >>"$(store_dir)/info/exclude"
	run git clean -q -fd
	expect_grep "^checkpoint: saved chk_.* before clean, but 'mine/' is not in it" "$T/err"
	expect_eq 'PRECIOUS build' "$(git --git-dir="$(store_dir)" show latest:build/tool.sh)"
}

test_too_many_are_named() {
	make_exposing
	fresh untracked_too
	guard_only
	git config checkpoint.maxFiles 6
	run git clean -q -fd
	expect_grep "^checkpoint: saved chk_.* before clean, but 'build/' is not in it: .*maxFiles" "$T/err"
	fresh 'precious; rm -rf ign/other'
	guard_only
	git config checkpoint.maxFiles 6
	run git checkout -q b
	expect_grep "^checkpoint: saved chk_.* before checkout, but 'dir.log', .* are not in it: .*maxFiles" "$T/err"
	expect_eq u "$(git --git-dir="$(store_dir)" show latest:u.txt)"
}

# A secret stays one, but who loses it hears of it.
test_secrets_that_are_written_over_are_named() {
	make_exposing
	git -C "$T/template" checkout -q b
	(cd "$T/template" && echo .env >>.gitignore && echo x=1 >.env && git add -f .env && commit env)
	git -C "$T/template" checkout -q -f main
	fresh 'echo secret >.env; echo .env >>.git/info/exclude'
	guard_only
	run git checkout -q b
	expect_eq x=1 "$(cat .env)"
	expect_grep "not saved, as they look like secrets: '.env'$" "$T/err"
}

test_nothing_is_asked_where_nothing_is_left_out() {
	make_exposing
	fresh 'rm -rf build ign; echo u >u.txt'
	guard_only
	git-checkpoint save -q
	mkdir "$T/bin"
	real=$(command -v git)
	printf '#!/bin/sh\necho "$*" >>"%s"\nexec "%s" "$@"\n' "$T/asked" "$real" >"$T/bin/git"
	chmod +x "$T/bin/git"
	echo more >>u.txt
	PATH=$T/bin:$PATH "$real" checkout -q b
	expect_missing "$T/asked"
}

test_submodules_and_nested_repositories() {
	make_exposing
	git config --global protocol.file.allow always
	modules='git submodule --quiet add -b main ../../template m; git commit -q -m m
		git branch old; git -C m checkout -q b; git commit -q -a -m new; git branch new
		git checkout -q old; git submodule --quiet update; (cd m && precious)'
	keeps "$modules" git checkout -q --recurse-submodules new
	keeps "$modules" git reset -q --hard --recurse-submodules new
	keeps "$modules; git config submodule.recurse true" git checkout -q new
	keeps "$modules; git checkout -q new" git submodule --quiet update
	keeps "$modules" git rm -q -f m
	nested='git init -q n; (cd n && echo "*.log" >.gitignore && echo f >f && echo PRECIOUS >x.log)'
	keeps "$nested" git clean -q -ffd
	keeps "$nested" git clean -q -f -d -f
	keeps "${modules%; (cd m*}; git -C m checkout -q b; git add m; git commit -q -m x; git -C m checkout -q main
		(cd m && precious)" git submodule --quiet foreach 'git checkout -q b'
}

run_tests
