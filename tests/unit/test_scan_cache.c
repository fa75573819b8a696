/* SPDX-License-Identifier: MIT */
#include "tree/scan.h"

#include "base/alloc.h"
#include "git/repo.h"
#include "store/ingest.h"
#include "store/ingest.h"
#include "tree/statcache.h"
#include "unit.h"

#include "scanprobe.h"

/* Scans with the stat cache of an earlier one. */

/*
 * The promise of the cache: with it everything comes out as without it, however
 * soon a change follows the scan that the cache was written from.
 */
static void test_scan_with_cache_equals_scan_without(void **state)
{
	unsigned saved = 0;

	(void)state;
	for (int seed = 1; seed <= 3; seed++) {
		char name[32];

		snprintf(name, sizeof(name), "cached%d", seed);
		sh("'%s' %s --seed %d --files 120 --dirs 30 %s", helper("mktree"),
		   seed % 2 ? "--odd" : "", seed, name);
		for (int round = 0; round < 12; round++) {
			struct strbuf fresh = STRBUF_INIT, with = STRBUF_INIT;
			struct ingest_result read_fresh = { 0 }, read_with = { 0 };
			struct statcache *cache = round ? statcache_open(AT_FDCWD, "cache") : NULL;
			struct scan *scan;

			if (round)
				assert_non_null(cache);
			/* Some rounds with time for the ticks to pass, some without. */
			if (round % 3 == 0)
				usleep(30000);
			if (round % 4 != 3)
				sh("'%s' --damage --seed %d --edits %d %s", helper("mktree"),
				   seed * 100 + round, 1 + round, name);
			scan = capture(&with, name, cache, &read_with);
			scan_free(capture(&fresh, name, NULL, &read_fresh));
			assert_string_equal(with.buf, fresh.buf);
			assert_true(read_with.files <= read_fresh.files);
			saved += (unsigned)(read_fresh.files - read_with.files);
			assert_int_equal(write_cache(scan), 0);
			scan_free(scan);
			statcache_close(cache);
			strbuf_release(&fresh);
			strbuf_release(&with);
		}
	}
	/* And it is of use. */
	assert_true(saved > 1000);
}

static void test_scan_with_cache_reads_only_what_changed(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct ingest_result read = { 0 };
	struct statcache *cache;
	struct scan *scan;

	(void)state;
	sh("'%s' --seed 9 --files 200 --dirs 30 quiet", helper("mktree"));
	usleep(50000);
	scan_free(capture(&text, "quiet", NULL, &read));
	assert_int_equal(read.files, 200);
	scan = capture(&text, "quiet", NULL, &read);
	assert_int_equal(write_cache(scan), 0);
	scan_free(scan);

	cache = statcache_open(AT_FDCWD, "cache");
	scan = capture(&text, "quiet", cache, &read);
	assert_int_equal(read.files, 0);
	assert_true(scan->root->known);
	assert_false(scan->dir_modes_changed);
	scan_free(scan);

	sh("f=$(find quiet -type f | sort | head -n 1); echo more >>\"$f\"; "
	   "chmod 700 \"$(find quiet -mindepth 1 -type d | sort | tail -n 1)\"");
	scan = capture(&text, "quiet", cache, &read);
	assert_int_equal(read.files, 1);
	assert_true(scan->dir_modes_changed);
	scan_free(scan);
	statcache_close(cache);
	strbuf_release(&text);
}

/*
 * What a rule leaves out today may be tracked tomorrow, and no time of any
 * directory shows it. Nor are lists of skipped paths allowed to forget.
 */
