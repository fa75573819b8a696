/* SPDX-License-Identifier: MIT */
#include "base/patterns.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <locale.h>
#include <regex.h>

struct pattern {
	char *text; /* NULL: an expression */
	size_t len;
	regex_t regex;
};

struct patterns {
	struct pattern *items;
	size_t nr, alloc;
	bool word, ignore_case;
	locale_t locale; /* of the user: what a letter is. Nothing else is said in a language. */
};

/* Whatever the locale says. */
static unsigned char to_lower(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 'A' && u <= 'Z' ? (unsigned char)(u + ('a' - 'A')) : u;
}

static bool is_word(char c)
{
	return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* --- compiling --- */

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text > 0x7f)
			return false;
	return true;
}

/* "a.b" as a regular expression that matches only that. */
static void quote_text(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("^$.[]*\\", *text))
			strbuf_addch(out, '\\');
		strbuf_addch(out, *text);
	}
}

static int add_pattern(struct patterns *patterns, const char *text, const struct pattern_opts *opts)
{
	bool fixed = opts->fixed || !text[strcspn(text, "$(*+.?[\\^{|)]}")];
	int flags = REG_NEWLINE | (opts->ignore_case ? REG_ICASE : 0), rc;
	struct strbuf expression = STRBUF_INIT;
	struct pattern *pattern;
	locale_t before;
	char why[256];

	ALLOC_GROW(patterns->items, patterns->nr + 1, patterns->alloc);
	pattern = &patterns->items[patterns->nr];
	memset(pattern, 0, sizeof(*pattern));
	/* Which letters are the same but for their case, beyond ASCII, the library knows. */
	if (fixed && (!opts->ignore_case || is_ascii(text))) {
		pattern->text = xstrdup(text);
		pattern->len = strlen(text);
		patterns->nr++;
		return 0;
	}
	if (fixed)
		quote_text(&expression, text);
	else
		strbuf_addstr(&expression, text);
	if (!patterns->locale)
		patterns->locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	before = uselocale(patterns->locale);
	rc = regcomp(&pattern->regex, expression.buf,
		     flags | (opts->extended && !fixed ? REG_EXTENDED : 0));
	uselocale(before);
	strbuf_release(&expression);
	if (!rc) {
		patterns->nr++;
		return 0;
	}
	regerror(rc, &pattern->regex, why, sizeof(why));
	return ckpt_error_set(CKPT_EUSAGE, "the pattern '%s' is not valid: %s", text, why);
}

int patterns_new(struct patterns **out, const struct strlist *texts,
		 const struct pattern_opts *opts)
{
	struct patterns *patterns = xcalloc(1, sizeof(*patterns));
	int err = 0;

	patterns->word = opts->word;
	patterns->ignore_case = opts->ignore_case;
	for (size_t i = 0; i < texts->nr && !err; i++) {
		const char *p = texts->items[i], *end;

		do {
			char *line;

			end = p + strcspn(p, "\n");
			line = xmemdupz(p, (size_t)(end - p));
			err = add_pattern(patterns, line, opts);
			free(line);
			p = end + 1;
		} while (*end && !err);
	}
	if (err)
		patterns_free(patterns);
	else
		*out = patterns;
	return err;
}

void patterns_free(struct patterns *patterns)
{
	if (!patterns)
		return;
	for (size_t i = 0; i < patterns->nr; i++) {
		if (!patterns->items[i].text)
			regfree(&patterns->items[i].regex);
		free(patterns->items[i].text);
	}
	if (patterns->locale)
		freelocale(patterns->locale);
	free(patterns->items);
	free(patterns);
}

/* --- matching --- */

static const char *find_text(const struct pattern *pattern, bool ignore_case, const char *text,
			     size_t len)
{
	const char *last;

	if (pattern->len > len)
		return NULL;
	if (!ignore_case)
		return memmem(text, len, pattern->text, pattern->len);
	for (last = text + len - pattern->len; text <= last; text++) {
		size_t i = 0;

		while (i < pattern->len && to_lower(text[i]) == to_lower(pattern->text[i]))
			i++;
		if (i == pattern->len)
			return text;
	}
	return NULL;
}

