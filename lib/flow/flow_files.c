/* SPDX-License-Identifier: MIT */
#include "flow/flow_internal.h"

#include "session/session.h"

#define LIVE LAYOUT_FLOW
#define NEXT LAYOUT_FLOW "-next"
#define ARCHIVE LAYOUT_FLOW "-archive"
#define STATE "phase.json"
#define PLAN "workflow.json"

void flow_release(struct flow *flow)
{
	flow_state_release(&flow->state);
	flow_plan_release(&flow->plan);
	strbuf_release(&flow->text);
}

/* --- reading --- */

static int read_plan(struct flow *out, int dirfd)
{
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_file(&text, dirfd, PLAN);

	if (err == CKPT_ENOTFOUND)
		err = ckpt_error_set(CKPT_ECORRUPT, "it is missing");
	else if (!err)
		err = flow_plan_parse(&out->plan, text.buf, text.len);
	if (!err && (strcmp(out->plan.workflow_id, out->state.workflow_id) ||
		     out->plan.started_at != out->state.started_at))
		err = ckpt_error_set(CKPT_ECORRUPT, "it is of another workflow");
	if (err)
		err = ckpt_error_prefix(err, "its plan, " PLAN ", cannot be used");
	strbuf_release(&text);
	return err;
}

/* `out` must be released in any case: the state may be sound where the plan is not. */
static int read_dir(struct flow *out, int dirfd)
{
	int err;

	*out = (struct flow)FLOW_INIT;
	err = fs_read_file(&out->text, dirfd, STATE);
	if (!err)
		err = flow_state_parse(&out->state, out->text.buf, out->text.len);
	if (!err)
		err = read_plan(out, dirfd);
	return err ? err : flow_check_order(&out->state, &out->plan);
}

