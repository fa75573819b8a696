/* SPDX-License-Identifier: MIT */
/*
 * install: git's configuration, which git itself edits, and git's hooks, with what is put aside for
 * ours: what was there comes back, with the record and without.
 */
#include "install/install.h"

#include "base/error.h"
#include "install/install_internal.h"

#include "unit.h"

#define LINE "[ ! -r x ] || . x" INSTALL_HOOK_END
#define HOOK "#!/bin/sh\n" LINE "[ ! -x aside ] || exec aside\n"

static const struct install_value values[] = {
	{ .key = "core.fsmonitor", .value = "test -r 'a b' || exit 1; . 'a b'" },
	{ .key = "core.fsmonitorhookversion", .value = "2" },
	{ .key = "hook.checkpoint-x.event", .value = "x" },
	{ .key = "core.old", .value = "ours", .gone = true },
	{ .key = NULL },
};
static const struct install_change config = {
	.kind = INSTALL_CONFIG, .root = scratch, .path = "d/config", .by = "test", .mode = 0666,
	.values = values,
};
static const struct install_change hook = {
	.kind = INSTALL_HOOK, .root = scratch, .path = "d/pre-x", .by = "test", .mode = 0777,
	.text = HOOK, .hook = "pre-x",
};

static void begin(void)
{
	sh("rm -rf d .local; mkdir d");
}

static void forget(void)
{
	sh("rm -f .local/share/git-checkpoint/installed");
}

static char *kept;

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
	free(kept);
	kept = result.kept;
	return err;
}

static void expect_text(const char *path, const char *expected)
{
	struct strbuf text = STRBUF_INIT;

	get_bytes(&text, in_scratch("%s", path));
	assert_string_equal(text.buf, expected);
	strbuf_release(&text);
}

static enum install_state state_of(const struct install_change *change)
{
	enum install_state state;

	assert_int_equal(install_look(&state, change), 0);
	return state;
}

/* ---- the configuration ---- */

static void expect_values(void)
{
	struct strbuf got = STRBUF_INIT;

	ask(&got, "git config -f d/config core.fsmonitor; git config -f d/config core.fsmonitorHookVersion;"
		  "git config -f d/config hook.checkpoint-x.event; ! git config -f d/config core.old");
	assert_string_equal(got.buf, "test -r 'a b' || exit 1; . 'a b'\n2\nx\n");
	strbuf_release(&got);
}

static void test_install_git_configuration(void **state)
{
	static const char *const texts[] = {
		"", "[core]", "[core]\n", "[core]\n\tbare = false", "[core] bare = false",
		"[core]\r\n\tbare = false\r\n[a]\r\n\tb = c\r\n", "[CoRe] bare = false # c\n[a]\n\tb = \"[core]\"\n",
		"[core]\n\tFsMonitor = /bin/x ; why\n\tbare = false\n", "[core]\n\tfsmonitor\n",
		"[core] fsmonitor = a \\\n  b\n[core]\n", "[a \"core\"]\n\tfsmonitor = no\n# [core]\n", "[a]\n\tb",
		"\n\n; only comments\n", "[core]\n\tx = \"a;b\" # [core]\n\n\n[include]\n\tpath = nowhere\n\n",
		"\xef\xbb\xbf[core]\n\tbare = false\n", "[core]\n\tfsmonitor = a\n[z]\n\tq=1\n[core]\n\tr=1\n",
		"[hook \"checkpoint-x\"]\n\tevent = y\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		begin();
		put_text(in_scratch("d/config"), texts[i]);
		assert_int_equal(state_of(&config), INSTALL_ABSENT);
		assert_int_equal(put(&config, INSTALL_EDITED), 0);
		assert_int_equal(state_of(&config), INSTALL_THERE);
		expect_values();
		assert_int_equal(put(&config, INSTALL_UNCHANGED), 0);
		assert_int_equal(take_back(&config, INSTALL_EDITED), 0);
		expect_text("d/config", texts[i]);
		sh("test \"$(ls -A d .local/share)\" = \"$(printf '.local/share:\\n\\nd:\\nconfig')\"");
		/* Without the record, and after changes of others. */
		assert_int_equal(put(&config, INSTALL_EDITED), 0);
		forget();
		sh("git config -f d/config later.key value");
		if (take_back(&config, INSTALL_EDITED))
			fail_msg("%zu: %s", i, ckpt_error_last());
		assert_int_equal(state_of(&config), INSTALL_ABSENT);
		sh("test \"$(git config -f d/config later.key)\" = value");
	}
}

