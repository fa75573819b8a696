/* SPDX-License-Identifier: MIT */
#include "remote/transport_internal.h"

#include "remote/incoming_internal.h"
#include "session/session.h"
#include "settings/settings.h"

/* Of what both sides have; each has nearly all that the others have. */
enum { COMMON_MAX = 8 };

/* --- names --- */

static int refuse_nameless(const char *why)
{
	return ckpt_error_set(CKPT_ERROR,
			      "%s, so nothing tells which project this is; name it: 'git checkpoint "
			      "config project <name>'",
			      why);
}

static bool is_shallow(const struct repo *repo)
{
	char *path = xstrfmt("%s/shallow", repo->commondir);
	struct stat st;
	bool shallow = !stat(path, &st) && st.st_size;

	free(path);
	return shallow;
}

static int find_root(char **out, const struct repo *repo)
{
	const char *const roots[] = { "rev-list", "--max-parents=0", "HEAD", NULL };
	const struct gitrun how = { .gitdir = repo->gitdir };
	struct strbuf answer = STRBUF_INIT;
	const char *least = NULL;
	char *line, *rest = NULL;
	int err = 0;

	if (is_shallow(repo))
		err = refuse_nameless("the repository is a shallow clone");
	else if (askgit(&answer, &how, roots) || !answer.len)
		err = refuse_nameless("the repository has no commit yet");
	for (line = err ? NULL : strtok_r(answer.buf, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!least || strcmp(line, least) < 0)
			least = line;
	if (!err)
		*out = xstrdup(least);
	strbuf_release(&answer);
	return err;
}

static int find_project(char **out, const struct session *session)
{
	if (session->settings.project) {
		*out = xstrdup(session->settings.project);
		return 0;
	}
	return session->repo ? find_root(out, session->repo)
			     : refuse_nameless("this folder is not in a git repository");
}

static char *find_machine(const struct session *session)
{
	char host[HOST_NAME_MAX + 1] = "";
	size_t nr = 0;

	if (session->settings.machine)
		return xstrdup(session->settings.machine);
	(void)gethostname(host, sizeof(host) - 1);
	/* Not all that a host may be called can be part of a ref. */
	for (const char *p = host; *p && *p != '.' && nr < SETTING_NAME_MAX; p++)
		if (isalnum((unsigned char)*p) || *p == '_' || (*p == '-' && nr))
			host[nr++] = (char)tolower((unsigned char)*p);
	host[nr] = '\0';
	return xstrdup(setting_name_valid(host) ? host : "machine");
}

/* --- running git --- */

static bool was_cancelled(void *payload UNUSED)
{
	return cancel_check() != 0;
}

/* What git says about refs is for us: people know checkpoints, not the refs that hold them. */
static bool is_about_refs(const char *line)
{
	return !strncmp(line, "To ", 3) || !strncmp(line, "From ", 5) || !strcmp(line, "Done\n") ||
	       (strchr(" *+-=!", *line) && strstr(line, "refs/"));
}

struct listening {
	struct strbuf line;
	const char *url;
};

/* Part of it is what the other side says, to which the terminal must not listen. */
static void show_line(const struct listening *listening)
{
	char *text = remotes_hide(listening->line.buf, listening->url);
	struct strbuf clean = STRBUF_INIT;

	utf8_printable(&clean, text, strlen(text), "\r\n\t", '?');
	(void)fs_write_all(STDERR_FILENO, clean.buf, clean.len);
	strbuf_release(&clean);
	free(text);
}

static void show_progress(const char *data, size_t len, void *payload)
{
	struct listening *listening = payload;
	struct strbuf *line = &listening->line;

	for (size_t i = 0; i < len; i++) {
		strbuf_addch(line, data[i]);
		if (data[i] != '\n' && data[i] != '\r')
			continue;
		if (!is_about_refs(line->buf))
			show_line(listening);
		strbuf_reset(line);
	}
}

/* "!\t<from>:<to>\t<summary>" of --porcelain: why the other side did not take a ref. */
static char *find_rejection(const char *said)
{
	const char *line = strncmp(said, "!\t", 2) ? strstr(said, "\n!\t") : said;
	const char *tab = line ? strchr(line + 3, '\t') : NULL;

	return tab ? xmemdupz(tab + 1, strcspn(tab + 1, "\r\n")) : NULL;
}

/* The line that says why: git's first one that begins like this. */
static char *find_reason(const char *said)
{
	static const char *const kinds[] = { "fatal: ", "error: ", "remote: ", "ERROR: " };
	const char *best = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !best; i++)
		for (const char *p = strstr(said, kinds[i]); p && !best;
		     p = strstr(p + 1, kinds[i]))
			if (p == said || p[-1] == '\n' || p[-1] == '\r')
				best = p + strlen(kinds[i]);
	return best ? xmemdupz(best, strcspn(best, "\r\n")) : NULL;
}

