/* SPDX-License-Identifier: MIT */
#include "watch/watch_cover_internal.h"

enum { FIRST_SIZE = 64 };

/* --- the two tables: by parent and name, by watch --- */

static uint64_t hash_name(const struct watch_node *parent, const char *name)
{
	return hash_mix(hash_mix(HASH_MIX_START, &parent, sizeof(parent)), name, strlen(name));
}

static uint64_t hash_watch(int watch)
{
	return hash_mix(HASH_MIX_START, &watch, sizeof(watch));
}

static struct watch_node **slot_of(const struct watch_table *table, uint64_t hash)
{
	return &table->slots[(hash ^ hash >> 32) & (table->size - 1)];
}

static struct watch_node **node_slot(const struct watch_nodes *nodes, enum watch_key key,
				     const struct watch_node *node)
{
	return slot_of(&nodes->tables[key], key == WATCH_BY_NAME ? hash_name(node->parent, node->name)
								 : hash_watch(node->watch));
}

static void put_node(struct watch_nodes *nodes, enum watch_key key, struct watch_node *node)
{
	struct watch_node **slot = node_slot(nodes, key, node);

	node->same[key] = *slot;
	*slot = node;
}

/* Into a table of twice the size if need be. */
static void enter_table(struct watch_nodes *nodes, enum watch_key key, struct watch_node *node)
{
	struct watch_table *table = &nodes->tables[key], old = *table;
	struct watch_node *next;

	if (table->nr++ == table->size) {
		table->size = table->size ? 2 * table->size : FIRST_SIZE;
		table->slots = xcalloc(table->size, sizeof(*table->slots));
		for (size_t i = 0; i < old.size; i++)
			for (struct watch_node *at = old.slots[i]; at; at = next) {
				next = at->same[key];
				put_node(nodes, key, at);
			}
		free(old.slots);
	}
	put_node(nodes, key, node);
}

static void leave_table(struct watch_nodes *nodes, enum watch_key key, struct watch_node *node)
{
	struct watch_node **at = node_slot(nodes, key, node);

	while (*at != node)
		at = &(*at)->same[key];
	*at = node->same[key];
	nodes->tables[key].nr--;
}

struct watch_node *watch_nodes_child(const struct watch_nodes *nodes,
				     const struct watch_node *parent, const char *name)
{
	const struct watch_table *table = &nodes->tables[WATCH_BY_NAME];
	struct watch_node *at = table->size ? *slot_of(table, hash_name(parent, name)) : NULL;

	while (at && (at->parent != parent || strcmp(at->name, name) != 0))
		at = at->same[WATCH_BY_NAME];
	return at;
}

struct watch_node *watch_nodes_of(const struct watch_nodes *nodes, int watch)
{
	const struct watch_table *table = &nodes->tables[WATCH_BY_WATCH];
	struct watch_node *at = table->size ? *slot_of(table, hash_watch(watch)) : NULL;

	while (at && at->watch != watch)
		at = at->same[WATCH_BY_WATCH];
	return at;
}

/* --- the two lists: by time of change, and the loose ones --- */

static void link_in(struct watch_node **first, struct watch_node *node)
{
	node->newer = NULL;
	node->older = *first;
	if (*first)
		(*first)->newer = node;
	*first = node;
}

static void link_out(struct watch_node **first, struct watch_node *node)
{
	if (node->newer)
		node->newer->older = node->older;
	else
		*first = node->older;
	if (node->older)
		node->older->newer = node->newer;
}

static void become_loose(struct watch_nodes *nodes, struct watch_node *node)
{
	node->watch = -1;
	link_in(&nodes->loose, node);
	nodes->loose_nr++;
	for (; node && !node->loose_below; node = node->parent)
		node->loose_below = true;
}

static void stop_being_loose(struct watch_nodes *nodes, struct watch_node *node)
{
	link_out(&nodes->loose, node);
	nodes->loose_nr--;
}

