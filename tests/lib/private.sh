# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What the program keeps for itself in the store of the current directory, as the manual describes it.

# state <jq filter>: of the members of checkpoint/state
state() {
	jq -c "$1" "$(store_dir)/checkpoint/state"
}

# edit_state <jq filter>: replaces all members; jq may round the time of birth, so it does not get it
edit_state() {
	if test -e "$(store_dir)/checkpoint/state"; then
		sed 's/"born":\([0-9][0-9]*\)/"born":"@\1"/' "$(store_dir)/checkpoint/state"
	else
		echo '{"version":1}'
	fi | jq -c "$1" | sed 's/"born":"@\([0-9]*\)"/"born":\1/' >"$T/members"
	cat "$T/members" >"$(store_dir)/checkpoint/state"
}

# cache_section <name>: its data
cache_section() {
	"$LIB_DIR/cache-section.pl" "$(store_dir)/checkpoint/cache" "$1"
}

# put_cache_section <name>: its data from standard input, and nothing else in the cache
put_cache_section() {
	"$LIB_DIR/cache-section.pl" --put "$(store_dir)/checkpoint/cache" "$1"
}
