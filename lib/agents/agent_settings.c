/* SPDX-License-Identifier: MIT */
#include "agents/agent_settings_internal.h"

#include "agents/agent_entry_internal.h"
#include "agents/agents.h"
#include "base/base.h"

#include <sys/file.h>

/* ---- locks ---- */

static bool is_held(const struct settings_locks *locks, int fd)
{
	struct stat st, held;

	for (size_t i = 0; i < locks->nr; i++)
		if (!fstat(fd, &st) && !fstat(locks->fds[i], &held) && st.st_dev == held.st_dev &&
		    st.st_ino == held.st_ino)
			return true;
	return false;
}

/*
 * One process at a time: so an existing temporary was left by a killed one. If the directory
 * does not exist yet, or locks do not work, go on without.
 */
int agent_settings_lock_dir(struct settings_locks *locks, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc, err = 0;

	if (fd < 0)
		return 0;
	if (is_held(locks, fd)) {
		close(fd);
		return 0;
	}
	do {
		rc = flock(fd, LOCK_EX);
		if (rc < 0 && errno == EINTR)
			err = cancel_check();
	} while (rc < 0 && errno == EINTR && !err);
	if (!rc)
		fs_sweep_temps(fd, ".");
	locks->fds[locks->nr++] = fd;
	return err;
}

void agent_settings_unlock_all(struct settings_locks *locks)
{
	while (locks->nr)
		close(locks->fds[--locks->nr]);
}

/* ---- the file ---- */

void agent_settings_release(struct settings *s)
{
	strbuf_release(&s->dir);
	strbuf_release(&s->path);
	strbuf_release(&s->real);
	strbuf_release(&s->text);
}

int agent_settings_find(struct settings *s, const struct agent *agent, const char *file,
			 const struct agents_opts *opts)
{
	const char *base = opts->user ? getenv("HOME") : opts->root;

	if (!base || *base != '/')
		return ckpt_error_set(CKPT_ERROR, "HOME is not set to an absolute path; set it, or leave --user out");
	agent_settings(&s->path, base, agent, file, opts->user);
	/* The file may be further down. */
	strbuf_add(&s->dir, s->path.buf, (size_t)(strrchr(s->path.buf, '/') - s->path.buf));
	return 0;
}

/*
 * A repository may contain links: those in a project's settings are followed
 * only within it. In the user's home directory they belong to the user.
 */
int agent_settings_confine(const struct settings *s, const struct agents_opts *opts)
{
	char *root, *real;
	int err = 0;

	if (opts->user)
		return 0;
	root = path_resolve(opts->root);
	real = path_resolve(s->path.buf);
	if (!root || !real)
		err = ckpt_error_errno("unable to follow '%s'", s->path.buf);
	else if (!path_below(real, root))
		err = ckpt_error_set(CKPT_EREFUSED, "'%s' leads out of the worktree, to '%s'",
				     s->path.buf, real);
	free(root);
	free(real);
	return err;
}

/* `real` is absolute. */
static int lock_real(struct settings_locks *locks, const char *real)
{
	char *dir = xmemdupz(real, (size_t)(strrchr(real, '/') - real));
	int err = agent_settings_lock_dir(locks, *dir ? dir : "/");

	free(dir);
	return err;
}

int agent_settings_load(struct settings *s, struct settings_locks *locks)
{
	struct stat st;
	char *real;
	int err;

	if (lstat(s->path.buf, &st) < 0) {
		if (errno == ENOENT)
			return 0;
		return ckpt_error_errno("unable to look at '%s'", s->path.buf);
	}
	s->exists = true;
	s->linked = S_ISLNK(st.st_mode);
	real = path_real(s->path.buf);
	if (!real || stat(real, &st) < 0) {
		err = ckpt_error_errno("unable to follow the link '%s'", s->path.buf);
		free(real);
		return err;
	}
	err = s->linked ? lock_real(locks, real) : 0;
	strbuf_addstr(&s->real, real);
	free(real);
	s->mode = st.st_mode & 07777;
	return err ? err : fs_read_linked(&s->text, s->real.buf);
}

int agent_settings_store(const struct settings *s)
{
	return fs_write_file(AT_FDCWD, s->real.buf, s->text.buf, s->text.len, s->mode, FS_DURABLE);
}

int agent_settings_missing_dirs(const struct settings *s)
{
	struct strbuf dir = STRBUF_INIT;
	int missing = 0;

	strbuf_add(&dir, s->dir.buf, s->dir.len);
	while (dir.len > 1 && !fs_is_dir(dir.buf)) {
		missing++;
		strbuf_setlen(&dir, (size_t)(strrchr(dir.buf, '/') - dir.buf));
	}
	strbuf_release(&dir);
	return missing;
}

/* The directory and so many above it, each if it is empty. */
static void remove_dirs(const struct settings *s, int dirs)
{
	struct strbuf dir = STRBUF_INIT;

	strbuf_add(&dir, s->dir.buf, s->dir.len);
	for (; dirs > 0 && !rmdir(dir.buf); dirs--)
		strbuf_setlen(&dir, (size_t)(strrchr(dir.buf, '/') - dir.buf));
	strbuf_release(&dir);
}

int agent_settings_create(struct settings *s, int dirs, mode_t mode)
{
	int err;

	if (dirs) {
		err = fs_mkdir_p(s->dir.buf, fs_usual_mode(0777));
		if (err)
			return err;
	}
	strbuf_addstr(&s->real, s->path.buf);
	s->mode = fs_usual_mode(mode);
	err = agent_settings_store(s);
	if (err)
		remove_dirs(s, dirs);
	return err;
}

int agent_settings_unlink(const struct settings *s, int dirs)
{
	if (unlink(s->path.buf) < 0)
		return ckpt_error_errno("unable to remove '%s'", s->path.buf);
	remove_dirs(s, dirs);
	return fs_is_dir(s->dir.buf) ? fs_sync_dir(AT_FDCWD, s->dir.buf) : 0;
}
