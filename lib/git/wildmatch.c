/* SPDX-License-Identifier: MIT */
/*
 * No recursion: a mismatch goes back to the last "*" of this path component,
 * and when that cannot grow any more, to the last "**". Going back further can
 * never help: whatever an earlier star could leave over, the later one could
 * have matched, too. So a hostile pattern costs polynomial time.
 */
#include "git/wildmatch_internal.h"

/* git's character classes: ASCII whatever the locale, and no \v or \f in "space". */
static bool is_upper(unsigned char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(unsigned char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alpha(unsigned char c)
{
	return is_upper(c) || is_lower(c);
}

static bool is_alnum(unsigned char c)
{
	return is_alpha(c) || is_digit(c);
}

static bool is_blank(unsigned char c)
{
	return c == ' ' || c == '\t';
}

static bool is_space(unsigned char c)
{
	return is_blank(c) || c == '\n' || c == '\r';
}

static bool is_cntrl(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

static bool is_graph(unsigned char c)
{
	return c > 0x20 && c < 0x7f;
}

static bool is_print(unsigned char c)
{
	return c == ' ' || is_graph(c);
}

static bool is_punct(unsigned char c)
{
	return is_graph(c) && !is_alnum(c);
}

static bool is_xdigit(unsigned char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static unsigned char fold_case(unsigned char c, unsigned flags)
{
	return (flags & WILD_CASEFOLD) && is_upper(c) ? (unsigned char)(c + ('a' - 'A')) : c;
}

static const struct {
	const char *name;
	bool (*has)(unsigned char c);
} classes[] = {
	{ "alnum", is_alnum }, { "alpha", is_alpha }, { "blank", is_blank },   { "cntrl", is_cntrl },
	{ "digit", is_digit }, { "graph", is_graph }, { "lower", is_lower },   { "print", is_print },
	{ "punct", is_punct }, { "space", is_space }, { "upper", is_upper },   { "xdigit", is_xdigit },
};

/* Is `c` in the class? -1 if the class is unknown. */
static int in_class(const char *name, size_t len, unsigned char c, unsigned flags)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strlen(classes[i].name) != len || memcmp(classes[i].name, name, len))
			continue;
		/* The text was folded to lower case, so "upper" then means any letter. */
		if (classes[i].has == is_upper && (flags & WILD_CASEFOLD))
			return is_alpha(c);
		return classes[i].has(c);
	}
	return -1;
}

static bool in_range(unsigned char low, unsigned char high, unsigned char c, unsigned flags)
{
	if (c >= low && c <= high)
		return true;
	if (!(flags & WILD_CASEFOLD) || !is_lower(c))
		return false;
	c = (unsigned char)(c - ('a' - 'A'));
	return c >= low && c <= high;
}

/*
 * `p` points after the "[", `c` is already folded. Returns the position after
 * the "]" if the bracket matches `c`, otherwise NULL; also if it never ends or
 * names an unknown class, because such a pattern matches nothing. As in git,
 * single letters in a bracket are not folded: "[A]" never matches with
 * WILD_CASEFOLD.
 */
static const char *match_bracket(const char *p, unsigned char c, unsigned flags)
{
	bool negated = *p == '!' || *p == '^';
	bool found = false;
	unsigned char low = 0; /* where a range would start if "-" came next */

	if (negated)
		p++;
	/* A "]" that comes first is an ordinary character. */
	for (bool first = true; first || *p != ']'; first = false) {
		const char *end = NULL;

		if (!*p)
			return NULL;
		if (*p == '-' && low && p[1] && p[1] != ']') {
			p += p[1] == '\\' ? 2 : 1;
			if (!*p)
				return NULL;
			found |= in_range(low, (unsigned char)*p++, c, flags);
			low = 0;
			continue;
		}
		if (*p == '[' && p[1] == ':') {
			end = strchr(p + 2, ']');
			if (!end)
				return NULL;
		}
		if (end && end > p + 2 && end[-1] == ':') {
			int is = in_class(p + 2, (size_t)(end - p) - 3, c, flags);

			if (is < 0)
				return NULL;
			found |= is;
			low = 0;
			p = end + 1;
			continue;
		}
		if (*p == '\\' && !*++p)
			return NULL;
		low = (unsigned char)*p++;
		found |= low == c;
	}
	return found != negated ? p + 1 : NULL;
}

/* The position after the first element of the pattern if it matches `c`, otherwise NULL. */
static const char *match_element(const char *p, unsigned char c, unsigned flags)
{
	unsigned char folded = fold_case(c, flags);

	switch (*p) {
	case '\0':
		return NULL;
	case '?':
		return (flags & WILD_PATHNAME) && c == '/' ? NULL : p + 1;
	case '[':
		return (flags & WILD_PATHNAME) && c == '/' ? NULL
							   : match_bracket(p + 1, folded, flags);
	case '\\':
		/* Not folded in git either: "\A" never matches with WILD_CASEFOLD. */
		return (unsigned char)p[1] == folded ? p + 2 : NULL;
	default:
		return fold_case((unsigned char)*p, flags) == folded ? p + 1 : NULL;
	}
}

/* Whether the run of stars from `p` to `end` matches whole directories. */
static bool is_deep(const char *pattern, const char *p, const char *end)
{
	return end - p > 1 && (p == pattern || p[-1] == '/') &&
	       (!*end || *end == '/' || (end[0] == '\\' && end[1] == '/'));
}

bool wildmatch(const char *pattern, const char *text, unsigned flags)
{
	const char *p = pattern, *t = text;
	const char *star_p = NULL, *star_t = NULL; /* after the last "*", and what it leaves over */
	const char *deep_p = NULL, *deep_t = NULL; /* the same for the last "**" and its slash */

	for (;;) {
		const char *next = NULL;

		if (*p == '*') {
			const char *end = p + strspn(p, "*");

			if (!(flags & WILD_PATHNAME) || !is_deep(pattern, p, end)) {
				p = star_p = end;
				star_t = t;
				continue;
			}
			if (!*end)
				return true;
			star_p = NULL;
			deep_t = t;
			if (*end == '/') {
				p = deep_p = end + 1;
				continue;
			}
			/* An escaped slash must be there: no directory at all is not enough. */
			deep_p = end + 2;
		} else if (!*t) {
			return !*p;
		} else {
			next = match_element(p, (unsigned char)*t, flags);
		}

		if (next) {
			p = next;
			t++;
		} else if (star_p && !((flags & WILD_PATHNAME) && *star_t == '/')) {
			p = star_p;
			t = ++star_t;
		} else if (deep_p) {
			deep_t = strchr(deep_t, '/');
			if (!deep_t)
				return false;
			p = deep_p;
			t = ++deep_t;
			star_p = NULL;
		} else {
			return false;
		}
	}
}
