/* SPDX-License-Identifier: MIT */
#include "flow/flow_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "session/session.h"
#include "store/store.h"
#include "tree/tree.h"

#define NAME "phase.json"

static int set_failed(const char *dir)
{
	return ckpt_error_errno("unable to open the directory '%s' for " NAME, dir);
}

/* Below the worktree symbolic links are not followed: a restore may have brought one back. */
static int open_inner(const char *worktree, const char *dir, bool make)
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

static int open_dir(const struct session *session, const char *dir, bool make)
{
	if (*dir != '/')
		return open_inner(session->worktree, dir, make);
	if (make && fs_mkdir_p(dir, fs_usual_mode(0777)))
		return -1;
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A file that this program did not write must not be overwritten. */
static int check_free(const struct session *session, const char *dir, const char *typed)
{
	int fd = open_dir(session, dir, false), err;
	struct strbuf text = STRBUF_INIT;
	struct flow_state state;

	if (fd < 0)
		return errno == ENOENT ? 0 : set_failed(typed);
	err = fs_read_file(&text, fd, NAME);
	close(fd);
	if (!err)
		err = flow_state_parse(&state, text.buf, text.len);
	if (!err)
		flow_state_release(&state);
	else if (err != CKPT_ENOTFOUND)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the " NAME " in '%s' is not the state of a workflow; move it "
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

int flow_mirror_place(char **out, const struct session *session, const char *typed)
{
	struct strbuf full = STRBUF_INIT, place = STRBUF_INIT;
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
		err = session_path(&place, session, real);
	else
		strbuf_addstr(&place, real);
	free(real);
	if (!err)
		err = check_free(session, place.buf, typed);
	if (!err)
		*out = strbuf_detach(&place, NULL);
	strbuf_release(&place);
	strbuf_release(&full);
	return err;
}

static int write_copy(const struct session *session, const char *dir, const struct strbuf *text)
{
	struct strbuf there = STRBUF_INIT;
	int fd = open_dir(session, dir, true), err;

	if (fd < 0)
		return set_failed(*dir ? dir : ".");
	fs_sweep_temps(fd, ".");
	err = fs_read_file(&there, fd, NAME);
	if (err || !strbuf_equal(&there, text))
		err = fs_write_file(fd, NAME, text->buf, text->len,
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
	int fd = dir ? open_dir(session, dir, false) : -1;

	if (fd < 0)
		return;
	fs_sweep_temps(fd, ".");
	if (!fs_read_file(&there, fd, NAME) && strbuf_equal(&there, &flow->text) &&
	    !unlinkat(fd, NAME, 0))
		fsync(fd); /* nothing would remove it if it came back */
	close(fd);
	strbuf_release(&there);
}
