/* SPDX-License-Identifier: MIT */
#include "remote/flat_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

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
static void enter(struct rules_dir *at, struct walk *walk, const struct wt_dir *dir)
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

static void note(struct walk *walk, const char *path, enum rules_verdict verdict)
{
	if (pathset_has(walk->tracked, path))
		return;
	if (verdict == RULES_IGNORED || verdict == RULES_DEFAULT)
		strlist_add(walk->ignored, path);
	else if (verdict == RULES_SENSITIVE)
		strlist_add(walk->secret, path);
}

/* Nothing below an ignored directory can be brought in again. */
static void visit(struct walk *walk, const struct wt_dir *dir, struct rules_dir at, bool ignored)
{
	struct strbuf path = STRBUF_INIT;

	if (!ignored)
		enter(&at, walk, dir);
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		enum rules_verdict verdict = RULES_IGNORED;

		strbuf_reset(&path);
		strbuf_addf(&path, "%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
		if (!ignored)
			verdict = rules_judge(walk->rules, &at, path.buf, entry->name,
					      entry->kind == WT_DIR, entry->kind == WT_FILE);
		if (entry->kind == WT_DIR)
			visit(walk, entry->dir, at,
			      verdict == RULES_IGNORED || verdict == RULES_DEFAULT);
		else
			note(walk, path.buf, verdict);
	}
	strbuf_release(&path);
}

int flat_find_ignored(struct strlist *ignored, struct strlist *secret, struct flat *flat,
		      const struct ckpt_record *record, const struct strlist *tracked)
{
	struct walk walk = { .snapshot = flat->snapshot, .tracked = tracked, .ignored = ignored,
			     .secret = secret, .rootfd = -1 };
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
		visit(&walk, flat->snapshot->root, rules_begin(walk.rules), false);
	rules_close(walk.rules);
	fs_close(walk.rootfd);
	arena_release(&walk.arena);
	meta_release(&meta);
	strlist_sort_unique(ignored);
	strlist_sort_unique(secret);
	return err;
}
