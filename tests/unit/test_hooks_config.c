/* SPDX-License-Identifier: MIT */
#include "hooks/install_config_internal.h"

#include "base/error.h"
#include "unit.h"
#include "git/repo.h"
#include "hooks/install_where_internal.h"

#define FILE_TEXT "[core]\n\tbare = false\n"

/* The file in the scratch directory, as the configuration of a repository. */
static void begin(struct install_where *where, struct install_config *config)
{
	const struct repo repo = { .worktree = scratch, .gitdir = scratch, .commondir = scratch };
	struct install_record record = { 0 };

	install_where_repo(where, &repo);
	sh("rm -rf config config.lock " INSTALL_DIR "; mkdir " INSTALL_DIR);
	put_text(in_scratch("config"), FILE_TEXT);
	assert_int_equal(install_config_undone(config, &record, where), 0);
	strbuf_addstr(&config->text, "[ours]\n");
}

static void expect_file(const char *name, const char *text)
{
	struct strbuf now = STRBUF_INIT;

	get_bytes(&now, in_scratch("%s", name));
	assert_string_equal(now.buf, text);
	strbuf_release(&now);
}

static void expect_nothing_left(void)
{
	assert_false(is_there(in_scratch("config.lock")));
	assert_false(is_there(in_scratch(INSTALL_DIR "/config.new")));
}

static void test_the_configuration_is_written(void **state)
{
	struct install_config config = INSTALL_CONFIG_INIT;
	struct install_where where;

	(void)state;
	begin(&where, &config);
	assert_int_equal(install_config_write(&config, &where), 0);
	expect_file("config", FILE_TEXT "[ours]\n");
	expect_nothing_left();
	install_config_release(&config);
	install_where_release(&where);
}

/* As `git config` in another terminal would between reading and writing. */
static void test_what_others_wrote_meanwhile_is_not_lost(void **state)
{
	struct install_config config = INSTALL_CONFIG_INIT;
	struct install_where where;

	(void)state;
	begin(&where, &config);
	put_text(in_scratch("config"), FILE_TEXT "[theirs]\n");
	assert_int_equal(install_config_write(&config, &where), CKPT_ERROR);
	assert_non_null(strstr(ckpt_error_last(), "was changed by another process meanwhile"));
	expect_file("config", FILE_TEXT "[theirs]\n");
	expect_nothing_left();
	install_config_release(&config);
	install_where_release(&where);
}

static void test_the_lock_of_others_stays(void **state)
{
	struct install_config config = INSTALL_CONFIG_INIT;
	struct install_where where;

	(void)state;
	begin(&where, &config);
	put_text(in_scratch("config.lock"), "git's");
	assert_int_equal(install_config_write(&config, &where), CKPT_ERROR);
	expect_file("config", FILE_TEXT);
	expect_file("config.lock", "git's");
	install_config_release(&config);
	install_where_release(&where);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_configuration_is_written),
		cmocka_unit_test(test_what_others_wrote_meanwhile_is_not_lost),
		cmocka_unit_test(test_the_lock_of_others_stays),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
