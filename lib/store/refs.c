/* SPDX-License-Identifier: MIT */
#include "store/refs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/strbuf.h"
#include "store/store.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "refs/checkpoints/"

bool refs_valid_id(const char *id)
{
	static const char form[] = "chk_dddddddd_dddddd_xxxxxx";

	for (size_t i = 0; i < sizeof(form); i++) {
		unsigned char c = (unsigned char)id[i];
		bool ok = form[i] == 'd' ? isdigit(c) :
			  form[i] == 'x' ? isdigit(c) || (c >= 'a' && c <= 'f') :
					   c == (unsigned char)form[i];

		if (!ok)
			return false;
	}
	return true;
}

static void add(struct ref_list *list, const char *id, const char *hex, size_t hex_len)
{
	struct ref_item *item;

	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	item = &list->items[list->nr++];
	memset(item, 0, sizeof(*item));
	strcpy(item->id, id);
	if (hex_len < OID_HEX || !oid_parse(&item->commit, hex))
		memset(&item->commit, 0, sizeof(item->commit));
}

static int add_loose(struct ref_list *list, struct store *store)
{
	int fd = openat(store->dirfd, PREFIX, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct strbuf text = STRBUF_INIT;
	struct dirent *ent;

	if (!dir) {
		int err = errno == ENOENT ? 0 : ckpt_error_errno("unable to read the refs of '%s'", store->path);

		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((ent = readdir(dir))) {
		if (!refs_valid_id(ent->d_name))
			continue;
		strbuf_reset(&text);
		if (fs_read_file(&text, fd, ent->d_name) == CKPT_ENOTFOUND)
			continue; /* dropped just now */
		add(list, ent->d_name, text.buf, text.len);
	}
	closedir(dir);
	strbuf_release(&text);
	return 0;
}

static bool has(const struct ref_list *list, size_t nr, const char *id)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(list->items[i].id, id))
			return true;
	return false;
}

/* "<hex> <name>" a line; a loose ref of the same name wins. */
static void add_packed(struct ref_list *list, struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	size_t loose = list->nr;
	char *line, *rest = NULL;

	if (fs_read_file(&text, store->dirfd, "packed-refs")) {
		strbuf_release(&text);
		return;
	}
	for (line = strtok_r(text.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *name = strchr(line, ' ');

		if (*line == '#' || *line == '^' || !name || strncmp(name + 1, PREFIX, strlen(PREFIX)))
			continue;
		name += 1 + strlen(PREFIX);
		if (refs_valid_id(name) && !has(list, loose, name))
			add(list, name, line, strcspn(line, " "));
	}
	strbuf_release(&text);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct ref_item *)a)->id, ((const struct ref_item *)b)->id);
}

int refs_list(struct ref_list *out, struct store *store)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = add_loose(out, store);
	if (err) {
		ref_list_release(out);
		return err;
	}
	add_packed(out, store);
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), compare);
	return 0;
}

void ref_list_release(struct ref_list *list)
{
	free(list->items);
	memset(list, 0, sizeof(*list));
}

/* Made elsewhere and moved: whatever lies below refs/, git takes for a ref. */
static int write_ref(struct store *store, const char *dir, const char *name,
		     const struct oid *commit, enum fs_durability durability)
{
	struct strbuf temp = STRBUF_INIT;
	char *path = xstrfmt("%s/%s", dir, name);
	char text[OID_HEX + 2];
	int fd = -1, err = fs_temp_open(&fd, &temp, store->dirfd, "checkpoint", 0600);

	if (err)
		goto out;
	oid_hex(text, commit);
	text[OID_HEX] = '\n';
	if (fs_write_all(fd, text, OID_HEX + 1) < 0 || (durability == FS_DURABLE && fsync(fd) < 0))
		err = ckpt_error_errno("unable to write '%s'", path);
	if (close(fd) < 0 && !err)
		err = ckpt_error_errno("unable to close '%s'", path);
	if (!err)
		err = fs_rename(store->dirfd, temp.buf, path, dir, durability);
	if (err)
		unlinkat(store->dirfd, temp.buf, 0);
out:
	strbuf_release(&temp);
	free(path);
	return err;
}

int refs_create(struct store *store, const char *id, const struct oid *commit)
{
	int err = write_ref(store, "refs/checkpoints", id, commit, FS_DURABLE);

	/* In place but perhaps not for good: then it must not look like a checkpoint. */
	if (err) {
		char *name = xstrfmt(PREFIX "%s", id);

		unlinkat(store->dirfd, name, 0);
		free(name);
	}
	return err;
}

void refs_set_latest(struct store *store, const struct oid *commit)
{
	(void)write_ref(store, "refs/heads", "latest", commit, FS_FAST);
}
