/* SPDX-License-Identifier: MIT */
#include "look/diff.h"

#include "session/session.h"

enum { GITLINK = 0160000 };

struct staged {
	struct gitrecord old, new; /* for the contents that they have */
	struct strlist ids;	    /* all that the changes name, whole; sorted */
	struct strlist unmerged;
};

/* What one side has at a path. */
struct entry {
	char *path;
	unsigned mode;
	char oid[GITSTATE_OID];
};

struct list {
	struct entry *items;
	size_t nr, alloc;
};

static void list_add(struct list *list, const char *path, unsigned mode, const char *oid,
		     size_t len)
{
	struct entry *entry = ALLOC_NEXT(list->items, list->nr, list->alloc);

	*entry = (struct entry){ .path = xstrdup(path), .mode = mode };
	snprintf(entry->oid, sizeof(entry->oid), "%.*s", (int)len, oid);
}

static void list_release(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].path);
	free(list->items);
}

void staged_free(struct staged *staged)
{
	if (!staged)
		return;
	gitrecord_release(&staged->old);
	gitrecord_release(&staged->new);
	strlist_release(&staged->ids);
	strlist_release(&staged->unmerged);
	free(staged);
}

const struct strlist *staged_unmerged(const struct diff *diff)
{
	return &diff->staged->unmerged;
}

/* --- changes --- */

/* What is in a change is as long as a name in the store, which is enough to tell them apart. */
static void set_oid(struct oid *out, struct staged *staged, const char *hex)
{
	if (oid_hex_decode(out->id, hex, OID_SIZE))
		strlist_add(&staged->ids, hex);
}

static void add_change(struct diff *diff, const char *path, unsigned old_mode, const char *old_oid,
		       unsigned new_mode, const char *new_oid)
{
	struct compare_list *list = &diff->changes;
	struct change *change = ALLOC_NEXT(list->items, list->nr, list->alloc);

	*change = (struct change){ .path = xstrdup(path),
				   .old_mode = old_mode,
				   .new_mode = new_mode };
	set_oid(&change->old_oid, diff->staged, old_oid);
	set_oid(&change->new_oid, diff->staged, new_oid);
	change->kind = !old_mode			 ? CHANGE_ADDED
		       : !new_mode			 ? CHANGE_DELETED
		       : (old_mode ^ new_mode) & 0170000 ? CHANGE_TYPE
							 : CHANGE_MODIFIED;
}

static bool is_wanted(const struct pathspec *only, const char *path)
{
	return !only || pathspec_matches(only, path, false);
}

/* Those whose contents are staged; the others are noted, or are as in HEAD. */
static bool is_plain(struct staged *staged, const struct gitstate_entry *entry,
		     const struct pathspec *only)
{
	if (entry->stage && is_wanted(only, entry->path))
		strlist_add(&staged->unmerged, entry->path);
	return !entry->stage && !(entry->flags & GITINDEX_INTENT_TO_ADD);
}

static void open_diff(struct diff *out, struct session *session)
{
	memset(out, 0, sizeof(*out));
	out->session = session;
	out->staged = xcalloc(1, sizeof(*out->staged));
}

static int finish_diff(struct diff *diff, int err)
{
	strlist_sort_unique(&diff->staged->ids);
	strlist_sort_unique(&diff->staged->unmerged);
	if (err)
		diff_release(diff);
	return err;
}

int staged_of(struct diff *out, struct session *session, const struct ckpt_record *record,
	      const struct pathspec *only)
{
	const struct gitstate *state;
	int err;

	open_diff(out, session);
	err = gitrecord_load(&out->staged->new, session->store, record);
	state = &out->staged->new.state;
	for (size_t i = 0; i < state->entries_nr && !err; i++) {
		const struct gitstate_entry *entry = &state->entries[i];

		if (is_plain(out->staged, entry, only) && !(entry->flags & GITSTATE_AS_HEAD) &&
		    is_wanted(only, entry->path))
			add_change(out, entry->path, entry->head_mode, entry->head_oid, entry->mode,
				   entry->oid);
	}
	return finish_diff(out, err);
}

/* --- two whole indexes --- */

static int error_no_repo(const struct session *session)
{
	return ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not in a git repository", session->worktree);
}

static int ask_repo(struct strbuf *out, const struct session *session, const char *const args[])
{
	const struct gitrun how = { .gitdir = session->repo ? session->repo->gitdir : NULL };

	return session->repo ? askgit(out, &how, args) : error_no_repo(session);
}

/* What git lists, with the differences of the index laid over it. */
static void lay_over(struct list *out, struct staged *staged, const struct gitstate *state,
		     struct strbuf *tree, const struct pathspec *only)
{
	size_t i = 0;

