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

/*
 * In this folder:
 *
 *   install install_status  installing and removing them; whether git would run them
 *   install_where install_config install_template  what for, and the values and lines that name
 *                           the scripts; a template for all repositories
 *   shim                    the scripts
 *   hook_rules hook_git hook_targets  whether to save, from what git is doing
 *   hook_checkpoint hook_once  taking the checkpoint, once for each command
 *   hook_exposed hook_autostash  what the rules leave out but git may destroy; autostash
 */

#endif
