#!/bin/sh
# SPDX-License-Identifier: MIT
# All stores, whatever became of their folders; and whether a folder is the one it was.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/private.sh"

# new_folder <dir> [<content>]: outside of git, with one checkpoint
new_folder() {
	mkdir -p "$1"
	echo "${2:-x}" >"$1/file"
	git-checkpoint -C "$1" save -q
}

# new_project <dir> [<content>]: of git, with one commit and one checkpoint
new_project() {
	git init -q "$1"
	echo "${2:-x}" >"$1/file"
	git -C "$1" add file
	git -C "$1" commit -q -m "first of ${2:-x}"
	git-checkpoint -C "$1" save -q
}

stores() {
	git-checkpoint stores --json >"$T/out.json"
	git-checkpoint stores >"$T/out" 2>"$T/err"
}

# of <dir> <filter>: what the JSON says about a path
of() {
	jq -r --arg p "$1" ".stores[] | select(.path == \$p) | $2" "$T/out.json"
}

test_none() {
	git-checkpoint stores >"$T/out"
	expect_grep "^No stores in '$(checkpoint_home)'$" "$T/out"
	expect_eq '{"stores":[]}' "$(git-checkpoint stores --json)"
	# asking makes nothing
	expect_missing "$(checkpoint_home)"
}

test_keys_of_the_answer() {
	new_folder a
	stores
	jq -e '.stores | length == 1' "$T/out.json"
	expect_eq 'key path exists bytes checkpoints' \
		"$(json '.stores[0] | keys_unsorted | .[:5] | join(" ")' "$T/out.json")"
	expect_eq "$(basename "$(store_dir a)")" "$(json '.stores[0].key' "$T/out.json")"
	expect_eq "$PWD/a" "$(json '.stores[0].path' "$T/out.json")"
	expect_eq true "$(json '.stores[0].exists' "$T/out.json")"
	expect_eq 1 "$(json '.stores[0].checkpoints' "$T/out.json")"
	expect_eq present "$(json '.stores[0].state' "$T/out.json")"
	expect_eq "$(($(du -s -B1 "$(store_dir a)" | cut -f1)))" "$(json '.stores[0].bytes' "$T/out.json")"
	expect_grep '^Key  *Checkpoints  *Size  *Last use  *State  *Worktree$' "$T/out"
	expect_grep "  *1  .* present  *$PWD/a$" "$T/out"
	expect_grep '^1 store, ' "$T/out"
	test ! -s "$T/err"
}

test_takes_no_arguments() {
	expect_exit 129 git-checkpoint stores x 2>"$T/err"
	expect_eq '' "$(git-checkpoint stores -q)"
}

test_newest_use_first() {
	for name in one two three; do
		new_folder $name
	done
	touch -d '2020-01-01' "$(store_dir one)/checkpoint/log" "$(store_dir three)/checkpoint/log"
	# the log is newer than the newest checkpoint of none of these two: ids decide
	touch -d '2037-01-01' "$(store_dir two)/checkpoint/log"
	stores
	expect_eq "$PWD/two" "$(json '.stores[0].path' "$T/out.json")"
	expect_eq 2037-01-01T00:00:00Z "$(json '.stores[0].last_used' "$T/out.json")"
	expect_grep '^3 stores, ' "$T/out"
}

test_works_anywhere() {
	new_project a
	for place in / a/.git "$(checkpoint_home)" "$(store_dir a)"; do
		expect_eq 1 "$(git-checkpoint -C "$place" stores --json | jq '.stores | length')" "in $place"
	done
	git init -q --bare bare.git
	expect_eq 1 "$(git-checkpoint -C bare.git stores --json | jq '.stores | length')"
}

