/* SPDX-License-Identifier: MIT */
#include "ui/opt.h"

enum { COMMON_NR = 4 };

struct opt_common opt_common;

static bool help_wanted, json_wanted;

static const struct opt common_options[COMMON_NR] = {
	{ OPT_FLAG, 'h', NULL, &help_wanted, NULL, "show this short help", OPT_UNOFFERED },
	{ OPT_FLAG, 0, "help", &help_wanted, NULL, "open the manual" },
	{ OPT_FLAG, 'q', "quiet", &opt_common.quiet, NULL, "print only errors" },
	{ OPT_FLAG, 0, "json", &json_wanted, NULL, "print the result as JSON" },
};

/* ---- the table ---- */

static void add_row(struct opt_rows *rows, struct opt row)
{
	for (size_t k = 0; k < rows->nr; k++) {
		const struct opt *taken = &rows->items[k];

		if (taken->letter == row.letter)
			row.letter = 0;
		if (row.name && taken->name && !strcmp(taken->name, row.name))
			row.name = NULL;
	}
	if (row.letter || row.name)
		rows->items[rows->nr++] = row;
}

static size_t count_rows(const struct opt_spec *spec)
{
	size_t nr = 0;

	while (spec->options && spec->options[nr].kind != OPT_END)
		nr++;
	for (const struct opt_spec *sub = spec->subs; sub && sub->command; sub++)
		nr += count_rows(sub);
	return nr;
}

void opt_rows_init(struct opt_rows *rows, const struct opt_spec *spec)
{
	size_t max = count_rows(spec) + COMMON_NR;
	const struct opt *opt;

	*rows = (struct opt_rows){ .spec = spec };
	rows->items = xcalloc(max, sizeof(*rows->items));
	rows->given = xcalloc(max, sizeof(*rows->given));
	for (opt = spec->options; opt && opt->kind != OPT_END; opt++)
		rows->items[rows->nr++] = *opt;
	for (const struct opt_spec *sub = spec->subs; sub && sub->command; sub++)
		for (opt = sub->options; opt && opt->kind != OPT_END; opt++)
			add_row(rows, *opt);
	rows->own = rows->nr;
	for (size_t i = 0; i < COMMON_NR; i++)
		add_row(rows, common_options[i]);
}

void opt_rows_release(struct opt_rows *rows)
{
	free(rows->items);
	free(rows->given);
}

const char *opt_sub_name(const struct opt_spec *sub)
{
	const char *space = strrchr(sub->command, ' ');

	return space ? space + 1 : sub->command;
}

const struct opt_spec *opt_sub(const struct opt_spec *spec, const char *name)
{
	for (const struct opt_spec *sub = spec->subs; sub && sub->command; sub++)
		if (!strcmp(opt_sub_name(sub), name))
			return sub;
	return NULL;
}

/* ---- parsing ---- */

/* What a word on the command line turned out to mean. */
struct match {
	const struct opt *opt; /* one of the rows */
	bool negated;
};

/* The other name of a flag: "no-pin" of "pin", "delete" of "no-delete"; NULL if it has none. */
static const char *opposite_name(struct strbuf *buf, const struct opt *opt)
{
	if (opt->kind != OPT_FLAG || !opt->name || opt->value == &help_wanted)
		return NULL;
	strbuf_reset(buf);
	if (!strncmp(opt->name, "no-", 3))
		strbuf_addstr(buf, opt->name + 3);
	else
		strbuf_addf(buf, "no-%s", opt->name);
	return buf->buf;
}

static const char *name_of(struct strbuf *buf, const struct opt *opt, bool negated)
{
	return negated ? opposite_name(buf, opt) : opt->name;
}

static bool find_exact(struct match *out, const struct opt_rows *rows, const char *name, size_t len)
{
	struct strbuf buf = STRBUF_INIT;
	bool found = false;

	/* A flag that is really called "no-x" has precedence over the negation of "x". */
	for (int negated = 0; negated < 2 && !found; negated++) {
		for (size_t i = 0; i < rows->nr && !found; i++) {
			const char *have = name_of(&buf, &rows->items[i], negated);

			if (!have || strlen(have) != len || memcmp(have, name, len))
				continue;
			*out = (struct match){ &rows->items[i], negated };
			found = true;
		}
	}
	strbuf_release(&buf);
	return found;
}

