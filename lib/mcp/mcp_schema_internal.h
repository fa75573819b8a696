/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MCP_MCP_SCHEMA_INTERNAL_H
#define CKPT_MCP_MCP_SCHEMA_INTERNAL_H

#include "base/base.h"

/**
 * JSON Schema from a short notation, so that what git-checkpoint-json(5) says about an answer fits
 * on a few lines:
 *
 *   {id:s step:i? files:[{file:s why:s}] captures-:[x] ...}
 *
 * "s" is a string, "i" an integer, "n" a number, "b" a boolean, "x" anything; "{...}" an object,
 * which may have more members than those named, "[...]" an array. "?" after it: it may also be
 * null. "-" before the colon: the member may be missing.
 */
json_t *mcp_schema_parse(const char *notation);

/** What the tools answer, by name: "save", "list", "preview" and so on. */
json_t *mcp_schema(const char *name);

#endif
