#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file of a store truncated, emptied, filled with NULs or deleted, and every directory
# removed, one after the other: nothing crashes, what is not hit stays intact, and doctor fixes
# the rest or says which checkpoint is beyond repair.
#
# CKPT_TEST_ROUNDS=all does everything to every file; else some get one of the four, others each
# time.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last
turn=$TEST_SEED

# A store in $T/keep with checkpoints, a restore and a pin; $all are its checkpoints, and in
# $T/need.<id> is what each of them needs, as stock git has it.
make_store() {
	mkdir d empty
	noise 4000 >d/one
	echo same >same
	save -m one
	first=$id
	noise 4000 >d/two
	chmod 600 d/two
	save -m two
	noise 4000 >d/three
	rm d/one
	save -m three
	echo lost >d/later
	restore "$first"
	git-checkpoint undo -q -y
	store=$(store_dir)
	git-checkpoint pin -q "$first"
	all=$(ls "$store/refs/checkpoints")
	for each in $all; do
		git-checkpoint show --hashes "$each" >"$T/hashes.$each"
		git --git-dir="$store" rev-list --objects "refs/checkpoints/$each" |
			cut -d' ' -f1 | sort >"$T/need.$each"
	done
	fingerprint . >"$T/fp.worktree"
	cp -a . "$T/tree"
	cp -a "$store" "$T/keep"
}

# Worktree and store as make_store left them.
begin_anew() {
	rm -rf "$(checkpoint_home)"
	mkdir -p "$(checkpoint_home)"
	chmod 700 "$(checkpoint_home)"
	cp -a "$T/keep" "$store"
	find . -mindepth 1 -delete
	cp -a "$T/tree/." .
}

# damage <kind> <file>
damage() {
	size=$(stat -c %s "$2")
	chmod u+w "$2"
	case $1 in
	half) truncate -s $((size / 2)) "$2" ;;
	empty) : >"$2" ;;
	nul) head -c "$size" /dev/zero >"$T/nul" && cat "$T/nul" >"$2" ;;
	gone) rm "$2" ;;
	esac
}

# hit_by <path in the store>: the checkpoints that need what is there
hit_by() {
	case $1 in
	refs/checkpoints/* | refs/keep/*/chk_*) # which may be one file with two names
		echo "${1##*/}"
		;;
	refs | refs/checkpoints)
		echo "$all"
		;;
	objects | objects/pack)
		echo "$all"
		;;
	objects/pack/*.pack | objects/pack/*.idx)
		git show-index <"$T/keep/${1%.*}.idx" | awk '{ print $2 }' | sort >"$T/in"
		for each in $all; do
			test -z "$(comm -12 "$T/in" "$T/need.$each")" || echo "$each"
		done
		;;
	esac
}

# run <statuses that are right> <command>...: none crashes, and none fails without a sentence
run() {
	run_right=$1 run_status=0
	shift
	"$@" >"$T/out" 2>"$T/err" || run_status=$?
	case " $run_right " in
	*" $run_status "*) ;;
	*)
		cat "$T/out" "$T/err"
		fail "$what: exit status $run_status: $*"
		;;
	esac
	test $run_status -lt 128 || expect_grep '^fatal: ' "$T/err"
	expect_no_grep 'Sanitizer' "$T/err"
}

# is_hit <id>
is_hit() {
	case " $hit " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# All that is not hit is listed, verifies, and one of it is restored.
rest_is_intact() {
	run 0 git-checkpoint list
	cp "$T/out" "$T/list"
	good=
	for each in $all; do
		if is_hit "$each"; then
			continue
		fi
		good=$each
		expect_grep "^$each" "$T/list"
		run 0 git-checkpoint verify "$each"
	done
	test -n "$good" || return 0
	run 0 git-checkpoint restore --yes "$good"
	git-checkpoint show --hashes "$good" >"$T/now"
	expect_same "$T/hashes.$good" "$T/now"
	run 0 git-checkpoint diff --quiet "$good"
}

# After doctor --fix, doctor is content, or names checkpoints; without them it is.
doctor_helps() {
	run '0 1' git-checkpoint doctor
	run '0 1' git-checkpoint doctor --fix
	run 0 git-checkpoint save -m after
	run '0 1' git-checkpoint doctor --json
	if test $run_status = 1; then
		cp "$T/out" "$T/doctor"
		beyond=$(jq -r '.problems[].what' "$T/doctor" |
			sed "s/^checkpoint '\(chk_[0-9a-f_]*\)'.*/\1/")
		for each in $beyond; do
			is_hit "$each" || {
				cat "$T/doctor"
				fail "$what: $each was not hit"
			}
			run 0 git-checkpoint drop --force "$each"
		done
		run 0 git-checkpoint doctor
	fi
	git --git-dir="$store" fsck --strict >"$T/fsck" 2>&1 || {
		cat "$T/fsck"
		fail "$what: fsck"
	}
	run 0 git-checkpoint verify --all
	# what is there has not become something else
	for each in $all; do
		test -e "$store/refs/checkpoints/$each" || {
			is_hit "$each" || fail "$what: $each is gone"
			continue
		}
		git-checkpoint show --hashes "$each" >"$T/now"
		expect_same "$T/hashes.$each" "$T/now"
	done
}

