/* SPDX-License-Identifier: MIT */
#include "ui/patch.h"

#include "ui/term.h"

enum {
	LEAST_NAME = 10,
	LEAST_GRAPH = 6,
	FRAME = 6, /* " name | 12 +++": the spaces and the bar, and one spare column at the right */
};

/* The columns that each part of a line gets. */
struct layout {
	size_t name, number, graph;
	size_t most; /* changed lines of the file with the most: the graph's scale */
};

static size_t count_digits(unsigned long long n)
{
	size_t count = 1;

	while (n >= 10) {
		n /= 10;
		count++;
	}
	return count;
}

static size_t larger_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* How many bytes at the beginning of both are the same directories. */
static size_t common_start(const char *a, const char *b)
{
	size_t found = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			found = i + 1;
	return found;
}

/*
 * The same for the end, beginning with a slash. That may be the slash in which the common
 * beginning of `start` bytes ends.
 */
static size_t common_end(const char *a, const char *b, size_t start)
{
	size_t a_len = strlen(a), b_len = strlen(b), least = start ? start - 1 : 0, found = 0;

	for (size_t n = 1; n <= a_len - least && n <= b_len - least; n++) {
		if (a[a_len - n] != b[b_len - n])
			break;
		if (a[a_len - n] == '/')
			found = n;
	}
	return found;
}

void diffstat_name(struct strbuf *out, const struct diffstat_file *file)
{
	const char *from = file->from, *to = file->path;
	struct strbuf old = STRBUF_INIT, new = STRBUF_INIT;

	quote_path(&new, to);
	if (from)
		quote_path(&old, from);
	if (!from) {
		strbuf_addstr(out, new.buf);
	} else if (strcmp(old.buf, from) != 0 || strcmp(new.buf, to) != 0) {
		strbuf_addf(out, "%s => %s", old.buf, new.buf);
	} else {
		size_t start = common_start(from, to), end = common_end(from, to, start);
		size_t from_len = strlen(from), to_len = strlen(to);
		size_t from_mid = from_len > start + end ? from_len - start - end : 0;
		size_t to_mid = to_len > start + end ? to_len - start - end : 0;
		bool braces = start + end > 0;

		strbuf_addf(out, "%.*s%s%.*s => %.*s%s%s", (int)start, from, braces ? "{" : "",
			    (int)from_mid, from + start, (int)to_mid, to + start, braces ? "}" : "",
			    to + to_len - end);
	}
	strbuf_release(&old);
	strbuf_release(&new);
}

/* The names as they are shown; the caller frees both. */
static char **shown_names(const struct diffstat_file *files, size_t nr)
{
	char **names = xcalloc(nr ? nr : 1, sizeof(*names));

	for (size_t i = 0; i < nr; i++) {
		struct strbuf name = STRBUF_INIT;

		diffstat_name(&name, &files[i]);
		names[i] = strbuf_detach(&name, NULL);
	}
	return names;
}

/*
 * First what everything would like to have; if that is too much, the graph
 * shrinks to three eighths of the line, then names are shortened, and what
 * short names leave over goes back to the graph.
 */
static void lay_out(struct layout *out, const struct diffstat_file *files, char **names,
		    size_t nr, size_t width)
{
	size_t binary = 0; /* columns of "12 -> 34 bytes" */
	struct layout want = { 0, 1, 0, 0 };

	for (size_t i = 0; i < nr; i++) {
		want.name = larger_of(want.name, term_text_width(names[i]));
		if (files[i].binary) {
			want.number = larger_of(want.number, strlen("Bin"));
			binary = larger_of(binary, strlen(" ->  bytes") + count_digits(files[i].old_size) +
						      count_digits(files[i].new_size));
		} else {
			want.most = larger_of(want.most, files[i].added + files[i].removed);
		}
	}
	want.number = larger_of(want.number, count_digits(want.most));
	want.graph = larger_of(want.most, binary);
	width = larger_of(width, LEAST_NAME + LEAST_GRAPH + FRAME + want.number);

	if (want.name + want.number + FRAME + want.graph > width) {
		size_t eighths = width * 3 / 8, taken = want.number + FRAME;
		size_t graph = eighths > taken ? larger_of(eighths - taken, LEAST_GRAPH) : LEAST_GRAPH;

		if (want.graph > graph)
			want.graph = graph;
		if (want.name > width - taken - want.graph)
			want.name = width - taken - want.graph;
		else
			want.graph = width - taken - want.name;
	}
	*out = want;
}

