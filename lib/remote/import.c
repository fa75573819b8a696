/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "keep/keep.h"
#include "remote/incoming_internal.h"
#include "session/session.h"

void import_result_release(struct import_result *result)
{
	for (size_t i = 0; i < result->nr; i++)
		record_release(&result->items[i]);
	free(result->items);
	strlist_release(&result->known);
	strlist_release(&result->warnings);
	memset(result, 0, sizeof(*result));
}

struct import {
	struct import_result *out;
	struct session *session;
	char *file; /* absolute */
	uint64_t size;
	struct incoming_bundle bundle;
	struct ref_list wanted; /* what is not here yet */
	struct incoming incoming;
};

/* --- the head --- */

static int read_head(struct import *job, const char *file)
{
	char *data = xmalloc(INCOMING_BUNDLE_HEAD_MAX);
	struct stat st;
	ssize_t len;
	int fd = fs_open_regular(&st, AT_FDCWD, file, 0), err = 0;

	if (fd < 0) {
		free(data);
		return fs_open_failed(file);
	}
	len = fs_read_full(fd, data, INCOMING_BUNDLE_HEAD_MAX);
	if (len < 0)
		err = ckpt_error_errno("unable to read '%s'", file);
	else
		err = incoming_parse_bundle(&job->bundle, data, (size_t)len);
	job->size = (uint64_t)st.st_size;
	close(fd);
	free(data);
	if (!err && !job->bundle.refs.nr)
		err = ckpt_error_set(CKPT_ERROR, "there is no checkpoint in it");
	return err;
}

/* --- which are new? --- */

static int choose_new(struct import *job)
{
	struct ref_list here;
	int err = refs_list(&here, job->session->store);

	if (err)
		return err;
	refs_release(&job->wanted);
	strlist_release(&job->out->known);
	for (size_t i = 0; i < job->bundle.refs.nr && !err; i++) {
		const struct ref_item *ref = &job->bundle.refs.items[i];
		const struct ref_item *own = refs_find(&here, ref->id);

		if (!own)
			refs_add(&job->wanted, ref->id, &ref->commit);
		else if (oid_equal(&own->commit, &ref->commit))
			strlist_add(&job->out->known, ref->id);
		else
			err = ckpt_error_set(CKPT_ERROR,
					     "another checkpoint here has the id '%s'; nothing was "
					     "imported",
					     ref->id);
	}
	refs_release(&here);
	return err;
}

/* --- unpacking, apart from the store --- */

static int unpack_bundle(struct import *job)
{
	const char *const args[] = { "bundle", "unbundle", job->file, NULL };
	const struct gitrun how = { .gitdir = job->incoming.scratch.path, .told = true };
	struct strbuf said = STRBUF_INIT;
	int err = gitrun(&said, &how, args);

	strbuf_trim(&said);
	if (err == CKPT_ERROR)
		err = ckpt_error_set(err, "its contents are damaged: git says '%.*s'",
				     (int)strcspn(said.buf, "\n"), said.buf);
	strbuf_release(&said);
	return err;
}

static int check_all(struct import *job)
{
	int err = incoming_open(&job->incoming);

	for (size_t i = 0; i < job->wanted.nr && !err; i++) {
		err = incoming_check(&job->incoming, &job->wanted.items[i]);
		if (err == CKPT_ECORRUPT && !strstr(ckpt_error_last(), job->wanted.items[i].id))
			err = ckpt_error_prefix(err, "checkpoint '%s'", job->wanted.items[i].id);
	}
	return err;
}

/* --- into the store --- */

/* A name that is taken here stays where it is. */
static int give_name(struct import *job, const struct ref_item *ref)
{
	struct store *store = job->session->store;
	bool pin = pathset_has(&job->bundle.pinned, ref->id);
	struct oid taken;
	int err = 0;

	for (size_t i = 0; i < job->bundle.names_nr && !err; i++) {
		const struct incoming_name *name = &job->bundle.names[i];

		if (!oid_equal(&name->commit, &ref->commit))
			continue;
		if (!keepers_find(&taken, store, KEEPER_NAME, name->name)) {
			err = keepers_add(store, KEEPER_NAME, name->name, &ref->commit);
			continue;
		}
		strlist_addf(&job->out->warnings,
			     "'%s' was imported without its name '%s', which another one has here",
			     ref->id, name->name);
		pin = true;
	}
	return pin && !err ? keepers_add(store, KEEPER_PIN, ref->id, &ref->commit) : err;
}

/* Everything it needs is here: with its ref, it exists. Keepers come first; alone they mean nothing. */
static int list_one(struct import *job, const struct ref_item *ref)
{
	struct store *store = job->session->store;
	struct import_result *out = job->out;
	int err = keepers_add(store, KEEPER_IMPORT, ref->id, &ref->commit);

	if (!err)
		err = give_name(job, ref);
	if (!err)
		err = refs_create(store, ref->id, &ref->commit);
	if (err)
		return err;
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	err = record_read(&out->items[out->nr], store, ref);
	if (!err) {
		const struct ckpt_record *record = &out->items[out->nr++];

		(void)audit_add(store, "import", record->id, &record->commit, record->reason,
				record->state_hash);
	}
	return err;
}

static int make_room(struct import *job)
{
	struct retain_room room = { 0 };
	struct session *session = job->session;
	int err;

	if (!retain_lacks_room(session, job->size))
		return 0;
	err = retain_make_room(&room, session, NULL, job->size);
	return !err && room.limit && room.limit < job->size ? retain_too_large(session, room.damaged)
							    : err;
}

static int take_new(struct import *job)
{
	struct store *store = job->session->store;
	int err = store_lock(store, job->session->settings.lock_timeout);

	if (err)
		return err;
	err = choose_new(job);
	if (!err)
		err = make_room(job);
	if (!err)
		err = incoming_adopt(&job->incoming, &job->wanted);
	for (size_t i = 0; i < job->wanted.nr && !err; i++)
		err = list_one(job, &job->wanted.items[i]);
	if (!err)
		err = manifest_rebuild(store);
	if (!err)
		audit_sync(store);
	store_unlock(store);
	return err;
}

int import_bundle(struct import_result *out, struct session *session, const char *file)
{
	struct import job = { .out = out,
			      .session = session,
			      .file = *file == '/' ? xstrdup(file)
						   : xstrfmt("%s/%s", session->cwd, file),
			      .incoming = { .scratch = SCRATCH_INIT } };
	int err;

	memset(out, 0, sizeof(*out));
	scratch_sweep(session->store);
	err = read_head(&job, file);
	if (!err)
		err = choose_new(&job);
	if (!err && job.wanted.nr) {
		err = incoming_begin(&job.incoming, session);
		if (!err)
			err = unpack_bundle(&job);
		if (!err)
			err = incoming_count(&job.incoming);
		if (!err)
			err = check_all(&job);
		if (!err)
			err = take_new(&job);
		incoming_end(&job.incoming);
	}
	if (err == CKPT_ERROR || err == CKPT_ECORRUPT)
		err = ckpt_error_set(err, "unable to import '%s': %s", file, ckpt_error_last());
	incoming_bundle_release(&job.bundle);
	refs_release(&job.wanted);
	free(job.file);
	if (err)
		import_result_release(out);
	return err;
}
