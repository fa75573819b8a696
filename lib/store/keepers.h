/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_KEEPERS_H
#define CKPT_STORE_KEEPERS_H

#include "store/refs.h"

/**
 * refs/keep/<who>/<name>: whoever needs a checkpoint says so by such a ref. What
 * it leads to is never evicted, and stock git's gc spares it, too. Apart from
 * names, <name> is the id that is needed, and the ref leads to its commit.
 *
 *     pin/<id>            pinned by a person
 *     name/<name>         the name that a person gave it; that pins it
 *     import/<id>         it was taken elsewhere, and came in a bundle
 *     undo/<id>           undo or redo lead there, or it was restored
 *     flow/<id>           a complete phase of the live workflow
 *     journal/<id>        the restore in progress: its target, and the state before
 *     process/<id>.<n>    a process that reads it keeps this file locked with flock(2)
 *
 * Journal and undo keep states that are not checkpoints, too; see record/lookup.h.
 */
enum keeper {
	KEEPER_PIN,
	KEEPER_NAME,
	KEEPER_IMPORT,
	KEEPER_UNDO,
	KEEPER_FLOW,
	KEEPER_JOURNAL,
	KEEPER_PROCESS,
	KEEPER_OTHER, /**< made by somebody else, below a name that is not ours */
};

struct kept {
	enum keeper who;
	char *ref;  /**< "refs/keep/<who>/<name>" */
	char *name; /**< in `ref` */
	char id[CKPT_ID_SIZE]; /**< "": a name, which only tells the commit, or no id */
	struct oid commit;     /**< of names alone; zero: it cannot be read */
};

struct keepers {
	struct kept *items; /**< by id, then by ref */
	size_t nr, alloc;
	struct keepers_seen *seen; /**< to tell whether they are still the same */
};

/**
 * All of them, as they are now. Fails if they cannot be read: then anything may be
 * needed. They belong to the store, and are valid until the next call or change.
 */
int keepers_read(const struct keepers **out, struct store *store);

bool keepers_has(const struct keepers *keepers, enum keeper who, const char *id);

/** Whether anybody needs this checkpoint. */
bool keepers_need(const struct keepers *keepers, const struct ref_item *ref);

/** Add the names of the checkpoint with this commit to `out`, which may be NULL; true if there are any. */
bool keepers_names_of(struct strlist *out, const struct keepers *keepers, const struct oid *commit);

/** All names, sorted, whatever they lead to. */
void keepers_names(struct strlist *out, struct store *store);

/** The commit that one of them leads to; false if there is none, or it cannot be read. */
bool keepers_find(struct oid *out, struct store *store, enum keeper who, const char *name);

/**
 * NULL if a checkpoint can have this name, otherwise why not: letters, digits, '.', '_' and '-',
 * beginning with a letter or a digit, a valid end of a ref, and nothing that
 * could be an id, a commit or another way to name a checkpoint.
 */
const char *keepers_name_flaw(const char *name);

/* --- changes; the store must be locked --- */

/** Durable when it returns. */
int keepers_add(struct store *store, enum keeper who, const char *name, const struct oid *commit);

/** It is not an error if it does not exist. */
int keepers_remove(struct store *store, enum keeper who, const char *name);

/** Remove all names of this commit. */
int keepers_unname(struct store *store, const struct oid *commit);

/**
 * Let one keeper need these ids, as far as they exist; with `alone`, no others. What is new is
 * durable when it returns; what goes may come back after a power cut, and
 * goes with the next call. Where it can, it gives the file of the checkpoint's ref a second name,
 * so that all of them wait for the disk once.
 */
int keepers_set(struct store *store, enum keeper who, const struct strlist *ids, bool alone);

/** A checkpoint was dropped: nobody needs it any more, apart from processes that read it. */
int keepers_forget(struct store *store, const struct ref_item *ref);

/**
 * Remove those of checkpoints that no longer exist because their deletion was
 * interrupted, but none of those in `lost`; and those of dead processes, and of
 * a journal that never came. Not between a restore's first keeper and its journal.
 */
int keepers_sweep(struct store *store, const struct ref_list *lost);

/* --- while this process runs; without the lock of the store --- */

struct keepers_hold {
	int dirfd, fd;
	char *ref;
};

#define KEEPERS_HOLD_INIT { -1, -1, NULL }

/**
 * Need a checkpoint as long as this process runs, or until keepers_let_go(), to be called in any
 * case. This does not stop drop, which is asked for by name. CKPT_ENOTFOUND: it is already gone.
 */
int keepers_hold(struct keepers_hold *out, struct store *store, const char *id);
void keepers_let_go(struct keepers_hold *hold);

/** For store_close(). */
void keepers_free(struct keepers *keepers);

#endif
