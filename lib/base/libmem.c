/* SPDX-License-Identifier: MIT */
#include "base/libmem.h"

#include "base/alloc.h"

#include <jansson.h>
#include <libdeflate.h>
#include <openssl/crypto.h>

#include <stdlib.h>

static void *crypto_malloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return xmalloc(size);
}

static void *crypto_realloc(void *ptr, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return xrealloc(ptr, size);
}

static void crypto_free(void *ptr, const char *file, int line)
{
	(void)file;
	(void)line;
	free(ptr);
}

void libmem_install(void)
{
	/* Refused if something was allocated already; then it is as without. */
	(void)CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free);
	json_set_alloc_funcs(xmalloc, free);
	libdeflate_set_memory_allocator(xmalloc, free);
}