/* 1, 0, or an error; `begins`: the text is preceded by a newline, or by nothing. */
static int find_pattern(regmatch_t *out, struct patterns *patterns, const struct pattern *pattern,
			const char *text, size_t len, bool begins)
{
	const char *found;
	locale_t before;
	int rc;

	/* Numbers of the library are no larger. */
	if (len > INT_MAX)
		return ckpt_error_set(CKPT_ERROR, "unable to search: a line is longer than 2 GiB");
	if (pattern->text) {
		found = find_text(pattern, patterns->ignore_case, text, len);
		if (!found)
			return 0;
		out->rm_so = (regoff_t)(found - text);
		out->rm_eo = out->rm_so + (regoff_t)pattern->len;
		return 1;
	}
	out->rm_so = 0;
	out->rm_eo = (regoff_t)len;
	before = uselocale(patterns->locale);
	rc = regexec(&pattern->regex, text, 1, out, REG_STARTEND | (begins ? 0 : REG_NOTBOL));
	uselocale(before);
	if (rc && rc != REG_NOMATCH)
		return ckpt_error_set(CKPT_ERROR, "unable to search: out of memory");
	return !rc;
}

/* The same within one line, where it must perhaps be a word. As git does it. */
static int find_in_line(regmatch_t *out, struct patterns *patterns, const struct pattern *pattern,
			const char *line, size_t len, size_t from)
{
	while (from < len || !from) {
		int found = find_pattern(out, patterns, pattern, line + from, len - from, !from);
		size_t start, end;

		if (found <= 0)
			return found;
		start = from + (size_t)out->rm_so;
		end = from + (size_t)out->rm_eo;
		out->rm_so = (regoff_t)start;
		out->rm_eo = (regoff_t)end;
		if (!patterns->word)
			return 1;
		if (start < end && (!start || !is_word(line[start - 1])) &&
		    (end == len || !is_word(line[end])))
			return 1;
		/* There may be others: go on after the next character that is not of a word. */
		for (from = start + 1; from < len && is_word(line[from - 1]); from++)
			;
		if (from >= len)
			return 0;
	}
	return 0;
}

/* Skip lines in which nothing matches: find the beginning of the first other one. */
static int look_ahead(size_t *at, struct patterns *patterns, const char *text, size_t len)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < patterns->nr; i++) {
		regmatch_t match;
		int found = find_pattern(&match, patterns, &patterns->items[i], text + *at,
					 len - *at, true);

		if (found < 0)
			return found;
		if (found && (size_t)match.rm_so < first)
			first = (size_t)match.rm_so;
	}
	if (first == SIZE_MAX)
		return 0;
	for (first += *at; first > *at && text[first - 1] != '\n'; first--)
		;
	*at = first;
	return 1;
}

int patterns_next_line(size_t *at, size_t *end_out, struct patterns *patterns, const char *text,
		       size_t len)
{
	while (*at < len) {
		int found = look_ahead(at, patterns, text, len);
		const char *newline;
		regmatch_t match;

		if (found <= 0 || *at >= len)
			return found < 0 ? found : 0;
		newline = memchr(text + *at, '\n', len - *at);
		*end_out = newline ? (size_t)(newline - text) : len;
		found = 0;
		for (size_t i = 0; i < patterns->nr && !found; i++)
			found = find_in_line(&match, patterns, &patterns->items[i], text + *at,
					     *end_out - *at, 0);
		if (found)
			return found;
		*at = *end_out + 1;
	}
	return 0;
}

bool patterns_in_line(size_t *from, size_t *to_out, struct patterns *patterns, const char *line,
		      size_t len)
{
	regmatch_t best = { -1, -1 };

	for (size_t i = 0; i < patterns->nr; i++) {
		regmatch_t match;

		if (find_in_line(&match, patterns, &patterns->items[i], line, len, *from) > 0 &&
		    (best.rm_so < 0 || match.rm_so < best.rm_so ||
		     (match.rm_so == best.rm_so && match.rm_eo > best.rm_eo)))
			best = match;
	}
	if (best.rm_so < 0)
		return false;
	*from = (size_t)best.rm_so;
	*to_out = (size_t)best.rm_eo;
	return true;
}
