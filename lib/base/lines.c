/* SPDX-License-Identifier: MIT */
#include "base/fs.h"

enum { FIRST_SIZE = 32768 };

int lines_open(struct line_file *out, int dirfd, const char *path)
{
	memset(out, 0, sizeof(*out));
	out->fd = fs_open_regular(NULL, dirfd, path, O_NOFOLLOW);
	if (out->fd < 0) {
		out->error = errno;
		return fs_open_failed(path);
	}
	out->size = FIRST_SIZE;
	out->buf = xmalloc(out->size);
	return 0;
}

/* False if there is nothing left to read. */
static bool read_more(struct line_file *lines)
{
	ssize_t n;

	if (lines->at) {
		memmove(lines->buf, lines->buf + lines->at, lines->end - lines->at);
		lines->end -= lines->at;
		lines->at = 0;
	}
	if (lines->end == lines->size) {
		lines->size *= 2;
		lines->buf = xrealloc(lines->buf, lines->size);
	}
	n = fs_read_full(lines->fd, lines->buf + lines->end, lines->size - lines->end);
	if (n < 0)
		lines->error = errno;
	else
		lines->end += (size_t)n;
	return n > 0;
}

bool lines_next(struct line_file *lines, char **line, size_t *len)
{
	size_t seen = 0;
	char *newline;

	if (lines->fd < 0)
		return false;
	for (;;) {
		size_t left = lines->end - lines->at;

		newline = left > seen ? memchr(lines->buf + lines->at + seen, '\n', left - seen) : NULL;
		if (newline)
			break;
		seen = left;
		if (!read_more(lines))
			break;
	}
	if (lines->error || (!newline && !seen))
		return false;
	lines->torn = !newline;
	*line = lines->buf + lines->at;
	*len = newline ? (size_t)(newline - *line) : seen;
	lines->at += *len + !lines->torn;
	return true;
}

void lines_close(struct line_file *lines)
{
	fs_close(lines->fd);
	free(lines->buf);
}
