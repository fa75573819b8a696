/* SPDX-License-Identifier: MIT */
#include "save/save_git.h"

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "save/save.h"
#include "save/save_staged_internal.h"
#include "session/session.h"
#include "store/store.h"

#define CACHE_TITLE "gitstate 1"

void save_git_release(struct save_git *git)
{
	gitrecord_release(&git->git);
	strbuf_release(&git->stat);
	memset(git, 0, sizeof(*git));
	strbuf_init(&git->stat);
}

/* --- what is remembered: fields that end in a NUL, the stat data last --- */

__attribute__((format(printf, 2, 3))) static void add(struct strbuf *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(out, fmt, ap);
	va_end(ap);
	strbuf_addch(out, '\0');
}

void save_git_remember(const struct save_job *job, const char *id, const struct oid *tree)
{
	const struct save_git *git = &job->git;
	struct strbuf text = STRBUF_INIT, file = STRBUF_INIT;
	unsigned char sum[SHA256_SIZE];
	char hex[SHA256_HEX + 1];

	if (!git->read || !git->stat.len || oid_is_zero(tree))
		return;
	add(&text, "%s %s", id, oid_hex(hex, tree));
	add(&text, "%s", git->hash);
	add(&text, "%zu %zu %zu %u %u", git->index.staged, git->index.unmerged,
	    git->index.intent_to_add, git->step, git->total);
	add(&text, "%s", git->git.state.head ? git->git.state.head : "");
	add(&text, "%s", git->git.state.ref ? git->git.state.ref : "");
	add(&text, "%s", git->git.state.operation ? git->git.state.operation : "");
	strbuf_add(&text, git->stat.buf, git->stat.len);
	hash_buffer(HASH_SHA256, sum, text.buf, text.len);
	add(&file, "%s %s", CACHE_TITLE, oid_hex_encode(hex, sum, SHA256_SIZE));
	strbuf_add(&file, text.buf, text.len);
	/* Lost, it costs a moment. */
	(void)fs_write_file(job->store->dirfd, LAYOUT_GITSTATE, file.buf, file.len, 0600, FS_FAST);
	strbuf_release(&text);
	strbuf_release(&file);
}

enum {
	FIELD_TITLE,
	FIELD_WHERE,
	FIELD_HASH,
	FIELD_NUMBERS,
	FIELD_HEAD,
	FIELD_REF,
	FIELD_OPERATION,
	FIELDS
};

/* Sets `fields`, and `*stat` to what follows them; false if it is not what was written. */
static bool split(const char *fields[FIELDS], const char **stat, const struct strbuf *file)
{
	const char *p = file->buf, *end = p + file->len;
	unsigned char sum[SHA256_SIZE];
	char hex[SHA256_HEX + 1];

	for (int i = 0; i < FIELDS; i++) {
		const char *nul = p < end ? memchr(p, '\0', (size_t)(end - p)) : NULL;

		if (!nul)
			return false;
		fields[i] = p;
		p = nul + 1;
	}
	*stat = p;
	hash_buffer(HASH_SHA256, sum, fields[1], (size_t)(end - fields[1]));
	oid_hex_encode(hex, sum, SHA256_SIZE);
	return !strncmp(fields[0], CACHE_TITLE " ", strlen(CACHE_TITLE) + 1) &&
	       !strcmp(fields[0] + strlen(CACHE_TITLE) + 1, hex);
}

/* "<id> <tree>"; while the checkpoint exists, so does its tree. */
static bool take_place(struct save_git *git, const struct save_job *job, const char *text)
{
	size_t len = strcspn(text, " ");

	if (strlen(text) != len + 1 + OID_HEX || !oid_parse(&git->tree, text + len + 1))
		return false;
	for (size_t i = 0; i < job->refs.nr; i++)
		if (strlen(job->refs.items[i].id) == len &&
		    !memcmp(job->refs.items[i].id, text, len))
			return true;
	return false;
}

static char *or_null(const char *text)
{
	return *text ? xstrdup(text) : NULL;
}

