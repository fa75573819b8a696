/* SPDX-License-Identifier: MIT */
#include "record/record_git.h"

#include "base/base.h"
#include "record/checkpoint.h"
#include "record/record_git_internal.h"
#include "store/store.h"

#define BLOBS "blobs"
#define AUTOSTASH "autostash.pack"

void record_git_release(struct record_git *git)
{
	gitstate_release(&git->state);
	free(git->blobs);
	memset(git, 0, sizeof(*git));
}

void record_git_add_blob(struct record_git *git, const char *hex, const struct oid *oid)
{
	struct record_git_blob *blob;

	ALLOC_GROW(git->blobs, git->nr + 1, git->alloc);
	blob = &git->blobs[git->nr++];
	snprintf(blob->hex, sizeof(blob->hex), "%s", hex);
	blob->oid = *oid;
}

static int by_hex(const void *hex, const void *blob)
{
	return strcmp(hex, ((const struct record_git_blob *)blob)->hex);
}

const struct oid *record_git_find(const struct record_git *git, const char *hex)
{
	const struct record_git_blob *blob =
		git->nr ? bsearch(hex, git->blobs, git->nr, sizeof(*git->blobs), by_hex) : NULL;

	return blob ? &blob->oid : NULL;
}

/* --- writing --- */

static int add_text(struct strbuf *tree, struct pack *pack, const struct gitstate *state,
		    enum record_git_text which)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	record_git_encode(&text, state, which);
	if (text.len)
		err = meta_add_blob(tree, pack, record_git_names[which], text.buf, text.len);
	strbuf_release(&text);
	return err;
}

static int add_blobs(struct strbuf *tree, struct pack *pack, const struct record_git *git)
{
	struct strbuf sub = STRBUF_INIT;
	struct oid oid;
	int err;

	if (!git->nr)
		return 0;
	for (size_t i = 0; i < git->nr; i++)
		meta_add_entry(&sub, "100644", git->blobs[i].hex, &git->blobs[i].oid);
	err = pack_add_new(pack, &oid, OBJECT_TREE, sub.buf, sub.len);
	meta_add_entry(tree, "40000", BLOBS, &oid);
	strbuf_release(&sub);
	return err;
}

int record_git_write(struct oid *tree_out, const struct record_git *git, struct pack *pack)
{
	struct strbuf tree = STRBUF_INIT;
	int err;

	/* In the order of their names. */
	if (!oid_is_zero(&git->autostash))
		meta_add_entry(&tree, "100644", AUTOSTASH, &git->autostash);
	err = add_blobs(&tree, pack, git);
	for (unsigned i = 0; i < RECORD_GIT_TEXTS && !err; i++)
		err = add_text(&tree, pack, &git->state, i);
	if (!err)
		err = pack_add_new(pack, tree_out, OBJECT_TREE, tree.buf, tree.len);
	strbuf_release(&tree);
	return err;
}

char *record_git_hash(char out[STATEHASH_SIZE], const struct gitstate *state)
{
	struct digest *sha256 = hash_new(HASH_SHA256);
	struct gitstate counted = *state;

	/* The rest is only looked at. */
	counted.private_refs = xcalloc(state->private_refs_nr + 1, sizeof(*counted.private_refs));
	counted.private_refs_nr = 0;
	for (size_t i = 0; i < state->private_refs_nr; i++)
		if (strcmp(state->private_refs[i].name, "ORIG_HEAD") != 0)
			counted.private_refs[counted.private_refs_nr++] = state->private_refs[i];
	for (unsigned i = 0; i < RECORD_GIT_TEXTS; i++) {
		struct strbuf text = STRBUF_INIT;
		char *title;

		record_git_encode(&text, &counted, i);
		title = xstrfmt("%s %zu", record_git_names[i], text.len);
		hash_update(sha256, title, strlen(title) + 1);
		hash_update(sha256, text.buf, text.len);
		free(title);
		strbuf_release(&text);
	}
	free(counted.private_refs);
	return statehash_end(out, sha256);
}

/* --- reading --- */

bool record_git_is_whole(struct store *store, struct pack *pack, const struct oid *tree)
{
	struct strbuf text = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int rc = 0;
	bool whole = pack_has(pack, tree) && !objects_read(&text, store, tree, OBJECT_TREE);

	while (whole && (rc = objects_tree_next(&entry, &text, &at)) > 0)
		whole = entry.mode == 040000 ? record_git_is_whole(store, pack, &entry.oid)
					     : pack_has(pack, &entry.oid);
	strbuf_release(&text);
	return whole && !rc;
}

static int read_blobs(struct record_git *git, struct store *store, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, store, oid, OBJECT_TREE), rc = 1;

	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		if (!gitfile_is_id(entry.name) ||
		    (git->nr && strcmp(git->blobs[git->nr - 1].hex, entry.name) >= 0))
			err = ckpt_error_set(CKPT_ECORRUPT,
					     "the list of staged contents is malformed");
		else
			record_git_add_blob(git, entry.name, &entry.oid);
	}
	strbuf_release(&tree);
	return !err && rc < 0 ? rc : err;
}

static int read_entry(struct record_git *git, struct store *store, const struct tree_entry *entry)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	if (!strcmp(entry->name, BLOBS))
		return read_blobs(git, store, &entry->oid);
	if (!strcmp(entry->name, AUTOSTASH))
		git->autostash = entry->oid;
	for (unsigned i = 0; i < RECORD_GIT_TEXTS && !err; i++) {
		if (strcmp(record_git_names[i], entry->name))
			continue;
		err = objects_read(&text, store, &entry->oid, OBJECT_BLOB);
		if (!err)
			err = record_git_decode(&git->state, &text, i);
	}
	strbuf_release(&text);
	return err;
}

int record_git_load(struct record_git *out, struct store *store, const struct ckpt_record *record)
{
	struct record_git git = { .state = GITSTATE_INIT };
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	struct oid oid;
	int err = meta_find_git(&oid, store, record), rc = 1;

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	if (oid_is_zero(&oid))
		return ckpt_error_set(CKPT_ENOTFOUND,
				      "checkpoint '%s' has no state of the repository", record->id);
	err = objects_read(&tree, store, &oid, OBJECT_TREE);
	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0)
		err = read_entry(&git, store, &entry);
	if (!err && rc < 0)
		err = rc;
	/* They come from two texts. */
	if (!err)
		gitstate_sort_entries(&git.state);
	if (!err)
		err = gitstate_check(&git.state);
	if (err) {
		record_git_release(&git);
		err = record_damaged(err, store, record->id);
	}
	strbuf_release(&tree);
	*out = git;
	return err;
}
