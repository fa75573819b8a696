/* SPDX-License-Identifier: MIT */
#include "repair/repair_internal.h"

#include "look/look.h"
#include "record/record.h"
#include "session/session.h"

#define WAITING ".replaced-"
#define MERGED ".merged-"

/* --- stores that wait --- */

static bool is_taken(const char *path, const char *word, const char *when)
{
	char *name = xstrfmt("%s%s%s", path, word, when);
	struct stat st;
	bool taken = !lstat(name, &st);

	free(name);
	return taken;
}

/* Under both names, since it will have the other one later. */
char *salvage_new_name(const char *path, bool waits)
{
	char now[CLOCK_ISO_SIZE], *name, *when = xstrdup(clock_format_id(now, clock_now()));

	for (int i = 2; is_taken(path, WAITING, when) || is_taken(path, MERGED, when); i++) {
		free(when);
		when = xstrfmt("%s_%d", now, i);
	}
	name = xstrfmt("%s%s%s", path, waits ? WAITING : MERGED, when);
	free(when);
	return name;
}

int salvage_waiting(struct strlist *out, const char *home, const char *path)
{
	char *prefix = xstrfmt("%s" WAITING, strrchr(path, '/') + 1);
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (fs_names(&names, AT_FDCWD, home, 0, NULL) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to read '%s'", home);
	for (size_t i = 0; i < names.nr; i++)
		if (!strncmp(names.items[i], prefix, strlen(prefix)))
			strlist_addf(out, "%s/%s", home, names.items[i]);
	strlist_release(&names);
	strlist_sort_unique(out);
	free(prefix);
	return err;
}

/* Everything in it is elsewhere: under this name it is never read again. */
static int rename_merged(const char *home, const char *path)
{
	const char *at = strstr(strrchr(path, '/'), WAITING);
	char *name = xstrfmt("%.*s" MERGED "%s", (int)(at - path), path, at + strlen(WAITING));
	int err = fs_rename(AT_FDCWD, path, name, home, FS_DURABLE);

	free(name);
	return err;
}

/* --- what is in them --- */

struct salvage {
	struct problems *out;
	struct session *session;
	struct session other;  /* the same, but with the old store */
	struct verify verify;  /* of the old store */
	struct ref_list sound; /* those to be recovered */
	size_t lost;
};

/* Refs, and commits without refs; with a zero commit nothing is known. */
static int list_old(struct ref_list *out, struct store *old)
{
	struct ref_list refs = { 0 }, commits = { 0 }, lost = { 0 };
	int err;

	memset(out, 0, sizeof(*out));
	if (refs_list(&refs, old))
		memset(&refs, 0, sizeof(refs));
	err = lost_find(&lost, old, &refs, true);
	if (!err)
		err = lost_commits(&commits, old);
	for (size_t i = 0; i < lost.nr; i++)
		refs_add(out, lost.items[i].id, &lost.items[i].commit);
	for (size_t i = 0; i < refs.nr; i++) {
		const struct ref_item *ref = &refs.items[i], *found = NULL;

		if (oid_is_zero(&ref->commit))
			found = refs_find(&commits, ref->id);
		refs_add(out, ref->id, found ? &found->commit : &ref->commit);
	}
	refs_release(&refs);
	refs_release(&commits);
	refs_release(&lost);
	return err;
}

/* Some sentences already begin with this. */
static const char *say_why(const struct verify_result *result)
{
	static const char damaged[] = "is damaged: ";
	const char *text = result->problems.items[0], *rest = strstr(text, damaged);

	return rest && strstr(text, result->id) ? rest + strlen(damaged) : text;
}

static int examine_checkpoint(struct salvage *salvage, const struct ref_item *ref)
{
	struct verify_result result;
	int err = verify_checkpoint(&result, &salvage->verify, ref);

	if (err)
		return err;
	if (!result.problems.nr) {
		refs_add(&salvage->sound, ref->id, &ref->commit);
	} else {
		salvage->lost++;
		problems_addf(salvage->out, false,
			      "checkpoint '%s' of '%s' cannot be recovered: %s", ref->id,
			      salvage->other.store->path, say_why(&result));
	}
	strlist_release(&result.problems);
	return 0;
}

/* Ids are random: two stores may have the same one, however unlikely. */
static bool is_other(const struct ref_item *a, const struct ref_item *b)
{
	return !oid_is_zero(&a->commit) && !oid_is_zero(&b->commit) &&
	       !oid_equal(&a->commit, &b->commit);
}

static int find_sound(struct salvage *salvage)
{
	struct ref_list old, here = { 0 };
	int err = salvage->session->store ? refs_list(&here, salvage->session->store) : 0;

	if (err)
		return err;
	err = list_old(&old, salvage->other.store);
	for (size_t i = 0; i < old.nr && !err; i++) {
		const struct ref_item *ref = refs_find(&here, old.items[i].id);

		if (!ref && !refs_find(&salvage->sound, old.items[i].id))
			err = examine_checkpoint(salvage, &old.items[i]);
		else if (ref && is_other(ref, &old.items[i]))
			problems_addf(salvage->out, false,
				      "checkpoint '%s' of '%s' cannot be recovered: another one has that "
				      "id",
				      ref->id, salvage->other.store->path);
	}
	refs_release(&old);
	refs_release(&here);
	return err;
}

/* --- copying --- */

static int copy_object(struct pack *pack, struct store *old, const struct oid *oid)
{
	struct strbuf text = STRBUF_INIT;
	enum object_type type;
	int err = objects_read_any(&text, &type, old, oid);

	if (!err)
		err = cancel_check();
	if (!err)
		err = pack_add(pack, 0, type, oid, text.buf, text.len);
	strbuf_release(&text);
	return err;
}

static int copy_objects(struct salvage *salvage)
{
	struct store *old = salvage->other.store, *store = salvage->session->store;
	struct reach *reach = reach_new(old);
	struct pack *pack = NULL;
	const char *name;
	int err = objects_reopen(store);

	for (size_t i = 0; i < salvage->sound.nr && !err; i++)
		err = reach_add(reach, &salvage->sound.items[i].commit, 0);
	if (!err)
		pack = pack_new(store, 1, (unsigned)salvage->session->settings.compression);
	for (size_t i = 0; !err && i < reach_count(reach); i++)
		err = copy_object(pack, old, reach_at(reach, i, &name));
	if (!err)
		err = pack_commit(pack, NULL);
	pack_free(pack);
	reach_free(reach);
	return err ? err : objects_reopen(store);
}

/* Everything it needs is here: now it exists. */
static int adopt_checkpoint(struct salvage *salvage, const struct ref_item *ref)
{
	struct store *store = salvage->session->store;
	const struct keepers *keepers;
	struct strlist names = STRLIST_INIT;
	struct ckpt_record record;
	struct oid taken;
	int err = 0;

	/* What of it can be read: the store was damaged. */
	(void)keepers_read(&keepers, salvage->other.store);
	(void)keepers_names_of(&names, keepers, &ref->commit);
	/* Before it exists: if this is killed in between, it is not looked at again. */
	if (keepers_has(keepers, KEEPER_PIN, ref->id))
		err = keepers_add(store, KEEPER_PIN, ref->id, &ref->commit);
	/* A name that was given again since stays where it is; this one is still pinned. */
	for (size_t i = 0; i < names.nr && !err; i++)
		err = keepers_find(&taken, store, KEEPER_NAME, names.items[i])
			      ? keepers_add(store, KEEPER_PIN, ref->id, &ref->commit)
			      : keepers_add(store, KEEPER_NAME, names.items[i], &ref->commit);
	strlist_release(&names);
	if (!err)
		err = refs_create(store, ref->id, &ref->commit);
	if (!err && !record_read(&record, store, ref)) {
		(void)audit_add(store, "salvage", ref->id, &ref->commit, record.reason,
				record.state_hash);
		record_release(&record);
	}
	return err;
}

/* The user's settings for this store, unless there are newer ones. */
static void copy_settings(struct salvage *salvage)
{
	static const char name[] = LAYOUT_SETTINGS;
	struct strbuf text = STRBUF_INIT, here = STRBUF_INIT;
	struct store *store = salvage->session->store;

	if (fs_read_file(&here, store->dirfd, name) == CKPT_ENOTFOUND &&
	    !fs_read_file(&text, salvage->other.store->dirfd, name) &&
	    strlen(text.buf) == text.len && text.len)
		(void)fs_write_file(store->dirfd, name, text.buf, text.len, 0600, FS_DURABLE);
	strbuf_release(&text);
	strbuf_release(&here);
}

static int bring_back(struct salvage *salvage)
{
	int err = salvage->sound.nr ? copy_objects(salvage) : 0;

	for (size_t i = 0; i < salvage->sound.nr && !err; i++)
		err = adopt_checkpoint(salvage, &salvage->sound.items[i]);
	if (!err)
		copy_settings(salvage);
	return err ? err : rename_merged(salvage->session->home, salvage->other.store->path);
}

int salvage_store(struct problems *out, struct session *session, const char *path, bool fix)
{
	struct salvage salvage = { .out = out, .session = session, .other = *session };
	size_t before = out->nr;
	int err;

	salvage.other.store = NULL;
	if (store_open_aside(&salvage.other.store, path, session->worktree)) {
		err = fix ? rename_merged(session->home, path) : 0;
		problems_addf(out, fix && !err,
			      "'%s' is a damaged store; nothing in it can be read",
			      path);
		return err;
	}
	verify_begin(&salvage.verify, &salvage.other, NULL);
	err = find_sound(&salvage);
	verify_end(&salvage.verify);
	if (!err && fix)
		err = bring_back(&salvage);
	if (!err && (salvage.sound.nr || out->nr == before))
		problems_addf(out, fix, "%zu %s of '%s' %s recovered", salvage.sound.nr,
			      salvage.sound.nr == 1 ? "checkpoint" : "checkpoints", path,
			      !fix		      ? "can be"
			      : salvage.sound.nr == 1 ? "was"
						      : "were");
	store_close(salvage.other.store);
	refs_release(&salvage.sound);
	return err;
}

/* --- merging --- */

static bool same_restore(const struct undo_stack *a, const struct undo_stack *b)
{
	const struct undo_entry *x = &a->items[a->done - 1], *y = &b->items[b->done - 1];

	return !strcmp(x->before, y->before) && !strcmp(x->restored, y->restored);
}

/* Before anything else: once it is renamed it is never read again. */
static int carry_undo(struct store *store, const char *path)
{
	struct undo_stack into, from;
	struct store *old;
	int err, rc;

	if (store_open_aside(&old, path, store->worktree))
		return 0; /* salvage_store() says so */
	err = journal_undo_read(&from, old);
	rc = journal_undo_read(&into, store);
	err = err ? err : rc;
	/* A killed call may already have carried them over. */
	if (!err && from.done && (!into.done || !same_restore(&into, &from))) {
		for (size_t i = 0; i < from.done; i++) {
			journal_undo_push(&into, from.items[i].before, from.items[i].restored,
					  &from.items[i].paths, &from.items[i].made);
			into.items[into.nr - 1].source = xstrdup(from.items[i].source);
		}
		err = journal_undo_write(&into, store);
	}
	journal_undo_release(&into);
	journal_undo_release(&from);
	store_close(old);
	return err;
}

int salvage_merge(struct problems *out, struct session *session, const char *path)
{
	struct strlist waiting = STRLIST_INIT;
	int err = salvage_waiting(&waiting, session->home, path);

	for (size_t i = 0; i < waiting.nr && !err; i++) {
		err = carry_undo(session->store, waiting.items[i]);
		if (!err)
			err = salvage_store(out, session, waiting.items[i], true);
	}
	strlist_release(&waiting);
	return err;
}
