/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOKS_H
#define CKPT_HOOKS_HOOKS_H

/**
 * Hooks and the guard: putting them in place, and what they do when git calls them.
 *
 * This is what other folders include.
 */
#include "hooks/hook_calls.h"
#include "hooks/hook_checkpoint.h"
#include "hooks/hook_rules.h"
#include "hooks/install.h"

#endif
