#!/bin/sh
# SPDX-License-Identifier: MIT
# What was fetched from other machines: all that takes a checkpoint takes it, and it stays whole
# whatever happens to those of this store.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$LIB_DIR/forge.sh"

# fetched: machine two has fetched the checkpoint $id of machine one
fetched() {
	machines
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	on two git-checkpoint fetch -q
	id=$(id_on one)
}

test_copies() {
	fetched
	on two git-checkpoint restore -q --into "$T/copy" one/@
	expect_eq x "$(cat "$T/copy/file")"
	expect_eq x "$(on two git-checkpoint try one/@ -- cat file 2>/dev/null)"
}

test_a_commit_that_is_not_here() {
	machines
	on one git commit -q --allow-empty -m more
	commit=$(on one git rev-parse HEAD)
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	on two git-checkpoint fetch -q
	expect_exit 5 on two git-checkpoint restore -y --git one/@ 2>"$T/err"
	expect_grep "does not have commit $commit of the machine 'one'; bring it with 'git fetch'" "$T/err"
	on two git fetch -q "$T/machines/one/src/one" main
	on two git-checkpoint restore -q -y --git one/@
	same
}

test_between_two_of_them() {
	fetched
	edit one y
	on one git-checkpoint save -q
	on one git-checkpoint push -q --all
	on two git-checkpoint fetch -q --all
	on two git-checkpoint diff --name-only "one/$id" one/@ >"$T/out"
	expect_grep '^file$' "$T/out"
	on two git-checkpoint restore -q -y one/@
	on two git-checkpoint revert -q -y "one/$id..one/@"
	expect_eq x "$(on two cat file)"
}

# What one of them changed is known by the one before it on its machine.
test_a_step_of_another_machine() {
	fetched
	on one sh -c 'echo y >file; echo new >later'
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	on two git-checkpoint fetch -q
	on two git-checkpoint restore -q -y one/@
	# all that there is of it here
	on two git-checkpoint drop -q "one/$id"
	expect_exit 128 on two git-checkpoint revert -y one/@ 2>"$T/err"
	expect_grep "'one/$id', is not here; 'git checkpoint fetch one/$id' brings it" "$T/err"
	on one git-checkpoint push -q --all
	on two git-checkpoint fetch -q "one/$id"
	on two git-checkpoint show -p one/@ >"$T/out"
	expect_grep '^+y$' "$T/out"
	on two git-checkpoint revert -q -y one/@
	expect_eq x "$(on two cat file)"
	test ! -e "$T/machines/two/work/two/later"
}

# Neither is one of this store that has the same id meant.
test_dropping_one() {
	fetched
	on two git-checkpoint fetch -q
	expect_exit 128 on two git-checkpoint pin one/@ 2>"$T/err"
	expect_grep "of the machine 'one'" "$T/err"
	on two git-checkpoint drop --dry-run one/@ >"$T/out"
	expect_grep "^Would drop one/$id" "$T/out"
	expect_eq 1 "$(on two git-checkpoint list --remote | wc -l)"
	on two git-checkpoint drop -q -y one/@
	nothing_fetched two
	on two git-checkpoint doctor -q
	# its own, which came back from the hub
	on one git-checkpoint fetch -q one/@
	on one git-checkpoint drop -q -y one/@
	nothing_fetched one
	expect_eq "$id" "$(id_on one)"
	on one git-checkpoint verify -q --all
	on one git-checkpoint doctor -q
}

# For forge.sh: what is forged is forged in the hub.
store_dir() {
	echo "$T/hub.git"
}

# copied <machine> <id>: what one pushed, said to be another checkpoint
copied() {
	refs=refs/checkpoints/$(git -C "$T/project" rev-list --max-parents=0 HEAD)
	in_store cat-file commit "$refs/one/$id" | sed -e "s/^Id: .*/Id: $2/" -e 's/^Reason: .*/Reason: a copy/' >"$T/commit"
	in_store update-ref "$refs/$1/$2" "$(object commit <"$T/commit")"
}

test_an_id_of_somebody_else() {
	fetched
	copied evil "$id"
	on two git-checkpoint fetch -q
	expect_exit 128 on two git-checkpoint show "$id" 2>"$T/err"
	expect_grep "is ambiguous, it could be 'evil/$id' or 'one/$id'" "$T/err"
	expect_eq 'a copy' "$(on two git-checkpoint show --json "evil/$id" | jq -r .reason)"
	on two git-checkpoint drop -q -y "evil/$id"
	on two git-checkpoint show -q "$id"
	# one that this store has: a journal would mean that by it
	edit two y
	on two git-checkpoint save -q
	copied evil "$(id_on two)"
	expect_exit 1 on two git-checkpoint fetch --all 2>"$T/err" >/dev/null
	expect_grep "'evil/$(id_on two)' was refused: another checkpoint of this store has that id" "$T/err"
}

# meanwhile <command>...: two runs it while its fetch waits for the hub
meanwhile() {
	cat >"$T/meanwhile" <<-END
	#!/bin/sh
	(
		unset \$(env | sed -n 's/^\\(GIT_[A-Z_]*\\)=.*/\\1/p')
		cd "$T/machines/two/work/two" && $*
	) >"$T/log" 2>&1 || echo failed >>"$T/log"
	exec "\$@"
	END
	chmod +x "$T/meanwhile"
	on two git config --global uploadpack.packObjectsHook "$T/meanwhile"
}

# The hub was told that it need not send what this store has, or had.
test_what_it_shares_with_others_goes_meanwhile() {
	machines
	on one sh -c 'head -c 300000 /dev/urandom >big'
	cp "$T/machines/one/src/one/big" "$T/machines/two/work/two/big"
	on two git-checkpoint save -q
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	meanwhile 'rm big && git-checkpoint drop -q -y @ && git-checkpoint gc -q'
	on two git-checkpoint fetch -q
	expect_eq '' "$(cat "$T/log")"
	on two git-checkpoint verify -q one/@
	on two git-checkpoint doctor -q
}

# What an interrupted restore leads to is not evicted.
test_an_interrupted_restore_of_one() {
	fetched
	on two sh -c 'echo mine >mine; git-checkpoint save -q'
	export FAULT_PATH="$T/machines/two/work"
	expect_exit 137 on two with_faults rename 1 kill git-checkpoint restore -q -y one/@
	unset FAULT_PATH
	on two sh -c 'head -c 100000 /dev/urandom >more'
	on two env GIT_CHECKPOINT_MAX_SIZE=150k git-checkpoint save -q 2>/dev/null || :
	expect_eq 1 "$(on two git-checkpoint list --remote | wc -l)"
	on two git-checkpoint restore -q -y --continue
	expect_eq x "$(on two cat file)"
}

run_tests