static void disarm_node(struct watch_nodes *nodes, struct watch_node *node)
{
	int watch = node->watch;

	leave_table(nodes, WATCH_BY_WATCH, node);
	link_out(&nodes->newest, node);
	node->watch = -1;
	if (nodes->gone)
		nodes->gone(watch, nodes->payload);
}

/* --- nodes --- */

struct watch_node *watch_nodes_add(struct watch_nodes *nodes, struct watch_node *parent,
				   const char *name)
{
	size_t size = strlen(name) + 1;
	struct watch_node *node = xcalloc(1, sizeof(*node) + size);

	memcpy(node->name, name, size);
	node->parent = parent;
	if (parent) {
		node->next = parent->child;
		if (node->next)
			node->next->prev = node;
		parent->child = node;
	} else {
		nodes->root = node;
	}
	enter_table(nodes, WATCH_BY_NAME, node);
	become_loose(nodes, node);
	nodes->nr++;
	return node;
}

void watch_nodes_arm(struct watch_nodes *nodes, struct watch_node *node, int watch, uint64_t tick)
{
	stop_being_loose(nodes, node);
	node->watch = watch;
	node->changed = tick;
	enter_table(nodes, WATCH_BY_WATCH, node);
	link_in(&nodes->newest, node);
}

/* A node that has none below. */
static void remove_one(struct watch_nodes *nodes, struct watch_node *node)
{
	if (node->watch < 0)
		stop_being_loose(nodes, node);
	else
		disarm_node(nodes, node);
	leave_table(nodes, WATCH_BY_NAME, node);
	if (node->prev)
		node->prev->next = node->next;
	else if (node->parent)
		node->parent->child = node->next;
	else
		nodes->root = NULL;
	if (node->next)
		node->next->prev = node->prev;
	nodes->nr--;
	free(node);
}

/* Not recursive: a tree may be deeper than the stack. */
static void remove_below(struct watch_nodes *nodes, struct watch_node *top)
{
	struct watch_node *node = top;

	for (;;) {
		struct watch_node *parent;

		while (node->child)
			node = node->child;
		if (node == top)
			return;
		parent = node->parent;
		remove_one(nodes, node);
		node = parent;
	}
}

void watch_nodes_loosen(struct watch_nodes *nodes, struct watch_node *node)
{
	if (node->watch < 0)
		return;
	remove_below(nodes, node);
	disarm_node(nodes, node);
	/* Of those below none is left. */
	node->loose_below = false;
	become_loose(nodes, node);
}

void watch_nodes_drop(struct watch_nodes *nodes, struct watch_node *node)
{
	remove_below(nodes, node);
	remove_one(nodes, node);
}

void watch_nodes_touch(struct watch_nodes *nodes, struct watch_node *node, uint64_t tick)
{
	if (node->watch < 0 || node->changed == tick)
		return;
	link_out(&nodes->newest, node);
	node->changed = tick;
	link_in(&nodes->newest, node);
}

void watch_nodes_settle(struct watch_node *node)
{
	bool loose = node->watch < 0;

	for (const struct watch_node *at = node->child; at && !loose; at = at->next)
		loose = at->loose_below;
	node->loose_below = loose;
}

void watch_nodes_path(struct strbuf *out, const struct watch_node *node)
{
	size_t len = 0, start = out->len;

	for (const struct watch_node *at = node; at->parent; at = at->parent)
		len += strlen(at->name) + 1;
	if (!len)
		return;
	strbuf_grow(out, len);
	strbuf_setlen(out, start + len - 1);
	for (const struct watch_node *at = node; at->parent; at = at->parent) {
		size_t name_len = strlen(at->name);

		len -= name_len + 1;
		memcpy(out->buf + start + len, at->name, name_len);
		if (len)
			out->buf[start + len - 1] = '/';
	}
}

void watch_nodes_release(struct watch_nodes *nodes)
{
	nodes->gone = NULL;
	if (nodes->root)
		watch_nodes_drop(nodes, nodes->root);
	free(nodes->tables[WATCH_BY_NAME].slots);
	free(nodes->tables[WATCH_BY_WATCH].slots);
	memset(nodes, 0, sizeof(*nodes));
}
