#!/bin/sh
# SPDX-License-Identifier: MIT
# The guard (core.fsmonitor) with real git: every command that changes files takes exactly one
# checkpoint, of the state before it; those that change none take none.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/guarded.sh"

test_reset() {
	make_template
	saves pre-reset dirty git reset --hard
	if_tried expect_eq d "$(cat d.txt)"
	saves pre-reset dirty git reset -q --hard HEAD~1
	saves pre-reset dirty git reset --merge HEAD~1
	saves pre-reset dirty git reset --keep HEAD~1
	all_rounds || return 0
	saves pre-reset dirty git reset --hard feat
	saves pre-reset dirty git reset --merge
	saves pre-reset dirty git reset --hard --recurse-submodules
}

test_checkout_and_switch() {
	make_template
	saves pre-checkout dirty git checkout feat
	saves pre-checkout dirty git checkout -f
	saves pre-checkout dirty git checkout -- d.txt
	saves pre-checkout dirty git checkout -m over
	saves pre-switch dirty git switch feat
	saves pre-switch dirty git switch --discard-changes feat
	all_rounds || return 0
	saves pre-checkout dirty git checkout --detach ffb
	saves pre-checkout dirty git checkout -f feat
	saves pre-checkout dirty git checkout feat -- sub
	saves pre-checkout dirty git checkout .
	saves pre-checkout dirty git checkout -b new feat
	saves pre-checkout dirty git checkout -B main feat
	saves pre-checkout dirty git checkout --orphan new
	saves pre-checkout 'git merge -q conf >/dev/null || :; dirty' git checkout --ours m.txt
	saves pre-switch dirty git switch -c new feat
	saves pre-switch dirty git switch -m over
	saves pre-switch untracked git switch --orphan new
	saves pre-switch dirty git switch --discard-changes main
}

test_restore_clean_rm_and_mv() {
	make_template
	saves pre-restore dirty git restore d.txt
	saves pre-restore dirty git restore --source feat --staged --worktree .
	saves pre-clean dirty git clean -fd
	if_tried expect_missing u.txt
	saves pre-clean+i dirty git clean -fdx
	if_tried expect_missing x.log
	saves pre-rm dirty git rm -f d.txt
	saves pre-mv dirty git mv -f e.txt d.txt
	all_rounds || return 0
	saves pre-restore dirty git restore .
	saves pre-restore dirty git restore --staged --worktree d.txt
	saves pre-clean dirty git clean -f
	saves pre-clean+i dirty git clean -fdX
	saves pre-rm dirty git rm -r sub
	saves pre-mv dirty git mv e.txt sub
}

test_stash() {
	make_template
	saves pre-stash dirty git stash
	saves pre-stash dirty git stash -u
	saves pre-stash+i dirty git stash -a
	stashed='dirty; git stash -q -u; echo more >>e.txt'
	saves pre-stash "$stashed" git stash pop
	saves pre-stash 'dirty; git stash -q; git rm -q e.txt' git stash pop --index
	all_rounds || return 0
	saves pre-stash "$stashed" git stash apply
	saves pre-stash 'dirty; git add d.txt' git stash push -k
	saves pre-stash 'dirty; git add d.txt' git stash push --staged
	saves pre-stash dirty git stash push -- d.txt
	saves pre-stash dirty git stash save words
	saves pre-stash 'dirty; git stash -q; echo x >d.txt; git add d.txt' git stash pop
	saves pre-stash 'dirty; git stash -q' git stash branch sb
}

