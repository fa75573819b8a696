#!/bin/sh
# SPDX-License-Identifier: MIT
# Checkpoints through a repository between two machines: push, fetch, names, limits.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$LIB_DIR/strides.sh"

test_remotes_are_listed_and_removed() {
	expect_exit 128 git-checkpoint push 2>/dev/null
	git-checkpoint remote add hub /tmp/hub.git >/dev/null
	git-checkpoint remote add --push-auto other 'ssh://host/x y' >/dev/null
	git-checkpoint remote list --json >"$T/out"
	jq -e '.remotes == [{"name":"hub","url":"/tmp/hub.git","push_auto":false},
		{"name":"other","url":"ssh://host/x y","push_auto":true}]' "$T/out"
	expect_exit 5 git-checkpoint remote add hub /x 2>/dev/null
	expect_exit 128 git-checkpoint remote add e 'ext::sh -c touch% x' 2>"$T/err"
	expect_grep 'could run any command' "$T/err"
	for name in -x a/b '' 'a b' chk_20250101_000000_012345 a..b x.lock x.; do
		status=0
		git-checkpoint remote add -- "$name" /x 2>/dev/null || status=$?
		expect_eq 128 $status "'$name'"
	done
	expect_exit 129 git-checkpoint remote add x
	git-checkpoint save -q --allow-empty 2>/dev/null
	# several: one has to be named
	expect_exit 128 git-checkpoint push 2>"$T/err"
	expect_grep 'name one of them' "$T/err"
	git-checkpoint remote remove other >/dev/null
	expect_exit 128 git-checkpoint remote remove other 2>/dev/null
	expect_eq 'hub  /tmp/hub.git' "$(git-checkpoint remote list)"
	expect_eq 'hub  /tmp/hub.git' "$(git-checkpoint remote)"
	expect_eq "$(git-checkpoint remote list --json)" "$(git-checkpoint remote --json)"
	expect_exit 129 git-checkpoint remote lits 2>/dev/null
}

# Without a remote nothing else matters, not even that there is no checkpoint.
test_without_a_remote() {
	git init -q .
	for command in push fetch handoff takeover; do
		expect_exit 128 git-checkpoint $command 2>"$T/err"
		expect_grep "there is no remote; 'git checkpoint remote add <name> <url>' adds one" "$T/err"
	done
	expect_exit 128 git-checkpoint remote remove x 2>"$T/err"
	expect_grep "there is no remote 'x'; 'git checkpoint remote add" "$T/err"
	expect_exit 128 git-checkpoint remote prune x y 2>"$T/err"
	expect_grep "there is no remote 'x'; 'git checkpoint remote add" "$T/err"
	git-checkpoint remote list 2>"$T/err"
	expect_grep "no remotes yet; 'git checkpoint remote add" "$T/err"
	expect_exit 129 git-checkpoint remote add x '' 2>"$T/err"
	expect_grep 'needs a URL' "$T/err"
}

test_paths_that_are_relative() {
	machines
	on one git-checkpoint remote remove -q hub
	on one git-checkpoint -C dir remote add -q hub "$(realpath --relative-to="$T/machines/one/src/one/dir" "$T/hub.git")"
	expect_eq "hub  $T/hub.git" "$(on one git-checkpoint remote list)"
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	# shellcheck disable=SC2088 # git expands it
	for url in host:x.git ssh://host/x 'helper::x/y' '~/x'; do
		on two git-checkpoint remote add -q "u$(echo "$url" | tr -dc a-z)" "$url"
		on two git-checkpoint remote list >"$T/out"
		expect_grep "  $url\$" "$T/out"
	done
}

