/* SPDX-License-Identifier: MIT */
#include "store/loose_refs_internal.h"

#include "base/base.h"
#include "store/packed_refs_internal.h"
#include "store/refs.h"
#include "store/shadow.h"

struct loose_refs {
	struct stat st; /* of the directory, before it was read */
	bool settled;	/* its times tell whether it has changed since */
	struct ref_list list;
};

void loose_refs_free(struct loose_refs *loose)
{
	if (loose)
		refs_release(&loose->list);
	free(loose);
}

void loose_refs_forget(struct store *store)
{
	loose_refs_free(store->loose);
	store->loose = NULL;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct ref_item *)a)->id, ((const struct ref_item *)b)->id);
}

/*
 * What the file begins with; the length, or -1 with errno. There may be hundreds of them: fewer calls
 * than fs_read_file() makes. A FIFO does not block, and whatever else it is has no object name in it.
 */
static ssize_t read_ref(char *out, size_t size, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = fs_read_full(fd, out, size);
	close(fd);
	return len < 0 ? 0 : len;
}

static int read_all(struct ref_list *list, struct store *store, int fd)
{
	struct strlist ids = STRLIST_INIT;
	char text[OID_HEX + 1] = "";
	int err = 0;

	if (fs_names(&ids, fd, ".", 0, refs_valid_id) < 0)
		err = ckpt_error_errno("unable to read the refs of '%s'", store->path);
	for (size_t i = 0; i < ids.nr && !err; i++) {
		ssize_t len = read_ref(text, OID_HEX, fd, ids.items[i]);
		struct oid commit;

		if (len < 0 && fs_is_lack(errno))
			err = ckpt_error_errno("unable to read the refs of '%s'", store->path);
		/* Missing: it was just dropped. A damaged ref proves that there is one. */
		else if (len >= 0 || errno != ENOENT)
			refs_add(list, ids.items[i],
				 len == OID_HEX && oid_parse(&commit, text) ? &commit : NULL);
	}
	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare);
	strlist_release(&ids);
	return err;
}

int loose_refs_read(const struct ref_list **out, struct store *store)
{
	int fd = openat(store->dirfd, REFS_CHECKPOINTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct loose_refs *loose = store->loose;
	int64_t now = clock_file_ns();
	struct stat st = { 0 };

	if (fd < 0 ? errno != ENOENT : fstat(fd, &st) < 0)
		err = ckpt_error_errno("unable to read the refs of '%s'", store->path);
	if (err || !loose || !loose->settled || !fs_same_file(&loose->st, &st)) {
		loose_refs_forget(store);
		loose = store->loose = xcalloc(1, sizeof(*loose));
		loose->st = st;
		loose->settled = fd >= 0 && fs_is_settled(&st, now);
		if (!err && fd >= 0)
			err = read_all(&loose->list, store, fd);
	}
	fs_close(fd);
	if (err)
		loose_refs_forget(store);
	else
		*out = &loose->list;
	return err;
}
