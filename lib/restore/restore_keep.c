/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

static const struct restore_guard *guard;

void restore_guard_with(const struct restore_guard *files)
{
	guard = files;
}

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

int restore_find_guarded(struct restore *r)
{
	struct strbuf now = STRBUF_INIT, then = STRBUF_INIT;
	int err = 0;

	strlist_release(&r->guarded);
	for (size_t i = 0; guard && guard->paths()[i] && !err; i++) {
		const char *path = guard->paths()[i];
		bool exists;

		strbuf_reset(&now);
		strbuf_reset(&then);
		if (!plan_concerns(&r->scope, path) || !read_current(&now, r, path))
			continue;
		err = read_target(&then, &exists, r, path);
		if (!err && guard->loses(path, &now, exists ? &then : NULL))
			strlist_add(&r->guarded, path);
	}
	strbuf_release(&now);
	strbuf_release(&then);
	return err;
}

const char *restore_protects(const char *path, enum wt_kind kind, void *payload)
{
	const struct restore *r = payload;

	for (size_t i = 0; i < r->guarded.nr; i++)
		if (!strcmp(r->guarded.items[i], path))
			return guard->why;
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
			plan_keep(&r->plan, r->guarded.items[i], guard->why);
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
