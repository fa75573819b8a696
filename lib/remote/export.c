/* SPDX-License-Identifier: MIT */
#include "remote/export.h"

#include "base/base.h"
#include "git/git.h"
#include "look/look.h"
#include "record/record.h"
#include "remote/export_internal.h"
#include "session/session.h"
#include "store/store.h"

void export_result_release(struct export_result *result)
{
	free(result->against);
	strlist_release(&result->warnings);
	memset(result, 0, sizeof(*result));
}

/* --- a bundle --- */

static int write_bundle(struct session *session, const struct ckpt_record *record, int fd)
{
	char *ref = xstrfmt("refs/checkpoints/%s", record->id), *pin, *name;
	const char *args[8] = { "bundle", "create", "-q", "-", ref };
	const struct gitrun how = { .gitdir = session->store->path, .output = fd, .told = true };
	struct strbuf said = STRBUF_INIT;
	struct oid commit;
	size_t nr = 5;
	int err;

	pin = xstrfmt("refs/keep/pin/%s", record->id);
	name = xstrfmt("refs/keep/name/%s", record->name ? record->name : "");
	if (record->name)
		args[nr++] = name;
	if (keepers_find(&commit, session->store, KEEPER_PIN, record->id))
		args[nr++] = pin;
	err = gitrun(&said, &how, args);
	strbuf_trim(&said);
	if (err == CKPT_ERROR && said.len)
		err = ckpt_error_set(err, "%s: %s", ckpt_error_last(), said.buf);
	strbuf_release(&said);
	free(ref);
	free(pin);
	free(name);
	return err;
}

/* Who deletes the original next must not find out later that the copy is damaged. */
static int check_sound(struct session *session, const struct ckpt_record *record)
{
	struct ref_item ref = { .commit = record->commit };
	struct verify_result result = { 0 };
	struct verify verify;
	int err;

	memcpy(ref.id, record->id, sizeof(ref.id));
	verify_begin(&verify, session, NULL);
	err = verify_checkpoint(&result, &verify, &ref);
	verify_end(&verify);
	if (!err && result.problems.nr)
		err = ckpt_error_set(CKPT_ECORRUPT, "nothing was exported: %s",
				     result.problems.items[0]);
	strlist_release(&result.problems);
	return err;
}

/* --- where to --- */

static int export_to(struct export_result *out, struct session *session,
		     const struct ckpt_record *record, enum export_format format, int fd)
{
	switch (format) {
	case EXPORT_PATCH:
		return export_patch(out, session, record, fd);
	case EXPORT_TAR:
		return export_tar(session, record, fd);
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
