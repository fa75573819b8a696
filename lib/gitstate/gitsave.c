/* SPDX-License-Identifier: MIT */
#include "gitstate/gitsave.h"

#include "gitstate/gitstate_internal.h"
#include "session/session.h"

#define SECTION "project"

void gitsave_release(struct gitsave *save)
{
	gitrecord_release(&save->git);
	strbuf_release(&save->stat);
	repo_state_release(&save->project);
}

/* --- what the cache has: fields that end in a NUL, the stat data last --- */

void gitsave_remember(const struct gitsave *save, const char *id, const struct oid *tree)
{
	struct strbuf text = STRBUF_INIT;
	char hex[OID_HEX + 1];

	if (!save->read || !save->stat.len || oid_is_zero(tree))
		return;
	strbuf_add_field(&text, "%s %s", id, oid_hex(hex, tree));
	strbuf_add_field(&text, "%s", save->hash);
	strbuf_add_field(&text, "%zu %zu %zu %u %u", save->index.staged, save->index.unmerged,
		  save->index.intent_to_add, save->step, save->total);
	strbuf_add_field(&text, "%s", save->git.state.head ? save->git.state.head : "");
	strbuf_add_field(&text, "%s", save->git.state.ref ? save->git.state.ref : "");
	strbuf_add_field(&text, "%s", save->git.state.operation ? save->git.state.operation : "");
	strbuf_add(&text, save->stat.buf, save->stat.len);
	cache_set(save->session->store, SECTION, text.buf, text.len);
	strbuf_release(&text);
}

enum {
	FIELD_WHERE,
	FIELD_HASH,
	FIELD_NUMBERS,
	FIELD_HEAD,
	FIELD_REF,
	FIELD_OPERATION,
	FIELDS
};

/* Sets `fields`, and `*stat` to what follows them; false if there are not so many. */
static bool split_fields(const char *fields[FIELDS], const char **stat,
			 const struct cache_section *section)
{
	const char *p = section->data, *end = p + section->len;

	for (int i = 0; i < FIELDS; i++) {
		const char *nul = p < end ? memchr(p, '\0', (size_t)(end - p)) : NULL;

		if (!nul)
			return false;
		fields[i] = p;
		p = nul + 1;
	}
	*stat = p;
	return true;
}

/* "<id> <tree>"; while the checkpoint exists, so does its tree. */
static bool parse_where(struct gitsave *save, const struct ref_list *refs, const char *text)
{
	size_t len = strcspn(text, " ");

	if (strlen(text) != len + 1 + OID_HEX || !oid_parse(&save->tree, text + len + 1))
		return false;
	for (size_t i = 0; i < refs->nr; i++)
		if (strlen(refs->items[i].id) == len && !memcmp(refs->items[i].id, text, len))
			return true;
	return false;
}

static char *copy_text(const char *text)
{
	return text && *text ? xstrdup(text) : NULL;
}

static void set_project(struct gitsave *save, const char *head, const char *ref,
			const char *operation)
{
	struct repo_state *project = &save->project;

	project->head = copy_text(head);
	project->ref = copy_text(ref);
	project->branch = project->ref ? xstrdup(repo_short_branch(project->ref)) : NULL;
	project->operation = copy_text(operation);
}

static bool recall_state(struct gitsave *save, const struct ref_list *refs)
{
	const char *fields[FIELDS], *stat;
	struct cache_section section = cache_open(save->session->store, SECTION);

	if (section.data && split_fields(fields, &stat, &section) && parse_where(save, refs, fields[FIELD_WHERE]) &&
	    gitstate_is_same(stat, (size_t)(section.data + section.len - stat), save->session->repo) &&
	    sscanf(fields[FIELD_NUMBERS], "%zu %zu %zu %u %u", &save->index.staged,
		   &save->index.unmerged, &save->index.intent_to_add, &save->step,
		   &save->total) == 5) {
		snprintf(save->hash, sizeof(save->hash), "%s", fields[FIELD_HASH]);
		set_project(save, fields[FIELD_HEAD], fields[FIELD_REF], fields[FIELD_OPERATION]);
		save->known = true;
	}
	cache_close(&section);
	return save->known;
}

/* --- looking --- */

static void note_unread(struct gitsave *save)
{
	strlist_addf(save->notes, "the state of the repository is not in it: %s",
		     ckpt_error_last());
}

