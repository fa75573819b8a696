/* SPDX-License-Identifier: MIT */
#include "model.h"

#include "crashlog.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SECTOR = 512, PAGE = 4096, DEVICES = 16 };

#define NEVER SIZE_MAX
#define RENAME_NOREPLACE_FLAG 1u
#define RENAME_EXCHANGE_FLAG 2u

const char *const choice_names[CHOICES] = { "none", "all",  "names", "bytes",
					    "zero", "lose", "keep",  "rand" };
const char *const model_names[3] = { "strict", "ext4", "ext4-two" };

enum change_kind {
	CH_WRITE,
	CH_SIZE,
	CH_MODE,
	CH_TIME,
	CH_NAMES,
};

struct assign {
	char *name;
	int node; /* -1: gone */
};

struct change {
	enum change_kind kind;
	size_t at; /* record that made it */
	int node;  /* for CH_NAMES the directory */
	int dev;
	uint64_t offset; /* CH_WRITE; or the size, the mode */
	uint64_t mtime;
	unsigned char *data;
	size_t len;
	uint64_t size_before; /* CH_WRITE: what is beyond needs new blocks */
	struct assign names[2];
	int names_nr;
	size_t synced;   /* record that made it certain */
	size_t replaced; /* CH_WRITE: a rename over another file after it */
};

/* A sync of ext4: from record `at` on the journal is at least at `upto`. */
struct commit {
	size_t at, upto;
	int dev; /* -1: all */
};

struct history {
	struct node *first; /* the tree before */
	int *devs;
	size_t nodes, nodes_alloc;
	size_t first_nr;
	struct change *changes;
	size_t nr, alloc;
	struct commit *commits;
	size_t commits_nr, commits_alloc;
	struct phase *phases;
	size_t phases_nr;
	size_t records;

	/* while reading: the tree as a process sees it */
	struct state live;
	uint64_t *inos; /* of nodes; a later one hides an earlier one */
	size_t *last_meta, *last_names;
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "crash-replay: %s: %s\n", what, name);
	exit(125);
}

static void *grow(void *items, size_t nr, size_t *alloc, size_t size)
{
	if (nr < *alloc)
		return items;
	*alloc = *alloc ? *alloc * 2 : 64;
	items = realloc(items, *alloc * size);
	if (!items)
		die("out of memory", "");
	return items;
}

static void *copy(const void *data, size_t len)
{
	char *p = malloc(len + 1);

	if (!p)
		die("out of memory", "");
	if (len)
		memcpy(p, data, len);
	p[len] = '\0';
	return p;
}