static int open_dir(struct store *store, const char *path)
{
	return openat(store->dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool has_state(int dirfd)
{
	return dirfd >= 0 && !faccessat(dirfd, STATE, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool is_workflow(struct store *store, const char *path)
{
	int fd = open_dir(store, path);
	bool is = has_state(fd);

	fs_close(fd);
	return is;
}

/* Without the lock: a new one may come while this looks, so the first one is tried again. */
static int open_current(struct store *store)
{
	static const char *const dirs[] = { LIVE, NEXT, LIVE };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		int fd = open_dir(store, dirs[i]);

		if (has_state(fd))
			return fd;
		fs_close(fd);
	}
	return -1;
}

int flow_read(struct flow *out, struct store *store)
{
	int fd = store ? open_current(store) : -1, err;

	*out = (struct flow)FLOW_INIT;
	if (fd < 0)
		return ckpt_error_set(CKPT_ENOTFOUND, "no workflow is in progress; 'git checkpoint "
						      "flow start' starts one");
	err = read_dir(out, fd);
	close(fd);
	if (err)
		flow_release(out);
	return err;
}

/* --- writing --- */

static int write_text(struct store *store, const char *path, const struct strbuf *text)
{
	return fs_write_file(store->dirfd, path, text->buf, text->len, 0600, FS_DURABLE);
}

int flow_files_write_text(struct store *store, const struct strbuf *text)
{
	return write_text(store, LIVE "/" STATE, text);
}

/* With `alone`, nothing else is needed any more. */
static int keep_phases(struct store *store, const struct flow_state *state, bool alone)
{
	struct strlist ids = STRLIST_INIT;
	int err;

	for (size_t i = 0; i < state->done.nr; i++)
		strlist_add(&ids, state->done.items[i].checkpoint);
	err = keepers_set(store, KEEPER_FLOW, &ids, alone);
	strlist_release(&ids);
	return err;
}

int flow_files_write(struct flow *flow, struct store *store)
{
	int err = keep_phases(store, &flow->state, false);

	strbuf_reset(&flow->text);
	flow_state_print(&flow->text, &flow->state);
	if (!err)
		err = flow_files_write_text(store, &flow->text);
	return err ? err : keep_phases(store, &flow->state, true);
}

int flow_files_prepare(struct flow *flow, struct store *store)
{
	struct strbuf plan = STRBUF_INIT;
	int err = fs_ensure_dir(store->dirfd, NEXT, 0700);

	flow_plan_print(&plan, &flow->plan);
	strbuf_reset(&flow->text);
	flow_state_print(&flow->text, &flow->state);
	if (!err)
		err = write_text(store, NEXT "/" PLAN, &plan);
	if (!err)
		err = write_text(store, NEXT "/" STATE, &flow->text);
	strbuf_release(&plan);
	return err;
}

/* A directory without its state is none; it may be in the way. */
static int make_live(struct store *store, const char *from)
{
	int err = fs_remove_tree(store->dirfd, LIVE);

	return err ? err : fs_rename(store->dirfd, from, LIVE, "checkpoint", FS_DURABLE);
}

int flow_files_settle(struct store *store)
{
	if (is_workflow(store, NEXT) && !is_workflow(store, LIVE))
		return make_live(store, NEXT);
	return fs_remove_tree(store->dirfd, NEXT);
}

/* --- the archive --- */

enum {
	NUMBER = 6,		  /* digits */
	TIME = 15,		  /* "20260930_123456" */
	HEAD = NUMBER + 1 + TIME, /* then "_<workflow>" or ".corrupt" */
};

/* "000012_20260930_123456_name" */
static bool parse_name(int64_t *when_out, bool *corrupt_out, const char *name)
{
	static const char pattern[HEAD + 1] = "dddddd_dddddddd_dddddd";
	char iso[CLOCK_ISO_SIZE];
	const char *t = name + NUMBER + 1;

	for (size_t i = 0; i < HEAD; i++)
		if (pattern[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != pattern[i])
			return false;
	if (name[HEAD] != '_' && strcmp(name + HEAD, ".corrupt"))
		return false;
	*corrupt_out = name[HEAD] == '.';
	snprintf(iso, sizeof(iso), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", t, t + 4, t + 6, t + 9, t + 11,
		 t + 13);
	return clock_parse_iso(when_out, iso);
}

static bool is_archived(const char *name)
{
	int64_t when;
	bool corrupt;

	return parse_name(&when, &corrupt, name);
}

/* Names of archived workflows, oldest first. */
static int list_names(struct strlist *out, struct store *store)
{
	if (fs_names(out, store->dirfd, ARCHIVE, O_NOFOLLOW, is_archived) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to read '%s/%s'", store->path, ARCHIVE);
	strlist_sort_unique(out);
	return 0;
}

int flow_files_archive(char **path_out, struct store *store, const struct flow *flow)
{
	struct strlist names = STRLIST_INIT;
	char when[CLOCK_ISO_SIZE], *path;
	int err = list_names(&names, store);
	unsigned long last = names.nr ? strtoul(names.items[names.nr - 1], NULL, 10) : 0;

	path = xstrfmt(ARCHIVE "/%0*lu_%s%s%s", NUMBER, last + 1,
		       clock_format_id(when, clock_now()), flow ? "_" : ".corrupt",
		       flow ? flow->state.workflow_id : "");
	if (!err)
		err = fs_ensure_dir(store->dirfd, ARCHIVE, 0700);
	if (!err)
		err = fs_rename(store->dirfd, LIVE, path, ARCHIVE, FS_DURABLE);
	if (!err)
		err = fs_sync_dir(store->dirfd, "checkpoint");
	if (!err)
		err = keepers_set(store, KEEPER_FLOW, &strlist_empty, true);
	if (!err)
		*path_out = xstrfmt("%s/%s", store->path, path);
	strlist_release(&names);
	free(path);
	return err;
}

void flow_archives_release(struct flow_archives *archives)
{
	for (size_t i = 0; i < archives->nr; i++) {
		free(archives->items[i].path);
		flow_state_release(&archives->items[i].state);
	}
	free(archives->items);
	memset(archives, 0, sizeof(*archives));
}

/* Even if the plan cannot be used, the state tells which one it was. */
static void read_archive(struct flow_archive *out, struct store *store, const char *name)
{
	char *path = xstrfmt(ARCHIVE "/%s/" STATE, name);
	struct strbuf text = STRBUF_INIT;

	memset(out, 0, sizeof(*out));
	(void)parse_name(&out->archived_at, &out->corrupt, name);
	out->path = xstrfmt("%s/" ARCHIVE "/%s", store->path, name);
	out->readable = !fs_read_file(&text, store->dirfd, path) &&
			!flow_state_parse(&out->state, text.buf, text.len);
	strbuf_release(&text);
	free(path);
}

int flow_archives_read(struct flow_archives *out, struct store *store)
{
	struct strlist names = STRLIST_INIT;
	int err = list_names(&names, store);

	memset(out, 0, sizeof(*out));
	out->items = xcalloc(names.nr + 1, sizeof(*out->items));
	for (; !err && out->nr < names.nr; out->nr++)
		read_archive(&out->items[out->nr], store, names.items[out->nr]);
	strlist_release(&names);
	return err;
}

int flow_files_take_back(struct flow *out, struct store *store, const struct flow_archive *archive)
{
	const char *from = archive->path + strlen(store->path) + 1;
	int fd = open_dir(store, from);
	int err = fd < 0 ? ckpt_error_errno("unable to open '%s'", archive->path) :
			   read_dir(out, fd);

	fs_close(fd);
	if (err == CKPT_ECORRUPT)
		err = ckpt_error_prefix(err, "the state in '%s' cannot be read", archive->path);
	if (!err)
		err = keep_phases(store, &out->state, true);
	if (!err)
		err = make_live(store, from);
	return err ? err : fs_sync_dir(store->dirfd, ARCHIVE);
}

void flow_files_trim(struct store *store)
{
	struct strlist names = STRLIST_INIT;
	size_t kept = 0;

	(void)list_names(&names, store);
	for (size_t i = names.nr; i--;) {
		char *path = xstrfmt(ARCHIVE "/%s", names.items[i]);
		int64_t when;
		bool corrupt = false;

		(void)parse_name(&when, &corrupt, names.items[i]);
		if (!corrupt && ++kept > FLOW_ARCHIVES_MAX)
			(void)fs_remove_tree(store->dirfd, path);
		free(path);
	}
	strlist_release(&names);
}

/* --- the copy --- */

static int set_mirror_failed(const char *dir)
{
	return ckpt_error_errno("unable to open the directory '%s' for " STATE, dir);
}

/* Below the worktree symbolic links are not followed: a restore may have brought one back. */
static int open_below(const char *worktree, const char *dir, bool make)
{
	int rootfd = open(worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	if (rootfd < 0)
		return -1;
	for (const char *end = dir; make && end && *end; end = strchr(end + 1, '/')) {
		char *path = xmemdupz(dir, (size_t)(end - dir) + 1 + strcspn(end + 1, "/"));
		const char *name;
		int parent = beneath_open_parent(rootfd, path, &name);

		if (parent >= 0)
			(void)fs_mkdir(parent, name, fs_usual_mode(0777));
		fs_close(parent);
		free(path);
	}
	fd = beneath_open(rootfd, dir, O_RDONLY | O_DIRECTORY);
	close(rootfd);
	return fd;
}

static int open_mirror(const struct session *session, const char *dir, bool make)
{
	if (*dir != '/')
		return open_below(session->worktree, dir, make);
	if (make && fs_mkdir_p(dir, fs_usual_mode(0777)))
		return -1;
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A file that this program did not write must not be overwritten. */
static int check_no_other(const struct session *session, const char *dir, const char *typed)
{
	int fd = open_mirror(session, dir, false), err;
	struct strbuf text = STRBUF_INIT;
	struct flow_state state;

	if (fd < 0)
		return errno == ENOENT ? 0 : set_mirror_failed(typed);
	err = fs_read_file(&text, fd, STATE);
	close(fd);
	if (!err)
		err = flow_state_parse(&state, text.buf, text.len);
	if (!err)
		flow_state_release(&state);
	else if (err != CKPT_ENOTFOUND)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the " STATE " in '%s' is not the state of a workflow; move it "
							"away or choose another directory",
				     typed);
	strbuf_release(&text);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

/*
 * By its name, even that of another worktree, which may belong to the same repository; or by any
 * name.
 */
static bool is_in_git(const struct repo *repo, const char *path)
{
	return path_has_dotgit(path + 1) ||
	       (repo && (path_below(path, repo->gitdir) || path_below(path, repo->commondir)));
}

int flow_mirror_dir(char **out, const struct session *session, const char *typed)
{
	struct strbuf full = STRBUF_INIT, dir = STRBUF_INIT;
	char *real;
	int err = 0;

	path_absolute(&full, session->cwd, typed);
	/* Links on the way are the user's choice now, but not later. */
	real = path_resolve(full.buf);
	if (session_is_home(session, real))
		err = ckpt_error_set(CKPT_ERROR, "'%s' is where checkpoints are kept", typed);
	else if (is_in_git(session->repo, real))
		err = ckpt_error_set(CKPT_ERROR, "'%s' is in a .git, which is never touched", typed);
	else if (path_below(real, session->worktree))
		err = session_path(&dir, session, real);
	else
		strbuf_addstr(&dir, real);
	free(real);
	if (!err)
		err = check_no_other(session, dir.buf, typed);
	if (!err)
		*out = strbuf_detach(&dir, NULL);
	strbuf_release(&dir);
	strbuf_release(&full);
	return err;
}

static int write_copy(const struct session *session, const char *dir, const struct strbuf *text)
{
	struct strbuf there = STRBUF_INIT;
	int fd = open_mirror(session, dir, true), err;

	if (fd < 0)
		return set_mirror_failed(*dir ? dir : ".");
	fs_sweep_temps(fd, ".");
	err = fs_read_file(&there, fd, STATE);
	if (err || !strbuf_equal(&there, text))
		err = fs_write_file(fd, STATE, text->buf, text->len,
				    fs_usual_mode(0666), FS_DURABLE);
	if (err)
		err = ckpt_error_prefix(err, "'%s'", *dir ? dir : ".");
	close(fd);
	strbuf_release(&there);
	return err;
}

/* A damaged one is not worth a copy. */
int flow_mirror_write(const struct session *session)
{
	struct flow flow;
	int err = flow_read(&flow, session->store);

	if (!err && flow.plan.state_dir)
		err = write_copy(session, flow.plan.state_dir, &flow.text);
	else if (err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT)
		err = 0;
	flow_release(&flow);
	return err;
}

void flow_restored(struct session *session, struct restore_result *result)
{
	struct flow flow;
	bool mirrored;
	int err;

	if (!result->done)
		return;
	/* Most have no workflow, and need not wait for the lock. */
	mirrored = !flow_read(&flow, session->store) && flow.plan.state_dir;
	flow_release(&flow);
	if (!mirrored)
		return;
	err = flow_lock(session);
	if (!err) {
		err = flow_mirror_write(session);
		store_unlock(session->store);
	}
	if (err)
		strlist_addf(&result->warnings, "the state of the workflow was not mirrored: %s",
			     ckpt_error_last());
}

void flow_mirror_remove(const struct session *session, const struct flow *flow)
{
	const char *dir = flow->plan.state_dir;
	struct strbuf there = STRBUF_INIT;
	int fd = dir ? open_mirror(session, dir, false) : -1;

	if (fd < 0)
		return;
	fs_sweep_temps(fd, ".");
	if (!fs_read_file(&there, fd, STATE) && strbuf_equal(&there, &flow->text) &&
	    !unlinkat(fd, STATE, 0))
		fsync(fd); /* nothing would remove it if it came back */
	close(fd);
	strbuf_release(&there);
}
