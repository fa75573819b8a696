/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_INPUT_INTERNAL_H
#define CKPT_AGENTS_AGENT_INPUT_INTERNAL_H

#include "base/base.h"

/**
 * Reading one JSON object from a stream that need not end: some agents keep their end of the pipe
 * open.
 */
enum {
	AGENT_INPUT_SECONDS = 5,
	AGENT_INPUT_MAX = 32 << 20, /**< bytes */
};

/** Finds the end of an object as its bytes arrive. Begin with all zero. */
struct agent_input_scan {
	size_t depth;
	bool begun, in_string, escaped;
	bool other; /**< it does not begin as an object: it has no end */
};

/** How many of these bytes belong to the object, if it ends here; otherwise 0. */
size_t agent_input_scan(struct agent_input_scan *scan, const char *bytes, size_t len);

/**
 * Append one object. False if there is none, it is not whole, too large or too slow; then what was
 * appended means nothing.
 */
bool agent_input_read(struct strbuf *out, int fd, double seconds, size_t max);

#endif
