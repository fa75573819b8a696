/* SPDX-License-Identifier: MIT */
#include "remote/push.h"

#include "base/base.h"
#include "git/git.h"
#include "keep/keep.h"
#include "record/record.h"
#include "remote/common_internal.h"
#include "remote/push_prune_internal.h"
#include "remote/pushed_internal.h"
#include "remote/remotes.h"
#include "remote/transport_internal.h"
#include "session/session.h"
#include "store/store.h"

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
	struct transport transport;
	const char *machine;
	char *project; /* what all refs of the project begin with there */
	char *prefix;  /* those of this machine */
	struct common common; /* what both sides have */
};

enum { AT_ONCE = 100 };

/* --- which ones --- */

static struct push_item *add(struct push_result *out)
{
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	memset(&out->items[out->nr], 0, sizeof(*out->items));
	out->items[out->nr].record = (struct ckpt_record)CKPT_RECORD_INIT;
	return &out->items[out->nr++];
}

static int add_named(struct pushing *pushing, const char *name)
{
	struct push_item *item = add(pushing->out);
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
		add(pushing->out)->record = records.items[i];
		records.items[i] = (struct ckpt_record)CKPT_RECORD_INIT;
	}
	lookup_records_release(&records);
	return err;
}

static int choose(struct pushing *pushing, const struct strlist *names)
{
	int err = 0;

	if (pushing->opts->all || pushing->opts->pinned)
		return add_many(pushing);
	for (size_t i = 0; i < names->nr && !err; i++)
		err = add_named(pushing, names->items[i]);
	return err || names->nr ? err : add_named(pushing, "@");
}

