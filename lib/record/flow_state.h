/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_FLOW_STATE_H
#define CKPT_RECORD_FLOW_STATE_H

#include "base/base.h"
#include "store/store.h"

/**
 * The two files of a workflow, as text and as structures. Nothing here uses
 * the file system.
 *
 * phase.json is the truth: where a workflow is. It has exactly the keys of
 * struct flow_state; a text with other or missing keys, a value of another
 * type or anything after the object is damaged as a whole.
 *
 * workflow.json is what was planned at the start. Of two workflows in it, the
 * one that phase.json refers to counts, so that replacing phase.json is the
 * moment at which one takes the place of the other.
 */
enum flow_status { FLOW_PENDING, FLOW_IN_PROGRESS, FLOW_COMPLETE, FLOW_FAILED };

enum flow_task_status {
	FLOW_TASK_PENDING,
	FLOW_TASK_RUNNING,
	FLOW_TASK_COMPLETE,
	FLOW_TASK_FAILED,
};

struct flow_done {
	char *phase;
	int64_t completed_at;
	struct strlist output; /**< paths relative to the worktree's root */
	char checkpoint[CKPT_ID_SIZE];
};

struct flow_approval {
	char *phase;
	int64_t approved_at;
};

struct flow_task {
	char *id;
	enum flow_task_status status;
	uint64_t attempts;    /**< failed attempts; only a resume counts them */
	int64_t started_at;   /**< 0: not started */
	int64_t completed_at; /**< 0: not finished; also set if it failed */
	struct strlist output;
};

struct flow_state {
	char *workflow_id;
	int64_t started_at, last_updated;
	char *current_phase;
	enum flow_status phase_status;
	struct flow_done *done;
	size_t done_nr, done_alloc;
	struct flow_approval *approvals;
	size_t approvals_nr, approvals_alloc;
	struct flow_task *tasks; /**< of the current phase */
	size_t tasks_nr, tasks_alloc;
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

/** Append an entry; text is copied. */
struct flow_done *flow_state_add_done(struct flow_state *state, const char *phase);
struct flow_approval *flow_state_add_approval(struct flow_state *state, const char *phase);
struct flow_task *flow_state_add_task(struct flow_state *state, const char *id);
void flow_state_clear_tasks(struct flow_state *state);

/** CKPT_ECORRUPT with a message that says what is wrong; then nothing is left to release. */
int flow_state_parse(struct flow_state *out, const char *text, size_t len);
int flow_plan_parse(struct flow_plan *out, const char *text, size_t len,
		    const char *workflow_id, int64_t started_at);

/** Append the text of phase.json, with a newline. */
void flow_state_print(struct strbuf *out, const struct flow_state *state);

/** Append the text of workflow.json; `previous` may be NULL. */
void flow_plan_print(struct strbuf *out, const struct flow_plan *plan,
		     const struct flow_plan *previous);

/** The objects of phase.json, for answers. */
json_t *flow_state_object(const struct flow_state *state);
json_t *flow_tasks_object(const struct flow_state *state);
json_t *flow_task_object(const struct flow_task *task);

const char *flow_status_name(enum flow_status status);
const char *flow_task_status_name(enum flow_task_status status);
/** False if the status is unknown; `name` may be NULL. */
bool flow_status_parse(enum flow_status *out, const char *name);
bool flow_task_status_parse(enum flow_task_status *out, const char *name);

/**
 * Whether a workflow or a phase may have that name: UTF-8, no control
 * characters, no '/' and no ',', not too long. NULL, or what is wrong with it.
 */
const char *flow_name_problem(const char *name);

/** The same for a task, which may be named after a file. */
const char *flow_task_problem(const char *id);

#endif
