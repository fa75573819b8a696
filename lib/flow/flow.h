/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_H
#define CKPT_FLOW_FLOW_H

#include "restore/restore.h"

/* --- flow_state.c --- */

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

/* --- flow_decide.c --- */

/**
 * What may happen to a workflow, and where it continues: functions of its
 * state, its plan and a few facts. Changes nothing on disk; flow.c carries it
 * out.
 *
 *  1. Phases come in the order of the plan; each starts when the one before it
 *     is complete, and none while an earlier one waits for approval.
 *  2. A complete phase stays complete. A phase that failed or was interrupted
 *     starts again, with its tasks.
 *  3. Tasks belong to the phase in progress. Any status may follow any other;
 *     only a resume counts attempts.
 *
 * Changes are made to the state in place, or not at all. CKPT_ERROR: not
 * possible; CKPT_EREFUSED: possible after approval.
 */

/* where it is, from state and plan alone */

/** Whether the state fits its plan: known phases in order. CKPT_ECORRUPT with the reason if not. */
int flow_check_order(const struct flow_state *state, const struct flow_plan *plan);

/** The first phase that is not complete, or NULL. */
const char *flow_next(const struct flow_state *state, const struct flow_plan *plan);

/** The complete phase that waits for approval, or NULL. */
const char *flow_waiting(const struct flow_state *state, const struct flow_plan *plan);

/** Every phase is complete, and none waits for approval. */
bool flow_finished(const struct flow_state *state, const struct flow_plan *plan);

/* whether it can be trusted */

/** What the state alone does not tell. */
struct flow_facts {
	int64_t now;
	int64_t stale_after; /**< seconds; 0: never */
	bool restoring;      /**< tasks start over, so their outputs need not exist */
	bool (*exists)(const char *path, void *payload); /**< an output */
	void *payload;
};

/** A clock adjusted by so little is not a reason to distrust a state. */
enum { FLOW_CLOCK_SLACK = 2 };

/**
 * Everything that must hold before a resume. CKPT_ECORRUPT with the reason if the state cannot be
 * trusted; CKPT_ENOTFOUND if it can, but an output is missing.
 */
int flow_check(const struct flow_state *state, const struct flow_plan *plan,
	       const struct flow_facts *facts);

/* changes */

/** A workflow that has just started; `out` must be released. */
void flow_begin(struct flow_state *out, const struct flow_plan *plan);

int flow_phase_start(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		     int64_t now);

/** The last of state->done is the new entry, still without its checkpoint. */
int flow_phase_complete(struct flow_state *state, const struct flow_plan *plan, const char *phase,
			const struct strlist *output, int64_t now);
int flow_phase_fail(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		    int64_t now);

/** `changed_out` is false if that is already recorded. */
int flow_phase_approve(bool *changed_out, struct flow_state *state, const struct flow_plan *plan,
		       const char *phase, int64_t now);

/** An unknown task is added. If `output` is empty, the known outputs stay. */
int flow_task_set(struct flow_task **out, struct flow_state *state, const char *id,
		  enum flow_status status, const struct strlist *output, int64_t now);

/* where to continue */

struct flow_decision {
	const char *phase; /**< the one that waits, or the first not complete; NULL: finished */
	enum flow_status status; /**< of that phase */
	bool waiting;
	bool stale;
	bool changed;         /**< the state was changed */
	struct strlist taken; /**< tasks whose outputs show that they are complete */
	struct strlist again; /**< tasks that were interrupted and start again */
};

/**
 * Decide, and correct the tasks of the state. The state must be sound. Strings
 * point into the plan.
 */
void flow_decide(struct flow_decision *out, struct flow_state *state,
		 const struct flow_plan *plan, const struct flow_facts *facts);
void flow_decision_release(struct flow_decision *decision);

/* --- flow_files.c, flow.c --- */

/** A workflow as its files tell it. */
struct flow {
	struct flow_state state;
	struct flow_plan plan;
	struct strbuf text; /**< phase.json as it was read, or written */
};

#define FLOW_INIT { .text = STRBUF_INIT }

void flow_release(struct flow *flow);

/**
 * The live one; takes no lock. `store` may be NULL. CKPT_ENOTFOUND: there is none. CKPT_ECORRUPT: it is unusable,
 * the message says why. After a failure there is nothing to release, and it is harmless.
 */
int flow_read(struct flow *out, struct store *store);

