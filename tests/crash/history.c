/* SPDX-License-Identifier: MIT */
#include "history.h"

#include "crashlog.h"
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RENAME_EXCHANGE_FLAG 2u

/* The directory that `path` is in; its last component is put into `name`. */
static int parent_of(const struct history *h, char *path, char **name)
{
	char *slash, *part = path;
	int node = 0;

	while ((slash = strchr(part, '/'))) {
		*slash = '\0';
		node = node_lookup(&h->live.nodes[node], part);
		*slash = '/';
		if (node < 0)
			crash_die("a directory is not known", path);
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
		crash_die("too many file systems", name);
	seen[i] = crash_copy(name, strlen(name));
	return i;
}

static int add_node(struct history *h, uint64_t ino, uint64_t mode, uint64_t mtime, int dev)
{
	if (h->nodes == h->nodes_alloc) {
		h->first = crash_grow(h->first, h->nodes, &h->nodes_alloc, sizeof(*h->first));
		h->live.nodes = realloc(h->live.nodes, h->nodes_alloc * sizeof(*h->live.nodes));
		h->inos = realloc(h->inos, h->nodes_alloc * sizeof(*h->inos));
		h->devs = realloc(h->devs, h->nodes_alloc * sizeof(*h->devs));
		h->last_meta = realloc(h->last_meta, h->nodes_alloc * sizeof(*h->last_meta));
		h->last_names = realloc(h->last_names, h->nodes_alloc * sizeof(*h->last_names));
		if (!h->live.nodes || !h->inos || !h->devs || !h->last_meta || !h->last_names)
			crash_die("out of memory", "");
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

	h->changes = crash_grow(h->changes, h->nr, &h->alloc, sizeof(*h->changes));
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

	a->name = crash_copy(name, strlen(name));
	a->node = node;
	node_set_name(&h->live.nodes[c->node], a->name, node);
	if (node >= 0) /* its count of links, or its time of change */
		h->last_meta[node] = h->last_names[node] = h->records + 1;
}

/* A rename; in two directories it is two changes. */
static void read_rename(struct history *h, char *from, char *to, uint64_t flags)
{
	char *name, *name2;
	int dir = parent_of(h, from, &name), dir2 = parent_of(h, to, &name2);
	int node = node_lookup(&h->live.nodes[dir], name), node2 = node_lookup(&h->live.nodes[dir2], name2);
	int back = flags & RENAME_EXCHANGE_FLAG ? node2 : -1;
	struct change *c;

	if (node < 0)
		crash_die("a renamed file is not known", from);
	if (node == node2)
		return; /* two names of one file: nothing happens */
	if (h->devs[node] != device_of(h, dir2, name2))
		crash_die("a rename from one file system to another", from);
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

	h->commits = crash_grow(h->commits, h->commits_nr, &h->commits_alloc, sizeof(*h->commits));
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
	if (!before && node_lookup(&h->live.nodes[dir], name) >= 0)
		return; /* it was there: nothing was created */
	node = before && S_ISREG(rec->a) ? node_of_ino(h, rec->ino) : -1;
	if (node < 0) {
		node = add_node(h, rec->ino, rec->a, rec->b, device_of(h, dir, name));
		if (rec->data_len) {
			h->first[node].data = crash_copy(data, rec->data_len);
			h->first[node].len = rec->data_len;
		}
		node_copy(&h->live.nodes[node], &h->first[node]);
	}
	if (before) {
		char *kept = crash_copy(name, strlen(name));

		node_set_name(&h->first[dir], kept, node);
		node_set_name(&h->live.nodes[dir], kept, node);
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
		crash_die("an inode is not known", "");
	switch (rec->op) {
	case CRASH_WRITE:
		c = add_change(h, CH_WRITE, node);
		c->data = crash_copy(data, rec->data_len);
		c->len = rec->data_len;
		c->offset = rec->a;
		c->size_before = h->live.nodes[node].len;
		node_set_bytes(&h->live.nodes[node], c->offset, c->data, c->len);
		break;
	case CRASH_TRUNCATE:
		c = add_change(h, CH_SIZE, node);
		c->offset = rec->a;
		node_set_size(&h->live.nodes[node], (size_t)rec->a);
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
			crash_die("an inode is not known", "to sync");
		read_sync(h, node_of_ino(h, rec->ino), rec->op == CRASH_FSYNC);
		break;
	case CRASH_SYNC:
		read_sync(h, -1, true);
		break;
	case CRASH_NOTE:
		h->phases = realloc(h->phases, (h->phases_nr + 1) * sizeof(*h->phases));
		if (!h->phases)
			crash_die("out of memory", "");
		if (h->phases_nr)
			h->phases[h->phases_nr - 1].end = h->records + 1;
		h->phases[h->phases_nr++] =
			(struct phase){ crash_copy(path, strlen(path)), h->records + 1, 0 };
		break;
	case CRASH_UNSEEN:
		crash_die("the log is not complete", path);
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
		crash_die("not a log", file);
	while (fread(&rec, sizeof(rec), 1, f) == 1) {
		size_t len = (size_t)rec.path_len + rec.path2_len + rec.data_len;
		char *body = malloc(len + 1), *path, *path2;

		if (!body || (len && fread(body, len, 1, f) != 1))
			crash_die("the log is cut short", file);
		path = crash_copy(body, rec.path_len);
		path2 = crash_copy(body + rec.path_len, rec.path2_len);
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
