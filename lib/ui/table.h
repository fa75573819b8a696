/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_TABLE_H
#define CKPT_UI_TABLE_H

#include "ui/term.h"

/* --- row.c --- */

/**
 * What is shown of a thing, written down once: a JSON object for programs, and
 * for people a text for each key, from which the cells of a table (below)
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

/** For programs only, with microseconds. */
void row_seconds(struct row *row, const char *key, double seconds);
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

/* --- table.c --- */

/**
 * Rows as aligned columns, two spaces apart.
 *
 * On a terminal (also through a pager) lines are made to fit: if they are too
 * long, columns that may be shortened are cut with a "…", first those over
 * their share, then the widest. Before that, optional columns are left out,
 * the last first: some until the others have their share, some only if there
 * would be no room at all. Elsewhere nothing is ever cut or left out, so that
 * scripts see everything.
 *
 * A column without a title in which all cells are empty takes no room.
 *
 * Cells are UTF-8; control characters are shown as spaces and bytes that are
 * not UTF-8 as U+FFFD, so that no cell can break the table or the terminal.
 */
enum table_align { TABLE_LEFT, TABLE_RIGHT };

enum table_spare {
	TABLE_KEEP,  /**< never left out */
	TABLE_SPARE, /**< if the others would not have their share */
	TABLE_LAST,  /**< if there is no room even for shortened cells */
};

struct table_column {
	const char *title;      /**< NULL or "" for none; without any title the line of titles is omitted */
	enum table_align align;
	unsigned share;         /**< may be shortened, first to this percentage of the line; 0: never */
	enum term_color color;  /**< TERM_RESET: none */
	enum table_spare spare;
	const char *key; /**< of its text in a row, for table_add_row() */
	bool path;	 /**< cut in the middle: its end tells most */
};

struct table;

/** `columns` must live as long as the table. */
struct table *table_new(const struct table_column *columns, size_t nr);
void table_free(struct table *table);

/** Append a cell, left to right, row by row; NULL is an empty one. The text is copied. */
void table_add(struct table *table, const char *text);
void table_addf(struct table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Append a row: for each column the text of its key. */
void table_add_row(struct table *table, const struct row *row);

/** Show the row that was added last in dim letters, whatever the colours of the columns. */
void table_dim_row(struct table *table);

/** A bold line before the next row, as wide as it is. */
void table_add_heading(struct table *table, const char *text);

/** Append the lines to `out`, fitted into `width` columns; 0: unshortened. */
void table_format(struct strbuf *out, const struct table *table, unsigned width);

/** Print to stdout, fitted if that is a terminal. */
void table_print(const struct table *table);

/**
 * The same for one row alone, aligned as in the whole table, for output with something between the
 * rows.
 */
void table_print_row(const struct table *table, size_t row);

#endif
