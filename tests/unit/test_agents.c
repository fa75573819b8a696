/* SPDX-License-Identifier: MIT */
/*
 * agents: an entry in the settings of each agent, in files of all shapes; the same bytes after
 * install and uninstall; what others wrote in between stays.
 */
#include "agents/agents.h"

#include "base/error.h"

#include "unit.h"

#include "agentsprobe.h"

#include <jansson.h>

/* How often the command is in an event's array, where the agent looks for it. */
static int count_in(int a, const char *event)
{
	json_error_t error;
	json_t *root = json_load_file(file_of(a), 0, &error), *list, *group, *hook;
	size_t i, k;
	char wanted[64];
	int count = 0;

	snprintf(wanted, sizeof(wanted), "git-checkpoint agent-hook %s", agents[a].name);
	if (!root)
		fail_msg("%s: %s", file_of(a), error.text);
	list = json_object_get(json_object_get(root, "hooks"), event);
	json_array_foreach(list, i, group) {
		json_array_foreach(json_object_get(group, "hooks"), k, hook) {
			const char *command = json_string_value(json_object_get(hook, "command"));

			if (command && !strncmp(command, wanted, strlen(wanted))) {
				count++;
				assert_true(json_is_integer(json_object_get(hook, "timeout")));
				/* for every tool, and nothing for a shell to do */
				assert_null(json_object_get(group, "matcher"));
				assert_null(strpbrk(command, "\"'$`\\;&<>(){}*?~#!"));
			}
		}
	}
	json_decref(root);
	return count;
}

/* In each event equally often. */
static int count_ours(int a)
{
	int count = count_in(a, agents[a].event);

	for (size_t i = 0; i < ARRAY_SIZE(agents[a].more); i++)
		assert_int_equal(count_in(a, agents[a].more[i]), count);
	return count;
}

/* ---- shapes ---- */

