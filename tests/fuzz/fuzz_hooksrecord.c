/* SPDX-License-Identifier: MIT */
/* What `hooks install` left to itself: what can be read is written and read the same. */
#include "fuzz.h"

#include "base/error.h"
#include "git/repo.h"
#include "hooks/install_record_internal.h"
#include "hooks/install_where_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct install_record record = { 0 }, again = { 0 };
	struct install_where where;
	struct repo repo = { 0 };

	fuzz_mkdir("w");
	fuzz_mkdir("w/.git");
	fuzz_mkdir("w/.git/" INSTALL_DIR);
	repo.worktree = strdup(fuzz_path("w"));
	repo.gitdir = strdup(fuzz_path("w/.git"));
	repo.commondir = strdup(repo.gitdir);
	install_where_repo(&where, &repo);
	fuzz_put("w/.git/" INSTALL_DIR "/" INSTALL_RECORD_FILE, data, size);
	if (!install_record_read(&record, &where)) {
		FUZZ_CHECK(!install_record_write(&record, &where), "%s", ckpt_error_last());
		FUZZ_CHECK(!install_record_read(&again, &where), "%s", ckpt_error_last());
		FUZZ_CHECK(record.nr == again.nr && record.edits_nr == again.edits_nr &&
				   record.dirs.nr == again.dirs.nr && record.guard == again.guard,
			   "another record");
		for (size_t i = 0; i < record.nr; i++)
			FUZZ_CHECK(install_record_find(&again, record.entries[i].path), "an entry is lost");
		install_record_release(&record);
		install_record_release(&again);
	}
	install_where_release(&where);
	free(repo.worktree);
	free(repo.gitdir);
	free(repo.commondir);
	return 0;
}
