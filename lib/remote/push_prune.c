/* SPDX-License-Identifier: MIT */
#include "remote/push_prune_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "remote/push.h"
#include "remote/pushed_internal.h"
#include "remote/remotes.h"
#include "remote/transport_internal.h"
#include "session/session.h"
#include "store/store.h"

enum { AT_ONCE = 200 };

struct pruning {
	struct session *session;
	struct transport transport;
	const char *machine;
	const struct strlist *pushed; /* only those of them that are gone here; NULL: all */
	struct strlist ids;	      /* of checkpoints */
	struct strlist specs;	      /* what removes them, and what was handed off with them */
};

/* --- which ones --- */

static bool is_due(const struct pruning *pruning, const struct fetched_item *item)
{
	if (strcmp(item->machine, pruning->machine) != 0)
		return false;
	return !pruning->pushed || (pathset_has(pruning->pushed, item->ref.id) &&
				    !refs_exist(pruning->session->store, item->ref.id));
}

static int collect_below(struct pruning *pruning, const char *kind, const char *project,
			 struct strlist *ids)
{
	char *prefix = xstrfmt("%s%s/", kind, project);
	struct fetched_list there;
	int err = transport_list(&there, NULL, &pruning->transport, prefix);

	for (size_t i = 0; i < there.nr && !err; i++) {
		if (!is_due(pruning, &there.items[i]))
			continue;
		strlist_take(&pruning->specs, xstrfmt(":%s%s/%s", prefix, pruning->machine,
						      there.items[i].ref.id));
		if (ids)
			strlist_add(ids, there.items[i].ref.id);
	}
	fetched_release(&there);
	free(prefix);
	return err;
}

static int collect(struct pruning *pruning)
{
	char *project;
	int err = transport_project(&project, pruning->session);

	if (err)
		return err;
	strlist_release(&pruning->ids);
	strlist_release(&pruning->specs);
	err = collect_below(pruning, TRANSPORT_REFS, project, &pruning->ids);
	if (!err)
		err = collect_below(pruning, TRANSPORT_HEADS, project, NULL);
	free(project);
	return err;
}

/* --- removing them --- */

static int remove_some(struct pruning *pruning, size_t from, size_t nr)
{
	static const char *const words[] = { "push", "--porcelain", "--no-verify", "--" };
	const char *args[ARRAY_SIZE(words) + 1 + AT_ONCE + 1] = { NULL };
	struct strbuf said = STRBUF_INIT;
	size_t at = ARRAY_SIZE(words);
	int err;

	memcpy(args, words, sizeof(words));
	args[at++] = pruning->transport.remote->url;
	for (size_t i = 0; i < nr; i++)
		args[at++] = pruning->specs.items[from + i];
	err = transport_run(&said, &pruning->transport, args);
	strbuf_release(&said);
	return err;
}

static int remove_all(struct pruning *pruning)
{
	int err = 0;

	for (size_t i = 0; i < pruning->specs.nr && !err; i += AT_ONCE) {
		size_t left = pruning->specs.nr - i;

		err = remove_some(pruning, i, left < AT_ONCE ? left : AT_ONCE);
	}
	return err;
}

/* Git removes none if one of them is gone, since another process was quicker: look again. */
static int prune(struct strlist *out, struct pruning *pruning, bool dry_run)
{
	int err = collect(pruning);

	if (!err && !pruning->specs.nr && !pruning->pushed)
		err = ckpt_error_set(CKPT_ENOTFOUND, "the machine '%s' has nothing on '%s'",
				     pruning->machine, pruning->transport.remote->name);
	if (!err)
		strlist_extend(out, &pruning->ids);
	if (err || dry_run)
		return err;
	err = remove_all(pruning);
	if (err == CKPT_ERROR) {
		size_t before = pruning->specs.nr;
		char *kept = ckpt_error_keep();
		int again = collect(pruning);

		if (!again && pruning->specs.nr < before) {
			free(kept);
			return remove_all(pruning);
		}
		err = ckpt_error_put_back(err, kept);
	}
	return err;
}

static int run(struct strlist *out, struct pruning *pruning, bool dry_run)
{
	int err = prune(out, pruning, dry_run);

	strlist_release(&pruning->ids);
	strlist_release(&pruning->specs);
	return err;
}

int push_prune(struct strlist *out, struct session *session, const struct remotes_item *remote,
	       bool dry_run)
{
	char *machine = transport_machine(session);
	struct strlist pushed = STRLIST_INIT;
	struct pruning pruning = { .session = session, .machine = machine, .pushed = &pushed,
				   .transport = { .session = session, .remote = remote,
						  .gitdir = session->store->path } };
	int err = pushed_read(&pushed, session->store, remote->name);

	if (!err)
		err = run(out, &pruning, dry_run);
	strlist_release(&pushed);
	free(machine);
	return err;
}

int push_remove_machine(struct strlist *out, struct session *session,
			const struct remotes_item *remote, const char *machine, bool dry_run)
{
	struct pruning pruning = { .session = session, .machine = machine,
				   .transport = { .session = session, .remote = remote,
						  .gitdir = session->store->path } };

	return run(out, &pruning, dry_run);
}
