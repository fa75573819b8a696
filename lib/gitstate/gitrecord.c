/* SPDX-License-Identifier: MIT */
#include "gitstate/gitrecord.h"

#define VERSION "1"
#define BLOBS "blobs"
#define AUTOSTASH "autostash.pack"

static const char *const text_names[GITRECORD_TEXTS] = { "flagged", "head", "index", "operation",
							 "refs" };

/* In an entry of the index, where "-" means none. */
static const struct {
	char letter;
	unsigned flag;
} flag_letters[] = {
	{ 'i', GITINDEX_INTENT_TO_ADD },
	{ 's', GITINDEX_SKIP_WORKTREE },
	{ 'a', GITINDEX_ASSUME_UNCHANGED },
	{ 'h', GITSTATE_AS_HEAD },
};

/* --- the texts, written --- */

static void add_optional(struct strbuf *out, const char *key, const char *value)
{
	if (value)
		strbuf_add_field(out, "%s %s", key, value);
}

static void encode_head(struct strbuf *out, const struct gitstate *state)
{
	strbuf_add_field(out, "version %s", VERSION);
	add_optional(out, "head", state->head);
	add_optional(out, "ref", state->ref);
	add_optional(out, "tree", state->head_tree);
	for (size_t i = 0; i < state->branch_config.nr; i++)
		strbuf_add_field(out, "config %s", state->branch_config.items[i]);
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

/* Those that only have flags, or only the others. */
static void encode_entries(struct strbuf *out, const struct gitstate *state, bool flagged)
{
	for (size_t i = 0; i < state->entries_nr; i++) {
		const struct gitstate_entry *entry = &state->entries[i];
		char flags[ARRAY_SIZE(flag_letters) + 1] = "";
		size_t nr = 0;

		if (flagged != !!(entry->flags & GITSTATE_AS_HEAD))
			continue;
		for (size_t n = 0; n < ARRAY_SIZE(flag_letters); n++)
			if (entry->flags & flag_letters[n].flag)
				flags[nr++] = flag_letters[n].letter;
		strbuf_add_field(out, "entry %06o %s %u %s %06o %s %s", entry->mode, or_dash(entry->oid),
			  entry->stage, or_dash(flags), entry->head_mode, or_dash(entry->head_oid),
			  entry->path);
	}
}

/* Of a sparse checkout there are many, which stay the same while others are staged. */
static void encode_flagged(struct strbuf *out, const struct gitstate *state)
{
	encode_entries(out, state, true);
}

static void encode_index(struct strbuf *out, const struct gitstate *state)
{
	encode_entries(out, state, false);
}

static void encode_operation(struct strbuf *out, const struct gitstate *state)
{
	add_optional(out, "operation", state->operation);
	if (state->total)
		strbuf_add_field(out, "step %u %u", state->step, state->total);
	add_optional(out, "autostash", state->autostash);
	for (size_t i = 0; i < state->private_refs_nr; i++)
		strbuf_add_field(out, "ref %s %s", state->private_refs[i].oid,
			  state->private_refs[i].name);
	for (size_t i = 0; i < state->files_nr; i++) {
		strbuf_add_field(out, "file %zu %s", state->files[i].len, state->files[i].path);
		strbuf_add(out, state->files[i].data, state->files[i].len);
		strbuf_addch(out, '\0');
	}
}

static void encode_refs(struct strbuf *out, const struct gitstate *state)
{
	for (size_t i = 0; i < state->branches_nr; i++)
		strbuf_add_field(out, "branch %s %s", state->branches[i].oid, state->branches[i].name);
	for (size_t i = 0; i < state->stashes_nr; i++)
		strbuf_add_field(out, "stash %s %s", state->stashes[i].oid, state->stashes[i].note);
}

void gitrecord_encode(struct strbuf *out, const struct gitstate *state, enum gitrecord_text which)
{
	static void (*const encode[])(struct strbuf *, const struct gitstate *) = {
		[GITRECORD_FLAGGED] = encode_flagged, [GITRECORD_HEAD] = encode_head,
		[GITRECORD_INDEX] = encode_index,     [GITRECORD_OPERATION] = encode_operation,
		[GITRECORD_REFS] = encode_refs,
	};

	encode[which](out, state);
}

/* --- the texts, read --- */

struct cursor {
	const char *p, *end;
};

/* The next word of a field, up to a blank; false if it is longer than `size` - 1 or has no blank. */
static bool read_word(char *out, size_t size, const char **p)
{
	size_t len = strcspn(*p, " ");

	if (!(*p)[len] || len >= size)
		return false;
	memcpy(out, *p, len);
	out[len] = '\0';
	*p += len + 1;
	return true;
}

static bool read_id(char out[GITSTATE_OID], const char **p)
{
	bool ok = read_word(out, GITSTATE_OID, p);

	if (ok && !strcmp(out, "-"))
		*out = '\0';
	return ok;
}

static bool read_number(unsigned *out, const char **p, int base)
{
	char text[16], *end;
	unsigned long value;

	if (!read_word(text, sizeof(text), p) || !*text ||
	    strspn(text, "0123456789") != strlen(text))
		return false;
	value = strtoul(text, &end, base);
	*out = (unsigned)value;
	return !*end && value <= 0xffffffff;
}

static bool decode_entry(struct gitstate *state, const char *p)
{
	char oid[GITSTATE_OID], head_oid[GITSTATE_OID], letters[16];
	unsigned mode, stage, head_mode, flags = 0;
	struct gitstate_entry *entry;

	if (!read_number(&mode, &p, 8) || !read_id(oid, &p) || !read_number(&stage, &p, 10) ||
	    !read_word(letters, sizeof(letters), &p) || !read_number(&head_mode, &p, 8) ||
	    !read_id(head_oid, &p))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(flag_letters); i++)
		if (strchr(letters, flag_letters[i].letter))
			flags |= flag_letters[i].flag;
	entry = gitstate_add_entry(state, p, mode, oid, stage, flags);
	entry->head_mode = head_mode;
	memcpy(entry->head_oid, head_oid, sizeof(head_oid));
	return true;
}

