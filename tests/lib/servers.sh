# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2089,SC2090
#
# For the tests of remotes: servers on the loopback interface; sourced after harness.sh. Each ends
# with the case.

# serve <command with PORT in it>...: start it with a free port, and wait until it answers; the port
# is in $port
serve() {
	# not one that another server of this case has: it would answer instead
	port=${port:-$((20000 + (TEST_SEED + $$) % 20000))}
	serve_tries=0
	while :; do
		port=$((port + 7)) serve_tries=$((serve_tries + 1))
		test $serve_tries -le 20 || fail "no server: $(cat "$T/server.log")"
		serve_command=$(printf '%s' "$*" | sed "s/PORT/$port/g")
		sh -c "exec $serve_command" >"$T/server.log" 2>&1 &
		serve_pid=$!
		echo $serve_pid >>"$T/servers"
		perl -MIO::Socket::INET -e '
			for (1 .. 400) {
				exit 0 if IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]);
				exit 1 unless kill 0, $ARGV[1];
				select undef, undef, undef, 0.05;
			}
			exit 1' "$port" "$serve_pid" && kill -0 $serve_pid && return 0
	done
}

# stop_servers: all that this case started
stop_servers() {
	test ! -e "$T/servers" || while read -r stop_pid; do
		kill "$stop_pid" 2>/dev/null || :
	done <"$T/servers"
}

serve_git() {
	serve "git daemon --base-path='$T' --export-all --enable=receive-pack --listen=127.0.0.1 --port=PORT --reuseaddr"
	url=git://127.0.0.1:$port/hub.git
}

serve_http() {
	PATH=$PATH:/usr/sbin require lighttpd
	git -C "$T/hub.git" config http.receivepack true
	cat >"$T/lighttpd.conf" <<-END
		server.modules = ("mod_alias", "mod_setenv", "mod_cgi")
		server.document-root = "$T"
		server.port = env.LIGHTTPD_AT
		server.bind = "127.0.0.1"
		alias.url = ("/git" => "$(git --exec-path)/git-http-backend")
		setenv.add-environment = ("GIT_PROJECT_ROOT" => "$T", "GIT_HTTP_EXPORT_ALL" => "1")
		cgi.assign = ("" => "")
	END
	serve "env LIGHTTPD_AT=PORT /usr/sbin/lighttpd -D -f '$T/lighttpd.conf'"
	url=http://127.0.0.1:$port/git/hub.git
}

# Keys of the case only; ssh looks nothing up in the user's home.
serve_ssh() {
	PATH=$PATH:/usr/sbin require sshd ssh ssh-keygen
	mkdir -p "$T/ssh"
	ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/host"
	ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/key"
	cp "$T/ssh/key.pub" "$T/ssh/authorized"
	test "$(id -u)" != 0 || mkdir -p /run/sshd
	printf '%s\n' 'ListenAddress 127.0.0.1' "HostKey $T/ssh/host" "AuthorizedKeysFile $T/ssh/authorized" \
		'StrictModes no' 'UsePAM no' 'PidFile none' 'PasswordAuthentication no' \
		'PermitRootLogin yes' >"$T/ssh/sshd_config"
	serve "/usr/sbin/sshd -D -e -f '$T/ssh/sshd_config' -p PORT"
	printf '%s\n' "IdentityFile $T/ssh/key" 'IdentitiesOnly yes' 'BatchMode yes' \
		"UserKnownHostsFile $T/ssh/known" 'StrictHostKeyChecking accept-new' >"$T/ssh/config"
	GIT_SSH_COMMAND="ssh -F '$T/ssh/config'"
	export GIT_SSH_COMMAND
	url=ssh://$(id -un)@127.0.0.1:$port$T/hub.git
}

# serve_wire: between machines and the server that runs, a wire that can be cut (see wire.pl); the
# URL goes through it
serve_wire() {
	serve_behind=$port
	serve "perl '$LIB_DIR/wire.pl' PORT $serve_behind '$T/wire'"
	url=$(printf %s "$url" | sed "s/:$serve_behind/:$port/")
	wire_nr=0
}

# wire [<bytes> <what>...]: what happens after that many bytes; nothing: all passes
wire() {
	wire_nr=$((wire_nr + 1))
	rm -f "$T/wire.count" "$T/wire.done"
	echo "${1:-0} ${2:--} ${3:--} $wire_nr" >"$T/wire.next"
	mv "$T/wire.next" "$T/wire"
}
