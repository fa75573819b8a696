/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_SETTING_INTERNAL_H
#define CKPT_SETTINGS_SETTING_INTERNAL_H

#include <stdbool.h>

struct ckpt_settings;

/**
 * The values of settings: from text into the fields of struct ckpt_settings,
 * by the rows of setting_table. Where the text comes from is none of its
 * business; for settings.c only.
 */

/** Set the field of row `index`; false, and nothing changed, if `value` is none for it. */
bool setting_parse(struct ckpt_settings *settings, unsigned index, const char *value);

/** What a value of the row must look like: "a number or 'none'". */
const char *setting_expected(unsigned index);

/** True if a further value is added to those before, false if it takes their place. */
bool setting_adds_up(unsigned index);

#endif
