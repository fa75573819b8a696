/* SPDX-License-Identifier: MIT */
#include "gitstate/gitstate_internal.h"

/* MERGE_HEAD and FETCH_HEAD are not refs: they may have several lines. */
const char *const gitstate_root_refs[] = {
	"AUTO_MERGE",	    "BISECT_EXPECTED_REV", "BISECT_HEAD",
	"CHERRY_PICK_HEAD", "MERGE_AUTOSTASH",	   "ORIG_HEAD",
	"REBASE_HEAD",	    "REVERT_HEAD",	   NULL,
};

const char *gitstate_private(const struct gitstate *state, const char *name)
{
	for (size_t i = 0; i < state->private_refs_nr; i++)
		if (!strcmp(state->private_refs[i].name, name))
			return state->private_refs[i].oid;
	return NULL;
}

static bool is_root_ref(const char *name)
{
	for (size_t i = 0; gitstate_root_refs[i]; i++)
		if (!strcmp(gitstate_root_refs[i], name))
			return true;
	return false;
}

/* What a line of for-each-ref tells: "<id> <name> <ref that it is a link to>". */
static int take_ref(struct gitstate *state, char **stash_out, char *line)
{
	char *name = strchr(line, ' '), *target = name ? strchr(name + 1, ' ') : NULL;

	if (!target || !gitfile_is_id(line))
		return ckpt_error_set(CKPT_ERROR, "'git for-each-ref' said '%s'", line);
	*name++ = '\0';
	*target++ = '\0';
	if (!strcmp(name, "HEAD")) {
		free(state->head);
		free(state->ref);
		state->head = xstrdup(line);
		state->ref = *target ? xstrdup(target) : NULL;
	} else if (!strcmp(name, "refs/stash")) {
		free(*stash_out);
		*stash_out = xstrdup(line);
	} else if (!strncmp(name, "refs/heads/", 11)) {
		gitstate_add_branch(state, name, line);
	} else if (!strncmp(name, "refs/", 5) || is_root_ref(name)) {
		gitstate_add_private_ref(state, name, line);
	}
	return 0;
}

/* What git said last, and what the repository looked like then. */
static _Thread_local char *known_gitdir;
static _Thread_local struct strbuf known_stat = STRBUF_INIT, known_refs = STRBUF_INIT;

void gitstate_refs_known(const struct repo *repo, const struct strbuf *stat)
{
	free(known_gitdir);
	known_gitdir = xstrdup(repo->gitdir);
	strbuf_reset(&known_stat);
	strbuf_add(&known_stat, stat->buf, stat->len);
}

/* A restore reads the state several times. */
static int ask_refs(struct strbuf *out, const struct repo *repo, const char *const args[])
{
	int err = 0;

	if (!known_gitdir || strcmp(known_gitdir, repo->gitdir) != 0 ||
	    !gitstate_is_same(known_stat.buf, known_stat.len, repo)) {
		free(known_gitdir);
		known_gitdir = NULL;
		strbuf_reset(&known_refs);
		err = gitstate_ask(&known_refs, repo, args);
	}
	strbuf_add(out, known_refs.buf, known_refs.len);
	return err;
}

/* All of them in one go. With a reftable, those beside HEAD, and HEAD itself, are only there. */
static int list_refs(struct gitstate *state, char **stash_out, const struct repo *repo,
		     bool reftable)
{
	const char *args[32] = { "for-each-ref", "--format=%(objectname) %(refname) %(symref)",
				 "refs/heads",	 "refs/stash",
				 "refs/bisect",	 "refs/rewritten",
				 "refs/worktree" };
	struct strbuf out = STRBUF_INIT;
	size_t nr = 7;
	int err;

	if (reftable) {
		args[nr++] = "--include-root-refs";
		args[nr++] = "HEAD";
		for (size_t i = 0; gitstate_root_refs[i]; i++)
			args[nr++] = gitstate_root_refs[i];
	}
	err = ask_refs(&out, repo, args);
	for (char *line = out.buf, *end; !err && *line; line = end + 1) {
		end = line + strcspn(line, "\n");
		if (!*end)
			break;
		*end = '\0';
		err = take_ref(state, stash_out, line);
	}
	strbuf_release(&out);
	return err;
}

