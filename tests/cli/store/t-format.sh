#!/bin/sh
# SPDX-License-Identifier: MIT
# A reader that knows nothing but git-checkpoint-format(5), tests/lib/read-store.pl, agrees with the
# program about all that a store has.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/private.sh"
. "$LIB_DIR/gitstate.sh"

read_store() {
	"$LIB_DIR/read-store.pl" "$(store_dir)" "$@"
}

# same_json <file> <file>
same_json() {
	jq -S . "$1" >"$T/first.json"
	jq -S . "$2" >"$T/second.json"
	expect_same "$T/first.json" "$T/second.json"
}

# The ids, of the program, in the order of saving.
program_ids() {
	git checkpoint list --json | jq -r '.checkpoints | reverse[].id'
}

# All checkpoints of the store: record, state hash and its lines.
expect_all_read() {
	program_ids >"$T/ids"
	test -s "$T/ids"
	read_store ids >"$T/read"
	expect_same "$T/ids" "$T/read"
	while read -r id; do
		git checkpoint show --json "$id" >"$T/answer"
		jq 'del(.restore_command, .changed_files, .captures, .title, .session)' "$T/answer" >"$T/shown"
		read_store record "$id" >"$T/read"
		same_json "$T/shown" "$T/read"
		git checkpoint show --hashes "$id" >"$T/shown"
		read_store hashes "$id" >"$T/read"
		cmp "$T/shown" "$T/read" || fail "the lines of '$id' differ"
		expect_eq "$(state_hash <"$T/read")" "$(json .hash "$T/answer")" hash
	done <"$T/ids"
}

test_records_and_state_hashes_of_odd_trees() {
	require jq
	for seed in 1 2 3; do
		make_tree $seed 60
		git checkpoint save -q -m "tree $seed"
		damage_tree $seed
		git checkpoint save -q -m "tree $seed, damaged"
	done
	expect_all_read
	expect_eq 6 "$(wc -l <"$T/ids")" checkpoints
}

test_the_order_of_saving_after_the_clock_jumped() {
	require jq faketime
	for offset in +0d +300d +1d +200d +301d +0d; do
		echo "$offset" >a
		fake -f $offset git checkpoint save -q --allow-empty -m "$offset"
	done
	expect_all_read
	expect_eq 6 "$(wc -l <"$T/ids")" checkpoints
}

test_paths_are_in_byte_order_and_not_in_that_of_trees() {
	require jq
	mkdir a a.b a-b
	echo 1 >a.c
	echo 2 >a0
	ln -s nowhere a.d
	git checkpoint save -q
	expect_all_read
	git checkpoint show --hashes @ | tr '\0' '\n' | sed 's/.* //' | tr '\n' ' ' >order
	expect_eq 'a a-b a.b a.c a.d a0 ' "$(cat order)"
}

test_every_field_of_a_record() {
	require jq
	git init -q
	mkdir sub
	echo 1 >sub/a
	echo 1 >b
	chmod 600 b
	git add .
	git commit -q -m 1
	printf 'a\0b' >"$T/nul"
	printf 'no \377 text' >"$T/bytes"
	git checkpoint save -q -m 'several
lines | with a bar' --source 'me | "you"' --step 7 --expires 2d --pin \
		--state 'a/b=c' --state .git=x --state 'ü %=y' --state empty= --state 'quoted="q"' \
		--state-file "nul=$T/nul" --state-file "bytes=$T/bytes"
	git checkpoint save -q --allow-empty -m "$(printf 'not \377 utf-8')" --source ' blanks '
	git checkpoint save -q --allow-empty -m '"quoted"' --include-ignored --include-sensitive -- sub
	git checkpoint save -q --state-only --state k=v
	git switch -q -c 'other/branch'
	git checkpoint save -q --allow-empty
	expect_all_read
	# pins of later
	git checkpoint unpin -q @~4
	git checkpoint pin -q @
	git checkpoint pin -q --name good @~1
	expect_all_read
	# what stock git has packed
	git --git-dir="$(store_dir)" pack-refs --all
	expect_missing "$(store_dir)/refs/checkpoints/$(program_ids | head -n 1)"
	expect_all_read
	git --git-dir="$(store_dir)" gc -q
	expect_all_read
}

