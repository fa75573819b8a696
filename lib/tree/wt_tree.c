/* SPDX-License-Identifier: MIT */
#include "tree/wt_tree.h"

#include "tree/statcache.h"

/*
 * File times come from a clock that ticks at least a hundred times a second;
 * twice that is a safe distance. File systems without fractions of a second
 * (and those with two seconds) need more.
 */
#define TICK_NS 20000000LL
#define COARSE_NS 2100000000LL

int wt_name_compare(const char *a, size_t a_len, bool a_dir, const char *b, size_t b_len,
		    bool b_dir)
{
	size_t len = a_len < b_len ? a_len : b_len;
	int cmp = memcmp(a, b, len);
	unsigned char ca, cb;

	if (cmp)
		return cmp;
	ca = len < a_len ? (unsigned char)a[len] : a_dir ? '/' : 0;
	cb = len < b_len ? (unsigned char)b[len] : b_dir ? '/' : 0;
	return ca < cb ? -1 : ca > cb;
}

int wt_entry_compare(const void *x, const void *y)
{
	const struct wt_entry *a = x, *b = y;

	return wt_name_compare(a->name, a->name_len, a->kind == WT_DIR, b->name, b->name_len,
			       b->kind == WT_DIR);
}

/* One bit each. */
_Static_assert((WT_KNOWN ^ WT_RACY ^ WT_DEAD ^ WT_TOUCHED ^ WT_SETTLED ^ WT_EARLIER ^ WT_LINKED) ==
		       (1 << 7) - 1,
	       "two flags share a bit");

void wt_stat_from(struct wt_stat *out, const struct stat *st)
{
	out->size = (uint64_t)st->st_size;
	out->mtime_ns = clock_ns(&st->st_mtim);
	out->ctime_ns = clock_ns(&st->st_ctim);
	out->ino = (uint64_t)st->st_ino;
}

bool wt_stat_equal(const struct wt_stat *a, const struct wt_stat *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
	       a->ino == b->ino;
}

bool wt_stat_racy(const struct wt_stat *st, int64_t read_ns)
{
	int64_t newest = st->mtime_ns > st->ctime_ns ? st->mtime_ns : st->ctime_ns;
	bool coarse = st->mtime_ns % 1000000000 == 0 && st->ctime_ns % 1000000000 == 0;

	return newest + (coarse ? COARSE_NS : TICK_NS) >= read_ns;
}

void wt_inherit_notes(struct wt_dir *parent, struct wt_dir *dir)
{
	struct wt_note **end = &parent->notes;

	if (dir->notes)
		parent->same = false;
	while (*end)
		end = &(*end)->next;
	*end = dir->notes;
	dir->notes = NULL;
	parent->look = parent->look || dir->look;
}

void wt_compact_dir(struct wt_dir *dir)
{
	size_t kept = 0;

	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->loaded[i];

		if (entry->flags & WT_DEAD)
			continue;
		/* There only because of what turned out not to be in it. */
		if (entry->kind == WT_DIR && !entry->dir->nr &&
		    (entry->dir->ignored || entry->dir->outside)) {
			wt_inherit_notes(dir, entry->dir);
			continue;
		}
		if (kept != i)
			dir->loaded[kept] = *entry;
		kept++;
	}
	/* A name that exists but is not in the tree: the next walk must see it again. */
	if (kept != dir->nr) {
		dir->listing &= (uint8_t)~WT_NAMES;
		dir->hashed = dir->same = false;
	}
	dir->nr = kept;
}

void wt_compact(struct wt_dir *dir)
{
	/* Nothing in it can be dead before it is loaded. */
	if (dir->source)
		return;
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_dir *below = dir->loaded[i].dir;

		if (dir->loaded[i].kind != WT_DIR || dir->loaded[i].flags & WT_DEAD)
			continue;
		wt_compact(below);
		dir->hashed = dir->hashed && below->hashed;
		dir->same = dir->same && below->same;
	}
	wt_compact_dir(dir);
}

/* In the order of trees a directory and a file of the same name are apart. */
static struct wt_entry *find_kind(const struct wt_dir *dir, const char *name, size_t len, bool is_dir)
{
	size_t low = 0, high = dir->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		struct wt_entry *entry = &wt_entries(dir)[mid];
		int cmp = wt_name_compare(entry->name, entry->name_len, entry->kind == WT_DIR, name,
					  len, is_dir);

