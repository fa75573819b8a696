/* SPDX-License-Identifier: MIT */
#include "look/history.h"

#include "session/session.h"

struct item {
	struct ckpt_record record;
	struct snapshot *snapshot; /* opened when first needed */
	bool read;
	bool bad; /* damaged, or dropped by another process: as if it did not exist */
};

struct history {
	struct session *session;
	struct ref_list refs;
	struct item *items; /* one for each ref */
	size_t left;	    /* the oldest ones, which are still to come */
	struct pathspec only;
	bool follow;
	struct strlist damaged;
};

int history_open(struct history **out, struct session *session, const struct pathspec *only,
		 bool follow)
{
	struct history *history = xcalloc(1, sizeof(*history));
	int err = session->store ? refs_list(&history->refs, session->store) : 0;

	if (err) {
		free(history);
		return err;
	}
	history->session = session;
	history->items = xcalloc(history->refs.nr + 1, sizeof(*history->items));
	history->left = history->refs.nr;
	history->follow = follow;
	if (only)
		pathspec_copy(&history->only, only);
	*out = history;
	return 0;
}

static void item_forget(struct item *item)
{
	snapshot_free(item->snapshot);
	item->snapshot = NULL;
	if (item->read)
		record_release(&item->record);
	item->read = false;
}

void history_close(struct history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->refs.nr; i++)
		item_forget(&history->items[i]);
	free(history->items);
	refs_release(&history->refs);
	pathspec_release(&history->only);
	strlist_release(&history->damaged);
	free(history);
}

const struct strlist *history_damaged(const struct history *history)
{
	return &history->damaged;
}

/* --- loading --- */

/* What failed with `err` counts as not there, if that is because of the checkpoint itself. */
static int set_aside(struct history *history, struct item *item, int err)
{
	if (err != CKPT_ECORRUPT && err != CKPT_ENOTFOUND)
		return err;
	if (err == CKPT_ECORRUPT)
		strlist_add(&history->damaged, ckpt_error_last());
	item->bad = true;
	return 0;
}

/* Only its commit. */
static int item_read(struct history *history, size_t at)
{
	struct item *item = &history->items[at];
	int err;

	if (item->read || item->bad)
		return 0;
	err = record_read(&item->record, history->session->store, &history->refs.items[at]);
	item->read = !err;
	return err ? set_aside(history, item, err) : 0;
}

static int item_load(struct history *history, struct item *item)
{
	int err = 0;

	if (!item->snapshot)
		err = snapshot_open(&item->snapshot, history->session->store, &item->record);
	return err ? set_aside(history, item, err) : 0;
}

/* --- which paths two checkpoints tell something about --- */

struct limit {
	const struct pathspec *only;	/* NULL: all */
	const struct strlist *scope;	/* of the newer one; empty: all */
	const struct strlist *old_scope; /* likewise; NULL: there is no older one */
	struct strlist settled; /* what was compared with checkpoints in between, sorted */
};

static bool is_meant(const char *path, bool is_dir, void *payload)
{
	const struct limit *limit = payload;

	return compare_in_scope(limit->scope, path) && compare_in_scope(limit->old_scope, path) &&
	       !pathset_covers(&limit->settled, path) &&
	       (!limit->only || pathspec_matches(limit->only, path, is_dir));
}

static bool scope_enters(const struct strlist *scope, const char *dir)
{
	return compare_in_scope(scope, dir) || pathset_reaches(scope, dir);
}

static bool is_entered(const char *dir, void *payload)
{
	const struct limit *limit = payload;

	return scope_enters(limit->scope, dir) && scope_enters(limit->old_scope, dir) &&
	       !pathset_covers(&limit->settled, dir) &&
	       (!limit->only || pathspec_enters(limit->only, dir));
}

/* Whether a scope has something to do with the limit; a path of it may be a file. */
static bool is_concerned(const struct limit *limit, const struct strlist *scope)
{
	for (size_t i = 0; i < scope->nr; i++)
		if (scope_enters(limit->scope, scope->items[i]) &&
		    (!limit->only || pathspec_enters(limit->only, scope->items[i]) ||
		     pathspec_matches(limit->only, scope->items[i], false)))
			return true;
	return !scope->nr;
}

static bool all_settled(const struct limit *limit)
{
	const struct strlist *all = limit->scope;

	if (!all->nr && limit->only && !limit->only->nr)
		all = &limit->only->plain;
	for (size_t i = 0; i < all->nr; i++)
		if (!pathset_covers(&limit->settled, all->items[i]))
			return false;
	return all->nr;
}

/* --- comparing --- */

/* `old` NULL: with nothing. Sets `bad` of one that turns out to be damaged; then compare again. */
static int compare_pair(struct compare_list *out, struct history *history, struct item *old,
			struct item *new, const struct limit *limit)
{
	const struct compare_limit within = { is_meant, is_entered, (void *)limit };
	struct compare_side before, after;
	int err;

