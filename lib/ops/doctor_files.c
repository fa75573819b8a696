/* SPDX-License-Identifier: MIT */
#include "ops/doctor_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/json.h"
#include "ops/session.h"
#include "ops/stage.h"
#include "ops/staging.h"
#include "ops/verify.h"
#include "record/journal.h"
#include "record/lookup.h"
#include "record/lost.h"
#include "record/snapshot.h"
#include "store/objects.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- temporaries --- */

static size_t count_names(int dirfd, const char *path, bool (*wanted)(const char *name))
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	size_t nr = 0;

	while (dir && (ent = readdir(dir)))
		nr += wanted(ent->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return nr;
}

void doctor_temporaries(struct doctor *doctor)
{
	static const char *const dirs[] = { ".", "objects/pack", "checkpoint", "info" };
	int lock = openat(doctor->store->dirfd, "checkpoint/lock",
			  O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* While another process works, they may be its own; none shall begin while they are counted. */
	bool in_use = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0;
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(dirs) && !in_use; i++)
		nr += count_names(doctor->store->dirfd, dirs[i], fs_is_temp);
	if (lock >= 0)
		close(lock);
	if (nr)
		problems_addf(doctor->out, doctor->fix,
			      "%zu half-written %s left by a process that was killed%s", nr,
			      nr == 1 ? "file was" : "files were", doctor->fix ? "; removed" : "");
}

/* --- marks and the branch that git log begins at --- */

static bool names_commit(struct oid *out, struct store *store, const char *path)
{
	struct strbuf text = STRBUF_INIT;
	bool ok = !fs_read_file(&text, store->dirfd, path) && text.len >= OID_HEX &&
		  oid_parse(out, text.buf);

	strbuf_release(&text);
	return ok;
}

/* refs/pinned/<id> and the like name the commit of their checkpoint. */
static int check_mark(struct doctor *doctor, const char *dir, const char *id, enum refs_mark mark,
		      const struct ref_list *refs)
{
	char *path = xstrfmt("%s/%s", dir, id);
	const struct ref_item *ref = NULL;
	struct oid oid;
	int err = 0;

	for (size_t i = 0; i < refs->nr; i++)
		if (!strcmp(refs->items[i].id, id))
			ref = &refs->items[i];
	if (!names_commit(&oid, doctor->store, path) || !ref || !oid_equal(&oid, &ref->commit)) {
		/* That of a damaged one is all that is left of what the user said. */
		bool keep = ref && oid_is_zero(&ref->commit);

		if (doctor->fix && ref && !keep)
			err = refs_set_mark(doctor->store, id, &ref->commit, mark);
		else if (doctor->fix && !ref)
			unlinkat(doctor->store->dirfd, path, 0);
		if (!err && !keep)
			problems_addf(doctor->out, doctor->fix,
				      "'%s' does not belong to a checkpoint%s", path,
				      !doctor->fix ? ""
				      : ref	   ? "; it was made anew"
						   : "; removed");
	}
	free(path);
	return err;
}

