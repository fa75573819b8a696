/* SPDX-License-Identifier: MIT */

#include "ui/opt.h"
#include "ui/term.h"

enum {
	USAGE_WIDTH = 80,
	HELP_COLUMN = 26, /* where git starts the help of an option */
};

/* ---- the forms of a command: each a list of pieces that stay on one line ---- */

/* " <n>", or "[<n>]" where it must be attached: "[=<n>]" to a long name. */
static void add_value(struct strbuf *out, const struct opt *opt, bool after_name)
{
	if (opt->kind == OPT_OPTIONAL)
		strbuf_addf(out, "[%s%s]", after_name ? "=" : "", opt->argument);
	else if (opt->kind != OPT_FLAG)
		strbuf_addf(out, " %s", opt->argument);
}

/* `alone`: not one of several, so that its letter fits, too. */
static void add_option(struct strbuf *out, const struct opt *opt, bool alone)
{
	bool value = opt_takes_word(opt), both = alone && opt->letter && opt->name;

	if (both && opt->kind == OPT_OPTIONAL) {
		strbuf_addf(out, "-%c", opt->letter);
		add_value(out, opt, false);
		strbuf_addf(out, " | --%s", opt->name);
	} else if (both)
		strbuf_addf(out, value ? "(-%c | --%s)" : "-%c | --%s", opt->letter, opt->name);
	else if (opt->name)
		strbuf_addf(out, "--%s", opt->name);
	else
		strbuf_addf(out, "-%c", opt->letter);
	add_value(out, opt, opt->name != NULL);
}

/* "--x" and "--no-x" are one. */
static bool is_opposite(const struct opt *opt, const struct opt *before)
{
	return opt->name && before->name && !strncmp(opt->name, "no-", 3) &&
	       !strcmp(opt->name + 3, before->name);
}

/* "[--stat | --files [-z]]", "--agent <name>... [--user]" */
static void add_group(struct strlist *pieces, const struct opt *head, size_t nr)
{
	bool needed = head->flags & (OPT_FORM | OPT_NEEDED);
	bool repeats = head->kind == OPT_LIST && strcmp(head->argument, "<list>") != 0;
	struct strbuf out = STRBUF_INIT;

	strbuf_addstr(&out, needed ? "" : "[");
	if (nr == 2 && is_opposite(&head[1], head)) {
		strbuf_addf(&out, "--[no-]%s", head->name);
		nr = 1;
	} else {
		add_option(&out, head, nr == 1 && !needed);
	}
	if (repeats && (needed || nr > 1))
		strbuf_addstr(&out, "...");
	for (size_t i = 1; i < nr; i++) {
		bool with = head[i].flags & OPT_WITH;

		strbuf_addstr(&out, with ? " [" : " | ");
		add_option(&out, &head[i], with);
		strbuf_addstr(&out, with ? "]" : "");
	}
	strbuf_addstr(&out, needed ? "" : repeats && nr == 1 ? "]..." : "]");
	strlist_take(pieces, strbuf_detach(&out, NULL));
}

/* "<checkpoint>", "[<path>...]", "(start | complete)", "[<checkpoint> [<checkpoint>]]" */
static void add_argument(struct strlist *pieces, const struct opt_arg *arg)
{
	bool choice = arg->one_of[1] != NULL;
	struct strbuf out = STRBUF_INIT;

	if (arg->dashes || arg->dashed)
		strlist_add(pieces, arg->dashed ? "--" : "[--]");
	strbuf_addstr(&out, !arg->min ? "[" : choice ? "(" : "");
	for (size_t i = 0; i < OPT_CHOICES && arg->one_of[i]; i++)
		strbuf_addf(&out, "%s%s", i ? " | " : "", arg->one_of[i]);
	if (arg->max == OPT_MANY)
		strbuf_addstr(&out, "...");
	else if (arg->max == 2)
		strbuf_addf(&out, " [%s]", arg->one_of[0]);
	strbuf_addstr(&out, !arg->min ? "]" : choice ? ")" : "");
	strlist_take(pieces, strbuf_detach(&out, NULL));
}

/* `form` is the option that asks for it, or NULL. */
static void describe_form(struct strlist *pieces, const struct opt_spec *spec,
			  const struct opt *form)
{
	const struct opt_arg *arg = form ? form->args : spec->args;

	for (const struct opt *opt = spec->options; opt && opt->kind != OPT_END;) {
		size_t nr = opt_group(opt);

		bool fits = form ? opt == form || opt->flags & OPT_FORMS :
				   !(opt->flags & (OPT_FORM | OPT_FORMS));

		if (fits)
			add_group(pieces, opt, nr);
		opt += nr;
	}
	for (; arg && arg->max; arg++)
		add_argument(pieces, arg);
}

typedef void form_fn(struct strbuf *out, const char *command, const struct strlist *pieces);

