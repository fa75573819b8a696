/* SPDX-License-Identifier: MIT */
/*
 * The index file as gitformat-index(5) describes it. A split index is merged
 * here: git could do it, but it updates the time of the shared file whenever
 * it reads one, and the project's .git must not be touched.
 */
#include "git/indexfile_internal.h"

#include "base/base.h"
#include "git/gitstate.h"

enum {
	HEADER_SIZE = 12,
	EXTENDED_KNOWN = INDEXFILE_SKIP_WORKTREE | INDEXFILE_INTENT_TO_ADD,
	MAX_EXPANSION =
		64, /* how many times the size of the file the names of a version 4 may take */
};

/* Room for some forty million files. */
#define SIZE_LIMIT ((off_t)4 << 30)

/* One index file while it is read. */
struct reader {
	const char *file;
	const unsigned char *data;
	size_t pos, end; /* `end` is where the checksum starts */
	size_t hash_len;
	unsigned version;
	size_t expanded;
	const unsigned char *link; /* the extension of a split index, or NULL */
	size_t link_len;
	bool needs_git;
};

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t get64(const unsigned char *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

static void put32(unsigned char *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> (24 - 8 * i));
}

int indexfile_corrupt(const char *file, const char *what)
{
	return ckpt_error_set(CKPT_ECORRUPT, "index file '%s' is damaged: %s", file, what);
}

/* Not fs_read_file(): git follows a symbolic link here. */
static int read_index_file(char **data_out, size_t *len_out, const char *file)
{
	struct stat st;
	int fd = fs_open_regular(&st, AT_FDCWD, file, 0);
	char *data = NULL, magic[4] = "";
	ssize_t len;
	int err = 0;

	if (fd < 0)
		return errno == EINVAL ? indexfile_corrupt(file, "it is not a regular file") :
					 fs_open_failed(file);
	/* Before memory is allocated according to the file. */
	if (st.st_size > SIZE_LIMIT || fs_pread_full(fd, magic, sizeof(magic), 0) < 0 ||
	    memcmp(magic, "DIRC", sizeof(magic))) {
		err = indexfile_corrupt(file, "it does not begin like one, or is too large");
		goto out;
	}
	data = xmalloc((size_t)st.st_size + 1);
	len = fs_read_full(fd, data, (size_t)st.st_size);
	if (len < 0) {
		err = ckpt_error_errno("unable to read '%s'", file);
		goto out;
	}
	data[len] = '\0';
	*data_out = data;
	*len_out = (size_t)len;
	data = NULL;
out:
	free(data);
	close(fd);
	return err;
}

static void add_raw(struct gitindex *index, const char *name, const unsigned char *raw)
{
	ALLOC_GROW(index->entries, index->nr + 1, index->alloc);
	index->entries[index->nr++] = (struct index_entry){ name, raw };
}

void indexfile_add(struct gitindex *index, const char *name, unsigned mode, const char *hex,
		   unsigned flags)
{
	unsigned char *raw = arena_alloc(&index->names, INDEXFILE_OID + index->hash_len + 4), *p;
	bool skipped = flags & INDEXFILE_ADD_SKIPPED;

	memset(raw, 0, INDEXFILE_OID + index->hash_len + 4);
	put32(raw + INDEXFILE_MODE, mode);
	(void)oid_hex_decode(raw + INDEXFILE_OID, hex, index->hash_len);
	p = raw + INDEXFILE_OID + index->hash_len;
	put32(p,
	      (flags & INDEXFILE_ADD_STAGE) << (INDEXFILE_STAGE_SHIFT + 16) |
		      (skipped ? (uint32_t)INDEXFILE_EXTENDED << 16 | INDEXFILE_SKIP_WORKTREE : 0));
	add_raw(index, name, raw);
}

unsigned indexfile_mode(const struct index_entry *entry)
{
	return get32(entry->raw + INDEXFILE_MODE);
}

static unsigned flags_of(const struct gitindex *index, const struct index_entry *entry)
{
	const unsigned char *p = entry->raw + INDEXFILE_OID + index->hash_len;

	return (unsigned)p[0] << 8 | p[1];
}

unsigned indexfile_stage(const struct gitindex *index, const struct index_entry *entry)
{
	return flags_of(index, entry) >> INDEXFILE_STAGE_SHIFT & 3;
}

