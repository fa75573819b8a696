/* SPDX-License-Identifier: MIT */
#include "store/reach.h"

#include "store/objects.h"
#include "store/oidset.h"
#include "store/packs.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

struct reached {
	uint32_t owner;
	const char *name; /* in a tree; "" for commits and roots */
};

struct reach {
	struct store *store;
	struct oidset oids;    /* in the order in which they were found */
	struct reached *items; /* about each of these */
	size_t alloc;
	struct arena names;
	uint64_t *bytes; /* of each owner, once asked for */
	uint32_t owners;
	bool damaged;
	double deadline; /* 0: none */
};

struct reach *reach_new(struct store *store)
{
	struct reach *reach = xcalloc(1, sizeof(*reach));

	reach->store = store;
	return reach;
}

void reach_free(struct reach *reach)
{
	if (!reach)
		return;
	oidset_release(&reach->oids);
	free(reach->items);
	free(reach->bytes);
	arena_release(&reach->names);
	free(reach);
}

void reach_limit(struct reach *reach, double seconds)
{
	reach->deadline = clock_monotonic() + seconds;
}

/* True if it was not there before. */
static bool note_object(struct reach *reach, const struct oid *oid, uint32_t owner,
			const char *name)
{
	if (!oidset_add(&reach->oids, oid))
		return false;
	ALLOC_GROW(reach->items, reach->oids.nr, reach->alloc);
	reach->items[reach->oids.nr - 1] = (struct reached){
		.owner = owner,
		.name = *name ? arena_memdupz(&reach->names, name, strlen(name)) : "",
	};
	free(reach->bytes);
	reach->bytes = NULL;
	if (owner >= reach->owners)
		reach->owners = owner + 1;
	return true;
}

bool reach_has(const struct reach *reach, const struct oid *oid)
{
	return oidset_has(&reach->oids, oid);
}

size_t reach_count(const struct reach *reach)
{
	return reach->oids.nr;
}

const struct oid *reach_at(const struct reach *reach, size_t index, const char **name_out)
{
	*name_out = reach->items[index].name;
	return &reach->oids.items[index];
}

bool reach_damaged(const struct reach *reach)
{
	return reach->damaged;
}

/* --- the walk --- */

/* What cannot be read may lead anywhere. */
static int note_unreadable(struct reach *reach, int err)
{
	reach->damaged = true;
	return err == CKPT_ECANCELLED ? err : 0;
}

static bool time_is_up(const struct reach *reach)
{
	return reach->deadline > 0 && clock_monotonic() > reach->deadline;
}

/* What is noted but not followed yet: a history may have any length, a tree any depth. */
struct pending {
	struct oid *items;
	size_t nr, alloc;
};

static void add_pending(struct reach *reach, struct pending *pending, const struct oid *oid,
			uint32_t owner, const char *name)
{
	if (!note_object(reach, oid, owner, name))
		return;
	*ALLOC_NEXT(pending->items, pending->nr, pending->alloc) = *oid;
}

static void follow_tree(struct reach *reach, struct pending *pending, const struct strbuf *tree,
			uint32_t owner)
{
	struct tree_entry entry;
	size_t at = 0;
	int more;

	while ((more = objects_tree_next(&entry, tree, &at)) > 0) {
		if (entry.mode == 040000)
			add_pending(reach, pending, &entry.oid, owner, entry.name);
		else if (entry.mode != 0160000)
			(void)note_object(reach, &entry.oid, owner, entry.name);
	}
	if (more < 0)
		reach->damaged = true;
}

static int follow_object(struct reach *reach, struct pending *pending, const struct oid *from,
			 uint32_t owner)
{
	struct strbuf text = STRBUF_INIT;
	enum object_type type = OBJECT_BLOB;
	struct oid oid;
	const char *p;
	int err = objects_read_any(&text, &type, reach->store, from);

	p = text.buf;
	if (err) {
		err = note_unreadable(reach, err);
	} else if (type == OBJECT_TREE) {
		follow_tree(reach, pending, &text, owner);
	} else if (type == OBJECT_TAG && objects_take_line(&p, "object ", &oid)) {
		add_pending(reach, pending, &oid, owner, "");
	} else if (type == OBJECT_COMMIT && objects_take_line(&p, "tree ", &oid)) {
		add_pending(reach, pending, &oid, owner, "");
		while (objects_take_line(&p, "parent ", &oid))
			add_pending(reach, pending, &oid, owner, "");
	} else if (type != OBJECT_BLOB) {
		reach->damaged = true;
	}
	strbuf_release(&text);
	return err;
}

int reach_add(struct reach *reach, const struct oid *root, uint32_t owner)
{
	struct pending pending = { 0 };
	int err = 0;

	add_pending(reach, &pending, root, owner, "");
	for (size_t i = 0; i < pending.nr && !err; i++) {
		struct oid from = pending.items[i]; /* they may move */

		err = time_is_up(reach) ? 1 : cancel_check();
		if (!err)
			err = follow_object(reach, &pending, &from, owner);
	}
	free(pending.items);
	return err;
}

/* --- other refs --- */

/* If it exists but cannot be read, it may lead anywhere; one that leads to another one adds nothing. */
static int add_ref(struct reach *reach, const char *name, uint32_t owner)
{
	struct oid oid;
	int err = refs_read(&oid, reach->store, name);

	if (!err)
		return reach_add(reach, &oid, owner);
	return err == CKPT_ENOTFOUND ? 0 : note_unreadable(reach, err);
}

/* `git worktree add` is one way to look at a checkpoint. */
static int add_worktrees(struct reach *reach, uint32_t owner)
{
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (fs_names(&names, reach->store->dirfd, "worktrees", O_NOFOLLOW, NULL) < 0 &&
	    errno != ENOENT)
		reach->damaged = true;
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *path = xstrfmt("worktrees/%s/HEAD", names.items[i]);

		if (names.items[i][0] != '.')
			err = add_ref(reach, path, owner);
		free(path);
	}
	strlist_release(&names);
	return err;
}

int reach_add_refs(struct reach *reach, uint32_t owner)
{
	struct strlist refs = STRLIST_INIT;
	int err = 0;

	if (refs_below(&refs, reach->store, "refs") || packed_refs_damaged(reach->store))
		reach->damaged = true;
	for (size_t i = 0; i < refs.nr && !err; i++)
		err = add_ref(reach, refs.items[i], owner);
	strlist_release(&refs);
	if (!err)
		err = add_ref(reach, "HEAD", owner);
	return err ? err : add_worktrees(reach, owner);
}

/* --- bytes --- */

static void count_bytes(struct reach *reach)
{
	struct packs *packs = reach->store->packs;

	reach->bytes = xcalloc(reach->owners ? reach->owners : 1, sizeof(*reach->bytes));
	for (size_t i = 0; i < packs_count(packs); i++) {
		struct pack_contents contents;

		if (packs_contents(&contents, packs, i))
			continue;
		for (size_t j = 0; j < contents.nr; j++) {
			int64_t at = oidset_find(&reach->oids, &contents.items[j].oid);

			if (at >= 0)
				reach->bytes[reach->items[at].owner] += contents.items[j].len;
		}
		packs_contents_release(&contents);
	}
}

uint64_t reach_bytes(struct reach *reach, uint32_t owner)
{
	if (owner >= reach->owners)
		return 0;
	if (!reach->bytes)
		count_bytes(reach);
	return reach->bytes[owner];
}
