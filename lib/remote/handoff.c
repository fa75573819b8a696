/* SPDX-License-Identifier: MIT */
#include "remote/handoff.h"

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "remote/remotes.h"
#include "remote/transport_internal.h"
#include "session/session.h"
#include "store/store.h"

struct handoff {
	struct session *session;
	struct scratch scratch;
	struct transport transport;
	char *ref;
};

static int ask(struct strbuf *out, const struct session *session, const char *const args[])
{
	const struct gitrun how = { .gitdir = session->repo->gitdir };
	int err = askgit(out, &how, args);

	strbuf_trim(out);
	return err;
}

/* What the project's branches are at, so that git need not transfer what they lead to. */
static int write_haves(struct handoff *handoff)
{
	const char *const args[] = { "for-each-ref", "--format=%(objecttype) %(objectname)",
				     "refs/heads", "refs/remotes", NULL };
	char *path = xstrfmt("%s/packed-refs", handoff->scratch.name), *line, *rest = NULL;
	struct strbuf answer = STRBUF_INIT, text = STRBUF_INIT;
	size_t nr = 0;
	int err = ask(&answer, handoff->session, args);

	strbuf_addstr(&text, "# pack-refs with: peeled fully-peeled sorted \n");
	for (line = err ? NULL : strtok_r(answer.buf, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, "commit ", 7))
			strbuf_addf(&text, "%s refs/have/%08zu\n", line + 7, nr++);
	if (!err)
		err = fs_write_file(handoff->session->store->dirfd, path, text.buf, text.len, 0600,
				    FS_FAST);
	strbuf_release(&answer);
	strbuf_release(&text);
	free(path);
	return err;
}

/* Where the history of a shallow clone ends, its objects do not tell. */
static int copy_shallow(struct handoff *handoff)
{
	char *from = xstrfmt("%s/shallow", handoff->session->repo->commondir);
	char *to = xstrfmt("%s/shallow", handoff->scratch.name);
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_text(&text, AT_FDCWD, from);

	if (!err)
		err = fs_write_file(handoff->session->store->dirfd, to, text.buf, text.len, 0600,
				    FS_FAST);
	strbuf_release(&text);
	free(from);
	free(to);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

static int begin(struct handoff *out, struct session *session, const struct remotes_item *remote,
		 const char *machine, const char *id)
{
	char *project = NULL, *objects;
	int err;

	*out = (struct handoff){ .session = session, .scratch = SCRATCH_INIT };
	err = transport_project(&project, session);
	if (err)
		return err;
	out->ref = xstrfmt(TRANSPORT_HEADS "%s/%s/%s", project, machine, id);
	objects = xstrfmt("%s/objects", session->repo->commondir);
	err = scratch_open(&out->scratch, session->store, session->repo->sha256);
	if (!err)
		err = askgit_check(session->repo->gitdir);
	if (!err)
		err = scratch_borrow(&out->scratch, objects);
	if (!err)
		err = copy_shallow(out);
	if (!err)
		err = write_haves(out);
	out->transport = (struct transport){ .session = session, .remote = remote,
					     .gitdir = out->scratch.path,
					     .limit = session->settings.max_fetch_size };
	free(objects);
	free(project);
	return err;
}

static void end(struct handoff *handoff)
{
	scratch_close(&handoff->scratch);
	free(handoff->ref);
}

static int is_published(bool *out, struct session *session, const char *commit)
{
	const char *const args[] = { "for-each-ref", "--count=1", "--contains", commit,
				     "refs/remotes", NULL };
	struct strbuf answer = STRBUF_INIT;
	int err = ask(&answer, session, args);

	*out = !err && answer.len;
	strbuf_release(&answer);
	return err;
}

int handoff_push_head(bool *sent, struct session *session, const struct remotes_item *remote,
		      const struct ckpt_record *record)
{
	const char *args[] = { "push", "--porcelain", "--no-verify", "--progress", "--", remote->url,
			       NULL, NULL };
	struct strbuf said = STRBUF_INIT;
	struct handoff handoff;
	bool published = false;
	char *machine, *spec;
	int err = 0;

	*sent = false;
	if (!session->repo || !record->head)
		return 0;
	err = is_published(&published, session, record->head);
	if (err || published)
		return err;
	machine = transport_machine(session);
	err = begin(&handoff, session, remote, machine, record->id);
	spec = xstrfmt("%s:%s", record->head, err ? "" : handoff.ref);
	args[6] = spec;
	if (!err)
		err = transport_run(&said, &handoff.transport, args);
	*sent = !err;
	end(&handoff);
	strbuf_release(&said);
	free(spec);
	free(machine);
	return err;
}

/* --- the other side --- */

static bool is_pack(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, ".pack");
}

