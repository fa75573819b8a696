# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: medians of the samples, and what they must reach.

# median <file> <column>
median() {
	test -s "$1" || return 0
	cut -d' ' -f"$2" "$1" | sort -n | awk '{ v[NR] = $1 }
		END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

largest() {
	test -s "$1" || return 0
	cut -d' ' -f"$2" "$1" | sort -n | tail -n 1
}

# row <title> <ours> <git> <must> <goal> <format> <scale> [<key>]: with <git>, limits are ratios; with
# <key>, the peak memory of our samples of that name is told
row() {
	awk -v title="$1" -v ours="$2" -v stock="$3" -v must="$4" -v goal="$5" -v format="$6" -v scale="$7" \
		-v memory="${8:+$(largest "$SAMPLES/$8.ours" 2)}" '
	BEGIN {
		ratio = ours != "" && stock > 0 ? ours / stock : ""
		judged = stock != "" ? ratio : ours == "" ? "" : ours * scale
		verdict = judged == "" ? "-" : judged <= goal ? "goal" : judged <= must ? "ok" : "MISSED"
		unit = stock != "" ? "%.2f" : format
		printf "%-44s %10s %10s %6s %8s %8s %7s  %s\n", title,
			ours == "" ? "-" : sprintf(format, ours * scale),
			stock == "" ? "-" : sprintf(format, stock * scale),
			ratio == "" ? "-" : sprintf("%.2f", ratio),
			sprintf(unit, must), sprintf(unit, goal),
			memory == "" ? "-" : sprintf("%.1f MB", memory * 0.001024), verdict
	}'
}

row_time() { # <title> <key> <must> <goal>
	row "$1" "$(median "$SAMPLES/$2.ours" 1)" "$(median "$SAMPLES/$2.git" 1)" "$3" "$4" '%.3f s' 1 "$2"
}

row_disk() {
	row "$1" "$(median "$SAMPLES/$2.ours" 1)" "$(median "$SAMPLES/$2.git" 1)" "$3" "$4" '%.1f MB' 0.001024
}

row_memory() {
	row "$1" "$(largest "$SAMPLES/$2.ours" 2)" '' "$3" "$4" '%.0f MB' 0.001024
}

row_millis() {
	row "$1" "$(median "$SAMPLES/$2.ours" 1)" '' "$3" "$4" '%.1f ms' 1000 "$2"
}

rows_into() {
	row_time "restore --into: worktree add, and a copy" into 1.00 0.60
	row_time 'the same with --worktree' into-worktree 1.50 1.00
}

rows_sibling() {
	row_time 'first save in a sibling worktree: alone' sibling 0.80 0.60
	row_disk 'size of both stores: of the first' size-sibling 1.20 1.10
}

rows_many() {
	row_time "list -n 5 at $MANY checkpoints: at $FEW" many-list 1.2 1.1
	row_time 'status, the same' many-status 1.2 1.1
	row_time 'show @~3, the same' many-name 1.2 1.1
	row_time 'completion, the same' many-completion 1.2 1.1
	row_time 'save, nothing changed, the same' many-unchanged 1.2 1.1
	row_time "save at $MANY checkpoints: at $FEW" checkpoints 1.2 1.1
	row_time "save at maxCount $MANY: at maxCount $FEW" limit 1.3 1.2
}

head_of_table() {
	printf '%-44s %10s %10s %6s %8s %8s %7s  %s\n' work ours git ratio must goal memory verdict
}

rows_tree() {
	row_time 'first save' first 0.20 0.10
	row_time 'save, nothing changed' unchanged 0.25 0.20
	row_time 'save, 10 files changed' ten 0.30 0.25
	row_time 'restore, 10 files changed, 5 created' restore-ten 0.35 0.28
	row_time 'restore after the whole tree was deleted' restore-all 0.80 0.40
	rows_watch
}

rows_hooks() {
	row_time 'hook that decides "nothing": true' nothing 1.3 1.1
	row_time 'the program, called for nothing: true' nothing-program 2.0 1.3
	row_time "fetch of $REFS refs, our hook: one that exits" fetch-hook 1.3 1.1
	row_time "pack-refs of $REFS refs, the same" pack-hook 1.3 1.1
	row_time "fetch of $REFS refs, guard: no hook at all" fetch-guard 1.5 1.1
	row_time "pack-refs of $REFS refs, the same" pack-guard 1.5 1.1
	row_time 'rebase of 50, our hook: one that exits' rebase-hook 1.3 1.1
	row_time 'commit, the same' commit-hook 1.3 1.1
	row_time 'rebase of 50, guard: one that only answers' rebase-guard 1.5 1.2
	row_time 'commit, the same' commit-guard 1.3 1.1
	row_time 'checkout -f, nothing to save, the same' checkout-guard 3.0 2.0
	row_time 'checkout of a branch, saved before, the same' switch-guard 3.0 2.0
}

table() {
	head_of_table
	rows_tree
	rows_into
	rows_sibling
	rows_push
	row_disk 'store size after the first save' size-first 0.50 0.25
	row_disk "store size after $SAVES saves of 10 changes" size-many 0.50 0.25
	row_memory "peak memory, save of $(wc -l <"$SCRATCH/files") files" first 120 60
	rows_large
	row_millis 'list of 50' list 20 5
	row_millis 'completion' completion 20 5
	rows_many
	rows_lock
	rows_agents
	rows_hooks
}
