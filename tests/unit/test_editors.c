/* SPDX-License-Identifier: MIT */
/*
 * Editing what somebody else wrote: what is put in and taken out again leaves
 * every byte as it was, or it is refused and nothing is touched; and what was
 * never put in by us is not taken out. Texts of all kinds, by chance.
 */
#include "base/error.h"
#include "unit.h"
#include "git/configtext.h"
#include "hooks/config_edit_internal.h"
#include "hooks/hook_file_internal.h"

#include <time.h>

enum { ROUNDS = 4000 };

#define PICK(list) ((list)[rnd(sizeof(list) / sizeof((list)[0]))])

static void same(const struct strbuf *now, const struct strbuf *before, const char *when)
{
	if (now->len == before->len && !memcmp(now->buf, before->buf, before->len))
		return;
	print_error("%s: was (%zu)\n%s\n--- is (%zu)\n%s\n", when, before->len, before->buf, now->len,
		    now->buf);
	fail();
}

static void copy(struct strbuf *out, const struct strbuf *from)
{
	strbuf_reset(out);
	strbuf_add(out, from->buf, from->len);
}

/* Some bytes other than they were: most such texts are malformed, the others are odd. */
static void mutate(struct strbuf *text)
{
	static const char bytes[] = "\0\r\n\t \"\\#;/*{}[],:=<>";

	for (unsigned n = rnd(3); n && text->len; n--) {
		size_t at = rnd((unsigned)text->len);

		text->buf[at] = bytes[rnd(sizeof(bytes) - 1)];
	}
}

/* ---- git's configuration ---- */

static int count_key(const char *key, const char *value, void *payload)
{
	(void)key;
	(void)value;
	++*(unsigned *)payload;
	return 0;
}

static void config_round(struct strbuf *before, unsigned *done)
{
	struct strbuf text = STRBUF_INIT, value = STRBUF_INIT;
	struct config_edit edits[4];
	unsigned keys = 0, now = 0;

	copy(&text, before);
	config_edit_set(&text, &edits[0], "core", "fsmonitor", "test -r 'a b' || exit 1; . 'a b'");
	config_edit_set(&text, &edits[1], "core", "fsmonitorHookVersion", "2");
	config_edit_set(&text, &edits[2], "hook.checkpoint-x", "event", "pre-rebase");
	config_edit_set(&text, &edits[3], "hook.checkpoint-x", "command", "c");
	if (config_edit_check(before, &text, edits, 4)) {
		++*done;
		assert_int_equal(configtext_parse(before->buf, before->len, count_key, &keys), 0);
		assert_int_equal(configtext_parse(text.buf, text.len, count_key, &now), 0);
		assert_true(now >= keys && now <= keys + 4);
		assert_true(config_edit_get(&value, &text, "core", "fsmonitor"));
		assert_string_equal(value.buf, edits[0].value);
		for (int i = 4; i--;)
			config_edit_undo(&text, &edits[i]);
		same(&text, before, "set and taken back");
	}
	for (int i = 0; i < 4; i++)
		config_edit_release(&edits[i]);
	strbuf_release(&value);
	strbuf_release(&text);
}

static void test_editors_config(void **state)
{
	static const char *const pieces[] = {
		"[core]\n", "[core]", "[CORE]\n", "[hook \"checkpoint-x\"]\n", "[a \"b\"]\r\n", "\tkey = value\n",
		"\tfsmonitor = x\n", "fsMonitor=false # c\n", "\tk = \"a;b\" ; c\n", "\tk = a\\\n\tb\n", "k\n", "k = \\",
		"\n", "\r\n", " ", "# c\n", "; c", "\t", "k = v", "\xef\xbb\xbf", "[core] fsmonitor = y\n", "\r",
		"\tevent = z\n", "k = \"x\\n\"\n",
	};
	struct strbuf before = STRBUF_INIT;
	unsigned done = 0, readable = 0, n;

	(void)state;
	for (int i = 0; i < rounds(ROUNDS); i++) {
		strbuf_reset(&before);
		for (unsigned nr = rnd(9); nr; nr--)
			strbuf_addstr(&before, PICK(pieces));
		if (!rnd(4))
			mutate(&before);
		readable += !configtext_parse(before.buf, before.len, count_key, &n);
		config_round(&before, &done);
	}
	print_message("# configuration: %u edited of %u that git reads\n", done, readable);
	assert_true(done * 2 > readable);
	strbuf_release(&before);
}

/* The last line goes on in the next: whatever is appended would become part of its value. */
static void test_editors_config_that_goes_on(void **state)
{
	struct strbuf before = STRBUF_INIT, text = STRBUF_INIT;
	struct config_edit edit;

	(void)state;
	strbuf_addstr(&before, "[a]\n\tk = v\\");
	copy(&text, &before);
	config_edit_set(&text, &edit, "core", "fsmonitor", "x");
	assert_false(config_edit_check(&before, &text, &edit, 1));
	config_edit_release(&edit);
	strbuf_release(&before);
	strbuf_release(&text);
}

/* ---- hooks ---- */

static void test_editors_hookfile(void **state)
{
	static const char lines[] = HOOK_FILE_BEGIN "_ckpt_program=''\ngit-checkpoint hook y\n" HOOK_FILE_END;
	static const char *const pieces[] = {
		"#!/bin/sh\n", "#!/bin/bash -e\n", "echo\n", "\r\n", "\n", HOOK_FILE_BEGIN, HOOK_FILE_END, "# c", "_ckpt_program=x\n",
		"exit 0", " ", "#!/usr/bin/env sh\n",
	};
	struct strbuf before = STRBUF_INIT, with = STRBUF_INIT, without = STRBUF_INIT;
	unsigned done = 0, shells = 0;

	(void)state;
	for (int i = 0; i < rounds(ROUNDS); i++) {
		strbuf_reset(&before);
		if (rnd(4))
			strbuf_addstr(&before, "#!/bin/sh\n");
		for (unsigned nr = rnd(8); nr; nr--)
			strbuf_addstr(&before, PICK(pieces));
		if (!rnd(4))
			mutate(&before);
		if (!hook_file_is_shell(before.buf, before.len))
			continue;
		shells++;
		if (hook_file_is_ours(before.buf, before.len))
			continue;
		done++;
		strbuf_reset(&with);
		strbuf_reset(&without);
		hook_file_insert(&with, before.buf, before.len, lines);
		assert_true(hook_file_remove(&without, with.buf, with.len));
		same(&without, &before, "put in and taken out");
	}
	print_message("# hooks: %u of %u took lines\n", done, shells);
	assert_true(done * 2 > shells);
	strbuf_release(&before);
	strbuf_release(&with);
	strbuf_release(&without);
}

static int setup(void **state)
{
	const char *given = getenv("TEST_SEED");

	unit_seed = given && *given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	print_message("# TEST_SEED=%llu\n", (unsigned long long)unit_seed);
	return unit_setup(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_editors_config),
		cmocka_unit_test(test_editors_config_that_goes_on),
		cmocka_unit_test(test_editors_hookfile),
	};

	return cmocka_run_group_tests_name("editors", tests, setup, unit_teardown);
}
