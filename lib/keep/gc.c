/* SPDX-License-Identifier: MIT */
#include "keep/reclaim.h"

#include "session/session.h"

#include <sys/statvfs.h>

struct gc {
	struct session *session;
	struct store *store;
	struct strbuf list;  /* of what is needed, for stock git */
	struct strlist old;  /* packs that are to be replaced */
	uint64_t bytes;      /* in them, of what is needed */
	uint64_t untried;    /* how many of these have never been tried for deltas */
	bool tight;          /* nothing could be gained */
	char *name;          /* of the new pack */
	bool show;           /* how far it is */
};

/* --- with the lock: what to do --- */

static void look_at_pack(struct gc *gc, const struct pack_contents *pack, const struct reach *reach)
{
	uint64_t live = 0;
	size_t dead = 0;

	for (size_t i = 0; i < pack->nr; i++) {
		if (reach_has(reach, &pack->items[i].oid))
			live += pack->items[i].len;
		else
			dead++;
	}
	gc->bytes += live;
	gc->untried += pack->tight ? 0 : live;
	gc->tight = pack->tight && !dead;
	strlist_add(&gc->old, pack->name);
}

static int take_stock(struct gc *gc, struct gc_result *out)
{
	struct packs *packs = gc->store->packs;
	struct reach *reach = NULL;
	char hex[OID_HEX + 1];
	const char *name;
	int err = reclaim_reach(&reach, gc->session, 0);

	if (err || !reach) {
		out->damaged = !err;
		return err;
	}
	for (size_t i = 0; i < packs_count(packs); i++) {
		struct pack_contents pack;

		if (packs_contents(&pack, packs, i))
			continue;
		if (pack.data && !repack_is_kept(gc->store, pack.name))
			look_at_pack(gc, &pack, reach);
		packs_contents_release(&pack);
	}
	gc->tight = gc->tight && gc->old.nr == 1;
	for (size_t i = 0; i < reach_count(reach); i++) {
		const struct oid *oid = reach_at(reach, i, &name);

		/* The name only tells stock git what may be alike; a newline would end the line. */
		strbuf_addf(&gc->list, "%s %.*s\n", oid_hex(hex, oid), (int)strcspn(name, "\n"), name);
	}
	reach_free(reach);
	return 0;
}

static bool has_room(const struct gc *gc)
{
	struct statvfs fs;

	return fstatvfs(gc->store->dirfd, &fs) < 0 ||
	       (uint64_t)fs.f_bavail * fs.f_frsize > gc->bytes + gc->bytes / 8 + (1 << 20);
}

/* --- with the lock again: one for many --- */

/* One of those that were packed, and not the new one. */
static bool is_old(const struct gc *gc, const char *name)
{
	return strlist_has(&gc->old, name) && strcmp(name, gc->name) != 0;
}

/* The objects of packs that stay: the new one, and those that appeared meanwhile. */
static void note_staying(struct oidset *out, const struct gc *gc)
{
	struct packs *packs = gc->store->packs;

	for (size_t i = 0; i < packs_count(packs); i++) {
		struct pack_contents pack;
		bool old;

		if (packs_contents(&pack, packs, i))
			continue;
		old = is_old(gc, pack.name);
		for (size_t j = 0; j < pack.nr && !old && pack.data; j++)
			(void)oidset_add(out, &pack.items[j].oid);
		packs_contents_release(&pack);
	}
}

/* While the lock was not held, a new checkpoint may have come to need what only an old pack has. */
static bool is_needed(const struct pack_contents *pack, const struct reach *reach,
		      const struct oidset *staying)
{
	for (size_t i = 0; i < pack->nr; i++)
		if (reach_has(reach, &pack->items[i].oid) && !oidset_has(staying, &pack->items[i].oid))
			return true;
	return false;
}

static int remove_old(struct gc *gc, struct gc_result *out)
{
	struct packs *packs = gc->store->packs;
	struct oidset staying = { 0 };
	struct reach *reach = NULL;
	int err = reclaim_reach(&reach, gc->session, 0);

	out->damaged = !err && !reach;
	if (reach)
		note_staying(&staying, gc);
	for (size_t i = 0; reach && i < packs_count(packs) && !err; i++) {
		struct pack_contents pack;
		bool old;

		if (packs_contents(&pack, packs, i))
			continue;
		old = is_old(gc, pack.name);
		if (old && !is_needed(&pack, reach, &staying))
			err = repack_remove(gc->store, pack.name);
		packs_contents_release(&pack);
	}
	oidset_release(&staying);
	reach_free(reach);
	return err;
}

