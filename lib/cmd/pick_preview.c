/* SPDX-License-Identifier: MIT */
#include "cmd/pick_internal.h"

#include "base/base.h"
#include "cmd/changes_internal.h"
#include "look/look.h"
#include "session/session.h"
#include "store/store.h"
#include "ui/ui.h"

enum {
	SHOWN = 6,	       /* paths, before the patch */
	LARGE = 256 << 10,     /* bytes of a file whose patch would take too long */
	LINE_MAX_BYTES = 1000, /* more is on no screen */
};

static void add_paths(struct strlist *out, const struct compare_list *changes)
{
	size_t back = 0, changed = 0, removed = 0;

	for (size_t i = 0; i < changes->nr; i++) {
		back += changes->items[i].kind == CHANGE_DELETED;
		removed += changes->items[i].kind == CHANGE_ADDED;
	}
	changed = changes->nr - back - removed;
	if (!changes->nr)
		strlist_add(out, "already as in this checkpoint: nothing to restore");
	else
		strlist_addf(out, "to restore: %zu to bring back, %zu to change, %zu to remove",
			     back, changed, removed);
	for (size_t i = 0; i < changes->nr && i < SHOWN; i++) {
		struct strbuf path = STRBUF_INIT;
		enum change_kind kind = changes->items[i].kind;

		quote_path(&path, changes->items[i].path);
		strlist_addf(out, "  %c %s",
			     kind == CHANGE_DELETED ? '+'
			     : kind == CHANGE_ADDED ? '-'
						    : '~',
			     path.buf);
		strbuf_release(&path);
	}
	if (changes->nr > SHOWN)
		strlist_addf(out, "  and %zu more paths", changes->nr - SHOWN);
}

/* --- the patch --- */

/* Nothing that a terminal would obey; a tab is as wide as it looks. */
static void add_line(struct strlist *out, const char *text, size_t len)
{
	struct strbuf clean = STRBUF_INIT, line = STRBUF_INIT;
	enum { TAB = 8 };

	utf8_printable(&clean, text, len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES, "\t", ' ');
	for (const char *p = clean.buf; *p; p++) {
		if (*p != '\t')
			strbuf_addch(&line, *p);
		else
			strbuf_addf(&line, "%*s", (int)(TAB - (line.len ? line.len - 1 : 0) % TAB),
				    "");
	}
	strlist_take(out, strbuf_detach(&line, NULL));
	strbuf_release(&clean);
}

static bool is_large(const struct diff *diff, const struct change *change)
{
	char *path = xstrfmt("%s/%s", diff->session->worktree, change->path);
	uint64_t size = 0;
	struct stat st;
	bool large = !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size > LARGE;

	free(path);
	if (!large && change->kind != CHANGE_ADDED && !change->is_dir)
		large = !objects_size(&size, diff->session->store, &change->old_oid) &&
			size > LARGE;
	return large;
}

static void add_patch(struct strlist *out, struct diff *diff)
{
	size_t end = out->nr + PICK_PATCH_LINES;

	for (size_t i = 0; i < diff->changes.nr && out->nr < end; i++) {
		struct change *change = &diff->changes.items[i];
		struct strbuf text = STRBUF_INIT;

		if (is_large(diff, change)) {
			quote_path(&text, change->path);
			strlist_addf(out, "'%s' is too large to be shown here", text.buf);
		} else if (!changes_add_patch(&text, diff, change)) {
			for (const char *p = text.buf; *p && out->nr < end;) {
				size_t len = strcspn(p, "\n");

				add_line(out, p, len);
				p += len + (p[len] == '\n');
			}
		}
		strbuf_release(&text);
	}
	if (out->nr == end)
		strlist_addf(out, "and more; 'git checkpoint diff' shows all");
}

const char *pick_preview_color(const struct pick_preview *preview, size_t line)
{
	const char *text = preview->lines.items[line];

	if (line < preview->patch)
		return "";
	if (!strncmp(text, "diff ", 5) || !strncmp(text, "---", 3) || !strncmp(text, "+++", 3))
		return term_color(TERM_BOLD);
	return *text == '+'   ? term_color(TERM_GREEN)
	       : *text == '-' ? term_color(TERM_RED)
	       : *text == '@' ? term_color(TERM_CYAN)
			      : "";
}

void pick_preview_make(struct pick_preview *out, struct session *session,
		       const struct ckpt_record *record, const struct pathspec *only)
{
	char time[CLOCK_ISO_SIZE], *title = title_of(record);
	struct strlist *lines = &out->lines;
	struct diff diff;

	strlist_addf(lines, "%s  %s  %s", record->id, clock_format_iso(time, record->created_at),
		     record->source);
	strlist_addf(lines, "    %s", title);
	if (record->state_only)
		strlist_add(lines, "it holds only state: no file would be touched");
	else if (diff_worktree(&diff, session, record, only, NULL))
		strlist_add(lines, ckpt_error_last());
	else {
		add_paths(lines, &diff.changes);
		out->patch = lines->nr;
		add_patch(lines, &diff);
		diff_release(&diff);
	}
	if (!out->patch)
		out->patch = lines->nr;
	free(title);
}