test_cherry_pick_revert_and_am() {
	make_template
	git -C "$T/template" format-patch -q -1 feat -o "$T/patches"
	git -C "$T/template" format-patch -q -1 conf -o "$T/conf"
	saves pre-cherry-pick dirty git cherry-pick feat
	saves pre-cherry-pick dirty git cherry-pick conf
	if_tried expect_eq 1 $status
	saves pre-cherry-pick 'git cherry-pick conf >/dev/null 2>&1 || :; echo mine >m.txt; untracked' \
		git cherry-pick --abort
	saves pre-revert dirty git revert --no-edit HEAD
	saves pre-am dirty git am "$T"/patches/0001-feat.patch
	saves pre-am 'git am -q -3 "$T"/conf/0001-conf.patch >/dev/null 2>&1 || :; dirty' git am --abort
	all_rounds || return 0
	saves pre-cherry-pick dirty git cherry-pick -n feat
	saves pre-cherry-pick dirty git cherry-pick ffb
	saves pre-cherry-pick dirty git cherry-pick feat other
	saves pre-cherry-pick 'git cherry-pick conf feat >/dev/null 2>&1 || :; dirty' \
		git cherry-pick --skip
	saves pre-cherry-pick 'git cherry-pick conf feat >/dev/null 2>&1 || :; git add m.txt; dirty' \
		git -c core.editor=: cherry-pick --continue
	saves pre-revert dirty git revert -n HEAD
	saves pre-revert 'git revert -n HEAD; untracked' git revert --abort
	saves pre-am dirty git am -3 "$T"/patches/0001-feat.patch
	saves pre-am dirty git am -3 "$T"/conf/0001-conf.patch
	saves pre-am 'git am -q -3 "$T"/conf/0001-conf.patch >/dev/null 2>&1 || :; dirty' git am --skip
}

test_merge_and_rebase() {
	make_template
	saves pre-merge dirty git merge feat
	saves pre-merge dirty git merge --autostash over
	saves pre-merge 'git merge -q conf >/dev/null || :; echo mine >m.txt; untracked' git merge --abort
	saves pre-rebase 'git checkout -q feat; dirty' git rebase -q --autostash --no-verify main
	saves pre-rebase 'git checkout -q conf; git rebase -q main >/dev/null 2>&1 || :
		echo mine >m.txt; untracked' git rebase --abort
	all_rounds || return 0
	saves pre-merge dirty git merge ffb
	saves pre-merge dirty git merge --squash feat
	saves pre-merge dirty git merge --no-commit feat
	saves pre-merge dirty git merge conf
	saves pre-merge dirty git merge feat other
	saves pre-merge dirty git merge -s ours feat
	saves pre-merge dirty git merge -s resolve feat
	saves pre-merge 'git merge -q conf >/dev/null || :; git add m.txt' git merge --continue
	saves pre-rebase 'git checkout -q feat; untracked' git rebase main
	saves pre-rebase 'git checkout -q feat; untracked' git rebase --apply main
	saves pre-rebase 'git checkout -q feat; dirty' git rebase --autostash --apply main
	saves pre-rebase 'git checkout -q feat; untracked' git rebase -x 'echo x >>d.txt; git checkout -q d.txt' main
	saves pre-rebase 'git checkout -q conf; git rebase -q main >/dev/null 2>&1 || :' git rebase --skip
	saves pre-rebase 'git checkout -q conf; git rebase -q main >/dev/null 2>&1 || :
		echo mine >m.txt; git add m.txt' git -c core.editor=: rebase --continue
	saves pre-rebase 'git checkout -q conf; git rebase -q --apply main >/dev/null 2>&1 || :' \
		git rebase --abort
}

test_a_pull_is_what_it_does() {
	make_template
	up='git remote add up ../../template; dirty'
	saves pre-merge "$up" git pull -q up ffb
	saves pre-rebase 'git remote add up ../../template; untracked' git pull -q --rebase up feat
	saves pre-rebase "git checkout -q feat; $up" git pull -q --rebase --autostash up main
	saves pre-merge "$up" git pull -q --rebase --autostash up ffb
	saves pre-merge 'rm -rf .git .gitignore *; git init -q; git remote add up ../../template; echo u >u.txt' \
		git pull -q up main
	if_tried expect_exists d.txt
}

test_plumbing_and_the_rest() {
	make_template
	git -C "$T/template" diff main feat >"$T/patch"
	steps='for i in 1 2 3 4 5 6 7 8; do commit $i n.txt $i; done'
	saves pre-apply dirty git apply --index -R --exclude=m.txt "$T/patch"
	saves pre-apply dirty git apply --3way "$T/patch"
	saves pre-read-tree dirty git read-tree -u --reset feat
	saves pre-checkout-index dirty git checkout-index -f -a
	saves pre-sparse-checkout dirty git sparse-checkout set --no-cone /sub
	saves pre-bisect "$steps; untracked" git bisect start HEAD HEAD~7
	saves pre-bisect "$steps; git bisect start HEAD HEAD~7 >/dev/null; dirty" git bisect reset
	saves pre-filter-branch+i untracked env FILTER_BRANCH_SQUELCH_WARNING=1 \
		git filter-branch -f --tree-filter 'echo x >>e.txt' HEAD
	all_rounds || return 0
	saves pre-read-tree dirty git read-tree -m -u HEAD feat
	saves pre-sparse-checkout 'git sparse-checkout set --no-cone /sub /.gitignore; untracked' git sparse-checkout disable
	saves pre-bisect "$steps; git bisect start HEAD HEAD~7 >/dev/null; untracked" git bisect good
	saves pre-worktree 'git worktree add -q "$T/linked" feat; dirty' git worktree move "$T/linked" "$T/moved"
}

