/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_CONFIG_INTERNAL_H
#define CKPT_CMD_CONFIG_INTERNAL_H

#include "base/base.h"

/**
 * The settings file that a user means: their own, or that of this folder, whose store is created
 * if needed. For settings_change().
 */
int config_file(struct strbuf *out, bool users);

#endif
