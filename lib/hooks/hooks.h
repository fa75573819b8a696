/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOKS_H
#define CKPT_HOOKS_HOOKS_H

/**
 * Hooks and the guard: installing them, and what they do when git calls them.
 *
 * This is what other folders include. The public names begin with "hooks_" for
 * installing and with "hook_" for what git calls; internals of installing begin
 * with "install_".
 */
#include "hooks/hook_checkpoint.h"
#include "hooks/hook_git.h"
#include "hooks/hook_rules.h"
#include "hooks/install.h"

#endif
