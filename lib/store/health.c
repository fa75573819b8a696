/* SPDX-License-Identifier: MIT */
#include "store/health.h"

#include "base/base.h"
#include "store/layout.h"
#include "store/shadow.h"
#include "tree/tree.h"

#define BROKEN ".broken-"
#define SALVAGED ".salvaged-"

enum { TRIES = 3 };

struct patient {
	struct strlist *repaired;
	int dirfd;
	const char *path, *worktree;
};

enum presence { MISSING, FOUND, ODD /* neither file nor directory, or the wrong one */ };

static int look(enum presence *out, const struct patient *p, const char *name, mode_t kind)
{
	struct stat st;

	if (fstatat(p->dirfd, name, &st, kind == S_IFDIR ? 0 : AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			return ckpt_error_errno("unable to look at '%s' in the store '%s'", name,
						p->path);
		*out = MISSING;
	} else {
		*out = (st.st_mode & S_IFMT) == kind ? FOUND : ODD;
	}
	return 0;
}

/* A small file; `*found` is false, and the text empty, if it does not exist or is not a file. */
static int read_small(struct strbuf *out, bool *found, const struct patient *p, const char *name)
{
	enum presence presence;
	int err = look(&presence, p, name, S_IFREG);

	strbuf_reset(out);
	*found = !err && presence == FOUND;
	if (!*found)
		return err;
	err = fs_read_file(out, p->dirfd, name);
	if (err == CKPT_ENOTFOUND) {
		*found = false;
		err = 0;
	}
	return err;
}

static bool has_nul(const struct strbuf *text)
{
	return strlen(text->buf) != text->len;
}

/* --- is it ours, and of this worktree? --- */

/* Only these tell whose it is once its own files cannot. */
static bool is_ours(const struct patient *p)
{
	const char *slash = strrchr(p->path, '/');
	char key[STORE_KEY_SIZE];
	enum presence objects, refs, config;

	store_key(key, p->worktree);
	if (strcmp(slash ? slash + 1 : p->path, key) || look(&objects, p, "objects", S_IFDIR) ||
	    look(&refs, p, "refs", S_IFDIR) || look(&config, p, "config", S_IFREG))
		return false;
	/* Any two: each of them may be the one that was lost. */
	return (objects == FOUND) + (refs == FOUND) + (config == FOUND) >= 2;
}

static int not_ours(const struct patient *p)
{
	return ckpt_error_set(CKPT_ECORRUPT,
			      "'%s' is not a git-checkpoint store, or too damaged to be used",
			      p->path);
}

static int check_version(bool *damaged, const struct patient *p)
{
	struct strbuf text = STRBUF_INIT;
	bool found;
	int err = read_small(&text, &found, p, LAYOUT_VERSION_FILE);

	*damaged = !found || has_nul(&text);
	strbuf_trim(&text);
	if (!err && !*damaged && strcmp(text.buf, LAYOUT_VERSION)) {
		*damaged = !text.len || text.buf[strspn(text.buf, "0123456789")];
		if (!*damaged)
			err = ckpt_error_set(CKPT_ERROR,
					     "the store '%s' has format '%s', this program knows "
					     "format " LAYOUT_VERSION "; use a newer git-checkpoint",
					     p->path, text.buf);
	}
	strbuf_release(&text);
	return err;
}

/* The line of the configuration that names the worktree. */
static bool config_names_worktree(const struct strbuf *config, const char *worktree)
{
	struct strbuf wanted = STRBUF_INIT;
	const char *line, *end;
	bool names;

	layout_config(&wanted, worktree);
	line = strstr(wanted.buf, "\tworktree = ");
	end = strstr(line, "\"\n") + 2;
	strbuf_setlen(&wanted, (size_t)(end - wanted.buf));
	names = strstr(config->buf, line) != NULL;
	strbuf_release(&wanted);
	return names;
}

static int restore_hash_worktree(bool *damaged, const struct patient *p)
{
	struct strbuf text = STRBUF_INIT, config = STRBUF_INIT;
	bool found;
	int err = read_small(&text, &found, p, LAYOUT_WORKTREE);

	*damaged = !found || has_nul(&text) || text.buf[0] != '/';
	if (err || *damaged || !strcmp(text.buf, p->worktree))
		goto out;
	/* Torn, it looks like the path of a parent directory; there is a second witness. */
	if (!strncmp(text.buf, p->worktree, text.len)) {
		err = read_small(&config, &found, p, "config");
		*damaged = !err && config_names_worktree(&config, p->worktree);
	}
	if (!err && !*damaged)
		err = ckpt_error_set(
			CKPT_ERROR,
			"the store '%s' belongs to '%s', not to '%s'; if that was moved "
			"here, 'git checkpoint relink %s' adopts it",
			p->path, text.buf, p->worktree, strrchr(p->path, '/') + 1);
out:
	strbuf_release(&text);
	strbuf_release(&config);
	return err;
}

/* What rewriting cannot fix: something else in place of our files and directories. */
static int check_kinds(const struct patient *p)
{
	static const char *const files[] = { "HEAD", "config", LAYOUT_VERSION_FILE, LAYOUT_WORKTREE,
					     LAYOUT_LOCK };
	enum presence presence;
	const char *bad = NULL;
	bool directory;
	int err = 0;

	for (const char *const *dir = layout_dirs; *dir && !err && !bad; dir++) {
		err = look(&presence, p, *dir, S_IFDIR);
		if (!err && presence == ODD)
			bad = *dir;
	}
	directory = bad != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(files) && !err && !bad; i++) {
		err = look(&presence, p, files[i], S_IFREG);
		if (!err && presence == ODD)
			bad = files[i];
	}
	if (bad)
		err = ckpt_error_set(CKPT_ECORRUPT,
				     "the store '%s' is damaged: '%s' in it is not a %s", p->path,
				     bad, directory ? "directory" : "file");
	return err;
}

