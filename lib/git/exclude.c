/* SPDX-License-Identifier: MIT */
#include "git/exclude.h"

#include "git/wildmatch_internal.h"

enum pattern_flags {
	PATTERN_NEGATIVE = 1 << 0,
	PATTERN_DIR_ONLY = 1 << 1,
	PATTERN_BASENAME = 1 << 2, /* no slash in it: it applies to the last component */
	PATTERN_SUFFIX = 1 << 3,   /* "*" and then no more wildcards */
};

struct pattern {
	const char *text; /* without leading "!" and slashes at the ends */
	size_t len;
	size_t literal; /* the first bytes, up to here, have no wildcard */
	unsigned flags;
};

struct exclude_list {
	char *buf; /* the patterns point into it */
	char *base;
	size_t base_len;
	struct pattern *patterns;
	size_t nr, alloc;
	int tag;
	bool ignore_case;
};

/* The path in question, measured once for all patterns. */
struct subject {
	const char *path;
	size_t len;
	const char *basename;
	size_t basename_len;
	bool is_dir;
};

/* Cut blanks off the end, but none that a backslash protects. Tabs stay, as in git. */
static void trim_blanks(char *line)
{
	char *cut = NULL;

	for (char *p = line; *p; p++) {
		if (*p == ' ') {
			if (!cut)
				cut = p;
			continue;
		}
		if (*p == '\\' && !*++p)
			return;
		cut = NULL;
	}
	if (cut)
		*cut = '\0';
}

static void add_pattern(struct exclude_list *list, char *line)
{
	struct pattern pat = { 0 };

	if (*line == '!') {
		pat.flags |= PATTERN_NEGATIVE;
		line++;
	}
	pat.len = strlen(line);
	if (pat.len && line[pat.len - 1] == '/') {
		line[--pat.len] = '\0';
		pat.flags |= PATTERN_DIR_ONLY;
	}
	/* No file has an empty name. */
	if (!pat.len)
		return;
	if (!memchr(line, '/', pat.len))
		pat.flags |= PATTERN_BASENAME;
	if (*line == '/') {
		line++;
		pat.len--;
	}
	pat.text = line;
	pat.literal = strcspn(line, "*?[\\");
	if (*line == '*' && !line[1 + strcspn(line + 1, "*?[\\")])
		pat.flags |= PATTERN_SUFFIX;
	*ALLOC_NEXT(list->patterns, list->nr, list->alloc) = pat;
}

struct exclude_list *exclude_list_new(const char *text, size_t len, const char *base, int tag,
				      bool ignore_case)
{
	struct exclude_list *list = xcalloc(1, sizeof(*list));
	char *line, *newline, *end;

	list->base = xstrdup(base);
	list->base_len = strlen(base);
	list->tag = tag;
	list->ignore_case = ignore_case;
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	list->buf = xmemdupz(text, len);
	end = list->buf + len;
	for (line = list->buf; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline)
			newline = end;
		if (newline == line || *line == '#')
			continue;
		*newline = '\0';
		if (newline[-1] == '\r')
			newline[-1] = '\0';
		trim_blanks(line);
		add_pattern(list, line);
	}
	return list;
}

void exclude_list_free(struct exclude_list *list)
{
	if (!list)
		return;
	free(list->patterns);
	free(list->base);
	free(list->buf);
	free(list);
}

bool exclude_list_empty(const struct exclude_list *list)
{
	return !list->nr;
}

int exclude_list_tag(const struct exclude_list *list)
{
	return list->tag;
}

static bool same_bytes(const struct exclude_list *list, const char *a, const char *b, size_t len)
{
	return list->ignore_case ? !strncasecmp(a, b, len) : !memcmp(a, b, len);
}

static bool match_basename(const struct exclude_list *list, const struct pattern *pat,
			   const struct subject *subject)
{
	const char *name = subject->basename;

	if (pat->literal == pat->len)
		return pat->len == subject->basename_len &&
		       same_bytes(list, pat->text, name, pat->len);
	if (pat->flags & PATTERN_SUFFIX)
		return pat->len - 1 <= subject->basename_len &&
		       same_bytes(list, pat->text + 1, name + subject->basename_len - (pat->len - 1),
				  pat->len - 1);
	return wildmatch(pat->text, name, list->ignore_case ? WILD_CASEFOLD : 0);
}

/* `name` is the path below the directory of the list. */
static bool match_path(const struct exclude_list *list, const struct pattern *pat,
		       const char *name, size_t name_len)
{
	if (pat->literal > name_len || !same_bytes(list, pat->text, name, pat->literal))
		return false;
	if (pat->literal == pat->len && pat->len == name_len)
		return true;
	/*
	 * The glob sees only what follows the literal part, as in git. This is
	 * not just an optimisation: it puts the stars of "a**" and "a**" + "/b"
	 * at a beginning, where they match slashes.
	 */
	return pat->literal < pat->len &&
	       wildmatch(pat->text + pat->literal, name + pat->literal,
			 WILD_PATHNAME | (list->ignore_case ? WILD_CASEFOLD : 0));
}

/* The path below the directory of the list, NULL if it is not below it. */
static const char *below_base(const struct exclude_list *list, const struct subject *subject)
{
	size_t len = list->base_len;

	if (!len)
		return subject->path;
	if (subject->len <= len + 1 || subject->path[len] != '/' ||
	    !same_bytes(list, subject->path, list->base, len))
		return NULL;
	return subject->path + len + 1;
}

static enum exclude_verdict match_list(const struct exclude_list *list,
				       const struct subject *subject)
{
	const char *name = below_base(list, subject);
	size_t name_len = name ? subject->len - (size_t)(name - subject->path) : 0;

	/* The last pattern that matches decides. */
	for (size_t i = list->nr; i-- > 0;) {
		const struct pattern *pat = &list->patterns[i];
		bool matches;

		if ((pat->flags & PATTERN_DIR_ONLY) && !subject->is_dir)
			continue;
		if (pat->flags & PATTERN_BASENAME)
			matches = match_basename(list, pat, subject);
		else
			matches = name && match_path(list, pat, name, name_len);
		if (matches)
			return pat->flags & PATTERN_NEGATIVE ? EXCLUDE_INCLUDED : EXCLUDE_IGNORED;
	}
	return EXCLUDE_UNDECIDED;
}

enum exclude_verdict exclude_match(const struct exclude_chain *chain, const char *path,
				   const char *basename, bool is_dir,
				   const struct exclude_list **decided_out)
{
	struct subject subject = { .path = path, .basename = basename, .is_dir = is_dir };

	subject.basename_len = strlen(basename);
	subject.len = (size_t)(basename - path) + subject.basename_len;
	for (; chain; chain = chain->next) {
		enum exclude_verdict verdict;

		if (!chain->list->nr)
			continue;
		verdict = match_list(chain->list, &subject);
		if (verdict == EXCLUDE_UNDECIDED)
			continue;
		if (decided_out)
			*decided_out = chain->list;
		return verdict;
	}
	return EXCLUDE_UNDECIDED;
}
