#!/bin/sh
# SPDX-License-Identifier: MIT
# The same over every transport: a path, a URL of a file, git daemon, http and ssh; and a server that
# hangs.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$LIB_DIR/servers.sh"

url='' port=''

# to_and_fro <url>: a hand-off there and back
to_and_fro() {
	on one git-checkpoint remote add -q there "$1"
	on two git-checkpoint remote add -q there "$1"
	edit one 1
	on one sh -e -c 'git checkout -q -b topic; git commit -q -m topic; echo again >file'
	on one git-checkpoint handoff -q there
	on two git-checkpoint takeover -q -y there
	same
	edit two 2
	on two git-checkpoint handoff -q there
	on one git-checkpoint takeover -q -y there
	same
	on one git-checkpoint push -q there --all
	on two git-checkpoint fetch -q there --all
	test "$(on two git-checkpoint list --remote | wc -l)" -ge 1
	on two git-checkpoint verify -q one/@
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