/* What a record says of it. */
static void sum_up(struct gitsave *save)
{
	const struct gitstate *state = &save->git.state;

	gitrecord_hash(save->hash, state);
	gitstate_count(&save->index, state);
	save->step = state->step;
	save->total = state->total;
	save->known = true;
}

static bool read_state(struct gitsave *save, double until)
{
	save->read =
		!gitstate_read_noted(&save->git.state, &save->stat, save->session->repo, until);
	save->known = save->read;
	if (save->read)
		sum_up(save);
	else
		note_unread(save);
	return save->read;
}

void gitsave_look(struct gitsave *save, struct session *session, const struct ref_list *refs,
		  struct strlist *notes, double until)
{
	const struct repo *repo = session->repo;
	const struct gitstate *state = &save->git.state;
	double now = clock_monotonic();

	memset(save, 0, sizeof(*save));
	strbuf_init(&save->stat);
	save->session = session;
	save->notes = notes;
	save->until = until;
	if (!repo || recall_state(save, refs))
		return;
	/* The other half is for the files, without which there is no checkpoint. */
	if (read_state(save, until > 0 ? now + (until > now ? (until - now) / 2 : 0) : 0))
		set_project(save, state->head, state->ref, state->operation);
	else if (repo_read_state(&save->project, repo))
		repo_state_release(&save->project);
}

void gitsave_undo_autostash(struct gitsave *save)
{
	/* What is in it is not what the repository is like: nothing to be remembered. */
	strbuf_reset(&save->stat);
	free(save->project.operation);
	save->project.operation = NULL;
	if (!save->read)
		return;
	if (!gitstate_undo_autostash(&save->git.state, save->session->repo)) {
		sum_up(save);
		return;
	}
	note_unread(save);
	save->known = false;
}

bool gitsave_is_same(const struct gitsave *save, const struct ckpt_record *record)
{
	const struct repo_state *now = &save->project;

	return !gitstate_differ(now->head, record->head) &&
	       !gitstate_differ(now->branch, record->branch) &&
	       !gitstate_differ(now->operation, record->operation) &&
	       (!save->known || !strcmp(save->hash, record->git_hash));
}

/* --- contents that only the project's repository has: what is staged, what is put aside --- */

enum {
	PATIENCE = 60,	    /* seconds */
	AT_ONCE = 64 << 20, /* bytes that git is asked for in one go */
	LARGEST = 1 << 30,  /* what is larger stays in the project only */
};

struct need {
	const char *hex, *path;
	uint64_t size;
};

struct needs {
	struct need *items;
	size_t nr, alloc;
};

static int ask_git(struct strbuf *out, const struct gitsave *save, const char *const args[],
		   const struct strbuf *input)
{
	const struct repo *repo = save->session->repo;
	const struct gitrun how = { .gitdir = repo->gitdir,
				    .input = input->buf,
				    .input_len = input->len,
				    .patience = PATIENCE };

	return askgit(out, &how, args);
}

static void add_need(struct needs *needs, const char *hex, const char *path)
{
	*ALLOC_NEXT(needs->items, needs->nr, needs->alloc) = (struct need){ hex, path, 0 };
}

static int by_hex(const void *a, const void *b)
{
	return strcmp(((const struct need *)a)->hex, ((const struct need *)b)->hex);
}

static bool has_contents(unsigned mode)
{
	return mode && mode != 0160000;
}

/* All that is staged, each object once, in the order of their names. */
static void list_staged(struct needs *out, const struct gitstate *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->entries_nr; i++) {
		const struct gitstate_entry *entry = &state->entries[i];

		if (has_contents(entry->mode) &&
		    !(entry->flags & (GITSTATE_AS_HEAD | GITINDEX_INTENT_TO_ADD)))
			add_need(out, entry->oid, entry->path);
	}
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_hex);
	for (size_t i = 0; i < out->nr; i++)
		if (!kept || strcmp(out->items[kept - 1].hex, out->items[i].hex))
			out->items[kept++] = out->items[i];
	out->nr = kept;
}

/*
 * The same blob has the same name in a store as in a SHA-1 repository. Of others
 * the newest checkpoint knows those that it has.
 */
static bool is_stored(struct oid *out, const struct gitsave *save, struct pack *pack,
		      const struct gitrecord *before, const char *hex)
{
	const struct oid *known = gitrecord_find(before, hex);

	if (strlen(hex) == OID_HEX)
		return oid_parse(out, hex) &&
		       (pack ? pack_has(pack, out) : objects_exist(save->session->store, out));
	if (known)
		*out = *known;
	return known != NULL;
}

