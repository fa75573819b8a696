/* SPDX-License-Identifier: MIT */
#include "save/save_distrust_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "session/session.h"

/* A worktree as one scan saw it. */
struct view {
	bool hinted;
	struct oid tree;
	struct strbuf modes;
};

static int look(struct view *out, struct save_job *job, const struct worktree_state_opts *how,
		bool full)
{
	struct worktree_state_opts opts = *how;
	struct worktree_state state;
	int err;

	*out = (struct view){ .modes = STRBUF_INIT };
	opts.full = full;
	err = worktree_state_scan(&state, job->session, &job->refs, &opts);
	if (err)
		return err;
	out->hinted = state.scan->hinted;
	err = worktree_state_read(&state, NULL);
	if (!err) {
		out->tree = state.scan->root->tree;
		modes_encode(&out->modes, state.scan->root);
	}
	worktree_state_release(&state);
	return err;
}

static bool same(const struct view *a, const struct view *b)
{
	return oid_equal(&a->tree, &b->tree) && a->modes.len == b->modes.len &&
	       !memcmp(a->modes.buf, b->modes.buf, a->modes.len);
}

/*
 * Files may change between two scans. So something was missed only if two full scans agree, and a
 * hinted one between them saw something else.
 */
static int find_out(bool *missed, struct save_job *job, const struct worktree_state_opts *how)
{
	struct view views[3] = { { 0 } };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(views) && !err; i++)
		err = look(&views[i], job, how, i != 1);
	*missed = !err && views[1].hinted && same(&views[0], &views[2]) &&
		  !same(&views[0], &views[1]);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		strbuf_release(&views[i].modes);
	return err;
}

int save_distrust(struct save_job *job, const struct worktree_state_opts *how)
{
	struct worktree_state_opts full = *how;
	bool missed = false;
	int err;

	if (!job->session->settings.watch_paranoid || !job->current.scan->hinted)
		return 0;
	err = find_out(&missed, job, how);
	if (missed)
		strlist_add(&job->notes, "the watcher missed a change that a full scan found; please "
					 "report this, and run 'git checkpoint watch stop'");
	full.full = true;
	return err ? err : save_job_scan(job, &full);
}
