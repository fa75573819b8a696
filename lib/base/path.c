/* SPDX-License-Identifier: MIT */
#include "base/path.h"

void path_append(struct strbuf *sb, const char *name)
{
	if (sb->len && sb->buf[sb->len - 1] != '/')
		strbuf_addch(sb, '/');
	strbuf_addstr(sb, name);
}

static void append_clean(struct strbuf *out, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !memcmp(path, "..", 2)) {
			while (out->len && out->buf[out->len - 1] != '/')
				strbuf_setlen(out, out->len - 1);
			if (out->len)
				strbuf_setlen(out, out->len - 1);
		} else if (len && !(len == 1 && path[0] == '.')) {
			strbuf_addch(out, '/');
			strbuf_add(out, path, len);
		}
		path += len;
		path += strspn(path, "/");
	}
}

void path_absolute(struct strbuf *out, const char *base, const char *path)
{
	strbuf_reset(out);
	if (path[0] != '/')
		append_clean(out, base);
	append_clean(out, path);
	if (!out->len)
		strbuf_addch(out, '/');
}

const char *path_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (len == 1 && root[0] == '/')
		return path + 1;
	if (strncmp(path, root, len))
		return NULL;
	if (!path[len])
		return path + len;
	return path[len] == '/' ? path + len + 1 : NULL;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_plain(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (!len || (len == 1 && path[0] == '.') ||
		    (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += len;
		if (*path && !*++path)
			return false;
	}
	return true;
}

bool path_has_dotgit(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 4 && !memcmp(path, ".git", 4))
			return true;
		path += len;
		path += strspn(path, "/");
	}
	return false;
}

char *path_real(const char *path)
{
	return realpath(path, NULL);
}

char *path_resolve(const char *path)
{
	char *head = xstrdup(path), *real, *slash, *result;

	while (!(real = path_real(head)) && (slash = strrchr(head, '/')) && slash > head)
		*slash = '\0';
	if (!real)
		result = xstrdup(path);
	else
		result = xstrfmt("%s%s", strcmp(real, "/") ? real : "", path + strlen(head));
	free(real);
	free(head);
	return result;
}

static void leave_dir(struct strbuf *path)
{
	const char *slash = strrchr(path->buf, '/');

	strbuf_setlen(path, slash ? (size_t)(slash - path->buf) : 0);
}

/* If `at` is a link, where it leads comes before what is still to go. */
static void follow_link(struct strbuf *at, struct strbuf *todo)
{
	char target[PATH_MAX];
	ssize_t size = readlink(at->buf, target, sizeof(target));

	if (size <= 0)
		return;
	strbuf_splice(todo, 0, 0, "/", 1);
	strbuf_splice(todo, 0, 0, target, (size_t)size);
	if (*target == '/')
		strbuf_reset(at);
	else
		leave_dir(at);
}

/* Far more than a path has; links may lead in circles. */
enum { STEPS_MAX = 10000 };

bool path_visits(const char *path, const char *dir)
{
	struct strbuf at = STRBUF_INIT, todo = STRBUF_INIT;
	bool visits = false;

	strbuf_addstr(&todo, path);
	for (int steps = 0; todo.len && !visits; steps++) {
		size_t len = strcspn(todo.buf, "/");
		char *name = xmemdupz(todo.buf, len);

		strbuf_splice(&todo, 0, len + (len < todo.len), NULL, 0);
		if (!strcmp(name, "..")) {
			leave_dir(&at);
		} else if (*name && strcmp(name, ".") != 0) {
			strbuf_addf(&at, "/%s", name);
			visits = path_below(at.buf, dir) || steps > STEPS_MAX;
			follow_link(&at, &todo);
		}
		free(name);
	}
	strbuf_release(&todo);
	strbuf_release(&at);
	return visits;
}