unsigned indexfile_flags(const struct gitindex *index, const struct index_entry *entry)
{
	const unsigned char *extended = entry->raw + INDEXFILE_OID + index->hash_len + 2;
	unsigned raw = flags_of(index, entry), more = 0;

	if (raw & INDEXFILE_EXTENDED)
		more = (unsigned)extended[0] << 8 | extended[1];
	return (raw & INDEXFILE_ASSUME_VALID ? GITSTATE_ASSUME_UNCHANGED : 0u) |
	       (more & INDEXFILE_SKIP_WORKTREE ? GITSTATE_SKIP_WORKTREE : 0u) |
	       (more & INDEXFILE_INTENT_TO_ADD ? GITSTATE_INTENT_TO_ADD : 0u);
}

void indexfile_release(struct gitindex *index)
{
	size_t hash_len = index->hash_len;

	free(index->entries);
	free(index->data[0]);
	free(index->data[1]);
	arena_release(&index->names);
	*index = (struct gitindex){ .hash_len = hash_len, .names = ARENA_INIT };
}

/* git's variable width number: seven bits a byte, and each further byte adds one. */
static int read_varint(struct reader *r, size_t *out)
{
	size_t value = 0;
	unsigned char byte;

	do {
		if (r->pos >= r->end || value > (SIZE_MAX >> 8))
			return indexfile_corrupt(r->file, "bad length of a name");
		byte = r->data[r->pos++];
		value = (value << 7) + (byte & 0x7f);
		if (byte & 0x80)
			value++;
	} while (byte & 0x80);
	*out = value;
	return 0;
}

/* Version 4: how many bytes to drop from the end of the previous name, then what follows. */
static int read_compressed_name(const char **name_out, size_t *len_out, struct reader *r,
				struct arena *names, const char *prev)
{
	size_t strip = 0, keep, prev_len = prev ? strlen(prev) : 0, tail_len;
	const char *tail, *nul;
	char *name;
	int err = read_varint(r, &strip);

	if (err)
		return err;
	if (prev && strip > prev_len)
		return indexfile_corrupt(r->file, "a name shares more of the previous name than that "
						  "has");
	keep = prev ? prev_len - strip : 0;
	tail = (const char *)r->data + r->pos;
	nul = memchr(tail, '\0', r->end - r->pos);
	if (!nul)
		return indexfile_corrupt(r->file, "a name has no end");
	tail_len = (size_t)(nul - tail);
	r->expanded += keep + tail_len;
	if (r->expanded / MAX_EXPANSION > r->end)
		return indexfile_corrupt(r->file, "its names are too long");
	name = arena_alloc(names, keep + tail_len + 1);
	if (keep)
		memcpy(name, prev, keep);
	memcpy(name + keep, tail, tail_len + 1);
	r->pos += tail_len + 1;
	*name_out = name;
	*len_out = keep + tail_len;
	return 0;
}

static int read_plain_name(const char **name_out, size_t *len_out, struct reader *r, size_t start)
{
	const char *name = (const char *)r->data + r->pos;
	const char *nul = memchr(name, '\0', r->end - r->pos);
	size_t size;

	if (!nul)
		return indexfile_corrupt(r->file, "a name has no end");
	*len_out = (size_t)(nul - name);
	/* One to eight NULs make the entry a multiple of eight bytes long. */
	size = (r->pos - start + *len_out + 8) & ~(size_t)7;
	if (size > r->end - start)
		return indexfile_corrupt(r->file, "an entry is cut off");
	r->pos = start + size;
	*name_out = name;
	return 0;
}

static int read_entry(struct gitindex *index, struct reader *r, const char **prev)
{
	size_t start = r->pos, fixed = INDEXFILE_OID + r->hash_len + 2, len = 0;
	unsigned flags, extended;
	const char *name = NULL;
	int err;

	if (r->end - r->pos < fixed + 2)
		return indexfile_corrupt(r->file, "it ends too early");
	r->pos += fixed;
	flags = get32(r->data + r->pos - 2) >> 16;
	if (flags & INDEXFILE_EXTENDED) {
		extended = get32(r->data + r->pos - 2) & 0xffff;
		r->pos += 2;
		if (extended & ~(unsigned)EXTENDED_KNOWN)
			return indexfile_corrupt(r->file, "unknown flags of an entry");
	}
	if (r->version == 4)
		err = read_compressed_name(&name, &len, r, &index->names, *prev);
	else
		err = read_plain_name(&name, &len, r, start);
	if (err)
		return err;
	/* If the length does not fit, the field is all ones. */
	if ((flags & INDEXFILE_NAME_MASK) !=
	    (len < INDEXFILE_NAME_MASK ? len : INDEXFILE_NAME_MASK))
		return indexfile_corrupt(r->file, "wrong length of a name");
	add_raw(index, name, r->data + start);
	*prev = name;
	return 0;
}

