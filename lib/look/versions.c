/* SPDX-License-Identifier: MIT */
#include "look/versions_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "record/record.h"
#include "store/store.h"

/* A walk through the checkpoints of one scope. */
struct chain {
	struct versions *out;
	struct store *store;
	const struct ckpt_records *records;
	const struct pathspec *only;
	struct snapshot *before; /* of the last one; NULL: there was none */
	size_t last;		 /* its index */
	size_t place;		 /* how many there were */
	/* By the number of a path: 1 + the index of its version that goes on, and since when. */
	struct open {
		size_t version, since;
	} *open;
	size_t open_nr, open_alloc;
};

void versions_release(struct versions *versions)
{
	intern_release(&versions->paths);
	intern_release(&versions->blobs);
	free(versions->items);
	free(versions->bad);
	strlist_release(&versions->damaged);
	memset(versions, 0, sizeof(*versions));
}

static struct open *open_of(struct chain *chain, const char *path, size_t *number_out)
{
	size_t number = intern_add(&chain->out->paths, path, strlen(path));

	while (chain->open_nr <= number) {
		ALLOC_GROW(chain->open, chain->open_nr + 1, chain->open_alloc);
		chain->open[chain->open_nr++] = (struct open){ 0 };
	}
	*number_out = number;
	return &chain->open[number];
}

/* It is not in the checkpoint that follows `chain->last`. */
static void close_version(struct chain *chain, struct open *open)
{
	struct version *version;

	if (!open->version)
		return;
	version = &chain->out->items[open->version - 1];
	version->newest = chain->last;
	version->count = chain->place - open->since;
	open->version = 0;
}

static void open_version(struct chain *chain, struct open *open, size_t path,
			 const struct oid *oid, size_t at)
{
	struct versions *out = chain->out;

	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr++] = (struct version){
		.path = path,
		.blob = intern_add(&out->blobs, (const char *)oid->id, OID_SIZE),
		.oldest = at,
	};
	*open = (struct open){ out->nr, chain->place };
}

static void apply(struct chain *chain, const struct compare_list *changes, size_t at)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->items[i];
		bool was = S_ISREG(change->old_mode), is = S_ISREG(change->new_mode);
		struct open *open;
		size_t path;

		if (was && is && oid_equal(&change->old_oid, &change->new_oid))
			continue; /* only another mode */
		if (!was && !is)
			continue;
		open = open_of(chain, change->path, &path);
		close_version(chain, open);
		if (is)
			open_version(chain, open, path, &change->new_oid, at);
	}
}

static bool is_meant(const char *path, bool is_dir, void *payload)
{
	return pathspec_matches(payload, path, is_dir);
}

static bool is_entered(const char *dir, void *payload)
{
	return pathspec_enters(payload, dir);
}

static struct compare_side side_of(struct snapshot *snapshot)
{
	static const struct modes usual = { .file = 0644, .exec = 0755, .dir = 0755 };

	if (!snapshot)
		return (struct compare_side){ .modes = &usual };
	/* Modes do not matter here: any will do that are the same on both sides. */
	return (struct compare_side){ .root = snapshot->root,
				      .snapshot = snapshot,
				      .modes = &usual };
}

/* The next checkpoint. A damaged one is as if it were not there. */
static int go_on(struct chain *chain, size_t at)
{
	const struct compare_limit limit = { is_meant, is_entered, (void *)chain->only };
	struct compare_list changes = { 0 };
	struct compare_side before = side_of(chain->before), after;
	struct snapshot *snapshot = NULL;
	int err = snapshot_open(&snapshot, chain->store, &chain->records->items[at]);

	if (!err) {
		after = side_of(snapshot);
		err = compare_run_within(&changes, &before, &after, chain->only ? &limit : NULL);
	}
	if (!err) {
		apply(chain, &changes, at);
		snapshot_free(chain->before);
		chain->before = snapshot;
		chain->last = at;
		chain->place++;
	} else {
		chain->out->bad[at] = true;
		snapshot_free(snapshot);
	}
	compare_list_release(&changes);
	if (err == CKPT_ECORRUPT)
		strlist_add(&chain->out->damaged, ckpt_error_last());
	return err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND ? 0 : err;
}

/* All that have the scope of `first`, from that on. */
static int follow_scope(struct versions *out, struct store *store,
			const struct ckpt_records *records, const struct pathspec *only,
			size_t first, bool *done)
{
	struct chain chain = { .out = out, .store = store, .records = records, .only = only };
	const struct strlist *scope = &records->items[first].scope;
	int err = 0;

	for (size_t i = first; i < records->nr && !err; i++) {
		if (done[i] || !strlist_equal(&records->items[i].scope, scope))
			continue;
		done[i] = true;
		err = cancel_check();
		if (!err)
			err = go_on(&chain, i);
	}
	for (size_t i = 0; i < chain.open_nr; i++)
		close_version(&chain, &chain.open[i]);
	snapshot_free(chain.before);
	free(chain.open);
	return err;
}

int versions_collect(struct versions *out, struct store *store, const struct ckpt_records *records,
		     const struct pathspec *only)
{
	bool *done = xcalloc(records->nr + 1, sizeof(*done));
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->bad = xcalloc(records->nr + 1, sizeof(*out->bad));
	for (size_t i = 0; i < records->nr; i++)
		done[i] = out->bad[i] = records->items[i].state_only;
	for (size_t i = 0; i < records->nr && !err; i++)
		if (!done[i])
			err = follow_scope(out, store, records, only, i, done);
	free(done);
	if (err)
		versions_release(out);
	return err;
}
