/* SPDX-License-Identifier: MIT */
#include "record/target.h"

#include "base/base.h"
#include "record/lookup.h"
#include "store/store.h"

#include <sys/random.h>

/* "cmp_" and otherwise like that of a checkpoint. */
static bool is_composed_id(const char *id)
{
	char like[CKPT_ID_SIZE];

	if (strncmp(id, "cmp_", 4))
		return false;
	snprintf(like, sizeof(like), "chk_%s", id + 4);
	return strlen(id) == strlen(like) && refs_valid_id(like);
}

bool target_valid_id(const char *id)
{
	return refs_valid_id(id) || is_composed_id(id);
}

static bool find_composed(struct oid *out, struct store *store, const char *id)
{
	return keepers_find(out, store, KEEPER_JOURNAL, id) || keepers_find(out, store, KEEPER_UNDO, id);
}

bool target_exists(struct store *store, const char *id)
{
	struct oid commit;

	return is_composed_id(id) ? find_composed(&commit, store, id) : refs_exist(store, id);
}

int target_read(struct ckpt_record *out, struct store *store, const char *id)
{
	struct ref_item ref = { 0 };

	if (!is_composed_id(id))
		return lookup_name(out, store, id);
	snprintf(ref.id, sizeof(ref.id), "%s", id);
	if (!find_composed(&ref.commit, store, id))
		return ckpt_error_set(CKPT_ENOTFOUND, "the state '%s' is not in the store", id);
	return record_read_saved(out, store, &ref);
}

int target_make_id(char out[CKPT_ID_SIZE], struct store *store, int64_t now)
{
	char stamp[CLOCK_ISO_SIZE];
	struct oid commit;
	uint32_t random;

	clock_format_id(stamp, now);
	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return ckpt_error_errno("unable to get random bytes");
		snprintf(out, CKPT_ID_SIZE, "cmp_%.15s_%06x", stamp, random & 0xffffff);
	} while (find_composed(&commit, store, out));
	return 0;
}

const char *target_name(const struct ckpt_record *record)
{
	return *record->composed_for ? record->composed_for : record->id;
}
