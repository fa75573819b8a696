/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_POOL_H
#define CKPT_BASE_POOL_H

#include "base/std.h"

/**
 * The only place where threads are created.
 *
 * With `threads` 1 everything runs in the calling thread, in order: that is
 * the reference which more threads must equal. The calling thread always works
 * too, as worker 0. After an item fails no other is started, and the error
 * message of the failed worker is copied to the caller.
 */

/** A sensible number of threads for this machine, at least 1. */
unsigned pool_default_threads(void);

typedef int (*pool_item_fn)(size_t index, unsigned worker, void *payload);

/** Call `fn` for 0 .. n-1. The calls may run in any order, each index once. */
int pool_for(unsigned threads, size_t n, pool_item_fn fn, void *payload);

struct pool_queue;

typedef int (*pool_work_fn)(struct pool_queue *queue, void *item, unsigned worker, void *payload);

/** Process a queue that begins with `first` and to which the calls may add. */
int pool_drain(unsigned threads, void *first, pool_work_fn fn, void *payload);

/** Add work from within a pool_work_fn. */
void pool_push(struct pool_queue *queue, void *item);

#endif
