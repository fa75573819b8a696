/* SPDX-License-Identifier: MIT */
/* Ignore rules, a NUL, then paths: every path gets an answer, the same one twice. */
#include "fuzz.h"

#include "git/exclude.h"
#include "git/wildmatch_internal.h"

static void ask(const struct exclude_chain *chain, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (int dir = 0; dir < 2; dir++)
		FUZZ_CHECK(exclude_match(chain, path, name, dir, NULL) ==
				   exclude_match(chain, path, name, dir, NULL),
			   "two answers");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	unsigned flags = fuzz_byte(&in);
	size_t len;
	char *rules, *path;
	struct exclude_list *list;
	struct exclude_chain chain = { 0 };

	/* Beyond that a pattern may take its time, as it does in git. */
	if (size > 512)
		return 0;
	rules = fuzz_until(&in, '\0', &len);
	list = exclude_list_new(rules, len, flags & 1 ? "base/dir" : "", 1, flags & 2);
	chain.list = list;
	while (in.size) {
		path = fuzz_until(&in, '\0', NULL);
		if (*path && *path != '/' && path[strlen(path) - 1] != '/')
			ask(&chain, path);
		(void)wildmatch(rules, path, flags >> 2);
		free(path);
	}
	ask(&chain, "base/dir/x/y.c");
	exclude_list_free(list);
	free(rules);
	return 0;
}
