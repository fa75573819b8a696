/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_LIBMEM_H
#define CKPT_BASE_LIBMEM_H

/**
 * Memory of libraries that cannot fail, as in alloc.h: some of them crash where
 * there is none, or go on with half an answer. Before any of them is used.
 */
void libmem_install(void);

/** The same for libgit2, when it was loaded. */
void libmem_install_git(void);

#endif
