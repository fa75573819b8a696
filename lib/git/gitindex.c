/* SPDX-License-Identifier: MIT */
/*
 * The index file as gitformat-index(5) describes it. libgit2 1.5 cannot read all of them, and git is
 * started only for those that are rare.
 */
#include "git/gitindex.h"

#include "git/askgit.h"

#include <pthread.h>

enum {
	HEADER_SIZE = 12,
	MODE_AT = 24, /* where things are in what precedes the name of an entry */
	OID_AT = 40,
	ASSUME_VALID = 0x8000, /* flags, after the id */
	EXTENDED = 0x4000,
	STAGE_SHIFT = 12,
	NAME_MASK = 0xfff,
	SKIP_WORKTREE = 0x4000, /* extended flags, after those */
	INTENT_TO_ADD = 0x2000,
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
	bool needs_git;
};

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int corrupt_index(const char *file, const char *what)
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
		return errno == EINVAL ? corrupt_index(file, "it is not a regular file") :
					 fs_open_failed(file);
	/* Before memory is allocated according to the file. */
	if (st.st_size > SIZE_LIMIT || fs_pread_full(fd, magic, sizeof(magic), 0) < 0 ||
	    memcmp(magic, "DIRC", sizeof(magic))) {
		err = corrupt_index(file, "it does not begin like one, or is too large");
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

/* git's variable width number: seven bits a byte, and each further byte adds one. */
static int read_varint(struct reader *r, size_t *out)
{
	size_t value = 0;
	unsigned char byte;

	do {
		if (r->pos >= r->end || value > (SIZE_MAX >> 8))
			return corrupt_index(r->file, "bad length of a name");
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
		return corrupt_index(r->file, "a name shares more of the previous name than that "
						  "has");
	keep = prev ? prev_len - strip : 0;
	tail = (const char *)r->data + r->pos;
	nul = memchr(tail, '\0', r->end - r->pos);
	if (!nul)
		return corrupt_index(r->file, "a name has no end");
	tail_len = (size_t)(nul - tail);
	r->expanded += keep + tail_len;
	if (r->expanded / MAX_EXPANSION > r->end)
		return corrupt_index(r->file, "its names are too long");
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
		return corrupt_index(r->file, "a name has no end");
	*len_out = (size_t)(nul - name);
	/* One to eight NULs make the entry a multiple of eight bytes long. */
	size = (r->pos - start + *len_out + 8) & ~(size_t)7;
	if (size > r->end - start)
		return corrupt_index(r->file, "an entry is cut off");
	r->pos = start + size;
	*name_out = name;
	return 0;
}

static void add_entry(struct gitindex *index, const char *path, unsigned mode,
		      const unsigned char *oid, unsigned stage, unsigned flags)
{
	*ALLOC_NEXT(index->entries, index->nr, index->alloc) =
		(struct gitindex_entry){ .path = path,
					 .oid = oid,
					 .mode = mode,
					 .stage = (uint8_t)stage,
					 .flags = (uint8_t)flags };
}

static unsigned decode_flags(unsigned flags, unsigned extended)
{
	return (flags & ASSUME_VALID ? GITINDEX_ASSUME_UNCHANGED : 0u) |
	       (extended & SKIP_WORKTREE ? GITINDEX_SKIP_WORKTREE : 0u) |
	       (extended & INTENT_TO_ADD ? GITINDEX_INTENT_TO_ADD : 0u);
}

static int read_entry(struct gitindex *index, struct reader *r, const char **prev)
{
	size_t start = r->pos, fixed = OID_AT + r->hash_len + 2, len = 0;
	const unsigned char *raw = r->data + start;
	unsigned flags, extended = 0;
	const char *name = NULL;
	int err;

	if (r->end - r->pos < fixed + 2)
		return corrupt_index(r->file, "it ends too early");
	r->pos += fixed;
	flags = get32(r->data + r->pos - 2) >> 16;
	if (flags & EXTENDED) {
		extended = get32(r->data + r->pos - 2) & 0xffff;
		r->pos += 2;
		if (extended & ~(unsigned)(SKIP_WORKTREE | INTENT_TO_ADD))
			return corrupt_index(r->file, "unknown flags of an entry");
	}
	if (r->version == 4)
		err = read_compressed_name(&name, &len, r, &index->names, *prev);
	else
		err = read_plain_name(&name, &len, r, start);
	if (err)
		return err;
	/* If the length does not fit, the field is all ones. */
	if ((flags & NAME_MASK) != (len < NAME_MASK ? len : NAME_MASK))
		return corrupt_index(r->file, "wrong length of a name");
	add_entry(index, name, get32(raw + MODE_AT), raw + OID_AT, flags >> STAGE_SHIFT & 3,
		  decode_flags(flags, extended));
	*prev = name;
	return 0;
}

static int read_extensions(struct gitindex *index, struct reader *r)
{
	while (r->pos < r->end) {
		const unsigned char *signature = r->data + r->pos;
		size_t size;

		if (r->end - r->pos < 8)
			return corrupt_index(r->file, "an extension is cut off");
		size = get32(signature + 4);
		r->pos += 8;
		if (size > r->end - r->pos)
			return corrupt_index(r->file, "an extension is cut off");
		if (!memcmp(signature, "sdir", 4)) {
			index->sparse = true;
		} else if (!memcmp(signature, "TREE", 4)) {
			index->tree = signature + 8;
			index->tree_len = size;
		} else if (signature[0] < 'A' || signature[0] > 'Z') {
			/* Must be understood, unlike those with a capital letter: "link" of a split one. */
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
		return corrupt_index(r->file, "it is too short");
	r->end = size - r->hash_len;
	if (memcmp(r->data, "DIRC", 4))
		return corrupt_index(r->file, "it does not begin like one");
	r->version = get32(r->data + 4);
	if (r->version < 2 || r->version > 4)
		return ckpt_error_set(CKPT_ECORRUPT, "index file '%s' has the unknown version %u",
				      r->file, r->version);
	count = get32(r->data + 8);
	r->pos = HEADER_SIZE;
	/* Before memory is allocated according to the file. */
	if (count > (r->end - r->pos) / (OID_AT + r->hash_len + 2))
		return corrupt_index(r->file, "it is too short for its number of entries");
	ALLOC_GROW(index->entries, index->nr + count, index->alloc);
	while (count--) {
		err = read_entry(index, r, &prev);
		if (err)
			return err;
	}
	return read_extensions(index, r);
}

int gitindex_parse(struct gitindex *index, bool *needs_git_out, const char *file)
{
	struct reader r = { .file = file, .hash_len = index->hash_len };
	size_t size;
	int err = read_index_file(&index->data, &size, file);

	if (err)
		return err;
	r.data = (const unsigned char *)index->data;
	err = read_index(index, &r, size);
	*needs_git_out = r.needs_git;
	return err;
}

void gitindex_reset(struct gitindex *index)
{
	free(index->entries);
	free(index->data);
	arena_release(&index->names);
	*index = (struct gitindex){ .hash_len = index->hash_len, .names = ARENA_INIT };
}

/* --- with git's help --- */

/* `args` ends with a NULL. */
static int ask_git(struct strbuf *out, const char *worktree, const char *gitdir,
	       const char *const args[])
{
	const struct gitrun how = { .gitdir = gitdir, .worktree = worktree };
	int err = askgit(out, &how, args);

	if (err)
		err = ckpt_error_prefix(err == CKPT_ENOTFOUND ? CKPT_ERROR : CKPT_ECORRUPT,
					"unable to read the index in '%s'", gitdir);
	return err;
}

/* "<mode> <id> <stage>\t<path>" NUL, then what --debug tells, up to "flags: <flags>\n". */
static bool take_line(struct gitindex *index, char **at)
{
	enum { DEBUG_SKIP_WORKTREE = 1 << 30, DEBUG_INTENT_TO_ADD = 1 << 29 };
	char *line = *at, *tab = strchr(line, '\t'), *debug, *flags;
	unsigned char *oid = arena_alloc(&index->names, index->hash_len);
	unsigned long bits;

	if (!tab || (size_t)(tab - line) != 7 + 2 * index->hash_len + 2 ||
	    !oid_hex_decode(oid, line + 7, index->hash_len))
		return false;
	debug = tab + 1 + strlen(tab + 1) + 1;
	flags = strstr(debug, "flags: ");
	if (!flags)
		return false;
	bits = strtoul(flags + 7, at, 16);
	if (**at != '\n')
		return false;
	++*at;
	add_entry(index, tab + 1, (unsigned)strtoul(line, NULL, 8), oid, (unsigned)(tab[-1] - '0') & 3,
		  (bits & ASSUME_VALID ? GITINDEX_ASSUME_UNCHANGED : 0u) |
			  (bits & DEBUG_SKIP_WORKTREE ? GITINDEX_SKIP_WORKTREE : 0u) |
			  (bits & DEBUG_INTENT_TO_ADD ? GITINDEX_INTENT_TO_ADD : 0u));
	return true;
}

static bool is_index(const char *name)
{
	return !strcmp(name, "index") || !strncmp(name, "sharedindex.", strlen("sharedindex."));
}

/* A repository that has nothing but a copy of the index and of what it shares. */
static int copy_index(const char *dir, const char *gitdir, bool sha256)
{
	static const char head[] = "ref: refs/heads/none\n";
	static const char config[] = "[core]\nrepositoryformatversion = 1\n"
				     "[extensions]\nobjectformat = sha256\n";
	char *objects = xstrfmt("%s/objects", dir), *refs = xstrfmt("%s/refs", dir);
	struct strlist names = STRLIST_INIT;
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (dirfd < 0 || mkdir(objects, 0700) < 0 || mkdir(refs, 0700) < 0 ||
	    fs_names(&names, AT_FDCWD, gitdir, 0, is_index) < 0)
		err = ckpt_error_errno("unable to copy the index in '%s'", gitdir);
	if (!err)
		err = fs_write_file(dirfd, "HEAD", head, strlen(head), 0600, FS_FAST);
	if (!err && sha256)
		err = fs_write_file(dirfd, "config", config, strlen(config), 0600, FS_FAST);
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *from = xstrfmt("%s/%s", gitdir, names.items[i]), *data = NULL;
		size_t len = 0;

		err = read_index_file(&data, &len, from);
		if (!err)
			err = fs_write_file(dirfd, names.items[i], data, len, 0600, FS_FAST);
		free(data);
		free(from);
	}
	fs_close(dirfd);
	strlist_release(&names);
	free(objects);
	free(refs);
	return err;
}

/*
 * An extension that we do not know may change what the entries mean, and a split index is half of
 * one. git lists a copy: it updates the time of a shared index whenever it reads one, and the
 * project's .git must not be touched.
 */
static int read_with_git(struct gitindex *index, const char *worktree, const char *gitdir)
{
	static const char *const args[] = { "ls-files", "-z", "--stage", "--debug", NULL };
	const char *tmp = getenv("TMPDIR");
	char *dir = xstrfmt("%s/git-checkpoint-index.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	struct strbuf out = STRBUF_INIT;
	size_t len;
	char *at;
	int err = 0;

	if (!mkdtemp(dir)) {
		err = ckpt_error_errno("unable to create the directory '%s'", dir);
		free(dir);
		return err;
	}
	err = copy_index(dir, gitdir, index->hash_len == SHA256_SIZE);
	if (!err)
		err = ask_git(&out, worktree, dir, args);
	(void)fs_remove_tree(AT_FDCWD, dir);
	free(dir);
	len = out.len;
	at = index->data = strbuf_detach(&out, NULL);
	while (!err && at < index->data + len)
		if (!take_line(index, &at))
			err = ckpt_error_set(CKPT_ECORRUPT,
					     "unable to read the index in '%s': 'git ls-files' said '%s'",
					     gitdir, at);
	return err;
}

/* The files of a directory that a sparse index has as one entry. */
static int add_tree(struct gitindex *index, const char *worktree, const char *gitdir,
		    const struct gitindex_entry *dir)
{
	char hex[SHA256_HEX + 1];
	const char *const args[] = { "ls-tree", "-r", "-z", "--full-tree", hex, NULL };
	struct strbuf out = STRBUF_INIT, path = STRBUF_INIT;
	int err;

	oid_hex_encode(hex, dir->oid, index->hash_len);
	err = ask_git(&out, worktree, gitdir, args);
	/* "<mode> <type> <hash>\t<name>" */
	for (size_t i = 0; !err && i < out.len; i += strlen(out.buf + i) + 1) {
		const char *line = out.buf + i, *tab = strchr(line, '\t');
		unsigned char *oid = arena_alloc(&index->names, index->hash_len);

		if (!tab || (size_t)(tab - line) < 2 * index->hash_len ||
		    !oid_hex_decode(oid, tab - 2 * index->hash_len, index->hash_len))
			continue;
		strbuf_reset(&path);
		strbuf_addf(&path, "%s%s", dir->path, tab + 1);
		add_entry(index, arena_memdupz(&index->names, path.buf, path.len),
			  (unsigned)strtoul(line, NULL, 8), oid, 0, GITINDEX_SKIP_WORKTREE);
	}
	strbuf_release(&path);
	strbuf_release(&out);
	return err;
}

/*
 * Asked for the files of a sparse index as a whole, git builds the trees of
 * all directories and writes those that the repository does not have yet. So
 * it is asked for each tree separately.
 */
static int expand_sparse(struct gitindex *index, const char *worktree, const char *gitdir)
{
	struct gitindex_entry *old = index->entries;
	size_t nr = index->nr;
	int err = 0;

	index->entries = NULL;
	index->nr = index->alloc = 0;
	for (size_t i = 0; i < nr && !err; i++) {
		if (old[i].mode == 040000) {
			err = add_tree(index, worktree, gitdir, &old[i]);
		} else {
			*ALLOC_NEXT(index->entries, index->nr, index->alloc) = old[i];
		}
	}
	free(old);
	return err;
}

/* Whoever looks something up relies on the order. */
static int check_order(const struct gitindex *index, const char *file)
{
	for (size_t i = 0; i < index->nr; i++) {
		if (!*index->entries[i].path)
			return corrupt_index(file, "an entry has no name");
		if (i && strcmp(index->entries[i - 1].path, index->entries[i].path) > 0)
			return corrupt_index(file, "its entries are not in order");
	}
	return 0;
}

static int load_index(struct gitindex *index, const char *file, const char *worktree,
		const char *gitdir, bool sha256)
{
	bool needs_git = false;
	int err;

	*index = (struct gitindex){ .hash_len = sha256 ? SHA256_SIZE : OID_SIZE, .names = ARENA_INIT };
	err = gitindex_parse(index, &needs_git, file);
	if (err == CKPT_ENOTFOUND)
		err = 0;
	if (!err && needs_git) {
		gitindex_reset(index);
		err = read_with_git(index, worktree, gitdir);
	}
	if (!err && index->sparse)
		err = expand_sparse(index, worktree, gitdir);
	return err ? err : check_order(index, file);
}

/* --- sharing --- */

/* The one that was read last. It is used itself, until another takes its place. */
static struct {
	pthread_mutex_t lock;
	char *file;
	struct stat st; /* from before it was read */
	bool settled;	/* they show whether it has changed since */
	struct gitindex *index;
} last = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void drop_use(struct gitindex *index)
{
	if (!index || --index->uses)
		return;
	gitindex_reset(index);
	free(index);
}

static int replace_last(const char *file, const struct stat *st, const char *worktree,
			const char *gitdir, bool sha256)
{
	struct gitindex *index = xcalloc(1, sizeof(*index));
	int64_t now = clock_file_ns();
	int err = load_index(index, file, worktree, gitdir, sha256);

	index->uses = 1;
	if (err) {
		drop_use(index);
		return err;
	}
	drop_use(last.index);
	free(last.file);
	last.index = index;
	last.file = xstrdup(file);
	last.st = *st;
	last.settled = st->st_ino && fs_is_settled(st, now);
	return 0;
}

int gitindex_open(struct gitindex **out, const char *worktree, const char *gitdir, bool sha256)
{
	char *file = xstrfmt("%s/index", gitdir);
	struct stat st;
	int err = 0;

	if (stat(file, &st) < 0)
		memset(&st, 0, sizeof(st));
	pthread_mutex_lock(&last.lock);
	if (!last.index || !last.settled || strcmp(last.file, file) != 0 ||
	    !fs_same_file(&last.st, &st) ||
	    last.index->hash_len != (sha256 ? SHA256_SIZE : OID_SIZE))
		err = replace_last(file, &st, worktree, gitdir, sha256);
	if (!err) {
		last.index->uses++;
		*out = last.index;
	}
	pthread_mutex_unlock(&last.lock);
	free(file);
	return err;
}

void gitindex_close(struct gitindex *index)
{
	pthread_mutex_lock(&last.lock);
	drop_use(index);
	pthread_mutex_unlock(&last.lock);
}

/* --- looking up --- */

/* Compare `name` with `path` + `suffix`. */
static int compare_path(const char *name, const char *path, size_t len, const char *suffix)
{
	int cmp = strncmp(name, path, len);

	return cmp ? cmp : strcmp(name + len, suffix);
}

/* The first entry that is not less than `path` + `suffix`, or the number of all. */
static size_t lower_bound(const struct gitindex *index, const char *path, size_t len,
			  const char *suffix)
{
	size_t at;

	LOWER_BOUND(at, index->nr, compare_path(index->entries[at].path, path, len, suffix) < 0);
	return at;
}

static bool has_below(const struct gitindex *index, const char *path, size_t len)
{
	size_t i = lower_bound(index, path, len, "/");

	return i < index->nr && !strncmp(index->entries[i].path, path, len) &&
	       index->entries[i].path[len] == '/';
}

/* The first of those with this path: a conflict has several. */
static const struct gitindex_entry *find_entry(const struct gitindex *index, const char *path)
{
	size_t i = lower_bound(index, path, strlen(path), "");

	return i < index->nr && !strcmp(index->entries[i].path, path) ? &index->entries[i] : NULL;
}

bool gitindex_has(const struct gitindex *index, const char *path)
{
	return find_entry(index, path) != NULL;
}

bool gitindex_has_below(const struct gitindex *index, const char *path)
{
	const struct gitindex_entry *end = index->entries + index->nr;

	if (!*path)
		return index->nr > 0;
	if (has_below(index, path, strlen(path)))
		return true;
	for (const struct gitindex_entry *entry = find_entry(index, path);
	     entry && entry < end && !strcmp(entry->path, path); entry++)
		if ((entry->mode & 0170000) == 0160000)
			return true;
	return false;
}

/*
 * The extension begins with the root: an empty name, the number of entries that
 * its tree covers (-1: changed since), the number of subtrees, the tree.
 */
bool gitindex_is_tree(const struct gitindex *index, const char *tree)
{
	const char *text = (const char *)index->tree, *end;
	unsigned char oid[SHA256_SIZE];

	if (!text || index->tree_len < 4 || *text || text[1] == '-' ||
	    !oid_hex_decode(oid, tree, index->hash_len))
		return false;
	end = memchr(text, '\n', index->tree_len);
	return end && (size_t)(text + index->tree_len - (end + 1)) >= index->hash_len &&
	       !memcmp(end + 1, oid, index->hash_len);
}