/*
 * Options that begin with `name`. Negations count only if nothing else
 * matches, or hardly any prefix that begins with "n" would be unique.
 */
static size_t find_prefix(struct match *out, struct strlist *names_out, const struct opt_rows *rows,
			  const char *name, size_t len)
{
	struct strbuf buf = STRBUF_INIT;

	for (int negated = 0; negated < 2 && !names_out->nr; negated++) {
		for (size_t i = 0; i < rows->nr; i++) {
			const struct opt *opt = &rows->items[i];
			const char *have = name_of(&buf, opt, negated);

			if (!have || strncmp(have, name, len))
				continue;
			*out = (struct match){ opt, negated };
			strlist_add(names_out, have);
		}
	}
	strbuf_release(&buf);
	return names_out->nr;
}

static int error_ambiguous(const char *name, size_t len, const struct strlist *names)
{
	struct strbuf list = STRBUF_INIT;
	int rc;

	for (size_t i = 0; i < names->nr; i++)
		strbuf_addf(&list, "%s--%s", !i ? "" : i + 1 < names->nr ? ", " : " or ",
			    names->items[i]);
	rc = ckpt_error_set(CKPT_EUSAGE, "option '--%.*s' is ambiguous (%s)", (int)len, name,
			    list.buf);
	strbuf_release(&list);
	return rc;
}

const char *opt_instead(const struct opt_instead *list, const char *word)
{
	for (; list && list->word; list++)
		if (!strcmp(list->word, word))
			return list->text;
	return NULL;
}

static bool is_foreign(const struct opt_spec *spec, const char *name, size_t len)
{
	char *word = xstrfmt("--%.*s", (int)len, name);
	bool found = opt_instead(spec->instead, word) != NULL;

	free(word);
	return found;
}

static bool is_drastic(const char *word)
{
	static const char *const drastic[] = {
		"abort", "drop",  "fix",     "force",	 "gc",	 "move-name", "no-verify", "prune",
		"redo",	 "reset", "restore", "rollback", "undo", "uninstall", "unpin",	   "yes",
	};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(drastic); i++)
		found = found || !strcmp(word, drastic[i]);
	return found;
}

const char *opt_suggestion(const char *word, const char *const *words, size_t nr)
{
	const char *found = nearest_word(word, words, nr);

	/* The second best would be a guess. */
	return found && !is_drastic(found) ? found : NULL;
}

/* NULL if none is near. */
static const char *nearest_name(const struct opt_rows *rows, const char *name, size_t len)
{
	const char **names = xcalloc(rows->nr + 1, sizeof(const char *)), *found;
	char *typed = xmemdupz(name, len);
	size_t nr = 0;

	for (size_t i = 0; i < rows->nr; i++)
		if (rows->items[i].name)
			names[nr++] = rows->items[i].name;
	found = len > 1 ? opt_suggestion(typed, names, nr) : NULL;
	free(typed);
	free(names);
	return found;
}

static int error_unknown(const struct opt_rows *rows, const char *dashes, const char *name, size_t len)
{
	const char *nearest = nearest_name(rows, name, len);
	char *word = xstrfmt("%s%.*s", dashes, (int)len, name);
	const char *text = opt_instead(rows->spec->instead, word);

	free(word);
	if (text)
		return ckpt_error_set(CKPT_EUSAGE, "unknown option '%s%.*s'; %s", dashes, (int)len,
				      name, text);
	if (nearest)
		return ckpt_error_set(CKPT_EUSAGE, "unknown option '%s%.*s'; did you mean '--%s'?", dashes,
				      (int)len, name, nearest);
	return ckpt_error_set(CKPT_EUSAGE, "unknown option '%s%.*s'; see 'git checkpoint %s -h'",
			      dashes, (int)len, name, rows->spec->command);
}