test_passwords_stay_in_the_store() {
	url=http://me:hunter2@127.0.0.1:1/x.git
	git-checkpoint remote add pw $url --json >"$T/out"
	git-checkpoint remote add token https://hunter2@127.0.0.1:1/x.git >>"$T/out"
	git-checkpoint remote add ssh ssh://me:hunter2@127.0.0.1:1/x >>"$T/out"
	git-checkpoint remote list >>"$T/out"
	git-checkpoint remote list --json >>"$T/out"
	expect_exit 128 git-checkpoint remote add ext ext::https://me:hunter2@host/x >>"$T/out" 2>&1
	git-checkpoint remote add git git://hunter2@127.0.0.1:1/x
	git-checkpoint remote add odd odd::https://me:hunter2@127.0.0.1:1/x
	echo 1 >file
	git-checkpoint save -q
	git-checkpoint config -q project it
	git-checkpoint push pw >>"$T/out" 2>&1 || :
	for name in pw token ssh git odd; do
		git-checkpoint fetch $name --json >>"$T/out" 2>&1 || :
		git-checkpoint push $name >>"$T/out" 2>&1 || :
	done
	expect_no_grep hunter2 "$T/out"
	expect_grep '^pw  http://\*\*\*@127.0.0.1:1/x.git' "$T/out"
	expect_grep '^ssh  ssh://me:\*\*\*@127.0.0.1:1/x' "$T/out"
	expect_eq checkpoint/state "$(cd "$(store_dir)" && grep -r -l hunter2 . | sed 's,^\./,,')"
}

# What the other side says goes to the terminal, but not as commands for it.
test_a_remote_does_not_steer_the_terminal() {
	has_terminal || skip 'no terminal'
	machines
	edit one x
	on one git-checkpoint save -q
	printf '#!/bin/sh\nprintf "hello \\033]0;mine\\007\\033[31m \\302\\233 there\\n" >&2\n' >"$T/hub.git/hooks/update"
	chmod +x "$T/hub.git/hooks/update"
	on one script -q -e -c 'git-checkpoint push' "$T/screen" </dev/null >/dev/null
	expect_grep 'remote: hello ?]0;mine??\[31m ? there' "$T/screen"
	expect_eq 1 "$(hub_refs | wc -l)"
}

test_the_remote_of_a_project_is_used_only_if_named() {
	machines
	on one git remote add origin ssh://host/x.git
	on one git-checkpoint remote remove -q hub
	edit one x
	on one git-checkpoint save -q
	expect_exit 128 on one git-checkpoint push 2>/dev/null
	for url in ssh://host/x.git https://host/x.git git@host:x.git git://host/x.git; do
		on one git config remote.origin.url "$url"
		on one git-checkpoint remote add mine --project-remote origin >/dev/null 2>"$T/err"
		expect_grep 'untracked files too' "$T/err"
		expect_eq "mine  $url" "$(on one git-checkpoint remote list)"
		on one git-checkpoint remote remove -q mine
	done
}

# What the project's configuration names is not run: hooks of a repository in the working directory, or
# a program of that name.
test_the_remote_of_a_project_is_on_another_machine() {
	machines
	on one git-checkpoint remote remove -q hub
	on one git init -q --bare evil
	printf '#!/bin/sh\ntouch "%s"\n' "$T/ran" >"$T/machines/one/src/one/evil/hooks/pre-receive"
	chmod +x "$T/machines/one/src/one/evil/hooks/pre-receive"
	cp "$T/machines/one/src/one/evil/hooks/pre-receive" "$T/git-remote-evil"
	edit one x
	on one git-checkpoint save -q
	on one git config remote.origin.uploadpack "touch $T/ran"
	on one git config remote.origin.receivepack "touch $T/ran"
	on one git config remote.origin.vcs evil
	on one git config core.sshCommand "touch $T/ran"
	on one git config url.evil.insteadOf https://host/
	for url in ./evil evil "$T/machines/one/src/one/evil" \~/src/one/evil "file://$T/machines/one/src/one/evil" \
		"FILE://$T/hub.git" "$T/hub.git" ../one/evil evil::x evil://x "ext::touch $T/ran" 'fd::3' -x; do
		on one git config remote.origin.url "$url"
		expect_exit 5 on one git-checkpoint remote add mine --project-remote=origin 2>"$T/err"
		expect_grep 'which is no URL of another machine' "$T/err"
		expect_eq '' "$(on one git-checkpoint remote list 2>/dev/null)"
	done
	# what else is configured there has no say
	on one git config remote.origin.url 'https://host/'
	on one git-checkpoint remote add -q mine --project-remote=origin 2>/dev/null
	on one git config checkpoint.remoteTimeout 5
	PATH=$T:$PATH expect_exit 128 on one git-checkpoint push -q mine 2>/dev/null
	test ! -e "$T/ran"
}