static int run_git(struct strbuf *out, struct transport *transport, const char *gitdir, bool shown,
		   const char *const args[])
{
	struct listening listening = { STRBUF_INIT, transport->remote->url };
	const struct gitrun how = {
		.profile = GITRUN_TRANSPORT,
		.lost = &transport->lost,
		.gitdir = gitdir,
		.told = true,
		.patience = (double)transport->session->settings.remote_timeout,
		.stop = was_cancelled,
		.heard = shown ? show_progress : NULL,
		.payload = &listening,
		.file_limit = transport->limit,
	};
	int err = gitrun(out, &how, args);
	char *why, *clean;

	strbuf_release(&listening.line);
	if (err != CKPT_ERROR)
		return err == CKPT_ELOCKED ? cancel_check() : err;
	why = transport->lost ? NULL : find_rejection(out->buf);
	if (!why && !transport->lost)
		why = find_reason(out->buf);
	clean = remotes_hide(why ? why : ckpt_error_last(), transport->remote->url);
	err = ckpt_error_set(err, "remote '%s': %s", transport->remote->name, clean);
	free(clean);
	free(why);
	return err;
}

int transport_run(struct strbuf *out, struct transport *transport, const char *const words[],
		  const struct strlist *specs)
{
	const char **args;
	size_t nr = 0;
	int err;

	while (words[nr])
		nr++;
	args = xcalloc(nr + specs->nr + 3, sizeof(*args));
	memcpy(args, words, nr * sizeof(*args));
	args[nr++] = "--";
	args[nr++] = transport->remote->url;
	for (size_t i = 0; i < specs->nr; i++)
		args[nr++] = specs->items[i];
	err = run_git(out, transport, transport->gitdir ? transport->gitdir : transport->scratch.path,
		      transport->shown, args);
	free(args);
	return err;
}

/* --- what is there --- */

int transport_refresh(struct transport *transport)
{
	char *refs = xstrfmt(TRANSPORT_REFS "%s/", transport->project);
	char *heads = xstrfmt(TRANSPORT_HEADS "%s/", transport->project);
	char *newest = xstrfmt(TRANSPORT_NEWEST "%s/", transport->project);
	const struct {
		struct fetched_list *list;
		const char *prefix;
		struct strlist *odd;
	} kinds[] = { { &transport->there, refs, &transport->odd },
		      { &transport->heads, heads, NULL },
		      { &transport->newest, newest, NULL } };
	struct strlist patterns = STRLIST_INIT;
	struct strbuf answer = STRBUF_INIT;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		strlist_addf(&patterns, "%s*", kinds[i].prefix);
	err = run_git(&answer, transport, transport->session->store->path, false,
		      (const char *const[]){ "ls-remote", "--refs", "--", transport->remote->url,
					     patterns.items[0], patterns.items[1],
					     patterns.items[2], NULL });
	strlist_release(&transport->odd);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		fetched_release(kinds[i].list);
		if (!err)
			err = incoming_parse_refs(kinds[i].list, kinds[i].odd, answer.buf,
						  answer.len, kinds[i].prefix);
	}
	strlist_release(&patterns);
	strbuf_release(&answer);
	free(refs);
	free(heads);
	free(newest);
	return err;
}

