/* SPDX-License-Identifier: MIT */
#include "base/giterr.h"

#include "base/error.h"

#include <git2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/*
 * Debian builds libgit2 with mbedTLS, and libgit2 then parses every CA
 * certificate of the system when it starts: nine of the ten milliseconds that
 * a small command took. This program never talks to a network, so the parser
 * is replaced by one that finds no certificates. Where libgit2 is built with
 * another TLS library nobody calls this.
 */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);

int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}

static void begin(void)
{
	git_libgit2_init();
	/* Containers run as root over other people's folders; we only read there. */
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	/* What we store is checked by its own means, and once. */
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 0);
}

void git_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
}

int ckpt_error_git(int rc, const char *fmt, ...)
{
	const git_error *last = git_error_last();
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ckpt_error_set(rc == GIT_ENOTFOUND ? CKPT_ENOTFOUND : CKPT_ERROR, "%s: %s", text,
			      last && last->message ? last->message : "unknown libgit2 error");
}
