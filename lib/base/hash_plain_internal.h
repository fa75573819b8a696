/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_HASH_PLAIN_INTERNAL_H
#define CKPT_BASE_HASH_PLAIN_INTERNAL_H

#include "base/hash.h"

/** As hash_buffer(), without libcrypto. */
void hash_plain(enum hash_kind kind, unsigned char *out, const void *data, size_t len);

#endif
