/* SPDX-License-Identifier: MIT */
/*
 * Editing what somebody else wrote: what is put in and taken out again leaves
 * every byte as it was, or it is refused and nothing is touched; and what was
 * never put in by us is not taken out. Texts of all kinds, by chance.
 */
#include "agents/agent_entry_internal.h"
#include "agents/agent_json_internal.h"
#include "agents/jsonedit_internal.h"
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

static const char *blank(void)
{
	static const char *const blanks[] = { "", "", "", " ", "  ", "\n", "\n  ", "\r\n", "\r\n\t", "\r",
					      "\t", "\n\n", " \n", "\r\r", "\n\t\t" };

	return PICK(blanks);
}

/* ---- JSON ---- */

static void gen_string(struct strbuf *out, const struct agent *agent)
{
	struct strbuf text = STRBUF_INIT;
	static const char *const words[] = { "a", "", "hooks", "command", "matcher", "Bash", "{}", "//", "x y" };
	json_t *entry, *string;
	char *dump;

	switch (rnd(8)) {
	case 0: /* says the same, but is not ours */
		strbuf_addf(&text, "git checkpoint save --source %s -q", agent->name);
		break;
	case 1: /* ours */
		entry = agent_entry(agent, rnd(32), AGENT_ENTRY, agent->events[rnd(4)]);
		string = agent->format == AGENT_FLAT ? entry
						     : json_array_get(json_object_get(entry, "hooks"), 0);
		strbuf_addstr(&text, json_string_value(
					     json_object_get(string, agent_command_key(agent))));
		json_decref(entry);
		break;
	default:
		strbuf_addstr(&text, PICK(words));
	}
	string = json_string(text.buf);
	dump = json_dumps(string, JSON_ENCODE_ANY);
	strbuf_addstr(out, dump);
	free(dump);
	json_decref(string);
	strbuf_release(&text);
}

static void gen_space(struct strbuf *out, const struct agent *agent)
{
	strbuf_addstr(out, blank());
	if (agent->flags & JSONEDIT_COMMENTS && !rnd(6))
		strbuf_addf(out, "%s%s", rnd(2) ? "// x, {\n" : "/* \"y\" */", blank());
}

static void gen_value(struct strbuf *out, const struct agent *agent, int depth);

static void gen_key(struct strbuf *out, const struct agent *agent, int depth)
{
	static const char *const inner[] = { "matcher", "hooks", "type", "command", "timeout", "a" };

	if (!depth && rnd(3))
		strbuf_addstr(out, "\"hooks\"");
	else if (depth == 1 && rnd(3))
		strbuf_addf(out, "\"%s\"", rnd(4) ? agent->events[0] : "Stop");
	else
		strbuf_addf(out, "\"%s\"", PICK(inner));
}

static void gen_members(struct strbuf *out, const struct agent *agent, int depth, bool object)
{
	unsigned nr = rnd(3);

	gen_space(out, agent);
	for (unsigned i = 0; i < nr; i++) {
		if (object) {
			gen_key(out, agent, depth);
			gen_space(out, agent);
			strbuf_addch(out, ':');
			gen_space(out, agent);
		}
		gen_value(out, agent, depth + 1);
		gen_space(out, agent);
		if (i + 1 < nr) {
			strbuf_addch(out, ',');
			gen_space(out, agent);
		}
	}
}

static void gen_value(struct strbuf *out, const struct agent *agent, int depth)
{
	static const char *const scalars[] = { "1", "true", "null", "-0.5e3" };
	/* As settings are: objects at the outside, then lists of objects. */
	bool object = depth < 2 ? rnd(8) : rnd(2);

	if (depth > 5 || (depth && !rnd(5))) {
		if (rnd(2))
			gen_string(out, agent);
		else
			strbuf_addstr(out, PICK(scalars));
		return;
	}
	if (depth == 3 && !rnd(6)) {
		json_t *entry = agent_entry(agent, rnd(32), AGENT_ENTRY, agent->events[rnd(4)]);
		char *dump = json_dumps(entry, rnd(2) ? JSON_INDENT(2) : JSON_COMPACT);

		strbuf_addstr(out, dump);
		free(dump);
		json_decref(entry);
		return;
	}
	strbuf_addch(out, object ? '{' : '[');
	gen_members(out, agent, depth, object);
	strbuf_addch(out, object ? '}' : ']');
}

