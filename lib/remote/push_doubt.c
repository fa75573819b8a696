/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "gitstate/gitstate.h"
#include "save/save.h"
#include "session/session.h"

/* Looking through a history may take a while. */
#define PATIENCE 600.0

struct search {
	struct session *session;
	struct rules *rules;
	struct strlist tips; /* of the project's remotes, once they were needed */
	bool have_tips;
	char *found; /* the path of a secret */
};

/* --- is it public already? --- */

static int list_tips(struct strlist *out, const struct session *session)
{
	const char *const args[] = { "for-each-ref", "--format=%(objectname)", "refs/remotes", NULL };
	const struct gitrun how = { .gitdir = session->repo->gitdir };
	struct strbuf answer = STRBUF_INIT;
	char *line, *rest = NULL;
	int err = askgit(&answer, &how, args);

	for (line = err ? NULL : strtok_r(answer.buf, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		strlist_add(out, line);
	strlist_sort_unique(out);
	strbuf_release(&answer);
	return err;
}

/* Whether one of the project's remotes has that file, as far as is known here: with these bytes. */
static int is_published(bool *out, struct search *search, const char *path, const char *hex)
{
	const struct repo *repo = search->session->repo;
	const struct gitrun how = { .gitdir = repo ? repo->gitdir : NULL };
	struct strbuf answer = STRBUF_INIT;
	int err = 0;

	*out = false;
	if (repo && !search->have_tips)
		err = list_tips(&search->tips, search->session);
	search->have_tips = true;
	for (size_t i = 0; i < search->tips.nr && !*out && !err; i++) {
		const char *const args[] = { "ls-tree", "-z", "--full-tree", search->tips.items[i],
					     "--", path, NULL };

		strbuf_reset(&answer);
		err = askgit(&answer, &how, args);
		*out = !err && strstr(answer.buf, hex);
	}
	strbuf_release(&answer);
	return err;
}

/* --- looking --- */

/* Whatever ignores it: that it is in the checkpoint means that it is tracked. */
static int look_at(struct search *search, const char *path, const char *hex)
{
	struct rules_dir top = rules_begin(search->rules);
	const char *slash = strrchr(path, '/');
	bool published;
	int err;

	if (search->found || rules_judge_named(search->rules, &top, path, slash ? slash + 1 : path,
					       true) == RULES_CAPTURE)
		return 0;
	err = is_published(&published, search, path, hex);
	if (!err && !published)
		search->found = xstrdup(path);
	return err;
}

static int look_below(struct search *search, const struct wt_dir *dir)
{
	int err = cancel_check();

	for (size_t i = 0; i < dir->nr && !err && !search->found; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		char *path, hex[OID_HEX + 1];

		if (entry->kind == WT_DIR)
			err = look_below(search, entry->dir);
		if (entry->kind != WT_FILE)
			continue;
		path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
		err = look_at(search, path, oid_hex(hex, &entry->oid));
		free(path);
	}
	return err;
}

/* What is staged goes along, even if no file has it any more. */
static int look_at_index(struct search *search, const struct ckpt_record *record)
{
	struct gitrecord git = { .state = GITSTATE_INIT };
	int err = gitrecord_load(&git, search->session->store, record);

	for (size_t i = 0; i < git.state.entries_nr && !err; i++) {
		const struct gitstate_entry *entry = &git.state.entries[i];

		if (gitrecord_find(&git, entry->oid))
			err = look_at(search, entry->path, entry->oid);
	}
	gitrecord_release(&git);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

static int find_secret(char **out, struct session *session, const struct ckpt_record *record)
{
	const struct worktree_state_opts rules = { .rules_only = true };
	struct search search = { .session = session };
	struct snapshot *snapshot = NULL;
	int err = objects_open(session->store);

	if (!err)
		err = worktree_state_rules(&search.rules, session, &rules);
	if (!err)
		err = snapshot_open(&snapshot, session->store, record);
	if (!err)
		err = snapshot_expand_all(snapshot, snapshot->root);
	if (!err)
		err = look_below(&search, snapshot->root);
	if (!err && !search.found)
		err = look_at_index(&search, record);
	if (search.found)
		*out = xstrfmt("'%s' in it looks like a secret, and no remote of the project has it",
			       search.found);
	free(search.found);
	snapshot_free(snapshot);
	rules_close(search.rules);
	strlist_release(&search.tips);
	return err;
}

int push_doubt(char **out, struct session *session, const struct ckpt_record *record)
{
	*out = NULL;
	if (record->include_sensitive)
		*out = xstrdup("it was taken with --include-sensitive");
	else if (record->include_ignored)
		*out = xstrdup("it was taken with --include-ignored");
	else if (record->captures.nr)
		*out = xstrfmt("it has the capture '%s'", record->captures.items[0].name);
	if (*out || record->state_only)
		return 0;
	return find_secret(out, session, record);
}

/* --- commits --- */

/* A folder may be called like a secret, but is none. */
static int look_at_object(struct search *search, const char *hex, const char *path)
{
	const char *const args[] = { "cat-file", "-t", hex, NULL };
	const struct gitrun how = { .gitdir = search->session->repo->gitdir };
	struct strbuf type = STRBUF_INIT;
	int err = look_at(search, path, hex);

	if (!err && search->found)
		err = askgit(&type, &how, args);
	strbuf_trim(&type);
	if (search->found && strcmp(type.buf, "blob") != 0) {
		free(search->found);
		search->found = NULL;
	}
	strbuf_release(&type);
	return err;
}

static int search_history(struct search *search, char *listing)
{
	const struct worktree_state_opts rules = { .rules_only = true };
	char *line, *rest = NULL;
	int err = worktree_state_rules(&search->rules, search->session, &rules);

	for (line = err ? NULL : strtok_r(listing, "\n", &rest); line && !err && !search->found;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *path = strchr(line, ' ');

		if (!path || !path[1])
			continue;
		*path++ = '\0';
		err = look_at_object(search, line, path);
	}
	rules_close(search->rules);
	return err;
}

int push_doubt_history(bool *published, char **why, struct session *session, const char *commit)
{
	const char *const objects[] = { "rev-list", "--objects", commit, "--not", "--remotes", NULL };
	const char *const one[] = { "rev-list", "--max-count=1", commit, "--not", "--remotes", NULL };
	const struct gitrun how = { .gitdir = session->repo->gitdir, .patience = PATIENCE };
	struct search search = { .session = session };
	struct strbuf answer = STRBUF_INIT;
	int err = askgit(&answer, &how, why ? objects : one);

	*published = !err && !answer.len;
	if (!err && why)
		err = search_history(&search, answer.buf);
	if (search.found)
		*why = xstrfmt("'%s' in a commit that goes with it looks like a secret, and no "
			       "remote of the project has it",
			       search.found);
	free(search.found);
	strbuf_release(&answer);
	strlist_release(&search.tips);
	return err;
}
