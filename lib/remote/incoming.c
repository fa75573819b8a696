/* SPDX-License-Identifier: MIT */
#include "remote/incoming_internal.h"

#include "remote/transport_internal.h"

int incoming_begin(struct incoming *out, struct session *session)
{
	*out = (struct incoming){ .session = session, .apart = *session, .scratch = SCRATCH_INIT };
	out->apart.store = NULL;
	return scratch_open(&out->scratch, session->store, false);
}

void incoming_end(struct incoming *incoming)
{
	verify_end(&incoming->verify);
	store_close(incoming->apart.store);
	incoming->apart.store = NULL;
	strlist_release(&incoming->linked);
	scratch_close(&incoming->scratch);
}

/* --- what is here already --- */

/* A pack without its index is what a killed process left. */
static bool is_index(const char *name)
{
	size_t len = strlen(name);

	return !strncmp(name, "pack-", 5) && len > 4 && !strcmp(name + len - 4, ".idx");
}

/* 0, or 1 if it is gone. */
static int link_file(struct incoming *incoming, const char *stem, const char *ending)
{
	int dirfd = incoming->session->store->dirfd, err = 0;
	char *from = xstrfmt("objects/pack/%s%s", stem, ending);
	char *to = xstrfmt("%s/%s", incoming->scratch.name, from);

	if (linkat(dirfd, from, dirfd, to, 0) < 0)
		err = errno == ENOENT ? 1 : ckpt_error_errno("unable to link '%s'", from);
	free(from);
	free(to);
	return err;
}

/* Links: a pack never changes, and whoever removes it here leaves the other name. */
static int link_packs(struct incoming *incoming)
{
	struct store *store = incoming->session->store;
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (fs_names(&names, store->dirfd, "objects/pack", 0, is_index) < 0)
		err = ckpt_error_errno("unable to read the packs of '%s'", store->path);
	for (size_t i = 0; i < names.nr && err >= 0; i++) {
		char *stem = xmemdupz(names.items[i], strlen(names.items[i]) - 4);

		err = link_file(incoming, stem, ".pack");
		if (!err)
			err = link_file(incoming, stem, ".idx");
		if (!err)
			strlist_take(&incoming->linked, stem);
		else
			free(stem);
	}
	strlist_release(&names);
	return err < 0 ? err : 0;
}

/* So that git tells the other side what need not be sent: see transport_internal.h. */
static int write_common(struct incoming *incoming, const struct oid *common, size_t nr)
{
	char *shallow = xstrfmt("%s/shallow", incoming->scratch.name), hex[OID_HEX + 1];
	struct strlist commits = STRLIST_INIT;
	struct strbuf ends = STRBUF_INIT;
	int err;

	for (size_t i = 0; i < nr; i++) {
		strlist_add(&commits, oid_hex(hex, &common[i]));
		strbuf_addf(&ends, "%s\n", hex);
	}
	err = transport_write_haves(&incoming->scratch, &commits);
	if (nr && !err)
		err = fs_write_file(incoming->session->store->dirfd, shallow, ends.buf, ends.len, 0600,
				    FS_FAST);
	strlist_release(&commits);
	strbuf_release(&ends);
	free(shallow);
	return err;
}

int incoming_share(struct incoming *incoming, const struct oid *common, size_t nr)
{
	int err = link_packs(incoming);

	return err ? err : write_common(incoming, common, nr);
}

int incoming_open(struct incoming *incoming)
{
	int err = store_open_aside(&incoming->apart.store, incoming->scratch.path,
				   incoming->session->worktree);

	if (!err)
		err = objects_open(incoming->apart.store);
	verify_begin(&incoming->verify, &incoming->apart, NULL);
	return err;
}

/* --- is it what it says? --- */

int incoming_check(struct incoming *incoming, const struct ref_item *ref)
{
	struct verify_result result = { 0 };
	char *kept;
	int err;

	/* What reads a checkpoint asks whether it still exists. */
	err = refs_create(incoming->apart.store, ref->id, &ref->commit);
	if (!err)
		err = incoming_check_form(incoming, ref);
	if (!err)
		err = verify_checkpoint(&result, &incoming->verify, ref);
	if (!err && result.problems.nr)
		err = ckpt_error_set(CKPT_ECORRUPT, "%s", result.problems.items[0]);
	strlist_release(&result.problems);
	kept = err ? ckpt_error_keep() : NULL;
	if (err == CKPT_ENOTFOUND || (err == CKPT_ERROR && !ckpt_error_lack()))
		err = CKPT_ECORRUPT;
	return ckpt_error_put_back(err, kept);
}

/* --- it is --- */

static int copy_object(struct pack *pack, struct store *from, const struct oid *oid)
{
	struct strbuf text = STRBUF_INIT;
	enum object_type type;
	int err = cancel_check();

	if (!err)
		err = objects_read_any(&text, &type, from, oid);
	if (!err)
		err = pack_add(pack, 0, type, oid, text.buf, text.len);
	strbuf_release(&text);
	return err;
}

/* What was linked is no longer in the store if somebody dropped checkpoints meanwhile. */
static bool is_still_here(const struct incoming *incoming, const char *pack)
{
	char *idx = xstrfmt("objects/pack/%s.idx", pack);
	bool here = strlist_has(&incoming->linked, pack) &&
		    !faccessat(incoming->session->store->dirfd, idx, F_OK, 0);

	free(idx);
	return here;
}

/* Whether it has nothing but what was checked: then it can be taken as it is. */
static bool is_all_needed(const struct pack_contents *pack, const struct reach *reach)
{
	for (size_t i = 0; i < pack->nr; i++)
		if (!reach_has(reach, &pack->items[i].oid))
			return false;
	return true;
}

static int copy_needed(struct incoming *incoming, const struct pack_contents *contents,
		       const struct reach *reach, struct pack *pack)
{
	int err = 0;

	for (size_t i = 0; i < contents->nr && !err; i++) {
		const struct oid *oid = &contents->items[i].oid;

		if (reach_has(reach, oid) && !pack_has(pack, oid) &&
		    !objects_exist(incoming->session->store, oid))
			err = copy_object(pack, incoming->apart.store, oid);
	}
	return err;
}

static int adopt_packs(struct incoming *incoming, const struct reach *reach)
{
	struct session *session = incoming->session;
	struct packs *packs = incoming->apart.store->packs;
	struct pack *rest = pack_new(session->store, 1, (unsigned)session->settings.compression);
	char *dir = xstrfmt("%s/objects/pack", incoming->scratch.name);
	int err = 0;

	for (size_t i = 0; i < packs_count(packs) && !err; i++) {
		struct pack_contents contents;

		err = packs_contents(&contents, packs, i);
		if (err)
			break;
		if (is_still_here(incoming, contents.name))
			err = 0;
		else if (!strlist_has(&incoming->linked, contents.name) &&
			 is_all_needed(&contents, reach))
			err = repack_adopt(session->store, dir, contents.name);
		else
			err = copy_needed(incoming, &contents, reach, rest);
		packs_contents_release(&contents);
	}
	if (!err)
		err = pack_commit(rest, NULL);
	pack_free(rest);
	free(dir);
	return err;
}

int incoming_adopt(struct incoming *incoming, const struct ref_list *refs)
{
	struct store *store = incoming->session->store;
	struct reach *reach = reach_new(incoming->apart.store);
	int err = objects_reopen(store);

	for (size_t i = 0; i < refs->nr && !err; i++)
		err = reach_add(reach, &refs->items[i].commit, 0);
	if (!err)
		err = adopt_packs(incoming, reach);
	reach_free(reach);
	return err ? err : objects_reopen(store);
}
