/* SPDX-License-Identifier: MIT */
/* What a store keeps as text: the manifest, the audit trail, what was lost, whose store it is. */
#include "fuzz.h"

#include "base/error.h"
#include "record/audit.h"
#include "record/identity.h"
#include "record/lost.h"
#include "record/manifest.h"

static void each(const char *id, const char *digits, void *payload)
{
	(void)payload;
	FUZZ_CHECK(refs_valid_id(id), "'%s' is not an id", id);
	FUZZ_CHECK(strspn(digits, "0123456789abcdef") == strlen(digits), "'%s' are not digits", digits);
}

static void try_trail(struct store *store)
{
	json_t *all = NULL, *few = NULL;
	uint64_t left = 0;

	if (audit_read(&all, store, 0))
		return;
	FUZZ_CHECK(!audit_read(&few, store, 2), "%s", ckpt_error_last());
	FUZZ_CHECK(json_array_size(few) == (json_array_size(all) < 2 ? json_array_size(all) : 2),
		   "not the newest two");
	json_decref(all);
	json_decref(few);
	FUZZ_CHECK(!audit_trim(&left, store, 64), "%s", ckpt_error_last());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store = fuzz_store();
	struct ref_list none = { 0 };
	struct identity identity;

	fuzz_put("store/checkpoint-manifest.md", data, size);
	fuzz_put("store/checkpoint/log", data, size);
	fuzz_put("store/checkpoint/state", data, size);
	(void)manifest_each(store, each, NULL);
	(void)manifest_agrees(store, &none);
	(void)lost_count(store, &none);
	if (!identity_read(&identity, store->dirfd))
		FUZZ_CHECK(strnlen(identity.root, IDENTITY_ROOT_SIZE) < IDENTITY_ROOT_SIZE, "no end");
	try_trail(store);
	return 0;
}
