/* SPDX-License-Identifier: MIT */
#include "tree/rules.h"

#include "tree/statcache.h"

#include <pthread.h>
#include <stdatomic.h>

enum { TAG_PROJECT, TAG_DEFAULT, TAG_EXTRA };

static const char sensitive_patterns[] = ".env\n"
					 ".env.*\n"
					 "!.env.example\n"
					 "!.env.sample\n"
					 "!.env.template\n"
					 "*.pem\n"
					 "*.key\n"
					 "id_rsa*\n"
					 "id_ed25519*\n"
					 ".netrc\n"
					 ".npmrc\n"
					 ".pypirc\n"
					 "credentials\n"
					 "credentials.json\n"
					 "*.kdbx\n";

/*
 * What one repository tracks. The index is read when a rule first leaves
 * something out, which in many trees never happens.
 */
struct rules_tracked {
	struct rules_tracked *outer;
	struct rules_tracked *next; /* all of them, for rules_close() */
	struct rules *rules;
	struct repo *owned;      /* of nested repositories */
	const struct repo *repo; /* NULL: tracks nothing */
	size_t prefix;           /* bytes of a path up to the names of this repository */
	pthread_mutex_t lock;
	bool loaded;
	struct gitindex *index;
};

struct rules {
	struct rules_opts opts;
	bool ignore_case;
	uint64_t fingerprint; /* of all but the .gitignore files */
	struct rules_texts texts;
	struct exclude_chain extra, sensitive;
	struct exclude_chain base[3]; /* info/exclude, core.excludesFile, defaults */

	struct rules_tracked *top; /* of the project itself, where each walk begins */
	atomic_bool lacks_index;   /* one could not be read */

	pthread_mutex_t lock; /* protects everything below */
	struct strlist warnings;
	struct rules_tracked *all;
	struct exclude_list **lists;
	size_t lists_nr, lists_alloc;
};

static struct exclude_list *parse_patterns(struct rules *rules, const char *text, size_t len,
					   const char *base, int tag)
{
	struct exclude_list *list = exclude_list_new(text, len, base, tag, rules->ignore_case);

	pthread_mutex_lock(&rules->lock);
	*ALLOC_NEXT(rules->lists, rules->lists_nr, rules->lists_alloc) = list;
	pthread_mutex_unlock(&rules->lock);
	return list;
}

static void add_warning(struct rules *rules, const char *what)
{
	pthread_mutex_lock(&rules->lock);
	strlist_addf(&rules->warnings, "%s: %s", what, ckpt_error_last());
	pthread_mutex_unlock(&rules->lock);
}

/* The rules in a file of the user or of a repository; a missing file has none. */
static void read_rules(struct strbuf *out, struct rules *rules, const char *path)
{
	int err = fs_read_linked(out, path);

	if (err && err != CKPT_ENOTFOUND)
		add_warning(rules, "ignore rules left unread");
}

static void read_info(struct strbuf *out, struct rules *rules, const struct repo *repo)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/info/exclude", repo->commondir);
	read_rules(out, rules, path.buf);
	strbuf_release(&path);
}

static void read_global(struct strbuf *out, struct rules *rules)
{
	struct strbuf path = STRBUF_INIT, full = STRBUF_INIT;
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (!gitconfig_path(&path, rules->opts.config, "core.excludesfile")) {
		if (xdg && *xdg)
			strbuf_addf(&path, "%s/git/ignore", xdg);
		else if (home && *home)
			strbuf_addf(&path, "%s/.config/git/ignore", home);
	}
	if (path.len) {
		path_absolute(&full, rules->opts.root, path.buf);
		read_rules(out, rules, full.buf);
	}
	strbuf_release(&path);
	strbuf_release(&full);
}

static void add_lines(struct strbuf *out, const struct strlist *lines)
{
	for (size_t i = 0; lines && i < lines->nr; i++)
		strbuf_addf(out, "%s\n", lines->items[i]);
}

