#!/bin/sh
# SPDX-License-Identifier: MIT
# git checkpoint hooks install --global: every repository is protected, or status says why not, and
# an uninstall leaves the user's configuration and home directory as they were.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/hooks-install.sh"

# The home directory and the configuration, before and after.
home_before() {
	fingerprint "$HOME" >"$T/home-before"
	fingerprint "$XDG_DATA_HOME" >>"$T/home-before"
}

expect_home_as_before() {
	fingerprint "$HOME" >"$T/home-now"
	fingerprint "$XDG_DATA_HOME" >>"$T/home-now"
	expect_same "$T/home-before" "$T/home-now"
}

# new_repository <dir> [<git option>...]: as a user makes one, with something to rebase and to merge
new_repository() {
	git init -q "$1"
	fill_repository "$1"
}

fill_repository() {
	(
		cd "$1"
		echo 1 >a
		git add a
		git commit -q -m 1
		git branch topic
		echo 3 >c
		git add c
		git commit -q -m 3
		git switch -q topic
		echo 2 >b
		git add b
		git commit -q -m 2
	) 2>/dev/null
}

# count: how many checkpoints there are
count() {
	git-checkpoint list --json 2>/dev/null | grep -o '"id"' | wc -l
}

# expect_protected <dir>: a rebase takes exactly one checkpoint, of the state before
expect_protected() {
	(
		cd "$1"
		git switch -q topic 2>/dev/null
		git reset -q --hard topic 2>/dev/null
		n=$(count)
		echo "not in git $n" >note
		git rebase -f main 2>"$T/rebase"
		expect_grep '^checkpoint: saved .* before rebase; ' "$T/rebase"
		expect_eq $((n + 1)) "$(count)" "checkpoints in $1"
		rm note
		git-checkpoint restore -q --yes @
		expect_eq "not in git $n" "$(cat note)"
		rm note
	)
}

expect_unprotected() {
	(
		cd "$1"
		git switch -q topic 2>/dev/null
		git reset -q --hard topic 2>/dev/null
		echo "not in git" >note
		git rebase -q -f main 2>"$T/rebase"
		expect_no_grep checkpoint: "$T/rebase"
		rm note
	)
}

by() {
	(
		cd "$1"
		git-checkpoint hooks status --json || :
	) >"$T/by"
	json '.protected_by | join(" ")' "$T/by"
}

# ---- every repository --------------------------------------------------------------

test_a_new_repository_is_protected() {
	home_before
	hooks install --global >"$T/out"
	expect_grep '^installed: pre-rebase$' "$T/out"
	new_repository new
	expect_protected new
	expect_eq global "$(by new)"
	expect_eq null "$(json .why_not "$T/by")"
	git clone -q new cloned
	git -C cloned branch -q main origin/main
	expect_protected cloned
	expect_eq global "$(by cloned)"
	(
		cd new
		git worktree add -q ../linked main
		cd ../linked
		hooks status >"$T/out"
	)
	expect_grep '^this repository: protected by the global configuration$' "$T/out"
	rm -rf new cloned linked
	hooks uninstall --global >"$T/out"
	expect_home_as_before
}

test_a_merge_in_a_new_repository_is_seen() {
	hooks install -q --global
	new_repository new
	cd new
	echo mine >note
	git merge -m merged main 2>"$T/err"
	expect_grep '^checkpoint: saved .* before merge; ' "$T/err"
	expect_eq 1 "$(count)"
}

test_an_older_repository() {
	new_repository old
	hooks install -q --global
	if hooks_in_configuration; then
		expect_protected old
		expect_eq global "$(by old)"
		return
	fi
	expect_unprotected old
	expect_eq '' "$(by old)"
	expect_eq '["missing","missing"]' "$(json '[.global.hooks[].state] | tojson' "$T/by")"
	expect_grep 'is older than' "$T/by"
	cd old
	expect_exit 1 hooks status >"$T/out"
	expect_grep '^this repository: not protected: .*older.*hooks install' "$T/out"
	git checkpoint status >"$T/out" 2>"$T/err"
	expect_grep 'hook missing: pre-rebase' "$T/err"
	cd ..
	# both ways that it names
	cp -a old other
	(cd old && hooks install -q)
	expect_protected old
	expect_eq 'repository global' "$(by old)"
	git init -q other
	expect_protected other
	expect_eq global "$(by other)"
}

