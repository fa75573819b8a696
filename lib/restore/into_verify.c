/* SPDX-License-Identifier: MIT */
/*
 * Whether a copy is right: it is scanned and read as a worktree would be, with no
 * rule that leaves anything out. Nothing that was remembered from writing it counts.
 */
#include "restore/into_internal.h"

#include "base/base.h"
#include "restore/restore_hash_internal.h"
#include "tree/tree.h"

static const struct plan nothing_kept;

static struct restore_hash hash_init(const struct into *into)
{
	return (struct restore_hash){
		.target = into->tree,
		.record = into->opts->target,
		.paths = &into->paths,
		.plan = &nothing_kept,
		.threads = into->session->threads,
	};
}

int into_hash_target(struct into *into)
{
	struct restore_hash check = hash_init(into);

	return restore_hash_target(into->out->target_hash, &check);
}

/* --- reading it --- */

static int read_copy(struct scan **out, struct into *into)
{
	struct rules_texts texts;
	struct rules_opts rules = { .config = into->session->gitconfig,
				    .texts = &texts,
				    .no_tracked = true,
				    .include_ignored = true,
				    .include_sensitive = true };
	struct scan_opts opts = { .threads = into->session->threads };
	struct ingest_opts ingest = { .store = into->session->store,
				      .once = true,
				      .threads = into->session->threads,
				      .progress = into->opts->progress };
	struct ingest_result read;
	char root[64];
	int err;

	/* Not by its name, which may mean something else by now. */
	snprintf(root, sizeof(root), "/proc/self/fd/%d", into->fd);
	opts.root = access(root, F_OK) ? into->out->path : root;
	rules.root = opts.root;
	rules_texts_init(&texts);
	err = rules_open(&opts.rules, &rules);
	if (!err)
		err = scan_run(out, &opts);
	if (!err) {
		ingest.scan = *out;
		err = ingest_run(&read, &ingest);
		if (err)
			scan_free(*out);
	}
	rules_close(opts.rules);
	rules_texts_release(&texts);
	return err;
}

static void drop_own(struct into *into, struct wt_dir *root)
{
	for (size_t i = 0; i < root->nr; i++)
		if (into_is_own(into, wt_entries(root)[i].name))
			wt_entries(root)[i].flags |= WT_DEAD;
	wt_compact(root);
}

/* --- comparing it --- */

static void note(struct into *into, const struct wt_dir *dir, const char *name)
{
	strlist_addf(&into->out->differing, "%s%s%s", dir->path, *dir->path ? "/" : "", name);
}

static bool same(const struct wt_entry *a, const struct wt_entry *b)
{
	return a->kind == b->kind && (a->kind == WT_LINK || a->mode == b->mode) &&
	       (a->kind == WT_DIR || oid_equal(&a->oid, &b->oid));
}

/* Both are in the order of trees, in which a directory and a file of one name are apart. */
static void compare(struct into *into, const struct wt_dir *target, const struct wt_dir *copy)
{
	size_t i = 0, j = 0;

	while (i < target->nr || j < copy->nr) {
		const struct wt_entry *a = &wt_entries(target)[i], *b = &wt_entries(copy)[j];
		int order = i == target->nr ? 1 : j == copy->nr ? -1 : wt_entry_compare(a, b);

		if (order <= 0 && !into_has(into, target, a)) {
			i++;
			continue;
		}
		if (order)
			note(into, target, order < 0 ? a->name : b->name);
		else if (!same(a, b))
			note(into, target, a->name);
		if (!order && a->kind == WT_DIR && b->kind == WT_DIR)
			compare(into, a->dir, b->dir);
		i += order <= 0;
		j += order >= 0;
	}
}

int into_verify(struct into *into)
{
	struct into_result *out = into->out;
	struct restore_hash check = hash_init(into);
	struct scan *scan = NULL;
	bool whole;
	int err = read_copy(&scan, into);

	if (err)
		return err;
	drop_own(into, scan->root);
	strlist_release(&out->differing);
	compare(into, into->tree->root, scan->root);
	for (size_t i = 0; i < scan->skips.nr; i++)
		strlist_add(&out->differing, scan->skips.items[i].path);
	strlist_sort_unique(&out->differing);
	restore_hash_worktree(out->post_hash, &whole, &check, scan->root);
	out->verified = true;
	out->match = !out->differing.nr && !strcmp(out->post_hash, out->target_hash);
	scan_free(scan);
	return 0;
}
