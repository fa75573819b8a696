/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_PLACE_INTERNAL_H
#define CKPT_MCP_MCP_PLACE_INTERNAL_H

#include "base/base.h"

/** Which project a call is about, and whether it may be. */
struct mcp_roots {
	struct strlist dirs; /**< real paths */
	char *home;	     /**< where a call without a directory goes */
};

#define MCP_ROOTS_INIT { STRLIST_INIT, NULL }

/** `given` are directories that were named at the start; none: the project around this one. */
int mcp_roots_init(struct mcp_roots *out, const struct strlist *given);
void mcp_roots_release(struct mcp_roots *roots);

/** A project: its root, opened, and the path of that. Release it with mcp_place_release(). */
struct mcp_place {
	int fd;
	char *worktree;
};

#define MCP_PLACE_INIT { -1, NULL }

/**
 * The project around a directory (NULL: the usual one). All links are resolved, and what they lead
 * to, as well as the project's root, must be in one of the roots: CKPT_EREFUSED if it is not.
 */
int mcp_place_find(struct mcp_place *out, const struct mcp_roots *roots, const char *directory);
void mcp_place_release(struct mcp_place *place);

#endif