bool transport_is_newest(const struct fetched_list *there, size_t at)
{
	return at + 1 == there->nr ||
	       strcmp(there->items[at].machine, there->items[at + 1].machine) != 0;
}

int transport_open(struct transport *out, struct session *session, const struct remotes_item *remote,
		   bool shown)
{
	*out = (struct transport){ .session = session, .remote = remote, .shown = shown,
				   .machine = find_machine(session), .scratch = SCRATCH_INIT };
	return find_project(&out->project, session);
}

void transport_close(struct transport *transport)
{
	scratch_close(&transport->scratch);
	fetched_release(&transport->there);
	fetched_release(&transport->heads);
	fetched_release(&transport->newest);
	strlist_release(&transport->odd);
	free(transport->project);
	free(transport->machine);
	free(transport->common);
	for (size_t i = 0; i < transport->bare_nr; i++)
		strbuf_release(&transport->bare[i].text);
	free(transport->bare);
	memset(transport, 0, sizeof(*transport));
	transport->scratch.lock = -1;
}

size_t transport_count_namesakes(const struct transport *transport)
{
	struct store *store = transport->session->store;
	struct strlist known = STRLIST_INIT;
	json_t *log = NULL, *entry;
	size_t i, nr = 0;

	if (audit_read(&log, store, 0))
		return 0;
	json_array_foreach(log, i, entry)
	{
		const char *id = json_string_value(json_object_get(entry, "id"));

		if (id)
			strlist_add(&known, id);
	}
	strlist_sort_unique(&known);
	for (i = 0; i < transport->there.nr; i++) {
		const struct fetched_item *item = &transport->there.items[i];

		nr += !strcmp(item->machine, transport->machine) &&
		      !pathset_has(&known, item->ref.id) && !refs_exist(store, item->ref.id);
	}
	strlist_release(&known);
	json_decref(log);
	return nr;
}

/* --- what others get --- */

struct oid transport_bare_commit(struct transport *transport, const struct ckpt_record *record)
{
	struct transport_bare bare = { .text = STRBUF_INIT };
	struct digest *sha1;

	if (!record->agent.prompt)
		return record->commit;
	record_encode_bare(&bare.text, record);
	sha1 = hash_new(HASH_SHA1);
	hash_object(sha1, &bare.oid, "commit", bare.text.buf, bare.text.len);
	hash_free(sha1);
	ALLOC_GROW(transport->bare, transport->bare_nr + 1, transport->bare_alloc);
	transport->bare[transport->bare_nr++] = bare;
	return bare.oid;
}

int transport_lend_bare(const struct transport *transport, struct scratch *scratch)
{
	int err = 0;

	for (size_t i = 0; i < transport->bare_nr && !err; i++)
		err = scratch_add_commit(scratch, &transport->bare[i].oid, &transport->bare[i].text);
	return err;
}

/* --- what both sides have --- */

/* Sent without its prompt. */
static bool is_bare(struct transport *transport, const struct ref_item *ref, const struct oid *there)
{
	struct ckpt_record record;
	struct oid commit;

	if (record_read_saved(&record, transport->session->store, ref))
		return false;
	commit = transport_bare_commit(transport, &record);
	record_release(&record);
	return oid_equal(&commit, there);
}

static bool is_here(struct transport *transport, const struct fetched_item *item,
		    const struct ref_list *own, const struct fetched_list *fetched)
{
	const struct ref_item *ref = refs_find(own, item->ref.id);
	const struct fetched_item *known = fetched_find(fetched, item->machine, item->ref.id);

	return (known && oid_equal(&known->ref.commit, &item->ref.commit)) ||
	       (ref && (oid_equal(&ref->commit, &item->ref.commit) ||
			is_bare(transport, ref, &item->ref.commit)));
}

/* Ids begin with the time, whichever machine they are of. */
static int compare_ids_back(const void *a, const void *b)
{
	const struct fetched_item *const *x = a, *const *y = b;

	return strcmp((*y)->ref.id, (*x)->ref.id);
}

