# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For the tests of captures, which are commands of the user; sourced after harness.sh and
# restore.sh.

# configure: the user's file, from stdin
configure() {
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	cat >"$XDG_CONFIG_HOME/git-checkpoint/config"
}

# a_thing: a capture "db" of the file $T/db, with a trace of its commands in $T/trace
a_thing() {
	configure <<-END
	[capture "db"]
		type = database_savepoint
		save = echo save >>$T/trace; cat $T/db
		restore = echo restore >>$T/trace; cat >$T/db
		$*
	END
	: >"$T/trace"
	echo one >"$T/db"
	echo one >f
}

no_litter() {
	test -z "$(find "$(store_dir)" -name 'tmp_ckpt_*')" || fail 'a temporary is left'
	expect_missing .git-checkpoint-restore-*
}