static void load_before(struct gitrecord *out, const struct gitsave *save,
			const struct ckpt_record *newest)
{
	memset(out, 0, sizeof(*out));
	if (newest && *newest->git_hash &&
	    (save->session->repo->sha256 || save->git.state.autostash))
		(void)gitrecord_load(out, save->session->store, newest);
}

static void note_lacking(struct gitsave *save, const struct need *need, const char *why)
{
	strlist_addf(save->notes, "the staged contents of '%s' are not in it: %s", need->path, why);
}

/* "<id> blob <size>", or "<id> missing". */
static int ask_sizes(struct needs *needs, const struct gitsave *save)
{
	static const char *const args[] = { "cat-file", "--batch-check", NULL };
	struct strbuf in = STRBUF_INIT, out = STRBUF_INIT;
	char *line;
	int err;

	for (size_t i = 0; i < needs->nr; i++)
		strbuf_addf(&in, "%s\n", needs->items[i].hex);
	err = needs->nr ? ask_git(&out, save, args, &in) : 0;
	line = out.buf;
	for (size_t i = 0; i < needs->nr && !err; i++) {
		size_t len = strlen(needs->items[i].hex);
		char *end = strchr(line, '\n');

		if (!end || strncmp(line, needs->items[i].hex, len)) {
			err = ckpt_error_set(CKPT_ERROR, "'git cat-file' said '%.*s'",
					     (int)strcspn(line, "\n"), line);
			break;
		}
		needs->items[i].size = strncmp(line + len, " blob ", 6)
					       ? UINT64_MAX
					       : strtoull(line + len + 6, NULL, 10);
		line = end + 1;
	}
	strbuf_release(&in);
	strbuf_release(&out);
	return err;
}

/* "<id> blob <size>\n<bytes>\n" for each of them. */
static int copy_batch(struct gitsave *save, struct pack *pack, const struct need *items, size_t nr,
		      struct oid *oids)
{
	static const char *const args[] = { "cat-file", "--batch", NULL };
	struct strbuf in = STRBUF_INIT, out = STRBUF_INIT;
	const char *p, *end;
	int err;

	for (size_t i = 0; i < nr; i++)
		strbuf_addf(&in, "%s\n", items[i].hex);
	err = ask_git(&out, save, args, &in);
	p = out.buf;
	end = out.buf + out.len;
	for (size_t i = 0; i < nr && !err; i++) {
		const char *body = memchr(p, '\n', (size_t)(end - p));

		if (!body || strncmp(p, items[i].hex, strlen(items[i].hex)) ||
		    (uint64_t)(end - body) < items[i].size + 2)
			err = ckpt_error_set(CKPT_ERROR, "'git cat-file' said too little");
		else
			err = pack_add_new(pack, &oids[i], OBJECT_BLOB, body + 1,
					   (size_t)items[i].size);
		if (!err)
			p = body + 1 + items[i].size + 1;
	}
	strbuf_release(&in);
	strbuf_release(&out);
	return err;
}

/* In the order of `needs`, a few at a time. Those that cannot be had are left zero. */
static int copy_needed(struct gitsave *save, struct pack *pack, const struct needs *needs,
		       struct oid *oids)
{
	int err = 0;

	for (size_t i = 0, nr; i < needs->nr && !err; i += nr) {
		uint64_t sum = 0;

		for (nr = 0; i + nr < needs->nr && needs->items[i + nr].size <= LARGEST &&
			     (!nr || sum + needs->items[i + nr].size <= AT_ONCE);
		     nr++)
			sum += needs->items[i + nr].size;
		if (nr) {
			err = copy_batch(save, pack, &needs->items[i], nr, &oids[i]);
			continue;
		}
		note_lacking(save, &needs->items[i],
			     needs->items[i].size == UINT64_MAX
				     ? "the repository does not have them"
				     : "they are too large");
		nr = 1;
	}
	return err;
}

