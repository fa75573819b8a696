/* SPDX-License-Identifier: MIT */
#include "store/objects.h"

#include "git/git.h"
#include "store/packs.h"
#include "store/shadow.h"

#include <assert.h>
#include <pthread.h>

static_assert(sizeof(struct oid) == sizeof(git_oid), "struct oid must be laid out as git_oid");

const char *objects_type_name(enum object_type type)
{
	static const char *const names[] = { "", "commit", "tree", "blob", "tag" };

	return names[type];
}

int objects_open(struct store *store)
{
	if (!store->packs)
		store->packs = packs_open(store->dirfd);
	return 0;
}

int objects_reopen(struct store *store)
{
	packs_close(store->packs);
	store->packs = NULL;
	return objects_open(store);
}

static bool is_lost(int err)
{
	return err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT;
}

/*
 * A process that collects garbage replaces packs by new ones: true if there
 * are new ones, and the search that began with `*seen` packs is worth
 * repeating. Counted here, as another thread may have found them first.
 */
static bool more_packs(struct store *store, size_t *seen)
{
	size_t had = *seen;

	packs_refresh(store->packs);
	*seen = packs_count(store->packs);
	return *seen != had;
}

/* Only for loose objects: starting libgit2 takes longer than most commands. */
static int open_odb(struct store *store)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!store->odb && askgit_check(store->path)) {
		pthread_mutex_unlock(&lock);
		return CKPT_ECORRUPT;
	}
	if (!store->odb && libgit2_begin()) {
		pthread_mutex_unlock(&lock);
		return CKPT_ERROR;
	}
	if (!store->odb) {
		rc = libgit2.repository_open_bare(&store->git, store->path);
		if (!rc)
			rc = libgit2.repository_odb(&store->odb, store->git);
	}
	pthread_mutex_unlock(&lock);
	return rc < 0 ? libgit2_error(rc, "unable to open the store '%s'", store->path) : 0;
}

