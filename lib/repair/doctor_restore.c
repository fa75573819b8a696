/* SPDX-License-Identifier: MIT */
#include "repair/repair_internal.h"

#include "look/look.h"
#include "record/record.h"
#include "session/session.h"

/*
 * The newest checkpoint that was taken before a restore, or else the newest; NULL if there is none.
 */
static char *safety_of(struct doctor *doctor)
{
	struct ckpt_records records;
	char *id = NULL;

	if (lookup_records(&records, doctor->store))
		return NULL;
	for (size_t i = records.nr; i-- && !id;)
		if (!strncmp(records.items[i].reason, "pre-restore-safety",
			     strlen("pre-restore-safety")))
			id = xstrdup(records.items[i].id);
	if (!id && records.nr)
		id = xstrdup(records.items[records.nr - 1].id);
	lookup_records_release(&records);
	return id;
}

static int settle_stage(struct doctor *doctor, const struct stage_dir *dir)
{
	int rootfd = open(doctor->session->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct strbuf rescued = STRBUF_INIT;

	if (rootfd < 0)
		return ckpt_error_errno("unable to open '%s'", doctor->session->worktree);
	err = stage_settle(&rescued, doctor->store, rootfd, dir->name);
	if (!err && rescued.len)
		problems_addf(doctor->out, true,
			      "'%s' holds files that the interrupted restore replaced and that are in no "
			      "checkpoint; look at it",
			      rescued.buf);
	strbuf_release(&rescued);
	close(rootfd);
	return err;
}

/* What is in the stages may be in no checkpoint: settle, do not sweep. */
static int settle_all(struct doctor *doctor)
{
	struct stage_dirs dirs;
	int err = 0;

	stage_dir_list(&dirs, doctor->store, doctor->session->worktree);
	for (size_t i = 0; i < dirs.nr && !err; i++)
		if (dirs.items[i].kind == STAGE_DIR_OWN)
			err = settle_stage(doctor, &dirs.items[i]);
	stage_dirs_release(&dirs);
	return err;
}

/* Neither finished nor undone; what it displaced is not lost. */
static int end_restore(struct doctor *doctor)
{
	int err = settle_all(doctor);

	return err ? err : journal_remove(doctor->store);
}

/* Only this is damage; being unable to look is not. */
static bool means_damage(int err)
{
	return err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT;
}

static int verify_whole(bool *out, struct doctor *doctor, const struct ckpt_record *record)
{
	struct verify_result result;
	int err = verify_record(&result, doctor->session, record, doctor->progress);

	*out = !err && !result.problems.nr;
	strlist_release(&result.problems);
	return err;
}

static int verify_paths(bool *out, struct doctor *doctor, const struct ckpt_record *record,
			const struct strlist *paths)
{
	struct contents_opts opts = {
		.threads = doctor->session->threads,
		.progress = doctor->progress,
	};
	struct snapshot *snapshot = NULL;
	int err = snapshot_open(&snapshot, doctor->store, record);

	if (!err)
		err = contents_hash_paths(snapshot, paths, &opts);
	snapshot_free(snapshot);
	*out = !err;
	return means_damage(err) ? 0 : err;
}

/* Whether a checkpoint has everything that its restore needs. */
static int is_sound(bool *out, struct doctor *doctor, const char *id, const struct strlist *paths)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err = lookup_target(&record, doctor->store, id);

	*out = false;
	if (!err)
		err = paths->nr ? verify_paths(out, doctor, &record, paths) :
				  verify_whole(out, doctor, &record);
	record_release(&record);
	return means_damage(err) ? 0 : err;
}

/* --abort needs all of one checkpoint; --continue needs its record, and all of the other. */
static int can_be_settled(bool *out, struct doctor *doctor, const struct journal *journal)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err = lookup_name(&record, doctor->store, journal->safety);

	record_release(&record);
	*out = false;
	if (err)
		return means_damage(err) ? 0 : err;
	err = is_sound(out, doctor, journal->safety, &journal->paths);
	return err || *out ? err : is_sound(out, doctor, journal->target, &journal->paths);
}

/* Neither is possible, and until one is done no other restore is: end it as it is. */
static int check_settleable(struct doctor *doctor, const struct journal *journal)
{
	bool settleable;
	int err = can_be_settled(&settleable, doctor, journal);

	if (err || settleable)
		return err;
	if (doctor->fix)
		err = end_restore(doctor);
	if (!err)
		problems_addf(doctor->out, doctor->fix,
			      "the interrupted restore of '%s' can be neither continued nor aborted, as "
			      "its checkpoints are damaged%s",
			      journal->target,
			      doctor->fix ? "; it was ended, and the worktree is as it left it" : "");
	return err;
}

