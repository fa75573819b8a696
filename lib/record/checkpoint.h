/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_CHECKPOINT_H
#define CKPT_RECORD_CHECKPOINT_H

#include "record/nested.h"
#include "record/statehash.h"
#include "store/store.h"

/**
 * A checkpoint and the commit that represents it.
 *
 *     commit  tree    the worktree
 *             parent  a commit that holds what a tree cannot:
 *                       git/      the state of the project's repository, see gitstate/gitrecord.h
 *                       modes     permission bits, see modes.h
 *                       missing   what could not be captured: "<why> <path>\0" each
 *                       left-out  what was left out on purpose, likewise
 *                       nested    repositories within the worktree, see nested.h
 *                       rules/    the rules outside the worktree, one blob for each
 *                                 source, see rules.h
 *                       state/    one blob for each state key (name percent-encoded)
 *                       captures/ one blob for each capture, see captures/captures.h
 *             message "<reason> | <time> | <source>", a blank line, then
 *                     "Key: value" lines; a value with odd bytes is C-quoted
 *
 * The parent depends only on its contents, so checkpoints with the same metadata share
 * it. No commit leads to an older checkpoint.
 */
struct ckpt_state {
	char *key;
	char *value;    /**< NULL: larger than CKPT_STATE_HELD, or already in the pack */
	size_t len;     /**< of `value` */
	struct oid oid; /**< when read, or if `value` is NULL */
	uint64_t size;  /**< when read */
};

enum { CKPT_STATE_HELD = 1 << 20, CKPT_STATE_KEY_MAX = 255 };

/** 1 to CKPT_STATE_KEY_MAX bytes of UTF-8, no control characters. */
bool meta_state_key_valid(const char *key);

struct ckpt_capture {
	char *name;
	char *type;
	uint64_t size;
	struct oid oid; /**< of the blob; unknown in a record */
};

struct ckpt_captures {
	struct ckpt_capture *items; /**< in the order in which they were taken */
	size_t nr, alloc;
};

/**
 * Which agent took it, and at which moment of its work: labels for people and for lists. Two
 * checkpoints that differ in nothing else are the same state. Each may be NULL.
 */
struct ckpt_agent {
	char *name; /**< NULL: not taken by an agent that tells anything */
	char *session, *turn_id;
	uint64_t turn; /**< its number within the session, see turns.h; 0: none */
	char *tool, *tool_call;
	char *sub_agent;
	char *prompt; /**< its first line */
};

void record_agent_copy(struct ckpt_agent *out, const struct ckpt_agent *agent);
void record_agent_release(struct ckpt_agent *agent);

struct ckpt_record {
	char id[CKPT_ID_SIZE];
	struct oid commit, tree, meta;
	char *type;
	int64_t created_at; /**< by the clock, which may have been wrong; the id may be later */
	char *reason;
	char *source;
	char *before;	 /**< what was about to be done, "git rebase main"; or NULL: see title.h */
	char *done;	 /**< what had just been done, likewise */
	struct ckpt_agent agent;
	int64_t step;    /**< -1: none */
	int64_t expiry;  /**< 0: never */
	bool pinned;	 /**< or named; not part of the commit, see keepers.h */
	bool imported;	 /**< taken elsewhere; "@" never means it; not part of the commit */
	char *machine;	 /**< fetched from there, see store/fetched.h; NULL: one of this store */
	struct strlist names; /**< given by people: see keepers.h; not part of the commit */
	/** Nobody asked for it: a hook, the guard, an agent, a workflow or a restore took it. */
	bool automatic;
	/** What a restore took before it touched anything; "@" means the one before it. */
	bool safety;
	char safety_for[CKPT_ID_SIZE]; /**< what was restored; "" if not known, or not `safety` */
	/** Not a checkpoint, but a composed state that leads to this one; otherwise "". */
	char composed_for[CKPT_ID_SIZE];
	struct strlist conflicts;  /**< of a composed state: "<why>\n<path>" of what it left alone */
	struct strlist scope;      /**< empty: the whole worktree */
	bool include_ignored, include_sensitive; /**< as requested from the save */
	bool state_only;           /**< has no files; its tree is empty and means nothing */
	struct strlist state_keys; /**< sorted */
	struct ckpt_captures captures;
	char state_hash[STATEHASH_SIZE];
	uint64_t files;   /**< files and links captured */
	uint64_t bytes;
	uint64_t changed; /**< against `base` */
	int64_t added, deleted; /**< lines against `base`; -1: not known */
	uint64_t missing; /**< paths in scope that could not be captured */
	char *base;       /**< id of the previous checkpoint of the same scope, or NULL */
	struct strlist warnings;
	char *head, *branch, *operation; /**< of the project, each may be NULL */
	/** Of the state of the project's repository, see gitstate/gitrecord.h; "" if it has none. */
	char git_hash[STATEHASH_SIZE];
	struct gitindex_counts index;
	unsigned progress, progress_total; /**< of the operation; 0: it has no steps */
};

/** The first field of a record. */
#define RECORD_FORMAT "1"

#define CKPT_RECORD_INIT                               \
	{                                              \
		.step = -1, .added = -1, .deleted = -1 \
	}

void record_release(struct ckpt_record *record);

/** Whether "@" may mean it: taken here, and not before a restore for its own safety. */
static inline bool record_is_meant(const struct ckpt_record *record)
{
	return !record->safety && !record->imported && !record->machine;
}

/** Whether somebody else may have chosen what is in it: the user's commands do not get it unasked. */
static inline bool record_is_foreign(const struct ckpt_record *record)
{
	return record->imported || record->machine;
}

