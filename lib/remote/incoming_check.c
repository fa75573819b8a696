/* SPDX-License-Identifier: MIT */
/*
 * All that is looked at of what comes from elsewhere: lists of refs, heads of bundles, commits, names
 * in trees. Behind this, only contents are left to be verified.
 */
#include "remote/incoming_internal.h"

#include "remote/transport_internal.h"

enum {
	COMMIT_MAX = 16 << 20,
	TREE_MAX = 64 << 20,
	TEXT_MAX = 64 << 20,
	ODD_SHOWN = 10,
};

/* --- what a remote says that it has --- */

static void add_odd(struct strlist *odd, const char *name)
{
	if (odd && odd->nr < ODD_SHOWN)
		strlist_add(odd, name);
}

/* "<machine>/<id>", or a name alone where there are no ids. */
static bool split_name(char **machine_out, const char **id_out, const char *name, bool no_ids)
{
	const char *slash = strchr(name, '/');

	*machine_out = xmemdupz(name, strcspn(name, "/"));
	*id_out = slash ? slash + 1 : "";
	if (no_ids)
		return !slash && (setting_name_valid(name) || !strcmp(name, TRANSPORT_EVERY));
	return slash && setting_name_valid(*machine_out) && refs_valid_id(*id_out);
}

/* "<id>\t<ref>" */
static bool parse_listed(struct fetched_list *out, struct strlist *odd, const char *line,
			 const char *prefix)
{
	const bool no_ids = !strncmp(prefix, TRANSPORT_NEWEST, strlen(TRANSPORT_NEWEST));
	const char *name = line + OID_HEX + 1, *id;
	struct oid oid;
	char *machine;

	if (strlen(line) <= OID_HEX + 1 || !oid_parse(&oid, line) || line[OID_HEX] != '\t')
		return false; /* git says something else on the way */
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	name += strlen(prefix);
	if (split_name(&machine, &id, name, no_ids))
		fetched_add(out, machine, id, &oid);
	else
		add_odd(odd, name);
	free(machine);
	return true;
}

int incoming_parse_refs(struct fetched_list *out, struct strlist *odd, const char *text,
			size_t len, const char *prefix)
{
	char *copy = xmemdupz(text, len), *line, *rest = NULL;
	int err = 0;

	memset(out, 0, sizeof(*out));
	for (line = strtok_r(copy, "\n", &rest); line && !err; line = strtok_r(NULL, "\n", &rest))
		if (parse_listed(out, odd, line, prefix) && out->nr > INCOMING_REFS_MAX)
			err = ckpt_error_set(CKPT_ERROR, "it has more than %d checkpoints",
					     INCOMING_REFS_MAX);
	fetched_sort(out);
	free(copy);
	return err;
}

/* --- the head of a bundle --- */

void incoming_bundle_release(struct incoming_bundle *bundle)
{
	refs_release(&bundle->refs);
	for (size_t i = 0; i < bundle->names_nr; i++)
		free(bundle->names[i].name);
	free(bundle->names);
	strlist_release(&bundle->pinned);
	memset(bundle, 0, sizeof(*bundle));
}

static int refuse_head(const char *why)
{
	return ckpt_error_set(CKPT_ERROR, "the head of the bundle is damaged: %s", why);
}

static void add_name(struct incoming_bundle *bundle, const char *name, const struct oid *commit)
{
	*ALLOC_NEXT(bundle->names, bundle->names_nr, bundle->names_alloc) =
		(struct incoming_name){ xstrdup(name), *commit };
}

