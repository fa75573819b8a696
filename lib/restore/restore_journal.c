/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "session/session.h"

/* --- modes of directories that are only on the way --- */

static const char *noted_path(const char *note)
{
	const char *blank = strchr(note, ' ');

	return blank ? blank + 1 : note;
}

/* The first record is the one from before anything was done. */
static void add_mode(struct strlist *modes, const char *path, mode_t mode)
{
	for (size_t i = 0; i < modes->nr; i++)
		if (!strcmp(noted_path(modes->items[i]), path))
			return;
	strlist_addf(modes, "%04o %s", (unsigned)mode, path);
}

/* New directories get their modes when they are in place, see apply.c. */
static void add_made_modes(struct strlist *modes, const struct restore *r)
{
	for (size_t i = 0; i < r->plan.nr && r->made.nr; i++) {
		const struct plan_action *action = &r->plan.actions[i];

		if (action->kind == PLAN_CREATE && action->target->kind == WT_DIR &&
		    strlist_has(&r->made, action->path))
			add_mode(modes, action->path, action->target->mode);
	}
}

int restore_note_mode(const char *path, mode_t mode, void *payload)
{
	struct restore *r = payload;

	add_mode(&r->journal.modes, path, mode);
	return journal_write(&r->journal, r->session->store);
}

static void settle_mode(int rootfd, const char *path, mode_t mode)
{
	int fd = beneath_open(rootfd, path, O_PATH | O_DIRECTORY), readable;
	struct stat st;

	if (fd < 0)
		return; /* it is gone, or was never created */
	/* The temporary mode of a restore; any other was set by somebody else. */
	if (!fstat(fd, &st) && (st.st_mode & 07777) != mode &&
	    ((st.st_mode & 07777) == 0700 || (st.st_mode & 07777) == (mode | 0700))) {
		readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)beneath_set_mode(fd, ".", mode);
		if (readable >= 0) {
			(void)fsync(readable);
			close(readable);
		}
	}
	close(fd);
}

void restore_settle_modes(struct restore *r)
{
	const struct strlist *modes = &r->journal.modes;

	for (size_t i = 0; i < modes->nr; i++)
		settle_mode(r->stage.rootfd, noted_path(modes->items[i]),
			    (mode_t)strtoul(modes->items[i], NULL, 8) & 07777);
}

/* --- the journal --- */

int restore_begin_journal(struct restore *r, const char *safety)
{
	struct journal *journal = &r->journal;
	char *others = journal->stages;
	/* However an interrupted restore is finished, its two end points stay the same. */
	if (!r->opts->step.interrupted) {
		/* It will be written: what cannot be read now would be lost. */
		int err = journal_undo_read(&journal->undo, r->session->store);

		if (err)
			return err;
		snprintf(journal->target, sizeof(journal->target), "%s", r->opts->target->id);
		snprintf(journal->safety, sizeof(journal->safety), "%s", safety);
		journal->kind = r->opts->kind;
		journal->reason = xstrdup(r->opts->reason ? r->opts->reason : "");
		journal->source = xstrdup(restore_source(r->opts));
		strlist_extend(&journal->paths, r->touched.nr ? &r->touched : r->opts->paths);
		journal->no_delete = r->opts->no_delete;
		gitback_note(&r->git);
	}
	journal->stages = xstrfmt("%s%s%s", others ? others : "", others ? " " : "",
				  r->stage.name ? r->stage.name : "");
	free(others);
	strlist_extend(&journal->made, &r->made);
	strlist_sort_unique(&journal->made);
	add_made_modes(&journal->modes, r);
	return journal_write(journal, r->session->store);
}

int restore_note_replay(struct restore *r)
{
	r->journal.replaying = true;
	return journal_write(&r->journal, r->session->store);
}

/* The journal has them all, including those from before an interruption. */
static void replace_made(struct undo_entry *entry, const struct journal *journal)
{
	strlist_release(&entry->made);
	strlist_extend(&entry->made, &journal->made);
}

