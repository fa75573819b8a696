/* SPDX-License-Identifier: MIT */
#include "hooks/install_internal.h"

#include "git/git.h"

#define FRAME "#!/bin/sh\n"

/* ---- directories ---- */

/* `path` is taken over. */
static char *follow_links(char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		return path;
	free(path);
	return real;
}

static char *find_holder(const char *path)
{
	return xmemdupz(path, (size_t)(strrchr(path, '/') - path));
}

/* The main worktree, if the git directory is its ".git". */
static void add_roots(struct strlist *roots, const struct repo *repo)
{
	const char *slash = strrchr(repo->commondir, '/');

	strlist_add(roots, repo->commondir);
	strlist_add(roots, repo->worktree);
	if (slash && !strcmp(slash, "/.git"))
		strlist_take(roots, find_holder(repo->commondir));
}

void install_where_repo(struct install_where *out, const struct repo *repo)
{
	*out = (struct install_where){
		.dir = xstrfmt("%s/" INSTALL_DIR, repo->commondir),
		.config = xstrfmt("%s/config", repo->commondir),
		.worktree = xstrdup(repo->worktree),
		.by = xstrfmt("hooks of %s", repo->commondir),
	};
	add_roots(&out->roots, repo);
}

/* As `git config --global` chooses: the other file only if there is no ~/.gitconfig. */
static char *find_users_config(void)
{
	const char *home = getenv("HOME"), *override = env_git("GIT_CONFIG_GLOBAL");
	char *base, *path, *other;

	if (override)
		return path_resolve(override);
	if (!home || *home != '/')
		return NULL;
	path = xstrfmt("%s/.gitconfig", home);
	base = env_user_dir("XDG_CONFIG_HOME", ".config");
	other = xstrfmt("%s/git/config", base);
	if (access(path, F_OK) < 0 && !access(other, F_OK)) {
		free(path);
		path = xstrdup(other);
	}
	free(other);
	free(base);
	return follow_links(path);
}

int install_where_global(struct install_where *out)
{
	char *data = env_user_dir("XDG_DATA_HOME", ".local/share");
	struct stat st;

	*out = (struct install_where){ .global = true,
				       .by = xstrdup("hooks"),
				       .config = find_users_config() };
	if (data) {
		out->dir = xstrfmt("%s" INSTALL_GLOBAL, data);
		strlist_take(&out->roots, find_holder(out->dir));
	}
	free(data);
	if (out->dir && out->config && *out->config &&
	    (stat(out->config, &st) < 0 || S_ISREG(st.st_mode)))
		return 0;
	install_where_release(out);
	return ckpt_error_set(CKPT_ERROR, "unable to find the global configuration; set HOME to an "
					  "absolute path, and GIT_CONFIG_GLOBAL to a file or not at "
					  "all");
}

void install_where_release(struct install_where *where)
{
	free(where->dir);
	free(where->config);
	free(where->by);
	free(where->worktree);
	strlist_release(&where->roots);
	memset(where, 0, sizeof(*where));
}

char *install_where_path(const struct install_where *where, const char *name)
{
	return xstrfmt("%s/%s", where->dir, name);
}

char *install_expand_home(const char *value)
{
	const char *home = getenv("HOME");

	return !strncmp(value, "~/", 2) && home ? xstrfmt("%s%s", home, value + 1) : xstrdup(value);
}

/* ---- git's directory of hooks ---- */

/* Within the git directory, this worktree or the main one. */
static bool is_own(const char *dir, const struct repo *repo)
{
	struct strlist roots = STRLIST_INIT;
	bool own = false;

	add_roots(&roots, repo);
	for (size_t i = 0; i < roots.nr; i++)
		own = own || path_below(dir, roots.items[i]);
	strlist_release(&roots);
	return own;
}

/*
 * Tracked files: with our line in one of them git would refuse to rebase, and
 * a commit would pass it to others.
 */
static bool is_tracked(const char **why_out, const char *dir, const struct repo *repo)
{
	const char *below = path_below(dir, repo->worktree);
	struct gitindex *index = NULL;
	bool tracked;

	if (path_below(dir, repo->commondir) || !below)
		return false;
	if (gitindex_open(&index, repo->worktree, repo->gitdir, repo->sha256)) {
		*why_out = "which may have tracked files: the index cannot be read";
		return true;
	}
	*why_out = "which has tracked files: a change would be committed";
	tracked = gitindex_has(index, below) || gitindex_has_below(index, below);
	gitindex_close(index);
	return tracked;
}

