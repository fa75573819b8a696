/* SPDX-License-Identifier: MIT */
#ifndef CRASH_HISTORY_H
#define CRASH_HISTORY_H

#include "model.h"

/**
 * What history.c makes of a log and model.c builds states from: the first tree, and the changes
 * that were made to it, each with what makes it certain. See model.h.
 */

enum { DEVICES = 16 };

#define NEVER SIZE_MAX

enum change_kind {
	CH_WRITE,
	CH_SIZE,
	CH_MODE,
	CH_TIME,
	CH_NAMES,
};

struct assign {
	char *name;
	int node; /* -1: gone */
};

struct change {
	enum change_kind kind;
	size_t at; /* record that made it */
	int node;  /* for CH_NAMES the directory */
	int dev;
	uint64_t offset; /* CH_WRITE; or the size, the mode */
	uint64_t mtime;
	unsigned char *data;
	size_t len;
	uint64_t size_before; /* CH_WRITE: what is beyond needs new blocks */
	struct assign names[2];
	int names_nr;
	size_t synced;   /* record that made it certain */
	size_t replaced; /* CH_WRITE: a rename over another file after it */
};

/* A sync of ext4: from record `at` on the journal is at least at `upto`. */
struct commit {
	size_t at, upto;
	int dev; /* -1: all */
};

struct history {
	struct node *first; /* the tree before */
	int *devs;
	size_t nodes, nodes_alloc;
	size_t first_nr;
	struct change *changes;
	size_t nr, alloc;
	struct commit *commits;
	size_t commits_nr, commits_alloc;
	struct phase *phases;
	size_t phases_nr;
	size_t records;

	/* while reading: the tree as a process sees it */
	struct state live;
	uint64_t *inos; /* of nodes; a later one hides an earlier one */
	size_t *last_meta, *last_names;
};

#endif