test_the_state_of_the_repository() {
	require jq
	make_project
	git checkpoint save -q
	echo staged >a
	git add a
	echo later >later
	git add -N later
	git rm -q --cached b
	git update-index --skip-worktree d/c
	git checkpoint save -q
	git update-index --no-skip-worktree d/c
	git rm -q -f --cached later
	git stash push -q -m 'a b'
	echo put aside >>d/c
	git -c rebase.autoStash=true rebase -q side || :
	git checkpoint save -q
	git add a
	git checkpoint save -q
	expect_all_read
}

test_what_is_missing_and_left_out() {
	require jq
	echo 1 >"$(printf 'odd\nname')"
	echo secret >.env
	echo secret >"$(printf '\377.pem')"
	mkfifo fifo
	head -c 3000 /dev/zero >large
	(expect_exit 3 git -c checkpoint.maxFileSize=2k checkpoint save -q 2>/dev/null)
	expect_all_read
	git checkpoint show --json @ >answer
	expect_eq '.env sensitive fifo special large oversize "\377.pem" sensitive ' \
		"$(json '[.skipped[] | .file + " " + .why + " "] | add' answer)"
	expect_eq 0.5 "$(json .confidence answer)"
}

test_captures() {
	require jq
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	printf '%s\n' '[capture "z"]' 'save = echo of z' 'auto = true' '[capture "a.1"]' \
		'type = database_savepoint' 'save = echo a' 'auto = true' >"$XDG_CONFIG_HOME/git-checkpoint/config"
	echo 1 >a
	git checkpoint save -q
	expect_all_read
	git --git-dir="$(store_dir)" log -1 --format=%B latest | sed -n 's/^Capture: //p' >taken
	printf '%s\n' 'z state_snapshot 5' 'a.1 database_savepoint 2' >expected
	expect_same expected taken
	expect_eq 'of z' "$(git --git-dir="$(store_dir)" cat-file blob latest^:captures/z)"
}

test_the_manifest() {
	require jq
	echo 1 >a
	git checkpoint save -q -m 'a | b \ c' --step 3
	echo 2 >a
	git checkpoint save -q -m "$(printf 'two\nlines \377')" --source 'x|y'
	echo 3 >a
	git checkpoint save -q -m 'ends in \'
	git checkpoint list --json >answer
	jq '[.checkpoints | reverse[] | {hash: .commit[:8], created_at,
		reason: (.reason | gsub("\n"; " ")), source, id, step, files_changed}]' answer >expected
	read_store manifest >told
	same_json expected told
}

test_the_audit_trail() {
	require jq
	for i in 1 2 3; do
		echo $i >a
		git checkpoint save -q -m "$(printf 'save \377 %s' $i)"
	done
	git checkpoint restore -q -y @~2
	git checkpoint undo -q -y
	git checkpoint drop -q --force @
	git checkpoint log --json | jq .entries >shown
	test "$(jq length shown)" -ge 6
	read_store log >told
	same_json shown told
	# a line that was torn
	printf '{"at":"20' >>"$(store_dir)/checkpoint/log"
	read_store log >told
	same_json shown told
}

