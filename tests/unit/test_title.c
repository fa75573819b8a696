/* SPDX-License-Identifier: MIT */
/* Titles: command lines without secrets, cut, and the line that lists show. */

#include "unit.h"

#include "base/alloc.h"
#include "base/quote.h"
#include "record/checkpoint.h"
#include "record/title.h"

static void check_command(const char *expected, const char *const *words)
{
	struct strbuf out = STRBUF_INIT;
	size_t nr = 0;

	while (words[nr])
		nr++;
	title_add_command(&out, (char *const *)words, nr);
	assert_string_equal(out.buf, expected);
	strbuf_release(&out);
}

#define COMMAND(expected, ...) check_command(expected, (const char *const[]){ __VA_ARGS__, NULL })

static void test_a_command_line_can_be_typed_again(void **state)
{
	(void)state;
	COMMAND("git rebase main", "git", "rebase", "main");
	COMMAND("git stash push -m 'a b' -- 'it'\\''s' ''", "git", "stash", "push", "-m", "a b", "--",
		"it's", "");
	COMMAND("git pull https://example.com/x", "git", "pull", "https://example.com/x");
	/* names that only look like secrets */
	COMMAND("make tokens --author=me a=b user@host:x", "make", "tokens", "--author=me", "a=b",
		"user@host:x");
}

static void test_control_characters_become_blanks(void **state)
{
	(void)state;
	COMMAND("'a b' 'c [31md'", "a\nb", "c\x1b[31md");
	COMMAND("'\xef\xbf\xbd'", "\xff");
}

static void test_secrets_are_masked(void **state)
{
	(void)state;
	COMMAND("git pull https://example.com/x", "git", "pull", "https://me:pw@example.com/x");
	COMMAND("curl 'http://h/a@b?u=http://x@y'", "curl", "http://me@h/a@b?u=http://x@y");
	COMMAND("deploy --api-key '***' --verbose", "deploy", "--api-key", "abc", "--verbose");
	COMMAND("deploy --password --verbose", "deploy", "--password", "--verbose");
	COMMAND("deploy '--password=***' x", "deploy", "--password=abc", "x");
	COMMAND("env 'GITHUB_TOKEN=***' make", "env", "GITHUB_TOKEN=abc", "make");
	COMMAND("sh -c 'DB_PASSWORD=*** make all'", "sh", "-c", "DB_PASSWORD=abc make all");
	COMMAND("curl -H 'Authorization: ***' x", "curl", "-H", "Authorization: Bearer abc", "x");
	COMMAND("curl -H 'Authorization:***' x", "curl", "-H", "Authorization:Bearer abc", "x");
	COMMAND("sh -c 'curl -H Authorization: *** *** x'", "sh", "-c",
		"curl -H Authorization: Bearer abc x");
	COMMAND("curl -H 'X-Auth-Token: ***' x", "curl", "-H", "X-Auth-Token: abc", "x");
}

/* Not only the first word of them. */
static void test_secrets_with_blanks_are_masked(void **state)
{
	(void)state;
	COMMAND("x --password '***' y", "x", "--password", "correct horse battery", "y");
	COMMAND("x '--password=***' y", "x", "--password=correct horse battery", "y");
	COMMAND("env 'PASSPHRASE=***' y", "env", "PASSPHRASE=correct horse battery", "y");
	COMMAND("sh -c 'PASSWORD=*** make all'", "sh", "-c", "PASSWORD=\"correct horse\" make all");
	COMMAND("bash -lc 'x --token *** y'", "bash", "-lc", "x --token 'correct horse' y");
	COMMAND("sh -c 'x --token ***'", "sh", "-c", "x --token 'never closed y");
	/* short for nothing */
	COMMAND("x --token '***' y", "x", "--token", "b", "y");
}

static void test_secrets_within_a_word_are_masked(void **state)
{
	(void)state;
	COMMAND("curl 'https://h/?a=b&access_token=***'", "curl",
		"https://me:pw@h/?a=b&access_token=abc&c=d");
	COMMAND("curl https://github.com/x", "curl", "https://x-access-token:abc@github.com/x");
	COMMAND("curl https://token.example.com:80/x", "curl", "https://token.example.com:80/x");
	COMMAND("curl -d '{\"password\":***'", "curl", "-d", "{\"password\":\"abc\",\"x\":1}");
	COMMAND("curl -d '{\"password\": ***'", "curl", "-d", "{\"password\": \"a b\", \"x\":1}");
	COMMAND("sh -c 'curl -d \"{\\\"password\\\": *** y'", "sh", "-c",
		"curl -d \"{\\\"password\\\": \\\"a b\\\"}\" y");
}

