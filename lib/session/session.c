/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include "turns/turns.h"

/* Outside git: the nearest parent directory that has a store, or else the current one. */
static char *plain_worktree(const struct session *session)
{
	char *dir = xstrdup(session->cwd);

	for (;;) {
		char *slash;

		if (store_exists(session->home, dir))
			return dir;
		slash = strrchr(dir, '/');
		if (!slash || !dir[1])
			break;
		slash[slash == dir ? 1 : 0] = '\0';
	}
	free(dir);
	return xstrdup(session->cwd);
}

bool session_is_home(const struct session *session, const char *path)
{
	/* Our path has no links in it; the way to the home may. */
	char *home = path_real(session->home);
	bool inside = path_below(path, session->home) || (home && path_below(path, home));

	free(home);
	return inside;
}

static bool stays;

void session_stay(void)
{
	stays = true;
}

static int find_repo(struct session *session)
{
	if (session->repo)
		return 0;
	return stays ? repo_open_at(&session->repo, session->cwd) : repo_discover(&session->repo);
}

static int find_worktree(struct session *session)
{
	int err = find_repo(session);

	if (err && err != CKPT_ENOTFOUND)
		return err;
	session->worktree = !err    ? xstrdup(session->repo->worktree)
			    : stays ? xstrdup(session->cwd)
				    : plain_worktree(session);
	if (session_is_home(session, session->worktree))
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' is where checkpoints are kept, so it cannot be saved",
				      session->worktree);
	return 0;
}

/* Perhaps the folder was moved: its checkpoints are not lost, and the user should know. */
static int no_store(struct session *session, unsigned flags)
{
	char *kept = ckpt_error_keep();
	struct strbuf elsewhere = STRBUF_INIT;
	int err;

	if (inventory_elsewhere(&elsewhere, session->home, session->worktree, !session->repo))
		session->elsewhere = strbuf_detach(&elsewhere, NULL);
	strbuf_release(&elsewhere);
	err = ckpt_error_put_back(CKPT_ENOTFOUND, kept);
	if (flags & SESSION_STORE && session->elsewhere)
		ckpt_error_set(err, "no checkpoints of '%s' yet; %s", session->worktree,
			       session->elsewhere);
	return flags & SESSION_STORE ? err : 0;
}

/* As it is, and only if it is certainly ours. */
static void look_at_store(struct session *session)
{
	char key[STORE_KEY_SIZE];

	store_key(key, session->worktree);
	if (inventory_open(&session->store, session->home, key) ||
	    !strcmp(session->store->worktree, session->worktree))
		return;
	store_close(session->store);
	session->store = NULL;
}

static int open_store(struct session *session, unsigned flags)
{
	int err = flags & SESSION_NO_STORE ? 0 : store_open(&session->store, session->worktree);

	if (err == CKPT_ECORRUPT && flags & SESSION_SAVE)
		err = store_open_or_create(&session->store, session->worktree);
	if (err && flags & SESSION_ANY)
		return 0;
	return err == CKPT_ENOTFOUND ? no_store(session, flags) : err;
}

int session_open(struct session *out, unsigned flags)
{
	return session_open_repo(out, flags, NULL);
}

int session_open_repo(struct session *out, unsigned flags, struct repo *repo)
{
	char *store_file = NULL;
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->repo = repo;
	out->cwd = path_real(".");
	if (!out->cwd)
		err = ckpt_error_errno("unable to find the current directory");
	if (!err)
		err = store_home(&out->home);
	if (!err)
		err = find_worktree(out);
	if (!err && flags & SESSION_LOOK) {
		look_at_store(out);
		return 0;
	}
	if (!err)
		err = open_store(out, flags);
	if (!err)
		err = gitconfig_open(&out->gitconfig, out->repo);
	if (!err) {
		if (out->store && !out->store->no_settings)
			store_file = xstrfmt("%s/" LAYOUT_SETTINGS, out->store->path);
		err = settings_load(&out->settings, out->gitconfig, store_file, out->worktree);
		free(store_file);
		if (!err && out->store && out->store->no_settings)
			settings_lift_limits(&out->settings);
	}
	if (err) {
		session_close(out);
		return err;
	}
	out->threads = out->settings.threads ? (unsigned)out->settings.threads :
					       pool_default_threads();
	return 0;
}

void session_close(struct session *session)
{
	settings_release(&session->settings);
	gitconfig_close(session->gitconfig);
	store_close(session->store);
	repo_free(session->repo);
	free(session->elsewhere);
	free(session->worktree);
	free(session->home);
	free(session->cwd);
	memset(session, 0, sizeof(*session));
}

/* The first directory on the way to `path` that is a symbolic link, or NULL. */
static char *link_on_the_way(const char *root, const char *path)
{
	struct strbuf full = STRBUF_INIT;
	const char *slash = path;
	char *found = NULL;

	while (!found && (slash = strchr(slash, '/'))) {
		struct stat st;

		strbuf_reset(&full);
		strbuf_addf(&full, "%s/%.*s", root, (int)(slash - path), path);
		if (!lstat(full.buf, &st) && S_ISLNK(st.st_mode))
			found = xmemdupz(path, (size_t)(slash - path));
		slash++;
	}
	strbuf_release(&full);
	return found;
}

int session_path(struct strbuf *out, const struct session *session, const char *typed)
{
	struct strbuf full = STRBUF_INIT;
	const char *below;
	char *link;
	int err = 0;

	if (!*typed)
		return ckpt_error_set(CKPT_ERROR, "an empty path is not valid");
	path_absolute(&full, session->cwd, typed);
	below = path_below(full.buf, session->worktree);
	if (!below && typed[0] == '/') {
		/* An absolute path may lead here through a link above the worktree. */
		const char *name = strrchr(full.buf, '/') + 1;
		char *dir = xmemdupz(full.buf, (size_t)(name - full.buf)), *real = path_real(dir);

		if (real) {
			char *joined = xstrfmt("%s/%s", real, name);

			path_absolute(&full, "/", joined);
			below = path_below(full.buf, session->worktree);
			free(joined);
		}
		free(real);
		free(dir);
	}
	if (!below) {
		err = ckpt_error_set(CKPT_ERROR, "'%s' is outside '%s'", typed,
				     session->worktree);
	} else if (path_has_dotgit(below)) {
		err = ckpt_error_set(CKPT_ERROR, "'%s' is in a .git, which is never touched",
				     typed);
	} else {
		strbuf_reset(out);
		strbuf_addstr(out, below);
		link = link_on_the_way(session->worktree, below);
		if (link)
			err = ckpt_error_set(CKPT_ERROR, "'%s' is beyond the symbolic link '%s'",
					     typed, link);
		free(link);
	}
	strbuf_release(&full);
	return err;
}

void session_from_here(struct strbuf *out, const struct session *session, const char *path)
{
	const char *cwd = path_below(session->cwd, session->worktree);
	size_t start = out->len, len;

	/* Both are in the same directory so far. */
	while (cwd && (len = strcspn(cwd, "/")) && !strncmp(cwd, path, len) && path[len] == '/') {
		path += len + 1;
		cwd += len + (cwd[len] == '/');
	}
	for (; cwd && *cwd; cwd += len + (cwd[len] == '/')) {
		len = strcspn(cwd, "/");
		strbuf_addstr(out, "../");
	}
	strbuf_addstr(out, path);
	if (out->len == start)
		strbuf_addch(out, '.');
}

int session_lookup(struct ckpt_record *out, struct store *store, const char *name)
{
	return turns_is_name(name) ? turns_lookup(out, store, name) : lookup_name(out, store, name);
}
