/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_SINK_H
#define CKPT_UI_SINK_H

#include "base/base.h"

/**
 * Where a JSON answer goes when stdout belongs to a command.
 *
 * A file is replaced atomically once the answer is complete; its old contents
 * stay until then. Only what cannot be replaced (a pipe, a device, a symbolic
 * link) is opened at once. A descriptor is ours from then on: a command that
 * is run does not get it, unless it is a standard stream.
 */
struct sink {
	bool wanted;
	int fd;     /**< opened, or given; -1: write a file */
	char *path; /**< of that file, absolute: the current directory may be another by then */
	bool given; /**< the descriptor belongs to the caller */
};

#define SINK_INIT { false, -1, NULL, false }

/** Make sure that it can be written, before doing anything whose result it should get. */
int sink_to_file(struct sink *sink, const char *path);
int sink_to_fd(struct sink *sink, int64_t fd);

/** To stdout, after everything else. */
void sink_to_stdout(struct sink *sink);

/** Write the answer and free it; does nothing if none is wanted. */
int sink_write(struct sink *sink, json_t *answer);

void sink_release(struct sink *sink);

#endif