/* Whatever goes wrong with git: the state is worth more with some contents than not at all. */
static int copy_blobs(struct gitsave *save, struct pack *pack, const struct gitrecord *before)
{
	struct needs all = { 0 }, lacking = { 0 };
	struct oid *oids, *found;
	size_t next = 0;
	int err;

	list_staged(&all, &save->git.state);
	found = xcalloc(all.nr + 1, sizeof(*found));
	for (size_t i = 0; i < all.nr; i++)
		if (!is_stored(&found[i], save, pack, before, all.items[i].hex)) {
			memset(&found[i], 0, sizeof(found[i]));
			add_need(&lacking, all.items[i].hex, all.items[i].path);
		}
	oids = xcalloc(lacking.nr + 1, sizeof(*oids));
	err = ask_sizes(&lacking, save);
	if (!err)
		err = copy_needed(save, pack, &lacking, oids);
	if (err && err != CKPT_EREFUSED && err != CKPT_ECANCELLED && lacking.nr) {
		note_lacking(save, &lacking.items[0], ckpt_error_last());
		err = 0;
	}
	for (size_t i = 0; i < all.nr; i++) {
		if (oid_is_zero(&found[i]) && next < lacking.nr)
			found[i] = oids[next++];
		if (!oid_is_zero(&found[i]))
			gitrecord_add_blob(&save->git, all.items[i].hex, &found[i]);
	}
	free(found);
	free(oids);
	free(all.items);
	free(lacking.items);
	return err;
}

/* All that the commit has and the one below it has not. */
static int copy_autostash(struct gitsave *save, struct pack *pack, const struct gitrecord *before)
{
	static const char *const args[] = { "pack-objects", "--revs", "--stdout", "-q", NULL };
	struct gitrecord *git = &save->git;
	const char *autostash = git->state.autostash;
	struct strbuf in = STRBUF_INIT, out = STRBUF_INIT;
	int err = 0;

	if (!autostash)
		return 0;
	if (before->state.autostash && !strcmp(before->state.autostash, autostash) &&
	    !oid_is_zero(&before->autostash)) {
		git->autostash = before->autostash;
		return 0;
	}
	strbuf_addf(&in, "%s\n^%s^1\n", autostash, autostash);
	if (ask_git(&out, save, args, &in))
		strlist_addf(save->notes, "the autostash '%.10s' is not in it: %s", autostash,
			     ckpt_error_last());
	else
		err = pack_add_new(pack, &git->autostash, OBJECT_BLOB, out.buf, out.len);
	strbuf_release(&in);
	strbuf_release(&out);
	return err;
}

static int copy_contents(struct gitsave *save, struct pack *pack, const struct ckpt_record *newest)
{
	struct gitrecord before;
	int err;

	load_before(&before, save, newest);
	err = copy_blobs(save, pack, &before);
	if (!err)
		err = copy_autostash(save, pack, &before);
	gitrecord_release(&before);
	return err;
}

uint64_t gitsave_bytes(const struct gitsave *save, const struct ckpt_record *newest,
		       struct pack *pack)
{
	struct needs all = { 0 }, lacking = { 0 };
	struct gitrecord before;
	uint64_t sum = 0;

	if (!save->read)
		return 0;
	load_before(&before, save, newest);
	list_staged(&all, &save->git.state);
	for (size_t i = 0; i < all.nr; i++) {
		struct oid oid;

		if (!is_stored(&oid, save, pack, &before, all.items[i].hex))
			add_need(&lacking, all.items[i].hex, all.items[i].path);
	}
	if (!ask_sizes(&lacking, save))
		for (size_t i = 0; i < lacking.nr; i++)
			sum += lacking.items[i].size <= LARGEST ? lacking.items[i].size : 0;
	gitrecord_release(&before);
	free(all.items);
	free(lacking.items);
	return sum;
}

/* --- writing --- */

int gitsave_write(struct oid *tree_out, struct gitsave *save, const struct ckpt_record *newest,
		  struct pack *pack)
{
	int err = 0;

	memset(tree_out, 0, sizeof(*tree_out));
	/* What was lost of it since is read again. */
	if (save->known && !save->read &&
	    !gitrecord_is_whole(save->session->store, pack, &save->tree))
		(void)read_state(save, save->until);
	if (!save->known)
		return 0;
	if (save->read) {
		err = copy_contents(save, pack, newest);
		if (!err)
			err = gitrecord_write(&save->tree, &save->git, pack);
	}
	*tree_out = save->tree;
	return err;
}

void gitsave_describe(struct ckpt_record *record, const struct gitsave *save)
{
	record->head = copy_text(save->project.head);
	record->branch = copy_text(save->project.branch);
	record->operation = copy_text(save->project.operation);
	if (!save->known)
		return;
	memcpy(record->git_hash, save->hash, sizeof(record->git_hash));
	record->index = save->index;
	record->progress = save->step;
	record->progress_total = save->total;
}