# try <kind> <path in the store>
try() {
	what="$2 $1"
	begin_anew
	damage "$1" "$store/$2"
	hit=$(hit_by "$2" | tr '\n' ' ')
	rest_is_intact
	echo "$turn" >new
	run 0 git-checkpoint save -m new
	doctor_helps
}

# try_all <path in the store>...: of the four kinds of damage, one in turn
try_all() {
	for file; do
		for kind in half empty nul gone; do
			turn=$((turn + 1))
			if test "${CKPT_TEST_ROUNDS:-}" = all || test $((turn % 9)) = 0; then
				try $kind "$file"
			fi
		done
	done
}

# files <find expression>...: of the store that was kept
files() {
	(cd "$T/keep" && find . -type f "$@" | sed 's,^\./,,' | sort)
}

test_files_that_git_reads() {
	make_store
	# shellcheck disable=SC2046 # names without blanks
	try_all $(files -path './info/*') $(files -maxdepth 1)
}

test_refs() {
	make_store
	# shellcheck disable=SC2046
	try_all $(files -path './refs/*')
}

test_private_files() {
	make_store
	# shellcheck disable=SC2046
	try_all $(files -path './checkpoint/*')
}

test_packs() {
	make_store
	# shellcheck disable=SC2046
	try_all $(files -path './objects/*')
}

# All in one, with deltas: what follows the damage is lost, the rest is not.
test_a_pack_of_gc() {
	make_store
	git-checkpoint gc -q
	rm -rf "$T/keep"
	cp -a "$store" "$T/keep"
	# shellcheck disable=SC2046
	try_all $(files -path './objects/*')
}

test_directories() {
	make_store
	for dir in $(cd "$T/keep" && find . -mindepth 1 -type d | sed 's,^\./,,' | sort); do
		turn=$((turn + 1))
		test "${CKPT_TEST_ROUNDS:-}" = all || test $((turn % 3)) = 0 || continue
		what="$dir removed"
		begin_anew
		rm -r "${store:?}/$dir"
		hit=$(hit_by "$dir" | tr '\n' ' ')
		rest_is_intact
		echo "$dir" >new
		run 0 git-checkpoint save -m new
		doctor_helps
		# nothing but the objects is needed to bring all back
		case $dir in
		objects | objects/pack) ;;
		*)
			expect_eq "$all" "$(cd "$store/refs/checkpoints" && for each in $all; do
				echo "$each"
			done)"
			for each in $all; do
				expect_exists "$store/refs/checkpoints/$each"
			done
			;;
		esac
	done
}

# Refs, manifest and all private files at once: the packs are enough.
test_nothing_but_packs_is_left() {
	make_store
	rm -r "$store/refs" "$store/checkpoint" "$store/checkpoint-manifest.md"
	what='nothing but packs'
	hit=
	run 0 git-checkpoint list
	expect_grep "checkpoints have lost their refs; 'git checkpoint doctor --fix'" "$T/err"
	run 0 git-checkpoint doctor --fix
	for each in $all; do
		expect_exists "$store/refs/checkpoints/$each"
	done
	doctor_helps
}

test_every_ref_of_nuls() {
	make_store
	what='all refs'
	hit=
	for each in $all; do
		damage nul "$store/refs/checkpoints/$each"
	done
	run 0 git-checkpoint list
	run 0 git-checkpoint doctor --fix
	rest_is_intact
	doctor_helps
}

run_tests
