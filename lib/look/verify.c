/* SPDX-License-Identifier: MIT */
#include "look/verify.h"

#include "base/base.h"
#include "captures/captures.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

void verify_begin(struct verify *verify, struct session *session, progress_fn progress)
{
	*verify = (struct verify){ .session = session, .progress = progress };
}

void verify_end(struct verify *verify)
{
	contents_known_release(&verify->files);
	contents_known_release(&verify->dirs);
	oidset_release(&verify->others);
}

static int verify_tree(struct verify_result *out, struct verify *verify,
		       const struct ckpt_record *record)
{
	struct contents_opts opts = {
		.threads = verify->session->threads,
		.known = &verify->files,
		.dirs = &verify->dirs,
		.progress = verify->progress,
	};
	struct snapshot *snapshot = NULL;
	char hash[STATEHASH_SIZE];
	int err = snapshot_open(&snapshot, verify->session->store, record);

	if (!err)
		err = contents_hash(snapshot, &opts);
	if (!err && strcmp(statehash(hash, snapshot->root), record->state_hash))
		strlist_addf(&out->problems, "its contents have the state hash %s, but %s is "
					     "recorded", hash,
			     record->state_hash);
	if (!err)
		contents_remember_dirs(&verify->dirs, snapshot);
	snapshot_free(snapshot);
	return err;
}

/* What hangs off the commit; small values are read with the metadata. */
static int verify_extras(struct verify *verify, const struct ckpt_record *record)
{
	struct session *session = verify->session;
	struct ckpt_meta meta;
	int err = meta_read(&meta, session->store, record, false);

	if (err)
		return err;
	for (size_t i = 0; i < meta.states_nr && !err; i++) {
		const struct oid *oid = &meta.states[i].oid;

		if (!meta.states[i].value && !oidset_has(&verify->others, oid))
			err = objects_check(session->store, oid);
		if (!err)
			oidset_add(&verify->others, oid);
		else if (err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "state key '%s'", meta.states[i].key);
	}
	if (!err)
		err = capture_check(session, &meta.captures, &verify->others);
	meta_release(&meta);
	return err;
}

static int verify_blob(struct verify *verify, const struct oid *oid)
{
	int err = oidset_has(&verify->others, oid) ? 0 : objects_check(verify->session->store, oid);

	if (!err)
		oidset_add(&verify->others, oid);
	return err;
}

/* The state of the repository, with the contents of what is staged. */
static int verify_git(struct verify_result *out, struct verify *verify,
		      const struct ckpt_record *record)
{
	char hash[STATEHASH_SIZE];
	struct gitrecord git;
	int err;

	if (!*record->git_hash)
		return 0;
	err = gitrecord_load(&git, verify->session->store, record);
	if (err == CKPT_ENOTFOUND)
		err = ckpt_error_set(CKPT_ECORRUPT, "the state of the repository is missing");
	if (!err && strcmp(gitrecord_hash(hash, &git.state), record->git_hash) != 0)
		strlist_addf(&out->problems,
			     "its state of the repository has the hash %s, but %s is recorded",
			     hash, record->git_hash);
	for (size_t i = 0; i < git.nr && !err; i++) {
		err = verify_blob(verify, &git.blobs[i].oid);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "staged contents '%.12s'", git.blobs[i].hex);
	}
	if (!err && !oid_is_zero(&git.autostash)) {
		err = verify_blob(verify, &git.autostash);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(err, "autostash");
	}
	gitrecord_release(&git);
	return err;
}

int verify_checkpoint(struct verify_result *out, struct verify *verify, const struct ref_item *ref)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err;

	memset(out, 0, sizeof(*out));
	snprintf(out->id, sizeof(out->id), "%s", ref->id);
	err = record_read_saved(&record, verify->session->store, ref);
	if (!err)
		err = verify_extras(verify, &record);
	if (!err)
		err = verify_git(out, verify, &record);
	if (!err)
		err = verify_tree(out, verify, &record);
	/* What could not be read for lack of memory or descriptors is not damaged. */
	if (err && err != CKPT_ECANCELLED && !ckpt_error_lack()) {
		strlist_add(&out->problems, ckpt_error_last());
		err = 0;
	}
	record_release(&record);
	return err;
}
