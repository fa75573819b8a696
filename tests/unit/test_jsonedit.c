/* SPDX-License-Identifier: MIT */
/*
 * base/jsonedit: what is put into a text of any style can be parsed and is where it should be, and
 * taking it out gives the same bytes again.
 */
#include "agents/jsonedit_internal.h"

#include "base/error.h"

#include "unit.h"

#include "jsongen.h"

static void set(struct strbuf *text, const char *str)
{
	strbuf_reset(text);
	strbuf_addstr(text, str);
}

/* ---- what is JSON ---- */

static void test_what_is_no_json_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{ "", "line 1, column 1: " },
		{ "  \n ", "line 2, column 2: " },
		{ "{", "line 1, column 2: " },
		{ "{\"a\":1", "line 1, column 7: " },
		{ "{\"a\":1,}", "line 1, column 8: " },
		{ "[1,]", "line 1, column 4: " },
		{ "[1 2]", "line 1, column 4: " },
		{ "[1}", "line 1, column 3: " },
		{ "{\n  \"a\": tru\n}", "line 2, column 8: " },
		{ "{\n  a: 1\n}", "line 2, column 3: " },
		{ "{'a': 1}", "line 1, column 2: " },
		{ "{\"a\" 1}", "line 1, column 6: " },
		{ "{} {}", "line 1, column 4: " },
		{ "[01]", "line 1, column 3: " },
		{ "[1.]", "line 1, column 4: " },
		{ "[1e]", "line 1, column 4: " },
		{ "[-]", "line 1, column 3: " },
		{ "[+1]", "line 1, column 2: " },
		{ "[NaN]", "line 1, column 2: " },
		{ "[\"a\nb\"]", "line 1, column 4: " },
		{ "[\"\\x\"]", "line 1, column 4: " },
		{ "[\"\\u12g4\"]", "line 1, column 7: " },
		{ "[\"abc]", "line 1, column 7: " },
		{ "[1] // c", "line 1, column 5: " },
		{ "[/* c */1]", "line 1, column 2: " },
	};
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set(&text, bad[i].text);
		assert_int_equal(jsonedit_check(&text, 0), CKPT_ERROR);
		if (strncmp(ckpt_error_last(), bad[i].place, strlen(bad[i].place)))
			fail_msg("%s: %s", bad[i].text, ckpt_error_last());
	}
	set(&text, "[1, // c\n 2 /* d */]");
	assert_int_equal(jsonedit_check(&text, JSONEDIT_COMMENTS), 0);
	set(&text, "[1 /* c ]");
	assert_int_equal(jsonedit_check(&text, JSONEDIT_COMMENTS), CKPT_ERROR);
	set(&text, "[1 /*/ ]");
	assert_int_equal(jsonedit_check(&text, JSONEDIT_COMMENTS), CKPT_ERROR);
	set(&text, "[1 / 2]");
	assert_int_equal(jsonedit_check(&text, JSONEDIT_COMMENTS), CKPT_ERROR);
	strbuf_reset(&text);
	strbuf_add(&text, "[1]\0[2]", 7);
	assert_int_equal(jsonedit_check(&text, 0), CKPT_ERROR);
	strbuf_release(&text);
}

static void test_depth_is_no_limit(void **state)
{
	struct strbuf text = STRBUF_INIT, before = STRBUF_INIT;
	json_t *value = json_integer(1);
	size_t depth = 200000;

	(void)state;
	for (size_t i = 0; i < depth; i++)
		strbuf_addstr(&text, i % 2 ? "[" : "{\"a\":");
	strbuf_addstr(&text, "0");
	for (size_t i = depth; i-- > 0;)
		strbuf_addstr(&text, i % 2 ? "]" : "}");
	assert_int_equal(jsonedit_check(&text, 0), 0);
	strbuf_add(&before, text.buf, text.len);
	jsonedit_insert(&text, 0, "b", value);
	assert_int_equal(jsonedit_check(&text, 0), 0);
	assert_string_equal(text.buf + text.len - 9, "}],\"b\":1}");
	jsonedit_remove(&text, 0, text.len - 2);
	assert_string_equal(text.buf, before.buf);
	strbuf_setlen(&text, text.len - 1);
	assert_int_equal(jsonedit_check(&text, 0), CKPT_ERROR);
	json_decref(value);
	strbuf_release(&text);
	strbuf_release(&before);
}