test_missing_is_said_and_nothing_more() {
	new_folder disk/a
	new_folder b
	before=$(fingerprint_raw "$(store_dir disk/a)")
	a=$(store_dir disk/a)
	mv disk "$T/unplugged"
	stores
	expect_eq 'false missing' "$(of "$PWD/disk/a" '"\(.exists) \(.state)"')"
	expect_eq 'true present' "$(of "$PWD/b" '"\(.exists) \(.state)"')"
	expect_grep " missing  *$PWD/disk/a$" "$T/out"
	# what is done elsewhere does not concern it
	echo y >b/file
	git-checkpoint -C b save -q
	git-checkpoint -C b prune -q --max-count 1 || :
	git-checkpoint -C b gc -q || :
	git-checkpoint -C b doctor -q --fix || :
	expect_eq "$before" "$(fingerprint_raw "$a")"
	mv "$T/unplugged" disk
	git-checkpoint -C disk/a diff --quiet
	git-checkpoint -C disk/a save >"$T/out" 2>&1
	expect_grep '^Nothing changed' "$T/out"
	expect_no_grep warning "$T/out"
}

test_odd_paths() {
	odd=$(printf 'new\nline "and" \\ \001 |')
	bad=$(printf 'bad\377utf8')
	quote='"quote'
	for name in "$odd" "$bad" "$quote" 'ünï' "it's"; do
		new_folder "$name"
	done
	stores
	jq -e '.stores | length == 5' "$T/out.json"
	of "$PWD/$odd" .path | grep -q line
	of "$PWD/ünï" .path | grep -q n
	# not UTF-8: as git prints it
	expect_eq "\"$PWD/bad\\377utf8\"" "$(jq -r '.stores[].path | select(test("bad"))' "$T/out.json")"
	of "$PWD/$quote" .key | grep -q .
	# a line each, and nothing that steers a terminal
	expect_eq 7 "$(wc -l <"$T/out")"
	expect_eq '' "$(tr -d '\n -~\200-\377' <"$T/out")"
	expect_grep 'bad\\377utf8"$' "$T/out"
}

test_a_damaged_one_hides_no_other() {
	for name in sound lost torn nul refs file link closed; do
		new_folder $name
	done
	rm -r "$(store_dir lost)/checkpoint"
	: >"$(store_dir torn)/checkpoint/worktree"
	head -c 20 /dev/zero >"$(store_dir nul)/checkpoint/worktree"
	rm -r "$(store_dir refs)/refs"
	rm -r "$(store_dir file)"
	echo x >"$(store_dir file)"
	rm -r "$(store_dir link)"
	ln -s / "$(store_dir link)"
	stores
	jq -e '.stores | length == 8' "$T/out.json"
	expect_eq 'true 1 present null' \
		"$(of "$PWD/sound" '"\(.exists) \(.checkpoints) \(.state) \(.problem)"')"
	expect_eq 'present 0' "$(of "$PWD/refs" '"\(.state) \(.checkpoints)"')"
	for name in lost torn nul file link; do
		key=$(basename "$(store_dir $name)")
		expect_eq damaged "$(jq -r ".stores[] | select(.key == \"$key\") | .state" "$T/out.json")" $name
		expect_grep "^warning: $key: " "$T/err"
		expect_grep "^$key .* damaged  *?$" "$T/out"
	done
	expect_no_grep "$(basename "$(store_dir sound)")" "$T/err"
	chmod 0 "$(store_dir closed)"
	as_nobody git-checkpoint stores --json >"$T/out.json"
	jq -e '.stores | length == 8' "$T/out.json"
	expect_eq true "$(of "$PWD/sound" .exists)"
}

test_set_aside_and_strangers() {
	new_folder a
	home=$(checkpoint_home)
	mv "$(store_dir a)" "$(store_dir a).replaced-20260101_000000"
	mkdir "$home/tmp_ckpt_abcdef" "$home/0123" "$home/0123456789abcdeg" "$home/0123456789ABCDEF"
	: >"$home/lock"
	stores
	jq -e '.stores | length == 1' "$T/out.json"
	expect_eq set-aside "$(of "$PWD/a" .state)"
	expect_eq 1 "$(of "$PWD/a" .checkpoints)"
	expect_grep " set-aside  *$PWD/a$" "$T/out"
	test ! -s "$T/err"
}

