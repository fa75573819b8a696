/* SPDX-License-Identifier: MIT */
/* Packs with deltas as stock git makes them, listed, read, and damaged. */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/pack.h"
#include "unit.h"

#include "packprobe.h"

static struct known *objects;
static size_t objects_nr, objects_alloc;

/* Which objects there are, and what is in them, is git's to say. */
static void learn_objects(void)
{
	struct strbuf list = STRBUF_INIT;
	char *p;

	ask(&list, "cd repo; git cat-file --batch-all-objects --batch");
	for (p = list.buf; p < list.buf + list.len;) {
		struct known *object;
		unsigned long size;
		char hex[OID_HEX + 1], type[16];
		struct digest *sha1 = hash_new(HASH_SHA1);
		struct oid is;

		assert_int_equal(sscanf(p, "%40s %15s %lu", hex, type, &size), 3);
		p = strchr(p, '\n') + 1;
		ALLOC_GROW(objects, objects_nr + 1, objects_alloc);
		object = &objects[objects_nr++];
		assert_true(oid_parse(&object->oid, hex));
		object->type = type[0] == 'c'	? OBJECT_COMMIT
			       : type[0] == 't' ? OBJECT_TREE
						: OBJECT_BLOB;
		strbuf_init(&object->data);
		strbuf_add(&object->data, p, size);
		hash_object(sha1, &is, type, p, size);
		assert_true(oid_equal(&is, &object->oid));
		hash_free(sha1);
		p += size + 1;
	}
	assert_true(objects_nr > 150);
	strbuf_release(&list);
}

/* Many files, alike, that change a little from commit to commit; also large and empty ones. */
static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("git init -q repo; cd repo; mkdir d; : >empty; "
	   "i=0; while test $i -lt 30; do seq $((i * 3)) $((i * 3 + 900)) >d/$i; "
	   "i=$((i + 1)); done; seq 1 60000 >large; "
	   "c=0; while test $c -lt 25; do "
	   "echo change $c >>d/$c; sed -i \"$((c * 7 + 1))s/.*/line $c/\" d/$((c + 1)) d/$((c + "
	   "2)); "
	   "sed -i \"$((c * 1000 + 1))s/.*/large $c/\" large; "
	   "git add .; git commit -qm \"commit $c\"; c=$((c + 1)); done; "
	   "cp -r .git ../ofs; cp -r .git ../ref; "
	   "cd ../ofs; git repack -adfq --depth=50 --window=50; git prune-packed; "
	   "cd ../ref; git -c repack.useDeltaBaseOffset=false repack -adfq --depth=50 --window=50; "
	   "git prune-packed");
	learn_objects();
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < objects_nr; i++)
		strbuf_release(&objects[i].data);
	free(objects);
	return unit_teardown(state);
}

static void all_of(const char *repo, const char *kind)
{
	int fd = open_dir(repo);
	struct packs *packs = packs_open(fd);
	struct strbuf chains = STRBUF_INIT;

	/* There are long chains, of the right kind. */
	ask(&chains,
	    "cd %s; git verify-pack -v objects/pack/*.idx | grep -c '^chain length = .[0-9]'",
	    repo);
	assert_true(atoi(chains.buf) > 3);
	strbuf_reset(&chains);
	assert_int_equal(packs_count(packs), 1);
	for (size_t i = 0; i < objects_nr; i++)
		if (!check_object(packs, &objects[i]))
			fail_msg("%s: object %zu", kind, i);
	packs_close(packs);
	close(fd);
	strbuf_release(&chains);
}

static void test_packs_delta_by_offset_as_git_reads_them(void **state)
{
	(void)state;
	all_of("ofs", "by offset");
}

static void test_packs_delta_by_name_as_git_reads_them(void **state)
{
	(void)state;
	all_of("ref", "by name");
}

/* ---- lists ---- */

