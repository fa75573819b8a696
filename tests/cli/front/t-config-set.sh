#!/bin/sh
# SPDX-License-Identifier: MIT
# config changes settings: the file of the store, or the user's.

. "$(dirname "$0")/../../lib/harness.sh"

config() {
	git-checkpoint config "$@"
}

user_file() {
	echo "$XDG_CONFIG_HOME/git-checkpoint/config"
}

store_file() {
	echo "$(store_dir)/checkpoint/config"
}

test_a_value_is_set_for_this_folder() {
	git init -q
	echo 1 >a
	git-checkpoint save -q
	fingerprint_raw .git >"$T/before"
	config maxCount 7 >"$T/out" 2>&1
	expect_eq '' "$(cat "$T/out")"
	expect_eq 7 "$(config maxCount)"
	expect_eq "$(store_file):$(grep -n maxCount "$(store_file)" | cut -d: -f1)	maxCount=7" \
		"$(config --origin maxCount)"
	config maxcount none
	expect_eq none "$(config maxCount)"
	expect_eq 1 "$(grep -c -i maxcount "$(store_file)")"
	fingerprint_raw .git >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_missing "$(user_file)"
	# only here
	mkdir "$T/other"
	(cd "$T/other" && expect_eq 50 "$(config maxCount)")
	config --unset maxCount
	expect_eq 50 "$(config maxCount)"
	expect_exit 1 git-checkpoint config --unset maxCount 2>"$T/err"
	expect_grep "'maxCount' is not set in " "$T/err"
}

test_before_the_first_checkpoint() {
	git init -q
	config exclude '*.log'
	touch a.log b
	git-checkpoint save -q
	expect_eq b "$(git-checkpoint show --files @)"
}

test_a_value_is_set_for_the_user() {
	config --global maxAge 3d
	expect_eq 3d "$(config maxAge)"
	expect_eq 'maxAge = 3d' "$(cat "$(user_file)")"
	expect_missing "$(store_dir)"
	mkdir "$T/other"
	(cd "$T/other" && expect_eq 3d "$(config maxAge)")
	config maxAge 5d
	expect_eq 5d "$(config maxAge)"
	config --global --unset maxAge
	expect_eq '' "$(cat "$(user_file)")"
	expect_eq 5d "$(config maxAge)"
	expect_exit 129 git-checkpoint config --global maxAge 2>"$T/err"
	expect_grep "'--global' needs a key and a value" "$T/err"
	expect_exit 129 git-checkpoint config --origin maxAge 2d 2>"$T/err"
}

test_comments_and_other_keys_stay() {
	mkdir -p "$(dirname "$(user_file)")"
	printf '%s\n' '# mine' '' '	maxCount = 3   ; few' 'threads=2' '' '# for dumps' \
		'[capture "db"]' '	save = dump # all' 'maxCount = 9' >"$(user_file)"
	config --global maxCount 4
	config --global compression 6
	config --global exclude 'a b'
	printf '%s\n' '# mine' '' '	maxCount = 4   ; few' 'threads=2' 'compression = 6' \
		'exclude = a b' '' '# for dumps' '[capture "db"]' '	save = dump # all' \
		'maxCount = 9' >"$T/expected"
	expect_same "$T/expected" "$(user_file)"
	config --global --unset threads
	grep -v threads "$T/expected" >"$T/less"
	expect_same "$T/less" "$(user_file)"
	# no key before the sections
	printf '%s\n' '# top' '' '# for dumps' '[capture "db"]' 'save = x' >"$(user_file)"
	config --global maxCount 4
	printf '%s\n' '# top' '' 'maxCount = 4' '# for dumps' '[capture "db"]' 'save = x' >"$T/expected"
	expect_same "$T/expected" "$(user_file)"
	# line endings, a missing one, and the mode
	printf 'maxCount = 1\r\nthreads = 2' >"$(user_file)"
	chmod 640 "$(user_file)"
	config --global maxCount 2
	config --global compression 3
	printf 'maxCount = 2\r\nthreads = 2\r\ncompression = 3\r\n' | cmp - "$(user_file)"
	expect_eq 640 "$(stat -c %a "$(user_file)")"
	expect_eq 3 "$(config compression)"
}

test_a_link_stays_a_link() {
	mkdir -p "$(dirname "$(user_file)")" "$T/dotfiles"
	echo 'maxCount = 3' >"$T/dotfiles/checkpoint"
	ln -s "$T/dotfiles/checkpoint" "$(user_file)"
	config --global maxCount 4
	test -L "$(user_file)"
	expect_eq 'maxCount = 4' "$(cat "$T/dotfiles/checkpoint")"
}

test_patterns_are_added() {
	config --add exclude '*.log'
	config --add exclude 'tmp/'
	expect_eq '*.log tmp/' "$(config exclude | tr '\n' ' ' | sed 's/ $//')"
	expect_exit 5 git-checkpoint config exclude '*.o' 2>"$T/err"
	expect_grep "'exclude' has several values" "$T/err"
	config --unset exclude
	expect_eq '' "$(config exclude)"
	config exclude '*.o'
	config exclude '*.a'
	expect_eq '*.a' "$(config exclude)"
	expect_exit 129 git-checkpoint config --add maxCount 3 2>"$T/err"
	expect_grep "'maxCount' has one value" "$T/err"
}

