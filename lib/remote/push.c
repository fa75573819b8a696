/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "keep/keep.h"
#include "remote/transport_internal.h"
#include "session/session.h"

void push_result_release(struct push_result *result)
{
	for (size_t i = 0; i < result->nr; i++) {
		record_release(&result->items[i].record);
		free(result->items[i].why);
	}
	free(result->items);
	strlist_release(&result->pruned);
	memset(result, 0, sizeof(*result));
}

struct pushing {
	struct push_result *out;
	struct session *session;
	const struct push_opts *opts;
	struct transport *transport;
};

enum { AT_ONCE = 100 };

/* --- which ones --- */

static struct push_item *add_item(struct push_result *out)
{
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	memset(&out->items[out->nr], 0, sizeof(*out->items));
	out->items[out->nr].record = (struct ckpt_record)CKPT_RECORD_INIT;
	return &out->items[out->nr++];
}

static int add_named(struct pushing *pushing, const char *name)
{
	struct push_item *item = add_item(pushing->out);
	int err = session_lookup(&item->record, pushing->session->store, name);

	if (!err && item->record.machine)
		err = ckpt_error_set(CKPT_ERROR, "'%s' is a checkpoint of the machine '%s'", name,
				     item->record.machine);
	return err;
}

static int add_many(struct pushing *pushing)
{
	struct ckpt_records records;
	int err = lookup_records(&records, pushing->session->store);

	for (size_t i = 0; i < records.nr && !err; i++) {
		if (records.items[i].safety || (pushing->opts->pinned && !records.items[i].pinned))
			continue;
		add_item(pushing->out)->record = records.items[i];
		records.items[i] = (struct ckpt_record)CKPT_RECORD_INIT;
	}
	lookup_records_release(&records);
	return err;
}

static int choose_items(struct pushing *pushing, const struct strlist *names)
{
	int err = 0;

	if (pushing->opts->all || pushing->opts->pinned)
		return add_many(pushing);
	for (size_t i = 0; i < names->nr && !err; i++)
		err = add_named(pushing, names->items[i]);
	return err || names->nr ? err : add_named(pushing, "@");
}

static int judge_items(struct pushing *pushing)
{
	bool many = pushing->opts->all || pushing->opts->pinned;
	int err = 0;

	for (size_t i = 0; i < pushing->out->nr && !err && !pushing->opts->force; i++) {
		struct push_item *item = &pushing->out->items[i];

		err = push_doubt(&item->why, pushing->session, &item->record,
				 pushing->opts->prompts);
		if (err || !item->why)
			continue;
		item->state = PUSH_REFUSED;
		if (!many)
			err = ckpt_error_set(CKPT_EREFUSED,
					     "'%s' %s pushed: %s; use --force if others may read that",
					     item->record.id,
					     pushing->opts->dry_run ? "would not be" : "was not",
					     item->why);
	}
	return err;
}

/* Whatever there is to hide, what was sent before is not unsaid: then it is there, too. */
static void choose_commits(struct pushing *pushing)
{
	for (size_t i = 0; i < pushing->out->nr; i++) {
		struct push_item *item = &pushing->out->items[i];

		item->sent = pushing->opts->prompts
				     ? item->record.commit
				     : transport_bare_commit(pushing->transport, &item->record);
	}
}

/* Those in this state that the remote has. */
static void mark_there(struct pushing *pushing, enum push_state state)
{
	const struct transport *transport = pushing->transport;
	struct push_result *out = pushing->out;

	for (size_t i = 0; i < out->nr; i++) {
		const struct fetched_item *found = fetched_find(
			&transport->there, transport->machine, out->items[i].record.id);

		if (out->items[i].state == state && found &&
		    (oid_equal(&found->ref.commit, &out->items[i].record.commit) ||
		     oid_equal(&found->ref.commit, &out->items[i].sent))) {
			out->items[i].state = PUSH_THERE;
			out->items[i].sent = found->ref.commit;
		}
	}
}

/* --- sending --- */

static struct push_item *find_item(struct push_result *out, const char *ref)
{
	const char *slash = strrchr(ref, '/');

	for (size_t i = 0; slash && i < out->nr; i++)
		if (!strcmp(out->items[i].record.id, slash + 1))
			return &out->items[i];
	return NULL;
}

