#!/bin/sh
# SPDX-License-Identifier: MIT
# Secrets are left out, and it is said.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

secrets='.env .env.local .netrc .npmrc .pypirc a.kdbx a.key a.pem credentials credentials.json id_ed25519
id_ed25519.pub id_rsa id_rsa.old'

test_the_list() {
	git init -q
	mkdir sub
	for name in $secrets; do
		echo secret >"$name"
		echo secret >"sub/$name"
	done
	for name in .env.example .env.sample .env.template env .envrc x.env key pem my-credentials \
		credentials.txt netrc id_dsa x.keys; do
		echo plain >$name
	done
	save
	expect_captured .env.example .env.sample .env.template .envrc credentials.txt env id_dsa key \
		my-credentials netrc pem sub/ x.env x.keys
	answer '.skipped[] | select(.why == "sensitive") | .file' >"$T/skipped"
	for name in $secrets; do
		printf '%s\n' "$name" "sub/$name"
	done | sort >"$T/expected"
	expect_same "$T/expected" "$T/skipped"
	expect_warning "^'.env' looks like a secret and was left out"
	expect_eq 1 "$(answer .confidence)" confidence
	if store_git grep -q secret "$(answer .checkpoint.commit)" --; then
		fail 'a secret is in the store'
	fi
	git checkpoint show --json @ >"$T/show.json"
	expect_eq 28 "$(json '.skipped | length' "$T/show.json")" 'recorded'
}

test_it_is_said_on_the_terminal() {
	git init -q
	: >.env
	git checkpoint save 2>"$T/stderr"
	expect_grep '^warning: .*\.env' "$T/stderr"
	: >another
	git checkpoint save -q 2>"$T/stderr"
	save
	expect_eq false "$(answer .checkpoint_created)"
	expect_warning "^'.env' looks"
	expect_skipped .env sensitive
}

test_asked_for_they_are_captured() {
	git init -q
	echo secret >.env
	save --include-sensitive
	expect_captured .env
	expect_skipped
	expect_no_warning
}

test_tracked_ones_are_captured_with_a_warning() {
	git init -q
	mkdir certs
	echo 1 >certs/test.pem
	echo 1 >.env
	echo 1 >a.key
	git add -f certs .env
	save
	expect_captured .env certs/test.pem
	expect_warning "^'.env' looks like a secret and is in the checkpoint"
	expect_warning "^'certs/test.pem' looks like a secret and is in the checkpoint"
	expect_skipped a.key sensitive
	expect_eq 1 "$(answer .confidence)"
}

test_tracked_by_a_nested_repository_is_tracked() {
	git init -q
	git init -q nested
	echo 1 >nested/.env
	echo 1 >nested/a.key
	git -C nested add .env
	save
	expect_captured nested/.env
	expect_skipped nested/a.key sensitive
}

test_naming_one_is_not_enough() {
	git init -q
	mkdir sub
	echo secret >.env
	echo secret >sub/.env
	: >file
	save -- .env file
	expect_captured file
	expect_skipped .env sensitive
	save -- sub
	expect_captured sub/
	expect_skipped sub/.env sensitive
	save --include-sensitive -- .env
	expect_captured .env
}

test_secrets_named_alone_are_refused() {
	git init -q
	mkdir sub
	echo secret >.env
	echo secret >sub/a.key
	expect_exit 5 git checkpoint save .env 2>"$T/stderr"
	expect_grep "'.env' looks like a secret; .*--include-sensitive" "$T/stderr"
	expect_exit 5 git checkpoint save --allow-empty .env sub/a.key 2>"$T/stderr"
	expect_grep "'.env', 'sub/a.key' look like secrets; .*--include-sensitive" "$T/stderr"
	expect_exit 5 git checkpoint save --json .env >"$T/refused"
	expect_eq 5 "$(json .error.code "$T/refused")"
	expect_grep 'include-sensitive' "$T/refused"
	git checkpoint list >"$T/list"
	expect_no_grep chk_ "$T/list"
	git add -f .env
	save .env
	expect_captured .env
	save --include-sensitive sub/a.key
	expect_captured sub/a.key
}

test_only_files_are_sensitive() {
	git init -q
	mkdir -p credentials/x .env/y id_rsa.d
	: >credentials/x/f
	: >.env/y/f
	: >id_rsa.d/f
	ln -s nowhere .netrc
	save
	expect_captured .env/y/f .netrc credentials/x/f id_rsa.d/f
	expect_skipped
}

test_one_that_is_ignored_is_just_ignored() {
	git init -q
	printf '%s\n' .env ignored >.gitignore
	: >.env
	: >ignored
	save
	expect_captured .gitignore
	expect_skipped
	expect_no_warning
	save --include-ignored
	expect_skipped .env sensitive
	save --include-ignored --include-sensitive
	expect_captured .env .gitignore ignored
}

test_the_setting_adds_to_the_list() {
	git init -q
	: >a.secret
	: >b.token
	: >.env
	: >kept.key
	: >file
	git config checkpoint.sensitive '*.secret'
	git config --add checkpoint.sensitive '!kept.key'
	save
	expect_captured b.token file kept.key
	expect_skipped .env sensitive a.secret sensitive
	GIT_CHECKPOINT_SENSITIVE='*.token' save
	captured >"$T/captured"
	expect_no_grep token "$T/captured"
}

test_outside_of_git() {
	: >.env
	: >file
	save
	expect_captured file
	expect_skipped .env sensitive
}

run_tests
