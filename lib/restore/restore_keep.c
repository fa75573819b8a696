/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

/* As it is on the disk; false if it is something else, or cannot be read: then nothing is known of it. */
static bool read_current(struct strbuf *out, const struct restore *r, const char *path)
{
	const struct wt_entry *entry = wt_find(r->job.current.scan->root, path);
	const char *name;
	int fd, err;

	if (!entry || entry->kind != WT_FILE)
		return false;
	fd = beneath_open_parent(r->job.current.scan->rootfd, path, &name);
	if (fd < 0)
		return false;
	err = fs_read_file(out, fd, name);
	close(fd);
	return !err;
}

static int read_target(struct strbuf *out, bool *exists, struct restore *r, const char *path)
{
	struct wt_entry *entry = NULL;
	int err = snapshot_find(&entry, r->target.tree, path);

	*exists = !err && entry && entry->kind == WT_FILE;
	return *exists ? objects_read(out, r->session->store, &entry->oid, OBJECT_BLOB) : err;
}

static int find_if_guarded(struct restore *r, const struct restore_kept *kept)
{
	struct strbuf now = STRBUF_INIT, then = STRBUF_INIT;
	bool exists, has = plan_concerns(&r->scope, kept->path) && read_current(&now, r, kept->path) &&
			   strstr(now.buf, kept->word);
	int err = has ? read_target(&then, &exists, r, kept->path) : 0;

	if (!err && has && !strstr(then.buf, kept->word))
		strlist_add(&r->guarded, kept->path);
	strbuf_release(&now);
	strbuf_release(&then);
	return err;
}

int restore_find_guarded(struct restore *r)
{
	const struct restore_kept *kept = r->opts->kept;
	int err = 0;

	strlist_release(&r->guarded);
	for (; kept && kept->path && !err; kept++)
		err = find_if_guarded(r, kept);
	return err;
}

static const char *why_guarded(const struct restore *r, const char *path)
{
	const struct restore_kept *kept = r->opts->kept;

	while (strcmp(kept->path, path) != 0)
		kept++;
	return kept->why;
}

const char *restore_protects(const char *path, enum wt_kind kind, void *payload)
{
	const struct restore *r = payload;

	for (size_t i = 0; i < r->guarded.nr; i++)
		if (!strcmp(r->guarded.items[i], path))
			return why_guarded(r, path);
	return protect_path(path, kind, r->protect);
}

/* What is hidden cannot be written, and what would be is not seen. */
static int keep_phantoms(struct restore *r)
{
	const struct skip_list *skips = &r->job.current.scan->skips;
	int err = 0;

	for (size_t i = 0; i < skips->nr && !err; i++) {
		struct wt_entry *entry = NULL;

		if (skips->items[i].why != SKIP_MOUNT ||
		    !plan_concerns(&r->scope, skips->items[i].path))
			continue;
		err = snapshot_find(&entry, r->target.tree, skips->items[i].path);
		if (!err && entry)
			plan_keep(&r->plan, skips->items[i].path, "hidden by an empty mount");
	}
	return err;
}

int restore_keep_apart(struct restore *r)
{
	for (size_t i = 0; i < r->guarded.nr; i++)
		if (!plan_keeps(&r->plan, r->guarded.items[i]))
			plan_keep(&r->plan, r->guarded.items[i],
				  why_guarded(r, r->guarded.items[i]));
	return keep_phantoms(r);
}

bool restore_hides(const struct restore *r)
{
	const struct skip_list *skips = &r->job.current.scan->skips;

	for (size_t i = 0; i < skips->nr; i++)
		if (skips->items[i].why == SKIP_MOUNT && plan_keeps(&r->plan, skips->items[i].path))
			return true;
	return false;
}