static void choose_common(struct transport *out, const struct ref_list *own,
			  const struct fetched_list *fetched)
{
	const struct fetched_list *there = &out->there;
	const struct fetched_item **newest = xcalloc(there->nr + 1, sizeof(*newest));

	for (size_t i = 0; i < there->nr; i++)
		newest[i] = &there->items[i];
	qsort(newest, there->nr, sizeof(*newest), compare_ids_back);
	out->common = xcalloc(COMMON_MAX, sizeof(*out->common));
	for (size_t i = 0; i < there->nr && out->common_nr < COMMON_MAX; i++)
		if (is_here(out, newest[i], own, fetched))
			out->common[out->common_nr++] = newest[i]->ref.commit;
	free(newest);
}

int transport_find_common(struct transport *transport)
{
	struct store *store = transport->session->store;
	struct fetched_list fetched = { 0 };
	struct ref_list own = { 0 };
	int err = refs_list(&own, store);

	if (!err)
		err = fetched_list(&fetched, store);
	if (!err)
		choose_common(transport, &own, &fetched);
	fetched_release(&fetched);
	refs_release(&own);
	return err;
}

/* --- the repository that git runs in --- */

/* Where the history of a shallow clone ends, its objects do not tell. */
static int copy_shallow(struct transport *transport)
{
	char *from = xstrfmt("%s/shallow", transport->session->repo->commondir);
	char *to = xstrfmt("%s/shallow", transport->scratch.name);
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_text(&text, AT_FDCWD, from);

	if (!err)
		err = fs_write_file(transport->session->store->dirfd, to, text.buf, text.len, 0600,
				    FS_FAST);
	strbuf_release(&text);
	free(from);
	free(to);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

static int borrow_project(struct transport *transport)
{
	const struct repo *repo = transport->session->repo;
	char *objects = xstrfmt("%s/objects", repo->commondir);
	int err = askgit_check(repo->gitdir);

	if (!err)
		err = scratch_borrow(&transport->scratch, objects);
	free(objects);
	return err ? err : copy_shallow(transport);
}

int transport_make_scratch(struct transport *transport, bool store, bool project)
{
	struct session *session = transport->session;
	bool sha256 = project && !store && session->repo->sha256;
	char *objects = xstrfmt("%s/objects", session->store->path);
	int err = scratch_open(&transport->scratch, session->store, sha256);

	if (!err && store)
		err = scratch_borrow(&transport->scratch, objects);
	if (!err && project)
		err = borrow_project(transport);
	if (!err && store)
		err = transport_lend_bare(transport, &transport->scratch);
	free(objects);
	return err;
}

int transport_graft(struct transport *transport, const struct push_item *items, size_t nr)
{
	char *path = xstrfmt("%s/info/grafts", transport->scratch.name), hex[OID_HEX + 1];
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < nr && transport->common_nr; i++) {
		if (items[i].state != PUSH_SENT)
			continue;
		strbuf_addstr(&text, oid_hex(hex, &items[i].sent));
		strbuf_addf(&text, " %s", oid_hex(hex, &items[i].record.meta));
		for (size_t j = 0; j < transport->common_nr; j++)
			strbuf_addf(&text, " %s", oid_hex(hex, &transport->common[j]));
		strbuf_addch(&text, '\n');
	}
	if (text.len)
		err = fs_write_file(transport->session->store->dirfd, path, text.buf, text.len, 0600,
				    FS_FAST);
	strbuf_release(&text);
	free(path);
	return err;
}

int transport_write_haves(const struct scratch *scratch, const struct strlist *commits)
{
	char *path = xstrfmt("%s/packed-refs", scratch->name);
	struct strbuf text = STRBUF_INIT;
	int err;

	strbuf_addstr(&text, "# pack-refs with: peeled fully-peeled sorted \n");
	for (size_t i = 0; i < commits->nr; i++)
		strbuf_addf(&text, "%s refs/have/%08zu\n", commits->items[i], i);
	err = fs_write_file(scratch->store->dirfd, path, text.buf, text.len, 0600, FS_FAST);
	strbuf_release(&text);
	free(path);
	return err;
}