static int check_marks(struct doctor *doctor, const struct ref_list *refs, const char *name,
		       enum refs_mark mark)
{
	int fd = openat(doctor->store->dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	int err = 0;

	while (dir && !err && (ent = readdir(dir)))
		if (refs_valid_id(ent->d_name))
			err = check_mark(doctor, name, ent->d_name, mark, refs);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return err;
}

/* Only a convenience, but stock git would complain of one that leads nowhere. */
static void check_latest(struct doctor *doctor, const struct ref_list *refs)
{
	static const char name[] = "refs/heads/latest";
	const struct oid *newest = NULL;
	struct strbuf text = STRBUF_INIT;
	struct oid oid;

	for (size_t i = refs->nr; i-- && !newest;) {
		strbuf_reset(&text);
		if (!objects_read(&text, doctor->store, &refs->items[i].commit, OBJECT_COMMIT))
			newest = &refs->items[i].commit;
	}
	strbuf_reset(&text);
	if (!faccessat(doctor->store->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) &&
	    (!names_commit(&oid, doctor->store, name) ||
	     objects_read(&text, doctor->store, &oid, OBJECT_COMMIT))) {
		if (doctor->fix && newest)
			refs_set_latest(doctor->store, newest);
		else if (doctor->fix)
			unlinkat(doctor->store->dirfd, name, 0);
		problems_addf(doctor->out, doctor->fix, "'%s' leads to no checkpoint%s", name,
			      doctor->fix ? "; it was made anew" : "");
	}
	strbuf_release(&text);
}

/* With --fix they have their refs again, and with those come their marks. */
static int add_lost(struct ref_list *refs, struct doctor *doctor)
{
	struct ref_list lost = { 0 };
	int err = doctor->fix ? 0 : lost_find(&lost, doctor->store, refs, false);

	for (size_t i = 0; i < lost.nr; i++) {
		if (oid_is_zero(&lost.items[i].commit))
			continue;
		ALLOC_GROW(refs->items, refs->nr + 1, refs->alloc);
		refs->items[refs->nr++] = lost.items[i];
	}
	ref_list_release(&lost);
	return err;
}

static int check_other_refs(struct doctor *doctor)
{
	struct ref_list refs;
	int err = refs_list(&refs, doctor->store);

	if (!err)
		err = add_lost(&refs, doctor);
	if (!err)
		err = check_marks(doctor, &refs, "refs/pinned", REFS_PINNED);
	if (!err)
		err = check_marks(doctor, &refs, "refs/unpinned", REFS_UNPINNED);
	if (!err)
		check_latest(doctor, &refs);
	ref_list_release(&refs);
	return err;
}

/* --- the audit trail and the stack of undo --- */

/* Copy the sound lines; the number of the others. */
static size_t sound_lines(struct strbuf *out, const struct strbuf *text)
{
	size_t at = 0, bad = 0;

	while (at < text->len) {
		const char *line = text->buf + at, *end = memchr(line, '\n', text->len - at);
		size_t len = end ? (size_t)(end - line) : text->len - at;
		json_t *entry = json_loadb(line, len, 0, NULL);

		if (json_is_object(entry)) {
			strbuf_add(out, line, len);
			strbuf_addch(out, '\n');
		} else if (len) {
			bad++;
		}
		json_decref(entry);
		at += len + 1;
	}
	return bad;
}

static int check_log(struct doctor *doctor)
{
	static const char name[] = "checkpoint/log";
	struct strbuf text = STRBUF_INIT, sound = STRBUF_INIT;
	int err = 0;
	size_t bad;

	if (!fs_read_file(&text, doctor->store->dirfd, name)) {
		bad = sound_lines(&sound, &text);
		if (bad && doctor->fix)
			err = fs_write_file(doctor->store->dirfd, name, sound.buf, sound.len, 0600,
					    FS_DURABLE);
		if (bad && !err)
			problems_addf(doctor->out, doctor->fix,
				      "%zu %s of the audit trail cannot be read%s", bad,
				      bad == 1 ? "line" : "lines",
				      doctor->fix ? "; the others were kept" : "");
	}
	strbuf_release(&text);
	strbuf_release(&sound);
	return err;
}

static void check_undo(struct doctor *doctor)
{
	static const char name[] = "checkpoint/undo";
	struct strbuf text = STRBUF_INIT;
	json_t *stack = NULL;

	if (!fs_read_file(&text, doctor->store->dirfd, name)) {
		stack = json_loadb(text.buf, text.len, 0, NULL);
		if (!json_is_array(json_object_get(stack, "restores"))) {
			if (doctor->fix)
				unlinkat(doctor->store->dirfd, name, 0);
			problems_addf(
				doctor->out, doctor->fix,
				"the list of restores that undo goes back through is damaged%s; "
				"their safety checkpoints are there, see 'git checkpoint list'",
				doctor->fix ? " and was removed" : "");
		}
		json_decref(stack);
	}
	strbuf_release(&text);
}

/* --- restores --- */

/* The newest checkpoint that was taken before a restore, else the newest; NULL if there is none. */
static char *safety_of(struct doctor *doctor)
{
	struct ckpt_records records;
	char *id = NULL;

	if (ckpt_records_read(&records, doctor->store))
		return NULL;
	for (size_t i = records.nr; i-- && !id;)
		if (!strncmp(records.items[i].reason, "pre-restore-safety",
			     strlen("pre-restore-safety")))
			id = xstrdup(records.items[i].id);
	if (!id && records.nr)
		id = xstrdup(records.items[records.nr - 1].id);
	ckpt_records_release(&records);
	return id;
}

static int settle(struct doctor *doctor, const struct staging_dir *dir)
{
	int rootfd = open(doctor->session->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct strbuf rescued = STRBUF_INIT;

	if (rootfd < 0)
		return ckpt_error_errno("unable to open '%s'", doctor->session->worktree);
	err = stage_settle(&rescued, doctor->store, rootfd, dir->name);
	if (!err && rescued.len)
		problems_addf(doctor->out, true,
			      "'%s' holds what the interrupted restore replaced and no "
			      "checkpoint "
			      "has; look at it",
			      rescued.buf);
	strbuf_release(&rescued);
	close(rootfd);
	return err;
}

/* What is in the staging directories may be in no checkpoint: settle, not sweep. */
static int settle_all(struct doctor *doctor)
{
	struct staging_dirs dirs;
	int err = 0;

	staging_list(&dirs, doctor->store, doctor->session->worktree);
	for (size_t i = 0; i < dirs.nr && !err; i++)
		if (dirs.items[i].kind == STAGING_OWN)
			err = settle(doctor, &dirs.items[i]);
	staging_dirs_release(&dirs);
	return err;
}

/* Only this is damage; not having been able to look is not. */
static bool means_damage(int err)
{
	return err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT;
}

static int verify_whole(bool *out, struct doctor *doctor, const struct ckpt_record *record)
{
	struct ref_item ref = { .commit = record->commit };
	struct verify_result result = { 0 };
	struct verify verify;
	int err;

	memcpy(ref.id, record->id, sizeof(ref.id));
	verify_begin(&verify, doctor->session, doctor->progress);
	err = ckpt_verify(&result, &verify, &ref);
	verify_end(&verify);
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

/* Whether all is there of a checkpoint that its restore needs. */
static int is_sound(bool *out, struct doctor *doctor, const char *id, const struct strlist *paths)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err = ckpt_lookup(&record, doctor->store, id);

	*out = false;
	if (!err)
		err = paths->nr ? verify_paths(out, doctor, &record, paths) :
				  verify_whole(out, doctor, &record);
	ckpt_record_release(&record);
	return means_damage(err) ? 0 : err;
}

/* --abort needs all of the one checkpoint; --continue its record, and all of the other. */
static int can_be_settled(bool *out, struct doctor *doctor, const struct journal *journal)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err = ckpt_lookup(&record, doctor->store, journal->safety);

	ckpt_record_release(&record);
	*out = false;
	if (err)
		return means_damage(err) ? 0 : err;
	err = is_sound(out, doctor, journal->safety, &journal->paths);
	return err || *out ? err : is_sound(out, doctor, journal->target, &journal->paths);
}

/* Neither way is open, and until one is taken no other restore is: end it as it is. */
static int check_settleable(struct doctor *doctor, const struct journal *journal)
{
	bool settleable;
	int err = can_be_settled(&settleable, doctor, journal);

	if (err || settleable)
		return err;
	if (doctor->fix) {
		err = settle_all(doctor);
		if (!err)
			err = journal_remove(doctor->store);
	}
	if (!err)
		problems_addf(doctor->out, doctor->fix,
			      "the restore of '%s' that was interrupted can neither be continued nor "
			      "aborted, since its checkpoints are damaged%s",
			      journal->target,
			      doctor->fix ? "; it was ended, the worktree is as it had left it" : "");
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
	if (doctor->fix) {
		err = settle_all(doctor);
		if (!err)
			err = journal_remove(doctor->store);
	}
	if (!err)
		problems_addf(doctor->out, doctor->fix,
			      "the journal of an interrupted restore is damaged%s; the state "
			      "before it is "
			      "most likely '%s', 'git checkpoint restore' brings it back",
			      doctor->fix ? " and was removed" : "", safety);
	free(safety);
	return err;
}

/*
 * Of another store, or of this folder when it was elsewhere: what is in it may
 * be all that is left of a file. As long as the other store knows of it, that
 * one has to settle it.
 */
static int check_foreign(struct doctor *doctor, const struct staging_dir *dir)
{
	bool known = staging_is_known(dir), fix = doctor->fix && !known;
	int err;

	if (!fix) {
		problems_addf(doctor->out, false,
			      "'%s' belongs to a restore of '%s' with the checkpoints in '%s', and may "
			      "hold files that it replaced; %s",
			      dir->name, dir->worktree, dir->store,
			      !known ? "that has been forgotten there, --fix removes it if all of it is in "
				       "checkpoints, and renames it else" :
			      strcmp(dir->worktree, doctor->session->worktree) ?
				       "if the folder was moved, 'git checkpoint relink' takes those "
				       "checkpoints along; renamed, it is a directory like any other" :
				       "finish that one; renamed, it is a directory like any other");
		return 0;
	}
	err = settle(doctor, dir);
	if (!err)
		problems_addf(doctor->out, true,
			      "'%s' was left by a restore of '%s' that nobody knows of any more; "
			      "settled",
			      dir->name, dir->worktree);
	return err;
}

static int check_staging(struct doctor *doctor)
{
	struct staging_dirs dirs;
	size_t nr = 0;
	int err = 0;

	staging_list(&dirs, doctor->store, doctor->session->worktree);
	for (size_t i = 0; i < dirs.nr && !err; i++) {
		if (dirs.items[i].kind == STAGING_FOREIGN)
			err = check_foreign(doctor, &dirs.items[i]);
		else
			nr++;
	}
	staging_dirs_release(&dirs);
	/* With a journal they are part of what is interrupted. */
	if (err || !nr || journal_exists(doctor->store))
		return err;
	if (doctor->fix)
		staging_sweep(doctor->store, doctor->session->worktree);
	problems_addf(doctor->out, doctor->fix,
		      "a restore that was killed before it changed anything left %zu %s in the "
		      "worktree%s",
		      nr, nr == 1 ? "directory" : "directories", doctor->fix ? "; removed" : "");
	return 0;
}

int doctor_files(struct doctor *doctor)
{
	int err = check_other_refs(doctor);

	if (!err)
		err = check_log(doctor);
	check_undo(doctor);
	if (!err)
		err = check_journal(doctor);
	return err ? err : check_staging(doctor);
}
