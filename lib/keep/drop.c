/* SPDX-License-Identifier: MIT */
#include "keep/retain.h"

#include "session/session.h"

/* Where undo and redo lead; they can do without the rest of the stack. */
static int add_destinations(struct strlist *out, struct store *store)
{
	struct undo_stack stack;
	int err = journal_undo_read(&stack, store);

	for (size_t i = 0; i < stack.nr; i++)
		strlist_add(out, i < stack.done ? stack.items[i].before : stack.items[i].after);
	journal_undo_release(&stack);
	return err;
}

static int check_droppable(struct session *session, const struct ckpt_record *record, bool force)
{
	struct strlist undo = STRLIST_INIT;
	const struct keepers *keepers;
	int err = keepers_read(&keepers, session->store);

	if (!err)
		err = add_destinations(&undo, session->store);
	if (err)
		; /* nobody knows where undo leads */
	else if (keepers_has(keepers, KEEPER_JOURNAL, record->id))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "checkpoint '%s' is needed by the interrupted restore; nothing was "
				     "dropped",
				     record->id);
	else if (record->pinned && !force)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "checkpoint '%s' is pinned; use --force to drop it anyway; "
				     "nothing was dropped",
				     record->id);
	else if (strlist_has(&undo, record->id) && !force)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'undo' or 'redo' leads to checkpoint '%s'; use --force to drop "
				     "it anyway; nothing was dropped",
				     record->id);
	strlist_release(&undo);
	return err;
}

static bool is_same(const struct ckpt_record *a, const struct ckpt_record *b)
{
	return !strcmp(a->id, b->id) && !strcmp(a->machine ? a->machine : "", b->machine ? b->machine : "");
}

/* If it is too damaged to be looked up, it is named by its full id. */
static int find_named(struct ckpt_record *out, struct store *store, const char *name)
{
	const struct keepers *keepers;
	const struct ref_item *ref;
	struct ref_list refs;
	int err = session_lookup(out, store, name);

	if (err != CKPT_ECORRUPT || !refs_valid_id(name) || keepers_read(&keepers, store) ||
	    refs_list(&refs, store))
		return err;
	ref = refs_find(&refs, name);
	if (ref) {
		*out = (struct ckpt_record)CKPT_RECORD_INIT;
		snprintf(out->id, sizeof(out->id), "%s", name);
		out->commit = ref->commit;
		out->pinned = keepers_has(keepers, KEEPER_PIN, name) ||
			      keepers_names_of(NULL, keepers, &out->commit);
		err = 0;
	}
	refs_release(&refs);
	return err;
}

static int find_all(struct retain_result *out, struct session *session, const struct strlist *names,
		    bool force)
{
	int err = 0;

	for (size_t i = 0; i < names->nr && !err; i++) {
		struct ckpt_record record = CKPT_RECORD_INIT;
		bool twice = false;

		err = find_named(&record, session->store, names->items[i]);
		if (!err)
			err = check_droppable(session, &record, force);
		for (size_t j = 0; j < out->nr && !twice && !err; j++)
			twice = is_same(&out->items[j].record, &record);
		if (!err && !twice)
			retain_add(out, &record,
				   xstrdup(record.reason ? record.reason : "damaged"));
		record_release(&record);
	}
	return err;
}

int drop_checkpoints(struct retain_result *out, struct session *session,
		     const struct strlist *names, bool force, bool dry_run)
{
	int err = retain_begin(session);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = find_all(out, session, names, force);
	if (!err && !dry_run)
		err = retain_let_go(out, session, "drop");
	store_unlock(session->store);
	if (err)
		retain_result_release(out);
	return err;
}

/* A name pins by itself: when it moves on, what it leaves is as it was before. */
static int set_name(struct ckpt_record *record, struct store *store, const char *name, bool move)
{
	struct ref_list refs;
	int err = refs_list(&refs, store);

	if (err)
		return err;
	if (!move)
		err = lookup_name_free(store, &refs, name, &record->commit);
	if (!err)
		err = keepers_add(store, KEEPER_NAME, name, &record->commit);
	refs_release(&refs);
	if (err)
		return err;
	strlist_add(&record->names, name);
	strlist_sort_unique(&record->names);
	record->pinned = true;
	return 0;
}

static int set_pinned(struct ckpt_record *record, struct store *store, bool pin)
{
	int err = pin ? keepers_add(store, KEEPER_PIN, record->id, &record->commit) :
			keepers_unname(store, &record->commit);

	if (!err && !pin)
		err = keepers_remove(store, KEEPER_PIN, record->id);
	if (err)
		return err;
	if (!pin)
		strlist_release(&record->names);
	record->pinned = pin;
	return 0;
}

static int change_pin(struct ckpt_record *record, struct session *session,
		      const struct drop_pin *request)
{
	struct store *store = session->store;
	bool was_pinned = record->pinned;
	size_t names = record->names.nr;
	int err = request->name ? set_name(record, store, request->name, request->move_name) :
				  set_pinned(record, store, request->pin);

	if (!err && (was_pinned != record->pinned || names != record->names.nr))
		(void)audit_add(store, request->pin ? "pin" : "unpin", record->id, &record->commit,
				record->reason, record->state_hash);
	return err;
}

int drop_set_pinned(struct ckpt_record *out, struct session *session,
		    const struct drop_pin *request)
{
	int err = retain_begin(session);

	*out = (struct ckpt_record)CKPT_RECORD_INIT;
	if (!err)
		err = session_lookup(out, session->store, request->checkpoint);
	if (!err && out->machine)
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' is a checkpoint of the machine '%s', and stays as long as "
				     "there is room; only those of this store can be pinned",
				     request->checkpoint, out->machine);
	if (!err)
		err = change_pin(out, session, request);
	/* A ref takes room, too. */
	if (!err)
		retain_hold_budget(session, NULL);
	store_unlock(session->store);
	if (err)
		record_release(out);
	return err;
}
