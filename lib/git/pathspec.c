/* SPDX-License-Identifier: MIT */
#include "git/pathspec.h"

#include "git/wildmatch_internal.h"

static const struct {
	const char *name;
	char letter; /* in the short form; 0: none */
	unsigned magic;
} words[] = {
	{ "top", '/', PATHSPEC_TOP },	      { "literal", 0, PATHSPEC_LITERAL },
	{ "glob", 0, PATHSPEC_GLOB },	      { "icase", 0, PATHSPEC_ICASE },
	{ "exclude", '!', PATHSPEC_EXCLUDE }, { "exclude", '^', PATHSPEC_EXCLUDE },
};

void pathspec_release(struct pathspec *spec)
{
	for (size_t i = 0; i < spec->nr; i++) {
		free(spec->items[i].typed);
		free(spec->items[i].match);
	}
	free(spec->items);
	strlist_release(&spec->plain);
	*spec = (struct pathspec)PATHSPEC_INIT;
}

/* ---- what was typed ---- */

static bool is_set(const char *variable)
{
	static const char *const no[] = { "", "0", "false", "no", "off" };
	const char *value = env_git(variable);

	for (size_t i = 0; value && i < ARRAY_SIZE(no); i++)
		if (!strcasecmp(value, no[i]))
			return false;
	return value != NULL;
}

/* ":(top,icase)src" */
static int split_long(unsigned *magic, const char **rest_out, const char *typed)
{
	const char *p = typed + 2;

	while (*p && *p != ')') {
		size_t len = strcspn(p, ",)"), i = 0;

		while (len && i < ARRAY_SIZE(words) &&
		       (strlen(words[i].name) != len || memcmp(words[i].name, p, len) != 0))
			i++;
		if (i == ARRAY_SIZE(words))
			return ckpt_error_set(CKPT_ERROR,
					      "'%.*s' in the pathspec '%s' is not supported; use "
					      "top, literal, glob, icase or exclude",
					      (int)len, p, typed);
		*magic |= len ? words[i].magic : 0;
		p += len;
		p += *p == ',';
	}
	if (!*p)
		return ckpt_error_set(CKPT_ERROR, "the pathspec '%s' lacks a ')'", typed);
	*rest_out = p + 1;
	return 0;
}

/* ":/", ":!", ":^" and combinations, perhaps ended with another ":" */
static void split_short(unsigned *magic, const char **rest_out, const char *typed)
{
	const char *p = typed + 1;

	for (;; p++) {
		size_t i = 0;

		while (i < ARRAY_SIZE(words) && (!words[i].letter || words[i].letter != *p))
			i++;
		if (i == ARRAY_SIZE(words))
			break;
		*magic |= words[i].magic;
	}
	*rest_out = p + (*p == ':');
}

int pathspec_split(unsigned *magic_out, const char **rest_out, const char *typed)
{
	unsigned magic = 0;
	int err = 0;

	*rest_out = typed;
	*magic_out = PATHSPEC_LITERAL;
	if (is_set("GIT_LITERAL_PATHSPECS"))
		return 0;
	if (!strncmp(typed, ":(", 2))
		err = split_long(&magic, rest_out, typed);
	else if (*typed == ':')
		split_short(&magic, rest_out, typed);
	if (err)
		return err;
	if ((magic & PATHSPEC_LITERAL) && (magic & PATHSPEC_GLOB))
		return ckpt_error_set(CKPT_ERROR,
				      "the pathspec '%s' cannot be both 'literal' and 'glob'",
				      typed);
	if (!(magic & (PATHSPEC_LITERAL | PATHSPEC_GLOB)))
		magic |= is_set("GIT_GLOB_PATHSPECS")	  ? PATHSPEC_GLOB
			 : is_set("GIT_NOGLOB_PATHSPECS") ? PATHSPEC_LITERAL
							  : 0;
	if (is_set("GIT_ICASE_PATHSPECS"))
		magic |= PATHSPEC_ICASE;
	*magic_out = magic;
	return 0;
}

static size_t plain_length(const char *text)
{
	return strcspn(text, "*?[\\");
}

bool pathspec_is_wild(const char *text, unsigned magic)
{
	return !(magic & PATHSPEC_LITERAL) && text[plain_length(text)];
}