static void test_install_git_configuration_that_is_not_changed(void **state)
{
	static const char *const texts[] = { "[a]\n\tk = v\\", "[core]\n\tx = 1\\", "[core\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		begin();
		put_text(in_scratch("d/config"), texts[i]);
		assert_int_equal(put(&config, INSTALL_EDITED), CKPT_ERROR);
		expect_text("d/config", texts[i]);
	}
	begin();
	put_text(in_scratch("d/config"), "[a]\n");
	put_text(in_scratch("d/config.lock"), "git's");
	assert_int_equal(put(&config, INSTALL_EDITED), CKPT_ERROR);
	assert_non_null(strstr(ckpt_error_last(), "config.lock' exists"));
	expect_text("d/config", "[a]\n");
	expect_text("d/config.lock", "git's");
	/* Ours, which a killed process left. */
	sh("mv d/config.lock d/config.checkpoint; ln d/config.checkpoint d/config.lock");
	assert_int_equal(put(&config, INSTALL_EDITED), 0);
	sh("test \"$(ls d)\" = config");
}

/* As `git config` in another terminal would between reading and writing. */
static void test_install_git_configuration_of_the_last_moment(void **state)
{
	struct strbuf before = STRBUF_INIT, text = STRBUF_INIT;
	int dirfd;

	(void)state;
	begin();
	dirfd = open(in_scratch("d"), O_RDONLY | O_DIRECTORY);
	strbuf_addstr(&before, "[a]\n");
	strbuf_addstr(&text, "[ours]\n");
	put_text(in_scratch("d/config"), "[theirs]\n");
	assert_int_equal(edit_config_write(dirfd, "config", &before, &text, 0644), CKPT_ERROR);
	assert_non_null(strstr(ckpt_error_last(), "was changed by another process"));
	expect_text("d/config", "[theirs]\n");
	sh("test \"$(ls d)\" = config");
	close(dirfd);
	strbuf_release(&before);
	strbuf_release(&text);
}

static void test_install_git_configuration_comes_and_goes(void **state)
{
	(void)state;
	begin();
	assert_int_equal(put(&config, INSTALL_CREATED), 0);
	expect_values();
	/* A value of the user's after ours: ours is put after that. */
	sh("git config -f d/config --add core.fsmonitor mine");
	assert_int_equal(state_of(&config), INSTALL_PARTLY);
	assert_int_equal(put(&config, INSTALL_EDITED), 0);
	expect_values();
	assert_int_equal(take_back(&config, INSTALL_EDITED), 0);
	sh("test \"$(git config -f d/config --list)\" = core.fsmonitor=mine");
	/* What should be gone goes. */
	sh("git config -f d/config core.old ours");
	assert_int_equal(put(&config, INSTALL_EDITED), 0);
	expect_values();
	sh("rm d/config");
	assert_int_equal(take_back(&config, INSTALL_UNCHANGED), 0);
	sh("test ! -e .local/share/git-checkpoint");
}

/* ---- hooks ---- */

