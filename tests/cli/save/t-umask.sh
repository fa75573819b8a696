#!/bin/sh
# SPDX-License-Identifier: MIT
# Whatever the umask: every command works, what it makes can be read by its owner and, in a store,
# by nobody else; and what is run for the user has the user's umask.

. "$(dirname "$0")/../../lib/harness.sh"

# ckpt <umask> <argument>...: what is printed goes to $T/out, which is made before
ckpt() {
	mask=$1
	shift
	$AS sh -c 'umask "$1"; shift; exec git checkpoint "$@"' sh "$mask" "$@" >"$T/out" 2>"$T/err" || {
		status=$?
		cat "$T/out" "$T/err"
		fail "exit status $status with umask $mask: $*"
	}
}

# expect_readable <dir>...: by the owner, all of it
expect_readable() {
	find "$@" ! -type l \( ! -perm -u+r -o -type d ! -perm -u+rwx \) -printf '%m %p\n' >"$T/odd"
	expect_same /dev/null "$T/odd"
}

expect_private() {
	find "$(checkpoint_home)" -maxdepth 1 -type d ! -perm 0700 -printf '%m %p\n' >"$T/odd"
	find "$(checkpoint_home)" -perm /022 ! -type l -printf '%m %p\n' >>"$T/odd"
	expect_same /dev/null "$T/odd"
}

# guarded_reset <umask>: what the hooks note for themselves can be read by those that come later
guarded_reset() {
	echo 3 >tracked
	$AS sh -c 'umask "$1"; git reset --hard' sh "$1" >"$T/out" 2>&1 || fail "reset: $(cat "$T/out")"
	expect_grep 'before reset' "$T/out"
	# the files of git are its own
	expect_exists .git/git-checkpoint/answer
	expect_readable .git/git-checkpoint
	$AS chmod u+rw tracked .git/index .git/ORIG_HEAD
	# of one that had to be ended, too
	rm .git/git-checkpoint/answer
	printf '#!/bin/sh\nkill -9 $$\n' >"$T/bin/git-checkpoint"
	chmod +x "$T/bin/git-checkpoint"
	echo 4 >tracked
	$AS env PATH="$T/bin:$PATH" sh -c 'umask "$1"; git reset -q --hard' sh "$1"
	rm "$T/bin/git-checkpoint"
	expect_grep ' all ' .git/git-checkpoint/answer
	expect_readable .git/git-checkpoint
	$AS chmod u+rw tracked .git/index .git/ORIG_HEAD
}

# The commands that write, and some that read what was written.
whole_set() {
	mask=$1
	mkdir "$T/bin"
	cat >"$XDG_CONFIG_HOME/git-checkpoint/config" <<-'END'
	verifyCommand = rm -f "$HOME/verify"; umask >"$HOME/verify"
	[capture "mask"]
	save = umask
	restore = cd; rm -f replay replayed; cat >replayed; umask >replay
	END
	git init -q
	echo 1 >tracked
	git add tracked
	git commit -qm 1
	mkdir -p d/e
	echo 1 >d/e/file
	ln -s e d/link
	chmod 750 d
	before=$(fingerprint .)
	test -z "$AS" || give_to_nobody .

	ckpt "$mask" save -m one --pin --state k=v --capture mask
	ckpt "$mask" show --json @
	ckpt "$mask" save
	rm -r d
	echo 2 >new
	ckpt "$mask" status
	ckpt "$mask" diff
	ckpt "$mask" save -m two --every 2 --source x
	ckpt "$mask" restore --yes @~1
	expect_eq "$before" "$(fingerprint .)" 'the tree'
	chmod u+r "$HOME/verify" "$HOME/replay" "$HOME/replayed"
	expect_eq "0$mask" "$(cat "$HOME/verify")" 'umask of verifyCommand'
	expect_eq "0$mask" "$(cat "$HOME/replay")" 'umask of a replayed capture'
	expect_eq "0$mask" "$(cat "$HOME/replayed")" 'umask of a capture'
	ckpt "$mask" undo --yes
	expect_exists new
	ckpt "$mask" redo --yes
	ckpt "$mask" undo --yes
	ckpt "$mask" run -- sh -c 'umask; echo 3 >run; chmod 644 run'
	expect_grep "^0$mask\$" "$T/out"
	ckpt "$mask" list --json
	ckpt "$mask" list
	ckpt "$mask" log
	ckpt "$mask" unpin @~1
	ckpt "$mask" drop --force @~1
	ckpt "$mask" prune --max-count 1
	ckpt "$mask" gc
	ckpt "$mask" verify --all
	ckpt "$mask" doctor --fix
	ckpt "$mask" flow start w --phases a,b --state-dir plans/now
	ckpt "$mask" flow phase a start
	ckpt "$mask" flow phase a complete
	ckpt "$mask" flow status
	ckpt "$mask" flow archive
	ckpt "$mask" hooks install --guard
	for agent in claude-code codex gemini-cli; do
		ckpt "$mask" hooks install --agent $agent
		ckpt "$mask" hooks install --agent $agent --user
	done
	ckpt "$mask" hooks status
	rm -f "$HOME/verify" "$HOME/replay" "$HOME/replayed" # the user's own
	expect_readable . "$HOME" "$(checkpoint_home)"
	expect_private
	git commit -q --allow-empty -m 2
	test -z "$AS" || give_to_nobody .
	guarded_reset "$mask"
	for agent in claude-code codex gemini-cli; do
		ckpt "$mask" hooks uninstall --agent $agent
		ckpt "$mask" hooks uninstall --agent $agent --user
	done
	ckpt "$mask" hooks uninstall
	ckpt "$mask" stores
	mv "$PWD" "$T/moved"
	cd "$T/moved"
	ckpt "$mask" relink "$T/work"
	ckpt "$mask" verify --all
	expect_readable . "$(checkpoint_home)"
	expect_private
}

begin() {
	AS=$2
	mkdir "$XDG_CONFIG_HOME/git-checkpoint"
	whole_set "$1"
}

# Root may read and write whatever the bits say: as somebody else, if this is root.
begin_as_user() {
	if test "$(id -u)" = 0; then
		as_nobody true
		git config --global safe.directory '*'
		chmod 755 "$T"
		give_to_nobody "$T/work" "$HOME" "$XDG_CONFIG_HOME"
		begin "$1" as_nobody
	else
		begin "$1" ''
	fi
}

test_umask_777_as_root() {
	test "$(id -u)" = 0 || skip 'needs root'
	begin 777 ''
}

test_umask_777() {
	begin_as_user 777
}

test_umask_077() {
	begin_as_user 077
}

test_umask_000() {
	begin_as_user 000
}

run_tests
