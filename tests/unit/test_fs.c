/* SPDX-License-Identifier: MIT */
#include "base/fs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"

#include <sys/mman.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

/* So many names are in a directory. */
static unsigned count_names(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* ---- whole files ---- */

static void test_fs_write_and_read_round_trip(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 100000, 3000000 };
	int dirfd;

	(void)state;
	sh("mkdir w");
	dirfd = open(in_scratch("w"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct strbuf out = STRBUF_INIT;
		char *data = xmalloc(sizes[i] + 1);

		rnd_bytes(data, sizes[i]);
		assert_int_equal(fs_write_file(dirfd, "file", data, sizes[i], 0600,
					       rnd(2) ? FS_DURABLE : FS_FAST),
				 0);
		strbuf_addstr(&out, "before");
		assert_int_equal(fs_read_file(&out, dirfd, "file"), 0);
		assert_int_equal(out.len, sizes[i] + 6);
		assert_memory_equal(out.buf, "before", 6);
		assert_memory_equal(out.buf + 6, data, sizes[i]);
		assert_int_equal(out.buf[out.len], 0);
		free(data);
		strbuf_release(&out);
	}
	/* Nothing but the file is left. */
	assert_int_equal(count_names(in_scratch("w")), 1);
	close(dirfd);
}

static void test_fs_write_sets_modes_whatever_the_umask(void **state)
{
	static const mode_t modes[] = { 0600, 0644, 0400, 0755, 0666 };
	static const mode_t masks[] = { 0, 022, 077, 0777 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		for (size_t j = 0; j < ARRAY_SIZE(masks); j++) {
			mode_t old = umask(masks[j]);
			int err = fs_write_file(AT_FDCWD, "moded", "x", 1, modes[i], FS_FAST);

			umask(old);
			assert_int_equal(err, 0);
			assert_int_equal(mode_of(in_scratch("moded")), modes[i]);
		}
}

/* The new file is another one: a reader of the old keeps what it has, a link to it too. */
static void test_fs_write_replaces_links_and_never_follows(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	sh("mkdir lnk; echo old >lnk/target; ln -s target lnk/sym; ln lnk/target lnk/hard");
	assert_int_equal(fs_write_file(AT_FDCWD, "lnk/sym", "new", 3, 0600, FS_FAST), 0);
	assert_int_equal(fs_write_file(AT_FDCWD, "lnk/hard", "new", 3, 0600, FS_FAST), 0);
	get_bytes(&out, in_scratch("lnk/target"));
	assert_string_equal(out.buf, "old\n");
	sh("test ! -L lnk/sym; test $(cat lnk/sym) = new");
	strbuf_release(&out);
}

static void test_fs_write_failing_leaves_the_old(void **state)
{
	struct rlimit limit, small;
	struct strbuf out = STRBUF_INIT;
	char *data = xcalloc(1, 1 << 20);
	int err;

	(void)state;
	sh("mkdir full; echo old >full/file; mkdir full/dir; touch full/dir/x");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 65536;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	err = fs_write_file(AT_FDCWD, "full/file", data, 1 << 20, 0600, FS_DURABLE);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(err, CKPT_ERROR);
	assert_non_null(strstr(ckpt_error_last(), "'full/file'"));
	get_bytes(&out, in_scratch("full/file"));
	assert_string_equal(out.buf, "old\n");

	/* A directory with something in it cannot be replaced. */
	assert_int_equal(fs_write_file(AT_FDCWD, "full/dir", "x", 1, 0600, FS_FAST), CKPT_ERROR);
	assert_int_equal(fs_write_file(AT_FDCWD, "none/file", "x", 1, 0600, FS_FAST),
			 CKPT_ENOTFOUND);
	assert_int_equal(count_names(in_scratch("full")), 2);
	free(data);
	strbuf_release(&out);
}

enum { VERSION_LEN = 20000 };
static atomic_bool stop;

static void *write_versions(void *arg)
{
	char *data = xmalloc(VERSION_LEN);

	for (int i = 0; !atomic_load(&stop); i++) {
		memset(data, 'a' + i % 26, VERSION_LEN);
		if (fs_write_file(AT_FDCWD, arg, data, VERSION_LEN, 0600, FS_FAST))
			abort();
	}
	free(data);
	return NULL;
}

/* Whoever reads while others write sees one version, whole. */
static void test_fs_readers_see_old_or_new(void **state)
{
	pthread_t writers[2];
	char path[] = "version";

	(void)state;
	put_text(in_scratch("version"), "");
	sh("printf %%020000d 0 >version");
	atomic_store(&stop, false);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_versions, path), 0);
	for (int i = 0; i < 300; i++) {
		struct strbuf out = STRBUF_INIT;

		assert_int_equal(fs_read_file(&out, AT_FDCWD, "version"), 0);
		assert_int_equal(out.len, VERSION_LEN);
		for (size_t j = 1; j < out.len; j++)
			assert_int_equal(out.buf[j], out.buf[0]);
		strbuf_release(&out);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
}

static void test_fs_read_refuses_what_is_no_file(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	sh("mkdir odd; cd odd; mkfifo fifo; mkdir dir; echo x >file; ln -s file link; ln -s none "
	   "dangling");
	assert_int_equal(fs_read_file(&out, AT_FDCWD, "odd/none"), CKPT_ENOTFOUND);
	assert_non_null(strstr(ckpt_error_last(), "'odd/none'"));
	assert_int_equal(fs_read_file(&out, AT_FDCWD, "odd/dir"), CKPT_ERROR);
	assert_int_equal(fs_read_file(&out, AT_FDCWD, "odd/link"), CKPT_ERROR);
	assert_int_equal(fs_read_linked(&out, "odd/link"), 0);
	assert_string_equal(out.buf, "x\n");
	assert_int_equal(fs_read_linked(&out, "odd/dangling"), CKPT_ENOTFOUND);
	strbuf_release(&out);
}

static void test_fs_fifo_does_not_hang(void **state)
{
	struct strbuf out = STRBUF_INIT;
	pid_t pid;

	(void)state;
	sh("mkdir fifos; mkfifo fifos/a fifos/b fifos/c");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		bool good = fs_read_file(&out, AT_FDCWD, "fifos/a") == CKPT_ERROR &&
			    fs_read_linked(&out, "fifos/a") == CKPT_ERROR && !out.len &&
			    fs_append_line(AT_FDCWD, "fifos/a", "x\n", 2, 0600) != 0 &&
			    fs_write_file(AT_FDCWD, "fifos/b", "x", 1, 0600, FS_FAST) == 0 &&
			    fs_disk_usage(AT_FDCWD, "fifos") > 0 &&
			    fs_remove_tree(AT_FDCWD, "fifos") == 0;

		_exit(good ? 0 : 1);
	}
	expect_exit(pid, 10);
	assert_false(is_there(in_scratch("fifos")));
}

