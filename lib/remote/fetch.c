/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "keep/keep.h"
#include "look/look.h"
#include "remote/incoming_internal.h"
#include "remote/transport_internal.h"
#include "session/session.h"

void fetch_result_release(struct fetch_result *result)
{
	for (size_t i = 0; i < result->nr; i++) {
		free(result->items[i].at.machine);
		record_release(&result->items[i].record);
		free(result->items[i].why);
	}
	free(result->items);
	strlist_release(&result->odd);
	memset(result, 0, sizeof(*result));
}

enum { AT_ONCE = 500 };

struct fetching {
	struct fetch_result *out;
	struct session *session;
	struct transport *transport;
	struct incoming incoming;
};

/* --- which ones --- */

static void add_item(struct fetch_result *out, const struct fetched_item *item)
{
	struct fetch_item *new = ALLOC_NEXT(out->items, out->nr, out->alloc);

	memset(new, 0, sizeof(*new));
	new->at = (struct fetched_item){ xstrdup(item->machine), item->ref };
	new->record = (struct ckpt_record)CKPT_RECORD_INIT;
}

/* Two names may mean the same. */
static void add_once(struct fetch_result *out, const struct fetched_item *item)
{
	for (size_t i = 0; i < out->nr; i++)
		if (!strcmp(out->items[i].at.machine, item->machine) &&
		    !strcmp(out->items[i].at.ref.id, item->ref.id))
			return;
	add_item(out, item);
}

static int add_named(struct fetching *fetching, const char *name)
{
	const struct fetched_list *there = &fetching->transport->there;
	const char *remote = fetching->transport->remote->name;
	size_t at, found;

	if (!strchr(name, '/'))
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' is neither a remote nor a checkpoint of a machine, such as "
				      "'<machine>/@'",
				      name);
	found = lookup_fetched(&at, there, name);
	if (!found)
		return ckpt_error_set(CKPT_ENOTFOUND,
				      "the remote '%s' has no checkpoint '%s' of this project", remote,
				      name);
	if (found > 1)
		return ckpt_error_set(CKPT_ERROR, "'%s' is ambiguous: the remote '%s' has %zu of them",
				      name, remote, found);
	add_once(fetching->out, &there->items[at]);
	return 0;
}

static void add_others(struct fetching *fetching, bool all)
{
	const char *own = fetching->transport->machine;
	const struct fetched_list *there = &fetching->transport->there;

	for (size_t i = 0; i < there->nr; i++) {
		if (strcmp(there->items[i].machine, own) != 0 &&
		    (all || transport_is_newest(there, i)))
			add_item(fetching->out, &there->items[i]);
	}
}

static void set_bad(struct fetch_item *item)
{
	free(item->why);
	item->why = xstrdup(ckpt_error_last());
	item->state = FETCH_BAD;
}

/* A journal, a hold and whoever types an id mean the one of this store by it. */
static int refuse_taken_ids(struct fetching *fetching)
{
	struct store *store = fetching->session->store;
	struct ref_list own = { 0 };
	int err = refs_list(&own, store);

	for (size_t i = 0; i < fetching->out->nr && !err; i++) {
		struct fetch_item *item = &fetching->out->items[i];
		const struct ref_item *taken = refs_find(&own, item->at.ref.id);

		if (!taken || oid_equal(&taken->commit, &item->at.ref.commit))
			continue;
		(void)ckpt_error_set(CKPT_ECORRUPT, "another checkpoint of this store has that id");
		set_bad(item);
	}
	refs_release(&own);
	return err;
}

static int choose_items(struct fetching *fetching, const struct strlist *names, bool all)
{
	struct fetched_list here;
	int err = 0;

	for (size_t i = 0; i < names->nr && !err; i++)
		err = add_named(fetching, names->items[i]);
	if (!err && !names->nr)
		add_others(fetching, all);
	if (!err)
		err = fetched_list(&here, fetching->session->store);
	if (err)
		return err;
	for (size_t i = 0; i < fetching->out->nr; i++) {
		struct fetch_item *item = &fetching->out->items[i];
		const struct fetched_item *known =
			fetched_find(&here, item->at.machine, item->at.ref.id);

		if (known && oid_equal(&known->ref.commit, &item->at.ref.commit))
			item->state = FETCH_KNOWN;
	}
	fetched_release(&here);
	return refuse_taken_ids(fetching);
}

/* --- bringing them, apart from the store --- */

