/* SPDX-License-Identifier: MIT */
#include "remote/incoming_internal.h"

#include "base/base.h"
#include "store/store.h"

enum {
	COMMIT_MAX = 16 << 20,
	TREE_MAX = 64 << 20,
};

/* --- commits --- */

static int malformed(const char *what)
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

int incoming_check_commit(struct store *store, const struct oid *oid, bool parent,
			  struct oid *tree_out)
{
	struct strbuf text = STRBUF_INIT;
	const char *p;
	int err = check_size(store, oid, COMMIT_MAX, "commit");

	if (!err)
		err = objects_read(&text, store, oid, OBJECT_COMMIT);
	p = take_line(text.buf, "tree ");
	if (!err && (!p || strlen(text.buf) != text.len || !oid_parse(tree_out, text.buf + 5)))
		err = malformed("commit");
	if (parent)
		p = take_line(p, "parent ");
	p = take_line(take_line(p, "author "), "committer ");
	if (!err && (!p || *p != '\n'))
		err = malformed("commit");
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

struct walk {
	struct incoming_limits *limits;
	struct store *store;
	struct strbuf path;
};

static int walk_tree(struct walk *walk, const struct oid *oid);

static int check_entry(struct walk *walk, const struct tree_entry *entry)
{
	uint64_t size;

	if (!name_valid(entry->name, entry->name_len, walk->limits->folds) || walk->path.len >= PATH_MAX)
		return ckpt_error_set(CKPT_ECORRUPT, "'%s' is not a valid path", walk->path.buf);
	if (!walk->limits->paths--) {
		walk->limits->paths = 0;
		return ckpt_error_set(CKPT_ECORRUPT, "it has more paths than maxFiles allows");
	}
	switch (entry->mode) {
	case 0040000:
		return walk_tree(walk, &entry->oid);
	case 0100644:
	case 0100755:
		return 0;
	case 0120000:
		if (!objects_size(&size, walk->store, &entry->oid) && size >= PATH_MAX)
			return ckpt_error_set(CKPT_ECORRUPT, "the link '%s' is too long",
					      walk->path.buf);
		return 0;
	default:
		return ckpt_error_set(CKPT_ECORRUPT, "'%s' has the unknown mode %o",
				      walk->path.buf, entry->mode);
	}
}

/* Names that occur twice are found when a snapshot of the tree is made. */
static int walk_tree(struct walk *walk, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT;
	size_t len = walk->path.len, at = 0;
	struct tree_entry entry;
	int err = check_size(walk->store, oid, TREE_MAX, "tree"), rc = 1;

	if (!err)
		err = objects_read(&tree, walk->store, oid, OBJECT_TREE);
	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		strbuf_addf(&walk->path, "%s%s", len ? "/" : "", entry.name);
		err = check_entry(walk, &entry);
		strbuf_setlen(&walk->path, len);
		if (!err)
			err = cancel_check();
	}
	strbuf_release(&tree);
	return err ? err : rc;
}

int incoming_check_tree(struct incoming_limits *limits, struct store *store, const struct oid *tree)
{
	struct walk walk = { limits, store, STRBUF_INIT };
	int err = walk_tree(&walk, tree);

	strbuf_release(&walk.path);
	return err;
}