static void test_install_git_which_scripts_take_lines(void **state)
{
	static const struct {
		const char *text;
		bool shell;
	} cases[] = {
		{ "#!/bin/sh\n", true },
		{ "#! /bin/sh\nexit\n", true },
		{ "#!/bin/bash -eu\n", true },
		{ "#!/usr/bin/env bash\n", true },
		{ "#!/usr/bin/env  sh -e\n", true },
		{ "#!/usr/local/bin/zsh\n", true },
		{ "#!ksh\n", true },
		{ "#!/bin/sh", false },	   /* nothing can follow */
		{ "#!/bin/sh -x\n", false }, /* would trace us */
		{ "#!/bin/bash --posix\n", false },
		{ "#!/bin/sh\r\nexit\r\n", false },
		{ "#!/usr/bin/env python3\n", false },
		{ "#!/usr/bin/env\n", false },
		{ "#!/bin/csh\n", false },
		{ "echo no first line\n", false },
		{ "#!\n", false },
		{ "\n", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_addstr(&text, cases[i].text);
		if (install_is_shell(&text) != cases[i].shell)
			fail_msg("%s", cases[i].text);
		strbuf_add(&text, "\0x\n", 3);
		assert_false(install_is_shell(&text));
		strbuf_release(&text);
	}
}

static void test_install_git_lines_go_in_and_out(void **state)
{
	static const char *const bodies[] = { "exit 0", "exit 0\n", "\n\n", "# git-checkpoint\n",
					      "x " LINE, "\xff\r\nx" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		char *text = NULL, *with = NULL;

		assert_true(asprintf(&text, "#!/bin/sh\n%s", bodies[i]) > 0);
		assert_true(asprintf(&with, "#!/bin/sh\n" LINE "%s", bodies[i]) > 0);
		for (int known = 0; known < 2; known++) {
			begin();
			put_text(in_scratch("d/pre-x"), text);
			sh("chmod 750 d/pre-x");
			assert_int_equal(state_of(&hook), INSTALL_ABSENT);
			assert_int_equal(put(&hook, INSTALL_EDITED), 0);
			expect_text("d/pre-x", with);
			assert_int_equal(put(&hook, INSTALL_UNCHANGED), 0);
			if (!known)
				forget();
			assert_int_equal(take_back(&hook, INSTALL_EDITED), 0);
			expect_text("d/pre-x", text);
			sh("test $(stat -c %%a d/pre-x) = 750");
		}
		free(with);
		free(text);
	}
}

/* Texts by chance. */
static void test_install_git_lines_leave_no_trace(void **state)
{
	static const char *const pieces[] = {
		"#!/bin/sh\n", "#!/bin/bash -e\n", "echo\n", "\r\n", "\n", "[ ! -r x ] || . x", INSTALL_HOOK_END,
		"# c", "[ ! -x aside ] || exec aside\n", "exit 0", " ", "#!/usr/bin/env sh\n",
	};
	struct strbuf before = STRBUF_INIT, text = STRBUF_INIT;
	enum install_state now;
	unsigned done = 0;
	bool bare;

	(void)state;
	for (int i = 0; i < rounds(4000); i++) {
		strbuf_reset(&before);
		strbuf_addstr(&before, rnd(4) ? "#!/bin/sh\n" : "");
		for (unsigned nr = rnd(8); nr; nr--)
			strbuf_addstr(&before, pieces[rnd(ARRAY_SIZE(pieces))]);
		if (!install_is_shell(&before) || install_hook_runs_aside(&hook, &before))
			continue;
		assert_int_equal(edit_look(&now, &hook, &before), 0);
		if (now == INSTALL_THERE)
			continue;
		done++;
		strbuf_reset(&text);
		strbuf_add(&text, before.buf, before.len);
		assert_int_equal(edit_put(&text, &hook), 0);
		assert_int_equal(edit_look(&now, &hook, &text), 0);
		assert_int_equal(now, INSTALL_THERE);
		assert_int_equal(edit_remove(&text, &hook, &bare), 0);
		assert_false(bare);
		assert_string_equal(text.buf, before.buf);
	}
	assert_true(done > 1000);
	strbuf_release(&before);
	strbuf_release(&text);
}

static void test_install_git_a_hook_is_put_aside(void **state)
{
	static const char *const kinds[] = {
		"printf '#!/usr/bin/perl\\n' >d/pre-x; chmod 755 d/pre-x",
		"printf '#!/bin/sh\\nx\\n' >d/pre-x; chmod 644 d/pre-x",
		"printf '\\0' >d/pre-x; chmod 700 d/pre-x",
		"ln -s nowhere d/pre-x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (int known = 0; known < 2; known++) {
			begin();
			sh("%s; cp -P --preserve=mode d/pre-x orig", kinds[i]);
			assert_int_equal(put(&hook, INSTALL_EDITED), 0);
			expect_text("d/pre-x", HOOK);
			sh("test \"$(readlink d/.git-checkpoint/pre-x)\" = ../pre-x.pre-checkpoint");
			assert_int_equal(put(&hook, INSTALL_UNCHANGED), 0);
			if (!known)
				forget();
			assert_int_equal(take_back(&hook, INSTALL_REMOVED), 0);
			sh("test \"$(stat -c %%f:%%s:%%N d/pre-x | sed s,d/pre-x,orig,)\" = "
			   "\"$(stat -c %%f:%%s:%%N orig)\"; test \"$(ls -A d)\" = pre-x; rm orig");
		}
	}
	assert_null(kept);
}