static const char *skip_prefix(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

static int add_ref(struct incoming_bundle *bundle, const char *line)
{
	const char *name = line + OID_HEX + 1, *rest;
	struct oid oid;

	if (strlen(line) <= OID_HEX + 1 || !oid_parse(&oid, line) || line[OID_HEX] != ' ' ||
	    oid_is_zero(&oid))
		return refuse_head("a line names no ref");
	if ((rest = skip_prefix(name, "refs/checkpoints/"))) {
		if (!refs_valid_id(rest))
			return ckpt_error_set(CKPT_ERROR, "'%s' cannot be a checkpoint", name);
		if (refs_find(&bundle->refs, rest))
			return ckpt_error_set(CKPT_ERROR, "'%s' is in the bundle twice", rest);
		refs_add(&bundle->refs, rest, &oid);
	} else if ((rest = skip_prefix(name, "refs/keep/name/")) && !keepers_name_flaw(rest)) {
		add_name(bundle, rest, &oid);
	} else if ((rest = skip_prefix(name, "refs/keep/pin/")) && refs_valid_id(rest)) {
		strlist_add(&bundle->pinned, rest);
	}
	/* Others may be there, too. */
	if (++bundle->lines > INCOMING_BUNDLE_REFS_MAX)
		return ckpt_error_set(CKPT_ERROR, "the bundle has more than %d refs",
				      INCOMING_BUNDLE_REFS_MAX);
	return 0;
}

static int add_line(struct incoming_bundle *bundle, const char *line, bool capabilities)
{
	if (*line == '-')
		return ckpt_error_set(CKPT_ERROR,
				      "the bundle needs the commit '%.*s', which is not in it",
				      OID_HEX, line + 1);
	if (*line == '@' && capabilities)
		return strcmp(line, "@object-format=sha1")
			       ? ckpt_error_set(CKPT_ERROR, "the bundle needs '%s', which is not "
							    "supported", line + 1)
			       : 0;
	return add_ref(bundle, line);
}

int incoming_parse_bundle(struct incoming_bundle *out, const char *data, size_t len)
{
	static const char version2[] = "# v2 git bundle";
	const char *p = data, *end = data + len;
	bool first = true, capabilities = false;
	int err = 0;

	memset(out, 0, sizeof(*out));
	while (!err) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		char *line;

		if (!newline && first)
			return ckpt_error_set(CKPT_ERROR, "it is not a git bundle");
		if (!newline) {
			err = refuse_head(len >= INCOMING_BUNDLE_HEAD_MAX ? "it is too long"
									  : "it ends too soon");
			break;
		}
		if (newline == p && !first)
			break;
		line = xmemdupz(p, (size_t)(newline - p));
		capabilities |= first && !strcmp(line, "# v3 git bundle");
		if (strlen(line) != (size_t)(newline - p))
			err = refuse_head("there is a NUL in it");
		else if (!first)
			err = add_line(out, line, capabilities);
		else if (strcmp(line, version2) != 0 && !capabilities)
			err = ckpt_error_set(CKPT_ERROR, "it is not a git bundle");
		free(line);
		first = false;
		p = newline + 1;
	}
	strlist_sort_unique(&out->pinned);
	if (err)
		incoming_bundle_release(out);
	return err;
}

/* --- commits --- */

static int set_malformed(const char *what)
{
	return ckpt_error_set(CKPT_ECORRUPT, "its %s is malformed", what);
}

static int check_size(struct store *store, const struct oid *oid, uint64_t max, const char *what)
{
	uint64_t size;
	int err = objects_size(&size, store, oid);

	if (!err && size > max)
		err = ckpt_error_set(CKPT_ECORRUPT, "its %s has %" PRIu64 " bytes", what, size);
	return err;
}

/* After a line that begins like this; NULL if it does not. */
static const char *take_line(const char *p, const char *prefix)
{
	size_t len = strlen(prefix);
	const char *end;

	if (!p || strncmp(p, prefix, len))
		return NULL;
	end = strchr(p, '\n');
	return end ? end + 1 : NULL;
}

static int check_commit(struct store *store, const struct oid *oid, bool parent,
			struct oid *tree_out)
{
	struct strbuf text = STRBUF_INIT;
	const char *p;
	int err = check_size(store, oid, COMMIT_MAX, "commit");

	if (!err)
		err = objects_read(&text, store, oid, OBJECT_COMMIT);
	p = take_line(text.buf, "tree ");
	if (!err && (!p || strlen(text.buf) != text.len || !oid_parse(tree_out, text.buf + 5)))
		err = set_malformed("commit");
	if (parent)
		p = take_line(p, "parent ");
	p = take_line(take_line(p, "author "), "committer ");
	if (!err && (!p || *p != '\n'))
		err = set_malformed("commit");
	strbuf_release(&text);
	return err;
}

/* --- names --- */

static bool name_valid(const char *name, size_t len, bool folds)
{
	return len && len <= NAME_MAX && !memchr(name, '/', len) && !memchr(name, '\0', len) &&
	       !(len == 1 && *name == '.') && !(len == 2 && !memcmp(name, "..", 2)) &&
	       !(len == 4 && !(folds ? strncasecmp : strncmp)(name, ".git", 4));
}

bool incoming_path_valid(const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return false;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (!name_valid(path, len, false))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

/* --- trees --- */

struct limits {
	uint64_t paths; /* how many more may be met; counts down */
	bool folds;	/* the worktree is where ".GIT" and ".git" are the same */
	bool texts;	/* these are of the metadata, and read as a whole */
};

/* A tree that has yet to be read: one at a time is in memory, however they are nested. */
struct pending {
	struct oid oid;
	char *path; /* with a slash at the end, unless it is the top */
};

struct walk {
	struct limits *limits;
	struct store *store;
	struct pending *items;
	size_t nr, alloc;
};

/* In the metadata these have any length. */
static bool is_text(const char *path)
{
	static const char *const others[] = { "captures/", "state/", "git/blobs/", "git/autostash.pack" };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strncmp(path, others[i], strlen(others[i])))
			return false;
	return true;
}

static int check_link(struct store *store, const struct oid *oid, const char *path)
{
	uint64_t size;

	if (!objects_size(&size, store, oid) && size >= PATH_MAX)
		return ckpt_error_set(CKPT_ECORRUPT, "the link '%s' is too long", path);
	return 0;
}

