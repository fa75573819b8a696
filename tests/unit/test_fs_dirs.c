/* SPDX-License-Identifier: MIT */
/* Directories made, measured, renamed, synced and removed. */
#include "base/fs.h"

#include "base/error.h"
#include "unit.h"

#include <errno.h>
#include <sys/resource.h>

static void test_fs_mkdir_p(void **state)
{
	mode_t old;

	(void)state;
	old = umask(0777);
	assert_int_equal(fs_mkdir_p(in_scratch("p/q//r/"), 0750), 0);
	umask(old);
	assert_int_equal(mode_of(in_scratch("p")), 0750);
	assert_int_equal(mode_of(in_scratch("p/q/r")), 0750);
	/* What is there keeps its mode. */
	assert_int_equal(fs_mkdir_p(in_scratch("p/q/s"), 0700), 0);
	assert_int_equal(mode_of(in_scratch("p/q")), 0750);
	assert_int_equal(mode_of(in_scratch("p/q/s")), 0700);
	assert_int_equal(fs_mkdir_p("p/relative/too", 0700), 0);
	assert_true(fs_is_dir(in_scratch("p/relative/too")));
	put_text(in_scratch("p/file"), "x");
	assert_int_not_equal(fs_mkdir_p(in_scratch("p/file"), 0700), 0);
	assert_int_not_equal(fs_mkdir_p(in_scratch("p/file/x"), 0700), 0);
	assert_int_equal(fs_mkdir_p("/", 0700), 0);
	assert_false(fs_is_dir(in_scratch("p/file")));
	sh("ln -s q p/link");
	assert_true(fs_is_dir(in_scratch("p/link")));
	assert_int_equal(fs_mkdir_p(in_scratch("p/link/through"), 0700), 0);
}

static bool is_short(const char *name)
{
	return strlen(name) < 3;
}

static void test_fs_names(void **state)
{
	struct strlist names = STRLIST_INIT;
	int fd;

	(void)state;
	sh("mkdir -p names/sub names/none; touch names/a names/.b names/..c names/long; ln -s names to");
	assert_int_equal(fs_names(&names, AT_FDCWD, in_scratch("names"), O_NOFOLLOW, is_short), 0);
	strlist_sort_unique(&names);
	assert_int_equal(names.nr, 2);
	assert_string_equal(names.items[0], ".b");
	assert_string_equal(names.items[1], "a");
	/* Appended; by a descriptor, which is at its beginning afterwards too. */
	fd = open(in_scratch("names"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(fs_names(&names, fd, ".", 0, NULL), 0);
		assert_int_equal(names.nr, 2 + i * 6);
	}
	assert_int_equal(fs_names(&names, fd, "none", 0, NULL), 0);
	assert_int_equal(names.nr, 14);
	/* Links are followed unless asked not to be; what is not a directory fails. */
	assert_int_equal(fs_names(&names, AT_FDCWD, in_scratch("to"), 0, is_short), 0);
	assert_int_equal(names.nr, 16);
	assert_int_equal(fs_names(&names, AT_FDCWD, in_scratch("to"), O_NOFOLLOW, NULL), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(fs_names(&names, fd, "a", 0, NULL), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(fs_names(&names, fd, "gone", 0, NULL), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(names.nr, 16);
	strlist_release(&names);
	close(fd);
}

static void test_fs_remove_tree_does_not_follow_links(void **state)
{
	(void)state;
	sh("mkdir -p outside/deep; echo x >outside/deep/file; mkdir -p gone/a/b; "
	   "ln -s ../outside gone/link; ln -s ../../outside/deep/file gone/a/f; "
	   "echo y >gone/a/b/file; chmod 400 gone/a/b/file");
	assert_int_equal(fs_remove_tree(AT_FDCWD, "gone"), 0);
	assert_false(is_there(in_scratch("gone")));
	assert_true(is_there(in_scratch("outside/deep/file")));
	/* A link itself goes, what it points at stays; nothing there is no failure. */
	sh("ln -s outside tolink");
	assert_int_equal(fs_remove_tree(AT_FDCWD, "tolink"), 0);
	assert_false(is_there(in_scratch("tolink")));
	assert_true(is_there(in_scratch("outside/deep/file")));
	assert_int_equal(fs_remove_tree(AT_FDCWD, "never-was"), 0);
	assert_int_equal(fs_remove_tree(AT_FDCWD, "outside/deep/file"), 0);
	assert_false(is_there(in_scratch("outside/deep/file")));
}

/* Files and directories beside each other at every level, more of these than descriptors. */
static void test_fs_remove_tree_of_any_depth(void **state)
{
	struct rlimit usual, small;
	int dirfd = open(in_scratch("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	(void)state;
	sh("mkdir deep && cd deep && perl -e 'for (1 .. 2000) { for my $n (qw(a c)) { open my $f, q(>), "
	   "$n; mkdir qq($n.d); } mkdir q(b); chmod 0500, q(a.d); chdir q(b) or die }'");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	small = usual;
	small.rlim_cur = 32;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	rc = fs_remove_tree(dirfd, "deep");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
	assert_int_equal(rc, 0);
	assert_false(is_there(in_scratch("deep")));
	close(dirfd);
}

static void test_fs_disk_usage_equals_du(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	sh("mkdir -p du/a/b; head -c 100000 /dev/zero >du/a/x; head -c 10 /dev/zero >du/a/b/y; "
	   "ln -s /usr du/link");
	ask(&out, "du -s --block-size=1 du | cut -f1");
	assert_int_equal(fs_disk_usage(AT_FDCWD, "du"), strtoull(out.buf, NULL, 10));
	assert_int_equal(fs_disk_usage(AT_FDCWD, "none"), 0);
	strbuf_release(&out);
}

static void test_fs_rename_and_sync_name_what_failed(void **state)
{
	(void)state;
	assert_int_equal(fs_rename(AT_FDCWD, "no-such", "to", ".", FS_FAST), CKPT_ENOTFOUND);
	assert_non_null(strstr(ckpt_error_last(), "'to'"));
	assert_int_equal(fs_sync_dir(AT_FDCWD, "no-such"), CKPT_ENOTFOUND);
	put_text(in_scratch("from"), "x");
	assert_int_equal(fs_rename(AT_FDCWD, "from", "to", ".", FS_DURABLE), 0);
	assert_true(is_there(in_scratch("to")));
	assert_false(is_there(in_scratch("from")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fs_mkdir_p),
		cmocka_unit_test(test_fs_names),
		cmocka_unit_test(test_fs_remove_tree_does_not_follow_links),
		cmocka_unit_test(test_fs_remove_tree_of_any_depth),
		cmocka_unit_test(test_fs_disk_usage_equals_du),
		cmocka_unit_test(test_fs_rename_and_sync_name_what_failed),
	};

	return cmocka_run_group_tests_name("fs: directories", tests, unit_setup, unit_teardown);
}
