/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_LIBMEM_H
#define CKPT_BASE_LIBMEM_H

/**
 * Make the allocators of libraries unable to fail, as in alloc.h: some
 * libraries crash when memory runs out, or go on with half an answer. Call
 * before any of them is used.
 */
void libmem_install(void);

/** The same for libgit2, once it is loaded. */
void libmem_install_git(void);

#endif
