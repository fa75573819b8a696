/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint from hostile objects. The first byte chooses which of them the
 * input is: the commit, a tree, the modes, a list of skipped paths; the others are sound.
 */
#include "fuzz.h"

#include "base/error.h"
#include "base/libgit2.h"
#include "base/hash.h"
#include "record/checkpoint.h"
#include "record/snapshot.h"

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

#define ID "chk_20260101_000000_abcdef"

enum part { COMMIT, TREE, META_TREE, MODES, SKIPS, RULES, STATES, PARTS };

static git_odb_backend *memory;

static void begin(struct store *store)
{
	if (store->odb) {
		git_mempack_reset(memory);
		return;
	}
	FUZZ_CHECK(!libgit2_begin(), "no libgit2");
	/* Named after what they are, as all objects are; but trees may be nonsense. */
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	FUZZ_CHECK(!git_odb_new(&store->odb) && !git_mempack_new(&memory) &&
			   !git_odb_add_backend(store->odb, memory, 1),
		   "no database");
}

static struct oid put(struct store *store, git_object_t type, const void *data, size_t len)
{
	struct oid oid;

	FUZZ_CHECK(!git_odb_write((git_oid *)&oid, store->odb, len ? data : "", len, type), "write");
	return oid;
}

static void add(struct strbuf *tree, const char *mode, const char *name, struct oid oid)
{
	strbuf_addf(tree, "%s %s", mode, name);
	strbuf_addch(tree, '\0');
	strbuf_add(tree, &oid, sizeof(oid));
}

/* The metadata around the input. */
static struct oid put_meta(struct store *store, enum part part, const char *data, size_t len)
{
	static const char modes[] = "file 644 exec 755 dir 755\n600 a\0700 d/b";
	struct strbuf tree = STRBUF_INIT, commit = STRBUF_INIT;
	struct oid blob = put(store, GIT_OBJECT_BLOB, data, len), sub, oid;
	char hex[OID_HEX + 1];

	if (part == SKIPS)
		add(&tree, "100644", "missing", blob);
	add(&tree, "100644", "modes",
	    part == MODES ? blob : put(store, GIT_OBJECT_BLOB, modes, sizeof(modes)));
	if (part == RULES || part == STATES) {
		sub = put(store, GIT_OBJECT_TREE, data, len);
		add(&tree, "40000", part == RULES ? "rules" : "state", sub);
	}
	oid = part == META_TREE ? put(store, GIT_OBJECT_TREE, data, len) :
				  put(store, GIT_OBJECT_TREE, tree.buf, tree.len);
	strbuf_addf(&commit, "tree %s\nauthor a <a> 0 +0000\n\nm\n", oid_hex(hex, &oid));
	oid = put(store, GIT_OBJECT_COMMIT, commit.buf, commit.len);
	strbuf_release(&tree);
	strbuf_release(&commit);
	return oid;
}

static struct oid put_checkpoint(struct store *store, enum part part, const char *data, size_t len)
{
	struct oid meta = put_meta(store, part, data, len), tree, oid;
	struct strbuf text = STRBUF_INIT;
	char hex[2][OID_HEX + 1];

	if (part == TREE) {
		tree = put(store, GIT_OBJECT_TREE, data, len);
	} else {
		add(&text, "100644", "a", put(store, GIT_OBJECT_BLOB, "a", 1));
		tree = put(store, GIT_OBJECT_TREE, text.buf, text.len);
		strbuf_reset(&text);
	}
	strbuf_addf(&text, "tree %s\nparent %s\n", oid_hex(hex[0], &tree), oid_hex(hex[1], &meta));
	if (part == COMMIT)
		strbuf_add(&text, data, len);
	else
		strbuf_addstr(&text,
			      "author a <a> 0 +0000\n\nsubject\n\nCheckpoint: 1\nId: " ID
			      "\nType: git_stash\nCreated: 2026-01-01T00:00:00Z\nReason: r\nSource: s\n"
			      "State-Hash: sha256:"
			      "0000000000000000000000000000000000000000000000000000000000000000\n");
	oid = put(store, GIT_OBJECT_COMMIT, text.buf, text.len);
	strbuf_release(&text);
	return oid;
}

/* No name leads anywhere else: what is refused here need not be thought of in a restore. */
static void check_names(const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		FUZZ_CHECK(*entry->name && !strchr(entry->name, '/') && strcmp(entry->name, ".") &&
				   strcmp(entry->name, "..") && strcmp(entry->name, ".git"),
			   "the name '%s'", entry->name);
		if (entry->kind == WT_DIR)
			check_names(entry->dir);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store = fuzz_store();
	struct fuzz_input in = { data, size };
	enum part part = fuzz_byte(&in) % PARTS;
	struct ref_item ref = { .id = ID };
	struct snapshot *snapshot = NULL;
	struct ckpt_record record;
	struct ckpt_meta meta;

	begin(store);
	ref.commit = put_checkpoint(store, part, (const char *)in.data, in.size);
	if (record_read(&record, store, &ref)) {
		FUZZ_CHECK(part == COMMIT, "%s", ckpt_error_last());
		return 0;
	}
	FUZZ_CHECK(record_confidence(&record) >= 0 && record_confidence(&record) <= 1,
		   "confidence %g", record_confidence(&record));
	if (!meta_read(&meta, store, &record, false)) {
		for (size_t i = 0; i < meta.skips.nr; i++)
			(void)strlen(meta.skips.items[i].path);
		meta_release(&meta);
	}
	if (!snapshot_open(&snapshot, store, &record)) {
		if (!snapshot_expand_all(snapshot, snapshot->root))
			check_names(snapshot->root);
		snapshot_free(snapshot);
	}
	record_release(&record);
	return 0;
}
