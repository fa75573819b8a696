/* SPDX-License-Identifier: MIT */
/*
 * install: what was there comes back byte for byte; what others changed since stays; no link leads
 * out of the root, whenever it appears.
 */
#include "install/install.h"

#include "base/error.h"
#include "base/fs.h"

#include "unit.h"

#define JSON_TEXT                                                                                 \
	"{\n  \"version\": 1,\n  \"hooks\": {\n    \"A\": [\n      {\n        \"run\": \"ours go\"\n" \
	"      }\n    ],\n    \"B\": [\n      {\n        \"run\": \"ours go\"\n      }\n    ]\n  }\n}\n"

static const struct install_change json = {
	.kind = INSTALL_JSON, .root = scratch, .path = "d/x.json", .by = "test", .text = JSON_TEXT,
	.mode = 0666, .alike = { "ours go", "ours stay" },
};
static const struct install_change server = {
	.kind = INSTALL_JSON, .root = scratch, .path = "d/x.json", .by = "server", .mode = 0666,
	.text = "{\n  \"servers\": {\n    \"ours\": {\n      \"run\": 1\n    }\n  }\n}\n",
};
static const struct install_change toml = {
	.kind = INSTALL_TOML, .root = scratch, .path = "d/x.toml", .by = "test", .mode = 0666,
	.text = "[servers.ours]\nrun = 1\n", .alike = { "[servers.ours", "[servers.\"ours\"" },
};
static const struct install_change own[2] = {
	{ .kind = INSTALL_FILE, .root = scratch, .path = "d/one", .by = "test", .text = "#!1\n",
	  .mode = 0777, .alike = { "ours go" } },
	{ .kind = INSTALL_FILE, .root = scratch, .path = "d/e/two", .by = "test", .text = "2\n",
	  .mode = 0666 },
};

static int put(const struct install_change *change, enum install_outcome expected)
{
	struct install_result result;
	int err = install_put(&result, change, 1);

	if (!err)
		assert_int_equal(result.outcome, expected);
	return err;
}

static int take_back(const struct install_change *change, enum install_outcome expected)
{
	struct install_result result;
	int err = install_take_back(&result, change, 1);

	if (!err)
		assert_int_equal(result.outcome, expected);
	return err;
}

static void expect_text(const char *path, const char *expected)
{
	struct strbuf text = STRBUF_INIT;

	get_bytes(&text, in_scratch("%s", path));
	assert_string_equal(text.buf, expected);
	strbuf_release(&text);
}

static void begin_with(const struct install_change *change, const char *text)
{
	sh("rm -rf d .local out; mkdir d");
	if (text)
		put_text(in_scratch("%s", change->path), text);
}

static enum install_state state_of(const struct install_change *change)
{
	enum install_state state;

	assert_int_equal(install_look(&state, change), 0);
	return state;
}

/* ---- the original ---- */

static void check_round(const struct install_change *change, const char *text)
{
	begin_with(change, text);
	assert_int_equal(state_of(change), INSTALL_ABSENT);
	assert_int_equal(put(change, INSTALL_EDITED), 0);
	assert_int_equal(state_of(change), INSTALL_THERE);
	assert_int_equal(put(change, INSTALL_UNCHANGED), 0);
	assert_int_equal(take_back(change, INSTALL_EDITED), 0);
	expect_text(change->path, text);
	assert_int_equal(take_back(change, INSTALL_UNCHANGED), 0);
	expect_text(change->path, text);
	/* Without the record: the same, but for blanks and brackets in JSON. */
	assert_int_equal(put(change, INSTALL_EDITED), 0);
	sh("rm .local/share/git-checkpoint/installed");
	assert_int_equal(take_back(change, INSTALL_EDITED), 0);
	assert_int_equal(state_of(change), INSTALL_ABSENT);
	if (change->kind == INSTALL_TOML && *text && text[strlen(text) - 1] == '\n')
		expect_text(change->path, text);
}