/* The bytes of a file follow its field. */
static bool decode_file(struct gitstate *state, const char *p, struct cursor *at)
{
	unsigned len;

	if (!read_number(&len, &p, 10) || (size_t)(at->end - at->p) <= len || at->p[len])
		return false;
	gitstate_add_file(state, p, at->p, len);
	at->p += len + 1;
	return true;
}

static bool decode_ref(struct gitstate *state, const char *key, const char *p)
{
	char oid[GITSTATE_OID];

	if (!read_id(oid, &p))
		return false;
	if (!strcmp(key, "branch"))
		gitstate_add_branch(state, p, oid);
	else if (!strcmp(key, "stash"))
		gitstate_add_stash(state, oid, p);
	else
		gitstate_add_private_ref(state, p, oid);
	return true;
}

static bool decode_step(struct gitstate *state, const char *p)
{
	char text[32];
	const char *rest = text;

	snprintf(text, sizeof(text), "%s ", p);
	return read_number(&state->step, &rest, 10) && read_number(&state->total, &rest, 10);
}

static bool set_once(char **slot, const char *value)
{
	if (*slot)
		return false;
	*slot = xstrdup(value);
	return true;
}

/* Those of a text all have different names, whichever text it is; unknown ones are newer. */
static bool decode_field(struct gitstate *state, const char *key, const char *value,
			 struct cursor *at, enum gitrecord_text which)
{
	if (which == GITRECORD_HEAD) {
		if (!strcmp(key, "version"))
			return !strcmp(value, VERSION);
		if (!strcmp(key, "head"))
			return set_once(&state->head, value);
		if (!strcmp(key, "ref"))
			return set_once(&state->ref, value);
		if (!strcmp(key, "tree"))
			return set_once(&state->head_tree, value);
		if (!strcmp(key, "config"))
			strlist_add(&state->branch_config, value);
	} else if (which == GITRECORD_FLAGGED || which == GITRECORD_INDEX) {
		if (!strcmp(key, "entry"))
			return decode_entry(state, value);
	} else if (which == GITRECORD_REFS) {
		if (!strcmp(key, "branch") || !strcmp(key, "stash"))
			return decode_ref(state, key, value);
	} else {
		if (!strcmp(key, "operation"))
			return set_once(&state->operation, value);
		if (!strcmp(key, "step"))
			return decode_step(state, value);
		if (!strcmp(key, "autostash"))
			return set_once(&state->autostash, value);
		if (!strcmp(key, "ref"))
			return decode_ref(state, key, value);
		if (!strcmp(key, "file"))
			return decode_file(state, value, at);
	}
	return true;
}