test_what_is_wrong_is_refused() {
	git-checkpoint save -q
	config maxCount 3
	cp "$(store_file)" "$T/before"
	while IFS='|' read -r key value message; do
		expect_exit 129 git-checkpoint config "$key" "$value" 2>"$T/err" >&2
		expect_grep "$message" "$T/err"
	done <<-'END'
		maxCount|many|bad value 'many' for 'maxCount': expected a number or 'none'
		maxAge|soon|bad value 'soon' for 'maxAge': expected a duration
		color|red|'auto', 'always' or 'never'
		maxCuont|3|unknown setting 'maxCuont'; did you mean 'maxCount'?
		nonsense|3|unknown setting 'nonsense'
		checkpoint.maxCount|3|unknown setting 'checkpoint.maxCount'; did you mean 'maxCount'?
		maxCount|maxAge|'maxAge' is a setting, too; use '--get'
		exclude|color|use '--get'
		exclude|a # b|cannot be written
	END
	expect_exit 129 git-checkpoint config exclude "$(printf 'a\nmaxCount = 9')" 2>"$T/err"
	expect_exit 129 git-checkpoint config exclude ' a' 2>"$T/err"
	expect_exit 129 git-checkpoint config maxCount 3 4 2>"$T/err"
	expect_exit 129 git-checkpoint config --unset 2>"$T/err"
	expect_exit 129 git-checkpoint config --unset maxCuont 2>"$T/err"
	expect_grep 'did you mean' "$T/err"
	expect_same "$T/before" "$(store_file)"
}

test_a_bad_value_can_be_corrected() {
	git-checkpoint save -q
	echo 'maxCount = many' >"$(store_file)"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	config maxCount 5
	expect_eq 5 "$(config maxCount)"
	# but what cannot be read is not written
	echo 'no sense' >"$(store_file)"
	expect_exit 128 git-checkpoint config maxCount 6 2>"$T/err"
	expect_grep "checkpoint/config:1: neither" "$T/err"
	expect_eq 'no sense' "$(cat "$(store_file)")"
}

test_who_has_the_last_word_is_told() {
	git init -q
	git-checkpoint save -q
	git config checkpoint.maxCount 8
	config --global maxCount 4 2>"$T/err"
	expect_grep "warning: 'maxCount' is '8' here, which comes from git config" "$T/err"
	config maxCount 5 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	GIT_CHECKPOINT_MAX_COUNT=9 git-checkpoint config maxCount 6 2>"$T/err"
	expect_grep 'GIT_CHECKPOINT_MAX_COUNT' "$T/err"
	expect_eq 6 "$(config maxCount)"
}

test_json() {
	config --json maxCount 5 >"$T/out"
	expect_eq "{\"key\":\"maxCount\",\"value\":\"5\",\"file\":\"$(store_file)\",\"warnings\":[]}" \
		"$(jq -c . "$T/out")"
	config --json --unset maxCount >"$T/out"
	expect_eq null "$(jq -c .value "$T/out")"
	expect_exit 129 git-checkpoint config --json maxCount x >"$T/out"
	expect_eq 129 "$(json .error.code "$T/out")"
}

test_two_at_once_lose_nothing() {
	git-checkpoint save -q
	pids=
	for pattern in a b c d e f; do
		git-checkpoint config --global --add exclude $pattern &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid"
	done
	expect_eq 'a b c d e f' "$(config exclude | sort | tr '\n' ' ' | sed 's/ $//')"
}

test_a_killed_change_leaves_the_old_or_the_new_one() {
	git-checkpoint save -q
	config maxCount 3
	with_faults write,fsync,rename 0 kill git-checkpoint config maxCount 3
	total=$(cat "$T/faults")
	test "$total" -gt 2
	at=1
	while test $at -le "$total"; do
		config maxCount 3
		expect_exit 137 with_faults write,fsync,rename $at kill git-checkpoint config maxCount 44
		value=$(config maxCount)
		test "$value" = 3 || test "$value" = 44 || fail "killed at $at: '$value'"
		at=$((at + 1))
	done
}

test_completion() {
	git-checkpoint --complete git-checkpoint config '' >"$T/out"
	expect_grep '^ maxCount	' "$T/out"
	expect_no_grep '^ true' "$T/out"
	expect_eq 'true false' "$(git-checkpoint --complete git-checkpoint config hookQuiet '' |
		cut -f1 | xargs)"
	expect_eq 'auto always never' "$(git-checkpoint --complete git-checkpoint config color '' |
		cut -f1 | xargs)"
	git-checkpoint --complete git-checkpoint config --get maxCount '' >"$T/out"
	expect_grep '^ maxAge	' "$T/out"
	expect_no_grep '^ maxCount	' "$T/out"
}

run_tests
