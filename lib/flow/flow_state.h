/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_STATE_H
#define CKPT_FLOW_FLOW_STATE_H

#include "base/base.h"
#include "store/store.h"

/**
 * The two files of a workflow, as text and as structures. Nothing here uses
 * the file system.
 *
 * phase.json is the truth: where a workflow is. It has exactly the keys of
 * struct flow_state; a text with other or missing keys, a value of another
 * type or anything after the object is damaged as a whole. workflow.json is
 * what was planned at the start; it never changes.
 */
enum flow_status { /**< of a phase or a task */
	FLOW_PENDING,
	FLOW_IN_PROGRESS, /**< "in_progress" of a phase, "running" of a task */
	FLOW_COMPLETE,
	FLOW_FAILED,
};

struct flow_done {
	char *phase;
	int64_t completed_at;
	struct strlist output; /**< paths relative to the worktree's root */
	char *checkpoint; /**< its id */
};

struct flow_approval {
	char *phase;
	int64_t approved_at;
};

struct flow_task {
	char *id;
	enum flow_status status;
	uint64_t attempts;    /**< failed attempts; only a resume counts them */
	int64_t started_at;   /**< 0: not started */
	int64_t completed_at; /**< 0: not finished; also set if it failed */
	struct strlist output;
};

/** The lists of a state all look like this to flow_state_add(). */
#define FLOW_LIST(type)      \
	struct {             \
		type *items; \
		size_t nr;   \
	}

struct flow_state {
	char *workflow_id;
	int64_t started_at, last_updated;
	char *current_phase;
	enum flow_status phase_status;
	FLOW_LIST(struct flow_done) done;
	FLOW_LIST(struct flow_approval) approvals;
	FLOW_LIST(struct flow_task) tasks; /**< of the current phase */
	bool interruption_safe;
};

struct flow_plan {
	char *workflow_id;
	int64_t started_at;
	struct strlist phases;
	struct strlist approve; /**< phases that need approval when complete */
	char *state_dir; /**< relative to the worktree's root, absolute if outside it, or NULL */
};

enum { FLOW_NAME_MAX = 100 }; /**< bytes of the name of a workflow, a phase or a task */

void flow_state_release(struct flow_state *state);
void flow_plan_release(struct flow_plan *plan);

/** Append an item of `size` zero bytes to a list, and return it. */
void *flow_state_add(void *list, size_t size);
void flow_state_clear_tasks(struct flow_state *state);

/** CKPT_ECORRUPT with a message that says what is wrong; then nothing is left to release. */
int flow_state_parse(struct flow_state *out, const char *text, size_t len);
int flow_plan_parse(struct flow_plan *out, const char *text, size_t len);

/** Append the text of phase.json or workflow.json, with a newline. */
void flow_state_print(struct strbuf *out, const struct flow_state *state);
void flow_plan_print(struct strbuf *out, const struct flow_plan *plan);

/** The key of a time in it that is after `when`, or NULL. */
const char *flow_state_later(const struct flow_state *state, int64_t when);

/** The objects of phase.json, for answers. */
json_t *flow_state_object(const struct flow_state *state);
json_t *flow_task_object(const struct flow_task *task);

const char *flow_status_name(enum flow_status status);
const char *flow_task_status_name(enum flow_status status);
/** False if there is no such status. */
bool flow_task_status_parse(enum flow_status *out, const char *name);

/**
 * Whether a workflow or a phase may have that name: UTF-8, no control
 * characters, no '/' and no ',', not too long. NULL, or what is wrong with it.
 */
const char *flow_name_problem(const char *name);

/** The same for a task, which may be named after a file. */
const char *flow_task_problem(const char *id);

#endif
