/* SPDX-License-Identifier: MIT */
/*
 * The new index is made by stock git, beside the old one: so git's own checks of paths apply. That git
 * has a repository of ours, which only borrows the project's objects: no configuration of the project
 * is read, and attributes of ours, which come before all others, leave no file to a filter. So it does
 * not matter what somebody writes into the project meanwhile.
 *
 * It is never split or sparse, whatever the configuration asks for: git adds that when it next writes
 * it.
 */
#include "gitstate/gitwrite.h"

#include "git/git.h"
#include "gitstate/gitstate_internal.h"
#include "gitstate/gitwrite_internal.h"
#include "store/store.h"

/* One entry of the new index; strings are the tree listing's or the goal's. */
struct entry {
	const char *path, *oid;
	unsigned mode, stage, flags;
};

struct entries {
	struct entry *items;
	size_t nr, alloc;
};

static void add_entry(struct entries *list, const struct entry *entry)
{
	*ALLOC_NEXT(list->items, list->nr, list->alloc) = *entry;
}

static int compare_entries(const void *a_, const void *b_)
{
	const struct entry *a = a_, *b = b_;
	int order = strcmp(a->path, b->path);

	return order ? order : (int)a->stage - (int)b->stage;
}

/* --- which entries --- */

/* "<mode> <type> <id>\t<path>" each; the ids end at the tab, which becomes a NUL. */
static void parse_tree(struct entries *out, struct strbuf *listing)
{
	for (char *at = listing->buf; at < listing->buf + listing->len;) {
		char *end = at + strlen(at), *tab = strchr(at, '\t'), *id;
		struct entry entry = { 0 };

		entry.mode = (unsigned)strtoul(at, &id, 8);
		if (tab && *id == ' ' && (id = strchr(id + 1, ' '))) {
			*tab = '\0';
			entry.oid = id + 1;
			entry.path = tab + 1;
			/* Old trees have other permission bits. */
			if ((entry.mode & 0170000) == 0100000)
				entry.mode = entry.mode & 0100 ? 0100755 : 0100644;
			add_entry(out, &entry);
		}
		at = end + 1;
	}
}

static int list_tree(struct strbuf *out, const struct repo *repo, const char *tree)
{
	int err = gitstate_list_tree(out, repo, tree);

	return err == CKPT_ERROR ? ckpt_error_set(CKPT_ENOTFOUND,
						  "the tree '%s' is not complete in the repository",
						  tree)
				 : err;
}

/* What the goal says about a path takes the place of the tree's entry. */
static void merge_entries(struct entries *out, const struct entries *tree, const struct gitstate *goal)
{
	size_t i = 0, j = 0;

	while (i < tree->nr || j < goal->entries_nr) {
		const struct gitstate_entry *entry = &goal->entries[j];
		int order = i == tree->nr	    ? 1
			    : j == goal->entries_nr ? -1
						    : strcmp(tree->items[i].path, entry->path);

		if (order < 0) {
			add_entry(out, &tree->items[i++]);
			continue;
		}
		if (!order)
			i++;
		/* All stages of the path. */
		for (const char *path = entry->path;
		     j < goal->entries_nr && !strcmp(goal->entries[j].path, path); j++) {
			const struct gitstate_entry *e = &goal->entries[j];

			if (e->mode)
				add_entry(out, &(struct entry){ e->path, e->oid, e->mode, e->stage,
							  e->flags });
		}
	}
}

/* --- is it that already --- */

/* Everything that the new index would have. */
static int list_entries(struct entries *out, struct strbuf *listing, const struct repo *repo,
			const struct gitstate *goal)
{
	struct entries tree = { 0 };
	int err = goal->head_tree ? list_tree(listing, repo, goal->head_tree) : 0;

	if (!err) {
		parse_tree(&tree, listing);
		if (tree.nr)
			qsort(tree.items, tree.nr, sizeof(*tree.items), compare_entries);
		merge_entries(out, &tree, goal);
	}
	free(tree.items);
	return err;
}

static bool same_entry(const struct entry *entry, const struct gitindex_entry *known, size_t hash_len)
{
	unsigned char id[SHA256_SIZE] = { 0 };

	(void)oid_hex_decode(id, entry->oid, hash_len);
	return !strcmp(entry->path, known->path) && entry->mode == known->mode &&
	       entry->stage == known->stage && !memcmp(id, known->oid, hash_len) &&
	       (entry->flags & ~(unsigned)GITSTATE_AS_HEAD) == known->flags;
}

