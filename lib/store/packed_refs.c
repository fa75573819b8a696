/* SPDX-License-Identifier: MIT */
#include "store/packed_refs_internal.h"

#include "base/base.h"
#include "store/refs.h"
#include "store/shadow.h"

#define PACKED "packed-refs"
#define PACKED_LOCK "packed-refs.lock"

/* What our own locks on packed-refs contain, to recognise one that a dead process of ours left. */
#define LOCK_TEXT "git-checkpoint\n"

enum {
	ID_LEN = sizeof("chk_YYYYMMDD_HHMMSS_xxxxxx") - 1,
	ID_AT = OID_HEX + sizeof(" " REFS_CHECKPOINTS) - 1, /* in the line of a checkpoint */
	PACKED_LOCK_SECONDS = 1, /* as long as git itself waits */
	/* Git holds it for milliseconds; a lock this old was left by a killed process. */
	PACKED_LOCK_STALE = 600,
};

/* Says that lines are sorted, and that a ref without a line about it is not a tag. */
static const char usual_head[] = "# pack-refs with: peeled fully-peeled sorted \n";

struct packed_refs {
	struct stat st; /* of the file; all zero if there was none */
	bool unreadable;
	bool odd; /* some lines are not refs: one may have been */
	int lacking; /* the errno, if that says nothing about the file */
	struct ref_list checkpoints; /* by id */
	struct strbuf text;	     /* of all other lines */
	struct packed_ref *items;    /* what these lines say, by name */
	size_t nr, alloc;
};

void packed_refs_free(struct packed_refs *packed)
{
	if (!packed)
		return;
	strbuf_release(&packed->text);
	refs_release(&packed->checkpoints);
	free(packed->items);
	free(packed);
}

/* --- reading --- */

static bool is_readable(const struct packed_ref *ref)
{
	struct oid oid;

	return ref->hex_len >= OID_HEX && oid_parse(&oid, ref->hex);
}

/* Of lines with the same name, which only damage causes, the readable one comes first. */
static int by_name(const void *a, const void *b)
{
	const struct packed_ref *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = is_readable(y) - is_readable(x);
	return order || !is_readable(x) ? order : memcmp(y->hex, x->hex, OID_HEX);
}

/* "<hex> <name>" per line, after which "^<hex>" tells what a tag leads to. */
static void parse(struct packed_refs *packed)
{
	char *line = packed->text.buf, *all_end = line + packed->text.len;
	struct packed_ref *last = NULL;
	bool sorted = true;

	while (line < all_end) {
		char *end = memchr(line, '\n', (size_t)(all_end - line)), *space;

		if (!end)
			end = all_end;
		if (*line == '^' && last && end < all_end) {
			last->peeled = line;
			last->peeled_len = (size_t)(end + 1 - line);
			last = NULL;
			line = end + 1;
			continue;
		}
		space = memchr(line, ' ', (size_t)(end - line));
		last = NULL;
		packed->odd = packed->odd || (*line != '#' && !space && end > line);
		if (*line != '#' && *line != '^' && space) {
			ALLOC_GROW(packed->items, packed->nr + 1, packed->alloc);
			last = &packed->items[packed->nr];
			*last = (struct packed_ref){ .name = space + 1,
						     .hex = line,
						     .hex_len = (size_t)(space - line) };
			*end = '\0'; /* the text ends in one */
			sorted = sorted && (!packed->nr || by_name(last - 1, last) < 0);
			packed->nr++;
		}
		line = end + 1;
	}
	if (!sorted)
		qsort(packed->items, packed->nr, sizeof(*packed->items), by_name);
}

/* A NUL, which a bad disk may leave, ends a line: it must not hide the lines after it. */
static void parse_text(struct packed_refs *packed)
{
	for (size_t at = strlen(packed->text.buf); at < packed->text.len;
	     at += strlen(packed->text.buf + at))
		packed->text.buf[at] = '\n';
	parse(packed);
}

/* As most lines are: false if it is another one. */
static bool add_plain(struct ref_list *list, const char *line, size_t len)
{
	struct ref_item *item;

	if (len != ID_AT + ID_LEN ||
	    memcmp(line + OID_HEX, " " REFS_CHECKPOINTS, ID_AT - OID_HEX) != 0)
		return false;
	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	item = &list->items[list->nr];
	memset(item, 0, sizeof(*item));
	memcpy(item->id, line + ID_AT, ID_LEN);
	if (!refs_valid_id(item->id) || !oid_parse(&item->commit, line))
		return false;
	list->nr++;
	return true;
}

