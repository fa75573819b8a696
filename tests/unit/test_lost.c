/* SPDX-License-Identifier: MIT */
#include "record/lost.h"

#include "base/error.h"
#include "base/fs.h"
#include "record/audit.h"
#include "record/manifest.h"
#include "unit.h"

#include "recordgen.h"

enum { COUNT = 4 };

static struct ckpt_record records[COUNT];

/* A store with COUNT checkpoints, a manifest and an audit trail. */
static struct store *make(const char *name)
{
	struct store *store = recordgen_store(name);

	for (int i = 0; i < COUNT; i++) {
		char id[CKPT_ID_SIZE];

		snprintf(id, sizeof(id), "chk_20260930_123456_%06x", i);
		recordgen_plain(&records[i], id);
		recordgen_save(store, &records[i]);
		assert_int_equal(audit_add(store, "save", id, &records[i].commit, "r", "h"), 0);
	}
	store = recordgen_reopen(store);
	assert_int_equal(manifest_rebuild(store), 0);
	return store;
}

static void end(struct store *store)
{
	store_close(store);
	for (int i = 0; i < COUNT; i++)
		record_release(&records[i]);
}

static void unref(struct store *store, int i)
{
	sh("rm '%s/refs/checkpoints/%s'", store->path, records[i].id);
}

static void note(struct store *store)
{
	struct ref_list refs;

	assert_int_equal(refs_list(&refs, store), 0);
	if (lost_note(store, &refs))
		fail_msg("%s", ckpt_error_last());
	refs_release(&refs);
}

/* Exactly those whose letter is in `which` ("ac": the first and the third) are lost. */
static void expect_lost(struct store *store, const char *which)
{
	struct ref_list refs, lost;

	assert_int_equal(refs_list(&refs, store), 0);
	assert_int_equal(lost_count(store, &refs), strlen(which));
	assert_int_equal(lost_read(&lost, store, &refs), 0);
	assert_int_equal(lost.nr, strlen(which));
	for (size_t i = 0; i < lost.nr; i++) {
		const struct ckpt_record *record = &records[which[i] - 'a'];

		assert_string_equal(lost.items[i].id, record->id);
		assert_true(oid_equal(&lost.items[i].commit, &record->commit));
	}
	refs_release(&lost);
	refs_release(&refs);
}

static void expect_file(struct store *store, bool there)
{
	assert_int_equal(!faccessat(store->dirfd, "checkpoint/lost", F_OK, 0), there);
}

static void test_lost_nothing(void **state)
{
	struct store *store = make("nothing");

	(void)state;
	note(store);
	expect_lost(store, "");
	expect_file(store, false);
	assert_int_equal(lost_forget(store, records[0].id), 0);
	expect_file(store, false);
	end(store);
}

static void test_lost_some(void **state)
{
	struct store *store = make("some");

	(void)state;
	unref(store, 1);
	note(store);
	expect_lost(store, "b");
	/* The manifest has forgotten it, the file has not. */
	assert_int_equal(manifest_rebuild(store), 0);
	note(store);
	expect_lost(store, "b");
	unref(store, 3);
	note(store);
	expect_lost(store, "bd");
	/* It has its ref again. */
	assert_int_equal(refs_create(store, records[1].id, &records[1].commit), 0);
	expect_lost(store, "d");
	assert_int_equal(lost_forget(store, records[1].id), 0);
	expect_lost(store, "d");
	assert_int_equal(lost_forget(store, records[3].id), 0);
	assert_int_equal(manifest_rebuild(store), 0);
	expect_lost(store, "");
	expect_file(store, false);
	end(store);
}

/* The whole directory; with the manifest, and without it. */
static void test_lost_all(void **state)
{
	struct store *store = make("all");

	(void)state;
	sh("rm -r '%s/refs'; mkdir -p '%s/refs/checkpoints'", store->path, store->path);
	note(store);
	expect_lost(store, "abcd");
	sh("rm '%s/checkpoint/lost' '%s/checkpoint-manifest.md'", store->path, store->path);
	note(store);
	expect_lost(store, "abcd");
	end(store);
}

static void test_lost_is_not_what_was_dropped(void **state)
{
	static const char *const actions[] = { "drop", "evict", "prune" };
	struct store *store = make("dropped");

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(audit_add(store, actions[i], records[i].id, &records[i].commit,
					   NULL, NULL),
				 0);
		unref(store, i);
	}
	note(store);
	expect_lost(store, "");
	unref(store, 3);
	note(store);
	expect_lost(store, "d");
	/* One that was dropped and came back can be lost again. */
	assert_int_equal(refs_create(store, records[0].id, &records[0].commit), 0);
	assert_int_equal(audit_add(store, "salvage", records[0].id, NULL, NULL, NULL), 0);
	assert_int_equal(manifest_rebuild(store), 0);
	unref(store, 0);
	note(store);
	expect_lost(store, "ad");
	end(store);
}