test_a_checkpoint_goes_over_and_comes_back() {
	machines
	edit one x
	on one git-checkpoint save -q -m 'my work'
	id=$(id_on one)
	on one git-checkpoint push --dry-run >"$T/out"
	expect_grep "Would push 1 checkpoint to 'hub' (about " "$T/out"
	expect_eq '' "$(hub_refs)"
	on one git-checkpoint push >"$T/out"
	expect_grep "Pushed 1 checkpoint to 'hub' (about " "$T/out"
	root=$(git -C "$T/project" rev-list --max-parents=0 HEAD)
	expect_eq "refs/checkpoints/$root/one/$id" "$(hub_refs)"
	on one git-checkpoint push >"$T/out"
	expect_eq "'hub' has it already" "$(cat "$T/out")"
	git -C "$T/hub.git" fsck --strict

	on two git-checkpoint fetch >"$T/out"
	expect_grep "Fetched one/$id  my work" "$T/out"
	on two git-checkpoint fetch --json >"$T/out"
	jq -e '.checkpoints[0].state == "known"' "$T/out"
	# apart from those of its own
	expect_eq 0 "$(on two git-checkpoint list 2>/dev/null | wc -l)"
	expect_exit 128 on two git-checkpoint show @ 2>/dev/null
	on two git-checkpoint list --remote --json >"$T/out"
	jq -e '.checkpoints | length == 1 and .[0].machine == "one" and .[0].id == "'"$id"'"' "$T/out"
	for name in "one/$id" one/@ "one/$(echo "$id" | tail -c 7)" "$id"; do
		expect_eq "$id" "$(on two git-checkpoint show --json "$name" | jq -r .id)"
	done
	expect_exit 128 on two git-checkpoint show two/@ 2>"$T/err"
	expect_grep "no checkpoint named 'two/@'" "$T/err"
	on two git-checkpoint verify -q one/@
	on two git-checkpoint diff --name-status one/@ >"$T/out"
	expect_grep '^M.*file' "$T/out"
	on two git-checkpoint restore -q -y --git one/@
	same
	on two git-checkpoint undo -q -y
	expect_eq 1 "$(on two cat file)"
	on two git-checkpoint redo -q -y
	same
	on two git-checkpoint export one/@ --tar -o "$T/tar"
	on two git-checkpoint gc -q
	on two git-checkpoint doctor -q
	on two git-checkpoint verify -q one/@
	on two git-checkpoint list >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
}

# Of many only what is asked for, and nothing twice.
test_the_newest_of_each_machine() {
	machines
	machine three x
	on three git-checkpoint remote add -q hub "$T/hub.git"
	for n in 1 2 3; do
		for who in one three; do
			edit $who $n
			on $who git-checkpoint save -q -m "$who $n"
		done
	done
	on one git-checkpoint push -q --all
	on three git-checkpoint push -q --all
	on two git-checkpoint fetch -q
	expect_eq 'one 3 three 3' \
		"$(on two git-checkpoint list --remote --json | jq -r '[.checkpoints[].reason] | sort | join(" ")')"
	oldest=$(on one git-checkpoint list --json | jq -r '.checkpoints[-1].id')
	on two git-checkpoint fetch -q "one/$oldest"
	expect_eq 3 "$(on two git-checkpoint list --remote | wc -l)"
	on two git-checkpoint fetch -q hub --all
	expect_eq 6 "$(on two git-checkpoint list --remote | wc -l)"
	expect_exit 128 on two git-checkpoint fetch nobody/@ 2>/dev/null
	expect_exit 128 on two git-checkpoint fetch nothing 2>/dev/null
	# what is there already need not be sent: a pack of a few objects
	store=$(on two git-checkpoint status --json | jq -r .store)
	expect_eq 0 "$(git --git-dir="$store" fsck --strict --no-dangling >/dev/null 2>&1; echo $?)"
}