static int judge(struct pushing *pushing)
{
	bool many = pushing->opts->all || pushing->opts->pinned;
	int err = 0;

	for (size_t i = 0; i < pushing->out->nr && !err && !pushing->opts->force; i++) {
		struct push_item *item = &pushing->out->items[i];

		err = push_doubt(&item->why, pushing->session, &item->record);
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

/* Those in this state that the remote has. */
static void mark_there(struct pushing *pushing, const struct fetched_list *there,
		       enum push_state state)
{
	struct push_result *out = pushing->out;

	for (size_t i = 0; i < out->nr; i++) {
		const struct fetched_item *found =
			fetched_find(there, pushing->machine, out->items[i].record.id);

		if (out->items[i].state == state && found &&
		    oid_equal(&found->ref.commit, &out->items[i].record.commit))
			out->items[i].state = PUSH_THERE;
	}
}

/* What is there need not be sent, nor what both sides have. */
static int look_there(struct pushing *pushing)
{
	struct transport quiet = pushing->transport;
	struct fetched_list there = { 0 };
	int err;

	quiet.shown = false;
	err = transport_list(&there, NULL, &quiet, pushing->project);
	if (!err)
		err = common_find(&pushing->common, pushing->session->store, &there);
	if (!err)
		mark_there(pushing, &there, PUSH_SENT);
	fetched_release(&there);
	return err;
}

/* --- sending --- */

static struct push_item *find(struct push_result *out, const char *ref)
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
		item = find(out, to);
		if (item && *line == '=')
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
static void weigh(struct pushing *pushing)
{
	struct store *store = pushing->session->store;
	struct reach *reach = reach_new(store);

	(void)objects_open(store);
	for (size_t i = 0; i < pushing->common.nr; i++)
		(void)reach_add(reach, &pushing->common.commits[i], 0);
	for (size_t i = 0; i < pushing->out->nr; i++)
		if (pushing->out->items[i].state == PUSH_SENT)
			(void)reach_add(reach, &pushing->out->items[i].record.commit, 1);
	pushing->out->bytes = reach_bytes(reach, 1);
	reach_free(reach);
}

/* As long as they are sent, limits spare them. What has gone by now is not among them. */
static int hold_some(struct pushing *pushing, struct keepers_hold *holds, size_t from, size_t nr)
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

static int send_held(struct pushing *pushing, size_t from, size_t nr)
{
	static const char *const words[] = { "push", "--porcelain", "--no-verify", "--progress" };
	const char *args[ARRAY_SIZE(words) + 3 + AT_ONCE + 1] = { NULL };
	struct strlist specs = STRLIST_INIT;
	struct strbuf said = STRBUF_INIT, grafts = STRBUF_INIT;
	struct transport transport = pushing->transport;
	size_t at = ARRAY_SIZE(words);
	int err = 0;

	memcpy(args, words, sizeof(words));
	if (pushing->opts->dry_run)
		args[at++] = "--dry-run";
	args[at++] = "--";
	args[at++] = pushing->transport.remote->url;
	for (size_t i = from; i < from + nr; i++) {
		const struct ckpt_record *record = &pushing->out->items[i].record;
		char hex[OID_HEX + 1];

		if (pushing->out->items[i].state != PUSH_SENT)
			continue;
		strlist_addf(&specs, "%s:%s%s", oid_hex(hex, &record->commit), pushing->prefix,
			     record->id);
		common_graft(&grafts, &pushing->common, record);
	}
	transport.grafts = &grafts;
	for (size_t i = 0; i < specs.nr; i++)
		args[at++] = specs.items[i];
	if (specs.nr)
		err = transport_run(&said, &transport, args);
	read_answer(pushing->out, said.buf);
	/* Some of them may have been taken. */
	for (size_t i = from; i < from + nr && err == CKPT_ERROR; i++)
		if (pushing->out->items[i].state == PUSH_FAILED)
			err = 0;
	strbuf_release(&said);
	strbuf_release(&grafts);
	strlist_release(&specs);
	return err;
}

static int note(struct pushing *pushing, size_t from, size_t nr)
{
	struct strlist ids = STRLIST_INIT;
	int err;

	for (size_t i = from; i < from + nr && !pushing->opts->dry_run; i++)
		if (pushing->out->items[i].state == PUSH_SENT ||
		    pushing->out->items[i].state == PUSH_THERE)
			strlist_add(&ids, pushing->out->items[i].record.id);
	err = pushed_note(pushing->session, pushing->transport.remote->name, &ids);
	strlist_release(&ids);
	return err;
}

/* A command line, and a process for files that are open, has room for some only. */
static int send(struct pushing *pushing)
{
	size_t all = pushing->out->nr;
	int err = 0;

	for (size_t from = 0; from < all && !err; from += AT_ONCE) {
		size_t nr = all - from < AT_ONCE ? all - from : AT_ONCE;
		struct keepers_hold holds[AT_ONCE];

		for (size_t i = 0; i < nr; i++)
			holds[i] = (struct keepers_hold)KEEPERS_HOLD_INIT;
		err = hold_some(pushing, holds, from, nr);
		if (!err)
			err = send_held(pushing, from, nr);
		if (!err)
			err = note(pushing, from, nr);
		for (size_t i = 0; i < nr; i++)
			keepers_let_go(&holds[i]);
	}
	return err;
}

static size_t count_failed(const struct push_result *out)
{
	size_t failed = 0;

	for (size_t i = 0; i < out->nr; i++)
		failed += out->items[i].state == PUSH_FAILED;
	return failed;
}

static int find_there(struct pushing *pushing)
{
	struct fetched_list there = { 0 };
	int err = transport_list(&there, NULL, &pushing->transport, pushing->project);

	if (!err)
		mark_there(pushing, &there, PUSH_FAILED);
	fetched_release(&there);
	return err;
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

	for (int i = 0; i < LOOKS && !err && count_failed(pushing->out); i++) {
		if (i)
			(void)nanosleep(&pause, NULL);
		err = find_there(pushing);
	}
	return err;
}

static int begin(struct pushing *pushing)
{
	char *project;
	int err = transport_project(&project, pushing->session);

	if (err)
		return err;
	pushing->project = xstrfmt(TRANSPORT_REFS "%s/", project);
	pushing->prefix = xstrfmt("%s%s/", pushing->project, pushing->machine);
	free(project);
	return 0;
}

static void end(struct pushing *pushing)
{
	common_release(&pushing->common);
	free(pushing->project);
	free(pushing->prefix);
}

int push_checkpoints(struct push_result *out, struct session *session,
		     const struct remotes_item *remote, const struct strlist *names,
		     const struct push_opts *opts)
{
	struct pushing pushing = { .out = out, .session = session, .opts = opts,
				   .transport = { .session = session, .remote = remote,
						  .gitdir = session->store->path,
						  .shown = opts->shown } };
	char *machine = transport_machine(session);
	int err;

	memset(out, 0, sizeof(*out));
	pushing.machine = machine;
	err = begin(&pushing);
	if (!err)
		err = choose(&pushing, names);
	if (!err)
		err = judge(&pushing);
	if (!err)
		err = look_there(&pushing);
	if (!err) {
		weigh(&pushing);
		err = send(&pushing);
	}
	if (!err)
		err = look_at_failed(&pushing);
	/* What turned out to be there. */
	if (!err)
		err = note(&pushing, 0, out->nr);
	if (!err && opts->prune)
		err = push_prune(&out->pruned, session, remote, opts->dry_run);
	end(&pushing);
	free(machine);
	if (err)
		push_result_release(out);
	return err;
}
