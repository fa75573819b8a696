/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_SETTING_INTERNAL_H
#define CKPT_SETTINGS_SETTING_INTERNAL_H

#include "base/base.h"

struct ckpt_settings;

/**
 * Parsing setting values into the fields of struct ckpt_settings, by the rows
 * of setting_table. Where the text comes from does not matter here; for
 * settings.c only.
 */

/** Set the field of row `index`; false, without a change, if `value` is not valid for it. */
bool setting_parse(struct ckpt_settings *settings, unsigned index, const char *value);

/** What a value of the row must look like, for a message: "a number or 'none'". */
const char *setting_expected(unsigned index);

/** True if another value is added to the previous ones, false if it replaces them. */
bool setting_adds_up(unsigned index);

#endif