/* git would not take it; so it is said before anything is touched. */
static int check_paths(const struct entries *entries)
{
	for (size_t i = 0; i < entries->nr; i++)
		if (!gitstate_usable_path(entries->items[i].path)) {
			struct strbuf name = STRBUF_INIT;

			quote_c(&name, entries->items[i].path, strlen(entries->items[i].path));
			(void)ckpt_error_set(CKPT_EREFUSED, "git allows no entry %s in an index",
					     name.buf);
			strbuf_release(&name);
			return CKPT_EREFUSED;
		}
	return 0;
}

int gitwrite_index_is(bool *out, const struct repo *repo, const struct gitstate *goal)
{
	struct strbuf listing = STRBUF_INIT;
	struct entries entries = { 0 };
	struct gitindex *index = NULL;
	int err = list_entries(&entries, &listing, repo, goal);

	*out = false;
	if (!err)
		err = check_paths(&entries);
	if (!err)
		err = gitindex_open(&index, repo->worktree, repo->gitdir, repo->sha256);
	if (!err) {
		*out = entries.nr == index->nr;
		for (size_t i = 0; i < entries.nr && *out; i++)
			*out = same_entry(&entries.items[i], &index->entries[i], index->hash_len);
		gitindex_close(index);
	}
	strbuf_release(&listing);
	free(entries.items);
	return err;
}

/* --- making it --- */

struct making {
	const struct repo *repo;
	const struct gitstate *goal;
	char *file; /* the new index */
	struct scratch scratch;
	struct strlist settings; /* arguments for git */
};

/* What the project says of files and of the index itself, as arguments. */
static void take_settings(struct making *making)
{
	const char *const list[] = { "config", "-z", "--get-regexp",
				     "^(core[.](autocrlf|checkstat|eol|filemode|ignorecase|"
				     "precomposeunicode|protecthfs|protectntfs|symlinks|trustctime)|"
				     "index[.](skiphash|version))$",
				     NULL };
	const struct gitrun how = { .profile = GITRUN_WRITE,
				    .gitdir = making->repo->gitdir,
				    .worktree = making->repo->worktree };
	struct strbuf lines = STRBUF_INIT;

	(void)gitrun(&lines, &how, list);
	for (char *key = lines.buf; key < lines.buf + lines.len; key += strlen(key) + 1) {
		char *value = strchr(key, '\n');

		if (value)
			*value = '=';
		strlist_add(&making->settings, "-c");
		strlist_add(&making->settings, key);
	}
	strbuf_release(&lines);
}

static bool is_shared_index(const char *name)
{
	return !strncmp(name, "sharedindex.", 12);
}

/* A split index is half of it. */
static int link_shared_indexes(struct making *making)
{
	struct strlist names = STRLIST_INIT;
	int err = 0;

	(void)fs_names(&names, AT_FDCWD, making->repo->gitdir, 0, is_shared_index);
	for (size_t i = 0; i < names.nr && !err; i++) {
		char *from = xstrfmt("%s/%s", making->repo->gitdir, names.items[i]);
		char *to = xstrfmt("%s/%s", making->scratch.path, names.items[i]);

		if (symlink(from, to) < 0)
			err = ckpt_error_errno("unable to create '%s'", to);
		free(from);
		free(to);
	}
	strlist_release(&names);
	return err;
}

static void end_making(struct making *making)
{
	scratch_close(&making->scratch);
	strlist_release(&making->settings);
	free(making->file);
}

/* No name that is ".git" on any system. */
static void be_strict(struct making *making)
{
	static const char *const strict[] = { "-c", "core.protectHFS=true", "-c",
					      "core.protectNTFS=true" };

	for (size_t i = 0; i < ARRAY_SIZE(strict); i++)
		strlist_add(&making->settings, strict[i]);
}

/* `file`: NULL only tries, in the scratch repository. Call end_making() in any case. */
static int begin_making(struct making *out, struct store *store, const struct repo *repo,
			const struct gitstate *goal, const char *file)
{
	static const char no_filter[] = "* -filter\n";
	char *objects = xstrfmt("%s/objects", repo->commondir), *attributes;
	int err;

	*out = (struct making){ .repo = repo, .goal = goal };
	err = scratch_open(&out->scratch, store, repo->sha256);
	if (!err)
		err = scratch_borrow(&out->scratch, objects);
	if (!err) {
		attributes = xstrfmt("%s/info/attributes", out->scratch.name);
		err = fs_write_file(store->dirfd, attributes, no_filter, strlen(no_filter), 0600,
				    FS_FAST);
		free(attributes);
		out->file = file ? xstrdup(file) : xstrfmt("%s/index", out->scratch.path);
	}
	if (!err && !file)
		be_strict(out);
	if (!err && file)
		err = link_shared_indexes(out);
	if (!err && file)
		take_settings(out);
	free(objects);
	return err;
}