static void test_install_the_original_comes_back(void **state)
{
	static const char *const texts[] = {
		"{}", "{ }\n", "{\n}\n", "{\"a\":1}", "{\n\t\"a\": {\n\t\t\"b\": []\n\t}\n}",
		"{\"hooks\":{}}", "{\"hooks\": {\"A\": [ ]}}", "{\"hooks\":{\"A\":[1],\"B\":[{}]}}",
		"\xef\xbb\xbf{\r\n  \"a\": \"\\ud83d\\ude00\"\r\n}\r\n", "{\"hooks\":{\"x\":1},\"hooks\":{}}",
		"{\"big\": 123456789012345678901234567890}",
	};
	static const char *const tomls[] = { "", "a = 1", "a = 1\n", "a = 1\n\n", "[x]\r\n",
					     "[servers.x]\nrun = 2\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_round(&json, texts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(tomls); i++)
		check_round(&toml, tomls[i]);
}

static void test_install_files_and_directories_come_and_go(void **state)
{
	struct install_result results[2];

	(void)state;
	begin_with(&json, NULL);
	sh("rmdir d");
	assert_int_equal(put(&json, INSTALL_CREATED), 0);
	expect_text("d/x.json", JSON_TEXT);
	assert_int_equal(put(&json, INSTALL_UNCHANGED), 0);
	assert_int_equal(take_back(&json, INSTALL_REMOVED), 0);
	assert_int_equal(install_put(results, own, 2), 0);
	sh("test -x d/one; test ! -x d/e/two; cat .local/share/git-checkpoint/installed >x");
	assert_int_equal(install_take_back(results, own, 2), 0);
	assert_int_equal(results[0].outcome, INSTALL_REMOVED);
	sh("test ! -e d; test -z \"$(ls -A .local/share/git-checkpoint)\"");
	/* what others put there stays */
	assert_int_equal(install_put(results, own, 2), 0);
	sh("touch d/e/theirs");
	assert_int_equal(install_take_back(results, own, 2), 0);
	sh("test \"$(find d -type f)\" = d/e/theirs");
	/* formatted by others, it is still nothing but ours */
	begin_with(&json, NULL);
	assert_int_equal(put(&json, INSTALL_CREATED), 0);
	sh("jq -c . d/x.json >x; cp x d/x.json");
	assert_int_equal(take_back(&json, INSTALL_REMOVED), 0);
	sh("test ! -e d/x.json; test -d d");
}

/* ---- others ---- */

static void test_install_what_others_changed_stays(void **state)
{
	(void)state;
	begin_with(&json, NULL);
	assert_int_equal(put(&json, INSTALL_CREATED), 0);
	sh("jq '.more = 1 | .hooks.A += [\"theirs\"]' d/x.json >x; cp x d/x.json");
	assert_int_equal(take_back(&json, INSTALL_EDITED), 0);
	sh("jq -ce . d/x.json | grep -qxF '{\"version\":1,\"hooks\":{\"A\":[\"theirs\"]},\"more\":1}'");
	/* a part of it is gone: it is added again, and all of it goes */
	begin_with(&json, "{\"a\": 1}");
	assert_int_equal(put(&json, INSTALL_EDITED), 0);
	sh("jq 'del(.hooks.B)' d/x.json >x; cp x d/x.json");
	assert_int_equal(state_of(&json), INSTALL_PARTLY);
	assert_int_equal(put(&json, INSTALL_EDITED), 0);
	assert_int_equal(state_of(&json), INSTALL_THERE);
	assert_int_equal(take_back(&json, INSTALL_EDITED), 0);
	sh("jq -ce . d/x.json | grep -qxF '{\"a\":1}'");
	/* TOML */
	begin_with(&toml, "a = 1");
	assert_int_equal(put(&toml, INSTALL_EDITED), 0);
	sh("echo 'b = 2' >>d/x.toml");
	assert_int_equal(take_back(&toml, INSTALL_EDITED), 0);
	expect_text("d/x.toml", "a = 1\nb = 2\n");
}

static void test_install_the_users_own_entry_is_as_good(void **state)
{
	static const char changed[] = "{\"hooks\": {\"A\": [{\"run\": \"ours go\", \"x\": 1}]}}";
	struct install_result result;

	(void)state;
	begin_with(&json, changed);
	assert_int_equal(state_of(&json), INSTALL_ALIKE);
	assert_int_equal(put(&json, INSTALL_UNCHANGED), 0);
	assert_int_equal(install_take_back(&result, &json, 1), 0);
	assert_true(result.alike && result.outcome == INSTALL_UNCHANGED);
	expect_text("d/x.json", changed);
	/* not before the first entry, or another word */
	begin_with(&json, "{\"hooks\": {\"A\": [\"ours gone\"], \"B\": [\"ours stay\"]}}");
	assert_int_equal(state_of(&json), INSTALL_ABSENT);
	/* a member has its name for itself */
	begin_with(&server, "{\"servers\": {\"ours\": 2}}");
	assert_int_equal(state_of(&server), INSTALL_ALIKE);
	assert_int_equal(put(&server, INSTALL_UNCHANGED), 0);
	begin_with(&toml, " [servers.\"ours\"]\nrun = 2\n");
	assert_int_equal(state_of(&toml), INSTALL_ALIKE);
	assert_int_equal(put(&toml, INSTALL_UNCHANGED), 0);
	begin_with(&toml, "servers = { x = 1 }\n");
	assert_int_equal(put(&toml, INSTALL_UNCHANGED), CKPT_ERROR);
	expect_text("d/x.toml", "servers = { x = 1 }\n");
}

static void test_install_two_in_one_file(void **state)
{
	static const char before[] = "{\n  \"a\" : 1}";

	(void)state;
	for (int order = 0; order < 4; order++) {
		const struct install_change *first = order & 1 ? &json : &server;
		const struct install_change *last = order & 2 ? &json : &server;

		begin_with(&json, before);
		assert_int_equal(put(first, INSTALL_EDITED), 0);
		assert_int_equal(put(first == &json ? &server : &json, INSTALL_EDITED), 0);
		assert_true(install_is_by(&json) && install_is_by(&server));
		assert_int_equal(take_back(last == &json ? &server : &json, INSTALL_EDITED), 0);
		assert_int_equal(state_of(last), INSTALL_THERE);
		assert_int_equal(take_back(last, INSTALL_EDITED), 0);
		expect_text("d/x.json", before);
		assert_false(install_is_by(&json));
	}
}

static void test_install_files_of_others_are_refused_before_any_is_touched(void **state)
{
	struct install_result results[2];

	(void)state;
	begin_with(&json, NULL);
	sh("mkdir d/e; echo ours go >d/e/two");
	assert_int_equal(install_put(results, own, 2), CKPT_EREFUSED);
	sh("test ! -e d/one; test ! -e .local/share/git-checkpoint/installed");
	assert_int_equal(install_take_back(results, own, 2), 0);
	sh("test -e d/e/two");
	/* one that was changed */
	sh("rm -r d/e");
	assert_int_equal(install_put(results, own, 2), 0);
	sh("echo ours go >>d/one");
	assert_int_equal(install_take_back(results, own, 2), 0);
	assert_true(results[0].alike && results[0].outcome == INSTALL_UNCHANGED);
	sh("test -e d/one; test ! -e d/e");
	/* what cannot be edited */
	for (int i = 0; i < 5; i++) {
		static const char *const bad[] = { "{", "[]", "{\"hooks\": []}", "{\"hooks\": {\"A\": 1}}", "" };

		begin_with(&json, bad[i]);
		assert_int_equal(put(&json, INSTALL_EDITED), CKPT_ERROR);
		assert_non_null(strstr(ckpt_error_last(), "/d/x.json' cannot be edited: "));
		assert_int_equal(take_back(&json, INSTALL_EDITED), CKPT_ERROR);
		expect_text("d/x.json", bad[i]);
	}
}

/* ---- the record ---- */

static void test_install_the_record_is_a_memory_and_no_authority(void **state)
{
	struct install_result results[2];

	(void)state;
	/* what it says of a file that is not as we left it means nothing */
	begin_with(&json, "{\"a\": 1}");
	assert_int_equal(put(&json, INSTALL_EDITED), 0);
	sh("cp .local/share/git-checkpoint/installed saved; echo '{\"b\": 2}' >d/x.json");
	assert_int_equal(take_back(&json, INSTALL_UNCHANGED), 0);
	expect_text("d/x.json", "{\"b\": 2}\n");
	/* as after a kill between the record and the file */
	sh("mkdir -p .local/share/git-checkpoint; cp saved .local/share/git-checkpoint/installed; echo '{\"c\": 3}' >d/x.json");
	assert_int_equal(put(&json, INSTALL_EDITED), 0);
	assert_int_equal(take_back(&json, INSTALL_EDITED), 0);
	expect_text("d/x.json", "{\"c\": 3}\n");
	/* a file of ours is known by its bytes alone */
	assert_int_equal(install_put(results, own, 2), 0);
	sh("rm .local/share/git-checkpoint/installed");
	assert_int_equal(install_take_back(results, own, 2), 0);
	sh("test ! -e d/one; test ! -e d/e/two");
	sh("mkdir -p .local/share/git-checkpoint; echo x >.local/share/git-checkpoint/installed");
	assert_int_equal(put(&json, INSTALL_EDITED), CKPT_ECORRUPT);
	expect_text("d/x.json", "{\"c\": 3}\n");
}

/* ---- links ---- */

static void test_install_links_are_followed_within_the_root(void **state)
{
	struct install_change all = json;

	(void)state;
	begin_with(&json, NULL);
	sh("mkdir r out; mkdir r/real; echo '{}' >r/real/s; chmod 600 r/real/s; echo '{}' >out/s; rmdir d; mkdir r/d");
	all.root = in_scratch("r");
	all.root = strdup(all.root);
	sh("ln -s ../real/s r/d/x.json");
	assert_int_equal(put(&all, INSTALL_EDITED), 0);
	sh("test -L r/d/x.json; grep -q ours r/real/s; test \"$(stat -c %%a r/real/s)\" = 600; test \"$(ls -A r/real)\" = s");
	assert_int_equal(take_back(&all, INSTALL_EDITED), 0);
	sh("test \"$(cat r/real/s)\" = '{}'; test \"$(stat -c %%a r/real/s)\" = 600");
	sh("ln -sf \"$PWD/out/s\" r/d/x.json");
	assert_int_equal(put(&all, INSTALL_EDITED), CKPT_EREFUSED);
	sh("rm -r r/d; ln -s ../out r/d");
	assert_int_equal(put(&all, INSTALL_EDITED), CKPT_EREFUSED);
	assert_int_equal(take_back(&all, INSTALL_EDITED), CKPT_EREFUSED);
	sh("test \"$(cat out/s)\" = '{}'; rm r/d; ln -s ../none r/d");
	assert_int_not_equal(put(&all, INSTALL_EDITED), 0);
	sh("test ! -e none; rm r/d; mkdir r/d; ln -s ../real/none r/d/x.json");
	assert_int_not_equal(put(&all, INSTALL_EDITED), 0);
	sh("test ! -e r/real/none; rm -r r/d; mkdir -p r/d/x.json");
	assert_int_not_equal(put(&all, INSTALL_EDITED), 0);
	sh("rm -r r/d; echo x >r/d");
	assert_int_not_equal(put(&all, INSTALL_EDITED), 0);
	sh("test \"$(cat r/d)\" = x; rm -r r");
	free((char *)all.root);
}

/* Somebody exchanges the directory with a link to one outside, all the time. */
static void test_install_no_link_leads_out_whenever_it_appears(void **state)
{
	struct install_change all = json;
	struct strbuf text = STRBUF_INIT;
	pid_t pid;

	(void)state;
	sh("rm -rf r out .local; mkdir -p r/d out; echo '{}' >r/d/x.json; echo '{}' >out/x.json; ln -s ../out r/l");
	all.root = strdup(in_scratch("r"));
	pid = fork();
	if (!pid) {
		for (;;)
			renameat2(AT_FDCWD, "r/d", AT_FDCWD, "r/l", RENAME_EXCHANGE);
	}
	for (int i = rounds(300); i > 0; i--) {
		struct install_result result;

		(void)install_put(&result, &all, 1);
		(void)install_take_back(&result, &all, 1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	get_bytes(&text, "out/x.json");
	assert_string_equal(text.buf, "{}\n");
	sh("test \"$(ls -A out)\" = x.json; rm -r r out");
	strbuf_release(&text);
	free((char *)all.root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_install_the_original_comes_back),
		cmocka_unit_test(test_install_files_and_directories_come_and_go),
		cmocka_unit_test(test_install_what_others_changed_stays),
		cmocka_unit_test(test_install_the_users_own_entry_is_as_good),
		cmocka_unit_test(test_install_two_in_one_file),
		cmocka_unit_test(test_install_files_of_others_are_refused_before_any_is_touched),
		cmocka_unit_test(test_install_the_record_is_a_memory_and_no_authority),
		cmocka_unit_test(test_install_links_are_followed_within_the_root),
		cmocka_unit_test(test_install_no_link_leads_out_whenever_it_appears),
	};

	return cmocka_run_group_tests_name("install", tests, unit_setup, unit_teardown);
}