static char *spec_of(const struct fetching *fetching, const struct fetch_item *item)
{
	return xstrfmt("+" TRANSPORT_REFS "%s/%s/%s:refs/incoming/%s/%s",
		       fetching->transport->project, item->at.machine, item->at.ref.id,
		       item->at.machine, item->at.ref.id);
}

/* What git wrote when it was stopped, since the file reached the limit, is removed. */
static bool was_stopped(const struct fetching *fetching)
{
	char *dir = xstrfmt("%s/objects/pack", fetching->incoming.scratch.path);
	struct strlist names = STRLIST_INIT;
	bool stopped = false;

	(void)fs_names(&names, AT_FDCWD, dir, 0, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		char *path = xstrfmt("%s/%s", dir, names.items[i]);
		struct stat st = { 0 };

		(void)lstat(path, &st);
		if (!strncmp(names.items[i], "tmp_", 4)) {
			stopped |= (uint64_t)st.st_size >= fetching->transport->limit;
			(void)unlink(path);
		}
		free(path);
	}
	strlist_release(&names);
	free(dir);
	return stopped;
}

/* The new ones among these in one go. */
static int run_fetch(struct fetching *fetching, size_t from, size_t to)
{
	static const char *const words[] = { "fetch", "--no-write-fetch-head", "--no-tags",
					     "--no-auto-maintenance", "--progress", "--refmap=",
					     NULL };
	uint64_t max = fetching->session->settings.max_fetch_size;
	struct strlist specs = STRLIST_INIT;
	struct strbuf said = STRBUF_INIT;
	int err = 0;

	for (size_t i = from; i < to; i++)
		if (fetching->out->items[i].state == FETCH_NEW)
			strlist_take(&specs, spec_of(fetching, &fetching->out->items[i]));
	fetching->transport->limit = max; /* of the pack alone: soon seen, and not all that counts */
	if (specs.nr)
		err = transport_run(&said, fetching->transport, words, &specs);
	if (err == CKPT_ERROR && max && was_stopped(fetching))
		err = incoming_refuse_size(fetching->session);
	if (specs.nr && !err)
		err = incoming_count(&fetching->incoming);
	strbuf_release(&said);
	strlist_release(&specs);
	return err;
}

/* If not all can be had at once, one after the other: a bad one must not keep the rest out. */
static int bring_each(struct fetching *fetching, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct fetch_item *item = &fetching->out->items[i];
		int err = item->state == FETCH_NEW ? run_fetch(fetching, i, i + 1) : 0;

		if (err && (err != CKPT_ERROR || fetching->transport->lost))
			return err;
		if (err)
			set_bad(item);
	}
	return 0;
}

/* A command line has room for some only. */
static int bring_all(struct fetching *fetching)
{
	size_t nr = fetching->out->nr;
	int err = 0;

	for (size_t from = 0; from < nr && !err; from += AT_ONCE) {
		size_t to = nr - from < AT_ONCE ? nr : from + AT_ONCE;

		err = run_fetch(fetching, from, to);
		if (err == CKPT_ERROR && !fetching->transport->lost && nr > 1)
			err = bring_each(fetching, from, to);
	}
	return err;
}

static int check_new(struct fetching *fetching)
{
	int err = incoming_open(&fetching->incoming);

	for (size_t i = 0; i < fetching->out->nr && !err; i++) {
		struct fetch_item *item = &fetching->out->items[i];

		if (item->state != FETCH_NEW)
			continue;
		err = incoming_check(&fetching->incoming, &item->at.ref);
		if (err == CKPT_ECORRUPT) {
			set_bad(item);
			err = 0;
		}
	}
	return err;
}

/* --- into the store --- */

/* Bytes of packs that are there under two names, and counted twice. */
static uint64_t linked_bytes(const struct fetching *fetching)
{
	const struct strlist *linked = &fetching->incoming.linked;
	uint64_t sum = 0;

	for (size_t i = 0; i < linked->nr; i++) {
		char *stem = xstrfmt("%s/objects/pack/%s", fetching->incoming.scratch.path,
				     linked->items[i]);
		char *pack = xstrfmt("%s.pack", stem), *idx = xstrfmt("%s.idx", stem);

		sum += fs_disk_usage(AT_FDCWD, pack) + fs_disk_usage(AT_FDCWD, idx);
		free(stem);
		free(pack);
		free(idx);
	}
	return sum;
}