static int read_extensions(struct gitindex *index, struct reader *r)
{
	while (r->pos < r->end) {
		const unsigned char *signature = r->data + r->pos;
		size_t size;

		if (r->end - r->pos < 8)
			return indexfile_corrupt(r->file, "an extension is cut off");
		size = get32(signature + 4);
		r->pos += 8;
		if (size > r->end - r->pos)
			return indexfile_corrupt(r->file, "an extension is cut off");
		if (!memcmp(signature, "link", 4)) {
			r->link = signature + 8;
			r->link_len = size;
		} else if (!memcmp(signature, "sdir", 4)) {
			index->sparse = true;
		} else if (!memcmp(signature, "TREE", 4)) {
			index->tree = signature + 8;
			index->tree_len = size;
		} else if (!memcmp(signature, "REUC", 4)) {
			index->resolve_undo = signature + 8;
			index->resolve_undo_len = size;
		} else if (signature[0] < 'A' || signature[0] > 'Z') {
			/* Must be understood, unlike those with a capital letter. */
			r->needs_git = true;
		}
		r->pos += size;
	}
	return 0;
}

static int read_index(struct gitindex *index, struct reader *r, size_t size)
{
	const char *prev = NULL;
	uint32_t count;
	int err;

	if (size < HEADER_SIZE + r->hash_len)
		return indexfile_corrupt(r->file, "it is too short");
	r->end = size - r->hash_len;
	if (memcmp(r->data, "DIRC", 4))
		return indexfile_corrupt(r->file, "it does not begin like one");
	r->version = get32(r->data + 4);
	if (r->version < 2 || r->version > 4)
		return ckpt_error_set(CKPT_ECORRUPT, "index file '%s' has the unknown version %u",
				      r->file, r->version);
	count = get32(r->data + 8);
	r->pos = HEADER_SIZE;
	/* Before memory is allocated according to the file. */
	if (count > (r->end - r->pos) / (INDEXFILE_OID + r->hash_len + 2))
		return indexfile_corrupt(r->file, "it is too short for its number of entries");
	ALLOC_GROW(index->entries, index->nr + count, index->alloc);
	while (count--) {
		err = read_entry(index, r, &prev);
		if (err)
			return err;
	}
	return read_extensions(index, r);
}

/*
 * A compressed bitmap (EWAH): be32 bits, be32 words, the words, be32. A word
 * that counts (run of equal words, literal words that follow) comes first.
 * Sets bits[i] for each bit i; none may be at `nr` or beyond.
 */
static int read_bitmap(unsigned char *bits, size_t nr, const unsigned char **p, size_t *len,
		       const char *file)
{
	const unsigned char *word = *p + 8, *end;
	uint64_t words, bit = 0;

	if (*len < 12)
		return indexfile_corrupt(file, "a bitmap is cut off");
	words = get32(*p + 4);
	if (words > (*len - 12) / 8)
		return indexfile_corrupt(file, "a bitmap is cut off");
	end = word + words * 8;
	while (word < end) {
		uint64_t control = get64(word), run = (control >> 1 & UINT32_MAX) * 64;
		uint64_t literals = control >> 33;

		word += 8;
		if (literals > (uint64_t)(end - word) / 8)
			return indexfile_corrupt(file, "a bitmap is cut off");
		if (control & 1) {
			if (bit > nr || run > nr - bit)
				return indexfile_corrupt(file, "a bitmap is too long");
			memset(bits + bit, 1, run);
		}
		bit += run;
		for (; literals; literals--, word += 8, bit += 64) {
			uint64_t literal = get64(word);

			for (unsigned i = 0; literal; i++, literal >>= 1) {
				if (!(literal & 1))
					continue;
				if (bit + i >= nr)
					return indexfile_corrupt(file, "a bitmap is too long");
				bits[bit + i] = 1;
			}
		}
	}
	*len -= words * 8 + 12;
	*p = end + 4;
	return 0;
}

