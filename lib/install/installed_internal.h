/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSTALL_INSTALLED_INTERNAL_H
#define CKPT_INSTALL_INSTALLED_INTERNAL_H

#include "base/base.h"

/** The record of what was in other people's files, in the user's own directory. */
struct install_record {
	char *dir, *path;
	int lockfd; /**< -1: not locked */
	bool has_less; /**< than the file: something was taken back */
	json_t *whole, *files; /**< the second is borrowed */
};

#define INSTALL_RECORD_INIT { .lockfd = -1 }

/** To be closed in any case. Locked, entries of files that are gone are dropped. */
int installed_open(struct install_record *out, bool lock);
void installed_close(struct install_record *record);
int installed_write(const struct install_record *record);

/** Whether `by` is named in an entry. */
bool installed_has_by(const json_t *entry, const char *by);

#endif