test_asking_writes_nothing() {
	new_project a
	new_folder b
	mv b c
	rm "$(store_dir a)/HEAD"
	before=$(fingerprint_raw "$(checkpoint_home)")
	stores
	(cd c && stores)
	(cd a && stores)
	expect_eq "$before" "$(fingerprint_raw "$(checkpoint_home)")"
}

# ---- moved --------------------------------------------------------------------------

test_moved_is_recognised_in_the_new_place() {
	new_project a
	mv a 'new place'
	stores
	expect_eq missing "$(of "$PWD/a" .state)"
	old=$PWD/a
	mkdir 'new place/sub'
	cd 'new place/sub'
	stores
	expect_eq 'moved false' "$(of "$old" '"\(.state) \(.exists)"')"
	expect_eq "${PWD%/sub}" "$(of "$old" .moved_to)"
	expect_grep "^'$old' moved to '${PWD%/sub}'; to adopt it: git checkpoint relink $old$" "$T/out"
	cd ../..
	# another folder is none of its business
	mkdir other
	cd other
	stores
	expect_eq missing "$(of "$old" .state)"
}

test_moved_outside_of_git_also_from_below() {
	new_folder a
	old=$PWD/a
	mkdir -p a/b/c
	mv a moved
	cd moved/b/c
	stores
	expect_eq "moved ${PWD%/b/c}" "$(of "$old" '"\(.state) \(.moved_to)"')"
}

# The inode is another, but the history is the same and the old place is empty.
test_moved_to_another_disk() {
	new_project a
	old=$PWD/a
	cp -r a b
	cd b
	stores
	expect_eq 'present null' "$(of "$old" '"\(.state) \(.moved_to)"')"
	cd ..
	rm -rf a
	cd b
	stores
	expect_eq "moved $PWD" "$(of "$old" '"\(.state) \(.moved_to)"')"
	# with checkpoints of its own it is its own
	git-checkpoint save -q
	stores
	expect_eq 'missing null' "$(of "$old" '"\(.state) \(.moved_to)"')"
}

test_mounted_twice_is_not_moved() {
	new_folder a
	ln -s a link
	cd link
	stores
	expect_eq present "$(of "$(pwd -P)" .state)"
}

# With the folder gone from its path, every command that finds nothing says where to look.
test_a_hint_where_nothing_is_found() {
	new_project a
	new_folder b
	mv a c
	mv b d
	for dir in c d; do
		test $dir = c && old=$PWD/a || old=$PWD/b
		hint="checkpoints of this folder are kept under its old path '$old'; to adopt them: git checkpoint relink $old"
		for command in list status 'list --json' log; do
			# shellcheck disable=SC2086 # words
			git-checkpoint -C $dir $command >"$T/out" 2>"$T/err"
			test "$command" != 'list --json' || said "$T/out" >>"$T/err"
			expect_eq "warning: $hint" "$(grep '^warning' "$T/err")" "$command in $dir"
		done
		expect_exit 128 git-checkpoint -C $dir restore -y @ 2>"$T/err"
		expect_grep "^fatal: no checkpoints of '$PWD/$dir' yet; $hint$" "$T/err"
		git-checkpoint -C $dir save 2>"$T/err"
		expect_eq "warning: $hint" "$(cat "$T/err")" "save in $dir"
		# from then on it has its own
		git-checkpoint -C $dir list 2>"$T/err" >"$T/out"
		test ! -s "$T/err"
	done
}

test_no_hint_for_others() {
	new_project a
	git clone -q a b
	cp -r a c
	mkdir d
	rm -rf a
	for dir in b c d; do
		git-checkpoint -C $dir list 2>"$T/err" >"$T/out"
		expect_no_grep relink "$T/err"
		expect_exit 128 git-checkpoint -C $dir restore -y @ 2>"$T/err"
		expect_grep "'git checkpoint save' takes one$" "$T/err"
	done
}

