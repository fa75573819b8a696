#!/bin/sh
# SPDX-License-Identifier: MIT
# gc, prune and drop that are killed, or whose disk fails, at every single call that changes a file.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

# new_store: six checkpoints, one pinned, and the pack of a save that was killed; ids in $T/ids
new_store() {
	mkdir -p d/e empty
	seq 1 500 >text
	for i in 1 2 3 4 5 6; do
		echo $i >a
		echo $i >d/e/$i
		seq $i 300 >d/b
		sed -i "${i}0s/.*/line $i/" text
		git-checkpoint save -q -m $i
	done
	echo lost >d/lost
	seq 1 20000 >large
	FAULT_PATH=refs/checkpoints expect_exit 137 with_faults openat-create,rename,link 1 kill \
		git-checkpoint save -q
	rm d/lost large
	store=$(store_dir)
	git-checkpoint pin -q @~5
	git-checkpoint list --json | jq -r '.checkpoints[].id' | sort >"$T/ids"
	git-checkpoint show --json @~5 | jq -r .id >"$T/pinned"
	keep_stores
}

listed() {
	git-checkpoint list --json 2>"$T/err" | jq -r '.checkpoints[].id' | sort >"$T/listed"
	test ! -s "$T/err" || fail "$1: list: $(cat "$T/err")"
}

# sound <what>: whatever is listed is whole, and stock git is content
sound() {
	git --git-dir="$store" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "$1: fsck: $(cat "$T/fsck")"
	sed -i '/^notice: /d' "$T/fsck"
	test ! -s "$T/fsck" || fail "$1: fsck: $(cat "$T/fsck")"
	git-checkpoint verify --all -q >"$T/verify" 2>&1 || fail "$1: verify: $(cat "$T/verify")"
	listed "$1"
}

# all_there <what>: none of the six is lost
all_there() {
	sound "$1"
	cmp -s "$T/ids" "$T/listed" || fail "$1: there are only $(tr '\n' ' ' <"$T/listed")"
}

# some_there <what> [<id>...]: these are, and no others than there were
some_there() {
	some_what=$1
	shift
	sound "$some_what"
	for some; do
		grep -q "$some" "$T/listed" || fail "$some_what: $some is lost"
	done
	expect_eq '' "$(comm -13 "$T/ids" "$T/listed")" "$some_what: unknown checkpoints"
}

litter() {
	find "$(checkpoint_home)" -name 'tmp_*' -o -path '*/checkpoint/gc' -o -name '*.lock' ! -name gc.lock
}

# goes_on <what>: a save and a gc work, the manifest agrees, no litter is left
goes_on() {
	before=$(wc -l <"$T/listed")
	echo next >a
	git-checkpoint save -q -m next 2>"$T/err" || fail "$1: the next save: $(cat "$T/err")"
	git-checkpoint diff --quiet || fail "$1: the next save missed something"
	git-checkpoint gc -q 2>"$T/err" || fail "$1: the next gc"
	test ! -s "$T/err" || fail "$1: the next gc: $(cat "$T/err")"
	sound "$1, next"
	expect_eq $((before + 1)) "$(wc -l <"$T/listed")" "$1: checkpoints after the next save"
	expect_eq '' "$(litter)" "$1: litter"
	expect_eq 1 "$(find "$store/objects/pack" -name '*.pack' | wc -l)" "$1: packs"
	expect_eq $((before + 1)) "$(grep -c '^| [0-9a-f]\{8\} |' "$store/checkpoint-manifest.md")" "$1: manifest"
	echo 6 >a
}

# everywhere <what> <calls> <stride> <check>... -- <command>...: fails there, in that way
everywhere() {
	everywhere_do=$1 calls=$2 stride=$3
	shift 3
	check=
	while test "$1" != --; do
		check="$check $1"
		shift
	done
	shift
	stores_again
	with_faults "$calls" 0 "$everywhere_do" "$@" >/dev/null 2>&1
	total=$(cat "$T/faults")
	test "$total" -ge 8 || fail "only $total calls"
	at=$(begin_at "$stride")
	while test $at -le "$total"; do
		stores_again
		what="$everywhere_do at $at of $total${FAULT_STICKY:+ and from then on}"
		status=0
		with_faults "$calls" $at "$everywhere_do" "$@" >"$T/out" 2>"$T/err" || status=$?
		case $everywhere_do$status in
		kill137 | [A-Z]*0) ;;
		[A-Z]*128) grep -q '^fatal: ' "$T/err" || fail "$what: $(cat "$T/err")" ;;
		*) fail "$what: exit status $status: $(cat "$T/err")" ;;
		esac
		# shellcheck disable=SC2086 # ids have no blanks
		set_check "$what" $check
		goes_on "$what"
		at=$((at + ${STEP:-$stride}))
	done
}

# set_check <what> <function> [<id>...]
set_check() {
	set_what=$1 set_function=$2
	shift 2
	"$set_function" "$set_what" "$@"
}

