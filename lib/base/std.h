/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_STD_H
#define CKPT_BASE_STD_H

/**
 * The headers of the C library that most files use, in one place, as git has
 * them. What only a few files need, they include themselves.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/** After the name of a parameter that a signature needs, and the function does not. */
#define UNUSED __attribute__((unused))

#endif
