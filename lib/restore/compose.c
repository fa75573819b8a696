/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "session/session.h"

enum { NEW_DIR_MODE = 0755 };

enum compose_what { COMPOSE_PUT, COMPOSE_DIR, COMPOSE_MODE, COMPOSE_REMOVE };

struct compose_change {
	char *path;
	enum compose_what what;
	struct wt_entry entry; /* COMPOSE_PUT: all but the name; otherwise only the mode */
	char *data;	       /* contents that the store may not have; NULL: it has them */
	size_t len;
	size_t order; /* of two for one path, the later one counts */
};

struct compose {
	struct store *store;
	const struct worktree_state *state;
	unsigned threads;
	struct compose_change *items;
	size_t nr, alloc;
	size_t said;		   /* how often something was said, forgotten or not */
	struct strlist *conflicts; /* "<why>\n<path>" */
	struct arena arena;	   /* of `root`, as far as it is not the scan's */
	struct wt_dir *root;	   /* what was composed */
	struct wt_dir **dirs;	   /* those that are not the scan's */
	size_t dirs_nr, dirs_alloc;
};

static void release_change(struct compose_change *change)
{
	free(change->path);
	free(change->data);
}

static void free_composition(struct compose *compose)
{
	if (!compose)
		return;
	for (size_t i = 0; i < compose->nr; i++)
		release_change(&compose->items[i]);
	free(compose->items);
	free(compose->dirs);
	arena_release(&compose->arena);
	free(compose);
}

/* --- what is there now --- */

struct wt_dir *compose_root(const struct compose *compose)
{
	return compose->state->scan->root;
}

const struct worktree_state *compose_state(const struct compose *compose)
{
	return compose->state;
}

const struct wt_entry *compose_now(const struct compose *compose, const char *path)
{
	return wt_find(compose_root(compose), path);
}

int compose_read_disk(struct strbuf *out, int rootfd, const char *path, const struct wt_entry *seen)
{
	struct digest *sha1 = hash_new(HASH_SHA1);
	size_t start = out->len;
	struct oid oid;
	struct stat st;
	int err = beneath_read(out, &st, rootfd, path, seen->st.size);

	hash_object(sha1, &oid, "blob", out->buf + start, out->len - start);
	hash_free(sha1);
	if (err == CKPT_ENOTFOUND ||
	    (!err && ((st.st_mode ^ wt_entry_mode(seen)) & S_IFMT ||
		      (uint64_t)st.st_size != seen->st.size || !oid_equal(&oid, &seen->oid))))
		err = ckpt_error_set(CKPT_EREFUSED, "'%s' changed in the meantime", path);
	return err;
}

int compose_read(struct strbuf *out, const struct compose *compose, const char *path)
{
	const struct wt_entry *entry = compose_now(compose, path);

	if (!entry || entry->kind == WT_DIR)
		return ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not a file", path);
	if (objects_exist(compose->store, &entry->oid))
		return objects_read(out, compose->store, &entry->oid, OBJECT_BLOB);
	return compose_read_disk(out, compose->state->scan->rootfd, path, entry);
}

bool compose_is_hidden(const char **what_out, const struct compose *compose, const char *path)
{
	char *part = xstrdup(path);
	bool hidden = false;

	/* The topmost thing that the scan does not have; a directory is only on the way. */
	for (char *end = part; end && !hidden; end = end ? end + 1 : NULL) {
		const char *name;
		struct stat st;
		int fd;

		end = strchr(end, '/');
		if (end)
			*end = '\0';
		if (!compose_now(compose, part)) {
			fd = beneath_open_parent(compose->state->scan->rootfd, part, &name);
			hidden = fd >= 0 && !fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
				 (!end || !S_ISDIR(st.st_mode));
			if (hidden && what_out)
				*what_out = survey_kind(&st);
			fs_close(fd);
		}
		if (end)
			*end = '/';
	}
	free(part);
	return hidden;
}

/* --- what shall be there --- */

static struct compose_change *add_change(struct compose *compose, const char *path, enum compose_what what)
{
	struct compose_change *change;

