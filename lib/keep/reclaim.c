/* SPDX-License-Identifier: MIT */
#include "keep/reclaim.h"

#include "record/record.h"
#include "session/session.h"

#include <sys/statvfs.h>

enum {
	PACKS_LEFT = 20,	  /* how many are left then */
	QUICK_BYTES = 32 << 20,	  /* that a save may copy */
	WORTH_BYTES = 1 << 20,	  /* dead bytes that are always worth the copying */
	ALL_BYTES = 256 << 20,	  /* copied for any dead byte, if all are asked for */
	SPARE_BYTES = 128 * 1024, /* of the disk, left to others */
};

static const double quick_seconds = 0.4;

/* One pack and what happens to it. */
struct old_pack {
	struct pack_contents contents;
	uint64_t live, dead; /* bytes */
	bool chosen;         /* to be copied without what is dead */
	bool gone;
};

struct reclaim {
	struct session *session;
	struct store *store;
	enum reclaim_effort effort;
	struct reach *reach; /* NULL: not known, everything counts as needed */
	struct old_pack *packs; /* smallest first */
	size_t nr;
	bool postponed;
	char *why;
};

/* --- what is needed --- */

int reclaim_add_others(struct reach *reach, struct session *session, uint32_t owner)
{
	struct ref_list refs, lost = { 0 };
	int err = refs_list(&refs, session->store);

	if (err)
		return err;
	err = reach_add_refs(reach, owner);
	if (!err)
		err = lost_read(&lost, session->store, &refs);
	for (size_t i = 0; i < lost.nr && !err; i++)
		err = reach_add(reach, &lost.items[i].commit, owner);
	refs_release(&lost);
	refs_release(&refs);
	return err;
}

int reclaim_sweep_keepers(struct session *session)
{
	struct ref_list refs, lost = { 0 };
	int err = refs_list(&refs, session->store);

	/* A checkpoint that lost its ref shall get it back with its name. */
	if (!err)
		err = lost_read(&lost, session->store, &refs);
	if (!err)
		err = keepers_sweep(session->store, &lost);
	refs_release(&lost);
	refs_release(&refs);
	return err;
}

int reclaim_reach(struct reach **out, struct session *session, double seconds)
{
	struct reach *reach = reach_new(session->store);
	struct ref_list refs;
	bool known = true;
	int err = refs_list(&refs, session->store);

	if (!err)
		err = lost_note(session->store, &refs);
	if (!err)
		err = reclaim_sweep_keepers(session);
	if (seconds > 0)
		reach_limit(reach, seconds);
	/* The newest first: stock git makes deltas in this direction. */
	for (size_t i = err ? 0 : refs.nr; i-- && !err;) {
		if (oid_is_zero(&refs.items[i].commit))
			known = false;
		else
			err = reach_add(reach, &refs.items[i].commit, 0);
	}
	if (!err)
		err = reclaim_add_others(reach, session, 0);
	refs_release(&refs);
	*out = reach;
	if (err < 0 || (!err && known && !reach_damaged(reach)))
		return err;
	/* Something unknown may be needed: then everything is. */
	reach_free(reach);
	*out = NULL;
	return 0;
}

static bool is_live(const struct oid *oid, void *payload)
{
	struct reclaim *reclaim = payload;

	return !reclaim->reach || reach_has(reclaim->reach, oid);
}

static int by_live(const void *x, const void *y)
{
	const struct old_pack *a = x, *b = y;

	return a->live < b->live ? -1 : a->live > b->live;
}

static void look_at_packs(struct reclaim *reclaim)
{
	struct packs *packs = reclaim->store->packs;
	size_t nr = packs_count(packs);

	reclaim->packs = xcalloc(nr ? nr : 1, sizeof(*reclaim->packs));
	for (size_t i = 0; i < nr; i++) {
		struct old_pack *pack = &reclaim->packs[reclaim->nr];

		/* One that cannot be read is left to the doctor. */
		if (packs_contents(&pack->contents, packs, i))
			continue;
		if (!pack->contents.data || repack_is_kept(reclaim->store, pack->contents.name)) {
			packs_contents_release(&pack->contents);
			continue;
		}
		for (size_t j = 0; j < pack->contents.nr; j++) {
			const struct packed *item = &pack->contents.items[j];

			*(is_live(&item->oid, reclaim) ? &pack->live : &pack->dead) += item->len;
		}
		reclaim->nr++;
	}
	if (reclaim->nr)
		qsort(reclaim->packs, reclaim->nr, sizeof(*reclaim->packs), by_live);
}

