/* SPDX-License-Identifier: MIT */
#include "save/save_lines_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "save/save.h"
#include "store/store.h"
#include "tree/tree.h"

/*
 * Both sides are read again, so what is counted must be small; most saves are. More than this is
 * not a number that tells anything either.
 */
enum { MOST_FILES = 100, MOST_BYTES = 1 << 20 };

static bool is_file(unsigned mode)
{
	return S_ISREG(mode);
}

/* What is still allowed; false if this would be too much. */
static bool take_share(uint64_t *left, uint64_t bytes)
{
	if (bytes > *left)
		return false;
	*left -= bytes;
	return true;
}

static bool read_old(struct strbuf *out, uint64_t *left, struct store *store, const struct oid *oid)
{
	uint64_t size;

	return !objects_size(&size, store, oid) && take_share(left, size) &&
	       !objects_read(out, store, oid, OBJECT_BLOB);
}

/* Only if the file still has the contents that are saved. */
static bool read_new(struct strbuf *out, uint64_t *left, int rootfd, const struct change *change)
{
	int fd = beneath_open(rootfd, change->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	struct digest *sha1;
	struct stat st;
	struct oid oid;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && take_share(left, (uint64_t)st.st_size)) {
		strbuf_grow(out, (size_t)st.st_size);
		n = fs_read_full(fd, out->buf, (size_t)st.st_size);
	}
	close(fd);
	if (n < 0)
		return false;
	strbuf_setlen(out, (size_t)n);
	sha1 = hash_new(HASH_SHA1);
	hash_object(sha1, &oid, "blob", out->buf, out->len);
	hash_free(sha1);
	return oid_equal(&oid, &change->new_oid);
}

/* The target of a symbolic link is a line, as git counts it. */
static bool add_change(struct linediff *out, uint64_t *left, const struct save_job *save,
		       const struct change *change)
{
	struct strbuf old = STRBUF_INIT, new = STRBUF_INIT;
	bool known = true;

	if (change->is_dir || oid_equal(&change->old_oid, &change->new_oid))
		return true;
	if (is_file(change->old_mode))
		known = read_old(&old, left, save->store, &change->old_oid);
	else if (S_ISLNK(change->old_mode))
		out->removed++;
	if (known && is_file(change->new_mode))
		known = read_new(&new, left, save->current.scan->rootfd, change);
	else if (S_ISLNK(change->new_mode))
		out->added++;
	known = known && linediff_add(out, old.buf, old.len, new.buf, new.len);
	strbuf_release(&old);
	strbuf_release(&new);
	return known;
}

void save_count_lines(struct ckpt_record *record, const struct save_job *save,
		      const struct compare_list *changes)
{
	struct linediff lines = { 0, 0 };
	uint64_t left = MOST_BYTES;

	/* Nobody looks at what a restore is about to overwrite as closely as at its speed. */
	if (save->opts->safety_for || changes->nr > MOST_FILES)
		return;
	for (size_t i = 0; i < changes->nr; i++)
		if (!add_change(&lines, &left, save, &changes->items[i]))
			return;
	record->added = (int64_t)lines.added;
	record->deleted = (int64_t)lines.removed;
}
