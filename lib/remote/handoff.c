/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "gitstate/gitstate.h"
#include "remote/transport_internal.h"
#include "session/session.h"

/* --- giving --- */

/* `published`: one of the project's remotes has the commit at HEAD with all that leads to it. */
static int check_doubt(bool *published, struct session *session, const struct ckpt_record *record,
		       bool force)
{
	char *why = NULL;
	int err = force ? 0 : push_doubt(&why, session, record, false);

	*published = true;
	if (!err && !why && session->repo && record->head)
		err = push_doubt_history(published, force ? NULL : &why, session, record->head);
	if (!err && why)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' was not handed off: %s; use --force if others may read that",
				     record->id, why);
	free(why);
	return err;
}

/* When all of it has arrived: whoever asks for the newest is to find it. */
static int announce(struct transport *transport, const struct oid *commit)
{
	static const char *const words[] = { "push", "--porcelain", "--no-verify", NULL };
	const char *const names[] = { transport->machine, TRANSPORT_EVERY };
	struct strlist specs = STRLIST_INIT;
	struct strbuf said = STRBUF_INIT;
	char hex[OID_HEX + 1];
	int err = transport->scratch.path ? 0 : transport_make_scratch(transport, true, false);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		strlist_addf(&specs, "+%s:" TRANSPORT_NEWEST "%s/%s",
			     oid_hex(hex, commit), transport->project, names[i]);
	if (!err)
		err = transport_run(&said, transport, words, &specs);
	strbuf_release(&said);
	strlist_release(&specs);
	return err;
}

int handoff_give(bool *head, struct session *session, const struct remotes_item *remote,
		 const struct ckpt_record *record, bool force, bool shown)
{
	const struct push_opts opts = { .force = true, .shown = shown };
	struct push_result result = { 0 };
	struct transport transport;
	struct strlist names = STRLIST_INIT;
	bool published;
	int err = check_doubt(&published, session, record, force);

	if (err)
		return err;
	*head = !published;
	if (*head && session->repo->sha256)
		return ckpt_error_set(CKPT_ERROR,
				      "the commit '%.12s' has a SHA-256 name, so it cannot go along with "
				      "a checkpoint; push it to a remote of the project first",
				      record->head);
	strlist_add(&names, record->id);
	err = transport_open(&transport, session, remote, shown);
	if (!err)
		err = push_to(&result, &transport, &names, &opts, *head ? record->head : NULL);
	if (!err && result.items[0].state == PUSH_FAILED)
		err = ckpt_error_set(CKPT_ERROR, "'%s' was not pushed: %s", record->id,
				     result.items[0].why);
	if (!err)
		err = announce(&transport, &result.items[0].sent);
	push_result_release(&result);
	transport_close(&transport);
	strlist_release(&names);
	return err;
}

/* --- taking --- */

static int refuse_nothing(const struct transport *transport, const char *machine, const char *why)
{
	return ckpt_error_set(CKPT_ENOTFOUND, "the remote '%s' has nothing from %s%s%s%s",
			      transport->remote->name,
			      machine ? "the machine '" : "other machines", machine ? machine : "",
			      machine ? "'" : "", why);
}

/* What the remote says was handed off last; clocks of different machines do not tell. */
static int choose_newest(const struct fetched_item **out, const struct transport *transport,
			 const char *machine)
{
	const char *name = machine ? machine : TRANSPORT_EVERY;
	const struct fetched_item *newest = fetched_find(&transport->newest, name, "");
	const struct fetched_list *there = &transport->there;

	if (!newest)
		return refuse_nothing(transport, machine, " that was handed off");
	for (size_t i = 0; i < there->nr; i++) {
		const struct fetched_item *item = &there->items[i];

		if (!oid_equal(&item->ref.commit, &newest->ref.commit) ||
		    (machine && strcmp(item->machine, machine) != 0))
			continue;
		if (!machine && !strcmp(item->machine, transport->machine))
			return refuse_nothing(
				transport, NULL,
				transport_count_namesakes(transport)
					? " since one with the name of this machine handed off; if that "
					  "was another one, give one of them another name: 'git "
					  "checkpoint config machine <name>'"
					: " since this machine handed off; name a machine to take over "
					  "from it all the same");
		*out = item;
		return 0;
	}
	return refuse_nothing(transport, machine,
			      ": what was handed off last has been removed there");
}

