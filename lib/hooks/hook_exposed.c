/* SPDX-License-Identifier: MIT */
#include "hooks/hook_internal.h"

#include "git/git.h"
#include "tree/tree.h"

#define WALK_LIMIT "--max-count=5001" /* one more */

enum {
	WALK_MAX = 5000, /* commits; with more of them anything may be written */
	TREES_MAX = 64,
};

struct find {
	struct strlist *out;
	struct strlist hidden; /* what was left out, including secrets; sorted */
	int rootfd;
	const struct repo *repo;
	bool unknown;
};

/* --- asking git --- */

static bool is_stopped(void *payload UNUSED)
{
	return cancel_check() != 0;
}

static int ask_git(struct strbuf *out, const struct find *find, const struct strbuf *input,
	       const char *const args[])
{
	const struct gitrun how = {
		.gitdir = find->repo->gitdir,
		.worktree = find->repo->worktree,
		.input = input ? input->buf : NULL,
		.input_len = input ? input->len : 0,
		.stop = is_stopped,
		.replace = true, /* as for the command in question */
	};

	return askgit(out, &how, args);
}

/* --- a path that git may write --- */

/* The part of `path` that exists and would have to go; 0: none. */
static size_t in_the_way(const struct find *find, const char *path, size_t from)
{
	struct strbuf part = STRBUF_INIT;
	size_t len = from, found = 0;

	for (;;) {
		struct stat st;

		strbuf_reset(&part);
		strbuf_add(&part, path, len);
		if (fstatat(find->rootfd, part.buf, &st, AT_SYMLINK_NOFOLLOW) < 0)
			break;
		if (!S_ISDIR(st.st_mode) || !path[len]) {
			found = len;
			break;
		}
		len += 1 + strcspn(path + len + 1, "/");
	}
	strbuf_release(&part);
	return found;
}

static void consider_path(struct find *find, const char *path)
{
	size_t len = 0;

	do {
		char *part;
		bool hidden;

		len += strcspn(path + len, "/");
		part = xmemdupz(path, len);
		hidden = pathset_has(&find->hidden, part);
		free(part);
		if (hidden) {
			size_t found = in_the_way(find, path, len);

			if (found)
				strlist_take(find->out, xmemdupz(path, found));
			return;
		}
	} while (path[len++]);
	/* A file in place of a directory with such files. */
	if (pathset_reaches(&find->hidden, path))
		strlist_add(find->out, path);
}

/* Names with a NUL after each. */
static void consider_all(struct find *find, const struct strbuf *names)
{
	for (const char *p = names->buf, *end = p + names->len; p < end; p += strlen(p) + 1)
		if (*p)
			consider_path(find, p);
}

/* --- names of commits --- */

static void add_file(struct strlist *out, const struct repo *repo, const char *name)
{
	char *text = gitfile_read(repo->gitdir, name);

	if (text && *text && !strchr(text, '\n'))
		strlist_add(out, text);
	free(text);
}

/* The second word of each line: "pick 1234abc subject". */
static void add_todo(struct strlist *out, const struct repo *repo, const char *name)
{
	char *text = gitfile_read_long(repo->gitdir, name);

	for (char *line = text, *next; line; line = next) {
		char *word, *save = NULL;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		word = *line == '#' ? NULL : strtok_r(line, " \t", &save);
		word = word ? strtok_r(NULL, " \t", &save) : NULL;
		if (word && *word != '-' && strspn(word, "0123456789abcdef") == strlen(word))
			strlist_add(out, word);
	}
	free(text);
}

static bool has_ref(const struct repo *repo, const char *name)
{
	char *id = repo_ref(repo, name);

	free(id);
	return id != NULL;
}

