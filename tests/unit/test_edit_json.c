/* SPDX-License-Identifier: MIT */
/*
 * install/edit_json: what is put into a text of any style is where it should be, and nothing else
 * changes but blanks and commas; the same when it is taken out again.
 */
#include "install/install_internal.h"

#include "base/error.h"

#include "unit.h"

#include "jsongen.h"

static const struct edit_json_slot element = { "hooks", "Stop", true };
static const struct edit_json_slot member = { "servers", "ours", false };

static void set(struct strbuf *text, const char *str)
{
	strbuf_reset(text);
	strbuf_addstr(text, str);
}

static int open_text(struct edit_json *doc, const char *str, bool comments)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	set(&text, str);
	err = edit_json_open(doc, &text, comments);
	strbuf_release(&text);
	return err;
}

/* ---- what is JSON ---- */

static void test_what_is_no_json_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{ "", "line 1, column " },	     { "  \n ", "line 2, column " },
		{ "{", "line 1, column " },	     { "{\"a\":1,}", "line 1, column 8: " },
		{ "{\n  \"a\": tru\n}", "line 2, " }, { "{\n  a: 1\n}", "line 2, column 3: " },
		{ "{} {}", "line 1, column 4: " },   { "{\"a\": [01]}", "line 1, column " },
		{ "{} // c", "line 1, column 4: " }, { "{\"a\": \"\xff\"}", "line 1, column " },
		{ "\xef\xbb\xbf{", "line 1, column " },
	};
	struct edit_json doc;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(open_text(&doc, bad[i].text, false), CKPT_ERROR);
		if (strncmp(ckpt_error_last(), bad[i].place, strlen(bad[i].place)))
			fail_msg("%s: %s", bad[i].text, ckpt_error_last());
		edit_json_release(&doc);
	}
	for (int i = 0; i < 4; i++) {
		static const char *const texts[] = { "{} // c", "{ /* c }", "{ /*/ }", "{\"a\": 1 / 2}" };

		assert_int_equal(open_text(&doc, texts[i], true), i ? CKPT_ERROR : 0);
		edit_json_release(&doc);
	}
	assert_int_equal(open_text(&doc, "[]", false), CKPT_ERROR);
	assert_string_equal(ckpt_error_last(), "it should be an object");
	edit_json_release(&doc);
}

/* ---- one style each ---- */

static void test_an_addition_has_the_style_of_the_text(void **state)
{
	static const struct {
		const struct edit_json_slot *place;
		const char *before, *after;
	} cases[] = {
		{ &element, "{}\n",
		  "{\n  \"hooks\": {\n    \"Stop\": [\n      [\n        1\n      ]\n    ]\n  }\n}\n" },
		{ &element, "{ }", "{ \"hooks\": {\"Stop\": [[1]]} }" },
		{ &element, "{\"a\":1}", "{\"a\":1,\"hooks\":{\"Stop\":[[1]]}}" },
		{ &element, "{\"hooks\": {}}", "{\"hooks\": {\"Stop\": [[1]]}}" },
		{ &element, "{\"hooks\":{\"Stop\":[2]}}", "{\"hooks\":{\"Stop\":[2,[1]]}}" },
		{ &element, "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t2\n\t\t]\n\t}\n}",
		  "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t2,\n\t\t\t[\n\t\t\t\t1\n\t\t\t]\n\t\t]\n\t}\n}" },
		{ &member, "{\r\n    \"a\": 1\r\n}",
		  "{\r\n    \"a\": 1,\r\n    \"servers\": {\r\n        \"ours\": [\r\n            1\r\n"
		  "        ]\r\n    }\r\n}" },
		{ &member, "{\n  \"servers\": {\n  }\n}",
		  "{\n  \"servers\": {\n    \"ours\": [\n      1\n    ]\n  }\n}" },
		{ &member, "{\n  \"servers\": {\"b\": 1}\n}",
		  "{\n  \"servers\": {\"b\": 1, \"ours\": [1]}\n}" },
		{ &member, "{\n  \"servers\": {\n    // none\n  }\n}",
		  "{\n  \"servers\": {\n    \"ours\": [\n      1\n    ]\n    // none\n  }\n}" },
		{ &member, "\xef\xbb\xbf{\"serv\\u0065rs\": { } }",
		  "\xef\xbb\xbf{\"serv\\u0065rs\": { \"ours\": [1] } }" },
	};
	json_t *value = json_pack("[i]", 1);
	enum edit_json_found found;
	struct edit_json doc;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf raw = STRBUF_INIT;

		assert_int_equal(open_text(&doc, cases[i].before, true), 0);
		assert_int_equal(edit_json_find(&found, &raw, &doc, cases[i].place, value), 0);
		assert_int_not_equal(found, EDIT_JSON_SAME);
		edit_json_add(&doc, cases[i].place, value);
		assert_string_equal(doc.text.buf, cases[i].after);
		assert_int_equal(edit_json_find(&found, &raw, &doc, cases[i].place, value), 0);
		assert_int_equal(found, EDIT_JSON_SAME);
		edit_json_release(&doc);
		strbuf_release(&raw);
	}
	json_decref(value);
}

