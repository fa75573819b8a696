#!/bin/sh
# SPDX-License-Identifier: MIT
# Handing work off to another machine, and taking it over there: files, index and branch.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"

test_back_and_forth() {
	machines
	from=one to=two
	for round in 1 2 3 4 5 6 7 8 9 10; do
		edit $from "$round of $from"
		test $((round % 3)) != 0 || on $from sh -e -c "git checkout -q -b topic$round; git commit -q -m $round"
		on $from fingerprint . >"$T/before"
		on $from git-checkpoint handoff -q hub
		on $from fingerprint . >"$T/after"
		expect_same "$T/before" "$T/after"
		on $to git-checkpoint takeover -q -y hub
		same
		swap=$from from=$to to=$swap
	done
	for who in one two; do
		on $who git-checkpoint verify -q --all
		on $who git-checkpoint doctor -q
		on $who git fsck --strict
	done
}

test_it_is_said_and_asked() {
	machines
	edit one x
	on one git-checkpoint handoff --json >"$T/out"
	expect_eq "$(id_on one)" "$(json .handed_off "$T/out")"
	expect_eq true "$(json .head_pushed "$T/out")"
	# nothing is restored without a yes
	expect_exit 5 on two git-checkpoint takeover hub >"$T/out" 2>&1 </dev/null
	expect_eq 1 "$(on two cat file)"
	on two git-checkpoint takeover -y hub one >"$T/out"
	expect_grep 'Taking over one/chk_' "$T/out"
	same
	on two git-checkpoint undo -q -y
	expect_eq 1 "$(on two cat file)"
	expect_exit 128 on two git-checkpoint takeover hub nobody 2>"$T/err"
	expect_grep "nothing from the machine 'nobody'" "$T/err"
	expect_exit 128 on one git-checkpoint takeover hub 2>"$T/err"
	expect_grep 'nothing from other machines' "$T/err"
}

# A machine that has nothing of its own yet, as after the loss of its disk.
test_nothing_to_do_in_a_new_store() {
	machines
	on one git-checkpoint handoff -q hub
	on two git-checkpoint takeover -y hub >"$T/out"
	expect_grep 'nothing to do' "$T/out"
	same
	on two git-checkpoint restore -y one/@ >"$T/out"
	expect_grep 'nothing to do' "$T/out"
	on one rm -rf "$T/machines/one/state"
	on one git-checkpoint remote add -q hub "$T/hub.git"
	on one git-checkpoint fetch -q hub one/@
	on one git-checkpoint restore -y one/@ >"$T/out"
	expect_grep 'nothing to do' "$T/out"
	same
}

# With one remote, one word can be the machine; with two it has to be a remote.
test_a_machine_without_a_remote() {
	machines
	edit one x
	on one git-checkpoint handoff -q
	expect_exit 128 on two git-checkpoint takeover nobody 2>"$T/err"
	expect_grep "the remote 'hub' has nothing from the machine 'nobody'" "$T/err"
	on two git-checkpoint takeover -q -y one
	same
	on two git-checkpoint remote add -q other "$T/nowhere"
	expect_exit 128 on two git-checkpoint takeover one 2>"$T/err"
	expect_grep "there is no remote 'one'" "$T/err"
}

# On the other machine it would be missed.
test_a_secret_that_stays_here_is_named() {
	machines
	on one sh -c 'echo secret >.env'
	on one git-checkpoint handoff >/dev/null 2>"$T/err"
	expect_same "$T/err" - <<-'EOF'
		warning: '.env' looks like a secret and was left out
	EOF
}

