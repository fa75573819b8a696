/* SPDX-License-Identifier: MIT */
#include "session/session.h"

const char *inventory_state_name(enum inventory_state state)
{
	static const char *const names[] = { "present", "missing", "moved", "set-aside",
					     "damaged" };

	return names[state];
}

/* --- names, and opening by name --- */

static bool has_key(const char *name)
{
	return strspn(name, "0123456789abcdef") == STORE_KEY_SIZE - 1;
}

/* The name of a store in use: 16 hex digits. */
static bool is_key(const char *name)
{
	return has_key(name) && !name[STORE_KEY_SIZE - 1];
}

/* <key>.replaced-<time> and similar. */
static bool is_set_aside(const char *name)
{
	return has_key(name) && name[STORE_KEY_SIZE - 1] == '.';
}

static bool valid_or_aside(const char *name)
{
	return is_key(name) || is_set_aside(name);
}

/* The names of stores, sorted; a missing home has none. */
static int read_names(struct strlist *out, const char *home, bool aside_too)
{
	if (fs_names(out, AT_FDCWD, home, 0, aside_too ? valid_or_aside : is_key) < 0 &&
	    errno != ENOENT)
		return ckpt_error_errno("unable to read '%s'", home);
	strlist_sort_unique(out);
	return 0;
}

void inventory_read_worktree(struct store *store)
{
	struct strbuf path = STRBUF_INIT;

	if (fs_read_file(&path, store->dirfd, LAYOUT_WORKTREE) || strlen(path.buf) != path.len ||
	    path.buf[0] != '/')
		strbuf_reset(&path);
	free(store->worktree);
	store->worktree = strbuf_detach(&path, NULL);
}

int inventory_open(struct store **out, const char *home, const char *key)
{
	char *path = xstrfmt("%s/%s", home, key);
	int err = store_open_aside(out, path, "");

	if (!err)
		inventory_read_worktree(*out);
	else
		*out = NULL;
	free(path);
	return err;
}

/* --- the last one before a removal --- */

/* So many are looked at, from the newest on. */
enum { LOOK_MAX = 50 };

/* Whether `record` shows what was left of `before` while the worktree was being removed. */
static bool is_remnant(const struct ckpt_record *record, const struct ckpt_record *before)
{
	/* Nobody else saves while somebody removes the directory. */
	if (strcmp(record->source, "watch") != 0)
		return false;
	/* The repository went first; without its rules, ignored files may have come in. */
	if (!strcmp(before->type, "git_stash") && !strcmp(record->type, "file_backup"))
		return true;
	if (record->files >= before->files)
		return false;
	/* What changed are files that went, and nothing else: none of it is missing before. */
	return before->files - record->files == record->changed ||
	       record->files < before->files / 2;
}

static bool is_whole(const struct ckpt_record *record)
{
	return !record->scope.nr && !record->state_only;
}

/* The next one before `*at` that can be read and is of the whole worktree; false if there is none. */
static bool read_before(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
			size_t *at)
{
	while (*at > 0 && refs->nr - *at < LOOK_MAX) {
		if (record_read_saved(out, store, &refs->items[--*at]))
			continue;
		if (is_whole(out))
			return true;
		record_release(out);
	}
	return false;
}

/*
 * The last checkpoint of a worktree that is gone from before its removal began; "" if none can be
 * read. Whoever watches a worktree may have saved it while it was being removed; such a checkpoint
 * is what was left of the one before it. One of some paths only, or of none, does not count.
 */
static void find_last_whole(char out[CKPT_ID_SIZE], struct store *store, const struct ref_list *refs)
{
	struct ckpt_record record, before;
	size_t at = refs->nr;
	bool found = read_before(&record, store, refs, &at);

	*out = '\0';
	while (found && read_before(&before, store, refs, &at)) {
		if (!is_remnant(&record, &before)) {
			record_release(&before);
			break;
		}
		record_release(&record);
		record = before;
	}
	if (!found)
		return;
	memcpy(out, record.id, CKPT_ID_SIZE);
	record_release(&record);
}

/* --- one store --- */

/* By the clock, which its id need not have. */
static int64_t saved_at(struct store *store, const struct ref_item *ref)
{
	struct ckpt_record record;
	int64_t when;

	if (record_read_saved(&record, store, ref))
		return 0;
	when = record.created_at;
	record_release(&record);
	return when;
}

static void look_at_checkpoints(struct inventory_item *item, struct store *store)
{
	struct ref_list refs;
	struct stat st;

	if (refs_list(&refs, store)) {
		item->problem = xstrdup(ckpt_error_last());
	} else {
		item->checkpoints = refs.nr;
		if (refs.nr)
			item->last_used = saved_at(store, &refs.items[refs.nr - 1]);
		if (!fs_is_dir(store->worktree))
			find_last_whole(item->last_whole, store, &refs);
		if (refs.nr && !strcmp(item->last_whole, refs.items[refs.nr - 1].id))
			*item->last_whole = '\0';
		refs_release(&refs);
	}
	if (!fstatat(store->dirfd, LAYOUT_LOG, &st, AT_SYMLINK_NOFOLLOW) &&
	    st.st_mtime > item->last_used)
		item->last_used = st.st_mtime;
}

