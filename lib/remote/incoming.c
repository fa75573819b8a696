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
	strlist_release(&incoming->arrived);
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

/* --- how much it becomes --- */

int incoming_refuse_size(const struct session *session)
{
	uint64_t max = session->settings.max_fetch_size;
	char size[UNITS_SIZE];

	return ckpt_error_set(CKPT_ERROR,
			      "it is more than maxFetchSize (%s); 'git checkpoint config "
			      "maxFetchSize <size>' raises that",
			      units_format_size(size, max));
}

/* Those that are neither linked nor counted yet. */
static int weigh_new(struct strlist *names, uint64_t *sum, struct incoming *incoming,
		     struct packs *packs)
{
	int err = 0;

	for (size_t i = 0; i < packs_count(packs) && !err; i++) {
		struct pack_contents contents;
		uint64_t bytes = 0;

		err = packs_contents(&contents, packs, i);
		if (err)
			break;
		if (!strlist_has(&incoming->linked, contents.name) &&
		    !strlist_has(&incoming->arrived, contents.name)) {
			err = packs_weigh(&bytes, packs, &contents);
			strlist_add(names, contents.name);
		}
		*sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
		packs_contents_release(&contents);
	}
	return err;
}

/* The refs, too: without what they lead to, git would fetch nothing any more. */
static int remove_packs(int dirfd, const struct strlist *names)
{
	static const char *const endings[] = { "idx", "rev", "pack" };

	for (size_t i = 0; i < names->nr; i++)
		for (size_t e = 0; e < ARRAY_SIZE(endings); e++) {
			char *path = xstrfmt("objects/pack/%s.%s", names->items[i], endings[e]);

			(void)unlinkat(dirfd, path, 0);
			free(path);
		}
	return fs_remove_tree(dirfd, "refs/incoming");
}

int incoming_count(struct incoming *incoming)
{
	uint64_t max = incoming->session->settings.max_fetch_size, sum = 0;
	struct strlist names = STRLIST_INIT;
	struct packs *packs;
	int dirfd, err;

	if (!max)
		return 0;
	dirfd = open(incoming->scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return ckpt_error_errno("unable to open '%s'", incoming->scratch.path);
	packs = packs_open(dirfd);
	err = weigh_new(&names, &sum, incoming, packs);
	packs_close(packs);
	if (!err && sum > max - incoming->bytes) {
		err = remove_packs(dirfd, &names);
		if (!err)
			err = incoming_refuse_size(incoming->session);
	} else if (!err) {
		incoming->bytes += sum;
		strlist_extend(&incoming->arrived, &names);
	}
	strlist_release(&names);
	close(dirfd);
	return err;
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
	if (err == CKPT_ENOTFOUND || err == CKPT_ERROR)
		err = CKPT_ECORRUPT;
	return ckpt_error_put_back(err, kept);
}

/* --- it is --- */

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

static void list_needed(struct strbuf *out, struct store *store,
			const struct pack_contents *contents, const struct reach *reach)
{
	for (size_t i = 0; i < contents->nr; i++) {
		const struct oid *oid = &contents->items[i].oid;
		char hex[OID_HEX + 1];

		if (reach_has(reach, oid) && !objects_exist(store, oid))
			strbuf_addf(out, "%s\n", oid_hex(hex, oid));
	}
}

/* Stock git makes a pack of them in which deltas stay deltas: inflated, they may be without end. */
static int adopt_listed(struct incoming *incoming, const struct strbuf *list)
{
	char *dir = xstrfmt("%s/" REPACK_DIR, incoming->scratch.name), *name = NULL;
	int err = repack_tight(&name, incoming->apart.store, list, 0, incoming->session->threads);

	if (!err)
		err = repack_adopt(incoming->session->store, dir, name);
	free(name);
	free(dir);
	return err;
}

static int adopt_packs(struct incoming *incoming, const struct reach *reach)
{
	struct store *store = incoming->session->store;
	struct packs *packs = incoming->apart.store->packs;
	char *dir = xstrfmt("%s/objects/pack", incoming->scratch.name);
	struct strbuf rest = STRBUF_INIT;
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
			err = repack_adopt(store, dir, contents.name);
		else
			list_needed(&rest, store, &contents, reach);
		packs_contents_release(&contents);
	}
	if (!err && rest.len)
		err = adopt_listed(incoming, &rest);
	strbuf_release(&rest);
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
