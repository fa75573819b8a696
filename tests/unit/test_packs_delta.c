/* SPDX-License-Identifier: MIT */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/pack.h"
#include "unit.h"

#include <zlib.h>

/* Packs with deltas: those of stock git, those that are damaged, and such as nobody makes. */

struct object {
	enum object_type type;
	struct oid oid;
	struct strbuf data;
};

static struct object *objects;
static size_t objects_nr, objects_alloc;

static int gather(const void *data, size_t len, void *payload)
{
	strbuf_add(payload, data, len);
	return 0;
}

static int open_dir(const char *name)
{
	int fd = open(in_scratch("%s", name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Which objects there are, and what is in them, is git's to say. */
static void learn_objects(void)
{
	struct strbuf list = STRBUF_INIT;
	char *p;

	ask(&list, "cd repo; git cat-file --batch-all-objects --batch");
	for (p = list.buf; p < list.buf + list.len;) {
		struct object *object;
		unsigned long size;
		char hex[OID_HEX + 1], type[16];
		struct digest *sha1 = digest_new(HASH_SHA1);
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
		digest_free(sha1);
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
	   "cp -r .git ../ofs; cp -r .git ../ref; cp -r .git ../hand; "
	   "cd ../ofs; git repack -adfq --depth=50 --window=50; git prune-packed; "
	   "cd ../ref; git -c repack.useDeltaBaseOffset=false repack -adfq --depth=50 --window=50; "
	   "git prune-packed; cd ../hand; rm -rf objects/??");
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

/* Right or an error, in every way of reading; `true` if it was right. */
static bool check_object(struct packs *packs, const struct object *object)
{
	struct strbuf data = STRBUF_INIT, pieces = STRBUF_INIT;
	enum object_type type = 0;
	uint64_t size = 0;
	int err = packs_read(&data, &type, packs, &object->oid);
	int stream_err = packs_stream(packs, &object->oid, gather, &pieces);

	assert_true(!err || err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT);
	assert_int_equal(stream_err, err);
	assert_int_equal(packs_sound(packs, &object->oid), !err);
	if (!err) {
		assert_int_equal(type, object->type);
		assert_int_equal(data.len, object->data.len);
		assert_memory_equal(data.buf, object->data.buf, data.len);
		assert_int_equal(pieces.len, object->data.len);
		assert_memory_equal(pieces.buf, object->data.buf, pieces.len);
		assert_int_equal(packs_stat(&type, &size, packs, &object->oid), 0);
		assert_int_equal(type, object->type);
		assert_int_equal(size, object->data.len);
	} else {
		assert_int_equal(data.len, 0);
		(void)packs_stat(&type, &size, packs, &object->oid);
	}
	strbuf_release(&data);
	strbuf_release(&pieces);
	return !err;
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
	assert_int_equal(contents.deltas, type != 0);
	strbuf_reset(&text);
	ask(&text, "cd %s; cat objects/pack/*.idx objects/pack/*.pack | wc -c", repo);
	bytes = (size_t)atol(text.buf);
	assert_int_equal(bytes, contents.bytes);
	strbuf_reset(&text);
	ask(&text, "cd %s; ls objects/pack/*.idx | sed 's,.*/,,; s,.idx$,,'", repo);
	strbuf_trim(&text);
	assert_string_equal(text.buf, contents.name);
	pack_contents_release(&contents);
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
	pack_contents_release(&contents);
	return sound;
}

/* ---- damage ---- */

static void path_of(char out[PATH_MAX], const char *repo, const char *ending)
{
	struct strbuf text = STRBUF_INIT;

	ask(&text, "ls \"$PWD\"/%s/objects/pack/*.%s", repo, ending);
	strbuf_trim(&text);
	snprintf(out, PATH_MAX, "%s", text.buf);
	strbuf_release(&text);
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
		pack_contents_release(&contents);
		packs_close(packs);
		sh("cd ofs/objects/pack; rm -f *.pack");
	}
	sh("cd ofs/objects; mv away/* pack; rmdir away");
	close(fd);
}

/* ---- packs that nobody makes ---- */

/* Begin a pack by hand; `hand/objects/pack` has nothing else. */
static void begin(struct strbuf *pack)
{
	sh("rm -f hand/objects/pack/*");
	strbuf_reset(pack);
	strbuf_add(pack, "PACK\0\0\0\2\0\0\0\0", PACK_HEADER_SIZE);
}

/* Add what stands before the bytes: type, size, and where the base is. Returns the offset. */
static size_t head(struct strbuf *pack, int type, uint64_t size)
{
	size_t at = pack->len;
	unsigned char c = (unsigned char)(type << 4 | (size & 15));

	for (size >>= 4; size; size >>= 7) {
		strbuf_addch(pack, c | 0x80);
		c = size & 0x7f;
	}
	strbuf_addch(pack, c);
	return at;
}

static void deflated(struct strbuf *pack, const void *data, size_t len)
{
	unsigned char out[4096];
	uLongf size = sizeof(out);

	assert_int_equal(compress(out, &size, data, len), Z_OK);
	strbuf_add(pack, out, size);
}

/* Distances of two bytes at most. */
static void distance(struct strbuf *pack, size_t value)
{
	if (value > 127)
		strbuf_addch(pack, (int)(0x80 | ((value >> 7) - 1)));
	strbuf_addch(pack, (int)(value & 0x7f));
}

static int by_oid(const void *a, const void *b)
{
	return memcmp(a, b, OID_SIZE);
}

static struct packs *finish(struct strbuf *pack, const char *name, struct pack_entry *entries,
			    size_t nr)
{
	struct pack_entry *sorted = xcalloc(nr, sizeof(*sorted));
	struct packs *packs;
	struct oid id;
	int fd;

	rnd_bytes(&id, sizeof(id));
	strbuf_add(pack, id.id, OID_SIZE);
	put_bytes(in_scratch("hand/objects/pack/pack-%s.pack", name), pack->buf, pack->len);
	fd = open(in_scratch("hand/objects/pack/pack-%s.idx", name),
		  O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
	memcpy(sorted, entries, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_oid);
	assert_int_equal(pack_write_index(fd, sorted, nr, &id), 0);
	close(fd);
	free(sorted);
	fd = open_dir("hand");
	packs = packs_open(fd);
	close(fd);
	return packs;
}

static void name_blob(struct oid *out, const char *text)
{
	struct digest *sha1 = digest_new(HASH_SHA1);

	hash_object(sha1, out, "blob", text, strlen(text));
	digest_free(sha1);
}

/* One object that cannot be read, in any way, and costs neither time nor memory. */
static void is_damaged(struct packs *packs, const struct oid *oid)
{
	struct strbuf out = STRBUF_INIT;
	enum object_type type;

	assert_int_equal(packs_read(&out, &type, packs, oid), CKPT_ECORRUPT);
	assert_int_equal(out.len, 0);
	assert_int_equal(packs_stream(packs, oid, gather, &out), CKPT_ECORRUPT);
	assert_int_equal(out.len, 0);
	assert_false(packs_sound(packs, oid));
	assert_true(out.alloc < 1 << 20);
	strbuf_release(&out);
}

static void test_packs_delta_circles_are_damage(void **state)
{
	struct strbuf pack = STRBUF_INIT;
	struct pack_entry entries[3] = { 0 };
	enum object_type type;
	struct packs *packs;
	uint64_t size;

	(void)state;
	begin(&pack);
	for (int i = 0; i < 3; i++)
		rnd_bytes(&entries[i].oid, OID_SIZE);
	for (int i = 0; i < 3; i++) {
		entries[i].offset = head(&pack, 7, 4);
		/* Two that are made from each other, and one from itself. */
		strbuf_add(&pack, entries[i == 2 ? 2 : !i].oid.id, OID_SIZE);
		deflated(&pack, "\x01\x01\x90\x01", 4);
	}
	packs = finish(&pack, "circle", entries, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(packs_stat(&type, &size, packs, &entries[i].oid), CKPT_ECORRUPT);
		is_damaged(packs, &entries[i].oid);
	}
	packs_close(packs);
	strbuf_release(&pack);
}

static void test_packs_delta_chains_have_a_limit(void **state)
{
	struct strbuf pack = STRBUF_INIT;
	struct pack_entry entry = { 0 };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	name_blob(&entry.oid, "a");
	for (int links = 4094; links <= 4097; links++) {
		enum object_type type;
		struct packs *packs;
		size_t before;

		begin(&pack);
		before = head(&pack, OBJECT_BLOB, 1);
		deflated(&pack, "a", 1);
		for (int i = 0; i < links; i++) {
			size_t at = head(&pack, 6, 4);

			distance(&pack, at - before);
			deflated(&pack, "\x01\x01\x90\x01", 4);
			before = at;
		}
		entry.offset = before;
		packs = finish(&pack, "long", &entry, 1);
		if (links <= 4095) {
			strbuf_reset(&out);
			assert_int_equal(packs_read(&out, &type, packs, &entry.oid), 0);
			assert_string_equal(out.buf, "a");
		} else {
			is_damaged(packs, &entry.oid);
		}
		packs_close(packs);
	}
	strbuf_release(&pack);
	strbuf_release(&out);
}

static void test_packs_delta_bases_may_be_in_another_pack(void **state)
{
	struct strbuf pack = STRBUF_INIT, out = STRBUF_INIT;
	struct pack_entry base = { 0 }, entry = { 0 };
	enum object_type type;
	struct packs *packs;
	uint64_t size;

	(void)state;
	name_blob(&base.oid, "hello");
	name_blob(&entry.oid, "hello!");
	begin(&pack);
	base.offset = head(&pack, OBJECT_BLOB, 5);
	deflated(&pack, "hello", 5);
	packs_close(finish(&pack, "base", &base, 1));
	strbuf_setlen(&pack, PACK_HEADER_SIZE);
	entry.offset = head(&pack, 7, 6);
	strbuf_add(&pack, base.oid.id, OID_SIZE);
	deflated(&pack, "\x05\x06\x90\x05\x01!", 6);
	packs = finish(&pack, "thin", &entry, 1);
	assert_int_equal(packs_stat(&type, &size, packs, &entry.oid), 0);
	assert_int_equal(size, 6);
	assert_int_equal(type, OBJECT_BLOB);
	assert_int_equal(packs_read(&out, &type, packs, &entry.oid), 0);
	assert_string_equal(out.buf, "hello!");
	packs_close(packs);
	/* And without that one it cannot be made. */
	sh("rm hand/objects/pack/pack-base.*");
	packs = finish(&pack, "thin", &entry, 1);
	is_damaged(packs, &entry.oid);
	packs_close(packs);
	strbuf_release(&pack);
	strbuf_release(&out);
}

/* Distances, sizes and instructions that lead nowhere. */
static void test_packs_delta_promises_are_not_believed(void **state)
{
	static const struct {
		const char *distance; /* as it stands there */
		size_t distance_len;
		uint64_t size;
		const char *delta;
		size_t len;
	} cases[] = {
		{ "\x00", 1, 4, "\x01\x01\x90\x01", 4 }, /* itself */
		{ "\x0b", 1, 4, "\x01\x01\x90\x01", 4 }, /* not the begin of an object */
		{ "\x7f", 1, 4, "\x01\x01\x90\x01", 4 }, /* before the pack */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, 4, "\x01\x01\x90\x01", 4 },
		{ "\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\x7f", 9, 4, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 5, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 3, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 0, "", 0 },
		{ NULL, 0, 1ull << 50, "\x01\x01\x90\x01", 4 }, /* a delta of petabytes */
		{ NULL, 0, 1ull << 62, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 11, "\x01\xff\xff\xff\xff\xff\xff\x7f\x90\x01", 10 },
		{ NULL, 0, 10, "\x01\xff\xff\xff\xff\xff\xff\x7f\x90\x01", 10 }, /* or result */
		{ NULL, 0, 4, "\x02\x01\x90\x01", 4 },
		{ NULL, 0, 5, "\x01\x01\x91\x01\x01", 5 },
		{ NULL, 0, 4, "\x01\x01\x01z", 4 }, /* sound, but not "a" */
	};
	struct strbuf pack = STRBUF_INIT;
	struct pack_entry entry = { 0 };

	(void)state;
	name_blob(&entry.oid, "a");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum object_type type;
		struct packs *packs;
		size_t base;
		uint64_t size;

		begin(&pack);
		base = head(&pack, OBJECT_BLOB, 1);
		deflated(&pack, "a", 1);
		entry.offset = head(&pack, 6, cases[i].size);
		if (cases[i].distance)
			strbuf_add(&pack, cases[i].distance, cases[i].distance_len);
		else
			distance(&pack, entry.offset - base);
		deflated(&pack, cases[i].delta, cases[i].len);
		packs = finish(&pack, "odd", &entry, 1);
		is_damaged(packs, &entry.oid);
		(void)packs_stat(&type, &size, packs, &entry.oid);
		packs_close(packs);
	}
	/* The pack ends within what stands before the bytes. */
	for (int i = 0; i < 5; i++) {
		struct packs *packs;

		begin(&pack);
		entry.offset = head(&pack, i < 2 ? 6 : 7, i == 4 ? UINT64_MAX : 4);
		if (i % 2)
			strbuf_add(&pack, i == 1 ? "\xff" : "0123456789012345678", i == 1 ? 1 : 19);
		packs = finish(&pack, "short", &entry, 1);
		is_damaged(packs, &entry.oid);
		packs_close(packs);
	}
	strbuf_release(&pack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_delta_by_offset_as_git_reads_them),
		cmocka_unit_test(test_packs_delta_by_name_as_git_reads_them),
		cmocka_unit_test(test_packs_contents_are_what_git_lists),
		cmocka_unit_test(test_packs_delta_damage_is_never_taken_for_contents),
		cmocka_unit_test(test_packs_contents_tell_of_packs_that_are_gone),
		cmocka_unit_test(test_packs_delta_circles_are_damage),
		cmocka_unit_test(test_packs_delta_chains_have_a_limit),
		cmocka_unit_test(test_packs_delta_bases_may_be_in_another_pack),
		cmocka_unit_test(test_packs_delta_promises_are_not_believed),
	};

	return cmocka_run_group_tests_name("packs_delta", tests, setup, teardown);
}
