/* SPDX-License-Identifier: MIT */
#include "install/install_internal.h"

/* ---- shell scripts ---- */

/* The interpreter's name without its directory; past "env" if that is what looks for it. */
static const char *find_interpreter(size_t *len_out, const char *line, size_t len)
{
	const char *end = line + len, *p = line, *word;

	for (int words = 0; words < 2; words++) {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		word = p;
		for (; p < end && *p != ' ' && *p != '\t'; p++)
			if (*p == '/')
				word = p + 1;
		*len_out = (size_t)(p - word);
		if (*len_out != 3 || memcmp(word, "env", 3))
			return word;
	}
	return word;
}

/* Options that trace, or that take an argument, would change what our lines do. */
static bool has_plain_options(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end)
		return true;
	if (*p++ != '-' || p == end)
		return false;
	while (p < end && (*p == 'e' || *p == 'u'))
		p++;
	return p == end;
}

bool install_is_shell(const struct strbuf *text)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh", NULL };
	const char *eol = memchr(text->buf, '\n', text->len), *name;
	size_t size;

	if (!eol || text->len < 3 || memcmp(text->buf, "#!", 2) || strlen(text->buf) != text->len)
		return false;
	name = find_interpreter(&size, text->buf + 2, (size_t)(eol - text->buf) - 2);
	for (size_t i = 0; shells[i]; i++)
		if (strlen(shells[i]) == size && !memcmp(shells[i], name, size))
			return has_plain_options(name + size, eol);
	return false;
}

/* ---- lines in them ---- */

/* A new file: its first line, the lines that are inserted, and the rest, which runs what is aside. */
struct parts {
	char *lines;
	const char *rest;
};

static void split_hook(struct parts *out, const char *hook)
{
	const char *begin = strchr(hook, '\n') + 1, *end = strstr(begin, INSTALL_HOOK_END);

	out->rest = end + strlen(INSTALL_HOOK_END);
	out->lines = xmemdupz(begin, (size_t)(out->rest - begin));
}

/* At the beginning of a line. */
static const char *find_lines(const struct strbuf *text, const char *lines)
{
	const char *at = text->buf;

	while ((at = strstr(at, lines)) && at > text->buf && at[-1] != '\n')
		at++;
	return at;
}

/* Perhaps twice in one file, if somebody merged two hooks. */
static bool remove_lines(struct strbuf *text, const char *lines)
{
	bool found = false;

	for (const char *at; *lines && (at = find_lines(text, lines)); found = true)
		strbuf_splice(text, (size_t)(at - text->buf),
			      (size_t)(at - text->buf) + strlen(lines), NULL, 0);
	return found;
}

void install_insert(struct strbuf *text, const char *hook)
{
	const char *eol = memchr(text->buf, '\n', text->len);
	size_t first = eol ? (size_t)(eol - text->buf) + 1 : 0;
	struct parts parts;

	split_hook(&parts, hook);
	strbuf_splice(text, first, first, parts.lines, strlen(parts.lines));
	free(parts.lines);
}

bool install_hook_has_lines(const struct install_change *change, const struct strbuf *text)
{
	struct parts parts;
	bool has;

	split_hook(&parts, change->text);
	has = find_lines(text, parts.lines);
	free(parts.lines);
	return has;
}

bool install_hook_runs_aside(const struct install_change *change, const struct strbuf *text)
{
	struct parts parts;
	bool runs;

	split_hook(&parts, change->text);
	runs = *parts.rest && find_lines(text, parts.rest);
	free(parts.lines);
	return runs;
}

bool install_hook_remove(struct strbuf *text, const struct install_change *change)
{
	bool whole = !strcmp(text->buf, change->text);
	struct parts parts;

	split_hook(&parts, change->text);
	if (remove_lines(text, parts.lines))
		(void)remove_lines(text, parts.rest);
	free(parts.lines);
	return whole;
}

/* ---- a hook that is put aside ---- */

static char *aside_name(const char *hook)
{
	return xstrfmt("%s" INSTALL_ASIDE, hook);
}

static bool is_there(int dirfd, const char *name)
{
	struct stat st;

	return !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW);
}

static bool is_same(int dirfd, const char *a, const char *b)
{
	struct stat one, two;

	return !fstatat(dirfd, a, &one, AT_SYMLINK_NOFOLLOW) &&
	       !fstatat(dirfd, b, &two, AT_SYMLINK_NOFOLLOW) && fs_same_file(&one, &two);
}