/* The same order of lines with the same name as above. */
static int by_id(const void *a, const void *b)
{
	const struct ref_item *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : memcmp(y->commit.id, x->commit.id, OID_SIZE);
}

/* Lines that say of a checkpoint less than they should. */
static void add_odd(struct packed_refs *packed)
{
	size_t prefix = strlen(REFS_CHECKPOINTS);

	for (size_t i = 0; i < packed->nr; i++) {
		const struct packed_ref *ref = &packed->items[i];
		struct oid commit;

		if (!strncmp(ref->name, REFS_CHECKPOINTS, prefix) && refs_valid_id(ref->name + prefix))
			refs_add(&packed->checkpoints, ref->name + prefix,
				 ref->hex_len >= OID_HEX && oid_parse(&commit, ref->hex) ? &commit :
											   NULL);
	}
}

/* By id, and a name that occurs twice is one checkpoint. */
static void put_in_order(struct ref_list *list)
{
	bool sorted = true;
	size_t nr = 0;

	for (size_t i = 1; i < list->nr && sorted; i++)
		sorted = strcmp(list->items[i - 1].id, list->items[i].id) < 0;
	if (sorted)
		return;
	qsort(list->items, list->nr, sizeof(*list->items), by_id);
	for (size_t i = 0; i < list->nr; i++)
		if (!nr || strcmp(list->items[nr - 1].id, list->items[i].id) != 0)
			list->items[nr++] = list->items[i];
	list->nr = nr;
}

static int read_lines(struct packed_refs *packed, struct store *store)
{
	struct line_file lines;
	char *line;
	size_t len;
	int err = lines_open(&lines, store->dirfd, PACKED);

	/* As many as a file of ours has. */
	ALLOC_GROW(packed->checkpoints.items, (size_t)packed->st.st_size / (ID_AT + ID_LEN) + 1,
		   packed->checkpoints.alloc);
	while (!err && lines_next(&lines, &line, &len))
		if (!add_plain(&packed->checkpoints, line, len)) {
			strbuf_add(&packed->text, line, len);
			strbuf_addch(&packed->text, '\n');
		}
	errno = lines.error;
	lines_close(&lines);
	return errno ? -1 : 0;
}

/* The current file. If it cannot be read, it is empty. */
static struct packed_refs *look(struct store *store)
{
	struct packed_refs *packed = store->packed;
	struct stat st;

	if (fstatat(store->dirfd, PACKED, &st, AT_SYMLINK_NOFOLLOW) < 0)
		memset(&st, 0, sizeof(st));
	if (packed && fs_same_file(&packed->st, &st) && !packed->lacking)
		return packed;
	packed_refs_free(packed);
	packed = store->packed = xcalloc(1, sizeof(*packed));
	strbuf_init(&packed->text);
	packed->st = st;
	packed->unreadable = st.st_ino && read_lines(packed, store) < 0;
	packed->lacking = packed->unreadable && fs_is_lack(errno) ? errno : 0;
	if (packed->unreadable) {
		packed->checkpoints.nr = 0;
		return packed;
	}
	parse_text(packed);
	add_odd(packed);
	put_in_order(&packed->checkpoints);
	return packed;
}

int packed_refs_check(struct store *store)
{
	errno = look(store)->lacking;
	return errno ? ckpt_error_errno("unable to read '%s/" PACKED "'", store->path) : 0;
}

bool packed_refs_damaged(struct store *store)
{
	const struct packed_refs *packed = look(store);

	return packed->unreadable || packed->odd;
}

/* The first whose name is not less than `name`. */
static size_t first_not_before(const struct packed_refs *packed, const char *name)
{
	size_t at;

	LOWER_BOUND(at, packed->nr, strcmp(packed->items[at].name, name) < 0);
	return at;
}

const struct packed_ref *packed_refs_find(struct store *store, const char *name)
{
	const struct packed_refs *packed = look(store);
	size_t at = first_not_before(packed, name);

	return at < packed->nr && !strcmp(packed->items[at].name, name) ? &packed->items[at] : NULL;
}

const struct packed_ref *packed_refs_below(struct store *store, const char *prefix, size_t *nr_out)
{
	const struct packed_refs *packed = look(store);
	size_t from = first_not_before(packed, prefix), to = from;

	while (to < packed->nr && !strncmp(packed->items[to].name, prefix, strlen(prefix)))
		to++;
	*nr_out = to - from;
	return packed->nr ? packed->items + from : NULL;
}

