/* SPDX-License-Identifier: MIT */
#include "look/status.h"

#include "base/base.h"
#include "look/diff.h"
#include "look/list.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

/* --- decisions --- */

size_t status_changes_nr(const struct status_changes *changes)
{
	return changes->added + changes->modified + changes->deleted;
}

enum status_safety status_judge(const struct ckpt_record *base,
				const struct status_changes *changes)
{
	if (!base)
		return STATUS_NOTHING;
	/*
	 * A checkpoint of a few paths says nothing about the others: "am I safe?" is about
	 * everything.
	 */
	if (base->scope.nr)
		return STATUS_SCOPE;
	if (status_changes_nr(changes))
		return STATUS_CHANGED;
	return base->missing ? STATUS_MISSING : STATUS_SAFE;
}

static const char *restored_id(const struct undo_stack *stack)
{
	/* What is above those in effect was undone, the lowest of it last. */
	if (stack->done < stack->nr)
		return stack->items[stack->done].paths.nr ? NULL : stack->items[stack->done].before;
	return stack->done && !stack->items[stack->done - 1].paths.nr
		       ? stack->items[stack->done - 1].restored
		       : NULL;
}

const struct ckpt_record *status_last_restored(const struct undo_stack *stack,
					       const struct ckpt_records *records)
{
	const char *id = restored_id(stack);

	for (size_t i = 0; id && i < records->nr; i++) {
		const struct ckpt_record *record = &records->items[i];

		if (!strcmp(record->id, id))
			return record->scope.nr || record->state_only ? NULL : record;
	}
	return NULL;
}

/* --- comparing --- */

/* What the worktree is compared with by default: as lookup_default(). */
static bool is_default(const struct ckpt_record *record, const struct ckpt_record *best)
{
	if (!record_is_meant(record) || record->state_only)
		return false;
	return !best || (best->scope.nr && !record->scope.nr);
}

/* What a status needs of the newest checkpoints. */
struct needs {
	size_t recent; /* how many more are to be shown */
	bool newest, whole;
};

static bool is_enough(const struct ckpt_record *record, void *payload)
{
	struct needs *needs = payload;

	needs->recent -= needs->recent > 0;
	needs->newest |= record_is_meant(record);
	needs->whole |= is_default(record, NULL) && !record->scope.nr;
	return !needs->recent && needs->newest && needs->whole;
}

static void choose_records(struct status *status)
{
	for (size_t i = status->recent.nr; i--;) {
		const struct ckpt_record *record = &status->recent.items[i];

		if (!status->newest && record_is_meant(record))
			status->newest = record;
		if (is_default(record, status->base))
			status->base = record;
	}
}

/* After a restore the newest is the state before it: what matters is the restored one. */
static int prefer_restored(struct status *status, const struct undo_stack *stack, struct diff *diff,
			   progress_fn progress)
{
	const struct ckpt_record *restored = status_last_restored(stack, &status->recent);
	int err;

	if (!restored || restored == status->base)
		return 0;
	err = diff_worktree_again(diff, restored, progress);
	if (!err && !diff->changes.nr) {
		status->base = restored;
		status->restored = true;
		status->changes = (struct status_changes){ 0 };
	}
	return err;
}

static void count(struct status_changes *out, const struct compare_list *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		enum change_kind kind = changes->items[i].kind;

		out->added += kind == CHANGE_ADDED;
		out->deleted += kind == CHANGE_DELETED;
		out->modified += kind == CHANGE_MODIFIED || kind == CHANGE_TYPE;
	}
}

static int compare(struct status *status, struct session *session, const struct undo_stack *stack,
		   progress_fn progress)
{
	struct diff diff;
	int err;

	if (!status->base)
		return 0;
	err = diff_worktree(&diff, session, status->base, NULL, progress);
	if (err)
		return err;
	count(&status->changes, &diff.changes);
	if (diff.changes.nr)
		err = prefer_restored(status, stack, &diff, progress);
	diff_release(&diff);
	return err;
}

/* --- what the next save settles --- */

static void look_at_stages(struct strlist *warnings, const struct session *session)
{
	struct stage_dirs dirs;

	stage_dir_list(&dirs, session->store, session->worktree);
	for (size_t i = 0; i < dirs.nr; i++)
		if (dirs.items[i].kind == STAGE_DIR_STRAY)
			strlist_addf(
				warnings,
				"'%s' is left over from a finished restore; 'git checkpoint save' "
				"removes it",
				dirs.items[i].name);
	stage_dirs_release(&dirs);
}

int status_read(struct status *out, struct session *session, size_t recent, progress_fn progress)
{
	struct needs needs = { .recent = recent };
	const struct ckpt_enough enough = { .max = 1, .counts = is_enough, .payload = &needs };
	struct undo_stack stack;
	int err;

	*out = (struct status){ .safety = STATUS_NOTHING };
	if (!session->store)
		return 0;
	(void)journal_undo_read(&stack, session->store);
	err = look_overview(&out->recent, &out->all, session, &enough, restored_id(&stack));
	if (!err) {
		identity_check(&out->warnings, session->store, session->repo, NULL, false);
		look_at_stages(&out->warnings, session);
		out->bytes = fs_disk_usage(session->store->dirfd, ".");
		choose_records(out);
		err = compare(out, session, &stack, progress);
		out->safety = status_judge(out->base, &out->changes);
	}
	journal_undo_release(&stack);
	if (err)
		status_release(out);
	return err;
}

void status_release(struct status *status)
{
	lookup_records_release(&status->recent);
	brief_release(&status->all);
	strlist_release(&status->warnings);
}