test_the_guard_sees_every_repository() {
	new_repository old
	home_before
	hooks install --global --guard >"$T/out"
	expect_grep '^installed: fsmonitor$' "$T/out"
	expect_grep '^in: all repositories' "$T/out"
	expect_no_grep reference-transaction "$T/out"
	new_repository new
	for repo in old new; do
		(
			cd $repo
			echo mine >>b
			git reset --hard 2>"$T/err"
			expect_grep '^checkpoint: saved .* before reset; ' "$T/err"
			git-checkpoint restore -q --yes @
			expect_grep mine b
			git reset -q --hard 2>/dev/null
		)
		expect_protected $repo
		expect_eq global "$(by $repo)"
		expect_eq installed "$(json .global.guard "$T/by")"
	done
	# a bare one has nothing to save, and works
	git clone -q --bare new bare.git 2>"$T/err"
	git -C bare.git log --oneline >/dev/null 2>>"$T/err"
	expect_no_grep "^warning\|^checkpoint" "$T/err"
	hooks uninstall -q --global
	expect_home_as_before
	(cd new && echo x >>b && git reset -q --hard 2>"$T/err")
	expect_no_grep "^warning\|^checkpoint" "$T/err"
}

# ---- together with those of the repository ------------------------------------------

test_both_take_one_checkpoint() {
	hooks install -q --global
	new_repository new
	fingerprint new/.git/hooks >"$T/hooks"
	(cd new && hooks install -q)
	expect_protected new
	expect_eq 'repository global' "$(by new)"
	(cd new && git-checkpoint hooks uninstall >"$T/out")
	expect_grep 'remain' "$T/out"
	fingerprint new/.git/hooks >"$T/now"
	expect_same "$T/hooks" "$T/now"
	expect_protected new
	# the guards, too
	hooks install -q --global --guard
	(cd new && hooks install -q --guard)
	expect_protected new
	(cd new && hooks uninstall -q)
	expect_protected new
	# and when those for all go first
	(cd new && hooks install -q)
	hooks uninstall -q --global
	expect_protected new
	expect_eq repository "$(by new)"
	(cd new && hooks uninstall -q)
	expect_unprotected new
	expect_missing new/.git/hooks/pre-rebase new/.git/hooks/reference-transaction
}

test_a_guard_of_the_repository_asks_what_the_user_set_for_all() {
	printf '#!/bin/sh\necho asked >>"%s/asked"\nprintf "t\\0/\\0"\n' "$T" >"$T/monitor"
	chmod +x "$T/monitor"
	git config --global core.fsmonitor "$T/monitor"
	home_before
	hooks install -q --global --guard
	new_repository new
	cd new
	rm -f "$T/asked"
	git status >/dev/null
	expect_exists "$T/asked"
	hooks install -q --guard
	rm "$T/asked"
	git status >/dev/null
	expect_exists "$T/asked"
	# install again: it is not chained to itself
	hooks install -q --global
	hooks uninstall -q
	rm "$T/asked"
	git status >/dev/null
	expect_eq 1 "$(wc -l <"$T/asked")"
	cd ..
	hooks uninstall -q --global
	expect_home_as_before
}

test_a_repository_may_opt_out() {
	hooks install -q --global --guard
	new_repository new
	git -C new config core.fsmonitor false
	(cd new && expect_exit 1 hooks status) >"$T/out"
	expect_grep '^displaced: fsmonitor: this repository sets core.fsmonitor' "$T/out"
	if hooks_in_configuration; then
		expect_eq global "$(by new)"
		git -C new config hook.checkpoint-pre-rebase.enabled false
		expect_eq '' "$(by new)"
		expect_grep "key 'enabled' in the configuration is false; remove that key" "$T/by"
		expect_unprotected new
	else
		expect_eq '' "$(by new)"
	fi
}

# ---- templates -----------------------------------------------------------------------

# Only where git has no hooks in its configuration.
templates() {
	! hooks_in_configuration || skip 'this git has hooks in its configuration'
}

test_the_template_has_what_gits_own_has() {
	templates
	git init -q plain
	hooks install -q --global
	git init -q new
	rm new/.git/hooks/pre-rebase new/.git/hooks/reference-transaction
	fingerprint plain/.git >"$T/plain"
	fingerprint new/.git >"$T/new"
	expect_same "$T/plain" "$T/new"
}

