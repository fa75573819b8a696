#!/bin/sh
# SPDX-License-Identifier: MIT
# Captures of real databases: SQLite under writes, and a PostgreSQL server.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/capture-commands.sh"

id=

sql() {
	sqlite3 -cmd '.timeout 20000' "$T/app.db" "$1"
}

test_sqlite_under_writes() {
	require sqlite3
	configure <<-END
	[capture "db"]
	type    = database_savepoint
	save    = d=\$(mktemp -d) && sqlite3 -cmd '.timeout 20000' $T/app.db ".backup \$d/b" && cat \$d/b && rm -r \$d
	restore = d=\$(mktemp -d) && cat >\$d/b && sqlite3 -cmd '.timeout 20000' $T/app.db ".restore \$d/b" && rm -r \$d
	auto    = true
	timeout = 1m
	END
	echo one >f
	sql 'PRAGMA journal_mode=WAL; CREATE TABLE pairs(a, b);
		CREATE TABLE users(name); INSERT INTO users VALUES ("ada"), ("grace");' >/dev/null
	# Somebody who writes all the time, both rows or none.
	(
		n=0
		while ! test -e "$T/stop"; do
			n=$((n + 1))
			sql "BEGIN IMMEDIATE; INSERT INTO pairs VALUES ($n, 'l');
				INSERT INTO pairs VALUES ($n, 'r'); COMMIT;" || exit 1
		done
	) 2>"$T/writer.err" &
	writer=$!
	while test "$(sql 'SELECT count(*) FROM pairs')" -lt 6; do sleep 0.05; done
	save
	wanted=$id
	expect_eq database_savepoint "$(json .checkpoint.type "$T/save.json")"
	touch "$T/stop"
	wait $writer || fail "the writer failed: $(cat "$T/writer.err")"
	# what was saved is whole: a sound database, no pair torn
	git --git-dir="$(store_dir)" show "refs/checkpoints/$wanted^:captures/db" >"$T/saved.db"
	expect_eq ok "$(sqlite3 "$T/saved.db" 'PRAGMA integrity_check')"
	expect_eq 0 "$(sqlite3 "$T/saved.db" 'SELECT count(*) FROM
		(SELECT a FROM pairs GROUP BY a HAVING count(*) != 2)')"
	saved=$(sqlite3 "$T/saved.db" 'SELECT count(*) FROM pairs')
	test "$saved" -ge 6

	echo two >f
	sql 'DELETE FROM users WHERE name = "ada"; DELETE FROM pairs;
		INSERT INTO users VALUES ("linus")'
	restore "$wanted"
	expect_eq one "$(cat f)"
	expect_eq 'ada grace' "$(sql 'SELECT name FROM users ORDER BY 1' | tr '\n' ' ' | sed 's/ $//')"
	expect_eq "$saved" "$(sql 'SELECT count(*) FROM pairs')"
	restoring 0 undo -y
	expect_eq two "$(cat f)"
	expect_eq 'grace linus' "$(sql 'SELECT name FROM users ORDER BY 1' | tr '\n' ' ' | sed 's/ $//')"
	expect_eq 0 "$(sql 'SELECT count(*) FROM pairs')"
	restoring 0 redo -y
	expect_eq "$saved" "$(sql 'SELECT count(*) FROM pairs')"
}

# ---- PostgreSQL ------------------------------------------------------------------

# The server's programs are not on PATH where Debian puts them.
postgres_bin() {
	for dir in /usr/lib/postgresql/*/bin; do
		test -x "$dir/initdb" && test -x "$dir/pg_dump" && echo "$dir"
	done | tail -n 1
}

# The server refuses to run as root.
as_server() {
	if test "$(id -u)" = 0; then
		run_as_nobody "$@"
	else
		"$@"
	fi
}

start_postgres() {
	bin=$(postgres_bin)
	test -n "$bin" || skip 'needs postgresql'
	require psql
	id nobody >/dev/null 2>&1 || test "$(id -u)" != 0 || skip 'needs the user nobody'
	chmod 711 "$T"
	mkdir "$T/pg"
	give_to_nobody "$T/pg"
	port=$((20000 + $$ % 20000))
	export PGHOST=127.0.0.1 PGPORT=$port PGUSER=app PGPASSWORD=s3cret PGDATABASE=app
	echo "$PGPASSWORD" >"$T/pg/password"
	(cd / && as_server "$bin/initdb" -D "$T/pg/data" -U app -A scram-sha-256 \
		--pwfile="$T/pg/password" --no-sync >"$T/initdb.log" 2>&1) || {
		cat "$T/initdb.log"
		skip 'initdb does not work here'
	}
	trap stop_postgres EXIT
	(cd / && as_server "$bin/pg_ctl" -D "$T/pg/data" -w -t 60 -l "$T/pg/log" -o \
		"-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off" \
		start >"$T/start.log" 2>&1 </dev/null) || {
		cat "$T/start.log" "$T/pg/log"
		fail 'the server does not start'
	}
	psql -q -d postgres -c 'CREATE DATABASE app'
}

stop_postgres() {
	(cd / && as_server "$bin/pg_ctl" -D "$T/pg/data" -m immediate -w stop >/dev/null 2>&1) || :
}

query() {
	psql -q -At -c "$1" | tr '\n' ' ' | sed 's/ $//'
}

test_a_postgresql_server() {
	start_postgres
	configure <<-END
	[capture "db"]
	type    = database_savepoint
	save    = $bin/pg_dump -Fc app
	restore = $bin/pg_restore --clean --if-exists --single-transaction -d app
	auto    = true
	END
	echo one >f
	query 'CREATE TABLE users(name text PRIMARY KEY);
		CREATE TABLE blobs AS SELECT n, repeat(md5(n::text), 50) t FROM generate_series(1, 2000) n;'
	query "INSERT INTO users VALUES ('ada'), ('grace')"
	save
	wanted=$id
	expect_eq database_savepoint "$(json .checkpoint.type "$T/save.json")"
	sum=$(query 'SELECT md5(string_agg(t, n::text ORDER BY n)) FROM blobs')
	echo two >f
	query "DELETE FROM users WHERE name = 'ada'; INSERT INTO users VALUES ('linus');
		UPDATE blobs SET t = 'gone' WHERE n % 2 = 0;"
	restoring 0 restore -n "$wanted"
	expect_eq 'grace linus' "$(query 'SELECT name FROM users ORDER BY 1')"
	restore "$wanted"
	expect_eq one "$(cat f)"
	expect_eq '[{"name":"db","status":"restored"}]' "$(jq -c .captures "$T/restore.json")"
	expect_eq 'ada grace' "$(query 'SELECT name FROM users ORDER BY 1')"
	expect_eq "$sum" "$(query 'SELECT md5(string_agg(t, n::text ORDER BY n)) FROM blobs')"
	restoring 0 undo -y
	expect_eq two "$(cat f)"
	expect_eq 'grace linus' "$(query 'SELECT name FROM users ORDER BY 1')"
	expect_eq 1000 "$(query "SELECT count(*) FROM blobs WHERE t = 'gone'")"

	# a server that is away: no checkpoint, no restore, and it says why
	stop_postgres
	git-checkpoint list --json >"$T/before"
	expect_exit 128 git-checkpoint save --allow-empty 2>"$T/err"
	expect_grep 'pg_dump: error: connection to server' "$T/err"
	restoring 5 restore -y "$wanted"
	expect_eq two "$(cat f)"
	git-checkpoint list --json >"$T/after"
	expect_eq "$(jq '.checkpoints | length' "$T/before")" "$(jq '.checkpoints | length' "$T/after")"
}

run_tests
