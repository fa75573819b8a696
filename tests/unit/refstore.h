/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_REFSTORE_H
#define CKPT_TESTS_REFSTORE_H

/* A store with one commit, for refs. After unit.h. */

#include "store/pack.h"
#include "store/refs.h"
#include "store/shadow.h"

static struct store *store;
static struct oid commit; /* one that is there, so that git takes the refs */

static int refstore_setup(void **state)
{
	static const char text[] = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
				   "author A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nx\n";
	struct pack *pack;
	struct oid tree;
	int err;

	if (unit_setup(state))
		return -1;
	sh("mkdir worktree");
	if (store_open_or_create(&store, in_scratch("worktree")) || objects_open(store))
		return -1;
	pack = pack_new(store, 1, 1);
	err = pack_add_new(pack, &tree, OBJECT_TREE, "", 0) ||
	      pack_add_new(pack, &commit, OBJECT_COMMIT, text, strlen(text)) ||
	      pack_commit(pack, NULL);
	pack_free(pack);
	return err ? -1 : 0;
}

static int refstore_teardown(void **state)
{
	store_close(store);
	return unit_teardown(state);
}

/* Each test begins without refs. */
static int no_refs(void **state)
{
	(void)state;
	sh("cd '%s'; rm -rf refs/checkpoints packed-refs; mkdir refs/checkpoints", store->path);
	return 0;
}

/* In the order of numbers, up to 4 of them at a time. */
UNUSED static const char *nth_id(int n)
{
	static char ids[4][CKPT_ID_SIZE];
	static int next;
	char *id = ids[next++ % 4];

	snprintf(id, CKPT_ID_SIZE, "chk_20260101_000000_%06x", (unsigned)n & 0xffffff);
	return id;
}

static size_t count_refs(void)
{
	struct ref_list list;
	size_t nr;

	assert_int_equal(refs_list(&list, store), 0);
	nr = list.nr;
	refs_release(&list);
	return nr;
}

#endif