	ALLOC_GROW(compose->items, compose->nr + 1, compose->alloc);
	change = &compose->items[compose->nr];
	*change = (struct compose_change){ .path = xstrdup(path),
					   .what = what,
					   .order = compose->said++ };
	compose->nr++;
	return change;
}

void compose_put(struct compose *compose, const char *path, enum wt_kind kind, unsigned mode,
		 const void *data, size_t len)
{
	struct compose_change *change = add_change(compose, path, COMPOSE_PUT);
	struct wt_entry *entry = &change->entry;
	struct digest *sha1 = hash_new(HASH_SHA1);

	data = len ? data : "";
	change->data = xmemdupz(data, len);
	change->len = len;
	entry->kind = (uint8_t)kind;
	entry->mode = kind == WT_LINK ? 0777 : (uint16_t)(mode & 07777);
	entry->st.size = len;
	entry->flags = WT_KNOWN;
	hash_object(sha1, &entry->oid, "blob", data, len);
	hash_free(sha1);
	hash_buffer(HASH_SHA256, entry->sha256, data, len);
}

void compose_put_entry(struct compose *compose, const char *path, const struct wt_entry *like,
		       unsigned mode)
{
	struct compose_change *change = add_change(compose, path, COMPOSE_PUT);

	change->entry = *like;
	change->entry.flags &= WT_KNOWN;
	if (like->kind != WT_LINK)
		change->entry.mode = (uint16_t)(mode & 07777);
}

void compose_put_dir(struct compose *compose, const char *path, unsigned mode)
{
	add_change(compose, path, COMPOSE_DIR)->entry.mode = (uint16_t)(mode & 07777);
}

void compose_set_mode(struct compose *compose, const char *path, unsigned mode)
{
	add_change(compose, path, COMPOSE_MODE)->entry.mode = (uint16_t)(mode & 07777);
}

void compose_remove(struct compose *compose, const char *path)
{
	add_change(compose, path, COMPOSE_REMOVE);
}

void compose_forget(struct compose *compose, const char *path, bool below)
{
	size_t kept = 0;

	for (size_t i = 0; i < compose->nr; i++) {
		if (below ? path_below(compose->items[i].path, path) != NULL
			  : !strcmp(compose->items[i].path, path))
			release_change(&compose->items[i]);
		else
			compose->items[kept++] = compose->items[i];
	}
	compose->nr = kept;
}

void compose_conflict(struct compose *compose, const char *path, const char *why)
{
	struct strbuf text = STRBUF_INIT;

	/* It may quote a path; its own newline ends it. */
	utf8_printable(&text, why, strlen(why), "", '?');
	strlist_addf(compose->conflicts, "%s\n%s", text.buf, path);
	strbuf_release(&text);
}

/* --- the tree --- */

/* Changes of one directory, or of one name in it: a part of the sorted list. */
struct part {
	const struct compose_change *items;
	size_t nr;
};

