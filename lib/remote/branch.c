/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "gitstate/gitstate.h"
#include "remote/flat_internal.h"
#include "session/session.h"

void branch_result_release(struct branch_result *result)
{
	free(result->ref);
	free(result->commit);
	free(result->parent);
	strlist_release(&result->warnings);
	memset(result, 0, sizeof(*result));
}

struct branching {
	struct session *session;
	const struct ckpt_record *record;
	struct flat flat;
	struct scratch scratch; /* only for the index */
	char *index;
};

/* Run git in the project; the answer without the newline. */
static int run_git(struct strbuf *out, const struct branching *branching,
		   const struct strbuf *input, const char *const args[])
{
	const struct repo *repo = branching->session->repo;
	const struct gitrun how = { .profile = GITRUN_WRITE,
				    .gitdir = repo->gitdir,
				    .worktree = repo->worktree,
				    .index = branching->index,
				    .input = input ? input->buf : NULL,
				    .input_len = input ? input->len : 0 };

	return gitrun_told(out, &how, args);
}

static int write_tree(struct strbuf *out, struct branching *branching)
{
	const char *const write[] = { "write-tree", NULL };
	const struct repo *repo = branching->session->repo;
	const struct gitwrite how = { .repo = repo, .message = "" };
	struct gitrun fill = { .profile = GITRUN_WRITE, .gitdir = repo->gitdir,
			       .worktree = repo->worktree };
	int err = flat_write_blobs(&branching->flat, &how);

	if (!err)
		err = scratch_open(&branching->scratch, branching->session->store, false);
	if (!err) {
		fill.index = branching->index = xstrfmt("%s/index", branching->scratch.path);
		err = flat_fill_index(&branching->flat, &fill);
	}
	return err ? err : run_git(out, branching, NULL, write);
}

static void add_message(struct strbuf *out, const struct ckpt_record *record)
{
	char *title = title_of(record);

	utf8_sanitize(out, title, strcspn(title, "\n"));
	if (!out->len)
		strbuf_addstr(out, record->id);
	strbuf_addf(out, "\n\nCheckpoint: %s\n", record->id);
	free(title);
}

/* With the name and the time that git gives to any commit made now. */
static int write_commit(struct strbuf *out, struct branching *branching)
{
	struct strbuf tree = STRBUF_INIT, message = STRBUF_INIT;
	const char *const on_top[] = { "commit-tree", "--no-gpg-sign", "-p",
				       branching->flat.head, "-F", "-", NULL, NULL };
	const char *const first[] = { "commit-tree", "--no-gpg-sign", "-F", "-", NULL, NULL };
	const char *args[ARRAY_SIZE(on_top)];
	int err = write_tree(&tree, branching);

	if (branching->flat.head) {
		memcpy(args, on_top, sizeof(on_top));
		args[6] = tree.buf;
	} else {
		memcpy(args, first, sizeof(first));
		args[4] = tree.buf;
	}
	add_message(&message, branching->record);
	if (!err)
		err = run_git(out, branching, &message, args);
	strbuf_release(&tree);
	strbuf_release(&message);
	return err;
}

static int make_ref(const struct branching *branching, const char *ref, const char *commit)
{
	char *message = xstrfmt("checkpoint: branch %s", branching->record->id);
	const struct gitwrite how = { branching->session->repo, message };
	struct gitwrite_refs refs = { 0 };
	int err;

	gitwrite_refs_add(&refs, ref, NULL, commit);
	err = gitwrite_refs_make(&how, &refs);
	gitwrite_refs_release(&refs);
	free(message);
	return err;
}

static void note_left_out(struct branch_result *out, const struct flat *flat)
{
	out->ignored = flat->ignored.nr;
	for (size_t i = 0; i < flat->secret.nr; i++)
		strlist_addf(&out->warnings, "'%s' looks like a secret and was left out",
			     flat->secret.items[i]);
	for (size_t i = 0; i < flat->unfit.nr; i++)
		strlist_addf(&out->warnings, "'%s' was left out: git does not take this name",
			     flat->unfit.items[i]);
}

int branch_make(struct branch_result *out, struct session *session,
		const struct ckpt_record *record, const char *name)
{
	struct branching branching = { .session = session, .record = record,
				       .scratch = SCRATCH_INIT };
	struct strbuf commit = STRBUF_INIT;
	int err;

	memset(out, 0, sizeof(*out));
	if (!session->repo)
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' is not in a git repository: there are no branches",
				      session->worktree);
	out->ref = xstrfmt("refs/heads/%s", name);
	err = askgit_check(session->repo->gitdir);
	if (!err)
		err = gitwrite_check_branch(session->repo, name, NULL);
	if (!err)
		err = flat_read(&branching.flat, session, record, FLAT_NO_IGNORED);
	if (!err)
		err = write_commit(&commit, &branching);
	if (!err)
		err = make_ref(&branching, out->ref, commit.buf);
	if (!err) {
		out->commit = strbuf_detach(&commit, NULL);
		out->parent = branching.flat.head ? xstrdup(branching.flat.head) : NULL;
		note_left_out(out, &branching.flat);
	}
	scratch_close(&branching.scratch);
	flat_release(&branching.flat);
	free(branching.index);
	strbuf_release(&commit);
	if (err)
		branch_result_release(out);
	return err;
}
