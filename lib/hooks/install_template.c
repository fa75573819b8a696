/* SPDX-License-Identifier: MIT */
#include "hooks/install_internal.h"

#include "git/git.h"

struct walk {
	struct install_changes *changes;
	struct strlist *dirs; /* that have to exist, even if they are empty */
	const struct install_where *where;
	const char *const *names; /* of hooks, which get a line */
	const char *from;
};

enum { DEPTH_MAX = 50 };

/* ---- the user's template, or git's ---- */

/* Where git keeps its own, beside its programs; NULL if it is not there. */
static char *find_gits_own(void)
{
	static const char *const args[] = { "--exec-path", NULL };
	const struct gitrun how = { .profile = GITRUN_LOOK };
	struct strbuf out = STRBUF_INIT;
	char *path = NULL;

	if (!gitrun(&out, &how, args)) {
		strbuf_setlen(&out, strcspn(out.buf, "\n"));
		path = xstrfmt("%s/../../share/git-core/templates", out.buf);
	}
	strbuf_release(&out);
	if (path && fs_is_dir(path))
		return path;
	free(path);
	return NULL;
}

char *install_template_from(const struct install_where *where, const struct gitconfig *config)
{
	const char *value = install_config_before(config, "init.templatedir", where);

	return value ? install_expand_home(value) : NULL;
}

/* ---- what is in it ---- */

static bool is_hook(const struct walk *walk, const char *below)
{
	for (size_t i = 0; walk->names[i]; i++)
		if (!strncmp(below, "hooks/", 6) && !strcmp(below + 6, walk->names[i]))
			return true;
	return false;
}

static int add_line(struct strbuf *text, const struct walk *walk, const char *path, mode_t mode)
{
	const char *name = strrchr(path, '/') + 1;
	struct strbuf hook = STRBUF_INIT;

	if (!S_ISREG(mode) || !(mode & 0100) || !install_is_shell(text))
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' is not an executable shell script, so it cannot take our "
				      "line; make it a script that runs what it is now, and try again",
				      path);
	install_hook(&hook, walk->where, NULL, name);
	install_insert(text, hook.buf);
	strbuf_release(&hook);
	return 0;
}

static int add_file(const struct walk *walk, const char *path, const char *below, const struct stat *st)
{
	char *ours = xstrfmt("%s/" INSTALL_TEMPLATE "/%s", walk->where->dir, below);
	char target[PATH_MAX + 1] = "";
	struct strbuf text = STRBUF_INIT;
	struct install_change *change;
	bool link = S_ISLNK(st->st_mode);
	int err = 0;

	if (!link)
		err = fs_read_text(&text, AT_FDCWD, path);
	else if (readlink(path, target, PATH_MAX) < 0)
		err = ckpt_error_errno("unable to read the link '%s'", path);
	strbuf_addstr(&text, target);
	if (!err && is_hook(walk, below))
		err = add_line(&text, walk, path, st->st_mode);
	if (!err) {
		change = install_changes_add(walk->changes, walk->where,
					     link ? INSTALL_LINK : INSTALL_FILE, ours);
		change->mode = st->st_mode & 0777;
		change->len = text.len;
		change->text = install_changes_keep(walk->changes, strbuf_detach(&text, NULL));
	}
	strbuf_release(&text);
	free(ours);
	return err;
}

/* Everything that git would copy. */
static int walk_below(const struct walk *walk, struct strbuf *path, int depth)
{
	struct strlist names = STRLIST_INIT;
	size_t len = path->len;
	struct stat st;
	int err = 0;

	if (depth > DEPTH_MAX)
		return ckpt_error_set(CKPT_ERROR, "'%s' is too deep for a template", path->buf);
	if (fs_names(&names, AT_FDCWD, path->buf, 0, NULL) < 0)
		err = ckpt_error_errno("unable to list '%s'", path->buf);
	for (size_t i = 0; i < names.nr && !err; i++) {
		const char *below;

		if (names.items[i][0] == '.')
			continue;
		path_append(path, names.items[i]);
		below = path->buf + strlen(walk->from) + 1;
		if (lstat(path->buf, &st) < 0)
			err = ckpt_error_errno("unable to look at '%s'", path->buf);
		else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
			err = add_file(walk, path->buf, below, &st);
		else if (S_ISDIR(st.st_mode)) { /* git ignores what is neither */
			strlist_addf(walk->dirs, "%s/" INSTALL_TEMPLATE "/%s", walk->where->dir, below);
			err = walk_below(walk, path, depth + 1);
		}
		strbuf_setlen(path, len);
	}
	strlist_release(&names);
	return err;
}

static void add_missing_hooks(const struct walk *walk)
{
	for (size_t i = 0; walk->names[i]; i++) {
		char *path = xstrfmt("%s/" INSTALL_TEMPLATE "/hooks/%s", walk->where->dir,
				     walk->names[i]);
		struct strbuf text = STRBUF_INIT;

		if (!install_changes_have(walk->changes, path)) {
			install_hook(&text, walk->where, NULL, walk->names[i]);
			install_changes_add(walk->changes, walk->where, INSTALL_FILE, path)->text =
				install_changes_keep(walk->changes, strbuf_detach(&text, NULL));
		}
		strbuf_release(&text);
		free(path);
	}
}

int install_template_add(struct install_changes *changes, struct strlist *dirs,
			 const struct install_where *where, const char *const names[],
			 const struct gitconfig *config)
{
	char *own = install_template_from(where, config), *from = own ? own : find_gits_own();
	struct walk walk = { changes, dirs, where, names, from };
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	if (own && *own && (*own != '/' || !fs_is_dir(own)))
		err = ckpt_error_set(CKPT_ERROR,
				     "init.templateDir names '%s', which is not the absolute path "
				     "of a directory; create it, or run 'git config --global "
				     "--unset init.templateDir'",
				     own);
	if (!err && from && *from) { /* "": none */
		strbuf_addstr(&path, from);
		err = walk_below(&walk, &path, 0);
	}
	if (!err)
		add_missing_hooks(&walk);
	strbuf_release(&path);
	free(from);
	return err;
}

/* ---- status ---- */

/* A file more or less is one, too. */
static size_t count_installed(const struct install_where *where)
{
	char *dir = install_where_path(where, INSTALL_TEMPLATE);
	struct strlist all = STRLIST_INIT;
	size_t nr = 0;

	(void)install_list(&all, where->by);
	for (size_t i = 0; i < all.nr; i++)
		nr += path_below(all.items[i], dir) != NULL;
	strlist_release(&all);
	free(dir);
	return nr;
}

bool install_template_outdated(const struct install_where *where, const char *const names[],
			       const struct gitconfig *config)
{
	char *own = install_template_from(where, config);
	struct install_changes changes = { 0 };
	struct strlist dirs = STRLIST_INIT;
	bool outdated = false;

	if (own && *own) {
		outdated = install_template_add(&changes, &dirs, where, names, config) ||
			   count_installed(where) != changes.nr;
		for (size_t i = 0; i < changes.nr && !outdated; i++) {
			enum install_state state;

			outdated = install_look(&state, &changes.items[i]) || state != INSTALL_THERE;
		}
	}
	strlist_release(&dirs);
	install_changes_release(&changes);
	free(own);
	return outdated;
}
