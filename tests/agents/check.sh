#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh [<agent>...]: real agents, from npm, with the entries that 'hooks install' writes. Every change that an
# agent makes must be in no checkpoint that was taken before it, and there must be such a one.
#
# Needs root (a network of its own), node, npm and ip; KIT_HOME keeps what was installed. Not part of 'make check'.
# Not driven here, since they have no program that runs without an account or a screen: Cursor, Windsurf, Kiro, Amp,
# Goose, Droid, and Cline.
set -u
kit=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$kit/../.." && pwd)
export KIT_HOME=${KIT_HOME:-${TMPDIR:-/tmp}/git-checkpoint-agents}
export KIT_STORES=$KIT_HOME/stores GIT_CHECKPOINT_HOME=$KIT_HOME/stores
build=${BUILD_DIR:-$root/build}
export KIT_PATH=$build:/usr/local/bin:/usr/bin:/bin PATH=$build:$PATH
export GIT_CONFIG_GLOBAL=$KIT_HOME/gitconfig
failures=0

test "$(id -u)" = 0 || { echo 'check-agents: needs root'; exit 77; }
for tool in node npm ip jq unshare; do
	command -v $tool >/dev/null || { echo "check-agents: needs $tool"; exit 77; }
done
mkdir -p "$KIT_HOME"
printf '[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n' >"$GIT_CONFIG_GLOBAL"

packages() {
	case $1 in
	claude-code) echo @anthropic-ai/claude-code ;;
	codex) echo @openai/codex ;;
	gemini-cli) echo @google/gemini-cli ;;
	copilot) echo @github/copilot ;;
	qwen-code) echo @qwen-code/qwen-code ;;
	opencode) echo opencode-ai ;;
	esac
}

get_agent() {
	package=$(packages "$1")
	test -d "$KIT_HOME/npm/$1/node_modules/$package" ||
		npm install --silent --no-fund --no-audit --prefix "$KIT_HOME/npm/$1" "$package" >&2 || return 1
	echo "# $1 $(jq -r .version "$KIT_HOME/npm/$1/node_modules/$package/package.json")"
}

fail() {
	echo "  FAILED: $*"
	bad=1
}

# project: an empty home for the agent and a project with a commit; the current directory afterwards
project() {
	work=$KIT_HOME/work/$agent/$1
	rm -rf "$work" "${KIT_HOME:?}/home/$agent" "$KIT_STORES"
	mkdir -p "$work" "$KIT_HOME/home/$agent"
	cd "$work" || exit
	git init -q
	echo one >a.txt
	echo u >u.txt
	mkdir sub
	echo s >sub/s.txt
	git add a.txt
	git commit -qm one
}

install() {
	HOME=$KIT_HOME/home/$agent git checkpoint hooks install -q --agent "$agent" "$@" 2>"$KIT_HOME/notes" ||
		fail "install: $(cat "$KIT_HOME/notes")"
}

drive() {
	"$kit/drive.sh" "$agent" "$@" >"$KIT_HOME/out" 2>&1 || fail "the agent: $(tail -5 "$KIT_HOME/out")"
}

# trees: the names in each checkpoint of the agent, or of install, a line each; here
trees() {
	store=$(git checkpoint status --json | jq -r .store)
	git checkpoint list --json | jq -r --arg agent "$agent" \
		'.checkpoints[] | select(.source == $agent or .reason == "agent installed") | .commit' |
		while read -r commit; do
			git --git-dir="$store" ls-tree -r --name-only "$commit" | tr '\n' ' '
			git --git-dir="$store" show "$commit:a.txt" | tr '\n' ' '
			echo
		done
}

# saved_before <name> [<name>...]: some checkpoint has all others but not the first; the file itself is there now
saved_before() {
	test -e "$1" || fail "$1 was not made: $(tail -3 "$KIT_HOME/out")"
	wanted=$1
	shift
	found=$(trees | while read -r line; do
		line=" $line "
		case $line in *" $wanted "*) continue ;; esac
		for name; do
			case $line in *" $name "*) ;; *) continue 2 ;; esac
		done
		echo yes
	done)
	test "$found" || fail "no checkpoint before $wanted with: $*"
}

result() {
	test "$bad" = 0 && echo "ok - $agent: $1" || { echo "not ok - $agent: $1"; failures=$((failures + 1)); }
	bad=0
}

