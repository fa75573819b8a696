/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CRC_H
#define CKPT_BASE_CRC_H

#include "base/std.h"

/**
 * CRC-32 as in zlib and git's pack index; begin with 0. Uses libdeflate, which has the fastest
 * implementation.
 */
uint32_t crc_update(uint32_t crc, const void *data, size_t len);

#endif
