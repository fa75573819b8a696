/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_SINK_H
#define CKPT_UI_SINK_H

#include "base/base.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * Where a JSON answer goes when stdout belongs to somebody else.
 *
 * A file is written as a whole, in one instant, when the answer is there; what
 * was in it stays until then. Only what cannot be replaced (a pipe, a device,
 * a symbolic link) is opened at once. A descriptor is ours from then on: a
 * command that is run does not get it, unless it is a standard stream.
 */
struct sink {
	bool wanted;
	int fd;     /**< opened, or given; -1: to be written as a file */
	char *path; /**< of that file, absolute: its directory may be another one by then */
	bool given; /**< the descriptor is the caller's */
};

#define SINK_INIT { false, -1, NULL, false }

/** See that something can be written there, before anything is done whose outcome it should get. */
int sink_to_file(struct sink *sink, const char *path);
int sink_to_fd(struct sink *sink, int64_t fd);

/** To stdout, behind all else. */
void sink_to_stdout(struct sink *sink);

/** Write the answer and free it; nothing if none is wanted. */
int sink_write(struct sink *sink, json_t *answer);

void sink_release(struct sink *sink);

#endif
