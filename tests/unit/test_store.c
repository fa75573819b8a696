/* SPDX-License-Identifier: MIT */
#include "store/shadow.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "store/refs.h"
#include "unit.h"

#include <dirent.h>

static unsigned count_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A new store of a worktree of that name. */
static struct store *make(const char *name)
{
	struct store *store = NULL;

	(void)mkdir(in_scratch("%s", name), 0755);
	if (store_open_or_create(&store, in_scratch("%s", name)))
		fail_msg("%s", ckpt_error_last());
	return store;
}

/* ---- where ---- */

static void test_store_key_is_a_hash_of_the_path(void **state)
{
	struct strbuf out = STRBUF_INIT;
	char key[STORE_KEY_SIZE], other[STORE_KEY_SIZE];

	(void)state;
	store_key(key, "/some/where");
	ask(&out, "printf /some/where | sha256sum | cut -c 1-16");
	strbuf_trim(&out);
	assert_string_equal(key, out.buf);
	store_key(other, "/some/where/");
	assert_string_not_equal(key, other);
	strbuf_release(&out);
}

/* In a child, since the environment is scrubbed once: what store_home() answers. */
static void check_home(const char *own, const char *xdg, const char *home, const char *expect)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		char *got = NULL;
		int err;

		own ? setenv("GIT_CHECKPOINT_HOME", own, 1) : unsetenv("GIT_CHECKPOINT_HOME");
		xdg ? setenv("XDG_STATE_HOME", xdg, 1) : unsetenv("XDG_STATE_HOME");
		home ? setenv("HOME", home, 1) : unsetenv("HOME");
		env_scrub();
		err = store_home(&got);
		if (!expect)
			_exit(err == CKPT_ERROR && !got ? 0 : 1);
		if (err || strcmp(got, expect)) {
			fprintf(stderr, "%s, not %s\n", got ? got : ckpt_error_last(), expect);
			_exit(1);
		}
		_exit(0);
	}
	expect_exit(pid, 10);
}

static void test_store_home(void **state)
{
	(void)state;
	check_home("/own", "/xdg", "/home/u", "/own");
	check_home("", "/xdg", "/home/u", "/xdg/git-checkpoint");
	check_home(NULL, "/xdg", "/home/u", "/xdg/git-checkpoint");
	check_home(NULL, "relative", "/home/u", "/home/u/.local/state/git-checkpoint");
	check_home(NULL, "", "/home/u", "/home/u/.local/state/git-checkpoint");
	check_home(NULL, NULL, "/home/u", "/home/u/.local/state/git-checkpoint");
	check_home(NULL, NULL, "u", NULL);
	check_home(NULL, NULL, NULL, NULL);
	check_home("/a/../b//c/.", NULL, NULL, "/b/c");
	/* It would be another one in each directory. */
	check_home("rel/x", "/xdg", "/home/u", NULL);
}

/* ---- making ---- */

static void test_store_is_private_whatever_the_umask(void **state)
{
	mode_t old = umask(0);
	struct store *store = make("private");

	(void)state;
	umask(old);
	sh("test -z \"$(find '%s' -perm /077)\"; test \"$(stat -c %%a '%s')\" = 700", store->path,
	   store->path);
	store_close(store);
	/* One that was opened to others is closed again. */
	sh("chmod 755 git-checkpoint/*");
	store = make("private");
	assert_int_equal(store_lock(store, 0), 0);
	sh("test \"$(stat -c %%a '%s')\" = 700", store->path);
	store_close(store);
}

static void test_store_git_reads_it(void **state)
{
	struct store *store = make("readable");

	(void)state;
	sh("git --git-dir='%s' fsck --strict; cd readable; echo x >f; "
	   "test \"$(git --git-dir='%s' status --porcelain)\" = '?? f'; "
	   "test \"$(git --git-dir='%s' config core.worktree)\" = '%s/readable'",
	   store->path, store->path, store->path, scratch);
	store_close(store);
}

/* Any path: git finds the worktree in the store's configuration, and we find the store again. */
static void test_store_of_worktrees_with_odd_names(void **state)
{
	static const char *const names[] = { "a b",    "quote\"d", "back\\slash", "new\nline",
					     "#hash",  ";semi",	   "tab\there",	  "end ",
					     " begin", "\xff\xfe", "a=b",	  "[x]",
					     "\\",     "$(id)" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names) + 10; i++) {
		struct strbuf path = STRBUF_INIT, got = STRBUF_INIT;
		struct store *store = NULL;
		char name[20];

		if (i < ARRAY_SIZE(names))
			strcpy(name, names[i]);
		else
			rnd_name(name, 1 + rnd(sizeof(name) - 2));
		strbuf_addf(&path, "%s/%s", scratch, name);
		(void)mkdir(path.buf, 0755);
		assert_int_equal(store_open_or_create(&store, path.buf), 0);
		assert_string_equal(store->worktree, path.buf);
		ask(&got, "git config -z --file '%s/config' core.worktree", store->path);
		assert_string_equal(got.buf, path.buf);
		store_close(store);
		assert_int_equal(store_open(&store, path.buf), 0);
		store_close(store);
		strbuf_release(&path);
		strbuf_release(&got);
	}
}

