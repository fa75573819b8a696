/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/clock.h"
#include "base/quote.h"

json_t *json_text(const char *text)
{
	struct strbuf sb = STRBUF_INIT;
	json_t *value;

	if (!text)
		return json_null();
	utf8_sanitize(&sb, text, strlen(text));
	value = json_stringn(sb.buf, sb.len);
	strbuf_release(&sb);
	return value;
}

json_t *json_path(const char *path)
{
	size_t len = strlen(path);
	struct strbuf sb = STRBUF_INIT;
	json_t *value;

	if (path[0] != '"' && utf8_valid(path, len))
		return json_stringn(path, len);
	quote_c(&sb, path, len);
	value = json_stringn(sb.buf, sb.len);
	strbuf_release(&sb);
	return value;
}

char *json_path_value(const json_t *value)
{
	const char *text = json_string_value(value), *end;
	struct strbuf path = STRBUF_INIT;

	if (!text || *text != '"')
		return text ? xstrdup(text) : NULL;
	if (quote_undo_c(&path, text, &end) && !*end && strlen(path.buf) == path.len)
		return strbuf_detach(&path, NULL);
	strbuf_release(&path);
	return NULL;
}

static json_t *array_of(const struct strlist *list, json_t *(*make)(const char *))
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->nr; i++)
		json_array_append_new(array, make(list->items[i]));
	return array;
}

json_t *json_texts(const struct strlist *list)
{
	return array_of(list, json_text);
}

json_t *json_paths(const struct strlist *list)
{
	return array_of(list, json_path);
}

json_t *json_time(int64_t when)
{
	char iso[CLOCK_ISO_SIZE];

	return when ? json_string(clock_format_iso(iso, when)) : json_null();
}

/* What jansson leaves as it is, but a terminal obeys. Such characters are in strings only. */
static void add_escaped(struct strbuf *out, const char *text)
{
	for (size_t left = strlen(text), n; left; left -= n, text += n) {
		n = utf8_sequence(text, left);
		if (utf8_control(text, n))
			strbuf_addf(out, "\\u%04x", (unsigned)utf8_decode(text, n));
		else
			strbuf_add(out, text, n);
	}
}

void json_write(struct strbuf *out, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	add_escaped(out, text ? text : "null");
	free(text);
}

int json_write_file(int dirfd, const char *file, json_t *value, mode_t mode,
		    enum fs_durability durability)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	json_write(&text, value);
	strbuf_addch(&text, '\n');
	err = fs_write_file(dirfd, file, text.buf, text.len, mode, durability);
	json_decref(value);
	strbuf_release(&text);
	return err;
}

int json_read_file(json_t **out, int dirfd, const char *file)
{
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_file(&text, dirfd, file);

	*out = err ? NULL : json_loadb(text.buf, text.len, 0, NULL);
	strbuf_release(&text);
	return err;
}
