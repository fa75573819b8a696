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
 *   install install_undo install_status install_record  installing and removing them
 *   install_place install_config install_config_write  in hook files, in the configuration
 *   install_where install_global install_global_status install_template  for all repositories
 *   shim hook_file config_edit  what is installed; our lines in other people's files
 *   hook_rules hook_git hook_targets  whether to save, from what git is doing
 *   hook_checkpoint hook_once  taking the checkpoint, once for each command
 *   hook_exposed hook_autostash  what the rules leave out but git may destroy; autostash
 */

#endif
