/* SPDX-License-Identifier: MIT */
#include "ui/opt.h"

#include "ui/opt_rows.h"

#include <stdlib.h>
#include <string.h>

/* The row in the command's own table: those of `rows` do not last. */
static const struct opt *lasting(const struct opt_spec *spec, const struct opt_rows *rows,
				 const struct opt *opt)
{
	/* Options of all commands have no values, so nobody asks for one of them. */
	return spec->options + (opt - rows->items);
}

static void note(struct opt_look *out, const struct opt *opt)
{
	char letter[2] = { opt->letter, '\0' };

	strlist_add(&out->given, opt->name ? opt->name : letter);
}

/* The option in `word` that takes a value, or NULL; `at_out`: where that begins, 0: in the next word. */
static const struct opt *find_long(struct opt_look *out, const struct opt_rows *rows,
				   const char *word, size_t *at_out)
{
	size_t len = strcspn(word + 2, "=");
	struct opt_match match;

	if (opt_rows_long(&match, rows, word + 2, len))
		return NULL;
	note(out, match.opt);
	*at_out = word[2 + len] ? 2 + len + 1 : 0;
	return match.opt->kind == OPT_FLAG ? NULL : match.opt;
}

static const struct opt *find_short(struct opt_look *out, const struct opt_rows *rows,
				    const char *word, size_t *at_out)
{
	for (size_t i = 1; word[i]; i++) {
		const struct opt *opt = opt_rows_letter(rows, word[i]);

		if (!opt)
			return NULL;
		note(out, opt);
		if (opt->kind != OPT_FLAG) {
			*at_out = word[i + 1] ? i + 1 : 0;
			return opt;
		}
	}
	return NULL;
}

/* The word at the cursor, where an option can stand. */
static void look_at_last(struct opt_look *out, const struct opt_rows *rows, const char *word)
{
	struct opt_look unused = { 0 };
	const struct opt *opt = NULL;
	size_t at = 0;

	if (word[0] == '-' && word[1])
		opt = word[1] == '-' ? find_long(&unused, rows, word, &at) :
				       find_short(&unused, rows, word, &at);
	strlist_release(&unused.given);
	/* With the value in the next word, this one is still an option. */
	if (opt && at) {
		out->value_of = opt;
		out->value_at = at;
	}
}

void opt_look(struct opt_look *out, const struct opt_spec *spec, char *const *words, size_t nr)
{
	const struct opt *pending = NULL;
	struct opt_rows rows;

	memset(out, 0, sizeof(*out));
	out->dashdash = -1;
	opt_rows_init(&rows, spec);
	for (size_t i = 1; i + 1 < nr; i++) {
		const char *word = words[i];
		size_t at = 0;

		if (pending) {
			pending = NULL;
		} else if (!out->ended && !strcmp(word, "--")) {
			out->dashdash = (int)out->args.nr;
			out->ended = true;
		} else if (!out->ended && word[0] == '-' && word[1]) {
			pending = word[1] == '-' ? find_long(out, &rows, word, &at) :
						   find_short(out, &rows, word, &at);
			if (at)
				pending = NULL;
		} else {
			if (!out->args.nr)
				out->first = i;
			strlist_add(&out->args, word);
			out->ended |= spec->first_ends;
		}
	}
	if (pending)
		out->value_of = pending;
	else if (!out->ended)
		look_at_last(out, &rows, words[nr - 1]);
	if (out->value_of)
		out->value_of = lasting(spec, &rows, out->value_of);
	if (!out->args.nr)
		out->first = nr - 1;
	free(rows.items);
}

void opt_look_release(struct opt_look *look)
{
	strlist_release(&look->args);
	strlist_release(&look->given);
	memset(look, 0, sizeof(*look));
}