/* ---- one style each ---- */

static void test_an_insertion_has_the_style_of_the_text(void **state)
{
	static const struct {
		const char *before, *after; /* the first '@' is where the container begins */
	} cases[] = {
		{ "@{}", "{\n  \"k\": [\n    1\n  ]\n}" },
		{ "@{}\n", "{\n  \"k\": [\n    1\n  ]\n}\n" },
		{ "@{\n}\n", "{\n  \"k\": [\n    1\n  ]\n}\n" },
		{ "@{ }", "{ \"k\": [1] }" },
		{ "@{\"a\":1}", "{\"a\":1,\"k\":[1]}" },
		{ "@{\"a\": 1}", "{\"a\": 1, \"k\": [1]}" },
		{ "@{ \"a\": 1, \"b\": 2 }", "{ \"a\": 1, \"b\": 2, \"k\": [1] }" },
		{ "{\"a\":@{}}", "{\"a\":{\"k\":[1]}}" },
		{ "@{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"k\": [\n\t\t1\n\t]\n}\n" },
		{ "@{\r\n    \"a\": 1\r\n}",
		  "{\r\n    \"a\": 1,\r\n    \"k\": [\r\n        1\r\n    ]\r\n}" },
		{ "{\n   \"a\": @{}\n}",
		  "{\n   \"a\": {\n      \"k\": [\n         1\n      ]\n   }\n}" },
		{ "{\n  \"a\": @{\n  }\n}", "{\n  \"a\": {\n    \"k\": [\n      1\n    ]\n  }\n}" },
		{ "{\n  \"a\": @{\"b\": 1}\n}", "{\n  \"a\": {\"b\": 1, \"k\": [1]}\n}" },
		{ "@{\n  \"a\": 1 // one\n}",
		  "{\n  \"a\": 1, // one\n  \"k\": [\n    1\n  ]\n}" },
		{ "@{\n  // nothing\n}", "{\n  // nothing\n  \"k\": [\n    1\n  ]\n}" },
		{ "@{\n  \"a\": \"}\" /* ] */, \"b\": \"\\\"\"\n}",
		  "{\n  \"a\": \"}\" /* ] */, \"b\": \"\\\"\", \"k\": [1]\n}" },
		{ "\xef\xbb\xbf@{\n  \"a\": 1\n}",
		  "\xef\xbb\xbf{\n  \"a\": 1,\n  \"k\": [\n    1\n  ]\n}" },
	};
	struct strbuf text = STRBUF_INIT, before = STRBUF_INIT;
	json_t *value = json_pack("[i]", 1);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t at = (size_t)(strchr(cases[i].before, '@') - cases[i].before);
		struct jsonedit_item item;
		bool opens_up;

		strbuf_reset(&text);
		strbuf_add(&text, cases[i].before, at);
		strbuf_addstr(&text, cases[i].before + at + 1);
		set(&before, text.buf);
		assert_int_equal(jsonedit_check(&text, JSONEDIT_COMMENTS), 0);
		opens_up = jsonedit_opens_up(&text, at);
		jsonedit_insert(&text, at, "k", value);
		assert_string_equal(text.buf, cases[i].after);
		assert_true(jsonedit_find(&item, &text, at, "k"));
		jsonedit_remove(&text, at, item.start);
		if (opens_up)
			jsonedit_close_up(&text, at);
		assert_string_equal(text.buf, before.buf);
	}
	json_decref(value);
	strbuf_release(&text);
	strbuf_release(&before);
}