# A commit that everybody can get from the project's remote is not sent, one that nobody can is.
test_the_commit_at_head() {
	machines
	on one git update-ref refs/remotes/origin/main HEAD
	edit one x
	on one git-checkpoint handoff --json >"$T/out"
	expect_eq false "$(json .head_pushed "$T/out")"
	expect_eq '' "$(hub_refs refs/handoff)"
	on two git-checkpoint takeover -q -y hub
	on one git commit -q -m more
	edit one y
	on one git update-ref refs/remotes/origin/main HEAD
	on one git-checkpoint handoff -q hub
	# somebody lied: it is nowhere
	expect_exit 128 on two git-checkpoint takeover -y hub 2>"$T/err"
	expect_grep "does not have the commit .*fetch it first" "$T/err"
	on one git update-ref -d refs/remotes/origin/main
	on one git-checkpoint handoff -q hub
	on two git-checkpoint takeover -q -y hub
	same
}

test_secrets_stay() {
	machines
	on one sh -c 'echo token >.env; git add .env; git commit -q -m env; echo x >file'
	expect_exit 5 on one git-checkpoint handoff hub 2>"$T/err"
	expect_grep "'.env' in it looks like a secret" "$T/err"
	expect_eq '' "$(hub_refs)"
	on one git-checkpoint handoff -q --force hub
	on two git-checkpoint takeover -q -y hub
	same
}

# With the commit at HEAD go all before it that no remote has.
test_secrets_in_the_history_stay() {
	machines
	on one sh -c 'mkdir x.key; echo 1 >x.key/file; git add .; git commit -q -m folder'
	on one git-checkpoint handoff -q hub
	on one git-checkpoint remote prune -q -y hub one
	on one sh -c 'echo token >.env; git add .env; git commit -q -m env; git rm -q .env; git commit -q -m none'
	expect_exit 5 on one git-checkpoint handoff hub 2>"$T/err"
	expect_grep "'.env' in a commit that goes with it looks like a secret" "$T/err"
	expect_eq '' "$(hub_refs)"
	on one git update-ref refs/remotes/origin/main HEAD
	on one git-checkpoint handoff -q hub
}

# A commit that was handed off goes with its checkpoint.
test_pruning() {
	machines
	edit one x
	on one git-checkpoint handoff -q hub
	edit one y
	on one git-checkpoint handoff -q hub
	edit two z
	on two git-checkpoint handoff -q hub
	expect_eq 9 "$(hub_refs | wc -l)"
	on one git-checkpoint prune -q --max-count 1 --yes
	on one git-checkpoint push --prune >"$T/out"
	expect_grep 'Removed 1 that are gone here' "$T/out"
	expect_eq 7 "$(hub_refs | wc -l)"
	expect_eq 1 "$(hub_refs refs/handoff | grep -c "one/$(id_on one)")"
	on one git-checkpoint remote prune -q -y hub two
	expect_eq '' "$(hub_refs | grep -e /two -e /@every || :)"
	# two still knows what it has pushed
	on two git-checkpoint push -q --prune
	# as git-checkpoint-push(1) has it
	printf '#!/bin/sh\ncase $1,$2 in refs/checkpoints-newest/*) ;; *,*[!0]*) exit 1 ;; esac\n' \
		>"$T/hub.git/hooks/update"
	chmod +x "$T/hub.git/hooks/update"
	expect_exit 128 on two git-checkpoint remote prune -q -y hub one 2>"$T/err"
	expect_grep 'hook declined' "$T/err"
	expect_eq 2 "$(hub_refs | grep -c /one/)"
	on two git-checkpoint fetch -q
	edit one z
	on one git-checkpoint handoff -q hub
}

# What was handed off last is taken over, whatever the clock said.
test_a_clock_that_went_back() {
	require faketime
	machines
	edit one x
	on one git-checkpoint handoff -q hub
	edit one y
	on one fake '2001-02-03 04:05:06' git-checkpoint handoff -q hub
	on two git-checkpoint fetch -q
	expect_grep ' one/@ .* 1[0-9][0-9][0-9]w ago ' "$(on two git-checkpoint list --remote >"$T/out"; echo "$T/out")"
	expect_eq "$(id_on one)" "$(on two git-checkpoint show --json one/@ | jq -r .id)"
	on two git-checkpoint takeover -q -y hub
	same
	edit one z
	on one fake '2001-02-03 04:05:16' git-checkpoint handoff -q hub
	on two git-checkpoint takeover -q -y hub one
	same
	edit one w
	on one git-checkpoint handoff -q hub
	on two git-checkpoint takeover -q -y hub
	same
}

