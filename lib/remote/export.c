/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "look/look.h"
#include "remote/flat_internal.h"
#include "session/session.h"

void export_result_release(struct export_result *result)
{
	free(result->against);
	strlist_release(&result->warnings);
	memset(result, 0, sizeof(*result));
}

/* --- a bundle --- */

static int write_bundle(struct session *session, const struct ckpt_record *record, int fd)
{
	const char **args = xcalloc(record->names.nr + 7, sizeof(*args));
	struct strlist refs = STRLIST_INIT;
	const struct gitrun how = { .gitdir = session->store->path, .output = fd };
	struct strbuf said = STRBUF_INIT;
	struct oid commit;
	int err;

	strlist_addf(&refs, "refs/checkpoints/%s", record->id);
	for (size_t i = 0; i < record->names.nr; i++)
		strlist_addf(&refs, "refs/keep/name/%s", record->names.items[i]);
	if (keepers_find(&commit, session->store, KEEPER_PIN, record->id))
		strlist_addf(&refs, "refs/keep/pin/%s", record->id);
	memcpy(args, (const char *[]){ "bundle", "create", "-q", "-" }, 4 * sizeof(*args));
	memcpy(args + 4, refs.items, refs.nr * sizeof(*args));
	err = gitrun_told(&said, &how, args);
	strbuf_release(&said);
	strlist_release(&refs);
	free(args);
	return err;
}

/* Who deletes the original next must not find out later that the copy is damaged. */
static int check_sound(struct session *session, const struct ckpt_record *record)
{
	struct verify_result result;
	int err = verify_record(&result, session, record, NULL);

	if (!err && result.problems.nr)
		err = ckpt_error_set(CKPT_ECORRUPT, "nothing was exported: %s",
				     result.problems.items[0]);
	strlist_release(&result.problems);
	return err;
}

/* --- a patch --- */

/*
 * The patch is made by stock git, in a repository of its own that has the objects of both sides:
 * so it is what `git apply` expects, to the byte, and nothing that the project configures, filters
 * and attributes included, has a say.
 */
struct patching {
	struct session *session;
	struct scratch scratch;
	struct flat flat;
	struct repo repo; /* the scratch one, as far as gitwrite.h needs it */
	char *index;
};

/* A SHA-256 project cannot share objects with the store: what differs is made again. */
static int open_repository(struct patching *patching)
{
	struct session *session = patching->session;
	bool sha256 = patching->flat.sha256;
	struct gitwrite how = { .repo = &patching->repo, .message = "" };
	char *own = xstrfmt("%s/objects", session->store->path), *theirs = NULL;
	int err = scratch_open(&patching->scratch, session->store, sha256);

	if (!err && !sha256)
		err = scratch_borrow(&patching->scratch, own);
	if (!err && session->repo) {
		theirs = xstrfmt("%s/objects", session->repo->commondir);
		err = askgit_check(session->repo->gitdir);
	}
	if (!err && theirs)
		err = scratch_borrow(&patching->scratch, theirs);
	patching->repo = (struct repo){ .gitdir = patching->scratch.path,
					.commondir = patching->scratch.path,
					.sha256 = sha256 };
	if (!err && sha256)
		err = flat_write_blobs(&patching->flat, &how);
	free(own);
	free(theirs);
	return err;
}

static int build_index(struct patching *patching)
{
	struct gitrun how = { .gitdir = patching->scratch.path };

	how.index = patching->index = xstrfmt("%s/index", patching->scratch.path);
	return flat_fill_index(&patching->flat, &how);
}

static int write_differences(struct patching *patching, int fd)
{
	static const char sha1_empty[] = "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
			  sha256_empty[] = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74"
					   "decc5321";
	const char *empty = patching->flat.sha256 ? sha256_empty : sha1_empty;
	const char *const args[] = { "diff-index", "--cached",	     "-p",
				     "--binary",   "--full-index",   "--no-renames",
				     "--no-color", "--no-ext-diff", "--no-textconv",
				     patching->flat.head ? patching->flat.head : empty, NULL };

	const struct gitrun how = { .gitdir = patching->scratch.path,
				    .index = patching->index,
				    .output = fd };
	struct strbuf said = STRBUF_INIT;
	int err = gitrun_told(&said, &how, args);

	strbuf_release(&said);
	return err;
}

