/* SPDX-License-Identifier: MIT */
#include "ui/table.h"

enum {
	GAP = 2,
	LEAST_WIDTH = 4, /* no column is cut to less: nothing could be recognised */
};

/* What is special about a row. */
struct special {
	size_t row;
	char *heading; /* before it; NULL: none */
	bool dim;
};

struct table {
	const struct table_column *columns;
	size_t columns_nr;
	struct strlist cells;
	struct special *specials; /* in the order of rows */
	size_t specials_nr, specials_alloc;
};

/* How wide a column becomes. */
struct width {
	size_t columns;
	bool out; /* left out */
};

struct table *table_new(const struct table_column *columns, size_t nr)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->columns = columns;
	table->columns_nr = nr;
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	strlist_release(&table->cells);
	for (size_t i = 0; i < table->specials_nr; i++)
		free(table->specials[i].heading);
	free(table->specials);
	free(table);
}

void table_add(struct table *table, const char *text)
{
	struct strbuf clean = STRBUF_INIT;

	if (text)
		utf8_printable(&clean, text, strlen(text), "", ' ');
	/* The list owns what it is given, and an empty strbuf detaches to a copy too. */
	strlist_take(&table->cells, strbuf_detach(&clean, NULL));
}

void table_addf(struct table *table, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	table_add(table, text.buf);
	strbuf_release(&text);
}

void table_add_row(struct table *table, const struct row *row)
{
	for (size_t i = 0; i < table->columns_nr; i++)
		table_add(table, row_shown(row, table->columns[i].key));
}

static struct special *make_special(struct table *table, size_t row)
{
	if (!table->specials_nr || table->specials[table->specials_nr - 1].row != row)
		*ALLOC_NEXT(table->specials, table->specials_nr, table->specials_alloc) =
			(struct special){ .row = row };
	return &table->specials[table->specials_nr - 1];
}

void table_dim_row(struct table *table)
{
	make_special(table, table->cells.nr / table->columns_nr - 1)->dim = true;
}

void table_add_heading(struct table *table, const char *text)
{
	struct special *special = make_special(table, table->cells.nr / table->columns_nr);

	free(special->heading);
	special->heading = xstrdup(text);
}

static const struct special *find_special(const struct table *table, size_t row)
{
	size_t at;

	LOWER_BOUND(at, table->specials_nr, table->specials[at].row < row);
	return at < table->specials_nr && table->specials[at].row == row ? &table->specials[at] : NULL;
}

/* ---- widths ---- */

static size_t title_width(const struct table_column *column)
{
	return column->title ? term_text_width(column->title) : 0;
}

static void natural_widths(struct width *widths, const struct table *table)
{
	for (size_t c = 0; c < table->columns_nr; c++)
		widths[c].columns = title_width(&table->columns[c]);
	for (size_t i = 0; i < table->cells.nr; i++) {
		size_t width = term_text_width(table->cells.items[i]);
		size_t *most = &widths[i % table->columns_nr].columns;

		*most = *most < width ? width : *most;
	}
	for (size_t c = 0; c < table->columns_nr; c++)
		widths[c].out = !widths[c].columns;
}

/* To what width a column may be shortened first. A title has precedence over the share. */
static size_t fair_width(const struct table_column *column, size_t natural, size_t room)
{
	size_t title = title_width(column), least = room * column->share / 100;

	least = least > title ? least : title;
	least = least > LEAST_WIDTH ? least : LEAST_WIDTH;
	return column->share && least < natural ? least : natural;
}

enum measure { NATURAL, FAIR, LEAST };

static size_t width_as(const struct table_column *column, size_t natural, size_t room, enum measure how)
{
	if (how == NATURAL || !column->share)
		return natural;
	if (how == FAIR)
		return fair_width(column, natural, room);
	return natural < LEAST_WIDTH ? natural : LEAST_WIDTH;
}

static size_t line_width(const struct width *widths, const struct table *table, size_t room,
			 enum measure how)
{
	size_t total = 0;

	for (size_t c = 0; c < table->columns_nr; c++)
		if (!widths[c].out)
			total += (total ? GAP : 0) +
				 width_as(&table->columns[c], widths[c].columns, room, how);
	return total;
}

static void leave_out(struct width *widths, const struct table *table, size_t room,
		      enum table_spare which, enum measure how)
{
	for (size_t c = table->columns_nr; c--;)
		if (table->columns[c].spare == which && line_width(widths, table, room, how) > room)
			widths[c].out = true;
}

/* Take up to `excess` columns from `width`, but leave `least`; returns what is still too much. */
static size_t shorten_width(size_t *width, size_t least, size_t excess)
{
	size_t cut = *width > least ? *width - least : 0;

	cut = cut < excess ? cut : excess;
	*width -= cut;
	return excess - cut;
}

/* The widest that may be shortened still more; the number of columns if there is none. */
static size_t find_widest(const struct width *widths, const struct table *table)
{
	size_t widest = table->columns_nr;

	for (size_t c = 0; c < table->columns_nr; c++)
		if (table->columns[c].share && !widths[c].out && widths[c].columns > LEAST_WIDTH &&
		    (widest == table->columns_nr || widths[c].columns > widths[widest].columns))
			widest = c;
	return widest;
}

