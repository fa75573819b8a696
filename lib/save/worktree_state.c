/* SPDX-License-Identifier: MIT */
#include "save/worktree_state.h"

#include "base/base.h"
#include "git/git.h"
#include "record/record.h"
#include "save/worktree_hints_internal.h"
#include "session/session.h"
#include "store/store.h"
#include "tree/tree.h"

/* The store's info/exclude, which the user may have edited; otherwise that of a new store. */
static void load_defaults(struct strbuf *out, const struct session *session)
{
	if (session->store && !fs_read_file(out, session->store->dirfd, "info/exclude"))
		return;
	strbuf_reset(out);
	strbuf_addstr(out, rules_default_patterns);
}

/* What a restore has prepared is not part of the worktree, whichever restore it is. */
static void exclude_stages(struct strlist *exclude, struct strlist *notes,
			   const struct session *session)
{
	struct stage_dirs dirs;

	stage_dir_list(&dirs, session->store, session->worktree);
	for (size_t i = 0; i < dirs.nr; i++) {
		strlist_take(exclude, xstrfmt("/%s/", dirs.items[i].name));
		if (notes && dirs.items[i].kind == STAGE_DIR_FOREIGN)
			strlist_addf(notes,
				     "'%s' belongs to a restore with the checkpoints of '%s' and was left "
				     "out; 'git checkpoint doctor' says more",
				     dirs.items[i].name, dirs.items[i].worktree);
	}
	stage_dirs_release(&dirs);
}

/*
 * A reader has no lock: a restore may start or finish during the walk. Even
 * then, what it has prepared is not part of the worktree.
 */
static void drop_stages(struct scan *scan, const struct session *session)
{
	struct wt_dir *root = scan->root;
	bool any = false;

	for (size_t i = 0; i < root->nr; i++) {
		struct wt_entry *entry = &wt_entries(root)[i];

		if (entry->kind != WT_DIR || !stage_dir_is_name(entry->name) ||
		    stage_dir_look(session->store, session->worktree, entry->name) ==
			    STAGE_DIR_NONE)
			continue;
		entry->flags |= WT_DEAD;
		skip_list_drop(&scan->skips, entry->name);
		any = true;
	}
	if (!any)
		return;
	root->known = root->hashed = false;
	wt_compact(root);
}

static int open_rules(struct rules **out, struct strlist *notes, struct session *session,
		      const struct worktree_state_opts *opts)
{
	struct strbuf defaults = STRBUF_INIT;
	struct rules_opts rules = {
		.root = session->worktree,
		.repo = session->repo,
		.config = session->gitconfig,
		.exclude = &session->settings.exclude,
		.sensitive = &session->settings.sensitive,
		.texts = opts->texts,
		.also = opts->also,
		.whole = opts->whole,
		.no_tracked = opts->rules_only,
		.include_ignored = opts->include_ignored,
		.include_sensitive = opts->include_sensitive,
	};
	struct strlist stages = STRLIST_INIT;
	int err;

	/* Those of a checkpoint do not depend on what is on the disk. */
	if (!opts->texts) {
		load_defaults(&defaults, session);
		if (opts->no_defaults)
			rules_drop_defaults(&defaults);
		exclude_stages(&stages, notes, session);
	}
	rules.never = &stages;
	rules.defaults = defaults.buf;
	err = rules_open(out, &rules);
	strbuf_release(&defaults);
	strlist_release(&stages);
	return err;
}

int worktree_state_rules(struct rules **out, struct session *session,
			 const struct worktree_state_opts *opts)
{
	return open_rules(out, NULL, session, opts);
}

/*
 * Objects that the cache names exist if the checkpoint that it describes does,
 * and if no pack was removed since. Otherwise each is looked up.
 */
