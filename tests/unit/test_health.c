/* SPDX-License-Identifier: MIT */
#include "store/health.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "store/layout.h"
#include "store/shadow.h"
#include "unit.h"

/* The path of a new store of a worktree of that name, closed; freed by the caller. */
static char *make(const char *name)
{
	struct store *store = NULL;
	char *path;

	(void)mkdir(in_scratch("%s", name), 0755);
	if (store_open_or_create(&store, in_scratch("%s", name)))
		fail_msg("%s", ckpt_error_last());
	path = xstrdup(store->path);
	store_close(store);
	return path;
}

/* Open it: 0 or the failure; the sentences about what is wrong, a line each. With the lock it is repaired. */
static int reopen(struct strbuf *said, const char *name)
{
	struct store *store = NULL;
	int err = store_open(&store, in_scratch("%s", name));

	strbuf_reset(said);
	for (size_t i = 0; !err && i < store->damage.nr; i++)
		strbuf_addf(said, "%s\n", store->damage.items[i]);
	if (!err) {
		assert_int_equal(store_lock(store, 0), 0);
		store_close(store);
	}
	return err;
}

static void expect_sound(const char *name)
{
	struct strbuf said = STRBUF_INIT;

	assert_int_equal(reopen(&said, name), 0);
	assert_string_equal(said.buf, "");
	strbuf_release(&said);
}

/* The file becomes what it was, and that is said once. */
static void expect_mended(const char *name, const char *path, const char *file, const char *command)
{
	struct strbuf said = STRBUF_INIT, before = STRBUF_INIT, after = STRBUF_INIT;
	char *full = xstrfmt("%s/%s", path, file);

	get_bytes(&before, full);
	sh("f='%s'; %s", full, command);
	if (reopen(&said, name))
		fail_msg("%s after %s: %s", file, command, ckpt_error_last());
	if (!strstr(said.buf, file))
		fail_msg("nothing is said of '%s' after %s: %s", file, command, said.buf);
	get_bytes(&after, full);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.buf, after.buf, before.len);
	expect_sound(name);
	free(full);
	strbuf_release(&said);
	strbuf_release(&before);
	strbuf_release(&after);
}

static void test_health_files(void **state)
{
	static const char *const files[] = { "HEAD", "config", "info/attributes",
					     "checkpoint/version", "checkpoint/worktree" };
	static const char *const ways[] = {
		"rm \"$f\"",
		": >\"$f\"",
		"head -c 20 /dev/zero >\"$f\"",
		"s=$(stat -c %s \"$f\"); head -c \"$s\" /dev/zero >\"$f\"",
		"s=$(stat -c %s \"$f\"); test \"$s\" = 2 && echo x >\"$f\" || truncate -s $((s / "
		"2)) \"$f\"",
		"s=$(stat -c %s \"$f\"); test \"$s\" = 2 && echo x >\"$f\" || truncate -s $((s - "
		"2)) \"$f\"",
	};
	char *path = make("files");

	(void)state;
	expect_sound("files");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		for (size_t j = 0; j < ARRAY_SIZE(ways); j++)
			expect_mended("files", path, files[i], ways[j]);
	expect_mended("files", path, "HEAD", "echo garbage >\"$f\"");
	expect_mended("files", path, "HEAD", "printf 'ref: refs/heads/latest' >\"$f\"");
	expect_mended("files", path, "config",
		      "sed -i 's/worktree = .*/worktree = \"\\/x\"/' \"$f\"");
	expect_mended("files", path, "config", "sed -i /epositoryFormat/d \"$f\"");
	free(path);
}

