/* SPDX-License-Identifier: MIT */
#include "tree/statcache.h"

#include <linux/btrfs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* "abf33dfc-a779-40b7-9d52-e31f9054348a"; anything else counts as unknown. */
static void read_boot_id(unsigned char out[BOOT_ID_SIZE])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64], digits[2 * BOOT_ID_SIZE];
	ssize_t len = fd < 0 ? -1 : fs_read_full(fd, text, sizeof(text));
	size_t nr = 0;

	fs_close(fd);
	for (ssize_t i = 0; i < len && text[i] != '\n'; i++) {
		if (text[i] == '-')
			continue;
		if (nr == sizeof(digits))
			return;
		digits[nr++] = text[i];
	}
	if (nr != sizeof(digits) || !oid_hex_decode(out, digits, BOOT_ID_SIZE))
		memset(out, 0, BOOT_ID_SIZE);
}

/* The device, for file systems that name their directory in /sys/fs after it. */
static bool block_device(char *out, size_t size, dev_t dev)
{
	char link[64], target[PATH_MAX];
	const char *slash;
	ssize_t len;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	len = readlink(link, target, sizeof(target) - 1);
	if (len < 0)
		return false;
	target[len] = '\0';
	slash = strrchr(target, '/');
	return slash && (size_t)snprintf(out, size, "%s", slash + 1) < size;
}

/* For btrfs: it has many devices, and st_dev is none of them. */
static bool btrfs_uuid(char *out, size_t size, int fd)
{
	struct btrfs_ioctl_fs_info_args info = { 0 };
	char hex[2 * BTRFS_FSID_SIZE + 1];

	if (ioctl(fd, BTRFS_IOC_FS_INFO, &info) < 0)
		return false;
	oid_hex_encode(hex, info.fsid, BTRFS_FSID_SIZE);
	return (size_t)snprintf(out, size, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
				hex + 16, hex + 20) < size;
}

/* The directory in /sys that the kernel makes for a mounted file system is a new one each time. */
static uint64_t mount_number(int fd, const struct origin *origin)
{
	const char *type = origin->fstype == EXT4_SUPER_MAGIC  ? "ext4" :
			   origin->fstype == XFS_SUPER_MAGIC   ? "xfs" :
			   origin->fstype == F2FS_SUPER_MAGIC  ? "f2fs" :
			   origin->fstype == BTRFS_SUPER_MAGIC ? "btrfs" :
								 NULL;
	char name[NAME_MAX + 1], path[2 * NAME_MAX];
	struct stat st;

	if (!type || !(origin->fstype == BTRFS_SUPER_MAGIC ?
			       btrfs_uuid(name, sizeof(name), fd) :
			       block_device(name, sizeof(name), origin->dev)))
		return 0;
	snprintf(path, sizeof(path), "/sys/fs/%s/%s", type, name);
	return stat(path, &st) ? 0 : st.st_ino;
}

void origin_now(struct origin *out, int fd)
{
	struct stat st;
	struct statfs fs;

	memset(out, 0, sizeof(*out));
	read_boot_id(out->boot);
	if (!fstat(fd, &st))
		out->dev = st.st_dev;
	if (!fstatfs(fd, &fs)) {
		memcpy(&out->fsid, &fs.f_fsid, sizeof(out->fsid));
		out->fstype = (uint64_t)fs.f_type;
	}
	out->mount = mount_number(fd, out);
}

static bool boot_known(const struct origin *origin)
{
	static const unsigned char unknown[BOOT_ID_SIZE];

	return memcmp(origin->boot, unknown, BOOT_ID_SIZE) != 0;
}

bool origin_on_disk(const struct origin *origin)
{
	static const uint64_t known[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
					  F2FS_SUPER_MAGIC };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (origin->fstype == known[i])
			return true;
	return false;
}

enum origin_relation origin_compare(const struct origin *then, const struct origin *now)
{
	if (!boot_known(then) || !boot_known(now))
		return ORIGIN_UNSURE;
	if (memcmp(then->boot, now->boot, BOOT_ID_SIZE))
		return origin_on_disk(now) ? ORIGIN_EARLIER : ORIGIN_UNSURE;
	/* If /sys is not available, the rest must do. */
	if (then->dev != now->dev || then->fsid != now->fsid ||
	    (then->mount != now->mount && then->mount && now->mount))
		return ORIGIN_UNSURE;
	return ORIGIN_SAME;
}
