/* SPDX-License-Identifier: MIT */
#include "gitstate/gitwrite.h"

#include "git/git.h"
#include "gitstate/gitwrite_internal.h"

/* Contents are handed to git in pieces of about this size. */
enum { BATCH = 32 << 20 };

/* "<id> missing", or something else about it. */
static void add_if_missing(struct strlist *out, const char *line)
{
	size_t len = strcspn(line, " ");

	if (!strcmp(line + len, " missing"))
		strlist_take(out, xmemdupz(line, len));
}

int gitwrite_missing(struct strlist *out, const struct repo *repo, const struct strlist *oids)
{
	const char *const args[] = { "cat-file", "--batch-check", "--buffer", NULL };
	struct gitrun how = { .gitdir = repo->gitdir, .worktree = repo->worktree };
	struct strbuf names = STRBUF_INIT, answer = STRBUF_INIT;
	int err;

	if (!oids->nr)
		return 0;
	for (size_t i = 0; i < oids->nr; i++)
		strbuf_addf(&names, "%s\n", oids->items[i]);
	how.input = names.buf;
	how.input_len = names.len;
	err = askgit(&answer, &how, args);
	for (char *line = answer.buf; !err && *line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		add_if_missing(out, line);
		line = end ? end + 1 : line + strlen(line);
	}
	strlist_sort_unique(out);
	strbuf_release(&names);
	strbuf_release(&answer);
	return err;
}

int gitwrite_has(bool *out, const struct repo *repo, const char *oid)
{
	struct strlist wanted = STRLIST_INIT, missing = STRLIST_INIT;
	int err;

	strlist_add(&wanted, oid);
	err = gitwrite_missing(&missing, repo, &wanted);
	*out = !err && !missing.nr;
	strlist_release(&wanted);
	strlist_release(&missing);
	return err;
}

struct importing {
	const struct gitwrite *how;
	struct strbuf stream;
	struct strlist oids; /* of the blobs in it */
};

static void add_blob(struct importing *importing, const char *oid, const struct strbuf *data)
{
	struct strbuf *stream = &importing->stream;

	strbuf_addf(stream, "blob\nmark :1\ndata %zu\n", data->len);
	strbuf_add(stream, data->buf, data->len);
	strbuf_addstr(stream, "\nget-mark :1\n");
	strlist_add(&importing->oids, oid);
}

/* Whatever was stored under their names: what git made of it must have these. */
static int check_names(const struct importing *importing, const char *answer)
{
	for (size_t i = 0; i < importing->oids.nr; i++) {
		const char *oid = importing->oids.items[i];
		size_t len = strlen(oid);

		if (strcspn(answer, "\n") != len || strncmp(answer, oid, len) != 0)
			return ckpt_error_set(CKPT_ECORRUPT,
					      "the contents of the object '%s' are not as stored",
					      oid);
		answer += len + (answer[len] == '\n');
	}
	return 0;
}

/* fast-import makes all of them in one process, and touches no ref if none is named. */
static int import(struct importing *importing)
{
	const char *const args[] = { "fast-import", "--quiet", "--done", NULL };
	struct strbuf answer = STRBUF_INIT;
	int err;

	if (!importing->oids.nr)
		return 0;
	strbuf_addstr(&importing->stream, "done\n");
	err = gitwrite_ask(&answer, importing->how, importing->stream.buf, importing->stream.len,
			   args);
	if (!err)
		err = check_names(importing, answer.buf);
	strbuf_reset(&importing->stream);
	strlist_release(&importing->oids);
	strbuf_release(&answer);
	return err;
}

int gitwrite_blobs(const struct gitwrite *how, const struct strlist *oids, gitwrite_blob_fn blob,
		   void *payload)
{
	struct importing importing = { how, STRBUF_INIT, STRLIST_INIT };
	struct strbuf data = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < oids->nr && !err; i++) {
		strbuf_reset(&data);
		err = blob(&data, oids->items[i], payload);
		if (err)
			break;
		add_blob(&importing, oids->items[i], &data);
		if (importing.stream.len > BATCH)
			err = import(&importing);
	}
	if (!err)
		err = import(&importing);
	strbuf_release(&importing.stream);
	strlist_release(&importing.oids);
	strbuf_release(&data);
	return err;
}

int gitwrite_pack(const struct gitwrite *how, const void *data, size_t len, bool strict)
{
	/*
	 * Deltas stay deltas: as files of their own some MB could be any number of GB. What the objects
	 * lead to may be missing, as in a partial clone, so that is not for '--strict' to say.
	 */
	const char *const args[] = { "index-pack", "--stdin", "--fix-thin",
				     strict ? "--fsck-objects" : NULL, NULL };

	return gitwrite_run(how, data, len, args);
}