static int run_in(struct making *making, const char *worktree, const struct strbuf *input,
		  const char *const args[])
{
	static const char *const plain[] = { "-c", "core.splitIndex=false",
					     "-c", "index.sparse=false",
					     "-c", "core.untrackedCache=false",
					     "-c", "core.sparseCheckout=false" };
	const struct repo within = { .gitdir = making->scratch.path, .worktree = (char *)worktree };
	const struct gitwrite how = { &within, NULL, making->file };
	size_t nr = 0;
	const char **argv = xcalloc(ARRAY_SIZE(plain) + making->settings.nr + 16, sizeof(*argv));
	int err;

	for (size_t i = 0; i < making->settings.nr; i++)
		argv[nr++] = making->settings.items[i];
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		argv[nr++] = plain[i];
	for (size_t i = 0; args[i]; i++)
		argv[nr++] = args[i];
	err = gitwrite_run(&how, input ? input->buf : NULL, input ? input->len : 0, argv);
	free(argv);
	return err;
}

static int run_git(struct making *making, const struct strbuf *input, const char *const args[])
{
	return run_in(making, making->repo->worktree, input, args);
}

static void remove_path(struct strbuf *info, const struct making *making, const char *path)
{
	strbuf_addf(info, "0 %0*d\t%s", making->repo->sha256 ? SHA256_HEX : OID_HEX, 0, path);
	strbuf_addch(info, '\0');
}

/*
 * What git knows of the files holds for every index that has the same contents at a path. The time
 * comes along: files that are not older than the index are looked at.
 */
static int copy_present(struct gitindex **out, struct making *making, int dirfd)
{
	struct strbuf bytes = STRBUF_INIT;
	struct timespec times[2];
	struct stat st;
	int err;

	if (dirfd < 0 || fstatat(dirfd, "index", &st, 0) < 0)
		return 0;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	err = fs_read_file(&bytes, dirfd, "index");
	if (!err)
		err = fs_write_file(dirfd, GITWRITE_NEW_INDEX, bytes.buf, bytes.len, 0600, FS_FAST);
	if (!err && utimensat(dirfd, GITWRITE_NEW_INDEX, times, 0) < 0)
		err = ckpt_error_errno("unable to set the time of '%s'", making->file);
	if (!err)
		err = gitindex_open(out, making->repo->worktree, making->repo->gitdir,
				    making->repo->sha256);
	strbuf_release(&bytes);
	return err;
}

/* Those of one path, which has several if it is unmerged. */
static size_t count_wanted(const struct entries *wanted, size_t at)
{
	size_t nr = 1;

	while (at + nr < wanted->nr && !strcmp(wanted->items[at + nr].path, wanted->items[at].path))
		nr++;
	return nr;
}

static size_t count_present(const struct gitindex *index, size_t at)
{
	size_t nr = 1;

	while (at + nr < index->nr && !strcmp(index->entries[at + nr].path, index->entries[at].path))
		nr++;
	return nr;
}

/* What is only to be added later comes after them, and flags that an entry has would stay. */
static bool same_path(const struct entry *wanted, size_t wanted_nr, const struct gitindex *index,
		      size_t at, size_t nr)
{
	bool same = wanted_nr == nr;

	for (size_t i = 0; i < nr && same; i++)
		same = same_entry(&wanted[i], &index->entries[at + i], index->hash_len) &&
		       !(index->entries[at + i].flags & GITINDEX_INTENT_TO_ADD);
	return same;
}

static void add_path(struct strbuf *info, const struct entry *wanted, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (wanted[i].flags & GITINDEX_INTENT_TO_ADD)
			continue;
		strbuf_addf(info, "%o %s %u\t%s", wanted[i].mode, wanted[i].oid, wanted[i].stage,
			    wanted[i].path);
		strbuf_addch(info, '\0');
	}
}