static int by_offset(const void *a, const void *b)
{
	const struct packed *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* `type` is that of its deltas, 0 for none. */
static void compare_with_git(const char *repo, int type)
{
	struct strbuf text = STRBUF_INIT;
	struct pack_contents contents = { 0 };
	int fd = open_dir(repo);
	struct packs *packs = packs_open(fd);
	struct packed *items;
	size_t nr = 0, bytes;
	unsigned types = 0;

	assert_int_equal(packs_contents(&contents, packs, 0), 0);
	items = xcalloc(contents.nr + 1, sizeof(*items));
	/* "oid type size size-in-pack offset ...", "offset oid (crc)" */
	ask(&text,
	    "cd %s; git verify-pack -v objects/pack/*.idx | grep '^[0-9a-f]\\{40\\} ' | sort >v; "
	    "git show-index <$(ls objects/pack/*.idx) | sort -k 2 >s; join -1 1 -2 2 v s "
	    "| awk '{ print $1, $4, $5, $NF }'",
	    repo);
	for (char *line = strtok(text.buf, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long long len, offset;
		char hex[OID_HEX + 1];
		unsigned crc;

		assert_true(nr < contents.nr);
		assert_int_equal(sscanf(line, "%40s %llu %llu (%x)", hex, &len, &offset, &crc), 4);
		assert_true(oid_parse(&items[nr].oid, hex));
		items[nr].len = len;
		items[nr].offset = offset;
		items[nr++].crc = crc;
	}
	assert_int_equal(nr, contents.nr);
	assert_int_equal(nr, objects_nr);
	qsort(items, nr, sizeof(*items), by_offset);
	for (size_t i = 0; i < nr; i++) {
		assert_true(oid_equal(&items[i].oid, &contents.items[i].oid));
		assert_int_equal(items[i].len, contents.items[i].len);
		assert_int_equal(items[i].offset, contents.items[i].offset);
		assert_int_equal(items[i].crc, contents.items[i].crc);
		types |= 1u << (contents.data[items[i].offset] >> 4 & 7);
	}
	assert_int_equal(types >> 6, type ? 1 << (type - 6) : 0);
	assert_int_equal(contents.tight, type == PACK_OFS_DELTA);
	strbuf_reset(&text);
	ask(&text, "cd %s; cat objects/pack/*.idx objects/pack/*.pack | wc -c", repo);
	bytes = (size_t)atol(text.buf);
	assert_int_equal(bytes, contents.bytes);
	strbuf_reset(&text);
	ask(&text, "cd %s; ls objects/pack/*.idx | sed 's,.*/,,; s,.idx$,,'", repo);
	strbuf_trim(&text);
	assert_string_equal(text.buf, contents.name);
	packs_contents_release(&contents);
	assert_int_equal(packs_contents(&contents, packs, 1), CKPT_ENOTFOUND);
	packs_close(packs);
	close(fd);
	free(items);
	strbuf_release(&text);
}

static void test_packs_contents_are_what_git_lists(void **state)
{
	(void)state;
	compare_with_git("ofs", 6);
	compare_with_git("ref", 7);
	sh("cp -r ofs plain; cd plain; git repack -adfq --depth=0; "
	   "test $(git verify-pack -v objects/pack/*.idx | grep -c '^chain length') -eq 0");
	compare_with_git("plain", 0);
}

/* Any list that is given lies within the pack, without gaps. */
static bool contents_sound(struct packs *packs)
{
	struct pack_contents contents;
	uint64_t at = PACK_HEADER_SIZE;
	bool sound;
	int err;

	if (!packs_count(packs))
		return false;
	err = packs_contents(&contents, packs, 0);
	assert_true(!err || err == CKPT_ECORRUPT);
	if (err)
		return false;
	sound = contents.data != NULL;
	for (size_t i = 0; i < contents.nr && sound; i++) {
		assert_true(contents.items[i].offset == at);
		assert_true(contents.items[i].len > 0);
		at += contents.items[i].len;
	}
	if (sound)
		assert_true(at + OID_SIZE + 1000 < contents.bytes);
	packs_contents_release(&contents);
	return sound;
}

/* ---- damage ---- */

static void path_of(char out[PATH_MAX], const char *repo, const char *ending)
{
	snprintf(out, PATH_MAX, "%s", line_of("ls \"$PWD\"/%s/objects/pack/*.%s", repo, ending));
}

static void damage(const char *repo)
{
	char paths[2][PATH_MAX];
	struct strbuf good[2] = { STRBUF_INIT, STRBUF_INIT };
	int fd = open_dir(repo);
	size_t read = 0, lost = 0, lists = 0, n = 0;

	path_of(paths[0], repo, "pack");
	path_of(paths[1], repo, "idx");
	sh("chmod u+w %s/objects/pack/*", repo);
	for (int i = 0; i < 2; i++)
		get_bytes(&good[i], paths[i]);
	for (int round = 0; round < rounds(300); round++, n++) {
		int which = round % 3 == 0;
		struct strbuf *from = &good[which];
		size_t len = rnd(10) ? from->len : rnd((unsigned)from->len);
		char *copy = xmemdupz(from->buf, from->len);
		struct packs *packs;

		for (unsigned flips = 1 + rnd(40); flips; flips--) {
			/* Often the fanout or the offsets; most objects are small. */
			size_t at = rnd((unsigned)from->len);

			if (which && !rnd(3))
				at = rnd(2) ? rnd(1032)
					    : 1032 + objects_nr * 24 +
						      rnd((unsigned)objects_nr * 4);
			copy[at] = rnd(2) ? (char)rnd(256) : (char)(copy[at] ^ 1 << rnd(8));
		}
		put_bytes(paths[which], copy, len);
		packs = packs_open(fd);
		lists += contents_sound(packs);
		for (int i = 0; i < 20; i++)
			if (check_object(packs, &objects[rnd((unsigned)objects_nr)]))
				read++;
			else
				lost++;
		packs_close(packs);
		put_bytes(paths[which], from->buf, from->len);
		free(copy);
	}
	/* Some of everything. */
	assert_true(read > n && lost > n && lists > n / 10 && lists < n);
	for (int i = 0; i < 2; i++)
		strbuf_release(&good[i]);
	close(fd);
}

static void test_packs_delta_damage_is_never_taken_for_contents(void **state)
{
	(void)state;
	damage("ofs");
	damage("ref");
	all_of("ofs", "mended");
	all_of("ref", "mended");
}

static void test_packs_contents_tell_of_packs_that_are_gone(void **state)
{
	struct pack_contents contents = { 0 };
	int fd = open_dir("ofs");
	struct packs *packs;

	(void)state;
	sh("cd ofs/objects/pack; mkdir ../away; cp *.pack ../away; chmod u+w *; "
	   "truncate -s -1 *.pack");
	for (int gone = 0; gone < 2; gone++) {
		packs = packs_open(fd);
		assert_int_equal(packs_contents(&contents, packs, 0), 0);
		assert_null(contents.data);
		assert_int_equal(contents.nr, objects_nr);
		for (size_t i = 0; i < contents.nr; i++) {
			struct strbuf out = STRBUF_INIT;
			enum object_type type;

			assert_int_equal(contents.items[i].len, 0);
			assert_false(packs_have(packs, &contents.items[i].oid));
			assert_false(packs_sound(packs, &contents.items[i].oid));
			assert_int_equal(packs_read(&out, &type, packs, &contents.items[i].oid),
					 gone ? CKPT_ENOTFOUND : CKPT_ECORRUPT);
		}
		packs_contents_release(&contents);
		packs_close(packs);
		sh("cd ofs/objects/pack; rm -f *.pack");
	}
	sh("cd ofs/objects; mv away/* pack; rmdir away");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_delta_by_offset_as_git_reads_them),
		cmocka_unit_test(test_packs_delta_by_name_as_git_reads_them),
		cmocka_unit_test(test_packs_contents_are_what_git_lists),
		cmocka_unit_test(test_packs_delta_damage_is_never_taken_for_contents),
		cmocka_unit_test(test_packs_contents_tell_of_packs_that_are_gone),
	};

	return cmocka_run_group_tests_name("packs: delta", tests, setup, teardown);
}
