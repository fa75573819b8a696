#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing secret leaves this machine unasked: wherever it is planted, the bytes of the hub do not have
# it, unless --force or --with-prompts sent it.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"

secret=hunter2-$TEST_SEED

# hub_bytes: all that the hub has, names too; packs within objects are taken apart
hub_bytes() {
	rm -rf "$T/inner.git"
	git init -q --bare "$T/inner.git"
	git -C "$T/hub.git" cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' >"$T/objects"
	while read -r type id; do
		git -C "$T/hub.git" cat-file "$type" "$id" >"$T/object"
		cat "$T/object"
		test "$(head -c 4 "$T/object" | tr -d '\0')" != PACK ||
			git -C "$T/inner.git" index-pack --stdin <"$T/object" >/dev/null
	done <"$T/objects"
	git -C "$T/inner.git" cat-file --batch-all-objects --batch
	find "$T/hub.git" -name objects -prune -o -type f -print -exec cat {} +
}

hub_has_secret() {
	hub_bytes >"$T/bytes"
	grep -q -a -e "$secret" "$T/bytes"
}

# --- where it can be: each is planted in the clone of one ---

plant_a_tracked_file() {
	mkdir -p a/b
	echo "$secret" >a/b/server.pem
	git add -f a/b/server.pem
}

plant_the_index_alone() {
	echo "$secret" >.env
	git add -f .env
	rm .env
}

plant_an_untracked_file() {
	echo "$secret" >.env
	echo "$secret" >id_rsa
}

plant_a_stash() {
	echo placeholder >.netrc
	git add -f .netrc
	git commit -q -m netrc -- .netrc
	git push -q origin main
	echo "$secret" >.netrc
	git stash -q
}

plant_an_autostash() {
	echo placeholder >.env
	git add -f .env
	git commit -q -m env
	git push -q origin main
	git switch -q -c side HEAD~1
	echo a >file
	git commit -q -a -m a
	git switch -q main
	echo b >file
	git commit -q -a -m b
	echo "$secret" >.env
	git push -q origin main side
	! git rebase -q --autostash side >/dev/null 2>&1
}

# The patch of a commit that is being edited.
plant_a_rebase() {
	echo "$secret" >.env
	git add -f .env
	git commit -q -m 'add it'
	git rm -q .env
	git commit -q -m 'remove it'
	git push -q origin main
	GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~1 2>/dev/null
	test -d .git/rebase-merge
}

# Patches that wait for their turn: of a name with odd characters, of a binary file, without prefixes.
plant_mails() {
	echo "$secret" >'odd ä	name.pem'
	{ printf '\0'; echo "$secret"; } >credentials
	git add -f .
	git commit -q -m 'add them'
	git format-patch -q -1 --stdout ${1:---binary} >"$T/mail"
	git reset -q --hard HEAD~1
	git push -q origin main
	sed 's,^diff --git a/file,&x,' "$T/mail" >"$T/broken"
	printf 'From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: a <a@b.c>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nSubject: x\n\n---\ndiff --git a/none b/none\nindex 1111111..2222222 100644\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n' >"$T/first"
	! git am -q "$T/first" "$T/mail" >/dev/null 2>&1
	test -d .git/rebase-apply
}

plant_mails_without_prefixes() {
	plant_mails --no-prefix
}

# A mail in base64 cannot be searched at all.
plant_a_coded_mail() {
	plant_mails
	{
		echo 'Content-Transfer-Encoding: base64'
		echo
		base64 "$T/mail"
		echo "$secret"
	} >.git/rebase-apply/0002
}

plant_the_message_of_a_merge() {
	git switch -q -c side HEAD
	git commit -q --allow-empty -m side
	git switch -q main
	git push -q origin main side
	git merge -q --no-ff --no-commit side
	echo "see https://me:$secret@example.com/x" >.git/MERGE_MSG
}

plant_the_message_of_a_stash() {
	echo a >file
	git stash push -q -m "https://$secret@example.com/x"
}

plant_the_branch() {
	git config branch.main.remote "https://me:$secret@example.com/x"
	git config branch.main.merge refs/heads/main
}

plant_the_name_of_a_state_key() {
	git-checkpoint save -q --state ".npmrc=$secret"
}

plant_a_state_key() {
	printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n' "$secret" >"$T/key"
	git-checkpoint save -q --state-file "deployment=$T/key"
}

plant_a_capture() {
	mkdir -p "$HOME/.config/git-checkpoint"
	printf '[capture "db"]\nsave = echo %s\nauto = true\n' "$secret" >"$HOME/.config/git-checkpoint/config"
	git-checkpoint save -q
}

plant_the_reason() {
	git-checkpoint save -q --allow-empty -m "with ftp://me:$secret@example.com/"
}

plant_what_was_asked_for() {
	echo "$secret" >.env
	git-checkpoint save -q --include-sensitive
}