/* By a name of `len` bytes or a unique prefix of it; CKPT_EUSAGE. */
static int find_name(struct match *out, const struct opt_rows *rows, const char *name, size_t len)
{
	struct strlist names = STRLIST_INIT;
	int rc = 0;

	if (find_exact(out, rows, name, len))
		return 0;
	/*
	 * "--=x" is a prefix of everything, and means nothing. What means something else to
	 * users of another program abbreviates nothing: 'save --all' is not 'save --allow-empty'.
	 */
	if (!len || is_foreign(rows->spec, name, len) || !find_prefix(out, &names, rows, name, len))
		rc = error_unknown(rows, "--", name, len);
	else if (names.nr > 1)
		rc = error_ambiguous(name, len, &names);
	else if (is_drastic(names.items[0]))
		rc = ckpt_error_set(CKPT_EUSAGE, "option '--%s' must be spelled out, not '--%.*s'",
				    names.items[0], (int)len, name);
	strlist_release(&names);
	return rc;
}

/* `shown` is the option as shown to the user: "--step" or "-n". */
static int set_value(const struct opt *opt, const char *shown, const char *text)
{
	bool positive = opt->flags & OPT_POSITIVE;
	int64_t seconds;
	uint64_t number;

	switch (opt->kind) {
	case OPT_STRING:
	case OPT_OPTIONAL:
		*(const char **)opt->value = text;
		return 0;
	case OPT_LIST:
		strlist_add(opt->value, text);
		return 0;
	case OPT_NUMBER:
		if (!units_parse_number(&number, text) || (positive && !number))
			return ckpt_error_set(CKPT_EUSAGE,
					      "option '%s' takes a whole number%s, not '%s'", shown,
					      positive ? " of at least 1" : "", text);
		*(int64_t *)opt->value = (int64_t)number;
		return 0;
	case OPT_DURATION:
		if (!clock_parse_duration(&seconds, text))
			return ckpt_error_set(
				CKPT_EUSAGE,
				"option '%s' takes a duration such as 90s, 15m, 2h, 7d or 4w, "
				"not '%s'",
				shown, text);
		*(int64_t *)opt->value = seconds;
		return 0;
	case OPT_SIZE:
		if (!units_parse_size(&number, text) || (positive && !number))
			return ckpt_error_set(CKPT_EUSAGE,
					      "option '%s' takes a size such as 512k, 100m or 2g, "
					      "not '%s'",
					      shown, text);
		*(int64_t *)opt->value = (int64_t)number;
		return 0;
	case OPT_FLAG:
	case OPT_END:
		break;
	}
	return ckpt_error_set(CKPT_EUSAGE, "option '%s' takes no value", shown);
}

bool opt_takes_word(const struct opt *opt)
{
	return opt->kind != OPT_FLAG && opt->kind != OPT_OPTIONAL;
}

/* The position of the parser. */
struct cursor {
	int argc, at;
	char **argv;
};

static int take_value(const struct opt *opt, const char *shown, const char *attached,
		      struct cursor *cursor)
{
	if (!attached && !opt_takes_word(opt))
		return set_value(opt, shown, "");
	if (!attached && cursor->at + 1 >= cursor->argc)
		return ckpt_error_set(CKPT_EUSAGE, "option '%s' needs a value", shown);
	return set_value(opt, shown, attached ? attached : cursor->argv[++cursor->at]);
}

static int parse_long(const struct opt_rows *rows, struct cursor *cursor)
{
	const char *name = cursor->argv[cursor->at] + 2;
	size_t len = strcspn(name, "=");
	const char *attached = name[len] ? name + len + 1 : NULL;
	struct strbuf shown = STRBUF_INIT, buf = STRBUF_INIT;
	struct match match = { 0 };
	int rc = find_name(&match, rows, name, len);

	if (rc)
		return rc;
	rows->given[match.opt - rows->items] = !match.negated;
	strbuf_addf(&shown, "--%s", name_of(&buf, match.opt, match.negated));
	if (match.opt->kind != OPT_FLAG)
		rc = take_value(match.opt, shown.buf, attached, cursor);
	else if (attached)
		rc = ckpt_error_set(CKPT_EUSAGE, "option '%s' takes no value", shown.buf);
	else
		*(bool *)match.opt->value = !match.negated;
	strbuf_release(&buf);
	strbuf_release(&shown);
	return rc;
}

/* NULL if there is none. */
static const struct opt *find_letter(const struct opt_rows *rows, char letter)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (rows->items[i].letter == letter)
			return &rows->items[i];
	return NULL;
}

