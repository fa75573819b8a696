/* SPDX-License-Identifier: MIT */
#include "remote/export_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "remote/flat_internal.h"
#include "session/session.h"
#include "store/store.h"

/*
 * The patch is made by stock git, in a repository of its own that has the objects of both sides:
 * so it is what `git apply` expects, to the byte, and nothing that the project configures, filters
 * and attributes included, has a say.
 */
struct patching {
	struct session *session;
	struct scratch scratch;
	struct flat flat;
	struct repo repo; /* the scratch one, as far as gitwrite.h needs it */
	char *index;
};

/* A SHA-256 project cannot share objects with the store: what differs is made again. */
static int open_repository(struct patching *patching)
{
	struct session *session = patching->session;
	bool sha256 = patching->flat.sha256;
	struct gitwrite how = { .repo = &patching->repo, .message = "" };
	char *own = xstrfmt("%s/objects", session->store->path), *theirs = NULL;
	int err = scratch_open(&patching->scratch, session->store, sha256);

	if (!err && !sha256)
		err = scratch_borrow(&patching->scratch, own);
	if (!err && session->repo) {
		theirs = xstrfmt("%s/objects", session->repo->commondir);
		err = askgit_check(session->repo->gitdir);
	}
	if (!err && theirs)
		err = scratch_borrow(&patching->scratch, theirs);
	patching->repo = (struct repo){ .gitdir = patching->scratch.path,
					.commondir = patching->scratch.path,
					.sha256 = sha256 };
	if (!err && sha256)
		err = flat_write_blobs(&patching->flat, &how);
	free(own);
	free(theirs);
	return err;
}

static int build_index(struct patching *patching)
{
	struct gitrun how = { .gitdir = patching->scratch.path };

	how.index = patching->index = xstrfmt("%s/index", patching->scratch.path);
	return flat_fill_index(&patching->flat, &how);
}

static int compare(struct patching *patching, int fd)
{
	static const char sha1_empty[] = "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
			  sha256_empty[] = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74"
					   "decc5321";
	const char *empty = patching->flat.sha256 ? sha256_empty : sha1_empty;
	const char *const args[] = { "diff-index", "--cached",	     "-p",
				     "--binary",   "--full-index",   "--no-renames",
				     "--no-color", "--no-ext-diff", "--no-textconv",
				     patching->flat.head ? patching->flat.head : empty, NULL };

	const struct gitrun how = { .gitdir = patching->scratch.path,
				    .index = patching->index,
				    .output = fd,
				    .told = true };
	struct strbuf said = STRBUF_INIT;
	int err = gitrun(&said, &how, args);

	strbuf_trim(&said);
	if (err == CKPT_ERROR && said.len)
		err = ckpt_error_set(err, "%s: %s", ckpt_error_last(), said.buf);
	strbuf_release(&said);
	return err;
}

int export_patch(struct export_result *out, struct session *session,
		 const struct ckpt_record *record, int fd)
{
	struct patching patching = { .session = session, .scratch = SCRATCH_INIT };
	int err = flat_read(&patching.flat, session, record, 0);

	if (!err)
		err = open_repository(&patching);
	if (!err)
		err = build_index(&patching);
	if (!err)
		err = compare(&patching, fd);
	for (size_t i = 0; i < patching.flat.unfit.nr && !err; i++)
		strlist_addf(&out->warnings, "'%s' was left out: git does not take this name",
			     patching.flat.unfit.items[i]);
	if (!err && patching.flat.head)
		out->against = xstrdup(patching.flat.head);
	scratch_close(&patching.scratch);
	flat_release(&patching.flat);
	free(patching.index);
	return err;
}