	memset(out, 0, sizeof(*out));
	if (old && oid_equal(&old->record.tree, &new->record.tree) &&
	    oid_equal(&old->record.meta, &new->record.meta))
		return 0;
	err = item_load(history, new);
	if (!err && old && !new->bad)
		err = item_load(history, old);
	if (err || new->bad || (old && old->bad))
		return err;
	before = diff_side(old ? old->snapshot : NULL);
	after = diff_side(new->snapshot);
	err = compare_run_within(out, &before, &after, &within);
	if (err && old && old->snapshot->damaged)
		return set_aside(history, old, err);
	return err && new->snapshot->damaged ? set_aside(history, new, err) : err;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

/* Move all to `out`. */
static void move_changes(struct compare_list *out, struct compare_list *from)
{
	for (size_t i = 0; i < from->nr; i++)
		*ALLOC_NEXT(out->items, out->nr, out->alloc) = from->items[i];
	from->nr = 0;
	compare_list_release(from);
}

static void settle_scope(struct limit *limit, const struct strlist *scope)
{
	strlist_extend(&limit->settled, scope);
	strlist_sort_unique(&limit->settled);
}

/* --- renames --- */

static bool may_be_from(struct change *change, void *payload)
{
	return change->kind == CHANGE_DELETED ||
	       (change->kind == CHANGE_ADDED && !strcmp(change->path, payload));
}

static bool is_not(struct change *change, void *payload)
{
	const struct change *renamed = payload;

	return strcmp(change->path, renamed->path) != 0 && strcmp(change->path, renamed->from) != 0;
}

/* The file `path` appeared in `new`; if it had another name in `old`, put that into `found`. */
static int follow_one(struct compare_list *found, struct history *history, struct item *old,
		      struct item *new, const char *path)
{
	const struct limit all = { .scope = &new->record.scope, .old_scope = &old->record.scope };
	struct diff diff = { .session = history->session, .stored = true };
	bool too_many;
	int err = compare_pair(&diff.changes, history, old, new, &all);

	if (!err) {
		compare_list_filter(&diff.changes, may_be_from, (void *)path);
		err = renames_find(&diff, RENAMES_SCORE_USUAL, &too_many);
	}
	for (size_t i = 0; i < diff.changes.nr && !err; i++) {
		struct change *change = &diff.changes.items[i];

		if (change->kind != CHANGE_RENAMED)
			continue;
		*ALLOC_NEXT(found->items, found->nr, found->alloc) = *change;
		change->path = change->from = NULL;
	}
	diff_release(&diff);
	/* A content that cannot be read is like no other. */
	return err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND ? 0 : err;
}

static void go_by(struct strlist *plain, const char *path, const char *from)
{
	for (size_t i = 0; i < plain->nr; i++)
		if (!strcmp(plain->items[i], path)) {
			free(plain->items[i]);
			plain->items[i] = xstrdup(from);
		}
	strlist_sort_unique(plain);
}

/* The changes since `old`: look for the old names of files that were asked for by name. */
static int follow_renames(struct compare_list *changes, struct history *history, struct item *old,
		  struct item *new)
{
	struct compare_list found = { 0 };
	int err = 0;

	for (size_t i = 0; i < changes->nr && !err; i++) {
		const struct change *change = &changes->items[i];

		if (change->kind == CHANGE_ADDED && !change->is_dir &&
		    pathset_has(&history->only.plain, change->path))
			err = follow_one(&found, history, old, new, change->path);
	}
	for (size_t i = 0; i < found.nr && !err; i++) {
		compare_list_filter(changes, is_not, &found.items[i]);
		go_by(&history->only.plain, found.items[i].path, found.items[i].from);
	}
	if (!err)
		move_changes(changes, &found);
	compare_list_release(&found);
	return err;
}

/* --- step by step --- */

/* What changed in the part of `at` that `older` knows; `older` SIZE_MAX: in what is left. */
static int compare_part(struct compare_list *out, struct history *history, size_t at, size_t older,
			struct limit *limit)
{
	struct item *new = &history->items[at];
	struct item *old = older == SIZE_MAX ? NULL : &history->items[older];
	struct compare_list part;
	int err;

	limit->old_scope = old ? &old->record.scope : NULL;
	err = compare_pair(&part, history, old, new, limit);
	if (err || new->bad || (old && old->bad))
		return err;
	if (old && history->follow)
		err = follow_renames(&part, history, old, new);
	if (!err)
		move_changes(out, &part);
	else
		compare_list_release(&part);
	return err;
}

static int compare_step(struct compare_list *out, struct history *history, size_t at)
{
	struct item *new = &history->items[at];
	struct limit limit = { .only = pathspec_is_empty(&history->only) ? NULL : &history->only,
			       .scope = &new->record.scope };
	bool done = new->record.state_only || !is_concerned(&limit, &new->record.scope);
	int err = 0;

	for (size_t i = at; i-- && !done && !err && !new->bad;) {
		struct item *old = &history->items[i];

		err = item_read(history, i);
		if (err || old->bad || old->record.state_only ||
		    !is_concerned(&limit, &old->record.scope))
			continue;
		err = compare_part(out, history, at, i, &limit);
		if (err || old->bad)
			continue;
		settle_scope(&limit, &old->record.scope);
		done = !old->record.scope.nr || all_settled(&limit);
	}
	if (!err && !done && !new->bad)
		err = compare_part(out, history, at, SIZE_MAX, &limit);
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_path);
	strlist_release(&limit.settled);
	return err;
}

void history_step_release(struct history_step *step)
{
	record_release(&step->record);
	diff_release(&step->diff);
}

int history_next(struct history_step *out, struct history *history)
{
	*out = (struct history_step){ .record = CKPT_RECORD_INIT };
	while (history->left) {
		size_t at = --history->left;
		struct item *item = &history->items[at];
		int err = item_read(history, at);

		out->diff = (struct diff){ .session = history->session, .stored = true };
		if (!err && !item->bad)
			err = compare_step(&out->diff.changes, history, at);
		if (!err && !item->bad) {
			/* Nothing older is compared with it. */
			out->record = item->record;
			item->read = false;
		}
		item_forget(item);
		if (!err && !item->bad)
			return 1;
		diff_release(&out->diff);
		if (err)
			return err;
	}
	return 0;
}
