/* SPDX-License-Identifier: MIT */
#include "store/ingest.h"

#include "store/objects.h"
#include "store/pack.h"

/*
 * A directory's tree needs the trees of those below it, so directories are
 * taken level by level, the deepest first; those of one level at the same time.
 */
struct level {
	struct wt_dir **dirs;
	size_t nr, alloc;
};

struct trees {
	struct level *levels;
	size_t nr, alloc;
	const struct level *level; /* the current one */
	struct pack *pack;
	struct digest **sha1;      /* one for each worker */
	struct strbuf *bytes;      /* likewise */
};

static void collect_dirs(struct trees *trees, struct wt_dir *dir, size_t depth)
{
	struct level *level;

	if (dir->known)
		return;
	if (depth >= trees->nr) {
		ALLOC_GROW(trees->levels, depth + 1, trees->alloc);
		trees->levels[trees->nr++] = (struct level){ 0 };
	}
	level = &trees->levels[depth];
	*ALLOC_NEXT(level->dirs, level->nr, level->alloc) = dir;
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			collect_dirs(trees, wt_entries(dir)[i].dir, depth + 1);
}

static const char *mode_text(unsigned mode)
{
	switch (mode) {
	case 0040000:
		return "40000 ";
	case 0100755:
		return "100755 ";
	case 0120000:
		return "120000 ";
	default:
		return "100644 ";
	}
}

static int build_tree(size_t index, unsigned worker, void *payload)
{
	struct trees *trees = payload;
	struct wt_dir *dir = trees->level->dirs[index];
	struct strbuf *out = &trees->bytes[worker];
	int err = 0;

	strbuf_reset(out);
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		const struct oid *oid = entry->kind == WT_DIR ? &entry->dir->tree : &entry->oid;

		strbuf_addstr(out, mode_text(wt_git_mode(entry)));
		strbuf_add(out, entry->name, entry->name_len + 1);
		strbuf_add(out, oid->id, OID_SIZE);
	}
	hash_object(trees->sha1[worker], &dir->tree, "tree", out->buf, out->len);
	if (trees->pack)
		err = pack_add(trees->pack, worker, OBJECT_TREE, &dir->tree, out->buf, out->len);
	dir->known = !err;
	return err;
}

int ingest_trees(struct wt_dir *root, struct pack *pack, unsigned threads)
{
	struct trees trees = { .pack = pack };
	int err = 0;

	collect_dirs(&trees, root, 0);
	if (!trees.nr)
		return 0;
	trees.sha1 = xcalloc(threads, sizeof(*trees.sha1));
	trees.bytes = xcalloc(threads, sizeof(*trees.bytes));
	for (unsigned i = 0; i < threads; i++) {
		trees.sha1[i] = hash_new(HASH_SHA1);
		strbuf_init(&trees.bytes[i]);
	}
	for (size_t depth = trees.nr; depth-- && !err;) {
		trees.level = &trees.levels[depth];
		/* A few are not worth a thread. */
		err = pool_for(trees.level->nr < 64 ? 1 : threads, trees.level->nr, build_tree, &trees);
	}
	for (unsigned i = 0; i < threads; i++) {
		hash_free(trees.sha1[i]);
		strbuf_release(&trees.bytes[i]);
	}
	for (size_t i = 0; i < trees.nr; i++)
		free(trees.levels[i].dirs);
	free(trees.levels);
	free(trees.sha1);
	free(trees.bytes);
	return err;
}