# Neither descriptors nor a command line have room for all of them.
test_many_at_once() {
	machines
	on one git-checkpoint config -q maxCount 0
	on one sh -e -c 'n=0; while test $n -lt 150; do echo $n >file; git-checkpoint save -q; n=$((n + 1)); done'
	on one sh -c 'ulimit -n 256; exec git-checkpoint push -q --all'
	expect_eq 150 "$(hub_refs | wc -l)"
	on two git-checkpoint fetch -q --all
	expect_eq 150 "$(on two git-checkpoint list --remote | wc -l)"
	on one git-checkpoint prune -q --max-count 1 --yes
	on one git-checkpoint push --prune >"$T/out"
	expect_grep 'Removed 149 ' "$T/out"
	expect_eq 1 "$(hub_refs | wc -l)"
}

test_what_may_have_secrets_stays() {
	machines
	# refused <pattern> <option of save>...
	refused() {
		pattern=$1
		shift
		echo "$*" | on one tee file >/dev/null
		on one git-checkpoint save -q "$@"
		expect_exit 5 on one git-checkpoint push 2>"$T/err"
		expect_grep "$pattern" "$T/err"
		expect_eq '' "$(hub_refs)"
	}
	on one sh -c 'echo key >id_rsa'
	refused 'with --include-sensitive' --include-sensitive
	refused 'with --include-ignored' --include-ignored
	on one sh -c 'echo token >.env; git add .env'
	refused "'.env' in it looks like a secret"
	# it is public already
	on one git commit -q -m env
	on one git update-ref refs/remotes/origin/main HEAD
	on one sh -c 'echo z >file'
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	expect_eq 1 "$(hub_refs | wc -l)"
	# all the others
	expect_exit 3 on one git-checkpoint push --all 2>"$T/err"
	expect_eq 2 "$(grep -c "was not pushed" "$T/err")"
	on one git-checkpoint push -q --all --force
	expect_eq 4 "$(hub_refs | wc -l)"
}

# Tracked although a rule ignores it; staged, and nowhere else.
test_secrets_that_are_hard_to_see() {
	machines
	on one sh -c 'echo .env >.gitignore; echo token >.env; git add -f .env; git commit -q -m env'
	on one git-checkpoint save -q
	expect_exit 5 on one git-checkpoint push 2>"$T/err"
	expect_grep "'.env' in it looks like a secret" "$T/err"
	on one sh -c 'mkdir private; echo private >.gitignore; git mv -f .env private/my.key; git commit -q -m key'
	on one git-checkpoint save -q
	expect_exit 5 on one git-checkpoint push 2>"$T/err"
	expect_grep "'private/my.key' in it looks like a secret" "$T/err"
	on one sh -c 'git rm -q private/my.key; git commit -q -m none; echo token >id_rsa; git add id_rsa; rm id_rsa'
	on one git-checkpoint save -q
	expect_exit 5 on one git-checkpoint push 2>"$T/err"
	expect_grep "'id_rsa' in it looks like a secret" "$T/err"
	expect_eq '' "$(hub_refs)"
	on one git rm -q --cached id_rsa
	on one git-checkpoint save -q
	on one git-checkpoint push -q
}

test_which_project() {
	machines
	mkdir plain
	cd plain
	git-checkpoint remote add -q hub "$T/hub.git"
	echo 1 >a
	git-checkpoint save -q
	expect_exit 128 git-checkpoint push 2>"$T/err"
	expect_grep "not in a git repository.*'git checkpoint config project <name>'" "$T/err"
	git-checkpoint config -q project notes
	GIT_CHECKPOINT_MACHINE=three git-checkpoint push -q
	expect_grep '^refs/checkpoints/notes/three/chk_' "$(hub_refs >"$T/refs"; echo "$T/refs")"
	expect_exit 129 git-checkpoint config project a/b
	# a clone at another path is the same project, one without commits is none
	git init -q "$T/new"
	cd "$T/new"
	git-checkpoint remote add -q hub "$T/hub.git"
	expect_exit 128 git-checkpoint fetch 2>"$T/err"
	expect_grep 'no commit yet' "$T/err"
	git clone -q --depth 1 "file://$T/project" "$T/shallow"
	cd "$T/shallow"
	git-checkpoint remote add -q hub "$T/hub.git"
	expect_exit 128 git-checkpoint fetch 2>"$T/err"
	expect_grep 'shallow' "$T/err"
}

