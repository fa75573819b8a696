#!/bin/sh
# SPDX-License-Identifier: MIT
# A branch of the project out of a checkpoint: what git would have committed then.

. "$(dirname "$0")/../../lib/harness.sh"

# project: a repository with a commit, its id in $head
project() {
	git init -q .
	echo 1 >a
	echo 1 >gone
	printf '*.log\n' >.gitignore
	git add .
	git commit -q -m one
	head=$(git rev-parse HEAD)
}

# untouched <command>...: HEAD, index and worktree stay as they are, whatever it does
untouched() {
	fingerprint . >"$T/before"
	git rev-parse HEAD >>"$T/before"
	git symbolic-ref HEAD >>"$T/before"
	sha256sum .git/index >>"$T/before"
	"$@"
	fingerprint . >"$T/after"
	git rev-parse HEAD >>"$T/after"
	git symbolic-ref HEAD >>"$T/after"
	sha256sum .git/index >>"$T/after"
	expect_same "$T/before" "$T/after"
}

test_the_commit_is_what_git_would_make() {
	project
	echo 2 >a
	rm gone
	chmod +x .gitignore
	mkdir -p empty/more dir
	echo new >dir/new
	ln -s a link
	echo noise >x.log
	git-checkpoint save -q -m 'my reason'
	untouched git-checkpoint branch topic/new @ >"$T/out"
	expect_grep "Created branch 'topic/new' from chk_" "$T/out"
	git log -1 --format='%P %an %ae %s' topic/new >"$T/got"
	expect_eq "$head $(git config user.name) $(git config user.email) my reason" "$(cat "$T/got")"
	git add -A
	expect_eq "$(git write-tree)" "$(git rev-parse 'topic/new^{tree}')"
	git fsck --strict
	# the name from the environment wins, as in git
	GIT_AUTHOR_NAME=Somebody GIT_AUTHOR_EMAIL=s@example.org git-checkpoint branch second @ >/dev/null
	expect_eq 'Somebody s@example.org' "$(git log -1 --format='%an %ae' second)"
	# on top of HEAD of then
	git commit -q -m two
	git-checkpoint branch --json third @ >"$T/out"
	expect_eq "$head" "$(json .parent "$T/out")"
	expect_eq "$(git rev-parse third)" "$(json .commit "$T/out")"
	expect_eq third "$(json .branch "$T/out")"
}

test_random_trees() {
	git init -q .
	make_tree "$TEST_SEED" 50
	find . -path ./.git -prune -o -depth \( -name 'git~1' -o -iname .git -o -name .gitignore \) -print0 |
		xargs -0 -r rm -rf
	git add -A
	git commit -q -m one
	damage_tree $((TEST_SEED + 1))
	find . -path ./.git -prune -o -depth \( -name 'git~1' -o -iname .git -o -name .gitignore \) -print0 |
		xargs -0 -r rm -rf
	git-checkpoint save -q --include-ignored --include-sensitive || test $? = 3
	git-checkpoint show --files -z @ >"$T/files"
	git-checkpoint branch --json new @ >"$T/out"
	# what is ignored or secret is left out, unless it was tracked
	git add -A
	git diff --cached --name-only --diff-filter=AMT new >"$T/differs"
	git diff --cached --name-only --diff-filter=D new >"$T/lacks"
	expect_eq '' "$(cat "$T/lacks")"
	expect_eq "$(json '.ignored + (.warnings | length)' "$T/out")" "$(wc -l <"$T/differs")"
}

test_what_is_ignored_or_secret_is_left_out() {
	project
	echo tracked >t.log
	echo token >.env
	git add -f t.log .env
	git commit -q -m two
	echo noise | tee x.log t.log >/dev/null
	mkdir node_modules
	echo x >node_modules/x
	echo key >id_rsa
	echo token2 >.env
	echo '!never' >>.gitignore
	git-checkpoint save -q --include-ignored --include-sensitive
	git-checkpoint branch new @ >"$T/out" 2>"$T/err"
	expect_eq ".env .gitignore a gone t.log" \
		"$(git ls-tree -r --name-only new | tr '\n' ' ' | sed 's/ $//')"
	git ls-tree -r --name-only new >"$T/names"
	expect_no_grep 'x.log\|node_modules\|id_rsa' "$T/names"
	expect_grep t.log "$T/names"
	expect_eq noise "$(git show new:t.log)"
	expect_grep "'id_rsa' looks like a secret and was left out" "$T/err"
	expect_grep '2 ignored files were left out' "$T/out"
	# the rules of then count
	rm .gitignore
	git-checkpoint branch again @ >/dev/null 2>&1
	expect_eq "$(git rev-parse 'new^{tree}')" "$(git rev-parse 'again^{tree}')"
	# a name alone does not make it part of a commit
	echo '*.log' >.gitignore
	git-checkpoint save -q x.log
	git-checkpoint branch named @ >/dev/null
	expect_exit 128 git show named:x.log 2>/dev/null
}

