/* SPDX-License-Identifier: MIT */
#include "gitstate/gitwrite.h"

#include "base/base.h"
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

/* fast-import makes all of them in one process, and touches no ref if none is named. */
static int import(const struct gitwrite *how, struct strbuf *stream)
{
	const char *const args[] = { "fast-import", "--quiet", "--done", NULL };
	int err;

	if (!stream->len)
		return 0;
	strbuf_addstr(stream, "done\n");
	err = gitwrite_run(how, stream->buf, stream->len, args);
	strbuf_reset(stream);
	return err;
}

int gitwrite_blobs(const struct gitwrite *how, const struct strlist *oids, gitwrite_blob_fn blob,
		   void *payload)
{
	struct strbuf stream = STRBUF_INIT, data = STRBUF_INIT;
	struct strlist missing = STRLIST_INIT;
	int err = 0;

	for (size_t i = 0; i < oids->nr && !err; i++) {
		strbuf_reset(&data);
		err = blob(&data, oids->items[i], payload);
		if (err)
			break;
		strbuf_addf(&stream, "blob\ndata %zu\n", data.len);
		strbuf_add(&stream, data.buf, data.len);
		strbuf_addch(&stream, '\n');
		if (stream.len > BATCH)
			err = import(how, &stream);
	}
	if (!err)
		err = import(how, &stream);
	/* Whatever was stored under their names: what git made of it must have these. */
	if (!err)
		err = gitwrite_missing(&missing, how->repo, oids);
	if (!err && missing.nr)
		err = ckpt_error_set(CKPT_ECORRUPT,
				     "the contents of the object '%s' are not as stored",
				     missing.items[0]);
	strlist_release(&missing);
	strbuf_release(&stream);
	strbuf_release(&data);
	return err;
}

int gitwrite_pack(const struct gitwrite *how, const void *data, size_t len)
{
	const char *const args[] = { "unpack-objects", "-q", NULL };

	return gitwrite_run(how, data, len, args);
}
