#!/bin/sh
# SPDX-License-Identifier: MIT
# The same over every transport: a path, a URL of a file, git daemon, http and ssh; and a server that
# hangs.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$LIB_DIR/servers.sh"

url='' port=''

test "${CKPT_TEST_ROUNDS:-}" = all && rounds=10 || rounds=4

# to_and_fro <url> [<times>]: hand-offs in turn
to_and_fro() {
	on one git-checkpoint remote add -q there "$1"
	on two git-checkpoint remote add -q there "$1"
	from=one to=two
	round=0
	while test $round -lt "${2:-$rounds}"; do
		round=$((round + 1))
		edit $from "$round"
		test $((round % 3)) != 1 ||
			on $from sh -e -c "git checkout -q -b topic$round; git commit -q -m $round; echo again >file"
		on $from git-checkpoint handoff -q there
		on $to git-checkpoint takeover -q -y there
		same
		swap=$from from=$to to=$swap
	done
	on one git-checkpoint push -q there --all
	on two git-checkpoint fetch -q there --all
	test "$(on two git-checkpoint list --remote | wc -l)" -ge $((round / 2))
	on two git-checkpoint verify -q one/@
	for who in one two; do
		on $who git-checkpoint doctor -q
	done
}

test_the_url_of_a_file() {
	machines
	to_and_fro "file://$T/hub.git"
}

test_git_daemon() {
	machines
	serve_git
	trap stop_servers EXIT
	to_and_fro "$url"
}

# Two users, who have nothing in common but the server.
test_another_user() {
	machines
	of_nobody two
	chmod 700 "$T/machines/one"
	expect_exit 1 on two cat "$T/machines/one/where" 2>/dev/null
	serve_git
	trap stop_servers EXIT
	to_and_fro "$url"
}

test_http() {
	machines
	serve_http
	trap stop_servers EXIT
	to_and_fro "$url"
}

test_ssh() {
	machines
	serve_ssh
	trap stop_servers EXIT
	to_and_fro "$url"
}

# Encrypted: who has the hub alone can read neither contents nor names.
test_gcrypt() {
	PATH=$PATH:/usr/sbin require git-remote-gcrypt gpg gpgconf gpg-agent
	machines
	GNUPGHOME=$T/gnupg
	export GNUPGHOME
	mkdir -m 700 "$GNUPGHOME"
	trap 'gpgconf --kill all' EXIT
	gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key 'A <a@example.com>' \
		default default never
	to_and_fro "gcrypt::$T/hub.git" 2
	expect_eq '' "$(hub_refs refs/checkpoints refs/handoff)"
	# stock git can read nothing of it
	blob=$(on one git-checkpoint show --json @ >/dev/null && on one git hash-object file)
	expect_exit 1 git -C "$T/hub.git" cat-file -e "$blob"
}

# It takes the connection and says nothing more.
test_a_server_that_hangs() {
	machines
	serve "perl -MIO::Socket::INET -e '\$s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\",
		LocalPort => PORT, Listen => 5, ReuseAddr => 1) or die; while (\$c = \$s->accept) { push @c, \$c }'"
	trap stop_servers EXIT
	on two git-checkpoint remote add -q silent "git://127.0.0.1:$port/hub.git"
	expect_exit 128 on two env GIT_CHECKPOINT_REMOTE_TIMEOUT=1s git-checkpoint fetch silent 2>"$T/err"
	expect_grep "remote 'silent': nothing was heard for 1 second" "$T/err"
	nothing_fetched two
	edit two x
	on two git-checkpoint save -q
	expect_exit 128 on two env GIT_CHECKPOINT_REMOTE_TIMEOUT=1s git-checkpoint push silent 2>"$T/err"
	# nobody answers at all
	stop_servers
	expect_exit 128 on two git-checkpoint fetch silent 2>"$T/err"
	expect_grep "remote 'silent': " "$T/err"
	expect_eq 1 "$(wc -l <"$T/err")"
}

# over_a_wire: machine one has pushed something that takes a while; two has the remote "slow" with the
# URL of a wire, and waits for four seconds only: long enough for a busy machine
over_a_wire() {
	serve_wire
	wire
	trap stop_servers EXIT
	on one sh -c 'head -c 400000 /dev/urandom >noise'
	edit one x
	on one git-checkpoint save -q
	on one git-checkpoint push -q hub
	on two git-checkpoint remote add -q slow "$url"
	patience=4
	GIT_CHECKPOINT_REMOTE_TIMEOUT=${patience}s
	export GIT_CHECKPOINT_REMOTE_TIMEOUT
}

# hangs_at <bytes>: the fetch is ended, and nothing of it is left, no process either
hangs_at() {
	wire "$1" hang
	expect_exit 128 on two git-checkpoint fetch slow 2>"$T/err"
	expect_exists "$T/wire.done"
	expect_grep "remote 'slow': nothing was heard for $patience seconds" "$T/err"
	nothing_fetched two
	# they were killed, which takes a moment
	await eval '! pgrep -f "$T/machines/two/state"'
}

slow_and_hanging() {
	over_a_wire
	hangs_at 1
	hangs_at 3000
	# it takes longer than that in all, with progress all the time: git shows it every 64 KiB
	wire 1 trickle
	begin=$(date +%s)
	on two git-checkpoint fetch -q slow
	test $(($(date +%s) - begin)) -gt $patience
	on two git-checkpoint verify -q one/@
	wire 2000 hang
	edit two y
	on two sh -c 'head -c 600000 /dev/urandom >noise'
	on two git-checkpoint save -q
	expect_exit 128 on two git-checkpoint push slow 2>"$T/err"
	expect_grep "remote 'slow': nothing was heard for $patience seconds" "$T/err"
	wire
	on two git-checkpoint push -q slow
}

test_a_slow_server_and_one_that_hangs_in_the_middle() {
	machines
	serve_git
	slow_and_hanging
}

test_the_same_over_http() {
	machines
	serve_http
	slow_and_hanging
}

# Neither the project nor what it points to has a say.
test_the_configuration_of_the_project_does_not_count() {
	machines
	edit one x
	on one git-checkpoint save -q
	on one sh -e -c "git config core.sshCommand 'touch $T/ran;'; git config credential.helper '!touch $T/ran;'
		git config protocol.ext.allow always; git config core.hooksPath '$T/hooks'
		git config url.'ext::sh -c \"touch $T/ran\" '.insteadOf '$T/'
		git config core.fsmonitor 'touch $T/ran;'"
	mkdir "$T/hooks"
	for hook in pre-push reference-transaction post-index-change; do
		printf '#!/bin/sh\ntouch %s\n' "$T/ran" >"$T/hooks/$hook"
		chmod +x "$T/hooks/$hook"
	done
	store=$(on one git-checkpoint status --json | jq -r .store)
	cp -R "$T/hooks" "$store/hooks"
	on one git-checkpoint push -q
	on one git-checkpoint handoff -q
	on one git-checkpoint fetch -q
	expect_missing "$T/ran"
	# not even if the user's own configuration would allow it
	on one git config --global protocol.ext.allow always
	on one git config --global url."ext::touch $T/ran ".insteadOf "$T/"
	echo y >"$T/machines/one/src/one/file"
	on one git-checkpoint save -q
	expect_exit 128 on one git-checkpoint push 2>"$T/err"
	expect_missing "$T/ran"
}

run_tests
