/* SPDX-License-Identifier: MIT */
#include "remote/flat_internal.h"

#include "base/base.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

/* --- the index --- */

static void add_info(struct strbuf *out, const struct flat *flat)
{
	for (size_t i = 0; i < flat->nr; i++) {
		strbuf_addf(out, "%06o %s 0\t%s", flat->items[i].mode, flat->items[i].hex,
			    flat->items[i].path);
		strbuf_addch(out, '\0');
	}
}

/* Leave out the path that git's last message names; false if it is not one of them. */
static bool drop_unfit(struct flat *flat, const char *said)
{
	static const char before[] = "unable to update ";
	const char *path = strstr(said, before);

	for (size_t i = 0; path && i < flat->nr; i++) {
		if (strcmp(flat->items[i].path, path + strlen(before)) != 0)
			continue;
		strlist_take(&flat->unfit, flat->items[i].path);
		memmove(&flat->items[i], &flat->items[i + 1],
			(--flat->nr - i) * sizeof(*flat->items));
		return true;
	}
	return false;
}

/*
 * Git alone knows which names it takes: ".GIT" and "git~1" are names like others here, but not on
 * other systems, so it refuses them, one at a time.
 */
int flat_fill_index(struct flat *flat, const struct gitrun *repository)
{
	/* Nothing of the kind beside the project's index, either. */
	const char *const args[] = { "-c",	      "core.splitIndex=false",
				     "-c",	      "index.sparse=false",
				     "-c",	      "core.untrackedCache=false",
				     "update-index",  "-z",
				     "--index-info", NULL };
	struct strbuf info = STRBUF_INIT, said = STRBUF_INIT;
	struct gitrun how = *repository;
	int err;

	do {
		strbuf_reset(&info);
		strbuf_reset(&said);
		add_info(&info, flat);
		how.input = info.buf;
		how.input_len = info.len;
		how.told = true;
		err = info.len ? gitrun(&said, &how, args) : 0;
		strbuf_trim(&said);
	} while (err == CKPT_ERROR && drop_unfit(flat, said.buf));
	if (err == CKPT_ERROR && said.len)
		err = ckpt_error_set(err, "%s: %s", ckpt_error_last(), said.buf);
	strbuf_release(&info);
	strbuf_release(&said);
	return err;
}

/* --- blobs --- */

static int by_hex(const void *a, const void *b)
{
	return strcmp((*(const struct flat_entry *const *)a)->hex,
		      (*(const struct flat_entry *const *)b)->hex);
}

struct blobs {
	struct store *store;
	const struct flat_entry **order; /* by id */
	size_t nr;
};

static int read_blob(struct strbuf *out, const char *hex, void *payload)
{
	const struct blobs *blobs = payload;
	struct flat_entry key, *wanted = &key;
	const struct flat_entry **found;

	snprintf(key.hex, sizeof(key.hex), "%s", hex);
	found = bsearch(&wanted, blobs->order, blobs->nr, sizeof(wanted), by_hex);
	return objects_read(out, blobs->store, &(*found)->entry->oid, OBJECT_BLOB);
}

int flat_write_blobs(const struct flat *flat, const struct gitwrite *how)
{
	struct blobs blobs = { .store = flat->session->store,
			       .order = xcalloc(flat->nr + 1, sizeof(*blobs.order)) };
	struct strlist wanted = STRLIST_INIT, missing = STRLIST_INIT;
	int err;

	for (size_t i = 0; i < flat->nr; i++)
		if (flat->items[i].entry) {
			blobs.order[blobs.nr++] = &flat->items[i];
			strlist_add(&wanted, flat->items[i].hex);
		}
	if (blobs.nr)
		qsort(blobs.order, blobs.nr, sizeof(*blobs.order), by_hex);
	strlist_sort_unique(&wanted);
	err = gitwrite_missing(&missing, how->repo, &wanted);
	if (!err && missing.nr)
		err = gitwrite_blobs(how, &missing, read_blob, &blobs);
	strlist_release(&wanted);
	strlist_release(&missing);
	free(blobs.order);
	return err;
}
