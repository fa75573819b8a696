/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_TABLE_H
#define CKPT_UI_TABLE_H

#include "base/base.h"
#include "ui/term.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Rows as aligned columns, two spaces apart.
 *
 * On a terminal (also behind a pager) the lines are made to fit: if they are
 * too long, columns that may be shortened lose their ends to a "…", first
 * those over their share, then the widest. Before that, columns that can be
 * spared are left out, the last first: some until the others have their share,
 * some only if there would be no room at all.
 * Elsewhere nothing is ever cut or left out, so that scripts see it all.
 *
 * Cells are UTF-8; control characters are shown as spaces and bytes that are
 * not UTF-8 as U+FFFD, so that no cell can break the table or the terminal.
 */
enum table_align { TABLE_LEFT, TABLE_RIGHT };

enum table_spare {
	TABLE_KEEP,  /**< never left out */
	TABLE_SPARE, /**< if the others would not have their share */
	TABLE_LAST,  /**< if there is no room even for beginnings */
};

struct table_column {
	const char *title;      /**< NULL or "" for none; no line of titles if no column has one */
	enum table_align align;
	unsigned share;         /**< may be shortened, first to so many percent of the line; 0: never */
	enum term_color color;  /**< TERM_RESET: none */
	enum table_spare spare;
};

struct table;

/** `columns` must live as long as the table. */
struct table *table_new(const struct table_column *columns, size_t nr);
void table_free(struct table *table);

/** Append a cell, left to right, row by row; NULL is an empty one. The text is copied. */
void table_add(struct table *table, const char *text);
void table_addf(struct table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Fill the present row with empty cells; nothing if a row is just complete. */
void table_end_row(struct table *table);

/** Append the lines to `out`, fitted into `width` columns; 0: unshortened. */
void table_format(struct strbuf *out, const struct table *table, unsigned width);

/** Print to stdout, fitted if that is a terminal. */
void table_print(const struct table *table);

/** The same for one row alone, aligned as in the whole table: something stands between the rows. */
void table_print_row(const struct table *table, size_t row);

#endif
