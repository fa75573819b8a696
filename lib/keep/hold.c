/* SPDX-License-Identifier: MIT */
#include "keep/hold.h"

#include "base/base.h"
#include "store/store.h"

#include <sys/file.h>
#include <sys/random.h>

#define DIR_NAME "checkpoint/held"

static int open_dir(struct store *store)
{
	return openat(store->dirfd, DIR_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Locked, and not removed by another process that saw it before that. */
static bool lock_file(int fd)
{
	struct stat st;

	return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && st.st_nlink;
}

static int make_file(struct hold *hold, const char *id)
{
	for (int i = 0; i < 100; i++) {
		unsigned long long random = 0;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			break;
		free(hold->name);
		hold->name = xstrfmt("%s.%016llx", id, random);
		hold->fd = openat(hold->dirfd, hold->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (hold->fd < 0 && errno != EEXIST)
			break;
		if (hold->fd >= 0 && lock_file(hold->fd))
			return 0;
		fs_close(hold->fd);
		hold->fd = -1;
	}
	return ckpt_error_errno("unable to hold checkpoint '%s'", id);
}

int hold_take(struct hold *out, struct store *store, const char *id)
{
	int err;

	*out = (struct hold)HOLD_INIT;
	if (fs_mkdir(store->dirfd, DIR_NAME, 0700) < 0 && errno != EEXIST)
		return ckpt_error_errno("unable to hold checkpoint '%s'", id);
	out->dirfd = open_dir(store);
	if (out->dirfd < 0)
		return ckpt_error_errno("unable to hold checkpoint '%s'", id);
	err = make_file(out, id);
	if (!err && !refs_exist(store, id) && !fetched_exists(store, id))
		err = ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' was removed meanwhile", id);
	return err;
}

void hold_release(struct hold *hold)
{
	if (hold->fd >= 0) {
		unlinkat(hold->dirfd, hold->name, 0);
		close(hold->fd);
	}
	fs_close(hold->dirfd);
	free(hold->name);
	*hold = (struct hold)HOLD_INIT;
}

/* Whether a process holds it, as far as one can tell; if not, it is removed. */
static bool is_held(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool held = fd < 0 ? errno != ENOENT : flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (fd >= 0 && !held)
		unlinkat(dirfd, name, 0);
	fs_close(fd);
	return held;
}

int hold_list(struct strlist *out, struct store *store)
{
	int dirfd = open_dir(store), err = 0;
	struct strlist names = STRLIST_INIT;

	if (dirfd < 0 ? errno != ENOENT && errno != ENOTDIR && errno != ELOOP
		      : fs_names(&names, dirfd, ".", 0, NULL) < 0)
		err = ckpt_error_errno("unable to read '%s/" DIR_NAME "'", store->path);
	for (size_t i = 0; i < names.nr; i++) {
		const char *name = names.items[i], *dot = strchr(name, '.');

		if (dot && dot != name && is_held(dirfd, name))
			strlist_take(out, xmemdupz(name, (size_t)(dot - name)));
	}
	strlist_release(&names);
	fs_close(dirfd);
	return err;
}