test_submodules_stay_submodules() {
	project
	git init -q sub
	git -C sub commit -q --allow-empty -m sub
	git add sub 2>/dev/null
	git commit -q -m two
	echo file >sub/file
	git -C sub commit -q --allow-empty -m more
	echo 3 >a
	git-checkpoint save -q
	git-checkpoint branch new @ >/dev/null
	expect_eq "$(git ls-tree HEAD sub)" "$(git ls-tree new sub)"
	expect_eq 3 "$(git show new:a)"
}

test_scopes() {
	project
	echo 2 | tee a gone >/dev/null
	git-checkpoint save -q a
	git-checkpoint branch new @ >/dev/null
	expect_eq '2 1' "$(git show new:a) $(git show new:gone)"
}

test_it_is_refused() {
	project
	git-checkpoint save -q
	git branch there
	for name in there main master; do
		git show-ref -q --verify "refs/heads/$name" || continue
		expect_exit 5 git-checkpoint branch $name @ 2>"$T/err"
		expect_grep "a branch named '$name' already exists" "$T/err"
	done
	expect_eq "$head" "$(git rev-parse there)"
	for name in a..b -x 'with blank' '@{-1}' a.lock '' HEAD x/; do
		status=0
		git-checkpoint branch -- "$name" @ 2>"$T/err" || status=$?
		expect_eq 128 $status "'$name'"
		expect_grep 'is not a valid branch name' "$T/err"
	done
	expect_exit 128 git-checkpoint branch there/below @ 2>"$T/err"
	expect_exit 128 git-checkpoint branch new nothing
	expect_exit 129 git-checkpoint branch new
	expect_eq '' "$(git branch --list new)"
	# the commit is gone
	rm -rf .git
	git init -q .
	expect_exit 128 git-checkpoint branch new @ 2>"$T/err"
	expect_grep "does not have the commit '$head'.*fetch it first" "$T/err"
	rm -rf .git
	expect_exit 128 git-checkpoint branch new @ 2>"$T/err"
	expect_grep 'not in a git repository' "$T/err"
}

test_no_hook_and_no_filter_runs() {
	project
	for hook in pre-commit commit-msg post-commit reference-transaction post-index-change; do
		printf '#!/bin/sh\necho %s >>%s\n' $hook "$T/ran" >.git/hooks/$hook
		chmod +x .git/hooks/$hook
	done
	git config filter.x.clean "echo filter >>'$T/ran'; cat"
	git config commit.gpgSign true
	git config gpg.program "$T/work/.git/hooks/pre-commit"
	echo '* filter=x' >.git/info/attributes
	echo 5 >a
	git-checkpoint save -q
	rm -f "$T/ran"
	git-checkpoint branch new @ >/dev/null
	expect_missing "$T/ran"
	expect_eq 5 "$(git show new:a)"
}

test_other_repositories() {
	mkdir sha256 unborn
	cd sha256
	git init -q --object-format=sha256 .
	echo 1 >a
	git add a
	git commit -q -m one
	echo 2 >a
	git-checkpoint save -q
	git-checkpoint branch new @ >/dev/null
	git add a
	expect_eq "$(git write-tree)" "$(git rev-parse 'new^{tree}')"
	git fsck --strict
	cd ../unborn
	git init -q .
	echo 1 >a
	git-checkpoint save -q
	git-checkpoint branch new @ >/dev/null
	expect_eq '' "$(git log -1 --format=%P new)"
	expect_eq 1 "$(git show new:a)"
}

run_tests
