/* SPDX-License-Identifier: MIT */
#include "hooks/install_internal.h"

#include "base/base.h"

#ifndef CKPT_DATADIR
#define CKPT_DATADIR "/usr/local/share/git-checkpoint"
#endif

/* The absolute path of this program, "" if it is unknown. */
static void get_own_path(char out[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 1);

	out[len < 0 ? 0 : len] = '\0';
}

/* Where the program is, first: another version may be installed elsewhere. */
static int read_shim(struct strbuf *out, const char *name)
{
	static const char *const places[] = { "/hooks", "/../share/git-checkpoint/hooks" };
	char exe[PATH_MAX], *slash, *path;
	int err = CKPT_ENOTFOUND;

	get_own_path(exe);
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < ARRAY_SIZE(places) && err; i++) {
		path = xstrfmt("%s%s/%s", exe, places[i], name);
		err = fs_read_linked(out, path);
		free(path);
	}
	if (err) {
		path = xstrfmt(CKPT_DATADIR "/hooks/%s", name);
		err = fs_read_linked(out, path);
		free(path);
	}
	return err ? ckpt_error_prefix(CKPT_ERROR, "git-checkpoint is not installed completely") : 0;
}

/* The line of `text` that starts with "# @", the name and `what`; `after` is the next line. */
static const char *find_mark(const char **after, const char *text, const char *name,
			     const char *what)
{
	char *mark = xstrfmt("# @%s%s", name, what);
	const char *at = text;

	while ((at = strstr(at, mark)) && at > text && at[-1] != '\n')
		at++;
	free(mark);
	*after = at ? strchrnul(at, '\n') : NULL;
	if (at && **after)
		++*after;
	return at;
}

bool shim_paste(struct strbuf *shim, const char *home, const char *name)
{
	const char *part, *end, *at, *after, *ignored;

	if (!find_mark(&part, home, name, " begins") ||
	    !(end = find_mark(&ignored, part, name, " ends")))
		return false;
	at = find_mark(&after, shim->buf, name, ":");
	if (at)
		strbuf_splice(shim, (size_t)(at - shim->buf), (size_t)(after - shim->buf), part,
			      (size_t)(end - part));
	return true;
}

bool shim_fill(struct strbuf *shim, const char *name, const char *value)
{
	char *begin = xstrfmt("\n%s='", name);
	struct strbuf filled = STRBUF_INIT, quoted = STRBUF_INIT;
	const char *line = strstr(shim->buf, begin);
	size_t start;

	free(begin);
	if (!line)
		return false;
	start = (size_t)(line - shim->buf) + 1;
	quote_shell(&quoted, value);
	strbuf_addf(&filled, *quoted.buf == '\'' ? "%s=%s" : "%s='%s'", name, quoted.buf);
	strbuf_splice(shim, start, start + strcspn(shim->buf + start, "\n"), filled.buf, filled.len);
	strbuf_release(&quoted);
	strbuf_release(&filled);
	return true;
}

static void fill_values(struct strbuf *text, const struct shim_values *values)
{
	char exe[PATH_MAX], seconds[32];

	get_own_path(exe);
	snprintf(seconds, sizeof(seconds), "%lld", (long long)values->seconds);
	/* For callers with another PATH: git in a graphical program. */
	shim_fill(text, "_ckpt_program", exe);
	shim_fill(text, "_ckpt_seconds", seconds);
	shim_fill(text, "_ckpt_answer", values->answer);
	shim_fill(text, "_ckpt_chosen", values->chosen);
	shim_fill(text, "_ckpt_events", values->events);
	shim_fill(text, "_ckpt_chain", values->chain);
}

int shim_file(struct strbuf *out, const char *name, const struct shim_values *values)
{
	struct strbuf home = STRBUF_INIT;
	int err = read_shim(out, name);

	/* The functions that run us are in one of the shims; the others refer to it. */
	if (!err)
		err = read_shim(&home, "pre-rebase");
	if (!err && !shim_paste(out, home.buf, "bounded"))
		err = ckpt_error_set(CKPT_ERROR, "the shims of git-checkpoint are damaged: they do "
						 "not fit together");
	if (!err)
		fill_values(out, values);
	strbuf_release(&home);
	return err;
}
