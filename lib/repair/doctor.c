/* SPDX-License-Identifier: MIT */
#include "repair/repair_internal.h"

#include "keep/keep.h"
#include "look/look.h"
#include "record/record.h"
#include "save/save.h"
#include "session/session.h"

/* --- the store itself --- */

/* What was wrong when it was opened, and whether it still is. */
static void report_damage(struct doctor *doctor)
{
	const struct strlist *damage = &doctor->store->damage;
	struct strlist still = STRLIST_INIT;

	if (damage->nr && doctor->fix)
		(void)health_check(&still, doctor->store);
	for (size_t i = 0; i < damage->nr; i++) {
		bool fixed = doctor->fix && !strlist_has(&still, damage->items[i]);

		problems_addf(doctor->out, fixed, "%s%s", damage->items[i], fixed ? "; it was repaired" : "");
	}
	strlist_release(&still);
}

static char *path_of_store(const struct session *session)
{
	char key[STORE_KEY_SIZE];

	store_key(key, session->worktree);
	return xstrfmt("%s/%s", session->home, key);
}

/* One that cannot be opened: why. What is in its place is moved away, and what waits to be merged merged. */
static int open_store(struct doctor *doctor)
{
	struct session *session = doctor->session;
	struct strlist waiting = STRLIST_INIT;
	char *path = path_of_store(session);
	int err = session->store ? 0 : store_open(&session->store, session->worktree);
	bool make = err == CKPT_ECORRUPT && doctor->fix;

	if (err && err != CKPT_ENOTFOUND) {
		problems_addf(doctor->out, make, "%s", ckpt_error_last());
		err = 0;
	} else if (err) {
		err = salvage_waiting(&waiting, session->home, path);
		make = waiting.nr && doctor->fix;
	}
	if (make)
		err = store_open_or_create(&session->store, session->worktree);
	doctor->store = session->store;
	strlist_release(&waiting);
	free(path);
	return err;
}

static int check_waiting(struct doctor *doctor)
{
	struct strlist waiting = STRLIST_INIT;
	char *path = path_of_store(doctor->session);
	int err = salvage_waiting(&waiting, doctor->session->home, path);

	for (size_t i = 0; i < waiting.nr && !err; i++)
		err = salvage_store(doctor->out, doctor->session, waiting.items[i], doctor->fix);
	strlist_release(&waiting);
	free(path);
	return err;
}

/* --- refs --- */

/* A ref that does not lead to its record: the commit that does may still exist. */
static int check_ref(struct doctor *doctor, struct ref_item *ref, struct ref_list *commits,
		     bool *listed)
{
	struct ckpt_record record;
	const struct ref_item *found;
	int err = record_read_saved(&record, doctor->store, ref);

	if (!err) {
		record_release(&record);
		return 0;
	}
	if (!*listed) {
		err = lost_commits(commits, doctor->store);
		if (err)
			return err;
		*listed = true;
	}
	found = refs_find(commits, ref->id);
	if (!found)
		return 0; /* verify will say what is wrong with it */
	if (doctor->fix)
		err = refs_create(doctor->store, ref->id, &found->commit);
	else
		err = 0;
	if (err)
		return err;
	problems_addf(doctor->out, doctor->fix, "the ref of checkpoint '%s' is damaged%s", ref->id,
		      doctor->fix ? "; it was recreated" : ", its commit still exists");
	ref->commit = found->commit;
	return 0;
}

static int check_lost(struct doctor *doctor, const struct ref_item *ref)
{
	bool gone = oid_is_zero(&ref->commit);
	int err = 0;

	if (doctor->fix && !gone) {
		err = refs_create(doctor->store, ref->id, &ref->commit);
		if (!err)
			(void)audit_add(doctor->store, "salvage", ref->id, &ref->commit, NULL,
					NULL);
	}
	/* If its commit is gone, there is nothing to keep. */
	if (doctor->fix && !err)
		err = lost_forget(doctor->store, ref->id);
	if (!err)
		problems_addf(doctor->out, doctor->fix && !gone,
			      "checkpoint '%s' has lost its ref%s", ref->id,
			      gone	    ? ", and its commit is gone; it cannot be fixed"
			      : doctor->fix ? "; it was recreated"
					    : ", its commit still exists");
	return err;
}

static int check_refs(struct doctor *doctor)
{
	struct ref_list refs, lost = { 0 }, commits = { 0 };
	bool listed = false;
	int err = refs_list(&refs, doctor->store);

	for (size_t i = 0; !err && i < refs.nr; i++)
		err = check_ref(doctor, &refs.items[i], &commits, &listed);
	if (!err && doctor->fix)
		err = lost_note(doctor->store, &refs);
	if (!err)
		err = lost_find(&lost, doctor->store, &refs, false);
	for (size_t i = 0; !err && i < lost.nr; i++)
		err = check_lost(doctor, &lost.items[i]);
	refs_release(&refs);
	refs_release(&lost);
	refs_release(&commits);
	return err;
}

