/* SPDX-License-Identifier: MIT */
#include "restore/choose.h"

#include "restore/restore_internal.h"
#include "session/session.h"
#include "store/store.h"

static void release_parts(struct choice_parts *parts)
{
	for (size_t i = 0; i < parts->nr; i++) {
		free(parts->items[i].path);
		free(parts->items[i].new.data);
	}
	free(parts->items);
}

void choose_release(struct choices *choices)
{
	for (size_t i = 0; i < choices->nr; i++) {
		release_parts(&choices->items[i].parts);
		release_parts(&choices->items[i].around);
	}
	free(choices->items);
	strlist_release(&choices->also);
	memset(choices, 0, sizeof(*choices));
}

void choose_list_release(struct chosen_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		strbuf_release(&list->items[i].content);
	free(list->items);
	strlist_release(&list->conflicts);
	memset(list, 0, sizeof(*list));
}

/* --- what there is to choose from --- */

static void set_state(struct choice_state *out, const struct wt_entry *entry)
{
	memset(out, 0, sizeof(*out));
	if (!entry)
		return;
	out->mode = wt_entry_mode(entry) | (entry->kind == WT_DIR ? entry->mode : 0);
	out->entry = *entry;
}

/* A composed target is in memory, and gone when it is asked for. */
static int keep_data(struct choice_state *state, struct restore *r, const char *path,
		     const struct wt_entry *entry)
{
	struct strbuf data = STRBUF_INIT;
	int err;

	if (!r->compose || entry->kind == WT_DIR || objects_exist(r->session->store, &entry->oid))
		return 0;
	err = compose_read_new(&data, r->compose, path, entry);
	if (!err)
		state->data = strbuf_detach(&data, &state->len);
	strbuf_release(&data);
	return err;
}

/* NULL: nothing is there, or shall be. */
static int add_part(struct choice_parts *out, struct restore *r, const char *path,
		    const struct wt_entry *now, const struct wt_entry *then)
{
	struct choice_part *part = ALLOC_NEXT(out->items, out->nr, out->alloc);

	*part = (struct choice_part){ .path = xstrdup(path) };
	set_state(&part->old, now);
	set_state(&part->new, then);
	return then ? keep_data(&part->new, r, path, then) : 0;
}

/* What is below a directory that comes, or goes, in the place of something else. */
static int add_below(struct choice_parts *out, struct restore *r, const struct wt_dir *dir, bool new)
{
	int err = new ? snapshot_expand(r->target.tree, (struct wt_dir *)dir) : 0;

	for (size_t i = 0; i < dir->nr && !err; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		char *path = xstrfmt("%s/%.*s", dir->path, (int)entry->name_len, entry->name);

		err = add_part(out, r, path, new ? NULL : entry, new ? entry : NULL);
		if (!err && entry->kind == WT_DIR)
			err = add_below(out, r, entry->dir, new);
		free(path);
	}
	return err;
}

/* The directories on the way that have to be made, or may go. */
static int add_around(struct choice_parts *out, struct restore *r, const char *path)
{
	int err = 0;

	for (const char *end = strchr(path, '/'); end && !err; end = strchr(end + 1, '/')) {
		char *dir = xmemdupz(path, (size_t)(end - path));
		const struct wt_entry *now = wt_find(r->job.current.scan->root, dir);
		struct wt_entry *then = NULL;

		err = snapshot_find(&then, r->target.tree, dir);
		if (!err && !now != !then)
			err = add_part(out, r, dir, now, then);
		free(dir);
	}
	return err;
}

static int add_choice(struct choices *out, struct restore *r, const char *path)
{
	const struct wt_entry *now = wt_find(r->job.current.scan->root, path);
	struct wt_entry *then = NULL;
	struct choice *choice;
	int err = snapshot_find(&then, r->target.tree, path);

	if (err)
		return err;
	choice = ALLOC_NEXT(out->items, out->nr, out->alloc);
	*choice = (struct choice){ 0 };
	err = add_part(&choice->parts, r, path, now, then);
	if (!err && now && then && now->kind == WT_DIR && then->kind != WT_DIR)
		err = add_below(&choice->parts, r, now->dir, false);
	if (!err && now && then && now->kind != WT_DIR && then->kind == WT_DIR)
		err = add_below(&choice->parts, r, then->dir, true);
	return err ? err : add_around(&choice->around, r, path);
}

int restore_choose(struct restore *r)
{
	struct choices *out = r->opts->choices;
	int err = 0;

	if (!out)
		return 0;
	/* Asked again, there are others. */
	choose_release(out);
	strlist_extend(&out->also, &r->also);
	for (size_t i = 0; i < r->plan.rows_nr && !err; i++)
		err = add_choice(out, r, r->plan.rows[i].path);
	return err;
}

/* --- contents --- */