# Ids of two stores tell nothing of which is newer, even if a machine has both.
test_a_machine_with_two_stores() {
	require faketime
	machines
	on one fake -f +1d git-checkpoint save -q
	edit one old
	on one git-checkpoint handoff -q hub
	# set up again
	rm -rf "$T/machines/one/src/one" "$T/machines/one/state"
	machine one src/one
	on one git-checkpoint remote add -q hub "$T/hub.git"
	edit one newer
	on one git-checkpoint handoff -q hub
	for name in '' one; do
		on two git-checkpoint takeover -q -y hub $name
		same
		on two git-checkpoint undo -q -y
	done
}

# The clock of each machine is another one; who comes last counts.
test_clocks_that_disagree() {
	require faketime
	machines
	machine three three
	on three git-checkpoint remote add -q hub "$T/hub.git"
	edit one first
	on one fake -f +2d git-checkpoint handoff -q hub
	edit two second
	on two git-checkpoint handoff -q hub
	on three git-checkpoint takeover -q -y hub
	expect_eq second "$(on three cat file)"
	on three git-checkpoint takeover -q -y hub one
	expect_eq first "$(on three cat file)"
	# what another machine gave before is not taken over its own by mistake
	expect_exit 128 on two git-checkpoint takeover -y hub 2>"$T/err"
	expect_grep 'nothing from other machines since this machine handed off; name a machine' "$T/err"
	# what was only pushed was not handed off
	edit two third
	on two git-checkpoint save -q
	on two git-checkpoint push -q
	on three git-checkpoint takeover -q -y hub two
	expect_eq second "$(on three cat file)"
}

test_shallow_clones() {
	machines
	git -C "$T/project" commit -q --allow-empty -m two
	for who in one two; do
		rm -rf "$T/machines/$who/$(cat "$T/machines/$who/where")"
		git clone -q --depth 1 "file://$T/project" "$T/machines/$who/$(cat "$T/machines/$who/where")"
		on $who git-checkpoint config -q project it
	done
	edit one x
	on one git commit -q -a -m x
	edit one y
	# git alone decides whether a repository takes a history without its beginning
	expect_exit 128 on one git-checkpoint handoff hub 2>"$T/err"
	expect_grep 'shallow update not allowed' "$T/err"
	git -C "$T/hub.git" config receive.shallowUpdate true
	on one git-checkpoint handoff -q hub
	on two git-checkpoint takeover -q -y hub
	same
	on two git fsck --strict
}

# Only the commit comes, not the files beside those that it changed, which git gets when it needs them.
test_partial_clones() {
	machines
	echo 1 | tee "$T/project/dir/a" >"$T/project/dir/b"
	git -C "$T/project" add .
	git -C "$T/project" commit -q -m two
	git -C "$T/project" config uploadpack.allowFilter true
	on one git pull -q "$T/project"
	rm -rf "$T/machines/two/work/two"
	git clone -q --no-checkout --filter=blob:none "file://$T/project" "$T/machines/two/work/two"
	on two git sparse-checkout set --no-cone /file
	on two git checkout -q
	echo 2 >"$T/machines/one/src/one/dir/a"
	on one git commit -q -a -m x
	on one git-checkpoint handoff -q hub
	mv "$T/project" "$T/away"
	on two git-checkpoint takeover -q -y hub
	mv "$T/away" "$T/project"
	on one git log >"$T/one"
	on two git log >"$T/two"
	expect_same "$T/one" "$T/two"
}

