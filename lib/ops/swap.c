/* SPDX-License-Identifier: MIT */
#include "ops/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool swap_unknown(int err)
{
	return err == EINVAL || err == ENOSYS || err == EOPNOTSUPP;
}

int swap_exchange(int dirfd1, const char *name1, int dirfd2, const char *name2)
{
	return renameat2(dirfd1, name1, dirfd2, name2, RENAME_EXCHANGE);
}

/* What a file system says that has no hard links. */
static bool no_links(int err)
{
	return swap_unknown(err) || err == EPERM || err == EMLINK;
}

static int put_by_link(int fromfd, const char *from, int tofd, const char *to)
{
	struct stat st;

	if (!linkat(fromfd, from, tofd, to, 0))
		return unlinkat(fromfd, from, 0);
	if (!no_links(errno))
		return -1;
	if (!fstatat(tofd, to, &st, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return errno == ENOENT ? renameat(fromfd, from, tofd, to) : -1;
}

int swap_put(int fromfd, const char *from, int tofd, const char *to)
{
	struct stat st;
	int rc = renameat2(fromfd, from, tofd, to, RENAME_NOREPLACE);

	if (!rc || !swap_unknown(errno))
		return rc;
	if (fstatat(fromfd, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		return put_by_link(fromfd, from, tofd, to);
	rc = renameat(fromfd, from, tofd, to);
	if (rc < 0 && (errno == ENOTEMPTY || errno == ENOTDIR))
		errno = EEXIST;
	return rc;
}
