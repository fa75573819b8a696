/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_FLOW_FILES_H
#define CKPT_RECORD_FLOW_FILES_H

#include "base/base.h"
#include "record/flow_state.h"

struct store;

/**
 * The files of workflows in a store:
 *
 *     checkpoint/flow/phase.json      where the workflow is; exists if there is one
 *     checkpoint/flow/workflow.json   what was planned
 *     checkpoint/flow/archive/<n>_<time>_<workflow>/   both, of an archived workflow
 *     checkpoint/flow/archive/<n>_<time>.corrupt/      both, as they were found
 *
 * phase.json is replaced or removed as a whole, last of all, and that is the moment at
 * which anything changes. What comes before (a copy in the archive, a plan with the old
 * one beside the new) means nothing without it; what comes after (the mirror, removing old
 * archives) is caught up by the next change. Whoever changes anything holds the lock of
 * the store.
 */
struct flow {
	struct flow_state state;
	struct flow_plan plan;
	struct strbuf text; /**< phase.json as it was read */
};

#define FLOW_INIT { .text = STRBUF_INIT }

void flow_release(struct flow *flow);

/**
 * CKPT_ENOTFOUND: there is none. CKPT_ECORRUPT: it is unusable, the message says why;
 * then only `text` is set.
 */
int flow_read(struct flow *out, struct store *store);

/** Replace phase.json by the state; `text` follows. */
int flow_write(struct flow *flow, struct store *store);

/** Replace phase.json by this text. */
int flow_write_text(struct store *store, const struct strbuf *text);

/** Replace workflow.json; `previous` is kept until phase.json refers to the new one. */
int flow_write_plan(struct store *store, const struct flow_plan *plan,
		    const struct flow_plan *previous);

/** Remove the workflow. */
int flow_remove(struct store *store);

/**
 * The ids of the checkpoints that the live workflow needs. CKPT_ECORRUPT: it
 * cannot be read, so any checkpoint of a workflow may be one of them.
 */
int flow_checkpoints(struct strlist *out, struct store *store);

#endif
