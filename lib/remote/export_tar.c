/* SPDX-License-Identifier: MIT */
#include "remote/export_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

/* Where the fields of a ustar header begin, and how long they are. */
enum {
	NAME = 0, NAME_LEN = 100,
	MODE = 100, UID = 108, GID = 116, ID_LEN = 8,
	SIZE = 124, MTIME = 136, NUMBER_LEN = 12,
	CHECKSUM = 148, CHECKSUM_LEN = 8,
	TYPE = 156,
	TARGET = 157, TARGET_LEN = 100,
	MAGIC = 257,
	USER = 265, GROUP = 297,
	MAJOR = 329, MINOR = 337,
	PREFIX = 345, PREFIX_LEN = 155,
};

#define NUMBER_MAX 077777777777ull /* eleven octal digits */

/* --- headers --- */

static void put_octal(char *block, size_t at, size_t len, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*" PRIo64, (int)len - 1, value);
	memcpy(block + at, text, len);
}

/* The sum of all bytes, with blanks in its own place. */
static void put_checksum(char *block)
{
	unsigned sum = 0;
	char text[32];

	memset(block + CHECKSUM, ' ', CHECKSUM_LEN);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)block[i];
	snprintf(text, sizeof(text), "%06o", sum);
	memcpy(block + CHECKSUM, text, 7);
}

/* Split at a slash so that both parts fit; false if that is not possible. */
static bool put_name(char *block, const char *name, size_t len)
{
	size_t least = len > NAME_LEN + 1 ? len - NAME_LEN - 1 : 1;

	if (len <= NAME_LEN) {
		memcpy(block + NAME, name, len);
		return true;
	}
	for (size_t at = least; at <= PREFIX_LEN && at + 1 < len; at++)
		if (name[at] == '/') {
			memcpy(block + PREFIX, name, at);
			memcpy(block + NAME, name + at + 1, len - at - 1);
			return true;
		}
	return false;
}

static void begin_block(char *block, char type, unsigned mode, uint64_t size, int64_t mtime)
{
	memset(block, 0, TAR_BLOCK);
	put_octal(block, MODE, ID_LEN, mode);
	put_octal(block, UID, ID_LEN, 0);
	put_octal(block, GID, ID_LEN, 0);
	put_octal(block, SIZE, NUMBER_LEN, size > NUMBER_MAX ? 0 : size);
	put_octal(block, MTIME, NUMBER_LEN, mtime > 0 ? (uint64_t)mtime : 0);
	block[TYPE] = type;
	memcpy(block + MAGIC, "ustar\00000", 8);
	memcpy(block + USER, "root", 4);
	memcpy(block + GROUP, "root", 4);
	put_octal(block, MAJOR, ID_LEN, 0);
	put_octal(block, MINOR, ID_LEN, 0);
}

static void pad(struct strbuf *out, uint64_t len)
{
	static const char zeros[TAR_BLOCK];

	if (len % TAR_BLOCK)
		strbuf_add(out, zeros, TAR_BLOCK - len % TAR_BLOCK);
}

/* "<length> <key>=<value>\n", where the length counts itself. */
static void add_record(struct strbuf *out, const char *key, const char *value, size_t len)
{
	size_t rest = 1 + strlen(key) + 1 + len + 1, digits = 1, total;

	for (;;) {
		char text[32];

		total = rest + digits;
		if ((size_t)snprintf(text, sizeof(text), "%zu", total) == digits)
			break;
		digits++;
	}
	strbuf_addf(out, "%zu %s=", total, key);
	strbuf_add(out, value, len);
	strbuf_addch(out, '\n');
}

static void add_pax(struct strbuf *out, const struct strbuf *records, int64_t mtime)
{
	char block[TAR_BLOCK];

	begin_block(block, 'x', 0644, records->len, mtime);
	(void)put_name(block, "pax_header", strlen("pax_header"));
	put_checksum(block);
	strbuf_add(out, block, sizeof(block));
	strbuf_add(out, records->buf, records->len);
	pad(out, records->len);
}

