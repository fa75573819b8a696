/* SPDX-License-Identifier: MIT */
/*
 * The plain functions of libcrypto, which OpenSSL 3 deprecates in favour of
 * EVP. They are the same code, but EVP looks it up in providers, and setting
 * those up costs each run half a millisecond to a millisecond.
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/hash.h"

#include "base/alloc.h"
#include "base/hash_plain_internal.h"
#include "base/std.h"

#include <dlfcn.h>
#include <openssl/opensslv.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdatomic.h>

/*
 * Loading it takes longer than hashing some thousand bytes without it,
 * and most short commands hash much less. So the program is not linked with
 * it: it is loaded for the first long text, or when many short ones were hashed.
 */
enum { SHORT = 4096, SHORT_ALL = 64 * 1024 };

static atomic_bool loaded;
static atomic_size_t hashed_plainly;

#define SONAME(major) SONAME_OF(major)
#define SONAME_OF(major) "libcrypto.so." #major
static const char soname[] = SONAME(OPENSSL_SHLIB_VERSION);

static struct {
	__typeof__(SHA1_Init) *sha1_init;
	__typeof__(SHA1_Update) *sha1_update;
	__typeof__(SHA1_Final) *sha1_final;
	__typeof__(SHA256_Init) *sha256_init;
	__typeof__(SHA256_Update) *sha256_update;
	__typeof__(SHA256_Final) *sha256_final;
} crypto;

struct digest {
	enum hash_kind kind;
	bool early; /* all of it so far is in `text` */
	size_t len;
	union {
		SHA_CTX sha1;
		SHA256_CTX sha256;
	} ctx;
	unsigned char text[SHORT];
};

static void check(int ok)
{
	if (!ok) {
		fprintf(stderr, "fatal: libcrypto cannot compute SHA-1 and SHA-256; check your OpenSSL "
				"installation\n");
		exit(128);
	}
}

static void find(void *library, const char *name, void *out)
{
	void *function = library ? dlsym(library, name) : NULL;

	if (!function) {
		const char *why = dlerror();

		fprintf(stderr, "fatal: unable to load libcrypto: %s\n", why ? why : soname);
		exit(128);
	}
	memcpy(out, &function, sizeof(function));
}

static void load(void)
{
	void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);

	find(library, "SHA1_Init", &crypto.sha1_init);
	find(library, "SHA1_Update", &crypto.sha1_update);
	find(library, "SHA1_Final", &crypto.sha1_final);
	find(library, "SHA256_Init", &crypto.sha256_init);
	find(library, "SHA256_Update", &crypto.sha256_update);
	find(library, "SHA256_Final", &crypto.sha256_final);
	atomic_store(&loaded, true);
}

static bool is_short(size_t len)
{
	return len <= SHORT && !atomic_load(&loaded) && atomic_load(&hashed_plainly) < SHORT_ALL;
}

static void hash_short(enum hash_kind kind, unsigned char *out, const void *data, size_t len)
{
	hash_plain(kind, out, data, len);
	atomic_fetch_add(&hashed_plainly, len);
}

static void begin(struct digest *digest)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	digest->early = false;
	check(digest->kind == HASH_SHA1 ? crypto.sha1_init(&digest->ctx.sha1) :
					  crypto.sha256_init(&digest->ctx.sha256));
}

static void update(struct digest *digest, const void *data, size_t len)
{
	check(digest->kind == HASH_SHA1 ? crypto.sha1_update(&digest->ctx.sha1, data, len) :
					  crypto.sha256_update(&digest->ctx.sha256, data, len));
}

static void end(struct digest *digest, unsigned char *out)
{
	check(digest->kind == HASH_SHA1 ? crypto.sha1_final(out, &digest->ctx.sha1) :
					  crypto.sha256_final(out, &digest->ctx.sha256));
}

struct digest *hash_new(enum hash_kind kind)
{
	struct digest *digest = xmalloc(sizeof(*digest));

	digest->kind = kind;
	hash_begin(digest);
	return digest;
}

void hash_free(struct digest *digest)
{
	free(digest);
}

void hash_begin(struct digest *digest)
{
	digest->len = 0;
	digest->early = is_short(0);
	if (!digest->early)
		begin(digest);
}

void hash_update(struct digest *digest, const void *data, size_t len)
{
	if (!len)
		return;
	if (digest->early && len <= SHORT - digest->len) {
		memcpy(digest->text + digest->len, data, len);
		digest->len += len;
		return;
	}
	if (digest->early) {
		begin(digest);
		update(digest, digest->text, digest->len);
	}
	update(digest, data, len);
}

void hash_end(struct digest *digest, unsigned char *out)
{
	if (digest->early)
		hash_short(digest->kind, out, digest->text, digest->len);
	else
		end(digest, out);
	hash_begin(digest);
}

void hash_buffer(enum hash_kind kind, unsigned char *out, const void *data, size_t len)
{
	struct digest *digest;

	if (is_short(len)) {
		hash_short(kind, out, data, len);
		return;
	}
	digest = hash_new(kind);
	hash_update(digest, data, len);
	hash_end(digest, out);
	hash_free(digest);
}

size_t hash_object_header(char out[64], const char *type, unsigned long long size)
{
	return (size_t)snprintf(out, 64, "%s %llu", type, size) + 1;
}

void hash_object(struct digest *sha1, struct oid *out, const char *type, const void *data,
		 size_t len)
{
	char header[64];

	hash_update(sha1, header, hash_object_header(header, type, len));
	hash_update(sha1, data, len);
	hash_end(sha1, out->id);
}
