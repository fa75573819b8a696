/* SPDX-License-Identifier: MIT */
#include "remote/common_internal.h"

#include "base/base.h"
#include "record/record.h"

/* Each has nearly all that the others have. */
enum { COMMON_MAX = 8 };

static bool is_here(const struct fetched_item *item, const struct ref_list *own,
		    const struct fetched_list *fetched)
{
	const struct ref_item *ref = refs_find(own, item->ref.id);
	const struct fetched_item *known = fetched_find(fetched, item->machine, item->ref.id);

	return (ref && oid_equal(&ref->commit, &item->ref.commit)) ||
	       (known && oid_equal(&known->ref.commit, &item->ref.commit));
}

/* Ids begin with the time, whichever machine they are of. */
static int newest_first(const void *a, const void *b)
{
	const struct fetched_item *const *x = a, *const *y = b;

	return strcmp((*y)->ref.id, (*x)->ref.id);
}

static void choose(struct common *out, const struct fetched_list *there,
		   const struct ref_list *own, const struct fetched_list *fetched)
{
	const struct fetched_item **both = xcalloc(there->nr + 1, sizeof(*both));
	size_t nr = 0;

	for (size_t i = 0; i < there->nr; i++)
		if (is_here(&there->items[i], own, fetched))
			both[nr++] = &there->items[i];
	qsort(both, nr, sizeof(*both), newest_first);
	out->nr = nr < COMMON_MAX ? nr : COMMON_MAX;
	out->commits = xcalloc(out->nr + 1, sizeof(*out->commits));
	for (size_t i = 0; i < out->nr; i++)
		out->commits[i] = both[i]->ref.commit;
	free(both);
}

int common_find(struct common *out, struct store *store, const struct fetched_list *there)
{
	struct fetched_list fetched = { 0 };
	struct ref_list own = { 0 };
	int err = refs_list(&own, store);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = fetched_list(&fetched, store);
	if (!err)
		choose(out, there, &own, &fetched);
	fetched_release(&fetched);
	refs_release(&own);
	return err;
}

void common_release(struct common *common)
{
	free(common->commits);
	memset(common, 0, sizeof(*common));
}

void common_graft(struct strbuf *out, const struct common *common,
		  const struct ckpt_record *record)
{
	char hex[OID_HEX + 1];

	if (!common->nr)
		return;
	strbuf_addstr(out, oid_hex(hex, &record->commit));
	strbuf_addf(out, " %s", oid_hex(hex, &record->meta));
	for (size_t i = 0; i < common->nr; i++)
		strbuf_addf(out, " %s", oid_hex(hex, &common->commits[i]));
	strbuf_addch(out, '\n');
}

void common_shallow(struct strbuf *out, const struct common *common)
{
	char hex[OID_HEX + 1];

	for (size_t i = 0; i < common->nr; i++)
		strbuf_addf(out, "%s\n", oid_hex(hex, &common->commits[i]));
}
