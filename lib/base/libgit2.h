/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_LIBGIT2_H
#define CKPT_BASE_LIBGIT2_H

#include <git2.h>

/**
 * libgit2 at arm's length: loaded on first use, with its errors translated
 * into our model.
 *
 * It brings a dozen libraries, which take longer to load than most commands
 * take to run, and most commands never need it. So the program is not linked
 * with it: its functions are called through this table.
 */
struct libgit2 {
#define LIBGIT2_FUNCTIONS(F) \
	F(libgit2_init) F(libgit2_opts) F(error_last) \
	F(repository_open_bare) F(repository_odb) F(repository_free) \
	F(odb_read) F(odb_read_header) F(odb_free) \
	F(odb_object_type) F(odb_object_data) F(odb_object_size) F(odb_object_free) \
	F(merge_file) F(merge_file_result_free) \
	F(diff_options_init) F(patch_from_buffers) F(patch_print) F(patch_line_stats) F(patch_free)
#define LIBGIT2_FIELD(name) __typeof__(git_##name) *name;
	LIBGIT2_FUNCTIONS(LIBGIT2_FIELD)
#undef LIBGIT2_FIELD
};

/** Its functions, once libgit2_begin() succeeded. */
extern struct libgit2 libgit2;

/** Load and initialise it, once; CKPT_ERROR if it cannot be loaded. */
int libgit2_begin(void);

/**
 * Set "<text>: <what libgit2 says>"; returns CKPT_ENOTFOUND for GIT_ENOTFOUND, otherwise
 * CKPT_ERROR.
 */
int libgit2_error(int rc, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