test_the_users_own_template_is_kept() {
	templates
	mkdir -p "$HOME/tpl/hooks" "$HOME/tpl/info"
	echo 'mine' >"$HOME/tpl/info/exclude"
	ln -s ../info/exclude "$HOME/tpl/hooks/link"
	printf '#!/bin/sh\nexit 0\n' >"$HOME/tpl/hooks/commit-msg"
	printf '#!/bin/sh\necho mine >>"%s/ran"\n' "$T" >"$HOME/tpl/hooks/pre-rebase"
	chmod +x "$HOME/tpl/hooks/"*
	# shellcheck disable=SC2088 # git expands it
	git config --global init.templateDir '~/tpl'
	home_before
	hooks install -q --global
	fingerprint "$HOME/tpl" >"$T/tpl"
	new_repository new
	expect_eq mine "$(cat new/.git/info/exclude)"
	expect_eq ../info/exclude "$(readlink new/.git/hooks/link)"
	test -x new/.git/hooks/commit-msg
	expect_protected new
	expect_exists "$T/ran"
	# what changed later is not in it yet: say so
	echo more >>"$HOME/tpl/info/exclude"
	hooks status --global >"$T/out" 2>"$T/err"
	expect_grep "/tpl' was changed since" "$T/err"
	hooks install -q --global
	git init -q newer
	expect_grep more newer/.git/info/exclude
	hooks status --global >"$T/out" 2>"$T/err"
	expect_no_grep "^warning\|^checkpoint" "$T/err"
	echo mine >"$HOME/tpl/info/exclude"
	fingerprint "$HOME/tpl" >"$T/now"
	expect_same "$T/tpl" "$T/now"
	hooks uninstall -q --global
	expect_home_as_before
	# what is left in the repository does nothing, and the user's own hook stays
	rm "$T/ran"
	expect_unprotected new
	expect_exists "$T/ran"
	(cd new && hooks uninstall -q)
	expect_same "$HOME/tpl/hooks/pre-rebase" new/.git/hooks/pre-rebase
}

test_a_template_that_cannot_be_kept_is_refused() {
	templates
	git config --global init.templateDir "$T/missing"
	home_before
	expect_exit 128 hooks install --global 2>"$T/err"
	expect_grep 'init.templateDir' "$T/err"
	expect_home_as_before
	mkdir -p "$T/missing/hooks"
	printf '#!/usr/bin/perl\nexit\n' >"$T/missing/hooks/pre-rebase"
	chmod +x "$T/missing/hooks/pre-rebase"
	expect_exit 128 hooks install --global 2>"$T/err"
	expect_grep 'pre-rebase. is not an executable shell script' "$T/err"
	expect_home_as_before
	# the guard needs no template
	hooks install -q --global --guard
	hooks uninstall -q --global
	expect_home_as_before
}

test_later_changes_of_the_template_are_not_lost() {
	templates
	hooks install -q --global
	template=$(git config init.templateDir)
	echo mine >"$template/hooks/commit-msg"
	hooks install -q --global
	expect_eq mine "$(cat "$template/hooks/commit-msg")"
	echo mine >"$template/description"
	expect_exit 5 hooks install --global 2>"$T/err"
	expect_grep "description' exists and was not written by 'hooks install'" "$T/err"
	hooks uninstall --global >"$T/out" 2>"$T/err"
	expect_grep 'has later changes, so it stays' "$T/err"
	expect_eq mine "$(cat "$template/hooks/commit-msg" "$template/description" | uniq)"
	expect_missing "$template/hooks/pre-rebase"
	expect_exit 1 git config init.templateDir
}

test_hooks_taken_from_elsewhere() {
	templates
	mkdir "$T/shared"
	git config --global core.hooksPath "$T/shared"
	expect_exit 1 hooks install --global >"$T/out" 2>"$T/err"
	expect_grep "core.hooksPath is '$T/shared' for all repositories" "$T/err"
	new_repository new
	expect_unprotected new
	expect_eq '' "$(by new)"
	expect_grep 'which other repositories use' "$T/by"
	# do what it says
	for hook in pre-rebase reference-transaction; do
		{
			echo '#!/bin/sh'
			sed -n "s|^warning: $T/shared/$hook: ||p" "$T/err"
		} >"$T/shared/$hook"
		chmod +x "$T/shared/$hook"
	done
	hooks install --global >"$T/out" 2>"$T/err"
	expect_no_grep "^warning\|^checkpoint" "$T/err"
	expect_protected new
	expect_eq global "$(by new)"
	git config --global --unset core.hooksPath
	# husky and others, in one repository
	git -C new config core.hooksPath .husky/_
	expect_eq '' "$(by new)"
	expect_grep 'core.hooksPath' "$T/by"
	(cd new && hooks install -q)
	expect_eq 'repository global' "$(by new)"
	expect_protected new
	# a hook that was there before ours
	git init -q theirs
	printf '#!/bin/sh\n' >theirs/.git/hooks/pre-rebase
	expect_eq global "$(by theirs)"
	expect_eq displaced "$(json '.global.hooks[0].state' "$T/by")"
}

