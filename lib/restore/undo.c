/* SPDX-License-Identifier: MIT */
#include "restore/restore.h"

#include "restore/restore_internal.h"
#include "session/session.h"

const char *restore_source(const struct restore_opts *opts)
{
	return opts->source ? opts->source : JOURNAL_SOURCE;
}

int restore_check_source(const struct restore_opts *opts)
{
	if (opts->kind != JOURNAL_UNDO || opts->step.interrupted || !opts->step.source ||
	    !strcmp(opts->step.source, restore_source(opts)))
		return 0;
	return ckpt_error_set(CKPT_EREFUSED,
			      "the last restore was asked for by '%s', not by '%s'; --force undoes "
			      "it anyway",
			      opts->step.source, restore_source(opts));
}

/* If it is gone nothing is exempt: then more is kept than necessary. */
static void take_back(struct undo_job *job, struct session *session, const char *id)
{
	if (*id && !lookup_target(&job->previous, session->store, id))
		job->opts.step.previous = &job->previous;
}

static void take_back_step(struct undo_job *job, struct session *session,
			   const struct undo_entry *entry, bool back)
{
	take_back(job, session, back ? entry->restored : entry->before);
	strlist_extend(&job->made, &entry->made);
}

/* The repository goes back with the files, and forth again. */
static void take_git(struct undo_job *job, enum journal_git git, const struct strlist *refs,
		     const struct strlist *config, bool back)
{
	strlist_extend(&job->git_refs, refs);
	strlist_extend(&job->git_config, config);
	job->opts.git.what = git;
	job->opts.git.refs = &job->git_refs;
	job->opts.git.config = &job->git_config;
	job->opts.git.reverse = back;
}

/* Continuing an undo or redo reverses the same restore. */
static void continue_step(struct undo_job *job, struct session *session)
{
	const struct undo_stack *stack = &job->journal.undo;
	bool back = job->opts.kind == JOURNAL_UNDO;
	const struct undo_entry *entry = NULL;

	if (back && stack->done)
		entry = &stack->items[stack->done - 1];
	else if (!back && stack->done < stack->nr)
		entry = &stack->items[stack->done];
	if (entry && !strcmp(back ? entry->before : entry->after, job->target.id))
		take_back_step(job, session, entry, back);
}

/* Whether what was restored then had come from elsewhere, or was what another one led to that had. */
static bool came_from_elsewhere(struct session *session, const char *name)
{
	struct ckpt_record record;
	bool foreign = strchr(name, '/');

	if (foreign || lookup_target(&record, session->store, name))
		return foreign;
	foreign = record_is_foreign(&record) ||
		  (*record.composed_for && came_from_elsewhere(session, record.composed_for));
	record_release(&record);
	return foreign;
}

static int from_stack(struct undo_job *job, struct session *session, bool back)
{
	struct undo_stack stack;
	int err = journal_undo_read(&stack, session->store);

	if (err)
		return err;
	if (stack.damaged) {
		err = ckpt_error_set(CKPT_ENOTFOUND,
				     "the list of restores for undo is damaged; their safety checkpoints "
				     "still exist, see 'git checkpoint list'");
	} else if (back ? !stack.done : stack.done == stack.nr) {
		err = ckpt_error_set(CKPT_ENOTFOUND, back ? "no restore to undo" :
							    "no undone restore to redo");
	} else {
		struct undo_entry *entry = &stack.items[back ? stack.done - 1 : stack.done];

		strlist_extend(&job->paths, &entry->paths);
		take_back_step(job, session, entry, back);
		take_git(job, entry->git, &entry->refs, &entry->config, back);
		job->source = back ? xstrdup(entry->source) : NULL;
		job->opts.step.source = job->source;
		job->opts.step.foreign = !back && came_from_elsewhere(session, entry->restored);
		err = lookup_name(&job->target, session->store,
				  back ? entry->before : entry->after);
		/* Not "nothing to do". */
		if (err == CKPT_ENOTFOUND)
			err = ckpt_error_set(CKPT_ERROR,
					     "checkpoint '%s', which %s leads to, is gone; 'git "
					     "checkpoint log' says when and why",
					     back ? entry->before : entry->after,
					     back ? "undo" : "redo");
	}
	journal_undo_release(&stack);
	job->opts.kind = back ? JOURNAL_UNDO : JOURNAL_REDO;
	return err;
}

static int from_journal(struct undo_job *job, struct session *session, bool abort)
{
	const struct journal *journal = &job->journal;
	int err = journal_read(&job->journal, session->store);

	if (err == CKPT_ENOTFOUND)
		return ckpt_error_set(err, "no restore was interrupted; nothing to continue or abort");
	if (err)
		return err;
	err = lookup_name(&job->interrupted, session->store, journal->safety);
	if (err)
		err = ckpt_error_prefix(err, "the state before the interrupted restore cannot be read; "
					     "'git checkpoint doctor --fix' fixes that or ends the "
					     "restore as it is");
	else
		err = lookup_target(&job->target, session->store,
				  abort ? journal->safety : journal->target);
	if (err)
		return err == CKPT_ENOTFOUND ? CKPT_ERROR : err;
	job->opts.step.interrupted = &job->interrupted;
	job->opts.step.journal = journal;
	job->opts.paths = &journal->paths;
	job->opts.no_delete = !abort && journal->no_delete;
	job->opts.step.abort = abort;
	job->opts.kind = journal->kind;
	if (*journal->reason)
		job->opts.reason = journal->reason;
	job->opts.source = journal->source;
	take_git(job, journal->git, &journal->refs, &journal->config, abort);
	if (abort) {
		take_back(job, session, journal->target);
		strlist_extend(&job->made, &journal->made);
	} else if (!journal_kind_is_new(job->opts.kind)) {
		continue_step(job, session);
	}
	return 0;
}

int undo_job_init(struct undo_job *job, struct session *session, enum undo_way way)
{
	int err;

	memset(job, 0, sizeof(*job));
	job->target = job->interrupted = job->previous = (struct ckpt_record)CKPT_RECORD_INIT;
	job->opts.target = &job->target;
	job->opts.paths = &job->paths;
	job->opts.step.made = &job->made;
	if (way == UNDO_BACK || way == UNDO_FORTH)
		err = from_stack(job, session, way == UNDO_BACK);
	else
		err = from_journal(job, session, way == UNDO_ABORT);
	return err;
}

void undo_job_release(struct undo_job *job)
{
	record_release(&job->target);
	record_release(&job->interrupted);
	record_release(&job->previous);
	journal_release(&job->journal);
	free(job->source);
	strlist_release(&job->paths);
	strlist_release(&job->made);
	strlist_release(&job->git_refs);
	strlist_release(&job->git_config);
}