/* A link in its place may lead anywhere. */
static int open_links(int dirfd)
{
	return openat(dirfd, INSTALL_LINKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A link with the hook's name that leads to the renamed hook. */
static bool has_link(int dirfd, const char *hook)
{
	char *to = xstrfmt("../%s" INSTALL_ASIDE, hook), target[PATH_MAX];
	int fd = open_links(dirfd);
	ssize_t len = fd < 0 ? -1 : readlinkat(fd, hook, target, sizeof(target));
	bool has = len == (ssize_t)strlen(to) && !memcmp(target, to, (size_t)len);

	fs_close(fd);
	free(to);
	return has;
}

bool install_aside_exists(int dirfd, const char *hook)
{
	char *aside = aside_name(hook);
	bool exists = has_link(dirfd, hook) && is_there(dirfd, aside);

	free(aside);
	return exists;
}

/* Nothing is there, or a copy of ours. */
static bool has_room(int dirfd, const char *name, const char *ours)
{
	struct strbuf text = STRBUF_INIT;
	bool room = !is_there(dirfd, name) ||
		    (!fs_read_text(&text, dirfd, name) && !strcmp(text.buf, ours));

	strbuf_release(&text);
	return room;
}

int install_aside_check(int dirfd, const char *name, const char *hook, const char *ours)
{
	char *aside = aside_name(hook), *old = xstrfmt("%s.old", hook);
	int err = 0;

	if (is_there(dirfd, aside) && !is_same(dirfd, name, aside) &&
	    (!has_link(dirfd, hook) || !has_room(dirfd, old, ours)))
		err = ckpt_error_set(CKPT_ERROR, "'%s' exists, but a hook has to be renamed to it; "
						 "move it away", aside);
	free(old);
	free(aside);
	return err;
}

/* Beside the hook that took its place. */
static int move_on(int dirfd, const char *hook, const char *aside)
{
	char *old = xstrfmt("%s.old", hook);
	int err = renameat(dirfd, aside, dirfd, old) < 0
			  ? ckpt_error_errno("unable to rename '%s'", aside)
			  : 0;

	free(old);
	return err;
}

static int make_link(int dirfd, const char *hook)
{
	char *to = xstrfmt("../%s" INSTALL_ASIDE, hook);
	int err = fs_ensure_dir(dirfd, INSTALL_LINKS, fs_usual_mode(0777)), fd = -1;

	if (!err && !has_link(dirfd, hook) &&
	    ((fd = open_links(dirfd)) < 0 || symlinkat(to, fd, hook) < 0))
		err = ckpt_error_errno("unable to create the link '" INSTALL_LINKS "/%s'", hook);
	fs_close(fd);
	free(to);
	return err;
}

int install_aside_put(int dirfd, const char *name, const char *hook, const char *ours)
{
	char *aside = aside_name(hook);
	int err = install_aside_check(dirfd, name, hook, ours);

	if (!err && is_there(dirfd, aside) && !is_same(dirfd, name, aside))
		err = move_on(dirfd, hook, aside);
	if (!err)
		err = make_link(dirfd, hook);
	if (!err && linkat(dirfd, name, dirfd, aside, 0) < 0 && errno != EEXIST &&
	    /* A full disk has no space for what replaces it either. */
	    (errno == ENOSPC || errno == EDQUOT || renameat(dirfd, name, dirfd, aside) < 0))
		err = ckpt_error_errno("unable to rename '%s'", name);
	free(aside);
	return err;
}

int install_aside_put_back(int dirfd, const char *name, const char *hook)
{
	char *aside = aside_name(hook);
	int err = renameat(dirfd, aside, dirfd, name) < 0
			  ? ckpt_error_errno("unable to put '%s' back", name)
			  : fs_sync_dir(dirfd, ".");

	free(aside);
	return err;
}

static int settle_name(char **kept, int dirfd, const char *hook, const char *aside)
{
	char *old = xstrfmt("%s.old", hook);
	int err = 0;

	if (is_same(dirfd, aside, hook))
		err = unlinkat(dirfd, aside, 0) < 0
			      ? ckpt_error_errno("unable to remove '%s'", aside)
			      : 0;
	else if (!is_there(dirfd, hook))
		err = install_aside_put_back(dirfd, hook, hook);
	else if (is_there(dirfd, old))
		*kept = xstrdup(aside);
	else if (!(err = move_on(dirfd, hook, aside)))
		*kept = xstrdup(old);
	free(old);
	return err;
}

int install_aside_settle(char **kept, int dirfd, const char *hook)
{
	char *aside = aside_name(hook);
	int err = 0, fd;

	if (install_aside_exists(dirfd, hook))
		err = settle_name(kept, dirfd, hook, aside);
	fd = open_links(dirfd);
	if (!err && has_link(dirfd, hook))
		(void)unlinkat(fd, hook, 0);
	if (!err)
		(void)unlinkat(dirfd, INSTALL_LINKS, AT_REMOVEDIR);
	fs_close(fd);
	free(aside);
	return err;
}
