# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For t-docs.sh: JSON answers of commands that have several; sourced after harness.sh.

hooks_answers() {
	git checkpoint hooks install --guard --json
	rm -f .git/hooks/pre-rebase .git/git-checkpoint/pre-rebase
	(expect_exit 1 git checkpoint hooks status --json)
	git checkpoint hooks uninstall --json
	git checkpoint hooks install --agent claude-code --agent generic --json
	git checkpoint hooks uninstall --agent claude-code --json
}

# The same of watch; nobody watches afterwards.
watch_answers() {
	git checkpoint watch add --json
	git checkpoint watch status --json
	git checkpoint watch start --json
	git checkpoint watch status --json
	git checkpoint watch stop --json
	git checkpoint watch remove --json
}

# One answer of each kind.
flow_answers() {
	git checkpoint flow start w --phases A,B --approve A --json
	git checkpoint flow phase A start --json
	git checkpoint flow task t running --json
	git checkpoint flow status --json
	git checkpoint flow resume --json
	git checkpoint flow phase A complete --json
	git checkpoint flow approve A --json
	git checkpoint flow archive --json
	git checkpoint flow list --json
	git checkpoint flow start w --phases A --json
	echo '{}' >"$(git checkpoint status --json | jq -r .store)/checkpoint/flow/phase.json"
	(expect_exit 1 git checkpoint flow resume --json 2>/dev/null)
}

# With a checkpoint in which the file "a" has 1, and then one in which it has 2.
tried_answers() {
	git checkpoint try --json @ -- true >"$T/answers/try"
	git checkpoint bisect --json @~1 @ -- grep -q 1 a >"$T/answers/bisect" 2>"$T/err"
}

# elsewhere_answers: of export, branch and import, in $T/answers
elsewhere_answers() {
	git checkpoint export --patch -o "$T/patch" --json @ >"$T/answers/export"
	git checkpoint export --bundle -o "$T/bundle" -q @
	git checkpoint branch --json elsewhere @ >"$T/answers/branch"
	git checkpoint drop -q @
	git checkpoint import --json "$T/bundle" >"$T/answers/import"
	git init -q --bare "$T/hub"
	git checkpoint config -q project docs
	git checkpoint remote add --json hub "$T/hub" >"$T/answers/remote"
	git checkpoint remote list --json >>"$T/answers/remote"
	git checkpoint save -q --force -m again --allow-empty
	git checkpoint push --json --force >"$T/answers/push"
	git checkpoint handoff --json --force >"$T/answers/handoff"
	GIT_CHECKPOINT_MACHINE=other git checkpoint fetch --json >"$T/answers/fetch"
	GIT_CHECKPOINT_MACHINE=other git checkpoint takeover --json --yes >"$T/answers/takeover"
}
