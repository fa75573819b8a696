/* SPDX-License-Identifier: MIT */
#include "base/proc.h"

#include "base/error.h"
#include "unit.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Writes what /proc would have of one process below <scratch>/proc. */
static void fake(pid_t pid, const char *name, pid_t parent, pid_t session, unsigned long long start,
		 const char *argv, size_t len)
{
	char text[512];

	sh("mkdir -p proc/%ld", (long)pid);
	snprintf(text, sizeof(text),
		 "%ld (%s) S %ld 7 %ld 34816 7 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %llu 9 9\n",
		 (long)pid, name, (long)parent, (long)session, start);
	put_text(in_scratch("proc/%ld/stat", (long)pid), text);
	put_bytes(in_scratch("proc/%ld/cmdline", (long)pid), argv, len);
}

static const char *root(void)
{
	static char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/proc", scratch);
	return path;
}

#define ARGV(text) text, sizeof(text)

static void test_proc_fields(void **state)
{
	struct proc proc;

	(void)state;
	fake(100, "git", 50, 40, 123456789012ull, ARGV("git\0reset\0--hard"));
	assert_int_equal(proc_read(&proc, root(), 100), 0);
	assert_int_equal(proc.pid, 100);
	assert_int_equal(proc.parent, 50);
	assert_int_equal(proc.session, 40);
	assert_true(proc.start == 123456789012ull);
	assert_string_equal(proc.name, "git");
	assert_int_equal(proc.argv.nr, 3);
	assert_string_equal(proc.argv.items[2], "--hard");
	proc_release(&proc);
}

static void test_proc_odd_names(void **state)
{
	static const char *const names[] = { "a b", ") S 1 1 1", "((", "", "x) (y", "\n" };
	struct proc proc;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fake(101, names[i], 51, 41, i + 1, ARGV("x"));
		assert_int_equal(proc_read(&proc, root(), 101), 0);
		assert_string_equal(proc.name, names[i]);
		assert_int_equal(proc.parent, 51);
		assert_true(proc.start == i + 1);
		proc_release(&proc);
	}
}

static void test_proc_odd_arguments(void **state)
{
	struct proc proc;

	(void)state;
	/* A kernel thread, or a zombie. */
	fake(102, "kthreadd", 0, 0, 1, "", 0);
	assert_int_equal(proc_read(&proc, root(), 102), 0);
	assert_int_equal(proc.argv.nr, 0);
	proc_release(&proc);
	/* Empty ones count; one that is not ended is one, too. */
	fake(102, "x", 0, 0, 1, "git\0\0-m\0a\nb\0no end", 17);
	assert_int_equal(proc_read(&proc, root(), 102), 0);
	assert_int_equal(proc.argv.nr, 5);
	assert_string_equal(proc.argv.items[1], "");
	assert_string_equal(proc.argv.items[3], "a\nb");
	assert_string_equal(proc.argv.items[4], "no en");
	proc_release(&proc);
}

static void test_proc_very_long_arguments(void **state)
{
	size_t len = 1 << 20;
	char *many = malloc(len);
	struct proc proc;

	(void)state;
	assert_non_null(many);
	memset(many, 'x', len);
	memcpy(many, ARGV("git\0rm"));
	fake(103, "git", 1, 1, 1, many, len);
	assert_int_equal(proc_read(&proc, root(), 103), 0);
	assert_string_equal(proc.argv.items[1], "rm");
	assert_int_equal(proc.argv.nr, 3);
	proc_release(&proc);
	free(many);
}

static void test_proc_nonsense(void **state)
{
	static const char *const texts[] = { "", "1", "1 (x", "1 (x) S", "1 (x) S a b c", ")(" };
	struct proc proc;

	(void)state;
	assert_int_equal(proc_read(&proc, root(), 999), CKPT_ENOTFOUND);
	proc_release(&proc);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		sh("mkdir -p proc/104");
		put_text(in_scratch("proc/104/stat"), texts[i]);
		assert_int_equal(proc_read(&proc, root(), 104), CKPT_ERROR);
		proc_release(&proc);
	}
}

static void test_proc_ancestors_in_order(void **state)
{
	struct proc_list list;

	(void)state;
	fake(1, "init", 0, 1, 1, ARGV("init"));
	fake(200, "bash", 1, 200, 5, ARGV("-bash"));
	fake(201, "git", 200, 200, 6, ARGV("git\0pull"));
	fake(202, "git", 201, 200, 7, ARGV("git\0merge"));
	fake(203, "self", 202, 200, 8, ARGV("self"));
	proc_ancestors(&list, root(), 203);
	assert_int_equal(list.nr, 4);
	assert_int_equal(list.items[0].pid, 202);
	assert_int_equal(list.items[1].pid, 201);
	assert_int_equal(list.items[2].pid, 200);
	assert_int_equal(list.items[3].pid, 1);
	proc_list_release(&list);
	/* What cannot be looked at ends it. */
	sh("rm -r proc/200");
	proc_ancestors(&list, root(), 203);
	assert_int_equal(list.nr, 2);
	proc_list_release(&list);
}

