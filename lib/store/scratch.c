/* SPDX-License-Identifier: MIT */
#include "store/scratch.h"

#include "store/layout.h"
#include "store/shadow.h"

#include <sys/file.h>
#include <sys/random.h>
#include <zlib.h>

#define DIR "checkpoint/scratch"

/* Whoever makes or removes one; it is held for a moment only. */
static int lock_all(struct store *store)
{
	int fd = openat(store->dirfd, DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			break;
	return fd;
}

static bool is_abandoned(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	bool abandoned = fd < 0 ? errno == ENOENT || errno == ENOTDIR
				: !flock(fd, LOCK_EX | LOCK_NB);

	fs_close(fd);
	return abandoned;
}

/* The number of those of dead processes, which are removed if `remove`. */
static size_t sweep_dead(int dirfd, bool remove)
{
	struct strlist names = STRLIST_INIT;
	size_t nr = 0;

	(void)fs_names(&names, dirfd, ".", 0, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		if (!is_abandoned(dirfd, names.items[i]))
			continue;
		nr++;
		if (remove)
			(void)fs_remove_tree(dirfd, names.items[i]);
	}
	strlist_release(&names);
	return nr;
}

size_t scratch_count(struct store *store)
{
	int fd = lock_all(store);
	size_t nr = fd >= 0 ? sweep_dead(fd, false) : 0;

	fs_close(fd);
	return nr;
}

void scratch_sweep(struct store *store)
{
	int fd = lock_all(store);

	if (fd >= 0)
		(void)sweep_dead(fd, true);
	fs_close(fd);
}

static int make_dir(struct scratch *out, int dirfd)
{
	uint64_t random;
	char name[2 * sizeof(random) + 1];
	int err = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return ckpt_error_errno("unable to get random bytes");
	snprintf(name, sizeof(name), "%016" PRIx64, random);
	out->name = xstrfmt(DIR "/%s", name);
	out->path = xstrfmt("%s/%s", out->store->path, out->name);
	if (fs_mkdir(dirfd, name, 0700) < 0)
		err = ckpt_error_errno("unable to create '%s'", out->path);
	if (!err) {
		out->lock = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (out->lock < 0 || flock(out->lock, LOCK_EX | LOCK_NB) < 0)
			err = ckpt_error_errno("unable to lock '%s'", out->path);
	}
	return err;
}

static int fill_dir(const struct scratch *scratch, bool sha256)
{
	static const char sha1_config[] = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n",
			  sha256_config[] = "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n"
					    "[extensions]\n\tobjectFormat = sha256\n";
	const char *config = sha256 ? sha256_config : sha1_config;
	int fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), err = 0;

	if (fd < 0)
		return ckpt_error_errno("unable to open '%s'", scratch->path);
	for (size_t i = 0; layout_dirs[i] && !err; i++)
		if (fs_mkdir(fd, layout_dirs[i], 0700) < 0)
			err = ckpt_error_errno("unable to create '%s/%s'", scratch->path,
					       layout_dirs[i]);
	if (!err)
		err = fs_write_file(fd, "HEAD", layout_head, strlen(layout_head), 0600, FS_FAST);
	if (!err)
		err = fs_write_file(fd, "config", config, strlen(config), 0600, FS_FAST);
	close(fd);
	return err;
}

int scratch_open(struct scratch *out, struct store *store, bool sha256)
{
	int fd, err;

	*out = (struct scratch)SCRATCH_INIT;
	out->store = store;
	if (fs_mkdir(store->dirfd, DIR, 0700) < 0 && errno != EEXIST)
		return ckpt_error_errno("unable to create '%s/" DIR "'", store->path);
	fd = lock_all(store);
	if (fd < 0)
		return ckpt_error_errno("unable to open '%s/" DIR "'", store->path);
	(void)sweep_dead(fd, true);
	err = make_dir(out, fd);
	close(fd);
	if (!err)
		err = fill_dir(out, sha256);
	if (err) {
		char *kept = ckpt_error_keep();

		scratch_close(out);
		err = ckpt_error_put_back(err, kept);
	}
	return err;
}

int scratch_borrow(struct scratch *scratch, const char *objects)
{
	struct strbuf line = STRBUF_INIT;
	char *path = xstrfmt("%s/objects/info/alternates", scratch->name);
	int err;

	quote_c(&line, objects, strlen(objects));
	strbuf_addch(&line, '\n');
	err = fs_append_line(scratch->store->dirfd, path, line.buf, line.len, 0600);
	strbuf_release(&line);
	free(path);
	return err;
}

int scratch_add_commit(struct scratch *scratch, const struct oid *oid, const struct strbuf *text)
{
	struct strbuf loose = STRBUF_INIT;
	char header[64], hex[OID_HEX + 1], *path;
	uLongf len;
	Bytef *packed;
	int err;

	strbuf_add(&loose, header, hash_object_header(header, "commit", text->len));
	strbuf_add(&loose, text->buf, text->len);
	len = compressBound(loose.len);
	packed = xmalloc(len);
	if (compress(packed, &len, (const Bytef *)loose.buf, loose.len) != Z_OK)
		len = 0;
	path = xstrfmt("%s/objects/%.2s", scratch->name, oid_hex(hex, oid));
	if (fs_mkdir(scratch->store->dirfd, path, 0700) < 0 && errno != EEXIST) {
		err = ckpt_error_errno("unable to create '%s'", path);
	} else {
		free(path);
		path = xstrfmt("%s/objects/%.2s/%s", scratch->name, hex, hex + 2);
		err = fs_write_file(scratch->store->dirfd, path, packed, len, 0600, FS_FAST);
	}
	strbuf_release(&loose);
	free(packed);
	free(path);
	return err;
}

void scratch_close(struct scratch *scratch)
{
	if (scratch->name)
		(void)fs_remove_tree(scratch->store->dirfd, scratch->name);
	fs_close(scratch->lock);
	free(scratch->name);
	free(scratch->path);
	*scratch = (struct scratch)SCRATCH_INIT;
}
