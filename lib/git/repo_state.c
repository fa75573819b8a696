/* SPDX-License-Identifier: MIT */
#include "git/repo.h"

#include "git/askgit.h"
#include "git/gitfile.h"
#include "git/repo_internal.h"

enum { SYMREF_DEPTH = 5 };

/* True if `name` is in `dir`, whatever it is. */
static bool has_file(const char *dir, const char *name)
{
	struct strbuf path = STRBUF_INIT;
	struct stat st;
	bool found;

	strbuf_addstr(&path, dir);
	path_append(&path, name);
	found = !lstat(path.buf, &st);
	strbuf_release(&path);
	return found;
}

/* --- packed refs --- */

enum {
	PIECE = 8 << 10,      /* has a line, wherever it begins */
	FEW = 64 << 10,	      /* no more need be searched for where to look */
	UNSORTED_MAX = 16 << 20, /* no git has written that for years */
};

static char *find_in_text(const char *text, const char *ref)
{
	char *needle = xstrfmt(" %s", ref), *id = NULL;
	size_t len = strlen(needle);

	for (const char *at = text; (at = strstr(at, needle)); at += len) {
		const char *start = at;

		if (at[len] && !strchr("\r\n", at[len]))
			continue;
		while (start > text && isxdigit((unsigned char)start[-1]))
			start--;
		if ((start == text || start[-1] == '\n') && gitfile_is_id(start)) {
			id = xmemdupz(start, (size_t)(at - start));
			break;
		}
	}
	free(needle);
	return id;
}

/*
 * The first line of a ref that begins after `at`, in `piece`; its name is returned, and where it begins is
 * put into `at`. NULL if there is none.
 */
static const char *next_ref(char *piece, off_t *at, int fd)
{
	ssize_t len = fs_pread_full(fd, piece, PIECE, *at);
	char *line = len > 0 ? memchr(piece, '\n', (size_t)len) : NULL, *end = piece + len;

	while (line) {
		char *start = line + 1, *name;

		line = memchr(start, '\n', (size_t)(end - start));
		if (!line)
			break;
		*line = '\0';
		name = strchr(start, ' ');
		if (!name || *start == '^' || *start == '#')
			continue;
		*at += start - piece;
		return name + 1;
	}
	return NULL;
}

/* Where in a sorted file its line must be: few bytes of it, or all if that is not to be found out. */
static void narrow_down(off_t *from, off_t *to, int fd, const char *ref)
{
	char *piece = xmalloc(PIECE);

	while (*to - *from > FEW) {
		off_t middle = *from + (*to - *from) / 2, at = middle;
		const char *name = next_ref(piece, &at, fd);

		if (!name)
			break;
		if (strcmp(ref, name) < 0)
			*to = middle + PIECE; /* the line before may begin earlier and end here */
		else
			*from = at;
	}
	free(piece);
}

char *repo_find_packed(int dirfd, const char *path, int flags, const char *ref)
{
	struct stat st;
	int fd = fs_open_regular(&st, dirfd, path, flags);
	off_t from = 0, to = fd < 0 ? 0 : st.st_size;
	char *text = NULL, *id = NULL, head[256] = "";
	ssize_t len = -1;

	if (fd >= 0 && to > FEW && fs_pread_full(fd, head, sizeof(head) - 1, 0) > 0) {
		head[strcspn(head, "\n")] = '\0';
		if (strstr(head, " sorted"))
			narrow_down(&from, &to, fd, ref);
	}
	if (fd >= 0 && to - from <= UNSORTED_MAX) {
		text = xcalloc(1, (size_t)(to - from) + 1);
		len = fs_pread_full(fd, text, (size_t)(to - from), from);
	}
	if (len >= 0)
		id = find_in_text(text, ref);
	free(text);
	fs_close(fd);
	return id;
}

static char *packed_ref(const char *common, const char *ref)
{
	char *path = xstrfmt("%s/packed-refs", common);
	char *id = repo_find_packed(AT_FDCWD, path, 0, ref);

	free(path);
	return id;
}

/* --- what HEAD leads to --- */

/* These belong to one worktree, all others are shared. */
static bool is_private_ref(const char *ref)
{
	return !strncmp(ref, "refs/bisect/", 12) || !strncmp(ref, "refs/worktree/", 14) ||
	       !strncmp(ref, "refs/rewritten/", 15);
}

