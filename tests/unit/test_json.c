/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/quote.h"
#include "unit.h"

/* What a reader of the written text gets back, which must be strict JSON. */
static json_t *through_text(json_t *value)
{
	struct strbuf text = STRBUF_INIT;
	json_error_t error;
	json_t *back;

	assert_non_null(value);
	strbuf_addstr(&text, "before");
	json_write(&text, value);
	assert_null(strchr(text.buf, '\n'));
	assert_true(utf8_valid(text.buf, text.len));
	back = json_loadb(text.buf + 6, text.len - 6, JSON_DECODE_ANY, &error);
	if (!back)
		fail_msg("%s: %s", error.text, text.buf);
	strbuf_release(&text);
	json_decref(value);
	return back;
}

/* A path can be told from its JSON: as it is, or C-quoted if that begins with a quote. */
static void test_json_path_can_be_read_back(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct strbuf path = STRBUF_INIT;
		char bytes[24];
		json_t *back;
		const char *text;

		rnd_text(bytes, rnd(sizeof(bytes)));
		back = through_text(json_path(bytes));
		text = json_string_value(back);
		if (text[0] == '"') {
			const char *end;

			assert_true(quote_undo_c(&path, text, &end));
			assert_int_equal(*end, 0);
		} else {
			strbuf_addstr(&path, text);
		}
		assert_string_equal(path.buf, bytes);
		if (utf8_valid(bytes, strlen(bytes)) && bytes[0] != '"')
			assert_string_equal(text, bytes);
		json_decref(back);
		strbuf_release(&path);
	}
}

static void test_json_text_replaces_invalid_bytes(void **state)
{
	json_t *back;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct strbuf clean = STRBUF_INIT;
		char bytes[24];

		rnd_text(bytes, rnd(sizeof(bytes)));
		utf8_sanitize(&clean, bytes, strlen(bytes));
		back = through_text(json_text(bytes));
		assert_string_equal(json_string_value(back), clean.buf);
		json_decref(back);
		strbuf_release(&clean);
	}
	back = through_text(json_text(NULL));
	assert_true(json_is_null(back));
	json_decref(back);
}

/* jansson and we agree on what UTF-8 is: it refuses none that we let through. */
static void test_json_text_takes_every_code_point(void **state)
{
	(void)state;
	for (unsigned long cp = 0x80; cp < 0x110000; cp += cp < 0x10000 ? 1 : 97) {
		char bytes[8] = "";
		json_t *value;

		if (cp < 0x800) {
			bytes[0] = (char)(0xc0 | cp >> 6);
			bytes[1] = (char)(0x80 | (cp & 63));
		} else if (cp < 0x10000) {
			bytes[0] = (char)(0xe0 | cp >> 12);
			bytes[1] = (char)(0x80 | (cp >> 6 & 63));
			bytes[2] = (char)(0x80 | (cp & 63));
		} else {
			bytes[0] = (char)(0xf0 | cp >> 18);
			bytes[1] = (char)(0x80 | (cp >> 12 & 63));
			bytes[2] = (char)(0x80 | (cp >> 6 & 63));
			bytes[3] = (char)(0x80 | (cp & 63));
		}
		value = json_text(bytes);
		if (!value)
			fail_msg("U+%lX was refused", cp);
		if (cp < 0xd800 || cp > 0xdfff)
			assert_string_equal(json_string_value(value), bytes);
		json_decref(value);
	}
}

static void test_json_lists_and_times(void **state)
{
	struct strlist list = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	json_t *object = json_object();

	(void)state;
	strlist_add(&list, "b");
	strlist_add(&list, "a\xff");
	strlist_add(&list, "\"q");
	json_object_set_new(object, "z", json_texts(&list));
	json_object_set_new(object, "a", json_paths(&list));
	json_object_set_new(object, "m", json_time(0));
	json_object_set_new(object, "b", json_time(1));
	json_write(&out, object);
	/* Keys in the order in which they were set. */
	assert_string_equal(out.buf, "{\"z\":[\"b\",\"a\xef\xbf\xbd\",\"\\\"q\"],"
				     "\"a\":[\"b\",\"\\\"a\\\\377\\\"\",\"\\\"\\\\\\\"q\\\"\"],"
				     "\"m\":null,\"b\":\"1970-01-01T00:00:01Z\"}");
	json_decref(object);
	strlist_release(&list);
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_path_can_be_read_back),
		cmocka_unit_test(test_json_text_replaces_invalid_bytes),
		cmocka_unit_test(test_json_text_takes_every_code_point),
		cmocka_unit_test(test_json_lists_and_times),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
