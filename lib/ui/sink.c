/* SPDX-License-Identifier: MIT */
#include "ui/sink.h"

#include "base/base.h"

int sink_to_file(struct sink *sink, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *dir = slash ? xmemdupz(path, (size_t)(slash - path) + 1) : xstrdup(".");
	char *real = path_real(dir);
	struct stat st;

	sink->wanted = true;
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		sink->fd = open(path, O_WRONLY | O_CLOEXEC);
	else if (real && *name && !access(real, W_OK | X_OK))
		sink->path = xstrfmt("%s/%s", real, name);
	if (sink->fd < 0 && !sink->path)
		ckpt_error_errno("unable to write to '%s'", path);
	free(real);
	free(dir);
	/* Not the code that this sets: a wrong path is not a missing checkpoint. */
	return sink->fd < 0 && !sink->path ? CKPT_ERROR : 0;
}

int sink_to_fd(struct sink *sink, int64_t fd)
{
	int flags = fd > INT_MAX ? -1 : fcntl((int)fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '--json-fd': descriptor %lld is not open for writing",
				      (long long)fd);
	sink->wanted = true;
	sink->given = true;
	sink->fd = (int)fd;
	if (fd > STDERR_FILENO)
		fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

void sink_to_stdout(struct sink *sink)
{
	sink->wanted = true;
	sink->given = true;
	sink->fd = STDOUT_FILENO;
}

/* The permission bits for a new file, or those of the existing one. */
static mode_t mode_of(const struct sink *sink)
{
	struct stat st;

	if (!lstat(sink->path, &st) && S_ISREG(st.st_mode))
		return st.st_mode & 0777;
	return fs_usual_mode(0666);
}

int sink_write(struct sink *sink, json_t *answer)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	int err = 0;

	json_write(&text, answer);
	json_decref(answer);
	strbuf_addch(&text, '\n');
	if (sink->path) {
		err = fs_write_file(AT_FDCWD, sink->path, text.buf, text.len, mode_of(sink), FS_FAST);
	} else if (sink->fd >= 0) {
		/*
		 * Through a symbolic link: the contents are replaced. A given descriptor stays at
		 * its position.
		 */
		if (!sink->given && !fstat(sink->fd, &st) && S_ISREG(st.st_mode) &&
		    ftruncate(sink->fd, 0) < 0)
			err = ckpt_error_errno("unable to write the answer");
		if (!err && fs_write_all(sink->fd, text.buf, text.len) < 0)
			err = ckpt_error_errno("unable to write the answer");
	}
	strbuf_release(&text);
	return err;
}

void sink_release(struct sink *sink)
{
	if (sink->fd >= 0 && !sink->given)
		close(sink->fd);
	free(sink->path);
	*sink = (struct sink)SINK_INIT;
}