static void test_removal_leaves_the_neighbours(void **state)
{
	static const struct {
		const char *before, *after; /* the element to remove is 9 */
	} cases[] = {
		{ "[9]", "[]" },
		{ "[ 9 ]", "[ ]" },
		{ "[9, 1]", "[1]" },
		{ "[1, 9]", "[1]" },
		{ "[1, 9, 2]", "[1, 2]" },
		{ "[\n  9,\n  1\n]", "[\n  1\n]" },
		{ "[\n  1,\n  9,\n  2\n]", "[\n  1,\n  2\n]" },
		{ "[\n  1, // one\n  9, // nine\n  2\n]",
		  "[\n  1, // one\n   // nine\n  2\n]" },
		{ "[\n  1, // one\n  9 // nine\n]", "[\n  1 // one\n   // nine\n]" },
		{ "[\n  // nine\n  9\n]", "[\n  // nine\n]" },
		{ "[1, // one\n9]", "[1 // one\n]" },
		{ "[1, // one\n9, 2]", "[1, // one\n 2]" },
		{ "[1 /* , */ , /* , */ 9]", "[1 /* , */  /* , */]" },
	};
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(&text, cases[i].before);
		jsonedit_remove(&text, 0, (size_t)(strchr(text.buf, '9') - text.buf));
		assert_string_equal(text.buf, cases[i].after);
		assert_int_equal(jsonedit_check(&text, JSONEDIT_COMMENTS), 0);
	}
	strbuf_release(&text);
}

static void test_names_are_compared_unescaped_and_the_last_counts(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct jsonedit_item item;

	(void)state;
	set(&text, "{\"hooks\": 1, \"hoo\\u006bs\": 2, \"hooks \": 3, \"\\\"hooks\": 4}");
	assert_int_equal(jsonedit_check(&text, 0), 0);
	assert_true(jsonedit_find(&item, &text, 0, "hooks"));
	assert_int_equal(text.buf[item.start], '2');
	assert_true(jsonedit_find(&item, &text, 0, "\"hooks"));
	assert_int_equal(text.buf[item.start], '4');
	assert_false(jsonedit_find(&item, &text, 0, "hook"));
	set(&text, "{\"\\ud800\": 1, \"\xff\": 2}");
	assert_false(jsonedit_find(&item, &text, 0, "hooks"));
	assert_true(jsonedit_find(&item, &text, 0, "\xff"));
	strbuf_release(&text);
}

/* ---- all styles ---- */

/* Walk over text and value at once; the containers are counted, the one that is number 0 kept. */
static void walk(const struct strbuf *text, size_t at, json_t *value, int *number, size_t *at_out,
		 json_t **value_out)
{
	struct jsonedit_iter iter;
	struct jsonedit_item item;
	size_t count = 0;

	if (!json_is_object(value) && !json_is_array(value))
		return;
	if (!(*number)--) {
		*at_out = at;
		*value_out = value;
	}
	jsonedit_begin(&iter, text, at);
	while (jsonedit_next(&iter, &item)) {
		json_t *child = json_array_get(value, count++);

		if (json_is_object(value)) {
			const char *key;

			json_object_foreach(value, key, child)
				if (jsonedit_equals(text, item.key, key))
					break;
		}
		assert_non_null(child);
		walk(text, item.start, child, number, at_out, value_out);
	}
	assert_int_equal(count, json_is_object(value) ? json_object_size(value) :
							json_array_size(value));
}

