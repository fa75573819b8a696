/* SPDX-License-Identifier: MIT */
#include "show/show.h"

/* ---- from what was typed ---- */

static int is_in_record(bool *out, struct session *session, const struct ckpt_record *record,
			const char *path)
{
	struct snapshot *snapshot = NULL;
	struct wt_entry *entry = NULL;
	int err = 0;

	if (record->state_only)
		return 0;
	err = snapshot_open(&snapshot, session->store, record);
	if (!err)
		err = snapshot_find(&entry, snapshot, path);
	*out = *out || (!err && entry);
	snapshot_free(snapshot);
	return err;
}

int show_paths_find(bool *out, struct session *session, const char *path,
		    const struct show_paths_where *where)
{
	int err = 0;

	*out = false;
	for (size_t i = 0; i < where->nr && !*out && !err; i++)
		err = is_in_record(out, session, &where->records[i], path);
	return err;
}

static bool is_there(const struct session *session, const char *typed)
{
	struct strbuf path = STRBUF_INIT, full = STRBUF_INIT;
	struct stat st;
	bool found = !session_path(&path, session, typed);

	strbuf_addf(&full, "%s/%s", session->worktree, path.buf);
	found = found && !lstat(full.buf, &st);
	strbuf_release(&path);
	strbuf_release(&full);
	return found;
}

/* Whether there is something by exactly this name. */
static int is_literal(bool *out, struct session *session, const char *typed,
		      const struct show_paths_where *where)
{
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	*out = is_there(session, typed);
	/* What is not even a path is not one that exists. */
	if (!*out && !session_path(&path, session, typed))
		err = show_paths_find(out, session, path.buf, where);
	strbuf_release(&path);
	return err;
}

/* How much of a path from the root is the directory in which the user is. */
static size_t prefix_of(const struct session *session, const char *path)
{
	const char *here = path_below(session->cwd, session->worktree);
	size_t found = 0;

	for (size_t i = 0; here && *here; i++) {
		bool end = !here[i];

		if (path[i] != (end ? '/' : here[i]))
			break;
		if (path[i] == '/')
			found = i + 1;
		if (end)
			break;
	}
	return found;
}

/* The path or pattern after the magic, from the root. */
static int resolve_path(struct strbuf *out, struct session *session, const char *rest, unsigned magic)
{
	size_t len = strlen(rest);
	char *from_top = xstrfmt("%s/%s", session->worktree, rest);
	int err = session_path(out, session, magic & PATHSPEC_TOP ? from_top : rest);

	if (!err && out->len && len && rest[len - 1] == '/')
		strbuf_addch(out, '/');
	free(from_top);
	return err;
}

/* A name that exists comes first, so a typo in the magic is told only if there is no such file. */
static int split_magic(unsigned *magic_out, const char **rest_out, struct session *session,
		 const char *typed, const struct show_paths_where *where)
{
	bool literal = !pathspec_is_special(typed);
	int err = 0;

	if (*typed == ':' || pathspec_is_wild(typed, 0))
		err = is_literal(&literal, session, typed, where);
	*magic_out = PATHSPEC_LITERAL;
	*rest_out = typed;
	if (err || literal)
		return err;
	err = pathspec_split(magic_out, rest_out, typed);
	if (!err && !**rest_out && *rest_out != typed)
		*rest_out = "."; /* ":/" */
	return err;
}

static int add_path(struct pathspec *out, struct session *session, const char *typed,
	       const struct show_paths_where *where)
{
	struct strbuf path = STRBUF_INIT;
	const char *rest;
	unsigned magic;
	int err = split_magic(&magic, &rest, session, typed, where);

	if (!err)
		err = resolve_path(&path, session, rest, magic);
	if (!err &&
	    (magic & (PATHSPEC_ICASE | PATHSPEC_EXCLUDE) || pathspec_is_wild(rest, magic))) {
		pathspec_add(out, typed, magic, path.buf,
			     magic & PATHSPEC_TOP ? 0 : prefix_of(session, path.buf));
	} else if (!err) {
		strbuf_setlen(&path, path.len - (path.len && path.buf[path.len - 1] == '/'));
		strlist_add(&out->plain, path.buf);
	}
	strbuf_release(&path);
	return err;
}

