/* SPDX-License-Identifier: MIT */
#include "save/save_staged_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

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

static int ask(struct strbuf *out, const struct save_job *job, const char *const args[],
	       const struct strbuf *input)
{
	const struct repo *repo = job->session->repo;
	const struct gitrun how = { .gitdir = repo->gitdir,
				    .input = input->buf,
				    .input_len = input->len,
				    .patience = PATIENCE };

	return askgit(out, &how, args);
}

static void add_need(struct needs *needs, const char *hex, const char *path)
{
	ALLOC_GROW(needs->items, needs->nr + 1, needs->alloc);
	needs->items[needs->nr++] = (struct need){ hex, path, 0 };
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
static bool is_stored(struct oid *out, const struct save_job *job, const struct gitrecord *before,
		      const char *hex)
{
	const struct oid *known = gitrecord_find(before, hex);

	if (strlen(hex) == OID_HEX)
		return oid_parse(out, hex) &&
		       (job->pack ? pack_has(job->pack, out) : objects_exist(job->store, out));
	if (known)
		*out = *known;
	return known != NULL;
}

static void load_before(struct gitrecord *out, const struct save_job *job)
{
	memset(out, 0, sizeof(*out));
	if (job->have_newest && *job->newest.git_hash &&
	    (job->session->repo->sha256 || job->git.git.state.autostash))
		(void)gitrecord_load(out, job->store, &job->newest);
}

static void note_lacking(struct save_job *job, const struct need *need, const char *why)
{
	strlist_addf(&job->notes, "the staged contents of '%s' are not in it: %s", need->path, why);
}

/* "<id> blob <size>", or "<id> missing". */
static int ask_sizes(struct needs *needs, const struct save_job *job)
{
	static const char *const args[] = { "cat-file", "--batch-check", NULL };
	struct strbuf in = STRBUF_INIT, out = STRBUF_INIT;
	char *line;
	int err;

	for (size_t i = 0; i < needs->nr; i++)
		strbuf_addf(&in, "%s\n", needs->items[i].hex);
	err = needs->nr ? ask(&out, job, args, &in) : 0;
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
static int copy_batch(struct save_job *job, const struct need *items, size_t nr, struct oid *oids)
{
	static const char *const args[] = { "cat-file", "--batch", NULL };
	struct strbuf in = STRBUF_INIT, out = STRBUF_INIT;
	const char *p, *end;
	int err;

	for (size_t i = 0; i < nr; i++)
		strbuf_addf(&in, "%s\n", items[i].hex);
	err = ask(&out, job, args, &in);
	p = out.buf;
	end = out.buf + out.len;
	for (size_t i = 0; i < nr && !err; i++) {
		const char *body = memchr(p, '\n', (size_t)(end - p));

		if (!body || strncmp(p, items[i].hex, strlen(items[i].hex)) ||
		    (uint64_t)(end - body) < items[i].size + 2)
			err = ckpt_error_set(CKPT_ERROR, "'git cat-file' said too little");
		else
			err = pack_add_new(job->pack, &oids[i], OBJECT_BLOB, body + 1,
					   (size_t)items[i].size);
		if (!err)
			p = body + 1 + items[i].size + 1;
	}
	strbuf_release(&in);
	strbuf_release(&out);
	return err;
}

/* In the order of `needs`, a few at a time. Those that cannot be had are left zero. */
static int copy_needed(struct save_job *job, const struct needs *needs, struct oid *oids)
{
	int err = 0;

	for (size_t i = 0, nr; i < needs->nr && !err; i += nr) {
		uint64_t sum = 0;

		for (nr = 0; i + nr < needs->nr && needs->items[i + nr].size <= LARGEST &&
			     (!nr || sum + needs->items[i + nr].size <= AT_ONCE);
		     nr++)
			sum += needs->items[i + nr].size;
		if (nr) {
			err = copy_batch(job, &needs->items[i], nr, &oids[i]);
			continue;
		}
		note_lacking(job, &needs->items[i],
			     needs->items[i].size == UINT64_MAX
				     ? "the repository does not have them"
				     : "they are too large");
		nr = 1;
	}
	return err;
}

/* Whatever goes wrong with git: the state is worth more with some contents than not at all. */
static int copy_blobs(struct save_job *job, const struct gitrecord *before)
{
	struct needs all = { 0 }, lacking = { 0 };
	struct oid *oids, *found;
	size_t next = 0;
	int err;

	list_staged(&all, &job->git.git.state);
	found = xcalloc(all.nr + 1, sizeof(*found));
	for (size_t i = 0; i < all.nr; i++)
		if (!is_stored(&found[i], job, before, all.items[i].hex)) {
			memset(&found[i], 0, sizeof(found[i]));
			add_need(&lacking, all.items[i].hex, all.items[i].path);
		}
	oids = xcalloc(lacking.nr + 1, sizeof(*oids));
	err = ask_sizes(&lacking, job);
	if (!err)
		err = copy_needed(job, &lacking, oids);
	if (err && err != CKPT_EREFUSED && err != CKPT_ECANCELLED && lacking.nr) {
		note_lacking(job, &lacking.items[0], ckpt_error_last());
		err = 0;
	}
	for (size_t i = 0; i < all.nr; i++) {
		if (oid_is_zero(&found[i]) && next < lacking.nr)
			found[i] = oids[next++];
		if (!oid_is_zero(&found[i]))
			gitrecord_add_blob(&job->git.git, all.items[i].hex, &found[i]);
	}
	free(found);
	free(oids);
	free(all.items);
	free(lacking.items);
	return err;
}

/* All that the commit has and the one below it has not. */
static int copy_autostash(struct save_job *job, const struct gitrecord *before)
{
	static const char *const args[] = { "pack-objects", "--revs", "--stdout", "-q", NULL };
	struct gitrecord *git = &job->git.git;
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
	if (ask(&out, job, args, &in))
		strlist_addf(&job->notes, "the autostash '%.10s' is not in it: %s", autostash,
			     ckpt_error_last());
	else
		err = pack_add_new(job->pack, &git->autostash, OBJECT_BLOB, out.buf, out.len);
	strbuf_release(&in);
	strbuf_release(&out);
	return err;
}

int save_staged_copy(struct save_job *job)
{
	struct gitrecord before;
	int err;

	load_before(&before, job);
	err = copy_blobs(job, &before);
	if (!err)
		err = copy_autostash(job, &before);
	gitrecord_release(&before);
	return err;
}

uint64_t save_staged_bytes(const struct save_job *job)
{
	struct needs all = { 0 }, lacking = { 0 };
	struct gitrecord before;
	uint64_t sum = 0;

	load_before(&before, job);
	list_staged(&all, &job->git.git.state);
	for (size_t i = 0; i < all.nr; i++) {
		struct oid oid;

		if (!is_stored(&oid, job, &before, all.items[i].hex))
			add_need(&lacking, all.items[i].hex, all.items[i].path);
	}
	if (!ask_sizes(&lacking, job))
		for (size_t i = 0; i < lacking.nr; i++)
			sum += lacking.items[i].size <= LARGEST ? lacking.items[i].size : 0;
	gitrecord_release(&before);
	free(all.items);
	free(lacking.items);
	return sum;
}