static void test_a_long_command_line_is_cut_between_characters(void **state)
{
	char word[400] = "";

	(void)state;
	for (size_t shift = 0; shift < 4; shift++) {
		struct strbuf out = STRBUF_INIT;
		char *words[] = { "xxxx", word, "never shown" };

		words[0] = (char *)"xxxx" + shift;
		for (size_t i = 0; i + 3 < sizeof(word); i += 3)
			memcpy(word + i, "\xe2\x82\xac", 4);
		strbuf_addstr(&out, "before");
		title_add_command(&out, words, 3);
		assert_memory_equal(out.buf, "before", strlen("before"));
		assert_true(out.len <= TITLE_BEFORE_MAX);
		assert_true(out.len + 4 > TITLE_BEFORE_MAX);
		assert_true(utf8_valid(out.buf, out.len));
		assert_string_equal(out.buf + out.len - 3, "\xe2\x80\xa6");
		assert_null(strstr(out.buf, "never"));
		strbuf_release(&out);
	}
}

static void check_title(const char *expected, const struct ckpt_record *record)
{
	char *title = title_of(record);

	assert_string_equal(title, expected);
	free(title);
}

static void test_titles(void **state)
{
	struct ckpt_record hook = { .reason = "pre-rebase", .source = "hook", .automatic = true };
	struct ckpt_record run = { .reason = "pre-run", .source = "cli", .before = "make test",
				   .branch = "main", .head = "47120d2aaaaaaaa" };
	struct ckpt_record safety = { .reason = "pre-restore-safety", .source = "checkpoint",
				      .safety = true };
	struct ckpt_record agent = { .reason = "pre-tool", .source = "codex", .automatic = true };
	struct ckpt_record plain = { .reason = "manual", .source = "cli" };

	(void)state;
	check_title("pre-rebase", &hook);
	hook.before = "git rebase main";
	check_title("before: git rebase main", &hook);
	hook.branch = "feature";
	check_title("before: git rebase main (feature, no commit yet)", &hook);
	hook.head = "47120d2aaaaaaaa";
	check_title("before: git rebase main (feature at 47120d2)", &hook);
	hook.branch = NULL;
	check_title("before: git rebase main (detached at 47120d2)", &hook);
	check_title("before: make test", &run);
	check_title("before restoring a checkpoint", &safety);
	strcpy(safety.safety_for, "chk_20261118_001434_5204e3");
	check_title("before restoring chk_20261118_001434_5204e3", &safety);
	check_title("before: a tool of codex", &agent);
	agent.before = "Edit src/a.c";
	check_title("before: Edit src/a.c", &agent);
	agent.before = NULL;
	agent.done = "Edit src/a.c";
	check_title("after: Edit src/a.c", &agent);
	agent.done = NULL;
	agent.automatic = false;
	check_title("pre-tool", &agent);
	check_title("(no message)", &plain);
	plain.reason = "";
	check_title("(no message)", &plain);
	plain.reason = "\n\nsecond\tline\nthird";
	check_title("second line", &plain);
}

/* What a tool works on: one line, within the limit, without secrets. */
static void test_texts_and_paths(void **state)
{
	struct strbuf out = STRBUF_INIT, lengthy = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&out, "Bash ");
	title_add_text(&out, "make test\n\033 TOKEN=abc curl -H 'x' https://me:pw@host/p");
	assert_string_equal(out.buf, "Bash \"make test   TOKEN=*** curl -H 'x' https://host/p\"");
	strbuf_reset(&out);
	title_add_path(&out, "src/a\tb");
	assert_string_equal(out.buf, "\"src/a\\tb\"");
	for (int i = 0; i < 100; i++)
		strbuf_addstr(&lengthy, "\xc3\xa4x ");
	strbuf_reset(&out);
	strbuf_addstr(&out, "Bash ");
	title_add_text(&out, lengthy.buf);
	assert_true(out.len <= TITLE_BEFORE_MAX && out.len > TITLE_BEFORE_MAX - 8);
	assert_true(utf8_valid(out.buf, out.len));
	assert_string_equal(out.buf + out.len - 4, "\xe2\x80\xa6\"");
	strbuf_reset(&out);
	title_add_path(&out, lengthy.buf);
	assert_true(out.len <= TITLE_BEFORE_MAX && utf8_valid(out.buf, out.len));
	strbuf_release(&out);
	strbuf_release(&lengthy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_and_paths),
		cmocka_unit_test(test_a_command_line_can_be_typed_again),
		cmocka_unit_test(test_control_characters_become_blanks),
		cmocka_unit_test(test_secrets_are_masked),
		cmocka_unit_test(test_secrets_with_blanks_are_masked),
		cmocka_unit_test(test_secrets_within_a_word_are_masked),
		cmocka_unit_test(test_a_long_command_line_is_cut_between_characters),
		cmocka_unit_test(test_titles),
	};

	return cmocka_run_group_tests_name("title", tests, NULL, NULL);
}
