#!/bin/sh
# SPDX-License-Identifier: MIT
# Hooks beside those of husky, lefthook, pre-commit and git-lfs, really installed, in every order:
# nobody's hook is lost, and status says when ours were displaced.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/hooks-install.sh"

# node_modules with husky and lefthook, fetched once; skips the case where they cannot be had
need_npm() {
	require npm node timeout
	NPM=$SCRATCH/npm/node_modules
	if test ! -e "$SCRATCH/npm"; then
		mkdir "$SCRATCH/npm"
		echo '{}' >"$SCRATCH/npm/package.json"
		(cd "$SCRATCH/npm" && timeout 120 npm install --no-audit --no-fund --ignore-scripts \
			--loglevel=error husky@9 lefthook@2) || :
	fi
	test -e "$NPM/husky/bin.js" && test -e "$NPM/lefthook/bin/index.js" ||
		skip 'needs the registry of npm'
}

husky() {
	node "$NPM/husky/bin.js"
}

lefthook() {
	node "$NPM/lefthook/bin/index.js" "$@"
}

# rebasable: on `topic`, which can be rebased onto `main`; a stand-in that notes calls
rebasable() {
	repository
	git checkout -q topic
	mkdir "$T/bin"
	printf '#!/bin/sh\n[ "$1" = hook ] || exec "%s" "$@"\necho "$2" >>"%s"\n' \
		"$BUILD_DIR/git-checkpoint" "$T/ours" >"$T/bin/git-checkpoint"
	chmod +x "$T/bin/git-checkpoint"
	PATH=$T/bin:$PATH
}

# expect_both: a rebase runs our hook and the one that notes in $T/theirs; it succeeds
expect_both() {
	expect_run ours theirs
}

# expect_run <who>...: exactly these are run by a rebase
expect_run() {
	rm -f "$T/ours" "$T/theirs"
	git rebase -q --force-rebase main >/dev/null 2>&1 || fail 'the rebase failed'
	for who in ours theirs; do
		case " $* " in
		*" $who "*) expect_exists "$T/$who" ;;
		*) expect_missing "$T/$who" ;;
		esac
	done
}

before() {
	fingerprint .git/hooks >"$T/before"
	test ! -e .husky || fingerprint .husky >>"$T/before"
	cat .git/config >>"$T/before"
}

expect_as_before() {
	mv "$T/before" "$T/expected"
	before
	expect_same "$T/expected" "$T/before"
}

# ---- husky -----------------------------------------------------------------------

their_husky_hook() {
	mkdir -p .husky
	printf 'echo "$0 $*" >>"%s"\n' "$T/theirs" >.husky/pre-rebase
}

test_husky_was_there_first() {
	hook_files
	need_npm
	rebasable
	their_husky_hook
	husky
	before
	expect_run theirs
	cp "$T/theirs" "$T/expected.theirs"
	hooks install -q
	hooks status -q
	expect_both
	expect_same "$T/expected.theirs" "$T/theirs"
	# what every `npm install` does
	husky
	expect_run theirs
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^displaced: pre-rebase: ' "$T/out"
	expect_grep '^installed: reference-transaction' "$T/out"
	hooks install -q
	hooks status -q
	expect_both
	hooks uninstall -q
	expect_as_before
	expect_run theirs
}

test_husky_comes_later() {
	hook_files
	need_npm
	rebasable
	before
	hooks install -q --guard
	expect_run ours
	their_husky_hook
	husky
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^not run: pre-rebase: .*\.husky/_' "$T/out"
	hooks install -q
	hooks status -q
	expect_both
	hooks uninstall -q
	expect_run theirs
	expect_eq .husky/_ "$(git config core.hooksPath)"
	expect_missing .git/hooks/pre-rebase .git/hooks/reference-transaction
	rm -r .husky
	git config --unset core.hooksPath
	expect_as_before
}

# ---- lefthook --------------------------------------------------------------------

their_lefthook_hook() {
	printf 'pre-rebase:\n  commands:\n    note:\n      run: echo theirs >>%s\n' "$T/theirs" >lefthook.yml
	printf 'lefthook.yml\n' >>.git/info/exclude
}

