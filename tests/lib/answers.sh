# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the test that the manual has every key of a JSON answer: such answers; sourced after harness.sh.

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