static void once(const struct style *style)
{
	struct strbuf text = STRBUF_INIT, before = STRBUF_INIT;
	json_t *root, *in = rnd_value(2), *value = NULL, *result;
	struct jsonedit_iter iter;
	struct jsonedit_item item, last = { 0 };
	int containers = 0, number;
	bool opens_up;
	size_t at = 0;

	do
		root = rnd_value(4);
	while (!json_is_object(root) && (json_decref(root), true));
	if (!rnd(4))
		strbuf_addstr(&text, "\xef\xbb\xbf");
	gap(&text, style);
	print(&text, root, style, 0);
	if (rnd(2))
		strbuf_addstr(&text, style->eol);
	strbuf_add(&before, text.buf, text.len);
	assert_int_equal(jsonedit_check(&text, JSONEDIT_COMMENTS), 0);
	walk(&text, jsonedit_root(&text), root, &containers, &at, &value);
	number = (int)rnd((unsigned)-containers);
	walk(&text, jsonedit_root(&text), root, &number, &at, &value);
	opens_up = jsonedit_opens_up(&text, at);

	jsonedit_insert(&text, at, json_is_object(value) ? "new" : NULL, in);
	if (jsonedit_check(&text, JSONEDIT_COMMENTS))
		fail_msg("%s: %s\n%s", ckpt_error_last(), before.buf, text.buf);
	if (json_is_object(value))
		json_object_set(value, "new", in);
	else
		json_array_append(value, in);
	result = parse(&text);
	if (!json_equal(result, root))
		fail_msg("wrong:\n%s\n%s", before.buf, text.buf);

	jsonedit_begin(&iter, &text, at);
	while (jsonedit_next(&iter, &item))
		last = item;
	jsonedit_remove(&text, at, last.start);
	if (opens_up)
		jsonedit_close_up(&text, at);
	if (text.len != before.len || memcmp(text.buf, before.buf, text.len))
		fail_msg("not the same:\n%s\n%s", before.buf, text.buf);
	json_decref(result);
	json_decref(root);
	json_decref(in);
	strbuf_release(&text);
	strbuf_release(&before);
}

static void test_any_text_is_the_same_after_insertion_and_removal(void **state)
{
	static const char *const units[] = { "  ", "    ", "\t", "" };

	(void)state;
	for (int i = rounds(getenv("CKPT_TEST_ROUNDS") ? 200000 : 6000); i > 0; i--) {
		struct style style = {
			.eol = rnd(3) ? "\n" : "\r\n",
			.unit = units[rnd(4)],
			.lines = rnd(3),
			.wild = !rnd(3),
			.comments = !rnd(3),
			.spaced = rnd(2),
		};

		if (style.comments)
			style.lines = style.lines || style.wild;
		once(&style);
	}
}

/* Taking any one element out of any text leaves the others. */
static void test_any_removal_leaves_the_rest(void **state)
{
	(void)state;
	for (int i = rounds(3000); i > 0; i--) {
		struct style style = { .eol = "\n", .unit = "  ", .lines = rnd(2), .wild = rnd(2),
				       .comments = rnd(2), .spaced = rnd(2) };
		struct strbuf text = STRBUF_INIT;
		struct jsonedit_iter iter;
		struct jsonedit_item item = { 0 };
		json_t *root = json_array(), *result;
		size_t count = 1 + rnd(4), victim = rnd((unsigned)count);

		for (size_t k = 0; k < count; k++)
			json_array_append_new(root, rnd_value(2));
		print(&text, root, &style, 0);
		jsonedit_begin(&iter, &text, 0);
		for (size_t k = 0; k <= victim; k++)
			assert_true(jsonedit_next(&iter, &item));
		jsonedit_remove(&text, 0, item.start);
		json_array_remove(root, victim);
		result = parse(&text);
		if (!json_equal(result, root))
			fail_msg("wrong: %s", text.buf);
		json_decref(result);
		json_decref(root);
		strbuf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_json_is_refused_with_its_place),
		cmocka_unit_test(test_depth_is_no_limit),
		cmocka_unit_test(test_an_insertion_has_the_style_of_the_text),
		cmocka_unit_test(test_removal_leaves_the_neighbours),
		cmocka_unit_test(test_names_are_compared_unescaped_and_the_last_counts),
		cmocka_unit_test(test_any_text_is_the_same_after_insertion_and_removal),
		cmocka_unit_test(test_any_removal_leaves_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