/* What an operation in progress may go back to, or continue with. */
static void add_ongoing(struct strlist *trees, struct strlist *walk, const struct repo *repo)
{
	static const char *const refs[] = { "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD",
					    "REVERT_HEAD", "REBASE_HEAD" };
	static const char *const files[] = { "rebase-merge/onto", "rebase-merge/orig-head",
					     "rebase-apply/onto", "rebase-apply/orig-head",
					     "rebase-apply/abort-safety", "sequencer/head",
					     "sequencer/abort-safety", "BISECT_START" };

	for (size_t i = 0; i < ARRAY_SIZE(refs); i++)
		strlist_add(trees, refs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		add_file(trees, repo, files[i]);
	if (walk->nr)
		return;
	strlist_add(walk, "--no-walk");
	add_todo(walk, repo, "rebase-merge/git-rebase-todo");
	add_todo(walk, repo, "sequencer/todo");
	/* Their changes are reverted, or applied again; not those of the first. */
	for (size_t i = 1; i < ARRAY_SIZE(refs); i++)
		if (has_ref(repo, refs[i]))
			strlist_add(walk, refs[i]);
}

static void add_line(struct strbuf *out, const char *name)
{
	if (!strchr(name, '\n'))
		strbuf_addf(out, "%s\n", name);
}

/* The objects that the names refer to, each once: commits, tags and trees. */
static int resolve_names(struct strlist *out, const struct find *find, const struct strlist *names)
{
	static const char *const argv[] = { "cat-file",
					    "--batch-check=%(objectname) %(objecttype)", NULL };
	struct strbuf input = STRBUF_INIT, answer = STRBUF_INIT;
	int err;

	for (size_t i = 0; i < names->nr; i++)
		add_line(&input, names->items[i]);
	err = ask_git(&answer, find, &input, argv);
	for (const char *line = answer.buf; !err && *line;) {
		size_t len = strcspn(line, "\n"), id = strcspn(line, " \n");
		const char *type = line + id + 1;

		/* Otherwise it is a name, and a word that says why not. */
		if (gitfile_is_id(line) && strncmp(type, "blob", 4) && strncmp(type, "missing", 7))
			strlist_take(out, xmemdupz(line, id));
		line += len + (line[len] == '\n');
	}
	strlist_sort_unique(out);
	strbuf_release(&input);
	strbuf_release(&answer);
	return err;
}

/* `git checkout name` makes a branch of that name if a remote has one. */
static void add_guess(struct strlist *out, const struct find *find, const char *name)
{
	char *pattern = xstrfmt("refs/remotes/*/%s", name);
	char *branch = xstrfmt("refs/heads/%s", name);
	const char *argv[] = { "for-each-ref", "--format=%(objectname)", pattern, NULL };
	struct strbuf answer = STRBUF_INIT;

	if (!has_ref(find->repo, branch))
		(void)ask_git(&answer, find, NULL, argv);
	for (const char *line = answer.buf; *line;) {
		size_t len = strcspn(line, "\n");

		strlist_take(out, xmemdupz(line, len));
		line += len + (line[len] == '\n');
	}
	strbuf_release(&answer);
	free(pattern);
	free(branch);
}

/* --- what they may write --- */

/* What a tree has and the index does not. */
static int consider_tree(struct find *find, const char *id)
{
	const char *argv[] = { "diff-index", "--cached", "-z", "--name-only", "--no-renames",
			       "--diff-filter=D", "--ignore-submodules=all", id, NULL };
	struct strbuf names = STRBUF_INIT;
	int err = ask_git(&names, find, NULL, argv);

	if (!err)
		consider_all(find, &names);
	strbuf_release(&names);
	return err;
}

static int consider_trees(struct find *find, const struct strlist *names)
{
	struct strlist ids = STRLIST_INIT;
	int err = resolve_names(&ids, find, names);

	if (ids.nr > TREES_MAX)
		find->unknown = true;
	for (size_t i = 0; i < ids.nr && !err && !find->unknown; i++)
		err = consider_tree(find, ids.items[i]);
	strlist_release(&ids);
	return err;
}

/* The commits that are meant, a line each. */
static int list_walk(struct strbuf *out, const struct find *find, const struct strlist *walk)
{
	const char **argv = xcalloc(walk->nr + 4, sizeof(*argv));
	size_t nr = 0;
	int err;

	argv[nr++] = "rev-list";
	argv[nr++] = WALK_LIMIT;
	for (size_t i = 0; i < walk->nr; i++)
		argv[nr++] = walk->items[i];
	argv[nr] = "--";
	err = ask_git(out, find, NULL, argv);
	free(argv);
	return err;
}

/* All paths that the commits touch. */
static int consider_walk(struct find *find, const struct strlist *walk)
{
	static const char *const argv[] = { "diff-tree", "--stdin", "-r", "-m", "-z", "--root",
					    "--name-only", "--no-commit-id", "--no-renames",
					    "--ignore-submodules=all", NULL };
	struct strbuf commits = STRBUF_INIT, names = STRBUF_INIT;
	size_t nr = 0;
	int err = 0;

	/* It cannot be understood: git itself will say so, and change nothing. */
	if (list_walk(&commits, find, walk))
		goto out;
	for (const char *p = commits.buf; (p = strchr(p, '\n')); p++)
		nr++;
	if (nr > WALK_MAX) {
		find->unknown = true;
		goto out;
	}
	err = ask_git(&names, find, &commits, argv);
	if (!err)
		consider_all(find, &names);
out:
	strbuf_release(&commits);
	strbuf_release(&names);
	return err;
}

/* `name` as it was given below `prefix` in `root`. */
static void from_prefix(struct strbuf *out, const char *root, const char *prefix, const char *name)
{
	struct strbuf base = STRBUF_INIT;

	strbuf_addf(&base, "%s/%s", root, prefix);
	path_absolute(out, base.buf, name);
	strbuf_release(&base);
}

static void consider_paths(struct find *find, const struct strlist *paths, const char *prefix)
{
	for (size_t i = 0; i < paths->nr; i++) {
		struct strbuf path = STRBUF_INIT;

		from_prefix(&path, "", prefix, paths->items[i]);
		if (path.len > 1)
			consider_path(find, path.buf + 1);
		strbuf_release(&path);
	}
}

/* Of `apply --numstat -z`: "1 TAB 2 TAB path NUL", for a renamed one "1 TAB 2 TAB NUL old NUL new NUL". */
static void consider_stat(struct find *find, const struct strbuf *answer)
{
	for (const char *p = answer->buf, *end = p + answer->len; p < end; p += strlen(p) + 1) {
		const char *tab = strrchr(p, '\t'), *name = tab ? tab + 1 : p;

		if (*name)
			consider_path(find, name);
	}
}

static int consider_patches(struct find *find, const struct strlist *files, const char *prefix)
{
	int err = 0;

	/* From stdin. */
	if (!files->nr)
		find->unknown = true;
	for (size_t i = 0; i < files->nr && !err && !find->unknown; i++) {
		struct strbuf path = STRBUF_INIT, answer = STRBUF_INIT;
		const char *argv[] = { "apply", "--numstat", "-z", NULL, NULL };
		struct stat st;

		from_prefix(&path, find->repo->worktree, prefix, files->items[i]);
		argv[3] = path.buf;
		/* What is in a named pipe can be read only once, by git. */
		if (stat(path.buf, &st) < 0 || !S_ISREG(st.st_mode))
			find->unknown = true;
		else
			err = ask_git(&answer, find, NULL, argv);
		if (!err)
			consider_stat(find, &answer);
		strbuf_release(&path);
		strbuf_release(&answer);
	}
	return err;
}

/* True if `path` is in a nested repository. */
static bool in_module(const struct find *find, const char *path)
{
	struct strbuf dotgit = STRBUF_INIT;
	bool found = false;

	for (const char *slash = strchr(path, '/'); slash && !found; slash = strchr(slash + 1, '/')) {
		strbuf_reset(&dotgit);
		strbuf_add(&dotgit, path, (size_t)(slash - path));
		strbuf_addstr(&dotgit, "/.git");
		found = !faccessat(find->rootfd, dotgit.buf, F_OK, AT_SYMLINK_NOFOLLOW);
	}
	strbuf_release(&dotgit);
	return found;
}

static void consider_modules(struct find *find)
{
	for (size_t i = 0; i < find->hidden.nr; i++)
		if (in_module(find, find->hidden.items[i]))
			strlist_add(find->out, find->hidden.items[i]);
}

/* --- everything --- */

static void list_hidden(struct find *find, const struct scan *scan)
{
	strlist_extend(&find->hidden, &scan->left_out);
	for (size_t i = 0; i < scan->skips.nr; i++)
		if (scan->skips.items[i].why == SKIP_SENSITIVE)
			strlist_add(&find->hidden, scan->skips.items[i].path);
	strlist_sort_unique(&find->hidden);
}

static int ask_all(struct find *find, const struct hook_targets *targets, const char *prefix)
{
	struct strlist trees = STRLIST_INIT, walk = STRLIST_INIT;
	int err;

	strlist_extend(&trees, &targets->trees);
	strlist_extend(&walk, &targets->walk);
	if (targets->ongoing)
		add_ongoing(&trees, &walk, find->repo);
	if (targets->guess)
		add_guess(&trees, find, targets->guess);
	err = trees.nr ? consider_trees(find, &trees) : 0;
	if (!err && !find->unknown && walk.nr && strcmp(walk.items[walk.nr - 1], "--no-walk"))
		err = consider_walk(find, &walk);
	if (!err && !find->unknown && targets->merges_patches)
		err = consider_patches(find, &targets->patches, prefix);
	strlist_release(&trees);
	strlist_release(&walk);
	return err;
}

int hook_exposed_find(struct strlist *out, const struct scan *scan, const struct repo *repo,
		      const struct hook_targets *targets, const char *prefix)
{
	struct find find = { .out = out, .rootfd = scan->rootfd, .repo = repo,
			     .unknown = targets->unknown };
	int err = 0;

	list_hidden(&find, scan);
	if (find.hidden.nr && !find.unknown)
		err = ask_all(&find, targets, prefix);
	/* If git cannot tell, for example because of a missing object, it may be anything. */
	if (err && !cancel_check()) {
		find.unknown = true;
		err = 0;
	}
	if (find.unknown) {
		strlist_extend(out, &find.hidden);
	} else {
		consider_paths(&find, &targets->paths, prefix);
		if (targets->modules)
			consider_modules(&find);
	}
	strlist_release(&find.hidden);
	return err;
}