/* --- repairing --- */

static void make_dirs(struct patient *p)
{
	static const char *const holders[] = { "objects", "refs", "." };

	for (const char *const *dir = layout_dirs; *dir; dir++) {
		if (!fs_mkdir(p->dirfd, *dir, 0700)) {
			strlist_addf(
				p->repaired,
				"the directory '%s' of the store was missing; it was recreated",
				*dir);
		}
	}
	for (size_t i = 0; p->repaired->nr && i < ARRAY_SIZE(holders); i++)
		(void)fs_sync_dir(p->dirfd, holders[i]);
}

static void rewrite(struct patient *p, const char *name, bool missing, const char *text)
{
	const char *how = missing ? "was missing" : "was damaged";
	int err = -1;

	/* Whoever takes the lock removes temporaries, ours too: then try again. */
	for (int i = 0; i < TRIES && err; i++)
		err = fs_write_file(p->dirfd, name, text, strlen(text), 0600, FS_DURABLE);
	if (err)
		strlist_addf(p->repaired, "'%s' of the store %s and cannot be rewritten: %s", name,
			     how, ckpt_error_last());
	else
		strlist_addf(p->repaired, "'%s' of the store %s; it was rewritten", name, how);
}

/* "ref: refs/..." or the name of a commit, and a newline. */
static bool head_sound(const struct strbuf *text)
{
	static const char ref[] = "ref: refs/";
	size_t len = text->len;

	if (!len || has_nul(text) || text->buf[len - 1] != '\n')
		return false;
	if (!strncmp(text->buf, ref, strlen(ref)))
		return len > strlen(ref) + 1 && strcspn(text->buf, "\n\r\t\177") == len - 1;
	return strspn(text->buf, "0123456789abcdef") == len - 1 && len == OID_HEX + 1;
}

/*
 * The user may add to it and change values; but each key that we wrote exists,
 * and the worktree is this one.
 */
static bool config_sound(const struct strbuf *text, const char *worktree)
{
	struct strbuf wanted = STRBUF_INIT;
	char *line, *rest = NULL;
	bool sound = text->len && !has_nul(text) && text->buf[text->len - 1] == '\n' &&
		     config_names_worktree(text, worktree);

	layout_config(&wanted, "/");
	for (line = strtok_r(wanted.buf, "\n", &rest); line && sound;
	     line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, "\t");
		line[strcspn(line, " ")] = '\0';
		sound = strcasestr(text->buf, line) != NULL;
	}
	strbuf_release(&wanted);
	return sound;
}