test_the_journal_and_the_stack_of_undo() {
	require jq
	git init -q
	name=$(printf 'odd\n\377')
	mkdir d
	for i in 1 2 3; do
		echo $i >"$name"
		echo $i >d/x
		git checkpoint save -q
	done
	program_ids >ids
	git checkpoint restore -q -y "$(sed -n 2p ids)" -- "$name" d
	git checkpoint restore -q -y "$(sed -n 1p ids)"
	git checkpoint undo -q -y
	read_store undo >told
	expect_eq 2 "$(json '.restores | length' told)"
	expect_eq 1 "$(json .done told)"
	expect_eq '"odd\n\377" d' "$(json '.restores[0].paths | sort | join(" ")' told)"
	expect_eq '' "$(json '.restores[0].after' told)"
	test -n "$(json '.restores[1].after' told)" || fail 'what redo leads to is not there'

	# killed at the first change that comes after the journal
	at=1
	cp -a "$(store_dir)" "$T/before"
	while :; do
		test $at -lt 200 || fail 'no restore left a journal'
		rm -rf "$(store_dir)" .git-checkpoint-restore-*
		cp -a "$T/before" "$(store_dir)"
		(with_faults rename,link,unlink $at kill git-checkpoint restore -q -y --reason 'to test' \
			--no-delete "$(sed -n 1p ids)" -- "$name" >/dev/null 2>&1) || :
		test ! -e "$(store_dir)/checkpoint/journal" || break
		at=$((at + 1))
	done
	read_store journal >told
	git checkpoint status --json >answer 2>/dev/null
	expect_eq "$(json '.interrupted_restore | .target + " " + .safety_checkpoint' answer)" \
		"$(json '.target + " " + .safety' told)"
	expect_eq '["kind","made","modes","no_delete","paths","reason","replaying","safety","source","staging","target","undo","version"]' \
		"$(jq -c keys told)"
	expect_eq 'restore true "odd\n\377" to test false' \
		"$(json '"\(.kind) \(.no_delete) \(.paths[0]) \(.reason) \(.replaying)"' told)"
	for staging in $(json .staging told); do
		expect_exists "$staging"
	done
	git checkpoint restore -q --continue 2>/dev/null
	expect_missing "$(store_dir)/checkpoint/journal"
}

test_the_stat_cache() {
	require jq
	git init -q
	make_tree 4 80
	echo 'x' >.gitignore
	git checkpoint save -q --include-ignored --include-sensitive
	read_store statcache >told
	git checkpoint show --files --json @ >answer
	expect_eq "$(json .commit answer)" "$(json .commit told)"
	expect_eq true "$(json .packs_agree told)"
	expect_eq "$(tr -d - </proc/sys/kernel/random/boot_id)" "$(json .boot told)"
	expect_eq "$(stat -c %d .)" "$(json .dev told)"
	# files: modes, contents, places
	git checkpoint show --hashes @ | tr '\0\n' '\n?' >expected
	"$LIB_DIR/read-store.pl" "$(store_dir)" hashes "$(json .id answer)" | tr '\0\n' '\n?' >lines
	expect_same expected lines
	cut -c 8-71 expected | grep -v e3b0c44298fc1c149afbf4c8996fb924 | sort >expected-sums
	jq -r '.entries[] | select(.kind == 0 or .kind == 1) | .sha256' told |
		grep -v e3b0c44298fc1c149afbf4c8996fb924 | sort >sums
	expect_same expected-sums sums
	jq -r '.entries[] | select(.kind == 0 or .kind == 1) | .oid' told | sort >blobs
	git --git-dir="$(store_dir)" ls-tree -r latest | grep ' blob ' | cut -d ' ' -f 3 | cut -f 1 | sort >expected
	expect_same expected blobs
	jq -r '.entries[] | .tree | values' told | sort >trees
	{
		git --git-dir="$(store_dir)" rev-parse 'latest^{tree}'
		git --git-dir="$(store_dir)" ls-tree -r -t latest | grep ' tree ' | cut -d ' ' -f 3 | cut -f 1
	} | sort >expected
	expect_same expected trees
	jq -r '.entries[] | select(.kind == 0 and .path == ".gitignore") |
		"\(.size) \(.mtime) \(.ino) \(.mode)"' told >actual
	expect_eq "$(stat -c '%s %Y %i' .gitignore) 420" "$(cat actual)"
	# what each directory adds up to
	jq -r '.entries[] | select(has("files")) | select(.path == "") |
		"\(.files) \(.dirs) \(.bytes) \(.modes | map(.) | add)"' told >actual
	jq -r '[.entries[] | select(.kind == 0 or .kind == 1)] as $files | [.entries[] | select(.kind == 2)] as $dirs |
		"\($files | length) \($dirs | length) \([$files[].size] | add) " +
		"\(([$files[] | select(.kind == 0)] | length) + ($dirs | length))"' told >expected
	expect_same expected actual
	# still so when packs were replaced
	git checkpoint save -q --allow-empty
	git checkpoint gc -q
	read_store statcache >told
	expect_eq true "$(json .packs_agree told)"
}