		if (!cmp)
			return entry;
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

struct wt_entry *wt_child(const struct wt_dir *dir, const char *name, size_t len)
{
	struct wt_entry *entry = find_kind(dir, name, len, false);

	return entry ? entry : find_kind(dir, name, len, true);
}

const struct wt_entry *wt_find(const struct wt_dir *dir, const char *path)
{
	const struct wt_entry *found = NULL;

	while (dir && *path) {
		size_t len = strcspn(path, "/");

		found = wt_child(dir, path, len);
		path += len;
		path += strspn(path, "/");
		dir = found && found->kind == WT_DIR ? found->dir : NULL;
	}
	return *path ? NULL : found;
}

static void count_entries(struct wt_counts *out, const struct wt_dir *dir)
{
	if (dir->same) {
		out->files += dir->cached->counts.files;
		out->dirs += dir->cached->counts.dirs;
		out->bytes += dir->cached->counts.bytes;
		return;
	}
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_DIR) {
			out->dirs++;
			count_entries(out, entry->dir);
		} else {
			out->files++;
			out->bytes += entry->st.size;
		}
	}
}

void wt_count(struct wt_counts *out, const struct wt_dir *dir)
{
	memset(out, 0, sizeof(*out));
	count_entries(out, dir);
}

void wt_count_modes(uint32_t counts[WT_MODES], const struct wt_dir *dir)
{
	if (dir->same) {
		const struct wt_mode_count *modes = statcache_modes(dir->cached);

		for (uint32_t i = 0; i < dir->cached->modes_nr; i++)
			counts[modes[i].mode] += modes[i].nr;
		return;
	}
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_FILE)
			counts[entry->mode]++;
		if (entry->kind != WT_DIR)
			continue;
		if (!entry->dir->outside)
			counts[entry->mode | WT_MODE_DIR]++;
		wt_count_modes(counts, entry->dir);
	}
}

bool wt_has_mode(const struct wt_dir *dir, bool (*fn)(unsigned mode, void *payload), void *payload)
{
	const struct wt_mode_count *modes = dir->same ? statcache_modes(dir->cached) : NULL;

	for (uint32_t i = 0; modes && i < dir->cached->modes_nr; i++)
		if (fn(modes[i].mode, payload))
			return true;
	return !modes;
}

/* In the state hash an empty directory has its bare name, without the slash. */
static bool is_bare(const struct wt_entry *entry)
{
	return entry->kind == WT_DIR && !entry->dir->nr;
}

static int compare_by_path(const void *x, const void *y)
{
	const struct wt_entry *a = *(const struct wt_entry *const *)x;
	const struct wt_entry *b = *(const struct wt_entry *const *)y;

	return wt_name_compare(a->name, a->name_len, a->kind == WT_DIR && !is_bare(a), b->name,
			       b->name_len, b->kind == WT_DIR && !is_bare(b));
}

static int visit_entry(const struct wt_dir *dir, struct strbuf *path, wt_visit_fn fn, void *payload)
{
	const struct wt_entry **order = NULL;
	size_t len = path->len;
	bool moved = false;
	int err = 0;

	for (size_t i = 0; i < dir->nr && !moved; i++)
		moved = is_bare(&wt_entries(dir)[i]);
	if (moved) {
		order = xmalloc(dir->nr * sizeof(*order));
		for (size_t i = 0; i < dir->nr; i++)
			order[i] = &wt_entries(dir)[i];
		qsort(order, dir->nr, sizeof(*order), compare_by_path);
	}
	for (size_t i = 0; i < dir->nr && !err; i++) {
		const struct wt_entry *entry = order ? order[i] : &wt_entries(dir)[i];

		strbuf_add(path, entry->name, entry->name_len);
		if (entry->kind == WT_DIR && entry->dir->nr) {
			strbuf_addch(path, '/');
			err = visit_entry(entry->dir, path, fn, payload);
		} else {
			err = fn(path->buf, path->len, entry, payload);
		}
		strbuf_setlen(path, len);
	}
	free(order);
	return err;
}

int wt_visit(const struct wt_dir *root, wt_visit_fn fn, void *payload)
{
	struct strbuf path = STRBUF_INIT;
	int err = visit_entry(root, &path, fn, payload);

	strbuf_release(&path);
	return err;
}
