/* SPDX-License-Identifier: MIT */
#include "git/gitstate.h"

#include "base/base.h"
#include "git/askgit.h"
#include "git/gitstat.h"
#include "git/gitstate_internal.h"
#include "git/repo.h"

/* When the questions of a thread must have been answered; 0: each has GITSTATE_PATIENCE. */
static _Thread_local double ask_until;

/* How often a repository that is being changed is read. */
enum { TRIES = 3 };

struct gitstate_entry *gitstate_add_entry(struct gitstate *state, const char *path, unsigned mode,
					  const char *oid, unsigned stage, unsigned flags)
{
	struct gitstate_entry *entry;

	ALLOC_GROW(state->entries, state->entries_nr + 1, state->entries_alloc);
	entry = &state->entries[state->entries_nr++];
	*entry = (struct gitstate_entry){
		.path = xstrdup(path), .mode = mode, .stage = stage, .flags = flags
	};
	snprintf(entry->oid, sizeof(entry->oid), "%s", oid);
	return entry;
}

static int compare_entries(const void *a_, const void *b_)
{
	const struct gitstate_entry *a = a_, *b = b_;
	int order = strcmp(a->path, b->path);

	return order ? order : (int)a->stage - (int)b->stage;
}

void gitstate_sort_entries(struct gitstate *state)
{
	if (state->entries_nr)
		qsort(state->entries, state->entries_nr, sizeof(*state->entries), compare_entries);
}

static struct gitstate_ref new_ref(const char *name, const char *oid, const char *note)
{
	return (struct gitstate_ref){
		.name = xstrdup(name), .oid = xstrdup(oid), .note = note ? xstrdup(note) : NULL
	};
}

void gitstate_add_branch(struct gitstate *state, const char *name, const char *oid)
{
	ALLOC_GROW(state->branches, state->branches_nr + 1, state->branches_alloc);
	state->branches[state->branches_nr++] = new_ref(name, oid, NULL);
}

void gitstate_add_stash(struct gitstate *state, const char *oid, const char *note)
{
	char name[40];

	snprintf(name, sizeof(name), "stash@{%zu}", state->stashes_nr);
	ALLOC_GROW(state->stashes, state->stashes_nr + 1, state->stashes_alloc);
	state->stashes[state->stashes_nr++] = new_ref(name, oid, note);
}

void gitstate_add_private_ref(struct gitstate *state, const char *name, const char *oid)
{
	ALLOC_GROW(state->private_refs, state->private_refs_nr + 1, state->private_refs_alloc);
	state->private_refs[state->private_refs_nr++] = new_ref(name, oid, NULL);
}

void gitstate_add_file(struct gitstate *state, const char *path, const void *data, size_t len)
{
	ALLOC_GROW(state->files, state->files_nr + 1, state->files_alloc);
	state->files[state->files_nr++] = (struct gitstate_file){
		.path = xstrdup(path), .data = xmemdupz(data, len), .len = len
	};
}

static void release_refs(struct gitstate_ref *refs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(refs[i].name);
		free(refs[i].oid);
		free(refs[i].note);
	}
	free(refs);
}

void gitstate_release(struct gitstate *state)
{
	free(state->head);
	free(state->ref);
	free(state->head_tree);
	for (size_t i = 0; i < state->entries_nr; i++)
		free(state->entries[i].path);
	free(state->entries);
	release_refs(state->branches, state->branches_nr);
	release_refs(state->stashes, state->stashes_nr);
	release_refs(state->private_refs, state->private_refs_nr);
	for (size_t i = 0; i < state->files_nr; i++) {
		free(state->files[i].path);
		free(state->files[i].data);
	}
	free(state->files);
	strlist_release(&state->branch_config);
	free(state->operation);
	free(state->autostash);
	memset(state, 0, sizeof(*state));
}

int gitstate_ask(struct strbuf *out, const struct repo *repo, const char *const args[])
{
	double left = ask_until > 0 ? ask_until - clock_monotonic() : GITSTATE_PATIENCE;
	const struct gitrun how = { .gitdir = repo->gitdir,
				    .worktree = repo->worktree,
				    /* A moment is always left: nothing would mean for ever. */
				    .patience = left > 0.1 ? left : 0.1 };
	int err = askgit(out, &how, args);

	if (err == CKPT_ELOCKED)
		err = ckpt_error_set(err, "'git %s' did not answer in time", args[0]);
	return err;
}

static int read_once(struct gitstate *out, const struct repo *repo)
{
	struct gitstate state = GITSTATE_INIT;
	int err = gitstate_read_refs(&state, repo);

	if (!err)
		err = gitstate_read_index(&state, repo);
	if (!err)
		err = gitstate_read_operation(&state, repo);
	if (!err)
		err = gitstate_check(&state);
	if (err)
		gitstate_release(&state);
	*out = state;
	return err;
}

/* Again if another process changed something meanwhile: its parts must fit together. */
int gitstate_read_noted(struct gitstate *out, struct strbuf *stat, const struct repo *repo,
			double until)
{
	double latest = clock_monotonic() + GITSTATE_PATIENCE;
	struct strbuf before = STRBUF_INIT;
	int err = 0;

	ask_until = until > 0 && until < latest ? until : latest;

	for (int tries = 0; tries < TRIES; tries++) {
		int64_t start = clock_file_ns(), newest = 0;

		strbuf_reset(&before);
		err = gitstat_take(&before, &newest, repo);
		memset(out, 0, sizeof(*out));
		if (!err)
			err = read_once(out, repo);
		if (gitstat_same(before.buf, before.len, repo)) {
			if (!err && newest < start) {
				strbuf_add(stat, before.buf, before.len);
				gitstate_refs_known(repo, &before);
			}
			break;
		}
		gitstate_release(out);
		if (!err)
			err = ckpt_error_set(CKPT_ELOCKED,
					     "another process goes on changing the "
					     "repository '%s'",
					     repo->gitdir);
	}
	strbuf_release(&before);
	ask_until = 0;
	return err;
}

int gitstate_read(struct gitstate *out, const struct repo *repo)
{
	struct strbuf stat = STRBUF_INIT;
	int err = gitstate_read_noted(out, &stat, repo, 0);

	strbuf_release(&stat);
	return err;
}