bool pathspec_is_special(const char *typed)
{
	const char *rest;
	unsigned magic;

	return pathspec_split(&magic, &rest, typed) || rest != typed || magic & PATHSPEC_ICASE ||
	       pathspec_is_wild(rest, magic);
}

void pathspec_add(struct pathspec *spec, const char *typed, unsigned magic, const char *match,
		  size_t prefix)
{
	struct pathspec_item *item;
	size_t plain = pathspec_is_wild(match, magic) ? plain_length(match) : strlen(match);

	item = ALLOC_NEXT(spec->items, spec->nr, spec->alloc);
	*item = (struct pathspec_item){
		.typed = xstrdup(typed),
		.match = xstrdup(match),
		.magic = magic,
		.prefix = prefix,
		/* A directory of the user is never a pattern. */
		.plain = plain < prefix ? prefix : plain,
	};
}

/* ---- matching ---- */

static bool is_same(const struct pathspec_item *item, const char *path, size_t len)
{
	return !(item->magic & PATHSPEC_ICASE ? strncasecmp : strncmp)(item->match, path, len);
}

/* It is the path, or a directory above it. */
static bool covers_path(const struct pathspec_item *item, const char *path, bool is_dir)
{
	size_t len = strlen(item->match);

	if (!len)
		return true;
	/* "dir/" is the directory itself, too, but not a file. */
	if (is_dir && item->match[len - 1] == '/' && strlen(path) == len - 1)
		len--;
	if (!is_same(item, path, len))
		return false;
	return !path[len] || path[len] == '/' || item->match[len - 1] == '/';
}

bool pathspec_item_matches(const struct pathspec_item *item, const char *path, bool is_dir)
{
	unsigned flags = (item->magic & PATHSPEC_GLOB ? WILD_PATHNAME : 0u) |
			 (item->magic & PATHSPEC_ICASE ? WILD_CASEFOLD : 0u);

	if (strncmp(item->match, path, item->prefix) != 0)
		return false;
	if (covers_path(item, path, is_dir))
		return true;
	return item->match[item->plain] && strlen(path) >= item->plain &&
	       is_same(item, path, item->plain) &&
	       wildmatch(item->match + item->plain, path + item->plain, flags);
}

bool pathspec_is_empty(const struct pathspec *spec)
{
	return !spec->plain.nr && !spec->nr;
}

bool pathspec_matches(const struct pathspec *spec, const char *path, bool is_dir)
{
	bool found = pathset_covers(&spec->plain, path), any = spec->plain.nr;

	for (size_t i = 0; i < spec->nr; i++) {
		const struct pathspec_item *item = &spec->items[i];

		if (!(item->magic & PATHSPEC_EXCLUDE)) {
			any = true;
			found = found || pathspec_item_matches(item, path, is_dir);
		} else if (pathspec_item_matches(item, path, is_dir)) {
			return false;
		}
	}
	return found || !any;
}

/* What precedes the first wildcard leads into the directory, or out of it again. */
static bool item_enters(const struct pathspec_item *item, const char *dir)
{
	size_t len = strlen(dir);

	if (item->magic & PATHSPEC_ICASE)
		return true;
	return !strncmp(item->match, dir, len < item->plain ? len : item->plain) &&
	       (item->plain <= len || item->match[len] == '/');
}

bool pathspec_enters(const struct pathspec *spec, const char *dir)
{
	bool any = spec->plain.nr;

	if (pathset_covers(&spec->plain, dir) || pathset_reaches(&spec->plain, dir) || !*dir)
		return true;
	for (size_t i = 0; i < spec->nr; i++) {
		if (spec->items[i].magic & PATHSPEC_EXCLUDE)
			continue;
		any = true;
		if (item_enters(&spec->items[i], dir))
			return true;
	}
	return !any;
}

void pathspec_copy(struct pathspec *spec, const struct pathspec *from)
{
	strlist_extend(&spec->plain, &from->plain);
	for (size_t i = 0; i < from->nr; i++)
		pathspec_add(spec, from->items[i].typed, from->items[i].magic, from->items[i].match,
			     from->items[i].prefix);
}