static void fit_widths(struct width *widths, const struct table *table, size_t room)
{
	size_t total, excess;

	leave_out(widths, table, room, TABLE_SPARE, FAIR);
	leave_out(widths, table, room, TABLE_LAST, LEAST);
	total = line_width(widths, table, room, NATURAL);
	excess = total > room ? total - room : 0;
	for (size_t c = 0; c < table->columns_nr && excess; c++)
		if (!widths[c].out)
			excess = shorten_width(&widths[c].columns,
					 fair_width(&table->columns[c], widths[c].columns, room),
					 excess);
	while (excess) {
		size_t widest = find_widest(widths, table);

		if (widest == table->columns_nr)
			return;
		excess = shorten_width(&widths[widest].columns, widths[widest].columns - 1, excess);
	}
}

/* ---- lines ---- */

/* Two thirds of what fits are its end. */
static size_t add_cut_path(struct strbuf *out, const char *path, size_t width)
{
	const char *end = path;
	size_t used;

	if (term_text_width(path) <= width)
		return term_add_cut(out, path, width);
	while (term_text_width(end) > width * 2 / 3) {
		size_t next = utf8_sequence(end, strlen(end));

		end += next ? next : 1;
	}
	used = term_add_cut(out, path, width - term_text_width(end));
	strbuf_addstr(out, end);
	return used + term_text_width(end);
}

static void add_cell(struct strbuf *out, const char *text, size_t width,
		     const struct table_column *column, const char *escape, bool last)
{
	struct strbuf cut = STRBUF_INIT;
	size_t used = column->path ? add_cut_path(&cut, text, width) : term_add_cut(&cut, text, width);
	int pad = used < width ? (int)(width - used) : 0;
	bool colored = cut.len && *escape;

	if (column->align == TABLE_RIGHT)
		strbuf_addf(out, "%*s", pad, "");
	if (colored)
		strbuf_addstr(out, escape);
	strbuf_add(out, cut.buf, cut.len);
	if (colored)
		strbuf_addstr(out, term_color(TERM_RESET));
	if (column->align == TABLE_LEFT && !last)
		strbuf_addf(out, "%*s", pad, "");
	strbuf_release(&cut);
}

/* `cells` NULL: the titles. */
static void add_line(struct strbuf *out, const struct table *table, const struct width *widths,
		     char *const *cells, bool dim)
{
	size_t start = out->len;
	bool first = true;

	for (size_t c = 0; c < table->columns_nr; c++) {
		const struct table_column *column = &table->columns[c];
		const char *text = cells ? cells[c] : column->title ? column->title : "";
		enum term_color color = dim ? TERM_DIM : cells ? column->color : TERM_BOLD;

		if (widths[c].out)
			continue;
		if (!first)
			strbuf_addf(out, "%*s", GAP, "");
		first = false;
		add_cell(out, text, widths[c].columns, column,
			 color == TERM_RESET ? "" : term_color(color), c + 1 == table->columns_nr);
	}
	/* Empty cells at the end would leave trailing spaces. */
	while (out->len > start && out->buf[out->len - 1] == ' ')
		strbuf_setlen(out, out->len - 1);
	strbuf_addch(out, '\n');
}

static void add_row(struct strbuf *out, const struct table *table, const struct width *widths,
		    size_t row)
{
	const struct special *special = find_special(table, row);

	if (special && special->heading)
		strbuf_addf(out, "%s%s%s\n", term_color(TERM_BOLD), special->heading,
			    term_color(TERM_RESET));
	add_line(out, table, widths, table->cells.items + row * table->columns_nr,
		 special && special->dim);
}

static struct width *compute_widths(const struct table *table, unsigned width)
{
	struct width *widths = xcalloc(table->columns_nr, sizeof(*widths));

	natural_widths(widths, table);
	if (width)
		fit_widths(widths, table, width);
	return widths;
}

void table_format(struct strbuf *out, const struct table *table, unsigned width)
{
	struct width *widths = compute_widths(table, width);
	bool titled = false;

	for (size_t c = 0; c < table->columns_nr; c++)
		titled |= table->columns[c].title && *table->columns[c].title;
	if (titled)
		add_line(out, table, widths, NULL, false);
	for (size_t i = 0; (i + 1) * table->columns_nr <= table->cells.nr; i++)
		add_row(out, table, widths, i);
	free(widths);
}

static unsigned stdout_width(void)
{
	return term_is_terminal() ? term_width() : 0;
}

void table_print(const struct table *table)
{
	struct strbuf out = STRBUF_INIT;

	table_format(&out, table, stdout_width());
	fwrite(out.buf, 1, out.len, stdout);
	strbuf_release(&out);
}

void table_print_row(const struct table *table, size_t row)
{
	struct width *widths = compute_widths(table, stdout_width());
	struct strbuf out = STRBUF_INIT;

	add_row(&out, table, widths, row);
	fwrite(out.buf, 1, out.len, stdout);
	strbuf_release(&out);
	free(widths);
}
