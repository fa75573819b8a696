/* SPDX-License-Identifier: MIT */
#include "mktree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Also names around which byte order and git's order of trees differ. */
static const char *const odd_names[] = {
	"new\nline", "\n", "tab\there", "\xff\xfe\x80", "bad-\xc3(", "caf\xc3\xa9", "e\xcc\x81",
	"-rf", "--", ":x", ":(top)x", ":!x", "*", "*.c", "[a-z]", "?", "quo\"te", "\"", "it's",
	"back\\slash", "\\", "\\n", "trail ", " lead", " ", "\x01\x02", "\x7f", "cr\rlf", "#x",
	"!x", "~", "$HOME", "%s%n", "...", ".GIT", "git~1", ".gitx", "x.git", "a", "a.", "a-", "a0",
	"a b", "ab", "A", "a\xff", "tmp_ckpt_x", "(x)", "{a,b}", "a;b", "a&b", "a|b", ">x",
};
static const mode_t file_modes[] = { 0600, 0444, 0755, 0644, 04755, 0400, 0664, 0700, 0644, 0644 };
static const mode_t dir_modes[] = { 0755, 0700, 02775, 01777, 0755, 0755 };
static const char *const targets[] = {
	"no/such/file", "/no/such/file", "/", ".", "..", "../..", "self\nline", "\xff\xfe", " ",
	"-rf", "/etc/passwd",
};

mode_t odd_file_mode(void)
{
	return file_modes[rnd(COUNT(file_modes))];
}

mode_t odd_dir_mode(void)
{
	return dir_modes[rnd(COUNT(dir_modes))];
}

const char *odd_name(void)
{
	static char name[256];

	if (rnd(40) == 0) {
		memset(name, 'a' + (int)rnd(26), 255);
		name[255] = '\0';
		snprintf(name, 8, "%07u", rnd(10000000));
		name[7] = '-';
	} else if (rnd(2)) {
		snprintf(name, sizeof(name), "%s", odd_names[rnd(COUNT(odd_names))]);
		if (rnd(3) == 0)
			snprintf(name, sizeof(name), "%u%s", rnd(100), odd_names[rnd(COUNT(odd_names))]);
	} else {
		snprintf(name, sizeof(name), "%s%u%s", any_stem(), rnd(1000),
			 rnd(2) ? ".txt" : "");
	}
	return name;
}

void odd_file(const char *path)
{
	static uint64_t contents[16];
	size_t size = rnd(8) == 0 ? 0 : rnd(4) ? rnd_low(20000) : rnd(64);
	uint64_t resume = 0;
	char *data;

	if (rnd(150) == 0)
		size = 1000000 + rnd(4000000);
	/* Some contents repeat: reset the generator to the state it had for them. */
	if (rnd(6) == 0 && contents[0]) {
		resume = rng_state;
		rng_state = contents[rnd(COUNT(contents))];
		size = 1 + rnd(3000);
	} else if (rnd(6) == 0 || !contents[0]) {
		for (size_t i = 0; i < COUNT(contents); i++)
			if (!contents[i] || rnd(4) == 0)
				contents[i] = rnd64();
	}
	data = malloc(size + 1);
	if (rnd(4))
		fill_text(data, size);
	else
		fill_binary(data, size);
	if (resume)
		rng_state = resume + 1;
	make_file(path, data, size, odd_file_mode());
	free(data);
}

void odd_link(const char *path)
{
	char text[1200];
	const char *base = strrchr(path, '/');

	snprintf(text, sizeof(text), "%s", targets[rnd(COUNT(targets))]);
	if (rnd(4) == 0) /* to itself */
		snprintf(text, sizeof(text), "%s", base ? base + 1 : path);
	else if (rnd(3) == 0) /* perhaps to a file or directory beside it */
		snprintf(text, sizeof(text), "%s", odd_name());
	else if (rnd(20) == 0)
		memset(text, 'x', sizeof(text) - 1), text[sizeof(text) - 1] = '\0';
	if (symlink(text, path) < 0 && errno != EEXIST)
		die("cannot create '%s'", path);
}

void odd_dir(const char *path)
{
	make_dir(path, odd_dir_mode());
}

void odd_name_for(const char *file, const char *dir)
{
	char *path = join(dir, odd_name());

	if (strlen(path) < 1200 && linkat(AT_FDCWD, file, AT_FDCWD, path, 0) < 0 && errno != EEXIST &&
	    errno != ENOENT && errno != EPERM && errno != ENOTDIR && errno != ELOOP)
		die("cannot link '%s'", file);
	free(path);
}

void odd_entry(const char *dir, unsigned int links_percent)
{
	static char *former;
	char *path = join(dir, odd_name());

	if (former && rnd(12) == 0) {
		odd_name_for(former, dir);
		free(path);
		return;
	}
	if (rnd(100) < links_percent)
		odd_link(path);
	else
		odd_file(path);
	free(former);
	former = path;
}

void make_odd_tree(unsigned int files, unsigned int ndirs)
{
	char **dirs = calloc(ndirs + 1, sizeof(*dirs));
	unsigned int n = 1;

	dirs[0] = strdup("");
	for (unsigned int i = 0; i < ndirs; i++) {
		char *path = join(dirs[rnd(n)], odd_name());

		/* Far from PATH_MAX, since the tests put more in front of it. */
		if (strlen(path) < 1200 && make_dir(path, odd_dir_mode()))
			dirs[n++] = path;
		else
			free(path);
	}
	/* Files go into some of the directories only, so that some stay empty. */
	for (unsigned int i = 0; i < files; i++)
		odd_entry(dirs[rnd(1 + n * 2 / 3)], 15);
}