static void add_tree(struct walk *walk, const struct oid *oid, const char *path)
{
	*ALLOC_NEXT(walk->items, walk->nr, walk->alloc) =
		(struct pending){ *oid, xstrfmt("%s%s", path, *path ? "/" : "") };
}

/* No path of PATH_MAX has more than WT_DEPTH_MAX directories. */
static int check_entry(struct walk *walk, const struct tree_entry *entry, const char *path)
{
	if (!name_valid(entry->name, entry->name_len, walk->limits->folds) || strlen(path) >= PATH_MAX)
		return ckpt_error_set(CKPT_ECORRUPT, "'%s' is not a valid path", path);
	if (!walk->limits->paths--) {
		walk->limits->paths = 0;
		return ckpt_error_set(CKPT_ECORRUPT, "it has more paths than maxFiles allows");
	}
	switch (entry->mode) {
	case 0040000:
		add_tree(walk, &entry->oid, path);
		return 0;
	case 0100644:
	case 0100755:
		return walk->limits->texts && is_text(path)
			       ? check_size(walk->store, &entry->oid, TEXT_MAX, path)
			       : 0;
	case 0120000:
		return check_link(walk->store, &entry->oid, path);
	default:
		return ckpt_error_set(CKPT_ECORRUPT, "'%s' has the unknown mode %o", path,
				      entry->mode);
	}
}

/* Names that occur twice are found when a snapshot of the tree is made. */
static int check_one_tree(struct walk *walk, const struct pending *item)
{
	struct strbuf tree = STRBUF_INIT, path = STRBUF_INIT;
	size_t len = strlen(item->path), at = 0;
	struct tree_entry entry;
	int err = check_size(walk->store, &item->oid, TREE_MAX, "tree"), rc = 1;

	if (!err)
		err = objects_read(&tree, walk->store, &item->oid, OBJECT_TREE);
	strbuf_addstr(&path, item->path);
	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		strbuf_setlen(&path, len);
		strbuf_addstr(&path, entry.name);
		err = check_entry(walk, &entry, path.buf);
		if (!err)
			err = cancel_check();
	}
	strbuf_release(&tree);
	strbuf_release(&path);
	return err ? err : rc;
}

static int check_tree(struct limits *limits, struct store *store, const struct oid *tree)
{
	struct walk walk = { limits, store, NULL, 0, 0 };
	int err = 0;

	add_tree(&walk, tree, "");
	while (walk.nr) {
		struct pending item = walk.items[--walk.nr];

		if (!err)
			err = check_one_tree(&walk, &item);
		free(item.path);
	}
	free(walk.items);
	return err;
}

/* --- a checkpoint --- */

static int check_record(const struct ckpt_record *record)
{
	for (size_t i = 0; i < record->scope.nr; i++)
		if (!incoming_path_valid(record->scope.items[i]))
			return ckpt_error_set(CKPT_ECORRUPT, "'%s' in its scope is not a valid path",
					      record->scope.items[i]);
	for (size_t i = 0; i < record->state_keys.nr; i++)
		if (!meta_state_key_valid(record->state_keys.items[i]))
			return ckpt_error_set(CKPT_ECORRUPT, "one of its state keys is malformed");
	if (record->base && !refs_valid_id(record->base))
		return ckpt_error_set(CKPT_ECORRUPT, "what it is based on is malformed");
	if (record->head && (strlen(record->head) >= GITSTATE_OID ||
			     record->head[strspn(record->head, "0123456789abcdef")]))
		return ckpt_error_set(CKPT_ECORRUPT, "its HEAD is malformed");
	return 0;
}

static bool folds_names(const char *worktree)
{
	char *lower = xstrfmt("%s/.git", worktree), *upper = xstrfmt("%s/.GIT", worktree);
	struct stat a, b;
	bool folds = !lstat(lower, &a) && !lstat(upper, &b) && a.st_ino == b.st_ino &&
		     a.st_dev == b.st_dev;

	free(lower);
	free(upper);
	return folds;
}

int incoming_check_form(struct incoming *incoming, const struct ref_item *ref)
{
	uint64_t max = incoming->session->settings.max_files;
	struct limits limits = { max ? max : UINT64_MAX,
					  folds_names(incoming->session->worktree), false };
	struct store *store = incoming->apart.store;
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct oid tree;
	int err = check_commit(store, &ref->commit, true, &tree);

	if (!err)
		err = record_read_saved(&record, store, ref);
	if (!err)
		err = check_record(&record);
	if (!err)
		err = check_tree(&limits, store, &record.tree);
	if (!err)
		err = check_commit(store, &record.meta, false, &tree);
	limits.texts = true;
	if (!err)
		err = check_tree(&limits, store, &tree);
	record_release(&record);
	return err;
}