static void open_cache(struct worktree_state *state, const struct ref_list *refs,
		       const struct worktree_state_opts *opts)
{
	struct store *store = state->session->store;
	const struct statcache_head *head;

	if (!store)
		return;
	state->borrowed = opts->base != NULL;
	state->cache = opts->base ? opts->base : statcache_open(store->dirfd, LAYOUT_STATCACHE);
	if (!state->cache)
		return;
	head = statcache_head(state->cache);
	for (size_t i = refs->nr; i-- && !state->objects_there;)
		state->objects_there = oid_equal(&refs->items[i].commit, &head->commit);
	if (head->packs != objects_packs_fingerprint(store))
		state->objects_there = false;
}

/* Trees may have lost their contents; build them again. */
static void distrust(struct wt_dir *dir)
{
	dir->known = false;
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			distrust(wt_entries(dir)[i].dir);
}

/* True if the user, or the checkpoint to compare with, wants this worktree. */
static bool is_wanted(const char *path, const struct worktree_state_opts *opts)
{
	struct wt_entry *entry = NULL;

	for (size_t i = 0; opts->scope && i < opts->scope->nr; i++)
		if (path_below(opts->scope->items[i], path))
			return true;
	return opts->held && !snapshot_find(&entry, opts->held, path) && entry;
}

/* Each worktree has checkpoints of its own: to restore one must not touch the others. */
static void find_apart(struct worktree_state *state, const struct worktree_state_opts *opts)
{
	const struct session *session = state->session;
	struct strlist all = STRLIST_INIT;

	if (!session->repo || opts->include_worktrees)
		return;
	repo_other_worktrees(&all, session->repo);
	for (size_t i = 0; i < all.nr; i++) {
		const char *path = path_below(all.items[i], session->worktree);

		if (path && *path && (!state->scoped || compare_in_scope(opts->scope, path)) &&
		    !is_wanted(path, opts))
			strlist_add(&state->apart, path);
	}
	strlist_sort_unique(&state->apart);
	strlist_release(&all);
}

int worktree_state_scan(struct worktree_state *out, struct session *session,
			const struct ref_list *refs, const struct worktree_state_opts *opts)
{
	struct scan_opts scan = {
		.root = session->worktree,
		.scope = opts->scope,
		.max_files = opts->no_limit ? 0 : session->settings.max_files,
		.max_file_size = session->settings.max_file_size,
		.threads = session->threads,
		.want_left_out = opts->want_left_out,
		.progress = opts->progress,
	};
	struct stat home;
	int err;

	memset(out, 0, sizeof(*out));
	out->session = session;
	out->progress = opts->progress;
	out->until = opts->until;
	out->scoped = opts->scope && opts->scope->nr;
	/*
	 * What others failed to open since the session was found to be complete does not matter
	 * here.
	 */
	if (session->read_whole)
		ckpt_error_forget_lack();
	err = open_rules(&out->rules, &out->notes, session, opts);
	if (err)
		goto out;
	open_cache(out, refs, opts);
	find_apart(out, opts);
	scan.apart = &out->apart;
	if (!stat(session->home, &home)) {
		scan.avoid_dev = home.st_dev;
		scan.avoid_ino = home.st_ino;
	}
	scan.rules = out->rules;
	scan.cache = out->cache;
	out->hints = xcalloc(1, sizeof(*out->hints));
	worktree_hints_find(out->hints, &scan, session, opts);
	if (out->cache && !scan.hints)
		statcache_populate(out->cache);
	err = scan_run(&out->scan, &scan);
	/* Rules, settings or an index that could not be read would make it a different checkpoint. */
	if (!err)
		err = ckpt_error_lack();
	if (err)
		goto out;
	session->read_whole = true;
	worktree_hints_settle(out->hints, out->scan, out->cache, out->rules);
	drop_stages(out->scan, session);
	/*
	 * A cache from another boot must be replaced, or nothing would be known on this one either.
	 */
	out->untouched = out->objects_there && out->scan->root->known &&
			 !out->scan->cache_is_old && !out->scan->dir_modes_changed && !out->scoped;
out:
	if (err)
		worktree_state_release(out);
	return err;
}

