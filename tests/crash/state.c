/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void crash_die(const char *what, const char *name)
{
	fprintf(stderr, "crash-replay: %s: %s\n", what, name);
	exit(125);
}

void *crash_grow(void *items, size_t nr, size_t *alloc, size_t size)
{
	if (nr < *alloc)
		return items;
	*alloc = *alloc ? *alloc * 2 : 64;
	items = realloc(items, *alloc * size);
	if (!items)
		crash_die("out of memory", "");
	return items;
}

void *crash_copy(const void *data, size_t len)
{
	char *p = malloc(len + 1);

	if (!p)
		crash_die("out of memory", "");
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

int node_lookup(const struct node *dir, const char *name)
{
	for (size_t i = 0; i < dir->nr; i++)
		if (!strcmp(dir->entries[i].name, name))
			return dir->entries[i].node;
	return -1;
}

void node_set_name(struct node *dir, const char *name, int node)
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
	dir->entries = crash_grow(dir->entries, dir->nr, &dir->alloc, sizeof(*dir->entries));
	dir->entries[dir->nr++] = (struct entry){ name, node };
}

void node_set_size(struct node *node, size_t len)
{
	unsigned char *data;

	if (len == node->len && node->owned)
		return;
	data = calloc(1, len + 1);
	if (!data)
		crash_die("out of memory", "");
	if (node->len)
		memcpy(data, node->data, len < node->len ? len : node->len);
	if (node->owned)
		free(node->data);
	node->data = data;
	node->len = len;
	node->owned = true;
}

void node_set_bytes(struct node *node, uint64_t offset, const void *data, size_t len)
{
	size_t end = (size_t)offset + len;

	node_set_size(node, end > node->len ? end : node->len);
	if (data)
		memcpy(node->data + offset, data, len);
	else
		memset(node->data + offset, 0, len);
}

void node_copy(struct node *out, const struct node *from)
{
	*out = *from;
	out->owned = false;
	out->alloc = from->nr;
	out->entries = from->nr ? crash_copy(from->entries, from->nr * sizeof(*from->entries)) : NULL;
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
