/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_JSONGEN_H
#define CKPT_TESTS_JSONGEN_H

/* Random JSON in any style, with comments or without. After unit.h. */

#include <jansson.h>

struct style {
	const char *eol, *unit;
	bool lines;	/* one item a line */
	bool wild;	/* white space wherever it may be */
	bool comments;
	bool spaced;
};

static json_t *rnd_value(int depth)
{
	static const char *const texts[] = { "",   "a",	    "x y",  "\"q\"", "\\",
					     "//", "/* */", "{[,]}", "\xc3\xa4", "\n" };
	json_t *value;
	char key[8];

	switch (rnd(depth > 0 ? 9 : 5)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(rnd(2));
	case 2:
		return json_integer((json_int_t)rnd(100000) - 50000);
	case 3:
		return json_real(rnd(1000) / 8.0);
	case 4:
		return json_string(texts[rnd(sizeof(texts) / sizeof(texts[0]))]);
	case 5:
	case 6:
		value = json_array();
		for (unsigned i = rnd(4); i > 0; i--)
			json_array_append_new(value, rnd_value(depth - 1));
		return value;
	default:
		value = json_object();
		for (unsigned i = rnd(4); i > 0; i--) {
			snprintf(key, sizeof(key), "k%u", rnd(100));
			json_object_set_new(value, key, rnd_value(depth - 1));
		}
		return value;
	}
}

static void gap(struct strbuf *out, const struct style *style)
{
	static const char *const spaces[] = { "", "", " ", "\t", "  ", "\n", "\r\n", "\n\n " };
	static const char *const comments[] = { "/* c */", "// c\n", "/*]*/", "// \"{\r\n" };

	for (unsigned i = style->wild ? rnd(3) : 0; i > 0; i--) {
		strbuf_addstr(out, spaces[rnd(sizeof(spaces) / sizeof(spaces[0]))]);
		if (style->comments && !rnd(4))
			strbuf_addstr(out, comments[rnd(4)]);
	}
}

static void new_line(struct strbuf *out, const struct style *style, int level)
{
	if (style->lines) {
		if (style->comments && !rnd(6))
			strbuf_addstr(out, rnd(2) ? " // remark" : " /* remark */");
		strbuf_addstr(out, style->eol);
		for (int i = 0; i < level; i++)
			strbuf_addstr(out, style->unit);
	}
	gap(out, style);
}

static void print(struct strbuf *out, json_t *value, const struct style *style, int level);

static void print_item(struct strbuf *out, const char *key, json_t *value,
		       const struct style *style, int level, bool first)
{
	if (!first)
		strbuf_addstr(out, style->spaced && !style->lines ? ", " : ",");
	new_line(out, style, level + 1);
	if (key) {
		strbuf_addf(out, "\"%s\"", key);
		gap(out, style);
		strbuf_addstr(out, style->spaced ? ": " : ":");
		gap(out, style);
	}
	print(out, value, style, level + 1);
	gap(out, style);
}

static void print(struct strbuf *out, json_t *value, const struct style *style, int level)
{
	bool first = true;
	const char *key;
	json_t *item;
	size_t i;
	char *dump;

	if (!json_is_object(value) && !json_is_array(value)) {
		dump = json_dumps(value, JSON_ENCODE_ANY | (rnd(2) ? JSON_ENSURE_ASCII : 0));
		strbuf_addstr(out, dump);
		free(dump);
		return;
	}
	strbuf_addstr(out, json_is_object(value) ? "{" : "[");
	if (json_is_object(value)) {
		json_object_foreach(value, key, item) {
			print_item(out, key, item, style, level, first);
			first = false;
		}
	} else {
		json_array_foreach(value, i, item) {
			print_item(out, NULL, item, style, level, first);
			first = false;
		}
	}
	if (!first || !rnd(4))
		new_line(out, style, level);
	strbuf_addstr(out, json_is_object(value) ? "}" : "]");
}

/* As jansson wants it: comments become blanks. */
static json_t *parse(const struct strbuf *text)
{
	struct strbuf plain = STRBUF_INIT;
	json_error_t error;
	json_t *value;

	strbuf_add(&plain, text->buf, text->len);
	for (size_t i = strncmp(plain.buf, "\xef\xbb\xbf", 3) ? 0 : 3; i < plain.len; i++) {
		size_t end = i;

		if (plain.buf[i] == '"') {
			for (i++; plain.buf[i] != '"'; i++)
				i += plain.buf[i] == '\\';
			continue;
		}
		if (!strncmp(plain.buf + i, "//", 2))
			end = i + strcspn(plain.buf + i, "\r\n");
		else if (!strncmp(plain.buf + i, "/*", 2))
			end = (size_t)(strstr(plain.buf + i, "*/") - plain.buf) + 2;
		memset(plain.buf + i, ' ', end - i);
	}
	value = json_loads(plain.buf + (strncmp(plain.buf, "\xef\xbb\xbf", 3) ? 0 : 3),
			   JSON_DECODE_ANY, &error);
	if (!value)
		fail_msg("%s: %s", error.text, text->buf);
	strbuf_release(&plain);
	return value;
}

#endif