/* Paths go before others come, which may be below them. */
static void list_changes(struct strbuf *info, const struct making *making,
			 const struct entries *wanted, const struct gitindex *index)
{
	struct strbuf added = STRBUF_INIT;
	size_t i = 0, j = 0, present = index ? index->nr : 0;

	while (i < wanted->nr || j < present) {
		int order = j == present      ? -1
			    : i == wanted->nr ? 1
					      : strcmp(wanted->items[i].path, index->entries[j].path);
		size_t comes = order > 0 ? 0 : count_wanted(wanted, i);
		size_t goes = order < 0 ? 0 : count_present(index, j);

		if (!comes || !goes || !same_path(&wanted->items[i], comes, index, j, goes)) {
			if (goes)
				remove_path(info, making, index->entries[j].path);
			add_path(&added, &wanted->items[i], comes);
		}
		i += comes;
		j += goes;
	}
	strbuf_add(info, added.buf, added.len);
	strbuf_release(&added);
}

/* The present index with what differs, or a new one with everything: `dirfd` is -1. */
static int put_entries(struct making *making, int dirfd)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };
	static const char *const empty[] = { "read-tree", "--empty", NULL };
	struct strbuf listing = STRBUF_INIT, info = STRBUF_INIT;
	struct entries wanted = { 0 };
	struct gitindex *index = NULL;
	int err = copy_present(&index, making, dirfd);

	if (!err)
		err = list_entries(&wanted, &listing, making->repo, making->goal);
	if (!err) {
		list_changes(&info, making, &wanted, index);
		err = run_git(making, &info, wanted.nr ? args : empty);
	}
	gitindex_close(index);
	free(wanted.items);
	strbuf_release(&listing);
	strbuf_release(&info);
	return err;
}

static int make_file(const char *dir, const struct gitstate_entry *entry)
{
	char *path = xstrfmt("%s/%s", dir, entry->path), *slash = strrchr(path, '/');
	int err, fd;

	*slash = '\0';
	err = fs_mkdir_p(path, 0700);
	*slash = '/';
	if (!err && entry->mode == 0120000) {
		err = symlink("nowhere", path) < 0 ? ckpt_error_errno("unable to create '%s'", path) : 0;
	} else if (!err) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, entry->mode & 0777);
		err = fd < 0 ? ckpt_error_errno("unable to create '%s'", path) : 0;
		fs_close(fd);
	}
	free(path);
	return err;
}

/* `add` alone knows how, and wants a file to look at: one of the right kind, in a directory apart. */
static int add_intended(struct making *making)
{
	static const char *const args[] = { "-c", "core.fileMode=true", "-c", "core.symlinks=true",
					    "add", "-N", "-f", "--pathspec-from-file=-",
					    "--pathspec-file-nul", NULL };
	char *dir = xstrfmt("%s.files", making->file);
	struct strbuf paths = STRBUF_INIT;
	int err = fs_remove_tree(AT_FDCWD, dir);

	for (size_t i = 0; i < making->goal->entries_nr && !err; i++) {
		const struct gitstate_entry *entry = &making->goal->entries[i];

		if (!(entry->flags & GITINDEX_INTENT_TO_ADD))
			continue;
		err = make_file(dir, entry);
		strbuf_addf(&paths, ":(top,literal)%s", entry->path);
		strbuf_addch(&paths, '\0');
	}
	if (!err && paths.len)
		err = run_in(making, dir, &paths, args);
	if (paths.len)
		(void)fs_remove_tree(AT_FDCWD, dir);
	strbuf_release(&paths);
	free(dir);
	return err;
}

static int set_flag(struct making *making, unsigned flag, const char *option)
{
	const char *const args[] = { "update-index", "-z", option, "--stdin", NULL };
	struct strbuf paths = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < making->goal->entries_nr; i++) {
		const struct gitstate_entry *entry = &making->goal->entries[i];

		if (entry->mode && !entry->stage && entry->flags & flag)
			strbuf_add(&paths, entry->path, strlen(entry->path) + 1);
	}
	if (paths.len)
		err = run_git(making, &paths, args);
	strbuf_release(&paths);
	return err;
}

/*
 * Many commands of git take a file for changed whose stat data the index does not have, without
 * looking at it. What a filter would have changed stays without. Conflicts that were taken out are
 * not to come back by `checkout -m`.
 */
static void refresh_stat_data(struct making *making)
{
	static const char *const args[] = { "update-index", "--clear-resolve-undo", "-q", "--refresh",
					    NULL };

	/* It fails if a file differs, which is nothing unusual. */
	(void)run_git(making, NULL, args);
}