/* What was fetched earlier gives way; nothing of this store does. */
static int make_room(struct fetching *fetching)
{
	struct session *session = fetching->session;
	uint64_t max = session->settings.max_size, twice = linked_bytes(fetching);

	for (int tries = 0; max; tries++) {
		uint64_t used = fs_disk_usage(session->store->dirfd, ".");

		if (used <= max + twice)
			break;
		if (tries || !retain_drop_fetched(session))
			return ckpt_error_set(CKPT_ERROR,
					      "what was fetched does not fit into maxSize");
	}
	return 0;
}

/* Without an id: the trail tells by those which checkpoints of this store there must be. */
static void note_fetched(struct store *store, const struct fetch_item *item)
{
	char *what = xstrfmt("%s/%s", item->at.machine, item->at.ref.id);

	(void)audit_add(store, "fetch", NULL, &item->at.ref.commit, what, NULL);
	free(what);
}

static int take_good(struct fetching *fetching)
{
	struct store *store = fetching->session->store;
	struct ref_list good = { 0 };
	int err = store_lock(store, fetching->session->settings.lock_timeout);

	if (err)
		return err;
	for (size_t i = 0; i < fetching->out->nr; i++)
		if (fetching->out->items[i].state == FETCH_NEW)
			refs_add(&good, fetching->out->items[i].at.ref.id,
				 &fetching->out->items[i].at.ref.commit);
	err = make_room(fetching);
	if (!err && good.nr)
		err = incoming_adopt(&fetching->incoming, &good);
	for (size_t i = 0; i < fetching->out->nr && !err; i++) {
		const struct fetch_item *item = &fetching->out->items[i];

		if (item->state != FETCH_NEW)
			continue;
		err = fetched_create(store, &item->at);
		if (!err)
			note_fetched(store, item);
	}
	refs_release(&good);
	store_unlock(store);
	return err;
}

static int read_records(struct fetch_result *out, struct store *store)
{
	int err = 0;

	for (size_t i = 0; i < out->nr && !err; i++)
		if (out->items[i].state != FETCH_BAD)
			err = record_read_fetched(&out->items[i].record, store, &out->items[i].at);
	return err;
}

static int fetch_new(struct fetching *fetching)
{
	struct transport *transport = fetching->transport;
	int err = incoming_begin(&fetching->incoming, fetching->session);

	if (!err)
		err = transport_find_common(transport);
	if (!err)
		err = incoming_share(&fetching->incoming, transport->common, transport->common_nr);
	if (!err)
		err = transport_lend_bare(transport, &fetching->incoming.scratch);
	transport->gitdir = fetching->incoming.scratch.path;
	if (!err)
		err = bring_all(fetching);
	if (!err)
		err = check_new(fetching);
	if (!err)
		err = take_good(fetching);
	transport->gitdir = NULL;
	incoming_end(&fetching->incoming);
	return err;
}

int fetch_from(struct fetch_result *out, struct transport *transport, const struct strlist *names,
	       bool all)
{
	struct fetching fetching = { .out = out, .session = transport->session,
				     .transport = transport };
	bool any_new = false;
	int err;

	memset(out, 0, sizeof(*out));
	strlist_extend(&out->odd, &transport->odd);
	out->namesakes = transport_count_namesakes(transport);
	err = choose_items(&fetching, names, all);
	for (size_t i = 0; i < out->nr && !err && !any_new; i++)
		any_new = out->items[i].state == FETCH_NEW;
	if (any_new)
		err = fetch_new(&fetching);
	if (!err)
		err = read_records(out, transport->session->store);
	if (err)
		fetch_result_release(out);
	return err;
}

int fetch_checkpoints(struct fetch_result *out, struct session *session,
		      const struct remotes_item *remote, const struct strlist *names,
		      const struct fetch_opts *opts)
{
	struct transport transport;
	int err;

	memset(out, 0, sizeof(*out));
	scratch_sweep(session->store);
	err = transport_open(&transport, session, remote, opts->shown);
	if (!err)
		err = transport_refresh(&transport);
	if (!err)
		err = fetch_from(out, &transport, names, opts->all);
	transport_close(&transport);
	return err;
}

int fetch_list(struct ckpt_records *out, struct session *session)
{
	struct fetched_list list = { 0 };
	int err = session->store ? fetched_list(&list, session->store) : 0;

	memset(out, 0, sizeof(*out));
	out->items = xcalloc(list.nr + 1, sizeof(*out->items));
	for (size_t i = 0; i < list.nr && !err; i++) {
		err = record_read_fetched(&out->items[out->nr], session->store, &list.items[i]);
		if (!err)
			out->nr++;
		else if (err == CKPT_ECORRUPT)
			strlist_add(&out->damaged, ckpt_error_last());
		if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND)
			err = 0;
	}
	fetched_release(&list);
	if (err)
		lookup_records_release(out);
	return err;
}

