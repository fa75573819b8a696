/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOKS_H
#define CKPT_HOOKS_HOOKS_H

/**
 * Hooks and the guard: putting them in place, and what they do when git calls them.
 *
 * This is what other folders include. What is for them begins with "hooks_" if
 * it installs, and with "hook_" if git calls it; what installing needs inside
 * begins with "install_".
 */
#include "hooks/hook_checkpoint.h"
#include "hooks/hook_git.h"
#include "hooks/hook_rules.h"
#include "hooks/install.h"

#endif