bool install_directory(struct strbuf *out, const char **why_out, const struct repo *repo,
		       const struct gitconfig *config)
{
	struct strbuf value = STRBUF_INIT;
	char *real;
	bool own, tracked;

	strbuf_reset(out);
	if (gitconfig_path(&value, config, "core.hookspath"))
		path_absolute(out, repo->worktree, value.buf);
	else
		strbuf_addf(out, "%s/hooks", repo->commondir);
	real = path_resolve(out->buf);
	own = is_own(real, repo);
	*why_out = "which other repositories use, too";
	tracked = own && is_tracked(why_out, real, repo);
	if (own && !tracked)
		*why_out = "";
	strbuf_reset(out);
	strbuf_addstr(out, real);
	free(real);
	strbuf_release(&value);
	return own && !tracked;
}

/* ---- what was chosen ---- */

#define CHOSEN "_ckpt_chosen='"
#define NO_REF_TRANSACTION "no-ref-transaction"
#define GUARD "guard"

static void parse_choice(struct install_choice *out, const char *text)
{
	size_t left = strcspn(text, "'\n");

	out->exists = true;
	while (left) {
		size_t len = strcspn(text, ",'\n");
		char *word = xmemdupz(text, len);

		if (!strcmp(word, NO_REF_TRANSACTION))
			out->no_ref_transaction = true;
		else if (!strcmp(word, GUARD))
			out->guard = true;
		else
			strlist_add(&out->events, word);
		free(word);
		len += len < left;
		text += len;
		left -= len;
	}
}

void install_choice_read(struct install_choice *out, const struct install_where *where)
{
	memset(out, 0, sizeof(*out));
	for (enum hook_name name = 0; name < HOOK_UNKNOWN && !out->exists; name++) {
		char *path = install_where_path(where, hook_names[name]);
		struct strbuf text = STRBUF_INIT;
		const char *chosen = fs_read_text(&text, AT_FDCWD, path) ? NULL
									 : strstr(text.buf, "\n" CHOSEN);

		if (chosen)
			parse_choice(out, chosen + strlen("\n" CHOSEN));
		strbuf_release(&text);
		free(path);
	}
}

void install_choice_format(struct strbuf *out, const struct install_choice *choice)
{
	for (size_t i = 0; i < choice->events.nr; i++)
		strbuf_addf(out, "%s%s", i ? "," : "", choice->events.items[i]);
	if (choice->no_ref_transaction)
		strbuf_addstr(out, "," NO_REF_TRANSACTION);
	if (choice->guard)
		strbuf_addstr(out, "," GUARD);
}

void install_choice_release(struct install_choice *choice)
{
	strlist_release(&choice->events);
}

void install_wanted(const char *names[INSTALL_NAMES], const struct install_choice *choice)
{
	size_t nr = 0, others = choice->events.nr;

	if (strlist_has(&choice->events, "rebase")) {
		names[nr++] = hook_names[HOOK_PRE_REBASE];
		others--;
	}
	if (!choice->no_ref_transaction && others)
		names[nr++] = hook_names[HOOK_REFERENCE_TRANSACTION];
	names[nr] = NULL;
}

/* ---- scripts ---- */

bool install_script_fill(struct strbuf *shim, const char *name, const char *value)
{
	char *begin = xstrfmt("\n%s='", name);
	struct strbuf filled = STRBUF_INIT, quoted = STRBUF_INIT;
	const char *line = strstr(shim->buf, begin);
	size_t start;

	free(begin);
	if (!line)
		return false;
	start = (size_t)(line - shim->buf) + 1;
	quote_shell(&quoted, value);
	strbuf_addf(&filled, *quoted.buf == '\'' ? "%s=%s" : "%s='%s'", name, quoted.buf);
	strbuf_splice(shim, start, start + strcspn(shim->buf + start, "\n"), filled.buf, filled.len);
	strbuf_release(&quoted);
	strbuf_release(&filled);
	return true;
}