/* "-3" is "-n 3", as in git. */
static const struct opt *find_counted(const struct opt_rows *rows, const char *digits)
{
	const struct opt *opt = find_letter(rows, 'n');

	return opt && opt->kind == OPT_NUMBER && !digits[strspn(digits, "0123456789")] ? opt : NULL;
}

static int parse_short(const struct opt_rows *rows, struct cursor *cursor)
{
	const char *p = cursor->argv[cursor->at] + 1;
	const struct opt *count = find_counted(rows, p);

	if (count) {
		rows->given[count - rows->items] = true;
		return set_value(count, "-n", p);
	}
	for (; *p; p++) {
		const struct opt *opt = find_letter(rows, *p);
		char shown[3] = { '-', *p, '\0' };

		if (!opt) {
			size_t len = utf8_sequence(p, strlen(p));

			return error_unknown(rows, "-", p, len ? len : 1);
		}
		rows->given[opt - rows->items] = true;
		if (opt->kind != OPT_FLAG)
			return take_value(opt, shown, p[1] ? p + 1 : NULL, cursor);
		*(bool *)opt->value = true;
	}
	return 0;
}

static void take_rest(struct cursor *cursor, struct strlist *args_out)
{
	for (; cursor->at < cursor->argc; cursor->at++)
		strlist_add(args_out, cursor->argv[cursor->at]);
}

static int parse_words(const struct opt_rows *rows, bool first_ends, struct cursor *cursor,
		       struct strlist *args_out)
{
	int rc;

	for (; cursor->at < cursor->argc && !help_wanted; cursor->at++) {
		const char *word = cursor->argv[cursor->at];

		if (word[0] != '-' || !word[1]) {
			if (first_ends) {
				take_rest(cursor, args_out);
				break;
			}
			strlist_add(args_out, word);
			continue;
		}
		if (!strcmp(word, "--")) {
			opt_common.dashdash = (int)args_out->nr;
			cursor->at++;
			take_rest(cursor, args_out);
			break;
		}
		rc = word[1] == '-' ? parse_long(rows, cursor) : parse_short(rows, cursor);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- unfinished command lines ---- */

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
	struct match match;

	if (find_name(&match, rows, word + 2, len))
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
		const struct opt *opt = find_letter(rows, word[i]);

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

/* The subcommand that a whole line names, or NULL. */
static const struct opt_spec *find_sub(const struct opt_spec *spec, char *const *words, size_t nr)
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
	const struct opt_spec *sub = spec->subs ? find_sub(spec, words, nr - 1) : NULL;

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

/* ---- whole ones ---- */

void opt_scan_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--json"))
			opt_common.json = true;
}

/*
 * The same for a line with an error at the cursor whose arguments are another
 * command's options: ours end where they would without the error.
 */
static void skim_json(const struct opt_rows *rows, struct cursor *cursor)
{
	struct strlist rest = STRLIST_INIT;
	char *kept = ckpt_error_keep();

	do
		cursor->at++;
	while (parse_words(rows, true, cursor, &rest));
	ckpt_error_put_back(CKPT_EUSAGE, kept);
	strlist_release(&rest);
}

int opt_parse(const struct opt_spec *spec, int argc, char **argv, struct strlist *args)
{
	const struct opt_spec *sub = NULL;
	struct cursor cursor = { argc, 1, argv };
	struct opt_rows rows;
	int rc;

	help_wanted = false;
	json_wanted = opt_common.json;
	opt_common.dashdash = -1;
	/* Memory may run out before the words are read. */
	opt_scan_json(argc, argv);
	if (spec->subs)
		sub = find_sub(spec, argv, (size_t)argc);
	opt_rows_init(&rows, sub ? sub : spec);
	rc = parse_words(&rows, spec->first_ends, &cursor, args);
	/* The caller reports the failure in JSON, wherever on the line that was asked for. */
	if (rc && spec->first_ends)
		skim_json(&rows, &cursor);
	if (!rc || spec->first_ends)
		opt_common.json = json_wanted;
	if (!rc && !help_wanted)
		rc = opt_check(&rows, args, sub != NULL);
	opt_rows_release(&rows);
	if (rc || !help_wanted)
		return rc;
	opt_usage(sub ? sub : spec, STDOUT_FILENO);
	return 1;
}
