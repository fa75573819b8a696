/* SPDX-License-Identifier: MIT */
#include "repair/repair_internal.h"

#include "record/record.h"
#include "turns/turns.h"

/* --- temporaries --- */

static size_t count_names(int dirfd, const char *path, bool (*wanted)(const char *name))
{
	struct strlist names = STRLIST_INIT;
	size_t nr;

	(void)fs_names(&names, dirfd, path, O_NOFOLLOW, wanted);
	nr = names.nr;
	strlist_release(&names);
	return nr;
}

void doctor_temporaries(struct doctor *doctor)
{
	static const char *const dirs[] = { ".", "objects/pack", "checkpoint", "info" };
	/* While another process works, they may be its own; none may start while they are counted. */
	int lock = store_hold_still(doctor->store);
	bool in_use = lock < 0;
	int packing = -1;
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(dirs) && !in_use; i++)
		nr += count_names(doctor->store->dirfd, dirs[i], fs_is_temp);
	if (!in_use && !repack_lock(&packing, doctor->store)) {
		nr += litter_sweep(doctor->store, !doctor->fix);
		/* A gc that was killed; the next one would remove it, too. */
		nr += count_names(doctor->store->dirfd, REPACK_DIR, NULL);
		if (doctor->fix)
			repack_sweep(doctor->store);
	}
	fs_close(packing);
	fs_close(lock);
	if (nr)
		problems_addf(doctor->out, doctor->fix,
			      "%zu half-written %s left by a process that was killed%s", nr,
			      nr == 1 ? "file was" : "files were", doctor->fix ? "; removed" : "");
}

/* --- keepers and the branch where git log starts --- */

/* refs/keep/<who>/<id> leads to the commit of its checkpoint, a name to that of any. */
static bool is_right(struct doctor *doctor, const struct kept *kept, const struct ref_item *ref,
		     const struct ref_list *refs)
{
	struct oid oid;

	if (kept->who == KEEPER_NAME)
		return lookup_named(doctor->store, refs, kept->name);
	return !refs_valid_id(kept->id) || fetched_any(&oid, doctor->store, kept->id) ||
	       (keepers_find(&oid, doctor->store, kept->who, kept->name) && ref &&
		oid_equal(&oid, &ref->commit));
}

static int check_keeper(struct doctor *doctor, const struct kept *kept, const struct ref_list *refs,
			bool any_damaged)
{
	const struct ref_item *ref = *kept->id ? refs_find(refs, kept->id) : NULL;
	/* That of a damaged one is all that is left of what the user wanted. */
	bool keep = kept->who == KEEPER_NAME ? any_damaged : ref && oid_is_zero(&ref->commit);
	int err = 0;

	if (keep || is_right(doctor, kept, ref, refs))
		return 0;
	if (doctor->fix && ref)
		err = keepers_add(doctor->store, kept->who, kept->name, &ref->commit);
	else if (doctor->fix)
		err = keepers_remove(doctor->store, kept->who, kept->name);
	if (!err)
		problems_addf(doctor->out, doctor->fix, "'%s' does not belong to a checkpoint%s",
			      kept->ref,
			      !doctor->fix ? ""
			      : ref	   ? "; it was recreated"
					   : "; removed");
	return err;
}

static int check_keepers(struct doctor *doctor, const struct ref_list *refs)
{
	const struct keepers *keepers;
	bool any_damaged = false;
	int err = keepers_read(&keepers, doctor->store);

	for (size_t i = 0; i < refs->nr; i++)
		any_damaged = any_damaged || oid_is_zero(&refs->items[i].commit);
	/* Each change makes us read them again, in the same order. */
	for (size_t i = 0; !err && i < keepers->nr;) {
		const struct kept *kept = &keepers->items[i];
		size_t nr = keepers->nr;

		if (kept->who <= KEEPER_JOURNAL)
			err = check_keeper(doctor, kept, refs, any_damaged);
		if (!err)
			err = keepers_read(&keepers, doctor->store);
		i += keepers->nr == nr;
	}
	return err;
}

