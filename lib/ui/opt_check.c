/* SPDX-License-Identifier: MIT */

#include "ui/opt.h"

/* ---- options ---- */

size_t opt_group(const struct opt *head)
{
	size_t nr = 1;

	while (head[nr].flags & (OPT_OR | OPT_WITH))
		nr++;
	return nr;
}

/* "--stat" or "-z"; the caller frees it. */
static char *show_option(const struct opt *opt)
{
	return opt->name ? xstrfmt("--%s", opt->name) : xstrfmt("-%c", opt->letter);
}

static int error_about(const char *format, const struct opt *one, const struct opt *other)
{
	char *first = show_option(one), *second = show_option(other);
	int err = ckpt_error_set(CKPT_EUSAGE, format, first, second);

	free(first);
	free(second);
	return err;
}

static int error_together(const struct opt *one, const struct opt *other)
{
	return error_about("options '%s' and '%s' cannot be used together", one, other);
}

/* Options that exclude each other, or mean nothing without another. */
static int check_group(const struct opt_rows *rows, size_t at, size_t nr)
{
	const struct opt *leader = NULL, *taken = NULL;

	for (size_t i = at; i < at + nr; i++) {
		const struct opt *opt = &rows->items[i];

		if (!(opt->flags & OPT_WITH))
			leader = opt;
		if (!rows->given[i])
			continue;
		if (opt->flags & OPT_WITH && !rows->given[leader - rows->items])
			return error_about("option '%s' needs '%s'", opt, leader);
		if (opt->flags & OPT_WITH)
			continue;
		if (taken)
			return error_together(taken, opt);
		taken = opt;
	}
	return 0;
}

/* `form` asks for another form of the command; the options of the others have no meaning in it. */
static int check_form(const struct opt_rows *rows, size_t form, size_t nr)
{
	for (size_t i = 0; i < rows->own; i++)
		if ((i < form || i >= form + nr) && rows->given[i] &&
		    !(rows->items[i].flags & OPT_ALSO))
			return error_together(&rows->items[form], &rows->items[i]);
	return 0;
}

static int check_options(const struct opt_rows *rows, const struct opt **form_out)
{
	int err = 0;

	for (size_t i = 0, nr; i < rows->own && !err; i += nr) {
		const struct opt *head = &rows->items[i];

		nr = opt_group(head);
		err = check_group(rows, i, nr);
		if (!err && head->flags & OPT_FORM && rows->given[i]) {
			*form_out = head;
			err = check_form(rows, i, nr);
		} else if (!err && head->flags & OPT_NEEDED && !rows->given[i]) {
			err = ckpt_error_set(CKPT_EUSAGE, "'%s' needs '--%s %s'", rows->spec->command,
					     head->name, head->argument);
		}
	}
	return err;
}

/* ---- arguments ---- */

static bool is_word(const struct opt_arg *arg)
{
	return arg->one_of[0][0] != '<';
}

/* "a checkpoint", "an old path or a key", "start, complete or fail" */
static void describe_argument(struct strbuf *out, const struct opt_arg *arg)
{
	for (size_t i = 0; i < OPT_CHOICES && arg->one_of[i]; i++) {
		const char *word = arg->one_of[i];

		if (i)
			strbuf_addstr(out,
				      i + 1 < OPT_CHOICES && arg->one_of[i + 1] ? ", " : " or ");
		if (is_word(arg))
			strbuf_addstr(out, word);
		else
			strbuf_addf(out, "%s %.*s", strchr("aeio", word[1]) ? "an" : "a",
				    (int)strlen(word) - 2, word + 1);
	}
	if (arg->noun)
		strbuf_addf(out, " %s", arg->noun);
	if (arg->such_as)
		strbuf_addf(out, ", such as %s", arg->such_as);
}

/* It is missing, or something else was given. */
static int error_argument(const char *command, const struct opt_arg *arg, const char *given)
{
	struct strbuf what = STRBUF_INIT;
	int err;

	describe_argument(&what, arg);
	err = given ? ckpt_error_set(CKPT_EUSAGE, "'%s' takes %s, not '%s'", command, what.buf, given) :
		      ckpt_error_set(CKPT_EUSAGE, "'%s' needs %s; see 'git checkpoint %s -h'",
				     command, what.buf, command);
	strbuf_release(&what);
	return err;
}

