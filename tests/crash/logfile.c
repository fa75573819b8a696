/* SPDX-License-Identifier: MIT */
#include "logfile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *log_file;
static char root[PATH_MAX];
static size_t root_len;

void log_die(const char *what)
{
	fprintf(stderr, "crash-record: %s: %s\n", what, strerror(errno));
	exit(125);
}

const char *log_below_root(const char *path)
{
	if (strncmp(path, root, root_len) || (path[root_len] && path[root_len] != '/'))
		return NULL;
	return path[root_len] ? path + root_len + 1 : path + root_len;
}

void log_put(enum crash_op op, uint64_t ino, uint64_t a, uint64_t b, const char *path,
		const char *path2, const void *data, size_t len)
{
	struct crash_rec rec = { .op = op, .ino = ino, .a = a, .b = b };

	rec.path_len = path ? (uint32_t)strlen(path) : 0;
	rec.path2_len = path2 ? (uint32_t)strlen(path2) : 0;
	rec.data_len = (uint32_t)len;
	if (fwrite(&rec, sizeof(rec), 1, log_file) != 1 ||
	    (rec.path_len && fwrite(path, rec.path_len, 1, log_file) != 1) ||
	    (rec.path2_len && fwrite(path2, rec.path2_len, 1, log_file) != 1) ||
	    (len && fwrite(data, len, 1, log_file) != 1))
		log_die("unable to write the log");
}

uint64_t log_mtime(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static void snapshot(const char *path)
{
	char target[PATH_MAX], child[PATH_MAX + 256];
	struct dirent *ent;
	struct stat st;
	char *data = NULL;
	size_t len = 0;
	DIR *dir;

	if (lstat(path, &st) < 0)
		log_die(path);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(path, target, sizeof(target));

		len = n < 0 ? 0 : (size_t)n;
		data = target;
	} else if (S_ISREG(st.st_mode)) {
		FILE *f = fopen(path, "rb");

		len = (size_t)st.st_size;
		data = malloc(len + 1);
		if (!f || !data || fread(data, 1, len, f) != len)
			log_die(path);
		fclose(f);
	}
	log_put(CRASH_SNAP, st.st_ino, st.st_mode, log_mtime(&st), log_below_root(path), NULL, data, len);
	if (S_ISREG(st.st_mode))
		free(data);
	if (!S_ISDIR(st.st_mode))
		return;
	dir = opendir(path);
	if (!dir)
		log_die(path);
	while ((ent = readdir(dir))) {
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		snprintf(child, sizeof(child), "%s/%s", path, ent->d_name);
		snapshot(child);
	}
	closedir(dir);
}

void log_open(const char *file, const char *dir)
{
	if (!realpath(dir, root))
		log_die(dir);
	root_len = strlen(root);
	log_file = fopen(file, "wbe");
	if (!log_file)
		log_die(file);
	fputs(CRASH_MAGIC, log_file);
	snapshot(root);
	fflush(log_file); /* before there is a child that has it, too */
}

void log_close(void)
{
	if (fclose(log_file))
		log_die("unable to write the log");
}
