/* SPDX-License-Identifier: MIT */
#include "mktree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void die(const char *fmt, ...)
{
	int code = errno;
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "mktree: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, ": %s\n", strerror(code));
	va_end(ap);
	exit(1);
}

/* ---- chance -------------------------------------------------------------------------------- */

uint64_t rng_state;

/* The state advances by an odd constant, so every seed is good; the rest only mixes. */
uint64_t rnd64(void)
{
	uint64_t x = rng_state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

unsigned int rnd(unsigned int below)
{
	return (unsigned int)(rnd64() >> 33) % below;
}

unsigned int rnd_low(unsigned int below)
{
	double u = (double)(rnd64() >> 11) / 9007199254740992.0;

	return (unsigned int)(u * u * u * below);
}

/* ---- contents ------------------------------------------------------------------------------ */

static const char *const stems[] = {
	"get", "set", "read", "write", "open", "close", "init", "free", "node", "list", "tree",
	"path", "name", "size", "count", "index", "buffer", "state", "value", "entry", "table",
	"hash", "key", "user", "config", "option", "error", "result", "parse", "token", "stream",
	"file", "line", "offset", "length", "data", "type", "flag", "mode", "time", "cache", "page",
	"block", "lock", "queue", "task", "worker", "event", "handle", "request", "response",
	"server", "client", "session", "message", "header", "body", "field", "record", "query",
	"filter", "render", "layout", "widget", "style", "color", "shape", "point", "width",
	"height", "update", "remove", "insert", "find", "match", "merge", "split", "join", "map",
	"reduce", "group", "order", "range", "limit", "start", "stop", "next", "prev", "parent",
	"child", "source", "target", "input", "output", "format", "print", "check", "verify",
	"encode", "decode",
};

/* %: a word from the file's vocabulary; @: any word; #: a number */
static const char *const lines[] = {
	"\tif (%->% == %)\n", "\t\treturn %(%, %);\n", "\t%->% = %(%, #);\n", "\tint % = #;\n",
	"static int %(struct % *%, const char *%)\n{\n", "\treturn 0;\n}\n\n", "\t}\n", "\n",
	"/* the @ of a @ is the @ that was @ before its @ */\n", "#define %_% #\n",
	"\tfor (size_t i = 0; i < %->%; i++) {\n", "\tconst % = await this.%.%(% => %.%);\n",
	"    def %(self, %, %=None):\n", "        self.% = %.%(%)\n", "\t\tgoto out;\n",
	"  \"%\": { \"%\": \"@\", \"%\": # },\n", "# @ @ the @ and @ of @\n",
	"\tassert_int_equal(%(&%), #);\n", "\terror = %_%(&%, %->%, \"@ @ '%s'\", %);\n",
	"The @ @ is @ by the @, which @ a @ when the @ of its @ is #.\n",
};

static char *words[WORDS];
static char noise[1 << 16];

void init_words(void)
{
	char text[64];

	for (size_t i = 0; i < COUNT(words); i++) {
		const char *a = stems[rnd(COUNT(stems))], *b = stems[rnd(COUNT(stems))];

		if (i < COUNT(stems))
			snprintf(text, sizeof(text), "%s", stems[i]);
		else if (rnd(3))
			snprintf(text, sizeof(text), "%s_%s", a, b);
		else
			snprintf(text, sizeof(text), "%s_%s%u", a, b, rnd(100));
		words[i] = strdup(text);
	}
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)rnd64();
}

const char *any_word(unsigned int below)
{
	return words[rnd(below)];
}

const char *any_stem(void)
{
	return stems[rnd(COUNT(stems))];
}

static size_t put(char *out, size_t at, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len > size - at)
		len = size - at;
	memcpy(out + at, text, len);
	return at + len;
}

void fill_text(char *out, size_t size)
{
	const char *own[24];
	char number[16];
	size_t at = 0;

	for (size_t i = 0; i < COUNT(own); i++)
		own[i] = words[rnd(COUNT(words))];
	while (at < size) {
		/* Code repeats itself. */
		if (at > 400 && rnd(5) == 0) {
			size_t len = 40 + rnd(120), from = rnd((unsigned int)at - 200);

			len = len < size - at ? len : size - at;
			memcpy(out + at, out + from, len);
			at += len;
		}
		for (const char *p = lines[rnd(COUNT(lines))]; *p && at < size; p++) {
			if (*p == '%' && p[1] != 's') {
				at = put(out, at, size, own[rnd_low(COUNT(own))]);
			} else if (*p == '@') {
				at = put(out, at, size, words[rnd_low(COUNT(words))]);
			} else if (*p == '#') {
				snprintf(number, sizeof(number), "%u", rnd_low(100000));
				at = put(out, at, size, number);
			} else {
				out[at++] = *p;
			}
		}
	}
}

void fill_binary(char *out, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t len = 64 + rnd(512);

		if (len > size - at)
			len = size - at;
		if (rnd(2)) {
			memcpy(out + at, noise + rnd(sizeof(noise) - 1024), len);
		} else {
			for (size_t i = 0; i < len; i++)
				out[at + i] = (char)(i % 4 ? 0 : rnd(16));
		}
		at += len;
	}
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_fd(int fd, const char *data, size_t size, const char *path)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0)
			die("cannot write '%s'", path);
		data += n;
		size -= (size_t)n;
	}
}

bool make_file(const char *path, const char *data, size_t size, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0) {
		if (errno == EEXIST || errno == ENAMETOOLONG)
			return false;
		die("cannot create '%s'", path);
	}
	write_fd(fd, data, size, path);
	/* After the write, which takes the set-user-ID bit away, and whatever the umask is. */
	if (fchmod(fd, mode) < 0)
		die("cannot set the mode of '%s'", path);
	close(fd);
	return true;
}

bool make_dir(const char *path, mode_t mode)
{
	if (mkdir(path, 0700) < 0) {
		if (errno == EEXIST || errno == ENAMETOOLONG)
			return false;
		die("cannot create '%s'", path);
	}
	if (chmod(path, mode) < 0)
		die("cannot set the mode of '%s'", path);
	return true;
}

char *join(const char *dir, const char *name)
{
	char *path = malloc(strlen(dir) + strlen(name) + 2);

	sprintf(path, "%s%s%s", dir, *dir ? "/" : "", name);
	return path;
}
