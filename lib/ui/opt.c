/* SPDX-License-Identifier: MIT */
#include "ui/opt.h"

#include "base/base.h"

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

static bool find_exact(struct opt_match *out, const struct opt_rows *rows, const char *name, size_t len)
{
	struct strbuf buf = STRBUF_INIT;
	bool found = false;

	/* A flag that is really called "no-x" has precedence over the negation of "x". */
	for (int negated = 0; negated < 2 && !found; negated++) {
		for (size_t i = 0; i < rows->nr && !found; i++) {
			const char *have = name_of(&buf, &rows->items[i], negated);

			if (!have || strlen(have) != len || memcmp(have, name, len))
				continue;
			*out = (struct opt_match){ &rows->items[i], negated };
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
static size_t find_prefix(struct opt_match *out, struct strlist *names_out, const struct opt_rows *rows,
			  const char *name, size_t len)
{
	struct strbuf buf = STRBUF_INIT;

	for (int negated = 0; negated < 2 && !names_out->nr; negated++) {
		for (size_t i = 0; i < rows->nr; i++) {
			const struct opt *opt = &rows->items[i];
			const char *have = name_of(&buf, opt, negated);

			if (!have || (opt->flags & OPT_HIDDEN) || strncmp(have, name, len))
				continue;
			*out = (struct opt_match){ opt, negated };
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
		if (rows->items[i].name && !(rows->items[i].flags & OPT_HIDDEN))
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

int opt_rows_long(struct opt_match *out, const struct opt_rows *rows, const char *name, size_t len)
{
	struct strlist names = STRLIST_INIT;
	int rc = 0;

	if (find_exact(out, rows, name, len))
		return 0;
	/* "--=x" is a prefix of everything, and means nothing. */
	if (!len || !find_prefix(out, &names, rows, name, len))
		rc = error_unknown(rows, "--", name, len);
	else if (names.nr > 1)
		rc = error_ambiguous(name, len, &names);
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
	struct opt_match match = { 0 };
	int rc = opt_rows_long(&match, rows, name, len);

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

const struct opt *opt_rows_letter(const struct opt_rows *rows, char letter)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (rows->items[i].letter == letter)
			return &rows->items[i];
	return NULL;
}

/* "-3" is "-n 3", as in git. */
static const struct opt *find_counted(const struct opt_rows *rows, const char *digits)
{
	const struct opt *opt = opt_rows_letter(rows, 'n');

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
		const struct opt *opt = opt_rows_letter(rows, *p);
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
		sub = opt_look_sub(spec, argv, (size_t)argc);
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
