/* SPDX-License-Identifier: MIT */
#include "git/repo.h"

#include "git/configcond_internal.h"
#include "git/configtext.h"
#include "git/gitconfig.h"
#include "git/gitfile.h"

/*
 * libgit2 finds repositories too, but not those with extensions that it does
 * not know, and it treats the environment differently. The rules are few, so
 * they are implemented here, in the order in which git applies them.
 */

/* The part of a repository's own configuration that decides what it is. */
struct format {
	bool bare;
	bool sha256;
	bool own_config; /* extensions.worktreeConfig */
	char *worktree;	 /* core.worktree as written */
};

static bool has_dir(const char *dir, const char *name)
{
	struct strbuf path = STRBUF_INIT;
	bool found;

	strbuf_addstr(&path, dir);
	path_append(&path, name);
	found = fs_is_dir(path.buf);
	strbuf_release(&path);
	return found;
}

/* `path`, relative to `base`, as a real path; NULL if it does not exist. */
static char *real_from(const char *base, const char *path)
{
	struct strbuf full = STRBUF_INIT;
	char *real;

	if (path[0] != '/') {
		strbuf_addstr(&full, base);
		path_append(&full, path);
	} else {
		strbuf_addstr(&full, path);
	}
	real = path_real(full.buf);
	strbuf_release(&full);
	return real;
}

/* If `dir` is a git directory, the directory that its worktrees share. */
static char *common_of_gitdir(const char *dir)
{
	char *head = gitfile_head(dir), *text, *common = NULL;

	if (!head)
		return NULL;
	if (gitfile_symref(head) || gitfile_is_id(head)) {
		text = gitfile_read(dir, "commondir");
		common = text ? real_from(dir, text) : path_real(dir);
		free(text);
	}
	if (common && (!has_dir(common, "objects") || !has_dir(common, "refs"))) {
		free(common);
		common = NULL;
	}
	free(head);
	return common;
}

/* The main worktree, or one that git has made for `common`: who only names a repository is none. */
static bool is_one_of(const char *gitdir, const char *common)
{
	const char *below = path_below(gitdir, common);

	return below && (!*below || path_below(below, "worktrees"));
}

/*
 * Follow `path`, a git directory or a file that names one. CKPT_ENOTFOUND if
 * it is neither; CKPT_ERROR if it is a file that leads nowhere: looking
 * further up would mistake another project for this one.
 */