plant_the_history() {
	echo "$secret" >.env
	git add -f .env
	git commit -q -m 'add it'
	git rm -q .env
	git commit -q -m 'remove it'
}

agent_event() {
	jq -n --arg cwd "$PWD" '{session_id: "s", cwd: $cwd} + $ARGS.positional[0]' --jsonargs "$1" |
		git-checkpoint agent-hook claude-code >/dev/null
}

plant_a_prompt() {
	echo x >file
	agent_event '{"hook_event_name":"UserPromptSubmit","prompt":"log in as '"$secret"'"}'
}

# A checkpoint before a tool has the prompt of its turn, too.
plant_the_prompt_of_a_tool() {
	plant_a_prompt
	echo y >file
	agent_event '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"make"}}'
}

places() {
	sed -n 's/^plant_\([a-z_]*\)() {$/\1/p' "$0"
}

# a_project: with a remote of its own, which has all of it
a_project() {
	machines
	git init -q --bare "$T/origin.git"
	on one git remote add origin "$T/origin.git"
	on one git push -q origin main
	on one git fetch -q
}

plant() {
	(
		HOME=$T/machines/one XDG_STATE_HOME=$HOME/state XDG_CONFIG_HOME=$HOME/.config
		export HOME XDG_STATE_HOME XDG_CONFIG_HOME
		cd "$HOME/src/one"
		plant_"$1"
	)
}

# leave <status> <command>...: on one
leave() {
	leave_status=0
	leave_expected=$1
	shift
	on one "$@" >"$T/out" 2>&1 || leave_status=$?
	expect_eq "$leave_expected" $leave_status "$place: $*: $(cat "$T/out")"
}

# expected <place>: what push does: 5, it is refused; 0, it does not have it
expected() {
	case $1 in
	an_untracked_file | a_stash | the_history | a_prompt | the_prompt_of_a_tool) echo 0 ;;
	*) echo 5 ;;
	esac
}

each_place() {
	for place in $(places); do
		rm -rf "$T/machines" "$T/project" "$T/hub.git" "$T/origin.git" "$T/mail"
		a_project
		plant "$place"
		"$@"
	done
}

push_it() {
	on one git-checkpoint show @ >/dev/null 2>&1 || on one git-checkpoint save -q 2>/dev/null
	leave "$(expected "$place")" git-checkpoint push hub
	! hub_has_secret || fail "$place: push"
	# that it can be seen there at all
	leave 0 git-checkpoint push --force --with-prompts hub
	case $place in
	an_untracked_file | a_stash | the_history) ! hub_has_secret || fail "$place: --force" ;;
	*) hub_has_secret || fail "$place: it is not to be seen" ;;
	esac
}

test_push() {
	each_place push_it
}

hand_it_off() {
	expected=$(expected "$place")
	test "$place" != the_history || expected=5
	case $place in
	# a handoff takes a checkpoint of its own, without these
	a_state_key | the_name_of_a_state_key | a_capture | the_reason | what_was_asked_for) return ;;
	esac
	leave "$expected" git-checkpoint handoff hub
	! hub_has_secret || fail "$place: handoff"
}

test_handoff() {
	each_place hand_it_off
}

# What stays here changes nothing else: only the rest is sent, and it arrives whole.
test_without_prompts() {
	a_project
	plant the_prompt_of_a_tool
	on one git-checkpoint push -q --all hub
	on one git-checkpoint push --all hub >"$T/out"
	expect_grep 'has all of them already' "$T/out"
	on two git-checkpoint fetch -q --all
	on two git-checkpoint verify -q --all
	on two git-checkpoint list --remote --json >"$T/out"
	jq -e '[.checkpoints[] | .agent.prompt, .title] | sort == [null, null, "before: Bash \"make\"", "before: a prompt"]' "$T/out"
	on one git-checkpoint list --json >"$T/out"
	jq -e --arg prompt "log in as $secret" '[.checkpoints[].agent.prompt] | unique == [$prompt]' "$T/out"
	# 20 kB that do not compress would go again if it were not known to be there
	on one sh -c 'head -c 20000 /dev/urandom >noise'
	on one git-checkpoint save -q
	on one git-checkpoint push -q hub
	place=prompt plant a_prompt
	on one git-checkpoint push --json --dry-run hub >"$T/out"
	jq -e '.bytes < 5000' "$T/out"
	du -sb "$T/hub.git/objects" | cut -f1 >"$T/before"
	on one git-checkpoint push -q hub
	test $(($(du -sb "$T/hub.git/objects" | cut -f1) - $(cat "$T/before"))) -lt 15000
	# said once, it is not unsaid; asked for, it goes there afterwards
	on one git-checkpoint push -q --with-prompts hub
	hub_has_secret
	on one git-checkpoint push hub >"$T/out"
	expect_grep 'has it already' "$T/out"
}

run_tests