static void test_store_made_by_many_at_once_is_one(void **state)
{
	enum { PROCESSES = 8, ROUNDS = 4 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		pid_t pids[PROCESSES];
		int barrier[2];
		char name[32];

		snprintf(name, sizeof(name), "shared%d", round);
		assert_int_equal(mkdir(in_scratch("%s", name), 0755), 0);
		assert_int_equal(pipe(barrier), 0);
		fflush(NULL);
		for (int p = 0; p < PROCESSES; p++) {
			pids[p] = fork();
			if (!pids[p]) {
				struct store *store = NULL;
				struct oid oid = { { (unsigned char)(1 + p) } };
				char id[CKPT_ID_SIZE], byte;

				close(barrier[1]);
				if (read(barrier[0], &byte, 1))
					_exit(9); /* begins when the parent closes it */
				if (store_open_or_create(&store, in_scratch("%s", name))) {
					fprintf(stderr, "%s\n", ckpt_error_last());
					_exit(1);
				}
				snprintf(id, sizeof(id), "chk_20260101_000000_%06x", p);
				_exit(refs_create(store, id, &oid) ? 2 : 0);
			}
		}
		close(barrier[0]);
		close(barrier[1]);
		for (int p = 0; p < PROCESSES; p++)
			expect_exit(pids[p], 30);
		{
			struct store *store = make(name);
			struct ref_list refs;

			/* All wrote into the same one. */
			assert_int_equal(refs_list(&refs, store), 0);
			assert_int_equal(refs.nr, PROCESSES);
			refs_release(&refs);
			store_close(store);
		}
	}
	sh("test -z \"$(find git-checkpoint -name 'tmp_ckpt_*')\"");
}

static void test_store_open_makes_none(void **state)
{
	struct store *store = NULL;
	char *home = NULL;

	(void)state;
	assert_int_equal(store_open(&store, "/not/there/yet"), CKPT_ENOTFOUND);
	assert_null(store);
	assert_int_equal(store_home(&home), 0);
	assert_false(store_exists(home, "/not/there/yet"));
	/* One without a checkpoint in it is as good as none. */
	store = make("counted");
	assert_false(store_exists(home, store->worktree));
	{
		struct oid oid = { { 1 } };

		assert_int_equal(refs_create(store, "chk_20260101_000000_000001", &oid), 0);
	}
	assert_true(store_exists(home, store->worktree));
	store_close(store);
	store_close(NULL);
	free(home);
}

/* ---- refusing ---- */

static void expect_refused(const char *name, int code, const char *word)
{
	struct store *store = NULL;
	unsigned files = count_open_files();

	assert_int_equal(store_open(&store, in_scratch("%s", name)), code);
	if (!strstr(ckpt_error_last(), word))
		fail_msg("'%s' is not in: %s", word, ckpt_error_last());
	assert_int_equal(store_open_or_create(&store, in_scratch("%s", name)), code);
	assert_null(store);
	assert_int_equal(count_open_files(), files);
}

static void test_store_of_another_worktree_is_refused(void **state)
{
	struct store *store = make("victim");
	char *path = xstrdup(store->path);

	(void)state;
	store_close(store);
	sh("printf %%s '%s/victim2' >'%s/checkpoint/worktree'", scratch, path);
	expect_refused("victim", CKPT_ERROR, "victim2");
	sh("printf %%s '%s/victim/' >'%s/checkpoint/worktree'", scratch, path);
	expect_refused("victim", CKPT_ERROR, "belongs to");
	free(path);
}

static void test_store_of_another_format_is_refused(void **state)
{
	struct store *store = make("format");
	char *path = xstrdup(store->path);

	(void)state;
	store_close(store);
	sh("echo git-checkpoint 2 >'%s/checkpoint/version'", path);
	expect_refused("format", CKPT_ERROR, "format '2'");
	sh("echo 1 >'%s/checkpoint/version'", path);
	expect_refused("format", CKPT_ERROR, "export --bundle");
	sh("echo git-checkpoint 1 >'%s/checkpoint/version'", path);
	store = make("format");
	store_close(store);
	free(path);
}

static void test_store_behind_a_link_is_refused(void **state)
{
	struct store *store = make("linked");
	char *path = xstrdup(store->path);

	(void)state;
	store_close(store);
	sh("mv '%s' moved; ln -s ../moved '%s'", path, path);
	expect_refused("linked", CKPT_ERROR, "unable to open");
	free(path);
}

/* ---- the lock ---- */