/* The holder of the lock may be waiting for us to make way. */
static int lock_again(struct gc *gc)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	double deadline = clock_monotonic() + (double)gc->session->settings.lock_timeout;

	for (;;) {
		int err = store_lock(gc->store, 0);

		if (err != CKPT_ELOCKED || clock_monotonic() >= deadline)
			return err;
		if (repack_must_yield(gc->store))
			return ckpt_error_set(err, "another command was waiting for the store");
		err = cancel_check();
		if (err)
			return err;
		nanosleep(&pause, NULL);
	}
}

static int replace_packs(struct gc *gc, struct gc_result *out)
{
	uint64_t cache = reclaim_cache_before(gc->store);
	int err = repack_adopt(gc->store, REPACK_DIR, gc->name);

	if (!err)
		err = objects_reopen(gc->store);
	if (!err)
		err = remove_old(gc, out);
	(void)fs_sync_dir(gc->store->dirfd, "objects/pack");
	reclaim_cache_after(gc->store, cache);
	return err;
}

/* --- everything --- */

/* Not everything in one pack, but what is possible. */
static int fall_back(struct gc *gc, struct gc_result *out, const char *why)
{
	struct reclaim_result result;
	int err;

	snprintf(out->why, sizeof(out->why), "%s", why);
	err = gc->store->lockfd >= 0 ? 0 : store_lock(gc->store, gc->session->settings.lock_timeout);
	if (!err)
		err = reclaim_run(&result, gc->session, RECLAIM_THOROUGH);
	return err;
}

/* Called with the store locked and no other process packing. */
static int pack_tightly(struct gc *gc, struct gc_result *out, int *lock)
{
	int err = take_stock(gc, out), rc;

	if (err || out->damaged || gc->tight || !gc->old.nr || !gc->list.len)
		return err;
	if (!has_room(gc)) {
		close(*lock);
		*lock = -1;
		return fall_back(gc, out, "not enough disk space");
	}
	repack_forget(gc->store); /* left by a killed process */
	store_unlock(gc->store);
	/* New objects are compared with the old ones, but not everything with everything again. */
	rc = repack_tight(&gc->name, gc->store, &gc->list,
			  (gc->untried > gc->bytes / 4 ? REPACK_SEARCH : 0) | (gc->show ? REPACK_SHOW : 0),
			  gc->session->threads);
	if (!rc)
		rc = lock_again(gc);
	if (!rc)
		return replace_packs(gc, out);
	if (rc == CKPT_ECANCELLED)
		return rc;
	repack_sweep(gc->store);
	close(*lock);
	*lock = -1;
	return fall_back(gc, out, rc == CKPT_ENOTFOUND ? "git is needed to make deltas" :
							  ckpt_error_last());
}

int gc_store(struct gc_result *out, struct session *session, bool show)
{
	struct gc gc = { .session = session, .store = session->store, .show = show };
	struct reclaim_result freed;
	int lock = -1, err;

	memset(out, 0, sizeof(*out));
	strbuf_init(&gc.list);
	out->before = fs_disk_usage(gc.store->dirfd, ".");
	err = store_lock(gc.store, session->settings.lock_timeout);
	if (!err)
		err = reclaim_run(&freed, session, RECLAIM_FREE);
	if (!err)
		err = repack_lock(&lock, gc.store);
	if (!err)
		err = pack_tightly(&gc, out, &lock);
	if (lock >= 0) {
		repack_sweep(gc.store);
		close(lock);
	}
	store_unlock(gc.store);
	if (!err)
		err = objects_reopen(gc.store);
	if (!err)
		out->packs = packs_count(gc.store->packs);
	out->after = fs_disk_usage(gc.store->dirfd, ".");
	strbuf_release(&gc.list);
	strlist_release(&gc.old);
	free(gc.name);
	return err;
}