/* ---- temporaries ---- */

static void test_fs_temp_names_can_be_swept(void **state)
{
	struct strbuf path = STRBUF_INIT;
	struct stat st;
	int fd = -1;

	(void)state;
	sh("mkdir temps; touch temps/keep temps/tmp_other temps/tmp_ckpt_notes; "
	   "mkdir temps/tmp_ckpt_0123456789abcdef");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fs_temp_open(&fd, &path, AT_FDCWD, "temps", 0640), 0);
		assert_int_equal(strncmp(path.buf, "temps/" FS_TEMP_PREFIX, 15), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0640);
		assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		assert_int_equal(fs_write_all(fd, "x", 1), 0);
		close(fd);
	}
	assert_int_equal(count_names(in_scratch("temps")), 7);
	fs_sweep_temps(AT_FDCWD, "temps");
	/* A directory of that name is not such a temporary. */
	assert_int_equal(count_names(in_scratch("temps")), 4);
	assert_true(is_there(in_scratch("temps/keep")));
	assert_true(is_there(in_scratch("temps/tmp_ckpt_notes")));
	fs_sweep_temps(AT_FDCWD, "nothing-here");
	assert_int_not_equal(fs_temp_open(&fd, &path, AT_FDCWD, "nothing-here", 0600), 0);
	strbuf_release(&path);
}

/* ---- appending ---- */

static void test_fs_append_repairs_a_torn_line(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(fs_append_line(AT_FDCWD, "log", "one\n", 4, 0600), 0);
	assert_int_equal(mode_of(in_scratch("log")), 0600);
	assert_int_equal(fs_append_line(AT_FDCWD, "log", "two\n", 4, 0600), 0);
	sh("printf torn >>log");
	assert_int_equal(fs_append_line(AT_FDCWD, "log", "three\n", 6, 0600), 0);
	get_bytes(&out, in_scratch("log"));
	assert_string_equal(out.buf, "one\ntwo\ntorn\nthree\n");
	sh("ln -s log loglink");
	assert_int_not_equal(fs_append_line(AT_FDCWD, "loglink", "x\n", 2, 0600), 0);
	strbuf_release(&out);
}

static void test_fs_append_lines_of_processes_do_not_mix(void **state)
{
	enum { PROCESSES = 6, LINES = 150, WIDTH = 400 };
	struct strbuf out = STRBUF_INIT;
	unsigned counts[PROCESSES] = { 0 };
	pid_t pids[PROCESSES];

	(void)state;
	fflush(NULL);
	for (int p = 0; p < PROCESSES; p++) {
		pids[p] = fork();
		if (!pids[p]) {
			char line[WIDTH + 1];

			memset(line, 'a' + p, WIDTH);
			line[WIDTH] = '\n';
			for (int i = 0; i < LINES; i++)
				if (fs_append_line(AT_FDCWD, "mixed", line, WIDTH + 1, 0600))
					_exit(1);
			_exit(0);
		}
	}
	for (int p = 0; p < PROCESSES; p++)
		expect_exit(pids[p], 30);
	get_bytes(&out, in_scratch("mixed"));
	for (size_t at = 0; at < out.len; at += WIDTH + 1) {
		/* A line that is being written looks torn; repairing that leaves an empty one. */
		while (out.buf[at] == '\n')
			at++;
		assert_true(at + WIDTH < out.len);
		for (size_t i = 1; i < WIDTH; i++)
			assert_int_equal(out.buf[at + i], out.buf[at]);
		assert_int_equal(out.buf[at + WIDTH], '\n');
		counts[out.buf[at] - 'a']++;
	}
	for (int p = 0; p < PROCESSES; p++)
		assert_int_equal(counts[p], LINES);
	strbuf_release(&out);
}