static int read_old(struct strbuf *out, const struct session *session,
		    const struct choice_part *part)
{
	int root = open(session->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (root < 0)
		return ckpt_error_errno("unable to open '%s'", session->worktree);
	err = compose_read_disk(out, root, part->path, &part->old.entry);
	close(root);
	return err;
}

static bool has_content(const struct choice_state *state)
{
	return state->mode && !S_ISDIR(state->mode);
}

int choose_read(struct strbuf *old_out, struct strbuf *new_out, bool *large_out,
		struct session *session, const struct choice_part *part)
{
	uint64_t size = 0;
	int err = 0;

	*large_out = false;
	if (has_content(&part->new) && !part->new.data) {
		err = objects_size(&size, session->store, &part->new.entry.oid);
		*large_out = !err && size > CHOOSE_READ_MAX;
	}
	if (has_content(&part->old))
		*large_out = *large_out || part->old.entry.st.size > CHOOSE_READ_MAX;
	if (!err && !*large_out && has_content(&part->old))
		err = read_old(old_out, session, part);
	if (err || *large_out || !has_content(&part->new))
		return err;
	if (part->new.data)
		strbuf_add(new_out, part->new.data, part->new.len);
	else
		err = objects_read(new_out, session->store, &part->new.entry.oid, OBJECT_BLOB);
	return err;
}

/* --- what was chosen --- */

static bool is_still(const struct compose *compose, const struct choice_part *part)
{
	const struct wt_entry *now = compose_now(compose, part->path);
	struct choice_state state;

	set_state(&state, now);
	if (!now && !part->old.mode)
		return !compose_is_hidden(NULL, compose, part->path);
	return state.mode == part->old.mode &&
	       (!has_content(&state) || oid_equal(&state.entry.oid, &part->old.entry.oid));
}

/* What is below a directory that goes may have become more. */
static size_t count_below(const struct wt_dir *dir)
{
	size_t nr = 0;

	for (size_t i = 0; i < dir->nr; i++)
		nr += 1 + (wt_entries(dir)[i].kind == WT_DIR ? count_below(wt_entries(dir)[i].dir) : 0);
	return nr;
}

static bool is_all_still(const struct compose *compose, const struct choice *choice)
{
	const struct choice_part *first = &choice->parts.items[0];
	const struct wt_entry *now = compose_now(compose, first->path);
	size_t below = 0;

	/* What is below something else than a directory cannot be there. */
	for (size_t i = 0; i < choice->parts.nr; i++) {
		below += i && choice->parts.items[i].old.mode;
		if ((!i || choice->parts.items[i].old.mode) && !is_still(compose, &choice->parts.items[i]))
			return false;
	}
	return !now || now->kind != WT_DIR || choice->parts.nr == 1 || count_below(now->dir) == below;
}

/* `mode` are the permission bits, if it has any. */
static void put_new_state(struct compose *compose, const struct choice_part *part, unsigned mode)
{
	const struct choice_state *state = &part->new;

	if (!state->mode)
		compose_remove(compose, part->path);
	else if (S_ISDIR(state->mode))
		compose_put_dir(compose, part->path, mode);
	else if (state->data)
		compose_put(compose, part->path, state->entry.kind, mode, state->data, state->len);
	else
		compose_put_entry(compose, part->path, &state->entry, mode);
}

/* Of directories on the way: what comes needs them, without what goes they may go. */
static void put_around(struct compose *compose, const struct choice *choice)
{
	bool comes = choice->parts.items[0].new.mode != 0;

	for (size_t i = 0; i < choice->around.nr; i++)
		if (comes == (choice->around.items[i].new.mode != 0))
			put_new_state(compose, &choice->around.items[i],
				      choice->around.items[i].new.mode & 07777);
}

static void put_chosen(struct compose *compose, const struct chosen *chosen)
{
	const struct choice *choice = chosen->choice;
	const char *path = choice->parts.items[0].path;

	put_around(compose, choice);
	switch (chosen->how) {
	case CHOSEN_MADE:
		compose_put(compose, path, WT_FILE, chosen->mode & 07777, chosen->content.buf,
			    chosen->content.len);
		break;
	case CHOSEN_OLD:
		compose_set_mode(compose, path, chosen->mode & 07777);
		break;
	case CHOSEN_NEW:
		put_new_state(compose, &choice->parts.items[0], chosen->mode & 07777);
		for (size_t i = 1; i < choice->parts.nr; i++)
			put_new_state(compose, &choice->parts.items[i],
				      choice->parts.items[i].new.mode & 07777);
		break;
	}
}

int choose_compose(struct compose *compose, void *payload)
{
	const struct chosen_list *list = payload;

	for (size_t i = 0; i < list->conflicts.nr; i++) {
		const char *text = list->conflicts.items[i], *end = strchr(text, '\n');
		char *why = xmemdupz(text, (size_t)(end - text));

		compose_conflict(compose, end + 1, why);
		free(why);
	}
	for (size_t i = 0; i < list->nr; i++) {
		if (is_all_still(compose, list->items[i].choice))
			put_chosen(compose, &list->items[i]);
		else
			compose_conflict(compose, list->items[i].choice->parts.items[0].path,
					 CHOOSE_CHANGED);
	}
	return 0;
}
