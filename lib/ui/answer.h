/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_ANSWER_H
#define CKPT_UI_ANSWER_H

#include "base/base.h"

/**
 * Read the next line of stdin, without its end, into `out`; what was printed
 * to stderr appears first. False at the end of file, or after a signal. For
 * conversations of many answers, which a program may give as well: prompt.h
 * asks a person.
 */
bool answer_read(struct strbuf *out);

#endif