	for (char *line = tree->buf; line < tree->buf + tree->len;) {
		char *tab = strchr(line, '\t'), *path = tab ? tab + 1 : line;
		size_t hex = strlen(state->head_tree);
		bool replaced = false;

		for (; i < state->entries_nr && strcmp(state->entries[i].path, path) <= 0; i++) {
			const struct gitstate_entry *entry = &state->entries[i];

			replaced |= !strcmp(entry->path, path);
			if (is_plain(staged, entry, only) && entry->mode)
				list_add(out, entry->path, entry->mode, entry->oid, GITSTATE_OID);
		}
		if (!replaced && tab && (size_t)(tab - line) > hex)
			list_add(out, path, (unsigned)strtoul(line, NULL, 8), tab - hex, hex);
		line = path + strlen(path) + 1;
	}
	for (; i < state->entries_nr; i++)
		if (is_plain(staged, &state->entries[i], only) && state->entries[i].mode)
			list_add(out, state->entries[i].path, state->entries[i].mode,
				 state->entries[i].oid, GITSTATE_OID);
}

static int list_index(struct list *out, struct session *session, struct staged *staged,
		      const struct gitstate *state, const struct pathspec *only)
{
	const char *const args[] = { "ls-tree", "-r", "-z", "--full-tree", state->head_tree, NULL };
	struct strbuf tree = STRBUF_INIT;
	int err = state->head_tree ? ask_repo(&tree, session, args) : 0;

	if (err)
		err = ckpt_error_prefix(err, "unable to read the tree of commit '%.12s'",
					state->head);
	else
		lay_over(out, staged, state, &tree, only);
	strbuf_release(&tree);
	return err;
}

static void compare_lists(struct diff *diff, const struct list *old, const struct list *new,
			  const struct pathspec *only)
{
	size_t i = 0, j = 0;

	while (i < old->nr || j < new->nr) {
		const struct entry *a = i < old->nr ? &old->items[i] : NULL;
		const struct entry *b = j < new->nr ? &new->items[j] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);
		bool same = !order && a->mode == b->mode && !strcmp(a->oid, b->oid);
		const char *path = order > 0 ? b->path : a->path;

		i += order <= 0;
		j += order >= 0;
		if (same || !is_wanted(only, path) || pathset_has(&diff->staged->unmerged, path))
			continue;
		add_change(diff, path, order > 0 ? 0 : a->mode, order > 0 ? "" : a->oid,
			   order < 0 ? 0 : b->mode, order < 0 ? "" : b->oid);
	}
}

int staged_between(struct diff *out, struct session *session, const struct ckpt_record *old,
		   const struct ckpt_record *new, const struct pathspec *only)
{
	struct list before = { 0 }, after = { 0 };
	struct staged *staged;
	int err;

	open_diff(out, session);
	staged = out->staged;
	err = gitrecord_load(&staged->old, session->store, old);
	if (!err && new)
		err = gitrecord_load(&staged->new, session->store, new);
	else if (!err && session->repo)
		err = gitstate_read(&staged->new.state, session->repo);
	else if (!err)
		err = error_no_repo(session);
	if (!err)
		err = list_index(&before, session, staged, &staged->old.state, only);
	if (!err)
		err = list_index(&after, session, staged, &staged->new.state, only);
	strlist_sort_unique(&staged->unmerged);
	if (!err)
		compare_lists(out, &before, &after, only);
	list_release(&before);
	list_release(&after);
	return finish_diff(out, err);
}

/* --- contents --- */

/* The whole id that begins with a name of the store's length. */
static const char *whole_id(const struct staged *staged, const struct oid *oid)
{
	const struct strlist *ids = &staged->ids;
	char hex[OID_HEX + 1];
	size_t at;

	oid_hex(hex, oid);
	LOWER_BOUND(at, ids->nr, strncmp(ids->items[at], hex, OID_HEX) < 0);
	return at < ids->nr && !strncmp(ids->items[at], hex, OID_HEX) ? ids->items[at] : "";
}

int staged_content(struct strbuf *out, struct diff *diff, const struct change *change,
		   enum diff_side side)
{
	const struct staged *staged = diff->staged;
	struct store *store = diff->session->store;
	const struct oid *oid = side == DIFF_OLD ? &change->old_oid : &change->new_oid, *stored;
	unsigned mode = side == DIFF_OLD ? change->old_mode : change->new_mode;
	const char *hex = whole_id(staged, oid);
	const char *const args[] = { "cat-file", "blob", hex, NULL };
	int err;

	if (mode == GITLINK) {
		strbuf_addf(out, "Subproject commit %s\n", hex);
		return 0;
	}
	stored = gitrecord_find(&staged->new, hex);
	if (!stored)
		stored = gitrecord_find(&staged->old, hex);
	/* In a SHA-1 repository an object has the same name as in the store. */
	if (!stored && strlen(hex) == OID_HEX && objects_exist(store, oid))
		stored = oid;
	if (stored)
		return objects_read(out, store, stored, OBJECT_BLOB);
	err = ask_repo(out, diff->session, args);
	if (err)
		err = ckpt_error_set(
			CKPT_ENOTFOUND,
			"the contents of '%s' (%.12s) are neither in the checkpoint nor in "
			"the repository",
			change->path, hex);
	return err;
}
