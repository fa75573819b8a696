/* SPDX-License-Identifier: MIT */
#include "ui/table.h"

void row_json(struct row *row, const char *key, json_t *value)
{
	if (!row->object)
		row->object = json_object();
	json_object_set_new(row->object, key, value);
}

void row_bool(struct row *row, const char *key, bool value)
{
	row_json(row, key, json_boolean(value));
}

void row_seconds(struct row *row, const char *key, double seconds)
{
	row_json(row, key, json_real((double)(long long)(seconds * 1e6) / 1e6));
}

void row_texts(struct row *row, const char *key, const struct strlist *list)
{
	row_json(row, key, json_texts(list));
}

/* Only a list has several lines. */
static void show(struct row *row, const char *key, struct strbuf *text, bool list)
{
	for (char *p = text->buf; !list && (p = strchr(p, '\n'));)
		*p = ' ';
	strlist_add(&row->shown, key);
	strlist_take(&row->shown, strbuf_detach(text, NULL));
}

void row_show(struct row *row, const char *key, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	show(row, key, &text, false);
}

void row_show_paths(struct row *row, const char *key, const struct strlist *paths)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < paths->nr; i++) {
		if (i)
			strbuf_addch(&text, '\n');
		quote_path(&text, paths->items[i]);
	}
	show(row, key, &text, true);
}

void row_text(struct row *row, const char *key, const char *text)
{
	row_json(row, key, json_text(text));
	row_show(row, key, "%s", text ? text : "");
}

void row_path(struct row *row, const char *key, const char *path)
{
	struct strbuf quoted = STRBUF_INIT;

	row_json(row, key, path ? json_path(path) : json_null());
	if (path)
		quote_path(&quoted, path);
	show(row, key, &quoted, false);
}

void row_number(struct row *row, const char *key, uint64_t number)
{
	row_json(row, key, json_integer((json_int_t)number));
	row_show(row, key, "%llu", (unsigned long long)number);
}

void row_size(struct row *row, const char *key, uint64_t bytes)
{
	char size[UNITS_SIZE];

	row_json(row, key, json_integer((json_int_t)bytes));
	row_show(row, key, "%s", units_format_size(size, bytes));
}

void row_time(struct row *row, const char *key, int64_t when)
{
	char iso[CLOCK_ISO_SIZE];

	row_json(row, key, json_time(when));
	row_show(row, key, "%s", when ? clock_format_local(iso, when) : "");
}

const char *row_shown(const struct row *row, const char *key)
{
	for (size_t i = row->shown.nr; i; i -= 2)
		if (!strcmp(row->shown.items[i - 2], key))
			return row->shown.items[i - 1];
	return NULL;
}

void row_print(const struct row *row, const struct row_line *lines, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *text = row_shown(row, lines[i].key), *label = lines[i].label;

		while (text && *text) {
			size_t len = strcspn(text, "\n");

			term_say(stdout, "%-10s %.*s\n", label, (int)len, text);
			text += len + (text[len] == '\n');
			label = "";
		}
	}
}

json_t *row_object(struct row *row)
{
	json_t *object = row->object ? row->object : json_object();

	row->object = NULL;
	row_release(row);
	return object;
}

void row_release(struct row *row)
{
	json_decref(row->object);
	row->object = NULL;
	strlist_release(&row->shown);
}
