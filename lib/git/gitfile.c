/* SPDX-License-Identifier: MIT */
#include "git/gitfile.h"

static char *read_file(const char *dir, const char *name, off_t max)
{
	struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	char *real = NULL, *result = NULL;
	const char *file;
	struct stat st;

	strbuf_addstr(&path, dir);
	path_append(&path, name);
	file = path.buf;
	/* Few are links; to find out where each one is would take longer than to read it. */
	if (!lstat(file, &st) && S_ISLNK(st.st_mode))
		file = real = path_real(file);
	if (file && !lstat(file, &st) && S_ISREG(st.st_mode) && st.st_size <= max &&
	    !fs_read_file(&text, AT_FDCWD, file)) {
		while (text.len && strchr("\r\n", text.buf[text.len - 1]))
			strbuf_setlen(&text, text.len - 1);
		result = strbuf_detach(&text, NULL);
	}
	free(real);
	strbuf_release(&path);
	strbuf_release(&text);
	return result;
}

char *gitfile_read(const char *dir, const char *name)
{
	return read_file(dir, name, 1 << 20);
}

char *gitfile_read_long(const char *dir, const char *name)
{
	return read_file(dir, name, 64 << 20);
}

bool gitfile_is_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF");

	return (len == 40 || len == 64) && (!text[len] || isspace((unsigned char)text[len]));
}

char *gitfile_head(const char *gitdir)
{
	struct strbuf path = STRBUF_INIT;
	char target[4096], *text = NULL;
	ssize_t len;

	strbuf_addstr(&path, gitdir);
	path_append(&path, "HEAD");
	len = readlink(path.buf, target, sizeof(target) - 1);
	strbuf_release(&path);
	if (len >= 5 && !memcmp(target, "refs/", 5)) {
		target[len] = '\0';
		return xstrfmt("ref: %s", target);
	}
	if (len < 0)
		text = gitfile_read(gitdir, "HEAD");
	return text;
}

const char *gitfile_symref(const char *text)
{
	if (strncmp(text, "ref:", 4))
		return NULL;
	text += 4;
	text += strspn(text, " \t");
	return strncmp(text, "refs/", 5) || strstr(text, "..") ? NULL : text;
}
