/* SPDX-License-Identifier: MIT */

/*
 * Makes directory trees for tests and benchmarks; the same seed gives the same tree.
 *
 *   mktree [--seed S] [--files N] [--dirs N] [--bytes N] <dir>    a tree like a source tree
 *   mktree --odd [--seed S] [--files N] [--dirs N] <dir>          names, modes and links that hurt
 *   mktree --damage [--seed S] [--edits N] [--verbose] <dir>      random changes to such a tree
 *
 * Damage edits, removes, creates, renames, swaps kinds (file, directory, link), gives files further
 * names and changes modes.
 * It never goes into a .git. Directories stay usable by their owner, so that it needs no root.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool verbose;

static _Noreturn void die(const char *fmt, ...)
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

static void note(const char *what, const char *path)
{
	if (verbose)
		printf("%s %s\n", what, path);
}

/* ---- chance -------------------------------------------------------------------------------- */

static uint64_t rng_state;

/* The state advances by an odd constant, so every seed is good; the rest only mixes. */
static uint64_t rnd64(void)
{
	uint64_t x = rng_state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

static unsigned int rnd(unsigned int below)
{
	return (unsigned int)(rnd64() >> 33) % below;
}

/* Small numbers more often than large ones. */
static unsigned int rnd_low(unsigned int below)
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

static char *words[4000];
static char noise[1 << 16];

static void init_words(void)
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

static size_t put(char *out, size_t at, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len > size - at)
		len = size - at;
	memcpy(out + at, text, len);
	return at + len;
}

/* Lines of code from a few templates; each file has its own vocabulary. */
static void fill_text(char *out, size_t size)
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

/* Half records of small numbers, half noise: pictures, fonts, archives. */
static void fill_binary(char *out, size_t size)
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

/* False if the name is taken or not possible: the caller tries another. */
static bool make_file(const char *path, const char *data, size_t size, mode_t mode)
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

static bool make_dir(const char *path, mode_t mode)
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

static char *join(const char *dir, const char *name)
{
	char *path = malloc(strlen(dir) + strlen(name) + 2);

	sprintf(path, "%s%s%s", dir, *dir ? "/" : "", name);
	return path;
}

/* ---- trees like source trees --------------------------------------------------------------- */

static const char *const extensions[] = {
	".c", ".h", ".c", ".h", ".py", ".js", ".ts", ".go", ".rs", ".json", ".md", ".txt", ".html",
	".css", ".sh", ".yml", ".xml", "",
};
static const char *const binaries[] = { ".png", ".woff", ".gz", ".ico" };

static void source_dirs(char **dirs, unsigned int *depth, unsigned int n)
{
	char name[80];

	dirs[0] = strdup("");
	depth[0] = 0;
	for (unsigned int i = 1; i < n; i++) {
		unsigned int parent = i < 12 ? 0 : rnd(i);

		while (depth[parent] >= 9)
			parent = rnd(i);
		snprintf(name, sizeof(name), "%s%u", words[rnd(200)], i);
		dirs[i] = join(dirs[parent], name);
		depth[i] = depth[parent] + 1;
		if (!make_dir(dirs[i], 0755))
			die("cannot create '%s'", dirs[i]);
	}
}

/* Sizes are log-normal as in real trees: most small, a few of some 100 KB, in all `bytes`. */
static size_t *source_sizes(unsigned int files, double bytes)
{
	double *weight = calloc(files, sizeof(*weight)), sum = 0;
	size_t *sizes = calloc(files, sizeof(*sizes));

	for (unsigned int i = 0; i < files; i++) {
		double normal = -6;

		for (int k = 0; k < 12; k++)
			normal += (double)(rnd64() >> 11) / 9007199254740992.0;
		weight[i] = exp(1.3 * normal);
		sum += weight[i];
	}
	for (unsigned int i = 0; i < files; i++)
		sizes[i] = (size_t)(bytes * weight[i] / sum);
	free(weight);
	return sizes;
}

static void make_source_tree(unsigned int files, unsigned int ndirs, double bytes)
{
	char **dirs = calloc(ndirs + 1, sizeof(*dirs)), name[96];
	unsigned int *depth = calloc(ndirs + 1, sizeof(*depth));
	size_t *sizes = source_sizes(files, bytes), largest = 0;
	char *data;

	source_dirs(dirs, depth, ndirs + 1);
	for (unsigned int i = 0; i < files; i++)
		if (sizes[i] > largest)
			largest = sizes[i];
	data = malloc(largest + 1);
	for (unsigned int i = 0; i < files; i++) {
		bool binary = rnd(25) == 0;
		const char *ext = binary ? binaries[rnd(COUNT(binaries))]
					 : extensions[rnd(COUNT(extensions))];
		/* Every directory has a file; git would not see it otherwise. */
		char *dir = dirs[i < ndirs ? i + 1 : rnd(ndirs + 1)], *path;

		snprintf(name, sizeof(name), "%s-%u%s", words[rnd(COUNT(words))], i, ext);
		path = join(dir, name);
		/* One in fifty is a copy of the previous file, where the sizes allow it. */
		if (i && sizes[i] < sizes[i - 1] && rnd(25) == 0)
			sizes[i] = sizes[i - 1];
		else if (binary)
			fill_binary(data, sizes[i]);
		else
			fill_text(data, sizes[i]);
		if (!make_file(path, data, sizes[i], rnd(30) ? 0644 : 0755))
			die("cannot create '%s'", path);
		free(path);
	}
}

