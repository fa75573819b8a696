/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_H
#define CKPT_FLOW_FLOW_H

#include "base/base.h"
#include "flow/flow_decide.h"
#include "flow/flow_state.h"
#include "restore/restore.h"

struct session;

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
 * Each change reads the state, decides (flow_decide.h), takes a checkpoint if
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
 *   flow_mirror             the copy of the state that a user asked for
 *   flow_state flow_files   its files as structures; their directories, and the archive
 */

#endif
