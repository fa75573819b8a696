/* SPDX-License-Identifier: MIT */
#include "remote/flat_internal.h"

#include "save/save.h"
#include "session/session.h"

/* --- what HEAD has --- */

struct head_entry {
	unsigned mode;
	char *hex, *path;
};

struct head {
	struct strbuf text;
	struct head_entry *items; /* by path; they point into the text */
	size_t nr, alloc;
};

/* "<mode> <type> <id>\t<path>", each ended by a NUL. */
static int parse_head(struct head *head)
{
	char *p = head->text.buf, *end = p + head->text.len;

	while (p < end) {
		char *path = strchr(p, '\t'), *type = strchr(p, ' '), *hex;
		size_t len = strlen(p);

		hex = type ? strchr(type + 1, ' ') : NULL;
		if (!path || !hex || hex > path || (size_t)(path - hex) >= GITSTATE_OID + 1)
			return ckpt_error_set(CKPT_ERROR, "'git ls-tree' gave an unknown answer");
		*path++ = *hex++ = '\0';
		*ALLOC_NEXT(head->items, head->nr, head->alloc) =
			(struct head_entry){ (unsigned)strtoul(p, NULL, 8), hex, path };
		p += len + 1;
	}
	return 0;
}

static int read_head(struct head *out, const struct session *session, const char *commit)
{
	const char *const args[] = { "ls-tree", "-r", "-z", "--full-tree", commit, NULL };
	const struct gitrun how = { .gitdir = session->repo->gitdir };
	bool there;
	int err = gitwrite_has(&there, session->repo, commit);

	if (!err && !there)
		err = ckpt_error_set(CKPT_ERROR,
				     "the repository does not have the commit '%s', on which the "
				     "checkpoint is based; fetch it first",
				     commit);
	if (!err)
		err = askgit(&out->text, &how, args);
	return err ? err : parse_head(out);
}

static void head_release(struct head *head)
{
	strbuf_release(&head->text);
	free(head->items);
}

/* --- what stays of it --- */

struct staying {
	struct strlist scope;	/* empty: everything is in it */
	struct strlist missing; /* could not be captured, with everything below */
	struct strlist sparse;	/* not in the worktree, because a sparse checkout left it out */
	struct strlist modules; /* submodules of HEAD */
	struct strlist tracked; /* what HEAD has, and what was staged */
};

static void staying_release(struct staying *staying)
{
	strlist_release(&staying->scope);
	strlist_release(&staying->missing);
	strlist_release(&staying->sparse);
	strlist_release(&staying->modules);
	strlist_release(&staying->tracked);
}