test_a_commit_that_git_finds_fault_with() {
	machines
	edit one x
	on one git commit -q -a -m x
	head=$(on one sh -c 'git cat-file commit HEAD | sed "s/^author .* </author </" |
		git hash-object -t commit -w --stdin --literally')
	on one git update-ref HEAD "$head"
	on one git-checkpoint handoff -q hub
	expect_exit 128 on two git-checkpoint takeover -y hub 2>"$T/err"
	expect_grep 'missingNameBeforeEmail' "$T/err"
	expect_exit 1 on two git cat-file -e "$head" 2>/dev/null
}

# A repository has names of one kind.
test_sha256() {
	machines
	on one sh -e -c 'rm -rf .git; git init -q --object-format=sha256; git add .; git commit -q -m one; echo x >file'
	on one git-checkpoint config -q project it
	expect_exit 128 on one git-checkpoint handoff hub 2>"$T/err"
	expect_grep 'has a SHA-256 name.*push it to a remote of the project' "$T/err"
	expect_eq '' "$(hub_refs)"
	on one git update-ref refs/remotes/origin/main HEAD
	on one git-checkpoint handoff -q hub
	expect_eq 1 "$(hub_refs refs/checkpoints | wc -l)"
	expect_eq '' "$(hub_refs refs/handoff)"
}

# Without the commit at HEAD, or all that git knows here, nobody can continue there.
test_half_a_handoff_is_none() {
	machines
	edit one x
	on one git commit -q --allow-empty -m more
	printf '#!/bin/sh\ncase $1 in refs/handoff/*) exit 1 ;; esac\n' >"$T/hub.git/hooks/update"
	chmod +x "$T/hub.git/hooks/update"
	expect_exit 128 on one git-checkpoint handoff hub 2>"$T/err"
	expect_grep 'hook declined' "$T/err"
	expect_exit 128 on two git-checkpoint takeover -y hub 2>"$T/err"
	expect_grep 'nothing from other machines that was handed off' "$T/err"
	rm "$T/hub.git/hooks/update"
	on one git-checkpoint handoff -q hub
	on two git-checkpoint takeover -q -y hub
	same
	# an index that cannot be read
	echo junk >"$T/machines/one/src/one/.git/index"
	on one sh -c 'echo more >file'
	expect_exit 3 on one git-checkpoint handoff hub 2>"$T/err"
	expect_grep 'the state of the repository is not in it' "$T/err"
}

# That it cannot be reached does not mean that it does not have the commit.
test_why_a_commit_does_not_come() {
	machines
	on one git commit -q --allow-empty -m more
	edit one x
	on one git-checkpoint handoff -q hub
	on two git-checkpoint fetch -q
	cat >"$T/hook" <<-'END'
	#!/bin/sh
	echo 'no commits today' >&2
	exit 1
	END
	chmod +x "$T/hook"
	on two git config --global uploadpack.packObjectsHook "$T/hook"
	expect_exit 128 on two git-checkpoint takeover -y hub 2>"$T/err"
	expect_grep "remote 'hub': " "$T/err"
	expect_no_grep 'does not, either' "$T/err"
}

# Whoever can write to the remote decides which steps a rebase has: those that run something stay out.
test_an_operation_in_progress() {
	machines
	printf '#!/bin/sh\nprintf "break\\nexec touch sprung\\nx echo two\\nlabel here\\n" >"$1"\n' >"$T/editor"
	chmod +x "$T/editor"
	edit one x
	on one git commit -q -a -m x
	# only the commit at HEAD is handed off, not the one that is rebased
	on two git fetch -q "$T/machines/one/src/one"
	on one env GIT_SEQUENCE_EDITOR="$T/editor" git rebase -q -i -s ort HEAD~1 >/dev/null 2>&1 || :
	on one git-checkpoint handoff -q hub
	on two fingerprint . >"$T/before"
	expect_exit 5 on two git-checkpoint takeover -y hub 2>"$T/err"
	expect_grep "taken on another machine, and a rebase .* ('exec touch sprung', 'exec echo two', 'label here'); use --force" \
		"$T/err"
	on two fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_exit 5 on two git-checkpoint restore -y --git one/@ 2>/dev/null
	# with it, the plan shows them, and what comes into .git
	on two git-checkpoint restore --git --force --dry-run one/@ >"$T/out"
	expect_exit 5 on two git-checkpoint takeover --force hub >/dev/null 2>&1 </dev/null
	expect_grep 'left out of the steps: exec touch sprung' "$T/out"
	expect_grep 'step to come: label here' "$T/out"
	expect_grep 'files of the operation: rebase-merge/.*rebase-merge/git-rebase-todo' "$T/out"
	expect_grep 'left out: .*rebase-merge/strategy' "$T/out"
	on two fingerprint . >"$T/after"
	expect_same "$T/before" "$T/after"
	on two git-checkpoint takeover -q --force -y hub
	expect_eq 'label here' "$(on two cat .git/rebase-merge/git-rebase-todo)"
	expect_missing "$T/machines/two/work/two/.git/rebase-merge/strategy"
	same
	on two git rebase --continue >/dev/null 2>&1
	expect_missing "$T/machines/two/work/two/sprung"
}

# What is not git's way to pick commits is left out, and the rest comes.
test_an_operation_that_stays_there() {
	machines
	edit one x
	on one git commit -q -a -m x
	on one git bisect start -q
	on one git bisect bad
	on one git-checkpoint handoff -q hub
	expect_exit 5 on two git-checkpoint takeover -q -y hub 2>"$T/err"
	expect_grep 'a bisect is in progress in it; use --force' "$T/err"
	on two git-checkpoint takeover --force -y hub >"$T/out"
	expect_grep 'left out: BISECT_.*BISECT_START' "$T/out"
	expect_eq "$(on one git rev-parse HEAD)" "$(on two git rev-parse HEAD)"
	expect_eq '' "$(on two git for-each-ref refs/bisect; on two ls .git | grep BISECT)"
}

# A branch that tracks another does so where it was set up.
test_no_configuration_comes() {
	machines
	on one git branch mine
	on one git checkout -q -b topic
	on one git config branch.topic.remote ./d
	on one git config branch.topic.merge refs/heads/topic
	edit one x
	on one git-checkpoint handoff -q hub
	cp "$T/machines/two/work/two/.git/config" "$T/config"
	on two git-checkpoint takeover -y hub >"$T/out"
	expect_grep 'branch topic: created at [0-9a-f]*$' "$T/out"
	expect_same "$T/config" "$T/machines/two/work/two/.git/config"
	on two git-checkpoint undo -q -y
	expect_same "$T/config" "$T/machines/two/work/two/.git/config"
	# nor is it said how to get branches and stashes of the other machine
	on two git branch -q -D topic 2>/dev/null || :
	on two git-checkpoint restore -y one/@ >"$T/out" 2>&1
	expect_no_grep 'git update-ref refs/' "$T/out"
	expect_grep 'checkpoint restore --git' "$T/out"
}

# What is small as deltas stays small, though nobody has said yes.
test_a_history_of_versions() {
	machines
	on one sh -e -c 'head -c 500000 /dev/urandom >big
		for version in $(seq 30); do
			echo $version >>big
			git add big
			git commit -q -m $version
		done
		git rm -q big
		git commit -q -m none
		git gc -q'
	on one git-checkpoint handoff -q hub
	expect_exit 5 on two git-checkpoint takeover hub >"$T/out" 2>&1 </dev/null
	size=$(on two du -sk .git | cut -f 1)
	test "$size" -lt 2000 || fail "$size kB"
	on two git-checkpoint takeover -q -y hub
	same
	on two git fsck --strict
}

run_tests