/* "<flag>\t<from>:<to>\t<summary>" of --porcelain. */
static void read_answer(struct push_result *out, const char *said)
{
	for (const char *line = said; *line; line += strcspn(line, "\r\n")) {
		struct push_item *item;
		const char *colon, *tab;
		char *to;

		line += strspn(line, "\r\n");
		if (!*line || !strchr(" +-*!=", *line) || line[1] != '\t' ||
		    !(colon = strchr(line, ':')) || !(tab = strchr(colon, '\t')))
			continue;
		to = xmemdupz(colon + 1, (size_t)(tab - colon - 1));
		item = find_item(out, to);
		if (item && *line == '=' && !strncmp(to, TRANSPORT_REFS, strlen(TRANSPORT_REFS)))
			item->state = PUSH_THERE;
		if (item && *line == '!') {
			item->state = PUSH_FAILED;
			free(item->why);
			item->why = xmemdupz(tab + 1, strcspn(tab + 1, "\r\n"));
		}
		free(to);
	}
}

/* What the other side does not have; of files that changed a little, git will send less. */
static void weigh_items(struct pushing *pushing)
{
	struct store *store = pushing->session->store;
	struct reach *reach = reach_new(store);

	(void)objects_open(store);
	for (size_t i = 0; i < pushing->transport->common_nr; i++)
		(void)reach_add(reach, &pushing->transport->common[i], 0);
	for (size_t i = 0; i < pushing->out->nr; i++)
		if (pushing->out->items[i].state == PUSH_SENT)
			(void)reach_add(reach, &pushing->out->items[i].record.commit, 1);
	pushing->out->bytes = reach_bytes(reach, 1);
	reach_free(reach);
}

/* As long as they are sent, limits spare them. What has gone by now is not among them. */
static int hold_items(struct pushing *pushing, struct keepers_hold *holds, size_t from, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct push_item *item = &pushing->out->items[from + i];

		if (item->state != PUSH_SENT)
			continue;
		err = keepers_hold(&holds[i], pushing->session->store, item->record.id);
		if (err != CKPT_ENOTFOUND || pushing->out->nr == 1)
			continue;
		item->state = PUSH_FAILED;
		item->why = xstrdup(ckpt_error_last());
		err = 0;
	}
	return err;
}

/* The commit of the project comes first: whoever sees the checkpoint must find it. */
static void list_specs(struct strlist *out, const struct pushing *pushing, size_t from, size_t nr,
		       const char *head)
{
	const struct transport *transport = pushing->transport;
	const char *project = transport->project, *machine = transport->machine;

	if (head)
		strlist_addf(out, "%s:" TRANSPORT_HEADS "%s/%s/%s", head, project, machine,
			     pushing->out->items[from].record.id);
	for (size_t i = from; i < from + nr; i++) {
		const struct ckpt_record *record = &pushing->out->items[i].record;
		char hex[OID_HEX + 1];

		if (pushing->out->items[i].state == PUSH_SENT)
			strlist_addf(out, "%s%s:" TRANSPORT_REFS "%s/%s/%s",
				     pushing->opts->prompts && record->agent.prompt ? "+" : "",
				     oid_hex(hex, &pushing->out->items[i].sent), project, machine,
				     record->id);
	}
}

static int send_held(struct pushing *pushing, size_t from, size_t nr, const char *head)
{
	static const char *const words[] = { "push", "--porcelain", "--no-verify", "--progress",
					     NULL };
	static const char *const dry[] = { "push", "--porcelain", "--no-verify", "--progress",
					   "--dry-run", NULL };
	struct strlist specs = STRLIST_INIT;
	struct strbuf said = STRBUF_INIT;
	int err = transport_graft(pushing->transport, pushing->out->items + from, nr);

	list_specs(&specs, pushing, from, nr, head);
	if (!err && specs.nr)
		err = transport_run(&said, pushing->transport, pushing->opts->dry_run ? dry : words,
				    &specs);
	read_answer(pushing->out, said.buf);
	/* Some of them may have been taken. One that needs a commit needs both. */
	for (size_t i = from; i < from + nr && err == CKPT_ERROR && !head; i++)
		if (pushing->out->items[i].state == PUSH_FAILED)
			err = 0;
	strbuf_release(&said);
	strlist_release(&specs);
	return err;
}

