/* SPDX-License-Identifier: MIT */
#include "base/crc.h"

#include <libdeflate.h>

uint32_t crc_update(uint32_t crc, const void *data, size_t len)
{
	return len ? libdeflate_crc32(crc, data, len) : crc;
}