static void test_proc_ancestors_end(void **state)
{
	struct proc_list list;

	(void)state;
	proc_ancestors(&list, root(), 998);
	assert_int_equal(list.nr, 0);
	proc_list_release(&list);
	proc_ancestors(&list, in_scratch("nowhere"), 1);
	assert_int_equal(list.nr, 0);
	proc_list_release(&list);
	/* Pids that came round while we looked. */
	fake(300, "a", 301, 1, 1, ARGV("a"));
	fake(301, "b", 300, 1, 1, ARGV("b"));
	proc_ancestors(&list, root(), 300);
	assert_true(list.nr > 0 && list.nr < 1000);
	proc_list_release(&list);
}

static void test_proc_alive(void **state)
{
	(void)state;
	fake(400, "x", 1, 1, 77, ARGV("x"));
	assert_true(proc_alive(root(), 400, 77));
	assert_false(proc_alive(root(), 400, 78));
	assert_false(proc_alive(root(), 997, 77));
}

static void test_proc_really(void **state)
{
	struct proc self, parent;
	struct proc_list list;

	(void)state;
	assert_int_equal(proc_read(&self, "/proc", getpid()), 0);
	assert_int_equal(self.parent, getppid());
	assert_int_equal(self.session, getsid(0));
	assert_true(self.argv.nr >= 1);
	assert_true(proc_alive("/proc", getpid(), self.start));
	assert_false(proc_alive("/proc", getpid(), self.start + 1));
	proc_ancestors(&list, "/proc", getpid());
	if (getppid() > 0 && !proc_read(&parent, "/proc", getppid())) {
		assert_true(list.nr >= 1);
		assert_int_equal(list.items[0].pid, getppid());
		assert_true(list.items[0].start == parent.start);
		proc_release(&parent);
	}
	proc_list_release(&list);
	proc_release(&self);
}

/* <scratch>/proc/locks with `pid` as the holder of "locked"; other locks come before it. */
static void fake_lock(pid_t pid)
{
	struct stat st;
	char text[512];

	put_text(in_scratch("locked"), "");
	assert_int_equal(stat(in_scratch("locked"), &st), 0);
	snprintf(text, sizeof(text),
		 "1: POSIX  ADVISORY  WRITE 1 %02x:%02x:%llu 0 EOF\n"
		 "2: FLOCK  ADVISORY  WRITE 2 %02x:%02x:%llu 0 EOF\n"
		 "3: FLOCK  ADVISORY  READ  3 %02x:%02x:%llu 0 EOF\n"
		 "4: FLOCK  ADVISORY  WRITE %ld %02x:%02x:%llu 0 EOF\n",
		 major(st.st_dev), minor(st.st_dev), (unsigned long long)st.st_ino,
		 major(st.st_dev), minor(st.st_dev), (unsigned long long)st.st_ino + 1,
		 major(st.st_dev), minor(st.st_dev), (unsigned long long)st.st_ino,
		 (long)pid, major(st.st_dev), minor(st.st_dev), (unsigned long long)st.st_ino);
	put_text(in_scratch("proc/locks"), text);
}

static void expect_holder(const char *expected)
{
	int fd = open(in_scratch("locked"), O_RDONLY | O_CLOEXEC);
	char *holder = proc_lock_holder(root(), fd);

	assert_string_equal(holder, expected);
	free(holder);
	close(fd);
}

static void test_proc_lock_holder(void **state)
{
	(void)state;
	fake(4711, "git-checkpoint", 1, 1, 1, ARGV("/usr/bin/git-checkpoint\0save\0-m\0private"));
	fake_lock(4711);
	expect_holder("process 4711 (git-checkpoint save)");
	fake(4711, "git-checkpoint", 1, 1, 1, ARGV("git-checkpoint\0-C\0/x\ny\0gc\0-q"));
	expect_holder("process 4711 (git-checkpoint -C /x?y gc)");
	/* a zombie has no arguments */
	fake(4711, "git-checkpoint", 1, 1, 1, "", 0);
	expect_holder("process 4711 (git-checkpoint)");
	fake(4711, "x", 1, 1, 1,
	     ARGV("x\0-0123456789012345678901234567890123456789012345678901234567890123456789"));
	expect_holder("process 4711 (x -012345678901234567890123456789012345678901234567890123456...)");
	/* gone by now, or in another container */
	fake_lock(4712);
	expect_holder("process 4712");
	fake_lock(0);
	expect_holder("another process");
	sh("rm proc/locks");
	expect_holder("another process");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proc_fields),
		cmocka_unit_test(test_proc_odd_names),
		cmocka_unit_test(test_proc_odd_arguments),
		cmocka_unit_test(test_proc_very_long_arguments),
		cmocka_unit_test(test_proc_nonsense),
		cmocka_unit_test(test_proc_ancestors_in_order),
		cmocka_unit_test(test_proc_ancestors_end),
		cmocka_unit_test(test_proc_alive),
		cmocka_unit_test(test_proc_really),
		cmocka_unit_test(test_proc_lock_holder),
	};

	return cmocka_run_group_tests_name("proc", tests, unit_setup, unit_teardown);
}