static void note_source(struct undo_entry *entry, const struct journal *journal)
{
	free(entry->source);
	entry->source = xstrdup(journal->source);
}

static void note_git(struct undo_entry *entry, const struct journal *journal)
{
	entry->git = journal->git;
	strlist_extend(&entry->refs, &journal->refs);
	strlist_extend(&entry->config, &journal->config);
}

/*
 * Update the stack that undo and redo walk, from what it was before the restore, however often that
 * was interrupted; or go back to that.
 */
int restore_note(struct restore *r, const char *safety)
{
	const char *before = r->opts->step.interrupted ? r->opts->step.interrupted->id : safety;
	bool idle = plan_is_empty(&r->plan) && gitback_is_empty(&r->git) && !r->opts->step.interrupted;
	struct undo_stack *stack = &r->journal.undo;
	struct undo_entry *entry;

	if (r->opts->step.abort || idle) {
		/* As it was: a step that did nothing is not used up. */
	} else if (r->opts->kind == JOURNAL_UNDO) {
		entry = stack->done ? &stack->items[stack->done - 1] : NULL;
		if (entry && !strcmp(entry->before, r->opts->target->id)) {
			snprintf(entry->after, sizeof(entry->after), "%s", before);
			stack->done--;
			replace_made(entry, &r->journal);
		}
	} else if (r->opts->kind == JOURNAL_REDO) {
		entry = stack->done < stack->nr ? &stack->items[stack->done] : NULL;
		if (entry && !strcmp(entry->after, r->opts->target->id)) {
			snprintf(entry->before, sizeof(entry->before), "%s", before);
			snprintf(entry->restored, sizeof(entry->restored), "%s", entry->after);
			stack->done++;
			replace_made(entry, &r->journal);
			note_source(entry, &r->journal);
		}
	} else {
		journal_undo_push(stack, before, r->opts->target->id,
				  r->touched.nr ? &r->touched : &r->scope, &r->journal.made);
		note_git(&stack->items[stack->nr - 1], &r->journal);
		note_source(&stack->items[stack->nr - 1], &r->journal);
	}
	return journal_undo_write(stack, r->session->store);
}

static int settle_one(struct restore_result *out, struct restore *r, int rootfd, const char *name)
{
	struct strbuf rescued = STRBUF_INIT;
	int err = stage_settle(&rescued, r->session->store, rootfd, name);

	if (!err && rescued.len) {
		strlist_addf(&out->warnings, "Kept: %s (files that are in no checkpoint, from the moment "
					     "of the interruption)",
			     rescued.buf);
		out->incomplete = true;
	}
	strbuf_release(&rescued);
	return err;
}

/* What interrupted restores had prepared, and what they had displaced. */
static int settle_stages(struct restore_result *out, struct restore *r, bool free_only)
{
	int rootfd = r->job.current.scan ? r->job.current.scan->rootfd : -1;
	struct stage_dirs dirs = { 0 };
	int err = 0;

	if (rootfd >= 0)
		stage_dir_list(&dirs, r->session->store, r->session->worktree);
	for (size_t i = 0; i < dirs.nr && !err; i++) {
		const char *name = dirs.items[i].name;

		if (dirs.items[i].kind != STAGE_DIR_OWN)
			continue;
		/*
		 * A directory that the journal does not know was never used, perhaps not even
		 * filled.
		 */
		if (!strstr(r->journal.stages, name))
			err = stage_dir_remove(r->session->store, rootfd, name);
		else if (free_only)
			err = stage_settle(NULL, r->session->store, rootfd, name);
		else
			err = settle_one(out, r, rootfd, name);
	}
	stage_dirs_release(&dirs);
	return err;
}

int restore_free_stages(struct restore *r)
{
	return settle_stages(NULL, r, true);
}

int restore_settle_stages(struct restore_result *out, struct restore *r)
{
	return settle_stages(out, r, false);
}
