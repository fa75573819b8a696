/* SPDX-License-Identifier: MIT */
/* The state of a repository as texts and as a tree of a checkpoint, and back. */
#include "gitstate/gitrecord.h"

#include "store/objects.h"
#include "unit.h"

#include "recordgen.h"

static const char id[] = "chk_20260930_123456_0af9be";

/* Four may be in use at a time. */
static const char *random_id(void)
{
	static char ids[4][GITSTATE_OID];
	static unsigned turn;
	char *out = ids[turn++ % 4];

	for (int i = 0; i < 40; i++)
		out[i] = "0123456789abcdef"[rnd(16)];
	out[40] = '\0';
	return out;
}

/* In the order in which they are asked for. */
static char *random_path(const char *prefix, unsigned nr)
{
	char name[40];

	rnd_name(name, 1 + rnd(20));
	return xstrfmt("%s%03u/%s", prefix, nr, name);
}

static void random_index(struct gitstate *state)
{
	static const unsigned modes[] = { 0100644, 0100755, 0120000, 0160000 };

	for (unsigned n = 0; n < rnd(8); n++) {
		char *path = random_path("p", n);
		unsigned kind = rnd(3);

		for (unsigned stage = kind == 2; stage <= (kind == 2 ? 3 : 0); stage++) {
			struct gitstate_entry *entry =
				kind ? gitstate_add_entry(state, path, modes[rnd(4)], random_id(), stage,
							  stage ? rnd(8) : rnd(16)) :
				       gitstate_add_entry(state, path, 0, "", 0, 0);

			if (!kind || rnd(2)) {
				entry->head_mode = modes[rnd(4)];
				strcpy(entry->head_oid, random_id());
			}
		}
		free(path);
	}
}

static void random_state(struct gitstate *state)
{
	char bytes[300];

	*state = (struct gitstate)GITSTATE_INIT;
	if (rnd(5)) {
		state->head = xstrdup(random_id());
		state->head_tree = xstrdup(random_id());
	}
	if (!state->head || rnd(3))
		state->ref = xstrdup("refs/heads/a/b");
	random_index(state);
	for (unsigned n = 0; n < rnd(5); n++) {
		char name[64], note[40];

		snprintf(name, sizeof(name), "refs/heads/n%u/\xc3\xa9", n);
		gitstate_add_branch(state, name, random_id());
		rnd_text(note, rnd(30));
		gitstate_add_stash(state, random_id(), note);
		snprintf(name, sizeof(name), "refs/bisect/n%u", n);
		gitstate_add_private_ref(state, name, random_id());
		snprintf(name, sizeof(name), "rebase-merge/n%u", n);
		rnd_bytes(bytes, sizeof(bytes));
		gitstate_add_file(state, name, bytes, rnd(sizeof(bytes)));
		rnd_text(note, rnd(30));
		strlist_addf(&state->branch_config, "branch.x.k%u=%s", n, note);
	}
	if (rnd(2)) {
		state->operation = xstrdup("rebase");
		state->step = 1 + rnd(5);
		state->total = 1 + rnd(9);
		state->autostash = rnd(2) ? xstrdup(random_id()) : NULL;
	}
}

static void assert_same(const struct gitstate *a, const struct gitstate *b)
{
	char one[STATEHASH_SIZE], two[STATEHASH_SIZE];

	for (unsigned i = 0; i < GITRECORD_TEXTS; i++) {
		struct strbuf x = STRBUF_INIT, y = STRBUF_INIT;

		gitrecord_encode(&x, a, i);
		gitrecord_encode(&y, b, i);
		assert_int_equal(x.len, y.len);
		assert_memory_equal(x.buf, y.buf, x.len);
		strbuf_release(&x);
		strbuf_release(&y);
	}
	assert_string_equal(gitrecord_hash(one, a), gitrecord_hash(two, b));
	assert_int_equal(a->entries_nr, b->entries_nr);
	assert_int_equal(a->branches_nr, b->branches_nr);
	assert_int_equal(a->stashes_nr, b->stashes_nr);
	assert_int_equal(a->private_refs_nr, b->private_refs_nr);
	assert_int_equal(a->files_nr, b->files_nr);
	assert_int_equal(a->step, b->step);
	assert_int_equal(a->total, b->total);
	assert_int_equal(!a->head, !b->head);
	assert_int_equal(!a->ref, !b->ref);
	for (size_t i = 0; i < a->entries_nr; i++) {
		assert_string_equal(a->entries[i].path, b->entries[i].path);
		assert_string_equal(a->entries[i].oid, b->entries[i].oid);
		assert_int_equal(a->entries[i].mode, b->entries[i].mode);
		assert_int_equal(a->entries[i].stage, b->entries[i].stage);
		assert_int_equal(a->entries[i].flags, b->entries[i].flags);
		assert_int_equal(a->entries[i].head_mode, b->entries[i].head_mode);
		assert_string_equal(a->entries[i].head_oid, b->entries[i].head_oid);
	}
	for (size_t i = 0; i < a->files_nr; i++) {
		assert_int_equal(a->files[i].len, b->files[i].len);
		assert_memory_equal(a->files[i].data, b->files[i].data, a->files[i].len);
	}
}

