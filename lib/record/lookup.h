/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_LOOKUP_H
#define CKPT_RECORD_LOOKUP_H

#include "record/checkpoint.h"

/**
 * Finding checkpoints: all of them, the newest of a scope, and by the names
 * that people type: an id, a unique prefix of it or the six digits at its end,
 * four or more digits of a commit, a given name, "@", "@~<n>", "@{<time>}", "step:<n>". Names of
 * turns are for session_lookup().
 */

struct ckpt_records {
	struct ckpt_record *items; /**< in the order of saving */
	size_t nr;
	struct strlist damaged; /**< a sentence about each checkpoint that cannot be read */
	size_t unread;		/**< older ones that were not read */
};

/** Read all records; damaged ones are left out and named. */
int lookup_records(struct ckpt_records *out, struct store *store);

/** Which records are enough: the newest `max` for which `counts` is true (NULL: any). */
struct ckpt_enough {
	size_t max;
	bool (*counts)(const struct ckpt_record *record, void *payload);
	void *payload;
};

/** The same from the newest backwards, until there are enough; NULL: all. */
int lookup_records_newest(struct ckpt_records *out, struct store *store,
			  const struct ref_list *refs, const struct ckpt_enough *enough);
void lookup_records_release(struct ckpt_records *records);

/**
 * "@": the newest that is not the safety checkpoint of a restore, the state
 * that was last meant. CKPT_ENOTFOUND if there is none; damaged ones are skipped, here and below.
 */
int lookup_latest(struct ckpt_record *out, struct store *store, const struct ref_list *refs);

/** Among all taken here, safety checkpoints too, the newest with files whose scope is `scope`. */
int lookup_newest(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		  const struct strlist *scope);

/** The same of those that "@" may mean. */
int lookup_newest_meant(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
			const struct strlist *scope);

/** The newest that is `wanted`. CKPT_ENOTFOUND, without a message, if there is none. */
int lookup_newest_such(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		       bool (*wanted)(const struct ckpt_record *record, void *payload),
		       void *payload);

/** The newest that holds only state. */
int lookup_newest_state(struct ckpt_record *out, struct store *store, const struct ref_list *refs);

/**
 * What to compare the worktree with by default: the newest checkpoint of the
 * whole worktree or, only if there is none, the newest of a scope.
 */
int lookup_default(struct ckpt_record *out, struct store *store);

/**
 * The checkpoint to which somebody gave this name, among `refs`; NULL if there is none. It need
 * not be readable.
 */
const struct ref_item *lookup_named(struct store *store, const struct ref_list *refs,
				    const char *name);

/**
 * CKPT_EREFUSED, with the id, if the name belongs to a checkpoint whose commit is not `commit`
 * (NULL: to any), even to one that has lost its ref.
 */
int lookup_name_free(struct store *store, const struct ref_list *refs, const char *name,
		     const struct oid *commit);

/** By name. CKPT_ENOTFOUND if nothing matches, CKPT_ERROR if several do: the message lists them. */
int lookup_name(struct ckpt_record *out, struct store *store, const char *name);

/* --- composed states --- */

/*
 * What a journal or an undo stack names, by its full id: a checkpoint, or a state that a
 * restore leads to and that is none (see restore/compose.h). No list shows such a composed
 * state; it exists as long as the journal or the undo stack needs it (store/keepers.h).
 */

/** Either may be meant. */
bool lookup_valid_target(const char *id);

/** False: it was dropped, or not needed any more. */
bool lookup_target_exists(struct store *store, const char *id);

/** Read its record; CKPT_ENOTFOUND if there is none. */
int lookup_target(struct ckpt_record *out, struct store *store, const char *id);

/** A new id for a composed state. */
int lookup_make_composed_id(char out[CKPT_ID_SIZE], struct store *store, int64_t now);

/** What to show a person: of a composed state the checkpoint that it leads to. */
const char *lookup_target_name(const struct ckpt_record *record);

/**
 * How many of a list "<machine>/@", "<machine>/<id>", a prefix of the id or the digits at its end
 * means; `at` is the last of them. The name has a slash.
 */
size_t lookup_fetched(size_t *at, const struct fetched_list *all, const char *name);

#endif