test_what_changes_no_files_takes_none() {
	make_template
	fresh dirty
	guard_only
	for command in status diff 'stash list' reset 'restore --staged .' 'rm -q --cached d.txt' 'clean -ndx' \
		'reset -q' 'update-index -q --refresh' 'ls-files -o' 'fetch -q ../../template' \
		'worktree add -q ../linked feat' 'add -A' 'commit -q -a -m x'; do
		# shellcheck disable=SC2086 # words
		run git $command
		expect_eq '' "$(checkpoints)" "checkpoints of 'git $command'"
		expect_no_grep '^checkpoint:' "$T/err"
	done
}

# They refuse where other files would go, but not because of these.
test_what_removes_directories_with_ignored_files() {
	make_template
	fresh 'mkdir sub2; commit s sub2/f f; echo l >sub2/x.log'
	guard_only
	git sparse-checkout set --cone sub
	expect_missing sub2
	expect_eq l "$(git --git-dir="$(store_dir)" show latest:sub2/x.log)"
	git sparse-checkout disable
	git worktree add -q "$T/linked" feat
	echo linked >"$T/linked/x.log"
	here=$(checkpoints)
	key=$(printf %s "$T/linked" | sha256sum | cut -c1-16)
	git worktree remove "$T/linked"
	expect_missing "$T/linked"
	expect_eq linked "$(git --git-dir="$(checkpoint_home)/$key" show latest:x.log)"
	# nothing happened to this one
	expect_eq "$here" "$(checkpoints)"
}

# Half is better than nothing, and is not taken for the whole.
test_ignored_files_that_are_too_many() {
	make_template
	lacks='but ignored files are not in it: '
	fresh 'mkdir sub2; commit s sub2/f f'
	guard_only
	git worktree add -q "$T/linked" feat
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo $i >sub2/$i.log
		echo $i >"$T/linked/$i.log"
	done
	git config checkpoint.maxFiles 20
	git config checkpoint.hookQuiet true
	run git sparse-checkout set --cone sub
	expect_eq 0 $status
	expect_grep "^checkpoint: saved chk_.* before sparse-checkout, $lacks.*maxFiles" "$T/err"
	expect_eq 1 "$(grep -c '^checkpoint:' "$T/err")"
	expect_eq 'pre-sparse-checkout hook' "$(checkpoints)"
	git sparse-checkout disable
	key=$(printf %s "$T/linked" | sha256sum | cut -c1-16)
	run git worktree remove "$T/linked"
	expect_grep "before worktree, $lacks" "$T/err"
	expect_eq d "$(git --git-dir="$(checkpoint_home)/$key" show latest:d.txt)"
	# where nothing else changed, that is all there is to say
	dirty
	git-checkpoint save -q
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo $i >$i.log
	done
	run git clean -q -fdx
	expect_grep '^checkpoint: state before clean is in chk_.*, but ignored files are not saved: .*maxFiles' "$T/err"
	expect_eq 1 "$(grep -c '^checkpoint:' "$T/err")"
	git config --unset checkpoint.maxFiles
	# and too large
	dirty
	noise 3000000 >x.log
	git config checkpoint.maxSize 1m
	echo more >u.txt
	run git clean -q -fdx
	expect_grep "before clean, $lacks.*maxSize" "$T/err"
	expect_eq more "$(git --git-dir="$(store_dir)" show latest:u.txt)"
}