/** What hangs off the commit, besides the record itself. */
struct ckpt_meta {
	struct strbuf modes;
	struct skip_list skips;
	struct nested_list nested;
	struct ckpt_state *states;
	size_t states_nr, states_alloc;
	struct ckpt_captures captures;
	bool have_rules; /**< false for checkpoints without files */
	struct rules_texts rules;
	struct oid git; /**< the tree of the repository's state; zero: none */
};

void meta_init(struct ckpt_meta *meta);
void meta_release(struct ckpt_meta *meta);
void meta_add_state(struct ckpt_meta *meta, const char *key, const char *value, size_t len);

/** Add a state whose blob is, or will be, in the store. */
void meta_add_stored_state(struct ckpt_meta *meta, const char *key, const struct oid *oid,
			   uint64_t size);

/** NULL if there is none. */
const struct ckpt_state *meta_find_state(const struct ckpt_meta *meta, const char *key);

enum { RECORD_CAPTURE_NAME_MAX = 100 };

/** Letters, digits, "." "_" "-", beginning with a letter or a digit; as names in trees and records. */
bool record_capture_name_valid(const char *name);

/** `oid` may be NULL. */
void record_captures_add(struct ckpt_captures *captures, const char *name, const char *type,
			 uint64_t size, const struct oid *oid);
const struct ckpt_capture *record_captures_find(const struct ckpt_captures *captures,
						const char *name);
void record_captures_release(struct ckpt_captures *captures);

/** Append an entry to the text of a tree. */
void meta_add_entry(struct strbuf *tree, const char *mode, const char *name, const struct oid *oid);

/** The same for a blob of these bytes, which is added to the pack. */
int meta_add_blob(struct strbuf *tree, struct pack *pack, const char *name, const void *data,
		  size_t len);

/** Add only the metadata commit to a pack. Blobs of captures and stored states must exist. */
int meta_write(struct oid *commit_out, const struct ckpt_meta *meta, struct pack *pack);

/** For a part of the metadata: append an entry to the text of a tree. */
void meta_add_entry(struct strbuf *tree, const char *mode, const char *name, const struct oid *oid);

/** The same for a blob of these bytes, which is added to the pack. */
int meta_add_blob(struct strbuf *tree, struct pack *pack, const char *name, const void *data,
		  size_t len);

/**
 * Add the commits of a checkpoint to a pack. `record->tree` must be set;
 * `record->commit` and `record->meta` are set on return.
 */
int record_write(struct ckpt_record *record, const struct ckpt_meta *meta, struct pack *pack);

/**
 * The commit as it is for others: without what a coding agent was asked, which people type for it
 * alone. It is the same in all but the prompt and what was made of it.
 */
void record_encode_bare(struct strbuf *out, const struct ckpt_record *record);

/**
 * What a failure to read something of checkpoint `id` means: damage, CKPT_ECORRUPT, with a
 * message that names the id; or that it was dropped while being read without the lock,
 * CKPT_ENOTFOUND. Failures that say nothing about what is stored are passed on.
 */
int record_damaged(int err, struct store *store, const char *id);

/** Its commit is not in the store, rather than damaged: nothing of it will ever be listed again. */
bool record_is_gone(struct store *store, const struct ref_item *ref);

/** "2 checkpoints are lost: nothing of them is in the store any more" */
char *record_describe_gone(size_t nr);

/**
 * Of a record that could not be read: true if it is gone; otherwise the sentence that says what is
 * wrong with it, the last error, is added to `out`.
 */
bool record_note_damage(struct strlist *out, struct store *store, const struct ref_item *ref);

/** One sentence about all of `refs` that are gone, for those who found one among them. */
void record_tell_gone(struct strlist *out, struct store *store, const struct ref_list *refs);

/** Read the record of a ref; fails as record_damaged() says. */
int record_read(struct ckpt_record *out, struct store *store, const struct ref_item *ref);

/** The same for one that was fetched from another machine. */
int record_read_fetched(struct ckpt_record *out, struct store *store,
			const struct fetched_item *item);

/** The same for callers that read many. */
int record_read_kept(struct ckpt_record *out, struct store *store, const struct ref_item *ref,
		     const struct keepers *keepers);

/** The same without what is not in the commit: neither pinned nor named nor imported. */
int record_read_saved(struct ckpt_record *out, struct store *store, const struct ref_item *ref);

/** How many commits of checkpoints this process has read so far, for tests: each is read once. */
uint64_t record_reads(void);

/**
 * Read what hangs off it; with `modes_only`, only the modes. Captures and
 * large values are not read but named.
 */
int meta_read(struct ckpt_meta *out, struct store *store, const struct ckpt_record *record,
	      bool modes_only);

/** The tree of all that hangs off it. */
int meta_find_tree(struct oid *out, struct store *store, const struct ckpt_record *record);

/** The tree of the repository's state, zero if it has none, without reading the rest. */
int meta_find_git(struct oid *out, struct store *store, const struct ckpt_record *record);

/**
 * An id for a checkpoint saved at `now`, after the one with the id `last` ("" if there is none):
 * ids sort in the order of saving, whatever the clock does. It has the time of the save, unless
 * `last` has that second or a later one; then the second of `last` and greater digits, of which
 * there are enough for thousands of saves, and after them the next second.
 */
int record_next_id(char out[CKPT_ID_SIZE], const char *last, int64_t now);

/** captured / in scope: 1.0 only if nothing is missing. */
double record_confidence(const struct ckpt_record *record);

/** True if its time has passed. */
bool record_expired(const struct ckpt_record *record, int64_t now);

#endif
