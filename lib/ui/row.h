/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_ROW_H
#define CKPT_UI_ROW_H

#include "base/base.h"

/**
 * What is shown of a thing, written down once: a JSON object for programs, and
 * for people a text for each key, from which the cells of a table (see table.h)
 * or lines with labels are taken.
 *
 *   struct row row = ROW_INIT;
 *
 *   row_text(&row, "key", item->key);
 *   row_size(&row, "bytes", item->bytes);     1500000, and "1.5 MB"
 *   return row_object(&row);
 */
struct row {
	json_t *object;
	struct strlist shown; /**< key, text, key, text, ...; a later text counts */
};

#define ROW_INIT { NULL, STRLIST_INIT }

/** NULL is null, and an empty text. */
void row_text(struct row *row, const char *key, const char *text);
void row_path(struct row *row, const char *key, const char *path);
void row_number(struct row *row, const char *key, uint64_t number);
void row_size(struct row *row, const char *key, uint64_t bytes);
/** 0 is null, and an empty text. */
void row_time(struct row *row, const char *key, int64_t when);

/** For programs only; row_json() takes the value over. */
void row_bool(struct row *row, const char *key, bool value);
void row_texts(struct row *row, const char *key, const struct strlist *list);
void row_json(struct row *row, const char *key, json_t *value);

/** For people only. A list of paths has a line for each. */
void row_show(struct row *row, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void row_show_paths(struct row *row, const char *key, const struct strlist *paths);

/** The text of a key, or NULL. */
const char *row_shown(const struct row *row, const char *key);

/** Print "<label> <text>" on stdout for each key with a text, fit for a terminal. */
struct row_line {
	const char *label, *key;
};
void row_print(const struct row *row, const struct row_line *lines, size_t nr);

/** The object, which is the caller's then; nothing else is left. */
json_t *row_object(struct row *row);
void row_release(struct row *row);

#endif
