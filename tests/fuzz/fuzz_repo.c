/* SPDX-License-Identifier: MIT */
/*
 * The small files of a repository, apart by lines "%%": .git as a file, HEAD,
 * packed-refs, a loose ref, commondir, config, and what tells an operation in progress.
 */
#include "fuzz.h"

#include "base/env.h"
#include "git/gitfile.h"
#include "git/repo.h"

static const char *const files[] = { "w/git/HEAD",	     "w/git/packed-refs",
				     "w/git/refs/heads/main", "w/git/config",
				     "w/git/BISECT_LOG",     "w/git/rebase-merge/head-name" };

/* The next part; false at the end. */
static bool part(struct fuzz_input *in, const uint8_t **out, size_t *len)
{
	const uint8_t *end = in->size ? memmem(in->data, in->size, "\n%%\n", 4) : NULL;

	if (!in->size)
		return false;
	*out = in->data;
	*len = end ? (size_t)(end - in->data) + 1 : in->size;
	in->data += end ? *len + 3 : *len;
	in->size -= end ? *len + 3 : *len;
	return true;
}

static void look(const char *dir)
{
	struct repo_state state = { 0 };
	struct repo *repo = NULL;
	char *ref;

	if (repo_open_at(&repo, dir))
		return;
	if (!repo_read_state(&state, repo)) {
		FUZZ_CHECK(!state.head || gitfile_is_id(state.head), "HEAD is '%s'", state.head);
		repo_state_release(&state);
	}
	ref = repo_ref(repo, "refs/heads/main");
	FUZZ_CHECK(!ref || gitfile_is_id(ref), "the ref is '%s'", ref);
	free(ref);
	ref = repo_ref(repo, "refs/stash");
	free(ref);
	repo_free(repo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const dirs[] = { "w", "w/git", "w/git/refs", "w/git/refs/heads",
					    "w/git/objects", "w/git/rebase-merge", "n" };
	struct fuzz_input in = { data, size };
	const uint8_t *text;
	size_t len;

	if (!*fuzz_dir) {
		for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
			fuzz_mkdir(dirs[i]);
		fuzz_put("w/.git", "gitdir: git\n", 12);
		env_scrub();
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(fuzz_path(files[i]));
	unlink(fuzz_path("n/.git"));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (part(&in, &text, &len))
			fuzz_put(files[i], text, len);
	look(fuzz_path("w"));
	if (part(&in, &text, &len)) {
		fuzz_put("n/.git", text, len);
		look(fuzz_path("n"));
	}
	return 0;
}
