/* SPDX-License-Identifier: MIT */
#include "ui/opt.h"

#include "base/base.h"

static void note_given(struct opt_look *out, const struct opt *opt)
{
	char letter[2] = { opt->letter, '\0' };

	strlist_add(&out->given, opt->name ? opt->name : letter);
}

/*
 * The option in `word` that takes a value, or NULL; `at_out`: where the value starts, 0: in the
 * next word.
 */
static const struct opt *find_long(struct opt_look *out, const struct opt_rows *rows,
				   const char *word, size_t *at_out)
{
	size_t len = strcspn(word + 2, "=");
	struct opt_match match;

	if (opt_rows_long(&match, rows, word + 2, len))
		return NULL;
	note_given(out, match.opt);
	*at_out = word[2 + len] ? 2 + len + 1 : 0;
	return opt_takes_word(match.opt) || (*at_out && match.opt->kind != OPT_FLAG) ? match.opt
										     : NULL;
}

static const struct opt *find_short(struct opt_look *out, const struct opt_rows *rows,
				    const char *word, size_t *at_out)
{
	for (size_t i = 1; word[i]; i++) {
		const struct opt *opt = opt_rows_letter(rows, word[i]);

		if (!opt)
			return NULL;
		note_given(out, opt);
		if (opt->kind != OPT_FLAG) {
			*at_out = word[i + 1] ? i + 1 : 0;
			return *at_out || opt_takes_word(opt) ? opt : NULL;
		}
	}
	return NULL;
}

/* The word at the cursor, which may be an option. */
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
		out->value_of = *opt;
		out->value_at = at;
	}
}

/* All but the last word, and that too unless it is NULL. */
static void read_words(struct opt_look *out, const struct opt_spec *spec, char *const *words, size_t nr,
		 const char *last)
{
	const struct opt *pending = NULL;
	struct opt_rows rows;

	*out = (struct opt_look){ .spec = spec, .dashdash = -1, .first = nr };
	opt_rows_init(&rows, spec);
	for (size_t i = 1; i < nr; i++) {
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
		out->value_of = *pending;
	else if (!out->ended && last)
		look_at_last(out, &rows, last);
	opt_rows_release(&rows);
}

const struct opt_spec *opt_look_sub(const struct opt_spec *spec, char *const *words, size_t nr)
{
	const struct opt_spec *sub;
	struct opt_look at;

	read_words(&at, spec, words, nr, NULL);
	sub = at.args.nr ? opt_sub(spec, at.args.items[0]) : NULL;
	opt_look_release(&at);
	return sub;
}

void opt_look(struct opt_look *out, const struct opt_spec *spec, char *const *words, size_t nr)
{
	const struct opt_spec *sub = spec->subs ? opt_look_sub(spec, words, nr - 1) : NULL;

	read_words(out, sub ? sub : spec, words, nr - 1, words[nr - 1]);
	if (!sub || !out->args.nr)
		return;
	strlist_drop_first(&out->args);
	out->dashdash -= out->dashdash > 0;
}

void opt_look_release(struct opt_look *look)
{
	strlist_release(&look->args);
	strlist_release(&look->given);
	memset(look, 0, sizeof(*look));
}

/* ---- what can follow ---- */

/* Of the form that an option asks for, or of the command. */
static const struct opt_arg *find_arguments(const struct opt_look *look)
{
	const struct opt *opt = look->spec->options;

	for (; opt && opt->kind != OPT_END; opt++)
		if (opt->flags & OPT_FORM && strlist_has(&look->given, opt->name))
			return opt->args;
	return look->spec->args;
}

/*
 * True if the one at `at` can be at the cursor: those before it may be given, those after it need
 * not be.
 */
static bool can_follow(const struct opt_look *look, const struct opt_arg *args, size_t at)
{
	size_t before = 0, up_to = (size_t)args[at].max;

	for (size_t i = 0; i < at; i++) {
		before += (size_t)args[i].min;
		up_to += (size_t)args[i].max;
	}
	return before <= look->args.nr && look->args.nr < up_to;
}

/* After "--" only what belongs there, if anything can follow. */
static bool dashes_lead_on(const struct opt_look *look, const struct opt_arg *args)
{
	for (size_t i = 0; look->dashdash >= 0 && args[i].max; i++)
		if (args[i].dashes && can_follow(look, args, i))
			return true;
	return false;
}

const struct opt_arg *opt_look_next(const struct opt_look *look, const struct opt_arg *last)
{
	const struct opt_arg *args = find_arguments(look);

	for (size_t i = last ? (size_t)(last - args) + 1 : 0; args && args[i].max; i++)
		if (can_follow(look, args, i) && (args[i].dashes || !dashes_lead_on(look, args)))
			return &args[i];
	return NULL;
}
