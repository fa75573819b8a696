/* SPDX-License-Identifier: MIT */
#include "captures/capture_internal.h"

#include "session/session.h"

static struct spool *add_spool(struct extras *extras)
{
	ALLOC_GROW(extras->spools, extras->nr + 1, extras->alloc);
	extras->spools[extras->nr] = (struct spool)SPOOL_INIT;
	return &extras->spools[extras->nr++];
}

void extras_release(struct extras *extras)
{
	for (size_t i = 0; i < extras->nr; i++)
		spool_release(&extras->spools[i]);
	free(extras->spools);
	memset(extras, 0, sizeof(*extras));
}

/* --- taking them --- */

static int take_file(struct extras *extras, struct ckpt_meta *meta, struct session *session,
		     const struct extras_state_file *file)
{
	struct spool *spool = add_spool(extras);
	int fd = open(file->path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return ckpt_error_errno("unable to open '%s' for the state key '%s'", file->path,
					file->key);
	err = spool_open(spool, session);
	if (!err)
		err = spool_add_fd(spool, fd, file->path);
	if (!err)
		err = spool_close(spool);
	close(fd);
	if (!err)
		meta_add_stored_state(meta, file->key, &spool->oid, spool->size);
	else if (err != CKPT_ECANCELLED)
		err = ckpt_error_prefix(err, "state key '%s'", file->key);
	return err;
}

static int take_states(struct extras *extras, struct ckpt_meta *meta, struct session *session)
{
	const struct extras_opts *opts = extras->opts;
	struct digest *sha1 = hash_new(HASH_SHA1);
	int err = 0;

	for (size_t i = 0; i < opts->states_nr; i++) {
		const struct ckpt_state *state = &opts->states[i];
		struct ckpt_state *added;

		meta_add_state(meta, state->key, state->value, state->len);
		added = &meta->states[meta->states_nr - 1];
		hash_object(sha1, &added->oid, "blob", state->value, state->len);
		added->size = state->len;
	}
	for (size_t i = 0; i < opts->state_files_nr && !err; i++)
		err = take_file(extras, meta, session, &opts->state_files[i]);
	hash_free(sha1);
	return err;
}

static bool is_wanted(const struct extras_opts *opts, const struct capture_def *def)
{
	return (def->automatic && !opts->no_auto && !opts->alone) ||
	       (opts->captures && strlist_has(opts->captures, def->name));
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

static int take_captures(struct extras *extras, struct ckpt_meta *meta, struct strlist *notes,
			 struct session *session)
{
	struct capture_defs defs;
	int err = capture_load(&defs, session);

	if (err)
		return err;
	strlist_extend(notes, &defs.warnings);
	err = check_names(&defs, extras->opts->captures);
	for (size_t i = 0; i < defs.nr && !err; i++) {
		const struct capture_def *def = &defs.items[i];
		struct spool *spool;

		if (!is_wanted(extras->opts, def))
			continue;
		spool = add_spool(extras);
		err = capture_save(spool, notes, session, def);
		if (!err)
			record_captures_add(&meta->captures, def->name, def->type, spool->size,
					    &spool->oid);
	}
	capture_defs_release(&defs);
	return err;
}

int extras_take(struct extras *extras, struct ckpt_meta *meta, struct strlist *notes,
		struct session *session, const struct extras_opts *opts)
{
	int err;

	extras->opts = opts;
	err = take_states(extras, meta, session);
	/* A save without captures must not fail because of their configuration. */
	if (err || ((opts->no_auto || opts->alone) && (!opts->captures || !opts->captures->nr)))
		return err;
	return take_captures(extras, meta, notes, session);
}

/* --- what happened to them --- */

bool extras_are_new(const struct extras_opts *opts, const struct ckpt_meta *now,
		    const struct ckpt_meta *then)
{
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
	/* With more it would be another. */
	if (opts->alone && now->states_nr != then->states_nr)
		return true;
	return (opts->alone || opts->exact) && now->captures.nr != then->captures.nr;
}

uint64_t extras_bytes(const struct extras *extras)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < extras->nr; i++)
		if (spool_is_new(&extras->spools[i]))
			sum += extras->spools[i].size;
	for (size_t i = 0; extras->opts && i < extras->opts->states_nr; i++)
		sum += extras->opts->states[i].len;
	return sum;
}

int extras_pack(struct extras *extras, struct pack *pack)
{
	int err = 0;

	for (size_t i = 0; i < extras->nr && !err; i++)
		err = spool_pack(&extras->spools[i], pack);
	return err;
}