static int make_index(struct store *store, const struct repo *repo, const struct gitstate *goal,
		      int dirfd)
{
	char *file = xstrfmt("%s/" GITWRITE_NEW_INDEX, repo->gitdir);
	struct making making;
	int err = begin_making(&making, store, repo, goal, file);

	if (!err)
		err = put_entries(&making, dirfd);
	if (!err)
		err = add_intended(&making);
	if (!err) {
		refresh_stat_data(&making);
		err = set_flag(&making, GITINDEX_SKIP_WORKTREE, "--skip-worktree");
	}
	if (!err)
		err = set_flag(&making, GITINDEX_ASSUME_UNCHANGED, "--assume-unchanged");
	end_making(&making);
	free(file);
	return err;
}

int gitwrite_index_try(struct store *store, const struct repo *repo, const struct gitstate *goal)
{
	struct making making;
	int err = begin_making(&making, store, repo, goal, NULL);

	if (!err)
		err = put_entries(&making, -1);
	if (!err)
		err = add_intended(&making);
	end_making(&making);
	return err;
}

/* --- putting it in place --- */

static int refuse_lock(const char *path)
{
	return ckpt_error_set(CKPT_EREFUSED,
			      "'%s' exists: another git process is at work, or was killed", path);
}

/*
 * For file systems on which a file cannot have two names; -1 with errno. The copy appears as a whole
 * where that is possible.
 */
static int copy_to_lock(int dirfd)
{
	struct strbuf bytes = STRBUF_INIT;
	int fd, saved = EIO;

	if (!fs_read_file(&bytes, dirfd, GITWRITE_NEW_INDEX) &&
	    !fs_write_file(dirfd, GITWRITE_INDEX_COPY, bytes.buf, bytes.len, fs_usual_mode(0666),
			   FS_DURABLE))
		saved = renameat2(dirfd, GITWRITE_INDEX_COPY, dirfd, "index.lock",
				  RENAME_NOREPLACE) < 0
				? errno
				: 0;
	if (saved == EINVAL || saved == ENOSYS) {
		fd = openat(dirfd, "index.lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		saved = fd < 0 || fs_write_all(fd, bytes.buf, bytes.len) < 0 || fsync(fd) < 0
				? errno
				: 0;
		fs_close(fd);
	}
	if (saved)
		(void)unlinkat(dirfd, GITWRITE_INDEX_COPY, 0);
	strbuf_release(&bytes);
	errno = saved;
	return saved ? -1 : 0;
}

/*
 * The lock is a second name of the new index. That is atomic, and tells whose
 * lock it is: as long as the first name is there, no other file has that inode.
 */
int gitwrite_index_lock(struct store *store, const struct repo *repo, const struct gitstate *goal)
{
	int dirfd = open(repo->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct stat st;

	if (dirfd < 0)
		return ckpt_error_errno("unable to open '%s'", repo->gitdir);
	if (gitwrite_owns_index_lock(repo))
		(void)unlinkat(dirfd, "index.lock", 0);
	(void)unlinkat(dirfd, GITWRITE_NEW_INDEX, 0);
	err = make_index(store, repo, goal, dirfd);
	if (!err && fchmodat(dirfd, GITWRITE_NEW_INDEX,
			     fstatat(dirfd, "index", &st, 0) < 0 ? fs_usual_mode(0666)
								 : st.st_mode & 0777,
			     0) < 0)
		err = ckpt_error_errno("unable to change the mode of '%s/" GITWRITE_NEW_INDEX "'",
				       repo->gitdir);
	if (!err && linkat(dirfd, GITWRITE_NEW_INDEX, dirfd, "index.lock", 0) < 0 &&
	    (errno == EEXIST || copy_to_lock(dirfd) < 0)) {
		char *path = xstrfmt("%s/index.lock", repo->gitdir);

		err = errno == EEXIST ? refuse_lock(path)
				      : ckpt_error_errno("unable to create '%s'", path);
		free(path);
	}
	if (err)
		(void)unlinkat(dirfd, GITWRITE_NEW_INDEX, 0);
	fs_close(dirfd);
	return err;
}

int gitwrite_index_place(const struct repo *repo)
{
	int fd = open(repo->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return ckpt_error_errno("unable to open '%s'", repo->gitdir);
	err = fs_rename(fd, "index.lock", "index", ".", FS_DURABLE);
	if (!err && unlinkat(fd, GITWRITE_NEW_INDEX, 0) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s/" GITWRITE_NEW_INDEX "'",
				       repo->gitdir);
	fs_close(fd);
	return err;
}
