/* SPDX-License-Identifier: MIT */
#include "hooks/install_where_internal.h"

#include "base/base.h"
#include "git/git.h"

#include <sys/file.h>

/* `path` is taken over. */
static char *follow(char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		return path;
	free(path);
	return real;
}

void install_where_repo(struct install_where *out, const struct repo *repo)
{
	*out = (struct install_where){
		.root = xstrdup(repo->commondir),
		.dir = xstrfmt("%s/" INSTALL_DIR, repo->commondir),
		.config = follow(xstrfmt("%s/config", repo->commondir)),
	};
}

/* As `git config --global` chooses: the other file only if there is no ~/.gitconfig. */
static char *users_config(void)
{
	const char *home = getenv("HOME"), *override = env_git("GIT_CONFIG_GLOBAL");
	char *base, *path, *other;

	if (override)
		return path_resolve(override);
	if (!home || *home != '/')
		return NULL;
	path = xstrfmt("%s/.gitconfig", home);
	base = env_user_dir("XDG_CONFIG_HOME", ".config");
	other = xstrfmt("%s/git/config", base);
	if (access(path, F_OK) < 0 && !access(other, F_OK)) {
		free(path);
		path = xstrdup(other);
	}
	free(other);
	free(base);
	return follow(path);
}

int install_where_global(struct install_where *out)
{
	char *data = env_user_dir("XDG_DATA_HOME", ".local/share");
	struct stat st;

	*out = (struct install_where){ .global = true, .config = users_config() };
	if (data)
		out->dir = xstrfmt("%s" INSTALL_GLOBAL, data);
	free(data);
	if (!out->dir || !out->config || !*out->config ||
	    (!stat(out->config, &st) && !S_ISREG(st.st_mode))) {
		install_where_release(out);
		return ckpt_error_set(CKPT_ERROR,
				      "unable to find the global configuration; set HOME to an "
				      "absolute path, and GIT_CONFIG_GLOBAL to a file or not at "
				      "all");
	}
	out->root = xstrdup(out->dir);
	return 0;
}

void install_where_release(struct install_where *where)
{
	free(where->root);
	free(where->dir);
	free(where->config);
	memset(where, 0, sizeof(*where));
}

int install_where_lock(int *fd_out, const struct install_where *where)
{
	int fd = open(where->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX) < 0) {
		int err = ckpt_error_errno("unable to lock '%s'", where->root);

		fs_close(fd);
		return err;
	}
	*fd_out = fd;
	return 0;
}