static int read_staying(struct staying *out, struct session *session,
			const struct ckpt_record *record, const struct head *head)
{
	struct gitrecord git;
	struct ckpt_meta meta;
	int err = meta_read(&meta, session->store, record, false);

	if (err)
		return err;
	strlist_extend(&out->scope, &record->scope);
	for (size_t i = 0; i < meta.skips.nr; i++)
		strlist_add(&out->missing, meta.skips.items[i].path);
	meta_release(&meta);
	err = gitrecord_load(&git, session->store, record);
	for (size_t i = 0; i < git.state.entries_nr && !err; i++) {
		strlist_add(&out->tracked, git.state.entries[i].path);
		if (git.state.entries[i].flags & GITINDEX_SKIP_WORKTREE)
			strlist_add(&out->sparse, git.state.entries[i].path);
	}
	gitrecord_release(&git);
	for (size_t i = 0; i < head->nr; i++) {
		strlist_add(&out->tracked, head->items[i].path);
		if (head->items[i].mode == 0160000)
			strlist_add(&out->modules, head->items[i].path);
	}
	strlist_sort_unique(&out->scope);
	strlist_sort_unique(&out->missing);
	strlist_sort_unique(&out->sparse);
	strlist_sort_unique(&out->modules);
	strlist_sort_unique(&out->tracked);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

/* The checkpoint has nothing at a path of HEAD, nor a file above it. */
static bool is_unused(const struct flat *flat, const char *path)
{
	char *copy = xstrdup(path);
	bool unused = !wt_find(flat->snapshot->root, path);

	for (char *slash = strrchr(copy, '/'); slash && unused; slash = strrchr(copy, '/')) {
		const struct wt_entry *above;

		*slash = '\0';
		above = wt_find(flat->snapshot->root, copy);
		unused = !above || above->kind == WT_DIR;
	}
	free(copy);
	return unused;
}

static bool stays_as_head(const struct flat *flat, const struct staying *staying,
			  const struct head_entry *entry)
{
	if (entry->mode == 0160000)
		return true;
	if (staying->scope.nr && !pathset_covers(&staying->scope, entry->path))
		return is_unused(flat, entry->path);
	return (pathset_covers(&staying->missing, entry->path) ||
		pathset_has(&staying->sparse, entry->path)) &&
	       is_unused(flat, entry->path);
}

/* --- what is left out --- */

struct walk {
	struct rules *rules;
	struct snapshot *snapshot;
	struct arena arena;
	const struct strlist *tracked;
	struct strlist *ignored, *secret;
	int rootfd; /* of the worktree; -1: the checkpoint has all of its rules */
};

/* A checkpoint of a few paths does not have the ignore files around them: take the present ones. */
static void read_present(struct strbuf *out, const struct walk *walk, const struct wt_dir *dir)
{
	char *path = xstrfmt("%s%s.gitignore", dir->path, *dir->path ? "/" : "");
	const char *name;
	int fd = walk->rootfd < 0 ? -1 : beneath_open_parent(walk->rootfd, path, &name);

	if (fd >= 0)
		(void)fs_read_text(out, fd, name);
	fs_close(fd);
	free(path);
}

/* The rules of a repository there, and the .gitignore that the checkpoint has in `dir`. */
static void enter_dir(struct rules_dir *at, struct walk *walk, const struct wt_dir *dir)
{
	const struct rules_texts *texts = rules_texts(walk->rules);
	const struct wt_entry *entry = wt_child(dir, ".gitignore", strlen(".gitignore"));
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < texts->nested_nr; i++)
		if (!strcmp(texts->nested[i].path, dir->path))
			rules_enter_text(at, walk->rules, &walk->arena, dir->path,
					 texts->nested[i].text.buf, texts->nested[i].text.len);
	if (entry && entry->kind == WT_FILE)
		(void)objects_read(&text, walk->snapshot->store, &entry->oid, OBJECT_BLOB);
	else if (!entry)
		read_present(&text, walk, dir);
	if (text.len)
		rules_enter_text(at, walk->rules, &walk->arena, dir->path, text.buf, text.len);
	strbuf_release(&text);
}

static void note_verdict(struct walk *walk, const char *path, enum rules_verdict verdict)
{
	if (pathset_has(walk->tracked, path))
		return;
	if (verdict == RULES_IGNORED || verdict == RULES_DEFAULT)
		strlist_add(walk->ignored, path);
	else if (verdict == RULES_SENSITIVE)
		strlist_add(walk->secret, path);
}

/* Nothing below an ignored directory can be brought in again. */
static void visit_dir(struct walk *walk, const struct wt_dir *dir, struct rules_dir at, bool ignored)
{
	struct strbuf path = STRBUF_INIT;

	if (!ignored)
		enter_dir(&at, walk, dir);
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		enum rules_verdict verdict = RULES_IGNORED;

		strbuf_reset(&path);
		strbuf_addf(&path, "%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
		if (!ignored)
			verdict = rules_judge(walk->rules, &at, path.buf, entry->name,
					      entry->kind == WT_DIR, entry->kind == WT_FILE);
		if (entry->kind == WT_DIR)
			visit_dir(walk, entry->dir, at,
			      verdict == RULES_IGNORED || verdict == RULES_DEFAULT);
		else
			note_verdict(walk, path.buf, verdict);
	}
	strbuf_release(&path);
}

/*
 * Paths in the checkpoint that a rule recorded with it leaves out and that are not among `tracked`:
 * ignored ones, and those that look like secrets.
 */