static const char *const shapes[] = {
	"{}",
	"{}\n",
	"{ }\n",
	"{\n}\n",
	"\n{\n\n}\n\n",
	"{\"a\":1}",
	"{\"a\": 1}\n",
	"{\n  \"a\": 1\n}\n",
	"{\n\t\"a\": {\n\t\t\"b\": []\n\t}\n}",
	"{\r\n    \"a\": 1\r\n}\r\n",
	"{\"a\":1,\"hooks\":{}}",
	"{\"a\": 1, \"hooks\": { }}",
	"{\n  \"a\": 1,\n  \"hooks\": {}\n}\n",
	"{\n  \"a\": 1,\n  \"hooks\": {\n  }\n}\n",
	"{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"a\": 1\n}\n",
	"{\"a\":1,\"hooks\":{\"@\":[]}}",
	"{\n  \"a\": 1,\n  \"hooks\": {\n    \"@\": []\n  }\n}\n",
	"{\n  \"a\": 1,\n  \"hooks\": {\n    \"@\": [\n    ]\n  }\n}\n",
	"{\n  \"a\": 1,\n  \"hooks\": {\"@\": [{\"matcher\": \"X\", \"hooks\": []}]}\n}\n",
	"{\n  \"a\": 1,\n  \"hooks\": {\n    \"@\": [\n      {\n        \"matcher\": \"X\",\n"
	"        \"hooks\": [{\"command\": \"git checkpoint save --source other\"}]\n"
	"      }\n    ]\n  }\n}\n",
	"{\"hooks\":{\"@\":[1]},\"a\":1,\"hooks\":{\"x\":2}}",
	"{\n  \"a\": 1,\n  \"hoo\\u006bs\": {\n    \"\\u0050ost\": []\n  }\n}\n",
	"{\"\\ud83d\\ude00 \\\"hooks\\\"\": {\"hooks\": {}}}",
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* With the agent's own name for '@'. */
static char *shape_for(int a, const char *shape)
{
	struct strbuf out = STRBUF_INIT;

	for (; *shape; shape++) {
		if (*shape == '@')
			strbuf_addstr(&out, agents[a].event);
		else
			strbuf_addch(&out, *shape);
	}
	return strbuf_detach(&out, NULL);
}

static void test_any_shape_comes_back(void **state)
{
	(void)state;
	for (int a = 0; a < AGENTS; a++) {
		for (int i = 0; i < SHAPES; i++) {
			char *shape = shape_for(a, shapes[i]);
			bool hides = strstr(shape, "[1]");
			struct strbuf installed = STRBUF_INIT;

			put_settings(a, shape);
			install(agents[a].name, AGENTS_EDITED);
			if (!hides) /* jansson does not take the last of two */
				assert_int_equal(count_ours(a), 1);
			get_bytes(&installed, file_of(a));
			install(agents[a].name, AGENTS_UNCHANGED);
			expect_settings(a, installed.buf);
			uninstall(agents[a].name, AGENTS_EDITED);
			expect_settings(a, shape);
			uninstall(agents[a].name, AGENTS_UNCHANGED);
			expect_settings(a, shape);
			strbuf_release(&installed);
			free(shape);
		}
	}
}

static enum agents_state state_of(int a)
{
	struct agents_statuses found;
	enum agents_state state = AGENTS_ABSENT;

	agents_look(&found, scratch, NULL);
	for (size_t i = 0; i < found.nr; i++)
		if (!strcmp(found.items[i].agent, agents[a].name) && found.items[i].path[0] != '/')
			state = found.items[i].state;
	agents_statuses_release(&found);
	return state;
}

/* An entry for one event is missing, or somebody changed one. */
static void test_entries_that_are_not_all_there(void **state)
{
	(void)state;
	for (int a = 0; a < AGENTS; a++) {
		const char *file = file_of(a);

		remove_all();
		install(agents[a].name, AGENTS_CREATED);
		sh("jq 'del(.hooks.%s)' %s >x; mv x %s", agents[a].more[2], file, file);
		assert_int_equal(state_of(a), AGENTS_OUTDATED);
		install(agents[a].name, AGENTS_EDITED);
		assert_int_equal(count_ours(a), 1);
		/* what the user changed is the user's, and still does its work */
		sh("jq '.hooks.%s[0].hooks[0].timeout = 7' %s >x; mv x %s", agents[a].event, file, file);
		assert_int_equal(state_of(a), AGENTS_INSTALLED);
		install(agents[a].name, AGENTS_UNCHANGED);
		uninstall(agents[a].name, AGENTS_EDITED);
		assert_int_equal(count_in(a, agents[a].event), 1);
		assert_int_equal(count_in(a, agents[a].more[0]), 0);
		assert_int_equal(state_of(a), AGENTS_INSTALLED);
	}
}

static void test_comments_stay_where_the_format_has_them(void **state)
{
	static const char text[] = "// settings\n{\n  // look\n  \"a\": 1 /* one */ // two\n}\n// end";
	static const char hooks[] =
		"{\n  \"hooks\": { // all\n    \"BeforeTool\": [ // none\n    ]\n  }\n}\n";

	(void)state;
	put_settings(2, text);
	install("gemini-cli", AGENTS_EDITED);
	install("gemini-cli", AGENTS_UNCHANGED);
	uninstall("gemini-cli", AGENTS_EDITED);
	expect_settings(2, text);
	put_settings(2, hooks);
	install("gemini-cli", AGENTS_EDITED);
	uninstall("gemini-cli", AGENTS_EDITED);
	expect_settings(2, hooks);
	put_settings(0, text);
	assert_int_equal(act(INSTALL, "claude-code", false, 0), CKPT_ERROR);
	expect_settings(0, text);
}

static void test_what_is_malformed_is_refused_and_left(void **state)
{
	static const char *const bad[] = {
		"",	     "{",	    "{\"a\": 1,}",	    "[]",
		"\"x\"",     "{} x",	    "{\"hooks\": []}",	    "{\"hooks\": null}",
		"{\"hooks\": {\"@\": {}}}", "{\"hooks\": {\"@\": \"x\"}}", "not json",
	};

	(void)state;
	for (int a = 0; a < AGENTS; a++) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			char *text = shape_for(a, bad[i]);

			put_settings(a, text);
			assert_int_equal(act(INSTALL, agents[a].name, false, 0), CKPT_ERROR);
			assert_non_null(strstr(ckpt_error_last(), file_of(a)));
			
			expect_settings(a, text);
			free(text);
		}
		put_settings(a, "{\n  \"a\": }\n");
		assert_int_equal(act(UNINSTALL, agents[a].name, false, 0), CKPT_ERROR);
		assert_non_null(strstr(ckpt_error_last(), "line 2, column "));
		expect_settings(a, "{\n  \"a\": }\n");
	}
}

