/* SPDX-License-Identifier: MIT */
#include "save/extras.h"

#include "base/base.h"
#include "save/capture.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

static struct spool *add_spool(struct extras *extras)
{
	ALLOC_GROW(extras->spools, extras->nr + 1, extras->alloc);
	extras->spools[extras->nr] = (struct spool)SPOOL_INIT;
	return &extras->spools[extras->nr++];
}

void extras_release(struct save_job *job)
{
	for (size_t i = 0; i < job->extras.nr; i++)
		spool_release(&job->extras.spools[i]);
	free(job->extras.spools);
	memset(&job->extras, 0, sizeof(job->extras));
}

/* --- taking them --- */

static int take_file(struct save_job *job, const struct save_state_file *file)
{
	struct spool *spool = add_spool(&job->extras);
	int fd = open(file->path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return ckpt_error_errno("unable to open '%s' for the state key '%s'", file->path,
					file->key);
	err = spool_open(spool, job->session);
	if (!err)
		err = spool_add_fd(spool, fd, file->path);
	if (!err)
		err = spool_close(spool);
	close(fd);
	if (!err)
		meta_add_stored_state(&job->meta, file->key, &spool->oid, spool->size);
	else if (err != CKPT_ECANCELLED)
		err = ckpt_error_prefix(err, "state key '%s'", file->key);
	return err;
}

static int take_states(struct save_job *job)
{
	const struct save_opts *opts = job->opts;
	struct digest *sha1 = hash_new(HASH_SHA1);
	int err = 0;

	for (size_t i = 0; i < opts->states_nr; i++) {
		const struct ckpt_state *state = &opts->states[i];
		struct ckpt_state *added;

		meta_add_state(&job->meta, state->key, state->value, state->len);
		added = &job->meta.states[job->meta.states_nr - 1];
		hash_object(sha1, &added->oid, "blob", state->value, state->len);
		added->size = state->len;
	}
	for (size_t i = 0; i < opts->state_files_nr && !err; i++)
		err = take_file(job, &opts->state_files[i]);
	hash_free(sha1);
	return err;
}

static bool is_wanted(const struct save_opts *opts, const struct capture_def *def)
{
	if (def->automatic && !opts->no_auto_captures && !opts->state_only)
		return true;
	for (size_t i = 0; opts->captures && i < opts->captures->nr; i++)
		if (!strcmp(opts->captures->items[i], def->name))
			return true;
	return false;
}

static int check_names(const struct capture_defs *defs, const struct strlist *names)
{
	for (size_t i = 0; names && i < names->nr; i++)
		if (!capture_defs_find(defs, names->items[i]))
			return ckpt_error_set(CKPT_ENOTFOUND,
					      "no capture named '%s'; captures are configured in "
					      "$XDG_CONFIG_HOME/git-checkpoint/config and in "
					      "checkpoint/config of the store",
					      names->items[i]);
	return 0;
}

static int take_captures(struct save_job *job)
{
	struct capture_defs defs;
	int err = capture_load(&defs, job->session);

	if (err)
		return err;
	strlist_extend(&job->notes, &defs.warnings);
	err = check_names(&defs, job->opts->captures);
	for (size_t i = 0; i < defs.nr && !err; i++) {
		const struct capture_def *def = &defs.items[i];
		struct spool *spool;

		if (!is_wanted(job->opts, def))
			continue;
		spool = add_spool(&job->extras);
		err = capture_save(spool, &job->notes, job->session, def);
		if (!err)
			record_captures_add(&job->meta.captures, def->name, def->type, spool->size,
					    &spool->oid);
	}
	capture_defs_release(&defs);
	return err;
}

int extras_take(struct save_job *job)
{
	const struct save_opts *opts = job->opts;
	int err = take_states(job);

	/* A save without captures must not fail because of their configuration. */
	if (err || (opts->no_auto_captures && !opts->captures))
		return err;
	return take_captures(job);
}

/* --- what happened to them --- */

bool extras_are_new(const struct save_job *job)
{
	const struct ckpt_meta *now = &job->meta, *then = &job->newest_meta;

	for (size_t i = 0; i < now->states_nr; i++) {
		const struct ckpt_state *before = meta_find_state(then, now->states[i].key);

		if (!before || !oid_equal(&before->oid, &now->states[i].oid))
			return true;
	}
	for (size_t i = 0; i < now->captures.nr; i++) {
		const struct ckpt_capture *before =
			record_captures_find(&then->captures, now->captures.items[i].name);

		if (!before || !oid_equal(&before->oid, &now->captures.items[i].oid))
			return true;
	}
	/* The checkpoint consists of these alone: with more it would be another. */
	if (job->opts->state_only && now->states_nr != then->states_nr)
		return true;
	return (job->opts->state_only || job->opts->exact_captures) &&
	       now->captures.nr != then->captures.nr;
}

uint64_t extras_bytes(const struct save_job *job)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < job->extras.nr; i++)
		if (spool_is_new(&job->extras.spools[i]))
			sum += job->extras.spools[i].size;
	for (size_t i = 0; i < job->opts->states_nr; i++)
		sum += job->opts->states[i].len;
	return sum;
}

int extras_pack(struct save_job *job)
{
	int err = 0;

	for (size_t i = 0; i < job->extras.nr && !err; i++)
		err = spool_pack(&job->extras.spools[i], job->pack);
	return err;
}
