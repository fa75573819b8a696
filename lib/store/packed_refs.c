/* SPDX-License-Identifier: MIT */
#include "store/refs_internal.h"

#include "store/refs.h"
#include "store/shadow.h"

#define PACKED "packed-refs"
#define PACKED_LOCK "packed-refs.lock"

/* What our own locks on packed-refs contain, to recognise one that a dead process of ours left. */
#define LOCK_TEXT "git-checkpoint\n"

enum {
	ID_LEN = sizeof("chk_YYYYMMDD_HHMMSS_xxxxxx") - 1,
	PREFIX_LEN = sizeof(REFS_CHECKPOINTS) - 1,
	PACKED_LOCK_SECONDS = 1, /* as long as git itself waits */
	/* Git holds it for milliseconds; a lock this old was left by a killed process. */
	PACKED_LOCK_STALE = 600,
};

struct packed_ref {
	char *name;
	struct oid oid;	   /* zero: it cannot be read */
	struct oid peeled; /* git's line about a tag; zero: there is none */
};

struct packed_refs {
	struct stat st; /* of the file; all zero if there was none */
	bool unreadable;
	bool odd;    /* some lines are not refs: one may have been */
	bool peeled; /* a ref without a line about it is not a tag */
	int lacking; /* the errno, if that says nothing about the file */
	struct ref_list checkpoints; /* by id */
	struct packed_ref *others;   /* by name */
	size_t nr, alloc;
};

void packed_refs_free(struct packed_refs *packed)
{
	if (!packed)
		return;
	for (size_t i = 0; i < packed->nr; i++)
		free(packed->others[i].name);
	free(packed->others);
	refs_release(&packed->checkpoints);
	free(packed);
}

/* --- reading --- */

/* Most lines are of checkpoints: false if it is of another ref. */
static bool add_checkpoint(struct ref_list *list, const char *name, size_t len, const struct oid *oid)
{
	struct ref_item *item;

	if (len != PREFIX_LEN + ID_LEN || memcmp(name, REFS_CHECKPOINTS, PREFIX_LEN) != 0)
		return false;
	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	item = &list->items[list->nr];
	memset(item, 0, sizeof(*item));
	memcpy(item->id, name + PREFIX_LEN, ID_LEN);
	item->commit = *oid;
	list->nr += refs_valid_id(item->id);
	return refs_valid_id(item->id);
}

/*
 * "<hex> <name>", after which "^<hex>" tells what a tag leads to. `about` is the ref that such a
 * line is about.
 */
static void parse_line(struct packed_refs *packed, struct packed_ref **about, const char *line,
		       size_t len)
{
	const char *space = memchr(line, ' ', len), *name = space ? space + 1 : NULL;
	size_t name_len = space ? len - (size_t)(name - line) : 0;
	struct oid oid = { { 0 } };

	if (*line == '^' && *about && len > OID_HEX)
		(void)oid_parse(&(*about)->peeled, line + 1);
	*about = NULL;
	if (*line == '#')
		packed->peeled = packed->peeled || memmem(line, len, " fully-peeled", 13);
	else if (*line != '^' && !space)
		packed->odd = true;
	if (*line == '#' || *line == '^' || !space)
		return;
	if (space - line < OID_HEX || !oid_parse(&oid, line))
		oid = (struct oid){ { 0 } };
	if (add_checkpoint(&packed->checkpoints, name, name_len, &oid))
		return;
	ALLOC_GROW(packed->others, packed->nr + 1, packed->alloc);
	*about = &packed->others[packed->nr++];
	**about = (struct packed_ref){ .name = xmemdupz(name, name_len), .oid = oid };
}

static int by_id(const void *a, const void *b)
{
	const struct ref_item *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : memcmp(y->commit.id, x->commit.id, OID_SIZE);
}

static int by_name(const void *a, const void *b)
{
	const struct packed_ref *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : memcmp(y->oid.id, x->oid.id, OID_SIZE);
}

