/* SPDX-License-Identifier: MIT */
#include "git/configcond_internal.h"

#include "git/wildmatch_internal.h"

#include <pwd.h>

bool configcond_expand(struct strbuf *out, const char *path)
{
	const char *home = getenv("HOME");
	struct passwd *user;
	size_t len;
	char *name;

	if (*path != '~') {
		strbuf_addstr(out, path);
		return true;
	}
	len = strcspn(path, "/");
	if (len > 1) {
		name = xmemdupz(path + 1, len - 1);
		user = getpwnam(name);
		home = user ? user->pw_dir : NULL;
		free(name);
	}
	if (!home || !*home)
		return false;
	strbuf_addstr(out, home);
	strbuf_addstr(out, path + len);
	return true;
}

/* The directory of `file`, with all links resolved, and a slash. */
static void add_dir_of(struct strbuf *out, const char *file)
{
	char *real = path_real(file);
	const char *path = real ? real : file, *slash = strrchr(path, '/');

	strbuf_add(out, path, slash ? (size_t)(slash - path) + 1 : 0);
	free(real);
}

static bool is_gitdir(const char *gitdir, const char *condition, const char *file, unsigned flags)
{
	struct strbuf pattern = STRBUF_INIT;
	size_t literal = 0; /* bytes at the beginning that are not part of a pattern */
	bool holds;

	if (!gitdir)
		return false;
	if (*condition == '~') {
		if (!configcond_expand(&pattern, condition))
			return false;
	} else if (!strncmp(condition, "./", 2)) {
		add_dir_of(&pattern, file);
		literal = pattern.len;
		strbuf_addstr(&pattern, condition + 2);
	} else {
		strbuf_addf(&pattern, "%s%s", *condition == '/' ? "" : "**/", condition);
	}
	if (pattern.len && pattern.buf[pattern.len - 1] == '/')
		strbuf_addstr(&pattern, "**");
	holds = !(flags & WILD_CASEFOLD ? strncasecmp(pattern.buf, gitdir, literal) :
					  strncmp(pattern.buf, gitdir, literal)) &&
		wildmatch(pattern.buf + literal, gitdir + literal, flags | WILD_PATHNAME);
	strbuf_release(&pattern);
	return holds;
}

static bool is_branch(const char *branch, const char *condition)
{
	struct strbuf pattern = STRBUF_INIT;
	bool holds;

	strbuf_addstr(&pattern, condition);
	if (pattern.len && pattern.buf[pattern.len - 1] == '/')
		strbuf_addstr(&pattern, "**");
	holds = branch && wildmatch(pattern.buf, branch, WILD_PATHNAME);
	strbuf_release(&pattern);
	return holds;
}

static bool has_url(struct configcond *cond, const char *pattern)
{
	if (!cond->urls)
		cond->asked_for_urls = true;
	for (size_t i = 0; cond->urls && i < cond->urls->nr; i++)
		if (wildmatch(pattern, cond->urls->items[i], WILD_PATHNAME))
			return true;
	return false;
}

static const char *after(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) ? NULL : text + strlen(prefix);
}

bool configcond_holds(struct configcond *cond, const char *condition, const char *file)
{
	const char *rest;

	if ((rest = after(condition, "gitdir:")))
		return is_gitdir(cond->gitdir, rest, file, 0);
	if ((rest = after(condition, "gitdir/i:")))
		return is_gitdir(cond->gitdir, rest, file, WILD_CASEFOLD);
	if ((rest = after(condition, "onbranch:")))
		return is_branch(cond->branch, rest);
	if ((rest = after(condition, "hasconfig:remote.*.url:")))
		return has_url(cond, rest);
	return false;
}
