/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_PATHSPEC_H
#define CKPT_GIT_PATHSPEC_H

#include "base/base.h"

/**
 * Which paths a user means: plain ones, with everything below, and git's patterns ('*.c',
 * ':!docs', ':(icase)readme*'), with what they match; see gitglossary(7), "pathspec".
 * ':(attr:...)' is not supported. libgit2 1.5 has a matcher, but it knows neither exclusions nor
 * ':(glob)'.
 *
 * Only texts: who types relative to which directory is the caller's business.
 */
enum pathspec_magic {
	PATHSPEC_TOP = 1 << 0,	   /**< ":/": from the root, wherever the user is */
	PATHSPEC_LITERAL = 1 << 1, /**< "*" is a star */
	PATHSPEC_GLOB = 1 << 2,	   /**< "*" does not match a slash, "**" does */
	PATHSPEC_ICASE = 1 << 3,
	PATHSPEC_EXCLUDE = 1 << 4, /**< ":!" */
};

struct pathspec_item {
	char *typed;
	char *match; /**< from the root; it may end with "/" */
	unsigned magic;
	size_t prefix; /**< length of the user's directory in it: no letter may differ */
	size_t plain;  /**< length of what precedes the first wildcard */
};

struct pathspec {
	struct strlist plain; /**< sorted paths, "" for the root */
	struct pathspec_item *items;
	size_t nr, alloc;
};

#define PATHSPEC_INIT                 \
	{                             \
		.plain = STRLIST_INIT \
	}

void pathspec_release(struct pathspec *spec);

/**
 * What was typed: its magic, and the path or pattern after it. The variables GIT_LITERAL_PATHSPECS
 * and so on count. CKPT_ERROR for magic that is unknown or contradicts itself.
 */
int pathspec_split(unsigned *magic_out, const char **rest_out, const char *typed);

/** True if it may be more than a path: "*.c" and ":!docs", but not "src". */
bool pathspec_is_special(const char *typed);

/** True if a text with this magic has wildcards. */
bool pathspec_is_wild(const char *text, unsigned magic);

/** Add what is not plain; see pathspec_item for `match` and `prefix`. */
void pathspec_add(struct pathspec *spec, const char *typed, unsigned magic, const char *match,
		  size_t prefix);

/** True if there is nothing in it, so that everything is meant. */
bool pathspec_is_empty(const struct pathspec *spec);

/**
 * True if the path is meant. With nothing but exclusions, or nothing at all, that is everything
 * else.
 */
bool pathspec_matches(const struct pathspec *spec, const char *path, bool is_dir);

/** The same for one of the items, whether it excludes or not. */
bool pathspec_item_matches(const struct pathspec_item *item, const char *path, bool is_dir);

/** False only if nothing in this directory is meant, nor the directory itself. */
bool pathspec_enters(const struct pathspec *spec, const char *dir);

/** Append copies of what is in `from`. */
void pathspec_copy(struct pathspec *spec, const struct pathspec *from);

#endif