static int write_patch(struct export_result *out, struct session *session,
		       const struct ckpt_record *record, int fd)
{
	struct patching patching = { .session = session, .scratch = SCRATCH_INIT };
	int err = flat_read(&patching.flat, session, record, 0);

	if (!err)
		err = open_repository(&patching);
	if (!err)
		err = build_index(&patching);
	if (!err)
		err = write_differences(&patching, fd);
	for (size_t i = 0; i < patching.flat.unfit.nr && !err; i++)
		strlist_addf(&out->warnings, "'%s' was left out: git does not take this name",
			     patching.flat.unfit.items[i]);
	if (!err && patching.flat.head)
		out->against = xstrdup(patching.flat.head);
	scratch_close(&patching.scratch);
	flat_release(&patching.flat);
	free(patching.index);
	return err;
}

/* --- a tar --- */

struct tar_entry {
	const char *path; /* without a slash at the end */
	size_t path_len;
	char type; /* '0' file, '2' link, '5' directory */
	unsigned mode;
	uint64_t size;	    /* of a file */
	const char *target; /* of a link */
	size_t target_len;
	int64_t mtime;
};

enum { TAR_BLOCK = 512 };

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
};

#define NUMBER_MAX 077777777777ull /* eleven octal digits */

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

static void pad_block(struct strbuf *out, uint64_t len)
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
	memcpy(block + NAME, "pax_header", strlen("pax_header"));
	put_checksum(block);
	strbuf_add(out, block, sizeof(block));
	strbuf_add(out, records->buf, records->len);
	pad_block(out, records->len);
}

