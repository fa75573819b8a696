/* SPDX-License-Identifier: MIT */
#include "hooks/install_internal.h"

#include "unit.h"

static void test_values_are_filled_in(void **state)
{
	struct strbuf lines = STRBUF_INIT, out = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&lines, "  _ckpt_x=''\n_ckpt_xy=''\n_ckpt_x='old'\nrest _ckpt_x=''\n");
	assert_true(install_script_fill(&lines, "_ckpt_x", "/a b/it's"));
	assert_string_equal(lines.buf, "  _ckpt_x=''\n_ckpt_xy=''\n_ckpt_x='/a b/it'\\''s'\n"
				       "rest _ckpt_x=''\n");
	assert_true(install_script_fill(&lines, "_ckpt_x", "12"));
	assert_non_null(strstr(lines.buf, "\n_ckpt_x='12'\n"));
	assert_false(install_script_fill(&lines, "_ckpt_z", "12"));
	strbuf_release(&lines);
	strbuf_release(&out);
}

static void test_every_script_has_what_all_need(void **state)
{
	(void)state;
	for (const struct install_shim *shim = install_shims; shim->name; shim++) {
		assert_non_null(strstr(shim->text, INSTALL_SIGNATURE));
		assert_non_null(strstr(shim->text, "_ckpt_run() {\n"));
		assert_null(strstr(shim->text, "@bounded"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_filled_in),
		cmocka_unit_test(test_every_script_has_what_all_need),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