# ---- configurations --------------------------------------------------------------------

test_the_users_configuration_as_git_would_choose_it() {
	unset GIT_CONFIG_GLOBAL
	rm "$HOME/.gitconfig"
	home_before
	hooks install -q --global
	expect_exists "$HOME/.gitconfig"
	hooks uninstall -q --global
	expect_home_as_before
	mkdir "$XDG_CONFIG_HOME/git"
	printf '[user]\n\tname = x' >"$XDG_CONFIG_HOME/git/config"
	cp "$XDG_CONFIG_HOME/git/config" "$T/config-before"
	hooks install -q --global
	expect_missing "$HOME/.gitconfig"
	git config --global --get-regexp 'checkpoint|templatedir' >/dev/null
	hooks uninstall -q --global
	expect_same "$T/config-before" "$XDG_CONFIG_HOME/git/config"
	# a link, as people have it who keep their files in a repository
	mkdir "$T/dotfiles"
	printf '# mine\n' >"$T/dotfiles/gitconfig"
	ln -s "$T/dotfiles/gitconfig" "$HOME/.gitconfig"
	hooks install -q --global
	test -L "$HOME/.gitconfig"
	expect_grep checkpoint "$T/dotfiles/gitconfig"
	git config --global later.key value
	hooks uninstall -q --global
	test -L "$HOME/.gitconfig"
	# git may leave the header of a section
	printf '# mine\n[later]\n\tkey = value\n' >"$T/wanted"
	grep -v '^\[\(core\|init\|hook .*\)\]$' "$T/dotfiles/gitconfig" >"$T/now"
	expect_same "$T/wanted" "$T/now"
	expect_eq later.key=value "$(git config --global --list)"
	for none in '' /dev/null; do
		GIT_CONFIG_GLOBAL=$none expect_exit 128 hooks install --global 2>"$T/err"
		expect_grep 'unable to find the global configuration' "$T/err"
	done
}

test_git_s_own_daemon_is_not_replaced() {
	git config --global core.fsmonitor true
	home_before
	expect_exit 1 hooks install --global --guard >"$T/out" 2>"$T/err"
	expect_grep "core.fsmonitor is 'true'" "$T/err"
	expect_grep '^installed: pre-rebase$' "$T/out"
	hooks uninstall -q --global
	expect_home_as_before
}

test_it_needs_no_repository() {
	home_before
	hooks status --global >"$T/out"
	expect_grep '^No git hooks are installed for all' "$T/out"
	hooks uninstall --global >"$T/out"
	expect_grep '^No git hooks' "$T/out"
	hooks install -q --global
	hooks status --global >"$T/out"
	expect_grep '^installed: pre-rebase$' "$T/out"
	hooks status --global --json >"$T/json"
	expect_eq rebase,merge "$(json '.events | join(",")' "$T/json")"
	hooks uninstall -q --global
	expect_home_as_before
	expect_exit 129 hooks install --global --agent codex 2>/dev/null
}

test_events_that_are_no_longer_wanted() {
	hooks install -q --global
	new_repository new
	hooks install -q --global --events merge
	expect_unprotected new
	hooks install -q --global --events rebase
	expect_protected new
}

# ---- accidents -----------------------------------------------------------------------

test_killed_at_any_moment() {
	killable=write,fsync,rename,openat-create,link,unlink,mkdir
	home_before
	with_faults $killable 0 kill git-checkpoint hooks install -q --global
	total=$(cat "$T/faults")
	test "$total" -gt 10 || fail "only $total calls"
	hooks uninstall -q --global
	expect_home_as_before
	at=$first
	while test $at -le "$total"; do
		expect_exit 137 with_faults $killable $at kill git-checkpoint hooks install -q --global
		git config user.name >/dev/null
		if test $((at % 2)) = 0; then
			hooks install -q --global
			hooks status --global >/dev/null
		fi
		hooks uninstall -q --global
		expect_home_as_before
		at=$((at + step))
	done
	hooks install -q --global
	with_faults $killable 0 kill git-checkpoint hooks uninstall -q --global
	total=$(cat "$T/faults")
	at=$first
	while test $at -le "$total"; do
		hooks install -q --global
		expect_exit 137 with_faults $killable $at kill git-checkpoint hooks uninstall -q --global
		hooks uninstall -q --global
		expect_home_as_before
		at=$((at + step))
	done
}

run_tests