test_pruning() {
	machines
	for n in 1 2 3; do
		edit one $n
		on one git-checkpoint save -q
	done
	on one git-checkpoint push -q --all
	edit two x
	on two git-checkpoint save -q
	on two git-checkpoint push -q
	on one git-checkpoint prune -q --max-count 1 --yes 2>/dev/null || on one git-checkpoint prune -q --max-count 1
	expect_eq 1 "$(on one git-checkpoint list | wc -l)"
	on one git-checkpoint push --prune >"$T/out"
	expect_grep 'Removed 2 that are gone here' "$T/out"
	expect_eq 2 "$(hub_refs | wc -l)"
	# of another machine only when asked for by name
	expect_exit 5 on one git-checkpoint remote prune hub two 2>/dev/null </dev/null
	on one git-checkpoint remote prune -y hub two >/dev/null
	expect_eq 1 "$(hub_refs | wc -l)"
	expect_exit 128 on one git-checkpoint remote prune -y hub two 2>/dev/null
}

# What is lost here may be there alone.
test_nothing_is_pruned_while_something_is_lost() {
	machines
	for n in 1 2 3 4; do
		edit one $n
		on one git-checkpoint save -q
	done
	on one git-checkpoint push -q --all
	on one git-checkpoint drop -q -y @~3
	store=$(on one git-checkpoint status --json | jq -r .store)
	on one git-checkpoint list -q >"$T/ids"
	cp -R "$store/refs" "$T/refs"
	rm -rf "$store/refs/checkpoints" "$store/packed-refs"
	mkdir -p "$store/refs/checkpoints"
	for n in 5 6; do
		for options in --prune '--prune -n' '--all --prune'; do
			# shellcheck disable=SC2086 # options are words
			expect_exit 5 on one git-checkpoint push $options 2>"$T/err"
			expect_grep "nothing is removed from 'hub' while checkpoints of this store are lost" "$T/err"
		done
		expect_eq 4 "$(hub_refs | wc -l)"
		edit one $n
		on one git-checkpoint save -q 2>/dev/null
	done
	on one git-checkpoint doctor --fix >/dev/null 2>&1 || :
	on one git-checkpoint push -q --prune
	# the newest came, the one that was dropped went
	expect_eq 4 "$(hub_refs | wc -l)"
	while read -r id; do
		expect_eq 1 "$(hub_refs | grep -c "$id")" "$id"
	done <"$T/ids"
}

test_what_goes_and_what_does_not_is_said() {
	machines
	for n in 1 2; do
		edit one $n
		on one git-checkpoint save -q -m "work $n"
	done
	on one sh -c 'echo more >file; echo more >further'
	on one git-checkpoint push --dry-run >"$T/out"
	expect_grep "^  $(id_on one)  work 2\$" "$T/out"
	expect_grep "^Not in it: 2 paths have changed since; 'git checkpoint save' takes them\$" "$T/out"
	on one git-checkpoint push --dry-run --json >"$T/out"
	jq -e '.dry_run and .unsaved == 2 and .checkpoints[0].state == "to push"' "$T/out"
	expect_eq '' "$(hub_refs)"
	on one git-checkpoint push --json >"$T/out"
	jq -e '(.dry_run | not) and .unsaved == 2 and .checkpoints[0].state == "pushed"' "$T/out"
	on one git-checkpoint push --all >"$T/out"
	expect_grep '^  chk_.*  work 1$' "$T/out"
	expect_no_grep 'Not in it' "$T/out"
	on one git-checkpoint handoff -q -m 'on the train'
	expect_eq 'on the train' "$(on one git-checkpoint show --json @ | jq -r .reason)"
	on one git-checkpoint handoff -q -m 'at home'
	expect_eq 'at home' "$(on one git-checkpoint show --json @ | jq -r .reason)"
}