/* The id that `text`, the content of HEAD or of a ref, leads to; NULL if there is none yet. */
static char *resolve_ref(const struct repo *repo, const char *text, int depth)
{
	const char *ref = gitfile_symref(text);
	char *next, *id;

	if (!ref)
		return gitfile_is_id(text) ? xmemdupz(text, strcspn(text, " \t\r\n")) : NULL;
	if (depth >= SYMREF_DEPTH)
		return NULL;
	next = gitfile_read(is_private_ref(ref) ? repo->gitdir : repo->commondir, ref);
	if (!next)
		return packed_ref(repo->commondir, ref);
	id = resolve_ref(repo, next, depth + 1);
	free(next);
	return id;
}

char *repo_ref(const struct repo *repo, const char *ref)
{
	char *text = xstrfmt("ref: %s", ref), *id = resolve_ref(repo, text, 0);

	free(text);
	return id;
}

static char *ask_git(const struct repo *repo, const char *command, const char *flag)
{
	const struct gitrun how = { .gitdir = repo->gitdir, .worktree = repo->worktree };
	const char *const args[] = { command, "-q", flag, "HEAD", NULL };
	struct strbuf answer = STRBUF_INIT;
	char *result = NULL;

	if (!askgit(&answer, &how, args)) {
		strbuf_trim(&answer);
		if (answer.len)
			result = strbuf_detach(&answer, NULL);
	}
	strbuf_release(&answer);
	return result;
}

const char *repo_short_branch(const char *ref)
{
	return strncmp(ref, "refs/heads/", 11) ? ref : ref + 11;
}

static const char *sequencer_operation(const char *gitdir)
{
	char *todo = gitfile_read(gitdir, "sequencer/todo");
	const char *operation = NULL;

	if (todo && (!strncmp(todo, "pick ", 5) || !strncmp(todo, "p ", 2)))
		operation = "cherry-pick";
	else if (todo && !strncmp(todo, "revert ", 7))
		operation = "revert";
	free(todo);
	return operation;
}

const char *repo_operation(const struct repo *repo)
{
	const char *gitdir = repo->gitdir;

	if (has_file(gitdir, "rebase-merge"))
		return "rebase";
	if (has_file(gitdir, "rebase-apply"))
		return has_file(gitdir, "rebase-apply/applying") ? "am" : "rebase";
	if (has_file(gitdir, "MERGE_HEAD"))
		return "merge";
	if (has_file(gitdir, "CHERRY_PICK_HEAD"))
		return "cherry-pick";
	if (has_file(gitdir, "REVERT_HEAD"))
		return "revert";
	/* Between two commits of a longer operation only its list exists. */
	if (sequencer_operation(gitdir))
		return sequencer_operation(gitdir);
	return has_file(gitdir, "BISECT_LOG") ? "bisect" : NULL;
}

/* Refs in tables (reftable), for which HEAD is only a stub. */
static bool is_stub(const char *ref)
{
	return ref && !strcmp(ref, "refs/heads/.invalid");
}

bool repo_has_reftable(const struct repo *repo)
{
	char *head = gitfile_head(repo->gitdir);
	bool stub = head && is_stub(gitfile_symref(head));

	free(head);
	return stub;
}

/*
 * Never fails: what cannot be determined stays NULL. A checkpoint is worth
 * taking even if the project's repository is damaged, especially then.
 */
int repo_read_state(struct repo_state *out, const struct repo *repo)
{
	char *head = gitfile_head(repo->gitdir);
	const char *ref = head ? gitfile_symref(head) : NULL, *operation;

	memset(out, 0, sizeof(*out));
	if (is_stub(ref)) {
		out->ref = ask_git(repo, "symbolic-ref", "--");
		out->head = ask_git(repo, "rev-parse", "--verify");
	} else if (head) {
		out->head = resolve_ref(repo, head, 0);
		if (ref)
			out->ref = xstrdup(ref);
	}
	if (out->ref)
		out->branch = xstrdup(repo_short_branch(out->ref));
	operation = repo_operation(repo);
	if (operation)
		out->operation = xstrdup(operation);
	free(head);
	return 0;
}

void repo_state_release(struct repo_state *state)
{
	free(state->head);
	free(state->branch);
	free(state->ref);
	free(state->operation);
	memset(state, 0, sizeof(*state));
}