/* --- what to do --- */

static bool worth_copying(const struct reclaim *reclaim, const struct old_pack *pack)
{
	if (!pack->dead || !pack->live || reclaim->effort <= RECLAIM_MERGE)
		return false;
	if (reclaim->effort == RECLAIM_QUICK)
		return pack->dead >= pack->live / 4 && !pack->contents.tight;
	/* Whoever drops a checkpoint wants its contents gone, however small they are. */
	if (reclaim->effort == RECLAIM_ALL && pack->live <= ALL_BYTES)
		return true;
	return pack->dead >= WORTH_BYTES || pack->dead >= pack->live / 20;
}

static void choose_packs(struct reclaim *reclaim)
{
	bool hurry = reclaim->effort == RECLAIM_MERGE || reclaim->effort == RECLAIM_QUICK;
	uint64_t sum = 0, limit = hurry ? QUICK_BYTES : UINT64_MAX;
	size_t left = 0, merged = 0;

	for (size_t i = 0; i < reclaim->nr; i++) {
		struct old_pack *pack = &reclaim->packs[i];

		left += pack->live != 0;
		if (!worth_copying(reclaim, pack))
			continue;
		if (sum + pack->live > limit) {
			reclaim->postponed = true;
			continue;
		}
		pack->chosen = true;
		sum += pack->live;
	}
	if (left <= RECLAIM_PACKS_MAX || reclaim->effort == RECLAIM_FREE)
		return;
	/* Too many: merge the smallest. */
	for (size_t i = 0; i < reclaim->nr && left - merged > PACKS_LEFT; i++) {
		struct old_pack *pack = &reclaim->packs[i];

		if (!pack->live || pack->contents.tight || (!pack->chosen && sum + pack->live > limit))
			continue;
		sum += pack->chosen ? 0 : pack->live;
		pack->chosen = true;
		merged++;
	}
}

static uint64_t free_room(const struct store *store)
{
	struct statvfs fs;
	uint64_t free_bytes;

	if (fstatvfs(store->dirfd, &fs) < 0)
		return UINT64_MAX;
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return free_bytes > SPARE_BYTES ? free_bytes - SPARE_BYTES : 0;
}

/* --- doing it --- */

static int remove_pack(struct reclaim *reclaim, struct old_pack *pack)
{
	int err = repack_remove(reclaim->store, pack->contents.name);

	pack->gone = !err;
	return err;
}

static int remove_dead(struct reclaim *reclaim)
{
	int err = 0;

	for (size_t i = 0; i < reclaim->nr && !err; i++)
		if (!reclaim->packs[i].live)
			err = remove_pack(reclaim, &reclaim->packs[i]);
	return err;
}

/* What was not done can be done later; nothing was lost. */
static int postpone_rest(struct reclaim *reclaim, int err)
{
	if (err == CKPT_ECANCELLED)
		return err;
	reclaim->postponed = true;
	free(reclaim->why);
	reclaim->why = xstrdup(ckpt_error_last());
	return 0;
}

/* Those that were copied into the new pack go, unless the new pack is one of them. */
static int remove_copied(struct reclaim *reclaim, size_t from, size_t to, const char *name,
			 const struct strlist *damaged)
{
	int err = 0;

	for (size_t i = from; i < to && !err; i++) {
		struct old_pack *pack = &reclaim->packs[i];

		if (!pack->chosen || pack->contents.tight || !strcmp(pack->contents.name, name))
			continue;
		if (strlist_has(damaged, pack->contents.name))
			continue;
		err = remove_pack(reclaim, pack);
	}
	return err;
}

