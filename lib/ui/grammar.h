/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_GRAMMAR_H
#define CKPT_UI_GRAMMAR_H

#include "base/base.h"
#include "ui/opt.h"

/**
 * The usage of a command, read as the grammar that it is, so that completion
 * knows of each command what people are told of it, and of a new one from the
 * beginning.
 *
 *     <word>            a placeholder: anything can stand there
 *     word              stands there itself; most often the verb of a form
 *     [x] (a | b) x...  not always; one of them; any number
 *     --                what is behind it may also stand behind "--"
 *     --option <word>   no place of its own
 *
 * A form that begins with an option that is not in brackets is meant only
 * where that option is given, and then no other form is.
 */

/**
 * What can stand at the cursor: words and placeholders ("<path>"), each once,
 * in the order of the usage.
 */
void grammar_next(struct strlist *out, const struct opt_spec *spec, const struct opt_look *look);

/**
 * True if an option can be given with what is there of the arguments: if they
 * begin with the verb of some forms, one of these has to show it.
 */
bool grammar_takes(const struct opt_spec *spec, const struct opt_look *look,
		   const struct opt *opt);

#endif
