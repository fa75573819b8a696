/* SPDX-License-Identifier: MIT */
#include "flow/flow_mirror_internal.h"

#include "base/base.h"
#include "flow/flow.h"
#include "git/git.h"
#include "session/session.h"
#include "store/store.h"
#include "tree/tree.h"

#define NAME "phase.json"

static int failed(const char *dir)
{
	return ckpt_error_errno("unable to open the directory '%s' for " NAME, dir);
}

/* Below the worktree symbolic links are not followed: a restore may have brought one back. */
static int open_inner(const char *worktree, const char *dir, bool make)
{
	int rootfd = open(worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	if (rootfd < 0)
		return -1;
	for (const char *end = dir; make && *dir && end; end = strchr(end + 1, '/')) {
		const char *slash = strchr(end + 1, '/'), *name;
		char *path = xmemdupz(dir, slash ? (size_t)(slash - dir) : strlen(dir));
		int parent = beneath_open_parent(rootfd, path, &name);

		if (parent >= 0 && !mkdirat(parent, name, 0777) && geteuid() == 0) {
			struct stat st;

			/* What root creates among a user's files must belong to that user. */
			if (!fstat(rootfd, &st))
				(void)!fchownat(parent, name, st.st_uid, st.st_gid,
						AT_SYMLINK_NOFOLLOW);
		}
		fs_close(parent);
		free(path);
		if (!slash)
			break;
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
		return errno == ENOENT ? 0 : failed(typed);
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

int flow_mirror_write(const struct session *session, const struct flow_plan *plan,
		      const struct strbuf *text)
{
	struct strbuf there = STRBUF_INIT;
	int fd, err;

	if (!plan->state_dir)
		return 0;
	fd = open_dir(session, plan->state_dir, true);
	if (fd < 0)
		return failed(*plan->state_dir ? plan->state_dir : ".");
	fs_sweep_temps(fd, ".");
	err = fs_read_file(&there, fd, NAME);
	if (err || !strbuf_equal(&there, text))
		err = fs_write_file(fd, NAME, text->buf, text->len,
				    fs_usual_mode(0666), FS_DURABLE);
	if (err)
		err = ckpt_error_prefix(err, "'%s'", *plan->state_dir ? plan->state_dir : ".");
	close(fd);
	strbuf_release(&there);
	return err;
}

/* A damaged one is not worth a copy. */
int flow_mirror_current(const struct session *session)
{
	struct flow flow;
	int err = session->store ? flow_read(&flow, session->store) : CKPT_ENOTFOUND;

	if (err == CKPT_ENOTFOUND)
		return 0;
	if (err && err != CKPT_ECORRUPT)
		return err;
	err = err ? 0 : flow_mirror_write(session, &flow.plan, &flow.text);
	flow_release(&flow);
	return err;
}

void flow_restored(const struct session *session, struct strlist *warnings)
{
	if (flow_mirror_current(session))
		strlist_addf(warnings, "the state of the workflow was not mirrored: %s",
			     ckpt_error_last());
}

void flow_mirror_remove(const struct session *session, const struct flow_plan *plan,
			const struct strbuf *text)
{
	struct strbuf there = STRBUF_INIT;
	int fd = plan->state_dir ? open_dir(session, plan->state_dir, false) : -1;

	if (fd < 0)
		return;
	fs_sweep_temps(fd, ".");
	if (!fs_read_file(&there, fd, NAME) && strbuf_equal(&there, text) && !unlinkat(fd, NAME, 0))
		fsync(fd); /* nothing would remove it if it came back */
	close(fd);
	strbuf_release(&there);
}
