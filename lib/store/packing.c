/* SPDX-License-Identifier: MIT */
#include "store/packing.h"

#include "base/base.h"
#include "store/layout.h"
#include "store/shadow.h"

#include <sys/file.h>

#define YIELD_FILE "checkpoint/gc.yield"

enum { WAY_SECONDS = 20 }; /* time for it to make way; it takes a fraction of a second */

int packing_lock(int *fd_out, struct store *store)
{
	char *holder;

	*fd_out = openat(store->dirfd, LAYOUT_GC_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			 0600);
	if (*fd_out < 0)
		return ckpt_error_errno("unable to open the lock of '%s'", store->path);
	(void)fs_give_to_owner(*fd_out, store->dirfd, "checkpoint");
	if (!flock(*fd_out, LOCK_EX | LOCK_NB))
		return 0;
	holder = proc_lock_holder("/proc", *fd_out);
	close(*fd_out);
	*fd_out = -1;
	(void)ckpt_error_set(CKPT_ELOCKED,
			     "%s is packing the checkpoints of '%s'; try again when it is done", holder,
			     store->worktree);
	free(holder);
	return CKPT_ELOCKED;
}

static void ask_to_yield(struct store *store)
{
	/* O_NONBLOCK: whatever kind of file it is. */
	int fd = openat(store->dirfd, YIELD_FILE,
			O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	fs_close(fd);
}

void packing_forget(struct store *store)
{
	unlinkat(store->dirfd, YIELD_FILE, 0);
}

bool packing_must_yield(struct store *store)
{
	return !faccessat(store->dirfd, YIELD_FILE, F_OK, AT_SYMLINK_NOFOLLOW);
}

int packing_make_way(struct store *store)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	double deadline = clock_monotonic() + WAY_SECONDS;
	int lock = -1, err = packing_lock(&lock, store);

	if (err == CKPT_ELOCKED)
		ask_to_yield(store);
	while (err == CKPT_ELOCKED && clock_monotonic() < deadline) {
		nanosleep(&pause, NULL);
		err = cancel_check();
		if (!err)
			err = packing_lock(&lock, store);
	}
	packing_forget(store);
	fs_close(lock);
	return err;
}