int compose_compare_paths(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	if (*a == *b)
		return 0;
	/* The end comes first, then what is below. */
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static struct wt_dir *make_changed_dir(struct compose *compose, const struct wt_dir *from, const char *path,
			       size_t len)
{
	struct wt_dir *dir = arena_alloc(&compose->arena, sizeof(*dir));

	memset(dir, 0, sizeof(*dir));
	dir->path = arena_memdupz(&compose->arena, path, len);
	if (from) {
		dir->outside = from->outside;
		dir->ignored = from->ignored;
	}
	*ALLOC_NEXT(compose->dirs, compose->dirs_nr, compose->dirs_alloc) = dir;
	return dir;
}

static struct wt_dir *change_dir(struct compose *compose, const struct wt_dir *from,
				 const char *path, size_t len, struct part part);

/* Those of `part` from `at` on that are about one name or below it; `len` is that of its path. */
static struct part cut_part(struct part part, size_t at, size_t prefix, size_t *len)
{
	const char *path = part.items[at].path;
	struct part out = { part.items + at, 1 };

	*len = prefix + strcspn(path + prefix, "/");
	while (at + out.nr < part.nr) {
		const char *next = part.items[at + out.nr].path;

		if (strncmp(next, path, *len) || (next[*len] && next[*len] != '/'))
			break;
		out.nr++;
	}
	return out;
}

/* True if there is something; `now` NULL: nothing is there. */
static bool change_entry(struct wt_entry *out, struct compose *compose, const struct wt_entry *now,
			 const char *path, size_t prefix, size_t len, struct part part)
{
	const struct compose_change *self = part.items[0].path[len] ? NULL : &part.items[0];
	struct part below = { part.items + (self ? 1 : 0), part.nr - (self ? 1 : 0) };
	const struct wt_dir *from = now && now->kind == WT_DIR ? now->dir : NULL;
	bool dir = below.nr || from || (self && self->what == COMPOSE_DIR);

	memset(out, 0, sizeof(*out));
	if (now)
		*out = *now;
	if (self && self->what == COMPOSE_PUT) {
		*out = self->entry;
		dir = false;
	} else if (self && self->what == COMPOSE_REMOVE && !dir) {
		return false;
	}
	out->name = arena_memdupz(&compose->arena, path + prefix, len - prefix);
	out->name_len = (uint32_t)(len - prefix);
	if (dir) {
		struct wt_dir *made = change_dir(compose, from, path, len, below);

		/* It was there only for what was in it, or is to go with that; or never came. */
		if (!made->nr && (self ? self->what == COMPOSE_REMOVE : !from))
			return !self && now;
		if (!from) {
			memset(&out->st, 0, sizeof(out->st));
			out->mode = NEW_DIR_MODE;
		}
		out->kind = WT_DIR;
		out->flags = 0;
		out->dir = made;
	}
	if (self && (self->what == COMPOSE_DIR || self->what == COMPOSE_MODE))
		out->mode = self->entry.mode;
	return dir || (self && self->what == COMPOSE_PUT) || now;
}

/* A directory with these changes; the rest of it is that of the scan. */
static struct wt_dir *change_dir(struct compose *compose, const struct wt_dir *from,
				 const char *path, size_t len, struct part part)
{
	struct wt_dir *dir = make_changed_dir(compose, from, path, len);
	size_t prefix = len ? len + 1 : 0, alloc = (from ? from->nr : 0) + part.nr + 1;
	bool *changed = xcalloc(alloc, sizeof(*changed));

	dir->loaded = arena_alloc(&compose->arena, alloc * sizeof(struct wt_entry));
	for (size_t at = 0; at < part.nr;) {
		size_t name_end;
		struct part one = cut_part(part, at, prefix, &name_end);
		const char *first = one.items[0].path;
		const struct wt_entry *now =
			from ? wt_child(from, first + prefix, name_end - prefix) : NULL;

		if (now)
			changed[now - wt_entries(from)] = true;
		if (change_entry(&dir->loaded[dir->nr], compose, now, first, prefix, name_end, one))
			dir->nr++;
		at += one.nr;
	}
	for (size_t i = 0; from && i < from->nr; i++)
		if (!changed[i])
			dir->loaded[dir->nr++] = wt_entries(from)[i];
	if (dir->nr)
		qsort(dir->loaded, dir->nr, sizeof(struct wt_entry), wt_entry_compare);
	for (size_t i = 0; i < dir->nr; i++)
		if (dir->loaded[i].kind == WT_DIR && !dir->loaded[i].dir->known)
			dir->loaded[i].dir->parent = dir;
	free(changed);
	return dir;
}

/* --- all of it --- */

static int by_change(const void *x, const void *y)
{
	const struct compose_change *a = x, *b = y;
	int cmp = compose_compare_paths(a->path, b->path);

	return cmp ? cmp : a->order < b->order ? -1 : 1;
}

static void sort_changes(struct compose *compose)
{
	size_t kept = 0;

	if (compose->nr)
		qsort(compose->items, compose->nr, sizeof(*compose->items), by_change);
	for (size_t i = 0; i < compose->nr; i++) {
		if (kept && !strcmp(compose->items[kept - 1].path, compose->items[i].path))
			release_change(&compose->items[--kept]);
		compose->items[kept++] = compose->items[i];
	}
	compose->nr = kept;
}

/* Make `root` of what was said, with every name and hash; nothing is written. */
static int build_composed(struct compose *compose)
{
	int err = 0;

	sort_changes(compose);
	for (size_t i = 0; i < compose->nr && !err; i++) {
		struct compose_change *change = &compose->items[i];

		if (change->what != COMPOSE_PUT || change->entry.flags & WT_KNOWN)
			continue;
		err = cancel_check();
		if (!err)
			err = contents_hash_entry(&change->entry, compose->store);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "'%s'", change->path);
	}
	if (err)
		return err;
	compose->root = change_dir(compose, compose->state->scan->root, "", 0,
				   (struct part){ compose->items, compose->nr });
	return ingest_trees(compose->root, NULL, compose->threads);
}

