/* SPDX-License-Identifier: MIT */
#include "store/composed.h"

#include "base/base.h"
#include "store/packed_refs_internal.h"
#include "store/refs.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

#define DIR "refs/composed"

bool composed_valid_id(const char *id)
{
	char like[CKPT_ID_SIZE];

	if (strncmp(id, "cmp_", 4))
		return false;
	snprintf(like, sizeof(like), "chk_%s", id + 4);
	return strlen(id) == strlen(like) && refs_valid_id(like);
}

int composed_create(struct store *store, const char *id, const struct oid *commit)
{
	int err = fs_ensure_dir(store->dirfd, DIR, 0700);

	if (err)
		return err;
	free(store->composed);
	store->composed = xstrdup(id);
	return refs_write(store, DIR, id, commit, FS_DURABLE);
}

bool composed_find(struct oid *out, struct store *store, const char *id)
{
	const struct packed_ref *packed;
	char *name;
	bool found;

	if (!composed_valid_id(id))
		return false;
	name = xstrfmt(DIR "/%s", id);
	found = refs_read_loose(out, store, name);
	packed = found ? NULL : packed_refs_find(store, name);
	free(name);
	return found || (packed && packed->hex_len >= OID_HEX && oid_parse(out, packed->hex));
}

int composed_list(struct strlist *out, struct store *store)
{
	const struct packed_ref *packed;
	size_t nr;
	int err;

	if (fs_names(out, store->dirfd, DIR, 0, composed_valid_id) < 0 && errno != ENOENT &&
	    errno != ENOTDIR)
		return ckpt_error_errno("unable to read '%s/" DIR "'", store->path);
	err = packed_refs_check(store);
	if (err)
		return err;
	packed = packed_refs_below(store, DIR "/", &nr);
	for (size_t i = 0; i < nr; i++)
		if (composed_valid_id(packed[i].name + strlen(DIR "/")))
			strlist_add(out, packed[i].name + strlen(DIR "/"));
	strlist_sort_unique(out);
	return 0;
}

int composed_remove(struct store *store, const char *id)
{
	return composed_valid_id(id) ? refs_remove(store, DIR, id) : 0;
}