const struct ref_list *packed_refs_checkpoints(struct store *store)
{
	return &look(store)->checkpoints;
}

bool packed_refs_has(struct store *store, const char *name)
{
	size_t prefix = strlen(REFS_CHECKPOINTS);

	if (strncmp(name, REFS_CHECKPOINTS, prefix) == 0 && refs_valid_id(name + prefix))
		return refs_has(packed_refs_checkpoints(store), name + prefix);
	return packed_refs_find(store, name);
}

/* --- changing --- */

/* By the clock that dates files: if the clock was set, a lock from the future proves nothing. */
static bool is_stale(struct store *store)
{
	struct timespec now;
	struct stat st;

	return !clock_gettime(CLOCK_REALTIME, &now) &&
	       !fstatat(store->dirfd, PACKED_LOCK, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_mtime + PACKED_LOCK_STALE < now.tv_sec;
}

/*
 * The lock is linked into place with its contents, so that ours is never
 * mistaken for git's. We hold the store's lock: so another of ours is from a
 * process that died.
 */
static int lock_packed(struct store *store)
{
	double deadline = clock_monotonic() + PACKED_LOCK_SECONDS;
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct strbuf temp = STRBUF_INIT, text = STRBUF_INIT;
	int fd = -1, err = fs_temp_open(&fd, &temp, store->dirfd, "checkpoint", 0600);

	if (err)
		goto out;
	if (fs_write_all(fd, LOCK_TEXT, strlen(LOCK_TEXT)) < 0)
		err = ckpt_error_errno("unable to write '%s'", PACKED_LOCK);
	close(fd);
	while (!err && linkat(store->dirfd, temp.buf, store->dirfd, PACKED_LOCK, 0) < 0) {
		if (errno != EEXIST) {
			err = ckpt_error_errno("unable to create '%s/" PACKED_LOCK "'", store->path);
			break;
		}
		strbuf_reset(&text);
		if (((!fs_read_file(&text, store->dirfd, PACKED_LOCK) &&
		      !strcmp(text.buf, LOCK_TEXT)) ||
		     is_stale(store)) &&
		    !unlinkat(store->dirfd, PACKED_LOCK, 0))
			continue;
		if (clock_monotonic() < deadline)
			nanosleep(&pause, NULL);
		else
			err = ckpt_error_set(CKPT_ELOCKED,
					     "'%s/" PACKED_LOCK "' exists: another git process is using "
								"the store; if none is, remove that file",
					     store->path);
	}
	unlinkat(store->dirfd, temp.buf, 0);
out:
	strbuf_release(&temp);
	strbuf_release(&text);
	return err;
}

static int change_by_name(const void *a, const void *b)
{
	const struct packed_change *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* What the old header promises stays true: we add no tags. And now it is sorted. */
static void add_head(struct strbuf *out, const struct packed_refs *packed)
{
	static const char mark[] = "# pack-refs with:";
	const char *text = packed->text.buf;
	size_t len = packed->text.len ? strcspn(text, "\n") : 0;

	if (!packed->nr) {
		strbuf_addstr(out, usual_head);
		return;
	}
	strbuf_addstr(out, mark);
	if (!strncmp(text, mark, strlen(mark))) {
		if (memmem(text, len, " peeled", strlen(" peeled")))
			strbuf_addstr(out, " peeled");
		if (memmem(text, len, " fully-peeled", strlen(" fully-peeled")))
			strbuf_addstr(out, " fully-peeled");
	}
	strbuf_addstr(out, " sorted \n");
}

static void add_old(struct strbuf *out, const struct packed_ref *ref)
{
	strbuf_add(out, ref->hex, ref->hex_len);
	strbuf_addf(out, " %s\n", ref->name);
	if (ref->peeled)
		strbuf_add(out, ref->peeled, ref->peeled_len);
}

/* Both are sorted: walk along both. */
static void merge(struct strbuf *out, const struct packed_refs *packed,
		  const struct packed_change *changes, size_t nr)
{
	char hex[OID_HEX + 1];
	size_t i = 0;

	add_head(out, packed);
	for (size_t j = 0; j <= nr; j++) {
		const char *name = j < nr ? changes[j].name : NULL;

		for (; i < packed->nr && (!name || strcmp(packed->items[i].name, name) < 0); i++)
			add_old(out, &packed->items[i]);
		for (; name && i < packed->nr && !strcmp(packed->items[i].name, name); i++)
			;
		if (name && !oid_is_zero(&changes[j].commit))
			strbuf_addf(out, "%s %s\n", oid_hex(hex, &changes[j].commit), name);
	}
}

static bool only_removes(const struct packed_change *changes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!oid_is_zero(&changes[i].commit))
			return false;
	return true;
}

/*
 * Copy the lines of all others. Only if each line is of a checkpoint, and they are in order, as in a
 * file of ours: false if it is another one, or damaged.
 */
static bool copy_others(struct strbuf *out, struct store *store,
			const struct packed_change *changes, size_t nr)
{
	char name[ID_AT + ID_LEN + 1], before[sizeof(name)] = "", *line;
	const struct packed_change key = { .name = name + OID_HEX + 1 };
	struct line_file lines;
	bool whole = !lines_open(&lines, store->dirfd, PACKED), head = true;
	size_t len;

	strbuf_grow(out, (size_t)store->packed->st.st_size);
	for (; whole && lines_next(&lines, &line, &len); head = false) {
		whole = !lines.torn;
		if (head && whole && len + 1 == strlen(usual_head) &&
		    !memcmp(line, usual_head, len + 1)) {
			strbuf_add(out, line, len + 1);
			continue;
		}
		whole = whole && len == ID_AT + ID_LEN &&
			!memcmp(line + OID_HEX, " " REFS_CHECKPOINTS, ID_AT - OID_HEX) &&
			memcmp(before + ID_AT, line + ID_AT, ID_LEN) < 0 && !memchr(line, '\0', len);
		if (!whole)
			break;
		memcpy(name, line, len);
		name[len] = '\0';
		memcpy(before, name, sizeof(name));
		if (!bsearch(&key, changes, nr, sizeof(*changes), change_by_name))
			strbuf_add(out, line, len + 1);
	}
	whole = whole && !lines.error;
	lines_close(&lines);
	return whole;
}

/* All lines, whatever they say. */
static int merge_all(struct strbuf *out, struct store *store, const struct packed_change *changes,
		     size_t nr)
{
	struct packed_refs all = { .text = STRBUF_INIT };
	int err = fs_read_file(&all.text, store->dirfd, PACKED);

	if (err == CKPT_ENOTFOUND)
		err = 0;
	if (!err) {
		parse_text(&all);
		merge(out, &all, changes, nr);
	} else {
		err = ckpt_error_set(CKPT_ERROR, "unable to read '%s/" PACKED "'", store->path);
	}
	strbuf_release(&all.text);
	free(all.items);
	return err;
}

/* What was read, without them; it must be read again if others than checkpoints went. */
static void forget_removed(struct packed_refs *packed, const struct packed_change *changes,
			   size_t nr, const struct stat *st)
{
	struct ref_list *list = &packed->checkpoints;
	size_t prefix = strlen(REFS_CHECKPOINTS);

	for (size_t i = 0; i < nr; i++) {
		const char *name = changes[i].name, *id = name + prefix;
		size_t at;

		if (strncmp(name, REFS_CHECKPOINTS, prefix) != 0 || !refs_valid_id(id))
			return;
		LOWER_BOUND(at, list->nr, strcmp(list->items[at].id, id) < 0);
		if (at == list->nr || strcmp(list->items[at].id, id) != 0)
			continue;
		list->nr--;
		memmove(&list->items[at], &list->items[at + 1],
			(list->nr - at) * sizeof(*list->items));
	}
	packed->st = *st;
}

int packed_refs_change(struct store *store, struct packed_change *changes, size_t nr)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	bool copied;
	int err = lock_packed(store);

	if (err)
		return err;
	if (nr)
		qsort(changes, nr, sizeof(*changes), change_by_name);
	(void)look(store);
	copied = only_removes(changes, nr) && copy_others(&text, store, changes, nr);
	if (!copied) {
		strbuf_reset(&text);
		err = merge_all(&text, store, changes, nr);
	}
	if (!err)
		err = fs_write_file(store->dirfd, PACKED, text.buf, text.len, 0600, FS_DURABLE);
	if (!err && copied && !fstatat(store->dirfd, PACKED, &st, AT_SYMLINK_NOFOLLOW))
		forget_removed(store->packed, changes, nr, &st);
	unlinkat(store->dirfd, PACKED_LOCK, 0);
	strbuf_release(&text);
	return err;
}