/* --- doctor --- */

struct checking {
	struct session *session;
	struct store *store;
	struct problems *out;
	bool fix;
	progress_fn progress;
};

/* A damaged file is not about remotes alone, and told by who looks at the store. */
static int check_remotes(struct checking *checking)
{
	struct remotes remotes;
	json_t *member;
	int err = state_get(&member, checking->store, "version");
	char *what;

	json_decref(member);
	if (err)
		return err == CKPT_ECORRUPT ? 0 : err;
	err = remotes_read(&remotes, checking->store);
	what = err == CKPT_ECORRUPT ? xstrdup(ckpt_error_last()) : NULL;
	remotes_release(&remotes);
	if (!what)
		return err;
	what[strcspn(what, ";")] = '\0';
	err = checking->fix ? remotes_forget(checking->store) : 0;
	if (!err)
		problems_addf(checking->out, checking->fix, "%s%s", what,
			      checking->fix ? "; remotes have to be added again" : "");
	free(what);
	return err;
}

static int check_refs(struct checking *checking)
{
	struct strlist bad = STRLIST_INIT;
	int err = fetched_damaged(&bad, checking->store);

	for (size_t i = 0; i < bad.nr && !err; i++) {
		if (checking->fix && unlinkat(checking->store->dirfd, bad.items[i], 0) < 0)
			err = ckpt_error_errno("unable to remove '%s'", bad.items[i]);
		if (!err)
			problems_addf(checking->out, checking->fix, "'%s' leads to no checkpoint%s",
				      bad.items[i], checking->fix ? "; removed" : "");
	}
	strlist_release(&bad);
	return err;
}

static int check_item(struct checking *checking, struct verify *verify,
		      const struct fetched_item *item)
{
	struct verify_result result = { 0 };
	char *name = xstrfmt("%s/%s", item->machine, item->ref.id);
	int err = verify_checkpoint(&result, verify, &item->ref);

	if (!err && result.problems.nr) {
		if (checking->fix)
			err = fetched_remove(checking->store, item);
		if (!err)
			problems_addf(checking->out, checking->fix,
				      "'%s' of another machine is damaged: %s%s; 'git checkpoint fetch "
				      "%s' brings it again",
				      name, result.problems.items[0],
				      checking->fix ? "; removed" : "", name);
	}
	strlist_release(&result.problems);
	free(name);
	return err;
}

static int check_fetched(struct checking *checking)
{
	struct fetched_list list = { 0 };
	struct verify verify;
	int err = fetched_list(&list, checking->store);

	if (!err && list.nr)
		err = objects_reopen(checking->store);
	verify_begin(&verify, checking->session, checking->progress);
	for (size_t i = 0; i < list.nr && !err; i++)
		err = check_item(checking, &verify, &list.items[i]);
	verify_end(&verify);
	fetched_release(&list);
	return err;
}

static void check_scratch(struct checking *checking)
{
	size_t nr = scratch_count(checking->store);

	if (nr && checking->fix)
		scratch_sweep(checking->store);
	if (nr)
		problems_addf(checking->out, checking->fix,
			      "%zu unfinished %s left by a process that was killed%s", nr,
			      nr == 1 ? "transfer was" : "transfers were",
			      checking->fix ? "; removed" : "");
}

static int check_all(struct checking *checking)
{
	int err = check_remotes(checking);

	if (!err)
		err = check_refs(checking);
	if (!err)
		err = check_fetched(checking);
	if (!err)
		check_scratch(checking);
	return err;
}

int remote_check(struct problems *out, struct session *session, bool fix, progress_fn progress)
{
	struct checking checking = { session, session->store, out, fix, progress };
	size_t before = out->nr;
	int err = 0;

	if (!session->store)
		return 0;
	if (!fix)
		err = check_all(&checking);
	if (err || (!fix && out->nr == before))
		return err;
	/* Others may have removed meanwhile what seems to be damaged. */
	err = store_lock(session->store, session->settings.lock_timeout);
	if (!err) {
		problems_truncate(out, before);
		err = check_all(&checking);
		store_unlock(session->store);
	}
	/* Without the lock, what was found is all that can be said. */
	return fix || err == CKPT_ECANCELLED ? err : 0;
}