test_aliases_and_scripts() {
	make_template
	saves pre-reset 'git config alias.nuke "reset --hard"; dirty' git nuke
	saves pre-reset 'git config alias.nuke "!git reset -q --hard && git checkout -q feat"; dirty' git nuke
	saves pre-reset dirty "$(git --exec-path)/git" reset --hard
	saves pre-checkout 'dirty; printf "#!/bin/sh\ngit checkout -q -- d.txt\n" >.git/hooks/pre-commit
		chmod +x .git/hooks/pre-commit; git add u.txt' git commit -q -m x
	# what a second command would destroy beyond the first is saved, too
	fresh 'git config alias.all "!git reset -q --hard && git clean -q -fdx"; dirty'
	guard_only
	git all
	expect_eq 'pre-reset hook,pre-clean hook' "$(checkpoints | tr '\n' ',' | sed 's/,$//')"
	expect_eq l "$(git --git-dir="$(store_dir)" show latest:x.log)"
}

test_with_all_hooks_there_is_still_one() {
	make_template
	export INSTALL='install_hooks --guard'
	saves pre-merge dirty git merge --autostash feat
	saves pre-rebase 'git checkout -q feat; dirty' git rebase -q --autostash main
	saves pre-stash dirty git stash
	saves pre-merge 'git remote add up ../../template; dirty' git pull -q --no-rebase --no-edit up feat
	saves pre-rebase 'git remote add up ../../template; git checkout -q feat; dirty' \
		git pull -q --rebase --autostash up main
}

# What the checkpoint cannot bring back is named while it is still there.
test_secrets_that_clean_removes_are_named() {
	git init -q
	echo 1 >a
	git add a
	git commit -q -m 1
	git checkpoint hooks install --guard --no-ref-transaction >/dev/null 2>&1
	echo secret >.env
	echo secret >id_rsa
	git reset -q --hard 2>"$T/err"
	expect_no_grep secrets "$T/err"
	git clean -fdx >/dev/null 2>"$T/err"
	expect_grep "not saved, as they look like secrets: '.env', 'id_rsa'$" "$T/err"
	git clean -fdx >/dev/null 2>"$T/err"
	expect_no_grep secrets "$T/err"
	# before anything is removed, so that one can still stop it
	echo secret >.env
	git clean -fdx >"$T/both" 2>&1
	sed -n -e '/not saved, as they look like secrets/s/.*/named/p' -e '/^Removing/p' "$T/both" >"$T/order"
	expect_eq 'named
Removing .env' "$(cat "$T/order")"
	echo secret >.env
	git stash -q -a 2>"$T/err"
	expect_grep "not saved, as they look like secrets: '.env'$" "$T/err"
}

test_secrets_are_saved_where_that_is_set() {
	make_template
	cd "$T/template"
	guard_only
	git config checkpoint.hookSensitive true
	printf '.env\n' >>.gitignore
	git commit -q -a -m ignore
	for command in 'clean -fdx' 'stash -a' 'clean -ffdx'; do
		echo "before $command" >.env
		echo key >id_rsa
		# shellcheck disable=SC2086 # words
		git $command >/dev/null 2>"$T/err"
		expect_no_grep 'not saved' "$T/err"
		expect_missing .env id_rsa
		git-checkpoint restore -q --yes @
		expect_eq "before $command" "$(cat .env)"
		expect_eq key "$(cat id_rsa)"
		rm -f .env id_rsa
	done
	# only what hooks take
	echo mine >.env
	echo key >id_rsa
	git-checkpoint save -q 2>/dev/null
	git-checkpoint show --files @ >"$T/files"
	expect_no_grep 'env\|id_rsa' "$T/files"
}

test_the_setting_for_secrets_is_mentioned_once() {
	git init -q
	git-checkpoint hooks install >"$T/out"
	expect_no_grep hookSensitive "$T/out"
	git-checkpoint hooks install --guard >"$T/out"
	expect_grep 'hookSensitive true' "$T/out"
	git-checkpoint hooks install --guard >"$T/out"
	expect_no_grep hookSensitive "$T/out"
	# who has decided is not told
	git init -q two
	cd two
	git config checkpoint.hookSensitive false
	git-checkpoint hooks install --guard >"$T/out"
	expect_no_grep hookSensitive "$T/out"
}

test_an_identical_state_takes_none_and_names_the_one_that_has_it() {
	make_template
	fresh dirty
	guard_only
	git-checkpoint save -q -m mine
	run git reset --hard
	id=$(git-checkpoint list | cut -d ' ' -f 1)
	expect_grep "^checkpoint: state before reset is in $id; 'git checkpoint restore --git ${id##*_}' goes back\$" "$T/err"
	expect_eq 1 "$(grep -c "$id" "$T/err")"
	expect_eq 'mine cli' "$(checkpoints)"
}