int worktree_state_read(struct worktree_state *state, struct pack *pack)
{
	struct session *session = state->session;
	struct ingest_opts opts = {
		.store = session->store,
		.pack = pack,
		.scan = state->scan,
		.max_file_size = session->settings.max_file_size,
		.objects_there = state->objects_there,
		.threads = session->threads,
		.until = pack ? state->until : 0,
		.progress = state->progress,
	};
	int err;

	/* The objects are not needed to compute names. */
	if (pack && !state->objects_there)
		distrust(state->scan->root);
	err = ingest_run(&state->read, &opts);
	return err ? err : ingest_trees(state->scan->root, pack, session->threads);
}

void worktree_state_update_cache(struct worktree_state *state, const struct oid *commit)
{
	struct statcache_head head = state->hints->head;
	char hash[STATEHASH_SIZE];

	head.commit = *commit;
	head.packs = objects_packs_fingerprint(state->session->store);
	head.origin = state->scan->origin;
	/* Directories that are hashed already stay as they are. */
	statehash(hash, state->scan->root);
	if (!state->cache)
		state->cache = statcache_new();
	statcache_update(state->cache, &head, state->scan->root);
}

void worktree_state_write_cache(struct worktree_state *state, const struct oid *commit)
{
	/* A scope's tree would make the next full save forget the rest. */
	if (state->scoped)
		return;
	worktree_state_update_cache(state, commit);
	/* Under a budget it must be as small as was reckoned with. */
	(void)statcache_save(state->cache, state->session->store->dirfd, LAYOUT_STATCACHE,
			     state->session->settings.max_size);
}

void worktree_state_touch_cache(struct worktree_state *state)
{
	struct statcache_head head;

	if (state->scoped || !worktree_hints_are_news(state->hints, state->scan, state->cache))
		return;
	if (!state->scan->root->same) {
		worktree_state_write_cache(state, &statcache_head(state->cache)->commit);
		return;
	}
	head = *statcache_head(state->cache);
	head.mark = state->hints->head.mark;
	head.full_at = state->hints->head.full_at;
	head.index = state->hints->head.index;
	head.circumstances = state->hints->head.circumstances;
	statcache_set_head(state->cache, state->session->store->dirfd, LAYOUT_STATCACHE, &head);
}

int worktree_state_check(const struct worktree_state *state)
{
	struct store *store = state->session->store;

	if (!state->scan || !state->scan->source.unsure)
		return 0;
	(void)unlinkat(store->dirfd, LAYOUT_STATCACHE, 0);
	return ckpt_error_set(CKPT_ECORRUPT,
			      "the stat cache in '%s' is damaged; it was removed, try again",
			      store->path);
}

/* As if only known files existed; then no list of names is complete. */
static void drop_unread(struct wt_dir *dir)
{
	if (dir->same)
		return;
	dir->listing &= (uint8_t)~WT_NAMES;
	dir->hashed = false;
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_DIR)
			drop_unread(entry->dir);
		else if (!(entry->flags & WT_KNOWN))
			entry->flags |= WT_DEAD;
	}
}

int worktree_state_keep(struct worktree_state *state, struct pack *pack)
{
	static const struct oid none;
	struct wt_dir *root = state->scan->root;
	int err;

	drop_unread(root);
	wt_compact(root);
	/* What is not read yet did not change again: no watcher would tell the next scan of it. */
	state->hints->head.mark = (struct watch_mark){ 0, 0 };
	err = ingest_trees(root, pack, state->session->threads);
	if (!err)
		err = pack_commit(pack, NULL);
	/* It describes no checkpoint: each object is looked up before it is relied on. */
	if (!err)
		worktree_state_write_cache(state, &none);
	return err;
}

const struct oid *worktree_state_cached_commit(const struct worktree_state *state)
{
	return state->cache ? &statcache_head(state->cache)->commit : NULL;
}

void worktree_state_release(struct worktree_state *state)
{
	scan_free(state->scan);
	strlist_release(&state->apart);
	strlist_release(&state->notes);
	rules_close(state->rules);
	if (state->hints)
		worktree_hints_release(state->hints);
	free(state->hints);
	if (!state->borrowed)
		statcache_close(state->cache);
	memset(state, 0, sizeof(*state));
}