/* Packs may still have them if there are some that cannot be read, or cannot be listed. */
static bool are_packs_known(const struct doctor *doctor)
{
	struct strlist names = STRLIST_INIT;
	bool known = !fs_names(&names, doctor->store->dirfd, "objects/pack", 0, NULL);

	for (size_t i = doctor->before_packs; i < doctor->after_packs; i++)
		known = known && doctor->out->items[i].fixed;
	strlist_release(&names);
	return known;
}

/* In the log they stay, and not as dropped: what other machines have of them is not pruned. */
static int forget_gone(struct doctor *doctor, const struct ref_list *gone)
{
	struct strlist ids = STRLIST_INIT;
	int err;

	for (size_t i = 0; i < gone->nr; i++)
		strlist_add(&ids, gone->items[i].id);
	err = refs_unpack(doctor->store, &ids);
	for (size_t i = 0; i < gone->nr && !err; i++) {
		err = refs_delete(doctor->store, gone->items[i].id);
		if (!err)
			(void)audit_add(doctor->store, "lost", gone->items[i].id,
					&gone->items[i].commit, NULL, NULL);
	}
	strlist_release(&ids);
	return err;
}

/* Refs of checkpoints of which nothing is left: told, and settled, as one. */
static int check_gone(struct doctor *doctor)
{
	struct ref_list refs, gone = { 0 };
	int err = refs_list(&refs, doctor->store);
	bool known = are_packs_known(doctor);
	char *text;

	for (size_t i = 0; i < refs.nr && !err; i++)
		if (record_is_gone(doctor->store, &refs.items[i]))
			refs_add(&gone, refs.items[i].id, &refs.items[i].commit);
	if (!err && gone.nr && doctor->fix && known)
		err = forget_gone(doctor, &gone);
	if (!err && gone.nr) {
		text = record_describe_gone(gone.nr);
		problems_addf(doctor->out, false, "%s; %s is '%s'; %s", text,
			      gone.nr == 1 ? "it" : "the newest", gone.items[gone.nr - 1].id,
			      !known	    ? "packs that cannot be read may have more"
			      : doctor->fix ? "taken off the list"
					    : "if there is a copy of the packs, put it back before --fix");
		free(text);
	}
	refs_release(&refs);
	refs_release(&gone);
	return err;
}

/* --- what the checkpoints consist of --- */

struct patients {
	struct verify_result *items;
	struct ref_item *refs;
	size_t nr, alloc;
	struct worktree_state_opts how; /* as they were taken */
};

static int find_damaged(struct patients *out, struct doctor *doctor)
{
	struct ref_list refs;
	size_t refs_alloc = 0;
	struct verify verify;
	int err = refs_list(&refs, doctor->store);

	verify_begin(&verify, doctor->session, doctor->progress);
	for (size_t i = 0; !err && i < refs.nr; i++) {
		struct verify_result result;
		struct ckpt_record record;

		if (record_is_gone(doctor->store, &refs.items[i]))
			continue;
		err = verify_checkpoint(&result, &verify, &refs.items[i]);
		if (err || !result.problems.nr)
			continue;
		ALLOC_GROW(out->items, out->nr + 1, out->alloc);
		ALLOC_GROW(out->refs, out->nr + 1, refs_alloc);
		out->refs[out->nr] = refs.items[i];
		out->items[out->nr++] = result;
		if (!record_read(&record, doctor->store, &refs.items[i])) {
			out->how.include_ignored |= record.include_ignored;
			out->how.include_sensitive |= record.include_sensitive;
			record_release(&record);
		}
	}
	verify_end(&verify);
	refs_release(&refs);
	return err;
}

/* Everything that the worktree has and the store lacks, or has damaged, is stored again. */
static int store_again(struct doctor *doctor, struct patients *patients)
{
	struct pack *pack = pack_new(doctor->store, doctor->session->threads,
				     (unsigned)doctor->session->settings.compression);
	struct ref_list none = { 0 };
	struct worktree_state current = { 0 };
	int err;

	patients->how.no_limit = true;
	patients->how.full = true;
	patients->how.include_worktrees = true;
	patients->how.progress = doctor->progress;
	/* Without refs nothing that the stat cache says about the store is trusted. */
	err = worktree_state_scan(&current, doctor->session, &none, &patients->how);
	if (!err)
		err = worktree_state_read(&current, pack);
	if (!err)
		err = pack_commit(pack, NULL);
	worktree_state_release(&current);
	pack_free(pack);
	return err ? err : objects_reopen(doctor->store);
}