static void test_scan_with_cache_sees_changes_of_the_index(void **state)
{
	static const char *const steps[] = {
		"true",
		"git add -f d/ignored.o",
		"git add -f node_modules/p/f",
		"git rm -q --cached d/ignored.o",
		"git add -f d/.env",
		"git rm -q --cached d/.env node_modules/p/f",
		"echo '*.c' >>.git/info/exclude",
		"git add -f d/a.c",
		"echo x.txt >>.git/info/exclude",
		"echo y.txt >>.gitignore",
		"echo '!y.txt' >>.gitignore",
	};

	(void)state;
	sh("git init -q indexed; cd indexed; mkdir -p d node_modules/p e plain/x plain/y; "
	   "touch plain/x/x.txt plain/y/y.txt; echo '*.o' >.gitignore; "
	   "touch d/ignored.o d/a.c d/.env node_modules/p/f e/x; mkfifo e/fifo; git add d/a.c; git "
	   "rm -q --cached d/a.c");
	assert_int_equal(repo_open_at(&in_repo, in_scratch("indexed")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct strbuf fresh = STRBUF_INIT, with = STRBUF_INIT;
		struct statcache *cache = i ? statcache_open(AT_FDCWD, "cache") : NULL;
		struct ingest_result read = { 0 };
		struct scan *scans[2] = { NULL, NULL };

		sh("cd indexed; %s", steps[i]);
		for (int s = 0; s < 2; s++) {
			struct ingest_opts ingest = { .threads = 1 };

			assert_int_equal(scan_in(&scans[s], "indexed",
						 (struct scan_opts){ .threads = 2,
								     .cache = s ? cache : NULL },
						 false),
					 0);
			ingest.scan = scans[s];
			assert_int_equal(ingest_run(&read, &ingest), 0);
			assert_int_equal(ingest_trees(scans[s]->root, NULL, 1), 0);
			describe(s ? &with : &fresh, scans[s]->root, true);
			describe_lists(s ? &with : &fresh, scans[s]);
		}
		if (strcmp(with.buf, fresh.buf))
			fail_msg("after '%s' with the cache:\n%swithout:\n%s", steps[i], with.buf,
				 fresh.buf);
		/* Old enough to be trusted from now on. */
		usleep(30000);
		scan_free(scans[0]);
		scan_free(scans[1]);
		assert_int_equal(scan_in(&scans[0], "indexed",
					 (struct scan_opts){ .threads = 1, .cache = cache }, false),
				 0);
		assert_int_equal(ingest_run(&read, &(struct ingest_opts){ .threads = 1,
									  .scan = scans[0] }),
				 0);
		assert_int_equal(ingest_trees(scans[0]->root, NULL, 1), 0);
		assert_int_equal(write_cache(scans[0]), 0);
		scan_free(scans[0]);
		statcache_close(cache);
		strbuf_release(&fresh);
		strbuf_release(&with);
	}
	repo_free(in_repo);
	in_repo = NULL;
}

/* What is younger than a tick is marked, in the file's entry and in the directory's listing. */
static void test_scan_marks_what_is_too_young(void **state)
{
	struct ingest_result read = { 0 };
	struct strbuf text = STRBUF_INIT;
	struct statcache *cache;
	struct wt_entry *entry;
	struct scan *scan;

	(void)state;
	sh("mkdir -p young/d; touch young/d/old; ln -s x young/d/oldlink");
	usleep(60000);
	scan = capture(&text, "young", NULL, &read);
	entry = &wt_entries(scan->root)[0];
	assert_false(wt_entries(entry->dir)[0].flags & WT_RACY);
	assert_false(wt_entries(entry->dir)[1].flags & WT_RACY);
	assert_true(entry->dir->listing & WT_PLAIN);
	scan_free(scan);
	put_text(in_scratch("young/d/new"), "text");
	(void)!symlink("y", in_scratch("young/d/newlink"));
	/* Young however long it takes to get there. */
	sh("touch -h -d '1 hour' young/d/new young/d/newlink; touch -d '1 hour' young/d");
	scan = capture(&text, "young", NULL, &read);
	entry = &wt_entries(scan->root)[0];
	assert_string_equal(wt_entries(entry->dir)[0].name, "new");
	assert_true(wt_entries(entry->dir)[0].flags & WT_RACY);
	assert_true(wt_entries(entry->dir)[1].flags & WT_RACY);
	assert_false(wt_entries(entry->dir)[2].flags & WT_RACY);
	assert_false(entry->dir->listing & WT_PLAIN);
	scan_free(scan);

	/* A mark in the cache makes a file be read again although nothing else speaks for it. */
	sh("touch -h -d '1 hour ago' young/d/new young/d/newlink; touch -d '1 hour ago' young/d");
	usleep(60000);
	scan = capture(&text, "young", NULL, &read);
	entry = &wt_entries(scan->root)[0];
	wt_entries(entry->dir)[0].flags |= WT_RACY;
	assert_int_equal(write_cache(scan), 0);
	scan_free(scan);
	cache = statcache_open(AT_FDCWD, "cache");
	scan_free(capture(&text, "young", cache, &read));
	assert_int_equal(read.files, 1);
	statcache_close(cache);
	strbuf_release(&text);
}

/*
 * As fast as it goes: a change right after the scan falls into the same tick of
 * the clock, and leaves times, sizes and inodes as they were.
 */
static void test_scan_with_cache_sees_changes_within_a_tick(void **state)
{
	char file[2 * PATH_MAX], other[2 * PATH_MAX];

	(void)state;
	sh("mkdir -p tick/d; touch tick/d/always");
	snprintf(file, sizeof(file), "%s/tick/d/file", scratch);
	snprintf(other, sizeof(other), "%s/tick/d/other", scratch);
	usleep(50000);
	for (int round = 0; round < rounds(250); round++) {
		struct strbuf before = STRBUF_INIT, fresh = STRBUF_INIT, with = STRBUF_INIT;
		struct ingest_result read = { 0 };
		struct statcache *cache;
		char text[32];

		snprintf(text, sizeof(text), "%08d", round);
		put_text(file, text);
		if (round % 2)
			(void)unlink(other);
		{
			struct scan *scan = capture(&before, "tick", NULL, &read);

			assert_int_equal(write_cache(scan), 0);
			scan_free(scan);
		}
		/* The same length, in the same file. */
		text[0] = 'x';
		put_text(file, text);
		if (round % 2)
			put_text(other, "");
		cache = statcache_open(AT_FDCWD, "cache");
		assert_non_null(cache);
		scan_free(capture(&with, "tick", cache, &read));
		scan_free(capture(&fresh, "tick", NULL, &read));
		assert_string_equal(with.buf, fresh.buf);
		assert_string_not_equal(with.buf, before.buf);
		statcache_close(cache);
		strbuf_release(&before);
		strbuf_release(&fresh);
		strbuf_release(&with);
	}
}

/* ---- a cache of another boot ---- */

/* Write the cache as if the scan had been made on boot `boot`; 0: nobody knows which. */
static void write_cache_of(const struct scan *scan, unsigned char boot)
{
	struct statcache_head head = { .origin = scan->origin };

	memset(head.origin.boot, boot, BOOT_ID_SIZE);
	assert_int_equal(cache_write("cache", &head, scan->root), 0);
}

/* Scan with the cache that is there, which makes so many files be read; the last scan is gone. */
static struct scan *again(struct strbuf *text, uint64_t expected)
{
	static struct statcache *cache; /* of the last scan, whose names lie in it */
	struct ingest_result read = { 0 };
	struct scan *scan;

	statcache_close(cache);
	cache = statcache_open(AT_FDCWD, "cache");
	strbuf_reset(text);
	scan = capture(text, "boots", cache, &read);
	assert_int_equal(read.files, expected);
	return scan;
}

static void test_scan_believes_a_cache_of_another_boot_once_it_was_read_again(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct scan *scan;

	(void)state;
	sh("mkdir boots; echo 1 >boots/a; echo 2 >boots/b; ln -s a boots/l; rm -f cache");
	usleep(50000);
	scan = again(&text, 3);
	if (!origin_on_disk(&scan->origin)) {
		scan_free(scan);
		strbuf_release(&text);
		skip();
	}
	/* Another device: read again, each time. */
	for (int i = 0; i < 3; i++) {
		struct statcache_head head = { .origin = scan->origin };

		head.origin.dev++;
		assert_int_equal(cache_write("cache", &head, scan->root), 0);
		scan_free(scan);
		scan = again(&text, 3);
		assert_true(scan->cache_is_old);
	}
	/* Another boot: once. */
	write_cache_of(scan, 7);
	scan_free(scan);
	scan = again(&text, 3);
	for (unsigned char boot = 8; boot < 11; boot++) {
		write_cache_of(scan, boot);
		scan_free(scan);
		scan = again(&text, 0);
		assert_true(scan->cache_is_old);
		assert_true(scan->root->known);
	}
	/* What has changed since is no better than new. */
	put_text(in_scratch("boots/b"), "3");
	usleep(50000);
	write_cache_of(scan, 11);
	scan_free(scan);
	scan = again(&text, 1);
	write_cache_of(scan, 12);
	scan_free(scan);
	scan = again(&text, 1);
	write_cache_of(scan, 13);
	scan_free(scan);
	scan = again(&text, 0);
	/* No boot id: only what was settled counts. */
	put_text(in_scratch("boots/b"), "4");
	usleep(50000);
	scan_free(scan);
	scan = again(&text, 1);
	for (int i = 0; i < 3; i++) {
		write_cache_of(scan, 0);
		scan_free(scan);
		scan = again(&text, 1);
	}
	scan_free(scan);
	strbuf_release(&text);
}

static void test_origin_relations(void **state)
{
	struct origin a, b;

	(void)state;
	origin_now(&a, AT_FDCWD);
	assert_int_equal(a.dev, 0);
	a = (struct origin){ .boot = { 1 }, .dev = 1, .fsid = 2, .fstype = 0xef53 };
	b = a;
	assert_int_equal(origin_compare(&a, &b), ORIGIN_SAME);
	b.dev++;
	assert_int_equal(origin_compare(&a, &b), ORIGIN_UNSURE);
	b = a;
	b.mount = 3;
	assert_int_equal(origin_compare(&a, &b), ORIGIN_SAME);
	a.mount = 4;
	assert_int_equal(origin_compare(&a, &b), ORIGIN_UNSURE);
	b = a;
	b.fsid++;
	assert_int_equal(origin_compare(&a, &b), ORIGIN_UNSURE);
	b.boot[15] = 1;
	assert_int_equal(origin_compare(&a, &b), ORIGIN_EARLIER);
	/* NFS: the memory of the server counts, which this says nothing of. */
	b.fstype = 0x6969;
	assert_int_equal(origin_compare(&a, &b), ORIGIN_UNSURE);
	memset(a.boot, 0, sizeof(a.boot));
	assert_int_equal(origin_compare(&a, &a), ORIGIN_UNSURE);
	assert_int_equal(origin_compare(&a, &b), ORIGIN_UNSURE);
	assert_int_equal(origin_compare(&b, &a), ORIGIN_UNSURE);
}

/* ---- what is told of large files ---- */

static size_t told, told_last, told_total;

static void listen(const char *what, size_t done, size_t total, void *payload)
{
	(void)payload;
	if (!strstr(what, "large"))
		return;
	assert_true(done >= told_last && done <= total);
	told++;
	told_last = done;
	told_total = total;
}

/* One file can take as long as thousands: it is told how far it is, not only that it is done. */
static void test_large_files_are_told_of_while_they_are_read(void **state)
{
	struct ingest_opts ingest = { .threads = 2, .progress = listen };
	struct ingest_result read = { 0 };
	struct scan *scan = NULL;

	(void)state;
	sh("mkdir large; echo 1 >large/small; truncate -s 30000000 large/a; truncate -s 20000000 large/b");
	assert_int_equal(scan_in(&scan, "large", (struct scan_opts){ .threads = 1 }, true), 0);
	ingest.scan = scan;
	assert_int_equal(ingest_run(&read, &ingest), 0);
	assert_int_equal(read.files, 3);
	assert_true(told > 10);
	assert_int_equal(told_last, 50);
	assert_int_equal(told_total, 50);
	scan_free(scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan_with_cache_equals_scan_without),
		cmocka_unit_test(test_scan_with_cache_reads_only_what_changed),
		cmocka_unit_test(test_scan_with_cache_sees_changes_of_the_index),
		cmocka_unit_test(test_scan_marks_what_is_too_young),
		cmocka_unit_test(test_scan_with_cache_sees_changes_within_a_tick),
		cmocka_unit_test(test_scan_believes_a_cache_of_another_boot_once_it_was_read_again),
		cmocka_unit_test(test_origin_relations),
		cmocka_unit_test(test_large_files_are_told_of_while_they_are_read),
	};

	return cmocka_run_group_tests_name("scan_cache", tests, scanprobe_setup,
					   scanprobe_teardown);
}