/* ---- files ---- */

static void test_files_and_directories_come_and_go(void **state)
{
	(void)state;
	remove_all();
	for (int a = 0; a < AGENTS; a++) {
		install(agents[a].name, AGENTS_CREATED);
		assert_int_equal(count_ours(a), 1);
		install(agents[a].name, AGENTS_UNCHANGED);
		uninstall(agents[a].name, AGENTS_REMOVED);
		assert_false(is_there(in_scratch("%s", agents[a].dir)));
		uninstall(agents[a].name, AGENTS_UNCHANGED);

		/* A directory that was there stays, and so does one with something in it. */
		mkdir(in_scratch("%s", agents[a].dir), 0700);
		install(agents[a].name, AGENTS_CREATED);
		uninstall(agents[a].name, AGENTS_REMOVED);
		assert_true(is_there(in_scratch("%s", agents[a].dir)));
		rmdir(in_scratch("%s", agents[a].dir));
		install(agents[a].name, AGENTS_CREATED);
		put_text(in_scratch("%s/other", agents[a].dir), "x");
		uninstall(agents[a].name, AGENTS_REMOVED);
		assert_false(is_there(file_of(a)));
		assert_true(is_there(in_scratch("%s/other", agents[a].dir)));
	}
}

static void test_modes_and_links_stay(void **state)
{
	struct stat st;

	(void)state;
	remove_all();
	put_settings(0, "{}\n");
	chmod(file_of(0), 0600);
	install("claude-code", AGENTS_EDITED);
	assert_int_equal(stat(file_of(0), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	uninstall("claude-code", AGENTS_EDITED);
	assert_int_equal(stat(file_of(0), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	sh("mkdir real; mv .claude/settings.json real/s; ln -s ../real/s .claude/settings.json");
	install("claude-code", AGENTS_EDITED);
	assert_int_equal(lstat(file_of(0), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(count_ours(0), 1);
	sh("grep -q 'agent-hook claude-code' real/s; test \"$(ls -A real .claude | wc -l)\" = 5");
	uninstall("claude-code", AGENTS_EDITED);
	sh("test \"$(cat real/s)\" = '{}'; test -L .claude/settings.json");

	sh("rm real/s");
	assert_int_equal(act(INSTALL, "claude-code", false, 0), CKPT_ERROR);
	sh("test -L .claude/settings.json; test \"$(ls -A real)\" = ''");
	sh("rm -r .claude; mkdir -p .claude/settings.json");
	assert_int_not_equal(act(INSTALL, "claude-code", false, 0), 0);
	sh("rm -r .claude; echo x >.claude");
	assert_int_not_equal(act(INSTALL, "claude-code", false, 0), 0);
	sh("test \"$(cat .claude)\" = x; rm .claude");
}

static void test_the_home_directory(void **state)
{
	char *before = strdup(scratch);

	(void)state;
	remove_all();
	sh("mkdir -p home other");
	setenv("HOME", in_scratch("home"), 1);
	setenv("XDG_DATA_HOME", in_scratch("data"), 1);
	snprintf(scratch, sizeof(scratch), "%s/other", before);
	assert_int_equal(act(INSTALL, "claude-code", true, AGENTS_CREATED), 0);
	assert_int_equal(act(INSTALL, "gemini-cli", true, AGENTS_CREATED), 0);
	snprintf(scratch, sizeof(scratch), "%s", before);
	sh("grep -q 'agent-hook claude-code\"' home/.claude/settings.json;"
	   "grep -q 'agent-hook gemini-cli ' home/.gemini/settings.json;"
	   "test -z \"$(ls -A other)\"; test ! -e .claude; test ! -e .gemini");
	assert_int_equal(act(UNINSTALL, "claude-code", true, AGENTS_REMOVED), 0);
	assert_int_equal(act(UNINSTALL, "gemini-cli", true, AGENTS_REMOVED), 0);
	sh("test -z \"$(ls -A home)\"");
	unsetenv("HOME");
	assert_int_equal(act(INSTALL, "claude-code", true, 0), CKPT_ERROR);
	setenv("HOME", scratch, 1);
	unsetenv("XDG_DATA_HOME");
	free(before);
}

/* ---- later edits ---- */

static void test_what_others_add_later_stays(void **state)
{
	(void)state;
	for (int a = 0; a < AGENTS; a++) {
		const char *event = agents[a].event, *file = file_of(a);

		remove_all();
		install(agents[a].name, AGENTS_CREATED);
		sh("jq '.more = 1 | .hooks.%s += [{\"command\":\"theirs\"}] | .hooks.Other = []' %s >x; "
		   "mv x %s",
		   event, file, file);
		assert_int_equal(count_ours(a), 1);
		uninstall(agents[a].name, AGENTS_EDITED);
		assert_int_equal(count_ours(a), 0);
		sh("jq -e '.more == 1 and .hooks == {\"%s\":[{\"command\":\"theirs\"}],\"Other\":[]}' "
		   "%s >/dev/null",
		   event, file);

		/* A command in our group: only ours goes. */
		remove_all();
		put_settings(a, "{}\n");
		install(agents[a].name, AGENTS_EDITED);
		sh("jq '.hooks.%s[0].hooks = [{\"command\":\"a\"}] + .hooks.%s[0].hooks' %s >x; "
		   "mv x %s",
		   event, event, file, file);
		uninstall(agents[a].name, AGENTS_EDITED);
		sh("jq -e '.hooks.%s[0].hooks == [{\"command\":\"a\"}]' %s >/dev/null", event, file);
	}
}

/* ---- names and text ---- */

static void test_names(void **state)
{
	struct agents_result result = AGENTS_RESULT_INIT;
	struct agents_opts opts = { .agent = "generic", .root = scratch };
	int count = 0;

	(void)state;
	remove_all();
	assert_int_equal(act(INSTALL, "emacs", false, 0), CKPT_ERROR);
	assert_string_equal(ckpt_error_last(),
			    "agent 'emacs' is not supported; use one of amp, claude-code, cline, "
			    "codex, copilot, cursor, droid, gemini-cli, goose, kiro, opencode, qwen-code, "
			    "windsurf, generic");
	assert_int_equal(agents_check("emacs"), CKPT_ERROR);
	assert_int_equal(act(UNINSTALL, "", false, 0), CKPT_ERROR);
	assert_int_equal(act(PRINT, "claude", false, 0), CKPT_ERROR);
	for (const char *const *name = agents_names(); *name; name++, count++) {
		assert_int_equal(agents_check(*name), 0);
		assert_int_equal(act(PRINT, *name, false,
				     strcmp(*name, "generic") ? AGENTS_UNCHANGED : AGENTS_NO_FILE),
				 0);
	}
	assert_int_equal(count, 14);
	assert_int_equal(agents_install(&result, &opts), 0);
	assert_int_equal(result.change, AGENTS_NO_FILE);
	assert_non_null(strstr(result.text.buf, "\ngit checkpoint save --source generic "));
	agents_result_release(&result);
	uninstall("generic", AGENTS_NO_FILE);
	sh("test -z \"$(ls -d .claude .codex .gemini .cursor 2>/dev/null)\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_shape_comes_back),
		cmocka_unit_test(test_entries_that_are_not_all_there),
		cmocka_unit_test(test_comments_stay_where_the_format_has_them),
		cmocka_unit_test(test_what_is_malformed_is_refused_and_left),
		cmocka_unit_test(test_files_and_directories_come_and_go),
		cmocka_unit_test(test_modes_and_links_stay),
		cmocka_unit_test(test_the_home_directory),
		cmocka_unit_test(test_what_others_add_later_stays),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
