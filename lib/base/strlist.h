/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_STRLIST_H
#define CKPT_BASE_STRLIST_H

#include "base/alloc.h"
#include "base/hash.h"

/** A list of C strings that it owns. Start with STRLIST_INIT. */
struct strlist {
	char **items;
	size_t nr;
	size_t alloc;
};

#define STRLIST_INIT { NULL, 0, 0 }

/** Where paths limit something, it means all of them. */
extern const struct strlist strlist_empty;

void strlist_release(struct strlist *list);

/** Append a copy of `str`. */
void strlist_add(struct strlist *list, const char *str);

void strlist_addf(struct strlist *list, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Append `str` itself, which the list then owns. */
void strlist_take(struct strlist *list, char *str);

/** Remove the first one, which must be there. */
void strlist_drop_first(struct strlist *list);

/** Append copies of all of `other`. */
void strlist_extend(struct strlist *list, const struct strlist *other);

/** Sort by bytes and remove duplicates. */
void strlist_sort_unique(struct strlist *list);

/** True if `str` is in the list; a linear search (see pathset_has() for sorted ones). */
bool strlist_has(const struct strlist *list, const char *str);

int strlist_equal(const struct strlist *a, const struct strlist *b);

/* --- each held once: intern.c --- */

/**
 * Byte strings, each held once, by numbers from 1 on. All zero is an empty one. For one thread.
 */
struct intern {
	struct intern_item {
		const char *text; /**< with a NUL after it */
		size_t len;
	} *items; /**< of number n: items[n - 1] */
	size_t nr, alloc;
	struct hash_table table;
	struct arena arena;
};

/** The number of these bytes, which are added if they are new. */
size_t intern_add(struct intern *intern, const char *text, size_t len);

void intern_release(struct intern *intern);

/* --- words that are meant: nearest.c --- */

/** For messages about an unknown word: suggest the one that was perhaps meant. */

/**
 * How many letters must be inserted, removed or replaced to turn one word into
 * the other, ignoring case.
 */
size_t nearest_distance(const char *a, const char *b);

/** The word nearest to `word` of `nr` words; NULL if none is near. */
const char *nearest_word(const char *word, const char *const *words, size_t nr);

#endif