static void test_record_git_texts(void **unused)
{
	(void)unused;
	for (int round = 0; round < rounds(2000); round++) {
		struct gitstate state, again = GITSTATE_INIT;

		random_state(&state);
		if (gitstate_check(&state))
			fail_msg("%s", ckpt_error_last());
		for (unsigned i = 0; i < GITRECORD_TEXTS; i++) {
			struct strbuf text = STRBUF_INIT;

			gitrecord_encode(&text, &state, i);
			assert_int_equal(gitrecord_decode(&again, &text, i), 0);
			strbuf_release(&text);
		}
		gitstate_sort_entries(&again);
		assert_same(&state, &again);
		gitstate_release(&state);
		gitstate_release(&again);
	}
}

/* It may be understood or refused, but never crash, and nothing odd gets through the check. */
static void test_record_git_damaged_texts(void **unused)
{
	(void)unused;
	for (int round = 0; round < rounds(20000); round++) {
		struct gitstate state, again = GITSTATE_INIT;
		struct strbuf text = STRBUF_INIT;
		unsigned which = rnd(GITRECORD_TEXTS);

		random_state(&state);
		gitrecord_encode(&text, &state, which);
		for (unsigned n = 0; text.len && n <= rnd(4); n++)
			text.buf[rnd((unsigned)text.len)] = (char)rnd(256);
		if (text.len && !rnd(4))
			strbuf_setlen(&text, rnd((unsigned)text.len));
		if (!gitrecord_decode(&again, &text, which) && !gitstate_check(&again))
			for (size_t i = 0; i < again.files_nr; i++)
				assert_memory_equal(again.files[i].path, "rebase-merge/", 13);
		strbuf_release(&text);
		gitstate_release(&state);
		gitstate_release(&again);
	}
}

static void test_record_git_odd(void **unused)
{
	static const char *const files[] = { "hooks/pre-commit", "config", "rebase-merge/../config",
					     "rebase-merge", "rebase-merge/", "../x", "/etc/passwd",
					     "sequencer//x", "" };
	static const char *const refs[] = { "refs/heads/x", "refs/tags/x", "HEAD", "refs/bisect/../heads/x",
					    "refs/bisect/", "config", "MERGE_HEAD", "" };
	static const char *const paths[] = { "../x", "/x", ".git/config", "a/.git", "a//b", "a/", "." };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct gitstate state = GITSTATE_INIT;

		state.ref = xstrdup("refs/heads/x");
		gitstate_add_file(&state, files[i], "x", 1);
		assert_int_equal(gitstate_check(&state), CKPT_ECORRUPT);
		gitstate_release(&state);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refs); i++) {
		struct gitstate state = GITSTATE_INIT;

		state.ref = xstrdup("refs/heads/x");
		gitstate_add_private_ref(&state, refs[i], random_id());
		assert_int_equal(gitstate_check(&state), CKPT_ECORRUPT);
		gitstate_release(&state);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct gitstate state = GITSTATE_INIT;

		state.ref = xstrdup("refs/heads/x");
		gitstate_add_entry(&state, paths[i], 0100644, random_id(), 0, 0);
		assert_int_equal(gitstate_check(&state), CKPT_ECORRUPT);
		gitstate_release(&state);
	}
}