static int to_path(const void *path, const void *change)
{
	return compose_compare_paths(path, ((const struct compose_change *)change)->path);
}

int compose_read_new(struct strbuf *out, const struct compose *compose, const char *path,
		     const struct wt_entry *entry)
{
	const struct compose_change *change =
		compose->nr ? bsearch(path, compose->items, compose->nr, sizeof(*compose->items),
				      to_path)
			    : NULL;
	const struct wt_entry *now = compose_now(compose, path);

	if (change && change->data) {
		strbuf_add(out, change->data, change->len);
		return 0;
	}
	if (now && now->kind != WT_DIR && oid_equal(&now->oid, &entry->oid))
		return compose_read(out, compose, path);
	return objects_read(out, compose->store, &entry->oid, OBJECT_BLOB);
}

/* Add what the store does not have. */
static int add_to_pack(struct compose *compose, struct pack *pack)
{
	int err = 0;

	for (size_t i = 0; i < compose->nr && !err; i++) {
		const struct compose_change *change = &compose->items[i];

		if (change->data)
			err = pack_add(pack, 0, OBJECT_BLOB, &change->entry.oid, change->data,
				       change->len);
	}
	/* Named, but not stored. */
	for (size_t i = 0; i < compose->dirs_nr; i++)
		compose->dirs[i]->known = false;
	return err ? err : ingest_trees(compose->root, pack, compose->threads);
}

uint64_t restore_compose_bytes(const struct restore *r)
{
	const struct compose *compose = r->compose;
	enum { OBJECT_EXTRA = 64, ENTRY_EXTRA = 28 };
	uint64_t bytes = 0;

	for (size_t i = 0; i < compose->nr; i++)
		bytes += compose->items[i].len + compose->items[i].len / 1000 + OBJECT_EXTRA;
	for (size_t i = 0; i < compose->dirs_nr; i++) {
		const struct wt_dir *dir = compose->dirs[i];

		bytes += OBJECT_EXTRA;
		for (size_t j = 0; j < dir->nr; j++)
			bytes += wt_entries(dir)[j].name_len + ENTRY_EXTRA;
	}
	return bytes;
}

/* --- on its way into the store --- */

/*
 * A composed target on its way into the store. What it refers to is partly in the pack of
 * the safety checkpoint, so it goes into the same pack; its ref is made when that is complete, and
 * before retention looks for what nobody needs. Without the ref it never existed; with the ref
 * and without a journal it is swept.
 */

void restore_compose_init(struct restore *r)
{
	struct ckpt_record *record = &r->composed;

	*record = (struct ckpt_record)CKPT_RECORD_INIT;
	r->leads_to = r->opts->target;
	if (!r->opts->composed.make)
		return;
	r->own = *r->opts;
	r->own.target = record;
	r->opts = &r->own;
	/* What is reported about it is that of the checkpoint. */
	snprintf(record->composed_for, sizeof(record->composed_for), "%s", r->leads_to->id);
	record->type = xstrdup(r->leads_to->type);
	record->created_at = r->leads_to->created_at;
	record->reason = xstrdup(r->opts->reason ? r->opts->reason : r->leads_to->reason);
	record->source = xstrdup("checkpoint");
	record->automatic = true;
	record->include_ignored = r->leads_to->include_ignored;
	record->include_sensitive = r->leads_to->include_sensitive;
	strlist_extend(&record->scope, &r->leads_to->scope);
}

