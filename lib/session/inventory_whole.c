/* SPDX-License-Identifier: MIT */
#include "session/inventory_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "store/store.h"

/* So many are looked at, from the newest on. */
enum { LOOK_MAX = 50 };

bool inventory_is_remnant(const struct ckpt_record *record, const struct ckpt_record *before)
{
	/* Nobody else saves while somebody removes the directory. */
	if (strcmp(record->source, "watch") != 0)
		return false;
	/* The repository went first; without its rules, ignored files may have come in. */
	if (!strcmp(before->type, "git_stash") && !strcmp(record->type, "file_backup"))
		return true;
	if (record->files >= before->files)
		return false;
	/* What changed are files that went, and nothing else: none of it is missing before. */
	return before->files - record->files == record->changed ||
	       record->files < before->files / 2;
}

static bool is_whole(const struct ckpt_record *record)
{
	return !record->scope.nr && !record->state_only;
}

/* The next one before `*at` that can be read and is of the whole worktree; false if there is none. */
static bool read_before(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
			size_t *at)
{
	while (*at > 0 && refs->nr - *at < LOOK_MAX) {
		if (record_read_saved(out, store, &refs->items[--*at]))
			continue;
		if (is_whole(out))
			return true;
		record_release(out);
	}
	return false;
}

void inventory_last_whole(char out[CKPT_ID_SIZE], struct store *store, const struct ref_list *refs)
{
	struct ckpt_record record, before;
	size_t at = refs->nr;
	bool found = read_before(&record, store, refs, &at);

	*out = '\0';
	while (found && read_before(&before, store, refs, &at)) {
		if (!inventory_is_remnant(&record, &before)) {
			record_release(&before);
			break;
		}
		record_release(&record);
		record = before;
	}
	if (!found)
		return;
	memcpy(out, record.id, CKPT_ID_SIZE);
	record_release(&record);
}