static int check_loose(struct store *store, const struct oid *oid)
{
	int fd = openat(store->dirfd, "objects", O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;
	char hex[OID_HEX + 1];

	if (fd >= 0) {
		err = askgit_check_loose(fd, oid_hex(hex, oid));
		close(fd);
	}
	return err;
}

static int read_failed(int rc, const struct oid *oid)
{
	char hex[OID_HEX + 1];
	int err = libgit2_error(rc, "unable to read the object '%s'", oid_hex(hex, oid));

	return err == CKPT_ENOTFOUND ? err : CKPT_ECORRUPT;
}

static int read_odb(struct strbuf *out, enum object_type *type, struct store *store,
		    const struct oid *oid)
{
	git_odb_object *object = NULL;
	int err = check_loose(store, oid), rc;

	if (!err)
		err = open_odb(store);
	if (err)
		return err;
	rc = libgit2.odb_read(&object, store->odb, (const git_oid *)oid);
	if (rc < 0)
		return read_failed(rc, oid);
	*type = (enum object_type)libgit2.odb_object_type(object);
	strbuf_add(out, libgit2.odb_object_data(object), libgit2.odb_object_size(object));
	libgit2.odb_object_free(object);
	return 0;
}

int objects_read_any(struct strbuf *out, enum object_type *type_out, struct store *store,
		     const struct oid *oid)
{
	size_t seen;
	int err = objects_open(store);

	if (err)
		return err;
	seen = packs_count(store->packs);
	do
		err = packs_read(out, type_out, store->packs, oid);
	while (is_lost(err) && more_packs(store, &seen));
	return err == CKPT_ENOTFOUND ? read_odb(out, type_out, store, oid) : err;
}

int objects_read(struct strbuf *out, struct store *store, const struct oid *oid,
		 enum object_type type)
{
	enum object_type is;
	size_t start = out->len;
	int err = objects_read_any(out, &is, store, oid);
	char hex[OID_HEX + 1];

	if (!err && is != type)
		err = ckpt_error_set(CKPT_ECORRUPT, "the object '%s' is not a %s",
				     oid_hex(hex, oid), objects_type_name(type));
	if (err)
		strbuf_setlen(out, start);
	return err;
}

int objects_stream(struct store *store, const struct oid *oid,
		   int (*fn)(const void *data, size_t len, void *payload), void *payload)
{
	struct strbuf whole = STRBUF_INIT;
	enum object_type type;
	size_t seen;
	int err = objects_open(store);

	if (err)
		return err;
	seen = packs_count(store->packs);
	/* Damage may have been found after pieces were passed on. */
	do
		err = packs_stream(store->packs, oid, fn, payload);
	while (err == CKPT_ENOTFOUND && more_packs(store, &seen));
	if (err != CKPT_ENOTFOUND)
		return err;
	err = read_odb(&whole, &type, store, oid);
	if (!err)
		err = fn(whole.buf, whole.len, payload);
	strbuf_release(&whole);
	return err;
}

static int drop_piece(const void *data UNUSED, size_t len UNUSED, void *payload UNUSED)
{
	return 0;
}

int objects_check(struct store *store, const struct oid *oid)
{
	return objects_stream(store, oid, drop_piece, NULL);
}

int objects_size(uint64_t *out, struct store *store, const struct oid *oid)
{
	enum object_type type;
	git_object_t git_type;
	size_t size, seen;
	int err = objects_open(store), rc;

	if (err)
		return err;
	seen = packs_count(store->packs);
	do
		err = packs_stat(&type, out, store->packs, oid);
	while (is_lost(err) && more_packs(store, &seen));
	if (err != CKPT_ENOTFOUND)
		return err;
	err = check_loose(store, oid);
	if (!err)
		err = open_odb(store);
	if (err)
		return err;
	rc = libgit2.odb_read_header(&size, &git_type, store->odb, (const git_oid *)oid);
	if (rc < 0)
		return read_failed(rc, oid);
	*out = size;
	return 0;
}

bool objects_exist(struct store *store, const struct oid *oid)
{
	return packs_have(store->packs, oid);
}

static bool is_of_pack(const char *name)
{
	return !strncmp(name, "pack-", strlen("pack-"));
}

uint64_t objects_packs_fingerprint(struct store *store)
{
	struct strlist names = STRLIST_INIT;
	uint64_t sum = 0;

	(void)fs_names(&names, store->dirfd, "objects/pack", 0, is_of_pack);
	for (size_t i = 0; i < names.nr; i++) {
		char *path = xstrfmt("objects/pack/%s", names.items[i]);
		uint64_t hash = 1469598103934665603u; /* FNV-1a */
		struct stat st;

		if (!fstatat(store->dirfd, path, &st, AT_SYMLINK_NOFOLLOW)) {
			for (const char *p = names.items[i]; *p; p++)
				hash = (hash ^ (unsigned char)*p) * 1099511628211u;
			hash = (hash ^ (uint64_t)st.st_size) * 1099511628211u;
			sum += hash; /* in any order */
		}
		free(path);
	}
	strlist_release(&names);
	return sum;
}

int objects_tree_next(struct tree_entry *out, const struct strbuf *tree, size_t *at)
{
	const char *p = tree->buf + *at, *end = tree->buf + tree->len, *nul;
	unsigned mode = 0;

	if (p == end)
		return 0;
	for (; p < end && *p >= '0' && *p <= '7'; p++)
		mode = mode << 3 | (unsigned)(*p - '0');
	if (p == end || *p != ' ')
		return ckpt_error_set(CKPT_ECORRUPT, "a tree is malformed");
	p++;
	nul = memchr(p, '\0', (size_t)(end - p));
	if (!nul || nul == p || end - nul - 1 < OID_SIZE)
		return ckpt_error_set(CKPT_ECORRUPT, "a tree is malformed");
	out->name = p;
	out->name_len = (size_t)(nul - p);
	out->mode = mode;
	memcpy(out->oid.id, nul + 1, OID_SIZE);
	*at = (size_t)(nul + 1 + OID_SIZE - tree->buf);
	return 1;
}

bool objects_take_line(const char **p, const char *word, struct oid *out)
{
	size_t len = strlen(word);

	if (strncmp(*p, word, len) || !oid_parse(out, *p + len) || (*p)[len + OID_HEX] != '\n')
		return false;
	*p += len + OID_HEX + 1;
	return true;
}