static void test_record_git_counts(void **unused)
{
	struct gitstate state = GITSTATE_INIT;
	struct gitindex_counts counts;

	(void)unused;
	gitstate_add_entry(&state, "a", 0100644, random_id(), 0, 0);
	gitstate_add_entry(&state, "b", 0, "", 0, 0);
	gitstate_add_entry(&state, "c", 0100644, random_id(), 1, 0);
	gitstate_add_entry(&state, "c", 0100644, random_id(), 3, 0);
	gitstate_add_entry(&state, "d", 0100644, random_id(), 0, GITINDEX_INTENT_TO_ADD);
	gitstate_add_entry(&state, "e", 0100644, random_id(), 0, GITINDEX_SKIP_WORKTREE | GITSTATE_AS_HEAD);
	gitstate_add_entry(&state, "f", 0100644, random_id(), 0, GITINDEX_SKIP_WORKTREE);
	gitstate_count(&counts, &state);
	assert_int_equal(counts.staged, 3);
	assert_int_equal(counts.unmerged, 1);
	assert_int_equal(counts.intent_to_add, 1);
	gitstate_release(&state);
}

/* A checkpoint with a state, read back from a store that was opened again. */
static void test_record_git_stored(void **unused)
{
	struct store *store = recordgen_store("stored");
	struct pack *pack = pack_new(store, 1, 6);
	struct gitrecord git = { 0 }, again;
	struct ckpt_record record, read;
	struct ref_item ref;
	struct ckpt_meta meta;
	struct strbuf text = STRBUF_INIT;
	struct oid oid;

	(void)unused;
	random_state(&git.state);
	assert_int_equal(pack_add_new(pack, &oid, OBJECT_BLOB, "staged\n", 7), 0);
	gitrecord_add_blob(&git, "1111111111111111111111111111111111111111", &oid);
	gitrecord_add_blob(&git, "2222222222222222222222222222222222222222", &oid);
	assert_int_equal(pack_add_new(pack, &git.autostash, OBJECT_BLOB, "PACK", 4), 0);
	recordgen_plain(&record, id);
	gitrecord_hash(record.git_hash, &git.state);
	record.index = (struct gitindex_counts){ 3, 2, 1 };
	record.progress = 3;
	record.progress_total = 7;
	meta_init(&meta);
	assert_int_equal(gitrecord_write(&meta.git, &git, pack), 0);
	assert_int_equal(pack_add_new(pack, &record.tree, OBJECT_TREE, "", 0), 0);
	assert_int_equal(record_write(&record, &meta, pack), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = recordgen_reopen(store);

	memset(&ref, 0, sizeof(ref));
	memcpy(ref.id, record.id, sizeof(ref.id));
	ref.commit = record.commit;
	assert_int_equal(record_read(&read, store, &ref), 0);
	assert_string_equal(read.git_hash, record.git_hash);
	assert_int_equal(read.index.staged, 3);
	assert_int_equal(read.index.unmerged, 2);
	assert_int_equal(read.index.intent_to_add, 1);
	assert_int_equal(read.progress, 3);
	assert_int_equal(read.progress_total, 7);
	assert_int_equal(gitrecord_load(&again, store, &read), 0);
	assert_same(&git.state, &again.state);
	assert_int_equal(again.nr, 2);
	assert_true(oid_equal(&again.autostash, &git.autostash));
	assert_null(gitrecord_find(&again, "3333333333333333333333333333333333333333"));
	assert_non_null(gitrecord_find(&again, git.blobs[1].hex));
	assert_int_equal(objects_read(&text, store, gitrecord_find(&again, git.blobs[0].hex), OBJECT_BLOB), 0);
	assert_string_equal(text.buf, "staged\n");
	strbuf_release(&text);
	gitrecord_release(&git);
	gitrecord_release(&again);
	record_release(&record);
	record_release(&read);
	meta_release(&meta);
	store_close(store);
}

static void test_record_git_none(void **unused)
{
	struct store *store = recordgen_store("none");
	struct pack *pack = pack_new(store, 1, 6);
	struct gitrecord git;
	struct ckpt_record record;
	struct ckpt_meta meta;

	(void)unused;
	recordgen_plain(&record, id);
	meta_init(&meta);
	assert_int_equal(pack_add_new(pack, &record.tree, OBJECT_TREE, "", 0), 0);
	assert_int_equal(record_write(&record, &meta, pack), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = recordgen_reopen(store);
	assert_int_equal(gitrecord_load(&git, store, &record), CKPT_ENOTFOUND);
	gitrecord_release(&git);
	record_release(&record);
	meta_release(&meta);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_git_texts),
		cmocka_unit_test(test_record_git_damaged_texts),
		cmocka_unit_test(test_record_git_odd),
		cmocka_unit_test(test_record_git_counts),
		cmocka_unit_test(test_record_git_stored),
		cmocka_unit_test(test_record_git_none),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
