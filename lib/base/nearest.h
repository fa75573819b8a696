/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_NEAREST_H
#define CKPT_BASE_NEAREST_H

#include "base/std.h"

/** For messages about an unknown word: suggest the one that was perhaps meant. */

/**
 * How many letters must be inserted, removed or replaced to turn one word into
 * the other, ignoring case.
 */
size_t nearest_distance(const char *a, const char *b);

/** The word nearest to `word` of `nr` words; NULL if none is near. */
const char *nearest_word(const char *word, const char *const *words, size_t nr);

#endif
