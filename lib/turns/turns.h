/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TURNS_TURNS_H
#define CKPT_TURNS_TURNS_H

#include "record/record.h"

/**
 * checkpoint/turns: what coding agents did here, apart from checkpoints: sessions, and in each the
 * turns from one prompt to the next. An event of an agent that changed nothing leaves no
 * checkpoint, and yet the turn has begun, in a state that some checkpoint holds.
 *
 * Lines are appended, as events arrive: "turn" where one begins, and one for each event with the
 * checkpoint that held the state then, whoever took it. A line torn by a power cut is skipped. The
 * beginning of a turn is durable as soon as something was saved in it: nobody waits for a disk
 * where nothing changed. Other lines may be lost: then a turn seems to have had fewer tools. If the
 * file grows too long, the lines of a turn are summed up and the oldest turns are forgotten. The last
 * reasons why nothing was saved are there, too.
 */
enum turn_moment {
	TURN_PROMPT,
	TURN_BEFORE, /**< before a tool */
	TURN_AFTER,
	TURN_STOP,
	TURN_OTHER, /**< none of these */
};

/** By its name: "prompt", "before", "after", "stop". False: it has none of these. */
bool turns_moment(enum turn_moment *out, const char *name);

/** The reason of a checkpoint that is taken then. */
const char *turns_reason(enum turn_moment moment);

struct turn {
	uint64_t number; /**< within its session, from 1 */
	int64_t began;
	char *entry;		  /**< the agent whose settings had the entry that told it */
	char *id;		  /**< as the agent has it; "" if it has none */
	char *prompt;		  /**< its first line; "" if that is not kept */
	char begin[CKPT_ID_SIZE]; /**< the state when it began; "" if that was not saved */
	char end[CKPT_ID_SIZE];	  /**< the state when it was last heard of, likewise */
	uint64_t before, after;	  /**< events before tools, and after them */
	bool learned;		  /**< see turns_learn() */
	enum turn_moment last;	  /**< of its events; TURN_PROMPT: there was no other */
};

struct turn_session {
	char *agent;
	char *id; /**< "" if the agent tells none */
	int64_t fired;
	struct turn *items; /**< by number, without those that were forgotten */
	size_t nr, alloc;
};

/** Why nothing was saved for an event. */
struct turn_trouble {
	char *agent, *session; /**< the session is "" if the agent tells none */
	char *why;
	int64_t at;
};

struct turns {
	struct turn_session *items; /**< in the order in which they last fired */
	size_t nr, alloc;
	struct turn_trouble *troubles; /**< the last ones, the newest at the end */
	size_t troubles_nr, troubles_alloc;
	bool sound;   /**< the file has its first line; otherwise it must be written as a whole */
	bool lost;    /**< there is a file, but not a sound one */
	bool foreign; /**< another version wrote it: leave it alone */
	size_t skipped; /**< lines that could not be understood */
	uint64_t size;	/**< of the file */
};

/**
 * No file, or a damaged one: no sessions. CKPT_ERROR, and none, if it cannot be read now: then any
 * checkpoint may be in it.
 */
int turns_read(struct turns *out, struct store *store);
void turns_release(struct turns *turns);

/** Understand a text; for turns_read() and tests. */
void turns_parse(struct turns *out, const char *text, size_t len);

/** The text that has the newest turns, at most `max` bytes. */
void turns_print(struct strbuf *out, const struct turns *turns, size_t max);

/** Replace the file by what was understood of it. The store must be locked. */
int turns_write(const struct turns *turns, struct store *store);

/**
 * Learn from the labels of a checkpoint what is not known of its turn; to be called in the order of
 * saving. Numbers that are known stay.
 */
void turns_learn(struct turns *turns, const struct ckpt_record *record);

/** The most tools of it that were seen, before or after. */
uint64_t turns_tools(const struct turn *turn);

/* --- as events arrive; the store is locked --- */

struct turn_event {
	enum turn_moment moment;
	const char *entry;	  /**< the agent whose settings have the entry */
	bool asked;		  /**< TURN_PROMPT: with a text that is not empty */
	struct ckpt_agent *agent; /**< its `turn` is set, and its prompt if it has none */
	const struct repo *repo;  /**< where a turn may have begun in another worktree, or NULL */
	bool known;		  /**< turns_enter() sets it: turns_note() may write */
	bool fresh;		  /**< likewise: nothing was saved in the turn so far */
};

/**
 * Find the turn that an event belongs to, or begin one: with a prompt that is not empty and whose
 * id, if it has one, is new in its session; or because the agent has gone on with it in here after
 * it had begun in another worktree of the repository. Whatever fails, a checkpoint is not worth less for it.
 */
void turns_enter(struct turn_event *event, struct store *store, bool prompts);

/** Remember the checkpoint that holds the state at this event, and was `taken` for it or not. */
void turns_note(const struct turn_event *event, struct store *store, const char *id, bool taken);

/**
 * Remember that nothing was saved. True if the user has to be told: not yet in this session, or
 * nothing can be remembered. `session` may be NULL: not known. No lock is needed, since that may be
 * just what is wrong: of two processes at once one line may get lost, and is told again.
 */
bool turns_note_trouble(struct store *store, const char *agent, const char *session, const char *why);

/** Whether a session of an agent has been told of here. */
bool turns_has_session(struct store *store, const char *agent, const char *session);

/** What went wrong last with an agent; NULL: nothing is known. */
const struct turn_trouble *turns_trouble(const struct turns *turns, const char *agent);

/* --- names --- */

enum { TURNS_SPARED_SESSIONS = 3 };

/** The checkpoints with which the turns of the last sessions began. Fails like turns_read(). */
int turns_spared(struct strlist *out, struct store *store);

/** By its id, a unique prefix of it, or "last"; CKPT_ENOTFOUND, CKPT_ERROR if several match. */
int turns_session(const struct turn_session **out, const struct turns *turns, const char *id);

/** "turn:<n>", "session:<id>", "session:<id>/turn:<n>": whether it has this form. */
bool turns_is_name(const char *name);

/** Whether it names a turn, not a session. */
bool turns_is_turn(const char *name);

/**
 * The checkpoint of such a name: of a turn, the one that holds the state when it began; of a
 * session, the newest.
 */
int turns_lookup(struct ckpt_record *out, struct store *store, const char *name);

/** What a turn did: from one checkpoint to another. */
struct turn_range {
	struct ckpt_record begin;
	struct ckpt_record end; /**< the newest state that is known of it */
	/** A tool was running, and no later turn has begun: what changed since belongs to it. */
	bool open;
};

#define TURN_RANGE_INIT { .begin = CKPT_RECORD_INIT, .end = CKPT_RECORD_INIT }

/** By the name of a turn. CKPT_ENOTFOUND: there is no such turn, or an end of it is not kept. */
int turns_range(struct turn_range *out, struct store *store, const char *name);
void turns_range_release(struct turn_range *range);

/*
 * In this folder:
 *
 *   turns turns_event       the file; events as they arrive
 *   turns_find              names of turns
 */

#endif
