/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_STRBUF_H
#define CKPT_BASE_STRBUF_H

#include "base/std.h"

/**
 * A byte string that grows.
 *
 * `buf` is never NULL and always has a NUL at `buf[len]`, so that it can be
 * passed to anything that takes a C string; it may contain any bytes, even
 * NUL. Start with STRBUF_INIT, end with strbuf_release(); a released one may
 * be used again.
 */
struct strbuf {
	char *buf;
	size_t len;
	size_t alloc; /**< 0 while `buf` points at the shared empty string */
};

extern char strbuf_empty[];
#define STRBUF_INIT { strbuf_empty, 0, 0 }

void strbuf_init(struct strbuf *sb);
void strbuf_release(struct strbuf *sb);

/** Give the bytes to the caller, who frees them; `sb` is empty afterwards. */
char *strbuf_detach(struct strbuf *sb, size_t *len_out);

/** Make room for `extra` more bytes and a NUL. */
void strbuf_grow(struct strbuf *sb, size_t extra);

/** Truncate to `len` bytes, which must not exceed the current length. */
void strbuf_setlen(struct strbuf *sb, size_t len);
#define strbuf_reset(sb) strbuf_setlen((sb), 0)

void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_addstr(struct strbuf *sb, const char *str);
void strbuf_addch(struct strbuf *sb, int c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/** Append formatted text and a NUL, which ends the field. */
void strbuf_add_field(struct strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Put `len` bytes, which must not be its own, in the place of those in [start, end). */
void strbuf_splice(struct strbuf *sb, size_t start, size_t end, const void *data, size_t len);

/** Remove white space from both ends. */
void strbuf_trim(struct strbuf *sb);

/** Whether both have the same bytes. */
bool strbuf_equal(const struct strbuf *a, const struct strbuf *b);

#endif
