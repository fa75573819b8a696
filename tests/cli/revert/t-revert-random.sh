#!/bin/sh
# SPDX-License-Identifier: MIT
# Six random edits with a checkpoint after each, and one more: taking back one of them gives what all
# the others give alone. If a later one concerns the same, it is a conflict, and nothing changes.
#
# REVERT_ROUNDS=<n> tries more; each has another seed.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/revert.sh"

seed=$TEST_SEED

# rnd <n>: sets $rnd, 0 to n - 1
rnd() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	rnd=$((seed / 65536 % $1))
}

# start: five files of 60 lines, no two lines alike, and two directories
start() {
	mkdir sub dir
	echo kept | tee sub/kept >dir/kept
	for start_n in 1 2 3 4 5; do
		seq 1 60 | sed "s/^/file $start_n line /" >f$start_n
	done
}

# where <n>: sets $where, the file, whatever its name is by now
where() {
	where=f$1
	test -e $where || where=sub/g$1
}

# apply <edit> <number>: an edit is "<what>:<file>:<line>"
apply() {
	apply_rest=${1#*:}
	apply_file=${apply_rest%%:*}
	where "$apply_file"
	case $1 in
	spot:*) sed -i "s/^\(file $apply_file line ${1##*:}\|spot ${1##*:} .*\)\$/spot ${1##*:} $2/" "$where" ;;
	insert:*) sed -i "/^file $apply_file line $((${1##*:} + 4))\$/a inserted by $2" "$where" ;;
	delete:*) rm "$where" ;;
	create:*) seq $((1000 * $2)) $((1000 * $2 + 30)) >"dir/new$2" ;;
	chmod:*) chmod "6${2}0" "$where" ;;
	dirmode:*) chmod "7${2}1" dir ;;
	rename:*) mv "f$apply_file" "sub/g$apply_file" ;;
	link:*) ln -s "target $2" "link$2" ;;
	mkdir:*) mkdir "sub/empty$2" ;;
	esac
}

# choose: sets $edit, to something that can be done to the files as they are
choose() {
	rnd 5
	choose_file=$((rnd + 1))
	where $choose_file
	rnd 5
	choose_line=$(((rnd + 1) * 10))
	rnd 12
	case $rnd in
	0) what='delete' ;;
	1) what='create' ;;
	2) what='chmod' ;;
	3) what='dirmode' ;;
	4) what='rename' ;;
	5) what='link' ;;
	6) what='mkdir' ;;
	7 | 8) what='insert' ;;
	*) what='spot' ;;
	esac
	case $what in
	delete | chmod | insert | spot) test -e "$where" || what='create' ;;
	rename) test -e f$choose_file || what='create' ;;
	esac
	edit=$what:$choose_file:$choose_line
}

# overlaps <edit> <later edit>: it concerns the same
overlaps() {
	overlaps_file=${1#*:}
	overlaps_file=${overlaps_file%%:*}
	case $1 in
	create:* | link:* | mkdir:*) return 1 ;;
	dirmode:*) case $2 in dirmode:*) return 0 ;; *) return 1 ;; esac ;;
	esac
	case $2 in
	delete:$overlaps_file:*) return 0 ;;
	esac
	case $1 in
	spot:* | chmod:* | insert:*) case $2 in
		"${1%%:*}:$overlaps_file:"*)
			test "${1%%:*}" = chmod || test "${1##*:}" = "${2##*:}"
			return
			;;
		esac ;;
	esac
	return 1
}

# one_round: all six are taken back, one by one
one_round() {
	edits=''
	start
	save
	for n in 1 2 3 4 5 6 7; do
		choose
		apply "$edit" $n
		edits="$edits $edit"
		test $n = 7 || save --step $n --allow-empty
	done
	note before
	round_k=0
	for taken in $edits; do
		round_k=$((round_k + 1))
		test $round_k -le 6 || break
		take_back "$taken" $round_k
	done
}

# take_back <edit> <number>
take_back() {
	n=0 expected=0
	rm -rf "$T/replay"
	mkdir "$T/replay"
	cd "$T/replay"
	start
	for other in $edits; do
		n=$((n + 1))
		test $n = "$2" && continue
		test $n -lt "$2" || ! overlaps "$1" "$other" || expected=3
		test $expected = 3 || apply "$other" $n
	done
	cd "$T/work"
	restoring $expected revert -y "step:$2"
	if test $expected = 3; then
		expect_noted before
		return
	fi
	expect_conflicts
	fingerprint . >"$T/fp.now"
	fingerprint "$T/replay" >"$T/fp.replay"
	diff -u "$T/fp.replay" "$T/fp.now" || fail "$edits, without $2"
	git-checkpoint undo -q -y
	expect_noted before
}

test_random_edits() {
	round=0
	while test $round -lt "${REVERT_ROUNDS:-3}"; do
		round=$((round + 1))
		echo "# round $round, seed $seed"
		one_round
		cd "$T"
		chmod -R u+rwx work
		rm -rf work
		mkdir work
		cd work
		rm -rf "$XDG_STATE_HOME/git-checkpoint"
	done
}

run_tests
