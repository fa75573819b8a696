/* SPDX-License-Identifier: MIT */
/* The list of remotes, and what a remote says that it has: only names of ours come out. */
#include "fuzz.h"

#include "remote/incoming_internal.h"
#include "remote/remotes.h"
#include "settings/settings.h"

static void try_list(const char *data, size_t size)
{
	struct remotes remotes, again;
	json_t *array = json_loadb(data, size, 0, NULL), *text;

	if (!remotes_from_json(&remotes, array)) {
		text = remotes_to_json(&remotes);
		FUZZ_CHECK(!remotes_from_json(&again, text) && again.nr == remotes.nr,
			   "what was read cannot be written");
		for (size_t i = 0; i < remotes.nr; i++)
			FUZZ_CHECK(!strcmp(remotes.items[i].url, again.items[i].url) &&
					   remotes_name_valid(again.items[i].name) &&
					   strncasecmp(again.items[i].url, "ext::", 5),
				   "another remote");
		remotes_release(&again);
		remotes_release(&remotes);
		json_decref(text);
	}
	json_decref(array);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strlist odd = STRLIST_INIT;
	struct fetched_list list;

	try_list((const char *)data, size);
	(void)incoming_parse_refs(&list, &odd, (const char *)data, size, "refs/checkpoints/p/");
	for (size_t i = 0; i < list.nr; i++)
		FUZZ_CHECK(setting_name_valid(list.items[i].machine) &&
				   refs_valid_id(list.items[i].ref.id),
			   "a name that is not ours");
	fetched_release(&list);
	strlist_release(&odd);
	return 0;
}
