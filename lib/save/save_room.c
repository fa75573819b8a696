/* SPDX-License-Identifier: MIT */
#include "save/save_internal.h"

#include "session/session.h"

struct weight {
	const struct save_job *save;
	uint64_t pack;	/* bytes of new objects at most, with their place in the index */
	uint64_t cache; /* of the stat cache */
};

enum {
	OBJECT_EXTRA = 64,	  /* what an object takes besides its contents */
	RECORD_EXTRA = 64 * 1024, /* record, ref, lines, and what is lost at the ends of files */
};

static void weigh_object(struct weight *weight, bool known, const struct oid *oid, uint64_t size)
{
	if (known &&
	    (weight->save->current.objects_there || objects_exist(weight->save->store, oid)))
		return;
	/* What does not compress grows by a few bytes in each block. */
	weight->pack += size + size / 1000 + OBJECT_EXTRA;
}

static void weigh_dir(struct weight *weight, const struct wt_dir *dir)
{
	uint64_t tree = 0;

	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		tree += entry->name_len + 8 + OID_SIZE;
		weight->cache += sizeof(struct statcache_entry) + entry->name_len + 1;
		if (entry->kind == WT_DIR)
			weigh_dir(weight, entry->dir);
		else
			weigh_object(weight, entry->flags & WT_KNOWN, &entry->oid, entry->st.size);
	}
	weight->cache += sizeof(struct statcache_dir) + 8;
	weigh_object(weight, dir->known, &dir->tree, tree);
}

uint64_t save_room_needed(const struct save_job *save)
{
	struct weight weight = { .save = save };

	uint64_t extras =
		extras_bytes(&save->extras) +
		gitsave_bytes(&save->git, save->have_newest ? &save->newest : NULL, save->pack);

	weigh_dir(&weight, save_job_root(save));
	weight.pack += extras + extras / 1000 +
		       OBJECT_EXTRA * (save->extras.nr + save->opts->extras.states_nr);
	/* The old stat cache exists until the new one replaces it. */
	return weight.pack + weight.cache + save->more + RECORD_EXTRA;
}

uint64_t save_room_beside(const struct save_job *save)
{
	struct weight weight = { .save = save };

	weigh_dir(&weight, save_job_root(save));
	return weight.cache + RECORD_EXTRA / 4;
}

int save_room_make(struct save_job *save)
{
	const struct ref_list *refs = &save->refs;
	struct strlist keep = STRLIST_INIT;
	int err;

	if (save->opts->keep)
		strlist_extend(&keep, save->opts->keep);
	/* The base; if it is the newest of all it stays anyway, until there is a newer one. */
	if (save->have_newest && strcmp(save->newest.id, refs->items[refs->nr - 1].id))
		strlist_add(&keep, save->newest.id);
	err = retain_make_room(&save->room, save->session, &keep, save_room_needed(save));
	strlist_release(&keep);
	save->no_room = err == CKPT_ERROR;
	if (!err && save->room.evicted) {
		refs_release(&save->refs);
		err = refs_list(&save->refs, save->store);
	}
	return err;
}
