/* SPDX-License-Identifier: MIT */
/*
 * An index as gitformat-index(5) describes it. It is never split or sparse and
 * has no caches: git adds what the configuration asks for when it next writes it.
 */
#include "git/gitwrite.h"

#include "base/base.h"
#include "git/askgit.h"
#include "git/gitstate.h"
#include "git/gitwrite_internal.h"
#include "git/indexfile_internal.h"
#include "git/indexload_internal.h"
#include "git/repo.h"

/* One entry of the new index; strings are the tree listing's or the goal's. */
struct entry {
	const char *path, *oid;
	unsigned mode, stage, flags;
};

struct entries {
	struct entry *items;
	size_t nr, alloc;
};

static void add(struct entries *list, const struct entry *entry)
{
	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	list->items[list->nr++] = *entry;
}

static int compare(const void *a_, const void *b_)
{
	const struct entry *a = a_, *b = b_;
	int order = strcmp(a->path, b->path);

	return order ? order : (int)a->stage - (int)b->stage;
}

/* --- which entries --- */

/* "<mode> <type> <id>\t<path>" each; the ids end at the tab, which becomes a NUL. */
static void parse_tree(struct entries *out, struct strbuf *listing)
{
	for (char *at = listing->buf; at < listing->buf + listing->len;) {
		char *end = at + strlen(at), *tab = strchr(at, '\t'), *id;
		struct entry entry = { 0 };

		entry.mode = (unsigned)strtoul(at, &id, 8);
		if (tab && *id == ' ' && (id = strchr(id + 1, ' '))) {
			*tab = '\0';
			entry.oid = id + 1;
			entry.path = tab + 1;
			/* Old trees have other permission bits. */
			if ((entry.mode & 0170000) == 0100000)
				entry.mode = entry.mode & 0100 ? 0100755 : 0100644;
			add(out, &entry);
		}
		at = end + 1;
	}
}

static int list_tree(struct strbuf *out, const struct repo *repo, const char *tree)
{
	const char *const args[] = { "ls-tree", "-r", "-z", "--full-tree", tree, NULL };
	const struct gitrun how = { .gitdir = repo->gitdir, .worktree = repo->worktree };

	if (!askgit(out, &how, args))
		return 0;
	return ckpt_error_set(CKPT_ENOTFOUND, "the tree '%s' is not complete in the repository",
			      tree);
}

/* What the goal says about a path takes the place of the tree's entry. */
static void merge(struct entries *out, const struct entries *tree, const struct gitstate *goal)
{
	size_t i = 0, j = 0;

	while (i < tree->nr || j < goal->entries_nr) {
		const struct gitstate_entry *entry = &goal->entries[j];
		int order = i == tree->nr	    ? 1
			    : j == goal->entries_nr ? -1
						    : strcmp(tree->items[i].path, entry->path);

		if (order < 0) {
			add(out, &tree->items[i++]);
			continue;
		}
		if (!order)
			i++;
		/* All stages of the path. */
		for (const char *path = entry->path;
		     j < goal->entries_nr && !strcmp(goal->entries[j].path, path); j++) {
			const struct gitstate_entry *e = &goal->entries[j];

			if (e->mode)
				add(out, &(struct entry){ e->path, e->oid, e->mode, e->stage,
							  e->flags });
		}
	}
}

/* --- stat data --- */

/*
 * What git knows of the files: the stat data of an entry hold for every index
 * that has the same contents at that path. Those of a file that is not older
 * than the index prove nothing, and would if the index were newer.
 */
struct known {
	struct gitindex index;
	size_t at; /* entries before it were passed; both lists are sorted */
	struct stat st;
	bool usable;
	unsigned version;
};

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void known_open(struct known *known, const struct repo *repo)
{
	char *file = xstrfmt("%s/index", repo->gitdir);
	bool needs_git = false;

	memset(known, 0, sizeof(*known));
	known->index = (struct gitindex){ .hash_len = repo->sha256 ? SHA256_SIZE : OID_SIZE,
					  .names = ARENA_INIT };
	/* Before it is read: a newer index makes fewer entries usable, not more. */
	if (!stat(file, &known->st) &&
	    !indexfile_read(&known->index, &needs_git, file, repo->gitdir)) {
		known->version = get32((const unsigned char *)known->index.data[0] + 4);
		known->usable = !needs_git && !known->index.sparse;
	}
	free(file);
}