/* A commit that the trail knows nothing of never was a checkpoint. */
static void test_lost_is_not_what_never_was(void **state)
{
	struct ref_list refs, found;
	struct store *store = make("never");

	(void)state;
	sh("cd '%s'; rm refs/checkpoints/* checkpoint-manifest.md; sed -i /%s/d checkpoint/log",
	   store->path, records[2].id);
	note(store);
	expect_lost(store, "abd");
	/* Neither is the first one, of which there is no trail at all. */
	sh("cd '%s'; rm checkpoint/lost checkpoint/log", store->path);
	note(store);
	expect_lost(store, "");
	/* Unless somebody asks for all, or the store was found damaged. */
	assert_int_equal(refs_list(&refs, store), 0);
	assert_int_equal(lost_find(&found, store, &refs, true), 0);
	assert_int_equal(found.nr, COUNT);
	refs_release(&found);
	refs_release(&refs);
	strlist_add(&store->damage, "something");
	note(store);
	expect_lost(store, "abcd");
	end(store);
}

/* A ref that is there but cannot be read is damaged, not lost. */
static void test_lost_is_not_what_is_damaged(void **state)
{
	struct store *store = make("damaged");

	(void)state;
	sh(": >'%s/refs/checkpoints/%s'", store->path, records[1].id);
	note(store);
	expect_lost(store, "");
	end(store);
}

/* What is left of the manifest is enough for the lines that are left. */
static void test_lost_torn_manifest(void **state)
{
	struct store *store = make("torn");

	(void)state;
	sh("cd '%s'; truncate -s -10 checkpoint-manifest.md; rm refs/checkpoints/%s "
	   "refs/checkpoints/%s",
	   store->path, records[0].id, records[3].id);
	note(store);
	/* The line of the last one is torn; its commit is there, and the audit trail knows it. */
	expect_lost(store, "ad");
	sh("cd '%s'; rm checkpoint/lost; { head -c 400 /dev/zero; echo; grep -a %s "
	   "checkpoint-manifest.md; } >x; mv x checkpoint-manifest.md",
	   store->path, records[0].id);
	note(store);
	expect_lost(store, "ad");
	end(store);
}

static void test_lost_torn_file(void **state)
{
	struct store *store = make("tornfile");

	(void)state;
	for (int i = 0; i < COUNT; i++)
		unref(store, i);
	note(store);
	expect_lost(store, "abcd");
	assert_int_equal(manifest_rebuild(store), 0);
	sh("cd '%s'; { head -n 2 checkpoint/lost; printf '\\0\\0\\nchk_2026\\n'; echo %s; "
	   "printf %s; } >x; mv x checkpoint/lost",
	   store->path, records[2].id, records[3].id);
	expect_lost(store, "abcd");
	end(store);
}

/* Its commit is gone, too: known, but not found. */
static void test_lost_commit_is_gone(void **state)
{
	struct ref_list refs, found;
	struct store *store = make("gone");
	struct oid zero = { { 0 } };

	(void)state;
	unref(store, 1);
	sh("cd '%s'; sed -i 's/%s/chk_20200101_000000_abcdef/' checkpoint-manifest.md", store->path,
	   records[1].id);
	note(store);
	assert_int_equal(refs_list(&refs, store), 0);
	assert_int_equal(lost_count(store, &refs), 1);
	assert_int_equal(lost_read(&found, store, &refs), 0);
	assert_int_equal(found.nr, 0);
	refs_release(&found);
	assert_int_equal(lost_find(&found, store, &refs, false), 0);
	assert_int_equal(found.nr, 1);
	assert_true(oid_equal(&found.items[0].commit, &zero));
	refs_release(&found);
	refs_release(&refs);
	end(store);
}

/* Also where stock git has repacked everything, with deltas. */
static void test_lost_commits_of_repacked_stores(void **state)
{
	struct ref_list commits;
	struct store *store = make("repacked");

	(void)state;
	sh("git --git-dir='%s' repack -q -a -d -f", store->path);
	store = recordgen_reopen(store);
	assert_int_equal(lost_commits(&commits, store), 0);
	assert_int_equal(commits.nr, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		assert_true(oid_equal(&commits.items[i].commit, &records[i].commit));
	refs_release(&commits);
	end(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_nothing),
		cmocka_unit_test(test_lost_some),
		cmocka_unit_test(test_lost_all),
		cmocka_unit_test(test_lost_is_not_what_was_dropped),
		cmocka_unit_test(test_lost_is_not_what_never_was),
		cmocka_unit_test(test_lost_is_not_what_is_damaged),
		cmocka_unit_test(test_lost_torn_manifest),
		cmocka_unit_test(test_lost_torn_file),
		cmocka_unit_test(test_lost_commit_is_gone),
		cmocka_unit_test(test_lost_commits_of_repacked_stores),
	};

	return cmocka_run_group_tests_name("lost", tests, unit_setup, unit_teardown);
}
