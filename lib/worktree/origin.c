/* SPDX-License-Identifier: MIT */
#include "worktree/origin.h"

#include "base/alloc.h"
#include "base/fsio.h"
#include "base/oid.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* "abf33dfc-a779-40b7-9d52-e31f9054348a"; anything else is not known. */
static void read_boot_id(unsigned char out[BOOT_ID_SIZE])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64], digits[2 * BOOT_ID_SIZE];
	ssize_t len = fd < 0 ? -1 : fs_read_full(fd, text, sizeof(text));
	size_t nr = 0;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < len && text[i] != '\n'; i++) {
		if (text[i] == '-')
			continue;
		if (nr == sizeof(digits))
			return;
		digits[nr++] = text[i];
	}
	if (nr != sizeof(digits) || !hex_decode(out, digits, BOOT_ID_SIZE))
		memset(out, 0, BOOT_ID_SIZE);
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
	return then->dev == now->dev && then->fsid == now->fsid ? ORIGIN_SAME : ORIGIN_UNSURE;
}