int show_paths_parse(struct pathspec *out, struct session *session, const struct strlist *args,
		     size_t first, const struct show_paths_where *where)
{
	int err = 0;

	for (size_t i = first; i < args->nr && !err; i++)
		err = add_path(out, session, args->items[i], where);
	strlist_sort_unique(&out->plain);
	return err;
}

bool show_paths_may_be(const struct session *session, const char *typed)
{
	return is_there(session, typed) || (pathspec_is_special(typed) && !show_inside_is(typed));
}

int show_paths_parse_ever(struct pathspec *out, struct session *session, const struct strlist *args,
			  size_t first)
{
	struct ckpt_records records = { 0 };
	struct show_paths_where where;
	bool special = false;
	int err = 0;

	for (size_t i = first; i < args->nr; i++)
		special = special || pathspec_is_special(args->items[i]);
	if (special && session->store)
		err = lookup_records(&records, session->store);
	where = (struct show_paths_where){ records.items, records.nr };
	if (!err)
		err = show_paths_parse(out, session, args, first, &where);
	lookup_records_release(&records);
	return err;
}

/* ---- to what there is ---- */

struct search {
	struct strlist *out;
	const struct pathspec *spec;
	bool *found; /* for each plain path, then for each item */
	bool stored; /* only what the checkpoint has */
};

static void consider_path(struct search *search, const char *path, bool is_dir)
{
	const struct pathspec *spec = search->spec;
	struct strlist one = { .nr = 1 };

	for (size_t i = 0; i < spec->plain.nr; i++) {
		one.items = &spec->plain.items[i];
		search->found[i] = search->found[i] || pathset_covers(&one, path);
	}
	for (size_t i = 0; i < spec->nr; i++) {
		bool *found = &search->found[spec->plain.nr + i];

		*found = *found || pathspec_item_matches(&spec->items[i], path, is_dir);
	}
	if (pathspec_matches(spec, path, is_dir))
		strlist_add(search->out, path);
}

static int visit_entry(const char *path, size_t len UNUSED, const struct wt_entry *entry,
		       void *payload)
{
	consider_path(payload, path, entry->kind == WT_DIR);
	return 0;
}

static int search_checkpoint(struct search *search, struct session *session,
			     const struct ckpt_record *target)
{
	struct snapshot *snapshot = NULL;
	int err = snapshot_open(&snapshot, session->store, target);

	if (!err)
		err = snapshot_expand_all(snapshot, snapshot->root);
	if (!err)
		err = wt_visit(snapshot->root, visit_entry, search);
	snapshot_free(snapshot);
	return err;
}

/* What was created since. */
static int search_worktree(struct search *search, struct session *session,
			   const struct ckpt_record *target)
{
	struct diff diff;
	int err = diff_worktree(&diff, session, target, NULL, NULL);

	if (err)
		return err;
	for (size_t i = 0; i < diff.changes.nr; i++)
		if (diff.changes.items[i].kind == CHANGE_ADDED)
			consider_path(search, diff.changes.items[i].path, diff.changes.items[i].is_dir);
	diff_release(&diff);
	return 0;
}

static int check_found(const struct search *search, const struct ckpt_record *target)
{
	const struct pathspec *spec = search->spec;

	for (size_t i = 0; i < spec->plain.nr + spec->nr; i++) {
		const struct pathspec_item *item =
			i < spec->plain.nr ? NULL : &spec->items[i - spec->plain.nr];

		if (search->found[i] || (item && item->magic & PATHSPEC_EXCLUDE))
			continue;
		return ckpt_error_set(CKPT_ENOTFOUND, "nothing in %scheckpoint '%s' matches '%s'",
				      search->stored ? "" : "the worktree or in ", target->id,
				      item ? item->typed : spec->plain.items[i]);
	}
	if (!search->out->nr)
		return ckpt_error_set(CKPT_ENOTFOUND, "all paths are excluded");
	return 0;
}

int show_paths_expand(struct strlist *out, struct session *session, const struct ckpt_record *target,
		      const struct pathspec *spec, bool stored)
{
	struct search search = { .out = out, .spec = spec, .stored = stored };
	int err;

	if (!spec->nr) {
		strlist_extend(out, &spec->plain);
		return 0;
	}
	search.found = xcalloc(spec->plain.nr + spec->nr, sizeof(*search.found));
	err = search_checkpoint(&search, session, target);
	if (!err && !stored)
		err = search_worktree(&search, session, target);
	if (!err)
		err = check_found(&search, target);
	strlist_sort_unique(out);
	free(search.found);
	return err;
}