/* At least 1 for anything but 0. */
static size_t scale_down(size_t n, const struct layout *layout)
{
	return n ? 1 + n * (layout->graph - 1) / layout->most : 0;
}

static void add_repeated(struct strbuf *out, char sign, size_t count, const char *color,
			 const char *reset)
{
	if (!count)
		return;
	strbuf_addstr(out, color);
	while (count--)
		strbuf_addch(out, sign);
	strbuf_addstr(out, reset);
}

/* A name that is too long loses its beginning, up to a slash if there is one. */
static void add_name(struct strbuf *out, const char *name, size_t room)
{
	const char *lead = "", *slash;
	size_t width = term_text_width(name);

	if (width > room) {
		lead = "...";
		room -= strlen(lead);
		while (*name && term_text_width(name) > room) {
			size_t len = utf8_sequence(name, strlen(name));

			name += len ? len : 1;
		}
		slash = strchr(name, '/');
		name = slash ? slash : name;
		width = term_text_width(name);
	}
	strbuf_addf(out, " %s%s%*s | ", lead, name, (int)(room - width), "");
}

static void add_graph(struct strbuf *out, const struct diffstat_file *file,
		      const struct layout *layout, const char *red, const char *green,
		      const char *reset)
{
	size_t added = file->added, removed = file->removed;

	if (layout->graph <= layout->most) {
		size_t total = scale_down(added + removed, layout);

		if (total < 2 && added && removed)
			total = 2;
		/* The smaller part is scaled and the larger gets the rest: the sum stays right. */
		if (added < removed) {
			added = scale_down(added, layout);
			removed = total - added;
		} else {
			removed = scale_down(removed, layout);
			added = total - removed;
		}
	}
	strbuf_addf(out, "%*zu", (int)layout->number, file->added + file->removed);
	if (added + removed)
		strbuf_addch(out, ' ');
	add_repeated(out, '+', added, green, reset);
	add_repeated(out, '-', removed, red, reset);
	strbuf_addch(out, '\n');
}

void diffstat_summary(struct strbuf *out, const struct diffstat_file *files, size_t nr)
{
	size_t added = 0, removed = 0;

	for (size_t i = 0; i < nr; i++) {
		added += files[i].binary ? 0 : files[i].added;
		removed += files[i].binary ? 0 : files[i].removed;
	}
	strbuf_addf(out, " %zu file%s changed", nr, nr == 1 ? "" : "s");
	/* If neither changed (a mode, a binary file), both are printed, as git does. */
	if (nr && (added || !removed))
		strbuf_addf(out, ", %zu insertion%s(+)", added, added == 1 ? "" : "s");
	if (nr && (removed || !added))
		strbuf_addf(out, ", %zu deletion%s(-)", removed, removed == 1 ? "" : "s");
	strbuf_addch(out, '\n');
}

void diffstat_format(struct strbuf *out, const struct diffstat_file *files, size_t nr,
		     unsigned width, bool color)
{
	const char *red = color ? "\x1b[31m" : "", *green = color ? "\x1b[32m" : "";
	const char *reset = color ? "\x1b[m" : "";
	char **names = shown_names(files, nr);
	struct layout layout;

	lay_out(&layout, files, names, nr, width);
	for (size_t i = 0; i < nr; i++) {
		const struct diffstat_file *file = &files[i];

		add_name(out, names[i], layout.name);
		if (!file->binary) {
			add_graph(out, file, &layout, red, green, reset);
			continue;
		}
		strbuf_addf(out, "%*s", (int)layout.number, "Bin");
		if (file->old_size || file->new_size)
			strbuf_addf(out, " %s%llu%s -> %s%llu%s bytes", red, file->old_size, reset,
				    green, file->new_size, reset);
		strbuf_addch(out, '\n');
	}
	diffstat_summary(out, files, nr);
	for (size_t i = 0; i < nr; i++)
		free(names[i]);
	free(names);
}

void diffstat_print(const struct diffstat_file *files, size_t nr)
{
	struct strbuf out = STRBUF_INIT;

	diffstat_format(&out, files, nr, term_width(), *term_color(TERM_RESET) != '\0');
	fwrite(out.buf, 1, out.len, stdout);
	strbuf_release(&out);
}
