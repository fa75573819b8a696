/* SPDX-License-Identifier: MIT */
#include "hooks/hook_internal.h"

#include "git/git.h"
#include "record/record.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

struct hook_autostash {
	const struct repo *repo;
	char *id;           /* of the commit */
	int64_t aside_ns;   /* when it was named */
	struct strlist gone; /* paths that were deleted */
	struct strbuf there; /* paths that were changed or added, each followed by a NUL */
	struct strlist notes;
	struct scan *scan;   /* for what was changed or added */
	struct rules *rules;
	struct arena arena;  /* for what is new in the tree */
};

/* In the store, under its lock: no other process uses it. */
#define SCRATCH "checkpoint/autostash"

/* --- what was stashed --- */

/*
 * Ask git about the project without writing anything to it. With our `index`,
 * files are written out as git had them in the worktree.
 */
static int ask_git(struct strbuf *out, const struct repo *repo, const char *worktree,
		   const char *index, const struct strbuf *input, const char *const args[])
{
	const struct gitrun how = {
		.profile = index ? GITRUN_REPLAY : GITRUN_LOOK,
		.gitdir = repo->gitdir,
		.worktree = worktree,
		.index = index,
		.input = input ? input->buf : NULL,
		.input_len = input ? input->len : 0,
	};
	int err = askgit(out, &how, args);

	return err ? ckpt_error_prefix(CKPT_ERROR, "the changes that git stashed cannot be read") :
		     0;
}

/* The commit, or NULL. */
static char *find_commit(int64_t *when_ns, const struct repo *repo)
{
	static const char *const names[] = { "rebase-merge/autostash", "rebase-apply/autostash" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *id = gitfile_read(repo->gitdir, names[i]);
		char *path = xstrfmt("%s/%s", repo->gitdir, names[i]);
		struct stat st;
		bool found = id && gitfile_is_id(id) && !stat(path, &st);

		free(path);
		if (found) {
			*when_ns = clock_ns(&st.st_mtim);
			return id;
		}
		free(id);
	}
	return NULL;
}

/* One record of `diff-tree --raw -z`: ":<mode> <mode> <id> <id> <letter>" NUL path NUL. */
static int add_change(struct hook_autostash *stash, const char *record, const char *path)
{
	static const char gitlink[] = "160000";
	const char *mode = strchr(record, ' '), *letter = strrchr(record, ' ');
	bool from_module = !strncmp(record + 1, gitlink, strlen(gitlink));

	if (record[0] != ':' || !mode || letter - mode < 8 || !*path)
		return ckpt_error_set(CKPT_ERROR, "unexpected answer from git");
	if (letter[1] == 'D') {
		/* The files of a submodule stay where they are. */
		if (!from_module)
			strlist_add(&stash->gone, path);
	} else if (strncmp(mode + 1, gitlink, strlen(gitlink))) {
		strbuf_add(&stash->there, path, strlen(path) + 1);
	}
	if (!strcmp(path_base(path), ".gitignore"))
		strlist_addf(&stash->notes,
			     "git stashed changes to '%s': untracked files were chosen by the committed "
			     "version", path);
	return 0;
}

static int list_changes(struct hook_autostash *stash)
{
	char *base = xstrfmt("%s^1", stash->id);
	const char *argv[] = { "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev",
			       base, stash->id, NULL };
	struct strbuf answer = STRBUF_INIT;
	const char *p, *end;
	int err = ask_git(&answer, stash->repo, stash->repo->worktree, NULL, NULL, argv);

	p = answer.buf;
	end = answer.buf + answer.len;
	while (!err && p < end) {
		const char *path = p + strlen(p) + 1;

		err = add_change(stash, p, path < end ? path : "");
		p = path < end ? path + strlen(path) + 1 : end;
	}
	strbuf_release(&answer);
	free(base);
	return err;
}

/* It must have been made from the current state, not be left over from another rebase. */
static int check_base(struct hook_autostash *stash)
{
	char *base = xstrfmt("%s^1", stash->id);
	const char *argv[] = { "rev-parse", "--verify", "-q", base, NULL };
	struct repo_state state = { 0 };
	struct strbuf answer = STRBUF_INIT;
	int err = repo_read_state(&state, stash->repo);

	if (!err)
		err = ask_git(&answer, stash->repo, stash->repo->worktree, NULL, NULL, argv);
	strbuf_trim(&answer);
	if (!err && (!state.head || strcmp(state.head, answer.buf)))
		err = ckpt_error_set(CKPT_ERROR, "the changes that git stashed belong to '%s', which is "
						 "not HEAD", answer.buf);
	strbuf_release(&answer);
	repo_state_release(&state);
	free(base);
	return err;
}