static void look_at_worktree(struct inventory_item *item, const struct store *store)
{
	char key[STORE_KEY_SIZE];

	if (!*store->worktree) {
		item->state = INVENTORY_DAMAGED;
		if (!item->problem)
			item->problem = xstrdup("the path of its worktree cannot be read; any command in "
						"that worktree fixes it");
		return;
	}
	item->path = xstrdup(store->worktree);
	item->exists = fs_is_dir(item->path);
	item->state = item->exists ? INVENTORY_PRESENT : INVENTORY_MISSING;
	store_key(key, item->path);
	if (strcmp(key, item->key) && is_key(item->key) && !item->problem)
		item->problem = xstrfmt("a relink was interrupted; 'git checkpoint relink %s' in "
					"the folder's new place finishes it",
					item->key);
}

static void look_at_store(struct inventory_item *item, int homefd, const char *home,
			  const char *name)
{
	struct store *store = NULL;

	memset(item, 0, sizeof(*item));
	item->key = xstrdup(name);
	item->bytes = fs_disk_usage(homefd, name);
	if (inventory_open(&store, home, name)) {
		item->state = INVENTORY_DAMAGED;
		item->problem = xstrdup(ckpt_error_last());
	} else {
		look_at_checkpoints(item, store);
		look_at_worktree(item, store);
	}
	if (is_set_aside(name))
		item->state = INVENTORY_SET_ASIDE;
	store_close(store);
}

/* --- moved --- */

/* A link at the old path is how people keep it working after a move. */
static bool still_at(const struct identity *recorded, const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && identity_is_at(recorded, path);
}

char *inventory_moved_to(const struct identity *recorded, const char *path, const char *dir,
			 bool above)
{
	char *at = xstrdup(dir);

	for (;;) {
		char *slash = strrchr(at, '/');

		if (strcmp(at, path) && identity_is_at(recorded, at) && !still_at(recorded, path))
			return at;
		if (!above || !slash || !at[1])
			break;
		slash[slash == at ? 1 : 0] = '\0';
	}
	free(at);
	return NULL;
}

/* What is known about the current folder; its root commit only on demand. */
struct here {
	const char *home, *dir;
	const struct repo *repo;
	struct identity identity;
	bool root_known;
};

/* On another disk it has another inode; then its history decides, and the old place must be empty. */
static bool same_project(struct here *here, const struct identity *recorded, const char *path)
{
	struct stat st;

	if (!here->repo || !lstat(path, &st) || store_exists(here->home, here->dir))
		return false;
	if (!here->root_known)
		identity_find_root(&here->identity, here->repo);
	here->root_known = true;
	return identity_same_project(recorded, &here->identity);
}

static void look_for_move(struct inventory_item *item, struct here *here)
{
	struct identity recorded;
	struct store *store;

	if (!item->path || item->state == INVENTORY_SET_ASIDE ||
	    inventory_open(&store, here->home, item->key))
		return;
	if (!identity_read(&recorded, store->dirfd)) {
		item->moved_to = inventory_moved_to(&recorded, item->path, here->dir, !here->repo);
		if (!item->moved_to && same_project(here, &recorded, item->path))
			item->moved_to = xstrdup(here->dir);
	}
	if (item->moved_to)
		item->state = INVENTORY_MOVED;
	item->lost = item->state == INVENTORY_MISSING && here->repo &&
		     repo_lost_worktree(here->repo, item->path);
	store_close(store);
}

/* --- all of them --- */

static int newest_first(const void *a, const void *b)
{
	const struct inventory_item *x = a, *y = b;

	if (x->last_used != y->last_used)
		return x->last_used < y->last_used ? 1 : -1;
	return strcmp(x->key, y->key);
}

int inventory_read(struct inventory_list *out, const char *home, const char *cwd,
		   const struct repo *repo)
{
	struct here here = { .home = home, .dir = repo ? repo->worktree : cwd, .repo = repo };
	struct strlist names = STRLIST_INIT;
	int homefd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = read_names(&names, home, true);

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < names.nr && !err; i++) {
		ALLOC_GROW(out->items, out->nr + 1, out->alloc);
		look_at_store(&out->items[out->nr], homefd, home, names.items[i]);
		look_for_move(&out->items[out->nr++], &here);
	}
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), newest_first);
	fs_close(homefd);
	strlist_release(&names);
	return err;
}

void inventory_release(struct inventory_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->items[i].key);
		free(list->items[i].path);
		free(list->items[i].moved_to);
		free(list->items[i].problem);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}

/* --- by an old path --- */