/* What a user may do is left alone. */
static void test_health_leaves_edits_alone(void **state)
{
	char *path = make("edits");

	(void)state;
	sh("cd '%s'; git --git-dir=. config user.name x; git --git-dir=. config core.fileMode false; "
	   "cp config kept",
	   path);
	expect_sound("edits");
	sh("cmp '%s/config' '%s/kept'", path, path);
	sh("cd '%s'; echo '*.x' >>info/exclude; echo '*.y -diff' >>info/attributes", path);
	expect_sound("edits");
	sh("cd '%s'; printf 'mine' >info/exclude", path);
	expect_sound("edits");
	sh("cd '%s'; rm info/exclude", path);
	expect_sound("edits");
	sh("test ! -e '%s/info/exclude'", path);
	sh("cd '%s'; echo 0123456789012345678901234567890123456789 >HEAD", path);
	expect_sound("edits");
	free(path);
}

static void test_health_exclude(void **state)
{
	char *path = make("exclude");

	(void)state;
	expect_mended("exclude", path, "info/exclude", "head -c 30 /dev/zero >\"$f\"");
	/* A torn pattern would leave out what nobody named. */
	expect_mended("exclude", path, "info/exclude", "truncate -s -3 \"$f\"");
	free(path);
}

static void test_health_directories(void **state)
{
	char *path = make("dirs");

	(void)state;
	for (const char *const *dir = layout_dirs; *dir; dir++) {
		struct strbuf said = STRBUF_INIT;

		sh("rm -r '%s/%s'", path, *dir);
		assert_int_equal(reopen(&said, "dirs"), 0);
		assert_non_null(strstr(said.buf, *dir));
		for (const char *const *each = layout_dirs; *each; each++)
			sh("test -d '%s/%s'; test \"$(stat -c %%a '%s/%s')\" = 700", path, *each,
			   path, *each);
		expect_sound("dirs");
		strbuf_release(&said);
	}
	sh("git --git-dir='%s' fsck --strict", path);
	free(path);
}

/* A path that is whole but another one is never overwritten, whatever it begins with. */
static void test_health_other_worktrees(void **state)
{
	struct strbuf said = STRBUF_INIT;
	char *path = make("other");

	(void)state;
	sh("printf %%s '%s/other2' >'%s/checkpoint/worktree'", scratch, path);
	assert_int_equal(reopen(&said, "other"), CKPT_ERROR);
	/* Of a directory above, and the configuration says the same. */
	sh("printf %%s '%s' >'%s/checkpoint/worktree'; git config --file '%s/config' core.worktree "
	   "'%s'",
	   scratch, path, path, scratch);
	assert_int_equal(reopen(&said, "other"), CKPT_ERROR);
	sh("test \"$(cat '%s/checkpoint/worktree')\" = '%s'", path, scratch);
	strbuf_release(&said);
	free(path);
}

/* Of another format nothing is touched, whatever it looks like. */
static void test_health_other_formats(void **state)
{
	struct strbuf said = STRBUF_INIT;
	struct store *store = NULL;
	char *path = make("formats");

	(void)state;
	sh("cd '%s'; echo git-checkpoint 2 >checkpoint/version; rm HEAD; rm -r objects; echo x >objects", path);
	assert_int_equal(reopen(&said, "formats"), CKPT_ERROR);
	assert_int_equal(store_open_or_create(&store, in_scratch("formats")), CKPT_ERROR);
	sh("cd '%s'; test ! -e HEAD; test -f objects", path);
	strbuf_release(&said);
	free(path);
}

/* What stands in the place of ours is kept, and reading changes nothing. */
static void test_health_something_else(void **state)
{
	static const char *const ways[] = {
		"rm -r objects; : >objects",
		"rm -r objects/pack; : >objects/pack",
		"rm -r refs; : >refs",
		"rm -r refs/checkpoints; mkfifo refs/checkpoints",
		"rm -r checkpoint; : >checkpoint",
		"rm HEAD; mkdir HEAD",
		"rm config; mkdir config",
		"mkdir checkpoint/lock",
	};
	struct strbuf said = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct store *store = NULL;
		char name[32], *path;

		snprintf(name, sizeof(name), "broken%zu", i);
		path = make(name);
		sh("cd '%s'; rm -f checkpoint/lock; %s; find . | sort >'%s/list'", path, ways[i], scratch);
		assert_int_equal(store_open(&store, in_scratch("%s", name)), 0);
		assert_true(store->damage.nr > 0);
		store_close(store);
		sh("cd '%s'; find . | sort | cmp - '%s/list'", path, scratch);
		assert_int_equal(reopen(&said, name), 0);
		sh("test -n \"$(find '%s' -name '*.damaged')\"", path);
		expect_sound(name);
		free(path);
	}
	strbuf_release(&said);
}