int gitrecord_decode(struct gitstate *state, const struct strbuf *text, enum gitrecord_text which)
{
	struct cursor at = { text->buf, text->buf + text->len };

	while (at.p < at.end) {
		const char *field = at.p, *nul = memchr(field, '\0', (size_t)(at.end - field));
		const char *value = field;
		char key[16];

		if (!nul || !read_word(key, sizeof(key), &value))
			break;
		at.p = nul + 1;
		if (!decode_field(state, key, value, &at, which))
			break;
		if (at.p == at.end)
			return 0;
	}
	if (!text->len)
		return 0;
	return ckpt_error_set(CKPT_ECORRUPT, "the recorded %s of the repository is malformed",
			      text_names[which]);
}

/* --- contents --- */

void gitrecord_release(struct gitrecord *git)
{
	gitstate_release(&git->state);
	free(git->blobs);
	memset(git, 0, sizeof(*git));
}

void gitrecord_add_blob(struct gitrecord *git, const char *hex, const struct oid *oid)
{
	struct gitrecord_blob *blob = ALLOC_NEXT(git->blobs, git->nr, git->alloc);

	snprintf(blob->hex, sizeof(blob->hex), "%s", hex);
	blob->oid = *oid;
}

static int by_hex(const void *hex, const void *blob)
{
	return strcmp(hex, ((const struct gitrecord_blob *)blob)->hex);
}

const struct oid *gitrecord_find(const struct gitrecord *git, const char *hex)
{
	const struct gitrecord_blob *blob =
		git->nr ? bsearch(hex, git->blobs, git->nr, sizeof(*git->blobs), by_hex) : NULL;

	return blob ? &blob->oid : NULL;
}

/* --- the tree, written --- */

static int add_text(struct strbuf *tree, struct pack *pack, const struct gitstate *state,
		    enum gitrecord_text which)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	gitrecord_encode(&text, state, which);
	if (text.len)
		err = meta_add_blob(tree, pack, text_names[which], text.buf, text.len);
	strbuf_release(&text);
	return err;
}

static int add_blobs(struct strbuf *tree, struct pack *pack, const struct gitrecord *git)
{
	struct strbuf sub = STRBUF_INIT;
	struct oid oid;
	int err;

	if (!git->nr)
		return 0;
	for (size_t i = 0; i < git->nr; i++)
		meta_add_entry(&sub, "100644", git->blobs[i].hex, &git->blobs[i].oid);
	err = pack_add_new(pack, &oid, OBJECT_TREE, sub.buf, sub.len);
	meta_add_entry(tree, "40000", BLOBS, &oid);
	strbuf_release(&sub);
	return err;
}

int gitrecord_write(struct oid *tree_out, const struct gitrecord *git, struct pack *pack)
{
	struct strbuf tree = STRBUF_INIT;
	int err;

	/* In the order of their names. */
	if (!oid_is_zero(&git->autostash))
		meta_add_entry(&tree, "100644", AUTOSTASH, &git->autostash);
	err = add_blobs(&tree, pack, git);
	for (unsigned i = 0; i < GITRECORD_TEXTS && !err; i++)
		err = add_text(&tree, pack, &git->state, i);
	if (!err)
		err = pack_add_new(pack, tree_out, OBJECT_TREE, tree.buf, tree.len);
	strbuf_release(&tree);
	return err;
}

