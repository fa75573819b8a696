#!/bin/sh
# SPDX-License-Identifier: MIT
# The table FORMATS of git-checkpoint-format(5) has every name that a much used store, the home of
# all stores, a worktree and its .git may contain.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/watch.sh"
. "$LIB_DIR/capture-commands.sh"

# rows: those of the table in the manual, as it would be read
rows() {
	sed -n '/^\.SH FORMATS$/,/^\.SH [^F]/p' "$ROOT_DIR/man/git-checkpoint-format.5" |
		sed 's/\\&//; s/\\-/-/g' | awk -F '|' 'NF == 5 && $1 != "name"'
}

# table: "<where> <glob> <kind>" for each name; a row without a second column goes on with the last
table() {
	rows | awk -F '|' '
		$2 { where = $2; kind = $5 }
		{
			gsub(/<[^>]*>/, "*", $1)
			print where, $1, kind
		}'
}

# saw <where> <name>...: the names were seen there
saw() {
	where=$1
	shift
	for name; do
		echo "$where $name"
	done >>"$T/seen"
}

# look_around: note what is there now
look_around() {
	store=$(store_dir)
	home=$(checkpoint_home)
	(cd "$home" && ls -A) >"$T/names"
	while read -r name; do
		saw home "$name"
	done <"$T/names"
	(cd "$store" && find . -mindepth 1 -maxdepth 1 ! -name checkpoint) | sed 's|^\./||' >"$T/names"
	(cd "$store" && find checkpoint refs info -mindepth 1 -maxdepth 1) >>"$T/names"
	while read -r name; do
		saw store "$name"
	done <"$T/names"
	find . -maxdepth 2 -path '*checkpoint*' ! -path './.git/*' | sed 's|^\./||' >"$T/names"
	while read -r name; do
		saw work "$name"
	done <"$T/names"
	find .git -path .git/git-checkpoint/'*' -prune -o -name '*checkpoint*' ! -path '.git/refs/*' -print |
		sed 's|^\.git/||' >"$T/names"
	while read -r name; do
		saw .git "$name"
	done <"$T/names"
}


# fire <event> [<members>]: as a coding agent does it
fire() {
	printf '{"cwd":"%s","session_id":"s","hook_event_name":"%s"%s}' "$PWD" "$1" "${2:+,$2}" |
		git-checkpoint agent-hook codex >"$T/got" 2>&1
}

use_much() {
	watch_setup
	git init -q --bare "$T/hub.git"
	look_around
	echo 2 >file
	git checkpoint save -q -m two --name good --every 3
	git checkpoint pin -q @
	a_thing
	git checkpoint save -q --capture db --state k=v
	for i in 3 4 5; do
		echo $i >file
		git checkpoint save -q -m $i
	done
	git checkpoint restore -q --yes @~2
	git checkpoint undo -q --yes
	look_around
	# hooks, guard, and agents
	printf '#!/bin/sh\n' >.git/hooks/pre-rebase
	chmod +x .git/hooks/pre-rebase
	git checkpoint hooks install -q --guard
	git checkpoint hooks install -q --agent codex --agent claude-code
	git checkpoint hooks install -q --global --guard
	git commit -q --allow-empty -m empty
	git checkpoint run -- sh -c 'echo ran >ran' >/dev/null
	fire UserPromptSubmit '"prompt":"do it"'
	fire PreToolUse '"tool_name":"Bash"'
	echo agent >file
	fire PostToolUse '"tool_name":"Bash"'
	fire Stop
	fire PreToolUse '"tool_name":"Bash"' &
	flock "$(store_dir)/checkpoint/lock" sleep 0.2 || :
	wait $!
	look_around
	# a workflow, another after it
	for name in one two; do
		git checkpoint flow start $name --phases A,B -q >/dev/null
		git checkpoint flow phase A start -q
		git checkpoint flow phase A complete -q
		look_around
		git checkpoint flow archive -q || git checkpoint flow abandon -q || :
	done
	# another machine
	git checkpoint remote add -q hub "$T/hub.git"
	git checkpoint push -q hub
	git clone -q . "$T/other"
	(
		cd "$T/other" || exit
		XDG_STATE_HOME=$T/other.state GIT_CHECKPOINT_MACHINE=other
		export XDG_STATE_HOME GIT_CHECKPOINT_MACHINE
		git checkpoint remote add -q hub "$T/hub.git"
		echo there >file
		git checkpoint save -q
		git checkpoint push -q hub
	)
	git checkpoint fetch -q hub
	git checkpoint export -q --bundle -o "$T/bundle" @
	git checkpoint import -q "$T/bundle"
	look_around
}

break_things() {
	store=$(store_dir)
	git checkpoint restore -q --into "$T/copy" @
	git checkpoint gc -q
	git checkpoint prune -q --max-count 3
	rm "$store/refs/checkpoints/$(git checkpoint list --json | jq -r '.checkpoints[-1].id')"
	printf x >>"$store/checkpoint/state"
	git checkpoint save -q --allow-empty 2>/dev/null
	printf '\0' >>"$store/checkpoint/config"
	mkdir -p "$store/checkpoint/journal/x"
	git checkpoint save -q --allow-empty 2>/dev/null || :
	git checkpoint doctor -q --fix 2>/dev/null || :
	look_around
	# a restore that is killed, at some places
	echo before >file
	git checkpoint save -q
	for at in 1 3 5 7; do
		echo $at >file
		echo $at >new
		with_faults rename $at kill git-checkpoint restore -q --yes @~1 >/dev/null 2>&1 || :
		look_around
		git checkpoint restore -q --abort >/dev/null 2>&1 || :
	done
	# a store that cannot be used
	head -c 20 /dev/zero >"$store/checkpoint/version"
	rm -rf "$store/objects"
	git checkpoint save -q --allow-empty >/dev/null 2>&1 || :
	git checkpoint doctor -q --fix >/dev/null 2>&1 || :
	look_around
}

test_every_name_is_in_the_table() {
	require jq flock
	table >"$T/table"
	test "$(wc -l <"$T/table")" -gt 20 || fail 'the table cannot be read'
	use_much
	watch_start
	echo watched >file
	await watch_settled
	look_around
	watch_end
	break_things
	sort -u "$T/seen" >"$T/sorted"
	test "$(wc -l <"$T/sorted")" -gt 30 || fail "only $(wc -l <"$T/sorted") names were seen"
	while read -r where name; do
		found=
		while read -r in glob kind; do
			test "$in" = "$where" || continue
			# shellcheck disable=SC2254 # it is a pattern
			case $name in
			$glob) found=$kind ;;
			esac
		done <"$T/table"
		test -n "$found" || echo "$where: $name"
	done <"$T/sorted" >"$T/missing"
	expect_eq '' "$(cat "$T/missing")" 'not in the table'
}

# Locks, what is git's own, and what only points to us do not count.
test_there_are_few() {
	rows | awk -F '|' '$2 && $5 !~ /^(lock|git|shim|aside)$/' >"$T/rows"
	test "$(wc -l <"$T/rows")" -le 20 || fail "$(wc -l <"$T/rows") private formats"
}

run_tests