static const char *find_colon(const char *typed)
{
	const char *from = typed, *turn = strstr(typed, "/turn:");

	if (!strncmp(typed, "session:", 8))
		from = turn ? turn + 6 : typed + 8;
	else if (!strncmp(typed, "step:", 5) || !strncmp(typed, "turn:", 5))
		from += 5;
	else if (!strncmp(typed, "@{", 2))
		from += strcspn(typed, "}");
	return strchr(from, ':');
}

bool show_inside_is(const char *typed)
{
	const char *colon = find_colon(typed);

	return colon && colon != typed;
}

const char *show_inside_path(const char *typed)
{
	return find_colon(typed) + 1;
}

int show_inside_top(struct strbuf *out, const struct session *session, const char *typed)
{
	strbuf_reset(out);
	if (!strncmp(typed, "./", 2) || !strncmp(typed, "../", 3))
		return session_path(out, session, typed);
	strbuf_addstr(out, typed);
	while (out->len && out->buf[out->len - 1] == '/')
		out->buf[--out->len] = '\0';
	return 0;
}

static int find_entry(struct wt_entry **out, struct snapshot *snapshot, const char *path)
{
	int err = snapshot_find(out, snapshot, path);

	if (!err && !*out)
		err = ckpt_error_set(CKPT_ENOTFOUND, "path '%s' is not in checkpoint '%s'", path,
				     snapshot->id);
	return err;
}

/* The path that was typed; in a subdirectory it is easy to forget that it is from the top. */
static int find_typed(struct snapshot *snapshot, const struct session *session, const char *typed,
		      const char *path)
{
	char *here = xstrfmt("./%s", show_inside_path(typed));
	struct strbuf below = STRBUF_INIT;
	struct wt_entry *entry = NULL;
	int err = find_entry(&entry, snapshot, path);

	if (err == CKPT_ENOTFOUND) {
		if (*path != '/' && !show_inside_top(&below, session, here) &&
		    strcmp(below.buf, path) != 0 && !snapshot_find(&entry, snapshot, below.buf) &&
		    entry)
			err = ckpt_error_set(CKPT_ENOTFOUND,
					     "path '%s' is not in checkpoint '%s', but '%s' is: "
					     "did you mean '%.*s%s'?",
					     path, snapshot->id, below.buf,
					     (int)(show_inside_path(typed) - typed), typed, here);
		else
			err = find_entry(&entry, snapshot, path);
	}
	strbuf_release(&below);
	free(here);
	return err;
}

int show_inside_find(struct ckpt_record *out, struct strbuf *path, struct session *session,
		     const char *typed)
{
	const char *colon = find_colon(typed);
	char *name = xmemdupz(typed, (size_t)(colon - typed));
	int err = session_lookup(out, session->store, name);
	struct snapshot *snapshot = NULL;

	free(name);
	if (err)
		return err;
	if (out->state_only)
		err = ckpt_error_set(CKPT_ERROR, "checkpoint '%s' holds only state, no files",
				     out->id);
	if (!err)
		err = show_inside_top(path, session, colon + 1);
	if (!err)
		err = snapshot_open(&snapshot, session->store, out);
	if (!err && path->len)
		err = find_typed(snapshot, session, typed, path->buf);
	snapshot_free(snapshot);
	if (err) {
		record_release(out);
		*out = (struct ckpt_record)CKPT_RECORD_INIT;
	}
	return err;
}

static int print_directory(struct snapshot *snapshot, struct wt_dir *dir)
{
	int err = snapshot_expand(snapshot, dir);

	for (size_t i = 0; !err && i < dir->nr; i++) {
		term_say(stdout, "%s%s\n", report_path(wt_entries(dir)[i].name),
			 wt_entries(dir)[i].kind == WT_DIR ? "/" : "");
	}
	return err;
}

int show_inside_print(struct session *session, const struct ckpt_record *record, const char *path)
{
	struct snapshot *snapshot;
	struct wt_entry *entry = NULL;
	int err = snapshot_open(&snapshot, session->store, record);

	if (err)
		return err;
	if (*path)
		err = find_entry(&entry, snapshot, path);
	if (!err && (!entry || entry->kind == WT_DIR))
		err = print_directory(snapshot, entry ? entry->dir : snapshot->root);
	else if (!err)
		err = report_stream(session->store, &entry->oid);
	snapshot_free(snapshot);
	return err;
}