/*
 * What the split index says about the entries of its shared one, which are at
 * the end of the list: some are gone, some are replaced by its own first ones,
 * which then have no name. `nr` is the number of its own.
 */
static int apply_link(struct gitindex *index, size_t nr, struct reader *r)
{
	size_t shared_nr = index->nr - nr, replaced = 0, kept = 0, len = r->link_len - r->hash_len;
	unsigned char *deleted = xcalloc(shared_nr + 1, 1), *replace = xcalloc(shared_nr + 1, 1);
	struct index_entry *shared = index->entries + nr;
	const unsigned char *p = r->link + r->hash_len;
	int err = 0;

	if (len) {
		err = read_bitmap(deleted, shared_nr, &p, &len, r->file);
		if (!err)
			err = read_bitmap(replace, shared_nr, &p, &len, r->file);
		if (!err && len)
			err = indexfile_corrupt(r->file, "there is more data after its bitmaps");
	}
	for (size_t i = 0; !err && i < shared_nr; i++) {
		if (replace[i]) {
			if (replaced == nr || *index->entries[replaced].name)
				err = indexfile_corrupt(r->file, "an entry that replaces one has a name");
			else
				shared[i].raw = index->entries[replaced++].raw;
		}
		if (!deleted[i])
			shared[kept++] = shared[i];
	}
	if (!err) {
		index->nr = nr + kept - replaced;
		memmove(index->entries, index->entries + replaced,
			index->nr * sizeof(*index->entries));
	}
	free(deleted);
	free(replace);
	return err;
}

static int compare_entries(const void *a_, const void *b_, void *index)
{
	const struct index_entry *a = a_, *b = b_;
	int order = strcmp(a->name, b->name);

	return order ? order : (int)indexfile_stage(index, a) - (int)indexfile_stage(index, b);
}

static int read_shared(struct gitindex *index, const char *gitdir, struct reader *own)
{
	struct reader r = { .hash_len = own->hash_len };
	struct strbuf file = STRBUF_INIT;
	size_t own_nr = index->nr, size = 0;
	struct gitindex kept;
	bool have_base = false;
	int err = 0;

	if (own->link_len < own->hash_len) {
		err = indexfile_corrupt(own->file, "its link to a shared index is cut off");
		goto out;
	}
	strbuf_addf(&file, "%s/sharedindex.", gitdir);
	for (size_t i = 0; i < own->hash_len; i++) {
		strbuf_addf(&file, "%02x", own->link[i]);
		have_base |= own->link[i] != 0;
	}
	if (!have_base)
		goto out;
	r.file = file.buf;
	err = read_index_file(&index->data[1], &size, r.file);
	if (err) {
		err = err == CKPT_ENOTFOUND ? CKPT_ECORRUPT : err;
		goto out;
	}
	r.data = (const unsigned char *)index->data[1];
	kept = *index;
	err = read_index(index, &r, size);
	/* The extensions of the shared one say nothing about the whole. */
	index->tree = kept.tree;
	index->tree_len = kept.tree_len;
	index->resolve_undo = kept.resolve_undo;
	index->resolve_undo_len = kept.resolve_undo_len;
	if (!err && memcmp(r.data + r.end, own->link, r.hash_len))
		err = indexfile_corrupt(r.file, "its contents do not match its name");
	if (!err)
		err = apply_link(index, own_nr, own);
	own->needs_git |= r.needs_git;
	if (!err)
		qsort_r(index->entries, index->nr, sizeof(*index->entries), compare_entries, index);
out:
	strbuf_release(&file);
	return err;
}

int indexfile_read(struct gitindex *index, bool *needs_git_out, const char *file,
		   const char *gitdir)
{
	struct reader r = { .file = file, .hash_len = index->hash_len };
	size_t size;
	int err = read_index_file(&index->data[0], &size, file);

	if (err)
		return err;
	r.data = (const unsigned char *)index->data[0];
	err = read_index(index, &r, size);
	if (!err && r.link && !r.needs_git)
		err = read_shared(index, gitdir, &r);
	*needs_git_out = r.needs_git;
	return err;
}