void export_tar_header(struct strbuf *out, const struct tar_entry *entry)
{
	struct strbuf name = STRBUF_INIT, records = STRBUF_INIT;
	uint64_t size = entry->type == '0' ? entry->size : 0;
	char block[TAR_BLOCK], text[32];

	begin_block(block, entry->type, entry->mode & 07777, size, entry->mtime);
	strbuf_add(&name, entry->path, entry->path_len);
	if (entry->type == '5')
		strbuf_addch(&name, '/');
	if (!put_name(block, name.buf, name.len)) {
		add_record(&records, "path", name.buf, name.len);
		memcpy(block + NAME, name.buf, NAME_LEN);
	}
	if (entry->type == '2' && entry->target_len > TARGET_LEN)
		add_record(&records, "linkpath", entry->target, entry->target_len);
	if (entry->type == '2')
		memcpy(block + TARGET, entry->target,
		       entry->target_len < TARGET_LEN ? entry->target_len : TARGET_LEN);
	if (size > NUMBER_MAX) {
		snprintf(text, sizeof(text), "%" PRIu64, size);
		add_record(&records, "size", text, strlen(text));
	}
	put_checksum(block);
	if (records.len)
		add_pax(out, &records, entry->mtime);
	strbuf_add(out, block, sizeof(block));
	strbuf_release(&name);
	strbuf_release(&records);
}

/* --- contents --- */

struct tar {
	struct store *store;
	struct snapshot *snapshot;
	int64_t mtime;
	int fd;
	struct strbuf path, head;
};

static int put(struct tar *tar, const void *data, size_t len)
{
	return fs_write_all(tar->fd, data, len) < 0 ? ckpt_error_errno("unable to write the tar") : 0;
}

static int put_piece(const void *data, size_t len, void *payload)
{
	int err = cancel_check();

	return err ? err : put(payload, data, len);
}

static int add_file(struct tar *tar, struct tar_entry *head, const struct oid *oid)
{
	int err = objects_size(&head->size, tar->store, oid);

	if (err)
		return err;
	export_tar_header(&tar->head, head);
	err = put(tar, tar->head.buf, tar->head.len);
	if (!err)
		err = objects_stream(tar->store, oid, put_piece, tar);
	strbuf_reset(&tar->head);
	pad(&tar->head, head->size);
	return err ? err : put(tar, tar->head.buf, tar->head.len);
}

static int add_link(struct tar *tar, struct tar_entry *head, const struct oid *oid)
{
	struct strbuf target = STRBUF_INIT;
	int err = objects_read(&target, tar->store, oid, OBJECT_BLOB);

	head->target = target.buf;
	head->target_len = target.len;
	if (!err) {
		export_tar_header(&tar->head, head);
		err = put(tar, tar->head.buf, tar->head.len);
	}
	strbuf_release(&target);
	return err;
}

static int add_dir(struct tar *tar, struct wt_dir *dir);

static int add_entry(struct tar *tar, const struct wt_entry *entry)
{
	static const char types[] = { [WT_FILE] = '0', [WT_LINK] = '2', [WT_DIR] = '5' };
	struct tar_entry head = { .path = tar->path.buf,
				  .path_len = tar->path.len,
				  .type = types[entry->kind],
				  .mode = entry->kind == WT_LINK ? 0777 : entry->mode,
				  .mtime = tar->mtime };
	int err;

	strbuf_reset(&tar->head);
	switch (entry->kind) {
	case WT_FILE:
		return add_file(tar, &head, &entry->oid);
	case WT_LINK:
		return add_link(tar, &head, &entry->oid);
	default:
		export_tar_header(&tar->head, &head);
		err = put(tar, tar->head.buf, tar->head.len);
		return err ? err : add_dir(tar, entry->dir);
	}
}

static int add_dir(struct tar *tar, struct wt_dir *dir)
{
	size_t len = tar->path.len;
	int err = snapshot_expand(tar->snapshot, dir);

	for (size_t i = 0; i < dir->nr && !err; i++) {
		if (len)
			strbuf_addch(&tar->path, '/');
		strbuf_add(&tar->path, wt_entries(dir)[i].name, wt_entries(dir)[i].name_len);
		err = add_entry(tar, &wt_entries(dir)[i]);
		strbuf_setlen(&tar->path, len);
	}
	return err;
}

int export_tar(struct session *session, const struct ckpt_record *record, int fd)
{
	static const char end[2 * TAR_BLOCK];
	struct tar tar = { .store = session->store, .mtime = record->created_at, .fd = fd,
			   .path = STRBUF_INIT, .head = STRBUF_INIT };
	int err = objects_open(session->store);

	if (!err)
		err = snapshot_open(&tar.snapshot, session->store, record);
	if (!err)
		err = add_dir(&tar, tar.snapshot->root);
	if (!err)
		err = put(&tar, end, sizeof(end));
	else
		err = record_damaged(err, session->store, record->id);
	snapshot_free(tar.snapshot);
	strbuf_release(&tar.path);
	strbuf_release(&tar.head);
	return err;
}
