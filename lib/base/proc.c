/* SPDX-License-Identifier: MIT */
#include "base/proc.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <sys/sysmacros.h>

enum {
	DEPTH_MAX = 128,         /* a longer chain is a loop, or irrelevant */
	STAT_SIZE = 1024,
	ARGV_SIZE = 128 * 1024,
	DESCRIPTION_MAX = 60,    /* bytes of a command line in a message */
};

/* The contents of a file in /proc, up to `size` bytes with the NUL; returns its length or -1. */
static ssize_t read_proc_file(char *buf, size_t size, const char *root, pid_t pid, const char *name)
{
	char *path = xstrfmt("%s/%ld/%s", root, (long)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : fs_read_full(fd, buf, size - 1);
	int saved = errno;

	fs_close(fd);
	free(path);
	buf[n < 0 ? 0 : n] = '\0';
	errno = saved;
	return n;
}

/* proc(5): pid (name) state ppid pgrp session ..., starttime is the 22nd. */
static int parse_stat(struct proc *out, const char *text)
{
	/* The name itself may contain spaces and parentheses. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	long parent, session;
	unsigned long long start;

	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %*c %ld %*d %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u"
		   " %*d %*d %*d %*d %*d %*d %llu",
		   &parent, &session, &start) != 3)
		return ckpt_error_set(CKPT_ERROR, "unexpected data in /proc about process %ld",
				      (long)out->pid);
	out->parent = (pid_t)parent;
	out->session = (pid_t)session;
	out->start = start;
	out->name = xmemdupz(open + 1, (size_t)(close - open - 1));
	return 0;
}

static int read_stat(struct proc *out, const char *root, pid_t pid)
{
	char text[STAT_SIZE];

	memset(out, 0, sizeof(*out));
	out->pid = pid;
	if (read_proc_file(text, sizeof(text), root, pid, "stat") < 0)
		return ckpt_error_errno("unable to look at process %ld", (long)pid);
	return parse_stat(out, text);
}

int proc_read(struct proc *out, const char *root, pid_t pid)
{
	int err = read_stat(out, root, pid);
	char *args;
	ssize_t len;

	if (err)
		return err;
	args = xmalloc(ARGV_SIZE);
	len = read_proc_file(args, ARGV_SIZE, root, pid, "cmdline");
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(args + at) + 1)
		strlist_add(&out->argv, args + at);
	free(args);
	return 0;
}

void proc_release(struct proc *proc)
{
	strlist_release(&proc->argv);
	free(proc->name);
	memset(proc, 0, sizeof(*proc));
}

void proc_ancestors(struct proc_list *out, const char *root, pid_t pid)
{
	struct proc proc;
	pid_t next;

	memset(out, 0, sizeof(*out));
	next = read_stat(&proc, root, pid) ? 0 : proc.parent;
	proc_release(&proc);
	while (next > 0 && out->nr < DEPTH_MAX) {
		if (proc_read(&proc, root, next)) {
			proc_release(&proc);
			return;
		}
		*ALLOC_NEXT(out->items, out->nr, out->alloc) = proc;
		next = proc.parent;
	}
}

static bool is_pid(const char *name)
{
	return *name && !name[strspn(name, "0123456789")];
}

static void add_children(struct proc_list *out, struct proc_list *all, pid_t pid)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (all->items[i].parent != pid || !all->items[i].name)
			continue;
		*ALLOC_NEXT(out->items, out->nr, out->alloc) = all->items[i];
		memset(&all->items[i], 0, sizeof(all->items[i]));
	}
}

void proc_descendants(struct proc_list *out, const char *root, pid_t pid)
{
	struct strlist names = STRLIST_INIT;
	struct proc_list all = { 0 };

	memset(out, 0, sizeof(*out));
	(void)fs_names(&names, AT_FDCWD, root, 0, is_pid);
	for (size_t i = 0; i < names.nr; i++) {
		struct proc proc;

		if (read_stat(&proc, root, (pid_t)atoi(names.items[i])))
			continue;
		*ALLOC_NEXT(all.items, all.nr, all.alloc) = proc;
	}
	add_children(out, &all, pid);
	for (size_t i = 0; i < out->nr; i++)
		add_children(out, &all, out->items[i].pid);
	proc_list_release(&all);
	strlist_release(&names);
}

void proc_list_release(struct proc_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		proc_release(&list->items[i]);
	free(list->items);
	memset(list, 0, sizeof(*list));
}

bool proc_alive(const char *root, pid_t pid, uint64_t start)
{
	struct proc proc;
	bool alive = !read_stat(&proc, root, pid) && proc.start == start;

	proc_release(&proc);
	return alive;
}

/* ---- who holds a lock ---- */

/*
 * proc(5): "1: FLOCK ADVISORY WRITE 4711 08:01:131 0 EOF". 0 if it is not listed, or in another
 * container.
 */
static pid_t flock_holder(const char *root, int fd)
{
	char *path = xstrfmt("%s/locks", root), line[256];
	FILE *locks = fopen(path, "re");
	long pid = 0, holder = 0;
	unsigned long long inode;
	unsigned major, minor;
	struct stat st;

	free(path);
	if (locks && !fstat(fd, &st))
		while (!holder && fgets(line, sizeof(line), locks))
			if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%llu", &pid, &major, &minor,
				   &inode) == 4 &&
			    inode == st.st_ino && makedev(major, minor) == st.st_dev)
				holder = pid;
	if (locks)
		fclose(locks);
	return holder > 0 ? (pid_t)holder : 0;
}

static bool is_plain_word(const char *word)
{
	return *word >= 'a' && *word <= 'z' && !word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")];
}

/* The command line up to its first plain word, the command: what follows may be long, or private. */
static void add_command_line(struct strbuf *out, const struct proc *proc)
{
	size_t begin = out->len;

	for (size_t i = 0; i < proc->argv.nr; i++) {
		const char *word = proc->argv.items[i];

		strbuf_addf(out, "%s%s", i ? " " : "", i ? word : path_base(word));
		if (i && is_plain_word(word))
			break;
	}
	if (!proc->argv.nr)
		strbuf_addstr(out, proc->name);
	if (out->len - begin > DESCRIPTION_MAX) {
		strbuf_setlen(out, begin + DESCRIPTION_MAX);
		strbuf_addstr(out, "...");
	}
	for (size_t i = begin; i < out->len; i++)
		if ((unsigned char)out->buf[i] < ' ')
			out->buf[i] = '?';
}

char *proc_lock_holder(const char *root, int fd)
{
	pid_t pid = flock_holder(root, fd);
	struct strbuf text = STRBUF_INIT;
	struct proc proc;

	if (!pid)
		return xstrdup("another process");
	strbuf_addf(&text, "process %ld", (long)pid);
	if (!proc_read(&proc, root, pid)) {
		strbuf_addstr(&text, " (");
		add_command_line(&text, &proc);
		strbuf_addch(&text, ')');
	}
	proc_release(&proc);
	return strbuf_detach(&text, NULL);
}