static bool accepts_word(const struct opt_arg *arg, const char *word)
{
	for (size_t i = 0; i < OPT_CHOICES && arg->one_of[i]; i++)
		if (arg->one_of[i][0] == '<' || !strcmp(arg->one_of[i], word))
			return true;
	return false;
}

static int error_too_many(const char *command, const struct opt *form, const char *word)
{
	return ckpt_error_set(CKPT_EUSAGE,
			      "unexpected argument '%s'%s%s; see 'git checkpoint %s -h'", word,
			      form ? " with --" : "", form ? form->name : "", command);
}

/* Where "--" must precede one of them, it tells what the words before it are. */
static int check_dashed(const char *command, const struct opt *form, const struct opt_arg *arg,
			char *const *args)
{
	int before = opt_common.dashdash;
	const struct opt_arg *dashed = arg;

	while (dashed && dashed->max && !dashed->dashed)
		dashed++;
	if (before < 0 || !dashed || !dashed->max)
		return 0;
	for (; arg < dashed; arg++) {
		if (before < arg->min)
			return error_argument(command, arg, NULL);
		before -= before < arg->max ? before : arg->max;
	}
	return before ? error_too_many(command, form, args[opt_common.dashdash - before]) : 0;
}

/* Those that may be missing are the first that are. */
static int check_arguments(const char *command, const struct opt *form, const struct opt_arg *arg,
			   char *const *args, size_t nr)
{
	size_t needed = 0, i = 0;
	int err = check_dashed(command, form, arg, args);

	if (err)
		return err;
	for (const struct opt_arg *p = arg; p && p->max; p++)
		needed += (size_t)p->min;
	for (; arg && arg->max; arg++) {
		size_t spare = nr - i > needed ? nr - i - needed : 0;
		size_t take = (size_t)arg->min + spare;

		if (take > (size_t)arg->max)
			take = (size_t)arg->max;
		needed -= (size_t)arg->min;
		for (size_t k = 0; k < take; k++, i++) {
			if (i == nr || !accepts_word(arg, args[i]))
				return error_argument(command, arg, i < nr ? args[i] : NULL);
		}
	}
	return i < nr ? error_too_many(command, form, args[i]) : 0;
}

/* None was given, or an unknown one. */
static int error_sub(const struct opt_spec *spec, const struct strlist *args)
{
	struct strlist names = STRLIST_INIT;
	struct strbuf all = STRBUF_INIT;
	const char *nearest;
	int err;

	for (const struct opt_spec *sub = spec->subs; sub->command; sub++) {
		strbuf_addf(&all, "%s%s",
			    !names.nr	     ? ""
			    : sub[1].command ? ", "
					     : " or ",
			    opt_sub_name(sub));
		strlist_add(&names, opt_sub_name(sub));
	}
	nearest = args->nr ? opt_suggestion(args->items[0], (const char *const *)names.items,
					    names.nr)
			   : NULL;
	if (!args->nr)
		err = ckpt_error_set(CKPT_EUSAGE, "'%s' needs a subcommand: %s", spec->command,
				     all.buf);
	else if (nearest)
		err = ckpt_error_set(CKPT_EUSAGE, "unknown subcommand '%s %s'; did you mean '%s'?",
				     spec->command, args->items[0], nearest);
	else
		err = ckpt_error_set(CKPT_EUSAGE, "unknown subcommand '%s %s'; use %s",
				     spec->command, args->items[0], all.buf);
	strbuf_release(&all);
	strlist_release(&names);
	return err;
}

int opt_check(const struct opt_rows *rows, const struct strlist *args, size_t skip)
{
	const struct opt_spec *spec = rows->spec;
	const struct opt *form = NULL;
	int err;

	if (spec->subs)
		return spec->run && !args->nr ? 0 : error_sub(spec, args);
	/* What looked like its name was the value of an option. */
	if (skip && (!args->nr || strcmp(args->items[0], opt_sub_name(spec)) != 0))
		return ckpt_error_set(CKPT_EUSAGE, "options before '%s' must be spelled out",
				      opt_sub_name(spec));
	err = check_options(rows, &form);
	return err ? err
		   : check_arguments(spec->command, form, form ? form->args : spec->args,
				     skip ? args->items + skip : args->items, args->nr - skip);
}