static const unsigned char *known_find(struct known *known, const struct entry *entry,
				       const unsigned char *id)
{
	const struct gitindex *index = &known->index;
	const unsigned char *raw;
	int order = -1;

	while (known->usable && known->at < index->nr &&
	       (order = strcmp(index->entries[known->at].name, entry->path)) < 0)
		known->at++;
	if (order || entry->stage || indexfile_stage(index, &index->entries[known->at]))
		return NULL;
	raw = index->entries[known->at].raw;
	if (memcmp(raw + INDEXFILE_OID, id, index->hash_len) ||
	    get32(raw + INDEXFILE_MODE) != entry->mode ||
	    (int64_t)get32(raw + INDEXFILE_MTIME) >= (int64_t)known->st.st_mtim.tv_sec)
		return NULL;
	return raw;
}

/* --- bytes --- */

static void put16(struct strbuf *out, unsigned value)
{
	strbuf_addch(out, (int)(value >> 8 & 0xff));
	strbuf_addch(out, (int)(value & 0xff));
}

static void put32(struct strbuf *out, uint32_t value)
{
	put16(out, value >> 16);
	put16(out, value & 0xffff);
}

/* Version 4: how much of the previous name to drop, then the rest of this one. */
static void put_compressed_name(struct strbuf *out, const char *previous, const char *path)
{
	unsigned char bytes[16], *p = bytes + sizeof(bytes);
	size_t common = 0, strip;

	while (previous[common] && previous[common] == path[common])
		common++;
	strip = strlen(previous) - common;
	*--p = strip & 0x7f;
	while (strip >>= 7)
		*--p = 0x80 | (--strip & 0x7f);
	strbuf_add(out, p, (size_t)(bytes + sizeof(bytes) - p));
	strbuf_add(out, path + common, strlen(path + common) + 1);
}

static void put_entry(struct strbuf *out, const struct entry *entry, const char *previous,
		      struct known *known, unsigned version)
{
	size_t start = out->len, len = strlen(entry->path), hash_len = known->index.hash_len;
	unsigned char id[SHA256_SIZE] = { 0 };
	const unsigned char *raw;
	unsigned flags, extended;

	(void)oid_hex_decode(id, entry->oid, hash_len);
	raw = known_find(known, entry, id);
	if (raw) {
		strbuf_add(out, raw, INDEXFILE_OID);
	} else {
		static const unsigned char nothing[INDEXFILE_OID];

		strbuf_add(out, nothing, INDEXFILE_MODE);
		put32(out, entry->mode);
		strbuf_add(out, nothing, INDEXFILE_OID - INDEXFILE_MODE - 4);
	}
	strbuf_add(out, id, hash_len);
	extended = (entry->flags & GITSTATE_SKIP_WORKTREE ? INDEXFILE_SKIP_WORKTREE : 0u) |
		   (entry->flags & GITSTATE_INTENT_TO_ADD ? INDEXFILE_INTENT_TO_ADD : 0u);
	flags = (entry->flags & GITSTATE_ASSUME_UNCHANGED ? INDEXFILE_ASSUME_VALID : 0u) |
		(extended ? INDEXFILE_EXTENDED : 0u) | entry->stage << INDEXFILE_STAGE_SHIFT |
		(unsigned)(len < INDEXFILE_NAME_MASK ? len : INDEXFILE_NAME_MASK);
	put16(out, flags);
	if (extended)
		put16(out, extended);
	if (version == 4) {
		put_compressed_name(out, previous, entry->path);
		return;
	}
	strbuf_add(out, entry->path, len);
	do
		strbuf_addch(out, '\0');
	while ((out->len - start) % 8);
}

