/* SPDX-License-Identifier: MIT */
#include "store/objects.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/giterr.h"
#include "store/store.h"

#include <git2.h>
#include <git2/sys/odb_backend.h>

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static_assert(sizeof(struct oid) == sizeof(git_oid), "struct oid must be laid out as git_oid");

const char *object_type_name(enum object_type type)
{
	static const char *const names[] = { "", "commit", "tree", "blob" };

	return names[type];
}

int objects_open(struct store *store)
{
	git_odb_backend *backend = NULL;
	char *objects;
	int rc;

	if (store->odb)
		return 0;
	git_begin();
	rc = git_repository_open_bare(&store->git, store->path);
	if (!rc)
		rc = git_repository_odb(&store->odb, store->git);
	if (rc < 0)
		return ckpt_error_git(rc, "unable to open the store '%s'", store->path);

	/*
	 * Whether an object is there is asked for every file of a first save.
	 * Packs alone, without the loose objects that we never write, answer it
	 * without a system call.
	 */
	objects = xstrfmt("%s/objects", store->path);
	rc = git_odb_new(&store->packs);
	if (!rc)
		rc = git_odb_backend_pack(&backend, objects);
	if (!rc)
		rc = git_odb_add_backend(store->packs, backend, 1);
	free(objects);
	return rc < 0 ? ckpt_error_git(rc, "unable to open the packs of '%s'", store->path) : 0;
}

static int read_failed(int rc, const struct oid *oid)
{
	char hex[OID_HEX + 1];
	int err = ckpt_error_git(rc, "unable to read the object %s", oid_hex(hex, oid));

	return err == CKPT_ENOTFOUND ? err : CKPT_ECORRUPT;
}

int objects_read(struct strbuf *out, struct store *store, const struct oid *oid,
		 enum object_type type)
{
	git_odb_object *object = NULL;
	int err = objects_open(store), rc;
	char hex[OID_HEX + 1];

	if (err)
		return err;
	rc = git_odb_read(&object, store->odb, (const git_oid *)oid);
	if (rc < 0)
		return read_failed(rc, oid);
	if ((int)git_odb_object_type(object) != (int)type)
		err = ckpt_error_set(CKPT_ECORRUPT, "the object %s is not a %s", oid_hex(hex, oid),
				     object_type_name(type));
	else
		strbuf_add(out, git_odb_object_data(object), git_odb_object_size(object));
	git_odb_object_free(object);
	return err;
}

int objects_size(uint64_t *out, struct store *store, const struct oid *oid)
{
	int err = objects_open(store), rc;
	git_object_t type;
	size_t size;

	if (err)
		return err;
	rc = git_odb_read_header(&size, &type, store->odb, (const git_oid *)oid);
	if (rc < 0)
		return read_failed(rc, oid);
	*out = size;
	return 0;
}

bool objects_exist(struct store *store, const struct oid *oid)
{
	return git_odb_exists_ext(store->packs, (const git_oid *)oid, GIT_ODB_LOOKUP_NO_REFRESH) ==
	       1;
}

uint64_t objects_packs_fingerprint(struct store *store)
{
	int fd = openat(store->dirfd, "objects/pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *ent;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((ent = readdir(dir))) {
		uint64_t hash = 1469598103934665603u; /* FNV-1a */
		struct stat st;

		if (strncmp(ent->d_name, "pack-", 5) ||
		    fstatat(fd, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		for (const char *p = ent->d_name; *p; p++)
			hash = (hash ^ (unsigned char)*p) * 1099511628211u;
		hash = (hash ^ (uint64_t)st.st_size) * 1099511628211u;
		sum += hash; /* in any order */
	}
	closedir(dir);
	return sum;
}

int tree_next(struct tree_entry *out, const struct strbuf *tree, size_t *at)
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
