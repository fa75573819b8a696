# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For tests with many checkpoints; sourced after harness.sh.

# what changes a store
calls=write,fsync,rename,openat-create,link,unlink

# many_saves <n> <most>: so many checkpoints of one file, of which so many may be; the store is $store
many_saves() {
	echo 1 >a
	export GIT_CHECKPOINT_MAX_COUNT="$2"
	for i in $(seq "$1"); do
		git-checkpoint save -q --allow-empty -m "$i"
	done
	store=$(store_dir)
}