/* Copy the chosen ones of [from, to) into one pack. */
static int copy_group(struct reclaim *reclaim, size_t from, size_t to)
{
	struct pack_contents *group = xcalloc(to - from, sizeof(*group));
	struct strlist damaged = STRLIST_INIT;
	char *name = NULL;
	size_t nr = 0;
	int err;

	for (size_t i = from; i < to; i++)
		if (reclaim->packs[i].chosen && !reclaim->packs[i].contents.tight)
			group[nr++] = reclaim->packs[i].contents;
	err = repack_copy(&name, &damaged, reclaim->store, group, nr, reclaim->session->threads,
			  is_live, reclaim);
	err = err ? postpone_rest(reclaim, err) : remove_copied(reclaim, from, to, name, &damaged);
	free(name);
	free(group);
	strlist_release(&damaged);
	return err;
}

/* At most, with its part of the index. */
static uint64_t size_of_copy(const struct old_pack *pack)
{
	return pack->live + pack->contents.nr * 36 + 8192;
}

/*
 * As many at a time as the disk has space for, the smallest first: what they
 * free makes room for the next.
 */
static int copy_chosen(struct reclaim *reclaim)
{
	size_t from = 0, to = 0;
	int err = 0;

	while (to < reclaim->nr && !err && !reclaim->why) {
		uint64_t sum = 0, limit = free_room(reclaim->store);
		size_t chosen = 0;

		for (from = to; to < reclaim->nr; to++) {
			const struct old_pack *pack = &reclaim->packs[to];

			if (!pack->chosen || pack->contents.tight)
				continue;
			if (sum + size_of_copy(pack) > limit)
				break;
			sum += size_of_copy(pack);
			chosen++;
		}
		if (chosen) {
			err = copy_group(reclaim, from, to);
		} else if (to < reclaim->nr) {
			reclaim->postponed = true; /* the next is too large, and those after it */
			break;
		}
	}
	return err;
}

/* An object that lost the base of its delta takes more space; this must not exceed what was freed. */
static bool is_gain(const struct reclaim *reclaim, const char *name, uint64_t old)
{
	char *path = xstrfmt(REPACK_DIR "/%s.pack", name);
	struct stat st;
	bool gain = !fstatat(reclaim->store->dirfd, path, &st, AT_SYMLINK_NOFOLLOW) &&
		    (uint64_t)st.st_size < old;

	free(path);
	return gain;
}

/* Packs with deltas, which only stock git can take apart. */
static int copy_tight(struct reclaim *reclaim)
{
	struct strbuf list = STRBUF_INIT;
	char hex[OID_HEX + 1], *name = NULL;
	uint64_t sum = 0, old = 0;
	int err = 0;

	for (size_t i = 0; i < reclaim->nr; i++) {
		const struct old_pack *pack = &reclaim->packs[i];

		if (!pack->chosen || !pack->contents.tight)
			continue;
		sum += size_of_copy(pack);
		old += pack->live + pack->dead;
		for (size_t j = 0; j < pack->contents.nr; j++)
			if (is_live(&pack->contents.items[j].oid, reclaim))
				strbuf_addf(&list, "%s\n", oid_hex(hex, &pack->contents.items[j].oid));
	}
	if (list.len && sum > free_room(reclaim->store)) {
		reclaim->postponed = true;
	} else if (list.len) {
		bool made = false;

		err = repack_tight(&name, reclaim->store, &list, 0, reclaim->session->threads);
		if (!err && is_gain(reclaim, name, old)) {
			err = repack_adopt(reclaim->store, REPACK_DIR, name);
			made = !err;
		}
		/* Without git, or with a damaged object in it, it stays as it is. */
		if (err)
			err = postpone_rest(reclaim, err);
		for (size_t i = 0; i < reclaim->nr && !err && made; i++) {
			struct old_pack *pack = &reclaim->packs[i];

			if (pack->chosen && pack->contents.tight && strcmp(pack->contents.name, name))
				err = remove_pack(reclaim, pack);
		}
		repack_sweep(reclaim->store);
	}
	free(name);
	strbuf_release(&list);
	return err;
}

