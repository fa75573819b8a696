/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_RECORDGEN_H
#define CKPT_TESTS_RECORDGEN_H

/* Stores with checkpoints in them, made without a worktree. After unit.h. */

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "record/checkpoint.h"
#include "record/modes.h"
#include "store/pack.h"
#include "store/shadow.h"
#include "store/ingest.h"

UNUSED static struct store *recordgen_store(const char *name)
{
	struct store *store = NULL;
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	(void)mkdir(path, 0755);
	if (store_open_or_create(&store, path) || objects_open(store))
		fail_msg("%s", ckpt_error_last());
	return store;
}

/* So that what was written since is seen. */
UNUSED static struct store *recordgen_reopen(struct store *store)
{
	char *worktree = xstrdup(store->worktree);

	store_close(store);
	if (store_open(&store, worktree) || objects_open(store))
		fail_msg("%s", ckpt_error_last());
	free(worktree);
	return store;
}

UNUSED static char *recordgen_text(size_t max)
{
	size_t len = rnd((unsigned)max);
	char *text = xmalloc(len + 1);

	if (rnd(3)) {
		rnd_text(text, len);
	} else {
		memset(text, 'a', len);
		text[len] = '\0';
	}
	return text;
}

/* What every record must have; all else is absent. */
UNUSED static void recordgen_plain(struct ckpt_record *out, const char *id)
{
	*out = (struct ckpt_record)CKPT_RECORD_INIT;
	snprintf(out->id, sizeof(out->id), "%s", id);
	out->type = xstrdup("git_stash");
	out->created_at = 1790000000;
	out->reason = xstrdup("a reason");
	out->source = xstrdup("test");
	memset(out->state_hash, 'a', STATEHASH_SIZE - 1);
	memcpy(out->state_hash, "sha256:", 7);
}

/* Write it as a checkpoint of the store, with an empty tree, and make its ref. */
UNUSED static void recordgen_save(struct store *store, struct ckpt_record *record)
{
	struct pack *pack = pack_new(store, 1, 1);
	struct ckpt_meta meta;

	meta_init(&meta);
	strbuf_addstr(&meta.modes, "file 644 exec 755 dir 755\n");
	assert_int_equal(pack_add_new(pack, &record->tree, OBJECT_TREE, "", 0), 0);
	assert_int_equal(record_write(record, &meta, pack), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	meta_release(&meta);
	assert_int_equal(refs_create(store, record->id, &record->commit), 0);
}

UNUSED static void recordgen_list(struct strlist *out)
{
	for (unsigned n = rnd(5); n; n--)
		strlist_take(out, recordgen_text(20));
}

/* One with all that it may have. */
UNUSED static void recordgen_random(struct ckpt_record *out, const char *id)
{
	*out = (struct ckpt_record)CKPT_RECORD_INIT;
	snprintf(out->id, sizeof(out->id), "%s", id);
	out->type = xstrdup(rnd(2) ? "git_stash" : "file_backup");
	out->created_at = 1 + (int64_t)(rnd64() % 253402300799u);
	out->reason = recordgen_text(200);
	out->source = recordgen_text(30);
	out->step = rnd(2) ? -1 : (int64_t)(rnd64() >> (1 + rnd(62)));
	out->expiry = rnd(2) ? 0 : 1 + (int64_t)(rnd64() % 253402300799u);
	out->include_ignored = rnd(2);
	out->include_sensitive = rnd(2);
	recordgen_list(&out->scope);
	recordgen_list(&out->state_keys);
	recordgen_list(&out->warnings);
	rnd_bytes(&out->tree, sizeof(out->tree));
	memcpy(out->state_hash, "sha256:", 7);
	for (int i = 7; i < STATEHASH_SIZE - 1; i++)
		out->state_hash[i] = "0123456789abcdef"[rnd(16)];
	out->files = rnd64() >> (1 + rnd(62));
	out->bytes = rnd64() >> (1 + rnd(62));
	out->changed = rnd64() >> (1 + rnd(62));
	out->missing = rnd(3) ? 0 : rnd64() >> (1 + rnd(62));
	out->base = rnd(2) ? NULL : xstrdup("chk_20260930_123456_0af9bd");
	out->head = rnd(2) ? NULL : recordgen_text(45);
	out->branch = rnd(2) ? NULL : recordgen_text(30);
	out->operation = rnd(2) ? NULL : xstrdup("rebase");
	if (rnd(2)) {
		out->added = rnd(1000);
		out->deleted = rnd(1000);
	}
	out->before = rnd(2) ? NULL : recordgen_text(40);
	out->done = rnd(2) ? NULL : recordgen_text(40);
	if (rnd(2)) {
		out->agent.name = recordgen_text(12);
		out->agent.session = rnd(2) ? NULL : recordgen_text(40);
		out->agent.turn_id = rnd(2) ? NULL : recordgen_text(40);
		out->agent.tool = rnd(2) ? NULL : recordgen_text(20);
		out->agent.tool_call = rnd(2) ? NULL : recordgen_text(20);
		out->agent.sub_agent = rnd(2) ? NULL : recordgen_text(20);
		out->agent.prompt = rnd(2) ? NULL : recordgen_text(80);
	}
}

/* The record of a tree, without a ref. */
UNUSED static void recordgen_tree(struct store *store, struct ckpt_record *record, const char *id,
				  struct wt_dir *root)
{
	struct pack *pack = pack_new(store, 1, 1);
	struct ckpt_meta meta;

	recordgen_plain(record, id);
	meta_init(&meta);
	modes_encode(&meta.modes, root);
	assert_int_equal(ingest_trees(root, pack, 1), 0);
	record->tree = root->tree;
	assert_int_equal(record_write(record, &meta, pack), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	meta_release(&meta);
}

#endif