/* ---- odd trees ----------------------------------------------------------------------------- */

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

static const char *odd_name(void)
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
		snprintf(name, sizeof(name), "%s%u%s", stems[rnd(COUNT(stems))], rnd(1000),
			 rnd(2) ? ".txt" : "");
	}
	return name;
}

static void odd_file(const char *path)
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
	make_file(path, data, size, file_modes[rnd(COUNT(file_modes))]);
	free(data);
}

static void odd_link(const char *path)
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

static void odd_dir(const char *path)
{
	make_dir(path, dir_modes[rnd(COUNT(dir_modes))]);
}

/* Another name in `dir` for a file that still exists. */
static void odd_name_for(const char *file, const char *dir)
{
	char *path = join(dir, odd_name());

	if (strlen(path) < 1200 && linkat(AT_FDCWD, file, AT_FDCWD, path, 0) < 0 && errno != EEXIST &&
	    errno != ENOENT && errno != EPERM && errno != ENOTDIR && errno != ELOOP)
		die("cannot link '%s'", file);
	free(path);
}

/* Something new with an odd name in `dir`, unless the name is taken. */
static void odd_entry(const char *dir, unsigned int links_percent)
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

static void make_odd_tree(unsigned int files, unsigned int ndirs)
{
	char **dirs = calloc(ndirs + 1, sizeof(*dirs));
	unsigned int n = 1;

	dirs[0] = strdup("");
	for (unsigned int i = 0; i < ndirs; i++) {
		char *path = join(dirs[rnd(n)], odd_name());

		/* Far from PATH_MAX, since the tests put more in front of it. */
		if (strlen(path) < 1200 && make_dir(path, dir_modes[rnd(COUNT(dir_modes))]))
			dirs[n++] = path;
		else
			free(path);
	}
	/* Files go into some of the directories only, so that some stay empty. */
	for (unsigned int i = 0; i < files; i++)
		odd_entry(dirs[rnd(1 + n * 2 / 3)], 15);
}

/* ---- damage -------------------------------------------------------------------------------- */

struct paths {
	char **path;
	size_t count, room;
};

static void add_path(struct paths *all, char *path)
{
	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 256;
		all->path = realloc(all->path, all->room * sizeof(*all->path));
	}
	all->path[all->count++] = path;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return lstat(*path ? path : ".", &st) == 0 && S_ISDIR(st.st_mode);
}

static void collect(struct paths *all, const char *dir)
{
	struct dirent **names;
	int n = scandir(*dir ? dir : ".", &names, NULL, NULL);

	if (n < 0)
		die("cannot read '%s'", dir);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (strcmp(name, ".") && strcmp(name, "..") && strcmp(name, ".git")) {
			char *path = join(dir, name);

			add_path(all, path);
			if (is_dir(path))
				collect(all, path);
		}
		free(names[i]);
	}
	free(names);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void remove_all(const char *path)
{
	if (is_dir(path)) {
		struct paths below = { 0 };

		collect(&below, path);
		for (size_t i = below.count; i-- > 0;) {
			if (remove(below.path[i]) < 0 && errno != ENOTEMPTY)
				die("cannot remove '%s'", below.path[i]);
			free(below.path[i]);
		}
		free(below.path);
	}
	/* A directory that holds a .git stays. */
	if (remove(path) < 0 && errno != ENOTEMPTY)
		die("cannot remove '%s'", path);
}