/* Of lines with the same name, which only damage causes, one counts, readable if there is such a one. */
static void put_in_order(struct packed_refs *packed)
{
	struct ref_list *list = &packed->checkpoints;
	bool sorted = true;
	size_t nr = 0;

	for (size_t i = 1; i < list->nr && sorted; i++)
		sorted = strcmp(list->items[i - 1].id, list->items[i].id) < 0;
	if (!sorted)
		qsort(list->items, list->nr, sizeof(*list->items), by_id);
	for (size_t i = 0; i < list->nr && !sorted; i++)
		if (!nr || strcmp(list->items[nr - 1].id, list->items[i].id) != 0)
			list->items[nr++] = list->items[i];
	if (!sorted)
		list->nr = nr;
	if (packed->nr)
		qsort(packed->others, packed->nr, sizeof(*packed->others), by_name);
	nr = 0;
	for (size_t i = 0; i < packed->nr; i++)
		if (!nr || strcmp(packed->others[nr - 1].name, packed->others[i].name) != 0)
			packed->others[nr++] = packed->others[i];
		else
			free(packed->others[i].name);
	packed->nr = nr;
}

static void read_lines(struct packed_refs *packed, struct store *store)
{
	struct packed_ref *about = NULL;
	struct line_file lines;
	char *line;
	size_t len;
	int err = lines_open(&lines, store->dirfd, PACKED);

	/* As many as a file of ours has. */
	ALLOC_GROW(packed->checkpoints.items,
		   (size_t)packed->st.st_size / (OID_HEX + 1 + PREFIX_LEN + ID_LEN) + 1,
		   packed->checkpoints.alloc);
	/* A NUL, which a bad disk may leave, ends a line: it must not hide the lines after it. */
	while (!err && lines_next(&lines, &line, &len))
		for (size_t at = 0, part; at < len; at += part + 1) {
			part = strnlen(line + at, len - at);
			if (part)
				parse_line(packed, &about, line + at, part);
		}
	packed->unreadable = lines.error != 0;
	packed->lacking = fs_is_lack(lines.error) ? lines.error : 0;
	lines_close(&lines);
	put_in_order(packed);
}

/* The current file. If it cannot be read, it is empty. */
static struct packed_refs *read_packed(struct store *store)
{
	struct packed_refs *packed = store->packed;
	struct stat st;

	if (fstatat(store->dirfd, PACKED, &st, AT_SYMLINK_NOFOLLOW) < 0)
		memset(&st, 0, sizeof(st));
	if (packed && fs_same_file(&packed->st, &st) && !packed->lacking)
		return packed;
	packed_refs_free(packed);
	packed = store->packed = xcalloc(1, sizeof(*packed));
	packed->st = st;
	packed->peeled = !st.st_ino;
	if (st.st_ino)
		read_lines(packed, store);
	if (packed->unreadable) {
		packed->checkpoints.nr = 0;
		while (packed->nr)
			free(packed->others[--packed->nr].name);
	}
	return packed;
}

int packed_refs_check(struct store *store)
{
	errno = read_packed(store)->lacking;
	return errno ? ckpt_error_errno("unable to read '%s/" PACKED "'", store->path) : 0;
}

bool packed_refs_damaged(struct store *store)
{
	const struct packed_refs *packed = read_packed(store);

	return packed->unreadable || packed->odd;
}

const struct ref_list *packed_refs_checkpoints(struct store *store)
{
	return &read_packed(store)->checkpoints;
}

/* The first whose name is not less than `name`. */
static size_t first_not_before(const struct packed_refs *packed, const char *name)
{
	size_t at;

	LOWER_BOUND(at, packed->nr, strcmp(packed->others[at].name, name) < 0);
	return at;
}

bool packed_refs_find(struct oid *out, struct store *store, const char *name)
{
	const struct packed_refs *packed = read_packed(store);
	const struct ref_list *list = &packed->checkpoints;
	size_t at;

	if (!strncmp(name, REFS_CHECKPOINTS, PREFIX_LEN) && refs_valid_id(name + PREFIX_LEN)) {
		LOWER_BOUND(at, list->nr, strcmp(list->items[at].id, name + PREFIX_LEN) < 0);
		if (at == list->nr || strcmp(list->items[at].id, name + PREFIX_LEN) != 0)
			return false;
		*out = list->items[at].commit;
		return true;
	}
	at = first_not_before(packed, name);
	if (at == packed->nr || strcmp(packed->others[at].name, name) != 0)
		return false;
	*out = packed->others[at].oid;
	return true;
}