static void add_form(struct strbuf *out, const struct opt_spec *spec, const struct opt *form,
		     form_fn *add)
{
	struct strlist pieces = STRLIST_INIT;

	describe_form(&pieces, spec, form);
	add(out, spec->command, &pieces);
	strlist_release(&pieces);
}

static void add_forms(struct strbuf *out, const struct opt_spec *spec, form_fn *add)
{
	for (const struct opt_spec *sub = spec->subs; sub && sub->command; sub++)
		add_forms(out, sub, add);
	if (spec->subs)
		return;
	add_form(out, spec, NULL, add);
	for (const struct opt *opt = spec->options; opt && opt->kind != OPT_END; opt++)
		if (opt->flags & OPT_FORM)
			add_form(out, spec, opt, add);
}

static void add_plain(struct strbuf *out, const char *command, const struct strlist *pieces)
{
	strbuf_addf(out, "git checkpoint %s", command);
	for (size_t i = 0; i < pieces->nr; i++)
		strbuf_addf(out, " %s", pieces->items[i]);
	strbuf_addch(out, '\n');
}

void opt_forms(struct strlist *out, const struct opt_spec *spec)
{
	struct strbuf text = STRBUF_INIT;
	char *line, *rest;

	add_forms(&text, spec, add_plain);
	for (line = strtok_r(text.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		strlist_add(out, line);
	strbuf_release(&text);
}

/* ---- on a terminal ---- */

static size_t width_of(const char *s, size_t len)
{
	char *copy = xmemdupz(s, len);
	size_t width = term_text_width(copy);

	free(copy);
	return width;
}

/* Words, beginning at `indent` and wrapped to it; returns the column after them. */
static size_t add_words(struct strbuf *out, const char *words, size_t indent, size_t column)
{
	while (*words) {
		size_t len = strcspn(words, " "), width = width_of(words, len);

		if (column > indent && column + 1 + width > USAGE_WIDTH) {
			strbuf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			strbuf_addch(out, ' ');
			column++;
		}
		strbuf_add(out, words, len);
		column += width;
		words += len;
		words += strspn(words, " ");
	}
	return column;
}

static void add_wrapped(struct strbuf *out, const char *command, const struct strlist *pieces)
{
	char *lead = xstrfmt("%s git checkpoint %s", out->len ? "   or:" : "usage:", command);
	size_t indent = term_text_width(lead) + 1, column = indent;

	strbuf_addstr(out, lead);
	strbuf_addstr(out, pieces->nr ? " " : "");
	for (size_t i = 0; i < pieces->nr; i++) {
		size_t width = term_text_width(pieces->items[i]);

		/* A piece too long for any line is broken like plain words. */
		if (column > indent && column + 1 + width > USAGE_WIDTH &&
		    indent + width <= USAGE_WIDTH) {
			strbuf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		column = add_words(out, pieces->items[i], indent, column);
	}
	strbuf_addch(out, '\n');
	free(lead);
}

static void add_help(struct strbuf *out, const struct opt *opt)
{
	struct strbuf left = STRBUF_INIT;
	size_t width;

	strbuf_addstr(&left, "    ");
	if (opt->letter)
		strbuf_addf(&left, "-%c", opt->letter);
	if (opt->name)
		strbuf_addf(&left, "%s--%s", opt->letter ? ", " : "", opt->name);
	add_value(&left, opt, opt->name != NULL);
	width = term_text_width(left.buf);
	strbuf_add(out, left.buf, left.len);
	if (width + 2 > HELP_COLUMN)
		strbuf_addf(out, "\n%*s", HELP_COLUMN, "");
	else
		strbuf_addf(out, "%*s", (int)(HELP_COLUMN - width), "");
	add_words(out, opt->help, HELP_COLUMN, HELP_COLUMN);
	strbuf_addch(out, '\n');
	strbuf_release(&left);
}

static void add_helps(struct strbuf *out, const struct opt *rows, size_t nr)
{
	for (size_t i = 0; i < nr && rows[i].kind != OPT_END; i++)
		add_help(out, &rows[i]);
}

void opt_usage(const struct opt_spec *spec, int fd)
{
	struct strbuf out = STRBUF_INIT;
	struct opt_rows rows;
	size_t shared;

	opt_rows_init(&rows, spec);
	shared = spec->subs ? rows.own : 0;
	add_forms(&out, spec, add_wrapped);
	for (const struct opt_spec *sub = spec->subs; sub && sub->command; sub++) {
		if (!sub->options)
			continue;
		strbuf_addf(&out, "\n%s\n", sub->command);
		add_helps(&out, sub->options, SIZE_MAX);
	}
	strbuf_addch(&out, '\n');
	add_helps(&out, rows.items + shared, rows.nr - shared);
	strbuf_addch(&out, '\n');

	/*
	 * What stdio still holds was printed before. If the usage cannot be printed, there is no
	 * remedy.
	 */
	if (fd == STDOUT_FILENO)
		fflush(stdout);
	(void)fs_write_all(fd, out.buf, out.len);
	opt_rows_release(&rows);
	strbuf_release(&out);
}
