/* SPDX-License-Identifier: MIT */
#include "remote/pushed_internal.h"

#include "base/base.h"
#include "remote/remotes.h"
#include "session/session.h"
#include "store/store.h"

int pushed_read(struct strlist *out, struct store *store, const char *remote)
{
	struct strbuf text = STRBUF_INIT;
	char *line, *rest = NULL;
	size_t len = strlen(remote);
	int err = fs_read_text(&text, store->dirfd, LAYOUT_PUSHED);

	for (line = err ? NULL : strtok_r(text.buf, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, remote, len) && line[len] == ' ' &&
		    refs_valid_id(line + len + 1))
			strlist_add(out, line + len + 1);
	strlist_sort_unique(out);
	strbuf_release(&text);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

int pushed_note(struct session *session, const char *remote, const struct strlist *ids)
{
	struct strlist known = STRLIST_INIT;
	struct strbuf lines = STRBUF_INIT;
	struct store *store = session->store;
	int err = ids->nr ? store_lock(store, session->settings.lock_timeout) : 0;

	if (err || !ids->nr)
		return err;
	err = pushed_read(&known, store, remote);
	for (size_t i = 0; i < ids->nr && !err; i++)
		if (!pathset_has(&known, ids->items[i]))
			strbuf_addf(&lines, "%s %s\n", remote, ids->items[i]);
	if (lines.len)
		err = fs_append_line(store->dirfd, LAYOUT_PUSHED, lines.buf, lines.len, 0600);
	store_unlock(store);
	strbuf_release(&lines);
	strlist_release(&known);
	return err;
}

static bool is_sound(const char *line, size_t len)
{
	const char *space = memchr(line, ' ', len);
	char *name = space ? xmemdupz(line, (size_t)(space - line)) : NULL;
	char *id = space ? xmemdupz(space + 1, len - (size_t)(space + 1 - line)) : NULL;
	bool sound = space && remotes_name_valid(name) && strlen(id) + 1 + strlen(name) == len &&
		     refs_valid_id(id);

	free(name);
	free(id);
	return sound;
}

size_t pushed_salvage(struct strbuf *out, const char *text, size_t len)
{
	size_t at = 0, bad = 0;

	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t line_len = end ? (size_t)(end - text) - at : len - at;

		if (end && is_sound(text + at, line_len))
			strbuf_add(out, text + at, line_len + 1);
		else
			bad++;
		at += line_len + 1;
	}
	return bad;
}