void packed_refs_below(struct strlist *out, struct store *store, const char *prefix)
{
	const struct packed_refs *packed = read_packed(store);

	for (size_t i = first_not_before(packed, prefix);
	     i < packed->nr && !strncmp(packed->others[i].name, prefix, strlen(prefix)); i++)
		if (strncmp(packed->others[i].name, REFS_CHECKPOINTS, PREFIX_LEN) != 0)
			strlist_add(out, packed->others[i].name);
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

static bool is_changed(const struct packed_change *changes, size_t nr, const char *name)
{
	const struct packed_change key = { .name = name };

	return bsearch(&key, changes, nr, sizeof(*changes), change_by_name) != NULL;
}

/* In memory; in what order is settled afterwards. */
static void apply_changes(struct packed_refs *packed, const struct packed_change *changes, size_t nr)
{
	struct ref_list *list = &packed->checkpoints;
	char name[PREFIX_LEN + CKPT_ID_SIZE] = REFS_CHECKPOINTS;
	struct packed_ref *about = NULL;
	char line[OID_HEX + 1];
	size_t left = 0;

	for (size_t i = 0; i < list->nr; i++) {
		strcpy(name + PREFIX_LEN, list->items[i].id);
		if (!is_changed(changes, nr, name))
			list->items[left++] = list->items[i];
	}
	list->nr = left;
	left = 0;
	for (size_t i = 0; i < packed->nr; i++)
		if (is_changed(changes, nr, packed->others[i].name))
			free(packed->others[i].name);
		else
			packed->others[left++] = packed->others[i];
	packed->nr = left;
	for (size_t i = 0; i < nr; i++)
		if (!oid_is_zero(&changes[i].commit)) {
			char *text = xstrfmt("%s %s", oid_hex(line, &changes[i].commit), changes[i].name);

			parse_line(packed, &about, text, strlen(text));
			free(text);
		}
	put_in_order(packed);
}

static void add_line(struct strbuf *out, const struct oid *oid, const char *prefix, const char *name)
{
	char hex[OID_HEX + 1];

	strbuf_add(out, oid_hex(hex, oid), OID_HEX);
	strbuf_addch(out, ' ');
	strbuf_addstr(out, prefix);
	strbuf_addstr(out, name);
	strbuf_addch(out, '\n');
}

static void add_others(struct strbuf *out, const struct packed_refs *packed, size_t *at, const char *to)
{
	char hex[OID_HEX + 1];

	for (; *at < packed->nr && (!to || strcmp(packed->others[*at].name, to) < 0); ++*at) {
		const struct packed_ref *ref = &packed->others[*at];

		add_line(out, &ref->oid, "", ref->name);
		if (!oid_is_zero(&ref->peeled))
			strbuf_addf(out, "^%s\n", oid_hex(hex, &ref->peeled));
	}
}

/* What cannot be read stays as a ref that cannot be read: it proves that there was one. */
static void print_all(struct strbuf *out, const struct packed_refs *packed)
{
	const struct ref_list *list = &packed->checkpoints;
	char name[PREFIX_LEN + CKPT_ID_SIZE] = REFS_CHECKPOINTS;
	size_t at = 0;

	strbuf_addstr(out, packed->peeled ? "# pack-refs with: peeled fully-peeled sorted \n" :
					    "# pack-refs with: sorted \n");
	strbuf_grow(out, list->nr * (OID_HEX + sizeof(name)));
	for (size_t i = 0; i < list->nr; i++) {
		strcpy(name + PREFIX_LEN, list->items[i].id);
		add_others(out, packed, &at, name);
		add_line(out, &list->items[i].commit, REFS_CHECKPOINTS, list->items[i].id);
	}
	add_others(out, packed, &at, NULL);
}

int packed_refs_change(struct store *store, struct packed_change *changes, size_t nr)
{
	struct strbuf text = STRBUF_INIT;
	struct packed_refs *packed;
	int err = lock_packed(store);

	if (err)
		return err;
	if (nr)
		qsort(changes, nr, sizeof(*changes), change_by_name);
	packed = read_packed(store);
	if (packed->unreadable) {
		err = ckpt_error_set(CKPT_ERROR, "unable to read '%s/" PACKED "'", store->path);
	} else {
		apply_changes(packed, changes, nr);
		print_all(&text, packed);
		err = fs_write_file(store->dirfd, PACKED, text.buf, text.len, 0600, FS_DURABLE);
	}
	/* What is known is what was written. */
	if (!err && fstatat(store->dirfd, PACKED, &packed->st, AT_SYMLINK_NOFOLLOW) < 0)
		memset(&packed->st, 0, sizeof(packed->st));
	if (err) {
		packed_refs_free(packed);
		store->packed = NULL;
	}
	unlinkat(store->dirfd, PACKED_LOCK, 0);
	strbuf_release(&text);
	return err;
}