/* Fetched and verified. */
static int fetch_one(struct ckpt_record *out, struct transport *transport,
		     const struct fetched_item *wanted)
{
	struct strlist names = STRLIST_INIT;
	struct fetch_result result;
	int err;

	strlist_addf(&names, "%s/%s", wanted->machine, wanted->ref.id);
	err = fetch_from(&result, transport, &names, false);
	if (!err && result.items[0].state == FETCH_BAD)
		err = ckpt_error_set(CKPT_ERROR, "'%s' was refused: %s", names.items[0],
				     result.items[0].why);
	if (!err) {
		*out = result.items[0].record;
		result.items[0].record = (struct ckpt_record)CKPT_RECORD_INIT;
	}
	fetch_result_release(&result);
	strlist_release(&names);
	return err;
}

/* What the project's branches are at, so that git need not transfer what they lead to. */
static int write_haves(struct transport *transport)
{
	const char *const args[] = { "for-each-ref", "--format=%(objecttype) %(objectname)",
				     "refs/heads", "refs/remotes", NULL };
	const struct gitrun how = { .gitdir = transport->session->repo->gitdir };
	struct strlist commits = STRLIST_INIT;
	struct strbuf answer = STRBUF_INIT;
	char *line, *rest = NULL;
	int err = askgit(&answer, &how, args);

	for (line = err ? NULL : strtok_r(answer.buf, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, "commit ", 7))
			strlist_add(&commits, line + 7);
	if (!err)
		err = transport_write_haves(&transport->scratch, &commits);
	strlist_release(&commits);
	strbuf_release(&answer);
	return err;
}

static bool is_pack(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, ".pack");
}

/* Objects only: refs and HEAD are what the restore is for. */
static int move_into_project(struct transport *transport)
{
	const struct gitwrite how = { .repo = transport->session->repo, .message = "" };
	char *dir = xstrfmt("%s/objects/pack", transport->scratch.path);
	struct strlist names = STRLIST_INIT;
	int err = 0;

	(void)fs_names(&names, AT_FDCWD, dir, 0, is_pack);
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *path = xstrfmt("%s/%s", dir, names.items[i]);
		struct map pack = map_file(AT_FDCWD, path);

		err = pack.data ? gitwrite_pack(&how, pack.data, pack.size, true)
				: ckpt_error_errno("unable to read '%s'", path);
		map_release(&pack);
		free(path);
	}
	strlist_release(&names);
	free(dir);
	return err;
}

/* HEAD's own is there, or nothing works. */
static int has_commit(bool *out, const struct session *session, const char *commit)
{
	struct repo_state now = { 0 };

	*out = !repo_read_state(&now, session->repo) && now.head && !strcmp(now.head, commit);
	repo_state_release(&now);
	return *out ? 0 : gitwrite_has(out, session->repo, commit);
}

static int fetch_head(struct transport *transport, const struct ckpt_record *record)
{
	static const char *const words[] = { "fetch", "--no-write-fetch-head", "--no-tags",
					     "--no-auto-maintenance", "--progress", "--refmap=",
					     NULL };
	struct strlist specs = STRLIST_INIT;
	struct strbuf said = STRBUF_INIT;
	bool there = false;
	int err = transport_make_scratch(transport, false, true);

	if (!err)
		err = write_haves(transport);
	transport->limit = transport->session->settings.max_fetch_size;
	strlist_addf(&specs, "+" TRANSPORT_HEADS "%s/%s/%s:refs/incoming/head", transport->project,
		     record->machine, record->id);
	if (!err)
		err = transport_run(&said, transport, words, &specs);
	if (!err)
		err = move_into_project(transport);
	if (!err)
		err = has_commit(&there, transport->session, record->head);
	strlist_release(&specs);
	strbuf_release(&said);
	return err ? err : there ? 0 : CKPT_ENOTFOUND;
}

static int bring_head(bool *fetched, struct transport *transport, const struct ckpt_record *record)
{
	bool there = true;
	int err = 0;

	if (transport->session->repo && record->head)
		err = has_commit(&there, transport->session, record->head);
	*fetched = !err && !there;
	if (err || there)
		return err;
	err = fetched_find(&transport->heads, record->machine, record->id)
		      ? fetch_head(transport, record)
		      : CKPT_ENOTFOUND;
	return err != CKPT_ENOTFOUND
		       ? err
		       : ckpt_error_set(err,
					"the project does not have the commit '%s', and the remote "
					"'%s' does not, either; fetch it first",
					record->head, transport->remote->name);
}

int handoff_take(struct ckpt_record *out, bool *head, struct session *session,
		 const struct remotes_item *remote, const char *machine, bool shown)
{
	const struct fetched_item *newest = NULL;
	struct transport transport;
	int err;

	scratch_sweep(session->store);
	err = transport_open(&transport, session, remote, shown);
	if (!err)
		err = transport_refresh(&transport);
	if (!err)
		err = choose_newest(&newest, &transport, machine);
	if (!err)
		err = fetch_one(out, &transport, newest);
	if (!err)
		err = bring_head(head, &transport, out);
	transport_close(&transport);
	return err;
}