/* Whatever is left of it: it is the place of this worktree's store. */
static void test_health_nothing_is_left(void **state)
{
	static const char *const ways[] = { "rm -r objects refs checkpoint", "find . -mindepth 1 -delete" };
	struct strbuf said = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		char name[32], *path;

		snprintf(name, sizeof(name), "empty%zu", i);
		path = make(name);
		sh("cd '%s'; %s", path, ways[i]);
		assert_int_equal(reopen(&said, name), 0);
		expect_sound(name);
		sh("git --git-dir='%s' fsck --strict", path);
		free(path);
	}
	strbuf_release(&said);
}

/* Trouble in looking is not damage: nothing is repaired for it. */
static void test_health_trouble_is_no_damage(void **state)
{
	struct store *store = NULL;
	char *path = make("trouble");

	(void)state;
	if (geteuid()) {
		sh("chmod 0 '%s/checkpoint'", path);
		assert_int_equal(store_open_or_create(&store, in_scratch("trouble")), CKPT_ERROR);
		sh("chmod 700 '%s/checkpoint'", path);
	}
	sh("mv '%s' moved; ln -s ../moved '%s'", path, path);
	assert_int_equal(store_open_or_create(&store, in_scratch("trouble")), CKPT_ERROR);
	assert_null(store);
	free(path);
}

/* Processes that repair at the same time end up in the same store. */
static void test_health_many_at_once(void **state)
{
	static const char *const ways[] = { "rm HEAD; : >config; rm -r refs",
					    "rm HEAD; mkdir HEAD" };
	enum { PROCESSES = 8 };

	(void)state;
	for (size_t way = 0; way < ARRAY_SIZE(ways); way++) {
		pid_t pids[PROCESSES];
		char name[32], *path;

		snprintf(name, sizeof(name), "many%zu", way);
		path = make(name);
		sh("cd '%s'; %s", path, ways[way]);
		fflush(NULL);
		for (int p = 0; p < PROCESSES; p++) {
			pids[p] = fork();
			if (!pids[p]) {
				struct store *store = NULL;

				if (store_open_or_create(&store, in_scratch("%s", name)) ||
				    store_lock(store, 30)) {
					fprintf(stderr, "%s\n", ckpt_error_last());
					_exit(1);
				}
				store_close(store);
				_exit(0);
			}
		}
		for (int p = 0; p < PROCESSES; p++)
			expect_exit(pids[p], 60);
		expect_sound(name);
		sh("test \"$(find '%s' -name '*.damaged' | wc -l)\" = %zu", path, way);
		sh("test -z \"$(find '%s' -name 'tmp_ckpt_*')\"", path);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_health_files),
		cmocka_unit_test(test_health_leaves_edits_alone),
		cmocka_unit_test(test_health_exclude),
		cmocka_unit_test(test_health_directories),
		cmocka_unit_test(test_health_other_worktrees),
		cmocka_unit_test(test_health_other_formats),
		cmocka_unit_test(test_health_something_else),
		cmocka_unit_test(test_health_nothing_is_left),
		cmocka_unit_test(test_health_trouble_is_no_damage),
		cmocka_unit_test(test_health_many_at_once),
	};

	return cmocka_run_group_tests_name("health", tests, unit_setup, unit_teardown);
}
