# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of retention; sourced after harness.sh and restore.sh.

# made <reason> [<option>...]: another state, saved; its id is left in $id
made() {
	echo "$1" >a
	save -m "$@"
}

# reasons: of all checkpoints, oldest first, in one line
reasons() {
	git-checkpoint list --json >"$T/list.json"
	json '[.checkpoints[].reason] | reverse | join(" ")' "$T/list.json"
}

# told_gone: reasons of the checkpoints that the last drop or prune (see restoring) removed, in order
told_gone() {
	told '[.removed[].reason] | join(" ")'
}

# store_sound: manifest, latest and stock git agree with the refs; no litter is left
store_sound() {
	store=$(store_dir)
	git --git-dir="$store" for-each-ref --format='%(refname:lstrip=2)' refs/checkpoints >"$T/refs"
	sed -n 's/^|.*| \(chk_[0-9a-f_]*\) |.*/\1/p' "$store/checkpoint-manifest.md" >"$T/manifest"
	# the manifest is in the order of saving
	newest=$(tail -n 1 "$T/manifest")
	sort -o "$T/manifest" "$T/manifest"
	expect_same "$T/refs" "$T/manifest"
	if test -s "$T/refs"; then
		expect_eq "$(git --git-dir="$store" rev-parse "refs/checkpoints/$newest")" \
			"$(git --git-dir="$store" rev-parse latest)" 'latest'
		git-checkpoint verify --all >"$T/verified" || {
			cat "$T/verified"
			fail 'verify'
		}
	else
		expect_missing "$store/refs/heads/latest"
	fi
	git --git-dir="$store" fsck --strict >"$T/fsck" 2>&1 || {
		cat "$T/fsck"
		fail 'fsck'
	}
	expect_no_grep 'missing\|error\|broken' "$T/fsck"
	expect_eq '' "$(find "$store" -name '*tmp_ckpt_*' -o -name '*.lock' ! -name gc.lock)" 'litter'
}

# kilobytes: of the store, as du sees it
kilobytes() {
	du -sk "$(store_dir)" | cut -f1
}

# logged <action>: "<id> <reason>" of all such lines of the log, oldest first
logged() {
	git-checkpoint log --json >"$T/log.json"
	jq -r --arg a "$1" '.entries | reverse[] | select(.action == $a) | .id + " " + .reason' "$T/log.json"
}

# start_gc: in the background, with $T/bin/git in place of git, which says in $T/packing that it runs;
# its process is $gc, its answer in $T/gc.json
start_gc() {
	chmod +x "$T/bin/git"
	PATH="$T/bin:$PATH" git-checkpoint gc --json >"$T/gc.json" 2>"$T/gc.err" &
	gc=$!
	while ! test -e "$T/packing"; do
		kill -0 $gc
		sleep 0.05
	done
}