/* Change a file's contents in place; sometimes without a trace in size and mtime. */
static void edit(const char *path, const struct stat *st)
{
	char text[256];
	size_t len = 1 + rnd(sizeof(text));
	off_t at = st->st_size ? (off_t)(rnd64() % (uint64_t)st->st_size) : 0;
	int how = (int)rnd(5), fd;

	if (chmod(path, 0600) < 0 || (fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		die("cannot open '%s'", path);
	fill_text(text, len);
	if (how == 0) {
		at = st->st_size;
	} else if (how == 1) {
		if (ftruncate(fd, at) < 0)
			die("cannot truncate '%s'", path);
	} else if (how >= 3 && (off_t)len > st->st_size - at) {
		len = (size_t)(st->st_size - at);
	}
	if (how != 1 && pwrite(fd, text, len, at) != (ssize_t)len)
		die("cannot write '%s'", path);
	if (fchmod(fd, st->st_mode & 07777) < 0)
		die("cannot set the mode of '%s'", path);
	if (how == 4)
		futimens(fd, (const struct timespec[2]){ st->st_atim, st->st_mtim });
	close(fd);
}

/* Replace an entry with a new one, of another kind or of the same. */
static void swap_kind(const char *path)
{
	remove_all(path);
	switch (rnd(3)) {
	case 0:
		odd_file(path);
		break;
	case 1:
		odd_link(path);
		break;
	case 2:
		odd_dir(path);
		for (unsigned int i = rnd(4); i > 0 && is_dir(path) && strlen(path) < 1200; i--)
			odd_entry(path, 15);
	}
}

static void move(const char *path, const char *dir)
{
	size_t len = strlen(path);
	char *to;

	/* Not below itself. */
	if (!strncmp(dir, path, len) && (dir[len] == '/' || !dir[len]))
		return;
	to = join(dir, odd_name());
	if (strlen(to) < 1200 && rename(path, to) < 0 && errno != ENOTEMPTY && errno != EEXIST &&
	    errno != EISDIR && errno != ENOTDIR)
		die("cannot rename '%s'", path);
	free(to);
}

/*
 * Earlier changes may have put a link, perhaps to /, where a directory was: a path that leads
 * through one is no longer in the tree.
 */
static bool is_beneath(const char *path)
{
	char *dir = strdup(path);
	bool ok = true;

	for (char *p = strchr(dir, '/'); p && ok; p = strchr(p + 1, '/')) {
		*p = '\0';
		ok = is_dir(dir);
		*p = '/';
	}
	free(dir);
	return ok;
}

static void damage_one(const char *path, const char *dir)
{
	unsigned int what = rnd(17);
	struct stat st;

	if (!is_beneath(path))
		return;
	if (what < 3) {
		note("create in", dir);
		odd_entry(dir, 20);
	} else if (lstat(path, &st) < 0) {
		return; /* an earlier change took it away */
	} else if (what < 8 && S_ISREG(st.st_mode)) {
		note("edit", path);
		edit(path, &st);
	} else if (what < 10) {
		note("remove", path);
		remove_all(path);
	} else if (what < 12) {
		note("swap", path);
		swap_kind(path);
	} else if (what < 14) {
		note("move", path);
		move(path, dir);
	} else if (what == 16 && !S_ISDIR(st.st_mode)) {
		note("link", path);
		odd_name_for(path, dir);
	} else if (!S_ISLNK(st.st_mode)) {
		note("chmod", path);
		if (chmod(path, S_ISDIR(st.st_mode) ? dir_modes[rnd(COUNT(dir_modes))]
						    : file_modes[rnd(COUNT(file_modes))]) < 0)
			die("cannot set the mode of '%s'", path);
	}
}

static void damage(unsigned int edits)
{
	struct paths all = { 0 };

	collect(&all, "");
	if (all.count)
		qsort(all.path, all.count, sizeof(*all.path), by_bytes);
	if (!edits)
		edits = 5 + (unsigned int)all.count / 6;
	while (edits--) {
		const char *path = all.count ? all.path[rnd((unsigned int)all.count)] : "";
		const char *dir = all.count ? all.path[rnd((unsigned int)all.count)] : "";

		damage_one(path, is_dir(dir) && is_beneath(dir) && strlen(dir) < 1200 ? dir : "");
	}
}

/* ---- main ---------------------------------------------------------------------------------- */

static unsigned long long number(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "mktree: '%s' is not a number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },  { "files", required_argument, NULL, 'f' },
		{ "dirs", required_argument, NULL, 'd' },  { "bytes", required_argument, NULL, 'b' },
		{ "edits", required_argument, NULL, 'e' }, { "odd", no_argument, NULL, 'o' },
		{ "damage", no_argument, NULL, 'x' },      { "verbose", no_argument, NULL, 'v' },
		{ 0 },
	};
	unsigned long long seed = 1, files = 0, dirs = 0, bytes = 0, edits = 0;
	bool odd = false, harm = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's': seed = number(optarg); break;
		case 'f': files = number(optarg); break;
		case 'd': dirs = number(optarg); break;
		case 'b': bytes = number(optarg); break;
		case 'e': edits = number(optarg); break;
		case 'o': odd = true; break;
		case 'x': harm = true; break;
		case 'v': verbose = true; break;
		default: return 2;
		}
	}
	if (optind != argc - 1) {
		fprintf(stderr, "usage: mktree [--odd | --damage] [--seed <n>] [--files <n>] "
				"[--dirs <n>] [--bytes <n>] [--edits <n>] [--verbose] <dir>\n");
		return 2;
	}
	if (!harm && mkdir(argv[optind], 0755) < 0 && errno != EEXIST)
		die("cannot create '%s'", argv[optind]);
	if (chdir(argv[optind]) < 0)
		die("cannot enter '%s'", argv[optind]);

	/* Words are the same whatever the seed, so that trees of two seeds are alike. */
	init_words();
	rng_state = seed * 0x2545f4914f6cdd1du + (harm ? 77 : 7);
	if (harm)
		damage((unsigned int)edits);
	else if (odd)
		make_odd_tree(files ? (unsigned int)files : 200, dirs ? (unsigned int)dirs : 40);
	else
		make_source_tree(files ? (unsigned int)files : 60000,
				 dirs ? (unsigned int)dirs : files ? 1 + (unsigned int)files * 3 / 40 : 4500,
				 bytes ? (double)bytes : files ? (double)files * 3400 : 2e8);
	return 0;
}