test_two_machines_of_one_name() {
	machines
	edit one x
	on one git-checkpoint handoff -q
	on one git-checkpoint fetch >"$T/out" 2>"$T/err"
	expect_eq 'Nothing new from other machines' "$(cat "$T/out")"
	expect_no_grep 'config machine' "$T/err"
	on one git-checkpoint drop -q -y @
	on one git-checkpoint fetch >"$T/out" 2>"$T/err"
	expect_eq 'Nothing new from other machines' "$(cat "$T/out")"
	expect_no_grep 'config machine' "$T/err"
	on two env GIT_CHECKPOINT_MACHINE=one git-checkpoint fetch >"$T/out" 2>"$T/err"
	expect_grep '1 there are not of this working directory' "$T/err"
	expect_grep '^ *git checkpoint fetch hub <machine>/@$' "$T/err"
	expect_grep '^ *git checkpoint config machine <name>$' "$T/err"
	on two env GIT_CHECKPOINT_MACHINE=one git-checkpoint fetch --json | jq -e '.namesakes == 1' >/dev/null
	expect_exit 128 on two env GIT_CHECKPOINT_MACHINE=one git-checkpoint takeover --yes hub 2>"$T/err"
	expect_grep "since one with the name of this machine handed off.*config machine <name>'" "$T/err"
	on two git-checkpoint takeover -q --yes hub
}

test_saves_push_by_themselves_only_if_told() {
	machines
	edit one 1
	on one git-checkpoint save -q
	expect_eq '' "$(hub_refs)"
	on one git-checkpoint remote remove -q hub
	on one git-checkpoint remote add -q hub "$T/hub.git" --push-auto
	edit one 2
	on one git-checkpoint save -q
	expect_eq 1 "$(hub_refs | wc -l)"
	# a save does not fail for it
	mv "$T/hub.git" "$T/gone.git"
	edit one 3
	on one git-checkpoint save 2>"$T/err" >/dev/null
	expect_grep "not pushed to 'hub'" "$T/err"
}

# For a budget they go first, and what does not fit does not come.
test_a_budget() {
	machines
	on one sh -c 'head -c 300000 /dev/urandom >big'
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	on two sh -c 'head -c 300000 /dev/urandom >mine'
	on two git-checkpoint save -q
	expect_exit 128 on two env GIT_CHECKPOINT_MAX_SIZE=500k git-checkpoint fetch 2>"$T/err"
	expect_grep 'does not fit into maxSize' "$T/err"
	nothing_fetched two
	on two git-checkpoint fetch -q
	on two sh -c 'head -c 300000 /dev/urandom >more'
	on two env GIT_CHECKPOINT_MAX_SIZE=900k git-checkpoint save -q
	nothing_fetched two
	expect_eq 2 "$(on two git-checkpoint list | wc -l)"
	on two git-checkpoint verify -q --all
}

test_killed_while_fetching() {
	machines
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	cp -a "$T/machines/two/state" "$T/saved"
	on two with_faults "$CHANGES" 0 kill git-checkpoint fetch -q
	total=$(cat "$T/faults")
	at=$(begin_at 7)
	while test "$at" -le "$total"; do
		rm -rf "$T/machines/two/state"
		cp -a "$T/saved" "$T/machines/two/state"
		if on two killed "$at" "$total" git-checkpoint fetch -q; then
			test "$(on two git-checkpoint list --remote 2>/dev/null | wc -l)" = 0 ||
				on two git-checkpoint verify -q one/@
			on two git-checkpoint fetch -q
		fi
		on two git-checkpoint verify -q one/@
		on two git-checkpoint doctor -q || on two git-checkpoint doctor -q --fix
		at=$((at + ${STEP:-7}))
	done
}

run_tests
