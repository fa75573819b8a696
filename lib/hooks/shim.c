/* SPDX-License-Identifier: MIT */
#include "hooks/install_internal.h"

#include "base/base.h"

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

void shim_make(struct strbuf *out, const char *name, const struct shim_values *values)
{
	const struct shim *shim = shims;
	ssize_t len;
	char exe[PATH_MAX], seconds[32];

	while (strcmp(shim->name, name) != 0)
		shim++;
	strbuf_addstr(out, shim->text);
	/* For callers with another PATH: git in a graphical program. */
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[len < 0 ? 0 : len] = '\0';
	snprintf(seconds, sizeof(seconds), "%" PRId64, values->seconds);
	shim_fill(out, "_ckpt_program", exe);
	shim_fill(out, "_ckpt_seconds", seconds);
	shim_fill(out, "_ckpt_answer", values->answer);
	shim_fill(out, "_ckpt_chosen", values->chosen);
	shim_fill(out, "_ckpt_events", values->events);
	shim_fill(out, "_ckpt_chain", values->chain);
}
