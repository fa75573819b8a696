/* SPDX-License-Identifier: MIT */
#include "tree/beneath.h"

#include <dirent.h>
#include <sys/sysmacros.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0
#endif

int mounts_of(struct mount *out, int dirfd, const char *name)
{
	struct statx stx;

	memset(&stx, 0, sizeof(stx));
	if (statx(dirfd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_MNT_ID,
		  &stx) < 0)
		return -1;
	out->dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	out->is_dir = S_ISDIR(stx.stx_mode);
	out->id = 0;
#if STATX_MNT_ID
	if (stx.stx_mask & STATX_MNT_ID)
		out->id = stx.stx_mnt_id;
#endif
	return 0;
}

bool mounts_differ(const struct mount *root, const struct mount *other)
{
	if (root->id && other->id && root->id != other->id)
		return true;
	/* Files of an overlay have the device of the layer they are in. */
	return other->is_dir && root->dev != other->dev;
}

/* A field of mountinfo: blanks and other special characters are three octal digits. */
static void add_unescaped(struct strbuf *out, const char *field, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (field[i] == '\\' && i + 3 < len && strspn(field + i + 1, "01234567") >= 3) {
			strbuf_addch(out, (char)((field[i + 1] - '0') << 6 | (field[i + 2] - '0') << 3 |
						 (field[i + 3] - '0')));
			i += 3;
		} else {
			strbuf_addch(out, field[i]);
		}
	}
}

/* Others may be hidden by later mounts. */
static bool is_mount(int rootfd, const char *path)
{
	struct mount parent, self;
	const char *name;
	int dirfd = beneath_open_parent(rootfd, path, &name);
	bool is;

	if (dirfd < 0)
		return false;
	is = !mounts_of(&parent, dirfd, "") && !mounts_of(&self, dirfd, name) &&
	     mounts_differ(&parent, &self);
	close(dirfd);
	return is;
}

static bool dir_is_empty(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *ent;
	bool empty = dir != NULL;

	if (!dir) {
		fs_close(fd);
		return false;
	}
	while (empty && (ent = readdir(dir)))
		empty = !strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..");
	closedir(dir);
	return empty;
}

bool mounts_is_empty(int rootfd, const char *path)
{
	const char *name;
	int dirfd = beneath_open_parent(rootfd, path, &name);
	struct stat st;
	bool empty = false;

	if (dirfd < 0)
		return false;
	if (!fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		empty = S_ISDIR(st.st_mode) ? dir_is_empty(dirfd, name)
					    : S_ISREG(st.st_mode) && !st.st_size;
	close(dirfd);
	return empty;
}

void mounts_below(struct strlist *out, const char *root, int rootfd)
{
	struct strbuf text = STRBUF_INIT, path = STRBUF_INIT;
	size_t len = strcmp(root, "/") ? strlen(root) : 0;
	char *line, *rest = NULL;

	if (fs_read_file(&text, AT_FDCWD, "/proc/self/mountinfo"))
		strbuf_reset(&text);
	for (line = strtok_r(text.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *field = line;

		/* id, parent, device, root, then the mount point */
		for (int i = 0; i < 4 && field; i++) {
			field = strchr(field, ' ');
			field = field ? field + 1 : NULL;
		}
		if (!field)
			continue;
		strbuf_reset(&path);
		add_unescaped(&path, field, strcspn(field, " "));
		if (!strncmp(path.buf, root, len) && path.buf[len] == '/' && path.buf[len + 1] &&
		    is_mount(rootfd, path.buf + len + 1))
			strlist_add(out, path.buf + len + 1);
	}
	strbuf_release(&text);
	strbuf_release(&path);
}