/* A process that takes the lock, says so, and holds it until it is told or killed. */
static pid_t hold(const char *name, int *release_out)
{
	int ready[2], release[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(release), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct store *store = NULL;

		close(release[1]);
		if (store_open(&store, in_scratch("%s", name)) || store_lock(store, 0))
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(2);
		(void)!read(release[0], &byte, 1);
		store_close(store);
		_exit(0);
	}
	close(ready[1]);
	close(release[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*release_out = release[1];
	return pid;
}

static void test_store_lock_excludes_others(void **state)
{
	struct store *store = make("locked");
	unsigned files;
	double start;
	int release;
	pid_t pid;

	(void)state;
	pid = hold("locked", &release);
	files = count_open_files();
	start = clock_monotonic();
	assert_int_equal(store_lock(store, 0), CKPT_ELOCKED);
	assert_true(clock_monotonic() - start < 0.9);
	assert_non_null(strstr(ckpt_error_last(), "is using the checkpoints of"));
	/* Not held, and nothing left open, however often it is tried. */
	for (int i = 0; i < 5; i++) {
		assert_int_equal(store_lock(store, 0), CKPT_ELOCKED);
		assert_int_equal(store->lockfd, -1);
	}
	assert_int_equal(count_open_files(), files);
	start = clock_monotonic();
	assert_int_equal(store_lock(store, 1), CKPT_ELOCKED);
	assert_true(clock_monotonic() - start >= 0.99);
	close(release);
	expect_exit(pid, 10);
	assert_int_equal(store_lock(store, 0), 0);
	assert_true(store->lockfd >= 0);
	store_unlock(store);
	assert_int_equal(store->lockfd, -1);
	store_unlock(store);
	assert_int_equal(store_lock(store, 0), 0);
	store_close(store);
}

static void test_store_lock_is_waited_for(void **state)
{
	struct store *store = make("waited");
	double start = clock_monotonic();
	int release;
	pid_t holder = hold("waited", &release), closer;

	(void)state;
	closer = fork();
	if (!closer) {
		usleep(200000);
		kill(holder, SIGKILL); /* the dead hold nothing */
		_exit(0);
	}
	assert_int_equal(store_lock(store, 20), 0);
	assert_true(clock_monotonic() - start >= 0.19);
	assert_true(clock_monotonic() - start < 10);
	expect_exit(closer, 10);
	waitpid(holder, NULL, 0);
	close(release);
	store_close(store);
}

static void test_store_lock_sweeps_what_the_dead_left(void **state)
{
	struct store *store = make("swept");

	(void)state;
	sh("cd '%s'; touch objects/pack/tmp_ckpt_0000000000000001 checkpoint/tmp_ckpt_0000000000000002 objects/pack/pack-x.pack",
	   store->path);
	assert_int_equal(store_lock(store, 0), 0);
	sh("cd '%s'; test -z \"$(find . -name 'tmp_ckpt_*')\"; test -e objects/pack/pack-x.pack",
	   store->path);
	store_close(store);
}

/* Many processes that count in a file: none gets in between another's reading and writing. */
static void test_store_lock_serializes(void **state)
{
	enum { PROCESSES = 6, TURNS = 25 };
	struct strbuf out = STRBUF_INIT;
	pid_t pids[PROCESSES];

	(void)state;
	store_close(make("serial"));
	put_text(in_scratch("counter"), "0");
	fflush(NULL);
	for (int p = 0; p < PROCESSES; p++) {
		pids[p] = fork();
		if (!pids[p]) {
			for (int i = 0; i < TURNS; i++) {
				struct store *store = NULL;
				struct strbuf text = STRBUF_INIT;
				char next[16];

				if (store_open(&store, in_scratch("serial")) ||
				    store_lock(store, 60) ||
				    fs_read_file(&text, AT_FDCWD, "counter"))
					_exit(1);
				snprintf(next, sizeof(next), "%d", atoi(text.buf) + 1);
				if (fs_write_file(AT_FDCWD, "counter", next, strlen(next), 0600,
						  FS_FAST))
					_exit(2);
				store_close(store);
				strbuf_release(&text);
			}
			_exit(0);
		}
	}
	for (int p = 0; p < PROCESSES; p++)
		expect_exit(pids[p], 60);
	get_bytes(&out, in_scratch("counter"));
	assert_int_equal(atoi(out.buf), PROCESSES * TURNS);
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store_key_is_a_hash_of_the_path),
		cmocka_unit_test(test_store_home),
		cmocka_unit_test(test_store_is_private_whatever_the_umask),
		cmocka_unit_test(test_store_git_reads_it),
		cmocka_unit_test(test_store_of_worktrees_with_odd_names),
		cmocka_unit_test(test_store_made_by_many_at_once_is_one),
		cmocka_unit_test(test_store_open_makes_none),
		cmocka_unit_test(test_store_of_another_worktree_is_refused),
		cmocka_unit_test(test_store_of_another_format_is_refused),
		cmocka_unit_test(test_store_behind_a_link_is_refused),
		cmocka_unit_test(test_store_lock_excludes_others),
		cmocka_unit_test(test_store_lock_is_waited_for),
		cmocka_unit_test(test_store_lock_sweeps_what_the_dead_left),
		cmocka_unit_test(test_store_lock_serializes),
	};

	return cmocka_run_group_tests_name("store", tests, unit_setup, unit_teardown);
}
