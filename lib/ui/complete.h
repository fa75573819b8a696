/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_COMPLETE_H
#define CKPT_UI_COMPLETE_H

#include "ui/options.h"

/**
 * What the completions of the shells ask the program for, so that they never
 * fall behind it. One answer a line, on stdout.
 *
 * A verb is the first word of a form of the usage, as "install" of `hooks`;
 * most commands have none. The options of a verb are those that its forms
 * show.
 */

void complete_verbs(const struct opt_spec *spec);

/** As opt_complete(), without the options of other verbs; all if it is NULL or not known. */
void complete_options(const struct opt_spec *spec, const char *verb);

/**
 * The values that an option ("--events") can have. If it takes a list, what
 * was typed of it up to the last comma stands before each, and what is in
 * there is left out.
 */
void complete_values(const struct opt_spec *spec, const char *option, const char *typed);

#endif
