/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_FLOW_FILES_H
#define CKPT_RECORD_FLOW_FILES_H

#include "base/base.h"
#include "record/flow_state.h"

#include <stdbool.h>

struct store;

/**
 * The files of workflows in a store:
 *
 *     checkpoint/flow/phase.json      where the workflow is: there is one if this is there
 *     checkpoint/flow/workflow.json   what was planned
 *     checkpoint/flow/archive/<n>_<time>_<workflow>/   both, of one that was put away
 *     checkpoint/flow/archive/<n>_<time>.corrupt/      both, as they were found
 *
 * phase.json is replaced or removed as a whole, last of all, and that is the
 * instant at which anything changes. What comes before it (a copy in the
 * archive, a plan that has the old one beside the new) means nothing without
 * it; what comes after (the mirror, old archives that go) is made good by the
 * next change. Whoever changes anything has locked the store.
 */
struct flow {
	struct flow_state state;
	struct flow_plan plan;
	struct strbuf text; /**< phase.json as it was read */
};

#define FLOW_INIT { .text = STRBUF_INIT }

void flow_release(struct flow *flow);

/**
 * CKPT_ENOTFOUND: there is none. CKPT_ECORRUPT: it cannot be used, the sentence says why;
 * of the three parts only `text` is set then.
 */
int flow_read(struct flow *out, struct store *store);

/** Replace phase.json by the state; `text` follows. */
int flow_write(struct flow *flow, struct store *store);

/** Replace phase.json by this text. */
int flow_write_text(struct store *store, const struct strbuf *text);

/** Replace workflow.json; `previous` stays known until phase.json is about the new one. */
int flow_write_plan(struct store *store, const struct flow_plan *plan,
		    const struct flow_plan *previous);

/** There is none any more. */
int flow_remove(struct store *store);

/**
 * The ids of the checkpoints that the live workflow needs. CKPT_ECORRUPT: it
 * cannot be read, so any checkpoint of a workflow may be one.
 */
int flow_checkpoints(struct strlist *out, struct store *store);

#endif