/* ---- reading and writing pieces ---- */

static void test_fs_full_reads_bear_small_pieces(void **state)
{
	enum { LEN = 200000 };
	char *data = xmalloc(LEN), *got = xmalloc(LEN + 10);
	int pipefd[2], fd;
	pid_t pid;

	(void)state;
	rnd_bytes(data, LEN);
	assert_int_equal(pipe(pipefd), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		for (size_t at = 0; at < LEN;) {
			size_t n = 1 + rnd(5000);
			ssize_t done = write(pipefd[1], data + at, n < LEN - at ? n : LEN - at);

			if (done < 0)
				_exit(1);
			at += (size_t)done;
		}
		_exit(0);
	}
	close(pipefd[1]);
	assert_int_equal(fs_read_full(pipefd[0], got, LEN + 10), LEN);
	assert_memory_equal(got, data, LEN);
	close(pipefd[0]);
	expect_exit(pid, 10);

	fd = open(in_scratch("pieces"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fs_pwrite_all(fd, data, LEN, 100), 0);
	assert_int_equal(fs_pread_full(fd, got, 50, 100), 50);
	assert_memory_equal(got, data, 50);
	assert_int_equal(fs_pread_full(fd, got, LEN, 200), LEN - 100);
	assert_memory_equal(got, data + 100, LEN - 100);
	assert_int_equal(fs_pread_full(fd, got, 5, LEN + 1000), 0);
	close(fd);
	assert_int_equal(fs_read_full(fd, got, 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(fs_write_all(fd, data, 1), -1);
	free(data);
	free(got);
}

/* ---- writers ---- */

/* A descriptor that reads the file; skips the test where leases are not to be had. */
static int open_leasable(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0) {
		close(fd);
		skip();
	}
	assert_int_equal(fcntl(fd, F_SETLEASE, F_UNLCK), 0);
	return fd;
}

static void test_fs_writers_are_told(void **state)
{
	int fd, other;
	char *map;

	(void)state;
	put_text(in_scratch("written"), "text");
	fd = open_leasable(in_scratch("written"));
	assert_false(fs_has_writer(fd));
	other = open(in_scratch("written"), O_RDONLY | O_CLOEXEC);
	assert_false(fs_has_writer(fd));
	close(other);
	other = open(in_scratch("written"), O_RDWR | O_CLOEXEC);
	assert_true(fs_has_writer(fd));
	map = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	assert_true(map != MAP_FAILED);
	close(other);
	assert_true(fs_has_writer(fd));
	munmap(map, 4);
	assert_false(fs_has_writer(fd));
	close(fd);
}

/* Whoever opens it meanwhile notices nothing, nor do we. */
static void test_fs_asking_for_writers_disturbs_nobody(void **state)
{
	int pipefd[2], fd;
	char done = 0;
	pid_t pid;

	(void)state;
	put_text(in_scratch("written"), "text");
	fd = open_leasable(in_scratch("written"));
	assert_int_equal(pipe2(pipefd, O_CLOEXEC | O_NONBLOCK), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < rounds(3000); i++) {
			int other = open(in_scratch("written"), O_WRONLY | O_CLOEXEC);

			if (other < 0)
				_exit(1);
			close(other);
		}
		_exit(write(pipefd[1], "x", 1) != 1);
	}
	while (read(pipefd[0], &done, 1) < 0)
		(void)fs_has_writer(fd);
	expect_exit(pid, 60);
	assert_int_equal(done, 'x');
	assert_false(fs_has_writer(fd));
	close(fd);
	close(pipefd[0]);
	close(pipefd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fs_write_and_read_round_trip),
		cmocka_unit_test(test_fs_write_sets_modes_whatever_the_umask),
		cmocka_unit_test(test_fs_write_replaces_links_and_never_follows),
		cmocka_unit_test(test_fs_write_failing_leaves_the_old),
		cmocka_unit_test(test_fs_readers_see_old_or_new),
		cmocka_unit_test(test_fs_read_refuses_what_is_no_file),
		cmocka_unit_test(test_fs_fifo_does_not_hang),
		cmocka_unit_test(test_fs_temp_names_can_be_swept),
		cmocka_unit_test(test_fs_append_repairs_a_torn_line),
		cmocka_unit_test(test_fs_append_lines_of_processes_do_not_mix),
		cmocka_unit_test(test_fs_full_reads_bear_small_pieces),
		cmocka_unit_test(test_fs_writers_are_told),
		cmocka_unit_test(test_fs_asking_for_writers_disturbs_nobody),
	};

	return cmocka_run_group_tests_name("fs", tests, unit_setup, unit_teardown);
}