# ---- created again at the same path -----------------------------------------------------

# warned <pattern>: the next save says it, in both forms, once; status before it too
warned() {
	git-checkpoint status >"$T/out" 2>"$T/err"
	expect_grep "^warning: this directory is not the one from which the checkpoints were taken: $1" "$T/err"
	git-checkpoint status --json >"$T/out"
	expect_grep "$1" "$T/out"
	cp -a "$XDG_STATE_HOME" "$T/kept"
	git-checkpoint save >"$T/out" 2>"$T/err"
	expect_grep "^warning: this directory is not the one from which the checkpoints were taken: $1" "$T/err"
	rm -rf "$XDG_STATE_HOME"
	mv "$T/kept" "$XDG_STATE_HOME"
	git-checkpoint save --json >"$T/out"
	expect_grep "$1" "$T/out"
	jq -e '.warnings | length == 1' "$T/out"
	unwarned
}

unwarned() {
	git-checkpoint save --json >"$T/out"
	jq -e '.warnings == []' "$T/out"
	git-checkpoint save --allow-empty --json >"$T/out"
	jq -e '.warnings == []' "$T/out"
	git-checkpoint status >"$T/out" 2>"$T/err"
	test ! -s "$T/err"
}

test_cloned_again() {
	new_project a
	cd a
	unwarned
	echo precious >untracked
	git-checkpoint save -q
	id=$(git-checkpoint list --json | jq -r '.checkpoints[0].id')
	cd ..
	git clone -q --bare a origin.git
	rm -rf a
	# checkpoints know the second, not more
	sleep 1
	git clone -q origin.git a
	cd a
	warned "it was created after '$id'; they are kept"
	# which is what they are for
	git-checkpoint restore -q -y "$id"
	expect_eq precious "$(cat untracked)"
	unwarned
}

test_another_project_in_its_place() {
	new_project a
	rm -rf a
	git init -q a
	cd a
	echo other >file
	git add file
	git commit -q -m other
	warned "it was created after 'chk_[0-9a-f_]*' and holds another project; they are kept"
	expect_eq 3 "$(git-checkpoint list --json | jq '.checkpoints | length')"
}

test_a_plain_folder_created_again() {
	new_folder a
	rm -r a
	mkdir a
	cd a
	warned "it was created after 'chk_"
}

test_the_same_directory_is_the_same() {
	new_project a
	cd a
	unwarned
	# whatever happens in it
	chmod 700 .
	touch -d 2001-01-01 .
	git checkout -q --orphan other
	git commit -q -m other
	unwarned
	# away and back
	mv ../a ../b
	mv ../b ../a
	unwarned
	rm -rf .git
	unwarned
	git init -q
	unwarned
	# another number of the device, as after the next start of the system
	edit_state '.identity.device = 424242'
	unwarned
	expect_eq false "$(state '.identity.device == 424242')"
}

test_a_damaged_identity_is_rewritten() {
	new_project a
	cd a
	state .identity >"$T/identity"
	for damage in '.identity = null' 'del(.identity)' '.identity = "x"' '.identity.born = "x"' \
		'del(.identity.inode)' '.identity.root += "0"' '.identity = []'; do
		edit_state "$damage"
		unwarned
		state .identity >"$T/now"
		expect_same "$T/identity" "$T/now"
	done
	# the whole file
	for damage in ': >"$file"' 'rm "$file"' 'head -c 50 /dev/zero >"$file"' 'truncate -s -5 "$file"' \
		'echo x >>"$file"'; do
		# shellcheck disable=SC2034 # what damages it uses it
		file=$(store_dir)/checkpoint/state
		eval "$damage"
		unwarned
		state .identity >"$T/now"
		expect_same "$T/identity" "$T/now"
	done
}

run_tests