char *gitrecord_hash(char out[STATEHASH_SIZE], const struct gitstate *state)
{
	struct digest *sha256 = hash_new(HASH_SHA256);
	struct gitstate counted = *state;

	/* The rest is only looked at. */
	counted.private_refs = xcalloc(state->private_refs_nr + 1, sizeof(*counted.private_refs));
	counted.private_refs_nr = 0;
	for (size_t i = 0; i < state->private_refs_nr; i++)
		if (strcmp(state->private_refs[i].name, "ORIG_HEAD") != 0)
			counted.private_refs[counted.private_refs_nr++] = state->private_refs[i];
	for (unsigned i = 0; i < GITRECORD_TEXTS; i++) {
		struct strbuf text = STRBUF_INIT;
		char *title;

		gitrecord_encode(&text, &counted, i);
		title = xstrfmt("%s %zu", text_names[i], text.len);
		hash_update(sha256, title, strlen(title) + 1);
		hash_update(sha256, text.buf, text.len);
		free(title);
		strbuf_release(&text);
	}
	free(counted.private_refs);
	return statehash_end(out, sha256);
}

/* --- the tree, read --- */

bool gitrecord_is_whole(struct store *store, struct pack *pack, const struct oid *tree)
{
	struct strbuf text = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int rc = 0;
	bool whole = pack_has(pack, tree) && !objects_read(&text, store, tree, OBJECT_TREE);

	while (whole && (rc = objects_tree_next(&entry, &text, &at)) > 0)
		whole = entry.mode == 040000 ? gitrecord_is_whole(store, pack, &entry.oid)
					     : pack_has(pack, &entry.oid);
	strbuf_release(&text);
	return whole && !rc;
}

static int read_blobs(struct gitrecord *git, struct store *store, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, store, oid, OBJECT_TREE), rc = 1;

	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		if (!gitfile_is_id(entry.name) ||
		    (git->nr && strcmp(git->blobs[git->nr - 1].hex, entry.name) >= 0))
			err = ckpt_error_set(CKPT_ECORRUPT,
					     "the list of staged contents is malformed");
		else
			gitrecord_add_blob(git, entry.name, &entry.oid);
	}
	strbuf_release(&tree);
	return !err && rc < 0 ? rc : err;
}

static int read_entry(struct gitrecord *git, struct store *store, const struct tree_entry *entry)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	if (!strcmp(entry->name, BLOBS))
		return read_blobs(git, store, &entry->oid);
	if (!strcmp(entry->name, AUTOSTASH))
		git->autostash = entry->oid;
	for (unsigned i = 0; i < GITRECORD_TEXTS && !err; i++) {
		if (strcmp(text_names[i], entry->name))
			continue;
		err = objects_read(&text, store, &entry->oid, OBJECT_BLOB);
		if (!err)
			err = gitrecord_decode(&git->state, &text, i);
	}
	strbuf_release(&text);
	return err;
}

int gitrecord_load(struct gitrecord *out, struct store *store, const struct ckpt_record *record)
{
	struct gitrecord git = { .state = GITSTATE_INIT };
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	struct oid oid;
	int err = meta_find_git(&oid, store, record), rc = 1;

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	if (oid_is_zero(&oid))
		return ckpt_error_set(CKPT_ENOTFOUND,
				      "checkpoint '%s' has no state of the repository", record->id);
	err = objects_read(&tree, store, &oid, OBJECT_TREE);
	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0)
		err = read_entry(&git, store, &entry);
	if (!err && rc < 0)
		err = rc;
	/* They come from two texts. */
	if (!err)
		gitstate_sort_entries(&git.state);
	if (!err)
		err = gitstate_check(&git.state);
	if (err) {
		gitrecord_release(&git);
		err = record_damaged(err, store, record->id);
	}
	strbuf_release(&tree);
	*out = git;
	return err;
}