static void describe_damage(struct doctor *doctor, const char *id, const char *problem,
			    bool repaired)
{
	/* Some sentences already begin with this. */
	bool named = strstr(problem, id) != NULL;
	struct strbuf text = STRBUF_INIT;

	if (!named)
		strbuf_addf(&text, "checkpoint '%s' is damaged: ", id);
	strbuf_addstr(&text, problem);
	if (repaired)
		strbuf_addstr(&text, "; it was stored again from the worktree");
	else if (doctor->fix)
		strbuf_addf(&text, "; it cannot be fixed, 'git checkpoint drop %s' removes it",
			    id);
	problems_addf(doctor->out, repaired, "%s", text.buf);
	strbuf_release(&text);
}

static int check_contents(struct doctor *doctor)
{
	struct patients patients = { 0 };
	struct verify verify;
	int err = find_damaged(&patients, doctor);

	if (!err && doctor->fix && patients.nr)
		err = store_again(doctor, &patients);
	verify_begin(&verify, doctor->session, doctor->progress);
	for (size_t i = 0; i < patients.nr; i++) {
		struct verify_result again = { 0 };

		if (!err && doctor->fix)
			err = verify_checkpoint(&again, &verify, &patients.refs[i]);
		if (!err)
			describe_damage(doctor, patients.refs[i].id,
					patients.items[i].problems.items[0],
					doctor->fix && !again.problems.nr);
		strlist_release(&again.problems);
		strlist_release(&patients.items[i].problems);
	}
	verify_end(&verify);
	free(patients.items);
	free(patients.refs);
	return err;
}

/* --- what can be rebuilt --- */

static int check_manifest(struct doctor *doctor)
{
	struct ref_list refs;
	int err = refs_list(&refs, doctor->store);

	if (err)
		return err;
	/* A store without a checkpoint had no reason to write one. */
	if ((refs.nr || !faccessat(doctor->store->dirfd, "checkpoint-manifest.md", F_OK, 0)) &&
	    !manifest_agrees(doctor->store, &refs)) {
		if (doctor->fix)
			err = manifest_rebuild(doctor->store);
		if (!err)
			problems_addf(doctor->out, doctor->fix,
				      "the manifest does not match the checkpoints%s",
				      doctor->fix ? "; it was recreated" : "");
	} else if (doctor->fix && doctor->out->nr) {
		/* What it calls damaged may be sound by now. */
		(void)manifest_rebuild(doctor->store);
	}
	refs_release(&refs);
	return err;
}

static int check_all(struct doctor *doctor)
{
	int err;

	doctor->before_packs = doctor->out->nr;
	err = rescue_packs(doctor->out, doctor->store, doctor->fix);
	doctor->after_packs = doctor->out->nr;
	if (!err)
		err = check_refs(doctor);
	if (!err)
		err = check_waiting(doctor);
	if (!err)
		err = check_gone(doctor);
	if (!err)
		err = check_contents(doctor);
	if (!err)
		err = check_manifest(doctor);
	return err ? err : doctor_files(doctor);
}

/*
 * What another process is working on may look damaged, so findings count only
 * if they are still there while no other process can change anything. Usually
 * nothing is found, and no process has to wait.
 */
static int check_twice(struct doctor *doctor)
{
	size_t before = doctor->out->nr;
	int err = check_all(doctor);

	if (err == CKPT_ECANCELLED || (!err && doctor->out->nr == before))
		return err;
	err = store_lock(doctor->store, doctor->session->settings.lock_timeout);
	if (err == CKPT_ELOCKED) {
		problems_addf(doctor->out, false,
			      "another process was using the store all the time, so this may be its "
			      "unfinished work; try again");
		return 0;
	}
	if (err == CKPT_ECANCELLED)
		return err;
	/* Otherwise it is locked, or cannot be written, and so not locked. */
	problems_truncate(doctor->out, before);
	return check_all(doctor);
}

int doctor_run(struct problems *out, struct session *session, bool fix, progress_fn progress)
{
	struct doctor doctor = { .session = session, .out = out, .fix = fix, .progress = progress };
	int err = open_store(&doctor), packing = -1;

	if (err || !doctor.store)
		return err ? err : check_waiting(&doctor);
	doctor_temporaries(&doctor);
	if (fix) {
		err = store_lock(doctor.store, session->settings.lock_timeout);
		if (!err)
			err = repack_lock(&packing, doctor.store);
	}
	report_damage(&doctor);
	if (!err)
		doctor_state(&doctor);
	if (!err)
		err = fix ? check_all(&doctor) : check_twice(&doctor);
	fs_close(packing);
	store_unlock(doctor.store);
	return err;
}