static bool is_pack(const char *name)
{
	size_t len = strlen(name);

	return len >= 10 && !strncmp(name, "pack-", 5) && !strcmp(name + len - 5, ".pack");
}

/* Packs that lost their index, or never got one because a save was killed. */
static void remove_unindexed(struct reclaim *reclaim)
{
	struct strlist names = STRLIST_INIT;
	const char *name;

	if (!reclaim->reach)
		return;
	/* If something needed is missing, it may be in there. */
	for (size_t i = 0; i < reach_count(reclaim->reach); i++)
		if (!objects_exist(reclaim->store, reach_at(reclaim->reach, i, &name)))
			return;
	(void)fs_names(&names, reclaim->store->dirfd, "objects/pack", 0, is_pack);
	for (size_t i = 0; i < names.nr; i++) {
		char *pack = xstrfmt("objects/pack/%s", names.items[i]);
		char *index = xstrfmt("%.*s.idx", (int)(strlen(pack) - strlen(".pack")), pack);

		if (faccessat(reclaim->store->dirfd, index, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		    errno == ENOENT)
			unlinkat(reclaim->store->dirfd, pack, 0);
		free(index);
		free(pack);
	}
	strlist_release(&names);
}

uint64_t reclaim_cache_before(struct store *store)
{
	struct statcache *cache = statcache_open(store->dirfd, LAYOUT_STATCACHE);
	uint64_t packs = objects_packs_fingerprint(store);
	bool valid = cache && statcache_head(cache)->packs == packs;

	statcache_close(cache);
	return valid ? packs : 0;
}

void reclaim_cache_after(struct store *store, uint64_t before)
{
	if (before)
		statcache_set_packs(store->dirfd, LAYOUT_STATCACHE, before,
				    objects_packs_fingerprint(store));
}

static int carry_out(struct reclaim *reclaim)
{
	uint64_t cache = reclaim_cache_before(reclaim->store);
	int err = remove_dead(reclaim);

	/* What stock git recorded of its last checkout may name what has just gone. */
	if (!err && reclaim->reach)
		unlinkat(reclaim->store->dirfd, "index", 0);
	if (!err)
		remove_unindexed(reclaim);
	if (!err)
		err = copy_chosen(reclaim);
	if (!err && reclaim->effort >= RECLAIM_THOROUGH)
		err = copy_tight(reclaim);
	(void)fs_sync_dir(reclaim->store->dirfd, "objects/pack");
	reclaim_cache_after(reclaim->store, cache);
	return err;
}

int reclaim_run(struct reclaim_result *out, struct session *session, enum reclaim_effort effort)
{
	struct reclaim reclaim = { .session = session, .store = session->store, .effort = effort };
	int lock = -1, err;

	memset(out, 0, sizeof(*out));
	out->before = out->after = fs_disk_usage(session->store->dirfd, ".");
	err = repack_lock(&lock, session->store);
	if (err == CKPT_ELOCKED) {
		out->postponed = true;
		return 0;
	}
	if (!err) {
		/* Left by a killed process: whoever may ask needs the lock that we hold. */
		repack_forget(session->store);
		repack_sweep(session->store);
		scratch_sweep(session->store);
		err = objects_reopen(session->store);
	}
	/* To merge packs it does not matter what is needed. */
	if (!err && effort != RECLAIM_MERGE)
		err = reclaim_reach(&reclaim.reach, session,
				    effort == RECLAIM_QUICK ? quick_seconds : 0);
	if (!err) {
		look_at_packs(&reclaim);
		choose_packs(&reclaim);
		err = carry_out(&reclaim);
	}
	for (size_t i = 0; i < reclaim.nr; i++)
		packs_contents_release(&reclaim.packs[i].contents);
	free(reclaim.packs);
	reach_free(reclaim.reach);
	fs_close(lock);
	if (!err)
		err = objects_reopen(session->store);
	out->after = fs_disk_usage(session->store->dirfd, ".");
	out->postponed = reclaim.postponed;
	snprintf(out->why, sizeof(out->why), "%s", reclaim.why ? reclaim.why : "");
	free(reclaim.why);
	return err;
}
