/* SPDX-License-Identifier: MIT */
#include "store/names.h"

#include "base/base.h"
#include "store/packed_refs_internal.h"
#include "store/refs.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

#define DIR "refs/names"

enum { NAME_LEN_MAX = 100 };

struct one_name {
	char *name;
	struct oid commit; /* zero: it cannot be read */
};

/* The loose ones, as they were read, and of which directory. */
struct names {
	struct one_name *items;
	size_t nr, alloc;
	struct stat st;
};

/* --- what is a name --- */

static bool is_word(const char *name)
{
	static const char *const taken[] = { "step", "turn", "session" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		found = found || !strcmp(name, taken[i]);
	return found;
}

/* What git does not take for the last part of a ref. */
static bool is_bad_ref(const char *name, size_t len)
{
	return strstr(name, "..") || name[len - 1] == '.' ||
	       (len > 5 && !strcmp(name + len - 5, ".lock"));
}

bool names_valid(const char *name)
{
	static const char letters[] = "0123456789abcdefABCDEFghijklmnopqrstuvwxyz"
				      "GHIJKLMNOPQRSTUVWXYZ._-";
	size_t len = strlen(name);

	return len && len <= NAME_LEN_MAX && !strchr("._-", name[0]) &&
	       !name[strspn(name, letters)] && name[strspn(name, "0123456789abcdefABCDEF")] &&
	       strncmp(name, "chk_", 4) != 0 && !is_word(name) && !is_bad_ref(name, len);
}

/* --- reading --- */

void names_free(struct names *names)
{
	for (size_t i = 0; names && i < names->nr; i++)
		free(names->items[i].name);
	if (names)
		free(names->items);
	free(names);
}

static void forget(struct store *store)
{
	names_free(store->names);
	store->names = NULL;
}

static bool same_dir(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* CKPT_ENOTFOUND if there is none. What is damaged, or not a file, gives a zero commit. */
static int read_loose(struct oid *out, struct store *store, const char *name)
{
	char *path = xstrfmt(DIR "/%s", name);
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_file(&text, store->dirfd, path);

	if (err && (errno == EISDIR || errno == ELOOP || errno == EINVAL))
		err = 0;
	else if (err && errno == ENOTDIR)
		err = CKPT_ENOTFOUND;
	if (err || text.len < OID_HEX || !oid_parse(out, text.buf))
		memset(out, 0, sizeof(*out));
	strbuf_release(&text);
	free(path);
	return err;
}

/* Most stores have none, which one system call tells. */
static int load(struct store *store)
{
	struct strlist files = STRLIST_INIT;
	struct names *names;
	struct stat st;
	int err = 0;

	if (fstatat(store->dirfd, DIR, &st, 0) < 0) {
		forget(store);
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : ckpt_error_errno("unable to read the names in '%s'", store->path);
	}
	if (store->names && same_dir(&store->names->st, &st))
		return 0;
	forget(store);
	if (fs_names(&files, store->dirfd, DIR, 0, names_valid) < 0 && errno != ENOENT &&
	    errno != ENOTDIR)
		err = ckpt_error_errno("unable to read the names in '%s'", store->path);
	names = xcalloc(1, sizeof(*names));
	names->st = st;
	for (size_t i = 0; i < files.nr && !err; i++) {
		struct oid commit;

		err = read_loose(&commit, store, files.items[i]);
		/* Taken away just now; any other failure would leave its checkpoint unprotected. */
		if (err == CKPT_ENOTFOUND) {
			err = 0;
			continue;
		}
		ALLOC_GROW(names->items, names->nr + 1, names->alloc);
		names->items[names->nr].name = xstrdup(files.items[i]);
		names->items[names->nr++].commit = commit;
	}
	strlist_release(&files);
	if (err)
		names_free(names);
	else
		store->names = names;
	return err;
}

static bool is_loose(const struct store *store, const char *name)
{
	bool found = false;

	for (size_t i = 0; store->names && i < store->names->nr; i++)
		found = found || !strcmp(store->names->items[i].name, name);
	return found;
}

/* A packed one that counts: a loose one of the same name would hide it. */
static const char *packed_name(struct oid *commit, const struct store *store,
			       const struct packed_ref *ref)
{
	const char *name = ref->name + strlen(DIR "/");

	if (!names_valid(name) || is_loose(store, name))
		return NULL;
	if (ref->hex_len < OID_HEX || !oid_parse(commit, ref->hex))
		memset(commit, 0, sizeof(*commit));
	return name;
}

int names_check(struct store *store)
{
	int err = load(store);

	return err ? err : packed_refs_check(store);
}

bool names_find(struct oid *out, struct store *store, const char *name)
{
	const struct packed_ref *packed;
	char *path;
	int err;

	if (!names_valid(name))
		return false;
	err = read_loose(out, store, name);
	/* Whatever is in the file hides a packed one. */
	if (err != CKPT_ENOTFOUND)
		return !err && !oid_is_zero(out);
	path = xstrfmt(DIR "/%s", name);
	packed = packed_refs_find(store, path);
	free(path);
	return packed && packed->hex_len >= OID_HEX && oid_parse(out, packed->hex);
}

const char *names_of(struct store *store, const struct oid *commit)
{
	const struct packed_ref *packed;
	struct oid oid;
	size_t nr;

	if (load(store) || oid_is_zero(commit))
		return NULL;
	for (size_t i = 0; store->names && i < store->names->nr; i++)
		if (oid_equal(&store->names->items[i].commit, commit))
			return store->names->items[i].name;
	packed = packed_refs_below(store, DIR "/", &nr);
	for (size_t i = 0; i < nr; i++) {
		const char *name = packed_name(&oid, store, &packed[i]);

		if (name && oid_equal(&oid, commit))
			return name;
	}
	return NULL;
}

void names_list(struct strlist *out, struct store *store)
{
	const struct packed_ref *packed;
	struct oid oid;
	size_t nr;

	if (load(store))
		return;
	for (size_t i = 0; store->names && i < store->names->nr; i++)
		strlist_add(out, store->names->items[i].name);
	packed = packed_refs_below(store, DIR "/", &nr);
	for (size_t i = 0; i < nr; i++) {
		const char *name = packed_name(&oid, store, &packed[i]);

		if (name)
			strlist_add(out, name);
	}
	strlist_sort_unique(out);
}

/* --- changing --- */

int names_remove(struct store *store, const char *name)
{
	int err = names_valid(name) ? refs_remove(store, DIR, name) : 0;

	forget(store);
	return err;
}

int names_forget(struct store *store, const struct oid *commit, const char *except)
{
	struct strlist all = STRLIST_INIT;
	struct oid oid;
	int err = 0;

	names_list(&all, store);
	for (size_t i = 0; i < all.nr && !err; i++)
		if ((!except || strcmp(all.items[i], except)) &&
		    names_find(&oid, store, all.items[i]) && oid_equal(&oid, commit))
			err = names_remove(store, all.items[i]);
	strlist_release(&all);
	return err;
}

int names_set(struct store *store, const char *name, const struct oid *commit)
{
	int err = fs_ensure_dir(store->dirfd, DIR, 0700);

	if (!err)
		err = refs_write(store, DIR, name, commit, FS_DURABLE);
	forget(store);
	return err ? err : names_forget(store, commit, name);
}

static bool leads_to(const struct ref_list *refs, const struct oid *commit)
{
	bool found = false;

	/* A ref that cannot be read may be the one that is meant. */
	for (size_t i = 0; i < refs->nr && !found; i++)
		found = oid_is_zero(&refs->items[i].commit) ||
			oid_equal(&refs->items[i].commit, commit);
	return found;
}

int names_sweep(struct store *store, const struct ref_list *lost)
{
	struct strlist all = STRLIST_INIT;
	struct ref_list refs;
	struct oid oid;
	int err = 0;

	names_list(&all, store);
	if (!all.nr)
		return 0;
	err = refs_list(&refs, store);
	if (err) {
		strlist_release(&all);
		return err;
	}
	for (size_t i = 0; i < all.nr && !err; i++)
		if (names_find(&oid, store, all.items[i]) && !leads_to(&refs, &oid) &&
		    !leads_to(lost, &oid))
			err = names_remove(store, all.items[i]);
	refs_release(&refs);
	strlist_release(&all);
	return err;
}
