/* SPDX-License-Identifier: MIT */
#include "ui/ui.h"

#include "unit.h"

static void expect_json(struct row *row, const char *expected)
{
	struct strbuf text = STRBUF_INIT;
	json_t *object = row_object(row);

	json_write(&text, object);
	assert_string_equal(text.buf, expected);
	json_decref(object);
	strbuf_release(&text);
}

static void test_row_keeps_order_and_kinds(void **state)
{
	struct strlist list = STRLIST_INIT;
	struct row row = ROW_INIT;

	(void)state;
	strlist_add(&list, "x");
	row_text(&row, "text", "a\nb");
	row_text(&row, "none", NULL);
	row_path(&row, "path", "p\xff");
	row_path(&row, "nowhere", NULL);
	row_number(&row, "number", 7);
	row_size(&row, "size", 1500000);
	row_time(&row, "time", 86400);
	row_time(&row, "never", 0);
	row_bool(&row, "bool", false);
	row_texts(&row, "texts", &list);
	row_show(&row, "people", "only %d", 1);
	assert_string_equal(row_shown(&row, "text"), "a b");
	assert_string_equal(row_shown(&row, "none"), "");
	assert_string_equal(row_shown(&row, "path"), "\"p\\377\"");
	assert_string_equal(row_shown(&row, "nowhere"), "");
	assert_string_equal(row_shown(&row, "number"), "7");
	assert_string_equal(row_shown(&row, "size"), "1.5 MB");
	assert_string_equal(row_shown(&row, "time"), "1970-01-02 00:00:00 +0000");
	assert_string_equal(row_shown(&row, "never"), "");
	assert_string_equal(row_shown(&row, "people"), "only 1");
	assert_null(row_shown(&row, "bool"));
	expect_json(&row, "{\"text\":\"a\\nb\",\"none\":null,\"path\":\"\\\"p\\\\377\\\"\","
			  "\"nowhere\":null,\"number\":7,\"size\":1500000,"
			  "\"time\":\"1970-01-02T00:00:00Z\",\"never\":null,\"bool\":false,"
			  "\"texts\":[\"x\"]}");
	assert_null(row_shown(&row, "text"));
	expect_json(&row, "{}");
	strlist_release(&list);
}

static void test_row_is_shown_in_the_columns_of_its_keys(void **state)
{
	static const struct table_column columns[] = {
		{ "Size", TABLE_RIGHT, .key = "bytes" },
		{ "Nothing", .key = "nothing" },
		{ "Name", .key = "name" },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	struct strbuf out = STRBUF_INIT;
	struct row row = ROW_INIT;

	(void)state;
	row_text(&row, "name", "first");
	row_size(&row, "bytes", 12);
	row_show(&row, "name", "a later text counts");
	table_add_row(table, &row);
	table_format(&out, table, 0);
	assert_string_equal(out.buf, "    Size  Nothing  Name\n"
				     "12 bytes           a later text counts\n");
	strbuf_release(&out);
	table_free(table);
	row_release(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_keeps_order_and_kinds),
		cmocka_unit_test(test_row_is_shown_in_the_columns_of_its_keys),
	};

	return cmocka_run_group_tests_name("row", tests, NULL, NULL);
}