static void fill_meta(struct ckpt_meta *meta, const struct restore *r)
{
	const struct scan *scan = r->job.current.scan;

	meta_init(meta);
	modes_encode(&meta->modes, r->compose->root);
	for (size_t i = 0; i < scan->skips.nr; i++)
		skip_list_add(&meta->skips, scan->skips.items[i].path, scan->skips.items[i].why);
	meta->have_rules = true;
	rules_texts_copy(&meta->rules, rules_texts(r->job.current.rules));
}

static void fill_record(struct ckpt_record *record, struct wt_dir *root)
{
	struct wt_counts counts;

	wt_count(&counts, root);
	record->tree = root->tree;
	record->files = counts.files;
	record->bytes = counts.bytes;
	statehash(record->state_hash, root);
}

int restore_compose(struct restore *r)
{
	struct store *store = r->session->store;
	int err;

	restore_point_close(&r->target);
	r->target.tree = NULL;
	free_composition(r->compose);
	strlist_release(&r->composed.conflicts);
	r->compose = xcalloc(1, sizeof(*r->compose));
	*r->compose = (struct compose){ .store = store,
					.state = &r->job.current,
					.threads = r->session->threads,
					.conflicts = &r->composed.conflicts };
	err = r->opts->composed.make(r->compose, r->opts->composed.payload);
	if (!err)
		err = build_composed(r->compose);
	if (!err && !*r->composed.id)
		err = lookup_make_composed_id(r->composed.id, store, clock_now());
	if (err)
		return err;
	strlist_sort_unique(&r->composed.conflicts);
	fill_record(&r->composed, r->compose->root);
	fill_meta(&r->target.meta, r);
	return snapshot_wrap(&r->target.tree, store, r->composed.id, r->compose->root,
			     &r->target.meta.modes);
}

/*
 * Undo shall take back this and nothing else. A directory that goes counts, too: after an
 * interruption it may be all that is left to do.
 */
void restore_compose_touched(struct restore *r)
{
	strlist_release(&r->touched);
	if (!r->opts->composed.make)
		return;
	for (size_t i = 0; i < r->plan.rows_nr; i++)
		strlist_add(&r->touched, r->plan.rows[i].path);
	for (size_t i = 0; i < r->plan.nr; i++)
		if (r->plan.actions[i].kind == PLAN_RMDIR)
			strlist_add(&r->touched, r->plan.actions[i].path);
	strlist_sort_unique(&r->touched);
}

int restore_compose_pack(struct restore *r)
{
	int err = r->compose ? add_to_pack(r->compose, r->job.pack) : 0;

	return err || !r->compose ? err
				  : record_write(&r->composed, &r->target.meta, r->job.pack);
}

int restore_compose_store(struct restore *r)
{
	int err;

	if (!r->compose || r->is_stored)
		return 0;
	err = keepers_add(r->session->store, KEEPER_JOURNAL, r->composed.id, &r->composed.commit);
	r->is_stored = !err;
	return err;
}

/* --- what it lacks --- */

static int by_kept_path(const void *a, const void *b)
{
	return strcmp(((const struct plan_kept *)a)->path, ((const struct plan_kept *)b)->path);
}

void restore_compose_say(struct restore_result *out, const struct restore *r)
{
	const struct strlist *conflicts = &r->opts->target->conflicts;

	out->composed = *r->opts->target->composed_for;
	if (r->opts->step.abort || !conflicts->nr)
		return;
	out->incomplete = true;
	out->conflicts = xcalloc(conflicts->nr, sizeof(*out->conflicts));
	for (size_t i = 0; i < conflicts->nr; i++) {
		const char *text = conflicts->items[i], *end = strchr(text, '\n');

		if (!end)
			continue; /* not ours */
		out->conflicts[out->conflicts_nr++] =
			(struct plan_kept){ xstrdup(end + 1), xmemdupz(text, (size_t)(end - text)) };
	}
	qsort(out->conflicts, out->conflicts_nr, sizeof(*out->conflicts), by_kept_path);
}

void restore_compose_release(struct restore *r)
{
	restore_point_close(&r->held);
	free_composition(r->compose);
	record_release(&r->composed);
	strlist_release(&r->touched);
}
