/* SPDX-License-Identifier: MIT */
#include "gitstate/gitwrite.h"

#include "gitstate/gitread.h"
#include "gitstate/gitwrite_internal.h"
#include "git/git.h"

void gitwrite_refs_add(struct gitwrite_refs *refs, const char *name, const char *old,
		       const char *new)
{
	*ALLOC_NEXT(refs->items, refs->nr, refs->alloc) =
		(struct gitwrite_ref){ xstrdup(name), old ? xstrdup(old) : NULL,
				       new ? xstrdup(new) : NULL };
}

void gitwrite_refs_release(struct gitwrite_refs *refs)
{
	for (size_t i = 0; i < refs->nr; i++) {
		free(refs->items[i].name);
		free(refs->items[i].old);
		free(refs->items[i].new);
	}
	free(refs->items);
	memset(refs, 0, sizeof(*refs));
}

int gitwrite_ask(struct strbuf *out, const struct gitwrite *how, const char *input, size_t len,
		 const char *const args[])
{
	const struct gitrun run = { .profile = GITRUN_WRITE,
				    .gitdir = how->repo->gitdir,
				    .worktree = how->repo->worktree,
				    .index = how->index,
				    .input = input,
				    .input_len = len };

	return gitrun_told(out, &run, args);
}

int gitwrite_run(const struct gitwrite *how, const char *input, size_t len,
		 const char *const args[])
{
	struct strbuf said = STRBUF_INIT;
	int err = gitwrite_ask(&said, how, input, len, args);

	/* A path that an index cannot have: git goes on without it. */
	if (!err && strstr(said.buf, "Ignoring path "))
		err = ckpt_error_set(CKPT_EREFUSED, "git refuses: %s", said.buf);
	strbuf_release(&said);
	return err;
}

/* --- refs --- */

int gitwrite_refuse_link(const char *path)
{
	return ckpt_error_set(CKPT_EREFUSED,
			      "'%s' is a link, or has another name, so git would write to a file that is "
			      "elsewhere; put a file of its own in its place",
			      path);
}

static void add_change(struct strbuf *script, const struct gitwrite_ref *ref)
{
	/* A branch that is itself another name of a ref would lead to that one. */
	strbuf_addstr(script, "option no-deref\n");
	if (!ref->new)
		strbuf_addf(script, "delete %s %s\n", ref->name, ref->old);
	else if (!ref->old)
		strbuf_addf(script, "create %s %s\n", ref->name, ref->new);
	else
		strbuf_addf(script, "update %s %s %s\n", ref->name, ref->new, ref->old);
}

/* Those that are deleted, or all others, in one transaction. */
static int move_some(const struct gitwrite *how, const struct gitwrite_refs *refs, bool deleted)
{
	const char *const args[] = { "update-ref", "-m", how->message, "--stdin", NULL };
	struct strbuf script = STRBUF_INIT;
	bool any = false;
	int err = 0;

	strbuf_addstr(&script, "start\n");
	for (size_t i = 0; i < refs->nr; i++) {
		const struct gitwrite_ref *ref = &refs->items[i];

		if (!ref->new != deleted || (!ref->old && !ref->new))
			continue;
		add_change(&script, ref);
		any = true;
	}
	strbuf_addstr(&script, "prepare\ncommit\n");
	if (any)
		err = gitwrite_run(how, script.buf, script.len, args);
	strbuf_release(&script);
	return err;
}

/* --- HEAD --- */

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int attach_head(const struct gitwrite *how, const char *ref, const struct gitstate *now)
{
	const char *const args[] = { "symbolic-ref", "-m", how->message, "HEAD", ref, NULL };

	return is_same(ref, now->ref) ? 0 : gitwrite_run(how, NULL, 0, args);
}

static int detach_head(const struct gitwrite *how, const char *commit, const struct gitstate *now)
{
	const char *args[] = { "update-ref", "-m",   how->message, "--no-deref",
			       "HEAD",	     commit, now->head,	   NULL };

	return !now->ref && is_same(commit, now->head) ? 0 : gitwrite_run(how, NULL, 0, args);
}