uint64_t chance(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* ---- trees --------------------------------------------------------------------------------- */

static int lookup(const struct node *dir, const char *name)
{
	for (size_t i = 0; i < dir->nr; i++)
		if (!strcmp(dir->entries[i].name, name))
			return dir->entries[i].node;
	return -1;
}

static void set_name(struct node *dir, const char *name, int node)
{
	for (size_t i = 0; i < dir->nr; i++) {
		if (strcmp(dir->entries[i].name, name))
			continue;
		if (node >= 0)
			dir->entries[i].node = node;
		else
			dir->entries[i] = dir->entries[--dir->nr];
		return;
	}
	if (node < 0)
		return;
	dir->entries = grow(dir->entries, dir->nr, &dir->alloc, sizeof(*dir->entries));
	dir->entries[dir->nr++] = (struct entry){ name, node };
}

static void set_size(struct node *node, size_t len)
{
	unsigned char *data;

	if (len == node->len && node->owned)
		return;
	data = calloc(1, len + 1);
	if (!data)
		die("out of memory", "");
	if (node->len)
		memcpy(data, node->data, len < node->len ? len : node->len);
	if (node->owned)
		free(node->data);
	node->data = data;
	node->len = len;
	node->owned = true;
}

static void set_bytes(struct node *node, uint64_t offset, const void *data, size_t len)
{
	size_t end = (size_t)offset + len;

	set_size(node, end > node->len ? end : node->len);
	if (data)
		memcpy(node->data + offset, data, len);
	else
		memset(node->data + offset, 0, len);
}

static void node_copy(struct node *out, const struct node *from)
{
	*out = *from;
	out->owned = false;
	out->alloc = from->nr;
	out->entries = from->nr ? copy(from->entries, from->nr * sizeof(*from->entries)) : NULL;
}

void state_release(struct state *state)
{
	for (size_t i = 0; i < state->nr; i++) {
		if (state->nodes[i].owned)
			free(state->nodes[i].data);
		free(state->nodes[i].entries);
	}
	free(state->nodes);
	memset(state, 0, sizeof(*state));
}

/* ---- reading a log ------------------------------------------------------------------------- */

/* The directory that `path` is in; its last component is put into `name`. */
static int parent_of(const struct history *h, char *path, char **name)
{
	char *slash, *part = path;
	int node = 0;

	while ((slash = strchr(part, '/'))) {
		*slash = '\0';
		node = lookup(&h->live.nodes[node], part);
		*slash = '/';
		if (node < 0)
			die("a directory is not known", path);
		part = slash + 1;
	}
	*name = part;
	return node;
}

static int node_of_ino(const struct history *h, uint64_t ino)
{
	for (size_t i = h->nodes; i-- > 0;)
		if (h->inos[i] == ino)
			return (int)i;
	return -1;
}

/* The first component decides on the device. */
static int device_of(const struct history *h, int dir, const char *name)
{
	static char *seen[DEVICES];
	int i;

	if (dir != 0)
		return h->devs[dir];
	for (i = 0; i < DEVICES && seen[i]; i++)
		if (!strcmp(seen[i], name))
			return i;
	if (i == DEVICES)
		die("too many file systems", name);
	seen[i] = copy(name, strlen(name));
	return i;
}

static int add_node(struct history *h, uint64_t ino, uint64_t mode, uint64_t mtime, int dev)
{
	if (h->nodes == h->nodes_alloc) {
		h->first = grow(h->first, h->nodes, &h->nodes_alloc, sizeof(*h->first));
		h->live.nodes = realloc(h->live.nodes, h->nodes_alloc * sizeof(*h->live.nodes));
		h->inos = realloc(h->inos, h->nodes_alloc * sizeof(*h->inos));
		h->devs = realloc(h->devs, h->nodes_alloc * sizeof(*h->devs));
		h->last_meta = realloc(h->last_meta, h->nodes_alloc * sizeof(*h->last_meta));
		h->last_names = realloc(h->last_names, h->nodes_alloc * sizeof(*h->last_names));
		if (!h->live.nodes || !h->inos || !h->devs || !h->last_meta || !h->last_names)
			die("out of memory", "");
	}
	memset(&h->first[h->nodes], 0, sizeof(*h->first));
	h->first[h->nodes].mode = (uint32_t)mode;
	h->first[h->nodes].mtime = mtime;
	h->live.nodes[h->nodes] = h->first[h->nodes];
	h->live.nr = h->nodes + 1;
	h->inos[h->nodes] = ino;
	h->devs[h->nodes] = dev;
	h->last_meta[h->nodes] = h->last_names[h->nodes] = 0;
	return (int)h->nodes++;
}

static struct change *add_change(struct history *h, enum change_kind kind, int node)
{
	struct change *c;

	h->changes = grow(h->changes, h->nr, &h->alloc, sizeof(*h->changes));
	c = &h->changes[h->nr++];
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->node = node;
	c->at = h->records;
	c->dev = h->devs[node];
	c->synced = c->replaced = NEVER;
	if (kind != CH_MODE && kind != CH_TIME)
		h->last_names[node] = h->records + 1;
	h->last_meta[node] = h->records + 1;
	return c;
}

static void assign(struct history *h, struct change *c, const char *name, int node)
{
	struct assign *a = &c->names[c->names_nr++];

	a->name = copy(name, strlen(name));
	a->node = node;
	set_name(&h->live.nodes[c->node], a->name, node);
	if (node >= 0) /* its count of links, or its time of change */
		h->last_meta[node] = h->last_names[node] = h->records + 1;
}

/* A rename; in two directories it is two changes. */
static void read_rename(struct history *h, char *from, char *to, uint64_t flags)
{
	char *name, *name2;
	int dir = parent_of(h, from, &name), dir2 = parent_of(h, to, &name2);
	int node = lookup(&h->live.nodes[dir], name), node2 = lookup(&h->live.nodes[dir2], name2);
	int back = flags & RENAME_EXCHANGE_FLAG ? node2 : -1;
	struct change *c;

	if (node < 0)
		die("a renamed file is not known", from);
	if (node == node2)
		return; /* two names of one file: nothing happens */
	if (h->devs[node] != device_of(h, dir2, name2))
		die("a rename from one file system to another", from);
	c = add_change(h, CH_NAMES, dir2);
	assign(h, c, name2, node);
	if (dir != dir2)
		c = add_change(h, CH_NAMES, dir);
	assign(h, c, name, back);
	if (node2 >= 0 && back < 0)
		for (size_t i = 0; i < h->nr; i++)
			if (h->changes[i].kind == CH_WRITE && h->changes[i].node == node &&
			    h->changes[i].replaced == NEVER)
				h->changes[i].replaced = h->records;
}

static bool has_new_blocks(const struct history *h, int node)
{
	for (size_t i = 0; i < h->nr; i++) {
		const struct change *c = &h->changes[i];

		if (c->kind == CH_WRITE && c->node == node && c->synced == NEVER &&
		    c->offset + c->len > c->size_before)
			return true;
	}
	return false;
}

/* node -1: everything */
static void read_sync(struct history *h, int node, bool full)
{
	struct commit *commit;

	h->commits = grow(h->commits, h->commits_nr, &h->commits_alloc, sizeof(*h->commits));
	commit = &h->commits[h->commits_nr++];
	commit->at = h->records;
	commit->dev = node < 0 ? -1 : h->devs[node];
	if (node < 0 || has_new_blocks(h, node))
		commit->upto = h->records;
	else
		commit->upto = full ? h->last_meta[node] : h->last_names[node];
	for (size_t i = 0; i < h->nr; i++) {
		struct change *c = &h->changes[i];

		if ((node < 0 || c->node == node) && c->synced == NEVER &&
		    (full || c->kind == CH_WRITE || c->kind == CH_SIZE))
			c->synced = h->records;
	}
}

static void read_create(struct history *h, const struct crash_rec *rec, char *path,
			const unsigned char *data, bool before)
{
	struct change *c;
	char *name;
	int dir, node;

	if (!*path) {
		add_node(h, rec->ino, rec->a, rec->b, 0);
		return;
	}
	dir = parent_of(h, path, &name);
	if (!before && lookup(&h->live.nodes[dir], name) >= 0)
		return; /* it was there: nothing was created */
	node = before && S_ISREG(rec->a) ? node_of_ino(h, rec->ino) : -1;
	if (node < 0) {
		node = add_node(h, rec->ino, rec->a, rec->b, device_of(h, dir, name));
		if (rec->data_len) {
			h->first[node].data = copy(data, rec->data_len);
			h->first[node].len = rec->data_len;
		}
		node_copy(&h->live.nodes[node], &h->first[node]);
	}
	if (before) {
		char *kept = copy(name, strlen(name));

		set_name(&h->first[dir], kept, node);
		set_name(&h->live.nodes[dir], kept, node);
		return;
	}
	c = add_change(h, CH_NAMES, dir);
	assign(h, c, name, node);
}

static void read_inode(struct history *h, const struct crash_rec *rec, const unsigned char *data)
{
	int node = node_of_ino(h, rec->ino);
	struct change *c;

	if (node < 0)
		die("an inode is not known", "");
	switch (rec->op) {
	case CRASH_WRITE:
		c = add_change(h, CH_WRITE, node);
		c->data = copy(data, rec->data_len);
		c->len = rec->data_len;
		c->offset = rec->a;
		c->size_before = h->live.nodes[node].len;
		set_bytes(&h->live.nodes[node], c->offset, c->data, c->len);
		break;
	case CRASH_TRUNCATE:
		c = add_change(h, CH_SIZE, node);
		c->offset = rec->a;
		set_size(&h->live.nodes[node], (size_t)rec->a);
		break;
	case CRASH_MODE:
		c = add_change(h, CH_MODE, node);
		c->offset = rec->a;
		break;
	default:
		c = add_change(h, CH_TIME, node);
		break;
	}
	c->mtime = rec->b;
}

static void read_record(struct history *h, const struct crash_rec *rec, char *path, char *path2,
			const unsigned char *data)
{
	struct change *c;
	char *name;
	int dir;

	switch (rec->op) {
	case CRASH_SNAP:
		read_create(h, rec, path, data, true);
		return;
	case CRASH_CREATE:
		read_create(h, rec, path, data, false);
		break;
	case CRASH_LINK:
		dir = parent_of(h, path, &name);
		c = add_change(h, CH_NAMES, dir);
		assign(h, c, name, node_of_ino(h, rec->ino));
		break;
	case CRASH_UNLINK:
		dir = parent_of(h, path, &name);
		c = add_change(h, CH_NAMES, dir);
		assign(h, c, name, -1);
		break;
	case CRASH_RENAME:
		read_rename(h, path, path2, rec->a);
		break;
	case CRASH_FSYNC:
	case CRASH_DATASYNC:
		if (node_of_ino(h, rec->ino) < 0)
			die("an inode is not known", "to sync");
		read_sync(h, node_of_ino(h, rec->ino), rec->op == CRASH_FSYNC);
		break;
	case CRASH_SYNC:
		read_sync(h, -1, true);
		break;
	case CRASH_NOTE:
		h->phases = realloc(h->phases, (h->phases_nr + 1) * sizeof(*h->phases));
		if (!h->phases)
			die("out of memory", "");
		if (h->phases_nr)
			h->phases[h->phases_nr - 1].end = h->records + 1;
		h->phases[h->phases_nr++] =
			(struct phase){ copy(path, strlen(path)), h->records + 1, 0 };
		break;
	case CRASH_UNSEEN:
		die("the log is not complete", path);
		break;
	default:
		read_inode(h, rec, data);
		break;
	}
	h->records++;
}

struct history *history_read(const char *file)
{
	FILE *f = fopen(file, "rb");
	struct history *h = calloc(1, sizeof(*h));
	char magic[sizeof(CRASH_MAGIC)] = "";
	struct crash_rec rec;

	if (!f || !h || !fread(magic, sizeof(magic) - 1, 1, f) || strcmp(magic, CRASH_MAGIC))
		die("not a log", file);
	while (fread(&rec, sizeof(rec), 1, f) == 1) {
		size_t len = (size_t)rec.path_len + rec.path2_len + rec.data_len;
		char *body = malloc(len + 1), *path, *path2;

		if (!body || (len && fread(body, len, 1, f) != 1))
			die("the log is cut short", file);
		path = copy(body, rec.path_len);
		path2 = copy(body + rec.path_len, rec.path2_len);
		read_record(h, &rec, path, path2,
			    (unsigned char *)body + rec.path_len + rec.path2_len);
		free(path);
		free(path2);
		free(body);
	}
	fclose(f);
	if (h->phases_nr)
		h->phases[h->phases_nr - 1].end = h->records + 1;
	return h;
}

size_t history_length(const struct history *h)
{
	return h->records;
}

size_t history_phases(const struct history *h, const struct phase **out)
{
	*out = h->phases;
	return h->phases_nr;
}

size_t history_pending(const struct history *h, size_t cut)
{
	size_t count = 0;

	for (size_t i = 0; i < h->nr && h->changes[i].at < cut; i++)
		count += h->changes[i].synced >= cut;
	return count;
}

/* ---- building a state ---------------------------------------------------------------------- */

/* Some sectors of a write, by chance; a sector that is missing is as it was, or zeros. */
static void tear(struct node *node, const struct change *c, size_t len, uint64_t *seed)
{
	for (size_t i = 0; i < len;) {
		size_t part = SECTOR - (size_t)((c->offset + i) % SECTOR);

		if (part > len - i)
			part = len - i;
		if (chance(seed) & 1)
			set_bytes(node, c->offset + i, c->data + i, part);
		i += part;
	}
}

static void apply(struct state *state, const struct change *c, bool zero)
{
	struct node *node = &state->nodes[c->node];

	switch (c->kind) {
	case CH_WRITE:
		set_bytes(node, c->offset, zero ? NULL : c->data, c->len);
		node->mtime = c->mtime;
		break;
	case CH_SIZE:
		set_size(node, (size_t)c->offset);
		node->mtime = c->mtime;
		break;
	case CH_MODE:
		node->mode = (uint32_t)c->offset;
		break;
	case CH_TIME:
		node->mtime = c->mtime;
		break;
	case CH_NAMES:
		for (int i = 0; i < c->names_nr; i++)
			set_name(node, c->names[i].name, c->names[i].node);
		break;
	}
}

static void build_strict(struct state *state, const struct history *h, size_t cut,
			 enum choice choice, uint64_t n)
{
	uint64_t seed = n, index = 0, odds = 1 + chance(&seed) % 7;

	for (size_t i = 0; i < h->nr && h->changes[i].at < cut; i++) {
		const struct change *c = &h->changes[i];
		bool bytes = c->kind == CH_WRITE || c->kind == CH_SIZE;
		uint64_t way;

		if (c->synced < cut) {
			apply(state, c, false);
			continue;
		}
		switch (choice) {
		case CHOOSE_ALL:
			apply(state, c, false);
			break;
		case CHOOSE_NAMES:
			if (!bytes)
				apply(state, c, false);
			break;
		case CHOOSE_BYTES:
			if (bytes)
				apply(state, c, false);
			break;
		case CHOOSE_ZERO:
			apply(state, c, true);
			break;
		case CHOOSE_LOSE:
			if (index != n)
				apply(state, c, false);
			break;
		case CHOOSE_KEEP:
			if (index == n)
				apply(state, c, false);
			break;
		case CHOOSE_RAND:
			way = chance(&seed) % 8;
			if (way < odds && c->kind == CH_WRITE && chance(&seed) % 4 == 0)
				tear(&state->nodes[c->node], c, c->len, &seed);
			else if (way < odds)
				apply(state, c, chance(&seed) % 8 == 0);
			break;
		default:
			break;
		}
		index++;
	}
}

/* How far the journal is on each device. */
static void choose_journal(size_t upto[DEVICES], const struct history *h, enum model model,
			   size_t cut, enum choice choice, uint64_t n, uint64_t *seed)
{
	size_t all = 0;
	bool two = model == MODEL_EXT4_TWO;

	memset(upto, 0, DEVICES * sizeof(*upto));
	for (size_t i = 0; i < h->commits_nr && h->commits[i].at < cut; i++)
		for (int d = 0; d < DEVICES; d++)
			if ((h->commits[i].dev < 0 || h->commits[i].dev == d || !two) &&
			    h->commits[i].upto > upto[d])
				upto[d] = h->commits[i].upto;
	if (choice == CHOOSE_RAND)
		all = (size_t)(chance(seed) % (cut + 1));
	for (int d = 0; d < DEVICES; d++) {
		size_t want = upto[d];

		if (choice == CHOOSE_ALL || choice == CHOOSE_NAMES || choice == CHOOSE_ZERO)
			want = cut;
		else if (choice == CHOOSE_LOSE || choice == CHOOSE_KEEP)
			want = n < cut ? cut - (size_t)n : 0;
		else if (choice == CHOOSE_RAND && two)
			want = upto[d] + (size_t)(chance(seed) % (cut - upto[d] + 1));
		else if (choice == CHOOSE_RAND)
			want = upto[d] + (cut > upto[d] ? all % (cut - upto[d] + 1) : 0);
		if (want > upto[d])
			upto[d] = want;
	}
}

/* Up to which record the bytes of a file are written back. */
static size_t written_back(const struct change *c, size_t upto, enum choice choice, uint64_t n)
{
	uint64_t seed = n ^ ((uint64_t)c->node << 32);

	switch (choice) {
	case CHOOSE_ALL:
	case CHOOSE_BYTES:
	case CHOOSE_LOSE:
		return upto;
	case CHOOSE_RAND:
		switch (chance(&seed) % 3) {
		case 0:
			return 0;
		case 1:
			return upto;
		default:
			return upto ? (size_t)(chance(&seed) % upto) : 0;
		}
	default:
		return 0;
	}
}

static void write_ext4(struct state *state, const struct change *c, size_t cut, size_t upto,
		       enum choice choice, uint64_t n, uint64_t *seed)
{
	struct node *node = &state->nodes[c->node];
	size_t old = c->offset >= c->size_before ? 0 : (size_t)(c->size_before - c->offset);
	bool forced = c->synced < cut || (c->replaced < upto);

	if (old > c->len)
		old = c->len;
	if (c->at < upto)
		node->mtime = c->mtime;
	if (forced || (c->at < upto && c->at < written_back(c, upto, choice, n))) {
		apply(state, c, false);
		return;
	}
	if (old && choice == CHOOSE_RAND && c->offset < node->len) {
		if (c->offset + old > node->len)
			old = node->len - (size_t)c->offset;
		tear(node, c, old, seed);
	} else if (choice == CHOOSE_RAND && c->at < upto && c->len > PAGE && chance(seed) % 4 == 0) {
		/* written back in part */
		size_t pages = (size_t)(chance(seed) % (c->len / PAGE)) * PAGE;

		if (c->offset <= node->len && pages)
			set_bytes(node, c->offset, c->data, pages);
	}
}

static void build_ext4(struct state *state, const struct history *h, enum model model, size_t cut,
		       enum choice choice, uint64_t n)
{
	uint64_t seed = n;
	size_t upto[DEVICES];

	choose_journal(upto, h, model, cut, choice, n, &seed);
	for (size_t i = 0; i < h->nr && h->changes[i].at < cut; i++) {
		const struct change *c = &h->changes[i];

		if (c->kind == CH_WRITE)
			write_ext4(state, c, cut, upto[c->dev], choice, n, &seed);
		else if (c->at < upto[c->dev])
			apply(state, c, false);
	}
}

void state_build(struct state *out, const struct history *h, enum model model, size_t cut,
		 enum choice choice, uint64_t n)
{
	out->nr = h->nodes;
	out->nodes = calloc(h->nodes, sizeof(*out->nodes));
	if (!out->nodes)
		die("out of memory", "");
	for (size_t i = 0; i < h->nodes; i++)
		node_copy(&out->nodes[i], &h->first[i]);
	if (model == MODEL_STRICT)
		build_strict(out, h, cut, choice, n);
	else
		build_ext4(out, h, model, cut, choice, n);
}

/* ---- telling states apart ------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static uint64_t hash_node(const struct state *state, int n, uint64_t hash, int depth)
{
	const struct node *node = &state->nodes[n];

	hash = mix(hash, &node->mode, sizeof(node->mode));
	hash = mix(hash, &node->len, sizeof(node->len));
	hash = mix(hash, node->data, node->len);
	if (node->nr)
		qsort(node->entries, node->nr, sizeof(*node->entries), by_name);
	for (size_t i = 0; i < node->nr && depth < 64; i++) {
		hash = mix(hash, node->entries[i].name, strlen(node->entries[i].name) + 1);
		hash = hash_node(state, node->entries[i].node, hash, depth + 1);
	}
	return hash;
}

uint64_t state_hash(const struct state *state)
{
	return hash_node(state, 0, 0xcbf29ce484222325u, 0);
}