static int resolve_gitdir(char **gitdir_out, char **common_out, const char *path)
{
	char *text = NULL, *gitdir = NULL, *common = NULL;
	struct stat st;
	int err = 0;

	if (stat(path, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return ckpt_error_set(CKPT_ENOTFOUND, "not a git repository: '%s'", path);
	if (S_ISDIR(st.st_mode)) {
		gitdir = path_real(path);
	} else {
		char *dir = xmemdupz(path, (size_t)(strrchr(path, '/') - path + 1));

		text = gitfile_read(dir, strrchr(path, '/') + 1);
		if (text && !strncmp(text, "gitdir: ", 8))
			gitdir = real_from(dir, text + 8);
		free(dir);
	}
	common = gitdir ? common_of_gitdir(gitdir) : NULL;
	if (common && !is_one_of(gitdir, common)) {
		err = ckpt_error_set(CKPT_ERROR, "'%s' takes its history from '%s', which has no such "
						 "worktree; remove 'commondir' there",
				     gitdir, common);
	} else if (common) {
		*gitdir_out = gitdir;
		*common_out = common;
		gitdir = common = NULL;
	} else if (S_ISDIR(st.st_mode)) {
		err = ckpt_error_set(CKPT_ENOTFOUND, "not a git repository: '%s'", path);
	} else {
		err = ckpt_error_set(CKPT_ERROR, "'%s' does not lead to a git repository", path);
	}
	free(common);
	free(gitdir);
	free(text);
	return err;
}

/* Frees the text, which may be NULL. Most configurations can be ruled out without parsing. */
static bool config_mentions(char *text, const char *const words[])
{
	bool found = false;

	for (size_t i = 0; text && words[i] && !found; i++)
		found = strcasestr(text, words[i]) != NULL;
	free(text);
	return found;
}

static int note_format(const char *key, const char *value, void *payload)
{
	struct format *format = payload;
	const char *text = value ? value : "true";

	if (!strcmp(key, "extensions.objectformat")) {
		format->sha256 = !strcasecmp(text, "sha256");
	} else if (!strcmp(key, "extensions.worktreeconfig")) {
		gitconfig_parse_bool(&format->own_config, text);
	} else if (!strcmp(key, "core.bare")) {
		gitconfig_parse_bool(&format->bare, text);
	} else if (!strcmp(key, "core.worktree")) {
		free(format->worktree);
		format->worktree = xstrdup(text);
	}
	return 0;
}

static int read_config(struct format *out, const char *dir, const char *name)
{
	char *text = gitfile_read_long(dir, name);
	int err = text ? configtext_parse(text, strlen(text), note_format, out) : 0;

	free(text);
	return err ? ckpt_error_prefix(err, "unable to read '%s/%s'", dir, name) : 0;
}

/*
 * core.bare and core.worktree of the shared configuration are the main
 * worktree's, unless each worktree has its own configuration.
 */
static int read_format(struct format *out, const char *gitdir, const char *common)
{
	static const char *const words[] = { "worktree", "objectformat", "bare", NULL };
	int err;

	if (!config_mentions(gitfile_read_long(common, "config"), words))
		return 0;
	err = read_config(out, common, "config");
	if (!err && strcmp(gitdir, common)) {
		out->bare = false;
		free(out->worktree);
		out->worktree = NULL;
	}
	if (!err && out->own_config && config_mentions(gitfile_read_long(gitdir, "config.worktree"), words))
		err = read_config(out, gitdir, "config.worktree");
	return err;
}

/* The same for a nested repository, of which only the kind of its ids matters. */
static bool is_sha256(const char *common)
{
	static const char *const words[] = { "objectformat", NULL };
	struct format format = { 0 };

	if (config_mentions(gitfile_read(common, "config"), words))
		read_format(&format, common, common);
	free(format.worktree);
	return format.sha256;
}

static struct repo *repo_new(char *worktree, char *gitdir, char *common, bool sha256)
{
	struct repo *repo = xcalloc(1, sizeof(*repo));

	repo->worktree = worktree;
	repo->gitdir = gitdir;
	repo->commondir = common;
	repo->sha256 = sha256;
	return repo;
}

void repo_free(struct repo *repo)
{
	if (!repo)
		return;
	free(repo->worktree);
	free(repo->gitdir);
	free(repo->commondir);
	free(repo);
}

static int refuse_gitdir(const char *cwd, const char *dir, const char *common)
{
	struct format format = { 0 };

	if (path_has_dotgit(cwd))
		return ckpt_error_set(CKPT_ERROR,
				      "the current directory is inside a .git directory; go to the "
				      "worktree");
	if (!read_format(&format, dir, common) && format.bare) {
		free(format.worktree);
		return ckpt_error_set(CKPT_ERROR,
				      "this is a bare repository, which has no files to save; go to a "
				      "worktree of it");
	}
	free(format.worktree);
	return ckpt_error_set(CKPT_ERROR, "the current directory is inside the git directory '%s'; go to "
					  "the worktree", dir);
}

static int discover_from_env(struct repo **out, const char *cwd, const char *git_dir,
			     const char *work_tree)
{
	char *gitdir, *common, *worktree;
	struct strbuf path = STRBUF_INIT;
	struct format format = { 0 };
	int err;

	path_absolute(&path, cwd, git_dir);
	err = resolve_gitdir(&gitdir, &common, path.buf);
	strbuf_release(&path);
	if (err)
		return ckpt_error_prefix(CKPT_ERROR, "GIT_DIR");
	worktree = real_from(cwd, work_tree);
	if (!worktree || !fs_is_dir(worktree))
		err = ckpt_error_set(CKPT_ERROR, "GIT_WORK_TREE: '%s' is not a directory",
				     work_tree);
	if (!err)
		err = read_format(&format, gitdir, common);
	free(format.worktree);
	if (err) {
		free(worktree);
		free(gitdir);
		free(common);
		return err;
	}
	*out = repo_new(worktree, gitdir, common, format.sha256);
	return 0;
}

/* --- whose it is --- */

/* As git sees it: what root owns counts only for root, with sudo also what the caller owns. */
static bool is_owned(const char *path)
{
	const char *sudo = geteuid() ? NULL : getenv("SUDO_UID");
	uint64_t uid = geteuid();
	struct stat st;

	if (lstat(path, &st) < 0)
		return false;
	return st.st_uid == uid || (sudo && units_parse_number(&uid, sudo) && st.st_uid == uid);
}

struct safety {
	const char *worktree;
	bool safe;
};

/* A value of safe.directory; the last that has something to say counts. */
static int note_safe(const char *key, const char *value, enum gitconfig_level level, void *payload)
{
	struct safety *safety = payload;
	struct strbuf path = STRBUF_INIT;
	size_t len = strlen(value);
	char *real;

	(void)key;
	if (level == GITCONFIG_LOCAL)
		return 0;
	if (!*value)
		safety->safe = false;
	else if (!strcmp(value, "*"))
		safety->safe = true;
	else if (configcond_expand(&path, value)) {
		bool below = len > 1 && !strcmp(value + len - 2, "/*");

		if (below)
			strbuf_setlen(&path, path.len - 2);
		real = path_real(path.buf);
		if (real && (below ? path_below(safety->worktree, real) != NULL
				   : !strcmp(safety->worktree, real)))
			safety->safe = true;
		free(real);
	}
	strbuf_release(&path);
	return 0;
}

/*
 * Who may write in a directory above could otherwise say what the user's worktree is, and what is
 * in its configuration. git's own rule, and git's way to say that it is all right.
 */
static int check_owner(const char *dir, const char *dotgit, const char *gitdir)
{
	struct safety safety = { .worktree = dir };
	struct gitconfig *config = NULL;
	int err;

	if (is_owned(dir) && is_owned(dotgit) && is_owned(gitdir))
		return 0;
	err = gitconfig_open(&config, NULL);
	if (!err)
		(void)gitconfig_each(config, "safe.directory", note_safe, &safety);
	gitconfig_close(config);
	if (!err && !safety.safe)
		err = ckpt_error_set(CKPT_ERROR,
				     "the repository in '%s' belongs to another user; if you trust it, "
				     "add its path to safe.directory in your git configuration",
				     dir);
	return err;
}

/* --- where it is --- */

/* Not what lies beside or above: whoever asked for this directory did not ask for that. */
static int choose_worktree(char **out, const char *cwd, const char *dir, const char *real)
{
	/* A stale setting, as in moved submodules, must not hide the current files. */
	if (!real || !path_below(cwd, real))
		*out = xstrdup(dir);
	else if (!path_below(real, dir))
		return ckpt_error_set(CKPT_ERROR,
				      "core.worktree of the repository in '%s' leads out of it, to '%s'; "
				      "if that is meant, set GIT_DIR and GIT_WORK_TREE",
				      dir, real);
	else
		*out = xstrdup(real);
	return 0;
}

/* A repository was found at `dir`/.git; takes `gitdir` and `common`. */
static int make_repo(struct repo **out, const char *cwd, const char *dir, char *gitdir, char *common)
{
	char *dotgit = xstrfmt("%s/.git", strcmp(dir, "/") ? dir : ""), *worktree = NULL, *real = NULL;
	struct format format = { 0 };
	int err = check_owner(dir, dotgit, gitdir);

	if (!err)
		err = read_format(&format, gitdir, common);
	if (!err && format.bare && !format.worktree)
		err = ckpt_error_set(CKPT_ERROR,
				     "this is a bare repository, which has no files to save; go to a "
				     "worktree of it");
	if (!err && format.worktree)
		real = real_from(gitdir, format.worktree);
	if (!err)
		err = choose_worktree(&worktree, cwd, dir, real);
	if (!err) {
		*out = repo_new(worktree, gitdir, common, format.sha256);
	} else {
		free(gitdir);
		free(common);
	}
	free(format.worktree);
	free(real);
	free(dotgit);
	return err;
}

static bool is_named_dotgit(const char *dir)
{
	return !strcmp(strrchr(dir, '/') + 1, ".git");
}

static int walk_up(struct repo **out, const char *cwd)
{
	struct strbuf dir = STRBUF_INIT, dotgit = STRBUF_INIT;
	char *gitdir, *common;
	struct stat st;
	dev_t device;
	int err;

	strbuf_addstr(&dir, cwd);
	device = stat(cwd, &st) ? 0 : st.st_dev;
	for (;;) {
		strbuf_reset(&dotgit);
		strbuf_addstr(&dotgit, dir.buf);
		path_append(&dotgit, ".git");
		err = resolve_gitdir(&gitdir, &common, dotgit.buf);
		if (!err)
			err = make_repo(out, cwd, dir.buf, gitdir, common);
		if (err != CKPT_ENOTFOUND)
			break;
		common = common_of_gitdir(dir.buf);
		if (common || is_named_dotgit(dir.buf)) {
			err = refuse_gitdir(cwd, dir.buf, common ? common : dir.buf);
			free(common);
			break;
		}
		if (dir.len == 1)
			break;
		strbuf_setlen(&dir, (size_t)(strrchr(dir.buf, '/') - dir.buf));
		if (!dir.len)
			strbuf_addch(&dir, '/');
		/* What is mounted here belongs to another tree. */
		if (stat(dir.buf, &st) < 0 || st.st_dev != device)
			break;
	}
	if (err == CKPT_ENOTFOUND)
		err = ckpt_error_set(err, "'%s' is not in a git worktree", cwd);
	strbuf_release(&dir);
	strbuf_release(&dotgit);
	return err;
}

int repo_discover(struct repo **out)
{
	const char *git_dir = env_git("GIT_DIR"), *work_tree = env_git("GIT_WORK_TREE");
	char *cwd = getcwd(NULL, 0);
	int err;

	if (!cwd) {
		ckpt_error_errno("unable to get the current directory");
		return CKPT_ERROR;
	}
	if (git_dir && *git_dir && work_tree && *work_tree)
		err = discover_from_env(out, cwd, git_dir, work_tree);
	else
		err = walk_up(out, cwd);
	free(cwd);
	return err;
}

int repo_open_at(struct repo **out, const char *dir)
{
	struct strbuf dotgit = STRBUF_INIT;
	char *gitdir, *common, *worktree;
	int err;

	strbuf_addstr(&dotgit, dir);
	path_append(&dotgit, ".git");
	err = resolve_gitdir(&gitdir, &common, dotgit.buf);
	strbuf_release(&dotgit);
	if (err)
		return CKPT_ENOTFOUND;
	worktree = path_real(dir);
	*out = repo_new(worktree ? worktree : xstrdup(dir), gitdir, common, is_sha256(common));
	return 0;
}
