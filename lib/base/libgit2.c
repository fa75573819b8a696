/* SPDX-License-Identifier: MIT */
#include "base/libgit2.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/std.h"

#include <dlfcn.h>
#include <pthread.h>

/* As the linker would name the one that these headers belong to. */
static const char soname[] = "libgit2.so." LIBGIT2_SOVERSION;

struct libgit2 libgit2;
static char *failure;

static bool find(void *library, const char *name, void *out)
{
	void *function = dlsym(library, name);

	memcpy(out, &function, sizeof(function));
	return function != NULL;
}

static void begin(void)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	bool found = library != NULL;

#define FIND(name) found = found && find(library, "git_" #name, &libgit2.name);
	LIBGIT2_FUNCTIONS(FIND)
#undef FIND
	if (!found) {
		const char *why = dlerror();

		failure = xstrdup(why ? why : soname);
		return;
	}
	libgit2.libgit2_init();
	/* Containers run as root over other users' folders; we only read there. */
	libgit2.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	/* We check what we store ourselves, and once. */
	libgit2.libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 0);
}

int libgit2_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
	return failure ? ckpt_error_set(CKPT_ERROR, "unable to load libgit2: %s", failure) : 0;
}

int libgit2_error(int rc, const char *fmt, ...)
{
	const git_error *last = libgit2.error_last();
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ckpt_error_set(rc == GIT_ENOTFOUND ? CKPT_ENOTFOUND : CKPT_ERROR, "%s: %s", text,
			      last && last->message ? last->message : "unknown libgit2 error");
}