static void test_install_git_what_is_aside_is_not_lost(void **state)
{
	struct install_change parked = hook;

	(void)state;
	parked.path = "d/pre-x.old";
	begin();
	sh("printf '#!perl\\n' >d/pre-x; chmod 755 d/pre-x; echo theirs >d/pre-x.pre-checkpoint");
	assert_int_equal(put(&hook, INSTALL_EDITED), CKPT_ERROR);
	sh("rm d/pre-x.pre-checkpoint");
	assert_int_equal(put(&hook, INSTALL_EDITED), 0);
	/* Somebody added to ours. */
	sh("echo later >>d/pre-x");
	assert_int_equal(take_back(&hook, INSTALL_EDITED), 0);
	expect_text("d/pre-x", "#!perl\n");
	expect_text("d/pre-x.edited", "#!/bin/sh\nlater\n");
	assert_string_equal(kept, in_scratch("d/pre-x.edited"));
	sh("rm d/pre-x.edited");
	/* A manager moved ours away. */
	assert_int_equal(put(&hook, INSTALL_EDITED), 0);
	sh("mv d/pre-x d/pre-x.old; printf '#!manager\\n' >d/pre-x; cp d/pre-x m");
	assert_int_equal(state_of(&hook), INSTALL_ABSENT);
	assert_int_equal(take_back(&parked, INSTALL_REMOVED), 0);
	assert_int_equal(take_back(&hook, INSTALL_UNCHANGED), 0);
	expect_text("d/pre-x.old", "#!perl\n");
	sh("cmp d/pre-x m; test \"$(ls -A d)\" = \"$(printf 'pre-x\\npre-x.old')\"");
	/* It put its own in the place of ours. */
	sh("rm d/*; printf '#!perl\\n' >d/pre-x; chmod 755 d/pre-x");
	assert_int_equal(put(&hook, INSTALL_EDITED), 0);
	sh("cp m d/pre-x");
	assert_int_equal(take_back(&hook, INSTALL_UNCHANGED), 0);
	expect_text("d/pre-x.old", "#!perl\n");
	assert_string_equal(kept, in_scratch("d/pre-x.old"));
	sh("cmp d/pre-x m; test \"$(ls -A d)\" = \"$(printf 'pre-x\\npre-x.old')\"; rm m");
}

static void test_install_git_a_hook_of_ours(void **state)
{
	(void)state;
	begin();
	sh("rmdir d");
	assert_int_equal(put(&hook, INSTALL_CREATED), 0);
	expect_text("d/pre-x", HOOK);
	/* Switched on again. */
	sh("chmod 644 d/pre-x");
	assert_int_equal(put(&hook, INSTALL_EDITED), 0);
	sh("test -x d/pre-x");
	assert_int_equal(take_back(&hook, INSTALL_REMOVED), 0);
	sh("test ! -e d");
	assert_int_equal(put(&hook, INSTALL_CREATED), 0);
	sh("echo later >>d/pre-x");
	assert_int_equal(take_back(&hook, INSTALL_EDITED), 0);
	expect_text("d/pre-x", "#!/bin/sh\nlater\n");
}

static void test_install_git_links_and_lists(void **state)
{
	const struct install_change link = { .kind = INSTALL_LINK, .root = scratch, .path = "d/link",
					     .by = "links", .text = "../out" };
	struct strlist list = STRLIST_INIT;

	(void)state;
	begin();
	assert_int_equal(put(&link, INSTALL_CREATED), 0);
	assert_int_equal(put(&link, INSTALL_UNCHANGED), 0);
	assert_int_equal(put(&hook, INSTALL_CREATED), 0);
	assert_int_equal(install_list(&list, "links"), 0);
	assert_int_equal(list.nr, 1);
	assert_string_equal(list.items[0], in_scratch("d/link"));
	assert_int_equal(take_back(&link, INSTALL_REMOVED), 0);
	sh("ln -s mine d/link");
	assert_int_equal(put(&link, INSTALL_UNCHANGED), CKPT_EREFUSED);
	assert_int_equal(take_back(&link, INSTALL_UNCHANGED), 0);
	sh("test \"$(readlink d/link)\" = mine");
	strlist_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_install_git_configuration),
		cmocka_unit_test(test_install_git_configuration_that_is_not_changed),
		cmocka_unit_test(test_install_git_configuration_of_the_last_moment),
		cmocka_unit_test(test_install_git_configuration_comes_and_goes),
		cmocka_unit_test(test_install_git_which_scripts_take_lines),
		cmocka_unit_test(test_install_git_lines_go_in_and_out),
		cmocka_unit_test(test_install_git_lines_leave_no_trace),
		cmocka_unit_test(test_install_git_a_hook_is_put_aside),
		cmocka_unit_test(test_install_git_what_is_aside_is_not_lost),
		cmocka_unit_test(test_install_git_a_hook_of_ours),
		cmocka_unit_test(test_install_git_links_and_lists),
	};
	int failed = cmocka_run_group_tests_name("install_git", tests, unit_setup, unit_teardown);

	free(kept);
	return failed;
}