void install_script(struct strbuf *out, const char *name, const struct install_values *values)
{
	const struct install_shim *shim = install_shims;
	ssize_t len;
	char exe[PATH_MAX], seconds[32];

	while (strcmp(shim->name, name) != 0)
		shim++;
	strbuf_addstr(out, shim->text);
	/* For callers with another PATH: git in a graphical program. */
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[len < 0 ? 0 : len] = '\0';
	snprintf(seconds, sizeof(seconds), "%" PRId64, values->seconds);
	install_script_fill(out, "_ckpt_program", exe);
	install_script_fill(out, "_ckpt_seconds", seconds);
	install_script_fill(out, "_ckpt_answer", values->answer);
	install_script_fill(out, "_ckpt_chosen", values->chosen);
	install_script_fill(out, "_ckpt_events", values->events);
	install_script_fill(out, "_ckpt_chain", values->chain);
}

/* ---- lines ---- */

static void add_relative(struct strbuf *out, const char *from, const char *to)
{
	struct strbuf way = STRBUF_INIT;
	char *dir = xstrdup(from);
	const char *below;

	while (!(below = path_below(to, dir))) {
		*strrchr(dir, '/') = '\0';
		if (!*dir)
			strcpy(dir, "/");
		strbuf_addstr(&way, "../");
	}
	strbuf_addstr(&way, below);
	quote_shell(out, way.buf);
	strbuf_release(&way);
	free(dir);
}

void install_line(struct strbuf *out, const struct install_where *where, const char *dir,
		  const char *name)
{
	char *path = install_where_path(where, name);
	struct strbuf script = STRBUF_INIT;

	if (dir) {
		strbuf_addstr(&script, "\"${0%/*}\"/");
		add_relative(&script, dir, path);
	} else {
		quote_shell(&script, path);
	}
	strbuf_addf(out, "[ ! -r %s ] || . %s" INSTALL_HOOK_END, script.buf, script.buf);
	strbuf_release(&script);
	free(path);
}

void install_hook(struct strbuf *out, const struct install_where *where, const char *dir,
		  const char *name)
{
	strbuf_addstr(out, FRAME);
	install_line(out, where, dir, name);
	if (dir)
		strbuf_addf(out,
			    "# The hook that was here before, under its own name:\n"
			    "[ ! -x \"${0%%/*}/" INSTALL_LINKS "/%s\" ] || "
			    "exec \"${0%%/*}/" INSTALL_LINKS "/%s\" \"$@\"\n",
			    name, name);
}

/* ---- changes ---- */

const char *install_changes_keep(struct install_changes *changes, char *text)
{
	strlist_take(&changes->texts, text);
	return text;
}

struct install_change *install_changes_add(struct install_changes *changes,
					   const struct install_where *where,
					   enum install_kind kind, const char *path)
{
	const char *root = NULL, *below = NULL;
	struct install_change *change;

	for (size_t i = 0; i < where->roots.nr && !below; i++) {
		below = path_below(path, where->roots.items[i]);
		root = where->roots.items[i];
	}
	change = ALLOC_NEXT(changes->items, changes->nr, changes->alloc);
	*change = (struct install_change){
		.kind = kind, .by = where->by, .worktree = where->worktree, .mode = 0777, .text = "" };
	change->root = install_changes_keep(changes, below ? xstrdup(root) : find_holder(path));
	change->path = install_changes_keep(changes, xstrdup(below ? below : strrchr(path, '/') + 1));
	return change;
}

void install_changes_hook(struct install_changes *changes, const struct install_where *where,
			  const char *path, const char *name)
{
	struct install_change *change = install_changes_add(changes, where, INSTALL_HOOK, path);
	struct strbuf text = STRBUF_INIT;
	char *dir = find_holder(path);

	install_hook(&text, where, dir, name);
	change->hook = name;
	change->text = install_changes_keep(changes, strbuf_detach(&text, NULL));
	free(dir);
}

bool install_changes_have(const struct install_changes *changes, const char *path)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const char *below = path_below(path, changes->items[i].root);

		if (below && !strcmp(below, changes->items[i].path))
			return true;
	}
	return false;
}

void install_changes_release(struct install_changes *changes)
{
	free(changes->items);
	strlist_release(&changes->texts);
	memset(changes, 0, sizeof(*changes));
}
