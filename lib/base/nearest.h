/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_NEAREST_H
#define CKPT_BASE_NEAREST_H

#include <stddef.h>

/** For sentences about a word that is not known: which one was meant, perhaps. */

/**
 * The letters that have to be put in, taken out or replaced to make one word of
 * the other, whatever their case.
 */
size_t nearest_distance(const char *a, const char *b);

/** The one of `nr` words that is nearest to `word`; NULL if none is near. */
const char *nearest_word(const char *word, const char *const *words, size_t nr);

#endif
