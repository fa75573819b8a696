/* SPDX-License-Identifier: MIT */
#include "base/traffic.h"

#include "base/alloc.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/std.h"
#include "base/strbuf.h"
#include "base/strlist.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define PROC "/proc"

/* --- one process --- */

/* read(2) and write(2), also of pipes; but not recv(2), see below. */
static uint64_t count_io(pid_t pid)
{
	char *path = xstrfmt(PROC "/%ld/io", (long)pid);
	unsigned long long in = 0, out = 0;
	FILE *io = fopen(path, "re");

	if (io && fscanf(io, "rchar: %llu wchar: %llu", &in, &out) != 2)
		in = out = 0;
	if (io)
		fclose(io);
	free(path);
	return in + out;
}

static uint64_t count_socket(int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	uint64_t sum = 0;

	/* Acknowledged: what is only queued here has not moved. */
	if (fd >= 0 && !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
	    len >= offsetof(struct tcp_info, tcpi_segs_out))
		sum = info.tcpi_bytes_received + info.tcpi_bytes_acked;
	fs_close(fd);
	return sum;
}

static uint64_t count_sockets(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	char *dir = xstrfmt(PROC "/%ld/fd", (long)pid);
	struct strlist names = STRLIST_INIT;
	uint64_t sum = 0;

	if (pidfd >= 0)
		(void)fs_names(&names, AT_FDCWD, dir, 0, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		char *path = xstrfmt("%s/%s", dir, names.items[i]), target[16];
		ssize_t len = readlink(path, target, sizeof(target));

		if (len > 7 && !strncmp(target, "socket:", 7))
			sum += count_socket(pidfd, atoi(names.items[i]));
		free(path);
	}
	strlist_release(&names);
	fs_close(pidfd);
	free(dir);
	return sum;
}

/* --- all of them --- */

uint64_t traffic_of(pid_t pid)
{
	struct proc_list list;
	uint64_t sum = count_io(pid) + count_sockets(pid);

	proc_descendants(&list, PROC, pid);
	for (size_t i = 0; i < list.nr; i++)
		/* Another pid is a change, too: what starts and ends moves. */
		if (strcmp(list.items[i].name, "ssh") != 0)
			sum += (uint64_t)list.items[i].pid + count_io(list.items[i].pid) +
			       count_sockets(list.items[i].pid);
	proc_list_release(&list);
	return sum;
}

void traffic_end(pid_t pid)
{
	struct proc_list list;

	proc_descendants(&list, PROC, pid);
	for (size_t i = 0; i < list.nr; i++)
		(void)kill(list.items[i].pid, SIGKILL);
	proc_list_release(&list);
}