/* git syncs the files but not the directories that have their names. */
static int sync_names(const struct gitwrite *how, const struct gitwrite_refs *refs)
{
	const struct repo *repo = how->repo;
	struct strlist dirs = STRLIST_INIT;
	int err = 0;

	strlist_add(&dirs, repo->gitdir);
	strlist_add(&dirs, repo->commondir);
	strlist_addf(&dirs, "%s/reftable", repo->gitdir);
	strlist_addf(&dirs, "%s/reftable", repo->commondir);
	for (size_t i = 0; i < refs->nr; i++) {
		char *dir = xstrfmt("%s/%s", gitwrite_holder(repo, refs->items[i].name),
				    refs->items[i].name);

		/* One that was made on the way has its name in the one above. */
		for (char *slash;
		     strlen(dir) > strlen(repo->commondir) && (slash = strrchr(dir, '/'));) {
			*slash = '\0';
			strlist_add(&dirs, dir);
		}
		free(dir);
	}
	strlist_sort_unique(&dirs);
	for (size_t i = 0; i < dirs.nr && !err; i++)
		if (fs_is_dir(dirs.items[i]))
			err = fs_sync_dir(AT_FDCWD, dirs.items[i]);
	strlist_release(&dirs);
	return err;
}

static int check_links(const struct gitwrite *how, const struct gitwrite_refs *refs)
{
	char *link = gitwrite_find_link(how->repo, refs, false);
	int err = link ? gitwrite_refuse_link(link) : 0;

	free(link);
	return err;
}

int gitwrite_refs_make(const struct gitwrite *how, const struct gitwrite_refs *refs)
{
	int err = check_links(how, refs);

	return err ? err : move_some(how, refs, false);
}

/*
 * A ref comes before HEAD, so that HEAD never is on one that does not exist yet,
 * and goes after it. A HEAD that leaves its branch does so first: the reflog
 * then tells one move and not two.
 */
int gitwrite_move(const struct gitwrite *how, const struct gitwrite_refs *refs, const char *ref,
		  const char *commit, const struct gitstate *now)
{
	int err = check_links(how, refs);

	if (!err)
		err = ref ? move_some(how, refs, false) : detach_head(how, commit, now);
	if (!err)
		err = ref ? attach_head(how, ref, now) : move_some(how, refs, false);
	if (!err)
		err = move_some(how, refs, true);
	return err ? err : sync_names(how, refs);
}

/* --- configuration --- */

/* Which values a key has; none is fine. */
static bool has_value(const struct gitwrite *how, const char *key, const char *value)
{
	const struct gitrun run = { .gitdir = how->repo->gitdir, .worktree = how->repo->worktree };
	const char *const args[] = { "config", "--local", "-z", "--get-all", key, NULL };
	struct strbuf values = STRBUF_INIT;
	bool found = false;

	if (!gitrun(&values, &run, args))
		for (const char *at = values.buf; at < values.buf + values.len && !found;
		     at += strlen(at) + 1)
			found = !strcmp(at, value);
	strbuf_release(&values);
	return found;
}

void gitwrite_config_drop_present(const struct gitwrite *how, struct strlist *lines)
{
	size_t kept = 0;

	for (size_t i = 0; i < lines->nr; i++) {
		char *key = lines->items[i], *equals = NULL;

		/* A key has no such sign, but the name of the branch in it may have. */
		for (char *at = strchr(key, '='); at && !equals; at = strchr(at + 1, '=')) {
			*at = '\0';
			if (has_value(how, key, at + 1))
				equals = at;
			*at = '=';
		}
		if (equals)
			free(key);
		else
			lines->items[kept++] = key;
	}
	lines->nr = kept;
}

static int set_value(const struct gitwrite *how, const char *key, const char *value, bool add)
{
	const char *const adding[] = { "config", "--local", "--add", key, value, NULL };
	const char *const removing[] = { "config", "--local", "--fixed-value", "--unset-all", key,
					 value,	   NULL };

	if (has_value(how, key, value) == add)
		return 0;
	return gitwrite_run(how, NULL, 0, add ? adding : removing);
}

int gitwrite_config(const struct gitwrite *how, const char *branch, const struct strlist *lines,
		    bool add)
{
	char *section = xstrfmt("branch.%s.", branch);
	size_t len = strlen(section);
	int err = 0;

	for (size_t i = 0; i < lines->nr && !err; i++) {
		const char *line = lines->items[i], *equals;
		char *key;

		/* Of this branch: nothing that runs a command. */
		if (strncmp(line, section, len) || !(equals = strchr(line + len, '=')) ||
		    memchr(line + len, '.', (size_t)(equals - line - (ptrdiff_t)len)))
			continue;
		key = xmemdupz(line, (size_t)(equals - line));
		err = set_value(how, key, equals + 1, add);
		free(key);
	}
	free(section);
	return err;
}
