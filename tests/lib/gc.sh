# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of gc; sourced after harness.sh and restore.sh.

# gc: the answer is left in $T/gc.json, warnings in $T/gc.err
gc() {
	git-checkpoint gc --json >"$T/gc.json" 2>"$T/gc.err" || {
		cat "$T/gc.json" "$T/gc.err"
		fail gc
	}
}

# gc_quietly: a gc without warnings
gc_quietly() {
	gc
	expect_eq '' "$(cat "$T/gc.err")" 'stderr of gc'
	expect_eq '[]' "$(json '.warnings | tostring' "$T/gc.json")" 'warnings of gc'
}

# many [<number>]: checkpoints of a tree that changes; fingerprints in $T/print.<id>, ids in $T/ids
many() {
	make_tree 3 40
	: >"$T/ids"
	many_i=0
	while test $many_i -lt "${1:-6}"; do
		many_i=$((many_i + 1))
		damage_tree $many_i
		echo $many_i >counter
		save --include-sensitive --include-ignored --force --allow-empty
		# shellcheck disable=SC2154 # set by save
		fingerprint . >"$T/print.$id"
		echo "$id" >>"$T/ids"
	done
	store=$(store_dir)
}

packs() {
	find "$(store_dir)/objects/pack" -name '*.pack' -printf '.\n' | wc -l
}

bytes() {
	du -sk "$(store_dir)" | cut -f1
}

# sound [<checkpoints>]: all verify, stock git is content, no litter, manifest = refs
sound() {
	store=$(store_dir)
	git --git-dir="$store" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "fsck: $(cat "$T/fsck")"
	expect_eq '' "$(cat "$T/fsck")" 'fsck'
	git-checkpoint verify --all --json >"$T/verify.json" 2>"$T/err" || fail "verify: $(cat "$T/verify.json")"
	expect_eq '' "$(cat "$T/err")" 'warnings of verify'
	expect_eq '' "$(find "$(checkpoint_home)" -name 'tmp_*' -o -path '*/checkpoint/gc')" 'litter'
	git --git-dir="$store" for-each-ref --format='%(refname:lstrip=2)' refs/checkpoints | sort >"$T/refs"
	git-checkpoint list --json | jq -r '.checkpoints[].id' | sort >"$T/listed"
	expect_same "$T/refs" "$T/listed"
	expect_eq "$(wc -l <"$T/refs")" "$(grep -c '^| [0-9a-f]\{8\} |' "$store/checkpoint-manifest.md")" 'manifest'
	test $# = 0 || expect_eq "$1" "$(wc -l <"$T/refs")" 'checkpoints'
}

# all_come_back: each checkpoint of "many" is restored as it was
all_come_back() {
	for c in $(sed -n '1p;4p;$p' "$T/ids"); do
		git-checkpoint restore --yes --force -q "$c" >/dev/null 2>"$T/err" || fail "restore $c: $(cat "$T/err")"
		fingerprint . >"$T/now"
		expect_same "$T/print.$c" "$T/now"
	done
}
