/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/alloc.h"
#include "base/fs.h"

#include <pthread.h>

enum { SLOT_SIZE = 8192 };

static _Thread_local char slot[SLOT_SIZE];

/* The result of ckpt_error_lack(); empty: nothing. */
static pthread_mutex_t lack_lock = PTHREAD_MUTEX_INITIALIZER;
static char lack[SLOT_SIZE];

int ckpt_error_set(int code, const char *fmt, ...)
{
	char new[SLOT_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(new, sizeof(new), fmt, ap);
	va_end(ap);
	memcpy(slot, new, strlen(new) + 1);
	return code;
}

static void note_lack(void)
{
	pthread_mutex_lock(&lack_lock);
	if (!lack[0])
		memcpy(lack, slot, sizeof(lack));
	pthread_mutex_unlock(&lack_lock);
}

int ckpt_error_lack(void)
{
	int err = 0;

	pthread_mutex_lock(&lack_lock);
	if (lack[0])
		err = ckpt_error_set(CKPT_ERROR, "%s", lack);
	pthread_mutex_unlock(&lack_lock);
	return err;
}

void ckpt_error_forget_lack(void)
{
	pthread_mutex_lock(&lack_lock);
	lack[0] = '\0';
	pthread_mutex_unlock(&lack_lock);
}

int ckpt_error_errno(const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(slot, sizeof(slot), fmt, ap);
	va_end(ap);

	len = strlen(slot);
	snprintf(slot + len, sizeof(slot) - len, ": %s", strerror(saved));
	errno = saved;
	if (fs_is_lack(saved)) {
		note_lack();
		return CKPT_ELACK;
	}
	return saved == ENOENT ? CKPT_ENOTFOUND : CKPT_ERROR;
}

int ckpt_error_prefix(int code, const char *fmt, ...)
{
	char old[SLOT_SIZE];
	va_list ap;
	size_t len;

	memcpy(old, slot, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(slot, sizeof(slot), fmt, ap);
	va_end(ap);

	len = strlen(slot);
	if (len + 2 < sizeof(slot)) {
		memcpy(slot + len, ": ", 2);
		len += 2;
		memcpy(slot + len, old, sizeof(slot) - len - 1);
		slot[sizeof(slot) - 1] = '\0';
	}
	return code;
}

const char *ckpt_error_last(void)
{
	return slot[0] ? slot : "unknown error";
}

char *ckpt_error_keep(void)
{
	return xstrdup(ckpt_error_last());
}

int ckpt_error_put_back(int code, char *kept)
{
	if (kept)
		ckpt_error_set(code, "%s", kept);
	free(kept);
	return code;
}
