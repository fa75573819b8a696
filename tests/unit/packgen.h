/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_PACKGEN_H
#define CKPT_TESTS_PACKGEN_H

/* Stores, and objects to put into their packs. After unit.h. */

#include "base/alloc.h"
#include "base/hash.h"
#include "store/objects.h"
#include "store/shadow.h"

#include <dirent.h>

UNUSED static struct store *new_store(void)
{
	static unsigned number;
	struct store *store = NULL;
	char worktree[2 * PATH_MAX];

	snprintf(worktree, sizeof(worktree), "%s/worktree%u", scratch, number++);
	assert_int_equal(mkdir(worktree, 0755), 0);
	assert_int_equal(store_open_or_create(&store, worktree), 0);
	assert_int_equal(objects_open(store), 0);
	return store;
}

UNUSED static struct store *reopen(struct store *store)
{
	struct store *again = NULL;
	char *worktree = xstrdup(store->worktree);

	store_close(store);
	assert_int_equal(store_open(&again, worktree), 0);
	assert_int_equal(objects_open(again), 0);
	free(worktree);
	return again;
}

/* Names in objects/pack that begin with `prefix`. */
UNUSED static unsigned count_packs(struct store *store, const char *prefix)
{
	char path[2 * PATH_MAX];
	struct dirent *ent;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/objects/pack", store->path);
	dir = opendir(path);
	assert_non_null(dir);
	while ((ent = readdir(dir)))
		n += ent->d_name[0] != '.' && !strncmp(ent->d_name, prefix, strlen(prefix));
	closedir(dir);
	return n;
}

struct object {
	enum object_type type;
	struct oid oid;
	char *data;
	size_t len;
};

UNUSED static void make_object(struct object *out, enum object_type type, const void *data,
			       size_t len)
{
	struct digest *sha1 = hash_new(HASH_SHA1);

	out->type = type;
	out->data = xmemdupz(data, len);
	out->len = len;
	hash_object(sha1, &out->oid, objects_type_name(type), data, len);
	hash_free(sha1);
}

UNUSED static void make_blob(struct object *out, size_t len)
{
	char *data = xmalloc(len + 1);

	/* Some that can be compressed and some that cannot. */
	if (rnd(2))
		rnd_bytes(data, len);
	else
		for (size_t i = 0; i < len; i++)
			data[i] = "abcdefgh"[rnd(8)];
	make_object(out, OBJECT_BLOB, data, len);
	free(data);
}

UNUSED static void free_objects(struct object *objects, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(objects[i].data);
}

#endif