int hook_autostash_open(struct hook_autostash **out, const struct repo *repo, bool under_way)
{
	struct hook_autostash *stash = xcalloc(1, sizeof(*stash));
	int err = 0;

	*out = NULL;
	stash->repo = repo;
	strbuf_init(&stash->there);
	stash->id = repo ? find_commit(&stash->aside_ns, repo) : NULL;
	if (stash->id) {
		err = under_way ? check_base(stash) :
				  ckpt_error_set(CKPT_ERROR, "git stashed changes, but no git command is "
							     "in progress");
		if (!err)
			err = list_changes(stash);
	}
	if (!stash->id || err) {
		hook_autostash_free(stash);
		return err;
	}
	strlist_addf(&stash->notes, "the changes that git stashed were taken from its commit %.12s: "
				    "permission bits other than executable, and conversions, are those of "
				    "a fresh checkout",
		     stash->id);
	*out = stash;
	return 0;
}

void hook_autostash_free(struct hook_autostash *stash)
{
	if (!stash)
		return;
	scan_free(stash->scan);
	rules_close(stash->rules);
	arena_release(&stash->arena);
	strlist_release(&stash->gone);
	strlist_release(&stash->notes);
	strbuf_release(&stash->there);
	free(stash->id);
	free(stash);
}

const struct strlist *hook_autostash_notes(const struct hook_autostash *stash)
{
	return &stash->notes;
}

/* --- its contents --- */

/* The index is a separate file, and complete. */
#define NO_SHORTCUTS "-c", "core.splitIndex=false", "-c", "core.sparseCheckout=false"

static int check_out(struct hook_autostash *stash, const char *tree, const char *index)
{
	const char *read[] = { NO_SHORTCUTS, "read-tree", stash->id, NULL };
	const char *write[] = { NO_SHORTCUTS, "checkout-index", "-f", "-z", "--stdin", NULL };
	struct strbuf answer = STRBUF_INIT;
	int err = ask_git(&answer, stash->repo, tree, index, NULL, read);

	if (!err)
		err = ask_git(&answer, stash->repo, tree, index, &stash->there, write);
	strbuf_release(&answer);
	return err;
}

static int read_in(struct hook_autostash *stash, struct save_job *job, const char *tree)
{
	const struct ckpt_settings *settings = &job->session->settings;
	struct rules_opts rules = {
		.root = tree,
		.config = job->session->gitconfig,
		.defaults = "",
		.include_ignored = true,
		.include_sensitive = true,
	};
	struct scan_opts scan = {
		.root = tree,
		.max_file_size = settings->max_file_size,
		.threads = job->session->threads,
	};
	struct ingest_opts ingest = {
		.store = job->store,
		.pack = job->pack,
		.max_file_size = settings->max_file_size,
		.threads = job->session->threads,
	};
	struct ingest_result result;
	int err = rules_open(&stash->rules, &rules);

	if (err)
		return err;
	scan.rules = stash->rules;
	err = scan_run(&stash->scan, &scan);
	if (err)
		return err;
	ingest.scan = stash->scan;
	return ingest_run(&result, &ingest);
}

/* Let git write out the previous contents, and read them into the pack. */
static int load_stash(struct hook_autostash *stash, struct save_job *job)
{
	char *scratch = xstrfmt("%s/" SCRATCH, job->store->path);
	char *tree = xstrfmt("%s/tree", scratch), *index = xstrfmt("%s/index", scratch);
	int err = fs_remove_tree(job->store->dirfd, SCRATCH);

	if (!err)
		err = fs_mkdir_p(tree, 0700);
	if (!err)
		err = check_out(stash, tree, index);
	if (!err)
		err = read_in(stash, job, tree);
	(void)fs_remove_tree(job->store->dirfd, SCRATCH);
	free(scratch);
	free(tree);
	free(index);
	return err;
}

/* --- laying it over the tree in memory --- */

/* The directory that contains `path`, NULL if there is none; all on the way will be rebuilt. */
static struct wt_dir *parent_of(struct wt_dir *dir, const char **path)
{
	const char *slash;