/*
 * If the user deleted or edited it, that is intended; if it is torn, its last line is not a
 * pattern.
 */
static bool exclude_sound(const struct strbuf *text)
{
	size_t all = strlen(rules_default_patterns);

	if (has_nul(text))
		return false;
	return !text->len || text->buf[text->len - 1] == '\n' || text->len >= all ||
	       memcmp(text->buf, rules_default_patterns, text->len) != 0;
}

static void repair_git_files(struct patient *p)
{
	struct strbuf text = STRBUF_INIT, config = STRBUF_INIT;
	bool found;

	if (!read_small(&text, &found, p, "HEAD") && !head_sound(&text))
		rewrite(p, "HEAD", !found, layout_head);
	if (!read_small(&text, &found, p, "config") && !config_sound(&text, p->worktree)) {
		layout_config(&config, p->worktree);
		rewrite(p, "config", !found, config.buf);
	}
	if (!read_small(&text, &found, p, "info/attributes") &&
	    (has_nul(&text) || !strstr(text.buf, layout_attributes)))
		rewrite(p, "info/attributes", !found, layout_attributes);
	if (!read_small(&text, &found, p, "info/exclude") && found && !exclude_sound(&text))
		rewrite(p, "info/exclude", false, rules_default_patterns);
	strbuf_release(&text);
	strbuf_release(&config);
}

/* Lost settings cannot be recovered, but must not stop all commands from working. */
static void repair_settings(struct patient *p)
{
	static const char name[] = LAYOUT_SETTINGS, aside[] = LAYOUT_SETTINGS ".damaged";
	struct strbuf text = STRBUF_INIT;
	bool found;

	if (!read_small(&text, &found, p, name) && found && has_nul(&text) &&
	    !renameat(p->dirfd, name, p->dirfd, aside))
		strlist_addf(
			p->repaired,
			"'%s', the settings of the store, was damaged and is now '%s'; set them "
			"again",
			name, aside);
	strbuf_release(&text);
}

/*
 * A directory in place of a file: neither reading nor writing would ever get
 * past it. It is kept, like everything that cannot be explained.
 */