static void read_root_refs(struct gitstate *state, const struct repo *repo)
{
	for (size_t i = 0; gitstate_root_refs[i]; i++) {
		char *text = gitfile_read(repo->gitdir, gitstate_root_refs[i]);

		if (text && gitfile_is_id(text)) {
			text[strcspn(text, " \t\r\n")] = '\0';
			gitstate_add_private_ref(state, gitstate_root_refs[i], text);
		}
		free(text);
	}
}

/* "<old> <new> <who and when>\t<message>", the newest last. */
static void take_log(struct gitstate *state, char *text)
{
	size_t len = strlen(text);

	while (len) {
		char *line, *id, *note;

		while (len && text[len - 1] == '\n')
			text[--len] = '\0';
		while (len && text[len - 1] != '\n')
			len--;
		line = text + len;
		id = strchr(line, ' ');
		note = strchr(line, '\t');
		if (!id || !gitfile_is_id(line) || !gitfile_is_id(id + 1))
			continue;
		id++;
		id[strcspn(id, " ")] = '\0';
		gitstate_add_stash(state, id, note ? note + 1 : "");
	}
}

static int ask_log(struct gitstate *state, const struct repo *repo)
{
	/* rev-list does not know the messages of reflogs. */
	static const char *const args[] = {
		"log", "-g", "--no-color", "--format=%H%x09%gs", "refs/stash", "--", NULL,
	};
	struct strbuf out = STRBUF_INIT;
	int err = gitstate_ask(&out, repo, args);

	for (char *line = out.buf, *end; !err && *line; line = end + 1) {
		char *tab = strchr(line, '\t');

		end = line + strcspn(line, "\n");
		if (!*end || !tab || tab > end)
			break;
		*end = *tab = '\0';
		gitstate_add_stash(state, line, tab + 1);
	}
	strbuf_release(&out);
	return err;
}

static int read_stashes(struct gitstate *state, const struct repo *repo, const char *stash,
			bool reftable)
{
	char *log;
	int err = 0;

	if (!stash)
		return 0;
	log = reftable ? NULL : gitfile_read_long(repo->commondir, "logs/refs/stash");
	if (reftable)
		err = ask_log(state, repo);
	else if (log)
		take_log(state, log);
	/* Without its log there is one stash. */
	if (!err && !state->stashes_nr)
		gitstate_add_stash(state, stash, "");
	free(log);
	return err;
}

static int compare_refs(const void *a_, const void *b_)
{
	const struct gitstate_ref *a = a_, *b = b_;

	return strcmp(a->name, b->name);
}

static void sort_refs(struct gitstate_ref *refs, size_t nr)
{
	if (nr)
		qsort(refs, nr, sizeof(*refs), compare_refs);
}

/* A branch that exists but cannot be read must not pass for one without commits. */
static int check_unborn(const struct gitstate *state, const struct repo *repo)
{
	char *path;
	struct stat st;
	bool there;

	if (state->head)
		return 0;
	if (!state->ref)
		return ckpt_error_set(CKPT_ERROR, "unable to read HEAD in '%s'", repo->gitdir);
	path = xstrfmt("%s/%s", repo->commondir, state->ref);
	there = !lstat(path, &st) && !S_ISDIR(st.st_mode);
	free(path);
	for (size_t i = 0; i < state->branches_nr; i++)
		there |= !strcmp(state->branches[i].name, state->ref);
	return there ? ckpt_error_set(CKPT_ERROR, "unable to read the branch '%s'", state->ref) : 0;
}

int gitstate_read_refs(struct gitstate *state, const struct repo *repo)
{
	struct repo_state head = { 0 };
	bool reftable = repo_has_reftable(repo);
	char *stash = NULL;
	int err;

	if (!reftable)
		read_root_refs(state, repo);
	err = list_refs(state, &stash, repo, reftable);
	if (!err)
		err = read_stashes(state, repo, stash, reftable);
	/* A reftable does not list a HEAD that has no commit. */
	if (!err && !state->head) {
		repo_read_state(&head, repo);
		state->head = head.head;
		state->ref = head.ref;
		head.head = head.ref = NULL;
		err = check_unborn(state, repo);
	}
	sort_refs(state->branches, state->branches_nr);
	sort_refs(state->private_refs, state->private_refs_nr);
	repo_state_release(&head);
	free(stash);
	return err;
}
