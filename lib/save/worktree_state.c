/* SPDX-License-Identifier: MIT */
#include "save/worktree_state.h"

#include "record/record.h"
#include "session/session.h"

/* --- what need not be looked at, because a watcher has not seen it change --- */

/*
 * With hints, all else must be the same as when the stat cache was written (tree/scan.h). What
 * neither the rules nor the watcher know of that is compared here: see hash_circumstances().
 */
struct worktree_hints {
	struct watched watched;
	struct scan_hints hints;
	/* What to keep with the cache that this scan fills; without commit, packs and origin. */
	struct statcache_head head;
};

/* In seconds: after this time a save looks at everything, whatever the watcher says. */
enum { FULL_EVERY = 600 };

/* With more names than this in an answer, writing a new mark is cheaper than asking again. */
enum { MANY = 100 };

/*
 * What decides about a file, and is neither in the worktree nor among the rules: limits; the user,
 * because one user may read what another may not; and what is never entered.
 */
static uint64_t hash_circumstances(const struct scan_opts *scan)
{
	const uint64_t numbers[] = { scan->max_file_size, geteuid(), getegid(),
				     (uint64_t)scan->avoid_dev, (uint64_t)scan->avoid_ino };
	uint64_t hash = hash_mix(HASH_MIX_START, numbers, sizeof(numbers));

	for (size_t i = 0; i < scan->apart->nr; i++)
		hash = hash_mix(hash, scan->apart->items[i], strlen(scan->apart->items[i]));
	return hash;
}

/* All 0 if there is none, or if it may change again without a change of its times. */
static void look_at_index(struct wt_stat *out, const struct session *session)
{
	char *path = session->repo ? xstrfmt("%s/index", session->repo->gitdir) : NULL;
	int64_t now = clock_file_ns();
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (path && !stat(path, &st)) {
		wt_stat_from(out, &st);
		if (wt_stat_racy(out, now))
			memset(out, 0, sizeof(*out));
	}
	free(path);
}

static bool is_same_index(const struct wt_stat *then, const struct wt_stat *now,
		       const struct session *session)
{
	static const struct wt_stat none;

	return wt_stat_equal(then, now) && (!session->repo || !wt_stat_equal(now, &none));
}

/* Hints do not help a scan of some paths, or of more than the rules say. */
static bool is_plain_scan(const struct worktree_state_opts *opts)
{
	return (!opts->scope || !opts->scope->nr) && (!opts->also || !opts->also->nr) &&
	       (!opts->whole || !opts->whole->nr) && !opts->want_left_out;
}

static bool may_use_hints(const struct worktree_hints *found, const struct statcache *cache,
		    const struct worktree_state_opts *opts)
{
	const struct statcache_head *head = statcache_head(cache);
	int64_t since = (int64_t)clock_monotonic() - head->full_at;

	return !opts->full && !found->watched.all && since >= 0 && since < FULL_EVERY;
}

/*
 * Right before the scan, with its options complete but for the hints: ask, and set `scan->hints` if
 * they are of use.
 */
static void find_hints(struct worktree_hints *out, struct scan_opts *scan,
		       const struct session *session, const struct worktree_state_opts *opts)
{
	const struct statcache *cache = scan->cache;

	memset(out, 0, sizeof(*out));
	if (!session->store || !is_plain_scan(opts))
		return;
	/* First of all: whatever changes from here on is for the next scan. */
	watched_ask(&out->watched, session->store->dirfd, cache);
	out->head.mark = out->watched.now;
	out->head.circumstances = hash_circumstances(scan);
	look_at_index(&out->head.index, session);
	if (!cache || statcache_head(cache)->circumstances != out->head.circumstances)
		return;
	scan->index_same =
		is_same_index(&statcache_head(cache)->index, &out->head.index, session);
	if (opts->hints) {
		out->hints = *opts->hints;
		/* What only the watcher has heard of since then must be told again. */
		out->head.mark = statcache_head(cache)->mark;
	} else if (may_use_hints(out, cache, opts)) {
		out->hints = (struct scan_hints){ &out->watched.dirs, &out->watched.trees };
	} else {
		return;
	}
	scan->hints = &out->hints;
}

/* After the scan: note whether it looked at everything. */
static void settle_hints(struct worktree_hints *hints, const struct scan *scan,
			 const struct statcache *cache, const struct rules *rules)
{
	/* Once it can be read again, everything has to be judged again. */
	if (rules_lacks_index(rules))
		memset(&hints->head.index, 0, sizeof(hints->head.index));
	hints->head.full_at = scan->hinted ? statcache_head(cache)->full_at :
					     (int64_t)clock_monotonic();
}