test_the_notes_in_the_stat_cache() {
	require jq
	mkdir -p a/build b/nested
	touch a/build/x a/.env b/nested/y
	mkfifo b/pipe
	git init -q
	git init -q b/nested
	git checkpoint save -q
	read_store statcache >told
	jq -r '.entries[] | select(has("notes")) | .path as $dir | .notes[] |
		"\($dir) \(.kind) \(.why) \(.path)"' told | sort >actual
	printf '%s\n' 'a 0 4 a/.env' 'a 1 0 a/build/' 'a 4 0 a/build' 'b 0 5 b/pipe' 'b/nested 3 0 b/nested' >expected
	expect_same expected actual
}

test_the_small_files() {
	require jq
	git init -q
	echo 1 >a
	git add a
	git commit -q -m 1
	root=$(git rev-parse HEAD)
	git commit -q --allow-empty -m 2
	git checkpoint save -q --every 3 --source 's 1'
	git checkpoint save -q --every 3 --source 's 1'
	store=$(store_dir)
	expect_eq "$PWD" "$(cat "$store/checkpoint/worktree")"
	expect_eq "git-checkpoint 1" "$(cat "$store/checkpoint/version")"
	expect_eq 'ref: refs/heads/latest' "$(cat "$store/HEAD")"
	expect_eq "$PWD" "$(git config -f "$store/config" core.worktree)"
	# device and birth as stat(1) has them, as far as the file system tells
	born=$(stat -c %W .)
	expect_eq "$born" "$(state '.identity.born / 1000000000 | floor')" born
	expect_eq "{\"device\":$(stat -c %d .),\"inode\":$(stat -c %i .),\"root\":\"$root\"}" \
		"$(state '.identity | {device, inode, root}')"
	cache_section every >every
	expect_eq "2 $(cat /proc/sys/kernel/random/boot_id)" "$(json '"\(."3 s 1") \(.boot)"' every)"
	rm every
	# while a command runs, its checkpoint is held
	git checkpoint run -- sh -c "ls '$store/refs/keep/process'" >held
	expect_eq "$(program_ids | tail -n 1)" "$(sed 's/[.][0-9a-f]*$//' held)"
	# a ref that disappeared
	echo 2 >a
	git checkpoint save -q
	git checkpoint show --json @~1 >answer
	rm "$store/refs/checkpoints/$(json .id answer)"
	echo 3 >a
	git checkpoint save -q 2>/dev/null
	expect_eq "{$(json '"\"" + .id + "\":\"" + .commit[:8]' answer)\"}" "$(state .lost)"
}

test_the_files_of_a_workflow() {
	require jq
	echo 1 >a
	git checkpoint flow start w --phases A,B --approve A --state-dir s -q
	git checkpoint flow phase A start -q
	flow=$(store_dir)/checkpoint/flow
	git checkpoint flow status --json >answer
	jq '{workflow_id, started_at, phases, approve, state_dir}' answer >expected
	same_json expected "$flow/workflow.json"
	jq 'del(.in_progress, .waiting_for_approval, .next_phase, .phases, .approve, .state_dir)' answer >expected
	same_json expected "$flow/phase.json"
	git checkpoint flow archive --json >answer
	expect_grep '/checkpoint/flow-archive/000001_[0-9]\{8\}_[0-9]\{6\}_w"' answer
	expect_exists "$(json .path answer)/phase.json" "$(json .path answer)/workflow.json"
	expect_missing "$flow/phase.json"
}

run_tests
