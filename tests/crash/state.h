/* SPDX-License-Identifier: MIT */
#ifndef CRASH_STATE_H
#define CRASH_STATE_H

#include "model.h"

/**
 * Trees of inodes in memory (struct state), and what little all of crash-replay needs. Nothing
 * here returns a failure: what cannot be done ends the program.
 */

void crash_die(const char *what, const char *name) __attribute__((noreturn));

/** Room for one more than `nr` items of `size` bytes. */
void *crash_grow(void *items, size_t nr, size_t *alloc, size_t size);

/** A copy, ended by NUL. */
void *crash_copy(const void *data, size_t len);

/** The node with that name in a directory, or -1. */
int node_lookup(const struct node *dir, const char *name);

/** -1 removes the name. `name` has to live as long as the node. */
void node_set_name(struct node *dir, const char *name, int node);

void node_set_size(struct node *node, size_t len);

/** NULL for zeros. */
void node_set_bytes(struct node *node, uint64_t offset, const void *data, size_t len);

/** Shares the data until it is changed. */
void node_copy(struct node *out, const struct node *from);

#endif