/* Whole blocks: in ustar format, after a pax header for what does not fit into it. */
static void add_header(struct strbuf *out, const struct tar_entry *entry)
{
	struct strbuf name = STRBUF_INIT, records = STRBUF_INIT;
	uint64_t size = entry->type == '0' ? entry->size : 0;
	char block[TAR_BLOCK], text[32];

	begin_block(block, entry->type, entry->mode & 07777, size, entry->mtime);
	strbuf_add(&name, entry->path, entry->path_len);
	if (entry->type == '5')
		strbuf_addch(&name, '/');
	if (name.len > NAME_LEN)
		add_record(&records, "path", name.buf, name.len);
	memcpy(block + NAME, name.buf, name.len < NAME_LEN ? name.len : NAME_LEN);
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

struct tar {
	struct store *store;
	struct snapshot *snapshot;
	int64_t mtime;
	int fd;
	struct strbuf path, head;
};

static int put_bytes(struct tar *tar, const void *data, size_t len)
{
	return fs_write_all(tar->fd, data, len) < 0 ? ckpt_error_errno("unable to write the tar") : 0;
}

static int put_piece(const void *data, size_t len, void *payload)
{
	int err = cancel_check();

	return err ? err : put_bytes(payload, data, len);
}

static int add_file(struct tar *tar, struct tar_entry *head, const struct oid *oid)
{
	int err = objects_size(&head->size, tar->store, oid);

	if (err)
		return err;
	add_header(&tar->head, head);
	err = put_bytes(tar, tar->head.buf, tar->head.len);
	if (!err)
		err = objects_stream(tar->store, oid, put_piece, tar);
	strbuf_reset(&tar->head);
	pad_block(&tar->head, head->size);
	return err ? err : put_bytes(tar, tar->head.buf, tar->head.len);
}

static int add_link(struct tar *tar, struct tar_entry *head, const struct oid *oid)
{
	struct strbuf target = STRBUF_INIT;
	int err = objects_read(&target, tar->store, oid, OBJECT_BLOB);

	head->target = target.buf;
	head->target_len = target.len;
	if (!err) {
		add_header(&tar->head, head);
		err = put_bytes(tar, tar->head.buf, tar->head.len);
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
		add_header(&tar->head, &head);
		err = put_bytes(tar, tar->head.buf, tar->head.len);
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

static int write_tar(struct session *session, const struct ckpt_record *record, int fd)
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
		err = put_bytes(&tar, end, sizeof(end));
	else
		err = record_damaged(err, session->store, record->id);
	snapshot_free(tar.snapshot);
	strbuf_release(&tar.path);
	strbuf_release(&tar.head);
	return err;
}

/* --- where to --- */

static int export_to(struct export_result *out, struct session *session,
		     const struct ckpt_record *record, enum export_format format, int fd)
{
	switch (format) {
	case EXPORT_PATCH:
		return write_patch(out, session, record, fd);
	case EXPORT_TAR:
		return write_tar(session, record, fd);
	default:
		return write_bundle(session, record, fd);
	}
}

/* A device, a FIFO or a link is written to; replacing it would be another thing. */
static bool is_replaceable(const char *file)
{
	struct stat st;

	return lstat(file, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

struct target {
	const char *file; /* NULL: stdout */
	struct strbuf dir, temp;
	int fd;
};

static int open_target(struct target *target)
{
	const char *slash = target->file ? strrchr(target->file, '/') : NULL;
	int err;

	if (!target->file) {
		target->fd = STDOUT_FILENO;
		return 0;
	}
	if (!is_replaceable(target->file)) {
		target->fd = open(target->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				  fs_usual_mode(0666));
		return target->fd < 0 ? ckpt_error_errno("unable to open '%s'", target->file) : 0;
	}
	strbuf_addstr(&target->dir, slash ? "" : ".");
	if (slash)
		strbuf_add(&target->dir, target->file,
			   slash == target->file ? 1 : (size_t)(slash - target->file));
	err = fs_temp_open(&target->fd, &target->temp, AT_FDCWD, target->dir.buf,
			   fs_usual_mode(0666));
	return err ? ckpt_error_set(CKPT_ERROR, "unable to write '%s': %s", target->file,
				    ckpt_error_last())
		   : 0;
}

static int close_target(struct target *target, uint64_t *bytes, int err)
{
	struct stat st;

	if (!err && !fstat(target->fd, &st) && S_ISREG(st.st_mode)) {
		*bytes = (uint64_t)st.st_size;
		if (target->file && fsync(target->fd) < 0)
			err = ckpt_error_errno("unable to write '%s'", target->file);
	}
	if (target->temp.len) {
		if (!err)
			err = fs_rename(AT_FDCWD, target->temp.buf, target->file, target->dir.buf,
					FS_DURABLE);
		if (err)
			unlink(target->temp.buf);
	}
	if (target->file && target->fd >= 0 && close(target->fd) < 0 && !err)
		err = ckpt_error_errno("unable to close '%s'", target->file);
	strbuf_release(&target->dir);
	strbuf_release(&target->temp);
	return err;
}

int export_checkpoint(struct export_result *out, struct session *session,
		      const struct ckpt_record *record, enum export_format format,
		      const char *file)
{
	struct target target = { .file = file, .dir = STRBUF_INIT, .temp = STRBUF_INIT, .fd = -1 };
	int err = format == EXPORT_BUNDLE ? check_sound(session, record) : 0;

	memset(out, 0, sizeof(*out));
	if (!err && format == EXPORT_TAR && record->state_only)
		err = ckpt_error_set(CKPT_ERROR, "checkpoint '%s' has no files", record->id);
	if (!err && format != EXPORT_BUNDLE && record->missing)
		strlist_addf(&out->warnings,
			     "%" PRIu64 " %s could not be captured; see 'git checkpoint show %s'",
			     record->missing, record->missing == 1 ? "path" : "paths", record->id);
	if (!err)
		err = open_target(&target);
	if (!err)
		err = export_to(out, session, record, format, target.fd);
	return close_target(&target, &out->bytes, err);
}
