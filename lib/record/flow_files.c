/* SPDX-License-Identifier: MIT */
#include "record/flow_files.h"

#include "base/base.h"
#include "record/flow_order.h"
#include "store/store.h"

#define STATE LAYOUT_FLOW "/phase.json"
#define PLAN LAYOUT_FLOW "/workflow.json"

void flow_release(struct flow *flow)
{
	flow_state_release(&flow->state);
	flow_plan_release(&flow->plan);
	strbuf_release(&flow->text);
}

static int read_plan(struct flow *out, struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_file(&text, store->dirfd, PLAN);

	if (err == CKPT_ENOTFOUND)
		err = ckpt_error_set(CKPT_ECORRUPT, "it is missing");
	else if (!err)
		err = flow_plan_parse(&out->plan, text.buf, text.len, out->state.workflow_id,
				      out->state.started_at);
	if (err)
		err = ckpt_error_prefix(err, "its plan, workflow.json, cannot be used");
	strbuf_release(&text);
	return err;
}

static int read_both(struct flow *out, struct store *store)
{
	int err;

	*out = (struct flow)FLOW_INIT;
	err = fs_read_file(&out->text, store->dirfd, STATE);
	if (err)
		return err == CKPT_ENOTFOUND ? ckpt_error_set(err, "no workflow is in progress; 'git "
								   "checkpoint flow start' starts one")
					     : err;
	err = flow_state_parse(&out->state, out->text.buf, out->text.len);
	if (!err)
		err = read_plan(out, store);
	return err ? err : flow_check_order(&out->state, &out->plan);
}

int flow_read(struct flow *out, struct store *store)
{
	int err = read_both(out, store);

	/* A reader without the lock may see the state of one and the plan of another. */
	if (err == CKPT_ECORRUPT && store->lockfd < 0) {
		flow_release(out);
		err = read_both(out, store);
	}
	if (err == CKPT_ECORRUPT) {
		flow_state_release(&out->state);
		flow_plan_release(&out->plan);
	} else if (err) {
		flow_release(out);
	}
	return err;
}

/* --- writing --- */

static int make_dir(struct store *store)
{
	return fs_ensure_dir(store->dirfd, LAYOUT_FLOW, 0700);
}

int flow_write_text(struct store *store, const struct strbuf *text)
{
	return fs_write_file(store->dirfd, STATE, text->buf, text->len, 0600, FS_DURABLE);
}

int flow_write(struct flow *flow, struct store *store)
{
	strbuf_reset(&flow->text);
	flow_state_print(&flow->text, &flow->state);
	return flow_write_text(store, &flow->text);
}

int flow_write_plan(struct store *store, const struct flow_plan *plan,
		    const struct flow_plan *previous)
{
	struct strbuf text = STRBUF_INIT;
	int err = make_dir(store);

	flow_plan_print(&text, plan, previous);
	if (!err)
		err = fs_write_file(store->dirfd, PLAN, text.buf, text.len, 0600, FS_DURABLE);
	strbuf_release(&text);
	return err;
}

int flow_remove(struct store *store)
{
	int err;

	if (unlinkat(store->dirfd, STATE, 0) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to remove '%s/%s'", store->path, STATE);
	err = fs_sync_dir(store->dirfd, LAYOUT_FLOW);
	/* It has no meaning any more. */
	if (!err)
		unlinkat(store->dirfd, PLAN, 0);
	return err;
}

/* --- for retention --- */

int flow_checkpoints(struct strlist *out, struct store *store)
{
	struct flow flow;
	int err = flow_read(&flow, store);

	if (err == CKPT_ENOTFOUND)
		return 0;
	if (err) {
		if (err == CKPT_ECORRUPT)
			flow_release(&flow);
		return CKPT_ECORRUPT;
	}
	for (size_t i = 0; i < flow.state.done_nr; i++)
		strlist_add(out, flow.state.done[i].checkpoint);
	flow_release(&flow);
	return 0;
}