/**
 * Workflows: an orchestrator walks through phases, may die at any point, and
 * finds out where to continue.
 *
 * Each change reads the state, decides (flow_decide.c), takes a checkpoint if
 * it concerns a phase, and replaces phase.json, all with the store locked: if
 * two processes change a workflow at once, they do so one after the other.
 * Killed before phase.json is replaced, nothing has happened, except that there
 * may be an extra checkpoint.
 *
 * CKPT_ENOTFOUND: there is no workflow; CKPT_ECORRUPT: its state is unusable.
 * Only resume, archive and a fresh start archive such a workflow.
 */
struct flow_result {
	struct flow flow; /**< as it is now */
	char checkpoint[CKPT_ID_SIZE]; /**< the checkpoint that was taken, or "" */
	bool incomplete;  /**< that checkpoint lacks paths */
	bool changed;
	bool corrupt;     /**< what was archived was unusable */
	char *archived;   /**< where a workflow was archived, or NULL */
	char *about;      /**< the task that was set or the phase that was approved, or NULL */
	struct strlist warnings;
};

void flow_result_release(struct flow_result *result);

struct flow_start_opts {
	const char *workflow;
	const struct strlist *phases, *approve;
	const char *state_dir; /**< as typed, or NULL */
	bool fresh;            /**< archive a workflow in progress */
};

/** Creates the store if there is none. CKPT_EREFUSED if a workflow is in progress. */
int flow_start(struct flow_result *out, struct session *session,
	       const struct flow_start_opts *opts);

struct flow_phase_opts {
	const char *phase;
	enum flow_status status; /**< FLOW_IN_PROGRESS, FLOW_COMPLETE or FLOW_FAILED */
	const struct strlist *output; /**< below the worktree's root */
	const char *note;             /**< NULL: none */
	progress_fn progress;
};

int flow_phase(struct flow_result *out, struct session *session,
	       const struct flow_phase_opts *opts);

int flow_approve(struct flow_result *out, struct session *session, const char *phase);

int flow_task(struct flow_result *out, struct session *session, const char *id,
	      enum flow_status status, const struct strlist *output);

/** Archive it, whatever its state. */
int flow_archive(struct flow_result *out, struct session *session);

/**
 * Take back the workflow `id`, or the last one that was archived (NULL). `id` is the name of the
 * workflow, of which the last one is meant, or of its directory in the archive. CKPT_EREFUSED if
 * there is a workflow; CKPT_ENOTFOUND if none such was archived.
 */
int flow_unarchive(struct flow_result *out, struct session *session, const char *id);

/** Only read; takes no lock. */
int flow_look(struct flow_result *out, struct session *session);

/**
 * To be called after files were restored: the store knows best where a workflow is, whatever
 * copy of phase.json was restored with them. What goes wrong is a warning of `result`.
 */
void flow_restored(struct session *session, struct restore_result *result);

/* --- flow_files.c: the archive --- */

enum { FLOW_ARCHIVES_MAX = 5 };

struct flow_archive {
	char *path; /**< absolute */
	int64_t archived_at;
	bool corrupt;
	bool readable; /**< `state` is set */
	struct flow_state state;
};

struct flow_archives {
	struct flow_archive *items; /**< in the order of archiving */
	size_t nr;
};

/** All archived workflows. */
int flow_archives_read(struct flow_archives *out, struct store *store);
void flow_archives_release(struct flow_archives *archives);

/* --- flow_resume.c --- */

struct flow_resume_opts {
	bool restore; /**< restore the files of the last complete phase */
	/** As in restore_opts. */
	int (*confirm)(const struct restore_result *preview, struct session *session,
		       void *payload);
	const struct restore_kept *kept;
	progress_fn progress;
};

enum flow_outcome {
	FLOW_NONE,     /**< there is none */
	FLOW_OVER,     /**< it is finished */
	FLOW_DISTRUST, /**< it was archived as corrupt; see `why` */
	FLOW_LACKS,    /**< an output is missing, see `why`; nothing was changed */
	FLOW_GOES_ON,
};

struct flow_resumed {
	enum flow_outcome outcome;
	struct flow_result base;
	struct flow_decision decision;
	int64_t last_activity; /**< before this one */
	char *why;
	bool restored;
	struct ckpt_record target; /**< what was restored */
	struct restore_result restore;
};

/**
 * CKPT_EREFUSED: an interrupted restore must be finished first; CKPT_EDECLINED: the user said
 * no. Calls flow_restored() itself.
 */
int flow_resume(struct flow_resumed *out, struct session *session,
		const struct flow_resume_opts *opts);
void flow_resumed_release(struct flow_resumed *resumed);

/*
 * In this folder:
 *
 *   flow flow_resume        moving on; resuming after an interruption
 *   flow_decide             what may happen next, from the state alone
 *   flow_state flow_files   its files as structures; their directories, the archive, and the copy
 *                           that a user asked for
 */

#endif