/* Objects only: refs and HEAD are what the restore is for. */
static int into_project(struct handoff *handoff)
{
	const struct gitwrite how = { .repo = handoff->session->repo, .message = "" };
	char *dir = xstrfmt("%s/objects/pack", handoff->scratch.path);
	struct strlist names = STRLIST_INIT;
	int err = 0;

	(void)fs_names(&names, AT_FDCWD, dir, 0, is_pack);
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *path = xstrfmt("%s/%s", dir, names.items[i]);
		struct strbuf pack = STRBUF_INIT;

		err = fs_read_file(&pack, AT_FDCWD, path);
		if (!err)
			err = gitwrite_pack(&how, pack.buf, pack.len);
		strbuf_release(&pack);
		free(path);
	}
	strlist_release(&names);
	free(dir);
	return err;
}

static int has_commit(bool *out, const struct session *session, const char *commit)
{
	struct strlist wanted = STRLIST_INIT, missing = STRLIST_INIT;
	int err;

	strlist_add(&wanted, commit);
	err = gitwrite_missing(&missing, session->repo, &wanted);
	*out = !err && !missing.nr;
	strlist_release(&wanted);
	strlist_release(&missing);
	return err;
}

int handoff_fetch_head(bool *fetched, struct session *session, const struct remotes_item *remote,
		       const struct ckpt_record *record)
{
	const char *args[] = { "fetch", "--no-write-fetch-head", "--no-tags",
			       "--no-auto-maintenance", "--progress", "--refmap=", "--", remote->url,
			       NULL, NULL };
	struct strbuf said = STRBUF_INIT;
	struct handoff handoff;
	bool there = false, lacks;
	char *spec;
	int err = 0;

	*fetched = false;
	if (!session->repo || !record->head)
		return 0;
	err = has_commit(&there, session, record->head);
	if (err || there)
		return err;
	err = begin(&handoff, session, remote, record->machine, record->id);
	spec = xstrfmt("+%s:refs/incoming/head", err ? "" : handoff.ref);
	args[8] = spec;
	if (!err)
		err = transport_run(&said, &handoff.transport, args);
	lacks = err == CKPT_ERROR && strstr(said.buf, "couldn't find remote ref");
	if (!err)
		err = into_project(&handoff);
	if (!err)
		err = has_commit(&there, session, record->head);
	if (lacks || (!err && !there))
		err = ckpt_error_set(CKPT_ENOTFOUND,
				     "the project does not have the commit '%s', and the remote '%s' "
				     "does not, either; fetch it first",
				     record->head, remote->name);
	*fetched = !err;
	end(&handoff);
	strbuf_release(&said);
	free(spec);
	return err;
}

int handoff_machine(char **out, struct session *session, const struct remotes_item *remote,
		    const char *machine)
{
	struct transport transport = { .session = session, .remote = remote,
				       .gitdir = session->store->path };
	char *project = NULL, *prefix = NULL, *own = transport_machine(session);
	const struct fetched_item *newest = NULL;
	struct fetched_list there = { 0 };
	int err = transport_project(&project, session);

	if (!err) {
		prefix = xstrfmt(TRANSPORT_REFS "%s/", project);
		err = transport_list(&there, NULL, &transport, prefix);
	}
	for (size_t i = 0; i < there.nr && !err; i++) {
		const struct fetched_item *item = &there.items[i];

		if (machine ? !strcmp(item->machine, machine) : strcmp(item->machine, own) != 0)
			if (!newest || strcmp(item->ref.id, newest->ref.id) > 0)
				newest = item;
	}
	if (!err && !newest)
		err = ckpt_error_set(CKPT_ENOTFOUND, "the remote '%s' has nothing from %s%s%s",
				     remote->name, machine ? "the machine '" : "other machines",
				     machine ? machine : "", machine ? "'" : "");
	if (!err)
		*out = xstrdup(newest->machine);
	fetched_release(&there);
	free(project);
	free(prefix);
	free(own);
	return err;
}