static int check_journal(struct doctor *doctor)
{
	struct journal journal;
	char *safety;
	int err = journal_read(&journal, doctor->store);

	if (!err) {
		err = check_settleable(doctor, &journal);
		journal_release(&journal);
		return err;
	}
	if (err != CKPT_ECORRUPT)
		return err == CKPT_ENOTFOUND ? 0 : err;
	err = 0;
	safety = safety_of(doctor);
	if (!safety) {
		problems_addf(
			doctor->out, false,
			"the journal of an interrupted restore is damaged, and no checkpoint is "
			"left to go back to; look at the worktree, then remove "
			"'%s/checkpoint/journal'",
			doctor->store->path);
		return 0;
	}
	if (doctor->fix)
		err = end_restore(doctor);
	if (!err)
		problems_addf(doctor->out, doctor->fix,
			      "the journal of an interrupted restore is damaged%s; the state before it is "
			      "most likely '%s', 'git checkpoint restore' restores it",
			      doctor->fix ? " and was removed" : "", safety);
	free(safety);
	return err;
}

/*
 * Of another store, or of this folder when it was elsewhere: it may hold the
 * last copy of a file. As long as the other store knows it, that store must
 * deal with it.
 */
static int check_foreign(struct doctor *doctor, const struct stage_dir *dir)
{
	bool known = stage_dir_is_known(dir), fix = doctor->fix && !known;
	int err;

	if (!fix) {
		problems_addf(doctor->out, false,
			      "'%s' belongs to a restore of '%s' with the checkpoints in '%s', and may "
			      "hold files that it replaced; %s",
			      dir->name, dir->worktree, dir->store,
			      !known ? "that restore is no longer known there; --fix removes the "
				       "directory if checkpoints have everything in it, and renames it "
				       "otherwise" :
			      strcmp(dir->worktree, doctor->session->worktree) ?
				       "if the folder was moved, 'git checkpoint relink' adopts those "
				       "checkpoints; if you rename it, it becomes an ordinary directory" :
				       "finish that restore; if you rename it, it becomes an ordinary "
				       "directory");
		return 0;
	}
	err = settle_stage(doctor, dir);
	if (!err)
		problems_addf(doctor->out, true,
			      "'%s' was left by a forgotten restore of '%s'; cleaned up",
			      dir->name, dir->worktree);
	return err;
}

/* If the journal cannot be read, it is unknown what is in it. */
static int check_stray(struct doctor *doctor, const struct stage_dir *dir)
{
	bool fix = doctor->fix && !journal_exists(doctor->store);
	int err = fix ? settle_stage(doctor, dir) : 0;

	if (!err)
		problems_addf(doctor->out, fix, "'%s' is left over from a finished restore%s", dir->name,
			      fix ? "; settled" : ", 'git checkpoint save' removes it");
	return err;
}

static int check_stages(struct doctor *doctor)
{
	struct strlist notes = STRLIST_INIT; /* settled above */
	struct stage_dirs dirs;
	size_t nr = 0;
	int err = 0;

	stage_dir_list(&dirs, doctor->store, doctor->session->worktree);
	for (size_t i = 0; i < dirs.nr && !err; i++) {
		if (dirs.items[i].kind == STAGE_DIR_FOREIGN)
			err = check_foreign(doctor, &dirs.items[i]);
		else if (dirs.items[i].kind == STAGE_DIR_STRAY)
			err = check_stray(doctor, &dirs.items[i]);
		else
			nr++;
	}
	stage_dirs_release(&dirs);
	/* With a journal they are part of the interrupted restore. */
	if (err || !nr || journal_exists(doctor->store))
		return err;
	if (doctor->fix)
		stage_sweep(&notes, doctor->store, doctor->session->worktree);
	problems_addf(doctor->out, doctor->fix,
		      "a restore that was killed before it changed anything left %zu %s in the "
		      "worktree%s",
		      nr, nr == 1 ? "directory" : "directories", doctor->fix ? "; removed" : "");
	strlist_release(&notes);
	return 0;
}

int doctor_restores(struct doctor *doctor)
{
	int err = check_journal(doctor);

	return err ? err : check_stages(doctor);
}
