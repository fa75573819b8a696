/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITDATE_H
#define CKPT_GIT_GITDATE_H

#include "base/base.h"

/**
 * A time in the past, in any of the ways in which people write one:
 *
 *  - a duration: 10m, 2h, so long ago;
 *  - ISO 8601, see clock.h: a date alone is the beginning of that day;
 *  - what git's --since takes: "yesterday", "2 weeks ago", "last friday". A
 *    time of day, "14:30" or "5pm", is today's, or yesterday's if it has not
 *    come yet today. These are read by git.
 *
 * CKPT_EUSAGE, with a message that names the text, if it is none of these;
 * CKPT_ENOTFOUND if git is needed but not installed.
 */
int gitdate_parse(int64_t *out, const char *text);

#endif