/* Only a convenience, but stock git would complain about a dangling one. */
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
	    (!refs_read_loose(&oid, doctor->store, name) ||
	     objects_read(&text, doctor->store, &oid, OBJECT_COMMIT))) {
		if (doctor->fix && newest)
			refs_set_latest(doctor->store, newest);
		else if (doctor->fix)
			unlinkat(doctor->store->dirfd, name, 0);
		problems_addf(doctor->out, doctor->fix, "'%s' leads to no checkpoint%s", name,
			      doctor->fix ? "; it was recreated" : "");
	}
	strbuf_release(&text);
}

/* With --fix they have their refs again. */
static int add_lost(struct ref_list *refs, struct doctor *doctor)
{
	struct ref_list lost = { 0 };
	int err = doctor->fix ? 0 : lost_find(&lost, doctor->store, refs, false);

	for (size_t i = 0; i < lost.nr; i++) {
		if (oid_is_zero(&lost.items[i].commit))
			continue;
		*ALLOC_NEXT(refs->items, refs->nr, refs->alloc) = lost.items[i];
	}
	refs_release(&lost);
	return err;
}

static int check_other_refs(struct doctor *doctor)
{
	struct ref_list refs;
	int err = refs_list(&refs, doctor->store);

	if (!err)
		err = add_lost(&refs, doctor);
	if (!err)
		err = check_keepers(doctor, &refs);
	if (!err)
		check_latest(doctor, &refs);
	refs_release(&refs);
	return err;
}

/* --- the audit trail, the turns of agents and the undo stack --- */

/* Copy the sound lines; returns the number of the others. */
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
	static const char name[] = LAYOUT_LOG;
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

void doctor_state(struct doctor *doctor)
{
	json_t *member = NULL;

	if (state_get(&member, doctor->store, "version") == CKPT_ECORRUPT) {
		if (doctor->fix)
			(void)state_set(doctor->store, "damaged", NULL);
		problems_addf(doctor->out, doctor->fix, "'" LAYOUT_STATE "' is damaged%s",
			      doctor->fix ? "; it was set aside, and what it remembered is forgotten" : "");
	}
	json_decref(member);
}

static void check_undo(struct doctor *doctor)
{
	struct undo_stack stack;

	if (!journal_undo_read(&stack, doctor->store) && stack.damaged) {
		bool fixed = doctor->fix && !unlinkat(doctor->store->dirfd, LAYOUT_UNDO, 0);

		if (fixed)
			(void)keepers_set(doctor->store, KEEPER_UNDO, &strlist_empty, true);
		problems_addf(
			doctor->out, fixed,
			"the list of restores for undo is damaged%s; their safety checkpoints "
			"still exist, see 'git checkpoint list'",
			fixed ? " and was removed" : "");
	}
	journal_undo_release(&stack);
}

/* What of it is damaged can be told again by the labels of the checkpoints that exist. */
static int check_turns(struct doctor *doctor)
{
	struct ckpt_records records = { 0 };
	struct turns turns;
	int err = turns_read(&turns, doctor->store);
	bool damaged = !err && !turns.foreign && (turns.lost || turns.skipped);

	if (damaged && doctor->fix) {
		err = lookup_records(&records, doctor->store);
		for (size_t i = 0; i < records.nr && !err; i++)
			turns_learn(&turns, &records.items[i]);
		if (!err)
			err = turns_write(&turns, doctor->store);
		lookup_records_release(&records);
	}
	if (damaged && !err)
		problems_addf(doctor->out, doctor->fix,
			      "%s what coding agents did cannot be read%s",
			      turns.lost ? "the list of" : "a part of the list of",
			      doctor->fix ? "; the turns of the checkpoints that exist were kept"
					  : "");
	turns_release(&turns);
	return err;
}

int doctor_files(struct doctor *doctor)
{
	int err = check_other_refs(doctor);

	if (!err)
		err = check_log(doctor);
	if (!err)
		err = check_turns(doctor);
	check_undo(doctor);
	return err ? err : doctor_restores(doctor);
}