static int find_ignored(struct flat *flat, const struct ckpt_record *record,
			const struct strlist *tracked)
{
	struct walk walk = { .snapshot = flat->snapshot, .tracked = tracked,
			     .ignored = &flat->ignored, .secret = &flat->secret, .rootfd = -1 };
	struct worktree_state_opts opts = { .rules_only = true };
	struct ckpt_meta meta;
	int err;

	/* No rule was set aside when it was taken. */
	if (!record->include_ignored && !record->include_sensitive && !record->scope.nr)
		return 0;
	err = meta_read(&meta, flat->session->store, record, false);
	if (err)
		return err;
	if (record->scope.nr)
		walk.rootfd = open(flat->session->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	opts.texts = meta.have_rules ? &meta.rules : NULL;
	err = worktree_state_rules(&walk.rules, flat->session, &opts);
	if (!err)
		visit_dir(&walk, flat->snapshot->root, rules_begin(walk.rules), false);
	rules_close(walk.rules);
	fs_close(walk.rootfd);
	arena_release(&walk.arena);
	meta_release(&meta);
	strlist_sort_unique(&flat->ignored);
	strlist_sort_unique(&flat->secret);
	return err;
}

/* --- the list --- */

static struct flat_entry *add_entry(struct flat *flat, const char *path, size_t len, unsigned mode)
{
	struct flat_entry *item = ALLOC_NEXT(flat->items, flat->nr, flat->alloc);

	*item = (struct flat_entry){ .path = xmemdupz(path, len), .mode = mode };
	return item;
}

struct collecting {
	struct flat *flat;
	const struct staying *staying;
};

static int hash_piece(const void *data, size_t len, void *payload)
{
	hash_update(payload, data, len);
	return 0;
}

/* The name that a SHA-256 repository gives to a blob. */
static int name_sha256(struct flat_entry *item, struct store *store)
{
	struct digest *sha256 = hash_new(HASH_SHA256);
	unsigned char id[SHA256_SIZE];
	char header[64];
	uint64_t size;
	int err = objects_size(&size, store, &item->entry->oid);

	if (!err) {
		hash_update(sha256, header, hash_object_header(header, "blob", size));
		err = objects_stream(store, &item->entry->oid, hash_piece, sha256);
	}
	if (!err) {
		hash_end(sha256, id);
		oid_hex_encode(item->hex, id, sizeof(id));
	}
	hash_free(sha256);
	return err;
}

static int collect_entry(const char *path, size_t len, const struct wt_entry *entry, void *payload)
{
	const struct collecting *collecting = payload;
	struct flat *flat = collecting->flat;
	struct flat_entry *item;
	char *copy;
	bool taken;

	if (entry->kind == WT_DIR)
		return 0;
	copy = xmemdupz(path, len);
	taken = pathset_covers(&collecting->staying->modules, copy) ||
		pathset_has(&flat->ignored, copy) || pathset_has(&flat->secret, copy);
	free(copy);
	if (taken)
		return 0;
	item = add_entry(flat, path, len, wt_git_mode(entry));
	item->entry = entry;
	if (flat->sha256)
		return name_sha256(item, flat->session->store);
	oid_hex(item->hex, &entry->oid);
	return 0;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct flat_entry *)a)->path, ((const struct flat_entry *)b)->path);
}

static int merge_lists(struct flat *flat, const struct head *head, const struct staying *staying)
{
	struct collecting collecting = { flat, staying };
	int err = wt_visit(flat->snapshot->root, collect_entry, &collecting);

	for (size_t i = 0; i < head->nr && !err; i++)
		if (stays_as_head(flat, staying, &head->items[i]))
			strcpy(add_entry(flat, head->items[i].path, strlen(head->items[i].path),
				   head->items[i].mode)
				       ->hex,
			       head->items[i].hex);
	if (flat->nr)
		qsort(flat->items, flat->nr, sizeof(*flat->items), compare_paths);
	return err;
}

int flat_read(struct flat *out, struct session *session, const struct ckpt_record *record,
	      unsigned flags)
{
	struct head head = { .text = STRBUF_INIT };
	struct staying staying = { 0 };
	int err;

	*out = (struct flat){ .session = session,
			      .sha256 = session->repo && session->repo->sha256 };
	if (record->state_only)
		return ckpt_error_set(CKPT_ERROR, "checkpoint '%s' has no files", record->id);
	if (session->repo && record->head)
		out->head = xstrdup(record->head);
	err = objects_open(session->store);
	if (!err)
		err = snapshot_open(&out->snapshot, session->store, record);
	if (!err)
		err = snapshot_expand_all(out->snapshot, out->snapshot->root);
	if (!err && out->head)
		err = read_head(&head, session, out->head);
	if (!err)
		err = read_staying(&staying, session, record, &head);
	if (!err && flags & FLAT_NO_IGNORED)
		err = find_ignored(out, record, &staying.tracked);
	if (!err)
		err = merge_lists(out, &head, &staying);
	staying_release(&staying);
	head_release(&head);
	return err;
}