/* A command line, and a process for files that are open, has room for some only. */
static int send_all(struct pushing *pushing, const char *head)
{
	size_t all = pushing->out->nr;
	int err = transport_make_scratch(pushing->transport, true, head != NULL);

	for (size_t from = 0; from < all && !err; from += AT_ONCE) {
		size_t nr = all - from < AT_ONCE ? all - from : AT_ONCE;
		struct keepers_hold holds[AT_ONCE];

		for (size_t i = 0; i < nr; i++)
			holds[i] = (struct keepers_hold)KEEPERS_HOLD_INIT;
		err = hold_items(pushing, holds, from, nr);
		if (!err)
			err = send_held(pushing, from, nr, from ? NULL : head);
		for (size_t i = 0; i < nr; i++)
			keepers_let_go(&holds[i]);
	}
	return err;
}

static size_t count_items(const struct push_result *out, enum push_state state)
{
	size_t nr = 0;

	for (size_t i = 0; i < out->nr; i++)
		nr += out->items[i].state == state;
	return nr;
}

/*
 * Another push of the same machine may have been quicker: what it brought is there, or will be in a
 * moment, if it holds the lock of a ref.
 */
static int look_at_failed(struct pushing *pushing)
{
	enum { LOOKS = 3 };
	const struct timespec pause = { .tv_nsec = 200000000 };
	int err = 0;

	for (int i = 0; i < LOOKS && !err && count_items(pushing->out, PUSH_FAILED); i++) {
		if (i)
			(void)nanosleep(&pause, NULL);
		err = transport_refresh(pushing->transport);
		if (!err)
			mark_there(pushing, PUSH_FAILED);
	}
	return err;
}

/* --- removing --- */

struct pruning {
	struct transport *transport;
	const char *machine;
	const struct strlist *removed; /* only those of them that are gone here; NULL: all */
	struct strlist ids;	       /* of checkpoints */
	struct strlist specs;	       /* what removes them, and what was handed off with them */
};

static bool is_due(const struct pruning *pruning, const struct fetched_item *item)
{
	struct store *store = pruning->transport->session->store;

	if (strcmp(item->machine, pruning->machine) != 0)
		return false;
	return !pruning->removed ||
	       (pathset_has(pruning->removed, item->ref.id) && !refs_exist(store, item->ref.id));
}

/* What tells of a handoff that goes. */
static bool is_newest_due(const struct pruning *pruning, const struct fetched_item *newest)
{
	const struct fetched_list *there = &pruning->transport->there;

	if (!pruning->removed && !strcmp(newest->machine, pruning->machine))
		return true;
	for (size_t i = 0; i < there->nr; i++)
		if (oid_equal(&there->items[i].ref.commit, &newest->ref.commit) &&
		    is_due(pruning, &there->items[i]))
			return true;
	return false;
}

static void list_due(struct pruning *pruning)
{
	const struct transport *transport = pruning->transport;

	strlist_release(&pruning->ids);
	strlist_release(&pruning->specs);
	for (size_t i = 0; i < transport->there.nr; i++)
		if (is_due(pruning, &transport->there.items[i])) {
			const char *id = transport->there.items[i].ref.id;

			strlist_add(&pruning->ids, id);
			strlist_addf(&pruning->specs, ":" TRANSPORT_REFS "%s/%s/%s",
				     transport->project, pruning->machine, id);
		}
	for (size_t i = 0; i < transport->heads.nr; i++)
		if (is_due(pruning, &transport->heads.items[i]))
			strlist_addf(&pruning->specs, ":" TRANSPORT_HEADS "%s/%s/%s",
				     transport->project, pruning->machine,
				     transport->heads.items[i].ref.id);
	for (size_t i = 0; i < transport->newest.nr; i++)
		if (is_newest_due(pruning, &transport->newest.items[i]))
			strlist_addf(&pruning->specs, ":" TRANSPORT_NEWEST "%s/%s",
				     transport->project, transport->newest.items[i].machine);
}

/* What git says of them, in pieces that fit on a command line. */
static int remove_due(struct pruning *pruning)
{
	static const char *const words[] = { "push", "--porcelain", "--no-verify", NULL };
	int err = 0;

	for (size_t from = 0; from < pruning->specs.nr && !err; from += AT_ONCE) {
		struct strlist some = STRLIST_INIT;
		struct strbuf said = STRBUF_INIT;

		for (size_t i = from; i < pruning->specs.nr && i < from + AT_ONCE; i++)
			strlist_add(&some, pruning->specs.items[i]);
		err = transport_run(&said, pruning->transport, words, &some);
		strbuf_release(&said);
		strlist_release(&some);
	}
	return err;
}