/* What the user may mean: the path as typed, without links above it, without any links. */
static void old_paths(struct strlist *out, const char *cwd, const char *typed)
{
	struct strbuf path = STRBUF_INIT;
	char *parent, *real;
	const char *name;

	path_absolute(&path, cwd, typed);
	strlist_add(out, path.buf);
	name = strrchr(path.buf, '/');
	parent = xmemdupz(path.buf, (size_t)(name - path.buf));
	if (*parent) {
		real = path_resolve(parent);
		strlist_addf(out, "%s%s", strcmp(real, "/") ? real : "", name);
		free(real);
	}
	strlist_take(out, path_resolve(path.buf));
	free(parent);
	strbuf_release(&path);
}

/* The store under a path's key; if it does not say whose it is, its name does. */
static int open_by_path(struct store **out, const char *home, const char *path)
{
	char key[STORE_KEY_SIZE];
	int err;

	store_key(key, path);
	err = inventory_open(out, home, key);
	if (!err && *(*out)->worktree && strcmp((*out)->worktree, path)) {
		store_close(*out);
		*out = NULL;
		err = CKPT_ENOTFOUND;
	}
	return err;
}

/* A store that says it belongs to the path, but is elsewhere: a relink was interrupted. */
static int open_by_record(struct store **out, const char *home, const char *path)
{
	struct inventory_list all;
	int err = inventory_read(&all, home, "/", NULL), found = CKPT_ENOTFOUND;

	if (err)
		return err;
	for (size_t i = 0; i < all.nr && found == CKPT_ENOTFOUND; i++)
		if (all.items[i].path && !strcmp(all.items[i].path, path) &&
		    is_key(all.items[i].key))
			found = inventory_open(out, home, all.items[i].key);
	inventory_release(&all);
	return found;
}

int inventory_find(struct store **out, const char *home, const char *cwd, const char *name)
{
	struct strlist paths = STRLIST_INIT;
	int err = CKPT_ENOTFOUND;

	*out = NULL;
	if (is_key(name))
		err = inventory_open(out, home, name);
	old_paths(&paths, cwd, name);
	for (size_t i = 0; i < paths.nr && err == CKPT_ENOTFOUND; i++)
		err = open_by_path(out, home, paths.items[i]);
	for (size_t i = 0; i < paths.nr && err == CKPT_ENOTFOUND; i++)
		err = open_by_record(out, home, paths.items[i]);
	if (err == CKPT_ENOTFOUND)
		ckpt_error_set(
			err,
			"there are no checkpoints of '%s'; 'git checkpoint stores' lists all "
			"stores",
			is_key(name) ? name : paths.items[0]);
	strlist_release(&paths);
	return err;
}

/* --- under another path --- */

void inventory_relink_command(struct strbuf *out, const char *key, const char *path, bool force)
{
	struct strbuf quoted = STRBUF_INIT;

	strbuf_addf(out, "git checkpoint relink %s", force ? "--force " : "");
	quote_path(&quoted, path);
	/* A path that must be quoted to be displayed cannot be typed as displayed. */
	if (strcmp(quoted.buf, path))
		strbuf_addstr(out, key);
	else
		quote_shell(out, path);
	strbuf_release(&quoted);
}

bool inventory_way_back(struct strbuf *out, const struct inventory_item *item)
{
	if (item->state != INVENTORY_MISSING || !item->checkpoints || item->moved_to)
		return false;
	strbuf_addf(out, "git checkpoint restore --store %s --into ", item->key);
	quote_shell(out, item->path);
	strbuf_addf(out, " %s", *item->last_whole ? item->last_whole : "@");
	/* Only the files are stored, not the one that leads to the repository. */
	if (item->lost)
		strbuf_addstr(out, " && git worktree repair");
	return true;
}

static bool add_if_moved(struct strbuf *out, const char *home, const char *key, const char *dir,
			 bool above)
{
	struct ref_list refs = { 0 };
	struct identity recorded;
	struct store *store;
	char *found = NULL;
	bool moved;

	if (inventory_open(&store, home, key))
		return false;
	if (*store->worktree && !identity_read(&recorded, store->dirfd))
		found = inventory_moved_to(&recorded, store->worktree, dir, above);
	moved = found && !refs_list(&refs, store) && refs.nr;
	if (moved) {
		strbuf_addstr(out, "checkpoints of this folder are kept under its old path '");
		quote_path(out, store->worktree);
		strbuf_addstr(out, "'; to adopt them: ");
		inventory_relink_command(out, key, store->worktree, false);
	}
	refs_release(&refs);
	free(found);
	store_close(store);
	return moved;
}

bool inventory_elsewhere(struct strbuf *out, const char *home, const char *dir, bool above)
{
	struct strlist names = STRLIST_INIT;
	bool found = false;

	if (!read_names(&names, home, false))
		for (size_t i = 0; i < names.nr && !found; i++)
			found = add_if_moved(out, home, names.items[i], dir, above);
	strlist_release(&names);
	return found;
}