/* With the index that was there, what is tracked need not be read from it again. */
static bool knows_index(const struct worktree_hints *hints, const struct scan *scan,
			const struct statcache *cache)
{
	static const struct wt_stat none;

	return !scan->hinted && cache && !wt_stat_equal(&hints->head.index, &none) &&
	       !wt_stat_equal(&hints->head.index, &statcache_head(cache)->index);
}

/* What the cache says of watcher or index is worth replacing, although nothing changed. */
static bool are_hints_news(const struct worktree_hints *hints, const struct scan *scan,
			   const struct statcache *cache)
{
	return knows_index(hints, scan, cache) ||
	       (hints->head.mark.instance &&
		(!scan->hinted || hints->watched.dirs.nr + hints->watched.trees.nr > MANY));
}

static void release_hints(struct worktree_hints *hints)
{
	watched_release(&hints->watched);
	memset(hints, 0, sizeof(*hints));
}

/* --- the rules --- */

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

/* --- the scan --- */

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
static void distrust_trees(struct wt_dir *dir)
{
	dir->known = false;
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			distrust_trees(wt_entries(dir)[i].dir);
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

/* If nobody knows, it may be. */
static bool has_tracked(const struct repo *repo, const char *path)
{
	struct gitindex *index = NULL;
	bool has = gitindex_open(&index, repo->worktree, repo->gitdir, repo->sha256) ||
		   gitindex_has_below(index, path);

	gitindex_close(index);
	return has;
}

/*
 * Files that are tracked here, or by a repository on the way there, are these repositories' files,
 * whatever says that they are another worktree's.
 */
static bool is_tracked(const struct session *session, const char *path)
{
	bool tracked = has_tracked(session->repo, path);

	for (const char *slash = path; !tracked && (slash = strchr(slash, '/')); slash++) {
		char *dir = xstrfmt("%s/%.*s", session->worktree, (int)(slash - path), path);
		struct repo *repo = NULL;

		tracked = !repo_open_at(&repo, dir) && has_tracked(repo, slash + 1);
		repo_free(repo);
		free(dir);
	}
	return tracked;
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
		    !is_wanted(path, opts) && !is_tracked(session, path))
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
	find_hints(out->hints, &scan, session, opts);
	if (out->cache && !scan.hints)
		statcache_populate(out->cache);
	err = scan_run(&out->scan, &scan);
	/* Rules, settings or an index that could not be read would make it a different checkpoint. */
	if (!err)
		err = ckpt_error_lack();
	if (err)
		goto out;
	session->read_whole = true;
	settle_hints(out->hints, out->scan, out->cache, out->rules);
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

static int read_and_build(struct worktree_state *state, struct ingest_opts *opts)
{
	int err;

	/* The objects are not needed to compute names. */
	if (opts->pack && !state->objects_there)
		distrust_trees(state->scan->root);
	/* What is only named now is known from here on, and perhaps in no store. */
	if (!opts->pack)
		state->objects_there = false;
	opts->objects_there = state->objects_there;
	err = ingest_run(&state->read, opts);
	return err ? err : ingest_trees(state->scan->root, opts->pack, opts->threads);
}

int worktree_state_read(struct worktree_state *state, struct pack *pack)
{
	struct session *session = state->session;
	struct ingest_opts opts = {
		.store = session->store,
		.pack = pack,
		.scan = state->scan,
		.max_file_size = session->settings.max_file_size,
		.threads = session->threads,
		.until = pack ? state->until : 0,
		.progress = state->progress,
	};
	struct wt_dir *root = state->scan->root;
	bool trusted = pack && state->objects_there;
	int err;

	if (trusted && root->known && !objects_exist(session->store, &root->tree))
		trusted = state->objects_there = false;
	err = read_and_build(state, &opts);
	/* A damaged pack looks as it did before: now each object is looked up. */
	if (err == CKPT_ECORRUPT && trusted) {
		state->objects_there = false;
		err = read_and_build(state, &opts);
	}
	return err;
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

	if (state->scoped || !are_hints_news(state->hints, state->scan, state->cache))
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
		release_hints(state->hints);
	free(state->hints);
	if (!state->borrowed)
		statcache_close(state->cache);
	memset(state, 0, sizeof(*state));
}

/* --- what a person must know about it --- */

/* Of one kind; a thousand would hide the others. */
enum { WARNINGS_SHOWN = 20 };

static void add_path(struct strlist *out, size_t *count, const char *path, const char *what)
{
	struct strbuf quoted = STRBUF_INIT;

	if ((*count)++ < WARNINGS_SHOWN) {
		quote_path(&quoted, path);
		strlist_addf(out, "'%s' %s", quoted.buf, what);
	}
	strbuf_release(&quoted);
}

static void add_more(struct strlist *out, size_t count, const char *what)
{
	if (count > WARNINGS_SHOWN)
		strlist_addf(out, "%zu more %s", count - WARNINGS_SHOWN, what);
}

static void add_skips(struct strlist *out, const struct scan *scan, enum skip_why why,
		      const char *what)
{
	size_t count = 0;

	for (size_t i = 0; i < scan->skips.nr; i++)
		if (scan->skips.items[i].why == why)
			add_path(out, &count, scan->skips.items[i].path, what);
	add_more(out, count, what);
}

static void add_paths(struct strlist *out, const struct strlist *paths, const char *what)
{
	size_t count = 0;

	for (size_t i = 0; i < paths->nr; i++)
		add_path(out, &count, paths->items[i], what);
	add_more(out, count, what);
}

/* Each with the line that would include it. */
static void add_defaults(struct strlist *out, const struct strlist *paths)
{
	for (size_t i = 0; i < paths->nr && i < WARNINGS_SHOWN; i++) {
		struct strbuf quoted = STRBUF_INIT;

		quote_path(&quoted, paths->items[i]);
		strlist_addf(out, "'%s' was left out by a default pattern; '!%s' in .gitignore includes "
				  "it",
			     quoted.buf, quoted.buf);
		strbuf_release(&quoted);
	}
	add_more(out, paths->nr, "were left out by a default pattern");
}

void worktree_state_warn_once(struct strlist *out, const struct worktree_state *state)
{
	/* A save of only state scans nothing. */
	if (state->scan)
		add_defaults(out, &state->scan->defaults_left_out);
	add_paths(out, &state->apart,
		  "is another worktree of this repository and was left out; --include-worktrees "
		  "saves it");
}

void worktree_state_warn(struct strlist *out, const struct worktree_state *state)
{
	const struct scan *scan = state->scan;

	add_skips(out, scan, SKIP_UNREADABLE, "could not be read and is not in the checkpoint; make it readable, or exclude it");
	add_skips(out, scan, SKIP_CHANGING, "kept changing while it was read: the checkpoint may have a "
					    "part of it from before a write and a part from after it; "
					    "save again later");
	add_skips(out, scan, SKIP_OVERSIZE, "is larger than maxFileSize and is not in the checkpoint; "
					    "raise the limit, or exclude the file");
	add_skips(out, scan, SKIP_DEEP, "is nested too deeply and is not in the checkpoint; remove or exclude it");
	add_skips(out, scan, SKIP_SENSITIVE, "looks like a secret and was left out; --include-sensitive "
					     "saves it");
	add_skips(out, scan, SKIP_VANISHED, "vanished while the checkpoint was taken");
	add_skips(out, scan, SKIP_MOUNT, "is an empty mount and was left out");
	add_paths(out, &scan->mounts, "is another file system: it is saved, but a restore cannot change "
				      "it; restore --force restores the rest");
	add_paths(out, &scan->sensitive_tracked, "looks like a secret and is in the checkpoint, as it is tracked");
	worktree_state_warn_once(out, state);
	strlist_extend(out, &state->notes);
	strlist_extend(out, rules_warnings(state->rules));
}

static bool is_secret(const struct skip_list *skips, const char *path)
{
	for (size_t i = 0; i < skips->nr; i++)
		if (skips->items[i].why == SKIP_SENSITIVE && !strcmp(skips->items[i].path, path))
			return true;
	return false;
}

int worktree_state_refuse_secrets(const struct worktree_state *state, const struct strlist *scope)
{
	struct strbuf names = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; scope && i < scope->nr; i++) {
		if (!is_secret(&state->scan->skips, scope->items[i]))
			goto out;
		strbuf_addstr(&names, i ? ", '" : "'");
		quote_path(&names, scope->items[i]);
		strbuf_addstr(&names, "'");
	}
	if (names.len)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "%s %s; nothing was saved; use --include-sensitive to save %s",
				     names.buf,
				     scope->nr == 1 ? "looks like a secret" : "look like secrets",
				     scope->nr == 1 ? "it" : "them");
out:
	strbuf_release(&names);
	return err;
}