/* Git removes none if one of them is gone, since another process was quicker: look again. */
static int remove_or_retry(struct pruning *pruning)
{
	size_t before = pruning->specs.nr;
	int err = remove_due(pruning), again;
	char *kept;

	if (err != CKPT_ERROR)
		return err;
	kept = ckpt_error_keep();
	again = transport_refresh(pruning->transport);
	if (!again)
		list_due(pruning);
	if (again || pruning->specs.nr >= before)
		return ckpt_error_put_back(err, kept);
	free(kept);
	return remove_due(pruning);
}

/* What is due was listed. */
static int remove_listed(struct pruning *pruning)
{
	struct transport *transport = pruning->transport;
	int err = 0;

	if (pruning->specs.nr && !transport->scratch.path)
		err = transport_make_scratch(transport, true, false);
	return err ? err : remove_or_retry(pruning);
}

/* What is there may be all that is left of them. */
static int check_nothing_lost(struct store *store, const char *remote)
{
	struct ref_list refs;
	int err = refs_list(&refs, store);
	size_t lost = err ? 0 : lost_count(store, &refs);

	refs_release(&refs);
	if (lost)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "nothing is removed from '%s' while checkpoints of this store are "
				     "lost (%zu); 'git checkpoint doctor --fix' brings them back",
				     remote, lost);
	return err;
}

static int prune_removed(struct pushing *pushing)
{
	struct strlist removed = STRLIST_INIT;
	struct pruning pruning = { .transport = pushing->transport,
				   .machine = pushing->transport->machine, .removed = &removed };
	int err = audit_removed(&removed, pushing->session->store);

	if (!err)
		list_due(&pruning);
	strlist_extend(&pushing->out->pruned, &pruning.ids);
	if (!err && !pushing->opts->dry_run)
		err = remove_listed(&pruning);
	strlist_release(&pruning.ids);
	strlist_release(&pruning.specs);
	strlist_release(&removed);
	return err;
}

int push_remove_machine(struct strlist *out, struct session *session,
			const struct remotes_item *remote, const char *machine,
			push_confirm_fn confirm)
{
	struct transport transport;
	struct pruning pruning = { .transport = &transport, .machine = machine };
	int err = transport_open(&transport, session, remote, false);

	if (!err)
		err = transport_refresh(&transport);
	if (!err)
		list_due(&pruning);
	if (!err && !pruning.specs.nr)
		err = ckpt_error_set(CKPT_ENOTFOUND, "the machine '%s' has nothing on '%s'", machine,
				     remote->name);
	strlist_extend(out, &pruning.ids);
	if (!err)
		err = confirm(out, remote->name, machine);
	if (!err)
		err = remove_listed(&pruning);
	strlist_release(&pruning.ids);
	strlist_release(&pruning.specs);
	transport_close(&transport);
	return err;
}

/* --- all of it --- */

int push_to(struct push_result *out, struct transport *transport, const struct strlist *names,
	    const struct push_opts *opts, const char *head)
{
	struct pushing pushing = { .out = out, .session = transport->session, .opts = opts,
				   .transport = transport };
	int err;

	memset(out, 0, sizeof(*out));
	err = opts->prune ? check_nothing_lost(pushing.session->store, transport->remote->name) : 0;
	if (!err)
		err = choose_items(&pushing, names);
	if (!err)
		err = judge_items(&pushing);
	/* What is there need not be sent, nor what both sides have. */
	if (!err)
		err = transport_refresh(transport);
	if (!err)
		err = transport_find_common(transport);
	if (!err) {
		choose_commits(&pushing);
		mark_there(&pushing, PUSH_SENT);
		weigh_items(&pushing);
		if (head || count_items(out, PUSH_SENT))
			err = send_all(&pushing, head);
	}
	if (!err)
		err = look_at_failed(&pushing);
	if (!err && opts->prune)
		err = prune_removed(&pushing);
	if (err)
		push_result_release(out);
	return err;
}

int push_checkpoints(struct push_result *out, struct session *session,
		     const struct remotes_item *remote, const struct strlist *names,
		     const struct push_opts *opts)
{
	struct transport transport;
	int err = transport_open(&transport, session, remote, opts->shown);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = push_to(out, &transport, names, opts, NULL);
	transport_close(&transport);
	return err;
}
