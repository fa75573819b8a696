/* SPDX-License-Identifier: MIT */
#include "install/install_internal.h"

#include "base/base.h"
#include "install/install.h"

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

/* A link with the hook's name that leads to the renamed hook. */
static bool has_link(int dirfd, const char *hook)
{
	char *link = xstrfmt(INSTALL_LINKS "/%s", hook), *to = xstrfmt("../%s" INSTALL_ASIDE, hook);
	char target[PATH_MAX];
	ssize_t len = readlinkat(dirfd, link, target, sizeof(target));
	bool has = len == (ssize_t)strlen(to) && !memcmp(target, to, (size_t)len);

	free(to);
	free(link);
	return has;
}

bool aside_exists(int dirfd, const char *hook)
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

int aside_check(int dirfd, const char *name, const char *hook, const char *ours)
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
	char *link = xstrfmt(INSTALL_LINKS "/%s", hook), *to = xstrfmt("../%s" INSTALL_ASIDE, hook);
	int err = fs_ensure_dir(dirfd, INSTALL_LINKS, fs_usual_mode(0777));

	if (!err && !has_link(dirfd, hook) && symlinkat(to, dirfd, link) < 0)
		err = ckpt_error_errno("unable to create the link '%s'", link);
	free(to);
	free(link);
	return err;
}

int aside_put(int dirfd, const char *name, const char *hook, const char *ours)
{
	char *aside = aside_name(hook);
	int err = aside_check(dirfd, name, hook, ours);

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

int aside_put_back(int dirfd, const char *name, const char *hook)
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
		err = aside_put_back(dirfd, hook, hook);
	else if (is_there(dirfd, old))
		*kept = xstrdup(aside);
	else if (!(err = move_on(dirfd, hook, aside)))
		*kept = xstrdup(old);
	free(old);
	return err;
}

int aside_settle(char **kept, int dirfd, const char *hook)
{
	char *aside = aside_name(hook), *link = xstrfmt(INSTALL_LINKS "/%s", hook);
	int err = 0;

	if (aside_exists(dirfd, hook))
		err = settle_name(kept, dirfd, hook, aside);
	if (!err && has_link(dirfd, hook))
		(void)unlinkat(dirfd, link, 0);
	if (!err)
		(void)unlinkat(dirfd, INSTALL_LINKS, AT_REMOVEDIR);
	free(link);
	free(aside);
	return err;
}
