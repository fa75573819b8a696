# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For the tests of undo and redo; sourced after harness.sh.

. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last
s1='' s2='' s3='' s4=''

undo() {
	restoring "${1:-0}" undo -y
}

redo() {
	restoring "${1:-0}" redo -y
}

# states <number>: checkpoints s1, s2, ... of which each has another tree, noted as s<n>
states() {
	n=0
	while test $n -lt "$1"; do
		n=$((n + 1))
		echo $n >a
		echo $n >only-$n
		mkdir -p d
		rm -f d/*
		echo $n >d/$n
		save
		eval "s$n=$id"
		note s$n
	done
}
