# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034 # PART is for phase
#
# What tests/crash/t-crash*.sh have recorded: see crash.sh for phases.

saves() {
	phase save-first store git-checkpoint save -q -m first
	change_tree
	settle_edit
	phase save-second store git-checkpoint save -q -m second
	phase save-unchanged store git-checkpoint save -q
	echo more >>src/b
	settle_edit
	PART=1
	phase save-scope store git-checkpoint save -q src
	PART=
	phase save-state store git-checkpoint save -q --state key=value --pin
}

restores() {
	phase restore-whole restore git-checkpoint restore --yes @~1
	phase undo restore git-checkpoint undo --yes
	phase redo restore git-checkpoint redo --yes
	PART=1
	phase restore-paths restore git-checkpoint restore --yes @ src link
	PART=
	phase restore-no-delete restore git-checkpoint restore --yes --no-delete @~1
}

restores_all() {
	phase restore-many restore git-checkpoint restore --yes @~1
	phase undo-many restore git-checkpoint undo --yes
}

# One that was killed half-way, before.
goes_on() {
	phase continue restore git-checkpoint restore --continue
}

goes_back() {
	phase abort restore git-checkpoint restore --abort
}

lets_go() {
	phase pin store git-checkpoint pin @~4
	phase unpin store git-checkpoint unpin @~4
	phase drop store git-checkpoint drop @~4
	phase prune store git-checkpoint prune --max-count 3
	phase gc store git-checkpoint gc
	echo changed >>a
	settle_edit
	phase evict store env GIT_CHECKPOINT_MAX_COUNT=2 git-checkpoint save -q
	rm "$(the_store)/HEAD" "$(the_store)/checkpoint-manifest.md"
	sync "$(the_store)"
	phase doctor store git-checkpoint doctor --fix
}

hooks() {
	phase install edit git-checkpoint hooks install
	phase uninstall edit git-checkpoint hooks uninstall
	phase install-guard edit git-checkpoint hooks install --guard
	phase uninstall-guard edit git-checkpoint hooks uninstall
	phase install-agent edit git-checkpoint hooks install --agent claude-code
	phase uninstall-agent edit git-checkpoint hooks uninstall --agent claude-code
}

workflow() {
	phase flow-start flow git-checkpoint flow start w --phases A,B --approve A --state-dir here
	phase flow-phase flow git-checkpoint flow phase A start
	phase flow-task flow git-checkpoint flow task t running
	phase flow-complete flow git-checkpoint flow phase A complete
	phase flow-approve flow git-checkpoint flow approve A
	phase flow-fresh flow git-checkpoint flow start x --phases C --fresh
	phase flow-archive flow git-checkpoint flow archive
}

moved() {
	phase relink relink git-checkpoint relink "$R/old"
}