static void test_removal_leaves_the_neighbours(void **state)
{
	static const struct {
		const char *before, *after; /* the element to remove is 9 */
	} cases[] = {
		{ "[9]", "" },
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
		{ "[8]", "[8]" },
		{ "[9, 9]", "[9]" },
	};
	json_t *nine = json_integer(9);
	struct edit_json doc;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *before = xstrfmt("{\"hooks\": {\"Stop\": %s}}", cases[i].before);
		char *after = *cases[i].after ? xstrfmt("{\"hooks\": {\"Stop\": %s}}", cases[i].after)
					      : xstrdup("{}");

		assert_int_equal(open_text(&doc, before, true), 0);
		assert_int_equal(edit_json_remove(&doc, &element, nine), strcmp(before, after) != 0);
		assert_string_equal(doc.text.buf, after);
		edit_json_release(&doc);
		free(before);
		free(after);
	}
	json_decref(nine);
}

static void test_names_are_compared_unescaped_and_the_last_counts(void **state)
{
	enum edit_json_found found;
	struct strbuf raw = STRBUF_INIT;
	struct edit_json doc;
	json_t *two = json_integer(2);

	(void)state;
	assert_int_equal(open_text(&doc, "{\"servers\": {\"ours\": 1, \"our\\u0073\": 2, \"ours \": 3}, "
					 "\"hooks\": 1}", false), 0);
	assert_int_equal(edit_json_find(&found, &raw, &doc, &member, two), 0);
	assert_int_equal(found, EDIT_JSON_SAME);
	assert_int_equal(edit_json_find(&found, &raw, &doc, &element, two), CKPT_ERROR);
	assert_string_equal(ckpt_error_last(), "'hooks' should be an object");
	edit_json_release(&doc);
	assert_int_equal(open_text(&doc, "{\"hooks\": {\"Stop\": {}}}", false), 0);
	assert_int_equal(edit_json_find(&found, &raw, &doc, &element, two), CKPT_ERROR);
	assert_string_equal(ckpt_error_last(), "'Stop' should be an array");
	edit_json_release(&doc);
	strbuf_release(&raw);
	json_decref(two);
}

/* ---- all styles ---- */

/* What is neither blank nor a comma. */
static char *essence(const struct strbuf *text)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < text->len; i++)
		if (!strchr(" \t\r\n,", text->buf[i]))
			strbuf_addch(&out, text->buf[i]);
	return strbuf_detach(&out, NULL);
}

/* An object in which the place may be, or a part of the way to it. */
static json_t *rnd_settings(const struct edit_json_slot *place)
{
	json_t *root = json_object(), *outer = json_object(), *inner = rnd_value(2);

	for (unsigned i = rnd(3); i > 0; i--)
		json_object_set_new(root, i % 2 ? "a" : "b", rnd_value(3));
	if (rnd(3)) {
		if (rnd(2))
			json_object_set_new(outer, "other", rnd_value(2));
		if (place->element && rnd(3))
			json_object_set_new(outer, place->inner, json_pack("[i,O]", 5, inner));
		if (json_object_size(outer))
			json_object_set(root, place->outer, outer);
	}
	if (rnd(2))
		json_object_set_new(root, "c", rnd_value(2));
	json_decref(outer);
	json_decref(inner);
	return root;
}

static json_t *with_value(const json_t *root, const struct edit_json_slot *place, json_t *value)
{
	json_t *copy = json_deep_copy(root), *outer = json_object_get(copy, place->outer), *list;

	if (!outer) {
		outer = json_object();
		json_object_set_new(copy, place->outer, outer);
	}
	list = json_object_get(outer, place->inner);
	if (!place->element)
		json_object_set(outer, place->inner, value);
	else if (list)
		json_array_append(list, value);
	else
		json_object_set_new(outer, place->inner, json_pack("[O]", value));
	return copy;
}

static void try_once(const struct style *style)
{
	const struct edit_json_slot *place = rnd(2) ? &element : &member;
	json_t *root = rnd_settings(place), *value = json_pack("{s:[i,s]}", "mine", 7, "//"), *expected;
	struct strbuf text = STRBUF_INIT;
	struct edit_json doc;
	json_t *result;
	char *before, *after;

	if (!rnd(4))
		strbuf_addstr(&text, "\xef\xbb\xbf");
	gap(&text, style);
	print(&text, root, style, 0);
	before = essence(&text);
	if (edit_json_open(&doc, &text, style->comments))
		fail_msg("%s: %s", ckpt_error_last(), text.buf);
	edit_json_add(&doc, place, value);
	expected = with_value(root, place, value);
	result = parse(&doc.text);
	if (!json_equal(result, expected) || doc.text.len != doc.plain.len)
		fail_msg("added:\n%s\n%s", text.buf, doc.text.buf);
	json_decref(result);

	assert_true(edit_json_remove(&doc, place, value));
	result = parse(&doc.text);
	after = essence(&doc.text);
	if (!json_equal(result, root) || strcmp(before, after) != 0)
		fail_msg("removed:\n%s\n%s", text.buf, doc.text.buf);
	free(before);
	free(after);
	json_decref(result);
	json_decref(expected);
	json_decref(root);
	json_decref(value);
	edit_json_release(&doc);
	strbuf_release(&text);
}

static void test_any_text_keeps_what_it_has(void **state)
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
		try_once(&style);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_json_is_refused_with_its_place),
		cmocka_unit_test(test_an_addition_has_the_style_of_the_text),
		cmocka_unit_test(test_removal_leaves_the_neighbours),
		cmocka_unit_test(test_names_are_compared_unescaped_and_the_last_counts),
		cmocka_unit_test(test_any_text_keeps_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