static void read_texts(struct rules *rules)
{
	const struct rules_opts *opts = &rules->opts;
	struct strbuf *of = rules->texts.of;

	strbuf_addstr(&of[RULES_FROM_DEFAULTS], opts->defaults);
	add_lines(&of[RULES_FROM_SETTINGS], opts->exclude);
	if (opts->repo)
		read_info(&of[RULES_FROM_PROJECT], rules, opts->repo);
	read_global(&of[RULES_FROM_USER], rules);
}

/* One of the sources that apply everywhere: the program's own patterns besides `text`. */
static struct exclude_list *parse_base(struct rules *rules, const char *own,
				       const struct strbuf *text, const struct strlist *more, int tag)
{
	struct strbuf all = STRBUF_INIT;
	struct exclude_list *list;

	strbuf_addstr(&all, own);
	if (text)
		strbuf_add(&all, text->buf, text->len);
	add_lines(&all, more);
	rules->fingerprint = hash_mix(rules->fingerprint, all.buf, all.len);
	list = parse_patterns(rules, all.buf, all.len, "", tag);
	strbuf_release(&all);
	return list;
}

static struct rules_tracked *add_tracked(struct rules *rules, struct rules_tracked *outer,
					 const struct repo *repo, struct repo *owned,
					 const char *path)
{
	struct rules_tracked *tracked = xcalloc(1, sizeof(*tracked));

	tracked->outer = outer;
	tracked->rules = rules;
	tracked->repo = repo;
	tracked->owned = owned;
	tracked->prefix = *path ? strlen(path) + 1 : 0;
	pthread_mutex_init(&tracked->lock, NULL);
	pthread_mutex_lock(&rules->lock);
	tracked->next = rules->all;
	rules->all = tracked;
	pthread_mutex_unlock(&rules->lock);
	return tracked;
}

int rules_open(struct rules **out, const struct rules_opts *opts)
{
	struct rules *rules = xcalloc(1, sizeof(*rules));
	const struct strbuf *of = rules->texts.of;

	rules->opts = *opts;
	rules->ignore_case = gitconfig_bool(opts->config, "core.ignorecase", false);
	rules->fingerprint = 1u | (uint64_t)rules->ignore_case << 1 |
			     (uint64_t)opts->include_ignored << 2 |
			     (uint64_t)opts->include_sensitive << 3;
	pthread_mutex_init(&rules->lock, NULL);
	rules_texts_init(&rules->texts);
	if (opts->texts)
		rules_texts_copy(&rules->texts, opts->texts);
	else
		read_texts(rules);
	rules->extra.list = parse_base(rules, "", &of[RULES_FROM_SETTINGS], opts->never, TAG_EXTRA);
	rules->sensitive.list =
		parse_base(rules, sensitive_patterns, NULL, opts->sensitive, TAG_EXTRA);
	rules->base[0].list = parse_base(rules, "", &of[RULES_FROM_PROJECT], NULL, TAG_PROJECT);
	rules->base[0].next = &rules->base[1];
	rules->base[1].list = parse_base(rules, "", &of[RULES_FROM_USER], NULL, TAG_PROJECT);
	rules->base[1].next = &rules->base[2];
	rules->base[2].list = parse_base(rules, "", &of[RULES_FROM_DEFAULTS], NULL, TAG_DEFAULT);
	rules->top = add_tracked(rules, NULL, opts->repo, NULL, "");
	*out = rules;
	return 0;
}

void rules_close(struct rules *rules)
{
	if (!rules)
		return;
	while (rules->all) {
		struct rules_tracked *tracked = rules->all;

		rules->all = tracked->next;
		gitindex_close(tracked->index);
		repo_free(tracked->owned);
		pthread_mutex_destroy(&tracked->lock);
		free(tracked);
	}
	for (size_t i = 0; i < rules->lists_nr; i++)
		exclude_list_free(rules->lists[i]);
	free(rules->lists);
	rules_texts_release(&rules->texts);
	strlist_release(&rules->warnings);
	pthread_mutex_destroy(&rules->lock);
	free(rules);
}

const struct rules_texts *rules_texts(const struct rules *rules)
{
	return &rules->texts;
}

