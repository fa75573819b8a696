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

static bool is_whole(const struct ckpt_briefs *all, const char *id)
{
	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->items[i].ref.id, id))
			return !all->items[i].scoped && !all->items[i].state_only;
	return false;
}

const char *status_last_restored(const struct undo_stack *stack, const struct ckpt_briefs *all)
{
	const char *id = NULL;

	/* What is above those in effect was undone, the lowest of it last. */
	if (stack->done < stack->nr && !stack->items[stack->done].paths.nr)
		id = stack->items[stack->done].before;
	else if (stack->done == stack->nr && stack->done && !stack->items[stack->done - 1].paths.nr)
		id = stack->items[stack->done - 1].restored;
	return id && is_whole(all, id) ? id : NULL;
}

/* --- comparing --- */

/* CKPT_ENOTFOUND if there is none that can be read. */
static int find_restored(struct ckpt_record *out, const struct status *status,
			 const struct session *session)
{
	struct undo_stack stack;
	const char *id;
	int err = CKPT_ENOTFOUND;

	(void)journal_undo_read(&stack, session->store);
	id = status_last_restored(&stack, &status->all);
	if (id && strcmp(id, status->base.id) != 0)
		err = lookup_name(out, session->store, id);
	journal_undo_release(&stack);
	return err == CKPT_ECORRUPT ? CKPT_ENOTFOUND : err;
}

/* After a restore the newest is the state before it: what matters is the restored one. */
static int prefer_restored(struct status *status, struct session *session, struct diff *diff,
			   progress_fn progress)
{
	struct ckpt_record restored = CKPT_RECORD_INIT;
	int err = find_restored(&restored, status, session);

	if (err)
		return err == CKPT_ENOTFOUND ? 0 : err;
	err = diff_worktree_again(diff, &restored, progress);
	if (!err && !diff->changes.nr) {
		struct ckpt_record newer = status->base;

		status->base = restored;
		status->restored = true;
		status->changes = (struct status_changes){ 0 };
		restored = newer;
	}
	record_release(&restored);
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

static int compare(struct status *status, struct session *session, progress_fn progress)
{
	struct diff diff;
	int err = lookup_default(&status->base, session->store);

	if (err)
		return err == CKPT_ENOTFOUND ? 0 : err;
	status->have_base = true;
	err = diff_worktree(&diff, session, &status->base, NULL, progress);
	if (err)
		return err;
	count(&status->changes, &diff.changes);
	if (diff.changes.nr)
		err = prefer_restored(status, session, &diff, progress);
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
	int err;

	*out = (struct status){ .newest = CKPT_RECORD_INIT,
				.base = CKPT_RECORD_INIT,
				.safety = STATUS_NOTHING };
	err = look_overview(&out->recent, &out->all, session, recent);
	if (err || !session->store)
		return err;
	identity_check(&out->warnings, session->store, session->repo, NULL, false);
	look_at_stages(&out->warnings, session);
	out->bytes = fs_disk_usage(session->store->dirfd, ".");
	if (out->recent.nr) {
		out->have_newest = !lookup_name(&out->newest, session->store, "@");
		err = compare(out, session, progress);
	}
	out->safety = status_judge(out->have_base ? &out->base : NULL, &out->changes);
	if (err)
		status_release(out);
	return err;
}

void status_release(struct status *status)
{
	lookup_records_release(&status->recent);
	record_release(&status->newest);
	brief_release(&status->all);
	record_release(&status->base);
	strlist_release(&status->warnings);
}