# one_turn: all of that was one turn, which can be restored and reverted
one_turn() {
	test "$(git checkpoint list --session --json | jq '.turns | length')" = 1 || fail 'not one turn'
	git checkpoint restore -q --yes turn:1 || fail 'restore turn:1'
	expect_turn_gone
	git checkpoint undo -q --yes || fail 'undo'
	test -e shell.txt || fail 'undone, but the files of the turn are not there'
	echo mine >mine.txt
	git checkpoint revert -q --yes turn:1 || fail 'revert turn:1'
	expect_turn_gone
	test -e mine.txt || fail 'the revert took what is not of the turn'
	git checkpoint undo -q --yes || fail 'undo of the revert'
}

expect_turn_gone() {
	test "$(cat a.txt)" = one || fail "a.txt has $(cat a.txt)"
	for name in shell.txt mcp.txt p1 p2 sub1; do
		test ! -e $name || fail "$name is still there"
	done
}

tools() {
	project tools
	install
	case $agent in
	claude-code | qwen-code | opencode) read='read;' ;;
	*) read='' ;;
	esac
	wait=
	test "$agent" = codex && wait=';wait'
	drive . "${read}edit;shell:shell.txt;mcp:mcp.txt;write:p1+write:p2;sub$wait" 'write:sub1'
	grep -q two a.txt || fail 'the edit'
	trees | grep -q ' one $' || fail 'no checkpoint before the edit'
	saved_before shell.txt two
	saved_before mcp.txt shell.txt
	saved_before p1 mcp.txt
	saved_before p2 mcp.txt
	saved_before sub1 p1 p2
	trees | grep -q sub1 || fail 'no checkpoint at the end'
	git checkpoint list --json | jq -e --arg agent "$agent" \
		'.checkpoints | all(.source == $agent or .source == "cli")' >/dev/null || fail 'sources'
	git checkpoint verify -q --all || fail 'verify'
	one_turn
	result 'edit, shell, MCP tool, parallel calls, sub-agent'
}

in_a_subdirectory() {
	project sub
	"$kit/drive.sh" --home "$agent"
	install --user
	drive sub 'write:d1;shell:d2'
	saved_before sub/d1 sub/s.txt
	saved_before sub/d2 sub/d1
	result 'started in a subdirectory, with --user'
}

in_a_linked_worktree() {
	project main
	git worktree add -q ../linked 2>/dev/null || git worktree add -qf ../linked
	cd ../linked || exit
	work=$PWD
	install
	KIT_TRUSTED=$KIT_HOME/work/$agent/main drive . 'write:l1;shell:l2'
	saved_before l1
	saved_before l2 l1
	git -C "$KIT_HOME/work/$agent/main" checkpoint list --json 2>/dev/null |
		jq -e --arg agent "$agent" '.checkpoints | any(.source == $agent) | not' >/dev/null || fail 'the wrong tree'
	result 'in a linked worktree'
	cd / && rm -rf "$work"
}

without_the_program() {
	project none
	install
	mkdir -p "$KIT_HOME/bin"
	KIT_PATH=/usr/local/bin:/usr/bin:/bin drive . 'shell:n1;write:n2'
	command -v git-checkpoint >/dev/null
	test -e n1 && test -e n2 || fail "the tools did not run: $(tail -5 "$KIT_HOME/out")"
	result 'without our program, tools run'
}

# Claude's own worktrees: it goes into one, changes something, and removes it with all that.
worktree_tools() {
	project trees
	install
	drive . 'enter;shell:w1;shell:w2;leave'
	saved=no
	for store in "$KIT_STORES"/*/; do
		for ref in $(git --git-dir="$store" for-each-ref --format='%(objectname)' refs/ 2>/dev/null); do
			git --git-dir="$store" ls-tree --name-only "$ref" 2>/dev/null | grep -qx w2 && saved=yes
		done
	done
	test $saved = yes || fail 'what was in the worktree is in no checkpoint'
	result 'what its own worktree had'
}

bad=0
test $# -gt 0 || set -- claude-code codex gemini-cli copilot qwen-code opencode
for agent; do
	get_agent "$agent" || { echo "not ok - $agent: cannot be installed"; failures=$((failures + 1)); continue; }
	tools
	in_a_subdirectory
	in_a_linked_worktree
	without_the_program
	test "$agent" != claude-code || worktree_tools
done
exit $((failures > 0))