static const char *generate_json(struct strbuf *out, const struct agent *agent)
{
	strbuf_reset(out);
	if (!rnd(10))
		strbuf_addstr(out, "\xef\xbb\xbf");
	gen_space(out, agent);
	gen_value(out, agent, 0);
	gen_space(out, agent);
	if (!rnd(4))
		mutate(out);
	return out->buf;
}

static void json_round(const struct agent *agent, unsigned done[3])
{
	struct strbuf before = STRBUF_INIT, text = STRBUF_INIT, without = STRBUF_INIT;
	bool changed = false, removed, empty, own_file;
	unsigned added;
	int err;

	generate_json(&before, agent);
	copy(&text, &before);
	/* What has one of ours loses it with the others; a file that we made is written again. */
	copy(&without, &before);
	(void)agent_json_remove(&without, agent, &removed, &added, &empty);
	own_file = empty && added & ADDED_FILE;
	err = agent_json_insert(&text, agent, 0, &changed);
	if (err || !changed) {
		same(&text, &before, err ? "refused" : "there already");
		done[err == CKPT_EREFUSED ? 1 : 2]++;
	} else {
		assert_int_equal(agent_json_check(&text, agent), 0);
		assert_int_equal(agent_json_remove(&text, agent, &removed, &added, &empty), 0);
		assert_true(removed);
		if (own_file) {
			assert_true(empty && added & ADDED_FILE);
			copy(&without, &text);
		}
		same(&text, &without, "put in and taken out");
		done[0]++;
		/* What had none of ours has none to give. */
		assert_int_equal(agent_json_remove(&text, agent, &removed, &added, &empty), 0);
		assert_false(removed);
		same(&text, &without, "taken out twice");
	}
	strbuf_release(&without);
	strbuf_release(&before);
	strbuf_release(&text);
}

static void test_editors_json(void **state)
{
	unsigned done[3] = { 0 };

	(void)state;
	for (int i = 0; i < rounds(ROUNDS); i++)
		for (const struct agent *agent = agent_table; agent->name; agent++)
			if (agent->events[0])
				json_round(agent, done);
	print_message("# JSON: %u edited, %u without a way back, %u malformed or there already\n", done[0],
		      done[1], done[2]);
	/* Refusing all would be easy. */
	assert_true(done[0] > 20 * done[1]);
	assert_true(done[0] > (unsigned)rounds(ROUNDS) / 2);
}

/* An entry that a person wrote, or has changed, stays. */
static void test_editors_json_of_the_user(void **state)
{
	static const char *const texts[] = {
		"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":"
		"\"git checkpoint save --source claude-code\"}]}]}}",
		"{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\","
		"\"command\":\"git checkpoint save --source claude-code -q\"}]}]}}",
		"{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash|Edit|MultiEdit|NotebookEdit|Write\","
		"\"hooks\":[{\"type\":\"command\",\"command\":\"cat >/dev/null; cd "
		"\\\"${CLAUDE_PROJECT_DIR:-.}\\\" && git checkpoint save --source claude-code -q -m "
		"pre-tool >/dev/null 2>&1 || true\",\"timeout\":31}]}]}}",
	};
	struct strbuf text = STRBUF_INIT, before = STRBUF_INIT;
	bool changed, empty;
	unsigned added;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		strbuf_reset(&before);
		strbuf_addstr(&before, texts[i]);
		copy(&text, &before);
		assert_int_equal(agent_json_remove(&text, &agent_table[0], &changed, &added, &empty), 0);
		assert_false(changed);
		same(&text, &before, "of the user");
	}
	/* In another event it does not stand for ours. */
	strbuf_reset(&text);
	strbuf_addstr(&text, texts[0]);
	assert_int_equal(agent_json_insert(&text, &agent_table[0], 0, &changed), 0);
	assert_true(changed);
	strbuf_release(&text);
	strbuf_release(&before);
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
		cmocka_unit_test(test_editors_json),
		cmocka_unit_test(test_editors_json_of_the_user),
		cmocka_unit_test(test_editors_config),
		cmocka_unit_test(test_editors_config_that_goes_on),
		cmocka_unit_test(test_editors_hookfile),
	};

	return cmocka_run_group_tests_name("editors", tests, setup, unit_teardown);
}