const struct strlist *rules_warnings(const struct rules *rules)
{
	return &rules->warnings;
}

struct rules_dir rules_begin(const struct rules *rules)
{
	return (struct rules_dir){ .chain = rules->base,
				   .tracked = rules->top,
				   .fingerprint = rules->fingerprint };
}

static void push_list(struct rules_dir *dir, struct arena *arena, const struct exclude_list *list)
{
	struct exclude_chain *link;

	if (exclude_list_empty(list))
		return;
	link = arena_alloc(arena, sizeof(*link));
	link->list = list;
	link->next = dir->chain;
	dir->chain = link;
}

static const struct exclude_list *enter_text(struct rules_dir *dir, struct rules *rules,
					     struct arena *arena, const char *path,
					     const char *text, size_t len)
{
	const struct exclude_list *list = parse_patterns(rules, text, len, path, TAG_PROJECT);

	/* Patterns with a slash mean something else where the file is elsewhere. */
	dir->fingerprint = hash_mix(dir->fingerprint, path, strlen(path));
	dir->fingerprint = hash_mix(dir->fingerprint, text, len);
	push_list(dir, arena, list);
	return list;
}

static void enter_info(struct rules_dir *dir, struct rules *rules, struct arena *arena,
		       const struct repo *repo, const char *path)
{
	struct strbuf text = STRBUF_INIT;

	read_info(&text, rules, repo);
	if (!exclude_list_empty(enter_text(dir, rules, arena, path, text.buf, text.len))) {
		pthread_mutex_lock(&rules->lock);
		rules_texts_add_nested(&rules->texts, path, text.buf, text.len);
		pthread_mutex_unlock(&rules->lock);
	}
	strbuf_release(&text);
}

void rules_enter(struct rules_dir *dir, struct rules *rules, struct arena *arena, int dirfd,
		 const char *path, bool has_gitignore, bool has_dotgit)
{
	if (has_dotgit && *path) {
		struct strbuf full = STRBUF_INIT;
		struct repo *repo = NULL;

		strbuf_addf(&full, "%s/%s", rules->opts.root, path);
		if (!repo_open_at(&repo, full.buf)) {
			dir->tracked = add_tracked(rules, dir->tracked, repo, repo, path);
			enter_info(dir, rules, arena, repo, path);
		}
		strbuf_release(&full);
	}
	if (has_gitignore && !dir->excluded) {
		struct strbuf text = STRBUF_INIT;

		/* As in git, a .gitignore that is a symbolic link is not followed. */
		if (!fs_read_text(&text, dirfd, ".gitignore"))
			rules_enter_text(dir, rules, arena, path, text.buf, text.len);
		strbuf_release(&text);
	}
}

void rules_enter_text(struct rules_dir *dir, struct rules *rules, struct arena *arena,
		      const char *path, const char *text, size_t len)
{
	(void)enter_text(dir, rules, arena, path, text, len);
}

bool rules_is_nested(const struct rules_dir *dir)
{
	return dir->tracked->prefix > 0;
}

static const struct gitindex *index_of(struct rules_tracked *tracked)
{
	if (!tracked->repo)
		return NULL;
	pthread_mutex_lock(&tracked->lock);
	if (!tracked->loaded) {
		const struct repo *repo = tracked->repo;

		tracked->loaded = true;
		if (gitindex_open(&tracked->index, repo->worktree, repo->gitdir, repo->sha256)) {
			add_warning(tracked->rules,
				    "files that are both tracked and ignored are left out");
			atomic_store(&tracked->rules->lacks_index, true);
		}
	}
	pthread_mutex_unlock(&tracked->lock);
	return tracked->index;
}

bool rules_lacks_index(const struct rules *rules)
{
	return atomic_load(&((struct rules *)rules)->lacks_index);
}

static bool is_also(const struct rules *rules, const char *path)
{
	return rules->opts.also && pathset_has(rules->opts.also, path);
}

static bool is_whole(const struct rules *rules, const char *path)
{
	return rules->opts.whole && pathset_covers(rules->opts.whole, path);
}

