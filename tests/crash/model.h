/* SPDX-License-Identifier: MIT */
#ifndef CRASH_MODEL_H
#define CRASH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * What may be on the disk after the power went, from a log of crash-record.
 *
 * A log is broken up into changes that reach the disk one by one: the bytes of one write, the
 * size of a file, its mode, its time, the names of one directory that one call changed. A rename
 * within a directory is one change; one between two directories is two, one for each. The tree
 * that the log begins with is on the disk. A cut at n means: the first n records of the log were
 * carried out, as a process would have seen it, when the power went.
 *
 * MODEL_STRICT, what POSIX promises and no more:
 *   - a change is on the disk for certain if a sync of its inode came after it and before the
 *     cut: fsync(2) of the file for bytes, size, mode and time, fdatasync(2) for bytes and size,
 *     fsync of the directory for names. Syncing a file does not sync its name, nor a directory
 *     the files in it;
 *   - of all others any may be on the disk and any may be missing, in whatever order they were
 *     made. Of a write, sectors of 512 bytes may be there or not. Where a write is missing but
 *     the file is longer, there are zeros; the whole of a write may be zeros. A directory that
 *     came to a second place while it is still at the first is left in one of them.
 *
 * MODEL_EXT4, ext4 with data=ordered and delayed allocation, as Debian mounts it:
 *   - names, modes, times and sizes go through a journal in the order in which they were made:
 *     up to some point all are there, after it none. Syncing any inode takes the journal at
 *     least as far as the last change of that inode, and to the present if it has new blocks
 *     to write;
 *   - bytes that make a file longer get their blocks when they are written back, some time
 *     later: until then the file is as long as it was, though its name and time may be on the
 *     disk. They are written back in order, and never before the journal has come to their write;
 *   - bytes that replace others in place are there or not, by sectors, whatever the journal does;
 *   - a rename that replaces a file (not an exchange) has the new file's bytes written first.
 *
 * MODEL_EXT4_TWO: the same where each directory in the root is a file system of its own.
 */
enum model {
	MODEL_STRICT,
	MODEL_EXT4,
	MODEL_EXT4_TWO,
};

/** An inode as it is in a state. A file's data may be shared with the log: never write to it. */
struct node {
	uint32_t mode;
	uint64_t mtime;
	unsigned char *data;
	size_t len;
	bool owned; /**< `data` is this state's own */
	struct entry *entries;
	size_t nr, alloc;
};

struct entry {
	const char *name;
	int node;
};

/** A tree; node 0 is the root. */
struct state {
	struct node *nodes;
	size_t nr;
};

/** A part of the log between two marks. */
struct phase {
	const char *name;
	size_t first, end; /**< cuts from `first` up to and without `end` */
};

struct history;

/** Exits with a message if the log cannot be read or has something that was not seen. */
struct history *history_read(const char *file);

size_t history_length(const struct history *history);
size_t history_phases(const struct history *history, const struct phase **out);

/** How many changes are not certain to be on the disk (MODEL_STRICT). */
size_t history_pending(const struct history *history, size_t cut);

/**
 * How to choose among the states that are possible:
 *   none  only what is certain         all   all that was done
 *   names all but bytes and sizes      bytes all but names
 *   zero  all, but the bytes are zeros
 *   lose  all but change <n> of those pending      keep  none but that
 *   rand  by chance, from seed <n>
 * In the models of ext4 lose is a journal that ends <n> changes before the cut, with all bytes
 * written back that can be, keep the same without those bytes.
 */
enum choice {
	CHOOSE_NONE,
	CHOOSE_ALL,
	CHOOSE_NAMES,
	CHOOSE_BYTES,
	CHOOSE_ZERO,
	CHOOSE_LOSE,
	CHOOSE_KEEP,
	CHOOSE_RAND,
	CHOICES
};

extern const char *const choice_names[CHOICES];
extern const char *const model_names[3];

void state_build(struct state *out, const struct history *history, enum model model, size_t cut,
		 enum choice choice, uint64_t n);
void state_release(struct state *state);

/** Of all that can be reached, but for times. */
uint64_t state_hash(const struct state *state);

/** A small generator, the same everywhere. */
uint64_t chance(uint64_t *seed);

#endif
