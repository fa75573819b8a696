/* SPDX-License-Identifier: MIT */
#include "cmd/inside_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"
#include "tree/tree.h"

static const char *find_colon(const char *typed)
{
	const char *from = typed, *turn = strstr(typed, "/turn:");

	if (!strncmp(typed, "session:", 8))
		from = turn ? turn + 6 : typed + 8;
	else if (!strncmp(typed, "step:", 5) || !strncmp(typed, "turn:", 5))
		from += 5;
	else if (!strncmp(typed, "@{", 2))
		from += strcspn(typed, "}");
	return strchr(from, ':');
}

bool inside_is(const char *typed)
{
	const char *colon = find_colon(typed);

	return colon && colon != typed;
}

const char *inside_path(const char *typed)
{
	return find_colon(typed) + 1;
}

int inside_top(struct strbuf *out, const struct session *session, const char *typed)
{
	strbuf_reset(out);
	if (!strncmp(typed, "./", 2) || !strncmp(typed, "../", 3))
		return session_path(out, session, typed);
	strbuf_addstr(out, typed);
	while (out->len && out->buf[out->len - 1] == '/')
		out->buf[--out->len] = '\0';
	return 0;
}

static int find_entry(struct wt_entry **out, struct snapshot *snapshot, const char *path)
{
	int err = snapshot_find(out, snapshot, path);

	if (!err && !*out)
		err = ckpt_error_set(CKPT_ENOTFOUND, "path '%s' is not in checkpoint '%s'", path,
				     snapshot->id);
	return err;
}

/* The path that was typed; in a subdirectory it is easy to forget that it is from the top. */
static int find_typed(struct snapshot *snapshot, const struct session *session, const char *typed,
		      const char *path)
{
	char *here = xstrfmt("./%s", inside_path(typed));
	struct strbuf below = STRBUF_INIT;
	struct wt_entry *entry = NULL;
	int err = find_entry(&entry, snapshot, path);

	if (err == CKPT_ENOTFOUND) {
		if (*path != '/' && !inside_top(&below, session, here) &&
		    strcmp(below.buf, path) != 0 && !snapshot_find(&entry, snapshot, below.buf) &&
		    entry)
			err = ckpt_error_set(CKPT_ENOTFOUND,
					     "path '%s' is not in checkpoint '%s', but '%s' is: "
					     "did you mean '%.*s%s'?",
					     path, snapshot->id, below.buf,
					     (int)(inside_path(typed) - typed), typed, here);
		else
			err = find_entry(&entry, snapshot, path);
	}
	strbuf_release(&below);
	free(here);
	return err;
}

int inside_find(struct ckpt_record *out, struct strbuf *path, struct session *session,
		const char *typed)
{
	const char *colon = find_colon(typed);
	char *name = xmemdupz(typed, (size_t)(colon - typed));
	int err = session_lookup(out, session->store, name);
	struct snapshot *snapshot = NULL;

	free(name);
	if (err)
		return err;
	if (out->state_only)
		err = ckpt_error_set(CKPT_ERROR, "checkpoint '%s' holds only state, no files",
				     out->id);
	if (!err)
		err = inside_top(path, session, colon + 1);
	if (!err)
		err = snapshot_open(&snapshot, session->store, out);
	if (!err && path->len)
		err = find_typed(snapshot, session, typed, path->buf);
	snapshot_free(snapshot);
	if (err) {
		record_release(out);
		*out = (struct ckpt_record)CKPT_RECORD_INIT;
	}
	return err;
}

static int write_bytes(const void *data, size_t len, void *payload)
{
	(void)payload;
	return fwrite(data, 1, len, stdout) == len ? 0 : CKPT_ERROR;
}

static int print_directory(struct snapshot *snapshot, struct wt_dir *dir)
{
	int err = snapshot_expand(snapshot, dir);

	for (size_t i = 0; !err && i < dir->nr; i++) {
		struct strbuf shown = STRBUF_INIT;

		quote_path(&shown, wt_entries(dir)[i].name);
		printf("%s%s\n", shown.buf, wt_entries(dir)[i].kind == WT_DIR ? "/" : "");
		strbuf_release(&shown);
	}
	return err;
}

int inside_print(struct session *session, const struct ckpt_record *record, const char *path)
{
	struct snapshot *snapshot;
	struct wt_entry *entry = NULL;
	int err = snapshot_open(&snapshot, session->store, record);

	if (err)
		return err;
	if (*path)
		err = find_entry(&entry, snapshot, path);
	if (!err && (!entry || entry->kind == WT_DIR))
		err = print_directory(snapshot, entry ? entry->dir : snapshot->root);
	else if (!err)
		err = objects_stream(session->store, &entry->oid, write_bytes, NULL);
	snapshot_free(snapshot);
	/* A write that failed is reported with the others. */
	return ferror(stdout) ? 0 : err;
}
