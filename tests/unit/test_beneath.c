/* SPDX-License-Identifier: MIT */
#include "tree/beneath.h"

#include "base/alloc.h"
#include "base/fs.h"
#include "unit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/*
 * Each property is tried twice: as the kernel allows, and in a child that has
 * forbidden itself openat2(2), which makes the walk by components do the work.
 */

static int rootfd = -1;

/* Errno 0 allows all; what fails with `deny` is openat2 alone. */
static bool forbid_openat2(unsigned deny)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | deny),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("mkdir -p root/a/b/c root/empty outside/sub; echo in >root/a/b/file; echo top "
	   ">root/top; "
	   "echo out >outside/file; echo out >outside/sub/file; "
	   "ln -s ../outside root/out; ln -s a root/in; ln -s b root/a/mid; ln -s file "
	   "root/a/b/last; "
	   "ln -s '%s/outside' root/abs; ln -s loop root/loop; ln -s none root/dangling; "
	   "ln -s .. root/a/up; mkfifo root/fifo; chmod 755 root/a",
	   scratch);
	rootfd = open(in_scratch("root"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return rootfd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	close(rootfd);
	return unit_teardown(state);
}

struct answer {
	int err; /* errno, 0: opened */
	dev_t dev;
	ino_t ino;
	int cloexec;
};

static struct answer try(const char *path, int flags)
{
	struct answer answer = { 0 };
	int fd = beneath_open(rootfd, path, flags);
	struct stat st;

	if (fd < 0) {
		answer.err = errno;
		return answer;
	}
	if (!fstat(fd, &st)) {
		answer.dev = st.st_dev;
		answer.ino = st.st_ino;
	}
	answer.cloexec = fcntl(fd, F_GETFD) & FD_CLOEXEC;
	close(fd);
	return answer;
}

static const char *const paths[] = {
	"",
	"top",
	"a",
	"a/b",
	"a/b/c",
	"a/b/file",
	"empty",
	"none",
	"a/none",
	"none/x",
	"a/b/file/x",
	"top/x",
	"out",
	"out/file",
	"in",
	"in/b",
	"a/mid",
	"a/mid/file",
	"a/b/last",
	"abs",
	"abs/file",
	"loop",
	"loop/x",
	"dangling",
	"dangling/x",
	"a/up",
	"a/up/top",
	"fifo/x",
	"..",
	"../root",
	"a/..",
	"a/../top",
	"a/b/../../top",
	"../outside/file",
	"a/b/../../../outside/file",
};

static const int flag_sets[] = { O_RDONLY, O_RDONLY | O_DIRECTORY, O_PATH | O_DIRECTORY };

enum { ANSWERS = ARRAY_SIZE(paths) * ARRAY_SIZE(flag_sets) };

static void answer_all(struct answer *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		for (size_t j = 0; j < ARRAY_SIZE(flag_sets); j++)
			*out++ = try(paths[i], flag_sets[j]);
}

/* The answers of a child without openat2(2); false if it cannot be had. */
static bool answer_without(struct answer *out, unsigned deny)
{
	int pipefd[2];
	pid_t pid;

	assert_int_equal(pipe(pipefd), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct answer answers[ANSWERS];

		memset(answers, 0, sizeof(answers));
		close(pipefd[0]);
		if (!forbid_openat2(deny))
			_exit(0);
		if (syscall(SYS_openat2, -1, "", NULL, 0) != -1 || errno != (int)deny)
			_exit(1);
		answer_all(answers);
		_exit(fs_write_all(pipefd[1], answers, sizeof(answers)) < 0);
	}
	close(pipefd[1]);
	{
		ssize_t n = fs_read_full(pipefd[0], out, ANSWERS * sizeof(*out));

		close(pipefd[0]);
		expect_exit(pid, 20);
		return n == (ssize_t)(ANSWERS * sizeof(*out));
	}
}

static void check_answers(const struct answer *answers)
{
	const struct answer *answer = answers;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		for (size_t j = 0; j < ARRAY_SIZE(flag_sets); j++, answer++) {
			char full[2 * PATH_MAX], real[PATH_MAX];
			bool dir_wanted = flag_sets[j] & O_DIRECTORY, inside;
			struct stat st;

			snprintf(full, sizeof(full), "%s/root/%s", scratch, paths[i]);
			/* To be opened is exactly what lies where its name says, all components real. */
			inside = realpath(full, real) && !strstr(paths[i], "..") &&
				 (!strcmp(real, full) || !paths[i][0]) && !stat(full, &st) &&
				 (!dir_wanted || S_ISDIR(st.st_mode));
			if (inside != !answer->err)
				fail_msg("'%s' with %o: errno %d", paths[i], (unsigned)flag_sets[j],
					 answer->err);
			if (!inside)
				continue;
			assert_true(st.st_dev == answer->dev && st.st_ino == answer->ino);
			assert_int_equal(answer->cloexec, FD_CLOEXEC);
		}
}

static void test_beneath_opens_only_what_is_inside(void **state)
{
	struct answer answers[ANSWERS];

	(void)state;
	answer_all(answers);
	check_answers(answers);
}

static void test_beneath_walk_equals_openat2(void **state)
{
	static const unsigned denials[] = { ENOSYS, EPERM };
	struct answer kernel[ANSWERS], walk[ANSWERS];

	(void)state;
	answer_all(kernel);
	for (size_t d = 0; d < ARRAY_SIZE(denials); d++) {
		if (!answer_without(walk, denials[d]))
			skip();
		check_answers(walk);
		for (size_t i = 0; i < ANSWERS; i++)
			if (walk[i].err != kernel[i].err)
				fail_msg("'%s' with %o: errno %d by the walk, %d by openat2",
					 paths[i / ARRAY_SIZE(flag_sets)],
					 (unsigned)flag_sets[i % ARRAY_SIZE(flag_sets)],
					 walk[i].err, kernel[i].err);
	}
}

static void test_beneath_says_why(void **state)
{
	(void)state;
	assert_int_equal(try("out/file", O_RDONLY).err, ELOOP);
	assert_int_equal(try("a/b/last", O_RDONLY).err, ELOOP);
	assert_int_equal(try("in/b/file", O_RDONLY).err, ELOOP);
	assert_int_equal(try("none", O_RDONLY).err, ENOENT);
	assert_int_equal(try("top/x", O_RDONLY).err, ENOTDIR);
	assert_int_equal(try("..", O_RDONLY).err, EXDEV);
	assert_int_equal(try("a/../top", O_RDONLY).err, EXDEV);
}

static void test_beneath_absolute_paths_are_refused(void **state)
{
	(void)state;
	assert_int_not_equal(try("/etc/passwd", O_RDONLY).err, 0);
	assert_int_not_equal(try("/", O_RDONLY | O_DIRECTORY).err, 0);
	assert_int_not_equal(try(in_scratch("root/top"), O_RDONLY).err, 0);
}

/* Up and down at random, opened from near and from the root: always the same. */
static void near_is_the_same(const char *deep, size_t levels)
{
	static const char *const ends[] = { "", "/none", "/../x", "/file" };
	struct beneath_near near = { 0 };
	size_t at = levels / 2;

	for (int i = 0; i < 400; i++) {
		struct strbuf path = STRBUF_INIT;
		struct answer answer;
		struct stat st = { 0 };
		int fd;

		at = rnd(10) ? at + rnd(5) : rnd((unsigned)levels);
		at = at < 2 ? 0 : (at - 2) % levels;
		strbuf_add(&path, deep, at * 201 + 200);
		strbuf_addstr(&path, ends[rnd(3) ? 0 : rnd(ARRAY_SIZE(ends))]);
		answer = try(path.buf, O_RDONLY);
		fd = beneath_open_near(&near, rootfd, path.buf, O_RDONLY);
		assert_int_equal(fd < 0 ? errno : 0, answer.err);
		if (fd >= 0) {
			assert_int_equal(fstat(fd, &st), 0);
			close(fd);
			assert_true(st.st_ino == answer.ino && st.st_dev == answer.dev);
		}
		strbuf_release(&path);
	}
	beneath_near_release(&near);
}

/* Directories so deep that no path reaches them in one call. */
static void test_beneath_deeper_than_path_max(void **state)
{
	enum { DEPTH = 40 };
	char name[201], *deep = xmalloc(DEPTH * 202 + 64);
	int fd = dup(rootfd), next;
	struct answer answer;
	const char *last;
	struct stat st;

	(void)state;
	memset(name, 'n', 200);
	name[200] = '\0';
	deep[0] = '\0';
	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdirat(fd, name, 0755), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
		strcat(strcat(deep, name), "/");
	}
	assert_true(strlen(deep) > PATH_MAX);
	next = openat(fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(fstat(next, &st), 0);
	close(next);
	assert_int_equal(symlinkat("/etc", fd, "link"), 0);
	assert_int_equal(symlinkat("file", fd, "last"), 0);

	strcpy(deep + DEPTH * 201, "file");
	answer = try(deep, O_RDONLY);
	assert_int_equal(answer.err, 0);
	assert_true(answer.ino == st.st_ino && answer.dev == st.st_dev);
	next = beneath_open_parent(rootfd, deep, &last);
	assert_true(next >= 0);
	assert_string_equal(last, "file");
	assert_int_equal(faccessat(next, "last", F_OK, AT_SYMLINK_NOFOLLOW), 0);
	close(next);
	strcpy(deep + DEPTH * 201, "made");
	assert_int_equal(beneath_mkdir(NULL, rootfd, deep, 0700), 0);
	assert_int_equal(beneath_chmod_dir(NULL, rootfd, deep, 0510, true), 0);
	assert_int_equal(fstatat(fd, "made", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0510);
	strcpy(deep + DEPTH * 201, "pointer");
	assert_int_equal(beneath_symlink("made", rootfd, deep), 0);
	assert_int_equal(fstatat(fd, "pointer", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(beneath_chmod_dir(NULL, rootfd, deep, 0777, false), -1);
	strcpy(deep + DEPTH * 201, "last");
	assert_int_equal(try(deep, O_RDONLY).err, ELOOP);
	strcpy(deep + DEPTH * 201, "link/passwd");
	assert_int_equal(try(deep, O_RDONLY).err, ELOOP);
	strcpy(deep + DEPTH * 201, "../x");
	assert_int_equal(try(deep, O_RDONLY).err, EXDEV);
	near_is_the_same(deep, DEPTH);
	close(fd);
	free(deep);
}

/* In doubt the way from the root counts. */
static void test_beneath_near_notices_what_went(void **state)
{
	struct beneath_near near = { 0 };
	char *path = xmalloc(8192);
	int fd;

	(void)state;
	for (int i = 0; i < 30; i++) {
		if (i)
			path[i * 101 - 1] = '/';
		memset(path + i * 101, 'm', 100);
		path[i * 101 + 100] = '\0';
		assert_int_equal(beneath_mkdir(NULL, rootfd, path, 0755), 0);
	}
	fd = beneath_open_near(&near, rootfd, path, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	close(fd);
	assert_non_null(near.path);
	strcat(path, "/none");
	assert_int_equal(beneath_open_near(&near, rootfd, path, O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	assert_null(near.path);
	beneath_near_release(&near);
	free(path);
}

static void test_beneath_parent(void **state)
{
	const char *name = NULL;
	struct stat st, expect;
	int fd;

	(void)state;
	fd = beneath_open_parent(rootfd, "a/b/file", &name);
	assert_string_equal(name, "file");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(stat(in_scratch("root/a/b"), &expect), 0);
	assert_int_equal(st.st_ino, expect.st_ino);
	close(fd);
	fd = beneath_open_parent(rootfd, "top", &name);
	assert_string_equal(name, "top");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(stat(in_scratch("root"), &expect), 0);
	assert_int_equal(st.st_ino, expect.st_ino);
	close(fd);
	assert_int_equal(beneath_open_parent(rootfd, "out/file", &name), -1);
	assert_true(errno == ELOOP || errno == ENOTDIR);
	assert_int_equal(beneath_open_parent(rootfd, "none/file", &name), -1);
	assert_int_equal(errno, ENOENT);
	/* The last component is the caller's business, link or not. */
	fd = beneath_open_parent(rootfd, "a/b/last", &name);
	assert_true(fd >= 0);
	close(fd);
}

/* ---- the race: a directory that turns into a link to the outside and back ---- */

static atomic_bool stop;

static void *swap_directory(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		if (renameat2(rootfd, "race", rootfd, "race-link", RENAME_EXCHANGE) < 0)
			abort();
	}
	return NULL;
}

/* Both contents are read many times over; never the outside one. */
static void race(unsigned *inside, unsigned *refused, unsigned *outside)
{
	pthread_t swapper;

	*inside = *refused = *outside = 0;
	atomic_store(&stop, false);
	if (pthread_create(&swapper, NULL, swap_directory, NULL))
		abort();
	for (int i = 0; i < 20000; i++) {
		const char *name = NULL;
		char text[8] = "";
		int fd;

		if (i % 2) {
			fd = beneath_open(rootfd, "race/sub/file", O_RDONLY);
		} else {
			int dir = beneath_open_parent(rootfd, "race/sub/file", &name);

			fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
			if (dir >= 0)
				close(dir);
		}
		if (fd < 0) {
			++*refused;
			continue;
		}
		if (read(fd, text, sizeof(text) - 1) < 0)
			abort();
		close(fd);
		if (!strcmp(text, "in\n"))
			++*inside;
		else
			++*outside;
	}
	atomic_store(&stop, true);
	pthread_join(swapper, NULL);
}

static void test_beneath_is_not_led_outside_by_a_race(void **state)
{
	unsigned inside, refused, outside;
	pid_t pid;

	(void)state;
	sh("mkdir -p root/race/sub; echo in >root/race/sub/file; ln -s ../outside root/race-link");
	race(&inside, &refused, &outside);
	assert_int_equal(outside, 0);
	assert_true(inside > 0);
	assert_true(refused > 0);

	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!forbid_openat2(ENOSYS))
			_exit(0);
		race(&inside, &refused, &outside);
		_exit(outside ? 1 : !inside ? 2 : !refused ? 3 : 0);
	}
	expect_exit(pid, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beneath_opens_only_what_is_inside),
		cmocka_unit_test(test_beneath_walk_equals_openat2),
		cmocka_unit_test(test_beneath_says_why),
		cmocka_unit_test(test_beneath_absolute_paths_are_refused),
		cmocka_unit_test(test_beneath_deeper_than_path_max),
		cmocka_unit_test(test_beneath_near_notices_what_went),
		cmocka_unit_test(test_beneath_parent),
		cmocka_unit_test(test_beneath_is_not_led_outside_by_a_race),
	};

	return cmocka_run_group_tests_name("beneath", tests, setup, teardown);
}
