/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#include "base/base.h"
#include "session/session.h"

void mcp_roots_release(struct mcp_roots *roots)
{
	strlist_release(&roots->dirs);
	free(roots->home);
	*roots = (struct mcp_roots)MCP_ROOTS_INIT;
}

void mcp_place_release(struct mcp_place *place)
{
	fs_close(place->fd);
	free(place->worktree);
	*place = (struct mcp_place)MCP_PLACE_INIT;
}

static bool is_allowed(const struct mcp_roots *roots, const char *path)
{
	for (size_t i = 0; i < roots->dirs.nr; i++)
		if (path_below(path, roots->dirs.items[i]))
			return true;
	return false;
}

/* The root of the project around the current directory. */
static int find_worktree(char **out)
{
	struct session session = { 0 };
	int err = session_open(&session, SESSION_LOOK | SESSION_NO_STORE);

	if (err)
		return err;
	*out = xstrdup(session.worktree);
	session_close(&session);
	return 0;
}

static int add_root(struct mcp_roots *out, const char *typed)
{
	char *real = path_real(typed);

	if (!real)
		return ckpt_error_errno("unable to use '%s' as a root", typed);
	if (!fs_is_dir(real)) {
		free(real);
		return ckpt_error_set(CKPT_ERROR, "'%s' is not a directory", typed);
	}
	strlist_take(&out->dirs, real);
	return 0;
}

int mcp_roots_init(struct mcp_roots *out, const struct strlist *given)
{
	char *here = path_real("."), *worktree = NULL;
	int err = here ? 0 : ckpt_error_errno("unable to find the current directory");

	for (size_t i = 0; i < given->nr && !err; i++)
		err = add_root(out, given->items[i]);
	if (!err && !given->nr) {
		err = find_worktree(&worktree);
		if (!err)
			strlist_take(&out->dirs, worktree);
	}
	if (!err)
		out->home = xstrdup(is_allowed(out, here) ? here : out->dirs.items[0]);
	free(here);
	return err;
}

/* Where an open directory is, whatever its path leads to by now. */
static char *path_of(int fd)
{
	char *link = xstrfmt("/proc/self/fd/%d", fd), *path = path_real(link);

	free(link);
	return path;
}

static int open_allowed(int *out, const struct mcp_roots *roots, const char *directory)
{
	char *real;
	int err = 0;

	*out = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*out < 0)
		return ckpt_error_errno("unable to open the directory '%s'", directory);
	real = path_of(*out);
	if (!real)
		err = ckpt_error_errno("unable to find out where '%s' is", directory);
	else if (!is_allowed(roots, real))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' is outside the directories that this server may use; "
				     "'git checkpoint mcp --root <dir>' allows more",
				     directory);
	free(real);
	return err;
}

/* A descriptor of the current directory brings us back there. */
static int look_from(char **worktree, int dir)
{
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (fchdir(dir) < 0)
		err = ckpt_error_errno("unable to go to the directory");
	else
		err = find_worktree(worktree);
	if (here >= 0 && fchdir(here) < 0 && !err)
		err = ckpt_error_errno("unable to go back");
	fs_close(here);
	return err;
}

int mcp_place_find(struct mcp_place *out, const struct mcp_roots *roots, const char *directory)
{
	int dir = -1, err = open_allowed(&dir, roots, directory ? directory : roots->home);

	if (!err)
		err = look_from(&out->worktree, dir);
	if (!err)
		err = open_allowed(&out->fd, roots, out->worktree);
	fs_close(dir);
	return err;
}
