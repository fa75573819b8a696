/* SPDX-License-Identifier: MIT */
#include "ui/complete.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the forms of a usage ---- */

/* The form that begins at `form`, cut at its end; moves on to the next. To be freed. */
static char *next_form(const char **form)
{
	size_t len = strcspn(*form, "\n");
	char *copy = xmemdupz(*form, len);

	*form += len + ((*form)[len] == '\n');
	return copy;
}

/* The length of the verb that a form begins with; 0 if it has none. */
static size_t verb_length(const char *form)
{
	size_t len = strspn(form, "abcdefghijklmnopqrstuvwxyz");

	return form[len] && !strchr(" \n", form[len]) ? 0 : len;
}

static bool is_verb(const char *form, const char *verb, size_t len)
{
	return len && verb_length(form) == len && !strncmp(form, verb, len);
}

/* True if `text` has `word`, and nothing behind that would make it another one. */
static bool has_word(const char *text, const char *word)
{
	for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz-", p[strlen(word)]) || !p[strlen(word)])
			return true;
	return false;
}

/* "--guard", or as part of "--[no-]guard" */
static bool shows(const char *form, const char *option)
{
	const char *rest = strncmp(option, "no-", 3) ? option : option + 3;
	char *plain = xstrfmt("--%s", option), *both = xstrfmt("--[no-]%s", rest);
	bool found = has_word(form, plain) || has_word(form, both);

	free(both);
	free(plain);
	return found;
}

void complete_verbs(const struct opt_spec *spec)
{
	const char *at = spec->usage ? spec->usage : "", *before = "";

	while (*at) {
		size_t len = verb_length(at);

		/* Forms of one verb stand together. */
		if (len && !is_verb(before, at, len))
			printf("%.*s\n", (int)len, at);
		before = at;
		free(next_form(&at));
	}
}

/* ---- options ---- */

/* False if no form begins with the verb. */
static bool collect(bool *wanted, const struct opt_spec *spec, const char *verb)
{
	const char *at = spec->usage ? spec->usage : "";
	bool known = false;

	while (*at) {
		char *form = next_form(&at);
		bool fits = is_verb(form, verb, strlen(verb));

		known |= fits;
		for (size_t i = 0; fits && spec->options[i].kind != OPT_END; i++)
			wanted[i] |= spec->options[i].name && shows(form, spec->options[i].name);
		free(form);
	}
	return known;
}

void complete_options(const struct opt_spec *spec, const char *verb)
{
	struct opt_spec part = *spec;
	size_t total = 0, nr = 0;
	struct opt *options;
	bool *wanted;

	while (spec->options && spec->options[total].kind != OPT_END)
		total++;
	options = xcalloc(total + 1, sizeof(*options));
	wanted = xcalloc(total + 1, sizeof(*wanted));
	if (verb && spec->options && collect(wanted, spec, verb)) {
		for (size_t i = 0; i < total; i++)
			if (wanted[i])
				options[nr++] = spec->options[i];
		options[nr].kind = OPT_END;
		part.options = options;
	}
	opt_complete(&part);
	free(wanted);
	free(options);
}

/* ---- values ---- */

/* True if a list of `len` bytes has `value`. */
static bool listed(const char *list, size_t len, const char *value)
{
	const char *end = list + len;

	for (const char *p = list; p < end;) {
		size_t size = strcspn(p, ",");

		if (size == strlen(value) && !memcmp(p, value, size))
			return true;
		p += size + 1;
	}
	return false;
}

void complete_values(const struct opt_spec *spec, const char *option, const char *typed)
{
	const struct opt *opt = spec->options;
	const char *const *values, *comma;
	size_t kept = 0;

	option += strspn(option, "-");
	while (opt && opt->kind != OPT_END && (!opt->name || strcmp(opt->name, option)))
		opt++;
	if (!spec->values || !opt || opt->kind == OPT_END)
		return;
	values = spec->values(option);
	comma = strrchr(typed, ',');
	if (opt->argument && !strcmp(opt->argument, "<list>") && comma)
		kept = (size_t)(comma + 1 - typed);
	for (size_t i = 0; values && values[i]; i++)
		if (!listed(typed, kept, values[i]))
			printf("%.*s%s\n", (int)kept, typed, values[i]);
}