	while (dir && (slash = strchr(*path, '/'))) {
		struct wt_entry *entry = wt_child(dir, *path, (size_t)(slash - *path));

		dir->known = dir->same = false;
		dir = entry && entry->kind == WT_DIR ? entry->dir : NULL;
		*path = slash + 1;
	}
	if (dir)
		dir->known = dir->same = false;
	return dir;
}

static void remove_files(struct wt_dir *root, const struct strlist *paths)
{
	for (size_t i = 0; i < paths->nr; i++) {
		const char *name = paths->items[i];
		struct wt_dir *dir = parent_of(root, &name);
		struct wt_entry *entry = dir ? wt_child(dir, name, strlen(name)) : NULL;

		if (entry && entry->kind != WT_DIR)
			entry->flags |= WT_DEAD;
	}
	wt_compact(root);
}

static void lay_over(struct arena *arena, struct wt_dir *dir, const struct wt_dir *over)
{
	size_t size = (dir->nr + over->nr) * sizeof(struct wt_entry), nr = 0;
	struct wt_entry *entries = arena_alloc(arena, size ? size : 1);

	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *old = &wt_entries(dir)[i];
		const struct wt_entry *fresh = wt_child(over, old->name, old->name_len);

		if (fresh && (fresh->kind != WT_DIR || old->kind != WT_DIR))
			continue;
		if (fresh)
			lay_over(arena, old->dir, fresh->dir);
		entries[nr++] = *old;
	}
	for (size_t i = 0; i < over->nr; i++) {
		const struct wt_entry *fresh = &wt_entries(over)[i];
		const struct wt_entry *old = wt_child(dir, fresh->name, fresh->name_len);

		if (fresh->kind == WT_DIR && old && old->kind == WT_DIR)
			continue;
		if (fresh->kind == WT_DIR)
			fresh->dir->parent = dir;
		entries[nr++] = *fresh;
	}
	qsort(entries, nr, sizeof(*entries), wt_entry_compare);
	dir->loaded = entries;
	dir->nr = nr;
	dir->known = dir->same = false;
}

/* Whether a directory was created by stashing the changes, that is, afterwards. */
static bool made_anew(const struct hook_autostash *stash, const struct wt_dir *dir)
{
	char *path = xstrfmt("%s/%s", stash->repo->worktree, dir->path);
	struct statx st;
	bool young = true;

	if (!statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) &&
	    st.stx_mask & STATX_BTIME)
		young = (int64_t)st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec >=
			stash->aside_ns;
	free(path);
	return young;
}

/* Directories that exist only because a deleted file was brought back. */
static void remove_emptied(const struct hook_autostash *stash, struct wt_dir *root)
{
	for (size_t i = 0; i < stash->gone.nr; i++) {
		const char *name = stash->gone.items[i];
		struct wt_dir *dir = parent_of(root, &name);

		struct wt_dir *above = dir ? dir->parent : NULL;

		/* The root has no parent. */
		for (; above && !dir->nr && made_anew(stash, dir); dir = above, above = dir->parent) {
			const char *last = strrchr(dir->path, '/');
			struct wt_entry *entry;

			last = last ? last + 1 : dir->path;
			entry = wt_child(above, last, strlen(last));
			if (!entry)
				break;
			entry->flags |= WT_DEAD;
			wt_compact(above);
		}
	}
}

int hook_autostash_amend(struct save_job *job, void *payload)
{
	struct hook_autostash *stash = payload;
	struct scan *scan = job->current.scan;
	int err = load_stash(stash, job);

	if (err)
		return err;
	/* What git keeps the stash in looks like a rebase, which has not begun. */
	gitsave_undo_autostash(&job->git);
	remove_files(scan->root, &stash->gone);
	lay_over(&stash->arena, scan->root, stash->scan->root);
	remove_emptied(stash, scan->root);
	for (size_t i = 0; i < stash->scan->skips.nr; i++)
		skip_list_add(&scan->skips, stash->scan->skips.items[i].path,
			      stash->scan->skips.items[i].why);
	skip_list_sort(&scan->skips);
	err = ingest_trees(scan->root, job->pack, job->session->threads);
	if (err)
		return err;
	strbuf_reset(&job->meta.modes);
	modes_encode(&job->meta.modes, scan->root);
	/* The tree is not what is in the worktree: nothing for the stat cache. */
	job->current.scoped = true;
	return 0;
}
