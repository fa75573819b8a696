/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_ORDER_H
#define CKPT_RECORD_ORDER_H

#include "base/base.h"
#include "store/store.h"

struct ckpt_record;
struct store;

/**
 * The order of saving, whatever the clock did.
 *
 * An id carries the time of its save. As long as the clock does not go back, ids
 * sort in the order of saving, and nothing has to be read to know it. After one jump
 * forward they no longer do; then the records tell:
 *
 *  - Each record has a sequence number, one more than that of the newest before it.
 *  - A checkpoint whose id sorts after all others has its place by that id. Any other
 *    one says in its record after which id its place is: that by which the newest
 *    one had its place when it was saved. Those after the same id follow each other by
 *    number.
 *  - The last six digits of such an id begin with 8 to f, those of others with 0 to 7.
 *    So whether a record has to be read is seen from the id; no file is needed
 *    that could be lost.
 *
 * A place is (id, number), compared in this order, and a save takes a place after all
 * others. It never changes, whatever is dropped, so this is the order of saving. A
 * record of an older version has no number: its id sorted when it was made. Of two
 * stores that were merged, places interleave by time. A checkpoint that cannot be read
 * has the place of its id.
 */
struct ckpt_place {
	char after[CKPT_ID_SIZE]; /**< "": its own id is its place */
	uint64_t number;	  /**< of the record; 0: an older version made it */
};

/** True if its place may be another than that of its id: ask the record. */
bool order_is_odd(const char *id);

/** True if this is so of any of `refs`. */
bool order_has_odd(const struct ref_list *refs);

/** The order of two, as qsort() wants it. */
int order_compare(const char *id, const struct ckpt_place *place, const char *other_id,
		  const struct ckpt_place *other);

/** Sort `refs`, whose places are in `places`; reads nothing. */
void order_sort(struct ref_list *refs, const struct ckpt_place *places);

/**
 * All checkpoints in the order of saving. Usually this is as fast as refs_list();
 * otherwise the records of odd ids are read, if checkpoint/briefs does not know them.
 */
int order_list(struct ref_list *out, struct store *store);

/**
 * An id with the time `now`: it sorts after `last`, the place of the newest one ("" if
 * there is none), or is odd, and is none of `refs`.
 */
int order_make_id(char out[CKPT_ID_SIZE], const char *last, const struct ref_list *refs,
		  int64_t now);

/**
 * Set the id and place of a checkpoint saved at `now`, after all of `refs`, which are in
 * the order of saving. The store must be locked.
 */
int order_next(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
	       int64_t now);

#endif