void flat_release(struct flat *flat)
{
	for (size_t i = 0; i < flat->nr; i++)
		free(flat->items[i].path);
	free(flat->items);
	free(flat->head);
	snapshot_free(flat->snapshot);
	strlist_release(&flat->ignored);
	strlist_release(&flat->secret);
	strlist_release(&flat->unfit);
	memset(flat, 0, sizeof(*flat));
}

/* --- the index --- */

static void add_info(struct strbuf *out, const struct flat *flat)
{
	for (size_t i = 0; i < flat->nr; i++) {
		strbuf_addf(out, "%06o %s 0\t%s", flat->items[i].mode, flat->items[i].hex,
			    flat->items[i].path);
		strbuf_addch(out, '\0');
	}
}

/* Leave out the path that git's last message names; false if it is not one of them. */
static bool drop_unfit(struct flat *flat, const char *said)
{
	static const char before[] = "unable to update ";
	const char *path = strstr(said, before);

	for (size_t i = 0; path && i < flat->nr; i++) {
		if (strcmp(flat->items[i].path, path + strlen(before)) != 0)
			continue;
		strlist_take(&flat->unfit, flat->items[i].path);
		memmove(&flat->items[i], &flat->items[i + 1],
			(--flat->nr - i) * sizeof(*flat->items));
		return true;
	}
	return false;
}

/*
 * Git alone knows which names it takes: ".GIT" and "git~1" are names like others here, but not on
 * other systems, so it refuses them, one at a time.
 */
int flat_fill_index(struct flat *flat, const struct gitrun *repository)
{
	/* Nothing of the kind beside the project's index, either. */
	const char *const args[] = { "-c",	      "core.splitIndex=false",
				     "-c",	      "index.sparse=false",
				     "-c",	      "core.untrackedCache=false",
				     "update-index",  "-z",
				     "--index-info", NULL };
	struct strbuf info = STRBUF_INIT, said = STRBUF_INIT;
	struct gitrun how = *repository;
	int err;

	do {
		strbuf_reset(&info);
		strbuf_reset(&said);
		add_info(&info, flat);
		how.input = info.buf;
		how.input_len = info.len;
		err = info.len ? gitrun_told(&said, &how, args) : 0;
	} while (err == CKPT_ERROR && drop_unfit(flat, said.buf));
	strbuf_release(&info);
	strbuf_release(&said);
	return err;
}

/* --- blobs --- */

static int compare_ids(const void *a, const void *b)
{
	return strcmp((*(const struct flat_entry *const *)a)->hex,
		      (*(const struct flat_entry *const *)b)->hex);
}

struct blobs {
	struct store *store;
	const struct flat_entry **order; /* by id */
	size_t nr;
};

static int read_blob(struct strbuf *out, const char *hex, void *payload)
{
	const struct blobs *blobs = payload;
	struct flat_entry key, *wanted = &key;
	const struct flat_entry **found;

	snprintf(key.hex, sizeof(key.hex), "%s", hex);
	found = bsearch(&wanted, blobs->order, blobs->nr, sizeof(wanted), compare_ids);
	return objects_read(out, blobs->store, &(*found)->entry->oid, OBJECT_BLOB);
}

int flat_write_blobs(const struct flat *flat, const struct gitwrite *how)
{
	struct blobs blobs = { .store = flat->session->store,
			       .order = xcalloc(flat->nr + 1, sizeof(*blobs.order)) };
	struct strlist wanted = STRLIST_INIT, missing = STRLIST_INIT;
	int err;

	for (size_t i = 0; i < flat->nr; i++)
		if (flat->items[i].entry) {
			blobs.order[blobs.nr++] = &flat->items[i];
			strlist_add(&wanted, flat->items[i].hex);
		}
	if (blobs.nr)
		qsort(blobs.order, blobs.nr, sizeof(*blobs.order), compare_ids);
	strlist_sort_unique(&wanted);
	err = gitwrite_missing(&missing, how->repo, &wanted);
	if (!err && missing.nr)
		err = gitwrite_blobs(how, &missing, read_blob, &blobs);
	strlist_release(&wanted);
	strlist_release(&missing);
	free(blobs.order);
	return err;
}
