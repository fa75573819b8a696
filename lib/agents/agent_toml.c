/* SPDX-License-Identifier: MIT */
#include "agents/agent_toml_internal.h"

#include "agents/agent_entry_internal.h"
#include "base/base.h"

#define SAVE "git checkpoint save --source codex"

enum version { OLDER, CURRENT, VERSIONS };

/* Exactly; the last line without its end. */
static const char *const written[] = {
	"# >>> git-checkpoint >>>",
	"[[hooks.PreToolUse]]",
	"matcher = \"Bash|apply_patch\"",
	"",
	"[[hooks.PreToolUse.hooks]]",
	"type = \"command\"",
	("command = \"cat >/dev/null; " SAVE "%s -q -m pre-tool >/dev/null 2>&1 || true\""),
	"timeout = 30",
	"# <<< git-checkpoint <<<",
};

static bool ends_line(const struct strbuf *text, size_t pos)
{
	return pos == text->len || text->buf[pos] == '\n' ||
	       (text->buf[pos] == '\r' && text->buf[pos + 1] == '\n');
}

/* The last place where the lines occur. */
static bool find_written(size_t *begin, size_t *end, const struct strbuf *text, const char *eol,
			 enum version version)
{
	const char *at = text->buf, *limit = text->buf + text->len;
	struct strbuf block = STRBUF_INIT;
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(written); i++) {
		const char *option = strstr(written[i], "%s");
		size_t len = option ? (size_t)(option - written[i]) : strlen(written[i]);

		strbuf_addstr(&block, i ? eol : "");
		strbuf_add(&block, written[i], len);
		if (option)
			strbuf_addf(&block, "%s%s", version == CURRENT ? AGENT_OPTION : "",
				    option + 2);
	}
	for (; (at = memmem(at, (size_t)(limit - at), block.buf, block.len)); at++) {
		size_t pos = (size_t)(at - text->buf);

		if ((!pos || at[-1] == '\n') && ends_line(text, pos + block.len)) {
			*begin = pos;
			*end = pos + block.len;
			found = true;
		}
	}
	strbuf_release(&block);
	return found;
}

/* Before the line end that ends at `pos`, if it is `eol`. */
static size_t before_eol(const struct strbuf *text, size_t pos, const char *eol)
{
	size_t len = strlen(eol);

	return pos >= len && !memcmp(text->buf + pos - len, eol, len) ? pos - len : pos;
}

static bool remove_with(struct strbuf *text, const char *eol, enum version version)
{
	size_t begin, end, blank;

	if (!find_written(&begin, &end, text, eol, version))
		return false;
	if (end < text->len)
		end += text->buf[end] == '\r' ? 2 : 1;
	else
		begin = before_eol(text, begin, eol); /* the file did not end in a newline */
	blank = before_eol(text, begin, eol);
	/* An empty line, not the end of a line with text. */
	if (blank < begin && (end == text->len || (blank && text->buf[blank - 1] == '\n')))
		begin = blank;
	strbuf_splice(text, begin, end, NULL, 0);
	return true;
}

bool agent_toml_remove(struct strbuf *text)
{
	bool removed = false;

	for (enum version v = OLDER; v < VERSIONS && !removed; v++)
		removed = remove_with(text, "\n", v) || remove_with(text, "\r\n", v);
	return removed;
}

bool agent_toml_has_hooks(const struct strbuf *text)
{
	for (const char *p = text->buf; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		p += strspn(p, " \t[");
		/* The list of trusted hooks is not a hook: Codex writes it itself. */
		if (!strncmp(p, "hooks", 5) && p[5] && strchr(".] \t=", p[5]) &&
		    strncmp(p, "hooks.state", 11))
			return true;
	}
	return false;
}