bool rules_is_named(const struct rules *rules, const char *path)
{
	return is_also(rules, path) || is_whole(rules, path);
}

static bool was_left_out(const struct statcache_dir *dir, const char *path)
{
	struct statcache_note note;
	size_t at = 0;

	while (statcache_next_note(&note, &at, dir))
		if (note.kind == WT_NOTE_LEFT && !strcmp(note.path, path))
			return true;
	return false;
}

static bool was_captured(const struct statcache_dir *dir, const char *path)
{
	const struct statcache_entry *entries = statcache_entries(dir);
	const char *name = path_base(path);
	size_t at, len = strlen(name);

#define ORDER(i)                                                                              \
	wt_name_compare(statcache_name(dir, &entries[i]), entries[i].name_len,                \
			entries[i].kind == WT_DIR, name, len, false)
	LOWER_BOUND(at, dir->nr, ORDER(at) < 0);
	return at < dir->nr && !ORDER(at);
#undef ORDER
}

/*
 * A directory that was left out had nothing tracked in it; of files that a rule leaves out, those
 * that are tracked were captured. Other directories may have had tracked files that were missing.
 * False: not known.
 */
static bool recall_verdict(bool *tracked, const struct rules_before *before, const char *path,
			   bool is_dir)
{
	*tracked = false;
	if (!before->dir)
		return false;
	if (is_dir)
		return was_left_out(before->dir, path);
	*tracked = before->names && was_captured(before->dir, path);
	return before->names;
}

/* Some enclosing repository has it in its index or, for a directory, something below it. */
static bool is_indexed(const struct rules_dir *dir, const char *path, bool is_dir)
{
	size_t len = strlen(path);
	bool tracked;

	if (recall_verdict(&tracked, &dir->before, path, is_dir))
		return tracked;

	for (struct rules_tracked *t = dir->tracked; t; t = t->outer) {
		const struct gitindex *index = index_of(t);
		const char *name = len >= t->prefix ? path + t->prefix : "";

		if (!index)
			continue;
		if (is_dir ? gitindex_has_below(index, name) : gitindex_has(index, name))
			return true;
	}
	return false;
}

bool rules_tracks_below(const struct rules_dir *dir, const char *path)
{
	return is_indexed(dir, path, true);
}

/* Named itself, or on the way to a named path. */
static bool leads_to_also(const struct rules *rules, const char *path, bool is_dir)
{
	return is_also(rules, path) ||
	       (is_dir && rules->opts.also && pathset_reaches(rules->opts.also, path));
}

static bool is_tracked(const struct rules_dir *dir, const char *path, bool is_dir)
{
	const struct rules *rules = dir->tracked->rules;

	return !rules->opts.no_tracked &&
	       (leads_to_also(rules, path, is_dir) || is_indexed(dir, path, is_dir));
}

/* Captured with everything below it, or on the way there; this does not include secrets. */
static bool is_wanted(const struct rules *rules, const char *path, bool is_dir)
{
	return is_whole(rules, path) ||
	       (is_dir && rules->opts.whole && pathset_reaches(rules->opts.whole, path));
}

static enum rules_verdict judge_sensitive(const struct rules *rules, const struct rules_dir *dir,
					  const char *path, const char *name, bool is_file)
{
	if (!is_file || rules->opts.include_sensitive ||
	    exclude_match(&rules->sensitive, path, name, false, NULL) != EXCLUDE_IGNORED)
		return RULES_CAPTURE;
	return is_tracked(dir, path, false) ? RULES_CAPTURE_SENSITIVE : RULES_SENSITIVE;
}

enum rules_verdict rules_judge_named(const struct rules *rules, const struct rules_dir *dir,
				     const char *path, const char *name, bool is_file)
{
	return judge_sensitive(rules, dir, path, name, is_file);
}

