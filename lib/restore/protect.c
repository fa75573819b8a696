/* SPDX-License-Identifier: MIT */
#include "restore/protect_internal.h"

#include "record/record.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

/* The rules of one checkpoint, and the state for the directory asked about last. */
struct source {
	struct rules *rules;
	struct snapshot *snapshot;
	const struct skip_list *skips;
	char *dir;              /* whose state `at` is; NULL: none yet */
	struct rules_dir at;
	struct arena arena;
	char why[64];
};

struct protect {
	struct session *session;
	struct source **items;
	size_t nr, alloc;
	struct snapshot *exempt; /* NULL: nothing */
};

struct protect *protect_new(struct session *session)
{
	struct protect *protect = xcalloc(1, sizeof(*protect));

	protect->session = session;
	return protect;
}

static void source_free(struct source *source)
{
	rules_close(source->rules);
	arena_release(&source->arena);
	free(source->dir);
	free(source);
}

void protect_free(struct protect *protect)
{
	if (!protect)
		return;
	for (size_t i = 0; i < protect->nr; i++)
		source_free(protect->items[i]);
	free(protect->items);
	free(protect);
}

int protect_add(struct protect *protect, const struct ckpt_record *record,
		const struct ckpt_meta *meta, struct snapshot *snapshot)
{
	struct source *source = xcalloc(1, sizeof(*source));
	struct worktree_state_opts opts = {
		.include_ignored = record->include_ignored,
		.include_sensitive = record->include_sensitive,
		.rules_only = true,
		.texts = meta->have_rules ? &meta->rules : NULL,
	};
	int err = worktree_state_rules(&source->rules, protect->session, &opts);

	if (err) {
		source_free(source);
		return err;
	}
	source->skips = &meta->skips;
	source->snapshot = snapshot;
	*ALLOC_NEXT(protect->items, protect->nr, protect->alloc) = source;
	return 0;
}

/* Add the .gitignore that the checkpoint has in `dir`, and the rules of a repository there. */
static void enter_dir(struct source *source, const char *dir)
{
	const struct rules_texts *texts = rules_texts(source->rules);
	struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	struct wt_entry *entry = NULL;

	for (size_t i = 0; i < texts->nested_nr; i++)
		if (!strcmp(texts->nested[i].path, dir))
			rules_enter_text(&source->at, source->rules, &source->arena, dir,
					 texts->nested[i].text.buf, texts->nested[i].text.len);
	strbuf_addf(&path, "%s%s.gitignore", dir, *dir ? "/" : "");
	if (!snapshot_find(&entry, source->snapshot, path.buf) && entry &&
	    entry->kind == WT_FILE &&
	    !objects_read(&text, source->snapshot->store, &entry->oid, OBJECT_BLOB))
		rules_enter_text(&source->at, source->rules, &source->arena, dir, text.buf,
				 text.len);
	strbuf_release(&path);
	strbuf_release(&text);
}

static bool is_left_out(struct source *source, const char *path, enum wt_kind kind)
{
	switch (rules_judge(source->rules, &source->at, path, path_base(path), kind == WT_DIR,
			    kind == WT_FILE)) {
	case RULES_IGNORED:
	case RULES_DEFAULT:
		snprintf(source->why, sizeof(source->why), "ignored when the checkpoint was taken");
		return true;
	case RULES_SENSITIVE:
		snprintf(source->why, sizeof(source->why), "sensitive");
		return true;
	default:
		return false;
	}
}

/* Move source->at to the directory that contains `path`, from the root down. */
static void enter_parent(struct source *source, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = xmemdupz(path, slash ? (size_t)(slash - path) : 0);

	if (source->dir && !strcmp(source->dir, dir)) {
		free(dir);
		return;
	}
	source->at = rules_begin(source->rules);
	enter_dir(source, "");
	for (char *end = dir; *dir && end && !source->at.excluded;) {
		end = strchr(end, '/');
		if (end)
			*end = '\0';
		if (is_left_out(source, dir, WT_DIR))
			source->at.excluded = true;
		else
			enter_dir(source, dir);
		if (end)
			*end++ = '/';
	}
	free(source->dir);
	source->dir = dir;
}

/* A file that kept changing is in it nevertheless. */
static bool is_in_it(const struct source *source, const char *path)
{
	struct wt_entry *entry = NULL;

	return !snapshot_find(&entry, source->snapshot, path) && entry;
}

static const char *was_skipped(struct source *source, const char *path)
{
	for (size_t i = 0; i < source->skips->nr; i++) {
		const struct skip *skip = &source->skips->items[i];
		size_t len = strlen(skip->path);

		if (strncmp(path, skip->path, len) || (path[len] && path[len] != '/') ||
		    is_in_it(source, skip->path))
			continue;
		snprintf(source->why, sizeof(source->why), "left out of the checkpoint as %s",
			 skip_why_name(skip->why));
		return source->why;
	}
	return NULL;
}

void protect_exempt(struct protect *protect, struct snapshot *snapshot)
{
	protect->exempt = snapshot;
}

/* A directory is entered: its contents are judged one by one. */
static bool is_exempt(struct protect *protect, const char *path, enum wt_kind kind)
{
	struct wt_entry *entry = NULL;

	return protect->exempt && !snapshot_find(&entry, protect->exempt, path) && entry &&
	       (entry->kind == WT_DIR) == (kind == WT_DIR);
}

static bool is_taken_by_name(struct source *source, const char *path, size_t len, enum wt_kind kind)
{
	char *file = xmemdupz(path, len);
	bool taken;

	enter_parent(source, file);
	taken = source->at.excluded || is_left_out(source, file, kind);
	free(file);
	return taken;
}

/*
 * Where the checkpoint has a file although its rules leave it out, because git
 * was about to replace it, the rules for paths below it mean nothing.
 */
static bool is_impossible(struct source *source, const char *path)
{
	struct wt_dir *dir = source->snapshot->root;
	const char *name = path, *slash;

	for (; (slash = strchr(name, '/')); name = slash + 1) {
		const struct wt_entry *entry;

		if (snapshot_expand(source->snapshot, dir))
			return false;
		entry = wt_child(dir, name, (size_t)(slash - name));
		if (!entry || entry->kind != WT_DIR)
			return entry &&
			       is_taken_by_name(source, path, (size_t)(slash - path), entry->kind);
		dir = entry->dir;
	}
	return false;
}

const char *protect_path(const char *path, enum wt_kind kind, void *payload)
{
	struct protect *protect = payload;

	for (size_t i = 0; i < protect->nr; i++) {
		const char *why = was_skipped(protect->items[i], path);

		if (why)
			return why;
	}
	if (is_exempt(protect, path, kind))
		return NULL;
	for (size_t i = 0; i < protect->nr; i++) {
		struct source *source = protect->items[i];

		if (is_impossible(source, path))
			continue;
		enter_parent(source, path);
		if (source->at.excluded || is_left_out(source, path, kind)) {
			if (!source->why[0])
				snprintf(source->why, sizeof(source->why),
					 "ignored when the checkpoint was taken");
			return source->why;
		}
	}
	return NULL;
}
