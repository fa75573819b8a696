/* SPDX-License-Identifier: MIT */
#include "hooks/shim_internal.h"

#include "base/base.h"
#include "hooks/hook_file_internal.h"

#ifndef CKPT_DATADIR
#define CKPT_DATADIR "/usr/local/share/git-checkpoint"
#endif

/* The absolute path of this program, "" if it is unknown. */
static void own_path(char out[PATH_MAX])
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

	own_path(exe);
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
	if (err)
		err = ckpt_error_prefix(CKPT_ERROR, "git-checkpoint is not installed completely");
	return err;
}

/* The function that runs us is in one of the shims; the others refer to it. */
static int paste_shared(struct strbuf *text)
{
	struct strbuf home = STRBUF_INIT;
	int err = read_shim(&home, "pre-rebase");

	if (!err && !hook_file_paste(text, home.buf, "bounded"))
		err = ckpt_error_set(CKPT_ERROR, "the shims of git-checkpoint are damaged: they do "
				     "not fit together");
	strbuf_release(&home);
	return err;
}

static void fill(struct strbuf *text, const struct shim_values *values)
{
	char exe[PATH_MAX], seconds[32];

	own_path(exe);
	snprintf(seconds, sizeof(seconds), "%lld", (long long)values->seconds);
	/* For callers with another PATH: git in a graphical program. */
	hook_file_fill(text, "_ckpt_program", exe);
	hook_file_fill(text, "_ckpt_seconds", seconds);
	hook_file_fill(text, "_ckpt_answer", values->answer);
	if (values->events)
		hook_file_fill(text, "_ckpt_events", values->events);
	if (values->chain)
		hook_file_fill(text, "_ckpt_chain", values->chain);
}

int shim_file(struct strbuf *out, const char *name, const struct shim_values *values)
{
	struct strbuf text = STRBUF_INIT;
	int err = read_shim(&text, name);

	if (!err)
		err = paste_shared(&text);
	if (!err) {
		fill(&text, values);
		strbuf_add(out, text.buf, text.len);
	}
	strbuf_release(&text);
	return err;
}

int shim_lines(struct strbuf *out, const char *name, const struct shim_values *values)
{
	struct strbuf file = STRBUF_INIT;
	int err = shim_file(&file, name, values);

	if (!err && !hook_file_lines(out, file.buf, file.len))
		err = ckpt_error_set(CKPT_ERROR, "the shim '%s' is damaged: it has no marked lines",
				     name);
	strbuf_release(&file);
	return err;
}