static void move_directories(struct patient *p)
{
	static const char *const files[] = {
		LAYOUT_LOST,	 LAYOUT_JOURNAL, LAYOUT_GC_LOCK,    LAYOUT_SETTINGS,
		LAYOUT_LOG,	 LAYOUT_UNDO,	 LAYOUT_STAGES,	    LAYOUT_CACHE,
		LAYOUT_GITSTATE, "packed-refs",	 "info/attributes", "checkpoint-manifest.md",
		LAYOUT_TURNS,
	};
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *aside;

		if (fstatat(p->dirfd, files[i], &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		aside = xstrfmt("%s.damaged", files[i]);
		if (!renameat(p->dirfd, files[i], p->dirfd, aside))
			strlist_addf(p->repaired,
				     "'%s' of the store was a directory; it is now '%s'", files[i],
				     aside);
		free(aside);
	}
}

int health_repair(struct strlist *repaired, int dirfd, const char *path, const char *worktree)
{
	struct patient p = { repaired, dirfd, path, worktree };
	bool version = false, names = false, ours = is_ours(&p);
	/* First of all: we cannot judge what another version wrote. */
	int err = check_version(&version, &p);

	if (!err)
		err = restore_hash_worktree(&names, &p);
	if (!err)
		err = check_kinds(&p);
	if (!err && (version || names) && !ours)
		err = not_ours(&p);
	if (err)
		return err;
	make_dirs(&p);
	move_directories(&p);
	repair_git_files(&p);
	repair_settings(&p);
	if (version)
		rewrite(&p, LAYOUT_VERSION_FILE, false, LAYOUT_VERSION "\n");
	if (names)
		rewrite(&p, LAYOUT_WORKTREE, false, worktree);
	return 0;
}

/* --- setting aside --- */

/* Paths of what is called <path><word><time>, oldest first. */
static int list_asides(struct strlist *out, const char *home, const char *path, const char *word)
{
	char *prefix = xstrfmt("%s%s", strrchr(path, '/') + 1, word);
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (fs_names(&names, AT_FDCWD, home, 0, NULL) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to read '%s'", home);
	for (size_t i = 0; i < names.nr; i++)
		if (!strncmp(names.items[i], prefix, strlen(prefix)))
			strlist_addf(out, "%s/%s", home, names.items[i]);
	strlist_release(&names);
	strlist_sort_unique(out);
	free(prefix);
	return err;
}

int health_asides(struct strlist *out, const char *home, const char *path)
{
	return list_asides(out, home, path, BROKEN);
}

/* Those go first whose readable contents are all elsewhere. */
static void keep_newest(const char *home, const char *path)
{
	struct strlist all = STRLIST_INIT, broken = STRLIST_INIT;

	if (!list_asides(&all, home, path, SALVAGED) && !list_asides(&broken, home, path, BROKEN)) {
		strlist_extend(&all, &broken);
		for (size_t i = 0; i + HEALTH_ASIDES_MAX < all.nr; i++)
			(void)fs_remove_tree(AT_FDCWD, all.items[i]);
	}
	strlist_release(&all);
	strlist_release(&broken);
}

/* With the home locked: whether it still exists, and is still unusable. */
static int still_broken(bool *out, const char *path, const char *worktree)
{
	struct strlist repaired = STRLIST_INIT;
	struct stat st;
	int fd, err;

	*out = false;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : ckpt_error_errno("unable to look at '%s'", path);
	if (S_ISREG(st.st_mode)) {
		*out = true;
		return 0;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return ckpt_error_errno("unable to open '%s'", path);
	err = health_repair(&repaired, fd, path, worktree);
	*out = err == CKPT_ECORRUPT;
	close(fd);
	strlist_release(&repaired);
	return *out ? 0 : err;
}

/* What follows `word` in the last of a sorted list that is later than `newest`. */
static const char *later(const char *newest, const struct strlist *list, const char *word)
{
	const char *time;

	if (!list->nr)
		return newest;
	time = strstr(strrchr(list->items[list->nr - 1], '/'), word) + strlen(word);
	return strcmp(time, newest) > 0 ? time : newest;
}

/*
 * A name that is not taken and comes after all others, even if there are
 * several in a second or the clock went backwards: the first ones are removed.
 */
int health_aside_name(char **out, const char *home, const char *path)
{
	struct strlist broken = STRLIST_INIT, salvaged = STRLIST_INIT;
	char now[CLOCK_ISO_SIZE];
	const char *newest;
	int err = list_asides(&broken, home, path, BROKEN), second, number = 1;

	if (!err)
		err = list_asides(&salvaged, home, path, SALVAGED);
	clock_format_id(now, clock_now());
	newest = later(later("", &broken, BROKEN), &salvaged, SALVAGED);
	second = (int)strlen(now);
	if (strncmp(now, newest, (size_t)second) > 0) {
		*out = xstrfmt("%s" BROKEN "%s", path, now);
	} else {
		if (strlen(newest) > (size_t)second)
			number = atoi(newest + second + 1);
		*out = xstrfmt("%s" BROKEN "%.*s_%06d", path, second, newest, number + 1);
	}
	strlist_release(&broken);
	strlist_release(&salvaged);
	return err;
}

int health_set_aside(char **aside_out, const char *home, const char *path, const char *worktree)
{
	int lockfd = layout_lock_home(home, true), err;
	bool broken = false;

	*aside_out = NULL;
	if (lockfd < 0)
		return ckpt_error_errno("unable to lock '%s'", home);
	err = still_broken(&broken, path, worktree);
	if (!err && broken) {
		char *name = NULL;

		err = health_aside_name(&name, home, path);
		if (!err)
			err = fs_rename(AT_FDCWD, path, name, home, FS_DURABLE);
		if (err)
			free(name);
		else
			*aside_out = name;
	}
	if (!err && broken)
		keep_newest(home, path);
	close(lockfd);
	return err;
}

int health_salvaged(const char *home, const char *aside)
{
	const char *at = strstr(strrchr(aside, '/'), BROKEN);
	char *name = xstrfmt("%.*s" SALVAGED "%s", (int)(at - aside), aside, at + strlen(BROKEN));
	int err = fs_rename(AT_FDCWD, aside, name, home, FS_DURABLE);

	free(name);
	return err;
}
