/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_PACKSMALL_H
#define CKPT_TESTS_PACKSMALL_H

/* A store with one pack of small objects, and the bytes of its files. After unit.h. */

#include "packprobe.h"

enum { OBJECTS = 40 };

static struct known objects[OBJECTS];
static struct store *store;
static struct strbuf good_index = STRBUF_INIT, good_pack = STRBUF_INIT;
static char index_path[2 * PATH_MAX], pack_path[2 * PATH_MAX];

/* A store with one pack of small objects. */
static int small_setup(void **state)
{
	struct pack *pack;

	if (unit_setup(state))
		return -1;
	sh("mkdir worktree");
	if (store_open_or_create(&store, in_scratch("worktree")) || objects_open(store))
		return -1;
	pack = pack_new(store, 1, 6);
	for (int i = 0; i < OBJECTS; i++) {
		struct known *object = &objects[i];
		size_t len = i < 3 ? (size_t)i : rnd(3000);

		strbuf_init(&object->data);
		object->type = i % 5 ? OBJECT_BLOB : i % 10 ? OBJECT_TREE : OBJECT_COMMIT;
		while (object->data.len < len)
			strbuf_addch(&object->data, rnd(3) ? 'x' : (int)rnd(256));
		strbuf_addf(&object->data, "%d", i);
		if (pack_add_new(pack, &object->oid, object->type, object->data.buf,
				 object->data.len))
			return -1;
	}
	if (pack_commit(pack, NULL))
		return -1;
	pack_free(pack);
	store_close(store);
	if (store_open(&store, in_scratch("worktree")) || objects_open(store))
		return -1;
	snprintf(index_path, sizeof(index_path), "%s",
		 line_of("ls '%s'/objects/pack/*.idx", store->path));
	snprintf(pack_path, sizeof(pack_path), "%s",
		 line_of("ls '%s'/objects/pack/*.pack", store->path));
	get_bytes(&good_index, index_path);
	get_bytes(&good_pack, pack_path);
	return chmod(index_path, 0600) || chmod(pack_path, 0600) ? -1 : 0;
}

static int small_teardown(void **state)
{
	for (int i = 0; i < OBJECTS; i++)
		strbuf_release(&objects[i].data);
	strbuf_release(&good_index);
	strbuf_release(&good_pack);
	store_close(store);
	return unit_teardown(state);
}

/* Read everything: what comes is right or is an error. Returns how many came. */
static size_t read_all(struct packs *packs)
{
	size_t found = 0;

	for (int i = 0; i < OBJECTS; i++)
		found += check_object(packs, &objects[i]);
	return found;
}

#endif
