/* SPDX-License-Identifier: MIT */
#include "store/health.h"

#include "store/shadow.h"

#include <signal.h>

enum { OLD = 24 * 60 * 60 };

enum litter_kind {
	LITTER_NONE, /* not litter, whatever its age */
	LITTER_PID,  /* made by the process whose pid is in its name */
	LITTER_TEMP, /* open as long as a process works on it */
	LITTER_LOCK, /* only its age tells whether it is abandoned */
	LITTER_SIDE, /* beside a pack, and litter without it */
	LITTER_KEEP, /* its contents tell who made it */
};

/* --- what a name may be --- */

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool ends(const char *name, const char *with)
{
	size_t len = strlen(name), tail = strlen(with);

	return len > tail && !strcmp(name + len - tail, with);
}

/* The digits after `with`, of `git repack`: ".tmp-<pid>-pack-<hash>.pack". */
static bool has_pid(int64_t *out, const char *name, const char *with)
{
	const char *digits = name + strlen(with);
	size_t len;

	if (!begins(name, with))
		return false;
	len = strspn(digits, "0123456789");
	if (!len || len > 10 || digits[len] != '-')
		return false;
	*out = strtoll(digits, NULL, 10);
	return *out > 0;
}

static enum litter_kind kind_of_pack(const char *name, int64_t *pid)
{
	static const char *const temps[] = { "tmp_pack_", "tmp_idx_", "tmp_rev_", "tmp_bitmap_",
					     "tmp_midx_", "tmp_mtimes_", "tmp_keep_" };
	static const char *const sides[] = { ".rev", ".bitmap", ".mtimes", ".promisor" };

	if (has_pid(pid, name, ".tmp-"))
		return LITTER_PID;
	for (size_t i = 0; i < ARRAY_SIZE(temps); i++)
		if (begins(name, temps[i]))
			return LITTER_TEMP;
	if (!begins(name, "pack-"))
		return LITTER_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		if (ends(name, sides[i]))
			return LITTER_SIDE;
	return ends(name, ".keep") ? LITTER_KEEP : LITTER_NONE;
}

/* What a name in `dir` ("objects/pack", "objects/ab", "objects", ...) may be. */
static enum litter_kind kind_of(const char *dir, const char *name, int64_t *pid_out)
{
	*pid_out = 0;
	if (ends(name, ".lock"))
		return LITTER_LOCK;
	if (!strcmp(dir, "objects/pack"))
		return kind_of_pack(name, pid_out);
	if (!strcmp(dir, "objects"))
		return begins(name, "tmp_objdir-") || begins(name, "incoming-") ? LITTER_LOCK :
										  LITTER_NONE;
	return begins(name, "tmp_obj_") ? LITTER_TEMP : LITTER_NONE;
}

/* --- whether it is litter --- */

struct sweep {
	struct store *store;
	bool dry_run;
	time_t now;
	size_t nr;
};

static bool is_dead(int64_t pid)
{
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/*
 * A lease is granted only if no other descriptor of the file is open anywhere.
 * If a process opens it at this very moment, the signal is one that does
 * nothing.
 */
static bool is_open(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool open = fd >= 0;

	if (fd >= 0 && !fcntl(fd, F_SETSIG, SIGURG) && !fcntl(fd, F_SETLEASE, F_WRLCK)) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		open = false;
	}
	fs_close(fd);
	return open;
}

static bool has_pack(int dirfd, const char *name)
{
	char *pack = xstrfmt("%.*s.pack", (int)(strrchr(name, '.') - name), name);
	bool there = !faccessat(dirfd, pack, F_OK, AT_SYMLINK_NOFOLLOW);

	free(pack);
	return there;
}

/* "receive-pack <pid> on <host>", "fetch-pack <pid> on <host>": until its refs exist. */
static bool is_dead_keep(int dirfd, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	char host[256] = "", there[256] = "", what[32] = "";
	long long pid = 0;
	bool dead = !fs_read_file(&text, dirfd, name) && text.len < 1024 &&
		    sscanf(text.buf, "%31s %lld on %255s", what, &pid, there) == 3 && pid > 0 &&
		    (!strcmp(what, "receive-pack") || !strcmp(what, "fetch-pack")) &&
		    !gethostname(host, sizeof(host) - 1) && !strcmp(host, there) && is_dead(pid);

	strbuf_release(&text);
	return dead;
}

static bool is_litter(const struct sweep *sweep, int dirfd, const char *dir, const char *name)
{
	int64_t pid;
	enum litter_kind kind = kind_of(dir, name, &pid);
	struct stat st;
	bool old;

	if (kind == LITTER_NONE || fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	old = st.st_mtime + OLD < sweep->now;
	switch (kind) {
	case LITTER_PID:
		return old || is_dead(pid);
	case LITTER_TEMP:
		return old || (S_ISREG(st.st_mode) && !is_open(dirfd, name));
	case LITTER_LOCK:
		return old;
	case LITTER_SIDE:
		return old && !has_pack(dirfd, name);
	case LITTER_KEEP:
		return (old && !has_pack(dirfd, name)) || is_dead_keep(dirfd, name);
	case LITTER_NONE:
		break;
	}
	return false;
}

/* --- everything --- */

static void sweep_dir(struct sweep *sweep, const char *path)
{
	int fd = openat(sweep->store->dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct strlist names = STRLIST_INIT;

	if (fd < 0)
		return;
	(void)fs_names(&names, fd, ".", 0, NULL);
	for (size_t i = 0; i < names.nr; i++)
		if (is_litter(sweep, fd, path, names.items[i]) &&
		    (sweep->dry_run || !fs_remove_tree(fd, names.items[i])))
			sweep->nr++;
	strlist_release(&names);
	close(fd);
}

static bool is_fanout(const char *name)
{
	return strlen(name) == 2 && isxdigit((unsigned char)name[0]) &&
	       isxdigit((unsigned char)name[1]);
}

/* "objects/ab": where stock git puts single objects. Most stores have none. */
static void sweep_loose(struct sweep *sweep)
{
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, sweep->store->dirfd, "objects", O_NOFOLLOW, is_fanout);
	for (size_t i = 0; i < names.nr; i++) {
		char *path = xstrfmt("objects/%s", names.items[i]);

		sweep_dir(sweep, path);
		free(path);
	}
	strlist_release(&names);
}

size_t litter_sweep(struct store *store, bool dry_run)
{
	static const char *const dirs[] = { "objects/pack", "objects", "objects/info",
					    "refs/checkpoints", "refs/heads", "." };
	struct sweep sweep = { .store = store, .dry_run = dry_run, .now = time(NULL) };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		sweep_dir(&sweep, dirs[i]);
	sweep_loose(&sweep);
	return sweep.nr;
}