/* How conflicts were resolved, for `git checkout -m`. */
static void put_resolved(struct strbuf *out, const struct gitstate *goal, size_t hash_len)
{
	struct strbuf body = STRBUF_INIT;

	for (size_t i = 0; i < goal->resolved_nr; i++) {
		const struct gitstate_resolved *resolved = &goal->resolved[i];

		strbuf_add(&body, resolved->path, strlen(resolved->path) + 1);
		for (int stage = 0; stage < 3; stage++) {
			strbuf_addf(&body, "%o", resolved->mode[stage]);
			strbuf_addch(&body, '\0');
		}
		for (int stage = 0; stage < 3; stage++) {
			unsigned char id[SHA256_SIZE] = { 0 };

			if (!resolved->mode[stage])
				continue;
			(void)oid_hex_decode(id, resolved->oid[stage], hash_len);
			strbuf_add(&body, id, hash_len);
		}
	}
	if (body.len) {
		strbuf_addstr(out, "REUC");
		put32(out, (uint32_t)body.len);
		strbuf_add(out, body.buf, body.len);
	}
	strbuf_release(&body);
}

/* The version of the present one, unless an entry needs more. */
static unsigned choose_version(const struct entries *entries, const struct known *known)
{
	for (size_t i = 0; i < entries->nr && known->version != 4; i++)
		if (entries->items[i].flags & (GITSTATE_SKIP_WORKTREE | GITSTATE_INTENT_TO_ADD))
			return 3;
	return known->version == 4 ? 4 : 2;
}

static void put_index(struct strbuf *out, const struct entries *entries,
		      const struct gitstate *goal, const struct repo *repo)
{
	enum hash_kind kind = repo->sha256 ? HASH_SHA256 : HASH_SHA1;
	unsigned char checksum[SHA256_SIZE];
	const char *previous = "";
	struct known known;
	unsigned version;

	known_open(&known, repo);
	version = choose_version(entries, &known);
	strbuf_addstr(out, "DIRC");
	put32(out, version);
	put32(out, (uint32_t)entries->nr);
	for (size_t i = 0; i < entries->nr; i++) {
		put_entry(out, &entries->items[i], previous, &known, version);
		previous = entries->items[i].path;
	}
	put_resolved(out, goal, known.index.hash_len);
	hash_buffer(kind, checksum, out->buf, out->len);
	strbuf_add(out, checksum, known.index.hash_len);
	indexfile_release(&known.index);
}

/* Everything that the new index would have. */
static int list_entries(struct entries *out, struct strbuf *listing, const struct repo *repo,
			const struct gitstate *goal)
{
	struct entries tree = { 0 };
	int err = goal->head_tree ? list_tree(listing, repo, goal->head_tree) : 0;

	if (!err) {
		parse_tree(&tree, listing);
		if (tree.nr)
			qsort(tree.items, tree.nr, sizeof(*tree.items), compare);
		merge(out, &tree, goal);
	}
	free(tree.items);
	return err;
}

static bool same_entry(const struct entry *entry, const struct gitindex *index, size_t i)
{
	const unsigned flags =
		GITSTATE_INTENT_TO_ADD | GITSTATE_SKIP_WORKTREE | GITSTATE_ASSUME_UNCHANGED;
	const struct index_entry *known = &index->entries[i];
	unsigned char id[SHA256_SIZE] = { 0 };

	(void)oid_hex_decode(id, entry->oid, index->hash_len);
	return !strcmp(entry->path, known->name) && entry->mode == indexfile_mode(known) &&
	       entry->stage == indexfile_stage(index, known) &&
	       !memcmp(id, known->raw + INDEXFILE_OID, index->hash_len) &&
	       (entry->flags & flags) == (indexfile_flags(index, known) & flags);
}

int gitwrite_index_is(bool *out, const struct repo *repo, const struct gitstate *goal)
{
	struct strbuf listing = STRBUF_INIT;
	struct entries entries = { 0 };
	const struct gitindex *index;
	int err = indexload(&index, repo->worktree, repo->gitdir, repo->sha256);

	*out = false;
	if (err)
		return err;
	err = list_entries(&entries, &listing, repo, goal);
	*out = !err && entries.nr == index->nr;
	for (size_t i = 0; i < entries.nr && *out; i++)
		*out = same_entry(&entries.items[i], index, i);
	indexload_release(index);
	strbuf_release(&listing);
	free(entries.items);
	return err;
}

int gitwrite_index_format(struct strbuf *out, const struct repo *repo, const struct gitstate *goal)
{
	struct entries entries = { 0 };
	struct strbuf listing = STRBUF_INIT;
	int err = list_entries(&entries, &listing, repo, goal);

	if (!err)
		put_index(out, &entries, goal, repo);
	free(entries.items);
	strbuf_release(&listing);
	return err;
}
