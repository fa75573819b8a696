/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_TOML_INTERNAL_H
#define CKPT_AGENTS_AGENT_TOML_INTERNAL_H

#include "base/base.h"

/**
 * Codex reads hooks from hooks.json and from config.toml beside it, and runs
 * both. The entry goes into hooks.json only: we can edit JSON, and one mistake
 * in config.toml keeps Codex from starting. Earlier versions appended it to a
 * config.toml that had hooks; an install moves it from there, and an uninstall
 * removes it.
 */

/**
 * Remove the lines that an earlier version appended, and the empty line before
 * them; every other byte stays. Lines that differ from them in a single byte
 * belong to the user. False if there are none.
 */
bool agent_toml_remove(struct strbuf *text);

/** Whether it seems to contain hooks; Codex warns if they are in two files. */
bool agent_toml_has_hooks(const struct strbuf *text);

#endif
