/* SPDX-License-Identifier: MIT */
/* The head of a bundle from anybody: what is taken out of it are ids and names, and nothing else. */
#include "fuzz.h"

#include "remote/incoming_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incoming_bundle bundle;
	char *path = xmemdupz((const char *)data, size);

	if (incoming_path_valid(path))
		FUZZ_CHECK(*path && *path != '/' && !strstr(path, "//") && strcmp(path, "..") &&
				   strncmp(path, "../", 3) && !strstr(path, "/../") &&
				   strcmp(path, ".git") && strncmp(path, ".git/", 5) &&
				   !strstr(path, "/.git/"),
			   "a path that leads elsewhere");
	free(path);
	if (incoming_parse_bundle(&bundle, (const char *)data, size))
		return 0;
	for (size_t i = 0; i < bundle.refs.nr; i++)
		FUZZ_CHECK(refs_valid_id(bundle.refs.items[i].id) &&
				   !oid_is_zero(&bundle.refs.items[i].commit) &&
				   refs_find(&bundle.refs, bundle.refs.items[i].id) ==
					   &bundle.refs.items[i],
			   "no id, or twice");
	for (size_t i = 0; i < bundle.names_nr; i++)
		FUZZ_CHECK(!keepers_name_flaw(bundle.names[i].name), "no name");
	for (size_t i = 0; i < bundle.pinned.nr; i++)
		FUZZ_CHECK(refs_valid_id(bundle.pinned.items[i]), "no id");
	incoming_bundle_release(&bundle);
	return 0;
}
