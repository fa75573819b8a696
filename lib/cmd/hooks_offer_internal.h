/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_HOOKS_OFFER_INTERNAL_H
#define CKPT_CMD_HOOKS_OFFER_INTERNAL_H

#include "base/base.h"

struct session;

/**
 * After a guard was installed: offer the setting hookSensitive, once, to whoever has not
 * decided about it. `global`: for all repositories.
 */
void hooks_offer_sensitive(struct session *session, bool global);

#endif
