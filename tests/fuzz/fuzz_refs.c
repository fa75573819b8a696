/* SPDX-License-Identifier: MIT */
/* The refs of a store: packed ones and, if the input has a "%%", a loose one. */
#include "fuzz.h"

#include "store/keepers.h"
#include "store/refs.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

#define ID "chk_20260101_000000_abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store = fuzz_store();
	const uint8_t *cut = size ? memmem(data, size, "%%", 2) : NULL;
	size_t packed = cut ? (size_t)(cut - data) : size;
	struct ref_list list = { 0 };
	struct oid commit;

	fuzz_put("store/packed-refs", data, packed);
	/* So many inputs a tick of the clock look like the same file. */
	packed_refs_free(store->packed);
	store->packed = NULL;
	unlink(fuzz_path("store/refs/checkpoints/" ID));
	if (cut)
		fuzz_put("store/refs/checkpoints/" ID, cut + 2, size - packed - 2);
	if (!refs_list(&list, store)) {
		for (size_t i = 0; i < list.nr; i++) {
			FUZZ_CHECK(refs_valid_id(list.items[i].id), "'%s' is not an id", list.items[i].id);
			FUZZ_CHECK(!i || strcmp(list.items[i - 1].id, list.items[i].id) < 0,
				   "'%s' is twice, or not in order", list.items[i].id);
		}
		refs_release(&list);
	}
	(void)keepers_find(&commit, store, KEEPER_PIN, ID);
	(void)refs_exist(store, ID);
	return 0;
}
