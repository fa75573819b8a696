/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "gitstate/gitstate.h"
#include "save/save.h"
#include "session/session.h"

/* Looking through a history may take a while. */
#define PATIENCE 600.0

/* Far more than any text has that a program makes. */
enum { TEXT_MAX = 64 << 20 };

struct search {
	struct session *session;
	struct rules *rules;
	struct strlist tips; /* of the project's remotes, once they were needed */
	bool have_tips;
	const char *where; /* "it" */
	char *why;	   /* a sentence about the first that was found */
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

/* --- names --- */

/* Whatever ignores it: that it goes along means that it is tracked, or was meant. */
static bool looks_secret(const struct search *search, const char *path)
{
	struct rules_dir top = rules_begin(search->rules);

	return rules_judge_named(search->rules, &top, path, path_base(path), true) != RULES_CAPTURE;
}

/* A file, by its name and its id in the project. */
static int look_at(struct search *search, const char *path, const char *hex)
{
	bool published;
	int err;

	if (search->why || !looks_secret(search, path))
		return 0;
	err = is_published(&published, search, path, hex);
	if (!err && !published)
		search->why = xstrfmt("'%s' in %s looks like a secret, and no remote of the project "
				      "has it",
				      path, search->where);
	return err;
}

static int look_below(struct search *search, const struct wt_dir *dir)
{
	int err = cancel_check();

	for (size_t i = 0; i < dir->nr && !err && !search->why; i++) {
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

static int look_at_files(struct search *search, const struct ckpt_record *record)
{
	struct snapshot *snapshot = NULL;
	int err = snapshot_open(&snapshot, search->session->store, record);

	if (!err)
		err = snapshot_expand_all(snapshot, snapshot->root);
	if (!err)
		err = look_below(search, snapshot->root);
	snapshot_free(snapshot);
	return err;
}

/* --- objects of the project --- */

/* A folder may be called like a secret, but is none. */
static int look_at_object(struct search *search, const char *hex, const char *path)
{
	const char *const args[] = { "cat-file", "-t", hex, NULL };
	const struct gitrun how = { .gitdir = search->session->repo->gitdir };
	struct strbuf type = STRBUF_INIT;
	int err = look_at(search, path, hex);

	if (!err && search->why)
		err = askgit(&type, &how, args);
	strbuf_trim(&type);
	if (search->why && strcmp(type.buf, "blob") != 0) {
		free(search->why);
		search->why = NULL;
	}
	strbuf_release(&type);
	return err;
}

/* "<id> <path>", as `git rev-list --objects` lists them. */
static int look_at_listing(struct search *search, char *listing)
{
	char *line, *rest = NULL;
	int err = 0;

	for (line = strtok_r(listing, "\n", &rest); line && !err && !search->why;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *path = strchr(line, ' ');

		if (!path || !path[1])
			continue;
		*path++ = '\0';
		err = look_at_object(search, line, path);
	}
	return err;
}

/* What an operation put aside goes along as a pack of the project: it has the names of its files. */
static int look_at_autostash(struct search *search, const char *commit)
{
	char *below = xstrfmt("^%s^1", commit);
	const char *const args[] = { "rev-list", "--objects", commit, below, NULL };
	const struct repo *repo = search->session->repo;
	const struct gitrun how = { .gitdir = repo ? repo->gitdir : NULL, .patience = PATIENCE };
	struct strbuf answer = STRBUF_INIT;
	int err = 0;

	if (!repo || askgit(&answer, &how, args))
		search->why = xstrfmt("changes that were put aside are in it, '%.10s', which the "
				      "project no longer has, so they cannot be searched",
				      commit);
	else
		err = look_at_listing(search, answer.buf);
	free(below);
	strbuf_release(&answer);
	return err;
}

/* What is staged, or was put aside, goes along, even if no file has it any more. */
static int look_at_git(struct search *search, const struct ckpt_record *record)
{
	struct gitrecord git = { .state = GITSTATE_INIT };
	int err = gitrecord_load(&git, search->session->store, record);

	for (size_t i = 0; i < git.state.entries_nr && !err; i++) {
		const struct gitstate_entry *entry = &git.state.entries[i];

		if (gitrecord_find(&git, entry->oid))
			err = look_at(search, entry->path, entry->oid);
	}
	if (!err && !search->why && !oid_is_zero(&git.autostash))
		err = look_at_autostash(search, git.state.autostash ? git.state.autostash : "");
	gitrecord_release(&git);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

/* --- texts --- */

/*
 * The path in a line that begins like this of a patch, which may have a prefix such as "a/". The
 * first of two is half of the line, unless it is in quotes or one of them was renamed, which other
 * lines say then.
 */
static bool read_patch_path(struct strbuf *out, const char *line)
{
	static const char *const kinds[] = { "diff --git ", "diff --cc ", "diff --combined ",
					     "--- ",	    "+++ ",	  "rename from ",
					     "rename to ",  "copy from ", "copy to " };
	size_t i = 0;

	while (i < ARRAY_SIZE(kinds) && strncmp(line, kinds[i], strlen(kinds[i])) != 0)
		i++;
	if (i == ARRAY_SIZE(kinds))
		return false;
	line += strlen(kinds[i]);
	if (*line != '"' || !quote_undo_c(out, line, NULL))
		strbuf_add(out, line, i ? strcspn(line, "\t\r") : strlen(line) / 2);
	return true;
}

static bool has_password(const char *line)
{
	const char *scheme = strstr(line, "://");
	bool found = false;

	for (; scheme && !found; scheme = strstr(scheme + 3, "://")) {
		const char *from = scheme;
		char *url, *shown;

		while (from > line && (isalnum((unsigned char)from[-1]) || from[-1] == '+'))
			from--;
		url = xmemdupz(from, strcspn(from, " \t\r\"'<>"));
		shown = remotes_shown(url);
		found = strcmp(url, shown) != 0;
		free(url);
		free(shown);
	}
	return found;
}

static void look_at_line(struct search *search, const char *line, const char *where)
{
	static const char coded[] = "Content-Transfer-Encoding:";
	struct strbuf path = STRBUF_INIT;
	const char *slash;

	if (read_patch_path(&path, line)) {
		slash = strchr(path.buf, '/');
		if (looks_secret(search, path.buf) || (slash && looks_secret(search, slash + 1)))
			search->why = xstrfmt("%s has a patch of '%s', which looks like a secret",
					      where, slash ? slash + 1 : path.buf);
	} else if (strstr(line, "-----BEGIN ") && strstr(line, "PRIVATE KEY")) {
		search->why = xstrfmt("%s has a private key", where);
	} else if (has_password(line)) {
		search->why = xstrfmt("%s has a URL with a password or a token", where);
	} else if (!strncasecmp(line, coded, strlen(coded)) &&
		   (strcasestr(line, "base64") || strcasestr(line, "quoted-printable"))) {
		search->why = xstrfmt("%s has a mail in '%s', which cannot be searched", where,
				      line + strlen(coded) + strspn(line + strlen(coded), " \t"));
	}
	strbuf_release(&path);
}

/* Lines may end in a NUL, too. */
static void look_at_text(struct search *search, struct strbuf *text, const char *where)
{
	for (char *line = text->buf, *end = line + text->len; line < end && !search->why;) {
		size_t len = strcspn(line, "\n");

		line[len] = '\0';
		look_at_line(search, line, where);
		line += len + 1;
	}
}

static int look_at_blob(struct search *search, const struct oid *oid, const char *where)
{
	struct store *store = search->session->store;
	struct strbuf text = STRBUF_INIT;
	uint64_t size;
	int err = objects_size(&size, store, oid);

	if (!err && size > TEXT_MAX)
		search->why = xstrfmt("%s is too large to be searched", where);
	else if (!err)
		err = objects_read(&text, store, oid, OBJECT_BLOB);
	if (!err)
		look_at_text(search, &text, where);
	strbuf_release(&text);
	return err;
}

/* Contents that have names of files are searched by them, see look_at_git(). */
static bool has_names(const char *path)
{
	return !strcmp(path, "git/blobs") || !strcmp(path, "git/autostash.pack");
}

/* All the rest, whatever part of a checkpoint it is. */
static int look_at_meta(struct search *search, const struct oid *oid, const char *dir)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, search->session->store, oid, OBJECT_TREE), rc = 1;

	while (!err && !search->why && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		char *path = xstrfmt("%s%s%s", dir, *dir ? "/" : "", entry.name);
		char *where = xstrfmt("'%s' in it", path);

		if (entry.mode == 040000 && !has_names(path))
			err = look_at_meta(search, &entry.oid, path);
		else if (!has_names(path))
			err = look_at_blob(search, &entry.oid, where);
		free(path);
		free(where);
	}
	strbuf_release(&tree);
	return !err && rc < 0 ? rc : err;
}

static int look_at_texts(struct search *search, const struct ckpt_record *record, bool prompts)
{
	struct store *store = search->session->store;
	struct strbuf text = STRBUF_INIT;
	struct oid tree;
	int err = meta_find_tree(&tree, store, record);

	for (size_t i = 0; i < record->state_keys.nr && !search->why; i++)
		if (looks_secret(search, record->state_keys.items[i]))
			search->why = xstrfmt("the state key '%s' in it looks like a secret",
					      record->state_keys.items[i]);
	if (!err && !search->why)
		err = look_at_meta(search, &tree, "");
	if (prompts && !err)
		err = objects_read(&text, store, &record->commit, OBJECT_COMMIT);
	else if (!err)
		record_encode_bare(&text, record);
	if (!err && !search->why)
		look_at_text(search, &text, "what it says of itself");
	strbuf_release(&text);
	return err;
}

/* --- all of it --- */

static int begin_search(struct search *search, struct session *session, const char *where)
{
	const struct worktree_state_opts rules = { .rules_only = true };

	*search = (struct search){ .session = session, .where = where };
	return worktree_state_rules(&search->rules, session, &rules);
}

/* The caller gets what was found. */
static char *end_search(struct search *search)
{
	rules_close(search->rules);
	strlist_release(&search->tips);
	return search->why;
}

static int search_all(char **out, struct session *session, const struct ckpt_record *record,
		      bool prompts)
{
	struct search search;
	int err = begin_search(&search, session, "it");

	if (!err)
		err = objects_open(session->store);
	if (!err && !record->state_only)
		err = look_at_files(&search, record);
	if (!err && !search.why)
		err = look_at_git(&search, record);
	if (!err && !search.why)
		err = look_at_texts(&search, record, prompts);
	*out = end_search(&search);
	return err;
}

int push_doubt(char **out, struct session *session, const struct ckpt_record *record, bool prompts)
{
	*out = NULL;
	if (record->include_sensitive)
		*out = xstrdup("it was taken with --include-sensitive");
	else if (record->include_ignored)
		*out = xstrdup("it was taken with --include-ignored");
	else if (record->captures.nr)
		*out = xstrfmt("it has the capture '%s'", record->captures.items[0].name);
	return *out ? 0 : search_all(out, session, record, prompts);
}

int push_doubt_history(bool *published, char **why, struct session *session, const char *commit)
{
	const char *const objects[] = { "rev-list", "--objects", commit, "--not", "--remotes", NULL };
	const char *const one[] = { "rev-list", "--max-count=1", commit, "--not", "--remotes", NULL };
	const struct gitrun how = { .gitdir = session->repo->gitdir, .patience = PATIENCE };
	struct strbuf answer = STRBUF_INIT;
	struct search search;
	int err = askgit(&answer, &how, why ? objects : one);

	*published = !err && !answer.len;
	if (!err && why) {
		err = begin_search(&search, session, "a commit that goes with it");
		if (!err)
			err = look_at_listing(&search, answer.buf);
		*why = end_search(&search);
	}
	strbuf_release(&answer);
	return err;
}
