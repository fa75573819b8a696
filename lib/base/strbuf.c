/* SPDX-License-Identifier: MIT */
#include "base/strbuf.h"

#include "base/alloc.h"

#include <assert.h>

char strbuf_empty[1];

void strbuf_init(struct strbuf *sb)
{
	sb->buf = strbuf_empty;
	sb->len = sb->alloc = 0;
}

void strbuf_release(struct strbuf *sb)
{
	if (sb->alloc)
		free(sb->buf);
	strbuf_init(sb);
}

char *strbuf_detach(struct strbuf *sb, size_t *len_out)
{
	char *out;

	strbuf_grow(sb, 0);
	out = sb->buf;
	if (len_out)
		*len_out = sb->len;
	strbuf_init(sb);
	return out;
}

void strbuf_grow(struct strbuf *sb, size_t extra)
{
	size_t need = sb->len + extra + 1;

	if (need <= sb->alloc)
		return;
	if (!sb->alloc)
		sb->buf = NULL;
	sb->alloc = alloc_grow_size(sb->alloc, need);
	sb->buf = xrealloc(sb->buf, sb->alloc);
	sb->buf[sb->len] = '\0';
}

void strbuf_setlen(struct strbuf *sb, size_t len)
{
	assert(len <= sb->len || len < sb->alloc);
	sb->len = len;
	if (sb->alloc)
		sb->buf[len] = '\0';
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (!len)
		return;
	strbuf_grow(sb, len);
	memcpy(sb->buf + sb->len, data, len);
	strbuf_setlen(sb, sb->len + len);
}

void strbuf_addstr(struct strbuf *sb, const char *str)
{
	strbuf_add(sb, str, strlen(str));
}

void strbuf_addch(struct strbuf *sb, int c)
{
	char byte = (char)c;

	strbuf_add(sb, &byte, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	strbuf_grow(sb, 64);
	len = vsnprintf(sb->buf + sb->len, sb->alloc - sb->len, fmt, ap);
	assert(len >= 0);
	if ((size_t)len >= sb->alloc - sb->len) {
		strbuf_grow(sb, (size_t)len);
		vsnprintf(sb->buf + sb->len, sb->alloc - sb->len, fmt, again);
	}
	va_end(again);
	strbuf_setlen(sb, sb->len + (size_t)len);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_add_field(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
	strbuf_addch(sb, '\0');
}

void strbuf_splice(struct strbuf *sb, size_t start, size_t end, const void *data, size_t len)
{
	size_t tail = sb->len - end;

	strbuf_grow(sb, len);
	memmove(sb->buf + start + len, sb->buf + end, tail);
	if (len)
		memcpy(sb->buf + start, data, len);
	strbuf_setlen(sb, start + len + tail);
}

bool strbuf_equal(const struct strbuf *a, const struct strbuf *b)
{
	return a->len == b->len && !memcmp(a->buf, b->buf, a->len);
}

void strbuf_trim(struct strbuf *sb)
{
	size_t start = 0, end = sb->len;

	while (end && isspace((unsigned char)sb->buf[end - 1]))
		end--;
	while (start < end && isspace((unsigned char)sb->buf[start]))
		start++;
	if (start)
		memmove(sb->buf, sb->buf + start, end - start);
	strbuf_setlen(sb, end - start);
}