static void set_project(struct save_job *job, const char *head, const char *ref,
			const char *operation)
{
	struct repo_state *project = &job->project;

	project->head = head ? or_null(head) : NULL;
	project->ref = ref ? or_null(ref) : NULL;
	project->branch = project->ref ? xstrdup(repo_short_branch(project->ref)) : NULL;
	project->operation = operation ? or_null(operation) : NULL;
}

static bool recall(struct save_job *job)
{
	struct save_git *git = &job->git;
	const char *fields[FIELDS], *stat;
	struct strbuf file = STRBUF_INIT;

	if (!fs_read_file(&file, job->store->dirfd, LAYOUT_GITSTATE) &&
	    split(fields, &stat, &file) && take_place(git, job, fields[FIELD_WHERE]) &&
	    gitstate_is_same(stat, (size_t)(file.buf + file.len - stat), job->session->repo) &&
	    sscanf(fields[FIELD_NUMBERS], "%zu %zu %zu %u %u", &git->index.staged,
		   &git->index.unmerged, &git->index.intent_to_add, &git->step, &git->total) == 5) {
		snprintf(git->hash, sizeof(git->hash), "%s", fields[FIELD_HASH]);
		set_project(job, fields[FIELD_HEAD], fields[FIELD_REF], fields[FIELD_OPERATION]);
		git->known = true;
	}
	strbuf_release(&file);
	return git->known;
}

/* --- looking --- */

static void note_unread(struct save_job *job)
{
	strlist_addf(&job->notes, "the state of the repository is not in it: %s",
		     ckpt_error_last());
}

/* The other half is for the files, without which there is no checkpoint. */
static double half_time(const struct save_job *job)
{
	double now = clock_monotonic(), until = job->opts->until;

	return until > 0 ? now + (until > now ? (until - now) / 2 : 0) : 0;
}

/* What a record says of it. */
static void take(struct save_git *git)
{
	const struct gitstate *state = &git->git.state;

	gitrecord_hash(git->hash, state);
	gitstate_count(&git->index, state);
	git->step = state->step;
	git->total = state->total;
	git->known = true;
}

void save_git_look(struct save_job *job)
{
	const struct repo *repo = job->session->repo;
	struct save_git *git = &job->git;
	const struct gitstate *state = &git->git.state;

	if (!repo || recall(job))
		return;
	if (gitstate_read_noted(&git->git.state, &git->stat, repo, half_time(job))) {
		note_unread(job);
		if (repo_read_state(&job->project, repo))
			repo_state_release(&job->project);
		return;
	}
	git->read = true;
	take(git);
	set_project(job, state->head, state->ref, state->operation);
}

void save_git_undo_autostash(struct save_job *job)
{
	struct save_git *git = &job->git;

	/* What is in it is not what the repository is like: nothing to be remembered. */
	strbuf_reset(&git->stat);
	free(job->project.operation);
	job->project.operation = NULL;
	if (!git->read)
		return;
	if (!gitstate_undo_autostash(&git->git.state, job->session->repo)) {
		take(git);
		return;
	}
	note_unread(job);
	git->known = false;
}

bool save_git_same(const struct save_job *job)
{
	return !job->git.known || !strcmp(job->git.hash, job->newest.git_hash);
}

uint64_t save_git_bytes(const struct save_job *job)
{
	return job->git.read ? save_staged_bytes(job) : 0;
}

int save_git_write(struct save_job *job)
{
	struct save_git *git = &job->git;
	int err = 0;

	if (!git->known)
		return 0;
	/* What was lost of it since is read again. */
	if (!git->read && !gitrecord_is_whole(job->store, job->pack, &git->tree)) {
		git->read = !gitstate_read_noted(&git->git.state, &git->stat, job->session->repo,
						 job->opts->until);
		git->known = git->read;
		if (!git->known) {
			note_unread(job);
			return 0;
		}
		take(git);
	}
	if (git->read) {
		err = save_staged_copy(job);
		if (!err)
			err = gitrecord_write(&git->tree, &git->git, job->pack);
	}
	job->meta.git = git->tree;
	return err;
}
