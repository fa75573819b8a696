/* SPDX-License-Identifier: MIT */
#include "look/status.h"

#include "keep/keep.h"
#include "look/diff.h"
#include "session/session.h"

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

/* --- which there are --- */

static void warn_of_lost(struct strlist *warnings, struct store *store,
			 const struct ref_list *refs)
{
	size_t lost = lost_count(store, refs);

	if (lost)
		strlist_addf(warnings, "%zu %s; 'git checkpoint doctor --fix' recovers %s", lost,
			     lost == 1 ? "checkpoint has lost its ref" :
					 "checkpoints have lost their refs",
			     lost == 1 ? "it" : "them");
}

static int list_refs(struct ckpt_records *out, struct session *session,
		     const struct ref_list *refs, const struct ckpt_enough *enough)
{
	int err = lookup_records_newest(out, session->store, refs, enough);

	if (!err)
		warn_of_lost(&out->damaged, session->store, refs);
	return err;
}

int look_list(struct ckpt_records *out, struct session *session,
	      const struct ckpt_enough *enough)
{
	struct ref_list refs;
	int err;

	memset(out, 0, sizeof(*out));
	if (!session->store)
		return 0;
	err = refs_list(&refs, session->store);
	if (!err)
		err = list_refs(out, session, &refs, enough);
	refs_release(&refs);
	return err;
}

/* What was just read must be what the newest briefs are about; the first record may be older. */
static bool do_agree(const struct ckpt_records *recent, const struct ckpt_briefs *all, bool older)
{
	size_t nr = recent->nr - older;

	if (all->nr < nr || (!recent->unread && all->nr > nr))
		return false;
	for (size_t i = 1; i <= nr; i++)
		if (strcmp(recent->items[recent->nr - i].id, all->items[all->nr - i].ref.id) != 0)
			return false;
	return true;
}

static int read_briefs(struct ckpt_briefs *out, struct session *session,
		       const struct ref_list *refs, const struct ckpt_records *recent, bool older)
{
	int err = brief_read_refs(out, session->store, refs, recent);

	/* A sound one is damaged now; or a checkpoint was saved meanwhile, which costs nothing. */
	if (!err && !do_agree(recent, out, older)) {
		brief_release(out);
		brief_forget(session->store);
		err = brief_read(out, session->store);
	}
	return err;
}

/* True if one was added that is older than the others. */
static bool add_older(struct ckpt_records *records, struct store *store,
		      const struct ref_list *refs, const char *id)
{
	struct ckpt_record record;
	size_t i = 0;

	while (i < records->unread && strcmp(refs->items[i].id, id) != 0)
		i++;
	if (i == records->unread || record_read(&record, store, &refs->items[i]))
		return false;
	records->items = xrealloc(records->items, (records->nr + 1) * sizeof(*records->items));
	memmove(records->items + 1, records->items, records->nr * sizeof(*records->items));
	records->items[0] = record;
	records->nr++;
	return true;
}

/*
 * The newest, and all checkpoints in brief; no commit is read twice. The checkpoint `also` (NULL:
 * none) is among the records if it exists, before the others if they do not reach back to it. Some
 * of the older ones may have been damaged since they were last read.
 */
static int read_overview(struct ckpt_records *recent_out, struct ckpt_briefs *all_out,
			 struct session *session, const struct ckpt_enough *enough, const char *also)
{
	struct ref_list refs;
	bool older = false;
	int err;

	memset(recent_out, 0, sizeof(*recent_out));
	memset(all_out, 0, sizeof(*all_out));
	if (!session->store)
		return 0;
	err = refs_list(&refs, session->store);
	if (!err)
		err = list_refs(recent_out, session, &refs, enough);
	if (!err && also)
		older = add_older(recent_out, session->store, &refs, also);
	if (!err)
		err = read_briefs(all_out, session, &refs, recent_out, older);
	refs_release(&refs);
	for (size_t i = 0; i < all_out->damaged.nr; i++)
		if (!strlist_has(&recent_out->damaged, all_out->damaged.items[i]))
			strlist_add(&recent_out->damaged, all_out->damaged.items[i]);
	if (err)
		lookup_records_release(recent_out);
	return err;
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

static void count_changes(struct status_changes *out, const struct compare_list *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		enum change_kind kind = changes->items[i].kind;

		out->added += kind == CHANGE_ADDED;
		out->deleted += kind == CHANGE_DELETED;
		out->modified += kind == CHANGE_MODIFIED || kind == CHANGE_TYPE;
	}
}

static int compare_worktree(struct status *status, struct session *session, const struct undo_stack *stack,
		   progress_fn progress)
{
	struct diff diff;
	int err;

	if (!status->base)
		return 0;
	err = diff_worktree(&diff, session, status->base, NULL, progress);
	if (err)
		return err;
	count_changes(&status->changes, &diff.changes);
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
	err = read_overview(&out->recent, &out->all, session, &enough, restored_id(&stack));
	if (!err) {
		identity_check(&out->warnings, session->store, session->repo, NULL, false);
		look_at_stages(&out->warnings, session);
		out->bytes = fs_disk_usage(session->store->dirfd, ".");
		choose_records(out);
		err = compare_worktree(out, session, &stack, progress);
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