test_lefthook_was_there_first() {
	hook_files
	need_npm
	rebasable
	their_lefthook_hook
	lefthook install >/dev/null
	PATH=$NPM/.bin:$PATH
	before
	expect_run theirs
	hooks install -q
	hooks status -q
	expect_both
	hooks uninstall -q
	expect_as_before
	# it puts back what it found: nothing
	hooks install -q
	lefthook uninstall >/dev/null
	expect_exit 1 hooks status -q >/dev/null
	hooks uninstall -q
	expect_missing .git/hooks/pre-rebase .git/hooks/pre-rebase.old .git/hooks/reference-transaction
}

test_lefthook_comes_later() {
	hook_files
	need_npm
	rebasable
	their_lefthook_hook
	for kind in none sh perl; do
		test $kind = none || printf '#!/usr/bin/%s\nexit\n' $kind >.git/hooks/pre-rebase
		test $kind = none || chmod +x .git/hooks/pre-rebase
		before
		hooks install -q
		(PATH=$NPM/.bin:$PATH && lefthook install >/dev/null)
		expect_exit 1 hooks status >"$T/out"
		expect_grep '^displaced: pre-rebase: ' "$T/out"
		expect_exists .git/hooks/pre-rebase.old
		(
			PATH=$NPM/.bin:$PATH
			expect_run theirs
			hooks install -q
			hooks status -q
			expect_both
			# one that has its marks is overwritten
			lefthook install --force >/dev/null
			hooks install -q
			expect_both
		)
		# ours out first, or theirs
		if test $kind = sh; then
			lefthook uninstall >/dev/null
			hooks uninstall -q
		else
			hooks uninstall -q
			lefthook uninstall >/dev/null
		fi
		rm -f .git/info/lefthook.checksum
		expect_as_before
		rm -f .git/hooks/pre-rebase lefthook.yml
		their_lefthook_hook
	done
}

# Ours was moved away and never put in place again.
test_ours_goes_from_where_lefthook_put_it() {
	hook_files
	need_npm
	rebasable
	before
	their_lefthook_hook
	hooks install -q
	lefthook install >/dev/null
	expect_exists .git/hooks/pre-rebase.old
	hooks uninstall -q
	expect_missing .git/hooks/pre-rebase.old
	lefthook uninstall >/dev/null
	expect_as_before
}

# ---- pre-commit ------------------------------------------------------------------

test_pre_commit() {
	require pre-commit
	rebasable
	cat >.pre-commit-config.yaml <<-END
	repos:
	- repo: local
	  hooks:
	  - {id: note, name: note, entry: sh -c 'echo >>$T/theirs', language: system,
	     always_run: true, pass_filenames: false, stages: [commit]}
	END
	git add .pre-commit-config.yaml
	git commit -q -m config
	before
	for order in 'ours theirs' 'theirs ours'; do
		pre-commit install >/dev/null
		hooks install -q
		pre-commit install >/dev/null
		hooks status -q
		rm -f "$T/theirs"
		git commit -q --allow-empty -m x 2>/dev/null
		expect_exists "$T/theirs"
		for who in $order; do
			test $who != ours || hooks uninstall -q
			test $who != theirs || pre-commit uninstall >/dev/null
		done
		expect_as_before
	done
}

# Later versions take over pre-rebase, too, and run what they found there from <hook>.legacy.
test_what_pre_commit_runs_from_beside_it() {
	rebasable
	printf '#!/usr/bin/perl\nopen F, ">>%s"; print F "x"\n' "$T/theirs" >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	before
	hooks install -q
	mv .git/hooks/pre-rebase .git/hooks/pre-rebase.legacy
	printf '#!/bin/sh\n# File generated by pre-commit\n"$0.legacy" "$@"\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	expect_both
	hooks status -q
	hooks install -q
	expect_both
	hooks uninstall -q
	expect_run theirs
	# as its uninstall does
	mv .git/hooks/pre-rebase.legacy .git/hooks/pre-rebase
	expect_as_before
	expect_run theirs
}

# ---- git-lfs ---------------------------------------------------------------------

test_git_lfs() {
	require git-lfs
	rebasable
	before
	hooks install -q --guard
	git lfs install --local >/dev/null
	hooks status -q
	hooks uninstall -q
	expect_exists .git/hooks/pre-push .git/hooks/post-merge
	before
	hooks install -q --guard
	git lfs install --local >/dev/null
	hooks status -q
	expect_run ours
	hooks uninstall -q
	expect_as_before
	hooks install -q --guard
	git lfs uninstall --local >/dev/null
	hooks status -q
	expect_run ours
	hooks uninstall -q
	expect_missing .git/hooks/pre-rebase .git/hooks/post-merge .git/git-checkpoint
}

run_tests