# The guard found the state in an older checkpoint, took none, and "restore @" brought back a part.
test_what_is_in_an_older_checkpoint_is_taken_again() {
	make_template
	fresh dirty
	guard_only
	git-checkpoint save -q -m all
	git-checkpoint save -q -m part u.txt
	fingerprint . >"$T/before"
	run git reset -q --hard
	git-checkpoint restore -q -y @
	fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
}

test_marks_are_swept() {
	make_template
	fresh dirty
	guard_only
	for i in 1 2 3; do
		echo $i >>d.txt
		git checkout -q -f
	done
	expect_eq 3 "$(checkpoints | wc -l)"
	expect_eq 1 "$(find "$TMPDIR"/git-checkpoint-hooks-* -type f | wc -l)" 'marks'
}

test_quiet() {
	make_template
	fresh dirty
	guard_only
	git config checkpoint.hookQuiet true
	run git reset --hard
	expect_eq '' "$(cat "$T/err")" 'output'
	expect_eq 'pre-reset hook' "$(checkpoints)"
}

# Scripts that ask git for silence got a line for each command.
test_quiet_git_is_quiet() {
	make_template
	fresh dirty
	guard_only
	run git reset -q --hard
	expect_eq '' "$(cat "$T/out" "$T/err")" 'output'
	expect_eq 'pre-reset hook' "$(checkpoints)"
}

# "@" is another one as soon as a watcher takes it, and who aborts a rebase begins none.
test_the_line_says_what_was_typed_and_what_goes_back() {
	make_template
	fresh 'git checkout -q conf; git rebase -q main >/dev/null 2>&1 || :; echo mine >>d.txt'
	guard_only
	run git rebase --abort
	expect_grep "^checkpoint: saved .* before rebase --abort; '" "$T/err"
	echo ruined >d.txt
	git-checkpoint save -q
	eval "$(sed -n "s/^checkpoint: .*; '\(.*\)' goes back\$/\1 -q -y/p" "$T/err")"
	expect_grep '^mine$' d.txt
	expect_exists .git/rebase-merge
}

test_how_to_silence_it_is_said_once() {
	make_template
	fresh dirty
	guard_only
	run git reset --hard
	expect_grep "^checkpoint: 'git config checkpoint.hookQuiet true' turns such lines off" "$T/err"
	echo again >>d.txt
	run git reset --hard
	expect_grep '^checkpoint: saved' "$T/err"
	expect_no_grep hookQuiet "$T/err"
}

test_places_with_nothing_to_save() {
	make_template
	git config --global core.fsmonitor 'git-checkpoint hook fsmonitor'
	git clone -q --bare "$T/template" bare.git
	cd bare.git
	run git read-tree -m HEAD
	cd "$T/template/.git"
	run git --work-tree=. reset -q --hard
	mkdir -p "$T/template/.git-rewrite/t"
	cd "$T/template/.git-rewrite/t"
	GIT_DIR=$T/template/.git GIT_WORK_TREE=. run git checkout -q -f
	expect_missing "$(checkpoint_home)"
	# but one level up
	cd "$T/template"
	rm -r .git-rewrite
	run git checkout -q -f
	expect_eq 'pre-checkout hook' "$(checkpoints)"
}

# The shim answers, and git must not read anything else.
test_says_nothing_on_stdout() {
	make_template
	fresh dirty
	git-checkpoint hook fsmonitor 2 'token 1' >"$T/out"
	git-checkpoint hook fsmonitor 1 17 >>"$T/out"
	expect_missing "$(checkpoint_home)"
	# nor when it has something to say
	git -c alias.beside='!git-checkpoint hook pre-rebase main' beside >>"$T/out" 2>"$T/err"
	expect_grep '^checkpoint: saved' "$T/err"
	expect_eq '' "$(cat "$T/out")"
}

test_unknown_hooks_are_none_of_our_business() {
	expect_exit 0 git-checkpoint hook pre-commit >"$T/out" 2>&1
	expect_exit 0 git-checkpoint hook reference-transaction committed >>"$T/out" 2>&1
	expect_exit 0 git-checkpoint hook later --unknown >>"$T/out" 2>&1
	expect_eq '' "$(cat "$T/out")"
	expect_exit 129 git-checkpoint hook 2>/dev/null
}

run_tests