# ---- gc ----

test_gc_can_be_killed_anywhere() {
	new_store
	everywhere kill $CHANGES 17 all_there -- git-checkpoint gc -q
}

test_gc_without_git_can_be_killed_anywhere() {
	new_store
	mkdir "$T/bin"
	for program in git-checkpoint env; do
		ln -s "$(command -v $program)" "$T/bin/"
	done
	everywhere kill $CHANGES 19 all_there -- env PATH="$T/bin" git-checkpoint gc -q
}

test_gc_on_a_full_disk() {
	new_store
	FAULT_PATH=$XDG_STATE_HOME
	FAULT_STICKY=1
	everywhere ENOSPC write,pwrite,openat-create,mkdir,rename,link 5 all_there -- git-checkpoint gc -q
}

test_gc_on_a_bad_disk() {
	new_store
	FAULT_PATH=$XDG_STATE_HOME
	everywhere EIO write,pwrite,fsync,fdatasync,rename,unlink,openat-create 13 all_there -- git-checkpoint gc -q
}

# While git looks for deltas, without the lock: then and a moment later.
test_gc_is_killed_while_git_works() {
	new_store
	seq 1 200000 >large
	seq 5 200000 >alike
	git-checkpoint save -q -m large
	rm large alike
	git-checkpoint list --json | jq -r '.checkpoints[].id' | sort >"$T/ids"
	keep_stores
	for i in 1 2 3 ${STEP:+4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20}; do
		stores_again
		git-checkpoint gc -q &
		pid=$!
		sleep "0.$(((i * 37 + TEST_SEED) % 30 + 10))"
		kill -9 $pid 2>/dev/null || :
		wait $pid || :
		all_there "killed, round $i"
		goes_on "killed, round $i"
	done
}

# What it started does not go on alone, writing into a store that others think is theirs.
test_git_does_not_outlive_gc() {
	new_store
	mkdir "$T/bin"
	cat >"$T/bin/git" <<-'END'
	#!/bin/sh
	echo $$ >"$T/child"
	exec sleep 30
	END
	chmod +x "$T/bin/git"
	PATH="$T/bin:$PATH" git-checkpoint gc -q &
	pid=$!
	while ! test -s "$T/child"; do
		sleep 0.05
	done
	kill -9 $pid
	wait $pid || :
	i=0
	while kill -0 "$(cat "$T/child")" 2>/dev/null; do
		i=$((i + 1))
		# one that nobody has waited for yet is dead, too
		! grep -q '^State:.*Z' "/proc/$(cat "$T/child")/status" 2>/dev/null || break
		test $i -lt 100 || fail 'git is still running'
		sleep 0.05
	done
	all_there 'git killed'
	goes_on 'git killed'
}

# A git that lies, or is none, costs nothing but deltas.
test_a_bad_git_does_no_harm() {
	new_store
	mkdir "$T/bin"
	for text in 'exit 1' 'echo nonsense' 'echo 0123456789012345678901234567890123456789' 'kill -9 $$' \
		'cat; echo' ': >&1'; do
		printf '#!/bin/sh\n%s\n' "$text" >"$T/bin/git"
		chmod +x "$T/bin/git"
		stores_again
		PATH="$T/bin:$PATH" git-checkpoint gc >"$T/out" 2>"$T/err" || fail "$text: $?: $(cat "$T/err")"
		expect_grep '^warning: ' "$T/err"
		all_there "$text"
		expect_eq '' "$(litter)" "$text: litter"
	done
}

# ---- prune and drop ----

test_prune_can_be_killed_anywhere() {
	new_store
	everywhere kill $CHANGES 23 some_there "$(cat "$T/pinned")" "$(tail -n 1 "$T/ids")" "$(sed -n 5p "$T/ids")" \
		-- git-checkpoint prune -q --max-count 2
}

test_prune_on_a_full_disk() {
	new_store
	FAULT_PATH=$XDG_STATE_HOME
	FAULT_STICKY=1
	everywhere ENOSPC write,pwrite,openat-create,mkdir,rename,link 7 \
		some_there "$(cat "$T/pinned")" "$(tail -n 1 "$T/ids")" -- git-checkpoint prune -q --max-count 2
}

test_prune_on_a_bad_disk() {
	new_store
	FAULT_PATH=$XDG_STATE_HOME
	everywhere EIO write,pwrite,fsync,fdatasync,rename,unlink,openat-create 19 \
		some_there "$(cat "$T/pinned")" "$(tail -n 1 "$T/ids")" -- git-checkpoint prune -q --max-count 2
}

# Of a store that was packed tightly: then git does the copying.
test_drop_can_be_killed_anywhere() {
	new_store
	git-checkpoint gc -q
	keep_stores
	third=$(sed -n 3p "$T/ids")
	others=$(sed 3d "$T/ids")
	# shellcheck disable=SC2086
	everywhere kill $CHANGES 17 some_there $others -- git-checkpoint drop -q "$third"
}

run_tests
