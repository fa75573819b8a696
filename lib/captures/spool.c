/* SPDX-License-Identifier: MIT */
#include "captures/spool_internal.h"

#include "session/session.h"
#include "store/store.h"

void spool_release(struct spool *spool)
{
	if (spool->fd >= 0) {
		close(spool->fd);
		unlinkat(spool->session->store->dirfd, spool->path.buf, 0);
	}
	strbuf_release(&spool->path);
	*spool = (struct spool)SPOOL_INIT;
}

int spool_open(struct spool *spool, struct session *session)
{
	*spool = (struct spool)SPOOL_INIT;
	spool->session = session;
	return fs_temp_open(&spool->fd, &spool->path, session->store->dirfd, "checkpoint", 0600);
}

int spool_add(struct spool *spool, const void *data, size_t len)
{
	uint64_t budget = spool->session->settings.max_size;
	char shown[UNITS_SIZE];

	if (budget && spool->size + len > budget)
		return ckpt_error_set(CKPT_ERROR, "the data to be stored is larger than maxSize (%s); "
						  "raise it",
				      units_format_size(shown, budget));
	if (fs_write_all(spool->fd, data, len) < 0)
		return ckpt_error_errno("unable to write to the store");
	spool->size += len;
	return 0;
}

int spool_add_fd(struct spool *spool, int fd, const char *name)
{
	char *chunk = xmalloc(FS_CHUNK);
	int err = 0;

	while (!err) {
		ssize_t n = read(fd, chunk, FS_CHUNK);

		err = cancel_check();
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = ckpt_error_errno("unable to read '%s'", name);
		if (n <= 0 || err)
			break;
		err = spool_add(spool, chunk, (size_t)n);
	}
	free(chunk);
	return err;
}

/* For pack_add_stream(): from the current position of the descriptor. */
static int read_on(void *buf, size_t size, void *payload)
{
	struct spool *spool = payload;
	ssize_t n = fs_read_full(spool->fd, buf, size);

	if (n < 0)
		return ckpt_error_errno("unable to read back temporary data from the store");
	return cancel_check() ? CKPT_ECANCELLED : (int)n;
}

static int rewind_spool(struct spool *spool)
{
	return lseek(spool->fd, 0, SEEK_SET) < 0 ?
		       ckpt_error_errno("unable to read back temporary data from the store") :
		       0;
}

int spool_close(struct spool *spool)
{
	struct digest *sha1 = hash_new(HASH_SHA1);
	char *chunk = xmalloc(FS_CHUNK), header[64];
	uint64_t left = spool->size;
	int err = rewind_spool(spool), n = 1;

	hash_update(sha1, header, hash_object_header(header, "blob", spool->size));
	while (!err && n > 0) {
		n = read_on(chunk, FS_CHUNK, spool);
		if (n < 0)
			err = n;
		if (n > 0) {
			hash_update(sha1, chunk, (size_t)n);
			left -= (uint64_t)n;
		}
	}
	if (!err && left)
		err = ckpt_error_set(CKPT_ERROR, "temporary data in the store is incomplete");
	hash_end(sha1, spool->oid.id);
	hash_free(sha1);
	free(chunk);
	return err;
}

bool spool_is_new(const struct spool *spool)
{
	return !spool->packed && !objects_exist(spool->session->store, &spool->oid);
}

int spool_pack(struct spool *spool, struct pack *pack)
{
	struct store *store = spool->session->store;
	struct pack_source source = { .size = spool->size, .read = read_on, .payload = spool };
	struct oid oid;
	int err;

	/*
	 * Already there: reading it is faster than compressing it in vain. A damaged copy does not
	 * count.
	 */
	if (spool->packed || (objects_exist(store, &spool->oid) &&
			      !objects_check(store, &spool->oid)))
		return 0;
	err = rewind_spool(spool);
	if (!err)
		err = pack_add_stream(pack, &oid, &source);
	if (err)
		return err;
	if (!oid_equal(&oid, &spool->oid))
		return ckpt_error_set(CKPT_ERROR, "temporary data in the store has changed");
	spool->packed = true;
	return 0;
}