enum rules_verdict rules_judge(const struct rules *rules, const struct rules_dir *dir,
			       const char *path, const char *name, bool is_dir, bool is_file)
{
	const struct exclude_list *decided = NULL;
	bool left_out = dir->excluded;

	if (!left_out) {
		enum exclude_verdict verdict =
			exclude_match(&rules->extra, path, name, is_dir, &decided);

		if (verdict == EXCLUDE_UNDECIDED && !rules->opts.include_ignored)
			verdict = exclude_match(dir->chain, path, name, is_dir, &decided);
		left_out = verdict == EXCLUDE_IGNORED;
	}
	if (left_out) {
		bool by_default = decided ? exclude_list_tag(decided) == TAG_DEFAULT :
					    dir->default_top != NULL;

		if (!is_wanted(rules, path, is_dir) &&
		    !(dir->by_name ? leads_to_also(rules, path, is_dir) :
				     is_tracked(dir, path, is_dir)))
			return by_default ? RULES_DEFAULT : RULES_IGNORED;
		if (is_dir)
			return by_default ? RULES_TRACKED_DEFAULT : RULES_TRACKED_ONLY;
		if (judge_sensitive(rules, dir, path, name, is_file) == RULES_CAPTURE)
			return RULES_CAPTURE_TRACKED;
	}
	return judge_sensitive(rules, dir, path, name, is_file);
}

/* --- their texts --- */

const char rules_default_patterns[] = "node_modules/\n"
				      "__pycache__/\n"
				      "venv/\n"
				      ".venv/\n"
				      "dist/\n"
				      "build/\n"
				      ".next/\n"
				      "*.pyc\n"
				      ".DS_Store\n";

static bool is_default(const char *line, size_t len)
{
	const char *p = rules_default_patterns;

	for (size_t n; *p; p += n) {
		n = strcspn(p, "\n") + 1;
		if (n == len + 1 && !memcmp(p, line, len))
			return true;
	}
	return false;
}

void rules_drop_defaults(struct strbuf *text)
{
	struct strbuf kept = STRBUF_INIT;

	for (const char *line = text->buf; *line;) {
		size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');

		if (!is_default(line, len))
			strbuf_add(&kept, line, whole);
		line += whole;
	}
	strbuf_reset(text);
	strbuf_add(text, kept.buf, kept.len);
	strbuf_release(&kept);
}

void rules_texts_init(struct rules_texts *texts)
{
	memset(texts, 0, sizeof(*texts));
	for (size_t i = 0; i < RULES_SOURCES; i++)
		strbuf_init(&texts->of[i]);
}

static struct rules_nested *find_nested(const struct rules_texts *texts, const char *path)
{
	for (size_t i = 0; i < texts->nested_nr; i++)
		if (!strcmp(texts->nested[i].path, path))
			return &texts->nested[i];
	return NULL;
}

void rules_texts_add_nested(struct rules_texts *texts, const char *path, const char *text,
			    size_t len)
{
	struct rules_nested *nested = find_nested(texts, path);

	/* A second walk with the same rules comes here again. */
	if (!nested) {
		nested = ALLOC_NEXT(texts->nested, texts->nested_nr, texts->nested_alloc);
		nested->path = xstrdup(path);
		strbuf_init(&nested->text);
	}
	strbuf_reset(&nested->text);
	strbuf_add(&nested->text, text, len);
}

void rules_texts_copy(struct rules_texts *to, const struct rules_texts *from)
{
	for (size_t i = 0; i < RULES_SOURCES; i++) {
		strbuf_reset(&to->of[i]);
		strbuf_add(&to->of[i], from->of[i].buf, from->of[i].len);
	}
	for (size_t i = 0; i < from->nested_nr; i++)
		rules_texts_add_nested(to, from->nested[i].path, from->nested[i].text.buf,
				       from->nested[i].text.len);
}

void rules_texts_release(struct rules_texts *texts)
{
	for (size_t i = 0; i < RULES_SOURCES; i++)
		strbuf_release(&texts->of[i]);
	for (size_t i = 0; i < texts->nested_nr; i++) {
		free(texts->nested[i].path);
		strbuf_release(&texts->nested[i].text);
	}
	free(texts->nested);
	rules_texts_init(texts);
}
