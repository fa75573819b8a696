/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CRC_H
#define CKPT_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/** CRC-32 as zlib and git's pack index have it; begin with 0. libdeflate's is the fastest there is. */
uint32_t crc_update(uint32_t crc, const void *data, size_t len);

#endif
