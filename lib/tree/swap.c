/* SPDX-License-Identifier: MIT */
#include "tree/swap.h"

#include "tree/beneath.h"

bool swap_unknown(int err)
{
	return err == EINVAL || err == ENOSYS || err == EOPNOTSUPP;
}

int swap_exchange(int dirfd1, const char *name1, int dirfd2, const char *name2)
{
	return renameat2(dirfd1, name1, dirfd2, name2, RENAME_EXCHANGE);
}

/* The error of a file system without hard links. */
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

static int put_whole(int fromfd, const char *from, int tofd, const char *to)
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

/* --- directories that cannot be renamed --- */

/*
 * Move the contents of one directory into the other, except for directories that cannot be renamed:
 * `left`.
 */
static int put_names(struct strlist *left, int fromfd, const char *from, int tofd, const char *to)
{
	int source = beneath_open(fromfd, from, O_RDONLY | O_DIRECTORY);
	int dest = source < 0 ? -1 : beneath_open(tofd, to, O_RDONLY | O_DIRECTORY);
	struct strlist names = STRLIST_INIT;
	int rc = dest < 0 ? -1 : fs_names(&names, source, ".", 0, NULL), saved;

	for (size_t i = 0; i < names.nr && !rc; i++) {
		rc = put_whole(source, names.items[i], dest, names.items[i]);
		if (rc < 0 && errno == ENOENT)
			rc = 0; /* its owner was faster */
		if (rc < 0 && errno == EXDEV) {
			strlist_add(left, names.items[i]);
			rc = 0;
		}
	}
	saved = errno;
	strlist_release(&names);
	fs_close(dest);
	fs_close(source);
	errno = saved;
	return rc;
}

static int put_by_pieces(int fromfd, const char *from, int tofd, const char *to);

/*
 * Both exist. Repeat until the old one is empty: another process may add to it
 * meanwhile, but one that never stops is not waited for.
 */
static int empty_into(int fromfd, const char *from, int tofd, const char *to)
{
	enum { ROUNDS = 32 };
	const char *name;
	int parent = beneath_open_parent(fromfd, from, &name), rc = parent < 0 ? -1 : 0;

	for (int round = 1; !rc; round++) {
		struct strlist left = STRLIST_INIT;

		rc = put_names(&left, fromfd, from, tofd, to);
		for (size_t i = 0; i < left.nr && !rc; i++) {
			char *from_below = xstrfmt("%s/%s", from, left.items[i]);
			char *to_below = xstrfmt("%s/%s", to, left.items[i]);

			rc = put_by_pieces(fromfd, from_below, tofd, to_below);
			free(from_below);
			free(to_below);
		}
		strlist_release(&left);
		if (!rc && !unlinkat(parent, name, AT_REMOVEDIR))
			break;
		if (!rc && ((errno != ENOTEMPTY && errno != EEXIST) || round == ROUNDS))
			rc = -1;
	}
	/* About names that appear while it is moved, not the one that this is about. */
	if (rc < 0 && (errno == EEXIST || errno == ENOTEMPTY))
		errno = EBUSY;
	fs_close(parent);
	return rc;
}

/* A file that is a mount point cannot be moved anywhere. */
static bool is_dir(const struct stat *st)
{
	errno = EXDEV;
	return S_ISDIR(st->st_mode);
}

/*
 * Create such a directory there, and move the contents of the old one into it. Its mode comes last.
 */
static int put_by_pieces(int fromfd, const char *from, int tofd, const char *to)
{
	const char *from_name, *to_name;
	int from_dir = beneath_open_parent(fromfd, from, &from_name);
	int to_dir = from_dir < 0 ? -1 : beneath_open_parent(tofd, to, &to_name);
	struct stat st;
	int rc = -1;

	if (to_dir >= 0 && !fstatat(from_dir, from_name, &st, AT_SYMLINK_NOFOLLOW) &&
	    is_dir(&st) && !mkdirat(to_dir, to_name, 0700) &&
	    ((st.st_mode & 0700) == 0700 ||
	     !beneath_set_mode(from_dir, from_name, (st.st_mode & 07777) | 0700)))
		rc = empty_into(fromfd, from, tofd, to);
	if (!rc) {
		/* If that is not allowed it belongs to us, like everything that a restore creates. */
		(void)!fchownat(to_dir, to_name, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW);
		rc = beneath_set_mode(to_dir, to_name, st.st_mode & 07777);
	}
	fs_close(to_dir);
	fs_close(from_dir);
	return rc;
}

int swap_put(int fromfd, const char *from, int tofd, const char *to)
{
	struct stat st;
	int rc = put_whole(fromfd, from, tofd, to);

	if (!rc || errno != EXDEV)
		return rc;
	if (fstatat(fromfd, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return put_by_pieces(fromfd, from, tofd, to);
	errno = EXDEV;
	return -1;
}
