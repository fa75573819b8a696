/* SPDX-License-Identifier: MIT */
#include "tree/swap.h"

#include "tree/beneath.h"
#include "tree/wt_tree.h"

enum { PIECE = 1 << 20 };

/* --- contents --- */

static struct digest *begin_blob(unsigned long long size)
{
	struct digest *sha1 = hash_new(HASH_SHA1);
	char header[64];

	hash_update(sha1, header, hash_object_header(header, "blob", size));
	return sha1;
}

static void end_blob(struct oid *out, struct digest *sha1)
{
	hash_end(sha1, out->id);
	hash_free(sha1);
}

/* What cannot be opened is not as scanned; recorded for ckpt_error_lack(), if that is why. */
static void note_lack(const char *name)
{
	int saved = errno;

	if (fs_is_lack(errno))
		(void)ckpt_error_errno("unable to open '%s'", name);
	errno = saved;
}

/* Whether a process can write to it is checked before it is read: here no new writer can appear. */
static bool name_file(struct oid *out, int dirfd, const char *name, bool *writer_out)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		note_lack(name);
	if (fd >= 0 && writer_out && fs_has_writer(fd))
		*writer_out = true;
	if (fd >= 0 && !fstat(fd, &st)) {
		struct digest *sha1 = begin_blob((unsigned long long)st.st_size);
		/* One byte more than there should be: so the end shows at once. */
		size_t size = st.st_size < PIECE ? (size_t)st.st_size + 1 : PIECE;
		char *buf = xmalloc(size);

		while ((n = fs_read_full(fd, buf, size)) > 0)
			hash_update(sha1, buf, (size_t)n);
		end_blob(out, sha1);
		free(buf);
	}
	fs_close(fd);
	return !n;
}

bool displaced_name_file(struct oid *out, int dirfd, const char *name)
{
	return name_file(out, dirfd, name, NULL);
}

bool displaced_name_link(struct oid *out, int dirfd, const char *name)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(dirfd, name, target, sizeof(target));
	struct digest *sha1;

	if (len < 0 || len == (ssize_t)sizeof(target))
		return false;
	sha1 = begin_blob((unsigned long long)len);
	hash_update(sha1, target, (size_t)len);
	end_blob(out, sha1);
	return true;
}

static bool same_contents(int dirfd, const char *name, const struct stat *st,
			  const struct wt_entry *seen, bool *writer_out)
{
	struct oid now;
	bool named = S_ISREG(st->st_mode) && seen->kind == WT_FILE ?
			     name_file(&now, dirfd, name, writer_out) :
		     S_ISLNK(st->st_mode) && seen->kind == WT_LINK ?
			     displaced_name_link(&now, dirfd, name) :
			     false;

	return named && oid_equal(&now, &seen->oid);
}

/* --- files and links --- */

/*
 * Its times may show that it was written, but do not prove that it was not:
 * they do not change on writes through a mapping, and they cannot be told
 * apart from the effects of a rename or of changes to another name of the
 * file. And on some file systems its inode number may differ the next time.
 * Its contents decide.
 */
static bool same_file(int dirfd, const char *name, const struct stat *st,
		      const struct wt_entry *seen, bool renamed, bool *writer_out)
{
	struct wt_stat now;

	wt_stat_from(&now, st);
	if (now.size != seen->st.size || now.mtime_ns != seen->st.mtime_ns)
		return false;
	/* Only its mode may have changed. */
	if ((now.ino != seen->st.ino || (!renamed && now.ctime_ns != seen->st.ctime_ns)) &&
	    !S_ISLNK(st->st_mode) && (st->st_mode & 07777) != seen->mode)
		return false;
	return same_contents(dirfd, name, st, seen, writer_out);
}

bool displaced_same_file(int dirfd, const char *name, const struct stat *st,
			 const struct wt_entry *seen)
{
	struct wt_stat now;

	wt_stat_from(&now, st);
	/* It stays, so nothing is lost if its times do not show a change. */
	return wt_stat_equal(&now, &seen->st) || same_file(dirfd, name, st, seen, false, NULL);
}

/* --- directories --- */

/* Everything in it except what is below its subdirectories. */
static bool same_names(int dirfd, const struct wt_dir *dir, bool *writer_out)
{
	struct strlist names = STRLIST_INIT;
	bool same = !fs_names(&names, dirfd, ".", 0, NULL);

	if (!same)
		note_lack(dir->path);
	for (size_t i = 0; i < names.nr && same; i++) {
		const char *name = names.items[i];
		const struct wt_entry *seen = wt_child(dir, name, strlen(name));
		struct stat st;

		same = seen && !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
		       (seen->kind == WT_DIR
				? S_ISDIR(st.st_mode)
				: same_file(dirfd, name, &st, seen, false, writer_out));
	}
	strlist_release(&names);
	return same;
}

/* One directory is open at a time, however deep they are. */
static bool same_dir(int dirfd, const char *path, const struct wt_dir *dir, bool *writer_out)
{
	int fd = beneath_open(dirfd, path, O_RDONLY | O_DIRECTORY);
	bool same;

	if (fd < 0) {
		note_lack(path);
		return errno == ENOENT;
	}
	same = same_names(fd, dir, writer_out);
	close(fd);
	for (size_t i = 0; i < dir->nr && same; i++) {
		char *below;

		if (wt_entries(dir)[i].kind != WT_DIR)
			continue;
		below = xstrfmt("%s/%s", path, wt_entries(dir)[i].name);
		same = same_dir(dirfd, below, wt_entries(dir)[i].dir, writer_out);
		free(below);
	}
	return same;
}

bool displaced_as_scanned(int dirfd, const char *path, const struct wt_entry *seen,
			  bool *writer_out)
{
	struct stat st;

	if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (seen->kind == WT_DIR)
		return S_ISDIR(st.st_mode) && same_dir(dirfd, path, seen->dir, writer_out);
	return same_file(dirfd, path, &st, seen, true, writer_out);
}
