/* SPDX-License-Identifier: MIT */
#include "hooks/install_config_internal.h"

#include "base/base.h"
#include "hooks/install_internal.h"
#include "hooks/install_where_internal.h"

int install_config_read(struct strbuf *out, const struct install_where *where)
{
	int err = fs_read_linked(out, where->config);

	return err == CKPT_ENOTFOUND && where->global ? 0 : err;
}

/* No other process writes now, but one may have since it was read. */
static int swap_locked(const struct install_where *where, const char *lock,
		       const struct install_config *config)
{
	const char *path = where->config;
	struct strbuf now = STRBUF_INIT;
	int err = install_config_read(&now, where);

	if (!err && !strbuf_equal(&now, &config->before))
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' was changed by another process meanwhile; "
				     "try again",
				     path);
	if (!err && rename(lock, path) < 0)
		err = ckpt_error_errno("unable to put '%s' in place", path);
	else if (!err)
		err = fs_sync_holder(AT_FDCWD, path);
	if (err)
		unlink(lock);
	strbuf_release(&now);
	return err;
}

/* Where our directory is on another file system: as git does it. */
static int copy_to_lock(const char *lock, mode_t mode, const struct install_config *config)
{
	int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), saved;

	if (fd < 0)
		return -1;
	if (!fs_write_all(fd, config->text.buf, config->text.len) && !fchmod(fd, mode) &&
	    !fsync(fd))
		return close(fd);
	saved = errno;
	close(fd);
	unlink(lock);
	errno = saved;
	return -1;
}

/*
 * git's lock is a file that must not exist yet and that becomes the new one.
 * It is completed under our own name, so that one left by a killed process of
 * ours can be told from git's.
 */
static int swap_config(const struct install_where *where, const char *lock, const char *new,
		       mode_t mode, const struct install_config *config)
{
	int err;

	if (install_same_file(lock, new))
		unlink(lock);
	err = fs_write_file(AT_FDCWD, new, config->text.buf, config->text.len, mode, FS_DURABLE);
	if (err)
		return err;
	if (link(new, lock) < 0 && (errno != EXDEV || copy_to_lock(lock, mode, config) < 0))
		err = errno == EEXIST
			      ? ckpt_error_set(CKPT_ERROR,
					       "'%s' exists: another git process is changing "
					       "the configuration; if none is, remove "
					       "that file",
					       lock)
			      : ckpt_error_errno("unable to create '%s'", lock);
	else
		err = swap_locked(where, lock, config);
	unlink(new);
	return err;
}

int install_config_write(const struct install_config *config, const struct install_where *where)
{
	const char *path = where->config;
	char *lock = xstrfmt("%s.lock", path), *new = install_record_path(where, "config.new");
	struct strbuf now = STRBUF_INIT;
	struct stat st;
	int err = install_config_read(&now, where);

	if (err)
		goto out;
	if (install_same_file(lock, new))
		unlink(lock);
	unlink(new);
	if (strbuf_equal(&now, &config->text))
		goto out;
	if (!stat(path, &st))
		err = swap_config(where, lock, new, st.st_mode & 07777, config);
	else if (errno == ENOENT && where->global)
		err = swap_config(where, lock, new, fs_usual_mode(0666), config);
	else
		err = ckpt_error_errno("unable to look at '%s'", path);
out:
	strbuf_release(&now);
	free(new);
	free(lock);
	return err;
}
